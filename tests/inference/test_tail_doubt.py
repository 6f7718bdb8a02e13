"""Intervals of binary responses where few events lie in a regressor's tail, and noise leaves the curvature a guess."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.fits.fit import Fit
from tacit.method.regression.estimate import fit_release, layout_of
from tacit.method.regression.estimate_coefficients import score_coefficients
from tacit.method.regression.estimate_coefficients.score_step import ScoreStep, last_step
from tacit.method.regression.estimate_coefficients.tail_doubt import (
    MOST_REACH,
    MOST_SKEWNESS,
    beta_skewness,
    tail_notes,
    tail_reach,
    term_tails,
)
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.pilots.glm_pilot import regressor_moments
from tacit.method.regression.row_sums.noisy_scores import ScaledTerms, ScorePart
from tacit.privacy import Cost
from tacit.release.simulated import SimulatedRelease
from tacit.testing.simulated_regressions import RegressionRows, rows_of

ROWS = 12_000


def rows(law: str, slope: float, rho: str, model: str = "logistic") -> RegressionRows:
    """A regressor, whose tail lies away from the events where its slope is negative, and one that adds nothing."""
    rng = np.random.default_rng(3)
    x = rng.lognormal(0, 1, ROWS) if law == "lognormal" else rng.normal(0, 2, ROWS)
    z = rng.normal(0, 1, ROWS)
    shift = 2.9 if law == "lognormal" else 3.5
    y = rng.random(ROWS) < 1 / (1 + np.exp(shift - slope * x))
    bounds = (0, 200) if law == "lognormal" else (-80, 80)
    schema = tc.Schema({"x": tc.Real(*bounds), "z": tc.Real(-40, 40), "y": tc.Integer(0, 20)})
    if model == "logistic":
        schema = tc.Schema({"x": tc.Real(*bounds), "z": tc.Real(-40, 40), "y": tc.Boolean()})
    query = tc.Regression("y ~ x + z", model=model)
    return rows_of(query, {"x": x, "z": z, "y": y if model == "logistic" else y.astype(int)}, schema, Cost.of(rho=rho))


def read(release: SimulatedRelease, model: str = "logistic") -> tuple[ScoreStep, ScorePart, ScaledTerms, Layout]:
    """Return the last step with what it is made of."""
    layout = layout_of(release)
    first, last, terms = score_coefficients._read(model, layout, release.parts, release.rows)  # pyright: ignore[reportPrivateUsage]
    return last_step(first, last, regressor_moments(first, terms)), last, terms, layout


def reach(release: SimulatedRelease, model: str = "logistic") -> np.ndarray:
    """Return the factors of a release."""
    step, last, terms, layout = read(release, model)
    total = terms.back @ sum(step.covariances(last)) @ terms.back.T
    tails = term_tails(layout, step.regressors, terms.back)
    return tail_reach(step, last, tails, total, step.inverted(last, total, terms.back), terms.back)


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.4), (1.5, 90.0), (40.0, 40.0), (8.0, 0.7)])
def test_bounds_and_moments_give_the_skewness_of_a_beta_law(a: float, b: float) -> None:
    mean, variance, skewness = map(float, stats.beta.stats(a, b, loc=-2, scale=7, moments="mvs"))
    assert beta_skewness(mean, variance**0.5, -2, 5) == pytest.approx(skewness, abs=1e-9)
    # the same law the other way round
    assert beta_skewness(-mean, variance**0.5, -5, 2) == pytest.approx(-skewness, abs=1e-9)


def test_skewness_is_bounded_whatever_noise_makes_of_moments() -> None:
    """A mean outside the bounds, no variance, one larger than bounds allow, and bounds without room."""
    for mean, sd in [(-3.0, 1.0), (9.0, 0.0), (0.5, 50.0), (0.0, 0.0)]:
        assert abs(beta_skewness(mean, sd, 0, 1)) <= MOST_SKEWNESS
    assert beta_skewness(1, 0, 1, 1) == pytest.approx(0)


def test_moments_of_terms_are_told_in_their_own_units() -> None:
    """Without noise: the constant has no tail, and a normal regressor in the middle of its bounds hardly any."""
    step, last, terms, layout = read(rows("lognormal", -0.36, "0.1").expected(10**9))
    tails = term_tails(layout, step.regressors, terms.back)
    assert tails.skewness[0] == pytest.approx(0)
    # of a gamma law from 0 with this mean and variance, where shortened rows make the variance less
    assert 1.2 < tails.skewness[1] < 3
    assert abs(tails.skewness[2]) < 0.02
    # rows in a lognormal tail are shortened, and what they lose is given back on average
    assert tails.sd[2] == pytest.approx(1, rel=0.15)
    assert last.link.weighed is False


def answers(law: str, slope: float, rho: str) -> list[Fit]:
    """Return the fits of eight releases of a table."""
    made = rows(law, slope, rho)
    fits = [fit_release(made.release(np.random.default_rng([4, seed]))) for seed in range(8)]
    return [fit for fit in fits if not any(fit.reasons)]


def test_intervals_say_that_a_tail_away_from_the_events_is_a_guess() -> None:
    """Seeds are constants: of the answers most reach further, and say of which coefficient and what would help."""
    said = [
        [note for note in fit.notes if note.startswith("The interval of")] for fit in answers("lognormal", -0.4, "0.03")
    ]
    assert len(said) >= 6
    assert sum(map(bool, said)) > len(said) / 2
    assert all("x is up to" in one[0] or "x, " in one[0] for one in said if one)
    assert all("logarithm" in one[0] and "where=" in one[0] for one in said if one)


@pytest.mark.parametrize(("law", "slope", "rho"), [("normal", -0.4, "0.1"), ("lognormal", -0.4, "20")])
def test_nothing_changes_without_a_tail_or_where_the_release_tells_the_curvature(
    law: str, slope: float, rho: str
) -> None:
    made = rows(law, slope, rho)
    for seed in range(3):
        assert reach(made.release(np.random.default_rng([5, seed]))) == pytest.approx(np.ones(3), abs=0.1)


def test_factors_are_at_least_one_and_bounded() -> None:
    made = rows("lognormal", -0.4, "0.03")
    for seed in range(4):
        factors = reach(made.release(np.random.default_rng([6, seed])))
        assert (factors >= 1).all()
        assert (factors <= MOST_REACH + 1e-9).all()


def test_counts_are_left_as_they_are() -> None:
    """Their curvature is released with weights of its own."""
    release = rows("lognormal", -0.4, "0.5", "poisson").expected(10**7)
    assert reach(release, "poisson") == pytest.approx(np.ones(3))


def test_standard_errors_follow_the_factors() -> None:
    """Standard errors, and the law that joint tests have, are those of before times the factors."""
    release = rows("lognormal", -0.4, "0.03").release(np.random.default_rng([4, 0]))
    step, last, terms, _ = read(release)
    total = terms.back @ sum(step.covariances(last)) @ terms.back.T
    inverted = step.inverted(last, total, terms.back)
    factors, fit = reach(release), fit_release(release)
    longer = np.maximum(step.widening(last, total, terms.back), inverted * factors)
    assert fit.std_errors == pytest.approx(np.sqrt(np.diag(total)) * longer)
    assert tail_notes(factors, fit.names) == tuple(note for note in fit.notes if note.startswith("The interval of"))
