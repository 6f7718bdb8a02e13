"""Integer encodings of rows with weights, with the proofs of their sensitivities.

A complete row has an integer weight a in {0, ..., A}, A = 2**14 the cap of the column (`rows.row_weight`).  It counts
as alpha = a / A of a row.  An incomplete row adds nothing.  Let r be the integers that a row adds without weights, as
in `norm_encoding`.  Primes mark the row in the neighbouring table.

Column moments and products.  A row adds alpha r, a point between r and 0, what an absent row adds.  In any norm,
    |alpha r - alpha' r'| is convex in alpha and in alpha', so that it is largest where each is 0 or 1: of two present
    rows, or of one and none.  Sensitivities are those of rows that can be absent (`leaves`), with the sum of alpha in
    the place of the number of rows, which is private under both relations.

    `weighted_moments` also releases alpha**2, of which the effective number of rows follows.  Its difference is not
    convex, but |alpha**2 - alpha'**2| <= 2 |alpha - alpha'|.  With C and D the weights of alpha and of its square, in
    units of H**2, the squared change in l2 is at most
        |alpha r - alpha' r'|**2 + (C**2 + 4 D**2) (alpha - alpha')**2,
    and in l1 at most |alpha r - alpha' r'| + (C + 2 D) |alpha - alpha'|.  Both are convex in alpha and in alpha': at
    most the bound of two present rows, or that of one and C**2 + 4 D**2 (in l1 C + 2 D).  A row that is added or
    removed adds at most that of one, and C**2 + D**2 (in l1 C + D).

Scores.  psi alpha is rounded to a whole number of at most |psi| <= c; likewise a weight q of its own.  What is released
    is that of another score within [-c, c], and bounds of scores hold whatever the score is: `norm_encoding`,
    `norm_score_encoding`, `split_score_encoding`.  psi**2 v v' has the square of the weight, as the sandwich has.
    Scores are on a grid FINER times as fine, since a small weight makes them small: |psi| <= FINER c.  Sums of psi v
    and of |psi| have the FINER-th part of their weights, and all others are divided by so much more.  The integers that
    are released mean the same as without weights, and their bounds are those of the real numbers psi / FINER.

Rounding down.  Of sums that are divided, the difference of two rows moves by less than 1: their weights are added in
    l1, and in l2 the root of the sum of their squares.  Of scores this is in the bounds already, but for psi**2, which
    without weights is not divided.
Persons add means of these integers over their complete rows: `norm_person_encoding` asks no more of them than that.
"""

from __future__ import annotations

from dataclasses import replace
from math import isqrt
from typing import Final

from tacit.method.regression.formulas.layout import Layout, all_pairs
from tacit.method.regression.row_sums.encoding import ProductEncoding
from tacit.method.regression.row_sums.norm_encoding import (
    COUNT,
    FIRST,
    WEIGHTED,
    column_moments,
    norm_products,
    squared,
    weighted_sums,
)
from tacit.method.regression.row_sums.person_encoding import root_above
from tacit.method.regression.row_sums.score_encoding import CLIP
from tacit.method.shared.encoding import Noise
from tacit.rows.coordinates import H
from tacit.rows.row_products import FINER, CrossProducts, Product
from tacit.rows.row_weight import SHIFT, STEPS

ALONE: Final = 4
"""Sums of a z_j are divided by 2**ALONE: then they are at most 2**20, and 2**10 times those of alpha z_j."""
SQUARES: Final = 1
"""Least weight of H**2 alpha**2."""


def weighted_moments(layout: Layout, noise: Noise, neighbors: str) -> tuple[ProductEncoding, tuple[Product, ...]]:
    """Return the encoding of sums of alpha z_j, of alpha z_j**2, of alpha and of alpha**2, and these sums.

    The last two are in units of H**2.
    """
    plain, one = column_moments(layout, noise, neighbors, leaves=True), neighbors == "replace-one"
    own, m = [row[0] for row in plain.matrix], layout.size
    finest = FIRST >> SHIFT - ALONE
    roughly = [*[finest] * m, *own[m:-1]]
    if noise == "laplace":
        both, alone = _in_l1(layout, neighbors)
        # as in `column_moments`, what one row and none leave is room for the count, and here for the squares too
        room = max(0, both - alone) // (H * H) if one else 0
        squares = max(SQUARES, room // 4)
        count = max(COUNT, room - 2 * squares)
        l1 = max(both, alone + (count + 2 * squares) * H * H) if one else alone + (count + squares) * H * H
        l1 += sum(roughly) + squares
        l2_squared = l1 * l1
    else:
        both, alone = _in_l2(layout, neighbors)
        # what one row and none leave beside two rows is room for both, in equal parts
        room = max(0, both - alone) // H**4 if one else 0
        squares, count = max(SQUARES, isqrt(room // 8)), max(COUNT, isqrt(room // 2))
        unit = (count * count + (4 if one else 1) * squares * squares) * H**4
        whole = max(both, alone + unit) if one else alone + unit
        l2 = root_above(whole) + root_above(sum(x * x for x in (*roughly, squares)))
        l2_squared, l1 = l2 * l2, l2 * (isqrt(len(own) + 1) + 1)
    asked = [Product((j,), shift=ALONE, times=1) for j in range(1, m + 1)]
    asked += [Product((j, j), shift=SHIFT, times=1) for j in squared(layout)]
    asked += [Product((0, 0), shift=SHIFT, times=1), Product((), shift=2 * SHIFT - (H * H).bit_length() + 1, times=2)]
    parameters = {**plain.parameters, "count": count, "A": STEPS, "squares": squares}
    most = [*(B << SHIFT - ALONE for B in layout.bounds[1:]), *(layout.bounds[j] ** 2 for j in squared(layout))]
    weights = [*roughly, count, squares]
    return weighted_sums(WEIGHTED, parameters, weights, [*most, H * H, H * H], l1, l2_squared), tuple(asked)


def _groups(layout: Layout) -> list[tuple[int, bool, bool]]:
    """Return of each group its bound, whether it has several coordinates, and whether their squares are released."""
    more = squared(layout)
    return [(max(layout.bounds[j] for j in one), len(one) > 1, one[0] in more) for one in layout.groups]


def _in_l2(layout: Layout, neighbors: str) -> tuple[int, int]:
    """Return the squared change by two present rows, and by one and none, without counts (`norm_encoding`)."""
    lift = 3 if neighbors == "replace-one" else 1
    both = alone = 0
    for B, several, squares in _groups(layout):
        # in quarters of F**2: 1 + lambda**2, lambda = lift / 2
        own = 4 + lift * lift * squares
        both += (2 * own if several else 16) * B * B
        alone += own * B * B
    return -(-both * FIRST**2 // 4), -(-alone * FIRST**2 // 4)


def _in_l1(layout: Layout, neighbors: str) -> tuple[int, int]:
    """Return the change by two present rows, and by one and none, in l1 and without counts: lambda = 1/2."""
    both = alone = 0
    for B, several, squares in _groups(layout):
        # in halves of F: 1 + lambda
        both += (2 * (2 + squares) if several else 4) * B
        alone += (2 + squares) * B
    return -(-both * FIRST // 2), -(-alone * FIRST // 2)


def weighted_products(layout: Layout, neighbors: str) -> tuple[ProductEncoding, tuple[Product, ...]]:
    """Return the encoding of sums of alpha w_i w_j of a vector w, and these sums."""
    form, pairs = norm_products(layout, neighbors), all_pairs(layout.size + 1)
    l2 = root_above(form.l2_squared) + root_above(sum(row[0] ** 2 for row in form.matrix))
    made = replace(form, l2_squared=l2 * l2, l1=l2 * (isqrt(len(pairs)) + 1))
    return made, tuple(Product(one.pairs[0], shift=SHIFT, times=1) for one in pairs)


def on_finer_grid(form: ProductEncoding, question: CrossProducts) -> tuple[ProductEncoding, CrossProducts]:
    """Return a part of scores, of rows, whose psi is FINER times as fine; one without scores as it is."""
    bits = FINER.bit_length() - 1
    # a plain sum of psi**2 is the only one that was not divided
    divided = [one.power == 2 and not one.of for one in question.products]
    products = tuple(
        replace(one, shift=one.shift + bits * one.power) if one.shift or alone else one
        for one, alone in zip(question.products, divided, strict=True)
    )
    between = tuple(replace(one, shift=one.shift + 2 * bits) for one in question.between)
    finer = [one.power == 1 and not one.shift for one in question.products][question.aside :]
    finer += [False] * len(between)
    own = [row[0] for row in form.matrix]
    matrix = tuple((x // FINER if exact else x,) for x, exact in zip(own, finer, strict=True))
    moved = [x for x, alone in zip(own, divided[question.aside :], strict=False) if alone]
    l1, l2_squared = form.l1, form.l2_squared
    if moved:
        l2 = root_above(l2_squared) + root_above(sum(x * x for x in moved))
        l1, l2_squared = l2 * (isqrt(len(own)) + 1), l2 * l2
    made = replace(form, matrix=matrix, l1=l1, l2_squared=l2_squared)
    return made, replace(question, products=products, between=between)


def clip_of(question: CrossProducts) -> int:
    """Return the largest |psi| of a part of scores: FINER times as fine where rows have weights.

    >>> clip_of(CrossProducts((), ()))
    512
    """
    return CLIP if question.weight is None else CLIP * FINER
