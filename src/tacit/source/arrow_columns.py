"""Arrays and frames in memory -> Arrow columns, converted when a query needs them.  INSIDE the wall.

A type is known without looking at a cell: of a pandas object column by decree (text; anything else in it is missing),
of a plain list by the Python type of its cells, which must be one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tacit.base.lazy_imports import arrow
from tacit.source.column_kinds import ColumnType, Holds


@dataclass(frozen=True)
class LazyColumn:
    """A column's type, and how to get its cells as an Arrow array."""

    type: ColumnType
    read: Callable[[], Any]


def array_type(dtype: Any) -> ColumnType:
    """An Arrow type in our words.

    >>> import pyarrow as pa
    >>> array_type(pa.dictionary(pa.int8(), pa.string())).holds
    'text'
    """
    return ColumnType(str(dtype), _holds(dtype) if _convertible(dtype) else "other")


def _convertible(dtype: Any) -> bool:
    """Whether Arrow can make `plain` cells of a type; asked of no cells."""
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
    """Arrow cells -> the same in a type that DuckDB scans: the odd ones become float64, dates and timestamps integers.

    float16 and decimals beyond 128 bits are cast to float64, dictionaries of anything but text are decoded.
    exact: no two cells become one, so that such decimals become text.
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
    """Arrow cells -> NumPy; integers masked where they are missing, since floats would not tell them all apart."""
    if cells.null_count and arrow().types.is_integer(cells.type):
        gone = cells.is_null().to_numpy(zero_copy_only=False)
        return np.ma.array(cells.fill_null(0).to_numpy(), mask=gone)
    return cells.to_numpy(zero_copy_only=False)


def numbers(values: NDArray[Any]) -> LazyColumn:
    """A NumPy array of one dimension, NaN and NaT being missing; an object array is text, as in pandas."""
    pa = arrow()

    if values.dtype == object:
        return words(cast("Sequence[object]", values))
    if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
        values = values.astype(np.float64)
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    return _converted(str(values.dtype), lambda part: pa.array(part, from_pandas=True), values, values[:0])


def series(values: Any) -> LazyColumn:
    """A pandas column; object columns are text, and whatever else they hold is missing: never a guessed type."""
    pa = arrow()

    if values.dtype == object:
        return words(values)
    return _converted(str(values.dtype), lambda part: pa.Array.from_pandas(part), values, values.iloc[:0])


def words(values: Sequence[object]) -> LazyColumn:
    """Text, and nothing for cells that are none."""
    pa = arrow()

    def read() -> Any:
        try:
            return pa.array([x if isinstance(x, str) else None for x in values], type=pa.string())
        except UnicodeEncodeError:
            return pa.array([x if isinstance(x, str) and _encodable(x) else None for x in values], type=pa.string())

    return LazyColumn(ColumnType("object", "text"), read)


def _encodable(text: str) -> bool:
    """Whether text has a UTF-8 form: lone surrogates have none, and no level has them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def listed(values: Sequence[object]) -> LazyColumn | None:
    """A list of Python values of one kind (None is missing); None where they are of several."""
    pa = arrow()

    kinds = {type(x) for x in values if x is not None}
    if kinds <= {int, float, bool}:
        made = np.asarray([np.nan if x is None else _float(x) for x in values], dtype=np.float64)
        return LazyColumn(ColumnType("list of numbers", "number"), lambda: pa.array(made, from_pandas=True))
    if kinds == {str}:
        return words(values)
    try:
        array = pa.array(values)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return None
    return LazyColumn(array_type(array.type), lambda: array)


def _float(number: Any) -> float:
    """A number as a float, infinite where an integer is beyond all of them."""
    try:
        return float(number)
    except OverflowError:
        return np.inf


def _converted(name: str, convert: Callable[[Any], Any], values: Any, none: Any) -> LazyColumn:
    """The type of no rows is the type of all; a column that Arrow has no type for is only refused when it is used."""
    pa = arrow()

    try:
        dtype = convert(none).type
    except (pa.ArrowException, TypeError, ValueError):
        return LazyColumn(ColumnType(name, "other"), lambda: None)

    def read() -> Any:
        try:
            return convert(values)
        except UnicodeEncodeError:
            return words(list(values)).read()

    return LazyColumn(ColumnType(name, _holds(dtype)), read)
