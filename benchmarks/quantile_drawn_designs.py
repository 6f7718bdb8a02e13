"""Designs of benchmarks/quantile_drawn.py, drawn by a generator whose seed is here.  Committed before any simulation.

Each design is a whole cell: a law of rows, given by its quantile function, the probability that is asked for, a number
of rows, a price and a relation.  Jumps and heaps are put within PLACED sampling standard deviations of the quantile,
where they are hardest.  SEEN may be looked at while a rule is chosen; KEPT is for the chosen rule alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import stats

Law = Callable[[np.ndarray], np.ndarray]
SEEN_SEED: Final = 20_261_126
KEPT_SEED: Final = 345_349
EACH: Final = 24
"""Designs of each family, in each of the two sets."""
PLACED: Final = 2.5
"""Sampling standard deviations of a rank within which a jump or the edge of a heap lies from the quantile's."""
SIZES: Final = (200, 1_000, 5_000, 50_000)
PROBS: Final = ("1/2", "1/2", "1/4", "3/4", "9/10")
PRICES: Final[tuple[dict[str, str], ...]] = (
    {"rho": "0.05"},
    {"rho": "0.5"},
    {"epsilon": "1", "delta": "1e-6"},
    {"epsilon": "3", "delta": "1e-6"},
    {"epsilon": "1"},
    {"epsilon": "0.3"},
)
RELATIONS: Final = ("replace-one", "add-remove")
FAMILIES: Final = ("gap", "heap", "heap beside a gap", "zeros, then a gap", "rounded", "clipped at a bound", "smooth")


@dataclass(frozen=True)
class Drawn:
    """One cell: rows are `law` of uniform variables, clipped to the bounds; law rises."""

    family: str
    number: int
    lower: float
    upper: float
    prob: str
    rows: int
    price: tuple[tuple[str, str], ...]
    neighbors: str
    law: Law


def base(rng: np.random.Generator) -> Law:
    """A continuous law between about 0 and 1."""
    kind = rng.integers(5)
    if kind == 0:
        return lambda u: u
    if kind == 1:
        at, sd = rng.uniform(0.3, 0.7), rng.uniform(0.03, 0.15)
        return lambda u: stats.norm.ppf(u, at, sd)
    if kind == 2:
        shape, scale = rng.uniform(0.8, 5), rng.uniform(0.02, 0.1)
        return lambda u: stats.gamma.ppf(u, shape, scale=scale)
    if kind == 3:
        sd, scale = rng.uniform(0.4, 1.2), rng.uniform(0.02, 0.2)
        return lambda u: scale * np.exp(sd * stats.norm.ppf(u))
    a, b = rng.uniform(0.5, 4, 2)
    return lambda u: stats.beta.ppf(u, a, b)


def jump(law: Law, at: float, by: float) -> Law:
    """The law with all above its `at` quantile moved up."""
    return lambda u: law(u) + by * (u > at)


def heap(law: Law, low: float, high: float, at: float) -> Law:
    """The law with equal rows, at its `at` quantile, from probability `low` to `high`."""

    def made(u: np.ndarray) -> np.ndarray:
        below, above = u * at / low, at + (u - high) / (1 - high) * (1 - at)
        return law(np.clip(np.where(u < low, below, np.where(u > high, above, at)), 1e-12, 1 - 1e-12))

    return made


def near(rng: np.random.Generator, p: float, n: int) -> float:
    """A probability near p, at least a tenth of a standard deviation off, within (0.02, 0.98)."""
    z = rng.uniform(0.1, PLACED) * rng.choice([-1, 1])
    return float(np.clip(p + z * np.sqrt(p * (1 - p) / n), 0.02, 0.98))


def law_of(family: str, p: float, n: int, rng: np.random.Generator) -> tuple[float, float, Law]:
    """Bounds and law of a design."""
    law, edge, by = base(rng), near(rng, p, n), rng.uniform(0.05, 0.7)
    share, left = rng.uniform(0.02, 0.5), bool(rng.integers(2))
    # the heap's edge is near the quantile; the other end of it as far as the share, and no further than the rows
    low, high = (max(edge - share, 0.01), edge) if left else (edge, min(edge + share, 0.99))
    upper = rng.uniform(1, 1.5)
    if family == "gap":
        return 0.0, upper + by, jump(law, edge, by)
    if family == "heap":
        return 0.0, upper, heap(law, low, high, rng.uniform(0.1, 0.9))
    if family == "heap beside a gap":
        return 0.0, upper + by, jump(heap(law, low, high, rng.uniform(0.1, 0.9)), high if left else low, by)
    if family == "zeros, then a gap":
        least = by * rng.integers(2)
        return 0.0, upper + by, lambda u: np.where(u <= edge, 0.0, least + law(np.clip((u - edge) / (1 - edge), 0, 1)))
    if family == "rounded":
        h = 1 / rng.integers(5, 60)
        return 0.0, upper, lambda u: h * np.rint(law(u) / h)
    if family == "clipped at a bound":
        end = float(law(np.array(edge)))
        return (0.0, end, law) if p >= 0.5 else (end, end + 1.0, law)
    return 0.0, upper, law


def drawn(seed: int) -> list[Drawn]:
    """The designs of a seed, in order."""
    rng, made = np.random.default_rng(seed), list[Drawn]()
    for family in FAMILIES:
        for number in range(EACH):
            n, prob = SIZES[number % len(SIZES)], PROBS[rng.integers(len(PROBS))]
            price, neighbors = PRICES[rng.integers(len(PRICES))], RELATIONS[rng.integers(2)]
            top, bottom = prob.split("/")
            lower, upper, law = law_of(family, int(top) / int(bottom), n, rng)
            words = tuple(sorted(price.items()))
            made.append(Drawn(family, number, lower, upper, prob, n, words, neighbors, law))
    return made


SEEN: Final = drawn(SEEN_SEED)
KEPT: Final = drawn(KEPT_SEED)
