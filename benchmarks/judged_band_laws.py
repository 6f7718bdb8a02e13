"""Laws of a column on [0, 1] by which narrower bands are judged once: hills, skewed, mixed, kinks, jumps and spikes.

Their numbers are drawn with a constant seed and were committed before any of them was simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from law_draws import bed, boxes, drawn
from scipy.stats import beta, expon, gamma, laplace, lognorm, norm, triang, uniform, weibull_min
from smooth_density import Mixture

_RNG: Final = np.random.default_rng(20_181)


def _hill() -> Any:
    """Return a beta law or a normal one, none of them narrow."""
    if _RNG.random() < 0.5:
        return beta(drawn(_RNG, 1.5, 9), drawn(_RNG, 1.5, 9))
    return norm(drawn(_RNG, 0.15, 0.85), drawn(_RNG, 0.06, 0.25))


def _skewed() -> Any:
    """Return a law with a long tail to the right."""
    kind = int(_RNG.integers(4))
    if kind == 0:
        return gamma(drawn(_RNG, 2, 5), 0, drawn(_RNG, 0.05, 0.12))
    if kind == 1:
        return lognorm(drawn(_RNG, 0.35, 0.7), 0, drawn(_RNG, 0.15, 0.35))
    if kind == 2:
        return weibull_min(drawn(_RNG, 1.4, 2.5), 0, drawn(_RNG, 0.25, 0.5))
    return expon(0, drawn(_RNG, 0.15, 0.4))


def _hills() -> Mixture:
    """Return one hill to three, of drawn weights."""
    parts = _RNG.dirichlet(np.full(int(_RNG.integers(1, 4)), 3.0)).round(3)
    return Mixture(tuple((float(part), _hill()) for part in parts))


def _long() -> Mixture:
    """Return a skewed law."""
    return Mixture(((1.0, _skewed()),))


def _mixed() -> Mixture:
    """Return a skewed law with a hill or an even law."""
    part = drawn(_RNG, 0.3, 0.8)
    return Mixture(((part, _skewed()), (1 - part, _hill() if _RNG.random() < 0.6 else uniform())))


def _kink() -> Mixture:
    """Return a bed with a roof, or with a Laplace law."""
    part, width = drawn(_RNG, 0.3, 0.9), drawn(_RNG, 0.35, 0.9)
    if _RNG.random() < 0.6:
        return Mixture(
            ((1 - part, bed(_RNG)), (part, triang(drawn(_RNG, 0.15, 0.85), drawn(_RNG, 0, 1 - width), width)))
        )
    return Mixture(((1 - part, bed(_RNG)), (part, laplace(drawn(_RNG, 0.25, 0.75), drawn(_RNG, 0.05, 0.2)))))


def _boxes() -> Mixture:
    """Return a bed with one box or two."""
    return boxes(_RNG, 2)


def _step() -> Mixture:
    """Return a bed with a part that is even from a bound to one jump."""
    end, part = drawn(_RNG, 0.2, 0.8), drawn(_RNG, 0.1, 0.5)
    from_low = bool(_RNG.random() < 0.5)
    return Mixture(((1 - part, bed(_RNG)), (part, uniform(0, end) if from_low else uniform(end, 1 - end))))


def _spike() -> Mixture:
    """Return a bed with a part of the rows in a narrow normal law."""
    part = drawn(_RNG, 0.04, 0.2)
    return Mixture(((1 - part, bed(_RNG)), (part, norm(drawn(_RNG, 0.15, 0.85), drawn(_RNG, 0.008, 0.04)))))


def _many(name: str, law: Callable[[], Mixture], number: int) -> dict[str, Mixture]:
    """Return so many laws of a kind."""
    return {f"judged {name} {k + 1}": law() for k in range(number)}


JUDGED: Final = {
    "hills": _many("hills", _hills, 5),
    "skewed": _many("skewed", _long, 4),
    "mixtures": _many("mixture", _mixed, 4),
    "kinks": _many("kink", _kink, 6),
    "boxes": _many("boxes", _boxes, 6),
    "steps": _many("step", _step, 5),
    "spikes": _many("spike", _spike, 3),
}
"""Laws of each kind."""
SMOOTH: Final = ("hills", "skewed", "mixtures")
JUMPY: Final = ("boxes", "steps")
"""Kinds that are smooth, and that have jumps."""
