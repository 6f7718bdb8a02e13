"""Estimates that are dates: days since 1970-01-01, shown as dates in tables, frames and files.

Only the mean and the quantiles of a column of dates are dates.  Standard errors and differences are days.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import format_interval, format_number

ORIGIN: Final = datetime(1970, 1, 1)
TIMES: Final = 2
"""Decimals from which the time of day is said: the error is a tenth of a day or less."""


def number_or_date(value: float, *, decimals: int, dated: bool) -> str:
    """Return a number with fixed decimals, or the date that it is, with the time of day where decimals tell it.

    >>> number_or_date(18472.15, decimals=1, dated=True), number_or_date(18472.15, decimals=2, dated=True)
    ('2020-07-29', '2020-07-29 03:36')
    >>> number_or_date(18472.15, decimals=1, dated=False), number_or_date(float("nan"), decimals=1, dated=True)
    ('18,472.2', 'nan')
    """
    if not dated or not math.isfinite(value):
        return format_number(value, decimals=decimals)
    if decimals < TIMES:
        return (ORIGIN + timedelta(days=math.floor(value + 0.5))).date().isoformat()
    return (ORIGIN + timedelta(minutes=round(value * 24 * 60))).strftime("%Y-%m-%d %H:%M")


def interval_of(lower: float, upper: float, *, decimals: int, dated: bool) -> str:
    """Return an interval of numbers or of dates as text.

    >>> interval_of(18460.7, 18483.6, decimals=1, dated=True)
    '2020-07-18 to 2020-08-10'
    """
    if not dated:
        return format_interval(lower, upper, decimals=decimals)
    low, high = (number_or_date(end, decimals=decimals, dated=True) for end in (lower, upper))
    return f"{low} to {high}"


def error_of(value: float, *, decimals: int, dated: bool) -> str:
    """Return a standard error as text, of a date in days.

    >>> error_of(5.8, decimals=1, dated=True), error_of(5.8, decimals=1, dated=False)
    ('5.8 days', '5.8')
    """
    return f"{format_number(value, decimals=decimals)}{' days' if dated else ''}"


def shown_dates(values: Array, dated: Sequence[bool]) -> Any:
    """Return a column of a frame: the numbers, with timestamps where they are dates; one type where all are.

    >>> shown_dates(np.array([18472.5, np.nan]), (True, True)).tolist()[0]
    datetime.datetime(2020, 7, 29, 12, 0)
    """
    if not any(dated):
        return values
    known = np.isfinite(values)
    seconds = np.where(known, np.round(np.where(known, values, 0.0) * 86_400), 0).astype(np.int64)
    made = seconds.astype("datetime64[s]")
    made[~known] = np.datetime64("NaT")
    if all(dated):
        return made
    return np.array(
        [day.item() if yes else value for day, value, yes in zip(made, values, dated, strict=True)], dtype=object
    )
