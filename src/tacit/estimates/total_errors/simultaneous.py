"""The factor of simultaneous intervals: the quantile of the largest studentised error of jointly normal estimates.

Source: Montiel Olea & Plagborg-Møller 2019 (sup-t bands); Šidák 1967 (the bound from above).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import special

DRAWS: Final = 2**16
"""Draws of the joint law: the level that is reached is then within .002 of 95% (twice the Monte-Carlo error)."""
AT_ONCE: Final = 2**22
"""Numbers held at a time."""
SEED: Final = 20190418


def simultaneous_factor(covariance: Array, level: float) -> float:
    """Return q such that all of m normal errors lie within q standard errors with probability `level`.

    covariance: of the errors, shape (m, m); those of variance 0 are without error.  A constant seed: the same
    covariance has the same factor.  Never below the factor of one interval, never above that of independent errors,
    which is the largest that any correlations need [Šidák 1967].

    >>> round(simultaneous_factor(np.eye(1), 0.95), 2), round(simultaneous_factor(np.ones((9, 9)), 0.95), 2)
    (1.96, 1.97)
    """
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    kept = errors > 0
    number = int(kept.sum())
    one = _quantile(level)
    if number <= 1:
        return one
    most = _quantile(level ** (1 / number))
    root = _root(covariance[np.ix_(kept, kept)] / np.outer(errors[kept], errors[kept]))
    rng = np.random.default_rng(SEED)
    largest: list[Array] = []
    step = max(1, AT_ONCE // number)
    for first in range(0, DRAWS, step):
        # many terms of a few coefficients have a joint law of few dimensions
        drawn = rng.standard_normal((min(step, DRAWS - first), root.shape[1])) @ root.T
        largest.append(np.abs(drawn).max(axis=1))
    found = float(np.quantile(np.concatenate(largest), level, method="higher"))
    return min(max(found, one), most)


def _root(correlation: Array) -> Array:
    """Return a matrix whose product with its transpose is the correlation, of as few columns as it needs."""
    values, vectors = np.linalg.eigh(correlation)
    kept = values > 1e-12 * values[-1]
    root = vectors[:, kept] * np.sqrt(values[kept])
    # rounding leaves variances a little off 1
    return np.asarray(root / np.sqrt((root**2).sum(axis=1, keepdims=True)))


def _quantile(level: float) -> float:
    return float(special().ndtri(0.5 + level / 2))
