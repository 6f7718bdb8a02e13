"""Quantiles with a reason have the bounds of the column for an interval, and move no other; values of three selections.

All is seeded.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.method.quantiles.estimate_steps import of_selections, settled
from tacit.method.quantiles.rank_errors import share_of_ends
from tacit.release.document import release_from_dict
from tacit.release.parts import Grid
from tacit.testing.simulated_quantiles import simulate_quantiles

GRID = Grid("real", 0.0, 100.0, 1_000)
SCHEMA = tc.Schema({"x": tc.Real(-5, 15, units="kg", missing=0), "g": tc.Category(["a", "b", "rare"])})


def release(query: Any, n: int = 4_000, **price: Any) -> Any:
    rng = np.random.default_rng(n)
    table = {"x": rng.normal(5, 2, n), "g": rng.choice(["a", "b", "rare"], n, p=[0.6, 0.395, 0.005])}
    return tc.Curator(table, SCHEMA, name="people", budget=tc.Budget(rho=9)).release(query, **price)


@pytest.mark.usefixtures("selected_ends")
def test_a_reason_leaves_the_bounds_of_the_column() -> None:
    """In the estimate, as a table, in groups, from a file, and in differences: never finite and wrong."""
    found = release(tc.Quantiles("x", ["1/1000", 0.5], by="g", level=0.975), rho=0.3)
    for one in (found.estimate(), release_from_dict(json.loads(found.to_json())).estimate()):
        few = np.array([reason is not None for reason in one.reasons])
        assert few.tolist() == [True, False, True, False, True, True]
        assert one.limits[few].tolist() == [[-5.0, 15.0]] * 4
        assert (np.diff(one.limits[~few], axis=1) < 2).all()
        assert one.to_frame()[["lower", "upper"]].to_numpy()[few].tolist() == [[-5.0, 15.0]] * 4
        assert tc.difference(one["rare:0.5"], one["a:0.5"]).limits[0, 0] < -5
        assert "few" in (tc.difference(one["rare:0.5"], one["a:0.5"]).reasons[0] or "")
    assert str(one.summary()).count("-5.00 to 15.00") == 4  # and the decimals are those of the sure ones
    assert "the interval is that of the column's bounds" in str(tc.table(one))
    assert "[-5.00, 15.00] ?" in str(tc.table(one))


def test_the_first_versions_form_is_read_with_the_bounds_too() -> None:
    """Releases of 0.1 have the form "ranks": their values are the steps that were selected, without the ends."""
    lines = (Path(__file__).parents[1] / "documents" / "releases_0.1.jsonl").read_text(encoding="utf-8").splitlines()
    old = [release_from_dict(one) for one in map(json.loads, lines) if one.get("kind") == "quantiles"]
    assert old
    for one in old:
        assert {part.form for part in one.parts} <= {"ranks", "size"}
        grid, found = one.parts[0].grid, one.estimate()
        assert grid is not None
        for limits, reason in zip(found.limits, found.reasons, strict=True):
            assert reason is None or limits.tolist() == [grid.lower, grid.upper]
        if len(found.values) == 1:
            ((low, at, high),) = one.parts[0].integers
            step = sorted((low, at, high))[1]
            assert found.value == pytest.approx(grid.lower + (grid.upper - grid.lower) * step / grid.G)


def test_an_unsure_quantile_moves_no_other() -> None:
    """Random selections: sure terms are what they would be without the unsure ones, and all values rise."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        ends = np.sort(rng.integers(0, 20, (3, 6, 2)).astype(float), axis=-1)
        middle = np.clip(rng.integers(0, 20, (3, 6)), ends[..., 0], ends[..., 1])
        unsure = rng.random((3, 6)) < 0.4
        values, limits = settled(middle, ends, unsure, GRID)
        assert (np.diff(values, axis=1) >= 0).all()
        assert np.isfinite(values).all()
        for i in range(3):
            sure = ~unsure[i]
            if sure.any():
                alone = settled(middle[i : i + 1, sure], ends[i : i + 1, sure], unsure[i : i + 1, sure], GRID)
                assert values[i, sure].tolist() == alone[0][0].tolist()
                assert limits[i, sure].tolist() == alone[1][0].tolist()
        assert (limits[unsure] == [0.0, 100.0]).all()


def test_a_value_stays_with_an_end_that_it_meets() -> None:
    """Heaps, gaps and whole numbers: a step that is an end of its interval is the value; else both ends pull."""
    steps = np.array([[[200.0, 200.0, 800.0], [200.0, 800.0, 800.0], [400.0, 500.0, 620.0], [400.0, 410.0, 800.0]]])
    values, limits = of_selections(steps, GRID, np.full((1, 4), 0.5))
    assert values[0].tolist() == pytest.approx([20.0, 80.0, 50.5, 41.5])
    assert limits[0, 2].tolist() == pytest.approx([39.95, 62.05])
    assert of_selections(steps, GRID, np.zeros((1, 4)))[0][0].tolist() == pytest.approx([20.0, 80.0, 50.0, 41.0])


def test_both_ends_weigh_by_the_variance_of_their_middle() -> None:
    """Selections with Laplace errors among rows with independent exponential spacings: the stated variances, and a
    smaller one for the weighted value than for either alone.  200,000 draws, 6 standard errors of a variance."""
    rng, scale, reach, repeats = np.random.default_rng(4), 7.0, 60.0, 200_000
    low, at, high = rng.laplace(0, scale, (3, repeats))
    # gamma: the length of `reach` spacings of mean 1, on either side
    spaced = rng.gamma(reach, 1.0, (2, repeats)) - reach
    middle = (low + high + spaced[1] - spaced[0]) / 2
    slack = 6 * np.sqrt(5 / repeats)  # the fourth moment of a Laplace variable is 6 times its squared variance
    assert np.var(middle) == pytest.approx(scale**2 + reach / 2, rel=slack)
    assert np.var(at) == pytest.approx(2 * scale**2, rel=slack)
    weight = share_of_ends(scale, reach)
    best = np.var(weight * middle + (1 - weight) * at)
    assert best < 0.99 * min(np.var(middle), np.var(at))
    for other in (weight - 0.1, weight + 0.1):
        assert best < np.var(other * middle + (1 - other) * at)


@pytest.mark.long
def test_values_are_nearer_to_the_tables_than_their_step_alone() -> None:
    """300 normal tables of 5,000 rows at epsilon 0.4: the mean absolute error falls below 0.95 of that of the steps.

    It is about 0.75; each ratio has a standard error of 0.04, so that a right one fails with probability 3e-7.
    """
    rng, own, alone = np.random.default_rng(5), [], []
    for _ in range(300):
        x = rng.normal(5, 2, 5_000)
        found = simulate_quantiles(tc.Quantiles("x", [0.5]), {"x": x}, SCHEMA, rng=rng, epsilon="0.4")
        part = found.release.parts[0]
        assert part.grid is not None
        own.append(abs(found.value - np.median(x)))
        alone.append(abs(-5 + 20 * part.integers[0][1] / part.grid.G - np.median(x)))
    assert np.mean(own) < 0.95 * np.mean(alone)
