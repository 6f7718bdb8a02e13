"""Fits without privacy that have no closed form and no likelihood.  Pure array functions."""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.bounded_scores.robust_links import SHARE

SMALL: Final = 1e-9
"""Steps end when one is this small against the cut."""
MOST_STEPS: Final = 50


def robust(x: Array, y: Array, worth: Array, start: Array) -> tuple[Array, Array, Array]:
    """Return Huber's coefficients, the inverse of the products of rows within the cut, and clamped residuals.

    The cut is where SHARE of the residuals lie within, as `robust_links` has it.  worth: weights of rows.
    """
    b, residual, inverse, cut = start, y - x @ start, np.eye(x.shape[1]), 0.0
    for _ in range(MOST_STEPS):
        places = np.argsort(np.abs(residual))
        cut = float(np.abs(residual)[places[np.searchsorted(np.cumsum(worth[places]), SHARE * worth.sum())]])
        inside = worth * (np.abs(residual) < cut)
        inverse = np.asarray(np.linalg.pinv((x.T * inside) @ x, hermitian=True), dtype=np.float64)
        step = inverse @ (x.T @ (worth * np.clip(residual, -cut, cut)))
        b = b + step
        residual = y - x @ b
        if np.abs(step).max() < SMALL * max(cut, 1e-300):
            break
    return b, inverse, np.clip(residual, -cut, cut)


def log_start(x: Array, y: Array) -> Array:
    """Return coefficients from which Fisher scoring of a log link begins: least squares of a logarithm.

    A tenth of the mean is added to the response, so that values near 0 do not decide.
    """
    return np.asarray(np.linalg.lstsq(x, np.log(y + 0.1 * y.mean() + 1e-300), rcond=None)[0], dtype=np.float64)
