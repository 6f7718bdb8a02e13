"""Worst cases for scores with separate weights: a score function and two neighbouring rows that approach the bound.

The bound of `score_encoding.glm_scores(weighed=True)` holds for every score function and every weight function.  It is
approached where the score changes its sign and the weight falls to 0 while regressors hardly change: by two rows one
grid step of one regressor apart, with functions that are steep there.  Such functions are admissible: a score function
is public and has to pass `PiecewiseScore.check`, nothing more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, cast

from tacit.method.regression.product_parts import ProductPart
from tacit.method.regression.query import Regression
from tacit.method.regression.scores_design import with_score
from tacit.method.shared.measurement import Measurement
from tacit.release.query import Query
from tacit.rows.coordinates import H
from tacit.rows.piecewise_score import FINE, PIECES, L, PiecewiseScore
from tacit.rows.row_products import Coordinate
from tacit.schema import Boolean, Category, Date, Integer, Real, Schema
from tacit.testing.neighbouring_tables import Pair, Relation, Row

OWN: Final = "weighed"
"""Name of the form whose weights are separate from the sizes of the scores."""


def everywhere(shape: Measurement) -> tuple[Measurement, ...]:
    """Return a design and, if a part has separate weights, also the design with `steep` scores in such parts."""
    if not any(column.form.name == OWN for column in shape.columns):
        return (shape,)
    columns = tuple(steep(cast(ProductPart, one)) if one.form.name == OWN else one for one in shape.columns)
    return (shape, replace(shape, columns=columns))


def steep(column: ProductPart) -> ProductPart:
    """Return the part with weights that rise from 0 to C in a number's last step, and scores of -C or C.

    C is the clip of the score, whose sign follows from the response.  Returns the part unchanged if no coordinate is a
    number on the full grid.
    """
    question = column.question
    place = next((j for j, one in enumerate(question.coordinates[:-1]) if _number(one)), None)
    if place is None:
        return column
    clip = cast(PiecewiseScore, question.score).clip
    weights = [0] * len(question.coordinates)
    weights[place], weights[0] = 4 * L, 2 * L // H - 4 * L  # over 2: L at H, and -L one step below
    unit = clip * 2**FINE
    half = PIECES // 2
    score = PiecewiseScore(
        tuple(weights),
        1,
        clip,
        # psi = 2 C z_m / H before the clamp: -C or C where the response is at a bound
        (2 * unit // H,) * (PIECES + 1),
        (2 * unit,) * (PIECES + 1),
        (0,) * (half + 1) + (unit,) * half,
    )
    score.check()
    stored = {f"weight{j}": w for j, w in enumerate(weights)}
    return with_score(column, score, stored)


def _number(one: Coordinate) -> bool:
    """Return whether a coordinate is one number on the full grid, from -H to H."""
    return len(one.numbers) == 1 and not one.marks and one.numbers[0].G == 2 * H


def neighbours(query: Query[Any], schema: Schema, relation: Relation) -> list[Pair]:
    """Return a pair of tables in which a row at all upper bounds becomes one a grid step below, with another response.

    Real columns are lowered by one step.  The pair is returned twice, once for each engine; there is none unless the
    model is Poisson and the relation replace-one.
    """
    if not isinstance(query, Regression) or query.model != "poisson" or relation != "replace-one":
        return []
    response = query.formula.split("~")[0].strip().strip("`")

    def row(*, high: bool, last: bool) -> Row:
        return tuple(
            _cell(schema[name], high=high) if name == response else _upper(schema[name], last=last) for name in schema
        )

    # one row beside it, as a table has two or more
    common = row(high=False, last=True)
    return [Pair((common, row(high=False, last=True)), (common, row(high=True, last=False)))] * 2


def _cell(column: object, *, high: bool) -> object:
    """Return the upper or the lower bound of a response of counts."""
    counts = cast(Integer, column)
    return counts.upper if high else counts.lower


def _upper(column: object, *, last: bool) -> object:
    """Return a regressor's upper bound; for a real column and not `last`, one grid step below it."""
    if isinstance(column, Real):
        low, high = cast(float, column.lower), cast(float, column.upper)
        return float(high) if last else high - (high - low) / (2 * H)
    if isinstance(column, Boolean):
        return True
    if isinstance(column, Category):
        return column.codes[-1]
    return cast("Integer | Date", column).upper
