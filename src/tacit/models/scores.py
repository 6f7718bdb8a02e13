"""Clipped scores at a pilot and their expectations, for one step from blocks; both sides of the wall.  No data here.

psi(x) = root score(x), at a pilot theta0 that was released; root root' is about the inverse information, so that the
coordinates of psi have variance 1 and are nearly independent.  Clipped to [-c, c] coordinate by coordinate, their
expectation M(theta) under the law at any theta is computed without data, and theta is estimated by the solution of
M(theta) = the mean over rows.  This is Fisher consistent whatever the pilot and the clip are (theory §2 (ii), whose
step is repeated until convergence).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any, Final, cast

import numpy as np

from tacit.base.lazy_imports import jax
from tacit.errors import ModelError
from tacit.models import quadrature
from tacit.models.boxes import Array, Link, from_coordinates
from tacit.models.compiled_programs import CompiledFunction
from tacit.models.evaluate import log_densities
from tacit.models.jax_config import quiet
from tacit.models.likelihood import Likelihood
from tacit.release.parts import OF_BLOCKS, Grid, Part

CLIP: Final = 3.0
"""Standard deviations of a score beyond which it is clipped: noise grows with it, and what is lost falls."""
BATCH: Final = 2**13
"""Rows whose scores are computed at a time: always so many, by the same compiled code."""
DRAWS: Final = 2**17
"""Draws in place of quadrature, for a law without a known support; public, from a fixed seed."""
LEAST: Final = 1e-6
"""Smaller eigenvalues, of the information scaled to a unit diagonal, are raised to this one in its inverse root."""
FINE: Final = 8001
"""Quadrature points: many, for scores that jump, as that of Laplace's location does."""
STEPS: Final = 25
NEAR: Final = 1e-10
LOST: Final = 1e-6
"""Probability of a law that the points of another may miss before points are made anew."""


@dataclass(frozen=True)
class ScoreScaling:
    """The pilot at which scores are taken, shape (p,), and the matrix R that scales them, root, shape (p, p)."""

    model: Likelihood
    at: Array
    root: Array

    @property
    def by_row(self) -> bool:
        """Whether psi is found row by row: a linear function of statistics that NumPy computes."""
        return self.linear is not None

    @cached_property
    def linear(self) -> tuple[Array, Array] | None:
        """Constants, shape (p,), and coefficients, shape (p, q), of psi in the statistics; None where not `by_row`."""
        model = self.model
        # a family of a user's may have changed anything: only those of Tacit's own have a name
        some = None if model.program_name() is None or model.columns != 1 else model.numpy_statistics(np.ones(1))
        if some is None:
            return None
        units = np.concatenate([np.zeros((1, len(some))), np.eye(len(some))])
        with quiet():
            found = np.asarray(_of_statistics(model)(units, self.at), dtype=np.float64)
        return self.root @ found[0], self.root @ (found[1:] - found[0]).T


def pilot(parts: Sequence[Part], model: Likelihood) -> Array:
    """Return the released means of blocks, shape (p,), kept within the box and off ends where the law degenerates."""
    found: list[float] = []
    for part in parts:
        if part.form in OF_BLOCKS:
            grid, k = cast(Grid, part.grid), part.parameters["blocks"]
            # the sum is of w = v - G / 2 over k blocks: their mean in shares of the box; noise may lead outside.  A
            # block without an estimate adds 0, the middle: any pilot will do, and this one has the least noise
            share = min(max(part.integers[0][0] / (k * grid.G) + 0.5, 0.0), 1.0)
            found.append(grid.lower + (grid.upper - grid.lower) * share)
    return inner(model, np.array(found))


def inner(model: Likelihood, values: Array) -> Array:
    """Return values clipped to the box, and off the ends of a parameter's domain."""
    low, high = _inner(model)
    return np.clip(values, low, high)


@lru_cache(maxsize=64)
def _inner(model: Likelihood) -> tuple[Array, Array]:
    links: list[Link] = [one.link for one in model.parameters]
    ends = [np.array([one.region(0.0)[i] for one in model.parameters]) for i in (0, 1)]
    with quiet():
        low, high = (np.asarray(from_coordinates(links, end), dtype=np.float64) for end in ends)
    return np.maximum(low, model.lower), np.minimum(high, model.upper)


def scaling_at(model: Likelihood, at: Array) -> ScoreScaling:
    """Return the scaling at a pilot; never fails: the public default's, or the unit matrix, stands in."""
    for place in (at, model.fallback):
        try:
            information = np.asarray(model.fisher(place), dtype=np.float64)
        # whatever the model does at a released pilot: the pilot is public, so that the way taken reveals nothing
        except Exception:
            continue
        if np.isfinite(information).all() and (np.diag(information) > 0).all():
            return ScoreScaling(model, at, root_of(information))
    return ScoreScaling(model, at, np.eye(len(at)))


def root_of(information: Array) -> Array:
    """Return R with R I R' = 1: the symmetric inverse root of I scaled to a unit diagonal, so that units do not matter.

    >>> root_of(np.diag([4.0, 9.0])).round(3).tolist()
    [[0.5, 0.0], [0.0, 0.333]]
    """
    size = np.sqrt(np.diag(information))
    # information = D C D with D = diag(size), C = A diag(values) A': R = C^-1/2 D^-1
    values, axes = np.linalg.eigh(information / np.outer(size, size))
    return (axes / np.sqrt(np.maximum(values, LEAST))) @ axes.T / size


@lru_cache(maxsize=64)
def _compiled(model: Likelihood) -> Any:
    """Return the compiled function from a batch of rows and a vector to scores."""

    def one(row: Any, vector: Any) -> Any:
        return model.log_density(row, model.bind(vector))

    # always called with BATCH rows, which is public
    of_rows = jax().vmap(jax().grad(one, argnums=1), in_axes=(0, None))
    return CompiledFunction(of_rows, keep=not model.encloses_arrays, name=model.program_name("scores of rows"))


def scores(model: Likelihood, rows: Array, at: Array) -> Array:
    """Return derivatives of the log-density of rows in the parameters, shape (n, p); NaN outside the support.

    Batches of one public shape: the score of a row is a function of the row and of its place in the batch, n % BATCH.
    """
    n = len(rows)
    with np.errstate(all="ignore"):
        inside = np.asarray(model.inside(rows), dtype=np.bool_)
    anchor = 1.0 if model.anchor is None else model.anchor
    every = bool(inside.all())
    safe = rows if every else np.where(inside if rows.ndim == 1 else inside[:, None], rows, anchor)
    # compiled code has one shape only, so that it rounds alike for any number of rows
    padded = np.concatenate([safe, np.full((-n % BATCH, *rows.shape[1:]), anchor)]) if n % BATCH else safe
    found = np.empty((len(padded), len(at)))
    with quiet():
        solve = _compiled(model)
        for start in range(0, len(padded), BATCH):
            found[start : start + BATCH] = np.asarray(solve(padded[start : start + BATCH], at))
    if not every:
        found[:n][~inside] = np.nan
    return found[:n]


def clipped(scaling: ScoreScaling, rows: Array, clip: float) -> Array:
    """Return psi, each coordinate clipped to [-clip, clip], shape (n, p); 0 where the score is not a number."""
    if scaling.by_row:
        inside = np.asarray(scaling.model.inside(rows), dtype=np.bool_)
        found = np.zeros((len(rows), len(scaling.at)))
        found[inside] = np.stack(clipped_by_row(scaling, rows[inside], clip), axis=1)
        return found
    with np.errstate(all="ignore"):
        psi = _scaled(scaling.root, scores(scaling.model, rows, scaling.at))
    return np.clip(np.where(np.isnan(psi), 0.0, psi), -clip, clip)


def clipped_by_row(scaling: ScoreScaling, x: Array, clip: float) -> list[Array]:
    """Return `clipped` of rows within the support, one array for each parameter, where `scaling.by_row`.

    Statistics of a row are NumPy's, times coefficients that are found once: each is a function of the row alone, bit by
    bit, wherever it lies, and needs no place in a batch.
    """
    assert scaling.linear is not None
    constants, coefficients = scaling.linear
    with np.errstate(all="ignore"):
        statistics = scaling.model.numpy_statistics(x)
        assert statistics is not None
        made = list[Array]()
        for constant, own in zip(constants, coefficients, strict=True):
            psi = statistics[0] * own[0]
            for statistic, factor in zip(statistics[1:], own[1:], strict=True):
                psi += statistic * factor
            psi += constant
            made.append(np.clip(psi, -clip, clip, out=psi))
            if np.isnan(psi).any():
                psi[np.isnan(psi)] = 0.0
    return made


@lru_cache(maxsize=64)
def _of_statistics(model: Likelihood) -> Any:
    """Return the compiled function from statistics, shape (q + 1, q), and a vector to scores, shape (q + 1, p)."""

    def one(statistics: Any, vector: Any) -> Any:
        return model.log_density_from(statistics, model.bind(vector))

    of_rows = jax().vmap(jax().grad(one, argnums=1), in_axes=(0, None))
    return CompiledFunction(of_rows, keep=True, name=model.program_name("scores of statistics"))


def _scaled(root: Array, found: Array) -> Array:
    """Return root times each score, entry by entry: in a matrix product, rounding may depend on other rows."""
    return np.stack([sum(root[i, j] * found[:, j] for j in range(len(root))) for i in range(len(root))], axis=1)


def with_products(psi: Array) -> Array:
    """Return clipped scores and the products of every two of them, (n, p) -> (n, p + p (p - 1) / 2).

    >>> with_products(np.array([[1.0, -2.0, 3.0]])).tolist()
    [[1.0, -2.0, 3.0, -2.0, 3.0, -6.0]]
    """
    pairs = combinations(range(psi.shape[1]), 2)
    return np.concatenate([psi, *((psi[:, i] * psi[:, j])[:, None] for i, j in pairs)], axis=1)


# Expectations -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreLaw:
    """Quadrature points of the law at `base` with probabilities, log-densities and clipped scores, shape (N, p)."""

    scaling: ScoreScaling
    clip: float
    base: Array
    points: Array
    weights: Array
    logs: Array
    psi: Array

    def at(self, theta: Array) -> tuple[ScoreLaw, Array]:
        """Return points and probabilities of the law at theta: these points, or new ones where these miss a part."""
        model, w = self.scaling.model, self.weights
        if np.array_equal(theta, self.base):
            return self, w
        with np.errstate(all="ignore"):
            # importance weights: the points stay those of `base`, whose clipped scores are known
            w = w * np.exp(log_densities(model, self.points, theta, public=True) - self.logs)
        w = np.where(np.isfinite(w), w, 0.0)
        # the points of `base` miss a part of the law at theta
        if not abs(w.sum() - 1) < LOST and model.support is not None:
            again = law(self.scaling, self.clip, theta)
            return again, again.weights
        return self, w / w.sum()

    def mean(self, theta: Array) -> tuple[Array, Array, Array]:
        """Return M(theta), its derivative (rows of M, columns of theta), and the covariance of psi under theta."""
        found, w = self.at(theta)
        score = scores(self.scaling.model, found.points, theta)
        score = np.where(np.isfinite(score), score, 0.0)
        off = found.psi - w @ found.psi
        # dM/dtheta = Cov(psi, score) under theta; Cov(psi, psi)
        return w @ found.psi, (w[:, None] * off).T @ (score - w @ score), (w[:, None] * off).T @ off

    def moments(self, theta: Array) -> tuple[Array, Array]:
        """Return the variance and the fourth central moment of each clipped score under theta, each of shape (p,)."""
        found, w = self.at(theta)
        off = found.psi - w @ found.psi
        return w @ off**2, w @ off**4

    def products(self, theta: Array) -> tuple[Array, Array]:
        """Return mean and variance under theta of the products of two clipped scores, each clipped as a score is."""
        found, w = self.at(theta)
        made = np.clip(with_products(found.psi)[:, found.psi.shape[1] :], -self.clip, self.clip)
        mean = w @ made
        return mean, w @ (made - mean) ** 2


def law(scaling: ScoreScaling, clip: float, at: Array) -> ScoreLaw:
    """Return the law at a parameter: by quadrature for rows of one column and a known support, else by public draws.

    Draws are weighted so that the score has expectation 0 exactly.  ModelError M18 where there is neither.
    """
    model = scaling.model
    if model.support is not None:
        points, weights = quadrature.law(model, at, lambda rows: log_densities(model, rows, at, public=True), fine=FINE)
    else:
        points = model.sample(at, DRAWS, np.random.default_rng(2008))
        score = scores(model, points, at)
        score = np.where(np.isfinite(score), score, 0.0)
        middle = score.mean(axis=0)
        spread = score.T @ score / len(score) - np.outer(middle, middle)
        # weights w = (1 - (s - m) S^-1 m) / N, m and S mean and covariance of scores s: sum w s = m - S S^-1 m = 0
        turn = np.asarray(np.linalg.lstsq(spread, middle, rcond=None)[0], dtype=np.float64)
        weights = (1 - (score - middle) @ turn) / len(score)
    return ScoreLaw(
        scaling,
        clip,
        at,
        points,
        weights,
        log_densities(model, points, at, public=True),
        clipped(scaling, points, clip),
    )


def solve(found: ScoreLaw, mean: Array) -> tuple[Array, bool]:
    """Return theta with M(theta) = mean, shape (p,), by Newton steps from the pilot, and whether they converged.

    Where they do not, theta is that of the first step alone, the one step of theory §2 (ii).
    """
    model = found.scaling.model
    theta, residual = found.base, np.inf
    first: Array | None = None
    step = np.zeros_like(theta)
    for _ in range(STEPS):
        try:
            middle, slope, _ = found.mean(theta)
        except ModelError:  # no law there: the step went too far
            if first is None:
                raise
            middle, slope = np.full_like(mean, np.inf), np.eye(len(mean))
        off = mean - middle
        size = float(np.abs(off).max())
        if size < NEAR:
            return theta, True
        if size >= residual:  # the step went too far: halve it
            step = step / 2
            theta = inner(model, theta - step)
            continue
        residual = size
        # least squares, so that a singular slope gives the shortest step
        step = np.linalg.lstsq(slope, off, rcond=None)[0]
        moved = inner(model, theta + step)
        first = moved if first is None else first
        if np.allclose(moved, theta, rtol=1e-12, atol=0):
            return theta, size < 1e-6
        # the step as it was made within the box: that is what a halving takes back
        step, theta = moved - theta, moved
    return (found.base if first is None else first), False


def usable(model: Likelihood) -> str | None:
    """Return why one step cannot be taken with a model, in words; None where it can.  Public."""
    if model.is_regression and model.columns > 1:
        return "what a regression's scores are expected to be depends on the regressors, of which nothing is released"
    try:
        _tried(model)
    except ModelError as problem:
        return problem.message.rstrip(".")
    return None


@lru_cache(maxsize=64)
def _tried(model: Likelihood) -> None:
    at = inner(model, model.fallback)
    law(scaling_at(model, at), CLIP, at)
