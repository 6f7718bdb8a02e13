"""Exact draws of rounded spherical Laplace vectors, fed by the operating system's random generator.  INSIDE the wall.

A vector is scale * sqrt(W) * N, coordinate by coordinate: |N_i| = F(p_i) with a sign, as in `exact`, and W, chi-squared
with dimension + 1 degrees of freedom, is -2 ln of a product of uniforms, plus one squared normal where the degrees are
odd  [K].  Digits of all uniforms are read until every coordinate's integer is certain:

1. W, and so the radius, lies between bounds that follow from the digits read so far, in integers  [M].
2. A coordinate is known where its interval rounds to one integer at the least and at the largest radius  [J].
3. Otherwise one more word is read: of the coordinate, or of all uniforms of W.

As in `exact`, the draw is a function of an endless stream of fair bits, whatever arithmetic shows first.  Labels in
brackets are sections of PROOF.md, beside this file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import Final, TypeAlias

import numpy as np

from tacit.base.muted import silent
from tacit.noise.curves import BITS, HALF_NORMAL, pieces
from tacit.noise.exact import FEW, Bools, Ints, Words, decide, search, system_words
from tacit.noise.laws import LEAST as LEAST_SCALE
from tacit.noise.laws import MOST as MOST_SCALE
from tacit.noise.spherical import SphericalLaplace
from tacit.noise.tail_bounds import Bounds, log_two, minus_log_of

START: Final = 2
"""Words read of each uniform of W before the first bounds."""
NARROW: Final = 80
"""The radius is known relative to 2**-NARROW where a float may stand for all of it."""
SPARE: Final = 32
"""Binary digits by which a normal is known less well than its uniform relatively is: its cell is seldom uncertain."""
Radius: TypeAlias = tuple[Fraction, Fraction]


def draw_vector(law: SphericalLaplace) -> list[int]:
    """Draw one vector of integers with exactly the law `law`, in units of one grid step; no draw is ever clamped.

    >>> draw_vector(SphericalLaplace(Fraction(1, 1000), 3))
    [0, 0, 0]
    """
    return draw_vectors(law, 1)[0]


def draw_vectors(law: SphericalLaplace, many: int) -> list[list[int]]:
    """Draw independent vectors as `draw_vector` does."""
    with silent():  # a warning could reveal a draw
        # few words are decided in integers alone, which is faster than preparing the polynomials
        return [drawn(law, system_words, floats=many * law.dimension > FEW) for _ in range(many)]


def drawn(law: SphericalLaplace, words: Words, *, floats: bool) -> list[int]:
    """Draw as `draw_vector` does, with the source of random words as an argument: only tests of this file pass one.

    floats: whether floats are tried before integers, which never changes a draw.
    """
    mixture = Mixture.begun(law.dimension + 1, words)
    word = words(law.dimension)
    m = (word >> np.uint64(1)).view(np.int64)
    cells, undecided = _by_floats(m, mixture.radius(law.scale), floats=floats)
    found: list[int] = cells.tolist()
    for i in np.flatnonzero(undecided):
        found[i], mixture = _certain(int(m[i]), mixture, law.scale, words)
    # both signs of 0 are kept, as in the rounded normal [N]
    return [-k if w & 1 else k for k, w in zip(found, word.tolist(), strict=True)]


def _by_floats(m: Ints, radius: Radius, *, floats: bool) -> tuple[Ints, Bools]:
    """[J] Return cells that hold for every radius between both bounds, and where floats, if tried, are undecided."""
    low, high = radius
    if not floats or high > MOST_SCALE or low < LEAST_SCALE or (high - low) * 2**NARROW > low:
        return np.zeros_like(m), np.ones(len(m), dtype=np.bool_)
    return decide(HALF_NORMAL, pieces(HALF_NORMAL), low, m)


def _certain(m: int, mixture: Mixture, scale: Fraction, words: Words) -> tuple[int, Mixture]:
    """[J] Return the cell of radius * F(p), where p begins with the 63 bits of m, and the digits of W read for it."""
    bits = BITS
    while True:
        low, high = (search(HALF_NORMAL, one, m, bits) if m else None for one in mixture.radius(scale))
        if low is None or high is None:
            m, bits = m << 64 | int(words(1)[0]), bits + 64
        elif low == high:
            return low, mixture
        else:  # certain at both ends, and different: W is not known well enough
            mixture = mixture.longer(words)


@dataclass(frozen=True)
class Mixture:
    """[K] The digits of W read so far: each uniform lies in (m, m + 1) 2**-bits.

    uniforms: m of those that are multiplied.  normal: m of the one that makes a squared normal, if there is one.
    """

    uniforms: tuple[int, ...]
    normal: int | None
    bits: int

    @classmethod
    def begun(cls, freedom: int, words: Words) -> Mixture:
        """Return the first digits for a chi-squared law with these degrees of freedom; enough for bounds."""
        made = cls((0,) * (freedom // 2), 0 if freedom % 2 else None, 0)
        while made.bits < 64 * START or made.squares is None:
            made = made.longer(words)
        return made

    def longer(self, words: Words) -> Mixture:
        """Return the same with one more word of each uniform, or more where a normal's cell is uncertain."""
        fresh = [int(w) for w in words(len(self.uniforms) + (self.normal is not None))]
        normal = None if self.normal is None else self.normal << 64 | fresh.pop()
        made = Mixture(tuple(m << 64 | w for m, w in zip(self.uniforms, fresh, strict=True)), normal, self.bits + 64)
        return made if not self.bits or made.squares is not None else made.longer(words)

    def radius(self, scale: Fraction) -> Radius:
        """[M] Return bounds on scale * sqrt(W)."""
        assert self.squares is not None
        low, high, work = *self.squares, self.bits
        # sqrt(x 2**-work) = sqrt(x 2**work) 2**-work
        return scale * Fraction(isqrt(low << work), 1 << work), scale * Fraction(isqrt(high << work) + 1, 1 << work)

    @cached_property
    def squares(self) -> Bounds | None:
        """[M] Return bounds on W, with `bits` bits; None where the digits read so far allow none."""
        # a uniform whose digits are all 0 has no lower bound yet
        if 0 in self.uniforms or self.normal == 0:
            return None
        product = minus_log_of_product(self.uniforms, self.bits)
        if product is None:
            return None
        low, high = 2 * product[0], 2 * product[1]
        if self.normal is not None:
            # of a small p its leading zeros tell nothing of F(p)
            digits = self.normal.bit_length() - SPARE
            near = _closer(self.normal, self.bits)
            k = search(HALF_NORMAL, Fraction(1 << digits), self.normal, self.bits, near) if digits > 0 else None
            if k is None:
                return None
            # the normal lies in [k - 1/2, k + 1/2) 2**-digits; of its square's binary digits `bits` are kept
            low += (max(2 * k - 1, 0) ** 2 << self.bits) >> (2 * digits + 2)
            high += ((2 * k + 1) ** 2 << self.bits >> (2 * digits + 2)) + 1
        return (low, high) if low > 0 else None


def minus_log_of_product(uniforms: Sequence[int], bits: int) -> Bounds | None:
    """[M] Return bounds on -ln of the product of uniforms in (m, m + 1) 2**-bits, with `bits` bits.

    None where a uniform's digits are too few for an upper bound.
    """
    one, halvings = 1 << bits, 0
    least = most = one
    for m in uniforms:
        low, high = least * m, most * (m + 1)
        # moved up by whole halvings, so that the bounds of a long product keep their digits
        up = max(0, 2 * bits - high.bit_length())
        least, most, halvings = (low << up) >> bits, ((high << up) >> bits) + 1, halvings + up
    if not least:
        return None
    two = log_two(bits)
    below, above = minus_log_of(min(most, one), bits), minus_log_of(min(least, one), bits)
    return halvings * two[0] + below[0], halvings * two[1] + above[1]


def _closer(m: int, bits: int) -> Fraction:
    """Return F(m 2**-bits) of the half normal to about 2**-95: a Newton step from a float, where a search starts."""
    v = Fraction(HALF_NORMAL.near(m, bits))
    low, high = HALF_NORMAL.tail(v, bits)
    density = math.sqrt(2 / math.pi) * math.exp(-float(v * v) / 2)
    # far out, where a float holds no density, the search starts from the float
    return v + Fraction(low + high - 2 * m, 2 << bits) / Fraction(density) if density > 1e-100 else v
