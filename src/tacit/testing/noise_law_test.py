"""Whether samples follow a law of noise: a test with power, and with a false-alarm rate that is written down.

Three questions, each answered by a p-value, and Bonferroni's inequality over them:

- *cells*: chi-square over cells of about equal probability, both tails in halves, each expecting `LEAST` draws or more;
- *extreme*: the largest |draw| is too large for the law's tail, or too small: proven bounds, not approximations;
- *repeats*: draws equal to their neighbour, to the draw half an array away or to the one of the call before.  Under the
  law such pairs agree with probability at most P(Z = 0), as 0 is the most likely value.

The false-alarm rate of `.passed` is `FALSE_ALARM` = 1e-6.  Only the first p-value is an approximation, for which each
cell expects `LEAST` = 100 draws or more and the decision is made at half the level.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.noise.laws import Law

Ints: TypeAlias = NDArray[np.int64]
Sampler: TypeAlias = Callable[[int], NDArray[np.int64]]

FALSE_ALARM: Final = 1e-6
CELLS: Final = 64
LEAST: Final = 100


@dataclass(frozen=True)
class NoiseLaw:
    """Outcome of `noise_law`: three p-values, and how much was looked at.

    `p_cells` chi-square of the cells, `p_extreme` the largest draw, `p_repeats` draws that repeat others.

    >>> NoiseLaw(0.4, 1e-9, 0.2, draws=1_000, cells=20).passed
    False
    """

    p_cells: float
    p_extreme: float
    p_repeats: float
    draws: int
    cells: int

    @property
    def p_value(self) -> float:
        """Bonferroni over the three questions."""
        return min(1.0, 3 * min(self.p_cells, self.p_extreme, self.p_repeats))

    @property
    def passed(self) -> bool:
        """No evidence against the law, at a false-alarm rate of 1e-6."""
        return self.p_value > FALSE_ALARM / 2

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "failed"
        parts = f"cells {self.p_cells:.2g}, extreme {self.p_extreme:.2g}, repeats {self.p_repeats:.2g}"
        return f"{verdict}: p = {self.p_value:.2g} ({parts}; {self.draws:,} draws, {self.cells} cells)"


def noise_law(sample: Sampler, law: Law, *, draws: int = 100_000, calls: int = 1) -> NoiseLaw:
    """Test `draws` values of `sample(size)`, an int64 array, against a law on the integers.

    `calls` > 1 spreads the draws over so many calls, and then a sampler that answers each call alike (a seed, a forked
    state) is found too.  A scale 10% off fails with 20,000 draws for scales of 1/3 or more (tests); for smaller ones
    nearly all draws are 0, and draws * P(Z != 0) should be 5,000 or more.

    >>> from fractions import Fraction
    >>> from tacit.noise.laws import DiscreteLaplace
    >>> law, wrong, rng = DiscreteLaplace(Fraction(5)), DiscreteLaplace(Fraction(11, 2)), np.random.default_rng(0)
    >>> noise_law(lambda size: law.sample(size, rng), law).passed
    True
    >>> noise_law(lambda size: wrong.sample(size, rng), law).passed
    False
    >>> noise_law(lambda size: law.sample(size, np.random.default_rng(7)), law, calls=2).passed
    False
    """
    size = max(1, draws // calls)
    parts = [np.asarray(sample(size), dtype=np.int64) for _ in range(calls)]
    x = np.concatenate(parts)
    edges = _edges(law, len(x))
    return NoiseLaw(_cells(x, edges, law), _extreme(x, law), _repeats(parts, law), len(x), len(edges) + 1)


def _edges(law: Law, draws: int) -> Ints:
    """Upper ends of all cells but the last, which is open: each cell expects `LEAST` draws or more."""
    cells = max(1, min(CELLS, draws // (2 * LEAST)))
    even = np.arange(1, cells, dtype=np.float64) / cells
    halved = 0.5 ** np.arange(1, 40, dtype=np.float64)
    tail = halved[(halved < 1 / cells) & (halved * draws >= 2 * LEAST)]
    candidates = np.unique(_quantiles(law, np.concatenate([even, tail, 1 - tail]).astype(np.float64)))
    edges: list[int] = []
    below = 0.0
    for edge, cdf, sf in zip(candidates, law.cdf(candidates), law.sf(candidates), strict=True):
        if (cdf - below) * draws >= LEAST and sf * draws >= LEAST:
            edges.append(int(edge))
            below = float(cdf)
    return np.array(edges, dtype=np.int64)


def _quantiles(law: Law, probability: NDArray[np.float64]) -> Ints:
    """Smallest k with P(Z <= k) >= probability: gallop, then halve."""
    low, high = np.full(len(probability), -1), np.full(len(probability), 1)
    while np.any(found := law.cdf(low) >= probability):
        low = np.where(found, 2 * low, low)
    while np.any(found := law.cdf(high) < probability):
        high = np.where(found, 2 * high, high)
    while np.any(high - low > 1):
        middle = (low + high) // 2
        enough = law.cdf(middle) >= probability
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def _cells(x: Ints, edges: Ints, law: Law) -> float:
    """Pearson's chi-square, no parameter estimated."""
    if len(edges) == 0:
        return 1.0
    from scipy.special import chdtrc  # pyright: ignore

    lower, upper = law.cdf(edges), law.sf(edges)
    inner = np.where(edges[1:] > 0, -np.diff(upper), np.diff(lower))  # on the side of the tail: no digits lost
    expected = np.concatenate([lower[:1], inner, upper[-1:]]) * len(x)
    observed = np.bincount(np.searchsorted(edges, x, side="left"), minlength=len(edges) + 1)
    return float(chdtrc(len(edges), float(np.sum((observed - expected) ** 2 / expected))))  # pyright: ignore


def _extreme(x: Ints, law: Law) -> float:
    """The largest |draw| is too large, by the union bound, or too small: (1 - P(|Z| > largest))**draws."""
    largest = max(abs(int(x.max())), abs(int(x.min())))
    large = len(x) * 2 * float(law.sf(largest - 1)) if largest else 1.0
    small = math.exp(len(x) * math.log1p(-2 * min(0.499999, float(law.sf(largest)))))
    return min(1.0, 2 * min(large, small))


def _repeats(parts: list[Ints], law: Law) -> float:
    """Agreeing pairs at three distances; each count is at most binomial once pairs that share a draw are separated."""
    pairs: list[tuple[Ints, Ints]] = []
    for part in parts:
        half = len(part) // 2
        pairs += [(part[0 : 2 * half : 2], part[1 : 2 * half : 2]), (part[:half], part[half : 2 * half])]
    pairs += list(pairwise(parts))
    found = [_agree(int(np.sum(a == b)), len(a), float(law.pmf(0))) for a, b in pairs if len(a)]
    return min(1.0, len(found) * min(found, default=1.0))


def _agree(equal: int, pairs: int, most: float) -> float:
    """P(Binomial(pairs, most) >= equal): pairs agree independently, each with probability sum pmf**2 <= max pmf."""
    from scipy.special import bdtrc  # pyright: ignore

    return 1.0 if equal == 0 else float(bdtrc(equal - 1, pairs, min(1.0, most)))  # pyright: ignore
