"""`tacit release` on machines that fail, thinned; the whole sweep is `benchmarks/hostile_machines.py`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "hostile_machines.py"


def run(*options: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: it forks, and an engine's threads in this one would not follow."""
    return subprocess.run([sys.executable, str(SCRIPT), *options], capture_output=True, text=True, check=False)


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.skipif(sys.platform != "linux", reason="needs fork, limits of processes and their files in /proc")
def test_nothing_is_lost_or_paid_twice_whatever_the_machine_does() -> None:
    done = run("--trials", "27")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "problems: 0" in done.stdout


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.skipif(sys.platform != "linux", reason="needs fork, limits of processes and their files in /proc")
def test_a_ledger_that_charges_again_is_found_out() -> None:
    done = run("--trials", "16", "--only", "killed", "--careless")
    assert done.returncode == 1
    assert "charges in the end" in done.stdout
