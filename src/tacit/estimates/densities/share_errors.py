"""The law of the errors of noisy shares of bins: a normal variable, and beside it a Laplace one.  Plain arrays.

Where few rows are in a bin most of its error is noise, and noise of Laplace's law is not normal: it tells more, up to
twice as much, and what is far out is more often noise.  With x an error, s**2 the variance of the normal part and b the
scale of the noise the density of their sum is
    p(x) = exp(-x**2 / (2 s**2)) (erfcx(z-) + erfcx(z+)) / (4 b),       z+- = (s / b +- x / s) / sqrt(2),
and b**2 p'' = p less the normal density, since Laplace's density is the Green's function of 1 - b**2 D**2.  It is
log-concave, as both are [Prékopa 1973].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array

LEAST_SCALE: Final = 0.01
"""Of Laplace noise, in standard deviations of the normal part: less is next to none, and rounding would tell."""


@dataclass(frozen=True)
class ShareErrors:
    """Errors of shares.  variance: of their normal parts.  scale: of Laplace noise beside, or None."""

    variance: Array
    scale: Array | None = None

    @property
    def whole(self) -> Array:
        """Variances of both parts."""
        return self.variance if self.scale is None else self.variance + 2 * self.scale**2

    def loss(self, errors: Array) -> float:
        """Return the negative logarithm of the density of errors.

        >>> errors = ShareErrors(np.array([4.0]), np.array([3.0]))
        >>> round(errors.loss(np.array([2.0])), 4), round(errors.loss(np.array([-2.0])), 4)
        (2.4446, 2.4446)
        """
        if self.scale is None:
            return float((errors**2 / self.variance + np.log(2 * np.pi * self.variance)).sum()) / 2
        return -float(self._parts(errors)[0].sum())

    def below_normal(self, errors: Array) -> float:
        """Return by how much the loss of errors is below that of normal ones of the same variances."""
        return ShareErrors(self.whole).loss(errors) - self.loss(errors)

    def derivatives(self, errors: Array) -> tuple[Array, Array]:
        """Return the first and the second derivative of each error's loss."""
        if self.scale is None:
            return errors / self.variance, 1 / self.variance
        logs, balance, scale = self._parts(errors)
        normal = -(errors**2 / self.variance + np.log(2 * np.pi * self.variance)) / 2
        slope = balance / scale
        return slope, np.maximum(slope**2 + np.expm1(normal - logs) / scale**2, 0.0)

    def _parts(self, errors: Array) -> tuple[Array, Array, Array]:
        """Return logarithms of densities, which side of 0 noise is likely on, from -1 to 1, and scales."""
        from scipy.special import erfc, erfcx  # pyright: ignore

        deviation = np.sqrt(self.variance)
        scale = np.maximum(np.asarray(self.scale), LEAST_SCALE * deviation)
        sides, even = np.array([-errors, errors]), errors**2 / (2 * self.variance)
        z = (deviation / scale + sides / deviation) / np.sqrt(2)
        # z**2 less the exponent, written out where z is below 0: both may be beyond all digits of their difference
        far, near = (np.asarray(one, dtype=np.float64) for one in (erfc(np.minimum(z, 0.0)), erfcx(np.maximum(z, 0.0))))
        low = (deviation / scale) ** 2 / 2 + sides / scale + np.log(far)
        above, below = np.where(z < 0, low, np.log(near) - even)
        logs = np.logaddexp(above, below) - np.log(4 * scale)
        return np.asarray(logs), np.asarray(np.tanh((above - below) / 2)), np.asarray(scale)
