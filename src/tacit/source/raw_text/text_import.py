"""`tacit import`: a raw text file becomes a typed table, with a report for the curator alone.  INSIDE the wall.

The one place where rows may be complained about.  The report counts cells and quotes line numbers and texts, so it is
not a release and must not leave the house; the table it writes is then read by the declared rules, silently.  The text
is read as text with declared columns, never sniffed (law 7), in batches: memory does not grow with the file.
"""

from __future__ import annotations

import codecs
import csv
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final, Literal

from tacit.base.lazy_imports import arrow, parquet
from tacit.base.progress import phase
from tacit.errors import FileError, SourceError, nearest
from tacit.schema import Boolean, Category, Column, Date, Integer, PrivacyUnit, Real, Schema, Text
from tacit.source.engine_registry import OTHER_FILES
from tacit.source.raw_text.answer_words import answer_advice
from tacit.source.raw_text.text_cells import CellReader, CellTally
from tacit.source.raw_text.written_cells import Written, advice

NULLS: Final = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", ".")
"""Texts of missing cells, except where the schema lists them as levels."""
BATCH: Final = 50_000
LISTED: Final = 20
"""The most line numbers quoted in a report."""


@dataclass
class ImportReport:
    """The findings of an import, for the curator only: they are computed from rows without noise."""

    raw: str
    out: str
    rows: int = 0
    """Rows that could be split into columns."""
    written: bool = False
    broken: int = 0
    """Rows that could not be split into columns."""
    lost: int = 0
    """Lines of text in broken rows; many more than `broken` where a quote was never closed."""
    lines: list[int] = field(default_factory=list[int])
    """First lines of broken rows, the first twenty."""
    columns: dict[str, CellTally] = field(default_factory=dict[str, CellTally])
    texts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Column -> the first few distinct texts that are unreadable or unlisted."""
    undecoded: int = 0
    """Broken rows that hold bytes which are no text in the declared encoding."""
    advice: dict[str, str] = field(default_factory=dict[str, str])
    """Column -> the options of `tacit import`, or the line of [schema], with which its unreadable texts can be read."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict of plain values."""
        return asdict(self)

    def summary(self) -> Any:
        """Return the counts as a table."""
        from tacit.base.table import Table

        rows = tuple(
            (name, one.missing, one.unreadable, one.outside, one.unlisted) for name, one in self.columns.items()
        )
        notes = [f"{self.rows:,} rows written to {self.out}" if self.written else "nothing was written"]
        if self.broken:
            first = ", ".join(str(line) for line in self.lines) + (", …" if self.broken > len(self.lines) else "")
            fate = "left out" if self.written else "repair them, or --drop-broken"
            lost = f", {self.lost:,} lines" if self.lost > self.broken else ""
            notes.append(f"{self.broken:,} rows{lost} cannot be split into columns ({fate}); lines {first}")
        if self.undecoded:
            notes.append(f"{self.undecoded:,} of them are no text in this encoding: --encoding cp1252, or another")
        notes += [said for name, one in self.columns.items() if (said := self._unread(name, one))]
        notes += [
            f"not what is declared for {name}: {', '.join(map(repr, found))}"
            for name, found in self.texts.items()
            if found
        ]
        notes.append("computed from rows without noise: for the curator's eyes, not a release")
        heads = ("column", "missing", "unreadable", "out of bounds", "unlisted")
        return Table(f"Import of {self.raw}", heads, rows, tuple(notes))

    def _unread(self, name: str, one: CellTally) -> str | None:
        """Say what would read the cells of a column, or that it is lost as a whole; None where neither is known."""
        lost = one.unreadable > 0 and one.unreadable + one.missing == self.rows
        if not lost and name not in self.advice:
            return None
        count = "no cell can" if lost else f"{one.unreadable:,} cells cannot"
        text = f"{name}: {count} be read as declared"
        return text + (f"; {self.advice[name]} would read those shown" if name in self.advice else "")


@dataclass(frozen=True)
class Dialect:
    """The declared encoding, delimiter and header of the text; FileError F11 for invalid ones."""

    delimiter: str = ","
    quote: str = '"'
    encoding: str = "utf-8-sig"
    header: bool = True

    def __post_init__(self) -> None:
        for name, mark in (("delimiter", self.delimiter), ("quote", self.quote)):
            if len(mark) != 1 or mark in "\r\n":
                raise FileError(f"{name} is {mark!r}: not one character.", code="F11", hint=f'{name}=";"')
        if self.delimiter == self.quote:
            raise FileError(f"delimiter and quote are both {self.quote!r}.", code="F11", hint='delimiter=","')
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            guess = nearest(self.encoding, ["utf-8", "latin-1", "cp1252", "utf-16"]) or "latin-1"
            message = f"encoding {self.encoding!r} is not known."
            raise FileError(message, code="F11", hint=f'encoding="{guess}"') from None


def import_table(
    raw: str | Path,
    schema: Schema,
    out: str | Path,
    *,
    delimiter: str = ",",
    quote: str = '"',
    encoding: str = "utf-8-sig",
    decimal: str = ".",
    thousands: str = "",
    strip: str = "",
    dates: str | None = None,
    header: bool = True,
    missing: Sequence[str] | None = None,
    nulls: tuple[str, ...] = NULLS,
    broken: Literal["refuse", "drop"] = "refuse",
    progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Read declared text, write the schema's columns as Parquet (whole or not at all), and report.

    Real -> float64, Integer -> int64 where whole, Boolean -> bool, Date (ISO; the day of a time) -> date, Category ->
    text, int64 or bool as its codes are, PrivacyUnit and Text -> text.  Values out of bounds and levels that are not
    listed stay as they are: the row map deals with them.  A cell that cannot be read is null.  Lines without any text
    are skipped.

    decimal, thousands, strip, dates: how numbers and days are written, as of `Written`.
    missing:  texts that mean a missing cell, beside `nulls`: "k.A.", in every column, or "hours=-9", in that one.
    header:   names stand on the first line; otherwise the file's columns are those of the schema, in order.
    broken:   a row with another number of cells than names, an open quote or bytes that are no text is "refuse"d, with
              its line number and no table written (`report.written` is False), or "drop"ped.
    progress: called with (bytes read, bytes in all), once a batch.
    Raises SourceError D02 (no file), D10 (a column is not there), FileError F10 (not .parquet), F11 (the file cannot be
    read as declared), F12 (the table cannot be written).
    """
    source, target = Path(raw), Path(out)
    dialect, written = Dialect(delimiter, quote, encoding, header), Written(decimal, thousands, strip, dates)
    if target.suffix.lower() not in (".parquet", ".pq"):
        raise FileError(f"{target} is no .parquet file.", code="F10", hint="--out table.parquet")
    if not os.path.isfile(source):
        raise SourceError(f"there is no file {source}.", code="D02", hint="the path of a text file")
    if source.suffix.lower() in OTHER_FILES:
        raise FileError(f"{source} is no text file.", code="F11", hint=OTHER_FILES[source.suffix.lower()])
    if os.path.exists(target) and target.samefile(source):
        raise FileError(f"{target} is the raw file itself.", code="F12", hint="--out table.parquet")
    report = ImportReport(str(source), str(target), columns={name: CellTally() for name in schema})
    absent = _absent(schema, missing or (), nulls)
    cells = {name: CellReader(column, report.columns[name], absent[name], written) for name, column in schema.items()}
    report.texts = {name: one.texts for name, one in cells.items()}
    reached = [0.0]
    batches = _batches(source, schema, report, dialect, cells, partial(_reached, reached, progress))
    with phase(f"reading {source}", lambda: reached[0]):
        _write(batches, schema, target, report, broken)
    report.advice = {name: how for name, one in schema.items() if (how := _advice(name, one, report.texts[name]))}
    return report


def _absent(schema: Schema, missing: Sequence[str], nulls: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the texts of missing cells of each column; those of one column are written "hours=-9"."""
    found = dict.fromkeys(schema, nulls)
    for text in missing:
        # a name may hold a "=" itself: the longest that is a column
        named = max((name for name in schema if text.startswith(f"{name}=")), key=len, default=None)
        for name in schema if named is None else (named,):
            found[name] += (text if named is None else text[len(named) + 1 :].strip(),)
    return found


def _reached(reached: list[float], progress: Callable[[int, int], None] | None, done: int, total: int) -> None:
    """Keep the fraction read for a display, and call whoever else wants to know."""
    reached[0] = done / max(1, total)
    if progress is not None:
        progress(done, total)


def _batches(
    source: Path,
    schema: Schema,
    report: ImportReport,
    dialect: Dialect,
    cells: dict[str, CellReader],
    progress: Callable[[int, int], None],
) -> Iterator[list[list[Any]]]:
    """Yield typed columns of up to BATCH rows, in the schema's order."""
    failure: FileError | None = None
    try:
        total = source.stat().st_size
        with source.open("rb") as bytes_, _text(bytes_, dialect.encoding) as file:
            reader = csv.reader(file, delimiter=dialect.delimiter, quotechar=dialect.quote, strict=True)
            names = _names(reader, source) if dialect.header else [schema.source(name) for name in schema.stored]
            if not _is_text(names):
                raise UnicodeError
            places = _places(names, schema)
            for rows in _rows(reader, len(names), report):
                report.rows += len(rows)
                columns = list(zip(*rows, strict=True))
                yield [cells[name].read(list(columns[place])) for name, place in places.items()]
                progress(min(bytes_.tell(), total), total)
    except OSError as problem:
        hint = "the path of a text file"
        failure = FileError(f"{source} cannot be read: {problem.strerror}.", code="F11", hint=hint)
    except UnicodeError:
        message = f"{source} is not text in {dialect.encoding}."
        failure = FileError(message, code="F11", hint='encoding="cp1252", or as it was saved')
    if failure is not None:
        raise failure


def _text(bytes_: Any, encoding: str) -> TextIOWrapper:
    # bytes that are no text arrive as lone surrogates, so that their row is counted; newline="" leaves breaks to csv
    return TextIOWrapper(bytes_, encoding=encoding, errors="surrogateescape", newline="")


def _names(reader: Any, source: Path) -> list[str]:
    try:
        return next(reader, list[str]())
    except csv.Error:
        message = f"the first line of {source} cannot be split into names."
    raise FileError(message, code="F11", hint="names on the first line, or header=False")


def _rows(reader: Any, width: int, report: ImportReport) -> Iterator[list[list[str]]]:
    """Yield batches of rows that split into `width` cells of text; count the others."""
    made: list[list[str]] = []
    while True:
        line: int = reader.line_num + 1
        try:
            cells: list[str] = next(reader)
        except StopIteration:
            break
        except csv.Error:
            _broken(report, line, reader.line_num)
            continue
        if not cells:
            continue
        text = _is_text(cells)
        if len(cells) != width or not text:
            report.undecoded += not text
            _broken(report, line, reader.line_num)
            continue
        made.append(cells)
        if len(made) == BATCH:
            yield made
            made = []
    if made:
        yield made


def _is_text(cells: list[str]) -> bool:
    """Whether all bytes could be decoded (others arrive as lone surrogates)."""
    joined = "".join(cells)
    return joined.isascii() or not any("\udc80" <= mark <= "\udcff" for mark in joined)


def _broken(report: ImportReport, first: int, last: int) -> None:
    report.broken += 1
    # an open quote swallows all lines up to the next quote
    report.lost += max(1, last - first + 1)
    if len(report.lines) < LISTED:
        report.lines.append(first)


def _places(written: list[str], schema: Schema) -> dict[str, int]:
    """Return where each column of the schema stands: a name as it is written, else without the blanks around it."""
    stripped = [name.strip() for name in written]
    places: dict[str, int] = {}
    for name in schema.stored:
        wanted = schema.source(name)
        names = written if wanted in written else stripped
        if wanted not in names:
            guess = nearest(wanted, names)
            hint = f'column = "{guess}"' if guess else "names stand on the first line; is the delimiter right?"
            raise SourceError(f"column {wanted!r} of the schema is not in this text file.", code="D10", hint=hint)
        if names.count(wanted) > 1:
            text = f"column {wanted!r} of the schema is {names.count(wanted)} times in this text file."
            raise SourceError(text, code="D10", hint="each name once on the first line")
        places[name] = names.index(wanted)
    return places


def _write(batches: Iterator[list[list[Any]]], schema: Schema, target: Path, report: ImportReport, broken: str) -> None:
    """Write to a temporary file beside the target, of mode 0600, then rename it: the target is whole or absent."""
    pa = arrow()
    shape = pa.schema([(schema.source(name), _type(schema[name])) for name in schema.stored])
    temporary = ""
    failure: FileError | None = None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".partial")
        with os.fdopen(handle, "wb") as file:
            with parquet().ParquetWriter(file, shape, compression="zstd") as writer:
                for made in batches:
                    if report.broken and broken == "refuse":
                        continue  # nothing will be written; the rest is read for the report
                    arrays = [pa.array(column, type=shape.field(i).type) for i, column in enumerate(made)]
                    writer.write_table(pa.Table.from_arrays(arrays, schema=shape))
            file.flush()
            # before the rename: after a loss of power the name never belongs to a file that is half written
            os.fsync(file.fileno())
        if report.broken == 0 or broken == "drop":
            os.replace(temporary, target)
            report.written = True
    except OSError as problem:
        failure = FileError(f"{target} cannot be written: {problem.strerror}.", code="F12", hint="another folder")
    finally:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
    if failure is not None:
        raise failure


def _type(column: Column) -> Any:
    pa = arrow()

    if isinstance(column, Category):
        code = column.codes[0]
        return pa.bool_() if isinstance(code, bool) else pa.int64() if isinstance(code, int) else pa.string()
    types = {Real: pa.float64(), Integer: pa.int64(), Boolean: pa.bool_(), Date: pa.date32()}
    types |= {PrivacyUnit: pa.string(), Text: pa.string()}
    return types[type(column)]


def _advice(name: str, column: Column, texts: Sequence[str]) -> str | None:
    """Return what would read the unreadable texts of a column, None if unknown."""
    return answer_advice(name, texts) if isinstance(column, Boolean) else advice(column, texts)
