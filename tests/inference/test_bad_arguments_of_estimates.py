"""Arguments of a wrong type of what is made of releases are errors of Tacit, and repeat nothing."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit as tc

COLUMN = pd.Series([77.125, 40.0, 50.0] * 20)
STRANGE: dict[str, Any] = {
    "column": COLUMN,
    "array": COLUMN.to_numpy(),
    "frame": COLUMN.to_frame(),
    "list": COLUMN.to_list(),
    "dict": dict(COLUMN.items()),
    "number": -3.5,
    "large": 10**5_000,
    "object": object(),
    "class": tc.Mean,
    "function": len,
    "nested": [[[77.125]]],
    "half a character": "\ud800",
    "true": True,
}
CALLS: dict[str, dict[str, Any]] = {
    "mean.estimate": {},
    "mean estimate.test": {"constraints": "f = m"},
    "mean estimate.contrast": {"expression": "f - m"},
    "mean estimate.conf_int": {},
    "mean estimate.summary": {},
    "mean estimate.pairwise": {},
    "mean estimate.standardize": {"weights": {"f": 1}},
    "mean estimate.poststratify": {"totals": {"f": 1, "m": 2}},
    "mean estimate.ratio": {"numerator": "f", "denominator": "m"},
    "mean estimate.__getitem__": {"term": "f"},
    "model.test": {"constraints": "age = 0"},
    "model.contrast": {"expression": "age"},
    "model.predict": {"table": {"age": [1.0]}},
    "model.curve": {"column": "age"},
    "cells.fit": {"what": "w ~ age"},
    "cells.margin": {"columns": "age"},
    "cells.quantiles": {"column": "age", "probs": [0.5]},
}


@pytest.fixture(scope="module", name="things")
def released() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    rows = {"age": rng.uniform(20, 80, 600), "w": rng.uniform(0, 9, 600), "sex": ["f", "m"] * 300}
    schema = tc.Schema({"age": tc.Real(18, 93), "w": tc.Real(0, 9), "sex": tc.Category(["f", "m"])})
    curator = tc.Curator(rows, schema, budget=tc.Budget(rho=9))
    mean = curator.release(tc.Mean("age", by="sex"), rho=1)
    cells = curator.release(tc.Histogram(["age", "w"], bins=5), rho=5)
    return {"mean": mean, "mean estimate": mean.estimate(), "cells": cells, "model": cells.fit("w ~ age")}


@pytest.mark.parametrize("call", sorted(CALLS))
def test_strange_arguments(things: dict[str, Any], call: str) -> None:
    thing, _, name = call.partition(".")
    method = getattr(things[thing], name)
    for argument in inspect.signature(method).parameters:
        for what, value in STRANGE.items():
            if argument in ("ax", "what") and what == "number":
                continue
            if argument == "ax":
                continue
            given = {**CALLS[call], argument: value}
            said = ""
            try:
                method(*given.values()) if name == "__getitem__" else method(**given)
            except tc.TacitError as error:
                said = str(error)
            assert "77.125" not in said or what in ("dict", "nested"), (call, argument, what, said)
