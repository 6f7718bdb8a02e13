"""Variance between persons from noisy products of their mean scores.  Post-processing, at no further cost.

A sandwich covariance needs the sum of v v', v being a person's mean score, however the rows of a person depend on each
other [Liang & Zeger 1986].  This sum is noisy.  An upper bound is almost free of noise: by Jensen's inequality v v' is
at most the mean of psi**2 x x' over the person's rows, as if all rows of a person were equal.  Where noise is large,
the matrix is shrunk towards that bound, no further than needed: standard errors are then rather too large.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix

MAX_NOISE: Final = 0.3
"""Largest standard deviation of the noise in a variance, relative to the variance."""
MIN_SHARE: Final = 0.02
"""Smallest eigenvalue relative to the bound."""
NOTES: Final = ("Each person weighs one, a row its part of that. Standard errors are between persons (sandwich).",)


def shrunk_to_bound(meat: NoisyMatrix, bound: Array, inverse: Array) -> tuple[Array, float]:
    """Return the sum of v v' after shrinkage towards its bound, shape (u, u), and the weight of the noisy sum in it.

    meat: noisy sum.  bound: its upper bound.  inverse: of the curvature.  Each has shape (u, u).

    >>> one = np.eye(1)
    >>> calm, rough = (NoisyMatrix(one * 30, one[None], np.array([sd**2])) for sd in (5.0, 50.0))
    >>> matrix, weight = shrunk_to_bound(rough, one * 100, one)
    >>> shrunk_to_bound(calm, one * 100, one)[0].round(1).tolist(), matrix.round(1).tolist(), round(weight, 2)
    ([[30.0]], [[70.4]], 0.42)
    """
    weight = float(np.min(_weights(meat, bound, inverse)))
    values, vectors = np.linalg.eigh(bound)
    # bound = root root'; in its coordinates the bound is the identity, so MIN_SHARE is relative to it
    root = vectors * np.sqrt(np.maximum(values, 1e-12 * values[-1]))
    back = np.linalg.inv(root)
    low, sides = np.linalg.eigh(back @ (bound + weight * (meat.values - bound)) @ back.T)
    held = root @ sides
    return np.asarray((held * np.maximum(low, MIN_SHARE)) @ held.T), weight


def weight_moves(meat: NoisyMatrix, bound: Array, inverse: Array) -> Array:
    """Return what each noise of variance 1 of `meat` adds to the weight of `shrunk_to_bound`, shape (e,).

    >>> one = np.eye(1)
    >>> weight_moves(NoisyMatrix(one * 30, one[None], np.array([50.0**2])), one * 100, one).round(3).tolist()
    [0.089]
    """
    weights = _weights(meat, bound, inverse)
    j = int(np.argmin(weights))
    if weights[j] >= 1:
        return np.zeros(len(meat.variances))
    way = inverse[j]
    said = (meat.patterns @ way) @ way / float(way @ bound @ way)
    # the derivative of MAX_NOISE / (rough + MAX_NOISE (1 - said)) in said is its square
    return weights[j] ** 2 * said * np.sqrt(meat.variances)


def _weights(meat: NoisyMatrix, bound: Array, inverse: Array) -> Array:
    """Return the largest weight of the noisy sum that the noise in each coefficient's variance allows, shape (u,)."""
    most = np.diag(inverse @ bound @ inverse)
    if not (most > 0).all():  # residuals that noise made nothing of: there is nothing to shrink to
        return np.ones(len(most))
    # the noisy variance of each coefficient, and its noise, relative to the bound
    said = np.diag(inverse @ meat.values @ inverse) / most
    rough = np.array([meat.quadratic_variance(a) for a in inverse]) ** 0.5 / most
    short = rough > MAX_NOISE * said
    # the weight w at which noise w rough is MAX_NOISE of the shrunk variance 1 - w (1 - said)
    return np.where(short, MAX_NOISE / np.where(short, rough + MAX_NOISE * (1 - said), 1.0), 1.0)


def person_notes(weight: float, also: str = "") -> tuple[str, ...]:
    """Return notes on the standard errors; also: a further assumption of the bound, in words."""
    if weight >= 0.995:
        return NOTES
    far = f"{100 * (1 - weight):.0f}%"
    return (
        *NOTES,
        f"Noise hides how alike a person's rows are: variances go {far} of the way to what they would be if all rows "
        f"of a person said the same{also}.",
    )
