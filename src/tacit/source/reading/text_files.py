"""Text files (CSV, TSV): one line is one row, whatever its neighbours hold.  INSIDE the wall.

Declared rules, the same for every file (law 7).  The first line names the columns.  After it:

- a row is a line; a line ends with a line feed, a carriage return before which is dropped; an empty line is no row;
- a byte-order mark before the first line is dropped; anywhere else U+FEFF is a character like any other;
- cells are separated by the delimiter; a cell may stand in double quotes, a doubled one meaning one; a line break in
  quotes still ends the row (`tacit import` understands those);
- a cell that is empty, not there (a short line), badly quoted or not UTF-8 is missing; cells too many are ignored;
- a line of more than 16 MiB is a row whose cells are all missing.

So whether a line is a row, and its cells, are functions of the bytes of that line: where it stands in the file, and
what stands around it, is no matter; and no row can raise.  Blocks without oddities are parsed by PyArrow, the others
here; both give the same cells (`benchmarks/text_fuzz.py` looks for ones where they do not).
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.lazy_imports import arrow
from tacit.errors import SourceError
from tacit.source.pass_progress import WATCHED

BLOCK: Final = 2**22
"""Bytes read at a time."""

LONGEST: Final = 2**24
"""The most bytes of a line whose cells are read: a bound on the memory of a row."""

TOO_LONG: Final = b'"'
"""Replaces a longer line: a row whose first cell is badly quoted and whose other cells are absent."""

HEADER: Final = 2**20
"""The most bytes of the first line."""

UNREADABLE: Final = "\x00"
"""Replaces bytes that are not UTF-8: no number, date or level holds it."""

COMMA, LINE_FEED, RETURN, QUOTE = ord(","), ord("\n"), ord("\r"), ord('"')
_PERFECT: Final = re.compile('"(?:[^"]|"")*"')


def _unreadable(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return UNREADABLE, error.end


codecs.register_error("tacit", _unreadable)


def header(path: Path, delimiter: str) -> tuple[str, ...]:
    """Read the column names from the first line; SourceError D03 or D04, which quote nothing of it."""
    with path.open("rb") as file:
        first = file.readline(HEADER)
    try:
        line = "" if len(first) == HEADER else first.decode("utf-8-sig")
    except UnicodeDecodeError:
        line = UNREADABLE
    if UNREADABLE in line:
        hint = "save it as UTF-8 (iconv -f WINDOWS-1252 -t UTF-8), or tacit import --encoding cp1252 makes a table"
        raise SourceError(f"the first line of {path} is not UTF-8 text.", code="D03", hint=hint)
    names: list[str] = next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), list[str]())
    if not names or len(set(names)) < len(names) or not all(names):
        message = f"the first line of {path} does not name its columns, each once{_which(names)}."
        raise SourceError(message, code="D04", hint="a first line like age,sex,income")
    return tuple(names)


def _which(names: Sequence[str]) -> str:
    """Return the first place without a name of its own in words, which quote nothing: the line may be a row."""
    for at, name in enumerate(names):
        if not name:
            return f": name {at + 1:,} of {len(names):,} is empty"
        if name in names[:at]:
            return f": name {at + 1:,} of {len(names):,} is that of column {names.index(name) + 1:,}"
    return ""


def cells(path: Path, delimiter: str, width: int, wanted: Sequence[int]) -> Any:
    """READS ROWS.  Return a stream of Arrow batches of text: columns `wanted` of `width`, named a0, a1, ...."""
    pa = arrow()

    schema = pa.schema([(f"a{i}", pa.string()) for i in range(len(wanted))])
    done, size = [0], max(1, path.stat().st_size)
    watched = WATCHED.get()
    if watched is not None:
        watched.count(lambda: min(1.0, done[0] / size))
    made = (_batch(block, delimiter, width, wanted, schema) for block in _blocks(path, done))
    return pa.RecordBatchReader.from_batches(schema, made)


def _blocks(path: Path, done: list[int]) -> Iterator[bytes]:
    """Yield blocks of whole lines after the first, a few megabytes each; every line ends with a line feed.

    done: a list of one, kept at the number of bytes read.
    """
    with path.open("rb") as file:
        file.readline()
        rest = b""
        while got := file.read(BLOCK):
            done[0] = file.tell()
            cut = got.rfind(b"\n") + 1
            if cut:
                first = got.find(b"\n")
                # a line inside one block is shorter than LONGEST, as BLOCK is; only one across blocks can be too long
                yield _kept(rest + got[:first]) + got[first:cut]
                rest = b""
            rest = (rest + got[cut:])[: LONGEST + 2]  # enough to know that it is too long
        if rest:
            yield _kept(rest) + b"\n"


def _kept(line: bytes) -> bytes:
    """Return a line that spans blocks, without its line feed, or TOO_LONG."""
    return line if len(line.removesuffix(b"\r")) <= LONGEST else TOO_LONG


def _batch(block: bytes, delimiter: str, width: int, wanted: Sequence[int], schema: Any) -> Any:
    found = _fast(block, delimiter, width, wanted, schema)
    return _slow(block, delimiter, wanted, schema) if found is None else found


def _slow(block: bytes, delimiter: str, wanted: Sequence[int], schema: Any) -> Any:
    """Parse a block line by line by the declared rules: the reference for `_fast`."""
    pa = arrow()

    columns: list[list[str | None]] = [[] for _ in wanted]
    for ended in block.decode("utf-8", errors="tacit").split("\n"):
        line = ended.removesuffix("\r")
        if not line:
            continue
        row = line.split(delimiter) if '"' not in line else split(line, delimiter)
        for column, i in zip(columns, wanted, strict=True):
            column.append(row[i] if i < len(row) else None)
    arrays = [pa.array(column, type=pa.string()) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def split(line: str, delimiter: str) -> list[str | None]:
    """Split a line with quotes; None for a badly quoted cell, which ends at the next delimiter.

    >>> split('1,"a, ""b"" c",,"x"y,"z', ",")
    ['1', 'a, "b" c', '', None, None]
    """
    row: list[str | None] = []
    at = 0
    while at <= len(line):
        quoted = _PERFECT.match(line, at)
        end = line.find(delimiter, quoted.end() if quoted else at)
        end = len(line) if end < 0 else end
        cell = line[at:end]
        if quoted and quoted.end() == end:
            row.append(cell[1:-1].replace('""', '"'))
        else:
            row.append(None if cell.startswith('"') else cell)
        at = end + 1
    return row


def _fast(block: bytes, delimiter: str, width: int, wanted: Sequence[int], schema: Any) -> Any | None:
    """Parse a block by PyArrow where it gives the cells of `_slow` (see `_regular`), else return None."""
    import pyarrow.csv  # pyright: ignore[reportMissingTypeStubs, reportUnusedImport]  # noqa: F401

    pa = arrow()
    lines = _regular(np.frombuffer(block, np.uint8), ord(delimiter), width)
    if lines is None or not _utf8(block):
        return None
    names = [f"n{i}" for i in range(width)]
    chosen = [names[i] for i in wanted]
    headed = delimiter.join(names).encode() + b"\n" + block  # PyArrow drops U+FEFF where a buffer starts: not in a row
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(headed),
            read_options=pa.csv.ReadOptions(block_size=len(headed) + 1, use_threads=False),
            parse_options=pa.csv.ParseOptions(delimiter=delimiter, ignore_empty_lines=False),
            convert_options=pa.csv.ConvertOptions(
                include_columns=list(dict.fromkeys(chosen)),
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowException:
        return None
    # any disagreement with our own count of lines goes to the reference parser
    if table.num_rows != lines:
        return None
    combined = table.combine_chunks()
    arrays = [combined.column(name).chunk(0) for name in chosen]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _regular(a: NDArray[np.uint8], delimiter: int, width: int) -> int | None:
    """Count lines if each has `width` cells, none is empty, and quotes enclose whole cells; else return None."""
    feeds = a == LINE_FEED
    separators = a == delimiter
    quotes = np.flatnonzero(a == QUOTE)
    if len(quotes):
        opening, closing = quotes[0::2], quotes[1::2]
        if len(opening) != len(closing):
            return None
        # a doubled quote has a quote before its second half, so it fails `starts` and takes the slow way
        before = a[np.maximum(opening - 1, 0)]
        after = a[closing + 1]  # a block ends with a line feed
        starts = (opening == 0) | (before == LINE_FEED) | (before == delimiter)
        if not starts.all() or not np.isin(after, (LINE_FEED, RETURN, delimiter)).all():
            return None
        # 1 between an opening and its closing quote: an odd number of quotes so far
        inside = (np.cumsum(a == QUOTE, dtype=np.int32) & 1).astype(np.bool_)
        if (inside & feeds).any():
            return None
        separators &= ~inside
    ends = np.flatnonzero(feeds)
    begins = np.concatenate(([0], ends[:-1] + 1))
    returns = np.flatnonzero(a == RETURN)
    stray = len(returns) and not feeds[returns + 1].all()
    empty = (ends == begins).any() or (len(returns) > 0 and (a[begins] == RETURN).any())
    # separators of each line, shape (lines,)
    counts = np.add.reduceat(separators, begins, dtype=np.int64)
    return None if stray or empty or (counts != width - 1).any() else len(ends)


def _utf8(block: bytes) -> bool:
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
