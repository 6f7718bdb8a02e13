"""Worst cases of regressions' parts: scores, vectors, and neighbouring rows that approach the bounds.

The bound of `score_encoding.glm_scores(weighed=True)` holds for every score function and every weight function.  It is
approached where the score changes its sign and the weight falls to 0 while regressors hardly change: by two rows one
grid step of one regressor apart, with functions that are steep there.  Such functions are admissible: a score function
is public and has to pass `PiecewiseScore.check`, nothing more.

The bound of products of norm-clipped rows is attained by two rows on two axes of the vector, which public weights make
of one coordinate at its two ends.  That of scores is attained where the score goes from one bound to the other: of
residuals, where the response does.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final, cast

from tacit.method.regression.designs.norm_scores_design import WEIGHED
from tacit.method.regression.designs.scores_design import with_score
from tacit.method.regression.pilots.glm_pilot import response_score
from tacit.method.regression.query import Regression
from tacit.method.regression.row_sums.norm_person_encoding import of_rows
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.regression.row_sums.split_score_encoding import COUNT_SCORES, OF_MATRICES, SCORES
from tacit.method.regression.row_sums.weighted_rows import clip_of
from tacit.method.shared.measurement import Measurement
from tacit.release.query import Query
from tacit.rows.coordinates import SIGN, H
from tacit.rows.piecewise_score import FINE, PIECES, L, PiecewiseScore
from tacit.rows.row_products import Coordinate
from tacit.schema import Boolean, Category, Date, Integer, Real, Schema
from tacit.testing.neighbouring_tables import NEWCOMER, Pair, Relation, Row

OWN: Final = ("weighed", "norm-weighed")
"""Names of the forms whose weights are separate from the sizes of the scores."""


def everywhere(shape: Measurement) -> tuple[Measurement, ...]:
    """Return a design and, if it has other worst cases, also the design with these."""
    columns = tuple(worst(one) if isinstance(one, ProductPart) else one for one in shape.columns)
    return (shape,) if columns == shape.columns else (shape, replace(shape, columns=columns))


def worst(column: ProductPart) -> ProductPart:
    """Return a part with the aim under which rows are furthest apart, as far as it is known."""
    name = of_rows(column.form.name)
    if name in OWN:
        return steep(column)
    if name in ("norm-products-2", "norm-products-3"):
        return turned(column)
    if name in OF_MATRICES:
        return _on_two_axes(column)
    if name in ("norm-scored", SCORES, COUNT_SCORES):
        return _of_response(column)
    return column


def _on_two_axes(column: ProductPart) -> ProductPart:
    """Return matrices of rows on two axes, whose scores are at a bound where the response is."""
    score = column.question.score
    if isinstance(score, PiecewiseScore) and score.weight:
        # of counts: a weight of its own falls to 0 on one of both axes
        return turned(steep(column))
    if isinstance(score, PiecewiseScore):
        return turned(_of_response(column))
    return turned(column)


def _of_response(column: ProductPart) -> ProductPart:
    """Return the part with the response as its score: at a bound where the response is."""
    score = response_score(column.layout, clip_of(column.question))
    return replace(column, question=replace(column.question, score=score))


def turned(column: ProductPart) -> ProductPart:
    """Return the part with a vector that is on one axis where a coordinate is at one end, and on another at the other.

    Returns the part unchanged if no coordinate has both ends of the full grid.
    """
    question = column.question
    place = next((j for j, one in enumerate(question.coordinates) if _number(one) or _sign(one)), None)
    if place is None or question.norm is None:
        return column
    rows = [[0] * len(question.coordinates) for _ in question.norm.weights]
    # (z_0 + z_j) / 2 and (z_0 - z_j) / 2
    for row, side in zip(rows, (1, -1), strict=False):
        row[0], row[place] = 1, side
    clip = replace(question.norm, weights=tuple(map(tuple, rows)), shift=1)
    return replace(column, question=replace(question, norm=clip))


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
    model's products have a weight of their own and the relation is replace-one.  With weights the rows of two other
    pairs have the largest weight, as rows at all lower bounds have not, and go from all lower to all upper bounds, or
    their response alone does.
    """
    if not isinstance(query, Regression) or relation != "replace-one":
        return []
    return [*_of_own_weights(query, schema), *_of_weights(query, schema)]


def _of_weights(query: Regression, schema: Schema) -> list[Pair]:
    """Return pairs, each twice, in which a row of the largest weight, or its response, goes from one end to another."""
    if query.weights is None:
        return []
    response = query.formula.split("~")[0].strip().strip("`")

    def row(upper: Collection[str], who: int = NEWCOMER) -> Row:
        cells = {} if schema.unit is None else {schema.unit: who}
        high = {*upper, query.weights}
        return tuple(cells[name] if name in cells else _end(schema[name], high=name in high) for name in schema)

    common = row((), who=0)
    return [Pair((common, row(())), (common, row(upper))) for upper in ([*schema], [response]) for _ in range(2)]


def _of_own_weights(query: Regression, schema: Schema) -> list[Pair]:
    """Return the pair of a model whose products have a weight of their own, twice."""
    if query.model not in WEIGHED:
        return []
    response = query.formula.split("~")[0].strip().strip("`")

    def row(*, high: bool, last: bool, who: int = NEWCOMER) -> Row:
        cells = {response: _cell(schema[response], high=high)} | ({} if schema.unit is None else {schema.unit: who})
        return tuple(cells[name] if name in cells else _upper(schema[name], last=last) for name in schema)

    # one row beside it, of somebody else, as a table has two or more
    common = row(high=False, last=True, who=0)
    return [Pair((common, row(high=False, last=True)), (common, row(high=True, last=False)))] * 2


def _cell(column: object, *, high: bool) -> object:
    """Return the upper or the lower bound of a response of numbers."""
    numbers = cast("Integer | Real", column)
    return numbers.upper if high else numbers.lower


def _end(column: object, *, high: bool) -> object:
    """Return a column's upper or lower bound, or its last or first level."""
    if isinstance(column, Boolean):
        return high
    if isinstance(column, Category):
        return column.codes[-1 if high else 0]
    bounded = cast("Real | Integer | Date", column)
    return bounded.upper if high else bounded.lower


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


def _sign(one: Coordinate) -> bool:
    """Return whether a coordinate is -H or H."""
    return not one.numbers and len(one.marks) == 1 and one.marks[0][1] == SIGN
