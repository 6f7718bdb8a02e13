"""SIGKILL at random steps of a hold-out; the whole sweep of 500 deaths is `benchmarks/killed_holdouts.py`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "killed_holdouts.py"
NEEDS = pytest.mark.skipif(not hasattr(sys, "settrace") or sys.platform == "win32", reason="needs fork and SIGKILL")


def run(*options: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: it forks, and an engine's threads in this one would not follow."""
    return subprocess.run([sys.executable, str(SCRIPT), *options], capture_output=True, text=True, check=False)


@NEEDS
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("deaths", [20, pytest.param(500, marks=pytest.mark.long)])
def test_killed_no_charge_has_two_answers_and_no_threshold_is_stored(deaths: int) -> None:
    done = run("--deaths", str(deaths), "--seed", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.search(r"(\d+) deaths on (\d+) ledgers; (\d+) answers told, (\d+) from rows", done.stdout)
    assert said is not None, done.stdout
    died, ledgers, told, from_rows = map(int, said.groups())
    assert died == deaths
    # several processes for each ledger, and answers of both kinds before they died
    assert ledgers < deaths
    assert told > from_rows > deaths // 4
    assert "problems: none" in done.stdout


@NEEDS
@pytest.mark.parametrize(("fault", "words"), [("resume", "served two processes"), ("store", "is stored")])
def test_a_careless_hold_out_is_found_out(fault: str, words: str) -> None:
    done = run("--deaths", "12", "--careless", fault)
    assert done.returncode == 1
    assert words in done.stdout
