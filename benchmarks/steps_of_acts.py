"""A raise, a limit and a charge under both, killed at every step: SIGKILL before each line, and what is found after it.

    python benchmarks/steps_of_acts.py [--every 1] [--jobs 4]

As `steps.py`, for the acts that change a promise.  After each death a fresh process finds one of four states, in this
order as death comes later: nothing recorded, the raise, the raise and the limit, those and the charge.  The same three
again end with each recorded once, and the whole and the limit refuse what exceeds them.  The main file
alone, copied after the death, says the same.

Used by `tests/ledger/test_killed_at_every_step.py`, thinned.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from steps import in_child, traced

from tacit.errors import BudgetError
from tacit.ledger import Ledger, Request, open_ledger
from tacit.ledger.acts import raise_of
from tacit.privacy import Budget, Cost

STATES = (("1", None, 1), ("2", None, 1), ("2", "1/2", 1), ("2", "1/2", 2))
"""The whole, alice's limit, the number of charges."""


def ask(what: str, rho: str, analyst: str | None = "alice") -> Request:
    return Request("people", (), f'{{"question":"{what}"}}', Cost.of(rho=rho), "", analyst)


def prepare(where: str) -> None:
    open_ledger(where, budget=Budget(rho=1), unit=None).charge(ask("earlier", "0.25"))


def work(where: str) -> None:
    ledger = open_ledger(where, budget=None, unit=None)
    ledger.raise_budget(Budget(rho=2), note="board 31")
    ledger.limit("alice", Budget(rho="0.5"), note="board 32")
    ledger.charge(ask("later", "0.25"))


def state(ledger: Ledger) -> tuple[str, str | None, int]:
    ledger.verify()
    now = ledger.standing("alice")
    return str(now.budget.rho), None if now.limit is None else str(now.limit.rho), len(ledger.charges())


def after(where: str) -> dict[str, Any]:
    """Return the state; then repeat the acts, and try those that exceed the budget."""
    ledger = open_ledger(where, budget=None, unit=None)
    found = state(ledger)
    ledger.close()
    work(where)
    problems = [] if found in STATES else [f"found {found}"]
    if state(ledger) != STATES[-1]:
        problems.append(f"{state(ledger)} after all")
    if [one.note for one in ledger.acts()] != ["board 31", "board 32"]:
        problems.append("not each act once")
    for request, code in ((ask("more", "0.0001"), "B12"), (ask("whole", "1.5001", None), "B02")):
        try:
            ledger.charge(request)
            problems.append(f"overspent past {code}")
        except BudgetError as refused:
            problems += [] if refused.code == code else [f"{refused.code}, not {code}"]
    ledger.charge(ask("rest", "1.5", None))
    ledger.verify()
    return {"state": STATES.index(found) if found in STATES else -1, "problem": "; ".join(problems)}


def alone(folder: Path) -> int:
    """Return the state in a copy of the main file alone."""
    (folder / "alone").mkdir()
    shutil.copy(folder / "base.ledger", folder / "alone" / "base.ledger").chmod(0o400)
    return STATES.index(state(open_ledger(folder / "alone" / "base.ledger", budget=None, unit=None)))


def deaths(folder: Path, steps: list[int]) -> Iterator[dict[str, Any]]:
    for k in steps:
        made = folder / f"k{k}"
        made.mkdir()
        for one in folder.glob("base.ledger*"):
            shutil.copy(one, made / one.name)
        where = str(made / "base.ledger")
        ended, said = in_child(lambda k=k, where=where: traced(lambda: work(where), k) and None)
        if ended != signal.SIGKILL:
            yield {"k": k, "state": -1, "problem": f"no death: {said}"}
            continue
        lone = in_child(lambda made=made: alone(made))[1]
        found = in_child(lambda where=where: after(where))[1]
        if lone != found.get("state") and "traceback" not in found:
            found["problem"] += f"; the file alone says {lone}"
        yield {"k": k, "state": -1, "problem": found["traceback"]} if "traceback" in found else {"k": k, **found}


def in_parallel(folder: Path, steps: list[int], jobs: int) -> list[dict[str, Any]]:
    workers = []
    for i in range(jobs):
        worker = os.fork()
        if worker == 0:
            try:
                (folder / f"{i}.json").write_text(json.dumps(list(deaths(folder, steps[i::jobs]))))
            finally:
                os._exit(0)
        workers.append(worker)
    for worker in workers:
        os.waitpid(worker, 0)
    found = [one for i in range(jobs) for one in json.loads((folder / f"{i}.json").read_text())]
    return sorted(found, key=lambda one: one["k"])


def raise_blindly() -> None:
    """Make the ledger record a raise without reading the total, as a faulty one might; the check must find it."""

    def blind(self: Ledger, total: Budget, *, note: str) -> Any:
        with self.store_.write() as tx:
            words = {"before": self._total(tx).to_dict(), "total": total.to_dict(), "note": note}
            return raise_of(self._act(tx, "raise", words), 0)

    Ledger.raise_budget = blind  # type: ignore[method-assign]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--careless", action="store_true", help="a raise without a look: must be found out")
    options = parser.parse_args()
    if options.careless:
        raise_blindly()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        in_child(lambda: prepare(str(folder / "base.ledger")))
        (folder / "count").mkdir()
        for one in folder.glob("base.ledger*"):
            shutil.copy(one, folder / "count" / one.name)
        steps = in_child(lambda: traced(lambda: work(str(folder / "count" / "base.ledger")), None))[1]
        found = in_parallel(folder, list(range(0, len(steps), options.every)), options.jobs)
    order = [one["state"] for one in found]
    wrong = [f"step {one['k']} {steps[one['k']]}: {one['problem']}" for one in found if one["problem"]]
    wrong += ["an act came and went"] if order != sorted(order) else []
    counts = ", ".join(
        f"{order.count(i)} {words}" for i, words in enumerate(("before", "raised", "limited", "charged"))
    )
    print(f"a raise, a limit, a charge: {len(found)} deaths at {len(steps):,} steps: {counts}")
    print(f"problems: {wrong or 'none'}", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
