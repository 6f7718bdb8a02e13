"""Tables side by side and the methods paragraph say what the releases say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import InferenceError

SCHEMA = tc.Schema({"age": tc.Real(0, 100, units="years"), "ok": tc.Boolean(), "g": tc.Category(["a", "b"])})


def curator(**budget: object) -> tc.Curator:
    rng = np.random.default_rng(0)
    data = {"age": rng.uniform(0, 100, 500), "ok": rng.random(500) < 0.5, "g": rng.choice(["a", "b"], 500)}
    return tc.Curator(data, SCHEMA, name="people", budget=tc.Budget(**(budget or {"rho": 1})))  # pyright: ignore


def test_estimates_side_by_side() -> None:
    asked = curator()
    one, two = (
        asked.release(tc.Mean("age", by="g"), rho=0.1).estimate(),
        asked.release(tc.Mean("age"), rho=0.05).estimate(),
    )
    made = tc.table(one, two, names=["groups", "all"])
    assert made.columns == ("", "groups", "all")
    assert [row[0] for row in made.rows] == ["a", "b", "age", "N", "cost"]
    value, error = made.rows[0][1].rstrip(")").split(" (")  # type: ignore
    assert float(value) == pytest.approx(one.values[0], abs=10 ** -len(value.partition(".")[2]))
    assert float(error) == pytest.approx(one.std_errors[0], rel=0.06)
    assert made.rows[0][2] == ""
    assert made.rows[-2][1:] == ("500 rows", "500 rows")
    assert made.rows[-1][1:] == ("ρ = 0.1", "ρ = 0.05")
    assert tc.table(one).columns[1] == "Mean of age by g"
    for wrong in (lambda: tc.table(), lambda: tc.table(one, names=["a", "b"]), lambda: tc.methods()):
        with pytest.raises(InferenceError):
            wrong()


def test_the_paragraph_adds_prices_of_distinct_releases() -> None:
    asked = curator()
    release = asked.release(tc.Mean("age", by="g"), rho=0.1)
    one, again, two = release.estimate(), release.estimate()["a"], asked.release(tc.Mean("ok"), rho=0.05).estimate()
    words = tc.methods(one, again, two)
    assert "(ρ = 0.15 in 2 releases, added up)" in words
    assert "age: bounds 0 to 100 years" in words
    assert "the values in one row" in words
    assert "both sampling and this noise" in words
    assert tc.__version__ in words
    table = tc.methods(release.estimate(target="table"))
    assert "only the noise is uncertain" in table


def test_the_paragraph_of_other_promises() -> None:
    pure = curator(epsilon=1, neighbors="add-remove")
    words = tc.methods(pure.release(tc.Mean("age"), epsilon=0.5).estimate())
    assert "differential privacy (ε = 0.5, added up)" in words
    assert "the presence of one row" in words
    assert "Discrete Laplace noise" in words
    schema = tc.Schema({"who": tc.PrivacyUnit(3), "age": tc.Real(0, 100)})
    persons = tc.Curator({"who": [1, 1, 2], "age": [1.0, 2.0, 3.0]}, schema, budget=tc.Budget(rho=1))
    assert "one person with all rows, of which at most 3 count" in tc.methods(
        persons.release(tc.Mean("age"), rho=0.1).estimate()
    )


def test_models_of_subgroups_say_of_whom_they_are() -> None:
    """Regressions of women and of men had the same title, and both the number of rows of the whole table."""
    rng = np.random.default_rng(8)
    table = {"age": rng.uniform(20, 60, 6_000), "pay": rng.normal(50, 10, 6_000), "sex": ["f", "m", "m"] * 2_000}
    schema = tc.Schema({"age": tc.Real(20, 60), "pay": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})
    curator = tc.Curator(table, schema, name="people", budget=tc.Budget(rho=1000))
    where = "sex == 'f'"
    fits = [curator.release(tc.Regression("pay ~ age", where=one), rho=100).estimate() for one in (where, "sex == 'm'")]
    cells = curator.release(tc.Histogram(["pay", "age"], bins=8, where=where), rho=100)
    fits += [cells.fit("pay ~ age"), cells.fit("pay", family="normal")]
    mean = curator.release(tc.Mean("pay", where=where), rho=100).estimate()
    made = tc.table(*fits, mean)
    assert [head.partition(" where ")[2] for head in made.columns[1:]] == [where, "sex == 'm'", where, where, where]
    ((_, *sizes),) = (row for row in made.rows if row[0] == "N")
    # noise of the count is a few rows at this price
    for said, rows in zip(sizes[:3], (2_000, 4_000, 2_000), strict=True):
        assert abs(int(str(said).removeprefix("about ").removesuffix(" rows").replace(",", "")) - rows) < 60
    assert sizes[3:] == ["some of 6,000 rows"] * 2
    assert str(fits[0].contrast("age * 2")).startswith("Linear regression · pay ~ age where sex == 'f' · people")


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"women": 1, "men": 2}, 'table(women, men, names=["women", "men"])'),
        ({"all men": 1, "b": 2, "c": 3}, 'table(one, two, …, names=["all men", "b", "c"])'),
        ({}, 'table(one, two, names=["one", "two"])'),
        ({1: 2}, 'table(one, two, names=["one", "two"])'),
    ],
)
def test_estimates_by_name_are_told_where_names_go(given: Any, hint: str) -> None:
    with pytest.raises(tc.TacitError, match="no estimate: estimates stand one after the other") as caught:
        tc.table(given)
    assert (caught.value.code, caught.value.hint) == ("I13", hint)
