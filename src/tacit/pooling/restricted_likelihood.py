"""The restricted likelihood of tau2 in a random-effects model, and its information.  Functions of arrays.

Shapes: M parties, T quantities; `use`, shape (M, T), is 1 for the parties that count and 0 for the others.
"""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import Array


def weighted(y: Array, v: Array, use: Array, tau2: Array) -> tuple[Array, Array, Array]:
    """Return weights 1 / (v + tau2), shape (M, T), their sums and the weighted means, shape (T,)."""
    w = use / (v + tau2)
    total = w.sum(axis=0)
    return w, total, (w * y).sum(axis=0) / total


def restricted_log_likelihood(y: Array, v: Array, use: Array, tau2: Array) -> Array:
    """Return the restricted log-likelihood of tau2 up to a constant, shape (T,)."""
    w, total, mu = weighted(y, v, use, tau2)
    # the last term, log sum w, is what restriction adds: one degree of freedom for mu
    return -0.5 * ((w * (y - mu) ** 2 + use * np.log(v + tau2)).sum(axis=0) + np.log(total))


def powers(w: Array) -> tuple[Array, Array, Array]:
    """Sums of w, w**2 and w**3 over the parties, shape (T,) each."""
    return w.sum(axis=0), (w**2).sum(axis=0), (w**3).sum(axis=0)


def information(w: Array) -> Array:
    """Return the expected (Fisher) information of the restricted likelihood about tau2, shape (T,)."""
    one, two, three = powers(w)
    # trace(P P) / 2 with P = diag(w) - w w' / sum w, the projection of the restricted likelihood
    return 0.5 * (two - 2 * three / one + two**2 / one**2)
