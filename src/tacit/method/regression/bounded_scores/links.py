"""Links of generalised linear models and their bounded scores, from public numbers alone.  No data here.

The score of a row is psi x with psi = clamp(v(eta) y - b(eta), -1, 1): bounded, and with mean 0 at the true eta.  A
link gives v and b, and the law of the response for which the mean is 0 (`binary_links`, `count_links`,
`positive_links`, `robust_links`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, Protocol, TypeAlias

import numpy as np

from tacit.method.regression.bounded_scores.binary_links import BinaryLink
from tacit.method.regression.bounded_scores.bounded_score import Array, BoundedScore
from tacit.method.regression.bounded_scores.count_links import CountLink
from tacit.method.regression.bounded_scores.positive_links import PositiveLink
from tacit.method.regression.bounded_scores.robust_links import RobustLink
from tacit.rows.coordinates import H
from tacit.rows.piecewise_score import FINE, PIECES, WIDTH

GRID_REACH: Final = {"logistic": 8.0, "probit": 5.0}
"""Largest predictor of the grid of each binary model."""


class Link(Protocol):
    """A model's link, with the predictor's grid eta = center + reach * e / L for integers e in [-L, L]."""

    @property
    def center(self) -> float:
        """The predictor in the middle of the grid."""
        ...

    @property
    def reach(self) -> float:
        """Half-width of the grid."""
        ...

    @property
    def max_predictor_sd(self) -> float:
        """Largest standard deviation of the linear predictor at which a score is evaluated."""
        ...

    @property
    def cut_tolerance(self) -> float:
        """Largest ratio of expected error to the least one at which a wider cut is preferred."""
        ...

    @property
    def step_unit(self) -> float:
        """What lengths of steps are compared with, in the predictor."""
        ...

    @property
    def unit(self) -> float:
        """What the response is divided by, and coefficients multiplied with."""
        ...

    @property
    def weighed(self) -> bool:
        """Whether products of regressors have a weight of their own in place of |psi|."""
        ...

    @property
    def predictor_limits(self) -> tuple[float, float]:
        """Smallest and largest mean of the linear predictor at which a score is evaluated."""
        ...

    def mean(self, eta: Array) -> Array:
        """Return the mean of the response."""
        ...

    def slope(self, eta: Array) -> Array:
        """Return the derivative of the mean."""
        ...

    def information(self, eta: Array) -> Array:
        """Return the Fisher information about eta in one response."""
        ...

    def clamped_mean(self, mean: float) -> float:
        """Return a mean response, clamped for a pilot fit."""
        ...

    def cuts(self) -> tuple[float, ...]:
        """Return the cuts to choose from; the largest bounds almost nothing."""
        ...

    def bounded(self, eta: Array, cut: Array | float) -> BoundedScore:
        """Return the score with the bound `cut`, one for all predictors or one for each."""
        ...

    def relative_slope(self, eta: Array, to: Array, made: BoundedScore) -> Array:
        """Return the mean change of the score `made` from true predictors `eta` to `to`, per unit, over its `curve`."""
        ...

    def centering(self, eta: Array, v: Array) -> Array:
        """Return the b that makes the mean of psi 0, for given v."""
        ...

    def with_grid(self, low: float, high: float, full: float, spread: float) -> Link:
        """Return the link with a grid from `low` to `high`, weights of 1 from predictor `full` on, and this spread."""
        ...

    def from_stored(self, facts: Mapping[str, int]) -> Link:
        """Return the link that a released part was measured with, from its stored facts."""
        ...

    def stored(self) -> dict[str, int]:
        """Return the facts that `from_stored` reads."""
        ...


def link(model: str, response: tuple[float, float] = (0.0, 1.0)) -> Link:
    """Return the link of a model; response: bounds of the response."""
    if model == "poisson":
        return CountLink(*response)
    if model == "gamma":
        return PositiveLink(*response, center=math.log(response[1]) - 3)
    if model == "huber":
        return RobustLink(max(map(abs, response)))
    return BinaryLink(model, GRID_REACH[model])


def bounded(link: Link, eta: Array, cut: float) -> BoundedScore:
    """Return the score of a link with the bound `cut`, see `Link.cuts`.

    >>> made = bounded(link("logistic"), np.array([0.0, 2.0]), 0.5)
    >>> np.abs(made.v - made.b).round(3).tolist(), np.abs(made.b).round(3).tolist()
    ([1.0, 0.135], [1.0, 1.0])
    >>> made = bounded(link("poisson", (0, 100)), np.array([1.0]), 3.0)
    >>> made.b.round(3).tolist(), (3 * made.curve).round(2).tolist()  # e counts cut at 3 from the middle
    ([0.889], [2.49])
    """
    return link.bounded(eta, cut)


Polygons: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""Heights of the slope and middle polygons of a `PiecewiseScore`."""
GRID: Final = np.linspace(-1, 1, 4 * PIECES + 1)
HATS: Final[Array] = np.maximum(1 - np.abs(GRID[:, None] - np.linspace(-1, 1, PIECES + 1)) * (PIECES / 2), 0.0)
"""Piecewise linear basis, shape (4 PIECES + 1, PIECES + 1): a polygon of heights h has the values HATS @ h on GRID."""


def _fit_polygon(curve: Array, weight: Array, unit: float) -> Array:
    # rounded to multiples of WIDTH, so that the slope of every piece is an integer
    best = np.linalg.lstsq(HATS * weight[:, None], curve * weight * (unit / WIDTH), rcond=None)[0]
    return np.rint(best) * WIDTH


def polygons(link: Link, cut: float, clip: int, response: tuple[float, float]) -> tuple[Polygons, tuple[int, ...]]:
    """Return the slope and middle polygons of a bounded score in integers, and the polygon of the products' weights.

    response: y = response[0] + response[1] (z_m + H).
    """
    eta, unit = link.center + link.reach * GRID, clip * 2.0**FINE
    made = bounded(link, eta, cut)
    weight = 1 / np.maximum(
        made.curve, max(1e-3 * float(made.curve.max()), 1e-9)
    )  # errors count as what they move in the predictor
    # v y - b in terms of z_m + H: slope v response[1], middle b - v response[0]; a v that falls with the mean is to be
    # right in proportion to itself
    slope = _fit_polygon(made.v * response[1], 1 / made.v if isinstance(link, PositiveLink) else weight, unit)
    # the v that is summed, after fitting and rounding: b is centred for it, not for the ideal curve
    v = np.maximum(HATS @ slope / unit / response[1], 1e-12)
    middle = _fit_polygon(link.centering(eta, v) - v * response[0], weight, unit)  # the mean of what is summed is 0
    heights = np.clip(_fit_polygon(made.size, np.ones_like(eta), unit), 0, unit)
    return (_heights(slope), _heights(middle)), _heights(heights)


def _heights(heights: Array) -> tuple[int, ...]:
    return tuple(int(h) for h in heights)


def response_polygons(clip: int) -> Polygons:
    """Return the polygons of psi = clip z_m / H, which does not depend on the predictor."""
    unit = clip * 2**FINE
    return (unit // H,) * (PIECES + 1), (unit,) * (PIECES + 1)
