"""Designs of other methods' papers and packages, and regressions of few regressors and few rows.

Drawn up, and committed, before any of them was simulated.  `bins` are designs of the kind that BinAgg is shown on: the
authors' tutorial (three regressors of mean 1, no intercept), and uniform regressors with normal errors.  `balls` are of
the kind that AdaSSP is shown on: rows on the unit sphere, whose norm AdaSSP is told.  `few`: one and two regressors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from frontier_designs import DELTA, Cell
from peer_problem import gaussian_epsilon
from regression_designs import Study, Table

import tacit as tc
from tacit.privacy import Cost

Array = np.ndarray
SLOPES = np.array([0.5, -0.4, 0.3, -0.2, 0.1])


def gaussian(mu: float) -> Cost:
    """Return the price of mu-Gaussian differential privacy as a pair, epsilon to four digits."""
    return Cost.of(epsilon=f"{gaussian_epsilon(mu):.4f}", delta=DELTA)


def tutorial() -> Study:
    """Three normal regressors of mean 1 and a line through the origin: the tutorial of the authors of BinAgg."""
    slopes = np.array([1.5, -2.0, 0.5])
    return line(
        "tutorial of BinAgg, three regressors", slopes, (-3, 5), 10, 1.0, lambda rng, n: rng.normal(1, 1, (n, 3)), False
    )


def uniform(d: int) -> Study:
    """Uniform regressors, normal errors of standard deviation 1/2."""
    title = f"{d} uniform regressor{'s' if d > 1 else ''}"
    return line(title, SLOPES[:d], (-1, 1), 3, 0.5, lambda rng, n: rng.uniform(-1, 1, (n, d)))


def normal(d: int) -> Study:
    """Normal regressors in bounds of four standard deviations, normal errors."""
    title = f"{d} normal regressor{'s' if d > 1 else ''}"
    return line(title, SLOPES[:d], (-4, 4), 6, 1.0, lambda rng, n: rng.normal(0, 1, (n, d)))


def sphere() -> Study:
    """Ten regressors, rows on the unit sphere, a line through the origin: what AdaSSP assumes and is shown on."""

    def draw(rng: np.random.Generator, n: int) -> Array:
        z = rng.normal(0, 1, (n, 10))
        return z / np.linalg.norm(z, axis=1, keepdims=True)

    slopes = np.array([0.4, -0.3, 0.3, 0.2, -0.2, 0.1, 0.0, 0.3, -0.1, 0.2])
    return line("ten regressors on the unit sphere", slopes, (-1, 1), 1, 0.2, draw, False)


def line(
    title: str, slopes: Array, ends: tuple[int, int], reach: int, spread: float, draw: Any, intercept: bool = True
) -> Study:
    """Return a study of a linear model; reach: the bound of the response, spread: the deviation of its errors."""
    names = [f"x{j}" for j in range(len(slopes))]
    schema = tc.Schema({**dict.fromkeys(names, tc.Real(*ends)), "y": tc.Real(-reach, reach)})

    def table(rng: np.random.Generator, n: int) -> Table:
        x = np.clip(draw(rng, n), *ends)
        y = x @ slopes + (0.2 if intercept else 0.0) + rng.normal(0, spread, n)
        return {**{name: x[:, j] for j, name in enumerate(names)}, "y": y}

    truth = {"Intercept": 0.2} if intercept else {}
    truth |= {name: float(b) for name, b in zip(names, slopes, strict=True)}
    formula = "y ~ " + " + ".join(names) + ("" if intercept else " - 1")
    return Study(title, tc.Regression(formula), schema, table, truth)


def bins() -> tuple[Cell, ...]:
    """Designs of the kind of BinAgg's paper, rows added or removed, prices of a mu."""
    asked = [(tutorial(), 500, 1.0), (tutorial(), 5_000, 1.0), (tutorial(), 5_000, 0.5)]
    for d in (1, 2, 5):
        asked += [(uniform(d), rows, 1.0) for rows in (1_000, 10_000, 50_000)] + [(uniform(d), 10_000, 0.5)]
    return tuple(
        Cell(f"{study.title}, μ = {mu:g}", study, rows, gaussian(mu), "add-remove") for study, rows, mu in asked
    )


def balls() -> tuple[Cell, ...]:
    """Designs of the kind of AdaSSP's paper, whose neighbours differ in a row that becomes zero: added or removed."""
    asked = [(20_000, 1.0), (100_000, 1.0), (100_000, 0.3)]
    study = sphere()
    return tuple(Cell(study.title, study, rows, Cost.of(epsilon=e, delta=DELTA), "add-remove") for rows, e in asked)


def few() -> tuple[Cell, ...]:
    """One and two regressors and few rows, a row replaced."""
    made = list[Cell]()
    for study in (uniform(1), normal(1), uniform(2), normal(2)):
        for rows, epsilon in ((500, 3.0), (1_000, 1.0), (3_000, 0.5), (3_000, 1.0)):
            made.append(Cell(study.title, study, rows, Cost.of(epsilon=epsilon, delta=DELTA)))
        made += [Cell(study.title, study, rows, Cost.of(epsilon=e)) for rows, e in ((500, 3.0), (3_000, 1.0))]
    return tuple(made)


NORM = 1.0
"""Of a row of `sphere`, which AdaSSP is told."""
