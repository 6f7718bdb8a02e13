"""Spark: everything runs on its cluster; only sums come back.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from tacit.curator.source.duck import KNOWN, LAST_DAY
from tacit.curator.source.kinds import ColumnType, Holds, Reading


class Spark:
    """An `Engine` of a PySpark frame."""

    def __init__(self, data: Any) -> None:
        self._frame = data

    def types(self) -> dict[str, ColumnType]:
        """See `Engine.types`."""
        return {one.name: ColumnType(one.dataType.simpleString(), holds(one.dataType)) for one in self._frame.schema}

    def read(self, columns: Sequence[Reading]) -> Any:
        """See `Engine.read`."""
        if not columns:
            return nw.from_native(self._frame)
        types = {one.name: one.dataType for one in self._frame.schema}
        cells = [_cell(one, types[one.name]).alias(f"c{i}") for i, one in enumerate(columns)]
        return nw.from_native(self._frame.select(*cells))

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        """See `Engine.collect`."""
        return [row.asDict() for row in frame.to_native().collect()]

    def arrays(self, frame: Any) -> dict[str, Any]:
        """See `Engine.arrays`."""
        found = frame.to_native().toArrow()
        return {name: found[name].to_numpy() for name in found.column_names}

    def pieces(self) -> None:
        """See `Engine.pieces`: rows of a frame may move."""

    def counting(self) -> None:
        """See `Engine.counting`: a pass."""

    def probe(self) -> None:
        """See `Engine.probe`: a session that has ended."""
        _ = self._frame.limit(0).schema


def holds(dtype: Any) -> Holds:
    """What cells of a Spark type are, by its name: number, text, ..."""
    name = dtype.typeName()
    if name in ("byte", "short", "integer", "long", "float", "double") or name.startswith("decimal"):
        return "number"
    if name.startswith(("string", "char", "varchar")):
        return "text"
    if name in ("date", "timestamp", "timestamp_ntz"):
        return "date"
    return "boolean" if name == "boolean" else "nothing" if name == "void" else "other"


def _cell(one: Reading, dtype: Any) -> Any:
    from pyspark.sql import functions as fn

    name = "`" + one.name.replace("`", "``") + "`"
    cell = fn.col(name)
    if one.how == "text":
        text = cell.cast("string")
        return fn.when(text.isin(list(one.levels)), text)
    if one.how == "index":
        place = fn.array_position(fn.array(*map(fn.lit, one.levels)), cell.cast("string"))
        return fn.when(place > 0, place).cast("double")
    if one.how == "listed":
        among = fn.when(cell.cast("string").isin(list(one.levels)), 1.0).otherwise(0.0)
        return fn.when(cell.isNotNull(), among)
    if one.how == "part":
        pattern, group = one.levels
        found = fn.regexp_extract(cell.cast("string"), pattern, int(group))
        return fn.when(found != "", found).cast("double")
    if one.how == "unit":
        return _unit(cell, dtype.typeName())
    if one.how != "date" or dtype.typeName() == "void":
        return cell.cast("double")
    if dtype.typeName() == "timestamp":  # an instant, whatever the session's time zone
        micros = f"unix_micros({name})"
        known = f"{micros} BETWEEN {-KNOWN['us']}L AND {KNOWN['us']}L"
        before = f"CAST({micros} < 0 AND pmod({micros}, 86400000000L) > 0 AS INT)"
        day = f"CAST({micros} DIV 86400000000L - {before} AS DOUBLE)"
        return fn.expr(f"CASE WHEN {known} THEN {day} END")
    days = fn.unix_date(cell.cast("date"))
    return fn.when(days.between(-LAST_DAY, LAST_DAY), days.cast("double"))


def _unit(cell: Any, name: str) -> Any:
    """Whose row it is; text as bytes, since a collation may hold two people equal."""
    from pyspark.sql import functions as fn

    if name in ("float", "double"):
        wide = cell.cast("double")
        known = ~fn.isnan(wide) & (fn.abs(wide) < float("inf"))
        return fn.when(known, wide + 0.0)
    return cell.cast("binary") if name.startswith(("string", "char", "varchar")) else cell
