"""Rows at points within bins: heaps that a column declares, and heaps that its counts show."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.errors import ReleaseError, SchemaError
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.heaps.bin_heaps import AtPoints, declared_heaps, unknown_points
from tacit.fits.heaps.hidden_heaps import heaped_rows
from tacit.fits.within_bins.within_bin_shares import within_bins
from tacit.release.document import release_from_dict
from tacit.schema.autobins import heap_bins

RICH = 400
ROWS = 100_000
NORMAL = stats.norm(50, 12)
GRID = np.clip(NORMAL.ppf((np.arange(ROWS) + 0.5) / ROWS), 0, 100)


def histogram(values: Any, bins: Any, heaped_at: float | None = None, price: float = RICH) -> Any:
    schema = tc.Schema({"x": tc.Real(0, 100, heaped_at=heaped_at)})
    curator = tc.Curator({"x": values}, schema, budget=tc.Budget(rho=2 * RICH))
    return curator.release(tc.Histogram("x", bins={"x": bins}), rho=price)


def told(share: float, unit: float) -> np.ndarray:
    """Return normal values of which every so many is at the nearest multiple."""
    chosen = np.random.default_rng(1).random(ROWS) < share
    return np.where(chosen, np.round(GRID / unit) * unit, GRID)


@pytest.mark.parametrize("wrong", [0, -5, float("nan"), True, 200])
def test_a_malformed_heap_is_refused(wrong: Any) -> None:
    with pytest.raises(SchemaError, match="S45"):
        tc.Real(0, 100, heaped_at=wrong)


def test_heaps_are_at_multiples_of_what_values_are_multiples_of() -> None:
    assert tc.Real(0, 100, multiple_of=0.1, heaped_at=0.3).heaped_at == 0.3
    with pytest.raises(SchemaError, match="S45"):
        tc.Real(0, 100, multiple_of=2, heaped_at=5)


def test_files_keep_a_declaration() -> None:
    schema = tc.Schema({"x": tc.Real(0, 100, heaped_at=10), "y": tc.Real(heaped_at=0.5), "z": tc.Real(0, 1)})
    assert tc.Schema.from_toml(schema.to_toml()) == schema
    assert schema.to_toml().count("heaped_at") == 2
    made = histogram(GRID, 8, 10.0)
    words = json.loads(made.to_json())
    assert words["axes"][0]["heaped_at"] == 10
    assert release_from_dict(words) == made
    for wrong in (0, -1, "10"):
        with pytest.raises(ReleaseError):
            release_from_dict({**words, "axes": [{**words["axes"][0], "heaped_at": wrong}]})


@pytest.mark.parametrize("unit", [1.0, 2.5, 5.0, 10.0, 20.0])
@pytest.mark.parametrize("K", [8, 20, 50])
def test_automatic_bins_have_heaps_about_their_middles(unit: float, K: int) -> None:
    for edges in heap_bins(tc.Real(0, 100, heaped_at=unit), K):
        ends = np.array([0, *edges, 100.0])
        heaps = declared_heaps(ends, unit)
        assert heaps is not None
        inner = slice(1, -1)
        off = np.where(heaps.count > 0, heaps.center - (ends[1:] + ends[:-1]) / 2, 0.0)[inner]
        assert np.abs(off).max() < 1e-9
        assert K / 2.5 < len(edges) + 1 < 2.5 * K
        assert np.diff(ends).min() >= np.diff(ends).max() / 2 - 1e-9


def test_multiples_are_counted_once() -> None:
    """In bins that begin and end anywhere: a multiple on an edge is in the bin above, at the last edge in the last."""
    bounds = np.array([-1.0, 0, 0.3, 0.9, 1.0, 7.1, 10])
    for unit in (0.1, 0.3, 1.0, 2.5, 5.0):
        heaps = declared_heaps(bounds, unit)
        assert heaps is not None
        values = unit * np.arange(np.ceil(-1 / unit - 1e-9), np.floor(10 / unit + 1e-9) + 1)
        at = np.clip(np.searchsorted(bounds, values + 1e-9, side="right") - 1, 0, 5)
        assert np.array_equal(heaps.count, np.bincount(at, minlength=6))
        for r in range(6):
            if len(own := values[at == r]):
                assert heaps.center[r] == pytest.approx(own.mean(), abs=1e-9)
                assert heaps.variance[r] == pytest.approx(own.var(), abs=1e-9)
                below, upto = heaps.shares(np.full(3, r), np.array([own[0], own.mean() + 1e-6, own[-1]]))
                assert (below[0], upto[2]) == (0, 1)
                assert upto[0] == pytest.approx(1 / len(own))
                assert below[1] == pytest.approx((own < own.mean() + 1e-6).mean())


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_declared_means_are_unbiased_whatever_the_share(share: float) -> None:
    x = told(share, 10)
    found = histogram(x, "auto", 10.0, 0.5).moments("x")
    # the noise of 100,000 rows is far below a tenth
    assert abs(found["mean"].value - x.mean()) < 0.1
    low, high = found["sd"].conf_int()
    assert low < x.std() < high


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("bins", [20, (0, 10, 20, 30, 40, 50, 60, 80, 100), (0, 7, 20, 33, 50, 61, 74, 100)])
def test_declared_heaps_are_in_the_errors_wherever_edges_are(bins: Any, share: float) -> None:
    x = told(share, 10)
    made = histogram(x, bins, 10.0)
    moments, quantiles = made.moments("x"), made.quantiles("x", [0.25, 0.5, 0.75])
    for name, truth in (("mean", x.mean()), ("sd", x.std())):
        low, high = moments[name].conf_int()
        assert low <= truth <= high
    for p, (low, high) in zip((0.25, 0.5, 0.75), quantiles.conf_int().to_numpy(), strict=True):
        assert low <= np.quantile(x, p, method="inverted_cdf") <= high
    assert any("declared" in note for note in moments.notes)


def test_a_spike_that_counts_show_is_in_the_errors() -> None:
    """A fifth of the rows on an edge, which is at the beginning of its bin; nothing is declared."""
    x = np.where(np.random.default_rng(2).random(ROWS) < 0.2, 50.0, GRID)
    made = histogram(x, 25)
    moments = made.moments("x")
    for name, truth in (("mean", x.mean()), ("sd", x.std())):
        low, high = moments[name].conf_int()
        assert low <= truth <= high
    low, high = made.quantiles("x", 0.5).conf_int()
    assert low <= 50 <= high
    assert any("show heaps (2" in note for note in moments.notes)
    smooth = histogram(GRID, 25).moments("x")
    assert not any("heaps" in note for note in smooth.notes)


def test_every_fourth_bin_high_is_in_the_errors_of_means_and_fits() -> None:
    rng, x = np.random.default_rng(3), told(0.1, 10)
    moments = histogram(x, 40).moments("x")
    low, high = moments["mean"].conf_int()
    # heaps at beginnings: a tenth of the rows half a bin lower than they are taken
    assert low <= x.mean() <= high
    assert high - low > 0.1 * 2.5
    y = np.clip(30 + 0.4 * x + 5 * rng.standard_normal(ROWS), 0, 100)
    schema = tc.Schema({"x": tc.Real(0, 100), "y": tc.Real(0, 100)})
    curator = tc.Curator({"x": x, "y": y}, schema, budget=tc.Budget(rho=2 * RICH))
    fit = curator.release(tc.Histogram(["x", "y"], bins={"x": 40, "y": 20}), rho=RICH).fit("y ~ x")
    low, high = fit.conf_int().to_numpy()[0]
    assert low <= 30 <= high


def test_multiples_that_every_bin_has_may_be_in_each() -> None:
    """Bins of 1.25 with two multiples of 1 in every fourth and one in the others: the median is at one of these."""
    x = np.where(np.random.default_rng(6).random(ROWS) < 0.5, np.floor(GRID), GRID)
    made = histogram(x, 80)
    for p in (0.3, 0.4, 0.5, 0.6):
        low, high = made.quantiles("x", p).conf_int()
        assert low <= np.quantile(x, p, method="inverted_cdf") <= high
    axis = CellAxis("x", "continuous", np.linspace(0, 100, 81))
    # in a bin with one multiple .5 of .5 + .625 rows are at it
    assert 0.2 < heaped_rows(axis, np.histogram(x, axis.bounds)[0].astype(float), 8.0).anywhere < 0.5


def test_smooth_columns_are_not_found_heaped() -> None:
    """Log-concave and skewed laws, 600 columns: more than 25 alarms have a chance of 1e-6 at 1 in 100."""
    rng, seen = np.random.default_rng(4), 0
    laws = (
        NORMAL,
        stats.expon(scale=20),
        stats.lognorm(0.6, scale=20),
        stats.gamma(1.5, scale=15),
        stats.uniform(0, 100),
    )
    for K in (10, 30, 80):
        axis = CellAxis("x", "continuous", np.linspace(0, 100, K + 1))
        for law in laws:
            p = np.diff(law.cdf(axis.bounds))
            counts = rng.multinomial(20_000, p / p.sum(), size=40) + rng.laplace(0, 2, (40, K))
            seen += sum(heaped_rows(axis, one, 8.0).rows.any() for one in counts)
    assert seen <= 25


def test_a_single_peak_is_not_told_in_multiples() -> None:
    axis = CellAxis("x", "continuous", np.linspace(0, 100, 11))
    counts = 200_000 * np.diff(stats.laplace(50, 10).cdf(axis.bounds))
    assert not heaped_rows(axis, counts, 8.0).rows.any()
    # bins that differ much in width say nothing of each other
    uneven = CellAxis("x", "continuous", np.array([0.0, 45, 47, 49, 51, 53, 55, 100]))
    assert not heaped_rows(uneven, 1e5 * np.diff(stats.norm(50, 4).cdf(uneven.bounds)), 8.0).rows.any()


def test_errors_are_as_large_as_the_largest_movement() -> None:
    """Of rows at a point anywhere in one bin: what a statistic moves by at either edge, and for all bins together."""
    rng = np.random.default_rng(5)
    axis = CellAxis("x", "continuous", np.linspace(0, 10, 6))
    zero, hidden = np.zeros(5), np.array([0, 0.3, 0, 0.2, 0])
    taken = AtPoints(hidden, zero, axis.within**2, zero)
    slope, curve = rng.normal(size=(2, 5, 3))

    def moved(points: AtPoints) -> np.ndarray:
        first, variance = points.mixed(zero, axis.within**2)
        return first @ slope + (variance + first**2) @ curve

    here = moved(taken)
    found = np.diag(unknown_points(axis, taken, moved, here))
    for side in (-1.0, 1.0):
        all_one_way = AtPoints(hidden, np.where(hidden > 0, side, 0.0), np.where(hidden > 0, 0.0, axis.within**2), zero)
        assert ((moved(all_one_way) - here) ** 2 <= found + 1e-12).all()


def test_functions_within_bins_rise_and_hold_points() -> None:
    u = np.linspace(0, 1, 201)
    for bounds in (np.linspace(0, 100, 11), np.array([0.0, 5, 15, 25, 40, 55, 75, 100])):
        made = within_bins(bounds, np.full(len(bounds) - 1, 500.0), 8.0, 10.0)
        for at in range(len(bounds) - 1):
            low, high = made.ends(np.full(201, at), u)
            assert (np.diff(low) > -1e-12).all()
            assert (np.diff(high) > -1e-12).all()
            assert (low <= high).all()
            assert (low[0], high[-1]) == pytest.approx((0, 1))
            assert (np.diff(made.fractions(at, 8)) > 1e-9).all()


def test_samples_stay_in_their_bins() -> None:
    made = histogram(GRID, (0, 10, 20, 35, 50, 100), 10.0)
    drawn = made.sample(5_000, rng=1)["x"].to_numpy()
    whole = drawn == np.round(drawn / 10) * 10
    assert 0 < whole.mean() < 1
    assert drawn.min() >= 0
    assert drawn.max() <= 100
