"""Columns and questions whose plans `plan_columns.py` holds against releases: 24 drawn ones, and those of real files.

Families, recordings and ranges of parameters were written down; each column's own come from the seed of its number.
All were committed before one of them was simulated, and before the laws of `plan_shapes` that they test were chosen;
none was changed or left out afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import tacit as tc

Array = np.ndarray
FILES = Path(__file__).parents[2] / "shared" / "data"
NUMBER = 24
SIZES = (300, 1_000, 3_000, 10_000, 30_000)
PRICES: tuple[dict[str, Any], ...] = (
    {"epsilon": 0.3},
    {"epsilon": 1},
    {"epsilon": 3},
    {"rho": 0.02},
    {"rho": 0.2},
    {"epsilon": 1, "delta": "1e-6"},
)
PROBS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
FAMILIES = ("gamma", "lognormal", "Weibull", "Beta", "normal", "t, 4 df", "two normals", "two exponentials")
RECORDED = ("as they are", "whole numbers", "declared multiples", "heaps, undeclared", "heaps, declared")
HOW_OFTEN = (0.3, 0.4, 0.1, 0.1, 0.1)


def two_digits(x: float) -> float:
    """Return a number to two significant digits."""
    return 0.0 if x == 0 else round(x, 1 - math.floor(math.log10(abs(x))))


@dataclass(frozen=True)
class Column:
    """A column: its words, its declaration, how rows are drawn; and settings of rows, price and probabilities."""

    words: str
    declared: Any
    draw: Callable[[np.random.Generator, int], Array]
    settings: tuple[tuple[int, dict[str, Any], tuple[float, ...]], ...]
    large: Array = field(repr=False)
    """Many rows, clamped to the bounds: what is known of the column comes from them."""

    def told(self, probs: tuple[float, ...] = ()) -> dict[str, Any]:
        """Return the mean and the deviation to two digits, and where given the quantiles of `probs`."""
        found: dict[str, Any] = {
            "mean": two_digits(float(self.large.mean())),
            "sd": two_digits(float(self.large.std())),
        }
        if probs:
            values = np.quantile(self.large, probs).tolist()
            found["quantiles"] = {f"{p:g}": two_digits(value) for p, value in zip(probs, values, strict=True)}
        return found


def _family(name: str, rng: np.random.Generator) -> Callable[[np.random.Generator, int], Array]:
    """Return how rows of a family are drawn, with parameters from `rng`; most values are between 0 and 5."""
    u, v, w = rng.random(3)
    if name == "gamma":
        return lambda g, n: g.gamma(0.7 + 7 * u, 1 / (0.7 + 7 * u), n)
    if name == "lognormal":
        return lambda g, n: g.lognormal(0, 0.2 + 1.1 * u, n)
    if name == "Weibull":
        return lambda g, n: g.weibull(0.8 + 3.2 * u, n)
    if name == "Beta":
        return lambda g, n: 4 * g.beta(0.5 + 4 * u, 0.5 + 4 * v, n)
    if name == "normal":
        return lambda g, n: g.normal(2, 0.2 + 0.5 * u, n)
    if name == "t, 4 df":
        return lambda g, n: 2 + (0.2 + 0.3 * u) * g.standard_t(4, n)
    if name == "two normals":
        share, apart, wide = 0.2 + 0.6 * u, 0.8 + 2 * v, 0.2 + 0.4 * w
        return lambda g, n: 1 + np.where(g.random(n) < share, g.normal(0, wide, n), g.normal(apart, wide, n))
    share, times = 0.3 + 0.5 * u, 3 + 12 * v
    return lambda g, n: np.where(g.random(n) < share, g.exponential(0.3, n), g.exponential(0.3 * times, n))


def drawn(number: int) -> Column:
    """Return the drawn column of a number."""
    rng = np.random.default_rng([2026, 11, 27, 16, number])
    name = str(rng.choice(FAMILIES))
    raw, scale = _family(name, rng), float(10 ** rng.uniform(0.5, 4))
    zeros = float(rng.uniform(0.1, 0.6)) if rng.random() < 0.25 else 0.0
    turned = bool(rng.random() < 0.15)
    recorded = str(rng.choice(RECORDED, p=HOW_OFTEN))
    unit = float(10.0 ** math.floor(math.log10(scale / float(rng.choice([3, 10, 30])))))
    share = float(rng.uniform(0.2, 0.7))
    loose = float(rng.uniform(1, 4))

    def plain(g: np.random.Generator, n: int) -> Array:
        x = scale * np.where(g.random(n) < zeros, 0.0, raw(g, n))
        return 6 * scale - x if turned else x

    def draw(g: np.random.Generator, n: int) -> Array:
        x = plain(g, n)
        if recorded in ("whole numbers", "declared multiples"):
            return np.round(x / unit) * unit if recorded == "declared multiples" else np.round(x * 1.0)
        if recorded.startswith("heaps"):
            return np.where(g.random(n) < share, np.round(x / unit) * unit, x)
        return x

    many = draw(np.random.default_rng([7, number]), 400_000)
    low, high = (float(q) for q in np.quantile(many, [0.001, 0.999]))
    lower = 0.0 if low >= 0 else -two_digits(-low * loose)
    upper = max(two_digits(high * loose if not turned else 6 * scale), two_digits(1.1 * high))
    if recorded == "whole numbers":
        declared: Any = tc.Integer(math.floor(lower), math.ceil(upper))
    else:
        lower, upper = (math.floor(lower / unit) * unit, math.ceil(upper / unit) * unit)
        declares = {"declared multiples": {"multiple_of": unit}, "heaps, declared": {"heaped_at": unit}}
        words: dict[str, Any] = declares.get(recorded, {})
        declared = tc.Real(lower, upper, **words)
    settings = tuple(
        (
            int(rng.choice(SIZES)),
            PRICES[int(rng.integers(len(PRICES)))],
            tuple(float(p) for p in np.sort(rng.choice(PROBS, 3, replace=False))),
        )
        for _ in range(2)
    )
    said = [name, *([f"{zeros:.0%} zeros"] if zeros else []), *(["turned"] if turned else []), recorded]
    return Column(", ".join(said), declared, draw, settings, np.clip(many, declared.lower, declared.upper))


REAL = (
    ("pums_california_10000", "age", tc.Integer(18, 100)),
    ("pums_california_10000", "educ", tc.Integer(1, 16)),
    ("pums_california_10000", "income", tc.Integer(0, 500_000)),
    ("flights_200000", "delay", tc.Integer(-60, 500)),
    ("flights_200000", "distance", tc.Integer(0, 5_000)),
    ("flights_200000", "time", tc.Real(0, 24)),
)
REAL_PROBS = (0.1, 0.25, 0.5, 0.75, 0.9)
REAL_SETTINGS = ((1_000, {"epsilon": 1}), (1_000, {"rho": 0.02}), (8_000, {"epsilon": 1}), (8_000, {"rho": 0.02}))


def real(number: int) -> Column:
    """Return a column of a file, whose rows are the population that tables are drawn from, without replacement."""
    import pyarrow.parquet as pq

    file, name, declared = REAL[number]
    values = pq.read_table(FILES / f"{file}.parquet", columns=[name]).column(0).to_numpy().astype(np.float64)
    settings = tuple((rows, price, REAL_PROBS) for rows, price in REAL_SETTINGS)
    large = np.clip(values, declared.lower, declared.upper)
    return Column(
        f"{file.partition('_')[0]}: {name}", declared, lambda g, n: g.choice(values, n, replace=False), settings, large
    )
