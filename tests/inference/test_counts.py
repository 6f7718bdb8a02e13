from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from tacit.estimates.noisy_terms import noisy_counts as counts
from tacit.noise.laws import DiscreteLaplace, RoundedNormal

LAWS = [
    DiscreteLaplace(Fraction(1)),
    DiscreteLaplace(Fraction(2)),
    RoundedNormal(Fraction(1)),
    RoundedNormal(Fraction(3)),
]
GRID = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("n", [50, 100])
def test_proportions_cover_at_least_nominally(law: DiscreteLaplace | RoundedNormal, n: int) -> None:
    """Coverage summed over counts and noise, no simulation.  Scales of eps = 1, 0.5 and rho = 0.5, 0.055."""
    reach = int(25 * float(law.scale)) + 5
    k, s = np.arange(-reach, n + reach + 1), np.arange(n + 1)
    low, high = counts.interval(k.astype(float), n, law, 0.95)
    assert (low < high).all()
    for p in GRID:
        mass = (stats.binom.pmf(s, n, p)[:, None] * law.pmf(k[None, :] - s[:, None])).sum(axis=0)
        found = float(mass[(low <= p) & (p <= high)].sum())
        assert found >= 0.95 - 1e-6
    assert found < 0.97  # at p = 0.5, and not by being absurdly wide


def test_no_noise_to_speak_of_is_clopper_pearson() -> None:
    law = RoundedNormal(Fraction(1, 1000))
    k = np.array([0.0, 1, 7, 25, 50])
    low, high = counts.interval(k, 50, law, 0.95)
    assert low == pytest.approx(np.nan_to_num(stats.beta.ppf(0.025, k, 50 - k + 1)), abs=1e-9)
    assert high == pytest.approx(np.where(k == 50, 1, stats.beta.ppf(0.975, k + 1, 50 - k)), abs=1e-9)


def test_half_of_the_count_itself_is_in_both_tails() -> None:
    """Without noise: the mid-P interval, whose ends solve P(S < k) + P(S = k) / 2 = 0.975 and 0.025."""
    k, n = np.array([0.0, 1, 7, 25, 50]), 50
    low, high = counts.interval(k, n, RoundedNormal(Fraction(1, 1000)), 0.95, mid=True)
    for p, tail in ((low, 0.975), (high, 0.025)):
        found = (stats.binom.cdf(k, n, p) + stats.binom.cdf(k - 1, n, p)) / 2
        inner = (p > 0) & (p < 1)
        assert inner.sum() == 4
        assert found[inner] == pytest.approx(tail, abs=1e-9)
    exact = counts.interval(k, n, RoundedNormal(Fraction(1, 1000)), 0.95)
    assert (low >= exact[0]).all()
    assert (high <= exact[1]).all()


def test_poisson_without_noise_is_garwood() -> None:
    law = RoundedNormal(Fraction(1, 1000))
    k = np.array([0.0, 3, 40, 3000])
    low, high = counts.interval(k, None, law, 0.95)
    assert low == pytest.approx(np.nan_to_num(stats.chi2.ppf(0.025, 2 * k) / 2), rel=1e-7, abs=1e-9)
    assert high == pytest.approx(stats.chi2.ppf(0.975, 2 * k + 2) / 2, rel=1e-7)


def test_large_tables_meet_the_exact_law_where_the_normal_takes_over() -> None:
    law = DiscreteLaplace(Fraction(2))
    for n, p in ((200_000, 0.0526), (45_000, 0.5)):  # variances on both sides of 1e4
        k = np.floor(n * p + np.array([-250.0, 0.0, 180.0]))
        at = np.full(3, p)
        mean, variance = counts._moments(at, n)
        for mid in (False, True):
            window = counts._window_tail(k, at, n, law, mid)
            smooth = counts._smooth_tail(k + (0.0 if mid else 0.5), mean, variance, law)
            assert smooth == pytest.approx(window, abs=2e-3)


def test_millions_of_rows_are_quick_and_sane() -> None:
    low, high = counts.interval(np.array([3e6, 10.0]), 10_000_000, DiscreteLaplace(Fraction(2)), 0.95)
    assert low[0] < 0.3 < high[0]
    assert high[0] - low[0] == pytest.approx(2 * 1.96 * np.sqrt(0.21 / 1e7), rel=0.01)
    assert 0 < low[1] < 1e-6 < high[1] < 3e-6


def test_impossible_counts_get_the_nearest_possible_interval() -> None:
    law = DiscreteLaplace(Fraction(2))
    low, high = counts.interval(np.array([-30.0, 0.0, 50.0, 90.0]), 50, law, 0.95)
    assert (low[0], high[0]) == (low[1], high[1])
    assert (low[2], high[2]) == (low[3], high[3])
    assert low[0] == 0
    assert high[3] == 1
