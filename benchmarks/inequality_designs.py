"""Designs of benchmarks/inequality.py: laws, bins, rows, prices.  Each set was committed before any was simulated.

SEEN: the designs of the first study, in whose sight the estimator was changed.  FIRST: laws that are not in SEEN; the
estimator may be changed after they were simulated.  KEPT: further ones, for the estimator as it is then, alone.
Values are clamped to the bounds, and so is their truth.  Lower bounds below 0 have no answer by rule (I99), a
histogram's rows have no weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

import tacit as tc

Draw = Callable[[np.random.Generator, int], np.ndarray]


@dataclass(frozen=True)
class Design:
    """A column, values and how many rows; bins as a histogram's; price as a release's.

    relative: sizes of groups, by whose scale values are multiplied; without groups (1,).
    """

    words: str
    draw: Draw
    column: Any
    rows: int
    bins: Any
    price: dict[str, float]
    relation: str = "replace-one"
    groups: tuple[tuple[float, float], ...] = field(default=())

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self.column.lower), float(self.column.upper)


def _zeros(share: float, other: Draw) -> Draw:
    return lambda g, n: np.where(g.random(n) < share, 0.0, other(g, n))


def _lognormal(median: float, sd: float) -> Draw:
    return lambda g, n: median * g.lognormal(0, sd, n)


def _pareto(least: float, index: float) -> Draw:
    return lambda g, n: least * (1 + g.pareto(index, n))


def _heaped(other: Draw, share: float, multiple: float) -> Draw:
    def draw(g: np.random.Generator, n: int) -> np.ndarray:
        x = other(g, n)
        return np.where(g.random(n) < share, multiple * np.rint(x / multiple), x)

    return draw


def _clusters(g: np.random.Generator, n: int) -> np.ndarray:
    return np.where(g.random(n) < 0.7, g.normal(20, 3, n), g.normal(70, 5, n))


SMALL: Final = {"epsilon": 0.5}
ONE: Final = {"epsilon": 1.0}
PAIR: Final = {"epsilon": 1.0, "delta": 1e-6}
RHO: Final = {"rho": 0.02}

_SEEN_LAWS: Final[tuple[tuple[str, Draw, float], ...]] = (
    ("lognormal, sd of log 0.6", _lognormal(30_000, 0.6), 200_000),
    ("gamma of shape 2", lambda g, n: 12_000 * g.gamma(2, 1, n), 150_000),
    ("uniform", lambda g, n: g.uniform(0, 100, n), 100),
    ("30% zeros, else gamma of shape 3", _zeros(0.3, lambda g, n: g.gamma(3, 10, n)), 120),
    ("Pareto of index 3 from 10", _pareto(10, 3), 200),
)
_SEEN_BINS: Final = (20, 50, 150)
_SEEN_PRICES: Final[tuple[dict[str, float], ...]] = ({"epsilon": 1.0}, {"rho": 0.05}, {"epsilon": 0.3})
SEEN: Final = tuple(
    Design(words, draw, tc.Real(0, upper), n, _SEEN_BINS[(i + j + k) % 3], _SEEN_PRICES[(i + 2 * j + k) % 3])
    for i, (words, draw, upper) in enumerate(_SEEN_LAWS)
    for j, n in enumerate((1_000, 10_000))
    for k in range(2)
)
FIRST: Final = (
    Design("lognormal, sd of log 0.8", _lognormal(30_000, 0.8), tc.Real(0, 300_000), 500, 25, ONE),
    Design("lognormal, sd of log 0.8", _lognormal(30_000, 0.8), tc.Real(0, 300_000), 100_000, 100, PAIR),
    Design("lognormal, sd of log 0.8", _lognormal(30_000, 0.8), tc.Real(0, 300_000), 10_000, "auto", ONE),
    Design("lognormal in bounds 30 times wider", _lognormal(30_000, 0.5), tc.Real(0, 1_000_000), 10_000, 50, ONE),
    Design("Pareto of index 2 from 10, clamped", _pareto(10, 2), tc.Real(0, 100), 2_000, 30, ONE),
    Design("Pareto of index 2 from 10, clamped", _pareto(10, 2), tc.Real(0, 100), 100_000, 60, RHO),
    Design("Pareto of index 1.5 in bounds from 10", _pareto(10, 1.5), tc.Real(10, 400), 20_000, 80, SMALL),
    Design("exponential", lambda g, n: g.exponential(10, n), tc.Real(0, 80), 500, 20, SMALL),
    Design("exponential", lambda g, n: g.exponential(10, n), tc.Real(0, 80), 20_000, 80, SMALL),
    Design("15% zeros, else lognormal", _zeros(0.15, _lognormal(25, 0.7)), tc.Real(0, 250), 5_000, 50, ONE),
    Design(
        "60% zeros, else gamma of shape 2",
        _zeros(0.6, lambda g, n: g.gamma(2, 10, n)),
        tc.Real(0, 100),
        50_000,
        100,
        RHO,
    ),
    Design(
        "half at multiples of 5,000, not declared",
        _heaped(_lognormal(30_000, 0.5), 0.5, 5_000),
        tc.Real(0, 150_000),
        20_000,
        60,
        ONE,
    ),
    Design(
        "half at multiples of 5,000, declared",
        _heaped(_lognormal(30_000, 0.5), 0.5, 5_000),
        tc.Real(0, 150_000, heaped_at=5_000),
        20_000,
        60,
        ONE,
    ),
    Design(
        "all multiples of 5, declared",
        _heaped(_lognormal(40, 0.5), 1.0, 5),
        tc.Real(0, 200, multiple_of=5),
        5_000,
        20,
        SMALL,
    ),
    Design(
        "whole numbers from 0 to 20",
        lambda g, n: g.negative_binomial(2, 0.4, n).astype(float),
        tc.Integer(0, 20),
        2_000,
        None,
        SMALL,
    ),
    Design("two clusters", _clusters, tc.Real(0, 100), 1_000, 40, ONE, "add-remove"),
    Design("nearly equal: normal, mean 50, sd 4", lambda g, n: g.normal(50, 4, n), tc.Real(0, 100), 2_000, 50, SMALL),
    Design(
        "three groups of a gamma law",
        lambda g, n: g.gamma(2, 10, n),
        tc.Real(0, 150),
        9_000,
        40,
        ONE,
        groups=((0.6, 1.0), (0.3, 0.5), (0.1, 1.5)),
    ),
)
KEPT: Final = (
    Design("lognormal, sd of log 1", _lognormal(20, 1.0), tc.Real(0, 300), 5_000, 60, ONE),
    Design("lognormal, sd of log 0.4", _lognormal(50, 0.4), tc.Real(0, 200), 500, 20, {"rho": 0.1}),
    Design("lognormal, sd of log 0.7", _lognormal(30_000, 0.7), tc.Real(0, 250_000), 50_000, "auto", SMALL),
    Design("Pareto of index 2.5 from 5, clamped", _pareto(5, 2.5), tc.Real(0, 40), 5_000, 40, ONE),
    Design("Pareto of index 1.2 in bounds from 1", _pareto(1, 1.2), tc.Real(1, 100), 100_000, 100, ONE),
    Design("exponential", lambda g, n: g.exponential(5, n), tc.Real(0, 50), 2_000, 25, PAIR),
    Design("Weibull of shape 0.7", lambda g, n: 10 * g.weibull(0.7, n), tc.Real(0, 120), 20_000, 60, ONE),
    Design(
        "25% zeros, else exponential",
        _zeros(0.25, lambda g, n: g.exponential(10, n)),
        tc.Real(0, 80),
        10_000,
        40,
        SMALL,
    ),
    Design("5% zeros, else lognormal", _zeros(0.05, _lognormal(30, 0.6)), tc.Real(0, 200), 20_000, 80, ONE),
    Design(
        "a third at multiples of 10, not declared",
        _heaped(lambda g, n: g.gamma(3, 15, n), 0.33, 10),
        tc.Real(0, 200),
        10_000,
        40,
        ONE,
    ),
    Design(
        "80% at multiples of 1,000, declared, auto",
        _heaped(_lognormal(8_000, 0.6), 0.8, 1_000),
        tc.Real(0, 60_000, heaped_at=1_000),
        10_000,
        "auto",
        ONE,
    ),
    Design(
        "whole numbers from 0 to 50", lambda g, n: g.poisson(12, n).astype(float), tc.Integer(0, 50), 1_000, None, ONE
    ),
    Design(
        "whole numbers from 0 to 1,000, in bins",
        lambda g, n: np.rint(g.gamma(2, 100, n)),
        tc.Integer(0, 1_000),
        10_000,
        50,
        RHO,
    ),
    Design(
        "a tenth 20 times as rich",
        lambda g, n: np.where(g.random(n) < 0.1, g.normal(80, 6, n), g.normal(4, 1, n)),
        tc.Real(0, 100),
        5_000,
        100,
        ONE,
    ),
    Design(
        "Beta(5, 2) on 0 to 1, private size", lambda g, n: g.beta(5, 2, n), tc.Real(0, 1), 1_000, 30, ONE, "add-remove"
    ),
    Design(
        "two groups of lognormal incomes",
        _lognormal(30, 0.6),
        tc.Real(0, 200),
        4_000,
        40,
        ONE,
        groups=((0.75, 1.0), (0.25, 2.0)),
    ),
)
SETS: Final = {"first": FIRST, "kept": KEPT, "seen": SEEN}
