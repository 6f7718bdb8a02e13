"""Laws of the total error of an estimate: normal sampling error plus weighted noise.  Pure array functions.

An error is N(0, s**2) + sum_j w_j z_j, the z_j independent integer noises; of the dependent noises of one vector of
columns the weighted sum has a law of the same form (`split_together`).  Rounded Gaussian noise joins the normal part.
Discrete Laplace noise of scale t is taken as a continuous Laplace variable of the same variance (`smooth`), which
at the scales of moments (1e4 and more) changes nothing in the first eight digits; where a count is all there is and the
scale may be near one, `noise_halfwidth` uses the exact integer law.

Everything is symmetric about zero.  Shapes: x and s broadcast; `b` has one more axis, the last, of Laplace scales.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.noise.averaged_laplace import AveragedLaplace
from tacit.noise.laws import Law
from tacit.noise.product import ProductLaplace, beyond, laplace_part

WIDE: Final = Fraction(10**6)
"""A scale at which rounding does not matter."""
GAP: Final = 1e-4
"""Relative distance that Laplace scales are kept apart: partial fractions lose 1 / GAP**2 of 1e-16, no more."""
FOLD: Final = 1e-5
"""Small Laplace parts join the normal one while that moves the excess kurtosis by less than this."""
WORST: Final = 1e9
"""Above this sum of partial-fraction weights the characteristic function is inverted numerically."""
STEPS: Final = 60
EQUAL: Final = 1e-12
"""Relative error of tails at quantiles, and of quantiles in standard deviations, at which a search ends."""
LEVELS: Final = (0.8, 0.9, 0.95, 0.99, 0.999)
"""Levels at which noise of one vector is not taken to be narrower than one of its integers is."""
CHUNK: Final = 2**12
"""Numbers worked on at a time: small arrays take several scales at once, large ones loop over scales."""


def log_ndtr(x: Array) -> Array:
    """Log of the normal distribution function."""
    from scipy import special  # pyright: ignore[reportMissingTypeStubs]

    return np.asarray(cast(Any, special).log_ndtr(x), dtype=np.float64)


def ndtr(x: Array) -> Array:
    """Return the normal distribution function."""
    from scipy import special  # pyright: ignore[reportMissingTypeStubs]

    return np.asarray(cast(Any, special).ndtr(x), dtype=np.float64)


def normal_quantile(level: float) -> float:
    """The z with P(|Z| <= z) = level."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(0.5 + level / 2)


def normal_score(p: Array | float) -> Array:
    """The z with P(|Z| >= z) = p; of a p that underflowed that of 1e-300, so that it is finite."""
    from scipy import special  # pyright: ignore[reportMissingTypeStubs]

    return -np.asarray(cast(Any, special).ndtri(np.maximum(p, 1e-300) / 2), dtype=np.float64)


def is_gaussian(law: Law) -> bool:
    """Return whether a noise counts as normal."""
    return "Gaussian" in law.name


def smooth(law: Law) -> float:
    """Scale of the continuous Laplace variable with the variance of a discrete one."""
    return math.sqrt(law.variance() / 2)


# One Laplace --------------------------------------------------------------------------------------------------------


def tail_one(x: Array, s: Array, b: Array) -> Array:
    """P(N(0, s**2) + Lap(b) > x) for x >= 0, s >= 0, b > 0, relative accuracy kept far out (theory §1.5).

    >>> float(tail_one(np.array(0.0), np.array(1.0), np.array(2.0)))
    0.5
    """
    # keeps x / s finite; a normal part this small moves no probability in its first eight digits
    s = np.maximum(s, 1e-9 * b)
    t, y, e = s / b, x / s, x / b
    left = log_ndtr(-y)
    # t**2 / 2 + log Phi(-y - t) underflows term by term when t is large; exp of the sum does not.
    # both are probabilities, P(N <= x < N + E) and P(N - E <= x < N) with E exponential of mean b, so that an
    # exponent above 0 is rounding
    up = np.exp(np.minimum(t * t / 2 - e + log_ndtr(y - t), 0.0))
    down = np.exp(np.minimum(t * t / 2 + e + log_ndtr(-y - t), 0.0))
    return np.clip(np.exp(left) + 0.5 * (up - down), 0.0, 0.5)


# Several ------------------------------------------------------------------------------------------------------------


def _fold(s: Array, b: Array) -> tuple[Array, Array]:
    """Sort scales downwards, move negligible ones into the normal part, keep the rest apart."""
    b = -np.sort(-np.abs(b), axis=-1)
    variance = 2 * b**2
    total = s**2 + variance.sum(axis=-1)
    share = np.divide(variance, total[..., None], out=np.zeros_like(b), where=total[..., None] > 0)
    # a Laplace variable of variance v has fourth cumulant 3 v**2; summed from the smallest scale upwards
    excess = np.cumsum((3 * share**2)[..., ::-1], axis=-1)[..., ::-1]
    small = excess < FOLD
    s = np.sqrt(s**2 + np.where(small, variance, 0.0).sum(axis=-1))
    return s, np.where(small, 0.0, b)


def _apart(b: Array) -> Array:
    """Sorted scales with gaps of at least GAP, each moved by at most about len * GAP of itself; zeros stay."""
    out = b.copy()
    # outwards from the middle scale, which halves the longest run of shifts
    middle = b.shape[-1] // 2
    for j in range(middle - 1, -1, -1):
        out[..., j] = np.maximum(out[..., j], out[..., j + 1] * (1 + GAP))
    for j in range(middle + 1, b.shape[-1]):
        out[..., j] = np.where(b[..., j] > 0, np.minimum(out[..., j], out[..., j - 1] * (1 - GAP)), 0.0)
    return out


def _weights(b: Array) -> Array:
    """A_j = prod_(i != j) b_j**2 / (b_j**2 - b_i**2): the sum's law is the mixture sum A_j Lap(b_j); 0 for b_j = 0."""
    square = b**2
    k = b.shape[-1]
    weights = np.where(b > 0, 1.0, 0.0)
    others = np.moveaxis(square, -1, 0)[..., None]  # i first: the product runs over it in order
    step = max(1, CHUNK // max(b.size, 1))
    for j in range(0, k, step):
        own = square[..., j : j + step]
        difference = own - others
        usable = (difference != 0) & (others > 0)  # so not i = j
        ratio = np.divide(own, difference, out=np.ones_like(difference), where=usable)
        weights[..., j : j + step] *= np.multiply.reduce(ratio, axis=0)
    return weights


def tail(x: Array, s: Array, b: Array) -> Array:
    """P(N(0, s**2) + sum_j Lap(b_j) > x) for x >= 0; `b` of shape (..., k), zeros allowed.

    Partial fractions of the characteristic function exp(-s**2 t**2 / 2) prod 1 / (1 + b_j**2 t**2); where too many
    scales are nearly equal for that, Gil-Pelaez inversion (`_gil_pelaez`).
    """
    x, s = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(s, np.float64))
    b = np.broadcast_to(np.asarray(b, np.float64), (*x.shape, np.shape(b)[-1]))
    s, b = _fold(s, b)
    none = ~(b > 0).any(axis=-1)
    # where no Laplace part is left: the normal tail, or a point mass at 0 split in halves if s = 0 too
    out = np.exp(log_ndtr(-np.divide(x, s, out=np.where(x > 0, np.inf, 0.0), where=s > 0)))
    if none.all():
        return out
    b_apart = _apart(b)
    weights = _weights(b_apart)
    # scales that are 0 for all x are not evaluated
    used = b_apart.any(axis=tuple(range(x.ndim)))
    mixture = _mixture(x, s, b_apart[..., used], weights[..., used])
    out = np.where(none, out, np.clip(mixture, 0.0, 0.5))
    # the weights alternate in sign and add up to 1: rounding grows by the sum of their absolute values
    hard = ~none & (np.abs(weights).sum(axis=-1) > WORST)
    for index in np.argwhere(hard):
        at = tuple(index)
        out[at] = _gil_pelaez(float(x[at]), float(s[at]), b[at])
    return out


def _mixture(x: Array, s: Array, b: Array, weights: Array) -> Array:
    """Sum of weights_j P(N(0, s**2) + Lap(b_j) > x), where b_j > 0; several scales at a time where arrays are small."""
    out = np.zeros_like(x)
    step = max(1, CHUNK // max(x.size, 1))
    for j in range(0, b.shape[-1], step):
        scales = b[..., j : j + step]
        here = scales > 0
        parts = weights[..., j : j + step] * tail_one(x[..., None], s[..., None], np.where(here, scales, 1.0))
        for part in np.moveaxis(np.where(here, parts, 0.0), -1, 0):
            out = out + part
    return out


def _gil_pelaez(x: float, s: float, b: Array) -> float:
    """Tail by numerical inversion: 1/2 - (1/pi) int_0^inf sin(t x) phi(t) / t dt, trapezoid; needs several scales.

    The step h makes the law periodic with period 2 pi / h, chosen so long that a wrapped tail is below 1e-12.
    """
    sd = math.sqrt(s * s + 2 * float((b**2).sum()))
    period = x + 12 * sd + 40 * float(b.max())
    h = math.pi / period
    end = 4 / sd
    # the integrand is cut where phi is below e**-28, under 1e-12
    while _log_phi(np.array(end), s, b) > -28 and end < 1e6 / sd:
        end *= 1.5
    t = h * (np.arange(min(int(end / h) + 1, 2_000_000), dtype=np.float64) + 0.5)  # midpoints: no special case at 0
    total = float((np.sin(t * x) / t * np.exp(_log_phi(t, s, b))).sum()) * h / math.pi
    return min(max(0.5 - total, 0.0), 0.5)


def _log_phi(t: Array, s: float, b: Array) -> Array:
    """Return the logarithm of the characteristic function of N(0, s**2) + sum_j Lap(b_j) at t."""
    out = -0.5 * (s * t) ** 2
    for scale in b[b > 0]:
        out = out - np.log1p((scale * t) ** 2)
    return out


def halfwidth(level: float, s: Array, b: Array) -> Array:
    """The q with P(|N(0, s**2) + sum_j Lap(b_j)| <= q) = level, elementwise.

    >>> round(float(halfwidth(0.95, np.array(1.0), np.array([0.0]))), 4)
    1.96
    """
    s, _ = np.broadcast_arrays(np.asarray(s, np.float64), np.asarray(b, np.float64)[..., 0])
    b = np.broadcast_to(np.asarray(b, np.float64), (*s.shape, np.shape(b)[-1]))
    alpha = 1 - level
    sd: Array = np.sqrt(s**2 + 2 * (b**2).sum(axis=-1))
    if not (b > 0).any():
        return normal_quantile(level) * s
    low, high = np.zeros_like(sd), sd * (3.0 - math.log(alpha))
    target = math.log(alpha / 2)
    # at 0 the tail is 1/2: log(1/2) - log(alpha / 2); `high` is beyond the quantile of any law of this family
    above, below = np.full_like(sd, -math.log(alpha)), _log_tail(high, s, b) - target
    last = np.zeros_like(sd)
    for _ in range(STEPS):  # the log of a tail is nearly a straight line: false position [Dowell & Jarratt 1971]
        x = np.clip((low * below - high * above) / np.where(below < above, below - above, -1.0), low, high)
        height = _log_tail(x, s, b) - target
        out = height > 0
        # an end that is kept twice in a row has its height halved (Illinois), so that both ends move
        above, below = (
            np.where(out, height, np.where(last < 0, above / 2, above)),
            np.where(out, np.where(last > 0, below / 2, below), height),
        )
        low, high, last = np.where(out, x, low), np.where(out, high, x), np.where(out, 1.0, -1.0)
        if ((np.abs(height) <= EQUAL) | (high - low <= EQUAL * sd)).all():
            break
    # of the two ends of the bracket, the one whose tail is nearer to alpha / 2
    return np.where(np.abs(above) < np.abs(below), low, high)


def _log_tail(x: Array, s: Array, b: Array) -> Array:
    """Return the logarithm of `tail`, nearly a straight line in x far out."""
    # a tail that underflows keeps a finite logarithm
    return np.log(np.maximum(tail(x, s, b), 1e-300))


# Noise alone --------------------------------------------------------------------------------------------------------


def noise_halfwidth(law: Law, level: float) -> int:
    """Smallest integer h with P(|z| <= h) >= level: exact law of one integer noise."""
    alpha = 1 - level
    # invariant of the bisection: P(|z| > low) > alpha >= P(|z| > high)
    low, high = -1, 1
    while _outside(law, high) > alpha:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if _outside(law, middle) > alpha:
            low = middle
        else:
            high = middle
    return high


def _outside(law: Law, h: int) -> float:
    """P(|z| > h)."""
    return 2 * float(np.asarray(law.sf(np.asarray([h]))).reshape(-1)[0])


def split(law: Law, weights: Array) -> tuple[Array, Array]:
    """Weighted noises -> (normal sd, Laplace scales): weights (..., k) -> shapes (...), (..., k); or (..., 1).

    The latter for the k integers of one column whose noise is of one vector: see `split_together`.  The sum of several
    Laplace draws is a normal and a Laplace variable with its variance and kurtosis, widened as there, by at most 1.5%.
    """
    if isinstance(law, ProductLaplace):
        return split_together([(law, weights)])
    normal = normal_part(law)
    wide = _widening_of_draws(law.draws) if isinstance(law, AveragedLaplace) else 1.0
    sd = wide * np.sqrt((weights**2).sum(axis=-1) * law.variance() * normal)
    return sd, wide * np.abs(weights) * smooth(law) * math.sqrt(1 - normal)


def split_together(parts: Sequence[tuple[ProductLaplace, Array]]) -> tuple[Array, Array]:
    """Weighted noises of several columns of one vector -> normal sd and Laplace scale, shapes (...), (..., 1).

    parts: of each column its law and the weights of its integers, shape (..., k).  The sum of a normal and a Laplace
    variable has the variance and the kurtosis of the weighted noises (`noise.product.laplace_part`); both are widened
    by the factor, below 1.1, by which one integer alone would otherwise exceed its quantiles at LEVELS.
    """
    variance = sum((weights**2).sum(axis=-1) * law.variance() for law, weights in parts)
    share = laplace_part(parts)
    wide = max(_widening(law.size, law.dimension) for law, _ in parts)
    return wide * np.sqrt(variance * (1 - share)), wide * np.sqrt(variance * share / 2)[..., None]


@lru_cache(maxsize=256)
def _widening(size: int, dimension: int) -> float:
    """Return the largest ratio, at LEVELS, of the quantiles of an integer's noise to those that stand for it."""
    law = ProductLaplace(WIDE, size, dimension)
    sd, scale = math.sqrt(law.variance()), float(WIDE)
    normal = law.normal
    alpha = 1 - np.array(LEVELS)
    low, high = np.zeros_like(alpha), np.full_like(alpha, 12 * sd / scale)
    for _ in range(STEPS):
        middle = (low + high) / 2
        above = beyond(middle, size, dimension) > alpha
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    s, b = np.asarray(sd * math.sqrt(normal)), np.array([sd * math.sqrt((1 - normal) / 2)])
    return max(1.0, *(float(q * scale / halfwidth(level, s, b)) for level, q in zip(LEVELS, high, strict=True)))


@lru_cache(maxsize=64)
def _widening_of_draws(draws: int) -> float:
    """Return the largest ratio, at LEVELS, of the exact quantiles of a sum of draws to those that stand for it."""
    law = AveragedLaplace(WIDE, draws)
    s, b = np.asarray(math.sqrt(law.variance() * law.normal)), np.array([smooth(law) * math.sqrt(1 - law.normal)])
    return max(1.0, *(noise_halfwidth(law, level) / float(halfwidth(level, s, b)) for level in LEVELS))


def normal_part(law: Law) -> float:
    """Return the normal part of a noise's variance; sums of both kinds of noise state it as `normal`."""
    own: float | None = getattr(law, "normal", None)
    return float(is_gaussian(law)) if own is None else own


def drawn(law: Law, number: int, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Seeded sums of so many independent noises of one law, each of which may be a sum of `pieces` itself.

    A sum of n two-sided geometric noises is the difference of two negative binomial ones; normal ones are one normal.
    """
    pieces: tuple[tuple[Law, int, int], ...] = getattr(law, "pieces", ()) or ((law, 1, 1),)
    total = np.zeros(shape)
    for piece, weight, count in pieces:
        many = number * count
        if is_gaussian(piece):
            total += weight * rng.standard_normal(shape) * math.sqrt(many * piece.variance())
        elif many == 1:
            total += weight * piece.sample(int(np.prod(shape)), rng).reshape(shape)
        else:
            # the sum of n geometric variables counts failures before the n-th success, of probability 1 - e**(-1 / b)
            two = rng.negative_binomial(many, -math.expm1(-1 / float(piece.scale)), (2, *shape))
            total += weight * (two[0] - two[1])
    return total
