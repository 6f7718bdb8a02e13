"""Tables that regressions are tried on: regressors spread evenly, skewed, rare, correlated, in categories.

The first design was used when logistic `Regression` was developed; the others of DESIGNS were drawn up afterwards, and
its rule for when noise is too large and the rules for counts were corrected on them.

CONFIRMING were drawn up when that code was frozen, on 2026-11-21, and committed before any of them was simulated:
nothing was tuned on them, and none was changed or left out after a result was seen. They showed a fault that was then
corrected: the spread that a release reports of counts that vary more than Poisson's (`method.regression.dispersion`).
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
    """Regressors, a formula, and its coefficients before they are scaled.

    most: upper bound of counts.  zeros: part of the counts that are 0 whatever their regressors are.
    """

    words: str
    formula: str
    columns: Mapping[str, object]
    draw: Callable[[np.random.Generator, int], Table]
    truth: Mapping[str, float]
    scaled: bool = True
    most: int = MOST
    zeros: float = 0.0


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


def _product(rng: np.random.Generator, n: int) -> Table:
    p, r = rng.uniform(0, 1, n), np.clip(rng.normal(0, 1, n), -3, 3)
    return {"p": p, "q": rng.random(n) < 0.4, "r": r}


def _square(rng: np.random.Generator, n: int) -> Table:
    return {"w": rng.uniform(-2, 2, n), "s": rng.random(n) < 0.5}


def _heavy(rng: np.random.Generator, n: int) -> Table:
    return {"h": np.clip(rng.standard_t(3, n), -4, 4), "g": rng.uniform(0, 1, n)}


def _unequal(rng: np.random.Generator, n: int) -> Table:
    level = rng.choice(["a", "b", "c", "d"], n, p=[0.55, 0.25, 0.15, 0.05])
    return {"level": level, "x": rng.uniform(0, 1, n)}


def _rising(rng: np.random.Generator, n: int) -> Table:
    return {"x": rng.uniform(0, 1, n), "d": rng.random(n) < 0.5}


def _together(rng: np.random.Generator, n: int) -> Table:
    a, b = rng.normal(0, 1, n), rng.normal(0, 1, n)
    b = 0.7 * a + np.sqrt(1 - 0.49) * b
    return {"a": np.clip(a, -3, 3), "b": np.clip(b, -3, 3), "c": rng.uniform(0, 1, n)}


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

CONFIRMING = {
    "product": Design(
        "three regressors, two of them with an interaction",
        "y ~ p*q + r",
        {"p": tc.Real(0, 1), "q": tc.Boolean(), "r": tc.Real(-3, 3)},
        _product,
        {"Intercept": -0.2, "p": 1.0, "q": 0.6, "r": 0.5, "p:q": -1.2},
    ),
    "square": Design(
        "a square, and a binary regressor",
        "y ~ w + I(w**2) + s",
        {"w": tc.Real(-2, 2), "s": tc.Boolean()},
        _square,
        {"Intercept": -0.5, "w": 0.5, "I(w ** 2)": 0.4, "s": -0.6},
    ),
    "heavy": Design(
        "Student's t of 3 degrees clamped to 4 either way, and an even regressor",
        "y ~ h + g",
        {"h": tc.Real(-4, 4), "g": tc.Real(0, 1)},
        _heavy,
        {"Intercept": -0.3, "h": 0.5, "g": 0.8},
    ),
    "unequal": Design(
        "a category of four levels, 55, 25, 15 and 5% of the rows, and a number",
        "y ~ level + x",
        {"level": tc.Category(["a", "b", "c", "d"]), "x": tc.Real(0, 1)},
        _unequal,
        {"Intercept": -0.4, "level[T.b]": 0.5, "level[T.c]": -0.6, "level[T.d]": 0.8, "x": 1.0},
    ),
    "rising": Design(
        "responses whose probability runs from .05 to .5",
        "y ~ x + d",
        {"x": tc.Real(0, 1), "d": tc.Boolean()},
        _rising,
        {"Intercept": -2.9, "x": 2.2, "d": 0.7},
    ),
    "together": Design(
        "two normal regressors of correlation .7, and an even one",
        "y ~ a + b + c",
        {"a": tc.Real(-3, 3), "b": tc.Real(-3, 3), "c": tc.Real(0, 1)},
        _together,
        {"Intercept": 0.2, "a": 0.7, "b": -0.4, "c": 0.5},
    ),
    "many": Design(
        "means from 10 to 30",
        "y ~ x + d",
        {"x": tc.Real(0, 1), "d": tc.Boolean()},
        _rising,
        {"Intercept": 2.3, "x": 0.8, "d": 0.3},
        scaled=False,
        most=100,
    ),
    "few": Design(
        "means near .3",
        "y ~ x + d",
        {"x": tc.Real(0, 1), "d": tc.Boolean()},
        _rising,
        {"Intercept": -1.6, "x": 0.6, "d": 0.3},
        scaled=False,
        most=20,
    ),
    "zeros": Design(
        "means near 2, but one count in five is 0 whatever its regressors are",
        "y ~ x + d",
        {"x": tc.Real(0, 1), "d": tc.Boolean()},
        _rising,
        {"Intercept": 0.5, "x": 0.8, "d": -0.4},
        scaled=False,
        zeros=0.2,
    ),
}


def predictor(table: Table, truth: Mapping[str, float]) -> np.ndarray:
    """Return the linear predictor of the rows."""
    total = np.full(len(next(iter(table.values()))), truth["Intercept"])
    for name, b in truth.items():
        if name == "Intercept":
            continue
        total = total + b * np.prod([_factor(table, one) for one in name.split(":")], axis=0)
    return total


def _factor(table: Table, name: str) -> np.ndarray:
    """Return a column, its square, or the indicator of a level."""
    if name.startswith("I("):
        return table[name[2:].split(" ")[0]] ** 2
    column, _, level = name.partition("[T.")
    return table[column] == level.rstrip("]") if level else table[column]


def study(name: str, model: str, spread: float = 0.0) -> Study:
    """A design with a response; spread: of counts that are negative binomial."""
    design = (DESIGNS | CONFIRMING)[name]
    plain = not design.scaled or (name == "one" and model != "poisson")
    scale = 1.0 if plain else SCALE[model]
    truth = {term: scale * b for term, b in design.truth.items()}

    def draw(rng: np.random.Generator, n: int) -> Table:
        table = design.draw(rng, n)
        eta = predictor(table, truth)
        if model == "poisson":
            mean = np.exp(eta) * (rng.gamma(1 / spread, spread, n) if spread else 1.0)
            return {**table, "y": rng.poisson(mean * (rng.random(n) >= design.zeros) if design.zeros else mean)}
        return {**table, "y": rng.random(n) < (expit(eta) if model == "logistic" else ndtr(eta))}

    if model == "poisson":
        response: object = tc.Integer(0, design.most, missing=0 if name == "one" else "exclude")
    else:
        response = tc.Boolean(missing=False) if name == "one" else tc.Boolean()
    schema = tc.Schema({**design.columns, "y": response})  # pyright: ignore[reportArgumentType]
    more = f", counts of variance mean + {spread:g} mean²" if spread else ""
    title = f"{model.capitalize()}{', confirming' if name in CONFIRMING else ''}: {design.words}{more}"
    estimand = truth | {"Intercept": truth["Intercept"] + np.log1p(-design.zeros)}  # of the mean of all counts
    return Study(title, tc.Regression(design.formula, model=model), schema, draw, estimand)
