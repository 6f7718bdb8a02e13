"""Integer bounds against mpmath, at places and precisions that hypothesis chooses."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.noise.tail_bounds import exp_minus, normal_tail, root_two_over_pi

PLACES = st.fractions(0, 60) | st.fractions(0, Fraction(1, 10**15)) | st.integers(0, 60).map(Fraction)
BITS = st.integers(60, 700)


def scaled(value: mpmath.mpf, bits: int) -> mpmath.mpf:
    return value * mpmath.mpf(2) ** bits


def exact(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


@settings(max_examples=300, deadline=None)
@given(PLACES, BITS)
def test_exp_minus_encloses_and_is_narrow(x: Fraction, bits: int) -> None:
    with mpmath.workprec(bits + 300):
        lo, hi = exp_minus(x, bits)
        assert 0 <= lo <= scaled(mpmath.exp(-exact(x)), bits) <= hi <= 1 << bits
        assert hi - lo <= 2


@settings(max_examples=300, deadline=None)
@given(PLACES, BITS)
def test_normal_tail_encloses_and_is_narrow(x: Fraction, bits: int) -> None:
    with mpmath.workprec(bits + 300):
        lo, hi = normal_tail(x, bits)
        assert 0 <= lo <= scaled(mpmath.erfc(exact(x) / mpmath.sqrt(2)), bits) <= hi <= 1 << bits
        assert hi - lo <= 2


@pytest.mark.parametrize("bits", [63, 79, 128, 1000, 5000])
def test_root_two_over_pi(bits: int) -> None:
    with mpmath.workprec(bits + 50):
        lo, hi = root_two_over_pi(bits)
        assert lo <= scaled(mpmath.sqrt(2 / mpmath.pi), bits) <= hi
        assert hi - lo <= 2


def test_ends_of_the_range() -> None:
    assert exp_minus(Fraction(0), 64)[1] == 1 << 64
    assert normal_tail(Fraction(0), 64)[1] == 1 << 64
    assert exp_minus(Fraction(10**15), 64) == (0, 1)
    assert normal_tail(Fraction(10**15), 64) == (0, 1)
    assert normal_tail(Fraction(1, 10**15), 200)[0] < 1 << 200
