"""Coefficients of a density in an orthonormal basis, from noisy shares of bins; and how far each is to be trusted.

A density f on [0, 1] is 1 + sum of beta_j psi_j (`rows.series_bases`).  A bin of width w_b holds the share
    s_b = w_b + sum of beta_j B_bj,        B_bj the integral of psi_j over the bin,
so that the coefficients follow from shares by least squares with weights 1 / w_b.  What a bin averages out of psi_j is
then made up for; how many functions the bins can tell apart is read off the smallest eigenvalue of B' W B, which is 1
for bins of no width.  A density whose further coefficients are not small is more than the bins resolve.

Coefficients are shrunk block by block [Cavalier & Tsybakov 2001, penalised blockwise Stein's rule]: with V the sum of
the variances of a block and E that of its squared estimates, the factor is 1 - (1 + penalty) V / E, or 0.  Blocks grow
by a third, so that no number of terms has to be known beforehand, and the error follows that of the best number.
Which basis
    Of f' = sum of c_j beta'_j psi_j the squared distance to f is, up to the squared norm of f,
    sum of c_j**2 beta'_j**2 - 2 c_j (beta'_j**2 - v_j),        v_j the variance of beta'_j,
    without bias for fixed factors [Stein 1981].  The basis in which that is least is taken, unless its last block
    or its last third is far from 0: then the bins do not resolve the density in it.
Plain arrays; post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.rows.series_bases import integrals
from tacit.rows.series_blocks import PENALTY, blocks

RESOLVED: Final = 0.6
"""Smallest eigenvalue of B' W B for functions that the bins tell apart: three quarters of as many equal bins."""
MOST_TERMS: Final = 200
"""Most functions that are fitted."""
FAR: Final = 3.0
"""So many standard deviations above its mean, a sum of squares is not all noise."""
BAND: Final = 3
"""Limits of single places have at least one in so many of the terms, bands of all places all but one."""


@dataclass(frozen=True)
class SeriesCoefficients:
    """Coefficients of one density: estimates, shape (terms,), their covariance, and the factors that shrink them.

    load: how they react to independent noises of one variance, shape (terms, noises).  blocks: ends of the blocks,
    ascending, the last is the number of terms.  misfit: what the series leaves of the shares of bins, squared, in
    standard deviations above its mean; 0 where there are no bins.
    """

    values: Array
    covariance: Array
    load: Array
    factors: Array
    blocks: tuple[int, ...]
    misfit: float = 0.0

    @property
    def kept(self) -> int:
        """Number of terms up to the end of the last block that is kept."""
        found = np.flatnonzero(self.factors > 0)
        return 0 if len(found) == 0 else next(end for end in self.blocks if end > found[-1])

    @property
    def distance(self) -> float:
        """Estimated squared distance to the density, up to its squared norm."""
        square, variance = self.values**2, np.diag(self.covariance)
        return float((self.factors**2 * square - 2 * self.factors * (square - variance)).sum())

    @property
    def resolved(self) -> bool:
        """Whether neither the last block, the last third nor what is left of the shares tells of further coefficients.

        After a jump or a pole coefficients fall so slowly that the last third of them is seen long before the rest is.
        """
        if self.misfit > FAR or short(self.values, self.covariance):
            return False
        first = self.blocks[-2] if len(self.blocks) > 1 else 0
        return far(self.values[first:], self.covariance[first:, first:]) <= FAR

    @property
    def band(self) -> int:
        """Number of terms of limits: a block more than the estimate, and one in BAND of all at least."""
        return max(self.after(self.kept), -(-len(self.values) // BAND))

    @property
    def least(self) -> int:
        """Least number of terms of a band of all places: at a kink that is not seen fewer are off."""
        return least_terms(len(self.values))

    @property
    def whole(self) -> int:
        """Number of terms of a band of all places."""
        return max(self.band, self.least)

    def after(self, terms: int) -> int:
        """Return the end of the block that follows these terms; the last if there is none."""
        return next((end for end in self.blocks if end > terms), self.blocks[-1])


def least_terms(terms: int) -> int:
    """Return the least number of terms of a band of all places, of so many in all.

    >>> least_terms(30)
    20
    """
    return terms - terms // BAND


def resolved_terms(basis: str, edges: Array) -> int:
    """Return how many functions bins with these edges, from 0 to 1, tell apart.

    >>> resolved_terms("cosine", np.linspace(0, 1, 33)), resolved_terms("haar", np.linspace(0, 1, 33))
    (24, 31)
    """
    most = min(len(edges) - 2, MOST_TERMS)
    if most < 1:
        return 0
    gram = _gram(np.diff(integrals(basis, edges, most), axis=1), np.diff(edges))
    # eigenvalues of a leading block only fall as it grows
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.linalg.eigvalsh(gram[:middle, :middle])[0] >= RESOLVED else (low, middle - 1)
    return low


@dataclass(frozen=True)
class Shares:
    """Noisy shares of bins.

    edges: of the bins, from 0 to 1, shape (bins + 1,).  values: shape (bins,), signed, adding up to about 1.  sampling:
    their covariance without noise, shape (bins, bins).  noises: how they react to the noises, shape (bins, noises).
    variance: of each noise.
    """

    edges: Array
    values: Array
    sampling: Array
    noises: Array
    variance: float


def coefficients(basis: str, shares: Shares, terms: int) -> SeriesCoefficients:
    """Return the coefficients of a density from noisy shares of bins; terms: at most `resolved_terms`.

    >>> edges = np.linspace(0, 1, 5)
    >>> shares = Shares(edges, np.array([0.4, 0.3, 0.2, 0.1]), np.zeros((4, 4)), np.eye(4), 1e-6)
    >>> coefficients("legendre", shares, 2).values.round(3).tolist()
    [-0.462, 0.0]
    """
    over, react = reactions(basis, shares.edges, terms)
    widths = np.diff(shares.edges)
    load, values = react @ shares.noises, react @ (shares.values - widths)
    whole = shares.sampling + shares.variance * (shares.noises @ shares.noises.T)
    left = np.eye(len(widths)) - over.T @ react
    misfit = far(left @ (shares.values - widths), left @ whole @ left.T)
    return shrunk(values, react @ whole @ react.T, load, misfit)


def reactions(basis: str, edges: Array, terms: int) -> tuple[Array, Array]:
    """Return the integrals of the functions over bins, and how coefficients react to shares, shapes (terms, bins)."""
    widths, over = np.diff(edges), np.diff(integrals(basis, edges, terms), axis=1)
    return over, np.asarray(np.linalg.solve(_gram(over, widths), over / widths), dtype=np.float64)


def remainder(basis: str, shares: Shares, terms: int, kept: int) -> tuple[Array, Array]:
    """Return what the first `kept` of the fitted terms leave of the shares of bins, and how it reacts to shares.

    Shapes (bins,) and (bins, bins).

    >>> edges = np.linspace(0, 1, 5)
    >>> shares = Shares(edges, np.array([0.4, 0.3, 0.2, 0.1]), np.zeros((4, 4)), np.eye(4), 1e-6)
    >>> bool(np.allclose(remainder("legendre", shares, 2, 1)[0], 0))
    True
    """
    over, react = reactions(basis, shares.edges, terms)
    widths = np.diff(shares.edges)
    left = np.eye(len(widths)) - over[:kept].T @ react[:kept]
    return left @ (shares.values - widths), left


def shrunk(values: Array, covariance: Array, load: Array, misfit: float = 0.0) -> SeriesCoefficients:
    """Return coefficients with the factors that shrink them."""
    ends = blocks(len(values))
    return SeriesCoefficients(values, covariance, load, shrinkage(values, np.diag(covariance), ends), ends, misfit)


def short(values: Array, covariance: Array) -> bool:
    """Return whether the last third of the coefficients is far from 0: that there are too few."""
    last = slice(2 * len(values) // 3, None)
    return far(values[last], covariance[last, last]) > FAR


def far(values: Array, covariance: Array) -> float:
    """Return how many standard deviations the sum of squares is above its mean, for normal values."""
    error = float(np.sqrt(2 * (covariance**2).sum()))
    return (float((values**2).sum()) - float(np.trace(covariance))) / error if error > 0 else 0.0


def _gram(over: Array, widths: Array) -> Array:
    return (over / widths) @ over.T


def shrinkage(values: Array, variances: Array, ends: tuple[int, ...]) -> Array:
    """Return the factor of each coefficient, one for a block.

    >>> shrinkage(np.array([1.0, 0.1]), np.array([0.04, 0.04]), (1, 2)).round(2).tolist()
    [0.93, 0.0]
    """
    factors, first = np.zeros(len(values)), 0
    for end in ends:
        own, square = variances[first:end], float((values[first:end] ** 2).sum())
        total = float(own.sum())
        # the relative standard deviation of a sum of squares, which is larger where one variance is
        relative = float(np.sqrt(2 * (own**2).sum())) / total if total > 0 else 0.0
        if square > 0:
            factors[first:end] = max(0.0, 1 - (1 + PENALTY * relative) * total / square)
        first = end
    return factors
