"""Complete cases of some columns as floats, for statistics that no engine computes.  INSIDE the wall.

Values are those that conditions and computed columns see (`schema.predicates.numeric_expressions`): clamped to the
column's bounds if it has any, missing ones at their declared place, levels by their index.  Rows with another missing
value in one of the columns, or for which a condition does not hold, are left out by the engine.  The order is
arbitrary.

Each row (person) has a word, 64 random bits that decide its block.  Where a table is read once, words are fresh from
the operating system.  Where it is read several times in pieces, a word is a pseudorandom function, under a fresh secret
key, of the row's number in the table or of the person: the same at each reading, and computationally indistinguishable
from a fresh word without the key.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.base.lazy_imports import pandas
from tacit.rows.row_map import Unit
from tacit.schema.predicates.arithmetic import Reference
from tacit.schema.predicates.computed_columns import Computed
from tacit.schema.predicates.numeric_expressions import ColumnCell
from tacit.schema.predicates.row_values import compute, evaluate
from tacit.schema.predicates.typed_conditions import Predicate
from tacit.source.engine import PLACE, ClusterWork, Engine, Words
from tacit.source.engine_sums import cell_expressions as ex
from tacit.source.engine_sums.cell_sums import cell_reading
from tacit.source.reading.column_kinds import Reading
from tacit.source.shared_blocks import shared

CHUNK: Final = 2**16
"""Words made by one call of the hash function."""
DRAWN: Final = 2**18
"""Words drawn by one call of the operating system."""
BLOCK: Final = 2**16
"""Rows of a table in memory that are read at a time."""


@dataclass(frozen=True)
class RowArrays:
    """values: shape (rows, columns).  owners: shape (rows,), one number a person, or None where a row is a person."""

    values: NDArray[np.float64]
    owners: NDArray[np.int64] | None


def complete(
    engine: Engine, cells: Sequence[ColumnCell], unit: Unit | None = None, where: Predicate | None = None
) -> RowArrays:
    """READS ROWS.  Return the complete cases of `cells`, with their persons where there is a `unit`."""
    lying = _lying(engine, cells, []) if unit is None and where is None else None
    if lying is not None:
        return RowArrays(lying[0], None)
    return collected(engine, planned(engine, cells, unit, where), len(cells), unit)


def planned(engine: Engine, cells: Sequence[ColumnCell], unit: Unit | None, where: Predicate | None) -> Any:
    """Return the lazy frame of complete cases, for `collected`; no row is read."""
    return _frame(engine, cells, [] if unit is None else [Reading(unit.source, "unit")], where)


def collected(engine: Engine, frame: Any, columns: int, unit: Unit | None) -> RowArrays:
    """READS ROWS.  Fetch the complete cases of a frame of `planned` with so many columns."""
    values, found = _collected(engine, frame, columns)
    return RowArrays(values, None if unit is None else numbered_persons(found)[0])


def system_random_words(count: int) -> Words:
    """Return words of the operating system's generator, independent and uniform."""
    found = np.empty(count, dtype=np.uint64)
    # each row's block is a coin of its own, independent of all rows, as the proof under add-remove demands (theory E2)
    shared([found[at : at + DRAWN] for at in range(0, count, DRAWN)], _drawn_into)
    return found


def _drawn_into(parts: Iterator[Words]) -> None:
    for one in parts:
        one[:] = np.frombuffer(os.urandom(8 * len(one)), dtype=np.uint64)


def pieces(
    engine: Engine, cells: Sequence[ColumnCell], unit: Unit | None, where: Predicate | None, key: bytes
) -> Iterator[tuple[NDArray[np.float64], Words]] | None:
    """READS ROWS.  Yield values, shape (rows, columns), and words, piece by piece; None where row order may change.

    The same key gives the same words at every call.
    """
    found = engine.pieces()
    if found is None:
        return None

    def made() -> Iterator[tuple[NDArray[np.float64], Words]]:
        first = 0
        extra = Reading(PLACE, "number") if unit is None else Reading(unit.source, "unit")
        for one in found:
            values, said = _read(one.engine, cells, [extra], where)
            if unit is None:
                # numbers of rows are below 2**53, exact in float64
                place = np.asarray(said, dtype=np.float64).astype(np.int64)
                yield values, of_places(key, first, one.rows)[place]
            else:
                yield values, _of_persons(key, said)
            # all rows of the piece, kept or not: the number of a row must not depend on which others are complete
            first += one.rows

    return made()


def spread(
    engine: Engine,
    cells: Sequence[ColumnCell],
    unit: Unit | None,
    where: Predicate | None,
    key: bytes,
    place: Callable[[], Callable[[Words], Words]] | None,
    group: Callable[[Words], NDArray[np.int64]],
    answer: Callable[[int, NDArray[np.float64], Words], NDArray[np.float64]],
    numbers: int,
) -> dict[int, NDArray[np.float64]] | None:
    """READS ROWS, on the machines of a cluster.  Return the results of each group of blocks; None on one machine.

    Words are drawn on the cluster: fresh for rows, by the key for persons.  place: makes a function from words by the
    key and row numbers to words of blocks of equal size; None where labels are independent.
    """
    if engine.in_memory([cell_reading(cell) for cell in cells]) is not None:
        return None
    extra = [] if unit is None else [Reading(unit.source, "unit")]
    numbered = None if place is None else partial(_numbering, key, place)
    work = ClusterWork(partial(_drawn, key), numbered, group, answer, numbers)
    return engine.spread(_frame(engine, cells, extra, where), len(cells), work)


def _drawn(key: bytes, persons: Any, rows: int) -> Words:
    """Return fresh words of rows, or keyed words of persons (an Arrow array)."""
    if persons is None:
        return system_random_words(rows)
    found = persons.dictionary_encode()
    # -1 takes the last word, that of rows without an identifier
    codes = found.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return _keyed(key, found.dictionary.to_pylist(), codes)


def _numbering(key: bytes, place: Callable[[], Callable[[Words], Words]]) -> Callable[[int, int], Words]:
    """Return a function (first, count) -> words of blocks of equal size: made on the driver, run on the cluster."""
    return partial(_placed, key, place())


def _placed(key: bytes, place: Callable[[Words], Words], first: int, count: int) -> Words:
    return place(of_places(key, first, count))


def of_places(key: bytes, first: int, count: int) -> Words:
    """Return keyed words of `count` rows from number `first` on: SHAKE-128 of the key and the number of each chunk."""
    start = first // CHUNK
    chunks = range(start, -(-(first + count) // CHUNK))
    # a sponge keyed by a prefix is a pseudorandom function: SHAKE has no length extension, the key has fixed length
    made = b"".join(hashlib.shake_128(key + i.to_bytes(8, "little")).digest(8 * CHUNK) for i in chunks)
    at = first - start * CHUNK
    return np.frombuffer(made, dtype=np.uint64)[at : at + count]


def _of_persons(key: bytes, given: Any) -> Words:
    """Return the word of each row's person, a keyed hash of the identifier; rows without one form one person."""
    codes, persons = numbered_persons(given)
    return _keyed(key, persons, codes)


def _keyed(key: bytes, persons: Any, codes: NDArray[np.int64]) -> Words:
    words = [hashlib.blake2b(_bytes(one), key=key, digest_size=8).digest() for one in persons]
    # for code -1, the last place: no identifier is empty bytes, since each begins with b or t
    words.append(hashlib.blake2b(b"", key=key, digest_size=8).digest())
    return np.frombuffer(b"".join(words), dtype=np.uint64)[codes]


def _bytes(person: Any) -> bytes:
    """Return an identifier as bytes; those of one column have one type, so that different ones stay different."""
    if isinstance(person, bytes | bytearray):
        return b"b" + bytes(person)
    return b"t" + (str(person) if isinstance(person, str) else repr(person)).encode("utf-8", "surrogatepass")


def _read(
    engine: Engine, cells: Sequence[ColumnCell], extra: Sequence[Reading], where: Predicate | None
) -> tuple[NDArray[np.float64], Any]:
    """READS ROWS.  Return complete cases, shape (rows, columns), and the column of `extra`, at most one."""
    lying = None if where is not None or any(one.how == "unit" for one in extra) else _lying(engine, cells, extra)
    if lying is not None:
        return lying
    return _collected(engine, _frame(engine, cells, extra, where), len(cells))


def _lying(
    engine: Engine, cells: Sequence[ColumnCell], extra: Sequence[Reading]
) -> tuple[NDArray[np.float64], Any] | None:
    """READS ROWS.  Return what `_read` does, of a table in memory without a condition; None of another."""
    if any(cell.key is not None for cell in cells):
        return None
    columns = engine.in_memory([*(cell_reading(cell) for cell in cells), *extra])
    if columns is None:
        return None
    rows, more = len(columns[0]), columns[len(cells)] if extra else None
    if len(cells) == 1 and _as_they_lie(cells[0], columns[0]):
        table = columns[0][:, None]
        # not a copy: nobody may write into the table of the caller
        table.flags.writeable = False
        return table, more
    table, kept = np.empty((rows, len(cells))), np.empty(rows, dtype=np.bool_)

    def computed(parts: Iterator[slice]) -> None:
        for part in parts:
            here = np.ones(len(kept[part]), dtype=np.bool_)
            for i, cell in enumerate(cells):
                x = np.asarray(columns[i][part], dtype=np.float64)
                # by the same words as on engines, in NumPy
                table[part, i] = compute(Computed("", cell, (cell,)), {cell: x}, Reference())
                here &= np.isfinite(table[part, i])
            kept[part] = here

    shared([slice(at, at + BLOCK) for at in range(0, rows, BLOCK)], computed)
    return (table, more) if kept.all() else (table[kept], None if more is None else more[kept])


def _as_they_lie(cell: ColumnCell, column: NDArray[Any]) -> bool:
    """READS ROWS.  Return whether all cells are floats that `compute` gives back bit by bit: finite, within bounds."""
    if column.dtype != np.float64 or cell.kind == "boolean" or not len(column):
        return False

    def ends(parts: Iterator[NDArray[Any]]) -> list[tuple[float, float]]:
        return [(float(one.min()), float(one.max())) for one in parts]

    found = [
        one for some in shared([column[at : at + BLOCK] for at in range(0, len(column), BLOCK)], ends) for one in some
    ]
    # NaN where any is: then no comparison holds
    least, most = (float(end) for end in (np.min([one for one, _ in found]), np.max([one for _, one in found])))
    low, high = (-np.inf, np.inf) if cell.lower is None or cell.upper is None else (cell.lower, cell.upper)
    # at a bound of 0 the clamp gives the bound, whose sign may be another
    return (
        (low < least or least == low != 0.0)
        and (most < high or most == high != 0.0)
        and math.isfinite(least)
        and math.isfinite(most)
    )


def _collected(engine: Engine, frame: Any, columns: int) -> tuple[NDArray[np.float64], Any]:
    found = engine.arrays(frame)
    # shape (rows, columns)
    table = np.stack([np.asarray(found[f"v{i}"], dtype=np.float64) for i in range(columns)], axis=1)
    return table, found.get("u")


def _frame(engine: Engine, cells: Sequence[ColumnCell], extra: Sequence[Reading], where: Predicate | None) -> Any:
    """Return the lazy frame of complete cases, columns v0, v1, ..., and u for the column of `extra`."""
    conditions = () if where is None else where.cells
    read = list(dict.fromkeys([*cells, *conditions]))
    frame = engine.read([*(cell_reading(cell) for cell in read), *extra])
    named = {f"x{i}": ex.condition_cell(cell, f"c{i}") for i, cell in enumerate(read)}
    tools = ex.NarwhalsBackend(ex.select(frame, named | ({"u": nw.col(f"c{len(read)}")} if extra else {})))
    column = {cell: nw.col(f"x{i}") for i, cell in enumerate(read)}
    values = [compute(Computed("", cell, (cell,)), {cell: column[cell]}, tools) for cell in cells]
    kept = tools.truth(True) if where is None else evaluate(where, {cell: column[cell] for cell in conditions}, tools)
    made = tools.frame.with_columns(kept.alias("k"), *(one.alias(f"v{i}") for i, one in enumerate(values)))
    here: Any = nw.col("k")
    for i in range(len(cells)):
        here = here & ~nw.col(f"v{i}").is_null()
    names = [f"v{i}" for i in range(len(cells))]
    return made.filter(here).select(*names, *(["u"] if extra else []))


def numbered_persons(given: Any) -> tuple[NDArray[np.int64], Any]:
    """Number the different values, -1 where missing, and return them; rows without a person form one person."""
    values = np.ma.getdata(given)
    gone = np.ma.getmaskarray(given)
    if values.dtype == object:
        values = np.array([bytes(one) if isinstance(one, bytearray) else one for one in values], dtype=object)
    codes, different = pandas().factorize(values)
    codes = np.asarray(codes, dtype=np.int64)
    # factorize sees the fill value of a masked cell, which may be a valid identifier
    codes[gone] = -1
    return codes, different
