"""Distributions of integer noise: probabilities, variance and seeded simulation.  No data here.

`sample` is for simulation outside the wall (`rng=`); noise that protects anybody is drawn by `tacit.noise.exact`.
Probabilities are floats for inference: no privacy argument relies on them.  Their relative error is below 1e-11, also
in the tails down to 1e-300 (tested against mpmath).  At a non-integer the pmf is 0 and the cdf that of the integer
below.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import TacitError

LEAST: Final = Fraction(1, 1000)
MOST: Final = Fraction(10**12)
"""Smallest and largest scale: the error margins of the exact sampler are proven for this range."""
Floats: TypeAlias = NDArray[np.float64]


class NoiseError(TacitError):
    """A noise law is unknown, has a scale outside 1e-3 to 1e12, or is used with wrong arguments."""


class Law(Protocol):
    """A distribution of an integer Z, symmetric and unimodal at 0, with an exact rational scale in grid steps.

    `pmf`, `cdf` and `sf` take arrays of any shape and return float64 arrays of that shape.
    """

    name: ClassVar[str]
    """Name in tables and stored documents."""

    @property
    def scale(self) -> Fraction:
        """Scale parameter: b of the discrete Laplace, sigma of the rounded normal."""
        ...

    def variance(self) -> float:
        """Return the variance of Z, in squared grid steps."""
        ...

    def pmf(self, k: ArrayLike) -> Floats:
        """Return P(Z = k)."""
        ...

    def cdf(self, k: ArrayLike) -> Floats:
        """Return P(Z <= k)."""
        ...

    def sf(self, k: ArrayLike) -> Floats:
        """Return P(Z > k), accurate in the tail."""
        ...

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return `size` seeded draws for simulation; they protect nobody."""
        ...

    def to_dict(self) -> Mapping[str, str | int]:
        """Return the law as plain values; `stored_laws.law_from_dict` is the inverse."""
        ...


@dataclass(frozen=True)
class DiscreteLaplace:
    """The two-sided geometric law: P(Z = k) = (1 - q) / (1 + q) * q**|k|, q = exp(-1/scale).

    >>> law = DiscreteLaplace(Fraction(2))
    >>> round(law.variance(), 3), float(law.cdf(0)).__round__(4)
    (7.835, 0.6225)
    """

    scale: Fraction
    name: ClassVar[str] = "discrete Laplace"

    def __post_init__(self) -> None:
        check_scale(self.scale)

    def __hash__(self) -> int:
        """Hash numerator and denominator, because the hash of a Fraction costs a power modulo a prime."""
        return hash((self.name, self.scale.as_integer_ratio()))

    def variance(self) -> float:
        """Return 2 q / (1 - q)**2."""
        a = float(1 / self.scale)
        # expm1: at scale 1e12, 1 - exp(-a) would keep four digits only
        return 2 * math.exp(-a) / math.expm1(-a) ** 2

    def pmf(self, k: ArrayLike) -> Floats:
        """See `Law.pmf`: (1 - q) / (1 + q) = tanh(1 / (2 scale))."""
        a = float(1 / self.scale)
        x = np.asarray(k, dtype=np.float64)
        return np.asarray(np.where(x == np.floor(x), math.tanh(a / 2) * np.exp(-a * np.abs(x)), 0.0))

    def sf(self, k: ArrayLike) -> Floats:
        """See `Law.sf`: q**(k + 1) / (1 + q) for k >= 0, and one minus the mirrored tail for k < 0."""
        a = float(1 / self.scale)
        x = np.floor(np.asarray(k, dtype=np.float64))
        # for k < 0, P(Z > k) = 1 - P(Z <= k) = 1 - P(Z >= -k), and P(Z >= -k) = q**-k / (1 + q)
        tail = np.exp(-a * np.where(x >= 0, x + 1, -x)) / (1 + math.exp(-a))
        return np.asarray(np.where(x >= 0, tail, 1 - tail))

    def cdf(self, k: ArrayLike) -> Floats:
        """See `Law.cdf`: by symmetry P(Z <= k) = P(Z > -k - 1)."""
        return self.sf(-np.floor(np.asarray(k, dtype=np.float64)) - 1)

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """See `Law.sample`: the difference of two geometric variables, each the floor of an exponential one."""
        b = float(self.scale)
        # q**i q**j summed over i - j = k is proportional to q**|k|
        two = np.floor(rng.standard_exponential((2, size)) * b)
        return (two[0] - two[1]).astype(np.int64)

    def to_dict(self) -> dict[str, str]:
        """See `Law.to_dict`."""
        return {"law": self.name, "scale": str(self.scale)}


@dataclass(frozen=True)
class RoundedNormal:
    """The law of floor(scale * N + 1/2), N standard normal: a normal rounded to the nearest integer.

    >>> law = RoundedNormal(Fraction(3))
    >>> round(law.variance(), 4), float(law.sf(9)).__round__(5)
    (9.0833, 0.00077)
    """

    scale: Fraction
    name: ClassVar[str] = "rounded Gaussian"

    def __post_init__(self) -> None:
        check_scale(self.scale)

    def __hash__(self) -> int:
        """Hash numerator and denominator, because the hash of a Fraction costs a power modulo a prime."""
        return hash((self.name, self.scale.as_integer_ratio()))

    def variance(self) -> float:
        """Return scale**2 + 1/12 for a scale s >= 2, in error by less than 1e-30; below that the sum of E Z**2.

        By Poisson summation the error is sum_n (-1)**n (4 s**2 + 1 / (n pi)**2) exp(-2 (n pi s)**2).
        """
        s = float(self.scale)
        if s >= 2:
            return s * s + 1 / 12
        # E Z**2 = sum over k >= 1 of (2 k - 1) P(|Z| >= k); at s < 2 terms beyond k = 90 vanish in floats
        k = np.arange(1, 90, dtype=np.float64)
        return float(2 * np.sum((2 * k - 1) * self.sf(k - 1)))

    def pmf(self, k: ArrayLike) -> Floats:
        """See `Law.pmf`: a difference of tails where they differ much, else the integral of the density."""
        x = np.abs(np.asarray(k, dtype=np.float64))
        width = float(1 / self.scale)
        z = x * width
        # the tails at both ends of a cell differ by about a factor exp(width z): if large, their difference is accurate
        apart = width * (1 + z) > 1
        # np.where computes both branches everywhere: 0 keeps the branch that is not taken within its range
        smooth = cell_mass(np.where(apart, 0.0, z), width)
        mass = np.where(apart, normal_tail(z - width / 2) - normal_tail(z + width / 2), smooth)
        return np.asarray(np.where(x == np.floor(x), mass, 0.0))

    def sf(self, k: ArrayLike) -> Floats:
        """See `Law.sf`."""
        return normal_tail((np.floor(np.asarray(k, dtype=np.float64)) + 0.5) * float(1 / self.scale))

    def cdf(self, k: ArrayLike) -> Floats:
        """See `Law.cdf`."""
        return normal_tail(-(np.floor(np.asarray(k, dtype=np.float64)) + 0.5) * float(1 / self.scale))

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """See `Law.sample`: rounded normal variables."""
        return np.floor(rng.standard_normal(size) * float(self.scale) + 0.5).astype(np.int64)

    def to_dict(self) -> dict[str, str]:
        """See `Law.to_dict`."""
        return {"law": self.name, "scale": str(self.scale)}


LAWS: Final = {law.name: law for law in (DiscreteLaplace, RoundedNormal)}


def rescaled(law: Law, divisor: int) -> Law:
    """Return the law of noise divided by `divisor`, approximately: the same family with its scale divided.

    >>> rescaled(DiscreteLaplace(Fraction(10)), 4).scale
    Fraction(5, 2)
    """
    # laws of sums of several noises are not rescaled by their scale alone, and say themselves how
    divided = getattr(law, "divided", None)
    return divided(divisor) if divided else replace(law, scale=law.scale / divisor)  # type: ignore  # pyright: ignore


def normal_tail(x: Floats) -> Floats:
    """Return P(N > x), N standard normal."""
    from scipy.special import ndtr  # pyright: ignore

    return np.asarray(ndtr(-np.asarray(x, dtype=np.float64)), dtype=np.float64)


def cell_mass(z: Floats, width: float | Floats) -> Floats:
    """Integrate the normal density over z +- width / 2, for width * (1 + z) <= 1, by Gauss-Legendre with 8 nodes.

    phi(z + s) = phi(z) exp(-s (z + s / 2)): factoring out phi(z) keeps the relative accuracy in the tail.
    """
    # |s (z + s / 2)| stays below 1, where the error of 8 nodes (of order 16) is below rounding
    nodes, weights = np.polynomial.legendre.leggauss(8)
    total = np.zeros_like(z * width)
    for node, weight in zip(nodes, weights, strict=True):
        s = node * width / 2
        total += weight * np.exp(-s * (z + s / 2))
    return np.exp(-z * z / 2) * total * (width / (2 * math.sqrt(2 * math.pi)))


def check_scale(scale: Fraction) -> None:
    """Raise NoiseError N01 for a scale that is no fraction, or outside LEAST to MOST."""
    if not isinstance(scale, Fraction):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise NoiseError(f"scale {scale!r} of noise is not an exact fraction.", code="N01", hint="Fraction(5, 2)")
    if not LEAST <= scale <= MOST:
        message = f"noise of scale {_short(scale)} is outside 0.001 to 1e12: the price is too high or too low."
        raise NoiseError(message, code="N01", hint="a price between, or other bounds")


def _short(scale: Fraction) -> str:
    try:
        return f"{float(scale):.3g}"
    except OverflowError:
        return "beyond 1e308"


MOST_ZEROS: Final = 2**40
"""Largest number of empty cells in `threshold.passing`: positions, and sums of a chunk's gaps, stay below 2**55."""
