"""Pictures of histograms, densities and pairs of columns show the numbers they stand for."""

from __future__ import annotations

from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit as tc
from tacit.errors import InferenceError
from tacit.method.histogram.estimate_densities import density
from tacit.method.histogram.estimate_pictures import margin
from tacit.testing import simulate

pytest.importorskip("matplotlib")
SCHEMA = tc.Schema(
    {
        "age": tc.Real(18, 93, units="years"),
        "kids": tc.Integer(0, 5),
        "day": tc.Date("2024-01-01", "2024-12-31"),
        "sex": tc.Category(["f", "m", "x"]),
        "ok": tc.Boolean(),
        "code": tc.Category([f"c{i}" for i in range(60)]),
    }
)


def release(columns: Any, rho: float = 0.5, **words: Any) -> Any:
    rng, n = np.random.default_rng(0), 3_000
    table = {
        "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(50, 25, n)),
        "kids": rng.integers(0, 6, n),
        "day": np.datetime64("2024-01-01") + rng.integers(0, 366, n),
        "sex": rng.choice(["f", "m"], n),
        "ok": rng.random(n) < 0.3,
        "code": rng.choice([f"c{i}" for i in range(60)], n),
    }
    curator = tc.Curator(pd.DataFrame(table), SCHEMA, name="people", budget=tc.Budget(rho=9))
    return curator.release(tc.Histogram(columns, **words), rho=rho)


def boxes(axes: Any, which: int) -> list[list[float]]:
    """left, bottom, right, top of the boxes of a layer: 0 for both errors, 1 for sampling alone."""
    return [patch.get_bbox().extents.tolist() for patch in axes.containers[which]]


def steps(axes: Any) -> list[Any]:
    """(values, edges) of the steps."""
    return [patch.get_data() for patch in axes.patches if type(patch).__name__ == "StepPatch" and not patch.get_fill()]


def words(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_a_histogram_has_a_box_over_each_bin() -> None:
    made = release("age", bins={"age": 5})
    shown = made.plot()
    found = made.estimate()
    limits, axes = found.intervals(), shown.axes
    (drawn,) = steps(axes)
    assert drawn.values.tolist() == list(shown.values) == found.values.tolist()
    assert drawn.edges.tolist() == [18, 33, 48, 63, 78, 93]
    for i, (left, bottom, right, top) in enumerate(boxes(axes, 0)):
        assert (left, right) == (18 + 15 * i, 33 + 15 * i)
        assert (bottom, top) == pytest.approx(tuple(limits[i]))
    half = NormalDist().inv_cdf(0.975) * np.sqrt(found.sampling_variances)
    for i, (left, bottom, right, top) in enumerate(boxes(axes, 1)):
        assert (left + right) / 2 == 25.5 + 15 * i
        assert right - left < 15
        low, high = max(found.values[i] - half[i], limits[i, 0]), min(found.values[i] + half[i], limits[i, 1])
        assert (bottom, top) == pytest.approx((low, high))
    assert words(axes) == ["with privacy", "sampling alone"]
    assert axes.get_xlabel() == "age (years)"
    assert axes.get_ylabel() == "number of rows"
    assert axes.get_ylim()[0] == 0
    assert axes.get_title(loc="left").startswith("Histogram of age · people · 3,000 rows")
    assert shown.terms == found.terms
    assert "ρ = 0.5" in shown.caption


def test_bins_of_several_widths_are_drawn_per_unit() -> None:
    made = release("age", bins={"age": [18, 20, 60, 93]})
    shown = made.plot()
    widths = np.array([2, 40, 33])
    assert shown.values == pytest.approx(made.estimate().values / widths)
    assert shown.upper == pytest.approx(made.estimate().intervals()[:, 1] / widths)
    assert shown.axes.get_ylabel() == "rows per unit (years)"


def test_cells_beside_the_bins_are_words() -> None:
    made = release("age", bins={"age": 3}, missing=True, outside=True)
    shown = made.plot()
    assert len(shown.terms) == len(boxes(shown.axes, 0)) == 3
    missing, below, above = (f"{x:,.0f}" for x in made.estimate().values[3:])
    assert shown.axes.get_xlabel() == f"age (years)\nbeside: missing {missing}, below {below}, above {above}"


def test_whole_numbers_and_days() -> None:
    from matplotlib.dates import num2date

    made = release(["kids", "day"], bins={"day": ["2024-01-01", "2024-03-01", "2024-12-31"]})
    kids, day = made.margin("kids").plot(), made.margin("day").plot()
    assert steps(kids.axes)[0].edges.tolist() == [-0.5, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    edges = [num2date(x).date().isoformat() for x in steps(day.axes)[0].edges]
    assert edges == ["2024-01-01", "2024-03-01", "2025-01-01"]
    assert day.values == pytest.approx(made.margin("day").estimate().values / [60, 306])
    assert day.axes.get_ylabel() == "rows per day"
    assert day.axes.get_xlabel() == "day"


def test_of_the_table_nothing_is_sampled() -> None:
    made = release(["age", "sex", "ok"], bins={"age": 4})
    for one in made.plot(target="table").panels:
        assert words(one.axes) == ["with privacy"]
    shown = made.margin("age").plot(target="table")
    limits = made.margin("age").estimate("table").intervals()
    assert list(zip(shown.lower, shown.upper, strict=True)) == [pytest.approx(tuple(row)) for row in limits]


def test_levels_have_an_interval_each() -> None:
    found = release(["sex", "ok"]).margin("sex")
    shown = found.plot()
    assert shown.terms == ("f", "m", "x")
    assert [label.get_text() for label in shown.axes.get_yticklabels()] == ["f", "m", "x"]


def test_a_density_and_its_groups() -> None:
    made = release(["age", "sex"], bins={"age": [18, 30, 50, 93]})
    one = made.density("age")
    shown = one.plot(level=0.9)
    (drawn,) = steps(shown.axes)
    assert drawn.values.tolist() == one.values[0].tolist() == list(shown.values)
    limits = one.intervals(0.9)[0]
    assert [(bottom, top) for _, bottom, _, top in boxes(shown.axes, 0)] == [
        pytest.approx((low, high)) for low, high in limits
    ]
    for low, inner, outer, high in zip(shown.lower, shown.inner_lower, shown.inner_upper, shown.upper, strict=True):
        assert low <= inner <= outer <= high
    assert shown.axes.get_ylabel() == "density, per unit (years)"
    several = made.density("age", by="sex")
    axes = several.plot().axes
    said = [group for group, why in zip(several.groups, several.reasons, strict=True) if why is None]
    assert {"f", "m"} <= set(said)
    assert words(axes) == [word for group in said for word in (f"95% interval, {group}", group)]
    assert [one.values.tolist() for one in steps(axes)] == [several[group].values[0].tolist() for group in said]
    assert len({patch.get_linestyle() for patch in axes.patches if not patch.get_fill()}) == len(said)


def test_groups_of_noise_alone_are_named_and_not_drawn() -> None:
    table = {"age": [20.0, 40.0] * 500, "sex": ["f"] * 1_000}
    schema = tc.Schema({"age": tc.Real(18, 93), "sex": tc.Category(["f", "m"])})
    query = tc.Histogram(["age", "sex"], bins={"age": 3})
    made = simulate(query, table, schema, rho=0.05, repeats=1, rng=1).release(0)
    found = density(made, "age", "sex")
    assert [why is None for why in found.reasons] == [True, False]
    shown = found.plot()
    assert len(steps(shown.axes)) == 1
    assert "all noise: m" in shown.caption


def test_more_groups_than_can_be_told_apart() -> None:
    with pytest.raises(InferenceError) as refused:
        release(["age", "kids"], bins={"age": 3}).density("age", by="kids").plot()
    assert refused.value.code == "I05"


def mesh(axes: Any) -> Any:
    """The colours of a heat map."""
    return next(one for one in axes.collections if type(one).__name__ == "QuadMesh")


def test_a_heat_map_has_the_first_column_across() -> None:
    made = release(["age", "sex"], bins={"age": 4})
    shown = made.plot()
    counts, axes = made.counts, shown.axes
    drawn = mesh(axes).get_array()
    assert drawn.shape == (3, 4)
    noisy = np.ma.getmaskarray(drawn).T
    assert drawn.T[~noisy].tolist() == counts[~noisy].tolist()
    sd = np.sqrt(made.parts[0].law.variance())
    assert noisy.tolist() == (counts <= NormalDist().inv_cdf(0.975) * sd).tolist()
    assert noisy[:, 2].any()  # nobody is x
    assert f"{noisy.sum()} of 12 counts are within noise" in shown.caption
    assert axes.get_xlabel() == "age (years)"
    assert axes.get_ylabel() == "sex"
    assert [label.get_text() for label in axes.get_yticklabels()] == ["f", "m", "x"]
    assert shown.values == tuple(counts.reshape(-1))
    assert shown.terms == made.estimate().terms
    assert sorted(text.get_text() for text in axes.texts) == sorted(f"{x:,.0f}" for x in counts.reshape(-1))
    (bar,) = [one for one in axes.figure.axes if one is not axes]
    assert bar.get_ylabel() == "number of rows"


def test_a_heat_map_of_several_widths_and_days() -> None:
    made = release(["age", "day"], bins={"age": [18, 30, 93], "day": ["2024-01-01", "2024-02-01", "2024-12-31"]})
    shown = made.margin(["day", "age"]).plot()
    expected = made.counts.T / np.outer([31, 335], [12, 63])
    assert np.reshape(shown.values, (2, 2)) == pytest.approx(expected)
    (bar,) = [one for one in shown.axes.figure.axes if one is not shown.axes]
    assert bar.get_ylabel() == "rows per day and per unit of age (years)"


def test_a_heat_map_of_noise_alone_is_white() -> None:
    made = release(["kids", "sex"], rho=1e-9)
    shown = margin(made.margin(["kids", "sex"]), level=0.9999)
    assert np.ma.getmaskarray(mesh(shown.axes).get_array()).mean() > 0.9
    assert "within noise" in shown.caption


def test_a_heat_map_of_very_many_cells_has_grey_ones() -> None:
    made = release(["age", "day"], bins={"age": 70, "day": 60}, rho=0.01)
    shown = made.plot()
    meshes = [one for one in shown.axes.collections if type(one).__name__ == "QuadMesh"]
    masks = [np.ma.getmaskarray(one.get_array()) for one in meshes]
    assert len(masks) == 2
    assert (masks[0] != masks[1]).all()  # each cell is in one of them
    assert "grey: " in shown.caption
    assert list(shown.axes.texts) == []


def test_cells_beside_a_heat_map_are_counted_in_words() -> None:
    made = release(["age", "ok"], bins={"age": 2}, missing=True, outside=True)
    shown = made.plot()
    assert np.reshape(shown.values, (2, 3)) == pytest.approx(made.counts[:2])
    assert f"beside the bins: {made.counts[2:].sum():,.0f} rows" in shown.caption


def test_of_many_columns_a_small_picture_each(tmp_path: Path) -> None:
    made = release(["age", "kids", "sex", "code"], bins={"age": 4})
    shown = made.plot()
    assert [one.axes.get_title(loc="left") for one in shown.panels] == ["age", "kids", "sex"]
    assert "not drawn: code" in shown.axes[0].figure.get_suptitle()
    for one, name in zip(shown.panels, ("age", "kids", "sex"), strict=True):
        assert one.terms == made.margin(name).estimate().terms
        assert one.values == tuple(made.margin(name).estimate().values)
    shown.save(tmp_path / "all.png")
    assert (tmp_path / "all.png").stat().st_size > 1_000
    assert len(shown.axes[0].figure.texts) == 2  # the caption once, and the title


@pytest.mark.parametrize(
    "ask",
    [
        lambda made: made.plot(ax=object()),
        lambda made: made.margin(["age", "kids", "sex"]).plot(),
    ],
)
def test_more_columns_than_a_picture_shows(ask: Any) -> None:
    with pytest.raises(InferenceError) as refused:
        ask(release(["age", "kids", "sex"], bins={"age": 4}))
    assert refused.value.code == "I64"
    assert "margin(" in str(refused.value)


def test_on_axes_of_ones_own_and_as_files(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    made = release(["age", "kids"], bins={"age": 4})
    for draw in (made.plot, made.margin("age").plot, made.density("age").plot):
        axes = Figure().add_subplot()
        assert draw(ax=axes).axes is axes
        draw().save(tmp_path / "a.svg")
        assert (tmp_path / "a.svg").stat().st_size > 1_000
