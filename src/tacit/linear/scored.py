"""Released integers of a bounded score as numbers with the law of their errors.  Post-processing: no data here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.linear.bend import L
from tacit.linear.layout import H, Layout
from tacit.linear.links import Link, link, top
from tacit.linear.noisy import Array, Noisy, filled
from tacit.parts import Part

UNIT: Final = 2**16
"""Cut, spread and reach of a score are stored in parts of 1 / UNIT."""


@dataclass(frozen=True)
class Terms:
    """Terms of a formula, of size 1.

    matrix: shape (u, m), of z / H.  size: (u,), of each term in its own units.  response: y = response[0] +
    response[1] (z_m + H).  constant: see `Regressors`.
    """

    matrix: Array
    size: Array
    response: tuple[float, float]
    constant: Array | None


def terms_of(layout: Layout) -> Terms:
    """Public facts -> Terms.

    >>> from tacit.linear.formula import parse
    >>> from tacit.linear.layout import layout
    >>> from tacit.parts import Variable
    >>> facts = Variable("y", "boolean"), Variable("x", "real", 0, 4, half=1024)
    >>> found = terms_of(layout(parse("y ~ x"), facts))
    >>> found.matrix.round(2).tolist(), found.constant.round(2).tolist()
    ([[1.0, 0.0], [0.71, 0.71]], [1.0, 0.0])
    """
    u, m = len(layout.names), layout.size
    size = np.sqrt((layout.terms[:u] ** 2).sum(axis=1))
    matrix = layout.terms[:u, :m] / size[:, None]
    one = np.eye(m)[0]
    constant = np.asarray(np.linalg.lstsq(matrix.T, one, rcond=None)[0], dtype=np.float64)
    held = bool(np.abs(matrix.T @ constant - one).max() < 1e-9)
    alpha, gamma = float(layout.terms[u, 0]), float(layout.terms[u, m])
    return Terms(matrix, size, (alpha - gamma, gamma / H), constant if held else None)


def link_of(layout: Layout, model: str) -> Link:
    """The model, with the largest count that the response's bounds allow."""
    u = len(layout.names)
    return link(model, float(layout.terms[u, 0] + layout.terms[u, layout.size]))


@dataclass(frozen=True)
class Scored:
    """One part: sums over rows, of terms of size 1, in units of a score of at most 1.

    b: where it aimed, shape (u,); None for the first part, which aims nowhere.  score: sums of psi x, shape (u,), with
    noise of covariance `noise`.  curve: of d x x'; meat: of psi**2 x x', None where it is not released.  first: sums of
    d x, shape (u,).  totals: of psi, of d and of psi**2.
    """

    b: Array | None
    score: Array
    noise: Array
    curve: Noisy
    meat: Noisy | None
    first: Array
    totals: tuple[float, float, float]
    cut: float
    spread: float
    further: float


def scored(part: Part, layout: Layout, terms: Terms, link: Link) -> Scored:
    """Part of form `scored` -> Scored."""
    facts, noise, m = part.parameters, part.law.variance(), layout.size
    integers = np.array(part.integers[0], dtype=np.float64)
    unit, inner = float(facts["score"] * facts["G"] * H), layout.inner
    weights = np.array([facts["off" if one.off else "diag"] for one in inner], dtype=np.float64) * H * H
    cut, spread, further = (facts[name] / UNIT for name in ("cut", "spread", "further"))
    whole = 1.0 if not cut else top(link, cut, spread, further)
    ends = m, m + len(inner)
    curve = filled(inner, integers[ends[0] : ends[1]], weights / whole, noise, m)
    meat = filled(inner, integers[ends[1] :], weights, noise, m) if facts["squares"] else None
    totals = integers[0] / unit, curve.values[0, 0], math.nan if meat is None else meat.values[0, 0]
    return Scored(
        _aim(facts, terms, link) if cut else None,
        terms.matrix @ integers[:m] / unit,
        terms.matrix @ terms.matrix.T * (noise / unit**2),
        curve.through(terms.matrix),
        None if meat is None else meat.through(terms.matrix),
        terms.matrix @ curve.values[:, 0],
        totals,
        cut,
        spread,
        further,
    )


def _aim(facts: Mapping[str, int], terms: Terms, link: Link) -> Array:
    """Coefficients behind the weights of a `Bend`."""
    row = np.array([facts[f"weight{j}"] for j in range(terms.matrix.shape[1])], dtype=np.float64)
    row *= H / 2.0 ** facts["shift"] * link.reach / L
    row[0] += link.middle
    return np.asarray(np.linalg.lstsq(terms.matrix.T, row, rcond=None)[0], dtype=np.float64)
