"""Releases of sparse histograms: the cells that passed the threshold, with intervals that account for selection."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.base.table import Table, format_interval, format_number
from tacit.errors import InferenceError, nearest
from tacit.estimates.noisy_terms.selected_counts import absent, conditional
from tacit.estimates.terms import check_level
from tacit.method.histogram.estimate import HistogramRelease

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


SHOWN: Final = 20
"""Cells of a summary: those with the largest counts."""


@dataclass(frozen=True)
class SparseCell:
    """One cell: its noisy count, None where it did not pass, and an interval for the true one, in rows (persons)."""

    count: float | None
    lower: float
    upper: float


@dataclass(frozen=True, repr=False)
class SparseHistogramRelease(HistogramRelease):
    """A release of a sparse Histogram: cells whose noisy count is `threshold` or more.  The others are not known.

    A cell is kept because its count or its noise is large, so the noisy count of a cell that is barely kept is too
    large on average.  Intervals are conditional on that: among kept cells of the same true count, at least the level of
    them hold it.  They are about this table, without the error of its rows as a sample of others.  There are no margins
    and no fits, for sums would miss the cells that did not pass.

    >>> import tacit as tc
    >>> schema = tc.Schema({"town": tc.Category(range(2_000)), "age": tc.Integer(0, 199)})
    >>> data = {"town": [7] * 300 + [8] * 10, "age": [40] * 310}
    >>> curator = tc.Curator(data, schema, budget=tc.Budget(epsilon=9))
    >>> found = curator.release(tc.Histogram(["town", "age"], sparse=True, threshold=100), epsilon=1)
    >>> found.size, found.to_frame()[["town", "age"]].to_numpy().tolist(), found.cell(town=8, age=40).count
    (400000, [['7', '40']], None)
    """

    kind: ClassVar[str] = "sparse-histogram"

    @property
    def threshold(self) -> float:
        """Noisy counts from here on are released, in rows (persons)."""
        return self.parts[0].parameters["threshold"] / self._share

    @property
    def places(self) -> NDArray[np.int64]:
        """Places of the cells that passed, row-major in the levels, ascending: int64, shape (kept,)."""
        return np.array([pair[0] for pair in self.parts[0].integers], dtype=np.int64)

    @property
    def values(self) -> Array:
        """Their noisy counts, in rows (persons): shape (kept,)."""
        return np.array([pair[1] for pair in self.parts[0].integers], dtype=np.float64) / self._share

    @property
    def size(self) -> int:
        """Number of all cells."""
        return math.prod(len(labels) for _, labels in self.levels)

    @property
    def expected_empty(self) -> float:
        """How many empty cells are expected to have passed, were nearly all cells empty."""
        part = self.parts[0]
        return self.size * float(part.law.sf(part.parameters["threshold"] - 1))  # sf(k) is P(Z > k)

    @property
    def _share(self) -> int:
        return self.parts[0].parameters.get("share", 1)

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """The cells that passed: a column of labels for each column, "count", and "lower" and "upper" for the true one.

        InferenceError I01 (level).
        """
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        check_level(level)
        columns: dict[str, object] = dict(zip(self.columns, self._labels(self.places), strict=True))
        low, high = self.intervals(level)
        return pd.DataFrame({**columns, "count": self.values, "lower": low, "upper": high})

    def intervals(self, level: float = 0.95) -> tuple[Array, Array]:
        """Lower and upper ends for the true counts of the cells that passed, two arrays of shape (kept,)."""
        check_level(level)
        part = self.parts[0]
        y = np.array([pair[1] for pair in part.integers], dtype=np.float64)
        low, high = conditional(part.law, part.parameters["threshold"], y, level)
        return low / self._share, high / self._share

    def cell(self, labels: Mapping[str, str] | None = None, level: float = 0.95, **more: object) -> SparseCell:
        """One cell by its labels: `cell(county="1002", sex="f")`, or a mapping where names are no words.

        Where it did not pass, the interval is from 0 to what its true count is below at the level.
        InferenceError I01 (level), I41 (a column), I02 (a label), or one for a column that is not named.
        """
        check_level(level)
        given = {**(labels or {}), **more}
        place = 0
        for name in given:
            if name not in self.columns:
                hint = nearest(name, self.columns) or ", ".join(self.columns)
                raise InferenceError(f"column {name!r} is not in this release.", code="I41", hint=hint, state=None)
        for name, known in self.levels:
            label = str(given.get(name))
            if name not in given or label not in known:
                hint = nearest(label, list(known[:1000])) or known[0]
                raise InferenceError(f"cell: {name} has no {label!r}.", code="I02", hint=f'{name}="{hint}"', state=None)
            place = place * len(known) + known.index(label)  # row-major
        kept = np.flatnonzero(self.places == place)
        if len(kept):
            low, high = self.intervals(level)
            i = int(kept[0])
            return SparseCell(float(self.values[i]), float(low[i]), float(high[i]))
        part = self.parts[0]
        return SparseCell(None, 0.0, absent(part.law, part.parameters["threshold"], level) / self._share)

    def summary(self, level: float = 0.95) -> Table:
        """The cells with the largest counts; InferenceError I01 (level)."""
        from tacit.estimates.display import facts, people_words, percent

        low, high = self.intervals(level)
        values = self.values
        order = np.argsort(-values, kind="stable")[:SHOWN]
        labels = self._labels(self.places[order])
        rows: list[tuple[object, ...]] = []
        for j, i in enumerate(order):
            interval = format_interval(float(low[i]), float(high[i]), decimals=0)
            rows.append((":".join(one[j] for one in labels), format_number(float(values[i]), decimals=0), interval))
        kept = f"{len(values):,} of {self.size:,} cells have a noisy count of {self.threshold:,.4g} or more"
        chance = f"about {self.expected_empty:,.3g} empty ones pass by noise alone"
        notes = (f"{kept}; {chance}", "intervals hold among cells that passed; the others are not known", facts(self))
        title = f"Histogram of {', '.join(self.columns)}, sparse · {people_words(self)}"
        columns = (":".join(self.columns), "count", f"{percent(level)} interval")
        return Table(title, columns, tuple(rows), notes, ("left", "right", "right"))

    def _labels(self, places: NDArray[np.int64]) -> list[list[str]]:
        """Labels of cells, one list a column."""
        found: list[list[str]] = []
        rest = places
        for _, known in reversed(self.levels):
            rest, at = np.divmod(rest, len(known))  # row-major places: the last column varies fastest
            found.append([known[int(i)] for i in at])
        return found[::-1]
