"""The law of vectors whose density depends on their Euclidean norm alone: pure privacy for an l2 sensitivity.  No data.

A vector X in k dimensions has density proportional to exp(-|X| / scale).  Its radius is Gamma(k) times the scale, its
direction uniform.  Equivalently X = scale sqrt(W) N, with N standard normal in k dimensions and W chi-squared with
k + 1 degrees of freedom: the density of this mixture is proportional to
    integral of w**(-k/2) exp(-r**2 / 2w) w**((k-1)/2) exp(-w/2) dw = sqrt(2 pi) exp(-r),       r = |X| / scale.
Released is each coordinate rounded to the nearest integer.  Coordinates are uncorrelated, not independent; each alone
has variance (k + 1) scale**2 + 1/12 [Hardt & Talwar 2010, section 4, for the ball of the Euclidean norm].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.noise.laws import Floats, NoiseError, cell_mass, check_scale, normal_tail

MOST_DIMENSIONS: Final = 2**16
"""Largest dimension of a vector."""
LEAST_SUMMED: Final = 0.5
"""Scale below which the variance is summed over integers."""
TERMS: Final = 2_000
"""Terms of what rounding adds to a variance: the first left out is below 1e-13 of it."""


@dataclass(frozen=True)
class SphericalLaplace:
    """The law of the rounded coordinates of one vector; `pmf`, `cdf`, `sf` and `variance` are those of one coordinate.

    >>> law = SphericalLaplace(Fraction(100), 3)
    >>> round(law.variance(), 2), float(law.sf(400)).__round__(4)
    (40000.08, 0.0274)
    """

    scale: Fraction
    dimension: int
    name: ClassVar[str] = "rounded spherical Laplace"

    def __post_init__(self) -> None:
        check_scale(self.scale)
        if type(self.dimension) is not int or not 1 <= self.dimension <= MOST_DIMENSIONS:
            text = f"noise of a vector: its dimension is a whole number from 1 to {MOST_DIMENSIONS:,}."
            raise NoiseError(text, code="N01", hint="3")

    def __hash__(self) -> int:
        """Hash numerator and denominator, because the hash of a Fraction costs a power modulo a prime."""
        return hash((self.name, self.dimension, self.scale.as_integer_ratio()))

    def variance(self) -> float:
        """Return (dimension + 1) scale**2 + 1/12, and what rounding adds to it where the scale is small.

        By Poisson summation that is the sum of (-1)**n (g(n) / (n pi)**2 + 4 (k + 1) s**2 g(n) / (1 + (2 n pi s)**2)),
        g(n) = (1 + (2 n pi s)**2)**(-(k + 1) / 2) the coordinate's characteristic function at 2 n pi.
        """
        s, freedom = float(self.scale), self.dimension + 1
        if s < LEAST_SUMMED:  # the terms would cancel: nearly all mass is at 0
            return _summed_variance(self)
        n = np.arange(1, TERMS + 1, dtype=np.float64)
        wide = 1 + (2 * np.pi * n * s) ** 2
        terms = wide ** (-freedom / 2) * (1 / (n * np.pi) ** 2 + 4 * freedom * s * s / wide)
        return freedom * s * s + 1 / 12 + float(np.sum(np.where(n % 2, -terms, terms)))

    def pmf(self, k: ArrayLike) -> Floats:
        """See `Law.pmf`: of one coordinate, the mean over W of a rounded normal's."""
        x = np.abs(np.asarray(k, dtype=np.float64))
        root, weight = _mixture(self.dimension)
        width = 1 / (float(self.scale) * root)
        z = x[..., None] * width
        # as in `RoundedNormal`: a difference of tails where they differ much, else the integral of the density
        apart = width * (1 + z) > 1
        smooth = cell_mass(np.where(apart, 0.0, z), np.where(apart, 0.0, width))
        far = np.where(apart, z, 1.0)
        mass = np.where(apart, normal_tail(far - width / 2) - normal_tail(far + width / 2), smooth)
        return np.asarray(np.where(x == np.floor(x), mass @ weight, 0.0))

    def sf(self, k: ArrayLike) -> Floats:
        """See `Law.sf`: of one coordinate."""
        edge = np.floor(np.asarray(k, dtype=np.float64)) + 0.5
        above = self._beyond(np.abs(edge))
        return np.asarray(np.where(edge > 0, above, 1 - above))

    def cdf(self, k: ArrayLike) -> Floats:
        """See `Law.cdf`: by symmetry P(Z <= k) = P(Z > -k - 1)."""
        return self.sf(-np.floor(np.asarray(k, dtype=np.float64)) - 1)

    def _beyond(self, x: Floats) -> Floats:
        """Return P(X > x) of a coordinate before rounding, x >= 0: the mean over W of a normal tail."""
        root, weight = _mixture(self.dimension)
        z = np.asarray(x, dtype=np.float64)[..., None] / (float(self.scale) * root)
        return np.asarray(normal_tail(z) @ weight)

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return seeded draws of whole vectors for simulation, one after another; the last may be cut short."""
        many = -(-size // self.dimension)
        root = np.sqrt(rng.chisquare(self.dimension + 1, many)) * float(self.scale)
        made = root[:, None] * rng.standard_normal((many, self.dimension))
        return np.floor(made.ravel()[:size] + 0.5).astype(np.int64)

    def to_dict(self) -> dict[str, str | int]:
        """See `Law.to_dict`."""
        return {"law": self.name, "scale": str(self.scale), "dimension": self.dimension}


@lru_cache(maxsize=64)
def _mixture(dimension: int) -> tuple[Floats, Floats]:
    """Return values of sqrt(W), W chi-squared with dimension + 1 degrees of freedom, and their probabilities.

    The trapezoidal rule in log W, whose density is analytic and falls exponentially on one side and faster on the
    other: its error is far below that of floats.  Nodes go on as far as tails of 1e-300 need them.
    """
    half = (dimension + 1) / 2
    # density of log W: exp(half log w - w / 2) / (2**half Gamma(half)); far below its mode it falls as exp(half log w)
    low = math.log(2 * half) - 40 / half - 12 / math.sqrt(half)
    high = math.log(2 * half + 24 * math.sqrt(half) + 1500)
    log_w = np.linspace(low, high, 2400)
    log_density = half * log_w - np.exp(log_w) / 2 - half * math.log(2) - math.lgamma(half)
    weight = np.exp(log_density)
    return np.exp(log_w / 2), weight / weight.sum()


@lru_cache(maxsize=64)
def _summed_variance(law: SphericalLaplace) -> float:
    """Return E Z**2 as the sum over k >= 1 of (2 k - 1) P(|Z| >= k), until what is left vanishes."""
    # P(|X| > x) <= sqrt(k) exp(-x / (scale sqrt(k))) is generous; 60 such lengths leave nothing in floats
    most = math.ceil(60 * float(law.scale) * math.sqrt(law.dimension + 1)) + 2
    total = 0.0
    for first in range(1, most, 4096):
        k = np.arange(first, min(first + 4096, most), dtype=np.float64)
        total += float(2 * np.sum((2 * k - 1) * law.sf(k - 1)))
    return total
