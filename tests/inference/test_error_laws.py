from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from tacit.estimates.total_errors import error_laws as laws
from tacit.noise.laws import DiscreteLaplace, RoundedNormal


def reference(x: float, s: float, scales: list[float]) -> float:
    """Tail of N(0, s^2) + sum Lap(b), by partial fractions in 60 digits (distinct scales)."""
    with mpmath.workdps(60):
        b = [mpmath.mpf(v) for v in scales]
        total = mpmath.mpf(0)
        for j, bj in enumerate(b):
            weight = mpmath.mpf(1)
            for i, bi in enumerate(b):
                if i != j:
                    weight *= bj**2 / (bj**2 - bi**2)
            if s == 0:
                part = mpmath.exp(-x / bj) / 2
            else:
                t, y = mpmath.mpf(s) / bj, mpmath.mpf(x) / s
                part = (
                    mpmath.ncdf(-y)
                    + mpmath.exp(t**2 / 2 - x / bj) * mpmath.ncdf(y - t) / 2
                    - mpmath.exp(t**2 / 2 + x / bj) * mpmath.ncdf(-y - t) / 2
                )
            total += weight * part
        return float(total)


def tail(x: float, s: float, b: list[float]) -> float:
    return float(laws.tail(np.array(x), np.array(s), np.array(b)))


@pytest.mark.parametrize("s", [0.0, 1e-3, 0.3, 1.0, 20.0, 1e4])
@pytest.mark.parametrize("x", [0.0, 0.1, 1.0, 5.0, 30.0])
def test_one_laplace_equals_sixty_digits(s: float, x: float) -> None:
    want = reference(x, s, [1.3])
    assert float(laws.tail_one(np.array(x), np.array(s), np.array(1.3))) == pytest.approx(want, rel=1e-7, abs=1e-300)


@given(
    st.floats(0, 10),
    st.one_of(st.just(0.0), st.floats(1e-3, 3.0)),
    st.lists(st.floats(0.01, 3), min_size=2, max_size=4, unique=True),
)
@settings(max_examples=150, deadline=None)
def test_several_laplaces(x: float, s: float, b: list[float]) -> None:
    """Scales are kept apart by 1e-4 of themselves and negligible ones joined to the normal: 1e-4 of a tail, at most."""
    b = sorted(b)
    if any(high - low < 1e-9 * high for low, high in itertools.pairwise(b)):
        return
    assert tail(x, s, b) == pytest.approx(reference(x, s, b), abs=3e-5)


def test_many_negligible_scales_bring_all_of_their_variance() -> None:
    """400, which together have 3.6% of the variance and move the excess kurtosis by less than 1e-5, so that what is
    left is normal: half of their variance would move a tail of 0.025 by 4%.
    """
    s, b = 1.0, 6.8e-3 * np.ones(400)
    for x in (1.0, 1.96, 3.0):
        assert tail(x, s, list(b)) == pytest.approx(norm.sf(x / math.sqrt(s**2 + 2 * (b**2).sum())), rel=2e-5)


def test_equal_scales_agree_with_the_closed_form() -> None:
    """Two equal Laplace variables: P(> x) = (2 + x) exp(-x) / 4."""
    for x in (0.0, 0.5, 2.0, 6.0):
        assert tail(x, 0.0, [1.0, 1.0]) == pytest.approx((2 + x) * np.exp(-x) / 4, rel=2e-3)


@pytest.mark.parametrize("count", [5, 12, 60])
def test_many_equal_scales_by_inversion_agree_with_simulation(count: int) -> None:
    rng = np.random.default_rng(1)
    draws = 200_000
    total = rng.normal(0, 0.5, draws) + rng.laplace(0, 1, (draws, count)).sum(axis=1)
    for q in (0.5, 0.9, 0.975, 0.995):
        x = float(np.quantile(total, q))
        # standard error of a tail of 200,000 draws is below 0.00112; 5 of them: false alarm below 1e-6 each
        assert tail(x, 0.5, [1.0] * count) == pytest.approx(1 - q, abs=5 * np.sqrt(q * (1 - q) / draws))


def test_tail_falls_and_quantile_inverts_it() -> None:
    b = np.array([2.0, 1.0, 0.7])
    x = np.linspace(0, 40, 300)
    found = laws.tail(x, np.ones_like(x), b)
    assert found[0] == pytest.approx(0.5, abs=1e-7)
    assert (np.diff(found) <= 1e-9).all()
    for level in (0.5, 0.9, 0.95, 0.999):
        q = float(laws.halfwidth(level, np.array(1.0), b))
        assert 2 * tail(q, 1.0, list(b)) == pytest.approx(1 - level, rel=1e-6)


def test_no_noise_is_normal() -> None:
    assert float(laws.halfwidth(0.95, np.array(2.0), np.zeros(3))) == pytest.approx(2 * 1.959963984540054)
    assert tail(1.959963984540054, 1.0, [0.0]) == pytest.approx(0.025, rel=1e-9)


@pytest.mark.parametrize(
    "law", [DiscreteLaplace(Fraction(1, 2)), DiscreteLaplace(Fraction(40)), RoundedNormal(Fraction(3))]
)
def test_integer_halfwidth_is_the_smallest_that_covers(law: DiscreteLaplace | RoundedNormal) -> None:
    for level in (0.5, 0.9, 0.95, 0.99):
        h = laws.noise_halfwidth(law, level)
        k = np.arange(-5000, 5001)
        inside = float(law.pmf(k[np.abs(k) <= h]).sum())
        assert inside >= level - 1e-12
        assert float(law.pmf(k[np.abs(k) <= h - 1]).sum()) < level


def test_gaussian_noise_joins_the_normal_part() -> None:
    s, b = laws.split(RoundedNormal(Fraction(3)), np.array([1.0, -2.0]))
    assert float(s) == pytest.approx(np.sqrt(5 * (9 + 1 / 12)))
    assert not b.any()
    s, b = laws.split(DiscreteLaplace(Fraction(100)), np.array([1.0, -2.0]))
    assert float(s) == 0
    assert b == pytest.approx([100, 200], rel=1e-4)
