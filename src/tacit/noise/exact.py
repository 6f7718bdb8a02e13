"""Exact draws from the laws of noise, by the operating system's generator.  INSIDE the wall.

    words       64 fresh bits: a sign, and 63 bits that say in which interval of width 2**-63 a uniform p lies     [W]
    float       scale * F(p) by certified polynomials, with a bound on every error: one cell, or undecided     [T] [F]
    integers    undecided: ends of the interval against enclosures of tail(edge); append words until certain       [R]

The answer is a function of an endless stream of fair bits, whose law is `law` exactly [L] [N]; the float stage decides
how soon it is known, never what it is [D].  Labels are proven in PROOF.md, beside this file.  There is no seed, no
switch and no state: words live in one call, and a forked child asks the operating system anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.base.muted import silent
from tacit.noise.curves import BITS, DEGREE, EXPONENTIAL, HALF_NORMAL, OCTAVES, SPLIT, UNIT, Curve, Pieces, pieces
from tacit.noise.laws import DiscreteLaplace, Law, NoiseError, RoundedNormal

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Words: TypeAlias = Callable[[int], NDArray[np.uint64]]

CHUNK: Final = 1 << 14
"""Draws at a time: the temporaries stay in a core's cache."""
FEW: Final = 64
"""So few draws are decided in integers from the start, which is sooner than making the polynomials."""
MOST: Final = 2**63 - 1
"""Sums with a draw are moved to +-MOST where they lie beyond it; draws never are: see `added` [S]."""

_SLOPE: Final = 1.28
_RELATIVE: Final = 7 * float(UNIT)
_ABSOLUTE: Final = 8 * float(UNIT)
_FRACTION: Final = 52 - SPLIT
_FIRST: Final = (1023 + BITS - OCTAVES) << SPLIT


def draw(law: Law, size: int) -> Ints:
    """`size` independent draws, each with exactly the law `law`; shape (size,), int64, in units of one grid step.

    Where one is beyond 64 bits, which has probability below exp(-9e6), all are Python integers in an array of objects:
    no draw is ever changed, so that what is done to a sum (`added`) is a function of the sum.
    Raises NoiseError N02 for a law that has no exact sampler, N03 for a size that is no count.

    >>> draw(DiscreteLaplace(Fraction(1, 1000)), 3)
    array([0, 0, 0])
    """
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 0:  # pyright: ignore
        raise NoiseError(f"size={size!r} is no number of draws.", code="N03", hint="size=1")
    with silent():  # of whatever thread
        return _draw(law, int(size), system_words)


def added(exact: Ints, noise: Ints) -> Ints:
    """Exact integers plus noise, moved to +-MOST where they lie beyond it: a function of the sum alone [S]; int64.

    >>> added(np.array([5, MOST, -MOST]), np.array([-2, 1, -7])).tolist() == [3, MOST, -MOST]
    True
    """
    if not len(exact):
        return exact + noise
    low, high = int(exact.min()) + int(noise.min()), int(exact.max()) + int(noise.max())
    if noise.dtype != object and low >= -MOST and high <= MOST:
        return exact + noise
    return np.clip(exact.astype(object) + noise.astype(object), -MOST, MOST).astype(np.int64)


def system_words(count: int) -> NDArray[np.uint64]:
    """[W] Fresh words of the operating system's generator."""
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def _draw(law: Law, size: int, words: Words) -> Ints:
    """`draw` with the source of words as an argument, for tests of this file only."""
    if isinstance(law, DiscreteLaplace):
        curve: Curve = EXPONENTIAL
    elif isinstance(law, RoundedNormal):
        curve = HALF_NORMAL
    else:
        raise NoiseError(f"no exact sampler for {law!r}.", code="N02", hint="DiscreteLaplace(1)")
    table = pieces(curve) if size > FEW else None
    found = np.empty(size, dtype=np.int64)
    done = 0
    while done < size:
        some = _signed(curve, table, law.scale, words(min(size - done, CHUNK)), words)
        if some.dtype == object:
            found = found.astype(object)
        found[done : done + len(some)] = some
        done += len(some)
    return found


def _signed(curve: Curve, table: Pieces | None, scale: Fraction, word: NDArray[np.uint64], words: Words) -> Ints:
    """[L] [N] One draw for each word, in order; for the exponential curve a negative zero is rejected."""
    negative = (word & np.uint64(1)).astype(np.bool_)
    m = (word >> np.uint64(1)).view(np.int64)
    cell, undecided = decide(curve, table, scale, m) if table else (np.zeros_like(m), np.ones(len(m), dtype=np.bool_))
    for i in np.flatnonzero(undecided):
        one = settle(curve, scale, int(m[i]), words)
        if one > MOST:
            cell = cell.astype(object)  # [S]
        cell[i] = one
    signed = np.where(negative, -cell, cell)
    return signed[~(negative & (cell == 0))] if curve is EXPONENTIAL else signed


def decide(curve: Curve, table: Pieces, scale: Fraction, m: Ints) -> tuple[Ints, Bools]:
    """[F] The cell of scale * F(p) for every p in [m, m + 1] 2**-63, and where floats cannot tell."""
    x = m.astype(np.float64)
    value = _horner(table, x)
    b = float(scale)
    y = value * b
    with np.errstate(divide="ignore"):
        margin = (_SLOPE * b) / x
    margin += _RELATIVE * np.abs(y) + (b * (table.error + _SLOPE * float(UNIT)) + _ABSOLUTE)
    y += float(curve.shift)
    low, high = np.floor(y - margin), np.floor(y + margin)
    undecided = (low != high) | (x < 2.0 ** (BITS - OCTAVES)) | (x >= 2.0**BITS)
    high[undecided] = 0.0
    return high.astype(np.int64), undecided


def _horner(table: Pieces, x: Floats) -> Floats:
    """[T] F(x 2**-63) on the pieces; anything finite where x lies on none."""
    bits = x.view(np.int64)
    piece = np.clip((bits >> _FRACTION) - _FIRST, 0, table.coefficients.shape[1] - 1)
    t = ((bits & ((1 << _FRACTION) - 1)) - (1 << (_FRACTION - 1))).astype(np.float64)
    t *= 2.0 ** (1 - _FRACTION)  # exact: t in [-1, 1), the place within the piece
    value = table.coefficients[DEGREE].take(piece)
    for n in range(DEGREE - 1, -1, -1):
        value *= t
        value += table.coefficients[n].take(piece)
    return value


def settle(curve: Curve, scale: Fraction, m: int, words: Words) -> int:
    """[R] The cell of scale * F(p), p beginning with the 63 bits of m: append words until it is certain."""
    bits = BITS
    while True:
        cell = _search(curve, scale, m, bits) if m else None
        if cell is not None:
            return cell
        m, bits = m << 64 | int(words(1)[0]), bits + 64


def _search(curve: Curve, scale: Fraction, m: int, bits: int) -> int | None:
    """The cell that holds scale * F(p) for all p in (m, m + 1) 2**-bits, or None: gallop, then halve."""
    k = max(0, floor(Fraction(curve.near(m, bits)) * scale + curve.shift))
    side = _side(curve, scale, k, m, bits)
    low = high = k
    step = 1
    while side > 0:  # below the edge: the cell is further down; edge 0 is always passed
        high, low, step = low, max(0, low - step), 2 * step
        side = _side(curve, scale, low, m, bits)
    if side < 0 and high == low:
        high, step = low + 1, 1
        while (side := _side(curve, scale, high, m, bits)) < 0:
            low, high, step = high, high + step, 2 * step
    while side and high - low > 1:
        middle = (low + high) // 2
        side = _side(curve, scale, middle, m, bits)
        low, high = (low, middle) if side > 0 else (middle, high)
    return low if side else None


def _side(curve: Curve, scale: Fraction, k: int, m: int, bits: int) -> int:
    """Sign of (edge of cell k) - scale * F(p), where it is the same for all p in (m, m + 1) 2**-bits; else 0."""
    if k == 0:
        return -1
    low, high = curve.tail((k - curve.shift) / scale, bits + 16)
    if m << 16 >= high:
        return 1
    return -1 if (m + 1) << 16 <= low else 0
