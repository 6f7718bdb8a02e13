"""Draw the house, `docs/explanation/house.svg`, or print its figures; both are read from the imports of the source.

python scripts/house.py                          writes the picture
python scripts/house.py --count                  prints the figures of this tree
python scripts/house.py --count PATH/src/tacit   prints the figures of another tree, for a comparison
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "house"))

from floors import FUNCTION, MODULE, ROOMS, TYPES, House  # noqa: E402

SOURCE: Final = ROOT / "src" / "tacit"
PICTURE: Final = ROOT / "docs" / "explanation" / "house.svg"
COLOURS: Final = {
    "inside": "#f4c7a8",
    "outside": "#b9d3ee",
    "shared": "#e6e6e6",
    "free": "#ffffff",
    "by file": "#e9d5ee",
}
WIDTH, HEIGHT, LEFT, FONT = 1_180, 30, 8, "font-family='sans-serif' font-size='12'"
FIXED: Final = ("query", "encoding", "design", "stored", "mechanism", "estimate", "plan", "combine")
"""Files that every method's room may have: `docs/explanation/house.md` says what each holds."""


# The picture --------------------------------------------------------------------------------------------------------


def picture(source: Path = SOURCE) -> str:
    """Return the house as SVG, from the roof down: each folder, what it holds, and the folders it imports."""
    house = House.read(source)
    drawn = [room for room in reversed(ROOMS) if (source / room.name.replace(".", "/")).is_dir()]
    order = [room.name for room in drawn]
    known = {name: set[str]() for name in order}
    for one in house.imports:
        importer, imported = house.room(one.importer), house.room(one.imported)
        if one.kind != TYPES and one.written and importer != imported and importer in known and imported in known:
            known[importer].add(imported)
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT * (len(drawn) + 2)}' role='img'>",
        "<title>The rooms of src/tacit, floor by floor, with the rooms that each imports</title>",
    ]
    for i, (side, colour) in enumerate(COLOURS.items()):
        x = LEFT + 150 * i
        lines.append(f"<rect x='{x}' y='6' width='14' height='14' fill='{colour}' stroke='#555'/>")
        lines.append(f"<text x='{x + 20}' y='18' {FONT}>{side}</text>")
    for i, room in enumerate(drawn):
        y = HEIGHT * (i + 1)
        reached = ", ".join(name.replace(".", "/") for name in order if name in known[room.name])
        lines += [
            f"<rect x='{LEFT}' y='{y}' width='{WIDTH - 2 * LEFT}' height='{HEIGHT - 3}' fill='{COLOURS[room.side]}' "
            "stroke='#555'/>",
            f"<text x='{LEFT + 8}' y='{y + 18}' {FONT} font-weight='bold'>{room.name.replace('.', '/')}/</text>",
            f"<text x='{LEFT + 110}' y='{y + 18}' {FONT}>{escape(room.holds)}</text>",
            f"<text x='{LEFT + 430}' y='{y + 18}' {FONT} fill='#333'>{reached and 'imports ' + reached}</text>",
        ]
    return "\n".join([*lines, "</svg>", ""])


# The figures --------------------------------------------------------------------------------------------------------


def counts(source: Path = SOURCE) -> str:
    """Return the figures of a tree as text, one a line.

    A room is a folder that holds Python files; a file directly in the root is a room of its own.
    """
    house = House.read(source)
    files = sorted(source.rglob("*.py"))
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    written = [one for one in house.imports if one.written]
    inside = {(one.importer, one.line, one.imported) for one in written if one.kind == FUNCTION}
    by_name = sum(
        isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module")
        for tree in trees.values()
        for node in ast.walk(tree)
    )
    classes = Counter(node.name for tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef))
    places = _places(source, house.modules)
    return "\n".join(
        [
            f"rooms: {len(set(places.values()))}",
            f"files: {len(files):,}",
            f"lines of source: {sum(len(text.splitlines()) for text in texts.values()):,}",
            f"comments: {sum(map(_comments, texts.values())):,}",
            f"longest file: {max(len(text.splitlines()) for text in texts.values())} lines",
            f"arrows between rooms: {_arrows(house, places)}",
            f"cycles of imports at module level: {_cycles(house, (MODULE,))}",
            f"cycles of imports, those in functions too: {_cycles(house, (MODULE, FUNCTION))}",
            f"imports of own modules in functions: {len(inside)}",
            f"calls that import by name: {by_name}",
            f"class names that occur twice: {_listed(name for name, n in classes.items() if n > 1)}",
            f"file names that recur, fixed ones aside: {_listed(_recurring(source, files))}",
            *_touched(source, trees),
        ]
    )


def _comments(text: str) -> int:
    return sum(token.type == tokenize.COMMENT for token in tokenize.generate_tokens(io.StringIO(text).readline))


def _listed(names: Iterable[str]) -> str:
    ordered = sorted(names)
    return f"{len(ordered)}" + (f" ({', '.join(ordered)})" if ordered else "")


def _places(source: Path, modules: Iterable[str]) -> dict[str, str]:
    """Return the room of each module, by dotted names: its folder, or itself where it stands in the root."""
    made: dict[str, str] = {}
    for module in modules:
        parts = module.split(".")[1:]
        package = (source.joinpath(*parts)).is_dir()
        made[module] = module if package or len(parts) < 2 else module.rpartition(".")[0]
    return made


def _arrows(house: House, places: dict[str, str]) -> int:
    """Count pairs of rooms of which the first imports the second, in functions too, types aside."""
    pairs = {(places[one.importer], places[one.imported]) for one in house.imports if one.written and one.kind != TYPES}
    return sum(importer != imported for importer, imported in pairs)


def _cycles(house: House, kinds: tuple[str, ...]) -> str:
    """Count groups of modules each of which reaches every other by imports of these kinds, and their modules."""
    kept = House(house.root, house.modules, tuple(one for one in house.imports if one.kind in kinds))
    groups = kept.groups()
    return f"{len(groups)}" + (f" ({sum(map(len, groups))} modules)" if groups else "")


def _recurring(source: Path, files: Iterable[Path]) -> Iterator[str]:
    """Names of files that occur in several rooms; those that every method's room may have do not count in one."""
    seen = Counter(path.name for path in files if path.name != "__init__.py" and not _fixed(source, path))
    yield from (name for name, n in seen.items() if n > 1)


def _fixed(source: Path, path: Path) -> bool:
    parts = path.relative_to(source).parts
    return len(parts) == 3 and parts[0] == "method" and path.stem in FIXED


def _touched(source: Path, trees: dict[Path, ast.Module]) -> Iterator[str]:
    """For each question, the files that are its method's own and those that name it elsewhere.

    Own files are those of its room below `method/`.  Elsewhere counts a file whose code, docstrings aside, names the
    question's class or its release's; the root's `__init__` is left out, for it lists every public name.
    """
    naming = {path: _names(tree) for path, tree in trees.items() if path != source / "__init__.py"}
    yield "files touched by a question's method (its own + elsewhere, code that names the question or its release):"
    for path, tree in trees.items():
        for name, release in _questions(tree):
            parts = path.relative_to(source).parts
            room = path.parent if parts[0] == "method" else None
            own = {one for one in trees if room is not None and room in one.parents and one.name != "__init__.py"}
            elsewhere = {one for one, names in naming.items() if {name, release} & names} - own
            yield f"  {name}: {len(own)} + {len(elsewhere)}"


def _questions(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield classes of questions, `class Mean(Query["MomentsRelease"])`, each with the class of its release."""
    for node in tree.body:
        for base in node.bases if isinstance(node, ast.ClassDef) else ():
            found = re.fullmatch(r"Query\['(\w+)'\]", ast.unparse(base))
            if found and isinstance(node, ast.ClassDef):
                yield node.name, found[1]


def _names(tree: ast.Module) -> set[str]:
    """Return all names in code: variables, attributes, imported names, and words of strings that are no docstrings."""
    found = set[str]()
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(name) | ast.Attribute(attr=name) | ast.alias(name) | ast.ClassDef(name):
                found.add(name)
            case ast.Constant(str(text)) if id(node) not in documentation:
                found.update(re.findall(r"\w+$", text))
            case _:
                pass
    return found


if __name__ == "__main__":
    if sys.argv[1:2] == ["--count"]:
        print(counts(Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else SOURCE))
    else:
        PICTURE.write_text(picture(), encoding="utf-8")
