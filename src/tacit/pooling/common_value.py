"""Common-effect pooling: one quantity, the same in all parties, from the weighted sum of their estimating equations.

Party j has weight a_j = 1 / (c + p_j / N_j), where p_j is the noise variance of D_j, known, and c the sampling variance
of a row, estimated once from all parties together (theory §6: inverse-variance weights, one re-weighting).  Blocks of
rows differ in size between parties, so there c is estimated for each party and shrunk to the pooled value.  With fixed
weights the sum of a_j D_j(x) has mean zero at the true x; so that weights do not follow a party's own noise, the noisy
size N_j in them is first made uncorrelated with D_j (`decorrelated_sizes`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.noisy_terms.interval_inversion import CONTINUITY, FLOOR, SKEW, UNSEEN
from tacit.estimates.total_errors.accepted_values import accepted
from tacit.estimates.total_errors.error_laws import tail
from tacit.noise.laws import DiscreteLaplace, Law, RoundedNormal
from tacit.pooling.evidence import START, Evidence
from tacit.pooling.presence import Presence, presence

WIDE: Final = Fraction(10**6)
"""Scale of the laws made by `noises`: so wide that their rounding to integers does not matter."""
NOISES: Final = 16
"""A sum of many noises is represented by this many, with the same variance and kurtosis."""
ALIKE: Final = 0.5
"""Prior standard deviation of parties' sampling variances, relative to the pooled one, in the shrinkage towards it."""


@dataclass(frozen=True)
class Pooled:
    """Pooled estimates of T quantities on the scale of x, with what their intervals need.

    weights: shape (M, T).  x, variance (sampling), noise (privacy): shape (T,).  excess: the fourth cumulant of the
    noise, given as the variance of the Laplace variable that has it, shape (T,).  there: whether anybody belongs to a
    cell, by noisy sizes.
    """

    evidence: Evidence
    weights: Array
    x: Array
    variance: Array
    noise: Array
    excess: Array
    there: Presence
    sampled: bool

    @property
    def unclear(self) -> NDArray[np.bool_]:
        """Cells to which nobody may belong, shape (T,): they have the whole range, and a reason."""
        return ~self.there.clear

    @property
    def reasons(self) -> tuple[str | None, ...]:
        """Why cells have no answer, or None."""
        each = zip(self.unclear, self.there.size, self.there.reach, strict=True)
        words = "size of all parties {:,.0f} ± {:,.0f}: not clearly above 0"
        return tuple(words.format(x, q) if bad else None for bad, x, q in each)

    @property
    def value(self) -> Array:
        """The estimates in the column's units, shape (T,)."""
        return self.evidence.shift + self.evidence.scale * self.x

    @property
    def shares(self) -> Array:
        """Weights of the parties' own estimates, adding up to 1 over them, shape (M, T)."""
        # D of a party has slope -size in x, so that its own estimate counts with weight times size
        part = self.weights * np.maximum(self.evidence.size, 0.0)
        return part / np.maximum(part.sum(axis=0), 1e-300)

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return limits of all x at which a test accepts mean 0 of the weighted sum of D(x) (Fieller).

        The test's level is lower where an answer was not certain, so that limits hold given that there is one
        (`Presence.chance`): conservative there.
        """
        found, low, high = self.evidence, *self.evidence.bounds
        # at least the weight of one row: a noisy total of sizes may be 0 or below
        size = np.maximum((self.weights * found.size).sum(axis=0), self.weights.max(axis=0))
        step = CONTINUITY * self.weights.max(axis=0) if found.kind == "share" and self.sampled else 0.0

        def p_value(x: Array) -> Array:
            spread, noise, excess = self._variances(x)
            # |weighted sum of D(x)| from the clipped estimate, which then has p-value 1 and lies in the interval
            distance = np.maximum(np.abs(self.x - x) * size - step, 0.0)
            return np.where(distance > 0, 2 * tail(distance, *law(spread, noise, excess)), 1.0)

        alpha = (1 - level) * self.there.chance(1 - level)
        ends = accepted(p_value, self.x, low, high, alpha)
        lower, upper = np.where(self.unclear, low, ends[0]), np.where(self.unclear, high, ends[1])
        return found.shift + found.scale * lower, found.shift + found.scale * upper

    def _variances(self, x: Array) -> tuple[Array, Array, Array]:
        """Return `weighted_sum_variances` for a test of x: with rows unseen, and squared deviations that grow with x.

        As intervals of one release (`interval_inversion`); estimates of blocks are many, and nearly normal.
        """
        found = self.evidence
        spread, noise, excess = weighted_sum_variances(found, self.weights, x, self.sampled)
        if not self.sampled or found.kind == "share" or found.spread is not None:
            return spread, noise, excess
        cap = self.weights**2 * found.cap(x)
        spread = spread + UNSEEN * cap.max(axis=0)
        if found.kind == "variance":
            spread = spread * np.clip(x / np.maximum(self.x, 1e-300), 1.0, SKEW)
        return np.minimum(spread, (cap * np.maximum(found.size, 1.0)).sum(axis=0)), noise, excess


def pooled(found: Evidence, *, sampled: bool = True, equal: bool = False) -> Pooled:
    """Estimate the quantity that all parties share.

    sampled=False: the tables are the whole population, so all rows weigh the same and noise is the only error.
    equal=True: all rows weigh the same, and sampling error counts.
    """
    first, row = START[found.kind]
    x = np.full(found.size.shape[1], first)
    c = row * found.proportion
    a = np.ones_like(found.size)
    for _ in range(1 if equal or not sampled else 2):  # weights from the known noise and a prior c, then re-weighted
        if not equal and sampled:
            # optimal for estimating equations: slope over variance, N / (N c + p) = 1 / (c + p / N)
            a = 1 / (c + found.weighing(x) / decorrelated_sizes(found, x, c))
        x = solution(found, a)
        c = (
            row_variance(found, a, x)
            if found.spread is None
            else party_row_variances(found, x, np.maximum(found.size, 1.0))
        )
    size = (a * found.size).sum(axis=0)
    there = presence(found)
    variance, noise, excess = weighted_sum_variances(found, a, x, sampled)
    usable = np.maximum(size, a.max(axis=0))
    if found.kind == "share" and sampled:
        # the plug-in variance of a share is 0 where no row (or every row) has the value: the floor of a single release
        variance = np.maximum(variance, FLOOR * a.max(axis=0) ** 2)
    # where the size is unclear the ratio has no useful variance: it is capped at that of a value within its bounds
    capped = np.minimum(1.0, 0.25 / np.maximum((variance + noise) / usable**2, 1e-300))
    most = np.where(there.clear, 1.0, capped)
    scale = most / usable**2
    return Pooled(found, a, x, variance * scale, noise * scale, excess * scale, there, sampled)


def solution(found: Evidence, a: Array) -> Array:
    """Solve the weighted estimating equation for x: the weighted sum of D(x) is zero; x is clipped to its bounds."""
    size = np.maximum((a * found.size).sum(axis=0), a.max(axis=0))
    return np.clip((a * found.total).sum(axis=0) / size, *found.bounds)


def weighted_sum_variances(found: Evidence, a: Array, x: Array, sampled: bool) -> tuple[Array, Array, Array]:
    """Return sampling variance, noise variance and excess (see `Pooled`) of the weighted sum of D(x), shape (T,) each.

    The released sampling variance is noisy: it is kept above FLOOR standard deviations of its own noise and below the
    largest variance of bounded values.  For blocks of several known sizes each party has its own
    (`party_row_variances`).
    """
    # weights are taken as fixed: they follow the noise of D only weakly (`decorrelated_sizes`)
    noise, excess = _noises(found, a, found.load(x))
    if not sampled:
        return np.zeros_like(noise), noise, excess
    if found.proportionate:  # noise on the variances of large blocks is larger than these
        used = np.maximum(found.size, 0.0)
        return (a**2 * used * party_row_variances(found, x, np.maximum(used, 1.0))).sum(axis=0), noise, excess
    # the variance of sum a D is sum a**2 Var D, hence a**4 on the noise of its estimate
    raw = (a**2 * found.sampling(x)).sum(axis=0)
    own = np.sqrt((a**4 * found.sampling_noise(x)).sum(axis=0))
    size = np.maximum((a**2 * np.maximum(found.size, 0.0) * found.cap(x)).sum(axis=0), 0.0)
    if found.kind == "share":
        return size, noise, excess
    # rows / (rows - 1): the deviations are from one x that was estimated from the same rows
    rows = np.maximum(found.size.sum(axis=0), 2.0)
    return np.minimum(np.maximum(raw, FLOOR * own) * rows / (rows - 1), size), noise, excess


def law(variance: Array, noise: Array, excess: Array) -> tuple[Array, Array]:
    """Approximate a sum of errors by a normal plus one Laplace variable: sd (T,) and scale (T, 1), same kurtosis.

    Laplace noises of variances v_i have the fourth cumulant 3 sum v_i**2: that of one of variance sqrt(sum v_i**2), the
    rest of the variance taken as normal.  One noise alone is itself.
    """
    # sqrt(sum v_i**2) <= sum v_i in exact arithmetic; cut, so that the normal variance is not negative
    inner = np.minimum(excess, noise)
    return np.sqrt(variance + noise - inner), np.sqrt(inner / 2)[..., None]


def _noises(found: Evidence, a: Array, load: Array) -> tuple[Array, Array]:
    """Return noise variance and excess (see `Pooled`) of the sum over parties weighted by a, shape (T,) each."""
    # variance of each single noise in the sum, shape (M, T, k); padding has variance 0
    each = a[..., None] ** 2 * load**2 * found.noise[:, None, :]
    return each.sum(axis=(0, 2)), np.sqrt(((each * found.laplace[:, None, :]) ** 2).sum(axis=(0, 2)))


def decorrelated_sizes(found: Evidence, x: Array, c: Array) -> Array:
    """Return sizes for the weights whose noise is uncorrelated with that of D(x), at least 1; shape (M, T)."""
    size, own = found.likely_size()
    # regression of the size's noise on D: their covariance over the variance of D, N c plus its noise
    slope = own * found.with_size(x) / np.maximum(np.maximum(size, 1.0) * c + found.privacy(x), 1e-300)
    return np.maximum(size - slope * found.distance(x), 1.0)


def party_row_variances(found: Evidence, x: Array, size: Array) -> Array:
    """Estimate the sampling variance of a row's part of D in each party, shape (M, T).

    It is the party's own C(x) / size, shrunk to the pooled variance by an empirical-Bayes factor: prior variance over
    prior variance plus error variance of the party's own value.
    """
    used = np.maximum(found.size, 0.0)
    total = np.maximum((used * found.proportion).sum(axis=0), 1.0)
    middle = np.broadcast_to(x, size.shape)
    own = found.sampling(middle) / size
    noise = found.sampling_noise(middle) / size**2
    # the noises of different parties are independent: variances add
    all_noise = np.sqrt(found.sampling_noise(middle).sum(axis=0)) / total
    common = np.maximum(found.sampling(middle).sum(axis=0) / total, FLOOR * all_noise)
    common = np.maximum(np.minimum(common, (used * found.cap(middle)).sum(axis=0) / total), 1e-12) * found.proportion
    prior = (ALIKE * common) ** 2
    drawn = 2 * common**2 / size  # sampling variance of a sample variance of normal values
    keep = prior / (prior + noise + drawn)
    made = common + keep * (own - common)
    return np.minimum(np.maximum(made, 0.05 * common), np.maximum(found.cap(middle), 0.05 * common))


def row_variance(found: Evidence, a: Array, x: Array) -> Array:
    """Estimate the sampling variance of a row's part of D from all parties together, shape (T,)."""
    size = np.maximum((a * found.size).sum(axis=0), a.max(axis=0))
    raw = (a * found.sampling(x)).sum(axis=0)
    own = np.sqrt((a**2 * found.sampling_noise(x)).sum(axis=0))
    most = (a * np.maximum(found.size, 0.0) * found.cap(x)).sum(axis=0)
    return np.maximum(np.minimum(np.maximum(raw, FLOOR * own), most) / size, 1e-12)


def noises(variance: Array, excess: Array) -> tuple[Law, Array]:
    """Return a law and loadings of shape (T, k): the loaded sum of k independent draws has this variance and excess.

    Without excess one normal draw does.  Otherwise one Laplace noise of variance x and NOISES - 1 = 15 that share the
    rest, where x solves x**2 + (variance - x)**2 / 15 = excess**2.
    """
    normal: Any = RoundedNormal(WIDE)
    if not (excess > 0).any():
        return normal, np.sqrt(variance / normal.variance())[:, None]
    law = DiscreteLaplace(WIDE)
    rest = NOISES - 1
    # the larger root of that quadratic; 16 equal Laplace noises have the least excess that can be represented, one
    # alone (x = variance) the largest
    root = np.sqrt(np.maximum((1 + 1 / rest) * excess**2 - variance**2 / rest, 0.0))
    first = np.clip((variance / rest + root) / (1 + 1 / rest), variance / NOISES, variance)
    each = np.concatenate([first[:, None], np.repeat((variance - first)[:, None] / rest, rest, axis=1)], axis=1)
    return law, np.sqrt(each / law.variance())
