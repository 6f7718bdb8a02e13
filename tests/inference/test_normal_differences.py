"""Differences of estimates with a joint normal law: variances against simulated errors, and what has none."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import TacitError
from tacit.estimates.verbs.normal_difference import _bound


@pytest.fixture(scope="module")
def fits() -> list[Any]:
    """The same regression of two tables, and once more of the first."""
    draw, made = np.random.default_rng(0), []
    schema = tc.Schema({"y": tc.Real(0, 10), "x": tc.Real(0, 1)})
    for name in ("north", "south"):
        x = draw.uniform(0, 1, 4_000)
        y = np.clip(3 + 2 * x + draw.normal(0, 1, 4_000), 0, 10)
        curator = tc.Curator({"y": y, "x": x}, schema, name=name, budget=tc.Budget(epsilon=20))
        made += [
            curator.release(tc.Regression("y ~ x"), epsilon=5 - i).estimate().coefficients
            for i in range(2 - len(made) // 2)
        ]
    return made


def test_of_different_people_variances_add_up(fits: list[Any]) -> None:
    one, again, other = fits
    found = tc.difference(one, other)
    assert found.terms == one.terms
    assert found.values == pytest.approx(one.values - other.values)
    total = [x.sampling + x.privacy for x in (found, one, other)]
    assert total[0] == pytest.approx(total[1] + total[2])
    assert "different people" in found.notes[0]
    assert again.release.table == one.release.table


def test_of_the_same_people_standard_errors_of_sampling_add_up_at_least(fits: list[Any]) -> None:
    one, again, _ = fits
    found = tc.difference(one, again)
    sums = np.sqrt(one.sampling_variances) + np.sqrt(again.sampling_variances)
    assert (np.sqrt(found.sampling_variances) >= sums * (1 - 1e-12)).all()
    assert (np.sqrt(found.sampling_variances) <= sums * 1.05).all()
    assert found.privacy == pytest.approx(one.privacy + again.privacy)


def test_the_bound_holds_for_every_correlation_and_contrast() -> None:
    """Joint covariances of (a, b) drawn at random: the bound minus Var(a - b) has no negative eigenvalue."""
    draw = np.random.default_rng(3)
    for _ in range(300):
        whole = draw.normal(size=(6, draw.integers(2, 8))) * np.exp(draw.normal(size=(6, 1)))
        joint = whole @ whole.T
        a, b, both = joint[:3, :3], joint[3:, 3:], joint[:3, 3:]
        left = _bound(a, b) - (a + b - both - both.T)
        assert np.linalg.eigvalsh(left).min() > -1e-9 * np.trace(left)
    same = np.array([[4.0]])
    assert _bound(same, same) == pytest.approx(16.0)  # attained where b = -a


def test_what_has_no_difference_says_so(fits: list[Any]) -> None:
    one, _, other = fits
    for wrong in (one, replace(other, terms=("a", "b"))):
        with pytest.raises(TacitError, match="I07"):
            tc.difference(one, wrong)
    with pytest.raises(TacitError, match=r"a\.coefficients"):
        tc.difference(one, SimpleNamespace(coefficients=other))  # type: ignore[call-overload]
    odd = replace(other, reasons=("unclear", None))
    assert tc.difference(one, odd).reasons == ("unclear", None)
