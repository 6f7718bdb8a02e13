"""Tables that regressions are tried on: regressors spread evenly, skewed, rare, correlated, in categories.

The first design was there when logistic `Regression` was made; the others were drawn up afterwards, and its gate of
noise and the rules of counts were mended on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr

import tacit as tc

Table = dict[str, np.ndarray]
SCALE = {"logistic": 1.0, "probit": 0.6, "poisson": 0.6}
"""What slopes and intercepts are multiplied by."""
MOST = 40
"""Upper bound of counts."""


@dataclass(frozen=True)
class Design:
    """Regressors, a formula, and its coefficients before they are scaled."""

    words: str
    formula: str
    columns: Mapping[str, object]
    draw: Callable[[np.random.Generator, int], Table]
    truth: Mapping[str, float]


@dataclass(frozen=True)
class Study:
    """Rows, a question and the coefficients that it should find."""

    title: str
    query: tc.Regression
    schema: tc.Schema
    draw: Callable[[np.random.Generator, int], Table]
    truth: Mapping[str, float]


def _one(rng: np.random.Generator, n: int) -> Table:
    return {"x": rng.uniform(-1, 1, n)}


def _even(rng: np.random.Generator, n: int) -> Table:
    return {"u": rng.uniform(0, 10, n), "v": np.clip(rng.normal(0, 1, n), -3, 3)}


def _skewed(rng: np.random.Generator, n: int) -> Table:
    t = np.minimum(rng.exponential(1.0, n), 6.0)
    return {"t": t, "rare": rng.random(n) < 0.15 + 0.1 * (t > 1)}


def _levels(rng: np.random.Generator, n: int) -> Table:
    group = rng.choice(["p", "q", "r"], n, p=[0.5, 0.3, 0.2])
    return {"x": rng.uniform(-1, 1, n), "group": group, "z": np.clip(rng.normal(50, 12, n), 0, 100)}


def _four(rng: np.random.Generator, n: int) -> Table:
    k = rng.poisson(2, n).clip(0, 8)
    w = np.clip(0.6 * (k - 2) / 1.4 + 0.8 * rng.normal(0, 1, n), -3, 3)
    return {"a": rng.beta(2, 5, n), "b": rng.random(n) < 0.5, "k": k, "w": w}


DESIGNS = {
    "one": Design(
        "one regressor spread evenly over its bounds",
        "y ~ x",
        {"x": tc.Real(-1, 1, missing=0)},
        _one,
        {"Intercept": 0.5, "x": 2.0},
    ),
    "even": Design(
        "two regressors, one even and one normal",
        "y ~ u + v",
        {"u": tc.Real(0, 10), "v": tc.Real(-3, 3)},
        _even,
        {"Intercept": -1.0, "u": 0.2, "v": -0.7},
    ),
    "skewed": Design(
        "an exponential regressor and a rare one, responses rare",
        "y ~ t + rare",
        {"t": tc.Real(0, 6), "rare": tc.Boolean()},
        _skewed,
        {"Intercept": -1.2, "t": 0.6, "rare": 0.8},
    ),
    "levels": Design(
        "numbers and a category, bounds wider than the values, responses rare",
        "y ~ x + group + z",
        {"x": tc.Real(-1, 1), "group": tc.Category(["p", "q", "r"]), "z": tc.Real(0, 100)},
        _levels,
        {"Intercept": -3.2, "x": 1.0, "group[T.q]": 0.5, "group[T.r]": -0.4, "z": 0.025},
    ),
    "four": Design(
        "four regressors: skewed, binary, counts, and a normal one that goes with them",
        "y ~ a + b + k + w",
        {"a": tc.Real(0, 1), "b": tc.Boolean(), "k": tc.Integer(0, 8), "w": tc.Real(-3, 3)},
        _four,
        {"Intercept": 0.3, "a": 1.5, "b": -0.6, "k": -0.25, "w": 0.5},
    ),
}


def predictor(table: Table, truth: Mapping[str, float]) -> np.ndarray:
    """Of the rows."""
    total = np.full(len(next(iter(table.values()))), truth["Intercept"])
    for name, b in truth.items():
        if name == "Intercept":
            continue
        column, _, level = name.partition("[T.")
        total = total + b * (table[column] == level.rstrip("]") if level else table[column])
    return total


def study(name: str, model: str, spread: float = 0.0) -> Study:
    """A design with a response; spread: of counts that are negative binomial."""
    design = DESIGNS[name]
    scale = 1.0 if name == "one" and model != "poisson" else SCALE[model]
    truth = {term: scale * b for term, b in design.truth.items()}

    def draw(rng: np.random.Generator, n: int) -> Table:
        table = design.draw(rng, n)
        eta = predictor(table, truth)
        if model == "poisson":
            mean = np.exp(eta) * (rng.gamma(1 / spread, spread, n) if spread else 1.0)
            return {**table, "y": rng.poisson(mean)}
        return {**table, "y": rng.random(n) < (expit(eta) if model == "logistic" else ndtr(eta))}

    if model == "poisson":
        response: object = tc.Integer(0, MOST, missing=0 if name == "one" else "exclude")
    else:
        response = tc.Boolean(missing=False) if name == "one" else tc.Boolean()
    schema = tc.Schema({**design.columns, "y": response})  # pyright: ignore[reportArgumentType]
    more = f", counts of variance mean + {spread:g} mean²" if spread else ""
    title = f"{model.capitalize()}: {design.words}{more}"
    return Study(title, tc.Regression(design.formula, model=model), schema, draw, truth)
