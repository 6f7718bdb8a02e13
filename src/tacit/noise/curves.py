"""Quantile functions that turn a uniform p in (0, 1) into |noise| of scale 1, and certified polynomials for them.

    exponential    F(p) = -ln p               tail(v) = exp(-v)       integer k is the cell [k, k + 1)
    half normal    F(p) = Phi^-1(1 - p / 2)   tail(v) = P(|Z| > v)    integer k is the cell [k - 1/2, k + 1/2)

`tail` is the inverse of F.  Both curves decrease from infinity to 0 and their derivatives alternate in sign ([C] of
PROOF.md, beside this file), so the Lagrange remainder of a Taylor polynomial is largest at the left end of its piece.
`pieces` computes the polynomials, with coefficients from the bounds of `tail_bounds` and one error bound for all.
Everything here is a mathematical constant: no data, no scale, no random word.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from statistics import NormalDist
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.noise.tail_bounds import Bounds, exp_minus, normal_tail, root_two_over_pi

BITS: Final = 63
"""Binary digits of p that a word gives: one less than its 64 bits, as the last one is the sign."""
OCTAVES: Final = 12
"""Pieces cover p in [2**-OCTAVES, 1); one draw in 2**OCTAVES is below that and is decided in integers."""
SPLIT: Final = 5
"""Each octave is divided into 2**SPLIT pieces of equal width."""
DEGREE: Final = 8
"""Degree of the polynomials."""
UNIT: Final = Fraction(1, 2**53)
"""Unit roundoff of a float: one IEEE operation errs by at most UNIT * |its result|."""
CERTAIN: Final = Fraction(1, 2**80)
"""Largest error of F at the centre of a piece, before it is rounded to a float."""
WORK: Final = 128
"""Bits of the bounds from which coefficients are computed."""


class Curve(Protocol):
    """A decreasing function F: (0, 1) -> (0, inf), rigorous bounds on its inverse, and the edges of its cells."""

    @property
    def shift(self) -> Fraction:
        """Cell k > 0 begins at k - shift; cell 0 begins at 0."""
        ...

    def tail(self, v: Fraction, bits: int) -> Bounds:
        """Return bounds on the inverse of F at v >= 0, with `bits` bits."""
        ...

    def near(self, m: int, bits: int) -> float:
        """Return F(m / 2**bits) approximately, 0 < m < 2**bits: where a search starts, never what it finds."""
        ...

    def slopes(self, p: Fraction, v: Fraction, count: int) -> list[Fraction]:
        """Return (-1)**n F^(n)(p) / n! for n = 1 .. count, given v = F(p): positive, relative error below 2**-60."""
        ...


@dataclass(frozen=True)
class ExponentialCurve:
    """The curve F(p) = -ln p of the exponential law: floor(b F(p)) is geometric with ratio exp(-1/b)."""

    shift: Fraction = Fraction(0)

    def tail(self, v: Fraction, bits: int) -> Bounds:
        """See `Curve.tail`."""
        return exp_minus(v, bits)

    def near(self, m: int, bits: int) -> float:
        """See `Curve.near`."""
        # for p of one half or more the two logarithms would cancel
        return bits * math.log(2) - math.log(m) if m.bit_length() < bits else -math.log(m / (1 << bits))

    def slopes(self, p: Fraction, v: Fraction, count: int) -> list[Fraction]:
        """See `Curve.slopes`: 1 / (n p**n)."""
        return [1 / (n * p**n) for n in range(1, count + 1)]


@dataclass(frozen=True)
class HalfNormal:
    """The curve F(p) = Phi^-1(1 - p/2): |Z| of a standard normal Z, as a function of its two-sided tail p."""

    shift: Fraction = Fraction(1, 2)

    def tail(self, v: Fraction, bits: int) -> Bounds:
        """See `Curve.tail`."""
        return normal_tail(v, bits)

    def near(self, m: int, bits: int) -> float:
        """See `Curve.near`: for p too small for a float, Newton steps on the asymptotic series of log P(|Z| > z)."""
        # p is above about 2**-1000, a normal float
        if bits - m.bit_length() < 1000:
            return -NormalDist().inv_cdf(m / (1 << bits) / 2)
        target = bits * math.log(2) - math.log(m)
        # leading term of -log P(|Z| > z) = z**2 / 2 + log(z sqrt(π / 2)) - log(1 - 1/z**2 + 3/z**4 - ...)
        z = math.sqrt(2 * target)
        for _ in range(4):
            r = 1 / z**2
            series = math.log(z * math.sqrt(math.pi / 2)) - math.log1p(-r + 3 * r**2 - 15 * r**3)
            # Newton: the derivative of the left side is z + 1 / z but for terms of order z**-3
            z -= (z * z / 2 + series - target) / (z + 1 / z)
        return z

    def slopes(self, p: Fraction, v: Fraction, count: int) -> list[Fraction]:
        """See `Curve.slopes`: P_n(v) / (n! d**n), d = 2 phi(v), P_1 = 1, P_(n+1) = P_n' + n v P_n  [C]."""
        # dv/dp = -1 / (2 phi(v)), since p = 2 Phi(-v)
        steep = 1 / _density(v)
        found: list[Fraction] = []
        power, factorial = Fraction(1), 1
        for n, polynomial in enumerate(_hermite_like(count), start=1):
            power, factorial = power * steep, factorial * n
            found.append(_value(polynomial, v) * power / factorial)
        return found


EXPONENTIAL: Final = ExponentialCurve()
HALF_NORMAL: Final = HalfNormal()


def _density(v: Fraction) -> Fraction:
    """Return 2 phi(v) = sqrt(2/pi) exp(-v**2/2); relative error below 2**-90 for v <= 6, where phi(v) > 2**-28."""
    return Fraction(root_two_over_pi(WORK)[0] * exp_minus(v * v / 2, WORK)[0] >> WORK, 1 << WORK)


def _value(polynomial: tuple[int, ...], v: Fraction) -> Fraction:
    """Return a polynomial (coefficients from the constant up) at v, exactly; one common denominator, reduced once."""
    total, lower = 0, 1
    for c in reversed(polynomial):
        total = total * v.numerator + c * lower
        lower *= v.denominator
    return Fraction(total, lower // v.denominator)


@cache
def _hermite_like(count: int) -> tuple[tuple[int, ...], ...]:
    """Return the coefficients of P_1 .. P_count of [C], constant first; none is negative."""
    found: list[tuple[int, ...]] = [(1,)]
    for n in range(1, count):
        last = found[-1]
        # n v P_n: coefficients move up by one power; P_n': they move down
        raised = [0, *(n * c for c in last)]
        lowered = [i * c for i, c in enumerate(last)][1:]
        found.append(tuple(c + (lowered[i] if i < len(lowered) else 0) for i, c in enumerate(raised)))
    return tuple(found)


@dataclass(frozen=True)
class Pieces:
    """Taylor polynomials of a curve: coefficients[n, i] belongs to t**n, |t| <= 1, on piece i; pieces ascend with p.

    For any float t in [-1, 1], Horner's rule in floats errs by at most error + 2.02 UNIT |its result|  [T].
    """

    coefficients: NDArray[np.float64]
    error: float


READY: Final[set[Curve]] = set()
"""Curves whose polynomials this process has."""


@cache
def pieces(curve: Curve) -> Pieces:
    """Return the certified polynomials of a curve: [T] of PROOF.md.  Takes a quarter of a second, once in a process."""
    columns: list[list[float]] = []
    worst = Fraction(0)
    steepest: Fraction | None = None  # |F^(DEGREE+1)| / (DEGREE+1)! at the centre of the piece before
    for p, radius in _centres():
        v = _invert(curve, p)
        slopes = curve.slopes(p, v, DEGREE + 1)
        # the extra first piece only serves as the left neighbour of the second
        if steepest is not None:
            scaled = [s * radius**n for n, s in enumerate(slopes[:DEGREE], start=1)]
            # derivatives alternate in sign [C]: odd ones are negative
            columns.append([float(v), *(float(-s if n % 2 else s) for n, s in enumerate(scaled, start=1))])
            # rounding of coefficients and of Horner's rule, plus the Lagrange remainder
            worst = max(worst, 22 * UNIT * sum(scaled) + steepest * radius ** (DEGREE + 1))
        steepest = slopes[DEGREE]
    table = np.array(columns, dtype=np.float64).T.copy()
    table.flags.writeable = False
    READY.add(curve)
    # the conversion to a float may round down: enlarged before by far more than that
    return Pieces(table, float(worst * (1 + UNIT * 2**10)))


def _centres() -> list[tuple[Fraction, Fraction]]:
    """Return centre and radius of every piece, preceded by one extra piece below the first, for its derivative only."""
    count = 1 << SPLIT
    # the last piece of the octave below, half as wide as the pieces of the first octave
    extra = Fraction(4 * count - 1, 4 * count) / 2**OCTAVES, Fraction(1, 4 * count) / 2**OCTAVES
    centres = [
        (Fraction(2 * count + 2 * j + 1, 2 * count) / 2**octave, Fraction(1, 2 * count) / 2**octave)
        for octave in range(OCTAVES, 0, -1)
        for j in range(count)
    ]
    return [extra, *centres]


def _invert(curve: Curve, p: Fraction) -> Fraction:
    """Return F(p) with an error of at most CERTAIN: a Newton step from a float, then a check by bounds on `tail`."""
    start = Fraction(curve.near(p.numerator << (BITS - p.denominator.bit_length() + 1), BITS))
    lo, hi = curve.tail(start, WORK)
    # Newton: tail' = 1 / F' = -1 / slope, so that a tail too large means a v too small
    v = start + (Fraction(lo + hi, 2 << WORK) - p) * curve.slopes(p, start, 1)[0]
    # shorter numbers: powers of v are taken exactly later
    v = Fraction(round(v * 2**96), 2**96)
    if not curve.tail(v + CERTAIN, WORK)[1] < p * 2**WORK < curve.tail(v - CERTAIN, WORK)[0]:
        raise ArithmeticError(f"no certain inverse of {p}")
    return v
