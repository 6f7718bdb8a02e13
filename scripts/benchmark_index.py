"""Write `benchmarks/README.md`: every script of that folder, by the page of the documentation that it writes.

python scripts/benchmark_index.py

What a script is, is the first line of its docstring.  The page is the file of `docs` that its text names as a path, or
that it imports as PAGE; a module that only others import stands with the pages that these write.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = ROOT / "benchmarks"
INDEX: Final = FOLDER / "README.md"
PLACE: Final = re.compile(r'(?:/ |docs/\w+/)"?([a-z][a-z0-9-]*\.md)\b')
HEAD: Final = """# Benchmarks

Scripts that measure what Tacit claims, grouped by the page whose figures they write; the rest print.
Most take `--help`; those with parts run some of them alone, and `--quick` or `--plain` shows figures without writing.
Run them from the root of the repository, as in `python benchmarks/contrasts.py --help`.
Scripts in *italics* are parts of others: designs, laws, simulations.  `faults/` has the slips that `plant_faults.py`
plants; files that end in `.jsonl` keep what was simulated, a line for each cell of a table.
Written by `python scripts/benchmark_index.py`.
"""
PRINTED: Final = "Figures and checks that are printed"
SHARED: Final = "Parts of scripts of several pages"


@dataclass(frozen=True)
class Script:
    """A file of the folder: what it is, the pages it names, the other files it imports, and whether it can be run."""

    name: str
    about: str
    named: tuple[str, ...]
    imports: frozenset[str]
    borrows: bool
    """Whether it writes the page of a script that it imports."""
    runs: bool

    @classmethod
    def read(cls, path: Path, known: frozenset[str]) -> Script:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        about = (ast.get_docstring(tree) or "").split("\n\n")[0]
        whole = " ".join(about.split())
        first = re.match(r".*?[.:](?= |$)", whole)  # a sentence, which may go over two lines
        own = re.search(r"PAGE\b.*?\.md\b", text)
        named = PLACE.findall(own[0] if own else text)
        return cls(
            path.stem,
            (first[0] if first and len(whole) > 160 else whole).rstrip(":"),
            tuple(dict.fromkeys(named)),
            frozenset(_imported(tree)) & known,
            own is None and re.search(r"\bput\(", text) is not None,
            "__main__" in text,
        )


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def scripts(folder: Path = FOLDER) -> dict[str, Script]:
    """Return every script by its name."""
    paths = sorted(folder.glob("*.py"))
    known = frozenset(path.stem for path in paths)
    return {path.stem: Script.read(path, known) for path in paths}


def page_of(script: Script, known: Mapping[str, Script], pages: Collection[str]) -> str:
    """Return the page that a script writes; else the one page for which others import it; else what it is instead."""
    sources = [script, *(known[name] for name in sorted(script.imports) if script.borrows)]
    own = [page for one in sources for page in one.named if page in pages]
    if own:
        return own[0]
    users, new = set[str](), {script.name}
    while new:
        new = {one.name for one in known.values() if one.imports & new} - users
        users |= new
    found = {page for name in users for page in known[name].named if page in pages}
    return found.pop() if len(found) == 1 else SHARED if found else PRINTED


def index(folder: Path = FOLDER) -> str:
    """Return the text of the index."""
    places = {path.name: path.relative_to(ROOT / "docs").as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))}
    known = scripts(folder)
    groups: dict[str, list[Script]] = {}
    for one in known.values():
        groups.setdefault(page_of(one, known, places), []).append(one)
    lines = [HEAD]
    for page in sorted(groups, key=lambda name: (name not in places, places.get(name, name))):
        lines.append(f"## [{places[page]}](../docs/{places[page]})\n" if page in places else f"## {page}\n")
        for one in groups[page]:
            name = f"[{one.name}.py]({one.name}.py)"
            lines.append(f"- {name if one.runs else f'*{name}*'}: {one.about}")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    INDEX.write_text(index(), encoding="utf-8")
