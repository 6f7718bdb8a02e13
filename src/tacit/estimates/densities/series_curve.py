"""A series as an estimate of a density, what limits are around it, and which of some bases is nearest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.densities.chosen_terms import ErrorsOfValues, TermsOfBasis, largest_error
from tacit.estimates.densities.series_coefficients import SeriesCoefficients, least_terms
from tacit.rows.series_bases import functions
from tacit.rows.series_blocks import blocks


@dataclass(frozen=True)
class SeriesCurve:
    """One density on [0, 1]: its coefficients in a basis, and the terms that limits are made of.

    band: number of terms of limits, which are not shrunk.  errors_of: the errors of the values that coefficients are
    made of.  chosen: the series that its band might have been of.
    """

    basis: str
    found: SeriesCoefficients
    band: int
    errors_of: ErrorsOfValues
    chosen: tuple[TermsOfBasis, ...]

    def series(self, t: Array) -> Array:
        """Return the series at places t, before it is made a density."""
        used = self.found.kept
        return 1 + (self.found.factors * self.found.values)[:used] @ functions(self.basis, t, used)

    def center(self, t: Array) -> Array:
        """Return the series without shrinkage."""
        return 1 + self.found.values[: self.band] @ functions(self.basis, t, self.band)

    def errors(self, t: Array) -> Array:
        """Return the standard errors of the series without shrinkage."""
        over, spread = functions(self.basis, t, self.band), self.found.covariance[: self.band, : self.band]
        return np.sqrt(np.maximum(np.einsum("jx,jk,kx->x", over, spread, over), 0.0))

    def factor(self, level: float) -> float:
        """Return the quantile of the largest standardised error over [0, 1], whichever series is chosen."""
        return largest_error(self.errors_of, self.chosen, level)

    @property
    def at_once(self) -> SeriesCurve:
        """The same with as many terms as a band has: at a kink a few terms are off by more than their errors."""
        return replace(self, band=self.found.whole)


def terms_of(basis: str, react: Array) -> TermsOfBasis:
    """Return the series that a band might be of.  react: coefficients by values, shape (terms, values).

    >>> terms_of("cosine", np.eye(13)).ends
    (9, 13)
    """
    least = least_terms(len(react))
    return TermsOfBasis(basis, react, (least, *(end for end in blocks(len(react)) if end > least)))


def closest(curves: tuple[tuple[SeriesCurve, ...], ...], sizes: Array) -> tuple[SeriesCurve, ...]:
    """Return the curves of that basis in which they are nearest to the densities, groups weighed by size.

    curves: of each basis those of all groups.  Bases that the bins resolve come first.
    """
    weight = np.maximum(sizes, 0.0)
    weight = weight / weight.sum() if weight.sum() > 0 else np.full(len(sizes), 1 / len(sizes))

    def order(made: tuple[SeriesCurve, ...]) -> tuple[bool, float]:
        worst = any(not one.found.resolved for one, w in zip(made, weight, strict=True) if w > 0)
        return worst, float(sum(w * one.found.distance for one, w in zip(made, weight, strict=True)))

    return min(curves, key=order)
