"""Where the scores of a generalised linear model aim, from integers released before: public by then.  No data here.

The first part is aimed nowhere: it tells moments of the regressors and their products with the response.  From these a
pilot; from each further part a step, its curvature drawn towards that of normal regressors where noise is large.
Whatever comes out, the next part is as private: its sensitivity is that of a score of at most `clip`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.linear.bend import Bend, L
from tacit.linear.layout import EXACT, H, Layout
from tacit.linear.links import Link, Polygons, bounded, flat, link, polygons
from tacit.linear.noisy import Array, Noisy
from tacit.linear.regressors import STEEPEST, Regressors, brillinger, regressors
from tacit.linear.scored import SCORE, UNIT, First, Scored, Terms, first_of, scored, terms_of
from tacit.parts import Part

TRUSTED: Final = 0.15
"""Error, as a part, that is expected of a curvature taken from normal regressors."""
LONGEST: Final = 1.5
"""Largest standard deviation of what a step adds to the predictor."""
LOWEST: Final = 0.2
"""Smallest part of a guess that noise leaves of it."""
LEAST: Final = 1e-3
"""Smallest variance of a combination of terms of size 1."""


@dataclass(frozen=True)
class Aimed:
    """Coefficients of terms of size 1, shape (u,), and where the score is cut."""

    b: Array
    cut: float


def start(layout: Layout, clip: int) -> Bend:
    """The part that aims nowhere: psi is the response itself, d a constant."""
    return _bend((0,) * (layout.size + 1), 1, clip, flat(clip))


def _bend(weights: tuple[int, ...], shift: int, clip: int, made: Polygons) -> Bend:
    return Bend(weights, shift, clip, *made)


def bend(aim: Aimed, terms: Terms, link: Link, clip: int) -> tuple[Bend, dict[str, int]]:
    """An aim as integers, and the public facts that say so; a predictor of 0 where they would not be exact."""
    row = aim.b @ terms.matrix
    scale = L / link.reach / H
    total = float(np.abs(row).sum()) * scale
    usable = math.isfinite(total) and total * H * 2**12 < EXACT / 4
    row, total = (row, total) if usable else (row * 0.0, 0.0)
    shift = min(30, math.floor(math.log2(EXACT / 4 / (total * H + 1))))
    weights = (*(int(w) for w in np.rint(row * (scale * 2.0**shift))), 0)
    cut = max(1, round(aim.cut * UNIT))
    made = polygons(link, cut / UNIT, clip, terms.response)
    stored = {"cut": cut, "shift": shift}
    stored |= {f"weight{j}": w for j, w in enumerate(weights)}
    return _bend(weights, shift, clip, made), stored


def moments(first: First, terms: Terms) -> Regressors:
    """Of the regressors, from the part that aims nowhere."""
    whole = first.moments
    noise = math.sqrt(max(float(np.linalg.eigvalsh(whole.between(np.eye(len(terms.size))))[-1]), 0.0))
    rows = max(first.rows, 1.0)
    alpha, gamma = terms.response
    response = alpha + gamma * H * (1 + first.total / rows)
    return regressors(rows, first.sums, whole.values, max(noise / rows / 2, LEAST), terms.constant, response)


def pilot(first: First, found: Regressors, terms: Terms, link: Link) -> Array:
    """Coefficients from products with the response."""
    alpha, gamma = terms.response
    products = (alpha + gamma * H) * found.mean + gamma * H * first.products / found.rows
    mean = min(max(found.response, 0.02), 0.98)
    slopes = np.linalg.pinv(found.cov, hermitian=True, rcond=1e-6) @ (products - found.mean * mean)
    return brillinger(link, found, mean, np.asarray(slopes, dtype=np.float64))


@dataclass(frozen=True)
class Drawn:
    """A noisy matrix drawn towards a guess, each weighing what its error allows.

    matrix: shape (u, u).  weight: of the noisy one.  loose: root mean square of the noise against the guess, in the
    worst direction.  to: from a noisy matrix to what its error adds, shape (u, u), on both sides.
    """

    matrix: Array
    weight: float
    loose: float
    to: Array


def drawn(noisy: Noisy, guess: Array, wanted: Array) -> Drawn:
    """A positive definite matrix that is to `wanted` what a noisy one is to its guess."""
    back, root = _root(wanted, 0.5), _root(guess, -0.5)
    one = np.eye(len(guess))
    noise = Noisy(noisy.values, root @ noisy.patterns @ root, noisy.variances).between(one)
    loose = math.sqrt(max(float(np.linalg.eigvalsh(noise)[-1]), 0.0))
    weight = TRUSTED**2 / (TRUSTED**2 + loose**2)
    low, sides = np.linalg.eigh(one + weight * (root @ noisy.values @ root - one))
    inner = (sides * np.maximum(low, LOWEST)) @ sides.T
    return Drawn(back @ inner @ back, weight, loose, back @ root)


def _root(matrix: Array, power: float) -> Array:
    values, vectors = np.linalg.eigh(matrix)
    values = np.maximum(values, 1e-9 * max(float(values[-1]), 1e-9))
    return np.asarray((vectors * values**power) @ vectors.T)


def curved(part: Scored, found: Regressors, link: Link) -> Drawn:
    """The curvature where a part aimed.

    From the sizes of scores, whose mean is twice the curvature of a logistic score, and near the truth a mean of those
    at both ends.
    """
    made = bounded(link, found.predictor(part.b), part.cut)
    return drawn(part.sizes, found.total(part.b, made.size), found.total(part.b, made.curve))


def stepped(part: Scored, found: Regressors, link: Link) -> Array:
    """Coefficients after one step from where a part aimed, no longer than LONGEST."""
    step = np.asarray(np.linalg.solve(curved(part, found, link).matrix, part.score), dtype=np.float64)
    return limited(part.b + shortened(step, found), found, link)


def shortened(step: Array, found: Regressors) -> Array:
    """A step of at most LONGEST."""
    return step * min(1.0, LONGEST / max(length(step, found), 1e-9))


def length(step: Array, found: Regressors) -> float:
    """Root mean square of what a step adds to the predictor."""
    return math.sqrt(found.spread(step) ** 2 + float(found.mean @ step) ** 2)


def limited(b: Array, found: Regressors, link: Link) -> Array:
    """Coefficients whose predictor varies by no more than an aim takes, and has its mean on the link's grid."""
    sd, mean = found.spread(b), float(found.mean @ b)
    held = min(max(mean, -link.reach), link.reach)
    ratio = min(1.0, STEEPEST / max(sd, 1e-9))
    if found.constant is None:
        return b * ratio
    return b * ratio + found.constant * (held - ratio * mean)


def cut_for(b: Array, found: Regressors, link: Link, noise: Array) -> float:
    """The cut of least expected error for normal regressors: mean variance of the coefficients, by what they vary by.

    noise: covariance of what will be added to the sums of a score of at most 1.
    """
    eta = found.predictor(b)
    fisher = found.total(b, link.information(eta))
    best, least = 1.0, math.inf
    for cut in link.cuts():
        made = bounded(link, eta, cut)
        inverse = np.linalg.pinv(found.total(b, made.curve), hermitian=True)
        error = inverse @ (found.total(b, made.square) + noise) @ inverse
        size = float(np.sum(fisher * error))
        if size < least:
            best, least = cut, size
    return best


def aimed(
    parts: Sequence[Part], layout: Layout, model: str, rows: int | None, variance: float, clip: int
) -> tuple[Bend, dict[str, int]]:
    """Where the next part aims, after one or several; variance: of each integer's noise in it."""
    chosen, terms = link(model), terms_of(layout)
    noise = terms.matrix @ terms.matrix.T * (variance / (SCORE * clip * H) ** 2)
    try:
        last = scored(parts[-1], layout, terms, chosen) if len(parts) > 1 else None
        made = _aim(first_of(parts[0], layout, terms, rows), last, terms, chosen, noise)
    except (np.linalg.LinAlgError, ArithmeticError, ValueError):  # as if nothing were known
        made = None
    if made is None or not all(np.isfinite(x).all() for x in (made.b, made.cut)):
        made = Aimed(np.zeros(len(terms.size)), chosen.cuts()[-1])
    return bend(made, terms, chosen, clip)


def _aim(first: First, last: Scored | None, terms: Terms, link: Link, noise: Array) -> Aimed:
    found = moments(first, terms)
    b = limited(pilot(first, found, terms, link) if last is None else stepped(last, found, link), found, link)
    return Aimed(b, cut_for(b, found, link, noise))
