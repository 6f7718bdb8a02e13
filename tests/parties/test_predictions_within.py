"""A prediction for one more party lies within what can be: shares within 0 and 1, means within their bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit as tc

SCHEMA = tc.Schema({"ill": tc.Boolean(), "stay": tc.Real(10, 90), "sex": tc.Category(["f", "m"])})


def parties(query: Any) -> dict[str, Any]:
    """Four parties, of which one differs much from the others, which lie near the lower end."""
    made: dict[str, Any] = {}
    for name, share, mean in (("a", 0.01, 11), ("b", 0.02, 12), ("c", 0.3, 60), ("d", 0.015, 11)):
        i = np.arange(400)
        rows = {
            "ill": ((i * 37 % 400) < 400 * share).tolist(),
            "stay": np.clip(mean + (i * 7 % 400) / 200 - 1, 10, 90),
            "sex": np.where(i % 2 == 0, "f", "m").tolist(),
        }
        curator = tc.Curator(rows, SCHEMA, name=name, budget=tc.Budget(rho=100))
        made[name] = curator.release(query, rho=50)
    return made


QUESTIONS: dict[str, tuple[Any, float, float]] = {
    "a share": (tc.Mean("ill"), 0, 1),
    "shares by group": (tc.Mean("ill", by="sex"), 0, 1),
    "a mean": (tc.Mean("stay"), 10, 90),
    "two columns": (tc.Mean(["stay", "ill"]), 0, 90),
    "a variance": (tc.Variance("stay"), 0, 1600),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_prediction_is_kept_within_its_bounds(name: str) -> None:
    query, least, most = QUESTIONS[name]
    made = tc.combine(parties(query), effects="random")
    cut = 0
    for t, term in enumerate(made.terms):
        ends = (least, most) if name != "two columns" else (0, 1) if term == "ill" else (10, 90)
        found, free = made.prediction_of(t), made.effects_of(t)
        assert found is not None
        assert free is not None
        raw = free.prediction(0.95)
        assert raw is not None
        assert found == pytest.approx(np.clip(raw, *ends))
        cut += raw[0] < ends[0]
    # the very case: without the bounds it would begin below them
    assert cut
    low = np.asarray(made.estimate().prediction() if len(made.terms) > 1 else [made.estimate().prediction()])[:, 0]
    assert (low >= least).all()
    assert "one more party: -" not in str(made.estimate())


def test_a_regression_has_no_bounds() -> None:
    rng = np.random.default_rng(3)
    schema = tc.Schema({"x": tc.Real(0, 1), "y": tc.Real(0, 10)})
    answers: dict[str, Any] = {}
    for name, slope in (("a", 1.0), ("b", -4.0), ("c", 5.0)):
        x = rng.random(2_000)
        rows = {"x": x, "y": np.clip(5 + slope * (x - 0.5) + rng.normal(0, 0.5, 2_000), 0, 10)}
        curator = tc.Curator(rows, schema, name=name, budget=tc.Budget(rho=20))
        answers[name] = curator.release(tc.Regression("y ~ x"), rho=10)
    made = tc.combine(answers, effects="random")
    (found,) = [made.prediction_of(t) for t, term in enumerate(made.terms) if term == "x"]
    assert found is not None
    assert found[0] < 0 < found[1]
