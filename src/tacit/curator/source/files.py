"""Files -> what DuckDB reads: Parquet streamed, Arrow mapped, text as text with the declared columns, never sniffed."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from tacit.errors import SourceError
from tacit.untyped import arrow


def connection() -> Any:
    """A DuckDB connection of our own; rows never spill to disk in the clear, and nothing is fetched or loaded."""
    import duckdb

    made = duckdb.connect(":memory:")
    made.execute("SET temp_directory = ''")
    made.execute("SET enable_progress_bar = false")
    made.execute("SET autoinstall_known_extensions = false")
    return made


def parquet(path: Path) -> Any:
    """A Parquet file as a relation, streamed."""
    return connection().read_parquet(str(path))


def arrow_file(path: Path) -> Any:
    """An Arrow IPC file, memory-mapped."""
    pa = arrow()

    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def text(path: Path, delimiter: str) -> Any:
    """A text file: names from its first line, every cell text; rows that do not parse are left out, one by one."""
    with path.open(encoding="utf-8-sig", newline="", errors="strict") as file:
        names: list[str] = next(csv.reader(file, delimiter=delimiter), list[str]())
    if not names or len(set(names)) < len(names) or any(not name for name in names):
        message = f"the first line of {path} does not name its columns, each once."
        raise SourceError(message, code="D04", hint="age,sex,income")
    return connection().read_csv(
        str(path),
        header=False,
        skiprows=1,
        columns=dict.fromkeys(names, "VARCHAR"),
        auto_detect=False,
        sep=delimiter,
        quotechar='"',
        escapechar='"',
        na_values="",
        null_padding=True,
        strict_mode=False,
        ignore_errors=True,
        parallel=False,
    )
