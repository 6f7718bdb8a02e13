"""Expectations under a law of one column, as sums over quadrature points found from its density (NumPy).

A coarse grid over the support finds where all but 1e-14 of the probability lies, in an unbounded coordinate (log of
positive numbers, logit of shares, asinh on the line); a fine trapezium rule there is exact to rounding for smooth
densities.  Counts are summed one by one.  A density whose integral is not 1 is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.errors import ModelError
from tacit.models.boxes import Array

if TYPE_CHECKING:
    from tacit.models.likelihood import Likelihood

COARSE: Final = 8001
FINE: Final = 2001
TAIL: Final = 1e-15
MOST: Final = 2**20
"""Number of counts, from 0 on, that are summed at most."""
NEAR: Final = 801
"""Points of the coarse grid in a coordinate that is scaled to the law."""
FEW: Final = 20
"""Number of steps across the law above which the coarse grid has located it (used with breaks)."""
NODES: Final = 160
"""Points of a Gauss-Legendre rule between two breaks."""
WRONG: Final = 1e-6
"""Largest accepted distance of the sum of probabilities from 1."""
MANY: Final = 2**16 + 1
"""Points of the grids of `sure_total`, which have no location and width to go by."""
SURE: Final = 1e-4
"""Largest part by which two grids may differ, and that may lie beyond their ends, for a sum to be computed."""

Rule = tuple[Array, Array]
Density = Callable[[Array], Array]


def law(model: Likelihood, vector: Array, density: Density, fine: int = FINE, breaks: tuple[float, ...] = ()) -> Rule:
    """Return points and their probabilities, which add up to 1.

    density: returns the log-densities of rows, shape (n,), at the vector.  fine: number of points of the fine grid.
    breaks: places where the integrand or the density has kinks; the rule is then made of Gauss-Legendre rules between
    them.  ModelError M18 for a model without support, or a density whose integral is not 1.
    """
    support = model.support
    if support is None:
        raise ModelError(
            "expectations need the support of the rows.", code="M18", hint='Model(..., support="positive")', state=None
        )
    points, weights = _counts(density) if support == "count" else _line(model, vector, support, density, fine, breaks)
    total = float(weights.sum())
    if not abs(total - 1) < WRONG:
        message = f"the density adds up to {total:.6g} over its support, not to 1."
        raise ModelError(message, code="M18", hint="a constant left out, or another support", state=None)
    return points, weights / total


def total(support: str, density: Density) -> float:
    """Return the sum of a density over a support: its integral, or its sum over the whole numbers from 0 on.

    >>> round(total("positive", lambda x: -x), 9)
    1.0
    """
    _, weights = _counts(density) if support == "count" else _on_line(_coordinate(support, None), density, FINE, ())
    return float(weights.sum())


def sure_total(support: Any, density: Density) -> float | None:
    """Return the sum of a density over a support to about SURE; None where it cannot be computed.

    A sum above 1 may also be one that has no end: the density is at least that much.

    >>> round(sure_total("positive", lambda x: np.log(2) - x), 4), round(sure_total("unit", lambda x: 0 * x), 4)
    (2.0, 1.0)
    """
    if support == "count":
        points, weights = _counts(density)
        found, beyond = float(weights.sum()), float(weights[-1]) * len(points)
    else:
        at = replace(_coordinate(support, None), steps=MANY)
        found, finer = (float(_on_line(at, density, fine, ())[1].sum()) for fine in (MANY, 2 * MANY - 1))
        if not abs(found - finer) <= SURE * found:
            return None
        ends = np.array([at.low, at.high])
        with np.errstate(all="ignore"):
            # a pole so steep that numbers of the grid end before its mass does
            beyond = float(np.nan_to_num(np.exp(density(at.row(ends)) + at.log_slope(ends))).max()) * (at.high - at.low)
    return None if found == 0 or (found < 1 and beyond > SURE) else found


def _counts(density: Density) -> Rule:
    room = 1024
    while True:
        points = np.arange(room, dtype=np.float64)
        weights = np.exp(density(points))
        # the last probability times the number of points bounds a tail that falls at least as fast as 1 / k**2, roughly
        if room >= MOST or (weights[-1] * room < TAIL and weights.sum() > 1 - 1e-9):
            return points, weights
        room *= 8


def _line(
    model: Likelihood, vector: Array, support: Any, density: Density, fine: int, breaks: tuple[float, ...]
) -> Rule:
    return _on_line(_coordinate(support, model.location_and_width(model.bind(vector))), density, fine, breaks)


def _on_line(at: WalkCoordinate, density: Density, fine: int, breaks: tuple[float, ...]) -> Rule:
    def mass(s: Array) -> Array:
        with np.errstate(all="ignore"):
            out = np.exp(density(at.row(s)) + at.log_slope(s))
        return np.where(np.isfinite(out), out, 0.0)

    low, high = at.low, at.high
    # twice coarse: the first pass over the whole range may meet a narrow law with a few points only
    for number in (at.steps, at.steps, fine):
        s = np.linspace(low, high, number)
        weights = mass(s) * (s[1] - s[0])
        # points with mass, and one more on either side
        keep = np.flatnonzero(weights > TAIL * weights.sum())
        if not len(keep):
            break
        low, high = float(s[max(keep[0] - 1, 0)]), float(s[min(keep[-1] + 1, number - 1)])
        if breaks and s[1] - s[0] < (high - low) / FEW:  # the law is located: the rules between breaks do the rest
            break
    if breaks:
        return _pieces(at, mass, low, high, breaks)
    # the ends of the trapezium rule
    weights[[0, -1]] /= 2
    return at.row(s), weights


def _pieces(at: WalkCoordinate, mass: Density, low: float, high: float, breaks: tuple[float, ...]) -> Rule:
    """Return Gauss-Legendre rules between the breaks; the number of points does not depend on where the breaks are."""
    with np.errstate(all="ignore"):
        # breaks outside the support have no coordinate: they go to the end, where their piece is empty
        inner = np.nan_to_num(at.place(np.array(sorted(breaks))), nan=low, posinf=high, neginf=low)
    ends = np.concatenate([[low], np.clip(inner, low, high), [high]])
    nodes, shares = _legendre()
    half = (ends[1:] - ends[:-1]) / 2
    # shape (nodes, pieces), then piece by piece; the weights below in the same order
    s = ((ends[1:] + ends[:-1]) / 2 + np.outer(nodes, half)).T.ravel()
    return at.row(s), mass(s) * np.outer(half, shares).ravel()


@lru_cache(maxsize=1)
def _legendre() -> Rule:
    """Return Gauss-Legendre nodes and weights on [-1, 1]."""
    nodes, shares = np.polynomial.legendre.leggauss(NODES)
    return np.asarray(nodes, dtype=np.float64), np.asarray(shares, dtype=np.float64)


@dataclass(frozen=True)
class WalkCoordinate:
    """The map from a coordinate s to rows, its inverse, the log of its derivative, and the ends of the coarse grid."""

    row: Density
    place: Density
    log_slope: Density
    low: float
    high: float
    steps: int = COARSE


def _coordinate(support: Any, where: tuple[float, float] | None) -> WalkCoordinate:
    # With a location and width, s enters as sinh(s): even steps at the centre, and tails of any weight are reached.
    center, scale = where or (0.0, 1.0)
    # log of d(scale sinh s)/ds = scale cosh s = (scale / 2) (e^s + e^-s)
    stretch = np.log(scale) - np.log(2)
    if support == "positive":
        if where is None:
            # the logs of all normal floats, nearly: exp(+-700) neither overflows nor vanishes
            return WalkCoordinate(np.exp, np.log, lambda s: s, -700.0, 700.0)
        return WalkCoordinate(
            lambda s: np.exp(center + scale * np.sinh(s)),
            lambda x: np.arcsinh((np.log(x) - center) / scale),
            lambda s: center + scale * np.sinh(s) + stretch + np.logaddexp(s, -s),
            -20.0,
            20.0,
            NEAR,
        )
    if support == "real":
        return WalkCoordinate(
            lambda s: center + scale * np.sinh(s),
            lambda x: np.arcsinh((x - center) / scale),
            lambda s: stretch + np.logaddexp(s, -s),
            -300.0,
            300.0,
        )
    low, high = (0.0, 1.0) if support == "unit" else support
    if np.isinf(high):
        return WalkCoordinate(
            lambda s: low + low * np.exp(s),
            lambda x: np.log((x - low) / low),
            lambda s: np.log(low) + s,
            -700.0,
            700.0,
        )
    wide = high - low
    if where is not None:
        return WalkCoordinate(
            lambda s: low + wide / (1 + np.exp(-center - scale * np.sinh(s))),
            lambda x: np.arcsinh((np.log((x - low) / (high - x)) - center) / scale),
            lambda s: np.log(wide) + stretch + np.logaddexp(s, -s) - _minus_log_pq(center + scale * np.sinh(s)),
            -20.0,
            20.0,
            NEAR,
        )
    return WalkCoordinate(
        lambda s: low + wide / (1 + np.exp(-s)),
        lambda x: np.log((x - low) / (high - x)),
        lambda s: np.log(wide) - _minus_log_pq(s),
        -700.0,
        36.0,  # from logit 37 on the share rounds to 1
    )


def _minus_log_pq(s: Array) -> Array:
    """Return -log(p (1 - p)) of the share p whose logit is s."""
    return np.logaddexp(0, s) + np.logaddexp(0, -s)


def drawn(rule: Rule, rows: int, rng: np.random.Generator, discrete: bool) -> Array:
    """Return rows drawn from a rule: its points if discrete, else interpolated by the inverse distribution function."""
    points, weights = rule
    if discrete:
        return np.asarray(rng.choice(points, rows, p=weights), dtype=np.float64)
    # the distribution function at the points, by trapeziums; times its last value, as it misses half the end weights
    below = np.concatenate([[0.0], np.cumsum((weights[1:] + weights[:-1]) / 2)])
    return np.asarray(np.interp(rng.random(rows) * below[-1], below, points), dtype=np.float64)
