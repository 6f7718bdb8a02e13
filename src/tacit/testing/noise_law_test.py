"""A test whether samples follow a given distribution of noise, with a stated false-alarm rate.

Three tests are combined by Bonferroni's inequality:

- *cells*: chi-square over cells of about equal probability, with tails halved again and again; every cell expects
  `LEAST` draws or more;
- *extreme*: the largest |draw| is too large for the law's tail, or too small, by proven bounds;
- *repeats*: draws equal to the next draw, to the draw half an array away, or to the draw at the same place of the
  previous call.  Under the law such pairs agree with probability at most P(Z = 0), as 0 is the most likely value.

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
"""Probability at most with which samples of the right law fail."""
CELLS: Final = 64
"""Largest number of cells of about equal probability."""
LEAST: Final = 100
"""Smallest expected number of draws in a cell."""


@dataclass(frozen=True)
class NoiseLaw:
    """Outcome of `noise_law`: three p-values, and the numbers of draws and cells.

    `p_cells` is the p-value of the chi-square test, `p_extreme` of the largest draw, `p_repeats` of repeated draws.

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
        """Return the p-value of all three tests by Bonferroni's inequality."""
        return min(1.0, 3 * min(self.p_cells, self.p_extreme, self.p_repeats))

    @property
    def passed(self) -> bool:
        """Return whether there is no evidence against the law, at a false-alarm rate of 1e-6."""
        return self.p_value > FALSE_ALARM / 2

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "failed"
        parts = f"cells {self.p_cells:.2g}, extreme {self.p_extreme:.2g}, repeats {self.p_repeats:.2g}"
        return f"{verdict}: p = {self.p_value:.2g} ({parts}; {self.draws:,} draws, {self.cells} cells)"


def noise_law(sample: Sampler, law: Law, *, draws: int = 100_000, calls: int = 1) -> NoiseLaw:
    """Test `draws` values of `sample(size)`, an int64 array, against a law on the integers.

    `calls` > 1 spreads the draws over that many calls, which also detects a sampler that returns the same draws in each
    call (a seed, a forked state).  A scale 10% off is missed with probability below 1e-9 by 40,000 draws, for scales of
    1/3 or more (tests), and by 20,000 now and then.  For smaller scales nearly all draws are 0, and draws * P(Z != 0)
    should be 10,000 or more.

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
    # equal parts, so that draws at one place of two calls can be compared
    size = max(1, draws // calls)
    parts = [np.asarray(sample(size), dtype=np.int64) for _ in range(calls)]
    x = np.concatenate(parts)
    edges = _edges(law, len(x))
    return NoiseLaw(_cells(x, edges, law), _extreme(x, law), _repeats(parts, law), len(x), len(edges) + 1)


def _edges(law: Law, draws: int) -> Ints:
    """Return the upper ends of all cells but the last, which is open: each cell expects `LEAST` draws or more."""
    cells = max(1, min(CELLS, draws // (2 * LEAST)))
    even = np.arange(1, cells, dtype=np.float64) / cells
    # tails are halved until a cell would expect too few draws
    halved = 0.5 ** np.arange(1, 40, dtype=np.float64)
    tail = halved[(halved < 1 / cells) & (halved * draws >= 2 * LEAST)]
    candidates = np.unique(_quantiles(law, np.concatenate([even, tail, 1 - tail]).astype(np.float64)))
    edges: list[int] = []
    below = 0.0
    for edge, cdf, sf in zip(candidates, law.cdf(candidates), law.sf(candidates), strict=True):
        # quantiles of a discrete law may coincide or leave a cell too small: those edges are dropped
        if (cdf - below) * draws >= LEAST and sf * draws >= LEAST:
            edges.append(int(edge))
            below = float(cdf)
    return np.array(edges, dtype=np.int64)


def _quantiles(law: Law, probability: NDArray[np.float64]) -> Ints:
    """Return the smallest k with P(Z <= k) >= probability, by doubling a bracket and then bisection."""
    low, high = np.full(len(probability), -1), np.full(len(probability), 1)
    while np.any(found := law.cdf(low) >= probability):
        low = np.where(found, 2 * low, low)
    while np.any(found := law.cdf(high) < probability):
        high = np.where(found, 2 * high, high)
    # invariant: cdf(low) < probability <= cdf(high)
    while np.any(high - low > 1):
        middle = (low + high) // 2
        enough = law.cdf(middle) >= probability
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def _cells(x: Ints, edges: Ints, law: Law) -> float:
    """Return the p-value of Pearson's chi-square test of the cells, without estimated parameters."""
    if len(edges) == 0:
        return 1.0
    from scipy.special import chdtrc  # pyright: ignore

    lower, upper = law.cdf(edges), law.sf(edges)
    inner = np.where(edges[1:] > 0, -np.diff(upper), np.diff(lower))  # from the nearer tail, against cancellation
    expected = np.concatenate([lower[:1], inner, upper[-1:]]) * len(x)
    observed = np.bincount(np.searchsorted(edges, x, side="left"), minlength=len(edges) + 1)
    # one degree of freedom less than the len(edges) + 1 cells
    return float(chdtrc(len(edges), float(np.sum((observed - expected) ** 2 / expected))))  # pyright: ignore


def _extreme(x: Ints, law: Law) -> float:
    """Return a bound on the p-value of the largest |draw|, two-sided.

    Too large: at most draws * P(|Z| >= largest), the union bound.  Too small: (1 - P(|Z| > largest))**draws.
    """
    largest = max(abs(int(x.max())), abs(int(x.min())))
    large = len(x) * 2 * float(law.sf(largest - 1)) if largest else 1.0
    # draws are independent; the minimum keeps the logarithm's argument above 0
    small = math.exp(len(x) * math.log1p(-2 * min(0.499999, float(law.sf(largest)))))
    # Bonferroni over the two sides
    return min(1.0, 2 * min(large, small))


def _repeats(parts: list[Ints], law: Law) -> float:
    """Return a bound on the p-value of the numbers of agreeing pairs, at three distances.

    No draw is in two pairs of one comparison, so pairs are independent and each count is at most binomial.
    """
    pairs: list[tuple[Ints, Ints]] = []
    for part in parts:
        half = len(part) // 2
        # disjoint pairs of neighbours, then of halves
        pairs += [(part[0 : 2 * half : 2], part[1 : 2 * half : 2]), (part[:half], part[half : 2 * half])]
    pairs += list(pairwise(parts))
    found = [_agree(int(np.sum(a == b)), len(a), float(law.pmf(0))) for a, b in pairs if len(a)]
    return min(1.0, len(found) * min(found, default=1.0))


def _agree(equal: int, pairs: int, most: float) -> float:
    """Return P(Binomial(pairs, most) >= equal): a pair agrees with probability sum pmf**2 <= max pmf = most."""
    from scipy.special import bdtrc  # pyright: ignore

    return 1.0 if equal == 0 else float(bdtrc(equal - 1, pairs, min(1.0, most)))  # pyright: ignore
