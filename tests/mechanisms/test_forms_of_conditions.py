"""A condition lets rows leave, whatever a schema declares for missing cells: the forms, and places on other grids."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.method.shared.encoding import COARSE, Encoding
from tacit.method.shared.encoding_choice import resized
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.rows.row_map import GRID, RowMap
from tacit.schema.row_maps_of_columns import rowmap

SCHEMA = tc.Schema(
    {"educ": tc.Integer(1, 16, missing=9), "x": tc.Real(0, 10, missing=2.5), "ok": tc.Boolean(missing=False)}
)
NAMES = [("educ", "exclusion-2"), ("x", "exclusion-2"), ("ok", "binary-exclusion")]
PRICES = [Cost.of(epsilon=1), Cost.of(rho=1)]


def reached(form: Encoding, power: int, *, leaves: bool) -> int:
    """The largest change of one row over a thinned grid, its ends included; absent too where a row can leave."""
    values = np.unique(np.linspace(0, form.parameters["G"], 101, dtype=int)).tolist()
    rows = np.array([form.row(v) for v in values], dtype=object)
    rows = np.vstack([rows, 0 * rows[:1]]) if leaves else rows
    return max(int((abs(rows - one) ** power).sum(axis=1).max()) for one in rows)


@pytest.mark.parametrize("price", PRICES, ids=["pure", "normal"])
@pytest.mark.parametrize(("column", "name"), NAMES)
def test_rows_that_can_leave_have_the_forms_of_such_rows(column: str, name: str, price: Cost) -> None:
    """Present against absent too: exactly what is declared, where a mean of all rows has a form without it."""
    power = 1 if price.kind == "pure" else 2
    for where in (None, "x > 5"):
        query = tc.Mean(column, where=where)
        (found,) = design(query, Public(SCHEMA, "replace-one", 50), price).columns
        assert found.form.name == (name if where else name.removesuffix("-2").replace("exclusion", "plain"))
        declared = found.form.l1 if power == 1 else found.form.l2_squared
        assert reached(found.form, power, leaves=where is not None) == declared


@pytest.mark.parametrize("model", ["linear", "logistic"])
def test_rows_that_can_leave_a_regression_are_counted(model: Any) -> None:
    """Their number is not that of the table: it is released, and has noise."""
    response, other = ("x", "educ") if model == "linear" else ("ok", "educ")
    for where in (None, "x > 5"):
        query = tc.Regression(f"{response} ~ {other}", model=model, where=where)
        shape = design(query, Public(SCHEMA, "replace-one", 50), Cost.of(rho=1))
        facts = shape.columns[0].form.parameters
        assert (facts.get("count", facts.get("counted")) != 0) == (where is not None)


@pytest.mark.parametrize("name", ["educ", "x"])
@pytest.mark.parametrize("steps", [COARSE, 2**15, 1000])
def test_what_stands_for_a_missing_cell_stays_where_it_is_on_another_grid(name: str, steps: int) -> None:
    """To half a step: the place of 9 years on a grid of 4,096 is not that on one of a million."""
    at: RowMap = rowmap(SCHEMA, name)
    for fine in (False, True):
        made = resized(at, steps, fine=fine)
        assert made.missing is not None
        assert abs(made.value(made.missing) - (9 if name == "educ" else 2.5)) <= (made.upper - made.lower) / made.G / 2
    assert at.G >= GRID
