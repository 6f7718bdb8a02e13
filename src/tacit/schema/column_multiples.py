"""The columns whose values are multiples of a declared number: an Integer, or a Real with `multiple_of`.

Bins of such a Real begin halfway between two of its values, so that a cell of the table counts as the nearest one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeGuard

from tacit.rows.multiples import Multiples, between
from tacit.schema.column_types import Integer, Real


def has_multiples(column: object) -> TypeGuard[Real | Integer]:
    """Return whether a column's values are multiples of a declared number between bounds."""
    if isinstance(column, Integer):
        return True
    return isinstance(column, Real) and column.multiple_of is not None and column.lower is not None


def multiples(column: Real | Integer) -> Multiples:
    """Return the values of a column that `has_multiples`.

    >>> multiples(Integer(18, 93)).count, multiples(Real(0, 1, multiple_of=0.1)).count
    (76, 11)
    """
    if isinstance(column, Integer):
        return Multiples(Fraction(1), column.lower, column.upper)
    lower, upper, unit = column.lower, column.upper, column.multiple_of
    if lower is None or upper is None or unit is None:
        raise TypeError(f"{column!r} has no declared multiples")
    return between(lower, upper, unit)
