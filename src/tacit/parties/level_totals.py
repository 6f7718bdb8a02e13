"""`tc.hierarchy`: reconcile released totals of several levels (school, state, nation) so that they add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.estimate import Estimate
from tacit.estimates.terms import ColumnTerms
from tacit.estimates.total_errors.error_laws import halfwidth
from tacit.estimates.wording import estimand, source_of
from tacit.fits.cells.released_cells import counts_of
from tacit.method.blocks.estimate import SampleAndAggregateRelease
from tacit.parties.level_facts import (
    NOT_KNOWN,
    LevelFacts,
    check_adds_up,
    check_tables,
    node_number,
    path_cost,
    terms_of_cells,
)
from tacit.parties.level_laws import LawHierarchy, hierarchy_of_laws
from tacit.parties.level_means import MeanHierarchy, hierarchy_of_means
from tacit.parties.totals import party_totals as totals_of
from tacit.pooling.common_value import law, noises
from tacit.pooling.compatibility import check_compatible, named_releases
from tacit.pooling.noise_sum import laplace_share
from tacit.pooling.tree_totals import Reconciled, Tree, integer_totals, reconcile
from tacit.privacy import Cost
from tacit.release.document import Release

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


@dataclass(frozen=True)
class Sums:
    """Reconciled totals of one column; fourth: sum of squared variances of each node's Laplace noises, shape (n,)."""

    label: str
    found: Reconciled
    fourth: Array


@dataclass(frozen=True)
class NodeTotals:
    """Intervals of one node's totals, from the variance and the excess (see `Pooled`) of their weighted noises."""

    value: Array
    noise: Array
    excess: Array

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return lower and upper limits, shape (T,); infinite where the total is unknown."""
        known = np.isfinite(self.noise)
        safe = np.where(known, self.noise, 1.0)
        half = halfwidth(level, *law(np.zeros_like(safe), safe, np.where(known, self.excess, 0.0)))
        return np.where(known, self.value - half, -np.inf), np.where(known, self.value + half, np.inf)


@shown_by_summary
@dataclass(frozen=True, repr=False)
class Hierarchy:
    """Totals of every node of a tree, where children add up to their parents; made by `tc.hierarchy`.

    nodes: names, parents before their children.  parents: the parent of each node, None at the top.  terms: labels of
    the totals of a node.
    """

    releases: Mapping[str, Release]
    parents: Mapping[str, str | None]
    columns: tuple[Sums, ...]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes."""
        return tuple(self.parents)

    @property
    def terms(self) -> tuple[str, ...]:
        """Labels of the totals of a node."""
        first = next(iter(self.releases.values()))
        return terms_of_cells(first, tuple(one.label for one in self.columns))

    @property
    def cost(self) -> Cost:
        """The privacy cost for a person: the largest sum of costs along a path from a leaf to the top.

        A person's rows are in one leaf, so levels compose sequentially and nodes of one level in parallel.
        """
        return path_cost(self.columns[0].found.tree, self.nodes, self.releases)

    def estimate(self, node: str) -> Estimate:
        """Estimate the totals of one node's table, with the uncertainty from the noise of all levels.

        The target is the table itself, so sampling error does not count.  InferenceError C15 for an unknown node.
        """
        at = self._at(node)
        some = next(iter(self.releases.values()))
        facts = LevelFacts.of(some, node, self.cost, len(self.nodes))
        source = "hierarchy " + " ".join(source_of(one) for one in self.releases.values())
        blocks = tuple(self._block(one, at, f"{source}/{node}") for one in self.columns)
        words = estimand(facts, "table") if some.kind != "histogram" else "number of rows of each cell of this table"
        notes = ("least squares over all levels: children add up to their parents",)
        return Estimate(facts, "table", words, self.terms, blocks, notes=notes)

    def _block(self, one: Sums, at: int, source: str) -> ColumnTerms:
        """Return one column's totals of node number `at` as terms of an estimate."""
        found = one.found
        weights = found.weights(at)
        # a node without a release has infinite noise and weight 0, whose product would be NaN
        own = np.where(np.isfinite(found.noise), found.noise, 0.0)
        size = found.value.shape[1]
        known = bool(np.isfinite(found.variance[at]))
        # variances of independent noises add with squares of weights, fourth cumulants with fourth powers
        noise = np.full(size, float((weights**2 * own).sum()))
        excess = np.full(size, float(np.sqrt((weights**4 * one.fourth).sum())))
        value = found.value[at] if known else np.zeros(size)
        law_, loadings = noises(noise, excess)
        limits = NodeTotals(value, noise if known else noise + np.inf, excess)
        zero, reasons = np.zeros(size), (None if known else NOT_KNOWN,) * size
        return ColumnTerms(one.label, value, zero, zero, loadings, law_, limits, reasons, source=source)

    def covariance(self, *nodes: str) -> Array:
        """Return the noise covariance of some nodes' totals of the first column, shape (nodes, nodes)."""
        return self.columns[0].found.covariance([self._at(node) for node in nodes])

    @cached_property
    def _whole(self) -> NDArray[np.int64]:
        return np.concatenate([integer_totals(one.found.tree, one.found.value) for one in self.columns], axis=1)

    def totals(self) -> pd.DataFrame:
        """Return integer totals that add up exactly, one row a node: the reconciled totals, rounded from the top.

        InferenceError C16 where a node's total is not known.
        """
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        lost = [self.nodes[i] for i in np.flatnonzero(~np.isfinite(self.columns[0].found.variance))]
        if lost:
            text = f"nothing is known of {', '.join(lost[:5])}."
            raise InferenceError(text, code="C16", hint="a release of each leaf, or to_frame()", state=None)
        return pd.DataFrame(self._whole, index=pd.Index(self.nodes, name="node"), columns=list(self.terms))

    def to_frame(self) -> pd.DataFrame:
        """Return estimate and std_error of each node and term (NaN where unknown)."""
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        value = np.concatenate([one.found.value for one in self.columns], axis=1)
        error = np.concatenate(
            [np.repeat(np.sqrt(one.found.variance)[:, None], one.found.value.shape[1], axis=1) for one in self.columns],
            axis=1,
        )
        index = pd.MultiIndex.from_product([list(self.nodes), list(self.terms)], names=["node", "term"])
        error = np.where(np.isfinite(error), error, np.nan)
        return pd.DataFrame({"estimate": value.reshape(-1), "std_error": error.reshape(-1)}, index=index)

    def summary(self, level: float = 0.95) -> Table:
        """Return the totals of the top node as a table; InferenceError I01 (level below 0.5, or 1 and above)."""
        return self.estimate(self.nodes[0]).summary(level)

    def _at(self, node: str) -> int:
        return node_number(self.nodes, node)


def hierarchy(
    releases: Mapping[str, Any], parents: Mapping[str, str | None]
) -> Hierarchy | MeanHierarchy | LawHierarchy:
    """Reconcile releases at nodes of a tree: totals (Count, Sum, Histogram), Mean or SufficientStatistics of all nodes.

    releases: by node, for any nodes: only the leaves, only nodes above them, or several levels among which the budget
    is split.  parents: {"st-mary": "north", "north": "nation"}.  A node's table holds the rows of the nodes below it.
    Of `Mean` it is a `MeanHierarchy`: sums are reconciled, then divided, so that every node's mean has the noise of all
    levels.  Of `SufficientStatistics` it is a `LawHierarchy`: the law of every node, fitted to such means.  Parameters
    from blocks are refused: a node's parameter is no sum of those below it.
    InferenceError C10, C11, C12, C13 as `combine`; C19 for parents that do not form a tree, for one table at two nodes,
    and where a node differs from those below it by more than noise does; C60 for parameters from blocks.
    Source: theory §6 (generalised least squares, two passes).

    >>> import tacit as tc
    >>> schema, budget = tc.Schema({"age": tc.Real(0, 100)}), tc.Budget(epsilon=10, neighbors="add-remove")
    >>> def count(n):
    ...     return tc.Curator({"age": [40.0] * n}, schema, budget=budget).release(tc.Count(), epsilon=5)
    >>> found = tc.hierarchy({"nation": count(500), "north": count(300), "south": count(200)},
    ...                      {"north": "nation", "south": "nation"})
    >>> bool(found.totals()["rows"]["north"] + found.totals()["rows"]["south"] == found.totals()["rows"]["nation"])
    True
    """
    names, listed, _ = named_releases(releases)
    # before what does not combine: another method of blocks is no help here
    if any(one.kind == SampleAndAggregateRelease.kind for one in listed):
        text = (
            "a parameter from blocks is no sum of those of the nodes below: their laws may differ, and blocks of a "
            "node and of those below it have different biases and share their people."
        )
        hint = "SufficientStatistics, whose sums add up; or tc.combine of one level, if all its nodes have one law"
        raise InferenceError(text, code="C60", hint=hint, state=None)
    check_compatible(names, listed)
    kind = type(listed[0].query).__name__
    if kind not in ("Count", "Sum", "Histogram", "Mean", "SufficientStatistics"):
        text = f"answers to {kind} are no totals that add up over levels."
        raise InferenceError(text, code="C11", hint="Mean, SufficientStatistics, Sum and Count", state=None)
    given = dict(zip(names, listed, strict=True))
    if not isinstance(parents, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"parents is {described(parents)}."
        raise InferenceError(text, code="C19", hint='parents={"north": "nation"}', state=None)
    # nodes with a release but no parent given are tops
    above = _tree({**dict.fromkeys(given), **parents})
    place = {name: i for i, name in enumerate(above)}
    tree = Tree(tuple(-1 if parent is None else place[parent] for parent in above.values()))
    check_tables(tree, place, given)
    if kind == "Mean":
        return hierarchy_of_means(tree, above, given)
    if kind == "SufficientStatistics":
        return hierarchy_of_laws(tree, above, given)
    return Hierarchy(given, above, tuple(_column(tree, place, given, i) for i in range(len(listed[0].parts))))


def _tree(parents: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return each node's parent, parents before their children; InferenceError C19 where there is a circle."""
    given: dict[Any, Any] = dict(parents)
    if not all(isinstance(name, str | None) for pair in given.items() for name in pair):
        text = "a name among parents is no text."
        raise InferenceError(text, code="C19", hint='parents={"north": "nation"}', state=None)
    whole: dict[str, str | None] = dict(parents)
    for parent in parents.values():
        if parent is not None:
            whole.setdefault(parent, None)
    # `Tree` refuses circles and orders parents before children
    place = {name: i for i, name in enumerate(whole)}
    tree = Tree(tuple(-1 if parent is None else place[parent] for parent in whole.values()))
    names = list(whole)
    return {names[i]: whole[names[i]] for i in tree.order}


def _column(tree: Tree, place: Mapping[str, int], given: Mapping[str, Release], at: int) -> Sums:
    """Reconcile part `at` of the releases; place: the number of each node."""
    read = {name: _own(one, at) for name, one in given.items()}
    size = len(next(iter(read.values()))[0])
    value, noise, fourth = np.zeros((len(place), size)), np.full(len(place), np.inf), np.zeros(len(place))
    for name, (own, variance, excess) in read.items():
        value[place[name]], noise[place[name]], fourth[place[name]] = own, variance, excess
    some = next(iter(given.values()))
    check_adds_up(tree, tuple(place), value, noise, some)
    label = some.parts[at].label
    return Sums(label, reconcile(tree, value, noise), fourth)


def _own(release: Release, at: int) -> tuple[Array, float, float]:
    """Return unclipped totals, shape (T,), their noise variance, and the sum of squared Laplace variances."""
    part = release.parts[at]
    if release.kind == "histogram":
        variance = part.law.variance() / part.parameters.get("share", 1) ** 2
        return counts_of(release).reshape(-1), variance, (laplace_share(part.law) * variance) ** 2
    found = totals_of(release, part, sampled=False)
    return found.value, float(found.noise[0]), float(found.fourth[0])
