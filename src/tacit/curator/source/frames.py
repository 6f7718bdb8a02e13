"""What a table may be, opened without reading a row: files, frames and engines behind one interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import narwhals as nw

from tacit.curator.source.engines import Engine, duck, polars, spark
from tacit.curator.source.sums import aggregate
from tacit.errors import SourceError
from tacit.rowmap import Aggregate, KeyMap, Sum
from tacit.untyped import arrow, pandas

PARQUET, TEXT, ARROW = (".parquet", ".pq"), (".csv", ".tsv"), (".arrow", ".feather", ".ipc")
HELP = "a path (.parquet, .csv, .arrow), a pandas, Polars or Spark frame, a PyArrow table, a DuckDB relation, or a dict"


class Source(Protocol):
    """A table behind the wall."""

    @property
    def kind(self) -> str:
        """Public words: "Parquet file", "pandas", ..."""
        ...

    def columns(self) -> dict[str, str]:
        """Names and engine types, without reading a row."""
        ...

    def rows(self) -> int:
        """READS ROWS.  Number of all rows; asked under replace-one only."""
        ...

    def aggregate(self, keys: Sequence[KeyMap], sums: Sequence[Sum]) -> Aggregate:
        """READS ROWS.  Exact sums of every cell, in one pass."""
        ...

    def ready(self) -> None:
        """SourceError where the engine could not run a query now; before a charge."""
        ...


class Table:
    """A `Source` of one engine."""

    def __init__(self, kind: str, engine: Engine, *, text: bool = False) -> None:
        self._kind = kind
        self._engine = engine
        self.text = text
        """Whether every column is text to be read as its declared type (CSV)."""

    @property
    def kind(self) -> str:
        """See `Source.kind`."""
        return self._kind

    def columns(self) -> dict[str, str]:
        """See `Source.columns`."""
        return {name: str(dtype) for name, dtype in self.types().items()}

    def types(self) -> dict[str, Any]:
        """Names and narwhals types."""
        return dict(self._engine.lazy().collect_schema().items())

    def rows(self) -> int:
        """See `Source.rows`."""
        return aggregate(self._engine, (), (), text=self.text).rows

    def aggregate(self, keys: Sequence[KeyMap], sums: Sequence[Sum]) -> Aggregate:
        """See `Source.aggregate`."""
        return aggregate(self._engine, keys, sums, text=self.text)

    def ready(self) -> None:
        """See `Source.ready`."""
        failed = False
        try:
            self._engine.probe()
        except Exception:
            failed = True
        if failed:
            message = f"the engine behind this {self._kind} cannot run a query now."
            raise SourceError(message, code="D08", hint="finish or close open results of its connection")


def open_source(data: object) -> Table:
    """Open a table; SourceError D01 (no such kind), D02 (no such file), D03 (unreadable), D04 (columns)."""
    if isinstance(data, str | Path):
        return _path(Path(data))
    if isinstance(data, Mapping):
        return _arrays(cast("Mapping[str, object]", data))
    module = type(data).__module__.split(".")[0]
    if module == "duckdb" or module == "_duckdb":
        return Table("DuckDB relation", duck(data))
    if module == "pyarrow":
        return Table("PyArrow table", duck(_arrow(cast(Any, data))))
    if module == "pandas":
        return Table("pandas", duck(_pandas(cast(Any, data))))
    if module == "polars":
        return Table("Polars", polars(cast(Any, data)))
    if module == "pyspark":
        return Table("Spark", spark(cast(Any, data)))
    if module == "narwhals":
        return open_source(nw.to_native(cast(Any, data)))
    raise SourceError(f"data is {type(data).__name__!r}, which is no table.", code="D01", hint=HELP)


def _path(path: Path) -> Table:
    if not path.is_file():
        raise SourceError(f"there is no file {path}.", code="D02", hint="the path of a Parquet, CSV or Arrow file")
    suffix = path.suffix.lower()
    if suffix not in (*PARQUET, *TEXT, *ARROW):
        raise SourceError(f"{path} is no .parquet, .csv, .tsv or .arrow file.", code="D01", hint=HELP)
    made: Table | None = None
    try:
        made = _opened(path, suffix)
    except SourceError:
        raise
    except Exception:  # an engine's words may quote a row
        made = None
    if made is None:
        message = f"{path} cannot be read as {suffix[1:]}."
        raise SourceError(message, code="D03", hint="is the file whole, and may it be read?")
    return made


def _opened(path: Path, suffix: str) -> Table:
    from tacit.curator.source import files

    if suffix in PARQUET:
        return Table("Parquet file", duck(files.parquet(path)))
    if suffix in ARROW:
        return Table("Arrow file", duck(files.arrow_file(path)))
    return Table("text file", duck(files.text(path, "\t" if suffix == ".tsv" else ",")), text=True)


def _arrays(data: Mapping[str, object]) -> Table:
    pa = arrow()

    columns: dict[str, Any] = {}
    for name, values in data.items():
        array = None
        try:
            array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, from_pandas=True)
        except Exception:  # its words quote a cell
            array = None
        if array is None:
            message = f"column {name!r} is no array of one type."
            raise SourceError(message, code="D04", hint="a list or array of numbers, text, dates or Booleans")
        columns[str(name)] = array
    lengths = {name: len(array) for name, array in columns.items()}
    if len(set(lengths.values())) > 1:
        first, other = next((a, b) for a in lengths for b in lengths if lengths[a] != lengths[b])
        message = f"columns {first!r} and {other!r} have different lengths."
        raise SourceError(message, code="D04", hint="one cell a row in every column")
    return Table("dict of arrays", duck(pa.table(columns)))


def _arrow(data: Any) -> Any:
    pa = arrow()

    if isinstance(data, pa.RecordBatch):
        data = pa.table(data)
    if not isinstance(data, pa.Table):
        raise SourceError(f"data is {type(data).__name__!r}, which is no table.", code="D01", hint="a PyArrow table")
    return _unique(data)


def _unique(data: Any) -> Any:
    names = [str(name) for name in data.column_names]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SourceError(f"column {twice!r} is there twice.", code="D04", hint="rename one")
    return data


def _pandas(data: Any) -> Any:
    """Column by column; object columns are read as text, whatever else they hold is missing: never a guessed type."""
    pd = pandas()
    pa = arrow()

    if not isinstance(data, pd.DataFrame):
        raise SourceError(f"data is {type(data).__name__!r}, which is no table.", code="D01", hint="a DataFrame")
    names = [str(name) for name in data.columns]
    columns: list[Any] = []
    for i, name in enumerate(names):
        values = data.iloc[:, i]
        if values.dtype == object:
            columns.append(pa.array([x if isinstance(x, str) else None for x in values], type=pa.string()))
            continue
        array = None
        try:
            array = pa.Array.from_pandas(values)
        except Exception:
            array = None
        if array is None:
            message = f"column {name!r} has type {values.dtype}, which cannot be read."
            raise SourceError(message, code="D04", hint="numbers, text, dates or Booleans")
        columns.append(array)
    return _unique(pa.Table.from_arrays(columns, names=names))
