"""How far series are off at most, over all of [0, 1], whichever of some numbers of terms and bases the data choose.

The number of terms of a band, and its basis, are chosen by the noisy values that the band is then made of: where an
error is large a series of more terms is chosen, or of the other basis, whose error is larger still.  The quantile of
the largest standardised error is therefore that of the largest over all that might have been chosen [Berk, Brown,
Buja, Zhang & Zhao 2013], from draws of both errors.
Plain arrays; post-processing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.rows.series_bases import functions

DRAWS: Final = 4_000
"""Draws of the joint error for a simultaneous band: its level is then within .007 of what is said."""
SEED: Final = 18_05
PLACES: Final = 201
"""Places at which a band holds all at once."""


@dataclass(frozen=True)
class ErrorsOfValues:
    """Errors of noisy values, as shares of bins.

    sampling: their covariance without noise, shape (values, values).  noises: how they react to the noises, shape
    (values, noises).  variance: of each noise.  laplace: whether each has a Laplace law; otherwise noise is taken to be
    normal.
    """

    sampling: Array
    noises: Array
    variance: float
    laplace: bool

    @property
    def covariance(self) -> Array:
        """Covariance of both errors."""
        return self.sampling + self.variance * self.noises @ self.noises.T

    def drawn(self, draws: int) -> Array:
        """Return draws of the joint error, shape (draws, values); the same at each call."""
        rng = np.random.default_rng(SEED)
        values, vectors = np.linalg.eigh(self.sampling if self.laplace else self.covariance)
        made = rng.standard_normal((draws, len(values))) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        if self.laplace:
            made = made + rng.laplace(size=(draws, self.noises.shape[1])) @ self.noises.T * np.sqrt(self.variance / 2)
        return made


@dataclass(frozen=True)
class TermsOfBasis:
    """Series that might be chosen.  react: coefficients of all terms by values, shape (terms, values).

    ends: their numbers of terms, ascending.
    """

    basis: str
    react: Array
    ends: tuple[int, ...]


def largest_error(errors: ErrorsOfValues, chosen: tuple[TermsOfBasis, ...], level: float) -> float:
    """Return the quantile of the largest standardised error over [0, 1] and over all series that might be chosen.

    >>> errors = ErrorsOfValues(np.eye(4), np.eye(4), 0.0, laplace=False)
    >>> few, more = (TermsOfBasis("cosine", np.eye(4), ends) for ends in ((4,), (2, 3, 4)))
    >>> [round(largest_error(errors, (one,), 0.95), 1) for one in (few, more)]
    [2.8, 2.9]
    """
    drawn, covariance, largest = errors.drawn(DRAWS), errors.covariance, np.zeros(DRAWS)
    for one in chosen:
        spread = one.react @ covariance @ one.react.T
        for error, deviation in _curves(drawn @ one.react.T, spread, one):
            scaled = np.divide(error, deviation, out=np.zeros_like(error), where=deviation > 0)
            np.maximum(largest, np.abs(scaled).max(axis=1), out=largest)
    return float(np.quantile(largest, level, method="higher"))


def _curves(coefficients: Array, spread: Array, one: TermsOfBasis) -> Iterator[tuple[Array, Array]]:
    """Yield errors of the series of each number of terms at PLACES, shape (draws, PLACES), and their deviations."""
    over = functions(one.basis, np.linspace(0, 1, PLACES), one.ends[-1])
    error, first = np.zeros((len(coefficients), PLACES)), 0
    for end in one.ends:
        error = error + coefficients[:, first:end] @ over[first:end]
        first, own = end, over[:end]
        yield error, np.sqrt(np.maximum(np.einsum("jx,jk,kx->x", own, spread[:end, :end], own), 0.0))
