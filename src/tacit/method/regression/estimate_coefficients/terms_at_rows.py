"""The terms of a released regression at given rows: for predictions and for tests of whole columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.fits.solvers.losses import RegressionLoss, regression_loss
from tacit.method.regression.formulas.expression_values import rules
from tacit.method.regression.formulas.expression_values import values as computed_values
from tacit.method.regression.formulas.layout import Layout
from tacit.release.parts import Variable
from tacit.rows.coordinates import SIGN, H
from tacit.schema.row_expressions import names_in


@dataclass(frozen=True)
class FormulaTerms:
    """The terms of a formula as functions of its columns; loss: of the model, which maps predictors to means."""

    layout: Layout
    variables: tuple[Variable, ...]
    loss: RegressionLoss

    def at(self, frame: Any) -> Array:
        """Return the terms at the rows of a pandas frame, shape (rows, u); InferenceError I42 for an invalid value.

        >>> from tacit.method.regression.formulas.formula import parse
        >>> from tacit.method.regression.formulas.layout import layout
        >>> import pandas as pd
        >>> facts = Variable("y", "boolean"), Variable("x", "real", 0, 4, half=1024), Variable("m", "boolean")
        >>> made = FormulaTerms(layout(parse("y ~ x*m"), facts), facts, regression_loss("logistic"))
        >>> made.at(pd.DataFrame({"x": [1.0, 3.0], "m": [False, True]})).tolist()
        [[1.0, 1.0, 0.0, 0.0], [1.0, 3.0, 1.0, 3.0]]
        """
        facts, expressions = self._facts, self.layout.formula.expressions
        given = {one.name: _column(one, frame) for one in self.inputs}
        values = {name: given[name] for name in self._right if name not in expressions}
        for name, rule in rules(
            {name: expressions[name] for name in self._right if name in expressions}, facts
        ).items():
            values[name] = _known(computed_values(rule, given), name)
        z = np.ones((len(frame), self.layout.size))
        # z / H as in the release, but without the grid's rounding: terms are those of the values given
        for j, (numbers, marks) in enumerate(self.layout.coordinates[:-1]):
            for name in numbers:
                fact = facts[name]
                middle, reach = (fact.lower + fact.upper) / 2, (fact.upper - fact.lower) / 2
                # a grid of half < H steps reaches half / H only
                z[:, j] *= (values[name] - middle) / reach * (fact.half / H)
            for name, level in marks:
                z[:, j] *= 2 * (values[name] == 1) - 1 if level == SIGN else values[name] == level
        return z @ self.layout.terms[: len(self.layout.names), : self.layout.size].T

    @property
    def inputs(self) -> tuple[Variable, ...]:
        """Columns of a table that the right side reads, themselves or in expressions."""
        return tuple(
            self._facts[name] for name in dict.fromkeys(name for one in self._right for name in self.reads(one))
        )

    def reads(self, name: str) -> tuple[str, ...]:
        """Return the columns of a table that an expression reads; of a column, itself."""
        text = self.layout.formula.expressions.get(name)
        return (name,) if text is None else names_in(text)

    @property
    def _right(self) -> tuple[str, ...]:
        """Columns and expressions of the right side, each once."""
        return self.layout.formula.columns[1:]

    @property
    def _facts(self) -> dict[str, Variable]:
        return {one.name: one for one in self.variables}

    def involved(self, column: str) -> list[int]:
        """Return the indices of the terms in which a column takes part, in expressions too; or an expression."""
        size = len(self.layout.names)
        names = {column, *(name for name in self._right if column in self.reads(name))}
        at = [j for j, (numbers, marks) in enumerate(self.layout.coordinates) if names & {*numbers, *dict(marks)}]
        return [i for i in range(size) if np.any(self.layout.terms[i, [j for j in at if j < self.layout.size]])]


def evaluator(model: str, layout: Layout, variables: tuple[Variable, ...]) -> FormulaTerms:
    """Return the terms of a release's model."""
    return FormulaTerms(layout, variables, regression_loss(model))


def _known(values: Array, name: str) -> Array:
    """Return the values of an expression; InferenceError I42 where it has none at one of the rows."""
    if not np.isfinite(values).all():
        text = f"{name} has no value at one of the rows to predict."
        raise InferenceError(text, code="I42", hint="rows at which it is defined", state=None)
    return values


def _column(fact: Variable, frame: Mapping[str, Any]) -> Array:
    """Return a column's numbers, days since 1970, or indices of levels; InferenceError I42 where it has none."""
    text = f"column {fact.name!r} of the rows to predict"
    if fact.name not in frame:
        raise InferenceError(f"{text} is not there.", code="I42", hint=f'{{"{fact.name}": […]}}', state=None)
    cells = np.asarray(frame[fact.name])
    if fact.kind == "levels":
        places = {label: float(i) for i, label in enumerate(fact.labels)}
        found = [places.get(str(cell)) for cell in cells.tolist()]
        known = np.array([np.nan if one is None else one for one in found], dtype=np.float64)
    else:
        try:
            days = fact.kind == "date"
            known = np.asarray(np.asarray(cells, dtype="datetime64[D]").astype(np.int64) if days else cells, np.float64)
        except (TypeError, ValueError):
            known = np.full(len(cells), np.nan)
    wrong = ~np.isfinite(known) if fact.kind != "boolean" else ~np.isin(known, (0.0, 1.0))
    if wrong.any():
        what = ", ".join(fact.labels[:5]) if fact.kind == "levels" else fact.kind
        raise InferenceError(f"{text} holds what is no value of it.", code="I42", hint=what, state=None)
    return known
