"""Laws of a column on [0, 1] by which bands are judged: half of them smooth, half with jumps or kinks.

Their numbers are drawn with a constant seed and were committed before any of them was simulated.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from law_draws import bed, boxes, drawn
from scipy.stats import beta, laplace, norm, triang, uniform
from smooth_density import Mixture

_RNG: Final = np.random.default_rng(20_118)


def _step() -> Mixture:
    """Return a bed with a part that is even from a bound to one jump."""
    end, part = drawn(_RNG, 0.2, 0.8), drawn(_RNG, 0.1, 0.5)
    from_low = bool(_RNG.random() < 0.5)
    return Mixture(((1 - part, bed(_RNG)), (part, uniform(0, end) if from_low else uniform(end, 1 - end))))


def _kink() -> Mixture:
    """Return a bed with a roof, or with a Laplace law."""
    part = drawn(_RNG, 0.3, 0.9)
    width = drawn(_RNG, 0.35, 0.9)
    roof = triang(drawn(_RNG, 0.15, 0.85), loc=drawn(_RNG, 0, 1 - width), scale=width)
    peak = laplace(drawn(_RNG, 0.25, 0.75), drawn(_RNG, 0.05, 0.2))
    return Mixture(((1 - part, bed(_RNG)), (part, roof if _RNG.random() < 0.6 else peak)))


def _hills() -> Mixture:
    """Return one to three hills of drawn weights, none of them narrow."""
    hills = int(_RNG.integers(1, 4))
    each = [
        beta(drawn(_RNG, 1.5, 9), drawn(_RNG, 1.5, 9))
        if _RNG.random() < 0.5
        else norm(drawn(_RNG, 0.15, 0.85), drawn(_RNG, 0.06, 0.25))
        for _ in range(hills)
    ]
    parts = _RNG.dirichlet(np.full(hills, 3.0)).round(3)
    parts[-1] = round(float(1 - parts[:-1].sum()), 3)
    return Mixture(tuple((float(part), one) for part, one in zip(parts, each, strict=True)))


FIRST: Final = {
    "boxes": {f"first boxes {k + 1}": boxes(_RNG, 2) for k in range(5)},
    "steps": {f"first step {k + 1}": _step() for k in range(3)},
    "kinks": {f"first kink {k + 1}": _kink() for k in range(4)},
    "smooth": {f"first hills {k + 1}": _hills() for k in range(12)},
}
LATER: Final = {
    "boxes": {f"later boxes {k + 1}": boxes(_RNG, 2) for k in range(4)},
    "steps": {f"later step {k + 1}": _step() for k in range(4)},
    "kinks": {f"later kink {k + 1}": _kink() for k in range(4)},
    "smooth": {f"later hills {k + 1}": _hills() for k in range(12)},
}
FRESH_BANDS: Final = {kind: FIRST[kind] | LATER[kind] for kind in FIRST}
"""Laws of each kind; `bands_of_densities` and `bands_at_jumps` have others, by which bands were made."""
