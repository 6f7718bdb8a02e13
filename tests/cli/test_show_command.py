"""`tacit show`: a ledger's questions with their answers, and tables and pictures of several releases at once."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import JOB, a_home, run

import tacit as tc
from tacit.ledger import Request, open_recorded
from tacit.privacy import Cost

MORE = """
[ask."cells of a/b"]
query = "Histogram"
columns = ["age", "sex"]
bins = { age = 3 }
"""
NAMES = ["mean-age", "married", "cells of a/b"]
home = pytest.fixture(a_home, name="home")


@pytest.fixture(name="bought")
def three_answers(home: Path) -> Path:
    """A folder where three answers were released, and their ledger."""
    (home / "job.toml").write_text(JOB + MORE)
    run(home, "release", "job.toml")
    return home


def test_a_ledger_lists_its_questions_and_answers(bought: Path) -> None:
    shown = run(bought, "show", "people.ledger")
    lines = shown.splitlines()
    assert [line.split("  ")[0] for line in lines[2:5]] == NAMES
    assert "Mean of age by sex" in lines[2]
    release = tc.Releases.load(bought / "job.release.json")["mean-age"]
    for row in release.estimate().summary().rows:  # the numbers of the release itself
        assert f"{row[0]}: {row[1]} ({row[3]})" in lines[2]
    assert "Histogram of age and sex" in lines[4]
    assert "6 lines" in lines[4]
    # whole answers are those of the file that was released
    for name in NAMES:
        words = ("--name", name)
        assert run(bought, "show", "people.ledger", *words) == run(bought, "show", "job.release.json", *words)
    listed = json.loads(run(bought, "show", "people.ledger", "--json"))
    assert listed["answers"] == json.loads(run(bought, "show", "job.release.json", "--json"))
    assert [one["question"] for one in listed["questions"]][1] == "Mean of married"
    assert "[R06]" in run(bought, "show", "people.ledger", "--name", "maried", code=2)


def test_names_of_a_ledger_are_told_apart_by_table_and_charge(bought: Path) -> None:
    """Two tables with answers of one name, one answer without a name, and a charge whose answer was never stored."""
    ledger = str(bought / "people.ledger")
    schema = tc.Schema({"married": tc.Boolean()})
    facts = {"name": "people-2025", "ledger": ledger}
    curator = tc.Curator(tc.examples.people(400), schema, **facts)  # type: ignore[arg-type]
    curator.release(tc.Mean("married"), rho=0.01, name="married")
    curator.release(tc.Mean("married"), rho=0.02)
    opened = open_recorded(ledger)
    opened.charge(Request("people-2025", ("lost",), "{}", Cost.of(rho="0.01")))
    opened.close()
    lines = run(bought, "show", "people.ledger").splitlines()
    assert [line.split("  ")[0] for line in lines[2:-1]] == [
        "mean-age", "people-2024/married", "cells of a/b", "people-2025/married", "charge 3", "lost",
    ]  # fmt: skip
    assert "none is stored" in lines[7]
    assert "Mean of married" in run(bought, "show", "people.ledger", "--name", "charge 3")
    assert "400 rows" in run(bought, "show", "people.ledger", "--name", "people-2025/married")


def test_a_ledger_that_was_changed_shows_nothing(bought: Path) -> None:
    place = bought / "people.ledger"
    text = place.read_bytes()
    place.write_bytes(text.replace(b"mean-age", b"mean-agf"))
    shown = run(bought, "show", "people.ledger", code=2)
    assert "[L10]" in shown
    assert "interval" not in shown


def test_several_tables_are_one_document(bought: Path) -> None:
    tables = {name: one.estimate().summary() for name, one in tc.Releases.load(bought / "job.release.json").items()}
    for suffix, mark in ((".md", "| ---:"), (".html", "<tbody"), (".txt", " interval"), (".tex", r"\begin{table}")):
        assert f"saved to all{suffix}" in run(bought, "show", "job.release.json", "--save", f"all{suffix}")
        text = (bought / f"all{suffix}").read_text(encoding="utf-8")
        assert text.count(mark) >= 3
        places = [text.index(str(one.rows[-1][1])) for one in tables.values()]
        assert places == sorted(places)
    assert [f"\\label{{tab:{one}}}" in text for one in ("mean-age", "married", "cells-of-a-b")] == [True] * 3
    assert (bought / "all.html").read_text(encoding="utf-8").count("<!doctype html>") == 1
    run(bought, "show", "people.ledger", "--save", "all.json")
    found = json.loads((bought / "all.json").read_text(encoding="utf-8"))
    assert [one["title"] for one in found] == [one.title for one in tables.values()]


def test_csv_and_pictures_are_one_for_each(bought: Path) -> None:
    shown = run(bought, "show", "job.release.json", "--save", "t.csv", "--plot", "p.svg")
    plain = ["mean-age", "married", "cells_of_a_b"]
    assert f"saved to {', '.join(f't-{one}.csv' for one in plain)}" in shown
    assert f"drawn in {', '.join(f'p-{one}.svg' for one in plain)}" in shown
    for one in plain:
        assert "estimate" in (bought / f"t-{one}.csv").read_text(encoding="utf-8").splitlines()[0]
        assert (bought / f"p-{one}.svg").stat().st_size > 1_000
    assert not (bought / "t.csv").exists()
    # nothing is written where one of them would replace what is read
    (bought / "t-x.json").write_bytes((bought / "job.release.json").read_bytes())
    assert "[F10]" in run(bought, "show", "t-x.json", "--save", "t.docx", code=2)
    assert "[R07]" in run(bought, "show", "t-x.json", "--save", "t-x.json", code=2)
    assert "[R07]" in run(bought, "show", "t-x.json", "--plot", "nowhere/p.png", code=2)


def test_saved_numbers_are_those_of_the_frame(bought: Path) -> None:
    """CSV and JSON files are for programs: full precision, one number a cell, no thousands separators or intervals."""
    release = tc.Releases.load(bought / "job.release.json")["mean-age"]
    found = release.estimate()
    run(bought, "show", "job.release.json", "--name", "mean-age", "--save", "age.csv", "--level", "0.9")
    table = pd.read_csv(bought / "age.csv")
    assert list(table.columns) == ["sex", "estimate", "std_error", "lower", "upper", "privacy_share", "reason"]
    assert list(table["sex"]) == list(found.terms)
    for column in ("estimate", "std_error", "lower", "upper", "privacy_share"):
        # the text of a float reads back as that float, up to the last digit
        np.testing.assert_allclose(table[column], found.to_frame(0.9)[column], rtol=1e-14)
    run(bought, "show", "job.release.json", "--name", "mean-age", "--save", "age.json", "--level", "0.9")
    words = json.loads((bought / "age.json").read_text())
    assert words["title"] == found.summary().title
    assert words["notes"] == list(found.summary().notes)
    assert words["columns"] == list(table.columns)
    np.testing.assert_allclose([row[1] for row in words["rows"]], table["estimate"], rtol=1e-14)


def test_saved_numbers_leave_cells_empty_where_there_is_a_reason(tmp_path: Path) -> None:
    """A dash in the table is an empty cell in a file, not the number that stands in its place inside."""
    schema = tc.Schema({"age": tc.Real(0, 100), "sex": tc.Category(["f", "m", "nobody"])})
    rows = {"age": [30.0, 40.0] * 400, "sex": ["f", "m"] * 400}
    curator = tc.Curator(rows, schema, name="few", budget=tc.Budget(rho=20), ledger=str(tmp_path / "few.ledger"))
    curator.release(tc.Mean("age", by="sex"), rho=20).save(tmp_path / "few.json")
    run(tmp_path, "show", "few.json", "--save", "few.csv")
    table = pd.read_csv(tmp_path / "few.csv")
    assert table["estimate"].isna().tolist() == [False, False, True]
    assert table["std_error"].isna().tolist() == [False, False, True]
    assert table["reason"].isna().tolist() == [True, True, False]
    run(tmp_path, "show", "few.json", "--save", "saved.json")
    words = json.loads((tmp_path / "saved.json").read_text())
    assert words["rows"][2][1] is None
    assert "number of rows" in words["rows"][2][6]


DENSITIES = """
[ask.set]
query = "KSDataset"
column = "age"
size = 20
cells = 10
[ask.kernel]
query = "KernelDensity"
columns = "age"
[ask.shares]
query = "Bernstein"
column = "age"
degree = 6
"""


def test_whole_distributions_are_planned_released_and_drawn_as_curves(home: Path) -> None:
    (home / "job.toml").write_text(JOB + DENSITIES)
    assert "a data set of 20 points drawn at random" in run(home, "plan", "job.toml")
    run(home, "release", "job.toml")
    run(home, "show", "job.release.json", "--plot", "p.svg")
    for name in ("set", "kernel", "shares"):
        # a curve with its band, not a list of intervals
        assert "band" in (home / f"p-{name}.svg").read_text(encoding="utf-8")


def test_of_a_long_table_head_and_tail_are_printed(home: Path) -> None:
    """Hundreds of cells do not fill the terminal; `--all`, a file and `--json` have them."""
    (home / "job.toml").write_text(
        JOB.replace("[ask.married]", "[ask.cells]\nbins = { age = 75 }").replace(
            '"Mean"\ncolumns = "married"', '"Histogram"\ncolumns = ["age", "sex"]'
        )
    )
    said = run(home, "release", "job.toml")
    assert "120 of 150 rows are not shown: tacit show job.release.json --all" in said
    shown = run(home, "show", "job.release.json", "--name", "cells", "--save", "cells.csv")
    assert len(shown.splitlines()) < 45
    assert "120 of 150 rows are not shown: --all, or --save table.csv" in shown
    assert len((home / "cells.csv").read_text().splitlines()) == 151
    whole = run(home, "show", "job.release.json", "--name", "cells", "--all")
    assert "not shown" not in whole
    assert len(whole.splitlines()) > 150
    assert len(json.loads(run(home, "show", "job.release.json", "--name", "cells", "--json"))["cells"]) == 150


BENT = """
tacit = 1
[table]
name = "bent"
rows = 20_000
[data]
path = "bent.parquet"
ledger = "bent.ledger"
[budget]
rho = 1
[schema]
x = { type = "Real", lower = 0, upper = 20 }
y = { type = "Real", lower = -1, upper = 4 }
[spend]
rho = 0.02
[ask.slope]
query = "Regression"
formula = "y ~ x"
"""


def test_a_regression_whose_mean_is_told_to_be_linear_has_smaller_errors(home: Path) -> None:
    rng = np.random.default_rng(4)
    x = rng.exponential(1, 20_000)
    pd.DataFrame({"x": x, "y": np.log1p(x) + rng.normal(0, 0.3, len(x))}).to_parquet(home / "bent.parquet")
    (home / "bent.toml").write_text(BENT)
    run(home, "release", "bent.toml")
    release = tc.Releases.load(home / "bent.release.json")["slope"]
    plain, told = (run(home, "show", "bent.release.json", *words) for words in ((), ("--linear",)))
    rows = [line for one in release.estimate(linear=True).summary().rows for line in one]
    assert all(str(cell) in told for cell in rows)
    assert "taken to be linear" in told
    assert "taken to be linear" not in plain
    errors = [
        json.loads(run(home, "show", "bent.release.json", *words, "--json"))["slope"][1]["std_error"]
        for words in ((), ("--linear",))
    ]
    assert errors == pytest.approx([release.estimate(linear=flag).std_errors[1] for flag in (False, True)])
    assert "drawn in" in run(home, "show", "bent.release.json", "--linear", "--plot", "p.svg")


def test_linear_of_a_file_without_regressions_is_refused(bought: Path) -> None:
    assert "[C03]" in run(bought, "show", "job.release.json", "--linear", code=2)
