"""The committed list of small faults (`benchmarks/plant_faults.py`) is of the code as it stands."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from plant_faults import (  # noqa: E402
    Fault,
    Outcome,
    Record,
    chosen,
    collected,
    digest,
    failed,
    names,
    place_of,
    planted,
)

FAULTS = [one for faults in collected().values() for one in faults]


@cache
def text_of(module: str) -> str:
    return place_of(module).read_text(encoding="utf-8")


def around(text: str, at: int, length: int) -> str:
    """The definitions at the left margin that a place is in: to parse the whole of each module would take seconds."""
    begins = [one.start() for one in re.finditer(r"^[^\s#)\]}]", text, re.MULTILINE)] + [len(text)]
    return text[max(i for i in begins if i <= at) : min(i for i in begins if i >= at + length)]


def wrong(fault: Fault) -> str | None:
    """Why a fault cannot be planted, or does not change anything; None where it can."""
    try:
        text = planted(fault, text_of(fault.module))
    except (OSError, ValueError) as problem:
        return str(problem)
    try:
        ast.parse(around(text, text_of(fault.module).index(fault.before), len(fault.after)))
    except SyntaxError as problem:
        return f"{fault.module}: {fault.after!r} does not parse: {problem}"
    return f"{fault.module}: {fault.after!r} changes nothing" if fault.before == fault.after else None


def test_every_fault_can_be_planted() -> None:
    assert len(FAULTS) > 80
    assert [said for one in FAULTS if (said := wrong(one)) is not None] == []


def test_no_fault_is_there_twice_and_each_says_what_is_wrong() -> None:
    assert len({(one.module, one.before, one.after) for one in FAULTS}) == len(FAULTS)
    assert [one for one in FAULTS if not one.why or one.why[-1] == "." or not one.tests] == []


def test_tests_that_are_named_are_there() -> None:
    """Files, and the functions of node ids, without their parameters."""

    @cache
    def functions(path: str) -> frozenset[str]:
        return frozenset(re.findall(r"^def (\w+)\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE))

    missing: list[str] = []
    for test in {test for one in FAULTS for test in one.tests}:
        path, _, name = test.partition("::")
        if not (ROOT / path).is_file() or (name and name.partition("[")[0] not in functions(path)):
            missing.append(test)
    assert missing == []


def test_tests_that_are_named_run_in_make_test() -> None:
    """A fault is seen by `make test`, not only by what is marked `long`."""
    named = {test.partition("[")[0] for one in FAULTS for test in one.tests}
    late: list[str] = []
    for path in {test.partition("::")[0] for test in named}:
        text = (ROOT / path).read_text(encoding="utf-8")
        marked = re.findall(r"^@pytest\.mark\.long\n(?:@.*\n(?:[ )\]].*\n)*)*def (\w+)\(", text, re.MULTILINE)
        late += [f"{path}::{name}" for name in marked if f"{path}::{name}" in named]
        late += [path] if re.search(r"^pytestmark.*\blong\b", text, re.MULTILINE) else []
    assert late == []


def test_a_sample_is_of_the_chosen_faults_and_repeats() -> None:
    every = chosen(["ledger", "holdout"])
    some = chosen(["ledger", "holdout"], sample=7, seed=3)
    assert len({name for name, _ in every}) > 1
    assert len(some) == 7
    assert some == [one for one in every if one in some]
    assert some == chosen(["ledger", "holdout"], sample=7, seed=3) != chosen(["ledger", "holdout"], sample=7, seed=4)
    assert chosen(["holdout"], sample=1_000) == chosen(["holdout"])


def test_a_record_is_read_again_after_an_interrupt(tmp_path: Path) -> None:
    file, (first, second, third, changed) = tmp_path / "folder" / "faults.jsonl", FAULTS[:4]
    record = Record(file)
    record.add(Outcome(first, "tests/test_first.py::test_one", "", 1.0))
    record.add(Outcome(second, None, "", 1.0))  # what nobody saw is run again
    with file.open("a", encoding="utf-8") as half:
        half.write('{"digest": "' + digest(third)[:9])
    again = Record(file)
    assert [again.seen(one) for one in (first, second, third)] == ["tests/test_first.py::test_one", None, None]
    other = replace(first, after=changed.after)
    assert again.seen(other) is None
    Record(None).add(Outcome(first, "tests/test_first.py::test_one", "", 1.0))
    assert Record(None).seen(first) is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_each_run_in_a_forked_child_reads_its_modules_anew(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text("ONE = 1\n", encoding="utf-8")
    text = "import time, planted\ndef test_one():\n    assert planted.ONE == 1\ndef test_slow():\n    time.sleep(60)\n"
    (tmp_path / "test_planted.py").write_text(text, encoding="utf-8")
    script = [sys.executable, str(ROOT / "benchmarks" / "forked_pytest.py")]
    words = ["-q", "-p", "no:cacheprovider", "-rfE", "--tb=no", "-k"]
    with subprocess.Popen(
        script, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:

        def told(test: str, seconds: float = 100) -> tuple[int, str]:
            assert server.stdin is not None
            assert server.stdout is not None
            print(json.dumps({"words": [*words, test], "seconds": seconds}), file=server.stdin, flush=True)
            said = json.loads(server.stdout.readline())
            return said["code"], said["said"]

        assert told("one")[0] == 0
        (tmp_path / "planted.py").write_text("ONE = 22\n", encoding="utf-8")
        code, said = told("one")
        assert (code, failed(said)) == (1, ["test_planted.py::test_one"])
        assert told("slow", 0.5) == (1, "FAILED (no end)")
        (tmp_path / "planted.py").write_text("ONE = 1\n# and more\n", encoding="utf-8")
        assert told("one")[0] == 0


def test_a_failed_case_is_of_the_tests_that_name_it() -> None:
    (node,) = failed("FAILED tests/test_x.py::test_one[a b] - AssertionError: no\n")
    assert node == "tests/test_x.py::test_one[a b]"
    assert all(names(test, node) for test in (node, "tests/test_x.py::test_one", "tests/test_x.py"))
    assert not names("tests/test_x.py::test_on", node)
    assert not names("tests/test_x.py::test_one[a c]", node)
