"""How many rows have each level of a column of text, or which weight persons have there.  INSIDE the wall.

The table's engine groups rows by the exact text, for persons by person and text; the rules of `rows.text_map` are then
applied to each different text.  Time and memory grow with the number of different texts (pairs of a person and a text).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.rows.row_map import MAX_ROWS, Unit
from tacit.rows.text_map import TextMap
from tacit.schema.predicates.row_values import evaluate
from tacit.schema.predicates.typed_conditions import Predicate
from tacit.source.engine import Engine
from tacit.source.engine_sums import cell_expressions as ex
from tacit.source.engine_sums.cell_sums import cell_reading
from tacit.source.engine_sums.row_arrays import numbered_persons
from tacit.source.reading.column_kinds import Reading

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class LevelCounts:
    """Exact counts of the levels that rows have.  INSIDE the wall: never released.

    rows: number of all rows, or of all persons, with a level or without.  counts: by level, above 0 each.
    """

    rows: int
    counts: dict[str, int]


@dataclass(frozen=True)
class LevelPass:
    """One pass over a table, not yet run: rows by text, whether they count, and person."""

    frame: Any
    at: TextMap
    parts: int | None

    def run(self, engine: Engine) -> LevelCounts:
        """READS ROWS."""
        found = engine.arrays(self.frame)
        rows = np.asarray(found["rows"], dtype=np.int64)
        total = int(rows.sum())
        if total > MAX_ROWS:
            raise ArithmeticError("more rows than the sums are proven for")
        texts = [self.at.level(cell) for cell in _cells(found["t"])]
        counts = np.asarray(found["k"], dtype=np.int64) == 1 if "k" in found else np.ones(len(rows), dtype=np.bool_)
        names = sorted({text for text, own in zip(texts, counts.tolist(), strict=True) if text is not None and own})
        place = {text: i for i, text in enumerate(names)}
        # -1 of a row that has no level, or that the condition leaves out
        level = np.array(
            [-1 if text is None or not own else place[text] for text, own in zip(texts, counts.tolist(), strict=True)],
            dtype=np.int64,
        )
        if self.parts is None:
            sums = np.zeros(len(names), dtype=np.int64)
            np.add.at(sums, level[level >= 0], rows[level >= 0])
        else:
            persons, _ = numbered_persons(found["u"])
            sums = _weights(persons, level, rows, self.parts, len(names))
            # rows without a person, numbered -1, are one person's
            total = len(np.unique(persons))
        return LevelCounts(total, {name: int(one) for name, one in zip(names, sums.tolist(), strict=True) if one})


def _weights(persons: Ints, level: Ints, rows: Ints, parts: int, levels: int) -> Ints:
    """Return the weight of all persons in each level: about parts c / C of one who has c of C rows with a level there.

    persons, level, rows: of groups of rows, shape (g,).  With B of the person's rows in levels before this one, it is
    r(B + c) - r(B), r(x) = floor((parts x + floor(C / 2)) / C): ends are rounded to the nearest, as floors of the parts
    would make every count too small.  r does not decrease, r(0) = 0 and r(C) = parts: no weight is negative, and those
    of one person add up to `parts`, whatever the table holds.  They depend on the person's own rows alone, as the order
    of the person's levels is that of their texts.
    """
    has = level >= 0
    pair, which = np.unique(np.stack([persons[has], level[has]]), axis=1, return_inverse=True)
    own = np.zeros(pair.shape[1], dtype=np.int64)
    # two texts may be one level: rows are added before the division
    np.add.at(own, np.asarray(which).reshape(-1), rows[has])
    _, person = np.unique(pair[0], return_inverse=True)
    person = np.asarray(person).reshape(-1)
    every = np.zeros(int(person.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(every, person, own)
    # pairs are in order: a person's follow one another, by level
    upper = np.cumsum(own) - (np.cumsum(every) - every)[person]
    ends = [(parts * rows_so_far + every[person] // 2) // every[person] for rows_so_far in (upper, upper - own)]
    sums = np.zeros(levels, dtype=np.int64)
    np.add.at(sums, pair[1], ends[0] - ends[1])
    return sums


def level_counts(
    engine: Engine, at: TextMap, unit: Unit | None, where: Predicate | None, parts: int | None
) -> LevelCounts:
    """READS ROWS.  Return the number of rows at each level; parts: of persons' weights, in units of 1 / parts."""
    return planned_levels(engine, at, unit, where, parts).run(engine)


def planned_levels(
    engine: Engine, at: TextMap, unit: Unit | None, where: Predicate | None, parts: int | None
) -> LevelPass:
    """Plan the pass of `level_counts`; no row is read."""
    cells = () if where is None else where.cells
    # "unit": different texts stay different, and equal ones equal, whatever collation is in force
    readings = [Reading(at.source, "unit"), *(cell_reading(cell) for cell in cells)]
    named = {"t": nw.col("c0")} | {f"x{i}": ex.condition_cell(cell, f"c{1 + i}") for i, cell in enumerate(cells)}
    groups = ["t"]
    if unit is not None:
        named["u"] = nw.col(f"c{len(readings)}")
        readings.append(Reading(unit.source, "unit"))
        groups.append("u")
    frame = ex.select(engine.read(readings), named)
    if where is not None:
        tools = ex.NarwhalsBackend(frame)
        holds = evaluate(where, {cell: nw.col(f"x{i}") for i, cell in enumerate(cells)}, tools)
        frame = tools.frame.with_columns(nw.when(holds).then(ex.whole(1)).otherwise(ex.whole(0)).alias("k"))
        groups.append("k")
    return LevelPass(frame.group_by(groups).agg(nw.len().alias("rows")), at, parts)


def _cells(given: Any) -> list[Any]:
    """Return an array of cells as Python values, None where one is masked."""
    # a masked cell has a fill value below its mask, which may be a valid text: it is not read
    gone: Any = np.ma.getmaskarray(given)
    cells: Any = np.asarray(np.ma.getdata(given), dtype=object)
    return [None if no else cell for cell, no in zip(cells, gone, strict=True)]
