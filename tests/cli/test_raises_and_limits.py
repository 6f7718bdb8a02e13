"""`tacit budget` that records a raise or a limit, and `--analyst`."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from command_line import a_home, run, said

from tacit.cli.app import app
from tacit.errors import TacitError
from tacit.ledger import Request, open_ledger
from tacit.privacy import Budget, Cost

home = pytest.fixture(a_home)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of one charge, by alice."""
    where = tmp_path_factory.mktemp("released") / "people.ledger"
    ledger = open_ledger(where, budget=Budget(rho="0.5"), unit=None)
    ledger.charge(Request("people", (), "1", Cost.of(rho="0.2"), "", "alice"))
    ledger.close()
    return where


def test_a_raise_from_the_refusal_to_the_record(home: Path) -> None:
    run(home, "release", "job.toml", "--note", "board 17")
    run(home, "budget", "people.ledger", "--raise-to-rho", "0.8", "--note", "board\n31")
    again = run(home, "budget", "people.ledger", "--raise-to-rho", "0.8", "--note", "board 31")
    assert "that is the total already: nothing was recorded" in again
    lines = [line.split() for line in run(home, "budget", "people.ledger", "--check", "job.release.json").splitlines()]
    assert lines[0] == ["people.ledger", "·", "ρ", "=", "0.8", "·", "replace-one"]
    assert [line[0] for line in lines[2:4]] == ["1", "raise"]
    assert lines[3][-2:] == ["board", "31"]
    words = said(home, "budget", "people.ledger", "--check", "job.release.json")
    assert words["left"] == {"rho": "3/5"}
    assert words["first"] == {"rho": "1/2", "neighbors": "replace-one"}
    (act,) = words["acts"]
    assert (act["act"], act["after"], act["note"]) == ("raise", 1, "board\n31")
    assert (act["before"]["rho"], act["total"]["rho"]) == ("1/2", "4/5")
    assert words["checked"] == 2
    refused = said(home, "release", "job.toml", code=2)  # its [budget] says what is no longer promised
    assert refused["code"] == "L01"
    assert "raised from ρ = 0.5" in refused["message"]
    job = home / "job.toml"
    job.write_text(job.read_text().replace("[budget]\nrho = 0.5", "[budget]\nrho = 0.8"))
    assert said(home, "release", "job.toml")["left"] == "left 0.60 of 0.80"  # the stored answer


def test_a_limit_and_who_asks(home: Path) -> None:
    job = home / "job.toml"
    job.write_text(job.read_text().replace('ledger = "people.ledger"', 'ledger = "people.ledger"\nanalyst = "alice"'))
    run(home, "release", "job.toml")
    run(home, "budget", "people.ledger", "--analyst", "alice", "--limit-to-rho", "0.25", "--note", "board 31")
    words = said(home, "release", "job.toml", "--rho", "0.1", code=3)
    assert words["code"] == "B12"
    assert "'alice'" in words["message"]
    page = said(home, "plan", "job.toml", "--rho", "0.1")
    assert not page["fits"]
    assert said(home, "plan", "job.toml", "--rho", "0.1", "--analyst", "bob")["fits"]
    job.write_text(job.read_text().replace("[ask.", "[ask.second-"))
    run(home, "release", "job.toml", "--rho", "0.1", "--analyst", "bob")
    listed = said(home, "budget", "people.ledger")
    assert [one["analyst"] for one in listed["charges"]] == ["alice", "bob"]
    assert listed["analysts"]["alice"] == {
        "spent": {"rho": "1/5"},
        "limit": {"rho": "1/4", "neighbors": "replace-one"},
    }
    assert listed["analysts"]["bob"] == {"spent": {"rho": "1/10"}, "limit": None}
    shown = run(home, "budget", "people.ledger")
    assert "alice: spent ρ = 0.2, left 0.05 of 0.25" in shown
    assert "bob: spent ρ = 0.1, no limit" in shown
    assert [line.split()[0] for line in shown.splitlines()[2:5]] == ["1", "limit", "2"]


def test_an_epsilon_and_a_delta_are_raised_one_by_one(home: Path) -> None:
    job = home / "job.toml"
    job.write_text(job.read_text().replace("[budget]\nrho = 0.5", "[budget]\nepsilon = 3\ndelta = 1e-6"))
    run(home, "release", "job.toml", "--rho", "0.1")
    words = said(home, "budget", "people.ledger", "--raise-to-epsilon", "4", "--note", "board 31")
    assert (words["budget"]["epsilon"], words["budget"]["delta"]) == ("4", "1/1000000")
    words = said(home, "budget", "people.ledger", "--raise-to-delta", "1e-5", "--note", "board 32")
    assert (words["budget"]["epsilon"], words["budget"]["delta"]) == ("4", "1/100000")
    assert words["recorded"].startswith("raised from ε = 4, δ = 1e-06 to ")
    command = ("budget", "people.ledger", "--analyst", "alice", "--limit-to-epsilon", "2", "--note", "board 33")
    assert said(home, *command)["analysts"]["alice"]["limit"]["delta"] == "1/100000"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--raise-to-rho", "0.8"), "L21"),
        (("--raise-to-rho", "0.8", "--note", " "), "L21"),
        (("--raise-to-rho", "0.4", "--note", "n"), "B13"),
        (("--raise-to-epsilon", "4", "--note", "n"), "B13"),
        (("--raise-to-rho", "much", "--note", "n"), "B01"),
        (("--raise-to-rho", "0.8", "--raise-to-epsilon", "1", "--note", "n"), "B03"),
        (("--raise-to-rho", "0.8", "--analyst", "alice", "--limit-to-rho", "0.1", "--note", "n"), "C06"),
        (("--limit-to-rho", "0.1", "--note", "n"), "C06"),
        (("--analyst", "alice"), "C06"),
        (("--note", "n"), "C06"),
        (("--analyst", " alice", "--limit-to-rho", "0.1", "--note", "n"), "L22"),
        (("--analyst", "alice", "--limit-to-rho", "0.1"), "L21"),
        (("--analyst", "alice", "--limit-to-rho", "0.1", "--note", "n"), "B14"),
    ],
)
def test_words_that_record_nothing(released: Path, words: tuple[str, ...], code: str) -> None:
    with pytest.raises(TacitError) as refused:
        app(["budget", str(released), *words], standalone_mode=False)
    assert refused.value.code == code
    ledger = open_ledger(released, budget=None, unit=None)
    assert (len(ledger.charges()), ledger.acts()) == (1, [])
    ledger.close()


def test_a_damaged_ledger_is_not_raised(home: Path) -> None:
    run(home, "release", "job.toml")
    with sqlite3.connect(home / "people.ledger") as raw:
        raw.execute("DROP TRIGGER no_update")
        raw.execute("UPDATE tacit_entries SET body = replace(body, '1/5', '1/50') WHERE kind = 'charge'")
    found = said(home, "budget", "people.ledger", "--raise-to-rho", "0.8", "--note", "board 31", code=2)
    assert found["code"] == "L10"
    with sqlite3.connect(home / "people.ledger") as raw:
        assert raw.execute("SELECT count(*) FROM tacit_entries WHERE kind = 'raise'").fetchone() == (0,)
