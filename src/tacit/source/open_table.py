"""What a table may be, opened without reading a row: files, frames and arrays."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from tacit.base.json_text import short
from tacit.errors import SourceError
from tacit.schema import Schema
from tacit.schema.predicates.computed_columns import computed_columns
from tacit.source import data_files as files
from tacit.source import memory as arrays
from tacit.source.duckdb import ArrowColumns, Parquet, Relation, TextFile
from tacit.source.engine_table import EngineTable, tried
from tacit.source.engines import Engine
from tacit.source.memory import Lazy
from tacit.source.polars import Polars
from tacit.source.spark import Spark

PARQUET: Final = (".parquet", ".pq")
TEXT: Final = {".csv": ",", ".tsv": "\t"}
ARROW: Final = (".arrow", ".feather", ".ipc")
HELP: Final = (
    "a path (.parquet, .csv, .arrow), a pandas, Polars or Spark frame, a PyArrow table, a DuckDB relation, or a dict"
)


def open_source(data: object, schema: Schema | None = None) -> EngineTable:
    """Open a table: names and types, no row; with a schema, its computed columns can be asked for too.

    A path: .parquet (a file, a glob pattern, or a folder of them), .csv or .tsv, .arrow.  Or a frame: pandas, Polars
    (eager or lazy), PyArrow table, DuckDB relation, PySpark, anything narwhals wraps; or a dict of arrays.
    Raises SourceError D01 (no such kind of table), D02 (no such file), D03 (unreadable), D04 (columns that have one
    name, different lengths, or no type).  An engine's own words may quote a row: they are never passed on.

    >>> open_source({"age": [30, 40]}).columns()
    {'age': 'list of numbers'}
    """
    table = _opened_as_it_is(data)
    return table if schema is None else computing(table, schema)


def computing(table: EngineTable, schema: Schema) -> EngineTable:
    """The table with the schema's computed columns."""
    columns = computed_columns(schema)
    return table.computing(columns) if columns else table


def _opened_as_it_is(data: object) -> EngineTable:
    if isinstance(data, str | Path):
        return _path(Path(data))
    if isinstance(data, Mapping):
        return EngineTable("dict of arrays", _arrays(cast("Mapping[object, object]", data)))
    kind = type(data)
    library, name = kind.__module__.split(".")[0], kind.__name__
    frame = cast(Any, data)
    if library == "narwhals":
        import narwhals as nw

        return _opened_as_it_is(nw.to_native(frame))
    message = f"the columns of this {name} cannot be told."
    return tried(lambda: _frame(library, name, frame), message, "D04", "can it be queried on its own?")


def _frame(library: str, name: str, frame: Any) -> EngineTable:
    match library, name:
        case (("duckdb" | "_duckdb"), "DuckDBPyRelation"):
            return EngineTable("DuckDB relation", Relation(lambda _: frame))
        case "pyarrow", ("Table" | "RecordBatch"):
            return EngineTable("PyArrow table", _arrow(frame))
        case "pandas", "DataFrame":
            return EngineTable("pandas", _pandas(frame))
        case "polars", ("DataFrame" | "LazyFrame"):
            return EngineTable("Polars", Polars(frame))
        case "pyspark", "DataFrame":
            _distinct(list(frame.columns), capitals=True)
            return EngineTable("Spark", Spark(frame))
        case _:
            raise SourceError(f"data is {name!r}, which is no table.", code="D01", hint=HELP)


def _path(path: Path) -> EngineTable:
    paths = _found(path)
    suffix = paths[0].suffix.lower()
    if suffix not in (*PARQUET, *TEXT, *ARROW):
        raise SourceError(f"{path} is no .parquet, .csv, .tsv or .arrow file.", code="D01", hint=HELP)
    words = "Parquet" if suffix in PARQUET else "text" if suffix in TEXT else "Arrow"
    hint = "is the file whole, and may it be read?"
    return tried(lambda: _opened(paths, suffix), f"{path} cannot be read as {words}.", "D03", hint)


def _found(path: Path) -> list[Path]:
    """The files of a path: itself, those of a folder, those of a pattern (Parquet only, in the order of names)."""
    if os.path.isfile(path):  # which no name is too long for, nor without meaning
        return [path]
    if os.path.isdir(path):
        found = sorted(one for one in path.rglob("*") if one.suffix.lower() in PARQUET and one.is_file())
    else:
        found = sorted(one for one in map(Path, glob.glob(str(path), recursive=True)) if one.is_file())
        found = found if all(one.suffix.lower() in PARQUET for one in found) else []
    if not found:
        what = "no Parquet file in the folder" if os.path.isdir(path) else "no file"
        raise SourceError(
            f"there is {what} {short(path)}.", code="D02", hint="the path of a Parquet, CSV or Arrow file"
        )
    return found


def _opened(paths: Sequence[Path], suffix: str) -> EngineTable:
    if suffix in TEXT:
        return EngineTable("text file", TextFile(paths[0], TEXT[suffix]))
    if suffix in ARROW:
        columns = files.arrow_file(paths[0])
        _distinct([name for name, _ in columns])
        return EngineTable("Arrow file", ArrowColumns(dict(columns), lambda: files.arrow_rows(paths[0])))
    _distinct(files.parquet_names(paths[0]), capitals=True)
    if len(paths) > 1:
        files.same_columns(paths)
    return EngineTable("Parquet file" if len(paths) == 1 else "Parquet folder", Parquet(paths))


def _arrays(data: Mapping[object, object]) -> Engine:
    _distinct([str(name) for name in data])
    columns: dict[str, Lazy] = {}
    lengths: dict[str, int] = {}
    for key, values in data.items():
        name = str(key)
        columns[name], lengths[name] = _array(name, values)
    if not columns:
        raise SourceError("the dict has no columns.", code="D04", hint='{"age": [30, 40, 50]}')
    first = next(iter(lengths))
    for name, length in lengths.items():
        if length != lengths[first]:
            message = f"columns {first!r} and {name!r} have different lengths."
            raise SourceError(message, code="D04", hint="one cell a row in every column")
    return ArrowColumns(columns, lambda: lengths[first])


def _array(name: str, given: object) -> tuple[Lazy, int]:
    """One column of a dict: an array of one dimension, or a list of one type."""
    library = type(given).__module__.split(".")[0]
    values: Any = given
    found: Lazy | None
    if library == "polars":
        values = values.to_arrow()
    if library in ("pyarrow", "polars"):
        found = Lazy(arrays.array_type(values.type), lambda: values)
    elif library == "pandas":
        found = arrays.series(values)
    elif isinstance(given, list | tuple):
        found = arrays.listed(cast("Sequence[object]", given))
    else:
        values = np.asarray(values) if not isinstance(values, np.ma.MaskedArray) else _filled(values)
        found = arrays.numbers(values) if values.ndim == 1 else None
    if found is None:
        message = f"column {name!r} is no array of one dimension and one type."
        raise SourceError(message, code="D04", hint="a list or array of numbers, text, dates or Booleans")
    return found, len(values)


def _filled(values: Any) -> Any:
    """A masked array of numbers with NaN for what is masked."""
    return values.astype(np.float64).filled(np.nan)


def _arrow(data: Any) -> Engine:
    _distinct(list(data.schema.names))
    made = {
        name: Lazy(arrays.array_type(data.schema.field(i).type), lambda i=i: data.column(i))
        for i, name in enumerate(data.schema.names)
    }
    return ArrowColumns(made, lambda: data.num_rows)


def _pandas(data: Any) -> Engine:
    names = [str(name) for name in data.columns]
    _distinct(names)
    return ArrowColumns({name: arrays.series(data.iloc[:, i]) for i, name in enumerate(names)}, lambda: len(data))


def _distinct(names: list[str], *, capitals: bool = False) -> None:
    """SourceError D04 where two columns have one name; `capitals`: on an engine that does not tell a from A."""
    seen: set[str] = set()
    for name in names:
        known = name.lower() if capitals else name
        if known in seen:
            alike = ", capitals or not: its engine does not tell a from A" if capitals else ""
            raise SourceError(f"column {name!r} is there twice{alike}.", code="D04", hint="rename one")
        seen.add(known)
