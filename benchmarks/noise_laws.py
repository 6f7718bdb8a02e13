"""Laws of a column on [0, 1] by which the law of noise in a density is judged: hills, skewed, roofs, boxes, spikes.

Their numbers are drawn with a constant seed and were committed before any of them was simulated.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from law_draws import bed, boxes, drawn
from scipy.stats import beta, expon, gamma, lognorm, norm, triang
from smooth_density import Mixture

_RNG: Final = np.random.default_rng(21_03)


def _drawn(low: float, high: float) -> float:
    """Return a number between two, to three digits."""
    return drawn(_RNG, low, high)


def _hills(most: int, narrow: float) -> Mixture:
    """Return up to so many normal and beta hills, none narrower than that."""
    many = int(_RNG.integers(1, most + 1))
    parts = _RNG.dirichlet(np.full(many, 4.0))
    each = [
        beta(_drawn(2, 9), _drawn(2, 9)) if _RNG.random() < 0.4 else norm(_drawn(0.12, 0.88), _drawn(narrow, 0.2))
        for _ in range(many)
    ]
    return Mixture(tuple((float(part), one) for part, one in zip(parts, each, strict=True)))


def _skewed() -> Any:
    """Return a gamma, lognormal or exponential law that begins at 0."""
    kind = int(_RNG.integers(3))
    if kind == 0:
        return gamma(_drawn(1.2, 4), scale=_drawn(0.04, 0.12))
    return lognorm(_drawn(0.4, 1), scale=_drawn(0.12, 0.35)) if kind == 1 else expon(scale=_drawn(0.08, 0.4))


def _on_bed(one: Any) -> Mixture:
    """Return a part of the rows in a law, on a bed."""
    part = _drawn(0.1, 0.5)
    return Mixture(((1 - part, bed(_RNG)), (part, one)))


def _roof() -> Any:
    """Return a triangle of a drawn width and place."""
    width = _drawn(0.3, 0.8)
    return triang(_drawn(0.1, 0.9), loc=_drawn(0, 1 - width), scale=width)


KINDS_OF_NOISE: Final = {
    "last hills": [_hills(2, 0.06) for _ in range(5)],
    "last mixture": [_hills(4, 0.03) for _ in range(4)],
    "last skewed": [Mixture(((1.0, _skewed()),)) for _ in range(4)],
    "last roof": [_on_bed(_roof()) for _ in range(4)],
    "last box": [boxes(_RNG, 2) for _ in range(4)],
    "last spike": [_on_bed(norm(_drawn(0.12, 0.88), _drawn(0.01, 0.05))) for _ in range(4)],
}
LAST: Final = {f"{kind} {k + 1}": one for kind, laws in KINDS_OF_NOISE.items() for k, one in enumerate(laws)}
"""Each law by its name."""
