"""Rows in each of many cells, as an array: what a histogram counts, in one pass.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.curator.source import expressions as ex
from tacit.curator.source.engines import Engine
from tacit.curator.source.kinds import Reading
from tacit.curator.source.sums import cell_reading, filtered, key_reading, plan
from tacit.predicates.evaluate import evaluate
from tacit.predicates.typed import Predicate
from tacit.rowmap import IDENTITY, ONE, KeyMap, Share, Sum, Tally, Unit


def tallied(
    engine: Engine,
    keys: Sequence[KeyMap],
    where: Predicate | None = None,
    unit: Unit | None = None,
    share: Share | None = None,
) -> Tally:
    """READS ROWS.  Rows in each cell (of persons, by `unit`, the sums of their shares), as one array.

    Where an engine can number the keys, a row's cell is one whole number below 2**53, made of float64: exact.
    """
    one_by_one = all(ex.numbered(key) for key in keys) and prod(ex.places(key) for key in keys) < 2**53
    if unit is not None or not one_by_one:
        one = Sum(None) if share is None else Sum(None, ONE, share, IDENTITY)
        return plan(engine, keys, [one], unit, where).tally(engine)
    readings = [_numbered_reading(key) for key in keys]
    cells = () if where is None else where.cells
    counting = None if where is None else engine.counting()
    frame = engine.read([*readings, *(cell_reading(cell) for cell in cells)])
    if where is not None and counting is not None:
        frame, where = filtered(frame, where, len(keys)), None
    engine_ = ex.Engine(frame)
    places = [engine_.keep(ex.place(key, f"c{i}", engine_.keep)) for i, key in enumerate(keys)]
    kept: Any = None
    if where is not None:
        read = {cell: engine_.keep(ex.condition_cell(cell, f"c{len(keys) + i}")) for i, cell in enumerate(cells)}
        kept = evaluate(where, read, engine_)
    code, stride = ex.real(0.0), 1
    for key, at in zip(reversed(keys), reversed(places), strict=True):
        code = code + at * ex.real(float(stride))  # null where one of the places is
        stride *= ex.places(key)
    there = code >= ex.real(0.0) if kept is None else kept & (code >= ex.real(0.0))
    code = nw.when(there).then(code).otherwise(ex.real(-1.0)).cast(nw.Int32() if stride < 2**31 else nw.Int64())
    grouped = engine_.frame.select(code.alias("cell")).group_by("cell").agg(nw.len().alias("rows"))
    found = engine.arrays(grouped)
    inside = found["cell"] >= 0
    counts = _counts(keys, found["cell"][inside], found["rows"][inside])
    return Tally(int(found["rows"].sum()) if counting is None else counting(), counts)


def _counts(keys: Sequence[KeyMap], places: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.int64]:
    """Rows of combined places, each once -> rows of every public cell."""
    counts = np.zeros(prod(key.size for key in keys), dtype=np.int64)
    tables = [ex.indices(key) for key in keys]
    if all(table is None for table in tables):
        counts[places] = rows
        return counts
    cell, stride, listed = np.zeros(len(places), dtype=np.int64), 1, np.ones(len(places), dtype=np.bool_)
    for key, table in zip(reversed(keys), reversed(tables), strict=True):
        places, at = np.divmod(places, ex.places(key))
        at = at if table is None else table[at]
        listed &= at >= 0
        cell, stride = cell + at * stride, stride * key.size
    np.add.at(counts, cell[listed], rows[listed])
    return counts


def _numbered_reading(key: KeyMap) -> Reading:
    if isinstance(key.levels[0], str):
        return Reading(key.source, "index", tuple(map(str, key.levels)))
    return key_reading(key)
