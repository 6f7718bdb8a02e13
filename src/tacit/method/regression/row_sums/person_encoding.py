"""Integer encodings of regressions of persons, with the proofs of their sensitivities.

A person adds the mean of each integer over the person's complete rows, rounded, and products of two mean scores in
place of the rows' own psi**2 z z'.  A person without a complete row adds nothing, as an absent row.  Notation as in
`encoding` and `score_encoding`; v is a person's mean of psi z, Q of |psi| z z', s of psi**2; u, P and t are those of
another person.  Before rounding:

Means of rows (cross-products, v, Q, s): the difference of two persons is the mean, over pairs of a row of each, of the
    differences of these rows.  A norm of a mean is at most the mean of the norms, so `products` and every bound on v, Q
    and s hold as for rows.

Products v_j v_k, weighted as the rows' psi**2 z_j z_k, but all of them are released: none is always 0, or always equal
    to another, where z_j z_k is.  y, w and sigma are the weights of v v', Q and s.

    Gaussian, |v|, |u| <= 1 in l2.  Squared, the change is at most
        |v - u|**2 + y (|v|**4 + |u|**4 - 2 (v . u)**2) + w |Q - P|**2 + sigma (s - t)**2.
    It is convex in (v, Q, s): its second derivative in v is at least 2 - 4 y |u|**2 >= 0, as y <= 1/2.  So, the other
    person given, it is largest at an end of the hull of what rows can be, which is a row, or absent; and likewise for
    the other.  For two rows it is what `encoding` (y = b**2 / 2) and `score_encoding` bound.  Add-remove: the
    same for u = 0; no square of v_j is left out.

    Laplace, |v|, |u| <= 1 in l1, D = |v - u|; N of a matrix is half the sum of the absolute values of its entries.
    Groups of one: max(|v_j|, |u_j|) is at most its bound, so N of the change of v v' is at most (2 - D) D / 2, as for
    rows.  Two rows:
        N(Q - P) <= 1 - r**2 - o**2 <= 2 (e + e' + o) <= 2 (2 - D), as D <= 2 - e - e' - 2 o (`score_encoding`);
        |s - t| = |p**2 - p'**2| <= 2 |p - p'| <= 2 (2 - D), as D <= p + p'.
    The same holds for persons, by taking the mean over pairs of rows on both sides, since D of persons is at most the
    mean of D of rows.  So
        D + y (2 - D) D / 2 + (w N(Q - P) or sigma |s - t|) <= 2   for y + 2 w <= 1, y + 2 sigma <= 1.
    Taken: y = 1/2, sigma = 1/4; y = w = 1/4; w = 1/2 alone.
    Otherwise a person has at most 1 + y / 2 + sigma, y = 1/4, sigma = 1/8, or 1 + y / 2 + w / 2, weights as before,
    less the squares of z_j that are not released; two have twice that.

Rounding changes a mean by 1/2, computed in floats by 2**-31 more (`person_sums`), so two persons by 1; rows that
    were rounded down add 1 more.  Then v_j v_k changes by C H and a little, 2 C H for two persons, divided by 2**SHIFT,
    and by 1 from rounding down.  These changes times the weights are added to the norms, and 2 for the little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isqrt

from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums import encoding as regression_forms
from tacit.method.regression.row_sums import score_encoding as score_forms
from tacit.method.regression.row_sums.encoding import RESIDUAL_WEIGHT, SHIFT, ProductEncoding, count_signs, entry_weight
from tacit.method.regression.row_sums.noisy_scores import SCORE_WEIGHT
from tacit.method.shared.encoding import Noise
from tacit.rows.coordinates import H


def products(form: ProductEncoding) -> ProductEncoding:
    """Return the encoding of cross-products of persons: bounds as for rows, plus the rounding of means."""
    l1, l2 = rounding_norms([row[0] for row in form.matrix])
    return replace(form, l1=form.l1 + l1, l2_squared=(root_above(form.l2_squared) + l2) ** 2)


def residual_scores(layout: Layout, noise: Noise, neighbors: str) -> ProductEncoding:
    """Return the encoding of mean scores psi z of residuals, mean squares psi**2, and products of mean scores."""
    C, one = regression_forms.CLIP, neighbors == "replace-one"
    M, T, free = _sizes(layout)
    if noise == "gaussian":
        lift, part = (3, 1) if one else (1, 2)  # lambda = lift / 2, b = 1 / part
        square = isqrt((RESIDUAL_WEIGHT * lift) ** 2 * M // 4) // C
        off = isqrt((RESIDUAL_WEIGHT << SHIFT) ** 2 // (part * part * C * C * M))
        diag = isqrt(off * off // 2)
        # 4 = 32/8, or 11/8 as for rows but with nothing left out
        norm = root_above(RESIDUAL_WEIGHT**2 * C * C * M * (32 if one else 11) // 8 + 1)
    else:
        V, own = C * T, one and free
        # y = 1/2 and sigma = 1/4, or y = 1/4 and sigma = 1/8, in units of V
        off = (RESIDUAL_WEIGHT << SHIFT) // ((2 if own else 4) * V)
        square = RESIDUAL_WEIGHT * T // ((4 if own else 8) * C)
        diag = off // 2
        # in quarters: 2, twice 5/4, or 5/4 = 1 + y / 2 + sigma
        norm = RESIDUAL_WEIGHT * V * (8 if own else 10 if one else 5) // 4
    parameters = {"G": C, "score": RESIDUAL_WEIGHT, "square": square, "off": off, "diag": diag}
    weights = [RESIDUAL_WEIGHT] * layout.size + [square]
    most = [C * H] * layout.size + [C * C]
    return _encoding("person-scores", layout, noise, norm, parameters, weights, most, [1] * len(weights), SHIFT)


def glm_scores(layout: Layout, noise: Noise, neighbors: str, *, squares: bool) -> ProductEncoding:
    """Return the encoding of mean scores psi z, means of |psi| z z', and, if `squares`, products of mean scores."""
    C, one, matrices, whole = score_forms.CLIP, neighbors == "replace-one", 1 + squares, SCORE_WEIGHT * score_forms.CLIP
    (M, T, free), several = _sizes(layout), layout.group_bounds(response=False)[1]
    fixed, count = count_signs(layout, response=False), len(layout.regressor_products)
    if noise == "gaussian":
        off = isqrt(whole**2 // ((matrices if one else 2 * matrices) * M))
        diag = isqrt(off * off // 2)
        # the products of mean scores leave no square out: M**2 in full
        left = M * M - fixed * H**4 - sum(B**4 for B in several) + squares * M * M
        norm = root_above(4 * whole**2 * M if one else whole**2 * M + off * off * left // 2 + 1)
    else:
        off = max(whole // (2 * matrices * T), 2)
        diag = off // 2
        left = T * T - fixed * H * H - sum(B * B for B in several) + squares * T * T
        norm = 2 * whole * T if one and free else (2 if one else 1) * (whole * T + off * left // 2 + 1)
    parameters = {"G": C, "score": SCORE_WEIGHT, "off": off, "diag": diag, "squares": int(squares)}
    weights = [SCORE_WEIGHT] * layout.size + [
        entry_weight(entry, off, diag, diag) for entry in layout.regressor_products
    ]
    # 1 for rounding two means, and 1 more where rows' products were rounded down
    most, moved = [C * H] * layout.size + [H * H] * count, [1] * layout.size + [2] * count
    shift = score_forms.SHIFTS[1] if squares else None
    return _encoding("person-scored", layout, noise, norm, parameters, weights, most, moved, shift)


def _sizes(layout: Layout) -> tuple[int, int, bool]:
    """Return M and T of the regressors, and whether all their groups have one coordinate."""
    single, several = layout.group_bounds(response=False)
    return H * H + sum(B * B for B in (*single, *several)), H + sum(single) + sum(several), not several


def _encoding(
    name: str,
    layout: Layout,
    noise: Noise,
    norm: int,
    parameters: dict[str, int],
    weights: list[int],
    most: list[int],
    moved: list[int],
    shift: int | None,
) -> ProductEncoding:
    """Return the encoding of means of rows, then of products of mean scores unless `shift` is None.

    norm: bound on the change of the weighted integers before rounding, in l1 (Laplace) or l2 (Gaussian).  most: largest
    absolute value of each mean.  moved: how much rounding changes the difference of two persons in each mean.  shift:
    products of mean scores are divided by 2**shift.
    """
    if shift is not None:
        every, most_one = layout.all_pairs, parameters["G"] * H
        weights = weights + [parameters["off" if one.off_diagonal else "diag"] for one in every]
        most = most + [most_one * most_one >> shift] * len(every)
        # 2 C H / 2**shift, rounded up
        moved = moved + [(2 * most_one >> shift) + 1] * len(every)
    l1, l2 = rounding_norms([w * by for w, by in zip(weights, moved, strict=True)])
    if noise == "laplace":
        l1, l2_squared = norm + l1, (norm + l1) ** 2
    else:
        l2_squared = (norm + l2) ** 2
        l1 = (norm + l2) * root_above(len(weights))
    matrix, extreme = tuple((w,) for w in weights), tuple(w * x for w, x in zip(weights, most, strict=True))
    return ProductEncoding(name, parameters, (), matrix, l1, l2_squared, (), extreme)


def rounding_norms(moved: Sequence[int]) -> tuple[int, int]:
    """Return what these changes of the integers add to the l1 norm, and to the l2 norm."""
    return sum(moved) + 2, root_above(sum(x * x for x in moved)) + 2


def root_above(square: int) -> int:
    """Return a square root, rounded up."""
    return isqrt(max(square - 1, 0)) + 1
