"""Read released sums of bounded scores of norm-clipped rows, with the law of their noise.  Post-processing.

Terms are combined to axes of norm 1 in standard deviations (`norm_terms`), so that what is set in units of them, such
as the smallest variance, means the same however wide a column's bounds are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.bounded_scores.links import Link
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix
from tacit.method.regression.row_sums.noisy_norms import stored_axes, sums_of_products, turned, turned_back
from tacit.method.regression.row_sums.noisy_scores import (
    CUT_UNIT,
    FirstPart,
    ScaledTerms,
    ScorePart,
    constant_of,
    response_of,
    stored_coefficients,
    two_valued,
)
from tacit.method.regression.row_sums.norm_encoding import MOST
from tacit.method.regression.row_sums.norm_person_encoding import PERSON, of_rows
from tacit.method.regression.row_sums.norm_scaling import Kept, kept_of
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.regression.row_sums.released_columns import Columns
from tacit.method.regression.row_sums.split_score_encoding import MATRICES
from tacit.release.parts import Part
from tacit.rows.coordinates import H
from tacit.rows.norm_clip import NormClip


def norm_terms(layout: Layout, turn: Array) -> ScaledTerms:
    """Return combinations of the terms that are at right angles as functions of a standardised vector.

    turn: makes that vector of z / H (`read_standardised`), shape (m + 1, m + 1).
    """
    u, m = len(layout.names), layout.size
    inner = turn[:m, :m]
    # of the terms as functions of the vector: terms = sides sizes axes
    sides, sizes, axes = np.linalg.svd(np.linalg.solve(inner.T, layout.terms[:u, :m].T).T, full_matrices=False)
    if sizes[-1] <= 1e-12 * sizes[0]:
        raise ArithmeticError("terms that depend on each other")
    matrix = np.asarray(axes @ inner, dtype=np.float64)
    back = np.asarray(sides / sizes, dtype=np.float64)
    return ScaledTerms(matrix, back, response_of(layout), constant_of(matrix), two_valued(layout, matrix))


def norm_first(columns: Columns, products: NoisyMatrix, turn: Array, layout: Layout) -> tuple[FirstPart, ScaledTerms]:
    """Return the sums of the parts of column moments and of products, and the terms that they are of.

    products, turn: as `noisy_norms.read_standardised` returns them.
    """
    terms, m, last = norm_terms(layout, turn), layout.size, columns.mean[-1]
    whole = products.of_rows(columns.rows).transformed(np.asarray(np.linalg.inv(turn), dtype=np.float64))
    matrix, response = terms.matrix, np.eye(m + 1)[-1]
    return (
        FirstPart(
            columns.rows,
            matrix @ whole.values[:-1, 0],
            whole.leading(m).transformed(matrix),
            matrix @ whole.values[:-1, -1],
            matrix @ whole.covariance_times(response)[:-1, :-1] @ matrix.T,
            float(last / H * columns.rows),
            response_squares=float((last**2 + columns.sd[-1] ** 2) / H**2 * columns.rows),
            response_noise=columns.loose / H,
            rows_noise=columns.rows_noise,
        ),
        terms,
    )


def noise_of_scores(part: ProductPart, clip: NormClip, terms: ScaledTerms) -> Array:
    """Return the covariance of the noise in sums of psi times the terms, of a part with this vector."""
    back = terms.matrix @ turned_back(stored_axes(clip), terms.matrix.shape[1])
    return (
        back @ back.T * (float(part.law.variance()) / (part.form.parameters["score"] * part.form.parameters["G"]) ** 2)
    )


def noise_of_sizes(part: ProductPart, clip: NormClip) -> float:
    """Return the standard deviation of the noise in a sum of a weight in [0, 1] times two entries of variance 1.

    Infinite where products are a part of their own, whose noise is another.
    """
    unit = clip.weights[0][0] * H / 2.0**clip.shift
    if "off" not in part.form.parameters or unit <= 0:
        return math.inf
    return math.sqrt(part.law.variance()) / (part.form.parameters["off"] * unit**2)


def read_last_scores(
    parts: Sequence[Part],
    columns: Columns,
    products: NoisyMatrix,
    turn: Array,
    layout: Layout,
    terms: ScaledTerms,
    link: Link,
) -> ScorePart:
    """Return the sums of the last scores, as if rows counted whole.

    parts: all so far, the last of scores or, at a pure price, of the matrices beside them.  products, turn: as
    `noisy_norms.read_standardised` returns them.
    """
    scores, *_ = parts[-2:] if of_rows(parts[-1].form) == MATRICES else parts[-1:]
    made, square = turned(scores.parameters, layout.size), _mean_square(parts[-1], layout)
    kept = kept_of(columns, layout, products, turn, made, square)
    return read_norm_scored(scores, parts[-1], layout, terms, link, kept, columns.row if parts[0].weight else None)


def read_norm_scored(
    part: Part, matrices: Part, layout: Layout, terms: ScaledTerms, link: Link, kept: Kept, row: float | None = None
) -> ScorePart:
    """Return the sums of a part of scores, as if rows counted whole; matrices: the part that holds them, or itself.

    row: see `released_columns.Columns`; None where rows have no weights.
    psi is times the weight of its row, and psi**2 times its square.
    """
    weighted, row = row is not None, 1.0 if row is None else row
    facts, m, unit = part.parameters, layout.size, part.parameters["score"] * part.parameters["G"] * row
    axes, link = terms.matrix @ turned_back(facts, m), link.from_stored(facts)
    back = axes @ kept.scores
    place, squares = _place(matrices, layout)
    integers, beside = (np.array(one.integers[0], dtype=np.float64) for one in (part, matrices))
    start, loose, other = place + 1 + squares, math.sqrt(matrices.law.variance()), matrices.parameters
    meat = sums_of_products(matrices, m, start + len(layout.all_pairs), row**2).transformed(back) if squares else None
    size, square = other["size"] * other["G"] * row, other["square"] * (other["G"] * row) ** 2
    return ScorePart(
        stored_coefficients(facts, terms, link),
        link,
        back @ integers[:m] / unit,
        back @ back.T * (part.law.variance() / unit**2),
        sums_of_products(matrices, m, start, row).transformed(axes @ kept.products),
        meat,
        facts["cut"] / CUT_UNIT,
        float(beside[place + 1] / square) if squares else 0.0,
        loose / square if squares else 0.0,
        float(beside[place] / size),
        loose / size,
        matrices.form.startswith(PERSON),
        weighted,
        kept,
    )


def _mean_square(matrices: Part, layout: Layout) -> float:
    """Return the mean square of the norm of a shortened vector, in units of C, rows weighted by |psi| or its like."""
    facts, (place, squares) = matrices.parameters, _place(matrices, layout)
    whole = float(matrices.integers[0][place] / (facts["size"] * facts["G"]))
    sizes = sums_of_products(matrices, layout.size, place + 1 + squares, 1.0)
    return float(np.trace(sizes.values)) / MOST**2 / max(whole, 1.0)


def _place(matrices: Part, layout: Layout) -> tuple[int, bool]:
    """Return where a part has the sum of sizes, and whether psi**2 follows it, before the matrices."""
    alone = of_rows(matrices.form) == MATRICES
    return 0 if alone else layout.size, alone or bool(matrices.parameters["squares"])
