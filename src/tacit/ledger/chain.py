"""Entries of a ledger and the chain of hashes that links each to all before it.  Pure values.

Every entry's hash is SHA-256 over (number in the chain, kind, key, body, hash before).  An edit, a removal or a swap
anywhere changes every later hash, so `broken_link` finds it; an older copy of the whole file put back is found only by
releases that carry a later charge (`tacit budget LEDGER --check *.json`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from tacit.base.json_text import canonical, is_text
from tacit.errors import LedgerError
from tacit.privacy import Cost
from tacit.privacy.bought import Bought

Kind: TypeAlias = Literal["header", "table", "charge", "name", "release", "raise", "limit"]
START: Final = "0" * 64
"""The hash before the first entry."""


@dataclass(frozen=True)
class Entry:
    """One entry of the chain, numbered `seq` from 1; `body` is canonical JSON, `prev` the hash of the entry before."""

    seq: int
    kind: str
    key: str
    body: str
    prev: str
    hash: str

    @property
    def words(self) -> Any:
        """Return the parsed body."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Request:
    """A request for a charge.

    question: canonical JSON of everything that identifies the question; equal text is the same question.
    analyst: who asks, None for nobody in particular; no part of the question.
    bought: the parts that the price is spent on, None where not known; public, and no part of the question.
    """

    table: str
    names: tuple[str, ...]
    question: str
    cost: Cost
    note: str = ""
    analyst: str | None = None
    bought: tuple[Bought, ...] | None = None

    def __post_init__(self) -> None:
        """Raise LedgerError L17 for text with a lone surrogate, before anything is charged."""
        checked_text(self.table, self.question, self.note, self.analyst or "", *self.names)

    @property
    def digest(self) -> str:
        """Return the SHA-256 (hex) of the question."""
        return hashlib.sha256(self.question.encode()).hexdigest()


@dataclass(frozen=True)
class Charge:
    """A recorded charge; `head` is the chain's hash at its entry, `release` the stored answer or None."""

    number: int
    table: str
    names: tuple[str, ...]
    question: str
    digest: str
    cost: Cost
    note: str
    date: str
    head: str
    release: str | None = None
    analyst: str | None = None


def linked(last: Entry | None, kind: Kind, key: str, body: dict[str, Any] | str) -> Entry:
    """Make the entry that follows `last` (None: the first of a chain)."""
    text = body if isinstance(body, str) else canonical(body)
    seq, prev = (1, START) if last is None else (last.seq + 1, last.hash)
    checked_text(key, text)
    return Entry(seq, kind, key, text, prev, entry_hash(seq, kind, key, text, prev))


def checked_text(*words: str) -> None:
    """Raise LedgerError L17 for a lone surrogate, which a terminal makes of bytes that are no text."""
    if not all(map(is_text, words)):
        message = "a name or a note holds half a character (a lone surrogate), which is not text."
        raise LedgerError(message, code="L17", hint="type it again")


def entry_hash(seq: int, kind: str, key: str, body: str, prev: str) -> str:
    """Return the SHA-256 (hex) of an entry's canonical JSON."""
    # a JSON list keeps its fields apart; joined text would hash alike when characters move between fields
    return hashlib.sha256(canonical([seq, kind, key, body, prev]).encode()).hexdigest()


def broken_link(entries: Iterable[Entry]) -> int | None:
    """Return the number of the first entry whose number, hash or previous hash is wrong, or None."""
    # invariant: `prev` is the hash of entry expected - 1, and every entry before it is intact
    prev, expected = START, 1
    for one in entries:
        right = entry_hash(one.seq, one.kind, one.key, one.body, one.prev)
        if one.seq != expected or one.prev != prev or one.hash != right:
            return expected
        prev, expected = one.hash, expected + 1
    return None


def charge_of(entry: Entry, release: Entry | None) -> Charge:
    """Make a `Charge` of its entry and of the entry of the release it bought, if any."""
    words = entry.words
    return Charge(
        number=words["number"],
        table=words["table"],
        names=tuple(words["names"]),
        question=words["question"],
        digest=entry.key,
        cost=Cost.from_dict(words["cost"]),
        note=words["note"],
        date=words["date"],
        head=entry.hash,
        release=None if release is None else release.body,
        analyst=words["analyst"]["name"] if "analyst" in words else None,
    )
