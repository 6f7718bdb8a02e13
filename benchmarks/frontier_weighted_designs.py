"""Tables of rows with survey weights, drawn with probabilities that go with the response: the law is the population's.

A population follows the model.  A row of it enters the table with a probability that depends on its regressors and its
response, and has the inverse of that probability as its weight, up to a cap that is the least probability's.  Without
weights every one of these regressions is biased, but for the one whose weights have nothing to do with the rows.
Written down and committed before any of them was simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from frontier_designs import DELTA, Cell, correlated, errors
from frontier_model_designs import response
from regression_designs import Study, Table
from scipy import special

import tacit as tc
from tacit.privacy import Cost

Array = np.ndarray
Population = Callable[[np.random.Generator, int], tuple[Array, Array, Array]]
"""n rows of a population: regressors of shape (n, d), responses, and probabilities to enter the table, shape (n,)."""


def sampled(population: Population, rng: np.random.Generator, n: int) -> tuple[Array, Array, Array]:
    """Return n rows that entered the table: regressors, responses and weights."""
    kept: list[tuple[Array, Array, Array]] = []
    found = 0
    while found < n:
        x, y, enters = population(rng, n)
        here = rng.random(n) < enters
        kept.append((x[here], y[here], 1 / enters[here]))
        found += int(here.sum())
    x, y, w = (np.concatenate(part)[:n] for part in zip(*kept, strict=True))
    return x, y, w


def weighted_study(
    title: str, model: str, population: Population, slopes: Array, start: float, cap: float, *, persons: bool = False
) -> Study:
    """Return a study; persons: whether every person has two rows of one weight, and errors that are alike."""
    names = [f"x{j}" for j in range(len(slopes))]
    responses = {"linear": tc.Real(-30, 30), "poisson": tc.Integer(0, 60)}
    columns: dict[str, Any] = {name: tc.Real(-4, 4) for name in names}
    columns |= {"y": responses.get(model, tc.Boolean()), "w": tc.Real(0, cap)}
    schema = tc.Schema(columns | ({"who": tc.PrivacyUnit(2)} if persons else {}))

    def draw(rng: np.random.Generator, n: int) -> Table:
        x, y, w = sampled(population, rng, n // 2 if persons else n)
        who = np.arange(len(y))
        if persons:
            x, w, who = (np.repeat(one, 2, axis=0) for one in (x, w, who))
            # a second row of the person with a regressor and an error of its own
            x[1::2, 0] = np.clip(rng.normal(0, 1, len(x) // 2), -4, 4)
            own = np.repeat(y - start - x[::2] @ slopes, 2)
            y = start + x @ slopes + own * np.tile([1.0, 0.6], len(x) // 2) + rng.normal(0, 0.5, len(x))
        made = {name: x[:, j] for j, name in enumerate(names)}
        return {**made, "y": y, "w": w, **({"who": who} if persons else {})}

    formula = "y ~ " + " + ".join(names)
    truth = {"Intercept": start, **{name: float(b) for name, b in zip(names, slopes, strict=True)}}
    return Study(title, tc.Regression(formula, model=model, weights="w"), schema, draw, truth)


FOUR = np.array([0.6, -0.4, 0.3, 0.0])
EIGHT = np.array([0.8, -0.5, 0.5, 0.3, -0.3, 0.0, 0.4, -0.2])


def regressors(rng: np.random.Generator, n: int, d: int, pair: float = 0.0) -> Array:
    return np.clip(correlated(rng, n, d, pair, 0.0), -4, 4)


def of_response(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array]:
    """High responses are more often in the table: by 5 to 1."""
    x = regressors(rng, n, 4)
    y = 1 + x @ FOUR + errors("normal", rng, x[:, 0])
    return x, y, 0.2 + 0.8 * special.expit(1.5 * (y - 1))


def of_unequal_errors(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array]:
    """Eight regressors in pairs, errors of unequal size; weights go with a regressor and with the error's size."""
    x = regressors(rng, n, 8, 0.8)
    e = errors("unequal", rng, x[:, 0])
    return x, 1 + x @ EIGHT + e, 1 / np.clip(np.exp(0.5 * x[:, 0] + 0.3 * np.abs(e)), 1.0, 6.0)


def of_cases(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array]:
    """All cases of 12%, and one control in five."""
    x = regressors(rng, n, 4)
    y = response(rng, "logistic", -2.3 + x @ FOUR, 0.0)
    return x, y, np.where(y, 1.0, 0.2)


def of_chance(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array]:
    """Log-normal weights up to 8 that have nothing to do with the rows."""
    x = regressors(rng, n, 4, 0.8)
    y = response(rng, "probit", -0.3 + x @ FOUR, 0.0)
    return x, y, 1 / np.clip(np.exp(rng.normal(0.7, 0.6, n)), 1.0, 8.0)


def of_counts(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array]:
    """High counts are less often in the table; counts vary more than Poisson counts."""
    x = regressors(rng, n, 4)
    y = response(rng, "poisson", 0.8 + 0.5 * (x @ FOUR), 0.3)
    return x, np.minimum(y, 60), 1 / np.clip(1 + 0.3 * y, 1.0, 6.0)


def of_persons(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array]:
    """Persons of two rows: those with a low second regressor are more often in the table."""
    x = regressors(rng, n, 4)
    y = 1 + x @ FOUR + rng.normal(0, 1, n)
    return x, y, 1 / np.clip(np.exp(0.6 * x[:, 1]), 1.0, 5.0)


def given_weighted() -> tuple[Cell, ...]:
    """Return the designs of the page."""

    def study(words: str, model: str, population: Population, slopes: Array, start: float, cap: float) -> Study:
        return weighted_study(words, model, population, slopes, start, cap)

    linear = study("linear, weights go with the response", "linear", of_response, FOUR, 1.0, 5.0)
    unequal = study("linear, eight in pairs, weights go with the errors", "linear", of_unequal_errors, EIGHT, 1.0, 6.0)
    cases = study("logistic, all cases and a fifth of controls", "logistic", of_cases, FOUR, -2.3, 5.0)
    chance = study("probit, weights by chance, pairs", "probit", of_chance, FOUR, -0.3, 8.0)
    counts = study("Poisson, weights go with counts, which vary more", "poisson", of_counts, 0.5 * FOUR, 0.8, 6.0)
    persons = weighted_study("linear, persons of two rows", "linear", of_persons, FOUR, 1.0, 5.0, persons=True)
    cells = (
        (linear, 20_000, Cost.of(rho=0.1), "replace-one"),
        (linear, 20_000, Cost.of(epsilon=3), "replace-one"),
        (unequal, 50_000, Cost.of(epsilon=2, delta=DELTA), "add-remove"),
        (cases, 20_000, Cost.of(rho=0.1), "add-remove"),
        (chance, 20_000, Cost.of(epsilon=3), "replace-one"),
        (chance, 20_000, Cost.of(rho=0.1), "replace-one"),
        (counts, 20_000, Cost.of(rho=0.5), "replace-one"),
        (persons, 20_000, Cost.of(rho=0.5), "replace-one"),
    )
    return tuple(Cell(study.title, study, rows, cost, neighbors) for study, rows, cost, neighbors in cells)
