"""Conversion of arrays and frames in memory to Arrow columns, when a query needs them.  INSIDE the wall.

The type of an array is known without its cells.  A pandas object column is declared to be text (its other cells are
missing); a plain list has the Python type of its cells, all of them numbers or all of one type.  Nothing further is
taken from them: a list without any cell fits every declared column, and how large its numbers are is not told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tacit.base.lazy_imports import arrow
from tacit.source.reading.column_kinds import ColumnType, Holds
from tacit.source.reading.python_numbers import are_numbers, floats, persons, whole_numbers, whole_persons


@dataclass(frozen=True)
class LazyColumn:
    """A column's type, a function that returns its cells as an Arrow array, and the array that it is, if it is one.

    array: of Booleans, integers or floats in native byte order, NaN where a cell is missing.  persons: returns cells
    that stay different where they are, for those of `read` that do not.
    """

    type: ColumnType
    read: Callable[[], Any]
    array: NDArray[Any] | None = None
    persons: Callable[[], Any] | None = None

    def cells(self, exact: bool) -> Any:
        """Return the cells as an Arrow array; exact: as identifiers of persons."""
        return self.persons() if exact and self.persons is not None else self.read()


def array_type(dtype: Any) -> ColumnType:
    """Return the `ColumnType` of an Arrow type.

    >>> import pyarrow as pa
    >>> array_type(pa.dictionary(pa.int8(), pa.string())).holds
    'text'
    """
    return ColumnType(str(dtype), _holds(dtype) if _convertible(dtype) else "other")


def _convertible(dtype: Any) -> bool:
    """Whether Arrow can convert a type by `plain`, tried on an empty array."""
    pa = arrow()
    try:
        for exact in (False, True):
            plain(pa.chunked_array([], dtype), exact=exact)
    except pa.ArrowException:
        return False
    return True


def _holds(dtype: Any) -> Holds:
    pa = arrow()

    is_ = pa.types
    if is_.is_dictionary(dtype):
        inner = _holds(dtype.value_type)
        return "other" if inner == "identifier" else inner
    if is_.is_boolean(dtype):
        return "boolean"
    if is_.is_integer(dtype) or is_.is_floating(dtype) or is_.is_decimal(dtype):
        return "number"
    if is_.is_string(dtype) or is_.is_large_string(dtype) or is_.is_string_view(dtype):
        return "text"
    if is_.is_date(dtype) or is_.is_timestamp(dtype):
        return "date"
    return "nothing" if is_.is_null(dtype) else "other"


def plain(cells: Any, *, exact: bool = False) -> Any:
    """Convert Arrow cells to a type that DuckDB scans.

    float16 and decimals of more than 128 bits become float64, dates and timestamps integers, and dictionaries of other
    values than text are decoded.  exact: different cells stay different, so that such decimals become text.
    """
    pa = arrow()

    is_ = pa.types
    if is_.is_dictionary(cells.type) and _holds(cells.type) != "text":
        cells = cells.cast(cells.type.value_type)
    if is_.is_decimal256(cells.type):
        return cells.cast(pa.string()) if exact else cells.cast(pa.float64(), safe=False)
    if is_.is_float16(cells.type):
        return cells.cast(pa.float64())
    if is_.is_date32(cells.type):
        return cells.cast(pa.int32())
    return cells.cast(pa.int64()) if is_.is_timestamp(cells.type) or is_.is_date64(cells.type) else cells


def masked(cells: Any) -> NDArray[Any]:
    """Convert Arrow cells to NumPy; integers are masked where missing, since floats are inexact above 2**53."""
    if cells.null_count and arrow().types.is_integer(cells.type):
        # NumPy has no missing integer: to_numpy would make floats of the whole column
        gone = cells.is_null().to_numpy(zero_copy_only=False)
        return np.ma.array(cells.fill_null(0).to_numpy(), mask=gone)
    return cells.to_numpy(zero_copy_only=False)


def numbers(values: NDArray[Any]) -> LazyColumn:
    """Convert a NumPy array of one dimension; NaN and NaT are missing, and an object array is text, as in pandas."""
    pa = arrow()

    if values.dtype.kind in "OU":  # Arrow refuses all texts of an array for a lone surrogate in one
        found = words(cast("Sequence[object]", values))
        return replace(found, type=ColumnType(str(values.dtype), "text"))
    # float16 and extended precision have no Arrow type that DuckDB scans
    if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
        values = values.astype(np.float64)
    # Arrow refuses bytes of the other order
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if values.dtype.kind in "fiu":
        return replace(_converted(str(values.dtype), _from_memory, values, values[:0]), array=values)
    found = _converted(str(values.dtype), lambda part: pa.array(part, from_pandas=True), values, values[:0])
    return replace(found, array=values) if values.dtype == np.bool_ else found


def _from_memory(values: NDArray[Any]) -> Any:
    """Convert numbers where they lie, NaN to missing: what `pa.array(values, from_pandas=True)` gives.

    That function loads pandas, which takes half a second.
    """
    pa = arrow()

    values = np.ascontiguousarray(values)
    gone = np.isnan(values) if values.dtype.kind == "f" else np.zeros(0, dtype=np.bool_)
    there = pa.py_buffer(np.packbits(~gone, bitorder="little")) if gone.any() else None
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [there, pa.py_buffer(values)])


def series(values: Any) -> LazyColumn:
    """Convert a pandas column; an object column is text and its other cells are missing: no type is guessed."""
    pa = arrow()

    if values.dtype == object:
        return words(values)
    if values.dtype.name == "category" and values.dtype.categories.dtype == object:
        return LazyColumn(ColumnType("category", "text"), lambda: _categories(values.cat.codes.to_numpy(), values.cat))
    found = _converted(str(values.dtype), lambda part: pa.Array.from_pandas(part), values, values.iloc[:0])
    # extension types of pandas have missing cells of their own
    dtype: Any = values.dtype
    plain = isinstance(dtype, np.dtype) and dtype.kind in "biuf" and dtype.itemsize <= 8 and dtype.isnative
    return replace(found, array=values.to_numpy()) if plain else found


def _categories(codes: NDArray[Any], names: Any) -> Any:
    """Return a pandas column of categories as a dictionary of texts; cells of categories that are no text are missing.

    Which categories there are follows from the rows as a rule: one that is no text may not decide for the others.
    """
    pa = arrow()
    texts = words(list(names.categories)).read()
    # code -1 is a missing cell
    there = np.append(texts.is_valid().to_numpy(zero_copy_only=False), False)
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=~there[codes]), texts.fill_null(""))


def words(values: Sequence[object]) -> LazyColumn:
    """Convert Python values to text; cells that are no text are missing."""
    pa = arrow()

    def read() -> Any:
        try:
            return pa.array([x if isinstance(x, str) else None for x in values], type=pa.string())
        except UnicodeEncodeError:
            return pa.array([x if isinstance(x, str) and _encodable(x) else None for x in values], type=pa.string())

    return LazyColumn(ColumnType("object", "text"), read)


def _encodable(text: str) -> bool:
    """Whether text has a UTF-8 form: lone surrogates have none, and no declared level holds them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def listed(values: Sequence[object]) -> LazyColumn:
    """Convert a list of numbers, or of Python values of one type; None, and what pandas writes for it, is missing.

    One of several types cannot be read.
    """
    pa = arrow()

    found = {type(x) for x in values}
    gone = {kind for kind in found if _is_missing(kind)}
    kinds = found - gone
    if not kinds:
        return LazyColumn(ColumnType("list", "nothing"), lambda: pa.nulls(len(values)))
    if gone - {type(None)}:
        values = [None if type(x) in gone else x for x in values]
    if kinds == {int}:
        whole = ColumnType("list of whole numbers", "number")
        return LazyColumn(whole, lambda: whole_numbers(values), persons=lambda: whole_persons(values))
    if are_numbers(kinds):
        number = ColumnType("list of numbers", "number")
        return LazyColumn(number, lambda: floats(values), persons=lambda: persons(values))
    if all(issubclass(kind, str) for kind in kinds):
        return words(values)
    try:
        array = pa.array(values)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        one = len(kinds) == 1
        return LazyColumn(
            ColumnType("list of objects" if one else "list of several types", "other" if one else "mixed"), lambda: None
        )
    return LazyColumn(array_type(array.type), lambda: array)


def _is_missing(kind: type) -> bool:
    return kind is type(None) or (kind.__name__ in ("NAType", "NaTType") and kind.__module__.startswith("pandas."))


def _converted(name: str, convert: Callable[[Any], Any], values: Any, none: Any) -> LazyColumn:
    """Take the type from an empty slice (`none`); a column without an Arrow type is refused only when it is used."""
    pa = arrow()

    try:
        dtype = convert(none).type
    except (pa.ArrowException, TypeError, ValueError):
        return LazyColumn(ColumnType(name, "other"), lambda: None)

    def read() -> Any:
        try:
            return convert(values)
        except UnicodeError:
            return words(list(values)).read()

    return LazyColumn(ColumnType(name, _holds(dtype)), read)
