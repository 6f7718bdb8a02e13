"""Estimates of blocks combined over parties: weights, intervals, heterogeneity, as of means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import tacit as tc
from tacit import families
from tacit.errors import InferenceError

SCHEMA = tc.Schema({"x": tc.Real()})
QUERY = tc.SampleAndAggregate("x", families.Exponential(rate=(0.2, 5)), blocks=100)


def answers(rng: np.random.Generator, rates: Any, epsilon: float = 2) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for i, rate in enumerate(rates):
        n = int(rng.choice([2_500, 4_000, 6_000]))
        table = {"x": rng.exponential(1 / rate, n)}
        curator = tc.Curator(table, SCHEMA, name=f"party-{i}", budget=tc.Budget(epsilon=epsilon))
        found[f"party-{i}"] = curator.release(QUERY, epsilon=epsilon)
    return found


@pytest.mark.long
def test_common_parameters_are_covered() -> None:
    """Of 60 studies of 6 parties at least binom.ppf(1e-6, 60, .94) cover: false alarms 1e-6."""
    hit = 0
    for seed in range(60):
        low, high = tc.combine(answers(np.random.default_rng(seed), [1.0] * 6)).estimate().conf_int()
        hit += low <= 1 <= high
    assert hit >= binom.ppf(1e-6, 60, 0.94)


def test_one_answer_is_nearer_than_each() -> None:
    """At least one study of 6: all parties suspect another law in one of 15, by chance: false alarms 1e-7."""
    nearer = 0
    for seed in range(6):
        given = answers(np.random.default_rng(seed), [1.0] * 6)
        made = tc.combine(given).estimate()
        assert made.terms == ("rate",)
        assert "Exponential law of x" in str(made)
        assert abs(made.value - 1) < 6 * made.std_error
        nearer += made.std_error < min(one.estimate().std_error for one in given.values()) / 2
    assert nearer >= 1


def test_parties_that_differ() -> None:
    rng = np.random.default_rng(2)
    found = tc.combine(answers(rng, rng.normal(1, 0.2, 10)), effects="random")
    assert found.estimate().I2 > 0.5  # rates a fifth apart, errors of a twentieth
    assert abs(found.estimate().value - 1) < 6 * 0.2 / np.sqrt(10)


def test_other_models_do_not_go_together() -> None:
    given = answers(np.random.default_rng(3), [1.0])
    table = {"x": np.random.default_rng(4).exponential(1, 3_000)}
    other = tc.SampleAndAggregate("x", families.Exponential(rate=(0.1, 5)), blocks=100)
    curator = tc.Curator(table, SCHEMA, name="other", budget=tc.Budget(epsilon=1))
    with pytest.raises(InferenceError, match="C12"):
        tc.combine({**given, "other": curator.release(other, epsilon=1)})
