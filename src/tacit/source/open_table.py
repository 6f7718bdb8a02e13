"""What a table may be, opened without reading a row: files, frames and arrays.  INSIDE the wall."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from tacit.base.json_text import short
from tacit.errors import SourceError
from tacit.schema import Schema
from tacit.schema.predicates.computed_columns import computed_columns
from tacit.source import engine_registry as registry
from tacit.source.engine_table import EngineTable, tried
from tacit.source.engines import dict_of_arrays


def open_source(data: object, schema: Schema | None = None) -> EngineTable:
    """Open a table: names and types, no row; with a schema, its computed columns can be asked for too.

    A path: .parquet (a file, a glob pattern, or a folder of them), .csv or .tsv, .arrow.  Or a frame: pandas, Polars
    (eager or lazy), PyArrow table, DuckDB relation, PySpark, anything narwhals wraps; or a dict of arrays.
    Raises SourceError D01 (no such kind of table), D02 (no such file), D03 (unreadable), D04 (columns that have one
    name, different lengths, or no type).  An engine's own words may quote a row: they are never passed on.

    >>> open_source({"age": [30, 40]}).columns()
    {'age': 'list of whole numbers'}
    """
    table = _opened_as_it_is(data)
    return table if schema is None else computing(table, schema)


def computing(table: EngineTable, schema: Schema) -> EngineTable:
    """The table with the schema's computed columns."""
    columns = computed_columns(schema)
    return table.computing(columns) if columns else table


def _opened_as_it_is(data: object) -> EngineTable:
    if isinstance(data, str | Path):
        _on_this_machine(str(data))
        return _path(Path(data))
    if isinstance(data, Mapping):
        return EngineTable("dict of arrays", dict_of_arrays.open_engine(cast("Mapping[object, object]", data)))
    package, name = type(data).__module__.split(".")[0], type(data).__name__
    frame = cast(Any, data)
    if package == "narwhals":
        import narwhals as nw

        return _opened_as_it_is(nw.to_native(frame))
    message = f"the columns of this {name} cannot be determined."
    return tried(lambda: _frame(package, name, frame), message, "D04", "can it be queried on its own?")


def _on_this_machine(data: str) -> None:
    """Raise SourceError D01 for an address, or a query in SQL, in place of a path."""
    address = re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/{1,2}(?=[^/])", data)
    words = data.split(None, 1)
    if address is not None and not os.path.exists(data):
        message = f"{short(data)} is an address: a path is of a file on this machine."
        raise SourceError(message, code="D01", hint="""fetch it first, or give duckdb.sql("FROM '…'"), a relation""")
    if len(words) > 1 and words[0].lower() in ("select", "from", "with") and not os.path.exists(data):
        raise SourceError("data is a query, not a path.", code="D01", hint='duckdb.sql("SELECT …"), a relation')


def _frame(package: str, name: str, frame: Any) -> EngineTable:
    kind = registry.frame_kind(package, name)
    if kind is None:
        raise SourceError(
            f"data is {name!r}, which is not a kind of table that can be opened.",
            code="D01",
            hint=registry.accepted_tables(),
        )
    return EngineTable(kind.words, registry.engine_file(kind.file).open_engine(frame), kind.busy_hint)


def _path(path: Path) -> EngineTable:
    # a folder may be closed to this process, or lose files while it is listed
    paths = tried(lambda: _found(path), f"{short(path)} cannot be listed.", "D03", "may it be read?")
    kind = registry.file_kind(paths[0].suffix.lower())
    if kind is None:
        message = f"{path} is no {registry.accepted_suffixes()} file."
        hint = registry.OTHER_FILES.get(paths[0].suffix.lower(), registry.accepted_tables())
        raise SourceError(message, code="D01", hint=hint)
    words = f"{kind.format} {'file' if len(paths) == 1 else 'folder'}"
    message, hint = f"{path} cannot be read as {kind.format}.", "is the file whole, and may it be read?"
    return tried(lambda: EngineTable(words, registry.engine_file(kind.file).open_engine(paths)), message, "D03", hint)


def _found(path: Path) -> list[Path]:
    """The files of a path: itself, those of a folder, those of a pattern, in the order of names."""
    if os.path.isfile(path):  # False for a name that is too long, where Path.is_file raises
        return [path]
    if os.path.isdir(path):
        found = sorted(one for one in path.rglob("*") if _joins(one) and one.is_file())
    else:
        found = sorted(one for one in map(Path, glob.glob(str(path), recursive=True)) if one.is_file())
        # a pattern names its files itself: one of another format is an error, not left out as in a folder
        found = found if all(map(_joins, found)) else []
    if not found:
        formats = " or ".join(one.format for one in registry.FILES if one.several)
        what = f"no {formats} file in the folder" if os.path.isdir(path) else "no file"
        raise SourceError(
            f"there is {what} {short(path)}.", code="D02", hint="the path of a Parquet, CSV or Arrow file"
        )
    return found


def _joins(path: Path) -> bool:
    """Whether a file is of a format of which several are read as one table."""
    kind = registry.file_kind(path.suffix.lower())
    return kind is not None and kind.several
