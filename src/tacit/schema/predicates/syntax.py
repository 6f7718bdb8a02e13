"""A condition on one row, or a value computed from one: what can be said, and its one spelling.  No data here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, TypeAlias

FUNCTIONS: Final = ("log", "sqrt", "abs", "year", "quarter", "month", "day", "weekday")


@dataclass(frozen=True)
class Name:
    """A column."""

    name: str


@dataclass(frozen=True)
class Constant:
    """A number, text, or True or False."""

    value: float | int | str | bool


@dataclass(frozen=True)
class Arithmetic:
    """left + - * / right; left ** right, where right is 2, 3 or 4."""

    op: str
    left: Value
    right: Value


@dataclass(frozen=True)
class Call:
    """One of FUNCTIONS of a value."""

    function: str
    argument: Value


@dataclass(frozen=True)
class Cut:
    """Which of the intervals between rising edges a value is in: from 0, an edge belonging to the interval above."""

    value: Value
    edges: tuple[Constant, ...]


@dataclass(frozen=True)
class Recode:
    """Levels of a category -> other levels; one that is not named has none."""

    name: Name
    pairs: tuple[tuple[Constant, Constant], ...]


@dataclass(frozen=True)
class Comparison:
    """left == != < <= > >= right."""

    op: str
    left: Value
    right: Value


@dataclass(frozen=True)
class Membership:
    """A column's cell is one of the listed constants."""

    name: Name
    among: tuple[Constant, ...]


@dataclass(frozen=True)
class Missing:
    """A column's cell is missing."""

    name: Name


@dataclass(frozen=True)
class Flag:
    """A Boolean column, by itself."""

    name: Name


@dataclass(frozen=True)
class Both:
    """All of the parts (op "and"), or one of them at least ("or")."""

    op: str
    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    """Not the part."""

    part: Condition


Value: TypeAlias = Name | Constant | Arithmetic | Call
Condition: TypeAlias = Comparison | Membership | Missing | Flag | Both | Not
Expression: TypeAlias = Value | Cut | Recode


def columns(part: Condition | Expression) -> tuple[str, ...]:
    """Names of columns, each once, in order."""
    match part:
        case Name(name):
            found: tuple[str, ...] = (name,)
        case Constant():
            found = ()
        case Membership(name, _) | Missing(name) | Flag(name) | Recode(name, _):
            found = (name.name,)
        case Call(_, value) | Cut(value, _):
            found = columns(value)
        case Not(inner):
            found = columns(inner)
        case Both(_, parts):
            found = tuple(name for one in parts for name in columns(one))
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            found = (*columns(left), *columns(right))
    return tuple(dict.fromkeys(found))


def spelled(part: Condition | Expression) -> str:
    """The one spelling: equal conditions that were typed with other blanks, quotes or signs read the same."""
    match part:
        case Name(name):
            return name if name.isidentifier() and name not in _WORDS else f"`{name}`"
        case Constant(value):
            return _quoted(value) if isinstance(value, str) else _plain(value)
        case Arithmetic(op, left, right):
            return f"({spelled(left)} {op} {spelled(right)})"
        case Call(function, argument):
            return f"{function}({_bare(argument)})"
        case Cut(value, edges):
            return f"cut({_bare(value)}, [{', '.join(map(spelled, edges))}])"
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
        case Both(op, parts):
            return f" {op} ".join(_inner(one) if isinstance(one, Both) else spelled(one) for one in parts)


_WORDS: Final = ("and", "or", "not", "in", "True", "False", "None", "is", "if", "else", "lambda", "for")


def _bare(value: Value) -> str:
    """Without the outermost brackets, where others stand around it."""
    text = spelled(value)
    return text[1:-1] if isinstance(value, Arithmetic) else text


def _inner(part: Condition) -> str:
    return f"({spelled(part)})" if isinstance(part, Both) else spelled(part)


def _quoted(text: str) -> str:
    return (
        f"'{text}'"
        if "'" not in text and "\\" not in text and text.isprintable()
        else json.dumps(text, ensure_ascii=False)
    )


def _plain(value: float | bool) -> str:
    """A number in one spelling: 18.0 is 18."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return repr(int(value)) if whole else repr(value)
