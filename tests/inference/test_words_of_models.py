"""What is said of models: the methods paragraph, predictions beyond the bounds, curves of every formula."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import InferenceError

N = 4_000
SCHEMA = tc.Schema(
    {
        "age": tc.Real(18, 93, units="years"),
        "fare": tc.Real(0, 50, units="USD"),
        "kids": tc.Integer(0, 4),
        "day": tc.Date("2024-01-01", "2024-12-31"),
        "sex": tc.Category(["f", "m"]),
        "ok": tc.Boolean(),
    }
)


@pytest.fixture(scope="module", name="curator")
def table() -> tc.Curator:
    rng = np.random.default_rng(0)
    age = rng.uniform(18, 93, N)
    rows = {
        "age": age,
        "fare": 20 + 0.2 * age + rng.normal(0, 3, N),
        "kids": rng.integers(0, 5, N),
        "day": np.datetime64("2024-01-01") + rng.integers(0, 366, N).astype("timedelta64[D]"),
        "sex": np.array(["f", "m"])[rng.integers(0, 2, N)],
        "ok": rng.random(N) < 1 / (1 + np.exp(-(age - 55) / 15)),
    }
    return tc.Curator(rows, SCHEMA, name="taxi", budget=tc.Budget(rho=100))


@pytest.fixture(scope="module", name="models")
def fitted(curator: tc.Curator) -> dict[str, Any]:
    cells = curator.release(tc.Histogram(["age", "fare", "sex"], bins=12), rho=4)
    return {
        "linear": curator.release(tc.Regression("fare ~ age + sex"), rho=4).estimate(),
        "logistic": curator.release(tc.Regression("ok ~ age", model="logistic"), rho=4).estimate(),
        "cells": cells.fit("fare ~ age + sex"),
        "family": cells.fit("fare", family="normal"),
    }


def test_the_methods_paragraph_names_the_method_of_each_model_and_its_bounds(models: dict[str, Any]) -> None:
    linear, logistic, cells = (tc.methods(models[name]) for name in ("linear", "logistic", "cells"))
    bounds = "age: bounds 18 to 93 years"
    assert all(bounds in words for words in (linear, logistic, cells))
    assert "fare: bounds 0 to 50 USD" in linear
    assert "fare: bounds 0 to 50 USD" in cells
    assert "one step of clipped residuals (Bickel, 1975)" in linear
    assert "Cantoni" not in linear
    scores = "a pilot fit and steps of bounded scores of norm-clipped rows (Cantoni & Ronchetti, 2001)."
    assert f"Logistic models: {scores}" in logistic
    assert "residuals" not in logistic
    assert "Regression" not in cells
    both = tc.methods(models["linear"], models["logistic"], models["cells"])
    assert all(words in both for words in ("clipped residuals", "bounded scores", "released cells of a histogram"))


def test_bounds_of_dates_and_of_columns_with_cells_beyond_them(curator: tc.Curator) -> None:
    open_ended = curator.release(tc.Histogram(["age", "day", "kids"], bins={"age": 4, "day": 4}, outside=True), rho=1)
    closed = curator.release(tc.Histogram(["day", "kids"], bins={"day": 4}), rho=1)
    said = [tc.methods(one.estimate() if hasattr(one, "x") else one.fit("kids ~ 1")) for one in (open_ended, closed)]
    assert "clamped" not in said[0]  # values beyond the bounds have cells of their own
    assert "day: bounds 2024-01-01 to 2024-12-31; kids: bounds 0 to 4" in said[1]


@pytest.mark.parametrize("name", ["linear", "cells"])
def test_a_prediction_beyond_the_bounds_says_so(models: dict[str, Any], name: str) -> None:
    model = models[name]
    assert not any("outside" in note for note in model.predict({"age": [18, 93], "sex": ["f", "m"]}).notes)
    far = model.predict({"age": [30, 500, 94], "sex": ["f", "f", "m"]})
    (note,) = [note for note in far.notes if "outside" in note]
    assert note.startswith("age = 500 is outside 18 to 93 years, where the model was fitted")
    assert note in str(far.summary())
    one = model.predict({"age": 30, "sex": "f"})  # single values are one row
    assert one.values[0] == pytest.approx(far.values[0])
    assert any("age = -1" in note for note in model.predict({"age": -1, "sex": "f"}, scale="link").notes)


def test_a_regression_has_a_curve_of_its_predictions(models: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib")
    drawn = models["linear"].curve("age", at={"sex": "m"})
    at = np.linspace(18, 93, 101)
    expected = models["linear"].predict({"age": at, "sex": ["m"] * 101})
    assert list(drawn.values) == expected.values.tolist()
    assert (drawn.axes.get_xlabel(), "sex = m" in drawn.axes.get_title(loc="left")) == ("age (years)", True)
    assert 0 < min(models["logistic"].curve("age").lower) < max(models["logistic"].curve("age").upper) < 1
    for name, column, code in (("linear", "sex", "I41"), ("linear", "fare", "I41"), ("family", "fare", "I45")):
        with pytest.raises(InferenceError) as refused:
            models[name].curve(column)
        assert refused.value.code == code
    assert "no regressors" in refused.value.message


def test_other_columns_are_held_in_the_middle_of_their_bounds(curator: tc.Curator) -> None:
    pytest.importorskip("matplotlib")
    found = curator.release(tc.Regression("fare ~ age + kids + day + ok"), rho=9).estimate()
    title = found.curve("age").axes.get_title(loc="left")
    assert f"at kids = 2, day = {date(2024, 7, 1)}, ok = False" in title
    with pytest.raises(InferenceError, match="I41"):
        found.curve("day")
