"""Exact sums of the rows of a table, cell by cell, and additive noise on each.  INSIDE the wall.

Each part's encoding says what is added up and how much a neighbour changes it; its law is the noise.  The privacy
arguments are those of the mechanisms that use these functions, and of `mechanism_additive`.
"""

from __future__ import annotations

from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism_additive import protect_parts
from tacit.release.parts import Cells, Part
from tacit.rows.row_map import Aggregate, SumTerm
from tacit.source import Source


def exact_sums(shape: Measurement, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  Return the exact integers before noise, one tuple of cells for each part: never to be shown."""
    terms: list[SumTerm] = []
    for column in shape.columns:
        terms += column.terms
    # one pass for all parts: they are sums of the same rows
    found = source.aggregate(shape.keys, terms, shape.unit, shape.where)
    check_rows(shape, found)
    answers: list[Cells] = []
    start = 0
    for column in shape.columns:
        stop = start + len(column.form.polynomials)
        answers.append(tuple(column.form.assemble(cell[start:stop]) for cell in found.cells))
        start = stop
    return tuple(answers)


def noisy_parts(shape: Measurement, exact: tuple[Cells, ...]) -> tuple[Part, ...]:
    """Return every part, with fresh noise on each of its integers."""
    noisy = protect_parts(exact, [column.law for column in shape.columns])
    return tuple(one.released(cells) for one, cells in zip(shape.columns, noisy, strict=True))


def check_rows(shape: Measurement, found: Aggregate) -> None:
    """Raise RuntimeError where the table no longer has the public number of rows: it changed while it was read."""
    if shape.unit is not None and shape.keys:
        return  # a person may be in several cells: persons were counted when the table was opened
    check_number(shape.rows, found.rows)


def check_number(public: int | None, found: int) -> None:
    """Raise RuntimeError where a public number of rows is not the one found; `public` None: nothing to check."""
    # checked only where the number is public: neighbouring tables agree in it, so the error tells nothing of a row
    if public is not None and found != public:
        raise RuntimeError("the table changed while it was read")
