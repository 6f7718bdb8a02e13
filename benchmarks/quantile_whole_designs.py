"""Designs of benchmarks/quantile_whole.py: columns of few different values.  Written before any was simulated.

Each design has lower and upper bounds (the column is an Integer), a probability, and a function that draws rows.  No
quantile is at a jump of the distribution function within half a percent, where any interval has to hold two values.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from quantile_gap_designs import Design, Draw, Setting


def rounded(draw: Draw) -> Draw:
    """The same rows, rounded to whole numbers."""
    return lambda rng, n: np.rint(draw(rng, n))


def heaped(draw: Draw, share: float, unit: int) -> Draw:
    """The same rows, a share of them rounded to multiples of a unit."""

    def heap(rng: np.random.Generator, n: int) -> np.ndarray:
        x = draw(rng, n)
        return np.where(rng.random(n) < share, unit * np.rint(x / unit), np.rint(x))

    return heap


def listed(**shares: float) -> Draw:
    """Rows at some values, v3=0.2 for a fifth of them at 3."""
    values, p = np.array([float(one[1:]) for one in shares]), np.array([*shares.values()])
    return lambda rng, n: rng.choice(values, n, p=p / p.sum())


def halves(share: float, low: tuple[int, int], high: tuple[int, int]) -> Draw:
    """Whole numbers of two ranges, ends included, the lower one with probability `share`."""

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        first = rng.random(n) < share
        return np.where(first, rng.integers(low[0], low[1] + 1, n), rng.integers(high[0], high[1] + 1, n)).astype(float)

    return draw


def ages(rng: np.random.Generator, n: int) -> np.ndarray:
    """Ages from 18 to 93, fewer from 60 on."""
    return 18 + 75 * rng.beta(1.2, 1.8, n)


WHOLE: Final[dict[str, Design]] = {
    "ages, median": (18, 93, "1/2", rounded(ages)),
    "ages, upper tenth": (18, 93, "9/10", rounded(ages)),
    "ages, half of them in fives, lower quartile": (18, 93, "1/4", heaped(ages, 0.5, 5)),
    "ages, most of them in tens, median": (18, 93, "1/2", heaped(ages, 0.9, 10)),
    "five answers, median": (1, 5, "1/2", listed(v1=0.1, v2=0.2, v3=0.4, v4=0.2, v5=0.1)),
    "five answers, none in the middle": (1, 5, "1/2", listed(v1=0.3, v2=0.21, v4=0.29, v5=0.2)),
    "yes or no as 0 or 10": (0, 10, "1/2", listed(v0=0.49, v10=0.51)),
    "visits, upper quartile": (0, 100, "3/4", lambda rng, n: rng.negative_binomial(0.6, 0.1, n).astype(float)),
    "visits, 55% none": (0, 30, "1/2", lambda rng, n: np.where(rng.random(n) < 0.55, 0, 1 + rng.poisson(3, n))),
    "years with a gap of 25": (1950, 2020, "1/2", halves(0.507, (1950, 1970), (1996, 2020))),
    "years with a gap of 50, upper quartile": (1950, 2020, "3/4", halves(0.757, (1950, 1958), (2010, 2020))),
    "months in years": (0, 120, "1/2", lambda rng, n: 12.0 * rng.binomial(10, 0.42, n)),
    "months, most of them in years": (0, 120, "1/4", heaped(lambda rng, n: rng.gamma(3, 14, n), 0.8, 12)),
    "scores in tens": (0, 100, "1/2", lambda rng, n: 10.0 * rng.binomial(10, 0.63, n)),
    "percent, at both ends": (0, 100, "1/2", listed(v0=0.47, v50=0.02, v100=0.51)),
    "days spread evenly": (0, 1000, "1/2", rounded(lambda rng, n: rng.uniform(0, 1000, n))),
    "days in hundreds": (0, 1000, "1/2", lambda rng, n: 100.0 * rng.binomial(10, 0.37, n)),
    "days, two parts far apart": (0, 1000, "1/2", halves(0.506, (10, 60), (900, 960))),
    "grades": (0, 20, "1/2", rounded(lambda rng, n: np.clip(rng.normal(12.3, 2.5, n), 0, 20))),
    "numbers of houses": (0, 4000, "1/4", rounded(lambda rng, n: np.minimum(rng.lognormal(5, 1.2, n), 4000))),
}
"""Of 5 to 4,001 values: even, heaped, and with gaps beside the quantile."""
SETTINGS: Final[dict[str, Setting]] = {
    "ρ = 0.01": Setting((("rho", "0.01"),)),
    "ρ = 0.1": Setting((("rho", "0.1"),)),
    "ε = 0.3": Setting((("epsilon", "0.3"),)),
    "ε = 1": Setting((("epsilon", "1"),)),
    "ε = 1, δ = 1e-6, added or removed": Setting((("epsilon", "1"), ("delta", "1e-6")), "add-remove"),
    "ε = 1, 4 groups": Setting((("epsilon", "1"),), groups=(1.0, 1.0, 0.5, 0.25)),
}
SIZES: Final = (300, 1_000, 10_000)
"""Rows of a table, or of the largest group."""
