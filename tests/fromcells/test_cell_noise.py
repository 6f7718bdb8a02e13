"""The law of weighted sums of noises: against the exact one, and against draws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tacit.estimates.total_errors import error_laws as laws
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Error, Noise
from tacit.noise.laws import DiscreteLaplace, Law, RoundedNormal


@pytest.mark.parametrize(
    ("number", "scales"), [([1], [1.0]), ([2], [1.0]), ([5], [1.0]), ([20], [1.0]), ([1, 3], [1.0, 0.5])]
)
@pytest.mark.parametrize("sd", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_half_widths_are_those_of_the_exact_law(
    number: list[int], scales: list[float], sd: float, level: float
) -> None:
    error = Error(np.array([sd**2]), np.array([scales]), np.array([number], float))
    exact = laws.halfwidth(level, np.array([sd]), np.repeat(scales, number)[None])
    assert error.halfwidth(level) == pytest.approx(exact, rel=0.0002 if number == [1] else 0.01)


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(3)), RoundedNormal(Fraction(3))])
@pytest.mark.parametrize("projected", [False, True])
def test_variances_are_those_of_draws(law: Law, projected: bool) -> None:
    """Sums of 5 of 8 cells of 4 noises each; a sample variance of 40,000 draws is within 6 standard errors: 1e-8.

    The kurtosis of such sums is below 3.3, so that a standard error is below 0.0076 of the variance.
    """
    rng = np.random.default_rng(0)
    z = law.sample(40_000 * 32, rng).reshape(40_000, 8, 4).sum(axis=2).astype(float)
    z -= z.mean(axis=1, keepdims=True) * projected
    weights = np.array([1.0, 0.5, -1.0, 2.0, 0.25])
    noise = Noise(law, 1, 4, 8, projected)
    found = float(noise.variance(weights))
    assert found == pytest.approx(np.var(z[:, :5] @ weights), rel=6 * 0.0076)
    assert found == pytest.approx(float(noise.error(weights, np.zeros(())).sd) ** 2)
    assert found == pytest.approx(float(noise.covariance(weights[None])[0, 0]))


@pytest.mark.parametrize("added", [1, 7])
def test_drawn_noises_have_the_variance_of_their_sum(added: int) -> None:
    """As above: 40,000 draws, kurtosis at most 6, so a standard error of at most 0.0112 of the variance."""
    noise = Noise(DiscreteLaplace(Fraction(5, 2)), 1, added, 1, projected=False)
    assert np.var(noise.sample((40_000,), np.random.default_rng(1))) == pytest.approx(noise.cell, rel=6 * 0.0112)
