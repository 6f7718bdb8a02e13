"""Totals of a tree of levels (school, state, nation), reconciled so that children add up to parents.

Each node may have a released total with noise of known variance; a leaf without one is unknown.  Weighted least squares
under the constraint that children add up takes two passes (theory §6): upwards, the inverse-variance mean of a node's
own total and the sum of its children's; downwards, the difference between a node's total and the sum of its children's
is divided among the children in proportion to their variances.  Functions of arrays: n nodes, T totals of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.errors import InferenceError


@dataclass(frozen=True)
class Tree:
    """A tree or several; parents: the index of each node's parent, -1 for a root, shape (n,).

    InferenceError C19 for parents that do not form trees.

    >>> Tree((-1, 0, 0, 1)).children
    ((1, 2), (3,), (), ())
    """

    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        n = len(self.parents)
        if not n or any(not -1 <= p < n for p in self.parents) or len(self.order) < n:
            text = "a tree of levels: every node has one parent or none, and no node is above itself."
            raise InferenceError(text, code="C19", hint="parents=(-1, 0, 0)", state=None)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The indices of each node's children."""
        found: list[list[int]] = [[] for _ in self.parents]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                found[parent].append(node)
        return tuple(tuple(one) for one in found)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Indices of all nodes, parents before their children; nodes on a circle are not reached."""
        found = [node for node, parent in enumerate(self.parents) if parent < 0]
        for node in found:  # the list grows during the loop: breadth first
            found += self.children[node]
        return tuple(found)

    def path(self, node: int) -> list[int]:
        """Return a node, its parent, and so on up to a root."""
        found = [node]
        while self.parents[found[-1]] >= 0:
            found.append(self.parents[found[-1]])
        return found


@dataclass(frozen=True)
class Reconciled:
    """Totals that add up: `value`, shape (n, T), and their noise `variance`, shape (n,); NaN and inf where unknown.

    own: weight of a node's own total in its upward mean, shape (n,).  ratio: the share of the parent's difference that
    a node takes on the way down, shape (n,).  noise: noise variances of the released totals, inf where there is none.
    """

    tree: Tree
    value: Array
    variance: Array
    own: Array
    ratio: Array
    noise: Array

    def weights(self, node: int) -> Array:
        """Return the coefficients of the released totals in the reconciled total of one node, shape (n,)."""
        tree, found = self.tree, np.zeros(len(self.own))
        path, share = tree.path(node), 1.0
        # x_node = u_node + r_node (x_parent - sum of u over the parent's children), u the upward means: unrolled to the
        # root, which gives coefficients of the u
        for below, above in pairwise(path):
            found[below] += share
            share *= self.ratio[below]
            for child in tree.children[above]:
                found[child] -= share
        found[path[-1]] += share
        out = np.zeros_like(found)
        # then each upward mean is unrolled down into released totals
        for at in tree.order:
            if found[at] != 0.0:
                out[at] += found[at] * self.own[at]
                for child in tree.children[at]:
                    found[child] += found[at] * (1 - self.own[at])
        return out

    def covariance(self, nodes: Sequence[int]) -> Array:
        """Return the noise covariance of k nodes' totals, shape (k, k); inf in rows and columns of unknown ones."""
        rows = np.array([self.weights(node) for node in nodes]).reshape(len(nodes), len(self.own))
        # totals that were not released have weight 0; inf times 0 would be NaN
        known = np.where(np.isfinite(self.noise), self.noise, 0.0)
        full = (rows * known) @ rows.T
        lost = ~np.isfinite(self.variance[np.asarray(nodes, dtype=np.intp)])
        full[lost, :] = np.inf
        full[:, lost] = np.inf
        return full


def reconcile(tree: Tree, value: Array, noise: Array) -> Reconciled:
    """Reconcile released totals, shape (n, T), with noise variances of shape (n,), inf where there is no release.

    Source: theory §6; generalised least squares for a tree [Hay, Rastogi, Miklau & Suciu 2010].

    >>> found = reconcile(Tree((-1, 0, 0)), np.array([[30.0], [13.0], [11.0]]), np.array([1.0, 1.0, 1.0]))
    >>> found.value[:, 0].round(6).tolist(), found.variance.round(6).tolist()
    ([28.0, 15.0, 13.0], [0.666667, 0.666667, 0.666667])
    """
    n = len(tree.parents)
    up, spread, own = _upwards(tree, value, noise)
    out, ratio = up.copy(), np.zeros(n)
    lost = ~np.isfinite(spread)
    for node in tree.order:
        below = np.array(tree.children[node], dtype=np.intp)
        if not below.size:
            continue
        ratio[below] = _shares_of_difference(spread[below]) if not lost[node] else 0.0
        out[below] = up[below] + ratio[below, None] * (out[node] - up[below].sum(axis=0))
        # an only unknown child takes the whole difference, and is known if its parent is
        lost[below] &= (ratio[below] == 0.0) | lost[node]
    out[lost] = np.nan
    made = Reconciled(tree, out, np.full(n, np.inf), own, ratio, np.asarray(noise, dtype=np.float64))
    # variances need the ratios of the made object, which is frozen
    object.__setattr__(made, "variance", np.where(lost, np.inf, _variances(made, spread)))
    return made


def _upwards(tree: Tree, value: Array, noise: Array) -> tuple[Array, Array, Array]:
    """Return totals of nodes from those at and below them, their variances, and the weights of own totals in them."""
    # a total that was not released may be NaN, which times weight 0 would still be NaN
    up, spread = np.where(np.isfinite(noise)[:, None], value, 0.0), np.array(noise, dtype=np.float64)
    own = np.isfinite(noise).astype(np.float64)
    # children before their parents: `up` and `spread` of all children are final
    for node in reversed(tree.order):
        below = list(tree.children[node])
        if not below:
            continue
        total, variance = up[below].sum(axis=0), float(spread[below].sum())
        if np.isfinite(variance):
            own[node] = _share(variance, float(noise[node]))
            up[node] = own[node] * up[node] + (1 - own[node]) * total
            # own weight times noise is 1 / (1 / noise + 1 / variance), the variance of the inverse-variance mean
            spread[node] = variance if not np.isfinite(noise[node]) else own[node] * float(noise[node])
    return up, spread, own


def largest_gap(tree: Tree, value: Array, noise: Array) -> tuple[int, float]:
    """Return the node whose own total is furthest from its children's, and how far: in standard errors of both noises.

    Arguments as of `reconcile`; -1 and 0 where no node has a total of its own and known children.  Children's totals
    are those that they have from below: then the noises of both sides are independent.

    >>> largest_gap(Tree((-1, 0, 0)), np.array([[30.0], [13.0], [11.0]]), np.array([1.0, 4.0, 4.0]))
    (0, 2.0)
    """
    up, spread, _ = _upwards(tree, value, noise)
    node, far = -1, 0.0
    for at, children in enumerate(tree.children):
        below = list(children)
        variance = float(noise[at]) + float(spread[below].sum())
        if not below or not np.isfinite(variance):
            continue
        gap = float(np.abs(value[at] - up[below].sum(axis=0)).max(initial=0.0))
        own = gap / variance**0.5 if variance > 0 else float("inf") if gap > 0 else 0.0
        node, far = (at, own) if own > far else (node, far)
    return node, far


def _share(children: float, noise: float) -> float:
    """Return the inverse-variance weight of a node's own total beside its children's sum; 1 for an exact own total."""
    if not np.isfinite(noise):
        return 0.0
    return 1.0 if noise == 0 else children / (children + noise)


def _shares_of_difference(spread: Array) -> Array:
    """Return the share of the difference that each child takes: in proportion to its variance.

    A single unknown child takes all of it; of several unknown children none can be determined.  Exact children take
    nothing, or equal shares where all are exact.
    """
    unknown = ~np.isfinite(spread)
    if unknown.any():
        return unknown.astype(np.float64) if unknown.sum() == 1 else np.zeros_like(spread)
    total = float(spread.sum())
    return spread / total if total > 0 else np.full_like(spread, 1 / len(spread))


def _variances(made: Reconciled, spread: Array) -> Array:
    """Return noise variances: Var(x_c) = v_c (1 - r_c) + r_c**2 Var(x_parent) with r_c = v_c / V, V the sum of v_c.

    The one unknown child is parent minus siblings: the siblings' variances are added to the parent's.
    """
    tree, out = made.tree, spread.copy()
    for node in tree.order:
        below = np.array(tree.children[node], dtype=np.intp)
        if not below.size:
            continue
        known = np.isfinite(spread[below])
        rest = float(spread[below][known].sum())
        # the inner `where` keeps inf * 0 out
        first = np.where(known, np.where(known, spread[below], 0.0) * (1 - made.ratio[below]), rest)
        if np.isfinite(out[node]):
            out[below] = first + made.ratio[below] ** 2 * out[node]
    return out


def integer_totals(tree: Tree, value: Array) -> NDArray[np.int64]:
    """Round totals that add up to integers that add up exactly, each moved by less than 1 a level; shape (n, T).

    The root is rounded first; children are rounded down, and the missing units go to the largest remainders.

    >>> integer_totals(Tree((-1, 0, 0, 0)), np.array([[10.0], [3.4], [3.3], [3.3]]))[:, 0].tolist()
    [10, 4, 3, 3]
    """
    out = np.zeros(value.shape, dtype=np.int64)
    for node in tree.order:
        if tree.parents[node] < 0:
            out[node] = np.floor(value[node] + 0.5).astype(np.int64)
        below = np.array(tree.children[node], dtype=np.intp)
        if not below.size:
            continue
        shift = (out[node] - value[below].sum(axis=0)) / below.size  # the rounding above, divided equally
        wanted = value[below] + shift
        # 1e-9: a sum of floats just below an integer is that integer
        low = np.floor(wanted + 1e-9).astype(np.int64)
        more = out[node] - low.sum(axis=0)
        # argsort twice: the rank of each child's remainder; the stable kind breaks ties in the order of the children
        rank = np.argsort(np.argsort(-(wanted - low), axis=0, kind="stable"), axis=0, kind="stable")
        out[below] = low + (rank < more)
    return out
