"""Who imports whom in a package, read from its source text alone (nothing is imported).

Counted: imports at module level and inside functions, relative ones, sub-packages' `__init__` (Python runs them), and
attributes of imported modules that are modules themselves (`noise.exact`) or watched names (`os.urandom`).
Not counted: `if TYPE_CHECKING:` and the run of the root package's `__init__` that comes with any import of its parts.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Words of the operating system's generator, wherever they stand: as an attribute, an imported name, or text.
OS_RANDOM = {"urandom", "getrandom", "SystemRandom", "/dev/urandom", "/dev/random"}
DYNAMIC_MODULES = {"importlib", "runpy", "imp", "pkgutil", "builtins", "pickle", "marshal", "zipimport"}
HARMLESS_PARTS = {"importlib.metadata", "importlib.resources"}
DYNAMIC_CALLS = {"__import__", "exec", "eval", "compile"}


@dataclass(frozen=True)
class Use:
    """One import or one watched word: dotted target and line."""

    target: str
    line: int


@dataclass
class Module:
    name: str
    path: Path
    uses: set[Use] = field(default_factory=set)  # internal modules and external dotted names
    dynamic: set[Use] = field(default_factory=set)  # imports that a reader of the text cannot follow
    opened: list[tuple[str, int]] = field(default_factory=list)  # what import_module is given: names, * for a variable
    openings: int = 0  # how often import_module is named but where it is imported


@dataclass(frozen=True)
class Graph:
    root: str
    modules: dict[str, Module]
    found: dict[str, list[tuple[str, str | None]]] = field(default_factory=dict, compare=False)

    def targets(self, name: str) -> list[tuple[str, str | None]]:
        """What a module uses, in order, and the module of ours that each is in; found once."""
        if name not in self.found:
            some = sorted({use.target for use in self.modules[name].uses})
            self.found[name] = [(target, self.internal(target)) for target in some]
        return self.found[name]

    def internal(self, target: str) -> str | None:
        """The module a dotted name is in, if it is one of ours: the longest prefix that is a module."""
        parts = target.split(".")
        for end in range(len(parts), 0, -1):
            name = ".".join(parts[:end])
            if name in self.modules:
                return name
        return None

    def chain(self, start: str, forbidden: Callable[[str], bool]) -> list[str] | None:
        """Shortest chain of imports from `start` to a forbidden target; None where there is none."""
        queue = deque([[start]])
        seen = {start}
        while queue:
            way = queue.popleft()
            for target, inner in self.targets(way[-1]):
                if forbidden(target):
                    return [*way, target]
                if inner is not None and inner not in seen:
                    seen.add(inner)
                    queue.append([*way, inner])
        return None


def read_package(folder: Path) -> Graph:
    """Parses every .py below `folder`, a package."""
    paths = {_name(folder, path): path for path in sorted(folder.rglob("*.py"))}
    modules = {name: _Reader(folder.name, name, path, set(paths)).read() for name, path in paths.items()}
    return Graph(folder.name, modules)


def _name(folder: Path, path: Path) -> str:
    parts = [folder.name, *path.relative_to(folder).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class _Reader(ast.NodeVisitor):
    def __init__(self, root: str, name: str, path: Path, known: set[str]) -> None:
        self.root, self.known = root, known
        self.module = Module(name, path)
        self.package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        self.bound: dict[str, str] = {}  # local name -> dotted module

    def read(self) -> Module:
        tree = ast.parse(self.module.path.read_text(encoding="utf-8"))
        self.bound = dict(_bindings(tree, self))
        self.visit(tree)
        return self.module

    def use(self, target: str, line: int) -> None:
        self.module.uses.add(Use(target, line))
        parts = target.split(".")
        for end in range(2, len(parts)):  # Python runs the __init__ of sub-packages; the root's is not counted
            parent = ".".join(parts[:end])
            if parts[0] == self.root and parent in self.known and not self.module.name.startswith(parent + "."):
                self.module.uses.add(Use(parent, line))
        if parts[0] in DYNAMIC_MODULES and not any(target.startswith(part) for part in HARMLESS_PARTS):
            self.module.dynamic.add(Use(target, line))

    def base(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        up = self.package.split(".")
        up = up[: len(up) - node.level + 1]
        return ".".join([*up, *([node.module] if node.module else [])])

    def visit_If(self, node: ast.If) -> None:
        if _type_checking(node.test):
            for statement in node.orelse:
                self.visit(statement)
        else:
            self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.use(alias.name, node.lineno)
            if alias.asname is None and alias.name.startswith(self.root + "."):
                self.use(self.root, node.lineno)  # `import tacit.x` binds the root, and with it everything

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = self.base(node)
        if base == "__future__":
            return
        for alias in node.names:
            if alias.name == "*":
                self.module.dynamic.add(Use(f"from {base} import *", node.lineno))
                self.use(base, node.lineno)
            elif f"{base}.{alias.name}" in self.known:
                self.use(f"{base}.{alias.name}", node.lineno)
            elif base in self.known:
                self.use(base, node.lineno)
            else:
                self.use(f"{base}.{alias.name}", node.lineno)
            if alias.name == "import_module" and alias.asname is not None:
                self.module.dynamic.add(Use("import_module under another name", node.lineno))
            if alias.name in OS_RANDOM:
                self.use("os.urandom", node.lineno)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        dotted = self.dotted(node)
        if node.attr in OS_RANDOM:
            self.use("os.urandom", node.lineno)
        if dotted is not None:
            watched = dotted in {"sys.modules", "numpy.random"} or dotted.split(".")[0] in DYNAMIC_MODULES
            if watched or dotted in self.known:
                self.use(dotted, node.lineno)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and node.value in OS_RANDOM:
            self.use("os.urandom", node.lineno)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in DYNAMIC_CALLS:
            self.module.dynamic.add(Use(node.func.id, node.lineno))
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if called == "import_module":
            self.module.opened.append((_pattern(node.args[0]) if node.args else "", node.lineno))
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self.module.openings += node.id == "import_module"
        if node.id in {"__import__", "__loader__", "__builtins__"}:
            self.module.dynamic.add(Use(node.id, node.lineno))

    def dotted(self, node: ast.Attribute) -> str | None:
        names = [node.attr]
        inner: ast.expr = node.value
        while isinstance(inner, ast.Attribute):
            names.append(inner.attr)
            inner = inner.value
        if not isinstance(inner, ast.Name) or inner.id not in self.bound:
            return None
        return ".".join([self.bound[inner.id], *reversed(names)])


def _bindings(tree: ast.AST, reader: _Reader) -> Iterator[tuple[str, str]]:
    """Local names that stand for modules, anywhere in the file (scopes ignored: too much, never too little)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname, alias.name) if alias.asname else (alias.name.split(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom):
            base = reader.base(node)
            for alias in node.names:
                if f"{base}.{alias.name}" in reader.known or base.split(".")[0] != reader.root:
                    yield alias.asname or alias.name, f"{base}.{alias.name}"


def _pattern(text: ast.expr) -> str:
    """A module's name as it is written: the first variable part as *, the others by their names."""
    if isinstance(text, ast.Constant):
        return str(text.value)
    if not isinstance(text, ast.JoinedStr):
        return "unknown"
    said, first = "", True
    for part in text.values:
        if isinstance(part, ast.Constant):
            said += str(part.value)
        else:
            said += (
                "*" if first else "{" + ast.unparse(part.value if isinstance(part, ast.FormattedValue) else part) + "}"
            )
            first = False
    return said


def _type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )
