"""The two laws of noise on the integers: probabilities, variance, seeded simulation.  No data, no protecting draws.

`sample` is for simulation outside the wall (`rng=`); noise that protects anybody comes from `tacit.noise.exact`.
Probabilities are floats for inference: nothing in a privacy argument rests on them.  Relative errors stay below 1e-11,
in the tails too, down to 1e-300 (tests, against mpmath).  A place that is no integer has mass 0 and the cdf of the
integer below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import TacitError

LEAST: Final = Fraction(1, 1000)
MOST: Final = Fraction(10**12)
Floats: TypeAlias = NDArray[np.float64]


class NoiseError(TacitError):
    """A law of noise is asked for with a scale outside 1e-3 to 1e12, or is unknown."""


class Law(Protocol):
    """A law on the integers, symmetric about 0 and largest there, with an exact rational scale in grid steps.

    Arrays of any shape go in and come out as float64 of that shape.
    """

    name: ClassVar[str]
    """Words for people."""

    @property
    def scale(self) -> Fraction:
        """B of the discrete Laplace, sigma of the rounded normal."""
        ...

    def variance(self) -> float:
        """Exact variance, as a float."""
        ...

    def pmf(self, k: ArrayLike) -> Floats:
        """P(Z = k), for any array of integers."""
        ...

    def cdf(self, k: ArrayLike) -> Floats:
        """P(Z <= k)."""
        ...

    def sf(self, k: ArrayLike) -> Floats:
        """P(Z > k), accurate in the tail."""
        ...

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Simulated draws, seeded: they protect nobody."""
        ...

    def to_dict(self) -> dict[str, str]:
        """Plain values; `stored_laws.law_from_dict` is the inverse."""
        ...


@dataclass(frozen=True)
class DiscreteLaplace:
    """P(Z = k) = (1 - q) / (1 + q) * q**|k|, q = exp(-1/scale): the two-sided geometric law.

    >>> law = DiscreteLaplace(Fraction(2))
    >>> round(law.variance(), 3), float(law.cdf(0)).__round__(4)
    (7.835, 0.6225)
    """

    scale: Fraction
    name: ClassVar[str] = "discrete Laplace"

    def __post_init__(self) -> None:
        _check(self.scale)

    def __hash__(self) -> int:
        """Of numerator and denominator: a fraction's own hash costs a power modulo a prime."""
        return hash((self.name, self.scale.as_integer_ratio()))

    def variance(self) -> float:
        """2 q / (1 - q)**2."""
        a = float(1 / self.scale)
        return 2 * math.exp(-a) / math.expm1(-a) ** 2

    def pmf(self, k: ArrayLike) -> Floats:
        """See `Law.pmf`: (1 - q) / (1 + q) = tanh(1 / (2 scale))."""
        a = float(1 / self.scale)
        x = np.asarray(k, dtype=np.float64)
        return np.asarray(np.where(x == np.floor(x), math.tanh(a / 2) * np.exp(-a * np.abs(x)), 0.0))

    def sf(self, k: ArrayLike) -> Floats:
        """See `Law.sf`: q**(k + 1) / (1 + q) for k >= 0, one minus the mirrored tail below."""
        a = float(1 / self.scale)
        x = np.floor(np.asarray(k, dtype=np.float64))
        tail = np.exp(-a * np.where(x >= 0, x + 1, -x)) / (1 + math.exp(-a))
        return np.asarray(np.where(x >= 0, tail, 1 - tail))

    def cdf(self, k: ArrayLike) -> Floats:
        """See `Law.cdf`: by symmetry P(Z <= k) = P(Z > -k - 1)."""
        return self.sf(-np.floor(np.asarray(k, dtype=np.float64)) - 1)

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """A difference of two geometric variables, floors of exponential ones."""
        b = float(self.scale)
        two = np.floor(rng.standard_exponential((2, size)) * b)
        return (two[0] - two[1]).astype(np.int64)

    def to_dict(self) -> dict[str, str]:
        """See `Law.to_dict`."""
        return {"law": self.name, "scale": str(self.scale)}


@dataclass(frozen=True)
class RoundedNormal:
    """Law of floor(scale * N + 1/2), N standard normal: a normal rounded to integers.

    >>> law = RoundedNormal(Fraction(3))
    >>> round(law.variance(), 4), float(law.sf(9)).__round__(5)
    (9.0833, 0.00077)
    """

    scale: Fraction
    name: ClassVar[str] = "rounded Gaussian"

    def __post_init__(self) -> None:
        _check(self.scale)

    def __hash__(self) -> int:
        """Of numerator and denominator: a fraction's own hash costs a power modulo a prime."""
        return hash((self.name, self.scale.as_integer_ratio()))

    def variance(self) -> float:
        """scale**2 + 1/12 from 2 on, wrong by less than 1e-30; by summation, E Z**2 = sum (2k - 1) P(|Z| >= k), below.

        The difference is sum_n (-1)**n (4 s**2 + 1 / (n pi)**2) exp(-2 (n pi s)**2), by Poisson summation.
        """
        s = float(self.scale)
        if s >= 2:
            return s * s + 1 / 12
        k = np.arange(1, 90, dtype=np.float64)
        return float(2 * np.sum((2 * k - 1) * self.sf(k - 1)))

    def pmf(self, k: ArrayLike) -> Floats:
        """See `Law.pmf`: tails subtracted where they differ much, else the density integrated over the cell."""
        x = np.abs(np.asarray(k, dtype=np.float64))
        width = float(1 / self.scale)
        z = x * width
        apart = width * (1 + z) > 1
        smooth = _cell(np.where(apart, 0.0, z), width)
        mass = np.where(apart, _tail(z - width / 2) - _tail(z + width / 2), smooth)
        return np.asarray(np.where(x == np.floor(x), mass, 0.0))

    def sf(self, k: ArrayLike) -> Floats:
        """See `Law.sf`."""
        return _tail((np.floor(np.asarray(k, dtype=np.float64)) + 0.5) * float(1 / self.scale))

    def cdf(self, k: ArrayLike) -> Floats:
        """See `Law.cdf`."""
        return _tail(-(np.floor(np.asarray(k, dtype=np.float64)) + 0.5) * float(1 / self.scale))

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Rounded seeded normals."""
        return np.floor(rng.standard_normal(size) * float(self.scale) + 0.5).astype(np.int64)

    def to_dict(self) -> dict[str, str]:
        """See `Law.to_dict`."""
        return {"law": self.name, "scale": str(self.scale)}


LAWS: Final = {law.name: law for law in (DiscreteLaplace, RoundedNormal)}


def rescaled(law: Law, divisor: int) -> Law:
    """The law of about z / divisor: of the same family, its scale divided.

    >>> rescaled(DiscreteLaplace(Fraction(10)), 4).scale
    Fraction(5, 2)
    """
    divided = getattr(law, "divided", None)
    return divided(divisor) if divided else replace(law, scale=law.scale / divisor)  # type: ignore  # pyright: ignore


def _tail(x: Floats) -> Floats:
    """P(N > x)."""
    from scipy.special import ndtr  # pyright: ignore

    return np.asarray(ndtr(-np.asarray(x, dtype=np.float64)), dtype=np.float64)


def _cell(z: Floats, width: float) -> Floats:
    """Integral of the normal density over z +- width / 2, for width * (1 + z) <= 1: Gauss-Legendre with 8 nodes."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    total = np.zeros_like(z)
    for node, weight in zip(nodes, weights, strict=True):
        s = node * width / 2
        total += weight * np.exp(-s * (z + s / 2))
    return np.exp(-z * z / 2) * total * (width / (2 * math.sqrt(2 * math.pi)))


def _check(scale: Fraction) -> None:
    if not isinstance(scale, Fraction):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise NoiseError(f"scale {scale!r} of noise is no exact fraction.", code="N01", hint="Fraction(5, 2)")
    if not LEAST <= scale <= MOST:
        message = f"noise of scale {_short(scale)} is outside 0.001 to 1e12: the price is too high or too low."
        raise NoiseError(message, code="N01", hint="a price between, or other bounds")


def _short(scale: Fraction) -> str:
    try:
        return f"{float(scale):.3g}"
    except OverflowError:
        return "beyond 1e308"


MOST_ZEROS: Final = 2**40
"""Zeros at most: positions, and sums of a chunk's gaps, stay below 2**55."""
