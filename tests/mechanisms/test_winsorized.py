"""Winsorised blocks: selections and sums move as declared, windows are public arithmetic, a wide box does no harm."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit as tc
from tacit import families
from tacit.errors import TacitError
from tacit.method.blocks import mechanism_winsorized as mechanism
from tacit.method.blocks import winsorized_design
from tacit.method.shared.measurement import Measurement, Public
from tacit.models.boxes import Parameter
from tacit.models.wide_grid import STEPS, WideGrid, window
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost
from tacit.release.document import release_from_dict

EXPONENTIAL = families.Exponential(rate=(1e-4, 1e4))
NORMAL = families.Normal(mean=(-3_000, 3_000), sd=(1e-4, 5_000))
SCHEMA = tc.Schema({"x": tc.Real()})


def design(cost: Cost, model: Any = EXPONENTIAL, neighbors: str = "replace-one", k: int = 12) -> Measurement:
    query = tc.SampleAndAggregate("x", model, winsorize=True, blocks=k, rows=120)
    public = 120 if neighbors == "replace-one" else None
    return winsorized_design.design(query, Public(SCHEMA, neighbors, public), cost)


# Grid and window -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "one",
    [
        Parameter("rate", 1e-4, 1e4, "log"),
        Parameter("sd", 0.0, 5.0, "log"),
        Parameter("mean", -3e9, 1e9, "identity"),
        Parameter("p", 0.0, 1.0, "logit"),
        Parameter("r", -0.9, 0.9, "atanh"),
    ],
    ids=lambda one: one.name,
)
def test_points_ascend_over_the_whole_box(one: Parameter) -> None:
    wide = WideGrid.of(one)
    points = wide.values(np.arange(STEPS + 1))
    assert (points[0], points[-1]) == (one.lower, one.upper)
    assert (np.diff(points) >= 0).all()
    inner = np.arange(1, STEPS)
    assert (wide.places(points[inner]) == inner).mean() > 0.99  # a few points near an end coincide
    assert wide.places(np.array([np.nan, -np.inf, np.inf, one.upper * 2])).max() <= STEPS


@settings(max_examples=200, deadline=None)
@given(a=st.integers(-5, STEPS + 5), b=st.integers(-5, STEPS + 5), kind=st.sampled_from(["log", "identity", "logit"]))
def test_every_pair_of_points_has_a_window_in_the_box(a: int, b: int, kind: Any) -> None:
    one = Parameter("a", 0.001, 0.999, kind)
    lower, upper = window(WideGrid.of(one), (a, b))
    assert one.lower <= lower < upper <= one.upper
    assert window(WideGrid.of(one), (b, a)) == (lower, upper)


# Sensitivity and price -----------------------------------------------------------------------------------------------


def test_the_price_is_two_selections_and_a_mean() -> None:
    """2 epsilon_q + epsilon_n, and epsilon_q**2 / 4 + rho_n: never above the price, and all but all of it."""
    for model, p in ((EXPONENTIAL, 1), (NORMAL, 2)):
        pure = design(Cost.of(epsilon=1), model)
        used = Fraction(0)
        for chosen, mean in zip(pure.columns[::2], pure.columns[1::2], strict=True):
            law: Any = chosen.law
            assert isinstance(law, Selection)
            epsilon_q, epsilon_n = 2 * law.rate * chosen.form.l1, mean.form.l1 / mean.law.scale
            assert epsilon_q == Fraction(1, 4 * p)  # few blocks: the largest part
            used += 2 * epsilon_q + epsilon_n
        assert used == 1
        gauss, spent = design(Cost.of(rho=1), model), Fraction(0)
        for chosen, mean in zip(gauss.columns[::2], gauss.columns[1::2], strict=True):
            epsilon_q = 2 * chosen.law.rate * chosen.form.l1  # type: ignore[attr-defined]
            rho_n = Fraction(mean.form.l2_squared) / (2 * mean.law.scale**2)
            spent += epsilon_q**2 / 4 + rho_n
        assert Fraction(999, 1000) < spent <= 1


def test_the_more_blocks_the_less_the_quartiles_cost() -> None:
    """A tenth of a parameter's price each where blocks are many; by public facts alone."""
    query = tc.SampleAndAggregate("x", EXPONENTIAL, winsorize=True)
    found = []
    for rows in (2_000, 10_000, 100_000, 1_000_000):
        public = Public(SCHEMA, "replace-one", rows)
        first = winsorized_design.design(query, public, Cost.of(epsilon=1)).columns[0]
        found.append((first.cost.epsilon or 0) / 2)
    assert found[0] == Fraction(1, 4)
    assert found[-1] == Fraction(1, 10)
    assert sorted(found, reverse=True) == found


def test_the_wider_the_box_the_more_its_quartiles_are_worth() -> None:
    """A window that misses them costs up to the square of the box: narrow boxes pay a tenth, wide ones more."""
    found = []
    for high in (10.0, 1e3, 1e5):
        query = tc.SampleAndAggregate("x", families.Exponential(rate=(1 / high, high)), winsorize=True, blocks=1_000)
        cost = Cost.of(epsilon=1)
        shape = winsorized_design.design(query, Public(SCHEMA, "replace-one", 20_000), cost)
        found.append((shape.columns[0].cost.epsilon or 0) / 2)
    assert found == [Fraction(1, 10), Fraction(3, 20), Fraction(1, 5)]


def test_a_selection_never_proves_more_than_it_costs() -> None:
    """All log-ratios of all points, of neighbouring blocks: within epsilon_q, and a good part of it."""
    shape = design(Cost.of(epsilon=10))
    chosen = shape.columns[0]
    law, most = chosen.law, 0.0
    for one, two in (([1.0] * 12, [1.0] * 11 + [1e4]), ([1e-4] * 3 + [2.0] * 9, [1e-4] * 4 + [2.0] * 8)):
        runs = [mechanism.utilities(chosen.wide, np.array(values))[0] for values in (one, two)]  # type: ignore[attr-defined]
        logs = []
        for run in runs:
            weight = np.repeat(np.array(run.utility, dtype=np.float64), run.points) * float(law.rate)  # type: ignore[attr-defined]
            logs.append(weight - np.logaddexp.reduce(weight))
        most = max(most, float(np.abs(logs[0] - logs[1]).max()))
    assert 1.0 < most <= 2.5  # a quarter of the price


# Estimates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("price", [{"epsilon": 2}, {"rho": 0.5}], ids=str)
def test_a_wide_box_costs_little(price: Any) -> None:
    """The box is a hundred million wide: the truth is within 5.5 errors, mostly not much larger than need be.

    One release in 50 has quartiles far off and says so by its error: that 11 of 21 do has probability 1e-13.
    """
    rng = np.random.default_rng(1)
    curator = tc.Curator({"x": rng.exponential(0.5, 20_000)}, SCHEMA, budget=tc.Budget(**dict.fromkeys(price, 99)))
    query = tc.SampleAndAggregate("x", EXPONENTIAL, winsorize=True, bias="cox-snell")
    releases = [curator.release(query, **price) for _ in range(21)]
    for found in (one.estimate() for one in releases):
        assert found.terms == ("rate",)
        assert abs(found.value - 2) < 5.5 * found.std_error
    assert np.median([one.estimate().std_error for one in releases]) < 1.6 * 2 / np.sqrt(20_000)
    release = releases[0]
    found = release.estimate()
    low, high = found.conf_int()
    assert 1e-4 <= low < high <= 1e4
    assert any("window" in note for note in found.notes)
    again = release_from_dict(release.to_dict())
    assert again == release
    assert again.estimate().value == found.value  # type: ignore[attr-defined]


def test_blocks_that_are_alike_have_a_window_of_a_few_steps() -> None:
    shape = design(Cost.of(epsilon=1_000), k=40)
    values = np.full((40, 1), 2.0)
    parts = mechanism.of_estimates(
        shape, values, lambda runs, law: runs.first[int(np.argmax(runs.utility))], lambda c, law: c
    )
    grid = parts[1].grid
    assert grid is not None
    assert grid.lower < 2.0 < grid.upper
    assert grid.upper - grid.lower < 0.3


def test_two_steps_do_not_combine() -> None:
    """Their second question is each party's own."""
    releases = [
        tc.Curator({"x": np.full(60, 2.0)}, SCHEMA, name=name, budget=tc.Budget(epsilon=1)).release(
            tc.SampleAndAggregate("x", EXPONENTIAL, winsorize=True), epsilon=1
        )
        for name in ("one", "other")
    ]
    with pytest.raises(TacitError, match="C11"):
        tc.combine(releases)  # type: ignore[call-overload]


@pytest.mark.parametrize("table", [[], [1.0], [np.nan] * 50, [-1.0] * 50], ids=["empty", "one", "missing", "outside"])
def test_nothing_of_a_table_stops_a_release(table: list[float]) -> None:
    curator = tc.Curator(
        {"x": np.array(table, dtype=float)}, SCHEMA, budget=tc.Budget(epsilon=9, neighbors="add-remove")
    )
    for one_step in (False, True):
        query = tc.SampleAndAggregate("x", EXPONENTIAL, winsorize=True, one_step=one_step, rows=100)
        found = curator.release(query, epsilon=1).estimate()
        assert len(found.values) == 1


def test_only_the_blocks_of_a_parameter_that_is_asked_for_are_selected_from() -> None:
    shape = design(Cost.of(epsilon=1), NORMAL)
    one = winsorized_design.design(
        replace(shape.query, parameters="sd"), Public(SCHEMA, "replace-one", 120), Cost.of(epsilon=1)
    )
    assert [column.label for column in one.columns] == ["sd", "sd"]
    assert [column.label for column in shape.columns] == ["mean", "mean", "sd", "sd"]


def test_what_is_said_of_a_release_is_its_boxes_and_steps() -> None:
    """Not its windows, which are released and have many digits, nor the bounds of scores."""
    curator = tc.Curator({"x": np.full(200, 2.0)}, SCHEMA, budget=tc.Budget(epsilon=1))
    found = curator.release(
        tc.SampleAndAggregate("x", EXPONENTIAL, winsorize=True, one_step=True), epsilon=1
    ).estimate()
    said = str(found)
    assert "rate from 0.0001 to 10,000 · discrete Laplace noise · exponential mechanism · cost" in said
    words = tc.methods(found)
    assert "winsorised at quartiles selected by the exponential mechanism (Smith, 2011), followed by one step" in words
    assert "Values were clamped" not in words
    assert "Discrete Laplace noise was added" in words
