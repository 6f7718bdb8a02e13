"""Limits of smooth densities hold what a release resolves, for any law; doubts are where the counts show more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.estimates.densities.kernel_weights import kernel_weights
from tacit.estimates.densities.local_doubts import DRAWS, RATE, doubted
from tacit.estimates.densities.series_coefficients import Shares, coefficients, remainder
from tacit.method.histogram.estimate_smooth import smooth_density as of_histogram
from tacit.method.kernel_density.estimate import density
from tacit.method.kernel_density.estimate import smooth_density as of_kernel
from tacit.method.kernel_density.estimate_kernel import ends_of, fitted
from tacit.method.orthogonal_series.design import edges as edges_of_series
from tacit.method.orthogonal_series.estimate import smooth_density as of_series
from tacit.method.orthogonal_series.mechanism import sums
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.rows.series_bases import functions, integrals
from tacit.testing.simulate import add_noise, exact_integers, shaped

SCHEMA = tc.Schema({"x": tc.Real(0, 1, missing=0.0)})
PLACES = (np.arange(20) + 0.5) / 20
LEVEL = 1e-6
"""False-alarm rate of each comparison."""
KERNEL = tc.KernelDensity("x", bandwidth=0.05)


def cdf(x: np.ndarray) -> np.ndarray:
    """Of two boxes, from .2 to .35 and from .6 to .9."""
    return 0.7 * stats.uniform(0.2, 0.15).cdf(x) + 0.3 * stats.uniform(0.6, 0.3).cdf(x)


def kernel(law: Any, n: int, rng: np.random.Generator, **price: float) -> Any:
    """A simulated release of a kernel density of rows drawn anew."""
    shape = shaped(KERNEL, SCHEMA, "replace-one", n, Cost.of(**price))
    chances = np.diff(law(ends_of(shape.axes[0])))
    return simulated(shape, add_noise(shape, (rng.multinomial(n, chances)[:, None],), rng))


def shares_held(limits: np.ndarray, true: np.ndarray) -> float:
    return float(((limits[:, 0] <= true + 1e-12) & (true <= limits[:, 1] + 1e-12)).mean())


@pytest.mark.parametrize("price", [{"rho": 0.1}, pytest.param({"epsilon": 0.5}, marks=pytest.mark.long)])
def test_limits_of_a_kernel_hold_what_it_resolves_and_not_the_density(price: dict[str, float]) -> None:
    """60 releases of two boxes, 20 places.

    In a release neighbouring places move together, about four bandwidths apart not: so that the mean over places of
    95% coverage has a standard deviation below .11, and its mean over 60 releases one of .014; .88 is 5 of them below.
    """
    rng = np.random.default_rng(0)
    edges = ends_of(shaped(KERNEL, SCHEMA, "replace-one", 5_000, Cost.of(rho=1)).axes[0])
    resolved = np.maximum(kernel_weights(edges, PLACES, 0.05, 2) @ np.diff(cdf(edges)), 0.0)
    true = (cdf(PLACES + 1e-6) - cdf(PLACES - 1e-6)) / 2e-6
    made = [of_kernel(kernel(cdf, 5_000, rng, **price)) for _ in range(60)]
    limits = [one.intervals(PLACES) for one in made]
    assert np.mean([shares_held(one, resolved) for one in limits]) > 0.88
    # and the density itself, since what the counts show the kernel to miss is in the errors
    assert np.mean([shares_held(one, true) for one in limits]) > 0.88
    bands = [shares_held(one.intervals(PLACES, simultaneous=True), resolved) == 1 for one in made]
    # at most 45 of 60 with probability 2e-8 where bands hold 95%
    assert sum(bands) > 45


def test_limits_of_a_series_hold_its_terms_though_it_sees_nothing_of_the_rest() -> None:
    """Twenty waves, seven polynomials: 40 releases, most without a note; five standard deviations are .088."""
    rng, n, waves = np.random.default_rng(1), 3_000, 20
    shape = shaped(tc.OrthogonalSeries("x", "legendre", terms=7), SCHEMA, "replace-one", n, Cost.of(epsilon=0.5))
    ends = np.array(edges_of_series(shape.variables[0], 1))
    chances = np.diff(ends + 0.9 * np.sin(2 * np.pi * waves * ends) / (2 * np.pi * waves))
    beta = np.diff(integrals("legendre", ends, 7), axis=1) / np.diff(ends) @ chances
    x, found, noted = PLACES + 0.003, list[tuple[float, float]](), 0
    for _ in range(40):
        counts = rng.multinomial(n, chances).astype(np.int64)
        exact = np.array([sums(shape, shape.columns[0], counts)], dtype=np.int64)
        one = of_series(simulated(shape, add_noise(shape, (exact,), rng)))
        limits, band = one.intervals(x), int(one.limits_of.split("first ")[1].split()[0])
        resolved = 1 + beta[:band] @ functions("legendre", x, band)
        true = 1 + 0.9 * np.cos(2 * np.pi * waves * x)
        found.append((shares_held(limits, resolved), shares_held(limits, true)))
        noted += any("too few" in note for note in one.notes)
    held, missed = np.mean(found, axis=0)
    assert held > 0.86
    assert missed < 0.7
    assert noted < 20


@pytest.mark.parametrize("law", ["laplace", "normal"])
def test_doubts_are_as_rare_as_said(law: str) -> None:
    """Errors of one law alone, 600 times, of 30 cells smoothed as residuals are.

    The threshold is an order statistic of 1,000 draws, with which the rate varies by .0054: beyond .06, or below .01,
    lie fewer than 1e-7 of thresholds, and of counts of 600 at such rates fewer than 1e-6 are beyond the bounds.
    """
    rng, cells = np.random.default_rng(2), 30
    left = np.eye(cells) - np.exp(-((np.arange(cells)[:, None] - np.arange(cells)) ** 2) / 4) / 3.6

    def errors(n: int) -> np.ndarray:
        made = rng.laplace(size=(n, cells)) if law == "laplace" else rng.standard_normal((n, cells))
        return made @ left.T

    drawn = errors(DRAWS)
    found = sum(bool(doubted(one, drawn, np.ones(cells)).any()) for one in errors(600))
    assert 0.01 < RATE < 0.06
    assert stats.binom.isf(1 - LEVEL, 600, 0.01) <= found <= stats.binom.isf(LEVEL, 600, 0.06)


def test_doubts_are_where_a_jump_is_and_not_elsewhere() -> None:
    """A jump at .62 to half the height: in each of 10 releases of 200,000 rows, and few cells beside it."""
    rng = np.random.default_rng(3)

    def law(x: np.ndarray) -> np.ndarray:
        return np.where(x < 0.62, x, 0.62 + (x - 0.62) / 2) / 0.81

    lengths = list[float]()
    for _ in range(10):
        ((low, high),) = of_kernel(kernel(law, 200_000, rng, epsilon=1)).doubts[0]
        assert low < 0.62 < high
        lengths.append(high - low)
    assert np.mean(lengths) < 0.6
    smooth = [of_kernel(kernel(stats.beta(2, 3).cdf, 20_000, rng, epsilon=1)).doubts != ((),) for _ in range(20)]
    # at a rate of .06 more than 10 of 20 in 1e-7
    assert sum(smooth) <= 10


def test_doubts_of_a_smooth_density_are_in_the_units_of_the_column() -> None:
    """A spike of whole numbers in 64 bins of 1,000: said in the summary, of the right group."""
    rng = np.random.default_rng(4)
    schema = tc.Schema({"k": tc.Integer(1, 1_024), "sex": tc.Category(["f", "m"])})
    shape = shaped(tc.Histogram(["sex", "k"], bins={"k": 64}), schema, "replace-one", 40_000, Cost.of(rho=1))
    sex, k = rng.choice(["f", "m"], 40_000), rng.integers(1, 1_025, 40_000)
    k = np.where((sex == "m") & (rng.random(40_000) < 0.2), 700, k)
    release = simulated(shape, add_noise(shape, exact_integers(shape, {"sex": sex, "k": k}), rng))
    found = of_histogram(release, "k", "sex")
    of_f, of_m = found.doubts
    assert of_f == ()
    assert any(a <= 700 <= b for a, b in of_m)
    assert found["m"].doubts == (of_m,)
    text = str(found.summary())
    assert "m: from " in text
    assert "limits are of the density as far as" in text
    assert "the density itself may be outside" in text


def test_what_is_smoothed_is_held_exactly_and_has_no_doubts() -> None:
    release = kernel(cdf, 20_000, np.random.default_rng(5), epsilon=1)
    plain, exact = of_kernel(release), of_kernel(release, smoothed=True)
    assert plain.doubts[0]
    assert exact.doubts == ((),)
    assert exact.doubtful == ("limits are of the density smoothed by a kernel of standard deviation 0.05",)
    assert "as far as the released kernel resolves it" in density(release, [0.3]).estimand
    assert "smoothed by the released kernel" in density(release, [0.3], smoothed=True).estimand
    silent = kernel(cdf, 3, np.random.default_rng(6), epsilon=0.01)
    assert fitted(silent).doubts == () or fitted(silent).reason is None


def test_what_terms_leave_of_shares_is_what_is_not_in_them() -> None:
    edges = np.linspace(0, 1, 17)
    over = np.diff(integrals("cosine", edges, 8), axis=1)
    shares = np.diff(edges) + np.array([0.2, 0, 0, 0.1, 0, 0, 0, 0.05]) @ over
    given = Shares(edges, shares, np.zeros((16, 16)), np.eye(16), 1e-9)
    assert np.allclose(coefficients("cosine", given, 8).values, [0.2, 0, 0, 0.1, 0, 0, 0, 0.05], atol=1e-9)
    left, react = remainder("cosine", given, 8, 4)
    assert np.allclose(left, 0.05 * over[7], atol=1e-12)
    assert np.allclose(react @ (shares - np.diff(edges)), left, atol=1e-12)


def test_residuals_next_to_no_error_say_nothing() -> None:
    """In a cell that the estimate follows, what is left is rounding; in others as much is a doubt."""
    drawn = np.random.default_rng(7).standard_normal((DRAWS, 20)) * np.where(np.arange(20) == 0, 1e-4, 1.0)
    residuals = np.zeros(20)
    residuals[0] = 0.01
    assert not doubted(residuals, drawn, np.ones(20)).any()
    residuals[10] = 20.0
    assert doubted(residuals, drawn, np.ones(20))[10]
