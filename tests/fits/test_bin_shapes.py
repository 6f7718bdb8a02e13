"""Densities within bins: formulas against integrals, and laws of which the means within bins are known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.cells.exponential_bins import langevin, steepness
from tacit.fits.within_bins.bin_rules import MarginRule
from tacit.fits.within_bins.bin_shapes import edge_densities, roughness
from tacit.fits.within_bins.cell_points import Points

LAWS = {
    "lognormal": (stats.lognorm(0.7, scale=18), (0, 8, 12, 18, 28, 45, 70, 100)),
    "gamma": (stats.gamma(2, scale=11), (0, 5, 10, 18, 30, 45, 60, 100)),
    "normal": (stats.norm(50, 15), (0, 30, 40, 50, 60, 70, 80, 100)),
    "beta": (stats.beta(1, 3, scale=100), (0, 3, 9, 20, 37, 54, 69, 100)),
    "even": (stats.norm(50, 15), tuple(range(0, 101, 10))),
}


def exact(law: stats.rv_continuous, edges: tuple[int, ...], step: float = 0.0) -> tuple[CellAxis, np.ndarray]:
    bounds = np.array(edges, dtype=float)
    shares = np.diff(law.cdf(bounds))
    return CellAxis("x", "continuous", bounds, step=step), 1e5 * shares / shares.sum()


@pytest.mark.parametrize("kappa", [-30.0, -2.0, -1e-3, 0.0, 5e-3, 0.02, 3.0, 25.0])
def test_moments_of_exponentials_are_their_integrals(kappa: float) -> None:
    def moment(power: int, about: float = 0.0) -> float:
        return quad(lambda u: (u - about) ** power * np.exp(kappa * (u - 0.5 * np.sign(kappa))), -0.5, 0.5)[0]

    mean = moment(1) / moment(0)
    found = langevin(np.array(kappa))
    expected = [mean, moment(2, mean) / moment(0), moment(3, mean) / moment(0)]
    assert [float(one) for one in found] == pytest.approx(expected, rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("kappa", [-6.0, -3.0, -0.5, 0.0, 1e-3, 2.0, 8.0, 39.0])
def test_an_exponential_is_found_from_its_edge(kappa: float) -> None:
    edge = 1.0 if kappa == 0 else kappa / -np.expm1(-kappa)
    assert float(steepness(np.array(edge))) == pytest.approx(kappa, abs=1e-5)


@pytest.mark.parametrize("name", LAWS)
def test_means_of_skewed_columns_in_uneven_bins(name: str) -> None:
    """Mean within .0025 of a standard deviation, variance within 1.2%; lines through neighbours: .06 and 17%.

    The gamma law's last bin of 40 units makes 1.1% of its variance; it was less while the first bin's mean was off too.
    """
    law, edges = LAWS[name]
    axis, counts = exact(law, edges)
    points = Points(CellCounts((axis,), counts, 8.0), shaped=True)
    x, weights = points.position(axis)[0], points.spread(counts)
    inside = law.cdf(100) - law.cdf(0)
    mean = law.expect(lambda t: t, lb=0, ub=100) / inside
    variance = law.expect(lambda t: (t - mean) ** 2, lb=0, ub=100) / inside
    assert weights.sum() == pytest.approx(counts.sum())
    assert float(weights @ x) / counts.sum() == pytest.approx(mean, abs=0.0025 * np.sqrt(variance))
    assert float(weights @ (x - mean) ** 2) / counts.sum() == pytest.approx(variance, rel=0.012)


@pytest.mark.parametrize("name", LAWS)
def test_what_is_not_known_of_edges_is_as_large_as_their_errors(name: str) -> None:
    law, edges = LAWS[name]
    axis, counts = exact(law, edges)
    found = edge_densities(axis, counts, 8.0)
    truth = 1e5 * law.pdf(axis.bounds) / (law.cdf(100) - law.cdf(0))
    inner = slice(1, -1)
    assert (np.abs(found.used - truth)[inner] <= 2 * found.unknown[inner] + 1e-3 * truth.max()).all()


def test_shares_that_are_lines_in_a_column_are_found_in_uneven_bins() -> None:
    """The mean of x among people of whom a share of .2 + .006 x answers, for a gamma law: within 1e-3 of a bin."""
    law, edges = LAWS["gamma"]
    axis, counts = exact(law, edges)
    inside = law.cdf(100) - law.cdf(0)

    def sums(power: int) -> np.ndarray:
        each = [law.expect(lambda t: t**power * (0.2 + 0.006 * t), lb=low, ub=high) for low, high in pairwise(edges)]
        return 1e5 * np.array(each) / inside

    rule = MarginRule(axis, counts, 0.0).rule
    x = (axis.centers[:, None] + rule.offsets).reshape(-1)
    weights = rule.matrix @ sums(0)
    assert float(weights @ x) / float(sums(1).sum()) == pytest.approx(1.0, abs=2e-3)


def test_heaps_show_and_smooth_densities_do_not() -> None:
    rng = np.random.default_rng(3)
    x = np.minimum(np.floor(rng.gamma(3, 9, 100_000)), 100)
    rounded = np.where(rng.random(len(x)) < 0.4, np.round(x / 5) * 5, x)
    bounds = np.linspace(0, 100, 19)
    axis = CellAxis("x", "continuous", bounds)
    smooth = 1e5 * np.diff(stats.gamma(3, scale=9).cdf(bounds))
    assert roughness(axis, smooth, 100.0)[4:].max() < 0.01
    assert roughness(axis, np.histogram(rounded, bounds)[0].astype(float), 100.0)[:11].min() > 0.05


def test_a_bin_far_narrower_says_nothing_of_its_neighbour() -> None:
    """Whether a heap has one row or a million, the densities at edges beside it are the same."""
    axis = CellAxis("x", "continuous", np.array([0.0, 0.1, 10.0, 20.0, 30.0, 40.0]))
    few, many = (edge_densities(axis, np.array([heap, 900.0, 700, 500, 300]), 8.0) for heap in (1.0, 1e6))
    assert few.used[1:] == pytest.approx(many.used[1:])
