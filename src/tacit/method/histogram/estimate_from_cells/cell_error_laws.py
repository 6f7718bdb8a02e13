"""Error laws of linear combinations of noisy cells: normal sampling error plus weighted noises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.total_errors import error_laws as laws
from tacit.estimates.total_errors.selection import chance_of_answer
from tacit.noise.laws import Law

NODES: Final = 257
"""Points of the table of half-widths, enough for an interpolation error below 1e-5."""
CHANCES: Final = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 0.8, 0.9, 1.0])
"""Chances of an answer for which half-widths are computed; smaller ones are taken as the first."""


@dataclass(frozen=True)
class Noise:
    """Noise of the cells of a margin.

    Each of the margin's `size` cells carries the sum of `added` independent noises of `law`, divided by `share`.
    projected: whether the mean excess over the public total was subtracted from every cell, so that the total has no
    noise (theory §7).

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
        """Variance of the noise of one cell before projection, in rows squared."""
        return self.added * self.law.variance() / self.share**2

    @property
    def known(self) -> float:
        """Variance of a cell's own noise, without what projected cells share."""
        return self.cell * (1 - self.projected / self.size)

    def variance(self, weights: Array) -> Array:
        """Return the noise variance, shape (...), of sums with weights of shape (..., k); other cells weigh 0."""
        total = weights.sum(axis=-1)
        # noises after the projection have covariance cell * (identity - ones / size)
        return self.cell * ((weights**2).sum(axis=-1) - self.projected * total**2 / self.size)

    def covariance(self, weights: Array) -> Array:
        """Return the noise covariance of weighted sums, shape (t, t), for weights of shape (t, k)."""
        total = weights.sum(axis=-1)
        return self.cell * (weights @ weights.T - self.projected * np.outer(total, total) / self.size)

    def error(self, weights: Array, sampling: Array, times: Array | None = None) -> Error:
        """Return the error law of weighted sums with a sampling variance, shapes (..., k) and (...).

        times: number of cells that have each weight, shape (..., k), by default 1.
        """
        times = np.ones_like(weights) if times is None else times
        total = (weights * times).sum(axis=-1, keepdims=True)
        # projection subtracts total / size from every weight; cells of weight 0 get it too (the last load)
        shift = total / self.size if self.projected else np.zeros_like(total)
        loads = np.concatenate([weights - shift, -shift], axis=-1) / self.share
        # so many cells of weight 0 there are
        rest = np.maximum(self.size - times.sum(axis=-1, keepdims=True), 0.0)
        number = self.added * np.concatenate([times, rest], axis=-1)
        normal = laws.normal_part(self.law)
        # the normal share of the noise joins the sampling error; the rest stays Laplace, cell by cell
        variance = sampling + normal * self.law.variance() * (number * loads**2).sum(axis=-1)
        if normal == 1:  # no Laplace part: one noise of scale 0 keeps the shapes
            return Error(variance, np.zeros((*variance.shape, 1)), np.ones(1))
        return Error(variance, np.abs(loads) * laws.smooth(self.law) * (1 - normal) ** 0.5, number)

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draw noises of cells before projection, in rows."""
        return laws.drawn(self.law, self.added, shape, rng) / self.share


@dataclass(frozen=True)
class Error:
    """Errors that are N(0, variance) plus independent Laplace noises, `number` of each of the `scales`.

    variance: shape (...).  scales: shape (..., k); `number` has a shape that broadcasts to it.
    """

    variance: Array
    scales: Array
    number: Array

    @cached_property
    def sd(self) -> Array:
        """Standard deviation, shape (...)."""
        return np.sqrt(self.variance + 2 * (self.number * self.scales**2).sum(axis=-1))

    def halfwidth(self, level: float) -> Array:
        """Return q with P(|error| <= q) = level, shape (...).

        Uses the q of a normal plus one Laplace noise of the same variance and kurtosis (theory §1.5), with a damped
        Cornish-Fisher correction for the sixth cumulant: exact for one Laplace noise, and wrong by less than 1% for
        levels from 80% to 99% (tests).

        >>> error = Error(np.zeros(1), np.ones((1, 1)), np.full((1, 1), 20.0))
        >>> float(error.halfwidth(0.95).round(3)[0])
        12.462
        """
        # cumulants of a Laplace noise of scale b: 12 b**4 and 240 b**6; below, in units of the total sd
        total = np.maximum(self.sd**2, 1e-300)
        b = np.asarray(self.scales / np.sqrt(total)[..., None])
        fourth = 12 * (self.number * b**4).sum(axis=-1)
        sixth = 240 * (self.number * b**6).sum(axis=-1)
        kurtosis, quantile = one_laplace(level)
        z = laws.normal_quantile(level)
        # sixth cumulant less that of the table's one Laplace noise of the same kurtosis: several have a smaller one
        more = np.minimum(sixth - 240 * (fourth / 12) ** 1.5, 0.0)
        # Cornish-Fisher: kappa_6 / 720 times the Hermite polynomial He_5(z); damped, as the series overshoots
        correction = 0.75 * np.exp(-0.42 * fourth) * more / 720 * (z**5 - 10 * z**3 + 15 * z)  # damped
        # the table's standardised law has the variance and kurtosis of this error
        middle = np.asarray(cast(Any, np).interp(fourth, kurtosis, quantile), dtype=np.float64)
        return self.sd * (middle + correction)

    def given(self, alpha: float, chance: Array) -> Array:
        """Half-widths of level 1 - alpha chance, shape (...); the chance of an answer is rounded down to CHANCES."""
        at = np.maximum(np.searchsorted(CHANCES, chance * (1 + 1e-9), side="right") - 1, 0)
        levels, back = np.unique(1 - alpha * CHANCES[at], return_inverse=True)
        found = np.stack([np.broadcast_to(self.halfwidth(float(level)), self.sd.shape) for level in levels])
        return np.take_along_axis(found, np.broadcast_to(back.reshape(at.shape), self.sd.shape)[None], axis=0)[0]


@dataclass(frozen=True)
class Thresholds:
    """Noisy numbers that had to be above thresholds for there to be an answer.

    value, least: the numbers, which are not negative but for noise, and their thresholds; sd: standard deviation of
    their errors, taken as normal; shape (conditions, terms) each.
    """

    value: Array
    least: Array
    sd: Array

    def chance(self, alpha: float) -> Array:
        """Return the probability of an answer if the numbers were as small as they may be, shape (terms,).

        At most so many tests of level alpha times this chance reject among the answers as of level alpha among all
        releases (`selection.chance_of_answer`): conditions are taken one by one, as if they were independent.
        """
        value, least, sd = (part.reshape(-1) for part in (self.value, self.least, self.sd))
        found = chance_of_answer(value, least, sd, np.zeros((len(value), 1)), alpha)
        return found.reshape(self.value.shape).prod(axis=0)

    def also(self, other: Thresholds) -> Thresholds:
        """Return the conditions of both, of the same terms."""
        return Thresholds(
            np.concatenate([self.value, other.value]),
            np.concatenate([self.least, other.least]),
            np.concatenate([self.sd, other.sd]),
        )


def beside(parts: Sequence[Thresholds]) -> Thresholds:
    """Return the same number of conditions on the terms of all parts, one after the other."""
    return Thresholds(
        np.concatenate([one.value for one in parts], axis=1),
        np.concatenate([one.least for one in parts], axis=1),
        np.concatenate([one.sd for one in parts], axis=1),
    )


@lru_cache(maxsize=64)
def one_laplace(level: float) -> tuple[Array, Array]:
    """Return a table for a standardised normal plus one Laplace noise: excess kurtosis, 0 to 3, and half-width."""
    share = np.linspace(0, 1, NODES)  # fraction of the variance that is due to the Laplace noise
    # 2 b**2 = share; excess kurtosis 12 b**4 = 3 share**2
    b = np.sqrt(share / 2)
    return 3 * share**2, laws.halfwidth(level, np.sqrt(1 - share), b[:, None])
