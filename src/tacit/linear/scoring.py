"""Where the scores of a generalised linear model aim, from integers released before: public by then.  No data here.

The first part is aimed nowhere: it tells moments of the regressors and their products with the response.  From these a
pilot; from each further part a step, its curvature drawn towards that of normal regressors where noise is large.
Whatever comes out, the next part is as private: its sensitivity is that of a score of at most `clip`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tacit.linear.bend import Bend, L
from tacit.linear.layout import EXACT, H, Layout
from tacit.linear.links import Link, Polygons, bounded, flat, polygons
from tacit.linear.noisy import Array, Noisy
from tacit.linear.regressors import MASS, PLACES, STEEPEST, Regressors, brillinger, regressors
from tacit.linear.scored import SCORE, UNIT, First, Scored, Terms, first_of, link_of, scored, terms_of
from tacit.parts import Part

TRUSTED: Final = 0.15
"""Error, as a part, that is expected of a curvature taken from normal regressors."""
LOOSELY: Final = 0.5
"""The same of counts, whose curvature is where the predictor is largest."""
LONGEST: Final = 1.5
"""Largest standard deviation of what a step adds to the predictor."""
WIDEST_SPREAD: Final = 50.0
LOWEST: Final = 0.2
"""Smallest part of a guess that noise leaves of it."""
LEAST: Final = 1e-3
"""Smallest variance of a combination of terms of size 1."""


@dataclass(frozen=True)
class Aimed:
    """Coefficients of terms of size 1, shape (u,), where the score is cut, and what counts vary by."""

    b: Array
    cut: float
    spread: float


def start(layout: Layout, clip: int) -> Bend:
    """The part that aims nowhere: psi is the response itself, d a constant."""
    return _bend((0,) * (layout.size + 1), 1, clip, flat(clip))


def _bend(weights: tuple[int, ...], shift: int, clip: int, made: Polygons) -> Bend:
    return Bend(weights, shift, clip, *made)


def bend(aim: Aimed, terms: Terms, link: Link, clip: int) -> tuple[Bend, dict[str, int]]:
    """An aim as integers, and the public facts that say so; a predictor of 0 where they would not be exact."""
    row = aim.b @ terms.matrix
    row = row - link.middle * np.eye(len(row))[0]
    scale = L / link.reach / H
    total = float(np.abs(row).sum()) * scale
    usable = math.isfinite(total) and total * H * 2**12 < EXACT / 4
    row, total = (row, total) if usable else (row * 0.0, 0.0)
    shift = min(30, math.floor(math.log2(EXACT / 4 / (total * H + 1))))
    weights = (*(int(w) for w in np.rint(row * (scale * 2.0**shift))), 0)
    cut, spread = (max(1, round(x * UNIT)) for x in (aim.cut, aim.spread))
    made = polygons(link, cut / UNIT, spread / UNIT, clip, terms.response)
    stored = {"cut": cut, "spread": spread, "shift": shift}
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


def pilot(first: First, found: Regressors, terms: Terms, link: Link) -> tuple[Array, float]:
    """Coefficients from products with the response; what counts vary by, against their mean."""
    alpha, gamma = terms.response
    products = (alpha + gamma * H) * found.mean + gamma * H * first.products / found.rows
    mean = found.response
    least = 3 / found.rows
    low, high = (0.02, 0.98) if not link.counts else (max(least, link.upper * 1e-5), link.upper * 0.98)
    mean = min(max(mean, low), high)
    slopes = np.linalg.pinv(found.cov, hermitian=True, rcond=1e-6) @ (products - found.mean * mean)
    b = brillinger(link, found, mean, np.asarray(slopes, dtype=np.float64))
    return b, _spread(first, found, terms, mean, b) if link.counts else 1.0


def _spread(first: First, found: Regressors, terms: Terms, mean: float, b: Array) -> float:
    """Variance of a count against its mean: from the variance of the response, less what the predictor explains."""
    alpha, gamma = terms.response
    middle, reach = alpha + gamma * H, gamma * H  # y = middle + reach psi
    variance = reach**2 * first.square / found.rows - (mean - middle) ** 2
    sd = found.spread(b)
    explained = mean**2 * math.expm1(min(sd**2, 3.0))
    return min(max((variance - explained) / mean, 1.0), WIDEST_SPREAD)


@dataclass(frozen=True)
class Drawn:
    """A noisy matrix drawn towards a guess, each weighing what its error allows.

    matrix: shape (u, u).  weight: of the noisy one.  loose: root mean square of the noise against the guess, in the
    worst direction.  to: from a noisy matrix to what its error adds, shape (u, u), on both sides.  trusted: the
    guess's error, as a part.
    """

    matrix: Array
    weight: float
    loose: float
    to: Array
    trusted: float


def drawn(noisy: Noisy, guess: Array, wanted: Array, trusted: float) -> Drawn:
    """A positive definite matrix that is to `wanted` what a noisy one is to its guess; `trusted`: the guess's error."""
    back, root = _root(wanted, 0.5), _root(guess, -0.5)
    one = np.eye(len(guess))
    noise = Noisy(noisy.values, root @ noisy.patterns @ root, noisy.variances).between(one)
    loose = math.sqrt(max(float(np.linalg.eigvalsh(noise)[-1]), 0.0))
    weight = trusted**2 / (trusted**2 + loose**2)
    low, sides = np.linalg.eigh(one + weight * (root @ noisy.values @ root - one))
    inner = (sides * np.maximum(low, LOWEST)) @ sides.T
    return Drawn(back @ inner @ back, weight, loose, back @ root, trusted)


def _root(matrix: Array, power: float) -> Array:
    values, vectors = np.linalg.eigh(matrix)
    values = np.maximum(values, 1e-9 * max(float(values[-1]), 1e-9))
    return np.asarray((vectors * values**power) @ vectors.T)


def curved(part: Scored, found: Regressors, link: Link) -> Drawn:
    """The curvature where a part aimed.

    From the sizes of scores, whose mean is twice the curvature of a logistic score, and near the truth a mean of those
    at both ends.  Of counts from their squares: both are in proportion to the mean, whose average is that of the
    response.
    """
    made = bounded(link, found.predictor(part.b), part.cut, part.spread)
    wanted = found.total(part.b, made.curve)
    if not link.counts:
        return drawn(part.sizes, found.total(part.b, made.size), wanted, TRUSTED)
    assert part.meat is not None
    first = drawn(part.meat, found.total(part.b, made.square), wanted, LOOSELY)
    if found.constant is None:
        return first
    mean = link.mean(found.predictor(part.b))
    level = found.rows * found.response * float(MASS @ made.curve) / float(MASS @ mean)
    scale = level / max(float(found.constant @ first.matrix @ found.constant), 1e-9)
    return replace(first, matrix=first.matrix * scale, to=first.to * math.sqrt(scale))


def stepped(part: Scored, found: Regressors, link: Link) -> Array:
    """Coefficients after one step from where a part aimed, no longer than LONGEST."""
    assert part.b is not None
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
    most = 2.0 if link.counts else STEEPEST
    sd, mean = found.spread(b), float(found.mean @ b)
    held = min(max(mean, link.middle - link.reach), link.middle + link.reach)
    ratio = min(1.0, most / max(sd, 1e-9))
    if found.constant is None:
        return b * ratio
    return b * ratio + found.constant * (held - ratio * mean)


def cut_for(b: Array, spread: float, found: Regressors, link: Link, noise: Array, further: float) -> float:
    """The cut of least expected error for normal regressors: mean variance of the coefficients, by what they vary by.

    noise: covariance of what will be added to the sums of a score of at most 1.
    """
    eta = found.predictor(b)
    fisher = found.total(b, link.information(eta, spread))
    count = float(np.mean(link.mean(eta[np.abs(PLACES) < 2])))
    best, least = 1.0, math.inf
    for cut in link.cuts(count, spread, further):
        made = bounded(link, eta, cut, spread)
        inverse = np.linalg.pinv(found.total(b, made.curve), hermitian=True)
        error = inverse @ (found.total(b, made.square) + noise) @ inverse
        size = float(np.sum(fisher * error))
        if size < least:
            best, least = cut, size
    return best


def respread(part: Scored, found: Regressors, link: Link) -> float:
    """What counts vary by, against their mean, from the squares of scores: the spread that would make as many."""
    if not link.counts:
        return 1.0
    eta = found.predictor(part.b)
    made = bounded(link, eta, part.cut, part.spread)
    expected = float(MASS @ made.square) / float(MASS @ link.mean(eta)) * max(found.response, 1e-9)
    ratio = part.square / found.rows / max(expected, 1e-12)
    return min(max(part.spread * min(max(ratio, 0.5), 2.0), 1.0), WIDEST_SPREAD)


def aimed(
    parts: Sequence[Part], layout: Layout, model: str, rows: int | None, variance: float, clip: int
) -> tuple[Bend, dict[str, int]]:
    """Where the next part aims, after one or several; variance: of each integer's noise in it."""
    link, terms = link_of(layout, model), terms_of(layout)
    noise = terms.matrix @ terms.matrix.T * (variance / (SCORE * clip * H) ** 2)
    try:
        last = scored(parts[-1], layout, terms, link) if len(parts) > 1 else None
        made = _aim(first_of(parts[0], layout, terms, rows), last, terms, link, noise)
    except (np.linalg.LinAlgError, ArithmeticError, ValueError):  # as if nothing were known
        made = None
    if made is None or not all(np.isfinite(x).all() for x in (made.b, made.cut, made.spread)):
        made = Aimed(np.zeros(len(terms.size)), link.cuts(1.0, 1.0, 1.0)[-1], 1.0)
    return bend(made, terms, link, clip)


def _aim(first: First, last: Scored | None, terms: Terms, link: Link, noise: Array) -> Aimed:
    found = moments(first, terms)
    if last is None:
        b, spread = pilot(first, found, terms, link)
    else:
        b = stepped(last, found, link)
        spread = respread(last, found, link)
    further = max(1.0, found.rows / 1_000) ** (1 / 6)
    b = limited(b, found, link)
    return Aimed(b, cut_for(b, spread, found, link, noise, further), spread)
