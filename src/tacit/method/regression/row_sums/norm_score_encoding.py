"""Integer encodings of bounded scores of norm-clipped rows, with the proofs of their sensitivities in l2.

A complete row has an integer vector v of the regressors with |v| <= C (`rows.norm_clip`), whatever its scales and axes,
and an integer score psi, |psi| <= c, whatever it is a function of (`rows.piecewise_score`).  An incomplete row is 0.

Released are psi v_j; |psi|; |psi| v_j v_k for j <= k; and, where `squares` is 1, psi**2 and psi**2 v_j v_k.  Divided by
F c C, F being the weight of psi v: p = |psi| / c; s = |v| / C <= 1; primes mark the other row.  The squared change is
    W = G + t (p - p')**2 + u (p**2 - p'**2)**2,
G being that of psi v and of the two matrices, of weights w and y: F of `score_encoding`, with the norm C in place of
sqrt(M), which is all that the proof there asks of z.  t and u are the squared weights of |psi| and psi**2.

    Replace-one.  (p**2 - p'**2)**2 <= 4 (p - p')**2, so that W <= G + (t + 4 u) (p - p')**2, which is convex in p and
    in p', as G is: largest where each is 0 or 1.  Where both are 1 it is G <= 4; where one is 0 it is at most
    1 + w + y + t + 4 u.  Taken: w + y = 1/2, t = 1, u = 1/4: at most 4, attained where psi changes its sign.
    Add-remove: 1 + w + y + t + u, w + y = 1/4, t = u = 1/16.

`weighed`: q c in place of |psi|, q in [0, 1] whatever psi is: a function of the predictor, or in Huber's model
    whether |psi| < c.  What follows lets p and q be any numbers in their ranges, related or not.
    W = G + t (q - q')**2 + u (p**2 - p'**2)**2.  It is at
    most G + t (q - q')**2 + 4 u (p - p')**2, which is convex in each of p, p', q and q'.  q = q' = 1: p = p' = 1 gives
    at most 4, and otherwise 1 + y + 2 w + 4 u.  q = 1, q' = 0: what has no weight w, at most 4, and w + t.  So
    W <= 4 + w + t.  Taken: w = y = 1/4, t = 1/16, u = 1/4.  Add-remove: as above.

    Rounding: |psi| v_j v_k is divided by 2**9, psi**2 v_j v_k by 2**18, and rounded down, which changes each by less
    than 1: added to the norm.
"""

from __future__ import annotations

from math import isqrt
from typing import Final

from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums.encoding import ProductEncoding, entry_weight
from tacit.method.regression.row_sums.noisy_scores import SCORE_WEIGHT
from tacit.method.regression.row_sums.norm_encoding import MOST, weighted_sums
from tacit.method.regression.row_sums.score_encoding import CLIP

FORMS: Final = ("norm-scored", "norm-weighed")
"""Forms with |psi|, and with a weight of its own, in products."""


def norm_scored(layout: Layout, neighbors: str, *, squares: bool, weighed: bool = False) -> ProductEncoding:
    """Return the encoding of psi v, of |psi|, of |psi| v v' and, if `squares`, of psi**2 and psi**2 v v'.

    weighed: whether a weight in [0, c] that is a function of the regressors takes the place of |psi|.
    """
    one, matrices, pairs = neighbors == "replace-one", 1 + squares, layout.all_pairs
    whole, count = SCORE_WEIGHT * CLIP, len(pairs) * matrices
    # w = y = 1 / (2 parts): off**2 C**2 / (2 whole**2) = w, the entries j <= k having half the squared Frobenius norm
    parts = (2 if weighed else matrices) if one else 2 * matrices
    off = isqrt(whole**2 // (parts * MOST**2))
    diag = isqrt(off * off // 2)
    # roots of t and u in quarters, and their units: |psi| <= c and psi**2 <= c**2 where the norm's unit is F c C
    size, square = (1 if weighed or not one else 4), (2 if one else 1)
    size_weight, square_weight = size * SCORE_WEIGHT * MOST // 4, square * SCORE_WEIGHT * MOST // (4 * CLIP)
    # in sixteenths: 4 or 4 + w + t, and 1 + w + y + t + u
    total = (64 + (4 + 1 if weighed else 0)) if one else 16 + 4 + 1 + squares
    # rounded up, and each of `count` products moves by less than 1 from rounding down
    l2 = isqrt(total * whole**2 * MOST**2 // 16) + 1 + off * (isqrt(count) + 1)
    parameters = {"G": CLIP, "score": SCORE_WEIGHT, "size": size_weight, "off": off, "diag": diag}
    parameters |= {"square": square_weight, "squares": int(squares)}
    matrix = [entry_weight(pair, off, diag, diag) for pair in pairs]
    weights = [SCORE_WEIGHT] * layout.size + [size_weight, *([square_weight] if squares else []), *(matrix * matrices)]
    # an extreme row lies on the first axis
    alone = [MOST * MOST, *([0] * (len(pairs) - 1))]
    most = [CLIP * MOST, *([0] * (layout.size - 1)), CLIP, *([CLIP**2] if squares else []), *(alone * matrices)]
    return weighted_sums(FORMS[weighed], parameters, weights, most, l2 * (isqrt(len(weights)) + 1), l2 * l2)
