"""Laws of a column on [0, 1] by which bands of densities are judged: kinks, jumps, spikes, and smooth ones.

Shapes are written down, their numbers drawn with a constant seed and rounded, before any band of them was simulated.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.stats import beta, laplace, norm, triang, uniform
from smooth_density import Mixture

_RNG: Final = np.random.default_rng(20_27)


def _drawn(low: float, high: float) -> float:
    """Return a number between two, to three digits."""
    return round(float(_RNG.uniform(low, high)), 3)


def _boxed(bed: object, part: float) -> Mixture:
    """Return a bed with a box that begins and ends at drawn places."""
    first = _drawn(0.1, 0.6)
    return Mixture(((1 - part, bed), (part, uniform(first, _drawn(0.1, 0.35)))))


def _spiked(bed: object, width: float) -> Mixture:
    """Return a bed with a drawn part of the rows in a narrow normal law at a drawn place."""
    part = _drawn(0.05, 0.3)
    return Mixture(((1 - part, bed), (part, norm(_drawn(0.15, 0.85), width))))


KINKS: Final = {
    "roof": Mixture(((1.0, triang(_drawn(0.2, 0.8))),)),
    "roof on a bed": Mixture(((0.5, uniform()), (0.5, triang(_drawn(0.3, 0.7), loc=0.2, scale=0.6)))),
    "Laplace law": Mixture(((1.0, laplace(_drawn(0.3, 0.7), _drawn(0.05, 0.15))),)),
    "two roofs": Mixture(((0.6, triang(0.5, loc=0, scale=_drawn(0.4, 0.6))), (0.4, triang(_drawn(0.2, 0.8))))),
}
JUMPS: Final = {
    "small box": _boxed(beta(2, 2), 0.08),
    "box": _boxed(beta(2, 3), 0.25),
    "box on an even bed": _boxed(uniform(), 0.4),
    "cut normal": Mixture(((0.7, norm(0.4, 0.15)), (0.3, uniform(0, _drawn(0.3, 0.7))))),
}
SPIKES: Final = {
    "spike on a hill": _spiked(beta(3, 3), 0.02),
    "narrow spike": _spiked(beta(2, 4), 0.008),
    "spike on an even bed": _spiked(uniform(), 0.03),
}
SMOOTH: Final = {
    "hill": Mixture(((1.0, beta(_drawn(2, 5), _drawn(2, 5))),)),
    "two hills of drawn places": Mixture(((0.5, norm(_drawn(0.2, 0.35), 0.08)), (0.5, norm(_drawn(0.6, 0.75), 0.11)))),
    "slope": Mixture(((0.6, uniform()), (0.4, beta(1, _drawn(1.5, 3))))),
}
BANDED: Final = {"kinks": KINKS, "jumps": JUMPS, "spikes": SPIKES, "smooth": SMOOTH}
"""Laws of each kind."""
