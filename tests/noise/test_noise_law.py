"""The test of noise has power, and raises no false alarm more often than it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import chdtri

from tacit.noise.laws import DiscreteLaplace, Law, RoundedNormal
from tacit.testing.noise_law_test import FALSE_ALARM, _edges, noise_law
from tacit.testing.noise_samples import ENOUGH

NOISES = [law(Fraction(s)) for law in (DiscreteLaplace, RoundedNormal) for s in ("1/3", "1", "17/4", "1000000000")]


def source(law: Law, seed: int = 5) -> Callable[[int], np.ndarray]:
    rng = np.random.default_rng(seed)
    return lambda size: law.sample(size, rng)


@pytest.mark.parametrize("law", NOISES)
def test_right_passes_and_ten_percent_fails(law: Law) -> None:
    assert noise_law(source(law), law).passed
    for factor in (Fraction(9, 10), Fraction(11, 10)):
        wrong = replace(law, scale=law.scale * factor)  # type: ignore[type-var]
        assert not noise_law(source(wrong), law, draws=40_000).passed


@pytest.mark.parametrize("law", NOISES)
def test_a_contract_misses_a_tenth_once_in_a_billion(law: Law) -> None:
    """Pearson's statistic of as many draws as `wrong_law` makes, simulated: its limit is 6 deviations below the mean.

    The statistic is skewed to the right, so that the normal's 1e-9 bounds the chance.
    """
    wide = replace(law, scale=law.scale * 11 / 10)  # type: ignore[type-var]
    edges = _edges(wide, ENOUGH)
    drawn, tested = (np.diff(one.cdf(edges), prepend=0, append=1) for one in (law, wide))
    counts = np.random.default_rng(0).multinomial(ENOUGH, drawn, size=20_000)
    found = ((counts - ENOUGH * tested) ** 2 / (ENOUGH * tested)).sum(axis=1)
    # a third of half the level: the p-value of three tests is compared to half of `FALSE_ALARM`
    assert found.mean() - 6 * found.std() > chdtri(len(edges), FALSE_ALARM / 6)


@pytest.mark.parametrize("law", NOISES)
def test_repeated_noise_fails(law: Law) -> None:
    drawn = source(law)(50_000)
    assert not noise_law(lambda size: np.repeat(drawn, 2)[:size], law).passed
    assert not noise_law(lambda size: np.tile(drawn, 2)[:size], law).passed
    assert not noise_law(lambda size: drawn[:size], law, calls=2, draws=50_000).passed


def test_other_faults_fail() -> None:
    law = DiscreteLaplace(Fraction(20))
    draws = source(law)
    assert not noise_law(lambda size: draws(size) + 1, law).passed  # off centre
    assert not noise_law(lambda size: np.clip(draws(size), -80, 80), law).passed  # tails cut at 1 in 109
    assert not noise_law(lambda size: 2 * (draws(size) // 2), law).passed  # even numbers only
    assert not noise_law(source(RoundedNormal(Fraction(28))), law).passed  # the other law, of equal variance
    assert not noise_law(lambda size: np.zeros(size, dtype=np.int64), law).passed
    one = draws(100_000)
    one[77] = 1_000
    assert not noise_law(lambda size: one, law).passed  # one draw in 100,000 that the law never makes


def test_a_law_that_is_nearly_always_zero() -> None:
    law = DiscreteLaplace(Fraction(1, 1000))
    assert noise_law(lambda size: np.zeros(size, dtype=np.int64), law, calls=2).passed
    assert not noise_law(lambda size: np.full(size, 1), law).passed


@pytest.mark.sample(3)
@pytest.mark.parametrize("law", [NOISES[1], NOISES[3], NOISES[6]])
def test_p_values_are_honest(law: Law) -> None:
    """300 tests of right noise: at level 1%, 3 alarms expected; more than 18 has probability below 1e-8."""
    rng = np.random.default_rng(8)
    values = [noise_law(lambda size: law.sample(size, rng), law, draws=8_000).p_value for _ in range(300)]
    assert sum(p < 0.01 for p in values) <= 18


def test_the_result_speaks() -> None:
    result = noise_law(source(NOISES[1]), NOISES[1])
    assert str(result).startswith("passed: p = ")
    assert result.draws == 100_000
    assert result.cells > 5
    with pytest.raises(AttributeError):
        result.draws = 1  # type: ignore[misc]
