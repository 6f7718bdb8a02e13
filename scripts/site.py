"""Hooks of the documentation site: pages that are made from the code, so that they cannot drift.

`<!-- error codes -->` on a page becomes the catalogue of `tacit.errors`; `<!-- commands -->` the help of every command;
`<!-- include NAME.md -->` a text of the repository's root.
"""

from __future__ import annotations

import re
import runpy
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

AREAS = {
    "S": "Schemas",
    "F": "Files",
    "Q": "Questions",
    "B": "Prices and budgets",
    "L": "Ledgers",
    "D": "Data sources",
    "P": "Studies",
    "R": "Releases",
    "I": "Inference",
    "N": "Noise laws",
    "C": "Command line",
    "M": "The machine, and models",
}


def error_codes() -> str:
    """One heading for each area, one line with an anchor for each code: what is wrong, and what to do."""
    from tacit.errors import CODES

    fixes: dict[str, tuple[str, ...]] = runpy.run_path(str(ROOT / "scripts" / "error_fixes.py"))["fixes"]()
    parts: list[str] = []
    for letter, area in AREAS.items():
        codes = {code: title for code, title in sorted(CODES.items()) if code[0] == letter}
        if codes:
            parts += [f"## {letter}: {area}", "", "| code | what is wrong | what to type, or to do |", "|---|---|---|"]
            for code, title in codes.items():
                said = "<br>".join(plain(one) for one in fixes.get(code, ())) or "as the message says"
                parts.append(f'| <span id="{code}"></span>**{code}** | {plain(title)} | {said} |')
            parts.append("")
    return "\n".join(parts)


def plain(text: str) -> str:
    """A text as a cell of a Markdown table shows it, mark by mark."""
    return re.sub(r"([\\`*_{}\[\]|])", r"\\\1", escape(text, quote=False))


def command_help() -> dict[str, str]:
    """What `tacit --help` ("") and `tacit NAME --help` print, in the order of the commands, 100 columns wide."""
    import typer

    from tacit.cli.app import app

    group: Any = typer.main.get_command(app)
    top = group.make_context("tacit", [], resilient_parsing=True, terminal_width=100)
    helps = {"": group.get_help(top)}
    for name, command in group.commands.items():
        context = command.make_context(name, [], parent=top, resilient_parsing=True, terminal_width=100)
        helps[name] = command.get_help(context)
        for own, below in getattr(command, "commands", {}).items():  # of a group
            inner = below.make_context(own, [], parent=context, resilient_parsing=True, terminal_width=100)
            helps[f"{name} {own}"] = below.get_help(inner)
    return helps


def commands() -> str:
    """One heading and one block of help for each command."""
    parts: list[str] = []
    for name, text in command_help().items():
        heading = [f"## tacit {name}", ""] if name else []
        parts += [*heading, "```text", text.rstrip(), "```", ""]
    return "\n".join(parts)


MADE = {"<!-- error codes -->": error_codes, "<!-- commands -->": commands}
# Files of the repository's root that are pages of the site: their links are those of the repository.
ELSEWHERE = {
    "](SECURITY.md)": "](../explanation/limits.md)",
    "](CONTRIBUTING.md)": "](../explanation/contributing.md)",
    "](CHANGELOG.md)": "](../reference/changelog.md)",
    "](README.md)": "](../index.md)",
    "](docs/": "](../",
}


def included(marker: re.Match[str]) -> str:
    """A text of the repository's root, its links made links between pages."""
    text = (ROOT / marker[1]).read_text(encoding="utf-8")
    for there, here in ELSEWHERE.items():
        text = text.replace(there, here)
    return text


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fills in what is made from the code, and drops hidden examples."""
    for marker, make in MADE.items():
        if marker in markdown:
            markdown = markdown.replace(marker, make())
    markdown = re.sub(r"^<!-- include (\w+\.md) -->$", included, markdown, flags=re.MULTILINE)
    return re.sub(r"^<!-- python\n.*?^-->\n", "", markdown, flags=re.MULTILINE | re.DOTALL)
