"""Exact samplers of the noise laws, fed by the operating system's random generator.  INSIDE the wall.

Each draw inverts a uniform p in (0, 1), of which binary digits are read until the integer is certain:

1. Words: 64 fresh bits are a sign and the first 63 digits of p, an interval of width 2**-63 that holds p  [W].
2. Floats: certified polynomials give scale * F(p) with a bound on every error.  Where all of the interval rounds to one
   integer, that is the draw; otherwise the word is undecided  [T] [F].
3. Integers: for an undecided word, the ends of the interval are compared with integer bounds on the tail probability
   at the edges between integers, and further words are appended until the comparison is certain  [R].

The draw is a function of an endless stream of fair bits, and its distribution is exactly `law` [L] [N].  The float
stage affects only how soon the draw is known, never its value [D].  Labels in brackets are sections of PROOF.md, beside
this file.  There is no seed, switch or state: words are used within one call, so a forked child never repeats them.
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
from tacit.noise.curves import (
    BITS,
    DEGREE,
    EXPONENTIAL,
    HALF_NORMAL,
    OCTAVES,
    READY,
    SPLIT,
    UNIT,
    Curve,
    Pieces,
    pieces,
)
from tacit.noise.laws import DiscreteLaplace, Law, NoiseError, RoundedNormal

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Words: TypeAlias = Callable[[int], NDArray[np.uint64]]

CHUNK: Final = 1 << 14
"""Draws computed at a time, so that temporary arrays stay in a core's cache."""
FEW: Final = 64
"""Up to this many draws are decided in integers alone, which is faster than preparing the polynomials."""
MOST: Final = 2**63 - 1
"""Sums of an exact integer and a draw are clamped to +-MOST; draws themselves never are: see `added` [S]."""

# constants of the error margin: a margin b (1.28 / x + error + 1.28 u) + 7 u |y| + 8 u, proven sufficient in [F]
_SLOPE: Final = 1.28
_RELATIVE: Final = 7 * float(UNIT)
_ABSOLUTE: Final = 8 * float(UNIT)
# layout of the pieces: exponent and leading SPLIT bits of a float's mantissa number the piece that it lies on
_FRACTION: Final = 52 - SPLIT
_FIRST: Final = (1023 + BITS - OCTAVES) << SPLIT


def draw(law: Law, size: int) -> Ints:
    """Draw `size` independent integers with exactly the law `law`; shape (size,), int64, in units of one grid step.

    If one exceeds 64 bits, which has probability below exp(-9e6), the array holds Python integers (dtype object): no
    draw is ever clamped, so that `added` clamps a function of the sum alone.
    Raises NoiseError N02 for a law without an exact sampler, N03 for a size that is not a whole number from 0 on.

    >>> draw(DiscreteLaplace(Fraction(1, 1000)), 3)
    array([0, 0, 0])
    """
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 0:  # pyright: ignore
        raise NoiseError(f"size={size!r} is not a number of draws.", code="N03", hint="size=1")
    with silent():  # a warning could reveal a draw
        return _draw(law, int(size), system_words)


def added(exact: Ints, noise: Ints) -> Ints:
    """Return exact integers plus noise, clamped to +-MOST, as int64: post-processing of the exact sum [S].

    >>> added(np.array([5, MOST, -MOST]), np.array([-2, 1, -7])).tolist() == [3, MOST, -MOST]
    True
    """
    if not len(exact):
        return exact + noise
    # bounds in Python integers, which cannot overflow: the common case is added in int64 as it is
    low, high = int(exact.min()) + int(noise.min()), int(exact.max()) + int(noise.max())
    if noise.dtype != object and low >= -MOST and high <= MOST:
        return exact + noise
    return np.clip(exact.astype(object) + noise.astype(object), -MOST, MOST).astype(np.int64)


def system_words(count: int) -> NDArray[np.uint64]:
    """[W] Return `count` fresh 64-bit words of the operating system's generator."""
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def _draw(law: Law, size: int, words: Words) -> Ints:
    """Draw as `draw` does, with the source of random words as an argument, which only tests of this file pass."""
    if isinstance(law, DiscreteLaplace):
        curve: Curve = EXPONENTIAL
    elif isinstance(law, RoundedNormal):
        curve = HALF_NORMAL
    else:
        raise NoiseError(f"no exact sampler for {law!r} here.", code="N02", hint="DiscreteLaplace(1)")
    # without a table every word counts as undecided, so that the few draws are settled in integers; either way they are
    # the same
    table = pieces(curve) if size > FEW or curve in READY else None
    found = np.empty(size, dtype=np.int64)
    done = 0
    while done < size:
        # a chunk may come back shorter: rejected words are replaced by fresh ones in the next turn
        some = _signed(curve, table, law.scale, words(min(size - done, CHUNK)), words)
        if some.dtype == object:
            found = found.astype(object)
        found[done : done + len(some)] = some
        done += len(some)
    return found


def _signed(curve: Curve, table: Pieces | None, scale: Fraction, word: NDArray[np.uint64], words: Words) -> Ints:
    """[L] [N] Return one draw for each word, in order; for the exponential curve a negative zero is rejected.

    Without the rejection 0 would have twice the probability that the discrete Laplace law gives it.
    """
    negative = (word & np.uint64(1)).astype(np.bool_)
    # the shift clears the top bit, so that the word is not negative when it is read as a signed integer
    m = (word >> np.uint64(1)).view(np.int64)
    cell, undecided = decide(curve, table, scale, m) if table else (np.zeros_like(m), np.ones(len(m), dtype=np.bool_))
    for i in np.flatnonzero(undecided):
        one = certain_cell(curve, scale, int(m[i]), words)
        if one > MOST:
            cell = cell.astype(object)  # [S]
        cell[i] = one
    # the rounded normal keeps both signs of 0: its cell 0 is one interval about 0, half on either side [N]
    signed = np.where(negative, -cell, cell)
    return signed[~(negative & (cell == 0))] if curve is EXPONENTIAL else signed


def decide(curve: Curve, table: Pieces, scale: Fraction, m: Ints) -> tuple[Ints, Bools]:
    """[F] Return the cell (integer) of scale * F(p) for every p in [m, m + 1] 2**-63, and where floats are undecided.

    Arrays of the shape of m; the cell is meaningless (0) where it is undecided.
    """
    x = m.astype(np.float64)
    value = _horner(table, x)
    b = float(scale)
    y = value * b
    # x = 0 has an infinite margin, so that it comes out undecided
    with np.errstate(divide="ignore"):
        margin = (_SLOPE * b) / x
    # |y| before the shift: the 0.5u that the shift adds is within _ABSOLUTE  [F]
    margin += _RELATIVE * np.abs(y) + (b * (table.error + _SLOPE * float(UNIT)) + _ABSOLUTE)
    y += float(curve.shift)
    # decided only if the whole margin lies in one cell, and p on the pieces
    low, high = np.floor(y - margin), np.floor(y + margin)
    undecided = (low != high) | (x < 2.0 ** (BITS - OCTAVES)) | (x >= 2.0**BITS)
    # undecided values may be infinite or beyond 2**63, where a conversion to integers is not defined
    high[undecided] = 0.0
    return high.astype(np.int64), undecided


def _horner(table: Pieces, x: Floats) -> Floats:
    """[T] Evaluate F(x 2**-63) by the polynomial of the piece that holds x; off the pieces some finite value."""
    # the bits of a float, read as an integer, ascend with it: shifted, they count pieces of 2**-SPLIT of an octave
    bits = x.view(np.int64)
    piece = np.clip((bits >> _FRACTION) - _FIRST, 0, table.coefficients.shape[1] - 1)
    # remaining mantissa bits less half their range: position about the centre of the piece
    t = ((bits & ((1 << _FRACTION) - 1)) - (1 << (_FRACTION - 1))).astype(np.float64)
    t *= 2.0 ** (1 - _FRACTION)  # exact: t in [-1, 1), the position within the piece
    value = table.coefficients[DEGREE].take(piece)
    for n in range(DEGREE - 1, -1, -1):
        value *= t
        value += table.coefficients[n].take(piece)
    return value


def certain_cell(curve: Curve, scale: Fraction, m: int, words: Words) -> int:
    """[R] Return the cell of scale * F(p), where p begins with the 63 bits of m: append words until it is certain."""
    bits = BITS
    while True:
        # m = 0 leaves p without a positive lower bound, and F(p) without an upper one
        cell = search(curve, scale, m, bits) if m else None
        if cell is not None:
            return cell
        m, bits = m << 64 | int(words(1)[0]), bits + 64


def search(curve: Curve, scale: Fraction, m: int, bits: int, near: Fraction | None = None) -> int | None:
    """Return the cell that holds scale * F(p) for all p in (m, m + 1) 2**-bits, or None where it is not yet certain.

    A galloping search from a guess of F(p), `near` or a float, then bisection; only integer comparisons (`_side`)
    decide.
    """
    # a poor guess costs further comparisons only
    k = max(0, floor((Fraction(curve.near(m, bits)) if near is None else near) * scale + curve.shift))
    side = _side(curve, scale, k, m, bits)
    low = high = k
    step = 1
    while side > 0:  # the value is below edge k, so its cell is further down; edge 0 stops the search
        high, low, step = low, max(0, low - step), 2 * step
        side = _side(curve, scale, low, m, bits)
    # the guess itself was below the value: gallop upwards instead
    if side < 0 and high == low:
        high, step = low + 1, 1
        while (side := _side(curve, scale, high, m, bits)) < 0:
            low, high, step = high, high + step, 2 * step
    # invariant: edge `low` is below the value for all p of the interval, edge `high` above it; side 0 is unknown
    while side and high - low > 1:
        middle = (low + high) // 2
        side = _side(curve, scale, middle, m, bits)
        low, high = (low, middle) if side > 0 else (middle, high)
    return low if side else None


def _side(curve: Curve, scale: Fraction, k: int, m: int, bits: int) -> int:
    """Return the sign of (lower edge of cell k) - scale * F(p) if it is the same for all p in the interval, else 0.

    The interval is (m, m + 1) 2**-bits.  F decreases, so p >= tail(v) means F(p) <= v.
    """
    # cell 0 begins at 0 and F > 0: its lower edge is below every value
    if k == 0:
        return -1
    # 16 bits more than p has: the width of the enclosure is then small beside that of the interval
    low, high = curve.tail((k - curve.shift) / scale, bits + 16)
    if m << 16 >= high:
        return 1
    return -1 if (m + 1) << 16 <= low else 0
