"""Edges of bins as people give them: dates of several libraries, ranges, and what errors suggest."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit as tc
from tacit.errors import QueryError

DAYS = ["2024-03-01", "2024-04-01", "2024-04-30"]
SCHEMA = tc.Schema({"day": tc.Date("2024-03-01", "2024-04-30"), "age": tc.Integer(18, 93), "pay": tc.Real(0, 300_000)})
GIVEN: list[Any] = [
    [date.fromisoformat(one) for one in DAYS],
    tuple(date.fromisoformat(one) for one in DAYS),
    [datetime.fromisoformat(one) for one in DAYS],
    [datetime.fromisoformat(one).replace(tzinfo=UTC) for one in DAYS],
    [pd.Timestamp(one) for one in DAYS],
    np.array(DAYS, dtype="datetime64[D]"),
    np.array(DAYS, dtype="datetime64[ns]"),
]


def curator() -> tc.Curator:
    days = np.array(["2024-03-05", "2024-04-05"] * 50, dtype="datetime64[D]")
    table = {"day": days, "age": [20, 50] * 50, "pay": [1.0, 2.0] * 50}
    return tc.Curator(table, SCHEMA, budget=tc.Budget(rho=1))


@pytest.mark.parametrize("edges", GIVEN, ids=[str(i) for i in range(len(GIVEN))])
def test_dates_of_every_library_are_edges(edges: Any) -> None:
    """They were no values of a question's text, and a release of it ended in Python's own TypeError."""
    asked = tc.Count(by="day", bins={"day": edges})
    assert asked == tc.Count(by="day", bins={"day": DAYS})
    assert tc.Histogram("day", bins={"day": edges}) == tc.Histogram("day", bins={"day": DAYS})
    found = curator().release(asked, rho=0.1)
    assert found.estimate().terms == ("[2024-03-01, 2024-04-01)", "[2024-04-01, 2024-04-30]")


def test_dates_of_a_file_are_edges(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(
        'tacit = 1\n[schema]\nday = { type = "Date", lower = 2024-03-01, upper = 2024-04-30 }\n'
        '[ask.days]\nquery = "Count"\nby = "day"\nbins = { day = [2024-03-01, 2024-04-01, 2024-04-30] }\n'
    )
    from tacit.study import read

    job: Any = read(tmp_path / "job.toml")
    assert job.asks["days"] == tc.Count(by="day", bins={"day": DAYS})
    assert len(job.digest()) == 64


def test_a_time_within_a_day_is_no_edge() -> None:
    with pytest.raises(QueryError, match=r"Q64.*not a date, but a time within a day"):
        tc.Count(by="day", bins={"day": [datetime(2024, 3, 1), datetime(2024, 4, 1, 12), datetime(2024, 4, 30)]})


def test_a_range_gives_edges() -> None:
    assert tc.Count(by="age", bins={"age": range(20, 90, 10)}) == tc.Count(
        by="age", bins={"age": [20, 30, 40, 50, 60, 70, 80]}
    )


@pytest.mark.parametrize(
    ("column", "hint"),
    [
        ("age", 'bins={"age": [18, 43, 68, 93]}, or "age": Category'),
        ("pay", 'bins={"pay": [0, 100_000, 200_000, 300_000]}, or "pay": Category'),
        ("day", 'bins={"day": ["2024-03-01", "2024-03-21", "2024-04-10", "2024-04-30"]}, or "day": Category'),
    ],
)
def test_numbers_and_dates_are_groups_by_bins(column: str, hint: str) -> None:
    """The fix that is suggested can be typed as it stands."""
    owner = curator()
    with pytest.raises(QueryError, match="Q13") as refused:
        owner.release(tc.Count(by=column), rho=0.1)
    assert str(refused.value.hint).startswith(hint)
    bins: Any = eval(str(refused.value.hint).removeprefix("bins=").split(", or ")[0])
    assert len(owner.release(tc.Count(by=column, bins=bins), rho=0.1).estimate().terms) == 3


def test_ends_of_dates_are_shown_as_dates() -> None:
    with pytest.raises(QueryError) as refused:
        curator().release(tc.Count(by="day", bins={"day": "month"}), rho=0.1)  # type: ignore[dict-item]
    assert refused.value.hint == 'bins={"day": 10}, or ["2024-03-01", …, "2024-04-30"]'
