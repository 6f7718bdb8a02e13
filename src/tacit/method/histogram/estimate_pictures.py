"""Plots of histograms and of statistics from their cells: prepares the arrays and captions that `tacit.plots` draws."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tacit.errors import InferenceError
from tacit.estimates import pictures
from tacit.estimates.bins import BINNED, axis_of, spans, uneven
from tacit.estimates.display import facts, people_words
from tacit.estimates.noisy_terms.noisy_ratio import noise_reach
from tacit.estimates.terms import Target, check_level
from tacit.estimates.wording import title, who
from tacit.plots.canvas import Caption, Drawn, Intervals
from tacit.plots.derived_plot import derived as draw_derived
from tacit.plots.heatmaps import Counts, Levels, heatmap
from tacit.plots.panels import Panel, Panels, side_by_side
from tacit.plots.steps import Bins, Densities, histogram, words
from tacit.plots.steps import density as draw_density
from tacit.plots.survival_plot import Curves
from tacit.plots.survival_plot import step_functions as draw_step_functions
from tacit.release.parts import Axis, cell_labels

if TYPE_CHECKING:
    from tacit.method.histogram.estimate_densities import DensityEstimate
    from tacit.method.histogram.estimate_from_cells.derived_numbers import Derived
    from tacit.method.histogram.estimate_margins import Margin

TALLEST: Final = 40
"""Largest number of levels of a column that is drawn as one of several panels."""


def margin(found: Margin, ax: Any = None, *, level: float = 0.95, target: Target = "population") -> Drawn:
    """Plot a margin: of one column bins or an interval for each level; of two columns a heat map (for any target).

    InferenceError I64 for more, I09 (target), I01 for a level below 0.5, I05 for more than 1,000 levels, I20 without
    matplotlib.
    """
    if len(found.levels) > 2:
        names = [name for name, _ in found.levels]
        text = f"{', '.join(names)}: {len(names)} columns are too many for one picture."
        raise InferenceError(text, code="I64", hint=f'margin(["{names[0]}", "{names[1]}"]).plot()', state=None)
    if len(found.levels) == 2:
        return _pairs(found, ax, level)
    if found.axes[0].kind in BINNED:
        return _bins(found, ax, level, target)
    # the counts of one column: one picture
    return cast(Drawn, pictures.estimate(found.estimate(target), ax, level=level))


def margins(found: tuple[Margin, ...], ax: Any = None, *, level: float = 0.95, target: Target = "population") -> Panels:
    """Plot several margins of one column each, side by side; columns with more than 40 levels are not drawn.

    InferenceError I64 if `ax` is given (panels create their own axes) or nothing is left to draw; I01, I09, I20 as for
    `margin`.
    """
    shown = [one for one in found if one.axes[0].kind in BINNED or len(one.levels[0][1]) <= TALLEST]
    if ax is not None or not shown:
        what = "a picture of several columns has axes of its own" if shown else "no column is drawn: too many levels"
        name = found[0].levels[0][0]
        raise InferenceError(f"{what}.", code="I64", hint=f'margin("{name}").plot(ax=…)', state=None)

    def panel(of: Margin) -> Panel:
        rows = None if of.axes[0].kind in BINNED else f"number of {who(of.release)}"
        return Panel(of.levels[0][0], lambda place: margin(of, place, level=level, target=target), rows)

    left = [one.levels[0][0] for one in found if all(one is not other for other in shown)]
    heading = f"{title(found[0].release)} · {people_words(found[0].release)}"
    return side_by_side([panel(one) for one in shown], heading + (f" · not drawn: {', '.join(left)}" if left else ""))


def density(found: DensityEstimate, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Plot densities of up to four groups; the note names groups left out for having a reason.

    Raises InferenceError I01 for a level below 0.5, I05 for more groups, I20 without matplotlib.
    """
    # the part of the interval that is there without privacy, drawn inside it
    half = NormalDist().inv_cdf(0.5 + check_level(level) / 2) * found.sampling_errors
    known = [reason is None for reason in found.reasons]
    left = [group or found.column for group, yes in zip(found.groups, known, strict=True) if not yes]
    by = f" by {' and '.join(found.by)}" if found.by else ""
    by = f"{by}: {found.groups[0]}" if found.by and len(found.groups) == 1 else by
    bins = Bins(found.column, found.kind, found.units, found.lower, found.upper)
    caption = Caption(
        title=f"Density of {found.column}{by} · {people_words(found.release)}",
        axis=bins.words,
        note=facts(found.release) + (f" · all noise: {', '.join(left)}" if left else ""),
        height=f"density, {found.per}",
    )
    shown = Densities(found.groups, found.values, found.intervals(level), half, known, found.terms, level)
    return draw_density(bins, shown, caption, ax)


def derived(found: Derived, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Plot statistics derived from cells with their intervals, one row for each term.

    Raises InferenceError I01 for a level below 0.5, I05 for more than 1,000 terms, I20 without matplotlib.
    """
    shown = Intervals(found.terms, found.values, found.intervals(level), level)
    caption = Caption(f"{found.title} · {people_words(found.release)}", found.estimand, facts(found.release))
    return draw_derived(shown, [reason is None for reason in found.reasons], caption, ax)


def step_functions(found: Derived, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Plot a survival curve or distribution function with its band for each group.

    Raises InferenceError I01 for a level below 0.5, I05 for more than four groups, I20 without matplotlib.
    """
    made = found.steps
    assert made is not None
    limits = found.intervals(level)
    shape = (len(made.groups), len(made.at))
    first, last = ([] if end is None else [end] for end in (made.start, made.end))
    # known ends of the curve, of no or one point each, without error: put before and after its values and limits
    before, after = (np.array([y for _, y in one]) for one in (first, last))
    values, lower, upper = (
        np.stack([np.concatenate([before, group, after]) for group in one.reshape(shape)])
        for one in (found.values, limits[:, 0], limits[:, 1])
    )
    x = np.array([*(place for place, _ in first), *made.at, *(place for place, _ in last)])
    axis = axis_of(found.release, made.column)
    curves = Curves(made.groups, axis.kind, x, values, lower, upper, f"{100 * level:g}% {made.band}")
    caption = Caption(
        title=f"{found.title} · {people_words(found.release)}",
        axis=words(made.column, axis.kind, axis.units),
        note=facts(found.release),
        height=made.height,
    )
    return draw_step_functions(curves, Intervals(found.terms, found.values, limits, level), caption, ax)


def _bins(found: Margin, ax: Any, level: float, target: Target) -> Drawn:
    """Plot one column of numbers or dates; counts of extra cells (missing, below, above) are written below the axis."""
    made, (axis,), column = found.estimate(target), found.axes, found.levels[0][0]
    kept, bins = _drawn(axis, column)
    values, limits = made.values, made.intervals(level)
    half = NormalDist().inv_cdf(0.5 + level / 2) * np.sqrt(made.sampling_variances)
    # cells after the bins have no place on the axis of numbers
    beside = [f"{made.terms[i]} {values[i]:,.0f}" for i in range(len(axis.edges) - 1, len(values))]
    people = who(found.release)
    caption = Caption(
        title=f"Histogram of {column} · {people_words(found.release)}",
        axis=bins.words + (f"\nbeside: {', '.join(beside)}" if beside else ""),
        note=facts(found.release),
        height=f"{people} {bins.per()}" if bins.uneven else f"number of {people}",
    )
    terms = tuple(made.terms[i] for i in kept)
    return histogram(bins, Intervals(terms, values[kept], limits[kept], level, half[kept]), caption, ax)


def _pairs(found: Margin, ax: Any, level: float) -> Drawn:
    """Plot a heat map, the first column across; the note counts rows in extra cells (missing, below, above)."""
    reach = noise_reach(found.release, found.added, check_level(level))
    (first, one), (second, other) = (_side(axis, *own) for axis, own in zip(found.axes, found.levels, strict=True))
    values, people = found.counts[np.ix_(first, second)], who(found.release)
    per = [side.per(f" of {side.column}") for side in (one, other) if isinstance(side, Bins) and side.uneven]
    label = f"{people} {' and '.join(per)}" if per else f"number of {people}"
    levels = (
        (name, tuple(labels[i] for i in at)) for (name, labels), at in zip(found.levels, (first, second), strict=True)
    )
    note = facts(found.release)
    if values.size < found.counts.size:
        # a heat map of bins must not hide that some rows are in none
        note += f" · beside the bins: {found.counts.sum() - values.sum():,.0f} {people}"
    what = f"Histogram of {one.column} and {other.column} · {people_words(found.release)}"
    counts = Counts(values, reach, level, cell_labels(tuple(levels)), label)
    return heatmap((one, other), counts, Caption(what, one.words, note, other.words), ax)


def _side(axis: Axis, column: str, labels: tuple[str, ...]) -> tuple[list[int], Bins | Levels]:
    """Return indices of the cells drawn along one side, and the bins or levels of these cells."""
    if axis.kind in BINNED:
        return _drawn(axis, column)
    return list(range(len(labels))), Levels(column, labels)


def _drawn(axis: Axis, column: str) -> tuple[list[int], Bins]:
    """Return indices of the bins with positive width, and these bins."""
    lower, upper = spans(axis)
    kept = np.flatnonzero(upper > lower)
    bins = Bins(column, axis.kind, axis.units, lower[kept], upper[kept], uneven(lower[kept], upper[kept]))
    return kept.tolist(), bins
