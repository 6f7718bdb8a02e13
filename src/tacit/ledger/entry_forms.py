"""Required form of each kind of entry; anything else in a ledger is damage (L10), never another error.  Pure.

Everything that a ledger acts on was checked here when it was read: rows by `entry_of`, bodies by `well_formed`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeGuard, cast

from tacit.errors import LedgerError, TacitError
from tacit.ledger.acts import limit_of, raise_of
from tacit.ledger.chain import Entry, charge_of
from tacit.privacy import Budget, Spend

UNREADABLE: Final = (
    ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError, TacitError,
)  # fmt: skip
"""Errors that parsing the body of an entry may raise."""
FORMAT: Final = 1
NEWEST: Final = "restore the newest intact copy"


def damaged(where: str | None, what: str, hint: str = NEWEST) -> LedgerError:
    """Return the error L10 of a ledger that was changed or damaged."""
    return LedgerError(f"ledger {where} was changed or damaged: {what}.", code="L10", hint=hint, state=None)


def headless(where: str | None) -> LedgerError:
    """Return the error L10 of an existing ledger without its header."""
    message = f"{where} holds no header, which every ledger has from the start, so it is no new one."
    hint = "it may have lost its -wal or -journal: bring that back; remove it only if it was never used"
    return LedgerError(message, code="L10", hint=hint)


def misplaced(where: str | None, seq: int) -> LedgerError:
    """Return the error L10 of an entry that contradicts the chain, or the sums and limits before it."""
    message = f"ledger {where} was changed: entry {seq} does not fit its chain."
    return LedgerError(message, code="L10", hint=NEWEST, state=None)


def entry_of(row: Any) -> Entry | None:
    """Make an entry of a database row; None where a cell has the wrong type, since SQLite stores any type anywhere."""
    cells = tuple(row)
    if [type(one) for one in cells] != [int, str, str, str, str, str]:
        return None
    return Entry(*cells)


def well_formed(entry: Entry) -> bool:
    """Return whether the body has the form of its kind, in this version or an earlier one."""
    form = FORMS.get(entry.kind)
    if form is None:  # a kind of a later version, or a release, whose body is any text
        return True
    try:
        return form(entry)
    except UNREADABLE:
        return False


def format_of(header: Entry) -> int:
    """Return the format number of a header; LedgerError L10 where it has none."""
    try:
        found = json.loads(header.body)["format"]
    except UNREADABLE:
        found = None
    if not _whole(found):
        raise damaged(None, "its header names no format")
    return found


def _header(entry: Entry) -> bool:
    """Return whether a header holds a budget and a unit of privacy."""
    if format_of(entry) > FORMAT:
        return True  # refused by name when it is opened (L15)
    words = entry.words
    Budget.from_dict(words["budget"])
    return entry.key == "" and (words["unit"] is None or _whole(words["unit"])) and isinstance(words.get("id", ""), str)


def _table(entry: Entry) -> bool:
    """Return whether a table's entry holds a public number of rows or none, and texts for the column of persons."""
    rows = entry.words["rows"]
    return (rows is None or _whole(rows)) and all(_text(entry.words.get(word, "")) for word in ("persons", "found"))


def _charge(entry: Entry) -> bool:
    """Return whether a charge holds a price, sums, texts, and the hash of its question as its key."""
    words, charge = entry.words, charge_of(entry, None)
    texts: list[object] = [charge.table, charge.question, charge.note, charge.date, *charge.names]
    # parsed for its errors only: later charges start from these sums
    for sums in (words["spent"], words.get("charged", {})):
        Spend.from_dict(sums)
    fits = _whole(charge.number) and charge.number > 0 and all(map(_text, texts))
    fits = fits and entry.key == hashlib.sha256(charge.question.encode()).hexdigest()
    # text would pass as a sequence of names of one character each
    return fits and isinstance(words["names"], list) and ("analyst" not in words or _analyst(words["analyst"]))


def _analyst(words: Mapping[str, Any]) -> bool:
    """Return whether the analyst of a charge has a name, a number and a sum."""
    Spend.from_dict(words["spent"])
    return isinstance(words["name"], str) and _whole(words["number"])


def _name(entry: Entry) -> bool:
    """Return whether the entry of a release's name holds the hash of its question."""
    return isinstance(entry.words["digest"], str)


def _act(read: Callable[[Entry, int], Any]) -> Callable[[Entry], bool]:
    """Return the check of raises or of limits, which `read` parses."""

    def fits(entry: Entry) -> bool:
        """Return whether the entry has a note, a date and its number as its key."""
        found, words = read(entry, 0), entry.words
        texts: list[object] = [found.note, found.date, words.get("analyst", "")]
        return _whole(found.number) and entry.key == str(found.number) and all(map(_text, texts))

    return fits


def _text(value: object) -> bool:
    """Return whether a value is text."""
    return isinstance(value, str)


def _whole(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer and no Boolean."""
    return type(value) is int


FORMS: Final = cast(
    "Mapping[str, Callable[[Entry], bool]]",
    {
        "header": _header,
        "table": _table,
        "charge": _charge,
        "name": _name,
        "raise": _act(raise_of),
        "limit": _act(limit_of),
    },
)
