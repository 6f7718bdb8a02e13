"""Ends of the sets of parameters that a test accepts: of many terms at once, each between its estimate and a bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.total_errors.error_laws import normal_score

FINE: Final = 2.0**-32
"""An end is found to this part of the range of the parameter."""
MOST: Final = 200
"""Steps at most; about ten are taken."""
TINY: Final = 1e-300
"""An excess that is above 0 whatever was rounded."""


def accepted(
    p_value: Callable[[Array], Array], inside: Array, low: float, high: float, alpha: float | Array
) -> tuple[Array, Array]:
    """Return the ends of {m : p_value(m) >= alpha} within [low, high]; `inside`, shape (m,), has p-value 1.

    An end is the bound itself where that is accepted, else an accepted value within (high - low) FINE of one that is
    not.
    """
    least = normal_score(alpha)

    def excess(m: Array) -> Array:
        # in standard deviations, which grow nearly in proportion to the distance from the estimate
        p = p_value(m)
        return np.where(p >= alpha, np.minimum(normal_score(p) - least, 0.0), np.maximum(normal_score(p) - least, TINY))

    return ends(excess, inside, low, high)


def ends(excess: Callable[[Array], Array], inside: Array, low: float, high: float) -> tuple[Array, Array]:
    """Return the ends of {m : excess(m) <= 0} within [low, high], as `accepted` does; `inside` counts as one of it.

    Where `inside` is only taken to be one, as a corrected estimate is, its excess tells nothing: brackets are halved
    until an accepted value is met.
    """
    fine = (high - low) * FINE
    within = excess(inside)
    within = np.where(within > 0, -np.inf, np.minimum(within, -TINY))
    return _end(excess, inside, within, low, fine), _end(excess, inside, within, high, fine)


def _end(excess: Callable[[Array], Array], inside: Array, within: Array, bound: float, fine: float) -> Array:
    """Return the end between `inside`, of excess `within`, and a bound: [Chandrupatla 1997], always in a bracket.

    a: the last value tried.  b: the other end of the bracket.  c: the value that left it.
    """
    a = np.full_like(inside, bound)
    fa = excess(a)
    whole = fa <= 0
    b, fb = inside.astype(np.float64), within
    t = np.full_like(a, 0.5)
    for _ in range(MOST):
        width = np.abs(b - a)
        if (whole | (width <= fine)).all():
            break
        x = a + t * (b - a)
        fx = excess(x)
        same = (fx > 0) == (fa > 0)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        t = _next(a, b, c, fa, fb, fc, fine)
    return np.where(whole, bound, np.where(fa <= 0, a, b))


def _next(a: Array, b: Array, c: Array, fa: Array, fb: Array, fc: Array, fine: float) -> Array:
    """Return where between a (0) and b (1) to look next: by inverse quadratic interpolation where it is safe."""
    with np.errstate(all="ignore"):
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        # a step of at least half of what is fine enough, so that both ends of the bracket move
        least = np.minimum(fine / (2 * np.abs(b - a)), 0.5)
    return np.where(safe & np.isfinite(t), np.clip(t, least, 1 - least), 0.5)
