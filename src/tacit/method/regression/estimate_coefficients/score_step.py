"""The last step to the coefficients of all models but the linear one, and its errors, on plain arrays.

g is the last noisy score, evaluated at coefficients b0, and B its noisy curvature, shrunk towards that of normal
regressors (`regression.pilots.shrunk_matrix`).  The coefficients are b = b0 + B^-1 g, and with beta the true ones

    b - beta = B^-1 (sum of psi x at beta + noise in g + (error of B) (b - b0)),

to second order in the step b - b0.  Given B, the bracket has three variances: of the scores, of the noise in g, and of
the error of B times the step.  Noise in B itself does not bias a standard error.  Post-processing.

What is multiplied with the error of B is in truth the way from b0 to beta, which the step misses by its own error.  Of
binary responses, whose curvature may be noisy, its mean square is the step's and the covariance T of b together: with Q
the covariance of (error of B) times such a way, T = T0 + B^-1 Q(T) B^-1, a series whose terms fall by about the same
factor.  Where noise makes B too large, b0, the step and T0 are all too small at once: standard errors are widened, and
joint tests have a law (`NoisyCovariance`), for the noise in B, of released products and of the guess's moments; neither
is shorter than by inversion, and the step is taken nearer to where released products lead (`released_curvature`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.bounded_scores.guessed_curvature import left_in_step
from tacit.method.regression.bounded_scores.links import Link, bounded
from tacit.method.regression.bounded_scores.normal_regressors import NODE_WEIGHTS, NODES, Regressors
from tacit.method.regression.bounded_scores.positive_links import PositiveLink
from tacit.method.regression.bounded_scores.robust_links import RobustLink
from tacit.method.regression.bounded_scores.two_valued_regressors import halves
from tacit.method.regression.estimate_coefficients.covariance_noise import NoisySquares, noisy_squares
from tacit.method.regression.estimate_coefficients.released_curvature import farther_end, nearer_released
from tacit.method.regression.estimate_coefficients.sampling_variance import (
    noise_of_diagonal,
    positive_part,
    widening_factors,
)
from tacit.method.regression.estimate_coefficients.variance_between_persons import (
    person_notes,
    shrunk_to_bound,
    weight_moves,
)
from tacit.method.regression.estimate_coefficients.weights_of_rows import score_ratio
from tacit.method.regression.pilots.dispersion import Dispersion
from tacit.method.regression.pilots.glm_pilot import curvature, dispersion, guessed_products, one_step
from tacit.method.regression.pilots.shrunk_matrix import GUESS_ERROR_OF_COUNTS, ShrunkMatrix, guess_error, shrunk
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix
from tacit.method.regression.row_sums.noisy_scores import FirstPart, ScorePart

NOTES: Final = ("Standard errors are robust as far as the noise allows (sandwich).",)
OF_TAILS: Final = 6.0
"""Relative error of a curvature by shortened rows, over what the constant loses of them beyond normal regressors'."""
USUAL_LOSS: Final = 0.02
"""Mean of what the constant loses more than of normal regressors, before anything is told."""
MOST_AGAIN: Final = 0.8
"""Largest factor from one term of a series to the next that is believed: beyond it, answers say next to nothing."""


def changes_with_each(back: Array, total: Array) -> Array:
    """Return how coefficients b change with each of back @ b where the others follow it, shape (u, u), a row each.

    total: covariance of back @ b, shape (u, u).
    """
    return np.asarray(np.linalg.solve(back, total / np.diag(total)).T, dtype=np.float64)


@dataclass(frozen=True)
class ScoreStep:
    """The last step, in terms of unit size.

    b: coefficients after it.  step: the step before correction for the law of counts.  curve: curvature.  squares: sum
    of psi**2 x x'.  moments: noisy sums of x x'.  law_doubts: standard errors from not knowing the law of
    counts, by its spread and by its kind, shape (2, u).  level: the curvature where every row has the mean predictor.
    relative_noise: of the curvature beside it, in the worst direction.  shortened: relative error of the curvature by
    rows that were shortened (`shortening_error`).  part: weight of the released curvature in the step's error, w' of
    `released_curvature`; that in the curvature if None.
    """

    b: Array
    step: Array
    curve: ShrunkMatrix
    squares: NoisySquares
    moments: NoisyMatrix
    regressors: Regressors
    link: Link
    dispersion: Dispersion
    law_doubts: Array
    level: Array
    relative_noise: float
    notes: tuple[str, ...]
    shortened: float = 0.0
    part: float | None = None

    @property
    def released_part(self) -> float:
        """The weight of the released curvature in the step's error."""
        return self.curve.weight if self.part is None else self.part

    @property
    def fitted(self) -> float:
        """The factor of HC1 for the fitted coefficients, rows / (rows - u)."""
        return self.regressors.rows / max(self.regressors.rows - len(self.b), 1.0)

    def covariances(self, last: ScorePart) -> tuple[Array, Array]:
        """Return the covariances of the coefficients by sampling and by privacy, each of shape (u, u)."""
        sampling, privacy = self.first_order(last)
        if self.link.weighed:
            return sampling, privacy
        inverse, moves = np.asarray(np.linalg.inv(self.curve.matrix), dtype=np.float64), self.moves_in_step(last)
        added = inverse @ self._error_of_way(moves, sampling + privacy) @ inverse
        next_one = inverse @ self._error_of_way(moves, added) @ inverse
        # what each term of the series adds to the sum of squares in units of the curvature
        sizes = [float(np.trace(one @ self.curve.matrix)) for one in (added, next_one)]
        again = min(sizes[1] / max(sizes[0], 1e-300), MOST_AGAIN)
        return sampling, privacy + added + next_one / (1 - again)

    def first_order(self, last: ScorePart) -> tuple[Array, Array]:
        """Return both covariances as if the step had no error, T0 of the module."""
        inverse = np.asarray(np.linalg.inv(self.curve.matrix), dtype=np.float64)
        sampling = inverse @ self.squares.matrix @ inverse * self.fitted
        sampling = sampling + self.law_doubts.T @ self.law_doubts
        moves, square = self.moves_in_step(last), np.outer(self.step, self.step)
        return sampling, inverse @ (last.noise + self._error_of_way(moves, square)) @ inverse

    def released_moves(self, last: ScorePart) -> Array:
        """Return what each noise of the released products, of variance 1, adds to the curvature, shape (e, u, u)."""
        # an error E of the noisy matrix enters as weight T E T', T the transform
        return _moves(last.weighted_products, self.curve.weight, self.curve.transform)

    def curvature_moves(self, last: ScorePart) -> Array:
        """Return what every noise, of variance 1, adds to the curvature, shape (e, u, u)."""
        moves = self.released_moves(last)
        if self.link.weighed:
            return moves
        # those of the moments that a guess was computed from, weighted by what it has in the average
        return np.concatenate([moves, _guess_moves(self.moments, self.curve, self.regressors, 1 - self.curve.weight)])

    def moves_in_step(self, last: ScorePart) -> Array:
        """Return what every noise, of variance 1, adds to the curvature by which the step errs, shape (e, u, u)."""
        if self.part is None:
            return self.curvature_moves(last)
        released = _moves(last.weighted_products, self.part, self.curve.transform)
        return np.concatenate([released, _guess_moves(self.moments, self.curve, self.regressors, 1 - self.part)])

    def middle(self, last: ScorePart) -> Array:
        """Return the covariance of all that the step is made of but for noise in the curvature, shape (u, u)."""
        none = np.zeros((0, *self.curve.matrix.shape))
        # errors of the guess, and of shortened rows, have no law that a curvature shares: along the step, as ever
        of_guess = self._error_of_way(none, np.outer(self.step, self.step))
        return self.squares.matrix * self.fitted + last.noise + of_guess

    def _error_of_way(self, moves: Array, square: Array) -> Array:
        """Return the covariance of the curvature's error times a way from b0, shape (u, u).

        square: the mean of way way', shape (u, u).
        """
        error = (moves @ square @ moves).sum(axis=0)
        # the guess errs by its own relative error as well, of counts in every direction
        rest = (1 - self.released_part) ** 2
        if self.link.weighed:
            length = float(np.trace(square @ self.curve.matrix))
            return error + rest * self.curve.matrix * length * GUESS_ERROR_OF_COUNTS**2
        # relative to the guess: where released products say that it is too large, that is much of what they left
        error = error + rest * left_in_step(self.curve.guess, square, self.curve.guess_error)
        return error + left_in_step(self.curve.matrix, square, self.shortened)

    def moves_of(self, last: ScorePart, total: Array, back: Array) -> Array:
        """Return what each noise in the curvature adds to `total`, the covariance of back @ b, shape (e, u, u).

        Of counts none is told: their scores' noise is small where they have an answer.
        """
        if self.link.weighed:
            return np.zeros((0, *total.shape))
        # d (B^-1 M B^-1) = -B^-1 P (B^-1 M B^-1) and its transpose
        inner = np.linalg.solve(self.curve.matrix, self.curvature_moves(last)) @ np.linalg.inv(back)
        moved = -(back @ inner @ total)
        return np.asarray(moved + moved.swapaxes(1, 2), dtype=np.float64)

    def widening(self, last: ScorePart, total: Array, back: Array) -> Array:
        """Return factors for standard errors, shape (u,), that allow for the noise in the curvature.

        total: covariance of back @ b, shape (u, u).
        """
        inverse = back @ np.asarray(np.linalg.inv(self.curve.matrix), dtype=np.float64)
        moved = self.curvature_moves(last) @ np.linalg.inv(back)
        return widening_factors(noise_of_diagonal(inverse, moved, np.ones(len(moved)), total), total)

    def inverted(self, last: ScorePart, total: Array, back: Array) -> Array:
        """Return factors for standard errors, shape (u,), by which their intervals reach as far as Fieller's, or 1.

        total: covariance of back @ b, shape (u, u).
        """
        if self.link.weighed:
            return np.ones(len(total))
        rows, moves = back @ np.asarray(np.linalg.inv(self.curve.matrix), dtype=np.float64), self.moves_in_step(last)
        base = np.diag(rows @ self.middle(last) @ rows.T)
        out = np.ones(len(total))
        for j, (row, along) in enumerate(zip(rows, changes_with_each(back, total), strict=True)):
            # what each noise does to coefficient j along the step, and along that change
            here, there = row @ moves @ self.step, row @ moves @ along
            reach = farther_end(float(base[j]), float(here @ here), float(here @ there), float(there @ there))
            out[j] = max(reach / math.sqrt(total[j, j]), 1.0)
        return out


def _guess_moves(moments: NoisyMatrix, curve: ShrunkMatrix, found: Regressors, weight: float) -> Array:
    """Return what noises of the moments add to a curvature of which the guess has this weight, shape (e, u, u)."""
    return _moves(moments, weight, curve.transform_of(found.second_moments))


def _moves(noisy: NoisyMatrix, weight: float, back: Array) -> Array:
    """Return weight * back @ E @ back' for each noise E of a matrix, of one standard deviation, shape (e, u, u)."""
    return weight * (back @ noisy.patterns @ back.T) * np.sqrt(noisy.variances)[:, None, None]


def last_step(first: FirstPart, last: ScorePart, found: Regressors) -> ScoreStep:
    """Return the last step from the sums of the scores that it follows; found: moments of the regressors."""
    assert last.meat is not None
    link = last.link
    made = bounded(link, found.predictor_values(last.b), last.cut)
    end = None if link.weighed else one_step(last, found)
    curve, varied = curvature(last, found, end), dispersion(last, found)
    trusted = guess_error(link, found)
    # released weights tell how scores vary from row to row better than normal regressors do, and with less noise than
    # released squares: of a binary response that is not cut, psi**2 is half of |psi| on average
    size, _, square = guessed_products(halves(found, last.b), last)
    told = shrunk(last.weighted_products, size, square, trusted)
    ratio = max(varied.ratio, _least_ratio(link, varied))
    if last.weighted and not link.weighed:
        # squares have the weights twice: where these go with scores, squares are others than normal regressors have
        ratio = ratio * score_ratio(last, found, made.square)
    square = told.matrix * ratio
    inverse = np.asarray(np.linalg.inv(curve.matrix), dtype=np.float64)
    if last.persons:
        middle, weight = shrunk_to_bound(last.meat, square, inverse)
        of_weight = weight_moves(last.meat, square, inverse)
    else:
        nearer = shrunk(last.meat, square, square, trusted)
        middle, weight, of_weight = nearer.matrix, nearer.weight, np.zeros(len(last.meat.variances))
    # what noises add to the guess: of released weights, and of the squares beside those of the assumed law
    moved = ratio * told.weight * (told.transform @ last.weighted_products.patterns @ told.transform.T)
    moved = moved * np.sqrt(last.weighted_products.variances)[:, None, None]
    of_guess = np.concatenate([moved, varied.error * told.matrix[None]])
    squares = noisy_squares(middle, weight, last.meat, square, of_guess, of_weight)
    way = np.asarray(np.linalg.solve(curve.matrix, last.score), dtype=np.float64)
    part = None
    if not link.weighed:
        way, part = _towards_released(way, last, (curve, inverse), squares.matrix, (first.moments, found))
    flat = np.zeros_like(last.b)
    # the curvature where every row has the mean predictor, see MAX_RELATIVE_NOISE
    level = bounded(link, np.full(len(NODES), found.mean @ last.b), last.cut)
    guess = found.weighted_products(flat, level.size)
    # the sums are the number 0 where no law of counts was compared: made vectors first
    sums = (inverse @ (one + np.zeros_like(way)) for one in (varied.mean_scores, varied.half_range, varied.aside))
    shift, *doubts = sums
    b = last.b + way - shift
    loose = shrunk(last.weighted_products, guess, guess).relative_noise
    notes = person_notes(weight) if last.persons else NOTES
    law = varied, np.array(doubts)
    far = 0.0 if end is None else shortening_error(last, found, end)
    return ScoreStep(b, way, curve, squares, first.moments, found, link, *law, guess, loose, notes, far, part)


def _towards_released(
    way: Array,
    last: ScorePart,
    curved: tuple[ShrunkMatrix, Array],
    squares: Array,
    known: tuple[NoisyMatrix, Regressors],
) -> tuple[Array, float]:
    """Return a step that the released curvature has more weight in, and that weight (`released_curvature`).

    curved: the curvature and its inverse.  squares: sum of psi**2 x x'.  known: the moments that its guess is of.
    """
    curve, inverse = curved
    middle = squares + last.noise
    # of the way: the step, which misses it by its own error
    square = np.outer(way, way) + inverse @ middle @ inverse

    def size(moves: Array) -> float:
        """Return the mean square, in the metric of the curvature, of what noises of it do to the step."""
        return float(np.trace(inverse @ (moves @ square @ moves).sum(axis=0)))

    guess = float(np.trace(inverse @ left_in_step(curve.guess, square, curve.guess_error)))
    guess += size(_guess_moves(known[0], curve, known[1], 1.0))
    noise, base = size(_moves(last.weighted_products, 1.0, curve.transform)), float(np.trace(inverse @ middle))
    part = nearer_released(curve.weight, base, noise, guess)
    released = curve.transform @ last.weighted_products.values @ curve.transform.T
    more = (part - curve.weight) / max(1 - curve.weight, 1e-9)
    return way + more * (inverse @ ((curve.matrix - released) @ way)), part


def shortening_error(last: ScorePart, found: Regressors, end: Array) -> float:
    """Return the relative error of a curvature whose rows were shortened more than those of normal regressors are.

    Sums of scores lose w of a row, and sums of products w**2: where a regressor has a long tail on the side of the
    events, a curvature in its direction is too small, and steps too long.  What the constant loses more than of normal
    regressors tells of it, with noise.  end: coefficients after the step.
    """
    if last.kept is None or found.constant is None or last.weight_sum <= 0:
        return 0.0
    left = float(found.constant @ last.weighted_products.values @ found.constant) / last.weight_sum
    size = NODE_WEIGHTS * bounded(last.link, found.predictor_values(end), last.cut).size
    # of normal regressors, too, rows with larger scores lie further out along the predictor
    usual = last.kept.constant(max(float(size @ NODES**2) / float(size.sum()) - 1, 0.0))
    noise = math.sqrt(last.weighted_products.quadratic_variance(found.constant))
    noise = math.hypot(noise, left * last.weight_sum_noise) / (last.weight_sum * usual)
    # what noise hides may be lost all the same: the mean square that an exponential prior and the noise leave open
    mean, open_ = positive_part(1 - left / usual - noise**2 / USUAL_LOSS, max(noise, 1e-9) ** 2)
    return min(OF_TAILS * math.hypot(mean, math.sqrt(open_)), 1.0)


def _least_ratio(link: Link, varied: Dispersion) -> float:
    """Return the least ratio of squared scores to those of the assumed law; what is below it is taken for noise."""
    # counts vary no less than Poisson counts; of other responses the law was only a guess
    return min(1.0, 4 * varied.error) if isinstance(link, PositiveLink | RobustLink) else 1.0
