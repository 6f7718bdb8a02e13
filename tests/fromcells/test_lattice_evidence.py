"""Columns told in multiples of a number, as counts in bins of unequal widths show them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.heaps.lattice_evidence import lattices_of, nearest_edges
from tacit.fits.heaps.lattice_notes import told_notes
from tacit.fits.regression_fits import fit_cells
from tacit.fits.within_bins import bin_errors
from tacit.schema.autobins import uneven_edges

LAW = stats.norm(50, 14)
EDGES = np.array([0.0, *uneven_edges(0, 100, 20), 100.0])
ROWS = 20_000


def told(edges: np.ndarray, spacing: float, first: float) -> np.ndarray:
    """Return expected counts of a normal law told to the nearest of places."""
    return ROWS * np.diff(LAW.cdf(nearest_edges(edges, np.array(spacing), np.array(first))))


def test_counts_of_rows_at_places_are_those_of_bins_with_edges_halfway_between() -> None:
    x = LAW.rvs(size=1_000, random_state=3)
    at = 1.0 + 5 * np.round((x - 1) / 5)
    moved = nearest_edges(EDGES, np.array(5.0), np.array(1.0))
    assert np.histogram(at, EDGES)[0].tolist() == np.histogram(x, moved)[0].tolist()


@pytest.mark.parametrize(("spacing", "first"), [(5.0, 2.0), (4.3, 1.7)])
def test_a_lattice_is_found_and_its_mean_is_within_what_is_not_known(spacing: float, first: float) -> None:
    counts = told(EDGES, spacing, first)
    found = lattices_of(CellAxis("x", "continuous", EDGES), counts, 8.0)
    assert found is not None
    assert found.odds.max() == 1
    # what even bins make of it, beside the law's mean
    off = counts @ ((EDGES[1:] + EDGES[:-1]) / 2) / ROWS - 50
    assert abs(off) < 1.96 * np.abs(found.moved(EDGES) @ counts / ROWS).max()


def test_bins_without_a_place_are_joined_and_their_lattice_is_found() -> None:
    law = stats.gamma(2, scale=18)
    places = np.array([*np.arange(0, 401, 25.0)])
    shares = np.diff(law.cdf([-1.0, *(places[1:] + places[:-1]) / 2, np.inf]))
    edges = np.array([0.0, *uneven_edges(0, 400, 20), 400.0])
    counts = np.histogram(places, edges, weights=23_000 * shares)[0]
    # between 79.9 and 98.7 there is no multiple of 25
    assert counts[4] == 0
    assert counts[5] > 0
    found = lattices_of(CellAxis("x", "continuous", edges), counts, 8.0)
    assert found is not None
    assert found.clear == 25
    assert found.odds.max() == 1
    # what densities that are even within bins make of the mean, beside that of the places
    off = counts @ ((edges[1:] + edges[:-1]) / 2) / 23_000 - places @ shares
    assert abs(off) < 1.96 * np.abs(found.moved(edges) @ counts / 23_000).max()


def test_a_lattice_is_found_in_bins_of_one_width_that_is_no_multiple_of_it() -> None:
    even = CellAxis("x", "continuous", np.linspace(0, 100, 24))
    counts = told(even.bounds, 5.0, 0.0)
    found = lattices_of(even, counts, 8.0)
    assert found is not None
    assert found.odds.max() == 1
    (note,) = told_notes(even, [counts], 8.0)
    assert "is in the errors" in note


def test_means_in_bins_of_a_width_that_is_not_round_have_a_note() -> None:
    even = CellAxis("x", "continuous", np.linspace(0, 100, 14))
    smooth = 500 * np.diff(LAW.cdf(even.bounds))
    (note,) = told_notes(even, [smooth], 8.0, error=lambda: 0.2)
    assert "no error includes" in note
    # beside a large error it is little, and of other numbers nothing is said
    assert told_notes(even, [smooth], 8.0, error=lambda: 5.0) == ()
    assert told_notes(even, [smooth], 8.0) == ()


def test_multiples_that_move_a_mean_by_its_error_and_do_not_show_have_a_note() -> None:
    """Fives in bins of 15.4: a third of a bin, which third differences of 5,300 rows hardly show."""
    even = CellAxis("x", "continuous", np.linspace(0, 400, 27))
    smooth = 5_300 * np.diff(stats.gamma(2, scale=29).cdf(even.bounds))
    (note,) = told_notes(even, [smooth], 2.5, error=lambda: 0.4, mean=True)
    assert "no error includes" in note
    # beside a larger error they are little; places in a bin matter sooner than means
    assert told_notes(even, [smooth], 2.5, error=lambda: 1.5, mean=True) == ()
    assert told_notes(even, [smooth], 2.5, error=lambda: 1.5) != ()


def test_uneven_bins_of_which_few_are_filled_have_a_note_on_multiples() -> None:
    axis = CellAxis("x", "continuous", np.array([0.0, 30, 40, 50, 60, 80, 100, 300]))
    counts = np.array([487.0, 0, -3, 849, 582, -7, 479])
    (note,) = told_notes(axis, [counts], 25.0, error=lambda: 8.0, mean=True)
    assert "too few to show" in note
    assert told_notes(axis, [counts], 25.0, error=lambda: 200.0, mean=True) == ()


def test_nothing_is_found_in_a_smooth_column_nor_in_bins_of_one_width() -> None:
    smooth = ROWS * np.diff(LAW.cdf(EDGES))
    assert lattices_of(CellAxis("x", "continuous", EDGES), smooth, 8.0) is None
    even = np.linspace(0, 100, 21)
    assert lattices_of(CellAxis("x", "continuous", even), told(even, 5.0, 0.0), 8.0) is None


def test_shares_below_a_place_may_be_a_step_off() -> None:
    found = lattices_of(CellAxis("x", "continuous", EDGES), told(EDGES, 5.0, 2.0), 8.0)
    assert found is not None
    low, high = EDGES[[9]], EDGES[[10]]
    # one place in a bin: all of its rows are below, or none
    assert found.stepped(low, high, np.array([0.5]), np.array([0.5]))[0] > 0.25
    assert found.stepped(low, high, np.array([0.0]), np.array([0.0]))[0] == 0


@pytest.mark.parametrize("upper", [1.0, 7.3, 100.0, 12_345.678])
@pytest.mark.parametrize("bins", [4, 20, 41, 200])
def test_edges_are_short_and_keep_two_widths(bins: int, upper: float) -> None:
    edges = np.array([0.0, *uneven_edges(0, upper, bins), upper])
    widths = np.diff(edges) / (upper / bins)
    assert (np.minimum(abs(widths[1:-1] - 0.94), abs(widths[1:-1] - 1.09)) < 0.025).all()
    assert (abs(widths[[0, -1]] - 1) < 0.1).all()
    assert max(len(repr(edge).replace(".", "").strip("0")) for edge in edges[1:-1].tolist()) <= 6


def test_notes_say_what_counts_leave_open_and_where_they_are_too_few() -> None:
    axis = CellAxis("x", "continuous", EDGES)
    (found,) = told_notes(axis, [told(EDGES, 2.5, 0.0)], 8.0)
    assert "of round numbers 2.5 fits best" in found
    assert "is in the errors" in found
    assert told_notes(axis, [ROWS * np.diff(LAW.cdf(EDGES))], 8.0) == ()
    (few,) = told_notes(axis, [200 * np.diff(LAW.cdf(EDGES))], 8.0)
    assert "too few to show" in few
    # nothing that matters beside a large error
    assert told_notes(axis, [200 * np.diff(LAW.cdf(EDGES))], 8.0, error=lambda: 3.0) == ()


def pairs() -> tuple[np.ndarray, np.ndarray]:
    """Return a regressor told to middles of classes of 2.5, and the line 20 + x / 2 with residuals."""
    rng = np.random.default_rng(5)
    x = 1.25 + 2.5 * np.round((LAW.rvs(size=ROWS, random_state=rng) - 1.25) / 2.5)
    return x, 20 + x / 2 + rng.normal(0, 6, ROWS)


def test_fits_have_lattices_in_their_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    axes = tuple(CellAxis(name, "continuous", EDGES) for name in "xy")
    # rows of one seed, and no noise: nothing here is left to chance
    cells = CellCounts(axes, np.histogram2d(*pairs(), [EDGES, EDGES])[0], variance=8.0)
    found = fit_cells(cells, "y ~ x")
    monkeypatch.setattr(bin_errors, "lattices_of", lambda *_: None)
    without = fit_cells(cells, "y ~ x")
    assert (np.abs(found.values - np.array([20.0, 0.5])) < 1.96 * found.std_errors).all()
    # a constant moves as the places do
    assert found.std_errors[0] > 1.5 * without.std_errors[0]
    assert found.std_errors[1] > without.std_errors[1]


def test_released_pairs_say_that_lattices_are_in_the_errors_of_fits_and_correlations() -> None:
    x, y = pairs()
    schema = tc.Schema({"x": tc.Real(0, 100), "y": tc.Real(0, 100)})
    curator = tc.Curator({"x": x, "y": y}, schema, budget=tc.Budget(rho=20))
    cells = curator.release(tc.Histogram(["x", "y"], bins="auto"), rho=10)
    assert all(np.ptp(np.diff(axis.edges)) > 0.1 for axis in cells.axes)
    for notes in (cells.fit("y ~ x").notes, cells.correlation(["x", "y"]).notes):
        assert any("counts of x leave it open" in one and "is in the errors" in one for one in notes)
    (line,) = [one for one in cells.fit("y ~ x", method="midpoint").notes if "counts of x leave it open" in one]
    assert "is in no error" in line
