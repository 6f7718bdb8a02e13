"""Tables drawn at random, each from a seed: laws, heaps, missing cells, weights, bounds, groups, persons, rows, prices.

A design is a number, from which everything else follows; nothing is chosen by hand but the ranges below.  They were
committed before any design was simulated.  Every table has columns x, z (correlated with x), y (linear in both, and a
shift of each group), h (Boolean, logistic in x), c (a count, log-linear in x), g (a group, which shifts x), and w (a
weight that goes with x).  Truths are those of values clamped to the bounds, of a very large table of the same law.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from scipy.special import expit

import tacit as tc

Array = np.ndarray
Table = dict[str, Array]
Draw = Callable[[np.random.Generator, int], Array]

PRICES: Final[tuple[dict[str, float], ...]] = (
    {"epsilon": 0.3},
    {"epsilon": 1},
    {"epsilon": 3},
    {"rho": 0.02},
    {"rho": 0.1},
    {"rho": 0.5},
    {"epsilon": 0.5, "delta": 1e-6},
    {"epsilon": 2, "delta": 1e-7},
)
ERRORS: Final = ("normal", "exponential", "t, 4 df", "wider with x", "10% five times as wide")
LARGE: Final = 600_000


def _law(rng: np.random.Generator) -> tuple[str, Draw]:
    """Return a law, in words, and how it is drawn."""
    a, b = float(f"{rng.uniform(0.4, 6):.2g}"), float(f"{rng.uniform(0.4, 6):.2g}")
    s, far = float(f"{rng.uniform(0.3, 1.2):.2g}"), float(f"{rng.uniform(2, 8):.2g}")
    part, df = float(f"{rng.uniform(0.1, 0.9):.2g}"), int(rng.integers(3, 8))
    mean = float(f"{rng.uniform(0.5, 12):.2g}")

    def mixture(r: np.random.Generator, n: int) -> Array:
        return np.where(r.random(n) < part, r.normal(0, 1, n), r.normal(far, s, n))

    laws: tuple[tuple[str, Draw], ...] = (
        ("normal", lambda r, n: r.normal(0, 1, n)),
        (f"gamma({a})", lambda r, n: r.gamma(a, 1, n)),
        (f"less a gamma({a})", lambda r, n: -r.gamma(a, 1, n)),
        (f"lognormal({s})", lambda r, n: r.lognormal(0, s, n)),
        (f"t({df})", lambda r, n: r.standard_t(df, n)),
        (f"Beta({a}, {b})", lambda r, n: r.beta(a, b, n)),
        (f"uniform and normal({far})", lambda r, n: r.uniform(0, far, n) + r.normal(0, 1, n)),
        (f"Weibull({a})", lambda r, n: r.weibull(max(a, 0.6), n)),
        (f"{part:.0%} normal, else normal({far}, {s})", mixture),
        (f"Poisson({mean})", lambda r, n: r.poisson(mean, n).astype(float)),
        (f"negative binomial({mean}, {a})", lambda r, n: r.poisson(mean * r.gamma(a, 1 / a, n)).astype(float)),
    )
    return laws[int(rng.integers(len(laws)))]


def _round(x: float) -> float:
    return float(f"{x:.3g}")


@dataclass(frozen=True)
class Design:
    """One design; number: its seed."""

    number: int

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Everything that is drawn of the design, in the order of the seed."""
        rng = np.random.default_rng([2026, 11, 27, 17, self.number])
        words, draw = _law(rng)
        x = draw(np.random.default_rng([1, self.number]), 100_000)
        kind = str(rng.choice(["tight", "fair", "fair", "wide"]))
        low, high = np.quantile(x, [0.01, 0.99] if kind == "tight" else [0.0002, 0.9998])
        middle, half = (low + high) / 2, (high - low) / 2 * (4 if kind == "wide" else 1)
        groups = int(rng.integers(2, 7))
        shares = rng.dirichlet(np.full(groups, 2.0))
        return {
            "law": words,
            "draw": draw,
            "bounds": kind,
            "lower": _round(middle - half),
            "upper": _round(middle + half),
            "sd": float(x.std()),
            "mean": float(x.mean()),
            "zeros": _round(rng.uniform(0.05, 0.5)) if rng.random() < 0.2 else 0.0,
            "digits": bool(rng.random() < 0.25),
            "missing": _round(rng.uniform(0.02, 0.3)) if rng.random() < 0.4 else 0.0,
            "rows": int(float(f"{10 ** rng.uniform(2.4, 4.4):.2g}")),
            "persons": bool(rng.random() < 0.2),
            "shares": tuple(float(one) for one in shares / shares.sum()),
            "shift": float(rng.choice([0.0, 0.2, 0.6])),
            "tied": float(rng.choice([0.0, 0.5, 0.9])),
            "slope": float(rng.choice([0.0, 0.3, 1.0])),
            "tilt": float(rng.choice([0.0, 0.5, 1.0])),
            "base": float(rng.choice([-2.5, -1.0, 0.0, 1.5])),
            "errors": str(rng.choice(ERRORS)),
            "relation": str(rng.choice(["replace-one", "add-remove"])),
            "price": PRICES[int(rng.integers(len(PRICES)))],
        }

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self.facts:
            raise AttributeError(name)
        return self.facts[name]

    @property
    def groups(self) -> list[str]:
        """The levels of g."""
        return [f"g{i}" for i in range(len(self.shares))]

    @property
    def words(self) -> str:
        """The design in a line."""
        price = ", ".join(f"{key} {value:g}" for key, value in self.price.items())
        extra = [f"{100 * self.zeros:.0f}% zeros"] * (self.zeros > 0) + ["20 values"] * self.digits
        extra += [f"{100 * self.missing:.0f}% missing"] * (self.missing > 0)
        who = "persons" if self.persons else "rows"
        return f"{self.law}{''.join(', ' + one for one in extra)}, {self.bounds} bounds; {self.rows:,} {who}; {price}"

    def schema(self) -> tc.Schema:
        """What is declared: nothing of heaps, zeros or digits."""
        unit = {"who": tc.PrivacyUnit(max_rows=4)} if self.persons else {}
        return tc.Schema(
            {
                **unit,
                "x": tc.Real(self.lower, self.upper),
                "z": tc.Real(-4, 4),
                "y": tc.Real(-8, 8),
                "h": tc.Boolean(),
                "c": tc.Integer(0, 40),
                "g": tc.Category(self.groups),
                "w": tc.Real(0, 4),
            }
        )

    def draw_table(self, rng: np.random.Generator, n: int | None = None) -> Table:
        """Return a table of n rows (persons, where there are some, of one to four rows each, alike within a person)."""
        n = self.rows if n is None else n
        who = np.arange(n)
        if self.persons:
            who = np.repeat(who, rng.integers(1, 5, n))
        size, sd = len(who), self.sd
        x = self.draw(rng, n)[who] if self.persons and self.number % 2 else self.draw(rng, size)
        cell = rng.choice(len(self.shares), size, p=np.array(self.shares))
        x = x + self.shift * sd * (cell - float(np.dot(np.arange(len(self.shares)), self.shares))) / len(self.shares)
        if self.zeros:
            x = np.where(rng.random(size) < self.zeros, np.clip(0.0, self.lower, self.upper), x)
        if self.digits:
            step = (self.upper - self.lower) / 20
            x = self.lower + step * np.round((x - self.lower) / step)
        held = np.clip(x, self.lower, self.upper)
        u = np.clip((held - self.mean) / sd, -4, 4)
        z = self.tied * u + np.sqrt(1 - self.tied**2) * rng.normal(0, 1, size)
        y = self.slope * u + 0.5 * z + 0.2 * cell + self._errors(rng, u)
        table = {
            "x": np.where(rng.random(size) < self.missing, np.nan, x) if self.missing else x,
            "z": z,
            "y": y,
            "h": rng.random(size) < expit(self.base + self.tilt * u),
            "c": rng.poisson(np.exp(0.3 + 0.4 * self.tilt * np.clip(u, -2, 2))),
            "g": np.array(self.groups)[cell],
            "w": np.exp(0.3 * np.clip(u, -2, 2)) * rng.uniform(0.5, 1.5, size),
        }
        return {"who": who, **table} if self.persons else table

    def _errors(self, rng: np.random.Generator, u: Array) -> Array:
        n = len(u)
        if self.errors == "normal":
            return rng.normal(0, 1, n)
        if self.errors == "exponential":
            return rng.exponential(1, n) - 1
        if self.errors == "t, 4 df":
            return rng.standard_t(4, n)
        if self.errors == "wider with x":
            return rng.normal(0, 1, n) * (0.3 + 0.4 * np.abs(u))
        return rng.normal(0, 0.7, n) * np.where(rng.random(n) < 0.1, 5.0, 1.0)

    def large(self) -> Table:
        """Return a very large table of the same law, clamped to the bounds."""
        made = self.draw_table(np.random.default_rng([3, self.number]), LARGE // (3 if self.persons else 1))
        ends = {"x": (self.lower, self.upper), "z": (-4, 4), "y": (-8, 8), "c": (0, 40), "w": (0, 4)}
        return {name: np.clip(one, *ends[name]) if name in ends else one for name, one in made.items()}
