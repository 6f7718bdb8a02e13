"""The two curves that turn a uniform p in (0, 1) into the size of a noise of scale 1, and their certified pieces.

    exponential    F(p) = -ln p               tail(v) = exp(-v)       cells [k, k + 1)
    half normal    F(p) = Phi^-1(1 - p / 2)   tail(v) = P(|Z| > v)    cells [k - 1/2, k + 1/2)

`tail` is the inverse of F.  Both curves fall from infinity to 0 and their derivatives alternate in sign ([C] of
PROOF.md, beside this file), so that Lagrange's remainder of a Taylor polynomial is largest at the left end of a piece.
`pieces` makes such polynomials, with coefficients from `enclosures` and one error bound that holds for all of them.
Everything is a constant of mathematics: no data, no scale, no random word.
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
"""p is known as an integer of so many bits, one less than a word: the other bit is the sign."""
OCTAVES: Final = 12
"""Pieces cover p in [2**-OCTAVES, 1); one draw in 2**OCTAVES is below, and is decided in integers."""
SPLIT: Final = 5
"""Each octave has 2**SPLIT pieces of equal width."""
DEGREE: Final = 8
UNIT: Final = Fraction(1, 2**53)
"""Half a unit in the last place of a float: one IEEE operation errs by at most UNIT * |its result|."""
CERTAIN: Final = Fraction(1, 2**80)
WORK: Final = 128


class Curve(Protocol):
    """A decreasing F: (0, 1) -> (0, inf), its inverse with certain bounds, and where its cells begin."""

    @property
    def shift(self) -> Fraction:
        """Cell k > 0 begins at k - shift; cell 0 begins at 0."""
        ...

    def tail(self, v: Fraction, bits: int) -> Bounds:
        """Bounds on the inverse of F at v >= 0."""
        ...

    def near(self, m: int, bits: int) -> float:
        """About F(m / 2**bits), 0 < m < 2**bits: a place to start, nothing rests on it."""
        ...

    def slopes(self, p: Fraction, v: Fraction, count: int) -> list[Fraction]:
        """(-1)**n F^(n)(p) / n! for n = 1 .. count, all positive, given v = F(p); relative error below 2**-60."""
        ...


@dataclass(frozen=True)
class ExponentialCurve:
    """F(p) = -ln p: floor(b F(p)) is geometric with ratio exp(-1/b)."""

    shift: Fraction = Fraction(0)

    def tail(self, v: Fraction, bits: int) -> Bounds:
        """See `Curve.tail`."""
        return exp_minus(v, bits)

    def near(self, m: int, bits: int) -> float:
        """See `Curve.near`."""
        return bits * math.log(2) - math.log(m) if m.bit_length() < bits else -math.log(m / (1 << bits))

    def slopes(self, p: Fraction, v: Fraction, count: int) -> list[Fraction]:
        """See `Curve.slopes`: 1 / (n p**n)."""
        return [1 / (n * p**n) for n in range(1, count + 1)]


@dataclass(frozen=True)
class HalfNormal:
    """F(p) = Phi^-1(1 - p/2): the size of a standard normal, as a function of its two-sided tail."""

    shift: Fraction = Fraction(1, 2)

    def tail(self, v: Fraction, bits: int) -> Bounds:
        """See `Curve.tail`."""
        return normal_tail(v, bits)

    def near(self, m: int, bits: int) -> float:
        """See `Curve.near`: beyond the floats, Newton's steps on the asymptotic series of log P(|Z| > z)."""
        if bits - m.bit_length() < 1000:
            return -NormalDist().inv_cdf(m / (1 << bits) / 2)
        target = bits * math.log(2) - math.log(m)
        z = math.sqrt(2 * target)
        for _ in range(4):
            r = 1 / z**2
            series = math.log(z * math.sqrt(math.pi / 2)) - math.log1p(-r + 3 * r**2 - 15 * r**3)
            z -= (z * z / 2 + series - target) / (z + 1 / z)
        return z

    def slopes(self, p: Fraction, v: Fraction, count: int) -> list[Fraction]:
        """See `Curve.slopes`: P_n(v) / (n! d**n), d = 2 phi(v), P_1 = 1, P_(n+1) = P_n' + n v P_n  [C]."""
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
    """2 phi(v) = sqrt(2/pi) exp(-v**2/2), relative error below 2**-90 for v <= 6, where phi(v) > 2**-28."""
    return Fraction(root_two_over_pi(WORK)[0] * exp_minus(v * v / 2, WORK)[0] >> WORK, 1 << WORK)


def _value(polynomial: tuple[int, ...], v: Fraction) -> Fraction:
    """A polynomial at v, exactly."""
    total, lower = 0, 1
    for c in reversed(polynomial):
        total = total * v.numerator + c * lower
        lower *= v.denominator
    return Fraction(total, lower // v.denominator)


@cache
def _hermite_like(count: int) -> tuple[tuple[int, ...], ...]:
    """Coefficients of P_1 .. P_count, lowest degree first; none is negative."""
    found: list[tuple[int, ...]] = [(1,)]
    for n in range(1, count):
        last = found[-1]
        raised = [0, *(n * c for c in last)]
        lowered = [i * c for i, c in enumerate(last)][1:]
        found.append(tuple(c + (lowered[i] if i < len(lowered) else 0) for i, c in enumerate(raised)))
    return tuple(found)


@dataclass(frozen=True)
class Pieces:
    """coefficients[n, i] of t**n, |t| <= 1, on piece i; pieces in the order of p, upwards from 2**-OCTAVES.

    For any float t in [-1, 1], Horner's rule in floats errs by at most error + 2.02 UNIT |its result|  [T].
    """

    coefficients: NDArray[np.float64]
    error: float


@cache
def pieces(curve: Curve) -> Pieces:
    """The certified pieces of a curve: [T] of PROOF.md.  A quarter of a second, once a process."""
    columns: list[list[float]] = []
    worst = Fraction(0)
    steepest: Fraction | None = None  # |F^(DEGREE+1)| / (DEGREE+1)! at the centre of the piece before
    for p, radius in _centres():
        v = _invert(curve, p)
        slopes = curve.slopes(p, v, DEGREE + 1)
        if steepest is not None:
            scaled = [s * radius**n for n, s in enumerate(slopes[:DEGREE], start=1)]
            columns.append([float(v), *(float(-s if n % 2 else s) for n, s in enumerate(scaled, start=1))])
            worst = max(worst, 22 * UNIT * sum(scaled) + steepest * radius ** (DEGREE + 1))
        steepest = slopes[DEGREE]
    table = np.array(columns, dtype=np.float64).T.copy()
    table.flags.writeable = False
    return Pieces(table, float(worst * (1 + UNIT * 2**10)))


def _centres() -> list[tuple[Fraction, Fraction]]:
    """Centre and radius of every piece, after one extra piece below the first."""
    count = 1 << SPLIT
    extra = Fraction(4 * count - 1, 4 * count) / 2**OCTAVES, Fraction(1, 4 * count) / 2**OCTAVES
    centres = [
        (Fraction(2 * count + 2 * j + 1, 2 * count) / 2**octave, Fraction(1, 2 * count) / 2**octave)
        for octave in range(OCTAVES, 0, -1)
        for j in range(count)
    ]
    return [extra, *centres]


def _invert(curve: Curve, p: Fraction) -> Fraction:
    """F(p), off by at most CERTAIN: Newton's step from a float, then the certificate that tail encloses p."""
    start = Fraction(curve.near(p.numerator << (BITS - p.denominator.bit_length() + 1), BITS))
    lo, hi = curve.tail(start, WORK)
    v = start + (Fraction(lo + hi, 2 << WORK) - p) * curve.slopes(p, start, 1)[0]
    v = Fraction(round(v * 2**96), 2**96)
    if not curve.tail(v + CERTAIN, WORK)[1] < p * 2**WORK < curve.tail(v - CERTAIN, WORK)[0]:
        raise ArithmeticError(f"no certain inverse of {p}")
    return v
