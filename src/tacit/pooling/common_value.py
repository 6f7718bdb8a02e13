"""One and the same quantity in all parties: the weighted sum of their estimating equations.  Pure array functions.

Party j has weight a_j = 1 / (c + p_j / N_j), where p_j is the noise variance of D_j, known, and c the sampling variance
of a row, estimated from all parties together, once (theory §6: inverse-variance weights, one re-weighting).  Of blocks,
whose sizes differ from party to party, each party has its own c, as far as noise leaves it clear.  Fixed
weights leave the sum of D_j(x) zero on average at the truth; so that they do not follow a party's own noise, the size
in them is corrected for what it shares with D_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.error_laws import halfwidth, tail
from tacit.estimates.interval_inversion import CONTINUITY, FLOOR, accepted
from tacit.noise.laws import DiscreteLaplace, Law, RoundedNormal
from tacit.pooling.evidence import START, Evidence

WIDE: Final = Fraction(10**6)
NOISES: Final = 16
"""A sum of many noises is told as that of so many, of the same variance and kurtosis."""
ALIKE: Final = 0.5
"""Sampling variances of a row are shrunk to the pooled one as if they differed by this part of it (sd) in truth."""
SHARP: Final = 0.95
"""A pooled size that is not above the 97.5% point of its noise says nothing."""


@dataclass(frozen=True)
class Pooled:
    """Estimates of T quantities, in x; `weights` of shape (M, T), and what the interval needs.

    x, variance (sampling), noise (privacy), excess (fourth cumulant of the noise, as the variance of one Laplace
    variable that has it): shape (T,).  unclear: where the pooled size is not clearly above 0.
    """

    evidence: Evidence
    weights: Array
    x: Array
    variance: Array
    noise: Array
    excess: Array
    unclear: NDArray[np.bool_]
    size: Array
    reach: Array
    sampled: bool

    @property
    def value(self) -> Array:
        """In the column's units, shape (T,)."""
        return self.evidence.shift + self.evidence.scale * self.x

    @property
    def shares(self) -> Array:
        """Weights of the parties' own estimates, adding up to 1 over them, shape (M, T)."""
        part = self.weights * np.maximum(self.evidence.size, 0.0)
        return part / np.maximum(part.sum(axis=0), 1e-300)

    def interval(self, level: float) -> tuple[Array, Array]:
        """Lower and upper limits: all x at which the weighted sum of D(x) is no surprise (Fieller's argument)."""
        found, low, high = self.evidence, *self.evidence.bounds
        size = np.maximum((self.weights * found.size).sum(axis=0), self.weights.max(axis=0))
        step = CONTINUITY * self.weights.max(axis=0) if found.kind == "share" and self.sampled else 0.0

        def p_value(x: Array) -> Array:
            spread, noise, excess = spreads(found, self.weights, x, self.sampled)
            distance = np.maximum(np.abs(self.x - x) * size - step, 0.0)
            return np.where(distance > 0, 2 * tail(distance, *law(spread, noise, excess)), 1.0)

        ends = accepted(p_value, self.x, low, high, 1 - level)
        lower, upper = np.where(self.unclear, low, ends[0]), np.where(self.unclear, high, ends[1])
        return found.shift + found.scale * lower, found.shift + found.scale * upper


def pooled(found: Evidence, *, sampled: bool = True, equal: bool = False) -> Pooled:
    """Evidence -> the common quantity.

    sampled=False: the tables are all there is, so every row counts alike, and only noise is an error.  equal: every row
    counts alike, sampling error counted.
    """
    first, row = START[found.kind]
    x = np.full(found.size.shape[1], first)
    c = row * found.proportion
    a = np.ones_like(found.size)
    for _ in range(1 if equal or not sampled else 2):  # a start that knows the noise, then the re-weighting
        if not equal and sampled:
            a = 1 / (c + found.weighing(x) / steady_sizes(found, x, c))
        x = solution(found, a)
        c = row_variance(found, a, x) if found.spread is None else own_variances(found, x, np.maximum(found.size, 1.0))
    size = (a * found.size).sum(axis=0)
    noises = _noises(found, a, found.loads[0])
    reach = halfwidth(SHARP, *law(0 * noises[0], *noises))
    variance, noise, excess = spreads(found, a, x, sampled)
    usable = np.maximum(size, a.max(axis=0))
    if found.kind == "share" and sampled:
        variance = np.maximum(variance, FLOOR * a.max(axis=0) ** 2)  # as of one release: where no row says yes
    shown = size, reach
    unclear = size <= reach
    most = np.where(unclear, np.minimum(1.0, 0.25 / np.maximum((variance + noise) / usable**2, 1e-300)), 1.0)
    scale = most / usable**2
    return Pooled(found, a, x, variance * scale, noise * scale, excess * scale, unclear, *shown, sampled)


def solution(found: Evidence, a: Array) -> Array:
    """The x at which the weighted sum of D is zero, within its bounds."""
    size = np.maximum((a * found.size).sum(axis=0), a.max(axis=0))
    return np.clip((a * found.total).sum(axis=0) / size, *found.bounds)


def spreads(found: Evidence, a: Array, x: Array, sampled: bool) -> tuple[Array, Array, Array]:
    """Of the weighted sum of D(x): sampling variance, noise variance, and the variance that carries its kurtosis.

    The sampling variance is at least FLOOR standard deviations of its own noise, at most what bounded values can have;
    of blocks of known sizes, that of all parties in proportion to these.
    """
    noise, excess = _noises(found, a, found.load(x))
    if not sampled:
        return np.zeros_like(noise), noise, excess
    if found.proportionate:  # noise on the variances of large blocks is larger than these
        used = np.maximum(found.size, 0.0)
        return (a**2 * used * own_variances(found, x, np.maximum(used, 1.0))).sum(axis=0), noise, excess
    raw = (a**2 * found.sampling(x)).sum(axis=0)
    own = np.sqrt((a**4 * found.sampling_noise(x)).sum(axis=0))
    size = np.maximum((a**2 * np.maximum(found.size, 0.0) * found.cap(x)).sum(axis=0), 0.0)
    if found.kind == "share":
        return size, noise, excess
    rows = np.maximum(found.size.sum(axis=0), 2.0)
    return np.minimum(np.maximum(raw, FLOOR * own) * rows / (rows - 1), size), noise, excess


def law(variance: Array, noise: Array, excess: Array) -> tuple[Array, Array]:
    """Normal sd and Laplace scale, shapes (T,), (T, 1), of a sum of many noises: variance and kurtosis kept.

    Laplace noises of variances v_i have the fourth cumulant 3 sum v_i**2: that of one of variance sqrt(sum v_i**2), the
    rest of the variance taken as normal.  One noise alone is itself.
    """
    inner = np.minimum(excess, noise)
    return np.sqrt(variance + noise - inner), np.sqrt(inner / 2)[..., None]


def _noises(found: Evidence, a: Array, load: Array) -> tuple[Array, Array]:
    """Noise variance of sums weighted by a, and the variance of one Laplace variable of the same fourth cumulant."""
    each = a[..., None] ** 2 * load**2 * found.noise[:, None, :]
    return each.sum(axis=(0, 2)), np.sqrt(((each * found.laplace[:, None, :]) ** 2).sum(axis=(0, 2)))


def steady_sizes(found: Evidence, x: Array, c: Array) -> Array:
    """Sizes for the weights, uncorrelated with D(x): at least one row."""
    size, own = found.likely_size()
    slope = own * found.with_size(x) / np.maximum(np.maximum(size, 1.0) * c + found.privacy(x), 1e-300)
    return np.maximum(size - slope * found.distance(x), 1.0)


def own_variances(found: Evidence, x: Array, size: Array) -> Array:
    """Sampling variance of a row's part of D in each party, shape (M, T): own C(x) / size, shrunk to that of all."""
    used = np.maximum(found.size, 0.0)
    total = np.maximum((used * found.proportion).sum(axis=0), 1.0)
    middle = np.broadcast_to(x, size.shape)
    own = found.sampling(middle) / size
    noise = found.sampling_noise(middle) / size**2
    all_noise = np.sqrt(found.sampling_noise(middle).sum(axis=0)) / total
    common = np.maximum(found.sampling(middle).sum(axis=0) / total, FLOOR * all_noise)
    common = np.maximum(np.minimum(common, (used * found.cap(middle)).sum(axis=0) / total), 1e-12) * found.proportion
    prior = (ALIKE * common) ** 2
    drawn = 2 * common**2 / size  # of a sample variance, were values normal
    keep = prior / (prior + noise + drawn)
    made = common + keep * (own - common)
    return np.minimum(np.maximum(made, 0.05 * common), np.maximum(found.cap(middle), 0.05 * common))


def row_variance(found: Evidence, a: Array, x: Array) -> Array:
    """Sampling variance of a row's part of D, from all parties."""
    size = np.maximum((a * found.size).sum(axis=0), a.max(axis=0))
    raw = (a * found.sampling(x)).sum(axis=0)
    own = np.sqrt((a**2 * found.sampling_noise(x)).sum(axis=0))
    most = (a * np.maximum(found.size, 0.0) * found.cap(x)).sum(axis=0)
    return np.maximum(np.minimum(np.maximum(raw, FLOOR * own), most) / size, 1e-12)


def noises(variance: Array, excess: Array) -> tuple[Law, Array]:
    """A law, and loadings of shape (T, k), whose sum has this variance, and the kurtosis of a Laplace variable's share.

    One noise of variance x and 15 that share the rest: x**2 + (variance - x)**2 / 15 = excess**2.
    """
    normal: Any = RoundedNormal(WIDE)
    if not (excess > 0).any():
        return normal, np.sqrt(variance / normal.variance())[:, None]
    law = DiscreteLaplace(WIDE)
    rest = NOISES - 1
    root = np.sqrt(np.maximum((1 + 1 / rest) * excess**2 - variance**2 / rest, 0.0))
    first = np.clip((variance / rest + root) / (1 + 1 / rest), variance / NOISES, variance)
    each = np.concatenate([first[:, None], np.repeat((variance - first)[:, None] / rest, rest, axis=1)], axis=1)
    return law, np.sqrt(each / law.variance())
