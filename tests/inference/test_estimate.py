from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit as tc
from tacit.errors import InferenceError
from tacit.estimates.display import criteria_words
from tacit.estimates.verbs.pairwise_differences import adjusted
from tacit.method.moments.estimate import MomentsRelease
from tacit.release.document import release_from_dict
from tacit.release.parts import Grid, Part
from tacit.report.difference import difference
from tacit.testing.simulate import Simulation, simulate

RNG = np.random.default_rng(7)
ROWS = 2_000
DATA: dict[str, Any] = {
    "age": RNG.uniform(10, 90, ROWS),
    "income": RNG.gamma(2, 20_000, ROWS),
    "sex": RNG.integers(0, 2, ROWS),
    "region": RNG.choice(["north", "south"], ROWS),
    "married": RNG.random(ROWS) < 0.4,
}
SCHEMA = tc.Schema(
    {
        "age": tc.Real(0, 100, units="years"),
        "income": tc.Real(0, 300_000, units="USD"),
        "sex": tc.Category({0: "male", 1: "female"}),
        "region": tc.Category(["north", "south"]),
        "married": tc.Boolean(missing=False),
    }
)
QUERIES = [
    tc.Mean("age"),
    tc.Mean(["age", "income"]),
    tc.Mean("age", by=["region", "sex"]),
    tc.Mean("married"),
    tc.Mean("married", by="sex"),
    tc.Sum("age", by="sex"),
    tc.Sum("married"),
    tc.Count(by="sex"),
    tc.Variance("age", by="sex"),
]


def run(query: Any, repeats: int = 1, data: Any = None, **price: Any) -> Simulation:
    return simulate(query, DATA if data is None else data, SCHEMA, repeats=repeats, **(price or {"epsilon": 1}))


def first(query: Any, target: Any = "population", **price: Any) -> Any:
    return run(query, **price).release(0).estimate(target)


@pytest.mark.sample(5)
@pytest.mark.parametrize("query", QUERIES, ids=repr)
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.1}, {"epsilon": 1, "delta": 1e-6}], ids=str)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_every_query_gives_finite_intervals_around_its_value(query: Any, price: Any, neighbors: str) -> None:
    found = run(query, **price, neighbors=neighbors).release(0)
    for target in ("population", "table"):
        made = found.estimate(target)  # pyright: ignore[reportArgumentType]
        limits = made.intervals(0.9)
        assert np.isfinite(limits).all()
        assert (limits[:, 0] <= made.values + 1e-9).all()
        assert (made.values <= limits[:, 1] + 1e-9).all()
        assert (made.std_errors > 0).all()
        assert (made.intervals(0.99)[:, 1] >= limits[:, 1]).all()
        if target == "table":
            assert not made.sampling_variances.any()
            assert np.asarray(made.privacy_share).min() == 1
        assert str(made)


@pytest.mark.parametrize("query", QUERIES, ids=repr)
def test_noise_covariance_is_that_of_simulated_estimates(query: Any) -> None:
    """4,000 repeats: a variance has relative error 2.3% (Gaussian noise); 15% is 6.5 of them, false alarm < 1e-9."""
    many = run(query, 4_000, rho=2)
    claimed = np.median([many.release(i).estimate("table").privacy_variances for i in range(20)], axis=0)
    seen = many.estimates.var(axis=0)
    assert seen == pytest.approx(claimed, rel=0.15)
    assert (np.abs(many.estimates.mean(axis=0) - many.exact) < 6 * np.sqrt(seen / 4_000) + 1e-6).all()


def test_one_term_is_a_float_and_a_pair() -> None:
    made = first(tc.Mean("age"))
    assert isinstance(made.value, float)
    assert isinstance(made.std_error, float)
    low, high = made.conf_int()
    assert low < made.value < high
    assert made.reason is None
    assert 0 < made.privacy_share < 1
    assert made.estimand == "mean of age, values clamped to 0–100 years"
    assert made.terms == ("age",)


def test_several_terms_are_pandas_indexed_by_term() -> None:
    made = first(tc.Mean("age", by=["region", "sex"]))
    assert list(made.value.index) == ["north:male", "north:female", "south:male", "south:female"]
    assert list(made.conf_int().columns) == ["lower", "upper"]
    assert isinstance(made.cov, pd.DataFrame)
    assert np.diag(made.cov) == pytest.approx(made.std_error.to_numpy() ** 2)
    frame = made.to_frame()
    assert list(frame.columns) == ["estimate", "std_error", "lower", "upper", "privacy_share", "reason"]
    assert not frame.isna().any().any()


@pytest.mark.parametrize("level", [0.4, 1, 1.5, -1, float("nan"), True, "0.95"])
def test_levels_that_make_no_sense_are_refused(level: Any) -> None:
    made = first(tc.Mean("age"))
    with pytest.raises(InferenceError, match="I01"):
        made.conf_int(level)


def test_target_is_one_of_two_words() -> None:
    with pytest.raises(InferenceError, match="I09"):
        first(tc.Mean("age"), "people")


# Contrasts, tests ---------------------------------------------------------------------------------------------------


def test_contrast_and_test_use_one_law() -> None:
    made = first(tc.Mean("age", by=["region", "sex"]))
    gap = made.contrast("`north:female` - `north:male`")
    assert gap.value == pytest.approx(made.value["north:female"] - made.value["north:male"])
    assert gap.std_error == pytest.approx(np.hypot(made.std_error["north:female"], made.std_error["north:male"]))
    low, high = gap.conf_int(0.95)
    assert made.test(f"`north:female` - `north:male` = {high}").p_value == pytest.approx(0.05, abs=1e-4)
    assert made.test(f"`north:male` - `north:female` = {-low}").p_value == pytest.approx(0.05, abs=1e-4)
    several = made.test("`north:female` = `north:male`, `south:female` = `south:male`")
    assert several.df == 2
    assert 0 <= several.p_value <= 1
    assert "Wald" in several.method


def test_a_contrast_of_one_term_keeps_its_exact_interval() -> None:
    made = first(tc.Mean("married", by="sex"))
    assert made.contrast("male").conf_int() == tuple(made.conf_int().loc["male"])
    assert made["female"].conf_int() == tuple(made.conf_int().loc["female"])


@pytest.mark.parametrize(
    ("text", "code"), [("age2 = 0", "I02"), ("((", "I03"), ("male * female = 0", "I03"), ("male = 0, male = 0", "I03")]
)
def test_malformed_constraints(text: str, code: str) -> None:
    made = first(tc.Mean("age", by="sex"))
    with pytest.raises(InferenceError, match=code):
        made.test(text)


def test_contrast_takes_one_expression() -> None:
    made = first(tc.Mean("age", by="sex"))
    for text in ("male, female", "male = 3"):
        with pytest.raises(InferenceError, match="I03"):
            made.contrast(text)


def test_pairwise_holm_by_hand() -> None:
    assert adjusted(np.array([0.01, 0.04, 0.03]), "holm") == pytest.approx([0.03, 0.06, 0.06])
    assert adjusted(np.array([0.01, 0.4]), "bonferroni") == pytest.approx([0.02, 0.8])
    made = first(tc.Mean("age", by=["region", "sex"])).pairwise()
    assert len(made.p_values) == 6
    assert (made.intervals()[:, 1] > made.estimate.intervals()[:, 1]).all()
    assert list(made.to_frame().columns) == ["difference", "std_error", "lower", "upper", "p_value"]
    assert "holm" in str(made)
    with pytest.raises(InferenceError, match="I08"):
        made.estimate.pairwise("tukey")
    with pytest.raises(InferenceError, match="I05"):
        first(tc.Mean("age")).pairwise()


def test_standardize() -> None:
    made = first(tc.Mean("age", by="sex"))
    one = made.standardize({"male": 0.3, "female": 0.7})
    assert one.value == pytest.approx(0.3 * made.value["male"] + 0.7 * made.value["female"])
    assert one.std_error == pytest.approx(np.hypot(0.3 * made.std_error["male"], 0.7 * made.std_error["female"]))
    for weights, code in (({"male": 0.5}, "I06"), ({"male": 2, "female": -1}, "I06"), ({"men": 1}, "I02")):
        with pytest.raises(InferenceError, match=code):
            made.standardize(weights)


def test_columns_of_the_same_people_are_bounded() -> None:
    made = first(tc.Mean(["age", "income"]))
    total = made.contrast("age + income")
    s = np.sqrt(made.sampling_variances)
    assert total.sampling_variances[0] == pytest.approx(s.sum() ** 2)
    assert total.privacy_variances[0] == pytest.approx(made.privacy_variances.sum())
    with pytest.raises(InferenceError, match="I04"):
        _ = made.cov
    assert made["age"].conf_int() == tuple(made.conf_int().loc["age"])
    assert np.isfinite(made["age"].cov.to_numpy()).all()


def test_counts_of_cells_pull_on_each_other() -> None:
    """Cells of a table of public size are multinomial: their sampling errors add up to nothing."""
    made = first(tc.Count(by="sex"))
    assert made.contrast("male + female").sampling_variances[0] == pytest.approx(0, abs=1e-3 * ROWS)
    free = simulate(tc.Count(by="sex"), DATA, SCHEMA, epsilon=1, repeats=1, neighbors="add-remove").release(0)
    assert free.estimate().contrast("male + female").sampling_variances[0] == pytest.approx(ROWS, rel=0.02)


# Differences --------------------------------------------------------------------------------------------------------


def test_difference_knows_what_is_shared() -> None:
    a, b = (release.estimate() for release in run(tc.Mean("age", by="sex"), 2).releases)
    nothing = difference(a, a)
    assert nothing.values == pytest.approx([0, 0])
    assert nothing.std_errors == pytest.approx([0, 0])
    same = difference(a, b)
    assert "same people" in same.notes[0]
    assert same.sampling_variances == pytest.approx(
        (np.sqrt(a.sampling_variances) + np.sqrt(b.sampling_variances)) ** 2
    )
    assert same.privacy_variances == pytest.approx(a.privacy_variances + b.privacy_variances)
    assert (same.std_errors <= a.std_errors + b.std_errors).all()
    joint = difference(a["male"], a["female"])
    assert joint.std_error == pytest.approx(a.contrast("male - female").std_error)
    other = dataclasses.replace(run(tc.Mean("age", by="sex"), epsilon=2).release(0), table="elsewhere").estimate()
    apart = difference(a, other)
    assert "independent" in apart.notes[0]
    assert apart.std_errors == pytest.approx(np.hypot(a.std_errors, other.std_errors))
    assert np.isfinite(apart.intervals()).all()
    assert "independent" in str(apart)


def test_differences_that_do_not_match() -> None:
    a = first(tc.Mean("age", by="sex"))
    with pytest.raises(InferenceError, match="I07"):
        difference(a, first(tc.Mean("age", by="region")))
    with pytest.raises(InferenceError, match="I07"):
        difference(a, first(tc.Mean("age", by="sex"), "table"))


# Where nothing is known ---------------------------------------------------------------------------------------------


@pytest.mark.sample(3)
@pytest.mark.parametrize("query", QUERIES, ids=repr)
def test_never_a_nan_whatever_the_noise(query: Any) -> None:
    for price in ({"epsilon": 0.002}, {"rho": 1e-6}):
        many = simulate(query, DATA, SCHEMA, repeats=4, **price)
        for release in many.releases:
            made = release.estimate()
            numbers = np.column_stack([made.values, made.std_errors, made.intervals()])
            assert np.isfinite(numbers).all()
            assert str(made)


def test_a_cell_without_rows_says_so() -> None:
    made = first(tc.Mean("age", by="sex"), epsilon=0.002)
    assert any(made.reasons)
    i = next(i for i, reason in enumerate(made.reasons) if reason)
    assert made.intervals()[i] == pytest.approx([0, 100])
    assert "not clearly above 0" in str(made)
    assert made.std_errors[i] <= 50 + 1e-9
    assert made.contrast("male - female").reasons[0]


@pytest.mark.parametrize("rows", [2, 3])
def test_tiny_tables(rows: int) -> None:
    data = {name: column[:rows] for name, column in DATA.items()}
    for query in QUERIES:
        made = run(query, data=data).release(0).estimate()
        assert np.isfinite(np.column_stack([made.values, made.std_errors, made.intervals()])).all()


def test_exact_table_target_of_a_count_is_the_integer_law() -> None:
    made = first(tc.Count(by="sex"), "table")
    low, high = made.intervals(0.95)[0]
    law = made.blocks[0].law
    half = int(high - made.values[0])
    assert float(law.cdf([half])[0] - law.cdf([-half - 1])[0]) >= 0.95
    assert (high + low) / 2 == made.values[0]


# Releases -----------------------------------------------------------------------------------------------------------


def released(**changes: Any) -> MomentsRelease:
    sample = run(tc.Mean("age", by="sex")).release(0)
    facts: dict[str, Any] = {
        "query": sample.query, "mechanism": "moments/1", "table": "people-2024", "schema": "0" * 64,
        "neighbors": "replace-one", "unit": None, "rows": ROWS, "levels": sample.levels, "parts": sample.parts,
        "cost": sample.cost, "charge": 1, "head": "ab" * 32, "date": "2025-01-01", "version": "0.1.0",
        "recorded": False, "remaining": "left 0.49 of 0.50",
    }  # fmt: skip
    return MomentsRelease(**(facts | changes))


def test_release_round_trip_and_repr() -> None:
    release = released()
    again = release_from_dict(json.loads(release.to_json()))
    assert isinstance(again, MomentsRelease)
    assert again == release
    assert again.estimate().intervals() == pytest.approx(release.estimate().intervals())
    text = str(release)
    for words in ("Mean of age by sex", "people-2024 · 2,000 rows · replace-one, one row each", "of which privacy",
                  "missing: left out", "bounds 0 to 100 years", "discrete Laplace noise", "cost ε = 1",
                  "left 0.49 of 0.50", "memory only, not recorded"):  # fmt: skip
        assert words in text
    assert text == str(released())
    assert release._repr_html_().startswith('<div style="overflow-x:auto"><table ')
    assert "people-2024" in release._repr_html_()


def test_two_releases_of_one_ledger_differ_by_charge() -> None:
    a, b = released().estimate(), released(charge=2, head="cd").estimate()
    assert "same people" in difference(a, b).notes[0]
    assert "joint" in difference(a, released().estimate()).notes[0]


def test_unknown_forms_are_refused() -> None:
    part = released().parts[0]
    strange = dataclasses.replace(part, form="tomorrow")
    with pytest.raises(tc.TacitError, match="R02"):
        released(parts=(strange,)).estimate()
    assert isinstance(strange, Part)
    assert isinstance(part.grid, Grid)
    assert isinstance(part.law.scale, Fraction)


def test_a_noisy_number_of_rows_is_said_to_be_about_what_is_possible() -> None:
    assert criteria_words({"rows": 99.6}, "linear", "rows", 100) == "about 100 rows counted"
    assert criteria_words({"rows": 108.0}, "linear", "rows", 100) == "about 100 rows counted"
    assert criteria_words({"rows": 100.0}, "poisson", "persons", 100) == "100 persons counted"
    assert criteria_words({"rows": 108.0, "effective_size": 90.0}, "linear", "rows", None) == "about 108 effective rows"
