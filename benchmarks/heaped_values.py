"""Columns with heaps, declared or not: coverage of means, standard deviations, medians and shares from histograms.

    python benchmarks/heaped_values.py [part ...] [--repeats N] [--plain] [--design TEXT]

`drawn` makes the designs, from a constant seed: a law, a unit at whose multiples a share of all rows is told (rounded to
the nearest, or down), or one value that a share of all rows has, bins, rows and a price.  They were committed before any of
them was simulated.  Each is told `Real(lower, upper)`, and `Real(lower, upper, heaped_at=unit)`.  Parts: "periodic",
"spikes" and "smooth", the same laws without heaps, whose errors are compared with those of the library without the rule
for heaps.  Rows and noise are drawn anew in each simulation.  Seeds are constants.  `--plain` prints rows only; else the
tables are written into docs/reference/heaped-values.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

SEED = 20_261_126
DESIGNS_OF_A_PART = {"periodic": 24, "spikes": 12, "smooth": 12}
PLACES = 200_000
"""Quantiles of the law from which the population's statistics are computed."""
UPPER = 100.0
LAWS: dict[str, tuple[Any, ...]] = {
    "lognormal": tuple(stats.lognorm(s, scale=scale) for s, scale in ((0.4, 25), (0.6, 18), (0.9, 10))),
    "gamma": tuple(stats.gamma(a, scale=24 / a) for a in (1.5, 2.5, 5)),
    "normal": tuple(stats.norm(m, s) for m, s in ((50, 12), (40, 18), (60, 8))),
    "beta": tuple(stats.beta(a, b, scale=100) for a, b in ((1.2, 3), (2, 2), (4, 1.5))),
}
UNITS = (1.0, 2.5, 5.0, 10.0, 20.0)
SHARES = (0.1, 0.3, 0.5, 0.9)
ROWS = (2_000, 20_000, 100_000)
PRICES = (0.3, 1.0, 3.0)
BINS: tuple[Any, ...] = (
    "auto",
    "auto",
    20,
    40,
    80,
    (0, 10, 20, 30, 40, 50, 60, 80, 100),
    (0, 5, 15, 25, 40, 55, 75, 100),
)


@dataclass(frozen=True)
class Design:
    """A column from 0 to 100; share of its rows at multiples of unit, or (spike) at the one value `unit`."""

    part: str
    law_name: str
    law: Any
    unit: float
    share: float
    down: bool
    bins: Any
    rows: int
    price: float

    @property
    def name(self) -> str:
        """The design in words."""
        a, b = (f"{x:.0f}" for x in (self.law.mean(), self.law.std()))
        where = f"{self.share:.0%} {'down to' if self.down else 'at'} multiples of {self.unit:g}"
        where = f"{self.share:.0%} at {self.unit:g}" if self.part == "spikes" else where
        return f"{self.law_name} {a} ± {b}, " + ("no heaps" if self.part == "smooth" else where)

    def told(self, x: np.ndarray) -> np.ndarray:
        """Return values as those tell them who heap."""
        if self.part == "spikes":
            return np.full(len(x), self.unit)
        return np.clip((np.floor if self.down else np.round)(x / self.unit) * self.unit, 0, UPPER)

    def values(self, share: np.ndarray) -> np.ndarray:
        """Return the law's quantiles between the bounds."""
        low, high = self.law.cdf(0), self.law.cdf(UPPER)
        return np.clip(self.law.ppf(low + (high - low) * share), 0, UPPER)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return one table's column."""
        x = self.values(rng.random(self.rows))
        return x if self.part == "smooth" else np.where(rng.random(self.rows) < self.share, self.told(x), x)

    def population(self) -> tuple[np.ndarray, np.ndarray]:
        """Return values in order and the share at or below each."""
        x = self.values((np.arange(PLACES) + 0.5) / PLACES)
        share = 0.0 if self.part == "smooth" else self.share
        both, weight = np.concatenate([x, self.told(x)]), np.repeat([1 - share, share], PLACES) / PLACES
        order = np.argsort(both, kind="stable")
        return both[order], weight[order]


def drawn() -> tuple[Design, ...]:
    """Return the designs of all parts."""
    rng, found = np.random.default_rng(SEED), list[Design]()

    def one(given: Any) -> Any:
        return given[int(rng.integers(len(given)))]

    for part, many in DESIGNS_OF_A_PART.items():
        for _ in range(many):
            name = one(tuple(LAWS))
            law, unit, share, down = one(LAWS[name]), one(UNITS), one(SHARES), bool(rng.random() < 0.25)
            if part == "spikes":
                # half of them on round numbers, where edges are
                unit, share = float(np.round(law.ppf(rng.uniform(0.1, 0.9)), 2)), one((0.05, 0.1, 0.2, 0.4))
                unit = float(5 * np.round(unit / 5)) if rng.random() < 0.5 else unit
            found.append(Design(part, name, law, unit, share, down, one(BINS), one(ROWS), one(PRICES)))
    return tuple(found)


if __name__ == "__main__":
    for design in drawn():
        print(design.name, design.bins, design.rows, design.price)
