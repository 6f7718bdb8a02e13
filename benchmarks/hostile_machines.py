"""`tacit release` on machines that fail: killed, interrupted, out of disk, memory or handles, read-only, two at once.

    python benchmarks/hostile_machines.py [--trials 300] [--seed 3] [--only killed ...] [--careless]

Each trial is a folder with a curator's file of five questions (sums, cells, a selection, levels that nobody listed, a
bootstrap), a CSV file and sometimes a ledger that has an earlier answer.  A forked process runs the command there and
something happens to it: SIGKILL or SIGINT at a random moment; a limit on the size of files, on memory or on open files;
a full file system; a read-only one; a clock that runs backward; a second process with the same command.  Afterwards, in
processes to which nothing happens:

- `tacit budget` reads the ledger, which holds no charge or one, at the price;
- `tacit release` ends with exit code 0, one charge and one answer; an answer that was shown before is that answer;
- `tacit budget --check` finds the file to be what the ledger stored;
- a process that was not killed ended with a declared exit code and no traceback; the answer that it wrote is charged.

Mounts need the rights for them; those trials are left out where the machine refuses.  `--careless` refunds a charge
that has no answer, which must be found.  Used by `tests/ledger/test_hostile_machines.py`, thinned.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import duckdb  # noqa: F401  (imported before any child is made)
import numpy as np
from fuzzing import finished, written_table

import tacit as tc
from tacit.cli import main as typed
from tacit.ledger import Ledger, open_ledger
from tacit.release.registry import ready

JOB: Final = """
tacit = 1
[table]
name = "t"
[data]
path = "t.csv"
ledger = "t.ledger"
[budget]
epsilon = 6
delta = 1e-5
reserved_delta = 2e-6
[schema]
x = { type = "Real", lower = 0, upper = 10 }
g = { type = "Category", levels = ["a", "b"] }
w = { type = "Text", max_length = 4 }
[spend]
epsilon = 4
delta = 1e-6
[ask.m]
query = "Mean"
columns = "x"
by = "g"
[ask.h]
query = "Histogram"
columns = ["x", "g"]
bins = { x = 40 }
[ask.q]
query = "Quantiles"
column = "x"
probs = [0.5]
[ask.u]
query = "UnlistedLevels"
column = "w"
[ask.b]
query = "Bootstrap"
statistic = { query = "Mean", columns = "x" }
replicates = 5
"""
BEFORE: Final = (
    JOB[: JOB.index("[ask.m]")].replace("epsilon = 4\n", "epsilon = 0.5\n")
    + """
[ask.first]
query = "Count"
by = "g"
"""
)
BUDGET: Final = tc.Budget(epsilon=6, delta="1e-5", reserved_delta="2e-6")
DECLARED: Final = (0, 2, 3, 5, 130)
"""Exit codes of a process that was not killed: done, bad input, budget refused, the machine failed, interrupted."""
OWN: Final = {"job.toml", "before.toml", "t.csv", "t.ledger", "t.ledger.log", "job.release.json", "before.release.json"}


@dataclass
class Found:
    """What was tried, how it ended, and what was wrong."""

    ends: Counter[str] = field(default_factory=Counter[str])
    left: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    texts: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Ended:
    """How a process ended: exit code, or minus the signal, and what it wrote on both streams."""

    code: int
    said: str


def begun(home: Path, words: tuple[str, ...], prepare: Callable[[], None] | None = None) -> tuple[int, Path]:
    """Begin a command in a forked process and a folder; return its id and the file with what it says."""
    handle, name = tempfile.mkstemp(prefix="said")
    process = os.fork()
    if process:
        os.close(handle)
        return process, Path(name)
    code = 99
    try:
        os.chdir(home)
        out = io.StringIO()
        sys.argv = ["tacit", *words]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                if prepare is not None:
                    prepare()
                typed()
            except SystemExit as left:
                code = int(str(left.code))
            except BaseException:
                traceback.print_exc(file=out)
                code = 98
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.getrlimit(resource.RLIMIT_FSIZE)[1],) * 2)
        os.write(handle, out.getvalue().encode(errors="replace"))
    finally:
        os._exit(code)


def ended(process: int, said: Path) -> Ended:
    """Wait for a process."""
    status = os.waitpid(process, 0)[1]
    text = said.read_text(encoding="utf-8", errors="replace")
    said.unlink()
    return Ended(-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status), text)


def run(home: Path, *words: str, prepare: Callable[[], None] | None = None) -> Ended:
    """Run a command to its end."""
    return ended(*begun(home, words, prepare))


# What happens -------------------------------------------------------------------------------------------------------


def at_a_moment(number: int) -> Callable[[Path, np.random.Generator, float], Ended]:
    """A signal at a random moment of the time that a command takes."""

    def happens(home: Path, rng: np.random.Generator, usual: float) -> Ended:
        process, said = begun(home, ("release", "job.toml"))
        time.sleep(float(rng.uniform(0, usual)))
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)
        return ended(process, said)

    return happens


def limited(which: int, low: int, high: int) -> Callable[[Path, np.random.Generator, float], Ended]:
    """A limit of the process, drawn on a logarithmic scale."""

    def happens(home: Path, rng: np.random.Generator, usual: float) -> Ended:
        most = int(np.exp(rng.uniform(np.log(low), np.log(high))))
        if which == resource.RLIMIT_AS:  # above what the process has already
            most += int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")

        def prepare() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(which, (most, resource.getrlimit(which)[1]))

        return run(home, "release", "job.toml", prepare=prepare)

    return happens


def full(home: Path, rng: np.random.Generator, usual: float) -> Ended:
    """A file system that is filled up but for a few pages."""
    room = int(rng.integers(0, 40)) * 4096
    with (home / "other").open("wb", buffering=0) as out, contextlib.suppress(OSError):
        while True:
            out.write(bytes(4096))
    os.truncate(home / "other", max(0, (home / "other").stat().st_size - room))
    found = run(home, "release", "job.toml")
    (home / "other").unlink()
    return found


def read_only(home: Path, rng: np.random.Generator, usual: float) -> Ended:
    """A file system that was remounted read-only."""
    subprocess.run(["mount", "-o", "remount,ro", str(home)], check=True)
    found = run(home, "release", "job.toml")
    subprocess.run(["mount", "-o", "remount,rw", str(home)], check=True)
    return found


def backward(home: Path, rng: np.random.Generator, usual: float) -> Ended:
    """A clock that says an earlier day than the ledger's last entry, and than the epoch."""
    day = [datetime.date(1969, 12, 31), datetime.date(1, 1, 1), datetime.date(9999, 12, 31)][int(rng.integers(3))]

    def prepare() -> None:
        class Day(datetime.date):
            @classmethod
            def today(cls) -> Any:
                return day

        datetime.date = Day  # type: ignore[misc]

    return run(home, "release", "job.toml", prepare=prepare)


def together(home: Path, rng: np.random.Generator, usual: float) -> Ended:
    """Two processes with one command; in half the trials the first is killed."""
    first, second = begun(home, ("release", "job.toml")), begun(home, ("release", "job.toml"))
    if rng.random() < 0.5:
        time.sleep(float(rng.uniform(0, usual)))
        with contextlib.suppress(ProcessLookupError):
            os.kill(first[0], signal.SIGKILL)
    ended(*first)
    return ended(*second)


HAPPENS: Final[dict[str, Callable[[Path, np.random.Generator, float], Ended]]] = {
    "killed": at_a_moment(signal.SIGKILL),
    "interrupted": at_a_moment(signal.SIGINT),
    "file size": limited(resource.RLIMIT_FSIZE, 100, 300_000),
    "memory": limited(resource.RLIMIT_AS, 2**20, 2**29),
    "open files": limited(resource.RLIMIT_NOFILE, 3, 40),
    "full disk": full,
    "read-only": read_only,
    "clock": backward,
    "two at once": together,
}
MOUNTED: Final = ("full disk", "read-only")


# Trials -------------------------------------------------------------------------------------------------------------


def prepared(home: Path, rng: np.random.Generator) -> int:
    """Files of a trial; returns how many charges the ledger has already."""
    (home / "job.toml").write_text(JOB, encoding="utf-8")
    (home / "before.toml").write_text(BEFORE, encoding="utf-8")
    rows = 300
    lines = [f"{rng.uniform(-1, 11):.4f},{'ab'[i % 2]},{('flu', 'cold')[i % 2]}" for i in range(rows)]
    written_table(home / "t.csv", "x,g,w", lines)
    if rng.random() < 0.5:
        return 0
    found = run(home, "release", "before.toml")
    if found.code:
        raise RuntimeError(found.said)
    return 1


def documents(home: Path) -> Any:
    """The answers in the file, without what is said of the budget; None where there is no file."""
    path = home / "job.release.json"
    return json.loads(path.read_text(encoding="utf-8"))["releases"] if path.exists() else None


def charged(home: Path) -> list[Any]:
    """The charges of the ledger; none without one."""
    if not (home / "t.ledger").exists() or not (home / "t.ledger").stat().st_size:
        return []
    ledger = open_ledger(str(home / "t.ledger"), budget=BUDGET, unit=None)
    ledger.verify()
    found = ledger.charges()
    ledger.close()
    return found


def problems(home: Path, before: int, kind: str, happened: Ended) -> list[str]:
    """What must not be, after something happened to a process."""
    wrong: list[str] = []
    # without memory for a thread the C library ends the process by itself
    died = happened.code < 0 or (kind == "memory" and happened.code == 127)
    if not died and (happened.code not in DECLARED or "Traceback" in happened.said):
        wrong.append(f"exit {happened.code}: {happened.said[-600:]}")
    try:
        shown, held = documents(home), charged(home)
    except Exception:
        return [*wrong, f"cannot be read: {traceback.format_exc()[-600:]}"]
    if len(held) - before not in (0, 1):
        wrong.append(f"{len(held)} charges, {before} before")
    if shown is not None and (len(held) == before or held[-1].release is None):
        wrong.append("an answer was written and is not stored by a charge")
    if (home / "t.ledger").exists() and (home / "t.ledger").stat().st_size:
        listed = run(home, "budget", "t.ledger")
        if listed.code:
            wrong.append(f"tacit budget: exit {listed.code}: {listed.said[-300:]}")
    again = run(home, "release", "job.toml")
    if again.code:
        return [*wrong, f"asked again: exit {again.code}: {again.said[-600:]}"]
    after = charged(home)
    if len(after) != before + 1:
        wrong.append(f"{len(after)} charges in the end, {before} before")
    if len(held) > before and after[-1].head != held[-1].head:
        wrong.append("the charge is another one")
    if shown is not None and documents(home) != shown:
        wrong.append("another answer than was shown")
    if len(held) > before and held[-1].release not in (None, after[-1].release):
        wrong.append("another answer than was stored")
    check = run(home, "budget", "t.ledger", "--check", "job.release.json")
    if check.code:
        wrong.append(f"--check: exit {check.code}: {check.said[-300:]}")
    return wrong


@contextlib.contextmanager
def mounted(home: Path) -> Any:
    """A small file system of its own; None where the machine refuses."""
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(home)], capture_output=True, check=False
    )
    try:
        yield done.returncode == 0
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", "-l", str(home)], check=True)


def tried(number: int, seed: int, kind: str, found: Found, folder: Path, usual: float) -> None:
    """One trial."""
    rng = np.random.default_rng([seed, number])
    home = folder / str(number)
    home.mkdir()
    with mounted(home) if kind in MOUNTED else contextlib.nullcontext(True) as there:
        if not there:
            found.ends[f"{kind}: not tried, no mounts here"] += 1
            return
        before = prepared(home, rng)
        happened = HAPPENS[kind](home, rng, usual)
        end = f"{kind}: {'signal' if happened.code < 0 else 'exit'} {abs(happened.code)}"
        found.ends[end] += 1
        found.texts.setdefault(f"{end} {happened.said.partition(']')[0][-40:]}", happened.said[-400:].strip())
        here = [f"{number} {kind}: {one}" for one in problems(home, before, kind, happened)]
        print("\n".join(here), end="\n" if here else "", flush=True)
        found.wrong += here
        more = {one.name for one in home.iterdir()} - OWN
        found.left.update(f"{kind}: {name if len(name) < 20 else name[:18] + '…'}" for name in more)
    shutil.rmtree(home, ignore_errors=True)


def swept(trials: int, seed: int, only: list[str] | None = None, progress: bool = False) -> Found:
    """Try so many times, each kind in turn."""
    found, kinds = Found(), only or list(HAPPENS)
    for room in ("moments", "histogram", "quantiles", "unlisted-levels", "bootstrap"):
        with contextlib.suppress(Exception):
            ready(room)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "usual")
        home.mkdir()
        prepared(home, np.random.default_rng(2))
        start = time.monotonic()
        first = run(home, "release", "job.toml")
        usual = time.monotonic() - start
        if first.code:
            raise RuntimeError(first.said)
        for number in range(trials):
            tried(number, seed, kinds[number % len(kinds)], found, Path(folder), usual)
            if progress and number % 20 == 19:
                print(f"… {number + 1}: {len(found.wrong)} wrong", flush=True)
    return found


def careless() -> None:
    """Plant a fault that must be found: a charge without an answer is forgotten, and made anew."""
    charge = Ledger.charge

    def anew(self: Any, request: Any, *, new: bool = False) -> Any:
        known = self.find(request.digest)
        if known is not None and known.release is None:
            words = {**json.loads(request.question), "again": os.getpid()}
            request = type(request)(**{**vars(request), "question": json.dumps(words), "names": ()})
        return charge(self, request, new=new)

    Ledger.charge = anew  # type: ignore[method-assign]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--careless", action="store_true")
    parser.add_argument("--texts", action="store_true", help="print one message of each end")
    options = parser.parse_args()
    if options.careless:
        careless()
    found = swept(options.trials, options.seed, options.only, progress=True)
    for name, count in sorted(found.ends.items()):
        print(f"{name:<36} {count:>5,}")
    for name, count in sorted(found.left.items()):
        print(f"left over, {name:<36} {count:>5,}")
    for end, text in sorted(found.texts.items()) if options.texts else ():
        print(f"\n{end}\n    {text}")
    finished(found.wrong)


if __name__ == "__main__":
    main()
