"""Coefficients of a series from a release's integers, with both covariances.  Plain arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.simplex import lowered_by
from tacit.estimates.densities.series_coefficients import short, shrinkage
from tacit.estimates.densities.smooth_density import BEYOND
from tacit.estimates.terms import Target
from tacit.method.orthogonal_series.design import edges
from tacit.method.orthogonal_series.encoding import SCALE, own_terms, table
from tacit.method.orthogonal_series.query import OrthogonalSeries
from tacit.release.document import Released
from tacit.rows.series_bases import functions, integrals
from tacit.rows.series_blocks import blocks

TOO_FEW: Final = "its terms are too few for this density: limits do not hold the rest"
"""What is said where the last terms are far from 0."""
UNTOLD: Final = "its terms are too few for this density: no limits are told; more terms, or KernelDensity"
"""Why a curve has no limits there."""


@dataclass(frozen=True)
class SeriesFit:
    """Coefficients of a joint density on the unit cube, without that of the constant, which is 1.

    terms: functions of each column.  ends: edges of its bins on [0, 1].  indices: of each coefficient, shape (number,
    columns).  values: shape (number,).  sampling: their covariance without noise.  load: how they react to noises of
    `variance`, shape (number, integers).  cells: the density on the grid of all bins, shape (bins of the first column,
    ...), and by how much the series is lowered to be a density.  factors: that shrink the coefficients.  size: number
    of rows, noisy or public.  reason: why nothing is known.  resolved: whether the coefficients of the longest indices
    say nothing of further ones.
    """

    basis: str
    terms: tuple[int, ...]
    ends: tuple[Array, ...]
    indices: Any
    values: Array
    sampling: Array
    load: Array
    variance: float
    cells: Array
    lowered: float
    factors: Array
    size: float
    reason: str | None
    resolved: bool = True

    @property
    def covariance(self) -> Array:
        """Covariance of both errors."""
        return self.sampling + self.variance * (self.load @ self.load.T)

    @property
    def volumes(self) -> Array:
        """Volumes of the cells of the grid, one after another."""
        made = np.ones(1)
        for ends in self.ends:
            made = np.outer(made, np.diff(ends)).reshape(-1)
        return made

    def over(self, points: Array) -> Array:
        """Return the functions of all coefficients at points of the cube, shape (number, n); points: (n, columns)."""
        made = np.ones((1, len(points)))
        for i in range(points.shape[1]):
            own = np.vstack([np.ones(len(points)), functions(self.basis, points[:, i], self.terms[i])])
            made = (made[:, None, :] * own[None, :, :]).reshape(-1, len(points))
        return made[1:]

    def density(self, t: Array) -> Array:
        """Return the density at points of the cube, shape (n,)."""
        series = 1 + (self.factors * self.values) @ self.over(t)
        return np.maximum(series - self.lowered, 0.0)

    def centers(self, t: Array) -> Array:
        """Return the series without shrinkage at points of the cube, shape (n,)."""
        return 1 + self.values @ self.over(t)

    def spread(self, t: Array) -> Array:
        """Return the covariance of `centers`, shape (n, n)."""
        over = self.over(t)
        return over.T @ self.covariance @ over

    @property
    def said(self) -> tuple[str, ...]:
        """How many coefficients count, and whether they are too few."""
        kept = int((self.factors > 0).sum())
        short = () if self.resolved else (TOO_FEW,)
        holds = f"limits are of the {len(self.values)} terms of the density's {self.basis} series"
        return (holds, BEYOND, *short, f"{kept} of {len(self.values)} coefficients are kept")


def fitted(release: Released, target: Target = "population") -> SeriesFit:
    """Return the coefficients of a release, real or simulated.

    The integers' mean is, up to S**d n, M beta with M = M_1 x ... x M_d, M_i[j, k] the sum over bins of a_ij(b) / S
    times the integral of psi_k over b: beta follows by the inverses, so that bins and rounding leave no bias.
    """
    query, part = cast(OrthogonalSeries, release.query), release.parts[0]
    d, kappa = len(query.columns), part.parameters["presence"]
    share, whole = part.parameters.get("share", 1), float(SCALE[d] ** d)
    ends = tuple(np.array(edges(one, d)) for one in getattr(release, "variables", ()))
    terms = tuple(own_terms(query.basis, len(one) - 1, part.parameters["terms"]) for one in ends)
    inverse = np.ones((1, 1))
    for each, own in zip(ends, terms, strict=True):
        inverse = np.kron(inverse, np.linalg.inv(_mixing(query.basis, each, own, SCALE[d])))
    integers = np.array([float(x) for x in part.integers[0]]) / share
    number = inverse.shape[0] - 1
    n = float(release.rows or 0) if not kappa else float(integers[-1]) / kappa
    spread = float(np.sqrt(part.law.variance())) / share
    reason = f"size {n:,.0f}: not clearly above 0" if kappa and n <= 3 * spread / kappa else None
    n = max(n, 1.0)
    sums = np.concatenate([[1.0], integers[:number] / (whole * n)])
    values: Array = np.asarray(inverse @ sums, dtype=np.float64)
    load = inverse[:, 1:] / (whole * n)
    if kappa:
        # of a ratio: the noise of the size moves all coefficients
        load = np.column_stack([load, -(inverse[:, 1:] @ sums[1:]) / (n * kappa)])
    values, load = values[1:], load[1:] / share
    if reason is not None:
        values = np.zeros(number)
    indices = np.stack(np.unravel_index(np.arange(1, number + 1), tuple(own + 1 for own in terms)), axis=1)
    variance = float(part.law.variance())
    draft = SeriesFit(
        query.basis, terms, ends, indices, values, np.zeros((number, number)), load, variance,
        np.ones([len(one) - 1 for one in ends]), 0.0, np.ones(number), n, reason,
    )  # fmt: skip
    made = _with_cells(draft, _factors(draft, np.full(number, 1 / n)))
    sampling = np.zeros((number, number)) if target == "table" else _sampling(made)
    sampled = replace(made, sampling=sampling)
    return replace(_with_cells(sampled, _factors(sampled, np.zeros(number))), resolved=_resolved(sampled))


def _mixing(basis: str, ends: Array, terms: int, S: int) -> Array:
    """Return M_i, shape (terms + 1, terms + 1)."""
    over = np.vstack([np.diff(ends), np.diff(integrals(basis, ends, terms), axis=1)])
    return (table(basis, tuple(ends.tolist()), terms, S) / S) @ over.T


def _order(fit: SeriesFit) -> Any:
    """Return the coefficients' places by the length of their index."""
    return np.argsort((fit.indices.astype(np.float64) ** 2).sum(axis=1), kind="stable")


def _resolved(fit: SeriesFit) -> bool:
    """Return whether the last third of the coefficients is not far from 0."""
    order = _order(fit)
    return not short(fit.values[order], fit.covariance[np.ix_(order, order)])


def _factors(fit: SeriesFit, more: Array) -> Array:
    """Return the factor of each coefficient: blocks are of coefficients ordered by the length of their index."""
    order = _order(fit)
    variances = np.diag(fit.covariance) + more
    made = np.zeros(len(fit.values))
    made[order] = shrinkage(fit.values[order], variances[order], blocks(len(order)))
    return made


def _with_cells(fit: SeriesFit, factors: Array) -> SeriesFit:
    """Return the fit with factors, and the density on the grid of bins: lowered, cut at 0, so that it adds up to 1."""
    middles = [(one[1:] + one[:-1]) / 2 for one in fit.ends]
    coefficients = np.concatenate([[1.0], factors * fit.values]).reshape([own + 1 for own in fit.terms])
    for at, terms in zip(middles, fit.terms, strict=True):
        own = np.vstack([np.ones(len(at)), functions(fit.basis, at, terms)])
        # the first axis is summed, that of the places is put last
        coefficients = np.tensordot(coefficients, own, axes=([0], [0]))
    low = lowered_by(coefficients, 1.0, fit.volumes)
    return replace(fit, cells=np.maximum(coefficients - low, 0.0), lowered=low, factors=factors)


def _sampling(fit: SeriesFit) -> Array:
    """Return the covariance of the coefficients without noise, from the density that was found."""
    shares = fit.cells.reshape(-1) * fit.volumes
    kept = np.flatnonzero(shares > 0)
    places = np.unravel_index(kept, fit.cells.shape)
    points = np.stack([((one[1:] + one[:-1]) / 2)[at] for one, at in zip(fit.ends, places, strict=True)], axis=1)
    over = fit.over(points)
    mean = over @ shares[kept]
    return ((over * shares[kept]) @ over.T - np.outer(mean, mean)) / fit.size
