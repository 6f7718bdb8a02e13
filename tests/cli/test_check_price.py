"""`tacit check` of a file whose price is more than its budget."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import JOB, a_home, run

home = pytest.fixture(a_home, name="home")
BUDGET, SPEND = "[budget]\nrho = 0.5", "[spend]\nrho = 0.2"


def written(home: Path, budget: str, spend: str) -> None:
    (home / "job.toml").write_text(JOB.replace(BUDGET, f"[budget]\n{budget}").replace(SPEND, f"[spend]\n{spend}"))


@pytest.mark.parametrize(
    ("budget", "spend", "words"),
    [
        ("rho = 0.5", "rho = 0.7", "[B30] [spend] is ρ = 0.7; its [budget] is ρ = 0.5, for all releases together."),
        ("epsilon = 1", "epsilon = 2", "[B30] [spend] is ε = 2; its [budget] is ε = 1,"),
        ("epsilon = 1\ndelta = 1e-6", "epsilon = 3\ndelta = 1e-6", "its [budget] is ε = 1, δ = 1e-06,"),
        ("epsilon = 1\ndelta = 1e-6", "rho = 0.5", "[B30] [spend] is ρ = 0.5;"),
        ("epsilon = 1", "rho = 0.1", "[B04] [spend]: the budget is ε = 1, which admits pure prices only"),
    ],
)
def test_a_price_beyond_the_budget_is_named_with_both_values(home: Path, budget: str, spend: str, words: str) -> None:
    written(home, budget, spend)
    shown = run(home, "check", "job.toml", code=2)
    assert words in shown
    assert "Nothing was read or spent" in shown
    assert not (home / "people.ledger").exists()


def test_the_error_says_what_fits(home: Path) -> None:
    written(home, "rho = 0.5", "rho = 0.7")
    shown = run(home, "check", "job.toml", code=2)
    assert "rho = 0.5 keeps both, each with 71% of its share; or a larger [budget], before the ledger is made" in shown
    written(home, "rho = 0.5", "rho = 0.5")
    assert "3 columns agree" in run(home, "check", "job.toml")


@pytest.mark.parametrize("spend", ["rho = 0.017", "epsilon = 1\ndelta = 1e-6", "epsilon = 0.18"])
def test_a_price_of_another_kind_is_taken_as_it_would_be_charged(home: Path, spend: str) -> None:
    """Noise at ρ costs μ² = 2 ρ, a selection more: what fits depends on the questions, not on the worst of all."""
    written(home, "epsilon = 1\ndelta = 1e-6", spend)
    shown = run(home, "check", "job.toml", code=0)
    assert "3 columns agree" in shown
    run(home, "release", "job.toml")


def test_a_raised_total_counts(home: Path) -> None:
    """The file of a ledger whose total was raised leaves the budget out, or writes the new one."""
    run(home, "release", "job.toml")
    run(home, "budget", "people.ledger", "--raise-to-rho", "0.9", "--note", "board 31")
    assert "[L01]" in run(home, "check", "job.toml", code=2)  # as `tacit release` would say
    without = JOB.replace(BUDGET, "").replace("[ask.", "[ask.second-")  # the names of before are taken
    (home / "job.toml").write_text(without.replace(SPEND, "[spend]\nrho = 0.7"))
    assert "3 columns agree" in run(home, "check", "job.toml")
    (home / "job.toml").write_text(without.replace(SPEND, "[spend]\nrho = 1"))
    shown = run(home, "check", "job.toml", code=2)
    assert "[B30] [spend] is ρ = 1; the total of its ledger is ρ = 0.9" in shown
    assert "or raise the total: tacit budget LEDGER" in shown


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('by = "sex"', 'by = "age"\n#', "[Q13] [ask.mean-age]"),
        ('columns = "married"', 'columns = "sex"', "[Q11] [ask.married]"),
        ('query = "Mean"\ncolumns = "married"', 'query = "Histogram"\ncolumns = "age"', "[Q64] [ask.married]"),
        ('query = "Mean"', 'query = "total"', 'query = "Sum"'),
        ("[ask.mean-age]", "[ask]", "[ask.revenue] in place of [ask]"),
        ("[ask.mean-age]", "[questions.mean-age]", "Hint: ask"),
        ("[spend]", "[price]", "Hint: spend"),
        ("lower = 18, upper = 93", "bounds = [18, 93]", "lower = 0, upper = 100"),
        ("lower = 18, upper = 93", "min = 18, max = 93", "lower = …"),
        ('path = "people.parquet"', 'path = "s3://bucket/people.parquet"', "is an address"),
    ],
)
def test_what_release_would_refuse_is_refused_by_check(home: Path, old: str, new: str, words: str) -> None:
    job = JOB.replace('columns = "age"\nby', 'columns = "married"\nby') if "by =" in old else JOB
    assert old in job
    for rows in ("rows = 500", ""):  # a file need not give the number of rows
        (home / "job.toml").write_text(job.replace(old, new, 1).replace("rows = 500", rows))
        assert words in run(home, "check", "job.toml", code=2)
    assert not (home / "people.ledger").exists()


def test_a_minimum_that_cannot_be_reached_is_said(home: Path) -> None:
    study = (
        'tacit = 1\n[table]\nname = "s"\n[budget]\nepsilon = 1\n[schema]\nmarried = { type = "Boolean" }\n[spend]\n'
        'epsilon = 1\n[ask.a]\nquery = "Mean"\ncolumns = "married"\n[combine]\nminimum = 3\n[parties.x]\n[parties.y]\n'
    )
    (home / "study.toml").write_text(study)
    assert "minimum is 3, and 2 are listed: no pooled result" in run(home, "check", "study.toml")
    (home / "study.toml").write_text(study.replace("minimum = 3", "minimum = 2"))
    assert "minimum is" not in run(home, "check", "study.toml")


def test_questions_of_a_study_are_designed_too(home: Path) -> None:
    study = (
        'tacit = 1\n[table]\nname = "s"\n[budget]\nepsilon = 1\n[schema]\nmarried = { type = "Boolean" }\n'
        'age = { type = "Real", lower = 0, upper = 90 }\n[spend]\nepsilon = 1\n[ask.a]\nquery = "Mean"\n'
        'columns = "married"\nby = "age"\n[combine]\nminimum = 1\n'
    )
    (home / "study.toml").write_text(study)
    shown = run(home, "check", "study.toml", code=2)
    assert "[Q13] [ask.a] column 'age' is a Real" in shown
    assert "bins = { age = [0, 30, 60, 90] }" in shown
