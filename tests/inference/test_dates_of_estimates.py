"""Means and quantiles of dates are shown as dates, with errors in days: in text, in frames and in JSON."""

from __future__ import annotations

import datetime as dt
import json
import re

import numpy as np
import pandas as pd
import pytest

import tacit as tc
from tacit.cli.output import as_text
from tacit.cli.show_commands import records

SCHEMA = tc.Schema(
    {"day": tc.Date(dt.date(2020, 1, 1), dt.date(2021, 12, 31)), "x": tc.Real(0, 1), "g": tc.Category(["a", "b", "c"])}
)
FIRST, LAST = pd.Timestamp("2020-01-01"), pd.Timestamp("2021-12-31")
DAY = r"2020-0[78]-\d\d"


@pytest.fixture(name="curator")
def _curator() -> tc.Curator:
    rng = np.random.default_rng(0)
    days = np.datetime64("2020-03-01") + rng.integers(0, 300, 5_000)
    rows = {"day": days, "x": rng.random(5_000), "g": rng.choice(["a", "b"], 5_000)}
    return tc.Curator(rows, SCHEMA, budget=tc.Budget(rho=1_000))


def test_a_mean_is_a_date_and_its_error_days(curator: tc.Curator) -> None:
    """The mean is 28 July 2020, with a standard error of about a day: not of July or August less than once in 10⁶."""
    found = curator.release(tc.Mean("day"), rho=1).estimate()
    assert re.search(rf"day  {DAY}  +1\.\d days  {DAY} to {DAY} ", str(found))
    assert "values clamped to 2020-01-01 to 2021-12-31;" in str(found)
    frame = found.to_frame()
    assert frame["lower"].iloc[0] < frame["estimate"].iloc[0] < frame["upper"].iloc[0]
    assert FIRST < frame["estimate"].iloc[0] < LAST
    assert 0.5 < frame["std_error"].iloc[0] < 5
    assert re.search(rf'"estimate": "{DAY}T\d\d:\d\d:\d\d"', as_text(records(frame)))


def test_a_level_without_rows_has_no_date(curator: tc.Curator) -> None:
    found = curator.release(tc.Mean("day", by="g"), rho=1).estimate()
    frame = found.to_frame()
    assert pd.isna(frame["estimate"]["c"])
    assert (frame["lower"]["c"], frame["upper"]["c"]) == (FIRST, LAST)
    said = json.loads(as_text(records(frame)))[2]
    assert said["estimate"] is None
    assert said["std_error"] is None
    assert said["privacy_share"] is None
    assert said["lower"] == "2020-01-01T00:00:00"
    assert said["reason"]
    # a difference of dates is a number of days
    assert isinstance(found.contrast("a - b").to_frame()["estimate"].iloc[0], float)


def test_dates_and_numbers_side_by_side(curator: tc.Curator) -> None:
    frame = curator.release(tc.Mean(["day", "x"]), rho=1).estimate().to_frame()
    assert FIRST < frame["estimate"]["day"] < LAST
    assert 0 < frame["estimate"]["x"] < 1


def test_quantiles_and_moments_of_cells(curator: tc.Curator) -> None:
    asked = curator.release(tc.Quantiles("day", [0.5]), rho=1).estimate()
    cells = curator.release(tc.Histogram("day", bins={"day": 24}), rho=10)
    for found in (asked, cells.quantiles("day", [0.5]), cells.moments("day")):
        assert re.search(rf"{DAY}  .*{DAY} to {DAY}", str(found))
        assert FIRST < found.to_frame()["estimate"].iloc[0] < LAST
    spread = cells.moments("day").to_frame()["estimate"]["sd"]
    assert isinstance(spread, float)
