"""Engines: the native steps that narwhals has no word for (dates to days, text to its declared type, collecting)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import narwhals as nw

Reading: TypeAlias = Literal["number", "boolean", "date", "text"]
"""How a column is read."""


@dataclass(frozen=True)
class Engine:
    """A native frame and what its engine needs.

    lazy():              the frame as narwhals sees it.
    read(columns, text): a narwhals frame with the columns c0, c1, ... each read as number, Boolean (as 0 or 1), days or
                         text; text: cells are text, and what does not parse is null.
    probe():             raises where the engine could not run a query.
    """

    lazy: Callable[[], Any]
    read: Callable[[Mapping[str, tuple[str, Reading]], bool], Any]
    probe: Callable[[], None]


def duck(data: Any) -> Engine:
    """A DuckDB relation, or a PyArrow table on a connection of our own."""
    relation = data
    if type(data).__module__.split(".")[0] == "pyarrow":
        from tacit.curator.source.files import connection

        relation = connection().from_arrow(data)

    def read(columns: Mapping[str, tuple[str, Reading]], text: bool) -> Any:
        if not columns:
            return nw.from_native(relation)
        return nw.from_native(
            relation.project(", ".join(_sql(name, how, text) + f' AS "{new}"' for new, (name, how) in columns.items()))
        )

    def probe() -> None:
        relation.limit(0).fetchall()

    return Engine(lambda: nw.from_native(relation), read, probe)


def _sql(name: str, how: Reading, text: bool) -> str:
    cell = '"' + name.replace('"', '""') + '"'
    if how == "date":
        day = f"TRY_CAST({cell} AS DATE)"
        return f"CASE WHEN isfinite({day}) THEN CAST(date_diff('day', DATE '1970-01-01', {day}) AS DOUBLE) END"
    if not text or how == "text":
        return cell
    if how == "number":
        return f"TRY_CAST({cell} AS DOUBLE)"
    word = f"lower(trim({cell}))"
    return f"CASE WHEN {word} IN ('true', '1') THEN 1.0::DOUBLE WHEN {word} IN ('false', '0') THEN 0.0::DOUBLE END"


def polars(data: Any) -> Engine:
    """A Polars frame, eager or lazy."""
    import polars as pl

    frame = data.lazy() if isinstance(data, pl.DataFrame) else data

    def read(columns: Mapping[str, tuple[str, Reading]], text: bool) -> Any:
        del text
        if not columns:
            return nw.from_native(frame)
        made = [
            (pl.col(name).cast(pl.Date).cast(pl.Int32).cast(pl.Float64) if how == "date" else pl.col(name)).alias(new)
            for new, (name, how) in columns.items()
        ]
        return nw.from_native(frame.select(made))

    return Engine(lambda: nw.from_native(frame), read, lambda: None)


def spark(data: Any) -> Engine:
    """A Spark frame: everything runs on its cluster."""

    def read(columns: Mapping[str, tuple[str, Reading]], text: bool) -> Any:
        del text
        if not columns:
            return nw.from_native(data)
        from pyspark.sql import functions as fn

        made: list[Any] = []
        for new, (name, how) in columns.items():
            cell = fn.col("`" + name.replace("`", "``") + "`")
            made.append((fn.unix_date(cell.cast("date")).cast("double") if how == "date" else cell).alias(new))
        return nw.from_native(data.select(*made))

    return Engine(lambda: nw.from_native(data), read, lambda: None)
