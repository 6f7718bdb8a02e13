"""What a release's first part tells of the columns of a regression, and how far their rows reach.  Post-processing.

A row's vector has a longer norm the rarer its levels are: on axes without correlation a row of a level that 1 row in k
has is at the squared distance k - 1 from the mean.  That holds of the level without a coordinate as well, the first of
each category, whose share is what the others leave.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums.norm_encoding import MOST, WEIGHTED, square_weight, squared
from tacit.method.regression.row_sums.row_reach import far, room_of_products
from tacit.release.parts import Part
from tacit.rows.coordinates import SIGN, H

COMMON: Final = 4.0
"""Largest squared distance of a level that counts as those of numbers do: of 1 row in 5."""
RAREST: Final = 36.0
"""Largest squared norm that a rare level adds to the reach: rows of a rarer level are shortened."""
LEAST_WEIGHT: Final = 2.0**-14
"""Least weight of a row that has any, in parts of the largest."""
LEAST: Final = 0.5
"""Least standard deviation of a coordinate, in steps of its grid."""


@dataclass(frozen=True)
class Columns:
    """Released moments of the coordinates but the first, in steps of their grids, the response last.

    rows: their number, public or noisy.  mean, sd: of each coordinate, shape (m,).  rare: the squared distance from its
    mean, in standard deviations, of the rarer level of each sign or level, and of that which has no coordinate, 1 for
    others, shape (m,).  doubts: standard deviation of the noise in each variance, relative to it, shape (m,); 0 for a
    sign or level.  loose, rows_noise: standard deviations of the noise in a sum of a coordinate, and in the number of
    rows.
    row: of rows with weights alpha, sum alpha**2 / sum alpha; else 1.  Sums that have alpha once are divided by it, and
    those that have it twice by its square: they are then of `rows` = (sum alpha)**2 / sum alpha**2 rows, as many as
    would tell as much without weights [Kish 1965], and errors follow as for these.
    """

    rows: float
    mean: Array
    sd: Array
    rare: Array
    doubts: Array
    loose: float
    rows_noise: float
    row: float = 1.0


def read_columns(part: Part, layout: Layout, rows: int | None, products: Part | None = None) -> Columns:
    """Return the columns' means and standard deviations; a variance that noise hides is taken to be half its noise.

    products: the part that follows, where it is released: its vector tells whether levels without a coordinate were
    known to the version that made it (until 0.2 they were not), on which depends how far the next vectors reach.
    """
    told = _told(part, layout, rows)
    known = replace(told, rare=np.maximum(told.rare, _omitted(told, layout)))
    if products is None:
        return known
    facts = products.parameters
    noise = math.sqrt(products.law.variance()) / (facts["off"] * H * H)
    # the constant's entry, as integers make it of z_0 = H
    made = facts["weight0"] * H / 2 ** facts["shift"]
    return known if made == unit_of_products(known, layout, noise / known.row) else told


def levels_of(columns: Columns, layout: Layout) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Yield the coordinates of each category of three levels or more, and their shares, which leave one to the first.

    What is left is taken to be larger by the noise in it, since rows that reach further than needed cost noise.
    """
    for group in layout.groups:
        numbers, marks = layout.coordinates[group[0]]
        if layout.size in group or numbers or len(marks) != 1 or marks[0][1] == SIGN:
            continue
        noise, least = columns.loose / max(columns.rows, 1.0) / H, 1 / max(columns.rows, 2.0)
        shares = np.maximum(columns.mean[[j - 1 for j in group]] / H, max(noise, least))
        loose = math.sqrt(len(group)) * noise
        left = max(1 - float(shares.sum()) + loose, loose, least)
        yield group, shares / (float(shares.sum()) + left)


def _omitted(columns: Columns, layout: Layout) -> Array:
    """Return the squared distance of the level that has no coordinate, for those of its group; else 1, shape (m,)."""
    out = np.ones(layout.size)
    for group, shares in levels_of(columns, layout):
        out[[j - 1 for j in group]] = max(1 / (1 - float(shares.sum())) - 1, 1.0)
    return out


def _told(part: Part, layout: Layout, rows: int | None) -> Columns:
    """Return what the part itself tells, as `read_columns` does, of levels that have a coordinate."""
    facts, m, squares = part.parameters, layout.size, squared(layout)
    integers = np.array(part.integers[0], dtype=np.float64)
    noise, bounds = math.sqrt(part.law.variance()), np.array(layout.bounds[1:], dtype=np.float64)
    place = -2 if part.form == WEIGHTED else -1
    counted = float(integers[place]) / (facts["count"] * H * H) if facts["count"] else float(rows or 0)
    n = max(counted, 1.0)
    mean = np.clip(integers[:m] / (facts["score"] * n), -bounds, bounds)
    loose = noise / (facts["score"] * n)  # standard deviation of the noise in a mean
    spread, rare, doubts = np.zeros(m), np.ones(m), np.zeros(m)
    for j in range(m):
        if j + 1 in squares:
            weight = square_weight(layout.bounds[j + 1], facts["square"]) * n
            own = math.hypot(noise / weight, 2 * float(mean[j]) * loose)
            second = float(integers[m + squares.index(j + 1)]) / weight
            spread[j] = max(second - float(mean[j]) ** 2, own / 2)
            doubts[j] = own / float(spread[j])
            if layout.coordinates[j + 1][1]:
                # a number at one level, else 0: about bound**2 / 3 times the level's share
                rare[j] = max(1.0, layout.bounds[j + 1] ** 2 / (3 * float(spread[j])))
            continue
        # of a sign z = -H or H, of a level 0 or H
        signed = any(level == SIGN for _, level in layout.coordinates[j + 1][1])
        width, low = (2 * H, -H) if signed else (H, 0)
        least = min(max(1 / n, loose / width), 0.5)
        share = min(max((float(mean[j]) - low) / width, least), 1 - least)
        spread[j] = share * (1 - share) * width**2
        rare[j] = 1 / min(share, 1 - share) - 1
    sd = np.minimum(np.sqrt(np.maximum(spread, LEAST**2)), bounds)
    uncounted = noise / (facts["count"] * H * H) if facts["count"] else 0.0
    row = _row(float(integers[-1]), noise, facts["squares"], n, rows) if part.form == WEIGHTED else 1.0
    return Columns(n / row, mean, sd, rare, doubts, noise / facts["score"] / row, uncounted / row, row)


def _row(released: float, noise: float, weight: int, total: float, rows: int | None) -> float:
    """Return sum alpha**2 / sum alpha: between the mean weight and 1, and one standard error above what is found."""
    found = (max(released, 0.0) + noise) / (weight * H * H * total)
    # mean alpha**2 is at least the square of the mean
    return min(max(found, total / rows if rows else 0.0, LEAST_WEIGHT), 1.0)


def sizes(columns: Columns, layout: Layout) -> tuple[float, float]:
    """Return the mean square of the norm of the regressors' vector, rare levels aside, and what these may add to it."""
    common, rare = 1.0, 0.0
    for group in layout.groups:
        if layout.size in group:
            continue
        most = max(float(columns.rare[j - 1]) for j in group)
        # of levels a row has one: what the group adds to its norm is that of its rarest, and its size on average
        if most <= COMMON:
            common += len(group)
        else:
            rare += min(most, RAREST)
    return common, rare


def unit_of_products(columns: Columns, layout: Layout, noise: float) -> int:
    """Return the constant's entry in the vector of the part of products, in integer units: H over the vector's reach.

    It is whole, so that the constant's square, which tells what all products lose by shortening, is that of its entry.
    noise: standard deviation of the noise in a sum of products, in units of C**2.
    """
    common, rare = sizes(columns, layout)
    room = room_of_products(common + 1, rare, noise, columns.rows)
    return max(round(MOST / far(common + 1, rare, room)), 1)
