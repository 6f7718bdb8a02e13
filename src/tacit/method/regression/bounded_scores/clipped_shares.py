"""What clipping takes from residuals of normal errors, and the range that follows from it.  Public facts alone.

Where noise is most of the error of a regression, a narrower range of residuals is more precise: noise grows with it.
What a range clips is not noise, and standard errors allow for it as if it all had one sign (`clipping_bias`): the
share of rows beyond the range times their mean excess moves the level, and SLOPE times as much a slope.  The range is
the one with the least of both, for normal errors.  A shift of the level shows in the mean residual, which the column
moments tell with noise of their own: what they leave of it is counted (`shown`); of slopes they tell nothing.  The
allowance is for errors whose tails go one way, and is counted for WORTH of its square beside what noise does to every
release.
"""

from __future__ import annotations

import math
from typing import Final

TAIL: Final = 0.45
"""Mean excess over the range, relative to it, that tails are taken to have at least."""
SLOPE: Final = 0.5
"""Change of the mean of what is clipped per standard deviation of a regressor, relative to its mean."""
UNSEEN: Final = 0.2
"""The least part of what clipping may take that is allowed for, whatever the level shows."""
WORTH: Final = 0.5
"""Weight of the allowance for clipping against noise and sampling, as squares."""
RANGES: Final = (1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5)
"""Ranges among which one is chosen, in standard deviations of a residual; beyond, less than one row in 2,000 is."""


def shown(shift: float, level: float) -> float:
    """Return the standard deviation of a shift whose own was `shift`, once it is seen with noise `level`.

    >>> round(shown(0.3, 0.4), 2), shown(0.3, math.inf), shown(0.0, 0.0)
    (0.24, 0.3, 0.0)
    """
    return shift if not shift or math.isinf(level) else shift * level / math.hypot(shift, level)


def usual_share(range_: float) -> float:
    """Return the share of rows beyond so many standard deviations: that of normal errors, or of tails as TAIL has them.

    Of a Pareto law of index a = 1 + 1 / TAIL on one side, whose mean excess over x is TAIL x.

    >>> round(usual_share(1.25), 2), round(usual_share(3), 3), round(usual_share(10), 5)
    (0.21, 0.016, 0.00092)
    """
    index = 1 + 1 / TAIL
    # of least value 1: mean a / (a - 1), and standard deviation
    mean = index / (index - 1)
    sd = math.sqrt(index / (index - 2)) / (index - 1)
    return max(math.erfc(range_ / math.sqrt(2)), (mean + range_ * sd) ** -index)


def noisy_range(rows: float, noise: float, size: int, level: float = math.inf) -> float:
    """Return the range for a release in which noise is more than a third of the sampling error.

    noise: standard deviation of the noise in a sum of psi times a regressor of variance 1, as a part of the range.
    size: number of coefficients, of which one is the level.  level: standard deviation of the noise in the mean
    residual that column moments tell, in standard deviations of a residual.

    >>> noisy_range(1e3, 20, 2), noisy_range(1e3, 20, 2, 0.1), noisy_range(5e4, 40, 11)
    (2.25, 2.25, 3.25)
    """

    def error(range_: float) -> float:
        # of normal errors: the share beyond the range, times the excess that they are taken to have
        beyond = math.erfc(range_ / math.sqrt(2))
        lost = beyond * max(1.0, TAIL * range_)
        # the mean residual tells of the level, and nothing of slopes
        seen = shown(lost, level)
        # E psi**2 of normal errors; steps are longer by the share that is not clipped
        square = 1 - beyond - range_ * math.sqrt(2 / math.pi) * math.exp(-(range_**2) / 2) + range_**2 * beyond
        made = ((noise * range_) ** 2 / rows + square) / rows / (1 - beyond) ** 2
        return made + WORTH * ((SLOPE * lost) ** 2 + seen**2 / size)

    return min(RANGES, key=error)
