"""The parametric bootstrap: its draws have the law of the total error, and any function has an interval or a reason."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.errors import InferenceError
from tacit.estimates.bootstraps import error_draws
from tacit.estimates.bootstraps.parametric_bootstrap import WAYS
from tacit.estimates.noisy_terms.combination import LinearCombination
from tacit.estimates.noisy_terms.interval_inversion import LinearInversion
from tacit.estimates.noisy_terms.sided_errors import ReachOfTerms
from tacit.estimates.normal_estimate import Scale
from tacit.estimates.terms import ColumnTerms
from tacit.noise.laws import DiscreteLaplace
from tacit.noise.product import ProductLaplace
from tacit.testing import simulate

MANY = 40_000
SCHEMA = tc.Schema({"pay": tc.Real(0, 10), "ok": tc.Boolean(), "sex": tc.Category(["f", "m"])})


def _table(n: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "pay": rng.gamma(4, 1, n).clip(0, 10),
        "ok": rng.random(n) < 0.03,
        "sex": np.array(["f", "m"])[np.arange(n) % 2],
    }


def _estimate(query: Any, **price: float) -> Any:
    return simulate(query, _table(2_000), SCHEMA, repeats=1, rng=1, **price).release(0).estimate()


def _terms(people: str, variance: list[float], law: Any = None, **more: Any) -> ColumnTerms:
    m = len(variance)
    law = DiscreteLaplace(Fraction(1_000)) if law is None else law
    value, loadings = np.full(m, 5.0), np.arange(1.0, m + 1)[:, None] / 2_000
    inversion = LinearInversion(value, np.array(variance), loadings, law, -np.inf, np.inf)
    reasons = (None,) * m
    return ColumnTerms("x", value, np.array(variance), np.zeros(m), loadings, law, inversion, reasons, people, **more)


def _far(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the largest deviation of a sample covariance of MANY draws, in standard deviations of normal draws."""
    sd = np.sqrt(np.outer(np.diag(truth), np.diag(truth)) + truth**2) / math.sqrt(MANY)
    return float(np.abs((found - truth) / np.maximum(sd, 1e-300)).max())


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(1_000)), ProductLaplace(Fraction(1_000), 1, 2)])
def test_noise_is_drawn_with_its_own_law(law: Any) -> None:
    """Covariances are those of the releases; fourth moments of a Laplace noise are six, so that tails count.

    Noise of the seeded draws: a Laplace variance deviates by sqrt(5/2) times what a normal one does; 8 of those are
    five of its own, 6e-7.
    """
    blocks = (_terms("p", [1.0, 2.0], law, source="r"), _terms("q", [1.0, 2.0], law, source="r"))
    found = error_draws.noise_errors(blocks, MANY, np.random.default_rng(2))
    truth = LinearCombination(blocks).privacy_matrix()
    assert _far(np.cov(found.T), truth) < 8
    assert _far(np.cov(found.T), 1.1 * truth) > 8
    if isinstance(law, DiscreteLaplace):
        # kurtosis of a Laplace variable: its estimate has a standard deviation below 0.3 here
        assert abs(float(stats.kurtosis(found[:, 1])) - 3) < 1.5
    else:
        # cells of one vector of columns: not correlated, but large together
        far = np.corrcoef(np.abs(found[:, 0]), np.abs(found[:, 2]))[0, 1]
        assert far > 6 / math.sqrt(MANY)


def test_sampling_errors_have_their_covariance() -> None:
    """Cells of a table of public size, and parameters that were fitted together."""
    cells = replace(_terms("p", [4.0, 3.0, 2.0]), rank_one=np.array([0.8, 0.6, 0.5]))
    joint = np.array([[2.0, 0.9], [0.9, 1.0]])
    blocks = (cells, _terms("q", [2.0, 1.0], joint=joint))
    own = error_draws.pieces(blocks)
    found = error_draws.sampling_errors(own, np.zeros((1, 5)), MANY, np.random.default_rng(3))[0]
    truth = LinearCombination(blocks).sampling_matrix()
    # five standard deviations for each of 15 entries: 9e-6 for a wrong seed, and the seed is constant
    assert _far(np.cov(found.T), truth) < 5
    assert _far(np.cov(found.T), np.diag(np.diag(truth))) > 20


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0, 1.0), (1.0, -1.0, -2.0, 0.5)])
def test_unknown_correlations_add_up_in_the_direction_of_the_function(shared: bool, weights: tuple[float, ...]) -> None:
    blocks = (_terms("p", [1.0, 2.0], shared=shared), _terms("p", [3.0, 0.5]))
    gradient = np.array([weights])
    own = error_draws.pieces(blocks)
    found = error_draws.sampling_errors(own, gradient, MANY, np.random.default_rng(4))[0] @ gradient[0]
    bound = float(LinearCombination(blocks, gradient).sampling_variances[0])
    # the variance of MANY normal draws deviates by sqrt(2 / MANY) = 0.7% of itself: five of these are 6e-7
    assert abs(found.var() / bound - 1) < 5 * math.sqrt(2 / MANY)


def test_each_side_reaches_as_far_as_the_interval_and_no_farther_than_a_bound() -> None:
    below, above = (
        ReachOfTerms(np.array([2.0, 1.0]), np.array([np.inf, 0.5])),
        ReachOfTerms(np.ones(2), np.full(2, 3.0)),
    )
    errors = np.array([[1.0, 1.0], [-4.0, -1.0]])
    assert error_draws.sided(errors, below, above).tolist() == [[2.0, 0.5], [-3.0, -1.0]]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("query", "term"), [(tc.Mean("pay"), None), (tc.Mean("ok", by="sex"), "f"), (tc.Count(where="ok"), None)]
)
def test_a_term_itself_has_its_own_interval(way: Any, query: Any, term: str | None) -> None:
    """Limits of 9,999 draws deviate by .027 standard deviations: five of these are .07 of half a width, at 6e-7."""
    made = _estimate(query, epsilon=0.5)
    made = made if term is None else made[term]
    found, (low, high) = made.bootstrap(lambda x: x, method=way), made.conf_int()
    assert found.value == made.value
    assert np.abs(np.array(found.conf_int()) - (low, high)).max() < 0.07 * (high - low) / 2


def test_a_monotone_function_has_the_interval_of_its_argument() -> None:
    made = _estimate(tc.Mean("pay"), epsilon=0.5)
    plain, curved = made.bootstrap(lambda x: x), made.bootstrap(math.exp)
    assert np.allclose(np.log(curved.conf_int(0.9)), plain.conf_int(0.9))
    assert curved.reason is None
    assert curved.privacy_share == pytest.approx(made.privacy_share)


def test_the_ratio_of_means_agrees_with_fieller() -> None:
    made = _estimate(tc.Mean("pay", by="sex"), epsilon=1)
    found, (low, high) = made.bootstrap(lambda mean: mean["f"] / mean["m"]), made.ratio("f", "m").conf_int()
    # Monte-Carlo error as above, and what the methods differ in where the denominator is far off 0
    assert np.abs(np.array(found.conf_int()) - (low, high)).max() < 0.1 * (high - low) / 2
    assert 0 < found.std_error < high - low
    assert str(made.cost) == str(found.cost)


def test_a_contrast_of_columns_is_bounded_as_contrast_bounds_it() -> None:
    made = _estimate(tc.Mean(["pay", "ok"]), rho=0.1)
    found = made.bootstrap(lambda m: {"less": m["pay"] - m["ok"], "more": m["pay"] + m["ok"]})
    for name, said in (("less", "pay - ok"), ("more", "pay + ok")):
        low, high = made.contrast(said).conf_int()
        assert np.abs(found.conf_int().loc[name].to_numpy() - [low, high]).max() < 0.08 * (high - low) / 2
    assert "upper bound" in str(found)
    assert list(found.to_frame().index) == ["less", "more"]


def test_coverage_where_noise_is_most_of_the_error() -> None:
    """Of the releases no more intervals at 95% miss than do once in a million times (binomial); 80 allow 15."""
    many = 80
    made = simulate(tc.Mean("pay", by="sex"), _table(600), SCHEMA, repeats=many, rng=5, epsilon=0.3)
    table = _table(600)
    means = [float(table["pay"][table["sex"] == sex].mean()) for sex in ("f", "m")]
    misses = 0
    for i in range(many):
        found = made.release(i).estimate("table").bootstrap(lambda m: m["f"] * m["m"], draws=499, rng=i)
        low, high = found.conf_int()
        misses += not low <= means[0] * means[1] <= high
    assert misses <= stats.binom.isf(1e-6, many, 0.05)


def test_normal_estimates_and_their_scales() -> None:
    made = _estimate(tc.Mean("pay"), epsilon=1)
    from tacit.estimates.normal_estimate import NormalEstimate

    joint = np.array([[0.04, 0.03], [0.03, 0.09]])
    found = NormalEstimate(made.release, "T", "e", ("a", "b"), np.array([1.0, 2.0]), joint / 2, joint / 2, (None, None))
    low, high = found.contrast("b - a").conf_int()
    own = found.bootstrap(lambda m: m["b"] - m["a"])
    assert np.abs(np.array(own.conf_int()) - (low, high)).max() < 0.07 * (high - low) / 2
    assert own.privacy_share == pytest.approx(0.5)
    scaled = replace(found, scale=Scale(np.log([1.0, 2.0]), np.array([0.2, 0.15]), np.exp))
    low, high = scaled["b"].conf_int()
    own = scaled["b"].bootstrap(lambda x: x)
    assert np.abs(np.log(own.conf_int()) - np.log([low, high])).max() < 0.07 * math.log(high / low) / 2


def test_draws_without_a_value_count_on_both_sides() -> None:
    made = _estimate(tc.Mean("pay"), epsilon=1)
    centre, sd = made.value, made.std_error

    def root(x: float) -> float:
        return math.sqrt(x - centre + 2.5 * sd)

    found = made.bootstrap(root)
    # P(Z < -2.5) = 0.6%: the lower limit is then at 2.5% of all draws, of which 0.6% lie below everything
    assert 0.002 < float(found.failed[0]) < 0.012
    low, high = found.conf_int()
    assert np.isfinite((low, high)).all()
    assert low**2 < 2.5 * sd - 1.9 * sd
    assert high**2 > 2.5 * sd + 1.95 * sd
    assert found.conf_int(0.99)[1] == math.inf
    far = made.bootstrap(lambda x: math.sqrt(x - centre + 1.5 * sd))
    assert "no finite value at" in far.reason
    assert far.conf_int() == (-math.inf, math.inf)


def test_reasons() -> None:
    made = _estimate(tc.Mean("pay", by="sex"), epsilon=1)
    block = replace(made.blocks[0], reasons=(None, "too few rows"))
    made = replace(made, blocks=(block,))
    assert made.bootstrap(lambda m: m["f"] ** 2).reason is None
    for function in (lambda m: m["m"] - m["f"], lambda m: max(m.values()), lambda m: sum(dict(m).values())):
        found = made.bootstrap(function)
        assert found.reason == "too few rows"
        assert found.conf_int() == (-math.inf, math.inf)
        assert "too few rows" in str(found)
    for odd in (lambda m: math.nan * m["f"], lambda m: m["f"] / 0, lambda m: math.log(-abs(m["f"]))):
        assert made.bootstrap(odd).reason == "the function has no finite value at the estimate"
    assert math.isinf(made.bootstrap(lambda m: np.log(m["f"] - m["f"])).std_error)
    floor = made["f"].bootstrap(lambda x: max(x, made["f"].value + 99), method="bias-corrected")
    assert floor.reason is None
    assert floor.conf_int() == (floor.value, floor.value)


@pytest.mark.parametrize(
    ("code", "function", "more"),
    [
        ("I81", "a / b", {}),
        ("I81", lambda m: m["f"] + "1", {}),
        ("I81", lambda m: "text", {}),
        ("I81", lambda m: (-abs(m["f"])) ** 0.5, {}),
        ("I81", lambda m: np.array([m["f"], m["m"]]), {}),
        ("I81", lambda m: {}, {}),
        ("I81", lambda m: {1: m["f"]}, {}),
        ("I02", lambda m: m["female"], {}),
        ("I82", lambda m: m["f"], {"method": "bca"}),
        ("I82", lambda m: m["f"], {"method": 3}),
        ("I83", lambda m: m["f"], {"draws": 10}),
        ("I83", lambda m: m["f"], {"draws": 1e3}),
    ],
)
def test_errors(code: str, function: Any, more: dict[str, Any]) -> None:
    made = _estimate(tc.Mean("pay", by="sex"), epsilon=1)
    with pytest.raises(InferenceError) as told:
        made.bootstrap(function, **more)
    assert told.value.code == code


def test_names_stay_the_same_and_levels_need_draws() -> None:
    made = _estimate(tc.Mean("pay"), epsilon=1)
    with pytest.raises(InferenceError, match="same names"):
        made.bootstrap(lambda x: {"low" if x < made.value - made.std_error else "high": x})
    found = made.bootstrap(lambda x: x, draws=999)
    assert found.conf_int(0.9)[0] < found.value
    with pytest.raises(InferenceError, match="too few") as told:
        found.conf_int(0.99)
    assert "draws=2_000" in str(told.value)
    assert made.bootstrap(lambda x: x, rng=7).conf_int() == made.bootstrap(lambda x: x, rng=7).conf_int()
