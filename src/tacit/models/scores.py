"""Clipped scores: what one step from a pilot is made of, for both sides of the wall.  No data here.

psi(x) = root score(x), at a pilot theta0 that was released; root root' is about the inverse information, so that the
coordinates of psi have variance 1 and are nearly independent.  Clipped to [-c, c] coordinate by coordinate, their
expectation M(theta) under the law at any theta is a number, and theta is where the mean of the rows is expected: Fisher
consistent whatever the pilot and the clip are (theory §2 (ii), of which this is the step repeated until it stands
still).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

import numpy as np

from tacit.base.lazy_imports import jax
from tacit.errors import ModelError
from tacit.models import quadrature
from tacit.models.boxes import Array, Link, from_coordinates
from tacit.models.evaluate import log_densities
from tacit.models.jax_config import quiet
from tacit.models.likelihood import Likelihood
from tacit.release.parts import Grid, Part

CLIP: Final = 3.0
"""Standard deviations of a score beyond which it is clipped: noise grows with it, and what is lost falls."""
BATCH: Final = 2**12
"""Rows whose scores are computed at a time: always so many, by the same compiled code."""
DRAWS: Final = 2**17
"""Draws that stand for a law without a rule; public, always the same."""
LEAST: Final = 1e-6
"""The least eigenvalue, of the information in units of its diagonal, that a root is made of."""
FINE: Final = 8001
"""Points of a rule: so many for scores that jump, as that of Laplace's location does."""
STEPS: Final = 25
NEAR: Final = 1e-10
LOST: Final = 1e-6
"""Probability that the points of one law may lose of another before they are made anew."""


@dataclass(frozen=True)
class ScoreAim:
    """Where scores are taken, and how they are scaled: at, shape (p,); root, shape (p, p)."""

    model: Likelihood
    at: Array
    root: Array


def pilot(parts: Sequence[Part], model: Likelihood) -> Array:
    """The estimates that blocks released, shape (p,), within the box and off the ends where the law degenerates."""
    found: list[float] = []
    for part in parts:
        if part.form == "blocks":
            grid, k = cast(Grid, part.grid), part.parameters["blocks"]
            share = min(max(part.integers[0][0] / (k * grid.G) + 0.5, 0.0), 1.0)
            found.append(grid.lower + (grid.upper - grid.lower) * share)
    return inner(model, np.array(found))


def inner(model: Likelihood, values: Array) -> Array:
    """Values within the box, kept off the ends of a parameter's domain."""
    low, high = _inner(model)
    return np.clip(values, low, high)


@lru_cache(maxsize=64)
def _inner(model: Likelihood) -> tuple[Array, Array]:
    links: list[Link] = [one.link for one in model.parameters]
    ends = [np.array([one.region(0.0)[i] for one in model.parameters]) for i in (0, 1)]
    with quiet():
        low, high = (np.asarray(from_coordinates(links, end), dtype=np.float64) for end in ends)
    return np.maximum(low, model.lower), np.minimum(high, model.upper)


def aim(model: Likelihood, at: Array) -> ScoreAim:
    """The root at a pilot.  Never fails: where the information cannot be had, that of the public default stands in."""
    for place in (at, model.fallback):
        try:
            information = np.asarray(model.fisher(place), dtype=np.float64)
        except Exception:
            continue
        if np.isfinite(information).all() and (np.diag(information) > 0).all():
            return ScoreAim(model, at, root_of(information))
    return ScoreAim(model, at, np.eye(len(at)))


def root_of(information: Array) -> Array:
    """R with R I R' = 1: in units of the diagonal the symmetric root of the inverse, so that units do not matter.

    >>> root_of(np.diag([4.0, 9.0])).round(3).tolist()
    [[0.5, 0.0], [0.0, 0.333]]
    """
    size = np.sqrt(np.diag(information))
    values, axes = np.linalg.eigh(information / np.outer(size, size))
    return (axes / np.sqrt(np.maximum(values, LEAST))) @ axes.T / size


@lru_cache(maxsize=64)
def _compiled(model: Likelihood) -> Any:
    """Scores of a batch of rows."""

    def one(row: Any, vector: Any) -> Any:
        return model.log_density(row, model.bind(vector))

    return jax().jit(jax().vmap(jax().grad(one, argnums=1), in_axes=(0, None)))


def scores(model: Likelihood, rows: Array, at: Array) -> Array:
    """Derivatives of the log-density of rows by the parameters, shape (n, p); NaN outside the support.

    Batches of one public shape: the score of a row is a function of the row and of its place in the batch, n % BATCH.
    """
    n = len(rows)
    with np.errstate(all="ignore"):
        inside = np.asarray(model.inside(rows), dtype=np.bool_)
    anchor = 1.0 if model.anchor is None else model.anchor
    safe = np.where(inside if rows.ndim == 1 else inside[:, None], rows, anchor)
    padded = np.concatenate([safe, np.full((-n % BATCH, *rows.shape[1:]), anchor)])
    found = np.empty((len(padded), len(at)))
    with quiet():
        solve = _compiled(model)
        for start in range(0, len(padded), BATCH):
            found[start : start + BATCH] = np.asarray(solve(padded[start : start + BATCH], at))
    found[:n][~inside] = np.nan
    return found[:n]


def clipped(aim: ScoreAim, rows: Array, clip: float) -> Array:
    """Psi, each coordinate clipped to [-clip, clip], shape (n, p); 0 where the score is no number."""
    with np.errstate(all="ignore"):
        psi = _scaled(aim.root, scores(aim.model, rows, aim.at))
    return np.clip(np.where(np.isnan(psi), 0.0, psi), -clip, clip)


def _scaled(root: Array, found: Array) -> Array:
    """Root times each score, entry by entry: a matrix product may depend on the rows beside it."""
    return np.stack([sum(root[i, j] * found[:, j] for j in range(len(root))) for i in range(len(root))], axis=1)


# Expectations -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreLaw:
    """Points that stand for the law at `base`, with probabilities; logs: log-densities there; psi: shape (N, p)."""

    aim: ScoreAim
    clip: float
    base: Array
    points: Array
    weights: Array
    logs: Array
    psi: Array

    def mean(self, theta: Array) -> tuple[Array, Array, Array]:
        """M(theta), its derivative (rows of M, columns of theta), and the covariance of clipped psi under theta."""
        model = self.aim.model
        w = self.weights
        if not np.array_equal(theta, self.base):
            with np.errstate(all="ignore"):
                w = w * np.exp(log_densities(model, self.points, theta) - self.logs)
            w = np.where(np.isfinite(w), w, 0.0)
            if not abs(w.sum() - 1) < LOST and model.support is not None:
                return law(self.aim, self.clip, theta).mean(theta)
            w = w / w.sum()
        score = scores(model, self.points, theta)
        score = np.where(np.isfinite(score), score, 0.0)
        middle = w @ self.psi
        off = self.psi - middle
        return middle, (w[:, None] * off).T @ (score - w @ score), (w[:, None] * off).T @ off


def law(aim: ScoreAim, clip: float, at: Array) -> ScoreLaw:
    """The law at a parameter: by quadrature where rows are one number of a known support, else by public draws.

    Draws are weighted so that the score has expectation 0 exactly.  ModelError M18 where there is neither.
    """
    model = aim.model
    if model.support is not None:
        points, weights = quadrature.law(model, at, lambda rows: log_densities(model, rows, at), fine=FINE)
    else:
        points = model.sample(at, DRAWS, np.random.default_rng(2008))
        score = scores(model, points, at)
        score = np.where(np.isfinite(score), score, 0.0)
        middle = score.mean(axis=0)
        spread = score.T @ score / len(score) - np.outer(middle, middle)
        turn = np.asarray(np.linalg.lstsq(spread, middle, rcond=None)[0], dtype=np.float64)
        weights = (1 - (score - middle) @ turn) / len(score)
    return ScoreLaw(aim, clip, at, points, weights, log_densities(model, points, at), clipped(aim, points, clip))


def solve(found: ScoreLaw, mean: Array) -> tuple[Array, bool]:
    """Theta with M(theta) = mean, shape (p,), by Newton's steps from the pilot, and whether they arrived.

    Where they do not, the first step alone: theory §2 (ii) as it is written there.
    """
    model = found.aim.model
    theta, residual = found.base, np.inf
    first: Array | None = None
    step = np.zeros_like(theta)
    for _ in range(STEPS):
        middle, slope, _ = found.mean(theta)
        off = mean - middle
        size = float(np.abs(off).max())
        if size < NEAR:
            return theta, True
        if size >= residual:  # too far: half the way
            step = step / 2
            theta = inner(model, theta - step)
            continue
        residual = size
        step = np.linalg.lstsq(slope, off, rcond=None)[0]
        moved = inner(model, theta + step)
        first = moved if first is None else first
        if np.allclose(moved, theta, rtol=1e-12, atol=0):
            return theta, size < 1e-6
        step, theta = moved - theta, moved
    return (found.base if first is None else first), False


def usable(model: Likelihood) -> str | None:
    """Why one step cannot be taken with a model, in words; None where it can.  Public."""
    if model.rows_given and model.columns > 1:
        return "what a regression's scores are expected to be depends on the regressors, of which nothing is released"
    try:
        _tried(model)
    except ModelError as problem:
        return problem.message.rstrip(".")
    return None


@lru_cache(maxsize=64)
def _tried(model: Likelihood) -> None:
    at = inner(model, model.fallback)
    law(aim(model, at), CLIP, at)
