"""The rooms of the house and what each must never reach (design law 1), and the check of a whole package."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from import_graph import Graph

INSIDE: Final = "inside"  # touches rows, draws protecting noise
OUTSIDE: Final = "outside"  # sees releases only
SHARED: Final = "shared"  # data-free; both sides use it
FREE: Final = "free"  # glue that may import anything, and that no other room may reach if it reaches too much

# Longest prefix wins; a module in no room fails the test, so that a new one is placed on purpose.
ROOMS: Final[dict[str, str]] = {
    "curator": INSIDE,
    "mechanisms": INSIDE,
    "noise.exact": INSIDE,
    "noise.choose": INSIDE,
    "noise.passing": INSIDE,
    "noise": SHARED,
    "errors": SHARED,
    "rowmap": SHARED,
    "predicates": SHARED,
    "queries": SHARED,
    "queries_blocks": SHARED,
    "queries_statistics": SHARED,
    "models": SHARED,
    "families": SHARED,
    "query_words": SHARED,
    "question": SHARED,
    "linear": SHARED,
    "logistic": SHARED,
    "schema": SHARED,
    "release": SHARED,
    "parts": SHARED,
    "packed": SHARED,
    "documents": SHARED,
    "fields": SHARED,
    "release_fields": SHARED,
    "release_forms": SHARED,
    "release_laws": SHARED,
    "release_parts": SHARED,
    "release_seal": SHARED,
    "release_sensitivity": SHARED,
    "documents_models": SHARED,
    "documents_queries": SHARED,
    "documents_words": SHARED,
    "phases": SHARED,
    "privacy": SHARED,
    "tables": SHARED,
    "texts": SHARED,
    "signing": SHARED,
    "silence": SHARED,
    "untyped": SHARED,
    "files": SHARED,
    "study": SHARED,
    "inference": OUTSIDE,
    "plots": OUTSIDE,
    "parties": OUTSIDE,
    "planning": FREE,
    "testing": FREE,
    "examples": FREE,
    "cli": FREE,
    "__main__": FREE,
}

ENGINES: Final = ("duckdb", "pyspark")
LEDGERS: Final = ("sqlite3", "psycopg")
OS_GENERATOR: Final = ("secrets", "os.urandom")
SEEDED: Final = ("random", "numpy.random")
# Only these modules open tables, ledgers, random words.  (The parts of `random` and NumPy's are never used inside.)
DIRECT: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    ENGINES: ("curator.source", "curator.importing"),
    LEDGERS: ("curator.ledger",),
    OS_GENERATOR: ("curator", "mechanisms", "noise.exact", "noise.choose"),
}
# A statistic of one's own travels to a process of its own as code; nothing else is loaded by what data or words say.
CARRIER: Final = "tacit.models.carried"
# Who may fetch the modules of `sys.modules` (to see which frame library a user has loaded).
SEES_MODULES: Final = (INSIDE, FREE)


def room(graph: Graph, name: str) -> str | None:
    """The room of a module; None where it has none."""
    if name == graph.root:
        return FREE
    parts = name.split(".")[1:]
    for end in range(len(parts), 0, -1):
        found = ROOMS.get(".".join(parts[:end]))
        if found is not None:
            return found
    return None


def within(target: str, names: tuple[str, ...]) -> bool:
    """Whether a dotted name is one of `names` or below it."""
    return any(target == name or target.startswith(name + ".") for name in names)


def violations(graph: Graph) -> Iterator[str]:
    """One line for each breach of the wall, with the chain of imports that makes it."""
    for name, module in graph.modules.items():
        here = room(graph, name)
        if here is None:
            yield f"{name} is in no room: place it in tests/wall/rooms.py"
            continue
        for use in sorted(() if name == CARRIER else module.dynamic, key=lambda use: use.line):
            yield f"{name}:{use.line} imports dynamically: {use.target}"
        yield from _reached(graph, name, here)
        yield from _direct(graph, name, here)


def _reached(graph: Graph, name: str, here: str) -> Iterator[str]:
    """Rules that hold for indirect imports too."""

    def rooms(*forbidden: str):
        def bad(target: str) -> bool:
            inner = graph.internal(target)
            return inner is not None and room(graph, inner) in forbidden

        return bad

    def libraries(*names: str):
        return lambda target: within(target, names)

    rules = {
        OUTSIDE: [rooms(INSIDE), libraries(*ENGINES, *LEDGERS, *OS_GENERATOR)],
        SHARED: [rooms(INSIDE, OUTSIDE), libraries(*ENGINES, *LEDGERS, *OS_GENERATOR)],
        INSIDE: [rooms(OUTSIDE, FREE)],
        FREE: [],
    }[here]
    for bad in [*rules, libraries("opendp")]:
        chain = graph.chain(name, bad)
        if chain is not None:
            yield f"{here} must not reach this: " + " -> ".join(chain)


def _direct(graph: Graph, name: str, here: str) -> Iterator[str]:
    """Rules about the module's own lines."""
    for use in sorted(graph.modules[name].uses, key=lambda use: use.line):
        for names, allowed in DIRECT.items():
            if within(use.target, names) and not within(name, tuple(f"{graph.root}.{part}" for part in allowed)):
                yield f"{name}:{use.line} uses {use.target}, which only {', '.join(allowed)} may"
        if here == INSIDE and within(use.target, SEEDED):
            yield f"{name}:{use.line} uses {use.target}: inside, randomness is the operating system's"
        if here not in SEES_MODULES and within(use.target, ("sys.modules",)):
            yield f"{name}:{use.line} looks into sys.modules"
