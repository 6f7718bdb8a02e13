"""A public family of laws on [0, 1], by which the number of terms of a series is chosen.  No data here.

Smooth, bimodal, spiky and heavy-tailed ones, and one with its largest density at a bound.  They were written down
before any was simulated, and are none of the laws of the pages that compare densities.  A law of several columns is
made of the same parts: given the part, columns are independent with the part's law each, so that parts of several
columns lie on the diagonal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.rows.series_bases import functions

PLACES: Final = 2_048
"""Places of [0, 1] by which integrals are found."""
Part = tuple[float, Callable[[Array], Array]]


def normal(mean: float, sd: float) -> Callable[[Array], Array]:
    """Return the density of a normal law, up to a constant."""
    return lambda t: np.exp(-(((t - mean) / sd) ** 2) / 2)


def _gamma(t: Array) -> Array:
    return t**1.5 * np.exp(-t / 0.09)


def _exponential(t: Array) -> Array:
    return np.exp(-t / 0.22)


def _student(t: Array) -> Array:
    return (1 + ((t - 0.5) / 0.06) ** 2 / 3) ** -2.0


def _lognormal(t: Array) -> Array:
    return np.exp(-(np.log(t / 0.08) ** 2) / 2) / t


LAWS: Final[dict[str, tuple[Part, ...]]] = {
    "normal": ((1.0, normal(0.45, 0.18)),),
    "gamma(2.5)": ((1.0, _gamma),),
    "exponential": ((1.0, _exponential),),
    "chain": tuple((w / 64, normal(0.2 + 0.1 * k, 0.07)) for k, w in enumerate((1, 6, 15, 20, 15, 6, 1))),
    "unequal modes": ((0.35, normal(0.25, 0.06)), (0.65, normal(0.62, 0.12))),
    "distant modes": ((0.6, normal(0.2, 0.09)), (0.4, normal(0.8, 0.09))),
    "narrow": ((1.0, normal(0.3, 0.03)),),
    "peak on a hill": ((0.75, normal(0.55, 0.2)), (0.25, normal(0.7, 0.02))),
    "t(3)": ((1.0, _student),),
    "lognormal": ((1.0, _lognormal),),
}
"""Parts of each law: their weights, and densities of one column up to constants."""


@dataclass(frozen=True)
class LawCoefficients:
    """Coefficients of the family in one basis.

    weights: of the parts in each law, shape (laws, parts).  values, seconds: E psi_j and E psi_j**2 of each part, the
    constant first, shape (parts, terms + 1).  inner: integrals of products of two parts' densities, shape (parts,
    parts).
    """

    weights: Array
    values: Array
    seconds: Array
    inner: Array

    def joint(self, terms: tuple[int, ...]) -> tuple[Array, Array]:
        """Return E psi and E psi**2 of each law's products of functions, shape (laws, products)."""
        values = seconds = np.ones((len(self.values), 1))
        for m in terms:
            values = (values[:, :, None] * self.values[:, None, : m + 1]).reshape(len(values), -1)
            seconds = (seconds[:, :, None] * self.seconds[:, None, : m + 1]).reshape(len(values), -1)
        return self.weights @ values, self.weights @ seconds

    def norms(self, columns: int) -> Array:
        """Return the integral of each law's squared density, shape (laws,)."""
        return np.einsum("lp,pq,lq->l", self.weights, self.inner**columns, self.weights)


@lru_cache(maxsize=8)
def coefficients(basis: str, terms: int) -> LawCoefficients:
    """Return the coefficients of the family."""
    t = (np.arange(PLACES) + 0.5) / PLACES
    parts = [density(t) for law in LAWS.values() for _, density in law]
    shares = np.array([one / one.sum() for one in parts])
    weights, at = np.zeros((len(LAWS), len(parts))), 0
    for row, law in enumerate(LAWS.values()):
        weights[row, at : at + len(law)] = [weight for weight, _ in law]
        at += len(law)
    over = np.vstack([np.ones(PLACES), functions(basis, t, terms)])
    return LawCoefficients(weights, shares @ over.T, shares @ (over**2).T, PLACES * shares @ shares.T)
