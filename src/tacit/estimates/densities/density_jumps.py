"""Models of a density with jumps, beside those of `log_density`.  Plain arrays.

The logarithm with a penalty, and steps of free heights at a few edges of bins: where a jump is within a bin, there is
one at either end.  Edges are found one after another, each where the score of a step says that most is gained; a step
is kept where the marginal likelihood gains more than its edge costs, which may be any of them.
Straight densities, 1 + c (2 t - 1), are a family of one parameter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.densities.density_models import CELLS, FREE, LogLinearModel, middles

MOST_JUMPS: Final = 4
"""Most steps of a density."""
HEIGHT: Final = 0.25
"""Precision of the logarithm of a step."""
STRAIGHT: Final = 1.0
"""Precision of the slope of a straight density."""
LOWEST: Final = 1e-3
"""Of a straight density, beside its mean."""


@dataclass(frozen=True)
class StraightModel:
    """A density that is a straight line."""

    plain: bool = True

    @property
    def precision(self) -> Array:
        """Prior precision of the slope."""
        return np.array([STRAIGHT])

    def cells(self, theta: Array) -> Array:
        """Return the shares of the cells."""
        made = np.maximum(1 + theta[0] * (2 * middles() - 1), LOWEST)
        return made / made.sum()

    def slopes(self, theta: Array, cells: Array) -> Array:
        """Return their derivatives by the coordinates."""
        line = 2 * middles() - 1
        inside = 1 + theta[0] * line > LOWEST
        each = np.where(inside, line, 0.0) / np.maximum(1 + theta[0] * line, LOWEST).sum()
        return (each - cells * each.sum())[:, None]


def steps(edges: Array) -> Array:
    """Return a step at each inner edge, shape (CELLS, edges): 0 before it, 1 after, a part in the cell that has it.

    >>> steps(np.array([0.0, 0.5, 1.0])).sum(axis=0)
    array([128.])
    """
    return np.clip(np.arange(1, CELLS + 1)[:, None] - edges[1:-1] * CELLS, 0.0, 1.0)


def with_steps(over: Array, penalty: float, added: Array) -> LogLinearModel:
    """Return the model of the logarithm with steps.  over: functions on the cells, the free ones first."""
    precision = np.full(over.shape[1] + added.shape[1], penalty)
    precision[: len(FREE)], precision[over.shape[1] :] = FREE, HEIGHT
    return LogLinearModel(np.column_stack([over, added - added.mean(axis=0)]), precision, plain=False)


def gains(slopes: Array, precision: Array, moved: Array, left: Array, variance: Array) -> Array:
    """Return what each step gains at most, in the logarithm of the posterior: its score test, shape (edges,).

    slopes: of shares of bins by the coordinates of the model that has it not.  moved: by the steps, shape (bins,
    edges).  left: shares less those of the model, with their variance.
    """
    curvature = slopes.T @ (slopes / variance[:, None]) + np.diag(precision)
    scaled = moved / variance[:, None]
    through = slopes @ np.linalg.solve(curvature, slopes.T @ scaled)
    own = ((moved - through) * scaled).sum(axis=0)
    return np.asarray((left @ scaled) ** 2 / (np.maximum(own, 0.0) + HEIGHT) / 2)
