"""How far a curvature computed for normal regressors is off, and what of it stays in coefficients.  No data here.

The curvature of binary scores is guessed as G = sum of c(eta) x x' for normal regressors x of the released moments, c
being the curvature of a row with predictor eta.  In truth it is G^1/2 (1 + R) G^1/2, and a step s from it is off by
what R makes of v = G^1/2 s.

How large R is.  Let t be the predictor in standard deviations.  Regressors that are not normal, but skewed, change G to
first order by their third cumulants K(t, x, x) times E c'(t) [Edgeworth], so that

    R = A K(t, x, x),   A = E c'(t) / E c = E t c / E c                                          (Stein: t is normal)

on axes on which G is 1.  A is 0 where events are in half of the rows and comes near the predictor's standard deviation
where they are rare: there R is large, and follows from regressors that no release tells of but by products W of
weighted regressors.  t and c are those where the last step ends: where it begins, coefficients may be shrunk to
nothing, and t with them.  `SKEWNESS` stands for the size of K, and `LEAST_ERROR` for what is not of first order.

What W says.  On the same axes W is 1 + R + N, N being noise of known variance.  With `error`**2 the mean of
|R v|**2 / |v|**2 and S that of |(W - 1) v|**2 / |v|**2, both over directions v, S has mean error**2 + noise**2.  The
u (u + 1) / 2 numbers of W are as if normal, so that error**2 is most probable, after a prior law with the weight of
PRIOR_NUMBERS of them around SKEWNESS and A, where `told_error` finds it.

What stays.  R is symmetric; if its law is the same on all axes, its numbers have variance error**2 / (u + 1) off the
diagonal and twice that on it, and

    E R v v' R = error**2 (|v|**2 1 + v v') / (u + 1).

That is a part 1 / u of error**2 |v|**2 in each direction, and about twice as much along v: not all in each.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.bounded_scores.normal_regressors import NODE_WEIGHTS, NODES

LEAST_ERROR: Final = 0.15
"""Assumed relative error of a guess whose curvature is alike on both sides of the mean predictor."""
SKEWNESS: Final = 0.6
"""Assumed third cumulant of standardised regressors with the predictor."""
PRIOR_NUMBERS: Final = 8
"""As how many numbers the assumed error counts, beside those that are released."""
ERRORS: Final[Array] = np.geomspace(0.02, 3, 200)


def assumed_error(curve: Array, skewness: float = 0.0) -> float:
    """Return the relative error that is assumed of a guess; curve: c at the nodes of the predictor.

    skewness: third cumulant that is known and not in the guess.

    >>> round(assumed_error(1 / np.cosh(NODES)), 2), round(assumed_error(np.exp(0.5 * NODES)), 2)
    (0.15, 0.34)
    """
    return float(np.hypot(LEAST_ERROR, np.hypot(SKEWNESS, skewness) * tilt_of_curvature(curve)))


def tilt_of_curvature(curve: Array) -> Array:
    """Return E t c / E c, which is A; curve: c at the nodes of predictors, the last axis.

    >>> tilt_of_curvature(np.exp(np.array([[0.2], [0.5]]) * NODES)).round(3).tolist()
    [0.2, 0.5]
    """
    weights = NODE_WEIGHTS * curve
    return np.asarray((weights @ NODES) / np.maximum(weights.sum(axis=-1), 1e-300), dtype=np.float64)


def told_error(found: Array, noise: float, assumed: float) -> float:
    """Return the most probable relative error of a guess.

    found: what is released less the guess, on axes on which the guess is 1, shape (u, u).  noise: mean square of the
    noise in it, as S of the module.

    >>> round(told_error(np.zeros((3, 3)), 1e9, 0.3), 1), round(told_error(np.eye(20) * 0.5, 1e-4, 0.15), 1)
    (0.3, 0.5)
    """
    u, tried = len(found), ERRORS**2
    numbers, square = u * (u + 1) / 2, float((found**2).sum()) / u
    both = tried + noise
    wrong = numbers * (np.log(both) + square / both) + PRIOR_NUMBERS * (np.log(tried) + assumed**2 / tried)
    return float(ERRORS[np.argmin(wrong)])


def left_in_step(curve: Array, square: Array, error: float) -> Array:
    """Return the covariance, shape (u, u), of what a guess that is off by `error` leaves in curve @ step.

    square: the mean of step step', shape (u, u).

    >>> left_in_step(np.diag([4.0, 1.0]), np.diag([1.0, 0.0]), 0.3).round(3).tolist()
    [[0.96, 0.0], [0.0, 0.12]]
    """
    moved = square @ curve
    return error**2 * (float(np.trace(moved)) * curve + curve @ moved) / (len(curve) + 1)
