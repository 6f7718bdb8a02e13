"""The nearest numbers that are 0 or more and have a given sum.  Plain arrays."""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import Array


def lowered_by(values: Array, total: float, weights: Array | None = None) -> float:
    """Return the constant by which numbers are lowered before negative ones are set to 0, so that their sum is `total`.

    What is left is the nearest of all such numbers in mean square: if the k largest stay positive, the constant is
    their mean excess, and the right k is the last whose number still exceeds it [Held, Wolfe & Crowder 1974].
    total: above 0.  weights: of the numbers in the sum and in the mean square, one each where None.

    >>> lowered_by(np.array([61.0, 43.0, -4.0]), 100.0)
    2.0
    """
    flat = values.reshape(-1)
    if weights is None:
        down = np.sort(flat)[::-1]
        excess = (np.cumsum(down) - total) / np.arange(1, len(down) + 1)
    else:
        order = np.argsort(flat)[::-1]
        down = flat[order]
        excess = (np.cumsum(down * weights[order]) - total) / np.cumsum(weights[order])
    return float(excess[np.flatnonzero(down > excess)[-1]])


def nearest_with_sum(values: Array, total: float) -> Array:
    """Return the nearest numbers that are 0 or more and add up to `total`, above 0; of the shape of `values`.

    >>> nearest_with_sum(np.array([61.0, 43.0, -4.0]), 100.0)
    array([59., 41.,  0.])
    """
    return np.maximum(values - lowered_by(values, total), 0.0)
