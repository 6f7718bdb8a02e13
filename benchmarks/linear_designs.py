"""Tables that linear regressions are tried on: errors normal, skewed, unequal, heavy-tailed, and in every combination.

The rules for unequal errors were developed on `four` and `people`. `two`, `rare` and `lognormal` were drawn up
afterwards. `rare` then found a fault (a variance far above the plain one was shrunk too much), which was corrected;
`flag` was drawn up after that, and nothing was changed for it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from regression_designs import Study, Table

import tacit as tc


def four(errors: str) -> Study:
    """Four regressors in [0, 1], response in [-2, 4], errors of standard deviation 1/2."""
    columns = {f"x{j}": tc.Real(0, 1, missing=0) for j in range(1, 5)}

    def draw(rng: np.random.Generator, n: int) -> Table:
        X = rng.uniform(0, 1, (n, 4))
        y = 1 + X @ [1, -0.8, 0.5, 0] + 0.5 * unit_errors(errors, rng, X[:, 0] - 0.5)
        return {**{f"x{j + 1}": X[:, j] for j in range(4)}, "y": y}

    truth = {"Intercept": 1.0, "x1": 1.0, "x2": -0.8, "x3": 0.5, "x4": 0.0}
    schema = tc.Schema({**columns, "y": tc.Real(-2, 4, missing=0)})
    title = f"Four regressors spread evenly over their bounds, {errors} errors of a twelfth of the response's range"
    return Study(title, tc.Regression("y ~ x1 + x2 + x3 + x4"), schema, draw, truth)


def people(errors: str) -> Study:
    """Numbers, Booleans and categories, some levels rare, bounds wider than the values."""
    schema = tc.Schema(
        {
            "income": tc.Real(-40, 160),
            "age": tc.Real(18, 93),
            "educ": tc.Integer(1, 16),
            "sex": tc.Category(["f", "m"]),
            "region": tc.Category(["north", "south", "east", "west"]),
            "married": tc.Boolean(),
        }
    )

    def draw(rng: np.random.Generator, n: int) -> Table:
        age = rng.uniform(20, 70, n)
        educ = np.clip(np.rint(rng.normal(10, 3, n)), 1, 16)
        sex, married = rng.choice(["f", "m"], n), rng.random(n) < 0.4
        region = rng.choice(["north", "south", "east", "west"], n, p=[0.4, 0.3, 0.2, 0.1])
        mean = 10 + 0.3 * age + 2 * educ + 5 * (sex == "m") - 3 * (region == "south") + 2 * (region == "west")
        income = mean + 4 * married + 10 * unit_errors(errors, rng, (age - 45) / 50)
        return {"income": income, "age": age, "educ": educ, "sex": sex, "region": region, "married": married}

    truth = {"Intercept": 10.0, "age": 0.3, "educ": 2.0, "sex[T.m]": 5.0, "region[T.south]": -3.0}
    truth |= {"region[T.east]": 0.0, "region[T.west]": 2.0, "married": 4.0}
    title = f"Seven terms of people, {errors} errors of a twentieth of the response's range"
    return Study(title, tc.Regression("income ~ age + educ + sex + region + married"), schema, draw, truth)


def unit_errors(kind: str, rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """Errors of variance about 1; x is in [-1/2, 1/2]."""
    n = len(x)
    if kind == "normal":
        return rng.normal(0, 1, n)
    if kind == "exponential":
        return rng.exponential(1, n) - 1
    spread = (0.4 + 1.2 * np.abs(2 * x)) / math.sqrt(1.12)
    if kind == "unequal normal":
        return rng.normal(0, 1, n) * spread
    return (rng.exponential(1, n) - 1) * (0.5 + 1.0 * (x + 0.5))


def two() -> Study:
    """Student's t with 5 degrees of freedom; the variance depends on two of three regressors, in different ways."""
    columns = {"u": tc.Real(0, 10), "v": tc.Real(-3, 3), "w": tc.Boolean()}

    def draw(rng: np.random.Generator, n: int) -> Table:
        u, v, w = rng.uniform(0, 10, n), np.clip(rng.normal(0, 1, n), -3, 3), rng.random(n) < 0.3
        spread = np.sqrt(0.3 + 0.1 * u + 0.5 * v**2)
        return {
            "u": u,
            "v": v,
            "w": w,
            "y": 2 + 0.2 * u - 0.5 * v + w + spread * rng.standard_t(5, n) / math.sqrt(5 / 3),
        }

    title = "Three regressors, Student's t errors (5 degrees of freedom) whose variance depends on two of them"
    truth = {"Intercept": 2.0, "u": 0.2, "v": -0.5, "w": 1.0}
    return Study(title, tc.Regression("y ~ u + v + w"), tc.Schema({**columns, "y": tc.Real(-10, 16)}), draw, truth)


def rare() -> Study:
    """A category whose rarest level, one row in twenty, has errors two and a half times as large."""
    schema = tc.Schema({"y": tc.Real(-10, 10), "x": tc.Real(0, 1), "g": tc.Category(["a", "b", "c", "d"])})

    def draw(rng: np.random.Generator, n: int) -> Table:
        x, g = rng.uniform(0, 1, n), rng.choice(["a", "b", "c", "d"], n, p=[0.5, 0.3, 0.15, 0.05])
        y = x + 0.5 * (g == "b") - 0.5 * (g == "c") + (g == "d") + rng.normal(0, 1, n) * np.where(g == "d", 2.5, 1.0)
        return {"y": y, "x": x, "g": g}

    title = "A number and a category, normal errors, two and a half times as large at a level of one row in twenty"
    truth = {"Intercept": 0.0, "x": 1.0, "g[T.b]": 0.5, "g[T.c]": -0.5, "g[T.d]": 1.0}
    return Study(title, tc.Regression("y ~ x + g"), schema, draw, truth)


def lognormal() -> Study:
    """A log-normal response: its spread grows with its mean."""
    schema = tc.Schema({"y": tc.Real(0, 200), "a": tc.Real(0, 50), "b": tc.Real(0, 1), "m": tc.Boolean()})

    def draw(rng: np.random.Generator, n: int) -> Table:
        a, b, m = rng.uniform(0, 40, n), rng.beta(2, 3, n), rng.random(n) < 0.5
        mean = 15 + 0.5 * a + 10 * b + 5 * m
        return {"a": a, "b": b, "m": m, "y": mean * np.exp(rng.normal(0, 0.4, n) - 0.08)}

    title = "Three regressors, a log-normal response (standard deviation 0.4 on the log scale)"
    truth = {"Intercept": 15.0, "a": 0.5, "b": 10.0, "m": 5.0}
    return Study(title, tc.Regression("y ~ a + b + m"), schema, draw, truth)


def flag() -> Study:
    """A skewed regressor with which the spread grows; one row in twelve has errors twice as large; Laplace errors."""
    schema = tc.Schema({"y": tc.Real(-15, 20), "t": tc.Real(0, 6), "f": tc.Boolean()})

    def draw(rng: np.random.Generator, n: int) -> Table:
        t, f = np.minimum(rng.exponential(1, n), 6), rng.random(n) < 1 / 12
        spread = (0.5 + 0.25 * t) * np.where(f, 2, 1)
        return {"t": t, "f": f, "y": 1 + 0.5 * t - f + spread * rng.laplace(0, math.sqrt(0.5), n)}

    title = "A skewed regressor and a rare Boolean, Laplace errors whose spread grows with both"
    truth = {"Intercept": 1.0, "t": 0.5, "f": -1.0}
    return Study(title, tc.Regression("y ~ t + f"), schema, draw, truth)


STUDIES: dict[str, Callable[[], Study]] = {
    "four normal": lambda: four("normal"),
    "people normal": lambda: people("normal"),
    "people exponential": lambda: people("exponential"),
    "people unequal normal": lambda: people("unequal normal"),
    "people unequal exponential": lambda: people("unequal exponential"),
    "two": two,
    "rare": rare,
    "lognormal": lognormal,
    "flag": flag,
}
"""By the words of `regression.py --only`."""
