"""How far sampling and a joint selection of three steps move the rank of a quantile: public arithmetic.  No data here.

Of the form "joint", which releases have that were made before `cube_errors`: it serves to read them.

Where rows are evenly spaced, the rank errors d1, d2, d3 of three steps selected together, in scales, have a density
proportional to exp(-g), g = max(|d1|, |d2|, |d3|, d1 - d3) (`mechanism_joint_selection`, w = b): g is a Gamma variable
of shape 3, and the errors are spread over the surface of 7 volumes of a cube of side 1, the 8 of |di| <= 1 without
those where d1 - d3 > 1.  Hence the marginal laws and moments below.

>>> offset(0.5, 400, 0.001, 0.95), offset(0.5, 1_000_000, 1.0, 0.95)
(20, 980)
>>> round(beyond(4.65, 1e-6, 1.0), 3), round(beyond(1.96, 1.0, 1e-6), 3)
(0.025, 0.025)
>>> round(share_of_ends(1.0, 0.0, 1.0), 3), share_of_ends(1.0, 20.0, 39.0)
(0.644, 0.0)
"""

from __future__ import annotations

import math
from typing import Final

from tacit.method.quantiles.rank_errors import HALVINGS
from tacit.method.quantiles.together_errors import TogetherErrors

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


LAW: Final = TogetherErrors(toward, away, CELL, FARTHEST, HALVINGS, GAP, POINT, MIDDLE)
offset, beyond, share_of_ends = LAW.offset, LAW.beyond, LAW.share_of_ends
"""What follows from the law (`together_errors`)."""
