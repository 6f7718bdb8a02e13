"""Pictures of quantiles, of data quality and of differences show the numbers they stand for."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import InferenceError
from tacit.method.quality.estimate import hints, worth_a_look
from tacit.plots import canvas

pytest.importorskip("matplotlib")
SCHEMA = tc.Schema(
    {
        "income": tc.Real(0, 50_000, units="USD"),
        "region": tc.Category(["north", "south", "west"]),
        "ok": tc.Boolean(),
    }
)


def release(query: tc.Query, rho: float = 0.5, relation: Any = "replace-one", name: str | None = None) -> Any:
    rng = np.random.default_rng(0)
    income = np.exp(rng.normal(10, 0.7, 900))
    income[::9] = np.nan
    labels = np.array(["north", "south", "west", "wset"])
    table = {"income": income, "region": labels[rng.integers(0, 4, 900)], "ok": rng.random(900) < 0.5}
    budget = tc.Budget(rho=9, neighbors=relation)
    return tc.Curator(table, SCHEMA, name="people", budget=budget).release(query, rho=rho, name=name)


def bars(axes: Any, which: int = 0) -> list[tuple[float, float, float]]:
    """(lower, upper, place) of bars."""
    return [(line[0][0], line[1][0], line[0][1]) for line in axes.collections[which].get_segments()]


def points(axes: Any, filled: bool) -> list[tuple[float, float]]:
    """Places of the markers, filled or hollow."""
    found: list[tuple[float, float]] = []
    for line in axes.lines:
        hollow = line.get_markerfacecolor() == "white"
        if line.get_marker() not in ("None", "", None) and hollow != filled:
            found += zip(line.get_xdata(), line.get_ydata(), strict=True)
    return sorted((float(x), float(y)) for x, y in found)


def words(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_quantiles_stand_at_their_probabilities(relation: str) -> None:
    found = release(tc.Quantiles("income", [0.1, 0.5, 0.9], level=0.9), relation=relation).estimate()
    shown = found.plot()
    assert shown.terms == ("0.1", "0.5", "0.9")
    assert shown.values == tuple(found.values)
    assert list(zip(shown.lower, shown.upper, strict=True)) == [tuple(row) for row in found.limits]
    assert (shown.inner_lower, shown.inner_upper, shown.level) == ((), (), 0.9)
    axes = shown.axes
    assert bars(axes) == [(*row, p) for row, p in zip(found.limits.tolist(), (0.1, 0.5, 0.9), strict=True)]
    sure = [reason is None for reason in found.reasons]
    at = list(zip(found.values.tolist(), (0.1, 0.5, 0.9), strict=True))
    assert points(axes, True) == sorted(place for place, yes in zip(at, sure, strict=True) if yes)
    assert points(axes, False) == sorted(place for place, yes in zip(at, sure, strict=True) if not yes)
    assert axes.get_ylim() == (0.0, 1.0)
    assert axes.get_ylabel() == "share of rows at or below"
    assert axes.get_xlabel().count("USD") == 1
    assert axes.get_title(loc="left").startswith("Quantiles of income · people")
    assert words(axes)[0] == "90% interval"
    assert "ρ = 0.5" in shown.caption


def test_quantiles_of_too_few_rows_are_hollow() -> None:
    found = release(tc.Quantiles("income", [0.1, 0.9]), rho=1e-5).estimate()
    assert None not in found.reasons
    axes = found.plot().axes
    assert points(axes, True) == []
    assert points(axes, False) == sorted(zip(found.values.tolist(), (0.1, 0.9), strict=True))
    assert "few rows for this price" in words(axes)


def test_two_releases_on_the_same_axes_differ_by_marker_and_name() -> None:
    first = release(tc.Quantiles("income", [0.25, 0.75]), name="dear").plot()
    second = release(tc.Quantiles("income", [0.25, 0.75]), rho=0.4, name="cheap").plot(ax=first.axes)
    axes = second.axes
    assert axes is first.axes
    assert len({line.get_marker() for line in axes.lines if line.get_marker() not in ("None", "")}) == 2
    assert {"95% interval, dear", "95% interval, cheap"} <= set(words(axes))
    (caption,) = axes.figure.texts
    assert "ρ = 0.5" in caption.get_text()
    assert "ρ = 0.4" in caption.get_text()


def test_groups_of_quantiles_are_curves_of_their_own() -> None:
    """Estimates of several cells hold them one after another."""
    one = release(tc.Quantiles("income", [0.25, 0.75])).estimate()
    cells = replace(one.release, levels=(("region", ("north", "south")),))
    limits = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    found = replace(one, release=cells, values=limits.mean(axis=1), limits=limits, reasons=(None,) * 4)
    axes = found.plot().axes
    assert [end[:2] for end in bars(axes, 0)] == [(1.0, 2.0), (3.0, 4.0)]
    assert [end[:2] for end in bars(axes, 1)] == [(5.0, 6.0), (7.0, 8.0)]
    assert words(axes) == ["95% interval, north", "95% interval, south"]


def test_no_group_looks_as_if_all_its_shares_were_higher() -> None:
    """The first group stands at its probabilities, the others above and below, and none outside the axes."""
    found = release(tc.Quantiles("income", [0.01, 0.99], by="region")).estimate()
    axes = found.plot().axes
    places = [[end[2] for end in bars(axes, i)] for i in range(3)]
    assert places[0] == pytest.approx([0.01, 0.99])
    assert np.mean(places, axis=0) == pytest.approx([0.01, 0.99])
    low, high = axes.get_ylim()
    assert low < np.min(places)
    assert high > np.max(places)


def test_long_sentences_make_no_wider_pictures() -> None:
    long = "income of everybody who was at home when the interviewer called"
    table = {long: np.arange(900.0) * 50, "region": ["north", "south", "west"] * 300}
    schema = tc.Schema({long: tc.Real(0, 50_000, units="USD"), "region": SCHEMA["region"]})
    curator = tc.Curator(table, schema, name="people-of-the-year-2024", budget=tc.Budget(rho=9))
    shown = curator.release(tc.Quantiles(long, [0.1, 0.5, 0.9], by="region"), rho=0.5).plot()
    model = curator.release(tc.Regression(f"`{long}` ~ region"), rho=1).plot()
    for figure in (shown.axes.figure, model.axes.figure):
        figure.savefig(BytesIO(), format="png")
        assert figure.get_tightbbox().width < 1.05 * figure.get_figwidth()


def test_a_picture_has_the_level_that_was_selected() -> None:
    found = release(tc.Quantiles("income", [0.5], level=0.9)).estimate()
    assert found.plot().level == 0.9
    with pytest.raises(InferenceError) as refused:
        found.summary(level=0.95)
    assert refused.value.code == "I14"
    assert found.probs == (Fraction(1, 2),)


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_quality_is_one_block_a_column(relation: str) -> None:
    found = release(tc.DataQuality(), relation=relation).estimate()
    shown = found.plot()
    axes = shown.axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [
        *("income", "missing", "below", "above"),
        *("region", "missing", "unlisted"),
        *("ok", "missing", "unlisted"),
    ]
    bold = [label.get_text() for label in axes.get_yticklabels() if label.get_fontweight() == "bold"]
    assert bold == ["income", "region", "ok"]
    assert shown.terms == found.terms
    limits = found.intervals()
    assert [end[:2] for end in bars(axes)] == [tuple(row) for row in limits.tolist()]
    assert [x for x, _ in points(axes, True)] == sorted(found.values.tolist())
    ticks = dict(zip(axes.get_yticks().tolist(), labels, strict=True))
    assert [ticks[end[2]] for end in bars(axes)] == [term.rpartition(": ")[2] for term in found.terms]
    for low, inner, outer, high in zip(shown.lower, shown.inner_lower, shown.inner_upper, shown.upper, strict=True):
        assert low <= inner <= outer <= high
    assert words(axes)[:2] == ["with privacy", "sampling alone"]
    assert axes.get_xlim()[0] == 0.0
    assert axes.get_xlim()[1] <= 1.0


def test_what_is_worth_a_look_is_a_diamond() -> None:
    found = release(tc.DataQuality()).estimate()
    marked = worth_a_look(found)
    assert sum(marked) == len(hints(found)) > 0
    axes = found.plot().axes
    (line,) = [line for line in axes.lines if line.get_marker() == "D"]
    assert sorted(line.get_xdata()) == sorted(v for v, yes in zip(found.values, marked, strict=True) if yes)
    assert "worth a look" in words(axes)
    clean = found["ok: missing"].plot()  # a single share is drawn as any other term
    assert clean.terms == ("ok: missing",)
    assert "worth a look" not in words(clean.axes)


def test_a_column_named_like_a_class_is_still_a_column() -> None:
    schema = tc.Schema({"missing": tc.Boolean(), "above": tc.Real(0, 1)})
    curator = tc.Curator({"missing": [True, False] * 50, "above": [0.5] * 100}, schema, budget=tc.Budget(rho=1))
    labels = curator.release(tc.DataQuality(), rho=0.5).plot().axes.get_yticklabels()
    bold = [label.get_text() for label in labels if label.get_fontweight() == "bold"]
    assert bold == ["missing", "above"]


@pytest.mark.parametrize("adjust", ["holm", "simultaneous", None])
def test_differences_with_a_line_at_nothing(adjust: str | None) -> None:
    pairs = release(tc.Mean("income", by="region")).estimate().pairwise(adjust)
    shown = pairs.plot()
    limits = pairs.intervals()
    assert shown.terms == pairs.estimate.terms == ("north - south", "north - west", "south - west")
    assert [end[:2] for end in bars(shown.axes)] == [tuple(row) for row in limits.tolist()]
    holds = (limits[:, 0] <= 0) & (limits[:, 1] >= 0)
    assert [x for x, _ in points(shown.axes, False)] == sorted(pairs.estimate.values[holds].tolist())
    assert shown.caption.startswith(pairs.words())
    line = next(line for line in shown.axes.lines if line.get_xdata() == [0.0, 0.0])
    assert line.get_ydata() == [0, 1]
    inner = np.array([shown.inner_lower, shown.inner_upper]).T
    half = pairs.quantile() * np.sqrt(pairs.estimate.sampling_variances)
    assert np.allclose(inner[:, 1] - inner[:, 0], 2 * half)
    assert np.all((limits[:, 0] <= inner[:, 0]) & (inner[:, 1] <= limits[:, 1]))


@pytest.mark.long
def test_pictures_are_files(tmp_path: Path) -> None:
    asked = [release(tc.Quantiles("income", [0.5])), release(tc.DataQuality("income"))]
    for i, one in enumerate(asked):
        for suffix in (".png", ".pdf", ".svg"):
            one.plot().save(tmp_path / f"{i}{suffix}")
            assert (tmp_path / f"{i}{suffix}").stat().st_size > 1_000


def test_more_terms_than_fit_are_refused() -> None:
    table = {"x": np.arange(1_200) % 50, "y": np.arange(1_200) // 50}
    schema = tc.Schema({"x": tc.Integer(0, 49), "y": tc.Integer(0, 24)})
    query = tc.Count(by=["x", "y"], bins={"x": 50, "y": 25})
    found = tc.Curator(table, schema, budget=tc.Budget(rho=1)).release(query, rho=0.1).estimate()
    assert len(found) > canvas.MOST
    with pytest.raises(InferenceError) as refused:
        found.plot()
    assert refused.value.code == "I05"
