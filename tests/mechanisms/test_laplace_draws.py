"""Sums of several Laplace draws as noise: the cost of one draw, the exact law of the sum, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.errors import QueryError, ReleaseError
from tacit.estimates.total_errors.error_laws import LEVELS, halfwidth, noise_halfwidth, smooth, split
from tacit.method.shared.measurement import Public
from tacit.method.shared.mechanism_additive import protect
from tacit.noise.averaged_laplace import AveragedLaplace
from tacit.noise.laws import DiscreteLaplace, NoiseError
from tacit.pooling.noise_sum import sum_of_noises
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.release.query import query_from_dict
from tacit.testing.contract import contract
from tacit.testing.noise_law_test import noise_law

SCHEMA = tc.Schema(
    {
        "age": tc.Real(0, 100, missing=0),
        "pay": tc.Real(0, 9),
        "sex": tc.Category(["f", "m"]),
        "married": tc.Boolean(),
        "weight": tc.Real(0, 5),
    }
)
QUESTIONS = [
    tc.Mean("age"),
    tc.Mean(["age", "married"]),
    tc.Mean("pay", by="sex", where="age > 20"),
    tc.Mean("age", weights="weight"),
    tc.Sum("pay", by="sex"),
    tc.Count(by="sex"),
    tc.Count(weights="weight"),
]


def people(rows: int = 400) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        "age": rng.uniform(0, 100, rows),
        "pay": rng.uniform(0, 9, rows),
        "sex": rng.choice(["f", "m"], rows),
        "married": rng.random(rows) < 0.4,
        "weight": rng.uniform(0, 5, rows),
    }


def curator(**budget: Any) -> tc.Curator:
    return tc.Curator(people(), SCHEMA, name="people", budget=tc.Budget(**(budget or {"epsilon": 100})))


def drawn(query: Any, draws: int = 5) -> Any:
    return replace(query, laplace_draws=draws)


@pytest.mark.parametrize("query", QUESTIONS, ids=str)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_each_draw_has_the_scale_that_the_price_alone_buys(query: Any, neighbors: str) -> None:
    public = Public(SCHEMA, neighbors, 400 if neighbors == "replace-one" else None, 400)
    shape = design(drawn(query), public, Cost.of(epsilon="1/2"))
    for column in shape.columns:
        assert column.cost.epsilon is not None
        assert column.law == AveragedLaplace(column.form.l1 / column.cost.epsilon, 5)
    # the shares add up to the price, and so to the cost of the whole
    assert sum(column.cost.epsilon for column in shape.columns) == Fraction(1, 2)  # pyright: ignore
    assert shape.cost == Cost.of(epsilon="1/2")


@pytest.mark.parametrize("query", [tc.Sum("married", by="sex"), tc.Count(by="sex")], ids=str)
def test_the_contract_holds(query: Any) -> None:
    found = contract(drawn(query, 3), SCHEMA, tables=12, draws=20_000)
    assert {one.price for one in found.findings} == {"ε = 1"}
    assert {one.relation for one in found.findings} == {"replace-one", "add-remove"}


@pytest.mark.long
@pytest.mark.parametrize("draws", [2, 10])
@pytest.mark.parametrize("query", QUESTIONS, ids=str)
def test_the_whole_contract_holds(query: Any, draws: int) -> None:
    assert contract(drawn(query, draws), SCHEMA).passed


def test_noise_has_the_law_and_not_one_a_tenth_off() -> None:
    """False alarms of `noise_law` are rarer than 1e-6."""
    law = AveragedLaplace(Fraction(9, 2), 4)

    def fresh(size: int) -> np.ndarray:
        return np.array(protect(((0,) * size,), law)[0], dtype=np.int64)

    assert noise_law(fresh, law, draws=20_000, calls=2).passed
    assert not noise_law(fresh, AveragedLaplace(Fraction(99, 20), 4), draws=20_000).passed
    assert not noise_law(fresh, AveragedLaplace(Fraction(9, 2), 3), draws=20_000).passed


def test_the_bill_is_that_of_one_draw() -> None:
    held = curator(epsilon=1)
    held.release(drawn(tc.Mean("age"), 64), epsilon="0.25")
    assert held.remaining == "left 0.75 of 1.00"
    zero = curator(rho=1)
    zero.release(drawn(tc.Count(by="sex")), epsilon="0.2")
    # pure prices count as ε²/2
    assert zero.remaining == "left 0.98 of 1.00"


@pytest.mark.parametrize("query", QUESTIONS, ids=str)
def test_a_release_survives_json_and_a_forged_one_is_refused(query: Any) -> None:
    release = curator().release(drawn(query), epsilon=1)
    words = json.loads(release.to_json())
    words.pop("digest", None)
    assert release_from_dict(json.loads(release.to_json())) == release
    noise = words["parts"][0]["noise"]
    assert noise["law"] == "averaged Laplace"
    forged: list[dict[str, Any]] = [
        {"draws": 6},
        {"draws": 1},
        {"draws": "5"},
        {"draws": None},
        {"scale": str(Fraction(noise["scale"]) * 9 / 10)},
        {"law": "discrete Laplace"},
    ]
    for change in forged:
        other = {key: value for key, value in {**noise, **change}.items() if value is not None}
        parts = [{**words["parts"][0], "noise": other}, *words["parts"][1:]]
        with pytest.raises((ReleaseError, NoiseError)):
            release_from_dict({**words, "parts": parts})
    with pytest.raises(ReleaseError):
        release_from_dict({**words, "query": {**words["query"], "laplace_draws": 4}})


def test_another_question_has_no_such_noise() -> None:
    """The forms of sums are those of other methods too, whose questions ask for one draw."""
    law = tc.families.Normal(mean=(0, 100), sd=(1, 50))
    release = curator().release(tc.SufficientStatistics("age", law), epsilon=1)
    words = json.loads(release.to_json())
    words.pop("digest", None)
    for part in words["parts"]:
        part["noise"] = {"law": "averaged Laplace", "scale": part["noise"]["scale"], "draws": 5}
    with pytest.raises(ReleaseError, match="asks for 1 Laplace draw"):
        release_from_dict(words)


@pytest.mark.parametrize("query", QUESTIONS, ids=str)
def test_questions_of_one_draw_are_written_as_before(query: Any) -> None:
    assert "laplace_draws" not in query.to_dict()
    assert query_from_dict(query.to_dict()) == drawn(query, 1) == query
    words = drawn(query).to_dict()
    assert words["laplace_draws"] == 5
    assert query_from_dict(words, asked=True) == drawn(query)


@pytest.mark.parametrize("draws", [0, 65, 2.0, True, "5", None])
@pytest.mark.parametrize("kind", ["Mean", "Sum", "Count"])
def test_malformed_numbers_of_draws_are_refused(kind: str, draws: Any) -> None:
    with pytest.raises(QueryError) as told:
        query_from_dict(
            {"query": kind, "by": "sex", "laplace_draws": draws} | ({} if kind == "Count" else {"columns": "age"})
        )
    assert told.value.code == "Q131"


@pytest.mark.parametrize("price", [{"rho": 0.1}, {"epsilon": 1, "delta": 1e-6}])
def test_other_prices_buy_no_laplace_draws(price: dict[str, Any]) -> None:
    held = curator(**price)
    for asked in (
        lambda: held.release(drawn(tc.Mean("age")), **price),
        lambda: held.plan(drawn(tc.Sum("age")), **price),
    ):
        with pytest.raises(QueryError) as told:
            asked()
        assert told.value.code == "Q131"
    assert held.remaining == curator(**price).remaining


def test_replicates_of_a_bootstrap_have_none() -> None:
    with pytest.raises(QueryError) as told:
        tc.Bootstrap(drawn(tc.Mean("age")))
    assert told.value.code == "Q120"


def test_the_interval_of_a_table_s_own_count_is_that_of_the_exact_law() -> None:
    release = curator().release(drawn(tc.Count(by="sex")), epsilon=1)
    found = release.estimate("table").intervals(0.95)
    half = noise_halfwidth(release.parts[0].law, 0.95)
    counts = np.array([cell[0] for cell in release.parts[0].integers])
    assert np.allclose(found, np.stack([np.maximum(counts - half, 0), counts + half], axis=-1))
    # and the half-width is the smallest that the law of the sum of five draws allows
    law = AveragedLaplace(Fraction(2), 5)
    assert law == release.parts[0].law
    assert 2 * law.sf([half])[0] <= 0.05 < 2 * law.sf([half - 1])[0]


@pytest.mark.parametrize("draws", [2, 3, 4, 10, 64])
@pytest.mark.parametrize("sampling", [0.0, 1.0])
def test_what_stands_for_a_sum_of_draws_is_hardly_wider_and_never_narrower(draws: int, sampling: float) -> None:
    """Beside the exact law of three weighted integers and a normal error, inverted numerically."""
    scale, weights = Fraction(10**6), np.array([1.0, 0.5, 0.25])
    law = AveragedLaplace(scale, draws)
    s, b = split(law, weights)
    sd = sampling * np.sqrt(law.variance())
    each = np.repeat(weights * smooth(DiscreteLaplace(scale)), draws)
    for level in LEVELS:
        ratio = float(halfwidth(level, np.hypot(s, sd), b)) / float(halfwidth(level, np.asarray(sd), each))
        assert 0.9995 < ratio < 1.035


def test_sums_of_such_noises_are_sums_of_all_draws() -> None:
    law = AveragedLaplace(Fraction(3), 4)
    found = sum_of_noises([(law, 1, 2)])
    wanted = AveragedLaplace(Fraction(3), 8)
    k = np.arange(-60, 61)
    assert np.allclose(found.sf(k), wanted.sf(k), atol=1e-12)
    assert found.variance() == pytest.approx(wanted.variance())


def test_the_interval_of_a_table_s_own_mean_is_that_of_the_exact_law() -> None:
    release = curator().release(drawn(tc.Mean("age"), 2), epsilon=1)
    found = release.estimate("table")
    (low, high), part = found.intervals(0.9)[0], release.parts[0]
    # one step of the noisy sum moves the mean by so much
    step = float(np.sqrt(found.privacy_variances[0] / part.law.variance()))
    assert high - low == pytest.approx(2 * step * noise_halfwidth(part.law, 0.9))
    assert step == pytest.approx(100 / part.parameters["G"] / 400)


def test_a_plan_says_what_draws_cost() -> None:
    public: dict[str, Any] = {"rows": 1_000, "epsilon": 1}
    few, many = (tc.plan(drawn(tc.Mean("age"), k), SCHEMA, **public) for k in (8, 9))
    one = tc.plan(tc.Mean("age"), SCHEMA, **public)
    assert one.cautions() == ()
    assert "8 times that of one at the same ε; less than normal noise at (ε, δ = 1e-6)" in few.cautions()[0]
    assert "9 times that of one at the same ε; more than normal noise at (ε, δ = 1e-6)" in many.cautions()[0]
    assert one.width < few.width < many.width


def test_parties_with_such_noise_combine() -> None:
    made = []
    for name in ("north", "south"):
        held = tc.Curator(people(), SCHEMA, name=name, budget=tc.Budget(epsilon=1))
        made.append(held.release(drawn(tc.Mean("age")), epsilon=1))
    found = tc.combine(made).estimate()
    low, high = found.conf_int()
    assert low < found.value < high


@pytest.mark.parametrize("statistic", [tc.Mean("pay"), tc.Sum("pay"), tc.Count(by="sex")], ids=str)
def test_combined_noises_have_the_quantiles_of_all_their_draws(statistic: Any) -> None:
    """Two parties of ten draws have twenty, not two Laplace variables, whose quantiles are 10% less and 13% more."""
    made = []
    for name in ("north", "south"):
        held = tc.Curator(people(2_000), SCHEMA, name=name, budget=tc.Budget(epsilon=1))
        made.append(held.release(drawn(statistic, 10), epsilon=0.1))
    found, whole = tc.combine(made).estimate("table"), AveragedLaplace(Fraction(2_000), 20)
    for level in (0.5, 0.9, 0.95, 0.99):
        low, high = found.intervals(level)[0]
        exact = noise_halfwidth(whole, level) / whole.variance() ** 0.5
        # the noise of a mean is also in the other integers of its sum: 1% for all that is approximate
        assert abs((high - low) / 2 / float(np.ravel(found.std_error)[0]) / exact - 1) < 0.01
