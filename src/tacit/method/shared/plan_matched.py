"""Laws of a column of which quantiles are told: moved until they have them, between two of them as each law lies.

A past release, a census table or a published histogram tells quantiles.  Between two of them a law keeps its shape;
below the first and above the last it goes on as steeply as beside them.  A law that has to be moved much counts less.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.shared.plan_shapes import POINTS, Laws, P, laws_of

Told = tuple[tuple[float, float], ...]
"""Probabilities and quantiles on [0, 1], in rising order; equal ones say that many values are there."""
SLACK: Final = 0.5
"""Standard deviation of the logarithm by which a part of a law between two quantiles may be longer or shorter."""
PLAIN: Final = 0.25
"""Weight of the law that is even between two quantiles, beside all others together."""


@lru_cache(maxsize=256)
def matched(mean: float, sd: float, told: Told) -> Laws:
    """Return laws that have these quantiles, made of those that have the mean and the standard deviation.

    >>> made = matched(0.3, 0.1, ((0.25, 0.2), (0.5, 0.28), (0.75, 0.4)))
    >>> np.round(made.at(np.array([0.25, 0.5, 0.75])).std(axis=0), 3).tolist()
    [0.0, 0.0, 0.0]
    """
    even, base = between(told), laws_of(mean, sd)
    if base is None:
        return Laws(even[None], np.ones(1))
    made = [_moved(one, told) for one in base.quantiles]
    fits = np.array([-sum(one**2 for one in off) / (2 * SLACK**2) for _, off in made])
    weights = base.weights * np.exp(fits - fits.max())
    each = np.append(weights / weights.sum(), PLAIN)
    return Laws(np.stack([*(one for one, _ in made), even]), each / each.sum())


def between(told: Told) -> Array:
    """Return the quantiles at P of a law that is even between those told, with exponential tails.

    >>> round(float(np.interp(0.4, P, between(((0.25, 0.2), (0.75, 0.4))))), 2)
    0.26
    """
    p, q = (np.array(one) for one in zip(*told, strict=True))
    made = np.interp(P, p, q)
    first, last = ((q[i] - q[j]) / (p[i] - p[j]) for i, j in ((1, 0), (-1, -2))) if len(p) > 1 else (0.0, 0.0)
    made = np.where(p[0] > P, q[0] + first * p[0] * np.log(np.maximum(P, 1e-9) / p[0]), made)
    made = np.where(p[-1] < P, q[-1] - last * (1 - p[-1]) * np.log((1 - P) / (1 - p[-1])), made)
    return np.clip(made, 0.0, 1.0)


def _moved(law: Array, told: Told) -> tuple[Array, list[float]]:
    """Return a law moved to quantiles, and the logarithms of how much longer its parts between them have become."""
    p, q = (np.array(one) for one in zip(*told, strict=True))
    own = np.interp(p, P, law)
    made, off = np.empty(POINTS), list[float]()
    scales = list[float]()
    for i in range(len(p) - 1):
        inside = (p[i] <= P) & (p[i + 1] >= P)
        old, new = own[i + 1] - own[i], q[i + 1] - q[i]
        scales.append(new / old if old > 0 else 1.0)
        part = (law[inside] - own[i]) / old if old > 0 else (P[inside] - p[i]) / (p[i + 1] - p[i])
        made[inside] = q[i] + new * part
        off.append(math.log(new / old) if new > 0 and old > 0 else 0.0)
    low, high = p[0] > P, p[-1] < P
    ends = (scales[0], scales[-1]) if scales else (1.0, 1.0)
    made[low] = q[0] - _stretched(own[0] - law[low], ends[0], q[0])
    made[high] = q[-1] + _stretched(law[high] - own[-1], ends[1], 1 - q[-1])
    return np.clip(np.maximum.accumulate(made), 0.0, 1.0), off


def _stretched(tail: Array, times: float, room: float) -> Array:
    """Return distances of a tail, so many times as far, and none beyond the bound."""
    far = float(tail.max(initial=0.0))
    return tail * (min(times, room / far) if far > 0 else times)
