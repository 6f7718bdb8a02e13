"""`tacit explain`: of a price, a ledger, releases and a file; what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import a_home, run, said

home = pytest.fixture(a_home, name="home")


def test_a_price_with_all_its_tables(home: Path) -> None:
    asked = ("explain", "--epsilon", "1", "--releases", "1", "--releases", "10", "--columns", "5", "--attack")
    asked += ("--parts", "1", "--parts", "50", "--population", "10000")
    text = run(home, *asked, "--save", "meaning.html", "--plot", "roc.svg")
    assert "26.8 % to 73.2 %" in text
    assert "advanced composition" in text
    assert "from 25 rows on" in text
    assert "means without noise" in text
    assert (home / "roc.svg").exists()
    assert "<table" in (home / "meaning.html").read_text()
    words = said(home, *asked)
    assert [one["title"].split()[0] for one in words["tables"]] == ["ε", "Average", "10,000", "Squared", "Alice's"]


def test_a_ledger_its_releases_and_the_file(home: Path) -> None:
    run(home, "release", "job.toml", "--save", "answers.json")
    assert "spent so far" in run(home, "explain", "people.ledger")
    assert "2 releases together" in run(home, "explain", "answers.json")
    assert "ρ = 0.2" in run(home, "explain", "job.toml")
    assert len(said(home, "explain", "--rho", "0.1", "--neighbors", "add-remove")["cases"]) == 2


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), "C06"),
        (("people.ledger", "--rho", "1"), "C06"),
        (("no.ledger",), "B19"),
        (("--epsilon", "-1"), "B01"),
        (("--epsilon", "x"), "B01"),
        (("--rho", "1", "--mu", "1"), "B03"),
        (("--rho", "1", "--neighbors", "near"), "B05"),
        (("--rho", "1", "--releases", "0"), "B20"),
        (("--rho", "1", "--columns", "0"), "B20"),
        (("--rho", "1", "--parts", "2"), "B20"),
        (("--rho", "1", "--population", "0"), "B20"),
        (("--rho", "1", "--save", "a.gif"), "F10"),
    ],
)
def test_what_is_refused(home: Path, words: tuple[str, ...], code: str) -> None:
    assert f"[{code}]" in run(home, "explain", *words, code=2)
    assert not (home / "people.ledger").exists()
