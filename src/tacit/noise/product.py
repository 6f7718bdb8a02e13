"""The law of noise for several columns at once, each bounded in l1: pure privacy for a product of l1 balls.  No data.

The integers of p columns are one vector in d dimensions; column j has k_j of them.  With the norm
    |x| = max over columns j of |x_j|_1 / scale_j
X has density proportional to exp(-|X|): X_j = scale_j R U_j, R Gamma(d + 1), U_j uniform in the l1 ball of radius 1,
all independent [Hardt & Talwar 2010, section 4, for a product of balls].  Released is each coordinate rounded to the
nearest integer.  Of one column alone the law is discrete Laplace in all but its rounding.

A coordinate of U_j has absolute value Beta(1, k).  With n = d - k and y = |X_ji| / scale_j > 0, before rounding,
    P(Y > y) = E (1 - y / R)_+**k = sum over i <= n of t_i exp(-y) y**i / i!,     t_i = binom(n, i) / binom(d, i),
so that Y is a sum of M + 1 independent exponentials, with P(M >= i) = t_i.  Coordinates are uncorrelated, not
independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.noise.laws import Floats, NoiseError, check_scale

MOST_DIMENSIONS: Final = 2**12
"""Most integers of all columns."""
LEAST_SUMMED: Final = 0.5
"""Scale below which the variance is summed over integers."""
SMOOTH: Final = 1_000
"""Scale from which on rounding adds 1/12 to a variance, and in all less than 1e-14 of it besides."""
TERMS: Final = 2_000
"""Terms of what rounding adds to a variance: the first left out is below 1e-13 of it."""
POWERS: Final = 64
"""Exponentials whose part of a characteristic function matters at frequencies of 3 or more: 3.3**-64 is 1e-33."""
AT_ONCE: Final = 2**20
"""Numbers held at a time."""


@dataclass(frozen=True)
class ProductLaplace:
    """The law of one column's integers; `pmf`, `cdf`, `sf` and `variance` are those of one of them.

    size: number of the column's integers.  dimension: number of integers of all columns of the vector.

    >>> law = ProductLaplace(Fraction(100), 2, 20)
    >>> round(law.variance(), 2), float(law.sf(1000)).__round__(4)
    (770000.08, 0.1314)
    >>> ProductLaplace(Fraction(100), 2, 2).variance().__round__(2)  # of one column alone
    20000.08
    """

    scale: Fraction
    size: int
    dimension: int
    name: ClassVar[str] = "rounded product Laplace"

    def __post_init__(self) -> None:
        check_scale(self.scale)
        whole = type(self.dimension) is int and type(self.size) is int
        if not whole or not 1 <= self.size <= self.dimension <= MOST_DIMENSIONS:
            text = f"noise of several columns: numbers of integers are whole, from 1 to {MOST_DIMENSIONS:,}."
            raise NoiseError(text, code="N01", hint="2, of 20")

    def __hash__(self) -> int:
        """Hash numerator and denominator, because the hash of a Fraction costs a power modulo a prime."""
        return hash((self.name, self.size, self.dimension, self.scale.as_integer_ratio()))

    @property
    def normal(self) -> float:
        """Part of the variance that is normal in the sum of a normal and a Laplace variable with the same kurtosis."""
        return 1 - float(laplace_part([(self, np.ones(1))]))

    def variance(self) -> float:
        """Return 2 (d + 1) (d + 2) scale**2 / ((k + 1) (k + 2)) + 1/12, and what rounding adds at small scales.

        By Poisson summation that is the sum over n >= 1 of (-1)**n (g(2 n pi) / (n pi)**2 - 2 g'(2 n pi) / (n pi)),
        g the coordinate's characteristic function, the mean over M of the real part of (1 - i t scale)**-(M + 1).
        """
        s = float(self.scale)
        plain = s * s * second_moment(self.size, self.dimension) + 1 / 12
        return plain if s >= SMOOTH else _variance(self, plain)

    def pmf(self, k: ArrayLike) -> Floats:
        """See `Law.pmf`: a difference of tails where the scale is small, else the integral of the density."""
        x, width = np.abs(np.asarray(k, dtype=np.float64)), 1 / float(self.scale)
        low, high = np.maximum(x - 0.5, 0.0) * width, (x + 0.5) * width
        # a cell of 0 is that of both signs
        mass = np.where(x == 0, 1.0, 0.5) * (
            self._cell(low, high) if width <= 1 else self._tail(low) - self._tail(high)
        )
        return np.asarray(np.where(x == np.floor(x), mass, 0.0))

    def sf(self, k: ArrayLike) -> Floats:
        """See `Law.sf`."""
        edge = np.floor(np.asarray(k, dtype=np.float64)) + 0.5
        above = self._tail(np.abs(edge) / float(self.scale)) / 2
        return np.asarray(np.where(edge > 0, above, 1 - above))

    def cdf(self, k: ArrayLike) -> Floats:
        """See `Law.cdf`: by symmetry P(Z <= k) = P(Z > -k - 1)."""
        return self.sf(-np.floor(np.asarray(k, dtype=np.float64)) - 1)

    def _tail(self, y: Floats) -> Floats:
        """Return P(Y > y), y >= 0."""
        return beyond(y, self.size, self.dimension)

    def _cell(self, low: Floats, high: Floats) -> Floats:
        """Return P(low < Y < high) for cells no wider than 1: Gauss-Legendre with 12 nodes on the density."""
        middle, half = (low + high) / 2, (high - low) / 2
        weight = np.log(exponentials(self.size, self.dimension))
        nodes, weights = np.polynomial.legendre.leggauss(12)
        total = np.zeros_like(middle)
        for node, share in zip(nodes, weights, strict=True):
            total += share * _poisson_sum(middle + node * half, weight)
        return total * half

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return seeded draws of this column's integers for simulation, one release's after another's.

        The last may be cut short.  `sampled_together` draws those of several columns.
        """
        return sampled_together([self], -(-size // self.size), rng)[0].ravel()[:size]

    def to_dict(self) -> dict[str, str | int]:
        """See `Law.to_dict`."""
        return {"law": self.name, "scale": str(self.scale), "size": self.size, "dimension": self.dimension}


def sampled_together(laws: Sequence[ProductLaplace], many: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return seeded draws of `many` vectors for simulation: for each column an array of shape (many, size)."""
    radius = rng.standard_gamma(laws[0].dimension + 1, many)
    found: list[NDArray[np.int64]] = []
    for law in laws:
        # k of k + 1 exponentials over their sum are uniform in the part of the l1 ball without negative entries
        each = rng.standard_exponential((many, law.size + 1))
        signs = rng.integers(0, 2, (many, law.size)) * 2 - 1
        inside = signs * each[:, :-1] / each.sum(axis=1, keepdims=True)
        found.append(np.floor(float(law.scale) * radius[:, None] * inside + 0.5).astype(np.int64))
    return found


def beyond(y: Floats, size: int, dimension: int) -> Floats:
    """Return P(Y > y), y >= 0: of a coordinate of scale 1, without its sign, before rounding."""
    return _poisson_sum(y, _log_tails(size, dimension))


def second_moment(size: int, dimension: int) -> float:
    """Return the mean of a squared coordinate of scale 1, before rounding: E R**2 = (d + 1) (d + 2), of U 2 / ..."""
    return 2 * (dimension + 1) * (dimension + 2) / ((size + 1) * (size + 2))


def laplace_part(parts: Sequence[tuple[ProductLaplace, Floats]]) -> Floats:
    """Return the part of the variance that a Laplace variable has in the law of a weighted sum of coordinates.

    parts: for each column its law and weights, shape (..., k); all columns are of one vector.  The sum has a symmetric
    log-concave density, so that its kurtosis is at most 6, that of a Laplace variable.  The sum of a normal and a
    Laplace variable with the same variance and kurtosis stands for it; where the kurtosis is below 3, a normal alone.
    Of V = sum of w_i U_i over a column, E V**4 = 12 ((sum of w**2)**2 + sum of w**4) / ((k + 1) ... (k + 4)).
    """
    d = parts[0][0].dimension
    squares, fourths, paired = 0.0, 0.0, 0.0
    largest = max(float(law.scale) for law, _ in parts)
    for law, weights in parts:
        k, w = law.size, np.asarray(weights, dtype=np.float64) * (float(law.scale) / largest)
        two, four = (w**2).sum(axis=-1), (w**4).sum(axis=-1)
        own = 2 * two / ((k + 1) * (k + 2))
        squares, paired = squares + own, paired + own**2
        fourths = fourths + 12 * (two**2 + four) / ((k + 1) * (k + 2) * (k + 3) * (k + 4))
    # columns are independent given the radius: E (sum V_j)**4 = sum E V_j**4 + 3 sum over i != j of E V_i**2 E V_j**2
    inside = fourths + 3 * (np.asarray(squares) ** 2 - paired)
    ratio = (d + 3) * (d + 4) / ((d + 1) * (d + 2))
    kurtosis = ratio * np.divide(
        inside, np.square(squares), out=np.full_like(inside, 3.0), where=np.square(squares) > 0
    )
    return np.asarray(np.sqrt(np.clip(kurtosis / 3 - 1, 0.0, 1.0)))


@lru_cache(maxsize=256)
def _log_tails(size: int, dimension: int) -> Floats:
    """Return log t_i, i = 0 .. d - k: of the probabilities that Y is a sum of more than i exponentials."""
    from scipy.special import gammaln  # pyright: ignore

    i, n, d = np.arange(dimension - size + 1, dtype=np.float64), dimension - size, dimension
    # binom(n, i) / binom(d, i) = n! (d - i)! / ((n - i)! d!)
    found = gammaln(n + 1) + gammaln(d - i + 1) - gammaln(n - i + 1) - gammaln(d + 1)
    return np.asarray(np.minimum(found, 0.0), dtype=np.float64)


@lru_cache(maxsize=256)
def exponentials(size: int, dimension: int) -> Floats:
    """Return the probabilities that Y is a sum of 1, 2, ..., d - k + 1 exponentials: t_i k / (d - i)."""
    i = np.arange(dimension - size + 1, dtype=np.float64)
    return np.exp(_log_tails(size, dimension)) * size / (dimension - i)


def _poisson_sum(y: Floats, log_weights: Floats) -> Floats:
    """Return the sum over i of weight_i exp(-y) y**i / i!, for y >= 0 of any shape."""
    from scipy.special import gammaln, xlogy  # pyright: ignore

    i = np.arange(len(log_weights), dtype=np.float64)
    const = log_weights - gammaln(i + 1)
    flat, step = np.asarray(y, dtype=np.float64).ravel(), max(1, AT_ONCE // len(i))
    found = np.empty_like(flat)
    for first in range(0, flat.size, step):
        some = flat[first : first + step, None]
        found[first : first + step] = np.exp(xlogy(i, some) - some + const).sum(axis=1)
    return found.reshape(np.shape(y))


@lru_cache(maxsize=256)
def _variance(law: ProductLaplace, plain: float) -> float:
    """Return the variance at a small scale; plain: what it is but for the sum in `ProductLaplace.variance`."""
    s = float(law.scale)
    if s < LEAST_SUMMED:  # the terms would cancel: nearly all mass is at 0
        return _summed_variance(law)
    n = np.arange(1, TERMS + 1, dtype=np.float64)
    weight = exponentials(law.size, law.dimension)[:POWERS]
    power = np.arange(1, len(weight) + 1)
    base = 1 / (1 - 2j * np.pi * s * n)
    each = base[:, None] ** power
    own, slope = (each.real @ weight), ((1j * s * power * each * base[:, None]).real @ weight)
    terms = own / (n * np.pi) ** 2 - 2 * slope / (n * np.pi)
    return plain + float(np.sum(np.where(n % 2, -terms, terms)))


def _summed_variance(law: ProductLaplace) -> float:
    """Return E Z**2 as the sum over k >= 1 of (2 k - 1) P(|Z| >= k), until what is left vanishes."""
    # no coordinate is larger than the radius, which is below d + 40 sqrt(d) + 800 but for 1e-300
    most = math.ceil(float(law.scale) * (law.dimension + 40 * math.sqrt(law.dimension) + 800)) + 2
    k = np.arange(1, most + 1, dtype=np.float64)
    return float(2 * np.sum((2 * k - 1) * law.sf(k - 1)))
