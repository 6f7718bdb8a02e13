"""Laws of counts that vary more than Poisson counts: three with the same mean and variance.  No data here.

Which of them a table follows cannot be told from a noisy release.  A correction is therefore computed for each, and
where they disagree the disagreement is part of the standard error.  Given a factor f of mean 1 and variance s, which
differs from row to row, a count is Poisson of mean f mu, so that its variance is mu + s mu**2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

FEW: Final = 0.1
"""Share of the rows with the larger mean in the law "few large"."""


@dataclass(frozen=True)
class CountLaw:
    """A negative binomial law of this spread (0: Poisson), its mean multiplied by `factors` in `shares` of the rows."""

    spread: float = 0.0
    shares: tuple[float, ...] = (1.0,)
    factors: tuple[float, ...] = (1.0,)


def negative_binomial(s: float) -> CountLaw:
    """Return the law of a gamma factor."""
    return CountLaw(s)


def many_zeros(s: float) -> CountLaw:
    """Return the law of a factor 0 in a share z of the rows, s = z / (1 - z): zero-inflated.

    >>> many_zeros(0.25).shares
    (0.2, 0.8)
    """
    return CountLaw(0.0, (s / (1 + s), 1 / (1 + s)), (0.0, 1 + s))


def few_large(s: float) -> CountLaw:
    """Return the law of two factors, the larger one in a share FEW of the rows.

    >>> tuple(round(factor, 3) for factor in few_large(0.81).factors)
    (0.7, 3.7)
    """
    # (1 - w) low + w high = 1, (1 - w) (1 - low)**2 + w (high - 1)**2 = s
    apart = math.sqrt(s * (1 - FEW) / FEW)
    high = min(1 + apart, 1 / FEW)
    return CountLaw(0.0, (1 - FEW, FEW), ((1 - FEW * high) / (1 - FEW), high))


Kind = Callable[[float], CountLaw]
KINDS: Final[tuple[Kind, ...]] = negative_binomial, many_zeros, few_large
"""Kinds of law by their spread s; the first is the one that corrections assume."""
