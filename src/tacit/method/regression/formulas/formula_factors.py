"""Factors of a formula's terms: columns, powers, and expressions of one row, read by the schema's own parser.  No data.

An expression is a function of a row as in a computed column: `log(cost)`, `cut(age, [30, 65])`, and within `I( )`
arithmetic and conditions, `I(cost / people)`, `I(age >= 65)`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from tacit.errors import QueryError
from tacit.schema.predicates import syntax
from tacit.schema.row_expressions import read

CALLED: Final = (*syntax.FUNCTIONS, "cut", "recode")
"""What may be called in a formula, beside C( ) and I( )."""
POWER: Final = re.compile(r"\s*(?:([^\W\d]\w*)|`([^`\n]+)`)\s*(?:\*\*\s*([23])\s*)?\Z")
"""A column, or its square or cube: read here, for a column may have a name that is a word of the parser."""


@dataclass(frozen=True)
class Factor:
    """One factor of a term: a column, `C(column)`, `I(column ** power)`, or an expression in place of the column.

    column: its name; of an expression "log(cost)" or "I(cost / people)".  computed: the expression's canonical text,
    empty for a column.
    """

    column: str
    power: int = 1
    category: bool = False
    computed: str = ""

    @property
    def label(self) -> str:
        """The factor as formulaic writes it.

        >>> Factor("age", 2).label, Factor("sex", category=True).label, Factor("I(a / b)", 2, computed="a / b").label
        ('I(age ** 2)', 'C(sex)', 'I((a / b) ** 2)')
        """
        if self.power > 1:
            called = self.column == self.computed
            inner = (self.computed if called else f"({self.computed})") if self.computed else quoted(self.column)
            return f"I({inner} ** {self.power})"
        return f"C({quoted(self.column)})" if self.category else self.column

    @property
    def written(self) -> str:
        """The factor as it is written in a formula: its label, with a column's name in backticks where it must be."""
        return self.label if self.power > 1 or self.category or self.computed else quoted(self.column)

    @property
    def alone(self) -> Factor:
        """The factor as a column of its own, for the left side; ValueError for a power that no expression is."""
        if self.power == 1:
            return self
        return _as_expression(self.label[2:-1])


def quoted(name: str) -> str:
    """Return a name as it is written in a formula."""
    return name if name.isidentifier() and name not in ("C", "I") else f"`{name}`"


def factor_of(function: str, inner: str) -> Factor:
    """Return the factor that `function(inner)` is, function I or one of CALLED; ValueError where it is none.

    >>> factor_of("log", " cost/1000 ").column, factor_of("I", "log(cost)**2").label
    ('log(cost / 1000)', 'I(log(cost) ** 2)')
    """
    if function == "C" or function == "I":
        found = POWER.match(inner)
        if found is not None:
            name, power = found[1] or found[2], int(found[3] or 1)
            if function == "C" and power > 1:
                raise ValueError("C of a power")
            return Factor(name, power, category=function == "C")
        if function == "C":
            raise ValueError("C of an expression")
    try:
        return _factor(read(inner if function == "I" else f"{function}({inner})"))
    except QueryError as problem:
        raise ValueError("no expression") from problem


def _factor(said: syntax.Expression | syntax.Condition) -> Factor:
    match said:
        case syntax.Name(name) | syntax.Flag(syntax.Name(name)):
            return Factor(name)
        case syntax.Arithmetic("**", base, syntax.Constant(float() as power)) if power in (2, 3):
            inner = _factor(base)
            # a power of a power is an expression as a whole
            return Factor(inner.column, int(power), computed=inner.computed) if inner.power == 1 else _wrapped(said)
        case syntax.Call() | syntax.Cut() | syntax.Recode():
            text = syntax.spelled(said)
            return Factor(text, computed=text)
        case _:
            return _wrapped(said)


def _wrapped(said: syntax.Expression | syntax.Condition) -> Factor:
    text = syntax.bare(said) if isinstance(said, syntax.Arithmetic) else syntax.spelled(said)
    return Factor(f"I({text})", computed=text)


def _as_expression(text: str) -> Factor:
    try:
        return _wrapped(read(text))
    except QueryError as problem:
        raise ValueError("no expression") from problem


def closing(text: str, at: int) -> int:
    """Return the place of the bracket that closes the one at `at`, outside of quotes; ValueError where none does.

    >>> closing("cut(a, [1, (2)]) + 'x'", 3)
    15
    """
    depth, quote = 0, ""
    place = at
    while place < len(text):
        sign = text[place]
        if quote:
            place += sign == "\\" and quote != "`"
            quote = "" if sign == quote else quote
        elif sign in "'\"`":
            quote = sign
        else:
            depth += (sign in "([{") - (sign in ")]}")
            if depth == 0:
                return place
        place += 1
    raise ValueError("a bracket is not closed")
