"""The links of binary responses, logistic and probit, whose scores are weighted down to lie between -1 and 1.

psi = v(eta) y - b(eta) with b = v mean(eta), so that its mean is 0 at the true eta: Fisher-consistent [Cantoni &
Ronchetti 2001, eq. 1].  No data here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from tacit.base.lazy_imports import special
from tacit.method.regression.bounded_scores.bounded_score import Array, BoundedScore

CUT_FACTORS: Final = (1.0, 1.2, 1.4, 1.6, 2.0)
"""Cuts to choose from, in units of the likelihood's score of a response at predictor 0."""
SAME: Final = 1e-6
"""Predictors nearer than this are taken for one."""
MIN_MEAN: Final = 0.02
"""Smallest mean of the response, or of its complement, that a pilot fit assumes."""


class Rising(Protocol):
    """What has a mean of the response, and its slope in the predictor."""

    def mean(self, eta: Array) -> Array:
        """Return the mean of the response at predictors."""
        ...

    def slope(self, eta: Array) -> Array:
        """Return the derivative of the mean."""
        ...


def secant_slope(link: Rising, eta: Array, to: Array) -> Array:
    """Return the mean slope of the response's mean between predictors, the slope itself where they are the same."""
    off = np.abs(to - eta) < SAME
    return np.where(off, link.slope(eta), (link.mean(to) - link.mean(eta)) / np.where(off, 1.0, to - eta))


@dataclass(frozen=True)
class BinaryLink:
    """A binary link with the predictor's grid eta = reach * e / L; fields as in `links.Link`."""

    model: str
    reach: float
    center: float = 0.0
    max_predictor_sd: float = 4.0
    cut_tolerance: float = 1.2
    step_unit: float = 1.0
    unit: float = 1.0
    weighed: bool = False

    def mean(self, eta: Array) -> Array:
        """Return the mean of the response.

        >>> [BinaryLink(model, 8).mean(np.zeros(1)).tolist() for model in ("logistic", "probit")]
        [[0.5], [0.5]]
        """
        made = special().expit(eta) if self.model == "logistic" else special().ndtr(eta)
        return np.asarray(made, dtype=np.float64)

    def slope(self, eta: Array) -> Array:
        """Return the derivative of the mean."""
        if self.model == "probit":
            return np.exp(-(np.asarray(eta) ** 2) / 2) / math.sqrt(2 * math.pi)
        # 1 - p as the mean at -eta: no cancellation where p is near 1
        return self.mean(eta) * self.mean(-np.asarray(eta))

    def information(self, eta: Array) -> Array:
        """Return the Fisher information about eta in one response."""
        # (d mean / d eta)**2 / Var(y); the floor keeps 0 / 0 far out finite
        return self.slope(eta) ** 2 / np.maximum(self.mean(eta) * self.mean(-np.asarray(eta)), 1e-300)

    def clamped_mean(self, mean: float) -> float:
        """Return a mean response, clamped for a pilot fit."""
        return min(max(mean, MIN_MEAN), 1 - MIN_MEAN)

    @property
    def predictor_limits(self) -> tuple[float, float]:
        """Smallest and largest mean of the linear predictor at which a score is evaluated."""
        return -self.reach, self.reach

    def cuts(self) -> tuple[float, ...]:
        """Return the cuts to choose from; the largest bounds almost nothing."""
        # at predictor 0 the likelihood's score v (y - 1/2) has size v / 2
        return tuple(one * self._likelihood_weight(np.zeros(1))[0] / 2 for one in CUT_FACTORS)

    def bounded(self, eta: Array, cut: Array | float) -> BoundedScore:
        """Return the score with the bound `cut`, rescaled to [-1, 1]."""
        mean, plain = self.mean(eta), self._likelihood_weight(eta)
        other = self.mean(-np.asarray(eta))
        # v max(p, 1 - p) is the larger |psi| of the two responses: at most the cut, then rescaled to 1
        v = np.minimum(plain, cut / np.maximum(mean, other)) / cut
        # E|v (y - p)| = 2 v p (1 - p), and E (v (y - p))**2 = v**2 p (1 - p)
        return BoundedScore(v, v * mean, v * self.slope(eta), 2 * v * mean * other, v**2 * mean * other)

    def along_way(self, eta: Array, to: Array, cut: float) -> tuple[Array, Array]:
        """Return the mean of |psi| at eta where the true predictor is `to`, and the mean change of psi per unit of way.

        >>> size, curve = BinaryLink("logistic", 8).along_way(np.zeros(1), np.array([-2.0]), 0.5)
        >>> size.round(2).tolist(), curve.round(2).tolist()
        ([1.0], [0.38])
        """
        made, mean, there = self.bounded(eta, cut), self.mean(eta), self.mean(to)
        return made.v * (there * (1 - mean) + (1 - there) * mean), made.v * secant_slope(self, eta, to)

    def relative_slope(self, eta: Array, to: Array, made: BoundedScore) -> Array:
        """Return 1 everywhere: the mean of |psi| averages the curvatures at both ends of a step already."""
        return np.ones_like(eta)

    def centering(self, eta: Array, v: Array) -> Array:
        """Return the b that makes the mean of clamp(v y - b, -1, 1) 0, for given v."""
        return v * self.mean(eta)

    def with_grid(self, low: float, high: float, full: float, spread: float) -> BinaryLink:
        """Return the link itself: the grid is the same for all coefficients."""
        return self

    def from_stored(self, facts: Mapping[str, int]) -> BinaryLink:
        """Return the link itself: a stored part has no other facts of it."""
        return self

    def stored(self) -> dict[str, int]:
        """Return no facts: the grid is known from the model."""
        return {}

    def _likelihood_weight(self, eta: Array) -> Array:
        """Return the weight v of the likelihood's score v (y - mean)."""
        if self.model != "probit":
            return np.ones_like(eta)
        # phi / (Phi (1 - Phi)) becomes 0 / 0 in floats far out; the grid ends at 5
        far = np.clip(eta, -6.0, 6.0)
        return self.slope(far) / (self.mean(far) * self.mean(-far))
