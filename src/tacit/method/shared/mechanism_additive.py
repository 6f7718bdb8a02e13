"""Additive mechanisms: exact noise on exact integers.  INSIDE the wall.

Definition
    A part is a vector of integers f(table) of public shape.  Released is f(table) + Z, where Z are independent draws of
    the part's law, one for each integer; or one draw of a whole vector, of the spherical law.  The noise of several
    parts may be one draw of the product law.
Sensitivity
    For neighbouring tables f and f', |f - f'| is at most l1 in the l1 norm, and its square at most l2_squared in the l2
    norm.  The part's encoding declares both numbers; its docstring has the proof.
Noise
    Discrete Laplace of scale b >= l1 / epsilon, or round(sigma N(0, 1)) with sigma^2 >= l2_squared / (2 rho), or
    round(X), X of density proportional to exp(-|X| / s) with s^2 >= l2_squared / epsilon^2; or, over all parts j of
    one vector, round(X) with density proportional to exp(-max_j |X_j|_1 / s_j), s_j >= l1_j / epsilon.
    Averaged Laplace: Z_1 + ... + Z_k, independent discrete Laplace draws, each of scale b >= l1 / epsilon.
Cost
    Discrete Laplace: the log-ratio of the laws of f + Z and f' + Z is at most |f - f'|_1 / b <= epsilon.
    Averaged Laplace: f + Z_1 is the release above, at epsilon.  Z_2 + ... + Z_k is independent of the table and of Z_1,
    so that adding it is post-processing, and the whole costs epsilon too.
    Spherical Laplace: f + round(X) = round(f + X), f being integer: post-processing of adding X, whose density changes
    by a factor of at most exp(|f - f'| / s) <= exp(epsilon) [Hardt & Talwar 2010, Theorem 4.1].
    Product Laplace: the same with the norm |x| = max_j |x_j|_1 / s_j of all parts of the vector.  Each part changes by
    at most l1_j in the l1 norm, so that |f - f'| <= max_j l1_j / s_j <= epsilon, whichever parts change together.
    epsilon is that of all parts of the vector, whose shares of the price add up to it.
    Rounded normal: f + round(sigma N) = round(f + sigma N), f being integer: post-processing of the Gaussian
    mechanism, which is rho-zCDP [Bun & Steinke 2016, Proposition 1.6].
Failures
    None: every law is defined on all integers, and sums of Python integers do not overflow.  A sum beyond 64 bits is
    then clamped to the largest 64-bit integer, which is post-processing of the noisy sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from tacit.noise.averaged_laplace import AveragedLaplace
from tacit.noise.exact import MOST, draw
from tacit.noise.exact_products import draw_columns
from tacit.noise.exact_vectors import draw_vector
from tacit.noise.laws import Law, NoiseError
from tacit.noise.product import ProductLaplace
from tacit.noise.spherical import SphericalLaplace
from tacit.release.parts import Cells


def protect(exact: Cells, law: Law) -> Cells:
    """Return noisy integers of one part, in the shape of the exact ones."""
    return protect_parts((exact,), (law,))[0]


def protect_parts(exact: Sequence[Cells], laws: Sequence[Law]) -> tuple[Cells, ...]:
    """Return noisy integers of several parts, in the shape of the exact ones; noise of one vector is drawn once."""
    sizes = [sum(len(cell) for cell in part) for part in exact]
    joint = _of_vector(laws, sizes)
    return tuple(
        _sums(part, joint[j] if j in joint else _noise(law, size))
        for j, (part, law, size) in enumerate(zip(exact, laws, sizes, strict=True))
    )


def _sums(exact: Cells, noise: Sequence[int]) -> Cells:
    """Return exact integers plus noise."""
    # each draw is used once, as the proof asks for independent noises
    fresh = iter(noise)
    sums = (tuple(k + z for k, z in zip(cell, islice(fresh, len(cell)), strict=True)) for cell in exact)
    # the noisy sum is clamped, never the exact one (Failures above)
    return tuple(tuple(max(-MOST, min(MOST, one)) for one in cell) for cell in sums)


def _of_vector(laws: Sequence[Law], sizes: Sequence[int]) -> dict[int, list[int]]:
    """Return the noise of those parts, by place, that have it from one vector."""
    found = {j: law for j, law in enumerate(laws) if isinstance(law, ProductLaplace)}
    if any(law.size != sizes[j] for j, law in found.items()):
        text = "noise of a column in a vector does not protect another number of integers."
        raise NoiseError(text, code="N02", hint="one law for all integers of a part")
    # `draw_columns` refuses columns that are not all of the vector
    return dict(zip(found, draw_columns(list(found.values())), strict=True)) if found else {}


def _several(law: AveragedLaplace, size: int) -> list[int]:
    """Return `size` sums of independent draws; in Python integers, which do not overflow."""
    total = draw(law.one, size).tolist()
    for _ in range(law.draws - 1):
        total = [one + other for one, other in zip(total, draw(law.one, size).tolist(), strict=True)]
    return total


def _noise(law: Law, size: int) -> Sequence[int]:
    if isinstance(law, AveragedLaplace):
        return _several(law, size)
    if not isinstance(law, SphericalLaplace):
        return draw(law, size).tolist()
    # a part of a vector, or several vectors, is not what the part's sensitivity is of
    if law.dimension != size:
        text = f"noise of a vector of {law.dimension} integers does not protect {size}."
        raise NoiseError(text, code="N02", hint="one vector for all integers of a part")
    return draw_vector(law)
