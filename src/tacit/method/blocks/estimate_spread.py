"""How much blocks' estimates vary where noise hides it, near an end of the box.  Post-processing: costs nothing.

What a clamp to the box takes off a mean depends on the variance of the estimates without the clamp.  The variance of
the clamped ones is released; where noise hides it, the model's variance is a guess: rows of another law may vary by a
third or by three times of it.  So the variance is taken as an unknown multiple of the model's, with chances from two
sources: a wide law about 1, and what was released, for the variance of clamped estimates follows from that without the
clamp and from their mean.  Releases of several parties say it together, as far as their rows follow one law.  What is
put back is then averaged over these chances, and its spread is an error.

Shapes: S multiples, F steps between them, m means (of one release in simulations, else one).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.noisy_terms.box_censoring import unclamped_means

MULTIPLES: Final = np.geomspace(1 / 16, 16, 33)
"""Multiples of the model's variance that are tried."""
FACTOR: Final = 2.5
"""By what factor variances of rows of another law differ from the model's: one standard deviation of their logarithm.
The families of benchmarks/wrong_parties.py have .33 to 3."""
BETWEEN: Final = 12
"""Steps between two of MULTIPLES at which chances are worked out."""
PLACES: Final = np.arange((len(MULTIPLES) - 1) * BETWEEN + 1) / BETWEEN
"""Places of these steps, shape (F,): the index among MULTIPLES, in fractions."""
IMPOSSIBLE: Final = -1e9
"""Logarithm of the likelihood of a variance for which no law of the kind is found."""
FURTHEST: Final = 4.0
"""Standard deviations of a block beyond which an end takes nothing off its mean."""
KURTOSIS: Final = 140.0
"""By how much the kurtosis of estimates exceeds 3, times the rows of a block, at most about: a shape has 10 at 20 rows.
The variance between k blocks has the relative variance (kurtosis - 1) / k."""


@dataclass(frozen=True)
class SeenSpread:
    """What a release says of the variance of one block's estimate, each of shape (m,).

    mean, variance: of clamped estimates, as released; noise: standard error of `variance` due to noise.  guess: the
    variance without the clamp by the model, or anything that it is a multiple of.  known: whether it is the model's.
    low, high, power: ends of the box, and the power that is nearly normal.  chance: relative variance of `variance` by
    the chance of rows (`variance_of_spread`).
    """

    mean: Array
    variance: Array
    noise: Array
    guess: Array
    known: bool
    low: float
    high: float
    power: float
    chance: float

    @cached_property
    def evidence(self) -> Array:
        """The log-likelihood of each step of a multiple given the released variance, shape (F, m), up to a constant."""
        clamped = np.exp(_between(np.log(_clamped_variances(self))))
        error = self.noise**2 + self.chance * clamped**2
        found = -((self.variance - clamped) ** 2 / error + np.log(error)) / 2
        # a mean that noise has taken over an end tells nothing of the variance
        inside = (self.mean > self.low) & (self.mean < self.high)
        return np.where(inside, np.where(np.isnan(found), IMPOSSIBLE, found), 0.0)


@dataclass(frozen=True)
class Spreads:
    """Variances that a block's estimate may have without the clamp, and their chances, each of shape (S, m)."""

    variance: Array
    chance: Array

    @property
    def middle(self) -> Array:
        """The geometric mean of the variances by their chances, shape (m,): of a wide law that is not drawn upwards."""
        return np.asarray(np.exp((self.chance * np.log(self.variance)).sum(axis=0)), dtype=np.float64)


def variance_of_spread(blocks: float, rows: float) -> float:
    """Return the relative variance of a variance of so many blocks of so many rows, 0 where these are not public."""
    return (2 + (KURTOSIS / rows if rows else 0.0)) / blocks


def own_spreads(seen: SeenSpread) -> Spreads:
    """Return the variances of one release, by what it says itself."""
    scaled = _scaled([seen])[0]
    return Spreads(_tried(scaled), _chances(scaled.evidence + _before(scaled.known)[:, None]))


def joint_spreads(seen: Sequence[SeenSpread]) -> tuple[Spreads, ...]:
    """Return the variances of several releases of one question: one unknown multiple of their guesses."""
    scaled = _scaled(seen)
    # the noises of releases are independent, so that the logarithms of their likelihoods add up
    whole = sum((one.evidence for one in scaled), _before(scaled[0].known)[:, None])
    chance = _chances(np.asarray(whole, dtype=np.float64))
    return tuple(Spreads(_tried(one), chance) for one in scaled)


def joint_multiple(seen: Sequence[SeenSpread]) -> tuple[Array, Array]:
    """Return the multiple of the model's variance that releases show by themselves, and its standard error."""
    logs = np.asarray(sum(one.evidence for one in seen), dtype=np.float64)
    chance = _chances(logs)
    found = (chance * MULTIPLES[:, None]).sum(axis=0)
    error = np.sqrt((chance * (MULTIPLES[:, None] - found) ** 2).sum(axis=0))
    return np.asarray(found, dtype=np.float64), np.asarray(error, dtype=np.float64)


def _tried(seen: SeenSpread) -> Array:
    return MULTIPLES[:, None] * seen.guess


def _scaled(seen: Sequence[SeenSpread]) -> list[SeenSpread]:
    """Return the releases with guesses of about the right size: those of a model are, others are multiples of it."""
    if all(one.known for one in seen):
        return list(seen)
    most = [np.maximum(one.variance, one.noise) / one.guess for one in seen]
    middle = np.exp(np.mean(np.log(most), axis=0))
    return [replace(one, guess=one.guess * middle, known=False) for one in seen]


def _before(known: bool) -> Array:
    """Return the logarithm of the prior density of each step, up to a constant: flat where no model is known."""
    logs = np.interp(PLACES, np.arange(len(MULTIPLES)), np.log(MULTIPLES))
    return -((logs / math.log(FACTOR)) ** 2) / 2 if known else np.zeros_like(logs)


def _clamped_variances(seen: SeenSpread) -> Array:
    """Return the variance of clamped estimates for each multiple, at the released mean, shape (S, m).

    It is NaN where none is found, next to an end.
    """
    tried = _tried(seen)
    made = tried.copy()
    mean = np.broadcast_to(seen.mean, tried.shape)
    gap = np.minimum(mean - seen.low, seen.high - mean)
    near = (gap > 0) & (gap < FURTHEST * np.sqrt(tried))
    if near.any():
        found = unclamped_means(mean[near], tried[near], seen.low, seen.high, seen.power, free=True)
        made[near] = np.where(np.isnan(found.value), np.nan, found.clamped)
    return made


def _between(values: Array) -> Array:
    """Return values at MULTIPLES, shape (S, m), as a line between each two of them, shape (F, m)."""
    low = np.minimum(PLACES.astype(np.int64), len(MULTIPLES) - 2)
    part = (PLACES - low)[:, None]
    return np.asarray(values[low] * (1 - part) + values[low + 1] * part, dtype=np.float64)


def _chances(logs: Array) -> Array:
    """Return chances of MULTIPLES, shape (S, m), from logarithms of densities at the steps between them, (F, m).

    The chance of a step is divided between the two multiples that it is between, so that the mean of what is a line
    between them is right however narrow the law is.
    """
    weight = np.exp(logs - logs.max(axis=0))
    low = np.minimum(PLACES.astype(np.int64), len(MULTIPLES) - 2)
    part = (PLACES - low)[:, None]
    chance = np.zeros((len(MULTIPLES), weight.shape[1]))
    np.add.at(chance, low, (1 - part) * weight)
    np.add.at(chance, low + 1, part * weight)
    return chance / chance.sum(axis=0)
