"""SIGKILL before each line of the ledger and the door, thinned; the whole sweep is `benchmarks/steps.py`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "steps.py"


def run(*options: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: it forks, and an engine's threads in this one would not follow."""
    return subprocess.run(
        [sys.executable, str(SCRIPT), "--thin", *options], capture_output=True, text=True, check=False
    )


@pytest.mark.long
@pytest.mark.skipif(not hasattr(sys, "settrace") or sys.platform == "win32", reason="needs fork and SIGKILL")
@pytest.mark.parametrize(("every", "least"), [(29, 10), pytest.param(11, 25, marks=pytest.mark.long)])
def test_killed_at_every_step_nothing_is_lost(every: int, least: int) -> None:
    done = run("--every", str(every), "--jobs", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a new ledger and two releases" in done.stdout
    said = re.search(r"(\d+) deaths at [\d,]+ steps, (\d+) after the charge, (\d+) after the store", done.stdout)
    assert said is not None, done.stdout
    deaths, charged, stored = map(int, said.groups())
    assert deaths >= least
    assert f"the file alone says the same after {deaths} of them" in done.stdout
    assert 0 < stored < charged < deaths
    assert "problems: none" in done.stdout
    assert "left over: none" in done.stdout


@pytest.mark.long
def test_a_careless_ledger_is_found_out() -> None:
    """Every death between the data and the store shows it: one of them would do."""
    done = run("--every", "20", "--jobs", "2", "--careless")
    assert done.returncode == 1
    assert "the charge was lost" in done.stdout


def acts(*options: str) -> subprocess.CompletedProcess[str]:
    script = str(SCRIPT.with_name("steps_of_acts.py"))
    command = [sys.executable, script, "--jobs", "2", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.skipif(not hasattr(sys, "settrace") or sys.platform == "win32", reason="needs fork and SIGKILL")
def test_killed_at_every_step_of_a_raise_and_a_limit() -> None:
    done = acts("--every", "47")
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.search(r"steps: (\d+) before, (\d+) raised, (\d+) limited, (\d+) charged", done.stdout)
    assert said is not None, done.stdout
    assert min(map(int, said.groups())) > 0
    assert "problems: none" in done.stdout


@pytest.mark.long
def test_a_careless_raise_is_found_out() -> None:
    done = acts("--every", "97", "--careless")
    assert done.returncode == 1
    assert "does not fit its chain" in done.stdout
