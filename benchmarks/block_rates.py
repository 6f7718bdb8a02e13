"""Smith's Theorem 3.1 by experiment: rate, normality and efficiency of sample-and-aggregate, for `rules_in_print`.

Exponential rows; blocks are fitted by maximum likelihood and corrected for bias, clamped to a box and averaged.
The design was committed before it was simulated.  Seeds are constants.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.method.shared.block_numbers import blocks_for, published_blocks

# The design: committed before anything was simulated -----------------------------------------------------------------

BOXES = ((0.5, 2.0), (0.2, 5.0))
SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)
EPSILON = 1.0
POWERS = (12, 6, 4)
"""Paths of falling prices: epsilon is n**(-1 / power)."""
PATH_SIZES = (10**3, 10**5, 10**7)
FEW, MANY = 1_000, 25_000
"""Up to so many blocks a hundred and ten times as many repetitions; beyond, four times."""
SECOND = (2.1, 1.0)
"""Second-order variance and bias of a block of the exponential law, as `blocks_for` takes them (theory §2)."""

RATE = 1.0
"""The parameter; the information in one row is its inverse square."""


@dataclass(frozen=True)
class Errors:
    """Errors of the private estimate and of maximum likelihood on the same rows, shape (repetitions,) each."""

    rows: int
    private: NDArray[np.float64]
    likelihood: NDArray[np.float64]

    def ratio(self) -> tuple[float, float]:
        """Ratio of the mean squared errors and its standard error, by the delta method."""
        a, b = self.private**2, self.likelihood**2
        ratio = a.mean() / b.mean()
        return float(ratio), float((a - ratio * b).std(ddof=1) / (b.mean() * math.sqrt(len(a))))

    def kurtosis(self) -> float:
        """Excess kurtosis, 0 of a normal law."""
        off = self.private - self.private.mean()
        return float((off**4).mean() / (off**2).mean() ** 2 - 3)

    def within(self) -> float:
        """Share of errors within 1.96 standard errors of an efficient estimate, 0.95 where the theorem's law holds."""
        return float((np.abs(self.private) < 1.959964 * RATE / math.sqrt(self.rows)).mean())


def blocks_errors(
    rows: int, epsilon: float, blocks: int, box: tuple[float, float], repeats: int, rng: np.random.Generator
) -> Errors:
    """Draw releases of sample-and-aggregate, and maximum likelihood on the same rows."""
    sizes = (rows // blocks + (np.arange(blocks) < rows % blocks)).astype(float)  # every row in a block
    private: list[NDArray[np.float64]] = []
    likelihood: list[NDArray[np.float64]] = []
    left, most = repeats, max(1, 2_000_000 // blocks)
    while left:
        sums = rng.standard_gamma(sizes, (min(left, most), blocks)) / RATE
        noise = rng.laplace(0, (box[1] - box[0]) / (blocks * epsilon), len(sums))
        private.append(np.clip((sizes - 1) / sums, *box).mean(axis=1) + noise - RATE)
        likelihood.append(rows / sums.sum(axis=1) - RATE)
        left -= len(sums)
    return Errors(rows, np.concatenate(private), np.concatenate(likelihood))


def formula(rows: int, epsilon: float, blocks: int, width: float) -> tuple[float, float]:
    """MSE x n I without clamping, and the excess kurtosis that the noise gives a normal mean of blocks.

    A corrected block of t rows is unbiased and has variance rate**2 / (t - 2); Laplace noise has excess kurtosis 3.
    """
    t = rows / blocks
    noise = 2 * rows * (width / (blocks * epsilon)) ** 2 / RATE**2
    total = t / (t - 2) + noise
    return total, 3 * (noise / total) ** 2


def slope(sizes: Iterable[float], values: Iterable[float]) -> float:
    """Return the slope of log value in log size, by least squares."""
    return float(np.polyfit(np.log(list(sizes)), np.log(list(values)), 1)[0])


def _errors(rows: int, epsilon: float, blocks: int, box: tuple[float, float], repeats: int, seed: int) -> Errors:
    times = repeats * (100 if blocks <= FEW else 10 if blocks <= MANY else 4)
    return blocks_errors(rows, epsilon, blocks, box, times, np.random.default_rng(seed))


def smith_table(repeats: int) -> tuple[list[str], dict[tuple[float, float], list[tuple[float, float]]]]:
    """Lines of the table, and by box the ratios at the published and the default number of blocks, by size."""
    lines = [
        "| box | n | k, published | n/k | MSE ÷ MLE's | by formula | kurtosis | by formula | within, % "
        "| k, default | MSE ÷ MLE's |",
        "| ---: " * 11 + "|",
    ]
    found: dict[tuple[float, float], list[tuple[float, float]]] = {}
    for b, box in enumerate(BOXES):
        width = box[1] - box[0]
        found[box] = []
        for i, n in enumerate(SIZES):
            k, ours = published_blocks(n, EPSILON), blocks_for(n, EPSILON, 1, width / RATE, SECOND)
            old = _errors(n, EPSILON, k, box, repeats, 31_000 + 100 * b + i)
            new = _errors(n, EPSILON, ours, box, repeats, 31_500 + 100 * b + i)
            (ratio, error), (best, doubt) = old.ratio(), new.ratio()
            total, kurtosis = formula(n, EPSILON, k, width)
            lines.append(
                f"| {box[0]} to {box[1]:g} | {n:,} | {k:,} | {n / k:.0f} | **{ratio:.3g}** ± {2 * error:.2g} "
                f"| {total:.3g} | {old.kurtosis():.2f} | {kurtosis:.2f} | {100 * old.within():.1f} | {ours:,} "
                f"| **{best:.3g}** ± {2 * doubt:.2g} |"
            )
            found[box].append((ratio, best))
    return lines, found


def path_table(repeats: int) -> list[str]:
    """MSE ratios along paths of falling prices, at the published number of blocks."""
    lines = ["| ε | " + " | ".join(f"n = {n:,}" for n in PATH_SIZES) + " | slope of the excess | in print |"]
    lines.append("| ---: " * (len(PATH_SIZES) + 3) + "|")
    box = BOXES[0]
    for j, power in enumerate(POWERS):
        ratios, cells = [], []
        for i, n in enumerate(PATH_SIZES):
            epsilon = n ** (-1 / power)
            ratio, error = _errors(n, epsilon, published_blocks(n, epsilon), box, repeats, 32_000 + 10 * j + i).ratio()
            ratios.append(ratio)
            cells.append(f"**{ratio:.3g}** ± {2 * error:.2g}")
        excess = slope(PATH_SIZES, [one - 1 for one in ratios])
        # the excess is n**(-1/5) epsilon**(-6/5) in print
        lines.append(
            f"| n^(-1/{power}) | {' | '.join(cells)} | {excess:+.2f} | {round(-0.2 + 1.2 / power, 2) + 0.0:+.2f} |"
        )
    return lines


def smith_part(repeats: int) -> tuple[list[str], dict[tuple[float, float], list[tuple[float, float]]]]:
    """The section of the page, and what the picture shows."""
    lines, found = smith_table(repeats)
    slopes = [
        (slope(SIZES, [one[0] - 1 for one in found[box]]), slope(SIZES, [one[1] - 1 for one in found[box]]))
        for box in BOXES
    ]
    told = ",\n".join(
        f"{old:+.2f} for the published k and {new:+.2f} for the default one in the box {box[0]} to {box[1]:g}"
        for box, (old, new) in zip(BOXES, slopes, strict=True)
    )
    head = f"""## Smith, Theorem 3.1: rate, normality, efficiency

Sample-and-aggregate at fixed ε = {EPSILON:g}, exponential law, rate 1; the published number of blocks,
k = n^(3/5) ε^(-2/5), beside the default one. Errors are paired with those of maximum likelihood on the same rows;
{10 * repeats:,} repetitions ({100 * repeats:,} up to {FEW:,} blocks, {4 * repeats:,} above {MANY:,}), ± is twice the
Monte-Carlo error. *By formula* is t/(t − 2) + 2nΛ²/(k²ε²) for blocks of t = n/k rows, without clamping. *Kurtosis* is
the excess over a normal law's. *Within* is the share of errors within 1.96/√(nI): 95% where the estimate is normal and
efficient, as the theorem says it becomes.
"""
    rate = f"""
The theorem holds, slowly. Its excess over 1 falls as n^(-1/5) ε^(-6/5) in print; slopes of log excess in log n are
{told}.
(The default one is held to blocks of 20 rows at the smallest n.) The excess has Λ² before it: the wider the box, the
more rows until the estimate is efficient, or nearly normal.

![Excess of the squared error, and paths of Chen & Sung](rules-in-print.svg)

(On the right the paths of Corollary 3.1, below; dashed where its condition, put right, fails.)

The condition on ε: the estimate is efficient where ε falls more slowly than n^(-1/6). At n^(-1/6) the excess stays,
where ε falls faster it grows (Chen & Sung print this condition with the sign inverted, theory E20). Published k, box
{BOXES[0][0]} to {BOXES[0][1]:g}.
"""
    return [head, *lines, rate, *path_table(repeats)], found
