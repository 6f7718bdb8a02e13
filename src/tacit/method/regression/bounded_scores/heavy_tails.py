"""How far residuals are to count where the response has a heavy tail on one side, as a release tells it.  Public facts.

With Y the response less its mean over its standard deviation, both released before, and q the rounded
c (Y + FAR) / (2 FAR), clamped to -c, ..., c, floor(q / c) is 1 where Y is FAR or more, -1 where Y is below -FAR, and
else 0.  Its sum S tells a skewed tail whatever the bounds of the response are; of symmetric errors it is 0, and their
clipping biases nothing.

Tails are taken to be of a Pareto law: the mean excess over a range r is TAIL r, and what clipping at r takes from the
level, per row, is lost(r) = TAIL FAR S / n (FAR / r)**(1 / TAIL).  Exponential errors, for which the ordinary range is
made, have S = n exp(-1 - FAR), which is subtracted, and so is one standard deviation of the noise in S.  Where S is
within LIKELY of these there is no tail, lest noise widens the range of ordinary errors.  The range is the one where
noise in a sum of scores and what is lost are least together:
    (noise r / n)**2 + CARE lost(r)**2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from tacit.method.regression.bounded_scores.clipped_shares import TAIL

FAR: Final = 6
"""Standard deviations from the response's mean from which on a response is far."""

CARE: Final = 2.0
"""How much more the square of what is lost counts than that of noise: intervals know the noise better."""
LIKELY: Final = 2.5
"""Standard deviations of its noise from which on a tail is believed: without one, by chance once in 80."""
SURE: Final = 3.0
"""Standard deviations of its noise from which a tail's side is known: by chance once in 400."""


@dataclass(frozen=True)
class Tail:
    """What is released of the response's tails.

    signed: the number of responses more than `beyond` standard deviations above their mean, less that of those below.
    noise: standard deviation of the noise in it.
    """

    signed: float
    noise: float
    beyond: float = FAR


def wide_range(tail: Tail, rows: float, noise: float) -> float:
    """Return the range in standard deviations of the response; 0 where no tail is known.

    noise: standard deviation of the noise in a sum of psi times a regressor of variance 1, as a part of the range.

    >>> wide_range(Tail(0, 9), 1e4, 10), round(wide_range(Tail(90, 9), 1e4, 10), 1)
    (0.0, 10.9)
    >>> round(wide_range(Tail(-90, 9), 1e4, 40), 1)
    7.1
    """
    found = abs(tail.signed) - tail.noise - rows * math.exp(-1 - tail.beyond)
    if found <= 0 or abs(tail.signed) <= LIKELY * tail.noise:
        return 0.0
    power = 1 / TAIL
    lost = TAIL * found * tail.beyond ** (1 + power)
    # the derivative of (noise r)**2 + CARE lost**2 r**(-2 power) in r is 0
    return float((CARE * power * (lost / noise) ** 2) ** (1 / (2 + 2 * power)))


def side_of(tail: Tail | None) -> int:
    """Return 1 for a tail that is surely above the mean, -1 for one below, and else 0.

    >>> side_of(Tail(90, 9)), side_of(Tail(-90, 9)), side_of(Tail(9, 9)), side_of(None)
    (1, -1, 0, 0)
    """
    if tail is None or abs(tail.signed) <= SURE * tail.noise:
        return 0
    return 1 if tail.signed > 0 else -1
