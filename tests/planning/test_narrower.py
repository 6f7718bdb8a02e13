"""Plans name a histogram where it would tell the same regression more precisely, and what it promises is so."""

from __future__ import annotations

import numpy as np
import pytest

import tacit as tc
from tacit.fits.fit_release import fit_release
from tacit.planning import narrower

SCHEMA = tc.Schema(
    {
        "y": tc.Boolean(),
        "sex": tc.Category(["f", "m"]),
        "region": tc.Category(list("abcde")),
        "married": tc.Boolean(),
        "age": tc.Real(18, 93),
    }
)
QUERY = tc.Regression("y ~ sex + region", model="logistic")


def advice(query: tc.Regression, schema: tc.Schema = SCHEMA, **price: float) -> str | None:
    return tc.plan(query, schema, rows=10_000, **price).parts[0].narrower  # pyright: ignore[reportArgumentType]


def test_a_histogram_of_few_cells_is_named_at_a_pure_price() -> None:
    said = advice(QUERY, epsilon=1)
    assert said is not None
    assert said.startswith("a histogram of y, sex and region (20 cells) at the same price tells the same regression, ")
    assert 'fit("y ~ sex + region", model="logistic")' in said
    page = tc.plan(QUERY, SCHEMA, rows=10_000, epsilon=1).to_text()
    assert f"Regression (logistic) of y ~ sex + region: {said}" in page


def test_it_is_named_where_the_regression_has_no_answer() -> None:
    said = advice(tc.Regression("y ~ sex*region + married", model="logistic"), epsilon=0.3)
    assert said is not None
    assert said.endswith("with an answer")


@pytest.mark.parametrize(
    ("query", "price"),
    [
        (QUERY, {"rho": 1}),
        (tc.Regression("y ~ sex + age", model="logistic"), {"epsilon": 1}),
        (tc.Regression("y ~ sex + region", model="logistic", where="married"), {"epsilon": 1}),
    ],
    ids=["as precise", "a number", "some rows"],
)
def test_nothing_is_named_otherwise(query: tc.Regression, price: dict[str, float]) -> None:
    assert advice(query, **price) is None


def test_nothing_is_named_beyond_some_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrower, "MOST_CELLS", 19)
    assert advice(QUERY, epsilon=1) is None


def test_nothing_is_named_for_persons() -> None:
    schema = tc.Schema({**SCHEMA, "who": tc.PrivacyUnit(max_rows=3)})
    assert advice(tc.Regression("y ~ sex", model="logistic"), schema, epsilon=1) is None


def test_the_histogram_is_as_precise_as_the_plan_says() -> None:
    """Standard errors of one simulated release of drawn rows, relative to the plan's for the regression."""
    rng, n = np.random.default_rng(12), 10_000
    rows = {"sex": rng.choice(["f", "m"], n), "region": rng.choice(list("abcde"), n), "y": rng.random(n) < 0.5}
    plan = tc.plan(QUERY, SCHEMA, rows=n, epsilon=1).parts[0]
    assert plan.narrower is not None
    promised = float(plan.narrower.split("intervals ")[1].split(" times")[0])
    made = tc.testing.simulate(tc.Histogram(["y", "sex", "region"]), rows, SCHEMA, epsilon=1, repeats=1)
    found = fit_release(made.release(0), QUERY.formula, model="logistic").coefficients  # pyright: ignore
    planned = np.array([one.std_error for one in plan.terms])
    assert float(np.median(found.std_errors / planned)) == pytest.approx(promised, rel=0.15)
