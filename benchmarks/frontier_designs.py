"""Tables for linear regressions of many regressors, at small prices, in wide bounds: given ones, and drawn ones.

`given` are written down in words: ten regressors in correlated pairs, nine with a gamma law, a rare indicator and heavy
tails, errors both skewed and unequal.  `drawn` come from seeds (a set is a seed) and were committed before any of them
was simulated: the number of regressors, their laws and correlations, how much wider the bounds are than the values, the
law of the errors, rows, price and relation.  Errors have mean 0 at every row, so that the truth is the slopes; values
beyond the bounds are rare, and cut as a release cuts them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from regression_designs import Study, Table

import tacit as tc
from tacit.privacy import Cost

Array = np.ndarray
LAWS = ("normal", "uniform", "gamma", "lognormal", "indicator", "whole", "at a bound")
ERRORS = ("normal", "Student t, 5 df", "exponential", "unequal", "skewed and unequal")
DELTA = 1e-6


@dataclass(frozen=True)
class Cell:
    """A design with its number of rows, its price and its relation."""

    words: str
    study: Study
    rows: int
    cost: Cost
    neighbors: str = "replace-one"


def correlated(rng: np.random.Generator, n: int, d: int, pair: float, chain: float) -> Array:
    """Return normal regressors: in pairs of correlation `pair`, or a chain whose neighbours have `chain`."""
    z = rng.normal(0, 1, (n, d))
    for j in range(1, d):
        rho = chain if chain else (pair if j % 2 else 0.0)
        z[:, j] = rho * z[:, j - 1] + math.sqrt(1 - rho**2) * z[:, j]
    return z


def errors(kind: str, rng: np.random.Generator, x: Array) -> Array:
    """Return errors of mean 0 and variance near 1; x: a regressor of mean 0 and variance 1."""
    n = len(x)
    spread = (0.5 + np.abs(np.clip(x, -3, 3))) / 1.4
    if kind == "normal":
        return rng.normal(0, 1, n)
    if kind == "Student t, 5 df":
        return rng.standard_t(5, n) / math.sqrt(5 / 3)
    if kind == "exponential":
        return rng.exponential(1, n) - 1
    if kind == "unequal":
        return spread * rng.normal(0, 1, n)
    return spread * (rng.exponential(1, n) - 1)


def _study(title: str, laws: list[str], slopes: Array, widths: Array, error: str, pair: float, chain: float) -> Study:
    """Return a study: `laws` of the regressors, each of mean 0 and variance near 1 before it gets its own units."""
    d = len(laws)
    ends = [bounds_of(law, width) for law, width in zip(laws, widths, strict=True)]
    reach = 4.5 * math.sqrt(1.5 + float(slopes @ slopes) * 2) * float(widths.mean())
    columns: dict[str, Any] = {
        f"x{j}": column_of(law, end) for j, (law, end) in enumerate(zip(laws, ends, strict=True))
    }
    schema = tc.Schema({**columns, "y": tc.Real(-reach, reach)})

    def draw(rng: np.random.Generator, n: int) -> Table:
        z = correlated(rng, n, d, pair, chain)
        x = np.column_stack([values_of(law, z[:, j]) for j, law in enumerate(laws)])
        for j, (low, high) in enumerate(ends):
            x[:, j] = np.clip(x[:, j], low, high)
        y = x @ slopes + errors(error, rng, z[:, 0])
        made = {f"x{j}": x[:, j] > 0.5 if law == "indicator" else x[:, j] for j, law in enumerate(laws)}
        return {**made, "y": y}

    truth = {"Intercept": 0.0, **{f"x{j}": float(b) for j, b in enumerate(slopes)}}
    return Study(title, tc.Regression("y ~ " + " + ".join(f"x{j}" for j in range(d))), schema, draw, truth)


def values_of(law: str, z: Array) -> Array:
    """Return values of a law from standard normal ones."""
    if law == "gamma":
        return np.exp(0.5 * z)
    if law == "lognormal":
        return np.exp(z)
    if law == "uniform":
        return np.tanh(0.8 * z) * 1.7
    if law == "indicator":
        return (z > 1.4).astype(float)
    if law == "whole":
        return np.rint(2 * z)
    if law == "at a bound":
        return np.maximum(z, 0.0)
    return z


def bounds_of(law: str, width: float) -> tuple[float, float]:
    """Return bounds: those of nearly all values, and `width` times as far apart."""
    low, high = {
        "gamma": (0.0, 6.0),
        "lognormal": (0.0, 20.0),
        "uniform": (-1.7, 1.7),
        "indicator": (0.0, 1.0),
        "whole": (-8.0, 8.0),
        "at a bound": (0.0, 4.0),
    }.get(law, (-4.0, 4.0))
    return (low, low + (high - low) * width) if low == 0 else (low * width, high * width)


def column_of(law: str, ends: tuple[float, float]) -> tc.Real | tc.Boolean:
    """Return the column of a regressor of this law and these bounds."""
    return tc.Boolean() if law == "indicator" else tc.Real(*ends)


def pairs_of_ten() -> Study:
    """Ten regressors in pairs of correlation .8, the last skewed, errors whose spread depends on the first."""
    return ten_with("unequal", "ten regressors in pairs of correlation .8")


def ten_with(error: str, title: str = "") -> Study:
    """Ten regressors in pairs of correlation .8, the last skewed, and errors of a kind of ERRORS."""
    slopes = np.array([1, -0.5, 0.5, 0.3, -0.3, 0.2, 0, 0.4, -0.2, 0.3])
    laws, widths = ["normal"] * 9 + ["gamma"], np.full(10, 1.5)
    words = title or f"ten regressors in pairs of correlation .8, {error} errors"
    return _study(words, laws, slopes, widths, error, 0.8, 0.0)


def chain_of_nine() -> Study:
    """Nine regressors in a chain of correlation .7, one skewed, one a rare indicator, heavy tails."""
    slopes = np.array([0.5, -0.5, 0.4, 0.3, -0.3, 0.2, 0.0, 0.5, -0.2])
    laws = ["normal"] * 6 + ["gamma", "indicator", "normal"]
    return _study("nine regressors in a chain", laws, slopes, np.full(9, 1.5), "Student t, 5 df", 0.0, 0.7)


def skewed_and_unequal() -> Study:
    """Two regressors, errors skewed and unequal."""
    return _study(
        "errors skewed and unequal",
        ["normal", "uniform"],
        np.array([0.5, -0.5]),
        np.ones(2),
        "skewed and unequal",
        0.3,
        0,
    )


def wide() -> Study:
    """Three regressors whose bounds are ten times as wide as their values."""
    laws, slopes = ["normal", "gamma", "uniform"], np.array([0.5, 0.5, -0.5])
    return _study("bounds ten times too wide", laws, slopes, np.full(3, 10.0), "normal", 0.5, 0.0)


def given() -> tuple[Cell, ...]:
    """The cells that issue and trial had named."""
    pair = Cost.of(epsilon=1, delta=DELTA), Cost.of(epsilon=3, delta=DELTA)
    rho = Cost.of(rho=0.1)
    cells: list[tuple[Callable[[], Study], int, Cost]] = [
        (pairs_of_ten, 50_000, rho),
        (pairs_of_ten, 50_000, pair[0]),
        (pairs_of_ten, 10_000, pair[1]),
        (chain_of_nine, 50_000, rho),
        (skewed_and_unequal, 60_000, pair[1]),
        (wide, 10_000, rho),
    ]
    return tuple(Cell(f"{made().title}", made(), rows, cost) for made, rows, cost in cells)


def drawn_release(rng: np.random.Generator) -> tuple[int, Cost, str]:
    """Return a number of rows, a price and a relation at random."""
    rows = int(rng.choice([3_000, 10_000, 50_000]))
    cost = (
        Cost.of(rho=float(rng.choice([0.05, 0.2, 1])))
        if rng.random() < 0.5
        else Cost.of(epsilon=float(rng.choice([1, 3])), delta=DELTA)
    )
    return rows, cost, str(rng.choice(["replace-one", "add-remove"], p=[0.7, 0.3]))


def drawn(number: int, many: int = 40) -> tuple[Cell, ...]:
    """Return the cells of a set, which is its seed."""
    rng = np.random.default_rng([16, number])
    out: list[Cell] = []
    for _ in range(many):
        d = int(rng.choice([2, 4, 7, 11, 20]))
        laws = [str(law) for law in rng.choice(LAWS, d, p=[0.35, 0.15, 0.12, 0.06, 0.14, 0.1, 0.08])]
        slopes = np.round(rng.normal(0, 0.4, d), 2)
        widths = np.full(d, float(rng.choice([1, 1.5, 3, 10], p=[0.3, 0.4, 0.2, 0.1])))
        error, kind = str(rng.choice(ERRORS)), int(rng.integers(0, 3))
        rows, cost, relation = drawn_release(rng)
        pair, chain = (0.0, 0.8, 0.0)[kind], (0.0, 0.0, 0.7)[kind]
        words = f"{d} regressors, bounds × {widths[0]:g}, {['independent', 'pairs', 'chain'][kind]}, {error}"
        out.append(Cell(words, _study(words, laws, slopes, widths, error, pair, chain), rows, cost, relation))
    return tuple(out)
