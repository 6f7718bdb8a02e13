"""Means of every node of a tree of levels, from releases at several levels: sums are reconciled, then divided.

A node's rows are the rows of its children, so that the sums that a mean is made of add up: N (rows), S, Q and their
weighted forms (`estimates.noisy_moments`).  They are linear in the noisy integers, hence reconciled like totals
(`pooling.tree_totals`), all with the weights of S.  Of a node's mean m, D(m) = S - m N then has the sampling error of
the node's own rows, and noise that is a known combination of independent noises, for every m: an interval is the set of
m that a test of D(m) = 0 accepts [Fieller 1954], wherever N is noisy too.  The scale is that of u in [-1, 1].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.estimate import Estimate
from tacit.estimates.noisy_terms.interval_inversion import FLOOR
from tacit.estimates.noisy_terms.noisy_moments import integers, moments
from tacit.estimates.terms import ColumnTerms, Target
from tacit.estimates.total_errors.accepted_values import accepted
from tacit.estimates.total_errors.error_laws import tail
from tacit.estimates.wording import estimand, source_of
from tacit.parties.level_facts import (
    NOT_KNOWN,
    LevelFacts,
    check_adds_up,
    frame_of_nodes,
    node_number,
    path_cost,
    public_sizes,
    terms_of_cells,
)
from tacit.pooling.common_value import law, noises
from tacit.pooling.noise_sum import laplace_share
from tacit.pooling.tree_totals import Reconciled, Tree, reconcile
from tacit.privacy import Cost
from tacit.release.document import Release
from tacit.release.parts import Grid

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

KNOWN: Final = 1.959964
"""A node has a mean where its noisy number of rows exceeds this many standard deviations of its noise."""
FEW: Final = "the number of rows is not clearly above its noise"
SUMS: Final = 6
"""N, S, Q, and the same with squared weights."""


@dataclass(frozen=True)
class LevelSums:
    """Reconciled sums of one column: `found` has 6 m totals of each node, N, S, Q and their weighted forms of m cells.

    loads: of each release, how N, S, and (of squares) N, S, Q react to its k independent noises, shape (5, k), by node.
    variances: of one such noise.  laplace: its `laplace_share`.  center, half: a value is center + half u.
    """

    label: str
    found: Reconciled
    loads: Mapping[int, Array]
    variances: Mapping[int, float]
    laplace: Mapping[int, float]
    center: float
    half: float

    def at(self, node: int, sampled: bool) -> NodeMeans:
        """Return the means of one node."""
        weights = self.found.weights(node)
        value = self.found.value[node].reshape(SUMS, -1)
        loads = [weights[j] * np.sqrt(self.variances[j]) * one for j, one in self.loads.items()]
        kurtic = [np.full(one.shape[1], self.laplace[j]) for j, one in self.loads.items()]
        return NodeMeans(value, np.concatenate(loads, axis=1), np.concatenate(kurtic), self.center, self.half, sampled)


@dataclass(frozen=True)
class NodeMeans:
    """Means of the m cells of a node and their intervals, from sums of shape (6, m).

    loads: how N, S and the squares' N, S, Q react to noises of variance 1, shape (5, K); kurtic: the `laplace_share`
    of each.
    """

    sums: Array
    loads: Array
    kurtic: Array
    center: float
    half: float
    sampled: bool

    @property
    def size(self) -> Array:
        """Reconciled numbers of rows, or sums of weights, at least 1, shape (m,)."""
        return np.maximum(self.sums[0], 1.0)

    @property
    def mean(self) -> Array:
        """S / N on the scale of u, within [-1, 1], shape (m,)."""
        return np.clip(self.sums[1] / self.size, -1.0, 1.0)

    @property
    def clear(self) -> Array:
        """Whether each number of rows is above its noise, shape (m,)."""
        return self.sums[0] > KNOWN * float(np.sqrt((self.loads[0] ** 2).sum()))

    def noise(self, m: Array) -> tuple[Array, Array]:
        """Return variance and excess of the noise in D(m), shape (m,) each."""
        each = (self.loads[1] - m[:, None] * self.loads[0]) ** 2
        return each.sum(axis=1), np.sqrt(((each * self.kurtic) ** 2).sum(axis=1))

    def spread(self, m: Array) -> Array:
        """Return the sampling variance of D(m), shape (m,): Q - 2 m S + m² N of the squares, at least its own noise.

        At m = S / N the noise of S takes its variance over N away on average; it is put back (theory §9).
        """
        if not self.sampled:
            return np.zeros_like(m)
        raw = self.sums[5] - 2 * m * self.sums[4] + m**2 * self.sums[3] + self.noise(m)[0] / self.size
        raw = raw * self.size / np.maximum(self.size - 1, 1.0)
        own = self.loads[4] - 2 * m[:, None] * self.loads[3] + m[:, None] ** 2 * self.loads[2]
        least = FLOOR * np.sqrt((own**2).sum(axis=1))
        # no value is farther than 1 + |m| from m
        return np.minimum(np.maximum(raw, least), np.maximum(self.sums[3], 1.0) * (1 + np.abs(m)) ** 2)

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return limits of the means in units of the column, shape (m,); the bounds where the size is unclear."""

        def p_value(m: Array) -> Array:
            sd, scales = law(self.spread(self.mean), *self.noise(m))
            return 2 * tail(np.abs(self.sums[1] - m * self.sums[0]), np.maximum(sd, 1e-300), scales)

        low, high = accepted(p_value, self.mean, -1.0, 1.0, 1 - level)
        low, high = np.where(self.clear, low, -1.0), np.where(self.clear, high, 1.0)
        return self.center + self.half * low, self.center + self.half * high

    def errors(self) -> tuple[Array, Array, Array]:
        """Return sampling variance, noise variance and excess of the means, in units of the column, shape (m,) each."""
        noise, excess = self.noise(self.mean)
        scale = (self.half / self.size) ** 2
        return self.spread(self.mean) * scale, noise * scale, excess * scale


@shown_by_summary
@dataclass(frozen=True, repr=False)
class MeanHierarchy:
    """Means of every node of a tree, from releases at any of its nodes; made by `tc.hierarchy` of releases of Mean.

    nodes: names, parents before their children.  A node without a release has a mean, too, where its children's are
    known.
    """

    releases: Mapping[str, Release]
    parents: Mapping[str, str | None]
    columns: tuple[LevelSums, ...]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes."""
        return tuple(self.parents)

    @property
    def terms(self) -> tuple[str, ...]:
        """Labels of the means of a node."""
        return terms_of_cells(self._some, tuple(one.label for one in self.columns))

    @property
    def cost(self) -> Cost:
        """The privacy cost for a person: the largest sum of costs along a path from a leaf to the top."""
        return path_cost(self.columns[0].found.tree, self.nodes, self.releases)

    def estimate(self, node: str, target: Target = "population") -> Estimate:
        """Estimate the means of one node, from all levels, with both errors.

        target: "population", of which the node's rows are a sample, or "table", those rows.  InferenceError C15 for an
        unknown node, I09 for a target.
        """
        if target not in ("population", "table"):
            text = f"target is {target!r}."
            raise InferenceError(text, code="I09", hint='target="table"', state=None)
        at = self._at(node)
        facts = LevelFacts.of(self._some, node, self.cost, len(self.nodes))
        source = "hierarchy " + " ".join(source_of(one) for one in self.releases.values())
        blocks = tuple(self._block(one, at, f"{source}/{node}", target) for one in self.columns)
        notes = ("least squares over all levels: the sums of children add up to their parents'",)
        return Estimate(facts, target, estimand(facts, target), self.terms, blocks, notes=notes)

    def _block(self, one: LevelSums, at: int, source: str, target: Target) -> ColumnTerms:
        """Return one column's means of node number `at` as terms of an estimate."""
        cells = int(one.found.value.shape[1]) // SUMS
        if not np.isfinite(one.found.variance[at]):
            zero: Array = np.zeros(cells)
            nothing = (NOT_KNOWN,) * cells
            law_, loadings = noises(np.ones(cells), zero)
            limits = _Whole(np.full(cells, one.center - one.half), np.full(cells, one.center + one.half))
            return ColumnTerms(one.label, zero + one.center, zero, zero, loadings, law_, limits, nothing, source=source)
        means = one.at(at, target == "population")
        sampling, noise, excess = means.errors()
        law_, loadings = noises(noise, excess)
        reasons = tuple(None if clear else FEW for clear in means.clear)
        value = one.center + one.half * means.mean
        return ColumnTerms(one.label, value, sampling, np.zeros(cells), loadings, law_, means, reasons, source=source)

    def to_frame(self, target: Target = "population") -> pd.DataFrame:
        """Return estimate and std_error of each node and term, NaN where unknown; InferenceError I09."""
        return frame_of_nodes({node: self.estimate(node, target) for node in self.nodes})

    def summary(self, level: float = 0.95) -> Table:
        """Return the means of the top node as a table; InferenceError I01 (level below 0.5, or 1 and above)."""
        return self.estimate(self.nodes[0]).summary(level)

    @property
    def _some(self) -> Release:
        return next(iter(self.releases.values()))

    def _at(self, node: str) -> int:
        return node_number(self.nodes, node)


@dataclass(frozen=True)
class _Whole:
    """Limits that are known beforehand: the bounds."""

    low: Array
    high: Array

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return the bounds, whatever the level."""
        return self.low, self.high


def level_sums(tree: Tree, place: Mapping[str, int], given: Mapping[str, Release], at: int) -> LevelSums:
    """Reconcile the sums of part `at` of the releases; place: the number of each node."""
    some = next(iter(given.values())).parts[at]
    grid = cast(Grid, some.grid)
    cells = len(some.integers)
    value, noise = np.zeros((len(place), SUMS * cells)), np.full(len(place), np.inf)
    loads: dict[int, Array] = {}
    variances, laplace = dict[int, float](), dict[int, float]()
    for name, release in given.items():
        part, node = release.parts[at], place[name]
        found = moments(part.form, part.parameters, integers(part), release.rows)
        value[node] = np.concatenate([found.size, found.total, found.square, *found.squares])
        variances[node], laplace[node] = part.law.variance(), laplace_share(part.law)
        loads[node] = np.concatenate([found.loadings[:2], found.square_loadings])
        noise[node] = variances[node] * float((found.loadings[1] ** 2).sum())
    # of S, whose noise it is
    check_adds_up(tree, tuple(place), value[:, cells : 2 * cells], noise, next(iter(given.values())))
    made = reconcile(tree, value, noise)
    center, half = (grid.lower + grid.upper) / 2, (grid.upper - grid.lower) / 2
    return LevelSums(some.label, made, loads, variances, laplace, center, half)


def hierarchy_of_means(tree: Tree, parents: Mapping[str, str | None], given: Mapping[str, Release]) -> MeanHierarchy:
    """Return the hierarchy of releases of Mean."""
    place = {name: i for i, name in enumerate(parents)}
    public_sizes(tree, place, given)
    parts = range(len(next(iter(given.values())).parts))
    return MeanHierarchy(given, parents, tuple(level_sums(tree, place, given, i) for i in parts))
