"""The scales and axes of norm-clipped vectors, from released integers alone.  Post-processing: no data here.

1. Column moments give each coordinate's mean and standard deviation; `standardised` divides by these, so that bounds
   which are wider than the values cost little.
2. Products of the standardised vector give the regressors' correlations; `whitened` turns the vector to axes on which
   it has variance 1 and no correlations.  Noise is then equally large, in standard errors, in every direction: nearly
   collinear regressors do not suffer from it more than others.
How far a vector may reach is chosen from the same integers: the sensitivity is that of the integer norm, whatever C
stands for.  Rows beyond are shortened; where levels are rare the reach is wider, so that their rows seldom are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.bounded_scores.clipped_shares import noisy_range
from tacit.method.regression.bounded_scores.heavy_tails import FAR, Tail, wide_range
from tacit.method.regression.formulas.centred_products import centred
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums.linear_pilot import (
    MARGIN,
    MIN_RANGE,
    RANGE,
    integer_residual,
    pilot_coefficients,
    range_of_rows,
    residual_sd,
    response_residual,
)
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix, ReleasedMeans, raised
from tacit.method.regression.row_sums.norm_encoding import MOST
from tacit.method.regression.row_sums.released_columns import LEAST, Columns, levels_of, sizes, unit_of_products
from tacit.method.regression.row_sums.row_reach import (
    LONGER,
    ROOMS,
    as_found,
    constant_left,
    far,
    shortening,
    tail_factor,
)
from tacit.rows.coordinates import EXACT, SHORT, H
from tacit.rows.norm_clip import NormClip
from tacit.rows.row_products import ClippedResidual

MAX_SHIFT: Final = 30
COARSEST: Final = 7
"""Least shift at which a vector's weights may be so coarse that float32 is exact: rounding that of the constant z_0 = H
moves an entry by H / 2**8 = 4 at most, where rows have a standard deviation of some hundreds."""
ROOM_DOUBT: Final = 0.05
"""Largest error of a room that is read from weights: a fifth of the distance between two of `row_reach.ROOMS`."""
WHOLE: Final = H.bit_length() - 1
"""The same of a vector whose constant is to be a given whole number: a multiple of H / 2**shift = 1."""
LIGHT_MARGIN: Final = 0.5
"""As `linear_pilot.MARGIN`, where tails are light: the range is narrow, and noise grows with it."""
TIGHT: Final = 12.0
"""Width of the response's bounds, in its standard deviations, within which no tail can be heavy."""
LIGHT: Final = 0.25
"""Part of the response's variance that shortened rows and noise may hide for its tails to be taken for light; with
heavier tails than this, the ranges of `clipped_shares` would move coefficients by more than the noise it saves."""


def with_whole_response(products: NoisyMatrix, columns: Columns) -> NoisyMatrix:
    """Return sums of w w' in which the response's squares are those of rows as they are, with their noise.

    Large residuals are hidden where their rows are shortened; the column's own variance, which is the unit of w, has
    them.
    """
    last = np.zeros((1, *products.values.shape))
    last[0, -1, -1] = 1.0
    missing = columns.rows - float(products.values[-1, -1])
    patterns = np.concatenate([products.patterns, last])
    # the noise in the products' own squares goes with them
    patterns[:-1, -1, -1] = 0.0
    variances = np.append(products.variances, (columns.rows * float(columns.doubts[-1])) ** 2)
    return NoisyMatrix(products.values + missing * last[0], patterns, variances)


def means_of(columns: Columns) -> ReleasedMeans:
    """Return the means of z / H, the first of the constant, with their noise."""
    rows = max(columns.rows, 1.0)
    return ReleasedMeans(
        np.append(1.0, columns.mean) / np.append(1.0, np.full(len(columns.mean), H)),
        columns.loose / rows / H,
        columns.rows_noise / rows,
    )


def reach(columns: Columns, layout: Layout, room: float, *, response: bool) -> float:
    """Return C in standard deviations, for the vector of the constant and the coordinates, each of variance 1."""
    common, rare = sizes(columns, layout)
    return far(common + response, rare, room)


def standardised(columns: Columns, layout: Layout, noise: float) -> NormClip:
    """Return the vector of the constant and of every coordinate less its mean, over its standard deviation.

    Of squares and interactions first goes what their own factors say (`centred_products`).  The levels of a category
    depend on each other as their shares tell, and most where the level without a coordinate is rare: they are turned to
    axes at right angles, so that it does not matter which level that is.  noise: standard deviation of the noise in a
    sum of products, in units of C**2.
    """
    m, unit = layout.size, unit_of_products(columns, layout, noise)
    mean, sd = np.append(1.0, columns.mean / H), np.append(0.0, columns.sd / H)
    rows = np.eye(m + 1)[:1]
    for j in range(1, m + 1):
        one = centred(layout, j, mean, sd)
        # z_0 = H: the constant part
        row = one.weights - one.mean * np.eye(m + 1)[0]
        rows = np.vstack([rows, row / max(one.sd, LEAST / H)])
    for group, shares in levels_of(columns, layout):
        rows[list(group)] = np.linalg.solve(_correlation_root(shares), rows[list(group)])
    return as_integers(unit / H * rows, WHOLE)


def _correlation_root(shares: Array) -> Array:
    """Return the lower triangle L with L L' the correlations of the indicators of all levels but one.

    shares: of these levels, below 1 together.
    """
    odds = np.sqrt(shares / (1 - shares))
    return np.asarray(np.linalg.cholesky(np.diag(1 + odds**2) - np.outer(odds, odds)), dtype=np.float64)


def whitened(columns: Columns, layout: Layout, products: NoisyMatrix, turn: Array, room: float) -> NormClip:
    """Return the vector of the regressors, the constant first, on axes of variance 1 and no correlation.

    products, turn: as `noisy_norms.read_standardised` returns them.  room: see `row_reach`.
    """
    m, whole = layout.size, reach(columns, layout, room, response=False)
    rows = MOST / whole / H * np.column_stack([_turned(columns, layout, products, turn), np.zeros(m)])
    made = as_integers(rows, COARSEST)
    # the room is read from the weight of the constant, which may be rounded by 1/2 (`_room`)
    common = math.sqrt(whole**2 - sizes(columns, layout)[1])
    doubt = whole**2 / common / max(2 * abs(made.weights[0][0]), 1)
    return made if doubt < ROOM_DOUBT else as_integers(rows, MAX_SHIFT)


def room_of(columns: Columns, layout: Layout, products: NoisyMatrix, turn: Array, made: Array) -> float:
    """Return the room of a released vector, found from its weights: it is not stored by itself.

    made: the matrix that makes the vector of z / H, in its integer units, shape (m, m).
    """
    return _room(columns, layout, _turned(columns, layout, products, turn), made)


def _room(columns: Columns, layout: Layout, axes: Array, made: Array) -> float:
    """Return the room of a vector that `made` makes; axes: the matrix that makes it in standard deviations."""
    common, rare = sizes(columns, layout)
    # H z / H, in units of C
    reached = float(axes[0, 0] * MOST / max(abs(float(made[0, 0])), 1e-300))
    return math.sqrt(max(reached**2 - rare, 0.0)) - math.sqrt(common)


@dataclass(frozen=True)
class Kept:
    """What undoes the shortening of rows, on average, in released sums: matrices of shape (m, m).

    scores: times sums of psi v.  products: times sums of w**2 v v', from both sides.  norms: mean squares of the norm,
    rare levels apart, and the room, as `row_reach` has them.  left: what sums of w**2 v v' were taken to tell, its B.
    """

    scores: Array
    products: Array
    norms: tuple[float, float, float]
    left: float

    def constant(self, more: float) -> float:
        """Return what `products` makes of the constant's sum over weights, about 1; more: see `constant_left`."""
        return constant_left(*self.norms, round(more, 2)) / self.left


def kept_of(
    columns: Columns, layout: Layout, products: NoisyMatrix, turn: Array, made: Array, found_square: float | None = None
) -> Kept:
    """Return what undoes the shortening of a released vector (`row_reach`).

    made: see `room_of`.  found_square: the mean square of the vector's norm in units of C, where it was released.
    """
    m, axes = layout.size, _turned(columns, layout, products, turn)
    found = _room(columns, layout, axes, made)
    # a vector that was not aimed has none of the rooms; it is refused elsewhere
    room, (common, rare) = min((*ROOMS, *LONGER), key=lambda room: abs(room - found)), sizes(columns, layout)
    a, b = shortening(common, rare, room)
    if found_square is not None:
        # of whole rows it is m, one for each axis
        a, b = as_found((a, b), found_square * far(common, rare, room) ** 2 / m)
    longer = far(common, rare, room) - math.sqrt(common)
    # second moments of standardised columns as the products find them; those of levels have no tails
    squares = np.diag(products.of_rows(columns.rows).values) / columns.rows
    doubts = np.append(0.0, columns.doubts)
    factors = [
        tail_factor(float(squares[j]), longer, float(doubts[j])) if j and layout.coordinates[j][0] else 1.0
        for j in range(m)
    ]
    # the vector on its axes, of standardised columns: K = axes F axes^-1 is what each column's factor does to it
    axes = axes @ np.linalg.inv(turn[:m, :m])
    K = axes @ np.diag(np.sqrt(factors)) @ np.linalg.inv(axes)
    # sums of psi v come from A K K' of the coefficients' errors, and sums of w**2 v v' are B K**2 (K**2)'
    scores, whole = np.linalg.inv(a * K @ K.T), np.linalg.inv(math.sqrt(b) * K @ K)
    return Kept(np.asarray(scores, dtype=np.float64), np.asarray(whole, dtype=np.float64), (common, rare, room), b)


def _turned(columns: Columns, layout: Layout, products: NoisyMatrix, turn: Array) -> Array:
    """Return the matrix that makes the vector, on axes of variance 1, of z / H; the response has no part in it."""
    m = layout.size
    # what noise hides has a variance of its size: the vector is then too short in these directions, not too long
    root = np.linalg.cholesky(raised(products.leading(m), columns.rows))
    return np.asarray(np.linalg.solve(root, turn[:m, :m]), dtype=np.float64)


def response_tail(columns: Columns, layout: Layout, clip: int) -> ClippedResidual | None:
    """Return q of `heavy_tails`, from the response's released mean and deviation; None where engines cannot compute it.

    q = c (Y + FAR) / (2 FAR), Y the response less its mean over its standard deviation, clamped to -c, ..., c.
    """
    row = np.zeros(layout.size + 1)
    row[-1] = H / max(float(columns.sd[-1]), LEAST)
    row[0] = FAR - row[-1] * float(columns.mean[-1]) / H
    return integer_residual(row / (2 * FAR), clip, coarse=True)


def next_residual(
    columns: Columns,
    layout: Layout,
    products: NoisyMatrix,
    turn: Array,
    clip: int,
    noise: float,
    *,
    counted: bool,
    tail: Tail | None = None,
) -> ClippedResidual:
    """Return the residual from the pilot fit, in standard deviations; the response where products allow no fit.

    noise: standard deviation of the noise in a sum of psi times a regressor of variance 1, as a part of the range.
    counted: whether the release will tell how many residuals are clipped.  tail: what is known of the response's.
    """
    m, u = layout.size, len(layout.names)
    # terms of a standardised vector, on axes at right angles
    terms = np.linalg.solve(turn[:m, :m].T, layout.terms[:u, :m].T).T
    axes = np.linalg.svd(terms, full_matrices=False)[2]
    rows = np.zeros((u + 1, m + 1))
    rows[:u, :m], rows[u, m] = axes, 1.0
    if not layout.formula.intercept:
        # the response itself, not less its mean: no term would take that up
        whole = layout.terms[u, :m] * (turn[m, m] / layout.terms[u, m])
        rows[u, :m] = np.linalg.solve(turn[:m, :m].T, whole - turn[m, :m])
    summed = products.of_rows(columns.rows)
    found = summed.transformed(rows)
    b = pilot_coefficients(found, u)
    # squares that shortened rows hide; more would cost every regression with wide bounds, whatever its errors
    hidden = max(1 - float(summed.values[m, m]) / columns.rows, 0.0)
    # the whole range of the response
    top = 2 * layout.bounds[m] / float(columns.sd[m - 1])
    # what is found of the response is the least that its standard deviation can be, but for noise
    least = math.sqrt(max(float(summed.values[m, m]) / columns.rows, 0.0))
    light = counted and (hidden + float(columns.doubts[m - 1]) < LIGHT or top < TIGHT * least)
    # tails that are light, and counted where they are clipped, need no more room than they have
    margin = LIGHT_MARGIN if light else MARGIN
    scale = math.sqrt(residual_sd(found, b, columns.rows, margin) ** 2 + hidden)
    level = _level_noise(columns, layout, turn, np.append(-b, 1.0) @ rows) / max(scale, 1e-300)
    most = noisy_range(columns.rows, noise, m, level) if light else math.inf
    range_ = _range(columns.rows, noise, most, columns.row)
    # in standard deviations of the response
    wide = 0.0 if tail is None else wide_range(tail, columns.rows, noise)
    cut = min(max(scale * range_, wide, MIN_RANGE * top), top)
    made = integer_residual((np.append(-b, 1.0) @ rows @ turn) / cut, clip, coarse=u == m)
    return response_residual(layout, clip) if made is None else made


def _level_noise(columns: Columns, layout: Layout, turn: Array, residual: Array) -> float:
    """Return the standard deviation of what column moments tell of the mean residual; inf where they tell nothing.

    residual: of standardised entries, shape (m + 1,), whose standard deviations are the unit of what is returned.
    """
    if not layout.formula.intercept:
        return math.inf
    # of z / H
    slopes = residual @ turn
    return float(np.linalg.norm(slopes[1:])) * columns.loose / max(columns.rows, 1.0) / H


def _range(rows: float, noise: float, most: float, row: float) -> float:
    """Return the clipping range in standard deviations of a residual, as `linear_pilot.residual_range` has it.

    Bias from clipping falls as range**-3 and is to vanish beside the whole error, that of noise included: the rows that
    count are those which would have this error without noise.  most: the widest range at which noise may be more than a
    third of the sampling error.  row: see `Columns`; noise hides squared scores of small weights, which make standard
    errors, sooner than their sums.
    """
    range_ = RANGE
    # falls as noise grows with it: a few rounds of halfway steps settle it
    for _ in range(30):
        worth = rows / (1 + (noise * range_) ** 2 / max(rows, 1.0))
        range_ = (range_ + range_of_rows(worth)) / 2
    return max(min(range_, most), row * math.sqrt(rows) / (3 * noise))


def as_integers(rows: Array, coarsest: int) -> NormClip:
    """Return the vector rows @ z with integer weights: such that float32 is exact, if their shift is `coarsest` then.

    Otherwise they are as fine as engines can compute.  That they are rounded is in no error: they are what is stored.
    """
    largest = H * max(float(np.abs(rows).sum(axis=1).max()), 2.0**-20)
    shift = math.floor(math.log2(SHORT / (2 * largest)))
    if shift < coarsest:
        shift = math.floor(math.log2(EXACT / (4 * largest)))
    shift = min(MAX_SHIFT, shift)
    weights = np.rint(rows * 2.0**shift)
    return NormClip(tuple(tuple(int(w) for w in row) for row in weights), shift, MOST)
