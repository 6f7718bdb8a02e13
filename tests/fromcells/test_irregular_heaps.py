"""Heaps at irregular places that nobody declared, as holes, gaps and bins that stand alone show them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.heaps.hidden_heaps import heaped_rows
from tacit.fits.within_bins.bin_errors import bin_errors
from tacit.fits.within_bins.bin_rules import MarginRule
from tacit.fits.within_bins.cell_points import Points

RICH = 400
"""A price at which noise is next to nothing: what follows is of the rows."""
AFFAIRS: dict[str, tuple[float, dict[float, int]]] = {
    # upper bound, and how many rows have each value, of statsmodels' `fair`
    "age": (50, {17.5: 139, 22: 1800, 27: 1931, 32: 1069, 37: 634, 42: 793}),
    "children": (6, {0: 2414, 1: 1159, 2: 1481, 3: 781, 4: 328, 5.5: 203}),
    "yrs_married": (30, {0.5: 370, 2.5: 2034, 6: 1141, 9: 602, 13: 590, 16.5: 818, 23: 811}),
}
ROWS = 20_000
GRID = stats.norm(50, 12).ppf((np.arange(ROWS) + 0.5) / ROWS)
PLACES = np.array([20.0, 32, 35, 41, 55, 62, 78])


def histogram(values: Any, upper: float, width: float) -> Any:
    curator = tc.Curator({"x": values}, tc.Schema({"x": tc.Real(0, upper)}), budget=tc.Budget(rho=2 * RICH))
    return curator.release(tc.Histogram("x", bins={"x": round(upper / width)}), rho=RICH)


def told(share: float) -> np.ndarray:
    """Return normal values of which every so many is at the nearest place."""
    chosen = np.random.default_rng(1).random(ROWS) < share
    return np.where(chosen, PLACES[np.searchsorted((PLACES[1:] + PLACES[:-1]) / 2, GRID)], GRID)


@pytest.mark.parametrize(("name", "width"), [("age", 5), ("children", 0.5), ("yrs_married", 2.5)])
def test_real_columns_at_few_values_are_within_their_errors(name: str, width: float) -> None:
    """Values at beginnings of bins, two fifths of the way, anywhere: errors are as large as all that may be."""
    upper, rows = AFFAIRS[name]
    x = np.repeat(list(rows), list(rows.values()))
    found = histogram(x, upper, width).moments("x", target="table")
    for i, truth in enumerate((x.mean(), x.var(), x.std())):
        # all children are at the beginnings of bins: half a bin, and rounding
        assert abs(found.values[i] - truth) < 1.001 * found.std_errors[i]
    assert any("show heaps" in note for note in found.notes)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_what_bins_lack_is_at_points(share: float) -> None:
    """The part of the rows told at places is found from bins without a place: no more, and well over half of it."""
    x = told(share)
    axis = CellAxis("x", "continuous", np.linspace(0, 100, 21))
    counts = np.histogram(x, axis.bounds)[0].astype(float)
    found = heaped_rows(axis, counts, 8.0)
    assert 0.7 * share < found.parts(counts, axis.widths) @ counts / ROWS < share + 0.05
    # of half of the rows others are left in the bins between, as smooth as before: what stands out is at points
    assert found.share == (pytest.approx(1, abs=0.1) if share == 1 else 0)
    assert found.anywhere >= found.share


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_means_quantiles_and_slopes_allow_for_irregular_places(share: float) -> None:
    rng, x = np.random.default_rng(2), told(share)
    made = histogram(x, 100, 5)
    moments = made.moments("x", target="table")
    for i, truth in enumerate((x.mean(), x.var())):
        assert abs(moments.values[i] - truth) < moments.std_errors[i]
    # half a bin, all one way, of the rows at places
    assert moments.std_errors[0] > 0.7 * share * 2.5
    for p, (low, high) in zip((0.25, 0.5, 0.75), made.quantiles("x", [0.25, 0.5, 0.75]).intervals(), strict=True):
        assert low <= np.quantile(x, p, method="inverted_cdf") <= high
    y = np.clip(30 + 0.4 * x + 5 * rng.standard_normal(ROWS), 0, 100)
    schema = tc.Schema({"x": tc.Real(0, 100), "y": tc.Real(0, 100)})
    curator = tc.Curator({"x": x, "y": y}, schema, budget=tc.Budget(rho=2 * RICH))
    fit = curator.release(tc.Histogram(["x", "y"], bins={"x": 20, "y": 20}), rho=RICH).fit("y ~ x")
    table = np.polyfit(x, y, 1)[::-1]
    assert (np.abs(fit.values - table) < 2 * fit.std_errors).all()


def test_a_bin_that_stands_alone_is_anywhere_in_it() -> None:
    """A code far from a smooth column: rows of its bin may be at either end, and those of the column are as before."""
    x = np.concatenate([GRID / 2, np.full(ROWS // 10, 90.0)])
    made = histogram(x, 100, 2.5)
    moments = made.moments("x", target="table")
    assert abs(moments.values[0] - x.mean()) < moments.std_errors[0] < 0.2
    assert any("show heaps (9" in note for note in moments.notes)


def test_smooth_columns_have_no_irregular_heaps() -> None:
    """Two modes, laws cut off within the bounds, and a narrow one: none of exact counts, whatever the bins."""
    narrow, cut = stats.norm(43, 2.5), stats.truncexpon(2, loc=18, scale=15)
    both = [(stats.norm(25, 5), stats.norm(65, 9)), (stats.norm(39, 5.5), stats.norm(69, 5.9))]
    for K in (10, 20, 40):
        axis = CellAxis("x", "continuous", np.linspace(0, 100, K + 1))
        cdfs = [law.cdf(axis.bounds) for law in (narrow, cut, stats.uniform(22, 40), stats.beta(2, 3, scale=63))]
        cdfs += [0.4 * one.cdf(axis.bounds) + 0.6 * two.cdf(axis.bounds) for one, two in both]
        for cdf in cdfs:
            assert heaped_rows(axis, np.rint(10_000 * np.diff(cdf)), 8.0).share == 0


def test_smooth_tables_are_seldom_found_to_have_them() -> None:
    """Of 600 tables of five laws; more than 12 have a chance of 1e-6 at 1 in 300, and fewer than that are found."""
    rng, seen = np.random.default_rng(3), 0
    for K in (10, 20, 40):
        axis = CellAxis("x", "continuous", np.linspace(0, 100, K + 1))
        laws = (stats.norm(50, 12), stats.gamma(2, scale=12), stats.lognorm(0.6, scale=20), stats.beta(2, 3, scale=80))
        for law in (*laws, stats.expon(scale=20)):
            p = np.diff(law.cdf(axis.bounds))
            counts = rng.multinomial(5_000, p / p.sum(), size=40) + rng.laplace(0, 4, (40, K))
            seen += sum(heaped_rows(axis, one, 32.0).share > 0 for one in counts)
    assert seen <= 12


FAIR = np.array([-1.0, 1, -1, 65, 837, 911, 506, 290, 384, 5])
"""Ages of 3,000 of Fair's rows in bins of five years, with noise of variance 32: six values, each 2 above an edge."""


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        (FAIR, True),
        # the column goes on beyond its second mode
        (np.append(FAIR[:9], 200.0), False),
        # it ends as abruptly, without a hole
        (np.append(np.append(FAIR[:6], [600.0, 470.0, 384.0]), 5.0), False),
    ],
)
def test_a_hole_and_an_end_that_noise_blurs_are_heaps(counts: np.ndarray, found: bool) -> None:
    """In the last bin noise may hide more than a fifteenth of the one before; beside a hole that is an end."""
    axis = CellAxis("x", "continuous", np.linspace(0, 50, 11))
    assert (heaped_rows(axis, counts, 32.0).share > 0) == found


def test_a_bin_that_is_not_held_against_its_neighbours_may_be_at_a_point() -> None:
    axis = CellAxis("x", "continuous", np.linspace(0, 200, 9))
    few = np.array([-14.0, 369, 817, 1_201, 338, -8, 3, 3])
    assert heaped_rows(axis, few, 88.0).unseen.tolist() == [0, 1, 0, 0, 1, 0, 0, 0]
    # end bins have rules of their own; noise that is small leaves next to no rows of a smooth column unseen
    fine = CellAxis("x", "continuous", np.linspace(0, 100, 21))
    counts = 20_000 * np.diff(stats.norm(50, 12).cdf(fine.bounds))
    assert heaped_rows(fine, counts, 8.0).unseen @ counts / counts.sum() < 0.01
    assert not heaped_rows(fine, np.full(20, 500.0), 8.0).unseen.any()


def test_rows_of_an_end_bin_beside_an_empty_one_may_be_anywhere_in_it() -> None:
    """Multiples of 25 in uneven bins: the last, ten times as wide as the one before, has those of 100, 125, 150."""
    axis = CellAxis("x", "continuous", np.array([0.0, 30, 40, 50, 60, 80, 100, 300]))
    counts = np.array([487.0, 0, -3, 849, 582, -7, 479])
    assert heaped_rows(axis, counts, 25.0).unseen.tolist() == [1, 0, 0, 1, 1, 0, 1]
    # all rows in one bin have a rule of their own
    assert not heaped_rows(axis, np.where(np.arange(7) == 6, counts, 0.0), 25.0).unseen.any()
    # an end bin beside one with rows has its rule (`bin_ends`)
    counts[[1, 5]] = 300.0
    assert heaped_rows(axis, counts, 25.0).unseen[[0, -1]].tolist() == [0, 0]


def test_heaps_do_not_move_the_rows_of_a_long_end_bin_to_its_middle() -> None:
    """Multiples of 13 in bins of 10 to 60, and one to 3,000, of a lognormal law: holes say all rows are at points."""
    bounds = np.array([0.0, 20, 30, 40, 50, 60, 70, 80, 100, 120, 150, 210, 3_000])
    x = 2 + 13 * np.round((stats.lognorm(0.82, scale=60).ppf((np.arange(ROWS) + 0.5) / ROWS) - 2) / 13)
    counts = np.histogram(x, bounds)[0].astype(float)
    axis = CellAxis("x", "continuous", bounds)
    found = heaped_rows(axis, counts, 25.0)
    assert found.share > 0.9
    # a hole of 10 between bins of 10 and 20
    assert np.isclose(found.apart, 40)
    assert found.long(axis.widths).nonzero()[0].tolist() == [11]
    assert found.parts(counts, axis.widths)[-1] == 0
    assert np.isclose(found.off(axis.widths)[-1], found.share * 20)
    last = MarginRule(axis, counts, 25.0).rule
    inside = (axis.centers[:, None] + last.offsets)[-1] @ last.matrix.reshape(12, 3, 12)[-1, :, -1]
    # far nearer to the rows' mean than to the middle
    assert abs(inside - x[x >= 210].mean()) < 0.1 * (axis.centers[-1] - x[x >= 210].mean())


def test_other_bins_may_have_a_heap_where_one_has_two() -> None:
    """Multiples of 9 and a rest in bins of 10: one bin has two of them, and no count shows the others."""
    axis = CellAxis("x", "continuous", np.linspace(0, 200, 21))
    counts = np.array([21.0, 997, 2311, 2844, 2644, 1980, 1411, 1134, 315, 164, 97, 44, 19, 22, 0, 2, 1, 1, 0, 2])
    found = heaped_rows(axis, counts, 8.0)
    assert found.rows.nonzero()[0].tolist() == [7]
    assert found.share == 0
    assert found.unseen[1:8].min() > 0.3


def test_means_and_variances_of_few_bins_allow_for_points_in_them() -> None:
    """All rows at two places: no count shows them, and only means and variances are the wider for it."""
    x = np.repeat([23.9, 29.3], [1_700, 1_000])
    axis = CellAxis("x", "continuous", np.linspace(0, 50, 9))
    # counts without noise, as noise of a variance of 8 has them on average
    cells = CellCounts((axis,), np.histogram(x, axis.bounds)[0].astype(float), variance=8.0)
    points = Points(cells, shaped=True)
    place = points.position(axis)[0]
    mean = float(points.gather(place[:, None])[:, 0] @ cells.counts) / len(x)
    values = np.stack([place - mean, (place - mean) ** 2], axis=-1) / len(x)
    known, all_of_it = (bin_errors(points, values, unseen).unknown for unseen in (False, True))
    assert np.sqrt(known[0, 0]) < abs(mean - x.mean()) < 2 * np.sqrt(all_of_it[0, 0])
    assert (np.diag(all_of_it) > np.diag(known)).all()
