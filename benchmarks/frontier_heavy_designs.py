"""Tables for linear regressions of responses with heavy, one-sided tails: incomes, costs, numbers of visits.

`drawn_heavy` come from a seed and were committed before any of them was simulated.  Errors have mean 0 at every row, so
that the truth is the slopes; their law is log-normal, Pareto with few moments, or normal with one gross error in a
hundred rows; their spread is the same everywhere, goes with the mean, or goes with a regressor.  The response's bounds
are 30 to 60 standard deviations from its middle, as somebody types who has not seen the rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from frontier_designs import DELTA, Array, Cell, correlated, drawn_release
from regression_designs import Study, Table

import tacit as tc
from tacit.privacy import Cost

ERRORS = ("log-normal, σ = 1", "log-normal, σ = .7", "Pareto, index 3.5", "one gross error in 100 rows")
SPREADS = ("equal", "with the mean", "with a regressor")


def errors(kind: str, rng: np.random.Generator, n: int) -> Array:
    """Return errors of mean 0 and variance 1, the large ones above 0."""
    if kind.startswith("log-normal"):
        s = 1.0 if kind.endswith("1") else 0.7
        return (np.exp(s * rng.normal(0, 1, n)) - math.exp(s * s / 2)) / math.sqrt(
            math.exp(s * s) * (math.exp(s * s) - 1)
        )
    if kind.startswith("Pareto"):
        # variance of a Pareto law of index a from 1 on: a / ((a - 1)**2 (a - 2))
        a = 3.5
        return (rng.pareto(a, n) + 1 - a / (a - 1)) / math.sqrt(a / ((a - 1) ** 2 * (a - 2)))
    gross = (rng.random(n) < 0.01) * 15.0
    return (rng.normal(0, 1, n) + gross - 0.15) / math.sqrt(1 + 0.01 * 0.99 * 225)


def _study(words: str, slopes: Array, error: str, spread: str, chain: float, reach: float) -> Study:
    """Return a study; reach: how far the response's bounds are from 0, in about its standard deviations."""
    d = len(slopes)
    size = math.sqrt(1 + float(slopes @ slopes))
    columns: dict[str, Any] = {f"x{j}": tc.Real(-6, 6) for j in range(d)}
    schema = tc.Schema({**columns, "y": tc.Real(-reach * size, reach * size)})
    length = max(float(np.linalg.norm(slopes)), 1e-9)

    def draw(rng: np.random.Generator, n: int) -> Table:
        x = correlated(rng, n, d, 0.0, chain)
        mean = x @ slopes
        along = {"equal": np.zeros(n), "with the mean": mean / length, "with a regressor": x[:, -1]}[spread]
        y = mean + np.exp(0.3 * np.clip(along, -3, 3)) * errors(error, rng, n)
        return {**{f"x{j}": x[:, j] for j in range(d)}, "y": y}

    truth = {"Intercept": 0.0, **{f"x{j}": float(b) for j, b in enumerate(slopes)}}
    return Study(words, tc.Regression("y ~ " + " + ".join(f"x{j}" for j in range(d))), schema, draw, truth)


def drawn_heavy(number: int, many: int = 24) -> tuple[Cell, ...]:
    """Return the cells of a set, which is its seed."""
    rng = np.random.default_rng([17, number])
    out: list[Cell] = []
    for place in range(many):
        d = int(rng.choice([2, 4, 7, 11]))
        slopes = np.round(rng.normal(0, 0.4, d), 2)
        error, spread = ERRORS[place % len(ERRORS)], str(rng.choice(SPREADS))
        chain, reach = float(rng.choice([0.0, 0.6])), float(rng.choice([30, 60]))
        rows, cost, relation = drawn_release(rng)
        if place % 6 == 5:
            rows, cost = max(rows, 10_000), Cost.of(epsilon=int(rng.choice([2, 4])))
        kind = "chain" if chain else "independent"
        words = f"{d} regressors, {kind}, {error}, spread {spread}"
        out.append(Cell(words, _study(words, slopes, error, spread, chain, reach), rows, cost, relation))
    return tuple(out)


def given_heavy() -> tuple[Cell, ...]:
    """A log-normal response of two regressors, whose spread goes with its mean, at six prices and numbers of rows."""
    b = 0.3 * math.exp(0.5 + 0.3**2 / 2)
    truth = {"Intercept": math.exp(0.5 + 0.3**2 / 2), "a": b, "b": 0.0}
    schema = tc.Schema({"y": tc.Real(0, 200), "a": tc.Real(-4, 4), "b": tc.Real(-4, 4)})

    def draw(rng: np.random.Generator, n: int) -> Table:
        a, other = rng.normal(0, 1, n), rng.normal(0, 1, n)
        return {"y": np.exp(0.3 * a + rng.normal(0, 1, n)), "a": a, "b": other}

    study = Study("log-normal response", tc.Regression("y ~ a + b"), schema, draw, truth)
    asked = [
        (8_000, Cost.of(rho="0.3")),
        (20_000, Cost.of(rho="0.05")),
        (20_000, Cost.of(rho=1)),
        (2_000, Cost.of(rho=1)),
        (50_000, Cost.of(epsilon=1, delta=DELTA)),
        (8_000, Cost.of(epsilon=4)),
    ]
    return tuple(Cell(study.title, study, rows, cost) for rows, cost in asked)
