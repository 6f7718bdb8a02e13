"""Quantiles know what bins hide: shares within bins are those of the densities of fits, with what is not known."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from tacit.fits.within_bins.within_bin_shares import level_bins, within_bins
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Noise
from tacit.method.histogram.estimate_from_cells.distribution_curve import GroupCurve
from tacit.noise.laws import DiscreteLaplace

ROWS = 100_000
PROBS = np.arange(0.05, 0.96, 0.05)
EDGES = np.array([0.0, 8, 12, 18, 28, 45, 70, 100])
LAWS = {
    "lognormal": stats.lognorm(0.7, scale=18),
    "gamma": stats.gamma(2, scale=11),
    "normal": stats.norm(40, 14),
    "beta": stats.beta(2, 3, scale=100),
}


@pytest.mark.parametrize("kappa", [-30.0, -2.0, 0.0, 1e-4, 3.0, 450.0])
def test_shares_below_a_place_are_integrals_of_the_density(kappa: float) -> None:
    flat = replace(level_bins(1), kappa=np.array([kappa]))
    first = np.array([0])
    whole = quad(lambda t: np.exp(kappa * (t - (kappa > 0))), 0, 1, limit=200)[0]
    for u in (0.0, 0.1, 0.5, 0.99, 1.0):
        part = quad(lambda t: np.exp(kappa * (t - (kappa > 0))), 0, u, limit=200)[0]
        assert float(flat.below(first, np.array([u]))[0]) == pytest.approx(part / whole, abs=1e-6)


def test_shares_rise_and_places_invert_them() -> None:
    rng, u = np.random.default_rng(1), np.linspace(0, 1, 101)
    for _ in range(8):
        made = within_bins(np.linspace(0, 10, 11), rng.gamma(0.5, 2_000, 10), 8.0)
        for at in range(10):
            below = made.smooth(np.full(101, at), u)
            assert (below[0], below[-1]) == pytest.approx((0, 1))
            assert (np.diff(below) > -1e-12).all()
            share = float(rng.uniform(0.05, 0.95))
            found = made.place(at, share)
            assert float(made.smooth(np.array([at]), np.array([found]))[0]) == pytest.approx(share, abs=1e-9)


def test_quantiles_of_whole_numbers_are_whole() -> None:
    """Numbers 0 to 39 in bins of five and ten: within one of the quantile, which every interval holds."""
    edges = np.array([-0.5, 4.5, 9.5, 14.5, 19.5, 24.5, 29.5, 39.5])
    p = stats.binom(39, 0.4).pmf(np.arange(40))
    counts = ROWS * np.add.reduceat(p, (edges[:-1] + 0.5).astype(int))
    noise = Noise(DiscreteLaplace(Fraction(2)), 1, 1, 7, projected=True)
    curve = GroupCurve(edges, counts, noise, step=1.0)
    for tau in PROBS:
        value, (low, high) = curve.quantile(float(tau))[0], curve.interval(float(tau), 0.95)
        truth = int(np.searchsorted(np.cumsum(p), tau))
        assert abs(value - truth) <= 1
        assert low <= truth <= high
        assert {value % 1, low % 1, high % 1} == {0}


@pytest.mark.parametrize("name", LAWS)
def test_intervals_hold_in_bins_of_any_width(name: str) -> None:
    """From exact shares of 100,000 rows, without noise; none of 19 quantiles but in the end bins is missed.

    Values are within half of their interval's half-width, which is all that bins hide beside sampling.
    """
    law = LAWS[name]
    shares = np.diff(law.cdf(EDGES)) / (law.cdf(100) - law.cdf(0))
    noise = Noise(DiscreteLaplace(Fraction(2)), 1, 1, 7, projected=True)
    curve = GroupCurve(EDGES, ROWS * shares, noise)
    for p in PROBS:
        value, at = curve.quantile(float(p))
        low, high = curve.interval(float(p), 0.95)
        truth = float(law.ppf(law.cdf(0) + p * (law.cdf(100) - law.cdf(0))))
        assert low <= truth <= high
        if 0 < at < 6:
            assert abs(value - truth) < (high - low) / 4
