"""One column of many releases as linear estimating equations, which add up over parties.  Functions of arrays.

A party's mean, share or variance x solves E D(x) = 0 with D(x) = total - x size, whatever its number of rows.  D is
linear in the noise, and its sampling variance C(x) = q2 - 2 x q1 + x**2 q0 is linear in released sums too.  So weighted
sums of D over parties are free of the bias of ratios of noisy numbers (theory §6, §12).

Shapes: M parties, T cells, k noises of a party.  Means and shares are of values scaled to [-1, 1], variances of values
scaled to [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array

Kind: TypeAlias = Literal["mean", "share", "variance"]
START: Final = {"mean": (0.0, 1 / 3), "share": (0.0, 1.0), "variance": (1 / 12, 1 / 180)}
"""First values of x and of the variance of a row's part of D: those of evenly spread values."""
CLEAR: Final = 6.0
"""A variance is estimated only where the noisy size is at least so many standard deviations of its noise."""
BOUNDS: Final = {"mean": (-1.0, 1.0), "share": (-1.0, 1.0), "variance": (0.0, 0.25)}


@dataclass(frozen=True)
class Evidence:
    """The estimating equations of M parties for T cells of one column.

    size, total: noisy sums, shape (M, T).  loads: their derivatives by the noises, shape (2, M, 1 or T, k).
    squares: q0, q1, q2, shape (3, M, T); square_loads: their derivatives by the noises, shape (3, M, 1 or T, k).
    noise: variance of each noise, shape (M, k), 0 for padding; laplace: `laplace_share` of each, (M, k).
    most: the largest squared deviation that a value can have, for `cap`, shape (M, T).
    public: whether the size is public, shape (M,).
    middle: loads[1] of a variance at a mean of one half.  A value in the column's units is shift + scale x.
    spread: where estimates of blocks take the place of rows, their relative sampling variance, which is proportional to
    one over the rows of a block: 1 on average, shape (M,).  None for rows, which have one variance in all parties.
    """

    kind: Kind
    size: Array
    total: Array
    loads: Array
    squares: Array
    square_loads: Array
    noise: Array
    laplace: Array
    most: Array
    public: NDArray[np.bool_]
    middle: Array
    shift: float
    scale: float
    spread: Array | None = None

    @property
    def proportion(self) -> Array:
        """Relative sampling variance of a row (or block) in each party: `spread`, or 1; shape (M, 1)."""
        return np.ones((len(self.size), 1)) if self.spread is None else self.spread[:, None]

    @property
    def proportionate(self) -> bool:
        """Whether blocks are known to be of several sizes."""
        return self.spread is not None and float(np.ptp(self.spread)) > 0

    @property
    def informative(self) -> NDArray[np.bool_]:
        """Which cells say anything, shape (M, T): not those set to zero (`released_evidence`), which have no noise."""
        return np.broadcast_to((self.loads != 0).any(axis=(0, 3)), self.size.shape)

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and largest possible x."""
        return BOUNDS[self.kind]

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and largest possible value in the column's units."""
        low, high = self.bounds
        return self.shift + self.scale * low, self.shift + self.scale * high

    def distance(self, x: Array) -> Array:
        """D(x), shape (M, T); x of shape (T,) or (M, T)."""
        return self.total - x * self.size

    def load(self, x: Array) -> Array:
        """The derivative of D(x) by each noise, shape (M, T, k)."""
        return self.loads[1] - np.asarray(x)[..., None] * self.loads[0]

    def privacy(self, x: Array) -> Array:
        """Noise variance of D(x), shape (M, T)."""
        return (self.load(x) ** 2 * self.noise[:, None, :]).sum(axis=-1)

    def with_size(self, x: Array) -> Array:
        """Noise covariance of D(x) and the size, shape (M, T)."""
        return (self.load(x) * self.loads[0] * self.noise[:, None, :]).sum(axis=-1)

    def size_variance(self) -> Array:
        """Noise variance of the size, shape (M, 1 or T)."""
        return (self.loads[0] ** 2 * self.noise[:, None, :]).sum(axis=-1)

    def likely_size(self) -> tuple[Array, Array]:
        """Return sizes shrunk to their mean, and the shrinkage factor (1: not shrunk); shapes (M, T).

        Without shrinkage a party whose size has a large noise by chance would get too large a weight.
        """
        noise = self.size_variance()
        if not noise.any():
            return self.size, np.ones_like(self.size)
        # moments: the variance of noisy sizes is that of the sizes plus that of the noise; ddof 0 for a single party,
        # whose variance is 0 and not undefined
        between = np.maximum(self.size.var(axis=0, ddof=min(1, len(self.size) - 1)) - noise.mean(axis=0), 0.0)
        # the terms + 1 and + 1e-9 only keep divisions finite where there is no noise and sizes are equal
        worth = np.broadcast_to(1 / (between + noise + 1), self.size.shape)
        middle = (worth * self.size).sum(axis=0) / worth.sum(axis=0)
        own = between / (between + noise + 1e-9)
        return middle + own * (self.size - middle), own

    def weighing(self, x: Array) -> Array:
        """Noise variance of D(x) for use in weights, shape (M, T): for variances at a fixed mean of 1/2.

        At the noisy mean the weights would depend on the noise.
        """
        if self.kind != "variance":
            return self.privacy(x)
        # `middle` is public, so that these variances are the same whatever the noise was
        load = self.middle - np.asarray(x)[..., None] * self.loads[0]
        return (load**2 * self.noise[:, None, :]).sum(axis=-1)

    def sampling(self, x: Array) -> Array:
        """C(x) from the released sums: unbiased, so sometimes negative; shape (M, T)."""
        q0, q1, q2 = self.squares
        return q2 - 2 * x * q1 + x**2 * q0

    def sampling_noise(self, x: Array) -> Array:
        """Noise variance of C(x), shape (M, T)."""
        x = np.asarray(x)[..., None]
        load = self.square_loads[2] - 2 * x * self.square_loads[1] + x**2 * self.square_loads[0]
        return (load**2 * self.noise[:, None, :]).sum(axis=-1)

    def cap(self, x: Array) -> Array:
        """The largest C(x) of one row with bounded values; shape (M, T)."""
        if self.kind == "variance":
            # Bhatia-Davis: squared deviations in [0, most] with mean x have variance at most x (most - x)
            return np.maximum(x * (self.most - x), 0.0)
        # likewise values in [-1, 1] with mean x
        return np.broadcast_to(np.maximum(1 - x**2, 0.0), self.size.shape)

    @property
    def silent(self) -> Evidence:
        """The equations of parties that say nothing: all sums are 0, without noise."""
        names = ("size", "total", "loads", "squares", "square_loads")
        return replace(self, **{name: np.zeros_like(getattr(self, name)) for name in names})

    def of(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Evidence:
        """Return the equations of some of the parties."""
        return replace(
            self,
            size=self.size[chosen],
            total=self.total[chosen],
            loads=self.loads[:, chosen],
            squares=self.squares[:, chosen],
            square_loads=self.square_loads[:, chosen],
            noise=self.noise[chosen],
            laplace=self.laplace[chosen],
            most=self.most[chosen],
            public=self.public[chosen],
            middle=self.middle[chosen],
            spread=None if self.spread is None else self.spread[chosen],
        )


def merge_same_people(found: Evidence, people: Sequence[int]) -> Evidence:
    """Merge releases about the same people into one party: noises are averaged, the sampling error counts once.

    people: the index of each release's party, shape (M,).  Weights within a party are inverse to the noise variances,
    which are public.  The last axis of the result holds the noises of all releases of a party.
    """
    index = np.asarray(people)
    parties = int(index.max()) + 1
    if parties == len(index):
        return found
    middle = np.full(found.size.shape[1], (found.bounds[0] + found.bounds[1]) / 2)
    # at the middle of the bounds and not at an estimated x, which the weights would then follow
    worth = 1 / np.maximum(found.weighing(middle).mean(axis=1), 1e-300)  # (releases,)
    share = worth / np.bincount(index, worth)[index]
    k = found.noise.shape[1]
    # turn: how many earlier releases a party has, which gives each release k places of its own on the last axis
    turn = np.array([int((index[:j] == index[j]).sum()) for j in range(len(index))])
    wide = (int(turn.max()) + 1) * k

    def added(values: Array) -> Array:  # (M, T) -> (parties, T)
        out = np.zeros((parties, *values.shape[1:]))
        np.add.at(out, index, share[:, None] * values)
        return out

    def side(loads: Array, weight: Array) -> Array:  # (M, ..., k) -> (parties, ..., wide)
        out = np.zeros((parties, *loads.shape[1:-1], wide), dtype=loads.dtype)
        for j, i in enumerate(index):
            out[i, ..., turn[j] * k : (turn[j] + 1) * k] = weight[j] * loads[j]
        return out

    # variances of noises are not weighted: the loads carry the shares
    one = np.ones(len(index))
    public = np.ones(parties, dtype=np.bool_)
    # the size of a party is noisy as soon as one of its releases has a noisy size
    np.logical_and.at(public, index, found.public)
    return replace(
        found,
        size=added(found.size),
        total=added(found.total),
        loads=np.stack([side(load, share) for load in found.loads]),
        squares=np.stack([added(square) for square in found.squares]),
        square_loads=np.stack([side(load, share) for load in found.square_loads]),
        noise=side(found.noise, one),
        laplace=side(found.laplace, one),
        most=added(found.most),
        public=public,
        middle=side(found.middle, share),
        spread=None if found.spread is None else np.bincount(index, share * found.spread),
    )
