"""Polars, eager and lazy; a lazy scan is streamed.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import narwhals as nw

from tacit.source.engine import ClusterWork, Engine
from tacit.source.reading.arrow_columns import masked
from tacit.source.reading.column_kinds import KNOWN, LAST_DAY, PER_DAY, ColumnType, Holds, Reading


def open_engine(frame: Any) -> Engine:
    """The engine of an eager or lazy Polars frame."""
    return Polars(frame)


class Polars:
    """An `Engine` of a Polars frame."""

    def __init__(self, data: Any) -> None:
        self._frame = data.lazy()
        self._rows: int | None = getattr(data, "height", None)  # of an eager frame

    def types(self) -> dict[str, ColumnType]:
        """See `Engine.types`."""
        schema = self._frame.collect_schema()
        return {name: ColumnType(str(dtype), holds(dtype)) for name, dtype in schema.items()}

    def read(self, columns: Sequence[Reading]) -> Any:
        """See `Engine.read`."""
        if not columns:
            return nw.from_native(self._frame)
        schema = self._frame.collect_schema()
        cells = {f"c{i}": _cell(one, schema[one.name]) for i, one in enumerate(columns)}
        return nw.from_native(self._frame.with_columns(**cells).select(*cells))  # as many rows, whatever the cells

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        """See `Engine.collect`."""
        return frame.to_native().collect(engine="streaming").to_dicts()

    def arrays(self, frame: Any) -> dict[str, Any]:
        """See `Engine.arrays`."""
        found = frame.to_native().collect(engine="streaming")
        return {name: masked(found[name].to_arrow()) for name in found.columns}

    def batches(self, frame: Any) -> Iterator[dict[str, Any]] | None:
        """See `Engine.batches`: at once of a frame in memory; a scan may be of any size."""
        return None if self._rows is None else iter([self.arrays(frame)])

    def in_memory(self, columns: Sequence[Reading]) -> None:
        """See `Engine.in_memory`: rows are the engine's."""

    def pieces(self) -> None:
        """See `Engine.pieces`: a query may give rows in any order."""

    def spread(self, frame: Any, columns: int, work: ClusterWork) -> None:
        """See `Engine.spread`: None, since this engine runs on one machine."""

    def counting(self) -> Callable[[], int] | None:
        """See `Engine.counting`."""
        rows = self._rows
        return None if rows is None else lambda: rows

    def probe(self) -> None:
        """See `Engine.probe`."""
        self._frame.limit(0).collect()


def holds(dtype: Any) -> Holds:
    """Return what cells of a Polars type are.

    >>> import polars as pl
    >>> holds(pl.Categorical()), holds(pl.List(pl.Int8))
    ('text', 'other')
    """
    import polars as pl

    if dtype.is_numeric():
        return "number"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    if dtype in (pl.Date, pl.Datetime):
        return "date"
    return "boolean" if dtype == pl.Boolean else "nothing" if dtype == pl.Null else "other"


def _cell(one: Reading, dtype: Any) -> Any:
    import polars as pl

    cell = pl.col(one.name)
    if dtype == pl.Null:
        return cell.cast(pl.String if one.how == "text" else pl.Float64)
    if one.how == "index":
        places = [float(i + 1) for i in range(len(one.levels))]
        return cell.cast(pl.String).replace_strict(list(one.levels), places, default=None, return_dtype=pl.Float64)
    if one.how == "text":
        text = cell.cast(pl.String)
        return pl.when(text.is_in(list(one.levels))).then(text)
    if one.how == "listed":
        text = cell.cast(pl.String)
        among = pl.when(text.is_in(list(one.levels))).then(1.0).otherwise(0.0)
        return pl.when(text.is_not_null()).then(among)
    if one.how == "part":
        pattern, group = one.levels
        return cell.cast(pl.String).str.extract(pattern, int(group)).cast(pl.Float64, strict=False)
    if one.how == "unit":
        if dtype.is_float():
            # -0.0 + 0.0 is 0.0, so the two zeros are one person
            return pl.when(cell.is_finite()).then(cell + 0.0)
        if dtype in (pl.Date, pl.Datetime):
            return _count(cell, dtype)
        # 128-bit integers and decimals as text: NumPy would make floats of them, and two persons one
        return cell.cast(pl.String) if dtype in (pl.Categorical, pl.Enum, pl.Decimal, pl.Int128, pl.UInt128) else cell
    if one.how != "date":
        return cell
    # // of integers floors in Polars, also before 1970
    return (_count(cell, dtype) // (1 if dtype == pl.Date else PER_DAY[dtype.time_unit])).cast(pl.Float64)


def _count(cell: Any, dtype: Any) -> Any:
    """Return days or units since 1970, null beyond the counts that are valid on every engine."""
    import polars as pl

    count, last = cell.to_physical().cast(pl.Int64), LAST_DAY if dtype == pl.Date else KNOWN[dtype.time_unit]
    return pl.when((count >= -last) & (count <= last)).then(count)
