"""Values and limits that rise with a probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.base.arrays import Array

if TYPE_CHECKING:
    pass


def rising(values: Array, limits: Array) -> tuple[Array, Array]:
    """Values (cells, probs) and limits (cells, probs, 2) that rise with the probability.

    Values and upper limits: the largest so far; lower limits: the least from there on.  No interval loses a point, so
    that none covers less than before; and each still holds its value: that is some value so far, each of which lies
    below its own upper limit and above its own lower one.

    >>> values, limits = rising(np.array([[3.0, 2.0]]), np.array([[[2.0, 4.0], [1.0, 3.0]]]))
    >>> values.tolist(), limits.tolist()
    ([[3.0, 3.0]], [[[1.0, 4.0], [1.0, 4.0]]])
    """
    lower = np.minimum.accumulate(limits[:, ::-1, 0], axis=1)[:, ::-1]
    upper = np.maximum.accumulate(limits[..., 1], axis=1)
    return np.maximum.accumulate(values, axis=1), np.stack([lower, upper], axis=-1)
