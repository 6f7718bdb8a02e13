"""The distribution of a sum of integer noises, for inference from several releases.  It protects nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.base.arrays import Array
from tacit.estimates.total_errors.error_laws import is_gaussian, tail
from tacit.noise.averaged_laplace import AveragedLaplace
from tacit.noise.laws import Floats, Law

SMALL: Final = 2_000.0
"""Up to this standard deviation the distribution is computed by convolution, beyond by a smooth approximation."""

Piece: TypeAlias = tuple[Law, int, int]
"""A law, an integer multiplier of its draws, and how many such noises the sum has."""


@dataclass(frozen=True)
class NoiseSum:
    """The law of a sum of independent integer noises: the convolution of its `pieces` (theory §6, exact sums).

    Where the sum is wide, or no pieces are given, it is approximated by a normal plus one Laplace variable with the
    same variance and fourth cumulant.  scale: standard deviation of the sum.  laplace: share of its variance that the
    Laplace variable has, sqrt(sum of v_i**2 over Laplace noises) / sum of all v_i, for noises of variances v_i.

    >>> from tacit.noise.laws import DiscreteLaplace
    >>> law = sum_of_noises([(DiscreteLaplace(Fraction(1)), 1, 2)])
    >>> two = np.convolve(*[DiscreteLaplace(Fraction(1)).pmf(np.arange(-50, 51))] * 2)
    >>> bool(abs(law.pmf([3])[0] - two[103]) < 1e-12), round(law.variance(), 3), round(float(law.laplace), 3)
    (True, 3.683, 0.707)
    """

    scale: Fraction
    laplace: Fraction
    pieces: tuple[Piece, ...] = ()
    name: ClassVar[str] = "summed"

    @property
    def normal(self) -> float:
        """Share of the variance that the normal variable has."""
        return 1 - float(self.laplace)

    def variance(self) -> float:
        """Return the variance of the sum."""
        return float(self.scale) ** 2

    def divided(self, divisor: int) -> NoiseSum:
        """Return the approximate law of z / divisor for a draw z of this law."""
        # z / divisor is no integer: without pieces the smooth approximation is used
        return replace(self, scale=self.scale / divisor, pieces=())

    def sf(self, k: ArrayLike) -> Floats:
        """P(Z > k)."""
        x = np.floor(np.asarray(k, dtype=np.float64))
        if self.pieces and float(self.scale) <= SMALL:
            above = _upper(self)
            inside = np.clip(np.abs(x + 0.5) - 0.5, 0, len(above) - 1).astype(np.int64)  # P(Z > k) = P(Z < -k)
            return np.asarray(np.where(x >= 0, above[inside], 1 - above[inside]))
        # continuity correction: Z > k of an integer is beyond k + 1/2 of a continuous variable
        x = x + 0.5
        s = np.full_like(x, float(self.scale) * np.sqrt(self.normal))
        # a Laplace variable of scale b has variance 2 b**2
        b = np.full((*x.shape, 1), float(self.scale) * np.sqrt(float(self.laplace) / 2))
        beyond = tail(np.abs(x), s, b)
        return np.asarray(np.where(x >= 0, beyond, 1 - beyond))

    def cdf(self, k: ArrayLike) -> Floats:
        """P(Z <= k)."""
        # by symmetry P(Z <= k) = P(Z >= -k) = P(Z > -k - 1)
        return self.sf(-np.floor(np.asarray(k, dtype=np.float64)) - 1)

    def pmf(self, k: ArrayLike) -> Floats:
        """P(Z = k), for any array of integers."""
        x = np.abs(np.asarray(k, dtype=np.float64))
        return np.asarray(np.where(x == np.floor(x), np.maximum(self.sf(x - 1) - self.sf(x), 0.0), 0.0))

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw simulated sums, shape (size,); for simulation only, not for protection."""
        total = np.zeros(size, dtype=np.int64)
        for law, weight, count in self.pieces:
            for _ in range(count):
                total += weight * law.sample(size, rng)
        return total

    def to_dict(self) -> dict[str, str]:
        """Return plain values, as other laws do; no release stores this law."""
        return {"law": self.name, "scale": str(self.scale), "laplace": str(self.laplace)}


def sum_of_noises(pieces: Sequence[Piece]) -> NoiseSum:
    """Return the law of the sum of noises given as (law, multiplier, how many)."""
    pieces = [plain for one in pieces for plain in _plain(one)]
    each = [(weight**2 * law.variance(), count, is_gaussian(law)) for law, weight, count in pieces]
    total = sum(v * count for v, count, _ in each)
    # a Laplace noise of variance v has fourth cumulant 3 v**2, a normal one 0; the 3 cancels in the share
    excess = sum(v * v * count for v, count, normal in each if not normal) ** 0.5
    return NoiseSum(Fraction(total**0.5), Fraction(excess / total), tuple(pieces))


def laplace_share(law: Law) -> float:
    """Return the share of a noise's variance that one Laplace variable with its fourth cumulant has.

    0 of normal noise, and 1 of others; the sum of k Laplace draws of variance v / k has the cumulant 3 v**2 / k, that
    of one draw of variance v / sqrt(k).
    """
    if isinstance(law, AveragedLaplace):
        return 1 - law.normal
    return 0.0 if is_gaussian(law) else 1.0


def _plain(piece: Piece) -> list[Piece]:
    """Return a noise, or of a sum of several draws these."""
    law, weight, count = piece
    return [(law.one, weight, count * law.draws)] if isinstance(law, AveragedLaplace) else [piece]


@lru_cache(maxsize=64)
def _upper(law: NoiseSum) -> Array:
    """Return P(Z > k) for k = 0, 1, ..., by multiplying Fourier transforms; mass that wraps around is below 1e-15."""
    reach = 12 * float(law.scale) + sum(40 * weight * (float(one.scale) + 1) for one, weight, _ in law.pieces)
    # a power of 2 for the transform, and long enough for both signs of the sum
    size = 1 << int(np.ceil(np.log2(2 * reach + 2)))
    product = np.ones(size // 2 + 1, dtype=np.complex128)
    for one, weight, count in law.pieces:
        # 40 scales leave e**-40 of a Laplace noise outside
        own = int(40 * (float(one.scale) + 1))
        k = np.arange(-own, own + 1)
        mass = np.zeros(size)
        # negative values go to the end of the circle; a sum of `count` noises has the transform to that power
        np.add.at(mass, (weight * k) % size, one.pmf(k))
        product *= np.fft.rfft(mass) ** count
    # one half is enough, for the sum is symmetric; rounding may leave values of about -1e-17
    pmf = np.maximum(np.fft.irfft(product, size)[: size // 2], 0.0)
    return np.concatenate([np.cumsum(pmf[::-1])[::-1][1:], [0.0]])
