"""Permute-and-flip: its law against enumeration, exact draws with power, refinement by injected words, its price."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import permutations

import mpmath
import numpy as np
import pytest
from scipy import stats

from tacit.noise import select as module
from tacit.noise.laws import NoiseError
from tacit.noise.permute_and_flip import PermuteAndFlip
from tacit.noise.select import choose
from tacit.noise.selection_law import Selection
from tacit.noise.stored_laws import law_from_dict

UTILITY = [-5, -4, -2, 0, -2, -3, -20]
POINTS = [9, 2, 1, 1, 2, 3, 1000]
RATE = Fraction(1)
DRAWS = 3000
FALSE_ALARM = 1e-6


def fed(words: Iterable[int]) -> Callable[[], int]:
    return iter(words).__next__


def visited(utility: list[int], points: list[int], rate: float) -> np.ndarray:
    """P(run), by its definition: over all orders of all points, the first that is accepted."""
    run = [i for i, w in enumerate(points) for _ in range(w)]
    p = np.exp(rate * (np.array(utility) - max(utility)))[run]
    found = np.zeros(len(points))
    for order in permutations(range(len(run))):
        left = 1.0
        for k in order:
            found[run[k]] += left * p[k]
            left *= 1 - p[k]
    return found / math.factorial(len(run))


def chi_square(runs: list[int], law: PermuteAndFlip | Selection) -> float:
    """P-value of the runs drawn against `law`; runs 0 and 6, which are rare, are counted as one."""
    seen = np.bincount(runs, minlength=len(POINTS)).astype(float)
    expected = law.pmf(UTILITY, POINTS) * len(runs)
    seen[0], expected[0] = seen[0] + seen[6], expected[0] + expected[6]
    assert expected[:6].min() > 5
    return float(stats.chisquare(seen[:6], expected[:6]).pvalue)


@pytest.fixture(scope="module")
def draws() -> list[tuple[int, int]]:
    return [choose(PermuteAndFlip(RATE), UTILITY, POINTS) for _ in range(DRAWS)]


@pytest.mark.parametrize(
    ("utility", "points"), [([0, -1, -3], [2, 2, 1]), ([-2, 0], [3, 3]), ([0], [3]), ([-5, 0, -1, 0], [1, 1, 3, 1])]
)
@pytest.mark.parametrize("rate", [Fraction(7, 10), Fraction(3), Fraction(1, 50)])
def test_the_law_is_that_of_all_orders(utility: list[int], points: list[int], rate: Fraction) -> None:
    found = PermuteAndFlip(rate).pmf(utility, points)
    assert found == pytest.approx(visited(utility, points, float(rate)), abs=1e-12)


def test_the_law_is_that_of_exponential_noise() -> None:
    """Seeded: the largest of utilities with exponential noise, 200,000 draws, by chi-square [Ding et al. 2021]."""
    utility, rng = np.array([0, -1, -1, -4, -7]), np.random.default_rng(5)
    noisy = utility + rng.exponential(2.0, (200_000, 5))
    seen = np.bincount(np.argmax(noisy, axis=1), minlength=5)
    expected = 200_000 * PermuteAndFlip(Fraction(1, 2)).pmf(utility, [1] * 5)
    assert stats.chisquare(seen, expected).pvalue > FALSE_ALARM


def test_far_from_the_best_it_is_never_likelier_than_the_exponential_mechanism() -> None:
    """P(utility <= u) for every u [McKenna & Sheldon 2020, Theorem 2]; half as large of two points far apart."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        size = int(rng.integers(1, 9))
        utility, points = -rng.integers(0, 30, size), rng.integers(1, 10_000, size)
        rate = Fraction(int(rng.integers(1, 200)), 100)
        one, other = (law(rate).pmf(utility, points) for law in (PermuteAndFlip, Selection))
        for u in utility:
            assert one[utility <= u].sum() <= other[utility <= u].sum() + 1e-12
    both = [law(Fraction(1)).pmf([0, -12], [1, 1])[1] for law in (PermuteAndFlip, Selection)]
    assert both[0] / both[1] == pytest.approx(0.5, rel=1e-4)


def test_of_very_many_points_it_is_the_exponential_mechanism() -> None:
    utility, points = -np.abs(np.arange(-200, 201)), np.full(401, 5_000)
    one, other = (law(Fraction(1, 10)).pmf(utility, points) for law in (PermuteAndFlip, Selection))
    assert one == pytest.approx(other, rel=2e-3)


def test_runs_have_the_law(draws: list[tuple[int, int]]) -> None:
    assert chi_square([run for run, _ in draws], PermuteAndFlip(RATE)) > FALSE_ALARM


@pytest.mark.parametrize(
    "law", [PermuteAndFlip(RATE * Fraction(17, 20)), PermuteAndFlip(RATE * Fraction(23, 20)), Selection(RATE)], ids=str
)
def test_another_law_fails(draws: list[tuple[int, int]], law: PermuteAndFlip | Selection) -> None:
    """A rate 15% off, and the exponential mechanism of the same rate: each passes with probability below 1e-8."""
    assert chi_square([run for run, _ in draws], law) < FALSE_ALARM


def test_places_are_uniform(draws: list[tuple[int, int]]) -> None:
    for run in (1, 4, 5):
        seen = np.bincount([place for got, place in draws if got == run], minlength=POINTS[run])
        assert len(seen) == POINTS[run]
        assert stats.chisquare(seen).pvalue > FALSE_ALARM / 3


def test_simulation_has_the_law() -> None:
    """Seeded."""
    law = PermuteAndFlip(RATE)
    run, place = law.sample(UTILITY, POINTS, DRAWS, np.random.default_rng(3))
    assert chi_square(run.tolist(), law) > FALSE_ALARM
    assert np.all(place < np.asarray(POINTS)[run])


@pytest.mark.parametrize("points", [1, 2, 5, 2**20])
@pytest.mark.parametrize("m", [0, 1, 2**40, 2**62, 2**63, 2**63 + 5, 2**64 - 2])
def test_bounds_hold_the_time_of_high_precision_arithmetic(points: int, m: int) -> None:
    arrival = module._Arrival(0, points, Fraction(5, 3), m)
    with mpmath.workdps(60):
        ends = [
            (1 - (1 - mpmath.mpf(m + more) / 2**64) ** (mpmath.mpf(1) / points)) * mpmath.exp(mpmath.mpf(5) / 3)
            for more in (0, 1)
        ]
        low, high = arrival.bounds
        assert high is not None
        width, near_one = ends[1] - ends[0], m > 3 * 2**62
        # guard bits cost 2**-24 of the interval's width, and the bound on the slope at most the width itself
        assert ends[0] - width / 2**24 <= mpmath.mpf(low.numerator) / low.denominator <= ends[0]
        assert ends[1] <= mpmath.mpf(high.numerator) / high.denominator <= (9 if near_one else ends[1] + width)


def test_the_run_is_that_of_high_precision_arithmetic() -> None:
    """Words of a fixed seed, against times by mpmath: 300 draws of seven runs."""
    rng = np.random.default_rng(8)
    order = sorted(range(len(UTILITY)), key=UTILITY.__getitem__, reverse=True)
    for _ in range(300):
        words = [int(word) for word in rng.integers(0, 2**64, len(UTILITY), dtype=np.uint64)]
        with mpmath.workdps(40):
            times = [
                (1 - (1 - (word + mpmath.mpf(1) / 2) / 2**64) ** (mpmath.mpf(1) / POINTS[run]))
                * mpmath.exp(-UTILITY[run])
                for word, run in zip(words, order, strict=True)
            ]
        first = order[times.index(min(times))]
        assert module._choose(PermuteAndFlip(RATE), UTILITY, POINTS, fed([*words, 0]))[0] == first


@pytest.mark.parametrize(("more", "run"), [([0, 2**64 - 1], 0), ([2**64 - 1, 0], 1)])
def test_times_within_one_word_take_another(more: list[int], run: int) -> None:
    """Two runs of one utility and one word: each takes another."""
    law = PermuteAndFlip(Fraction(1))
    for points in (1, 3):
        assert module._choose(law, [0, 0], [points, points], fed([2**63, 2**63, *more, 0]))[0] == run


def test_the_ends_of_the_unit_interval() -> None:
    """Also of a run so far from the best that no lower bound on its probability is known."""
    law = PermuteAndFlip(Fraction(1))
    for points in (1, 4):
        assert module._choose(law, [0, 0], [points, points], fed([0, 2**64 - 1, 7])) == (0, 7 % points)
        assert module._choose(law, [0, 0], [points, points], fed([2**64 - 1, 0, 7])) == (1, 7 % points)
    assert module._choose(law, [0, -10_000], [1, 1], fed([2**64 - 1, 1, 7])) == (0, 0)
    assert module._choose(law, [0, -10_000], [1, 2**20], fed([2**63, 0, *[1] * 500]))[0] == 0


def test_one_run_takes_no_word_for_its_time() -> None:
    assert module._choose(PermuteAndFlip(Fraction(1)), [-3], [4], fed([7])) == (0, 3)


def test_the_law_of_a_document() -> None:
    law = PermuteAndFlip(Fraction(2, 5))
    assert law.to_dict() == {"law": "permute-and-flip", "scale": "5/2"}
    assert law_from_dict(law.to_dict()) == law


@pytest.mark.parametrize("rate", [0.5, Fraction(0), Fraction(-1)])
def test_what_is_no_rate_is_refused(rate: Fraction) -> None:
    with pytest.raises(NoiseError) as error:
        PermuteAndFlip(rate)
    assert error.value.code == "N04"
