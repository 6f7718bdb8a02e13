"""How far a row's vector may reach before it is shortened, and what shortening does to sums.  Public facts alone.

A vector v of variance 1 on every axis counts as w v, w = min(1, C / |v|).  Sums of psi w v then tell A of what sums of
psi v would, and sums of w**2 v v' tell B, for a vector of which one entry is the constant and the others are normal:
    A = E[w |v|**2] / m,       B = E[w**2 |v|**2] / m,       |v|**2 = 1 + chi-squared with m - 1 degrees of freedom.
A long reach costs noise in proportion to C; a short one costs information.  With tau**2 the variance of the noise in a
sum of psi w v for C = 1, relative to that of the sum itself for rows that are whole, an estimate has the variance
    (B + tau**2 C**2) / A**2
times that of whole rows, and the reach with the least is taken, between the bounds ROOMS: shorter ones would rely on
rows being as normal ones are, and longer ones would do next to nothing.

Of a regressor with heavy tails shortened rows keep less.  How heavy they are is seen in the part of products: its rows
reach far, and yet it finds less than the column's own variance, tau of it.  Compared with what the part of products
finds, sums of psi w v then keep about 1 - HEAVY (1 - tau), at the least room, times what those of normal regressors do,
and sums of w**2 v v' the square of this factor (`tests/mechanisms/test_row_reach.py`).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

from tacit.base.arrays import Array

ROOM: Final = 2.0
"""Standard deviations by which a vector's norm may exceed the root of its mean square, where noise is no matter."""
ROOMS: Final = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, ROOM)
"""Those among which scores choose."""
LONGER: Final = (2.5, 3.0, 4.0, 6.0)
"""Longer ones, for means of a response that may not be linear far out (`far_rows`)."""
SCORE_SQUARE: Final = 0.2
"""About the mean square of a score within [-1, 1]: of a binary response, and of residuals clipped at 2.2 deviations."""
HEAVY: Final = 0.6
"""Part of what far rows lose in the part of products by which sums of psi v lose more than of normal regressors."""
HEAVIEST: Final = 0.75
"""Least tau that is believed: less is mostly noise."""
MOSTLY_NOISE: Final = 2.0
"""Noise in a variance, relative to it, from which the variance is set by the noise (`released_columns`)."""
QUANTILES: Final = 1024
"""Points at which the law of a norm is evaluated."""


def chosen_room(common: float, rare: float, noise: float, rows: float) -> float:
    """Return the room of a part of scores.

    common: mean square of the norm of a row's vector, rare levels aside; rare: what these may add to it.  noise:
    standard deviation of the noise in a sum of psi v, in units of the largest |psi| and of C.

    >>> chosen_room(4, 0, 5.0, 1e9), chosen_room(4, 0, 5.0, 1e3)
    (2.0, 0.5)
    """
    relative = noise**2 / (max(rows, 1.0) * SCORE_SQUARE)

    def variance(room: float) -> float:
        # rows of a rare level have no more room than the others: what these lose stands for both
        a, b = shortening(common, 0.0, room)
        return (b + relative * far(common, rare, room) ** 2) / a**2

    # the longest of those that are alike
    return min(reversed(ROOMS), key=variance)


def room_of_products(common: float, rare: float, noise: float, rows: float) -> float:
    """Return the room of the part of products: where the noise in them, and half of what they lose, are least together.

    common, rare: as for scores, the response included.  noise: standard deviation of the noise in a sum of products, in
    units of C**2.  The half is what differs between products; what they lose alike is told by that
    of the constant with itself.

    >>> room_of_products(5, 0, 5.0, 1e6), room_of_products(5, 0, 5.0, 300)
    (2.0, 0.5)
    """

    def error(room: float) -> float:
        lost = 1 - shortening(common, 0.0, room)[1]
        return (lost / 2) ** 2 + (noise * far(common, rare, room) ** 2 / max(rows, 1.0)) ** 2

    return min(reversed(ROOMS), key=error)


def far(common: float, rare: float, room: float) -> float:
    """Return C in standard deviations: rows of a rare level have room for it beside what all rows have."""
    return math.hypot(math.sqrt(common) + room, math.sqrt(rare))


def tail_factor(tau: float, longer: float, doubt: float) -> float:
    """Return how much less is kept of a regressor that keeps tau of its variance in the part of products.

    longer: C less the root of the mean square of a row without a rare level.  doubt: standard deviation of the noise in
    that variance, relative to it.

    >>> tail_factor(1.2, 0.5, 0), tail_factor(0.8, 0.5, 0), tail_factor(0.1, 0.5, 0) == tail_factor(HEAVIEST, 0.5, 0)
    (1.0, 0.88, True)
    >>> tail_factor(0.8, 0.5, MOSTLY_NOISE)
    1.0
    """
    # a variance set by its noise is too large, so that tau is small whatever the tails are
    known = min(max(MOSTLY_NOISE - doubt, 0.0), 1.0)
    # at ROOM both parts reach as far, and the factor is 1
    part = HEAVY * min(max((ROOM - longer) / (ROOM - ROOMS[0]), 0.0), 1.0)
    return 1 - part * known * (1 - min(max(tau, HEAVIEST), 1.0))


def as_found(kept: tuple[float, float], found: float) -> tuple[float, float]:
    """Return A and B of rows of which B was found to be at least that of normal ones, so that they lose less.

    >>> as_found((0.95, 0.9), 0.8), tuple(round(x, 3) for x in as_found((0.95, 0.9), 0.98))
    ((0.95, 0.9), (0.99, 0.98))
    """
    a, b = kept
    more = min(max(found, b), 1.0)
    return (a + (1 - a) * (more - b) / (1 - b), more) if b < 1 else kept


@lru_cache(maxsize=4096)
def shortening(common: float, rare: float, room: float) -> tuple[float, float]:
    """Return A and B of rows without a rare level.

    >>> tuple(round(x, 2) for x in shortening(4, 0, 0.5)), tuple(round(x, 2) for x in shortening(4, 0, 2.0))
    ((0.95, 0.91), (1.0, 1.0))
    """
    square, w = _norms(common, rare, room)
    return float((w * square).mean() / square.mean()), float((w**2 * square).mean() / square.mean())


@lru_cache(maxsize=4096)
def constant_left(common: float, rare: float, room: float, more: float = 0.0) -> float:
    """Return E[w**2], which sums of w**2 v v' tell of the constant, of rows without a rare level.

    more: by how much weights of rows make the mean of |v|**2 larger.

    >>> round(constant_left(4, 0, 0.5), 2), round(constant_left(4, 0, 2.0), 2), round(constant_left(4, 0, 0.5, 1), 2)
    (0.97, 1.0, 0.94)
    """
    return float((_norms(common, rare, room, more)[1] ** 2).mean())


def _norms(common: float, rare: float, room: float, more: float = 0.0) -> tuple[Array, Array]:
    """Return |v|**2 and w at QUANTILES points of their law, of rows without a rare level."""
    from scipy.special import gammaincinv  # pyright: ignore

    if common <= 1:
        return np.ones(1), np.ones(1)
    places = (np.arange(QUANTILES) + 0.5) / QUANTILES
    # quantiles of a chi-squared law
    square = 1 + 2 * np.asarray(gammaincinv((common + more - 1) / 2, places), dtype=np.float64)
    return square, np.minimum(1.0, far(common, rare, room) / np.sqrt(square))
