"""The law of columns of one vector: probabilities against other sums, simulation, errors, documents."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.stats import kstest

from tacit.noise.laws import DiscreteLaplace, NoiseError
from tacit.noise.product import MOST_DIMENSIONS, ProductLaplace, exponentials, laplace_part, sampled_together
from tacit.noise.stored_laws import law_from_dict
from tacit.testing.column_samples import norms
from tacit.testing.noise_law_test import noise_law

WIDE = Fraction(10**6)
SHAPES = [(1, 1), (1, 10), (2, 2), (2, 20), (3, 30), (5, 12), (2, 600)]
LEVEL = 1e-6


def tail(y: Any, k: int, d: int) -> Any:
    """P(|X| > y) before rounding: the mean of (1 - y / r)**k over a radius Gamma(d + 1), as a sum at 60 digits."""
    with mpmath.workdps(60):
        y = mpmath.mpf(y)
        # (1 - y / r)**k expanded: integrals of r**(d - i) exp(-r) above y
        each = ((-y) ** i * mpmath.binomial(k, i) * mpmath.gammainc(d + 1 - i, y) for i in range(k + 1))
        return mpmath.fsum(each) / mpmath.factorial(d)


@pytest.mark.parametrize(("k", "d"), SHAPES)
def test_tails_are_those_of_a_radius_and_a_point(k: int, d: int) -> None:
    law = ProductLaplace(WIDE, k, d)
    for y in (0.01, 1.0, 7.5, 40.0, 300.0):
        edge = (int(y * 10**6) + 0.5) / 10**6
        found, true = float(law.sf(int(y * 10**6))), float(tail(edge, k, d) / 2)
        assert found == pytest.approx(true, rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(1, 3), Fraction(2), Fraction(30)])
@pytest.mark.parametrize(("k", "d"), SHAPES[:6])
def test_probabilities_add_up(scale: Fraction, k: int, d: int) -> None:
    law, most = ProductLaplace(scale, k, d), int(scale * (60 + 5 * d)) + 3
    x = np.arange(-most, most + 1)
    p = law.pmf(x)
    assert np.abs(law.cdf(x) - np.cumsum(p)).max() < 1e-12
    assert float((x.astype(float) ** 2 * p).sum()) == pytest.approx(law.variance(), rel=1e-11)
    assert (law.sf(x) + law.cdf(x)).tolist() == pytest.approx(np.ones(len(x)))
    assert (p == p[::-1]).all()
    assert float(law.pmf(0.5)) == 0


@pytest.mark.parametrize(("k", "d"), SHAPES)
def test_variances_of_wide_scales(k: int, d: int) -> None:
    """E R**2 E U**2 and 1/12; at the scale where sums end both ways agree."""
    for scale in (Fraction(1_000), Fraction(10**9)):
        plain = 2 * (d + 1) * (d + 2) / ((k + 1) * (k + 2)) * float(scale) ** 2 + 1 / 12
        assert ProductLaplace(scale, k, d).variance() == pytest.approx(plain, rel=1e-14)
    near = [ProductLaplace(Fraction(s), k, d).variance() / s**2 for s in (999, 1_000)]
    assert near[0] - near[1] == pytest.approx(1 / 12 * (1 / 999**2 - 1 / 1_000**2), abs=1e-12 * near[0])


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_one_column_alone_has_laplace_noise(k: int) -> None:
    law, x = ProductLaplace(WIDE, k, k), np.array([0, 10**5, 10**7, 10**8])
    assert law.sf(x).tolist() == pytest.approx(DiscreteLaplace(WIDE).sf(x).tolist(), rel=1e-6)
    assert law.normal == pytest.approx(0, abs=1e-7)


def test_ten_means() -> None:
    """Theory §15: in (W / epsilon)**2 a mean's noise has variance 77 beside 200, a proportion's 44."""
    assert [round(ProductLaplace(WIDE, k, 10 * k).variance() / 1e12, 9) for k in (2, 1)] == [77, 44]


@pytest.mark.parametrize("sizes", [(1,), (2, 2), (1, 3), (3, 1, 2, 2)])
def test_simulation_has_the_law(sizes: tuple[int, ...]) -> None:
    d = sum(sizes)
    laws = [ProductLaplace(WIDE * (i + 1), k, d) for i, k in enumerate(sizes)]
    drawn = sampled_together(laws, 30_000, np.random.default_rng(4))
    # false alarms below LEVEL: 1e-7 each
    assert kstest(norms(drawn, laws), "gamma", (d,)).pvalue > LEVEL / 10
    for x, law in zip(drawn, laws, strict=True):
        for i in range(law.size):
            assert noise_law(lambda size, x=x, i=i: x[:size, i], law, draws=30_000).passed
        one = law.sample(40_001, np.random.default_rng(5))
        assert one.shape == (40_001,)
        assert noise_law(lambda size, one=one, law=law: one[:: law.size][:size], law, draws=40_000 // law.size).passed
    wrong = [ProductLaplace(law.scale * 11 / 10, law.size, d) for law in laws]
    assert kstest(norms(drawn, wrong), "gamma", (d,)).pvalue < LEVEL


@pytest.mark.parametrize(
    "weights", [((1.0, 0), (0, 0)), ((1.0, 0), (-1.0, 0)), ((1.0, 2.0), (0.5, -3.0)), ((1, 1), (1, 1))]
)
def test_the_kurtosis_of_weighted_sums(weights: tuple[tuple[float, ...], ...]) -> None:
    """Of 500,000 draws a kurtosis of 6 is known to about .08; five of these."""
    laws = [ProductLaplace(WIDE, 2, 4), ProductLaplace(3 * WIDE, 2, 4)]
    drawn = sampled_together(laws, 500_000, np.random.default_rng(1))
    total = sum(x @ np.array(w, dtype=float) for x, w in zip(drawn, weights, strict=True))
    kurtosis = float((total**4).mean() / (total**2).mean() ** 2)
    share = float(laplace_part([(law, np.array(w, dtype=float)) for law, w in zip(laws, weights, strict=True)]))
    assert 3 + 3 * share**2 == pytest.approx(kurtosis, abs=0.4)


def test_numbers_of_exponentials() -> None:
    for k, d in SHAPES:
        found = exponentials(k, d)
        assert len(found) == d - k + 1
        assert found.sum() == pytest.approx(1, rel=1e-12)
        many = np.arange(1, d - k + 2)
        # a sum of m exponentials has second moment m (m + 1)
        assert (found * many * (many + 1)).sum() == pytest.approx(
            2 * (d + 1) * (d + 2) / ((k + 1) * (k + 2)), rel=1e-11
        )


def test_documents() -> None:
    law = ProductLaplace(Fraction(5, 2), 2, 20)
    words = law.to_dict()
    assert words == {"law": "rounded product Laplace", "scale": "5/2", "size": 2, "dimension": 20}
    assert law_from_dict(words) == law
    assert len({law, law_from_dict(words), ProductLaplace(Fraction(5, 2), 2, 21)}) == 2
    for wrong in ({"size": 0}, {"size": 21}, {"size": "2"}, {"dimension": MOST_DIMENSIONS + 1}, {"dimension": 1.5}):
        with pytest.raises(NoiseError, match="N01"):
            law_from_dict({**words, **wrong})
    with pytest.raises(NoiseError, match="N01"):
        law_from_dict({"law": "discrete Laplace", "scale": "5/2", "size": 2})
    with pytest.raises(NoiseError, match="N01"):
        law_from_dict({"law": "rounded product Laplace", "scale": "5/2", "dimension": 2})
    for size, dimension in ((0, 2), (3, 2), (True, 2), (1, MOST_DIMENSIONS + 1)):
        with pytest.raises(NoiseError, match="N01"):
            ProductLaplace(Fraction(1), size, dimension)
