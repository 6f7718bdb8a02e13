"""Random effects of a family's parameters: linear in noise, weights that follow no noise, curvature undone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import tacit as tc
from tacit import families
from tacit.method.sufficient_statistics.combine_effects import (
    Places,
    _curvature,  # pyright: ignore[reportPrivateUsage]
    _own_parts,  # pyright: ignore[reportPrivateUsage]
    _regular,  # pyright: ignore[reportPrivateUsage]
    maps_of,
    random_parameters,
)
from tacit.models.mean_map import mean_map
from tacit.pooling.random_effects import RandomEffects
from tacit.pooling.released_evidence import evidence
from tacit.testing.simulated_parties import answers

R = 200
BOX = np.array([0.1]), np.array([10.0])
QUERY = tc.SufficientStatistics("x", families.Exponential(rate=(0.1, 10)))
SCHEMA = tc.Schema({"x": tc.Real(0, 40, missing=0)})
"""So wide that no row of an exponential law is clamped: the mean is one over the rate."""


def plain(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean map of an exponential law, without clamping."""
    return 1 / theta, -(theta[..., None] ** -2), theta[..., None] ** -2


def effects(rates: np.ndarray, sizes: tuple[int, ...], epsilon: str) -> RandomEffects:
    """Random effects of R studies; rates of shape (parties, R)."""

    def values(rng: np.random.Generator, party: int, repeats: int, rows: int) -> Any:
        return rng.exponential(1, (repeats, rows)) / rates[party][:, None]

    made = answers(QUERY, SCHEMA, values, sizes, [{"epsilon": epsilon}] * len(sizes), repeats=R, rng=9)
    found = evidence(made, 0)
    usable = np.ones(found.size.shape, dtype=bool)
    return random_parameters(plain, [found], usable, np.full((R, 1), 1.2), BOX, BOX, "REML")


def test_parties_that_say_almost_nothing_neither_bias_nor_spoil_the_mean() -> None:
    """4 of 3,000 rows and 20 of 80 at ε = 8 of a column 40 wide (as 0.8 of one 4 wide), one rate.

    Where each party's own statistics are inverted, 40 such small ones have ten times the variance of the best weights,
    and 4% of intervals cover.  Here 1.25 times are allowed, and 5 errors, sqrt(2 / 200), of a mean of 200 squares.
    """
    sizes = (3_000,) * 4 + (80,) * 20
    found = effects(np.ones((24, R)), sizes, "8")
    n = np.array(sizes, dtype=float)
    own = found.centred.sampling + found.centred.privacy
    best = 1 / (1 / own.mean(axis=1)).sum()
    assert 1 / n.sum() < best < 1.6 / n.sum()
    assert ((found.value - 1) ** 2).mean() < 1.25 * best * (1 + 5 * np.sqrt(2 / R))
    assert abs(found.value.mean() - 1) < 5 * np.sqrt(best / R)
    low, high = found.interval(0.95)
    assert ((low <= 1) & (high >= 1)).sum() >= binom.ppf(1e-6, R, 0.93)
    # no weight follows a party's own noise: all 20 small ones have the same
    assert np.ptp(found.shares[4:], axis=0).max() < 1e-12


@pytest.mark.parametrize(("sizes", "epsilon", "tau"), [((2_000,) * 10, "20", 0.4), ((25,) * 60, "20", 0.25)])
def test_the_mean_is_that_of_the_parameters(sizes: tuple[int, ...], epsilon: str, tau: float) -> None:
    """Rates differ by much: their mean, not one over the mean of the means, which is tau**2 below it."""
    rates = np.random.default_rng(4).uniform(1 - tau * 3**0.5, 1 + tau * 3**0.5, (len(sizes), R))
    found = effects(rates, sizes, epsilon)
    error = found.value.std() / np.sqrt(R)
    assert abs(found.value.mean() - 1) < 5 * error + 0.15 * tau**2
    assert tau**2 - 0.15 * tau**2 > 5 * error  # the test can tell
    low, high = found.interval(0.95)
    assert ((low <= 1) & (high >= 1)).sum() >= binom.ppf(1e-6, R, 0.92)


def test_curvature_and_own_places_are_those_of_the_map() -> None:
    """Of m = 1 / theta: Q = -2 / theta; a party counts alone from an error of 0.35 theta / 2 downwards."""
    theta = np.array([[0.5], [2.0]])
    mean, slope, cov = plain(theta)
    Q = _curvature(plain, Places(theta, mean, slope, cov), BOX)
    assert Q[:, 0, 0, 0] == pytest.approx(-2 / theta[:, 0], rel=1e-6)
    errors = np.array([0.0, 0.02, 0.175, 0.3])[:, None] * theta[:, 0]
    S = _own_parts(Q, (errors**2)[..., None, None])
    assert S[0] == pytest.approx(1)
    assert (S[1] > 0.99).all()
    assert S[2:] == pytest.approx(0, abs=1e-12)
    # places at which statistics tell nothing are replaced
    flat = Places(theta, mean, slope * np.array([0.0, 1.0])[:, None, None], cov)
    other = Places(theta + 1, mean, slope, cov)
    assert _regular(flat, other).theta[:, 0].tolist() == [1.5, 2.0]


def test_of_two_parameters_the_curvature_is_symmetric_and_each_place_is_asked_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    map_ = mean_map(families.Normal(mean=(-5, 5), sd=(0.2, 5)), ((-3.0, 4.0), (0.0, 16.0)))
    asked: list[Any] = []
    real = type(map_).at
    monkeypatch.setattr(type(map_), "at", lambda self, theta: asked.append(theta) or real(self, theta))
    maps, theta = maps_of(map_), np.array([[0.5, 1.0], [0.5, 1.0], [0.4, 1.0]])
    mean, slope, cov = maps(theta)
    assert len(asked) == 2
    assert (mean[0] == mean[1]).all()
    Q = _curvature(maps, Places(theta, mean, slope, cov), map_.inner)
    assert pytest.approx(np.swapaxes(Q, -1, -2)) == Q
    # nearly unclamped: x has mean mu, x**2 has mu**2 + sd**2; theta'' of these: d sd / d (mu, mu) = 1 / sd
    assert Q[0, 1] == pytest.approx(np.diag([1.0, 1.0]), abs=0.15)


def test_one_party_among_the_hopeless_is_too_few_and_the_others_are_named() -> None:
    """A study of one party of rows and two of none, sizes private: a reason names these two."""
    budget = tc.Budget(epsilon=1, neighbors="add-remove")
    rng, found = np.random.default_rng(0), {}
    for name, rows in {"st-mary": 3_000, "st-luke": 0, "st-john": 0}.items():
        curator = tc.Curator({"x": rng.exponential(1, rows)}, SCHEMA, name=name, budget=budget)
        found[name] = curator.release(QUERY, epsilon="0.001" if not rows else 1)
    made = tc.combine(found, effects="random")
    usable = made.columns[0].parts.usable[:, 0]
    if usable.sum() < 2:  # noise may make a size look clear: once in twenty
        out = ", ".join(name for name, yes in zip(found, usable, strict=True) if not yes)
        assert f"fewer than two parties of a size clearly above its noise: {out} say too little" in str(made.estimate())
    assert not any(len(word) > 40 for word in str(made.estimate()).split())
