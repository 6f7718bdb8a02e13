"""What rows further out than vectors reach may say of the slopes.  Public facts alone, on plain arrays.

Coefficients of shortened rows are those of rows as they count: where the mean of the response is not linear, a fit to
whole rows has others.  With S the second moments of whole rows, S_w those that scores keep, and the slope of regressor
j beyond reach (1 - theta_j) times that within, both are apart by

    sum over j of theta_j S^-1 (S - S_w) e_j b_j,

theta_j of mean 0 and deviation BENT: a slope that vanishes far out, or doubles, is within two of these.  It is an error
of the coefficients.  Of real columns with long tails theta has the median .53 and is within 1 in 16 of 20 lines of
`benchmarks/far_rows.py`; slopes that change their sign further out, as those of flights' delays, have more.  A
regressor of levels has no rows further out.

S_w is taken to be D S D, D the roots of what is kept of each variance (`long_tails`): of a normal regressor next to
nothing is lost where a reach is long, of an income a third is.  Reach is therefore chosen so that noise, what is lost
of information, and this error, of the slopes that products tell, are least together, as far as that costs little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.bounded_scores.count_links import CountLink
from tacit.method.regression.bounded_scores.normal_regressors import NODE_WEIGHTS, NODES, Regressors
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums.counted_tails import AxisEvidence, CountedTail
from tacit.method.regression.row_sums.linear_pilot import raised_inverse, range_of_rows
from tacit.method.regression.row_sums.long_tails import LongTail, tail_of
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix, raised
from tacit.method.regression.row_sums.noisy_norms import FarAlong
from tacit.method.regression.row_sums.released_columns import Columns, sizes
from tacit.method.regression.row_sums.row_reach import LONGER, MOSTLY_NOISE, ROOMS, far, shortening

BENT: Final = 0.5
"""Standard deviation of theta."""
UNSEEN: Final = 0.1
"""Standard deviation of tau of a square or an interaction, whose own variance is not released."""
SPARED: Final = 1.5
"""Largest factor by which a longer reach may raise the variance by noise and rows, for the sake of rows further out."""
IN_SQUARES: Final = 0.3
"""Largest noise in sums of psi**2 v v', which make standard errors, relative to them, at which it is longer."""
LEAST_FOUND: Final = 0.05
"""Least part of an axis's variance that products are taken to find."""
AT_NOISE: Final = 0.995 * MOSTLY_NOISE
"""Doubt in a variance from which it was set by its noise, but for rounding."""
LEAST_LEFT: Final = 0.05
"""Least part of the response's variance that is taken to be left by the slopes that products tell."""


@dataclass(frozen=True)
class FarRows:
    """What is known of the tails of a release's regressors.

    tails: of each coordinate, None for the constant and for levels.  second: S, shape (m, m), of coordinates of
    variance 1 and the constant.  norms: mean square of a vector's norm, and what rare levels add.
    """

    tails: tuple[LongTail | None, ...]
    second: Array
    norms: tuple[float, float]

    def lost(self, reach: float) -> Array:
        """Return the root mean square of the part of each variance that scores lose, shape (m,)."""
        return np.array([0.0 if one is None else one.lost(self.norms[0], reach) for one in self.tails])

    def shifts(self, reach: float, slopes: Array) -> Array:
        """Return by how much theta of 1 moves the coefficients, column j of coordinate j, shape (m, m).

        slopes: of coordinates of variance 1, the first of the constant, shape (m,).
        """
        left = np.sqrt(1 - self.lost(reach))
        moved = np.eye(len(left)) - np.linalg.solve(self.second, left[:, None] * self.second * left)
        # levels and the constant have no rows further out
        own = np.array([one is not None for one in self.tails])
        return np.asarray(moved * (own * slopes), dtype=np.float64)


def far_rows(columns: Columns, layout: Layout, products: NoisyMatrix, reach_found: float) -> FarRows:
    """Return what column moments and products tell of rows far out.

    products: as `noisy_norms.read_standardised` returns them.  reach_found: the reach of their vectors, in standard
    deviations.
    """
    m, (common, rare) = layout.size, sizes(columns, layout)
    summed = products.of_rows(columns.rows)
    factor = float(summed.values[0, 0]) / max(float(products.values[0, 0]), 1.0)
    tails: list[LongTail | None] = [None]
    scales = np.ones(m)
    for j in range(1, m):
        numbers, marks = layout.coordinates[j]
        if not numbers:
            tails.append(None)
            continue
        tau = float(summed.values[j, j]) / columns.rows
        noise = factor * math.sqrt(products.quadratic_variance(np.eye(m + 1)[j])) / columns.rows
        noise = math.hypot(noise, float(columns.doubts[j - 1]) * tau)
        most = math.inf
        if len(numbers) + len(marks) == 1:
            sd, mean = float(columns.sd[j - 1]), abs(float(columns.mean[j - 1]))
            # a standard error is allowed for the noise in the standard deviation
            most = (layout.bounds[j] + mean) / sd * (1 + float(columns.doubts[j - 1]) / 2)
        else:
            noise = math.hypot(noise, UNSEEN)
        tail = tail_of(tau, noise, common + 1, reach_found, most)
        tails.append(tail)
        scales[j] = 1 / math.sqrt(max(tail.found(common + 1, reach_found), 0.05))
    second = scales[:, None] * raised(summed.leading(m), columns.rows) * scales
    return FarRows(tuple(tails), np.asarray(second, dtype=np.float64), (common, rare))


@dataclass(frozen=True)
class CountedFarRows:
    """What is known of the tails of the axes of a release's last vectors, which it counts.

    tails: of each axis, None for the constant's and those of levels.  axes: T with S = T T', shape (m, m), lower
    triangular: coordinate j is the sum of T_jk times axis k.  norms: as of `FarRows`.

    S_w is T (1 - L) T', L what is lost along each axis: where regressors go together, rows further out than those
    before them tell are far along a regressor's own axis.
    """

    tails: tuple[CountedTail | None, ...]
    axes: Array
    norms: tuple[float, float]

    def _lost_along(self, reach: float) -> Array:
        """Return what is lost along each axis, shape (m,)."""
        return np.array([0.0 if one is None else one.lost(self.norms[0], reach) for one in self.tails])

    def lost(self, reach: float) -> Array:
        """Return the part of each coordinate's variance that scores lose, shape (m,)."""
        parts = self.axes**2
        return np.asarray(parts @ self._lost_along(reach) / parts.sum(axis=1), dtype=np.float64)

    def shifts(self, reach: float, slopes: Array) -> Array:
        """Return what `FarRows.shifts` does."""
        moved = np.linalg.solve(self.axes.T, self._lost_along(reach)[:, None] * self.axes.T)
        own = np.array([one is not None for one in self.tails])
        return np.asarray(np.where(own, moved, 0.0) * slopes, dtype=np.float64)


def counted_far_rows(
    columns: Columns, layout: Layout, products: NoisyMatrix, reaches: tuple[float, float], along: FarAlong
) -> CountedFarRows:
    """Return what a release tells of rows far out that counts those far along axes.

    reaches: of the vectors of products and of scores, in standard deviations.  along: the counts.
    """
    m, (common, rare) = layout.size, sizes(columns, layout)
    summed = products.of_rows(columns.rows)
    factor = float(summed.values[0, 0]) / max(float(products.values[0, 0]), 1.0)
    rows, diagonal = max(columns.rows, 1.0), np.diag(summed.values) / max(columns.rows, 1.0)
    axes = np.linalg.cholesky(raised(summed.leading(m), columns.rows) / rows)
    # part of each coordinate that is not told by those before it
    own = np.diag(axes) ** 2 / (axes**2).sum(axis=1)
    tails, scales = list[CountedTail | None](), np.ones(m)
    for j in range(m):
        numbers, marks = layout.coordinates[j]
        # the constant has neither
        if j == 0 or not numbers:
            tails.append(None)
            continue
        part = float(own[j])
        noise = factor * math.sqrt(products.quadratic_variance(np.eye(m + 1)[j])) / rows
        doubt, most, alone = float(columns.doubts[j - 1]), math.inf, len(numbers) + len(marks) == 1
        if alone:
            most = (layout.bounds[j] + abs(float(columns.mean[j - 1]))) / float(columns.sd[j - 1])
        rest = float(np.clip(np.delete(diagonal, [0, j]), 0, None).sum())
        told = AxisEvidence(
            # what is missing is missing along its own axis
            found=max(1 - (1 - float(diagonal[j])) / part, noise / part / 2, LEAST_FOUND),
            noise=noise / part,
            doubt=(doubt if alone else math.hypot(doubt, UNSEEN)) / part,
            hidden=alone and doubt > AT_NOISE,
            most=most / math.sqrt(part),
            others=(rest, common - 2),
            reaches=reaches,
            share=float(along.values[j]) / rows,
            share_noise=along.noise / rows,
            rows=rows,
        )
        tail = told.tail()
        tails.append(tail)
        scales[j] = tail.scale()
    return CountedFarRows(tuple(tails), np.asarray(axes * scales, dtype=np.float64), (common, rare))


def room_with_far_rows(
    known: FarRows, slopes: Array, left: float, room: float, noise: float, columns: Columns, widest: float
) -> float:
    """Return the room, `room` or longer, at which a slope's mean squared error is least, that by far rows included.

    slopes: of coordinates of variance 1, shape (m,), of a response of variance 1, of which `left` is not explained.
    noise: standard deviation of the noise in a sum of psi v, in units of the largest |psi| and of C.  widest: the
    largest |psi| that there may be, in standard deviations of the response.
    """
    n = max(columns.rows, 1.0)
    inverse = np.diag(np.linalg.inv(known.second)) * max(left, LEAST_LEFT) / n
    own = np.array([one is not None for one in known.tails])

    def sizes_of(one: float) -> tuple[float, float]:
        """Return the largest |psi v|, in standard deviations, and the noise in a sum of these."""
        reach = far(*known.norms, one)
        # as `norm_scaling.next_residual` has it, but for tails
        range_ = min(
            max(range_of_rows(n), columns.row * math.sqrt(n) / (3 * max(noise * reach, 1e-300))),
            widest / math.sqrt(left),
        )
        return range_ * reach, noise * range_ * reach

    def variance(one: float) -> float:
        a, b = shortening(known.norms[0], 0.0, one)
        return (b + sizes_of(one)[1] ** 2 / n) / a**2

    def error(one: float) -> float:
        moved = BENT**2 * (known.shifts(far(*known.norms, one), slopes) ** 2).sum(axis=1) / inverse
        return variance(one) + float(moved[own].mean() if own.any() else 0.0)

    def allowed(one: float) -> bool:
        size, loose = sizes_of(one)
        # psi**2 v v' is noisier than psi v by its largest size over half
        return variance(one) <= SPARED * variance(room) and 2 * loose * size / n <= IN_SQUARES

    return min((one for one in (*ROOMS, *LONGER) if one == room or (one > room and allowed(one))), key=error)


def told_slopes(products: NoisyMatrix, rows: float) -> tuple[Array, float]:
    """Return the slopes that products tell, of a response of variance 1, and what they leave of its variance.

    Squares of slopes are less the noise in them.  products: of rows, the response last.
    """
    m = len(products.values) - 1
    inverse = raised_inverse(products, m)
    slopes = inverse @ products.values[:m, m]
    doubts = np.diag(inverse @ products.covariance_times(np.append(-slopes, 1.0))[:m, :m] @ inverse)
    whole = max(float(products.values[m, m]), 1.0)
    explained = max(float(slopes @ products.values[:m, m]), 0.0)
    kept = np.sqrt(np.maximum(1 - doubts / np.maximum(slopes**2, 1e-300), 0.0))
    return np.asarray(slopes * kept, dtype=np.float64), max(1 - explained / whole, LEAST_LEFT)


def shift_along(link: CountLink, found: Regressors, b: Array) -> Array:
    """Return by how much rows of large predictors move coefficients b of counts, whose scores weigh them less.

    As rows beyond a vector's reach do: with L the part that is lost of the information along the predictor, the slopes
    are moved by L theta b, theta of deviation BENT; returned is its standard deviation, with signs, shape (u,).
    """
    eta = found.predictor_values(b)
    whole = NODE_WEIGHTS * link.mean(eta)
    kept = whole * np.exp(np.minimum(link.full - eta, 0.0))
    away = (NODES - float(whole @ NODES) / float(whole.sum())) ** 2
    lost = 1 - float(kept @ away) / float(whole @ away)
    level = 0.0 if found.constant is None else found.constant * float(found.mean @ b)
    return np.asarray(BENT * lost * (b - level), dtype=np.float64)
