"""The weight of a row in a regression, in integers: a part a / A of a whole row, 0 <= a <= A.  No data here.

A weight multiplies what a row adds.  Of a bounded score psi the product psi a / A is rounded to a whole number, to the
nearest, and halfway to the nearest even one, so that rounding has no direction: not up where few different weights and
scores make many halves.  A rounded product is an integer that is no larger than |psi|: bounds of scores hold for it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
STEPS: Final = 2**14
"""A: a power of two, so that dividing by it is exact; weights fit the 16-bit integers of held coordinates."""
SHIFT: Final = 14
"""Its logarithm."""


def weighed(x: Ints, a: Ints) -> Ints:
    """Reference: return x a / A, rounded to the nearest whole number, halves to even ones.

    >>> weighed(np.array([3, 5, -3, 7]), np.array([STEPS // 2, STEPS // 2, STEPS // 2, STEPS])).tolist()
    [2, 2, -2, 7]
    """
    total = x * a + STEPS // 2
    whole = total // STEPS
    # halfway, and an odd number was taken: the even one is below
    return np.asarray(whole - (total == whole * STEPS) * (whole % 2), dtype=np.int64)
