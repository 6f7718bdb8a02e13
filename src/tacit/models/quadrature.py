"""Expectations under a law of one column, by sums over points found from the law itself: NumPy, outside of fits.

A coarse walk over the support finds where all but 1e-14 of the probability lies, in a coordinate without ends (log of
positive numbers, logit of shares, asinh on the line); a fine trapezium rule there is exact to rounding for smooth
densities.  Counts are summed one by one.  What does not add up to 1 is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tacit.errors import ModelError
from tacit.models.boxes import Array
from tacit.models.likelihood import Likelihood

COARSE: Final = 8001
FINE: Final = 2001
TAIL: Final = 1e-15
MOST: Final = 2**20
"""Counts are summed up to this one."""
WRONG: Final = 1e-6
"""Largest distance from 1 of what the probabilities add up to."""

Rule = tuple[Array, Array]
Density = Callable[[Array], Array]


def law(model: Likelihood, vector: Array, density: Density, fine: int = FINE) -> Rule:
    """Points and their probabilities, adding up to 1.  ModelError M18 where there are none.

    density: log-densities of an array of rows, shape (n,), at the vector.  fine: how many points on the line.
    """
    support = model.support
    if support is None:
        raise ModelError(
            "expectations need the support of the rows.", code="M18", hint='Model(..., support="positive")', state=None
        )
    points, weights = _counts(density) if support == "count" else _line(model, vector, support, density, fine)
    total = float(weights.sum())
    if not abs(total - 1) < WRONG:
        message = f"the density adds up to {total:.6g} over its support, not to 1."
        raise ModelError(message, code="M18", hint="a constant left out, or another support", state=None)
    return points, weights / total


def _counts(density: Density) -> Rule:
    room = 1024
    while True:
        points = np.arange(room, dtype=np.float64)
        weights = np.exp(density(points))
        if room >= MOST or (weights[-1] * room < TAIL and weights.sum() > 1 - 1e-9):
            return points, weights
        room *= 8


def _line(model: Likelihood, vector: Array, support: Any, density: Density, fine: int) -> Rule:
    place = model.where(model.bind(vector)) or (0.0, 1.0)
    to_x, log_slope, low, high = _map(support, place)

    def mass(s: Array) -> Array:
        with np.errstate(all="ignore"):
            out = np.exp(density(to_x(s)) + log_slope(s))
        return np.where(np.isfinite(out), out, 0.0)

    for number in (COARSE, COARSE, fine):
        s = np.linspace(low, high, number)
        weights = mass(s) * (s[1] - s[0])
        keep = np.flatnonzero(weights > TAIL * weights.sum())
        if not len(keep):
            break
        low, high = s[max(keep[0] - 1, 0)], s[min(keep[-1] + 1, number - 1)]
    weights[[0, -1]] /= 2
    return to_x(s), weights


def _map(support: Any, place: tuple[float, float]) -> tuple[Density, Density, float, float]:
    """A coordinate: rows from it, the log of their slope in it, and where the walk starts and ends."""
    if support == "positive":
        return np.exp, lambda s: s, -700.0, 700.0
    if support == "real":
        center, scale = place
        return (
            lambda s: center + scale * np.sinh(s),
            lambda s: np.log(scale) + np.logaddexp(s, -s) - np.log(2),
            -300.0,
            300.0,
        )
    low, high = (0.0, 1.0) if support == "unit" else support
    if np.isinf(high):
        return lambda s: low + low * np.exp(s), lambda s: np.log(low) + s, -700.0, 700.0
    wide = high - low
    return (
        lambda s: low + wide / (1 + np.exp(-s)),
        lambda s: np.log(wide) - np.logaddexp(0, s) - np.logaddexp(0, -s),
        -700.0,
        36.0,
    )


def drawn(rule: Rule, rows: int, rng: np.random.Generator, discrete: bool) -> Array:
    """Rows drawn from points and probabilities: the points themselves, or between them."""
    points, weights = rule
    if discrete:
        return np.asarray(rng.choice(points, rows, p=weights), dtype=np.float64)
    below = np.concatenate([[0.0], np.cumsum((weights[1:] + weights[:-1]) / 2)])
    return np.asarray(np.interp(rng.random(rows) * below[-1], below, points), dtype=np.float64)
