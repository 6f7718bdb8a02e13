"""Synthetic rows of laws and regressions: what they have, what sets say of the release, what rows reproduce."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import truncnorm

import tacit as tc
from tacit.errors import InferenceError
from tacit.fits.response_spread import Overdispersion, ResidualVariance, SpreadCurve
from tacit.method.regression.estimate_coefficients.sampling_variance import positive_part

SCHEMA = tc.Schema(
    {
        "wait": tc.Real(0.001, 40),
        "kids": tc.Integer(0, 30),
        "x": tc.Real(-4, 4),
        "y": tc.Real(-8, 8),
        "sick": tc.Boolean(),
        "side": tc.Category(["left", "right"]),
        "pay": tc.Real(0.001, 30),
    }
)
FRAME = pd.DataFrame({"x": np.random.default_rng(3).normal(size=1_500).clip(-4, 4)})
GAMMA = tc.families.Gamma(shape=(0.5, 5), rate=(0.05, 5))


def table(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    x = rng.normal(size=n).clip(-4, 4)
    p = 1 / (1 + np.exp(-x))
    return {
        "wait": rng.gamma(2, 1.5, n).clip(0.001, 40),
        "kids": rng.poisson(2, n).clip(0, 30),
        "x": x,
        "y": (1 + 0.5 * x + rng.normal(size=n)).clip(-8, 8),
        "sick": rng.random(n) < p,
        "side": np.where(rng.random(n) < p, "right", "left"),
        "pay": (np.exp(0.3 * x) * rng.gamma(2, 0.5, n)).clip(0.001, 30),
    }


CURATOR = tc.Curator(table(8_000), SCHEMA, name="people", budget=tc.Budget(rho=200))


def release(query: Any, rho: float = 1.0) -> Any:
    return CURATOR.release(query, rho=rho)


def law_of(kind: str) -> Any:
    if kind == "statistics":
        return release(tc.SufficientStatistics("wait", GAMMA))
    blocks = release(tc.SampleAndAggregate("wait", GAMMA))
    return blocks if kind == "blocks" else blocks.law()


@pytest.mark.parametrize("kind", ["statistics", pytest.param("blocks", marks=pytest.mark.long), "law"])
def test_rows_of_a_law_reproduce_it_and_sets_have_its_errors(kind: str) -> None:
    law = law_of(kind)
    rows = law.sample(20_000, rng=0)
    assert list(rows.columns) == ["wait"]
    assert "nobody's" in rows.attrs["note"]
    report = law.utility(rows).to_frame()
    # each within 5.4 standard errors of drawing: seven terms, 5e-7
    assert (report.difference.abs() < 5.4 * report.drawing).all()
    other = law.utility(rows * 1.2).to_frame()
    assert other.difference["mean"] > 5 * other.drawing["mean"]
    sets = law.synthetic_sets(40, n=20_000, rng=1)
    found = sets.analyse(lambda frame: {"mean": frame.wait.mean(), "median": frame.wait.median()})
    # the law's own delta method, but for 40 draws: the chi-square's 1e-6 limits are about a half and 1.7
    errors = report.std_error[["mean", "quantile 0.5"]].to_numpy()
    assert (found.std_errors > 0.45 * errors).all()
    assert (found.std_errors < 2 * np.hypot(errors, report.drawing[["mean", "quantile 0.5"]] / 4)).all()
    assert abs(found.value["mean"] - report.released["mean"]) < 5 * report.drawing["mean"]
    noise = law.synthetic_sets(40, n=20_000, target="table", rng=1).analyse(lambda frame: frame.wait.mean())
    assert noise.std_error < found.std_errors[0]


def test_parameters_that_the_truth_may_have_stay_in_their_space_and_have_the_covariance() -> None:
    from tacit.method.sufficient_statistics.estimate import rows_of

    made = release(tc.SufficientStatistics("wait", GAMMA), rho=0.01)
    drawn = rows_of(made, "population").possible(20_000, np.random.default_rng(0))
    assert (drawn > 0).all()
    cov = made.estimate().cov.to_numpy()
    np.testing.assert_allclose(np.cov(np.log(drawn).T), cov / np.outer(*[made.estimate().values] * 2), rtol=0.15)


def test_counts_are_whole_and_regressions_by_blocks_take_regressors() -> None:
    made = release(tc.SufficientStatistics("kids", tc.families.Poisson(mean=(0.1, 20))))
    assert made.sample(50, rng=0).kids.dtype == np.int64
    assert made.utility(made.sample(9_000, rng=0)).terms == ("mean", "sd")
    with pytest.raises(InferenceError) as caught:
        made.utility(pd.DataFrame({"kids": ["a", "b"]}))
    assert caught.value.code == "I87"


@pytest.mark.parametrize(
    ("formula", "model", "dtype"),
    [
        ("y ~ x", "linear", "float64"),
        pytest.param("sick ~ x", "logistic", "bool", marks=pytest.mark.long),
        ("side ~ x", "logistic", "category"),
        pytest.param("sick ~ x", "probit", "bool", marks=pytest.mark.long),
        ("kids ~ x", "poisson", "int64"),
        pytest.param("pay ~ x", "gamma", "float64", marks=pytest.mark.long),
    ],
)
def test_rows_of_a_regression_refit_to_it_and_sets_have_its_errors(formula: str, model: str, dtype: str) -> None:
    made = release(tc.Regression(formula, model=model))
    rows = made.sample(12_000, regressors=FRAME, rng=1)
    assert rows.shape == (12_000, 2)
    assert str(rows.dtypes.iloc[0]) == dtype
    assert len(made.sample(regressors=FRAME)) == len(FRAME)
    report = made.utility(rows).to_frame()
    assert (report.difference.abs() < 5 * report.drawing).all()
    turned = rows.assign(x=-rows.x)
    if model not in ("poisson",):
        assert (made.utility(turned).to_frame().difference.abs() > 5 * report.drawing).any()

    def refit(frame: pd.DataFrame) -> dict[str, float]:
        found = made.utility(frame)
        return dict(zip(found.terms, found.found, strict=True))

    found = made.synthetic_sets(20, n=12_000, regressors=FRAME, rng=2).analyse(refit)
    assert (abs(found.values - report.released) < 5 * report.drawing).all()
    # 19 degrees of freedom: the standard deviation is within .3 and 1.9 of its expectation but for one in a million
    assert (found.std_errors > 0.3 * report.std_error).all()
    assert (found.std_errors < 2 * np.hypot(report.std_error, report.drawing)).all()


def test_sets_draw_the_spread_of_responses_with_its_errors() -> None:
    made = release(tc.Regression("y ~ x"), rho=0.1)
    errors, scale = made.fit().spread, made.fit().criteria["scale"]
    assert errors.sampling == pytest.approx(2 / 8_000, rel=0.05)  # rows are counted with noise, .5%
    factors = errors.factors(40_000, False, np.random.default_rng(0))
    # to 1.4% at 4 standard deviations of simulation; of a standard deviation half the relative error of the variance
    assert np.log(factors).std() == pytest.approx(np.sqrt(errors.sampling + errors.privacy) / 2, rel=0.02)
    sets = made.synthetic_sets(60, n=20_000, regressors=FRAME, rng=1)
    assert any("spread of responses is drawn" in one for one in sets.notes)
    found = sets.analyse(lambda rows: np.log(np.std(rows.y - np.polyval(np.polyfit(rows.x, rows.y, 1), rows.x))))
    own = float(np.sqrt(errors.sampling + errors.privacy) / 2)
    # 59 degrees of freedom: within a half and 1.6 of it but for one in a million
    assert 0.5 * own < found.std_error < 1.6 * np.hypot(own, 1 / np.sqrt(2 * 20_000))
    assert abs(found.value - np.log(scale)) < 5 * own
    noise = errors.factors(40_000, True, np.random.default_rng(0))
    assert np.log(noise).std() < np.log(factors).std()


@pytest.mark.parametrize("observed", [4.0, 0.5, -1.0, -30.0])
def test_a_residual_variance_is_drawn_from_the_law_whose_mean_it_is(observed: float) -> None:
    """Cut off at 0 once: its mean over draws is the estimate, and its spread the estimate's, to six deviations."""
    value, noise = positive_part(observed, 1.0)
    errors = ResidualVariance(0.0, 1 / value**2, observed / value)
    drawn = value * errors.factors(40_000, True, np.random.default_rng(0)) ** 2
    assert drawn.mean() == pytest.approx(value, abs=6 * np.sqrt(noise / 40_000))
    assert drawn.std() == pytest.approx(np.sqrt(noise), rel=0.06)


def test_a_spread_of_counts_follows_the_curve_of_squared_scores_and_none_is_negative() -> None:
    errors = release(tc.Regression("kids ~ x", model="poisson")).fit().spread
    drawn, curve = errors.drawn(20_000, np.random.default_rng(0)), errors.curve
    assert drawn.min() >= 0
    law = truncnorm((curve.sums[0] - curve.observed) / curve.error, np.inf, curve.observed, curve.error)
    # a quantile's standard error is under 1.5% of it here
    expected = np.interp(law.ppf([0.5, 0.8413]), curve.sums, curve.spreads)
    assert np.quantile(drawn, [0.5, 0.8413]) == pytest.approx(expected, rel=0.08)
    assert errors.low <= errors.value <= errors.high
    assert errors.drawn(100, np.random.default_rng(0), least=0.01).min() >= 0.01


def test_squared_scores_below_those_of_every_law_leave_a_spread_unknown() -> None:
    """As noise makes them: the estimate is then the least, and so were both of its errors."""
    sums, spreads = np.array([100.0, 140.0, 200.0]), np.array([0.02, 0.5, 1.0])
    drawn = SpreadCurve(60.0, 20.0, sums, spreads, 2.0).drawn(20_000, np.random.default_rng(0))
    law = truncnorm(2.0, np.inf, 60.0, 20.0)
    assert np.quantile(drawn, 0.9) == pytest.approx(np.interp(law.ppf(0.9), sums, spreads), rel=0.1)
    assert np.quantile(drawn, 0.9) > 0.15
    middle = Overdispersion(0.02, 0.02, 0.02, SpreadCurve(60.0, 20.0, sums, spreads, 2.0)).middle
    assert middle == pytest.approx(np.median(drawn), rel=0.1)
    assert SpreadCurve(900.0, 5.0, sums, spreads, 2.0).drawn(9, np.random.default_rng(0)).tolist() == [2.0] * 9


@pytest.mark.long
def test_the_error_of_a_residual_variance_fitted_to_cells() -> None:
    found: list[tuple[float, Any]] = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=4_000).clip(-4, 4)
        y = (1 + 0.5 * x + rng.normal(size=4_000)).clip(-8, 8)
        curator = tc.Curator(
            {"x": x, "y": y}, tc.Schema({"x": tc.Real(-4, 4), "y": tc.Real(-8, 8)}), budget=tc.Budget(rho=9)
        )
        fit = curator.release(tc.Histogram(["x", "y"], bins=16), rho=0.2).fit("y ~ x").fit
        found.append((2 * np.log(fit.criteria["scale"]), fit.spread))
    stated = np.mean([one.sampling + one.privacy for _, one in found])
    # a standard deviation of 60 is within a half but for one in a million
    assert np.std([one for one, _ in found]) == pytest.approx(np.sqrt(stated), rel=0.5)


def test_regressors_may_be_a_histogram_whose_errors_are_then_in_the_sets() -> None:
    made, cells = release(tc.Regression("y ~ x")), release(tc.Histogram("x", bins=12))
    assert list(made.sample(500, regressors=cells, rng=0).columns) == ["y", "x"]
    means = [
        made.synthetic_sets(20, n=20_000, regressors=given, rng=0).analyse(lambda frame: frame.x.mean())
        for given in (cells, FRAME)
    ]
    # the sampling error of a mean of 8,000, and none of a public frame
    assert means[0].std_error > 0.6 / np.sqrt(8_000)
    assert means[1].std_error < 1e-4
    fitted = release(tc.Histogram(["x", "sick"], bins=10)).fit("sick ~ x", model="logistic")
    rows = fitted.sample(4_000, regressors=cells, rng=0)
    assert rows.sick.dtype == bool
    assert (fitted.utility(rows).to_frame().difference.abs() < 5 * fitted.utility(rows).drawing).all()


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda law, model: law.sample(0), "I61"),
        (lambda law, model: law.sample(5, rng="a"), "I62"),
        (lambda law, model: law.synthetic_sets(3), "I85"),
        (lambda law, model: law.synthetic_sets(target="all"), "I09"),
        (lambda law, model: law.utility([1, 2]), "I87"),
        (lambda law, model: law.utility(pd.DataFrame({"x": [1.0, 2.0]})), "I87"),
        (lambda law, model: model.sample(5), "I90"),
        (lambda law, model: model.sample(5, regressors=[1]), "I90"),
        (lambda law, model: model.sample(5, regressors=pd.DataFrame({"z": [1.0]})), "I90"),
        (lambda law, model: model.sample(regressors=FRAME[:0]), "I90"),
        (lambda law, model: model.synthetic_sets(regressors=3), "I90"),
        (lambda law, model: model.synthetic_sets(regressors=FRAME, target="all"), "I09"),
        (lambda law, model: model.sample(0, regressors=FRAME), "I61"),
        (lambda law, model: model.utility(FRAME), "I87"),
        (lambda law, model: model.utility(pd.DataFrame({"x": [1.0, 1.0], "y": [1.0, 2.0]})), "I87"),
        (lambda law, model: release(tc.Regression("y ~ x", model="huber")).sample(regressors=FRAME), "I91"),
        (lambda law, model: release(tc.Regression("y ~ x"), rho=1e-5).sample(regressors=FRAME), "I63"),
        (lambda law, model: release(tc.SampleAndAggregate("wait", GAMMA)).sample(5, regressors=FRAME), "I90"),
    ],
)
def test_bad_questions_are_errors(call: Any, code: str) -> None:
    with pytest.raises(InferenceError) as caught:
        call(release(tc.SufficientStatistics("wait", GAMMA)), release(tc.Regression("y ~ x")))
    assert caught.value.code == code
