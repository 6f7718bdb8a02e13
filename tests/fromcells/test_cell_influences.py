"""What a row in each cell does to an estimate, against differences of the estimate itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tacit.fits.cells.cell_arrays import CellAxis
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Noise
from tacit.method.histogram.estimate_from_cells.cell_moments import _moments  # pyright: ignore[reportPrivateUsage]
from tacit.method.histogram.estimate_from_cells.correlation import _correlation  # pyright: ignore[reportPrivateUsage]
from tacit.method.histogram.estimate_from_cells.life_table import LifeTable
from tacit.method.histogram.estimate_from_cells.logrank import _weights, compared  # pyright: ignore[reportPrivateUsage]
from tacit.noise.laws import DiscreteLaplace

STEP = 1e-4


def quiet(size: int) -> Noise:
    return Noise(DiscreteLaplace(Fraction(1, 1000)), 1, 1, size, projected=False)


def table(counts: np.ndarray, absent: float = 0.5) -> LifeTable:
    events, censored, beyond = counts[:5], counts[5:10], float(counts[10])
    return LifeTable(events, censored, beyond, absent, quiet(12), has_beyond=True)


@pytest.mark.parametrize("absent", [0.5, 0.3, 0.0])
def test_of_survival(absent: float) -> None:
    counts = np.array([30.0, 20, 25, 10, 5, 4, 8, 12, 9, 6, 40])
    found = table(counts, absent)
    steps = np.eye(11) * STEP
    slopes = [(table(counts + h, absent).logs - table(counts - h, absent).logs) / (2 * STEP) for h in steps]
    assert found.influence == pytest.approx(np.array(slopes).T, abs=1e-8)
    at_risk = 169 - np.cumsum(np.append(0, counts[:5] + counts[5:10]))[:5] - counts[5:10] * absent
    assert found.at_risk == pytest.approx(at_risk)
    assert found.spread(found.influence).shape[1] == 12  # two cells beyond, an event or none


def test_of_log_rank() -> None:
    """At counts alike in both groups, where the derivatives at equal hazards are those of the statistic."""
    counts = np.array([30.0, 20, 25, 10, 5, 4, 8, 12, 9, 6, 40])

    def off(one: np.ndarray, other: np.ndarray) -> float:
        found = compared((table(one), table(other)))[0]
        assert found is not None
        return float(found[0])

    steps = np.eye(11) * STEP
    slopes = [(off(counts + h, counts) - off(counts - h, counts)) / (2 * STEP) for h in steps]
    pair = (table(counts), table(counts))
    total = 2 * pair[0].at_risk
    weights = _weights(pair, np.full((2, 5), 0.5), 2 * counts[:5] / total, np.ones(5, dtype=bool))
    assert weights[0, :11] == pytest.approx(np.array(slopes), abs=1e-7)
    assert off(counts, counts) == pytest.approx(0)


def test_of_moments() -> None:
    axis = CellAxis("x", "continuous", np.array([0.0, 1.0, 3.0, 4.0, 6.0]))
    counts, noise = np.array([10.0, 40, 30, 20]), quiet(4)
    found = _moments(axis, counts, noise)
    for r, h in enumerate(np.eye(4) * STEP):
        slope = (_moments(axis, counts + h, noise).values - _moments(axis, counts - h, noise).values) / (2 * STEP)
        assert found.influence[:, r] == pytest.approx(slope, abs=1e-7)


def test_of_correlation() -> None:
    axes = tuple(CellAxis(name, "continuous", np.linspace(0, 1, 5)) for name in "xy")
    counts = np.random.default_rng(2).integers(5, 50, (4, 4)) + 100.0 * np.eye(4)
    found = _correlation(axes, counts, quiet(16))
    for r, h in enumerate((np.eye(16) * STEP).reshape(16, 4, 4)):
        high, low = (_correlation(axes, counts + s * h, quiet(16)).values for s in (1, -1))
        assert found.influence[0, r] == pytest.approx(float((high - low)[0]) / (2 * STEP), abs=1e-8)
