"""Exact vectors: every draw against mpmath on the very words it read, both paths, refinement, bounds, law, audit."""

from __future__ import annotations

import inspect
import math
import sys
import weakref
from fractions import Fraction
from functools import cache, partial

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
SCALES = [Fraction(1, 1000), Fraction(1, 3), Fraction(1), WIDE, Fraction(10**11), Fraction(10**12)]
LEVEL = 1e-6


class Stream:
    """A seeded source of words that keeps what it gave, told apart by who asked; `given` words come first.

    rounds: one word of each uniform of W, a squared normal's last.  first: one word of each coordinate.  more: further
    words of coordinates.
    """

    def __init__(self, seed: int, rounds: list[int] = [], first: list[int] = [], more: list[int] = []) -> None:  # noqa: B006
        self.rng = np.random.default_rng(seed)
        self.given = {"longer": list(rounds), "drawn": list(first), "_certain": list(more)}
        self.rounds: list[list[int]] = []
        self.first: list[int] = []
        self.more: list[int] = []

    def __call__(self, count: int) -> np.ndarray:
        who = sys._getframe(1).f_code.co_name
        words = self.rng.integers(0, ALL, count, dtype=np.uint64, endpoint=True).tolist()
        ready, self.given[who] = self.given[who][:count], self.given[who][count:]
        words[: len(ready)] = ready
        if who == "longer":
            self.rounds.append(words)
            assert len(self.rounds) < 9, "the draw does not end"
        else:
            (self.first if who == "drawn" else self.more).extend(words)
        return np.array(words, dtype=np.uint64)


def joined(words: list[int]) -> int:
    return sum(word << 64 * i for i, word in enumerate(reversed(words)))


def real(p: Fraction) -> mpmath.mpf:
    return mpmath.mpf(p.numerator) / p.denominator


def half_normal(p: Fraction) -> mpmath.mpf:
    """|N| with P(|N| > .) = p: the inverse of erf, in far tails Newton's method on the logarithm of erfc."""
    if p > Fraction(1, 1000):
        return mpmath.sqrt(2) * mpmath.erfinv(1 - real(p))
    log = mpmath.log(real(p))
    return mpmath.findroot(lambda t: mpmath.log(mpmath.erfc(t / mpmath.sqrt(2))) - log, mpmath.sqrt(-2 * log))


def chi_squared(uniforms: list[Fraction], normal: Fraction | None) -> mpmath.mpf:
    logs = mpmath.fsum(mpmath.log(real(u)) for u in uniforms)
    return -2 * logs + (0 if normal is None else half_normal(normal) ** 2)


def radius(rounds: list[list[int]], dimension: int) -> mpmath.mpf:
    """sqrt(W) of rounds of words, with the middle of what they leave open."""
    p = [Fraction(2 * joined(list(one)) + 1, 2 << 64 * len(rounds)) for one in zip(*rounds, strict=True)]
    assert len(p) == (dimension + 1) // 2 + (dimension % 2 == 0)
    return mpmath.sqrt(chi_squared(p, None) if dimension % 2 else chi_squared(p[:-1], p[-1]))


def by_mpmath(law: SphericalLaplace, stream: Stream, refined: int | None = None) -> list[int]:
    """floor(s sqrt(W) |N| + 1/2) with its sign, at 150 digits; words that came later are those of one coordinate."""
    found = []
    with mpmath.workdps(150):
        scaled = radius(stream.rounds, law.dimension) * real(law.scale)
        for i, word in enumerate(stream.first):
            digits = [word >> 1, *(stream.more if i == refined else [])]
            p = Fraction(2 * joined(digits) + 1, 1 << 64 * len(digits))
            cell = int(mpmath.floor(scaled * half_normal(p) + 0.5))
            found.append(-cell if word & 1 else cell)
    return found


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 10, 79, 80])
def test_draws_are_those_of_mpmath(dimension: int, scale: Fraction) -> None:
    law = SphericalLaplace(scale, dimension)
    for seed in range(3 if dimension < 10 else 1):
        streams = [Stream(seed) for _ in range(3)]
        found = [drawn(law, one, floats=floats) for one, floats in zip(streams, (True, False, True), strict=True)]
        assert found[0] == found[1] == found[2] == by_mpmath(law, streams[0])
        assert {type(k) for k in found[0]} == {type(k) for k in found[1]} == {int}
        # the same words were read: START of each uniform and one of each coordinate
        assert len({str((one.rounds, one.first)) for one in streams}) == 1
        assert [(len(one.rounds), one.more) for one in streams] == [(START, [])] * 3


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 65, 66])
def test_floats_and_integers_answer_alike(dimension: int) -> None:
    for seed, scale in enumerate([Fraction(1, 1000), Fraction(1, 40), Fraction(22, 7), Fraction(10**5), SCALES[4]]):
        law = SphericalLaplace(scale, dimension)
        assert drawn(law, Stream(seed), floats=True) == drawn(law, Stream(seed), floats=False)


def test_floats_decide_nearly_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2,003 coordinates floats leave one in 4,096 to integers, and those near an edge; of a vague radius, all."""
    asked: list[int] = []
    true = exact_vectors._certain
    monkeypatch.setattr(exact_vectors, "_certain", lambda m, *rest: (asked.append(m), true(m, *rest))[1])
    for dimension in (1001, 1002):
        drawn(SphericalLaplace(WIDE, dimension), partial(words, np.random.default_rng(1)), floats=True)
    assert len(asked) <= 8
    monkeypatch.setattr(exact_vectors, "START", 1)
    drawn(SphericalLaplace(WIDE, 66), partial(words, np.random.default_rng(1)), floats=True)
    assert len(asked) >= 66


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
    width, rng = (dimension + 1) // 2 + (dimension % 2 == 0), np.random.default_rng(9)
    rounds = [words(rng, width).tolist() for _ in range(6)]
    with mpmath.workdps(150):
        edge = (1234 - mpmath.mpf(1) / 2) / (1000 * radius(rounds, dimension))
        digits = int(mpmath.floor(mpmath.erfc(edge / mpmath.sqrt(2)) * mpmath.mpf(2) ** 191))
    for apart, expected in ((-(1 << 40), 1234), (1 << 40, 1233)):
        near = digits + apart
        more = [near >> 64 & ALL, near & ALL]
        stream = Stream(9, [one for some in rounds for one in some], [near >> 128 << 1 | 1], more)
        assert drawn(SphericalLaplace(Fraction(1000), dimension), stream, floats=floats)[0] == -expected
        assert stream.more == more
        assert len(stream.rounds) > START


@pytest.mark.parametrize("floats", [True, False])
@pytest.mark.parametrize(
    ("dimension", "rounds", "first", "more"),
    [(3, [0, 5, 0, 6], [], []),  # no digit of a uniform but zeros
     (4, [0, 5, ALL // 7, 0, 0, 7, 0, 8, 9], [], []),  # and again
     (4, [5, 6, ALL, 7, 8, ALL], [], []), (3, [ALL, 5, ALL, 6], [], []),  # nearly 1
     (1, [1], [], []), (2, [1, ALL // 3], [], []), (3, [], [ALL, ALL - 1, ALL], []),
     (3, [], [0], [0, 12345]), (3, [], [1], [0]), (4, [], [0], []), (1, [], [1], [1])],
)  # fmt: skip
def test_words_of_zeros_and_ones(
    dimension: int, rounds: list[int], first: list[int], more: list[int], floats: bool
) -> None:
    for scale in (Fraction(1, 3), WIDE):
        law, stream = SphericalLaplace(scale, dimension), Stream(3, rounds, first, more)
        assert drawn(law, stream, floats=floats) == by_mpmath(law, stream, 0)
        assert (len(stream.more) > len(more) or stream.more == more) if first and first[0] < 2 else not stream.more
        assert len(stream.rounds) > START or rounds.count(0) < 2


@pytest.mark.xfail(strict=True, raises=ZeroDivisionError, reason="a radius whose lower bound is 0")
@pytest.mark.parametrize("dimension", [1, 3])
def test_a_radius_that_may_be_nothing(dimension: int) -> None:
    law, stream = SphericalLaplace(WIDE, dimension), Stream(4, [ALL] * (2 * START * ((dimension + 1) // 2)))
    assert drawn(law, stream, floats=False) == by_mpmath(law, stream)


DIGITS = st.integers(1, (1 << 128) - 1) | st.sampled_from([1, 2, 3, (1 << 127) - 1, 1 << 127, (1 << 128) - 1])


@settings(max_examples=60)
@given(st.lists(DIGITS, min_size=1, max_size=30), DIGITS | st.none())
def test_squares_enclose_both_ends_of_every_uniform(uniforms: list[int], normal: int | None) -> None:
    check(uniforms, normal)


@pytest.mark.parametrize("normal", [True, False])
@pytest.mark.parametrize("many", [1, 2, 40, 1000])
def test_squares_are_narrow(many: int, normal: bool) -> None:
    """A product of 1,000 uniforms is about exp(-1000), below 2**-1400."""
    digits = [joined(words(np.random.default_rng(many), 2).tolist()) for _ in range(1)]
    rng = np.random.default_rng(many)
    digits = [joined(words(rng, 2).tolist()) for _ in range(many + 1)]
    low, high = check(digits[1:], digits[0] if normal else None)
    assert (high - low) << 80 < low


def check(uniforms: list[int], normal: int | None) -> tuple[int, int]:
    bounds = Mixture(tuple(uniforms), normal, 128).squares
    assert bounds is not None
    with mpmath.workdps(80):
        # W is largest where every uniform is least
        most, least = (
            chi_squared([Fraction(m + up, 1 << 128) for m in uniforms], normal and Fraction(normal + up, 1 << 128))
            for up in (0, 1)
        )
        assert bounds[0] <= least * mpmath.mpf(2) ** 128 <= most * mpmath.mpf(2) ** 128 <= bounds[1]
    return bounds


def test_digits_that_allow_no_bounds() -> None:
    """Zeros, a normal between two cells, and 200 uniforms of which each may be twice the other."""
    assert Mixture((0, 5), None, 64).squares is None
    assert Mixture((5,), 0, 64).squares is None
    assert Mixture((1,) * 200, None, 64).squares is None
    stream = Stream(5, [0] * 100 + [1] * 100)
    law = SphericalLaplace(WIDE, 199)
    assert drawn(law, stream, floats=True) == by_mpmath(law, stream)
    assert len(stream.rounds) == START + 1


@pytest.mark.parametrize("bits", [64, 128, 1000])
def test_logarithms_are_enclosed(bits: int) -> None:
    half = 1 << (bits - 1)
    with mpmath.workprec(bits + 100):
        for m in (1, 2, 3, half // 2 + 1, half - 1, half, half + 1, 3 * half // 2, 2 * half - 1, 2 * half):
            low, high = minus_log_of(m, bits)
            assert 0 <= low <= -mpmath.log(real(Fraction(m, 2 * half))) * 2 * half <= high <= low + 5 * bits * bits
        assert log_two(bits)[0] < mpmath.log(2) * 2 * half < log_two(bits)[1]


def words(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.integers(0, ALL, count, dtype=np.uint64, endpoint=True)


@cache
def vectors(dimension: int, scale: Fraction, many: int) -> np.ndarray:
    """The same draws each time, so that a right law that passes once does so again."""
    source = partial(words, np.random.default_rng(dimension))
    return np.array([drawn(SphericalLaplace(scale, dimension), source, floats=True) for _ in range(many)])


def joint(x: np.ndarray, scale: float) -> float:
    """A bound on the p-value of wide vectors: their mean radius (exactly), radii in 20 cells, two directions."""
    many, k = x.shape
    r = np.linalg.norm(x.astype(float), axis=1)
    total = r.sum() / scale
    cells = np.bincount(np.minimum(20 * gammainc(k, r / scale), 19).astype(int), minlength=20)
    p = [2 * gammainc(many * k, total), 2 * gammaincc(many * k, total)]
    p.append(chdtrc(19, ((cells - many / 20) ** 2).sum() / (many / 20)))
    for cosine in (x[:, 0] / r, x.sum(axis=1) / r / math.sqrt(k)):
        p.append(kstest(betainc((k - 1) / 2, (k - 1) / 2, (1 + cosine) / 2), "uniform").pvalue)
    return float(len(p) * min(p))


@pytest.mark.parametrize(("dimension", "many"), [(2, 1500), (3, 1500), (79, 800), (80, 400)])
def test_vectors_have_the_joint_law(dimension: int, many: int) -> None:
    x = vectors(dimension, WIDE, many)
    assert joint(x, 1e6) > LEVEL
    assert max(joint(x, 0.9e6), joint(x, 1.1e6)) < LEVEL
    stretched = x * np.where(np.arange(dimension) == 0, 1.5, 1)
    assert (
        joint(stretched * np.linalg.norm(x, axis=1)[:, None] / np.linalg.norm(stretched, axis=1)[:, None], 1e6) < LEVEL
    )


def test_independent_coordinates_are_noticed() -> None:
    """Each of the right law, as `noise_law` says, but the radius varies by a half of what it should."""
    law, many = SphericalLaplace(WIDE, 79), 800
    x = law.sample(79 * 79 * many, np.random.default_rng(6))[::79].reshape(many, 79)
    assert noise_law(lambda size: x.ravel()[:size], law, draws=x.size).passed
    assert joint(x, 1e6) < LEVEL


@pytest.mark.parametrize(("scale", "many"), [(Fraction(1, 30), 400), (WIDE, 800)])
def test_coordinates_have_their_law(scale: Fraction, many: int) -> None:
    """Pooled: 79 coordinates of a vector depend on each other little, and words are fixed."""
    x = vectors(79, scale, many).ravel()
    assert noise_law(lambda size: x[:size], SphericalLaplace(scale, 79), draws=x.size).passed
    for factor in (Fraction(9, 10), Fraction(11, 10)):
        assert not noise_law(lambda size: x[:size], SphericalLaplace(scale * factor, 79), draws=x.size).passed


@pytest.mark.parametrize("delta", [0.0, 1e-3])
@pytest.mark.parametrize("axis", [True, False])
def test_the_price_is_kept_and_nearly_used(axis: bool, delta: float) -> None:
    """A shift of 3 scales; both tables may have the same noise, as each bound is of one table.  Half the noise fails."""
    x = vectors(3, WIDE, 1500).astype(float)
    apart = np.array([3e6, 0, 0]) if axis else np.full(3, math.floor(math.sqrt(3) * 1e6))
    for factor, least, most in ((1, 1.5, 3), (0.5, 3, 6)):
        loss = [np.linalg.norm(y - apart, axis=1) - np.linalg.norm(y, axis=1) for y in (factor * x, factor * x + apart)]
        assert least < epsilon_lower_bound(*loss, delta=delta) <= most


def test_draws_come_from_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """No seed, no switch, no word kept; two vectors of scale 1e12 agree in a coordinate with probability 1e-11."""
    assert list(inspect.signature(draw_vector).parameters) == ["law"]
    law = SphericalLaplace(Fraction(10**12), 3)
    seen = [draw_vector(law), draw_vector(law), *draw_vectors(law, 40)]
    assert len({k for one in seen for k in one}) == 126
    kept: list[weakref.ref[np.ndarray]] = []

    def watched(count: int) -> np.ndarray:
        found = exact.system_words(count).copy()
        kept.append(weakref.ref(found))
        return found

    monkeypatch.setattr(exact_vectors, "system_words", watched)
    for many in (1, 40):
        draw_vectors(law, many)
    assert len(kept) >= 41 * (START + 1)
    assert all(word() is None for word in kept)
