"""Regressions of persons with several rows: the same integers on every engine, the contract, every price, bad cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from boxed_rows import boxed_rows
from every_engine import columns_of
from test_regression import COLUMNS, PLAIN, QUERIES, SCHEMA, somewhere, table

import tacit as tc
from tacit.method.regression.estimate import fit_release
from tacit.method.regression.mechanism import next_question
from tacit.method.regression.mechanism_rows import exact_part
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.source import open_source
from tacit.testing.contract import contract, sensitivity
from tacit.testing.findings import PRICES
from tacit.testing.neighbouring_tables import pairs
from tacit.testing.simulated_regressions import rows_of

UNIT = tc.PrivacyUnit(3)
PERSONS = tc.Schema({"who": UNIT, **SCHEMA})
FEW = tc.Schema({"who": UNIT, **PLAIN})


def visits(kind: str, rows: int = 400) -> pa.Table:
    """Rows of 90 persons, of some one, of some many, of those without a name 8; some of them have no complete row."""
    rng = np.random.default_rng(7)
    who = [None if u < 0.02 else int(90 * u**2) for u in rng.random(rows)]
    named = [None if one is None else f"Pérson {one}" for one in who]
    data = table(rows)
    column = pa.array(named, pa.string()) if kind == "text" else pa.array(who, pa.int64())
    return data.append_column("who", column)


def sources(data: pa.Table, path: Path, kinds: tuple[str, ...]) -> list[Any]:
    pq.write_table(data, path / "t.parquet")
    pa.csv.write_csv(data, path / "t.csv")
    made = {"parquet": path / "t.parquet", "csv": path / "t.csv", "arrow": data, "polars": pl.from_arrow(data)}
    made |= {"pandas": data.to_pandas(types_mapper=pd.ArrowDtype), "relation": duckdb.connect().from_arrow(data)}
    return [made[kind] for kind in kinds]


@pytest.mark.long
@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("query", "kind", "kinds"),
    [
        (QUERIES[0], "number", ("parquet", "csv", "arrow", "polars", "pandas", "relation")),
        (QUERIES[1], "number", ("polars",)),
        (QUERIES[4], "text", ("csv", "polars")),
        (QUERIES[5], "text", ("parquet", "polars")),
    ],
    ids=lambda given: str(getattr(given, "formula", "")),
)
def test_every_engine_adds_up_the_same_integers_of_persons(
    query: Any, kind: str, kinds: tuple[str, ...], tmp_path: Path
) -> None:
    """The parts of releases of before; `test_norm_person_forms` has those of now."""
    data = visits(kind)
    made = boxed_rows(query, columns_of(data), PERSONS, Cost.of(epsilon=1), "add-remove")
    assert made.size == len(set(data["who"].to_pylist()))
    assert made.who is not None
    assert 30 < len(np.unique(made.who)) < made.size
    shape = somewhere(made.shape)
    expected = [(made.sums(column),) for column in shape.columns]
    assert len({abs(x) for x in expected[1][0]}) > 4
    for source in sources(data, tmp_path, kinds):
        opened = open_source(source, PERSONS)
        assert [exact_part(column, shape, opened) for column in shape.columns] == expected, type(source)


@pytest.mark.long
def test_spark_adds_up_the_same_integers_of_persons(spark: Any, tmp_path: Path) -> None:
    """Of parts of now, each as the noisy parts before it aim it, and of parts of before."""
    data, query = visits("number", 120), tc.Regression("income ~ age")
    pq.write_table(data, tmp_path / "t.parquet")
    frame = spark.read.parquet(str(tmp_path / "t.parquet"))
    former, made = (
        rows(query, columns_of(data), PERSONS, Cost.of(rho=1), "add-remove") for rows in (boxed_rows, rows_of)
    )
    parts = made.release(np.random.default_rng(1)).parts
    asked = [next_question(column, parts[:place], made.shape) for place, column in enumerate(made.shape.columns)]
    for shape, columns in ((made.shape, asked), (somewhere(former.shape), somewhere(former.shape).columns)):
        for column in columns:
            found = exact_part(column, shape, open_source(frame, PERSONS))
            assert found == exact_part(column, shape, open_source(tmp_path / "t.parquet", PERSONS))


def test_a_row_a_person_is_a_row() -> None:
    """Where every person has one row, a person's means are the row's integers, and products of them its squares."""
    data = table().append_column("who", pa.array(range(400)))
    for query in (QUERIES[0], QUERIES[4]):
        alone, persons = (
            boxed_rows(query, columns_of(data), schema, Cost.of(rho=1), "add-remove") for schema in (SCHEMA, PERSONS)
        )
        one, other = (made.shape.columns for made in (alone, persons))
        size = alone.layout.size
        for first, second in zip(one[:-1], other[:-1], strict=True):
            assert [x // w[0] for x, w in zip(alone.sums(first), first.form.matrix, strict=True)] == [
                x // w[0] for x, w in zip(persons.sums(second), second.form.matrix, strict=True)
            ]
        scores = [made.sums(somewhere(made.shape).columns[-1])[: size + 1] for made in (alone, persons)]
        assert scores[0][:size] == scores[1][:size]


@pytest.mark.parametrize("price", [{"rho": 5}, {"epsilon": 40}], ids=["normal", "pure"])
def test_parts_of_before_are_still_read(price: dict[str, Any]) -> None:
    """Coefficients within six standard errors, which are no wider than of persons a fifth as many."""
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(6_000), 1 + rng.poisson(2, 6_000))
    x = rng.uniform(-1, 1, len(who))
    y = 5 + x + rng.normal(0, 0.5, 6_000)[who] + rng.normal(0, 0.7, len(who))
    data = {"who": who, "x": x, "y": y, "m": rng.random(len(who)) < 1 / (1 + np.exp(-x)), "k": np.zeros(len(who))}
    for query, form, truth in (
        (tc.Regression("y ~ x"), "person-scores", [5, 1]),
        (tc.Regression("m ~ x", model="logistic"), "person-scored", [0, 1]),
    ):
        rows = boxed_rows(query, data, FEW, Cost.of(**price))
        release = rows.release(rng)
        assert {one.form for one in release.parts[1:]} == {form}
        found = fit_release(release)
        assert (np.abs(found.values - truth) < 6 * found.std_errors).all()
        assert (found.std_errors < 5**0.5 * rows.ordinary()[1]).all()
        assert any("between persons" in note for note in found.notes)


EVERY = {"column-moments", "norm-products-2", "person-score-matrices"}
"""Forms of every model: the first two, as rows have them, and what is beside the scores at a pure price."""
MODELS: dict[str, tuple[Any, set[str]]] = {
    "linear": (tc.Real(0, 10), {"person-norm-scores", "residual-vectors"}),
    "logistic": (tc.Boolean(), {"person-norm-scored", "score-vectors"}),
    "poisson": (tc.Integer(0, 16), {"person-norm-weighed", "count-score-vectors"}),
}
"""A response of each model, and its own forms."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "formula", "where"),
    [("linear", "y ~ x + m", "m or x > 0.5"), *((model, "y ~ x", None) for model in MODELS)],
)
def test_the_contract_of_persons(model: Any, formula: str, where: str | None) -> None:
    response, forms = MODELS[model]
    columns: dict[str, Any] = {"who": UNIT, "y": response, "x": tc.Real(-1, 1)}
    schema = tc.Schema(columns | ({"m": tc.Boolean()} if where else {}))
    found = contract(tc.Regression(formula, model=model, where=where), schema, tables=18, draws=20_000)
    assert {one.form for one in found.findings} == EVERY | forms


@pytest.mark.parametrize("relation", ["replace-one", pytest.param("add-remove", marks=pytest.mark.long)])
def test_persons_are_as_far_apart_as_declared(relation: Any) -> None:
    """Of a response of two values, and a number: every bound is nearly attained, and none is passed."""
    schema = tc.Schema({"who": UNIT, "y": tc.Boolean(), "x": tc.Real(-1, 1)})
    material, forms = list(pairs(schema, relation, 6, np.random.default_rng(0))), MODELS["linear"][1]
    found = sensitivity(tc.Regression("y ~ x"), schema, relation, PRICES, material)
    assert {one.form for one in found} == EVERY | forms
    for one in found:
        assert 0.98 * one.declared < one.reached <= one.declared, one


@pytest.mark.long
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize(
    "query",
    [
        tc.Regression("income ~ region*ok"),
        tc.Regression("ok ~ region + age", model="probit"),
        tc.Regression("visits ~ region + age", model="poisson"),
    ],
    ids=lambda query: query.model,
)
def test_no_pair_of_persons_is_further_apart_than_declared(query: Any, relation: Any) -> None:
    """Categories and interactions: their bounds are not attained, and never passed."""
    names = ("income", "age", "region", "ok", "visits")
    schema = tc.Schema({"who": UNIT, **{name: COLUMNS[name] for name in names}})
    for one in sensitivity(query, schema, relation, PRICES, list(pairs(schema, relation, 8, np.random.default_rng(1)))):
        assert 0.1 * one.declared < one.reached <= one.declared, one


@pytest.mark.long
@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("price", "neighbors"),
    [({"epsilon": 2}, "replace-one"), ({"rho": 0.2}, "replace-one"), ({"rho": 0.2}, "add-remove")],
)
def test_persons_of_nothing_answer_all_the_same(price: dict[str, Any], neighbors: Any) -> None:
    """No row, missing cells only, nobody named, a constant: a release, and a reason instead of numbers."""
    nothing: Any = [None, np.nan, np.inf, None]
    kind: dict[str, Any] = {"epsilon": 9} if "epsilon" in price else {"rho": 9}
    for column in ([] if neighbors == "add-remove" else nothing, [1e300, -1e300, 0.1, 0.2]):
        data = pd.DataFrame({name: np.array(column, dtype=float) for name in ("x", "y")})
        data["m"], data["k"] = np.ones(len(column), dtype=np.bool_), np.zeros(len(column), dtype=np.int64)
        data["who"] = np.array([1.0, 1.0, np.nan, 2.0])[: len(column)]
        curator = tc.Curator(data, FEW, budget=tc.Budget(**kind, neighbors=neighbors))
        for query in (tc.Regression("y ~ x"), tc.Regression("m ~ x", model="logistic")):
            found = curator.release(query, **price).fit()
            assert all(found.reasons), found.values
            assert "persons" in str(found.reasons[0]) or "numbers" in str(found.reasons[0])
            assert np.isnan(found.values).all()


def test_from_visits_to_coefficients(tmp_path: Path) -> None:
    """A ledger, a file and JSON; persons are named where rows would be."""
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(6_000), 1 + rng.poisson(2, 6_000))
    x, m = rng.uniform(-1, 1, len(who)), (rng.random(6_000) < 0.5)[who]
    y = 5 + x + m + rng.normal(0, 0.5, 6_000)[who] + rng.normal(0, 0.7, len(who))
    data = {"who": who, "x": x, "m": m, "y": y, "k": np.zeros(len(who))}
    curator = tc.Curator(data, FEW, name="visits", budget=tc.Budget(rho=3), ledger=tmp_path / "visits.ledger")
    query = tc.Regression("y ~ x + m")
    release = curator.release(query, rho=0.5)
    assert curator.release(query, rho=0.5) == release
    assert release.rows == 6_000
    again = release_from_dict(json.loads(release.to_json()))
    assert again == release
    assert again.to_json() == release.to_json()
    found = release.fit()
    assert (np.abs(found.values - [5, 1, 1]) < 6 * found.std_errors).all()
    words = str(release)
    assert "6,000 persons" in words
    assert "persons counted" in words
    assert "Standard errors are between persons" in words
    assert "rows counted" not in words
    assert release.estimate().marginal_effects().value == pytest.approx(found.values[1])
    plan = tc.plan(query, FEW, rows=6_000, rho=0.5)
    assert plan.numbers == sum(len(part.integers[0]) for part in release.parts)
    assert "6,000 persons" in str(plan)


def test_parties_of_persons_combine() -> None:
    """Coefficients of three parties, whose persons differ; all said of persons."""
    rng, made = np.random.default_rng(5), {}
    for name in ("one", "two", "three"):
        who = np.repeat(np.arange(3_000), 1 + rng.poisson(2, 3_000))
        x = rng.uniform(-1, 1, len(who))
        y = 5 + x + rng.normal(0, 0.5, 3_000)[who] + rng.normal(0, 0.7, len(who))
        data = {"who": who, "x": x, "y": y, "m": x > 0, "k": np.zeros(len(who))}
        made[name] = tc.Curator(data, FEW, name=name, budget=tc.Budget(rho=1)).release(tc.Regression("y ~ x"), rho=0.5)
    found = tc.combine(made).estimate()
    best = np.min([one.fit().std_errors for one in made.values()], axis=0)
    assert (found.std_errors < 0.8 * best).all()
    assert (np.abs(found.values - [5, 1]) < 6 * found.std_errors).all()
