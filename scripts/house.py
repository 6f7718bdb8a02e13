"""Draws the house: `docs/explanation/house.svg`, its rooms floor by floor with what each imports, from the imports.

python scripts/house.py          writes the picture
python scripts/house.py --count  prints rooms, files, lines, arrows between rooms, and names that recur
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from html import escape
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
SOURCE: Final = ROOT / "src" / "tacit"
PICTURE: Final = ROOT / "docs" / "explanation" / "house.svg"
FLOORS: Final[tuple[tuple[str, str, str], ...]] = (
    ("cli", "the command line", "free"),
    ("planning", "what a question would cost and show", "free"),
    ("testing", "the contract of a mechanism; simulations; coverage", "free"),
    ("curator", "the door: charge, read, protect, store, hand out", "inside"),
    ("parties", "answers of many parties as one", "outside"),
    ("study", "files between organisations", "shared"),
    ("catalogue", "everything that is written, as JSON Schema", "shared"),
    ("report", "tables of several models, the methods paragraph", "outside"),
    ("method", "one room a method: query, design, mechanism, estimate", "by file"),
    ("pooling", "arrays of many parties", "outside"),
    ("fits", "models fitted to released cells", "outside"),
    ("estimates", "values with both errors, their intervals and tests", "outside"),
    ("plots", "pictures of arrays and captions", "outside"),
    ("ledger", "charges that survive anything", "inside"),
    ("source", "frames, files and engines to exact integers", "inside"),
    ("models", "likelihoods, families, estimates of blocks", "shared"),
    ("release", "the document that crossed the wall", "shared"),
    ("schema", "columns, units, conditions, bins", "shared"),
    ("rows", "what one row becomes", "shared"),
    ("privacy", "prices, budgets, accounting", "shared"),
    ("noise", "laws of noise, and exact draws from them", "by file"),
    ("base", "JSON, tables, progress", "shared"),
)
"""From the roof down: a room imports only rooms that stand below it."""
COLOURS: Final = {
    "inside": "#f4c7a8",
    "outside": "#b9d3ee",
    "shared": "#e6e6e6",
    "free": "#ffffff",
    "by file": "#e9d5ee",
}
WIDTH, HEIGHT, LEFT, FONT = 960, 30, 8, "font-family='sans-serif' font-size='12'"


def imports(path: Path) -> set[str]:
    """Rooms that a file imports, types aside."""
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tacit."):
            found.add(str(node.module).split(".")[1])
        waiting += ast.iter_child_nodes(node)
    return found


def arrows() -> dict[str, set[str]]:
    """Room -> the rooms it imports."""
    rooms = {name for name, _, _ in FLOORS}
    found: dict[str, set[str]] = {}
    for room in rooms:
        reached = set[str]().union(*(imports(path) for path in (SOURCE / room).rglob("*.py")))
        found[room] = (reached & rooms) - {room}
    return found


def picture() -> str:
    """The house as SVG."""
    known = arrows()
    order = [name for name, _, _ in FLOORS]
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT * (len(FLOORS) + 2)}' role='img'>",
        "<title>The rooms of src/tacit: each imports only rooms below it</title>",
    ]
    for i, (side, colour) in enumerate(COLOURS.items()):
        x = LEFT + 150 * i
        lines.append(f"<rect x='{x}' y='6' width='14' height='14' fill='{colour}' stroke='#555'/>")
        lines.append(f"<text x='{x + 20}' y='18' {FONT}>{side}</text>")
    for i, (name, what, side) in enumerate(FLOORS):
        y = HEIGHT * (i + 1)
        below = ", ".join(one for one in order if one in known[name])
        lines += [
            f"<rect x='{LEFT}' y='{y}' width='{WIDTH - 2 * LEFT}' height='{HEIGHT - 3}' fill='{COLOURS[side]}' "
            "stroke='#555'/>",
            f"<text x='{LEFT + 8}' y='{y + 18}' {FONT} font-weight='bold'>{name}/</text>",
            f"<text x='{LEFT + 90}' y='{y + 18}' {FONT}>{escape(what)}</text>",
            f"<text x='{LEFT + 420}' y='{y + 18}' {FONT} fill='#333'>{below and 'imports ' + below}</text>",
        ]
    return "\n".join([*lines, "</svg>", ""])


def counts() -> str:
    """The house in numbers."""
    files = sorted(SOURCE.rglob("*.py"))
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    classes = Counter(
        node.name for text in texts.values() for node in ast.parse(text).body if isinstance(node, ast.ClassDef)
    )
    names = Counter(path.name for path in files if path.name != "__init__.py")
    return "\n".join(
        [
            f"rooms {len(FLOORS)}, rooms of methods {len(list(SOURCE.glob('method/*/__init__.py')))}",
            f"files {len(files)}, lines {sum(len(text.splitlines()) for text in texts.values()):,}",
            f"arrows between rooms {sum(len(one) for one in arrows().values())}",
            f"class names twice: {', '.join(sorted(name for name, n in classes.items() if n > 1)) or 'none'}",
            f"file names twice: {', '.join(sorted(name for name, n in names.items() if n > 1)) or 'none'}",
        ]
    )


if __name__ == "__main__":
    if "--count" in sys.argv:
        print(counts())
    else:
        PICTURE.write_text(picture(), encoding="utf-8")
