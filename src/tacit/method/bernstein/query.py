"""The question of a Bernstein polynomial, as plain values.  No data here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from tacit.base.arguments import described
from tacit.errors import QueryError
from tacit.release.query import Needed, Query
from tacit.release.query_checks import condition as _condition
from tacit.release.query_checks import names as _names

if TYPE_CHECKING:
    from tacit.method.bernstein.estimate import BernsteinRelease  # noqa: F401

MOST_DEGREE: Final = 256
"""Largest degree."""
MOST_ORDER: Final = 4
"""Largest order of the iterated operator."""


@dataclass(frozen=True)
class Bernstein(Query["BernsteinRelease"]):
    """The distribution function of a numeric column, as an iterated Bernstein polynomial of its values on a lattice.

    column: of numbers or dates, with bounds.  degree: k, from 2 to 256; the number of rows at or below each of k + 1
    values, from one end of the column's range to the other, is released with noise.  Where none is given, it follows
    from the number of rows (or the size_hint), the price and the order.  order: h, from 1 to 4; the polynomial differs
    from a function with 2 h derivatives by about k ** -h.  Another costs nothing: `release.cdf(…, order=3)`.
    where: of the rows for which a condition holds.  A row with a missing value is left out.
    With a PrivacyUnit persons are counted: a person's rows weigh one in all.

    A row changes the counts at up to all lattice values, so that noise at a pure price grows with the degree; a
    `Histogram` of as many bins has noise that does not, and is then nearer.
    Raises QueryError Q01 to Q03, Q320 (degree=), Q321 (order=); when planned or released Q10, Q12, Q13, Q82 (no degree,
    and no number of rows).  Source: Aldà & Rubinstein 2017, with the exact sensitivity; theory §8.

    >>> Bernstein("age", degree=20).to_dict()
    {'query': 'Bernstein', 'column': 'age', 'degree': 20, 'order': 2}
    """

    needed: ClassVar = Needed(("column",), "column of Bernstein: none is named.", 'column = "age"')

    column: str
    degree: int | None = None
    order: int = 2
    where: str | None = None

    def __post_init__(self) -> None:
        given = _names("Bernstein", "column", self.column)
        if len(given) != 1:
            raise QueryError(f"Bernstein takes one column, not {len(given)}.", code="Q03", hint='Bernstein("age")')
        object.__setattr__(self, "column", given[0])
        if self.degree is not None and not _between(self.degree, 2, MOST_DEGREE):
            message = f"degree of Bernstein is {described(self.degree)}: not from 2 to {MOST_DEGREE}."
            raise QueryError(message, code="Q320", hint="degree=20, or leave it out")
        if not _between(self.order, 1, MOST_ORDER):
            message = f"order of Bernstein is {described(self.order)}: not from 1 to {MOST_ORDER}."
            raise QueryError(message, code="Q321", hint="order=2")
        _condition(self)


def _between(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
