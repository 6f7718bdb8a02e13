"""Confidence intervals of many terms at once.  Each class inverts the law of one kind of error.

All intervals lie within the public bounds of their parameter and contain the estimate, so they always exist.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.noisy_terms import noisy_counts as counts
from tacit.estimates.noisy_terms.noisy_moments import Moments, Powers
from tacit.estimates.total_errors.accepted_values import accepted
from tacit.estimates.total_errors.error_laws import halfwidth, noise_halfwidth, split, tail
from tacit.estimates.total_errors.selection import GivenAnswer
from tacit.noise.averaged_laplace import AveragedLaplace
from tacit.noise.laws import Law

NDArrayBool: TypeAlias = NDArray[np.bool_]

FLOOR: Final = 1.0
"""A variance is never below this many standard deviations of its own noise (chosen by `benchmarks/coverage.py`)."""
UNSEEN: Final = 1.0
"""Rows that intervals count as at the bounds: few rows of a skewed law say little of how far others reach."""
SKEW: Final = 3.0
"""The variance of squared deviations grows with their mean, taken up to so many times what is seen."""
AWAY: Final = 1.0
"""Standard deviations of its noise that a mean may be off, for the noise in squares about it."""
CONTINUITY: Final = 0.5
"""Correction of a proportion's score for counting in whole rows, a row being 2 on the u scale: a quarter of a row."""


class Inversion(Protocol):
    """What makes intervals of m terms."""

    def interval(self, level: float) -> tuple[Array, Array]:
        """Lower and upper limits, shape (m,) each."""
        ...


@dataclass(frozen=True)
class LinearInversion:
    """value + N(0, variance) + loadings . z: the noise enters exactly linearly (theory §1.5)."""

    value: Array
    variance: Array
    loadings: Array
    law: Law
    low: float
    high: float

    def interval(self, level: float) -> tuple[Array, Array]:
        """Estimate -+ the quantile of the total law; of the exact integer law where one noise is all there is."""
        if self._one_noise and not self.variance.any():
            q = noise_halfwidth(self.law, level) * np.abs(self.loadings).max(axis=-1)
        else:
            s, b = split(self.law, self.loadings)
            q = halfwidth(level, np.sqrt(self.variance + s**2), b)
        return np.clip(self.value - q, self.low, self.high), np.clip(self.value + q, self.low, self.high)

    @property
    def _one_noise(self) -> bool:
        """Whether each term has the noise of one integer; of several Laplace draws also where others do not count."""
        if self.loadings.shape[-1] == 1:
            return True
        return isinstance(self.law, AveragedLaplace) and bool((np.count_nonzero(self.loadings, axis=-1) <= 1).all())


@dataclass(frozen=True)
class CountInversion:
    """Exact inversion of Binomial(n, p) + z, or of Poisson + z where n is None; limits are `factor` times p or rate.

    mid: count half of the probability of the count itself in both tails, which is no longer exact (`of_sums`).
    """

    count: Array
    n: int | None
    law: Law
    shift: float
    factor: float
    mid: bool = False

    def interval(self, level: float) -> tuple[Array, Array]:
        """Covers with probability at least `level`, whatever p is, unless `mid`."""
        low, high = counts.interval(self.count, self.n, self.law, level, mid=self.mid)
        return self.shift + self.factor * low, self.shift + self.factor * high


@dataclass(frozen=True)
class RatioInversion:
    """Mean of a cell of noisy size, by Fieller's argument: D(m) = S - m N is linear in the noise whatever m is.

    m belongs to the interval where P(|N(0, C(m)) + l(m) . z| >= |D(m)|) >= alpha; C(m) = Q - 2 m S + m**2 N estimates
    the sampling variance of D, at least FLOOR of its own noise, at most N (1 - m**2); for a proportion it is that bound
    (Wilson's score, less `continuity`).  In tests of m there are UNSEEN rows more in C(m), of largest variance.  With
    weights a <= 1, C(m) = sum a**2 (u - m)**2, and the bound holds.  Where the size is `unclear`, below the threshold,
    the interval is that of the public bounds; elsewhere P is that given an answer (`selection`).
    All on the u scale, [-1, 1].
    """

    moments: Moments
    value: Array
    unclear: NDArrayBool
    threshold: float
    law: Law
    binary: bool
    sampling: bool
    center: float
    half: float
    continuity: float = CONTINUITY

    def variance(self, m: Array, unseen: float = 0.0) -> Array:
        """C(m), shape (m,), and that of so many `unseen` rows."""
        N, S, Q = self.moments.squares
        size = np.maximum(self.moments.size, 1.0)
        # Bhatia-Davis: values in [-1, 1] of mean m have variance at most (1 - m)(m + 1)
        most = size * np.maximum(1 - m**2, 0.0)
        if not self.sampling:
            return np.zeros_like(m)
        if self.binary:
            return most
        loads = self.moments.square_loadings
        # loadings of C(m) itself: its floor is in standard deviations of its own noise
        noisy = loads[2] - 2 * m[..., None] * loads[1] + m[..., None] ** 2 * loads[0]
        found = floored(Q - 2 * m * S + m**2 * N, noisy, self.law, most)
        return np.minimum(found + unseen * np.maximum(1 - m**2, 0.0), most)

    def interval(self, level: float) -> tuple[Array, Array]:
        """Search both ends between the estimate and the bounds."""
        N, loads = self.moments.size, self.moments.loadings
        step = self.continuity if self.binary and self.sampling else 0.0
        given = GivenAnswer(N, self.threshold, 0.0, self.law, loads[0]).conditional(1 - level)

        def p_value(m: Array) -> Array:
            # |D(m)| from the clipped estimate: m = value then has p-value 1, and the interval always holds the estimate
            distance = np.maximum(np.abs((self.value - m) * N) - step, 0.0)
            load = loads[1] - m[..., None] * loads[0]
            s, b = split(self.law, load)
            variance = self.variance(m, UNSEEN)
            return given(2 * tail(distance, np.sqrt(variance + s**2), b), distance, variance, load)

        low, high = accepted(p_value, self.value, -1.0, 1.0, 1 - level)
        low, high = np.where(self.unclear, -1.0, low), np.where(self.unclear, 1.0, high)
        return self.center + self.half * low, self.center + self.half * high


@dataclass(frozen=True)
class SpreadInversion:
    """Variance of a column, by the same argument: D(t) = SS - t (N - 1), SS the noisy sum of squared deviations.

    The sampling variance of D is C(t) = sum ((x - mean)**2 - t)**2, from the fourth moment; floored and capped like
    `RatioInversion`'s, whose `threshold` it has too.  least: the size that an answer exceeds clearly.  In x in [0, 1].
    Noise that makes SS too large also moves the noisy mean inwards, from where deviations, and the noise in their
    squares, look smaller than they are.  Tests of smaller variances are therefore made at the mean, of those within
    AWAY standard deviations of its noise, where that noise is largest (`benchmarks/groups_of_nobody.py`).
    """

    powers: Powers
    mean: Array
    value: Array
    unclear: NDArrayBool
    threshold: float
    least: float
    law: Law
    sampling: bool
    scale: float

    def variance(self, t: Array, unseen: float = 0.0) -> Array:
        """C(t), shape (m,), and that of so many `unseen` rows."""
        if not self.sampling:
            return np.zeros_like(t)
        second, fourth = central(self.mean)
        # sum (y - t)**2 with y = (x - mean)**2, expanded in power sums
        weights = fourth - 2 * t[..., None] * second
        weights[..., 0] += t**2
        # Bhatia-Davis: y = (x - mean)**2 lies in [0, most] and has mean t, so that its variance is at most t (most - t)
        most = np.maximum(self.mean, 1 - self.mean) ** 2
        row = np.maximum(t * (most - t), 0.0)
        cap = np.maximum(self.powers.sums[:, 0], 2.0) * row
        raw = (weights * self.powers.sums).sum(axis=-1)
        return np.minimum(floored(raw, weights @ self.powers.loadings, self.law, cap) + unseen * row, cap)

    def loadings(self, t: Array) -> Array:
        """How the noises enter D(t), shape (m, 5)."""
        weights, _ = central(self.mean)
        # D(t) = sum (x - mean)**2 - t N: the noise of the count enters with -t
        weights[..., 0] -= t
        return weights @ self.powers.loadings

    def _noisiest_mean(self) -> Array:
        """Return the mean, AWAY standard deviations of its noise off at most, with most noise in squares about it."""
        size = np.maximum(self.powers.sums[:, 0], 2.0)
        load = self.powers.loadings[1] - self.mean[:, None] * self.powers.loadings[0]
        reach = AWAY * np.sqrt((load**2).sum(axis=-1) * self.law.variance()) / size
        means = np.clip(np.stack([self.mean, self.mean - reach, self.mean + reach]), 0.0, 1.0)
        noise = ((central(means)[0] @ self.powers.loadings) ** 2).sum(axis=-1)
        return np.take_along_axis(means, noise.argmax(axis=0)[None], axis=0)[0]

    def interval(self, level: float) -> tuple[Array, Array]:
        """Search both ends between the estimate and the bounds."""
        size = np.maximum(self.powers.sums[:, 0] - 1, 1.0)
        rows, loads = self.powers.sums[:, 0], self.powers.loadings[0]
        given = GivenAnswer(rows, self.threshold, self.least, self.law, loads).conditional(1 - level)
        away = self._noisiest_mean()

        def p_value(t: Array) -> Array:
            at = replace(self, mean=np.where(t < self.value, away, self.mean))
            load, distance, variance = at.loadings(t), np.abs(self.value - t) * size, at.variance(t, UNSEEN)
            variance *= np.clip(t / np.maximum(self.value, 1e-300), 1.0, SKEW)
            s, b = split(self.law, load)
            return given(2 * tail(distance, np.sqrt(variance + s**2), b), distance, variance, load)

        low, high = accepted(p_value, self.value, 0.0, 0.25, 1 - level)
        low, high = np.where(self.unclear, 0.0, low), np.where(self.unclear, 0.25, high)
        return self.scale * low, self.scale * high


def of_sums(inversion: Inversion) -> Inversion:
    """Return the inversion by which a term reaches within a sum of several: without allowances for whole rows.

    A share moves in steps of a row, for which its own interval allows.  Sums and differences of several shares move in
    finer steps: with the allowances of each they are conservative, and [Newcombe 1998] makes none.
    """
    if isinstance(inversion, RatioInversion):
        return replace(inversion, continuity=0.0)
    # counts without a public number of rows keep the exact limits
    if isinstance(inversion, CountInversion) and inversion.n is not None:
        return replace(inversion, mid=True)
    return inversion


def central(mean: Array) -> tuple[Array, Array]:
    """Return the weights of power sums 0 to 4 that make sum (x - mean)**2 and sum (x - mean)**4, shapes (m, 5)."""
    one, zero = np.ones_like(mean), np.zeros_like(mean)
    second = np.stack([mean**2, -2 * mean, one, zero, zero], axis=-1)
    return second, np.stack([mean**4, -4 * mean**3, 6 * mean**2, -4 * mean, one], axis=-1)


def floored(raw: Array, loadings: Array, law: Law, most: Array) -> Array:
    """Return a noisy variance, raised to FLOOR standard deviations of its noise and cut to `most`, shape (m,)."""
    noise = np.sqrt((loadings**2).sum(axis=-1) * law.variance())
    return np.minimum(np.maximum(raw, FLOOR * noise), most)
