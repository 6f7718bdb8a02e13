"""`tacit plan --compare`: a table for each question of a file, pictures, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import a_home, run

home = pytest.fixture(a_home, name="home")
STUDY = """
tacit = 1
[table]
name = "stays"
rows = 2_000
[budget]
epsilon = 1
neighbors = "add-remove"
[schema]
stay = { type = "Real", lower = 0, upper = 60 }
wait = { type = "Real", lower = 0.01, upper = 100 }
sex = { type = "Category", levels = ["f", "m"] }
[spend]
epsilon = 1
[ask.stay]
query = "Mean"
columns = "stay"
by = "sex"
laplace_draws = 4
[ask.law]
query = "SampleAndAggregate"
what = "wait"
model = { family = "Gamma", shape = [0.5, 5], rate = [0.05, 2] }
share = 3
[combine]
level = 0.9
[expect]
law = { shape = 2, rate = 0.5 }
"""


def test_a_file_s_questions_are_compared(home: Path) -> None:
    text = run(home, "plan", "job.toml", "--compare", "--save", "ways.md", "--plot", "widths.svg")
    tables = text.split("\n\n")
    found = json.loads(run(home, "plan", "job.toml", "--compare", "--json"))
    assert len(tables) == len(found) == 2
    for table, (name, words) in zip(tables, found.items(), strict=True):
        assert table.startswith(f"{name}: ")
        assert words["question"].startswith(f"{name}: ")
        assert words["ways"][0]["reason"] is None
        assert (home / f"widths-{name}.svg").exists()
        assert name in (home / "ways.md").read_text()
    assert not (home / "people.ledger").exists()


def test_a_study_s_questions_are_compared(home: Path) -> None:
    (home / "study.toml").write_text(STUDY)
    found = json.loads(run(home, "plan", "study.toml", "--compare", "--json"))
    assert list(found) == ["stay", "law"]
    assert {one["level"] for one in found.values()} == {0.9}
    assert found["stay"]["cost"] == {"epsilon": "1/4"}
    ways = [one["way"] for one in found["stay"]["ways"]]
    assert "Mean, 4 Laplace draws" in ways
    assert "Mean" in ways
    text = run(home, "plan", "study.toml", "--compare", "--level", "0.95", "--expect", "stay = { mean = 9, sd = 5 }")
    assert "as expected: stay, law" in text
    assert "95% intervals" in text


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--plot", "a.png"), "C06"),
        (("--compare", "--width", "mean-age=3"), "C06"),
        (("--compare", "--save", "job.toml"), "F10"),
        (("--compare", "--plot", "a.gif"), "F10"),
        (("--compare", "--rho", "-1"), "B01"),
        (("--compare", "--expect", "age"), "C03"),
        (("--compare", "--expect", "ages = { mean = 1, sd = 1 }"), "Q10"),
    ],
)
def test_slips_are_refused_in_a_line(home: Path, words: tuple[str, ...], code: str) -> None:
    shown = run(home, "plan", "job.toml", *words, code=2)
    assert code in shown
    assert len(shown.strip().splitlines()) == 1
