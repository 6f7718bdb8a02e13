"""Exact selection: its law with power, refinement by injected words, uniform places, refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from tacit.noise import select as module
from tacit.noise.laws import NoiseError
from tacit.noise.select import choose
from tacit.noise.selection_law import Selection

UTILITY = [-9, -4, -1, 0, -1, -3, -20]
POINTS = [40, 5, 2, 1, 3, 7, 1000]
DRAWS = 8000
FALSE_ALARM = 1e-6


def fed(words: Iterable[int]) -> Callable[[], int]:
    return iter(words).__next__


def chi_square(draws: list[tuple[int, int]], law: Selection) -> float:
    """P-value of the runs drawn against `law`; every expected count is at least 5 here."""
    seen = np.bincount([run for run, _ in draws], minlength=len(POINTS))
    return float(stats.chisquare(seen, law.pmf(UTILITY, POINTS) * len(draws)).pvalue)


@pytest.fixture(scope="module")
def draws() -> list[tuple[int, int]]:
    return [choose(Selection(Fraction(1, 3)), UTILITY, POINTS) for _ in range(DRAWS)]


def test_runs_have_the_law(draws: list[tuple[int, int]]) -> None:
    assert chi_square(draws, Selection(Fraction(1, 3))) > FALSE_ALARM


@pytest.mark.parametrize("factor", [Fraction(9, 10), Fraction(11, 10)])
def test_a_rate_ten_percent_off_fails(draws: list[tuple[int, int]], factor: Fraction) -> None:
    assert chi_square(draws, Selection(factor / 3)) < FALSE_ALARM


def test_places_are_uniform(draws: list[tuple[int, int]]) -> None:
    """Runs 1, 4 and 5 together: false-alarm rate 3e-6 / 3 each."""
    for run in (1, 4, 5):
        seen = np.bincount([place for got, place in draws if got == run], minlength=POINTS[run])
        assert len(seen) == POINTS[run]
        assert stats.chisquare(seen).pvalue > FALSE_ALARM / 3


def test_the_run_is_that_of_high_precision_arithmetic() -> None:
    """Words near every edge, on both sides, against mpmath's quantile."""
    with mpmath.workdps(60):
        weight = [n * mpmath.exp(mpmath.mpf(u) / 3) for u, n in zip(UTILITY, POINTS, strict=True)]
        edges = [mpmath.fsum(weight[:i]) / mpmath.fsum(weight) for i in range(1, len(weight))]
        words = [int(edge * 2**64) for edge in edges]
    for i, word in enumerate(words):
        for away in (-2, 2):
            run, place = module._choose(Selection(Fraction(1, 3)), UTILITY, POINTS, fed([word + away, 0]))
            assert (run, place) == (i + (away > 0), 0)


@pytest.mark.parametrize(("more", "run"), [(0, 0), (2**64 - 1, 1)])
def test_an_edge_within_the_word_takes_another(more: int, run: int) -> None:
    """One point of three, then two: the edge 1/3 lies inside the interval of its word."""
    third = 2**64 // 3
    assert module._run(Selection(Fraction(1)), [0, 0], [1, 2], third, 64) is None
    assert module._choose(Selection(Fraction(1)), [0, 0], [1, 2], fed([third, more, 0]))[0] == run


def test_the_ends_of_the_unit_interval() -> None:
    law = Selection(Fraction(1))
    assert module._choose(law, [0, 0], [1, 1], fed([0, 7])) == (0, 0)
    assert module._choose(law, [0, 0], [1, 1], fed([2**64 - 1, 7])) == (1, 0)


def test_rejected_words_are_replaced() -> None:
    """2**64 - 1 is a multiple of 3, so that only the greatest word is rejected."""
    assert module._uniform(3, fed([2**64 - 1, 5])) == 2
    assert module._uniform(2**64 + 1, fed([0, 9])) == 9


def test_simulation_has_the_law() -> None:
    """Seeded."""
    law = Selection(Fraction(1, 3))
    run, place = law.sample(UTILITY, POINTS, DRAWS, np.random.default_rng(3))
    assert chi_square(list(zip(run.tolist(), place.tolist(), strict=True)), law) > FALSE_ALARM
    assert np.all(place < np.asarray(POINTS)[run])


@pytest.mark.parametrize(
    ("utility", "points"), [([], []), ([1], [1, 2]), ([0.5], [1]), ([True], [1]), ([0], [0]), ([0], [-1])]
)
def test_what_is_no_selection_is_refused(utility: list[int], points: list[int]) -> None:
    with pytest.raises(NoiseError) as error:
        choose(Selection(Fraction(1)), utility, points)
    assert error.value.code == "N04"


@pytest.mark.parametrize("rate", [0.5, Fraction(0), Fraction(-1)])
def test_what_is_no_rate_is_refused(rate: Fraction) -> None:
    with pytest.raises(NoiseError) as error:
        Selection(rate)
    assert error.value.code == "N04"
