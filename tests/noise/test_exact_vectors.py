"""Exact vectors: every draw against mpmath on the very words it read, both paths, refinement, bounds, law, audit."""

from __future__ import annotations

import inspect
import math
import weakref
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc, chdtrc, gammainc, gammaincc
from scipy.stats import kstest

from tacit.noise import exact_vectors
from tacit.noise.exact import system_words
from tacit.noise.exact_vectors import START, Mixture, draw_vector, draw_vectors, drawn
from tacit.noise.spherical import SphericalLaplace
from tacit.noise.tail_bounds import log_two, minus_log_of
from tacit.testing.audit import epsilon_lower_bound
from tacit.testing.noise_law_test import noise_law

ALL = (1 << 64) - 1
LEVEL = 1e-6
WIDE = Fraction(10**6)
SCALES = [Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(10**6), Fraction(10**11), Fraction(10**12)]


class Stream:
    """A seeded source of words that keeps what it gave: `rounds` of the mixture, `first` of each coordinate, `more`.

    given: words that come first, of the mixture's rounds, of the coordinates, and after those.
    """

    def __init__(self, dimension: int, seed: int, given: tuple[list[int], list[int], list[int]] = ([], [], [])) -> None:
        self.rng, self.given, self.dimension = np.random.default_rng(seed), tuple(list(one) for one in given), dimension
        self.width = (dimension + 1) // 2 + (dimension + 1) % 2
        self.rounds: list[list[int]] = []
        self.first: list[int] = []
        self.more: list[int] = []

    def __call__(self, count: int) -> np.ndarray:
        # who asks: the mixture for a round, or a vector for its coordinates, then for more digits of one
        kind = 0 if inspect.stack()[1].function == "longer" else 2 if self.first else 1
        assert count == (self.width, self.dimension, 1)[kind]
        words = self.rng.integers(0, ALL, count, dtype=np.uint64, endpoint=True).tolist()
        ready = self.given[kind][:count]
        del self.given[kind][:count]
        words[: len(ready)] = ready
        (self.rounds.append if kind == 0 else self.first.extend if kind == 1 else self.more.extend)(words)
        return np.array(words, dtype=np.uint64)


def joined(words: list[int]) -> int:
    return sum(word << 64 * i for i, word in enumerate(reversed(words)))


def half_normal(p: Fraction) -> mpmath.mpf:
    """|N| with P(|N| > .) = p: erfc inverted, in far tails by Newton's method on its logarithm."""
    q = mpmath.mpf(p.numerator) / p.denominator
    if q > 0.001:
        return mpmath.sqrt(2) * mpmath.erfinv(1 - q)
    guess = mpmath.sqrt(-2 * mpmath.log(q))
    return mpmath.findroot(lambda t: mpmath.log(mpmath.erfc(t / mpmath.sqrt(2))) - mpmath.log(q), guess)


def chi_squared(uniforms: list[Fraction], normal: Fraction | None) -> mpmath.mpf:
    logs = mpmath.fsum(mpmath.log(mpmath.mpf(u.numerator) / u.denominator) for u in uniforms)
    return -2 * logs + (0 if normal is None else half_normal(normal) ** 2)


def radius(stream: Stream) -> mpmath.mpf:
    """sqrt(W) of the words read, with the middle of what they leave open."""
    bits = 64 * len(stream.rounds)
    p = [Fraction(2 * joined(list(one)) + 1, 2 << bits) for one in zip(*stream.rounds, strict=True)]
    return mpmath.sqrt(chi_squared(p[:-1], p[-1]) if stream.dimension % 2 == 0 else chi_squared(p, None))


def by_mpmath(law: SphericalLaplace, stream: Stream, refined: int | None = None) -> list[int]:
    """floor(s sqrt(W) |N| + 1/2) with its sign, at 150 digits; all further words are those of coordinate `refined`."""
    with mpmath.workdps(150):
        scaled = radius(stream) * law.scale.numerator / law.scale.denominator
        found = []
        for i, word in enumerate(stream.first):
            more = stream.more if i == refined else []
            p = Fraction(2 * ((word >> 1 << 64 * len(more)) | joined(more)) + 1, 1 << (64 + 64 * len(more)))
            cell = int(mpmath.floor(scaled * half_normal(p) + mpmath.mpf(1) / 2))
            found.append(-cell if word & 1 else cell)
        return found


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 10, 79, 80])
def test_draws_are_those_of_mpmath(dimension: int, scale: Fraction) -> None:
    law = SphericalLaplace(scale, dimension)
    for seed in range(3 if dimension < 10 else 1):
        streams = [Stream(dimension, seed) for _ in range(3)]
        found = [drawn(law, one, floats=floats) for one, floats in zip(streams, (True, False, True), strict=True)]
        assert found[0] == found[1] == found[2]
        assert all(type(k) is int for k in found[0])
        # the same words were read, and hardly more than START of each uniform and one of each coordinate
        assert len({str((one.rounds, one.first, one.more)) for one in streams}) == 1
        assert (len(streams[0].rounds), streams[0].more) == (START, [])
        assert found[0] == by_mpmath(law, streams[0])


@pytest.mark.parametrize("dimension", [3, 4, 65, 66])
def test_floats_and_integers_answer_alike(dimension: int) -> None:
    for seed, scale in enumerate([Fraction(1, 1000), Fraction(1, 40), Fraction(22, 7), Fraction(10**5), SCALES[4]]):
        law = SphericalLaplace(scale, dimension)
        for words in (seed, seed + 100):
            assert drawn(law, Stream(dimension, words), floats=True) == drawn(law, Stream(dimension, words), floats=False)


def test_floats_decide_nearly_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2,000 coordinates floats leave one in 4,096 to integers, and those near an edge; with few bits, all."""
    asked: list[int] = []
    true = exact_vectors._certain
    monkeypatch.setattr(exact_vectors, "_certain", lambda *all: (asked.append(all[0]), true(*all))[1])
    for dimension in (1001, 1002):
        drawn(SphericalLaplace(Fraction(1000), dimension), Stream(dimension, 1), floats=True)
    assert len(asked) <= 8  # fixed by the seeds; 0.5 expected
    monkeypatch.setattr(exact_vectors, "START", 1)
    drawn(SphericalLaplace(Fraction(1000), 66), Stream(66, 1), floats=True)
    assert len(asked) >= 66


@pytest.mark.parametrize("dimension", [2, 4, 10, 66])
def test_a_radius_known_too_little_is_read_further(dimension: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 32 digits of the normal, cells at scale 1e12 are uncertain."""
    monkeypatch.setattr(exact_vectors, "START", 1)
    for scale in (Fraction(10**12), Fraction(10**3)):
        law, stream = SphericalLaplace(scale, dimension), Stream(dimension, 8)
        assert drawn(law, stream, floats=True) == by_mpmath(law, stream)
        assert len(stream.rounds) == (2 if scale > 10**6 else 1)


@pytest.mark.parametrize("floats", [True, False])
@pytest.mark.parametrize("dimension", [3, 4, 5, 79])
def test_a_coordinate_on_an_edge_is_refined(dimension: int, floats: bool) -> None:
    """Its digits are those of an edge at the final radius, up to two further words: it and W are read further."""
    law = SphericalLaplace(Fraction(1000), dimension)
    sure = Stream(dimension, 9)
    for _ in range(6):
        Stream.__call__.__wrapped__ if False else None
    mixture = [sure.rng.integers(0, ALL, sure.width, dtype=np.uint64).tolist() for _ in range(6)]
    sure.rounds = mixture
    with mpmath.workdps(150):
        edge = (1234 - mpmath.mpf(1) / 2) / (1000 * radius(sure))
        digits = int(mpmath.floor(mpmath.erfc(edge / mpmath.sqrt(2)) * mpmath.mpf(2) ** (63 + 128)))
    for apart, expected in ((-(1 << 40), 1234), (1 << 40, 1233)):
        near = digits + apart
        first, more = near >> 128 << 1, [near >> 64 & ALL, near & ALL]
        stream = Stream(dimension, 9, (sum(mixture, []), [7 << 40, first | 1], more))
        assert drawn(law, stream, floats=floats)[1] == -expected
        assert len(stream.rounds) > START
        assert stream.more == more
