"""Regressions from cells: when `method="auto"` takes them, that they answer the same question, and their documents."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.curator.mechanisms import design, integers
from tacit.errors import InferenceError, QueryError, ReleaseError, TacitError
from tacit.method.regression.designs.cells_design import KIND
from tacit.method.shared.measurement import Public
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.release.query import query_from_dict
from tacit.source import open_source
from tacit.study import study as studies
from tacit.testing.contract import contract
from tacit.testing.simulated_regressions import rows_of

SCHEMA = tc.Schema(
    {
        "works": tc.Boolean(),
        "sex": tc.Category(["f", "m"]),
        "region": tc.Category(["n", "e", "s"], missing="unknown"),
        "grade": tc.Integer(0, 4, missing=2),
        "visits": tc.Integer(0, 9),
        "age": tc.Real(18, 93),
    }
)
ROWS = 10_000
FEW = tc.Regression("works ~ sex + region", model="logistic", method="auto")


def chosen(query: tc.Regression, price: dict[str, Any], relation: str = "replace-one", **public: Any) -> str:
    given = {"rows": ROWS if relation == "replace-one" else None} | public
    return design(query, Public(SCHEMA, relation, **given), Cost.of(**price)).kind


def table(rows: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    region = rng.choice(np.array(["n", "e", "s", None], dtype=object), rows, p=[0.4, 0.3, 0.2, 0.1])
    sex, grade = rng.choice(np.array(["f", "m"], dtype=object), rows), rng.integers(0, 5, rows)
    eta = 0.4 * (sex == "m") - 0.3 * (region == "s") + 0.2 * (grade - 2)
    return {
        "works": rng.random(rows) < 1 / (1 + np.exp(-eta)),
        "sex": sex,
        "region": region,
        "grade": grade,
        "visits": np.minimum(rng.poisson(np.exp(0.3 + 0.3 * eta)), 12),
        "age": rng.uniform(18, 93, rows),
    }


# The choice -----------------------------------------------------------------------------------------------------------


def test_cells_are_taken_where_they_are_few() -> None:
    assert chosen(FEW, {"epsilon": 1}) == KIND
    assert chosen(FEW, {"rho": 0.01}) == KIND
    # 3,000 cells of five regressors would be more noise than rows
    many = tc.Regression("works ~ sex*region + grade + visits", model="logistic", method="auto")
    assert chosen(many, {"rho": 0.01}) == "regression"


@pytest.mark.parametrize("formula", ["works ~ sex + age", "works ~ sex + log1p(visits)", "age ~ sex"])
def test_what_has_no_cells_is_told_by_scores(formula: str) -> None:
    assert chosen(tc.Regression(formula, method="auto"), {"epsilon": 1}) == "regression"
    with pytest.raises(QueryError) as refused:
        chosen(tc.Regression(formula, method="cells"), {"epsilon": 1})
    assert refused.value.code == "Q86"


@pytest.mark.parametrize("more", [{"weights": "age"}, {"model": "gamma"}, {"model": "huber"}], ids=str)
def test_weights_and_models_of_scores_alone_have_no_cells(more: dict[str, Any]) -> None:
    """What counts of cells could not answer is answered by scores, or refused by name."""
    query = {"formula": "visits ~ sex", "method": "auto"} | more
    schema = tc.Schema({**SCHEMA, "age": tc.Real(0, 93)})
    public = Public(schema, "replace-one", ROWS)
    assert design(tc.Regression(**query), public, Cost.of(epsilon=1)).kind == "regression"
    with pytest.raises(QueryError, match=r"weights|gamma|huber") as refused:
        design(tc.Regression(**{**query, "method": "cells"}), public, Cost.of(epsilon=1))
    assert refused.value.code == "Q86"


def test_a_private_number_of_rows_says_nothing_unless_it_is_hinted_at() -> None:
    assert chosen(FEW, {"epsilon": 1}, "add-remove") == "regression"
    assert chosen(FEW, {"epsilon": 1}, "add-remove", size_hint=9_000) == KIND


def test_many_rows_of_a_person_are_an_argument_for_scores() -> None:
    """Scores may have the sampling error of as many rows; a fit to cells has that of one row a person at most."""
    query = tc.Regression("works ~ sex", method="auto")
    for most, kind in ((1, KIND), (20, "regression")):
        schema = tc.Schema({"who": tc.PrivacyUnit(most), **SCHEMA})
        assert design(query, Public(schema, "replace-one", 100_000), Cost.of(epsilon=1)).kind == kind


def test_the_choice_rests_on_public_facts_alone() -> None:
    one, other = table(ROWS), {**table(ROWS, 5), "works": np.zeros(ROWS, dtype=bool)}
    made = [tc.Curator(rows, SCHEMA, budget=tc.Budget(epsilon=1)).release(FEW, epsilon=1) for rows in (one, other)]
    assert [release.kind for release in made] == [KIND, KIND]


@pytest.mark.parametrize(
    ("query", "code"),
    [({"method": "tables"}, "Q116"), ({"method": 3}, "Q116")],
)
def test_an_unknown_method_is_refused(query: dict[str, Any], code: str) -> None:
    with pytest.raises(QueryError) as refused:
        tc.Regression("works ~ sex", **query)
    assert refused.value.code == code


def test_too_many_cells_are_refused_and_not_chosen() -> None:
    columns = {f"b{j}": tc.Boolean() for j in range(11)}
    query = " + ".join(columns)
    schema = tc.Schema({"y": tc.Boolean(), **columns})
    with pytest.raises(QueryError) as refused:
        design(tc.Regression(f"y ~ {query}", method="cells"), Public(schema, "replace-one", 100), Cost.of(rho=1))
    assert refused.value.code == "Q31"
    auto = tc.Regression(f"y ~ {query}", method="auto")
    assert design(auto, Public(schema, "replace-one", 10**9), Cost.of(rho=1)).kind == "regression"


# The mechanism --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [False, True])
def test_the_contract(unit: bool) -> None:
    schema = tc.Schema({"y": tc.Boolean(), "g": tc.Category(["a", "b"], missing="unknown"), "k": tc.Integer(0, 2)})
    schema = tc.Schema({"who": tc.PrivacyUnit(3), **schema}) if unit else schema
    found = contract(tc.Regression("y ~ g + k", method="cells"), schema, tables=24, draws=20_000)
    assert found.passed
    assert found.findings


def test_the_price_is_charged_once_and_the_noise_is_that_of_a_histogram() -> None:
    price = Cost.of(epsilon="0.7")
    made = design(tc.Regression("works ~ sex", method="cells"), Public(SCHEMA, "replace-one", ROWS), price)
    other = design(tc.Histogram(["works", "sex"]), Public(SCHEMA, "replace-one", ROWS), price)
    assert [one.cost.epsilon for one in made.columns] == [Fraction(7, 10)]
    assert (made.columns[0].law, made.columns[0].form) == (other.columns[0].law, other.columns[0].form)


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize(
    ("formula", "model"),
    [
        ("works ~ sex*grade + region", "logistic"),
        ("grade ~ sex + region - 1", "linear"),
        ("visits ~ sex + grade", "poisson"),
        ("works ~ region", "probit"),
        ("works ~ grade + I(grade ** 2)", "logistic"),
    ],
)
def test_it_is_the_same_question(formula: str, model: str, relation: str) -> None:
    """Without noise the fit to the counts is that of the rows: the same terms, coefficients and standard errors."""
    rows = table(4_000)
    query = tc.Regression(formula, model=model, method="cells", where="grade > 0")
    public = Public(SCHEMA, relation, 4_000 if relation == "replace-one" else None)
    shape = design(query, public, Cost.of(rho=1_000))
    counts = np.array(integers(shape, open_source(rows, SCHEMA))[0])
    found = simulated_fit(shape, counts)
    own = rows_of(query, rows, SCHEMA, Cost.of(rho=1), relation)
    values, errors = own.ordinary()
    assert list(found.names) == list(own.layout.names)
    # numbers are on a grid of 1 / 1024 there
    assert found.values == pytest.approx(values, abs=0.02 * errors.max())
    robust = 0.6 if model == "poisson" else 0.15  # a sandwich, and the usual ones
    assert found.std_errors == pytest.approx(errors, rel=robust)


def simulated_fit(shape: Any, counts: np.ndarray) -> Any:
    from tacit.method.regression.estimate_cells import fitted_cells

    return fitted_cells(simulated(shape, (counts,))).fit


def test_a_person_weighs_one_as_in_sums_over_rows() -> None:
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(1_500), rng.integers(1, 5, 1_500))
    rows = {**table(len(who), 2), "who": who}
    schema = tc.Schema({"who": tc.PrivacyUnit(4), **SCHEMA})
    query = tc.Regression("works ~ sex + grade", model="logistic", method="cells")
    shape = design(query, Public(schema, "replace-one", 1_500), Cost.of(rho=1_000))
    found = simulated_fit(shape, np.array(integers(shape, open_source(rows, schema))[0]))
    values, errors = rows_of(query, rows, schema, Cost.of(rho=1)).ordinary()
    assert found.values == pytest.approx(values, abs=0.02 * errors.max())
    # those of one row a person: at most too large
    assert (found.std_errors > errors).all()


def test_intervals_hold_with_both_errors() -> None:
    """In 60 tables; where 95 % of intervals cover, fewer than 46 of 60 do with probability 2e-7."""
    query = tc.Regression("works ~ sex + grade", model="logistic", method="cells")
    shape = design(query, Public(SCHEMA, "replace-one", 1_000), Cost.of(epsilon="0.3"))
    rng, held = np.random.default_rng(9), np.zeros(3)
    for seed in range(60):
        rows = table(1_000, 100 + seed)
        eta = 0.4 * (rows["sex"] == "m") + 0.2 * (rows["grade"] - 2)
        rows["works"] = rng.random(1_000) < 1 / (1 + np.exp(-eta))
        places = np.ravel_multi_index(
            (rows["works"].astype(int), (rows["sex"] == "m").astype(int), rows["grade"]), (2, 2, 5)
        )
        counts = np.bincount(places, minlength=20)
        found = simulated_fit(shape, (counts + shape.columns[0].law.sample(20, rng))[:, None])
        assert np.diag(found.cov_privacy).min() > 0
        held += np.abs(found.values - [-0.4, 0.4, 0.2]) <= 1.96 * found.std_errors
    assert held.min() >= 46, held


# What it tells --------------------------------------------------------------------------------------------------------


def test_the_estimate_is_of_the_same_kind() -> None:
    release = tc.Curator(table(ROWS), SCHEMA, budget=tc.Budget(epsilon=2)).release(FEW, epsilon=1)
    model = release.estimate()
    assert model.terms == ("Intercept", "sex[T.m]", "region[T.e]", "region[T.s]", "region[T.unknown]")
    assert (model.std_errors > 0).all()
    assert (np.diag(model.fit.cov_privacy) > 0).all()
    assert model.test(column="sex").p_value < 1e-3
    assert 0 < model.predict({"sex": ["f"], "region": ["n"]}).values[0] < 1
    assert "sex" in str(model.marginal_effects().terms)
    assert "released counts of the crossed levels" in tc.methods(model)
    assert "Logistic regression" in str(release)
    with pytest.raises(InferenceError) as refused:
        release.estimate("table")
    assert refused.value.code == "I09"


def test_documents_say_which_way_was_taken_and_are_read_again() -> None:
    assert tc.Regression("works ~ sex").to_dict() == {"query": "Regression", "formula": "works ~ sex"}
    words = FEW.to_dict()
    assert words["method"] == "auto"
    assert query_from_dict(words) == FEW
    curator = tc.Curator(table(ROWS), SCHEMA, budget=tc.Budget(epsilon=2))
    made = curator.release(FEW, epsilon=1)
    assert curator.release(FEW, epsilon=1).charge == made.charge  # asked again, for nothing
    assert (made.kind, made.query.method, made.mechanism) == (KIND, "cells", "regression-cells/1")
    again: Any = release_from_dict(made.to_dict())
    assert again == made
    assert again.estimate().values.tolist() == made.estimate().values.tolist()


def damaged(words: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return {**words, **changed}


def test_a_document_that_does_not_fit_its_question_is_refused() -> None:
    words = tc.Curator(table(ROWS), SCHEMA, budget=tc.Budget(epsilon=2)).release(FEW, epsilon=1).to_dict()
    scores = tc.Curator(table(ROWS), SCHEMA, budget=tc.Budget(epsilon=2)).release(
        tc.Regression("works ~ sex + region", model="logistic"), epsilon=1
    )
    for wrong in (
        damaged(words, query={**words["query"], "method": "auto"}),
        damaged(words, query={key: one for key, one in words["query"].items() if key != "method"}),
        damaged(words, levels=words["levels"][::-1]),
        damaged(scores.to_dict(), query=words["query"]),
    ):
        with pytest.raises(ReleaseError):
            release_from_dict(wrong)


# Parties and plans ----------------------------------------------------------------------------------------------------


def test_parties_of_one_way_combine_and_of_two_do_not() -> None:
    asked = tc.Regression("works ~ sex + grade", model="logistic", method="cells")
    curators = [
        tc.Curator(table(6_000, seed), SCHEMA, name=name, budget=tc.Budget(epsilon=9))
        for name, seed in (("a", 1), ("b", 2), ("c", 3))
    ]
    made = [one.release(asked, epsilon=2) for one in curators]
    whole = tc.combine(made).estimate()
    assert (np.abs(whole.values - [-0.4, 0.4, 0.2]) < 6 * whole.std_errors).all()
    assert (whole.std_errors < made[0].estimate().std_errors).all()
    other = curators[0].release(tc.Regression("works ~ sex + grade", model="logistic"), epsilon=2)
    with pytest.raises(TacitError, match="C12"):
        tc.combine([made[1], other])


def test_a_study_leaves_nothing_to_a_partys_number_of_rows() -> None:
    assert studies._for_parties(FEW, None) == tc.Regression("works ~ sex + region", model="logistic")  # type: ignore[attr-defined]
    cells = tc.Regression("works ~ sex", method="cells")
    assert studies._for_parties(cells, 12) == cells  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (FEW, 'method="auto" takes the 16 cells: variances are expected to be'),
        (tc.Regression("works ~ sex + age", method="auto"), "takes sums over rows: not all columns have few levels"),
        (
            tc.Regression("works ~ sex*region + grade + visits", method="auto"),
            "takes sums over rows: variances are expected to be",
        ),
    ],
)
def test_a_plan_says_which_way_is_taken_and_why(query: tc.Regression, words: str) -> None:
    made = tc.plan(query, SCHEMA, rows=ROWS, rho="0.01")
    assert words in made.to_text()
    assert made.parts[0].narrower is None
    assert all(np.isfinite(one.width) for one in made.parts[0].terms)


def test_a_plan_of_cells_has_the_errors_of_releases() -> None:
    rows = table(ROWS)
    told = {
        "works": {"true": float(rows["works"].mean())},
        "sex": {"m": float((rows["sex"] == "m").mean())},
        "grade": {"mean": float(rows["grade"].mean()), "sd": float(rows["grade"].std())},
    }
    query = tc.Regression("works ~ sex + grade", model="logistic", method="cells")
    made = tc.plan(query, SCHEMA, rows=ROWS, epsilon="0.1", expect=told)
    found = tc.Curator(rows, SCHEMA, budget=tc.Budget(epsilon=1)).release(query, epsilon="0.1").estimate()
    widths = np.array([one.width for one in made.parts[0].terms])
    # standard errors of releases differ by what noise does to the curvature, some percent here
    assert widths == pytest.approx(2 * 1.96 * found.std_errors, rel=0.25)


def test_a_file_asks_for_it(tmp_path: Any) -> None:
    place = tmp_path / "ask.toml"
    place.write_text(
        'tacit = 1\n[table]\nname = "t"\nrows = 10_000\n[data]\npath = "t.parquet"\n[budget]\nepsilon = 1\n'
        '[schema]\nworks = { type = "Boolean" }\nsex = { type = "Category", levels = ["f", "m"] }\n'
        '[spend]\nepsilon = 1\n[ask.work]\nquery = "Regression"\nformula = "works ~ sex"\nmethod = "auto"\n'
    )
    found: Any = studies.read(place)
    assert found.asks["work"] == tc.Regression("works ~ sex", method="auto")
