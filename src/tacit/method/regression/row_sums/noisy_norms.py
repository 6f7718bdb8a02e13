"""Read released sums of norm-clipped vectors as matrices of z / H, with the law of their noise.  Post-processing.

A part stores the integer weights that made its vector, so that reading it repeats no floating-point choice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.bounded_scores.heavy_tails import Tail
from tacit.method.regression.formulas.layout import Layout, all_pairs
from tacit.method.regression.row_sums.encoding import CLIP, entry_weight
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix, ResidualScores, noisy_matrix
from tacit.method.regression.row_sums.norm_encoding import (
    FAR_SCORES,
    FORMER_PRODUCTS,
    MOST,
    ROUNDED_SCORES,
    SHIFT,
    SIDES_SCORES,
)
from tacit.method.regression.row_sums.norm_person_encoding import PERSON
from tacit.method.regression.row_sums.split_score_encoding import FAR_MATRICES, ROUNDED_MATRICES, SIDES_MATRICES
from tacit.release.parts import Part
from tacit.rows.coordinates import H
from tacit.rows.norm_clip import NormClip
from tacit.rows.row_products import ClippedResidual

AXES: Final = (FAR_SCORES, FAR_MATRICES)
"""Forms with the numbers of rows far along each axis."""
BOTH_SIDES: Final = (*AXES, SIDES_SCORES, ROUNDED_SCORES, SIDES_MATRICES, ROUNDED_MATRICES)
"""Forms with the numbers of residuals clipped above and below."""


def stored_products(clip: NormClip) -> dict[str, int]:
    """Return the constants of a standardised vector, whose weights are a triangle, for a part."""
    return {"shift": clip.shift} | _stored_triangle(clip, 0)


def stored_scores(clip: NormClip, residual: ClippedResidual) -> dict[str, int]:
    """Return the constants of a residual and of a whitened vector, whose weights are a triangle, for a part."""
    # the steps of a part whose residuals are on a finer grid are stored on that of all others
    finer = (residual.clip // CLIP).bit_length() - 1
    made = {"shift": residual.shift + finer} | {f"weight{j}": weight for j, weight in enumerate(residual.weights)}
    return made | stored_axes(clip)


def stored_axes(clip: NormClip) -> dict[str, int]:
    """Return the constants of a whitened vector, whose weights are a triangle, after those of a residual or score."""
    return {"turn": clip.shift} | _stored_triangle(clip, len(clip.weights) + 1)


def _stored_triangle(clip: NormClip, first: int) -> dict[str, int]:
    """Return the weights of a vector, of each entry those of its own coordinate and of those before, row by row."""
    weights = [row[j] for i, row in enumerate(clip.weights) for j in range(i + 1)]
    return {f"weight{first + place}": weight for place, weight in enumerate(weights)}


def read_standardised(part: Part, layout: Layout, row: float = 1.0) -> tuple[NoisyMatrix, Array]:
    """Return sums of w w', shape (m + 1, m + 1), the response last, and the matrix that makes w of z / H.

    w is in standard deviations, its first entry 1; rows are shortened as in the release.  row: see
    `released_columns.Columns`.
    """
    size, turn = layout.size + 1, _standardising(part, layout)
    unit = max(float(turn[0, 0]), 1e-300)
    return sums_of_products(part, size, 0, unit**2 * row), turn / unit


def reach_of_products(part: Part, layout: Layout) -> float:
    """Return the reach of the vectors of a part of products, in standard deviations."""
    return MOST / max(float(_standardising(part, layout)[0, 0]), 1e-300)


def _standardising(part: Part, layout: Layout) -> Array:
    """Return the matrix that makes the vector of a part of products, in its integer units, of z / H."""
    facts, size = part.parameters, layout.size + 1
    if part.form == FORMER_PRODUCTS:
        turn = np.zeros((size, size))
        for i in range(size):
            # of each entry the weights of its own z, and of z_0
            turn[i, 0] = facts[f"weight{2 * i + 1}"]
            turn[i, i] = facts[f"weight{2 * i}"]
    else:
        turn = _triangle(facts, size, 0)
    return turn * (H / 2.0 ** facts["shift"])


def read_tail(part: Part) -> Tail | None:
    """Return what a part of products tells of the response's tails, or None where it tells nothing."""
    weight, beyond = part.parameters.get("far", 0), part.parameters.get("tail", 0)
    if not weight or not beyond:
        return None
    return Tail(float(part.integers[0][-1] / weight), math.sqrt(part.law.variance()) / weight, beyond)


def read_norm_scores(
    part: Part, layout: Layout, kept: Array, matrices: Part | None = None, row: float | None = None
) -> ResidualScores:
    """Return the scores of a part of form `norm-scores-2` (or `norm-scores`), as if rows counted whole.

    They are in units of psi and of z / H.

    kept: what undoes the shortening of rows in sums of psi v (`norm_scaling.Kept.scores`).
    matrices: the part that holds psi**2 and psi**2 v v' where the scores were released alone.
    row: see `released_columns.Columns`; None where rows have no weights.
    """
    facts, m = part.parameters, layout.size
    integers, back = np.array(part.integers[0], dtype=np.float64), turned_back(facts, m) @ kept
    # psi**2 comes just before its matrix
    others, place = (part, m) if matrices is None else (matrices, 0)
    # psi is times the weight of its row, and psi**2 times its square
    one = 1.0 if row is None else row
    sides, counted = _sides_clipped(others, place + 1)
    start = place + 1 + sides + m * (others.form in AXES)
    meat = sums_of_products(others, m, start, 2.0**-SHIFT * one**2).transformed(back)
    residual = ClippedResidual(tuple(facts[f"weight{j}"] for j in range(m + 1)), facts["shift"], facts["G"])
    weight, unit = others.parameters["square"] * one**2, facts["score"] * one
    return ResidualScores(
        back @ integers[:m] / unit,
        part.law.variance() / unit**2,
        float(others.integers[0][place] / weight),
        others.law.variance() / weight**2,
        meat,
        residual,
        persons=others.form.startswith(PERSON),
        mixing=back,
        far=counted[0] if sides else None,
        weighted=row is not None,
        signed=counted[1] if sides == 2 else None,
    )


@dataclass(frozen=True)
class FarAlong:
    """The numbers of rows that are far along each axis of a release's last vectors, shape (m,), and their noise."""

    values: Array
    noise: float


def read_far_along(part: Part, m: int) -> FarAlong | None:
    """Return what the last part of a release, of m axes, tells of rows far along these; None where it does not."""
    if part.form not in AXES:
        return None
    weight = part.parameters["far"]
    # after the scores, where these are in the same part, psi**2 and both sides of clipped residuals
    place = 3 + m * (part.form == FAR_SCORES)
    values = np.array(part.integers[0][place : place + m], dtype=np.float64) / weight
    return FarAlong(values, math.sqrt(part.law.variance()) / weight)


def _sides_clipped(part: Part, place: int) -> tuple[int, tuple[tuple[float, float], ...]]:
    """Return how many integers from `place` on count clipped residuals, and what they say, each with its variance.

    That is the number of all and, of two integers, that of those above less that of those below.  The second integer
    is negative (`norm_encoding`).
    """
    weight, sides = part.parameters.get("far", 0), 2 if part.form in BOTH_SIDES else 1
    if not weight:
        return 0, ()
    first, *second = (float(one / weight) for one in part.integers[0][place : place + sides])
    below = sum(second)
    variance = sides * part.law.variance() / weight**2
    return sides, ((first - below, variance), (first + below, variance))


def turned(facts: Mapping[str, int], m: int) -> Array:
    """Return the matrix that makes a whitened vector, in its integer units, of z / H, from stored weights."""
    return _triangle(facts, m, m + 1) * (H / 2.0 ** facts["turn"])


def turned_back(facts: Mapping[str, int], m: int) -> Array:
    """Return the matrix that makes z / H of a whitened vector, shape (m, m), from stored weights."""
    return np.asarray(np.linalg.inv(turned(facts, m)), dtype=np.float64)


def _triangle(facts: Mapping[str, int], size: int, first: int) -> Array:
    """Return stored weights, row by row, as a lower triangular matrix."""
    made = np.zeros((size, size))
    made[np.tril_indices(size)] = [facts[f"weight{first + place}"] for place in range(size * (size + 1) // 2)]
    return made


def sums_of_products(part: Part, size: int, start: int, unit: float) -> NoisyMatrix:
    """Return the symmetric matrix of released products of a vector's entries, from the integer `start` on."""
    facts, pairs = part.parameters, all_pairs(size)
    weights = np.array([entry_weight(one, facts["off"], facts["diag"], facts["diag"]) for one in pairs]) * unit
    integers = np.array(part.integers[0][start : start + len(pairs)], dtype=np.float64)
    return noisy_matrix(pairs, integers, weights, part.law.variance(), size)
