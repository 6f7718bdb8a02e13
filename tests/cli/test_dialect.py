"""Hints speak Python in Python and the shell in a shell; a plan that will be refused says what would fit."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import a_home, run, said

import tacit as tc
from tacit.cli.dialect import in_shell, text_in_shell

home = pytest.fixture(a_home, name="home")
OPTIONS = {"epsilon": "--epsilon", "delta": "--delta", "rho": "--rho", "level": "--level", "note": "--note"}


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("epsilon=1, or rho=0.1, or epsilon=1, delta=1e-6", "--epsilon 1, or --rho 0.1, or --epsilon 1 --delta 1e-6"),
        (
            "rho=0.13 keeps all five, each with 65% of its share",
            "--rho 0.13 keeps all five, each with 65% of its share",
        ),
        ('note="board 31"', '--note "board 31"'),
        ('curator.raise_budget(rho=0.8, note="b")', 'tacit budget LEDGER --raise-to-rho 0.8 --note "board 31"'),
        ('Budget(epsilon=1, delta=1e-6, accounting="zcdp")', '[budget] epsilon = 1, delta = 1e-6, accounting = "zcdp"'),
        ('"income": Real(0, 100) in the schema', 'income = { type = "Real", lower = 0, upper = 100 } in [schema]'),
        ('Category({0: "m"})', '{ type = "Category", levels = { 0 = "m" } }'),
        ('Curator(…, size_hint=10_000), or bins={"age": 10}', "[table] rows = 10_000, or bins = { age = 10 }"),
        ('bounds={"log(x)": (-5, 5)}', 'bounds = { "log(x)" = [-5, 5] }'),
        ('"fare": {"mean": …, "sd": …}, and more', "fare = { mean = …, sd = … }, and more"),
        ("conf_int(0.95)", "--level 0.95"),
        ('tc.Mean("fare")', 'query = "Mean", columns = "fare"'),
        ("one_step=True", "one_step = true"),
        ("another path", "another path"),
    ],
)
def test_a_hint_in_both_dialects(python: str, shell: str) -> None:
    assert in_shell(python, OPTIONS) == shell


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("level=0.9 or note=.", "--level 0.9 or --note."),
        ("by= makes 9 cells", "by makes 9 cells"),
        ('bins="auto" goes by rows', 'bins = "auto" goes by rows'),
        ("bias='best' is none of a, b.", 'bias = "best" is none of a, b.'),
        ("fresh is 3: neither True nor False.", "fresh is 3: neither true nor false."),
        # what is quoted, or a path, is not the library's to reword
        ("where of Mean: 'age=3 or True' is no condition.", "where of Mean: 'age=3 or True' is no condition."),
        ("there is no file year=2024/a.csv or b/rows=.csv", "there is no file year=2024/a.csv or b/rows=.csv"),
        ("the party's level=1 is 'x'.", "the party's --level 1 is 'x'."),
    ],
)
def test_a_text_in_both_dialects(python: str, shell: str) -> None:
    assert text_in_shell(python, OPTIONS) == shell


def test_an_error_speaks_the_dialect_of_where_one_is(home: Path) -> None:
    (home / "job.toml").write_text((home / "job.toml").read_text() + '[ask.q]\nquery = "Quantiles"\n'
                                   'column = "age"\nprobs = [0.5]\ninterval = "no"\n')  # fmt: skip
    assert "neither true nor false" in run(home, "plan", "job.toml", code=2)


def test_the_same_refusal_in_python_and_in_a_shell(home: Path) -> None:
    assert said(home, "release", "job.toml", "--rho", "0.9", code=3)["hint"].startswith("--rho 0.5 keeps both")
    curator = tc.Curator({"age": [1.0, 2.0]}, tc.Schema({"age": tc.Real(0, 9)}), budget=tc.Budget(rho=0.5))
    with pytest.raises(tc.TacitError) as refused:
        curator.release(tc.Mean("age"), rho=0.9)
    assert (refused.value.code, refused.value.hint) == ("B02", "rho=0.5 fits, 55% of this price")


def test_a_plan_says_run_only_where_the_budget_will_admit_it(home: Path) -> None:
    page = run(home, "plan", "job.toml", "--rho", "0.9")
    assert "Run" not in page
    assert page.rstrip().endswith(
        "Not now: the release would be refused\n  --rho 0.5 keeps both, each with 55% of its share"
    )
    assert run(home, "plan", "job.toml").rstrip().endswith("Run\n  tacit release job.toml")


def test_a_plan_under_a_limit_says_what_the_limit_leaves(home: Path) -> None:
    run(home, "release", "job.toml")
    run(home, "budget", "people.ledger", "--analyst", "alice", "--limit-to-rho", "0.05", "--note", "board 31")
    page = run(home, "plan", "job.toml", "--rho", "0.1", "--analyst", "alice")
    assert "Not now: the release would be refused\n  --rho 0.05 keeps both" in page
    assert "Run" not in page


def test_a_mistake_in_a_file_is_mended_in_the_file(home: Path) -> None:
    text = (home / "job.toml").read_text()
    (home / "job.toml").write_text(text.replace("[budget]\nrho = 0.5", "[budget]\nepsilon = 0.5\ndelta = 0.5"))
    assert said(home, "plan", "job.toml", code=2)["hint"] == "delta = 1e-6"
    (home / "job.toml").write_text(text + '[ask.q]\nquery = "Mean"\ncolumns = "age"\ngroupby = "sex"\n')
    assert said(home, "plan", "job.toml", code=2)["hint"] == "by = …"
    (home / "job.toml").write_text(text)
    hint = said(home, "plan", "job.toml", "--expect", "age = { mean = 30 }", code=2)["hint"]
    assert hint.startswith("age = { mean = …, sd = … }")
