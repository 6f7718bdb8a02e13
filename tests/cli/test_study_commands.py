"""A study on the command line: plan and check anywhere, release at a party with its own page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import JOB, run, said

import tacit as tc

STUDY = """
tacit = 1
title = "Ages by sex"
contact = "office@study.example"
closes = 2999-12-31
[table]
name = "ages-2024"
rows = 500
[budget]
rho = 0.5
[schema]
age = { type = "Real", lower = 18, upper = 93, units = "years" }
sex = { type = "Category", levels = { 0 = "male", 1 = "female" } }
[spend]
rho = 0.2
[ask.age]
query = "Mean"
columns = "age"
by = "sex"
[combine]
effects = "common"
[parties.st-mary]
[parties.st-luke]
"""
SITE = """
name = "st-mary"
[data]
path = "rows.csv"
ledger = "st-mary.ledger"
[data.columns]
age = { column = "ALTER" }
sex = { column = "GESCHLECHT" }
"""


@pytest.fixture(name="home")
def a_hospital(tmp_path: Path) -> Path:
    people = tc.examples.people(400).rename(columns={"age": "ALTER", "sex": "GESCHLECHT"})
    people[["ALTER", "GESCHLECHT"]].to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "st-mary.toml").write_text(SITE)
    return tmp_path


def test_from_plan_to_answer(home: Path) -> None:
    page = run(home, "plan", "study.toml", "--save", "plan.html")
    assert "pooled over 2" in page
    assert "tacit release study.toml --site SITE.toml" in page
    assert "pooled over 2" in (home / "plan.html").read_text()
    digest = tc.Study.load(home / "study.toml").digest()
    assert digest in run(home, "check", "study.toml")
    shown = run(home, "check", "study.toml", "--site", "st-mary.toml")
    assert "st-mary: 2 columns of ages-2024 agree with this text file; no row was read." in shown
    assert not (home / "st-mary.ledger").exists()
    first = run(home, "release", "study.toml", "--site", "st-mary.toml", "--note", "board 17")
    assert "left 0.30 of 0.50" in first
    saved = json.loads((home / "st-mary.release.json").read_text())
    assert [(name, one["study"], one["table"]) for name, one in saved["releases"]] == [("age", digest, "st-mary")]
    assert "left 0.30 of 0.50" in run(home, "release", "study.toml", "--site", "st-mary.toml")  # again is free
    listed = said(home, "budget", "st-mary.ledger", "--check", "st-mary.release.json")
    assert (listed["checked"], listed["charges"][0]["note"]) == (1, "board 17")
    assert [row["term"] for row in said(home, "show", "st-mary.release.json")["age"]] == ["male", "female"]


def test_a_study_speaks_json(home: Path) -> None:
    digest = tc.Study.load(home / "study.toml").digest()
    page = said(home, "plan", "study.toml")
    assert (page["digest"], page["parties"], page["cost"]) == (digest, ["st-mary", "st-luke"], {"rho": "1/5"})
    checked = said(home, "check", "study.toml", "--site", "st-mary.toml")
    assert checked == {
        "study": "ages-2024",
        "digest": digest,
        "columns": 2,
        "questions": 1,
        "parties": 2,
        "site": "st-mary",
        "source": "text file",
        "charge": None,
    }
    less = said(home, "release", "study.toml", "--site", "st-mary.toml", "--rho", "0.1", "--save", "x.json")
    assert less == {
        "saved": "x.json",
        "cost": {"rho": "1/10"},
        "left": "left 0.40 of 0.50",
        "new_ledger": "st-mary.ledger",
    }
    (home / "raw.csv").write_text("age,sex\n30,0\n")
    assert said(home, "import", "raw.csv", "--schema", "study.toml", "--out", "typed.parquet")["rows"] == 1


def test_what_a_party_may_not_do_spends_nothing(home: Path) -> None:
    at, site = ("release", "study.toml", "--site"), "st-mary.toml"
    (home / "job.toml").write_text(JOB)
    (home / "closed.toml").write_text(STUDY.replace("2999-12-31", "2024-12-31"))
    (home / "luke.toml").write_text(SITE.replace("st-mary", "st-lukas"))
    (home / "nowhere.toml").write_text(SITE.replace('"ALTER"', '"ALTER_", multiply = 2'))
    slips: list[tuple[tuple[str, ...], str]] = [
        ((*at, site, "--rho", "0.21"), "P02"),
        ((*at, site, "--level", "2"), "I01"),
        ((*at, site, "--save", site), "R07"),
        ((*at, site, "--save", "st-mary.ledger"), "R07"),
        ((*at, "luke.toml"), "P03"),
        ((*at, "study.toml"), "F05"),
        (("release", "closed.toml", "--site", site), "P01"),
        (("release", "job.toml", "--site", site), "F07"),
        (("check", "study.toml", "--site", "nowhere.toml"), "D30"),
        (("release", "study.toml"), "F09"),
    ]
    for words, code in slips:
        shown = run(home, *words, code=2)
        assert f"[{code}]" in shown, (words, shown)
        assert len(shown.strip().splitlines()) == 1
    assert not (home / "st-mary.ledger").exists()
    assert not (home / "st-mary.release.json").exists()
