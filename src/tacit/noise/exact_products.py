"""Exact draws of rounded product Laplace vectors, fed by the operating system's random generator.  INSIDE the wall.

Column j of a vector is scale_j * R * U_j, coordinate by coordinate.  R is Gamma with dimension + 1 degrees: -ln of a
product of as many uniforms.  U_j is uniform in an l1 ball: the gaps between k sorted uniforms, with fair signs  [H].
Digits of all uniforms are read until every coordinate's integer is certain, in integers alone:

1. R lies between bounds that follow from the digits read so far  [M].
2. So does each gap, as sorted uniforms lie between their sorted ends  [O].
3. A coordinate is known where the product of both rounds to one integer at both ends  [I].

As in `exact`, the draw is a function of an endless stream of fair bits.  Labels in brackets are sections of PROOF.md,
beside this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

import numpy as np

from tacit.base.muted import silent
from tacit.noise.exact import Words, system_words
from tacit.noise.exact_vectors import minus_log_of_product
from tacit.noise.laws import NoiseError
from tacit.noise.product import ProductLaplace
from tacit.noise.tail_bounds import Bounds

START: Final = 2
"""Words read of each uniform before the first bounds."""


def draw_columns(laws: Sequence[ProductLaplace]) -> list[list[int]]:
    """Draw one vector with exactly these laws of its columns: the integers of each; no draw is ever clamped.

    Raises NoiseError N02 where the columns are not those of one whole vector.

    >>> draw_columns([ProductLaplace(Fraction(1, 1000), 2, 3), ProductLaplace(Fraction(1, 1000), 1, 3)])
    [[0, 0], [0]]
    """
    return draw_many(laws, 1)[0]


def draw_many(laws: Sequence[ProductLaplace], many: int) -> list[list[list[int]]]:
    """Draw independent vectors as `draw_columns` does."""
    whole = sum(law.size for law in laws)
    # the noise of some columns of a vector, without the others', protects less than its price says
    if not laws or any(law.dimension != whole for law in laws):
        text = f"noise of columns with {whole} integers is not that of one vector."
        raise NoiseError(text, code="N02", hint="the laws of all columns of one vector")
    with silent():  # a warning could reveal a draw
        return [drawn(laws, system_words) for _ in range(many)]


def drawn(laws: Sequence[ProductLaplace], words: Words) -> list[list[int]]:
    """Draw as `draw_columns` does, with the source of random words as an argument: only tests of this file pass one."""
    size = laws[0].dimension
    negative = [bool(word & np.uint64(1)) for word in words(size)]
    digits = Digits.begun(size, words)
    while (found := digits.cells(laws)) is None:
        digits = digits.longer(words)
    signed = [-k if minus else k for k, minus in zip(found, negative, strict=True)]
    made: list[list[int]] = []
    for law in laws:
        made.append(signed[: law.size])
        signed = signed[law.size :]
    return made


@dataclass(frozen=True)
class Digits:
    """The digits read so far: each uniform lies in (m, m + 1) 2**-bits.

    radius: m of those that are multiplied, dimension + 1 of them.  places: m of one for each coordinate.
    """

    radius: tuple[int, ...]
    places: tuple[int, ...]
    bits: int

    @classmethod
    def begun(cls, size: int, words: Words) -> Digits:
        """Return the first digits for a vector of `size` integers."""
        made = cls((0,) * (size + 1), (0,) * size, 0)
        for _ in range(START):
            made = made.longer(words)
        return made

    def longer(self, words: Words) -> Digits:
        """Return the same with one more word of each uniform."""
        fresh = [int(w) for w in words(len(self.radius) + len(self.places))]
        more = [m << 64 | w for m, w in zip((*self.radius, *self.places), fresh, strict=True)]
        return Digits(tuple(more[: len(self.radius)]), tuple(more[len(self.radius) :]), self.bits + 64)

    def cells(self, laws: Sequence[ProductLaplace]) -> list[int] | None:
        """[I] Return the integer of each coordinate without its sign; None where one is not certain yet."""
        radius = minus_log_of_product(self.radius, self.bits)
        if radius is None:
            return None
        found: list[int] = []
        start = 0
        for law in laws:
            for gap in gaps(self.places[start : start + law.size]):
                # radius and gap count units of 2**-bits each
                low, high = (_rounded(law.scale, r * g, 2 * self.bits) for r, g in zip(radius, gap, strict=True))
                if low != high:
                    return None
                found.append(low)
            start += law.size
        return found


def gaps(places: Sequence[int]) -> list[Bounds]:
    """[O] Return bounds on the gaps between 0 and sorted uniforms, each of which lies in (m, m + 1), m in `places`.

    >>> gaps([7, 3])
    [(3, 4), (3, 5)]
    """
    ordered = sorted(places)
    first = (ordered[0], ordered[0] + 1)
    # the uniform below lies in (a, a + 1), this one in (b, b + 1): their gap in (b - a - 1, b - a + 1)
    return [first, *((max(b - a - 1, 0), b - a + 1) for a, b in pairwise(ordered))]


def _rounded(scale: Fraction, value: int, bits: int) -> int:
    """Return floor(scale * value * 2**-bits + 1/2), in integers."""
    below = scale.denominator << bits
    return (2 * scale.numerator * value + below) // (2 * below)
