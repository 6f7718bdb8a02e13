"""The two laws of noise on the integers: probabilities, variance, seeded simulation.  No data, no protecting draws.

`sample` is for simulation outside the wall (`rng=`); noise that protects anybody comes from `tacit.noise.exact`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import TacitError

LEAST: Final = Fraction(1, 1000)
MOST: Final = Fraction(10**12)
Floats: TypeAlias = NDArray[np.float64]


class NoiseError(TacitError):
    """A law of noise is asked for with a scale outside 1e-3 to 1e12, or is unknown."""


class Law(Protocol):
    """A symmetric law on the integers with an exact rational scale."""

    @property
    def name(self) -> str:
        """Words for people."""
        ...

    @property
    def scale(self) -> Fraction:
        """b of the discrete Laplace, sigma of the rounded normal."""
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
        """Plain values; `law_from_dict` is the inverse."""
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

    def variance(self) -> float:
        """2 q / (1 - q)**2."""
        a = 1 / float(self.scale)
        return 2 * math.exp(-a) / math.expm1(-a) ** 2

    def pmf(self, k: ArrayLike) -> Floats:
        """See `Law.pmf`."""
        a = 1 / float(self.scale)
        return np.asarray(math.tanh(a / 2) * np.exp(-a * np.abs(np.asarray(k, dtype=np.float64))))

    def sf(self, k: ArrayLike) -> Floats:
        """See `Law.sf`: q**(k + 1) / (1 + q) for k >= 0, one minus the mirrored tail below."""
        a = 1 / float(self.scale)
        x = np.asarray(k, dtype=np.float64)
        tail = np.exp(-a * (np.where(x >= 0, x, -x - 1) + 1)) / (1 + math.exp(-a))
        return np.asarray(np.where(x >= 0, tail, 1 - tail))

    def cdf(self, k: ArrayLike) -> Floats:
        """See `Law.cdf`."""
        return self.sf(-np.asarray(k, dtype=np.float64) - 1)

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """A difference of two geometric variables; where the scale is wide, floors of exponential ones."""
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

    def variance(self) -> float:
        """By summation for small scales; sigma**2 + 1/12 from 2 on, where they differ by less than 1e-30."""
        s = float(self.scale)
        if s >= 2:
            return s * s + 1 / 12
        k = np.arange(1, 50, dtype=np.float64)
        return float(2 * np.sum(k * k * self.pmf(k)))

    def pmf(self, k: ArrayLike) -> Floats:
        """See `Law.pmf`: a difference of tails on the side where they are small; a midpoint rule where it cancels."""
        x = np.abs(np.asarray(k, dtype=np.float64))
        s = float(self.scale)
        direct = _tail((x - 0.5) / s) - _tail((x + 0.5) / s)
        z = x / s
        smooth = np.exp(-z * z / 2) / (s * math.sqrt(2 * math.pi)) * (1 + (z * z - 1) / (24 * s * s))
        return np.asarray(smooth if s > 1e3 else direct)

    def sf(self, k: ArrayLike) -> Floats:
        """See `Law.sf`."""
        return _tail((np.asarray(k, dtype=np.float64) + 0.5) / float(self.scale))

    def cdf(self, k: ArrayLike) -> Floats:
        """See `Law.cdf`."""
        return _tail(-(np.asarray(k, dtype=np.float64) + 0.5) / float(self.scale))

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Rounded seeded normals."""
        return np.floor(rng.standard_normal(size) * float(self.scale) + 0.5).astype(np.int64)

    def to_dict(self) -> dict[str, str]:
        """See `Law.to_dict`."""
        return {"law": self.name, "scale": str(self.scale)}


LAWS: Final = {law.name: law for law in (DiscreteLaplace, RoundedNormal)}


def law_from_dict(words: Mapping[str, Any]) -> Law:
    """Inverse of `Law.to_dict`; NoiseError N02 for an unknown law.

    >>> law_from_dict({"law": "discrete Laplace", "scale": "5/2"})
    DiscreteLaplace(scale=Fraction(5, 2))
    """
    if words.get("law") not in LAWS:
        raise NoiseError(f"noise {words.get('law')!r} is not one of {', '.join(LAWS)}.", code="N02", state=None)
    return LAWS[words["law"]](Fraction(str(words["scale"])))


def _tail(x: Floats) -> Floats:
    """P(N > x)."""
    from scipy.special import ndtr  # pyright: ignore

    return np.asarray(ndtr(-np.asarray(x, dtype=np.float64)), dtype=np.float64)


def _check(scale: Fraction) -> None:
    if not isinstance(scale, Fraction):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise NoiseError(f"scale {scale!r} of noise is no exact fraction.", code="N01", hint="Fraction(5, 2)")
    if not LEAST <= scale <= MOST:
        message = f"noise of scale {float(scale):.3g} is outside 0.001 to 1e12: the price is too high or too low."
        raise NoiseError(message, code="N01", hint="a price between, or other bounds")
