"""What the noise in cells does to moments and to curves, against simulated noise.  All is seeded."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.within_bins.bin_shapes import positive
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Noise
from tacit.method.histogram.estimate_from_cells.cell_moments import _moments, sampling_of  # pyright: ignore[reportPrivateUsage]
from tacit.method.histogram.estimate_from_cells.correlation import _correlation  # pyright: ignore[reportPrivateUsage]
from tacit.method.histogram.estimate_from_cells.distribution_curve import GroupCurve
from tacit.noise.laws import DiscreteLaplace, RoundedNormal

LAW = RoundedNormal(Fraction(48))


def agrees(drawn: Any, truth: Any, rest: float = 0.0) -> None:
    """Means within 5 of their standard errors, beyond with probability 6e-7; rest: allowed beside, absolute."""
    drawn = np.asarray(drawn, dtype=np.float64)
    error = drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - truth) < 5 * error + rest).all(), (drawn.mean(axis=0), truth, error)


@pytest.mark.parametrize("projected", [False, True])
def test_noise_of_persons_cells(projected: bool) -> None:
    """Noises of cells that hold quarters of a person, three noises a cell; combinations and their covariances."""
    noise = Noise(LAW, 4, 3, 6, projected)
    z = noise.sample((40_000, 6), np.random.default_rng(1))
    z = z - projected * z.mean(axis=1, keepdims=True)
    weights = np.array([[1.0, 0.0, -1.0, 2.0, 0.0, 1.0], [0.5, 0.5, 0.5, 0.5, 0.0, 0.0]])
    sums = z @ weights.T
    agrees(sums[:, :, None] * sums[:, None, :], noise.covariance(weights))
    agrees(sums**2, noise.variance(weights))
    agrees(sums**2, noise.error(weights, np.zeros(2)).sd ** 2)


def moments_with_noise(axis: CellAxis, counts: Any, draws: int) -> tuple[Any, Any, Any]:
    """Mean and variance at some draws of the noise, and without noise; and the covariance stated for them."""
    size = len(counts)
    noise = Noise(LAW, 4, 1, size, projected=True)
    calm = _moments(axis, counts, Noise(DiscreteLaplace(Fraction(1, 1000)), 1, 1, size, projected=True))
    z = noise.sample((draws, size), np.random.default_rng(2))
    found = np.array([_moments(axis, counts + one - one.mean(), noise).values[:2] for one in z])
    return found, calm.values[:2], noise.covariance(calm.influence)[:2, :2]


def test_a_variance_is_free_of_the_square_of_its_mean_s_noise() -> None:
    """Two levels, where little else moves a variance: left in, the square is 25 standard errors; twice off, 50."""
    found, truth, _ = moments_with_noise(
        CellAxis("x", "levels", labels=("no", "yes"), numbers=(0.0, 1.0)), np.array([202.0, 198]), 1_500
    )
    agrees(found, truth)


def test_noise_in_moments_of_bins_is_as_stated() -> None:
    """Up to 3%, what is second order in noise and in the rules within bins."""
    axis = CellAxis("x", "continuous", np.linspace(0, 1, 9))
    found, _, stated = moments_with_noise(axis, np.array([20.0, 60, 90, 80, 60, 40, 30, 20]), 500)
    squares = (found - found.mean(axis=0)) ** 2
    agrees(squares, np.diag(stated), 0.03 * np.diag(stated))


def test_correlations_are_corrected_for_the_noise_in_two_means() -> None:
    """By hand, from gathered sums, sizes private: E (mean x)(mean y) has the covariance of their noises in it."""
    axes = tuple(CellAxis(name, "levels", labels=("a", "b", "c"), numbers=(0.0, 1.0, 3.0)) for name in "xy")
    counts = np.array([[300.0, 60, 10], [80, 90, 20], [10, 20, 40]])
    noise = Noise(LAW, 4, 1, 9, projected=False)
    x, y = np.meshgrid([0.0, 1.0, 3.0], [0.0, 1.0, 3.0], indexing="ij")
    n = counts.sum()
    x, y = x - (counts * x).sum() / n, y - (counts * y).sum() / n
    own = noise.cell * np.array([(x * x).sum(), (y * y).sum(), (x * y).sum()]) / n**2
    vx, vy, both = np.array([(counts * x * x).sum(), (counts * y * y).sum(), (counts * x * y).sum()]) / n + own
    found = _correlation(axes, counts, noise)
    assert found.values[0] == pytest.approx(both / np.sqrt(vx * vy))
    assert abs(own[2]) > 1e-3 * both


@pytest.mark.parametrize("projected", [False, True])
def test_the_error_of_a_curve_counts_the_noise_of_all_its_cells(projected: bool) -> None:
    """S(t) - tau N, bins cut at a share: cells below, partly below and above t, and those beyond the bounds."""
    noise = Noise(LAW, 4, 2, 10, projected)  # two cells are of no group
    counts = np.array([40.0, 60, 80, 50, 30, 20])
    curve = GroupCurve(np.linspace(0, 6, 7), counts, noise, 10.0, 12.0, sampling=False)
    at, within, tau = np.array([0, 2, 5]), np.array([0.5, 0.25, 1.0]), np.array([0.1, 0.45, 0.95])
    z = noise.sample((40_000, 10), np.random.default_rng(3))
    z = z - projected * z.mean(axis=1, keepdims=True)
    cells = z[:, :8]  # below, six bins, above
    sums = np.stack([cells[:, : 1 + j].sum(axis=1) + u * cells[:, 1 + j] for j, u in zip(at, within, strict=True)], 1)
    off = sums - tau * cells.sum(axis=1, keepdims=True)
    # of the table's rows chance has put as many below a place within a bin as it has put heads of as many coins
    below = curve.inside.below(at, within)
    chance = np.where(within < 1, positive(counts, noise.cell)[at] * below * (1 - below), 0.0)
    own = curve.error(at, within, tau)
    agrees(off**2, own.sd**2 - chance)
    sampled = GroupCurve(np.linspace(0, 6, 7), counts, noise, 10.0, 12.0).error(at, within, tau)
    assert sampled.variance - own.variance == pytest.approx(302 * tau * (1 - tau) - chance)


def test_sampling_variances_of_cells_are_those_of_rows() -> None:
    """20,000 multinomial tables: sums over rows of influences whose mean is 0."""
    p = np.array([0.1, 0.4, 0.3, 0.2])
    influence = np.array([[-2.0, 1.0, 0.0, -1.0], [1.0, 0.5, -1.0, 0.0]])
    influence -= (influence @ p)[:, None]
    drawn = np.random.default_rng(4).multinomial(200, p, 20_000) @ influence.T
    found = sampling_of(200 * p, influence, Noise(DiscreteLaplace(Fraction(1, 1000)), 1, 1, 4, projected=False))
    agrees(drawn[:, :, None] * drawn[:, None, :], found)
