"""Exact draws of columns: every draw against mpmath on the very words it read, refinement, bounds, law, audit."""

from __future__ import annotations

import inspect
import sys
import weakref
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy.stats import kstest

from tacit.noise import exact, exact_products
from tacit.noise.exact_products import START, Digits, draw_columns, draw_many, drawn, gaps
from tacit.noise.exact_vectors import minus_log_of_product
from tacit.noise.laws import NoiseError
from tacit.noise.product import ProductLaplace
from tacit.testing import column_samples
from tacit.testing.noise_law_test import noise_law

ALL = (1 << 64) - 1
WIDE = Fraction(10**6)
LEVEL = 1e-6


def laws_of(scale: Fraction, *sizes: int) -> list[ProductLaplace]:
    """Laws of columns of so many integers; the scale of each is one more than that of the one before."""
    return [ProductLaplace(scale + j, size, sum(sizes)) for j, size in enumerate(sizes)]


def words(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.integers(0, ALL, count, dtype=np.uint64, endpoint=True)


class Stream:
    """Words, kept by who asked: signs, and rounds of all uniforms; `given` are the first words of these."""

    def __init__(self, seed: int, *given: Sequence[int]) -> None:
        self.rng, self.given, self.signs, self.rounds = np.random.default_rng(seed), list(given), [], []

    def __call__(self, count: int) -> np.ndarray:
        if sys._getframe(1).f_code.co_name == "drawn":
            self.signs = words(self.rng, count).tolist()
            return np.array(self.signs, dtype=np.uint64)
        fixed = list(self.given.pop(0)) if self.given else []
        self.rounds.append([*fixed, *words(self.rng, count).tolist()][:count])
        assert len(self.rounds) < 6, "the draw does not end"
        return np.array(self.rounds[-1], dtype=np.uint64)


def by_mpmath(laws: Sequence[ProductLaplace], stream: Stream) -> list[list[int]]:
    """floor(s R gap + 1/2) with its sign, at 60 digits, with the middle of what the digits leave open."""
    d, found = laws[0].dimension, []
    with mpmath.workdps(60):
        p = [
            mpmath.mpf(2 * sum(word << 64 * i for i, word in enumerate(reversed(one))) + 1) / (2 << 64 * len(one))
            for one in zip(*stream.rounds, strict=True)
        ]
        radius, places, signs = -mpmath.fsum(map(mpmath.log, p[: d + 1])), p[d + 1 :], iter(stream.signs)
        for law in laws:
            own, places = sorted(places[: law.size]), places[law.size :]
            sizes = [high - low for low, high in pairwise([mpmath.mpf(0), *own])]
            found.append(
                [(-1) ** (next(signs) & 1) * int(mpmath.floor(law.scale * radius * one + 0.5)) for one in sizes]
            )
    return found


@pytest.mark.parametrize("sizes", [(1,), (2, 2), (1, 3), (3, 1, 2), (2,) * 10, (5,) * 12])
def test_draws_are_those_of_mpmath(sizes: tuple[int, ...]) -> None:
    for seed, scale in enumerate((Fraction(1, 1000), Fraction(1, 3), WIDE, Fraction(10**11), WIDE**2 - 60)):
        laws, stream = laws_of(scale, *sizes), Stream(seed)
        found = drawn(laws, stream)
        assert found == by_mpmath(laws, stream)
        assert [len(one) for one in found] == list(sizes)
        assert {type(k) for one in found for k in one} == {int}
        assert len(stream.rounds) == START


def test_a_coordinate_on_an_edge_is_refined() -> None:
    """128 digits are those of an edge: all uniforms are read further, on either side of it."""
    scale, d = Fraction(1000), 3
    rounds = [words(np.random.default_rng(i), 2 * d + 1).tolist() for i in range(4)]
    laws = laws_of(scale, 1, 2)
    with mpmath.workdps(90):
        p = [sum(Fraction(one, 1 << 64 * (i + 1)) for i, one in enumerate(some)) for some in zip(*rounds, strict=True)]
        radius = -mpmath.fsum(mpmath.log(one) for one in p[: d + 1])
        edge = int(mpmath.floor(mpmath.mpf("0.5") / (scale * radius) * 2**256))
    for place, expected in ((edge - (1 << 90), 0), (edge + (1 << 90), 1)):
        given = [list(one) for one in rounds]
        for i in range(4):
            given[i][d + 1] = place >> 64 * (3 - i) & ALL
        stream = Stream(1, *given)
        assert abs(drawn(laws, stream)[0][0]) == expected
        assert len(stream.rounds) > START


@pytest.mark.parametrize("given", [[0] * 7, [0, 5], [ALL] * 7, [1] * 7, [5, 5, 5, 5, 9, 9, 9]])
def test_words_of_zeros_and_ones_and_equal_ones(given: list[int]) -> None:
    for scale in (Fraction(1, 3), WIDE):
        laws, stream = laws_of(scale, 1, 2), Stream(3, given, given)
        assert drawn(laws, stream) == by_mpmath(laws, stream)
        # a uniform that may be 0 leaves the radius without an upper bound
        assert (len(stream.rounds) > START) == (given[0] == 0)


def test_gaps_hold_those_of_sorted_uniforms() -> None:
    rng = np.random.default_rng(2)
    for k in (1, 2, 3, 7):
        for _ in range(200):
            places = rng.integers(0, 6, k).tolist()
            found = gaps(places)
            for inside in (np.full(k, 1e-9), np.full(k, 1 - 1e-9), rng.random(k)):
                true = np.diff([0.0, *sorted(np.array(places) + inside)])
                assert all(low <= gap <= high for (low, high), gap in zip(found, true, strict=True))
    assert gaps([4, 4]) == [(4, 5), (0, 1)]


@pytest.mark.parametrize("many", [1, 3, 21, 61])
def test_the_radius_is_enclosed(many: int) -> None:
    digits = [int.from_bytes(np.random.default_rng((many, i)).bytes(16)) for i in range(many)]
    low, high = minus_log_of_product(digits, 128) or (0, 0)
    with mpmath.workdps(80):
        ends = [-mpmath.fsum(mpmath.log(mpmath.mpf(m + up)) - 128 * mpmath.log(2) for m in digits) for up in (1, 0)]
        assert low <= ends[0] * 2**128 <= ends[1] * 2**128 <= high
        assert (high - low) << 80 < low


@cache
def columns(many: int, scale: Fraction, *sizes: int) -> tuple[np.ndarray, ...]:
    """The same draws each time, so that a right law that passes once does so again."""
    source, laws = partial(words, np.random.default_rng(sum(sizes))), laws_of(scale, *sizes)
    found = [drawn(laws, source) for _ in range(many)]
    return tuple(np.array([one[j] for one in found]) for j in range(len(sizes)))


@pytest.mark.parametrize("sizes", [(3, 1), (2,) * 10])
def test_columns_have_the_joint_law(sizes: tuple[int, ...]) -> None:
    x, laws = columns(1_600, WIDE, *sizes), laws_of(WIDE, *sizes)
    norms, d = column_samples.norms(x, laws), sum(sizes)
    assert kstest(norms, "gamma", (d,)).pvalue > LEVEL
    assert column_samples.p_value(x, laws) > LEVEL
    for factor in (Fraction(9, 10), Fraction(11, 10)):
        wrong = [ProductLaplace(law.scale * factor, law.size, d) for law in laws]
        assert column_samples.p_value(x, wrong) < LEVEL
    # each column is the one that has the norm as often as its share of the dimensions
    first = np.abs(x[0]).sum(axis=1) / float(laws[0].scale) == norms
    # six standard deviations: a false alarm of 2e-9
    assert abs(first.mean() - sizes[0] / d) < 6 * np.sqrt(0.25 / 1_600)
    # independent columns, each of the right law, do not have the norm
    apart = [np.roll(one, j, axis=0) for j, one in enumerate(x)]
    assert kstest(column_samples.norms(apart, laws), "gamma", (d,)).pvalue < LEVEL


@pytest.mark.sample(2)
@pytest.mark.parametrize("scale", [Fraction(3), Fraction(1, 2)])
def test_integers_have_their_law_at_small_scales(scale: Fraction) -> None:
    x, laws = columns(5_000, scale, 1, 3), laws_of(scale, 1, 3)
    for one, law in zip(x, laws, strict=True):
        assert noise_law(lambda size, one=one: one[:size, -1], law, draws=5_000).passed
        wider = ProductLaplace(law.scale * 5 / 4, law.size, law.dimension)
        assert not noise_law(lambda size, one=one: one[:size, -1], wider, draws=5_000).passed


@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_the_price_is_kept_and_nearly_used(delta: float) -> None:
    """All columns move by 2 scales; half of the noise fails.  The samples of both tables may be the same."""
    x, laws = columns(2_000, WIDE, 2, 2), laws_of(WIDE, 2, 2)
    apart = [np.array([2 * int(law.scale), 0]) for law in laws]
    for factor, least, most in ((1.0, 1.0, 2.0), (0.5, 2.0, 4.0)):
        loss = [
            column_samples.norms([one - a for one, a in zip(some, apart, strict=True)], laws)
            - column_samples.norms(some, laws)
            for some in ([factor * one for one in x], [factor * one + a for one, a in zip(x, apart, strict=True)])
        ]
        found = column_samples.epsilon_lower_bound(*(some / factor for some in loss), delta=delta)
        assert least < found <= most


def test_columns_must_be_those_of_one_vector() -> None:
    whole = laws_of(WIDE, 2, 2)
    for some in ([], whole[:1], [*whole, whole[0]]):
        with pytest.raises(NoiseError, match="N02"):
            draw_columns(some)


def test_draws_come_from_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """No seed, no switch, no word kept; of 120 coordinates at scale 1e11 two agree with probability 1e-7."""
    assert list(inspect.signature(draw_columns).parameters) == ["laws"]
    laws, kept = laws_of(Fraction(10**11), 1, 2), []

    def watched(count: int) -> np.ndarray:
        found = exact.system_words(count).copy()
        kept.append(weakref.ref(found))
        return found

    monkeypatch.setattr(exact_products, "system_words", watched)
    made = [draw_columns(laws), *draw_many(laws, 39)]
    assert len({k for one in made for column in one for k in column}) == 120
    assert [word() for word in kept] == [None] * len(kept) != []
    assert Digits.begun(3, partial(words, np.random.default_rng(0))).bits == 64 * START
