"""Griffe extension: how our docstrings look on the site.

Examples (`>>> `) become code blocks; an underlined `Parameters` becomes a bold word, and its `name: text` lines a list.
"""

from __future__ import annotations

from typing import Any

import griffe


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


def listed(text: str) -> str:
    """Headings underlined with dashes, and the `name: text` paragraph below them."""
    lines = text.splitlines()
    found: list[str] = []
    inside = False
    for at, line in enumerate(lines):
        below = lines[at + 1] if at + 1 < len(lines) else ""
        if line and set(below) == {"-"}:
            found += [f"**{line}**", ""]
            inside = True
        elif inside and set(line) == {"-"}:
            continue
        elif inside and not line.strip():
            inside = False
            found.append(line)
        elif inside and not line.startswith(" ") and ": " in line:
            name, _, rest = line.partition(": ")
            found.append(f"- `{name}`: {rest}")
        else:
            found.append(line)
    return "\n".join(found)


class Examples(griffe.Extension):
    """Applied to every object that has a docstring, when it is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is None or "```" in obj.docstring.value:
            return
        obj.docstring.value = fenced(listed(obj.docstring.value))
