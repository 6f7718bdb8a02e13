"""The regression of a table as other methods are given it: regressors and response within [-1, 1] by public bounds.

`problem` turns a design's table into arrays; `Problem.own` turns coefficients of these arrays into slopes in the units
of the columns.  Prices are those that Tacit keeps: a pair (epsilon, delta) is the mu of Gaussian differential privacy
that implies it [Dong, Roth & Su 2022], or a pure epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from frontier_designs import DELTA, Cell
from regression_designs import Table
from scipy import optimize, stats

Array = np.ndarray


def delta_of(mu: float, epsilon: float) -> float:
    """Return the delta of mu-Gaussian differential privacy at an epsilon [Dong, Roth & Su 2022, Corollary 1]."""
    a, b = -epsilon / mu + mu / 2, -epsilon / mu - mu / 2
    return float(stats.norm.cdf(a) - math.exp(epsilon) * stats.norm.cdf(b))


@cache
def gaussian_mu(epsilon: float, delta: float = DELTA) -> float:
    """Return the largest mu whose Gaussian differential privacy implies (epsilon, delta)."""
    return float(optimize.brentq(lambda mu: delta_of(mu, epsilon) - delta, 1e-4, 50))


@cache
def gaussian_epsilon(mu: float, delta: float = DELTA) -> float:
    """Return the epsilon that mu-Gaussian differential privacy implies with delta."""
    return float(optimize.brentq(lambda epsilon: delta_of(mu, epsilon) - delta, 0, 100))


@dataclass(frozen=True)
class Problem:
    """Arrays of a regression, within public bounds, and its price.

    u: regressors within [-1, 1], shape (rows, d).  v: the response, within [-1, 1], or 0 and 1 of a Boolean one.
    units: slopes of the columns over coefficients of u, shape (d,).  norm: a bound of the Euclidean norm of the rows
    of u that is public.  mu: None at a pure price.  replaced: neighbouring tables differ in a row that is replaced,
    otherwise in one that is added or removed.  ends: bounds of the columns, lower and upper, the response last.
    """

    model: str
    u: Array
    v: Array
    units: Array
    intercept: bool
    norm: float
    epsilon: float
    mu: float | None
    replaced: bool
    ends: Array

    @property
    def rows(self) -> Array:
        """The regressors, after a column of ones where there is an intercept; shape (rows, terms)."""
        return np.column_stack([np.ones(len(self.u)), self.u]) if self.intercept else self.u

    @property
    def plain(self) -> Array:
        """The regressors in the units of their columns, shape (rows, d)."""
        low, high = self.ends[:-1].T
        middle = (low + high) / 2 if self.intercept else 0 * low
        return middle + self.u * np.maximum(np.abs(low - middle), np.abs(high - middle))

    def own(self, coefficients: Array) -> Array:
        """Return slopes in the units of the columns, of coefficients (or errors) of `rows`."""
        return coefficients[1 if self.intercept else 0 :] * self.units


def problem(cell: Cell, table: Table, norm: float | None = None) -> Problem:
    """Return the problem of a drawn table.  Bounds are centred where there is an intercept that takes the shift."""
    query, names = cell.study.query, list(table)
    intercept = "Intercept" in cell.study.truth
    declared: list[Any] = [cell.study.schema[name] for name in names]
    ends = np.array([[float(getattr(one, "lower", 0)), float(getattr(one, "upper", 1))] for one in declared])
    low, high = ends.T
    middle = (low + high) / 2 if intercept else np.zeros(len(names))
    half = np.maximum(np.abs(low - middle), np.abs(high - middle))
    values = np.column_stack([np.asarray(table[name], dtype=float) for name in names])
    scaled = (np.clip(values, low, high) - middle) / half
    linear = query.model == "linear"
    price = cell.cost
    return Problem(
        query.model,
        scaled[:, :-1],
        scaled[:, -1] if linear else values[:, -1],
        (half[-1] if linear else 1.0) / half[:-1],
        intercept,
        math.sqrt(len(names) - 1) if norm is None else norm,
        float(price.epsilon),
        None if price.delta is None else gaussian_mu(float(price.epsilon), float(price.delta)),
        cell.neighbors == "replace-one",
        ends,
    )
