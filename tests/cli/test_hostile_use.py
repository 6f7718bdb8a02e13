"""The command line in bad company: JSON of every end, places that cannot be written, pipes that close, odd letters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import JOB, a_home, apart, run, said

home = pytest.fixture(a_home, name="home")


def test_every_command_speaks_json(home: Path) -> None:
    (home / "raw.csv").write_text("age,sex,married\n30,0,true\n")
    assert said(home, "schema", "people.parquet")["columns"]["age"]
    assert said(home, "check", "job.toml")["questions"] == 2
    assert said(home, "import", "raw.csv", "--schema", "job.toml", "--out", "typed.parquet")["rows"] == 1
    assert said(home, "plan", "job.toml")["cost"] == {"rho": "1/5"}
    bought = said(home, "release", "job.toml")
    assert bought == {
        "saved": "job.release.json",
        "cost": {"rho": "1/5"},
        "left": "left 0.30 of 0.50",
        "new_ledger": "people.ledger",
    }
    again = said(home, "release", "job.toml", "--rho", "0.2")  # the same price, typed
    assert again == {**bought, "new_ledger": None}
    assert list(said(home, "show", "job.release.json")) == ["mean-age", "married"]
    assert said(home, "budget", "people.ledger")["left"] == {"rho": "3/10"}
    assert [row["term"] for row in said(home, "demo")["estimate"]] == ["male", "female"]


@pytest.mark.parametrize(
    ("words", "error", "exits"),
    [
        (("release", "job.toml", "--rhoo", "1"), ("CommandError", "C01"), 2),
        (("relase",), ("CommandError", "C01"), 2),
        (("release", "job.toml", "--level", "high"), ("CommandError", "C01"), 2),
        (("release", "job.toml", "--rho", "0.9"), ("BudgetError", "B02"), 3),
        (("show", "none.json"), ("ReleaseError", "R03"), 2),
        (("check", "."), ("FileError", "F01"), 2),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_errors_are_json_too(home: Path, words: tuple[str, ...], error: tuple[str, str], exits: int) -> None:
    found = said(home, *words, code=exits)
    assert (found["error"], found["code"]) == error
    assert list(found) == ["error", "code", "message", "hint", "state"]


@pytest.mark.parametrize("level", ["1", "nan"])
def test_a_level_is_refused_before_anything_is_spent(home: Path, level: str) -> None:
    assert "I01" in run(home, "release", "job.toml", "--level", level, code=2)
    assert not (home / "people.ledger").exists()


@pytest.mark.parametrize("target", ["folder", "people.ledger", "./x/../people.parquet"])
def test_a_release_is_not_saved_over_what_it_needs(home: Path, target: str) -> None:
    (home / "folder").mkdir()
    (home / "x").mkdir()
    before = {place.name: place.read_bytes() for place in home.iterdir() if place.is_file()}
    assert "R07" in run(home, "release", "job.toml", "--save", target, code=2)
    assert {place.name: place.read_bytes() for place in home.iterdir() if place.is_file()} == before


@pytest.mark.long
def test_no_command_writes_over_its_input(home: Path) -> None:
    (home / "raw.csv").write_text("age,sex,married\n30,0,true\n")
    apart(home, "release", "job.toml")
    (home / "job.html").write_text(JOB)
    before = {place.name: place.read_bytes() for place in home.iterdir()}
    for words in (
        ("show", "job.release.json", "--name", "married", "--save", "job.release.json"),
        ("schema", "raw.csv", "--save", "raw.csv"),
        ("plan", "job.html", "--save", "job.html"),
    ):
        assert "would be lost" in apart(home, *words, code=2)
    assert {place.name: place.read_bytes() for place in home.iterdir()} == before


def test_a_picture_that_cannot_be_written_is_an_error_of_one_line(home: Path) -> None:
    run(home, "release", "job.toml")
    for plot, code in (("p.xyz", "F10"), ("no/p.png", "R07")):
        shown = run(home, "show", "job.release.json", "--name", "married", "--plot", plot, code=2)
        assert code in shown
        assert len(shown.strip().splitlines()) == 1


def piped(home: Path, *words: str, stdout: Any) -> tuple[int, str]:
    found = subprocess.run(
        [sys.executable, "-m", "tacit", *words], cwd=home, stdout=stdout, stderr=subprocess.PIPE, text=True
    )
    return found.returncode, found.stderr


@pytest.mark.long
def test_a_reader_who_leaves_is_no_error(home: Path) -> None:
    run(home, "release", "job.toml")
    for words in (("show", "job.release.json"), ("release", "job.toml", "--json")):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            assert piped(home, *words, stdout=writer) == (1, "")
        finally:
            os.close(writer)


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_an_output_without_room_is_named(home: Path) -> None:
    with open("/dev/full", "w") as full:
        code, shown = piped(home, "release", "job.toml", stdout=full)
    assert (code, "[C05]" in shown, len(shown.splitlines())) == (2, True, 1)
    assert (home / "job.release.json").exists()  # saved before it was printed


def test_paths_in_any_letters(home: Path) -> None:
    place = home / "öäü λ"
    place.mkdir()
    (home / "people.parquet").rename(place / "mensch 数.parquet")
    text = JOB.replace("people.parquet", "mensch 数.parquet").replace("people.ledger", "kasse €.ledger")
    (place / "frage.toml").write_text(text, encoding="utf-8")
    run(home, "release", "öäü λ/frage.toml")
    assert "ρ = 0.2" in run(home, "budget", "öäü λ/kasse €.ledger")


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux only")
def test_a_ledger_whose_name_is_no_text(home: Path) -> None:
    apart(home, "release", "job.toml")
    (home / "people.ledger").rename(home / "p\udcff.ledger")
    assert "chain intact" in apart(home, "budget", "p\udcff.ledger")


def test_a_note_stays_on_its_line(home: Path) -> None:
    run(home, "release", "job.toml", "--note", "board\n17\x1b[31m")
    assert any(line.endswith("board 17 [31m") for line in run(home, "budget", "people.ledger").splitlines())
    assert said(home, "budget", "people.ledger")["charges"][0]["note"] == "board\n17\x1b[31m"


@pytest.mark.sample(2)
@pytest.mark.parametrize("as_json", [False, True])
def test_interrupted(home: Path, as_json: bool) -> None:
    code = f"""
import sys
from tacit.cli import ledger_commands as ledgers, main
def stop(*_):
    raise KeyboardInterrupt
ledgers.budget = stop
sys.argv = ["tacit", "budget", "x.ledger"] + ["--json"] * {as_json}
main()
"""
    found = subprocess.run([sys.executable, "-c", code], cwd=home, capture_output=True, text=True)
    assert found.returncode == 130
    assert "the same question resumes it" in found.stderr
    assert "Traceback" not in found.stderr
    assert not as_json or json.loads(found.stdout)["error"] == "Interrupted"


def test_a_defect_says_nothing_that_might_be_data(home: Path) -> None:
    code = """
import sys
from tacit.cli import ledger_commands as ledgers, main
def fail(*_):
    raise ValueError("4711 secret")
ledgers.budget = fail
sys.argv = ["tacit", "budget", "x.ledger", "--json"]
main()
"""
    found = subprocess.run([sys.executable, "-c", code], cwd=home, capture_output=True, text=True)
    assert found.returncode == 70
    assert "secret" not in found.stdout + found.stderr
    assert json.loads(found.stdout)["error"] == "InternalError"


def test_an_error_that_cannot_be_shown_says_nothing_either(home: Path) -> None:
    """Without handles or memory the printing of an error fails too; Python would print both, the first with data."""
    code = """
import sys
from tacit.cli import ledger_commands as ledgers, main
def fail(*_):
    raise ValueError("4711 secret")
ledgers.budget = fail
sys.modules["tacit.cli.dialect"] = None
sys.argv = ["tacit", "budget", "x.ledger"]
main()
"""
    found = subprocess.run([sys.executable, "-c", code], cwd=home, capture_output=True, text=True)
    assert found.returncode == 5
    assert "secret" not in found.stdout + found.stderr
    assert "Traceback" not in found.stderr
    assert "could not be shown" in found.stderr


def test_a_demo_without_a_place_for_its_picture(home: Path) -> None:
    (home / "tacit-demo.png").mkdir()
    assert "no picture: this folder cannot be written" in run(home, "demo")


def test_memory_that_runs_out_is_no_defect(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from tacit.cli import app as command_line

    def out_of_memory(*_: Any, **__: Any) -> None:
        raise MemoryError("of a row")

    monkeypatch.setattr(command_line, "app", out_of_memory)
    monkeypatch.setattr(sys, "argv", ["tacit", "check"])
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code == 5
    assert capsys.readouterr().err == (
        "internal error: the machine ran out of memory. If a charge was recorded, it stands.\n"
    )
