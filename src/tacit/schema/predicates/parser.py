"""Parse text into a condition on one row, or a value computed from one, without a schema.  No data here.

The language is that of pandas' `query`: comparisons (also chained), `and`, `or`, `not` (also `&`, `|`, `~`), `in` and
`not in` a list, arithmetic + - * / and ** 2, names (in backticks unless they are identifiers), numbers, text in quotes,
True and False, `name.isna()`, `name.notna()`, and a few functions.  Everything else is refused, so that a condition is
a function of one row which every engine computes alike.
"""

from __future__ import annotations

import ast
import io
import math
import re
import tokenize
import warnings
from typing import Final, NoReturn

from tacit.base.arguments import described, kind_of
from tacit.errors import QueryError
from tacit.schema.predicates.syntax import (
    FUNCTIONS,
    AndOr,
    Arithmetic,
    Call,
    Clip,
    Comparison,
    Condition,
    Constant,
    Cut,
    Expression,
    Flag,
    Membership,
    Missing,
    Name,
    Not,
    Recode,
    Value,
    columns,
    spelled,
)

LONGEST: Final = 2_000
"""Largest number of characters of a condition or a computed value."""
DEEPEST: Final = 40
"""Largest depth of nesting."""
COMPARISONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
ARITHMETIC: Final[dict[type[ast.operator], str]] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
LOGIC: Final = {"&": "and", "|": "or"}
"""They bind less tightly than comparisons, as in pandas; `~` binds as in Python, and before a comparison is refused."""
NOT_READ: Final = (SyntaxError, ValueError, KeyError, IndexError, tokenize.TokenError, RecursionError, MemoryError)
"""What the parser and a lookup in it may raise: an operator that is not read, a placeholder without its name."""
OTHERWISE: Final = (
    (r"(?<![=!<>~])=(?!=)", "=="), (r"<>", "!="), (r"&&", "and"), (r"\|\|", "or"), (r"%in%", "in"),
    (r"!(?=\s*[\w(`])", "not "),
    (r"(?i)\bis\s+not\s+null\b", ".notna()"), (r"(?i)\bis\s+null\b", ".isna()"), (r"\s+(?=\.(?:notna|isna)\(\))", ""),
    (r"\bAND\b", "and"), (r"\bOR\b", "or"), (r"\bNOT\b", "not"), (r"\bIN\b", "in"),
    (r"\bin\s*(?:c\b)?\s*\(([^()]*)\)", r"in [\1]"),
    (r"\bTRUE\b|\btrue\b", "True"), (r"\bFALSE\b|\bfalse\b", "False"),
)  # fmt: skip
"""What is written otherwise in SQL and R, and how it is written here: for a hint, never to be read."""
MISSING: Final = {"isna": True, "isnull": True, "notna": False, "notnull": False}


def parse(text: object) -> Condition:
    """Return the condition that a text states; QueryError Q60 where it states none.

    >>> spelled(parse("18<=age <65 & ~(sex=='male')"))
    "18 <= age and age < 65 and not sex == 'male'"
    """
    if not isinstance(text, str) or not text.strip():
        # what is no text may be a mask, whose values are those of rows
        what = "empty" if isinstance(text, str) else kind_of(text)
        _refuse(f"where is {what}: not a condition.", "where=\"age >= 18 and sex == 'female'\"")
    if len(text) > LONGEST:
        _refuse(f"where has {len(text):,} characters; at most {LONGEST:,} are read.", "a shorter condition")
    found = _read(text)
    if found is not None:  # a release stores the canonical spelling, which must be read back as the same condition
        said = spelled(found)
        found = found if len(said) <= LONGEST and _read(said) == found else None
    if found is None:
        _refuse(f"where={text!r} cannot be read as a condition.", f'where="{_written_here(text)}"')
    if not columns(found):
        _refuse(f"where={text!r} names no column.", 'where="age >= 18"')
    return found


def _written_here(text: str) -> str:
    """Return what a condition in the words of SQL or R is here, if it can be read then; else an example.

    >>> _written_here("sex = 'male' AND region %in% c('n', 's')"), _written_here("age over 18")
    ("sex == 'male' and region in ['n', 's']", "age >= 18 and sex == 'female'")
    """
    said = text.replace('"', "'")
    for pattern, here in OTHERWISE:
        said = re.sub(pattern, here, said)
    said = said.strip()
    return said if _read(said) is not None else "age >= 18 and sex == 'female'"


def _read(text: str) -> Condition | None:
    """Return the condition that a text states, or None."""
    names: list[str] = []
    try:
        return _condition(_python(text, names), names, 0)
    except NOT_READ:
        return None


def _expression(text: str) -> Expression | None:
    """Return the computed value that a text states, or None."""
    names: list[str] = []
    try:
        return _computed(_python(text, names), names)
    except NOT_READ:
        return None


def _python(text: str, names: list[str]) -> ast.expr:
    """Return Python's syntax tree of a text, with backticked names collected in `names`."""
    with warnings.catch_warnings():  # Python's warnings about odd syntax ("1is 2", "\\d") would only puzzle users
        warnings.simplefilter("ignore")
        return ast.parse(_as_python(text, names).strip(), mode="eval").body


def expression(text: object) -> Expression:
    """Return the value computed from one row that a text states; QueryError Q65 where it states none.

    >>> spelled(expression("log( income/1000 )")), spelled(expression("cut(age, [30,65])"))
    ('log(income / 1000)', 'cut(age, [30, 65])')
    """
    found = None
    if isinstance(text, str) and text.strip() and len(text) <= LONGEST:
        found = _expression(text)
        if found is not None and (len(spelled(found)) > LONGEST or _expression(spelled(found)) != found):
            found = None
    if found is None or not columns(found):
        words = ", ".join(FUNCTIONS)
        message = f"{described(text)} is not a value that can be computed from a row."
        raise QueryError(
            message,
            code="Q65",
            hint=f"+ - * / **, {words}, clip(age, 0, 65), cut(age, [30, 65]), recode(region, {{…}})",
        )
    return found


def _refuse(message: str, hint: str) -> NoReturn:
    raise QueryError(message, code="Q60", hint=hint)


def _as_python(text: str, names: list[str]) -> str:
    """Return Python source in which backticked names are placeholders and & and | are the words `and` and `or`.

    As words they bind less tightly than comparisons, as pandas reads them.  `names` receives the backticked names.
    """
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
        # a line break between tokens would end the expression; in quotes it is kept, and refused by Python
        made.append(f" {LOGIC[sign]} " if sign in LOGIC else " " if sign in "\r\n" else sign)
        at += 1
    found = "".join(made)
    for token in tokenize.generate_tokens(io.StringIO(found).readline):
        # all after # would be no part of the condition, and nobody who reads the text would notice
        if token.type == tokenize.COMMENT:
            raise ValueError("a comment")
    return found


def _condition(node: ast.expr, names: list[str], depth: int) -> Condition:
    """Translate a Python expression to a condition; ValueError for anything else."""
    if depth > DEEPEST:
        raise ValueError("too deep")
    match node:
        case ast.BoolOp(op=op, values=values):
            word = "and" if isinstance(op, ast.And) else "or"
            parts: list[Condition] = []
            for one in (_condition(value, names, depth + 1) for value in values):
                # nested parts of one operator are one list: equal conditions get one canonical text, hence one question
                parts += one.parts if isinstance(one, AndOr) and one.op == word else (one,)
            return AndOr(word, tuple(parts))
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
            return Not(_condition(operand, names, depth + 1))
        case ast.Compare(left=left, ops=ops, comparators=others):
            chain = [left, *others]
            # a < b < c is a < b and b < c, as in Python
            made = [_comparison(a, op, b, names, depth) for a, op, b in zip(chain, ops, chain[1:], strict=False)]
            return made[0] if len(made) == 1 else AndOr("and", tuple(made))
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=[], keywords=[]) if attr in MISSING:
            missing = Missing(_name(value, names))
            return missing if MISSING[attr] else Not(missing)
        case _:
            return Flag(_name(node, names))


def _comparison(left: ast.expr, op: ast.cmpop, right: ast.expr, names: list[str], depth: int) -> Condition:
    """Translate one link of a chain of comparisons; ValueError where it names no column."""
    if isinstance(op, ast.In | ast.NotIn):
        if not isinstance(right, ast.List | ast.Tuple | ast.Set) or not right.elts:
            raise ValueError("in what?")
        among = tuple(_constant(one) for one in right.elts)
        found = Membership(_name(left, names), tuple(dict.fromkeys(among)))
        return found if isinstance(op, ast.In) else Not(found)
    made = Comparison(COMPARISONS[type(op)], _value(left, names, depth + 1), _value(right, names, depth + 1))
    if not columns(made):
        raise ValueError("the same for every row")
    return made


def _value(node: ast.expr, names: list[str], depth: int) -> Value:
    """Translate a Python expression to a value: arithmetic, a function, a constant or a column."""
    if depth > DEEPEST:
        raise ValueError("too deep")
    match node:
        # small whole powers only: an engine's own power function may round differently
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)) if power in (2, 3, 4):
            return Arithmetic("**", _value(left, names, depth + 1), Constant(float(power)))
        case ast.Call(func=ast.Name(id=function), args=[argument], keywords=[]) if function in FUNCTIONS:
            return Call(function, _value(argument, names, depth + 1))
        case ast.Call(func=ast.Name(id="clip"), args=[argument, lower, upper], keywords=[]):
            return Clip(_value(argument, names, depth + 1), _constant(lower), _constant(upper))
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
    """Return whether a constant is a finite float, or a whole number that a 64-bit float holds exactly."""
    return abs(value) < 2**53 if isinstance(value, int) else math.isfinite(value)


def _name(node: ast.expr, names: list[str]) -> Name:
    if not isinstance(node, ast.Name):
        raise ValueError("no name")
    if node.id.startswith("tacit_name_") and node.id.endswith("_"):
        return Name(names[int(node.id[11:-1])])
    return Name(node.id)


def _computed(node: ast.expr, names: list[str]) -> Expression:
    """Translate a Python expression to cut(…), recode(…) or another value."""
    match node:
        case ast.Call(func=ast.Name(id="cut"), args=[value, ast.List(elts=edges) | ast.Tuple(elts=edges)], keywords=[]):
            return Cut(_value(value, names, 1), tuple(_constant(edge) for edge in edges))
        case ast.Call(func=ast.Name(id="recode"), args=[name, ast.Dict(keys=keys, values=values)], keywords=[]):
            if None in keys:
                raise ValueError("a dict in a dict")
            pairs = [(_constant(key), _constant(one)) for key, one in zip(keys, values, strict=True) if key is not None]
            return Recode(_name(name, names), tuple(pairs))
        case _:
            return _value(node, names, 0)
