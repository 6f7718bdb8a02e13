"""Sums of bounded integers, and of their products: sensitivities from the bounds alone.  Public arithmetic; no data.

A row adds a vector r of integers to the sums of its cell, a_j <= r_j <= b_j for each j, or nothing (zeros) where rows
can be left out.  The bounds are those of a clamp in 64-bit integers, so that they hold whatever is in the table.
Nothing is used of how the integers of one row depend on each other: the bounds below hold for all of the box.

Write m_j = max(|a_j|, |b_j|), the largest size of r_j, and s_j for the largest change of r_j between two rows:
b_j - a_j, or max(b_j, 0) - min(a_j, 0) where rows can be left out.

    add-remove:             sum m_j in l1, sum m_j**2 in squared l2; a row is in one cell
    replace-one, one cell:  sum s_j, sum s_j**2
    replace-one, cells:     a row that stays in its cell as above; one that leaves a cell for another changes both, by
                            at most sum m_j each: twice that in l1, twice sum m_j**2 in squared l2; the larger counts
Each is attained at corners of the box: the sums are exact sensitivities where the integers of a row are free.

Persons: of a person's C rows that count the mean of r is taken, rounded to steps of 1 / F, and multiplied by
min(C, max_rows).  That is an integer multiple of 1 / F between max_rows min(a_j, 0) and max_rows max(b_j, 0), and 0 of
a person without rows: the bounds above hold for these boxes, in steps of 1 / F, with rows that can be left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import Final, TypeAlias

from tacit.method.additive.query import Additive
from tacit.rows.row_map import Polynomial

Box: TypeAlias = tuple[int, int]
LARGEST: Final = 2**26
"""Largest size of an integer of a row or person: a product of two stays at or below 2**52, exact in float64."""
STEPS: Final = 2**10
"""Most steps between 0 and the largest size of an integer, for products."""
OF_PERSONS: Final = 2**12
"""The same for persons, times max_rows."""
FINEST: Final = 2**10
"""Most steps between two integers, of persons' means."""


@dataclass(frozen=True)
class RowReach:
    """The public facts that a sensitivity depends on, beside the bounds of the integers.

    replaces: whether a neighbour replaces a row (else adds or removes one).  cells: whether there are several.  leaves:
    whether a row can add nothing.  cap, fine: of persons max_rows, and F; 1 and 1 of rows.
    """

    replaces: bool
    cells: bool
    leaves: bool
    cap: int = 1
    fine: int = 1

    def scaled(self, box: Box) -> Box:
        """Return the bounds of what a row (person) adds, in steps of 1 / fine."""
        if self.cap == self.fine == 1:
            return box
        factor = self.cap * self.fine
        return factor * min(box[0], 0), factor * max(box[1], 0)


@dataclass(frozen=True)
class Bounded:
    """The l1 and the squared l2 sensitivity of a vector of sums."""

    l1: int
    l2_squared: int


def sensitivity(boxes: Sequence[Box], reach: RowReach) -> Bounded:
    """Return the sensitivity of sums of integers with these bounds, which are those of a row or person (`scaled`).

    >>> sensitivity([(0, 12)], RowReach(replaces=True, cells=False, leaves=True))
    Bounded(l1=12, l2_squared=144)
    >>> sensitivity([(-3, 5), (0, 1)], RowReach(replaces=False, cells=False, leaves=True))
    Bounded(l1=6, l2_squared=26)
    """
    sizes = [max(abs(low), abs(high)) for low, high in boxes]
    alone = Bounded(sum(sizes), sum(one**2 for one in sizes))
    if not reach.replaces:
        return alone
    spans = [max(high, 0) - min(low, 0) if reach.leaves else high - low for low, high in boxes]
    staying = Bounded(sum(spans), sum(one**2 for one in spans))
    if not reach.cells:
        return staying
    return Bounded(max(2 * alone.l1, staying.l1), max(2 * alone.l2_squared, staying.l2_squared))


def required(boxes: Sequence[Box], reach: RowReach) -> Bounded:
    """Return what must be declared: the sensitivity of the sums to one row, in one cell."""
    return sensitivity(boxes, RowReach(reach.replaces, False, reach.leaves))


def used(query: Additive, boxes: Sequence[Box], reach: RowReach) -> Bounded:
    """Return the sensitivity that the noise of the sums is scaled to: the computed one, or a larger declared one.

    boxes: of a row.  What is declared is of one row in one cell; a person counts as cap rows, and a replaced row that
    leaves its cell for another as two.
    """
    least = sensitivity([reach.scaled(one) for one in boxes], reach)
    factor, twice = reach.cap * reach.fine, 2 if reach.replaces and reach.cells else 1
    l1 = max(least.l1, twice * factor * (query.l1 or 0))
    return Bounded(l1, min(max(least.l2_squared, twice * factor**2 * (query.l2_squared or 0)), l1**2))


def fineness(boxes: Sequence[Box], cap: int) -> int:
    """Return F for persons of at most `cap` rows: as fine as products of two integers allow, a power of 2.

    >>> fineness([(0, 12)], 20), fineness([(0, 1)], 2**20)
    (1024, 64)
    """
    most = max(abs(end) for box in boxes for end in box) * cap
    fine = FINEST
    while fine > 1 and fine * most > LARGEST:
        fine //= 2
    return fine


# Second moments -----------------------------------------------------------------------------------------------------
#
# Products need no more than a few hundred steps: an integer is rounded to steps of a public unit for them, so that the
# noise of products of large integers stays within the laws' scales.


def unit(box: Box, cap: int, persons: bool) -> Fraction:
    """Return the step to which an integer is rounded before products: of persons' means it may be finer than 1.

    >>> unit((0, 12), 1, False), unit((0, 100_000), 1, False), unit((0, 1), 20, True)
    (Fraction(1, 1), Fraction(98, 1), Fraction(1, 128))
    """
    most, steps = max(abs(box[0]), abs(box[1])), STEPS if not persons else max(1, OF_PERSONS // cap)
    if most >= steps or not persons:
        return Fraction(max(1, -(-most // steps)))
    return Fraction(1, 1 << ((steps // most).bit_length() - 1))


def in_units(box: Box, step: Fraction) -> Box:
    """Return bounds in units, rounded outwards."""
    return floor(box[0] / step), ceil(box[1] / step)


def pairs(count: int, persons: bool) -> tuple[tuple[int, int], ...]:
    """Return the pairs of integers whose products are added up: of persons each with itself alone."""
    return tuple((i, j) for i in range(count) for j in range(i, count) if i == j or not persons)


def middle(box: Box, reach: RowReach) -> int:
    """Return the public number that is taken off an integer before products: where all rows count in one cell, the
    middle of its bounds.  Elsewhere 0: a row that adds nothing must add nothing to the products.
    """
    return (box[0] + box[1]) // 2 if reach.replaces and not reach.leaves and not reach.cells else 0


def product_box(first: Box, second: Box, reach: RowReach, *, same: bool) -> Box:
    """Return the bounds of the product of two integers of a row (person) less their middles; same: of a square.

    The bounds given are in units; of persons both integers are multiplied by the number of rows, at most cap.
    """
    per = replace(reach, fine=1)
    (a, b), (c, d) = (_moved(per.scaled(box), middle(box, reach)) for box in (first, second))
    if same:
        # a square is smallest where the integer is nearest to 0
        return (0 if a <= 0 <= b else min(a * a, b * b)), max(a * a, b * b)
    ends = (a * c, a * d, b * c, b * d)
    return min(ends), max(ends)


def product_boxes(boxes: Sequence[Box], reach: RowReach, *, persons: bool) -> dict[tuple[int, int], Box]:
    """Return the bounds of each product, in units, from the bounds of a row's integers."""
    small = [in_units(box, unit(box, reach.cap, persons)) for box in boxes]
    return {(i, j): product_box(small[i], small[j], reach, same=i == j) for i, j in pairs(len(boxes), persons)}


def _moved(box: Box, by: int) -> Box:
    return box[0] - by, box[1] - by


def square(shift: int) -> Polynomial:
    """Return the polynomial (v + shift)**2."""
    return Polynomial((shift * shift, 2 * shift, 1))


def line(shift: int) -> Polynomial:
    """Return the polynomial v + shift."""
    return Polynomial((shift, 1))


def over(query: Additive, boxes: Sequence[Box], reach: RowReach) -> Fraction | None:
    """Return how many times the computed l1 sensitivity is declared; None where it is not more."""
    least = required(boxes, reach)
    return Fraction(query.l1, least.l1) if query.l1 is not None and query.l1 > ceil(1.01 * least.l1) else None
