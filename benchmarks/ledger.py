"""The ledger under SIGKILL and under many processes; prints one table.

    python benchmarks/ledger.py [--kills 600] [--processes 16] [--releases 200] [--postgres URL]

Kills: a child charges and stores without end and is killed at a random moment; afterwards the chain, the sum, and every
charge that the child had been told of must stand.  Processes: all charge at once against a budget that admits half.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import time
from fractions import Fraction
from pathlib import Path

from tacit.curator.ledger import Request, open_ledger
from tacit.errors import BudgetError
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
    """SIGKILL `count` children at random moments, the ledger's creation included."""
    where, said = folder / "kills.ledger", folder / "said"
    budget = Budget(rho=1000)
    random.seed(1)
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
        time.sleep(random.uniform(0.001, 0.04))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    ledger = open_ledger(where, budget=budget, unit=None)
    ledger.verify()
    for made in folder.glob("new*.ledger"):
        open_ledger(made, budget=budget, unit=None).verify()
    charges = {one.number: one for one in ledger.charges()}
    told = [line.split() for line in said.read_text().splitlines()]
    lost = sum(
        int(number) not in charges
        or value != (charges[int(number)].head if what == "charge" else charges[int(number)].release)
        for what, number, value in (line for line in told if len(line) == 3)
    )
    exact = ledger.spent().rho == Fraction(len(charges), 100)
    return {"kills": count, "charges": len(charges), "told": len(told), "lost or changed": lost, "sum exact": exact}


def crowd(processes: int, releases: int, where: str) -> dict[str, object]:
    """All at once, against a budget that admits half of what is asked."""
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
    parser.add_argument("--postgres", default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print("SIGKILL       ", kills(options.kills, Path(folder)))
        print("SQLite crowd  ", crowd(options.processes, options.releases, str(Path(folder) / "crowd.ledger")))
    if options.postgres:
        print(
            "PostgreSQL    ",
            crowd(options.processes, options.releases, f"{options.postgres}?ledger=crowd{time.time_ns()}"),
        )


if __name__ == "__main__":
    main()
