"""Laws of every node of a tree of levels, from sufficient statistics released at several levels.

The sums of the clamped statistics add up over levels, as those of any column (`level_means`): they are reconciled with
the known noises of all levels, and at every node the law is fitted whose means of the statistics are the node's.
[Chen & Sung, section IV] ask for such levels and give no method; theory §6.

What is estimated at a node is the limit of the maximum likelihood estimate from its rows.  Where nodes below it follow
different laws of the family, the node's rows follow a mixture, which is no law of the family, and the parameters are
those of the law with the mixture's means: not an average of the parameters below.  Their sampling covariance is then
the mixture's: variances are those released, covariances come from the laws of the nodes below and their distances.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.estimates.estimate import Estimate
from tacit.estimates.terms import Target, check_target
from tacit.estimates.wording import source_of
from tacit.method.sufficient_statistics.estimate import (
    TRUSTED,
    Means,
    clamped_words,
    ends,
    fitted,
    map_of,
    misfit_notes,
)
from tacit.models.mean_map import At, MeanMap
from tacit.parties.level_facts import NOT_KNOWN, LevelFacts, frame_of_nodes, node_number, path_cost, public_sizes
from tacit.parties.level_means import FEW, LevelSums, NodeMeans, level_sums
from tacit.pooling.common_value import noises
from tacit.pooling.tree_totals import Tree
from tacit.privacy import Cost
from tacit.release.document import Release

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.method.sufficient_statistics.query import SufficientStatistics

CLOSE: Final = 0.15
"""Covariances come from the nodes below where the noise of each of their means is at most this part of a row's sd."""
SAME: Final = "least squares over all levels: the sums of children add up to their parents'"
MIXED: Final = "of nodes with different laws, the parameters of the law with the mean statistics of all their rows"


@dataclass(frozen=True)
class NodeLaw:
    """The means of p statistics at a node, each with what its interval needs, and the map at the fitted law."""

    each: tuple[NodeMeans, ...]
    means: Means
    at: At

    @property
    def noise(self) -> Array:
        """Noise variances of the means, shape (p,)."""
        return (self.means.loadings**2).sum(axis=1) * self.means.law.variance()


@shown_by_summary
@dataclass(frozen=True, repr=False)
class LawHierarchy:
    """Laws of every node of a tree; made by `tc.hierarchy` of releases of SufficientStatistics at any of its nodes.

    nodes: names, parents before their children.  terms: names of the parameters.  sizes: public numbers of rows, by the
    numbers of nodes.  A node without a release has a law, too, where its children's sums are known.
    Source: theory §6, [Chen & Sung, section IV].
    """

    releases: Mapping[str, Release]
    parents: Mapping[str, str | None]
    columns: tuple[LevelSums, ...]
    sizes: Mapping[int, int]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes."""
        return tuple(self.parents)

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return self._map.model.names

    @property
    def cost(self) -> Cost:
        """The privacy cost for a person: the largest sum of costs along a path from a leaf to the top."""
        return path_cost(self.columns[0].found.tree, self.nodes, self.releases)

    def estimate(self, node: str, target: Target = "population") -> Estimate:
        """Estimate the parameters of one node from the sums of all levels, with both errors and their covariance.

        target: "population", of which the node's rows are a sample, or "table", the parameters fitted to those rows.
        Where nodes below follow different laws, these are the parameters of the law with the mixture's mean statistics.
        InferenceError C15 for an unknown node, I09 for a target.

        >>> import numpy as np, tacit as tc
        >>> rng = np.random.default_rng(0)
        >>> wait = tc.SufficientStatistics("wait", tc.families.Exponential(rate=(0.1, 10)))
        >>> rows = {"north": rng.exponential(0.5, 4_000), "south": rng.exponential(0.5, 6_000)}
        >>> schema, budget = tc.Schema({"wait": tc.Real(0, 3)}), tc.Budget(epsilon=1)
        >>> given = {k: tc.Curator({"wait": v}, schema, name=k, budget=budget).release(wait, epsilon=1)
        ...          for k, v in rows.items()}
        >>> nation = tc.hierarchy(given, {"north": "nation", "south": "nation"}).estimate("nation")
        >>> abs(nation.value - 2) < 6 * nation.std_error
        True
        """
        check_target(target)
        at = node_number(self.nodes, node)
        facts = LevelFacts.of(self._some, node, self.cost, len(self.nodes), self.sizes.get(at))
        known = bool(np.isfinite(self.columns[0].found.variance[at]))
        law = self._law(at, target) if known else self._nothing()
        reason = NOT_KNOWN if not known else None if all(one.clear.all() for one in law.each) else FEW
        mixture = replace(law.at, cov=self._row_covariance(at)) if known and target == "population" else law.at
        made = fitted(self._map, law.means, mixture, target, reason)
        query = cast("SufficientStatistics", self._some.query)
        source = "hierarchy " + " ".join(source_of(one) for one in self.releases.values())
        made = replace(made, label=query.what, source=f"{source}/{node}")
        words = f"parameters of {query.family.words['family']}, the law of {query.what} in {node}"
        words += f", where {query.where}" if query.where else ""
        words += ", as this table has them" if target == "table" else ""
        notes = (clamped_words(facts), SAME)
        if known and self.columns[0].found.tree.children[at]:
            notes += (MIXED,)
        if reason is None:
            notes += (
                *(misfit_notes(facts, law.means, law.at) if target == "population" else ()),
                *ends(self._map, law.at),
            )
        return Estimate(facts, target, words, self.terms, (made,), notes=notes)

    def to_frame(self, target: Target = "population") -> pd.DataFrame:
        """Return estimate and std_error of each node and parameter, NaN where unknown; InferenceError I09."""
        return frame_of_nodes({node: self.estimate(node, target) for node in self.nodes})

    def summary(self, level: float = 0.95) -> Table:
        """Return the parameters of the top node as a table; InferenceError I01 (level below 0.5, or 1 and above)."""
        return self.estimate(self.nodes[0]).summary(level)

    @property
    def _some(self) -> Release:
        return next(iter(self.releases.values()))

    @cached_property
    def _map(self) -> MeanMap:
        return map_of(self._some)

    @cached_property
    def _laws(self) -> dict[tuple[int, Target], NodeLaw]:
        return {}

    def _law(self, at: int, target: Target) -> NodeLaw:
        """Return the law of node number `at`, whose sums are known; each is fitted once."""
        if (at, target) not in self._laws:
            self._laws[at, target] = self._fit(tuple(one.at(at, target == "population") for one in self.columns))
        return self._laws[at, target]

    def _fit(self, each: tuple[NodeMeans, ...]) -> NodeLaw:
        errors = [one.errors() for one in each]
        sampling, noise, excess = (np.array([own[i][0] for own in errors]) for i in range(3))
        value = np.array([one.center + one.half * one.mean[0] for one in each])
        size = np.array([one.size[0] for one in each])
        # noises of different statistics are independent: loadings are block diagonal, shape (p, p k)
        law, loads = noises(noise, excess)
        loadings = np.einsum("pk,pq->pqk", loads, np.eye(len(each))).reshape(len(each), -1)
        # the Fieller interval of one mean is mapped to the parameter as it is (`estimate.MonotoneMap`)
        means = Means(value, sampling, np.ones(len(each)), size, loadings, law, each[0] if len(each) == 1 else None)
        at = self._map.solve(value, means.spread)
        if each[0].sampled:
            means = replace(means, trust=_trust(each, means, at))
        return NodeLaw(each, means, at)

    def _nothing(self) -> NodeLaw:
        """Return a law in the middle of the box, for a node of which nothing is known."""
        p = len(self.terms)
        law, loads = noises(np.ones(p), np.zeros(p))
        middle = np.array([sum(box) / 2 for box in self._map.boxes])
        zero: Array = np.zeros(p)
        means = Means(middle, zero, np.ones(p), np.ones(p), np.diag(loads[:, 0]), law)
        return NodeLaw((), means, self._map.solve(middle, means.spread))

    def _below(self, at: int) -> tuple[int, ...]:
        """Return nodes, at or below a node, which share its rows among them, and whose laws are known well."""
        children = self.columns[0].found.tree.children[at]
        if not children or not all(self._well_known(child) for child in children):
            return (at,)
        return tuple(node for child in children for node in self._below(child))

    def _well_known(self, at: int) -> bool:
        if not np.isfinite(self.columns[0].found.variance[at]):
            return False
        law = self._law(at, "population")
        clear = all(bool(one.clear.all()) for one in law.each) and law.at.inverse is not None
        return clear and bool((law.noise <= CLOSE**2 * np.diag(law.at.cov)).all())

    def _row_covariance(self, at: int) -> Array:
        """Return the covariance of the statistics of a row of a node, shape (p, p): a mixture of the laws below it.

        Covariance of a mixture: the mean of the covariances, and that of the means.  Noises of different statistics are
        independent, so that they add nothing to the off-diagonal of the second part in mean.
        """
        below = self._below(at)
        if below == (at,):
            return self._law(at, "population").at.cov
        laws = [self._law(node, "population") for node in below]
        weight = np.array([one.means.size[0] for one in laws])
        weight = weight / weight.sum()
        off = np.array([one.means.value for one in laws])
        off = off - weight @ off
        within = np.einsum("c,cij->ij", weight, np.array([one.at.cov for one in laws]))
        return within + np.einsum("c,ci,cj->ij", weight, off, off)


def _trust(each: tuple[NodeMeans, ...], means: Means, at: At) -> Array:
    """Return the weights of the released variances against the law's, as for one release (`estimate.means_of`)."""
    model = np.diag(at.cov)
    noise = np.zeros(len(each))
    for j, one in enumerate(each):
        m = float(one.mean[0])
        own = one.loads[4] - 2 * m * one.loads[3] + m * m * one.loads[2]
        noise[j] = float(np.sqrt((own**2).sum())) / means.size[j] * one.half**2
    # empirical Bayes: the squared difference is about (true difference)**2 + noise**2 in mean
    off = np.maximum((means.sampling * means.size - model) ** 2 - noise**2, (TRUSTED * model) ** 2)
    return off / np.maximum(off + noise**2, 1e-300)


def hierarchy_of_laws(tree: Tree, parents: Mapping[str, str | None], given: Mapping[str, Release]) -> LawHierarchy:
    """Return the hierarchy of releases of SufficientStatistics; InferenceError C19 for sizes that do not add up."""
    place = {name: i for i, name in enumerate(parents)}
    sizes = public_sizes(tree, place, given)
    parts = range(len(next(iter(given.values())).parts))
    return LawHierarchy(given, parents, tuple(level_sums(tree, place, given, i) for i in parts), sizes)
