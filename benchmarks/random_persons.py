"""Tables of persons with several rows, drawn at random, each from a seed; a design is a number.

Nothing is chosen by hand but the ranges below.  They were committed before any design was simulated.  A person has
some rows (a law of their number, of which max_rows is below, at, or above the largest), and effects of her own, which
take a drawn share of each column's variance and go with her number of rows.  Columns:

x          a law of `random_tables`, of which cells are missing in some designs
u, y       a regressor within its bounds, and a response that is linear in u and arm in every row
h, c       answers of yes and no, and counts, whose probabilities and means go with u and arm
cost       positive, log-linear in u
g, arm     levels of a person; k: levels of rows, each person having some of them more often than others
w          weights of rows, which go with x
months, died   times, right-censored, whether the event was seen, each row its own; event: without censoring
party      the party of a person
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from random_tables import Array, Design, Table
from scipy.special import expit, ndtr

import tacit as tc

SIZES: Final = ("geometric", "geometric", "Poisson", "heavy", "heavy", "constant")
LIMITS: Final = ("below", "below", "at", "above")
MOST: Final = 300
"""Most rows of a person, of any law."""
LARGE: Final = 100_000
"""Persons of the very large table, at least; otherwise TIMES those of a table."""
TIMES: Final = 16


def _figures(x: float) -> float:
    return float(f"{x:.3g}")


def _parts(rng: np.random.Generator, levels: int) -> tuple[float, ...]:
    shares = rng.dirichlet(np.full(levels, 3.0))
    return tuple(float(one) for one in shares / shares.sum())


@dataclass(frozen=True)
class Persons:
    """One design; number: its seed."""

    number: int

    @cached_property
    def base(self) -> Design:
        """The design of the law of x, its bounds, missing cells, price and relation: the first that suits."""
        place = 7_000_000 + 100 * self.number
        while (one := Design(place)).persons or one.digits or one.zeros or "oisson" in one.law or "binom" in one.law:
            place += 1
        return one

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Everything else that is drawn, in the order of the seed."""
        rng = np.random.default_rng([2026, 11, 27, 24, self.number])
        return {
            "rows": int(float(f"{10 ** rng.uniform(np.log10(500), np.log10(60_000)):.2g}")),
            "sizes": str(rng.choice(SIZES)),
            "size": _figures(rng.uniform(1.3, 9)),
            "tail": _figures(rng.uniform(1.3, 2.5)),
            "limit": str(rng.choice(LIMITS)),
            "times": float(rng.choice([2.0, 10.0])),
            "alike": float(rng.choice([0.0, 0.2, 0.5, 0.9, 1.0])),
            "with_size": float(rng.choice([-0.6, 0.0, 0.0, 0.4, 0.8])),
            "g": _parts(rng, int(rng.integers(2, 5))),
            "k": _parts(rng, int(rng.integers(2, 6))),
            "own": float(rng.choice([0.5, 2.0, 20.0])),
            "constant": bool(rng.random() < 0.5),
            "treated": _figures(rng.uniform(0.2, 0.6)),
            "slope": float(rng.choice([0.0, 0.3, 0.8])),
            "effect": float(rng.choice([0.0, 0.2, 0.6])),
            "level": _figures(rng.uniform(-1.5, 0.8)),
            "censored": _figures(rng.uniform(0.8, 3)),
            "parties": int(rng.integers(2, 6)),
        }

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in {"facts", "base"}:
            raise AttributeError(name)
        return self.facts[name] if name in self.facts else getattr(self.base, name)

    @cached_property
    def mean_size(self) -> float:
        """The mean number of rows of a person."""
        return float(self._sizes(np.random.default_rng([31, self.number]), 400_000).mean())

    @cached_property
    def persons(self) -> int:
        """The number of persons of a table."""
        return max(int(self.rows / self.mean_size), 60)

    @cached_property
    def max_rows(self) -> int:
        """What is declared: the number of rows that 70% to 95% of persons do not reach, the largest, or more."""
        many = self._sizes(np.random.default_rng([31, self.number]), 400_000)
        part = np.random.default_rng([32, self.number]).uniform(0.7, 0.95)
        most = int(many.max())
        return {"below": int(np.quantile(many, part)), "at": most, "above": int(most * self.times)}[self.limit]

    @cached_property
    def ends(self) -> dict[str, tuple[float, float]]:
        """Bounds of all numbers."""
        return {
            "x": (self.base.lower, self.base.upper),
            "u": (-2.0, 2.0),
            "y": (-7.0, 7.0),
            "c": (0.0, 25.0),
            "cost": (0.0, 40.0),
            "w": (0.0, 3.0),
            "months": (0.0, 20.0),
        }

    @property
    def words(self) -> str:
        """The design in a line."""
        law = {"heavy": f"Pareto({self.tail:g})", "constant": f"{round(self.size)}"}.get(
            self.sizes, f"{self.sizes}({self.size:g})"
        )
        price = ", ".join(f"{key} {value:g}" for key, value in self.price.items())
        missing = f", {100 * self.missing:.0f}% missing" if self.missing else ""
        return (
            f"{self.base.law}{missing}, {self.bounds} bounds; {self.persons:,} persons, rows {law}, max_rows "
            f"{self.max_rows:,} ({self.limit}), alike {self.alike:g}, with size {self.with_size:g}; {price}, "
            f"{self.relation}"
        )

    def levels(self, name: str) -> list[str]:
        """The levels of g or k."""
        return [f"{name}{i}" for i in range(len(self.facts[name]))]

    def schema(self) -> tc.Schema:
        """What is declared."""
        ends = self.ends
        return tc.Schema(
            {
                "who": tc.PrivacyUnit(max_rows=self.max_rows),
                "x": tc.Real(*ends["x"]),
                "u": tc.Real(*ends["u"]),
                "y": tc.Real(*ends["y"]),
                "h": tc.Boolean(),
                "c": tc.Integer(0, int(ends["c"][1])),
                "cost": tc.Real(*ends["cost"]),
                "g": tc.Category(self.levels("g"), constant=self.constant),
                "arm": tc.Category(["control", "treated"], constant=self.constant),
                "k": tc.Category(self.levels("k")),
                "w": tc.Real(*ends["w"]),
                "months": tc.Real(*ends["months"]),
                "died": tc.Boolean(),
            }
        )

    def _sizes(self, rng: np.random.Generator, n: int) -> Array:
        made = {
            "geometric": lambda: rng.geometric(1 / self.size, n),
            "Poisson": lambda: 1 + rng.poisson(self.size - 1, n),
            "heavy": lambda: np.floor(rng.random(n) ** (-1 / self.tail)),
            "constant": lambda: np.full(n, round(self.size)),
        }[self.sizes]()
        return np.clip(made, 1, MOST).astype(int)

    def _effect(self, rng: np.random.Generator, size: Array) -> Array:
        """Effects of persons, of variance 1, which go with their number of rows."""
        all_sizes = np.log(self._sizes(np.random.default_rng([31, self.number]), 100_000))
        spread, part = float(all_sizes.std()), self.with_size if self.sizes != "constant" else 0.0
        rank = np.clip((np.log(size) - all_sizes.mean()) / (spread or 1.0), -3, 3)
        return part * rank + np.sqrt(1 - part**2) * rng.normal(0, 1, len(size))

    @cached_property
    def _law(self) -> Array:
        return np.sort(self.base.draw(np.random.default_rng([33, self.number]), 200_001))

    def draw_table(self, rng: np.random.Generator, n: int | None = None) -> Table:
        """Return a table of n persons."""
        n = self.persons if n is None else n
        size = self._sizes(rng, n)
        who = np.repeat(np.arange(n), size)
        rows, a = len(who), np.sqrt(self.alike)
        own = np.sqrt(1 - self.alike)
        person = self._effect(rng, size)
        other = 0.6 * person + 0.8 * rng.normal(0, 1, n)
        z = a * person[who] + own * rng.normal(0, 1, rows)
        x = np.interp(ndtr(z), np.linspace(0, 1, len(self._law)), self._law)
        u = np.clip(0.8 * (0.7 * rng.normal(0, 1, n)[who] + 0.71 * rng.normal(0, 1, rows)), -2, 2)
        treated = rng.random(n) < self.treated
        eta = self.slope * u + self.effect * treated[who]
        error = a * other[who] + own * rng.normal(0, 1, rows)
        event = 8 * rng.exponential(1, rows) * np.exp(-0.5 * eta - 0.4 * a * other[who])
        stopped = 10 * self.censored * rng.uniform(0, 1, rows)
        g = rng.choice(len(self.g), n, p=np.array(self.g))
        return {
            "who": who,
            "x": np.where(rng.random(rows) < self.missing, np.nan, x) if self.missing else x,
            "u": u,
            "y": 0.5 + eta + error,
            "h": rng.random(rows) < expit(self.level + eta + 0.7 * a * other[who]),
            "c": rng.poisson(np.exp(0.1 + 0.5 * eta + 0.4 * a * other[who])),
            "cost": np.exp(0.6 + 0.4 * eta + 0.5 * error),
            "g": np.array(self.levels("g"))[g][who],
            "arm": np.where(treated, "treated", "control")[who],
            "k": np.array(self.levels("k"))[self._kinds(rng, who, n)],
            "w": np.exp(0.3 * np.clip(z, -2, 2)) * rng.uniform(0.5, 1.5, rows),
            "months": np.minimum(event, stopped),
            "died": event <= stopped,
            "event": event,
            "party": np.array(self.names())[rng.choice(self.parties, n)][who],
        }

    def names(self) -> list[str]:
        """The parties."""
        return [f"p{i}" for i in range(self.parties)]

    def _kinds(self, rng: np.random.Generator, who: Array, n: int) -> Array:
        """Levels of rows: each person has shares of her own, the nearer to those of all the larger `own` is."""
        weights = rng.standard_gamma(np.array(self.k) * self.own * len(self.k), (n, len(self.k)))
        below = np.cumsum(weights, axis=1)
        return np.minimum((rng.random(len(who)) * below[who, -1] > below[who].T).sum(axis=0), len(self.k) - 1)

    def large(self) -> Table:
        """Return a very large table of the same law, clamped to the bounds."""
        made = self.draw_table(np.random.default_rng([34, self.number]), max(LARGE, TIMES * self.persons))
        return {name: np.clip(one, *self.ends[name]) if name in self.ends else one for name, one in made.items()}
