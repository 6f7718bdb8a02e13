"""Two published conditions beside what is right, sections of `rules_in_print`.

Lei's condition on cells (2011, §4.3; theory E22) by drawing the largest noise; Chen & Sung's Theorem 3.2 (theory E18)
by drawing exponential blocks.  Designs were committed before they were simulated.  Seeds are constants.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.method.shared.block_numbers import published_for_parties

# The designs: committed before anything was simulated ----------------------------------------------------------------

ROWS, CELLS = 250_070, 10 * 10 * 4 * 6
ALPHAS = (0.1, 0.5, 1.0)
RATE, BOX = 1.0, (0.2, 5.0)
SETTINGS = tuple((m, n, e) for n in (1_000, 10_000) for m in (1, 10, 50) for e in (0.25, 1.0))


def largest_noise(alpha: float, cells: int) -> float:
    """Return the median of the largest |z| of so many Laplace(2/alpha): 1 - exp(-z alpha / 2) is 2**(-1/cells)."""
    return -2 / alpha * math.log(-math.expm1(-math.log(2) / cells))


def blocks_mse(
    parties: int, rows: int, epsilon: float, blocks: int, repeats: int, seed: int
) -> tuple[float, float, float]:
    """Mean squared error x M N I of distributed sample-and-aggregate, its standard error, and the squared bias in it.

    Blocks of the exponential law, maximum likelihood corrected for bias, clamped; the mean of all parties' releases.
    """
    rng, width = np.random.default_rng(seed), BOX[1] - BOX[0]
    sizes = rows // blocks + (np.arange(blocks) < rows % blocks)  # every row in a block
    errors: NDArray[np.float64] = np.empty(repeats)
    for i in range(repeats):
        fits = np.clip(RATE * (sizes - 1) / rng.standard_gamma(sizes, (parties, blocks)), *BOX)
        noise = rng.laplace(0, width / (blocks * epsilon), parties)
        errors[i] = fits.mean() + noise.mean() - RATE
    best = RATE**2 / (parties * rows)  # the information in one row is rate**-2
    scaled = errors**2 / best
    return float(scaled.mean()), float(scaled.std(ddof=1) / math.sqrt(repeats)), float(errors.mean() ** 2 / best)


def cells_table(repeats: int) -> list[str]:
    """Lei's condition, for his own table."""
    rng = np.random.default_rng(20110)
    lines = ["| α | n/c | log c, as printed | (2/α) log c | largest noise, median by formula | simulated |"]
    lines.append("| ---: " * 6 + "|")
    for alpha in ALPHAS:
        drawn = np.median(np.abs(rng.laplace(0, 2 / alpha, (repeats, CELLS))).max(axis=1))
        right, exact = 2 / alpha * math.log(CELLS), largest_noise(alpha, CELLS)
        cell = f"{ROWS / CELLS:.0f} | {math.log(CELLS):.2f} | {right:.1f} | {exact:.1f} | **{drawn:.1f}**"
        lines.append(f"| {alpha} | {cell} |")
    return lines


def parties_table(repeats: int) -> list[str]:
    """Theorem 3.2: simulated, and the noise term as printed and corrected."""
    lines = ["| M | N | ε | k | N/k | simulated × M N I | bias² in it | noise as printed, I N Λ²/(k²ε²) | corrected |"]
    lines.append("| ---: " * 9 + "|")
    for i, (m, n, e) in enumerate(SETTINGS):
        width = BOX[1] - BOX[0]
        k = published_for_parties(n, e, m, width)
        got, error, bias = blocks_mse(m, n, e, k, repeats, 20030 + i)
        noise = n * (width / (k * e)) ** 2 / RATE**2
        what = f"**{got:.3g}** ± {2 * error:.2g} | {bias:.3g} | {noise:.3g} | {2 * noise:.3g}"
        lines.append(f"| {m} | {n:,} | {e} | {k} | {n / k:.1f} | {what} |")
    return lines


def conditions_part(repeats: int) -> tuple[list[str], list[str]]:
    """The sections of the page on Lei's condition and on Theorem 3.2."""
    cells = f"""## Lei (2011), §4.3: how many cells

As printed, a table of n rows may have c cells if n/c is much larger than log c, the order of the largest noise. That
leaves out the scale of the noise, 2/α: the condition is n/c ≫ (2/α) log c. His own table has n = {ROWS:,} and
c = {CELLS:,}; {repeats} draws of the largest noise a line. At α = 0.1 it is above the rows in a cell.
"""
    parties = f"""## Chen & Sung, Theorem 3.2

M parties of N rows, exponential law, box {BOX[0]} to {BOX[1]} (Λ = {BOX[1] - BOX[0]:.1f}), k blocks a party by the
published rule; blocks are fitted by maximum likelihood and corrected for bias; {repeats} repetitions, ± is twice the
Monte-Carlo error. Efficient would be 1. The theorem's noise term lacks a factor of 2, the variance of a Laplace law of
scale b being 2b². The rest is the blocks' own variance and bias: by the published rule they hold few rows here (N/k),
a block of one row fits nothing and is the lower end of the box, and fits of a few rows are often clamped at its upper
end. Up to 2.6 rows a block this bias, not noise, is most of the error. Default blocks have at least 20 rows,
or 10 where many parties are averaged
([figures](sample-and-aggregate.md)).
"""
    return [cells, *cells_table(repeats)], [parties, *parties_table(repeats)]
