"""Whether samples follow a law of noise: a test with power, and with a false-alarm rate that is written down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.noise.laws import Law

FALSE_ALARM: Final = 1e-6
CELLS: Final = 60
LEAST: Final = 30.0
"""Expected draws in a cell, so that the chi-square approximation holds."""


@dataclass(frozen=True)
class NoiseLaw:
    """Outcome of `noise_law`: p-values of the cells (chi-square) and of the second moment (normal), draws repeated."""

    p_cells: float
    p_spread: float
    repeated: bool

    @property
    def p_value(self) -> float:
        """Bonferroni of both."""
        return min(1.0, 2 * min(self.p_cells, self.p_spread))

    @property
    def passed(self) -> bool:
        """No evidence against the law at a false-alarm rate of 1e-6."""
        return self.p_value > FALSE_ALARM and not self.repeated


def noise_law(sample: Callable[[int], NDArray[np.int64]], law: Law, *, draws: int = 100_000) -> NoiseLaw:
    """Test `draws` samples against a law: chi-square over up to 60 cells of about equal probability, tails included, and
    the second moment; also whether draws repeat (two samplings that are equal where the law makes that improbable).

    A scale 10% off is noticed with 20,000 draws (tests).

    >>> from fractions import Fraction
    >>> from tacit.noise.laws import DiscreteLaplace
    >>> law, rng = DiscreteLaplace(Fraction(5)), np.random.default_rng(0)
    >>> noise_law(lambda size: law.sample(size, rng), law, draws=20_000).passed
    True
    """
    x = np.asarray(sample(draws), dtype=np.int64)
    edges = _edges(law, len(x))
    return NoiseLaw(_cells(x, edges, law), _spread(x, law), _repeated(x, law))


def _edges(law: Law, draws: int) -> NDArray[np.int64]:
    """Upper ends of the cells, strictly growing, the last cell open."""
    cells = int(max(2, min(CELLS, draws / LEAST)))
    wanted = np.arange(1, cells) / cells
    span = int(60 * max(1.0, float(law.scale)))
    low = np.full(len(wanted), -span, dtype=np.int64)
    high = np.full(len(wanted), span, dtype=np.int64)
    while np.any(low < high):  # smallest k with cdf(k) >= wanted, by bisection
        middle = (low + high) // 2
        enough = law.cdf(middle) >= wanted
        high = np.where(enough, middle, high)
        low = np.where(enough, low, np.minimum(middle + 1, high))
    return np.unique(high)


def _cells(x: NDArray[np.int64], edges: NDArray[np.int64], law: Law) -> float:
    from scipy.stats import chi2  # pyright: ignore

    cdf = np.concatenate([[0.0], law.cdf(edges), [1.0]])
    expected = np.diff(cdf) * len(x)
    observed = np.bincount(np.searchsorted(edges, x, side="left"), minlength=len(edges) + 1)
    keep = expected >= LEAST / 3
    loose = float(expected[~keep].sum())
    statistic = float((((observed - expected) ** 2)[keep] / expected[keep]).sum())
    if loose > 0:
        statistic += float((observed[~keep].sum() - loose) ** 2 / max(loose, 1.0))
    freedom = max(1, int(keep.sum()) - (0 if loose > 0 else 1))
    return float(chi2.sf(statistic, freedom))


def _spread(x: NDArray[np.int64], law: Law) -> float:
    """Second moment against its law; the fourth moment of the law gives the standard error (at most 6 variances)."""
    from scipy.stats import norm  # pyright: ignore

    variance = law.variance()
    if variance * len(x) < 100:  # nearly all zero: the cells say it
        return 1.0
    kurtosis = 6.0 + 1.0 / variance if law.name == "discrete Laplace" else 3.0 + 1.0 / variance
    z = (float(np.mean(x.astype(np.float64) ** 2)) - variance) / (variance * np.sqrt((kurtosis - 1) / len(x)))
    return float(2 * norm.sf(abs(z)))


def _repeated(x: NDArray[np.int64], law: Law) -> bool:
    """Whether the first half is the second half, where that would take a miracle."""
    half = len(x) // 2
    return half >= 50 and law.variance() > 1 and bool(np.array_equal(x[:half], x[half : 2 * half]))
