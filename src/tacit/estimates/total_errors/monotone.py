"""Values and limits that rise with a probability."""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import Array


def rising(values: Array, limits: Array) -> tuple[Array, Array]:
    """Make values, shape (cells, probs), and limits, shape (cells, probs, 2), rise with the probability.

    Values and upper limits become the largest up to each probability, lower limits the least from it on.  Intervals
    only grow, so that none covers less than before.  Each still holds its value, which is the value at this or a lower
    probability: that one lies below its own upper limit, and above its own lower one.

    >>> values, limits = rising(np.array([[3.0, 2.0]]), np.array([[[2.0, 4.0], [1.0, 3.0]]]))
    >>> values.tolist(), limits.tolist()
    ([[3.0, 3.0]], [[[1.0, 4.0], [1.0, 4.0]]])
    """
    # reversed, so that the minimum runs over this and all higher probabilities
    lower = np.minimum.accumulate(limits[:, ::-1, 0], axis=1)[:, ::-1]
    upper = np.maximum.accumulate(limits[..., 1], axis=1)
    return np.maximum.accumulate(values, axis=1), np.stack([lower, upper], axis=-1)
