"""A series as an estimate of a density, what limits are around it, and which of some bases is nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.series_coefficients import SeriesCoefficients
from tacit.rows.series_bases import functions

DRAWS: Final = 4_000
"""Draws of the joint error for a simultaneous band: its level is then within .007 of what is said."""
SEED: Final = 18_05
PLACES: Final = 201
"""Places at which a band holds all at once."""


@dataclass(frozen=True)
class SeriesCurve:
    """One density on [0, 1]: its coefficients in a basis, and the terms that bands are made of.

    laplace: whether each noise has a Laplace law; otherwise the noise of the coefficients is taken to be normal.
    variance: of each noise.  band: number of terms of the bands, which are not shrunk.
    """

    basis: str
    found: SeriesCoefficients
    band: int
    laplace: bool = False
    variance: float = 0.0

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
        """Return the quantile of the largest standardised error over [0, 1], from draws of the law of the noise."""
        rng, band, t = np.random.default_rng(SEED), self.band, np.linspace(0, 1, PLACES)
        load, spread = self.found.load[:band], self.found.covariance[:band, :band]
        sampling = spread - self.variance * load @ load.T if self.laplace else spread
        values, vectors = np.linalg.eigh(sampling)
        drawn = rng.standard_normal((DRAWS, band)) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        if self.laplace:
            drawn = drawn + rng.laplace(size=(DRAWS, load.shape[1])) @ load.T * np.sqrt(self.variance / 2)
        largest = np.abs(drawn @ functions(self.basis, t, band) / self.errors(t)).max(axis=1)
        return float(np.quantile(largest, level, method="higher"))


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
