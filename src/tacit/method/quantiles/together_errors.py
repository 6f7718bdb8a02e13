"""What a law of the errors of three steps selected together tells of a quantile: public arithmetic.  No data here.

`cube_errors` and `joint_errors` have the two laws: of the form that is released, and of the one of earlier releases.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist

from tacit.method.quantiles.rank_errors import EDGE, normal_tail


@dataclass(frozen=True, eq=False)
class TogetherErrors:
    """A law of the rank errors of three steps, in scales, and what follows from it.

    toward, away: the probabilities that an end errs by more than x >= 0 scales toward the point, and away from it.
    cell, farthest: into cells of this width the law of an end's error is divided, up to so many scales.
    halvings: of the search for an offset, which is then rounded up to whole ranks.
    gap: scales from which a gap may draw an end, at a level of 95%.
    point, middle: variances of the point's error and of the middle of both ends, in squared scales.
    """

    toward: Callable[[float], float]
    away: Callable[[float], float]
    cell: float
    farthest: float
    halvings: int
    gap: float
    point: float
    middle: float

    def offset(self, p: float, size: float, scale: float, level: float, edge: float = EDGE) -> int:
        """Return c such that a quantile's rank is beyond a step selected for p N + c with probability (1 - level) / 2.

        The rank is normal around p N, as in `rank_errors.offset`, and the error of the step has this law.
        At least so far, too, that a gap next to the quantile is rarely nearer to an end than `gap` scales (at other
        levels than 95%: so many more as make exp(-gap) less by the same factor as 1 - level): the quantile's rank is
        that of the gap's edge, and is so far beyond p N with probability 1 - level.
        Near the first or last row, within about `edge` scales, up to six scales are added, as many as for three
        selections of their own.
        """
        rows, miss = max(size, 1.0), (1 - level) / 2
        deviation = math.sqrt(rows * p * (1 - p))
        gap = self.gap + math.log(0.05 / (1 - level))
        apart = NormalDist().inv_cdf(level) * deviation + max(gap, 0.0) * scale
        near = 3 * edge * scale / (rows * min(p, 1 - p))
        return math.ceil(max(_reach(self, deviation, scale, miss), apart) + scale * min(6.0, near * near))

    def beyond(self, x: float, deviation: float, scale: float) -> float:
        """Return P(a normal error + an end's error toward the point > x); deviation, scale: above 0."""
        return sum(mass * normal_tail((x - at * scale) / deviation) for at, mass in _masses(self))

    def share_of_ends(self, scale: float, reach: float, beyond: float) -> float:
        """Return the weight of the middle of both ends in a quantile's value, as `rank_errors.share_of_ends`.

        beyond: number of rows between the quantile and the nearer end of all rows; where an end is more than half so
        far away it is among sparse rows, or may lie beyond them all, and says nothing of the quantile.
        """
        if 2 * reach > beyond:
            return 0.0
        return self.point * scale**2 / ((self.point + self.middle) * scale**2 + reach / 2)


@lru_cache(maxsize=1024)
def _reach(law: TogetherErrors, deviation: float, scale: float, miss: float) -> float:
    """Return x such that a normal and an end's error together are beyond x with probability `miss`."""
    low, high = 0.0, 10.0 * deviation + law.farthest * scale
    for _ in range(law.halvings):
        middle = (low + high) / 2
        low, high = (middle, high) if law.beyond(middle, deviation, scale) > miss else (low, middle)
    return high


@lru_cache(maxsize=2)
def _masses(law: TogetherErrors) -> tuple[tuple[float, float], ...]:
    """Return the middles of cells of an end's error, in scales, with their probabilities."""
    edges = [law.cell * i for i in range(round(law.farthest / law.cell) + 1)]
    found: list[tuple[float, float]] = []
    for low, high in pairwise(edges):
        found += [((low + high) / 2, law.toward(low) - law.toward(high))]
        found += [(-(low + high) / 2, law.away(low) - law.away(high))]
    return tuple(found)
