"""What a cell of a plain list counts for depends on that cell alone, whatever types the other cells have.

Exact integers are read from answers at a price at which noise is nearly nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit as tc
from tacit.errors import SourceError
from tacit.source import open_source

EXACT = 1_000
NEAR = 0.25
"""Noise is Laplace of scale 0.001 (counts) or 0.01 (sums): beyond with probability 1e-11 at most."""
FAR = 2**53
"""From here on neighbouring integers are one float."""
PEOPLE = [FAR + i for i in range(40)]
NEWCOMERS: list[Any] = [0.5, float("nan"), True, np.float64(7), np.int64(7), 2**70, Decimal("0.5"), None, pd.NA, pd.NaT]


def answer(table: dict[str, Any], column: Any, query: Any) -> Any:
    budget = tc.Budget(epsilon=EXACT, neighbors="add-remove")
    return tc.Curator(table, tc.Schema(column), budget=budget).release(query, epsilon=EXACT).estimate("table").value


def people(who: Sequence[Any]) -> int:
    found = answer({"who": list(who)}, {"who": tc.PrivacyUnit(max_rows=1)}, tc.Count())
    assert found == pytest.approx(round(found), abs=NEAR)
    return round(found)


@pytest.mark.parametrize("other", NEWCOMERS, ids=repr)
def test_a_newcomer_merges_no_others(other: Any) -> None:
    """A fraction among whole numbers made floats of all: of 40 persons beyond 2**53 about half were left."""
    there = people(PEOPLE)
    assert there == len(PEOPLE)
    assert there <= people([*PEOPLE, other]) <= there + 1


def test_the_same_number_is_one_person_in_any_type() -> None:
    same = [3, 3.0, np.int64(3), np.float32(3), Decimal(3), Decimal("3.000"), Decimal("3e0")]
    assert people([*same, 0.0, -0.0, False, Decimal("-0")]) == 2
    assert people([0.5, Decimal("0.50"), 10**400, 10**400 + 1, -(10**5000), Decimal("1e-999999"), 1e300]) == 6
    # rows without an identifier are together one person
    assert people([Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity"), float("inf"), None, 1]) == 2


DECIMALS = [
    "NaN",
    "sNaN",
    "Infinity",
    "-Infinity",
    "1e40",
    "-1e40",
    "1e80",
    "1e400",
    "-1e999999",
    "1e-90",
    "-0",
    "7.25",
]


@pytest.mark.parametrize("text", DECIMALS)
def test_every_decimal_is_answered(text: str) -> None:
    """One that is no number, or too wide for Arrow, was refused (D04), its neighbours answered."""
    cell = Decimal(text)
    expected = 0.0 if not cell.is_finite() else min(max(float(cell), 0.0), 10.0)
    found = answer({"x": [Decimal(1), Decimal("2.5"), cell]}, {"x": tc.Real(0, 10)}, tc.Sum("x"))
    assert found == pytest.approx(3.5 + expected, abs=NEAR)
    assert open_source({"x": [Decimal(1), cell]}).columns() == open_source({"x": [Decimal(1)]}).columns()


@pytest.mark.parametrize("wide", [2**62, 2**64, 10**30, 10**400, -(10**400)], ids=lambda k: f"{k.bit_length()} bits")
@pytest.mark.parametrize("other", [1, np.int64(1), 0.5, np.float32(0.5), Decimal(1)], ids=repr)
def test_a_wide_integer_is_at_the_bound_whatever_stands_beside_it(wide: int, other: Any) -> None:
    """Beside a fraction 10**400 was missing, and alone at the bound; beside NumPy's integers 2**64 was refused."""
    expected = float(other) + (10.0 if wide > 0 else 0.0)
    found = answer({"x": [other, wide]}, {"x": tc.Real(0, 10)}, tc.Sum("x"))
    assert found == pytest.approx(expected, abs=NEAR)


def test_missing_cells_of_pandas_are_missing_in_any_list() -> None:
    days = {"d": tc.Date("2000-01-01", "2001-01-01")}
    day = pd.Timestamp("2000-05-05")
    levels = {"d": tc.Category(["a", "b"])}
    for cells, column in (([day, pd.NaT], days), (["a", pd.NA], levels), ([np.str_("a"), "\ud800"], levels)):
        asked = tc.DataQuality()
        curator = tc.Curator({"d": cells}, tc.Schema(column), budget=tc.Budget(epsilon=EXACT))
        assert curator.release(asked, epsilon=EXACT).charge == 1


LONE = "\ud800"
OBJECTS: Any = np.array(["a", "b"], dtype=object)


def categories(*cells: Any) -> Any:
    return pd.Series(pd.Categorical(pd.Series(list(cells), dtype=object)))


@pytest.mark.parametrize(
    ("cells", "present"),
    [
        (np.array(["a", "b", LONE]), 2),
        (categories("a", "b", LONE), 2),
        (categories("a", "b", 1), 2),
        (categories("a", "b", 10**30), 2),
        (categories("a", None, "b"), 2),
        (np.ma.array(["a", "b"], mask=[False, True]), 1),
        (np.ma.array(OBJECTS, mask=[False, True]), 1),
    ],
    ids=["array", "lone category", "number", "wide number", "missing", "masked", "masked objects"],
)
def test_a_cell_that_is_no_text_decides_for_itself_alone(cells: Any, present: int) -> None:
    """One such cell failed a release after its charge (M01), refused it (D11), or raised an error with its value."""
    levels = {"c": tc.Category(["a", "b"])}
    budget = tc.Budget(epsilon=EXACT, neighbors="add-remove")
    curator = tc.Curator({"c": cells}, tc.Schema(levels), budget=budget)
    found = curator.release(tc.Count(by="c"), epsilon=EXACT).estimate("table")
    assert found.values.sum() == pytest.approx(present, abs=NEAR)


def test_a_type_that_no_column_has_is_refused_in_words() -> None:
    import polars as pl

    for cells in (pl.Series([1], dtype=pl.Int128), np.ma.array(["2001-01-01"], dtype="M8[D]")):
        with pytest.raises(SourceError, match="D04"):
            open_source({"x": cells})
