"""Made-up tables for demonstrations and rehearsals, simulated from a fixed seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.base.lazy_imports import pandas


def people(rows: int = 10_000) -> Any:
    """Return a pandas frame of made-up people: age, income, educ, sex, region, married, predicted, weight.

    >>> people(5).columns.tolist()
    ['age', 'income', 'educ', 'sex', 'region', 'married', 'predicted', 'weight']
    """
    pd = pandas()

    rng = np.random.default_rng(20_240_501)
    age = np.clip(rng.gamma(4.2, 7.5, rows) + 16, 18, 93).round()
    educ = np.clip(rng.normal(10.5, 3, rows).round(), 1, 16).astype(int)
    sex = rng.integers(0, 2, rows)
    north = rng.random(rows) < 0.4
    middle = 9.2 + 0.09 * educ + 0.02 * np.minimum(age, 55) - 0.25 * sex + 0.1 * north
    married = rng.random(rows) < 1 / (1 + np.exp(2.2 - 0.05 * age))
    frame = {
        "age": age,
        "income": np.round(np.exp(rng.normal(middle, 0.7)), -1),
        "educ": educ,
        "sex": sex,
        "region": np.where(north, "north", "south"),
        "married": married,
        "predicted": np.where(rng.random(rows) < 0.85, married, ~married),
        "weight": np.round(rng.gamma(4, 0.25, rows) + 0.2, 2),
    }
    return pd.DataFrame(frame)


def events(users: int = 2_000) -> Any:
    """Return a pandas frame of made-up visits, several for each user: user, seconds.

    >>> sorted(events(3).columns)
    ['seconds', 'user']
    """
    pd = pandas()

    rng = np.random.default_rng(20_240_502)
    visits = 1 + rng.poisson(4, users)
    user = np.repeat(np.arange(users), visits)
    pace = np.repeat(rng.normal(4.5, 0.6, users), visits)
    return pd.DataFrame({"user": user, "seconds": np.round(np.exp(rng.normal(pace, 0.8)), 1)})
