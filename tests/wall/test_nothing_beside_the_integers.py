"""Two files of the same integers are one file to everybody outside, byte by byte.

Whatever is seen of a release besides its noise (output, exit codes, documents, the ledger, names of files, a log)
follows from the exact integers that the noise was added to.  Here cells differ that the declared rules hold equal: how
a number is written, how far it is beyond its bounds, what stands for a missing one, levels that nobody listed, columns
that no question reads, the order of lines and their ends.  With the same random words all the rest must be the same.
"""

from __future__ import annotations

import hashlib
import os
import random
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_process import inside

ROWS = 120
MISSING = ("", "NA", "\\N", "abc", "nan", "inf", "1e400x", "NULL", "٣x")
ABOVE = ("10", "1e308", "1e30", "99", "10.0000001")
BELOW = ("0", "-1e308", "-5", "-0.0", "0e5")
TRUE, FALSE = ("true", "1", "True", "TRUE", "1.0", "yes", "Y", " t "), ("false", "0", "False", "no", "N", "f")
UNLISTED = ("zz", "", "A", "a ", "ab", "b\x00")
DAYS = ("2000-05-05", "2000-05-05 13:00:00", "2000-05-05T23:59:59")
NO_DAYS = ("", "2000-13-13", "x", "99999-01-01x")
COMMANDS = (("release", "job.toml"), ("release", "job.toml"), ("show", "job.release.json"), ("budget", "t.ledger"))


class Words:
    """The operating system's generator, the same in every run."""

    def __init__(self) -> None:
        self.drawn = 0

    def __call__(self, size: int) -> bytes:
        made = b""
        while len(made) < size:
            made += hashlib.sha256(str(self.drawn).encode()).digest()
            self.drawn += 1
        return made[:size]


def job(neighbors: str, persons: bool) -> str:
    unit = 'who = { type = "PrivacyUnit", max_rows = 3 }' if persons else ""
    rows = "" if persons else '[ask.r]\nquery = "Regression"\nformula = "x ~ k + b"\n'
    return f"""
tacit = 1
[table]
name = "t"
[data]
path = "t.csv"
ledger = "t.ledger"
[budget]
epsilon = 3
delta = 1e-5
neighbors = "{neighbors}"
[schema]
{unit}
x = {{ type = "Real", lower = 0, upper = 10 }}
k = {{ type = "Integer", lower = 0, upper = 9, missing = 4 }}
g = {{ type = "Category", levels = ["a", "b"], missing = "other" }}
b = {{ type = "Boolean" }}
w = {{ type = "Text", max_length = 4 }}
d = {{ type = "Date", lower = 2000-01-01, upper = 2001-01-01 }}
[spend]
epsilon = 1
delta = 1e-6
[ask.n]
query = "Count"
by = "g"
[ask.m]
query = "Mean"
columns = ["x", "k", "b", "d"]
by = "g"
where = "x > 2 or b"
[ask.h]
query = "Histogram"
columns = ["x", "g"]
bins = {{ x = 5 }}
[ask.q]
query = "Quantiles"
column = "x"
probs = [0.5]
interval = false
[ask.u]
query = "UnlistedLevels"
column = "w"
{rows}
"""


def text(variant: int) -> bytes:
    """The same rows in one of three spellings; the last is in another order too, as other programs write lines."""
    own, other = np.random.default_rng(7), np.random.default_rng(variant)

    def one_of(spellings: tuple[str, ...]) -> str:
        return spellings[int(other.integers(len(spellings)))] if variant else spellings[0]

    lines: list[str] = []
    for _ in range(ROWS):
        x = own.random() * 12 - 1
        number = (f"{x:.3f}", f" {x:.3f}", f"{x:.3f}0", f'"{x:.3f}"', f"+{x:.3f}")
        cells = [
            str(int(own.integers(0, 60))),
            one_of(ABOVE) if x >= 10 else one_of(BELOW) if x <= 0 else one_of(number),
            str(int(own.integers(0, 10))) if own.random() < 0.8 else one_of(MISSING),
            "ab"[int(own.integers(2))] if own.random() < 0.8 else one_of(UNLISTED),
            one_of(TRUE if own.random() < 0.5 else FALSE) if own.random() < 0.8 else one_of(("", "ja", "2", "nan")),
            ("flu", "cold", "gout")[int(own.integers(3))],
            one_of(DAYS) if own.random() < 0.8 else one_of(NO_DAYS),
        ]
        cells[1] = one_of(MISSING) if own.random() < 0.1 else cells[1]
        lines.append(",".join([*cells, "z" * int(other.integers(0, 90)) if variant else ""]))
    if variant == 2:
        lines = [lines[i] for i in np.random.default_rng(5).permutation(ROWS)]
    end, mark = ("\r\n", "\ufeff") if variant == 2 else ("\n", "")
    return (mark + end.join(["who,x,k,g,b,w,d,junk", *lines]) + (end if variant else "")).encode()


def seen(home: Path, given: str, rows: bytes) -> tuple[Any, ...]:
    """Everything that can be seen of two releases, and of what is done with them."""
    home.mkdir()
    (home / "job.toml").write_text(given)
    (home / "t.csv").write_bytes(rows)
    with pytest.MonkeyPatch.context() as here:
        words = Words()
        here.setattr(os, "urandom", words)
        here.setattr(random, "_urandom", words)
        said = [inside(home, *command) for command in COMMANDS]
    assert [one[0] for one in said] == [0] * len(COMMANDS), said
    kept = (
        sqlite3.connect(home / "t.ledger").execute("SELECT kind, key, body FROM tacit_entries ORDER BY seq").fetchall()
    )
    names = sorted(one.name for one in home.iterdir())
    return said, kept, names, (home / "job.release.json").read_bytes(), words.drawn


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What a process draws once, when it first needs it, is drawn before anything is compared."""
    seen(tmp_path_factory.mktemp("begun") / "t", job("replace-one", persons=False), text(0))


@pytest.mark.usefixtures("begun")
@pytest.mark.parametrize("variant", [pytest.param(1, marks=pytest.mark.long), 2])
@pytest.mark.parametrize(
    ("neighbors", "persons"),
    [("replace-one", False), ("add-remove", True), pytest.param("replace-one", True, marks=pytest.mark.long)],
)
def test_cells_that_count_alike_are_alike_in_everything(
    neighbors: str, persons: bool, variant: int, tmp_path: Path
) -> None:
    given = job(neighbors, persons)
    assert text(variant) != text(0)
    assert seen(tmp_path / "other", given, text(variant)) == seen(tmp_path / "first", given, text(0))
