"""Griffe extension: how our docstrings look on the site.

Examples (`>>> `) become code blocks; an underlined `Parameters` becomes a bold word; and `name: text`, for a name that
the object has, becomes an item of a list, wherever a line or a sentence begins with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

import griffe

NAME = r"\*{0,2}[a-z_][A-Za-z_0-9]*"
ITEM = re.compile(rf"(?:^|(?<=[.);]  ))({NAME}(?:, {NAME})*):\s+")
"""Where an item may begin: at the start of a line, or after a sentence and two blanks."""
REST = re.compile(r"(?:^|(?<=[.);]  ))(?=Raises |Sources?: |[A-Z]\w+Error [A-Z]\d)")
"""Where a list ends: what follows is about the whole object."""
ANY = frozenset(["*"])
"""Names under an underlined heading: all are of the object."""


def fenced(text: str) -> str:
    """Puts each run of lines that starts with `>>> ` and ends at a blank line into a `pycon` block."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        starts = line.lstrip().startswith(">>> ")
        if starts and not inside:
            lines += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            lines += ["```", ""]
            inside = False
        lines.append(line.lstrip() if inside and starts else line)
    return "\n".join([*lines, "```"] if inside else lines)


def listed(text: str, names: frozenset[str]) -> str:
    """The paragraphs of a docstring, those with `name: text` as lists; headings underlined with dashes in bold."""
    made: list[str] = []
    for paragraph in re.split(r"\n[ \t]*\n", text.strip("\n")):
        lines = paragraph.splitlines()
        known = names
        if len(lines) > 1 and lines[0].strip() and set(lines[1].strip()) == {"-"}:
            made.append(f"**{lines[0].strip()}**")
            lines, known = lines[2:], ANY
        if not lines:
            continue
        kept = lines[0].lstrip().startswith((">>> ", "- ", "| ", "```"))
        made.append("\n".join(lines) if kept else items(lines, known))
    return "\n\n".join(made)


def items(lines: list[str], names: frozenset[str]) -> str:
    """One paragraph: what stands before the first `name: text`, the list, and what is about the whole object.

    >>> print(items(["Two of them.", "x, y: places.  size: of both.", "Raises Q01."], frozenset(["x", "y", "size"])))
    Two of them.
    <BLANKLINE>
    - `x`, `y`: places.
    - `size`: of both.
    <BLANKLINE>
    Raises Q01.
    """
    parts: list[tuple[str, list[str]]] = [("", [])]  # (the names of an item or "", its text)
    for line in lines:
        at = 0
        for place, label, end in _starts(line, names, inside=parts[-1][0] != ""):
            parts[-1][1].append(line[at:place].strip())
            parts.append((label, []))
            at = end
        parts[-1][1].append(line[at:].strip())
    said = [(label, " ".join(word for word in words if word)) for label, words in parts]
    if not any(label for label, _ in said):
        return "\n".join(lines)
    made, before = "", ""
    for label, words in said:
        if label or words:
            gap = "" if not made else "\n" if label and before else "\n\n"
            made, before = made + gap + (f"- {label}: {words}" if label else words), label
    return made


def _starts(line: str, names: frozenset[str], *, inside: bool) -> Iterable[tuple[int, str, int]]:
    """Where an item, or the text after a list, begins in a line: (place, its names as code, end of the names)."""
    found: list[tuple[int, str, int]] = []
    for one in ITEM.finditer(line):
        own = [name.strip("*") for name in one[1].split(", ")]
        if names == ANY or names.issuperset(own):
            found.append((one.start(), ", ".join(f"`{name}`" for name in one[1].split(", ")), one.end()))
    first = found[0][0] if found else None
    for one in REST.finditer(line):
        if inside or (first is not None and one.start() > first):
            found.append((one.start(), "", one.start()))
    return sorted(found)


def names_of(found: griffe.Object) -> frozenset[str]:
    """The names that the docstring of an object may explain: its parameters, and the members of a class."""
    if isinstance(found, griffe.Function):
        return frozenset(one.name.strip("*") for one in found.parameters)
    if isinstance(found, griffe.Class):
        init = found.members.get("__init__")
        own = names_of(init) if isinstance(init, griffe.Function) else frozenset[str]()
        return own | frozenset(found.members)
    return frozenset()


class Examples(griffe.Extension):
    """Applied to every object that has a docstring, when the package is loaded."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        stack: list[griffe.Object] = [pkg]
        while stack:
            found = stack.pop()
            stack += [cast(griffe.Object, one) for one in found.members.values() if not one.is_alias]
            if found.docstring is not None and "```" not in found.docstring.value:
                found.docstring.value = fenced(listed(found.docstring.value, names_of(found)))
