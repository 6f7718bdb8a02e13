"""Regressions of other libraries and papers, at the price and within the bounds that Tacit gets.

AdaSSP [Wang 2018, Algorithm 2] is written here, with noise by the exact calibration of Gaussian differential privacy in
place of the paper's bound, which makes it better than published.  diffprivlib 0.6 is used where it is installed; its
regressions have pure prices.
"""

from __future__ import annotations

import importlib
import math
import warnings
from typing import Any

import numpy as np
from frontier_designs import DELTA
from peer_problem import Array, Problem
from scipy import stats


def module(name: str) -> Any:
    """Return a library, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def adassp(rng: np.random.Generator, given: Problem) -> Array | None:
    """Return the slopes of AdaSSP; it has no pure price."""
    if given.model != "linear" or given.mu is None:
        return None
    x, d = given.rows, given.rows.shape[1]
    # one third of the price each; products change by B**2 where a row is added, by sqrt(2) B**2 where it is replaced
    scale, square = given.mu / math.sqrt(3), given.norm**2 + given.intercept
    twice = 2 if given.replaced else 1
    products, least = x.T @ x, float(np.linalg.eigvalsh(x.T @ x)[0])
    upper = np.triu(rng.normal(0, 1, (d, d)))
    noise = (upper + np.triu(upper, 1).T) * math.sqrt(twice) * square / scale
    margin = float(stats.norm.isf(DELTA))
    least = max(least + (float(rng.normal(0, 1)) - margin) * square / scale, 0.0)
    ridge = max(0.0, math.sqrt(d * math.log(2 * d * d / 0.05)) * square / scale - least)
    crossed = x.T @ given.v + rng.normal(0, 1, d) * twice * math.sqrt(square) / scale
    return given.own(np.linalg.solve(products + noise + ridge * np.eye(d), crossed))


def by_diffprivlib(rng: np.random.Generator, given: Problem) -> Array | None:
    """Return the slopes of diffprivlib.

    Its logistic regression, which shrinks coefficients towards 0, gets the columns in their own units.
    """
    models = module("diffprivlib.models")
    if models is None:
        return None
    seed = int(rng.integers(2**31))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if given.model != "linear":
            made = models.LogisticRegression(epsilon=given.epsilon, random_state=seed).fit(given.plain, given.v > 0.5)
            return np.asarray(made.coef_)[0]
        bounds = (-np.ones(given.u.shape[1]), np.ones(given.u.shape[1]))
        made = models.LinearRegression(
            epsilon=given.epsilon,
            bounds_X=bounds,
            bounds_y=(-1.0, 1.0),
            fit_intercept=given.intercept,
            random_state=seed,
        )
        return np.asarray(made.fit(given.u, given.v).coef_) * given.units
