"""Laws that a column may have of which a mean and a standard deviation are told, each with a weight.

Plans of quantiles need the density of values at the quantile, which neither says.  What is told, and the bounds, make
some shapes likelier than others: a column whose deviation is as large as its mean lies at its lower bound and has a
long tail, and one whose bounds are many deviations away is most often one heap of values with two tails.  The laws here
have the mean and the deviation that are told; their weights say how common such columns are.  They were set on ten laws
(`benchmarks/plan_quantiles.py`), and looked at once on columns that were drawn before (`benchmarks/plan_columns.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.base.lazy_imports import special

POINTS: Final = 2_001
"""Probabilities at which a law is kept."""
P: Final = (np.arange(POINTS) + 0.5) / POINTS
ROUNDS: Final = 60
CLOSE: Final = 0.05
"""A law is kept where its mean is within this part of the standard deviation, and so is its standard deviation."""
BEYOND: Final = 0.02
"""Share of rows beyond a bound at which a law that ignores the bound has 1/e of its weight: bounds hold most values."""
ZEROS: Final = (0.15, 0.3, 0.5, 0.7)
"""Shares of rows at the bound."""
LEAST: Final = 0.03
"""Least part of its weight that such a law keeps: it counts where hardly another law has the mean and deviation."""
FAR: Final = 10.0, 30.0
"""Standard deviations to a bound from which laws of long tails towards it have twice their weight; those that count."""
LEAST_CV: Final = 0.15
"""Deviation over mean from which a law that begins at a bound is one of its own; below, it is like a normal law."""
MOST_CV: Final = 5.0
RARE: Final = 0.1
"""Part of the largest weight below which a law is passed over that is the most extreme of all."""
BINS: Final = 50
"""Bins in which densities of laws are compared."""
SCALES: Final = 1.5, 30.0
"""Least and largest ratio of the scales of two laws that make one."""


@dataclass(frozen=True)
class Laws:
    """Laws on [0, 1] by their quantiles at P, shape (laws, POINTS), with weights that add up to 1, shape (laws,)."""

    quantiles: Array
    weights: Array

    def at(self, p: Array) -> Array:
        """Return the quantiles of probabilities p, shape (laws, p).

        Beyond all rows an end is drawn from what lies between them and the bound: in the middle, on average.
        """
        every = np.concatenate([[0.0], P, [1.0]])
        first, last = self.quantiles[:, :1] / 2, (1 + self.quantiles[:, -1:]) / 2
        laws = np.hstack([first, self.quantiles, last])
        return np.array([np.interp(p, every, one) for one in laws], dtype=np.float64)

    def below(self, x: Array) -> Array:
        """Return the probability of values up to x of all laws together, of the shape of x.

        >>> round(float(laws_of(0.3, 0.1).below(np.array([0.3]))[0]), 1)
        0.5
        """
        each = [np.searchsorted(one, x, side="right") / POINTS for one in self.quantiles]
        return np.asarray(self.weights @ np.array(each), dtype=np.float64)

    def together(self, p: Array) -> Array:
        """Return the quantiles of all laws together, of rising probabilities p.

        >>> round(float(laws_of(0.3, 0.1).together(np.array([0.5]))[0]), 1)
        0.3
        """
        order = np.argsort(self.quantiles, axis=None)
        sums = np.cumsum(np.repeat(self.weights / POINTS, POINTS)[order])
        return np.asarray(np.interp(p, sums / sums[-1], self.quantiles.reshape(-1)[order]), dtype=np.float64)

    def longest(self, p: Array) -> Array:
        """Return the quantiles of the law with the largest fourth moment about its mean; rare laws are passed over."""
        own = self.quantiles
        return self._most(((own - own.mean(axis=1, keepdims=True)) ** 4).mean(axis=1), p)

    def roughest(self, p: Array) -> Array:
        """Return the quantiles of the law with the largest mean square density over BINS bins; not of rare ones."""
        each = [np.histogram(one, BINS, (0.0, 1.0))[0] for one in self.quantiles]
        return self._most((np.array(each, dtype=np.float64) ** 2).sum(axis=1), p)

    def _most(self, by: Array, p: Array) -> Array:
        """Return the quantiles of the law with the largest of these values, rare laws left out."""
        common = np.flatnonzero(self.weights >= RARE * self.weights.max())
        chosen = self.quantiles[common[int(np.argmax(by[common]))]]
        return np.asarray(np.interp(p, P, chosen), dtype=np.float64)


@lru_cache(maxsize=256)
def laws_of(mean: float, sd: float) -> Laws | None:
    """Return laws on [0, 1] with this mean and standard deviation; None where none of them can have both.

    >>> made = laws_of(0.3, 0.1)
    >>> round(float(made.weights.sum()), 6), bool(np.ptp(made.at(np.array([0.5]))) < 0.1)
    (1.0, True)
    """
    if sd <= 0:
        return None
    found = list[tuple[Array, float]]()
    right = (1 - mean) ** 2 / (mean**2 + (1 - mean) ** 2)
    for made, weight in _anchored(mean, sd):
        found.append((made, weight * right))
    for made, weight in _anchored(1 - mean, sd):
        found.append((1 - made[::-1], weight * (1 - right)))
    for shape, weight, side in _shapes():
        made = _fitted(lambda m, s, shape=shape: m + s * shape, mean, sd)
        if made is not None:
            far = {-1: mean / sd, 1: (1 - mean) / sd, 2: max(mean, 1 - mean) / sd}.get(side, 0.0)
            found.append((made[0], weight * _kept(made[1]) * (1 + min(far, FAR[1]) / FAR[0])))
    made = _beta(mean, sd)
    if made is not None:
        found.append((made, 1.0 if min(mean, 1 - mean) > sd else 0.5))
    if not found:
        return None
    weights = np.array([weight for _, weight in found])
    return Laws(np.stack([one for one, _ in found]), weights / weights.sum())


def weighted(values: Array, weights: Array, at: tuple[float, ...]) -> list[float]:
    """Return quantiles of weighted values: the least value up to which so much of the weight lies.

    >>> weighted(np.array([3.0, 1.0, 2.0]), np.array([0.2, 0.3, 0.5]), (0.05, 0.5, 0.95))
    [1.0, 2.0, 3.0]
    """
    order = np.argsort(values)
    sums = np.cumsum(weights[order])
    places = np.searchsorted(sums / sums[-1], np.array(at) - 1e-12)
    return [float(values[order][one]) for one in np.minimum(places, len(values) - 1)]


def shortest(values: Array, weights: Array, mass: float, floor: float) -> tuple[float, float]:
    """Return the shortest range, by the ratio of its ends, that holds this part of the weight.

    floor: is added to both, so that a value of 0 has a ratio.

    >>> shortest(np.array([0.0, 1.0, 1.5, 2.0]), np.array([0.1, 0.4, 0.4, 0.1]), 0.8, 0.01)
    (1.0, 1.5)
    """
    order = np.argsort(values)
    held, sums = values[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    ends: NDArray[np.int64] = np.asarray(np.searchsorted(sums, sums[:-1] + mass * sums[-1] - 1e-12), dtype=np.int64)
    begins = np.flatnonzero(ends <= len(held))
    logs = np.log(held + floor)
    best = begins[np.argmin(logs[ends[begins] - 1] - logs[begins])]
    return float(held[best]), float(held[ends[best] - 1])


def heaped(laws: Laws, unit: float, first: float, share: float) -> Laws:
    """Return the laws with this share of values moved to the nearest of `first` plus multiples of a unit."""
    if not share:
        return laws
    # the golden ratio spreads the rows that are moved evenly over the ranks
    moved = (np.arange(POINTS) * 0.6180339887498949) % 1 < share
    told = np.clip(first + unit * np.round((laws.quantiles - first) / unit), 0.0, 1.0)
    return Laws(np.sort(np.where(moved, told, laws.quantiles), axis=1), laws.weights)


def _kept(beyond: float) -> float:
    """Return the part of its weight that a law keeps of which this share of rows is cut to the bounds."""
    return max(math.exp(-beyond / BEYOND), LEAST)


def _anchored(mean: float, sd: float) -> Iterator[tuple[Array, float]]:
    """Yield laws that begin at 0, with a share at 0 or none, and their weights."""
    # densities without end at the bound are rarer than its heaps
    rare = min(1.0, (mean / sd) ** 2)
    laws = [(_begun(_gamma, 0.0), rare), (_begun(_lognormal, 0.0), 1.0), (_begun(_weibull, 0.0), 0.5 * rare)]
    laws += [(_begun(begin, share), 0.25) for share in ZEROS for begin in (_gamma, _lognormal)]
    laws += [(_two_scales(0.7), 0.5), (_two_scales(0.85), 0.5), (_far_from_zeros, 0.5)]
    for law, weight in laws:
        made = _fitted(law, mean, sd)
        if made is not None:
            yield made[0], weight * _kept(made[1])


def _begun(begin: Callable[[float, Array], Array], share: float) -> Callable[[float, float], Array]:
    """Return the law of a share of zeros, and other values of the law that `begin` gives of a cv."""

    def law(mean: float, sd: float) -> Array:
        own = mean / (1 - share)
        cv = math.sqrt(max((sd * sd + mean * mean) / (1 - share) / own**2 - 1, 0.0)) if own > 0 else math.inf
        if not LEAST_CV <= cv <= MOST_CV:
            return np.full(POINTS, math.nan)
        inner = np.clip((P - share) / (1 - share), 1e-6, 1 - 1e-6)
        return np.where(share > P, 0.0, own * begin(cv, inner))

    return law


def _two_scales(share: float) -> Callable[[float, float], Array]:
    """Return the law of two gamma laws of shape 2, this share of the smaller scale; their ratio gives the cv."""

    def law(mean: float, sd: float) -> Array:
        wanted = (sd / mean) ** 2 if mean > 0 else math.inf
        low, high = 1.0, SCALES[1]
        for _ in range(40):
            r = math.sqrt(low * high)
            own = 1.5 * (share + (1 - share) * r * r) / (share + (1 - share) * r) ** 2 - 1
            low, high = (r, high) if own < wanted else (low, r)
        if not SCALES[0] < low < 0.9 * SCALES[1]:
            return np.full(POINTS, math.nan)
        first = round(share * POINTS)
        each = [np.asarray(special().gammaincinv(2.0, (np.arange(k) + 0.5) / k)) for k in (first, POINTS - first)]
        made = np.sort(np.concatenate([each[0], low * each[1]]))
        return made * (mean / made.mean())

    return law


def _far_from_zeros(mean: float, sd: float) -> Array:
    """Return quantiles of a share of zeros, and one cluster of other values, which lies far from them."""
    own = 0.2  # deviation over mean of what is no zero
    share = 1 - (1 + own**2) * mean**2 / (sd**2 + mean**2)
    if not 0.05 < share < 0.95:
        return np.full(POINTS, math.nan)
    inner = np.asarray(special().ndtri(np.clip((P - share) / (1 - share), 1e-6, 1 - 1e-6)), dtype=np.float64)
    return np.where(share > P, 0.0, mean / (1 - share) * np.maximum(1 + own * inner, 0.0))


def _gamma(cv: float, p: Array) -> Array:
    """Return quantiles of the gamma law of mean 1."""
    return np.asarray(special().gammaincinv(1 / cv**2, p), dtype=np.float64) * cv**2


def _lognormal(cv: float, p: Array) -> Array:
    """Return quantiles of the log-normal law of mean 1."""
    sigma = math.sqrt(math.log1p(cv**2))
    return np.exp(sigma * np.asarray(special().ndtri(p), dtype=np.float64) - sigma**2 / 2)


def _weibull(cv: float, p: Array) -> Array:
    """Return quantiles of the Weibull law of mean 1, whose shape is found by halving."""
    low, high = 0.2, 12.0
    for _ in range(50):
        k = math.sqrt(low * high)
        own = math.exp(math.lgamma(1 + 2 / k) - 2 * math.lgamma(1 + 1 / k)) - 1
        low, high = (k, high) if own > cv**2 else (low, k)
    return (-np.log1p(-p)) ** (1 / low) / math.gamma(1 + 1 / low)


def _beta(mean: float, sd: float) -> Array | None:
    """Return quantiles of the Beta law."""
    size = mean * (1 - mean) / sd**2 - 1
    if size < 0.05:
        return None
    return np.asarray(special().betaincinv(mean * size, (1 - mean) * size, P), dtype=np.float64)


@lru_cache(maxsize=1)
def _shapes() -> tuple[tuple[Array, float, int], ...]:
    """Return quantiles of laws of mean 0 and standard deviation 1 that no bound has made, weights, and long tails."""
    normal = np.asarray(special().ndtri(P), dtype=np.float64)
    long = np.asarray(special().stdtrit(4.0, P), dtype=np.float64)
    logistic = np.log(P / (1 - P))
    skewed = np.asarray(special().gammaincinv(3.0, P), dtype=np.float64)
    tail = (1 - P) ** -0.4  # Pareto's law of index 2.5
    longest = np.asarray(special().stdtrit(2.5, P), dtype=np.float64)
    heavy = np.exp(normal)
    # the side of a long tail: 1 upwards, -1 downwards, 2 both, 0 none
    made = [(normal, 2.0, 0), (logistic, 1.0, 0), (long, 0.5, 2), (P, 0.5, 0), (skewed, 0.5, 0)]
    made += [(-skewed[::-1], 0.25, 0), (longest, 0.2, 2), (heavy, 0.2, 1), (tail, 0.2, 1), (-heavy[::-1], 0.1, -1)]
    made += [(_clusters(share, away), 0.2, 0) for share in (0.3, 0.5, 0.7) for away in (0.15, 0.3)]
    return tuple(((one - one.mean()) / one.std(), weight, side) for one, weight, side in made)


def _clusters(share: float, away: float) -> Array:
    """Return sorted values of two clusters, with this share in the lower; away: their spread over their distance."""
    first = round(share * POINTS)
    each = [np.asarray(special().ndtri((np.arange(k) + 0.5) / k), dtype=np.float64) for k in (first, POINTS - first)]
    return np.sort(np.concatenate([away * each[0], 1 + away * each[1]]))


def _fitted(law: Callable[[float, float], Array], mean: float, sd: float) -> tuple[Array, float] | None:
    """Return a law that has a mean and a deviation once cut to [0, 1], and the share cut off; None where it has not."""
    m, s = mean, sd
    for _ in range(ROUNDS):
        raw = law(m, s)
        made = np.clip(raw, 0.0, 1.0)
        off, own = mean - float(made.mean()), float(made.std())
        if not math.isfinite(off) or own <= 0:
            return None
        if abs(off) < CLOSE * sd / 2 and abs(own - sd) < CLOSE * sd / 2:
            return made, float(((raw < 0) | (raw > 1)).mean())
        # laws that are cut answer less than they are moved: a fixed point all the same
        m, s = m + off, s * sd / own
        if not (abs(m) < 10 and 0 < s < 100):
            return None
    return None
