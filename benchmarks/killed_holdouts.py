"""Hold-outs killed at random steps: no charge has two answers or serves two processes, no threshold is stored.

    python benchmarks/killed_holdouts.py [--deaths 500] [--seed 1] [--careless WORD] [--page]

A process opens a hold-out on a ledger and asks; a trace in it counts the lines that it executes in `tacit.curator`,
`tacit.ledger`, `tacit.holdout` and `tacit.noise.exact`, and sends SIGKILL before a random one.  The next process opens
the same ledger and goes on, until the hold-out's answers are used up; then another ledger.  After each death:

- the chain is whole, and the charges are as many runs as were begun, each at the price of a run;
- every answer that was told names a charge that stands; all answers of one charge were told to one process; at most one
  of them is from the hold-out, it is the last one, and the ledger holds it as it was told;
- no number in the ledger or beside it is the noise of a threshold, which the processes write down for this check alone.

`--careless` plants a fault that must be found: "resume" lets a process go on with a charge that has no answer,
"store" writes the noisy threshold beside the ledger. `--page` writes the result to docs/reference/reusable-
holdout.md. Used by `tests/holdout/test_killed_holdouts.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import tempfile
import traceback
from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import duckdb  # noqa: F401  (imported before any child is made: imports are no steps)
import numpy as np
from pages import put

import tacit as tc
from tacit.curator import reusable_holdout as door
from tacit.errors import BudgetError
from tacit.holdout import mechanism_holdout
from tacit.ledger import Ledger, open_ledger
from tacit.release.registry import ready

TACIT: Final = Path(door.__file__).parent.parent
INSIDE: Final = frozenset(
    str(path)
    for place in ("curator/*.py", "ledger/*.py", "holdout/*.py", "noise/exact.py")
    for path in TACIT.glob(place)
)
SCHEMA: Final = tc.Schema({"right": tc.Boolean()})
TABLE: Final = {"right": np.arange(400) % 2 == 0}
ANSWERS, PRICE = 6, 6
CHECKS: Final = (0.5, 0.5, 1.0, 0.5, 0.0)
PAGE: Final = TACIT.parents[1] / "docs" / "reference" / "reusable-holdout.md"
PART: Final = """
## Killed

Processes that ask a hold-out of six answers on one ledger, killed at random steps until its answers are used up, then
on another ledger: {deaths:,} deaths on {ledgers:,} ledgers, {told:,} answers told before them, {answers:,} of these
from the hold-out. After each death: the chain is whole, every answer's charge stands, no charge served two processes
or had two answers from the hold-out, each stored answer is the one that was told, and no noise of a threshold is among
the numbers in the ledger or beside it. Problems: {problems}.
"""
NUMBER: Final = re.compile(r"(?<![0-9a-f.])\d+(?![0-9a-f.])")


@dataclass
class Found:
    """What all deaths left: how many there were, how many answers were told before one, and every problem."""

    deaths: int = 0
    told: int = 0
    answers: int = 0
    ledgers: int = 0
    wrong: list[str] = field(default_factory=list[str])


class Place:
    """One ledger with what its processes were told, and the noises that they drew."""

    def __init__(self, folder: Path) -> None:
        self.ledger, self.told, self.drawn = (folder / name for name in ("held.ledger", "told", "drawn"))

    def session(self) -> None:
        """One process: ask until the answers are used up."""
        curator = tc.Curator(TABLE, SCHEMA, budget=tc.Budget(epsilon=100), ledger=self.ledger, name="held-out")
        with curator.holdout(threshold=0.2, epsilon=PRICE, answers=ANSWERS) as holdout:
            for at in range(10_000):
                try:
                    one = holdout.check(train=CHECKS[at % len(CHECKS)], score="right")
                except BudgetError:
                    return
                self.tell({"pid": os.getpid(), "run": one.run, "differs": one.differs, "value": one.value})

    def tell(self, words: dict[str, Any]) -> None:
        """One answer leaves the process."""
        append(self.told, words)

    def read(self, place: Path) -> list[dict[str, Any]]:
        return [json.loads(line) for line in place.read_text().splitlines()] if place.exists() else []

    def problems(self) -> list[str]:
        """Return what must not be."""
        if not self.ledger.exists():
            return ["answers without a ledger"] if self.told.exists() else []
        try:
            ledger = open_ledger(str(self.ledger), budget=tc.Budget(epsilon=100), unit=None)
            ledger.verify()
            charges = ledger.charges()
            spent = ledger.spent().epsilon
            ledger.close()
        except Exception:
            return [traceback.format_exc()]
        wrong = [] if spent == len(charges) * Fraction(PRICE, ANSWERS) else [f"spent {spent} on {len(charges)} runs"]
        return wrong + self.told_twice({one.number: one for one in charges}) + self.stored_noises()

    def told_twice(self, charges: dict[int, Any]) -> list[str]:
        runs: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for one in self.read(self.told):
            runs[one["run"]].append(one)
        wrong: list[str] = []
        for number, told in runs.items():
            if number not in charges:
                wrong.append(f"an answer without its charge {number}")
                continue
            if len({one["pid"] for one in told}) > 1:
                wrong.append(f"charge {number} served two processes")
            from_rows = [i for i, one in enumerate(told) if one["differs"]]
            if len(from_rows) > 1 or (from_rows and from_rows[0] != len(told) - 1):
                wrong.append(f"charge {number} was answered twice")
            if from_rows and charges[number].release is None:
                wrong.append(f"the answer of charge {number} is not stored")
            elif from_rows:
                (stored,) = tc.Releases(door.stored(charges[number], str(self.ledger)).items_).values()
                if float(stored.estimate().value) != told[-1]["value"]:
                    wrong.append(f"charge {number} was told another answer than is stored")
        return wrong

    def stored_noises(self) -> list[str]:
        numbers: set[str] = set()
        for path in self.ledger.parent.glob("held.ledger*"):
            numbers |= set(NUMBER.findall(path.read_bytes().decode("utf-8", errors="replace")))
        return [f"noise {one['noise']} is stored" for one in self.read(self.drawn) if str(abs(one["noise"])) in numbers]


def append(place: Path, words: dict[str, Any]) -> None:
    """Append one line in one write, which a kill does not cut."""
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(handle, (json.dumps(words) + "\n").encode())
    os.close(handle)


def writing_down(place: Path) -> None:
    """Make runs write their threshold's noise beside, for the check alone."""
    begin = mechanism_holdout.Run.__init__

    def noted(self: Any, design: Any) -> None:
        begin(self, design)
        append(place, {"noise": self._noise})

    mechanism_holdout.Run.__init__ = noted  # type: ignore[method-assign]


def child(place: Path, at: int | None) -> tuple[bool, int]:
    """Run a session in a forked process that kills itself before step `at`: (whether it was killed, steps it took)."""
    read, write = os.pipe()
    one = os.fork()
    if one == 0:
        steps = 0

        def trace(frame: Any, event: str, _: Any) -> Any:
            nonlocal steps
            if frame.f_code.co_filename not in INSIDE:
                return None
            if event == "line":
                if steps == at:
                    os.kill(os.getpid(), signal.SIGKILL)
                steps += 1
            return trace

        writing_down(Place(place).drawn)
        try:
            sys.settrace(trace)
            Place(place).session()
            sys.settrace(None)
            os.write(write, str(steps).encode())
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(write)
    with os.fdopen(read) as said:
        text = said.read()
    status = os.waitpid(one, 0)[1]
    if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status) != 0:
        raise RuntimeError("a session failed")
    return os.WIFSIGNALED(status), int(text or 0)


def sweep(deaths: int, seed: int) -> Found:
    """Kill so many sessions, ledger after ledger."""
    rng, found = np.random.default_rng(seed), Found()
    with tempfile.TemporaryDirectory() as name:
        first = Path(name, "first")
        first.mkdir()
        most = child(first, None)[1]
        while found.deaths < deaths:
            found.ledgers += 1
            folder = Path(name, f"{found.ledgers}")
            folder.mkdir()
            going = True
            # half the deaths are early, so that one ledger sees several processes
            while going and found.deaths < deaths:
                at = int(rng.integers(most if rng.random() < 0.5 else most // 6))
                going = child(folder, at)[0]
                found.deaths += going
                found.wrong += [f"ledger {found.ledgers}: {one}" for one in Place(folder).problems()]
            told = Place(folder).read(Place(folder).told)
            found.told, found.answers = found.told + len(told), found.answers + sum(one["differs"] for one in told)
    return found


def careless(word: str) -> None:
    """Plant a fault that the check must find."""
    if word == "resume":
        charge = Ledger.charge
        Ledger.find = lambda self, digest, find=Ledger.find: (  # type: ignore[method-assign]
            None if (one := find(self, digest)) is not None and one.release is None else one
        )
        Ledger.charge = lambda self, request, *, new=False: charge(self, request)  # type: ignore[method-assign]
        return
    assert word == "store", word
    begin = door.Run.__init__

    def stored(self: Any, design: Any) -> None:
        begin(self, design)
        append(Path(os.environ["HELD"]), {"noise": self._noise})

    door.Run.__init__ = stored  # type: ignore[method-assign]
    session = Place.session

    def beside(self: Place) -> None:
        os.environ["HELD"] = str(self.ledger) + ".log"
        session(self)

    Place.session = beside  # type: ignore[method-assign]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deaths", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--careless", default="")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    ready("moments")
    tc.Curator(TABLE, SCHEMA, budget=tc.Budget(epsilon=9)).release(tc.Mean("right"), epsilon=1).estimate()
    if options.careless:
        careless(options.careless)
    found = sweep(options.deaths, options.seed)
    print(f"{found.deaths} deaths on {found.ledgers} ledgers; {found.told} answers told, {found.answers} from rows")
    print(f"problems: {sorted(set(found.wrong))[:5] or 'none'}")
    if options.page:
        put(
            PAGE,
            "killed_holdouts.py",
            PART.format(**vars(found), problems="; ".join(sorted(set(found.wrong))) or "none"),
        )
    sys.exit(1 if found.wrong else 0)


if __name__ == "__main__":
    main()
