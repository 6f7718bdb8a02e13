"""Checks of what the values of a Real are declared to be multiples of, all of them or a share of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, Literal

from tacit.errors import SchemaError
from tacit.rows.multiples import between
from tacit.schema.column_checks import finite, show

MOST_UNITS: Final = 2.0**40
"""Largest bound in declared units: halves of a unit are far from the rounding of floats."""
_CODES: Final = {"multiple_of": "S40", "heaped_at": "S45"}
_HINTS: Final = {
    "multiple_of": "multiple_of=1, multiple_of=0.5, or leave it out",
    "heaped_at": "heaped_at=10_000, heaped_at=5, or leave it out",
}


def unit_of(word: Literal["multiple_of", "heaped_at"], given: object, low: float | None, high: float | None) -> float:
    """Return it as a float; SchemaError S40, S45 unless two multiples or more lie between the bounds."""
    code, hint = _CODES[word], _HINTS[word]
    try:
        unit = finite(given, f"{word} of Real", hint)
    except SchemaError as problem:
        raise SchemaError(problem.message, code=code, hint=hint) from None
    fits = unit > 0
    if fits and low is not None and high is not None:
        fits = max(abs(low), abs(high)) / unit <= MOST_UNITS and between(low, high, unit).count > 1
    if not fits:
        said = "is not above 0" if unit <= 0 else "has fewer than two multiples within the bounds, or too many"
        raise SchemaError(f"{word} {show(unit)} of Real {said}.", code=code, hint=hint)
    return unit


def whole_units(heap: float, unit: float | None) -> None:
    """Raise SchemaError S45 unless heaps are at multiples of what all values are multiples of, if that is declared."""
    if unit is not None and (Fraction(str(heap)) / Fraction(str(unit))).denominator != 1:
        text = f"heaped_at {show(heap)} of Real is no multiple of {show(unit)}, as which its values are declared."
        raise SchemaError(text, code="S45", hint=f"heaped_at={show(10 * unit)}, or leave one out")
