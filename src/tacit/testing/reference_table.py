"""Tables as NumPy arrays, read by the rules of every engine: the reference that engines must equal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tacit.rows.row_map import KeyMap, RowMap
from tacit.schema import Category, Schema
from tacit.schema.predicates.arithmetic import Reference
from tacit.schema.predicates.computed_columns import Computed, computed_columns
from tacit.schema.predicates.numeric_expressions import ColumnCell
from tacit.schema.predicates.row_values import compute, evaluate
from tacit.schema.predicates.typed_conditions import Predicate

Table_: TypeAlias = Mapping[str, Any]


def columns_of(data: object, schema: Schema) -> dict[str, NDArray[Any]]:
    """Return a table's columns as arrays, computed ones too.  data: a dict of arrays, a frame, or a Parquet path."""
    return with_computed(_columns(data), schema)


def _columns(data: object) -> dict[str, NDArray[Any]]:
    """Return the columns that stand in the table as arrays."""
    if isinstance(data, Mapping):
        return {str(name): np.asarray(column) for name, column in cast("Mapping[Any, Any]", data).items()}
    if isinstance(data, str) or hasattr(data, "__fspath__"):
        import pyarrow.parquet as pq  # pyright: ignore[reportMissingTypeStubs]

        data = cast(Any, pq).read_table(data)
    import narwhals as nw

    frame: Any = nw.from_native(cast(Any, data))
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return {name: eager[name].to_numpy() for name in eager.columns}


def numbers(values: NDArray[Any], at: RowMap) -> NDArray[np.float64]:
    """Return cells as float64, NaN where missing; dates as days since 1970-01-01."""
    if values.dtype.kind in "iufb":
        return values.astype(np.float64)
    if values.dtype.kind == "M":
        days = values.astype("datetime64[D]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))
    return np.array([_number(x) for x in values.tolist()], dtype=np.float64)


def _number(x: object) -> float:
    """Return one cell as a float, NaN unless it is a number or a date."""
    if isinstance(x, date):
        return float(x.toordinal() - date(1970, 1, 1).toordinal())
    return float(x) if isinstance(x, int | float) else np.nan


def holds(where: Predicate, table: Table_) -> NDArray[np.bool_]:
    """Return whether a condition holds, for each row."""
    read = {cell: condition_cell(cell, np.asarray(table[cell.source])) for cell in where.cells}
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is missing
        return np.asarray(evaluate(where, read, Reference()), dtype=np.bool_)


def condition_cell(cell: ColumnCell, values: NDArray[Any]) -> NDArray[np.float64]:
    """Return a column that a condition reads as float64, NaN where missing; a category as the index of its level."""
    if cell.key is not None:
        key = cell.key
        places = [key.index(None if x is None or x != x else x) for x in values.tolist()]
        return np.array([np.nan if i is None else float(i) for i in places], dtype=np.float64)
    kind = "date" if cell.kind == "date" else "boolean" if cell.kind == "boolean" else "real"
    return numbers(values, RowMap(cell.column, cell.source, kind, 0.0, 1.0, 1))


def cells_of(
    keys: tuple[KeyMap, ...], table: Table_, who: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the row-major cell of each row, and whether it is in a cell.

    `who`: the person of each row, for keys whose level is constant within a person.
    """
    size = len(next(iter(table.values()))) if table else 0
    cell, inside = np.zeros(size, dtype=np.int64), np.ones(size, dtype=np.bool_)
    for key in keys:
        cells = np.asarray(table[key.source])
        days = RowMap(key.column, key.source, "date", 0.0, 1.0, 1)
        values = (numbers(cells, days) if key.kind == "bins-date" else cells).tolist()
        # one look-up for each distinct value; NaN, unequal to itself, is missing
        known = {x: key.index(x) for x in set(values) if x == x}
        index = np.array([-1 if (at := known.get(x, key.missing)) is None else at for x in values], dtype=np.int64)
        index = index if who is None or not key.constant else _first(key, index, who)
        inside &= index >= 0
        # row-major; rows outside get any cell, and are dropped by `inside`
        cell = cell * key.size + np.maximum(index, 0)
    return cell, inside


def _first(key: KeyMap, index: NDArray[np.int64], who: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first listed level among the rows of each row's person; the level of missing cells if none is."""
    most, none = len(key.levels), -1 if key.missing is None else key.missing
    first = np.full(int(who.max(initial=-1)) + 1, most)
    # unbuffered: several rows of one person each count
    np.minimum.at(first, who, np.where((index < 0) | (index >= most), most, index))
    return np.where(first == most, none, first)[who]


def with_computed(table: Table_, schema: Schema) -> dict[str, NDArray[Any]]:
    """Return the table's columns and the computed ones, named by `Schema.source`; shape (rows,) each.

    >>> from tacit.schema import Real
    >>> schema = Schema({"x": Real(1, 9), "log x": Real(0, 3, computed="log(x)")})
    >>> with_computed({"x": np.array([1.0, np.nan])}, schema)["= log x"]
    array([ 0., nan])
    """
    found = computed_columns(schema)
    names = {schema.source(name): name for name in schema}
    return {**table, **{source: _column(one, table, schema, names[source]) for source, one in found.items()}}


def with_columns(table: Table_, columns: Iterable[Computed]) -> dict[str, NDArray[Any]]:
    """Return a table together with columns of numbers that are computed from it."""
    return {**table, **{one.source: computed(one, table) for one in columns}}


def computed(column: Computed, table: Table_) -> NDArray[np.float64]:
    """Return a computed column as numbers, NaN where missing; a text level as its place, counted from 1."""
    read = {cell: condition_cell(cell, np.asarray(table[cell.source])) for cell in column.cells}
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is missing
        return np.asarray(compute(column, read, Reference()), dtype=np.float64)


def _column(column: Computed, table: Table_, schema: Schema, name: str) -> NDArray[Any]:
    """Return a computed column, with text levels as text."""
    made = computed(column, table)
    levels = schema[name]
    if not column.texts or not isinstance(levels, Category):
        return made
    return np.array([None if x != x else levels.codes[int(x) - 1] for x in made.tolist()], dtype=object)
