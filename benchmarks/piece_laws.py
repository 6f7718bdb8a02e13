"""Laws of a column on [0, 1] by which pieces and weights of models are judged: boxes, spikes, roofs on beds, and hills.

Their numbers are drawn with a constant seed and were committed before any of them was simulated.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from scipy.stats import beta, norm, triang, uniform
from smooth_density import Mixture

_RNG: Final = np.random.default_rng(20_81)


def _drawn(low: float, high: float) -> float:
    """Return a number between two, to three digits."""
    return round(float(_RNG.uniform(low, high)), 3)


def _on_bed(kind: Any) -> Mixture:
    """Return a part of the rows in a law of a kind, on an even or a beta bed."""
    bed = uniform() if _RNG.random() < 0.5 else beta(_drawn(1, 4), _drawn(1, 4))
    part = _drawn(0.1, 0.5)
    return Mixture(((1 - part, bed), (part, kind())))


def _hills() -> Mixture:
    """Return one or two hills."""
    hills = int(_RNG.integers(1, 3))
    return Mixture(tuple((1 / hills, beta(_drawn(2, 9), _drawn(2, 9))) for _ in range(hills)))


KINDS_OF_PIECES: Final = {
    "new box": [_on_bed(lambda: uniform(_drawn(0.05, 0.6), _drawn(0.08, 0.35))) for _ in range(3)],
    "new spike": [_on_bed(lambda: norm(_drawn(0.15, 0.85), _drawn(0.015, 0.05))) for _ in range(2)],
    "new roof": [_on_bed(lambda: triang(_drawn(0.3, 0.7), loc=_drawn(0, 0.3), scale=0.6)) for _ in range(2)],
    "new hill": [_hills() for _ in range(3)],
}
PIECED: Final = {f"{kind} {k + 1}": one for kind, laws in KINDS_OF_PIECES.items() for k, one in enumerate(laws)}
"""Each law by its name."""
