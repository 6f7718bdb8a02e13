"""A price or a budget in μ is refused with the pair that is as much, and never more."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit as tc
from tacit.privacy.gaussian import epsilon_delta_to_mu_squared
from tacit.privacy.prices_in_mu import DELTA, DIGITS, pair_within
from tacit.study.curator_file import load

SCHEMA = tc.Schema({"age": tc.Real(0, 100)})


def curator() -> tc.Curator:
    return tc.Curator({"age": [30, 40, 50]}, SCHEMA, budget=tc.Budget(rho=0.5))


CALLS: dict[str, tuple[str, Callable[..., Any]]] = {
    "Budget": ("B18", tc.Budget),
    "Cost": ("B18", tc.Cost),
    "Cost.of": ("B18", tc.Cost.of),
    "release": ("Q05", lambda **words: curator().release(tc.Mean("age"), **words)),
    "plan of a curator": ("Q05", lambda **words: curator().plan(tc.Mean("age"), **words)),
    "plan": ("Q05", lambda **words: tc.plan(tc.Mean("age"), SCHEMA, rows=100, **words)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_price_in_mu_has_the_pair_for_a_hint(name: str) -> None:
    code, call = CALLS[name]
    with pytest.raises(tc.TacitError, match="has no argument 'mu'") as caught:
        call(mu=0.5)
    assert caught.value.code == code
    found = re.search(r"epsilon=(\S+), delta=(\S+) is as much", str(caught.value))
    assert found is not None
    held = epsilon_delta_to_mu_squared(found[1], found[2])
    # six digits of ε: below, and by next to nothing
    assert Fraction("0.24999") < held <= Fraction(1, 4)


@pytest.mark.parametrize("mu", ["0.0001", "0.01", "0.1", "0.2367", "1/3", "1", "3.7", "12", "40"])
def test_the_pair_is_never_more_and_the_next_one_is(mu: str) -> None:
    epsilon, square = pair_within(mu), Fraction(mu) ** 2
    assert epsilon is not None
    assert epsilon_delta_to_mu_squared(epsilon, DELTA) <= square
    assert epsilon_delta_to_mu_squared(epsilon * (1 + Fraction(2, 10 ** (DIGITS - 1))), DELTA) > square


@pytest.mark.parametrize("mu", [0, -1, "many", None, float("nan"), 1e-9, 1000, [1]])
def test_what_is_no_mu_has_an_example(mu: Any) -> None:
    with pytest.raises(tc.TacitError, match="epsilon=1, delta=1e-6") as caught:
        tc.Budget(mu=mu)  # type: ignore[call-arg]
    assert caught.value.code == "B18"


def test_another_unknown_word_is_refused_in_words() -> None:
    for call in (tc.Cost, tc.Cost.of):
        with pytest.raises(tc.TacitError, match="epsilon=") as caught:
            call(eps=1)  # type: ignore[call-arg]
        assert caught.value.code == "B18"


@pytest.mark.parametrize("section", ["budget", "spend"])
def test_a_file_says_it_too(section: str, tmp_path: Path) -> None:
    other = {"budget": "spend", "spend": "budget"}[section]
    path = tmp_path / "curator.toml"
    path.write_text(
        "tacit = 1\n"
        f'[{section}]\nmu = 0.5\n[{other}]\nrho = 0.1\n[schema]\nage = {{ type = "Real", lower = 0, upper = 100 }}\n'
        '[ask.age]\nquery = "Mean"\ncolumns = "age"\n'
    )
    with pytest.raises(tc.TacitError, match=r"epsilon=2\.25408, delta=1e-06") as caught:
        load(path)
    assert caught.value.code == "F05"
