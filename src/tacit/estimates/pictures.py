"""Arrays and captions of plots of estimates.  `tacit.plots`, which draws them, is imported only when needed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.display import facts, heading, people_words

if TYPE_CHECKING:
    from tacit.estimates.densities.smooth_density import SmoothDensity
    from tacit.estimates.estimate import Estimate
    from tacit.estimates.normal_estimate import NormalEstimate
    from tacit.estimates.verbs.pairwise_differences import Pairwise
    from tacit.estimates.verbs.pairwise_ratios import PairwiseRatios
    from tacit.plots.canvas import Caption, Drawn, Intervals
    from tacit.plots.panels import Panels


APART: Final = 20
"""Beyond this ratio the shorter of two bars is a dot."""
OWN_UNITS: Final = ("coefficients", "parameters", "average marginal effects")


def estimate(found: Estimate, ax: Any = None, *, level: float = 0.95) -> Drawn | Panels:
    """Plot an estimate's terms with intervals; the note states the cost.

    Columns of other units, or of intervals more than APART times as wide as others, have axes of their own, unless `ax`
    is given.  A term with a reason has a row, and no point.
    Raises InferenceError I01 for a level below 0.5, I05 for more than 1,000 terms, I20 without matplotlib.
    """
    from tacit.plots.canvas import Caption, check_rows
    from tacit.plots.intervals import estimate as draw
    from tacit.plots.panels import Panel, stacked

    check_rows(len(found.terms))
    whole, said = shown(found, found.intervals(level), level), caption(found)
    known = [reason is None for reason in found.reasons]
    parts = [list(range(len(found.terms)))] if ax is not None else _columns_apart(found, whole, known)
    if len(parts) < 2:
        return draw(whole, said, ax, known=known)

    def panel(rows: list[int], words: str) -> Panel:
        own = Caption("", words, said.note)
        return Panel("", lambda place: draw(whole.some(rows), own, place, known=[known[i] for i in rows]), words)

    labels = [column for columns in found.combination.columns() for column in columns]
    titles = [", ".join(dict.fromkeys(labels[i] for i in rows)) for rows in parts]
    axis = [f"{title}{_units(found, labels[rows[0]])}" for title, rows in zip(titles, parts, strict=True)]
    return stacked([panel(*one) for one in zip(parts, axis, strict=True)], [len(one) for one in parts], said.title)


def _columns_apart(found: Estimate, whole: Intervals, known: Sequence[bool]) -> list[list[int]]:
    """Return the terms of each axis: columns of the same units whose intervals are of about the same width."""
    if found.matrix is not None or len(found.blocks) < 2:
        return [list(range(len(found.terms)))]
    widths = whole.limits[:, 1] - whole.limits[:, 0]
    groups: list[tuple[str, list[int], float, float]] = []
    at = 0
    for block in found.blocks:
        rows = list(range(at, at + len(block.value)))
        at += len(rows)
        fine = [float(widths[i]) for i in rows if known[i] and 0 < widths[i] < np.inf]
        low, high = (min(fine), max(fine)) if fine else (1.0, 1.0)
        unit = _units(found, block.label)
        for i, (other, members, least, most) in enumerate(groups):
            if unit == other and (not fine or max(most, high) <= APART * min(least, low)):
                groups[i] = (unit, [*members, *rows], min(least, low), max(most, high))
                break
        else:
            groups.append((unit, rows, low, high))
    return [members for _, members, _, _ in groups]


def _units(found: Estimate, label: str) -> str:
    """Return the units of a column in brackets; those of shares, and of columns without units, are empty."""
    grids = [part.grid for part in found.release.parts if part.label == label and part.grid is not None]
    units = grids[0].units if grids else None
    if type(found.release.query).__name__ == "DataQuality" or not units:
        return ""
    return f" ({units}²)" if type(found.release.query).__name__ == "Variance" else f" ({units})"


def pairwise(found: Pairwise, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Plot differences with their adjusted intervals and a line at 0.

    Raises InferenceError I01 for a level below 0.5, I05 for more than 1,000 pairs, I20 without matplotlib.
    """
    from tacit.plots.canvas import Caption, check_rows
    from tacit.plots.intervals import pairwise as draw

    made = found.estimate
    check_rows(len(made.terms))
    said = Caption(f"Differences · {heading(made)}", axis_words(made), f"{found.words()} · {facts(made.release)}")
    known = [reason is None for reason in made.reasons]
    return draw(shown(made, found.intervals(level), level, found.quantile(level)), said, ax, known=known)


def ratios(found: PairwiseRatios, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Plot ratios with adjusted intervals and a line at 1; InferenceError I01 (level), I20 without matplotlib."""
    from tacit.plots.canvas import Caption, Intervals
    from tacit.plots.ratio_plot import ratios as draw

    values = np.array([one.value for one in found.ratios])
    names, method = tuple(one.name for one in found.ratios), found.ratios[0].method
    adjusted = "intervals by Bonferroni" if found.adjust else "intervals not adjusted"
    kind = "ratio" if method.startswith("Fieller") else "odds ratio"
    said = Caption(
        title=f"{kind.capitalize()}s · {heading(found.estimate)}",
        axis=f"{kind}, {found.estimate.estimand}",
        note=f"{adjusted}; {method} · {facts(found.estimate.release)}",
    )
    return draw(Intervals(names, values, found.intervals(level), level), said, ax)


def coefficients(found: NormalEstimate, ax: Any = None, *, level: float = 0.95) -> Drawn | Panels:
    """Plot the terms that have a standard error; the note names those without.

    Coefficients, whose units differ, have axes of their own where some are more than APART times as large as others,
    unless `ax` is given.
    Raises InferenceError I01 for a level below 0.5, I05 for more than 1,000 terms, I20 without matplotlib.
    """
    from tacit.plots.canvas import Caption, check_rows
    from tacit.plots.coefficient_plot import coefficients as draw
    from tacit.plots.panels import Panel, stacked

    kept = [term for term, reason in zip(found.terms, found.reasons, strict=True) if reason is None]
    left = [term for term in found.terms if term not in kept]
    check_rows(len(kept))
    found = found[kept]
    note = facts(found.release) + (f" · no standard error: {', '.join(left)}" if left else "")
    said = Caption(f"{found.title} · {people_words(found.release)}", found.estimand, note)
    whole = shown(found, found.intervals(level), level)
    parts = _terms_apart(whole) if ax is None and found.estimand.startswith(OWN_UNITS) else []
    if len(parts) < 2:
        return draw(whole, said, ax)

    def panel(rows: list[int]) -> Panel:
        own = Caption("", "", note)
        return Panel("", lambda place: draw(whole.some(rows), own, place))

    return stacked([panel(rows) for rows in parts], [len(rows) for rows in parts], f"{said.title} · {said.axis}")


def _terms_apart(whole: Intervals) -> list[list[int]]:
    """Return the terms of each axis: those whose intervals, from 0 on, are of about the same size."""
    sizes = np.abs(np.concatenate([whole.limits, np.zeros((len(whole.terms), 1))], axis=1))
    groups: list[tuple[list[int], float, float]] = []
    for i, size in enumerate(sizes.max(axis=1).tolist()):
        for k, (members, least, most) in enumerate(groups):
            if max(most, size) <= APART * min(least, size):
                groups[k] = ([*members, i], min(least, size), max(most, size))
                break
        else:
            groups.append(([i], size, size))
    return [members for members, _, _ in groups]


def shown(found: Estimate | NormalEstimate, limits: Array, level: float, quantile: float | None = None) -> Intervals:
    """Return values, intervals, and half-widths for sampling alone: `quantile` sampling standard errors.

    By default `quantile` is the two-sided normal quantile of the level.
    """
    from tacit.plots.canvas import Intervals

    # sampling error alone is taken as normal; the quantile of the outer interval has the noise in it
    wide = NormalDist().inv_cdf(0.5 + level / 2) if quantile is None else quantile
    return Intervals(tuple(found.terms), found.values, limits, level, wide * np.sqrt(found.sampling_variances))


def caption(found: Estimate) -> Caption:
    """Return the caption: title and population, estimand with units, and the facts of the release."""
    from tacit.plots.canvas import Caption

    return Caption(heading(found), axis_words(found), facts(found.release))


def axis_words(found: Estimate) -> str:
    """Return the estimand, with its units appended where it does not contain them already.

    Parameters of a law have units of their own each: a rate of waits in hours is none in hours.
    """
    if found.estimand.startswith("parameters"):
        return found.estimand
    units = {part.grid.units for part in found.release.parts if part.grid is not None and part.grid.units}
    unit = units.pop() if len(units) == 1 else ""
    said = re.search(rf"(?<!\w){re.escape(unit)}(?!\w)", found.estimand)  # the units are usually stated with the bounds
    return found.estimand if not unit or said else f"{found.estimand} ({unit})"


def smooth_density(found: SmoothDensity, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Plot a smooth density of one group with its band; InferenceError I05 (several groups), I20 (no matplotlib)."""
    from tacit.errors import InferenceError
    from tacit.plots.curve_plot import curve

    if len(found.groups) > 1:
        text = f"a picture is of one group; there are {len(found.groups):,}."
        raise InferenceError(text, code="I05", hint=f'smooth_density(…)["{found.groups[0]}"].plot()', state=None)
    x = np.linspace(found.lower, found.upper, 201)
    limits = found.intervals(x, level, simultaneous=True)
    by = f" by {' and '.join(found.by)}: {''.join(found.groups)}" if found.by else ""
    return curve(
        x,
        found(x),
        limits[:, 0],
        limits[:, 1],
        ax=ax,
        level=level,
        label="kernel estimate" if found.basis == "kernel" else f"{found.basis} series",
        title=f"Smooth density of {found.column}{by} · {people_words(found.release)}",
        words=found.column + (f" ({found.units})" if found.units else ""),
        response=f"density, {found.per}",
        caption=f"{facts(found.release)} · band of {found.limits_of}",
        band="band for the whole curve",
    )
