"""Laws of a column on [0, 1] by which models with kinks are judged: roofs, zigzags, boxes, spikes, and hills.

Their numbers are drawn with a constant seed and were committed before any of them was simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from scipy.stats import beta, norm, triang, uniform
from smooth_density import Mixture

_RNG: Final = np.random.default_rng(20_97)


def _drawn(low: float, high: float) -> float:
    """Return a number between two, to three digits."""
    return round(float(_RNG.uniform(low, high)), 3)


def _roof(width: float = 1.0) -> Any:
    """Return a triangle of a width, at a drawn place."""
    return triang(_drawn(0.15, 0.85), loc=_drawn(0, 1 - width) if width < 1 else 0, scale=width)


def _on_bed(kind: Callable[[], Any]) -> Mixture:
    """Return a part of the rows in a law of a kind, on an even or a beta bed."""
    bed = uniform() if _RNG.random() < 0.5 else beta(_drawn(1, 4), _drawn(1, 4))
    part = _drawn(0.1, 0.6)
    return Mixture(((1 - part, bed), (part, kind())))


def _zigzag() -> Mixture:
    """Return two roofs of drawn widths."""
    return Mixture(((0.5, _roof(_drawn(0.3, 0.7))), (0.5, _roof(_drawn(0.3, 0.9)))))


def _hills() -> Mixture:
    """Return one to three hills, none of them narrow."""
    hills = int(_RNG.integers(1, 4))
    each = [
        beta(_drawn(2, 9), _drawn(2, 9)) if _RNG.random() < 0.5 else norm(_drawn(0.15, 0.85), _drawn(0.06, 0.18))
        for _ in range(hills)
    ]
    return Mixture(tuple((1 / hills, one) for one in each))


KINDS_OF_KINKS: Final = {
    "later roof": [_on_bed(lambda: _roof(_drawn(0.35, 0.9))) for _ in range(4)],
    "later zigzag": [_zigzag() for _ in range(2)],
    "later box": [_on_bed(lambda: uniform(_drawn(0.05, 0.6), _drawn(0.08, 0.35))) for _ in range(2)],
    "later spike": [_on_bed(lambda: norm(_drawn(0.15, 0.85), _drawn(0.015, 0.06))) for _ in range(2)],
    "later hills": [_hills() for _ in range(6)],
}
KINKED: Final = {f"{kind} {k + 1}": one for kind, laws in KINDS_OF_KINKS.items() for k, one in enumerate(laws)}
"""Each law by its name."""
