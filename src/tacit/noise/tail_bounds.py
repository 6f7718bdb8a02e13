"""Rigorous bounds on exp(-x), -ln(1 - p) and the two-sided normal tail, in integers alone.  No data here.

A bound with `bits` bits is a pair of integers (lo, hi) with lo <= 2**bits * value <= hi.  Every operation rounds
outward (`>>` and `//` round down, and one is added to upper ends), so each result encloses its value; guard bits affect
only how narrow the pair is.  Labels [E1]-[E6] are sections of PROOF.md, beside this file.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import TypeAlias

Bounds: TypeAlias = tuple[int, int]


def exp_minus(x: Fraction, bits: int) -> Bounds:
    """Return bounds on exp(-x), x >= 0, with `bits` bits, about one unit wide.

    >>> lo, hi = exp_minus(Fraction(1), 64)
    >>> lo / 2**64, hi - lo <= 2
    (0.36787944117144233, True)
    """
    if x > bits:  # [E5] exp(-bits) < 2**-bits
        return 0, 1
    halvings = (x.numerator // x.denominator).bit_length() + 8  # y = x / 2**halvings < 2**-8
    # each squaring doubles the relative error, so that `halvings` of them cost that many bits
    guard = halvings + 8
    work = bits + guard
    lo, hi = _exp_series(_fixed(x, work - halvings), work)
    for _ in range(halvings):  # [E2] exp(-x) = exp(-y)**(2**halvings)
        lo, hi = lo * lo >> work, (hi * hi >> work) + 1
    # exp(-x) <= 1, so the upper bound is cut there
    return lo >> guard, min((hi >> guard) + 1, 1 << bits)


def minus_log(p: Bounds, bits: int) -> Bounds:
    """Return bounds on -ln(1 - p) with `bits` bits, given bounds on p, 0 <= p <= 1/2: the sum of p**k / k.

    >>> lo, hi = minus_log((1 << 63, 1 << 63), 64)
    >>> lo / 2**64, hi - lo <= 300
    (0.6931471805599453, True)
    """
    lo = hi = k = 0
    power_lo = power_hi = 1 << bits
    while True:
        k += 1
        power_lo, power_hi = power_lo * p[0] >> bits, (power_hi * p[1] >> bits) + 1
        # rounded up: it bounds both the term and, at the end, all that follow it
        term = power_hi // k + 1
        lo, hi = lo + power_lo // k, hi + term
        if term <= 2:
            return lo, hi + term  # [E6] the remaining terms add up to at most the last one


def minus_log_of(m: int, bits: int) -> Bounds:
    """Return bounds on -ln(m 2**-bits), 0 < m <= 2**bits, with `bits` bits: k ln 2 - ln f, where 1/2 <= f <= 1.

    >>> lo, hi = minus_log_of(1, 64)
    >>> lo / 2**64, hi - lo <= 20_000
    (44.3614195558365, True)
    """
    k = max(0, bits - m.bit_length())
    beyond = (1 << bits) - (m << k)
    two, log = log_two(bits), minus_log((beyond, beyond), bits)
    return k * two[0] + log[0], k * two[1] + log[1]


@lru_cache(maxsize=64)
def log_two(bits: int) -> Bounds:
    """Return bounds on ln 2, cached: the number of bits is nearly always one of a few."""
    return minus_log((1 << (bits - 1), 1 << (bits - 1)), bits)


def normal_tail(x: Fraction, bits: int) -> Bounds:
    """Return bounds on P(|Z| > x), Z standard normal, x >= 0, with `bits` bits, about one unit wide.

    >>> lo, hi = normal_tail(Fraction(3), 64)
    >>> lo / 2**64, hi - lo <= 2
    (0.002699796063260189, True)
    """
    square = x * x
    if square > 2 * bits:  # [E5] P(|Z| > x) <= exp(-x**2 / 2) < 2**-bits
        return 0, 1
    # 3/4 > log2(e) / 2 = 0.7213; the odd series is at most x exp(x**2 / 2), so the product needs so many more bits
    growth = square.numerator * 3 // (square.denominator * 4) + 4  # exp(x**2 / 2) < 2**growth
    work = bits + growth + 16
    sum_lo, sum_hi = _odd_series(_fixed(x, work), work)
    exp_lo, exp_hi = exp_minus(square / 2, work)
    root_lo, root_hi = root_two_over_pi(work)
    below = (sum_lo * exp_lo >> work) * root_lo >> work
    above = (((sum_hi * exp_hi >> work) + 1) * root_hi >> work) + 1
    # the tail is one less the mass within [-x, x]: bounds change sides
    one, spare = 1 << work, work - bits
    return max(0, (one - above) >> spare), min(((one - below) >> spare) + 1, 1 << bits)  # [E3]


def _fixed(x: Fraction, bits: int) -> Bounds:
    """Return bounds on x itself: two neighbouring multiples of 2**-bits."""
    lo = (x.numerator << bits) // x.denominator
    return lo, lo + 1


def _exp_series(y: Bounds, work: int) -> Bounds:
    """[E1] Bound exp(-y) for 0 <= y < 1/2: terms alternate and decrease, so the next one bounds the remainder."""
    lo = hi = term_lo = term_hi = 1 << work
    k = 0
    while term_hi > 1:
        k += 1
        term_lo = (term_lo * y[0] >> work) // k
        term_hi = ((term_hi * y[1] >> work) + 1) // k + 1
        # an odd term is subtracted: its upper bound lowers the lower end
        lo, hi = (lo - term_hi, hi - term_lo) if k & 1 else (lo + term_lo, hi + term_hi)
    return lo - term_hi, hi + term_hi


def _odd_series(x: Bounds, work: int) -> Bounds:
    """[E4] Bound the sum of the positive terms x**(2k+1) / (2k+1)!!.

    Summation stops once each further term is at most half the one before and below two units: the remainder is then at
    most the last term.
    """
    square = x[0] * x[0] >> work, (x[1] * x[1] >> work) + 1
    lo, hi = term_lo, term_hi = x
    odd = 1
    while True:
        odd += 2
        term_lo = (term_lo * square[0] >> work) // odd
        term_hi = ((term_hi * square[1] >> work) + 1) // odd + 1
        lo, hi = lo + term_lo, hi + term_hi
        # x**2 <= odd / 2: every later ratio x**2 / (odd + 2) is below one half  [E4]
        if term_hi <= 2 and 2 * square[1] <= odd << work:
            return lo, hi + 2 * term_hi


@lru_cache(maxsize=16)
def root_two_over_pi(bits: int) -> Bounds:
    """Return bounds on sqrt(2 / pi)."""
    # π enters the square root in the denominator: its upper bound gives the lower end
    pi_lo, pi_hi = _pi(bits + 24)
    top = 1 << (3 * bits + 25)  # 2 * 2**(2 bits) * 2**(bits + 24)
    # isqrt rounds down: one is added at the upper end, for the quotient and for the root
    return isqrt(top // pi_hi), isqrt(top // pi_lo + 1) + 1


def _pi(bits: int) -> Bounds:
    """Return bounds on pi = 16 arctan(1/5) - 4 arctan(1/239) [Machin]."""
    five, far = _arctan_inverse(5, bits), _arctan_inverse(239, bits)
    return 16 * five[0] - 4 * far[1], 16 * five[1] - 4 * far[0]


def _arctan_inverse(m: int, bits: int) -> Bounds:
    """Return bounds on arctan(1/m), an alternating decreasing series: powers and quotients err by at most one unit."""
    power, total, k = (1 << bits) // m, 0, 0
    while power:
        total += power // (2 * k + 1) if k % 2 == 0 else -(power // (2 * k + 1))
        power //= m * m
        k += 1
    return total - 2 * k - 2, total + 2 * k + 2
