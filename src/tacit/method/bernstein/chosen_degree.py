"""The degree of a Bernstein polynomial where none is given: least expected error for a reference law.  No data here.

B_h F - F is about (-D)^h F / k^h with D F(t) = t (1 - t) F''(t) / 2 (Voronovskaya's theorem, h times), so that the bias
of an order depends on 2 h derivatives of F, which nobody knows beforehand.  The degree is for a normal law in the
middle of the range whose standard deviation is SPREAD of it: its bias is computed, not its leading term, which is far
too large for low degrees of high orders.  A wider law has less, a spike more.
"""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.bernstein.query import MOST_DEGREE
from tacit.method.shared.iterated_operator import weights
from tacit.privacy import Cost, noise_for

SPREAD: Final = 0.1
"""Standard deviation of the reference law, as part of the range: that of `kernel_density.cells`."""
DEGREES: Final = (2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256)
"""Degrees for which bias and noise are computed; others lie between."""
PLACES: Final = 65
"""Places of the range over which squared errors are averaged."""


def chosen_degree(order: int, rows: int, cost: Cost) -> int:
    """Return the degree of least mean squared error: bias for the reference law, and noise of the lattice.

    >>> chosen_degree(2, 1_000, Cost.of(rho="0.1")) < chosen_degree(2, 10_000, Cost.of(rho="0.1"))
    True
    """
    return DEGREES[0] + int(expected_errors(order, rows, cost).argmin())


def expected_errors(order: int, rows: int, cost: Cost) -> Array:
    """Return the mean squared errors of all degrees from 2 on: bias for the reference law, and noise of the lattice."""
    degrees = np.arange(DEGREES[0], MOST_DEGREE + 1)
    bias, spread = (np.exp(np.interp(np.log(degrees), np.log(DEGREES), one)) for one in _errors(order))
    noise = np.array([noise_for(k, k, cost).variance() for k in map(int, degrees)]) / float(max(rows, 1)) ** 2
    return bias + spread * noise


@lru_cache(maxsize=8)
def _errors(order: int) -> tuple[Array, Array]:
    """Return logarithms, by degree: the mean square of the bias, and the mean of the squared weights' sums."""
    law, t = NormalDist(0.5, SPREAD), (np.arange(PLACES) + 0.5) / PLACES
    true, made = np.array([law.cdf(x) for x in t]), list[tuple[float, float]]()
    for k in DEGREES:
        over = weights(k, order, t)
        values = over @ np.array([law.cdf(j / k) for j in range(k + 1)])
        # both ends have no noise
        made.append((float(((values - true) ** 2).mean()), float((over[:, 1:-1] ** 2).sum(axis=1).mean())))
    bias, spread = np.log(np.array(made)).T
    return bias, spread
