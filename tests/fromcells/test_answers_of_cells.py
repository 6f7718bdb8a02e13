"""Numbers from cells are given where noisy numbers are clear of their noise: what intervals hold, given an answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from drawn_releases import shape_of
from scipy import stats

import tacit as tc
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Error, Thresholds
from tacit.method.histogram.estimate_from_cells.cell_groups import group_counts, unclear
from tacit.method.histogram.estimate_from_cells.cell_moments import moments
from tacit.method.histogram.estimate_from_cells.cell_quantiles import curves
from tacit.method.histogram.estimate_from_cells.distribution import Banded
from tacit.method.shared.simulated_parts import simulated
from tacit.testing.simulate import add_noise

GROUPS, ROWS = 200, 16
SHARES = 0.5 ** np.arange(6) / sum(0.5 ** np.arange(6))
MEAN = float(SHARES @ np.arange(6))


def releases() -> Iterator[Any]:
    """Releases of histograms of many groups of few rows."""
    columns = {"g": tc.Category([f"g{i}" for i in range(GROUPS)]), "x": tc.Integer(0, 5)}
    shape, rng = shape_of(columns, {}, ROWS * GROUPS, 1.0), np.random.default_rng(7)
    for _ in range(9):
        counts = rng.multinomial(ROWS, SHARES, GROUPS).reshape(1, -1, 1)
        yield simulated(shape, tuple(k[0] for k in add_noise(shape, (counts,), rng)))


def check(limits: np.ndarray, truth: float) -> None:
    """One group in twenty has an answer; with 93% of them right, one run in 1e6 is below."""
    held = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
    assert 50 < len(held) < 250
    assert held.sum() >= stats.binom.ppf(1e-6, len(held), 0.93)


@pytest.mark.filterwarnings("error")
def test_means_of_few_rows_are_covered_given_an_answer() -> None:
    """It was 55%."""
    found = [moments(one, "x", "g") for one in releases()]
    said = np.concatenate([[reason is None for reason in one.reasons] for one in found])[::3]
    check(np.concatenate([one.intervals() for one in found])[::3][said], MEAN)


def test_shares_of_few_rows_are_covered_given_an_answer() -> None:
    """Of the distribution function at its second edge, where noise pulls it most."""
    some = [curve for one in releases() for curve in curves(group_counts(one, ("x",), "g"), "population")]
    given = tuple(one for one in some if unclear(one.rows, one.cells, one.noise) is None)
    low, high = Banded(given, (False,) * len(given), False, 0).interval(0.95)
    check(np.stack([low, high], axis=-1).reshape(len(given), -1, 2)[:, 1], float(SHARES[:2].sum()))


def test_the_chance_of_several_conditions_is_the_product() -> None:
    one = Thresholds(np.array([[12.0, 1e6]]), np.array([[10.0, 10.0]]), np.array([[1.0, 1.0]]))
    both = one.also(one)
    chance = one.chance(0.05)
    assert chance[1] == 1
    # 12 is 2 sd above its threshold: N0 + quantile(GAMMA alpha c) = 12 at N0 with c = P(N0 + e > 10)
    inside = stats.norm.sf(10 - (12 - stats.norm.isf(0.1 * 0.05 * chance[0])))
    assert chance[0] == pytest.approx(inside, rel=1e-6)
    assert both.chance(0.05) == pytest.approx(chance**2)
    public = Thresholds(np.ones((1, 1)), np.zeros((1, 1)), np.zeros((1, 1)))
    assert public.chance(0.05).tolist() == [1.0]


def test_half_widths_given_an_answer_are_of_a_lower_level() -> None:
    error = Error(np.ones(3), np.zeros((3, 1)), np.ones(1))
    chance = np.array([1.0, 0.5, 1e-9])
    # 0.5 is rounded down to 0.35, and chances end at 0.01
    assert error.given(0.05, chance) == pytest.approx(stats.norm.isf(0.025 * np.array([1, 0.35, 0.01])), rel=1e-3)
