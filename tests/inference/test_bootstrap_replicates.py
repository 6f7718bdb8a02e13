"""What replicates tell: the paper's formulas and their corrections, deconvolution, and terms without an answer."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.method.bootstrap.estimate import HIDDEN, estimate, linear
from tacit.method.bootstrap.estimate_deconvolution import deconvolved
from tacit.method.bootstrap.estimate_replicates import (
    as_printed,
    bootstrap_variance,
    noise_factor,
    population_variance,
    total_variances,
    with_correlations,
    without_noise,
)
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost

K = 50
ERRORS = ("unbiased", "conservative", "most conservative")
LEVEL = 1e-6
"""False-alarm rate of each comparison with a law."""


def test_the_papers_estimates() -> None:
    """Brawner & Honaker 2018, equations 30, 33, 34 and 35, by hand."""
    spread, noise = np.array([3.0, 1.0]), 2.0
    c = stats.chi2.ppf(0.05, K - 1)
    assert noise_factor("conservative", K) == pytest.approx(c / (K - 1))
    assert bootstrap_variance(spread, np.array(noise), noise_factor("conservative", K)) == pytest.approx(
        spread - noise * c / (K - 1)
    )
    assert without_noise(spread, noise, 1.0) == pytest.approx([1.0, 0.0])
    assert as_printed(spread, noise, K, 1.0) == pytest.approx([1.0 + 2 / K, 2 / K])
    sampling, privacy = population_variance(np.array([1.0]), np.array([2.0]), K, 500)
    assert (sampling[0], privacy[0]) == pytest.approx((500 / 499, 3 / K))


def test_the_unbiased_estimate_is_unbiased_and_errors_of_the_average_are_right() -> None:
    """20,000 tables of normal values; the variance of the average is V (1 + 1/k) + v/k, and without V/k it is not."""
    rng, n, noise, tables = np.random.default_rng(0), 500, 1.0, 20_000
    V = 1.0
    middle = rng.normal(0, np.sqrt(V), tables)
    found = middle[:, None] + rng.normal(0, np.sqrt(V * (n - 1) / n + noise), (tables, 5))
    variance = bootstrap_variance(found.var(axis=1, ddof=1), np.array(noise), noise_factor("unbiased", 5))
    sampling, privacy = population_variance(variance, np.array(noise), 5, n)
    z, total = stats.norm.isf(LEVEL / 2), sampling + privacy
    assert abs(variance.mean() - V * (n - 1) / n) < z * variance.std() / np.sqrt(tables)
    squares = found.mean(axis=1) ** 2
    error = z * np.hypot(squares.std(), total.std()) / np.sqrt(tables)
    assert abs(squares.mean() - total.mean()) < error
    # as the paper has it, the variance is too small by V / k, which is seen
    assert squares.mean() - (variance + noise / 5).mean() > error


def test_deconvolution_finds_the_spread_behind_the_noise() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(10, 2, 400)
    found = deconvolved(truth + rng.normal(0, 2, 400), 4.0)
    assert found.std_error == pytest.approx(2, rel=0.25)
    assert found.mean == pytest.approx(10, abs=6 * np.sqrt(8 / 400))
    low, high = found.conf_int(noise=False)
    # of a normal: 3.92 standard deviations
    assert high - low == pytest.approx(3.92 * 2, rel=0.25)
    wider = found.conf_int()
    assert wider[0] < low < high < wider[1]
    # without noise it is the distribution of the replicates
    assert deconvolved(truth, 0.0).std_error == pytest.approx(truth.std(), rel=0.1)


def released(values: list[list[int]], rows: int = 500) -> object:
    """A simulated release of one column, Real from 0 to 100 without missing values, with these noisy integers."""
    from tacit.curator.mechanisms import design
    from tacit.method.shared.measurement import Public

    schema = tc.Schema({"age": tc.Real(0, 100, missing="none")})
    query = tc.Bootstrap(tc.Mean("age"), len(values))
    shape = design(query, Public(schema, "replace-one", rows), Cost.of(epsilon=5, delta=1e-6))
    return simulated(shape, tuple(np.array([one]) for one in values))


def test_replicates_without_spread_have_a_reason_and_no_interval() -> None:
    alike = released([[1_000, 0], [1_001, 0], [999, 0]])
    for errors in ("unbiased", "conservative"):
        found = estimate(alike, errors=errors)
        assert found.reasons == (HIDDEN,)
        assert found.conf_int() == (-np.inf, np.inf)
    assert estimate(alike, errors="most conservative").reasons == (None,)
    assert estimate(alike, "table").reasons == (None,)


def test_means_are_read_from_the_grid() -> None:
    found = linear(released([[0, 0], [2**19 * 500, 0]]))
    # the middle of the bounds, and every row at the upper bound
    assert found.values[:, 0] == pytest.approx([50, 100])


def test_intervals_of_the_papers_example_cover_and_one_shot_is_narrower() -> None:
    """400 tables of 500 ages at its certified cost: conservative intervals cover, the plain mean's are narrower by 25%.

    A coverage of 95% is missed by more than 5 binomial errors once in millions.
    """
    from tacit.curator.mechanisms import design
    from tacit.method.shared.measurement import Public

    rng, price = np.random.default_rng(2), {"epsilon": 6.75, "delta": 1e-6}
    schema = tc.Schema({"age": tc.Integer(0, 100, missing="none")})
    each = design(tc.Bootstrap(tc.Mean("age"), K), Public(schema, "replace-one", 500), Cost.of(**price)).columns[0]
    noise = float(each.law.variance()) * (100 / each.form.parameters["G"] / 500) ** 2
    ages = np.clip(np.rint(rng.gamma(6, 7.5, (400, 500))), 0, 100)
    drawn = np.stack([rng.multinomial(500, np.full(500, 1 / 500), K) @ one / 500 for one in ages])
    found = drawn + rng.normal(0, np.sqrt(noise), drawn.shape)
    variance = bootstrap_variance(found.var(axis=1, ddof=1), np.array(noise), noise_factor("conservative", K))
    half = 1.96 * np.sqrt(sum(population_variance(np.maximum(variance, 0), np.array(noise), K, 500)))
    truth = np.clip(np.rint(rng.gamma(6, 7.5, 10**6)), 0, 100).mean()
    known = variance > 0
    hit = (np.abs(found.mean(axis=1) - truth) <= half)[known].mean()
    assert hit > 0.95 - 5 * np.sqrt(0.05 * 0.95 / 400)
    assert known.mean() > 0.9
    shot = tc.testing.coverage(
        tc.Mean("age"), lambda _: {"age": ages[0]}, truth, schema=schema, repeats=50, rng=0, **price
    )
    assert shot.width[0] < 0.75 * (2 * half)[known].mean()


# Intervals ------------------------------------------------------------------------------------------------------------


def covered(k: int, variance: float, noise: float, level: float = 0.95) -> dict[str, tuple[float, float]]:
    """The coverage of intervals about the population, and how often there is one, by quadrature; for each of ERRORS.

    Replicates are normal, of variance V + v: their average is, too, and independent of their sample variance, of which
    400 quantiles of its chi-squared law stand for the law.
    """
    u = (np.arange(400) + 0.5) / 400
    spread = (variance + noise) * stats.chi2.ppf(u, k - 1) / (k - 1)
    each, made = np.full(len(spread), noise), {}
    least = total_variances(spread, each, k, population=True, rows=None).half_widths(level)
    for errors in ERRORS:
        found = bootstrap_variance(spread, each, noise_factor(errors, k))
        error = np.sqrt(sum(population_variance(np.maximum(found, 0), each, k, None)))
        half = np.maximum(least, stats.norm.isf((1 - level) / 2) * error)
        hit, known = 2 * stats.norm.cdf(half / np.sqrt(variance + (variance + noise) / k)) - 1, found > 0
        made[errors] = float(hit[known].mean()), float(known.mean())
    return made


def test_intervals_are_students_where_there_is_no_noise() -> None:
    for k in (2, 10, 50):
        own = total_variances(np.array([float(k)]), np.zeros(1), k, population=False, rows=None)
        for level in (0.9, 0.95, 0.99):
            t = stats.t.isf((1 - level) / 2, k - 1)
            assert own.half_widths(level) == pytest.approx([t], rel=1e-4)
            assert own.tails(np.array([t])) == pytest.approx([1 - level], rel=1e-4)
        # n / (n - 1) and 1 / k in the variance about the population
        wide = total_variances(np.array([float(k)]), np.zeros(1), k, population=True, rows=500).half_widths(0.95)
        assert wide == pytest.approx([stats.t.isf(0.025, k - 1) * np.sqrt(k * 500 / 499 + 1)], rel=1e-4)


@pytest.mark.parametrize("k", [5, 50, 200])
def test_intervals_cover_whatever_part_is_noise(k: int) -> None:
    """At every size of the noise at least 94%: where it is most of the spread, far more."""
    for ratio in (0.05, 0.3, 0.5, 1.0, 3.0, 1e6):
        for errors, (hit, known) in covered(k, ratio, 1.0).items():
            assert hit > 0.94
            assert known > (0.9 if errors != "unbiased" else 0.4)
    # without noise they are exact, and with normal quantiles they would not be
    assert covered(k, 1.0, 1e-12)["unbiased"][0] == pytest.approx(0.95, abs=1e-3)
    assert 2 * stats.t.cdf(stats.norm.isf(0.025), k - 1) - 1 < 0.9495


def test_what_a_variance_may_be_goes_with_contrasts_and_tests() -> None:
    schema = tc.Schema({"x": tc.Real(0, 1), "g": tc.Category(["a", "b"])})
    rng = np.random.default_rng(0)
    table = {"x": rng.random(900), "g": rng.choice(["a", "b"], 900)}
    curator = tc.Curator(table, schema, budget=tc.Budget(epsilon=40, delta=1e-6))
    found = curator.release(tc.Bootstrap(tc.Mean("x", by="g"), 5), epsilon=40, delta=1e-6).estimate("table")
    assert found.uncertain is not None
    # the average of five replicates about the table's: Student's t with 4 degrees of freedom, kept above the noise
    half = (found.intervals()[:, 1] - found.intervals()[:, 0]) / 2
    assert np.all(half > 1.97 * found.std_errors)
    apart = found.contrast("a - b")
    low, high = apart.conf_int()
    assert (high - low) / 2 > 1.97 * apart.std_error
    one = found["a"]
    assert one.conf_int() == pytest.approx(tuple(found.intervals()[0]), rel=1e-12)
    # p-values are those of the intervals: just inside and just outside of the 95% limits
    edge = found.test(f"a = {float(found.intervals()[0, 1])!r}")
    assert edge.p_value == pytest.approx(0.05, rel=1e-3)
    assert apart.test(f"`a - b` = {float(high)!r}").p_value == pytest.approx(0.05, rel=1e-3)
    both = found.test("a = 0.5, b = 0.5")
    assert both.p_value > stats.chi2.sf(both.statistic, 2)


def test_covariances_are_made_smaller_until_no_combination_has_a_negative_variance() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        crossed = rng.normal(0, 1, (4, 4))
        crossed = crossed + crossed.T
        np.fill_diagonal(crossed, 0)
        variance = rng.random(4)
        found = with_correlations(variance, crossed)
        assert np.diag(found) == pytest.approx(variance)
        assert np.linalg.eigvalsh(found)[0] > -1e-12
    # what is a covariance matrix stays it
    assert with_correlations(np.ones(2), np.array([[0, 0.4], [0.4, 0]]))[0, 1] == pytest.approx(0.4)


@pytest.mark.parametrize("statistic", [tc.Variance("x"), tc.Mean(["x", "y"]), tc.Count(by="g")])
def test_every_reading_exists_for_every_statistic(statistic: tc.Query) -> None:
    """Averages, three errors, intervals, tests and deconvolution; and the more conservative, the wider."""
    schema = tc.Schema({"x": tc.Real(0, 1), "y": tc.Real(0, 1), "g": tc.Category(["a", "b"])})
    rng = np.random.default_rng(0)
    table = {"x": rng.random(900), "y": rng.random(900), "g": rng.choice(["a", "b"], 900)}
    curator = tc.Curator(table, schema, budget=tc.Budget(epsilon=40, delta=1e-6))
    release = curator.release(tc.Bootstrap(statistic, 40), epsilon=40, delta=1e-6)
    found = [release.estimate(errors=one) for one in ERRORS]
    assert np.all(np.diff([one.std_errors for one in found], axis=0) > 0)
    assert np.all(found[-1].p_values <= 1)
    assert release.replicates().mean().to_numpy() == pytest.approx(found[0].values)
    for i, term in enumerate(found[0].terms):
        law = release.deconvolved(term)
        low, high = law.conf_int()
        assert low < law.mean < high
        # the average of the deconvolved distribution is that of the replicates, but for the penalty
        assert abs(law.mean - found[0].values[i]) < found[-1].std_errors[i]
