"""Which values rows have together, in several columns and cells: what bootstrap samples are drawn from.  INSIDE.

Rows with the same values are one pattern, counted by the table's own engine in one pass: memory grows with the
different combinations of values, at most with the rows.  Where a person may be in several cells, each person is a
pattern of several entries, one for each of the person's cells, which are drawn together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.rows.row_map import MAX_ROWS, JointValues, KeyMap, PersonWeight, RowMap, Unit
from tacit.schema.predicates.typed_conditions import Predicate
from tacit.source.engine import Engine
from tacit.source.engine_sums import cell_expressions as ex
from tacit.source.engine_sums.cell_sums import aggregate, lookup_of, readings_of, values_frame
from tacit.source.engine_sums.row_arrays import numbered_persons

Ints = NDArray[np.int64]
NO_CELL: Final = -1


@dataclass(frozen=True)
class JointPass:
    """One pass over a table, not yet run.

    frame: patterns with their numbers of rows; of persons in several cells one row for each person and cell.  None
    where nothing is read, and all rows are alike.
    """

    frame: Any
    keys: tuple[KeyMap, ...]
    columns: int
    unit: Unit | None
    shared: bool

    def run(self, engine: Engine) -> JointValues:
        """READS ROWS."""
        if self.frame is None:
            rows, zero = aggregate(engine, (), (), self.unit).rows, np.zeros(1, dtype=np.int64)
            return JointValues(np.array([rows], dtype=np.int64), zero, zero, zero[None, :], None)
        found = engine.arrays(self.frame)
        if self.shared:
            persons, _ = numbered_persons(found["u"])
            # rows without a person form one person, whose number is -1
            _, which = np.unique(persons, return_inverse=True)
            pattern = np.asarray(which, dtype=np.int64).reshape(-1)
            counts = np.ones(int(pattern.max(initial=-1)) + 1, dtype=np.int64)
        else:
            counts = np.asarray(found["rows"], dtype=np.int64)
            pattern = np.arange(len(counts))
        if int(counts.sum()) > MAX_ROWS:
            raise ArithmeticError("more rows than the sums are proven for")
        values = _stacked(found, "p", self.columns)
        weights = _stacked(found, "a", self.columns) if self.shared else None
        return JointValues(counts, pattern, _cells(found, self.keys, len(pattern)), values, weights)


def joint_values(
    engine: Engine,
    maps: Sequence[RowMap],
    keys: Sequence[KeyMap],
    unit: Unit | None,
    where: Predicate | None,
    share: PersonWeight | None,
) -> JointValues:
    """READS ROWS.  Return the patterns of all rows (persons), those that are in no cell and keep no value included.

    share: the weights of persons who may be in several cells.
    """
    return joined(engine, maps, keys, unit, where, share).run(engine)


def joined(
    engine: Engine,
    maps: Sequence[RowMap],
    keys: Sequence[KeyMap],
    unit: Unit | None,
    where: Predicate | None,
    share: PersonWeight | None,
) -> JointPass:
    """Plan the pass of `joint_values`; no row is read."""
    columns, shared = max(1, len(maps)), share is not None
    if not maps and not keys and where is None:
        return JointPass(None, (), columns, unit, shared=False)
    # shares count the rows in which their own column has a value; without columns, all rows in a cell
    shares = {} if share is None else {f"a{i}": (i if maps else None, share) for i in range(columns)}
    frame = values_frame(engine.read(readings_of(keys, maps, unit, where)), keys, list(maps), shares, unit, where)
    frame = frame.with_columns(*(_value(i, maps, kept=where is not None).alias(f"p{i}") for i in range(columns)))
    names = [*(f"g{i}" for i in range(len(keys))), *(f"p{i}" for i in range(columns))]
    if shared:
        found = frame.select(*(nw.col(name) for name in ("u", *names, *shares)))
    else:
        found = frame.group_by(names).agg(nw.len().alias("rows"))
    return JointPass(found, tuple(keys), columns, unit, shared=shared)


def _stacked(found: dict[str, Any], letter: str, columns: int) -> Ints:
    """Return columns of whole numbers, shape (columns, entries)."""
    return np.stack([np.asarray(found[f"{letter}{i}"], dtype=np.int64) for i in range(columns)])


def _value(i: int, maps: Sequence[RowMap], *, kept: bool) -> Any:
    """Return the value of a row in one column, -1 where it has none or the condition does not hold."""
    here: Any = ex.whole(0)
    if maps:
        here = nw.col(f"v{i}")
        here = (
            here
            if maps[i].missing is not None
            else nw.when(nw.col(f"s{i}") < ex.whole(0)).then(ex.whole(-1)).otherwise(here)
        )
    return nw.when(nw.col("k") == ex.whole(1)).then(here).otherwise(ex.whole(-1)) if kept else here


def _cells(found: dict[str, Any], keys: Sequence[KeyMap], size: int) -> Ints:
    """Return the public cell of each entry, row-major in the keys' levels; NO_CELL where it is in none."""
    cell, inside = np.zeros(size, dtype=np.int64), np.ones(size, dtype=np.bool_)
    for i, key in enumerate(keys):
        at = _levels(found[f"g{i}"], key)
        inside &= at >= 0
        cell = cell * key.size + np.maximum(at, 0)
    return np.where(inside, cell, NO_CELL)


def _levels(given: Any, key: KeyMap) -> Ints:
    """Return the index of each entry's level, -1 where it has none and the schema declares none for it."""
    lookup, other = lookup_of(key), -1 if key.missing is None else key.missing
    codes, different = numbered_persons(given)
    known = np.array([lookup.get(one, other) for one in np.asarray(different).tolist()] + [other], dtype=np.int64)
    # the code of a missing cell is -1, the last place
    return known[codes]
