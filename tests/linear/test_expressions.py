"""Expressions of a row in formulas: their bounds, their values on every engine, predictions, and what is refused."""

from __future__ import annotations

import json
from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tacit as tc
from tacit.errors import InferenceError, QueryError, ReleaseError
from tacit.fits.regressors import regressors
from tacit.method.regression.estimate_coefficients.terms_at_rows import FormulaTerms
from tacit.method.regression.mechanism_rows import exact_part
from tacit.method.regression.row_sums.product_parts import row_facts
from tacit.planning.expected_regressions import made_up
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.release.query import query_from_dict
from tacit.rows.coordinates import H
from tacit.schema.predicates import syntax
from tacit.schema.predicates.arithmetic import Reference, value
from tacit.schema.predicates.number_bounds import bounds
from tacit.schema.predicates.numeric_expressions import cell_of, number
from tacit.schema.predicates.parser import expression
from tacit.source import open_source
from tacit.testing.simulated_regressions import rows_of

SCHEMA = tc.Schema(
    {
        "cost": tc.Real(1, 5_000, units="USD"),
        "age": tc.Real(18, 93),
        "visits": tc.Integer(0, 20, missing=0),
        "people": tc.Integer(1, 6),
        "z": tc.Real(-2, 3),
        "wide": tc.Real(),
        "region": tc.Category(["n", "s", "e"]),
        "ok": tc.Boolean(),
        "day": tc.Date("2023-01-01", "2024-12-31"),
        "log cost": tc.Real(0, 9, computed="log(cost)"),
        "log1p(age)": tc.Real(0, 1, column="other"),
    }
)


def table(rows: int = 300, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    made: dict[str, Any] = {
        "cost": np.clip(rng.lognormal(5, 1, rows), 1, 5_000),
        "age": rng.uniform(18, 93, rows),
        "visits": rng.integers(0, 21, rows).astype(float),
        "people": rng.integers(1, 7, rows),
        "z": rng.uniform(-2, 3, rows),
        "wide": rng.normal(size=rows),
        "region": rng.choice(["n", "s", "e"], rows),
        "ok": rng.random(rows) < 0.5,
        "day": np.datetime64("2023-01-01") + rng.integers(0, 731, rows),
        "other": rng.random(rows),
    }
    made["visits"][:5] = np.nan
    made["age"][5:9] = np.nan
    return made


def test_terms_are_the_expressions_on_the_rows() -> None:
    """Columns of the design, in their own units, are what NumPy computes of the rows, up to a step of the grid."""
    data = table()
    formula = "log(cost) ~ log1p(visits)*ok + I(age ** 2) + I(cost / people) + cut(age, [30, 65]) + month(day)"
    made = rows_of(tc.Regression(formula + " + I(z > 1) + I(sqrt(cost) ** 3)"), data, SCHEMA, Cost.of(rho=1))
    frame = pd.DataFrame(data)[~np.isnan(data["age"])]
    visits, age, cost = frame["visits"].fillna(0), frame["age"], frame["cost"]
    wanted = {
        "log1p(visits)": np.log1p(visits),
        "ok": frame["ok"],
        "I(age ** 2)": age**2,
        "I(cost / people)": cost / frame["people"],
        "cut(age, [30, 65])[T.[30, 65)]": (age >= 30) & (age < 65),
        "cut(age, [30, 65])[T.[65, 93]]": age >= 65,
        "month(day)": frame["day"].dt.month,
        "I(z > 1)": frame["z"] > 1,
        "I(sqrt(cost) ** 3)": np.sqrt(cost) ** 3,
        "log1p(visits):ok": np.log1p(visits) * frame["ok"],
    }
    assert {*made.layout.names} == {"Intercept", *wanted}
    found = (made.z / H) @ made.layout.terms.T
    for name, column in wanted.items():
        step = 3 * float(np.abs(column.astype(float)).max()) / 2**9
        assert np.abs(found[:, made.layout.names.index(name)] - column).max() <= step, name
    assert np.abs(found[:, -1] - np.log(cost)).max() <= 8.6 / 2**10
    assert (np.abs(made.z) <= np.array(made.layout.bounds)).all()


def test_an_expression_is_the_computed_column_it_stands_for() -> None:
    """The same integers as of a column of the schema, and on engines the same as the reference's."""
    data = table()
    rest = " ~ sqrt(z) + recode(region, {'n': 'a', 's': 'b'})"
    one, other = (
        rows_of(tc.Regression(left + rest), data, schema, Cost.of(rho=1), "add-remove")
        for left, schema in (
            ("log(cost)", SCHEMA),
            ("`log cost`", tc.Schema({**SCHEMA, "log cost": tc.Real(0, float(np.log(5_000)), computed="log(cost)")})),
        )
    )
    # rows where the root or the level is undefined are left out
    frame = pd.DataFrame(data)
    assert len(one.z) == ((frame["z"] >= 0) & frame["region"].isin(["n", "s"])).sum()
    assert (one.z == other.z).all()
    expected = [(one.sums(column),) for column in one.shape.columns]
    for source in (pl.DataFrame(data), frame):
        opened = open_source(source, SCHEMA)
        assert [exact_part(column, one.shape, opened) for column in one.shape.columns] == expected


def test_bounds_hold_whatever_the_columns_are() -> None:
    """No value of a random expression at random cells leaves its interval, which most expressions fill well."""
    rng = np.random.default_rng(3)
    texts = ["log(cost)", "sqrt(z + age)", "abs(z)", "z * (visits - people)", "(z - 1) ** 2", "z ** 3", "cost / people"]
    texts += ["log1p(abs(z) * visits)", "age / (z + 5)", "(visits - 7) ** 4", "sqrt(z)", "1 / (2 + visits) - z"]
    texts += ["year(day)", "month(day)", "quarter(day)", "weekday(day)", "day(day)", "abs(day - day)", "-3 * z"]
    filled = []
    for text in texts:
        said = expression(text)
        cells = {name: cell_of(SCHEMA, name) for name in syntax.columns(said)}
        typed = number(said, cells)
        low, high = bounds(typed)
        columns = {}
        for cell in cells.values():
            assert cell.lower is not None
            assert cell.upper is not None
            ends = rng.choice([0.0, 1.0], 4_000)
            part = np.where(rng.random(4_000) < 0.5, ends, rng.random(4_000))
            x = cell.lower + (cell.upper - cell.lower) * part
            columns[cell] = np.floor(x) if cell.kind == "date" else x
        with np.errstate(all="ignore"):
            x, known = value(typed, {c: (v, np.ones(4_000, bool)) for c, v in columns.items()}, Reference())
        slack = 1e-12 * max(abs(low), abs(high))
        assert (x[known] >= low - slack).all(), text
        assert (x[known] <= high + slack).all(), text
        filled.append((x[known].max() - x[known].min()) / (high - low))
    assert np.mean(np.array(filled) > 0.99) > 0.8


@pytest.mark.parametrize(
    ("formula", "code", "words"),
    [
        ("cost ~ log(visits)", "Q12", "logarithm of what may be 0"),
        ("cost ~ log1p(age)", "Q86", "has a column of that name"),
        ("cost ~ I(age / visits)", "Q12", "divides by what may be 0"),
        ("cost ~ I(1 / z)", "Q12", "divides by what may be 0"),
        ("cost ~ sqrt(wide)", "Q12", "'wide' has no bounds"),
        ("cost ~ I(wide > 1)", "Q12", "'wide' has no bounds"),
        ("cost ~ log(nothing)", "Q10", "'nothing' is not in the schema"),
        ("cost ~ log(region)", "Q61", "not a number"),
        ("cost ~ log1p(ok)", "Q61", "no arithmetic"),
        ("cost ~ sqrt(`log cost`)", "Q86", "itself computed"),
        ("cost ~ I(0 * age)", "Q86", "same in every row"),
        ("cost ~ sqrt(0 - age)", "Q12", "always below 0"),
        ("cost ~ cut(age, [10, 30])", "Q86", "edges do not increase between 18 and 93"),
        ("cost ~ recode(region, {'x': 'a', 's': 'b'})", "Q86", "not a level"),
        ("cost ~ month(age)", "Q61", "takes a Date"),
        ("cut(age, [30, 65]) ~ cost", "Q86", "levels"),
        ("cost ~ I(age ** 4 * age ** 4)", "", ""),
    ],
)
def test_what_has_no_bounds_or_does_not_fit_is_refused(formula: str, code: str, words: str) -> None:
    curator = tc.Curator(table(), SCHEMA, budget=tc.Budget(rho=1))
    if not code:
        assert curator.design(tc.Regression(formula), Cost.of(rho=0.1)).computed
        return
    with pytest.raises(QueryError, match=words) as caught:
        curator.release(tc.Regression(formula), rho=0.1)
    assert caught.value.code == code
    assert curator.remaining == "left 1.00 of 1.00"


@pytest.fixture(scope="module")
def release() -> Any:
    rng = np.random.default_rng(1)
    data = table(20_000, 1)
    data["age"] = rng.uniform(18, 93, 20_000)
    mean = 2 + 0.02 * data["age"] + 0.4 * np.log1p(np.nan_to_num(data["visits"]))
    data["cost"] = np.clip(np.exp(mean + rng.normal(0, 0.5, 20_000)), 1, 5_000)
    schema = tc.Schema({name: SCHEMA[name] for name in ("cost", "age", "visits", "region", "people")})
    curator = tc.Curator(data, schema, name="t", budget=tc.Budget(rho=9))
    question = tc.Regression("log(cost) ~ age + log1p(visits) + cut(people, [3]) + I(age >= 65)")
    assert curator.release(question, rho=2).query == question
    # the same arithmetic is the same question, and free
    again = tc.Regression("log( cost )~ age + I(log1p(visits)) +cut(people,[3])+ I(age>=65)")
    assert query_from_dict({"query": "Regression", "formula": again.formula}) == question
    assert curator.release(again, rho=2).to_json() == curator.release(question, rho=2).to_json()
    return curator.release(question, rho=2)


def test_coefficients_predictions_and_tests_of_expressions(release: Any) -> None:
    found = release.estimate()
    truth = dict(zip(found.terms, [2, 0.02, 0.4, 0, 0], strict=True))
    # five terms beyond 6 standard errors: 1e-8
    assert (np.abs(found.values - np.array([*truth.values()])) < 6 * found.std_errors).all()
    at = {"age": [30.0, 70.0], "visits": [3, 0], "people": [2, 6]}
    X = np.array([[1, 30, np.log(4), 0, 0], [1, 70, 0, 1, 1]])
    assert found.predict(at).values == pytest.approx(X @ found.values, rel=1e-9)
    # beyond the bounds nothing is clamped, and a note says so
    far = found.predict({"age": 30, "visits": 99, "people": 2})
    assert far.values[0] == pytest.approx(np.array([1, 30, np.log(100), 0, 0]) @ found.values)
    assert "visits = 99 is outside 0 to 20" in far.notes[0]
    assert [*regressors(found)] == ["age", "visits", "people"]
    with pytest.raises(InferenceError) as caught:
        found.predict({"age": 30, "visits": -2, "people": 2})
    assert caught.value.code == "I42"
    assert found.test(column="visits").df == 1
    assert found.test(column="age").df == 2
    assert found.test("`log1p(visits)` = 0.4").p_value > 1e-6
    # age moves the indicator, too; levels have no average effect
    assert found.marginal_effects().terms == ("log1p(visits)",)


def test_an_expression_has_no_average_effect_where_another_term_moves_with_its_columns() -> None:
    data = table(4_000, 4)
    schema = tc.Schema({name: SCHEMA[name] for name in ("cost", "age", "visits")})
    question = tc.Regression("log(cost) ~ log(age) + I(age >= 65) + log1p(visits)")
    made = tc.Curator(data, schema, budget=tc.Budget(rho=9)).release(question, rho=9).estimate().marginal_effects()
    assert made.terms == ("log1p(visits)",)
    assert "no average effects of log(age)" in " ".join(made.notes)


def test_a_release_of_expressions_is_read_back_and_checked(release: Any) -> None:
    words = json.loads(release.to_json())
    again = cast(Any, release_from_dict(words))
    assert again.estimate().values.tolist() == release.estimate().values.tolist()
    assert "log(cost): bounds 0 to 8.51719;" in str(tc.methods(release.estimate()))
    for change in (
        lambda one: one["variables"].pop(),
        lambda one: one["variables"].reverse(),
        lambda one: one["query"].update(formula="log(cost) ~ age + log1p(people) + cut(people, [3]) + I(age >= 65)"),
        lambda one: next(v for v in one["variables"] if v["name"] == "visits").update(kind="boolean"),
    ):
        forged = json.loads(release.to_json())
        change(forged)
        with pytest.raises(ReleaseError):
            release_from_dict(forged)


def test_expressions_in_plans_move_with_the_columns_that_they_read() -> None:
    facts = tc.Curator(table(), SCHEMA, budget=tc.Budget(rho=1))
    shape = facts.design(tc.Regression("cost ~ age + log(age) + sqrt(z) + cut(people, [3])"), Cost.of(rho=1))
    rows = made_up(shape)
    values = (rows.z / H) @ rows.layout.terms.T
    names = list(rows.layout.names)
    assert np.abs(np.exp(values[:, names.index("log(age)")]) - values[:, names.index("age")]).max() < 0.2
    # a root is defined in 3/5 of the rows, and those alone count
    assert 0.55 < len(rows.z) / rows.size < 0.65
    assert {float(x).__round__(6) for x in values[:, names.index("cut(people, [3])[T.[3, 6]]")]} == {0.0, 1.0}
    plan = facts.plan(tc.Regression("cost ~ log(age)"), rho=0.1, expect={"age": {"mean": 40, "sd": 5}})
    assert "log(age)" in str(plan)


@pytest.mark.long
def test_the_other_models_and_persons_take_expressions() -> None:
    rng = np.random.default_rng(5)
    data = table(6_000, 2)
    data["ok"] = rng.random(6_000) < 1 / (1 + np.exp(2 - 0.5 * np.log(data["cost"])))
    data["who"] = np.arange(6_000) // 2
    schema = tc.Schema({name: SCHEMA[name] for name in ("cost", "z", "ok")})
    one = tc.Curator(data, schema, budget=tc.Budget(rho=9)).release(
        tc.Regression("ok ~ log(cost) + abs(z)", model="logistic"), rho=3
    )
    found = one.estimate()
    assert abs(found.values[1] - 0.5) < 6 * found.std_errors[1]
    assert found.marginal_effects().terms == ("log(cost)", "abs(z)")
    persons = tc.Schema({**schema, "who": tc.PrivacyUnit(2)})
    other = tc.Curator(data, persons, budget=tc.Budget(rho=9)).release(tc.Regression("log(cost) ~ abs(z)"), rho=3)
    assert abs(other.estimate().values[1]) < 6 * other.estimate().std_errors[1]


def test_a_factor_is_involved_through_its_expressions() -> None:
    made = row_facts(tc.Regression("cost ~ log(age)*ok + z"), SCHEMA)
    terms = FormulaTerms(made.layout, made.variables, cast(Any, None))
    assert [made.layout.names[i] for i in terms.involved("age")] == ["log(age)", "log(age):ok"]
    assert terms.involved("age") == terms.involved("log(age)")
    assert [one.name for one in terms.inputs] == ["age", "ok", "z"]


def test_fits_to_cells_take_what_cells_can_say() -> None:
    schema = tc.Schema({"cost": tc.Real(0, 100), "age": tc.Real(18, 93)})
    rng = np.random.default_rng(0)
    data = {"age": rng.uniform(18, 93, 4_000)}
    data["cost"] = 10 * np.sqrt(data["age"]) + rng.normal(0, 3, 4_000)
    cells = tc.Curator(data, schema, budget=tc.Budget(rho=9)).release(
        tc.Histogram(["age", "cost"], bins={"age": 15, "cost": 20}), rho=5
    )
    found = cells.fit("cost ~ sqrt(age)")
    assert found.terms == ("Intercept", "sqrt(age)")
    assert abs(found.values[1] - 10) < 6 * found.std_errors[1]
    assert found.predict({"age": 49}).values[0] == pytest.approx(found.values @ [1, 7])
    for text in ("cost ~ cut(age, [30, 65])", "cost ~ year(age)"):
        with pytest.raises(InferenceError, match="a bin does not say its value"):
            cells.fit(text)
