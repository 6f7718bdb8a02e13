"""Tables for gamma and Huber regressions of several regressors: given ones, and drawn ones.

`given_further` are written down in words.  `drawn_further` come from seeds (a set is a seed) and were committed before
any of them was simulated: the model, the number of regressors, their laws and correlations, how much wider the bounds
are than the values, the law of the errors, rows, price and relation.

Gamma: the response is exp(predictor) times a factor of mean 1, whose law need not be gamma.  Huber: what is estimated
is where Huber's scores vanish, with the bend at which 82.14% of residuals lie within (1.345 standard deviations of a
normal law); where errors are symmetric, or alike in all rows, those are the slopes, and otherwise they are computed
from large tables.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from frontier_designs import DELTA, LAWS, Cell, bounds_of, column_of, correlated, drawn_release, values_of
from frontier_model_designs import NINE, TEN
from regression_designs import Study, Table
from scipy import stats

import tacit as tc
from tacit.privacy import Cost

Array = np.ndarray
FACTORS = ("gamma, shape 2", "gamma, shape 0.7", "log-normal", "gamma, shape by a regressor")
ERRORS = ("normal", "5% gross outliers", "Student t, 3 df", "unequal", "skewed", "skewed and unequal")
SHARE = 2 * stats.norm.cdf(1.345) - 1
LARGE = 400_000
TABLES = 12
"""Large tables that a truth is the mean of: one alone is off by a third of a standard error of 50,000 rows."""
MIDDLES = {"gamma": 1.13, "lognormal": 1.65, "at a bound": 0.4}


def factors(kind: str, rng: np.random.Generator, z: Array) -> Array:
    """Return factors of mean 1; z: a regressor of mean 0 and variance 1."""
    n = len(z)
    if kind == "log-normal":
        return np.exp(rng.normal(-0.32, 0.8, n))
    shape = {"gamma, shape 2": 2.0, "gamma, shape 0.7": 0.7}.get(kind, 0.0)
    shapes = np.full(n, shape) if shape else np.where(z > 0, 1.0, 4.0)
    return rng.gamma(shapes, 1 / shapes)


def errors(kind: str, rng: np.random.Generator, z: Array) -> Array:
    """Return errors of standard deviation near 1, gross outliers aside; z: as in `factors`."""
    n = len(z)
    spread = (0.5 + np.abs(np.clip(z, -3, 3))) / 1.4
    if kind == "normal":
        return rng.normal(0, 1, n)
    if kind == "5% gross outliers":
        return rng.normal(0, 1, n) * np.where(rng.random(n) < 0.05, 15.0, 1.0)
    if kind == "Student t, 3 df":
        return rng.standard_t(3, n)
    if kind == "unequal":
        return spread * rng.normal(0, 1, n)
    skewed = rng.exponential(1, n) - 1
    return skewed if kind == "skewed" else spread * skewed


def further_study(
    title: str,
    model: str,
    law: str,
    laws: list[str],
    slopes: Array,
    width: float,
    *,
    level: float = 0.0,
    wide: float = 1.0,
    pair: float = 0.0,
    chain: float = 0.0,
) -> Study:
    """Return a study; law: of factors or errors.  wide: how much wider the response's bounds are than its values."""
    ends = [bounds_of(one, width) for one in laws]
    middle = np.array([MIDDLES.get(one, 0.0) for one in laws])
    start = level - float(middle @ slopes)
    columns: dict[str, Any] = {
        f"x{j}": column_of(one, end) for j, (one, end) in enumerate(zip(laws, ends, strict=True))
    }

    def drawn_values(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        z = correlated(rng, n, len(laws), pair, chain)
        x = np.column_stack([values_of(one, z[:, j]) for j, one in enumerate(laws)])
        for j, (low, high) in enumerate(ends):
            x[:, j] = np.clip(x[:, j], low, high)
        eta = start + x @ slopes
        if model == "gamma":
            return x, np.exp(eta) * factors(law, rng, z[:, 0])
        return x, eta + errors(law, rng, z[:, 0])

    _, y = drawn_values(np.random.default_rng(1), LARGE)
    # a bound that about one row in 100,000 exceeds, in round numbers
    far = float(np.quantile(np.abs(y), 1 - 1e-5))
    most = wide * float(f"{far:.1g}")
    ends_of_response = (0.0, most) if model == "gamma" else (-most, most)
    schema = tc.Schema({**columns, "y": tc.Real(*ends_of_response)})

    def draw(rng: np.random.Generator, n: int) -> Table:
        x, y = drawn_values(rng, n)
        made = {f"x{j}": x[:, j] > 0.5 if one == "indicator" else x[:, j] for j, one in enumerate(laws)}
        return {**made, "y": y}

    b = np.array([start, *slopes])
    if model == "huber" and law == "skewed and unequal":
        made = [drawn_values(np.random.default_rng(seed), LARGE) for seed in range(1, 1 + TABLES)]
        b = np.mean([huber_of(x, np.clip(y, *ends_of_response)) for x, y in made], axis=0)
    truth = dict(zip(("Intercept", *(f"x{j}" for j in range(len(laws)))), map(float, b), strict=True))
    return Study(title, tc.Regression("y ~ " + " + ".join(columns), model=model), schema, draw, truth)


def huber_of(x: Array, y: Array) -> Array:
    """Return Huber's coefficients with the bend that SHARE of the residuals lie within."""
    full = np.column_stack([np.ones(len(x)), x])
    b = np.linalg.lstsq(full, y, rcond=None)[0]
    for _ in range(60):
        rest = y - full @ b
        bend = np.quantile(np.abs(rest), SHARE)
        inside = np.abs(rest) < bend
        step = np.linalg.solve(full[inside].T @ full[inside], full.T @ np.clip(rest, -bend, bend))
        b = b + step
        if np.abs(step).max() < 1e-9:
            break
    return b


def ten(model: str, law: str, scale: float) -> Study:
    """Ten regressors in pairs of correlation .8, the last skewed."""
    laws = ["normal"] * 9 + ["gamma"]
    title = f"{model}, ten regressors in pairs of correlation .8, {law}"
    return further_study(title, model, law, laws, scale * TEN, 1.5, pair=0.8)


def nine(model: str, law: str, scale: float) -> Study:
    """Nine regressors in a chain of correlation .7, one skewed, one a rare indicator."""
    laws = ["normal"] * 6 + ["gamma", "indicator", "normal"]
    return further_study(f"{model}, nine regressors in a chain, {law}", model, law, laws, scale * NINE, 1.5, chain=0.7)


def three(model: str, law: str, *, wide: float = 1.0) -> Study:
    """Three normal regressors."""
    slopes, words = np.array([0.3, -0.2, 0.15]), f", bound of the response × {wide:g}" if wide > 1 else ""
    return further_study(f"{model}, three regressors, {law}{words}", model, law, ["normal"] * 3, slopes, 1.0, wide=wide)


def given_further() -> tuple[Cell, ...]:
    """Four and eleven coefficients at the prices that other models are shown at."""
    one, other = Cost.of(epsilon=1, delta=DELTA), Cost.of(epsilon=3, delta=DELTA)
    rho, pure = Cost.of(rho=0.1), Cost.of(epsilon=3)
    cells = [
        (ten("gamma", "gamma, shape 2", 0.4), 50_000, rho),
        (ten("gamma", "gamma, shape 2", 0.4), 50_000, one),
        (ten("gamma", "log-normal", 0.4), 10_000, other),
        (nine("gamma", "gamma, shape by a regressor", 0.5), 50_000, rho),
        (three("gamma", "gamma, shape 0.7"), 10_000, one),
        (three("gamma", "log-normal", wide=5.0), 10_000, rho),
        (three("gamma", "gamma, shape 2"), 10_000, pure),
        (ten("huber", "5% gross outliers", 1.0), 50_000, rho),
        (ten("huber", "skewed and unequal", 1.0), 50_000, one),
        (ten("huber", "Student t, 3 df", 1.0), 10_000, other),
        (nine("huber", "unequal", 1.0), 50_000, rho),
        (three("huber", "skewed and unequal"), 10_000, one),
        (three("huber", "5% gross outliers", wide=5.0), 10_000, rho),
        (three("huber", "normal"), 10_000, pure),
    ]
    return tuple(Cell(study.title, study, rows, cost) for study, rows, cost in cells)


def drawn_further(number: int, many: int = 16) -> tuple[Cell, ...]:
    """Return the cells of a set, which is its seed."""
    rng = np.random.default_rng([23, number])
    out: list[Cell] = []
    for place in range(many):
        model = ("gamma", "huber")[place % 2]
        d = int(rng.choice([2, 3, 7, 10], p=[0.2, 0.3, 0.2, 0.3]))
        laws = [str(law) for law in rng.choice(LAWS, d, p=[0.4, 0.15, 0.12, 0.05, 0.15, 0.08, 0.05])]
        slopes = np.round(rng.normal(0, (0.4 if model == "gamma" else 0.8) / math.sqrt(d), d), 2)
        slopes = slopes * np.array([{"lognormal": 0.3, "whole": 0.5}.get(law, 1.0) for law in laws])
        width, wide = float(rng.choice([1, 1.5, 3])), float(rng.choice([1, 1, 4]))
        law, kind = str(rng.choice(FACTORS if model == "gamma" else ERRORS)), int(rng.integers(0, 3))
        _, cost, relation = drawn_release(rng)
        rows = int(rng.choice([10_000, 50_000]))
        pair, chain = (0.0, 0.8, 0.0)[kind], (0.0, 0.0, 0.7)[kind]
        said = f"{model}, {d} regressors, bounds × {width:g}, of the response × {wide:g}"
        said = f"{said}, {['independent', 'pairs', 'chain'][kind]}, {law}"
        study = further_study(said, model, law, laws, slopes, width, wide=wide, pair=pair, chain=chain)
        out.append(Cell(said, study, rows, cost, relation))
    return tuple(out)
