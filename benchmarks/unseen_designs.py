"""Twelve tables that no method here was developed or tried on: mixtures, heaps of zeros, few values, rows of persons,
bounds chosen badly, few rows, groups of very unequal size.

The laws of `x` were written down in words; sizes, relations, shares of groups, slopes, errors and prices come from the
seed of each design.  All were committed before any of them was simulated, and none was changed or left out afterwards.

Every table has the same columns: a number `x`, a response `y` with a slope in x, a group `g` of which nothing depends
(so that every difference of groups is 0), a Boolean `h` that follows a logistic model in x, and a time `t` with
its event `d`, exponential and censored.  Truths are those of values clamped to the bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit

import tacit as tc

Array = np.ndarray
Table = dict[str, Array]
PRICES = ({"rho": 0.02}, {"rho": 0.2}, {"epsilon": 0.5}, {"epsilon": 2}, {"epsilon": 1, "delta": 1e-6})
LARGE = 2_000_000
GROUPS = ("a", "b", "c")


@dataclass(frozen=True)
class Law:
    """A law of x: in words, how it is drawn, and what its column declares."""

    words: str
    draw: Callable[[np.random.Generator, int], Array]
    column: object


def _mixture(rng: np.random.Generator, n: int) -> Array:
    return np.where(rng.random(n) < 0.6, rng.normal(12, 1.5, n), rng.normal(71, 6, n))


def _zeros(rng: np.random.Generator, n: int) -> Array:
    return np.where(rng.random(n) < 0.45, 0.0, rng.lognormal(2.2, 0.9, n))


def _heaps(rng: np.random.Generator, n: int) -> Array:
    x = rng.gamma(6, 7, n)
    return np.where(rng.random(n) < 0.5, np.round(x / 10) * 10, np.round(x))


def _ends(rng: np.random.Generator, n: int) -> Array:
    u = rng.random(n)
    return np.where(u < 0.22, 0.0, np.where(u > 0.85, 1.0, rng.beta(2, 3, n)))


LAWS = (
    Law("two normals far apart, 60 and 40%", _mixture, tc.Real(0, 100)),
    Law("45% zeros, else lognormal", _zeros, tc.Real(0, 120)),
    Law("Poisson of mean 1.3, bounds 0 to 50", lambda rng, n: rng.poisson(1.3, n).astype(float), tc.Integer(0, 50)),
    Law("normal, rows of persons", lambda rng, n: rng.normal(0, 1, n), tc.Real(-6, 6)),
    Law("gamma, three in five above the upper bound", lambda rng, n: rng.gamma(3, 2, n), tc.Real(0, 5)),
    Law("normal, bounds 250 times its standard deviation", lambda rng, n: rng.normal(9, 2, n), tc.Real(-250, 250)),
    Law("Beta(0.3, 0.4)", lambda rng, n: rng.beta(0.3, 0.4, n), tc.Real(0, 1)),
    Law("22% at the lower bound, 15% at the upper, else Beta(2, 3)", _ends, tc.Real(0, 1)),
    Law("Student t, 2 df, bounds at 40", lambda rng, n: rng.standard_t(2, n), tc.Real(-40, 40)),
    Law("gamma, half of them told in tens", _heaps, tc.Real(0, 150, multiple_of=1, heaped_at=10)),
    Law("exponential, bounds at 4 means", lambda rng, n: rng.exponential(10, n), tc.Real(0, 40)),
    Law("upper bound less a Weibull of shape 0.7", lambda rng, n: 60 - 8 * rng.weibull(0.7, n), tc.Real(0, 60)),
)
ERRORS = ("normal", "exponential", "10% ten times as wide", "wider with x")
PERSONS = 3
"""The number, from 0, of the design whose rows belong to persons."""


@dataclass(frozen=True)
class Design:
    """One of the twelve: its number is its seed."""

    number: int
    rows: int = field(init=False)
    neighbors: str = field(init=False)
    shares: tuple[float, ...] = field(init=False)
    slope: float = field(init=False)
    tilt: float = field(init=False)
    base: float = field(init=False)
    errors: str = field(init=False)
    hazard: float = field(init=False)
    prices: tuple[dict[str, float], ...] = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng([2026, 11, 27, self.number])
        small = float(rng.choice([0.03, 0.06, 0.12]))
        drawn = {
            "rows": int(rng.choice([200, 300, 500, 800, 1_200, 2_000])),
            "neighbors": str(rng.choice(["replace-one", "add-remove"])),
            "shares": (round(0.8 - small, 3), 0.2, small),
            "slope": float(rng.choice([0.0, 0.4, 0.8])),
            "tilt": float(rng.choice([0.0, 0.6, 1.2])),
            "base": float(rng.choice([-2.2, -1.0, 0.0])),
            "errors": str(rng.choice(ERRORS)),
            "hazard": float(rng.choice([0.1, 0.3])),
            "prices": tuple(PRICES[i] for i in rng.choice(len(PRICES), 2, replace=False)),
        }
        for name, value in drawn.items():
            object.__setattr__(self, name, value)

    @property
    def law(self) -> Law:
        return LAWS[self.number]

    @property
    def persons(self) -> bool:
        return self.number == PERSONS

    @property
    def words(self) -> str:
        return f"{self.law.words}; {self.rows} {'persons' if self.persons else 'rows'}, {self.neighbors}"

    @property
    def bins(self) -> int:
        """The number of bins of x: three values each of 51, ten each of 150."""
        return {2: 17, 9: 15}.get(self.number, 12)

    def scaled(self, x: Array) -> Array:
        """x clamped to its bounds, from -1 to 1."""
        low, high = float(self.law.column.lower), float(self.law.column.upper)  # pyright: ignore[reportAttributeAccessIssue]
        return 2 * (np.clip(x, low, high) - low) / (high - low) - 1

    def schema(self) -> tc.Schema:
        unit = {"who": tc.PrivacyUnit(max_rows=6)} if self.persons else {}
        columns = {
            "x": self.law.column, "y": tc.Real(-6, 6), "g": tc.Category(list(GROUPS)), "h": tc.Boolean(),
            "t": tc.Real(0, 12), "d": tc.Boolean(),
        }  # fmt: skip
        return tc.Schema({**unit, **columns})

    def draw(self, rng: np.random.Generator, n: int | None = None) -> Table:
        """A table of n rows (persons, where there are some: one to six rows each, alike within a person)."""
        n = self.rows if n is None else n
        who = np.arange(n)
        shift = np.zeros(n)
        if self.persons:
            who = np.repeat(who, rng.integers(1, 7, n))
            shift = rng.normal(0, 1.2, n)[who]
        size = len(who)
        x = self.law.draw(rng, size) + shift
        z = self.scaled(x)
        y = self.slope * 2 * z + self._errors(rng, z) + 0.3 * shift
        event, left = rng.exponential(1 / self.hazard, size), rng.uniform(0, 24, size)
        table = {
            "x": x,
            "y": y,
            "g": rng.choice(GROUPS, size, p=self.shares),
            "h": rng.random(size) < expit(self.base + self.tilt * z),
            "t": np.minimum(event, left),
            "d": event <= left,
        }
        return {"who": who, **table} if self.persons else table

    def _errors(self, rng: np.random.Generator, z: Array) -> Array:
        n = len(z)
        if self.errors == "normal":
            return rng.normal(0, 1, n)
        if self.errors == "exponential":
            return rng.exponential(1, n) - 1
        if self.errors == "wider with x":
            return rng.normal(0, 1, n) * (0.3 + 0.7 * (1 + z))
        return rng.normal(0, 0.4, n) * np.where(rng.random(n) < 0.1, 10.0, 1.0)


DESIGNS = tuple(Design(i) for i in range(len(LAWS)))


@dataclass(frozen=True)
class Truth:
    """What releases of a design estimate, of a large table: moments, quantiles, slopes, shares."""

    mean: float
    variance: float
    share: float
    quantiles: tuple[float, ...]
    slope: float
    correlation: float
    tilt: float
    after: float
    expect: dict[str, dict[str, float]]


PROBS = (0.25, 0.5, 0.75)
AFTER = 3.0
"""Months after which survival is compared."""


def truth_of(design: Design) -> Truth:
    low, high = float(design.law.column.lower), float(design.law.column.upper)  # pyright: ignore[reportAttributeAccessIssue]
    size = LARGE // 7 if design.persons else LARGE
    made = design.draw(np.random.default_rng([7, design.number]), size)
    x, y = np.clip(made["x"], low, high), np.clip(made["y"], -6, 6)
    weight = np.ones(len(x))
    mean_of, h = x, made["h"].astype(float)
    if design.persons:  # a person counts as one, and a row its part of that
        many = np.bincount(made["who"])
        weight = 1 / many[made["who"]]
        mean_of = np.bincount(made["who"], x) / many
        h = np.bincount(made["who"], h) / many
    dx, dy = x - np.average(x, weights=weight), y - np.average(y, weights=weight)
    sxy, sxx, syy = (float(np.average(v, weights=weight)) for v in (dx * dy, dx * dx, dy * dy))
    expect = {
        "x": {"mean": float(x.mean()), "sd": float(x.std())},
        "y": {"mean": float(y.mean()), "sd": float(y.std())},
        "g": dict(zip(GROUPS, design.shares, strict=True)),
        "h": {"true": float(made["h"].mean())},
    }
    return Truth(
        mean=float(mean_of.mean()),
        variance=float(mean_of.var()),
        share=float(h.mean()),
        quantiles=tuple(float(q) for q in np.quantile(x, PROBS)),
        slope=sxy / sxx,
        correlation=sxy / math.sqrt(sxx * syy),
        tilt=design.tilt * 2 / (high - low),
        after=math.exp(-design.hazard * AFTER),
        expect=expect,
    )
