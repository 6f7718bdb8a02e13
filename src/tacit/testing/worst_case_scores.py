"""Where the bound of scores with weights of their own is approached: a state of releases, and two neighbouring rows.

The bound of `score_encoding.scored(weighed=True)` holds whatever score and weight are.  It is approached where a score
turns over and a weight falls to 0 while regressors hardly move: by rows one step of one regressor apart, at a score
that is as steep there.  Such a score is as public as any: `PiecewiseScore.check` admits it, and nothing else is asked
of one.
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
"""The form whose weights are not sizes of scores."""


def everywhere(shape: Measurement) -> tuple[Measurement, ...]:
    """A design, and where a part has weights of its own also one whose parts are aimed steeply (`steep`)."""
    if not any(column.form.name == OWN for column in shape.columns):
        return (shape,)
    columns = tuple(steep(cast(ProductPart, one)) if one.form.name == OWN else one for one in shape.columns)
    return (shape, replace(shape, columns=columns))


def steep(column: ProductPart) -> ProductPart:
    """The part where a number's last step raises weights from 0 to C, and scores are -C or C as the response says.

    Itself where no coordinate is a number that has all steps.
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
        (2 * unit // H,) * (PIECES + 1),
        (2 * unit,) * (PIECES + 1),
        (0,) * (half + 1) + (unit,) * half,
    )
    score.check()
    stored = {f"weight{j}": w for j, w in enumerate(weights)}
    return with_score(column, score, stored)


def _number(one: Coordinate) -> bool:
    return len(one.numbers) == 1 and not one.marks and one.numbers[0].G == 2 * H


def neighbours(query: Query[Any], schema: Schema, relation: Relation) -> list[Pair]:
    """Return two rows at the upper bounds of all regressors, less one step for numbers, with extreme responses.

    Twice, once for each engine; none but of counts, and where one row is replaced by another.
    """
    if not isinstance(query, Regression) or query.model != "poisson" or relation != "replace-one":
        return []
    response = query.formula.split("~")[0].strip().strip("`")

    def row(*, high: bool, last: bool) -> Row:
        return tuple(
            _cell(schema[name], high=high) if name == response else _upper(schema[name], last=last) for name in schema
        )

    common = row(high=False, last=True)
    return [Pair((common, row(high=False, last=True)), (common, row(high=True, last=False)))] * 2


def _cell(column: object, *, high: bool) -> object:
    """A bound of a response of counts."""
    counts = cast(Integer, column)
    return counts.upper if high else counts.lower


def _upper(column: object, *, last: bool) -> object:
    """A regressor's upper bound, or one step of the grid below."""
    if isinstance(column, Real):
        low, high = cast(float, column.lower), cast(float, column.upper)
        return float(high) if last else high - (high - low) / (2 * H)
    if isinstance(column, Boolean):
        return True
    if isinstance(column, Category):
        return column.codes[-1]
    return cast("Integer | Date", column).upper
