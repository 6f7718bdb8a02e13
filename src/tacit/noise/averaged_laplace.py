"""The law of averaged Laplace noise: pure privacy, nearly normal noise [Brawner & Honaker 2018, section 4].  No data.

The mean of k Laplace variables of scale k b is the sum of k of scale b.  In integers it is the sum of k two-sided
geometric variables of scale b = sensitivity / epsilon: the first alone is a release at epsilon, and the others are
independent of the rows, so that adding them is post-processing.  The variance is k times that of the first, the excess
kurtosis 3 / k: it buys nothing but a shape, for those who ask for it (`laplace_draws`).

The sum is the difference of two negative binomial variables: of the numbers of trials until the k-th success in two
streams of trials, of success probability p = 1 - q, q = exp(-1 / b).  When the second stream is done, the first lacks
r = 1, ..., k successes with probabilities w_r, found by counting, and
    P(Z > n) = sum over r of w_r P(Bin(n, p) < r),  n >= 0.
All terms are positive: nothing cancels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.base.lazy_imports import special
from tacit.noise.laws import DiscreteLaplace, Floats, NoiseError, check_scale

MOST_DRAWS: Final = 64
"""Most draws of a sum: beyond ten it is hardly told from a normal variable."""


@dataclass(frozen=True)
class AveragedLaplace:
    """The sum of `draws` independent discrete Laplace variables of one scale.

    >>> law = AveragedLaplace(Fraction(2), 2)
    >>> two = np.convolve(*[DiscreteLaplace(Fraction(2)).pmf(np.arange(-90, 91))] * 2)
    >>> bool(np.allclose(law.pmf(np.arange(-9, 10)), two[171:190], rtol=1e-12)), round(law.variance(), 3)
    (True, 15.671)
    """

    scale: Fraction
    draws: int
    name: ClassVar[str] = "averaged Laplace"

    @property
    def one(self) -> DiscreteLaplace:
        """The law of one draw."""
        return DiscreteLaplace(self.scale)

    @property
    def pieces(self) -> tuple[tuple[DiscreteLaplace, int, int], ...]:
        """Its independent summands: law, multiplier, how many."""
        return ((self.one, 1, self.draws),)

    def __post_init__(self) -> None:
        check_scale(self.scale)
        if type(self.draws) is not int or not 1 <= self.draws <= MOST_DRAWS:
            text = f"averaged Laplace noise: the number of draws is whole, from 1 to {MOST_DRAWS}."
            raise NoiseError(text, code="N01", hint="10")

    def __hash__(self) -> int:
        """Hash numerator and denominator, because the hash of a Fraction costs a power modulo a prime."""
        return hash((self.name, self.draws, self.scale.as_integer_ratio()))

    @property
    def normal(self) -> float:
        """Part of the variance that is normal in the sum of a normal and a Laplace variable with the same kurtosis."""
        return 1 - self.draws**-0.5

    def variance(self) -> float:
        """Return that of one draw, `draws` times."""
        return self.draws * self.one.variance()

    def pmf(self, k: ArrayLike) -> Floats:
        """See `Law.pmf`: the first stream has its last success so many trials after the second is done."""
        a, p = self._rates
        x = np.abs(np.asarray(k, dtype=np.float64))
        n = np.maximum(np.floor(x), 1.0)
        chances, tie = _lacking(self)
        total = np.zeros_like(n)
        for r, chance in enumerate(chances, 1):
            # r - 1 successes in n - 1 trials, and one in the last: products of r factors, none of them large
            successes = np.ones_like(n)
            for i in range(1, r):
                successes = successes * np.maximum(n - i, 0.0) * p / i
            total += chance * successes * p * np.exp(-a * np.maximum(n - r, 0.0))
        return np.asarray(np.where(x == np.floor(x), np.where(x == 0, tie, total), 0.0))

    def sf(self, k: ArrayLike) -> Floats:
        """See `Law.sf`."""
        x = np.floor(np.asarray(k, dtype=np.float64))
        # by symmetry P(Z > k) = 1 - P(Z > -k - 1) for k < 0
        above = self._above(np.where(x >= 0, x, -x - 1))
        return np.asarray(np.where(x >= 0, above, 1 - above))

    def cdf(self, k: ArrayLike) -> Floats:
        """See `Law.cdf`: by symmetry P(Z <= k) = P(Z > -k - 1)."""
        return self.sf(-np.floor(np.asarray(k, dtype=np.float64)) - 1)

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """See `Law.sample`."""
        return self.one.sample(self.draws * size, rng).reshape(self.draws, size).sum(axis=0)

    def to_dict(self) -> dict[str, str | int]:
        """See `Law.to_dict`."""
        return {"law": self.name, "scale": str(self.scale), "draws": self.draws}

    @property
    def _rates(self) -> tuple[float, float]:
        """Return 1 / scale and the probability of a success."""
        a = float(1 / self.scale)
        return a, -math.expm1(-a)

    def _above(self, n: Floats) -> Floats:
        """Return P(Z > n), n >= 0."""
        p = self._rates[1]
        total = np.zeros_like(n)
        for r, chance in enumerate(_lacking(self)[0], 1):
            # P(Bin(n, p) < r) is the upper tail of a Beta(r, n - r + 1) variable; certain while n < r
            fewer = special().betaincc(r, np.maximum(n - r + 1, 1.0), p)
            total += chance * np.where(n < r, 1.0, fewer)
        return total


@lru_cache(maxsize=64)
def _lacking(law: AveragedLaplace) -> tuple[tuple[float, ...], float]:
    """Return the chances that the first stream lacks 1, ..., k successes when the second is done, and that of a tie.

    Of trials in which not both fail, one stream alone succeeds with probability q / (1 + q), both with
    (1 - q) / (1 + q).
    """
    k, a = law.draws, float(1 / law.scale)
    q = math.exp(-a)
    alone, both = q / (1 + q), -math.expm1(-a) / (1 + q)
    # reached[i, j]: the chance that at some time the streams have had i and j successes, neither of them k
    reached = np.zeros((k + 1, k + 1))
    reached[0, 0] = 1.0
    for i in range(k):
        for j in range(k):
            if i or j:
                left = reached[i - 1, j] if i else 0.0
                under = reached[i, j - 1] if j else 0.0
                reached[i, j] = alone * (left + under) + (both * reached[i - 1, j - 1] if i and j else 0.0)
    last = [
        alone * reached[m, k - 1] + (both * reached[m - 1, k - 1] if m else 0.0)  # m successes of the first
        for m in range(k)
    ]
    return tuple(float(one) for one in last[::-1]), float(both * reached[k - 1, k - 1])


def least_variance_draws(epsilon: float, mu_squared: float) -> int:
    """Return the most draws whose sum has less variance than normal noise of the same (epsilon, delta); at least 1.

    mu_squared: of that pair in Gaussian differential privacy, for sensitivity 1.  2 k / epsilon**2 < 1 / mu_squared;
    a single Laplace draw always has less than several.
    """
    return max(1, math.ceil(epsilon**2 / (2 * mu_squared)) - 1)
