"""Laws of linear combinations of noisy cells: normal sampling error plus weighted noises.  Pure array functions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from tacit.inference import laws
from tacit.inference.laws import Array
from tacit.noise.laws import Law

KURTOSIS: Final = 0.5
"""Largest excess kurtosis at which quantiles are those of Cornish and Fisher: wrong by less than 0.3% (tests)."""
APART: Final = 8
"""Laplace scales that are kept apart where the law itself is taken; smaller ones join the normal part."""
GAP: Final = 0.03
"""Equal scales are moved apart by as much, their variance kept: partial fractions then lose few digits."""


@dataclass(frozen=True)
class Noise:
    """Noise of the cells of a margin.

    Each of its `size` cells has `added` independent noises of `law`, divided by `share`.  projected: whether the mean
    excess over the public total was subtracted from every cell; the total then has no noise (theory §7).

    >>> from fractions import Fraction
    >>> from tacit.noise.laws import DiscreteLaplace
    >>> noise = Noise(DiscreteLaplace(Fraction(2)), 1, 1, 4, projected=True)
    >>> round(noise.cell, 3), float(noise.variance(np.array([1.0, 1, 0, 0])).round(3))
    (7.835, 7.835)
    """

    law: Law
    share: int
    added: int
    size: int
    projected: bool

    @property
    def cell(self) -> float:
        """Variance of a cell's own noise, before projection, in rows squared."""
        return self.added * self.law.variance() / self.share**2

    def variance(self, weights: Array) -> Array:
        """Variance of sums of cells times weights, shape (..., k) -> (...); cells that are not given weigh 0."""
        total = weights.sum(axis=-1)
        return self.cell * ((weights**2).sum(axis=-1) - self.projected * total**2 / self.size)

    def covariance(self, weights: Array) -> Array:
        """Covariance of such sums, shape (t, k) -> (t, t)."""
        total = weights.sum(axis=-1)
        return self.cell * (weights @ weights.T - self.projected * np.outer(total, total) / self.size)

    def error(self, weights: Array, sampling: Array, times: Array | None = None) -> Error:
        """Law of such sums with a sampling variance, shapes (..., k) and (...); `times` cells have that weight."""
        times = np.ones_like(weights) if times is None else times
        total = (weights * times).sum(axis=-1, keepdims=True)
        shift = total / self.size if self.projected else np.zeros_like(total)
        loads = np.concatenate([weights - shift, -shift], axis=-1) / self.share
        rest = np.maximum(self.size - times.sum(axis=-1, keepdims=True), 0.0)
        number = self.added * np.concatenate([times, rest], axis=-1)
        if laws.is_gaussian(self.law):
            variance = sampling + self.law.variance() * (number * loads**2).sum(axis=-1)
            return Error(variance, np.zeros((*variance.shape, 1)), np.ones(1))
        return Error(sampling, np.abs(loads) * laws.smooth(self.law), number)

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Seeded noises of cells before projection: a sum of two-sided geometric ones is of two negative binomials."""
        if laws.is_gaussian(self.law):
            return rng.standard_normal(shape) * np.sqrt(self.cell)
        p = -np.expm1(-1 / float(self.law.scale))
        two = rng.negative_binomial(self.added, p, (2, *shape))
        return (two[0] - two[1]).astype(np.float64) / self.share


@dataclass(frozen=True)
class Error:
    """N(0, variance) plus Laplace noises: `number` of scale `scales`, shapes (...) and (..., k), elementwise."""

    variance: Array
    scales: Array
    number: Array

    @cached_property
    def sd(self) -> Array:
        """Standard deviation, shape (...)."""
        return np.sqrt(self.variance + 2 * (self.number * self.scales**2).sum(axis=-1))

    def halfwidth(self, level: float) -> Array:
        """The q with P(|error| <= q) = level, shape (...).

        By the cumulants up to the sixth where the law is near a normal one, else by the law itself (theory §1.5).

        >>> error = Error(np.zeros(1), np.ones((1, 1)), np.full((1, 1), 20.0))
        >>> float(error.halfwidth(0.95).round(3)[0])
        12.464
        """
        z = laws.normal_quantile(level)
        total = np.maximum(self.sd**2, 1e-300)
        fourth = 12 * (self.number * self.scales**4).sum(axis=-1) / total**2
        sixth = 240 * (self.number * self.scales**6).sum(axis=-1) / total**3
        bend = fourth / 24 * (z**3 - 3 * z) + sixth / 720 * (z**5 - 10 * z**3 + 15 * z)
        bend -= fourth**2 / 384 * (3 * z**5 - 24 * z**3 + 29 * z)
        out = self.sd * (z + bend)
        far = fourth > KURTOSIS
        if far.any():
            out[far] = self._exact(level, far)
        return out

    def _exact(self, level: float, far: Array) -> Array:
        scales = np.broadcast_to(self.scales, (*self.sd.shape, self.scales.shape[-1]))[far]
        number = np.broadcast_to(self.number, (*self.sd.shape, self.scales.shape[-1]))[far]
        b, variance = apart(scales, number)
        return laws.halfwidth(level, np.sqrt(np.broadcast_to(self.variance, self.sd.shape)[far] + variance), b)


def apart(scales: Array, number: Array) -> tuple[Array, Array]:
    """The APART largest scales, each `number` times, shape (t, APART), and the variance of the others, shape (t,)."""
    order = np.argsort(-scales, axis=-1)[:, :APART]
    top, times = np.take_along_axis(scales, order, -1), np.rint(np.take_along_axis(number, order, -1))
    end = np.cumsum(times, axis=-1)
    place = np.arange(APART)
    which = np.minimum((place[None, :, None] >= end[:, None, :]).sum(axis=-1), top.shape[-1] - 1)
    b = np.where(place < end[:, -1:], np.take_along_axis(top, which, -1), 0.0)
    kept = (b**2).sum(axis=-1)
    moved = b * np.exp(GAP * (APART / 2 - place))
    b = moved * np.sqrt(kept / np.maximum((moved**2).sum(axis=-1), 1e-300))[:, None]
    return b, np.maximum(2 * (number * scales**2).sum(axis=-1) - 2 * kept, 0.0)
