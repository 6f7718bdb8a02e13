"""Expressions of one row as columns of their own: computed columns whose bounds follow from those of what they read.

"log(income)" is the computed column Real(log 1, log 300000, computed="log(income)") where income lies between 1 and
300,000.  A row where it is undefined is missing, and left out.  No data here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from tacit.errors import QueryError, SchemaError
from tacit.schema.column_types import Boolean, Category, Column, Integer, Real
from tacit.schema.predicates import syntax
from tacit.schema.predicates.computed_columns import Computed, computed_columns
from tacit.schema.predicates.number_bounds import Bounds, bounds, unbounded, whole
from tacit.schema.predicates.numeric_expressions import cell_of, number
from tacit.schema.predicates.parser import expression, parse
from tacit.schema.predicates.syntax import Condition, Constant, Expression
from tacit.schema.row_maps_of_columns import between
from tacit.schema.table_schema import Schema


def read(text: str) -> Expression | Condition:
    """Return the syntax of an expression, or of a condition; QueryError Q60 where the text is neither."""
    try:
        return expression(text)
    except QueryError:
        return parse(text)


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of the columns that an expression reads, each once."""
    return syntax.columns(read(text))


def with_expressions(schema: Schema, expressions: Mapping[str, str]) -> tuple[Schema, tuple[Computed, ...]]:
    """Return a schema with expressions as further columns, by name, and how these are computed.

    Raises QueryError Q10 (an unknown column), Q12 (nothing bounds the values), Q61, Q62 (types that do not fit), Q86
    (a name that a column of the schema has; values that are all the same).

    >>> schema, (made,) = with_expressions(Schema({"x": Real(1, 8)}), {"sqrt(2 * x)": "sqrt(2 * x)"})
    >>> schema["sqrt(2 * x)"].upper, made.source
    (4.0, '= sqrt(2 * x)')
    """
    if not expressions:
        return schema, ()
    for name in expressions:
        if name in schema:
            text = f"{name} is computed from a row, and the schema has a column of that name."
            raise QueryError(text, code="Q86", hint=f"`{name}` in backticks is the column")
    made: dict[str, Column] = {name: _named(schema, name, text) for name, text in expressions.items()}
    try:
        extended = Schema({**schema, **made})
        found = computed_columns(extended)
    except SchemaError as problem:
        message, hint = problem.message, problem.hint
    else:
        return extended, tuple(found[extended.source(name)] for name in made)
    raise QueryError(message, code="Q86", hint=hint)


def _named(schema: Schema, name: str, text: str) -> Column:
    """Return the column of an expression; a QueryError that names it."""
    try:
        return _column(schema, text)
    except QueryError as problem:
        message, hint, code = problem.message, problem.hint, problem.code
    raise QueryError(f"{name}: {message}", code=code, hint=hint)


def _column(schema: Schema, text: str) -> Column:
    said = read(text)
    _check_columns(schema, syntax.columns(said))
    cells = {name: cell_of(schema, name) for name in syntax.columns(said)}
    match said:
        case syntax.Cut(value, edges):
            ends = bounds(number(value, cells))
            return Category([*_intervals(ends, edges)], ordered=True, computed=text)
        case syntax.Recode(_, pairs):
            return Category([*dict.fromkeys(str(new.value) for _, new in pairs)], computed=text)
        case syntax.Name() | syntax.Constant() | syntax.Arithmetic() | syntax.Call() | syntax.Clip():
            typed = number(said, cells)
            low, high = bounds(typed)
            if not low < high:
                raise QueryError("it is the same in every row.", code="Q86", hint="leave it out")
            return Integer(int(low), int(high), computed=text) if whole(typed) else Real(low, high, computed=text)
        case _:
            return Boolean(computed=text)


def _check_columns(schema: Schema, names: Iterable[str]) -> None:
    """Raise QueryError Q86 for a computed column, Q12 for one without bounds, from which nothing new is computed."""
    for name in names:
        column: Any = schema.get(name)
        if getattr(column, "computed", None) is not None:
            text = f"column {name!r} is itself computed, and columns are not computed from computed ones."
            raise QueryError(text, code="Q86", hint=f"its own expression, {column.computed}, in place of its name")
        if isinstance(column, Real) and column.lower is None:
            raise unbounded(f"column {name!r} has no bounds.", f'"{name}": Real(0, 100) in the schema')


def _intervals(ends: Bounds, edges: tuple[Constant, ...]) -> tuple[str, ...]:
    """Return the labels of the intervals between edges; QueryError Q86 for edges that are none."""
    cut = [float(edge.value) for edge in edges if not isinstance(edge.value, str | bool)]
    points = [ends[0], *cut, ends[1]]
    if len(cut) < len(edges) or not cut or any(a >= b for a, b in pairwise(points)):
        text = f"its edges do not increase between {ends[0]:g} and {ends[1]:g}, the bounds of what it cuts."
        raise QueryError(text, code="Q86", hint="cut(age, [30, 65])")
    return between(points)
