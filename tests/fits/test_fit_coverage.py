"""Intervals cover and the correction for binning is what makes them (theory §7), in small simulations.

Of m simulations the number that cover is binomial; bounds are its quantiles, for a coverage of at least 0.93, with
false alarms at most 3e-8 each (some thirty bounds: 1e-6).  The full table: `benchmarks/histogram_fits.py`.
"""

from __future__ import annotations

import numpy as np
import pytest
from cell_draws import Population, continuous, levels, line, logistic
from scipy.special import expit
from scipy.stats import binom, chi2

from tacit.fits.cells.cell_arrays import CellCounts
from tacit.fits.effects import marginal_effects, predict
from tacit.fits.regression_fits import fit_cells

M = 120
ALARM = 3e-8
LEAST = int(binom.ppf(ALARM, M, 0.93))


def simulated(population: Population, n: int, epsilon: float, method: str, *, public: bool = True, seed: int = 0):  # type: ignore[no-untyped-def]
    """Estimates and standard errors, shape (M, p) each; every fit must hold."""
    rng = np.random.default_rng(seed)
    draws = (population.draw(n, epsilon, rng, public=public) for _ in range(M))
    fits = [fit_cells(cells, population.formula, population.model, method) for cells in draws]  # type: ignore[arg-type]
    assert not any(reason for fit in fits for reason in fit.reasons)
    return np.array([fit.values for fit in fits]), np.array([fit.std_errors for fit in fits])


def covered(population: Population, values: np.ndarray, errors: np.ndarray) -> np.ndarray:
    return (np.abs(values - population.truth) <= 1.959964 * errors).sum(axis=0)


@pytest.mark.long
@pytest.mark.sample(3)
@pytest.mark.parametrize("x_law", ["beta22", "uniform", "beta13"])
def test_logistic_slopes(x_law: str) -> None:
    population = logistic(x_law, -2.0, 4.0)
    values, errors = simulated(population, 100_000, 1.0, "corrected")
    assert (covered(population, values, errors) >= LEAST).all()


def test_midpoints_of_bins_do_not_cover_a_logistic_slope() -> None:
    """Theory has 66% for its design; here the bias is two standard errors: about 48%."""
    population = logistic("beta22", -2.0, 4.0)
    values, errors = simulated(population, 100_000, 1.0, "midpoint")
    assert covered(population, values, errors)[1] <= binom.isf(ALARM, M, 0.52)


@pytest.mark.long
def test_lines() -> None:
    """Theory's row OLS (x, y), 1e5, 1, 10: midpoints .007, corrected .943, and the root mean square error /4.8."""
    population = line("beta22", 0.3, 0.4, 0.1)
    found = {method: simulated(population, 100_000, 1.0, method) for method in ("midpoint", "corrected")}
    assert covered(population, *found["midpoint"])[1] <= binom.isf(ALARM, M, 0.03)
    assert (covered(population, *found["corrected"]) >= binom.ppf(ALARM, M, 0.92)).all()
    rmse = {m: np.sqrt(((v - population.truth) ** 2).mean(axis=0))[1] for m, (v, _) in found.items()}
    # numerator: bias 4.1 SE; denominator: chi-square of M draws; 3.0 is past 3e-8 of the ratio's expectation, 4
    assert rmse["midpoint"] / rmse["corrected"] >= 3.0


@pytest.mark.long
def test_standard_errors_are_the_spread() -> None:
    """Prices at which most of the variance is the noise's, both relations: SD within chi-square bounds of the SE."""
    population = line("uniform", 0.3, 0.4, 0.12)
    low, high = (np.sqrt(chi2.ppf(q, M - 1) / (M - 1)) for q in (ALARM, 1 - ALARM))
    for public in (True, False):
        values, errors = simulated(population, 4_000, 0.5, "corrected", public=public, seed=1)
        ratio = values.std(axis=0, ddof=1) / np.sqrt((errors**2).mean(axis=0))
        assert (ratio > low * 0.97).all(), ratio  # 3%: first order in the noise of the Hessian
        assert (ratio < high * 1.03).all(), ratio
        assert (covered(population, values, errors) >= LEAST).all()


@pytest.mark.long
def test_without_the_noise_term_intervals_would_be_far_too_short() -> None:
    population = line("uniform", 0.3, 0.4, 0.12)
    rng = np.random.default_rng(2)
    fits = [fit_cells(population.draw(4_000, 0.5, rng), "y ~ x") for _ in range(M)]
    values = np.array([fit.values for fit in fits])
    errors = np.sqrt([np.diag(fit.cov_sampling) for fit in fits])
    assert covered(population, values, errors)[1] <= binom.isf(ALARM, M, 0.6)


@pytest.mark.long
def test_averages_and_predictions_cover() -> None:
    """The average marginal effect of x and a prediction, in a release with a factor and a column that is not used."""
    bins = 10
    x = (np.arange(bins * 200) + 0.5) / (bins * 200)
    p = np.zeros((bins, 2, 2, 3))
    slope = 0.0
    for s in (0, 1):
        share = expit(-1 + 2 * x - 0.8 * s)
        part = np.stack([1 - share, share], 1).reshape(bins, 200, 2).sum(1)
        p[:, s] = (part * (0.6 if s == 0 else 0.4))[:, :, None] * np.array([0.5, 0.3, 0.2])
        slope += (0.6 if s == 0 else 0.4) * float((share * (1 - share) * 2).mean())
    axes = (continuous("x", bins), levels("s", "a", "b"), levels("y", "no", "yes"), levels("u", "p", "q", "r"))
    rng = np.random.default_rng(3)
    hits = np.zeros(2, dtype=int)
    mean = expit(-1 + 2 * 0.25 - 0.8)
    p /= p.sum()
    for _ in range(M):
        counts = rng.multinomial(20_000, p.reshape(-1)).reshape(p.shape) + rng.laplace(0, 2.0, p.shape)
        fit = fit_cells(CellCounts(axes, counts, 8.0, 20_000.0), "y ~ x + s", "logistic")
        effects, one = marginal_effects(fit), predict(fit, {"x": [0.25], "s": ["b"]})
        at = effects.names.index("x")
        hits += [
            abs(effects.values[at] - slope) <= 1.959964 * effects.std_errors[at],
            abs(one.values[0] - mean) <= 1.959964 * one.std_errors[0],
        ]
    assert (hits >= LEAST).all(), hits
