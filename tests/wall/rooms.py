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
    "base": SHARED,
    "errors": SHARED,
    "noise": SHARED,
    "noise.exact": INSIDE,
    "noise.exact_vectors": INSIDE,
    "noise.exact_products": INSIDE,
    "noise.select": INSIDE,
    "noise.threshold": INSIDE,
    "privacy": SHARED,
    "rows": SHARED,
    "schema": SHARED,
    "release": SHARED,
    "models": SHARED,
    "extend": SHARED,
    "families": SHARED,
    "source": INSIDE,
    "ledger": INSIDE,
    "plots": OUTSIDE,
    "estimates": OUTSIDE,
    "fits": OUTSIDE,
    "pooling": OUTSIDE,
    "method": SHARED,  # and by file name, below
    "report": OUTSIDE,
    "catalogue": SHARED,
    "study": SHARED,
    "parties": OUTSIDE,
    "holdout": SHARED,
    "holdout.mechanism_holdout": INSIDE,
    "curator": INSIDE,
    "local": FREE,
    "local.channel": SHARED,
    "local.thresholds": SHARED,
    "local.mechanism_respond": INSIDE,
    "meaning": FREE,
    "planning": FREE,
    "testing": FREE,
    "examples": FREE,
    "cli": FREE,
    "__main__": FREE,
}
# In the room of a method the wall goes by file name (or by that of a folder).
METHODS: Final = "method"
FILES: Final[dict[str, str]] = {"mechanism": INSIDE, "estimate": OUTSIDE, "plan": OUTSIDE, "combine": OUTSIDE}
# The only places that import by name, and what: mechanisms for the curator; and for whoever holds a release or a
# question the files of its method that see no rows, plans, and what makes one answer of many; engines for open tables.
OPENING: Final = "importlib.import_module"
OPENERS: Final[dict[str, tuple[str, ...]]] = {
    "": ("*",),  # the package itself: a public name is imported when it is first used
    "curator.mechanisms": ("method.*.mechanism",),
    "source.engine_registry": ("source.engines.*",),
    "release.registry": ("method.*.{file}", "planning.plan", "parties.study_result"),
}

ENGINES: Final = ("duckdb", "pyspark")
LEDGERS: Final = ("sqlite3", "psycopg")
OS_GENERATOR: Final = ("secrets", "os.urandom")
SEEDED: Final = ("random", "numpy.random")
WARNINGS: Final = ("warnings", "logging")  # what they say of a row is an output (law 7)
# Only these modules open tables, ledgers, random words.  (The parts of `random` and NumPy's are never used inside.)
DIRECT: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    ENGINES: ("source",),
    LEDGERS: ("ledger",),
    OS_GENERATOR: (
        "curator",
        "ledger",
        "source",
        "method",
        "noise.exact",
        "noise.select",
        "local.mechanism_respond",
        "local.response_design",
    ),
}
# A statistic of one's own travels to a process of its own as code; nothing else is loaded by what data or words say.
CARRIER: Final = "tacit.models.function_pickle"
# Who may fetch the modules of `sys.modules` (to see which frame library a user has loaded).
SEES_MODULES: Final = (INSIDE, FREE)


def room(graph: Graph, name: str) -> str | None:
    """The room of a module; None where it has none."""
    if name == graph.root:
        return FREE
    parts = name.split(".")[1:]
    if parts[0] == METHODS:
        for part in parts[2:]:
            for start, found in FILES.items():
                if part == start or part.startswith(f"{start}_"):
                    return found
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
            if name.partition(".")[2] not in OPENERS or use.target != OPENING:
                yield f"{name}:{use.line} imports dynamically: {use.target}"
        yield from _opened(graph, name)
        yield from _reached(graph, name, here)
        yield from _direct(graph, name, here)


def _opened(graph: Graph, name: str) -> Iterator[str]:
    """What an opener imports by name is what it may; no other text of it names a module."""
    own = name.partition(".")[2]
    if own not in OPENERS:
        return
    allowed = {f"{graph.root}.{target}" for target in OPENERS[own]}
    if graph.modules[name].openings != len(graph.modules[name].opened):
        yield f"{name} hands import_module on"
    for target, line in graph.modules[name].opened:
        if target not in allowed:
            yield f"{name}:{line} opens {target}, which it may not"


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
        if here == INSIDE and within(use.target, WARNINGS):
            yield f"{name}:{use.line} uses {use.target}: inside, nothing is said"
        if here not in SEES_MODULES and within(use.target, ("sys.modules",)):
            yield f"{name}:{use.line} looks into sys.modules"
