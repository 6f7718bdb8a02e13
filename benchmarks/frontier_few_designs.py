"""Linear regressions of few rows, and at the edge of having an answer: designs on which rules for these are set.

Drawn up, and committed, before any of them was simulated, and none of them is a design of the page.  `few`: one to
three regressors that fill their bounds, 700 to 2,500 rows, errors of several laws.  `edge`: more regressors than so few
rows can tell well, or bounds many times wider than the values.
"""

from __future__ import annotations

import math

import numpy as np
from frontier_designs import DELTA, Cell, errors
from regression_designs import Study, Table

import tacit as tc
from tacit.privacy import Cost

Array = np.ndarray
FILLED = ("even", "steps", "arcsine", "triangle")
"""Laws of a regressor within [0, 1]: even, five steps, most at both ends, most in the middle."""


def filled(law: str, rng: np.random.Generator, n: int) -> Array:
    """Return a regressor that fills [0, 1]."""
    u = rng.uniform(0, 1, n)
    if law == "steps":
        return np.floor(5 * u) / 4
    if law == "arcsine":
        return np.asarray(np.sin(np.pi * u / 2) ** 2)
    if law == "triangle":
        return (u + rng.uniform(0, 1, n)) / 2
    return u


def line(laws: tuple[str, ...], error: str, explained: float, wide: float) -> Study:
    """Return a study of regressors that fill bounds of 0 to 10.

    explained: part of the response's variance that they explain.  wide: bounds of the response, in its deviations.
    """
    rng = np.random.default_rng([16, 7])
    deviations = np.array([float(filled(law, rng, 100_000).std()) for law in laws]) * 10
    parts = 0.7 ** np.arange(len(laws))
    signs = np.where(np.arange(len(laws)) % 2, -1.0, 1.0)
    slopes = signs * np.sqrt(explained * parts / parts.sum()) / deviations
    spread = math.sqrt(1 - explained)
    names = [f"x{j}" for j in range(len(laws))]
    middle = 1.0 + 5 * float(slopes.sum())
    reach = wide
    schema = tc.Schema(
        {**dict.fromkeys(names, tc.Real(0, 10)), "y": tc.Real(round(middle - reach, 1), round(middle + reach, 1))}
    )

    def table(rng: np.random.Generator, n: int) -> Table:
        x = 10 * np.column_stack([filled(law, rng, n) for law in laws])
        y = 1 + x @ slopes + spread * errors(error, rng, (x[:, 0] - 5) / 2.9)
        return {**{name: x[:, j] for j, name in enumerate(names)}, "y": y}

    truth = {"Intercept": 1.0} | {name: float(b) for name, b in zip(names, slopes, strict=True)}
    words = f"{', '.join(laws)}; errors {error}, bounds of the response ± {wide:g} deviations"
    return Study(words, tc.Regression("y ~ " + " + ".join(names)), schema, table, truth)


def few() -> tuple[Cell, ...]:
    """Few rows of regressors that fill their bounds."""
    three, two, one, half = (Cost.of(epsilon=e, delta=DELTA) for e in (3, 2, 1, 0.5))
    asked = [
        (line(("triangle",), "normal", 0.3, 5), 700, two),
        (line(("even",), "normal", 0.1, 4), 1_500, one),
        (line(("arcsine",), "Student t, 5 df", 0.2, 6), 1_500, one),
        (line(("steps",), "unequal", 0.2, 5), 2_500, half),
        (line(("even",), "skewed and unequal", 0.2, 6), 1_500, one),
        (line(("even", "triangle"), "normal", 0.4, 4), 700, three),
        (line(("steps", "even"), "normal", 0.2, 5), 1_500, one),
        (line(("arcsine", "steps"), "exponential", 0.3, 6), 2_500, one),
        (line(("even", "even", "steps"), "normal", 0.3, 5), 2_500, one),
        (line(("even", "even", "even"), "skewed and unequal", 0.3, 6), 2_500, two),
    ]
    return tuple(Cell(study.title, study, rows, cost) for study, rows, cost in asked)


def scattered(d: int, width: float, error: str, pair: float) -> Study:
    """Return a study of normal regressors in pairs, in bounds `width` times as wide as four deviations."""
    slopes = 0.35 * np.where(np.arange(d) % 2, -0.6, 1.0) / math.sqrt(d / 4)
    names = [f"x{j}" for j in range(d)]
    reach = round(5 * width, 1)
    schema = tc.Schema({**dict.fromkeys(names, tc.Real(-4 * width, 4 * width)), "y": tc.Real(-reach, reach)})

    def table(rng: np.random.Generator, n: int) -> Table:
        x = rng.normal(0, 1, (n, d))
        for j in range(1, d, 2):
            x[:, j] = pair * x[:, j - 1] + math.sqrt(1 - pair**2) * x[:, j]
        y = 0.3 + x @ slopes + errors(error, rng, x[:, 0])
        return {**{name: x[:, j] for j, name in enumerate(names)}, "y": y}

    truth = {"Intercept": 0.3} | {name: float(b) for name, b in zip(names, slopes, strict=True)}
    words = f"{d} regressors in pairs of {pair:g}, bounds × {width:g}, errors {error}"
    return Study(words, tc.Regression("y ~ " + " + ".join(names)), schema, table, truth)


def edge() -> tuple[Cell, ...]:
    """Designs at the edge of having an answer."""
    one, three = (Cost.of(epsilon=e, delta=DELTA) for e in (1, 3))
    asked = [
        (scattered(3, 10, "normal", 0.5), 8_000, Cost.of(rho=0.1)),
        (scattered(4, 8, "unequal", 0.0), 10_000, Cost.of(rho=0.05)),
        (scattered(6, 1, "normal", 0.5), 3_000, one),
        (scattered(8, 1, "skewed and unequal", 0.0), 3_000, one),
        (scattered(10, 1.5, "normal", 0.7), 3_000, Cost.of(rho=0.2)),
        (scattered(15, 1, "Student t, 5 df", 0.0), 3_000, three),
        (scattered(10, 2, "unequal", 0.7), 10_000, one),
        (scattered(3, 10, "exponential", 0.3), 3_000, three),
    ]
    return tuple(Cell(study.title, study, rows, cost) for study, rows, cost in asked)
