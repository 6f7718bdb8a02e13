"""`tacit combine` as it is typed: tables and JSON, exit codes 0, 2 and 4, files saved."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command_line import run, said

import tacit as tc

STUDY = """
tacit = 1
title = "Ages by sex"
[table]
name = "ages-2024"
[budget]
epsilon = 1
[schema]
age = { type = "Real", lower = 18, upper = 93, units = "years" }
sex = { type = "Category", levels = { 0 = "male", 1 = "female" } }
[spend]
epsilon = 1
[ask.age]
query = "Mean"
columns = "age"
by = "sex"
[ask.cells]
query = "Histogram"
columns = "sex"
[combine]
effects = "common"
minimum = 2
[parties.st-mary]
[parties.st-luke]
[parties.st-john]
"""


@pytest.fixture(name="home", scope="module")
def what_came_back(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("study")
    (home / "study.toml").write_text(STUDY)
    (home / "returned").mkdir()
    study = tc.Study.from_toml(STUDY)
    for seed, name in enumerate(study.parties):
        table = study.schema.example(400, rng=seed)
        tc.Curator(table, study, name=name).release(study).save(home / "returned" / f"{name}.release.json")
    return home


def test_all_are_combined(home: Path) -> None:
    shown = run(home, "combine", "study.toml", "returned/*.json", "--save", "results/")
    assert "Ages by sex · 3 parties · common effects" in shown
    assert "age: female" in shown
    assert (home / "results" / "age.parties.csv").exists()
    words = said(home, "combine", "study.toml", "returned", "--effects", "random", "--level", "0.9")
    assert words["parties"] == ["st-mary", "st-luke", "st-john"]
    assert [row["term"] for row in words["combined"]["age"]] == ["male", "female"]


def test_wrong_ones_are_refused_and_the_rest_is_combined(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path / "study")
    here = tmp_path / "study"
    path = here / "returned" / "st-luke.release.json"
    path.write_text(path.read_text().replace('"table": "st-luke"', '"table": "st-lucas"'))
    words = said(here, "combine", "study.toml", "returned", code=4)
    assert "changed after it was saved" in words["refused"]["st-luke"]
    assert words["missing"] == []
    assert words["parties"] == ["st-mary", "st-john"]
    (here / "returned" / "st-john.release.json").unlink()
    few = run(here, "combine", "study.toml", "returned", code=2)
    assert "C21" in few
    assert "st-luke" in few


def test_standard_errors_and_the_forest_plot(home: Path, tmp_path: Path) -> None:
    shown = run(home, "combine", "study.toml", "returned", "--plot", str(tmp_path / "forest.svg"))
    assert "std. error" in shown
    assert f"forest plot in {tmp_path / 'forest.svg'}" in shown
    picture = (tmp_path / "forest.svg").read_text()
    assert picture.count("<!-- together -->") == 2  # a bold line each for male and female; none for the histogram
    assert "<!-- st-luke -->" in picture
    words = said(home, "combine", "study.toml", "returned", "--plot", str(tmp_path / "forest.gif"), code=2)
    assert words["code"] == "F10"
    here = str(home / "returned" / "st-luke.release.json")
    assert said(home, "combine", "study.toml", here, "--plot", here, code=2)["code"] == "R07"


def test_a_missing_party_is_exit_code_4(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path / "study")
    here = tmp_path / "study"
    (here / "returned" / "st-john.release.json").unlink()
    words = said(here, "combine", "study.toml", "returned", code=4)
    assert words["missing"] == ["st-john"]
    assert words["refused"] == {}
    (here / "returned" / "notes.json").write_text("hello")
    shutil.copy(home / "returned" / "st-john.release.json", here / "returned")
    assert list(said(here, "combine", "study.toml", "returned")["refused"]) == ["notes"]  # nobody is left out


def test_bad_words(home: Path) -> None:
    for words, code in (
        (("nowhere/*.json",), "C20"),
        (("returned", "--effects", "mixed"), "C17"),
        (("returned", "--level", "0.2"), "I01"),
        (("returned", "--save", "study.toml"), "F08"),
    ):
        assert json.loads(json.dumps(said(home, "combine", "study.toml", *words, code=2)))["code"] == code


def test_the_table_says_who_is_left_out_of_which_question(tmp_path: Path) -> None:
    """A regression of two parties stood under "3 parties", with an interval that nothing explained."""
    text = STUDY.replace("epsilon = 1", "rho = 20").replace('effects = "common"', 'effects = "random"')
    text = text.replace("[spend]", 'g = { type = "Category", levels = ["a", "b", "c", "d", "e", "f"] }\n[spend]')
    line = '[ask.line]\nquery = "Regression"\nformula = "age ~ sex + g"'
    text = text.replace('[ask.cells]\nquery = "Histogram"\ncolumns = "sex"', line)
    (tmp_path / "study.toml").write_text(text)
    study = tc.Study.from_toml(text)
    # st-john's number of rows would have to be 4 standard deviations above none (3e-5), and noise in the products of
    # seven regressors below 35% of it besides, which is several times as large: together far below 1e-6
    for seed, (name, rows, rho) in enumerate((("st-mary", 4_000, 20), ("st-luke", 4_000, 20), ("st-john", 5, "1e-4"))):
        table = study.schema.example(rows, rng=seed)
        tc.Curator(table, study, name=name).release(study, rho=rho).save(tmp_path / f"{name}.json")
    shown = run(tmp_path, "combine", "study.toml", "*.json")
    assert "line: noise leaves no coefficients, left out: st-john\n" in shown
    assert shown.count("Hartung and Knapp's t") == 1
