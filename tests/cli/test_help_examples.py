"""The examples at the end of each command's help: there for every command, and they run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from command_line import JOB, run

import tacit as tc
from tacit.cli.app import app
from tacit.cli.command_examples import EXAMPLES

CELLS = """
[ask.cells]
query = "Histogram"
columns = ["married", "age", "sex"]
bins = { age = 5 }
"""
STUDY = """
tacit = 1
[table]
name = "ages"
[budget]
epsilon = 1.0
neighbors = "add-remove"
[schema]
age = { type = "Real", lower = 18, upper = 93 }
[spend]
epsilon = 1.0
[ask.age]
query = "Mean"
columns = "age"
[parties.st-mary]
[parties.st-luke]
"""
ORDER = [
    *("demo", "", "schema", "import", "check", "explain", "plan", "release", "show", "fit", "combine", "budget"),
    *("keys", "keys new", "keys show"),
]


def commands() -> dict[str, Any]:
    group: Any = typer.main.get_command(app)
    inner = {f"keys {name}": one for name, one in group.commands["keys"].commands.items()}
    return {"": group, **group.commands, **inner}


def test_every_command_has_examples_of_itself() -> None:
    assert set(commands()) == set(EXAMPLES) == set(ORDER)
    for name, command in commands().items():
        assert command.epilog is not None, name
        for line in EXAMPLES[name]:
            assert line.startswith(f"tacit {name}"), line
            assert line in command.epilog
            assert len(line) <= 96  # one line of an ordinary window


def prepared(home: Path) -> None:
    people = tc.examples.people(500)
    people.to_csv(home / "people.csv", index=False)
    people.to_csv(home / "de.csv", index=False, sep=";", decimal=",")
    (home / "people.toml").write_text(JOB + CELLS)
    (home / "study.toml").write_text(STUDY)
    for name in ("st-mary", "st-luke"):
        people.to_parquet(home / f"{name}.parquet")
        (home / f"{name}.toml").write_text(f'name = "{name}"\n[data]\npath = "{name}.parquet"\n')


@pytest.mark.usefixtures("home")
def test_the_examples_run(home: Path) -> None:
    lines = list(dict.fromkeys(line for name in ORDER for line in EXAMPLES[name]))
    for line in lines:
        if line == EXAMPLES["combine"][0]:
            run(home, "release", "study.toml", "--site", "st-luke.toml")
        run(home, *shlex.split(line)[1:])
    for made in ("draft.toml", "people.parquet", "plan.html", "mean-age.csv", "results", "st-mary.private"):
        assert (home / made).exists(), made


@pytest.fixture(name="home")
def a_prepared_folder(tmp_path: Path) -> Path:
    prepared(tmp_path)
    return tmp_path
