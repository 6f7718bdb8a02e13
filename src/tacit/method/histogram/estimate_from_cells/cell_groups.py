"""Selection of the cells of some columns of a released histogram, by group, with the law of their noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from tacit.base.arguments import kind_of, texts
from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.estimates.bins import axis_of
from tacit.estimates.dates import interval_of
from tacit.estimates.terms import Target
from tacit.estimates.wording import who
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.cells.released_cells import cells_of
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Noise, Thresholds
from tacit.release.document import Released
from tacit.release.parts import cell_labels

By: TypeAlias = str | Sequence[str] | None
CLEAR: Final = 4.0
"""A noisy number of rows is used as a divisor only if it is at least this many standard deviations of its noise."""
MOST: Final = 1_000
"""Largest number of groups."""


@dataclass(frozen=True)
class GroupCounts:
    """Counts of some columns in each group.

    axes: axes of the columns.  by: names of the grouping columns.  labels: labels of the groups, ("",) without `by`.
    counts: shape (groups, cells of the first column with its extra ones, ...), projected where the total is public.
    noise: law of the noise of the cells.  whole: the public number of rows if `counts` has all of them in one group,
    none in a cell of missing values; else None.
    """

    release: Released
    axes: tuple[CellAxis, ...]
    by: tuple[str, ...]
    labels: tuple[str, ...]
    counts: Array
    noise: Noise
    whole: float | None

    @property
    def regular(self) -> Array:
        """Counts without extra cells, shape (groups, bins of the first column, ...)."""
        inner = tuple(slice(0, axis.bins) for axis in self.axes)
        return self.counts[(slice(None), *inner)]

    def extra(self, name: str) -> Array | None:
        """Return counts of an extra cell of the first column (like "below"), shape (groups,); None without one."""
        axis = self.axes[0]
        return self.counts[:, axis.bins + axis.extra.index(name)] if name in axis.extra else None

    def terms(self, own: Sequence[str]) -> tuple[str, ...]:
        """Return labels of several numbers in each group, such as "f:mean"."""
        return tuple(f"{label}:{one}" if label else one for label in self.labels for one in own)


def counts_of_events(release: Released, time: str, event: str, by: By) -> GroupCounts:
    """Return the counts of times and events by group; InferenceError I41, I48, I50 as of `group_counts`."""
    known = cells_of(release).names
    if event == "event" and event not in known:  # nothing was said of it
        text = f"survival needs a column that says whether the event came: 'event' is none of {', '.join(known)}."
        hint = f'event="died", a Boolean or a Category of two levels, in one histogram with {time!r}'
        raise InferenceError(text, code="I41", hint=hint, state=None)
    return group_counts(release, (time, event), by)


def group_counts(release: Released, columns: Sequence[str], by: By = None) -> GroupCounts:
    """Select the cells of some columns, by group, from a released or simulated histogram.

    Extra cells of grouping columns ("missing") form no groups.  InferenceError I41 (unknown column), I50 (a column
    given twice), I48 (more than 1,000 groups).
    """
    names, own = texts(by), texts(list(columns))
    if names is None or own is None:
        wrong = by if names is None else next(one for one in columns if not isinstance(one, str))  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"{kind_of(wrong)} names no column."
        raise InferenceError(text, code="I41", hint='"age", or by=["sex", "region"]', state=None)
    if len({*names, *columns}) < len(names) + len(columns):
        text = f"{', '.join((*names, *columns))}: a column is there twice."
        raise InferenceError(text, code="I50", hint="each column once", state=None)
    raw = cells_of(release)
    for name in (*names, *columns):
        raw.axis(name)  # InferenceError I41 before anything is computed
    cells = raw.project()  # before the margin, so that all margins come from the same projected cells
    margin = cells.margin((*names, *columns))
    groups, axes = margin.axes[: len(names)], margin.axes[len(names) :]
    labels = _labels(release, groups)
    if len(labels) > MOST:
        text = f"{len(labels):,} groups are too many: at most {MOST:,}."
        raise InferenceError(text, code="I48", hint="by fewer columns", state=None)
    # extra cells of grouping columns are no groups; those of the columns themselves stay
    inner = tuple(slice(0, axis.bins) for axis in groups)
    counts = margin.counts[inner].reshape(len(labels), *(axis.size for axis in axes))
    part = release.parts[0]
    share = part.parameters.get("share", 1)
    added = cells.counts.size // margin.counts.size
    # all cells of the margin count, those that are not used too: the projection spreads the excess over every one
    noise = Noise(part.law, share, added, margin.counts.size, projected="project" in cells.steps)
    # rows beyond the bounds are present ones; with a cell of missing values the number of present rows is private
    whole = None if names or any(set(axis.extra) - {"below", "above"} for axis in axes) else cells.total
    return GroupCounts(release, axes, names, labels, counts, noise, whole)


def _labels(release: Released, groups: tuple[CellAxis, ...]) -> tuple[str, ...]:
    levels = dict(release.levels)
    return cell_labels(tuple((axis.name, levels[axis.name][: axis.bins]) for axis in groups))


def unclear(rows: float, cells: int, noise: Noise, what: str = "rows") -> str | None:
    """Return a reason if a sum of `cells` noisy counts is too near 0 to divide by, else None."""
    sd = float(np.sqrt(max(float(noise.variance(np.ones(cells))), 0.0)))
    # with a public total the noise of the sum of all cells is 0, and no number of rows above 0 is too few
    if rows <= 0 or rows < CLEAR * sd:
        return f"number of {what} {rows:,.0f} with noise of {sd:,.0f}: too few for this price"
    return None


def size_thresholds(rows: Array, cells: int, noise: Noise) -> Thresholds:
    """Return the condition of `unclear` on sums of `cells` noisy counts, shape (terms,)."""
    sd = np.full_like(rows, np.sqrt(max(float(noise.variance(np.ones(cells))), 0.0)))
    return Thresholds(rows[None], CLEAR * sd[None], sd[None])


def places(axis: CellAxis) -> Array:
    """Return the numeric values of a column's regular cells, shape (bins,); InferenceError I50 for other levels."""
    if axis.kind == "levels" and axis.numbers is None:
        text = f"the levels of {axis.name!r} are no numbers."
        raise InferenceError(text, code="I50", hint="a Real, Integer, Date or Boolean column", state=None)
    return axis.centers


def of_dates(made: GroupCounts, name: str) -> bool:
    """Return whether a column holds dates."""
    return axis_of(made.release, name).kind == "date"


def words(made: GroupCounts, what: str, target: Target, inside: bool = False) -> str:
    """Return the estimand in words: "mean of income, values clamped to ...".

    Bounds are stated where values beyond them are in the first and last bin, or are left out (`inside`).
    """
    said = what
    for axis in made.axes:
        beyond = bool({"below", "above"} & set(axis.extra))
        if axis.kind == "continuous" and (inside or not beyond):
            units = f" {axis.units}" if axis.units else ""
            rule = "of rows within" if beyond else "clamped to"
            low, high = axis.last[0] + axis.step, axis.last[-1]
            dated = of_dates(made, axis.name)
            ends = interval_of(low, high, decimals=0, dated=True) if dated else f"{low:,g}–{high:,g}{units}"
            said += f", {axis.name} {rule} {ends}"
            unit = axis_of(made.release, axis.name).multiple_of
            said += f" and rounded to multiples of {unit:,.15g}, as is declared" if unit else ""
    condition = getattr(made.release.query, "where", None)
    said += f", where {condition}" if condition else ""
    return said + (f", of the {who(made.release)} of this table" if target == "table" else "")
