"""Integer encodings of norm-clipped rows, with the proofs of their sensitivities.

Of a complete row z = (z_0, ..., z_m), |z_j| <= B_j <= H, z_0 = H (`method.regression.layout`), three parts are released
one after another.  An incomplete row is all zeros.  Primes mark the row in the neighbouring table.

`column_moments` releases F z_j for every j > 0, and F e_j z_j**2 for those that are no mere sign or level; 2 H**2 for
each row where the number of rows is not public.  With e_j = lambda / B_j rounded down, a = z_j / B_j, b = z'_j / B_j,
    replace-one, lambda = 3/2:  (a - b)**2 (1 + 9/4 (a + b)**2) <= 4.  With s = |a + b| and |a - b| <= 2 - s it is at
        most (2 - s)**2 (1 + 9/4 s**2), whose derivative has its zeros at 2 and where 9 s**2 - 9 s + 2 = 0: a minimum at
        s = 1/3 and a maximum at s = 2/3, where it is 32/9; at s = 0 it is 4.  Present against absent: 1 + 9/4.
    add-remove, lambda = 1/2:   1 + 1/4.
At a pure price, in l1, lambda = 1/2: replace-one |a - b| (1 + 1/2 |a + b|) <= (2 - s) (1 + s / 2) <= 2; present against
absent 1 + 1/2.  Of a group of several coordinates, two change: 2 (1 + lambda).
In a group of several coordinates at most one is not 0: two rows change two of them, at most 2 (1 + lambda**2) times
B**2.  Without squares lambda is 0.  The squared change is at most F**2 times the sum over groups; where a row is
absent, that of the other row alone and the square of what the number of rows adds.

`norm_products` releases the products of the entries of a vector w of norm at most C, the response one of them:
`method.shared.norm_sensitivity`, 50 C**4 (replace-one) and 25 C**4 (add-remove).  Of linear models of rows, where
`far`, also floor(q / c) of an integer q, |q| <= c, whatever q is of the row, with the weight C**2.  It is -1, 0 or 1,
so that the squared change is at most 2**2 C**4 more (replace-one), and C**4 more of a row against none.

`norm_scores` releases v = psi w, psi**2 and v_i v_k with the weights of `encoding.residual_scores`.  psi is an integer,
|psi| <= c, and w a vector of norm at most C of the regressors alone: |v| <= R |psi| / c, R = c C, is all that the proof
there asks of v.  Its l2 bounds hold with R**2 in place of c**2 M: 4 R**2 (replace-one), 11/8 R**2 (add-remove), and a
little more for rounding down.  Of rows, where `far`, it also releases floor((psi + c) / 2 c), 1 where psi = c and
else 0, and floor((psi + c - 1) / 2 c), -1 where psi = -c and else 0, each of weight R / 4.  At most one of them is not
0 in a row, and each changes by at most 1 between two rows: the squared change is at most 2 R**2 / 16 more
(replace-one), and R**2 / 16 more of a row against none: 1 + 9/4 + 1/2 + 1/16 <= 4.
    Then it also releases, of each entry w_j, floor((w_j**2 + C**2 / 2 - 1) / C**2), of weight R / 4: 1 where
w_j**2 > C**2 / 2, and else 0, since w_j**2 <= C**2.  As sum w_j**2 <= C**2, at most one of them is 1 in a row: at most
two of them change between two rows, each by 1, and one of a row against none.  The squared change is again at most
2 R**2 / 16 more (replace-one), and R**2 / 16 more of a row against none: 1 + 9/4 + 1/2 + 2/16 <= 4.
    Rounding down.  Of persons and of rows with weights v_i v_k is divided by 2**k and rounded down in each row, else
their sum S over all rows is, once.  With S' that of the neighbouring table, floor(S / 2**k) = S / 2**k - r and
floor(S' / 2**k) = S' / 2**k - r', 0 <= r, r' < 1, so that between the two it changes by (S - S') / 2**k, which is what
the rows that differ add to it, divided, and by r' - r, less than 1 in size.  Where each row is rounded r and r' are
those of the rows that differ: the bound is the same.
"""

from __future__ import annotations

from math import isqrt
from typing import Final

from tacit.method.regression.formulas.layout import Layout, all_pairs
from tacit.method.regression.row_sums.encoding import CLIP, RESIDUAL_WEIGHT, ProductEncoding, entry_weight
from tacit.method.shared.encoding import Noise
from tacit.method.shared.norm_sensitivity import DIAGONAL, OFF, vectors_and_products
from tacit.rows.coordinates import H

FORMS: Final = ("column-moments", "norm-products-2", "norm-scores")
"""Forms of the three parts; of rows the last is FAR_SCORES."""
FAR_SCORES: Final = "norm-scores-5"
"""The last of them with the numbers of rows whose residual is clipped above and below and of those far along each axis,
and with sums of v_i v_k that are divided once, since 0.2; of persons it is as before."""
SIDES_SCORES: Final = "norm-scores-4"
"""The same without the numbers of rows far along each axis."""
ROUNDED_SCORES: Final = "norm-scores-3"
"""The same with v_i v_k divided and rounded down in each row."""
FORMER_SCORES: Final = "norm-scores-2"
"""The same with the number of both together."""
WEIGHTED: Final = "weighted-moments"
"""The first of them of rows with weights (`weighted_rows`)."""
OF_COLUMNS: Final = (FORMS[0], WEIGHTED)
"""Forms of column moments, without and with weights."""
FAR_PRODUCTS: Final = "norm-products-3"
"""The second of them of linear models of rows, with the number of responses far above their mean less that of those far
below (`heavy_tails`), since 0.2."""
FORMER_PRODUCTS: Final = "norm-products"
"""The second of them in releases of before, whose squares and interactions were standardised as they are."""
MOST: Final = H
"""C: the norm of a clipped vector, in its integer units."""
FIRST: Final = 2**12
"""F, the weight of a coordinate in the released integers of `column_moments`."""
COUNT: Final = 2
"""Weight of H**2 for each row."""
SHIFT: Final = 18
"""Products v_i v_k, or their sums, are divided by 2**SHIFT: a row adds at most 2**20."""
SIGNED: Final = 9
"""psi / 2**SIGNED, rounded down, is 1 where psi = c, 0 where 0 <= psi < c, and else -1."""
CLIPPED: Final = 10
"""(psi + c) / 2**CLIPPED, rounded down, is 1 where psi = c, and else 0; one less above, it is -1 where psi = -c."""
AXIS: Final = 2 * (MOST.bit_length() - 1)
"""(w_j**2 + C**2 / 2 - 1) / 2**AXIS, rounded down, is 1 where w_j**2 > C**2 / 2, and else 0."""


def squared(layout: Layout) -> tuple[int, ...]:
    """Return the coordinates whose squares `column_moments` releases: of a sign or a level the sum tells the square."""
    return tuple(j for j in range(1, layout.size + 1) if layout.coordinates[j][0])


def square_weight(bound: int, lift: int) -> int:
    """Return the weight of z_j**2: F lambda / B_j, rounded down; lambda = lift / 2."""
    return lift * FIRST // (2 * bound)


def column_moments(layout: Layout, noise: Noise, neighbors: str, *, leaves: bool) -> ProductEncoding:
    """Return the encoding of sums of coordinates and of their squares.

    leaves: whether a row can be absent although the number of rows is public.
    """
    one, squares = neighbors == "replace-one", squared(layout)
    lift = 3 if one and noise == "gaussian" else 1
    both, absent = 0, 0  # in quarters of F**2: of two rows, and of a row against none
    far, gone = 0, 0  # the same in l1, in halves of F
    for group in layout.groups:
        B, more = max(layout.bounds[j] for j in group), group[0] in squares
        own = 4 + lift * lift if more else 4
        both += (2 * own if len(group) > 1 else 16) * B * B
        absent += own * B * B
        far += (2 * (2 + lift * more) if len(group) > 1 else 4) * B
        gone += (2 + lift * more) * B
    counted = leaves or not one
    weights = [FIRST] * layout.size + [square_weight(layout.bounds[j], lift) for j in squares]
    most = [*layout.bounds[1:], *(layout.bounds[j] ** 2 for j in squares)]
    apart, gone = far * FIRST // 2, -(-gone * FIRST // 2)
    # in l1 a row that is absent leaves room beside two that are present: the count has it
    count = max(COUNT, (apart - gone) // (H * H)) if noise == "laplace" and one else COUNT
    weights, most = ([*weights, count], [*most, H * H]) if counted else (weights, most)
    # the number of rows changes only where one row is absent
    alone, two = -(-absent * FIRST**2 // 4) + ((count * H * H) ** 2 if counted else 0), -(-both * FIRST**2 // 4)
    l2_squared = max(alone, two) if one else alone
    gone += count * H * H if counted else 0
    l1 = (max(gone, apart) if one else gone) if noise == "laplace" else isqrt(l2_squared * len(weights)) + 1
    parameters = {"G": H, "score": FIRST, "square": lift, "count": count if counted else 0}
    return weighted_sums(FORMS[0], parameters, weights, most, l1, l2_squared)


def norm_products(layout: Layout, neighbors: str, *, far: bool = False) -> ProductEncoding:
    """Return the encoding of products of all entries of a row's vector, the response the last of them.

    far: whether the sum of floor(q / c) is released, after them.
    """
    size = layout.size + 1
    l2_squared = vectors_and_products(MOST, 0, 1, neighbors, size=size)
    l2_squared += far * (4 if neighbors == "replace-one" else 1) * MOST**4
    pairs, count = all_pairs(size), [MOST * MOST] * far
    weights = [entry_weight(one, OFF, DIAGONAL, DIAGONAL) for one in pairs] + count
    # an extreme row lies on the first axis
    most = [MOST * MOST, *([0] * (len(pairs) - 1)), *([1] * far)]
    parameters = {"G": MOST, "off": OFF, "diag": DIAGONAL} | ({"far": count[0]} if far else {})
    l1 = isqrt(l2_squared * len(weights)) + 1
    return weighted_sums(FAR_PRODUCTS if far else FORMS[1], parameters, weights, most, l1, l2_squared)


def extreme_counts(layout: Layout) -> list[int]:
    """Return what a row on the first axis, of the largest residual, adds to the numbers of rows of part 3.

    They are of rows clipped above, of those clipped below, and of those far along each axis.
    """
    return [1, 0, 1, *([0] * (layout.size - 1))]


def norm_scores(layout: Layout, neighbors: str, *, far: bool = False) -> ProductEncoding:
    """Return the encoding of clipped residuals: psi w, psi**2 and products psi**2 w w'.

    far: whether rows with psi = c, those with psi = -c, and those far along each axis are counted, beside psi**2.
    """
    one, R, pairs = neighbors == "replace-one", CLIP * MOST, layout.all_pairs
    lift, part = (3, 1) if one else (1, 2)  # lambda = lift / 2, b = 1 / part
    # F lambda R / c**2 and F b / R, of products that are divided; rounding weights down only makes norms smaller
    square = RESIDUAL_WEIGHT * lift * MOST // (2 * CLIP)
    off = (RESIDUAL_WEIGHT << SHIFT) // (part * R)
    diag = isqrt(off * off // 2)
    whole = (4 * R * R if one else 11 * R * R // 8 + 1) + 2 * far * (R * R // (8 if one else 16) + 1)
    # the second summand is for rounding down: each product changes by less than 1
    l2 = RESIDUAL_WEIGHT * (isqrt(whole) + 1) + off * (isqrt(len(pairs)) + 1)
    # R / 4, rounded down
    counts = extreme_counts(layout) * far
    count = [RESIDUAL_WEIGHT * R // 4] * len(counts)
    parameters = {"G": CLIP, "score": RESIDUAL_WEIGHT, "square": square, "off": off, "diag": diag}
    parameters |= {"far": count[0]} if far else {}
    weights = [RESIDUAL_WEIGHT] * layout.size + [square, *count]
    weights += [entry_weight(one, off, diag, diag) for one in pairs]
    most = [R, *([0] * (layout.size - 1)), CLIP * CLIP, *counts, R * R >> SHIFT, *([0] * (len(pairs) - 1))]
    return weighted_sums(
        FAR_SCORES if far else FORMS[2], parameters, weights, most, l2 * (isqrt(len(weights)) + 1), l2 * l2
    )


def weighted_sums(
    name: str, parameters: dict[str, int], weights: list[int], most: list[int], l1: int, l2_squared: int
) -> ProductEncoding:
    """Return the encoding of sums times these weights; most: the sums of an extreme row."""
    extreme = tuple(w * x for w, x in zip(weights, most, strict=True))
    return ProductEncoding(name, parameters, (), tuple((w,) for w in weights), l1, l2_squared, (), extreme)
