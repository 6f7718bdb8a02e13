"""The ledger under SIGKILL and with many processes, and the time of a charge; prints one table.

    python benchmarks/ledger.py [--kills 600] [--processes 16] [--releases 200] [--speeds 300] [--postgres URL]

Kills: a child charges and stores without end and is killed at a random moment; afterwards the chain, the sum, and every
charge that was reported to the child must be there, also in the main file alone, unless that is refused.  Processes:
all charge at once against a budget that admits half.  Speeds: SQLite's ways of keeping a commit, then a charge.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from fractions import Fraction
from pathlib import Path

from tacit.errors import BudgetError, LedgerError
from tacit.ledger import Request, open_ledger
from tacit.privacy import Budget, Cost


def ask(i: str) -> Request:
    return Request("people", (), f'{{"question":"{i}"}}', Cost.of(rho="0.01"), "")


def child_that_never_stops(where: str, said: Path, tag: str) -> None:
    with said.open("a") as out:
        ledger = open_ledger(where, budget=None, unit=None)
        i = 0
        while True:
            charge = ledger.charge(ask(f"{tag}-{i}"))
            out.write(f"charge {charge.number} {charge.head}\n")
            out.flush()
            out.write(f"stored {charge.number} {ledger.store(charge.number, f'{tag}-{i}')}\n")
            out.flush()
            i += 1


def kills(count: int, folder: Path) -> dict[str, object]:
    """SIGKILL `count` children at random moments, the creation of the ledger included, with a new ledger after each
    fifty. After each death the main file is copied alone; the copy must have every charge that was reported to
    the child, or be refused: a death in the middle of a commit leaves the rest in the journal.
    """
    random.seed(1)
    sums: Counter[str] = Counter()
    for start in range(0, count, 50):
        place = folder / f"{start}"
        place.mkdir()
        sums.update(deaths(place, min(50, count - start)))
    return {"kills": count, **sums}


def deaths(folder: Path, count: int) -> Counter[str]:
    where, said = folder / "kills.ledger", folder / "said"
    budget, found = Budget(rho=1000), Counter[str]()
    said.touch()
    for k in range(count):
        child = os.fork()
        if child == 0:
            try:
                if k % 10 == 0:
                    open_ledger(folder / f"new{k}.ledger", budget=budget, unit=None)  # killed while it is made
                open_ledger(where, budget=budget, unit=None).close()
                child_that_never_stops(str(where), said, str(k))
            finally:
                os._exit(0)
        time.sleep(random.uniform(0.001, 0.15))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found["journals"] += Path(f"{where}-journal").exists()
        found[f"alone: {alone(folder, where, told(said))}"] += 1
    ledger = open_ledger(where, budget=budget, unit=None)
    ledger.verify()
    for made in folder.glob("new*.ledger"):
        open_ledger(made, budget=budget, unit=None).verify()
    charges = {one.number: one for one in ledger.charges()}
    lost = sum(
        int(number) not in charges
        or value != (charges[int(number)].head if what == "charge" else charges[int(number)].release)
        for what, number, value in told(said)
    )
    exact = ledger.spent().rho == Fraction(len(charges), 100)
    found.update({"charges": len(charges), "told": len(told(said)), "lost or changed": lost, "sums wrong": not exact})
    return found


def told(said: Path) -> list[list[str]]:
    """Return the charges that were reported to a child before it died: the complete lines that it wrote."""
    return [line.split() for line in said.read_text().splitlines() if line.count(" ") == 2]


def alone(folder: Path, where: Path, words: list[list[str]]) -> str:
    """Say whether the main file alone has every reported charge: "whole", "refused", or "lost"."""
    if not where.exists():
        return "lost" if words else "whole"
    copy = folder / "alone.ledger"
    copy.unlink(missing_ok=True)
    shutil.copy(where, copy).chmod(0o400)
    try:
        ledger = open_ledger(copy, budget=None, unit=None)
    except BudgetError:  # empty: a new one
        return "lost" if words else "whole"
    except LedgerError:
        return "refused"
    heads = {one.number: one.head for one in ledger.charges()}
    missing = [one for one in words if one[0] == "charge" and heads.get(int(one[1])) != one[2]]
    return "lost" if missing else "whole"


def latency(folder: Path, count: int) -> dict[str, object]:
    """Return milliseconds of one process alone, flushes included."""
    ledger = open_ledger(folder / "latency.ledger", budget=Budget(rho=1000), unit=None)
    steps = {
        "charge": lambda i: ledger.charge(ask(f"{i}")),
        "store": lambda i: ledger.store(i + 1, "x" * 3000),
        "find": lambda i: ledger.find(ask(f"{i}").digest),
    }
    found: dict[str, object] = {}
    for name, step in steps.items():
        taken = []
        for i in range(count):
            start = time.perf_counter()
            step(i)
            taken.append((time.perf_counter() - start) * 1000)
        taken.sort()
        found[name] = f"{taken[count // 2]:.2f} (p95 {taken[count * 95 // 100]:.2f})"
    ledger.close()
    start = time.perf_counter()
    open_ledger(folder / "latency.ledger", budget=None, unit=None)
    found[f"opening {count} charges"] = f"{(time.perf_counter() - start) * 1000:.0f}"
    return found


MODES = (
    ("WAL, synchronous=FULL (until now)", "wal", "FULL", False),
    ("WAL, a truncating checkpoint after each", "wal", "FULL", True),
    ("journal deleted, synchronous=EXTRA", "delete", "EXTRA", False),
    ("journal kept and cleared, EXTRA", "persist", "EXTRA", False),
)


def modes(folder: Path, count: int, processes: int) -> None:
    """Time an insert of a charge's size in SQLite for each journal mode, by one process and by several at once."""
    for name, mode, flush, checkpoint in MODES:
        place = folder / f"{mode}{checkpoint}.db"
        with closing(sqlite3.connect(place)) as raw:
            raw.execute(f"PRAGMA journal_mode = {mode}")
            raw.execute("CREATE TABLE t (i INTEGER PRIMARY KEY, body TEXT)")
        taken = sorted(inserts(place, mode, flush, checkpoint, count))
        start = time.perf_counter()
        children = []
        for _ in range(processes):
            child = os.fork()
            if child == 0:
                inserts(place, mode, flush, checkpoint, count // processes)
                os._exit(0)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)
        rate = count // processes * processes / (time.perf_counter() - start)
        words = f"{taken[count // 2]:.2f} ms (p95 {taken[count * 95 // 100]:.2f})"
        alone = 1000 * count / sum(taken)
        print(f"  {name:<42}{words}; a second: {alone:,.0f} by one process, {rate:,.0f} by {processes}")


def inserts(place: Path, mode: str, flush: str, checkpoint: bool, count: int) -> list[float]:
    """Milliseconds of each commit."""
    taken = []
    with closing(sqlite3.connect(place, isolation_level=None, timeout=60)) as raw:
        raw.execute(f"PRAGMA journal_mode = {mode}")
        raw.execute(f"PRAGMA synchronous = {flush}")
        for _ in range(count):
            start = time.perf_counter()
            raw.execute("BEGIN IMMEDIATE")
            raw.execute("INSERT INTO t (body) VALUES (?)", ("x" * 800,))
            raw.execute("COMMIT")
            if checkpoint:
                raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            taken.append((time.perf_counter() - start) * 1000)
    return taken


def crowd(processes: int, releases: int, where: str) -> dict[str, object]:
    """Charge from all processes at once, against a budget that admits half of what is asked."""
    half = processes * releases // 2
    open_ledger(where, budget=Budget(rho=Fraction(half, 100)), unit=None).close()
    children: list[int] = []
    start = time.perf_counter()
    for seed in range(processes):
        child = os.fork()
        if child == 0:
            try:
                ledger = open_ledger(where, budget=None, unit=None)
                for i in range(releases):
                    try:
                        ledger.store(ledger.charge(ask(f"{seed}-{i}")).number, f"{seed}-{i}")
                    except BudgetError:
                        break
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    seconds = time.perf_counter() - start
    ledger = open_ledger(where, budget=None, unit=None)
    ledger.verify()
    charges = ledger.charges()
    return {
        "processes": processes,
        "asked": processes * releases,
        "admitted": len(charges),
        "limit": half,
        "with release": sum(one.release is not None for one in charges),
        "sum exact": ledger.spent().rho == Fraction(len(charges), 100),
        "a second": round(len(charges) / seconds),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=600)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--speeds", type=int, default=300)
    parser.add_argument("--postgres", default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print("an insert")
        modes(Path(folder), options.speeds, 4)
        print("milliseconds  ", latency(Path(folder), options.speeds))
        found = kills(options.kills, Path(folder))
        print("SIGKILL       ", found)
        print("SQLite crowd  ", crowd(options.processes, options.releases, str(Path(folder) / "crowd.ledger")))
    if options.postgres:
        print(
            "PostgreSQL    ",
            crowd(options.processes, options.releases, f"{options.postgres}?ledger=crowd{time.time_ns()}"),
        )
    sys.exit(1 if any(found.get(bad) for bad in ("lost or changed", "sums wrong", "alone: lost")) else 0)


if __name__ == "__main__":
    main()
