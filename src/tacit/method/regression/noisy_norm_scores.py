"""Read released sums of bounded scores of norm-clipped rows, with the law of their noise.  Post-processing.

Terms are combined to axes of norm 1 in standard deviations (`norm_terms`), so that what is set in units of them, such
as the smallest variance, means the same however wide a column's bounds are.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.layout import Layout
from tacit.method.regression.links import Link
from tacit.method.regression.noisy_crossproducts import NoisyMatrix
from tacit.method.regression.noisy_norms import stored_axes, sums_of_products, turned_back
from tacit.method.regression.noisy_scores import (
    CUT_UNIT,
    FirstPart,
    ScaledTerms,
    ScorePart,
    constant_of,
    response_of,
    stored_coefficients,
)
from tacit.method.regression.norm_encoding import MOST
from tacit.method.regression.norm_scaling import Columns, Kept
from tacit.method.regression.product_parts import ProductPart
from tacit.method.regression.split_score_encoding import MATRICES
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
    return ScaledTerms(matrix, np.asarray(sides / sizes, dtype=np.float64), response_of(layout), constant_of(matrix))


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


def read_norm_scored(
    part: Part,
    layout: Layout,
    terms: ScaledTerms,
    link: Link,
    kept: Kept,
    matrices: Part | None = None,
) -> ScorePart:
    """Return the sums of a part of form `norm-scored` or `norm-weighed`, as if rows counted whole.

    matrices: the part that holds them, of scores that were released alone.
    """
    if matrices is None:
        return _read_one(part, layout, terms, link, kept)
    return _read_split(part, matrices, layout, terms, link, kept)


def mean_square(part: Part, layout: Layout) -> float:
    """Return the mean square of the norm of a shortened vector, in units of C, rows weighted by |psi| or its like."""
    facts, m, alone = part.parameters, layout.size, part.form == MATRICES
    place = 0 if alone else m
    # psi**2 comes between the sum of sizes and their matrix, where there is one
    start = place + 1 + (1 if alone else facts["squares"])
    whole = float(part.integers[0][place] / (facts["size"] * facts["G"]))
    return float(np.trace(sums_of_products(part, m, start, 1.0).values)) / MOST**2 / max(whole, 1.0)


def _read_one(part: Part, layout: Layout, terms: ScaledTerms, link: Link, kept: Kept) -> ScorePart:
    """Return the sums of a part that holds scores and matrices."""
    facts, matrix, m = part.parameters, terms.matrix, layout.size
    integers, noise = np.array(part.integers[0], dtype=np.float64), part.law.variance()
    squares, sd, unit = facts["squares"], math.sqrt(noise), facts["score"] * facts["G"]
    axes, start = matrix @ turned_back(facts, m), m + 1 + squares
    back, whole_rows = axes @ kept.scores, axes @ kept.products
    sizes, link = sums_of_products(part, m, start, 1.0).transformed(whole_rows), link.from_stored(facts)
    meat = sums_of_products(part, m, start + len(layout.all_pairs), 1.0).transformed(back) if squares else None
    whole, square = facts["size"] * facts["G"], facts["square"] * facts["G"] ** 2
    return ScorePart(
        stored_coefficients(facts, terms, link),
        link,
        back @ integers[:m] / unit,
        back @ back.T * (noise / unit**2),
        sizes,
        meat,
        facts["cut"] / CUT_UNIT,
        float(integers[m + 1] / square) if squares else 0.0,
        sd / square if squares else 0.0,
        float(integers[m] / whole),
        sd / whole,
    )


def _read_split(part: Part, matrices: Part, layout: Layout, terms: ScaledTerms, link: Link, kept: Kept) -> ScorePart:
    """Return the sums of scores alone, and of the matrices that were released beside them."""
    facts, other, m = part.parameters, matrices.parameters, layout.size
    integers, beside = (np.array(one.integers[0], dtype=np.float64) for one in (part, matrices))
    link, unit, loose = link.from_stored(facts), facts["score"] * facts["G"], math.sqrt(matrices.law.variance())
    axes, pairs = terms.matrix @ turned_back(facts, m), len(layout.all_pairs)
    back = axes @ kept.scores
    size, square = other["size"] * other["G"], other["square"] * other["G"] ** 2
    return ScorePart(
        stored_coefficients(facts, terms, link),
        link,
        back @ integers / unit,
        back @ back.T * (part.law.variance() / unit**2),
        sums_of_products(matrices, m, 2, 1.0).transformed(axes @ kept.products),
        sums_of_products(matrices, m, 2 + pairs, 1.0).transformed(back),
        facts["cut"] / CUT_UNIT,
        float(beside[1] / square),
        loose / square,
        float(beside[0] / size),
        loose / size,
    )
