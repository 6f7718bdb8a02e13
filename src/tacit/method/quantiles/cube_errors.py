"""How far sampling and a joint selection of three steps move the rank of a quantile: public arithmetic.  No data here.

Of the form "joint-2"; `joint_errors` is of the form that earlier releases have, "joint".

Where rows are evenly spaced, the rank errors d1, d2, d3 of three steps selected together, in scales, have a density
proportional to exp(-g), g = max(|d1|, |d2|, |d3|) (`mechanism_joint_selection`): g is a Gamma variable of shape 3, and
the errors are spread over the surface of a cube.  Hence the marginal laws and moments below.  The term of rows that are
missing between the ends, which the selection of rows in a single cell has, makes errors of the ends toward each other a
little rarer: for these the laws are bounds.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import Final

from tacit.method.quantiles.rank_errors import EDGE, normal_tail

CELL: Final = 0.2
"""Width, in scales, of the cells into which the law of an end's error is divided."""
FARTHEST: Final = 20
"""Scales to which it is: beyond them is less than 1e-7."""
HALVINGS: Final = 30
"""Halvings of the search for an offset, which is then rounded up to whole ranks."""
GAP: Final = 4.0
"""Scales from which a gap may draw an end, at a level of 95%; what it draws still, uneven steps tell (`least_part`)."""
POINT: Final = 20 / 3
"""Variance of each error, in squared scales: 20, the mean square of a Gamma variable of shape 4, over 3."""
MIDDLE: Final = 10 / 3
"""That of the middle of both ends, whose errors are uncorrelated."""
LARGEST_PART: Final = 0.3
"""Largest part of the distance of the ends that the value must leave to either of them: rows may be spaced unevenly."""
RARE: Final = 1.96
"""Standard deviations by which the place of the value between the ends is seldom off: 5% of a normal law."""


def tail(x: float) -> float:
    """Return the probability that the error of an end is above x >= 0 scales, or below -x.

    The integral of exp(-r) over r of the volume of {g <= r, d1 > x}, 4 r**2 (r - x), divided by 48.

    >>> tail(0), round(tail(5.04), 3)
    (0.5, 0.028)
    """
    return math.exp(-x) * (6 + 4 * x + x * x) / 12


def offset(p: float, size: float, scale: float, level: float) -> int:
    """Return c such that the rank of a quantile is beyond a step selected for p N + c with probability (1 - level) / 2.

    The rank is normal around p N, as in `rank_errors.offset`, and the error of the step has the law above.
    At least so far, too, that a gap next to the quantile is rarely nearer to an end than GAP scales, and near the first
    or last row up to six scales further, as in `joint_errors.offset`.

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
    """Return P(a normal error + an end's error > x), of a standard deviation and a scale above 0.

    >>> round(beyond(5.18, 1e-6, 1.0), 3), round(beyond(1.96, 1.0, 1e-6), 3)
    (0.025, 0.025)
    """
    return sum(mass * normal_tail((x - at * scale) / deviation) for at, mass in _masses())


@lru_cache(maxsize=1)
def _masses() -> tuple[tuple[float, float], ...]:
    """Return the middles of cells of an end's error, in scales, with their probabilities."""
    edges = [CELL * i for i in range(round(FARTHEST / CELL) + 1)]
    found = [((low + high) / 2, tail(low) - tail(high)) for low, high in pairwise(edges)]
    return tuple((sign * at, mass) for at, mass in found for sign in (1, -1))


def least_part(scale: float, reach: float) -> float:
    """Return the part of the distance between the ends that the value leaves to either of them, if rows are even.

    In ranks the ends are about 2 c = 2 `reach` apart, and the value errs from their middle with variance (POINT +
    MIDDLE) scale**2, by selection, and c / 2, by the spacings of 2 c rows on either side.  Below 0: the value may lie
    so far beyond an end.

    >>> round(least_part(1.0, 8.0), 3), round(least_part(1.0, 12.0), 3), least_part(0.001, 400.0)
    (0.042, 0.173, 0.3)
    """
    if reach <= 0:
        return -math.inf
    deviation = math.sqrt((POINT + MIDDLE) * scale**2 + reach / 2) / (2 * reach)
    return min(LARGEST_PART, 0.5 - RARE * deviation)


def share_of_ends(scale: float, reach: float, beyond: float) -> float:
    """Return the weight of the middle of both ends in a quantile's value, as `joint_errors.share_of_ends`.

    >>> round(share_of_ends(1.0, 0.0, 1.0), 3), share_of_ends(1.0, 20.0, 39.0)
    (0.667, 0.0)
    """
    if 2 * reach > beyond:
        return 0.0
    return POINT * scale**2 / ((POINT + MIDDLE) * scale**2 + reach / 2)
