"""Column types: what each refuses when it is made, before any table is near."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.errors import CODES, SchemaError
from tacit.schema import Boolean, Category, Date, Integer, PrivacyUnit, Real, Schema

NAN = float("nan")
REFUSED: list[tuple[str, Callable[[], object]]] = [
    ("S06", lambda: Real(NAN, 1)),
    ("S06", lambda: Real(0, math.inf)),
    ("S06", lambda: Real(-math.inf, 0)),
    ("S06", lambda: Real(0, 10**400)),
    ("S06", lambda: Real(0, Decimal("sNaN"))),
    ("S06", lambda: Real("0", 1)),
    ("S06", lambda: Real(False, 1)),
    ("S06", lambda: Real(0)),
    ("S06", lambda: Real(upper=1)),
    ("S06", lambda: Real(0, 1j)),
    ("S07", lambda: Real(300_000, 0)),
    ("S07", lambda: Real(1, 1)),
    ("S07", lambda: Real(1, np.nextafter(1, 0))),
    ("S08", lambda: Real(-1.7e308, 1.7e308)),
    ("S08", lambda: Real(0, 1e80)),
    ("S08", lambda: Real(1e80, 1.1e80)),
    ("S08", lambda: Real(0, 5e-324)),
    ("S08", lambda: Real(0, 1e-303)),
    ("S11", lambda: Real(0, 1, missing=2)),
    ("S06", lambda: Real(0, 1, missing=NAN)),
    ("S06", lambda: Real(missing="drop")),
    ("S15", lambda: Real(0, 1, units=3)),
    ("S15", lambda: Real(0, 1, units="")),
    ("S15", lambda: Real(0, 1, column="")),
    ("S15", lambda: Real(0, 1, column="a\nb")),
    ("S06", lambda: Integer(0.5, 3)),
    ("S06", lambda: Integer(0, NAN)),
    ("S06", lambda: Integer(0, math.inf)),
    ("S06", lambda: Integer(0, Decimal("sNaN"))),
    ("S06", lambda: Integer(0, "3")),
    ("S06", lambda: Integer(False, 3)),
    ("S07", lambda: Integer(3, 3)),
    ("S07", lambda: Integer(3, 0)),
    ("S08", lambda: Integer(0, 2**53 + 1)),
    ("S08", lambda: Integer(-(10**30), 0)),
    ("S11", lambda: Integer(0, 3, missing=4)),
    ("S11", lambda: Integer(0, 3, missing=1.5)),
    ("S11", lambda: Integer(0, 3, missing=True)),
    ("S11", lambda: Boolean(missing=1)),
    ("S11", lambda: Boolean(missing="yes")),
    ("S15", lambda: Boolean(column=5)),
    ("S06", lambda: Date("2024-1-1", "2024-12-31")),
    ("S06", lambda: Date("20240101", "2024-12-31")),
    ("S06", lambda: Date("2024-02-30", "2024-12-31")),
    ("S06", lambda: Date(2024, 2025)),
    ("S06", lambda: Date("2024-01-01", datetime(2024, 12, 31))),
    ("S07", lambda: Date("2024-12-31", "2024-01-01")),
    ("S07", lambda: Date("2024-12-31", "2024-12-31")),
    ("S11", lambda: Date("2024-01-01", "2024-12-31", missing="2025-01-01")),
    ("S06", lambda: Date("2024-01-01", "2024-12-31", missing="never")),
    ("S09", lambda: Category(["a", "a"])),
    ("S09", lambda: Category([1, 1.0])),
    ("S09", lambda: Category([True, True])),
    ("S09", lambda: Category({0: "a", 1: "a"})),
    ("S10", lambda: Category([1, True])),
    ("S10", lambda: Category(["1", 1])),
    ("S10", lambda: Category([])),
    ("S10", lambda: Category({})),
    ("S10", lambda: Category("north")),
    ("S10", lambda: Category({"a", "b"})),
    ("S10", lambda: Category(5)),
    ("S10", lambda: Category([None])),
    ("S10", lambda: Category([1.5])),
    ("S10", lambda: Category([NAN])),
    ("S10", lambda: Category([["a"]])),
    ("S10", lambda: Category({0: 1})),
    ("S10", lambda: Category({0: ""})),
    ("S10", lambda: Category(["a\x00"])),
    ("S08", lambda: Category([2**60])),
    ("S11", lambda: Category(["a"], missing="")),
    ("S11", lambda: Category(["a"], missing=None)),
    ("S12", lambda: Category(["a", "b"], missing="b")),
    ("S12", lambda: Category({0: "male"}, missing="male")),
    ("S15", lambda: Category(["a"], ordered="yes")),
    ("S13", lambda: PrivacyUnit(0)),
    ("S13", lambda: PrivacyUnit(-1)),
    ("S13", lambda: PrivacyUnit(2.5)),
    ("S13", lambda: PrivacyUnit(True)),
    ("S13", lambda: PrivacyUnit(2**20 + 1)),
    ("S01", lambda: Schema({})),
    ("S01", lambda: Schema({"": Boolean()})),
    ("S01", lambda: Schema({"a\tb": Boolean()})),
    ("S01", lambda: Schema({"\ud800": Boolean()})),
    ("S01", lambda: Schema({1: Boolean()})),
    ("S02", lambda: Schema({"a": Boolean})),
    ("S02", lambda: Schema({"a": {"type": "Boolean"}})),
    ("S02", lambda: Schema({"a": None})),
    ("S02", lambda: Schema(["a"])),
    ("S03", lambda: Schema({"a": Boolean(), "b": Boolean(column="a")})),
    ("S14", lambda: Schema({"a": PrivacyUnit(1), "b": PrivacyUnit(1)})),
]  # fmt: skip


@pytest.mark.parametrize(("code", "make"), REFUSED, ids=[f"{code}-{i}" for i, (code, _) in enumerate(REFUSED)])
def test_what_no_row_map_could_serve_is_refused(code: str, make: Callable[[], object]) -> None:
    with pytest.raises(SchemaError) as caught:
        make()
    error = caught.value
    assert error.code == code
    assert error.code in CODES
    assert error.hint
    assert len(str(error)) < 400
    assert str(error).endswith("Nothing was read or spent.")


def test_the_message_names_both_bounds_and_the_fix() -> None:
    with pytest.raises(SchemaError, match=r"lower bound 300000 of Real is not below upper bound 0\.") as caught:
        Real(300_000, 0)
    assert caught.value.hint == "Real(0, 300000)"


@pytest.mark.parametrize("value", [3, 3.0, Decimal("3"), Fraction(3), np.int64(3), np.float32(3)])
def test_numbers_of_every_kind_are_numbers(value: Any) -> None:
    assert Real(0, value) == Real(0, 3)
    assert type(Real(0, value).upper) is float


@pytest.mark.parametrize("value", [3, 3.0, np.int64(3), np.float64(3), Decimal("3")])
def test_whole_numbers_of_every_kind_are_whole(value: Any) -> None:
    assert Integer(0, value) == Integer(0, 3)
    assert type(Integer(0, value).upper) is int


def test_the_largest_bounds_that_are_served() -> None:
    assert Integer(-(2**53), 2**53).upper == 2**53
    assert Real(-5e74, 5e74).upper == 5e74
    assert Real(0, 1e-300).upper == 1e-300
    assert PrivacyUnit(2**20).max_rows == 2**20


def test_zero_has_no_sign() -> None:
    assert repr(Real(-0.0, 1).lower) == "0.0"


def test_codes_keep_their_kind_and_order() -> None:
    assert Category([2, 1]).levels == {2: "2", 1: "1"}
    assert Category([True, False]).labels == ("true", "false")
    assert Category({"n": "north", "s": "south"}).codes == ("n", "s")
    assert Category([np.int64(4)]).codes == (4,)


def test_columns_are_values() -> None:
    assert hash(Category({0: "male"})) == hash(Category({0: "male"}))
    assert Real(0, 1) != Real(0, 1, missing=0)


def test_a_complete_column_says_what_a_missing_cell_would_count_as() -> None:
    """The middle of the bounds: on the grid of whole numbers and of days, too."""
    assert Real(0, 9, missing="none") == Real(0, 9, missing=4.5)
    assert Integer(1, 16, missing="none").missing == 8
    assert Date("2024-01-01", "2024-01-31", missing="none") == Date("2024-01-01", "2024-01-31", missing="2024-01-16")
    assert Boolean(missing="none") == Boolean(missing=False)
    assert Category(["a", "none"], missing="exclude").labels == ("a", "none")  # a label is a label
    with pytest.raises(SchemaError):
        Real(missing="none")  # without bounds there is no middle
    with pytest.raises(AttributeError):
        Real(0, 1).upper = 2  # type: ignore[misc]
    assert Date("2024-01-01", date(2024, 1, 31)).days == (19723, 19753)
