"""A folder with a curator's file and its table, and `tacit` run in it as a person runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from in_process import inside

import tacit as tc

JOB = """
tacit = 1
title = "Made-up people"            # a comment is no part of the digest
[table]
name = "people-2024"
rows = 500
[data]
path = "people.parquet"
ledger = "people.ledger"
[budget]
rho = 0.5
[schema]
age = { type = "Real", lower = 18, upper = 93, units = "years" }
sex = { type = "Category", levels = { 0 = "male", 1 = "female" } }
married = { type = "Boolean" }
[spend]
rho = 0.2
[ask.mean-age]
query = "Mean"
columns = "age"
by = "sex"
share = 3
[ask.married]
query = "Mean"
columns = "married"
"""


def a_home(tmp_path: Path) -> Path:
    """For `pytest.fixture`: a fresh folder."""
    tc.examples.people(500).to_parquet(tmp_path / "people.parquet")
    (tmp_path / "job.toml").write_text(JOB)
    return tmp_path


def run(home: Path, *words: str, code: int = 0) -> str:
    """What a command prints, on both streams."""
    found, out, err = inside(home, *words)
    shown = out + err
    assert "Traceback" not in shown
    assert found == code, shown
    return shown


def apart(home: Path, *words: str, code: int = 0) -> str:
    """As `run`, in a process of its own: what it leaves open is closed when it ends."""
    env = {**os.environ, "COLUMNS": "200"}
    found = subprocess.run([sys.executable, "-m", "tacit", *words], cwd=home, capture_output=True, text=True, env=env)
    shown = found.stdout + found.stderr
    assert "Traceback" not in shown
    assert found.returncode == code, shown
    return shown


def said(home: Path, *words: str, code: int = 0) -> dict[str, Any]:
    """Standard output of a command with --json, read strictly: no NaN, nothing beside it."""
    found, out, err = inside(home, *words, "--json")
    assert found == code, out + err
    return json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def typed(home: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[int, str]:
    """Exit code, and what a command prints."""
    found, out, err = inside(home, *words)
    assert "Traceback" not in out + err
    return found, out + err
