"""Errors whose variance is itself estimated from few numbers: what Student's t is for one of them, and the noise known.

The total variance T of a term is not known, but its law given what was released is: seen through values T_j
with weights.  An error is then a normal one of a random variance, so that within w of the truth is

    sum over j of weight_j (2 Phi(w / sqrt(T_j)) - 1).

With T_j = s^2 (k - 1) / chi-squared this is Student's t with k - 1 degrees of freedom.  Pure functions of arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.base.lazy_imports import special

STEPS: Final = 48
"""Halvings of the bracket of a half-width, relative to its size."""
LEAST: Final = 1e-300
"""A variance below this is taken for this."""


@dataclass(frozen=True)
class UncertainVariances:
    """values: variances that each of m terms may have, shape (m, q).  weights: their probabilities, shape (q,).

    >>> import numpy as np
    >>> known = UncertainVariances(np.array([[4.0]]), np.array([1.0]))
    >>> known.half_widths(0.95).round(2), known.tails(np.array([3.92])).round(3)
    (array([3.92]), array([0.05]))
    """

    values: Array
    weights: Array

    def half_widths(self, level: float) -> Array:
        """Return w for each term, shape (m,): the error is within w with probability `level`."""
        errors = np.sqrt(np.maximum(self.values, LEAST))
        z = float(special().ndtri(0.5 + level / 2))
        # between the normal half-widths of the smallest and of the largest variance; halved in logarithms
        low: Array = np.log(z * errors.min(axis=1))
        high: Array = np.log(z * errors.max(axis=1))
        for _ in range(STEPS):
            middle = (low + high) / 2
            short = self.tails(np.exp(middle)) > 1 - level
            low, high = np.asarray(np.where(short, middle, low)), np.asarray(np.where(short, high, middle))
        return np.asarray(np.exp(high), dtype=np.float64)

    def tails(self, off: Array) -> Array:
        """Return the probability that the error of each term is beyond `off` on either side, shape (m,)."""
        errors = np.sqrt(np.maximum(self.values, LEAST))
        return np.asarray(2 * special().ndtr(-np.abs(off)[:, None] / errors) @ self.weights, dtype=np.float64)

    def of(self, index: list[int]) -> UncertainVariances:
        """Return those of some terms."""
        return UncertainVariances(self.values[index], self.weights)

    def combined(self, matrix: Array, covariance: Array) -> UncertainVariances:
        """Return those of linear combinations, shape (new, m), of terms with this total covariance.

        All variances are taken to be small or large together, which is the widest that they can be; covariances stay.
        """
        squares = np.asarray(matrix, dtype=np.float64) ** 2
        crossed = np.einsum("ij,jk,ik->i", matrix, covariance, matrix) - squares @ np.diag(covariance)
        return UncertainVariances(np.maximum(squares @ self.values + crossed[:, None], LEAST), self.weights)

    def joint_tail(self, statistic: float, rank: int, variances: Array, used: NDArray[np.bool_]) -> float:
        """Return the tail of a chi-square statistic that was computed with `variances`, of the terms `used`.

        variances: shape (m,).  used: shape (m,), which terms have a part in it: the least certain of them decides.
        """
        ratios = (self.values[used] / np.maximum(variances[used], LEAST)[:, None]).max(axis=0)
        return float(special().chdtrc(rank, max(statistic, 0.0) / ratios) @ self.weights)


def nodes(number: int) -> tuple[Array, Array]:
    """Return probabilities u between 0 and 1 and their weights, closer together near 0; both of shape (number,).

    >>> u, weights = nodes(64)
    >>> round(float(weights.sum()), 12), round(float(u @ weights), 12)
    (1.0, 0.5)
    """
    x, w = np.polynomial.legendre.leggauss(number)
    x, w = (x + 1) / 2, w / 2
    # u = x^4: the largest variances, which are at u near 0, are seen finely
    return np.asarray(x**4, dtype=np.float64), np.asarray(w * 4 * x**3, dtype=np.float64)
