"""Tables for joint tests of many slopes of linear regressions at few rows.

Given ones are the ten regressors of `frontier_designs`, with normal and with unequal errors, at three prices.
`fresh_joint` was written down and committed before any of it was simulated: regressors that all share one factor, a
rare indicator and whole numbers among them, errors whose spread depends on two of them, and heavy tails.  Its second
cell was looked at while the law of joint tests was chosen.  `drawn_joint` was not: the first cells of a set of
`frontier_designs` with seven regressors or more and 10,000 rows or fewer, committed when the law stood.
"""

from __future__ import annotations

import math

import numpy as np
from frontier_designs import Cell, drawn, pairs_of_ten, ten_with
from regression_designs import Study, Table

import tacit as tc
from tacit.privacy import Cost

DELTA = 1e-6
SLOPES = (0.4, -0.3, 0.0, 0.25, 0.5, -0.4, 0.1, 0.0)


def one_factor(error: str) -> Study:
    """Eight regressors with one common factor; two of them are whole numbers and an indicator of one row in eight."""
    columns = {f"x{j}": tc.Real(-5, 5) for j in range(6)}
    schema = tc.Schema({**columns, "x6": tc.Integer(0, 12), "x7": tc.Boolean(), "y": tc.Real(-12, 12)})

    def draw(rng: np.random.Generator, n: int) -> Table:
        common = rng.normal(0, 1, n)
        x = math.sqrt(0.5) * common[:, None] + math.sqrt(0.5) * rng.normal(0, 1, (n, 8))
        x[:, 6] = np.clip(np.rint(4 + 2 * x[:, 6]), 0, 12)
        x[:, 7] = x[:, 7] > 1.15
        spread = np.sqrt(0.3 + 0.4 * x[:, 0] ** 2 + 0.3 * (x[:, 1] + 1) ** 2 / 2)
        noise = rng.normal(0, 1, n) if error == "unequal normal" else rng.standard_t(4, n) / math.sqrt(2)
        size = spread if error == "unequal normal" else np.ones(n)
        made = {f"x{j}": x[:, j] for j in range(6)}
        y = 1 + x @ np.array(SLOPES) + size * noise
        return {**made, "x6": x[:, 6], "x7": x[:, 7] > 0.5, "y": y}

    truth = {"Intercept": 1.0, **{f"x{j}": b for j, b in enumerate(SLOPES)}}
    formula = "y ~ " + " + ".join(f"x{j}" for j in range(8))
    return Study(f"eight regressors with a common factor, {error} errors", tc.Regression(formula), schema, draw, truth)


def given_joint() -> tuple[Cell, ...]:
    """Ten regressors in pairs at 10,000 rows and fewer."""
    cost, few = Cost.of(epsilon=3, delta=DELTA), Cost.of(rho=0.5)
    normal, unequal = ten_with("normal"), pairs_of_ten()
    return (
        Cell(unequal.title, unequal, 10_000, cost),
        Cell(normal.title, normal, 10_000, cost),
        Cell(unequal.title, unequal, 5_000, few),
        Cell(unequal.title, unequal, 10_000, few, "add-remove"),
    )


def fresh_joint() -> tuple[Cell, ...]:
    """The cells of the fresh designs."""
    cost, few = Cost.of(epsilon=3, delta=DELTA), Cost.of(rho=0.5)
    unequal, heavy = one_factor("unequal normal"), one_factor("heavy-tailed")
    return (
        Cell(unequal.title, unequal, 10_000, cost),
        Cell(unequal.title, unequal, 5_000, few),
        Cell(heavy.title, heavy, 10_000, cost),
        Cell(heavy.title, heavy, 5_000, few),
    )


def drawn_joint() -> tuple[Cell, ...]:
    """The first six cells of set 16 with many regressors and few rows."""
    return tuple(cell for cell in drawn(16, 80) if cell.rows <= 10_000 and len(cell.study.truth) > 7)[:6]
