"""The channel of each design at a price: its probabilities from ε and the number of levels, rounded for privacy."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from tacit.local.channel import Channel
from tacit.local.thresholds import GRID, growth, least_of, most_of

LEAST: Final = Fraction(1, 1000)
MOST: Final = 20
"""Prices outside these are refused: answers would be coins, or the truth."""


def priced(kind: str, levels: int, epsilon: Fraction, size: int | None = None) -> Channel:
    """Return the channel of one kind ("choice", "bits", "subset") of k = `levels` levels at ε.

    size: of a "subset", its number of levels; None for the one with the least error of a rare level.

    >>> priced("subset", 12, Fraction(1)).size
    3
    """
    if kind == "choice":
        return Channel("choice", levels, most_of(growth(epsilon), Fraction(levels - 1)))
    if kind == "bits":
        # the larger q, the less an answer tells: rounded up
        return Channel("bits", levels, GRID // 2, least_of(Fraction(1), growth(epsilon)))
    near = levels / (1 + math.exp(float(epsilon)))
    sizes = range(max(1, math.floor(near)), min(levels - 1, math.ceil(near)) + 1) if size is None else (size,)
    return min((_subset(levels, d, epsilon) for d in (sizes or (1,))), key=_rare)


def _subset(k: int, d: int, epsilon: Fraction) -> Channel:
    return Channel("subset", k, most_of(d * growth(epsilon), Fraction(k - d)), size=d)


def _rare(channel: Channel) -> Fraction:
    """Return n times the variance of the share of a level that nobody has: q (1 - q) / (p - q)²."""
    p, q = channel.own, channel.wrong
    return q * (1 - q) / (p - q) ** 2
