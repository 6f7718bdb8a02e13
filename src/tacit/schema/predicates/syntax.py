"""Syntax trees of conditions on one row and of values computed from one, and their canonical text.  No data here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, TypeAlias

FUNCTIONS: Final = ("log", "log1p", "sqrt", "abs", "year", "quarter", "month", "day", "weekday")


@dataclass(frozen=True)
class Name:
    """A column, by its name in the schema."""

    name: str


@dataclass(frozen=True)
class Constant:
    """A constant: a number, text, True or False."""

    value: float | int | str | bool


@dataclass(frozen=True)
class Arithmetic:
    """The operation left + - * / right, or left ** right with right 2, 3 or 4."""

    op: str
    left: Value
    right: Value


@dataclass(frozen=True)
class Call:
    """One of FUNCTIONS applied to a value."""

    function: str
    argument: Value


@dataclass(frozen=True)
class Clip:
    """A value, moved to the nearer of two numbers where it is not between them."""

    value: Value
    lower: Constant
    upper: Constant


@dataclass(frozen=True)
class Cut:
    """The index, from 0, of the interval between increasing edges that contains a value; edges are in the upper one."""

    value: Value
    edges: tuple[Constant, ...]


@dataclass(frozen=True)
class Recode:
    """A map from levels of a category to other levels; a level that is not listed becomes missing."""

    name: Name
    pairs: tuple[tuple[Constant, Constant], ...]


@dataclass(frozen=True)
class Comparison:
    """The comparison left == != < <= > >= right."""

    op: str
    left: Value
    right: Value


@dataclass(frozen=True)
class Membership:
    """Whether a column's cell is one of the listed constants."""

    name: Name
    among: tuple[Constant, ...]


@dataclass(frozen=True)
class Missing:
    """Whether a column's cell is missing."""

    name: Name


@dataclass(frozen=True)
class Flag:
    """A Boolean column used as a condition."""

    name: Name


@dataclass(frozen=True)
class AndOr:
    """The conjunction of the parts (op "and"), or their disjunction ("or")."""

    op: str
    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    """The negation of a condition."""

    part: Condition


Value: TypeAlias = Name | Constant | Arithmetic | Call | Clip
Condition: TypeAlias = Comparison | Membership | Missing | Flag | AndOr | Not
Expression: TypeAlias = Value | Cut | Recode


def columns(part: Condition | Expression) -> tuple[str, ...]:
    """Return the names of the columns in a tree, each once, in order of appearance."""
    match part:
        case Name(name):
            found: tuple[str, ...] = (name,)
        case Constant():
            found = ()
        case Membership(name, _) | Missing(name) | Flag(name) | Recode(name, _):
            found = (name.name,)
        case Call(_, value) | Cut(value, _) | Clip(value, _, _):
            found = columns(value)
        case Not(inner):
            found = columns(inner)
        case AndOr(_, parts):
            found = tuple(name for one in parts for name in columns(one))
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            found = (*columns(left), *columns(right))
    return tuple(dict.fromkeys(found))


def spelled(part: Condition | Expression) -> str:
    """Return the canonical text of a tree: the same for equal trees, however their blanks and quotes were typed."""
    match part:
        case Name(name):
            return name if name.isidentifier() and name not in _WORDS else f"`{name}`"
        case Constant(value):
            return _quoted(value) if isinstance(value, str) else _plain(value)
        case Arithmetic(op, left, right):
            return f"({spelled(left)} {op} {spelled(right)})"
        case Call(function, argument):
            return f"{function}({bare(argument)})"
        case Clip(value, lower, upper):
            return f"clip({bare(value)}, {spelled(lower)}, {spelled(upper)})"
        case Cut(value, edges):
            return f"cut({bare(value)}, [{', '.join(map(spelled, edges))}])"
        case Recode(name, pairs):
            return f"recode({spelled(name)}, {{{', '.join(f'{spelled(a)}: {spelled(b)}' for a, b in pairs)}}})"
        case Comparison(op, left, right):
            return f"{spelled(left)} {op} {spelled(right)}"
        case Membership(name, among):
            return f"{spelled(name)} in [{', '.join(map(spelled, among))}]"
        case Missing(name):
            return f"{spelled(name)}.isna()"
        case Flag(name):
            return spelled(name)
        case Not(inner):
            return f"not {_inner(inner)}"
        case AndOr(op, parts):
            return f" {op} ".join(_inner(one) if isinstance(one, AndOr) else spelled(one) for one in parts)


_WORDS: Final = ("and", "or", "not", "in", "True", "False", "None", "is", "if", "else", "lambda", "for")


def bare(value: Value) -> str:
    """Return the text of a value without outermost brackets, for use inside other brackets."""
    text = spelled(value)
    return text[1:-1] if isinstance(value, Arithmetic) else text


def _inner(part: Condition) -> str:
    return f"({spelled(part)})" if isinstance(part, AndOr) else spelled(part)


def _quoted(text: str) -> str:
    return (
        f"'{text}'"
        if "'" not in text and "\\" not in text and text.isprintable()
        else json.dumps(text, ensure_ascii=False)
    )


def _plain(value: float | bool) -> str:
    """Return the canonical text of a number or truth value: 18.0 is written 18."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return repr(int(value)) if whole else repr(value)
