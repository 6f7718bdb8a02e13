"""How much a neighbour changes sums of norm-clipped vectors of rows and of their products.  Proofs; no data here.

Definition
    A row has an integer vector w with sum w_j**2 <= C**2 (`rows.norm_clip`), 0 for a row that is not complete.
    Released are sums over rows of the integers
                        first w_j,    second 5 w_j**2,    second 7 w_i w_j for i < j,
    with public integers `first` and `second` of 0 or more.  7 / 5 is nearly the root of 2, by which a product of two
    entries stands for both of its places in the symmetric matrix w w'.
    Of scores: psi w in place of w, |psi| <= c, has norm at most c C; its products may be divided by a power of two and
    rounded down.  Of persons: each adds the mean of these integers over its rows, rounded to whole numbers.
Sensitivity
    Let h(w) be the products without `second`.  With s = |w|**2 and t = w.v,
        |h(w)|**2    = 25 sum w_j**4 + 49 sum_{i<j} (w_i w_j)**2       = 49/2 s**2 + 1/2 sum w_j**4  <= 25 C**4,
        h(w).h(v)    = 25 sum (w_j v_j)**2 + 49 sum_{i<j} w_i v_i w_j v_j >= 49/2 t**2.
    Add-remove.  A row adds first**2 s + second**2 |h(w)|**2 <= first**2 C**2 + 25 second**2 C**4.  Attained on an axis.
    Replace-one.  With a = first**2 and b = second**2 the squared change is
        a |w - v|**2 + b |h(w) - h(v)|**2 <= a (2 C**2 - 2 t) + b (50 C**4 - 49 t**2),    |t| <= C**2.
    Its maximum over t is at t = - a / (49 b) where that is at least - C**2:  2 a C**2 + 50 b C**4 + a**2 / (49 b); and
    beyond at t = - C**2:  4 a C**2 + b C**4.  At first = 7 C second the sums of products are nearly free: 197 b C**4,
    where those of w alone are 196 b C**4.  Without w: 50 b C**4, attained by two axes.
    A row replaced by an incomplete one, or the reverse, is removed or added, and changes less.
    Rounding down.  It moves a product by less than 1, of one row and of the other in the same direction: their
    difference by less than 1, and the norm by less than 7 second times the root of the number of products.
    Persons.  A mean over rows is a point of the convex hull of the rows' integers, and the distance of two points of a
    hull is at most that of two rows.  Rounding moves each integer of each person by at most 1/2.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isqrt
from typing import Final

DIAGONAL: Final = 5
"""Weight of the square of an entry."""
OFF: Final = 7
"""Weight of the product of two different entries."""


def vectors_and_products(
    most: int, first: int, second: int, neighbors: str, *, size: int, shift: int = 0, persons: bool = False
) -> int:
    """Return the squared l2 sensitivity of the released sums, rounded up to a whole number.

    most: C, or c C of scores.  first, second: weights, 0 where a part is not released.  neighbors: "replace-one" or
    "add-remove".  size: number of entries of w.  shift: products are divided by 2**shift, rounded down, and then have
    the weight `second`.  persons: whether sums are of persons' rounded means.

    >>> vectors_and_products(10, 1, 0, "replace-one", size=3), vectors_and_products(10, 0, 1, "replace-one", size=3)
    (400, 500000)
    >>> vectors_and_products(10, 70, 1, "replace-one", size=3) / vectors_and_products(10, 70, 0, "replace-one", size=3)
    1.0051020408163265
    """
    a, b, square = first * first, Fraction(second, 2**shift) ** 2, most * most
    if neighbors == "add-remove":
        whole = a * square + 25 * b * square**2
    elif b and a <= 49 * b * square:
        whole = 2 * a * square + 50 * b * square**2 + a * a / (49 * b)
    else:
        whole = 4 * a * square + b * square**2
    entries = size * (size + 1) // 2
    rounding = _root((OFF * second) ** 2 * entries) if shift else 0
    if persons:
        rounding += _root((a * size) + (OFF * second) ** 2 * entries)
    return ceil(whole) if not rounding else (_root(ceil(whole)) + rounding) ** 2


def _root(square: int) -> int:
    """Return a whole number that is no less than the root."""
    return isqrt(square - 1) + 1 if square else 0
