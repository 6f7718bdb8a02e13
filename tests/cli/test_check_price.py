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
    without = JOB.replace(BUDGET, "")
    (home / "job.toml").write_text(without.replace(SPEND, "[spend]\nrho = 0.7"))
    assert "3 columns agree" in run(home, "check", "job.toml")
    (home / "job.toml").write_text(without.replace(SPEND, "[spend]\nrho = 1"))
    shown = run(home, "check", "job.toml", code=2)
    assert "[B30] [spend] is ρ = 1; the total of its ledger is ρ = 0.9" in shown
    assert "or raise the total: tacit budget LEDGER" in shown
