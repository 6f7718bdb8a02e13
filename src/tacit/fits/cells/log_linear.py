"""Log-linear models of noisy cells: the probabilities of largest entropy with given means of a few public functions.

The probability of a cell is in proportion to exp(X theta), X a row of numbers for each cell (`cell_functions`).  Its
maximum likelihood estimate has the means X'counts / total, which are linear in the counts: noise does not bias them, no
count has to be made positive, and the noise of many cells averages out in few numbers.  Plain arrays.
Source: [Jaynes 1957]; [Haberman 1974, chapter 2] (maximum likelihood is the matching of means).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from tacit.base.arrays import Array

STEPS: Final = 100
CLOSE: Final = 1e-7
"""Largest distance of a mean from what is wanted at which the search ends; functions are of size one."""
RIDGE: Final = 1e-6
"""Share of a squared parameter taken from the mean log-likelihood: keeps means at an end of their range finite."""
FURTHEST: Final = 30.0
"""Largest change of a cell's log-probability in one step."""


@dataclass(frozen=True)
class LogLinear:
    """A fitted model: probabilities of the cells, shape (cells,), the parameters, and how far its means are off.

    root: Cholesky factor of the functions' covariance under the fit, with which further counts are fitted.
    """

    X: Array
    probabilities: Array
    theta: Array
    off: float
    root: Array

    def again(self, means: Array) -> LogLinear:
        """Return the model fitted to other means, from here and with the curvature here."""
        return _search(self.X, means, self.theta, self.root)


def fit(X: Array, means: Array) -> LogLinear:
    """Return the model of cells with functions X, shape (cells, p), whose means are `means`, shape (p,).

    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> found = fit(X, np.array([0.8]))
    >>> round(float(found.probabilities @ X[:, 0]), 5), found.off < 1e-5
    (0.8, True)
    """
    return _search(X, means, np.zeros_like(means), None)


def _search(X: Array, means: Array, theta: Array, root: Array | None) -> LogLinear:
    """Newton's method on a concave function, with halved steps; `root`: keep this curvature instead of each step's."""
    p, value = _at(X, means, theta)
    fixed = root
    for _ in range(STEPS):
        slope = means - X.T @ p - RIDGE * theta
        if float(np.abs(slope).max()) < CLOSE:
            break
        root = fixed if fixed is not None else _root(X, p)
        step = _solve(root, slope)
        change = X @ step
        step *= min(1.0, FURTHEST / max(float(np.ptp(change)), 1e-300))
        share = 1.0
        while True:
            moved, better = _at(X, means, theta + share * step)
            # what is gained falls short of the slope's promise only where the step is too long
            if better >= value + 1e-4 * share * float(slope @ step) or share < 1e-3:
                break
            share /= 2
        if share < 1e-3:
            if fixed is None:
                break
            fixed = None  # the curvature of elsewhere does not serve here
            continue
        theta, p, value = theta + share * step, moved, better
    off = float(np.abs(means - X.T @ p).max())
    return LogLinear(X, p, theta, off, root if root is not None else _root(X, p))


def _at(X: Array, means: Array, theta: Array) -> tuple[Array, float]:
    """Return the probabilities, and the mean log-likelihood less the ridge."""
    eta = X @ theta
    top = float(eta.max())
    p = np.exp(eta - top)
    total = float(p.sum())
    value = float(means @ theta) - top - float(np.log(total)) - RIDGE / 2 * float(theta @ theta)
    return p / total, value


def _root(X: Array, p: Array) -> Array:
    mean = X.T @ p
    curvature = X.T @ (X * p[:, None]) - np.outer(mean, mean)
    curvature.flat[:: len(curvature) + 1] += RIDGE
    return np.asarray(np.linalg.cholesky(curvature), dtype=np.float64)


def _solve(root: Array, slope: Array) -> Array:
    from scipy import linalg  # pyright: ignore[reportMissingTypeStubs]

    return np.asarray(cast(Any, linalg).cho_solve((root, True), slope), dtype=np.float64)
