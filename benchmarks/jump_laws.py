"""Laws of a column on [0, 1] with jumps, and smooth ones, drawn at random: beds with boxes, and hills.

Which beds, how many boxes or hills, and their numbers are drawn with a constant seed, before any band of them was
simulated.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from law_draws import boxes, drawn
from scipy.stats import beta, norm
from smooth_density import Mixture

_RNG: Final = np.random.default_rng(20_31)
JUMPY: Final = 10
SMOOTH: Final = 6


def _smooth() -> Mixture:
    """Return one to three hills, none of them narrow."""
    hills = int(_RNG.integers(1, 4))
    each = [
        beta(drawn(_RNG, 2, 8), drawn(_RNG, 2, 8))
        if _RNG.random() < 0.5
        else norm(drawn(_RNG, 0.15, 0.85), drawn(_RNG, 0.07, 0.2))
        for _ in range(hills)
    ]
    return Mixture(tuple((1 / hills, one) for one in each))


DRAWN: Final = {
    "jumps": {f"jumps {k + 1}": boxes(_RNG, 3) for k in range(JUMPY)},
    "smooth": {f"hills {k + 1}": _smooth() for k in range(SMOOTH)},
}
"""Laws of each kind."""


def described(law: Mixture) -> str:
    """Return a law in words.

    >>> from scipy.stats import uniform
    >>> described(Mixture(((0.75, uniform()), (0.25, norm(0.5, 0.1)))))
    '0.75 uniform(), 0.25 norm(0.5, 0.1)'
    """
    each = [f"{part:.3g} {one.dist.name}({', '.join(f'{x:g}' for x in one.args)})" for part, one in law.parts]
    return ", ".join(each)
