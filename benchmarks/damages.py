"""Damage done to a ledger's file: to its bits, bytes and pages, to its rows, bodies and schema, to its journal."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = 4096
KINDS = {
    "bit": 30,
    "bytes": 12,
    "cut": 5,
    "page of zeros": 5,
    "pages swapped": 5,
    "page doubled": 4,
    "row gone": 4,
    "last rows gone": 4,
    "cell of another type": 5,
    "cell of no text": 2,
    "body": 5,
    "body, own hash": 5,
    "body, every hash": 4,
    "rows swapped": 2,
    "schema": 4,
    "no header": 1,
    "journal gone": 4,
    "journal damaged": 4,
}
"""How often each is done."""
FORGED = {"body, every hash"}
"""Damage that a hash chain cannot reveal."""
VALUES: list[Any] = [
    None, "", "x", 0, -1, 1.5, 10**400, 2**63, True, [], {}, [[]], {"a": 1}, "1/0", "1e999999", "NaN", "\x00", "é",
]  # fmt: skip
BODIES = [
    "", "null", "[]", "{}", "{", "7", '"x"', "NaN", "[" * 100_000, '{"a":' * 5_000, '{"number":' + "9" * 5_000 + "}",
]  # fmt: skip
SCHEMA = [
    "DROP TRIGGER no_update",
    "DROP TRIGGER no_delete",
    "DROP TABLE tacit_entries",
    "ALTER TABLE tacit_entries RENAME COLUMN body TO words",
    "ALTER TABLE tacit_entries RENAME TO entries",
    "ALTER TABLE tacit_entries ADD COLUMN more TEXT",
    "CREATE TABLE more (x)",
    "CREATE TRIGGER more AFTER INSERT ON tacit_entries BEGIN SELECT 1; END",
    "CREATE TABLE other AS SELECT * FROM tacit_entries; DROP TABLE tacit_entries; "
    "ALTER TABLE other RENAME TO tacit_entries",
    "CREATE TABLE other AS SELECT * FROM tacit_entries; DROP TABLE tacit_entries; "
    "CREATE VIEW tacit_entries AS SELECT * FROM other",
    "PRAGMA application_id = 7",
    "PRAGMA application_id = 0",
    "PRAGMA user_version = 1000000",
    "INSERT INTO tacit_entries SELECT 'other', seq + 1000, kind, key, body, prev, hash FROM tacit_entries LIMIT 1",
    "INSERT INTO tacit_entries SELECT ledger, seq + 99, kind, key || 'x', body, prev, hash FROM tacit_entries LIMIT 1",
]


class Damage:
    """One way to damage a file; everything random is drawn from `rng`."""

    def __init__(self, where: Path, rng: random.Random) -> None:
        self.where, self.rng = where, rng

    def do(self, name: str) -> None:
        {
            "bit": self.bit,
            "bytes": self.some_bytes,
            "cut": self.cut,
            "page of zeros": self.zeros,
            "pages swapped": self.swap,
            "page doubled": self.double,
            "row gone": lambda: self.delete(last=False),
            "last rows gone": lambda: self.delete(last=True),
            "cell of another type": self.cell_type,
            "cell of no text": self.no_text,
            "body": lambda: self.body(hashes="none"),
            "body, own hash": lambda: self.body(hashes="own"),
            "body, every hash": lambda: self.body(hashes="every"),
            "rows swapped": self.swap_rows,
            "schema": self.schema,
            "no header": self.no_header,
            "journal gone": lambda: self.journal(kept=False),
            "journal damaged": lambda: self.journal(kept=True),
        }[name]()

    def bit(self) -> None:
        data = bytearray(self.where.read_bytes())
        # The first page and cells' heads are small: half of all flips go there.
        at = self.rng.randrange(len(data)) if self.rng.random() < 0.5 else self._near_a_page_head(len(data))
        data[at] ^= 1 << self.rng.randrange(8)
        self.where.write_bytes(data)

    def _near_a_page_head(self, size: int) -> int:
        return min(size - 1, self.rng.randrange(size // PAGE) * PAGE + self.rng.randrange(160))

    def some_bytes(self) -> None:
        data = bytearray(self.where.read_bytes())
        count = self.rng.choice([1, 2, 4, 16, 64, 512])
        at = self.rng.randrange(len(data))
        fill = self.rng.randbytes(count) if self.rng.random() < 0.7 else bytes([self.rng.choice([0, 255])]) * count
        data[at : at + count] = fill[: len(data) - at]
        self.where.write_bytes(data)

    def cut(self) -> None:
        data = self.where.read_bytes()
        size = self.rng.randrange(1, len(data))
        self.where.write_bytes(data[: size if self.rng.random() < 0.5 else max(PAGE, size // PAGE * PAGE)])

    def zeros(self) -> None:
        self._page(lambda pages, i, j: pages.__setitem__(i, bytes(PAGE)))

    def swap(self) -> None:
        def swapped(pages: list[bytes], i: int, j: int) -> None:
            pages[i], pages[j] = pages[j], pages[i]

        self._page(swapped)

    def double(self) -> None:
        self._page(lambda pages, i, j: pages.__setitem__(i, pages[j]))

    def _page(self, change: Any) -> None:
        pages = in_pages(self.where.read_bytes())
        i, j = self.rng.sample(range(len(pages)), 2)
        change(pages, i, j)
        self.where.write_bytes(b"".join(pages))

    @contextlib.contextmanager
    def edited(self) -> Iterator[sqlite3.Connection]:
        """The database without its triggers, which are made again at the end: an edit that leaves no other trace."""
        with contextlib.closing(sqlite3.connect(self.where)) as raw:
            made = raw.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for name, _ in made:
                raw.execute(f"DROP TRIGGER {name}")
            yield raw
            if self.rng.random() < 0.8:
                for _, sql in made:
                    raw.execute(sql)
            raw.commit()

    def delete(self, *, last: bool) -> None:
        with self.edited() as raw:
            count = raw.execute("SELECT count(*) FROM tacit_entries").fetchone()[0]
            gone = range(count - self.rng.randrange(1, 6), count) if last else [self.rng.randrange(count - 1)]
            for one in gone:
                raw.execute("DELETE FROM tacit_entries WHERE seq = ?", (one + 1,))

    def cell_type(self) -> None:
        column = self.rng.choice(["ledger", "seq", "kind", "key", "body", "prev", "hash"])
        value: Any = self.rng.choice([b"", b"\xff\x00", 7, 1.5, 2**62, "", "x", float("inf")])
        with self.edited() as raw:
            seq = self._some(raw)
            if self.rng.random() < 0.3:
                raw.execute(
                    f"UPDATE OR IGNORE tacit_entries SET {column} = CAST({column} AS BLOB) WHERE seq = ?", (seq,)
                )
            else:
                raw.execute(f"UPDATE OR IGNORE tacit_entries SET {column} = ? WHERE seq = ?", (value, seq))

    def no_text(self) -> None:
        column = self.rng.choice(["kind", "key", "body", "prev", "hash"])
        half = self.rng.choice(["ff", "eda080", "c0af", "00", "f4908080"])
        with self.edited() as raw:
            sql = f"UPDATE tacit_entries SET {column} = {column} || CAST(X'{half}' AS TEXT) WHERE seq = ?"
            raw.execute(sql, (self._some(raw),))

    def swap_rows(self) -> None:
        with self.edited() as raw:
            kind = self.rng.choice(["charge", "release", "name"])
            rows = raw.execute("SELECT seq, body, hash FROM tacit_entries WHERE kind = ?", (kind,)).fetchall()
            (a, body_a, hash_a), (b, body_b, hash_b) = self.rng.sample(rows, 2)
            whole = self.rng.random() < 0.5
            for seq, body, own in ((a, body_b, hash_b), (b, body_a, hash_a)):
                raw.execute("UPDATE tacit_entries SET body = ? WHERE seq = ?", (body, seq))
                if whole:
                    raw.execute("UPDATE tacit_entries SET hash = ? WHERE seq = ?", (own, seq))

    def body(self, *, hashes: str) -> None:
        with self.edited() as raw:
            count = raw.execute("SELECT count(*) FROM tacit_entries").fetchone()[0]
            # Its own hash made anew: whoever edits the last entry so has made every hash anew.
            seq = self.rng.randrange(1, count + (hashes != "own"))
            (body,) = raw.execute("SELECT body FROM tacit_entries WHERE seq = ?", (seq,)).fetchone()
            raw.execute("UPDATE tacit_entries SET body = ? WHERE seq = ?", (self._other(body), seq))
            prev = None
            for at in range(seq, count + 1) if hashes == "every" else [seq] if hashes == "own" else []:
                prev = rehashed(raw, at, prev)

    def _other(self, body: str) -> str:
        """Return another body: a changed value, key or digit, or a new body."""
        words = json.loads(body)
        turn = self.rng.randrange(4)
        if turn == 0 or not isinstance(words, dict) or not words:
            return self.rng.choice([one for one in BODIES if one != body])
        key = self.rng.choice(sorted(words))
        if turn == 1:
            del words[key]
        elif turn == 2:
            words[key] = self.rng.choice([one for one in VALUES if one != words[key]])
        else:
            inner = words[key] if isinstance(words[key], dict) and words[key] else words
            inner[self.rng.choice(sorted(inner))] = self.rng.choice(VALUES[8:])
        try:
            text = json.dumps(words, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        except ValueError:  # an integer of too many digits for Python's own text
            text = '{"number":' + "9" * 5_000 + "}"
        return text if text != body else body + " "

    def schema(self) -> None:
        with contextlib.closing(sqlite3.connect(self.where)) as raw:
            raw.executescript(self.rng.choice(SCHEMA))
            raw.commit()

    def no_header(self) -> None:
        """Make a file as an earlier version leaves it without its log: one empty page; or remove its first rows."""
        self.where.unlink()
        with contextlib.closing(sqlite3.connect(self.where)) as raw:
            raw.execute(self.rng.choice(["PRAGMA journal_mode = WAL", "PRAGMA user_version = 3", "VACUUM"]))
            raw.commit()
        if self.where.stat().st_size == 0:
            self.where.write_bytes(self.rng.randbytes(PAGE))

    def journal(self, *, kept: bool) -> None:
        """Leave a file as if killed during a commit: some of its pages are written; the journal is lost, or damaged."""
        before = self.where.read_bytes()
        self._append(self.rng.choice([1, 3, 30]))
        old, new = in_pages(before), in_pages(self.where.read_bytes())
        old += [bytes(PAGE)] * (len(new) - len(old))
        changed = [i for i in range(len(new)) if new[i] != old[i]]
        written = set(self.rng.sample(changed, self.rng.randrange(len(changed))))
        size = max(len(before) // PAGE, *(i + 1 for i in written), 1)
        self.where.write_bytes(b"".join(new[i] if i in written else old[i] for i in range(size)))
        if kept:
            made = bytearray(journal_of(before, [i for i in changed if i < len(before) // PAGE]))
            made[self.rng.randrange(len(made))] ^= 1 << self.rng.randrange(8)
            Path(f"{self.where}-journal").write_bytes(made)

    def _append(self, count: int) -> None:
        """Write the entries that a commit would write."""
        with contextlib.closing(sqlite3.connect(self.where, isolation_level=None)) as raw:
            raw.execute("BEGIN IMMEDIATE")
            last = raw.execute("SELECT max(seq) FROM tacit_entries").fetchone()[0]
            for k in range(1, count + 1):
                row = ("main", last + k, "release", f"x{k}", "y" * self.rng.randrange(3000), "p", "h")
                raw.execute("INSERT INTO tacit_entries VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            raw.execute(f"PRAGMA user_version = {last + count}")
            raw.execute("COMMIT")

    def _some(self, raw: sqlite3.Connection) -> int:
        return self.rng.randrange(1, raw.execute("SELECT count(*) FROM tacit_entries").fetchone()[0] + 1)


def in_pages(data: bytes) -> list[bytes]:
    return [data[at : at + PAGE] for at in range(0, len(data), PAGE)]


def rehashed(raw: sqlite3.Connection, seq: int, prev: str | None) -> str:
    """Return an entry with a new hash, as somebody who knows the format would make it."""
    row = raw.execute("SELECT kind, key, body, prev FROM tacit_entries WHERE seq = ?", (seq,)).fetchone()
    kind, key, body, before = row
    before = before if prev is None else prev
    text = json.dumps([seq, kind, key, body, before], separators=(",", ":"), ensure_ascii=False)
    own = hashlib.sha256(text.encode()).hexdigest()
    raw.execute("UPDATE tacit_entries SET prev = ?, hash = ? WHERE seq = ?", (before, own, seq))
    return own


def journal_of(before: bytes, pages: list[int]) -> bytes:
    """SQLite's rollback journal of the pages that a commit changes."""
    nonce, sector = 12345, 512
    head = bytes.fromhex("d9d505f920a163d7") + b"".join(
        one.to_bytes(4, "big") for one in (len(pages), nonce, len(before) // PAGE, sector, PAGE)
    )
    made = head.ljust(sector, b"\0")
    for i in pages:
        page = before[i * PAGE :][:PAGE]
        total = nonce + sum(page[at] for at in range(PAGE - 200, 0, -200))
        made += (i + 1).to_bytes(4, "big") + page + (total & 0xFFFFFFFF).to_bytes(4, "big")
    return made
