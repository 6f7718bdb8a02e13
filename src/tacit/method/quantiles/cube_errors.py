"""How far sampling and a joint selection of three steps move the rank of a quantile: public arithmetic.  No data here.

Of the forms "joint-4", "joint-3" and "joint-2", whose ends may be nearer; `joint_errors` is of the earliest, "joint".

Where rows are evenly spaced, the rank errors d1, d2, d3 of three steps selected together, in scales, have a density
proportional to exp(-g), g = max(|d1|, |d2|, |d3|) (`mechanism_joint_selection`): g is a Gamma variable of shape 3, and
the errors are spread over the surface of a cube.  Hence the marginal laws and moments below.  The term of rows that are
missing between the ends, which the selection of rows in a single cell has, makes errors of the ends toward each other a
little rarer: for these the laws are bounds.

>>> offset(0.5, 400, 0.001, 0.95), offset(0.5, 1_000_000, 1.0, 0.95)
(20, 980)
>>> round(beyond(5.18, 1e-6, 1.0), 3), round(beyond(1.96, 1.0, 1e-6), 3)
(0.025, 0.025)
>>> round(share_of_ends(1.0, 0.0, 1.0), 3), share_of_ends(1.0, 20.0, 39.0)
(0.667, 0.0)
"""

from __future__ import annotations

import math
from typing import Final

from tacit.method.quantiles.rank_errors import EDGE
from tacit.method.quantiles.together_errors import TogetherErrors

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
FARTHER: Final = {True: 13.0, False: 19.0}
"""Scales at which ends lie at least, at a level of 95%, so that a gap rarely draws all three steps (`far_offset`)."""
GAP_STEPS: Final = 2**12
"""Steps of the widest gap that is allowed for."""
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


LAW: Final = TogetherErrors(tail, tail, CELL, FARTHEST, HALVINGS, GAP, POINT, MIDDLE)
offset, beyond, share_of_ends = LAW.offset, LAW.beyond, LAW.share_of_ends
"""What follows from the law (`together_errors`)."""


def far_offset(p: float, size: float, scale: float, level: float, *, between: bool, steps: int = GAP_STEPS) -> int:
    """Return the offset c of the forms "joint-3" and "joint-4": that of "joint-2", and at least FARTHER scales.

    between: whether rows that are missing between the ends count.  steps: of the grid, of which no gap has more;
    "joint-3" takes them to be GAP_STEPS.  A gap of W steps has W**3 triples within it, against
    one of a heap beside it, and they are at a distance of 2 c where missing rows count, else of c and what the heap's
    edge is from the quantile: of W = 2**12 steps they are as likely as the heap's where 2 c, or so much, is
    3 log(W) = 25 scales.  Three steps in a gap are evenly spread in it, in order in one of six cases, and then no
    sign of it is left.  Of fewer steps, as a column of whole numbers between near bounds has, so many scales fewer as
    keep the chance; and the first and last rows, beyond which all steps are empty, are near from fewer scales on, in
    proportion to log(steps).  At other levels than 95%: so many scales more as make exp(-c) less by the factor of
    1 - level.

    >>> far_offset(0.5, 1_000, 5.0, 0.95, between=True), offset(0.5, 1_000, 5.0, 0.95)
    (65, 49)
    >>> far_offset(0.5, 1_000, 7.0, 0.95, between=True, steps=76), far_offset(0.5, 1_000, 7.0, 0.95, between=True)
    (56, 91)
    >>> far_offset(0.5, 10**6, 5.0, 0.95, between=False) == offset(0.5, 10**6, 5.0, 0.95)
    True
    """
    # W**3 exp(-2 c), or W**3 exp(-c), is that of GAP_STEPS
    fewer = 3 * math.log(max(GAP_STEPS / steps, 1.0)) / (2 if between else 1)
    scales = FARTHER[between] - fewer + math.log(0.05 / (1 - level))
    edge = EDGE * min(math.log(steps) / math.log(GAP_STEPS), 1.0)
    return max(offset(p, size, scale, level, edge), math.ceil(scales * scale))


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
