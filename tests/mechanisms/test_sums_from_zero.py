"""Sums that are counted from 0: rows that are absent add nothing, so that no number of present rows is paid for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.method.moments.mechanism import exact
from tacit.method.shared.measurement import Public
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.source import open_source
from tacit.testing.coverage import coverage
from tacit.testing.simulate import exact_integers

ROWS = 600
BOUNDS: dict[str, Any] = {
    "zero": tc.Real(0, 90),
    "above": tc.Real(18, 65),
    "below": tc.Real(-40, -3.5),
    "far": tc.Real(1_000, 1_001),
    "both": tc.Real(-3, 5),
    "digits": tc.Real(0.1234567890123, 7.654321098765),
    "years": tc.Integer(1990, 2030),
    "wide": tc.Integer(3, 40_000_000),
    "placed": tc.Real(10, 20, missing=12),
    "day": tc.Boolean(),
}
SCHEMA = tc.Schema({**BOUNDS, "g": tc.Category(["a", "b"])})


def table(rng: np.random.Generator) -> dict[str, Any]:
    found: dict[str, Any] = {"g": rng.choice(["a", "b", "?"], ROWS), "day": rng.random(ROWS) < 0.4}
    for name, column in BOUNDS.items():
        if name != "day":
            low, high = column.lower, column.upper
            x = rng.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low), ROWS)
            x = np.rint(x) if isinstance(column, tc.Integer) else x
            found[name] = np.where(rng.random(ROWS) < 0.2, np.nan, x)
    return found


def by_hand(rows: dict[str, Any], name: str, inside: np.ndarray) -> tuple[float, float]:
    """Sum of present values moved into their bounds, and the sum of their squares."""
    x, column = np.asarray(rows[name], dtype=float), BOUNDS[name]
    if name == "placed":
        x = np.where(np.isnan(x), 12.0, x)
    x = x if name == "day" else np.clip(x, column.lower, column.upper)
    return float(np.nansum(x[inside])), float(np.nansum(x[inside] ** 2))


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.1}], ids=str)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize("name", BOUNDS)
def test_sums_count_from_zero(name: str, neighbors: str, price: Any) -> None:
    """From integers without noise: the sum, and where rows are a sample of private size the sum of squares."""
    rows = table(np.random.default_rng(5))
    for by, where in ((None, None), ("g", None), (None, "zero > 40")):
        query = tc.Sum(name, by=by, where=where)
        shape = design(query, Public(SCHEMA, neighbors, ROWS if neighbors == "replace-one" else None), Cost.of(**price))
        counts = exact(shape, open_source(rows))
        for one, other in zip(exact_integers(shape, rows), counts, strict=True):
            assert [tuple(int(k) for k in cell) for cell in one] == [tuple(cell) for cell in other]
        made = simulated(shape, tuple(np.array(one, dtype=object) for one in counts)).estimate()
        inside = rows["g"] == "a" if by else rows["zero"] > 40 if where else np.ones(ROWS, dtype=bool)
        total, squares = by_hand(rows, name, inside)
        span = 1.0 if name == "day" else float(BOUNDS[name].upper - BOUNDS[name].lower)
        assert made.values[0] == pytest.approx(total, abs=span * ROWS / 2**20)
        if neighbors == "add-remove" and name != "day":
            assert made.sampling_variances[0] == pytest.approx(squares, rel=0.01)


def test_a_sum_has_the_noise_of_its_furthest_value_and_no_more() -> None:
    """Missing values that are left out cost nothing: the range of 0 to the bound at one price, whatever the law."""
    for name, most in (("zero", 90), ("above", 65), ("below", 40), ("both", 8)):
        for cost in (Cost.of(epsilon=1), Cost.of(rho=0.5)):
            (column,) = design(tc.Sum(name), Public(SCHEMA, "replace-one", ROWS), cost).columns
            grid = column.grid
            assert grid is not None
            step = (grid.upper - grid.lower) / grid.G
            noise = step * np.sqrt(column.law.variance())
            assert noise == pytest.approx(most * (np.sqrt(2) if cost.kind == "pure" else 1), rel=1e-3)


AGES = np.random.default_rng(0).beta(2, 3, 5_000) * 47 + 18


@pytest.mark.sample(2)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize("price", [{"rho": 0.05}, {"epsilon": 0.5}], ids=str)
def test_sums_of_columns_with_missing_cells_cover(price: Any, neighbors: str) -> None:
    """Of 400 rows, a fifth missing: the expected total.  5 standard errors of 800 simulations, false alarm < 1e-6."""

    def draw(rng: np.random.Generator) -> dict[str, Any]:
        n = 400 if neighbors == "replace-one" else rng.poisson(400)
        return {"age": np.where(rng.random(n) < 0.2, np.nan, rng.choice(AGES, n))}

    schema = tc.Schema({"age": tc.Real(18, 65)})
    truth = 0.8 * 400 * float(AGES.mean())
    found = coverage(tc.Sum("age"), draw, truth, schema=schema, repeats=800, neighbors=neighbors, **price)
    slack = 5 * np.sqrt(0.05 * 0.95 / 800)
    assert 0.94 - slack < found.coverage[0] < 0.97 + slack
    assert abs(found.bias[0]) < 5 * found.bias_error[0] + 0.02 * found.std_deviation[0]
