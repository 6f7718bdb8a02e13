"""Cells of a released histogram as plain arrays, with the transformations used before a fit.  Post-processing.

Noisy counts can be negative; they are kept signed.  Linear steps (`project`, `margin`, `used`) keep their expectation.
Nonlinear steps (`clip`, `simplex`, `threshold`) bias every later estimate; they are recorded in `steps`, and a fit to
such cells has no standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.base.simplex import nearest_with_sum
from tacit.errors import InferenceError, nearest

Kind = Literal["continuous", "levels"]


def _wrong(message: str) -> InferenceError:
    return InferenceError(message, code="I40", state=None)


@dataclass(frozen=True)
class CellAxis:
    """One column of a histogram.

    name, units: name and units of the column.  kind: "continuous" has increasing `edges`, shape (K + 1,); "levels" has
    K `labels`.  numbers: numeric values of the levels in a formula (years, counts), shape (K,), None for a factor.
    step: spacing of the possible values of a continuous axis, 0 for real numbers; edges lie halfway between values.
    heaped_at: number at whose multiples any share of the rows is declared to be (`declared_heaps`), 0 for none.
    extra: names of cells after the K regular ones ("missing", "below"); a fit that uses the column leaves them out.
    missing: label of the last level if it holds missing values, for `complete`; else None.

    InferenceError I40 for edges that do not increase, bins of zero width, duplicate labels.

    >>> age = CellAxis("age", "continuous", np.array([0.0, 50.0, 100.0]), units="years")
    >>> age.bins, age.size, age.centers
    (2, 2, array([25., 75.]))
    """

    name: str
    kind: Kind
    edges: Array | None = None
    labels: tuple[str, ...] | None = None
    units: str | None = None
    numbers: Array | None = None
    extra: tuple[str, ...] = ()
    missing: str | None = None
    step: float = 0.0
    heaped_at: float = 0.0

    def __post_init__(self) -> None:
        if self.kind == "continuous":
            edges = np.asarray(self.edges, dtype=np.float64) if self.edges is not None else np.zeros(0)
            if edges.ndim != 1 or len(edges) < 2 or not np.isfinite(edges).all() or not (np.diff(edges) > 0).all():
                raise _wrong(f"axis {self.name!r}: edges are finite numbers, each above the one before.")
            object.__setattr__(self, "edges", edges)
        elif not self.labels or len(set(self.labels)) != len(self.labels):
            raise _wrong(f"axis {self.name!r}: levels are one label or more, each once.")
        if self.numbers is not None and np.shape(self.numbers) != (self.bins,):
            raise _wrong(f"axis {self.name!r}: numbers has one number for each of {self.bins} levels.")

    @property
    def bins(self) -> int:
        """Number of regular cells, K."""
        return len(self.labels) if self.labels is not None else len(self.bounds) - 1

    @property
    def size(self) -> int:
        """Number of cells, extra ones included."""
        return self.bins + len(self.extra)

    @property
    def bounds(self) -> Array:
        """Edges of a continuous axis, shape (K + 1,)."""
        assert self.edges is not None
        return self.edges

    @property
    def widths(self) -> Array:
        """Widths of bins, shape (K,), in the column's units; zeros for levels."""
        return np.diff(self.bounds) if self.kind == "continuous" else np.zeros(self.bins)

    @property
    def within(self) -> Array:
        """Standard deviation of values spread evenly over a bin, shape (K,); 0 for levels and bins of a single value.

        >>> CellAxis("age", "continuous", np.array([17.5, 18.5, 20.5]), step=1).within
        array([0. , 0.5])
        """
        # h**2 / 12 of a uniform variable; (h**2 - step**2) / 12 of h / step equally likely values
        return np.sqrt(np.maximum(self.widths**2 - self.step**2, 0.0) / 12)

    @property
    def last(self) -> Array:
        """Greatest possible value at or below each edge of a continuous axis, shape (K + 1,)."""
        return self.bounds - self.step / 2

    @property
    def centers(self) -> Array:
        """Midpoints of bins, or the numbers of levels (0, 1, ... where they have none), shape (K,)."""
        if self.kind == "continuous":
            return (self.bounds[1:] + self.bounds[:-1]) / 2
        return np.arange(self.bins, dtype=np.float64) if self.numbers is None else np.asarray(self.numbers, float)


@dataclass(frozen=True)
class CellCounts:
    """Noisy counts on the cells of one or several axes.

    counts: shape (axes[0].size, ...), signed.  variance: variance of the noise of a cell before `project`, in rows
    squared; 0 for exact counts.  total: the public number of rows, or None (add-remove).  shared: minus the covariance
    of the noises of two cells, not 0 only after `project`.  steps: names of the transformations applied, in order.

    InferenceError I40 for a shape that differs from the axes', counts that are not finite, a negative variance.

    >>> sex = CellAxis("sex", "levels", labels=("f", "m"))
    >>> cells = CellCounts((sex,), np.array([61.0, 43.0]), variance=8.0, total=100.0)
    >>> cells.project().counts, cells.project().shared
    (array([59., 41.]), 4.0)
    """

    axes: tuple[CellAxis, ...]
    counts: Array
    variance: float
    total: float | None = None
    shared: float = 0.0
    steps: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", np.asarray(self.counts, dtype=np.float64))
        names = [axis.name for axis in self.axes]
        if not names or len(set(names)) != len(names):
            raise _wrong("cells have one axis or more, of different names.")
        if self.counts.shape != tuple(axis.size for axis in self.axes):
            raise _wrong(f"counts of shape {self.counts.shape} do not fit axes of {[a.size for a in self.axes]} cells.")
        if not np.isfinite(self.counts).all() or not 0 <= self.variance < math.inf:
            raise _wrong("counts are finite, and the variance of their noise is 0 or more.")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the axes."""
        return tuple(axis.name for axis in self.axes)

    @property
    def own_variance(self) -> float:
        """Variance of what of a cell's noise no other cell shares; that of all its noise before `project`."""
        return max(self.variance - self.shared, 0.0)

    @property
    def centers(self) -> tuple[Array, ...]:
        """Centres along each axis."""
        return tuple(axis.centers for axis in self.axes)

    @cached_property
    def signed(self) -> bool:
        """Whether the counts are linear in the noise: no clip, simplex or threshold step was applied."""
        return not set(self.steps) & {"clip", "simplex", "threshold"}

    def axis(self, name: str) -> CellAxis:
        """Return the axis of a given name; InferenceError I41 where there is none."""
        for axis in self.axes:
            if isinstance(name, str) and axis.name == name:  # pyright: ignore[reportUnnecessaryIsInstance]
                return axis
        hint = nearest(name, self.names)
        raise InferenceError(
            f"{described(name)} is not in this release, which has {', '.join(self.names)}.",
            code="I41",
            hint=f"{hint!r}?" if hint else None,
            state="Nothing touches the data again: a new column takes a new release.",
        )

    def project(self) -> CellCounts:
        """Return counts that add up to the public total: the mean excess is subtracted from each (theory §7).

        This is linear, so expectations are kept; no variance increases.  Returns the cells unchanged if no total is
        public, and after an earlier projection or a nonlinear step.
        """
        # after a nonlinear step errors have no mean of 0, and the excess is not noise alone
        if self.total is None or self.shared or not self.signed:
            return self
        cells = self.counts.size
        excess = (self.counts.sum() - self.total) / cells
        # noise covariance after the projection: variance * (identity - ones / cells)
        shared = self.variance / cells
        return replace(self, counts=self.counts - excess, shared=shared, steps=(*self.steps, "project"))

    def clip(self) -> CellCounts:
        """Return counts with negative ones set to 0; an empty cell gains half the noise scale in mean (theory §7)."""
        return replace(self, counts=np.maximum(self.counts, 0.0), steps=(*self.steps, "clip"))

    def simplex(self) -> CellCounts:
        """Return the nearest counts in the l2 norm that are non-negative and add up to the total (theory §7).

        The total is the public one if there is one, else the sum of the counts, at least 0.
        """
        total = max(self.total if self.total is not None else float(self.counts.sum()), 0.0)
        if total == 0:  # the cut is then no mean excess: the only such counts are zeros
            return replace(self, counts=np.zeros_like(self.counts), steps=(*self.steps, "simplex"))
        return replace(self, counts=nearest_with_sum(self.counts, total), steps=(*self.steps, "simplex"))

    def threshold(self, A: float, scale: float, n: float) -> CellCounts:
        """Return counts with those below A * scale * log(n) set to 0 (Lei 2011, §4.2, with scale = 1/alpha).

        Helps where most cells are truly empty.  With A = 1/2 an empty cell survives with probability n**-0.25 / 2
        under scale 2/alpha noise: a cut that empty cells rarely pass needs A = 2 (theory §7).
        A "corrected" fit to thresholded counts can be the most accurate of all, but has no standard errors.
        """
        cut = A * scale * math.log(max(n, 1.0))
        return replace(self, counts=np.where(self.counts >= cut, self.counts, 0.0), steps=(*self.steps, "threshold"))

    def margin(self, names: Sequence[str]) -> CellCounts:
        """Return counts by some axes, in the order given, summed over the others with their extra cells.

        InferenceError I41 for a name that is not an axis.
        """
        axes = tuple(self.axis(name) for name in names)
        if not axes:
            raise _wrong("a margin has one axis or more.")
        kept = [self.names.index(name) for name in names]
        others = tuple(i for i in range(len(self.axes)) if i not in kept)
        summed = self.counts.sum(axis=others)
        # `summed` has the kept axes in their old order: ranks of `kept` bring them into the order asked for
        order = np.argsort(np.argsort(kept)) if len(kept) > 1 else np.zeros(1, int)
        counts = np.transpose(summed, [int(i) for i in order])
        # a margin adds m cells: m independent variances, and m * m shared covariances between two of its cells
        m = self.counts.size // counts.size
        return replace(self, axes=axes, counts=counts, variance=self.variance * m, shared=self.shared * m * m)

    def complete(self) -> CellCounts:
        """Return the cells with levels of missing values moved to the extra cells, which fits leave out."""
        return replace(self, axes=tuple(map(_without_missing, self.axes)))

    def used(self, names: Sequence[str]) -> CellCounts:
        """Return the margin by `names` without extra cells: complete cases within bounds, whose number is not public.

        Call `project` first, so that the extra cells also absorb a part of the excess.
        """
        margin = self.margin(names)
        if not any(axis.extra for axis in margin.axes):
            return margin
        inner = tuple(slice(0, axis.bins) for axis in margin.axes)
        axes = tuple(replace(axis, extra=()) for axis in margin.axes)
        # how many rows the extra cells hold is known from noisy counts only: the rest has no public number
        return replace(margin, axes=axes, counts=margin.counts[inner], total=None)


def _without_missing(axis: CellAxis) -> CellAxis:
    """Return the axis with its level of missing values moved to the extra cells."""
    if axis.missing is None:
        return axis
    return replace(axis, labels=(axis.labels or ())[:-1], extra=(axis.missing, *axis.extra), missing=None)
