"""Additive mechanisms: independent exact noise on exact integers.  INSIDE the wall.

Definition
    A part is a vector of integers f(table) of public shape.  Released is f(table) + Z, where Z are independent draws of
    the part's law, one for each integer.
Sensitivity
    For neighbouring tables f and f', |f - f'| is at most l1 in the l1 norm, and its square at most l2_squared in the l2
    norm.  The part's encoding declares both numbers; its docstring has the proof.
Noise
    Discrete Laplace of scale b >= l1 / epsilon, or round(sigma N(0, 1)) with sigma^2 >= l2_squared / (2 rho).
Cost
    Discrete Laplace: the log-ratio of the laws of f + Z and f' + Z is at most |f - f'|_1 / b <= epsilon.
    Rounded normal: f + round(sigma N) = round(f + sigma N), f being integer: post-processing of the Gaussian
    mechanism, which is rho-zCDP [Bun & Steinke 2016, Proposition 1.6].
Failures
    None: every law is defined on all integers, and sums of Python integers do not overflow.  A sum beyond 64 bits is
    then clamped to the largest 64-bit integer, which is post-processing of the noisy sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from tacit.noise.exact import MOST, draw
from tacit.noise.laws import Law
from tacit.release.parts import Cells


def protect(exact: Cells, law: Law) -> Cells:
    """Return noisy integers of one part, in the shape of the exact ones."""
    noise: Sequence[int] = draw(law, sum(len(cell) for cell in exact)).tolist()
    # each draw is used once, as the proof asks for independent noises
    fresh = iter(noise)
    sums = (tuple(k + z for k, z in zip(cell, islice(fresh, len(cell)), strict=True)) for cell in exact)
    # the noisy sum is clamped, never the exact one (Failures above)
    return tuple(tuple(max(-MOST, min(MOST, one)) for one in cell) for cell in sums)
