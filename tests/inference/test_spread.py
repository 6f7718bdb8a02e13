"""Variances of blocks that noise hides near an end of the box: chances, what they put back, and what that adds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tacit.estimates.noisy_terms.box_censoring import unclamped_means
from tacit.method.blocks.estimate_spread import (
    FACTOR,
    MULTIPLES,
    SeenSpread,
    joint_multiple,
    joint_spreads,
    own_spreads,
    variance_of_spread,
)

END = 1.1


def seen(multiple: float = 1.0, noise: float = 0.002, *, known: bool = True, guess: float = 0.0128) -> SeenSpread:
    """Return what a release without error says: normal estimates about 1, `multiple` times as variable as the model."""
    x = np.clip(stats.norm(1, (multiple * 0.0128) ** 0.5).ppf((np.arange(40_000) + 0.5) / 40_000), -np.inf, END)
    one = (np.array([x.mean()]), np.array([x.var()]), np.array([noise]), np.array([guess]))
    return SeenSpread(*one, known, -np.inf, END, 1.0, variance_of_spread(10_000, 0))


@pytest.mark.parametrize("multiple", [0.3, 1.0, 2.4])
def test_the_multiple_of_the_model_s_variance_is_found_from_clamped_estimates(multiple: float) -> None:
    """Clamped estimates of a law that varies 2.4 times as much vary 1.4 times as much as the model's unclamped ones."""
    found, error = joint_multiple([seen(multiple, 1e-5)])
    # no noise was drawn: what is left is the step between multiples
    assert found[0] == pytest.approx(multiple, rel=0.02)
    assert error[0] < 0.1 * multiple
    one = own_spreads(seen(multiple, 1e-5))
    assert one.middle[0] == pytest.approx(multiple * 0.0128, rel=0.03)
    assert seen(2.4).variance[0] < 1.6 * 0.0128


def test_releases_of_several_parties_say_it_together() -> None:
    """Of normal noise as large as the variance itself: 40 parties know what none knows alone."""
    exact, rng = seen(2.4, 0.0128), np.random.default_rng(4)
    many = [replace(exact, variance=exact.variance + 0.0128 * rng.standard_normal(1)) for _ in range(40)]
    together, alone = joint_spreads(many), own_spreads(many[0])
    spread = [float((one.chance[:, 0] * (MULTIPLES - one.middle[0] / 0.0128) ** 2).sum() ** 0.5)
              for one in (together[0], alone)]  # fmt: skip
    assert spread[0] < spread[1] / 2
    # within 5 standard errors of what is left
    assert abs(together[0].middle[0] / 0.0128 - 2.4) < 5 * spread[0]
    assert all(one.chance is together[0].chance for one in together)


def test_what_noise_hides_wholly_is_near_the_model_s_by_a_wide_factor() -> None:
    lost = own_spreads(seen(1.0, 1e3))
    logs = np.log(MULTIPLES)
    middle = float((lost.chance[:, 0] * logs).sum())
    # the law is cut off beyond a factor of 16, three of its standard deviations
    assert middle == pytest.approx(0, abs=0.01)
    assert float((lost.chance[:, 0] * logs**2).sum() ** 0.5) == pytest.approx(np.log(FACTOR), rel=0.03)
    assert lost.chance.sum() == pytest.approx(1)


def test_without_a_model_the_released_variance_says_all() -> None:
    """A guess that is a hundred times too small, of which nothing is known, changes nothing."""
    right, off = (own_spreads(seen(1.7, 1e-4, known=False, guess=guess)) for guess in (0.0128, 0.000128))
    assert right.middle[0] == pytest.approx(1.7 * 0.0128, rel=0.03)
    assert off.middle[0] == pytest.approx(right.middle[0], rel=0.02)


def test_a_mean_beyond_the_end_says_nothing_of_the_variance() -> None:
    over = replace(seen(), mean=np.array([END + 0.01]))
    assert not over.evidence.any()


def test_clamped_variances_are_those_of_the_law() -> None:
    made = unclamped_means(np.array([0.97]), np.array([0.0128]), -np.inf, END, free=True)
    law = stats.norm(made.value[0], 0.0128**0.5)
    x = np.minimum(law.ppf((np.arange(40_000) + 0.5) / 40_000), END)
    assert x.mean() == pytest.approx(0.97, abs=1e-4)
    assert made.clamped[0] == pytest.approx(x.var(), rel=2e-3)


def test_a_multiple_whose_equations_are_not_solved_has_no_chance() -> None:
    """A mean next to a lower end, of estimates whose logarithm is normal."""
    mean, low, high = np.array([0.851]), 0.85, 3.0
    made = unclamped_means(np.repeat(mean, len(MULTIPLES)), MULTIPLES * 0.025, low, high, 0.0, free=True)
    lost = np.isnan(made.value)
    assert 0 < lost.sum() < 5
    one = SeenSpread(mean, np.array([0.001]), np.array([10.0]), np.array([0.025]), True, low, high, 0.0, 1e-4)
    chance = own_spreads(one).chance[:, 0]
    assert not chance[lost].any()
    assert chance.sum() == pytest.approx(1)
