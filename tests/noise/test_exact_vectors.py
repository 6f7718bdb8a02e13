"""Exact vectors: every draw against mpmath on the very words it read, both paths, refinement, bounds, law, audit."""

from __future__ import annotations

import inspect
import math
import sys
import weakref
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.special import betainc, chdtrc, gammainc, gammaincc
from scipy.stats import kstest

from tacit.noise import exact, exact_vectors
from tacit.noise.exact_vectors import START, Mixture, draw_vector, draw_vectors, drawn
from tacit.noise.spherical import SphericalLaplace
from tacit.noise.tail_bounds import log_two, minus_log_of
from tacit.testing.audit import epsilon_lower_bound
from tacit.testing.noise_law_test import noise_law

ALL = (1 << 64) - 1
WIDE = Fraction(10**6)
LEVEL = 1e-6


def words(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.integers(0, ALL, count, dtype=np.uint64, endpoint=True)


class Stream:
    """Words, kept by who asked: rounds of the uniforms of W, first and further words of coordinates."""

    def __init__(self, seed: int, *given: Sequence[int]) -> None:
        self.rng, self.given = np.random.default_rng(seed), [list(one) for one in (*given, [], [], [])]
        self.kept: tuple[list[list[int]], ...] = ([], [], [])
        self.rounds, self.first, self.more = self.kept

    def __call__(self, count: int) -> np.ndarray:
        kind = ("longer", "drawn", "_certain").index(sys._getframe(1).f_code.co_name)
        found = [*self.given[kind][:count], *words(self.rng, count).tolist()][:count]
        del self.given[kind][:count]
        self.kept[kind].append(found)
        assert len(self.rounds) < 6, "the draw does not end"
        return np.array(found, dtype=np.uint64)


def joined(digits: Sequence[int]) -> int:
    return sum(word << 64 * i for i, word in enumerate(reversed(digits)))


def half_normal(p: Fraction) -> mpmath.mpf:
    """|N| with P(|N| > .) = p: the inverse of erf, in far tails Newton's method on the logarithm of erfc."""
    if p > Fraction(1, 1000):
        return mpmath.sqrt(2) * mpmath.erfinv(1 - mpmath.mpmathify(p))
    log = mpmath.log(p)
    return mpmath.findroot(lambda t: mpmath.log(mpmath.erfc(t / mpmath.sqrt(2))) - log, mpmath.sqrt(-2 * log))


def chi_squared(p: list[Fraction], normal: bool) -> mpmath.mpf:
    """W of uniforms, of which the last makes a squared normal or not."""
    return half_normal(p[-1]) ** 2 + chi_squared(p[:-1], False) if normal else -2 * mpmath.fsum(map(mpmath.log, p))


def radius(rounds: list[list[int]], dimension: int) -> mpmath.mpf:
    """sqrt(W) of rounds of words, with the middle of what they leave open."""
    p = [Fraction(2 * joined(one) + 1, 2 << 64 * len(rounds)) for one in zip(*rounds, strict=True)]
    assert len(p) == dimension // 2 + 1
    return mpmath.sqrt(chi_squared(p, dimension % 2 == 0))


def by_mpmath(law: SphericalLaplace, stream: Stream) -> list[int]:
    """floor(s sqrt(W) |N| + 1/2) with its sign, at 60 digits; words that came later are those of the first."""
    found = []
    with mpmath.workdps(60):
        scaled = radius(stream.rounds, law.dimension) * law.scale
        for i, word in enumerate(stream.first[0]):
            digits = [word >> 1, *(one for (one,) in ([] if i else stream.more))]
            normal = half_normal(Fraction(2 * joined(digits) + 1, 1 << 64 * len(digits)))
            found.append((-1) ** (word & 1) * int(mpmath.floor(scaled * normal + 0.5)))
    return found


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 10, 79, 80])
def test_draws_are_those_of_mpmath_by_floats_and_integers(dimension: int) -> None:
    for seed, scale in enumerate((Fraction(1, 1000), Fraction(1, 3), WIDE, Fraction(10**11), WIDE**2)):
        law, streams = SphericalLaplace(scale, dimension), [Stream(seed) for _ in range(3)]
        found = [drawn(law, one, floats=floats) for one, floats in zip(streams, (True, False, True), strict=True)]
        assert found[0] == found[1] == found[2] == by_mpmath(law, streams[0])
        assert {type(k) for some in found for k in some} == {int}
        # the same words were read: START of each uniform and one of each coordinate
        assert len({str((one.rounds, one.first)) for one in streams}) == 1
        assert [(len(one.rounds), one.more) for one in streams] == [(START, [])] * 3


def test_floats_decide_nearly_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2,003 coordinates floats leave one in 4,096 to integers, and those near an edge; of a vague radius, all."""
    asked: list[int] = []
    true = exact_vectors._certain
    monkeypatch.setattr(exact_vectors, "_certain", lambda m, *rest: (asked.append(m), true(m, *rest))[1])
    for dimension, start, least, most in ((1001, START, 0, 4), (1002, START, 0, 8), (66, 1, 66, 74)):
        monkeypatch.setattr(exact_vectors, "START", start)
        drawn(SphericalLaplace(WIDE, dimension), partial(words, np.random.default_rng(1)), floats=True)
        assert least <= len(asked) <= most


@pytest.mark.parametrize("dimension", [2, 4, 10, 66])
def test_a_vague_radius_is_read_further(dimension: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 32 digits of the normal, cells are uncertain at scale 1e12."""
    monkeypatch.setattr(exact_vectors, "START", 1)
    for scale, rounds in ((10**12, 2), (10, 1)):
        law, stream = SphericalLaplace(Fraction(scale), dimension), Stream(8)
        assert drawn(law, stream, floats=True) == by_mpmath(law, stream)
        assert len(stream.rounds) == rounds


@pytest.mark.parametrize("floats", [True, False])
@pytest.mark.parametrize("dimension", [3, 4, 5, 79])
def test_a_coordinate_on_an_edge_is_refined(dimension: int, floats: bool) -> None:
    """63 + 64 digits are those of an edge at the final radius: both are read further, and the draw is right."""
    rng = np.random.default_rng(9)
    rounds = [words(rng, dimension // 2 + 1).tolist() for _ in range(6)]
    with mpmath.workdps(80):
        edge = Fraction(2467, 2000) / radius(rounds, dimension)  # of cell 1234 at scale 1000
        digits = int(mpmath.floor(mpmath.erfc(edge / mpmath.sqrt(2)) * mpmath.mpf(2) ** 191))
    for p, expected in ((digits - (1 << 40), 1234), (digits + (1 << 40), 1233)):
        more = [p >> 64 & ALL, p & ALL]
        stream = Stream(9, [one for some in rounds for one in some], [p >> 128 << 1 | 1], more)
        assert drawn(SphericalLaplace(Fraction(1000), dimension), stream, floats=floats)[0] == -expected
        assert ([one for (one,) in stream.more], len(stream.rounds) > START) == (more, True)


CASES = [  # dimension, rounds at least, words
    (3, 3, [0, 5, 0, 6]), (4, 4, [0, 5, ALL // 7, 0, 0, 7, 0, 8, 9]),  # two or three rounds of zeros of a uniform
    (4, 2, [5, 6, ALL, 7, 8, ALL]), (3, 2, [ALL, 5, ALL, 6]), (1, 2, [1]), (2, 2, [1, ALL // 3]),  # nearly 1 or 0
    (3, 2, [], [ALL, ALL - 1, ALL]), (3, 2, [], [0], [0, 12345]), (3, 2, [], [1], [0]), (4, 2, [], [0]),
    (199, 3, [0] * 100 + [1] * 100),  # 100 uniforms of which each may be twice what its digits say
    *((k, 3, [ALL] * 4) for k in (1, 3)),  # a radius whose lower bound is 0
    # a normal whose uniform begins with 35 zeros and more
    *((2, n, [5, m[0], 6, m[1], 7, 8]) for n, *m in ((2, 3 << 27, 9), (2, 0, ALL // 3), (3, 0, 3))),
]  # fmt: skip


@pytest.mark.parametrize("floats", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_words_of_zeros_and_ones(case: tuple[Any, ...], floats: bool) -> None:
    for scale in (Fraction(1, 3), WIDE):
        law, stream = SphericalLaplace(scale, case[0]), Stream(3, *case[2:])
        assert drawn(law, stream, floats=floats) == by_mpmath(law, stream)
        assert bool(stream.more) == (stream.first[0][0] < 2)  # no digit, but for the sign
        assert len(stream.rounds) >= case[1]


@pytest.mark.parametrize("normal", [True, False])
@pytest.mark.parametrize("many", [1, 2, 40, 1000])
def test_bounds_hold_the_squares_and_are_narrow(many: int, normal: bool) -> None:
    """At both ends of all uniforms; a product of 1,000 is about exp(-1000), below 2**-1400.  Zeros allow no bounds."""
    digits = [joined(words(np.random.default_rng((many, i)), 2).tolist()) for i in range(many + normal)]
    for edge in (None, 1, 2, 3, (1 << 127) - 1, 1 << 127, (1 << 127) + 1, (1 << 128) - 1)[: 8 if many < 999 else 2]:
        ms = digits if edge is None else [edge, *digits[1:]] if normal or many > 1 else [edge]
        found = Mixture(tuple(ms[:many]), ms[many] if normal else None, 128).squares
        if found is None:  # a uniform that may be 1, alone: a radius that may be 0
            assert (many, normal, edge) == (1, False, (1 << 128) - 1)
            continue
        low, high = found
        assert edge or (high - low) << 80 < low
        with mpmath.workdps(80):
            most, least = (chi_squared([Fraction(m + up, 1 << 128) for m in ms], normal) for up in (0, 1))
            assert low <= least * mpmath.mpf(2) ** 128 <= most * mpmath.mpf(2) ** 128 <= high
    assert Mixture((0, *digits), None, 128).squares is None is Mixture(tuple(digits), 0, 128).squares


@pytest.mark.parametrize("bits", [64, 128, 1000])
def test_logarithms_are_enclosed(bits: int) -> None:
    half = 1 << (bits - 1)
    with mpmath.workprec(bits + 100):
        for m in (1, 2, 3, half // 2 + 1, half - 1, half, half + 1, 3 * half // 2, 2 * half - 1, 2 * half):
            low, high = minus_log_of(m, bits)
            assert 0 <= low <= -mpmath.log(Fraction(m, 2 * half)) * 2 * half <= high <= low + 5 * bits * bits
        assert log_two(bits)[0] < mpmath.log(2) * 2 * half < log_two(bits)[1]


@cache
def vectors(dimension: int, scale: Fraction, many: int) -> np.ndarray:
    """The same draws each time, so that a right law that passes once does so again."""
    source = partial(words, np.random.default_rng(dimension + 1))
    return np.array([drawn(SphericalLaplace(scale, dimension), source, floats=True) for _ in range(many)])


def joint(x: np.ndarray, scale: float) -> float:
    """A bound on the p-value of wide vectors: their mean radius (exactly), radii in 20 cells, two directions."""
    many, k = x.shape
    r = np.linalg.norm(x.astype(float), axis=1)
    cells = np.bincount(np.minimum(20 * gammainc(k, r / scale), 19).astype(int), minlength=20)
    p = [2 * gammainc(many * k, r.sum() / scale), 2 * gammaincc(many * k, r.sum() / scale)]
    p.append(chdtrc(19, ((cells - many / 20) ** 2).sum() / (many / 20)))
    for cosine in (x[:, 0] / r, x.sum(axis=1) / r / math.sqrt(k)):
        p.append(kstest(betainc((k - 1) / 2, (k - 1) / 2, (1 + cosine) / 2), "uniform").pvalue)
    return float(len(p) * min(p))


@pytest.mark.parametrize(("dimension", "many"), [(3, 3000), (4, 1200), (79, 500), (80, 500)])
def test_vectors_have_the_joint_law(dimension: int, many: int) -> None:
    x = vectors(dimension, WIDE, many)
    assert joint(x, 1e6) > LEVEL
    assert max(joint(x, 0.9e6), joint(x, 1.1e6)) < LEVEL
    stretched = x * np.where(np.arange(dimension) == 0, 2.0, 1.0)
    stretched *= np.linalg.norm(x, axis=1)[:, None] / np.linalg.norm(stretched, axis=1)[:, None]
    assert joint(stretched, 1e6) < LEVEL
    # independent coordinates, each of the right law: the squared radius varies by half of what it should
    apart = SphericalLaplace(WIDE, dimension).sample(dimension**2 * many, np.random.default_rng(6))[::dimension]
    assert dimension < 79 or joint(apart.reshape(many, dimension), 1e6) < LEVEL


@pytest.mark.parametrize(("scale", "many"), [(Fraction(1, 30), 300), (WIDE, 500)])
def test_coordinates_have_their_law(scale: Fraction, many: int) -> None:
    """Pooled: 79 coordinates of a vector depend on each other little, and words are fixed."""
    x = vectors(79, scale, many).ravel()
    for factor in (1, Fraction(9, 10), Fraction(11, 10)):
        found = noise_law(lambda size: x[:size], SphericalLaplace(scale * factor, 79), draws=x.size)
        assert found.passed == (factor == 1)


@pytest.mark.parametrize("delta", [0.0, 1e-3])
@pytest.mark.parametrize("axis", [True, False])
def test_the_price_is_kept_and_nearly_used(axis: bool, delta: float) -> None:
    """A shift of 3 scales; the noise of both tables may be the same, each bound being of one.  Half of it fails."""
    x = vectors(3, WIDE, 3000).astype(float)
    apart = np.array([3e6, 0, 0]) if axis else np.full(3, math.floor(math.sqrt(3) * 1e6))
    for factor, least, most in ((1, 1.5, 3), (0.5, 3, 6)):
        loss = [np.linalg.norm(y - apart, axis=1) - np.linalg.norm(y, axis=1) for y in (factor * x, factor * x + apart)]
        assert least < epsilon_lower_bound(*loss, delta=delta) <= most


def test_draws_come_from_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """No seed, no switch, no word kept; of 126 coordinates at scale 1e12 two agree with probability 2e-9."""
    assert list(inspect.signature(draw_vector).parameters) == ["law"]
    law, kept = SphericalLaplace(Fraction(10**12), 3), []

    def watched(count: int) -> np.ndarray:
        found = exact.system_words(count).copy()
        kept.append(weakref.ref(found))
        return found

    monkeypatch.setattr(exact_vectors, "system_words", watched)
    assert len({k for one in [draw_vector(law), draw_vector(law), *draw_vectors(law, 40)] for k in one}) == 126
    assert [word() for word in kept] == [None] * len(kept) != []
