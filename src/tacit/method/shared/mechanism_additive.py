"""Additive mechanisms: exact noise on exact integers.  INSIDE the wall.

Definition
    A part is a vector of integers f(table) of public shape.  Released is f(table) + Z, where Z are independent draws of
    the part's law, one for each integer; or one draw of a whole vector, of the spherical law.
Sensitivity
    For neighbouring tables f and f', |f - f'| is at most l1 in the l1 norm, and its square at most l2_squared in the l2
    norm.  The part's encoding declares both numbers; its docstring has the proof.
Noise
    Discrete Laplace of scale b >= l1 / epsilon, or round(sigma N(0, 1)) with sigma^2 >= l2_squared / (2 rho), or
    round(X), X of density proportional to exp(-|X| / s) with s^2 >= l2_squared / epsilon^2.
Cost
    Discrete Laplace: the log-ratio of the laws of f + Z and f' + Z is at most |f - f'|_1 / b <= epsilon.
    Spherical Laplace: f + round(X) = round(f + X), f being integer: post-processing of adding X, whose density changes
    by a factor of at most exp(|f - f'| / s) <= exp(epsilon) [Hardt & Talwar 2010, Theorem 4.1].
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
from tacit.noise.exact_vectors import draw_vector
from tacit.noise.laws import Law, NoiseError
from tacit.noise.spherical import SphericalLaplace
from tacit.release.parts import Cells


def protect(exact: Cells, law: Law) -> Cells:
    """Return noisy integers of one part, in the shape of the exact ones."""
    noise = _noise(law, sum(len(cell) for cell in exact))
    # each draw is used once, as the proof asks for independent noises
    fresh = iter(noise)
    sums = (tuple(k + z for k, z in zip(cell, islice(fresh, len(cell)), strict=True)) for cell in exact)
    # the noisy sum is clamped, never the exact one (Failures above)
    return tuple(tuple(max(-MOST, min(MOST, one)) for one in cell) for cell in sums)


def _noise(law: Law, size: int) -> Sequence[int]:
    if not isinstance(law, SphericalLaplace):
        return draw(law, size).tolist()
    # a part of a vector, or several vectors, is not what the part's sensitivity is of
    if law.dimension != size:
        text = f"noise of a vector of {law.dimension} integers does not protect {size}."
        raise NoiseError(text, code="N02", hint="one vector for all integers of a part")
    return draw_vector(law)
