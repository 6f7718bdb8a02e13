"""Means and variances from the cells of a histogram, corrected for binning.

The sums S1 of x and S2 of x**2 over the rows are taken over three points in each bin, whose weights have the mean and
the variance that the column's own counts suggest within the bin (`bin_rules`).  With N the noisy number of rows,
mean = S1 / N and variance = S2 / N - mean**2.  Errors by the delta method, from the influence of each cell: the change
of the statistic for one more row in the cell, through its own weight and through the rule within bins, which is made
from the counts (`fits.within_bins.bin_errors`).  What is not known of the density within bins is an error of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.densities.rounded_values import rounding_notes
from tacit.estimates.terms import Target, check_target
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.fit import grown_note
from tacit.fits.heaps.heap_notes import heap_notes
from tacit.fits.heaps.lattice_notes import told_notes
from tacit.fits.solvers.sandwich import floored
from tacit.fits.within_bins.bin_errors import bin_errors
from tacit.fits.within_bins.cell_points import Points
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Noise, Thresholds, beside
from tacit.method.histogram.estimate_from_cells.cell_groups import (
    By,
    GroupCounts,
    group_counts,
    of_dates,
    places,
    size_thresholds,
    unclear,
    words,
)
from tacit.method.histogram.estimate_from_cells.derived_numbers import Derived, Scale, TransformedDelta
from tacit.release.document import Released

MEAN: Final = "mean"
HALF: Final = 0.5
"""A variance itself is given only if its noise is at most this part of it."""
LOOSE: Final = 0.25
"""A statistic that is divided by a variance is given only if the variance's noise is at most this part of it."""


@dataclass(frozen=True)
class GroupNumbers:
    """Statistics of one group.

    values: shape (p,).  influence: of each of the group's cells, shape (p, cells).  unknown: covariance of what is not
    known of the density within bins, shape (p, p).  reasons: why a statistic is not given, or None.  chosen: what had
    to be clear for an answer, besides the number of rows; (conditions, p) each.
    """

    values: Array
    influence: Array
    unknown: Array
    reasons: tuple[str | None, ...]
    chosen: Thresholds


def moments(release: Released, column: str, by: By = None, target: Target = "population") -> Derived:
    """Return mean, variance and standard deviation by group; see `Statistics.moments`."""
    check_target(target)
    made = group_counts(release, (column,), by)
    axis = made.axes[0]
    places(axis)
    parts = [_moments(axis, counts, made.noise) for counts in made.regular]
    low, high = _ends(axis)
    spread = ((high - low) / 2) ** 2  # Popoviciu: the largest variance between bounds
    lows, highs = np.array([low, 0.0, 0.0]), np.array([high, spread, np.sqrt(spread)])
    return derived(
        made,
        parts,
        target,
        f"Moments of {column}" + (f" by {' and '.join(made.by)}" if made.by else ""),
        words(made, f"mean, variance (divisor n) and standard deviation of {column}", target, inside=True),
        (MEAN, "variance", "sd"),
        ("plain", "log", "root"),
        (lows, highs),
        told=True,
    )


def derived(
    made: GroupCounts,
    parts: Sequence[GroupNumbers],
    target: Target,
    title: str,
    estimand: str,
    own: tuple[str, ...],
    scales: tuple[Scale, ...],
    bounds: tuple[Array, Array],
    told: bool,
) -> Derived:
    """Join the statistics of all groups, with covariances.

    own: names of a group's p statistics.  scales: scale of each interval.  bounds: lower and upper, shape (p,).  told:
    whether lattices that counts leave plausible are in what is not known (`bin_errors`).
    """
    # groups have different cells: sampling errors are uncorrelated, and noises but for the projection
    p, cells = parts[0].influence.shape
    groups = len(parts)
    sampling = np.zeros((p * groups, p * groups))
    weights = np.zeros((p * groups, cells * groups))
    for g, part in enumerate(parts):
        rows = slice(g * p, (g + 1) * p)
        weights[rows, g * cells : (g + 1) * cells] = part.influence
        if target == "population":
            # those that are not given have influences of any size, and no part in the covariance
            given = np.array([reason is None for reason in part.reasons])[:, None] * part.influence
            sampling[rows, rows] = sampling_of(made.regular[g].reshape(-1), given, made.noise)
        # where values lie within their bins is not known of the rows of this table either
        sampling[rows, rows] += part.unknown
    values = np.concatenate([part.values for part in parts])
    reasons = tuple(reason for part in parts for reason in part.reasons)
    bad = tuple(reason is not None for reason in reasons)
    low, high = (np.tile(end, groups) for end in bounds)
    weights[np.array(bad)] = 0.0  # statistics that are not given get a standard error of half their range
    sampling[np.array(bad)], sampling[:, np.array(bad)] = 0.0, 0.0
    sampling += np.diag(np.where(bad, (high - low) / 2, 0.0) ** 2)
    error = made.noise.error(np.concatenate([part.influence for part in parts]), np.diag(sampling))
    rows = np.repeat([float(counts.sum()) for counts in made.regular], p)
    thresholds = size_thresholds(rows, cells, made.noise).also(beside([part.chosen for part in parts]))
    privacy = made.noise.covariance(weights)

    def shortest() -> float | None:
        return _error_of_mean(own, sampling + privacy)

    note = "corrected for binning; values within a bin are taken as the column's own counts suggest"
    return Derived(
        made.release,
        target,
        title,
        estimand,
        made.terms(own),
        np.clip(values, low, high),
        TransformedDelta(values, error, scales * groups, low, high, bad, thresholds),
        sampling,
        privacy,
        reasons,
        (
            note,
            *_noted(made, own, parts, sampling + privacy),
            *rounding_notes(made.release, (axis.name for axis in made.axes), shortest),
            *_told(made, told, shortest, own[0] == MEAN),
            *heap_notes(made.release, [axis.name for axis in made.axes]),
        ),
        term_title=":".join(made.by),
        dates=_means_of_dates(made, own),
    )


def _means_of_dates(made: GroupCounts, own: Sequence[str]) -> tuple[str, ...]:
    """Return the terms that are means of a column of dates."""
    if len(made.axes) != 1 or not of_dates(made, made.axes[0].name):
        return ()
    return tuple(one for one in made.terms(own) if one.split(":")[-1] == "mean")


def _told(made: GroupCounts, included: bool, error: Callable[[], float | None], mean: bool) -> tuple[str, ...]:
    """Return the notes on what counts of each column tell of lattices, as `told_notes` has them."""
    found = tuple[str, ...]()
    for at, axis in enumerate(made.axes):
        others = tuple(i for i in range(len(made.axes)) if i != at)
        counts = [one.sum(axis=others) for one in made.regular]
        variance = made.noise.known * math.prod(made.axes[i].bins for i in others)
        found += told_notes(axis, counts, variance, included, error, mean)
    return found


def _error_of_mean(own: tuple[str, ...], total: Array) -> float | None:
    """Return the smallest standard error of a mean; None where other statistics are asked for; total: covariance."""
    return float(np.sqrt(np.diag(total)[:: len(own)].min())) if own[0] == MEAN else None


def _noted(made: GroupCounts, own: tuple[str, ...], parts: Sequence[GroupNumbers], total: Array) -> list[str]:
    """Return a note where standard errors are larger by a tenth or more for what bins hide; total: covariance."""
    hidden = np.concatenate([np.diag(part.unknown) for part in parts])
    given = np.array([reason is None for part in parts for reason in part.reasons])
    return grown_note(made.terms(own), np.where(given, np.diag(total) - hidden, np.inf), np.where(given, hidden, 0.0))


def sampling_of(counts: Array, influence: Array, noise: Noise) -> Array:
    """Return the sampling covariance of sums over rows, shape (p, p), from signed counts.

    Each variance is raised to at least one standard deviation of the noise that it carries itself.
    """
    # sum n_r IF_r IF_r', the variance of sums over Poisson counts; signed counts can make it indefinite
    found = floored((influence * counts) @ influence.T) if len(influence) else np.zeros((0, 0))
    own = np.diag(found)
    least = np.sqrt(np.maximum(noise.variance(influence**2), 0.0))
    # correlations are kept where variances are raised; a variance of 0 is set on the diagonal, without covariances
    grown = np.sqrt(np.maximum(own, least) / np.maximum(own, 1e-300))
    out = found * np.outer(grown, grown)
    np.fill_diagonal(out, np.maximum(own, least))
    return out


def _moments(axis: CellAxis, counts: Array, noise: Noise) -> GroupNumbers:
    points = points_of((axis,), counts, noise)
    x = points.position(points.cells.axes[0])[0]
    few = unclear(float(counts.sum()), axis.bins, noise)
    size = max(float(counts.sum()), 1.0)
    mean = float(points.gather(x[:, None])[:, 0] @ counts) / size
    off_center = np.stack([x - mean, (x - mean) ** 2], axis=-1)
    centred = points.gather(off_center).T
    moved = within_moved(points, off_center, unseen=True, told=True)
    # influence of a ratio: a row in the cell moves S1 / N by (x - mean) / N
    off = moved.influence[0] / size
    own = float(noise.variance(off))
    variance = float(centred[1] @ counts) / size + own  # the squared noisy mean is too large by `own` on average
    # no part for the error of the mean: sum (x - mean)**2 has derivative 0 there
    curve = (moved.influence[1] - variance) / size
    # sd = sqrt(variance) by the delta method; a variance within its noise is raised to that noise
    spread = max(variance, float(np.sqrt(max(float(noise.variance(curve)), 0.0))), 1e-300)
    influence = np.stack([off, curve, curve / (2 * np.sqrt(spread))])
    # of the mean, the variance and the standard deviation, from the first two
    turned = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1 / (2 * np.sqrt(spread))]]) / size
    values = np.array([mean, variance, np.sqrt(max(variance, 0.0))])
    own_noise = float(noise.variance(curve))
    rough = few or noisy_variance_reason(variance, own_noise, "variance", most=HALF)
    clear = clear_variance(variance, own_noise, float(counts @ curve**2), HALF)
    # the mean is given whatever the variance is
    chosen = Thresholds(*(np.array([[first, part, part]]) for first, part in zip((1.0, 0.0, 0.0), clear, strict=True)))
    return GroupNumbers(values, influence, turned @ moved.unknown @ turned.T, (few, rough, rough), chosen)


def clear_variance(value: float, noise: float, sampling: float, most: float = LOOSE) -> tuple[float, float, float]:
    """Return value, threshold and standard deviation, as `Thresholds` has them, of a variance that was clear of noise.

    noise, sampling: the variances of its two errors.
    """
    return value, np.sqrt(max(noise, 0.0)) / most, np.sqrt(max(noise, 0.0) + max(sampling, 0.0))


@dataclass(frozen=True)
class Moved:
    """Sums over points: what a row in each cell adds to them, shape (p, cells), and what bins hide of them, (p, p)."""

    influence: Array
    unknown: Array


def within_moved(points: Points, values: Array, unseen: bool = False, told: bool = False) -> Moved:
    """Return what moves the sums of values at points, shape (points, p); unseen, told: as in `bin_errors`."""
    within = bin_errors(points, values, unseen, told)
    return Moved((points.gather(values) + within.influence).T, within.unknown)


def noisy_variance_reason(value: float, noise: float, what: str, most: float = LOOSE) -> str | None:
    """Return a reason if a positive number is not clearly above the noise of a variance, else None."""
    if value <= 0 or np.sqrt(max(noise, 0.0)) > most * value:
        return f"{what} {value:,.3g} with noise of {np.sqrt(max(noise, 0.0)):,.3g}: nothing can be said for this price"
    return None


def points_of(axes: tuple[CellAxis, ...], counts: Array, noise: Noise) -> Points:
    """Return the points of regular cells, with the densities within bins that the margins of these suggest."""
    shared = noise.cell / noise.size if noise.projected else 0.0
    return Points(CellCounts(tuple(map(plain, axes)), counts, noise.cell, shared=shared), shaped=True)


def plain(axis: CellAxis) -> CellAxis:
    """Return the axis without its extra cells."""
    return CellAxis(
        axis.name,
        axis.kind,
        axis.edges,
        axis.labels if axis.kind == "levels" else None,
        numbers=axis.numbers,
        step=axis.step,
        heaped_at=axis.heaped_at,
    )


def _ends(axis: CellAxis) -> tuple[float, float]:
    """Return the lower and upper bound of the column."""
    ends = axis.bounds if axis.kind == "continuous" else axis.centers
    return float(ends[0]), float(ends[-1])
