"""A curator killed at every step: SIGKILL before each line that a release executes, and what is found afterwards.

    python benchmarks/steps.py [--every 1] [--jobs 4] [--thin] [--server postgresql://user@host/database]

A step is a line of `tacit.curator`, `tacit.ledger`, `tacit.source`, a mechanism or `tacit.noise.exact`, counted by a
trace in a child process that kills itself there; the library has no switch for it.  After each death a fresh process
opens the ledger and asks the same question again.  What must hold, and is checked here:

- the chain is whole, and what is spent is either what was before or that and the price, nothing in between;
- once the data was touched the charge stands;
- the main file alone, copied without `-journal`, `-wal` or `-shm`, opened read-only, says the same;
- the same question ends with one charge and one answer: the stored one where one was stored, bit for bit;
- a question that no longer fits is refused, and nothing is left over beside the ledger's own files.

`--server`: ledgers on a PostgreSQL server, which outlives the curator; each death on a ledger of its own there.

Used by `tests/ledger/test_killed_at_every_step.py`, thinned.  Raises and limits are in `steps_of_acts.py`.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb  # noqa: F401  (imported before any child is made: imports are no steps)
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import tacit as tc
from tacit.curator import curator as door
from tacit.curator import mechanisms
from tacit.curator import purchase as requests
from tacit.errors import BudgetError, LedgerError
from tacit.ledger import Charge, Ledger, open_ledger
from tacit.release.document import Releases, releases_from_dict
from tacit.release.registry import ready

TACIT = Path(door.__file__).parent.parent
INSIDE = frozenset(
    str(path)
    for place in ("curator/*.py", "ledger/*.py", "source/*.py", "method/*/mechanism*.py", "noise/exact.py")
    for path in TACIT.glob(place)
)
"""Files whose lines are steps: those that touch rows, noise or the ledger."""
SCHEMA = tc.Schema({"age": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})
ASKED = {"mean": tc.Mean("age"), "count": tc.Count(by="sex")}
EARLIER, PRICE, BUDGET = "0.25", "0.5", tc.Budget(rho=1)


@dataclass(frozen=True)
class Found:
    """What a fresh process found after a death at step `k` (or without a death), before and after it asked again."""

    k: int
    before: str
    charges: int
    stored: bool
    problem: str
    alone: str = ""
    """What the main file alone says is spent; empty on a server."""


class Tracer:
    """Count executed lines of the traced modules and send SIGKILL before the k-th."""

    def __init__(self, kill_at: int | None) -> None:
        self.kill_at, self.steps = kill_at, list[tuple[str, int]]()

    def __call__(self, frame: Any, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in INSIDE:
            return None
        if event == "line":
            if len(self.steps) == self.kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            self.steps.append((frame.f_code.co_filename, frame.f_lineno))
        return self


def in_child(work: Callable[[], Any]) -> tuple[int, Any]:
    """Run in a forked process: (signal that ended it or 0, its answer as JSON)."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            answer = json.dumps(work())
        except BaseException:
            answer = json.dumps({"traceback": traceback.format_exc()})
        with os.fdopen(write, "w") as out:
            out.write(answer)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as said:
        text = said.read()
    status = os.waitpid(child, 0)[1]
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, json.loads(text) if text else None


def traced(work: Callable[[], Any], kill_at: int | None) -> list[tuple[str, int]]:
    tracer = Tracer(kill_at)
    sys.settrace(tracer)
    try:
        work()
    finally:
        sys.settrace(None)
    return tracer.steps


class Case:
    """A table, a ledger with one release in it, and the question whose answer is interrupted.

    The table is a file; where `thin`, in memory: half the time, and the same lines of the ledger and the door.
    """

    def __init__(self, folder: Path, ledger: Callable[[int], str], *, thin: bool) -> None:
        self.ledger = ledger
        rng = np.random.default_rng(0)
        table = pa.table({"age": rng.uniform(0, 100, 50), "sex": rng.choice(["f", "m"], 50)})
        self.data: object = table if thin else folder / "people.parquet"
        if not thin:
            pq.write_table(table, folder / "people.parquet")

    def curator(self, where: str) -> tc.Curator:
        return tc.Curator(self.data, SCHEMA, budget=BUDGET, ledger=where, name="people")

    def prepare(self, where: str) -> None:
        self.curator(where).release(tc.Mean("age"), rho=EARLIER, name="earlier")

    def ask(self, where: str) -> Any:
        return self.curator(where).release(ASKED, rho=PRICE)

    def spent(self, where: str) -> str:
        """Return what a ledger says is spent; "none" where it has not been made yet."""
        if "://" not in where and not Path(where).exists():
            return "none"
        try:
            return str(open_ledger(where, budget=None, unit=None).spent().rho)
        except BudgetError:  # no header yet: B11
            return "none"

    def alone(self, where: str) -> str:
        """What a copy of the main file says is spent, without whatever lies beside it; or the code of its refusal."""
        if "://" in where:
            return ""
        with tempfile.TemporaryDirectory() as name:
            if Path(where).exists():
                shutil.copy(where, Path(name) / "alone.ledger").chmod(0o400)
            try:
                return self.spent(str(Path(name) / "alone.ledger"))
            except LedgerError as refused:
                return refused.code

    def after(self, where: str) -> dict[str, Any]:
        """Return the state, then ask the question again, twice, and one that exceeds the budget."""
        ledger = open_ledger(where, budget=None, unit=None)
        ledger.verify()
        spent = ledger.spent().rho
        charges = ledger.charges()
        kept = [one.release for one in charges if "count" in one.names and one.release is not None]
        ledger.close()
        curator = self.curator(where)
        found = curator.release(ASKED, rho=PRICE)
        again = curator.release(ASKED, rho=PRICE)
        problems = []
        if {name: one.to_dict() for name, one in again.items()} != {name: one.to_dict() for name, one in found.items()}:
            problems.append("a second answer to one charge")
        if kept and json.loads(kept[0]) != json.loads(open_ledger(where, budget=None, unit=None).charges()[-1].release):
            problems.append("a stored answer was changed")
        if curator.spent.rho != BUDGET.limit.rho * 3 / 4:
            problems.append(f"spent {curator.spent.rho} after all")
        if [len(one.names) for one in open_ledger(where, budget=None, unit=None).charges()] != [1, 2]:
            problems.append("not two charges after all")
        try:
            curator.release(tc.Count(by="sex"), rho="0.3")
            problems.append("the budget was overspent")
        except BudgetError:
            pass
        curator.releases["earlier"].estimate()
        open_ledger(where, budget=None, unit=None).verify()
        return {"before": str(spent), "charges": len(charges), "stored": bool(kept), "problem": "; ".join(problems)}


def sweep(case: Case, steps: list[int], start: Callable[[int], str], *, fresh: bool) -> Iterator[Found]:
    """Kill at each of `steps`, each on its own ledger; with `fresh`, also while the ledger and its first release are
    made.
    """

    def work(where: str) -> Callable[[], Any]:
        def run() -> None:
            if fresh:
                case.prepare(where)
            case.ask(where)

        return run

    for k in steps:
        where = start(k)
        ended, said = in_child(lambda k=k, where=where: traced(work(where), k) and None)
        if ended != signal.SIGKILL:  # the noise takes a few steps more or less from run to run: a death not died
            if said is not None:
                yield Found(k, "?", 0, stored=False, problem=f"the child failed: {said}")
            continue
        alone = in_child(lambda where=where: case.alone(where))[1]
        if fresh:  # whatever was made of the first release is taken up again
            first = in_child(lambda where=where: case.spent(where))[1]
            in_child(lambda where=where: case.prepare(where))
        found = in_child(lambda where=where: case.after(where))[1]
        if fresh and "traceback" not in found:
            found["before"] = first
        if "traceback" in found:
            found = {"before": "?", "charges": 0, "stored": False, "problem": found["traceback"]}
        yield Found(k, **found, alone=alone if isinstance(alone, str) else str(alone))


def count(case: Case, where: str, *, fresh: bool) -> list[tuple[str, int]]:
    """All steps of one undisturbed run."""

    def run() -> list[tuple[str, int]]:
        return traced(lambda: (case.prepare(where) if fresh else None, case.ask(where)), None)

    found = in_child(run)[1]
    assert isinstance(found, list), found
    return [(name, line) for name, line in found]


def judge(found: list[Found], steps: list[tuple[str, int]]) -> list[str]:
    """Return every problem, and check the order: once the data was touched the charge stands, in all later deaths."""
    wrong = [f"step {one.k} {steps[one.k]}: {one.problem}" for one in found if one.problem]
    wrong += [] if found else ["no step was reached"]
    spent = [one for one in found if one.before not in ("1/4", "3/4")]
    wrong += [f"step {one.k} {steps[one.k]}: spent {one.before}" for one in spent]
    data = first_touch(steps)
    wrong += [f"step {one.k}: the charge was lost" for one in found if one.k > data and one.before != "3/4"]
    wrong += beside(found)
    order = [one.before == "3/4" for one in sorted(found, key=lambda one: one.k)]
    wrong += ["a charge came and went"] if order != sorted(order) else []
    return wrong


def beside(found: list[Found]) -> list[str]:
    """Describe the deaths after which something of the ledger lay beside its main file."""
    apart = [one for one in found if one.alone and one.alone != one.before]
    return [f"step {one.k}: the file alone says {one.alone}, not {one.before}" for one in apart]


def first_touch(steps: list[tuple[str, int]]) -> int:
    """The first step of `measure`, which reads rows: from here on the charge must stand."""
    lines, first = inspect.getsourcelines(mechanisms.measure)
    return min(
        i for i, (name, at) in enumerate(steps) if name == mechanisms.__file__ and first <= at < first + len(lines)
    )


def ledger_steps(steps: list[tuple[str, int]], *, last: bool = True) -> list[int]:
    """Return one step for each line of the ledger's and the curator's own files: its last (or first) execution."""
    sides = ("sqlite", "sqlite_layout", "ledger_files", "postgres")
    names = (
        "ledger",
        *sides,
        "chain",
        "entry_store",
        "chain_view",
        "entry_forms",
        "acts",
        "open_ledger",
        "stored_header",
    )
    doors = tuple(f"curator/{name}.py" for name in ("curator", "purchase", "request", "mechanisms", "guard"))
    own = (*doors, *(f"ledger/{name}.py" for name in names))
    order = enumerate(steps) if last else reversed(list(enumerate(steps)))
    return sorted({step: i for i, step in order if step[0].endswith(own)}.values())


def sqlite(folder: Path, *, thin: bool) -> tuple[Case, Callable[[int], str]]:
    """Each death on a copy of one prepared ledger."""
    case = Case(folder, str, thin=thin)
    base = folder / "base.ledger"
    in_child(lambda: case.prepare(str(base)))

    def start(k: int) -> str:
        made = folder / f"k{k}" / "people.ledger"
        made.parent.mkdir()
        for one in folder.glob("base.ledger*"):
            shutil.copy(one, made.parent / one.name.replace("base", "people"))
        return str(made)

    return case, start


def server(url: str, *, thin: bool, folder: Path) -> tuple[Case, Callable[[int], str]]:
    """Each death on a prepared ledger of its own."""
    case, run = Case(folder, str, thin=thin), os.urandom(4).hex()

    def start(k: int) -> str:
        made = f"{url}?ledger={run}-{k}"
        said = in_child(lambda: case.prepare(made))[1]
        assert said is None, said
        return made

    return case, start


def left_over(folder: Path) -> set[str]:
    """Return files beside the ledgers that do not belong to them."""
    own = ("people.ledger", "people.ledger.log")
    return {str(path) for path in folder.glob("k*/*") if path.name not in own}


def in_parallel(case: Case, steps: list[int], start: Callable[[int], str], *, fresh: bool, jobs: int) -> list[Found]:
    """`sweep` by several processes."""
    folder = Path(tempfile.mkdtemp())
    workers = []
    for i in range(jobs):
        worker = os.fork()
        if worker == 0:
            try:
                made = [vars(one) for one in sweep(case, steps[i::jobs], start, fresh=fresh)]
                (folder / f"{i}.json").write_text(json.dumps(made))
            finally:
                os._exit(0)
        workers.append(worker)
    for worker in workers:
        os.waitpid(worker, 0)
    found = [Found(**words) for i in range(jobs) for words in json.loads((folder / f"{i}.json").read_text())]
    shutil.rmtree(folder)
    return sorted(found, key=lambda one: one.k)


def charge_late() -> None:
    """Make the ledger record a charge only with its release, as a faulty one might; the check must find it."""
    charge, store = Ledger.charge, Ledger.store
    waiting: list[Any] = []

    def late(self: Ledger, request: Any) -> Any:
        waiting.append(request)
        return Charge(1, request.table, request.names, "", request.digest, request.cost, "", "2000-01-01", "0" * 64)

    def with_release(self: Ledger, number: int, document: str) -> str:
        made = charge(self, waiting.pop())
        named = releases_from_dict(json.loads(document)).items()
        own = Releases(tuple((name, replace(one, charge=made.number, head=made.head)) for name, one in named))
        return store(self, made.number, own.to_json())

    Ledger.charge, Ledger.store = late, with_release  # type: ignore[method-assign]
    # whoever charges late does not hold answers against charges either
    requests.stored = lambda charge, where: releases_from_dict(json.loads(charge.release))


def report(name: str, found: list[Found], steps: list[tuple[str, int]], wrong: list[str]) -> None:
    stored, charged = sum(one.stored for one in found), sum(one.before == "3/4" for one in found)
    print(f"{name}: {len(found)} deaths at {len(steps):,} steps, {charged} after the charge, {stored} after the store")
    same = sum(one.alone == one.before for one in found)
    print(f"the file alone says the same after {same} of them")
    print(f"problems: {wrong or 'none'}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--thin", action="store_true", help="every line of the ledger and the door, once")
    parser.add_argument("--prepared", action="store_true", help="not while a ledger is made")
    parser.add_argument("--server", default="", help="a PostgreSQL database: ledgers are made there and stay")
    parser.add_argument("--careless", action="store_true", help="charge after the data: must be found out")
    options = parser.parse_args()
    mechanisms.mechanism_of(tc.Mean("age"))  # as above: imports are no steps
    ready("moments")
    bad = 0
    if options.careless:
        charge_late()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case, start = (
            server(options.server, thin=options.thin, folder=folder)
            if options.server
            else sqlite(folder, thin=options.thin)
        )
        steps = count(case, start(-1), fresh=False)
        chosen = ledger_steps(steps) if options.thin else list(range(len(steps)))
        found = in_parallel(case, chosen[:: options.every], start, fresh=False, jobs=options.jobs)
        wrong = judge(found, steps)
        report("a release", found, steps, wrong)
        print(f"files left over: {left_over(folder) or 'none'}")
        bad += len(wrong) + len(left_over(folder))
    if bad or options.prepared:  # where there are problems, what follows would only say so again
        sys.exit(1 if bad else 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case, run = Case(folder, str, thin=options.thin), os.urandom(4).hex()

        def fresh_at(k: int) -> str:
            return f"{options.server}?ledger={run}-{k}" if options.server else str(folder / f"{k}.ledger")

        steps = count(case, fresh_at(-1), fresh=True)
        chosen = ledger_steps(steps, last=False) if options.thin else list(range(len(steps)))
        found = in_parallel(case, chosen[:: options.every], fresh_at, fresh=True, jobs=options.jobs)
        wrong = [f"step {one.k} {steps[one.k]}: {one.problem}" for one in found if one.problem]
        data = first_touch(steps)
        wrong += [f"step {one.k}: the charge was lost" for one in found if one.k > data and one.before in ("none", "0")]
        wrong += beside(found) + ([] if found else ["no step was reached"])
        report("a new ledger and two releases", found, steps, wrong)
        bad += len(wrong)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
