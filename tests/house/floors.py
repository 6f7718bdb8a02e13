"""The floors of the house: the imports of a package, those that point to a higher floor, and cycles among them.

Read from the source text alone.  An import stands at module level, in a function, or under `if TYPE_CHECKING:`, where
it is for readers of types only and never runs.  Where a module of another package is imported, Python runs the
`__init__` of its packages first: these are imports, too, but for the root's, which every import runs.  Imports by name
(`importlib.import_module`) are checked with the wall: see `tests/wall`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Kind = Literal["at module level", "in a function", "for types only"]
MODULE: Final[Kind] = "at module level"
FUNCTION: Final[Kind] = "in a function"
TYPES: Final[Kind] = "for types only"

METHODS: Final = "method"
SHARED: Final = "method.shared"
DOOR: Final = "__init__"
"""The root package's own file: the public names."""
Side = Literal["inside", "outside", "shared", "free", "by file"]


@dataclass(frozen=True)
class Room:
    """A folder or file of the root, its side of the wall (`tests/wall`), and what it holds, as the picture says it."""

    name: str
    side: Side
    holds: str


ROOMS: Final = (
    Room("errors", "shared", "public errors and their codes"),
    Room("base", "shared", "JSON, tables, progress"),
    Room("noise", "by file", "laws of noise, and exact draws from them"),
    Room("privacy", "shared", "prices, budgets, accounting"),
    Room("rows", "shared", "what one row becomes"),
    Room("schema", "shared", "columns, units, conditions, bins"),
    Room("release", "shared", "a release as a document; the registry"),
    Room("models", "shared", "likelihoods, families, estimates of blocks"),
    Room("source", "inside", "frames, files and engines to exact integers"),
    Room("ledger", "inside", "charges and stored releases"),
    Room("plots", "outside", "pictures of arrays and captions"),
    Room("estimates", "outside", "values with both errors, intervals, tests"),
    Room("fits", "outside", "models fitted to released cells"),
    Room("pooling", "outside", "arrays of many parties"),
    Room(SHARED, "by file", "measurements, encodings, additive noise"),
    Room(METHODS, "by file", "one room a method: query, design, mechanism, estimate"),
    Room("holdout", "by file", "checks against rows that no model was trained on"),
    Room("report", "outside", "tables of several models; the methods paragraph"),
    Room("catalogue", "shared", "JSON Schema of everything that is written"),
    Room("study", "shared", "files between organisations"),
    Room("parties", "outside", "releases of many parties, combined"),
    Room("curator", "inside", "order of a release: charge, read, add noise, store"),
    Room("local", "free", "answers that people randomise themselves"),
    Room("meaning", "free", "what a price means for one person"),
    Room("testing", "free", "contract of a mechanism; simulations; coverage"),
    Room("planning", "free", "what a question would cost and show"),
    Room("extend", "shared", "statistics of a user's own"),
    Room("families", "shared", "public names of families"),
    Room("examples", "free", "example tables"),
    Room(DOOR, "free", "public names"),
    Room("cli", "free", "the command line"),
    Room("__main__", "free", "python -m tacit"),
)
"""Rooms from the ground up: a room imports only rooms that stand before it.  All methods stand on one floor.

`scripts/house.py` draws the picture from this list.
"""
FLOORS: Final = tuple(room.name for room in ROOMS)


@dataclass(frozen=True)
class Import:
    """One module imports another, both by their dotted names."""

    importer: str
    imported: str
    line: int
    kind: Kind
    written: bool = True
    """Whether it stands in the text; otherwise it is a package whose `__init__` runs on the way to what does."""

    @property
    def pair(self) -> tuple[str, str]:
        """Who imports whom, as allow-lists have it: without the name of the root package."""
        return _inner(self.importer), _inner(self.imported)

    def __str__(self) -> str:
        way = "" if self.written else " on the way to what is below it"
        return f"{self.importer}:{self.line} imports {self.imported}{way}, {self.kind}"


@dataclass(frozen=True)
class House:
    """All imports among the modules of one package."""

    root: str
    modules: frozenset[str]
    imports: tuple[Import, ...]

    @classmethod
    def read(cls, folder: Path) -> House:
        """Parses every .py below `folder`, a package."""
        paths = {_name(folder, path): path for path in sorted(folder.rglob("*.py"))}
        found = {one for name, path in paths.items() for one in _imports(folder.name, name, path, paths)}
        ordered = sorted(found, key=lambda one: (one.importer, one.line, one.imported))
        return cls(folder.name, frozenset(paths), tuple(ordered))

    def room(self, module: str) -> str:
        """The room on whose floor a module stands: `schema`, `method.shared`, `method`."""
        parts = module.split(".")[1:]
        if parts[:2] == ["method", "shared"]:
            return SHARED
        return parts[0] if parts else DOOR

    def method(self, module: str) -> str | None:
        """The method whose room a module is in; None elsewhere, and in what methods share."""
        parts = module.split(".")[1:]
        return parts[1] if self.room(module) == METHODS and len(parts) > 1 else None

    # What is wrong --------------------------------------------------------------------------------------------------

    def without_floor(self) -> list[str]:
        """Modules in a room that has no floor."""
        return [
            f"{one} is in no room that has a floor: place {self.room(one)!r} in tests/house/floors.py"
            for one in sorted(self.modules)
            if self.room(one) not in FLOORS
        ]

    def upward_imports(self) -> list[Import]:
        """Imports of a room that stands above the importer's, wherever they are written."""
        floors = {room: floor for floor, room in enumerate(FLOORS)}
        return [
            one
            for one in self.imports
            if one.written
            and floors.get(self.room(one.imported), -1) > floors.get(self.room(one.importer), len(floors))
        ]

    def imports_across_methods(self) -> list[Import]:
        """Imports of one method's room by another's."""
        pairs = ((one, self.method(one.importer), self.method(one.imported)) for one in self.imports if one.written)
        return [one for one, own, other in pairs if own is not None and other is not None and own != other]

    def cycles(self, ignored: Collection[tuple[str, str]] = ()) -> list[list[Import]]:
        """Cycles of imports that run, each as the chain of imports that closes it, some imports left out."""
        arrows = self._arrows(ignored)
        found: list[list[Import]] = []
        for group in self.groups(ignored):
            start = min(group)
            inside = {module: [one for one in arrows[module] if one.imported in group] for module in group}
            chain = _chain(start, start, inside)
            assert chain is not None
            found.append(chain)
        return found

    def groups(self, ignored: Collection[tuple[str, str]] = ()) -> list[set[str]]:
        """Groups of modules each of which reaches every other by imports that run, some imports left out."""
        return _strong(self.modules, self._arrows(ignored))

    def unneeded(self, ignored: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
        """Those of `ignored` that are no longer there, or close no cycle."""
        arrows = self._arrows(ignored)
        running = {one.pair: one for one in self.imports if one.kind != TYPES}

        def needed(pair: tuple[str, str]) -> bool:
            one = running.get(pair)
            return one is not None and _chain(one.imported, one.importer, arrows) is not None

        return [pair for pair in sorted(ignored) if not needed(pair)]

    def _arrows(self, ignored: Collection[tuple[str, str]]) -> dict[str, list[Import]]:
        made: dict[str, list[Import]] = {module: [] for module in self.modules}
        for one in self.imports:
            if one.kind != TYPES and one.pair not in ignored and one.importer != one.imported:
                made[one.importer].append(one)
        return made


def describe_upward_import(house: House, one: Import) -> str:
    """A breach of the first rule, in words."""
    below, above = house.room(one.importer), house.room(one.imported)
    return f"{one}; {above} stands above {below}: a room imports only rooms that stand before it"


def describe_import_across_methods(house: House, one: Import) -> str:
    """A breach of the third rule, in words."""
    return f"{one}; rooms of methods never import each other: what both need goes to method/shared"


def describe_cycle(chain: list[Import]) -> str:
    """A cycle in words: every import of it."""
    return "; ".join(map(str, chain)) + ": imports that run make no cycle, those in functions among them"


def _inner(module: str) -> str:
    return module.partition(".")[2] or DOOR


def _name(folder: Path, path: Path) -> str:
    parts = [folder.name, *path.relative_to(folder).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# Reading ------------------------------------------------------------------------------------------------------------


def _imports(root: str, name: str, path: Path, known: Collection[str]) -> Iterator[Import]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node, kind in _statements(ast.parse(path.read_text(encoding="utf-8")), MODULE):
        for target in _targets(node, package, known):
            if target.split(".")[0] != root:
                continue
            module = next((m for m in _prefixes(target) if m in known), root)
            yield Import(name, module, node.lineno, kind)
            for package_on_the_way in list(_prefixes(module))[1:-1]:
                if package_on_the_way in known and not f"{name}.".startswith(f"{package_on_the_way}."):
                    yield Import(name, package_on_the_way, node.lineno, kind, written=False)


def _prefixes(target: str) -> Iterator[str]:
    """A dotted name, and what it is in, the nearest first: a.b.c, a.b, a."""
    parts = target.split(".")
    yield from (".".join(parts[:end]) for end in range(len(parts), 0, -1))


def _statements(node: ast.AST, kind: Kind) -> Iterator[tuple[ast.Import | ast.ImportFrom, Kind]]:
    """Import statements below a node, and where they stand."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, kind
        elif isinstance(child, ast.If) and _type_checking(child.test):
            for statement in child.body:
                yield from _statements(ast.Module([statement], []), TYPES)
            for statement in child.orelse:
                yield from _statements(ast.Module([statement], []), kind)
        else:
            deeper = kind == MODULE and isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _statements(child, FUNCTION if deeper else kind)


def _targets(node: ast.Import | ast.ImportFrom, package: str, known: Collection[str]) -> Iterator[str]:
    """Dotted names of what a statement imports: modules where they are known, else what stands there."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = node.module or ""
    if node.level:
        up = package.split(".")
        up = up[: len(up) - node.level + 1]
        base = ".".join([*up, *([node.module] if node.module else [])])
    for alias in node.names:
        whole = f"{base}.{alias.name}"
        yield whole if whole in known else base


def _type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


# Graphs -------------------------------------------------------------------------------------------------------------


def _chain(start: str, end: str, arrows: dict[str, list[Import]]) -> list[Import] | None:
    """The shortest way along imports from `start` to `end`, at least one import long; None where there is none."""
    ways: list[list[Import]] = [[one] for one in arrows[start]]
    seen: set[str] = set()
    while ways:
        later: list[list[Import]] = []
        for way in ways:
            here = way[-1].imported
            if here == end:
                return way
            if here not in seen:
                seen.add(here)
                later += [[*way, one] for one in arrows[here]]
        ways = later
    return None


def _strong(modules: Collection[str], arrows: dict[str, list[Import]]) -> list[set[str]]:
    """Groups of modules each of which reaches every other."""
    reached = {module: _reached(module, arrows) for module in modules}
    groups = {
        frozenset({module, *(other for other in reached[module] if module in reached[other])})
        for module in modules
        if module in reached[module]
    }
    return [set(group) for group in sorted(groups, key=min)]


def _reached(start: str, arrows: dict[str, list[Import]]) -> set[str]:
    seen: set[str] = set()
    waiting = [one.imported for one in arrows[start]]
    while waiting:
        here = waiting.pop()
        if here not in seen:
            seen.add(here)
            waiting += [one.imported for one in arrows[here]]
    return seen
