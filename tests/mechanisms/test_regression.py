"""Regression as a question: the same integers on every engine, the contract, both relations, every price, bad cells."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from boxed_rows import boxed_rows
from every_engine import assert_every_engine_adds_up, columns_of

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.errors import InferenceError, QueryError
from tacit.method.regression import design as regression_design
from tacit.method.regression.designs import scores_design
from tacit.method.regression.mechanism import next_question
from tacit.method.regression.mechanism_rows import exact_part
from tacit.method.regression.pilots.glm_pilot import ScorePoint, integer_score, link_of
from tacit.method.regression.row_sums.noisy_scores import scaled_terms
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.release.query import query_from_dict
from tacit.rows.row_products import ClippedResidual
from tacit.source import open_source
from tacit.study.curator_file import load
from tacit.testing.contract import contract, sensitivity
from tacit.testing.findings import PRICES
from tacit.testing.neighbouring_tables import pairs
from tacit.testing.simulated_regressions import rows_of

COLUMNS: dict[str, Any] = {
    "income": tc.Real(0, 100_000, units="USD"),
    "age": tc.Real(18, 93),
    "educ": tc.Integer(1, 16, missing=9),
    "visits": tc.Integer(0, 700),
    "sex": tc.Category({0: "male", 1: "female"}),
    "region": tc.Category(["north", "south", "east"], missing="unknown"),
    "ok": tc.Boolean(),
    "sure": tc.Boolean(missing=True),
    "day": tc.Date("2024-01-01", "2024-12-31"),
    "log income": tc.Real(0, 13, computed="log(income)"),
}
SCHEMA = tc.Schema(COLUMNS)
QUERIES = [
    tc.Regression("income ~ age + educ + sex + region"),
    tc.Regression("income ~ age*region + visits*educ + I(age**2)", where="sure or day > '2024-03-01'"),
    tc.Regression("`log income` ~ ok*sex + day - 1"),
    tc.Regression("ok ~ region*sex + age"),
    tc.Regression("ok ~ age + sex*educ", model="logistic", where="sure"),
    tc.Regression("sure ~ region + age", model="probit"),
    tc.Regression("visits ~ age*ok + region", model="poisson", where="sure"),
    tc.Regression("log1p(income) ~ sqrt(visits - 50)*ok + cut(age, [30, 65])*sex + month(day) + I(visits/educ)"),
    tc.Regression("I(visits > 99) ~ recode(region, {'north': 'n', 'east': 'e'}) + I(log(age)**2)", model="logistic"),
]


def table(rows: int = 400, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)

    def some(cells: list[Any], kind: Any) -> pa.Array:
        return pa.array([cells[i] for i in rng.integers(0, len(cells), rows)], kind)

    wild = [None, np.nan, np.inf, -np.inf, -5.0, 18.0, 33.0, 55.5 - 1e-9, 92.999, 93.0, 120.0, *rng.uniform(18, 93, 40)]
    money = [None, 0.0, 12_000.0, 1e9, *rng.uniform(0, 1e5, 40)]
    return pa.table(
        {
            "income": some(money, pa.float64()),
            "age": some(wild, pa.float64()),
            "educ": some([None, 0, *range(1, 18)], pa.int64()),
            "visits": some([None, -1, *range(0, 750, 50)], pa.int64()),
            "sex": some([None, 0, 1, 0, 1, 0, 1, 7], pa.int64()),
            "region": some([None, "north", "south", "east", "west"], pa.string()),
            "ok": some([None, True, False, True, False], pa.bool_()),
            "sure": some([None, True, False], pa.bool_()),
            "day": some([None, date(2023, 5, 1), date(2024, 1, 1), date(2024, 3, 1), date(2024, 12, 31)], pa.date32()),
        }
    )


def with_odd_score(shape: Measurement) -> Measurement:
    """The second part scored at coefficients that are not round."""
    query = cast(tc.Regression, shape.query)
    made = cast(ProductPart, shape.columns[0]).layout
    terms = scaled_terms(made)
    chosen = link_of(query.model, made).with_grid(-1.0, 4.0, 2.5, 0.3)
    b = 0.7 - 0.31 * np.arange(len(terms.matrix))
    score, stored = integer_score(ScorePoint(b, chosen.cuts()[len(chosen.cuts()) // 2], chosen), terms, 512)
    first, second = shape.columns[0], scores_design.with_score(cast(ProductPart, shape.columns[-1]), score, stored)
    return Measurement(**{**vars(shape), "columns": (first, second)})


def somewhere(shape: Measurement) -> Measurement:
    """The second part scored at something that is not round."""
    if cast(tc.Regression, shape.query).model != "linear":
        return with_odd_score(shape)
    first, second = shape.columns
    size = len(cast(ProductPart, second).question.coordinates)
    weights = [(-1) ** j * (12_345_678 + 987_654 * j) for j in range(size - 1)]
    second = regression_design.with_residual(
        cast(ProductPart, second), ClippedResidual((*weights, 400_000_001), 29, 512)
    )
    return Measurement(**{**vars(shape), "columns": (first, second)})


@pytest.mark.sample(8)
@pytest.mark.parametrize("query", QUERIES, ids=lambda q: q.formula)
def test_every_engine_adds_up_the_same_integers(query: Any, tmp_path: Path) -> None:
    data = table()
    made = boxed_rows(query, columns_of(data), SCHEMA, Cost.of(epsilon=1), "add-remove")
    assert 50 < len(made.z) < 400
    shape = somewhere(made.shape)
    expected = [(made.sums(column),) for column in shape.columns]
    assert len({abs(x) for x in expected[1][0]}) > 4
    assert_every_engine_adds_up(expected, shape.columns, shape, data, SCHEMA, tmp_path)


LINEAR = [one for one in QUERIES if one.model == "linear"]


@pytest.mark.parametrize(
    "query", [LINEAR[0], *(pytest.param(one, marks=pytest.mark.long) for one in LINEAR[1:])], ids=lambda q: q.formula
)
def test_every_engine_adds_up_the_same_integers_of_norm_clipped_rows(query: Any, tmp_path: Path) -> None:
    """Each part as it is asked for after the noisy parts before it: scales, axes and a fit that are not round."""
    data = table()
    made = rows_of(query, columns_of(data), SCHEMA, Cost.of(rho=30), "add-remove")
    release = made.release(np.random.default_rng(1))
    asked = [
        next_question(column, release.parts[:place], made.shape) for place, column in enumerate(made.shape.columns)
    ]
    # aimed, not the placeholders
    assert all(one.form != column.form for one, column in zip(asked[1:], made.shape.columns[1:], strict=True))
    expected = [(made.sums(column),) for column in asked]
    assert all(len({abs(x) for x in one[0]}) > 4 for one in expected)
    assert_every_engine_adds_up(expected, asked, made.shape, data, SCHEMA, tmp_path)


@pytest.mark.long
def test_spark_adds_up_the_same_integers_of_a_regression(spark: Any, tmp_path: Path) -> None:
    pq.write_table(table(120), tmp_path / "t.parquet")
    frame = spark.read.parquet(str(tmp_path / "t.parquet"))
    for query in (*QUERIES[:2], QUERIES[-1]):
        shape = somewhere(boxed_rows(query, columns_of(table(120)), SCHEMA, Cost.of(rho=1), "add-remove").shape)
        for column in shape.columns:
            found = exact_part(column, shape, open_source(frame, SCHEMA))
            assert found == exact_part(column, shape, open_source(tmp_path / "t.parquet", SCHEMA))


PLAIN = tc.Schema({"y": tc.Real(0, 10), "x": tc.Real(-1, 1), "m": tc.Boolean(), "k": tc.Integer(0, 20)})


@pytest.mark.long
@pytest.mark.parametrize(
    "query",
    [
        pytest.param(tc.Regression("y ~ x + m"), marks=pytest.mark.long),
        tc.Regression("y ~ x + m", where="m or x > 0.5"),
    ],
)
def test_the_contract(query: Any) -> None:
    found = contract(query, PLAIN, tables=40, draws=40_000)
    split, norms = {"residual-vectors", "residual-matrices-4"}, {"column-moments", "norm-products-3", "norm-scores-5"}
    assert {one.form for one in found.findings} == split | norms


@pytest.mark.long
@pytest.mark.parametrize("relation", ["replace-one", pytest.param("add-remove", marks=pytest.mark.long)])
def test_no_pair_of_tables_is_further_apart_than_declared(relation: Any) -> None:
    """Categories and interactions: their bounds are not attained, and never passed."""
    schema = tc.Schema({name: COLUMNS[name] for name in ("income", "age", "sex", "region", "ok")})
    material = list(pairs(schema, relation, 30, np.random.default_rng(1)))
    for formula in ("income ~ age*region + ok", "income ~ region*sex + age", "sqrt(income) ~ cut(age, [30, 65])*ok"):
        for one in sensitivity(tc.Regression(formula), schema, relation, PRICES, material):
            assert 0.2 * one.declared < one.reached <= one.declared, one


def test_counts_from_question_to_coefficients() -> None:
    rng = np.random.default_rng(4)
    data = {"x": rng.uniform(-1, 1, 5_000), "m": rng.random(5_000) < 0.5, "y": np.zeros(5_000)}
    data["k"] = rng.poisson(np.exp(0.4 + 0.8 * data["x"]))
    curator = tc.Curator(data, PLAIN, budget=tc.Budget(rho=3))
    release = curator.release(tc.Regression("k ~ x + m", model="poisson"), rho=1)
    assert release_from_dict(json.loads(release.to_json())) == release
    assert [part.form for part in release.parts] == ["column-moments", "norm-products-2", *["norm-weighed"] * 3]
    found = release.fit()
    assert (np.abs(found.values - [0.4, 0.8, 0.0]) < 6 * found.std_errors).all()
    assert release.estimate().predict({"x": [0.0], "m": [False]}).values[0] == pytest.approx(np.exp(0.4), rel=0.2)
    assert "Poisson regression" in str(release)


def test_the_contract_of_scores() -> None:
    schema = tc.Schema({"y": tc.Boolean(), "x": tc.Real(-1, 1)})
    found = contract(tc.Regression("y ~ x", model="logistic"), schema, tables=6, draws=20_000)
    first, split = {"column-moments", "norm-products-2", "norm-scored"}, {"score-vectors", "score-matrices"}
    assert {one.form for one in found.findings} == first | split


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("relation", "query"),
    [
        ("replace-one", tc.Regression("sure ~ age*ok", model="logistic")),
        ("add-remove", tc.Regression("ok ~ region + age", model="probit")),
        pytest.param("replace-one", tc.Regression("visits ~ region + age", model="poisson"), marks=pytest.mark.long),
    ],
)
def test_no_pair_of_tables_has_scores_further_apart_than_declared(relation: Any, query: Any) -> None:
    schema = tc.Schema({name: COLUMNS[name] for name in ("sure", "age", "region", "ok", "visits")})
    material = list(pairs(schema, relation, 10, np.random.default_rng(2)))
    for one in sensitivity(query, schema, relation, PRICES, material):
        assert 0.1 * one.declared < one.reached <= one.declared, one


@pytest.mark.parametrize("model", ["linear", "logistic", "probit"])
def test_a_category_of_two_levels_is_a_response(model: Any) -> None:
    """The integers and the noise of a Boolean that is true at the second level; other labels are missing."""
    rng = np.random.default_rng(4)
    age, labels = rng.uniform(20, 60, 500), rng.choice(["no", "yes", "?"], 500, p=[0.6, 0.3, 0.1])
    schema = tc.Schema({"ill": tc.Category(["no", "yes"]), "age": tc.Real(20, 60)})
    other = tc.Schema({"ill": tc.Boolean(), "age": schema["age"]})
    truth = np.array([{"no": False, "yes": True}.get(label) for label in labels], dtype=object)
    query = tc.Regression("ill ~ age", model=model)
    one = rows_of(query, {"ill": labels, "age": age}, schema, Cost.of(rho=1))
    two = rows_of(query, {"ill": truth, "age": age}, other, Cost.of(rho=1))
    assert (one.z == two.z).all()
    assert len(one.z) == (labels != "?").sum()
    for mine, same in zip(one.shape.columns, two.shape.columns, strict=True):
        assert (mine.form.l1, mine.form.l2_squared, mine.law) == (same.form.l1, same.form.l2_squared, same.law)
    made = tc.Curator({"ill": labels, "age": age}, schema, budget=tc.Budget(rho=9)).release(query, rho=5)
    assert "response: 1 where ill is yes, 0 where it is no" in made.fit().notes
    assert release_from_dict(made.to_dict()).fit().names == ("Intercept", "age")
    with pytest.raises(QueryError) as refused:
        tc.plan(query, tc.Schema({**schema, "ill": tc.Category(["a", "b", "c"])}), rows=500, rho=1)
    assert refused.value.code in ("Q86", "Q106")


def test_models_and_columns_are_refused() -> None:
    persons = tc.Schema({"who": tc.PrivacyUnit(2), "x": tc.Real(0, 1), "y": tc.Integer(0, 9)})
    for query, schema, code in (
        (tc.Regression("y ~ x + who", model="poisson"), persons, "Q86"),
        (tc.Regression("y ~ who"), persons, "Q86"),
        (tc.Regression("y ~ x"), tc.Schema({"x": tc.Real(), "y": tc.Real(0, 1)}), "Q12"),
        (tc.Regression("y ~ z"), PLAIN, "Q10"),
        (tc.Regression("y ~ x", where="z > 1"), PLAIN, "Q10"),
        (tc.Regression("y ~ x", model="logistic"), PLAIN, "Q106"),
        (tc.Regression("y ~ x", model="probit"), PLAIN, "Q106"),
        (tc.Regression("y ~ x", model="poisson"), PLAIN, "Q117"),
        (tc.Regression("k ~ x", model="poisson"), tc.Schema({"x": tc.Real(0, 1), "k": tc.Integer(-1, 9)}), "Q117"),
        (tc.Regression("k ~ x", model="poisson"), tc.Schema({"x": tc.Real(0, 1), "k": tc.Integer(0, 1_025)}), "Q118"),
    ):
        with pytest.raises(QueryError) as refused:
            design(query, Public(schema, "add-remove", None), Cost.of(rho=1))
        assert refused.value.code == code
    for model in ("lasso", "Logistic", 3):
        with pytest.raises(QueryError) as refused:
            tc.Regression("y ~ x", model=cast(Any, model))
        assert refused.value.code == "Q88"
        assert 'model="' in str(refused.value.hint)
    with pytest.raises(QueryError) as refused:
        query_from_dict({"query": "Regression"})
    assert refused.value.code == "Q03"
    with pytest.raises(InferenceError) as impossible:
        tc.testing.simulate(tc.Regression("y ~ x"), {"x": [0.0], "y": [1.0], "m": [True], "k": [1]}, PLAIN, rho=1)
    assert impossible.value.code == "I70"


@pytest.mark.long
@pytest.mark.parametrize("price", [{"epsilon": 2}, {"rho": 0.2}, {"epsilon": 2, "delta": 1e-6}])
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_tables_of_nothing_answer_all_the_same(price: dict[str, Any], neighbors: Any) -> None:
    """No row, missing cells only, a constant: a release, and a reason instead of numbers."""
    nothing: Any = [None, np.nan, np.inf, None]
    kind: dict[str, Any] = {"epsilon": 9} if len(price) == 1 and "epsilon" in price else {"rho": 9}
    for column in ([] if neighbors == "add-remove" else nothing, nothing, [0.25] * 4, [1e300, -1e300, 0.1, 0.2]):
        data = pd.DataFrame({name: np.array(column, dtype=float) for name in ("x", "y")})
        data["m"] = np.ones(len(column), dtype=np.bool_)
        data["k"] = np.zeros(len(column), dtype=np.int64)
        curator = tc.Curator(data, PLAIN, budget=tc.Budget(**kind, neighbors=neighbors))
        models = (tc.Regression("m ~ x", model="logistic"), tc.Regression("k ~ x", model="poisson"))
        for query in (tc.Regression("y ~ x"), *models):
            found = curator.release(query, **price).fit()
            assert all(found.reasons), found.values
            assert np.isnan(found.values).all()


def test_from_question_to_coefficients(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    n = 20_000
    age, male, region = rng.uniform(18, 93, n), rng.random(n) < 0.5, rng.choice(["north", "south"], n)
    income = 10_000 + 400 * age + 5_000 * male + 3_000 * (region == "south") + rng.normal(0, 10_000, n)
    data = pd.DataFrame({"age": age, "sex": np.where(male, 0, 1), "region": region, "income": income})
    schema = tc.Schema({name: COLUMNS[name] for name in ("age", "sex", "region", "income")})
    curator = tc.Curator(data, schema, name="people", budget=tc.Budget(rho=3), ledger=tmp_path / "people.ledger")
    query = tc.Regression("income ~ age + sex + region")
    release = curator.release(query, rho=1)
    assert curator.release(query, rho=1) == release
    again = release_from_dict(json.loads(release.to_json()))
    assert again == release
    assert again.to_json() == release.to_json()
    found = release.fit()
    assert found.names == (
        "Intercept",
        "age",
        "sex[T.female]",
        "region[T.south]",
        "region[T.east]",
        "region[T.unknown]",
    )
    assert found.reasons[0] is not None  # nobody lives in the east, and nobody knows it
    fewer = curator.release(tc.Regression("income ~ age + sex", where="region == 'south'"), rho=1).fit()
    truth = np.array([18_000, 400, -5_000])
    assert (np.abs(fewer.values - truth) < 6 * fewer.std_errors).all()
    assert fewer.std_errors[1] < 12
    assert fewer.criteria["scale"] == pytest.approx(10_000, rel=0.1)
    assert fewer.criteria["rows"] == pytest.approx((region == "south").sum(), abs=200)
    assert 0.3 < fewer.criteria["explained"] < 0.6
    assert "Regression of" not in str(release)
    assert "linear" in str(release).lower()
    assert list(release.estimate().to_frame().columns)[:2] == ["estimate", "std_error"]


def test_the_words_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ask.toml"
    path.write_text(
        """
tacit = 1
[table]
name = "people"
rows = 5_000
[budget]
rho = 1
[schema]
age = { type = "Real", lower = 18, upper = 93 }
income = { type = "Real", lower = 0, upper = 100_000 }
sex = { type = "Category", levels = ["f", "m"] }
[spend]
rho = 0.5
[ask.wages]
query = "Regression"
formula = "income ~ age * sex"
where = "age > 20"
""",
        encoding="utf-8",
    )
    found = load(path)
    assert found.asks["wages"] == tc.Regression("income ~ age*sex", where="age > 20")


def test_a_plan_says_how_wide_and_when_too_noisy() -> None:
    query = tc.Regression("y ~ x + m")
    good = tc.plan(query, PLAIN, rows=10_000, rho=0.5)
    assert [one.term for one in good.parts[0].terms] == ["Intercept", "x", "m"]
    # sums, squares of both numbers, and rows; products of all four coordinates, far responses; scores, one square, the
    # numbers of clipped residuals and of rows far along each axis, products of three
    assert good.numbers == (3 + 2 + 1) + (10 + 1) + (3 + 3 + 3 + 6)
    assert 1 < good.width / good.width_without_privacy < 1.3
    bad = tc.plan(query, PLAIN, rows=100, rho=0.001)
    assert bad.width == np.inf
    assert "too noisy" in str(bad)
    assert any("too large for any coefficient" in one for one in bad.cautions())
    wanted = tc.plan(query, PLAIN, rows=10_000, width=2 * good.width)
    assert good.width < wanted.width <= 2 * good.width


def test_a_file_without_the_columns_of_a_formula_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ask.toml"
    path.write_text(
        'tacit = 1\n[table]\nname = "p"\nrows = 50\n[budget]\nrho = 1\n[schema]\n'
        'age = { type = "Real", lower = 0, upper = 9 }\n'
        '[spend]\nrho = 0.5\n[ask.wages]\nquery = "Regression"\nformula = "income ~ age"\n',
        encoding="utf-8",
    )
    with pytest.raises(tc.TacitError) as refused:
        load(path)
    assert "income" in str(refused.value)
