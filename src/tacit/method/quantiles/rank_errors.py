"""How far sampling and selection move the rank of a quantile: public arithmetic.  No data here.

Ranks are in rows (persons).  Where rows are close together on the grid a selection errs by about a Laplace variable of
scale `scale`, and the rank of the population's quantile among N rows is about normal with variance N p (1 - p).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, SupportsFloat

HALVINGS: Final = 60
"""Halvings of the search for an offset, whose relative error is then below that of a float."""
ORDER: Final = 4.25
"""Scales by which the errors of two selections together rarely differ: exp(-t) (2 + t) / 2 is 4.5% there."""
EDGE: Final = 24.0
"""Scales between a quantile and the nearer end of the rows at which its ends are selected one scale further out."""


def scale_of(parameters: Mapping[str, int], scale: SupportsFloat) -> float:
    """Return how many ranks change the probability of a selected step by a factor e.

    parameters: of the part.  scale: of its law, in units of utility, of which a rank has `denominator` (for persons in
    several cells: times `share`).

    >>> scale_of({"denominator": 4}, 24)
    6.0
    """
    return float(scale) / (parameters["denominator"] * parameters.get("share", 1))


def offset(p: float, size: float, scale: float, level: float) -> int:
    """Return c such that the rank of a quantile is beyond a step selected at p N + c with probability (1 - level) / 2.

    The rank is normal around p N and the error of the selection is Laplace of `scale`; c is rounded up to whole ranks.
    Near the first or last row up to two scales are added, since there the spacing of rows changes so fast that a
    selection errs by more on the side where they are sparse, and a gap between them may be near.
    size: N, or a released number; at least one row is assumed.  Of persons with weights w <= 1 in a cell, N their sum
    and q the quantile: the sum of w ([v <= q] - p) has mean 0 and a variance of at most E sum of w**2 ([v <= q] - p)**2
    <= E sum of w ([v <= q] - p)**2 = E N p (1 - p): the same, and a bound, attained where everybody is in one cell.
    Source: theory §1.5.

    >>> offset(0.5, 400, 0.001, 0.95), offset(0.5, 1, 100, 0.95)
    (20, 500)
    """
    rows = max(size, 1.0)
    deviation, miss = math.sqrt(rows * p * (1 - p)), (1 - level) / 2
    # the normal part is never as large, and the Laplace one is with probability `miss` / 2
    low, high = 0.0, 10.0 * deviation - math.log(miss) * scale
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle, deviation, scale) > miss else (low, middle)
    edge = EDGE * scale / (rows * min(p, 1 - p))
    return math.ceil(high + scale * min(2.0, edge * edge))


def share_of_ends(scale: float, reach: float) -> float:
    """Return the weight of the middle of both ends in a quantile's value, the rest being that of the step at p N.

    Where quantiles are linear in the rank, all three selections say where the quantile is.  In ranks the middle of the
    ends has variance scale**2 from selection, and reach / 2 from the spacings of the rows on either side, which are
    independent exponentials; the step at p N has 2 scale**2.  The weights minimise the variance of the sum.

    >>> share_of_ends(1.0, 0.0), round(share_of_ends(1.0, 40.0), 3)
    (0.6666666666666666, 0.087)
    """
    return 2 * scale**2 / (3 * scale**2 + reach / 2)


def slack(scale: float, reach: float) -> float:
    """Return by which part of the distance between the ends a value may lie beyond one of them.

    Where rows are evenly spaced, the errors of two selections are independent Laplace variables of `scale`, and the
    value lies beyond an end, `reach` ranks away, by more than y with probability exp(-t) (2 + t) / 4, t = (reach + y) /
    scale: for either end together less than 5% where t = ORDER.  The ends are then about 2 (reach - scale) ranks apart,
    fewer than 2 reach, since an end that the value passes is likely to be the nearer to it.

    >>> slack(1.0, 3.5), slack(1.0, 5.0), slack(1.0, 0.8)
    (0.15, 0.0, inf)
    """
    return max(0.0, ORDER * scale - reach) / (2 * (reach - scale)) if reach > scale else math.inf


def spread(p: float, half: float, rows: float) -> float:
    """Return the length between the ranks p `rows` - `half` and + `half` where values follow a logistic law of scale 1.

    So that widths are compared as widths of values, which grow faster than those of ranks toward either end of the
    rows.  No rank is nearer than half a row to the ends.

    >>> round(spread(0.5, 100, 1_000), 2), round(spread(0.9, 100, 1_000), 2), round(spread(0.5, 999, 1_000), 1)
    (0.81, 6.21, 15.2)
    """
    low, high = max(rows * p - half, 0.5), min(rows * p + half, rows - 0.5)
    return math.log(high / (rows - high)) - math.log(low / (rows - low)) if low < high else 0.0


def beyond(x: float, deviation: float, scale: float) -> float:
    """Return P(a normal + a Laplace error > x), x >= 0, of a standard deviation and a scale above 0.

    >>> round(beyond(1.96, 1.0, 1e-6), 4), round(beyond(math.log(20), 1e-6, 1.0), 4)
    (0.025, 0.025)
    """
    y, t = x / deviation, deviation / scale
    # Phi(-y), and the two exponentially tilted parts, written with erfcx so that no factor overflows
    bell = 0.5 * math.exp(-y * y / 2)
    outer = bell * scaled_tail(y + t)
    # where t < y the tilted part is 1 less its other tail, and its factor is at most exp(-t**2 / 2)
    inner = bell * scaled_tail(t - y) if t >= y else math.exp(t * t / 2 - x / scale) * normal_tail(t - y)
    return normal_tail(y) + (inner - outer) / 2


def normal_tail(y: float) -> float:
    """Return P(Z > y) of a standard normal Z."""
    return math.erfc(y / math.sqrt(2)) / 2


def scaled_tail(y: float) -> float:
    """Return 2 exp(y**2 / 2) P(Z > y) of a standard normal Z, y >= 0, to 1e-5 of itself.

    >>> round(scaled_tail(7.999) / scaled_tail(8.001), 3)
    1.0
    """
    if y < 8:
        return math.erfc(y / math.sqrt(2)) * math.exp(y * y / 2)
    # the asymptotic series of the tail [Abramowitz & Stegun 1972, 26.2.12]; its next term is below 105 / 8**8
    z = y * y
    return math.sqrt(2 / math.pi) / y * (1 - 1 / z + 3 / z**2 - 15 / z**3)
