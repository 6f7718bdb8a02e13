"""Orthonormal functions on [0, 1], for densities as series.  Plain arrays; no data here.

Every basis has the constant 1 as its function 0, which is left out below: functions 1, 2, ... have mean 0 and mean
square 1.  t is a place in [0, 1], arrays are of shape (terms, places).

cosine      sqrt(2) cos(pi j t)
fourier     sqrt(2) cos(2 pi k t) for j = 2k - 1, sqrt(2) sin(2 pi k t) for j = 2k: for densities with equal ends
legendre    sqrt(2j + 1) P_j(2t - 1), of the Legendre polynomials P_j
haar        2**(l / 2) on the first half of [k, k + 1] / 2**l, minus that on the second, for j = 2**l + k, k < 2**l
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import special

Basis: TypeAlias = Literal["cosine", "fourier", "legendre", "haar"]
BASES: Final = ("cosine", "fourier", "legendre", "haar")
"""Names of the bases."""
ROOT: Final = 2**0.5


def functions(basis: str, t: Array, terms: int) -> Array:
    """Return the functions 1 to `terms` at places t, shape (terms, places).

    >>> functions("cosine", np.array([0.0, 0.5]), 2).round(3).tolist()
    [[1.414, 0.0], [1.414, -1.414]]
    >>> functions("haar", np.array([0.1, 0.6]), 2).round(3).tolist()
    [[1.0, -1.0], [1.414, 0.0]]
    """
    j, t = _numbers(terms), np.asarray(t, dtype=np.float64)
    if basis == "cosine":
        return ROOT * np.cos(np.pi * j * t)
    if basis == "fourier":
        angle = 2 * np.pi * ((j + 1) // 2) * t
        return ROOT * np.where(j % 2 == 1, np.cos(angle), np.sin(angle))
    if basis == "legendre":
        return np.asarray(np.sqrt(2 * j + 1) * special().eval_legendre(j, 2 * t - 1))
    height, place = _haar(j, t)
    # the end of [0, 1] belongs to the last interval
    inside = (place >= 0) & ((place < 1) | ((t == 1.0) & (place == 1.0)))
    return np.where(inside, np.where(place < 0.5, height, -height), 0.0)


def integrals(basis: str, t: Array, terms: int) -> Array:
    """Return the integrals of the functions 1 to `terms` from 0 to t, shape (terms, places).

    >>> integrals("legendre", np.array([0.5, 1.0]), 1).round(3).tolist()
    [[-0.433, 0.0]]
    """
    j, t = _numbers(terms), np.asarray(t, dtype=np.float64)
    if basis == "cosine":
        return ROOT * np.sin(np.pi * j * t) / (np.pi * j)
    if basis == "fourier":
        angle = 2 * np.pi * ((j + 1) // 2)
        return ROOT * np.where(j % 2 == 1, np.sin(angle * t), 1 - np.cos(angle * t)) / angle
    if basis == "legendre":
        legendre = special().eval_legendre
        # (2j + 1) P_j is the derivative of P_(j+1) - P_(j-1); 2t - 1 moves twice as fast as t
        both = legendre(j + 1, 2 * t - 1) - legendre(j - 1, 2 * t - 1)
        return np.asarray(both / (2 * np.sqrt(2 * j + 1)))
    height, place = _haar(j, t)
    rising = np.clip(np.minimum(place, 1 - place), 0.0, None)
    # a function of `height` is 1 / height**2 wide
    return rising / height


def _numbers(terms: int) -> Array:
    """Return 1 to `terms`, in a column."""
    return np.arange(1.0, terms + 1)[:, None]


def _haar(j: Array, t: Array) -> tuple[Array, Array]:
    """Return the height of each Haar function, and the place of t in its interval, from 0 to 1."""
    level = np.floor(np.log2(j))
    width = 2.0**level
    return np.sqrt(width), width * t - (j - width)
