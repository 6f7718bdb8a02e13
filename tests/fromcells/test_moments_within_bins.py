"""Moments know what bins hide: from exact shares without noise, errors are within what is said of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drawn_releases import one
from scipy import stats

import tacit as tc
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Noise
from tacit.method.histogram.estimate_from_cells.cell_moments import (
    GroupNumbers,
    _moments,  # pyright: ignore[reportPrivateUsage]
    moments,
)
from tacit.noise.laws import DiscreteLaplace

ROWS = 1e6
CUTS = np.linspace(0, 100, 10_001)
MIDDLE = (CUTS[1:] + CUTS[:-1]) / 2
LAWS = {
    "lognormal": stats.lognorm(0.8, scale=20),
    "gamma": stats.gamma(2, scale=11),
    "exponential": stats.expon(scale=12),
    "normal": stats.norm(55, 12),
    "narrow": stats.norm(47, 6),
    "rising": stats.beta(4, 1, scale=100),
    "hollow": stats.beta(0.7, 0.8, scale=100),
}
EDGES = {
    "typed": [0, 18, 25, 35, 50, 65, 100],
    "geometric": [0, 3.125, 6.25, 12.5, 25, 50, 100],
    "eight": list(np.linspace(0, 100, 9)),
    "twenty": list(np.linspace(0, 100, 21)),
}


def weighed(law: stats.rv_continuous) -> np.ndarray:
    w = np.diff(law.cdf(CUTS))
    return w / w.sum()


def moments_of(w: np.ndarray, edges: list[float]) -> GroupNumbers:
    axis = CellAxis("x", "continuous", np.array(edges, dtype=float))
    noise = Noise(DiscreteLaplace(Fraction(2)), 1, 1, axis.bins, projected=True)
    return _moments(axis, ROWS * np.histogram(MIDDLE, edges, weights=w)[0], noise)


@pytest.mark.parametrize("edges", EDGES)
def test_what_is_said_holds_what_bins_hide(edges: str) -> None:
    """Within 2.5 of what is said, root mean square at most 1.2; lines through neighbours were off by up to 300 of it.

    Nothing is random here.
    """
    z = []
    for law in LAWS.values():
        w = weighed(law)
        found, mean = moments_of(w, EDGES[edges]), float(w @ MIDDLE)
        truth = np.array([mean, float(w @ (MIDDLE - mean) ** 2)])
        z.append((found.values[:2] - truth) / np.sqrt(np.diag(found.unknown)[:2]))
    assert np.abs(z).max() < 2.5
    assert (np.square(z).mean(axis=0) < 1.2**2).all()


def test_the_mean_in_quantile_like_edges_is_near() -> None:
    """Within .01 of the column's standard deviation, where lines through neighbours' densities are off by .06."""
    w = weighed(stats.lognorm(0.7, scale=18))
    mean = float(w @ MIDDLE)
    found = moments_of(w, [0, 8, 12, 18, 28, 45, 70, 100])
    assert abs(found.values[0] - mean) < 0.01 * np.sqrt(w @ (MIDDLE - mean) ** 2)


def test_errors_of_moments_have_what_bins_hide_in_them() -> None:
    """Of a table's own mean nothing is sampled, and there is no noise to speak of: what is left is what bins hide."""
    w = weighed(LAWS["gamma"])
    counts = np.rint(ROWS * np.histogram(MIDDLE, EDGES["typed"], weights=w)[0]).astype(int)
    release = one({"x": tc.Real(0, 100)}, {"x": EDGES["typed"]}, counts)
    found, said = moments(release, "x", target="table"), moments_of(w, EDGES["typed"]).unknown
    assert found.std_errors == pytest.approx(np.sqrt(np.diag(said)), rel=0.02)
    low, high = found["mean"].conf_int()
    assert low < float(w @ MIDDLE) < high
    assert any("where values may lie within their bins" in note for note in found.notes)


def test_a_peak_in_an_end_bin_is_not_put_at_the_end() -> None:
    """A third of the rows in the last bin, none beside it: their mean is not known by a quarter of the bin."""
    w = 0.65 * weighed(stats.norm(28, 5)) + 0.35 * weighed(stats.norm(83, 4))
    found, mean = moments_of(w, EDGES["typed"]), float(w @ MIDDLE)
    said = float(np.sqrt(found.unknown[0, 0]))
    assert abs(found.values[0] - mean) < 1.5 * said
    assert said > 0.35 * 35 / 8


def test_narrow_bins_in_a_row_are_no_heaps() -> None:
    """Wide end bins beside bins 20 times narrower: values lie near the inner edges, as the densities there say."""
    w = weighed(stats.norm(50, 4))
    found = moments_of(w, [0, 45, 47, 49, 51, 53, 55, 100])
    assert found.values[2] == pytest.approx(4.0, rel=0.05)


def test_of_a_single_bin_the_mean_is_not_known_by_a_quarter_of_it() -> None:
    found = moments_of(weighed(stats.norm(50, 20)), [0, 100])
    assert found.unknown[0, 0] == pytest.approx(25**2, rel=0.25)


def test_bins_of_one_value_hide_nothing() -> None:
    axis = CellAxis("x", "continuous", np.arange(0.5, 9.0), step=1)
    noise = Noise(DiscreteLaplace(Fraction(2)), 1, 1, axis.bins, projected=True)
    found = _moments(axis, np.array([0.0, 9, 0, 0, 9, 0, 0, 900]), noise)
    assert (found.unknown == 0).all()
