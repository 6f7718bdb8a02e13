"""Errors and their hints, in the words of a shell and of TOML files: what the library says, it says in Python.

`rho=0.1` is an option where the command has it, `--rho 0.1`, and else a line of a file, `missing = "exclude"`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

VALUE: Final = r'"[^"]*"|\[[^\]]*\]|\{[^{}]*\}|True|False|-?\d[\d_.]*(?:e[-+]?\d+)?|…'
ASSIGNED: Final = re.compile(rf"(?<![\w.\"])([a-z_]+)=({VALUE})")
COLUMN: Final = re.compile(
    r'(?:"([^"]+)": )?\b(?:tc\.)?(Real|Integer|Date|Boolean|Category|PrivacyUnit)'
    r"\(((?:[^()]|\([^()]*\))*)\)( in the schema)?"
)
BUDGET: Final = re.compile(r"\b(?:tc\.)?Budget\(([^()]*)\)")
RAISE: Final = re.compile(r"\bcurator\.raise_budget\(([^()]*)\)")
QUERY: Final = re.compile(r'\b(?:tc\.)?([A-Z][A-Za-z]+)\("([^"]+)"(?:, …)?\)')
NAMED: Final = re.compile(
    rf"(?<![\w.\"'/\\])(?P<name>[a-z_]+)=(?P<value>{VALUE}|'[^']*')(?![\w/\\])"
    r"|(?P<quoted>(?<!\w)'[^']*'|\"[^\"]*\")"
    r"|(?<![\w.\"'/\\])(?P<bare>[a-z_]+)=(?=[\s,.:;)]|$)"
    r"|\b(?P<flag>True|False)\b"
)
"""What a text says in Python; what it quotes is somebody's own, and stays as it is."""
NAMES: Final = re.compile(r'\brelease\(…, name="([^"]+)"\)')
SAVES: Final = re.compile(r"\b(?:table|plot\(\))\.save\('([^']+)'\)")
COMBINES: Final = re.compile(r'\bstudy\.combine\("([^"]+)"\)')
LEVEL: Final = re.compile(r"\bconf_int\((0?\.\d+)\)")
ENTRY: Final = re.compile(r'"([^"]+)": (\{[^{}]*\})')
"""What is said of one column: `"fare": {"mean": 12}`."""
SIZE_HINT: Final = re.compile(r"\bCurator\((?:…, )?size_hint=(\d[\d_]*)?\)")
PLACES: Final = {
    "Real": ("lower", "upper"),
    "Integer": ("lower", "upper"),
    "Date": ("lower", "upper"),
    "Category": ("levels",),
    "PrivacyUnit": ("max_rows",),
    "Boolean": (),
}
"""What the arguments of a column type are called that Python takes by place."""


def in_shell(hint: str, options: Mapping[str, str]) -> str:
    """Return a hint in the words of a shell; options: those of the command, by the names of their Python arguments.

    >>> in_shell("epsilon=1, delta=1e-6, or rows=10_000", {"epsilon": "--epsilon", "delta": "--delta"})
    '--epsilon 1 --delta 1e-6, or rows = 10_000'
    >>> in_shell('"income": Real(0, 100) in the schema', {})
    'income = { type = "Real", lower = 0, upper = 100 } in [schema]'
    >>> in_shell('"fare": {"mean": 12, "sd": …}, or conf_int(0.95)', {"level": "--level"})
    'fare = { mean = 12, sd = … }, or --level 0.95'
    >>> in_shell('Budget(…, neighbors="add-remove") for a private number', {})
    '[budget] neighbors = "add-remove" for a private number'
    >>> in_shell('release(…, name="inc-2")', {}), in_shell("table.save('table1.tex')", {})
    ('[ask.inc-2]', '--save table1.tex')
    """
    made = RAISE.sub(lambda found: _raised(found[1]), hint)
    made = NAMES.sub(lambda found: f"[ask.{_key(found[1])}]", made)
    made = SAVES.sub(lambda found: f"{'--plot' if found[1].endswith('.png') else '--save'} {found[1]}", made)
    made = COMBINES.sub(lambda found: f"tacit combine STUDY.toml {found[1]}", made)
    made = BUDGET.sub(lambda found: f"[budget] {_lines(found[1])}", made)
    made = SIZE_HINT.sub(lambda found: f"[table] rows = {found[1] or '10_000'}", made)
    made = COLUMN.sub(_column, made)
    made = QUERY.sub(lambda found: f'query = "{found[1]}", columns = "{found[2]}"', made)
    made = LEVEL.sub(r"level=\1", made)
    made = ENTRY.sub(lambda found: f"{_key(found[1])} = {_toml(found[2])}", made)
    made = ASSIGNED.sub(lambda found: _assigned(found[1], found[2], options), made)
    # options follow each other without commas
    return re.sub(r"(--[\w-]+ \S+), (?=--)", r"\1 ", made)


def text_in_shell(text: str, options: Mapping[str, str]) -> str:
    """Return the text of an error in the words of a shell; options: as of `in_shell`.

    >>> text_in_shell("a plan takes a price or a width=, not both.", {"width": "--width"})
    'a plan takes a price or a --width, not both.'
    >>> text_in_shell("level of 'a=1' is 0.9, and interval=False asks for points only.", {})
    "level of 'a=1' is 0.9, and interval = false asks for points only."
    """

    def said(found: re.Match[str]) -> str:
        if found["quoted"]:
            return found[0]
        if found["flag"]:
            return found["flag"].lower()
        if found["bare"]:
            return options.get(found["bare"], found["bare"])
        value = found["value"]
        return _assigned(found["name"], value if value[0] != "'" else f'"{value[1:-1]}"', options)

    return NAMED.sub(said, text)


def _assigned(name: str, value: str, options: Mapping[str, str]) -> str:
    if name not in options or value[0] in "[{":
        return f"{name} = {_toml(value)}"
    plain = value[1:-1] if value[0] == '"' and re.fullmatch(r'"[\w./-]+"', value) else value
    return f"{options[name]} {plain.replace('_', '') if value[0].isdigit() else plain}"


def _lines(arguments: str) -> str:
    """Return named arguments as lines of TOML, those that are left open left out."""
    return ", ".join(f"{name} = {_toml(value)}" for name, value in ASSIGNED.findall(arguments))


def _raised(arguments: str) -> str:
    """Return the command that records a raise."""
    words = [f"--raise-to-{name} {value}" for name, value in ASSIGNED.findall(arguments) if name != "note"]
    return " ".join(["tacit budget LEDGER", *words, '--note "board 31"'])


def _column(found: re.Match[str]) -> str:
    """Return a column as a line of `[schema]`."""
    name, kind, arguments, where = found.groups()
    given = [one for one in re.split(r", (?![^\[{]*[\]}])", arguments) if one and one != "…"]
    places = [one for one in given if not ASSIGNED.fullmatch(one)]
    words = [f"{key} = {_toml(value)}" for key, value in zip(PLACES[kind], places, strict=False)]
    words += [f"{key} = {_toml(value)}" for key, value in (one for g in given for one in ASSIGNED.findall(g))]
    inside = ", ".join(['type = "' + kind + '"', *words])
    key = "" if name is None else f"{_key(name)} = "
    return f"{key}{{ {inside} }}{' in [schema]' if where else ''}"


def _key(name: str) -> str:
    """Return a name as a key of TOML."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else f'"{name}"'


def _toml(value: str) -> str:
    """Return a Python literal as one of TOML.

    >>> _toml("True"), _toml('{"age": 10, 1: (2, 3)}')
    ('true', '{ age = 10, 1 = [2, 3] }')
    """
    if value in ("True", "False"):
        return value.lower()
    if value[0] not in "{[":
        return value
    made = re.sub(r"\((-?[\d.]+), (-?[\d.]+)\)", r"[\1, \2]", value)
    made = re.sub(r'(?:"([\w-]+)"|(\d+)|("[^"]*")): ', lambda key: f"{key[1] or key[2] or key[3]} = ", made)
    return re.sub(r"^\{(.*)\}$", r"{ \1 }", made)
