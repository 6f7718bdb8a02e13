"""Expressions of one row, built from columns in Python: `col("educ").clip(0, 12)`.  No data here.

They are the language of computed columns and of `where=`, and nothing else: what is built has a canonical text, which
every engine computes alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from tacit.base.arguments import described, plain
from tacit.errors import QueryError
from tacit.schema.predicates import syntax
from tacit.schema.predicates.parser import expression, parse
from tacit.schema.predicates.syntax import bare, spelled

HINT: Final = 'tc.col("age").clip(0, 65)'
Plain: TypeAlias = int | float | str | bool


@dataclass(frozen=True, eq=False)
class ColumnExpression:
    """A number computed from one row; made by `tacit.col`.

    + - * / (with numbers and other expressions), ** 2 to 4, `abs(…)`, and the methods below.  Comparisons are
    conditions, for the same row.  Raises QueryError Q61 for operands that are neither numbers nor expressions.

    >>> from tacit import col
    >>> str((col("x") - 3) * col("y").clip(0, 1)), str(abs(col("x"))), str(col("x") > 3)
    ('(x - 3) * clip(y, 0, 1)', 'abs(x)', 'x > 3')
    """

    value: syntax.Value

    def __str__(self) -> str:
        return bare(self.value)

    def __repr__(self) -> str:
        return f"<expression {self}>"

    def clip(self, lower: float, upper: float) -> ColumnExpression:
        """Return the value, moved to the nearer of two numbers where it is not between them."""
        return ColumnExpression(syntax.Clip(self.value, _constant(lower), _constant(upper)))

    def log(self) -> ColumnExpression:
        """Return the natural logarithm; a row where it is undefined is missing."""
        return self._called("log")

    def log1p(self) -> ColumnExpression:
        """Return the natural logarithm of 1 + the value."""
        return self._called("log1p")

    def sqrt(self) -> ColumnExpression:
        """Return the square root; missing where the value is below 0."""
        return self._called("sqrt")

    def isin(self, values: Iterable[Plain]) -> ColumnCondition:
        """Return whether a column's value is among those listed; QueryError Q61 for an expression of columns."""
        given = [values] if isinstance(values, str) else list(values)
        return ColumnCondition(syntax.Membership(self._name("isin"), tuple(map(_constant, given))))

    def isna(self) -> ColumnCondition:
        """Return whether a column's cell is missing."""
        return ColumnCondition(syntax.Missing(self._name("isna")))

    def notna(self) -> ColumnCondition:
        """Return whether a column's cell is not missing."""
        return ColumnCondition(syntax.Not(syntax.Missing(self._name("notna"))))

    def _name(self, method: str) -> syntax.Name:
        if isinstance(self.value, syntax.Name):
            return self.value
        raise QueryError(f"{method} of {self}: only a column has it.", code="Q61", hint=f'tc.col("age").{method}(…)')

    def _called(self, function: str) -> ColumnExpression:
        return ColumnExpression(syntax.Call(function, self.value))

    def __abs__(self) -> ColumnExpression:
        return self._called("abs")

    def __neg__(self) -> ColumnExpression:
        return ColumnExpression(syntax.Arithmetic("-", syntax.Constant(0.0), self.value))

    def __add__(self, other: Any) -> ColumnExpression:
        return _arithmetic("+", self, other)

    def __radd__(self, other: Any) -> ColumnExpression:
        return _arithmetic("+", other, self)

    def __sub__(self, other: Any) -> ColumnExpression:
        return _arithmetic("-", self, other)

    def __rsub__(self, other: Any) -> ColumnExpression:
        return _arithmetic("-", other, self)

    def __mul__(self, other: Any) -> ColumnExpression:
        return _arithmetic("*", self, other)

    def __rmul__(self, other: Any) -> ColumnExpression:
        return _arithmetic("*", other, self)

    def __truediv__(self, other: Any) -> ColumnExpression:
        return _arithmetic("/", self, other)

    def __rtruediv__(self, other: Any) -> ColumnExpression:
        return _arithmetic("/", other, self)

    def __pow__(self, power: Any) -> ColumnExpression:
        if isinstance(power, bool) or power not in (2, 3, 4):
            raise QueryError(f"{self} to the power {described(power)}.", code="Q61", hint="** 2, ** 3 or ** 4")
        return ColumnExpression(syntax.Arithmetic("**", self.value, syntax.Constant(float(power))))

    def __lt__(self, other: Any) -> ColumnCondition:
        return _compared("<", self, other)

    def __le__(self, other: Any) -> ColumnCondition:
        return _compared("<=", self, other)

    def __gt__(self, other: Any) -> ColumnCondition:
        return _compared(">", self, other)

    def __ge__(self, other: Any) -> ColumnCondition:
        return _compared(">=", self, other)

    def __eq__(self, other: Any) -> Any:
        return _compared("==", self, other)

    def __ne__(self, other: Any) -> Any:
        return _compared("!=", self, other)

    __hash__ = object.__hash__


@dataclass(frozen=True, eq=False)
class ColumnCondition:
    """A condition on one row, 1 where it holds and else 0; combined with & | ~.

    >>> from tacit import col
    >>> str((col("age") >= 18) & ~(col("sex") == "male"))
    "age >= 18 and not sex == 'male'"
    """

    condition: syntax.Condition

    def __str__(self) -> str:
        return spelled(self.condition)

    def __repr__(self) -> str:
        return f"<condition {self}>"

    def __and__(self, other: Any) -> ColumnCondition:
        return _joined("and", self, other)

    def __or__(self, other: Any) -> ColumnCondition:
        return _joined("or", self, other)

    def __invert__(self) -> ColumnCondition:
        return ColumnCondition(syntax.Not(self.condition))

    def __bool__(self) -> bool:
        # `18 <= col("age") < 65` and `a and b` ask Python for one truth value, and a row has not been seen yet
        raise QueryError(f"{self} is true or false for each row, not once.", code="Q61", hint="& | ~ and brackets")


def col(name: str) -> ColumnExpression:
    """Return a column of the schema as an expression, to compute with: `tc.col("educ").clip(0, 12)`.

    Raises QueryError Q01 for a name that is no text.

    >>> str(col("hours worked") / 8)
    '`hours worked` / 8'
    """
    if not isinstance(name, str) or not name or "`" in name:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise QueryError(f"col of {described(name)}: no column name.", code="Q01", hint='tc.col("age")')
    return ColumnExpression(syntax.Name(name))


def spelling(given: object, whose: str) -> str:
    """Return the canonical text of an expression, a condition, or a text of one.

    Raises QueryError Q60, Q65 for a text that is none, Q61 for another value; `whose` names it.
    """
    if isinstance(given, ColumnCondition):
        return spelled(parse(str(given)))
    if isinstance(given, str):
        try:
            return bare_text(expression(given))
        except QueryError:
            return spelled(parse(given))
    if isinstance(given, ColumnExpression):
        # read back, as a stored question will be: what cannot be read is refused now
        return bare_text(expression(str(given)))
    raise QueryError(f"{whose}: {described(given)} is no expression of columns.", code="Q61", hint=HINT)


def bare_text(said: syntax.Expression) -> str:
    """Return the canonical text of an expression, without outermost brackets."""
    return bare(said) if not isinstance(said, syntax.Cut | syntax.Recode) else spelled(said)


def _arithmetic(op: str, left: Any, right: Any) -> ColumnExpression:
    return ColumnExpression(syntax.Arithmetic(op, _value(left), _value(right)))


def _compared(op: str, left: ColumnExpression, right: Any) -> ColumnCondition:
    return ColumnCondition(syntax.Comparison(op, left.value, _value(right, texts=True)))


def _joined(op: str, left: ColumnCondition, right: Any) -> ColumnCondition:
    if not isinstance(right, ColumnCondition):
        raise QueryError(f"{left} {op} {described(right)}: no condition.", code="Q61", hint='& (tc.col("age") > 3)')
    parts = [one.condition for one in (left, right)]
    # one list for parts of one operator, as the parser makes it
    flat = [
        inner for one in parts for inner in (one.parts if isinstance(one, syntax.AndOr) and one.op == op else (one,))
    ]
    return ColumnCondition(syntax.AndOr(op, tuple(flat)))


def _value(given: Any, texts: bool = False) -> syntax.Value:
    """Return an operand as syntax; QueryError Q61."""
    if isinstance(given, ColumnExpression):
        return given.value
    if isinstance(given, str) and not texts:
        raise QueryError(f"{described(given)} is no number.", code="Q61", hint=f'tc.col("{given}")')
    return _constant(given)


def _constant(given: Any) -> syntax.Constant:
    value = plain(given)
    if not isinstance(value, bool | int | float | str):
        raise QueryError(f"{described(given)} is no number.", code="Q61", hint=HINT)
    return syntax.Constant(float(value) if isinstance(value, int) and not isinstance(value, bool) else value)
