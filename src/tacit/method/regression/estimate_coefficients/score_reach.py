"""How far coefficients of rare levels reach that the scores do not contradict.  No data here.

A standard error takes the mean score for linear in a coefficient.  Of rows of a level in which events are rare it is
not: their number can fall to none, and no more.  With U(d) the change of the mean score of a coefficient that moves by
d, the others following it, the interval has all d with |U(d)| <= 1.96 standard errors U'(0).  For normal regressors it
is about as long as the standard errors say, and was simulated so; where a column has two values its rows are two parts
(`two_valued_regressors`), and the standard error is widened by as much further as the farther end is then.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.bounded_scores.binary_links import secant_slope
from tacit.method.regression.bounded_scores.links import Link
from tacit.method.regression.bounded_scores.normal_regressors import Regressors
from tacit.method.regression.bounded_scores.two_valued_regressors import halves
from tacit.method.regression.estimate_coefficients.sampling_variance import LEVEL
from tacit.method.regression.estimate_coefficients.score_step import changes_with_each

# Gauss-Hermite quadrature as in `normal_regressors`, with fewer nodes for two dimensions
_PLACES, _MASS = np.polynomial.hermite_e.hermegauss(11)
NODES: Final[Array] = np.asarray(_PLACES, dtype=np.float64)
NODE_WEIGHTS: Final[Array] = np.asarray(_MASS / _MASS.sum(), dtype=np.float64)
FARTHEST: Final = 2.5
"""Largest factor of a standard error."""
TRIED: Final[Array] = np.linspace(0, FARTHEST, 51)[1:]


def reach_factors(link: Link, found: Regressors, b: Array, step: Array, total: Array, back: Array) -> Array:
    """Return factors for standard errors, shape (u,), at least 1.

    b: coefficients after the step.  total: covariance of back @ b, shape (u, u).
    """
    parts, out = halves(found, b).parts, np.ones(len(total))
    if len(parts) == 1:
        return out
    for j, along in enumerate(changes_with_each(back, total)):
        reach = LEVEL * float(np.sqrt(total[j, j]))
        far = _farther(link, parts, (b, step), along, reach)
        out[j] = max(far / _farther(link, (found,), (b, step), along, reach), 1.0)
    return out


def _farther(link: Link, parts: tuple[Regressors, ...], way: tuple[Array, Array], along: Array, reach: float) -> float:
    """Return the factor by which the farther end of the interval lies beyond `reach`, up to FARTHEST."""
    b, step = way
    sides = list[float]()
    for side in (-1.0, 1.0):
        moved, slope = np.zeros(len(TRIED)), 0.0
        for part in parts:
            eta, change, weights = _nodes(part, b, along)
            now = link.mean(eta)
            mean_slope = secant_slope(link, eta, eta - _mean_change(part, b, step))
            there: Array = link.mean(eta[None] + side * reach * TRIED[:, None, None] * change[None])
            moved += part.rows * ((there - now[None]) * change[None] * weights[None]).sum(axis=(1, 2))
            slope += part.rows * float((mean_slope * change**2 * weights).sum())
        beyond = np.abs(moved) >= reach * slope
        sides.append(float(TRIED[np.argmax(beyond)]) if beyond.any() else FARTHEST)
    return max(sides)


def _mean_change(part: Regressors, b: Array, step: Array) -> Array:
    """Return the mean change of the predictor by a step, given the predictor at each of its nodes, shape (11, 1)."""
    shared = float(step @ part.cov @ b) / max(part.predictor_sd(b), 1e-9)
    return float(part.mean @ step) + shared * NODES[:, None]


def _nodes(part: Regressors, b: Array, along: Array) -> tuple[Array, Array, Array]:
    """Return predictors, their changes by a unit along a direction, and weights, each of shape (11, 11)."""
    sd = max(part.predictor_sd(b), 1e-9)
    shared = float(along @ part.cov @ b) / sd
    own = float(np.sqrt(max(float(along @ part.cov @ along) - shared**2, 0.0)))
    eta = float(part.mean @ b) + sd * NODES[:, None] + 0 * NODES
    change = float(part.mean @ along) + shared * NODES[:, None] + own * NODES
    return eta, change, NODE_WEIGHTS[:, None] * NODE_WEIGHTS
