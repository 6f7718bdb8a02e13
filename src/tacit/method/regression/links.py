"""Links of generalised linear models and their bounded scores, of numbers alone: public.  No data here.

The score of a row is psi x, psi = clamp(v(eta) y - b(eta), -1, 1): bounded, and with mean 0 at the right eta.  A link
says which v and b, and the law of the response that makes the mean 0 (`binary`, `counts`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol, TypeAlias

import numpy as np

from tacit.method.regression.binary_links import BinaryLink
from tacit.method.regression.bounded_score import Array, BoundedScore
from tacit.method.regression.count_links import CountLink
from tacit.rows.coordinates import H
from tacit.rows.piecewise_score import FINE, PIECES, WIDTH

GRID_REACH: Final = {"logistic": 8.0, "probit": 5.0}
"""Largest predictor of the grid."""


class Link(Protocol):
    """One model, with the predictor's grid: eta = center + reach * e / L."""

    @property
    def center(self) -> float:
        """The predictor in the middle of the grid."""
        ...

    @property
    def reach(self) -> float:
        """How far the grid goes from there."""
        ...

    @property
    def max_predictor_sd(self) -> float:
        """Largest standard deviation of the predictor that an aim takes."""
        ...

    @property
    def cut_tolerance(self) -> float:
        """How much more expected error than the least is given for a wider cut."""
        ...

    @property
    def predictor_limits(self) -> tuple[float, float]:
        """Of the mean predictor of an aim."""
        ...

    def mean(self, eta: Array) -> Array:
        """Of the response."""
        ...

    def slope(self, eta: Array) -> Array:
        """Derivative of the mean."""
        ...

    def information(self, eta: Array) -> Array:
        """Fisher's, of eta."""
        ...

    def clamped_mean(self, mean: float) -> float:
        """A mean response that a pilot takes."""
        ...

    def cuts(self) -> tuple[float, ...]:
        """Cuts to choose from, the largest as good as none."""
        ...

    def bounded(self, eta: Array, cut: Array | float) -> BoundedScore:
        """The score cut at `cut`, one for all or one for each predictor."""
        ...

    def relative_slope(self, eta: Array, to: Array, made: BoundedScore) -> Array:
        """Slope of the mean of the score `made` at eta from there to other predictors, as a part of its curve."""
        ...

    def centering(self, eta: Array, v: Array) -> Array:
        """B that makes the mean of psi 0, for v that are given."""
        ...

    def with_grid(self, low: float, high: float, full: float, spread: float) -> Link:
        """The same with a grid for predictors between two, weights of 1 from one on, and responses that vary so."""
        ...

    def from_stored(self, facts: Mapping[str, int]) -> Link:
        """The same as an earlier aim was."""
        ...


def link(model: str, response: tuple[float, float] = (0.0, 1.0)) -> Link:
    """A model by its name; response: its bounds."""
    return CountLink(*response) if model == "poisson" else BinaryLink(model, GRID_REACH[model])


def bounded(link: Link, eta: Array, cut: float) -> BoundedScore:
    """The score cut at `cut`, see `Link.cuts`.

    >>> made = bounded(link("logistic"), np.array([0.0, 2.0]), 0.5)
    >>> np.abs(made.v - made.b).round(3).tolist(), np.abs(made.b).round(3).tolist()
    ([1.0, 0.135], [1.0, 1.0])
    >>> made = bounded(link("poisson", (0, 100)), np.array([1.0]), 3.0)
    >>> made.b.round(3).tolist(), (3 * made.curve).round(2).tolist()  # e counts cut at 3 from the middle
    ([0.889], [2.49])
    """
    return link.bounded(eta, cut)


Polygons: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""Heights of `Bend`'s slope and middle."""
GRID: Final = np.linspace(-1, 1, 4 * PIECES + 1)
HATS: Final[Array] = np.maximum(1 - np.abs(GRID[:, None] - np.linspace(-1, 1, PIECES + 1)) * (PIECES / 2), 0.0)
"""What the heights of a polygon add at each place, shape (4 PIECES + 1, PIECES + 1)."""


def _fit_polygon(curve: Array, weight: Array, unit: float) -> Array:
    best = np.linalg.lstsq(HATS * weight[:, None], curve * weight * (unit / WIDTH), rcond=None)[0]
    return np.rint(best) * WIDTH


def polygons(link: Link, cut: float, clip: int, response: tuple[float, float]) -> tuple[Polygons, tuple[int, ...]]:
    """The curves of a bounded score as integers, and that of weights of products of regressors.

    response: y = response[0] + response[1] (z_m + H).
    """
    eta, unit = link.center + link.reach * GRID, clip * 2.0**FINE
    made = bounded(link, eta, cut)
    weight = 1 / np.maximum(
        made.curve, max(1e-3 * float(made.curve.max()), 1e-9)
    )  # errors count as what they move in the predictor
    slope = _fit_polygon(made.v * response[1], weight, unit)
    v = np.maximum(HATS @ slope / unit / response[1], 1e-12)
    middle = _fit_polygon(link.centering(eta, v) - v * response[0], weight, unit)  # the mean of what is summed is 0
    heights = np.clip(_fit_polygon(made.size, np.ones_like(eta), unit), 0, unit)
    return (_heights(slope), _heights(middle)), _heights(heights)


def _heights(heights: Array) -> tuple[int, ...]:
    return tuple(int(h) for h in heights)


def response_polygons(clip: int) -> Polygons:
    """Psi = clip z_m / H for every predictor."""
    unit = clip * 2**FINE
    return (unit // H,) * (PIECES + 1), (unit,) * (PIECES + 1)
