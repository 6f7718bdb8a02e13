"""Densities from released series: unbiased coefficients with their errors, limits, joint densities, synthetic rows."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.errors import InferenceError
from tacit.method.orthogonal_series.estimate import estimate, smooth_density
from tacit.method.orthogonal_series.estimate_coefficients import fitted
from tacit.method.orthogonal_series.estimate_joint import joint_density
from tacit.method.orthogonal_series.estimate_series_moments import cdf, moments
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.rows.series_bases import functions
from tacit.testing.simulate import add_noise, exact_integers, shaped

LEVEL = 1e-6
"""False-alarm rate of each comparison."""
SCHEMA = tc.Schema({"x": tc.Real(0, 1), "y": tc.Real(0, 2), "k": tc.Integer(1, 12)})


def table(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """x is Beta(2, 5); y, given x, is twice a Beta whose mean falls in x; k counts from 1 to 12."""
    x = rng.beta(2, 5, n)
    return {"x": x, "y": 2 * rng.beta(2 + 4 * (1 - x), 2 + 4 * x), "k": 1 + rng.binomial(11, 0.4, n)}


def released(query: Any, n: int, relation: str, rng: np.random.Generator, **price: float) -> Any:
    """A simulated release of rows drawn anew."""
    shape = shaped(query, SCHEMA, relation, n, Cost.of(**price))
    return simulated(shape, add_noise(shape, exact_integers(shape, table(n, rng)), rng))


CASES = list(
    product(
        [("x", "cosine"), (["x", "y"], "legendre"), ("k", "fourier")],
        [{"epsilon": 1.0}, {"rho": 0.05}],
        ["replace-one", "add-remove"],
    )
)
USUAL = (CASES[0], CASES[7], CASES[10])
"""Every basis, price and relation once; the other cases are long."""


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("asked", "price", "relation"),
    [pytest.param(*one, marks=() if one in USUAL else pytest.mark.long) for one in CASES],
)
def test_coefficients_are_unbiased_with_the_errors_stated(
    asked: tuple[Any, str], price: dict[str, float], relation: str
) -> None:
    """Mean and variance over 60 releases of 1,500 rows.  False alarms: LEVEL over all coefficients of a case.

    A twentieth is for what linear errors of a ratio, and estimated variances, leave out.
    """
    (columns, basis), many_rows = asked, 300_000
    rng, repeats = np.random.default_rng(0), 60
    query = tc.OrthogonalSeries(columns, basis, terms=3)
    many = [estimate(released(query, 1_500, relation, rng, **price)) for _ in range(repeats)]
    values = np.array([one.values for one in many])
    stated = np.mean([one.std_errors**2 for one in many], axis=0)
    large = table(many_rows, rng)
    names = [columns] if isinstance(columns, str) else columns
    ends = {"x": (0, 1), "y": (0, 2), "k": (0.5, 12.5)}
    over = np.ones((1, many_rows))
    for name in names:
        low, high = ends[name]
        t = (large[name] - low) / (high - low)
        own = np.vstack([np.ones(len(t)), functions(basis, t, 3)])
        over = (over[:, None, :] * own[None, :, :]).reshape(-1, len(t))
    true = over.mean(axis=1)[1:]
    if names == ["k"]:
        # within a whole number the density is even: averages of functions over its bin
        from tacit.rows.series_bases import integrals

        edges = np.linspace(0, 1, 13)
        shares = np.bincount(large["k"] - 1, minlength=12) / many_rows
        over_bins = np.diff(integrals(basis, edges, 3), axis=1) * 12
        grams = over_bins @ np.diff(integrals(basis, edges, 3), axis=1).T
        true = np.linalg.solve(grams, over_bins @ shares)
    z = stats.norm.isf(LEVEL / 2 / len(true))
    # of the truth, a mean over many rows of functions whose mean square is at most 12
    error = np.sqrt(stated / repeats + 12 / many_rows)
    assert np.all(np.abs(values.mean(axis=0) - true) < 1.05 * z * error)
    low, high = stats.chi2.ppf([LEVEL / 2 / len(true), 1 - LEVEL / 2 / len(true)], repeats - 1) / (repeats - 1)
    ratio = values.var(axis=0, ddof=1) / stated
    # spherical noise of few dimensions has heavier tails: 15% for its kurtosis
    assert np.all((0.85 * low < ratio) & (ratio < 1.15 * high))


@pytest.mark.parametrize("repeats", [40, pytest.param(200, marks=pytest.mark.long)])
def test_limits_cover_the_density(repeats: int) -> None:
    """At 15 places, 15 points of coverage is a release's standard deviation: its mean within five of the mean's."""
    rng, x = np.random.default_rng(1), np.linspace(0.05, 0.95, 15)
    true, hits = stats.beta(2, 5).pdf(x), list[float]()
    for _ in range(repeats):
        found = smooth_density(released(tc.OrthogonalSeries("x"), 2_000, "replace-one", rng, rho=0.05))
        limits = found.intervals(x)
        hits.append(float(((limits[:, 0] <= true) & (true <= limits[:, 1])).mean()))
    assert 0.95 - 5 * 0.15 / np.sqrt(repeats) < np.mean(hits) < 0.995


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_joint_densities_are_densities(relation: str) -> None:
    rng = np.random.default_rng(2)
    found = joint_density(released(tc.OrthogonalSeries(["x", "y"], terms=6), 5_000, relation, rng, rho=0.5))
    side = (np.arange(100) + 0.5) / 100
    grid = np.stack([one.reshape(-1) for one in np.meshgrid(side, 2 * side, indexing="ij")], axis=1)
    values = found(grid)
    assert np.all(values >= 0)
    # a product of 1 and 2 units
    assert values.mean() * 2 == pytest.approx(1, abs=0.01)
    assert found([[0.5, 2.5]]).tolist() == [0.0]
    limits, band = found.intervals(grid[::97]), found.intervals(grid[::97], simultaneous=True)
    assert np.all((limits[:, 0] <= values[::97]) & (values[::97] <= limits[:, 1]))
    assert np.all(band[:, 1] >= limits[:, 1])
    made = found.sample(20_000, rng=0)
    assert list(made.columns) == ["x", "y"]
    # means within six standard errors of the release and of the sample, .3 at most
    assert abs(made["x"].mean() - 2 / 7) < 0.03
    assert np.corrcoef(made["x"], made["y"])[0, 1] < -0.2


def test_the_density_of_a_column_is_that_of_its_own_coefficients() -> None:
    rng = np.random.default_rng(3)
    release = released(tc.OrthogonalSeries(["x", "k"], terms=5), 20_000, "replace-one", rng, rho=1)
    alone = smooth_density(release, "k")
    every = np.arange(1, 13)
    assert alone(every).sum() == pytest.approx(1, abs=0.02)
    assert abs(float(alone.cdf(5)) - stats.binom(11, 0.4).cdf(4)) < 0.05
    assert alone.quantile(0.5) in (4, 5, 6)
    assert smooth_density(release, "x").cdf(1.0) == 1
    made = joint_density(release).sample(500, rng=1)
    assert made["k"].between(1, 12).all()
    assert made["k"].dtype.kind == "i"


def test_of_a_table_there_is_no_sampling_error() -> None:
    release = released(tc.OrthogonalSeries("x", terms=12), 1_000, "replace-one", np.random.default_rng(4), rho=0.5)
    assert np.all(estimate(release, "table").sampling_variances == 0)
    assert np.all(estimate(release).sampling_variances > 0)
    assert np.ptp(smooth_density(release, target="table").intervals([0.3])) < np.ptp(
        smooth_density(release).intervals([0.3])
    )


def test_a_size_within_its_noise_says_nothing() -> None:
    release = released(tc.OrthogonalSeries("x", terms=4), 3, "add-remove", np.random.default_rng(5), epsilon=0.05)
    assert fitted(release).reason is not None
    found = smooth_density(release)
    assert np.isinf(found.intervals([0.5])[0, 1])
    assert estimate(release).reasons[0] is not None
    with pytest.raises(InferenceError) as caught:
        joint_density(release).sample(5)
    assert caught.value.code == "I63"


def test_what_cannot_be_asked() -> None:
    rng = np.random.default_rng(6)
    release = released(tc.OrthogonalSeries(["x", "y", "k"], terms=2), 1_000, "replace-one", rng, rho=1)
    joint = joint_density(release)
    for code, call in {
        "I05": lambda: smooth_density(release),
        "I02": lambda: smooth_density(release, "z"),
        "I09": lambda: smooth_density(release, "x", "all"),
        "I64": lambda: joint.plot(),
        "I61": lambda: joint.sample(0),
    }.items():
        with pytest.raises(InferenceError) as caught:
            call()
        assert caught.value.code == code
    with pytest.raises(InferenceError) as caught:
        joint([[0.1, 0.2]])
    assert caught.value.code == "I05"


def test_words_and_pictures() -> None:
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(7)
    curator = tc.Curator(table(2_000, rng), SCHEMA, budget=tc.Budget(rho=10))
    two = curator.release(tc.OrthogonalSeries(["x", "y"], terms=4), rho=1)
    assert "Cosine series of x and y" in str(two.estimate().summary())
    assert two.estimate().terms[:5] == ("y:1", "y:2", "y:3", "y:4", "x:1")
    assert "Joint density of x and y" in str(two.joint_density().summary())
    assert two.joint_density().to_frame().shape == (441, 5)
    assert two.plot().axes.get_xlabel() == "x"
    one = curator.release(tc.OrthogonalSeries("x", where="k > 4"), rho=1)
    assert "where k > 4" in one.smooth_density().estimand
    assert "Smooth density of x" in str(one.summary())


def test_plans_say_how_wide_limits_are() -> None:
    """The error of an even density beside 30 releases of even rows."""
    rng = np.random.default_rng(8)
    schema = tc.Schema({"x": tc.Real(0, 4)})
    query = tc.OrthogonalSeries("x", terms=6)
    made = tc.plan(query, schema, rows=3_000, rho=0.02)
    (told,) = made.parts[0].terms if hasattr(made, "parts") else made.terms
    shape = shaped(query, schema, "replace-one", 3_000, Cost.of(rho=0.02))
    found = list[float]()
    for _ in range(30):
        release = simulated(shape, add_noise(shape, exact_integers(shape, {"x": rng.uniform(0, 4, 3_000)}), rng))
        found.append(float((fitted(release).values ** 2).sum()))
    assert told.std_error == pytest.approx(np.sqrt(np.mean(found)) / 4, rel=0.35)


def test_the_noise_of_the_size_is_in_the_errors() -> None:
    """Of rows in one bin all coefficients are rows over size: noise of the size moves them as it says."""
    shape = shaped(tc.OrthogonalSeries("x", terms=3), SCHEMA, "add-remove", 500, Cost.of(rho=0.5))
    exact = exact_integers(shape, {"x": np.full(500, 0.9)})
    kappa = shape.columns[0].form.parameters["presence"]
    one = fitted(simulated(shape, exact))
    # one unit of noise in the last integer
    moved = fitted(simulated(shape, (exact[0] + np.array([0, 0, 0, kappa]),)))
    assert np.allclose(moved.values - one.values, one.load[:, -1] * kappa, rtol=0.01, atol=1e-6)
    assert np.abs(one.load[:, -1]).max() > 0


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("column", "basis", "relation"), [("k", "legendre", "add-remove"), ("x", "cosine", "replace-one")]
)
def test_moments_and_distribution_functions_have_the_errors_stated(column: str, basis: str, relation: str) -> None:
    """Over 120 releases of 2,000 rows.  False alarms: LEVEL over the means and variances of five numbers."""
    law = stats.beta(2, 5) if column == "x" else stats.binom(11, 0.4, loc=1)
    at = [0.2, 0.4, 0.7] if column == "x" else [3, 5, 8]
    true = np.array([law.mean(), law.var(), *law.cdf(at)])
    rng, values, errors = np.random.default_rng(18), list[np.ndarray](), list[np.ndarray]()
    for _ in range(120):
        release = released(tc.OrthogonalSeries(column, basis, terms=8), 2_000, relation, rng, rho=0.05)
        both = (moments(release), cdf(release, at))
        values.append(np.concatenate([one.values for one in both]))
        errors.append(np.concatenate([one.std_errors for one in both]) ** 2)
    found, stated = np.array(values), np.mean(errors, axis=0)
    z = stats.norm.isf(LEVEL / 20)
    # what eight cosines, or the six polynomials that 12 values tell apart, leave out of a distribution function
    away = np.array([0, 0, 1, 1, 1]) * (4e-3 if column == "x" else 1.2e-2) + z * np.sqrt(stated / 120)
    assert (np.abs(found.mean(axis=0) - true) < away).all()
    ratio = found.var(axis=0, ddof=1) / stated
    low, high = stats.chi2.ppf([LEVEL / 20, 1 - LEVEL / 20], 119) / 119
    assert ((0.9 * low < ratio) & (ratio < 1.1 * high)).all()


def test_moments_of_columns_that_are_not_there() -> None:
    release = released(
        tc.OrthogonalSeries(["x", "y"], terms=4), 2_000, "replace-one", np.random.default_rng(0), rho=0.1
    )
    assert moments(release, "y").terms == ("mean of y", "variance of y")
    assert cdf(release, [0.5, 3], "y").values[1] == pytest.approx(1)
    for make, code in (
        (lambda: moments(release), "I05"),
        (lambda: moments(release, "z"), "I02"),
        (lambda: cdf(release, [], "x"), "I05"),
        (lambda: cdf(release, [0.5], "x", "rows"), "I09"),  # pyright: ignore
    ):
        with pytest.raises(InferenceError) as caught:
            make()
        assert caught.value.code == code
