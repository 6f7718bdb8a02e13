"""Sums of polynomials of integers in 32 bits, in NumPy: those of `Polynomial.numpy`, exactly.  INSIDE the wall.

Of a quotient a / 2**s that is rounded down, the sum is (sum of a - sum of (a mod 2**s)) / 2**s.  The first follows
from sums of v and v**2, which all polynomials of degree two share: of at most EXACT / G**2 values they are floats, sums
of whole numbers below 2**53 whatever their order.  The remainder is the lowest s bits of a, found in 32 bits that wrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.rows.row_map import Polynomial
from tacit.source.shared_blocks import BLOCK, Buffers

Floats = NDArray[np.float64]
EXACT: Final = 2**53
"""Whole numbers up to this one are exact in float64."""
FEW: Final = 2**12
"""Remainders that are added up in 32 bits."""


def shares_powers(polynomial: Polynomial, G: int) -> bool:
    """Whether the sums of a polynomial of v in {0, ..., G} follow from those of powers and from remainders."""
    low = polynomial.divisor & (polynomial.divisor - 1) == 0 and polynomial.divisor * FEW <= 2**32
    return len(polynomial.coefficients) <= 3 and G < 2**31 and low and max(1, G) ** 2 * BLOCK <= EXACT


def sums_by_powers(polynomials: Sequence[Polynomial], v: NDArray[np.int32], x: Floats, buffers: Buffers) -> list[int]:
    """Return the sum of each polynomial, all of them so that `shares_powers`; x: the same numbers as v, as floats."""
    degree = max((len(one.coefficients) for one in polynomials), default=0)
    powers = [len(v), int(x.sum()) if degree > 1 else 0, _squares(x) if degree > 2 else 0]
    found = list[int]()
    for one in polynomials:
        total = sum(c * power for c, power in zip(one.coefficients, powers, strict=False))
        if one.divisor > 1:
            total -= _remainders(one, v.view(np.uint32), buffers)
        found.append(total // one.divisor)
    return found


def _squares(x: Floats) -> int:
    """Return the sum of squares; of more numbers at a time BLAS could round, and would start threads of its own."""
    many = len(x) // BLOCK * BLOCK
    each = np.vecdot(x[:many].reshape(-1, BLOCK), x[:many].reshape(-1, BLOCK))
    return int(each.astype(np.int64).sum()) + int(x[many:] @ x[many:])


def _plus(c: int, found: NDArray[np.uint32]) -> None:
    if c:
        found += np.uint32(c)


def _remainders(polynomial: Polynomial, u: NDArray[np.uint32], buffers: Buffers) -> int:
    """Return the sum of remainders on division, of a polynomial that is no constant or is one."""
    found = buffers.array("remainders", u.shape, np.uint32)
    *lower, highest = polynomial.coefficients
    # Horner's rule, modulo 2**32; multiples of the divisor, itself a power of two, change no remainder
    if not lower:
        found.fill(highest % 2**32)
    elif highest == -1:
        np.subtract(np.uint32(lower.pop() % polynomial.divisor), u, out=found)
    else:
        np.multiply(u, np.uint32(highest % polynomial.divisor), out=found)
        _plus(lower.pop() % polynomial.divisor, found)
    for c in reversed(lower):
        found *= u
        _plus(c % polynomial.divisor, found)
    found &= np.uint32(polynomial.divisor - 1)
    many = len(u) // FEW * FEW
    # FEW remainders below the divisor: their sum is below 2**32 where `shares_powers`
    each: Any = np.add.reduce(found[:many].reshape(-1, FEW), axis=1, dtype=np.uint32)
    return int(each.sum(dtype=np.uint64)) + int(np.add.reduce(found[many:], dtype=np.uint32))
