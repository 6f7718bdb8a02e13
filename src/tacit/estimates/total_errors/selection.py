"""Tests of answers that are only given where a noisy size is large enough, by their law given that they are given.

A mean S / N of a cell is reported where the noisy size n = N + e exceeds a threshold q; elsewhere a reason is.  Among
the answers the noise e is not what it was: of small cells only those are seen whose noise was large, and the noise of S
shares parts with e.  Tests of a mean therefore use the law of D = N(0, C) + l . z given that w . z = e > q - N.

N is not known.  It is replaced by a lower limit that holds given the answer: the N0 with P(N0 + e >= n) / P(N0 + e > q)
equal to GAMMA alpha, so that a test of level alpha has level alpha (1 + GAMMA) at most.  The noises given an answer at
N0 are a fixed, seeded sample (`_bank`): their law has no closed form.  Where an answer was nearly certain, for
large sizes, the law is the usual one; the larger of the two p-values is taken, as sizes above N0 are possible too.
Source: [Berger & Boos 1994], the limit for a nuisance parameter; [Fithian, Sun & Taylor 2014], tests given a selection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.total_errors.error_laws import drawn, ndtr, split, tail
from tacit.noise.laws import Law

GAMMA: Final = 0.1
"""Share of the level that the lower limit of the size takes."""
NODES: Final = 1_025
"""Points at which the noise's tail is computed, between 0 and REACH standard deviations."""
REACH: Final = 15.0
"""Beyond so many standard deviations the tail of a Laplace noise is below 1e-9."""
CERTAIN: Final = 0.99
"""An answer of this probability is no selection: a level of 5% is 5.05% at most."""
STEPS_OF_LIMIT: Final = 40
"""Bisection steps for a lower limit of a size."""
STEPS: Final = 16
"""Numbers of N0, by its chance of an answer, for which noises are drawn."""
DRAWS: Final = 256
"""Noises in a sample, spread evenly over their part in the size."""
POOL: Final = 2**16
"""Noises from which the samples are taken."""
CHUNK: Final = 2**12
"""Cells whose p-values are computed together."""


@dataclass(frozen=True)
class GivenAnswer:
    """Answers that were given because noisy sizes, shape (m,), are above a threshold.

    least: sizes above this can have an answer.  loadings: shape (k,), of the size in the k noises of a cell.
    """

    size: Array
    threshold: float
    least: float
    law: Law
    loadings: Array

    def chance(self, alpha: float) -> Array:
        """Return P(N0 + e > threshold), shape (m,), N0 the lower limit of each size at alpha; 1 for a public size."""
        if not self.loadings.any():
            return np.ones_like(self.size)
        found, chance = _table(self.law, tuple(self.loadings.tolist()), self.threshold - self.least, alpha)
        # sizes below the first node are at the threshold, where nothing more is known than that there is an answer
        return np.asarray(cast(Any, np).interp(self.size - self.threshold, found, chance), dtype=np.float64)

    def conditional(self, alpha: float) -> Callable[[Array, Array, Array, Array], Array]:
        """Return a function (p, distance, variance, loads) -> p-values given the answers, at least p, shape (m,).

        p: the p-value P(|N(0, variance) + loads . z| >= distance) without selection; loads: shape (m, k).
        """
        chance = self.chance(alpha)
        at = np.flatnonzero((chance < CERTAIN) & (self.size > self.threshold))
        if not at.size:
            return lambda p, distance, variance, loads: p
        banks, grid = _bank(self.law, tuple(self.loadings.tolist()), self.threshold - self.least)
        # the next smaller chance of the grid: a stronger selection than that at N0
        node = np.maximum(np.searchsorted(grid, chance[at] * (1 + 1e-9), side="right") - 1, 0)
        parts = [(at[node == i][j : j + CHUNK], banks[i]) for i in np.unique(node) for j in range(0, at.size, CHUNK)]

        def given(p: Array, distance: Array, variance: Array, loads: Array) -> Array:
            out = p.copy()
            for some, bank in parts:
                error = loads[some] @ bank.T
                # sums of Laplace noises have densities: a trace of a normal part smooths the sample
                spread = np.maximum(np.sqrt(variance[some] + error.var(axis=1) / DRAWS), 1e-200)[:, None]
                far = distance[some][:, None]
                both = ndtr((error - far) / spread) + ndtr((-error - far) / spread)
                out[some] = np.maximum(p[some], both.mean(axis=1))
            return out

        return given


def chance_of_answer(size: Array, threshold: Array, s: Array, b: Array, alpha: float) -> Array:
    """Return P(N0 + e > threshold), N0 the lower limit at alpha of the size behind each of m answers; shape (m,).

    e = N(0, s**2) + Laplace noises of scales b; threshold, s: shape (m,); b: shape (m, k).  1 where an answer is
    (nearly) CERTAIN, as it is of a public size.  A test of level alpha times this chance rejects at most (1 + GAMMA)
    alpha of the answers: it rejects alpha times the chance of all releases, and where the limit holds at least the
    chance of them are answers.  Whatever the law of what is tested: conservative where little is answered.
    """
    sd = np.sqrt(s**2 + 2 * (b**2).sum(axis=-1))
    some = np.flatnonzero((size > threshold) & (size < threshold + 2 * REACH * sd))
    out = np.ones(len(size))
    if not some.size:
        return out
    n, q, s, b = size[some], threshold[some], s[some], b[some]

    def above(c: Array) -> Array:
        if not b.any():
            return ndtr(-c / s)
        side = tail(np.abs(c), s, b)
        return np.where(c >= 0, side, 1 - side)

    # sizes are 0 at least; the chance of so large a noise, given an answer, rises with N0
    low, high = np.zeros_like(n), n.copy()
    for _ in range(STEPS_OF_LIMIT):
        middle = (low + high) / 2
        rare = above(n - middle) <= GAMMA * alpha * above(q - middle)
        low, high = np.where(rare, middle, low), np.where(rare, high, middle)
    found = above(q - low)
    out[some] = np.where(found < CERTAIN, found, 1.0)
    return out


@lru_cache(maxsize=256)
def _table(law: Law, loadings: tuple[float, ...], reach: float, alpha: float) -> tuple[Array, Array]:
    """Return distances n - q of noisy sizes from the threshold, increasing, and the chance of an answer at N0.

    For N0 from `least` = q - reach upwards, c = P(N0 + e > q) and n = N0 + the upper quantile of e at GAMMA alpha c.
    Public facts alone, so kept for all releases of one question.
    """
    x, logs = _tail(law, loadings)
    # N0 - q, from -reach (N0 = least) to where an answer is certain
    below = np.linspace(-reach, float(x[-1]) / 2, NODES)
    chance = _above(-below, x, logs)
    # log tails fall in x: reversed for interpolation
    quantile = np.asarray(cast(Any, np).interp(np.log(GAMMA * alpha * chance), logs[::-1], x[::-1]), dtype=np.float64)
    # the tail of one Laplace noise has no memory: n then says nothing of N0 below q, and the smallest N0 is taken
    found = np.maximum.accumulate(below + quantile)
    return found + 1e-9 * x[-1] * np.arange(NODES) / NODES, chance


def _tail(law: Law, loadings: tuple[float, ...]) -> tuple[Array, Array]:
    """Return points from 0 to REACH standard deviations of the noise of a size, and the log of its tail there."""
    s, b = split(law, np.array(loadings))
    x = np.linspace(0, REACH * float(np.sqrt(s**2 + 2 * (b**2).sum())), NODES)
    return x, np.log(np.maximum(tail(x, np.full(NODES, s), np.broadcast_to(b, (NODES, len(b)))), 1e-300))


def _above(c: Array, x: Array, logs: Array) -> Array:
    """Return P(e > c) by interpolation of the log tail."""
    side = np.exp(np.asarray(cast(Any, np).interp(np.abs(c), x, logs), dtype=np.float64))
    return np.where(c >= 0, side, 1 - side)


@lru_cache(maxsize=32)
def _bank(law: Law, loadings: tuple[float, ...], reach: float) -> tuple[Array, NDArray[np.float64]]:
    """Return samples of noises given an answer, shape (STEPS, DRAWS, k), and the chances of one, increasing, (STEPS,).

    Each is spread evenly over the noises of a pool whose size's part is large enough, in its order.
    """
    weights = np.array(loadings)
    x, logs = _tail(law, loadings)
    least = float(_above(np.array(reach), x, logs))
    chances = np.geomspace(least, CERTAIN, STEPS)
    pool = drawn(law, 1, (POOL, len(weights)), np.random.default_rng(0))
    pool = np.concatenate([pool, -pool])[np.argsort(np.concatenate([pool, -pool]) @ weights)[::-1]]
    # the largest of the pool in the part that a chance says; evenly spaced, at the middles of DRAWS equal parts
    places = np.rint(chances[:, None] * len(pool) * (np.arange(DRAWS) + 0.5) / DRAWS - 0.5).astype(np.int64)
    return pool[np.clip(places, 0, len(pool) - 1)], chances
