"""Cells and points: every step keeps what it says it keeps, and the rule of integration is exact where it must be."""

from __future__ import annotations

import numpy as np
import pytest
from cell_draws import continuous, levels
from scipy.stats import lognorm

from tacit.errors import InferenceError
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.within_bins.cell_points import Points, slopes, spreading


def some(seed: int = 0, total: float | None = 500.0) -> CellCounts:
    rng = np.random.default_rng(seed)
    axes = (
        CellAxis("x", "continuous", np.array([0.0, 1.0, 2.0, 4.0, 8.0]), extra=("missing",)),
        levels("s", "a", "b", "c"),
    )
    return CellCounts(axes, rng.normal(30, 20, (5, 3)), 16.0, total)


def test_project_meets_the_total_and_changes_no_difference() -> None:
    cells = some()
    made = cells.project()
    assert made.counts.sum() == pytest.approx(500)
    assert np.ptp(made.counts - cells.counts) < 1e-12
    assert made.project() is made
    assert some(total=None).project().shared == 0


def noise_covariance(cells: CellCounts) -> np.ndarray:
    return cells.variance * np.eye(cells.counts.size) - cells.shared


def test_the_noise_of_projected_margins_has_the_covariance_they_carry() -> None:
    """The steps are linear: push the unit vectors through them and multiply out."""
    cells = some()
    size = cells.counts.size
    flat = CellCounts(cells.axes, np.zeros(cells.counts.shape), cells.variance, 0.0)
    for names in (("s",), ("x",), ("x", "s"), ("s", "x")):
        columns = [
            CellCounts(cells.axes, one.reshape(cells.counts.shape), cells.variance, 0.0)
            .project()
            .used(names)
            .counts.ravel()
            for one in np.eye(size)
        ]
        linear = np.stack(columns, axis=1)
        expected = cells.variance * linear @ linear.T
        np.testing.assert_allclose(noise_covariance(flat.project().used(names)), expected, atol=1e-10)


def test_margins_keep_the_order_asked_for_and_sum_the_extra_cells() -> None:
    cells = some()
    np.testing.assert_allclose(cells.margin(["s", "x"]).counts, cells.counts.T)
    np.testing.assert_allclose(cells.margin(["s"]).counts, cells.counts.sum(axis=0))
    used = cells.used(["x"])
    np.testing.assert_allclose(used.counts, cells.counts[:4].sum(axis=1))
    assert used.total is None
    with pytest.raises(InferenceError, match="I41"):
        cells.margin(["sx"])


def test_simplex_is_the_nearest_point() -> None:
    cells = some(seed=3)
    made = cells.simplex()
    assert made.counts.min() == 0
    assert made.counts.sum() == pytest.approx(500)
    # optimality: the gradient is one constant where counts stay, and not below it elsewhere
    shift = cells.counts - made.counts
    kept = made.counts > 0
    assert np.ptp(shift[kept]) < 1e-9
    assert (shift[~kept] <= shift[kept].min() + 1e-9).all()
    assert not made.signed
    nothing = CellCounts(cells.axes, np.full((5, 3), -4.0), 1.0, 30.0).simplex()
    np.testing.assert_allclose(nothing.counts, 2.0)
    below = CellCounts(cells.axes, np.linspace(-10, 5, 15).reshape(5, 3), 1.0, None).simplex()
    assert not below.counts.any()  # counts add up to less than nothing: the nearest that may be are zeros


def test_clip_and_threshold() -> None:
    cells = some(seed=4)
    assert (cells.clip().counts == np.maximum(cells.counts, 0)).all()
    cut = 0.5 * 2.0 * np.log(500)
    kept = cells.threshold(0.5, 2.0, 500).counts
    assert ((kept == 0) | (kept >= cut)).all()
    assert (kept[cells.counts >= cut] == cells.counts[cells.counts >= cut]).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda: CellAxis("x", "continuous", np.array([0.0, 1.0, 1.0])),
        lambda: CellAxis("x", "continuous", np.array([0.0, np.inf])),
        lambda: CellAxis("x", "continuous"),
        lambda: levels("s", "a", "a"),
        lambda: CellAxis("s", "levels", labels=("a", "b"), numbers=np.arange(3.0)),
        lambda: CellCounts((levels("s", "a", "b"),), np.zeros(3), 1.0),
        lambda: CellCounts((levels("s", "a", "b"),), np.array([1.0, np.nan]), 1.0),
        lambda: CellCounts((levels("s", "a", "b"), levels("s", "a", "b")), np.zeros((2, 2)), 1.0),
        lambda: CellCounts((levels("s", "a", "b"),), np.zeros(2), -1.0),
        lambda: CellCounts((), np.zeros(()), 1.0),
    ],
)
def test_what_are_no_cells(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InferenceError, match="I40"):
        make()


def test_spread_and_gather_are_transposes_and_keep_the_sum() -> None:
    cells = some().used(["x", "s"])
    rng = np.random.default_rng(1)
    for fine in (True, False):
        points = Points(cells, fine)
        values = rng.normal(size=(int(np.prod(points.shape)), 2))
        np.testing.assert_allclose(
            cells.counts.reshape(-1) @ points.gather(values), points.spread(cells.counts) @ values, rtol=1e-12
        )
        assert points.spread(cells.counts).sum() == pytest.approx(cells.counts.sum())
        flat = points.spread(np.abs(cells.counts), edges=False)
        assert flat.min() >= 0


def test_two_points_integrate_cubics_against_a_linear_density_exactly() -> None:
    axis = CellAxis("x", "continuous", np.array([0.0, 1.0, 2.5, 3.5, 5.0]))
    a, b = axis.bounds[:-1], axis.bounds[1:]

    def moment(k: int) -> np.ndarray:  # of the density 1 + 2 x over each bin
        return (b ** (k + 1) - a ** (k + 1)) / (k + 1) + 2 * (b ** (k + 2) - a ** (k + 2)) / (k + 2)

    where = Points(CellCounts((axis,), moment(0), 0.0)).position(axis)[0]
    weights = spreading(axis) @ moment(0)
    for k in range(3):  # a cubic times the density's slope, so powers up to 2 are exact
        np.testing.assert_allclose(weights @ where**k, moment(k).sum(), rtol=1e-12)


def test_slopes_are_exact_for_lines_and_central_inside_for_parabolas() -> None:
    edges = np.array([0.0, 1.0, 2.5, 3.5, 5.0, 6.0])
    x = (edges[1:] + edges[:-1]) / 2
    np.testing.assert_allclose(slopes(edges) @ (3 * x + 1), 3.0)
    np.testing.assert_allclose((slopes(edges) @ x**2)[1:-1], 2 * x[1:-1])
    assert (slopes(np.array([0.0, 1.0])) == 0).all()


def test_a_bin_learns_nothing_from_one_that_is_far_narrower() -> None:
    """Of widths 1, 10, 10, 30: the second is told by the third alone, the fourth by nobody, and is taken as flat."""
    found = slopes(np.array([0.0, 1.0, 11.0, 21.0, 51.0]))
    np.testing.assert_allclose(found @ np.array([1e9, 2.0, 5.0, 7.0]), [-1e9 / 5.5, 0.3, 7 / 30, 0], rtol=1e-6)
    assert (found[1:, 0] == 0).all()


def test_people_without_income_in_a_bin_of_their_own() -> None:
    """30% at 0, the others lognormal, exact counts: the mean is off by less than 2% of the standard deviation.

    With slopes of any neighbours it was off by 80 of them.
    """
    edges = np.array([0.0, 0.001, 10, 20, 30, 50, 75, 100, 150, 300])
    law = lognorm(0.9, scale=25)
    counts = 0.7 * np.diff(law.cdf(edges)) / law.cdf(300)
    counts[0] += 0.3
    points = Points(CellCounts((CellAxis("x", "continuous", edges),), counts, 0.0))
    found = float(points.spread(counts) @ points.position(points.cells.axes[0])[0])
    mean = 0.7 * law.expect(lambda t: t, lb=0, ub=300) / law.cdf(300)
    assert abs(found - mean) < 0.02 * law.std()


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_bins_of_whole_numbers_have_the_variance_of_whole_numbers(groups: int) -> None:
    """A density that is a line on 1 to 12, in bins of 1, 2 or 3 values: sums of 1, x and x**2 are exact."""
    values = np.arange(1.0, 13.0)
    n = 5 + 2 * values
    axis = CellAxis("x", "continuous", np.arange(0.5, 13, groups), step=1)
    counts = n.reshape(-1, groups).sum(axis=1)
    where = Points(CellCounts((axis,), counts, 0.0)).position(axis)[0]
    for k in range(3):
        np.testing.assert_allclose(spreading(axis) @ counts @ where**k, n @ values**k, rtol=1e-12)


def test_the_correction_is_of_fourth_order_with_mass_at_the_edge() -> None:
    """Halving the bins divides the error by 16 (by 4 for midpoints), for the density e**x and the score sin 3x."""

    def error(bins: int, fine: bool) -> float:
        axis = continuous("x", bins)
        counts = np.diff(np.exp(axis.bounds))
        points = Points(CellCounts((axis,), counts, 0.0), fine)
        found = points.spread(counts) @ np.sin(3 * points.position(axis)[0])
        exact = [np.exp(t) * (np.sin(3 * t) - 3 * np.cos(3 * t)) / 10 for t in (0.0, 1.0)]
        return abs(found - (exact[1] - exact[0]))

    assert 12 < error(20, True) / error(40, True) < 20
    assert 3.5 < error(20, False) / error(40, False) < 4.5
    assert error(20, True) < error(20, False) / 30
