"""How plausible counts make heaps, and what declared ones explain."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.cells.log_densities import LogDensities
from tacit.fits.heaps import heap_evidence
from tacit.fits.heaps.bin_heaps import declared_heaps
from tacit.fits.heaps.heap_evidence import HEAPED, INNER, OUTER, PRIOR, heaps_plausible
from tacit.fits.heaps.hidden_heaps import heaped_rows
from tacit.fits.within_bins.bin_shapes import roughness
from tacit.fits.within_bins.within_bin_shares import within_bins

RICH = 400
ROWS = 100_000
NORMAL = stats.norm(50, 12)
EVERY_FIFTH = np.array([0, 2, *np.arange(6, 99, 4), 100.0])
"""Edges of bins of 4, in which multiples of 20 are at middles."""


def logs(values: np.ndarray, spread: float) -> LogDensities:
    """Return logarithms of densities that are known with an error of this variance."""
    K = len(values)
    filled, alike = np.ones(K, dtype=np.bool_), np.ones(K - 1, dtype=np.bool_)
    each = np.stack([np.full(K, spread), np.zeros(K)])
    return LogDensities(np.arange(K) + 0.5, np.ones(K), np.exp(values), filled, values, each, alike)


def test_evidence_against_heaps_misleads_as_seldom_as_it_says() -> None:
    """Of 400 columns of the heaped kind so many as r are r times as plausible without: Markov's inequality.

    At r = .02 more than 24 have a chance below 1e-6.
    """
    rng, K, spread, low = np.random.default_rng(1), 8, 0.01, 0
    for _ in range(400):
        drawn = [one[rng.choice(len(one), p=[chance for _, chance in one])][0] for one in (INNER, OUTER, OUTER)]
        third = np.full(K - 3, drawn[0])
        third[0], third[-1] = max(drawn[0], drawn[1]), max(drawn[0], drawn[2])
        bent = np.cumsum(np.append(np.zeros(3), rng.normal(0, third)))
        # twice more from third differences to logarithms
        smooth = np.cumsum(np.cumsum(bent))
        off = rng.normal(0, rng.choice(HEAPED), K) + rng.normal(0, spread**0.5, K)
        low += heaps_plausible(logs(smooth + off, spread)) <= 0.02 * PRIOR
    assert low <= 24


def test_smooth_columns_are_plausibly_without_heaps() -> None:
    for law in (NORMAL, stats.norm(40, 20), stats.beta(2, 3, scale=100), stats.expon(scale=25)):
        axis = CellAxis("x", "continuous", np.linspace(0, 100, 13))
        counts = 10_000 * np.diff(law.cdf(axis.bounds))
        assert heaps_plausible(LogDensities.of(axis, counts, 8.0)) < 0.2
    # three bins have no third difference; so many in pieces have
    assert heaps_plausible(logs(np.array([1.0, 5.0, 2.0]), 0.01)) == 1
    assert heaps_plausible(logs(-(np.linspace(-2, 2, 100) ** 2), 0.01)) < 1e-6


def test_runs_are_looked_at_apart_and_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(0, 0.05, 12) - np.linspace(-1, 1, 12) ** 2
    monkeypatch.setattr(heap_evidence, "PRIOR", 1.0)
    halves = heaps_plausible(logs(values[:6], 0.01)) * heaps_plausible(logs(values[6:], 0.01))
    whole = logs(values, 0.01)
    assert heaps_plausible(whole) < halves < 1
    monkeypatch.setattr(heap_evidence, "PIECE", 6)
    assert heaps_plausible(whole) == pytest.approx(halves, rel=1e-9)
    monkeypatch.setattr(heap_evidence, "PIECE", 40)
    whole.alike[5] = False
    assert heaps_plausible(whole) == pytest.approx(halves, rel=1e-9)


def declared(values: Any, bins: Any, unit: float | None) -> Any:
    curator = tc.Curator({"x": values}, tc.Schema({"x": tc.Real(0, 100, heaped_at=unit)}), budget=tc.Budget(rho=1_000))
    return curator.release(tc.Histogram("x", bins={"x": bins}), rho=RICH).moments("x", target="table")


def counts_at_twenties(share: float) -> np.ndarray:
    """Return counts of a normal column in bins of 4, a share of them at multiples of 20."""
    counts = ROWS * np.diff(NORMAL.cdf(EVERY_FIFTH))
    heaps = ROWS * np.diff(NORMAL.cdf(np.array([-np.inf, 10, 30, 50, 70, 90, np.inf])))
    found = (1 - share) * counts
    found[[0, 5, 10, 15, 20, 25]] += share * heaps
    return found


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_what_declared_heaps_explain_is_no_sign_of_others(share: float) -> None:
    counts = counts_at_twenties(share)
    told, not_told = (CellAxis("x", "continuous", EVERY_FIFTH, heaped_at=unit) for unit in (20.0, 0.0))
    none = np.asarray(declared_heaps(EVERY_FIFTH, 20.0).count == 0)  # pyright: ignore[reportOptionalMemberAccess]
    found, blind = heaped_rows(told, counts, 8.0), heaped_rows(not_told, counts, 8.0)
    assert not found.rows[none].any()
    assert found.unseen @ counts < 0.001 * ROWS
    assert (found.share, found.anywhere) == (0, 0)
    # as heaps that nobody declared they are seen in most bins
    assert max(blind.anywhere, (blind.unseen * none).max()) > 0.1
    rough = roughness(told, counts, 8.0)
    assert rough[none].max() < 0.05
    assert roughness(not_told, counts, 8.0)[none].max() > 0.1
    # the spike itself is left out of the density
    assert found.rows[10] > 0.2 * share * ROWS
    assert not within_bins(EVERY_FIFTH, counts, 8.0, 20.0).heaped[none].any()


def test_a_spike_in_a_bin_without_a_declared_heap_is_seen() -> None:
    counts = counts_at_twenties(0.3)
    counts[12] += 10_000
    found = heaped_rows(CellAxis("x", "continuous", EVERY_FIFTH, heaped_at=20.0), counts, 8.0)
    assert found.rows[12] > 8_000
    assert not found.rows[[11, 13]].any()


def test_bins_that_all_have_a_declared_heap_are_read_without_a_warning() -> None:
    edges = np.linspace(0, 100, 11)
    counts = ROWS * np.diff(NORMAL.cdf(edges))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = heaped_rows(CellAxis("x", "continuous", edges, heaped_at=1.0), counts, 8.0)
    assert np.isfinite(found.rows).all()
    assert (found.unseen.any(), found.anywhere, found.share) == (False, 0, 0)


def test_declared_means_are_narrow_where_bins_hold_few_heaps() -> None:
    rng = np.random.default_rng(3)
    x = np.clip(NORMAL.rvs(ROWS, random_state=rng), 0, 100)
    x = np.where(rng.random(ROWS) < 0.3, 20 * np.round(x / 20), x)
    inner = tuple(EVERY_FIFTH[1:-1].tolist())
    told, not_told = (declared(x, (0, *inner, 100), unit) for unit in (20.0, None))
    for i, truth in enumerate((x.mean(), x.var(), x.std())):
        assert abs(told.values[i] - truth) < 2 * told.std_errors[i]
    assert told.std_errors[0] < 0.2 * not_told.std_errors[0]


def test_columns_that_end_within_their_bounds_are_seldom_found_heaped() -> None:
    """Of 600 tables of laws that are cut off, skewed ones too; more than 21 have a chance below 1e-6 at 1 in 100."""
    rng, seen = np.random.default_rng(4), 0
    laws = [(stats.expon(loc=18, scale=20), 18, 78), (stats.uniform(18, 60), 18, 78), (stats.norm(35, 17), 18, 86)]
    laws += [(stats.lognorm(0.6, scale=25), 0, 55), (stats.gamma(2, scale=15), 0, 55), (stats.t(3, 40, 10), 18, 100)]
    for K in (8, 20):
        axis = CellAxis("x", "continuous", np.linspace(0, 100, K + 1))
        for law, low, high in laws:
            p = np.diff(law.cdf(np.clip(axis.bounds, low, high)))
            tables = rng.multinomial(5_000, p / p.sum(), size=50) + rng.laplace(0, 4, (50, K))
            seen += sum(heaped_rows(axis, one, 32.0).share > 0 for one in tables)
    assert seen <= 21


def test_ages_of_few_of_fairs_rows_are_seen_to_be_at_points() -> None:
    """One hole that is not clear by itself, beside an abrupt end: counts of 2,000 rows."""
    axis = CellAxis("age", "continuous", np.linspace(0, 50, 11))
    fair = np.array([0.0, 0, 0, 45, 580, 600, 345, 215, 230, 0])
    assert heaped_rows(axis, fair, 8.0).share > 0.1
    assert heaped_rows(axis, np.append(fair[:9], 110.0), 8.0).share == 0
