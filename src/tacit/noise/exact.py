"""Exact draws from the laws of noise, from the operating system's generator.  INSIDE the wall.

Claim.  `draw(law, n)` returns n independent draws whose law is `law`, exactly, given (i) independent uniform words
from the operating system and (ii) the float errors of `log`, `log1p` and `ndtri` within the margins below, which tests
hold against 200-digit arithmetic.  Nothing else is approximate.

[words]   An endless stream of fair bits is a uniform U in (0, 1).  Its first 63 bits, u, say only that U lies in
          I = [u, u + 1] 2^-63; more words make I smaller.  The first bit of all is a sign, independent of U.
[laplace] G = floor(-b ln U): P(G >= k) = P(U <= e^(-k/b)) = q^k, so G is geometric with q = e^(-1/b).  With a fair
          sign S, and (S, G) = (-, 0) rejected, S G is two-sided geometric: mass q^|k| (1-q)/2 at each k, k = 0 once.
[normal]  With a fair sign S and |N| = -Phi^-1(U/2), S |N| is standard normal, so S floor(sigma |N| + 1/2) has the law
          of sigma N rounded to the nearest integer (a tie has probability 0; the law is symmetric).
[decide]  The answer is a step function g of U, decreasing.  If g takes one value k on all of I, then g(U) = k whatever
          the remaining bits are: the answer is known.  Otherwise more words are appended.  So the answer is g(U) of the
          endless stream, always: the float stage chooses how soon we know, never what we answer.
[float]   For the middle p of I the float stage computes y near the value before flooring, with |error| <= e, where e
          covers the rounding of p, of the function (MARGIN, relative to y), of the product, and half the width of I
          times the slope.  floor(y - e) = floor(y + e) proves [decide]'s condition.
[refine]  Undecided words get one more word each time, and ends of I are compared with enclosures: ln by `decimal`, whose
          result is correctly rounded, so one unit beyond it on either side encloses; Phi by `normal_cdf`, which returns
          bounds.  Digits grow with the bits of I.  It stops with probability 1: the steps of g have measure 0.

No word is kept: arrays live in one call, there is no state, and a forked child asks the operating system anew.
"""

from __future__ import annotations

import decimal
import os
from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.noise.laws import DiscreteLaplace, Law, RoundedNormal
from tacit.privacy.enclosures import normal_cdf

Words: TypeAlias = Callable[[int], NDArray[np.uint64]]
Ints: TypeAlias = NDArray[np.int64]

CHUNK: Final = 1 << 18
MARGIN: Final = 2.0**-46
"""Relative float error allowed to y, 128 units in the last place: log and log1p err by less than 4, ndtri by less than
60 (tests); b, sigma and two products add 4."""
BITS: Final = 63
HALF: Final = Fraction(1, 2)


def draw(law: Law, size: int) -> Ints:
    """`size` independent exact draws of a law; shape (size,)."""
    return _draw(law, size, system_words)


def system_words(count: int) -> NDArray[np.uint64]:
    """Fresh 64-bit words of the operating system's generator."""
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def _draw(law: Law, size: int, words: Words) -> Ints:
    """`draw` with the source of words as an argument, for tests of this file only."""
    if isinstance(law, DiscreteLaplace):
        stage: Callable[[Fraction, int, Words], Ints] = _laplace
    elif isinstance(law, RoundedNormal):
        stage = _normal
    else:
        raise TypeError(f"no exact draws of {law!r}")
    parts: list[Ints] = []
    left = size
    while left > 0:
        got = stage(law.scale, min(left, CHUNK), words)
        parts.append(got)
        left -= len(got)
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _laplace(b: Fraction, count: int, words: Words) -> Ints:
    """[laplace]: at most `count` draws; rejected words are dropped, so fewer may come back."""
    negative, u = _split(words(count))
    y, e = laplace_float(float(b), u)
    low, high = np.floor(np.maximum(y - e, 0.0)), np.floor(y + e)  # -b ln U is never below 0
    size = low.astype(np.int64)
    for i in np.flatnonzero(~(low == high)):  # NaN and inf are undecided too
        size[i] = _refine_laplace(b, int(u[i]), words)
    kept = ~(negative & (size == 0))
    return np.where(negative, -size, size)[kept]


def _normal(sigma: Fraction, count: int, words: Words) -> Ints:
    """[normal]: `count` draws."""
    negative, u = _split(words(count))
    y, e = normal_float(float(sigma), u)
    low, high = np.floor(np.maximum(y - e, 0.0) + 0.5), np.floor(y + e + 0.5)
    size = low.astype(np.int64)
    for i in np.flatnonzero(~(low == high)):
        size[i] = _refine_normal(sigma, int(u[i]), words)
    return np.where(negative, -size, size)


def _split(word: NDArray[np.uint64]) -> tuple[NDArray[np.bool_], NDArray[np.uint64]]:
    """[words]: sign bit, and the other 63 bits."""
    return (word >> np.uint64(BITS)).astype(np.bool_), word & np.uint64((1 << BITS) - 1)


def laplace_float(b: float, u: NDArray[np.uint64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """[float] for -b ln p: (y, e).  Near p = 1 the logarithm is taken of 1 - q with q small, to keep its digits."""
    upper = u >= np.uint64(1 << (BITS - 1))
    p = (u.astype(np.float64) + 0.5) * 2.0**-BITS  # one rounding, relative 2^-53: absorbed below p = 1/2
    rest = (np.uint64((1 << BITS) - 1) - u).astype(np.float64) + 0.5
    q = np.where(upper, rest * 2.0**-BITS, 0.25)
    with np.errstate(all="ignore"):
        y = -b * np.where(upper, np.log1p(-q), np.log(p))
        half_width = b * 2.0**-BITS / np.maximum(p - 2.0**-BITS, 0.0)  # |d ln p| <= dp / p, at the low end of I
        return y, np.abs(y) * MARGIN + half_width


def normal_float(sigma: float, u: NDArray[np.uint64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """[float] for sigma |N| = -sigma Phi^-1(p / 2): (y, e).

    dz = dp' / phi(z) for p' = p / 2, and p' / phi(z) <= 5/4 for z >= 0 (Mills' ratio at 0): a relative error r of p'
    moves z by at most 5r/4.  So rounding p' costs 2^-52, and half the width of I costs 5/4 * (1/2) / u.
    """
    from scipy.special import ndtri  # pyright: ignore

    whole = u.astype(np.float64) + 0.5
    with np.errstate(all="ignore"):
        z = -np.asarray(ndtri(whole * 2.0 ** -(BITS + 1)), dtype=np.float64)
        slack = np.abs(z) * MARGIN + 2.0**-50 + 1.0 / np.maximum(whole - 1.0, 0.0)
        return sigma * z, sigma * slack


def _refine_laplace(b: Fraction, u: int, words: Words) -> int:
    """[refine]: append words until floor(-b ln U) is the same at both ends of I."""
    bits = BITS
    while True:
        u, bits = (u << 64) | int(words(1)[0]), bits + 64
        if u == 0:
            continue
        most = _ln_ratio(1 << bits, u, bits)[1]  # -ln of the low end, rounded up
        least = max(_ln_ratio(1 << bits, u + 1, bits)[0], Fraction(0))
        k = floor(b * least)
        if k == floor(b * most):
            return k


def _ln_ratio(top: int, bottom: int, bits: int) -> tuple[Fraction, Fraction]:
    """Bounds of ln(top / bottom): `decimal`'s ln is correctly rounded, its quotient directed."""
    digits = bits // 3 + 30
    with decimal.localcontext(prec=digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN) as context:
        context.rounding = decimal.ROUND_FLOOR
        low = (decimal.Decimal(top) / decimal.Decimal(bottom)).ln().next_minus()
        context.rounding = decimal.ROUND_CEILING
        high = (decimal.Decimal(top) / decimal.Decimal(bottom)).ln().next_plus()
    return Fraction(low), Fraction(high)


def _refine_normal(sigma: Fraction, u: int, words: Words) -> int:
    """[refine]: append words until I lies between the tails at k - 1/2 and k + 1/2, doubled."""
    bits = BITS
    while True:
        u, bits = (u << 64) | int(words(1)[0]), bits + 64
        if u == 0:
            continue
        digits = bits // 3 + 30
        low, high = Fraction(u, 1 << (bits + 1)), Fraction(u + 1, 1 << (bits + 1))
        k = _cell(sigma, (low + high) / 2, digits)
        inside = high <= _tail(sigma, k - HALF, digits)[0] if k > 0 else True
        if inside and low >= _tail(sigma, k + HALF, digits)[1]:
            return k


def _cell(sigma: Fraction, p: Fraction, digits: int) -> int:
    """A k >= 0 with p about between the tails at k + 1/2 and k - 1/2: bisection from an approximate start."""
    from statistics import NormalDist

    start = max(0, round(float(sigma) * -NormalDist().inv_cdf(max(float(p), 1e-300))))
    low, high, step = start, start, 1
    while low > 0 and p > _tail(sigma, low - HALF, digits)[1]:
        low, step = max(0, low - step), 2 * step
    step = 1
    while p < _tail(sigma, high + HALF, digits)[0]:
        high, step = high + step, 2 * step
    while low < high:
        middle = (low + high) // 2
        if p < _tail(sigma, middle + HALF, digits)[0]:
            low = middle + 1
        else:
            high = middle
    return low


def _tail(sigma: Fraction, x: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Bounds of P(sigma N > x)."""
    low, high = normal_cdf(-x / sigma, digits)
    return Fraction(low), Fraction(high)
