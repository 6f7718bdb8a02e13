"""What limits of a smooth density of a histogram are around: a series, or the shapes within bins where none fits.

A series that misses something somewhere is off everywhere.  Where the counts of bins say so, limits are around the
shapes that bins beside give each bin (`cell_shapes`), with what is not known of these in their errors; how high a
density is within a peak in doubt no count tells, and none are told there.  Of declared heaps limits are made of bins of
whole heaps, which have the rows that they would have without heaps.  Post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.densities.chosen_terms import ErrorsOfValues, TermsOfBasis
from tacit.estimates.densities.column_values import distance_of_values
from tacit.estimates.densities.local_doubts import DRAWS, doubted, peaks, ranges
from tacit.estimates.densities.projected_curve import BandTerms
from tacit.estimates.densities.recorded_notes import hidden_by_heaps
from tacit.estimates.densities.series_coefficients import Shares, coefficients, reactions, remainder, resolved_terms
from tacit.estimates.densities.series_curve import SeriesCurve, terms_of
from tacit.fits.heaps.heaped_cells import whole_heaps
from tacit.fits.within_bins.cell_limits import CellLimits, summed
from tacit.method.histogram.estimate_margins import Margin
from tacit.noise.laws import RoundedNormal
from tacit.release.parts import Axis

SEED: Final = 1997
FEWEST: Final = 4
"""Fewest bins of whole heaps that tell a density."""
LITTLE: Final = 0.01
"""Part of a bin that may be another's for heaps, from which it counts."""


@dataclass(frozen=True)
class DensityLimits:
    """What limits of a group are around, ranges of [0, 1] in doubt and those of peaks, and why none are told.

    sampled: shares with sampling errors that tell where there may be jumps, or None.
    """

    around: BandTerms
    doubts: tuple[tuple[float, float], ...] = ()
    peaks: tuple[tuple[float, float], ...] = ()
    untold: str | None = None
    sampled: Shares | None = None


def possible_series(bases: tuple[str, ...], edges: Array) -> tuple[TermsOfBasis, ...]:
    """Return the series in some bases that shares of bins with these edges may be made."""
    terms = [max(1, resolved_terms(basis, edges)) for basis in bases]
    each = zip(bases, terms, strict=True)
    return tuple(terms_of(basis, reactions(basis, edges, number)[1]) for basis, number in each)


def series_of(basis: str, shares: Shares, possible: tuple[TermsOfBasis, ...], *, laplace: bool) -> SeriesCurve:
    """Return the series of noisy shares of bins in a basis, one of those possible.  laplace: of the noises."""
    own = next(one for one in possible if one.basis == basis)
    found = coefficients(basis, shares, len(own.react))
    errors = ErrorsOfValues(shares.sampling, shares.noises, shares.variance, laplace)
    return SeriesCurve(basis, found, found.band, errors, possible)


def is_laplace(made: Margin) -> bool:
    """Return whether each noise is a Laplace variable: sums of several noises, and normal ones, are nearly normal."""
    return made.added == 1 and not isinstance(made.release.parts[0].law, RoundedNormal)


def limits_around(
    own: SeriesCurve, shares: Shares, sampled: Shares, made: Margin, ends: Array, rows: float
) -> DensityLimits:
    """Return what limits of a group of so many rows are around.

    own: the series of the shares.  sampled: the same shares with sampling errors, which rows of a table have about a
    smooth density, too: misfits are found among them.  ends: of the bins, in the column's units.
    """
    axis, laplace, possible = made.axes[-1], is_laplace(made), own.chosen
    at, leaks = _whole(axis, ends)
    if len(at) <= FEWEST:
        return DensityLimits(own, untold=hidden_by_heaps(made.levels[-1][0], axis, 0.0, "wider bins, or more of them"))
    if len(at) < len(ends):
        both, laplace = (summed(shares, at), summed(sampled, at)), False
        shares, sampled = both if sampled is not shares else (both[0], both[0])
        possible = possible_series(tuple(one.basis for one in possible), shares.edges)
        own = series_of(own.basis, shares, possible, laplace=laplace)
    judged = own if sampled is shares else series_of(own.basis, sampled, possible, laplace=laplace)
    found = in_doubt(judged, sampled)
    if not found.any() and judged.found.resolved and leaks.max() < LITTLE:
        return DensityLimits(own, sampled=sampled)
    unit = distance_of_values(axis.kind, axis.multiple_of)
    cells = CellLimits(shares, rows, unit / float(np.ptp(ends)), leaks, laplace=laplace)
    high = peaks(found, shares.edges, shares.values)
    return DensityLimits(cells, ranges(found, shares.edges), ranges(high, shares.edges), sampled=sampled)


def in_doubt(curve: SeriesCurve, shares: Shares) -> NDArray[np.bool_]:
    """Return of which bins the shares say more than the terms of the limits resolve."""
    residuals, left = remainder(curve.basis, shares, len(curve.found.values), curve.band)
    rng = np.random.default_rng(SEED)
    values, vectors = np.linalg.eigh(shares.sampling)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    many = (DRAWS, shares.noises.shape[1])
    noise = rng.laplace(size=many) / np.sqrt(2) if curve.errors_of.laplace else rng.standard_normal(many)
    errors = rng.standard_normal((DRAWS, len(values))) @ root.T + np.sqrt(shares.variance) * noise @ shares.noises.T
    own = np.sqrt(np.diag(shares.sampling) + shares.variance * (shares.noises**2).sum(axis=1))
    return doubted(residuals, errors @ left.T, own)


def _whole(axis: Axis, ends: Array) -> tuple[NDArray[np.int64], Array]:
    """Return at which ends bins of whole heaps begin and end, and which part of each may be another's."""
    if axis.heaped_at is None:
        return np.arange(len(ends)), np.zeros(len(ends) - 1)
    return whole_heaps(ends, axis.heaped_at)
