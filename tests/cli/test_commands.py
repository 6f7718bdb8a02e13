"""The command line as a person uses it: every command, exit codes, one-line errors, nothing spent by mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import JOB, a_home, run

import tacit as tc

home = pytest.fixture(a_home, name="home")


def test_from_plan_to_budget(home: Path) -> None:
    assert "no row was read" in run(home, "check", "job.toml")
    page = run(home, "plan", "job.toml", "--save", "plan.html")
    assert "Promise" in page
    assert "<!doctype html>" in (home / "plan.html").read_text()
    assert not (home / "people.ledger").exists()
    first = run(home, "release", "job.toml", "--note", "board 17")
    assert "left 0.30 of 0.50" in first
    saved = (home / "job.release.json").read_text()
    assert "left 0.30 of 0.50" in run(home, "release", "job.toml")  # again is free
    assert (home / "job.release.json").read_text() == saved
    listed = json.loads(run(home, "budget", "people.ledger", "--check", "job.release.json", "--json"))
    assert listed["spent"] == {"rho": "1/5"}
    assert listed["checked"] == 2
    assert listed["charges"][0]["note"] == "board 17"
    shown = json.loads(run(home, "show", "job.release.json", "--json"))
    assert [row["term"] for row in shown["mean-age"]] == ["male", "female"]
    run(home, "show", "job.release.json", "--name", "married", "--save", "t.tex", "--plot", "p.png")
    assert r"\begin{tabular}" in (home / "t.tex").read_text()
    assert (home / "p.png").read_bytes().startswith(b"\x89PNG")
    assert "[schema]" in run(home, "schema", "people.parquet")


def test_refusals_and_slips_spend_nothing(home: Path) -> None:
    assert "B02" in run(home, "release", "job.toml", "--rho", "0.9", code=3)
    assert not (home / "people.ledger").exists()
    run(home, "release", "job.toml")
    assert "B02" in run(home, "release", "job.toml", "--rho", "0.4", code=3)
    slips: list[tuple[tuple[str, ...], str]] = [
        (("release", "none.toml"), "F01"),
        (("release", "job.toml", "--rho", "nan"), "B01"),
        (("release", "job.toml", "--epsilon", "1", "--delta", "1"), "B01"),
        (("release", "job.toml", "--save", "no/such/folder.json"), "F08"),
        (("show", "people.parquet"), "R0"),
        (("show", "job.toml", "--target", "rows"), "C03"),
        (("budget", "job.toml"), "L03"),
        (("budget", "none.ledger"), "C04"),
        (("relase",), "C01"),
        (("release", "job.toml", "--rhoo", "1"), "C01"),
    ]
    for words, code in slips:
        shown = run(home, *words, code=2)
        assert code in shown, (words, shown)
        assert len(shown.strip().splitlines()) == 1
    listed = json.loads(run(home, "budget", "people.ledger", "--json"))
    assert len(listed["charges"]) == 1


@pytest.mark.parametrize(
    ("wrong", "right", "code"),
    [
        ('query = "Mean"\ncolumns = "married"', 'query = "Histogram"\ncolumns = "age"', "Q64"),
        ("rows = 500", "rows = 501", "F09"),
        ("rho = 0.2", "rho = 0.7", "B02"),
    ],
)
def test_a_refused_first_release_leaves_nothing_behind(home: Path, wrong: str, right: str, code: str) -> None:
    (home / "job.toml").write_text(JOB.replace(wrong, right))
    before = sorted(one.name for one in home.iterdir())
    assert code in run(home, "release", "job.toml", code=3 if code == "B02" else 2)
    assert sorted(one.name for one in home.iterdir()) == before


def test_a_section_is_named_once(home: Path) -> None:
    (home / "job.toml").write_text(JOB.replace("rho = 0.5", "rho = 0.5\nroh = 1"))
    shown = run(home, "plan", "job.toml", code=2)
    assert "[F05] [budget] has 'roh', which is not a known key." in shown


EDITS = [
    ("tacit = 1", "tacit = 9", "F04"),
    ("[spend]", "[spned]", "F05"),
    ('query = "Mean"\ncolumns = "married"', 'query = "Maen"\ncolumns = "married"', "Q04"),
    ('columns = "married"', 'column = "married"', "Q05"),
    ('columns = "married"', 'columns = "marred"', "Q10"),
    ("lower = 18, upper = 93", "lower = 93, upper = 18", "S07"),
    ("lower = 18", "lowr = 18", "S05"),
    ('type = "Real"', 'type = "Reel"', "S04"),
    ("age = { type", "aeg = { type", "Q10"),
    ('units = "years"', 'units = "years", column = "aeg"', "D10"),
    ("rows = 500", "rows = 499", "F09"),
    ("rows = 500", "rows = 1", "F06"),
    ("share = 3", "share = 0", "F06"),
    ("rho = 0.2", "rho = -1", "B01"),
    ("people.parquet", "people.csv", "D02"),
    ("tacit = 1", "tacit = = 1", "F02"),
    ("[spend]", "[combine]\neffects = 'random'\n[spend]", "F07"),
    ("[budget]\nrho = 0.5", '[budget]\nrho = 0.5\nneighbours = "x"', "F05"),
]


@pytest.mark.parametrize(("old", "new", "code"), EDITS, ids=[f"{code}-{i}" for i, (_, _, code) in enumerate(EDITS)])
def test_mistakes_in_the_file_are_named(home: Path, old: str, new: str, code: str) -> None:
    text = JOB.replace(old, new, 1)
    assert text != JOB
    (home / "job.toml").write_text(text)
    shown = run(home, "release", "job.toml", code=2)
    assert f"[{code}]" in shown
    assert "Hint:" in shown
    assert not (home / "job.release.json").exists()


def test_a_plan_knows_the_ledger_beside_the_table(home: Path) -> None:
    (home / "job.toml").write_text(JOB.replace('ledger = "people.ledger"\n', ""))
    run(home, "release", "job.toml")
    assert "before: left 0.30 of 0.50" in run(home, "plan", "job.toml")


def test_a_terminal_without_greek_letters_gets_its_answer(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    assert "left 0.30 of 0.50" in run(home, "release", "job.toml")


def test_import_reports_and_writes_whole_or_not(home: Path) -> None:
    rows = ["age,sex,married,extra", "30,0,true,x", "abc,1,no,x", ",1,1,x", "40,7,false,x", "50,1", "99,0,?,x"]
    (home / "raw.csv").write_text("\n".join(rows) + "\n")
    shown = run(home, "import", "raw.csv", "--schema", "job.toml", "--out", "typed.parquet", code=2)
    assert "lines 6" in shown
    assert not (home / "typed.parquet").exists()
    report = json.loads(
        run(home, "import", "raw.csv", "--schema", "job.toml", "--out", "typed.parquet", "--drop-broken", "--json")
    )
    assert (report["rows"], report["broken"]) == (5, 1)
    assert report["columns"]["age"] == {"missing": 1, "unreadable": 1, "outside": 1, "unlisted": 0}
    assert report["columns"]["sex"]["unlisted"] == 1
    assert report["columns"]["married"]["unreadable"] == 1
    assert (home / "typed.parquet").exists()
    assert not (home / "people.ledger").exists()


def test_quantiles_and_quality_are_released_shown_and_drawn(home: Path) -> None:
    asked = """
[ask.ages]
query = "Quantiles"
column = "age"
probs = [0.1, 0.5]
level = 0.9
[ask.quality]
query = "DataQuality"
"""
    (home / "job.toml").write_text(JOB + asked)
    assert "[I14]" in run(home, "release", "job.toml", "--level", "0.95", code=2)  # before anything is spent
    assert not (home / "people.ledger").exists()
    assert "90% interval" in run(home, "release", "job.toml")
    shown = run(home, "show", "job.release.json")
    assert "90% interval" in shown  # each at its own level
    assert "95% interval" in shown
    rows = json.loads(run(home, "show", "job.release.json", "--name", "ages", "--json", "--level", "0.8"))["ages"]
    assert [row["term"] for row in rows] == ["0.1", "0.5"]
    assert "[I14]" in run(home, "show", "job.release.json", "--level", "0.95", code=2)
    for name in ("ages", "quality"):
        run(home, "show", "job.release.json", "--name", name, "--plot", f"{name}.png")
        assert (home / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_the_schema_of_releases_needs_no_file(home: Path) -> None:
    import tacit as tc

    assert json.loads(run(home, "show", "--schema")) == tc.release_schema()
    assert "C01" in run(home, "show", code=2)  # without it a file is asked for


def test_demo(home: Path) -> None:
    shown = run(home, "demo")
    assert "The same answer twice: True" in shown
    assert (home / "tacit-demo.png").exists()


def test_digest_ignores_what_stays_at_home(home: Path) -> None:
    from tacit.study.curator_file import load

    digest = load(home / "job.toml").digest()
    (home / "job.toml").write_text(JOB.replace("people.parquet", "other.parquet").replace("Made-up", "Some"))
    assert load(home / "job.toml").digest() == digest
    (home / "job.toml").write_text(JOB.replace("upper = 93", "upper = 94"))
    assert load(home / "job.toml").digest() != digest


def test_a_column_that_is_not_declared_is_named_with_its_section(home: Path) -> None:
    (home / "job.toml").write_text(JOB.replace('columns = "married"', 'columns = "maried"'))
    said = run(home, "check", "job.toml", code=2)
    assert "[ask.married] column 'maried' is not in the schema" in said
    assert "married" in said.split("Hint:")[1]


@pytest.mark.long
def test_what_is_worth_a_look_is_said_in_words(home: Path) -> None:
    """Half of the ages are in months: `tacit release` and `tacit show` say so, for people as `summary()` does."""
    people = tc.examples.people(500)
    people.loc[::2, "age"] *= 12
    people.to_parquet(home / "people.parquet")
    asked = JOB + '[ask.quality]\nquery = "DataQuality"\nshare = 4\n'
    (home / "job.toml").write_text(asked.replace("rho = 0.5", "rho = 50").replace("rho = 0.2", "rho = 20"))
    hint = "% above (bounds 18 to 93 years): are the bounds or the units right?"
    for words in (
        ("release", "job.toml"),
        ("show", "job.release.json"),
        ("show", "job.release.json", "--target=table"),
    ):
        shown = run(home, *words).splitlines()
        said = [line for line in shown if line.startswith("age: ") and line.endswith(hint)]
        assert len(said) == 1, shown
        assert not any("right?" in line for line in shown if not line.startswith("age: "))
    run(home, "show", "job.release.json", "--name", "quality", "--save", "quality.txt")
    assert hint in (home / "quality.txt").read_text()
    summary = tc.Releases.load(home / "job.release.json")["quality"].summary()
    assert summary.notes[0].endswith(hint)


@pytest.mark.long
def test_ranges_and_large_histograms_are_released_and_shown(home: Path) -> None:
    """Their summaries are of another shape: nothing may fail after the charge."""
    text = JOB[: JOB.index("[ask.mean-age]")] + '[ask.range]\nquery = "Range"\ncolumn = "age"\n'
    text += '[ask.cells]\nquery = "Histogram"\ncolumns = ["age", "sex", "married"]\n'
    text += "bins = { age = [" + ", ".join(str(18 + 0.25 * i) for i in range(301)) + "] }\n"
    # more than 200 bins of a column: the limit is on cells
    (home / "job.toml").write_text(text.replace("[18.0", "[18"))
    assert "part beyond the bounds" in run(home, "plan", "job.toml")
    shown = run(home, "release", "job.toml")
    assert "Range of age" in shown
    assert "Histogram of age" in shown
    assert "lower" in run(home, "show", "job.release.json", "--name", "range")
    assert json.loads(run(home, "show", "job.release.json", "--json"))["range"][0]["term"] == "age"
    run(home, "show", "job.release.json", "--name", "cells", "--plot", "cells.png", "--target", "table")
    assert (home / "cells.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.long
def test_models_are_fitted_to_a_histogram_of_a_file(home: Path) -> None:
    """`tacit fit`: tables, pictures and JSON of a model; what is wrong costs nothing and shows no traceback."""
    text = JOB[: JOB.index("[ask.mean-age]")] + '[ask.mean]\nquery = "Mean"\ncolumns = "age"\n'
    text += '[ask.cells]\nquery = "Histogram"\ncolumns = ["age", "sex", "married"]\nbins = { age = 10 }\n'
    (home / "job.toml").write_text(text)
    run(home, "release", "job.toml")
    words = ("fit", "job.release.json", "cells")
    logit = ("married ~ age + sex", "--model", "logistic")
    assert "Logistic regression · married ~ age + sex" in run(home, *words, *logit)
    found = json.loads(run(home, *words, *logit, "--json", "--level", "0.9"))
    assert next(one["term"] for one in found["terms"]) == "Intercept"
    assert found["model"] == "logistic"
    assert found["criteria"]["rows"] > 0
    run(home, *words, *logit, "--save", "table.tex", "--plot", "picture.svg")
    assert "tabular" in (home / "table.tex").read_text()
    assert (home / "picture.svg").stat().st_size > 1_000
    assert "normal" in run(home, *words, "age", "--family", "normal").lower()
    for wrong, code in (
        ((*words, "income ~ age"), "I41"),
        ((*words, "married ~ age", "--model", "logit"), "I44"),
        ((*words, "married ~ age", "--method", "lei"), "I44"),
        ((*words, "married ~ age", "--level", "0.2"), "I01"),
        (("fit", "job.release.json", "mean", "age ~ sex"), "C03"),
        (("fit", "job.release.json", "cell", "age ~ sex"), "R06"),
        ((*words, *logit, "--save", "job.release.json"), "R07"),
    ):
        assert code in run(home, *wrong, code=2), wrong
