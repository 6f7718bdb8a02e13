"""Public facts of one node of a tree of levels, and what its releases cost a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.errors import InferenceError, nearest
from tacit.estimates.estimate import Estimate
from tacit.estimates.wording import who
from tacit.parties.combined_cost import largest_cost, sum_of_costs
from tacit.pooling.tree_totals import Tree, largest_gap
from tacit.privacy import Cost
from tacit.release.document import Release
from tacit.release.parts import Levels, Part, cell_labels
from tacit.release.query import Query

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

NOT_KNOWN: Final = "no release at or below it, and none that leaves it alone"


@dataclass(frozen=True)
class LevelFacts:
    """The public facts that an estimate of one node shows: a `Released` without integers."""

    query: Query[Any]
    table: str
    neighbors: str
    rows: int | None
    unit: int | None
    levels: Levels
    ordered: Levels
    parts: tuple[Part, ...]
    cost: Cost
    remaining: str

    @classmethod
    def of(cls, some: Release, node: str, cost: Cost, nodes: int, rows: int | None = None) -> LevelFacts:
        """Return the facts of a node; some: any of the releases, nodes: how many there are, rows: where public."""
        parts = tuple(replace(part, integers=()) for part in some.parts)
        words = f"over all levels of {nodes:,} nodes"
        facts = (some.neighbors, rows, some.unit, some.levels, some.ordered)
        return cls(some.query, node, *facts, parts, cost, words)


def public_sizes(tree: Tree, place: Mapping[str, int], given: Mapping[str, Release]) -> dict[int, int]:
    """Return public numbers of rows by node: of releases, and of nodes all of whose children have one.

    InferenceError C19 where a node has another number than its children together, or fewer than are known below it.
    """
    found = {place[name]: one.rows for name, one in given.items() if one.rows is not None}
    names, least = {i: name for name, i in place.items()}, dict(found)
    for node in reversed(tree.order):  # children before their parents
        below = tree.children[node]
        # rows that are known to be below: all of them where every child's number is known
        whole, complete = sum(least[child] for child in below), bool(below) and all(child in found for child in below)
        own = found.setdefault(node, whole) if complete else found.get(node)
        least[node] = whole if own is None else own
        if own is None or whole == own or (whole < own and not complete):
            continue
        text = f"{names[node]!r} has {own:,} rows, and the nodes below it {whole:,}."
        raise InferenceError(text, code="C19", hint="a node's table holds the rows of the nodes below it", state=None)
    return found


FAR: Final = 25.0
"""Standard errors of noise by which a node and those below it never differ: less than 10**-12 of Laplace noise does."""


def check_adds_up(tree: Tree, names: Sequence[str], value: Array, noise: Array, some: Release) -> None:
    """InferenceError C19 where a node's total is so far from its children's that no noise explains it.

    value, noise: as of `reconcile`.  Of persons nothing is said: which of their rows count is drawn in each release.
    """
    if some.unit is not None:
        return
    node, far = largest_gap(tree, value, noise)
    if far > FAR:
        text = f"{names[node]!r} differs from the nodes below it by {far:,.0f} standard errors of the noise."
        raise InferenceError(text, code="C19", hint="a node's table holds the rows of the nodes below it", state=None)


def check_tables(tree: Tree, place: Mapping[str, int], given: Mapping[str, Release]) -> None:
    """InferenceError C19 where two nodes have releases of one table, or a node has that of another node's table.

    A node and its only child may hold the same rows.
    """
    seen: dict[tuple[str, str], str] = {}
    for name, one in given.items():
        other = given.get(one.table)
        if one.table != name and other is not None and other.table != one.table:
            text = f"{name!r} has a release of the table {one.table!r}, and {one.table!r} one of {other.table!r}."
            raise InferenceError(text, code="C19", hint="each node's own release", state=None)
        first = seen.setdefault((one.ledger, one.table), name) if one.ledger else name
        if first != name and not _one_line(tree, place[first], place[name]):
            text = f"{first!r} and {name!r} have releases of one table, {one.table!r} of one ledger."
            raise InferenceError(text, code="C19", hint="combine([…]) averages releases of one table", state=None)


def _one_line(tree: Tree, one: int, other: int) -> bool:
    """Whether one of two nodes is above the other, and only children are in between."""
    for above, below in ((one, other), (other, one)):
        path = tree.path(below)
        if above in path:
            return all(len(tree.children[node]) == 1 for node in path[1 : path.index(above) + 1])
    return False


def frame_of_nodes(found: Mapping[str, Estimate]) -> pd.DataFrame:
    """Return estimate and std_error of each node and term, NaN where there is a reason."""
    made = list(found.values())
    index = pandas().MultiIndex.from_product([list(found), list(made[0].terms)], names=["node", "term"])
    known = np.concatenate([[reason is None for reason in one.reasons] for one in made])
    value, error = (np.concatenate([getattr(one, name) for one in made]) for name in ("values", "std_errors"))
    columns = {"estimate": np.where(known, value, np.nan), "std_error": np.where(known, error, np.nan)}
    return pandas().DataFrame(columns, index=index)


def node_number(nodes: tuple[str, ...], node: str) -> int:
    """Return the number of a node; InferenceError C15 for a name that is none."""
    if node not in nodes:
        guess = nearest(node, nodes) or ", ".join(nodes[:8])
        raise InferenceError(f"{node!r} is no node of the tree.", code="C15", hint=guess, state=None)
    return nodes.index(node)


def terms_of_cells(some: Release, labels: Sequence[str]) -> tuple[str, ...]:
    """Return the labels of a node's terms, of each column and cell."""
    cells = cell_labels(some.levels)
    several = len(labels) > 1
    if not some.levels:
        return tuple(one or who(some) for one in labels)
    return tuple(f"{one}:{cell}" if several else cell for one in labels for cell in cells)


def path_cost(tree: Tree, nodes: Sequence[str], releases: Mapping[str, Release]) -> Cost:
    """Return the largest sum of costs along a path from a leaf to the top.

    A person's rows are in one leaf, so levels compose sequentially and nodes of one level in parallel.
    """
    sums: list[Cost] = []
    for leaf in (i for i, below in enumerate(tree.children) if not below):
        # nodes without a release cost nothing
        own = [releases[name] for i in tree.path(leaf) if (name := nodes[i]) in releases]
        sums += [sum_of_costs([one.cost for one in own])] if own else []
    return largest_cost(sums)
