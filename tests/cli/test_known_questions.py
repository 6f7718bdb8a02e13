"""What `tacit check`, `tacit plan` and `tacit release` say of a ledger that knows a file's questions, or was moved."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import JOB, a_home, run, said

home = pytest.fixture(a_home, name="home")
MORE = '[ask.women]\nquery = "Count"\nby = "sex"\n'


def test_a_board_sees_that_a_name_is_taken_before_it_signs(home: Path) -> None:
    """A question more changes the prices of all: the plan of such a file said "Run", and the release was refused."""
    assert "Run\n" in run(home, "plan", "job.toml")
    run(home, "release", "job.toml")
    (home / "more.toml").write_text(JOB + MORE)
    for name in ("mean-age-2", "[ask."):
        assert name in run(home, "check", "more.toml", code=2)
    shown = run(home, "plan", "more.toml")
    _, _, refused = shown.partition("Not now: the release would be refused\n")
    assert "another question of 'people-2024' is already named 'mean-age' (charge 1)" in refused
    assert "[ask.mean-age-2]" in refused
    assert "tacit release" not in refused
    assert "'mean-age'" in said(home, "plan", "more.toml", "--json")["taken"]
    assert "[L09]" in run(home, "release", "more.toml", code=2)


def test_what_was_answered_is_planned_at_no_cost(home: Path) -> None:
    assert said(home, "check", "job.toml")["charge"] is None
    run(home, "release", "job.toml")
    assert "answered (charge 1): the same again is free" in run(home, "check", "job.toml")
    assert "Run, at no cost: these questions are answered (charge 1)" in run(home, "plan", "job.toml")
    assert said(home, "plan", "job.toml")["charge"] == 1
    assert "Run, at no cost" not in run(home, "plan", "job.toml", "--rho", "0.05")
    run(home, "release", "job.toml")
    assert len(said(home, "budget", "people.ledger")["charges"]) == 1


@pytest.mark.parametrize("spend", ["rho = 0.2", "epsilon = 0.5\ndelta = 1e-6", "epsilon = 0.3"])
def test_the_plan_finds_the_question_whatever_its_price_buys(home: Path, spend: str) -> None:
    job = JOB.replace("[spend]\nrho = 0.2", f"[spend]\n{spend}")
    (home / "job.toml").write_text(job.replace("[budget]\nrho = 0.5", "[budget]\nepsilon = 4\ndelta = 1e-6"))
    run(home, "release", "job.toml")
    assert said(home, "plan", "job.toml")["charge"] == 1


def test_a_ledger_that_was_moved_is_not_begun_anew(home: Path) -> None:
    """Its release had the whole budget again, and its answers took the place of those of before."""
    assert "new ledger people.ledger" in run(home, "release", "job.toml")
    assert "new ledger" not in run(home, "release", "job.toml")
    before = (home / "job.release.json").read_bytes()
    (home / "people.ledger").rename(home / "kept.ledger")
    shown = run(home, "release", "job.toml", code=2)
    assert "[L94]" in shown
    assert "Nothing was read or spent" in shown
    assert (home / "job.release.json").read_bytes() == before
    assert not (home / "people.ledger").exists()
    # somebody who means it says where the new answers go
    assert said(home, "release", "job.toml", "--save", "new.json")["new_ledger"] == "people.ledger"
    (home / "people.ledger").unlink()
    (home / "kept.ledger").rename(home / "people.ledger")
    run(home, "release", "job.toml")
    assert (home / "job.release.json").read_bytes() == before


STUDY = """
tacit = 1
[table]
name = "ages"
[budget]
rho = 0.5
[schema]
age = { type = "Real", lower = 18, upper = 93 }
[spend]
rho = 0.1
[ask.mean-age]
query = "Mean"
columns = "age"
[parties.north]
"""


def test_a_party_s_check_knows_what_its_ledger_answered(home: Path) -> None:
    (home / "study.toml").write_text(STUDY)
    (home / "north.toml").write_text('name = "north"\n[data]\npath = "people.parquet"\nledger = "north.ledger"\n')
    ask = ("study.toml", "--site", "north.toml")
    assert said(home, "check", *ask)["charge"] is None
    run(home, "release", *ask)
    assert "answered (charge 1): the same again is free" in run(home, "check", *ask)
    assert said(home, "check", *ask)["charge"] == 1
    (home / "study.toml").write_text(STUDY.replace("[parties", 'where = "age > 30"\n[parties'))
    shown = run(home, "check", *ask, code=2)
    assert "[L09]" in shown
    assert "another edition of the study" in shown


def test_a_file_need_not_say_how_many_rows_there_are(home: Path) -> None:
    (home / "job.toml").write_text(JOB.replace("rows = 500\n", ""))
    run(home, "release", "job.toml")
    assert said(home, "check", "job.toml")["charge"] == 1
