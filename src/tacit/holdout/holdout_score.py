"""A score that a hold-out is asked about: the measurement of its mean, from public facts alone.  No data here.

A score is a condition on a row (its mean is a proportion), or a column of numbers or a Boolean one with public bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from tacit.base.arguments import described, plain
from tacit.errors import QueryError, SchemaError
from tacit.holdout.holdout_design import HoldoutDesign
from tacit.method.moments.design import design as design_of_mean
from tacit.method.moments.query import Mean
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.rows.row_map import Polynomial, SumTerm
from tacit.schema import Boolean, Date, Schema
from tacit.schema.predicates.computed_columns import computed_columns
from tacit.schema.predicates.typed_conditions import typed

HINT: Final = 'score="predicted == married", or the name of a column of numbers'


@dataclass(frozen=True)
class HoldoutScore:
    """A score with its mean's measurement, at the cost of an answer, and its range in its own units."""

    name: str
    shape: Measurement
    lower: float
    upper: float
    steps: int

    @property
    def column(self) -> PartSpec:
        """The one column of the measurement."""
        return self.shape.columns[0]

    @property
    def in_steps(self) -> SumTerm:
        """The sum of u = floor(steps v / G), which runs from 0 to `steps`, over the rows that are present."""
        at = self.column.rowmap
        assert at is not None
        polynomial = Polynomial((0, self.steps), at.G)
        polynomial.check(at.G)
        return SumTerm(at, polynomial)

    def place(self, train: object) -> int:
        """Return the step nearest to a training value; QueryError Q191 for none, or one outside the score's range."""
        value = plain(train)
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not number or not self.lower <= float(value) <= self.upper:
            text = f"train is {described(value)}: not a number from {self.lower:g} to {self.upper:g}."
            raise QueryError(text, code="Q191", hint="the mean of the same score over the training rows")
        return round((float(value) - self.lower) / (self.upper - self.lower) * self.steps)


def holdout_score(score: object, public: Public, design: HoldoutDesign) -> HoldoutScore:
    """Return the score of a condition or of a column.

    A row of which a condition is not known to hold, a cell that it needs being missing, counts as one of which it does
    not hold.  A missing cell of a column counts as its schema says.

    Raises QueryError Q190 (no score), Q60 to Q62 (a condition that cannot be read or typed), Q10 to Q12 (the column).
    """
    if not isinstance(score, str) or not score.strip():
        raise QueryError(f"score is {described(score)}: neither a condition nor a column.", code="Q190", hint=HINT)
    schema, name = public.schema, score
    if name not in schema and not score.strip().isidentifier():
        name, schema = _with_condition(score, schema)
    elif name in schema and isinstance(schema[name], Date):
        raise QueryError(f"column {name!r} is a Date: no score.", code="Q190", hint=HINT)
    shape = design_of_mean(Mean(name), replace(public, schema=schema), design.answer_cost)
    added = () if name in public.schema else (computed_columns(schema)[schema.source(name)],)
    at = shape.columns[0].rowmap
    assert at is not None
    return HoldoutScore(name, replace(shape, computed=added), at.lower, at.upper, design.steps)


def _with_condition(text: str, schema: Schema) -> tuple[str, Schema]:
    """Return a condition's canonical text, and the schema with a Boolean column of that name computed from it."""
    name = typed(text, schema).text
    try:
        return name, Schema({**schema, name: Boolean(computed=name, missing=False)})
    except SchemaError as problem:
        message = f"score {name!r} cannot be computed from columns of the table: {problem.message}"
    raise QueryError(message, code="Q190", hint="a condition on columns that are not computed themselves")
