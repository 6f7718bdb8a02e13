"""Links of generalised linear models and their bounded scores, of numbers alone: public.  No data here.

The score of a row is psi x, psi = v(eta) y - b(eta), where v weighs the usual score of the model down so that both
scores of a response of 0 or 1 are within -1 and 1, and b makes its mean 0 at the right eta: Fisher-consistent
[Cantoni & Ronchetti 2001, eq. 1].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.linear.bend import FINE, PIECES, WIDTH
from tacit.linear.layout import H
from tacit.untyped import special

Array = NDArray[np.float64]
WIDER: Final = (1.0, 1.2, 1.4, 1.6, 2.0)
"""Cuts that are tried, in units of the score of a response at predictor 0."""


@dataclass(frozen=True)
class Link:
    """One model, with the predictor's grid: eta = reach * e / L."""

    model: str
    reach: float

    def mean(self, eta: Array) -> Array:
        """Of the response.

        >>> link("logistic").mean(np.zeros(1)).tolist(), link("probit").mean(np.zeros(1)).tolist()
        ([0.5], [0.5])
        """
        made = special().expit(eta) if self.model == "logistic" else special().ndtr(eta)
        return np.asarray(made, dtype=np.float64)

    def slope(self, eta: Array) -> Array:
        """Derivative of the mean."""
        if self.model == "probit":
            return np.exp(-(np.asarray(eta) ** 2) / 2) / math.sqrt(2 * math.pi)
        return self.mean(eta) * self.mean(-np.asarray(eta))

    def information(self, eta: Array) -> Array:
        """Fisher's, of eta."""
        return self.slope(eta) ** 2 / np.maximum(self.mean(eta) * self.mean(-np.asarray(eta)), 1e-300)

    def cuts(self) -> tuple[float, ...]:
        """Cuts to choose from, the largest as good as none."""
        return tuple(one * self._plain(np.zeros(1))[0] / 2 for one in WIDER)

    def _plain(self, eta: Array) -> Array:
        """Weight of the likelihood's own score."""
        if self.model != "probit":
            return np.ones_like(eta)
        far = np.clip(eta, -6.0, 6.0)
        return self.slope(far) / (self.mean(far) * self.mean(-far))


def link(model: str) -> Link:
    """A model by its name."""
    return Link(model, 8.0 if model == "logistic" else 5.0)


@dataclass(frozen=True)
class Bounded:
    """A bounded score at given predictors: psi = v y - b, each shape (k,).

    curve: the derivative of its mean in the true predictor.  size, square: means of |psi| and of psi**2.
    """

    v: Array
    b: Array
    curve: Array
    size: Array
    square: Array


def bounded(link: Link, eta: Array, cut: float) -> Bounded:
    """The score cut at `cut`, see `Link.cuts`.

    >>> made = bounded(link("logistic"), np.array([0.0, 2.0]), 0.5)
    >>> np.abs(made.v - made.b).round(3).tolist(), np.abs(made.b).round(3).tolist()
    ([1.0, 0.135], [1.0, 1.0])
    """
    mean, plain = link.mean(eta), link._plain(eta)  # pyright: ignore[reportPrivateUsage]
    other = link.mean(-np.asarray(eta))
    v = np.minimum(plain, cut / np.maximum(mean, other)) / cut
    return Bounded(v, v * mean, v * link.slope(eta), 2 * v * mean * other, v**2 * mean * other)


Polygons: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""Heights of `Bend`'s slope and middle."""


def polygons(link: Link, cut: float, clip: int, response: tuple[float, float]) -> Polygons:
    """The curves of a bounded score as integers; response: y = response[0] + response[1] (z_m + H)."""
    x = np.linspace(-1, 1, 4 * PIECES + 1)
    eta, unit = link.reach * x, clip * 2.0**FINE
    hats = np.maximum(1 - np.abs(x[:, None] - np.linspace(-1, 1, PIECES + 1)) * (PIECES / 2), 0.0)

    made = bounded(link, eta, cut)
    weight = 1 / np.maximum(made.curve, 1e-3 * made.curve.max())  # errors count as what they move in the predictor

    def fitted(curve: Array) -> Array:
        best = np.linalg.lstsq(hats * weight[:, None], curve * weight * (unit / WIDTH), rcond=None)[0]
        return np.rint(best) * WIDTH

    slope = fitted(made.v * response[1])
    v = np.maximum(hats @ slope / unit / response[1], 0.0)
    middle = fitted(v * (link.mean(eta) - response[0]))  # the mean of what is summed is 0
    return tuple(int(h) for h in slope), tuple(int(h) for h in middle)


def flat(clip: int) -> Polygons:
    """Psi = clip z_m / H for every predictor."""
    unit = clip * 2**FINE
    return (unit // H,) * (PIECES + 1), (unit,) * (PIECES + 1)
