"""What the points of a released data set tell of a column: values, shares at or below, moments; with both errors.

Where the column declares heaps, half of a cell's points are taken to be at its heaps (`fits.heaps.heaped_cells`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.densities.column_values import JointColumn, sampled_frame, values_at
from tacit.estimates.densities.recorded_notes import recorded_as, recorded_notes
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.synthetic.random_numbers import check_number, generator
from tacit.estimates.terms import Target, check_target, given_places
from tacit.estimates.wording import title, who
from tacit.fits.heaps.bin_heaps import HALF
from tacit.fits.heaps.heaped_cells import HeapedCells, unknown_heaps
from tacit.fits.within_bins.cell_shapes import CellShapes
from tacit.method.ks_dataset.data_set_cells import edges, variable_of
from tacit.method.ks_dataset.estimate_by_simulation import DataSetErrors, errors_of, leans_of
from tacit.method.ks_dataset.estimate_heaps import heaped_shares, unknown_places
from tacit.method.ks_dataset.query import KSDataset
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

NEARER: Final = "a histogram of the same price is nearer to the rows; the data set is for those who need one"
BEYOND: Final = (
    "more points than the rule for this price and number of rows, {:,}: where values are uneven errors may be too small"
)
HEAPED: Final = (
    "points of {} show heaps ({:.0f}% of its rows): where in their cells these are is not known, and is in the errors"
)
LEFT: Final = 1.5
"""How much of a lean may be left, beside what is taken off: of rough laws the data set is moved less than the rows."""
SIMULATED: Final = "errors by simulation of the mechanism at this data set (asymptotic)"


def edges_of(release: Released) -> Array:
    """Return the edges of the cells of a release, ends included."""
    query: Any = release.query
    return edges(variable_of(release), query.cells)


def column_of(release: Released) -> JointColumn:
    """Return the column's values and their places."""
    one, whole = variable_of(release), edges_of(release)
    return JointColumn(one.name, one.kind, float(whole[0]), float(whole[-1]), one.multiple_of or 0.0)


def points(release: Released) -> Array:
    """Return the points of a release, real or simulated."""
    whole = edges_of(release)
    one, middles = variable_of(release), (whole[1:] + whole[:-1]) / 2
    if one.kind != "real":
        middles = np.floor(middles)
    elif one.multiple_of is not None:
        # halfway between two values the lower one, as of whole numbers
        middles = values_at(column_of(release), middles - one.multiple_of / 4)
    return np.repeat(middles, release.parts[0].integers[0])


def sample(release: Released, n: int, rng: Any) -> pd.DataFrame:
    """Return rows drawn from the data set of a release, real or simulated."""
    check_number(n)
    drawn = generator(rng)
    counts, whole = np.array(release.parts[0].integers[0]), edges_of(release)
    cell = drawn.choice(len(counts), int(n), p=counts / counts.sum())
    x = whole[cell] + np.diff(whole)[cell] * drawn.random(int(n))
    column = column_of(release)
    return sampled_frame({column.name: values_at(column, x)}, release)


def cdf(release: Released, at: Any, target: Target = "population") -> NormalEstimate:
    """Return the distribution function at values of a release, real or simulated."""
    check_target(target)
    given, one = given_places(at, "cdf([0.2, 0.5])"), variable_of(release)
    # of whole numbers, days and multiples all of the value is at or below it
    ends = np.clip(column_of(release).after(given), *edges_of(release)[[0, -1]])
    whole, errors = edges_of(release), errors_of(release, target)
    cell = np.clip(np.searchsorted(whole, ends, side="right") - 1, 0, len(whole) - 2)
    rising = np.concatenate([[0.0], cumulative_of(release), [1.0]])
    part, each = (ends - whole[cell]) / np.diff(whole)[cell], np.diff(rising)[cell]
    over, hidden = shapes_of(release, errors).below(ends)
    # points of a cell are spread evenly; rows are as cells beside suggest
    part, unknown, heaped = over[np.arange(len(ends)), cell], np.zeros(len(ends)), HeapedCells.of(whole, one.heaped_at)
    if heaped is not None:
        part, unknown = heaped.below(cell, ends, part)
    unknown = np.hypot(each * unknown, hidden)
    sampling, privacy = (_along(draws, cell, part) for draws in _both(errors))
    words = f"share of {who(release)} with {recorded_as(one.name, one.multiple_of)} at or below a value"
    terms = tuple(f"{one.name}<={x:.6g}" for x in given)
    values, covariances = rising[cell] + part * each, (sampling + np.diag(unknown**2), privacy)
    return _normal(release, terms, words, values, covariances, errors, target)


def shapes_of(release: Released, errors: DataSetErrors) -> CellShapes:
    """Return the shapes within cells that the points suggest."""
    counts = np.array(release.parts[0].integers[0], dtype=np.float64) / sum(release.parts[0].integers[0]) * errors.size
    variance = float(_differences(errors.privacy).var(axis=0).mean()) * errors.size**2
    return CellShapes.of(edges_of(release), counts, variance, column_of(release).unit)


def moments(release: Released, target: Target = "population") -> NormalEstimate:
    """Return mean and variance of a release, real or simulated."""
    check_target(target)
    errors, whole, one = errors_of(release, target), edges_of(release), column_of(release)
    heaped = HeapedCells.of(whole, variable_of(release).heaped_at)
    # a point of a cell is even over its values: whole numbers, days and multiples are single ones
    middles, widths = (whole[1:] + whole[:-1]) / 2 - (0.5 if one.kind == "date" else 0.0), np.diff(whole)
    smooth = np.stack([middles, middles**2 + widths**2 / 12 - one.within])
    away = np.zeros_like(smooth) if heaped is None else np.where(heaped.own, heaped.moments() - smooth, 0.0)
    shares = np.array(release.parts[0].integers[0]) / sum(release.parts[0].integers[0])
    taken = smooth + HALF * away
    mean, square = (taken @ shares).tolist()
    # of the cumulative error e the shares' are differences; around the mean the variance is linear
    turned = np.array([[1.0, 0.0], [-2 * mean, 1.0]])
    weights, unknown = turned @ taken, unknown_heaps((turned @ (away * shares)).T)
    hidden = heaped_shares(shares, _differences(errors.total)) * (1 if heaped is None else ~heaped.own)
    unknown = unknown + unknown_places(hidden, (widths - one.unit) / 2, middles - mean)
    words = f"mean and variance of {recorded_as(one.name, one.multiple_of)} of {who(release)}, within its bounds"
    terms = (f"mean of {one.name}", f"variance of {one.name}")
    sampling, privacy = (np.cov(_differences(e) @ weights.T, rowvar=False, bias=True) for e in _both(errors))
    # data sets lean towards even ones: the mean error of the simulation, counted twice, is taken off once
    leant = (_differences(errors.privacy) @ weights.T).mean(axis=0) / 2
    further = np.zeros(2) if errors.reason is not None else _further(release, weights)
    sampling, privacy = (np.outer(1 + further, 1 + further) * one for one in (sampling, privacy))
    privacy = privacy + LEFT**2 * np.outer(leant, leant)
    values = np.array([mean, square - mean**2]) - leant
    values[1] = max(values[1], 0.0)
    notes = (HEAPED.format(one.name, 100 * hidden.sum()),) if hidden.any() and (widths > 1.5 * one.unit).any() else ()
    return _normal(release, terms, words, values, (sampling + unknown, privacy), errors, target, notes)


def _further(release: Released, weights: Array) -> Array:
    """Return by what part mean and variance less their lean err by more than those of the data set, shape (2,).

    weights: of the shares of cells, shape (2, m).
    """
    first, second = (_differences(one) @ weights.T for one in leans_of(release))
    # the variance is linear around the mean of each data set
    second[:, 1] -= 2 * first[:, 0] * second[:, 0]
    spread = first.std(axis=0)
    found: Array = np.where(spread > 0, (first - second).std(axis=0) / np.where(spread > 0, spread, 1.0), 1.0)
    return np.maximum(found - 1, 0.0)


def cumulative_of(release: Released) -> Array:
    """Return the distribution function at the inner edges, shape (m - 1,)."""
    counts = release.parts[0].integers[0]
    return np.cumsum(counts)[:-1] / sum(counts)


def notes_of(errors: DataSetErrors) -> tuple[str, ...]:
    """Return what estimates say beside their numbers: of a size beyond the rule, that errors may be too small."""
    return (NEARER,) if errors.most is None else (BEYOND.format(errors.most), NEARER)


def _both(errors: DataSetErrors) -> tuple[Array, Array]:
    return errors.sampling, errors.privacy


def _differences(cumulative: Array) -> Array:
    """Return errors of the shares of all cells from cumulative ones, shape (draws, m)."""
    edge = np.zeros((len(cumulative), 1))
    return np.diff(np.concatenate([edge, cumulative, edge], axis=1), axis=1)


def _along(draws: Array, cell: NDArray[np.int64], part: Array) -> Array:
    """Return second moments of errors of the distribution function in parts of cells, straight in between, (n, n)."""
    padded = np.concatenate([np.zeros((len(draws), 1)), draws, np.zeros((len(draws), 1))], axis=1)
    here = padded[:, cell] * (1 - part) + padded[:, cell + 1] * part
    # the second moment: the mechanism's bias towards even data sets is an error too
    return here.T @ here / len(draws)


def _normal(
    release: Released, terms: tuple[str, ...], words: str, values: Array, covariances: tuple[Array, Array],
    errors: DataSetErrors, target: Target, more: tuple[str, ...] = (),
) -> NormalEstimate:  # fmt: skip
    one, reasons = variable_of(release), (errors.reason,) * len(terms)
    notes = (SIMULATED, *more, *notes_of(errors), *recorded_notes(one.name, one, allowed=True))
    return NormalEstimate(
        release, title(release), _said(release, words, target), terms, values, *covariances, reasons, notes=notes,
        tested=False, target=target,
    )  # fmt: skip


def _said(release: Released, words: str, target: Target) -> str:
    """Return the estimand in words."""
    query: KSDataset | Any = release.query
    words += f", where {query.where}" if query.where else ""
    return words + (f", of the {who(release)} of this table" if target == "table" else "")
