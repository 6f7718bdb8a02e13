"""Spherical Laplace vectors: probabilities against Bessel functions, simulation, errors, documents, scales."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammainc, gammaln, kve
from scipy.stats import chi2, kstest

from tacit.errors import BudgetError
from tacit.method.shared import mechanism_additive as additive
from tacit.noise.exact import MOST, draw
from tacit.noise.laws import DiscreteLaplace, NoiseError, RoundedNormal, normal_tail
from tacit.noise.spherical import MOST_DIMENSIONS, SphericalLaplace
from tacit.noise.stored_laws import law_from_dict
from tacit.privacy import Cost, noise_for
from tacit.privacy.calibration import spherical_scale
from tacit.testing.noise_law_test import noise_law

WIDE = Fraction(10**6)
DIMENSIONS = [1, 2, 3, 10, 79, 400]


def density(dimension: int, x: np.ndarray) -> np.ndarray:
    """Of one coordinate at scale 1, x > 0: x**(k/2) K_(k/2)(x) / (sqrt(pi) 2**(k/2) Gamma((k+1)/2)), by logarithms."""
    half = dimension / 2
    log = half * np.log(x / 2) + np.log(kve(half, x)) - x
    return np.exp(log - math.log(math.pi) / 2 - gammaln(half + 0.5))


def beyond(dimension: int, x: float) -> float:
    """P(coordinate > x) at scale 1: Gauss-Legendre on panels, short near 0, where the density is not analytic."""
    edges = [x]
    while edges[-1] < x + 60 + 30 * math.sqrt(dimension):
        edges.append(edges[-1] + min(2.0, edges[-1] / 2))
    nodes, weights = np.polynomial.legendre.leggauss(24)
    low, width = np.array(edges[:-1])[:, None], np.diff(edges)[:, None]
    return float((density(dimension, low + width * (nodes + 1) / 2) @ weights * width[:, 0] / 2).sum())


def closed(dimension: int, x: Any) -> Any:
    """P(coordinate > x) at scale 1 in one dimension, exp(-x) / 2, and in three, (2 + x) exp(-x) / 4."""
    return np.exp(-x) / 2 if dimension == 1 else (2 + x) * np.exp(-x) / 4


PLACES = {1: (0.6, 6, 60, 300), 400: (9, 60, 440, 860)}  # Bessel functions of order 200 overflow near 0


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(7, 2), Fraction(1000)])
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_probabilities_against_bessel_functions(dimension: int, scale: Fraction) -> None:
    law, s = SphericalLaplace(scale, dimension), float(scale)
    for k in [max(1, int(x * s)) for x in PLACES.get(dimension, (0.6, 1, 6, 60, 300, 600))]:
        tail, before = beyond(dimension, (k + 0.5) / s), beyond(dimension, (k - 0.5) / s)
        assert [float(one) for one in (law.sf(k), law.cdf(-k - 1))] == pytest.approx([tail] * 2, rel=1e-10, abs=0)
        assert law.sf(-k - 1) == law.cdf(k) == 1 - law.sf(k + 0.5)
        assert abs(float(law.pmf(k)) - (before - tail)) < 1e-10 * before
    assert 1e-300 < tail < (1e-200 if dimension > 1 else 1e-130)


@pytest.mark.parametrize("dimension", [1, 2**14, MOST_DIMENSIONS])
def test_far_tails_of_extreme_dimensions(dimension: int) -> None:
    w = np.linspace(max(0, dimension - 57 * dimension**0.5), dimension + 57 * dimension**0.5 + 3000, 40_001)[1:]
    for x in [440.0, 680.0] if dimension == 1 else [math.sqrt(dimension) * z for z in (1, 10, 30)]:
        mean = chi2.pdf(w, dimension + 1) @ normal_tail(x / np.sqrt(w)) * (w[1] - w[0])
        found = SphericalLaplace(Fraction(10**12), dimension).sf(x * 1e12)
        assert float(found) == pytest.approx(float(closed(1, x) if dimension == 1 else mean), rel=1e-9, abs=0)


@pytest.mark.parametrize("dimension", [3, 400])
def test_masses_at_wide_scales(dimension: int) -> None:
    peak = math.exp(gammaln(dimension / 2) - gammaln((dimension + 1) / 2)) / math.sqrt(4 * math.pi)
    assert float(SphericalLaplace(Fraction(10**12), dimension).pmf(0)) == pytest.approx(peak / 1e12, rel=1e-9, abs=0)


@pytest.mark.parametrize("scale", [Fraction(1, 1000), Fraction(1, 3), Fraction(1)])
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_masses_are_symmetric_and_sum_to_one(dimension: int, scale: Fraction) -> None:
    law, most = SphericalLaplace(scale, dimension), math.ceil(scale * (50 + 12 * math.sqrt(dimension)))
    k = np.arange(-most, most + 1)
    pmf = law.pmf(k)
    assert pmf.sum() == pytest.approx(1, abs=1e-13)
    assert np.allclose(pmf, pmf[::-1], rtol=1e-12, atol=1e-16)
    assert np.allclose(np.cumsum(pmf), law.cdf(k), rtol=0, atol=1e-13)
    assert np.allclose(law.cdf(k), law.sf(-k - 1), rtol=1e-12, atol=0)
    assert law.pmf([[0.5, 1.5], [-0.5, 3.2]]).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("scale", ["1/500", "1/20", "1/3", "1", "10", "50", "1000"])
@pytest.mark.parametrize("dimension", [1, 3])
def test_closed_forms(dimension: int, scale: str) -> None:
    """One dimension is a rounded continuous Laplace; at scale 1/500 a coordinate above 1/2 has probability 1e-107."""
    law, s = SphericalLaplace(Fraction(scale), dimension), float(Fraction(scale))
    k = np.arange(1, math.ceil(60 * s) + 20)
    tail = closed(dimension, (k - 0.5) / s)
    assert law.variance() == pytest.approx(2 * np.sum((2 * k - 1) * tail), rel=1e-9, abs=0)
    some = np.flatnonzero(tail > 1e-130)[:: len(k) // 40 + 1]
    assert np.allclose(law.sf(k[some] - 1), tail[some], rtol=1e-10, atol=0)


@pytest.mark.parametrize("dimension", [2, 10, 79, 400])
def test_variance_in_more_dimensions(dimension: int) -> None:
    """From scale 1 on, in ten dimensions or more, rounding adds 1/12 with an error of (1 + 4 pi**2)**-5.5 at most."""
    small = 2 * sum((2 * k - 1) * beyond(dimension, 20 * (k - 0.5)) for k in range(1, 30))
    assert SphericalLaplace(Fraction(1, 20), dimension).variance() == pytest.approx(small, rel=1e-10, abs=0)
    for s in (100, 10**9) if dimension < 10 else (1, 100, 10**9):
        wide = SphericalLaplace(Fraction(s), dimension).variance()
        assert wide == pytest.approx((dimension + 1) * s**2 + 1 / 12, rel=1e-9)


@pytest.mark.parametrize("dimension", [1, 3, 10])
def test_simulation_has_the_law(dimension: int) -> None:
    """Radii are Gamma(k), a coordinate has its law, two are uncorrelated but dependent; levels 1e-6, and seeded."""
    law, rng = SphericalLaplace(WIDE, dimension), np.random.default_rng(31)
    vectors = law.sample(10_000 * dimension, rng).reshape(-1, dimension)
    radius = np.linalg.norm(vectors.astype(float), axis=1) / 1e6
    assert kstest(gammainc(dimension, radius), "uniform").pvalue > 1e-6
    assert kstest(gammainc(dimension, 1.1 * radius), "uniform").pvalue < 1e-6
    assert noise_law(lambda size: vectors[:size, -1], law, draws=10_000).passed
    if dimension > 1:
        # standard errors of about 0.01
        assert abs(np.corrcoef(vectors[:, :2].T)[0, 1]) < 0.06
        assert np.corrcoef(np.abs(vectors[:, :2]).T)[0, 1] > {3: 0.1, 10: 0.02}[dimension]


def test_simulated_vectors_may_be_cut() -> None:
    cut = {size: SphericalLaplace(WIDE, 3).sample(size, np.random.default_rng(2)) for size in (0, 13, 14, 15)}
    assert all(one.dtype == np.int64 and np.array_equal(one, cut[15][:size]) for size, one in cut.items())


@pytest.mark.parametrize("dimension", [0, -1, True, 2.0, "3", None, MOST_DIMENSIONS + 1, 10**400])
def test_dimensions_that_are_none(dimension: Any) -> None:
    stored = {"law": SphericalLaplace.name, "scale": "3"}
    for make in (partial(SphericalLaplace, Fraction(3)), lambda k: law_from_dict({**stored, "dimension": k})):
        with pytest.raises(NoiseError, match="N01") as caught:
            make(dimension)
        assert pickle.loads(pickle.dumps(caught.value)).code == "N01"
    with pytest.raises(NoiseError, match="N01"):
        law_from_dict(stored)


@pytest.mark.parametrize("scale", [1, 2.5, Fraction(0), Fraction(-1), Fraction(1, 1001), Fraction(10**12 + 1)])
def test_scales_out_of_range(scale: Any) -> None:
    with pytest.raises(NoiseError, match="N01"):
        SphericalLaplace(scale, 3)


def test_independent_draws_are_refused_and_vectors_must_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    law = SphericalLaplace(Fraction(1, 1000), 3)
    calls = [partial(additive.protect, exact, law) for exact in ((), ((1,), (2,)), ((1, 2), (3, 4)), ((1, 2, 3),) * 2)]
    for call in (partial(draw, law, 3), *calls):
        with pytest.raises(NoiseError, match="N02"):
            call()
    assert additive.protect(((5, 6), (-7,)), law) == ((5, 6), (-7,))  # noise of scale 1/1000 is 0 but for e**-500
    monkeypatch.setattr(additive, "draw_vector", lambda one: [10, -20, 1 << 70] if one == law else None)
    assert additive.protect(((5, 6), (-7,)), law) == ((15, -14), (MOST,))


@settings(max_examples=50)
@given(st.fractions(Fraction(1, 1000), 10**12), st.integers(1, MOST_DIMENSIONS))
def test_round_trip_and_hash(scale: Fraction, dimension: int) -> None:
    law = SphericalLaplace(scale, dimension)
    assert law == law_from_dict(law.to_dict()) == pickle.loads(pickle.dumps(law))
    assert hash(law) == hash(law_from_dict(law.to_dict()))
    others = {SphericalLaplace(scale, 1 + dimension % 9), RoundedNormal(scale), DiscreteLaplace(scale)}
    assert (law in others) == (dimension == 1 + dimension % 9)
    # independent noises have none
    with pytest.raises(NoiseError) as refused:
        law_from_dict({**DiscreteLaplace(scale).to_dict(), "dimension": dimension})
    assert refused.value.code == "N01"


@settings(max_examples=50)
@given(st.integers(1, 10**5), st.integers(1, 10**9), st.integers(1, 500), st.fractions(Fraction(1, 10**6), 100))
def test_the_law_with_less_variance_is_chosen(l1: int, l2_squared: int, dimension: int, epsilon: Fraction) -> None:
    cost = Cost.of(epsilon=epsilon)
    law = noise_for(l1, l2_squared, cost, dimension=dimension)
    if (dimension + 1) * l2_squared < 2 * l1 * l1:
        assert law == SphericalLaplace(spherical_scale(l2_squared, cost), dimension)
        law = noise_for(l1, l2_squared, cost)
    assert law == DiscreteLaplace(l1 / epsilon)
    assert 1 <= spherical_scale(l2_squared, cost) ** 2 * epsilon**2 / l2_squared <= (1 + Fraction(1, 2**60)) ** 2


def test_scales_of_prices() -> None:
    assert [spherical_scale(n, Cost.of(epsilon=0.5)) for n in (0, 9)] == [0, 6]  # exact where the root is
    # (k + 1) l2**2 = 2 l1**2: independent noise has the same variance and is kept
    assert isinstance(noise_for(10, 50, Cost.of(epsilon=1), dimension=3), DiscreteLaplace)
    assert isinstance(noise_for(10, 49, Cost.of(epsilon=1), dimension=3), SphericalLaplace)
    wrong = Cost.of(rho=1), Cost.of(epsilon=1, delta=1e-6)
    assert {type(noise_for(10, 1, cost, dimension=3)) for cost in wrong} == {RoundedNormal}
    for square, cost in ((4, wrong[0]), (4, wrong[1]), (-1, Cost.of(epsilon=1))):
        with pytest.raises(BudgetError, match="B08"):
            spherical_scale(square, cost)
