"""Designs of benchmarks/quantile_gaps.py at prices and relations other than its first ones.  Written before simulation.

Each design has lower and upper bounds, a probability, and a function that draws rows.  HELD was written down together
with the settings below, before any of these cells was simulated; the designs of `quantile_gaps` are older, and were
simulated at pure prices and at a rho before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

Draw = Callable[[np.random.Generator, int], np.ndarray]
Design = tuple[float, float, str, Draw]


def parts(*shares_and_bounds: tuple[float, float, float]) -> Draw:
    """Rows uniform from one value to another with a probability, for each (probability, from, to)."""
    shares, low, high = np.array(shares_and_bounds).T

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        which = rng.choice(len(shares), n, p=shares / shares.sum())
        return rng.uniform(low[which], high[which])

    return draw


def tens(low: int, high: int) -> Draw:
    """Rows on multiples of ten, from 10 low to 10 high."""
    return lambda rng, n: 10.0 * rng.integers(low, high + 1, n)


def normal_parts(share: float, at: tuple[float, float], sd: tuple[float, float]) -> Draw:
    """Two normal laws, the first with probability `share`."""

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        first = rng.random(n) < share
        return np.where(first, rng.normal(at[0], sd[0], n), rng.normal(at[1], sd[1], n))

    return draw


HELD: Final[dict[str, Design]] = {
    "two parts, 10% between them empty, median": (0, 100, "1/2", parts((0.505, 0, 45), (0.495, 55, 100))),
    "two parts, 30% empty, median": (0, 100, "1/2", parts((0.49, 0, 35), (0.51, 65, 100))),
    "two parts, 60% empty, median": (0, 100, "1/2", parts((0.507, 0, 20), (0.493, 80, 100))),
    "two parts, 40% empty, lower quartile": (0, 100, "1/4", parts((0.255, 0, 30), (0.745, 70, 100))),
    "two parts, 60% empty, upper quartile": (0, 100, "3/4", parts((0.755, 0, 20), (0.245, 80, 100))),
    "two parts, 50% empty, upper tenth": (0, 100, "9/10", parts((0.905, 0, 40), (0.095, 90, 100))),
    "two narrow normal parts": (0, 100, "1/2", normal_parts(0.51, (30, 70), (1, 1))),
    "heaps at both bounds, median in the upper": (0, 100, "1/2", parts((0.45, 0, 0), (0.04, 40, 60), (0.51, 100, 100))),
    "multiples of ten, 51% at 40 or below": (
        0,
        100,
        "1/2",
        lambda rng, n: np.where(rng.random(n) < 0.51, tens(1, 4)(rng, n), tens(6, 9)(rng, n)),
    ),
    "51% at one value, others far": (0, 100, "1/2", parts((0.02, 20, 20), (0.495, 21, 21), (0.485, 80, 95))),
}
"""Gaps of 0 to 60% of the bounds at several probabilities, heaps, and ties at the ends of intervals."""
HELD_SMOOTH: Final[dict[str, Design]] = {
    "two parts without a gap": (0, 100, "1/2", parts((0.5, 0, 30), (0.5, 30, 100))),
    "normal, upper tenth": (-8, 8, "9/10", lambda rng, n: rng.normal(0, 1, n)),
    "gamma, lower quartile": (0, 40, "1/4", lambda rng, n: rng.gamma(2, 2, n)),
}
"""Rows without a gap: what a rule against gaps costs."""


@dataclass(frozen=True)
class Setting:
    """A price, a relation, the shares of groups (one: no groups), and whether persons are protected.

    With several groups a table of n rows in the largest group is drawn; groups have the same law, and each is counted.
    """

    price: tuple[tuple[str, str], ...]
    neighbors: str = "replace-one"
    groups: tuple[float, ...] = (1.0,)
    persons: bool = False


FOUR: Final = (1.0, 1.0, 0.5, 0.25)
"""Sizes of four groups, the largest as one."""
TWENTY: Final = (1.0,) * 4 + (0.7,) * 8 + (0.4,) * 8
"""Sizes of twenty groups."""
SETTINGS: Final[dict[str, Setting]] = {
    "ρ = 0.05": Setting((("rho", "0.05"),)),
    "ε = 1, δ = 1e-6": Setting((("epsilon", "1"), ("delta", "1e-6"))),
    "ε = 1": Setting((("epsilon", "1"),)),
    "ε = 1, added or removed": Setting((("epsilon", "1"),), "add-remove"),
    "ρ = 0.05, added or removed": Setting((("rho", "0.05"),), "add-remove"),
    "ε = 1, 4 groups": Setting((("epsilon", "1"),), groups=FOUR),
    "ρ = 0.05, 4 groups": Setting((("rho", "0.05"),), groups=FOUR),
    "ε = 1, 20 groups, added or removed": Setting((("epsilon", "1"),), "add-remove", TWENTY),
    "ε = 1, 4 groups of persons": Setting((("epsilon", "1"),), groups=FOUR, persons=True),
}
SIZES: Final = (200, 1_000, 5_000, 50_000)
"""Rows of a table, or of the largest group.  Where n times epsilon (for rho, sqrt(8 rho)) is 500 or more per group,
rows without a gap may have a reason in at most 5% of releases, and an interval is to hold the truth in at least 93% of
the releases that have none, in every cell."""
