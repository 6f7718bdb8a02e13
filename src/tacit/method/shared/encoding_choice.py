"""Choose the integer encoding of a column of numbers, from public facts alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from tacit.method.shared import encoding as forms
from tacit.method.shared.encoding import Encoding
from tacit.rows.row_map import GRID, RowMap

LONGEST: Final = 2**24
"""Most steps between 0 and the furthest bound of a sum: products of two numbers of steps stay below 2**52."""


def choose(
    at: RowMap, noise: forms.Noise, *, neighbors: str, grouped: bool, leaves: bool, fourth: bool = False
) -> Encoding:
    """Return the encoding of a column; the plain ones never where a row can enter or leave a cell (law 4).

    grouped: whether there are several cells.  leaves: whether a row can be absent, its value being missing and left
    out, or a condition not holding for it.  fourth: whether the first four moments are needed, not two.
    """
    if fourth:
        return forms.bernstein(at.G, neighbors)
    binary = at.G == 1
    if grouped or neighbors == "add-remove":
        return forms.binary_group(neighbors) if binary else forms.group(at.G, noise, neighbors)
    if leaves:
        return forms.binary_exclusion(noise) if binary else forms.exclusion(at.G, noise)
    return forms.binary_plain() if binary else forms.plain(at.G, noise)


def choose_total(
    at: RowMap, noise: forms.Noise, *, cells: int, neighbors: str, grouped: bool, leaves: bool
) -> tuple[RowMap, Encoding]:
    """Return grid and encoding of a column of which only the sum is asked, every row weighing one.

    leaves: whether a row can be absent.  `total` spends nothing on the number of present rows.  It is not taken for
    a complete column in one cell, whose plain encoding reaches from bound to bound, not from 0, nor for bounds on both
    sides of 0 in several cells or cells of private size, where it has no proof.
    """
    moves = grouped or neighbors == "add-remove"
    if at.G == 1:  # an absent row is one of a public number of rows that adds 0
        return at, (forms.binary_group(neighbors) if moves else forms.binary_plain())
    if at.lower < 0 < at.upper if moves else not leaves:
        return at, choose(at, noise, neighbors=neighbors, grouped=grouped, leaves=leaves)
    placed = from_zero(at)
    offset = offset_of(placed.lower, placed.upper, placed.G)
    return placed, forms.total(placed.G, offset, noise, cells=cells, neighbors=neighbors)


def from_zero(at: RowMap) -> RowMap:
    """Return the same column on a grid whose steps also lead to 0, so that sums are those of whole steps from there.

    At most LONGEST steps lie between 0 and the furthest bound.  The way from 0 to the lower bound is a whole number of
    steps, unless the bounds have so many digits that none is: values are then moved by half a step at most.
    """
    low, high = _as_written(at.lower, at.upper)
    hull = max(high, Fraction(0)) - min(low, Fraction(0))
    most = max(4, min(max(at.G, GRID), int(LONGEST * (high - low) / hull)))
    even = (low / (high - low)).denominator
    return resized(at, most - most % even if even <= most else most, fine=True)


def offset_of(lower: float, upper: float, G: int) -> int:
    """Return the number of steps from 0 to the lower bound of a grid of G steps, negative for a bound below 0."""
    low, high = _as_written(lower, upper)
    return round(low * G / (high - low))


def _as_written(*bounds: float) -> tuple[Fraction, ...]:
    """Return the decimal numbers that bounds print as."""
    return tuple(Fraction(repr(one)) for one in bounds)


def resized(at: RowMap, G: int, *, fine: bool) -> RowMap:
    """Return the same column on at most G steps; fine: each of few steps is divided, for values between them."""
    steps = min(at.steps, G)
    factor = G // steps if fine else 1
    made = replace(at, steps=steps, factor=factor)
    return made if at.missing is None else replace(made, missing=(2 * at.missing * made.G + at.G) // (2 * at.G))
