"""Counts of the cells that rows are in, of however many there are: memory follows those.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.curator.source import expressions as ex
from tacit.curator.source.engines import Engine
from tacit.curator.source.sums import Pass, coded, groups, plan
from tacit.predicates.typed import Predicate
from tacit.rowmap import KeyMap, Occupied, Sum, Unit


def occupied(
    engine: Engine, keys: Sequence[KeyMap], one: Sum, unit: Unit | None = None, where: Predicate | None = None
) -> Occupied:
    """READS ROWS.  A sum over the rows (persons) of each cell in which it is not 0."""
    if unit is not None or not all(ex.numbered(key) for key in keys):
        return occupied_of(plan(engine, keys, (one,), unit, where), engine)
    found = coded(engine, keys, where)
    cells, counts = found["cell"].astype(np.int64), found["rows"].astype(np.int64)
    order = np.argsort(cells)
    order = order[cells[order] >= 0]
    return Occupied(int(counts.sum()), cells[order], counts[order])


def occupied_of(planned: Pass, engine: Engine) -> Occupied:
    """READS ROWS.  The first sum of a pass, of the cells where it is not 0."""
    rows, counts = 0, dict[int, int]()
    found = engine.collect(planned.frame)
    for number, cell, added in groups(found, planned.keys, planned.sums, planned.terms, planned.counted):
        rows += number
        if cell is not None and added[0]:
            place = 0
            for key, at in zip(planned.keys, cell, strict=True):
                place = place * key.size + at
            counts[place] = counts.get(place, 0) + added[0]
    cells = np.array(sorted(counts), dtype=np.int64)
    return Occupied(rows, cells, np.array([counts[int(at)] for at in cells], dtype=np.int64))
