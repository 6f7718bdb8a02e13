"""`tacit import`: a raw text file -> a typed table, with a report for the curator's eyes.  INSIDE the wall.

The one place where rows may be complained about.  The report counts cells and quotes line numbers, so it is not a
release and must not leave the house; the table it writes is then read by the declared rules, silently.
"""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Final, Literal, cast

from tacit.errors import FileError, SourceError, nearest
from tacit.schema import Boolean, Category, Column, Date, Integer, PrivacyUnit, Real, Schema
from tacit.untyped import arrow, parquet

NULLS: Final = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", ".")
TRUE: Final = ("true", "t", "yes", "y", "1", "1.0")
FALSE: Final = ("false", "f", "no", "n", "0", "0.0")
BATCH: Final = 50_000
LISTED: Final = 20
"""Line numbers quoted in a report."""


@dataclass
class Tally:
    """Counts of one column's cells: missing, unreadable, out of bounds, unlisted."""

    missing: int = 0
    unreadable: int = 0
    outside: int = 0
    unlisted: int = 0


@dataclass
class ImportReport:
    """What an import found.  For the curator only: it is computed from rows without noise."""

    raw: str
    out: str
    rows: int = 0
    written: bool = False
    broken: int = 0
    lines: list[int] = field(default_factory=list[int])
    columns: dict[str, Tally] = field(default_factory=dict[str, Tally])

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**vars(self), "columns": {name: vars(tally) for name, tally in self.columns.items()}}

    def summary(self) -> Any:
        """A table of the counts."""
        from tacit.tables import Table

        rows = tuple(
            (name, one.missing, one.unreadable, one.outside, one.unlisted) for name, one in self.columns.items()
        )
        notes = [f"{self.rows:,} rows written to {self.out}" if self.written else "nothing was written"]
        if self.broken:
            first = ", ".join(str(line) for line in self.lines)
            fate = "left out" if self.written else "repair them, or --drop-broken"
            notes.append(f"{self.broken:,} rows cannot be split into columns ({fate}); lines {first}")
        notes.append("computed from rows without noise: for the curator's eyes, not a release")
        heads = ("column", "missing", "unreadable", "out of bounds", "unlisted")
        return Table(f"Import of {self.raw}", heads, rows, tuple(notes))


def import_table(
    raw: str | Path,
    schema: Schema,
    out: str | Path,
    *,
    delimiter: str = ",",
    quote: str = '"',
    encoding: str = "utf-8-sig",
    nulls: tuple[str, ...] = NULLS,
    broken: Literal["refuse", "drop"] = "refuse",
) -> ImportReport:
    """Read text with a line of names, write the schema's columns as Parquet (whole or not at all), and report.

    Real -> float64, Integer -> int64 where whole (else unreadable), Boolean -> bool, Date (ISO) -> date, Category ->
    text or int64.  A cell that cannot be read is null; a row with another number of cells than there are names, an
    open quote or bytes that are no text is broken: refused with its line number, or dropped.
    Raises SourceError D02 (no file), D10 (a column is not there), FileError F10 (not .parquet).
    """
    source, target = Path(raw), Path(out)
    if target.suffix.lower() not in (".parquet", ".pq"):
        raise FileError(f"{target} is no .parquet file.", code="F10", hint="--out table.parquet")
    if not source.is_file():
        raise SourceError(f"there is no file {source}.", code="D02", hint="the path of a text file")
    report = ImportReport(str(source), str(target), columns={name: Tally() for name in schema})
    _write(_batches(source, schema, report, delimiter, quote, encoding, nulls), schema, target, report, broken)
    return report


def _batches(
    source: Path,
    schema: Schema,
    report: ImportReport,
    delimiter: str,
    quote: str,
    encoding: str,
    nulls: tuple[str, ...],
) -> Iterator[dict[str, list[Any]]]:
    with source.open(encoding=encoding, errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, quotechar=quote, strict=True)
        names: list[str] = next(reader, list[str]())
        places = _places(names, schema)
        made: dict[str, list[Any]] = {name: [] for name in schema}
        for cells in _rows(reader, len(names), report):
            report.rows += 1
            for name, column in schema.items():
                made[name].append(cell(cells[places[name]], column, report.columns[name], nulls))
            if report.rows % BATCH == 0:
                yield made
                made = {name: [] for name in schema}
        yield made


def _rows(reader: Any, width: int, report: ImportReport) -> Iterator[list[str]]:
    """Rows that split into `width` cells of text; the others are counted."""
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            _broken(report, line)
            continue
        if not cells:
            continue
        bad = len(cells) != width or any("\udc80" <= mark <= "\udcff" for one in cells for mark in one)
        if bad:
            _broken(report, line)
            continue
        yield cells


def _broken(report: ImportReport, line: int) -> None:
    report.broken += 1
    if len(report.lines) < LISTED:
        report.lines.append(line)


def _places(names: list[str], schema: Schema) -> dict[str, int]:
    places: dict[str, int] = {}
    for name in schema:
        wanted = schema.source(name)
        if wanted not in names:
            guess = nearest(wanted, names)
            hint = f'column = "{guess}"' if guess else "names stand on the first line"
            raise SourceError(f"column {wanted!r} of the schema is not in this text file.", code="D10", hint=hint)
        places[name] = names.index(wanted)
    return places


def cell(text: str, column: Column, tally: Tally, nulls: tuple[str, ...]) -> Any:
    """One cell of text -> its typed value, or None; counted in `tally`."""
    word = text.strip()
    if word in nulls:
        tally.missing += 1
        return None
    try:
        value = _typed(word, column)
    except (ValueError, OverflowError):
        tally.unreadable += 1
        return None
    _judge(value, column, tally)
    return value


def _typed(word: str, column: Column) -> Any:
    if isinstance(column, Real):
        return float(word)
    if isinstance(column, Integer):
        return _whole(word)
    if isinstance(column, Boolean):
        return _boolean(word)
    if isinstance(column, Date):
        return date.fromisoformat(word[:10])
    if isinstance(column, PrivacyUnit):
        return word
    code = column.codes[0]
    if isinstance(code, bool):
        return _boolean(word)
    return _whole(word) if isinstance(code, int) else word


def _whole(word: str) -> int:
    value = float(word)
    if value != int(value) or abs(value) >= 2**63:
        raise ValueError
    return int(value) if abs(value) > 2**53 or "." in word or "e" in word.lower() else int(word)


def _boolean(word: str) -> bool:
    low = word.lower()
    if low not in TRUE and low not in FALSE:
        raise ValueError
    return low in TRUE


def _judge(value: Any, column: Column, tally: Tally) -> None:
    if isinstance(column, Category):
        tally.unlisted += value not in column.codes
    elif isinstance(column, Real | Integer | Date) and column.lower is not None:
        tally.outside += not cast(Any, column.lower) <= value <= cast(Any, column.upper)


def _write(
    batches: Iterator[dict[str, list[Any]]], schema: Schema, target: Path, report: ImportReport, broken: str
) -> None:
    """To a temporary file beside the target, then renamed: a table is whole or not there."""
    pa = arrow()
    pq = parquet()

    shape = pa.schema([(schema.source(name), _type(column)) for name, column in schema.items()])
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as problem:
        raise FileError(f"{target} cannot be written: {problem.strerror}.", code="F10", hint="another folder") from None
    os.close(handle)
    try:
        with pq.ParquetWriter(temporary, shape) as writer:
            for made in batches:
                arrays = [pa.array(made[name], type=shape.field(i).type) for i, name in enumerate(schema)]
                writer.write_table(pa.Table.from_arrays(arrays, schema=shape))
        if report.broken == 0 or broken == "drop":
            os.replace(temporary, target)
            report.written = True
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def _type(column: Column) -> Any:
    pa = arrow()

    if isinstance(column, Category):
        code = column.codes[0]
        return pa.bool_() if isinstance(code, bool) else pa.int64() if isinstance(code, int) else pa.string()
    types = {Real: pa.float64(), Integer: pa.int64(), Boolean: pa.bool_(), Date: pa.date32(), PrivacyUnit: pa.string()}
    return types[type(column)]
