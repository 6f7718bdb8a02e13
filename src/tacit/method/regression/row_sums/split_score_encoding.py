"""Integer encodings of the last step at pure prices, in two parts, with the proofs of their sensitivities in l2.

Noise at a pure price grows with the number of integers that share it, so that matrices beside the scores would cost
them most of their precision.  The scores are released alone, and the matrices beside them at a price of their own.

A complete row has an integer vector v of the regressors with |v| <= C (`rows.norm_clip`) and an integer score psi,
|psi| <= c, whatever released parts it is chosen from.  An incomplete row is 0.  Primes mark the other row.

`score_vectors` releases F psi v, a vector in a ball of radius F c C: 2 F c C (replace-one), F c C (add-remove).

`score_matrices` releases psi**2 and psi**2 v v'; and, where `sizes`, q and q v v', q being |psi| or a weight in [0, c]
of its own.  Entries j < k have the weight `off` and entries j = k one of off / sqrt(2), so that the norm of a matrix A
is |A| off / sqrt(2), |A| its Frobenius norm.  Divided by U = c**2 C**2 off / sqrt(2), with P = psi**2 / c**2 and
s = |v| / C <= 1, a matrix adds to the squared change
    |P v v' - P' v' v''|**2 / C**4 <= (P s**2)**2 + (P' s'**2)**2 <= P**2 + P'**2,
as the inner product of v v' and v' v'' is (v.v')**2 >= 0; and psi**2, of weight u U / c**2, adds u**2 (P - P')**2.
    Replace-one, u = 1.  P**2 + P'**2 + (P - P')**2 is convex in P and in P', so that it is largest where each is 0 or
    1: at most 2.  The same holds of q / c in place of P, whatever psi is: 2 for each matrix, attained by rows on two
    axes; the sums of psi**2 and of q are free.
    Add-remove, u = 1/2: 1 + 1/4 for each matrix.
    Rounding.  q v v' is divided by 2**9, psi**2 v v' by 2**18, and rounded down, which changes each by less than 1:
    added to the norm.  Of residuals of rows the sum of psi**2 v v' over all rows is divided, and changes by less than
    1 more, too (`norm_encoding`).
    `far`, of residuals of rows: those with psi = c and those with psi = -c are counted as in `norm_encoding`, each of
    weight U / 4: the squared change is at most 2 U**2 / 16 more (replace-one; attained, with the 2 of the matrices, by
    rows of psi = c and psi = -c on two axes), and U**2 / 16 more of a row against none.  Rows far along each axis are
    counted as there, too, of the same weight: as much more again, attained by the same rows.
"""

from __future__ import annotations

from math import isqrt
from typing import Final

from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums.encoding import ProductEncoding, entry_weight
from tacit.method.regression.row_sums.norm_encoding import MOST, extreme_counts, weighted_sums
from tacit.method.regression.row_sums.score_encoding import CLIP

RESIDUALS: Final = "residual-vectors"
SCORES: Final = "score-vectors"
COUNT_SCORES: Final = "count-score-vectors"
VECTORS: Final = (RESIDUALS, SCORES, COUNT_SCORES)
"""Forms of scores alone: of linear models, of binary responses, and of counts."""
MATRICES: Final = "score-matrices"
"""Form of the matrices beside them, of all models."""
FAR_MATRICES: Final = "residual-matrices-4"
"""The same of linear models of rows, with the numbers of rows whose residual is clipped above and below and of those
far along each axis, and with sums of products that are divided once, since 0.2."""
SIDES_MATRICES: Final = "residual-matrices-3"
"""The same without the numbers of rows far along each axis."""
ROUNDED_MATRICES: Final = "residual-matrices-2"
"""The same with products divided and rounded down in each row."""
FORMER_MATRICES: Final = "residual-matrices"
"""The same with the number of both together."""
OF_MATRICES: Final = (MATRICES, FAR_MATRICES, SIDES_MATRICES, ROUNDED_MATRICES, FORMER_MATRICES)
"""All of these."""
FORMS: Final = (*VECTORS, *OF_MATRICES)
"""All of them."""
SCORE: Final = 2**10
"""F, the weight of psi v."""
OFF: Final = 99
"""Weight of an entry j < k of a matrix: over the root of 2 it is nearly 70, the weight of an entry j = k."""


def score_vectors(name: str, layout: Layout, neighbors: str) -> ProductEncoding:
    """Return the encoding of psi v alone; name: one of VECTORS."""
    radius = SCORE * CLIP * MOST
    l2 = 2 * radius if neighbors == "replace-one" else radius
    most = [CLIP * MOST, *([0] * (layout.size - 1))]
    return weighted_sums(
        name, {"G": CLIP, "score": SCORE}, [SCORE] * layout.size, most, l2 * (isqrt(layout.size) + 1), l2 * l2
    )


def score_matrices(layout: Layout, neighbors: str, *, sizes: bool, far: bool = False) -> ProductEncoding:
    """Return the encoding of psi**2 and psi**2 v v', and of q and q v v' if `sizes`.

    far: whether rows with psi = c, those with psi = -c, and those far along each axis are counted, beside psi**2.
    """
    one, pairs, matrices = neighbors == "replace-one", layout.all_pairs, 1 + sizes
    # U, rounded down: weights of sums that are rounded down only make norms smaller
    diag = isqrt(OFF * OFF // 2)
    unit = diag * MOST**2 // (1 if one else 2)
    size, square = unit // CLIP * sizes, unit // CLIP**2
    # in quarters of U**2 = off**2 C**4 / 2, for each matrix
    quarters = (8 if one else 5) * matrices
    # sixteenths: 4 for each of these, and 1 for each count that changes
    l2 = (
        isqrt((4 * quarters + far * (4 if one else 2)) * OFF**2 * MOST**4 // 32)
        + 1
        + OFF * (isqrt(matrices * len(pairs)) + 1)
    )
    counts = extreme_counts(layout) * far
    count = [diag * MOST**2 // 4] * len(counts)
    parameters = {"G": CLIP, "size": size, "square": square, "off": OFF, "diag": diag}
    parameters |= {"far": count[0]} if far else {}
    matrix = [entry_weight(pair, OFF, diag, diag) for pair in pairs]
    weights = [*([size] if sizes else []), square, *count, *(matrix * matrices)]
    alone = [MOST * MOST, *([0] * (len(pairs) - 1))]
    most = [*([CLIP] if sizes else []), CLIP**2, *counts, *(alone * matrices)]
    name = FAR_MATRICES if far else MATRICES
    return weighted_sums(name, parameters, weights, most, l2 * (isqrt(len(weights)) + 1), l2 * l2)
