"""The bins at the ends of columns: densities that begin there, heaps at the end, and slopes of shares."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import expit

from tacit.fits.cells.bin_ends import breaks, end_density, no_break
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.cells.exponential_bins import langevin, steepness
from tacit.fits.fit import Fit
from tacit.fits.regression_fits import fit_cells
from tacit.fits.within_bins.bin_errors import SHARES, bin_errors, edge_doubts
from tacit.fits.within_bins.bin_shapes import edge_densities, shapes_of
from tacit.fits.within_bins.cell_points import Points

EQUAL = np.linspace(0, 100, 13)
FINE = np.linspace(0, 100, 20_001)
MIDDLE = (FINE[1:] + FINE[:-1]) / 2
BEGINNING = {
    "gamma": stats.gamma(1.5, scale=8),
    "lognormal": stats.lognorm(0.8, scale=15),
    "inverse Gaussian": stats.invgauss(1.2, scale=12),
    "chi-square": stats.chi2(3, scale=4),
}


def first_bin(axis: CellAxis, counts: np.ndarray) -> tuple[float, float]:
    """Return the mean of the first bin minus its middle, and what is not known of it at its end, in bins."""
    edges, doubt = edge_doubts(axis, counts, 8.0)
    kappa = (edges.used[1] - edges.used[0]) / edges.mean[0]
    shift = shapes_of(axis, edges.mean, edges.used).shift[0] / axis.widths[0]
    return float(shift), float(doubt[0] / edges.mean[0] * langevin(kappa)[1])


def mean_of_first(weight: np.ndarray, width: float) -> float:
    inside = width > MIDDLE
    return float(weight[inside] @ MIDDLE[inside] / weight[inside].sum() / width - 0.5)


@pytest.mark.parametrize("name", BEGINNING)
def test_the_mean_of_a_bin_in_which_a_density_begins(name: str) -> None:
    """Within two of what is not known, of which none is above a tenth of a bin."""
    weight = np.diff(BEGINNING[name].cdf(FINE))
    counts = 1e6 * np.diff(BEGINNING[name].cdf(EQUAL))
    shift, doubt = first_bin(CellAxis("x", "continuous", EQUAL), counts)
    truth = mean_of_first(weight, float(EQUAL[1]))
    assert abs(shift - truth) <= 2 * doubt <= 0.2


def test_a_law_that_begins_abruptly_and_a_heap_at_zero_are_within_what_is_not_known() -> None:
    """A Pareto law from 6 on, and a quarter of zeros beside an exponential law: means a third and a quarter off."""
    axis = CellAxis("x", "continuous", EQUAL)
    abrupt = np.diff(stats.pareto(1.2, scale=6).cdf(FINE))
    heap = 0.75 * np.diff(stats.expon(scale=15).cdf(FINE))
    heap[0] += 0.25
    for weight in (abrupt, heap):
        counts = 1e6 * np.histogram(MIDDLE, EQUAL, weights=weight)[0]
        shift, doubt = first_bin(axis, counts)
        truth = mean_of_first(weight, float(EQUAL[1]))
        assert abs(truth) > 0.2
        # 1.1 and .6 of what is not known; 1.3 and .8 without that of the break
        assert abs(shift - truth) <= 1.15 * doubt
        # and on the right side of a level density
        assert shift * truth > 0


@pytest.mark.parametrize("law", [stats.norm(), stats.gamma(3), stats.beta(4.6, 2.7), stats.t(5), stats.lognorm(0.5)])
@pytest.mark.parametrize("cut", [0.01, 0.03])
@pytest.mark.parametrize("bins", [8, 12, 20])
def test_rows_at_a_bound_that_cuts_a_tail(law: stats.rv_continuous, cut: float, bins: int) -> None:
    """A part of all rows is at the upper bound: within 1 of what is not known of the last bin's mean (it was up to 34).

    But for 1% of a Beta law in eight bins, which is 1.7: its density ends beyond the bound, and hides the rows there.
    """
    edges = np.linspace(*law.ppf([cut, 1 - cut]), bins + 1)
    mass = np.diff(law.cdf(edges))
    mass[[0, -1]] += cut
    axis = CellAxis("x", "continuous", edges)
    # turned round, as `first_bin` looks at the first
    shift, doubt = first_bin(CellAxis("x", "continuous", -edges[::-1]), 1e6 * mass[::-1])
    fine = np.linspace(*edges[-2:], 2_001)
    inside = np.diff(law.cdf(fine))
    truth = (inside @ (fine[1:] + fine[:-1]) / 2 + cut * edges[-1]) / (inside.sum() + cut)
    assert (
        abs(-shift - (truth - axis.centers[-1]) / axis.widths[-1]) <= (1.8 if law.dist.name == "beta" else 1.0) * doubt
    )


@pytest.mark.parametrize("law", [stats.norm(45, 18), stats.expon(scale=20), stats.uniform(0, 100)])
def test_densities_that_go_on_as_before_have_no_break(law: stats.rv_continuous) -> None:
    """A normal law bends as before, an exponential and an even one go on straight: less than .02 of a bin is moved."""
    density = np.diff(law.cdf(EQUAL)) / np.diff(EQUAL)
    found = breaks(np.log(density), np.array(float(law.pdf(EQUAL[1]))), EQUAL)
    assert abs(float(found.weight * found.moved)) < 0.02


@pytest.mark.parametrize("rise", [-3.0, 0.0, 1.5, 6.0])
@pytest.mark.parametrize("gap", [-2.0, -0.3, 0.4])
def test_the_extremes_are_integrals(rise: float, gap: float) -> None:
    """Three bins on an exponential of this slope, the first with more or fewer rows than it by the gap."""
    slopes = -rise * (np.arange(4) + 0.0)
    masses = np.log(-np.diff(np.exp(slopes)) / rise) if rise else np.zeros(3)
    found = breaks(masses + gap * np.array([1.0, 0, 0]), np.array(1.0), np.arange(4.0))
    assert float(found.gap) == pytest.approx(gap, abs=1e-6)

    def density(u: float) -> float:
        return float(np.exp(-rise * u))

    whole = quad(density, 0, 1)[0]
    if gap > 0:
        expected = np.exp(-gap) * quad(lambda u: u * density(u), 0, 1)[0] / whole - 0.5
    else:
        # begins where what is left is exp(gap) of the whole
        at = np.linspace(0, 1, 100_001)
        left = np.array([np.exp(gap) * whole])
        mass = (np.exp(-rise * at) - np.exp(-rise)) / rise if rise else 1 - at
        begin = float(np.interp(-left, -mass, at)[0])
        expected = quad(lambda u: u * density(u), begin, 1)[0] / quad(density, begin, 1)[0] - 0.5
    assert float(found.shift) == pytest.approx(expected, abs=1e-4)


def test_a_column_turned_round_has_its_ends_exchanged() -> None:
    counts = 1e5 * np.diff(stats.gamma(1.5, scale=8).cdf(EQUAL)) + 50
    axis = CellAxis("x", "continuous", EQUAL)
    one, other = edge_densities(axis, counts, 8.0), edge_densities(axis, counts[::-1].copy(), 8.0)
    assert one.used == pytest.approx(other.used[::-1])
    assert one.unknown == pytest.approx(other.unknown[::-1])


@pytest.mark.parametrize("inner", [0.4, 0.7, 0.95])
def test_of_a_density_that_rises_to_the_end_all_of_the_line_is_not_known(inner: float) -> None:
    """Whatever the bin beside says: the mean of a line is (1 - inner) / 6 of a bin outside of the middle."""
    slopes = np.array([float(steepness(np.array(inner))), 0.0])
    end, doubt = end_density(np.array(1.0), np.array(inner), slopes, 1.0, 1.0, no_break(()))
    near, variance, _ = langevin(inner - end)
    assert float(near) == pytest.approx(-(1 - inner) / 6, rel=1e-6)
    assert float(doubt * variance) == pytest.approx((1 - inner) / 6, rel=1e-6)


def test_the_curvature_of_shares_in_an_end_bin_moves_a_slope_by_half_of_what_is_not_known() -> None:
    """Even rows in 8 bins of width h, shares c x**2: across the first bin they grow by 2 c h**2 / 12 * h / 2 a row more
    or less, as the slope is taken at its inner edge or at its middle.  Half of that counts as not known.
    """
    h, rows, c = 3.0, 1e6, 1 / 24**2
    x = CellAxis("x", "continuous", h * np.arange(9.0))
    share = c * (x.centers**2 + h**2 / 12)
    axes = (x, CellAxis("y", "levels", labels=("no", "yes")))
    points = Points(CellCounts(axes, rows * np.stack([1 - share, share], axis=1), 1.0, 8 * rows), shaped=True)
    # the first moment of the first bin's "yes"
    offsets = np.where(np.arange(points.shape[0]) < 3, points.position(x)[1], 0.0)
    influence = (offsets[:, None] * np.array([0.0, 1.0])).reshape(-1, 1)
    found = bin_errors(points, influence).curved[0, 0]
    assert np.sqrt(found) == pytest.approx(SHARES * rows * 2 * c * h**2 / 12 * h / 2, rel=0.02)


def logistic(weight: np.ndarray, edges: np.ndarray, slope: float, start: float, rows: float) -> Fit:
    """Return the fit of "y ~ x" to the expected counts of rows of a law with this line of log odds."""
    p = expit(start + slope * MIDDLE)
    counts = rows * np.stack([np.histogram(MIDDLE, edges, weights=weight * q)[0] for q in (1 - p, p)], axis=1)
    axes = (CellAxis("x", "continuous", edges), CellAxis("y", "levels", labels=("no", "yes")))
    return fit_cells(CellCounts(axes, counts, 8.0, rows), "y ~ x", "logistic")


def test_logistic_slopes_where_most_rows_are_in_two_bins() -> None:
    """Of gamma rows of shape 1.5, four fifths in two of twelve bins: within one standard error, all of it what bins
    hide (it was two), and that no more than 8% of the slope.
    """
    weight = np.diff(stats.gamma(1.5, scale=8).cdf(FINE))
    fit = logistic(weight / weight.sum(), EQUAL, -0.06, 0.5, 1e7)
    assert abs(fit.values[1] + 0.06) <= fit.std_errors[1] <= 0.08 * 0.06


def test_logistic_slopes_where_half_of_the_rows_are_in_an_end_bin() -> None:
    """An even column in bins that double: within 1.5 standard errors of 100,000 rows (it was 7), all below 4%."""
    edges = np.append(0.0, 100 / 2.0 ** np.arange(5, -1, -1))
    fit = logistic(np.full(len(MIDDLE), 1 / len(MIDDLE)), edges, 0.05, -1.5, 1e5)
    assert abs(fit.values[1] - 0.05) <= 1.5 * fit.std_errors[1] <= 1.5 * 0.04 * 0.05


def test_lines_through_responses_in_bins_wider_than_their_residuals_say_so() -> None:
    """Residuals of a third of a bin: standard errors are 5% of the slope (3% without it); in fine bins they are .2%."""
    x, rows = CellAxis("x", "continuous", np.linspace(0, 100, 7)), 1e5
    sizes: list[float] = []
    for bins in (5, 40):
        y = CellAxis("y", "continuous", np.linspace(0, 100, bins + 1))
        places = np.linspace(0, 100, 601)[:-1] + 1 / 12
        cdf = stats.norm(20 + 0.5 * places[:, None], 6.0).cdf(y.bounds[None, :])
        cells = rows / 600 * np.diff(cdf, axis=1).reshape(6, 100, bins).sum(axis=1)
        sizes.append(float(fit_cells(CellCounts((x, y), cells, 8.0, rows), "y ~ x").std_errors[1]))
    assert sizes[0] > 0.045 * 0.5
    assert sizes[1] < 0.003 * 0.5
