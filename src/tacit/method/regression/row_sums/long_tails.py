"""How much of a regressor's variance lies in rows that are shortened, as far as products tell.  Public facts alone.

Sums of psi w v, w = min(1, C / |v|), have a regressor's slope as rows within reach have it.  What rows further out say
is released by no vector.  How much they count in a fit to whole rows is seen, though: the column's own variance is that
of whole rows, and products of shortened rows find a part tau of it.

A regressor of variance 1 is taken to be (exp(s z) - mean) / sd, z normal, and its vector's other entries to be normal:
s = 0 is a normal one, s = .5 about an exponential one, s = 1 has the tail of incomes; or to be uniform.  Each says how
much products of rows within their reach find, and how much scores within theirs keep; other laws that lose as much of
the former lose about as much of the latter (`tests/mechanisms/test_far_rows.py`).  s has an exponential prior, and the
noise in tau leaves it a posterior.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from tacit.base.arrays import Array

SHORT: Final = -0.1
"""What stands for a uniform regressor among values of s: it has no tail."""
TAILS: Final[Array] = np.append([SHORT, 0.01], np.arange(1, 16) / 10)
"""Values of s that are looked at."""
USUAL: Final = 0.35
"""Mean of s before anything is known."""
WIDEST: Final = 9.0
"""Standard normal numbers beyond which no z is looked at: exp(2 s z) has its weight at z = 2 s."""
WITHOUT: Final = 0.1
"""Largest part of its variance that a law may have outside of a column's bounds to be believed."""
LEAST_NOISE: Final = 0.02
"""Least standard deviation of tau: laws of other shapes that lose as much are as far off."""
PLACES: Final = 12
"""Points at which the law of the other entries is evaluated."""


@dataclass(frozen=True)
class LongTail:
    """What is known of a regressor's tail: the posterior weights of TAILS, shape (17,)."""

    weights: Array

    def lost(self, norm: float, reach: float) -> float:
        """Return the root mean square of the part of the variance that scores lose; norm, reach: of their vectors."""
        return math.sqrt(float(self.weights @ (1 - kept_shares(norm, reach)) ** 2))

    def found(self, norm: float, reach: float) -> float:
        """Return the mean of the part that products find of it, relative to what they find of the constant."""
        return float(self.weights @ _found(norm, reach))


def tail_of(tau: float, noise: float, norm: float, reach: float, most: float = math.inf) -> LongTail:
    """Return what products, and a column's bounds, tell of a tail.

    tau: what they find of the variance, relative to what they find of the constant, with `noise`.  norm, reach: the
    mean square of the norm of their vectors, rare levels aside, and their reach.  most: how far from its mean the
    regressor may lie within its bounds, in standard deviations.

    >>> [round(tail_of(tau, 0.01, 4, 4.0).lost(3, 3.7), 2) for tau in (1.0, 0.9, 0.66)]
    [0.01, 0.07, 0.26]
    """
    away = (_found(norm, reach) - tau) / math.hypot(noise, LEAST_NOISE)
    log = -np.maximum(TAILS, 0.0) / USUAL - away**2 / 2
    # laws that do not fit within the bounds
    log = np.where((_beyond(most) <= WITHOUT) | (TAILS < 0), log, -np.inf)
    weight = np.exp(log - log.max())
    return LongTail(np.asarray(weight / weight.sum(), dtype=np.float64))


def _beyond(most: float) -> Array:
    """Return the part of the variance of each s that lies further than `most` from the mean."""
    square, density = squares_of_laws()
    return np.asarray((density * square * (square > most**2)).sum(axis=1))


@lru_cache(maxsize=512)
def _found(norm: float, reach: float) -> Array:
    """Return tau of each s: what sums of w**2 x**2 find, over those of w**2."""
    square, w, weight = _rows(norm, reach)
    return np.asarray((weight * w**2 * square).sum(axis=(1, 2)) / (weight * w**2).sum(axis=(1, 2)))


@lru_cache(maxsize=512)
def kept_shares(norm: float, reach: float) -> Array:
    """Return what sums of w x**2 keep, of each s."""
    square, w, weight = _rows(norm, reach)
    whole = PLACES * (weight * square).sum(axis=(1, 2))
    return np.asarray((weight * w * square).sum(axis=(1, 2)) / whole)


def _rows(norm: float, reach: float) -> tuple[Array, Array, Array]:
    """Return x**2, w and the weight of points, which broadcast to (values of s, points of z, of the others)."""
    from scipy.special import gammaincinv  # pyright: ignore

    squares, density = squares_of_laws()
    square = squares[:, :, None]
    places = (np.arange(PLACES) + 0.5) / PLACES
    # of the constant 1, of the regressor 1 on average
    rest = max(norm - 2, 0.0)
    others = np.zeros(PLACES)
    if rest:
        others = 2 * np.asarray(gammaincinv(rest / 2, places), dtype=np.float64)
    w = np.minimum(1.0, reach / np.sqrt(1 + square + others))
    return square, w, density[None, :, None] / PLACES


@lru_cache(maxsize=1)
def squares_of_laws() -> tuple[Array, Array]:
    """Return x**2 at points of z, of each s, and the weights of these points."""
    from scipy.special import ndtr  # pyright: ignore

    z = np.linspace(-WIDEST, WIDEST, 145)
    density = np.exp(-(z**2) / 2)
    s = np.maximum(TAILS, 0.01)[:, None]
    mean, sd = np.exp(s**2 / 2), np.exp(s**2 / 2) * np.sqrt(np.expm1(s**2))
    square = ((np.exp(s * z) - mean) / sd) ** 2
    square[TAILS < 0] = 3 * (2 * np.asarray(ndtr(z), dtype=np.float64) - 1) ** 2
    return square, density / density.sum()
