"""Noise and a public threshold on very many empty cells, without drawing noise for each.  INSIDE the wall.

The result has exactly the distribution of adding a draw Z to each of N zeros and keeping those with Z >= T, but its
time and memory grow with the number of cells that pass, not with N:

1. The gaps between cells that pass are geometric: floor(F(p) / rate) with rate = -ln(1 - P(Z >= T))  [B].
2. In floats, the polynomials of the exponential curve give a gap, or leave it undecided, at a scale within a relative
   2**-80 of 1 / rate  [G].
3. In integers, an undecided gap is found by comparing the ends of the interval of p with bounds on
   (1 - P(Z >= T))**k, appending words until the comparison is certain  [G].
4. The value of each cell that passes is drawn from the law of Z given Z >= T  [V].

Labels in brackets are sections of PROOF.md, beside this file; random words are as in `exact`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.noise.curves import BITS, EXPONENTIAL, pieces
from tacit.noise.exact import CHUNK, FEW, MOST, Words, certain_cell, decide, system_words
from tacit.noise.laws import MOST_ZEROS, DiscreteLaplace, Law, NoiseError, RoundedNormal
from tacit.noise.tail_bounds import Bounds, exp_minus, minus_log, normal_tail

Ints: TypeAlias = NDArray[np.int64]


RARE: Final = 2.0**49
"""Mean gaps above this are decided in integers alone: up to here F(p) / rate stays below 2**53, exact in floats."""
WORK: Final = 256
"""Bits to which the rate is bounded for the float stage."""


def passing(law: Law, threshold: int, zeros: int) -> tuple[Ints, Ints]:
    """Return the positions among `zeros` empty cells where noise reaches the threshold, and the noisy values there.

    Two int64 arrays of one shape, positions ascending.  Their joint distribution is exactly that of independent noise
    on each zero with all values below the threshold discarded.  Raises NoiseError N02 for a law without an exact
    sampler, N03 for a threshold below 1 or a number of zeros outside 0 to 2**40.

    >>> places, values = passing(DiscreteLaplace(Fraction(3)), 40, 10**6)
    >>> bool((np.diff(places) > 0).all()), bool((values >= 40).all())
    (True, True)
    """
    if not isinstance(law, DiscreteLaplace | RoundedNormal):
        raise NoiseError(f"no exact sampler for {law!r}.", code="N02", hint="DiscreteLaplace(1)")
    if threshold < 1 or not 0 <= zeros <= MOST_ZEROS:
        text = f"threshold={threshold!r} is below 1, or zeros={zeros!r} is not a number from 0 to 2**40."
        raise NoiseError(text, code="N03", hint="threshold=1")
    return _passing(law, threshold, zeros, system_words)


def _passing(law: Law, threshold: int, zeros: int, words: Words) -> tuple[Ints, Ints]:
    """Draw as `passing` does, with the source of random words as an argument, which only tests of this file pass."""
    places = _places(law, threshold, zeros, words)
    excess = _geometric_excess if isinstance(law, DiscreteLaplace) else _normal_excess
    above = excess(law.scale, threshold, len(places), words)
    # saturation of a noisy zero, a function of the sum, is post-processing [S]
    return places, np.minimum(above, MOST - threshold) + threshold


# Positions ----------------------------------------------------------------------------------------------------------


def _places(law: Law, threshold: int, zeros: int, words: Words) -> Ints:
    """[B] Return the positions of successes in `zeros` independent trials of probability P(Z >= threshold)."""
    low, high = _rate(law, threshold, WORK)
    # the lower bound is 0 only where a cell passes with probability below about 2**-WORK
    mean = Fraction(2 << WORK, low + high) if low else None  # about 1 / rate
    scale = mean if mean is not None and mean < RARE else None
    found: list[Ints] = []
    # positions count from 0: before the first gap the search stands at -1
    at = -1
    while True:
        # slightly more gaps than are expected to be needed; those that end beyond the last trial are discarded unread
        left = 0.0 if mean is None else (zeros - 1 - at) / float(mean)
        size = int(min(CHUNK, 1.1 * left + 4))
        gap = _gaps(law, threshold, scale, zeros, (words(size) >> np.uint64(1)).view(np.int64), words)
        place = at + np.cumsum(gap + 1)
        inside = place[place < zeros]
        found.append(inside)
        # a gap that ends beyond the last trial ends the search; the gaps after it are of trials that do not exist
        if len(inside) < size:
            return np.concatenate(found)
        at = int(inside[-1])


def _gaps(law: Law, threshold: int, scale: Fraction | None, zeros: int, m: Ints, words: Words) -> Ints:
    """[G] Return min(gap, zeros) for each word of 63 bits: in floats where `scale` is given, else in integers."""
    gap, undecided = np.zeros_like(m), np.ones(len(m), dtype=np.bool_)
    if scale is not None and len(m) > FEW:
        gap, undecided = decide(EXPONENTIAL, pieces(EXPONENTIAL), scale, m)
    for i in np.flatnonzero(undecided):
        first, bits = int(m[i]), BITS
        while (one := _gap(law, threshold, zeros, first, bits)) is None:
            first, bits = first << 64 | int(words(1)[0]), bits + 64
        gap[i] = one
    # capped: a longer gap means the same, and cumulated gaps stay within 64 bits
    return np.minimum(gap, zeros)


def _gap(law: Law, threshold: int, zeros: int, m: int, bits: int) -> int | None:
    """[G] Return min(gap, zeros) if it is the same for all p in (m, m + 1) 2**-bits, else None."""

    def reaches(k: int) -> bool | None:
        # gap >= k exactly if p < P(none of k passes): decided where this holds, or fails, at both ends of the interval
        lo, hi = _none_passes(law, threshold, k, bits + 16)
        return True if (m + 1) << 16 <= lo else False if m << 16 >= hi else None

    return _greatest(reaches, zeros)


def _greatest(reaches: Callable[[int], bool | None], limit: int | None) -> int | None:
    """Return the greatest k up to `limit` with reaches(k), by bisection; None where an answer on the way is unknown.

    reaches: decreasing in k, and true at 0 without being asked; None for an unknown answer.  Without a limit one is
    found by doubling.
    """
    if limit is None:
        limit = 1
        while (answer := reaches(limit)) is True:
            limit *= 2
    else:
        answer = reaches(limit)
    if answer is not False:
        return limit if answer else None
    low, high = 0, limit
    # invariant: reaches(low) is true and reaches(high) false
    while high - low > 1:
        middle = (low + high) // 2
        answer = reaches(middle)
        if answer is None:
            return None
        low, high = (middle, high) if answer else (low, middle)
    return low


def _none_passes(law: Law, threshold: int, k: int, bits: int) -> Bounds:
    """[G] Return bounds on the probability that none of k cells passes, (1 - P(Z >= threshold))**k = exp(-k rate)."""
    # k multiplies the error of the rate: its bits are added; whole words, so that the cache of `_rate` is hit again
    work = -(-(bits + k.bit_length() + 16) // 64) * 64
    low, high = _rate(law, threshold, work)
    # exp(-x) falls: the upper bound on the rate gives the lower bound
    return exp_minus(Fraction(k * high, 1 << work), bits)[0], exp_minus(Fraction(k * low, 1 << work), bits)[1]


@lru_cache(maxsize=64)
def _rate(law: Law, threshold: int, bits: int) -> Bounds:
    """[B] Return bounds on the rate -ln(1 - P(Z >= threshold)), with `bits` bits."""
    return minus_log(passing_probability(law, threshold, bits), bits)


def passing_probability(law: Law, threshold: int, bits: int) -> Bounds:
    """[B] Return bounds on P(Z >= threshold) with `bits` bits, threshold >= 1.

    >>> lo, hi = passing_probability(DiscreteLaplace(Fraction(2)), 10, 64)
    >>> round(lo / 2**64, 6), hi - lo <= 4, float(DiscreteLaplace(Fraction(2)).sf(9)).__round__(6)
    (0.004194, True, 0.004194)
    """
    if isinstance(law, RoundedNormal):
        return normal_tail((threshold - Fraction(1, 2)) / law.scale, bits - 1)  # both sides, so twice
    q_lo, q_hi = exp_minus(1 / law.scale, bits)
    # P(Z >= T) = q**T / (1 + q) for T >= 1, q = exp(-1 / scale)
    t_lo, t_hi = exp_minus(threshold / law.scale, bits)
    one = 1 << bits
    return (t_lo << bits) // (one + q_hi), (t_hi << bits) // (one + q_lo) + 1


# Values -------------------------------------------------------------------------------------------------------------


def _geometric_excess(scale: Fraction, threshold: int, size: int, words: Words) -> Ints:
    """[V] Draw Z - threshold given Z >= threshold, Z discrete Laplace: geometric, whatever the threshold."""
    # 63 bits of each word, as in `exact`, although no sign is needed: `decide` is proven for intervals of that width
    m = (words(size) >> np.uint64(1)).view(np.int64)
    above, undecided = np.zeros_like(m), np.ones(size, dtype=np.bool_)
    if size > FEW:
        above, undecided = decide(EXPONENTIAL, pieces(EXPONENTIAL), scale, m)
    for i in np.flatnonzero(undecided):
        above[i] = min(certain_cell(EXPONENTIAL, scale, int(m[i]), words), MOST)
    return above


def _normal_excess(scale: Fraction, threshold: int, size: int, words: Words) -> Ints:
    """[V] Draw Z - threshold given Z >= threshold, Z a rounded normal, by inverting its tail at a uniform p.

    The draw is the greatest k with p P(Z >= threshold) < P(Z >= threshold + k).
    """
    above = np.zeros(size, dtype=np.int64)
    for i in range(size):
        m, bits = int(words(1)[0]), 64
        while (k := _inverse_tail(scale, threshold, m, bits)) is None:
            m, bits = m << 64 | int(words(1)[0]), bits + 64
        above[i] = min(k, MOST)
    return above


def _inverse_tail(scale: Fraction, threshold: int, m: int, bits: int) -> int | None:
    """[V] Return the k of `_normal_excess` if it is the same for all p in (m, m + 1) 2**-bits, else None."""
    x = (threshold - Fraction(1, 2)) / scale
    work = bits + 32 + int(x * x)  # enough: P(|N| > x) > 2**-(x**2 + 2) for a standard normal N
    lo, hi = _two_sided(x, work)

    def reaches(k: int) -> bool | None:
        low, high = _two_sided(x + k / scale, work)
        return True if (m + 1) * hi <= low << bits else False if m * lo >= high << bits else None

    return _greatest(reaches, None)


@lru_cache(maxsize=256)
def _two_sided(x: Fraction, bits: int) -> Bounds:
    """Return `normal_tail`, cached: all values of a call share the tail at the threshold."""
    return normal_tail(x, bits)
