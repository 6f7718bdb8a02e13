"""The law at released parameters: functions with both errors, errors by the model, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import gamma

import tacit as tc
from tacit import families
from tacit.errors import TacitError
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.method.blocks.estimate_distribution import FittedLaw

EXPONENTIAL = families.Exponential(rate=(0.1, 10))
GAMMA = families.Gamma(shape=(0.5, 5), rate=(0.2, 5))
N = 20_000
LEVEL = 1 - 1e-9
"""Of limits that reach beyond what is possible, were they not cut."""


@pytest.fixture(scope="module")
def curator() -> tc.Curator:
    rng = np.random.default_rng(0)
    table = {
        "x": rng.exponential(0.5, N),
        "g": rng.gamma(2, 1, N),
        "c": rng.poisson(3, N),
        "sex": ["f", "m"] * (N // 2),
    }
    columns = {"x": tc.Real(0, 10), "g": tc.Real(), "c": tc.Integer(0, 50), "sex": tc.Category(["f", "m"])}
    return tc.Curator(table, tc.Schema(columns), name="laws", budget=tc.Budget(epsilon=1_000))


@pytest.fixture(scope="module")
def release(curator: tc.Curator) -> Any:
    return curator.release(tc.SampleAndAggregate("x", EXPONENTIAL, method="tuned"), epsilon=1)


@pytest.fixture(scope="module")
def law(release: Any) -> FittedLaw:
    return release.law()


@pytest.fixture(scope="module")
def gammas(curator: tc.Curator) -> Any:
    """So little noise that what blocks say of their spread is told by their number alone."""
    return curator.release(tc.SampleAndAggregate("g", GAMMA, blocks=400), epsilon=400)


def test_functions_of_one_parameter_are_those_of_the_closed_forms(law: FittedLaw) -> None:
    """Values to the rule's accuracy; errors by the delta method, exact to the curvature over one standard error."""
    rate, error = law.parameters.values[0], law.parameters.std_errors[0]
    close = {"rel": 1e-3}
    for found, value, slope in (
        (law.mean(), 1 / rate, -1 / rate**2),
        (law.quantile(0.5), np.log(2) / rate, -np.log(2) / rate**2),
        (law.cdf(1.0), 1 - np.exp(-rate), np.exp(-rate)),
        (law.density(1.0), rate * np.exp(-rate), (1 - rate) * np.exp(-rate)),
        (law.hazard(1.0), rate, 1.0),
        (law.transform(lambda theta: theta.rate**2), rate**2, 2 * rate),
    ):
        assert found.value == pytest.approx(value, **close)
        assert found.std_error == pytest.approx(abs(slope) * error, rel=2e-2)
        assert found.privacy_share == pytest.approx(law.parameters.privacy_share, rel=1e-6)


@pytest.mark.long
def test_functions_of_two_parameters_use_what_is_known_of_both(gammas: Any) -> None:
    """Shape and rate go together: the mean is known far better than each; both ways agree to 4,000 draws' error."""
    found = gammas.law()
    shape, rate = found.parameters.values
    mean = found.transform(lambda theta: {"mean": theta.shape / theta.rate})
    assert mean.terms == ("mean",)
    assert mean.value == pytest.approx(found.mean().value, rel=1e-4)
    assert found.quantile([0.1, 0.9]).values == pytest.approx(gamma.ppf([0.1, 0.9], shape, scale=1 / rate), rel=1e-3)
    drawn = found.transform(lambda theta: theta.shape / theta.rate, how="simulated", rng=1)
    assert drawn.std_error == pytest.approx(mean.std_error, rel=0.08)  # 5.5 / sqrt(8,000), and curvature
    covariance = found.parameters.sampling
    assert covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]) == pytest.approx(0.88, abs=0.06)
    assert np.sqrt(np.diag(covariance)) == pytest.approx(np.sqrt(gammas.estimate().sampling_variances))


def test_errors_by_the_model_are_those_of_blocks_where_it_holds(release: Any, gammas: Any) -> None:
    """Fisher: exactly those of all rows.  Simulated: those of the blocks' own, as far as 400 blocks tell."""
    value = release.estimate().value
    fisher = release.estimate(errors="fisher")
    assert fisher.sampling_variances[0] == pytest.approx(value**2 / N, rel=1e-6)
    assert fisher.privacy_variances == pytest.approx(release.estimate().privacy_variances)
    blocks = gammas.estimate()
    simulated = gammas.estimate(errors="simulated", rng=2)
    assert simulated.values.tolist() == blocks.values.tolist()
    ratio = np.sqrt(simulated.sampling_variances / blocks.sampling_variances)
    assert (np.abs(ratio - 1) < 0.3).all()  # 80 such ratios: mean -.04, sd .045, so 5.8 of them
    again = gammas.estimate(errors="simulated", rng=2)
    assert again.conf_int().equals(simulated.conf_int())
    assert any("2,000 blocks simulated" in note for note in simulated.notes)
    assert gammas.law(errors="fisher").parameters.sampling[0, 1] > 0


def test_a_law_near_one_that_floats_cannot_add_up_has_a_mean() -> None:
    """Half an error below b = 0.7 much of a Beta law is nearer to 1 than floats tell: steps are then shorter."""
    model = families.Beta(a=(0.1, 100), b=(0.02, 20))
    covariance = np.diag([5.0**2, 1.0**2])
    release = cast(Any, None)
    at = NormalEstimate(release, "", "", model.names, np.array([7.0, 0.7]), covariance, 0 * covariance, (None, None))
    mean = FittedLaw(at, model).mean()
    a, b = at.values
    by_hand = np.hypot(5.0 * b, 1.0 * a) / (a + b) ** 2
    assert mean.value == pytest.approx(a / (a + b), abs=1e-6)
    # differences over steps of half an error: the function bends within them
    assert by_hand / 2 < float(mean.std_error) < by_hand * 2


def test_groups_are_compared_as_any_estimates_are(curator: tc.Curator) -> None:
    """Different people of one ledger: the bound on the standard error of a difference holds the truth, 0."""
    one, other = (
        curator.release(tc.SampleAndAggregate("x", EXPONENTIAL, where=f"sex == '{sex}'", rows=N // 2), epsilon=1)
        for sex in ("f", "m")
    )
    found = tc.difference(one.estimate(), other.estimate())
    assert abs(found.value) < 5.5 * found.std_error


def test_counts_have_shares_and_no_quantiles(curator: tc.Curator) -> None:
    model = families.Poisson(mean=(0.2, 20))
    found = curator.release(tc.SampleAndAggregate("c", model), epsilon=2).law()
    mean = found.parameters.values[0]
    assert found.mean().value == pytest.approx(mean, rel=1e-6)
    assert found.density([0, 3]).values == pytest.approx(np.exp(-mean) * np.array([1, mean**3 / 6]), rel=1e-6)
    assert found.cdf([-1, 0.5]).values == pytest.approx([0, np.exp(-mean)], rel=1e-6)
    with pytest.raises(TacitError, match="I78"):
        found.quantile(0.5)


def test_the_picture_lies_over_a_private_histogram(curator: tc.Curator, law: FittedLaw, tmp_path: Any) -> None:
    cells = curator.release(tc.Histogram("x", bins={"x": 20}), epsilon=1)
    drawn = law.plot(cells)
    drawn.save(tmp_path / "fit.svg")
    assert len(drawn.values) > 100
    assert all(low <= value <= high for low, value, high in zip(drawn.lower, drawn.values, drawn.upper, strict=True))
    other = curator.release(tc.Histogram("c", bins={"c": 5}), epsilon=1)
    with pytest.raises(TacitError, match="I79"):
        law.plot(other)


def test_rows_are_predicted(law: FittedLaw) -> None:
    rows = law.sample(10_000, rng=0)["x"]
    assert abs(rows.mean() * law.parameters.values[0] - 1) < 0.055  # 5.5 / sqrt(10,000)


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda r: r.estimate(errors="bootstrap"), "I76"),
        (lambda r: r.estimate("sample"), "I09"),
        (lambda r: r.law().transform(lambda theta: theta.scale), "I78"),
        (lambda r: r.law().transform(lambda theta: np.nan), "I78"),
        (lambda r: r.law().transform(lambda theta: theta.rate, how="guess"), "I78"),
        (lambda r: r.law().quantile(1.0), "I51"),
        (lambda r: r.estimate(model=3, errors="fisher"), "Q95"),
        (lambda r: r.estimate(model=GAMMA, errors="fisher"), "I75"),
    ],
)
def test_what_makes_no_sense_is_said(release: Any, ask: Any, code: str) -> None:
    with pytest.raises(TacitError) as caught:
        ask(release)
    assert caught.value.code == code


def test_errors_by_the_model_need_the_number_of_rows(curator: tc.Curator) -> None:
    normal = families.Normal(mean=(0, 5), sd=(0.5, 5))
    some = curator.release(tc.SampleAndAggregate("g", normal, parameters="sd", blocks=100), epsilon=1)
    with pytest.raises(TacitError, match="I76"):
        some.estimate(errors="fisher")
    with pytest.raises(TacitError, match="I79"):
        some.law()
    private = tc.Curator(
        {"x": np.ones(100)}, tc.Schema({"x": tc.Real()}), budget=tc.Budget(epsilon=9, neighbors="add-remove")
    ).release(tc.SampleAndAggregate("x", EXPONENTIAL, rows=100), epsilon=1)
    with pytest.raises(TacitError, match="I76"):
        private.estimate(errors="simulated")
    step = curator.release(tc.SampleAndAggregate("x", EXPONENTIAL, one_step=True), epsilon=1)
    with pytest.raises(TacitError, match="I76"):
        step.estimate(errors="fisher")
    with pytest.raises(TacitError, match="I09"):
        step.estimate("table")
    assert step.law().mean().std_error < 1.1 * 0.5 / np.sqrt(N)


def test_limits_of_a_law_s_numbers_end_where_the_law_does(law: FittedLaw) -> None:
    """With errors of the size of the rate: limits are those of the delta method, cut to what is possible; not sums."""
    here = law.parameters
    rough = FittedLaw(replace(here, sampling=np.array([[1.0]])), law.model)
    for found, most in (
        (rough.mean(), np.inf),
        (rough.quantile([0.1, 0.9]), np.inf),
        (rough.density(0.3), np.inf),
        (rough.hazard(0.3), np.inf),
        (rough.cdf([0.1, 3.0]), 1.0),
    ):
        free = replace(found, within=None).intervals(LEVEL)
        assert (free[:, 0] < 0).any() or (free[:, 1] > most).any()
        assert np.array_equal(found.intervals(LEVEL), np.clip(free, 0.0, most))
        assert np.array_equal(found.intervals(LEVEL, simultaneous=True), np.clip(
            replace(found, within=None).intervals(LEVEL, simultaneous=True), 0.0, most))  # fmt: skip
    assert rough.quantile([0.1, 0.9]).contrast("`0.1` - `0.9`").conf_int(LEVEL)[0] < 0
    assert rough.transform(lambda theta: theta.rate - 2).conf_int(LEVEL)[0] < 0
