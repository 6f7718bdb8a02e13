"""Chen & Sung's Corollary 3.1 by experiment: its condition as printed and with its signs put right (theory E19).

Blocks estimate the variance of normal rows, corrected for bias: a bias of exactly -1/t**2 is left.  The number of
blocks is the best there is, from exact moments.  The design was committed before it was simulated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc

# The design: committed before anything was simulated -----------------------------------------------------------------

BOX = (0.2, 5.0)
SIZES = (10**2, 10**3, 10**4, 10**5, 10**6)


@dataclass(frozen=True)
class Path:
    """Parties and price as N grows.  printed, right: does the condition hold along it, as printed and put right."""

    name: str
    parties: Callable[[int], int]
    epsilon: Callable[[int], float]
    printed: bool
    right: bool
    slope: float
    """Of the excess in N, from M**(1/3) N**(-1/3) epsilon**(-4/3), the best k's at a bias of t**-2."""


PATHS = (
    Path("M = N, ε = N^(-1/6)", lambda n: n, lambda n: n ** (-1 / 6), True, False, 2 / 9),
    Path("M = N^(3/2), ε = N^(-1/3)", lambda n: round(n**1.5), lambda n: n ** (-1 / 3), True, False, 11 / 18),
    Path("M = N, ε = N^(1/4)", lambda n: n, lambda n: n**0.25, True, True, -1 / 3),
    Path("M = 1, ε = 1", lambda n: 1, lambda n: 1.0, False, True, -1 / 3),
    Path("M = 1, ε = N^(-1/12)", lambda n: 1, lambda n: n ** (-1 / 12), False, True, -2 / 9),
)
MOST = 250_000
"""Most blocks of all parties that are simulated; beyond, exact moments alone."""

INFORMATION = 0.5
"""Of one row about the variance, which is 1; the mean is unknown."""


def clamped_moments(t: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and variance of a block's clamped estimate, exactly: (1 + 1/t) / t times a chi-squared of t - 1."""
    a, c = (t - 1) / 2, 2 * (1 + 1 / t) / t
    low, high = BOX[0] / c, BOX[1] / c

    def between(shape: NDArray[np.float64]) -> NDArray[np.float64]:
        return gammainc(shape, high) - gammainc(shape, low)

    below, above = gammainc(a, low), 1 - gammainc(a, high)
    mean = c * a * between(a + 1) + BOX[0] * below + BOX[1] * above
    square = c**2 * a * (a + 1) * between(a + 2) + BOX[0] ** 2 * below + BOX[1] ** 2 * above
    return mean, square - mean**2


def exact_mse(parties: int, rows: int, epsilon: float, blocks: int) -> float:
    """MSE x M N I of the mean of all parties' releases, from the exact moments of clamped blocks."""
    short, more = rows // blocks, rows % blocks
    means, variances = clamped_moments(np.array([short, short + 1.0]))
    share = np.array([blocks - more, more]) / blocks
    bias = float(share @ means) - 1
    noise = 2 * ((BOX[1] - BOX[0]) / (blocks * epsilon)) ** 2
    return (bias**2 + (float(share @ variances) / blocks + noise) / parties) * parties * rows * INFORMATION


def best_blocks(parties: int, rows: int, epsilon: float) -> int:
    """Return the k of the least `exact_mse`, on a fine geometric grid up to blocks of two rows."""
    grid = np.unique(np.geomspace(2, rows // 2, 200).round().astype(int))
    return int(min(grid, key=lambda k: exact_mse(parties, rows, epsilon, int(k))))


def simulated_mse(parties: int, rows: int, epsilon: float, blocks: int, repeats: int, seed: int) -> tuple[float, float]:
    """MSE x M N I by drawing every block of every party, and its standard error."""
    rng = np.random.default_rng(seed)
    t = (rows // blocks + (np.arange(blocks) < rows % blocks)).astype(float)
    errors = np.empty(repeats)
    for i in range(repeats):
        fits = np.clip(rng.standard_gamma((t - 1) / 2, (parties, blocks)) * 2 * (1 + 1 / t) / t, *BOX)
        errors[i] = fits.mean() + rng.laplace(0, (BOX[1] - BOX[0]) / (blocks * epsilon), parties).mean() - 1
    scaled = errors**2 * parties * rows * INFORMATION
    return float(scaled.mean()), float(scaled.std(ddof=1) / math.sqrt(repeats))


def corollary_part(repeats: int) -> tuple[list[str], dict[str, list[float]]]:
    """The section of the page, and the exact MSE x M N I of each path by size, for the picture."""

    def short(value: float) -> str:
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"

    lines = ["| path | printed condition | put right | " + " | ".join(f"N = {n:,}" for n in SIZES)]
    lines[0] += " | simulated, largest N | slope of the excess | by theory |"
    lines.append("| --- | --- | --- " + "| ---: " * (len(SIZES) + 3) + "|")
    found: dict[str, list[float]] = {}
    for j, path in enumerate(PATHS):
        values, seen = [], "–"
        for i, n in enumerate(SIZES):
            m, e = path.parties(n), path.epsilon(n)
            k = best_blocks(m, n, e)
            values.append(exact_mse(m, n, e, k))
            if m * k <= MOST:
                got, error = simulated_mse(m, n, e, k, repeats, 33_000 + 10 * j + i)
                seen = f"{short(got)} ± {short(2 * error)} (exact {short(values[-1])}, N = {n:,})"
        found[path.name] = values
        # the last three sizes: what is asked is where it goes
        excess = np.polyfit(np.log(SIZES[-3:]), np.log(np.array(values[-3:]) - 1), 1)[0]
        words = " | ".join("holds" if one else "fails" for one in (path.printed, path.right))
        cells = " | ".join(f"**{short(one)}**" for one in values)
        lines.append(f"| {path.name} | {words} | {cells} | {seen} | {excess:+.2f} | {path.slope:+.2f} |")
    head = f"""## Chen & Sung, Corollary 3.1

In print: efficient if M = o(N²) and ε = Ω(N^(1/6) M^(-1/3)), so that more parties need *less* ε and more rows *more*.
It is the other way round: ε = ω(N^(-1/6) M^(1/3)) under the paper's own bias of t^(-3/2), ω(N^(-1/4) M^(1/4)) under
one of t^(-2) (theory E19). Here blocks estimate a normal variance, corrected for bias, which leaves exactly −1/t²; box
{BOX[0]} to {BOX[1]:g}; k is the best there is, so that no choice of k is to blame. MSE × M N I from exact moments,
efficient would be 1; {repeats} repetitions with every block drawn, at the largest N of at most {MOST:,} blocks. *By
theory* the excess is of the order M^(1/3) N^(-1/3) ε^(-4/3).
"""
    tail = """
Where the printed condition holds and the right one fails, the error moves away from 1 as N grows; where the printed one
fails and the right one holds, as for a single party at any fixed ε, it goes to 1.
"""
    return [head, *lines, tail], found
