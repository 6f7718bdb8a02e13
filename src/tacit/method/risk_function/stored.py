"""Checks of a stored risk function against its question: columns, lattice, sensitivity and number of integers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, cast

from tacit.method.risk_function.design import OF_LEVELS, form_of
from tacit.method.risk_function.query import RiskFunction
from tacit.release.parts import Variable

if TYPE_CHECKING:
    from tacit.release.document import Release

MOST_VALUES: Final = 2.0**53
"""Bounds of whole numbers and days are exact in floats up to here."""


def wrong(made: Release) -> Iterator[str]:
    """Yield why the part does not answer the question; nothing where it does."""
    query, variables = cast(RiskFunction, made.query), made.variables
    names = (query.outcome, *query.on)
    if len(made.parts) != 1 or made.parts[0].label != "" or tuple(one.name for one in variables) != names:
        yield "it is not one part of the columns of the question"
        return
    levels, (part,) = query.loss in OF_LEVELS, made.parts
    if (variables[0].kind == "levels" and len(variables[0].labels) == 2) != levels:
        yield f"its outcome has not what a {query.loss} loss is of"
        return
    for one in variables[1:] if levels else variables:
        if not _public(one, boolean=one is not variables[0]):
            yield f"column {one.name!r} has no public bins"
            return
    persons = made.unit is not None
    leaves = persons or query.where is not None or any(one.missing == "exclude" for one in variables)
    form = form_of(query, variables, made.neighbors, part.cost, leaves=leaves, persons=persons)
    if (part.parameters, part.l1, part.l2_squared) != (form.parameters, form.l1, form.l2_squared):
        yield "its sensitivity is not that of its lattice"
    if len(part.integers[0]) != len(form.matrix):
        yield f"it has {len(part.integers[0]):,} integers; its lattice makes {len(form.matrix):,}"


def _public(one: Variable, *, boolean: bool) -> bool:
    if one.kind == "boolean":
        return boolean
    whole = one.kind == "real" or (one.lower.is_integer() and one.upper.is_integer())
    return one.kind in ("real", "integer", "date") and whole and max(abs(one.lower), abs(one.upper)) <= MOST_VALUES
