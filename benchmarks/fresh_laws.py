"""Laws of a column on [0, 1] by which a density's point estimate is judged, drawn before anything was simulated.

Shapes are written down, their numbers drawn with a constant seed and rounded.  No law is one of another page.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.stats import beta, expon, gamma, lognorm, norm, t, uniform
from smooth_density import Mixture

_RNG: Final = np.random.default_rng(19_11)


def _drawn(low: float, high: float) -> float:
    """Return a number between two, to three digits."""
    return round(float(_RNG.uniform(low, high)), 3)


def _claws(teeth: int) -> Mixture:
    """Return a hill with narrow teeth at drawn places."""
    first, step, width = _drawn(0.1, 0.25), _drawn(0.12, 0.17), _drawn(0.015, 0.03)
    return Mixture(((0.6, norm(0.5, 0.18)), *((0.4 / teeth, norm(first + step * k, width)) for k in range(teeth))))


FRESH: Final = {
    "skewed: gamma": Mixture(((1.0, gamma(_drawn(1.5, 4), scale=_drawn(0.05, 0.1))),)),
    "skewed: lognormal": Mixture(((1.0, lognorm(_drawn(0.4, 0.8), scale=_drawn(0.15, 0.3))),)),
    "slope to a jump at a bound": Mixture(((_drawn(0.4, 0.7), uniform()), (0.4, beta(1, 2)))),
    "three modes": Mixture(
        ((0.3, norm(_drawn(0.1, 0.25), 0.05)), (0.45, norm(_drawn(0.45, 0.55), 0.08)), (0.25, norm(0.82, 0.04)))
    ),
    "spike on a bed": Mixture(((0.85, uniform()), (0.15, norm(_drawn(0.2, 0.8), _drawn(0.008, 0.02))))),
    "heavy tails: t(1.5)": Mixture(((1.0, t(1.5, loc=_drawn(0.3, 0.7), scale=_drawn(0.02, 0.06))),)),
    "claw": _claws(4),
    "beta at the bound": Mixture(((1.0, beta(_drawn(1.05, 1.5), _drawn(5, 12))),)),
    "exponential": Mixture(((1.0, expon(scale=_drawn(0.1, 0.4))),)),
    "normal": Mixture(((1.0, norm(_drawn(0.35, 0.65), _drawn(0.08, 0.18))),)),
    "two far modes": Mixture(
        ((_drawn(0.6, 0.85), norm(0.25, _drawn(0.05, 0.1))), (0.2, norm(0.8, _drawn(0.02, 0.05))))
    ),
    "U": Mixture(((1.0, beta(_drawn(0.6, 0.9), _drawn(0.7, 1))),)),
}
