"""A hill beside a family, as a model of a density: two modes, or a peak on a bed.  Plain arrays.

The density is (1 - w) p + w q: log p a combination of t and t**2, a normal, exponential or even law, and q a normal
law, both cut to [0, 1].  Of q the standard deviation is at least a quarter of a bin, below which shares do not tell it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.densities.density_models import CELLS, exponential, middles

PLACE: Final = 0.5
"""Of q, where its coordinate is 0."""
WIDTH: Final = 0.06
"""Of q, where its coordinate is 0."""
ODDS: Final = 0.45
"""Of q, where its coordinate is 0: that w is 0.31."""
PRECISION: Final = (0.01, 0.01, 0.5, 4.0, 1.0)
"""Of the family's two coordinates, the logarithm of the odds of w, the place and the logarithm of the width of q."""
FAR: Final = 20.0
"""Largest logarithm of a width, in WIDTH."""
STARTS: Final = (0.02, 0.08)
"""Widths from which a mode is looked for."""
KEPT: Final = 0.8
"""What a first hill has of the most that a density leaves for it."""


@dataclass(frozen=True)
class TwoHills:
    """The model.  over: t and t**2 on the cells, orthogonal.  narrowest: least standard deviation of q."""

    over: Array
    narrowest: float
    plain: bool = True

    @property
    def precision(self) -> Array:
        """Prior precisions of the coordinates."""
        return np.array(PRECISION)

    def cells(self, theta: Array) -> Array:
        """Return the shares of the cells."""
        w = self._weight(theta)
        return (1 - w) * exponential(self.over @ theta[:2]) + w * self._hill(theta)

    def slopes(self, theta: Array, cells: Array) -> Array:
        """Return their derivatives by the coordinates."""
        w, hill = self._weight(theta), self._hill(theta)
        bed, (place, width) = exponential(self.over @ theta[:2]), self._where(theta)
        apart = (middles() - place) / width
        moved, widened = apart / width, apart**2 * (self._scale(theta) / width) ** 2
        of_bed = (1 - w) * bed[:, None] * (self.over - bed @ self.over)
        of_hill = [w * hill * (one - hill @ one) for one in (moved, widened)]
        return np.column_stack([of_bed, w * (1 - w) * (hill - bed), *of_hill])

    def starts(self, density: Array, plain: Array) -> list[Array]:
        """Return coordinates to start from, one set for each of STARTS.

        density: shares of the cells by another estimate.  plain: those of a law of few parameters.
        The hill is where most is above `plain`, in standard errors; the bed has what is left.
        """
        t, found = middles(), list[Array]()
        for width in STARTS:
            over = np.exp(-(((t[:, None] - t) / width) ** 2) / 2)
            over = over / over.sum(axis=1, keepdims=True)
            smooth = over @ density
            place = t[np.argmax((smooth - over @ plain) / np.sqrt(smooth + 0.1 / CELLS))]
            hill = exponential(-(((t - place) / width) ** 2) / 2)
            near = np.abs(t - place) < width
            w = float(np.clip(KEPT * (density[near] / hill[near]).min(), 0.03, 0.7))
            rest = np.maximum(density - w * hill, 0.0)
            rest = rest / rest.sum()
            center = rest @ t
            spread = max(float(rest @ (t - center) ** 2), 1e-4)
            bed = -((t - center) ** 2) / (2 * spread) @ self.over / CELLS
            found.append(np.array([*bed, np.log(w / (1 - w) / ODDS), place - PLACE, np.log(width / WIDTH)]))
        return found

    def _weight(self, theta: Array) -> float:
        return float(1 + np.tanh((theta[2] + np.log(ODDS)) / 2)) / 2

    def _scale(self, theta: Array) -> float:
        # a step that goes too far is taken back, and warns of nothing
        return WIDTH * float(np.exp(np.clip(theta[4], -FAR, FAR)))

    def _where(self, theta: Array) -> tuple[float, float]:
        return PLACE + float(theta[3]), float(np.hypot(self._scale(theta), self.narrowest))

    def _hill(self, theta: Array) -> Array:
        place, width = self._where(theta)
        return exponential(-(((middles() - place) / width) ** 2) / 2)
