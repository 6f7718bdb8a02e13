"""Columns of real numbers that are declared to be multiples of a number: bins, estimates, notes, files."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import QueryError, ReleaseError, SchemaError
from tacit.estimates.bins import spans
from tacit.fits.cells.released_cells import cells_of
from tacit.method.histogram.estimate_from_cells.survival_times import start_of, whole_times
from tacit.release.document import release_from_dict
from tacit.rows.multiples import between
from tacit.schema.axes import axismap
from tacit.schema.row_maps_of_columns import binmap
from tacit.testing import contract

RICH = 400
"""A price at which counts have next to no noise."""
FEE = tc.Real(0, 90, multiple_of=0.5)


def histogram(values: Any, column: Any, bins: Any, price: float = RICH, **more: Any) -> Any:
    curator = tc.Curator({"x": values}, tc.Schema({"x": column}), budget=tc.Budget(rho=2 * RICH))
    return curator.release(tc.Histogram("x", bins=None if bins is None else {"x": bins}, **more), rho=price)


@pytest.mark.parametrize(
    "column",
    [
        lambda: tc.Real(0, 90, multiple_of=0),
        lambda: tc.Real(0, 90, multiple_of=-1),
        lambda: tc.Real(0, 90, multiple_of=float("nan")),
        lambda: tc.Real(0, 90, multiple_of=True),
        lambda: tc.Real(0, 90, multiple_of=100),
        lambda: tc.Real(0, 1e9, multiple_of=1e-6),
    ],
)
def test_a_malformed_multiple_is_refused(column: Any) -> None:
    with pytest.raises(SchemaError, match="S40"):
        column()


def test_a_schema_keeps_it() -> None:
    schema = tc.Schema({"fee": FEE, "any": tc.Real(multiple_of=0.1), "odd": tc.Real(0.3, 9.7, multiple_of=3)})
    assert tc.Schema.from_toml(schema.to_toml()) == schema
    assert "multiple_of" not in tc.Schema({"x": tc.Real(0, 1)}).to_toml()
    rows = schema.example(200, rng=1)
    assert np.array_equal(rows["fee"], np.rint(rows["fee"] * 2) / 2)
    assert set(rows["odd"]) == {3, 6, 9}


def test_multiples_are_those_that_are_written_in_decimals() -> None:
    for unit in (0.1, 0.3, 1.1, 2.5e-3, 7e6):
        values = between(-40 * unit, 40 * unit, unit)
        assert (values.first, values.last) == (-40, 40)
        assert [values.from_edge(k * unit) for k in range(-40, 41)] == [*range(-40, 41)]
        assert [values.from_edge((k + 1e-3) * unit) for k in range(9)] == [*range(1, 10)]


def test_a_cell_counts_as_the_nearest_multiple_whatever_the_edges() -> None:
    schema = tc.Schema({"fee": FEE})
    for bins in ((0, 10, 30, 90), (0, 9.6, 29.9, 90), (9.51, 30.0)):
        made = binmap(schema, "fee", bins)
        assert made.edges == (9.75, 29.75)
        assert made.labels == ("0 to 9.5", "10 to 29.5", "30 to 90")
        assert [made.index(x) for x in (-5, 9.74, 9.76, 29.8, 1e9)] == [0, 0, 1, 2, 2]
    assert binmap(schema, "fee", (0, 10, 30, 90), moved=False).edges == (10, 30)
    with pytest.raises(QueryError, match="Q340"):
        binmap(schema, "fee", (0, 10.1, 10.3, 90))


def test_few_multiples_have_a_bin_each() -> None:
    schema = tc.Schema({"x": tc.Real(0, 1, multiple_of=0.1, missing=0.3)})
    made = axismap(schema, "x", None)
    assert made.labels == ("0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1")
    assert made.missing == 3
    assert axismap(tc.Schema({"x": FEE}), "x", None).even == (-0.25, 90.25)
    assert binmap(schema, "x", 40).labels == made.labels
    found = histogram(np.repeat([0.1, 0.3, 0.7], [2, 5, 4]), tc.Real(0, 1, multiple_of=0.1), 40)
    assert cells_of(found).axes[0].kind == "levels"
    assert found.quantiles("x", 0.5).value == 0.3
    assert found.moments("x")["mean"].value == pytest.approx(0.4091, abs=1e-3)


def test_what_is_declared_is_what_an_integer_is() -> None:
    """The same cells, and all numbers in units of the multiple."""
    rng = np.random.default_rng(1)
    ages = np.floor(rng.gamma(4, 12, 3_000)).clip(0, 100)
    edges = [0.5 + k for k in range(6, 99, 9)]
    whole = histogram(ages, tc.Integer(0, 100), edges)
    for unit in (1, 0.5, 100):
        made = histogram(ages * unit, tc.Real(0, 100 * unit, multiple_of=unit), [edge * unit for edge in edges])
        assert np.array_equal(np.stack(spans(made.axes[0])), np.stack(spans(whole.axes[0])) * unit)
        assert made.estimate().values == pytest.approx(whole.estimate().values, abs=0.1)
        assert made.moments("x").values == pytest.approx(whole.moments("x").values * [unit, unit**2, unit], rel=1e-3)
        one, other = (found.quantiles("x", [0.1, 0.5, 0.9]) for found in (made, whole))
        assert np.array_equal(one.values, other.values * unit)
        assert one.conf_int().to_numpy() == pytest.approx(other.conf_int().to_numpy() * unit)
        axis = cells_of(made).axes[0]
        assert start_of(axis) == -unit
        times = whole_times(axis, [float(x) for x in axis.last[1:]])
        assert times is not None
        assert (times.first[0], times.final[0], times.step) == (0, 6 * unit, unit)
        assert made.density("x")(30.0 * unit) * unit == pytest.approx(whole.density("x")(30.0), rel=1e-3)
        assert made.smooth_density("x").cdf(30.0 * unit) == pytest.approx(whole.smooth_density("x").cdf(30), abs=1e-3)
        assert made.smooth_density("x").quantile(0.5) == whole.smooth_density("x").quantile(0.5) * unit


@pytest.mark.parametrize("bins", ["auto", 9, (0, 10, 20, 30, 45, 60, 90)])
def test_means_of_floored_values_are_unbiased(bins: Any) -> None:
    x = np.floor(np.random.default_rng(2).normal(45, 11, 50_000)).clip(0, 90)
    declared, unknown = (
        histogram(x, tc.Real(0, 90, multiple_of=unit), bins, 0.5).moments("x")["mean"] for unit in (1, None)
    )
    # the noise of 50,000 rows is far below a tenth
    assert abs(declared.value - x.mean()) < max(3 * declared.std_error, 0.1)
    # in bins of unequal widths, whole numbers are not at one place of all of them
    assert (0.35 < unknown.value - declared.value < 0.65) == (bins != "auto")


def test_automatic_bins_keep_round_widths_of_whole_units() -> None:
    ages = np.arange(2_000) % 91.0
    # without a unit a little more than one of the even bins
    for unit, first in ((None, 10.1), (1, 9.5), (2.5, 8.75)):
        assert histogram(ages, tc.Real(0, 90, multiple_of=unit), "auto", 0.1).axes[0].edges[1] == first
    # no round width is a multiple of 4: as many values in each bin as in the next
    edges = histogram(ages, tc.Real(0, 92, multiple_of=4), "auto", 0.01).axes[0].edges
    assert len({*np.diff(edges[:-1])}) == 1
    assert edges[0] == -2


def test_samples_are_multiples() -> None:
    made = histogram(np.arange(0, 90, 0.5), FEE, [0, 5, 20, 90], outside=True)
    drawn = made.sample(500, rng=1)["x"].to_numpy()
    assert np.array_equal(drawn, np.rint(drawn * 2) / 2)
    assert drawn.min() >= 0
    assert drawn.max() <= 90


def test_files_keep_it_and_refuse_what_does_not_fit() -> None:
    made = histogram(np.arange(0, 90, 0.5), FEE, [0, 5, 20, 90], 0.1)
    words = json.loads(made.to_json())
    assert words["axes"][0]["multiple_of"] == 0.5
    assert release_from_dict(words) == made
    for wrong in (0, -0.5, 0.4, "1"):
        with pytest.raises(ReleaseError):
            release_from_dict({**words, "axes": [{**words["axes"][0], "multiple_of": wrong}]})


def test_the_note_is_printed_where_rounding_would_matter() -> None:
    x = np.random.default_rng(3).random(4_000) * 90
    for column, bins, noted in (
        (tc.Real(0, 90), 18, True),
        (tc.Real(0, 90), (0, 12.5, 30, 60, 90), True),
        (tc.Real(0, 90), 13, False),
        (tc.Integer(0, 90), 18, False),
        (FEE, 18, False),
    ):
        made = histogram(x, column, bins, 0.5)
        fits = (made.fit("x", family="normal"),) if bins == 18 and column == FEE else ()
        for found in (made.moments("x"), made.quantiles("x", 0.5), *fits):
            assert any("multiple_of=" in note for note in found.notes) == noted
        assert not any("multiple_of" in note for note in made.quantiles("x", 0.5, within="bins").notes)
        assert not any("multiple_of" in note for note in made.cdf("x").notes)


def test_the_note_says_from_which_multiples_on_rounding_would_matter() -> None:
    made = histogram(np.random.default_rng(3).random(4_000) * 90, tc.Real(0, 90), 18, 0.5)
    found = made.moments("x")
    said = next(note for note in found.notes if "multiple_of" in note)
    assert f"multiples of {float(f'{found.std_errors[0]:.2g}'):,g} or more" in said
    # where hardly two multiples fit in a bin, there is none
    noisy = histogram(np.random.default_rng(3).random(100) * 90, tc.Real(0, 90), 18, 0.01)
    assert noisy.moments("x").std_errors[0] > 5 / 3
    assert not any("multiple_of" in note for note in noisy.moments("x").notes)


def test_fits_have_the_note_for_the_columns_that_they_use() -> None:
    x = np.random.default_rng(4).random((3, 2_000)) * 90
    schema = tc.Schema({"x": tc.Real(0, 90), "y": tc.Real(0, 90, multiple_of=1), "z": tc.Real(0, 90)})
    made = tc.Curator(dict(zip("xyz", x, strict=True)), schema, budget=tc.Budget(rho=1)).release(
        tc.Histogram(["x", "y", "z"], bins=6), rho=0.5
    )
    for formula, named in (("y ~ x", "of x are"), ("y ~ x + z", "of x and z are"), ("x ~ y", "of x are")):
        assert any(named in note and "multiple_of" in note for note in made.fit(formula).notes)


def test_a_plan_says_what_is_assumed() -> None:
    curator = tc.Curator({"x": np.arange(90.0), "y": np.arange(90.0)}, tc.Schema({"x": FEE, "y": tc.Real(0, 90)}),
                         budget=tc.Budget(rho=1))  # fmt: skip
    said = {name: str(curator.plan(tc.Histogram(name, bins={name: 9}), rho=0.1)) for name in ("x", "y")}
    assert "multiple_of=1" in said["y"]
    assert "multiple_of=1" not in said["x"]


@pytest.mark.long
def test_the_contract_of_a_column_with_multiples() -> None:
    contract(tc.Histogram("fee", bins={"fee": (0, 10, 30, 90)}), tc.Schema({"fee": FEE}), tables=20, draws=20_000)


def test_other_methods_take_it_as_continuous() -> None:
    """Risks and regressions of rows; densities and data sets do not (`test_recorded_densities`)."""
    x = np.arange(400) % 101.0
    for query in (tc.RiskFunction("ok", "x", box=3), tc.Regression("x ~ ok")):
        one, other = (
            tc.Curator(
                {"x": x, "ok": x > 50},
                tc.Schema({"x": tc.Real(0, 100, multiple_of=unit), "ok": tc.Boolean()}),
                budget=tc.Budget(epsilon=1),
            )
            .release(query, epsilon=1)
            .to_dict()
            for unit in (1, None)
        )
        assert {**one, "parts": 0, "schema": 0}.keys() == {**other, "parts": 0, "schema": 0}.keys()
        assert one["variables"] == other["variables"]
