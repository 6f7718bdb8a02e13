"""Many processes open a ledger for the first time at once: one makes it, all have it, none is refused."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path

from alone import alone
from as_before import with_log

from tacit.errors import LedgerError
from tacit.ledger import Request, open_ledger
from tacit.privacy import Budget, Cost

PROCESSES, ROUNDS = 6, 12


def at_once(work: object, where: str, start: float) -> Counter[int]:
    """Exit codes of processes that all begin at one moment."""
    children: list[int] = []
    for i in range(PROCESSES):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                while time.time() < start:
                    pass
                work(where, i)  # type: ignore[operator]
                code = 0
            except LedgerError as refused:
                code = int(refused.code[1:]) + 10
            finally:
                os._exit(code)
        children.append(child)
    return Counter(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)


def first(where: str, i: int) -> None:
    ledger = open_ledger(where, budget=Budget(rho=1), unit=None)
    ledger.charge(Request("people", (), f'{{"question":"{i}"}}', Cost.of(rho="0.01")))


def again(where: str, i: int) -> None:
    ledger = open_ledger(where, budget=None, unit=None)
    assert len(ledger.charges()) >= 3
    ledger.charge(Request("people", (), f'{{"question":"again {i}"}}', Cost.of(rho="0.01")))


@alone
def test_first_openings_at_once(tmp_path: Path) -> None:
    found: Counter[int] = Counter()
    for k in range(ROUNDS):
        where = tmp_path / f"{k}.ledger"
        if k % 3 == 0:
            where.touch()
        found += at_once(first, str(where), time.time() + 0.02)
        ledger = open_ledger(where, budget=None, unit=None)
        ledger.verify()
        assert len(ledger.charges()) == PROCESSES
    assert found == {0: PROCESSES * ROUNDS}


@alone
def test_first_openings_of_a_ledger_of_before_at_once(tmp_path: Path) -> None:
    """Each would turn it to a ledger without a log: they wait for each other."""
    found: Counter[int] = Counter()
    for k in range(ROUNDS):
        where = tmp_path / f"{k}.ledger"
        with_log(where, charges=3, live=k % 2 == 0)
        found += at_once(again, str(where), time.time() + 0.02)
        ledger = open_ledger(where, budget=None, unit=None)
        ledger.verify()
        assert len(ledger.charges()) == 3 + PROCESSES
        # of a process that ended as another made the turn; nothing is ever written there again (below)
        assert not (log := Path(f"{where}-wal")).exists() or log.stat().st_size == 0
    assert found == {0: PROCESSES * ROUNDS}


def test_an_empty_log_that_was_left_behind_is_never_written(tmp_path: Path) -> None:
    where = tmp_path / "people.ledger"
    first(str(where), 0)
    log = Path(f"{where}-wal")
    log.touch()
    ledger = open_ledger(str(where), budget=None, unit=None)
    ledger.charge(Request("people", (), '{"question":"1"}', Cost.of(rho="0.01")))
    assert log.stat().st_size == 0
    (copy := tmp_path / "copy.ledger").write_bytes(where.read_bytes())
    ledger.close()
    assert len(open_ledger(str(copy), budget=None, unit=None).charges()) == 2
