"""Implementation of `tacit schema`: draft a curator's file for a table."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tacit.base.json_text import short, write_text
from tacit.base.progress import phase
from tacit.cli.output import emit, progress_on_terminal, writable
from tacit.errors import CommandError, ReleaseError, SourceError
from tacit.schema.drafted_file import draft_file
from tacit.schema.drafting import FOUND_MARK, Found, suggested_lines, typed_lines
from tacit.schema.toml import read_text

if TYPE_CHECKING:
    from tacit.source.raw_text.suggested_types import Suggestions

DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}


def schema(table: str, save: str | None, no_rows: bool, delimiter: str | None, as_json: bool) -> None:
    """Run `tacit schema`: draft a file from a table's names and types, and of text from what its cells look like."""
    from tacit.source import open_source

    if save is not None:
        _new(save, table)
    place = Path(table)
    suffix = place.suffix.lower()
    found: dict[str, Found] | None = None
    if suffix in DELIMITERS:
        if not os.path.isfile(table):
            open_source(table)  # for its error
        if delimiter is None:
            _one_column(place, DELIMITERS[suffix])
        looked = _found(place, DELIMITERS[suffix] if delimiter is None else delimiter, no_rows)
        found = looked.kinds
        types, lines = dict.fromkeys(found, "text"), suggested_lines(*looked)
    else:
        types = open_source(table).columns()  # first, for its error: what is no table needs no delimiter
        _typed_already(delimiter)
        lines = typed_lines(types)
    name = place.stem if place.stem.isprintable() and "*" not in place.stem else "table"
    text = _file(place, name, save, lines, typed=found is None, options=_options(place, delimiter))
    if save is not None:
        write_text(save, text)
    emit(text.rstrip(), {"columns": types, "found": found, "schema": text}, as_json)


def _new(save: str, table: str) -> None:
    """Raise ReleaseError R07 for a file that is there already: a draft must not replace what was filled in."""
    writable(save, table)
    if os.path.exists(save):
        raise ReleaseError(
            f"{save} is there already, and would be lost.",
            code="R07",
            hint="--save another-draft.toml, or move it first",
        )


def _typed_already(delimiter: str | None) -> None:
    """Raise CommandError C06 for a delimiter of a file that is no text."""
    if delimiter is not None:
        raise CommandError("--delimiter is for .csv and .tsv files.", code="C06", hint="leave --delimiter out")


def _one_column(place: Path, delimiter: str) -> None:
    """Raise SourceError D04 where the first line seems to have another delimiter: a single name with marks in it."""
    from tacit.source.reading import text_files

    names = text_files.header(place, delimiter)
    mark = next((mark for mark in ";\t|" if mark in names[0]), None)
    if len(names) == 1 and mark is not None:
        text = f"the first line of {place} names one column, {short(names[0])!r}: is there another delimiter?"
        raise SourceError(text, code="D04", hint=f"--delimiter {_shell(mark)}")


def _found(place: Path, delimiter: str, no_rows: bool) -> Suggestions:
    """Return what each column of a text file looks like, and of what all or many of its numbers are multiples."""
    from tacit.source.raw_text.suggested_types import Suggestions, suggest
    from tacit.source.raw_text.text_import import Dialect
    from tacit.source.reading import text_files

    Dialect(delimiter=delimiter)  # for its error: not one character
    if no_rows:
        return Suggestions(dict.fromkeys(text_files.header(place, delimiter), "unread"), {}, {})
    with progress_on_terminal(), phase(f"reading {place}"):
        return suggest(place, delimiter)


def _options(place: Path, delimiter: str | None) -> str:
    """Return the options of `tacit import` that a file needs: it reads commas unless it is told."""
    mark = DELIMITERS.get(place.suffix.lower(), ",") if delimiter is None else delimiter
    return "" if mark == "," else f" --delimiter {_shell(mark)}"


def _shell(mark: str) -> str:
    """Return a character as a shell takes it."""
    return r"$'\t'" if mark == "\t" else f"'{mark}'"


def _file(place: Path, name: str, save: str | None, lines: dict[str, str], *, typed: bool, options: str) -> str:
    """Return the text of the drafted file; paths in it are relative to the folder where it is saved."""
    folder = Path() if save is None else Path(save).parent
    # a path of another drive, or with an odd character, is written as it was given
    path = place if place.is_absolute() else Path(os.path.relpath(place, folder))
    shown = path.as_posix() if path.as_posix().isprintable() else f"{name}.parquet"
    if typed:
        return draft_file(lines, name=name, path=shown)
    made, own = place.with_suffix(".parquet"), "FILE.toml" if save is None else save
    command = f"tacit import {place} --schema {own} --out {made}{options}"
    note = f"made by: {command}" if command.isprintable() else ""
    return draft_file(lines, name=name, path=Path(shown).with_suffix(".parquet").as_posix(), note=note)


def found_in_rows(path: str) -> str | None:
    """Return a caution where a file still has comments that were computed from rows, else None."""
    count = read_text(path).count(f"{FOUND_MARK} ")  # with a blank: the head of a draft names the mark in quotes
    if not count:
        return None
    what = f'{path} still has {count} comments "{FOUND_MARK}", computed from rows'
    return f"{what}: take them out before it leaves the house."
