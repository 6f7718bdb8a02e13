"""Whether anybody belongs to a cell of many parties, from their noisy sizes.  Functions of arrays: M parties, T cells.

A mean of nobody is no mean, and noise on sizes that are 0 would show one.  Sizes are therefore added up with weights
1 / (standard deviation of their noise), which are public, and a cell is answered where the sum is beyond what it is by
noise in all but 1.5 % of cells to which nobody belongs; or where one party's size alone is beyond what the largest of
all is in all but 0.5 % of them.  Weights that follow the noise, such as those of the pooled mean, have no such law.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.base.lazy_imports import special
from tacit.estimates.total_errors.error_laws import halfwidth, tail
from tacit.estimates.total_errors.selection import chance_of_answer
from tacit.pooling.evidence import Evidence

TOGETHER: Final = 0.015
"""Chance with which a cell of nobody has an answer by the sizes of all parties."""
ALONE: Final = 0.005
"""Chance with which it has one by the largest size of a party."""


@dataclass(frozen=True)
class Presence:
    """Noisy sizes of T cells, and the points of their noise from which somebody belongs to them.

    size: rows of all parties, weighted to a mean weight of 1; reach: its point, noise: its law, shape (T,) each.
    own, own_reach: each party's, (M, T); own_noise: their laws, (M, T) and (M, T, 1).  known: whether a public size
    says that there are rows, (T,).
    """

    size: Array
    reach: Array
    noise: tuple[Array, Array]
    own: Array
    own_reach: Array
    own_noise: tuple[Array, Array]
    known: NDArray[np.bool_]

    @property
    def clear(self) -> NDArray[np.bool_]:
        """Whether somebody belongs to each cell, as far as sizes say, shape (T,)."""
        return self.known | (self.size > self.reach) | (self.own > self.own_reach).any(axis=0)

    def chance(self, alpha: float) -> Array:
        """Return the chance of an answer at the smallest sizes that are likely, shape (T,); 1 where sizes are public.

        Either way to an answer is a part of all answers, so that their chance is at least that of the likelier way.
        """
        every = np.where(self.size > self.reach, chance_of_answer(self.size, self.reach, *self.noise, alpha), 0.0)
        some = (self.own > self.own_reach) & ~(every >= 1.0)
        if some.any():
            s, b = self.own_noise
            own = np.zeros_like(self.own)
            own[some] = chance_of_answer(self.own[some], self.own_reach[some], s[some], b[some], alpha)
            every = np.maximum(every, own.max(axis=0))
        return np.where(self.known | ~(every > 0), 1.0, every)

    def several(self, tails: Array, chance: float) -> NDArray[np.bool_]:
        """Whether at least two parties have rows in each cell, shape (T,).

        tails: of each party's size, how often noise alone makes one as large (`tails_apart`), (M, T).  Two below
        `chance` are enough where noise alone makes none; of many parties, more than noise makes of all others but in
        5 % of cells, or two that are beyond the largest noise.
        """
        others = np.maximum(np.isfinite(self.own_reach).sum(axis=0) - 1, 0)
        made = _binomial_points(int(others.max(initial=0)), chance)[others]
        usable = (tails < chance).sum(axis=0)
        sure = (tails < ALONE / len(tails)).sum(axis=0)
        return (usable >= 2 + made) | ((sure >= 2) & (usable >= 2))


@lru_cache(maxsize=64)
def _binomial_points(most: int, chance: float) -> NDArray[np.int64]:
    """Return the 95 % point of how many of 0, 1, ..., `most` parties noise alone makes usable."""
    many = np.arange(most + 1)
    # how many parties with fewer than 95 %: the row of a number of them and the column of all others
    made = np.asarray(special().bdtr(np.minimum(many[:, None], many), many, chance), dtype=np.float64)
    return np.asarray((made < 0.95).sum(axis=0), dtype=np.int64)


def presence(found: Evidence) -> Presence:
    """Compare the sizes of cells with their noise."""
    shape = found.size.shape
    each = found.loads[0] ** 2 * found.noise[:, None, :]
    variance = np.broadcast_to(each.sum(axis=-1), shape)
    excess = np.broadcast_to(((each * found.laplace[:, None, :]) ** 2).sum(axis=-1), shape)
    noisy = variance > 0
    worth = np.where(noisy, 1 / np.sqrt(np.where(noisy, variance, 1.0)), 0.0)
    weight = worth * noisy.sum(axis=0) / np.maximum(worth.sum(axis=0), 1e-300)
    noise = law((weight**2 * variance).sum(axis=0), np.sqrt((weight**4 * excess).sum(axis=0)))
    own = law(variance, np.sqrt(excess))
    points = np.broadcast_to(points_of(found, 1 - 2 * ALONE / len(found.size)), shape)
    return Presence(
        size=(weight * found.size).sum(axis=0),
        reach=_distinct(1 - 2 * TOGETHER, *noise),
        noise=noise,
        own=found.size,
        own_reach=np.where(noisy, points, np.inf),
        own_noise=own,
        known=np.asarray((~noisy & (found.size > 0)).any(axis=0)),
    )


def tails_apart(found: Evidence, x: Array) -> Array:
    """Return how often noise alone makes sizes as large as those of parties, in cells of mean x, shape (M, T).

    Of each size the part that D(x) explains by their noises is taken away first: where values lie near a bound, sizes
    and D(x) share most of their noise.  Chosen by what is left, which normal noise makes independent of D(x), parties
    have the errors that they would have without a choice.  0 for public sizes; 1 for those that say nothing.
    """
    load, noise = found.load(x), found.noise[:, None, :]
    slope = found.with_size(x) / np.maximum(found.privacy(x), 1e-300)
    size = found.size - slope * found.distance(x)
    each = (found.loads[0] - slope[..., None] * load) ** 2 * noise
    s, b = law(each.sum(axis=-1), np.sqrt(((each * found.laplace[:, None, :]) ** 2).sum(axis=-1)))
    beyond = tail(np.abs(size).ravel(), s.ravel(), b.reshape(-1, 1)).reshape(size.shape)
    # without noise: a size above 0 is certain, one of 0 is nobody
    certain = np.where(found.size > 0, 0.0, 1.0)
    return np.where(each.any(axis=-1), np.where(size > 0, beyond, 1 - beyond), certain)


def points_of(found: Evidence, level: float) -> Array:
    """Return the half-width of the noise of each party's size at a two-sided level, shape (M, 1 or T)."""
    each = found.loads[0] ** 2 * found.noise[:, None, :]
    excess = np.sqrt(((each * found.laplace[:, None, :]) ** 2).sum(axis=-1))
    return _distinct(level, *law(each.sum(axis=-1), excess))


def law(noise: Array, excess: Array) -> tuple[Array, Array]:
    """Approximate noises by a normal and one Laplace variable: sd and scale, the latter with an axis more.

    `common_value.law` without sampling.
    """
    inner = np.minimum(excess, noise)
    return np.sqrt(noise - inner), np.sqrt(inner / 2)[..., None]


def _distinct(level: float, s: Array, b: Array) -> Array:
    """Return `halfwidth`, of each distinct law once: parties of one price and encoding have the same noise."""
    pairs = np.stack([s.ravel(), b[..., 0].ravel()], axis=-1)
    some, back = np.unique(pairs, axis=0, return_inverse=True)
    return halfwidth(level, some[:, 0], some[:, 1:])[back.ravel()].reshape(s.shape)
