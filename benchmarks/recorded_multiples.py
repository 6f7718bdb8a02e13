"""Columns that are recorded in multiples of a number (whole years, half dollars, fives), declared so or not.

    python benchmarks/recorded_multiples.py [part ...] [--repeats N] [--plain]

Statistics of a histogram: mean, standard deviation and quantiles of a column (population, as it is recorded), and the
slope of a line in it.  A design is told `Real(lower, upper)`, where nothing is known of the multiples, and
`Real(lower, upper, multiple_of=…)`.  Parts: "auto", bins that the library chooses; "own", bins of equal width and edges
that a person typed; "shifted", automatic edges without a declaration, moved by 5/9 or 1/3 of a power of ten, or by half
a unit of one: what a rule could do that does not know the multiples.  Rows and noise are drawn anew in each simulation.
The designs were written down before any of them was simulated.  Seeds are constants.
`--plain` prints rows only; else the tables are written into docs/reference/recorded-multiples.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pages import Part, put, worked
from scipy import stats

import tacit as tc
from tacit.schema.autobins import Size, resolved

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "recorded-multiples.md"
EPSILON = 1.0
ROWS = (2_000, 20_000, 100_000)
PROBS = (0.1, 0.5, 0.9)
SLOPE, SD = 40.0, 8.0
"""Of a response from 0 to 100 on a column in units of its range, and of its errors, which are cut at 3 SD."""
FEWEST = 25_000_000
"""Rows from which the population's statistics are counted, where a formula would be long."""


@dataclass(frozen=True)
class Design:
    """A column within public bounds, floored or rounded to multiples of `unit`; a part of its rows at multiples of `heap`.

    unit 0: not rounded.  declared: what it is declared to be multiples of, where a declaration is tried.  edges: the
    bins that a person would type.
    """

    name: str
    law: Any
    lower: float
    upper: float
    unit: float
    floor: bool
    declared: float
    edges: tuple[float, ...]
    heap: float = 1.0
    share: float = 0.0

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        low, high = self.law.cdf(self.lower), self.law.cdf(self.upper)
        x = self.law.ppf(low + (high - low) * rng.random(rows))
        if self.share:
            x = np.where(rng.random(rows) < self.share, np.round(x / self.heap) * self.heap, x)
        if self.unit:
            x = (np.floor if self.floor else np.round)(x / self.unit + (1e-9 if self.floor else 0)) * self.unit
        return np.clip(x, self.lower, self.upper)

    def response(self, rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
        """Return an exact line in the recorded column, with errors."""
        e = stats.truncnorm.ppf(rng.random(len(x)), -3, 3)
        return 30 + SLOPE * (x - self.lower) / (self.upper - self.lower) + SD * e


DESIGNS = (
    Design("ages, whole years completed", stats.norm(46, 17), 0, 100, 1, True, 1, (0, 18, 30, 45, 65, 80, 100)),
    Design("months of stay, completed", stats.gamma(2, scale=22), 0, 120, 1, True, 1, (0, 6, 12, 24, 36, 60, 120)),
    Design("prices to 0.5", stats.gamma(2.5, scale=6), 0, 90, 0.5, False, 0.5, (0, 5, 10, 15, 20, 30, 50, 90)),
    Design("fees in fives", stats.gamma(3, scale=60), 0, 1_000, 5, False, 5, (0, 50, 100, 200, 300, 500, 1_000)),
    Design(
        "incomes to 100, half in ten thousands", stats.lognorm(0.6, scale=45_000), 0, 300_000, 100, True, 100,
        (0, 20_000, 40_000, 60_000, 100_000, 150_000, 300_000), 10_000, 0.5,
    ),
    Design(
        "hours, whole, 35% in fives", stats.norm(38, 9), 0, 80, 1, True, 1, (0, 10, 20, 30, 40, 50, 80), 5, 0.35
    ),
    Design(
        "weights, continuous, 30% whole", stats.norm(75, 14), 30, 150, 0, False, 0.1,
        (30, 50, 60, 70, 80, 90, 100, 150), 1, 0.3,
    ),
    Design("distances, continuous", stats.gamma(2, scale=14), 0, 100, 0, False, 1, (0, 10, 20, 30, 40, 60, 100)),
    Design("scores, continuous", stats.norm(55, 15), 0, 100, 0, False, 5, (0, 20, 40, 50, 60, 80, 100)),
)  # fmt: skip
