"""What clipping takes from residuals of normal errors, and the range that follows from it.  Public facts alone.

Where noise is most of the error of a regression, a narrower range of residuals is more precise: noise grows with it.
What a range clips is not noise, and standard errors allow for it as if it all had one sign (`estimate_clipping`): the
share of rows beyond the range times their mean excess moves the level, and SLOPE times as much a slope.  The range is
the one with the least of both, for normal errors.
"""

from __future__ import annotations

import math
from typing import Final

TAIL: Final = 0.45
"""Mean excess over the range, relative to it, that tails are taken to have at least."""
SLOPE: Final = 0.5
"""Change of the mean of what is clipped per standard deviation of a regressor, relative to its mean."""
RANGES: Final = (1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5)
"""Ranges among which one is chosen, in standard deviations of a residual; beyond, less than one row in 2,000 is."""


def noisy_range(rows: float, noise: float, size: int) -> float:
    """Return the range for a release in which noise is more than a third of the sampling error.

    noise: standard deviation of the noise in a sum of psi times a regressor of variance 1, as a part of the range.
    size: number of coefficients, of which one is the level.

    >>> noisy_range(1e3, 20, 2), noisy_range(5e4, 40, 11)
    (2.25, 3.25)
    """

    def error(range_: float) -> float:
        # of normal errors: the share beyond the range, times the excess that they are taken to have
        lost = math.erfc(range_ / math.sqrt(2)) * max(1.0, TAIL * range_)
        return (noise * range_ / rows) ** 2 + lost**2 * (SLOPE**2 + 1 / size)

    return min(RANGES, key=error)
