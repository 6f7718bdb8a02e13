"""Expected precision of sufficient statistics: the integers that the family's law would give, at a public vector.

The parameters are taken to be as expected, else the family's default, the middle of their box unless said otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.shared.asked_model import AskedModel
from tacit.method.shared.asked_parameters import law_as_expected, words_of_law
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected, of_integers
from tacit.method.shared.plan_shares import NOTHING
from tacit.method.sufficient_statistics.query import SufficientStatistics
from tacit.models.evaluate import rule
from tacit.models.mean_map import MeanMap, mean_map
from tacit.release.parts import Grid
from tacit.rows.row_map import RowMap
from tacit.schema.expectations import Expectations


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return the expected precision of each parameter."""
    shape = as_expected(shape, expect)
    return of_integers(shape, integers(shape, rows), rows, level)


def as_expected(shape: Measurement, expect: Expectations) -> Measurement:
    """Return the design with the family at the expected parameters, for a plan alone."""
    query = cast(SufficientStatistics, shape.query)
    family = query.family
    return replace(shape, query=replace(query, family=replace(family, law=law_as_expected(family.law, query, expect))))


def integers(shape: Measurement, rows: int) -> tuple[NDArray[np.int64], ...]:
    """Return the expected integers of `rows` rows, an array of shape (1, k) for each statistic."""
    found = _map(shape)
    points, weights, _ = rule(found.model, found.model.fallback, found.kinks)
    made: list[NDArray[np.int64]] = []
    for column, statistic, box in zip(shape.columns, found.statistics, found.boxes, strict=True):
        # points without weight may lie outside the support, where a logarithm is NaN: they get any value in the box
        v, _ = cast(RowMap, column.rowmap).numpy(np.where(weights > 0, statistic.values(points, box), box[0]))
        # expected sums of the polynomials of a row, by the quadrature of the law
        sums = [rows * float(weights @ np.asarray(term.polynomial.numpy(v), np.float64)) for term in column.terms]
        matrix = np.array(column.form.matrix, dtype=np.float64)
        made.append(np.rint(matrix @ np.array(sums)).astype(np.int64)[None, :])
    return tuple(made)


def cautions(shape: Measurement, rows: int) -> list[str]:
    """Return warnings that follow from public facts."""
    del rows
    found = _map(shape)
    usual = AskedModel.of(cast(SufficientStatistics, shape.query).family.words).law
    assumed = tuple(found.model.fallback) != tuple(cast(Any, usual).fallback)
    place = "as expected" if assumed else "in the middle of its box"
    said = [f"precision is that of the family {words_of_law(found.model)}, {place}"]
    if found.at(found.model.fallback).inverse is None:
        said.append("there the clamped statistics do not tell the parameters apart; wider bounds would do")
    return said


def _map(shape: Measurement) -> MeanMap:
    grids = [cast(Grid, column.grid) for column in shape.columns]
    return mean_map(cast(SufficientStatistics, shape.query).family.law, tuple((g.lower, g.upper) for g in grids))
