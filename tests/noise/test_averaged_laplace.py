"""Averaged Laplace noise: its exact law beside convolution, its shape beside the normal one, and what it is worth."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tacit.noise.averaged_laplace import MOST_DRAWS, AveragedLaplace, least_variance_draws
from tacit.noise.laws import DiscreteLaplace, NoiseError
from tacit.privacy.gaussian import epsilon_delta_to_mu_squared
from tacit.testing.noise_law_test import noise_law


@pytest.mark.parametrize("scale", ["1/4", "2", "25/3"])
@pytest.mark.parametrize("draws", [1, 2, 5, 12])
def test_the_law_is_a_convolution(scale: str, draws: int) -> None:
    one, law = DiscreteLaplace(Fraction(scale)), AveragedLaplace(Fraction(scale), draws)
    reach = 60 + int(60 * float(one.scale))
    wanted = mass = one.pmf(np.arange(-reach, reach + 1))
    for _ in range(draws - 1):
        wanted = np.convolve(wanted, mass)
    middle = len(wanted) // 2
    # what the convolution cuts off is far away
    reach //= 2
    k = np.arange(-reach, reach + 1)
    assert np.allclose(law.pmf(k), wanted[middle - reach : middle + reach + 1], rtol=1e-9, atol=1e-300)
    above = np.cumsum(wanted[::-1])[::-1]
    assert np.allclose(law.sf(k[:-1]), above[middle - reach + 1 : middle + reach + 1], rtol=1e-9)
    assert np.allclose(law.cdf(k) + law.sf(k), 1)
    assert law.variance() == pytest.approx(float((wanted * np.arange(-middle, middle + 1) ** 2).sum()))
    assert law.pmf([0.5]).tolist() == [0.0]


@pytest.mark.parametrize("scale", [10**3, 10**6, 10**12])
def test_wide_laws_are_those_of_sums_of_laplace_variables(scale: int) -> None:
    """P(L1 + L2 > x) = (2 + x / b) exp(-x / b) / 4 for two Laplace variables of scale b."""
    law = AveragedLaplace(Fraction(scale), 2)
    x = np.array([0.5, 1.0, 3.0, 20.0])
    wanted = (2 + x) * np.exp(-x) / 4
    assert np.allclose(law.sf(x * scale), wanted, rtol=3 / scale + 1e-9)
    assert np.allclose(law.pmf(x * scale) * scale, (1 + x) * np.exp(-x) / 4, rtol=3 / scale + 1e-9)


def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon() -> None:
    """The log ratio of the laws of f + Z and f + 1 + Z, at scale 1 / epsilon: below epsilon, near it in the tail."""
    k = np.arange(-400, 401)
    for draws in (1, 2, 10, MOST_DRAWS):
        law = AveragedLaplace(Fraction(2), draws)
        loss = np.abs(np.log(law.pmf(k)) - np.log(law.pmf(k - 1)))
        assert loss.max() <= 0.5 * (1 + 1e-9)
        assert loss.max() > 0.5 * (0.999 if draws == 1 else 0.7)


def test_samples_have_the_law_and_not_one_a_tenth_off() -> None:
    """False alarms of `noise_law` are rarer than 1e-6, and the seed is constant."""
    law = AveragedLaplace(Fraction(7, 2), 4)
    rng = np.random.default_rng(0)
    assert noise_law(lambda size: law.sample(size, rng), law, draws=20_000).passed
    wide = AveragedLaplace(Fraction(77, 20), 4)
    assert not noise_law(lambda size: law.sample(size, rng), wide, draws=20_000).passed


@pytest.mark.parametrize(
    ("delta", "most"),
    # theory §5: k < 4.7, 6.2, 7.0, 7.9 and so on, for epsilon .1, .5, 1, 2
    [("1e-5", (4, 6, 6, 7)), ("1e-6", (6, 8, 8, 9)), ("1e-9", (12, 14, 15, 16)), ("1e-12", (18, 20, 21, 22))],
)
def test_few_draws_have_less_variance_than_normal_noise(delta: str, most: tuple[int, ...]) -> None:
    for epsilon, k in zip(("1/10", "1/2", "1", "2"), most, strict=True):
        mu_squared = float(epsilon_delta_to_mu_squared(Fraction(epsilon), delta))
        found = least_variance_draws(float(Fraction(epsilon)), mu_squared)
        assert abs(found - k) <= (1 if (delta, epsilon) == ("1e-5", "1") else 0)
        assert 2 * found / float(Fraction(epsilon)) ** 2 < 1 / mu_squared
        assert 2 * (found + 1) / float(Fraction(epsilon)) ** 2 >= 1 / mu_squared


@pytest.mark.parametrize("draws", [0, MOST_DRAWS + 1, 1.0, True])
def test_malformed(draws: object) -> None:
    with pytest.raises(NoiseError) as told:
        AveragedLaplace(Fraction(1), draws)  # pyright: ignore[reportArgumentType]
    assert told.value.code == "N01"


def test_plain_values() -> None:
    law = AveragedLaplace(Fraction(5, 2), 3)
    assert law.to_dict() == {"law": "averaged Laplace", "scale": "5/2", "draws": 3}
    assert law == AveragedLaplace(Fraction(5, 2), 3)
    assert hash(law) == hash(AveragedLaplace(Fraction(5, 2), 3))
    assert AveragedLaplace(Fraction(1), 1).normal == 0
