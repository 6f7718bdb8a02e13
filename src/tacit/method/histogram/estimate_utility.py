"""How far synthetic rows are from the release that they are drawn from, and how much of it their drawing explains.

Compared are shares of the release's cells by each column and each two columns, in total variation: the largest
difference of a share that any set of cells can show.  It is a comparison with what was released, not with people:
beside it stands how far the release itself is expected to be off by its noise.  Post-processing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tacit.base.arguments import kind_of
from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.base.simplex import nearest_with_sum
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.bins import BINNED, logistic_of, spans
from tacit.fits.cells.cell_arrays import CellCounts
from tacit.fits.cells.released_cells import cells_of
from tacit.method.histogram.estimate_samples import Whole
from tacit.release.document import Released
from tacit.release.parts import Axis as Facts

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


@dataclass(frozen=True)
class Distance:
    """Of the shares by some columns: their number of cells, and total variation distances, between 0 and 1.

    found: between the rows and the release.  drawing: expected of as many rows drawn from the release itself.
    noise: expected between the release and its table, because of the release's noise.
    """

    columns: tuple[str, ...]
    cells: int
    found: float
    drawing: float
    noise: float


@shown_by_summary
@dataclass(frozen=True, repr=False)
class UtilityReport:
    """Distances of synthetic rows from a release, by one and by two columns: what `cells.utility(rows)` returns.

    >>> import tacit as tc
    >>> table = {"sex": ["f", "m"] * 500, "ok": [True, True, False, True] * 250}
    >>> schema = tc.Schema({"sex": tc.Category(["f", "m"]), "ok": tc.Boolean()})
    >>> cells = tc.Curator(table, schema, budget=tc.Budget(rho=1)).release(tc.Histogram(["sex", "ok"]), rho=0.5)
    >>> found = cells.utility(cells.sample(10_000, rng=0))
    >>> [one.columns for one in found.distances], found.distances[0].found < 0.05
    ([('sex',), ('ok',), ('sex', 'ok')], True)
    """

    release: Released
    rows: int
    distances: tuple[Distance, ...]

    def summary(self, level: float = 0.95) -> Table:
        """Return the distances as a table; nothing in it depends on the level."""
        from tacit.estimates.display import facts, people_words

        lines = tuple(
            (", ".join(one.columns), f"{one.cells:,}", f"{one.found:.4f}", f"{one.drawing:.4f}", f"{one.noise:.4f}")
            for one in self.distances
        )
        heads = ("shares by", "cells", "distance", "by drawing alone", "of the release, by noise")
        title = f"{self.rows:,} synthetic rows beside their release · {people_words(self.release)}"
        notes = ("total variation distance: the largest difference of a share; 0 is best, 1 worst", facts(self.release))
        return Table(title, heads, lines, notes, ("left", "right", "right", "right", "right"))

    def to_frame(self) -> pd.DataFrame:
        """Cells, distance, drawing and noise: a frame by columns."""
        made = {
            "cells": [one.cells for one in self.distances],
            "distance": [one.found for one in self.distances],
            "drawing": [one.drawing for one in self.distances],
            "noise": [one.noise for one in self.distances],
        }
        return pandas().DataFrame(made, index=[", ".join(one.columns) for one in self.distances])


def utility(release: Released, rows: Any) -> UtilityReport:
    """See `HistogramRelease.utility`; InferenceError I87 for rows that are none of the release's."""
    cells = cells_of(release)
    facts = cast("tuple[Facts, ...]", getattr(release, "axes", ()))
    if not hasattr(rows, "columns") or not len(rows):
        text = f"{kind_of(rows)}: no rows to compare."
        raise InferenceError(text, code="I87", hint="cells.utility(cells.sample(10_000))", state=None)
    lacking = [name for name in cells.names if name not in rows.columns]
    if lacking:
        text = f"the rows have no column {', '.join(lacking)}."
        raise InferenceError(text, code="I87", hint="rows with the columns of the release", state=None)
    places = {
        name: _places(release, axis.labels, axis.extra, fact, rows[name])
        for name, axis, fact in zip(cells.names, cells.axes, facts, strict=True)
    }
    return UtilityReport(release, len(rows), tuple(_distances(cells, places, len(rows))))


def _distances(cells: CellCounts, places: dict[str, Whole], n: int) -> Iterator[Distance]:
    for columns in (*combinations(cells.names, 1), *combinations(cells.names, 2)):
        margin = cells.margin(columns)
        total = max(float(margin.counts.sum()), 1.0)
        released = nearest_with_sum(margin.counts, total) / total
        at = np.asarray(np.ravel_multi_index(tuple(places[name] for name in columns), margin.counts.shape), np.int64)
        own = np.bincount(at, minlength=released.size).reshape(released.shape) / n
        # mean absolute value of a normal error: sd * sqrt(2 / pi)
        drawing = float(np.sqrt(released * (1 - released) / n).sum()) * np.sqrt(2 / np.pi) / 2
        noise = released.size * np.sqrt(2 * margin.variance / np.pi) / total / 2
        yield Distance(columns, released.size, float(np.abs(own - released).sum()) / 2, drawing, min(float(noise), 1.0))


def _places(
    release: Released, labels: tuple[str, ...] | None, extra: tuple[str, ...], fact: Facts, values: Any
) -> Whole:
    """Return the index of the cell of each value, shape (n,); InferenceError I87 for a value that has none."""
    name = str(values.name)
    missing = np.asarray(pandas().isna(values), dtype=np.bool_)
    if fact.kind not in BINNED:
        regular = (labels or ())[: len(labels or ())]
        words = np.array([_word(value) for value in values.to_numpy(dtype=object)], dtype=object)
        place = {label: i for i, label in enumerate((*regular, *extra))}
        found = np.array([place.get(word, -1) for word in words], dtype=np.int64)
        gone = place.get("missing", place.get(str(fact.missing), -1))
        return _complete(np.where(missing, gone, found), name)
    bins = logistic_of(release, name)
    x = _numbers(values, fact, missing)
    if bins is not None:
        found = np.searchsorted(np.asarray(bins.edges), x, side="right") - 1
        size = bins.bins - 2
    else:
        lower, upper = spans(fact)
        found = np.searchsorted(np.append(lower, upper[-1]), x, side="right") - 1
        size = len(lower)
        found = np.where(x == upper[-1], size - 1, found)
    place = {word: size + i for i, word in enumerate(extra)}
    # a bound itself is in the end bin where no cell is beyond it
    found = np.where(found < 0, place.get("below", -1), np.where(found >= size, place.get("above", -1), found))
    return _complete(np.where(missing, place.get("missing", -1), found), name)


def _complete(found: Whole, name: str) -> Whole:
    if (found < 0).any():
        text = f"column {name}: a value has no cell in the release."
        raise InferenceError(text, code="I87", hint="rows with the values and bounds of the release", state=None)
    return found


def _numbers(values: Any, fact: Facts, missing: Any) -> Array:
    if fact.kind == "date":
        days = np.asarray(values.to_numpy(dtype="datetime64[s]")).astype("datetime64[D]").astype(np.int64)
        return np.where(missing, 0.0, days.astype(np.float64))
    return np.where(missing, 0.0, values.to_numpy(dtype=np.float64, na_value=np.nan))


def _word(value: Any) -> Any:
    """Return a value's label: of a truth value its word."""
    if value is True or value is np.True_:
        return "true"
    return "false" if value is False or value is np.False_ else value
