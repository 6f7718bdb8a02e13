"""Text -> a condition on one row, whatever the schema; and back, in one spelling.  No data here.

The words are those of pandas' `query`: comparisons (chained ones too), `and`, `or`, `not` (also `&`, `|`, `~`), `in`
and `not in` a list, arithmetic + - * /, names (in backticks where they are no identifiers), numbers, text in quotes,
True and False, and `name.isna()`, `name.notna()`.  All else is refused: nothing else is a function of one row.
"""

from __future__ import annotations

import ast
import io
import json
import math
import tokenize
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias

from tacit.errors import QueryError

LONGEST: Final = 2_000
DEEPEST: Final = 40
COMPARISONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
ARITHMETIC: Final[dict[type[ast.operator], str]] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
LOGIC: Final = {"&": "and", "|": "or", "~": "not"}
MISSING: Final = {"isna": True, "isnull": True, "notna": False, "notnull": False}


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
    """left + - * / right."""

    op: str
    left: Value
    right: Value


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


Value: TypeAlias = Name | Constant | Arithmetic
Condition: TypeAlias = Comparison | Membership | Missing | Flag | Both | Not


def parse(text: object) -> Condition:
    """Text -> condition.  QueryError Q60 where it is not one.

    >>> spelled(parse("18<=age <65 & ~(sex=='male')"))
    "18 <= age and age < 65 and not sex == 'male'"
    """
    if not isinstance(text, str) or not text.strip():
        _refuse(f"where is {text!r}: no condition.", "where=\"age >= 18 and sex == 'female'\"")
    if len(text) > LONGEST:
        _refuse(f"where has {len(text):,} characters; at most {LONGEST:,} are read.", "a shorter condition")
    found = _read(text)
    if found is not None:  # its one spelling must be read as the same, for releases are
        said = spelled(found)
        found = found if len(said) <= LONGEST and _read(said) == found else None
    if found is None:
        _refuse(f"where={text!r} is no condition that can be read.", "where=\"age >= 18 and sex == 'female'\"")
    if not columns(found):
        _refuse(f"where={text!r} names no column.", 'where="age >= 18"')
    return found


def _read(text: str) -> Condition | None:
    names: list[str] = []
    try:
        return _condition(ast.parse(_as_python(text, names).strip(), mode="eval").body, names, 0)
    except (SyntaxError, ValueError, KeyError, IndexError, tokenize.TokenError, RecursionError, MemoryError):
        return None


def columns(part: Condition | Value) -> tuple[str, ...]:
    """Names of columns, each once, in order."""
    match part:
        case Name(name):
            found: tuple[str, ...] = (name,)
        case Constant():
            found = ()
        case Membership(name, _) | Missing(name) | Flag(name):
            found = (name.name,)
        case Not(inner):
            found = columns(inner)
        case Both(_, parts):
            found = tuple(name for one in parts for name in columns(one))
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            found = (*columns(left), *columns(right))
    return tuple(dict.fromkeys(found))


def spelled(part: Condition | Value) -> str:
    """The one spelling: equal conditions that were typed with other blanks, quotes or signs read the same."""
    match part:
        case Name(name):
            return name if name.isidentifier() and name not in _WORDS else f"`{name}`"
        case Constant(value):
            return _quoted(value) if isinstance(value, str) else _plain(value)
        case Arithmetic(op, left, right):
            return f"({spelled(left)} {op} {spelled(right)})"
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


def _refuse(message: str, hint: str) -> NoReturn:
    raise QueryError(message, code="Q60", hint=hint)


def _as_python(text: str, names: list[str]) -> str:
    """Backticked names -> c0_, c1_, ..., signs of logic -> words, as pandas reads them: below comparisons."""
    made: list[str] = []
    quote, at = "", 0
    while at < len(text):
        sign = text[at]
        if quote:
            made.append(text[at : at + 2] if sign == "\\" else sign)
            at += len(made[-1])
            quote = "" if sign == quote else quote
            continue
        if sign == "`":
            end = text.index("`", at + 1)
            names.append(text[at + 1 : end])
            made.append(f" tacit_name_{len(names) - 1}_ ")
            at = end + 1
            continue
        quote = sign if sign in "'\"" else ""
        made.append(f" {LOGIC[sign]} " if sign in LOGIC else " " if sign in "\r\n" else sign)
        at += 1
    found = "".join(made)
    for token in tokenize.generate_tokens(io.StringIO(found).readline):
        if token.type == tokenize.COMMENT:
            raise ValueError("a comment")
    return found


def _condition(node: ast.expr, names: list[str], depth: int) -> Condition:
    if depth > DEEPEST:
        raise ValueError("too deep")
    match node:
        case ast.BoolOp(op=op, values=values):
            word = "and" if isinstance(op, ast.And) else "or"
            parts: list[Condition] = []
            for one in (_condition(value, names, depth + 1) for value in values):
                parts += one.parts if isinstance(one, Both) and one.op == word else (one,)
            return Both(word, tuple(parts))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Not(_condition(operand, names, depth + 1))
        case ast.Compare(left=left, ops=ops, comparators=others):
            chain = [left, *others]
            made = [_comparison(a, op, b, names, depth) for a, op, b in zip(chain, ops, chain[1:], strict=False)]
            return made[0] if len(made) == 1 else Both("and", tuple(made))
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=[], keywords=[]) if attr in MISSING:
            missing = Missing(_name(value, names))
            return missing if MISSING[attr] else Not(missing)
        case _:
            return Flag(_name(node, names))


def _comparison(left: ast.expr, op: ast.cmpop, right: ast.expr, names: list[str], depth: int) -> Condition:
    if isinstance(op, ast.In | ast.NotIn):
        if not isinstance(right, ast.List | ast.Tuple | ast.Set) or not right.elts:
            raise ValueError("in what?")
        among = tuple(_constant(one) for one in right.elts)
        found = Membership(_name(left, names), tuple(dict.fromkeys(among)))
        return found if isinstance(op, ast.In) else Not(found)
    return Comparison(COMPARISONS[type(op)], _value(left, names, depth + 1), _value(right, names, depth + 1))


def _value(node: ast.expr, names: list[str], depth: int) -> Value:
    if depth > DEEPEST:
        raise ValueError("too deep")
    match node:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            return Arithmetic(ARITHMETIC[type(op)], _value(left, names, depth + 1), _value(right, names, depth + 1))
        case ast.Constant() | ast.UnaryOp():
            return _constant(node)
        case _:
            return _name(node, names)


def _constant(node: ast.expr) -> Constant:
    match node:
        case ast.Constant(value=bool() | str() as value):
            return Constant(value)
        case ast.Constant(value=int() | float() as value) if _fits(value):
            return Constant(float(value))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)) if _fits(value):
            return Constant(-float(value))
        case _:
            raise ValueError("no constant")


def _fits(value: float) -> bool:
    """Whether a 64-bit float holds a constant exactly as it is written."""
    return abs(value) < 2**53 if isinstance(value, int) else math.isfinite(value)


def _name(node: ast.expr, names: list[str]) -> Name:
    if not isinstance(node, ast.Name):
        raise ValueError("no name")
    if node.id.startswith("tacit_name_") and node.id.endswith("_"):
        return Name(names[int(node.id[11:-1])])
    return Name(node.id)
