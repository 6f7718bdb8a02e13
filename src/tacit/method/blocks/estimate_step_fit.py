"""Test of a law's fit by its clipped scores: their variances and mean products; and what another law does to a step.

Under the law the variance of a clipped score at the released parameters is known, and so is the mean product of two;
where rows follow another, they are others.  Variances are released with the means and cost nothing.  They hardly show
that rows are skewed where the law is symmetric, in which the scores of place and scale are uncorrelated: products do,
at a small part of the price (`PRODUCTS`).

Under another law the solution of a step depends on its pilot.  With T(theta0) the solution for rows without number or
noise, the pilot's error e enters as T' e, where T' = 0 under the law.  T' cannot be known from the release.  On designs
of misfit its norm, in coordinates in which the information is 1, was 0.07 to 0.32 (`benchmarks/wrong_laws.py --part
pull`): where the test rejects, the errors allow for PULL in every direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.noisy_terms.noisy_moments import integers, moments
from tacit.estimates.total_errors.error_laws import normal_part, split, tail
from tacit.method.blocks.one_step_design import SCORE
from tacit.models.scores import DRAWS
from tacit.release.document import Released
from tacit.release.parts import Grid, Part

if TYPE_CHECKING:
    from tacit.models.scores import ScoreLaw
    from tacit.noise.laws import Law

REJECTED: Final = 1e-3
"""Probability below which a variance, or product, is not the law's: by chance in one of 300 with two scores."""
PULL: Final = 1 / 3
"""Part of the pilot's error that a step is taken to keep where the law does not hold."""
STEP: Final = 0.05
"""Step of the derivative of a variance, in standard deviations of one row's estimate."""


@dataclass(frozen=True)
class StepFit:
    """What was released of scores beside what the law says of it, each in words.

    z: the differences in standard errors; chance: the probability of one as large under the law, by the law of noise
    itself, whose tails may be longer than normal ones.
    """

    words: tuple[str, ...]
    z: Array
    chance: Array

    @property
    def rejected(self) -> bool:
        """Whether rows follow another law."""
        return bool(self.chance.min() < REJECTED)

    @property
    def found(self) -> str:
        """What is not as the law has it, in words: the least alike."""
        worst = int(np.lexsort((-np.abs(self.z), self.chance))[0])  # of chances that underflowed, the farthest
        return f"{self.words[worst]}, {self.z[worst]:+.1f} standard errors"

    @property
    def note(self) -> str:
        """The result in words."""
        if not self.rejected:
            return f"test of fit: the variances of scores are those of the law (the least alike: {self.found})"
        return (
            f"test of fit: {self.found}: rows follow another law.  What is estimated is where its "
            "clipped scores are those of the rows, near the limit of the maximum-likelihood estimate but not it, and "
            'standard errors are widened for the pilot; blocks (method="tuned") estimate that limit itself'
        )


def score_parts(release: Released, p: int) -> tuple[Part, ...]:
    """Return the parts of scores, one for each of p parameters."""
    return _of_scores(release)[:p]


def _of_scores(release: Released) -> tuple[Part, ...]:
    """Return the parts of scores, then those of their products, which come last in a release (`one_step_design`)."""
    return tuple(part for part in release.parts if part.grid is not None and part.grid.kind == SCORE.kind)


def fit_of_step(release: Released, law: ScoreLaw, theta: Array, noise: Array) -> StepFit | None:
    """Return the test at the released parameters; noise: their covariance due to noise, shape (p, p).

    None for persons, whose means of scores have a variance that the law does not tell, and for too few rows.
    """
    names, model, parts = law.scaling.model.names, law.scaling.model, _of_scores(release)
    p = len(names)
    found = [_moments(release, part) for part in parts]
    if release.unit is not None or any(one is None for one in found):
        return None
    made = cast("list[_Moments]", found)
    theta = np.clip(theta, model.lower, model.upper)
    expected, fourth = law.moments(theta)
    told = np.array([one.variance for one in made[:p]])
    words = [
        f"the variance of a score is {a / max(b, 1e-300):.2f} times the law's ({name})"
        for name, a, b in zip(names, told, expected, strict=True)
    ]
    spread, own = np.maximum(fourth - expected**2, 0.0), [one.variance_noise for one in made[:p]]
    slope = _slope(law, theta, lambda at: law.moments(at)[0])
    if len(made) > p:
        product, variance = law.products(theta)
        mean = np.array([one.mean for one in made[p:]])
        words += [
            f"the mean product of two scores is {a:.2f} where the law has {b:.2f} ({' and '.join(pair)})"
            for pair, a, b in zip(combinations(names, 2), mean, product, strict=True)
        ]
        told, expected = np.append(told, mean), np.append(expected, product)
        spread, own = np.append(spread, variance), [*own, *(one.mean_noise for one in made[p:])]
        slope = np.concatenate([slope, _slope(law, theta, lambda at: law.products(at)[0])])
    # a law without a known support is known by draws
    drawn = 1 / DRAWS if model.support is None else 0.0
    sampling = spread * (1 / np.array([one.size for one in made]) + drawn)
    # parameters that the noise moved expect other ones; that of sampling moves both alike
    moved = np.einsum("ij,jk,ik->i", slope, noise, slope)
    return StepFit(tuple(words), *_differences(told - expected, sampling, own, moved, normal_part(parts[0].law)))


def _differences(
    far: Array, sampling: Array, own: Sequence[_Noise], moved: Array, normal: float
) -> tuple[Array, Array]:
    """Return differences in standard errors and their probabilities.

    sampling, moved: variances of sampling and of what noise moved; own: the noise of each number; normal: the normal
    part of noise.  What is moved is taken for one noise, the sum of several: its tail is the longest of such sums.
    """
    s = np.sqrt(sampling + np.array([one.normal for one in own]) ** 2 + moved * normal)
    b = np.column_stack([np.array([one.scales for one in own]), np.sqrt(moved * (1 - normal) / 2)])
    error = np.maximum(np.sqrt(s**2 + 2 * (b**2).sum(axis=1)), 1e-300)
    return far / error, 2 * tail(np.abs(far), np.maximum(s, 1e-300), b)


@dataclass(frozen=True)
class _Noise:
    """A number's noise: the standard deviation of its normal part and the scales of its Laplace parts, shape (k,)."""

    normal: float
    scales: Array


@dataclass(frozen=True)
class _Moments:
    """Released mean and variance of a clipped score, or product, the noise of both, and the rows' number."""

    mean: float
    mean_noise: _Noise
    variance: float
    variance_noise: _Noise
    size: float


def _moments(release: Released, part: Part) -> _Moments | None:
    """Return what a part tells; None for too few rows."""
    noisy = moments(part.form, part.parameters, integers(part), release.rows)
    size, half = float(noisy.size[0]), cast(Grid, part.grid).upper
    if size < 2:
        return None
    m, q = float(noisy.total[0]) / size, float(noisy.square[0]) / size
    of_mean = (noisy.loadings[1] - m * noisy.loadings[0]) / size
    of_variance = (noisy.loadings[2] - 2 * m * noisy.loadings[1] - (q - 2 * m**2) * noisy.loadings[0]) / size
    mean_noise = _noise(part.law, of_mean * half)
    return _Moments(m * half, mean_noise, (q - m**2) * half**2, _noise(part.law, of_variance * half**2), size)


def _noise(law: Law, weights: Array) -> _Noise:
    """Return the law of weighted noises, weights of shape (k,)."""
    s, b = split(law, weights)
    return _Noise(float(s), b)


def _slope(law: ScoreLaw, theta: Array, of: Callable[[Array], Array]) -> Array:
    """Return the derivative of what the law says in the parameters, rows of it, columns of parameters."""
    sizes: Array = STEP * np.sqrt((law.scaling.root**2).sum(axis=0))
    model = law.scaling.model
    # within the box, beyond which there may be no law
    ups, downs = (np.clip(theta + sign * np.diag(sizes), model.lower, model.upper) for sign in (1, -1))
    found = [(of(up) - of(down)) / max(float((up - down).sum()), 1e-300) for up, down in zip(ups, downs, strict=True)]
    return np.nan_to_num(np.array(found).T)


def kept_of_pilot(law: ScoreLaw, pilot: Array) -> Array:
    """Return the covariance that PULL of the pilot's error adds, shape (p, p); pilot: its variances, shape (p,)."""
    root = law.scaling.root
    # in coordinates of information 1, an error d of the parameters is R'^-1 d
    turn = np.linalg.inv(root.T)
    worst = float(np.linalg.eigvalsh((turn * pilot) @ turn.T)[-1])
    return PULL**2 * worst * root.T @ root
