"""Which of very many zeros noise lifts to a public threshold, and to what: exactly as if each had its noise.  INSIDE.

    gaps      zeros between one that passes and the next: geometric, floor(F(p) / rate), rate = -ln(1 - P(Z >= T))  [B]
    floats    by the pieces of the exponential curve at a scale within 2**-80 of 1 / rate: one gap, or undecided     [G]
    integers  undecided: ends of the interval of p against enclosures of (1 - P(Z >= T))**k; append words            [G]
    values    of those that pass, from the law of Z given Z >= T                                                     [V]

Work and memory follow the number that pass.  Labels are proven in PROOF.md, beside this file; words as in `exact`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.noise.curves import BITS, EXPONENTIAL, pieces
from tacit.noise.exact import CHUNK, FEW, MOST, Words, decide, settle, system_words
from tacit.noise.laws import MOST_ZEROS, DiscreteLaplace, Law, NoiseError, RoundedNormal
from tacit.noise.tail_bounds import Bounds, exp_minus, minus_log, normal_tail

Ints: TypeAlias = NDArray[np.int64]


RARE: Final = 2.0**49
"""A mean gap beyond this is decided in integers alone: floats hold F(p) / rate below 2**53 up to here."""
WORK: Final = 256


def passing(law: Law, threshold: int, zeros: int) -> tuple[Ints, Ints]:
    """Positions among `zeros` zeros, ascending, where noise of `law` reaches the threshold, and the noisy values there.

    Two int64 arrays of one shape; jointly exactly the law of noise on each zero, with what is below thrown away.
    Raises NoiseError N02 for a law that has no exact sampler, N03 for sizes that are none.

    >>> places, values = passing(DiscreteLaplace(Fraction(3)), 40, 10**6)
    >>> bool((np.diff(places) > 0).all()), bool((values >= 40).all())
    (True, True)
    """
    if not isinstance(law, DiscreteLaplace | RoundedNormal):
        raise NoiseError(f"no exact sampler for {law!r}.", code="N02", hint="DiscreteLaplace(1)")
    if threshold < 1 or not 0 <= zeros <= MOST_ZEROS:
        text = f"threshold={threshold!r} is below 1, or zeros={zeros!r} no number up to 2**40."
        raise NoiseError(text, code="N03", hint="threshold=1")
    return _passing(law, threshold, zeros, system_words)


def _passing(law: Law, threshold: int, zeros: int, words: Words) -> tuple[Ints, Ints]:
    """`passing` with the source of words as an argument, for tests of this file only."""
    places = _places(law, threshold, zeros, words)
    more = _geometric if isinstance(law, DiscreteLaplace) else _normal
    above = more(law.scale, threshold, len(places), words)
    return places, np.minimum(above, MOST - threshold) + threshold


# Places -------------------------------------------------------------------------------------------------------------


def _places(law: Law, threshold: int, zeros: int, words: Words) -> Ints:
    """[B] Independent trials of probability P(Z >= threshold), by the gaps between those that succeed."""
    low, high = _rate(law, threshold, WORK)
    mean = Fraction(2 << WORK, low + high) if low else None  # about 1 / rate
    scale = mean if mean is not None and mean < RARE else None
    found: list[Ints] = []
    at = -1
    while True:
        left = 0.0 if mean is None else (zeros - 1 - at) / float(mean)
        size = int(min(CHUNK, 1.1 * left + 4))
        gap = _gaps(law, threshold, scale, zeros, (words(size) >> np.uint64(1)).view(np.int64), words)
        place = at + np.cumsum(gap + 1)
        inside = place[place < zeros]
        found.append(inside)
        if len(inside) < size:
            return np.concatenate(found)
        at = int(inside[-1])


def _gaps(law: Law, threshold: int, scale: Fraction | None, zeros: int, m: Ints, words: Words) -> Ints:
    """[G] min(gap, zeros) for each word of 63 bits."""
    gap, undecided = np.zeros_like(m), np.ones(len(m), dtype=np.bool_)
    if scale is not None and len(m) > FEW:
        gap, undecided = decide(EXPONENTIAL, pieces(EXPONENTIAL), scale, m)
    for i in np.flatnonzero(undecided):
        first, bits = int(m[i]), BITS
        while (one := _search(law, threshold, zeros, first, bits)) is None:
            first, bits = first << 64 | int(words(1)[0]), bits + 64
        gap[i] = one
    return np.minimum(gap, zeros)


def _search(law: Law, threshold: int, zeros: int, m: int, bits: int) -> int | None:
    """[G] min(gap, zeros) for all p in (m, m + 1) 2**-bits, or None: the ends, then halves."""

    def reaches(k: int) -> bool | None:
        lo, hi = _stays(law, threshold, k, bits + 16)
        return True if (m + 1) << 16 <= lo else False if m << 16 >= hi else None

    return _most(reaches, zeros)


def _most(reaches: Callable[[int], bool | None], limit: int | None) -> int | None:
    """The greatest k up to `limit` that is reached, 0 always being so; None where one on the way is not known."""
    if limit is None:
        limit = 1
        while (yes := reaches(limit)) is True:
            limit *= 2
    else:
        yes = reaches(limit)
    if yes is not False:
        return limit if yes else None
    low, high = 0, limit
    while high - low > 1:
        middle = (low + high) // 2
        yes = reaches(middle)
        if yes is None:
            return None
        low, high = (middle, high) if yes else (low, middle)
    return low


def _stays(law: Law, threshold: int, k: int, bits: int) -> Bounds:
    """[G] Bounds on (1 - P(Z >= threshold))**k = exp(-k rate)."""
    work = -(-(bits + k.bit_length() + 16) // 64) * 64
    low, high = _rate(law, threshold, work)
    return exp_minus(Fraction(k * high, 1 << work), bits)[0], exp_minus(Fraction(k * low, 1 << work), bits)[1]


@lru_cache(maxsize=64)
def _rate(law: Law, threshold: int, bits: int) -> Bounds:
    """[B] Bounds on -ln(1 - P(Z >= threshold))."""
    return minus_log(chance(law, threshold, bits), bits)


def chance(law: Law, threshold: int, bits: int) -> Bounds:
    """[B] Bounds on P(Z >= threshold) with `bits` bits, threshold >= 1.

    >>> lo, hi = chance(DiscreteLaplace(Fraction(2)), 10, 64)
    >>> round(lo / 2**64, 6), hi - lo <= 4, float(DiscreteLaplace(Fraction(2)).sf(9)).__round__(6)
    (0.004194, True, 0.004194)
    """
    if isinstance(law, RoundedNormal):
        return normal_tail((threshold - Fraction(1, 2)) / law.scale, bits - 1)  # both sides, so twice
    q_lo, q_hi = exp_minus(1 / law.scale, bits)
    t_lo, t_hi = exp_minus(threshold / law.scale, bits)
    one = 1 << bits
    return (t_lo << bits) // (one + q_hi), (t_hi << bits) // (one + q_lo) + 1


# Values -------------------------------------------------------------------------------------------------------------


def _geometric(scale: Fraction, threshold: int, size: int, words: Words) -> Ints:
    """[V] Z - threshold given Z >= threshold, Z discrete Laplace: geometric, whatever the threshold."""
    m = (words(size) >> np.uint64(1)).view(np.int64)
    above, undecided = np.zeros_like(m), np.ones(size, dtype=np.bool_)
    if size > FEW:
        above, undecided = decide(EXPONENTIAL, pieces(EXPONENTIAL), scale, m)
    for i in np.flatnonzero(undecided):
        above[i] = min(settle(EXPONENTIAL, scale, int(m[i]), words), MOST)
    return above


def _normal(scale: Fraction, threshold: int, size: int, words: Words) -> Ints:
    """[V] The same of a rounded normal: k where p P(Z >= threshold) lies between P(Z >= threshold + k) and the next."""
    above = np.zeros(size, dtype=np.int64)
    for i in range(size):
        m, bits = int(words(1)[0]), 64
        while (k := _tail_place(scale, threshold, m, bits)) is None:
            m, bits = m << 64 | int(words(1)[0]), bits + 64
        above[i] = min(k, MOST)
    return above


def _tail_place(scale: Fraction, threshold: int, m: int, bits: int) -> int | None:
    """[V] That k for all p in (m, m + 1) 2**-bits, or None."""
    x = (threshold - Fraction(1, 2)) / scale
    work = bits + 32 + int(x * x)  # P(|Z| > x) > 2**-(x**2 + 2)
    lo, hi = _two_sided(x, work)

    def reaches(k: int) -> bool | None:
        low, high = _two_sided(x + k / scale, work)
        return True if (m + 1) * hi <= low << bits else False if m * lo >= high << bits else None

    return _most(reaches, None)


@lru_cache(maxsize=256)
def _two_sided(x: Fraction, bits: int) -> Bounds:
    return normal_tail(x, bits)
