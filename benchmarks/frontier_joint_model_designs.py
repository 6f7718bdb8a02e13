"""Tables for joint tests of many slopes at few rows: models other than the linear one, and persons with several rows.

`given_joint_models` has regressors of other parts of the page at fewer rows: ten in pairs of correlation .8 and nine in
a chain.  `fresh_joint_models` was written down and committed before any of it was simulated: the eight regressors with
a common factor of `frontier_joint_designs`, in which a rare indicator and whole numbers are, for four models.
`joint_persons` was, too: persons of one to twelve rows with an effect of their own, whose regressors are half theirs;
its truth is that of persons, each weighing one, whose number of rows does not go with anything.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from frontier_designs import Cell
from frontier_further_designs import ten as ten_further
from frontier_joint_designs import SLOPES
from frontier_model_designs import nine, response, ten
from regression_designs import Study, Table
from scipy.special import expit, ndtr

import tacit as tc
from tacit.privacy import Cost

DELTA = 1e-6
LEVELS = {"logistic": -0.8, "poisson": 0.0, "gamma": 0.0, "huber": 1.0}
SIZES = {"logistic": 1.0, "poisson": 0.6, "gamma": 0.5, "huber": 1.0}


def regressors(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return eight regressors with one common factor; the last two are whole numbers and an indicator."""
    x = math.sqrt(0.5) * rng.normal(0, 1, n)[:, None] + math.sqrt(0.5) * rng.normal(0, 1, (n, 8))
    x[:, 6] = np.clip(np.rint(4 + 2 * x[:, 6]), 0, 12)
    x[:, 7] = x[:, 7] > 1.15
    return x


def columns(response: object) -> dict[str, Any]:
    """Return the columns of the eight regressors and a response."""
    made: dict[str, Any] = {f"x{j}": tc.Real(-5, 5) for j in range(6)}
    return {**made, "x6": tc.Integer(0, 12), "x7": tc.Boolean(), "y": response}


def named(x: np.ndarray) -> Table:
    return {f"x{j}": x[:, j] if j < 7 else x[:, j] > 0.5 for j in range(8)}


def one_factor(model: str) -> Study:
    """Eight regressors with one common factor."""
    slopes, level = SIZES[model] * np.array(SLOPES), LEVELS[model]
    start = level - 4 * float(slopes[6])
    kinds = {
        "logistic": tc.Boolean(),
        "poisson": tc.Integer(0, 150),
        "gamma": tc.Real(0, 60),
        "huber": tc.Real(-20, 20),
    }

    def draw(rng: np.random.Generator, n: int) -> Table:
        x = regressors(rng, n)
        eta = start + x @ slopes
        if model == "gamma":
            return {**named(x), "y": np.exp(eta) * rng.gamma(1.5, 1 / 1.5, n)}
        if model == "huber":
            return {**named(x), "y": eta + rng.standard_t(3, n)}
        return {**named(x), "y": response(rng, model, eta, 0.0)}

    truth = {"Intercept": start, **{f"x{j}": float(b) for j, b in enumerate(slopes)}}
    query = tc.Regression("y ~ " + " + ".join(f"x{j}" for j in range(8)), model=model)
    title = f"{model}, eight regressors with a common factor"
    return Study(title, query, tc.Schema(columns(kinds[model])), draw, truth)


def of_persons(model: str, correlation: float) -> Study:
    """Eight regressors of the rows of persons, half of whose variance is the person's; rows share the person's effect.

    correlation: of errors of two rows of a person.
    """
    slopes = np.array(SLOPES)
    start = 1.0 if model == "linear" else -0.8
    kind = tc.Real(-12, 12) if model == "linear" else tc.Boolean()
    names = [f"x{j}" for j in range(8)]

    def draw(rng: np.random.Generator, n: int) -> Table:
        count = 1 + np.minimum(rng.poisson(2.0, n), 11)
        who = np.repeat(np.arange(n), count)
        common, own = rng.normal(0, 1, (n, 9))[who], rng.normal(0, 1, (len(who), 9))
        z = math.sqrt(0.5) * (common + own)
        x = np.clip(math.sqrt(0.5) * (z[:, :1] + z[:, 1:]), -5, 5)
        error = math.sqrt(correlation) * rng.normal(0, 1, n)[who]
        error = error + math.sqrt(1 - correlation) * rng.normal(0, 1, len(who))
        eta = start + x @ slopes
        y = eta + error if model == "linear" else ndtr(error) < expit(eta)
        return {"who": who, **{name: x[:, j] for j, name in enumerate(names)}, "y": y}

    schema = tc.Schema({"who": tc.PrivacyUnit(12), **{name: tc.Real(-5, 5) for name in names}, "y": kind})
    truth = {"Intercept": start, **dict(zip(names, map(float, slopes), strict=True))}
    title = f"{model}, eight regressors with a common factor, persons, intraclass correlation {correlation:g}"
    return Study(title, tc.Regression("y ~ " + " + ".join(names), model=model), schema, draw, truth)


def given_joint_models() -> tuple[Cell, ...]:
    """Ten and nine regressors at 10,000 rows and fewer."""
    cost, few = Cost.of(epsilon=3, delta=DELTA), Cost.of(rho=0.5)
    cells = [
        (ten("logistic", 1.0, 0.0), 10_000, cost),
        (ten("logistic", 1.0, 0.0), 5_000, few),
        (nine("probit", 0.6, 0.0), 10_000, Cost.of(rho=0.2)),
        (ten("poisson", 0.4, 0.5), 10_000, cost),
        (ten_further("gamma", "gamma, shape 2", 0.4), 10_000, cost),
        (ten_further("huber", "Student t, 3 df", 1.0), 10_000, cost),
    ]
    return tuple(Cell(study.title, study, rows, price) for study, rows, price in cells)


def fresh_joint_models() -> tuple[Cell, ...]:
    """Four models at two prices."""
    prices = (10_000, Cost.of(epsilon=3, delta=DELTA)), (5_000, Cost.of(rho=0.5))
    studies = [one_factor(model) for model in LEVELS]
    return tuple(Cell(study.title, study, rows, price) for study in studies for rows, price in prices)


def joint_persons() -> tuple[Cell, ...]:
    """Persons of both kinds of correlation; the rows of a cell are its persons."""
    cost, few = Cost.of(epsilon=3, delta=DELTA), Cost.of(rho=0.5)
    cells = [
        (of_persons("linear", 0.1), 10_000, cost),
        (of_persons("linear", 0.6), 10_000, cost),
        (of_persons("linear", 0.6), 5_000, few),
        (of_persons("logistic", 0.3), 10_000, cost),
        (of_persons("logistic", 0.3), 5_000, few),
    ]
    return tuple(Cell(study.title, study, rows, price) for study, rows, price in cells)
