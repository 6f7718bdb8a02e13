"""Ledgers damaged in thousands of ways, and how Tacit reads each of them; prints one table.

    python benchmarks/damaged_ledgers.py [--count 10000] [--seed 1] [--quick] [--folder /dev/shm]

Each damage is done to a copy of one ledger with charges, answers, names, raises and limits.  Then, as anybody would:
the ledger is opened, every stored answer is asked for again, `verify`, `tacit budget` (the command itself, in this
process), and a charge is made.  Counted, and to be 0:

- raw: an exception that is no TacitError;  70: the exit code of a defect;
- other answer: a stored answer that differs from the one that was stored, or that the ledger has forgotten;
- forgotten: what is spent is less than it was;
- passed: `verify` says nothing, and entries are gone or differ;  slow: a step that took over five seconds.

Not counted as a difference: an edit whose author made every later hash anew. It cannot be found from the file alone;
releases show it (`tacit budget LEDGER --check`). Same seed, same damage. Used by `tests/ledger/test_damaged.py`,
with few."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import typer
from damages import FORGED, KINDS, Damage

from tacit.cli import app as words_of
from tacit.errors import TacitError
from tacit.ledger import Request, open_ledger
from tacit.privacy import Budget, Cost

COUNTED = ("raw", "70", "other answer", "forgotten", "passed", "slow")
CHARGES = 12
GROUP = typer.main.get_command(words_of.app)  # made once: it takes longer than the command
words_of.app, typer.main.get_command = cast(Any, GROUP), lambda _: GROUP


def ask(what: object, rho: str = "0.01", analyst: str | None = None) -> Request:
    question = json.dumps({"question": str(what)})
    return Request("people", (f"n{what}",), question, Cost.of(rho=rho), "board 7", analyst)


def requests() -> list[Request]:
    return [ask(i, analyst=("alice", "bob", None)[i % 3]) for i in range(CHARGES)]


def answer(i: int) -> str:
    return json.dumps({"answer": i, "cells": [(i * 7919 + k * 104729) % 99991 for k in range(300)]})


def prepare(where: Path) -> None:
    """Make a ledger that holds entries of every kind."""
    ledger = open_ledger(where, budget=Budget(rho=1), unit=None)
    ledger.table("people", 1000)
    for i, one in enumerate(requests()):
        ledger.store(ledger.charge(one).number, answer(i))
        if i == 4:
            ledger.raise_budget(Budget(rho=2), note="board 31")
            ledger.limit("alice", Budget(rho="0.5"), note="board 32")
    ledger.close()


@dataclass
class Seen:
    """The outcome of one damaged ledger."""

    problems: list[str] = field(default_factory=list)
    opened: bool = False
    codes: Counter[str] = field(default_factory=Counter)
    words: str = ""

    def step(self, name: str, work: Callable[[], Any]) -> Any:
        """Run one step of a user: return its result, or None where it was refused."""
        start = time.perf_counter()
        try:
            return work()
        except TacitError as refused:
            self.codes[refused.code] += 1
            self.problems += ["forgotten"] if refused.code == "B11" else []  # taken for a new one
        except Exception as raw:
            self.problems.append("raw")
            self.words += f"{name}: {type(raw).__name__} {raw}\n"
        finally:
            if time.perf_counter() - start > 5:
                self.problems.append("slow")
        return None


def use(where: Path, intact: list[Any], forged: bool) -> Seen:
    """Use a ledger as anybody would, and return what is wrong with the result."""
    seen = Seen()
    ledger = seen.step("open", lambda: open_ledger(where, budget=None, unit=None))
    if ledger is not None:
        seen.opened = True
        found = [answers_of(seen, ledger)] if not forged else seen.step("charges", ledger.charges) and []
        seen.problems += ["other answer"] if found and found[0] else []
        seen.step("named", lambda: ledger.named("people", "n3"))
        seen.step("acts", ledger.acts)
        standing = seen.step("standing", lambda: ledger.standing("alice"))
        if not forged and standing is not None and standing.spent.rho * 100 < CHARGES:
            seen.problems.append("forgotten")
        passed = seen.step("verify", lambda: ledger.verify() or "passed")
        if passed and not forged and entries(ledger) != intact:
            seen.problems.append("passed")
        ledger.close()
    if by_command(where) == 70:
        seen.problems.append("70")
    if ledger is not None:
        made = seen.step("charge", lambda: ledger.charge(ask("more", analyst="alice")))
        if made is not None and made.number <= CHARGES and not forged:
            seen.problems.append("forgotten")
        ledger.close()
    return seen


def answers_of(seen: Seen, ledger: Any) -> bool:
    """Whether any question gets another answer than was stored, or none."""
    got = [seen.step("ask", lambda one=one: ledger.charge(one)) for one in requests()]
    return any(one is not None and one.release != answer(i) for i, one in enumerate(got))


def entries(ledger: Any) -> list[Any]:
    with ledger.store_.read() as tx:
        return tx.all()


def by_command(where: Path) -> int:
    """Exit code of `tacit budget`."""
    before = sys.argv
    sys.argv = ["tacit", "budget", str(where)]
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            words_of.main()
    except SystemExit as ended:
        return int(ended.code or 0)
    finally:
        sys.argv = before
    return 0


def sweep(folder: Path, count: int, seed: int) -> tuple[dict[str, Counter[str]], list[str]]:
    """Return counts by kind of damage, and a description of each problem."""
    base = folder / "base.ledger"
    prepare(base)
    ledger = open_ledger(base, budget=None, unit=None)
    intact = entries(ledger)
    ledger.close()
    with contextlib.closing(sqlite3.connect(base)) as raw:  # one file, whatever version made it
        raw.execute("PRAGMA journal_mode = DELETE")
    rng = random.Random(seed)
    table: dict[str, Counter[str]] = {}
    words: list[str] = []
    names = [name for name, weight in KINDS.items() for _ in range(weight)]
    for i in range(count):
        name, own = rng.choice(names), rng.randrange(2**63)
        place = folder / "one"
        place.mkdir()
        where = place / "people.ledger"
        shutil.copy(base, where)
        Damage(where, random.Random(own)).do(name)
        seen = use(where, intact, name in FORGED)
        counts = table.setdefault(name, Counter())
        counts["done"] += 1
        counts["opened"] += seen.opened
        counts.update(set(seen.problems))
        if seen.problems:
            words.append(f"{i} {name} {own}: {', '.join(sorted(set(seen.problems)))}; {dict(seen.codes)}\n{seen.words}")
        shutil.rmtree(place)
    return table, words


def report(table: dict[str, Counter[str]]) -> Counter[str]:
    columns = ("done", "opened", *COUNTED)
    print(f"{'damage':<28}" + "".join(f"{one:>13}" for one in columns))
    total: Counter[str] = Counter()
    for name in sorted(table):
        total.update(table[name])
        print(f"{name:<28}" + "".join(f"{table[name][one]:>13,}" for one in columns))
    print(f"{'all':<28}" + "".join(f"{total[one]:>13,}" for one in columns), flush=True)
    return total


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="two hundred")
    parser.add_argument("--folder", default=None, help="where copies are made: a disk in memory is faster")
    parser.add_argument("--words", type=int, default=10, help="how many problems are told in full")
    options = parser.parse_args()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        table, words = sweep(Path(folder), 200 if options.quick else options.count, options.seed)
    total = report(table)
    print(f"{time.perf_counter() - start:.0f} s")
    for one in words[: options.words]:
        print(one)
    sys.exit(1 if any(total[one] for one in COUNTED) else 0)


if __name__ == "__main__":
    main()
