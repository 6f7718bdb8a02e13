"""Counts of rows by cell, of all cells or of occupied ones, in one pass.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.rows.row_map import IDENTITY, ONE, KeyMap, Occupied, PersonWeight, SumTerm, Tally, Unit
from tacit.schema.predicates.row_values import evaluate
from tacit.schema.predicates.typed_conditions import Predicate
from tacit.source.engine import Engine
from tacit.source.engine_sums import cell_expressions as ex
from tacit.source.engine_sums.cell_sums import SumsPass, cell_reading, filtered, key_reading, plan
from tacit.source.reading.column_kinds import Reading

Ints: TypeAlias = NDArray[np.int64]


def tallied(
    engine: Engine,
    keys: Sequence[KeyMap],
    where: Predicate | None = None,
    unit: Unit | None = None,
    share: PersonWeight | None = None,
) -> Tally:
    """READS ROWS.  Return the number of rows in each cell (the sum of persons' shares, by `unit`) as one array."""
    one = SumTerm(None) if share is None else SumTerm(None, ONE, share, IDENTITY)
    found = _occupied(engine, keys, one, unit, where)
    # shape (cells,), row-major in the levels of the keys
    counts = np.zeros(prod(key.size for key in keys), dtype=np.int64)
    counts[found.cells] = found.counts
    return Tally(found.rows, counts)


def occupied(
    engine: Engine, keys: Sequence[KeyMap], one: SumTerm, unit: Unit | None = None, where: Predicate | None = None
) -> Occupied:
    """READS ROWS.  Return the cells in which a sum over rows (persons) is not 0, in order, with the sums."""
    found = _occupied(engine, keys, one, unit, where)
    order = np.argsort(found.cells)
    return Occupied(found.rows, found.cells[order], found.counts[order])


def _occupied(
    engine: Engine, keys: Sequence[KeyMap], one: SumTerm, unit: Unit | None, where: Predicate | None
) -> Occupied:
    """READS ROWS.  As `occupied`, in any order.

    Where an engine can number the levels, a row's cell is one integer below 2**53, exact in float64.
    """
    numbered = all(ex.numbered(key) for key in keys) and prod(ex.places(key) for key in keys) < 2**53
    if unit is not None or not numbered:
        return occupied_of(plan(engine, keys, (one,), unit, where), engine)
    counting = None if where is None else engine.counting()
    readings = [numbered_reading(key) for key in keys]
    frame = engine.read([*readings, *(cell_reading(cell) for cell in (() if where is None else where.cells))])
    if where is not None and counting is not None:
        frame, where = filtered(frame, where, len(keys)), None
    found = engine.arrays(_coded(frame, keys, where).group_by("cell").agg(nw.len().alias("rows")))
    inside = found["cell"] >= 0
    cells, counts = _folded(keys, found["cell"][inside].astype(np.int64), found["rows"][inside].astype(np.int64))
    return Occupied(int(found["rows"].sum()) if counting is None else counting(), cells, counts)


def occupied_of(planned: SumsPass, engine: Engine) -> Occupied:
    """READS ROWS.  Return the first sum of a pass for the cells where it is not 0."""
    rows, found = planned.found(engine)
    counts: dict[int, int] = {}
    for cell, sums in found.items():
        if sums[0]:
            place = 0
            for key, at in zip(planned.keys, cell, strict=True):
                # mixed radix, the last key fastest: row-major order
                place = place * key.size + at
            counts[place] = sums[0]
    cells = np.array(sorted(counts), dtype=np.int64)
    return Occupied(rows, cells, np.array([counts[int(at)] for at in cells], dtype=np.int64))


def _coded(frame: Any, keys: Sequence[KeyMap], where: Predicate | None) -> Any:
    """Return the column "cell" of every row: the places of its levels as one number, -1 for a row in no cell."""
    tools = ex.NarwhalsBackend(frame)
    places = [tools.keep(ex.place(key, f"c{i}", tools)) for i, key in enumerate(keys)]
    code, stride = ex.real(0.0), 1
    for key, at in zip(reversed(keys), reversed(places), strict=True):
        code = at if stride == 1 else code + at * ex.real(float(stride))  # null where one of the places is
        stride *= ex.places(key)
    # null where a place is null, which `when` takes for false
    there = code >= ex.real(0.0)
    if where is not None:
        read = {cell: tools.keep(ex.condition_cell(cell, f"c{len(keys) + i}")) for i, cell in enumerate(where.cells)}
        there = evaluate(where, read, tools) & there
    # 32 bits where they suffice: grouping by a narrow integer is faster
    code = nw.when(there).then(code).otherwise(ex.real(-1.0)).cast(nw.Int32() if stride < 2**31 else nw.Int64())
    return ex.select(tools.frame, {"cell": code})


def _folded(keys: Sequence[KeyMap], places: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Turn distinct combined places and their rows into distinct public cells and their rows."""
    tables = [ex.indices(key) for key in keys]
    if all(table is None for table in tables):
        return places, rows
    cells, stride, listed = np.zeros_like(places), 1, np.ones(len(places), dtype=np.bool_)
    for key, table in zip(reversed(keys), reversed(tables), strict=True):
        # takes off the last digit of the mixed radix; the stride rebuilds the number in public levels
        places, at = np.divmod(places, ex.places(key))
        at = at if table is None else table[at]
        listed &= at >= 0
        cells, stride = cells + at * stride, stride * key.size
    found, which = np.unique(cells[listed], return_inverse=True)
    counts = np.zeros(len(found), dtype=np.int64)
    # several places may be one cell; a plain indexed sum would count only the last of them
    np.add.at(counts, which, rows[listed])
    return found, counts


def numbered_reading(key: KeyMap) -> Reading:
    """Return how a column of levels is read for `cell_expressions.place`."""
    if isinstance(key.levels[0], str):
        return Reading(key.source, "index", tuple(map(str, key.levels)))
    return key_reading(key)
