"""Tables for linear regressions whose regressors have tails, in fair and wide bounds: what errors allow for far rows.

`drawn_far` come from seeds (a set is a seed) and were committed before any of them was simulated.  Laws of regressors,
of variance near 1: normal, uniform, gamma, t with 3 degrees of freedom, lognormal, Pareto of index 3.5, and a gamma law
with a spike of zeros.  The mean is linear, or each regressor is level beyond two of its standard deviations, so that
slopes of rows far out are others; errors are normal, exponential, or unequal and skewed.  The truth of a mean that is
level far out is that of least squares in a large population.  Bounds hold all but one row in ten thousand, or are 4 or
10 times as wide.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from frontier_designs import Array, Cell, correlated, drawn_release, errors
from regression_designs import Study, Table
from scipy import stats

import tacit as tc

LAWS: dict[str, Any] = {
    "normal": stats.norm(),
    "uniform": stats.uniform(-math.sqrt(3), 2 * math.sqrt(3)),
    "gamma": stats.gamma(2, scale=1 / math.sqrt(2)),
    "t3": stats.t(3, scale=1 / math.sqrt(3)),
    "lognormal": stats.lognorm(0.8, scale=0.8),
    "Pareto": stats.lomax(3.5, scale=1.6),
}
"""By name; `spike` is a gamma law where a normal number is above its middle, and else 0."""
ERRORS = ("normal", "exponential", "skewed and unequal")
LARGE, TABLES = 50_000, 40
"""Rows and number of the tables from which the truth of a mean that is level far out is computed."""


def values_of(law: str, z: Array) -> Array:
    """Return values of a law from standard normal ones."""
    if law == "spike":
        upper = 2 * np.maximum(stats.norm.cdf(z) - 0.5, 0.0)
        return stats.gamma(2, scale=0.8).ppf(np.minimum(upper, 1 - 1e-12))
    return LAWS[law].ppf(np.clip(stats.norm.cdf(z), 1e-12, 1 - 1e-12))


def bounds_of(law: str, width: float) -> tuple[float, float]:
    """Return bounds, about the middle of those that hold all but one row in ten thousand."""
    low, high = (float(end) for end in values_of(law, stats.norm.ppf(np.array([1e-4, 1 - 1e-4]))))
    return (low + high - width * (high - low)) / 2, (low + high + width * (high - low)) / 2


def _study(words: str, laws: list[str], slopes: Array, width: float, error: str, chain: float, bent: bool) -> Study:
    """Return a study; bent: whether the mean is level beyond two standard deviations of a regressor."""
    d = len(laws)
    ends = [bounds_of(law, width) for law in laws]
    size = 5 * math.sqrt(1.5 + 2 * float(slopes @ slopes)) * width
    schema = tc.Schema({**{f"x{j}": tc.Real(*end) for j, end in enumerate(ends)}, "y": tc.Real(-size, size)})

    def draw(rng: np.random.Generator, n: int) -> Table:
        z = correlated(rng, n, d, 0.0, chain)
        x = np.column_stack([np.clip(values_of(law, z[:, j]), *ends[j]) for j, law in enumerate(laws)])
        seen = np.clip(x, x.mean(axis=0) - 2, x.mean(axis=0) + 2) if bent else x
        y = np.clip(seen @ slopes + errors(error, rng, z[:, 0]), -size, size)
        return {**{f"x{j}": x[:, j] for j in range(d)}, "y": y}

    names = ["Intercept", *(f"x{j}" for j in range(d))]
    truth = dict(zip(names, [0.0, *map(float, slopes)], strict=True))
    if bent:
        rng = np.random.default_rng([20, d])
        truth = dict(zip(names, map(float, _population(draw, rng, d)), strict=True))
    return Study(words, tc.Regression("y ~ " + " + ".join(names[1:])), schema, draw, truth)


def _population(draw: Any, rng: np.random.Generator, d: int) -> Array:
    """Return the coefficients of least squares in a large population."""
    products = np.zeros((d + 2, d + 2))
    for _ in range(TABLES):
        table = draw(rng, LARGE)
        rows = np.column_stack([np.ones(LARGE), *(table[f"x{j}"] for j in range(d)), table["y"]])
        products += rows.T @ rows
    return np.linalg.solve(products[:-1, :-1], products[:-1, -1])


@functools.cache
def drawn_far(number: int, many: int = 18) -> tuple[Cell, ...]:
    """Return the cells of a set, which is its seed."""
    rng = np.random.default_rng([20, number])
    out = list[Cell]()
    for place in range(many):
        d = int(rng.choice([2, 4, 7]))
        laws = [str(law) for law in rng.choice([*LAWS, "spike"], d)]
        slopes = np.round(rng.normal(0, 0.4, d), 2)
        width, bent = (1.0, 4.0, 10.0)[place % 3], bool(rng.random() < 0.5)
        error, chain = str(rng.choice(ERRORS)), float(rng.choice([0.0, 0.6]))
        rows, cost, relation = drawn_release(rng)
        form = f"{'level far out' if bent else 'linear'}, bounds × {width:g}, {'chain' if chain else 'independent'}"
        words = f"{', '.join(laws)}; {form}, {error}"
        out.append(Cell(words, _study(words, laws, slopes, width, error, chain, bent), rows, cost, relation))
    return tuple(out)
