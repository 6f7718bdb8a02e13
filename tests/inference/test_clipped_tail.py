"""Rows whose residual is clipped: their number is read as it is, and standard errors allow for what clipping takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.method.regression.bounded_scores.clipped_shares import usual_share
from tacit.method.regression.estimate import fit_release, linear_parts
from tacit.method.regression.estimate_coefficients.clipping_bias import (
    ALONG,
    SLOPE,
    TAIL,
    UNSEEN,
    clipped_tail,
    clipping_bias,
    cut_covariance,
    level_shift,
    mean_residual,
    rows_beyond,
)
from tacit.method.regression.estimate_coefficients.linear_step import LinearStep, linear_step
from tacit.method.regression.estimate_coefficients.sampling_variance import error_variance
from tacit.method.regression.row_sums.noisy_crossproducts import ResidualScores
from tacit.method.regression.row_sums.noisy_norms import _sides_clipped
from tacit.privacy import Cost
from tacit.release.simulated import SimulatedRelease
from tacit.rows.row_products import ClippedResidual
from tacit.testing.simulated_regressions import RegressionRows, rows_of

SCHEMA = tc.Schema({"y": tc.Real(0, 200), "a": tc.Real(-4, 4), "b": tc.Real(-4, 4)})
QUERY = tc.Regression("y ~ a + b")
NORMAL, PURE = Cost.of(rho="0.3"), Cost.of(epsilon=4)
TRUTH = 0.3 * np.exp(0.5 + 0.3**2 / 2), 0.0
"""Slopes of least squares in the population of `skewed`, whose mean is exp(0.5 + 0.3 a)."""


def skewed(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """A log-normal response whose spread goes with its mean, as incomes have it."""
    a, b = rng.normal(0, 1, n), rng.normal(0, 1, n)
    return {"y": np.exp(0.3 * a + rng.normal(0, 1, n)), "a": a, "b": b}


def made(n: int, cost: Cost, seed: int = 0) -> RegressionRows:
    return rows_of(QUERY, skewed(np.random.default_rng(seed), n), SCHEMA, cost)


def read(rows: RegressionRows, release: SimulatedRelease) -> tuple[LinearStep, ResidualScores]:
    crossed, scores, count = linear_parts(release, rows.layout)
    step = linear_step(rows.layout, crossed, scores, count)
    assert not isinstance(step, str)
    return step, scores


def losses(rows: RegressionRows, step: LinearStep, scores: ResidualScores) -> np.ndarray:
    """What clipping takes from each row, in the step's units."""
    values = (rows.z / 2**10) @ step.terms.T
    residual = values[:, -1] - values[:, :-1] @ step.b0
    range_ = scores.residual.clip / step.unit
    return residual - np.clip(residual, -range_, range_)


@pytest.mark.parametrize("cost", [NORMAL, PURE], ids=["normal", "pure"])
def test_the_number_of_clipped_residuals_is_read_with_its_noise(cost: Cost) -> None:
    """Without noise it is exact, and so are those of either side; over 400 noisy releases of its part its deviation is
    as told, within 5 of 3.5%.
    """
    rows = made(20_000, cost)
    release = rows.expected(rows.size)
    part = next(one for one in reversed(release.parts) if "far" in one.parameters)
    vectors = release.parts[2].parameters
    residual = ClippedResidual(tuple(vectors[f"weight{j}"] for j in range(4)), vectors["shift"], vectors["G"])
    psi = residual.numpy(rows.z)
    above, below = (int((psi == end).sum()) for end in (residual.clip, -residual.clip))
    _, scores = read(rows, release)
    assert scores.far is not None
    assert scores.signed is not None
    assert scores.far[0] == above + below > 5
    assert scores.signed[0] == above - below
    rng, law = np.random.default_rng(1), rows.shape.columns[release.parts.index(part)].law
    place = rows.layout.size * (cost is NORMAL) + 1
    sides = slice(place, place + 2)
    drawn = np.array([law.sample(len(part.integers[0]), rng)[sides] / part.parameters["far"] for _ in range(400)])
    # the second integer is negative: the number of all is the first less the second
    one, weight = list(part.integers[0]), part.parameters["far"]
    one[sides] = [5 * weight, -3 * weight]
    assert [value for value, _ in _sides_clipped(replace(part, integers=(tuple(one),)), place)[1]] == [8.0, 2.0]
    assert np.std(drawn[:, 0] - drawn[:, 1]) == pytest.approx(scores.far[1] ** 0.5, rel=0.175)
    assert np.std(drawn.sum(axis=1)) == pytest.approx(scores.signed[1] ** 0.5, rel=0.175)


@pytest.mark.parametrize("cost", [NORMAL, PURE], ids=["normal", "pure"])
def test_a_release_that_counts_both_sides_together_is_read(cost: Cost) -> None:
    """As forms of before have it: one integer, the number of all, and no side."""
    rows = made(6_000, cost)
    release = rows.expected(rows.size)
    place = next(i for i in reversed(range(len(release.parts))) if "far" in release.parts[i].parameters)
    part, at = release.parts[place], rows.layout.size * (cost is NORMAL) + 1
    one = part.integers[0]
    former = {"norm-scores-5": "norm-scores-2", "residual-matrices-4": "residual-matrices"}[part.form]
    # nor rows far along each axis
    joined = (*one[:at], one[at] - one[at + 1], *one[at + 2 + rows.layout.size :])
    parts = list(release.parts)
    parts[place] = replace(part, form=former, integers=(joined,))
    (step, scores), (now, told) = (read(rows, some) for some in (replace(release, parts=tuple(parts)), release))
    assert scores.far is not None
    assert told.far is not None
    assert (scores.far[0], 2 * scores.far[1]) == (told.far[0], pytest.approx(told.far[1]))
    assert scores.signed is None
    assert scores.meat.values == pytest.approx(told.meat.values)
    assert step.b1 == pytest.approx(now.b1, rel=0.01, abs=0.01)


def test_what_clipping_takes_is_about_what_rows_lose() -> None:
    """Number and mean of what is lost, of 100,000 rows with a log-normal response, in six releases."""
    rows, rng, parts = made(100_000, Cost.of(rho="0.1")), np.random.default_rng(2), []
    for _ in range(6):
        step, scores = read(rows, rows.release(rng))
        lost = losses(rows, step, scores)
        found = clipped_tail(step, scores, error_variance(step, scores))
        assert found is not None
        # six deviations of the noise
        assert found.rows == pytest.approx((lost != 0).sum(), abs=6 * scores.far[1] ** 0.5)  # type: ignore[index]
        parts.append(found.mean / np.abs(lost).mean())
    assert 0.7 < np.mean(parts) < 1.7


def test_allowance_for_clipping_by_hand() -> None:
    """100 of 6,000 rows beyond the range, sums of squares that tell nothing: TAIL of the range is lost by each."""
    rows = made(6_000, NORMAL)
    step, scores = read(rows, rows.expected(rows.size))
    whole = replace(step.products, variances=step.products.variances * 1e12)
    step, scores = replace(step, products=whole), replace(scores, far=(100.0, 0.0), signed=None)
    # as large as 100 clipped residuals make it, and more
    scores = replace(scores, square=200.0 * scores.residual.clip**2)
    # nothing is known of how the variance depends on the regressors
    scores = replace(scores, meat=replace(scores.meat, variances=scores.meat.variances * 1e12), means=None)
    errors = replace(error_variance(step, scores), value=1e-6)
    range_ = scores.residual.clip / step.unit
    found = clipped_tail(step, scores, errors)
    assert found is not None
    assert found.mean == pytest.approx(100 / 6_000 * TAIL * range_, rel=0.01)
    assert found.square == pytest.approx(2 * 100 / 6_000 * (TAIL * range_) ** 2, rel=0.01)
    level = np.outer(step.constant, step.constant) * found.mean**2
    slopes = (SLOPE * found.mean) ** 2 * 6_000 * step.inverse
    # the fitted mean of each row, centred and of variance 1
    values = (rows.z / 2**10) @ step.terms[:3].T
    mean = values @ step.b1
    along = np.linalg.lstsq(values, (mean - mean.mean()) / mean.std(), rcond=None)[0] * ALONG * found.mean
    allowed = level + slopes + np.outer(along, along)
    assert cut_covariance(step, scores, errors) == pytest.approx(allowed, rel=0.02, abs=0.02 * np.diag(allowed).max())
    for none in (-3.0, 0.0):
        assert not cut_covariance(step, replace(scores, far=(none, 0.0)), errors).any()
    # more rows than the sum of squared scores holds cannot be clipped
    exact = replace(scores, far=(1e9, 0.0), square_variance=0.0)
    assert clipped_tail(step, exact, errors).rows == pytest.approx(200)  # type: ignore[union-attr]


def test_rows_beyond_the_range_are_those_that_noise_leaves() -> None:
    """Numbers that are known stay; those that noise hides are as many as laws have there, and none is below 0.

    1,000 squared ranges of 20,000 rows: 4.47 deviations, beyond which usual laws have 0.5% of the rows.
    """
    rows = made(6_000, NORMAL)
    _, scores = read(rows, rows.expected(rows.size))
    scores = replace(scores, square=1_000.0 * scores.residual.clip**2, square_variance=0.0)
    usual = 20_000 * usual_share(20**0.5)

    def found(number: float, noise: float) -> tuple[float, float]:
        return rows_beyond(replace(scores, far=(number, noise**2)), 20_000)

    assert found(400, 1) == pytest.approx((400, 400), rel=0.01)
    assert found(5_000, 1) == (1_000, 1_000)
    for number in (-200, 0, 200):
        mean, size = found(number, 1_000)
        # of an exponential law, whose root mean square is the root of 2 times its mean
        assert (mean, size) == pytest.approx((usual, 2**0.5 * usual), rel=0.15)
    assert 0 < found(-60, 10)[0] < 5
    assert rows_beyond(replace(scores, far=None), 20_000) == (0, 0)


def test_signs_of_clipped_residuals_tell_what_clipping_takes_from_the_level() -> None:
    """As many above as below: a fifth of the size stays; all above, or all below: the whole of it."""
    rows = made(6_000, NORMAL)
    step, scores = read(rows, rows.expected(rows.size))
    scores = replace(scores, means=None, far=(900.0, 4.0), square=2_000.0 * scores.residual.clip**2)
    errors = error_variance(step, scores)
    tail = clipped_tail(step, scores, errors)
    assert tail is not None
    even, above, below = (replace(scores, signed=(number, 4.0)) for number in (0.0, 900.0, -900.0))
    assert level_shift(step, even, tail) == pytest.approx(UNSEEN * tail.mean, rel=0.2)
    for one in (above, below):
        assert level_shift(step, one, tail) == pytest.approx(tail.mean, rel=0.03)
    # with much noise in the signs, or none told, the whole size stays
    for loose in (replace(even, signed=(0.0, 1e12)), replace(even, signed=None)):
        assert level_shift(step, loose, tail) == pytest.approx(tail.mean)
    # signs say nothing of the slopes: these are not corrected, and may be off the further
    for some, sign in ((even, 0), (above, 1), (below, -1)):
        correction = clipping_bias(step, replace(some, side=0), errors).correction
        assert np.sign(np.round(correction / tail.mean, 3)).tolist() == [sign, 0, 0]
    wide, narrow = (np.diag(clipping_bias(step, some, errors).covariance)[1:] for some in (above, even))
    assert (wide > 10 * narrow).all()


@pytest.mark.parametrize(
    ("n", "cost"),
    [
        (20_000, Cost.of(rho=1)),
        pytest.param(8_000, NORMAL, marks=pytest.mark.long),
        pytest.param(20_000, Cost.of(rho="0.05"), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_slopes_of_a_skewed_response_are_covered(n: int, cost: Cost) -> None:
    """150 tables: 95% would miss 20 times or more once in 10**5 tries.

    The limit of 25 is exceeded once in 10**7.
    """
    rng = np.random.default_rng(7)
    held, moved = np.zeros(2), []
    for _ in range(150):
        rows = rows_of(QUERY, skewed(rng, n), SCHEMA, cost)
        found = fit_release(rows.release(rng))
        assert found.reasons[0] is None
        off = found.values[1:] - TRUTH
        held += np.abs(off) <= 1.96 * found.std_errors[1:]
        moved.append(off)
    assert held.min() >= 125
    # what is left of what clipping takes is less than a deviation: 0.6 and 5 times its own error of 1 / sqrt(150)
    assert np.abs(np.mean(moved, axis=0)[0]) < np.std(moved, axis=0)[0]


def test_a_table_s_own_coefficients_are_covered_where_many_residuals_are_clipped() -> None:
    """60 releases of one table: off by what clipping takes, always in one direction, and never by 1.96 errors."""
    rows, rng = made(20_000, Cost.of(rho=1), seed=3), np.random.default_rng(4)
    own = rows.ordinary()[0]
    z: list[Any] = []
    for _ in range(60):
        found = fit_release(rows.release(rng), "table")
        z.append((found.values - own) / found.std_errors)
    assert (np.abs(z) <= 1.96).mean(axis=0).min() > 0.9


def test_residuals_that_are_not_clipped_have_no_allowance() -> None:
    """Normal errors: a range of four deviations clips one row in 10,000, and nothing is added to what they have."""
    rng = np.random.default_rng(5)
    a, b = rng.normal(0, 1, 20_000), rng.normal(0, 1, 20_000)
    data = {"y": 100 + 3 * a + rng.normal(0, 5, 20_000), "a": a, "b": b}
    rows, parts = rows_of(QUERY, data, SCHEMA, Cost.of(rho=1)), []
    for _ in range(40):
        step, scores = read(rows, rows.release(rng))
        cut = cut_covariance(step, scores, error_variance(step, scores))
        parts.append(np.diag(cut) / np.diag(error_variance(step, scores).value * step.inverse))
    assert np.mean(parts) < 0.03


@pytest.mark.parametrize(("errors", "who"), [("normal", False), ("normal", True), ("log-normal", False)])
def test_residuals_are_clipped_closer_where_tails_are_light_and_counted(errors: str, who: bool) -> None:
    """A small price: at about 3.3 deviations, unless tails are heavy or it is not told how many are clipped."""
    rng, n = np.random.default_rng(10), 20_000
    a, b = rng.normal(0, 1, n), rng.normal(0, 1, n)
    e = rng.normal(0, 1, n) if errors == "normal" else (np.exp(1.2 * rng.normal(0, 1, n)) - np.exp(0.72)) / 3.8
    data = {"y": a + e, "a": a, "b": b} | ({"who": np.arange(n)} if who else {})
    schema = tc.Schema(
        {"y": tc.Real(-8, 40 if errors == "log-normal" else 8), "a": tc.Real(-4, 4), "b": tc.Real(-4, 4)}
        | ({"who": tc.PrivacyUnit(1)} if who else {})
    )
    rows = rows_of(QUERY, data, schema, Cost.of(rho="0.03"))
    step, scores = read(rows, rows.expected(n))
    range_ = scores.residual.clip / step.unit * step.scales[-1] / np.std(e)
    if errors == "normal" and not who:
        assert range_ == pytest.approx(3.3, rel=0.1)
    else:
        assert range_ > 4


@pytest.mark.parametrize(("bound", "close"), [(5, True), (50, False)])
def test_residuals_are_clipped_closer_where_bounds_leave_no_room_for_tails(bound: int, close: bool) -> None:
    """1,000 rows, noise that hides the response's variance: within bounds of 5 deviations no tail is heavy."""
    rng, n = np.random.default_rng(11), 1_000
    a, b = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
    data = {"y": 0.5 * a + rng.normal(0, 0.9, n), "a": a, "b": b}
    schema = tc.Schema({"y": tc.Real(-bound, bound), "a": tc.Real(-1, 1), "b": tc.Real(-1, 1)})
    rows = rows_of(QUERY, data, schema, Cost.of(rho="0.03"))
    step, scores = read(rows, rows.expected(n))
    assert (scores.residual.clip / step.unit * step.scales[-1] < 2.7) == close


@pytest.mark.parametrize("skew", [False, True], ids=["symmetric", "skewed"])
def test_the_mean_residual_tells_what_clipping_takes_from_the_level(skew: bool) -> None:
    """Without noise in the moments it is the mean of what rows lose: 0 of symmetric errors."""
    rng, n = np.random.default_rng(12), 20_000
    a, b = rng.normal(0, 1, n), rng.normal(0, 1, n)
    errors = rng.exponential(1, n) - 1 if skew else rng.normal(0, 1, n)
    schema = tc.Schema({"y": tc.Real(-6, 6), "a": tc.Real(-4, 4), "b": tc.Real(-4, 4)})
    rows = rows_of(QUERY, {"y": 0.5 * a + errors, "a": a, "b": b}, schema, Cost.of(rho="0.03"))
    step, scores = read(rows, rows.expected(n))
    lost, tail = losses(rows, step, scores), clipped_tail(step, scores, error_variance(step, scores))
    seen = mean_residual(step, scores)
    assert tail is not None
    assert seen is not None
    # no noise is drawn: what is left are second orders of the step
    assert seen[0] == pytest.approx(lost.mean(), abs=0.3 * tail.mean + 0.002 * float(step.scales[0]))
    exact = replace(scores, means=replace(scores.means, noise=0.0))  # type: ignore[type-var]
    sharp = replace(step, noise=step.noise * 0)
    left = level_shift(sharp, exact, replace(tail, square=1e-12)) / tail.mean
    assert (left > 0.6) if skew else (left < 0.4)
    # without signs, and without an intercept or without means, the whole size stays
    scores = replace(scores, signed=None)
    for one, other in ((replace(step, level=False), scores), (step, replace(scores, means=None))):
        assert level_shift(one, other, tail) == tail.mean


def test_the_noise_of_the_mean_residual_is_as_told() -> None:
    """400 releases: deviation of the mean residual less what rows lose, within 5 of 3.5% and of second orders."""
    rows = made(4_000, Cost.of(rho="0.3"), seed=6)
    rng, found, told = np.random.default_rng(13), [], []
    for _ in range(400):
        step, scores = read(rows, rows.release(rng))
        value, noise = mean_residual(step, scores)  # type: ignore[misc]
        residual = ((rows.z / 2**10) @ step.terms.T) @ np.append(-step.b1, 1.0)
        range_ = scores.residual.clip / step.unit
        found.append((value - (residual - np.clip(residual, -range_, range_)).mean()) * step.scales[-1])
        told.append(noise**0.5 * step.scales[-1])
    assert np.std(found) == pytest.approx(np.sqrt(np.mean(np.square(told))), rel=0.25)


def test_a_step_is_longer_where_many_residuals_are_clipped() -> None:
    """A pilot that is off, and a fifth of the rows beyond the range: the rows that count make the whole step."""
    rows = made(6_000, NORMAL)
    _, scores = read(rows, rows.expected(rows.size))
    crossed, _, count = linear_parts(rows.expected(rows.size), rows.layout)
    # squares of as many rows beyond the range
    scores = replace(scores, square=2_000.0 * scores.residual.clip**2)
    longer = linear_step(rows.layout, crossed, replace(scores, far=(1_200.0, 0.0)), count)
    whole = linear_step(rows.layout, crossed, replace(scores, far=(0.0, 0.0)), count)
    assert not isinstance(longer, str)
    assert not isinstance(whole, str)
    assert longer.kept == pytest.approx(0.8)
    assert longer.noise == pytest.approx(whole.noise / 0.64)
    # up to the square of the noise in the products, which is taken off both
    assert longer.b1 - longer.b0 == pytest.approx((whole.b1 - whole.b0) / 0.8, rel=0.02)
