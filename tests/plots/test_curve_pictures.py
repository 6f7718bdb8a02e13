"""Pictures of ratios, differences of quantiles, survival and fitted curves show the numbers they stand for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit import plots
from tacit.errors import InferenceError

pytest.importorskip("matplotlib")
SCHEMA = tc.Schema({"ok": tc.Boolean(), "income": tc.Real(0, 100, units="USD"), "g": tc.Category(["a", "b", "c"])})


def estimate(query: tc.Query, rho: float = 0.5) -> Any:
    rng, n = np.random.default_rng(0), 3_000
    g = rng.integers(0, 3, n)
    table = {"g": np.array(["a", "b", "c"])[g], "ok": rng.random(n) < 0.2 + 0.2 * g, "income": rng.uniform(0, 60, n)}
    table["income"] += 15 * g
    return tc.Curator(table, SCHEMA, name="people", budget=tc.Budget(rho=9)).release(query, rho=rho).estimate()


def bars(axes: Any) -> list[tuple[float, float, float]]:
    """(lower, upper, place) of the bars."""
    return [(line[0][0], line[1][0], line[0][1]) for line in axes.collections[0].get_segments()]


def places(axes: Any, hollow: bool) -> list[float]:
    """Places of the points, filled or hollow, without arrows."""
    lines = [line for line in axes.lines if line.get_marker() == "o"]
    return sorted(
        float(x) for line in lines if (line.get_markerfacecolor() == "white") == hollow for x in line.get_xdata()
    )


@pytest.mark.parametrize("of", ["ratio", "odds"])
def test_ratios_stand_on_a_logarithmic_axis_with_a_line_at_one(of: Any) -> None:
    found = estimate(tc.Mean("ok", by="g")).pairwise(of=of)
    shown = found.plot()
    axes, limits = shown.axes, found.intervals()
    assert shown.terms == tuple(one.name for one in found.ratios)
    assert axes.get_xlabel() == f"{'ratio' if of == 'ratio' else 'odds ratio'}, mean of ok"
    assert shown.values == tuple(one.value for one in found.ratios)
    assert [end[:2] for end in bars(axes)] == [pytest.approx(tuple(row)) for row in limits.tolist()]
    assert [end[2] for end in bars(axes)] == [2, 1, 0]
    assert axes.get_xscale() == "log"
    assert axes.get_xlim()[0] < limits.min() < limits.max() < axes.get_xlim()[1]
    inside = (limits[:, 0] <= 1) & (limits[:, 1] >= 1)
    assert places(axes, True) == sorted(np.array(shown.values)[inside])
    assert places(axes, False) == sorted(np.array(shown.values)[~inside])
    assert [1.0, 1.0] in [list(line.get_xdata()) for line in axes.lines]
    assert "Bonferroni" in shown.caption
    ticks = [tick for tick in axes.get_xticks() if axes.get_xlim()[0] <= tick <= axes.get_xlim()[1]]
    assert len(ticks) >= 3


def test_an_interval_without_end_has_an_arrow() -> None:
    found = estimate(tc.Mean("ok", by="g")).pairwise(of="ratio")
    ends = {"a / b": (0.0, np.inf), "a / c": (0.2, 0.6), "b / c": (0.5, np.inf)}

    def of(one: Any) -> Any:
        value = np.inf if one.name == "b / c" else one.value
        return replace(one, value=value, _ends=lambda _: ends[one.name])

    shown = replace(found, ratios=tuple(of(one) for one in found.ratios)).plot()
    arrows = [line for line in shown.axes.lines if line.get_gid() == "beyond"]
    by_marker = {line.get_marker(): sorted(line.get_ydata()) for line in arrows}
    assert by_marker == {"<": [2], ">": [0, 2]}
    low, high = shown.axes.get_xlim()
    for line in arrows:
        assert line.get_xdata() == pytest.approx([low if line.get_marker() == "<" else high] * len(line.get_xdata()))
    assert (shown.lower, shown.upper) == ((0.0, 0.2, 0.5), (np.inf, 0.6, np.inf))
    assert len(places(shown.axes, True) + places(shown.axes, False)) == 2  # one has no finite value


def test_ratios_below_zero_stand_on_a_plain_axis() -> None:
    found = estimate(tc.Mean("ok", by="g")).pairwise(of="ratio", adjust=None)
    ratios = tuple(replace(one, value=-0.5, _ends=lambda _: (-2.0, 1.5)) for one in found.ratios)
    shown = replace(found, ratios=ratios).plot()
    assert shown.axes.get_xscale() == "linear"
    assert shown.axes.get_xlim()[0] < -2
    assert "not adjusted" in shown.caption


def test_differences_of_quantiles_and_a_line_at_nothing() -> None:
    first, second = (
        estimate(tc.Quantiles("income", [0.25, 0.5], where=f"g == '{g}'", level=0.975), rho=2) for g in "ac"
    )
    found = tc.difference(first, second)
    shown = found.plot()
    assert shown.terms == found.terms
    assert shown.values == tuple(found.values)
    assert [end[:2] for end in bars(shown.axes)] == [tuple(row) for row in found.limits.tolist()]
    inside = (found.limits[:, 0] <= 0) & (found.limits[:, 1] >= 0)
    assert places(shown.axes, True) == sorted(found.values[inside].tolist())
    assert shown.level == found.level
    assert "Bonferroni" in shown.caption
    assert [0.0, 0.0] in [list(line.get_xdata()) for line in shown.axes.lines]
    with pytest.raises(InferenceError) as refused:
        found.summary(level=0.99)
    assert refused.value.code == "I14"


def test_survival_curves_fall_in_steps_from_one() -> None:
    times = np.array([1.0, 2.0, 4.0])
    curves = np.array([[0.9, 0.6, 0.3], [0.95, 0.9, 0.8]])
    shown = plots.survival(
        times, curves, curves - 0.1, np.minimum(curves + 0.1, 1), ("f", "m"), words="wait (days)", caption="noise"
    )
    axes = shown.axes
    lines = [line for line in axes.lines if line.get_drawstyle() == "steps-post"]
    assert [line.get_label() for line in lines] == ["f", "m"]
    for line, values in zip(lines, curves, strict=True):
        assert line.get_xdata().tolist() == [0, 1, 2, 4]
        assert line.get_ydata().tolist() == [1, *values]
    assert len({line.get_linestyle() for line in lines}) == 2
    assert shown.terms == ("f:1", "f:2", "f:4", "m:1", "m:2", "m:4")
    assert shown.values == tuple(curves.reshape(-1))
    assert shown.lower == tuple((curves - 0.1).reshape(-1))
    band = axes.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(0.2)
    assert axes.get_xlabel() == "wait (days)"
    assert axes.get_ylim()[0] == 0
    assert [text.get_text() for text in axes.get_legend().get_texts()][:2] == ["95% interval, f", "f"]
    assert shown.caption == axes.figure.texts[0].get_text() == "noise"


@pytest.mark.parametrize(
    "arrays",
    [
        ([1, 2], [[0.5, 0.4]], [[0.5, 0.4]], [[0.5]]),
        ([1, 2, 3], [[0.5, 0.4]], [[0.5, 0.4]], [[0.5, 0.4]]),
        ([1], [[0.5]] * 5, [[0.5]] * 5, [[0.5]] * 5),
    ],
)
def test_survival_curves_that_do_not_fit(arrays: Any) -> None:
    with pytest.raises(InferenceError) as refused:
        plots.survival(*arrays, tuple("abcde")[: len(arrays[1])])
    assert refused.value.code == "I05"


def test_a_fitted_curve_over_what_was_counted() -> None:
    x = np.linspace(0, 10, 21)
    observed = (np.array([1.0, 5.0, 9.0, 9.5]), np.array([1.2, 4.8, 9.3, 50]), np.array([400.0, 100.0, 25.0, -3.0]))
    shown = plots.curve(
        x, x, x - 1, x + 1, observed=observed, words="age (years)", response="income", title="linear", level=0.9
    )
    axes = shown.axes
    (line,) = axes.lines
    assert line.get_xdata().tolist() == line.get_ydata().tolist() == x.tolist()
    band, circles = axes.collections
    assert band.get_paths()[0].vertices[:, 1].min() == -1
    assert circles.get_offsets().tolist() == [[1, 1.2], [5, 4.8], [9, 9.3]]  # a bin without rows has no mean
    sizes = circles.get_sizes()
    assert (sizes / sizes[0]).tolist() == [1, 0.25, 0.0625]
    assert (shown.lower, shown.upper) == (tuple(x - 1), tuple(x + 1))
    assert [text.get_text() for text in axes.get_legend().get_texts()][:2] == ["90% interval", "fitted"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("age (years)", "income")


def test_a_curve_without_standard_errors_has_no_band() -> None:
    nothing = [np.nan, np.nan]
    shown = plots.curve([0, 1], [2, 3], nothing, nothing)
    assert len(shown.axes.collections) == 0
    assert shown.axes.lines[0].get_ydata().tolist() == [2, 3]
    with pytest.raises(InferenceError) as refused:
        plots.curve([0, 1], [2, 3], [1], [4, 5])
    assert refused.value.code == "I05"
