"""Additive mechanisms: independent exact noise on exact integers.  INSIDE the wall.

Definition
    A part is a vector of integers f(table) with public shape; what leaves is f(table) + Z, Z independent draws of the
    part's law, one for each integer.
Sensitivity
    Declared by the part (l1, l2_squared), proven where the part is made.
Noise
    discrete Laplace of scale b >= l1 / epsilon, or round(sigma N(0, 1)) with sigma^2 >= l2_squared / (2 rho).
Cost
    Discrete Laplace: the log-ratio of the laws of f + Z and f' + Z is at most |f - f'|_1 / b <= epsilon.
    Rounded normal: f + round(sigma N) = round(f + sigma N), f being integer: post-processing of the Gaussian
    mechanism, which is rho-zCDP [Bun & Steinke 2016, Proposition 1.6].
Failures
    None: every law is defined on all integers, and the sum is made of Python integers, which do not overflow.  What
    lies beyond 64 bits is then moved to the last of them: post-processing of the sum, whatever its parts are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from tacit.noise.exact import MOST, draw
from tacit.noise.laws import Law
from tacit.release.parts import Cells


def protect(exact: Cells, law: Law) -> Cells:
    """Exact integers of one part -> noisy integers of the same shape."""
    noise: Sequence[int] = draw(law, sum(len(cell) for cell in exact)).tolist()
    fresh = iter(noise)
    sums = (tuple(k + z for k, z in zip(cell, islice(fresh, len(cell)), strict=True)) for cell in exact)
    return tuple(tuple(max(-MOST, min(MOST, one)) for one in cell) for cell in sums)
