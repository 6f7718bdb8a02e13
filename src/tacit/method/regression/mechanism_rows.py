"""Read the rows of a regression: exact sums of products of the integer coordinates of complete rows.  INSIDE."""

from __future__ import annotations

from typing import cast

from tacit.method.regression.product_parts import ProductPart
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.mechanism_sums import check_number
from tacit.release.parts import Cells
from tacit.source import Source


def exact_part(column: PartSpec, shape: Measurement, source: Source) -> Cells:
    """READS ROWS.  Return the integers of a part before noise: never to be shown."""
    # expressions of the formula are computed row by row, as the schema's computed columns are, and then clamped
    expressions = {one.source: one for one in shape.computed}
    table = source.computing(expressions) if expressions else source
    found = table.crossed(cast(ProductPart, column).question, shape.where)
    check_number(shape.rows, found.rows)
    return (column.form.assemble(found.cells[0]),)
