"""Which file of `engines/` reads which kind of table: one line registers an engine.  INSIDE the wall.

Names only: neither an engine's file nor its library is imported before a table of that kind is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from tacit.base.listed_words import listed


@dataclass(frozen=True)
class FrameKind:
    """Tables of one library, recognised by the name of their class.

    library, noun: what messages call them, such as "DuckDB" and "relation".
    file: in `engines/`; its `open_engine(frame)` returns an `Engine` without reading a row.
    packages, classes: top-level packages that define the classes, and the names of the classes.
    exact: narwhals' names of the implementations on which a float is divided as IEEE 754 demands and `select` keeps
    the number of rows; expressions take a longer way around both on every other one (`cell_expressions`).
    busy_hint: what to do where the engine cannot run a query.
    """

    library: str
    noun: str
    file: str
    packages: tuple[str, ...]
    classes: tuple[str, ...]
    exact: tuple[str, ...] = ()
    busy_hint: str = "open it again"

    @property
    def words(self) -> str:
        """What a table of this kind is called."""
        return self.library if self.noun == "frame" else f"{self.library} {self.noun}"


@dataclass(frozen=True)
class FileKind:
    """Files of one format, recognised by their suffix.

    file: in `engines/`; its `open_engine(paths)` returns an `Engine` without reading a row.
    suffixes: in lower case; those of `named` stand in messages.  several: a folder or a pattern may be opened as one.
    """

    format: str
    file: str
    suffixes: tuple[str, ...]
    named: tuple[str, ...]
    several: bool = False


FRAMES: Final = (
    FrameKind("pandas", "frame", "pandas_frame", ("pandas",), ("DataFrame",)),
    FrameKind("Polars", "frame", "polars_frame", ("polars",), ("DataFrame", "LazyFrame")),
    FrameKind("Spark", "frame", "spark_frame", ("pyspark",), ("DataFrame",), exact=("pyspark", "pyspark[connect]")),
    FrameKind("PyArrow", "table", "arrow_table", ("pyarrow",), ("Table", "RecordBatch")),
    FrameKind(
        *("DuckDB", "relation", "duckdb_relation", ("duckdb", "_duckdb"), ("DuckDBPyRelation",)),
        exact=("duckdb",),
        busy_hint="finish or close open results of its connection",
    ),
)
FILES: Final = (
    FileKind("Parquet", "parquet_files", (".parquet", ".pq"), (".parquet",), several=True),
    FileKind("text", "delimited_text", (".csv", ".tsv"), (".csv", ".tsv")),
    FileKind("Arrow", "arrow_file", (".arrow", ".feather", ".ipc"), (".arrow",)),
)
EXACT: Final = frozenset(name for one in FRAMES for name in one.exact)


def engine_file(name: str) -> Any:
    """The module of a file of `engines/`."""
    return import_module(f"tacit.source.engines.{name}")


def frame_kind(package: str, name: str) -> FrameKind | None:
    """The kind of a frame by its class, None where no engine reads it."""
    return next((one for one in FRAMES if package in one.packages and name in one.classes), None)


def file_kind(suffix: str) -> FileKind | None:
    """The kind of a file by its suffix in lower case, None where no engine reads it."""
    return next((one for one in FILES if suffix in one.suffixes), None)


_UNPACKED: Final = "unpack it first"
OTHER_FILES: Final[Mapping[str, str]] = {
    **dict.fromkeys((".gz", ".bz2", ".xz", ".zst", ".zip", ".7z"), _UNPACKED),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "save the sheet as .csv, or give pandas.read_excel(…), a frame"),
    ".dta": "pandas.read_stata(…), a frame",
    ".sav": "pandas.read_spss(…), a frame",
    ".sas7bdat": "pandas.read_sas(…), a frame",
}
"""What to do with files of tables that are none of those that are opened, by suffix."""


def accepted_tables() -> str:
    """What can be opened, for a hint: the formats of files, the libraries by what they call a table, a dict."""
    nouns = dict.fromkeys(one.noun for one in FRAMES)
    frames = [f"a {listed([one.library for one in FRAMES if one.noun == noun], 'or')} {noun}" for noun in nouns]
    paths = ", ".join(one.named[0] for one in FILES)
    return f"a path ({paths}), {', '.join(frames)}, or a dict"


def accepted_suffixes() -> str:
    """The suffixes of files, for a message."""
    return listed([suffix for one in FILES for suffix in one.named], "or")
