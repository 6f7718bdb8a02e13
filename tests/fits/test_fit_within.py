"""Notes on what bins hide: said where it matters, and not where densities are smooth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tacit.fits.cell_arrays import CellAxis, CellCounts
from tacit.fits.within_bins import notes, unknown

LONG = stats.lognorm(0.9, scale=25)
DRAWS = 50


def drawn(cdf: np.ndarray, rows: int, noise: float, zero: float, rng: np.random.Generator) -> np.ndarray:
    shares = (1 - zero) * np.diff(cdf) / (cdf[-1] - cdf[0])
    shares[0] += zero
    return rng.multinomial(rows, shares / shares.sum()) + rng.normal(0, np.sqrt(noise), len(shares))


@pytest.mark.parametrize("noise", [8.0, 800.0])
@pytest.mark.parametrize(
    ("law", "bins", "rows"),
    [
        (stats.beta(2, 2), 10, 100_000),
        (stats.beta(1, 3), 10, 100_000),
        (stats.uniform(), 10, 1_000_000),
        (stats.norm(0.5, 0.2), 20, 100_000),
        (LONG, 100, 10_000),
    ],
    ids=["beta 2,2", "beta 1,3", "uniform", "normal", "lognormal"],
)
def test_smooth_densities_are_let_alone(law: stats.rv_continuous, bins: int, rows: int, noise: float) -> None:
    rng, edges = np.random.default_rng(0), np.linspace(0, 300 if law is LONG else 1, bins + 1)
    axis = CellAxis("x", "continuous", edges)
    for _ in range(DRAWS):
        assert notes(CellCounts((axis,), drawn(law.cdf(edges), rows, noise, 0.0, rng), noise)) == []


@pytest.mark.parametrize(
    ("edges", "zero"),
    [
        (np.linspace(0, 300, 11), 0.0),
        (np.linspace(0, 300, 11), 0.3),
        (np.array([0, 5, 20, 80, 300.0]), 0.0),
        (np.array([0, 10, 20, 30, 50, 75, 100, 150, 300.0]), 0.3),
    ],
)
def test_bins_that_hide_much_are_said(edges: np.ndarray, zero: float) -> None:
    """The correction is off by one to twenty standard errors of the mean in each of these (10,000 rows)."""
    rng, axis = np.random.default_rng(1), CellAxis("income", "continuous", edges)
    for _ in range(DRAWS):
        found = notes(CellCounts((axis,), drawn(LONG.cdf(edges), 10_000, 8.0, zero, rng), 8.0))
        assert len(found) == 1
        assert found[0].startswith("income: where values lie within its bins")


def test_what_is_unknown_of_one_bin_is_a_sixth_of_its_width() -> None:
    """A line that is not negative, and falls to 0 at an end, has its mean a sixth of the bin from the middle."""
    off, _ = unknown(CellAxis("x", "continuous", np.array([0.0, 6.0])), np.array([1e8]), 0.0)
    assert off == pytest.approx(1.0, rel=1e-3)


def test_bins_of_one_value_hide_nothing() -> None:
    axis = CellAxis("x", "continuous", np.arange(0.5, 9.0), step=1)
    assert unknown(axis, np.array([0.0, 9, 0, 0, 9, 0, 0, 900]), 8.0)[0] == 0
