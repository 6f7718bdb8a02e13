"""Estimates of a user's own statistics: both errors, the delta method, what is released without second moments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import QueryError
from tacit.method.additive import statistic as admission
from tacit.method.additive.encoding import RowReach
from tacit.method.additive.estimate_sums import AdditiveSums, Function, _possible  # pyright: ignore[reportPrivateUsage]

SCHEMA = tc.Schema({"x": tc.Real(0, 20), "y": tc.Real(-5, 5), "sex": tc.Category(["f", "m"]), "ok": tc.Boolean()})
CAPPED = tc.extend.additive(
    "capped", rows=lambda cap: [tc.col("x").clip(0, cap)], estimate=lambda release: release.integers[0]
)
COVARIANCE = tc.extend.additive(
    "covariance",
    rows=lambda: [tc.col("x"), tc.col("y"), tc.col("x") * tc.col("y")],
    estimate=lambda sums: {
        "covariance": (sums.integers[2] - sums.integers[0] * sums.integers[1] / sums.n) / sums.n,
        "mean": sums.integers[0] / sums.n,
    },
)
SHARES = tc.extend.additive(
    "shares", rows=lambda: [tc.col("x") > 10, tc.col("x").notna()], estimate=lambda s: s.integers[0] / s.integers[1]
)
RICH = 1_000
"""A price at which noise is next to nothing."""


@pytest.fixture(autouse=True)
def admitted() -> Iterator[None]:
    """Statistics are released without a contract, which other tests run; what is recorded is forgotten after it."""
    before, admit = set(admission.PASSED), admission.admit
    yield
    assert admission.admit is admit
    admission.PASSED.clear()
    admission.PASSED.update(before)


def table(n: int = 4_000, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = rng.gamma(3, 3, n)
    return {"x": x, "y": 0.3 * x - 3 + rng.normal(0, 1, n), "sex": rng.choice(["f", "m"], n), "ok": rng.random(n) < 0.3}


def bought(query: Any, rows: Any, schema: tc.Schema = SCHEMA, relation: Any = "replace-one", **price: float) -> Any:
    admission.passed(query, schema)
    price = price or {"epsilon": RICH}
    budget = tc.Budget(epsilon=RICH, neighbors=relation) if "epsilon" in price else tc.Budget(rho=1)
    known = admission.defined(query)
    assert known is not None
    return tc.Curator(rows, schema, budget=budget, trust=[known]).release(query, **price)


def test_a_capped_sum_has_the_errors_of_a_sum() -> None:
    rows = table()
    found = bought(CAPPED(12), rows).estimate()
    capped = np.floor(np.minimum(rows["x"], 12) + 0.5)
    assert abs(found.value - capped.sum()) < 2
    assert found.std_error == pytest.approx(capped.std(ddof=1) * np.sqrt(len(capped)), rel=1e-3)
    assert found.terms == ("capped",)
    assert not any("delta" in note for note in found.notes)
    # where the number of rows is random, that of a compound Poisson sum
    private = bought(CAPPED(12), rows, relation="add-remove").estimate()
    assert private.std_error == pytest.approx(np.sqrt((capped**2).sum()), rel=1e-3)
    assert bought(CAPPED(12), rows).estimate("table").std_error < 1


def test_the_privacy_error_is_that_of_the_noise() -> None:
    release = bought(CAPPED(12), table(), epsilon=0.1)
    found = release.estimate("table")
    law = release.parts[0].law
    assert found.std_error == pytest.approx(np.sqrt(law.variance()))
    assert release.sums[0].noise_std_errors == (pytest.approx(found.std_error),)
    # one integer Laplace noise: its exact interval, 1.5 times shorter than a normal one would be at 95%
    low, high = found.conf_int()
    assert high - low == pytest.approx(2 * float(law.scale) * np.log(20), rel=0.05)


def test_functions_of_several_sums_have_errors_of_the_delta_method() -> None:
    # with this many rows the noise of the second moment is .3% of what is compared within 5%
    rows = table(40_000)
    found = bought(COVARIANCE(), rows).estimate()
    x, y = np.floor(np.clip(rows["x"], 0, 20) + 0.5), np.floor(np.clip(rows["y"], -5, 5) + 0.5)
    xy = np.floor(np.clip(rows["x"], 0, 20) * np.clip(rows["y"], -5, 5) + 0.5)
    n = len(x)
    values = {"covariance": xy.mean() - x.mean() * y.mean(), "mean": x.mean()}
    slopes = np.array([[-y.mean(), -x.mean(), 1], [1, 0, 0]]) / n
    joint = n * np.cov(np.stack([x, y, xy]))
    assert found.terms == tuple(values)
    assert found.values == pytest.approx([*values.values()], abs=1e-3)
    assert found.sampling_variances == pytest.approx(np.diag(slopes @ joint @ slopes.T), rel=5e-2)
    assert any("delta method" in note for note in found.notes)
    # terms of one function share the rows
    both = slopes @ joint @ slopes.T
    apart = found.contrast("covariance - mean").std_error
    assert float(apart) ** 2 == pytest.approx(both[0, 0] + both[1, 1] - 2 * both[0, 1], rel=5e-2)


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_groups_have_their_own_sums(relation: str) -> None:
    rows = table()
    found = bought(SHARES(by="sex", where="ok"), rows, relation=relation).estimate()
    for sex, value, error in zip(found.terms, found.values, found.std_errors, strict=True):
        inside = (rows["sex"] == sex) & rows["ok"]
        p = (rows["x"][inside] > 10).mean()
        assert value == pytest.approx(p, abs=1e-3)
        # a share of rows that are there: its denominator varies with it, and the ratio is binomial
        assert error == pytest.approx(np.sqrt(p * (1 - p) / inside.sum()), rel=0.02)
    assert found.term_title == "sex"


def test_cells_of_a_public_number_of_rows_are_negatively_correlated() -> None:
    rows = table()
    found = bought(CAPPED(12, by="sex"), rows).estimate()
    capped = np.floor(np.minimum(rows["x"], 12) + 0.5)
    whole = found.contrast("f + m")
    assert whole.value == pytest.approx(capped.sum(), abs=2)
    assert whole.std_error == pytest.approx(capped.std(ddof=1) * np.sqrt(len(capped)), rel=1e-2)


def test_persons_errors_are_between_persons() -> None:
    schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=4), "x": tc.Real(0, 20), "y": tc.Real(-5, 5)})
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(1_000), rng.integers(1, 5, 1_000))
    rows = {"who": who, "x": 5 + rng.normal(0, 2, 1_000)[who], "y": rng.normal(0, 1, len(who))}
    found = bought(CAPPED(12), rows, schema).estimate()
    own = np.bincount(who, np.floor(np.clip(rows["x"], 0, 12) + 0.5))
    assert found.value == pytest.approx(own.sum(), abs=2)
    assert found.std_error == pytest.approx(own.std(ddof=1) * np.sqrt(1_000), rel=0.02)
    two = bought(tc.extend.additive("two", rows=lambda: ["x", "y"])(), rows, schema).totals()
    assert any("standard errors of sampling add" in note for note in two.notes)
    # never too small: correlations of sums between persons are not released
    sum_of = two.contrast("x + y").std_error
    assert sum_of == pytest.approx(float(np.sqrt(two.sampling_variances).sum()), rel=0.05)


def test_without_second_moments_there_is_the_error_of_privacy_alone() -> None:
    release = bought(CAPPED(12, moments=False), table(), epsilon=1)
    assert len(release.parts) == 1
    assert release.parts[0].cost == release.cost
    found = release.estimate()
    assert found.target == "table"
    assert any("sampling is left out" in note for note in found.notes)
    assert (found.sampling_variances == 0).all()
    with pytest.raises(QueryError) as caught:
        release.estimate("population")
    assert caught.value.code == "Q286"


def test_second_moments_cost_little_where_there_are_many_rows() -> None:
    with_moments = bought(CAPPED(12), table(20_000), epsilon=1).parts
    share = with_moments[1].cost.epsilon / (with_moments[0].cost.epsilon + with_moments[1].cost.epsilon)
    assert share == pytest.approx(1 / 64)


@pytest.mark.parametrize(
    "function",
    [lambda s: 1 / 0, lambda s: "x", lambda s: [], lambda s: float("nan"), lambda s: {"a": None}, lambda s: s],
)
def test_functions_that_give_no_numbers_are_told(function: Any) -> None:
    own = tc.extend.additive("bad", rows=lambda: ["x"], estimate=function)
    release = bought(own(), table(), epsilon=1)
    with pytest.raises(QueryError) as caught:
        release.estimate()
    assert caught.value.code == "Q286"
    assert "bad" in str(caught.value)
    assert release.totals().terms == ("x",)


def test_a_function_may_return_several_numbers() -> None:
    sums = AdditiveSums((3.0,), (1.0,), 10, {})
    assert Function("s", lambda s: [s.integers[0], 2])(sums) == {"s 1": 3.0, "s 2": 2.0}
    assert Function("s", lambda s: np.array([1.5]))(sums) == {"s 1": 1.5}


def test_impossible_noisy_moments_become_a_covariance() -> None:
    noisy = np.array([[1.0, 5.0, 0.0], [5.0, 1.0, 0.0], [0.0, 0.0, -4.0]])
    made = _possible(noisy, np.array([0.1, 0.1, 0.5]), RowReach(True, False, True), 100, [(0, 12)] * 3)
    assert np.linalg.eigvalsh(made).min() > -1e-9
    assert made[0, 0] == 1
    assert made[2, 2] > 0
    assert made[0, 1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("query", "price", "truth"),
    [
        (CAPPED(12), {"epsilon": 0.5}, None),
        (SHARES(), {"rho": 0.02}, None),
        (CAPPED(12, where="ok"), {"epsilon": 1}, None),
    ],
)
def test_intervals_cover(query: Any, price: dict[str, float], truth: Any) -> None:
    big = table(100_000, seed=3)
    exact = tc.testing.simulate(query, big, SCHEMA, epsilon=1, repeats=1).exact[0]
    truth = exact if query.statistic == "shares" else exact * 800 / 100_000
    found = tc.testing.coverage(
        query, lambda rng: table(800, int(rng.integers(2**31))), truth, schema=SCHEMA, repeats=200, rng=2, **price
    )
    # 95% of 200: within 5.5 standard errors, a false alarm in 1e-6 and less for each statistic
    assert found.coverage[0] > 0.95 - 5.5 * np.sqrt(0.95 * 0.05 / 200)
    assert 0.85 < found.std_error[0] / found.std_deviation[0] < 1.25


def test_functions_of_sums_of_persons_have_added_errors() -> None:
    schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=2), "x": tc.Real(0, 20), "y": tc.Real(-5, 5)})
    rng = np.random.default_rng(2)
    who, x = np.repeat(np.arange(1_000), 2), rng.normal(10, 2, 2_000)
    rows = {"who": who, "x": x, "y": np.clip(x - 10, -5, 5)}
    own = tc.extend.additive("difference", rows=lambda: ["x", "y"], estimate=lambda s: s.integers[0] + s.integers[1])
    release = bought(own(), rows, schema, epsilon=1)
    found, alone = release.estimate(), release.totals()
    # correlated sums: independent ones would have 0.7 of this error
    assert found.sampling_variances[0] == pytest.approx(np.sqrt(alone.sampling_variances).sum() ** 2, rel=0.01)
    law = release.parts[0].law
    fine = release.parts[0].parameters["G"]
    assert fine > 1
    assert found.privacy_variances[0] == pytest.approx(2 * law.variance() / fine**2)
