"""Integer encodings of bounded scores of a generalised linear model, with the proofs of their sensitivities.

A complete row is z, as in `encoding`, without the response: |z| <= sqrt(M) in l2, sum |z_j| <= T in l1.
psi is an integer, |psi| <= C, whatever it is a function of (`rows.piecewise_score`).  An absent row is 0.

Released are psi z_j; |psi| z_j z_k for j <= k; and, where `squares` is 1, psi**2 z_j z_k.  Their weights are such that
all together have the sensitivity of the first alone.  Pairs that share a sum, or are not released, only make norms
smaller.  Before rounding, and divided by C sqrt(M): p = |psi| / C; z / sqrt(M) has length s <= 1; primes mark the other
row; c is the cosine of the angle between z and z', times -1 where psi psi' < 0.  The squares z_j**2 have half the
(squared) weight of pairs j < k, so that a matrix's entries add up to half the squared Frobenius norm.

    Gaussian, replace-one.  The squared change is, with weights w of |psi| and y of psi**2,
        F = (p s)**2 + (p' s')**2 - 2 p p' s s' c + w (p**2 s**4 + p'**2 s'**4 - 2 p p' (s s' c)**2)
            + y (p**4 s**4 + p'**4 s'**4 - 2 (p p' s s' c)**2).
    For w + y <= 1/2 it falls in c (its derivative is at most -2 p p' s s' (1 - 2 (w + y) s s')), so c = -1, where it is
    convex in p (its second derivative is at least 2 s**2 (1 - 2 y)): largest at p = p' = 1, where it is
        (s + s')**2 (1 + (w + y) (s - s')**2) <= 4,
    which grows in s and s'; or where one of p and p' is 0, as for an absent row, at most 1 + w + y.  Attained where psi
    changes its sign.
    Taken: w + y = 1/2, in equal parts where there are both.
    Gaussian, add-remove: 1 + w + y, less the squares of z_j that are not released; w + y = 1/4.

    Laplace, in units of C T, matrices' weights divided by T, squares of entries by 2: b in all, at most 1/2.  Let a_j =
    |psi z_j|, m_j = min(a_j, a'_j), o the sum of m_j where psi z_j and psi' z'_j have one sign, r that of the others,
    e = 1 - sum a_j and e' = 1 - sum a'_j.  Where all groups are of one coordinate, r + o >= 1 - e - e'.  The scores
    change by at most 2 - e - e' - 2 o.  Products of two j, k of one kind keep their sign, and their sizes have m_j m_k
    in common: a matrix changes by at most its weight times 1 - r**2 - o**2 <= 2 (e + e' + o).  For b <= 1/2 all is at
    most 2: attained.
    Otherwise a row has at most 1 + b / 2, b = 1/2, less the squares that are not released; two rows have twice that.

`weighed`: q C in place of |psi|, q in [0, 1] whatever psi is, with weight w, which is 1/4 for Gaussian noise.

    Gaussian, replace-one.  F has w (q**2 s**4 + q'**2 s'**4 - 2 q q' (s s' c)**2) and is convex in each of p, p', q and
    q': largest where they are 0 or 1.  q = q' = 1: p = p' = 1 is the case above, at most 4; otherwise at most
    1 + y + 2 w.  q = 1, q' = 0: at most 4, as above for w = 0, and w s**4.  So F <= 4 + w.
    Laplace, replace-one, groups of one.  Convex in q and q'.  q = q' = 1: as above, with m_j of z in place of psi z,
    which only makes r and o greater, so 1 - r**2 - o**2 <= 2 (e + e' + o) again.  q = 1, q' = 0: what scores and their
    squares change by, at most 2, and a row's own matrix, w / 2.  So at most 2 + w / 2.
    Otherwise: a row has what it had, and two rows have twice that.
    Both bounds are approached where psi changes its sign and q falls from 1 to 0 while a regressor moves by one step
    (`testing.worst_case_scores`).

    Rounding: |psi| z_j z_k is divided by 2**9, psi**2 z_j z_k by 2**18, and rounded down, which changes each by less
    than 1: added to the norms.
"""

from __future__ import annotations

from math import isqrt
from typing import Final

from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums.encoding import ProductEncoding, count_signs
from tacit.method.regression.row_sums.noisy_scores import SCORE_WEIGHT
from tacit.method.shared.encoding import Noise
from tacit.rows.coordinates import H

CLIP: Final = 2**9
"""C, the largest |psi|: steps of a score on either side of 0."""
SHIFTS: Final = (9, 18)
"""|psi| z_j z_k and psi**2 z_j z_k are divided by 2 to these powers, so that they are at most 2**20."""


def glm_scores(
    layout: Layout, noise: Noise, neighbors: str, *, squares: bool, weighed: bool = False
) -> ProductEncoding:
    """Return the encoding of psi z, of |psi| z z' and, if `squares`, of psi**2 z z'.

    weighed: whether a weight in [0, C] that is a function of the regressors takes the place of |psi|.
    """
    single, several = layout.group_bounds(response=False)
    M = H * H + sum(B * B for B in (*single, *several))
    T = H + sum(single) + sum(several)
    one, matrices = neighbors == "replace-one", 1 + squares
    count, fixed, whole = (
        len(layout.regressor_products) * matrices,
        count_signs(layout, response=False),
        SCORE_WEIGHT * CLIP,
    )
    if noise == "gaussian":
        parts = (2 if weighed else matrices) if one else 2 * matrices  # w = 1 / (2 parts)
        # off**2 M / (2 whole**2) = w: the entries j <= k have half the squared Frobenius norm
        off = isqrt(whole**2 // (parts * M))
        diag = isqrt(off * off // 2)
        # the squared Frobenius norm, less the squares that are not released: of +-H, and of groups of several
        left = M * M - fixed * H**4 - sum(B**4 for B in several)
        # F <= 4, or 4 + w where `weighed`
        apart = 4 * whole**2 * M + (off * off * M * M // 2 + 1 if weighed else 0)
        size = apart if one else whole**2 * M + matrices * (off * off * left // 2)
        # rounded up, and each of `count` products moves by less than 1 from rounding down
        l2 = isqrt(size) + 1 + off * (isqrt(count) + 1)
        # Cauchy-Schwarz
        l2_squared, l1 = l2 * l2, l2 * (isqrt(layout.size + count) + 1)
    else:
        # T <= MOST H keeps the quotient at 5 or more; 2 would still leave a weight for squares
        off = max(whole // (2 * matrices * T), 2)
        diag = off // 2
        left = T * T - fixed * H * H - sum(B * B for B in several)
        mass = whole * T + matrices * (off * left // 2 + 1)
        apart = 2 * whole * T + (off * T * T // 2 + 1 if weighed else 0)
        l1 = (apart if one and not several else (2 if one else 1) * mass) + off * count
        l2_squared = l1 * l1
    parameters = {"G": CLIP, "score": SCORE_WEIGHT, "off": off, "diag": diag, "squares": int(squares)}
    weights = [SCORE_WEIGHT] * layout.size + [
        off if entry.off_diagonal else diag for entry in layout.regressor_products
    ] * matrices
    most = [CLIP * H] * layout.size + [H * H] * count
    extreme = tuple(w * x for w, x in zip(weights, most, strict=True))
    return ProductEncoding(
        "weighed" if weighed else "scored", parameters, (), tuple((w,) for w in weights), l1, l2_squared, (), extreme
    )
