"""Rows made from a schema alone, and the made-up people: they fit, they repeat, and every engine's door takes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tacit as tc
from tacit.errors import SchemaError
from tacit.schema import Boolean, Category, Date, Integer, PrivacyUnit, Real, Schema
from tacit.source import check_source, open_source

FULL = Schema(
    {
        "age": Real(18, 93),
        "wait": Real(),
        "educ": Integer(1, 16, column="EDUC"),
        "married": Boolean(),
        "day": Date("2024-01-01", "2024-12-31"),
        "sex": Category({0: "male", 1: "female"}, missing="unknown"),
        "code": Category([7, 8]),
        "region": Category(["north", "south"]),
        "place": Category(["a", "b"], missing="elsewhere"),
        "flag": Category({True: "yes", False: "no"}, missing="unknown"),
        "whose": PrivacyUnit(max_rows=3),
    }
)


def test_rows_stay_inside_what_the_schema_says() -> None:
    frame = FULL.example(5_000, rng=0)
    assert list(frame.columns) == [FULL.source(name) for name in FULL]
    assert len(frame) == 5_000
    assert frame["age"].between(18, 93).all()
    assert set(frame["EDUC"]) == set(range(1, 17))
    assert frame["day"].dt.year.eq(2024).all()
    assert set(frame["code"]) == {7, 8}
    assert set(frame["region"]) == {"north", "south"}
    for name in ("sex", "place", "flag"):  # three levels, each a third; six standard deviations of 5,000 draws
        assert abs(frame[name].isna().mean() - 1 / 3) < 6 * np.sqrt(2 / 9 / 5_000)
    assert not frame[["age", "wait", "EDUC", "married", "day", "code", "region", "whose"]].isna().any().any()
    sizes = frame["whose"].value_counts()
    assert sizes.max() == 3
    assert sizes.min() == 1


def test_the_same_seed_makes_the_same_rows() -> None:
    assert FULL.example(50, rng=1).equals(FULL.example(50, rng=1))
    assert not FULL.example(50, rng=1).equals(FULL.example(50, rng=2))
    assert FULL.example(50, rng=np.random.default_rng(1)).equals(FULL.example(50, rng=1))


@pytest.mark.parametrize("rows", [0, 1, 2, 100])
def test_any_number_of_rows(rows: int) -> None:
    assert len(FULL.example(rows, rng=0)) == rows


@pytest.mark.parametrize("rows", [-1, 2.5, True, "3", None])
def test_what_is_no_number_of_rows(rows: object) -> None:
    with pytest.raises(SchemaError) as caught:
        FULL.example(rows)  # type: ignore[arg-type]
    assert caught.value.code == "S17"


def test_the_curator_takes_rehearsal_rows(tmp_path: Path) -> None:
    frame = FULL.example(600, rng=0)
    frame.to_parquet(tmp_path / "rows.parquet")
    for table in (frame, tmp_path / "rows.parquet"):
        check_source(open_source(table), FULL)
    schema = Schema({name: column for name, column in FULL.items() if name != "whose"})
    curator = tc.Curator(frame, schema, budget=tc.Budget(rho=100))
    for by in ("sex", "code", "region", "place", "flag", "married"):
        counts = curator.release(tc.Count(by=by), rho=10).estimate()
        assert abs(sum(counts.value) - 600) < 30  # noise of scale below 1 in three cells


def test_made_up_people_fit_the_schema_of_the_first_page() -> None:
    people, again = tc.examples.people(), tc.examples.people()
    assert people.equals(again)
    assert len(people) == 10_000
    assert not people.isna().any().any()
    schema = Schema(
        {
            "age": Real(18, 93), "income": Real(0, 300_000), "educ": Integer(1, 16),
            "sex": Category({0: "male", 1: "female"}), "region": Category(["north", "south"]),
            "married": Boolean(), "predicted": Boolean(), "weight": Real(0, 50),
        }
    )  # fmt: skip
    check_source(open_source(people), schema)
    assert people["age"].between(18, 93).all()
    assert people["educ"].between(1, 16).all()
    assert people["weight"].between(0, 50).all()
    assert (people["income"] > 300_000).mean() < 0.02
    assert 0.8 < (people["married"] == people["predicted"]).mean() < 0.9


def test_made_up_events_are_several_a_user() -> None:
    events = tc.examples.events()
    assert list(events.columns) == ["user", "seconds"]
    assert events["user"].value_counts().max() <= 20
    assert events["seconds"].between(0, 3600).mean() > 0.99
