"""Links of generalised linear models and their bounded scores, of numbers alone: public.  No data here.

The score of a row is psi x, psi = clamp(v(eta) y - b(eta), -1, 1), where v weighs the usual score of the model down so
that it is bounded, and b makes its mean 0 at the right eta: Fisher-consistent [Cantoni & Ronchetti 2001, eq. 1].  A
Bernoulli response needs no clamp, as v alone bounds both of its scores.  Counts have variance `spread` times mean, by
the negative binomial law where that is above 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.linear.bend import FINE, PIECES, WIDTH
from tacit.linear.layout import H
from tacit.untyped import special, stats

Array = NDArray[np.float64]
STEP: Final = 1e-3
"""Distance of the two points of a derivative."""
WIDER: Final = (1.0, 1.2, 1.4, 1.6, 2.0)
"""Cuts that are tried, in units of the score of a response at predictor 0."""
COUNTED: Final = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0)
"""Cuts of counts that are tried, in units of `REACH` standard deviations at the mean count."""
REACH: Final = 3.0
"""Standard deviations of a count that are not cut."""


@dataclass(frozen=True)
class Link:
    """One model, with the predictor's grid: eta = middle + reach * e / L.

    upper: of counts, the largest that the response's bounds allow.
    """

    model: str
    middle: float
    reach: float
    upper: float = 1.0

    @property
    def counts(self) -> bool:
        """Whether the response counts."""
        return self.model == "poisson"

    def mean(self, eta: Array) -> Array:
        """Of the response.

        >>> link("logistic").mean(np.zeros(1)).tolist(), link("poisson", 50).mean(np.zeros(1)).tolist()
        ([0.5], [1.0])
        """
        if self.counts:
            return np.exp(np.minimum(eta, 700.0))
        made = special().expit(eta) if self.model == "logistic" else special().ndtr(eta)
        return np.asarray(made, dtype=np.float64)

    def slope(self, eta: Array) -> Array:
        """Derivative of the mean."""
        if self.counts:
            return self.mean(eta)
        if self.model == "probit":
            return np.exp(-(np.asarray(eta) ** 2) / 2) / math.sqrt(2 * math.pi)
        return self.mean(eta) * self.mean(-np.asarray(eta))

    def information(self, eta: Array, spread: float) -> Array:
        """Fisher's, of eta."""
        if self.counts:
            return self.mean(eta) / spread
        return self.slope(eta) ** 2 / np.maximum(self.mean(eta) * self.mean(-np.asarray(eta)), 1e-300)

    def cuts(self, count: float, spread: float, further: float) -> tuple[float, ...]:
        """Cuts to choose from, the largest as good as none; count: a usual mean.

        further: at least how many times `REACH` standard deviations are not cut.
        """
        if not self.counts:
            return tuple(one * self._plain(np.zeros(1))[0] / 2 for one in WIDER)
        unit = REACH * further * math.sqrt(spread * count)
        return tuple(sorted({min(max(one * unit, 1.0), self.upper) for one in COUNTED}))

    def _plain(self, eta: Array) -> Array:
        """Weight of the likelihood's own score."""
        if self.model != "probit":
            return np.ones_like(eta)
        far = np.clip(eta, -6.0, 6.0)
        return self.slope(far) / (self.mean(far) * self.mean(-far))


def link(model: str, upper: float = 1.0) -> Link:
    """A model by its name; upper: bound of counts."""
    if model == "poisson":
        return Link(model, math.log(upper) - 4.5, 5.5, upper)
    return Link(model, 0.0, 8.0 if model == "logistic" else 5.0)


@dataclass(frozen=True)
class Bounded:
    """A bounded score at given predictors: psi = clamp(v y - b, -1, 1), each shape (k,).

    curve: the derivative of its mean in the true predictor.  size, square: means of |psi| and of psi**2.
    """

    v: Array
    b: Array
    curve: Array
    size: Array
    square: Array


def bounded(link: Link, eta: Array, cut: float, spread: float, v: Array | None = None) -> Bounded:
    """The score cut at `cut`, see `Link.cuts`; v: where it is given already.

    >>> made = bounded(link("logistic"), np.array([0.0, 2.0]), 0.5, 1.0)
    >>> np.abs(made.v - made.b).round(3).tolist(), np.abs(made.b).round(3).tolist()
    ([1.0, 0.135], [1.0, 1.0])
    """
    if link.counts:
        return _counted(link, eta, spread, np.full_like(eta, 1 / cut) if v is None else v)
    mean, plain = link.mean(eta), link._plain(eta)  # pyright: ignore[reportPrivateUsage]
    other = link.mean(-np.asarray(eta))
    v = np.minimum(plain, cut / np.maximum(mean, other)) / cut if v is None else v
    return Bounded(v, v * mean, v * link.slope(eta), 2 * v * mean * other, v**2 * mean * other)


def _counted(link: Link, eta: Array, spread: float, v: Array) -> Bounded:
    mean = link.mean(eta)
    places = _places(link.upper)
    mass = _mass(mean, spread, places)
    b = v * mean
    low, high = v * 0 - 1.0, v * link.upper + 1.0
    for _ in range(36):  # the mean of psi falls in b
        b = (low + high) / 2
        above = (np.clip(v[:, None] * places - b[:, None], -1, 1) * mass).sum(axis=1) > 0
        low, high = np.where(above, b, low), np.where(above, high, b)
    psi = np.clip(v[:, None] * places - b[:, None], -1, 1)
    up, down = (_mass(link.mean(eta + sign * STEP), spread, places) for sign in (1, -1))
    curve = (psi * (up - down)).sum(axis=1) / (2 * STEP)
    size, square = (np.abs(psi) * mass).sum(axis=1), (psi**2 * mass).sum(axis=1)
    return Bounded(v, b, np.maximum(curve, 0.0), size, square)


def _places(upper: float) -> Array:
    """Counts, or middles of groups of large ones, up to the bound."""
    whole = np.arange(0.0, min(upper, 63.0) + 1)
    if upper <= 63:
        return whole
    edges = np.unique(np.rint(np.geomspace(64, upper + 1, 200)))
    return np.concatenate([whole, (edges[:-1] + edges[1:] - 1) / 2])


def _mass(mean: Array, spread: float, places: Array) -> Array:
    """Shape (k, places): of counts at the bound, all that are larger."""
    law: Any = stats().poisson(mean[:, None])
    if spread > 1 + 1e-6:
        law = stats().nbinom(mean[:, None] / (spread - 1), 1 / spread)
    between = (places[1:] + places[:-1]) / 2
    upto = np.asarray(law.cdf(np.floor(between)), dtype=np.float64)
    return np.diff(upto, axis=1, prepend=0.0, append=1.0)


Polygons: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""Heights of `Bend`'s slope and middle."""


def polygons(link: Link, cut: float, spread: float, clip: int, response: tuple[float, float]) -> Polygons:
    """The curves of a bounded score as integers; response: y = response[0] + response[1] (z_m + H)."""
    x = np.linspace(-1, 1, 4 * PIECES + 1)
    eta, unit = link.middle + link.reach * x, clip * 2.0**FINE
    hats = np.maximum(1 - np.abs(x[:, None] - np.linspace(-1, 1, PIECES + 1)) * (PIECES / 2), 0.0)

    made = bounded(link, eta, cut, spread)
    weight = 1 / np.maximum(made.curve, 1e-3 * made.curve.max())  # errors count as what they move in the predictor

    def fitted(curve: Array) -> Array:
        best = np.linalg.lstsq(hats * weight[:, None], curve * weight * (unit / WIDTH), rcond=None)[0]
        return np.rint(best) * WIDTH

    slope = fitted(made.v * response[1])
    v = np.maximum(hats @ slope / unit / response[1], 0.0)
    middle = fitted(bounded(link, eta, cut, spread, v).b - v * response[0])  # the mean of what is summed is 0
    return tuple(int(h) for h in slope), tuple(int(h) for h in middle)


def flat(clip: int) -> Polygons:
    """Psi = clip z_m / H for every predictor."""
    unit = clip * 2**FINE
    return (unit // H,) * (PIECES + 1), (unit,) * (PIECES + 1)
