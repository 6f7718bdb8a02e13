"""Convex losses of a linear predictor and their derivatives.  Plain arrays; no data here.

z: the predictor; y: -1 or 1 for two levels, a number from -1 to 1 otherwise; of shapes that broadcast.
"""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import Array

BEND = 0.5
"""Residual from which on the Huber loss is a straight line."""


def loss_of(name: str, z: Array, y: Array) -> Array:
    """Return the loss.

    >>> loss_of("hinge", np.array([-1.0, 0.0, 0.5, 2.0]), np.array(1.0)).tolist()
    [1.5, 0.5, 0.125, 0.0]
    """
    if name == "logistic":
        return np.logaddexp(0.0, -y * z)
    if name == "hinge":
        inside = np.clip(1 - y * z, 0.0, 1.0)
        return inside**2 / 2 + np.maximum(-y * z, 0.0)
    far = np.abs(y - z)
    if name == "squared":
        return far**2 / 2
    return np.where(far <= BEND, far**2 / 2, BEND * far - BEND**2 / 2)


def slope_of(name: str, z: Array, y: Array) -> Array:
    """Return the derivative of the loss in z."""
    if name == "logistic":
        return np.asarray(-y * np.exp(-np.logaddexp(0.0, y * z)))
    if name == "hinge":
        return np.asarray(-y * np.clip(1 - y * z, 0.0, 1.0))
    return z - y if name == "squared" else np.clip(z - y, -BEND, BEND)


def bend_of(name: str, z: Array, y: Array) -> Array:
    """Return the second derivative of the loss in z, where there is one."""
    if name == "logistic":
        return np.asarray(np.exp(-np.logaddexp(0.0, z) - np.logaddexp(0.0, -z)) + 0.0 * y)
    if name == "hinge":
        return np.where((y * z >= 0) & (y * z <= 1), 1.0, 0.0)
    return np.ones_like(z - y) if name == "squared" else np.where(np.abs(y - z) <= BEND, 1.0, 0.0)
