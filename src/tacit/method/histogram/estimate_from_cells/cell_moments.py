"""Means and variances from the cells of a histogram, corrected for binning.

The sums S1 of x and S2 of x**2 over the rows are taken over two points in each bin, whose weights are linear in the
counts (theory §7, `fits.cell_points.Points`).  With N the noisy number of rows, mean = S1 / N and variance =
S2 / N - mean**2.  Errors by the delta method, from the influence of each cell: the change of the statistic for one more
row in the cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.terms import Target, check_target
from tacit.fits import within_bins as within
from tacit.fits.cell_arrays import CellAxis, CellCounts
from tacit.fits.cell_points import Points
from tacit.fits.sandwich import floored
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Noise
from tacit.method.histogram.estimate_from_cells.cell_groups import (
    By,
    GroupCounts,
    group_counts,
    places,
    unclear,
    words,
)
from tacit.method.histogram.estimate_from_cells.derived_numbers import Derived, Scale, TransformedDelta
from tacit.release.document import Released

LOOSE: Final = 0.25
"""A statistic that is divided by a variance is given only if the variance's noise is at most this part of it."""


@dataclass(frozen=True)
class GroupNumbers:
    """Statistics of one group.

    values: shape (p,).  influence: of each of the group's cells, shape (p, cells).  reasons: why a statistic is not
    given, or None.
    """

    values: Array
    influence: Array
    reasons: tuple[str | None, ...]


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
        ("mean", "variance", "sd"),
        ("plain", "log", "root"),
        (lows, highs),
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
) -> Derived:
    """Join the statistics of all groups, with covariances.

    own: names of a group's p statistics.  scales: scale of each interval.  bounds: lower and upper, shape (p,).
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
            sampling[rows, rows] = sampling_of(made.regular[g].reshape(-1), part.influence, made.noise)
    values = np.concatenate([part.values for part in parts])
    reasons = tuple(reason for part in parts for reason in part.reasons)
    bad = tuple(reason is not None for reason in reasons)
    low, high = (np.tile(end, groups) for end in bounds)
    weights[np.array(bad)] = 0.0  # statistics that are not given get a standard error of half their range
    sampling[np.array(bad)], sampling[:, np.array(bad)] = 0.0, 0.0
    sampling += np.diag(np.where(bad, (high - low) / 2, 0.0) ** 2)
    error = made.noise.error(np.concatenate([part.influence for part in parts]), np.diag(sampling))
    note = "corrected for binning; values within a bin are taken as its neighbours suggest (a density that is a line)"
    return Derived(
        made.release,
        target,
        title,
        estimand,
        made.terms(own),
        np.clip(values, low, high),
        TransformedDelta(values, error, scales * groups, low, high, bad),
        sampling,
        made.noise.covariance(weights),
        reasons,
        (note, *bins_of(made)),
        term_title=":".join(made.by),
    )


def bins_of(made: GroupCounts) -> list[str]:
    """Return notes on too wide bins of the columns, from the counts of all groups together."""
    axes = tuple(plain(axis) for axis in made.axes)
    return within.notes(CellCounts(axes, made.regular.sum(axis=0), made.noise.cell * len(made.regular)))


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
    points = points_of((axis,), counts)
    x = points.position(points.cells.axes[0])[0]
    # shape (2, cells): what a row in each cell adds to the sums of x and x**2
    gathered = points.gather(np.stack([x, x**2], axis=-1)).T
    few = unclear(float(counts.sum()), axis.bins, noise)
    size = max(float(counts.sum()), 1.0)
    mean = float(gathered[0] @ counts) / size
    centred = points.gather(((x - mean) ** 2)[:, None])[:, 0]
    # influence of a ratio: a row in the cell moves S1 / N by (x - mean) / N
    off = (gathered[0] - mean) / size
    own = float(noise.variance(off))
    variance = float(centred @ counts) / size + own  # the squared noisy mean is too large by `own` on average
    # no part for the error of the mean: sum (x - mean)**2 has derivative 0 there
    curve = (centred - variance) / size
    # sd = sqrt(variance) by the delta method; a variance within its noise is raised to that noise
    spread = max(variance, float(np.sqrt(max(float(noise.variance(curve)), 0.0))), 1e-300)
    influence = np.stack([off, curve, curve / (2 * np.sqrt(spread))])
    values = np.array([mean, variance, np.sqrt(max(variance, 0.0))])
    rough = few or noisy_variance_reason(variance, float(noise.variance(curve)), "variance", most=0.5)
    return GroupNumbers(values, influence, (few, rough, rough))


def noisy_variance_reason(value: float, noise: float, what: str, most: float = LOOSE) -> str | None:
    """Return a reason if a positive number is not clearly above the noise of a variance, else None."""
    if value <= 0 or np.sqrt(max(noise, 0.0)) > most * value:
        return f"{what} {value:,.3g} with noise of {np.sqrt(max(noise, 0.0)):,.3g}: nothing can be said for this price"
    return None


def points_of(axes: tuple[CellAxis, ...], counts: Array) -> Points:
    """Return the points of regular cells; with fewer than three bins densities are flat, as slopes need neighbours."""
    return Points(CellCounts(tuple(map(plain, axes)), counts, 0.0))


def plain(axis: CellAxis) -> CellAxis:
    """Return the axis without its extra cells."""
    return CellAxis(
        axis.name,
        axis.kind,
        axis.edges,
        axis.labels if axis.kind == "levels" else None,
        numbers=axis.numbers,
        step=axis.step,
    )


def _ends(axis: CellAxis) -> tuple[float, float]:
    """Return the lower and upper bound of the column."""
    ends = axis.bounds if axis.kind == "continuous" else axis.centers
    return float(ends[0]), float(ends[-1])
