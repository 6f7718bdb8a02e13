"""The law of a sum of many integer noises, some normal, some Laplace.  Outside the wall: it protects nobody."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.inference.laws import tail
from tacit.noise.laws import Floats


@dataclass(frozen=True)
class Summed:
    """A normal and one Laplace variable with the variance and the fourth cumulant of the sum, rounded to integers.

    scale: of the whole, its standard deviation before rounding.  laplace: part of the variance that the Laplace
    variable has: sqrt(sum v_i**2) / sum v_i over the Laplace noises of variances v_i, where all are.

    >>> law = Summed(Fraction(3), Fraction(1, 2))
    >>> round(law.variance(), 3), round(float(law.cdf(0) + law.sf(-1)), 6)
    (9.083, 1.106735)
    """

    scale: Fraction
    laplace: Fraction
    name: ClassVar[str] = "summed"

    @property
    def normal(self) -> float:
        """Part of the variance that is normal."""
        return 1 - float(self.laplace)

    def variance(self) -> float:
        """scale**2 + 1/12."""
        return float(self.scale) ** 2 + 1 / 12

    def sf(self, k: ArrayLike) -> Floats:
        """P(Z > k)."""
        x = np.floor(np.asarray(k, dtype=np.float64)) + 0.5
        whole = float(self.scale) ** 2
        s = np.full_like(x, np.sqrt(whole * self.normal))
        b = np.full((*x.shape, 1), np.sqrt(whole * float(self.laplace) / 2))
        above = tail(np.abs(x), s, b)
        return np.asarray(np.where(x >= 0, above, 1 - above))

    def cdf(self, k: ArrayLike) -> Floats:
        """P(Z <= k)."""
        return self.sf(-np.floor(np.asarray(k, dtype=np.float64)) - 1)

    def pmf(self, k: ArrayLike) -> Floats:
        """P(Z = k), for any array of integers."""
        x = np.asarray(k, dtype=np.float64)
        return np.asarray(np.where(x == np.floor(x), np.maximum(self.sf(np.abs(x) - 1) - self.sf(np.abs(x)), 0.0), 0.0))

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Simulated draws, seeded."""
        sd = float(self.scale)
        normal = rng.standard_normal(size) * sd * np.sqrt(self.normal)
        return np.floor(normal + rng.laplace(0, sd * np.sqrt(float(self.laplace) / 2), size) + 0.5).astype(np.int64)

    def to_dict(self) -> dict[str, str]:
        """Plain values."""
        return {"law": self.name, "scale": str(self.scale), "laplace": str(self.laplace)}
