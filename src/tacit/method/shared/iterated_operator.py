"""Bernstein polynomials and the iterated operator, from values on a lattice.  Plain arrays; no data here.

B f(t) = sum_j f(j / k) b_kj(t) with b_kj(t) = C(k, j) t^j (1 - t)^(k - j), and of order h
    B_h = I - (I - B)^h = B (I + (I - P) + ... + (I - P)^(h - 1)),    P[i, j] = b_kj(i / k):
a polynomial whose coefficients are a linear function of the values.  |f - B_h f| = O(k^-h) for f with 2 h continuous
derivatives (Micchelli 1973; theory §8).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tacit.base.arrays import Array

MOST_KEPT = 2_000


def polynomials(degree: int, t: Array) -> Array:
    """Return b_kj(t), j from 0 to k, shape (places, k + 1); t in [0, 1].

    >>> polynomials(2, np.array([0.0, 0.5])).tolist()
    [[1.0, 0.0, 0.0], [0.25, 0.5, 0.25]]
    """
    # a row for each polynomial while they are made: each step reads and writes whole rows
    made, raised, rest = np.zeros((degree + 1, len(t))), np.empty((degree, len(t))), 1 - t
    made[0] = 1.0
    # of degree m from degree m - 1, by sums of positive terms
    for m in range(1, degree + 1):
        np.multiply(made[:m], t, out=raised[:m])
        made[: m + 1] *= rest
        made[1 : m + 1] += raised[:m]
    return np.ascontiguousarray(made.T)


@lru_cache(maxsize=64)
def iterated(degree: int, order: int) -> Array:
    """Return the matrix from lattice values to coefficients, shape (k + 1, k + 1); it keeps both ends as they are."""
    left = np.eye(degree + 1) - polynomials(degree, np.arange(degree + 1) / degree)
    power, total = np.eye(degree + 1), np.eye(degree + 1)
    for _ in range(order - 1):
        power = power @ left
        total = total + power
    total.setflags(write=False)
    return total


def weights(degree: int, order: int, t: Array) -> Array:
    """Return the weights of lattice values in B_h f(t), shape (places, k + 1)."""
    return np.asarray(_at(degree, t) @ iterated(degree, order))


def slopes(degree: int, order: int, t: Array) -> Array:
    """Return the weights of lattice values in the derivative of B_h f at t, shape (places, k + 1)."""
    return np.asarray(degree * _at(degree - 1, t) @ np.diff(iterated(degree, order), axis=0))


def _at(degree: int, t: Array) -> Array:
    """Orders, their differences and their errors are asked for at the same places, one after the other."""
    t = np.asarray(t, dtype=float)
    return polynomials(degree, t) if t.size > MOST_KEPT else _kept(degree, t.tobytes())


@lru_cache(maxsize=16)
def _kept(degree: int, t: bytes) -> Array:
    made = polynomials(degree, np.frombuffer(t))
    made.setflags(write=False)
    return made
