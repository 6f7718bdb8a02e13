"""Few events and a regressor with a long tail on either side of them, in wide bounds: designs from seeds.

`tailed`: logistic, probit and Poisson models in turn, two regressors, the first of a lognormal, gamma or Pareto law
whose slope is negative (the tail lies away from the events) or positive.  In a third of the designs its bounds do not
begin where its values do, but as far below as they reach above.  A set is a seed.  Sets 1 and 2 were committed before
any design of them was simulated, and judged the rule of `tail_doubt`; nothing was set on them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from frontier_designs import Array, Cell, bounds_of, column_of, values_of
from regression_designs import Study, Table
from scipy import special

import tacit as tc
from tacit.privacy import Cost

DESIGNS = 24
MODELS = ("logistic", "probit", "poisson")
MOST_COUNTED = 20
"""Largest count of a column of counts that are nearly all 0."""
TAILED: dict[str, tuple[Callable[[np.random.Generator, int], Array], float, float]] = {
    "lognormal": (lambda rng, n: rng.lognormal(0, 1, n), 20.0, 2.16),
    "gamma": (lambda rng, n: rng.gamma(1.5, 1, n), 10.0, 1.22),
    "Pareto": (lambda rng, n: rng.pareto(3, n), 10.0, 0.87),
}
"""Draw, the end of nearly all values, and the standard deviation of each law."""
OTHERS = ("normal", "uniform", "indicator", "whole")


def _study(
    words: str, model: str, laws: tuple[str, str], slopes: Array, bounds: tuple[tuple[float, float], ...], rare: float
) -> Study:
    """Return a study; rare: the share of events, or the mean count."""
    tail, other = laws
    draw_tail = TAILED[tail][0]

    def regressors(rng: np.random.Generator, n: int) -> Array:
        x = np.column_stack([draw_tail(rng, n), values_of(other, rng.normal(0, 1, n))])
        return np.column_stack([np.clip(x[:, j], *end) for j, end in enumerate(bounds)])

    mean = {"logistic": special.expit, "probit": special.ndtr, "poisson": np.exp}[model]
    predictors = regressors(np.random.default_rng(391), 400_000) @ slopes
    low, high = -30.0, 10.0
    for _ in range(50):
        start = (low + high) / 2
        low, high = (start, high) if float(mean(start + predictors).mean()) < rare else (low, start)
    response = tc.Integer(0, MOST_COUNTED) if model == "poisson" else tc.Boolean()
    schema = tc.Schema({"x0": tc.Real(*bounds[0]), "x1": column_of(other, bounds[1]), "y": response})

    def draw(rng: np.random.Generator, n: int) -> Table:
        x = regressors(rng, n)
        there = mean(low + x @ slopes)
        y = np.minimum(rng.poisson(there), MOST_COUNTED) if model == "poisson" else rng.random(n) < there
        return {"x0": x[:, 0], "x1": x[:, 1] > 0.5 if other == "indicator" else x[:, 1], "y": y}

    truth = {"Intercept": low, "x0": float(slopes[0]), "x1": float(slopes[1])}
    return Study(words, tc.Regression("y ~ x0 + x1", model=model), schema, draw, truth)


def tailed(number: int) -> tuple[Cell, ...]:
    """Return the cells of a set, which is its seed."""
    rng = np.random.default_rng([22, 391, number])
    out: list[Cell] = []
    for place in range(DESIGNS):
        model = MODELS[place % len(MODELS)]
        tail, other = str(rng.choice(list(TAILED))), str(rng.choice(OTHERS))
        _, end, sd = TAILED[tail]
        # what the first adds to the predictor has a standard deviation of .4 to 1, of .2 to .5 in probit models, and of
        # .1 to .3 where counts rise along the tail, whose mean would be without bound
        least, most = {"logistic": (0.4, 1.0), "probit": (0.2, 0.5), "poisson": (0.3, 0.8)}[model]
        side = float(rng.choice([-1.0, 1.0], p=[0.65, 0.35]))
        size = float(rng.uniform(least, most)) * (0.35 if model == "poisson" and side > 0 else 1.0)
        beside = float(rng.normal(0, 0.3)) * (0.5 if model == "probit" else 1.0)
        slopes = np.round([side * size / sd, beside * (0.5 if other == "whole" else 1.0)], 2)
        rare = float(rng.choice([0.03, 0.05, 0.08]))
        rows = int(rng.choice([3_000, 6_000, 12_000, 30_000]))
        cost, width = Cost.of(rho=float(rng.choice([0.02, 0.05, 0.1]))), float(rng.choice([3, 10]))
        centred = bool(rng.random() < 1 / 3)
        bounds = ((-width * end if centred else 0.0, width * end), bounds_of(other, width))
        said = f"{model}, {tail} and {other}, slopes {slopes[0]:g} and {slopes[1]:g}, bounds × {width:g}"
        said = f"{said}{' on both sides of 0' if centred else ''}, events {100 * rare:.0f}%"
        out.append(Cell(said, _study(said, model, (tail, other), slopes, bounds, rare), rows, cost))
    return tuple(out)
