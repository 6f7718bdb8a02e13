"""Tables for logistic, probit and Poisson regressions of many regressors, at small prices: given ones, and drawn ones.

`given_models` are written down in words.  `drawn_models` come from seeds (a set is a seed) and were committed before
any of them was simulated: the model, the number of regressors, their laws and correlations, how much wider the bounds
are than the values, how rare events or counts are, rows, price and relation.  The law of the response is the model's,
but for counts that vary more than Poisson counts (negative binomial), whose mean is the model's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from frontier_designs import DELTA, LAWS, Cell, bounds_of, column_of, correlated, drawn_release, values_of
from regression_designs import Study, Table
from scipy import special

import tacit as tc
from tacit.privacy import Cost

Array = np.ndarray
MODELS = ("logistic", "probit", "poisson")
HIGHEST = 150
"""Largest count of a column of counts."""


def response(rng: np.random.Generator, model: str, eta: Array, spread: float) -> Array:
    """Return responses of predictors; spread: of negative binomial counts, 0 for Poisson."""
    if model == "logistic":
        return rng.random(len(eta)) < special.expit(eta)
    if model == "probit":
        return rng.random(len(eta)) < special.ndtr(eta)
    mean = np.exp(eta)
    # a gamma mixture of Poisson laws is negative binomial
    return np.minimum(rng.poisson(mean * rng.gamma(1 / spread, spread, len(eta)) if spread else mean), HIGHEST)


def model_study(
    title: str,
    model: str,
    laws: list[str],
    slopes: Array,
    widths: Array,
    *,
    level: float,
    pair: float = 0.0,
    chain: float = 0.0,
    spread: float = 0.0,
) -> Study:
    """Return a study; level: the predictor where regressors are at the middle of their laws."""
    ends = [bounds_of(law, width) for law, width in zip(laws, widths, strict=True)]
    middle = np.array([{"gamma": 1.13, "lognormal": 1.65, "at a bound": 0.4}.get(law, 0.0) for law in laws])
    start = level - float(middle @ slopes)
    columns: dict[str, Any] = {
        f"x{j}": column_of(law, end) for j, (law, end) in enumerate(zip(laws, ends, strict=True))
    }
    schema = tc.Schema({**columns, "y": tc.Integer(0, HIGHEST) if model == "poisson" else tc.Boolean()})

    def draw(rng: np.random.Generator, n: int) -> Table:
        z = correlated(rng, n, len(laws), pair, chain)
        x = np.column_stack([values_of(law, z[:, j]) for j, law in enumerate(laws)])
        for j, (low, high) in enumerate(ends):
            x[:, j] = np.clip(x[:, j], low, high)
        made = {f"x{j}": x[:, j] > 0.5 if law == "indicator" else x[:, j] for j, law in enumerate(laws)}
        return {**made, "y": response(rng, model, start + x @ slopes, spread)}

    truth = {"Intercept": start, **{f"x{j}": float(b) for j, b in enumerate(slopes)}}
    formula = "y ~ " + " + ".join(f"x{j}" for j in range(len(laws)))
    return Study(title, tc.Regression(formula, model=model), schema, draw, truth)


TEN = np.array([1, -0.5, 0.5, 0.3, -0.3, 0.2, 0, 0.4, -0.2, 0.3])
NINE = np.array([0.5, -0.5, 0.4, 0.3, -0.3, 0.2, 0.0, 0.5, -0.2])


def ten(model: str, scale: float, level: float) -> Study:
    """Ten regressors in pairs of correlation .8, the last skewed."""
    laws = ["normal"] * 9 + ["gamma"]
    title = f"{model}, ten regressors in pairs of correlation .8"
    return model_study(title, model, laws, scale * TEN, np.full(10, 1.5), level=level, pair=0.8)


def nine(model: str, scale: float, level: float) -> Study:
    """Nine regressors in a chain of correlation .7, one skewed, one a rare indicator."""
    laws = ["normal"] * 6 + ["gamma", "indicator", "normal"]
    title = f"{model}, nine regressors in a chain"
    return model_study(title, model, laws, scale * NINE, np.full(9, 1.5), level=level, chain=0.7)


def three(words: str, model: str = "logistic", *, level: float = 0.0, width: float = 1.0, pair: float = 0.0) -> Study:
    """Three normal regressors."""
    slopes = np.array([0.6, -0.4, 0.3]) * (0.5 if model == "poisson" else 1.0)
    title = f"{model}, three regressors{words}"
    return model_study(title, model, ["normal"] * 3, slopes, np.full(3, width), level=level, pair=pair)


def given_models() -> tuple[Cell, ...]:
    """The cells that issue and trial had named, and rare events, wide bounds and counts beside them."""
    one, rho = Cost.of(epsilon=1, delta=DELTA), Cost.of(rho=0.1)
    cells = [
        (ten("logistic", 1.0, 0.0), 50_000, rho),
        (ten("logistic", 1.0, 0.0), 50_000, one),
        (nine("logistic", 1.0, 0.0), 50_000, rho),
        (nine("probit", 0.6, 0.0), 50_000, rho),
        (three(""), 10_000, one),
        (three(", events in 4% of rows", level=-3.4), 50_000, rho),
        (three(", bounds ten times too wide", width=10.0), 10_000, rho),
        (ten("poisson", 0.4, 0.5), 50_000, rho),
        (ten("poisson", 0.4, 0.5), 50_000, one),
        (nine("poisson", 0.5, 0.0), 50_000, rho),
        (three("", "poisson"), 10_000, one),
    ]
    return tuple(Cell(study.title, study, rows, cost) for study, rows, cost in cells)


def drawn_models(number: int, many: int = 40) -> tuple[Cell, ...]:
    """Return the cells of a set, which is its seed."""
    rng = np.random.default_rng([17, number])
    out: list[Cell] = []
    for _ in range(many):
        model = str(rng.choice(MODELS, p=[0.5, 0.15, 0.35]))
        d = int(rng.choice([2, 4, 7, 11, 20], p=[0.2, 0.25, 0.25, 0.2, 0.1]))
        laws = [str(law) for law in rng.choice(LAWS, d, p=[0.4, 0.15, 0.12, 0.05, 0.15, 0.08, 0.05])]
        # the predictor's standard deviation is near 1 for logistic, .6 for probit, .5 for Poisson, before correlations
        size = {"logistic": 1.0, "probit": 0.6, "poisson": 0.45}[model]
        slopes = np.round(rng.normal(0, size / math.sqrt(d), d), 2)
        slopes = slopes * np.array([{"lognormal": 0.3, "whole": 0.5}.get(law, 1.0) for law in laws])
        width = float(rng.choice([1, 1.5, 3, 10], p=[0.3, 0.4, 0.2, 0.1]))
        kind, spread = int(rng.integers(0, 3)), 0.0
        if model == "poisson":
            level, spread = float(rng.choice([-0.5, 0.5, 1.5])), float(rng.choice([0.0, 0.5]))
            words = f"mean {math.exp(level):.1f}" + (", negative binomial" if spread else "")
        else:
            share = float(rng.choice([0.5, 0.2, 0.05], p=[0.4, 0.4, 0.2]))
            level = float(special.logit(share) if model == "logistic" else special.ndtri(share))
            words = f"events {100 * share:.0f}%"
        rows, cost, relation = drawn_release(rng)
        pair, chain = (0.0, 0.8, 0.0)[kind], (0.0, 0.0, 0.7)[kind]
        said = f"{model}, {d} regressors, bounds × {width:g}, {['independent', 'pairs', 'chain'][kind]}, {words}"
        study = model_study(
            said, model, laws, slopes, np.full(d, width), level=level, pair=pair, chain=chain, spread=spread
        )
        out.append(Cell(said, study, rows, cost, relation))
    return tuple(out)
