"""Laws of a column on [0, 1] with jumps, and smooth ones, drawn at random: beds with boxes, and hills.

Which beds, how many boxes or hills, and their numbers are drawn with a constant seed, before any band of them was
simulated.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from scipy.stats import beta, norm, uniform
from smooth_density import Mixture

_RNG: Final = np.random.default_rng(20_31)
JUMPY: Final = 10
SMOOTH: Final = 6


def _drawn(low: float, high: float) -> float:
    """Return a number between two, to three digits."""
    return round(float(_RNG.uniform(low, high)), 3)


def _bed() -> Any:
    """Return an even law, a beta law or a hill."""
    kind = int(_RNG.integers(3))
    if kind == 0:
        return uniform()
    return beta(_drawn(1, 4), _drawn(1, 4)) if kind == 1 else norm(_drawn(0.2, 0.8), _drawn(0.12, 0.3))


def _jumpy() -> Mixture:
    """Return a bed with one to three boxes, which begin and end inside."""
    boxes = int(_RNG.integers(1, 4))
    each = [(_drawn(0.05, 0.5) / boxes, uniform(_drawn(0.05, 0.6), _drawn(0.08, 0.35))) for _ in range(boxes)]
    return Mixture(((1 - sum(part for part, _ in each), _bed()), *each))


def _smooth() -> Mixture:
    """Return one to three hills, none of them narrow."""
    hills = int(_RNG.integers(1, 4))
    each = [
        beta(_drawn(2, 8), _drawn(2, 8)) if _RNG.random() < 0.5 else norm(_drawn(0.15, 0.85), _drawn(0.07, 0.2))
        for _ in range(hills)
    ]
    return Mixture(tuple((1 / hills, one) for one in each))


DRAWN: Final = {
    "jumps": {f"jumps {k + 1}": _jumpy() for k in range(JUMPY)},
    "smooth": {f"hills {k + 1}": _smooth() for k in range(SMOOTH)},
}
"""Laws of each kind."""


def described(law: Mixture) -> str:
    """Return a law in words.

    >>> described(Mixture(((0.75, uniform()), (0.25, norm(0.5, 0.1)))))
    '0.75 uniform(), 0.25 norm(0.5, 0.1)'
    """
    each = [f"{part:.3g} {one.dist.name}({', '.join(f'{x:g}' for x in one.args)})" for part, one in law.parts]
    return ", ".join(each)
