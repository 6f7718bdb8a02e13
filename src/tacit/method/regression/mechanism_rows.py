"""Read the rows of a regression: exact sums of products of the integer coordinates of complete rows.  INSIDE."""

from __future__ import annotations

from typing import cast

from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.mechanism_sums import check_number
from tacit.release.parts import Cells
from tacit.source import HeldRows, Source


def rows_held(shape: Measurement, source: Source) -> HeldRows | None:
    """READS ROWS.  Return the rows of all parts, whose coordinates are the same, or None: each part reads its own."""
    return _table(shape, source).held(cast(ProductPart, shape.columns[0]).question, shape.where)


def exact_part(column: PartSpec, shape: Measurement, source: Source, rows: HeldRows | None = None) -> Cells:
    """READS ROWS.  Return the integers of a part before noise: never to be shown."""
    question = cast(ProductPart, column).question
    found = _table(shape, source).crossed(question, shape.where) if rows is None else rows.crossed(question)
    check_number(shape.rows, found.rows)
    return (column.form.assemble(found.cells[0]),)


def _table(shape: Measurement, source: Source) -> Source:
    # expressions of the formula are computed row by row, as the schema's computed columns are, and then clamped
    expressions = {one.source: one for one in shape.computed}
    return source.computing(expressions) if expressions else source
