"""The float stage: certified pieces, their error bound, and that no word is ever decided wrongly."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from tacit.noise import exact
from tacit.noise.curves import BITS, EXPONENTIAL, HALF_NORMAL, OCTAVES, SPLIT, UNIT, Curve, pieces

CURVES = [EXPONENTIAL, HALF_NORMAL]
SCALES = [Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(10**6), Fraction(10**9), Fraction(10**12)]
RNG = np.random.default_rng


def hard_words(count: int, seed: int = 1) -> np.ndarray:
    """63-bit integers over all octaves that have pieces: random, ends and middles of pieces, and their neighbours."""
    rng = RNG(seed)
    octave = rng.integers(0, OCTAVES, count)
    spread = (rng.integers(1 << 62, (1 << 63) - 1, count) >> octave).astype(np.int64)
    ends = [((1 << (SPLIT + 1)) + j) << (BITS - SPLIT - 2 - o) for o in range(OCTAVES) for j in range(1 << (SPLIT + 1))]
    near = [m + d for m in ends for d in (-1025, -1, 0, 1, 1025)]
    return np.array([m for m in [*near, *spread.tolist(), (1 << 63) - 1, (1 << 63) - 513] if 1 << 51 <= m < 1 << 63])


@pytest.mark.sample(2)
@pytest.mark.parametrize("curve", CURVES)
def test_polynomials_keep_the_proven_error(curve: Curve) -> None:
    """[T]: |f - F(p)| <= 2.02 UNIT |f| + error, shown by tail(f + e) < p < tail(f - e) in integers."""
    table = pieces(curve)
    x = hard_words(8_000).astype(np.float64)
    x = x[x < 2.0**63]
    found = exact._horner(table, x)
    for place, value in zip(x.tolist(), found.tolist(), strict=True):
        p = Fraction(int(place), 1 << BITS)
        e = Fraction(202, 100) * UNIT * abs(Fraction(value)) + Fraction(table.error)
        assert curve.tail(Fraction(value) + e, 140)[0] <= p * 2**140
        assert Fraction(value) < e or curve.tail(Fraction(value) - e, 140)[1] >= p * 2**140


@pytest.mark.parametrize("curve", CURVES)
def test_figures_that_the_proof_states(curve: Curve) -> None:
    table = pieces(curve)
    sums = np.abs(table.coefficients[1:]).sum(axis=0)
    assert table.error < 0.42 * float(UNIT)
    assert sums.min() > 2.0**-10
    assert np.abs(table.coefficients).min() > 1e-25
    assert 0.007 < table.coefficients[0].min() < table.coefficients[0].max() < 9
    assert np.all(np.diff(table.coefficients[0]) < 0)
    assert not table.coefficients.flags.writeable


def test_slopes_are_the_derivatives() -> None:
    """Taylor coefficients of both curves against mpmath's own at 60 digits."""
    with mpmath.workdps(60):
        for curve in CURVES:
            for p in (Fraction(3, 4), Fraction(1, 5), Fraction(1, 3000)):
                if curve is EXPONENTIAL:
                    v = -mpmath.log(mpmath.mpf(p.numerator) / p.denominator)
                else:
                    v = mpmath.sqrt(2) * mpmath.erfinv(1 - mpmath.mpf(p.numerator) / p.denominator)
                slopes = curve.slopes(p, Fraction(int(v * 2**150), 2**150), 9)
                assert all(s > 0 for s in slopes)
                # the series moved by a twentieth of p must give the inverse of tail at the new place
                step = p / 20
                moved = v + sum(
                    (mpmath.mpf(s.numerator) / s.denominator) * (-1) ** n * float(step) ** n
                    for n, s in enumerate(slopes, start=1)
                )
                back = mpmath.exp(-moved) if curve is EXPONENTIAL else mpmath.erfc(moved / mpmath.sqrt(2))
                assert abs(back / (mpmath.mpf((p + step).numerator) / (p + step).denominator) - 1) < 1e-12


@pytest.mark.sample(3)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("curve", CURVES)
def test_decided_words_are_decided_rightly(curve: Curve, scale: Fraction) -> None:
    """Every cell that the floats decide is the one that the integers find, edges of cells included."""
    words = np.concatenate([hard_words(400), edge_words(curve, scale)])
    cell, undecided = exact.decide(curve, pieces(curve), scale, words)
    assert np.mean(~undecided[:400]) > 0.9
    for m, k, open_ in zip(words.tolist(), cell.tolist(), undecided.tolist(), strict=True):
        if not open_:
            assert exact.search(curve, scale, m, BITS) == k


def edge_words(curve: Curve, scale: Fraction) -> np.ndarray:
    """The words at, just before and just after edges of cells: where an error of the floats would show."""
    most = int(scale * 3) + 2
    edges = sorted({*range(1, min(most, 40)), *RNG(2).integers(1, most, 100).tolist()})
    found = [
        curve.tail((k - curve.shift) / scale, BITS)[0] + d for k in edges for d in (-(2**20), -9, -1, 0, 1, 9, 2**20)
    ]
    return np.array([m for m in found if 0 < m < 1 << 63], dtype=np.int64)


@pytest.mark.parametrize("curve", CURVES)
def test_words_outside_the_pieces_are_left_to_the_integers(curve: Curve) -> None:
    words = np.array([0, 1, 2**40, 2**51 - 1, 2**63 - 1, 2**63 - 512], dtype=np.int64)
    undecided = exact.decide(curve, pieces(curve), Fraction(1), words)[1]
    assert undecided.tolist() == [True, True, True, True, True, True]


@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_assumption_a2_float_operations_round_to_nearest(operation: Callable[[Any, Any], Any]) -> None:
    """A2 of PROOF.md on this machine: numpy's result is the float nearest to the exact one."""
    rng = RNG(3)
    a, b = rng.uniform(-1, 1, (2, 4_000)) * 2.0 ** rng.integers(-40, 40, (2, 4_000))
    found = operation(a, b)
    for x, y, z in zip(a.tolist(), b.tolist(), found.tolist(), strict=True):
        assert z == float(operation(Fraction(x), Fraction(y)))


def test_assumption_a2_integers_become_the_nearest_float() -> None:
    m = np.concatenate([RNG(4).integers(0, 1 << 63, 4_000), np.array([(1 << 63) - 1, (1 << 53) + 1, (1 << 54) + 3])])
    assert m.astype(np.float64).tolist() == [float(Fraction(i)) for i in m.tolist()]
