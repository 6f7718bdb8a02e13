"""Simulation of both queries of a regression, from exact integers computed in NumPy.

The noise is seeded, so it protects nobody.  The second query of a regression follows from the noisy answer to the
first, so its exact integers differ from release to release, and `simulate` does not apply.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.curator.mechanisms import design
from tacit.fits.fit import Fit
from tacit.method.regression import mechanism as regression
from tacit.method.regression.bounded_scores.links import Link
from tacit.method.regression.bounded_scores.positive_links import PositiveLink
from tacit.method.regression.estimate import fit_release
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.pilots.glm_pilot import link_of
from tacit.method.regression.query import Regression
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.privacy import Cost
from tacit.release.parts import Part
from tacit.release.simulated import SimulatedRelease
from tacit.rows.coordinates import H
from tacit.rows.row_map import KeyMap
from tacit.rows.row_products import CrossProducts
from tacit.schema import Schema
from tacit.testing.ordinary_fits import log_start, robust
from tacit.testing.reference_persons import codes
from tacit.testing.reference_table import Table_, cells_of, columns_of, holds, numbers, with_columns
from tacit.testing.simulate import size_of

Ints = NDArray[np.int64]
SMALL: Final = 1e-10
"""Fisher scoring stops after a step whose largest element is below this."""


@dataclass(frozen=True)
class RegressionRows:
    """Complete rows of a table, encoded as for the mechanism.

    z: integers of shape (rows, coordinates).  size: number of all rows of the table, or of persons.  who: the person of
    each row, shape (rows,).  weights: of each row, on the grid of the question's, shape (rows,); None without weights.
    """

    shape: Measurement
    layout: Layout
    z: Ints
    size: int
    who: Ints | None = None
    weights: Ints | None = None

    def sums(self, column: PartSpec) -> tuple[int, ...]:
        """Return the exact integers of a part: equal to those of every engine."""
        return column.form.assemble(cast(ProductPart, column).question.sums(self.z, self.who, self.weights))

    def release(self, rng: np.random.Generator) -> SimulatedRelease:
        """Return one simulated release."""
        return self.enlarged(self.size, rng)

    def expected(self, rows: int) -> SimulatedRelease:
        """Return the release that a table of `rows` rows like these would have if all noise were zero."""
        return self._released(lambda column: column.released((self._scaled(column, rows),)))

    def enlarged(self, rows: int, rng: np.random.Generator) -> SimulatedRelease:
        """Return a simulated release of a table of `rows` rows like these."""

        def noisy(column: PartSpec) -> Part:
            """Return a part with simulated noise."""
            exact = self._scaled(column, rows)
            noise = column.law.sample(len(exact), rng).tolist()
            return column.released((tuple(k + int(z) for k, z in zip(exact, noise, strict=True)),))

        return self._released(noisy)

    def _scaled(self, column: PartSpec, rows: int) -> tuple[int, ...]:
        """Return the exact integers of a part, scaled to `rows` rows."""
        exact = self.sums(column)
        # sums are proportional to the number of rows; in integers, as they may be beyond exact floats
        return exact if rows == self.size else tuple(k * rows // self.size for k in exact)

    def _released(self, part: Callable[[PartSpec], Part]) -> SimulatedRelease:
        """Return a release whose parts are made one after another, each query from the parts before it."""
        shape, parts = self.shape, tuple[Part, ...]()
        for column in shape.columns:
            parts = (*parts, part(regression.next_question(column, parts, shape)))
        unit = None if shape.unit is None else shape.max_rows
        made = SimulatedRelease(shape.query, "simulated", shape.neighbors, shape.rows, (), parts, shape.cost, unit)
        return replace(made, variables=shape.variables)

    def fit(self, rng: np.random.Generator) -> Fit:
        """Return the fit of one simulated release."""
        return fit_release(self.release(rng))

    def ordinary(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return coefficients and standard errors of the model fitted to the same rows without privacy.

        The fit is by maximum likelihood (least squares for a linear model, Huber's scores for a robust one).  With a
        PrivacyUnit every person has a total weight of one, shared equally by the person's rows, and standard errors are
        cluster-robust, by person.  With weights they are of the weighted fit, and robust.
        LinAlgError where terms depend on each other, or one is 0 in every row.
        """
        values = (self.z / H) @ self.layout.terms.T
        X, y = values[:, :-1], values[:, -1]
        size = np.sqrt((X**2).mean(axis=0))  # columns of unit mean square, for the conditioning of the inverse
        if not size.all():
            raise np.linalg.LinAlgError("a term that is 0 in every row")
        model = cast(Regression, self.shape.query).model
        # a person's rows share a weight of one
        worth = np.ones(len(X)) if self.who is None else 1 / np.bincount(self.who)[self.who]
        worth = worth if self.weights is None else worth * self.weights
        b, inverse, score = _fitted(model, X / size, y, worth, self.layout)
        # of Huber's model `inverse` is that of products of rows within the cut, so that a sandwich is made
        if self.who is None and self.weights is None and model != "huber":
            # of errors, for a linear model, or of relative ones; otherwise the inverse information is the covariance
            scaled = model in ("linear", "gamma")
            variance = float((score**2).sum()) / (len(X) - X.shape[1]) if scaled else 1.0
            return b / size, np.sqrt(variance * np.diag(inverse)) / size
        who = np.arange(len(X)) if self.who is None else self.who
        each = np.zeros((int(who.max()) + 1, X.shape[1]))
        # scores summed by person (row): the robust meat is the sum of their squares
        np.add.at(each, who, (X / size) * (worth * score)[:, None])
        return b / size, np.sqrt(np.diag(inverse @ each.T @ each @ inverse)) / size


def _fitted(
    model: str, x: NDArray[np.float64], y: NDArray[np.float64], worth: NDArray[np.float64], made: Layout
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return coefficients, the inverse of their curvature, and each row's score with respect to its predictor."""
    if model in ("linear", "huber"):
        found = _linear(x, y, worth)
        return found if model == "linear" else robust(x, y, worth, found[0])
    link: Link = link_of(model, made)
    if isinstance(link, PositiveLink):
        # with an information of 1 scores are relative errors
        return _likelihood(x, y, worth, replace(link, spread=1.0), log_start(x, y))
    return _likelihood(x, y, worth, link, np.zeros_like(x.sum(axis=0)))


def _linear(
    x: NDArray[np.float64], y: NDArray[np.float64], worth: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return least-squares coefficients, the inverse of the weighted sums of products, and residuals."""
    inverse = np.asarray(np.linalg.inv((x.T * worth) @ x), dtype=np.float64)
    b = inverse @ (x.T @ (worth * y))
    return b, inverse, y - x @ b


def _likelihood(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    worth: NDArray[np.float64],
    link: Link,
    start: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return coefficients, inverse information, and each row's score with respect to its linear predictor.

    Coefficients are found by Fisher scoring, in at most 25 steps from `start`.
    """
    b, inverse, score = start, np.eye(x.shape[1]), y
    for _ in range(25):
        eta = x @ b
        weight = link.information(eta)
        inverse = np.asarray(np.linalg.pinv((x.T * (weight * worth)) @ x, hermitian=True), dtype=np.float64)
        # information / slope = slope / Var(y), so this is the likelihood's score in the predictor
        score = weight / np.maximum(link.slope(eta), 1e-300) * (y - link.mean(eta))
        step = inverse @ (x.T @ (worth * score))
        b = b + step
        if np.abs(step).max() < SMALL:
            break
    return b, inverse, score


def rows_of(
    query: Regression, data: object, schema: Schema, cost: Cost, neighbors: str = "replace-one"
) -> RegressionRows:
    """Return the complete rows of a table as integers, and the design of the query.  QueryError as for a release.

    The design is that of sums over rows, whatever the query's `method`.

    >>> import tacit as tc
    >>> schema = tc.Schema({"x": tc.Real(0, 1), "y": tc.Real(0, 2)})
    >>> made = rows_of(tc.Regression("y ~ x"), {"x": [0.0, 0.5, 1.0], "y": [0.0, 1.0, np.nan]}, schema, Cost.of(rho=1))
    >>> made.z.tolist()
    [[1024, -1024, -1024], [1024, 0, 0]]
    """
    table = columns_of(data, schema)
    size = size_of(table, schema)
    query = replace(query, method="scores")
    shape = design(query, Public(schema, neighbors, size if neighbors == "replace-one" else None), cost)
    first = cast(ProductPart, shape.columns[0])
    question = first.question
    table = with_columns(table, shape.computed)
    for key in question.keys:
        if any(one.texts and one.source == key.source for one in shape.computed):
            # text levels of an expression are numbered from 1
            labels = np.array([None, *key.levels], dtype=object)
            table[key.source] = labels[np.nan_to_num(table[key.source]).astype(int)]
    rows = len(next(iter(table.values())))
    kept = np.ones(rows, dtype=np.bool_) if shape.where is None else holds(shape.where, table)
    z, complete = _coordinates(question, table, rows)
    who = None if schema.unit is None else codes(table[schema.source(schema.unit)])[kept & complete]
    at = question.weight
    weights = None if at is None else at.numpy(numbers(np.asarray(table[at.source]), at))[0][kept & complete]
    return RegressionRows(shape, first.layout, z[kept & complete], size, who, weights)


def _coordinates(question: CrossProducts, table: Table_, size: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the coordinates of all rows, shape (rows, coordinates), and whether each row is complete."""
    complete = np.ones(size, dtype=np.bool_)
    values: dict[Any, Ints] = {}
    places: dict[KeyMap, Ints] = {}
    for at in question.maps:
        values[at], known = at.numpy(numbers(np.asarray(table[at.source]), at))
        complete &= known
    for key in question.keys:
        places[key], known = cells_of((key,), table)
        complete &= known
    return question.numpy(values, places, size), complete
