"""Bernstein polynomials: the operator's identities and rates, errors as stated, limits that cover."""

from __future__ import annotations

from math import comb, pi
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.method.bernstein.estimate import cdf, density, estimate, smooth_density
from tacit.method.bernstein.estimate_lattice import fitted, of_rows, rising
from tacit.method.bernstein.plan import expected
from tacit.method.shared.iterated_operator import iterated, polynomials, slopes, weights
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing.simulate import add_noise, exact_integers, shaped

LEVEL = 1e-6
"""False-alarm rate of each comparison."""
SCHEMA = tc.Schema({"x": tc.Real(0, 1, missing=0.0), "y": tc.Real(0, 2), "k": tc.Integer(1, 12)})
T = np.linspace(0, 1, 401)


def table(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {"x": rng.beta(2, 5, n), "y": 2 * rng.beta(2, 5, n), "k": 1 + rng.binomial(11, 0.4, n)}


def released(query: Any, n: int, relation: str, rng: np.random.Generator, **price: float) -> Any:
    """A simulated release of rows drawn anew."""
    shape = shaped(query, SCHEMA, relation, n, Cost.of(**price))
    return simulated(shape, add_noise(shape, exact_integers(shape, table(n, rng)), rng))


# The operator --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [2, 7, 40])
def test_polynomials_are_those_of_the_binomial_law(degree: int) -> None:
    made = polynomials(degree, T)
    assert np.allclose(made, stats.binom.pmf(np.arange(degree + 1)[None, :], degree, T[:, None]), atol=1e-13)
    assert np.allclose(polynomials(256, T).sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("degree", [2, 9, 40])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_the_operator_is_i_minus_the_power_of_i_minus_b(degree: int, order: int) -> None:
    """As printed, sum_i C(h, i) (-1)^(i - 1) B^i, beside the form that is used; ends and straight lines stay."""
    places = np.arange(degree + 1) / degree
    P = polynomials(degree, places)
    printed = sum(
        comb(order, i) * (-1) ** (i - 1) * polynomials(degree, T) @ np.linalg.matrix_power(P, i - 1)
        for i in range(1, order + 1)
    )
    found = weights(degree, order, T)
    assert np.allclose(found, printed, atol=1e-13)
    assert np.allclose(found @ (3 - 2 * places), 3 - 2 * T, atol=1e-12)
    assert np.allclose(found[[0, -1]], np.eye(degree + 1)[[0, -1]], atol=1e-13)
    # no order multiplies noise: theory §8 saw 1.28 at most, the bound is 2^h - 1
    assert np.abs(found).sum(axis=1).max() <= min(1.28, 2**order - 1) + 1e-9


@pytest.mark.sample(4)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "function",
    [lambda t: np.sin(2 * pi * t) + t, stats.beta(2, 5).cdf, stats.beta(4, 4).cdf, lambda t: np.exp(-3 * t)],
    ids=["sine", "beta-2-5", "beta-4-4", "exponential"],
)
def test_orders_converge_at_their_rates(function: Any, order: int) -> None:
    """A degree four times as large divides the largest error by about 4 ** order."""
    errors = []
    for k in (128, 512):
        values = function(np.arange(k + 1) / k)
        errors.append(float(np.abs(weights(k, order, T[::4]) @ values - function(T[::4])).max()))
    rate = np.log(errors[0] / errors[1]) / np.log(4)
    assert order - 0.25 < rate < order + 0.25


def test_errors_of_a_sine_are_those_of_the_theory() -> None:
    """Theory §8, k = 40: 9.3e-2, 1.3e-2, 2.7e-3, 7e-4 for orders 1 to 4."""
    values = np.sin(2 * pi * np.arange(41) / 40) + np.arange(41) / 40
    errors = [float(np.abs(weights(40, h, T) @ values - np.sin(2 * pi * T) - T).max()) for h in (1, 2, 3, 4)]
    assert np.allclose(errors, [9.3e-2, 1.3e-2, 2.7e-3, 7e-4], rtol=0.04)


def test_slopes_are_derivatives() -> None:
    values, step = stats.beta(2, 5).cdf(np.arange(31) / 30), 1e-6
    t = np.linspace(0.01, 0.99, 50)
    for order in (1, 2, 3, 4):
        difference = (weights(30, order, t + step) - weights(30, order, t - step)) @ values / (2 * step)
        assert np.allclose(slopes(30, order, t) @ values, difference, atol=1e-7)
    assert not iterated(30, 2).flags.writeable


# Estimates -----------------------------------------------------------------------------------------------------------


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("query", "relation", "price"),
    [
        (tc.Bernstein("x", degree=20), "replace-one", {"epsilon": 1}),
        (tc.Bernstein("x", degree=20, order=4), "add-remove", {"rho": 0.05}),
        pytest.param(
            tc.Bernstein("y", degree=12, where="y > 0.2"),
            "replace-one",
            {"epsilon": 0.5, "delta": 1e-6},
            marks=pytest.mark.long,
        ),
    ],
    ids=["pure", "private-size", "condition"],
)
def test_errors_are_as_stated_and_limits_cover_the_polynomial(query: Any, relation: str, price: Any) -> None:
    """200 releases of rows drawn anew: means, variances and coverage of both functions at five places."""
    rng, n, repeats = np.random.default_rng(0), 1_000, 200
    scale = 2.0 if query.column == "y" else 1.0
    u = np.array([0.1, 0.25, 0.4, 0.6, 0.9])
    k, law = query.degree, stats.beta(2, 5)
    below = law.cdf(0.1) if query.where else 0.0
    true = np.maximum(law.cdf(np.arange(k + 1) / k) - below, 0) / (1 - below)
    targets = weights(k, query.order, u) @ true, slopes(k, query.order, u) @ true / scale
    got: list[list[Any]] = [[], []]
    for _ in range(repeats):
        release = released(query, n, relation, rng, **price)
        for found, asked in zip(got, (cdf, density), strict=True):
            found.append(asked(release, scale * u))
    for found, target in zip(got, targets, strict=True):
        values = np.array([one.values for one in found])
        errors = np.array([one.std_errors for one in found])
        z = (values.mean(axis=0) - target) / (values.std(axis=0) / np.sqrt(repeats))
        # a ratio of noisy sums has a bias of order 1 / n, far below its error
        assert np.abs(z).max() < stats.norm.isf(LEVEL / 2 / 10)
        # of most releases: in a few the lattice differs from the polynomial by chance, and limits reach further
        ratio = values.var(axis=0, ddof=1) / np.median(errors**2, axis=0)
        low, high = stats.chi2.ppf([LEVEL / 10, 1 - LEVEL / 10], repeats - 1) / (repeats - 1)
        assert (ratio > low * 0.98).all()
        assert (ratio < high * 1.02).all()
        held = (np.abs(values - target) <= stats.norm.isf(0.025) * errors).sum(axis=0)
        assert (held >= stats.binom.ppf(LEVEL / 10, repeats, 0.94)).all()


def test_covariances_of_rows_are_those_of_an_empirical_distribution_function() -> None:
    rng, n = np.random.default_rng(2), 50
    places = np.arange(1, 5) / 5
    made = np.array([(rng.random(n)[:, None] <= places).mean(axis=0) for _ in range(20_000)])
    expected = of_rows(places, n)
    # each variance is known to 1%, each covariance to 1% of the largest
    assert np.allclose(np.cov(made.T), expected, atol=5.2 * 0.01 * expected.max())
    assert np.linalg.eigvalsh(expected).min() > 0


def test_the_noise_of_the_size_is_in_the_errors() -> None:
    """Without rows that move, and with the size's noise alone: the load of a ratio, by differences."""
    shape = shaped(tc.Bernstein("x", degree=6), SCHEMA, "add-remove", 2_000, Cost.of(epsilon=1))
    exact = exact_integers(shape, table(2_000, np.random.default_rng(3)))[0]
    base = fitted(simulated(shape, (exact,)), "table")
    moved = []
    for i in range(6):
        other = exact.copy()
        other[0, i] += 1
        moved.append(fitted(simulated(shape, (other,)), "table").values - base.values)
    load = np.array(moved).T
    expected = float(shape.columns[0].law.variance()) * load @ load.T
    assert np.allclose(base.privacy, expected, rtol=2e-3, atol=1e-12)
    assert not base.sampling.any()


def test_whole_numbers_have_their_shares_where_the_lattice_lies_between_them() -> None:
    """Twelve values on a lattice of twelve, noise of 0.074 rows: values at lattice places are the counts."""
    rng = np.random.default_rng(4)
    data = table(5_000, rng)
    shape = shaped(tc.Bernstein("k", degree=12), SCHEMA, "replace-one", 5_000, Cost.of(rho=1_000))
    release = simulated(shape, add_noise(shape, exact_integers(shape, data), rng))
    shares = [(data["k"] <= v).mean() for v in range(1, 13)]
    assert np.allclose(fitted(release).values[1:], shares, atol=6 * 0.075 / 5_000)
    found = cdf(release, [3.0, 3.9, 12.0, 0.0])
    assert found.values[0] == found.values[1]
    assert found.values[2:].tolist() == [1.0, 0.0]
    assert estimate(release).terms == tuple(f"k<={v}" for v in range(1, 13))


def test_any_order_is_made_from_one_release() -> None:
    """Higher orders have less bias: beside the truth at a price at which noise is nothing."""
    rng = np.random.default_rng(5)
    data = {"x": stats.beta(2, 5).ppf((np.arange(20_000) + 0.5) / 20_000)}
    shape = shaped(tc.Bernstein("x", degree=10, order=1), SCHEMA, "replace-one", 20_000, Cost.of(rho=1_000))
    release = simulated(shape, add_noise(shape, exact_integers(shape, data), rng))
    at = np.linspace(0.05, 0.95, 19)
    shares = np.array([(data["x"] <= x).mean() for x in at])
    wrong = [float(np.abs(cdf(release, at, order).values - shares).max()) for order in (1, 2, 3, 4)]
    assert wrong[0] > 2 * wrong[1] > 2 * wrong[2] > 2 * wrong[3]
    assert cdf(release, at).values.tolist() == cdf(release, at, 1).values.tolist()


def test_curves_are_densities() -> None:
    release = released(tc.Bernstein("y", degree=16), 2_000, "add-remove", np.random.default_rng(6), rho=0.02)
    curve = smooth_density(release)
    x = np.linspace(0, 2, 2_001)
    assert (curve(x) >= 0).all()
    assert abs(np.trapezoid(curve(x), x) - 1) < 1e-3
    one, every = curve.intervals(x), curve.intervals(x, simultaneous=True)
    assert (every[:, 1] - every[:, 0] >= one[:, 1] - one[:, 0] - 1e-12).all()
    assert ((one[:, 0] <= curve(x)) & (curve(x) <= one[:, 1])).all()
    assert "degree 16 and order 2" in curve.limits_of
    assert curve.sample(50, rng=0).min().iloc[0] >= 0


def test_few_rows_say_nothing() -> None:
    """A size that noise may have made: no limits, and a reason."""
    release = released(tc.Bernstein("x", degree=6), 3, "add-remove", np.random.default_rng(7), epsilon=0.05)
    found = cdf(release, [0.5])
    assert found.reasons[0] is not None
    assert "not clearly above 0" in found.reasons[0]
    assert np.isinf(found.intervals()).all()


def test_lattice_values_are_made_to_rise() -> None:
    rng = np.random.default_rng(8)
    made = rising(np.concatenate([[0.0], rng.normal(0.5, 1, 50), [1.0]]))
    assert (np.diff(made) >= 0).all()
    assert (made[0], made[-1]) >= (0.0, 0.0)
    assert made.max() <= 1
    sorted_ = np.sort(rng.random(20))
    assert rising(sorted_).tolist() == sorted_.tolist()


def test_plans_say_what_releases_say() -> None:
    """An even column: the plan's errors are those of a release, averaged over the range."""
    schema = tc.Schema({"x": tc.Real(0, 1, missing=0.0)})
    query = tc.Bernstein("x", degree=16)
    shape = shaped(query, schema, "replace-one", 4_000, Cost.of(rho=0.05))
    rng = np.random.default_rng(9)
    release = simulated(shape, add_noise(shape, exact_integers(shape, {"x": rng.random(4_000)}), rng))
    t = (np.arange(101) + 0.5) / 101
    for entry, asked in zip(expected(shape, 4_000, 0.95), (cdf, density), strict=True):
        found = asked(release, t)
        assert np.isclose(entry.std_error, np.sqrt((found.std_errors**2).mean()), rtol=0.02)


def test_rows_that_are_all_between_two_places_have_a_density() -> None:
    """Without noise nothing scatters: doubts were asked for without end."""
    shape = shaped(tc.Bernstein("x", degree=6), SCHEMA, "replace-one", 100, Cost.of(rho=1))
    exact = exact_integers(shape, {"x": np.full(100, 0.99)})
    values = fitted(simulated(shape, exact)).values
    assert set(np.round(values, 12)) <= {0.0, 1.0}
    curve = smooth_density(simulated(shape, exact))
    assert np.isfinite(curve.intervals(np.array([0.3, 0.9]))).all()


@pytest.mark.parametrize(("price", "ratio"), [({"epsilon": 0.1}, 19**3 / 20**2), ({"rho": 0.001}, 2 * 19**2 / 20**2)])
def test_a_histogram_of_as_many_bins_has_less_noise(price: dict[str, float], ratio: float) -> None:
    """What the pages say: mean variance of the noise over the lattice, beside that of counts added up from an end."""
    k, n = 20, 1_000
    of_lattice, of_bins = (
        float(shaped(query, SCHEMA, "replace-one", n, Cost.of(**price)).columns[0].law.variance())
        for query in (tc.Bernstein("x", degree=k), tc.Histogram("x", bins={"x": k}))
    )
    added = np.mean([of_bins * min(j, k - j) for j in range(1, k)])
    assert np.isclose(of_lattice / added, ratio, rtol=1e-3)
