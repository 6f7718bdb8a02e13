"""Integer encodings of cross-products and of clipped residuals, with the proofs of their sensitivities.

A complete row is z = (z_0, ..., z_m), |z_j| <= B_j <= H, z_0 = H.  In a group of several coordinates at most one is not
0 (`method.regression.layout`); B without index is the bound of a group.  An absent row is all zeros, z_0 too.  z is the
row in one table and z' the row that replaces it in the other.  Throughout, a_j = z_j**2 and

    M = H**2 + sum over groups of B**2,   so A = sum a_j <= M;
    T = H + sum over groups of B,         so sum |z_j| <= T;
    s_j = |z_j + z'_j|, d_j = |z_j - z'_j|,   so s_j + d_j = 2 max(|z_j|, |z'_j|);   S and D are their sums;
    |z_j z_k - z'_j z'_k| <= (s_j d_k + d_j s_k) / 2.

`products` releases z_j z_k for j < k with weight `off`; z_j**2, for groups of one coordinate, with weight `diag`; and
z_0**2, the number of rows, with weight `count` where it is not public.  Pairs that are not released, or share a sum
with another pair, only make norms smaller.

    Gaussian, replace-one.  The sum over j < k of (z_j z_k - z'_j z'_k)**2 is
        (A**2 + A'**2) / 2 - (z z')**2 - sum (a_j - a'_j)**2 / 2,
    so with g = diag / off the squared change, over off**2, is at most
        (A**2 + A'**2) / 2 + (g**2 - 1/2) sum over groups of one of (a_j - a'_j)**2,
    which is convex in the a's, and so largest where each is 0 or B**2.  If z is 0 in groups whose B**2 add up to x, the
    first part falls by x (2M - x) / 2 >= x (M + H**2) / 2, and the second grows by at most (g**2 - 1/2) H**2 x.  So the
    total does not grow while g**2 <= 1 + M / (2 H**2), and the squared change is at most off**2 M**2.
    Present against absent, A' = 0 and count <= off: at most M**2 / 2 + (M**2 - H**4) / 2 + H**4 / 2, over off**2.
    Attained where z z' = 0, as for an even number of coordinates of the same B.
    Gaussian, add-remove, all weights 1.  The square of a row grows with every |z_j|: at most
        (M**2 + H**4 + sum over groups of one of B**4 - sum over others of B**4) / 2,
    less H**4 for each coordinate that is -H or H, whose square is the number of rows.

    Laplace, off = 2, diag = count = 1, replace-one.  At most sum over j < k of (s_j d_k + d_j s_k) + sum s_j d_j = S D.
    Groups of one: S + D <= 2T, so at most T**2.  Attained.  Groups of several: two coordinates of such a group can
    change, so S + D <= 2T + 2 sum of their B.  Two rows together have at most 2 T**2.
    Add-remove: T**2, less B**2 for each group of several and H**2 for each coordinate that is -H or H, whose squares
    are not released.

`residual_scores`: psi is an integer, |psi| <= C, and v_j = psi z_j over coordinates other than the response.  Released
are v_j, psi**2 and v_j v_k, with weights such that all together have the sensitivity of v alone, or little more.  M and
T leave the response out; |v| <= R = C sqrt(M) in l2, and at most V = C T in l1.  Before rounding:

    Gaussian: v, lambda R (psi / C)**2, and (b / R) v_j v_k, squares times sqrt(1/2).  Let alpha = |v| / R <= p =
    |psi| / C, beta and q those of the other row, c the cosine of v and v'.  The squared change, over R**2, is at most
        alpha**2 + beta**2 - 2 alpha beta c + b**2 (alpha**4 + beta**4 - 2 (alpha beta c)**2) / 2
        + lambda**2 (p**2 - q**2)**2.
    For b <= 1 it falls in c, from c = -1 on, and there it grows in alpha and beta, to
        (p + q)**2 (1 + (b**2 / 2 + lambda**2) (p - q)**2),
    which is at most 4 for b**2 / 2 + lambda**2 <= 2.77 (theory §9).  Taken: b = 1, lambda = 3/2.
    Present against absent: 1 + 9/4 + 1/2 <= 4.
    Add-remove: b = lambda = 1/2, 1 + 1/4 + 1/8, less the squares of v_j that are not released.

    Laplace: v, and b v_j v_k, squares times 1/2.  Replace-one, groups of one: S + D <= 2V for v, and the change is at
    most D + b S D / 2 <= 2V for b = 1/V.  Otherwise b = 1 / (4V): a row has at most V (1 + 1/8), less the squares that
    are not released; two have twice that.  psi**2 stands for v_0**2, with its weight.

    Rounding: v_j v_k is divided by 2**SHIFT and rounded down, which changes each by less than 1: added to the norms.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Final

from tacit.method.regression.formulas.layout import Layout, ProductSum
from tacit.method.shared.encoding import Encoding, Noise
from tacit.rows.coordinates import H

CLIP: Final = 2**9
"""C, the largest |psi|: steps of a residual's range on either side of 0."""
SHIFT: Final = 19
"""Products v_j v_k are divided by 2**SHIFT, so that they are at most 2**19."""
RESIDUAL_WEIGHT: Final = 2**8
"""Weight of v_j in the released integers."""


@dataclass(frozen=True)
class ProductEncoding(Encoding):
    """An encoding whose integers are sums over rows of products of columns, each times its weight (`matrix`)."""

    extreme: tuple[int, ...] = ()
    """The integers that a row adds whose coordinates are all at their bounds."""

    def assemble(self, sums: tuple[int, ...]) -> tuple[int, ...]:
        """Return the released integers before noise: each sum times its own weight."""
        return tuple(row[0] * x for row, x in zip(self.matrix, sums, strict=True))

    def row(self, v: int, weight: int | None = None) -> tuple[int, ...]:
        """Return `extreme` scaled by v / G: the whole for v = G, zeros for v = 0."""
        return tuple(x * v // self.parameters["G"] for x in self.extreme)


def products(layout: Layout, noise: Noise, neighbors: str, *, leaves: bool) -> ProductEncoding:
    """Return the encoding of cross-products of all coordinates.

    leaves: whether a row can be absent although the number of rows is public.
    """
    single, several = layout.group_bounds(response=True)
    M = H * H + sum(B * B for B in (*single, *several))
    T = H + sum(single) + sum(several)
    one, fixed = neighbors == "replace-one", count_signs(layout, response=True)
    if noise == "laplace":
        off, diag, count = 2, 1, 1
        # squares that equal another released sum and are not released themselves
        unasked = sum(B * B for B in several) + fixed * H * H
        # S D <= ((S + D) / 2)**2, or the triangle inequality of two rows of at most T**2
        l1 = min((T + sum(several)) ** 2, 2 * T * T) if one else T * T - unasked
        # an l2 norm is at most the l1 norm
        l2_squared = l1 * l1
    elif one:
        off, count = 2, 2
        # the largest g = diag / off with g**2 <= 1 + M / (2 H**2)
        # g = 1 always qualifies; M <= MOST H**2 keeps d at most 10, far below 65
        diag = max(d for d in range(2, 65) if d * d * H * H <= 4 * H * H + 2 * M)
        l2_squared = off * off * M * M
        # Cauchy-Schwarz: l1 <= sqrt(number of sums) l2
        l1 = isqrt(l2_squared * len(layout.entries)) + 1
    else:
        off, diag, count = 1, 1, 1
        squares = H**4 + sum(B**4 for B in single) - sum(B**4 for B in several)
        # the "+ 1" rounds the half up
        l2_squared = (M * M + squares + 1) // 2 - fixed * H**4
        l1 = isqrt(l2_squared * len(layout.entries)) + 1
    counted = leaves or not one
    parameters = {"G": H, "off": off, "diag": diag, "count": count if counted else 0}
    weights = [entry_weight(one, off, diag, count) for one in layout.entries if counted or not one.is_row_count]
    extreme = tuple(w * H * H for w in weights)
    return ProductEncoding("products", parameters, (), _column(weights), l1, l2_squared, (), extreme)


def residual_scores(layout: Layout, noise: Noise, neighbors: str) -> ProductEncoding:
    """Return the encoding of clipped residuals: psi z, psi**2 and products psi**2 z z'."""
    single, several = layout.group_bounds(response=False)
    M = H * H + sum(B * B for B in (*single, *several))
    V = CLIP * (H + sum(single) + sum(several))
    entries, one = layout.products(response=False), neighbors == "replace-one"
    square_root, fixed = CLIP * CLIP * M, count_signs(layout, response=False)
    if noise == "gaussian":
        lift, part = (3, 1) if one else (1, 2)  # lambda = lift / 2, b = 1 / part
        # F lambda R / C**2 and F b / R; rounding weights down only makes norms smaller
        square = isqrt((RESIDUAL_WEIGHT * lift) ** 2 * M // 4) // CLIP
        off = isqrt((RESIDUAL_WEIGHT << SHIFT) ** 2 // (part * part * square_root))
        diag = isqrt(off * off // 2)
        # R**2 times 4, or times 11/8 less b**2 / 2 (C H / R)**4 for each square not released (z_0's is one)
        whole = 4 * square_root if one else (11 * square_root - (1 + fixed) * (CLIP * H) ** 4 // square_root) // 8 + 1
        # the second summand is for rounding down: each product changes by less than 1
        l2 = RESIDUAL_WEIGHT * (isqrt(whole) + 1) + off * (isqrt(len(entries)) + 1)
        l2_squared, l1 = l2 * l2, l2 * (isqrt(1 + layout.size + len(entries)) + 1)
    else:
        free = one and not several
        # F b, for products that are divided by 2**SHIFT
        off = (RESIDUAL_WEIGHT << SHIFT) // (V if free else 4 * V)
        # psi**2 = v_0**2 / H**2 carries the weight of a square, F b / 2, times H**2
        diag, square = off // 2, RESIDUAL_WEIGHT * H * H // ((2 if free else 8) * V)
        unasked = (sum(B * B for B in several) + fixed * H * H) * CLIP * CLIP // V
        mass = 16 * V if free else (2 if one else 1) * (9 * V - unasked)  # in eighths
        # eighths rounded up; rounding products down changes each by less than 1, times a weight of at most `off`
        l1 = -(-RESIDUAL_WEIGHT * mass // 8) + off * len(entries)
        l2_squared = l1 * l1
    parameters = {"G": CLIP, "score": RESIDUAL_WEIGHT, "square": square, "off": off, "diag": diag}
    weights = [RESIDUAL_WEIGHT] * layout.size + [square] + [entry_weight(entry, off, diag, 0) for entry in entries]
    most = [CLIP * H] * layout.size + [CLIP * CLIP] + [(CLIP * H) ** 2 >> SHIFT] * len(entries)
    extreme = tuple(w * x for w, x in zip(weights, most, strict=True))
    return ProductEncoding("scores", parameters, (), _column(weights), l1, l2_squared, (), extreme)


def count_signs(layout: Layout, *, response: bool) -> int:
    """Return how many coordinates are -H or H in every row, so that their squares need no release of their own."""
    (known,) = (one for one in layout.entries if one.is_row_count)
    # pairs (j, j) with the square H**2 share their sum with the number of rows, (0, 0)
    return sum(j > 0 and (response or j != layout.size) for j, _ in known.pairs)


def entry_weight(entry: ProductSum, off: int, diag: int, count: int) -> int:
    """Return the weight of a sum."""
    return count if entry.is_row_count else off if entry.off_diagonal else diag


def _column(weights: list[int]) -> tuple[tuple[int, ...], ...]:
    return tuple((w,) for w in weights)
