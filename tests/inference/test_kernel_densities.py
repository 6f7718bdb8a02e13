"""Kernel densities: no bias for polynomials, errors as stated, limits that cover; the printed process that fails."""

from __future__ import annotations

from math import exp, pi, sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.errors import InferenceError
from tacit.estimates.densities.kernel_weights import kernel_weights
from tacit.method.kernel_density.estimate import cdf, density, estimate, joint_density, moments, smooth_density
from tacit.method.kernel_density.estimate_kernel import fitted
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing.simulate import add_noise, exact_integers, shaped

LEVEL = 1e-6
"""False-alarm rate of each comparison."""
SCHEMA = tc.Schema({"x": tc.Real(0, 1), "y": tc.Real(0, 2), "k": tc.Integer(1, 12), "z": tc.Real(0, 1)})


def table(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    x = rng.beta(2, 5, n)
    y = 2 * rng.beta(2 + 4 * (1 - x), 2 + 4 * x)
    return {"x": x, "y": y, "k": 1 + rng.binomial(11, 0.4, n), "z": rng.uniform(0, 1, n)}


def released(query: Any, n: int, relation: str, rng: np.random.Generator, **price: float) -> Any:
    """A simulated release of rows drawn anew; the design knows their number under both relations."""
    if relation != "replace-one" and not query.bandwidth:
        query = tc.KernelDensity(query.columns, bandwidth=dict.fromkeys(query.columns, 0.05))
    shape = shaped(query, SCHEMA, relation, n, Cost.of(**price))
    return simulated(shape, add_noise(shape, exact_integers(shape, table(n, rng)), rng))


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("edges", [np.linspace(0, 1, 21), np.array([0, 0.1, 0.15, 0.3, 0.4, 0.62, 0.7, 0.85, 1.0])])
def test_polynomials_have_no_bias(degree: int, edges: np.ndarray) -> None:
    """Up to the ends of the range, and in cells of any width."""
    x = np.linspace(0, 1, 33)
    weights = kernel_weights(edges, x, 0.12, degree)
    for power in range(degree + 1):
        shares = np.diff(edges ** (power + 1)) / (power + 1)
        assert np.allclose(weights @ shares, x**power, atol=1e-9)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("columns", "relation"),
    [
        ("x", "replace-one"),
        (["x", "y"], "add-remove"),
        pytest.param("x", "add-remove", marks=pytest.mark.long),
        pytest.param(["x", "y"], "replace-one", marks=pytest.mark.long),
    ],
)
def test_values_are_unbiased_with_the_errors_stated(columns: Any, relation: str) -> None:
    """The smoothed density over 150 releases of 1,500 rows.  False alarms: LEVEL over all places of a case.

    A tenth is for what linear errors of a ratio, and variances from projected shares, leave out.
    """
    rng, repeats = np.random.default_rng(0), 150
    widths = {"x": 0.06, "y": 0.2}
    query = tc.KernelDensity(columns, bandwidth={name: widths[name] for name in np.atleast_1d(columns)})
    at = [0.1, 0.3, 0.6] if isinstance(columns, str) else [[0.1, 1.0], [0.3, 0.9], [0.5, 1.5]]
    many = [density(released(query, 1_500, relation, rng, rho=0.1), at, smoothed=True) for _ in range(repeats)]
    values = np.array([one.values for one in many])
    stated = np.mean([one.std_errors**2 for one in many], axis=0)
    large = density(released(query, 300_000, "replace-one", rng, rho=1000), at, smoothed=True)
    z = stats.norm.isf(LEVEL / 2 / 3)
    error = np.sqrt(stated / repeats + large.std_errors**2)
    assert np.all(np.abs(values.mean(axis=0) - large.values) < 1.05 * z * error)
    low, high = stats.chi2.ppf([LEVEL / 6, 1 - LEVEL / 6], repeats - 1) / (repeats - 1)
    ratio = values.var(axis=0, ddof=1) / stated
    assert np.all((0.9 * low < ratio) & (ratio < 1.1 * high))


@pytest.mark.parametrize("repeats", [40, pytest.param(200, marks=pytest.mark.long)])
def test_limits_cover_the_density(repeats: int) -> None:
    """At 15 places, 15 points of coverage is a release's standard deviation: its mean within five of the mean's."""
    rng, x = np.random.default_rng(1), np.linspace(0.02, 0.98, 15)
    true, hits = stats.beta(2, 5).pdf(x), list[float]()
    for _ in range(repeats):
        limits = smooth_density(released(tc.KernelDensity("x"), 2_000, "replace-one", rng, epsilon=1)).intervals(x)
        hits.append(float(((limits[:, 0] <= true) & (true <= limits[:, 1])).mean()))
    assert 0.95 - 5 * 0.15 / np.sqrt(repeats) < np.mean(hits) < 0.995


def test_estimates_are_near_the_density() -> None:
    """Mean integrated squared error of 12 releases of 10,000 rows at (1, 1e-6): below .0026."""
    rng, x = np.random.default_rng(2), (np.arange(200) + 0.5) / 200
    price = {"epsilon": 1.0, "delta": 1e-6}
    true = stats.beta(2, 5).pdf(x)
    made = [smooth_density(released(tc.KernelDensity("x"), 10_000, "replace-one", rng, **price)) for _ in range(12)]
    assert np.mean([((one(x) - true) ** 2).mean() for one in made]) < 0.0026


def test_the_noise_of_the_size_is_in_the_errors() -> None:
    """Of a private number of rows: one unit of noise in a cell moves an estimate as its error says."""
    shape = shaped(tc.KernelDensity("x", bandwidth=0.1), SCHEMA, "add-remove", 500, Cost.of(rho=0.5))
    exact = exact_integers(shape, {"x": np.full(500, 0.9)})
    fit = fitted(simulated(shape, exact), "table")
    weights = fit.full_weights(fit.limiting, np.array([[0.9]]))
    _, stated = fit.covariances(weights)
    moved = list[float]()
    for cell in range(shape.cells):
        more = exact[0].copy()
        more[cell] += 1
        other = fitted(simulated(shape, (more,)), "table")
        moved.append(float((weights @ other.shares - weights @ fit.shares)[0]))
    assert float(stated[0, 0]) == pytest.approx(
        sum(one**2 for one in moved) * shape.columns[0].law.variance(), rel=0.01
    )
    assert float(fit.errors(fit.limiting, np.array([[0.9]]))[1][0]) == pytest.approx(float(stated[0, 0]))


def test_later_places_are_of_one_path() -> None:
    """Whatever is asked later agrees with what was asked before, and with a covariance between both."""
    release = released(tc.KernelDensity("x"), 2_000, "replace-one", np.random.default_rng(3), rho=0.1)
    first, both = density(release, [0.2, 0.4]), density(release, [0.4, 0.402, 0.2])
    assert first.values[1] == both.values[0]
    assert first.privacy[0, 1] == pytest.approx(both.privacy[2, 0])
    near = both.privacy + both.sampling
    assert near[0, 1] > 0.8 * np.sqrt(near[0, 0] * near[1, 1])


def test_distribution_functions_and_moments() -> None:
    """Beside the law's own, within 5.7 standard errors of each of twelve numbers: false alarms below LEVEL in all."""
    rng = np.random.default_rng(4)
    for query, relation in ((tc.KernelDensity("x"), "replace-one"), (tc.KernelDensity(["x", "y"]), "add-remove")):
        release = released(query, 20_000, relation, rng, rho=0.5)
        found, law = moments(release, "x"), stats.beta(2, 5)
        assert np.all(np.abs(found.values - [law.mean(), law.var()]) < 5.7 * found.std_errors)
        at = np.array([0.1, 0.3, 0.6])
        shares = cdf(release, at, "x")
        assert np.all(np.abs(shares.values - law.cdf(at)) < 5.7 * shares.std_errors)
        assert np.all(shares.std_errors < 0.03)
        assert cdf(release, [1.0, 2.0], "x").values == pytest.approx([1.0, 1.0], abs=0.1)
    whole = moments(released(tc.KernelDensity("k"), 20_000, "replace-one", rng, rho=0.5))
    assert np.all(np.abs(whole.values - [1 + 4.4, 2.64]) < 5.7 * whole.std_errors)


def test_joint_densities_are_densities() -> None:
    found = joint_density(
        released(tc.KernelDensity(["x", "y"]), 5_000, "replace-one", np.random.default_rng(5), rho=0.5)
    )
    side = (np.arange(64) + 0.5) / 64
    grid = np.stack([one.reshape(-1) for one in np.meshgrid(side, 2 * side, indexing="ij")], axis=1)
    values = found(grid)
    assert np.all(values >= 0)
    # a product of 1 and 2 units
    assert values.mean() * 2 == pytest.approx(1, abs=0.02)
    limits, band = found.intervals(grid[::97]), found.intervals(grid[::97], simultaneous=True)
    assert np.all((limits[:, 0] <= values[::97]) & (values[::97] <= limits[:, 1]))
    assert np.all(band[:, 1] >= limits[:, 1])
    made = found.sample(20_000, rng=0)
    assert abs(made["x"].mean() - 2 / 7) < 0.03
    assert np.corrcoef(made["x"], made["y"])[0, 1] < -0.2


def test_a_bandwidth_too_wide_is_said() -> None:
    rng = np.random.default_rng(6)
    narrow = tc.Schema({"x": tc.Real(0, 1)})
    shape = shaped(tc.KernelDensity("x", bandwidth=0.1), narrow, "replace-one", 20_000, Cost.of(rho=0.5))
    counts = exact_integers(shape, {"x": np.clip(rng.normal(0.5, 0.03, 20_000), 0, 1)})
    release = simulated(shape, add_noise(shape, counts, rng))
    assert any(low < 0.5 < high for low, high in smooth_density(release).doubts[0])
    assert any("too wide" in note for note in density(release, [0.5]).notes)
    assert smooth_density(release, smoothed=True).doubts == ((),)


def test_of_a_table_there_is_no_sampling_error_and_a_size_within_its_noise_says_nothing() -> None:
    release = released(tc.KernelDensity("x"), 1_000, "replace-one", np.random.default_rng(7), rho=0.5)
    assert np.all(estimate(release, "table").sampling_variances == 0)
    assert np.all(estimate(release).sampling_variances > 0)
    few = released(tc.KernelDensity("x"), 3, "add-remove", np.random.default_rng(8), epsilon=0.05)
    assert estimate(few).reasons[0] is not None
    assert np.isinf(smooth_density(few).intervals([0.5])[0, 1])
    with pytest.raises(InferenceError) as caught:
        smooth_density(few).sample(5)
    assert caught.value.code == "I63"


def test_what_cannot_be_asked() -> None:
    release = released(
        tc.KernelDensity(["x", "y", "k"]), 1_000, "replace-one", np.random.default_rng(9), rho=1
    )  # fmt: skip
    for code, call in {
        "I05": lambda: density(release, [[0.1, 0.2]]),
        "I02": lambda: smooth_density(release, "q"),
        "I09": lambda: density(release, [[0.1, 0.2, 3]], target="all"),
        "I64": lambda: joint_density(release).plot(),
    }.items():
        with pytest.raises(InferenceError) as caught:
            call()
        assert caught.value.code == code
    for call in (
        lambda: moments(release),
        lambda: density(release, [[0.1, 5.0, 3]]),
        lambda: density(release, [[0.1, np.nan, 3]]),
        lambda: cdf(release, [np.inf], "x"),
    ):
        with pytest.raises(InferenceError) as caught:
            call()
        assert caught.value.code == "I05"


# The process of Hall, Rinaldo and Wasserman -------------------------------------------------------------------------


@pytest.mark.parametrize("h", [0.03, 0.1, 0.3])
def test_the_process_is_private_with_the_amplitude_of_its_space_and_not_with_the_printed(h: float) -> None:
    """Two rows on a grid of 60 places: how far the laws are apart, by whitening with the covariance and a jitter.

    Neighbours differ by (k_x - k_y) / n; the release is as far as two normal laws mu apart.  delta at epsilon follows
    [Balle & Wang 2018, Theorem 8].  The printed amplitude has C right for h = 1.
    """
    n, epsilon, delta = 1_000, 1.0, 1e-6
    s = 4.224679
    x = np.linspace(0, 1, 60)
    whole = np.exp(-((x[:, None] - x) ** 2) / (2 * h * h)) + 1e-9 * np.eye(60)
    rows = np.exp(-((x[:, None] - np.array([0.0, 1.0])) ** 2) / (2 * h * h)) / (sqrt(2 * pi) * h * n)
    moved = rows[:, 0] - rows[:, 1]
    distance = sqrt(float(moved @ np.linalg.solve(whole, moved)))

    def true_delta(amplitude: float) -> float:
        mu = distance / amplitude
        return float(stats.norm.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu))

    right = s * sqrt(2) / (n * sqrt(2 * pi) * h)
    printed = s * sqrt(2) / (n * sqrt(2 * pi) * sqrt(h))
    assert true_delta(right) <= delta * 1.001
    # attained where the rows are far apart
    assert h > 0.1 or true_delta(right) > 0.99 * delta
    assert true_delta(printed) > 100 * delta


def test_the_process_is_white_noise_smoothed_and_no_mechanism_is_far_below_cells() -> None:
    """A kernel of h / sqrt(2) laid on white noise has the kernel of h as its covariance; the bound of theory §3.5."""
    h, x = 0.1, np.linspace(0, 1, 40)
    root, step = h / sqrt(2), 0.01
    g = np.arange(-1, 2, step)
    smooth = np.exp(-((x[:, None] - g) ** 2) / (2 * root**2))
    made = smooth @ smooth.T * step / (sqrt(pi) * root)
    assert np.allclose(made, np.exp(-((x[:, None] - x) ** 2) / (2 * h * h)), atol=1e-12)
    # the bound, in numbers: singular values of the reflected kernel on a grid, without the constant
    t = (np.arange(400) + 0.5) / 400
    kernel = sum(
        np.exp(-((t[:, None] - sign * t + 2 * k) ** 2) / (2 * h * h)) for sign in (1, -1) for k in (-1, 0, 1)
    ) / (sqrt(2 * pi) * h)
    around = kernel - kernel.mean(axis=1, keepdims=True)
    found = np.linalg.svd(around / 400, compute_uv=False).sum()
    least = sum(exp(-((pi * j * h) ** 2) / 2) for j in range(1, 100))
    assert found == pytest.approx(least, rel=1e-3)
    cells = (kernel_weights(np.linspace(0, 1, 8), t, h, 1) ** 2).sum(axis=1).mean()
    assert least**2 < cells < 3 * least**2
