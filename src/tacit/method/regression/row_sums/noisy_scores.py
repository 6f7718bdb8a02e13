"""Read released integers of bounded scores as numbers, with the law of their noise.  Post-processing: no data here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.method.regression.bounded_scores.links import Link
from tacit.method.regression.bounded_scores.normal_regressors import TwoValued
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums.noisy_crossproducts import Array, NoisyMatrix, noisy_matrix, read_crossproducts
from tacit.method.regression.row_sums.norm_scaling import Kept
from tacit.release.parts import Part
from tacit.rows.coordinates import SIGN, H
from tacit.rows.piecewise_score import L

SCORE_WEIGHT: Final = 2**11
"""Weight of psi z in the released integers."""
CUT_UNIT: Final = 2**16
"""The cut of a score is stored in parts of 1 / UNIT."""


@dataclass(frozen=True)
class ScaledTerms:
    """The terms of a formula, each scaled to norm 1 (`scaled_terms`), or combined (`noisy_norm_scores.norm_terms`).

    matrix: shape (u, m), rows that map z / H to the scaled terms.  back: shape (u, u), makes coefficients of the terms
    of those of the scaled terms.  response: y = response[0] + response[1] (z_m + H).  constant: see `Regressors`.
    two_valued: the columns of two values.
    """

    matrix: Array
    back: Array
    response: tuple[float, float]
    constant: Array | None
    two_valued: TwoValued | None = None


def scaled_terms(layout: Layout) -> ScaledTerms:
    """Return the scaled terms of a layout.

    >>> from tacit.method.regression.formulas.formula import parse
    >>> from tacit.method.regression.formulas.layout import layout
    >>> from tacit.release.parts import Variable
    >>> facts = Variable("y", "boolean"), Variable("x", "real", 0, 4, half=1024)
    >>> found = scaled_terms(layout(parse("y ~ x"), facts))
    >>> found.matrix.round(2).tolist(), found.constant.round(2).tolist()
    ([[1.0, 0.0], [0.71, 0.71]], [1.0, 0.0])
    """
    u, m = len(layout.names), layout.size
    size = np.sqrt((layout.terms[:u] ** 2).sum(axis=1))
    matrix = layout.terms[:u, :m] / size[:, None]
    return ScaledTerms(matrix, np.diag(1 / size), response_of(layout), constant_of(matrix), two_valued(layout, matrix))


def constant_of(matrix: Array) -> Array | None:
    """Return the combination of terms that is z_0 / H = 1, if they span it (an intercept, or all levels)."""
    return _combination(matrix, 0)


def _combination(matrix: Array, j: int) -> Array | None:
    """Return the combination of terms that is z_j / H, if they span it."""
    one = np.eye(matrix.shape[1])[j]
    found = np.asarray(np.linalg.lstsq(matrix.T, one, rcond=None)[0], dtype=np.float64)
    size = max(1.0, float(np.abs(matrix).max()))
    return found if float(np.abs(matrix.T @ found - one).max()) < 1e-9 * size else None


def two_valued(layout: Layout, matrix: Array) -> TwoValued | None:
    """Return the columns of two values, and indicators of levels, the first ones too, that the terms span."""
    marks = {j: one[1][0] for j, one in enumerate(layout.coordinates[:-1]) if not one[0] and len(one[1]) == 1}
    found = {j: along for j in marks if (along := _combination(matrix, j)) is not None}
    if not found:
        return None
    along = list(found.values())
    ends = [(-1.0 if marks[j][1] == SIGN else 0.0, 1.0) for j in found]
    constant = constant_of(matrix)
    for column in dict.fromkeys(marks[j][0] for j in found if marks[j][1] != SIGN):
        own = [j for j, mark in marks.items() if mark[0] == column]
        if constant is not None and all(j in found for j in own):
            # rows of the first level have 0 in all others
            along.append(constant - np.sum([found[j] for j in own], axis=0))
            ends.append((0.0, 1.0))
    return TwoValued(np.stack(along), np.array(ends))


def response_of(layout: Layout) -> tuple[float, float]:
    """Return the constant and the slope of the response in z_m + H."""
    u, m = len(layout.names), layout.size
    alpha, gamma = float(layout.terms[u, 0]), float(layout.terms[u, m])
    # alpha + gamma z_m / H = (alpha - gamma) + gamma / H (z_m + H)
    return alpha - gamma, gamma / H


@dataclass(frozen=True)
class FirstPart:
    """The first part as sums over rows; x: the scaled terms of a row, r = z_m / H: its response.

    rows: number of complete rows, public or noisy.  sums: of x, shape (u,).  moments: of x x'.  products: of x r,
    shape (u,), with noise of covariance `noise`.  response_sum: of r, with noise of standard deviation
    `response_noise`.  response_squares: of r**2.  rows_noise: standard deviation of the noise in rows.
    """

    rows: float
    sums: Array
    moments: NoisyMatrix
    products: Array
    noise: Array
    response_sum: float
    response_squares: float = 0.0
    response_noise: float = 0.0
    rows_noise: float = 0.0


@dataclass(frozen=True)
class ScorePart:
    """A further part as sums over rows; x: the scaled terms of a row, psi: its score, in [-1, 1].

    b: coefficients that psi was evaluated at, shape (u,), by `link` with the bound `cut`.  score: of psi x, shape (u,),
    with noise of covariance `noise`.  weighted_products: of w x x', the weight w being |psi| or a function of the
    predictor; weight_sum: of w, with noise of standard deviation `weight_sum_noise`.  meat: of psi**2 x x', None where
    it is not released; score_squares: of psi**2, with noise of standard deviation `score_squares_noise`.  persons:
    whether the sums are over persons, of means of their rows, and (meat) of products of mean scores.  weighted: whether
    rows have weights.  kept: what undid the shortening of rows; None where these were not shortened to a norm.
    """

    b: Array
    link: Link
    score: Array
    noise: Array
    weighted_products: NoisyMatrix
    meat: NoisyMatrix | None
    cut: float
    score_squares: float = 0.0
    score_squares_noise: float = 0.0
    weight_sum: float = 0.0
    weight_sum_noise: float = 0.0
    persons: bool = False
    weighted: bool = False
    kept: Kept | None = None


def read_first_part(part: Part, layout: Layout, terms: ScaledTerms, rows: int | None) -> FirstPart:
    """Return the first part's sums; its form is `products`, or `scored` with the response in place of psi."""
    matrix = terms.matrix
    if part.form == "products":
        whole = read_crossproducts(part, layout, rows)
        inner, response = whole.leading(layout.size), whole.values[:-1, -1]
        count = float(whole.values[0, 0])
        sums = matrix @ inner.values[:, 0]
        noise = matrix @ whole.covariance_times(np.eye(layout.size + 1)[-1])[:-1, :-1] @ matrix.T
        ends = np.eye(layout.size + 1)
        rough, loose = math.sqrt(whole.covariance_times(ends[-1])[0, 0]), math.sqrt(whole.quadratic_variance(ends[0]))
        total, square = float(response[0]), float(whole.values[-1, -1])
        return FirstPart(count, sums, inner.transformed(matrix), matrix @ response, noise, total, square, rough, loose)
    score, inner, _ = _score_sums(part, layout)
    count = float(inner.values[0, 0] if part.parameters["counted"] else rows or 0)
    noise = matrix @ matrix.T * (part.law.variance() / (part.parameters["score"] * part.parameters["G"] * H) ** 2)
    loose = math.sqrt(inner.quadratic_variance(np.eye(layout.size)[0])) if part.parameters["counted"] else 0.0
    sums, moments, total = matrix @ inner.values[:, 0], inner.transformed(matrix), float(score[0])
    return FirstPart(count, sums, moments, matrix @ score, noise, total, rows_noise=loose)


def read_score_part(part: Part, layout: Layout, terms: ScaledTerms, link: Link) -> ScorePart:
    """Return the sums of a part of form `scored`, `person-scored` or `weighed`."""
    facts, matrix = part.parameters, terms.matrix
    score, sizes, meat = _score_sums(part, layout)
    unit, link = float(facts["score"] * facts["G"] * H), link.from_stored(facts)
    total, error = _number_of(sizes)
    # of persons these were not released: psi**2 is at most |psi|
    squares = (0.0, 0.0) if meat is None else (total, error) if part.form == "person-scored" else _number_of(meat)
    return ScorePart(
        stored_coefficients(facts, terms, link),
        link,
        matrix @ score,
        matrix @ matrix.T * (part.law.variance() / unit**2),
        sizes.transformed(matrix),
        None if meat is None else meat.transformed(matrix),
        facts["cut"] / CUT_UNIT,
        *squares,
        total,
        error,
        part.form == "person-scored",
    )


def _number_of(sums: NoisyMatrix) -> tuple[float, float]:
    """Return the sum of a matrix's weights, which stands at the constant, and the standard deviation of its noise."""
    return float(sums.values[0, 0]), math.sqrt(sums.quadratic_variance(np.eye(len(sums.values))[0]))


def _score_sums(part: Part, layout: Layout) -> tuple[Array, NoisyMatrix, NoisyMatrix | None]:
    """Return sums of psi z, shape (m,), of |psi| z z' and of psi**2 z z', in units of C and H."""
    facts, noise, m, inner = part.parameters, part.law.variance(), layout.size, layout.regressor_products
    integers = np.array(part.integers[0], dtype=np.float64)
    weights = np.array([facts["off" if one.off_diagonal else "diag"] for one in inner], dtype=np.float64) * H * H
    end = m + len(inner)
    sizes = noisy_matrix(inner, integers[m:end], weights, noise, m)
    if part.form == "person-scored":
        inner = layout.all_pairs
        weights = np.array([facts["off" if one.off_diagonal else "diag"] for one in inner], dtype=np.float64) * H * H
    meat = noisy_matrix(inner, integers[end:], weights, noise, m) if facts["squares"] else None
    return integers[:m] / float(facts["score"] * facts["G"] * H), sizes, meat


def stored_coefficients(facts: Mapping[str, int], terms: ScaledTerms, link: Link) -> Array:
    """Return the coefficients, shape (u,), from the stored integer weights of a `PiecewiseScore`."""
    row = np.array([facts[f"weight{j}"] for j in range(terms.matrix.shape[1])], dtype=np.float64)
    # inverts `glm_pilot.integer_score`: eta = center + reach e / L
    row *= H / 2.0 ** facts["shift"] * link.reach / L
    row[0] += link.center
    return np.asarray(np.linalg.lstsq(terms.matrix.T, row, rcond=None)[0], dtype=np.float64)
