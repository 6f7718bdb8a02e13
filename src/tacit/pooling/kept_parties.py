"""What leaving out parties by their own numbers does to the mean of those that are left.

A party whose blocks seem to lie beyond an end of the box weighs nothing.  Whether they seem so depends on the noise of
its own mean: where all parties lie near the end, those stay whose noise took them inwards, and their mean is off by
what is cut off.  A party with mean m and error s that stays below a limit c has, on average, m - s h(z) in its place,
z = (c - m) / s and h the normal density over its distribution function.  So the mean without the cut is that m of
which the parties that stay would have the mean that they have.  A party far from the end is left out or kept whatever
its noise is: h is nearly 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.total_errors.error_laws import log_ndtr

FURTHEST: Final = 6.0
"""Errors of a party beyond which the mean of all is not looked for."""
HALVINGS: Final = 40


@dataclass(frozen=True)
class KeptParties:
    """Parties that weigh something: weights that add up to 1, errors, and the limits between which they are kept, (M,).

    low, high: of a party's own mean, infinite where nothing would leave it out.
    """

    weight: Array
    error: Array
    low: Array
    high: Array

    def cut(self, mean: float) -> float:
        """Return how far beyond the mean of all parties that of those kept is, on average."""
        below, above = (
            np.where(np.isfinite(z), _hazard(np.where(np.isfinite(z), z, 0.0)), 0.0)
            for z in ((mean - self.low) / self.error, (self.high - mean) / self.error)
        )
        return float(self.weight @ (self.error * (below - above)))

    def missing(self, found: float) -> float:
        """Return by how much the mean that is found, of those kept, is below that of all parties."""
        if not (np.isfinite(self.low) | np.isfinite(self.high)).any():
            return 0.0
        # the mean of those kept grows with that of all
        span = FURTHEST * float(self.error.max())
        least, most = found - span, found + span
        for _ in range(HALVINGS):
            middle = (least + most) / 2
            least, most = (middle, most) if middle + self.cut(middle) < found else (least, middle)
        return (least + most) / 2 - found


def _hazard(z: Array) -> Array:
    """Return the normal density over the distribution function, by logarithms: z far below 0 has about -z."""
    return np.asarray(np.exp(-(z**2) / 2 - np.log(2 * np.pi) / 2 - log_ndtr(z)), dtype=np.float64)
