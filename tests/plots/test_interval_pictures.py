"""What is drawn is what is estimated: places, ends, the part that privacy adds, words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.estimates import pictures

pytest.importorskip("matplotlib")
SCHEMA = tc.Schema(
    {
        "age": tc.Real(18, 93, units="years"),
        "region": tc.Category(["north, the cold and rather long-winded part of it", "south"]),
    }
)


def estimate(query: tc.Query) -> Any:
    rng = np.random.default_rng(0)
    labels = np.array(["north, the cold and rather long-winded part of it", "south"])
    table = {"age": rng.uniform(20, 80, 400), "region": labels[rng.integers(0, 2, 400)]}
    return tc.Curator(table, SCHEMA, budget=tc.Budget(rho=1)).release(query, rho=0.1).estimate()


def ends(axes: Any, which: int) -> list[tuple[float, float, float]]:
    """(lower, upper, place) of the bars, from above."""
    return [(line[0][0], line[1][0], line[0][1]) for line in axes.collections[which].get_segments()]


@pytest.mark.parametrize("query", [tc.Mean("age"), tc.Mean("age", by="region"), tc.Count(by="region")], ids=str)
@pytest.mark.parametrize("level", [0.95, 0.5])
def test_a_picture_shows_the_numbers(query: tc.Query, level: float) -> None:
    found = estimate(query)
    drawn = pictures.estimate(found, level=level)
    limits = found.intervals(level)
    assert drawn.terms == found.terms
    assert drawn.values == tuple(found.values)
    axes = drawn.axes
    outer, inner = ends(axes, 0), ends(axes, 1)
    assert [end[:2] for end in outer] == [tuple(row) for row in limits.tolist()]
    assert [end[2] for end in outer] == list(range(len(found.terms)))[::-1]  # the first term on top
    (points,) = axes.lines
    assert points.get_xdata().tolist() == list(found.values)
    half = float(NormalDist().inv_cdf(0.5 + level / 2)) * np.sqrt(found.sampling_variances)
    for i, (low, high, _) in enumerate(inner):
        assert limits[i, 0] <= low <= found.values[i] <= high <= limits[i, 1]
        assert low == max(found.values[i] - half[i], limits[i, 0])
        assert high == min(found.values[i] + half[i], limits[i, 1])


def test_words_units_and_cost_are_on_it() -> None:
    found = estimate(tc.Mean("age", by="region"))
    drawn = found.plot()
    axes = drawn.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == list(found.terms)
    assert axes.get_xlabel().count("years") == 1
    assert axes.get_title(loc="left").startswith("Mean of age by region")
    assert "ρ = 0.1" in drawn.caption
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["with privacy", "sampling alone"]


def test_what_is_not_sampled_has_no_sampling_error_to_show() -> None:
    found = estimate(tc.Count(by="region"))
    register = found.release.estimate(target="table")
    axes = register.plot().axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["with privacy"]
    assert [end[:2] for end in ends(axes, 0)] == [tuple(row) for row in register.intervals().tolist()]


def test_a_mean_without_units_shows_none() -> None:
    schema = tc.Schema({"score": tc.Real(0, 10)})
    curator = tc.Curator({"score": [1.0, 4.0, 9.0] * 50}, schema, budget=tc.Budget(rho=1))
    assert curator.release(tc.Mean("score"), rho=0.5).plot().axes.get_xlabel().endswith("clamped to 0–10")


UNITS = tc.Schema(
    {
        "age": tc.Real(18, 93, units="years"),
        "income": tc.Real(0, 300_000, units="USD"),
        "tax": tc.Real(0, 200_000, units="USD"),
        "score": tc.Real(0, 10),
        "mark": tc.Real(0, 12),
        "g": tc.Category(["a", "b"]),
    }
)


def units(query: tc.Query, **budget: Any) -> Any:
    rng, n = np.random.default_rng(1), 800
    columns = {name: rng.uniform(0.2, 0.8, n) * UNITS[name].upper for name in list(UNITS)[:-1]}  # type: ignore[attr-defined]
    table = {**columns, "g": np.array(["a", "b"])[rng.integers(0, 2, n)]}
    return tc.Curator(table, UNITS, budget=tc.Budget(rho=1)).release(query, **(budget or {"rho": 0.5}))


def test_columns_of_other_units_or_sizes_have_axes_of_their_own() -> None:
    found = units(tc.Mean(["age", "income", "tax", "score", "mark"], by="g")).estimate()
    drawn = found.plot()
    assert [one.terms for one in drawn.panels] == [
        ("age:a", "age:b"),
        ("income:a", "income:b", "tax:a", "tax:b"),
        ("score:a", "score:b", "mark:a", "mark:b"),
    ]
    assert [axes.get_xlabel() for axes in drawn.axes] == ["age (years)", "income, tax (USD)", "score, mark"]
    assert dict(zip(drawn.terms, drawn.values, strict=True)) == dict(zip(found.terms, found.values, strict=True))
    assert sum(axes.get_legend() is not None for axes in drawn.axes) == 1
    # one column, picked terms, and axes that are given are one picture
    from matplotlib.figure import Figure

    assert found["income"].plot().terms == ("a", "b")
    assert found.plot(ax=Figure().add_subplot()).terms == found.terms
    assert units(tc.Mean(["score", "mark"])).plot().terms == ("score", "mark")


def test_coefficients_of_other_sizes_have_axes_of_their_own() -> None:
    model = units(tc.Regression("income ~ age + score + tax"), rho=0.9).estimate()
    drawn = model.plot()
    sizes = {
        term: max(abs(low), abs(high))
        for term, (low, high) in zip(model.terms, model.conf_int().to_numpy(), strict=True)
    }
    assert sorted(drawn.terms) == ["age", "score", "tax"]
    for one in drawn.panels:
        own = [sizes[term] for term in one.terms]
        assert max(own) <= 20 * min(own)
        assert [0.0, 0.0] in [list(line.get_xdata()) for line in one.axes.lines]
    assert ("tax",) in [one.terms for one in drawn.panels]  # USD a USD: below 1, where the others are in the hundreds


def test_what_is_not_known_is_said_and_has_no_point() -> None:
    # an empty group has a reason in 84% of releases: none in 40 with a probability of 1e-32
    drawn = (units(tc.Mean("age", by="g", where="age > 92 or g == 'a'"), rho=0.1).estimate() for _ in range(40))
    found = next(one for one in drawn if one.reasons[1] is not None)
    assert found.reasons[0] is None
    axes = found.plot().axes
    (points,) = axes.lines
    assert points.get_xdata().tolist() == [found.values[0]]
    assert [text.get_text() for text in axes.texts] == ["not known"]
    assert len(ends(axes, 0)) == 1
    pair = found.pairwise().plot().axes
    assert [text.get_text() for text in pair.texts] == ["not known"]
    assert [list(line.get_xdata()) for line in pair.lines] == [[0.0, 0.0]]
    nothing = found["b"].plot().axes
    assert (list(nothing.lines), list(nothing.get_xticks())) == ([], [])


def test_pictures_are_files_and_leave_no_state(tmp_path: Path) -> None:
    found = estimate(tc.Mean("age", by="region"))
    for suffix, magic in ((".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xm")):
        found.plot().save(str(tmp_path / f"picture{suffix}"))
        assert (tmp_path / f"picture{suffix}").read_bytes()[:4] == magic
    if "matplotlib.pyplot" in sys.modules:
        assert sys.modules["matplotlib.pyplot"].get_fignums() == []


def test_places_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    drawn = estimate(tc.Mean("age")).plot()
    for place, code in (("picture.xyz", "F10"), ("picture", "F10"), ("no/picture.png", "R07")):
        with pytest.raises(tc.TacitError) as caught:
            drawn.save(tmp_path / place)
        assert caught.value.code == code
    assert list(tmp_path.iterdir()) == []


def test_drawing_needs_no_window_and_no_pyplot(tmp_path: Path) -> None:
    code = """
import os, sys
os.environ.pop("DISPLAY", None)
os.environ["MPLBACKEND"] = "tkagg"
import tacit as tc
c = tc.Curator({"age": [1.0, 2.0] * 50}, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
c.release(tc.Mean("age"), rho=0.1).plot().save("p.png")
print("matplotlib.pyplot" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("False\n", "")
    assert (tmp_path / "p.png").read_bytes()[:4] == b"\x89PNG"


def test_on_axes_of_ones_own() -> None:
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    assert estimate(tc.Mean("age")).plot(ax=axes).axes is axes


def test_without_matplotlib_the_error_says_so() -> None:
    code = """
import sys
sys.modules["matplotlib"] = sys.modules["matplotlib.figure"] = None
import tacit as tc
c = tc.Curator({"age": [1.0, 2.0]}, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
try:
    c.release(tc.Mean("age"), rho=0.1).plot()
except tc.TacitError as error:
    print(error.code, "tacit[plots]" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("I20 True\n", "")


def test_a_notebook_shows_the_picture_and_short_words() -> None:
    import matplotlib.pyplot as plt

    drawn = estimate(tc.Mean("age", by="region")).plot()
    assert drawn._repr_png_().startswith(b"\x89PNG")
    assert len(repr(drawn)) < 200
    assert "south" in repr(drawn)
    panels = estimate(tc.Count(by="region")).plot()
    assert panels._repr_png_().startswith(b"\x89PNG")
    assert len(repr(panels)) < 200
    # pyplot's own figures are shown by pyplot: not twice
    figure, ax = plt.subplots()
    assert estimate(tc.Mean("age")).plot(ax=ax)._repr_png_() is None
    plt.close(figure)


def test_a_rate_is_not_in_the_units_of_the_column() -> None:
    law = tc.families.Exponential(rate=(0.001, 1))
    assert "years" not in estimate(tc.SufficientStatistics("age", law)).plot().axes.get_xlabel()
    assert "years" in estimate(tc.Mean("age")).plot().axes.get_xlabel()
