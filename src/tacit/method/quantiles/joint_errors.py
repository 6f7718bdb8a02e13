"""How far sampling and a joint selection of three steps move the rank of a quantile: public arithmetic.  No data here.

Of the form "joint", which releases have that were made before `cube_errors`: it serves to read them.

Where rows are evenly spaced, the rank errors d1, d2, d3 of three steps selected together, in scales, have a density
proportional to exp(-g), g = max(|d1|, |d2|, |d3|, d1 - d3) (`mechanism_joint_selection`, w = b): g is a Gamma variable
of shape 3, and the errors are spread over the surface of 7 volumes of a cube of side 1, the 8 of |di| <= 1 without
those where d1 - d3 > 1.  Hence the marginal laws and moments below.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import Final

from tacit.method.quantiles.rank_errors import EDGE, HALVINGS, normal_tail

CELL: Final = 0.1
"""Width, in scales, of the cells into which the law of an end's error is divided."""
FARTHEST: Final = 40
"""Scales to which it is: beyond them is less than exp(-30)."""
GAP: Final = 7.0
"""Scales from which a gap may draw an end, at a level of 95%: it has about exp(GAP) times the steps of a scale."""
POINT: Final = 20 / 3
"""Variance of the point's error, in squared scales: 20, the mean square of a Gamma variable of shape 4, over 3."""
MIDDLE: Final = 310 / 84
"""That of the middle of both ends: 20 times the half of 13/42 + 5/84, the moments of (d1, d3) uniform in g <= 1."""


def toward(x: float) -> float:
    """Return the probability that an end errs by more than x >= 0 scales toward the point.

    The integral of exp(-r) over r of the volume of {g <= r, d1 > x}, 3 r**3 - 4 r**2 x + r x**2, divided by 42.

    >>> round(toward(0), 4), round(toward(4.65), 3)
    (0.4286, 0.025)
    """
    return math.exp(-x) * (18 + 10 * x + 2 * x * x) / 42


def away(x: float) -> float:
    """Return the probability that an end errs by more than x >= 0 scales away from the point.

    >>> away(0) + toward(0)
    1.0
    """
    return math.exp(-x) * (24 + 16 * x + 4 * x * x) / 42


def offset(p: float, size: float, scale: float, level: float) -> int:
    """Return c such that the rank of a quantile is beyond a step selected for p N + c with probability (1 - level) / 2.

    The rank is normal around p N, as in `rank_errors.offset`, and the error of the step has the law above.
    At least so far, too, that a gap next to the quantile is rarely nearer to an end than GAP scales (at other levels
    than 95%: so many more as make exp(-GAP) less by the same factor as 1 - level): the quantile's rank is that of the
    gap's edge, and is so far beyond p N with probability 1 - level.
    Near the first or last row up to six scales are added, as many as for three selections of their own.

    >>> offset(0.5, 400, 0.001, 0.95), offset(0.5, 1_000_000, 1.0, 0.95)
    (20, 980)
    """
    rows, miss = max(size, 1.0), (1 - level) / 2
    deviation = math.sqrt(rows * p * (1 - p))
    gap = GAP + math.log(0.05 / (1 - level))
    apart = NormalDist().inv_cdf(level) * deviation + max(gap, 0.0) * scale
    edge = 3 * EDGE * scale / (rows * min(p, 1 - p))
    return math.ceil(max(_reach(deviation, scale, miss), apart) + scale * min(6.0, edge * edge))


@lru_cache(maxsize=1024)
def _reach(deviation: float, scale: float, miss: float) -> float:
    """Return x such that a normal and an end's error together are beyond x with probability `miss`."""
    low, high = 0.0, 10.0 * deviation + FARTHEST * scale
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle, deviation, scale) > miss else (low, middle)
    return high


def beyond(x: float, deviation: float, scale: float) -> float:
    """Return P(a normal error + an end's error toward the point > x), of a standard deviation and a scale above 0.

    >>> round(beyond(4.65, 1e-6, 1.0), 3), round(beyond(1.96, 1.0, 1e-6), 3)
    (0.025, 0.025)
    """
    return sum(mass * normal_tail((x - at * scale) / deviation) for at, mass in _masses())


@lru_cache(maxsize=1)
def _masses() -> tuple[tuple[float, float], ...]:
    """Return the middles of cells of an end's error, in scales, with their probabilities."""
    edges = [CELL * i for i in range(round(FARTHEST / CELL) + 1)]
    found: list[tuple[float, float]] = []
    for low, high in pairwise(edges):
        found += [((low + high) / 2, toward(low) - toward(high)), (-(low + high) / 2, away(low) - away(high))]
    return tuple(found)


def share_of_ends(scale: float, reach: float, beyond: float) -> float:
    """Return the weight of the middle of both ends in a quantile's value, as `rank_errors.share_of_ends`.

    beyond: number of rows between the quantile and the nearer end of all rows; where an end is more than half so far
    away it is among sparse rows, or may lie beyond them all, and says nothing of the quantile.

    >>> round(share_of_ends(1.0, 0.0, 1.0), 3), share_of_ends(1.0, 20.0, 39.0)
    (0.644, 0.0)
    """
    if 2 * reach > beyond:
        return 0.0
    return POINT * scale**2 / ((POINT + MIDDLE) * scale**2 + reach / 2)
