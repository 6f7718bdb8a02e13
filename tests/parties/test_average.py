"""Several releases of one quantity of the same people: weights from the noise, one sampling error, the same table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.errors import InferenceError
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.verbs.subtraction import subtracted
from tacit.testing import simulate

SCHEMA = tc.Schema({"pay": tc.Real(0, 10, missing=0), "sex": tc.Category(["f", "m"])})
TABLE = {"pay": np.random.default_rng(1).gamma(2, 1, 900).clip(0, 10), "sex": np.array(["f", "m"] * 450)}


def _curator(table: Any = TABLE, name: str = "people", **more: Any) -> tc.Curator:
    return tc.Curator(table, SCHEMA, name=name, budget=tc.Budget(rho=1_000), **more)


def _means(*prices: dict[str, float], by: Any = (), curator: Any = None) -> list[Any]:
    curator = _curator() if curator is None else curator
    return [curator.release(tc.Mean("pay", by=by), fresh=True, **price) for price in prices]


def test_weights_are_inverse_to_the_noises_and_sampling_counts_once() -> None:
    """Of a mean of publicly many rows everything is known beforehand, whatever was drawn."""
    several = _means({"epsilon": 1}, {"epsilon": 3}, {"rho": 1})
    own = [one.estimate() for one in several]
    noise = np.array([one.privacy_variances[0] for one in own])
    worth = 1 / noise / (1 / noise).sum()
    spread = float(worth @ [one.sampling_variances[0] ** 0.5 for one in own])
    for found in (tc.average(several), tc.average(own)):
        assert found.value == pytest.approx(float(worth @ [one.value for one in own]))
        assert found.privacy_variances[0] == pytest.approx(1 / (1 / noise).sum())
        # the sampling error is one and the same: averages of standard errors, or of their squares: at these
        # prices they differ by 0.0003 (standard deviation), so that 0.005 is beyond chance
        assert found.sampling_variances[0] == pytest.approx(spread**2, rel=0.005)
    assert tc.average(several, target="table").sampling_variances[0] == 0


def test_noise_keeps_its_law() -> None:
    """Two Laplace noises: the limits are those of their exact sum, not of a normal law."""
    several = _means({"epsilon": 0.1}, {"epsilon": 0.1})
    found = tc.average([one.estimate("table") for one in several])
    low, high = found.conf_int(0.999)
    # P(|L1 + L2| > q) = (1 + q / 2b) exp(-q / b) of two Laplace variables of scale b
    b = float(np.sqrt(found.privacy_variances[0] / 4))
    q = (high - low) / 2 / b
    assert (1 + q / 2) * np.exp(-q) == pytest.approx(0.001, rel=1e-3)


def test_groups_histograms_and_other_methods() -> None:
    curator = _curator()
    groups = _means({"rho": 0.5}, {"epsilon": 1}, by="sex", curator=curator)
    both, own = tc.average(groups), tc.average([one.estimate() for one in groups])
    assert both.terms == own.terms == ("f", "m")
    assert np.allclose(both.values, own.values, atol=0.5 * both.std_errors.max())
    assert "averaged with" in str(own)
    assert "minus" not in str(own)
    # whatever the signs of a combination's weights, an average stays one, and a difference a difference
    assert "averaged with" in str(own.contrast("f - m"))
    apart = subtracted(groups[0].estimate(), groups[1].estimate())
    assert "minus" in str(apart)
    assert "minus" in str(apart[apart.terms[0]])
    cells = [curator.release(tc.Histogram("pay", bins=5), rho=rho) for rho in (0.1, 0.3)]
    counts = tc.average(cells)
    assert np.all(counts.privacy_variances < cells[1].estimate().privacy_variances)
    # a mean, and the mean that a histogram's fit has
    mean, fitted = curator.release(tc.Mean("pay"), rho=0.1).estimate(), cells[1].fit("pay ~ 1").coefficients
    mixed = tc.average([mean, fitted])
    assert isinstance(mixed, NormalEstimate)
    assert min(mean.value, fitted.value) <= mixed.value <= max(mean.value, fitted.value)
    assert mixed.privacy_variances[0] < min(mean.privacy_variances[0], fitted.privacy_variances[0])
    worth = 1 / np.array([one.privacy_variances[0] for one in (mean, fitted)])
    spread = worth / worth.sum() @ [one.sampling_variances[0] for one in (mean, fitted)]
    assert mixed.sampling_variances[0] == pytest.approx(spread)
    assert "caller's word" in " ".join(mixed.notes)


def test_a_reason_of_one_is_a_reason_of_all() -> None:
    several = [one.estimate() for one in _means({"rho": 0.5}, {"rho": 1}, by="sex")]
    bad = replace(several[0], blocks=(replace(several[0].blocks[0], reasons=("too few", None)),))
    assert tc.average([bad, several[1]]).reasons == ("too few", None)


def test_a_ledger_is_what_is_known(tmp_path: Path) -> None:
    kept = _curator(ledger=str(tmp_path / "people.ledger"))
    found = tc.average(_means({"rho": 0.5}, {"rho": 1}, curator=kept))
    assert "caller's word" not in " ".join(found.notes)
    again = _curator(ledger=str(tmp_path / "others.ledger"))
    with pytest.raises(InferenceError, match="ledger differs"):
        tc.average([*_means({"rho": 0.5}, curator=kept), *_means({"rho": 0.5}, curator=again)])


@pytest.mark.parametrize(
    "other",
    [
        lambda: _curator({name: column[:800] for name, column in TABLE.items()}),
        lambda: _curator(name="others"),
        lambda: tc.Curator(
            TABLE,
            tc.Schema({"pay": tc.Real(0, 9), "sex": tc.Category(["f", "m"])}),
            name="people",
            budget=tc.Budget(rho=9),
        ),
    ],
)
def test_other_people_are_refused(other: Any) -> None:
    made = other()
    one = _means({"rho": 0.5})[0]
    with pytest.raises(InferenceError) as told:
        tc.average([one, made.release(tc.Mean("pay"), rho=0.5)])
    assert told.value.code == "C35"


def test_errors() -> None:
    one, other = _means({"rho": 0.5}, {"rho": 1})
    groups = _means({"rho": 0.5}, by="sex")[0]
    simulated = simulate(tc.Mean("pay"), TABLE, SCHEMA, repeats=1, rng=1, rho=1).release(0)
    curator = _curator()
    quantiles = [curator.release(tc.Quantiles("pay", [0.5]), fresh=True, rho=1) for _ in range(2)]
    for code, given in (
        ("C36", [one]),
        ("C36", []),
        ("C13", [one, one]),
        ("C13", [one.estimate(), one.estimate()]),
        ("C10", [one, simulated]),
        ("C10", [one, simulated.estimate()]),
        ("C10", [one, 3.0]),
        ("C10", [other, tc.combine([one, other]).estimate()]),
        ("I07", [one, groups]),
        ("I07", [one.estimate(), other.estimate("table")]),
        ("I07", quantiles),
    ):
        with pytest.raises(InferenceError) as told:
            tc.average(given)
        assert told.value.code == code


def test_coverage_of_many_groups() -> None:
    """Groups of one table: at most so many intervals miss, but for once in a million (binomial, groups independent)."""
    many, n = 80, 200
    levels = [f"g{i}" for i in range(many)]
    rng = np.random.default_rng(3)
    table = {"pay": rng.uniform(0, 10, many * n), "sex": np.repeat(levels, n)}
    schema = tc.Schema({"pay": tc.Real(0, 10), "sex": tc.Category(levels)})
    curator = tc.Curator(table, schema, budget=tc.Budget(rho=1_000))
    several = _means({"epsilon": 0.3}, {"epsilon": 0.6}, {"rho": 0.05}, by="sex", curator=curator)
    for found in (tc.average(several), tc.average([one.estimate() for one in several])):
        limits = found.intervals()
        missed = int(((limits[:, 0] > 5) | (limits[:, 1] < 5)).sum())
        assert missed <= stats.binom.isf(1e-6, many, 0.05)
