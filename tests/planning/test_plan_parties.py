"""What a study's plan foretells of all parties together: against real combinations, and the ways to a width."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import TacitError

STUDY = """
tacit = 1
[table]
name = "hips"
rows = 900
[budget]
epsilon = 4
neighbors = "RELATION"
[schema]
x = { type = "Real", lower = 0, upper = 60, units = "days" }
sex = { type = "Category", levels = ["female", "male"] }
[spend]
epsilon = 1
[ask.x]
query = "Mean"
columns = "x"
[ask.spread]
query = "Variance"
columns = "x"
[ask.n]
query = "Sum"
columns = "x"
[combine]
effects = "common"
[parties.a]
[parties.b]
rows = 4_000
[parties.c]
rows = 400
[parties.d]
"""
SIZES = {"a": 900, "b": 4_000, "c": 400, "d": 900}


def study_of(*changes: tuple[str, str], relation: str = "add-remove") -> tc.Study:
    text = STUDY.replace("RELATION", relation)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return tc.Study.from_toml(text)


def made(study: tc.Study, **words: Any) -> Any:
    return study.plan(**words).parties


@pytest.mark.sample(4)
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("epsilon", [0.3, 4])
def test_pooled_widths_are_those_of_real_combinations(relation: str, epsilon: float) -> None:
    """Values spread evenly, as the page assumes.  A width follows the estimated variance, whose error over some 6,000
    rows and four noises is a few per cent: 15 % is beyond what six of them make."""
    study = study_of(("[spend]\nepsilon = 1", "[spend]\nepsilon = 4"), relation=relation)
    parties = made(study, epsilon=epsilon)
    rng = np.random.default_rng(1)
    answers = {
        name: tc.Curator({"x": rng.uniform(0, 60, n), "sex": ["female", "male"] * (n // 2)}, study, name=name).release(
            study, epsilon=epsilon
        )
        for name, n in SIZES.items()
    }
    found = study.combine(answers)
    for name in ("x", "spread") if epsilon == 4 else ("x",):
        low, high = found[name].estimate().conf_int()
        assert high - low == pytest.approx(parties.pooled(name, "x"), rel=0.15)
    assert parties.pooled("n", "x") is None


def test_a_party_of_another_size_is_as_if_it_were_planned_by_itself() -> None:
    """The rates 1 / N and 1 / N² hold between sizes to 2 %: 900 rows foretell 4,000."""
    (pool, *_) = made(study_of()).pools
    for rows in (400, 4_000):
        (other, *_) = made(study_of(), rows=rows).pools
        assert pool.variance((rows,)) == pytest.approx(other.variance((rows,)), rel=0.02)


def test_each_way_reaches_the_width_and_a_little_less_does_not() -> None:
    study = study_of()
    (way,) = made(study, width={"x": 0.9}).reaches
    pool = way.pool
    z = pool.width / math.sqrt(pool.variance(pool.sizes))

    def width(sizes: Any, **words: Any) -> float:
        return z * math.sqrt(pool.variance(sizes, **words))

    assert width((900,) * way.parties) <= 0.9 < width((900,) * (way.parties - 1))
    assert width(pool.sizes, rows=way.rows) == pytest.approx(0.9, rel=1e-6)
    dearer = made(study, epsilon=way.price.epsilon)
    assert dearer.pooled("x", "x") <= 0.9 * 1.001
    assert made(study, epsilon=way.price.epsilon * 19 / 20).pooled("x", "x") > 0.9
    assert way.parties > 4


def test_where_no_price_does() -> None:
    page = study_of().plan(width={"x": 0.5})
    (way,) = page.parties.reaches  # type: ignore[union-attr]
    assert way.price is None
    assert way.pool.without > 0.5
    assert "no price: sampling alone makes" in page.to_text()
    page = study_of(("epsilon = 4", "epsilon = 1")).plan(width={"x": 0.875})
    assert "which the budget does not admit" in page.to_text()
    assert "<h2>To be narrow enough</h2>" in page.to_html()


def test_where_privacy_is_free_and_where_not() -> None:
    """b / (a N) falls with the rows of a party and ε²; parties of the size or the price that are told just are free."""
    study = study_of()
    (pool, spread) = made(study).pools
    assert pool.added > 0.05
    larger = made(study, rows=pool.free_rows()).pools[0]
    assert larger.added == pytest.approx(0.05, rel=0.03)
    dear = made(study, epsilon=pool.free_price().epsilon).pools[0]
    assert 0.8 * 0.05 < dear.added <= 0.0515  # two digits, rounded up
    assert spread.added > pool.added
    text = study.plan().to_text()
    assert "Where privacy is free" in text
    assert f"free from {pool.free_rows():,} rows a party, or from {pool.free_price()} in all" in text
    assert "free, whatever the number of parties" in study.plan(rows=60_000, epsilon=4).to_text()
    many = study_of(("[parties.d]", "\n".join(f"[parties.d{i}]" for i in range(50))))
    assert made(many).pools[0].added == pool.added  # however many answer


def test_other_kinds_of_price() -> None:
    normal = study_of(("epsilon = 4", "rho = 4"), ("[spend]\nepsilon = 1", "[spend]\nrho = 0.5"))
    (way,) = made(normal, width={"x": 0.9}).reaches
    assert made(normal, rho=way.price.rho).pooled("x", "x") <= 0.9 * 1.001
    delta = "\ndelta = 1e-6"
    both = study_of(("epsilon = 4", f"epsilon = 4{delta}"), ("[spend]\nepsilon = 1", f"[spend]\nepsilon = 1{delta}"))
    (way,) = made(both, width={"x": 0.9}).reaches
    assert (way.price.kind, way.price.delta) == ("approximate", Fraction(1, 10**6))
    assert made(both, epsilon=way.price.epsilon, delta=way.price.delta).pooled("x", "x") <= 0.9 * 1.001
    assert f"{way.price} of each of them" in both.plan(width={"x": 0.9}).to_text()


def test_random_effects_and_studies_of_anybody() -> None:
    varied = study_of(('"common"', '"random"'))
    page = varied.plan(width={"x": 0.9})
    assert "2 t(M-1) τ/√M" in page.to_text()
    assert page.summary().columns[-1] == "without privacy"
    anybody = tc.Study.from_toml(STUDY.replace("RELATION", "add-remove").partition("[parties.a]")[0])
    (way,) = made(anybody, width={"x": 2.0}).reaches
    assert (way.parties > 0, way.rows, way.price) == (True, None, None)
    line = next(line for line in anybody.plan(width={"x": 2.0}).to_text().splitlines() if "2 wide" in line)
    assert line.endswith("parties of 900 rows at ε = 1")


@pytest.mark.parametrize("width", [1.0, {"n": 1.0}, {"y": 1.0}, {"x": 0}, {"x": float("nan")}, {"x": "1"}])
def test_widths_that_are_none(width: Any) -> None:
    with pytest.raises(TacitError) as caught:
        study_of().plan(width=width)
    assert caught.value.code == "Q40"
