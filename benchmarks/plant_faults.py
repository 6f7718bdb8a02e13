"""Small faults, planted one at a time in a copy of the tree: the tests that are named with each must fail.

    python benchmarks/plant_faults.py [--only PART ...] [--sample K] [--seed S] [--record FILE] [--jobs 4] [--list]

The faults are in `benchmarks/faults/`: a line of the package as it stands, the same line gone wrong, what would be
wrong for a user, and the tests that see it.  They are run some at a time: first their named tests must pass without a
fault; then each fault is written into a copy (one for each job), its tests are run there until one fails, and the line
is put back.  The tree itself is only read; copies are gone at the end, also after an interrupt.

Prints every fault with the test that saw it, or UNSEEN.  Exit 1 where one is unseen, where a line is not there exactly
once, or where a named test does not pass without a fault.

`--only`: faults whose list, module or description has one of these parts.  `--sample`: K of them, drawn at random.
`--record`: a file of what was seen, a line at a time; what it holds is not run again until the module, the fault or a
file of its tests changes, so that a run that was interrupted goes on.  `--list`: print the faults, and run nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, count
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from faults.fault import Fault  # noqa: E402

COPIED = ("src", "tests", "benchmarks", "scripts", "docs", "examples", "conftest.py", "pyproject.toml", "README.md")
PYTEST = (
    "-m",
    "pytest",
    "-q",
    "-p",
    "no:cacheprovider",
    "--tb=no",
    "--timeout=200",
    "--hypothesis-profile=planted",
    "-rfE",
)
PATIENCE = 900
"""Seconds for the tests of one fault."""
SECONDS = count(1_000_000_000)
"""Times of changed modules, no two alike."""
AT_A_TIME = 40
"""Faults whose tests are run together without a fault."""


def collected() -> dict[str, tuple[Fault, ...]]:
    """All faults, by the name of their list."""
    names = sorted(path.stem for path in (ROOT / "benchmarks" / "faults").glob("*.py"))
    lists = {name: importlib.import_module(f"faults.{name}") for name in names if name not in ("fault", "__init__")}
    return {name: tuple(module.FAULTS) for name, module in lists.items()}


def place_of(module: str, root: Path = ROOT) -> Path:
    """The file of a module."""
    at = root.joinpath("src", *module.split("."))
    return at / "__init__.py" if at.is_dir() else at.with_suffix(".py")


def planted(fault: Fault, text: str) -> str:
    """Return the text of its module with the fault; ValueError where the line does not occur exactly once."""
    found = text.count(fault.before)
    if found != 1:
        raise ValueError(f"the line of a fault occurs {found} times in {fault.module}: {fault.before!r}")
    return text.replace(fault.before, fault.after)


@dataclass(frozen=True)
class Outcome:
    """The result of one fault: the test that saw it, or what was wrong."""

    fault: Fault
    seen: str | None
    problem: str
    seconds: float


@cache
def _digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def digest(fault: Fault) -> str:
    """Return a digest of a fault, of its module and of the files of its tests: what its outcome depends on first."""
    files = [place_of(fault.module), *(ROOT / one for one in sorted({test.partition("::")[0] for test in fault.tests}))]
    texts = [fault.module, fault.before, fault.after, *fault.tests, *map(_digest_of, files)]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


class Record:
    """What earlier runs saw, by digest: a file of one line of JSON for each fault.  Without a file it is empty."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._seen: dict[str, str] = {}
        text = file.read_text(encoding="utf-8") if file is not None and file.exists() else ""
        for line in text.splitlines():
            with suppress(ValueError):  # the last line of a run that was killed
                one = json.loads(line)
                self._seen[one["digest"]] = one["seen"]

    def seen(self, fault: Fault) -> str | None:
        """Return the test that saw this fault in an earlier run, in the same module."""
        return self._seen.get(digest(fault))

    def add(self, one: Outcome) -> None:
        """Append a fault that was seen."""
        if self._file is None or one.seen is None:
            return
        entry = {"digest": digest(one.fault), "module": one.fault.module, "why": one.fault.why, "seen": one.seen}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**entry, "seconds": round(one.seconds, 1)}, ensure_ascii=False) + "\n")


class StoppedError(Exception):
    """Somebody asked to stop."""


class Runner:
    """Copies of the tree, one for each job, and the processes that run tests in them."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self._folder = folder
        self._free: SimpleQueue[Path] = SimpleQueue()
        self._running: set[subprocess.Popen[str]] = set()
        self._servers: dict[Path, subprocess.Popen[str]] = {}
        self._lock = threading.Lock()
        self._stopped = False
        for job in range(jobs):
            self._free.put(_copied(folder / f"{job}"))

    def without_faults(self, faults: Iterable[Fault], jobs: int) -> dict[Fault, str]:
        """Faults whose tests do not all pass in the tree as it is, and why."""
        faults, copy = tuple(faults), self._free.get()
        more = ("-n", str(jobs), "--dist", "loadgroup") if jobs > 1 else ()
        code, said = self._pytest(copy, [*more, *sorted({test for one in faults for test in one.tests})], None)
        self._free.put(copy)
        if code == 0:
            return {}
        nodes = failed(said) if code == 1 else []
        if not nodes:
            return dict.fromkeys(faults, f"without a fault: pytest ended with {code}: {said.strip()[-500:]}")
        found = {one: [node for node in nodes if any(names(test, node) for test in one.tests)] for one in faults}
        return {one: f"fails without a fault: {', '.join(nodes)}" for one, nodes in found.items() if nodes}

    def plant(self, fault: Fault) -> Outcome:
        """Runs the tests of a fault in a copy that has it."""
        start, copy = time.monotonic(), self._free.get()
        place = place_of(fault.module, copy)
        text = place.read_text(encoding="utf-8")
        try:
            _write(place, planted(fault, text))
            code, said = self._forked(copy, ["-x", *fault.tests], PATIENCE)
        except ValueError as problem:
            return Outcome(fault, None, str(problem), 0.0)
        finally:
            _write(place, text)
            self._free.put(copy)
        nodes = failed(said)
        problem = "" if code in (0, 1) else f"pytest ended with {code}: {said.strip().splitlines()[-1:]}"
        return Outcome(fault, nodes[0] if code == 1 and nodes else None, problem, time.monotonic() - start)

    def stop(self) -> None:
        """Ends all processes; no further one is started."""
        with self._lock:
            self._stopped = True
            running, servers = list(self._running), list(self._servers.values())
        for process in running:
            _kill(process)
        for server in servers:
            server.terminate()  # it ends its child, which is in a group of its own
            server.wait()

    def _pytest(self, copy: Path, words: Sequence[str], seconds: float | None) -> tuple[int, str]:
        """Run pytest in a process of its own."""
        process = self._started(copy, [*PYTEST, *words], self._running.add)
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            _kill(process)
            process.wait()
            return 1, "FAILED (no end)"
        finally:
            with self._lock:
                self._running.discard(process)
        if self._stopped:
            raise StoppedError
        return process.returncode, said

    def _forked(self, copy: Path, words: Sequence[str], seconds: float) -> tuple[int, str]:
        """Run pytest in a child of the copy's server (`forked_pytest.py`), or alone where nothing forks."""
        if not hasattr(os, "fork"):
            return self._pytest(copy, words, seconds)
        if copy not in self._servers:
            script = str(copy / "benchmarks" / "forked_pytest.py")
            self._started(copy, [script], partial(self._servers.__setitem__, copy), asked=True)
        server = self._servers[copy]
        assert server.stdin is not None
        assert server.stdout is not None
        with suppress(BrokenPipeError):
            print(json.dumps({"words": [*PYTEST[2:], *words], "seconds": seconds}), file=server.stdin, flush=True)
        line = server.stdout.readline()
        if self._stopped:
            raise StoppedError
        if not line:
            del self._servers[copy]
            return 3, "the process that forks has ended"
        told = json.loads(line)
        return told["code"], told["said"]

    def _started(
        self, copy: Path, words: Sequence[str], keep: Callable[[subprocess.Popen[str]], None], asked: bool = False
    ) -> subprocess.Popen[str]:
        """Start Python in a copy, and keep the process among those that `stop` ends; `asked`: line by line."""
        environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "CI": "1", "TMPDIR": str(self._folder / "tmp")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # to compile all modules again takes longer than most tests
        (self._folder / "tmp").mkdir(exist_ok=True)
        with self._lock:
            if self._stopped:
                raise StoppedError
            process = subprocess.Popen(
                [sys.executable, *words],
                cwd=copy,
                env=environment,
                stdin=subprocess.PIPE if asked else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if asked else subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            keep(process)
        return process


def failed(said: str) -> list[str]:
    """The node ids of tests that failed, from what pytest printed."""
    return re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", said, re.MULTILINE)


def names(test: str, node: str) -> bool:
    """Whether a named test, which may be a file or all cases of a function, has this node, whose end may be cut."""
    return node == test or node.startswith((f"{test}::", f"{test}[")) or ("[" in node and test.startswith(node))


def _kill(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _copied(target: Path) -> Path:
    """The tree as the tests need it, without what was built."""
    target.mkdir(parents=True)
    left = shutil.ignore_patterns("__pycache__", "*.pyc", ".hypothesis")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=left)
        elif source.exists():
            shutil.copy2(source, target / name)
    return target


def _write(place: Path, text: str) -> None:
    """Write a module's text with a time of its own: compiled files are known by the second, and by the size."""
    place.write_text(text, encoding="utf-8")
    second = next(SECONDS)
    os.utime(place, (second, second))


def chosen(parts: Sequence[str] | None, sample: int | None = None, seed: int = 0) -> list[tuple[str, Fault]]:
    """Return the faults whose list, module or description contains one of these texts, or a sample of them."""
    every = [(name, fault) for name, faults in collected().items() for fault in faults]
    some = [
        (name, one)
        for name, one in every
        if parts is None or any(part in f"{name} {one.module} {one.why}" for part in parts)
    ]
    if sample is None or sample >= len(some):
        return some
    return [some[i] for i in sorted(random.Random(seed).sample(range(len(some)), sample))]


def run(faults: Sequence[Fault], jobs: int, folder: Path, record: Record) -> list[Outcome]:
    """Return the outcome of each fault; progress goes to stderr."""
    done = [Outcome(one, seen, "", 0.0) for one in faults if (seen := record.seen(one)) is not None]
    known = {one.fault for one in done}
    left = [one for one in faults if one not in known]
    print(f"{len(faults)} faults, {len(known)} of them seen earlier; {jobs} jobs", file=sys.stderr, flush=True)
    runner, width = Runner(folder, jobs), len(str(len(faults)))
    pool = ThreadPoolExecutor(jobs)
    try:
        for start in range(0, len(left), AT_A_TIME):
            some = left[start : start + AT_A_TIME]
            wrong = runner.without_faults(some, jobs)
            futures = [pool.submit(runner.plant, one) for one in some if one not in wrong]
            unrun = (Outcome(one, None, why, 0.0) for one, why in wrong.items())
            for found in chain(unrun, (future.result() for future in futures)):
                done.append(found)
                record.add(found)
                word = "seen  " if found.seen else "UNSEEN"
                said = f"[{len(done):{width}}/{len(faults)}] {word} {found.seconds:5.1f} s  {found.fault.module}"
                print(f"{said}: {found.fault.why}", file=sys.stderr, flush=True)
        return done
    finally:
        runner.stop()
        pool.shutdown(wait=True, cancel_futures=True)


def table(done: Iterable[Outcome]) -> str:
    """One entry for each fault: what it is, and who saw it."""
    return "\n".join(
        f"{one.fault.module}: {one.fault.why}\n    {one.seen or 'UNSEEN ' + one.problem}".rstrip() for one in done
    )


def _ended(*_: Any) -> NoReturn:
    raise KeyboardInterrupt


def main() -> int:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description="Plants small faults, and looks for the tests that see them.")
    parser.add_argument("--only", metavar="PART", nargs="+", help="faults whose list, module or description has a part")
    parser.add_argument("--sample", metavar="K", type=int, help="K of these faults, drawn at random")
    parser.add_argument("--seed", metavar="S", type=int, default=0, help="of the sample")
    parser.add_argument("--record", metavar="FILE", type=Path, help="what was seen, not run again until it changes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="tests at a time")
    parser.add_argument("--list", action="store_true", help="print the faults, and run nothing")
    words = parser.parse_args()
    faults = chosen(words.only, words.sample, words.seed)
    if words.list:
        print("\n".join(f"{name}  {one.module}: {one.why}" for name, one in faults))
        return 0
    signal.signal(signal.SIGTERM, _ended)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        try:
            jobs = max(1, min(words.jobs, len(faults)))
            done = run([one for _, one in faults], jobs, Path(folder), Record(words.record))
        except (KeyboardInterrupt, StoppedError):
            print("stopped", file=sys.stderr)
            return 130
    print(table(done))
    unseen = sum(one.seen is None for one in done)
    print(f"\n{len(done)} faults, {len(done) - unseen} seen, {unseen} unseen, {time.monotonic() - start:.0f} s")
    return 1 if unseen or not done else 0


if __name__ == "__main__":
    sys.exit(main())
