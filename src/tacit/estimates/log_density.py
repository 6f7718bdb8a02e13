"""A density from noisy shares of bins, by penalised likelihood of its logarithm.  Post-processing, plain arrays.

The prior
    On [0, 1] log f = c + h + u: h in the span of t, t**2, log(t + a / 4) and log(1 - t + b / 4), all of which are
    nearly free, so that exponential, normal and beta densities, cut to [0, 1], are hardly smoothed away; a and b are
    the widths of the first and of the last bin, within which shares do not tell a pole.  u is a Gaussian process with
    the penalty
        lambda times the integral of u'''**2, its part orthogonal to the free functions,
    whose mode is a smoothing spline [Silverman 1982; Gu 2013, Smoothing Spline ANOVA Models, chapter 7].
The shares
    y_b of a bin is taken to be normal about the integral q_b of f with variance q_b / n + w_b, w_b that of the noise
    (and half a row, which keeps the variance of empty bins above 0).  Noise that bins share is left out.
The smoothness
    The mode is found for each of LAMBDAS, from smooth to rough, and modes are averaged with weights proportional to
    their marginal likelihoods by Laplace's method [Tierney & Kadane 1986]: nobody chooses lambda, and noisy shares give
    a smooth density.
The ends
    In the first or the last bin a density that is more than STEEP times its average there, at the bound, is taken as
    even: values beyond the bounds of a column are in these bins, and look like a pole.
All is on CELLS even cells, in the first eigenvectors of the penalty.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from tacit.base.arrays import Array

CELLS: Final = 256
"""Cells of [0, 1] on which a density is found."""
MOST: Final = 64
"""Most eigenvectors: with so many a peak of standard deviation 1/100 is resolved."""
LAMBDAS: Final = 10.0 ** -np.arange(0, 10)
FREE: Final = (0.1, 0.1, 1.0, 1.0)
"""Precisions of the free functions, whose mean square over the cells is 1: few rows do not make a pole."""
STEPS: Final = 40
"""Most steps to a mode."""
LARGEST: Final = 1e8
"""Damping at which no step is looked for any more."""
NEAR: Final = 1e-4
"""A step that gains less is the last."""
STEEP: Final = 2.0
"""Of a density at the bound, over its average in the end bin: a pole of the power -0.4 has about as much."""
WORSE: Final = 12.0
"""Below LEAST a log marginal likelihood so far below the largest ends the search."""
LEAST: Final = 1e-6


@dataclass(frozen=True)
class Mode:
    """A mode: its coordinates, the shares of cells and of bins, and the negative log posterior."""

    theta: Array
    cells: Array
    shares: Array
    loss: float


@dataclass(frozen=True)
class BinnedLikelihood:
    """Noisy shares of bins, and functions on the cells.

    edges: from 0 to 1, shape (bins + 1,).  values: shape (bins,).  rows: their number.  noise: variance of each share's
    noise, shape (bins,).  over: functions on the cells, the free ones first, shape (CELLS, functions).  free: their
    number.
    """

    edges: Array
    values: Array
    rows: float
    noise: Array
    over: Array
    free: int

    @cached_property
    def over_bins(self) -> Array:
        """The parts of the cells that lie in each bin, shape (bins, CELLS)."""
        at, ends = self.edges * CELLS, np.arange(CELLS)
        return np.diff(np.clip(at[:, None] - ends, 0.0, 1.0), axis=0)

    def binned(self, cells: Array) -> Array:
        """Return the shares of the bins from those of the cells."""
        return self.over_bins @ cells

    def variance(self, shares: Array) -> Array:
        """Return the variance of the values about shares."""
        return (shares + 0.5 / self.rows) / self.rows + self.noise

    def mode(self, theta: Array, precision: Array, variance: Array) -> Mode:
        """Return the mode for one prior precision of the coordinates, by damped Gauss-Newton steps."""
        here, damping = Mode(theta, *self._loss(theta, precision, variance)), 1e-4
        for _ in range(STEPS):
            made, damping = self._step(here, precision, variance, damping)
            gain, here = here.loss - made.loss, made
            if gain < NEAR:
                break
        return here

    def _step(self, here: Mode, precision: Array, variance: Array, damping: float) -> tuple[Mode, float]:
        """Return where a step leads that lowers the loss, here if none does, and the damping of the next."""
        slopes = self._slopes(here.cells)
        curvature = slopes.T @ (slopes / variance[:, None])
        gradient = precision * here.theta - slopes.T @ ((self.values - here.shares) / variance)
        while damping < LARGEST:
            more = precision + damping * (np.diag(curvature) + 1e-3)
            moved = here.theta - np.linalg.solve(curvature + np.diag(more), gradient)
            made = Mode(moved, *self._loss(moved, precision, variance))
            if made.loss < here.loss:
                return made, max(damping / 5, 1e-9)
            damping *= 5
        return here, damping

    def evidence(self, mode: Mode, precision: Array, variance: Array) -> float:
        """Return the log marginal likelihood of a prior precision, up to a constant, at its mode."""
        slopes = self._slopes(mode.cells)
        curvature = slopes.T @ (slopes / variance[:, None]) + np.diag(precision)
        spread = float(np.linalg.slogdet(curvature)[1] - np.log(precision).sum() + np.log(variance).sum())
        return -mode.loss - spread / 2

    def _loss(self, theta: Array, precision: Array, variance: Array) -> tuple[Array, Array, float]:
        """Return the shares of cells and those of bins, and the negative log posterior, up to a constant."""
        logs = self.over @ theta
        cells = np.exp(logs - logs.max())
        cells = cells / cells.sum()
        shares = self.binned(cells)
        loss = ((self.values - shares) ** 2 / variance).sum() + (precision * theta**2).sum()
        return cells, shares, float(loss) / 2

    def _slopes(self, cells: Array) -> Array:
        """Return the derivatives of the shares of bins by the coordinates."""
        shares = self.binned(cells)
        return self.over_bins @ (cells[:, None] * self.over) - np.outer(shares, cells @ self.over)


def log_density(edges: Array, values: Array, rows: float, noise: Array) -> Array:
    """Return a density on CELLS even cells of [0, 1], of mean 1, from noisy shares of bins.

    edges: of the bins, from 0 to 1.  values: shares, signed, that add up to about 1.  rows: their number, above 0.
    noise: variance of each value's noise.

    >>> edges = np.linspace(0, 1, 33)
    >>> found = log_density(edges, np.full(32, 1 / 32), 10_000, np.full(32, 1e-8))
    >>> len(found), bool(np.abs(found - 1).max() < 0.01)
    (256, True)
    """
    densities, evidence = of_penalties(edges, values, rows, noise)
    weights = np.exp(np.array(evidence) - max(evidence))
    return _even_at_poles(weights @ np.array(densities) / weights.sum(), edges)


def of_penalties(edges: Array, values: Array, rows: float, noise: Array) -> tuple[list[Array], list[float]]:
    """Return the density for each of LAMBDAS that was tried, from smooth to rough, and its log marginal likelihood."""
    over, free = functions_of(min(len(values), MOST), float(edges[1]), float(1 - edges[-2]))
    data = BinnedLikelihood(edges, values, rows, noise, over, free)
    theta, shares = _start(data)
    densities, evidence = list[Array](), list[float]()
    for penalty in LAMBDAS:
        precision = np.full(over.shape[1], float(penalty))
        precision[:free] = FREE
        # the variance follows the shares, and they it
        first = data.mode(theta, precision, data.variance(shares))
        variance = data.variance(first.shares)
        found = data.mode(first.theta, precision, variance)
        theta, shares = found.theta, found.shares
        densities.append(found.cells * CELLS)
        evidence.append(data.evidence(found, precision, variance))
        if penalty < LEAST and evidence[-1] < max(evidence) - WORSE:
            break
    return densities, evidence


def _even_at_poles(density: Array, edges: Array) -> Array:
    """Return the density, even in an end bin where it has a steep pole."""
    made = density.copy()
    for own, width in ((made, edges[1]), (made[::-1], 1 - edges[-2])):
        bin_ = own[: round(CELLS * float(width))]
        if len(bin_) and bin_[0] > STEEP * bin_.mean():
            bin_[:] = bin_.mean()
    return made


def _start(data: BinnedLikelihood) -> tuple[Array, Array]:
    """Return coordinates to start from, of the free functions alone, and even shares beside smoothed ones."""
    widths = np.diff(data.edges)
    centers, t = data.edges[:-1] + widths / 2, middles()
    near = np.exp(-(((t[:, None] - centers) / 0.08) ** 2) / 2)
    smoothed = np.maximum(near @ data.values, 0.0) / (near @ widths)
    smoothed = (smoothed + 0.05) / (smoothed + 0.05).mean()
    free = data.over[:, : data.free]
    theta = np.zeros(data.over.shape[1])
    theta[: data.free] = free.T @ np.log(smoothed) / CELLS
    return theta, data.binned(smoothed / CELLS)


@lru_cache(maxsize=32)
def functions_of(number: int, first_bin: float, last_bin: float) -> tuple[Array, int]:
    """Return functions on the cells, shape (CELLS, functions), and how many of them, the first, are free.

    first_bin, last_bin: widths of the bins at the ends.
    The free ones are orthogonal, of mean 0 and mean square 1; the others are eigenvectors of the penalty, scaled so
    that it is the sum of their squared coordinates.
    """
    t, ends = middles(), np.linspace(0, 1, CELLS + 1)
    # averages over the cells
    low, high = (CELLS * np.diff(x * np.log(x) - x) for x in (ends + first_bin / 4, ends + last_bin / 4))
    logs = np.column_stack([low, high[::-1]])
    free = np.column_stack([t, t**2, logs])
    free = np.linalg.qr(free - free.mean(axis=0))[0] * np.sqrt(CELLS)
    third = np.diff(np.eye(CELLS), 3, axis=0) * CELLS**2.5
    bent = np.linalg.qr(third @ logs)[0]
    third = third - bent @ (bent.T @ third)
    values, vectors = np.linalg.eigh(third.T @ third)
    kept = slice(free.shape[1] + 1, free.shape[1] + 1 + number)
    rough = vectors[:, kept] / np.sqrt(values[kept])
    return np.column_stack([free, rough - rough.mean(axis=0)]), free.shape[1]


def middles() -> Array:
    """Return the middles of the cells."""
    return (np.arange(CELLS) + 0.5) / CELLS
