"""Integer forms of bounded scores of a generalised linear model: why the sensitivities of `scores` hold.

A complete row is z, as in `regression_forms`, without the response: |z| <= sqrt(M) in l2, sum |z_j| <= T in l1.  psi
and d are integers, |psi| <= C and 0 <= d <= C (`linear.bend`), whatever they are functions of.  An absent row is 0.

Released are psi z_j; d z_j z_k for j <= k; and, where `squares` is 1, psi**2 z_j z_k: so weighted that the first have
most of the sensitivity.  Pairs that share an entry, or are left out, only make norms smaller.  In real terms, divided
by C sqrt(M): p = psi / C, q = d / C, z / sqrt(M) of length s <= 1, those of the other row primed, c the cosine of z and
z'.  Squares of the matrices' entries are weighted by 1/2 against pairs, so that they add up to half the squared
Frobenius norm.

    Gaussian, replace-one.  The squared change is, with weights w for d and 1/4 (or 0) for psi**2,
        F = (p s)**2 + (p' s')**2 - 2 p p' s s' c
            + w (q**2 s**4 + q'**2 s'**4 - 2 q q' (s s' c)**2) + (p**4 s**4 + p'**4 s'**4 - 2 (p p' s s' c)**2) / 4.
    It is convex in q and in q', and in p and in p' (its second derivative is at least s**2 (2 - c**2)), so largest
    where q, q' are 0 or 1 and p, p' are -1, 0 or 1.  With p' = 0 it is at most 1 + 2 w + 1/4.  With p p' = 1, by the
    sign of c: its derivative in c is at most -2 s s' + 2 (2 w + 1/2) (s s')**2 <= 0 for w <= 1/4, so c = -1, where
        F = (s + s')**2 + (s**2 - s'**2)**2 / 4 + w (q s**2 - q' s'**2)**2,
    which grows with s and s' (and is so for q = q' = 1, where it is (s + s')**2 (1 + (s - s')**2 / 2)): at s = s' = 1
    it is 4 + w where q and q' differ, else 4.  Hence 4 + 1/4 for w = 1/4.
    The first part, whose d is C for every row and which has no squares: q = q' = 1 and w = 1/2 give 4, by the same
    steps; with squares w = 1/4 gives 4.
    Present against absent, and add-remove: at most 1 + w + 1/4 (or 0).

    Laplace.  A row has at most C T, and of each matrix (squares weighted by 1/2) at most C T**2 / 2 times the weight,
    which is 1 / (4 T): an eighth of C T.  Two rows have twice that.

    Floors: d z_j z_k is divided by 2**9, psi**2 z_j z_k by 2**18, and floored, which moves each by less than 1: added to
    the norms.
"""

from __future__ import annotations

from math import isqrt
from typing import Final

from tacit.linear.layout import H, Layout
from tacit.mechanisms.moment_forms import Noise
from tacit.mechanisms.regression_forms import Crossing

CLIP: Final = 2**9
"""C: steps of a score, up and down, and of its curvature."""
SHIFTS: Final = (9, 18)
"""Powers of two that d z_j z_k and psi**2 z_j z_k are divided by: at most 2**20 is left."""
SCORE: Final = 2**11
"""Weight of psi z_j."""


def scored(layout: Layout, noise: Noise, neighbors: str, *, first: bool, squares: bool) -> Crossing:
    """Scores, their curvature, and their squares; first: d is the same for every row."""
    single, several = layout.widths(response=False)
    M = H * H + sum(B * B for B in (*single, *several))
    T = H + sum(single) + sum(several)
    one, matrices = neighbors == "replace-one", 1 + squares
    count = len(layout.inner) * matrices
    if noise == "gaussian":
        free = first and not squares and one
        off = isqrt((SCORE * CLIP) ** 2 * (4 if free else 2) // (4 * M))
        diag = isqrt(off * off // 2)
        quarters = (16 if first else 17) if one else 4 + matrices
        l2 = isqrt((SCORE * CLIP) ** 2 * M * quarters // 4) + 1 + off * (isqrt(count) + 1)
        l2_squared, l1 = l2 * l2, l2 * (isqrt(layout.size + count) + 1)
    else:
        off = max(SCORE * CLIP // (4 * T), 2)
        diag = off // 2
        mass = SCORE * CLIP * T + matrices * (off * T * T // 2 + 1)
        l1 = (2 if one else 1) * mass + off * count
        l2_squared = l1 * l1
    parameters = {"G": CLIP, "score": SCORE, "off": off, "diag": diag, "squares": int(squares)}
    weights = [SCORE] * layout.size + [off if entry.off else diag for entry in layout.inner] * matrices
    most = [CLIP * H] * layout.size + [H * H] * count
    extreme = tuple(w * x for w, x in zip(weights, most, strict=True))
    return Crossing("scored", parameters, (), tuple((w,) for w in weights), l1, l2_squared, (), extreme)
