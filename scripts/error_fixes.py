"""What to do about each error code: the hints of the messages, read from the code, so that the page cannot drift.

A hint that is put together when the error is raised is shown with "…" for what it then names.  For codes whose hints
say nothing without that, what the page says is written here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).resolve().parents[1] / "src" / "tacit"
MOST: Final = 4
"""The most hints that are shown of one code."""
_NEAREST: Final = "the name that the message suggests"
_RELEASE: Final = "a file that release.save(…) or tacit release wrote"
WRITTEN: Final = {
    "C01": "`tacit --help`, or `--help` after a command, lists commands and options; the message suggests the nearest",
    "Q390": "Normal(mean=(0, 100), sd=(0.1, 50)): boxes in which the parameters could lie; the message says which",
    "B18": "an argument of it; the message suggests the nearest",
    "S40": "multiple_of=1, multiple_of=0.5, or leave it out",
    "S45": "heaped_at=10_000, heaped_at=5, or leave it out",
    "S05": "a key of that type of column; the message suggests one, or names what is needed",
    "S07": "Real(0, 300_000): the lower bound first",
    "F05": "a key of that section; the message suggests the nearest",
    "Q01": 'columns="age", or a list of names',
    "Q05": "an argument of that question; the message suggests the nearest",
    "Q10": "a column of the schema; the message suggests the nearest, or lists them",
    "Q60": "where=\"age >= 65 and sex == 'female'\": columns, numbers, labels in quotes, comparisons, and, or, not",
    "Q61": "compare a number with a number, a category with one of its labels, a date with a date",
    "Q114": "a family with sufficient statistics, or SampleAndAggregate(…) for any law; the message says which",
    "Q124": 'a Real or Integer from 0 on for model="gamma", of any bounds for model="huber"',
    "Q122": "a pair (epsilon, delta) for this question alone, and persons who are in one cell; the message says which",
    "B02": "a lower price (the message says which fits), or a raise: tacit budget LEDGER --raise-to-rho 0.8 --note …",
    "B03": "one of rho=0.1, epsilon=0.5, or epsilon=0.5 with delta=1e-6",
    "B12": "a lower price (the message says which fits), or a limit that is raised: --analyst … --limit-to-rho 0.2",
    "B30": "a lower [spend] (the message says which fits), or a larger [budget] before the ledger is made",
    "L13": "a number from the list of tacit budget LEDGER",
    "D01": "a path (.parquet, .csv, .arrow), a frame of pandas, Polars, PyArrow, Spark or DuckDB, or a dict of arrays",
    "D08": "finish or close open results of its connection, or open the table again",
    "D11": "a column of that type; the message says how pandas, Polars or DuckDB makes one, or tacit import",
    "D30": "the column's name as it stands in the table; the message suggests the nearest",
    "R01": _RELEASE,
    "R03": _RELEASE,
    "I18": "means by cells, and a positive total for each of them: poststratify({…: 400, …: 600})",
    "I40": "axes and cells of one release, as histogram.counts and histogram.axes have them",
    "I43": "a regressor or response with bins enough, or a Boolean, as the model takes them; the message says which",
    "I45": "a formula with a term to test or predict; the message says what is missing",
    "I46": "a function of one row and the parameters that returns one number, and a start for each parameter",
    "I81": 'a function of the terms that gives one number, or several by name: bootstrap(lambda m: m["f"] / m["m"])',
    "I95": "an argument of that method; the message suggests the nearest, or says what it is here",
    "I96": "rows with every column that the formula names",
    "I97": "a level of the column, as the message lists them, or a number",
    "C15": _NEAREST,
    "C17": 'effects="random" or "common"',
    "M11": f"{_NEAREST}; it lists all families",
    "M13": "a default inside its box, and values for exactly the parameters that the message lists",
    "M17": 'bias="split-half" or "cox-snell"; blocks of one shape, with a count for each',
}


def fixes() -> dict[str, tuple[str, ...]]:
    """Code -> what to do, the shortest hints of the code first; nothing for a code that only its message explains."""
    found: dict[str, dict[str, None]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for code, hint in hints(ast.parse(text)) if "hint=" in text else ():
            found.setdefault(code, {})[hint] = None
    made = {code: tuple(sorted(said, key=len)[:MOST]) for code, said in found.items()}
    return {**made, **{code: (text,) for code, text in WRITTEN.items()}}


def hints(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Code and hint of every error that is made in a module, where they are written as texts.

    >>> list(hints(ast.parse('raise E(text, code="S02", hint=f"{name}(…)" if a else "Real(0, 100)")')))
    [('S02', 'Real(0, 100)')]
    """
    stack: list[tuple[ast.AST, dict[str, list[ast.expr]]]] = [(module, {})]
    while stack:
        node, names = stack.pop()
        if isinstance(node, ast.Module | ast.FunctionDef):
            names = assigned(node)
        if isinstance(node, ast.Call):
            given = {one.arg: one.value for one in node.keywords}
            code, hint = given.get("code"), given.get("hint")
            if isinstance(code, ast.Constant) and isinstance(code.value, str) and hint is not None:
                yield from ((code.value, text) for text in texts(hint, names) if says_something(text))
        stack += [(child, names) for child in reversed(list(ast.iter_child_nodes(node)))]


def assigned(scope: ast.Module | ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """What the names of a scope may be; not of the functions in it."""
    made: dict[str, list[ast.expr]] = {}
    stack: list[ast.AST] = list(ast.iter_child_nodes(scope))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.Assign):
            for target in node.targets:
                several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                pairs = zip(target.elts, node.value.elts, strict=False) if several else [(target, node.value)]  # type: ignore[union-attr]
                for one, value in pairs:
                    if isinstance(one, ast.Name):
                        made.setdefault(one.id, []).append(value)
        stack += ast.iter_child_nodes(node)
    return made


def texts(node: ast.expr, names: dict[str, list[ast.expr]], depth: int = 0) -> Iterator[str]:
    """The texts that an expression may be, "…" for what is not written in it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(one.value) if isinstance(one, ast.Constant) else "…" for one in node.values)
    elif isinstance(node, ast.IfExp | ast.BoolOp):
        for one in (node.body, node.orelse) if isinstance(node, ast.IfExp) else node.values:
            yield from texts(one, names, depth)
    elif isinstance(node, ast.Name) and depth < 3:
        for one in names.get(node.id, []):
            yield from texts(one, names, depth + 1)


def says_something(text: str) -> bool:
    """Whether a hint says something without what it names when it is raised."""
    return len(re.sub(r"[^A-Za-z0-9]", "", text)) >= 4
