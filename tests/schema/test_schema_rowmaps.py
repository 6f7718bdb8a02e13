"""Row maps of a schema: the numbers of theory §12, and what has none."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import QueryError
from tacit.rows.row_map import GRID
from tacit.schema import Boolean, Category, Date, Integer, PrivacyUnit, Real, Schema
from tacit.schema.row_maps_of_columns import keymap, rowmap

SCHEMA = Schema(
    {
        "age": Real(0, 100, missing=25),
        "educ": Integer(1, 16, missing=16, column="EDUC"),
        "ok": Boolean(missing=True),
        "day": Date("2024-01-01", "2024-12-31", missing="2024-01-02"),
        "sex": Category({0: "male", 1: "female"}, missing="unknown", column="SEX"),
        "region": Category(["north", "south"]),
        "wait": Real(),
        "whose": PrivacyUnit(3),
    }
)


def test_a_real_column_has_a_grid_of_two_to_the_twentieth() -> None:
    m = rowmap(SCHEMA, "age")
    assert (m.kind, m.lower, m.upper, m.steps, m.factor, m.missing) == ("real", 0.0, 100.0, 2**20, 1, 2**18)
    v, present = m.numpy(np.array([-5.0, 0.0, 50.0, 100.0, 1e9, np.nan]))
    assert v.tolist() == [0, 0, 2**19, 2**20, 2**20, 2**18]
    assert present.all()


@given(st.integers(-(2**40), 2**40), st.integers(1, 2**20))
def test_an_integer_column_is_not_rounded(low: int, span: int) -> None:
    m = rowmap(Schema({"n": Integer(low, low + span)}), "n")
    assert (m.kind, m.steps) == ("integer", span)
    assert m.factor % 16 == 0
    assert m.G >= GRID
    assert (m.factor - 16) * span < GRID  # the smallest such multiple
    assert m.G <= 2**24
    cells = np.unique(np.linspace(low, low + span, 50).round())
    v, _ = m.numpy(cells)
    assert v.tolist() == [(int(x) - low) * m.factor for x in cells]


@pytest.mark.parametrize(("span", "factor"), [(1, 2**20), (15, 69_920), (65_535, 32), (65_536, 16), (2**20, 16)])
def test_the_smallest_multiple_of_sixteen(span: int, factor: int) -> None:
    assert rowmap(Schema({"n": Integer(0, span)}), "n").factor == factor


def test_a_wider_integer_is_served_as_a_real_one() -> None:
    m = rowmap(Schema({"n": Integer(0, 2**20 + 1)}), "n")
    assert (m.kind, m.steps, m.factor) == ("real", GRID, 1)
    widest = rowmap(Schema({"n": Integer(-(2**53), 2**53)}), "n")
    assert widest.numpy(np.array([-(2.0**53), 0.0, 2.0**53]))[0].tolist() == [0, GRID // 2, GRID]


def test_days_booleans_and_what_stands_for_missing() -> None:
    day = rowmap(SCHEMA, "day")
    assert (day.kind, day.lower, day.steps, day.factor % 16) == ("date", 19_723.0, 365, 0)
    assert day.missing == day.factor
    ages = rowmap(Schema({"d": Date(date.min, date.max)}), "d")
    assert (ages.kind, ages.steps, ages.factor) == ("date", GRID, 1)
    ok = rowmap(SCHEMA, "ok")
    assert (ok.kind, ok.G, ok.missing) == ("boolean", 1, 1)
    educ = rowmap(SCHEMA, "educ")
    assert (educ.column, educ.source, educ.missing) == ("educ", "EDUC", 15 * educ.factor)
    assert rowmap(Schema({"x": Real(0, 1)}), "x").missing is None


def test_levels_are_those_of_the_schema() -> None:
    sex = keymap(SCHEMA, "sex")
    assert (sex.source, sex.levels, sex.labels, sex.missing, sex.size) == (
        "SEX", (0, 1), ("male", "female", "unknown"), 2, 3,
    )  # fmt: skip
    assert [sex.index(cell) for cell in (0, 1, 1.0, True, 7, None, "0")] == [0, 1, 1, 1, 2, 2, 2]
    region = keymap(SCHEMA, "region")
    assert [region.index(cell) for cell in ("north", "south", "east", None, 0)] == [0, 1, None, None, None]
    ok = keymap(SCHEMA, "ok")
    assert (ok.kind, ok.labels, ok.missing) == ("boolean", ("false", "true"), 1)


@pytest.mark.parametrize(
    ("make", "name", "code"),
    [
        (rowmap, "agee", "Q10"), (keymap, "xyz", "Q10"), (rowmap, "sex", "Q11"), (rowmap, "whose", "Q11"),
        (rowmap, "wait", "Q12"), (keymap, "age", "Q13"), (keymap, "whose", "Q13"), (keymap, "day", "Q13"),
    ],
)  # fmt: skip
def test_what_has_no_map(make, name: str, code: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(QueryError) as caught:
        make(SCHEMA, name)
    assert caught.value.code == code
    assert repr(name) in str(caught.value)
    if name == "agee":
        assert caught.value.hint == "'age'"
