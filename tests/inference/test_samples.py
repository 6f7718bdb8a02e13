"""Synthetic rows: the user's own columns, labels and types, drawn from the projected cells."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

import tacit as tc
from tacit.errors import InferenceError
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.method.histogram.estimate_samples import draw, generator, rows, sample
from tacit.release.parts import Axis as Facts
from tacit.testing import simulate

SCHEMA = tc.Schema(
    {
        "age": tc.Real(18, 93, units="years"),
        "income": tc.Real(0, 300_000, missing=0),
        "kids": tc.Integer(0, 5),
        "educ": tc.Integer(0, 30, missing=12),
        "sex": tc.Category({0: "male", 1: "female"}, missing="unknown"),
        "size": tc.Category(["s", "m", "l"], ordered=True),
        "married": tc.Boolean(),
        "day": tc.Date("2024-01-01", "2024-12-31"),
    }
)
BINS: dict[str, Any] = {
    "age": [18, 30, 65, 93],
    "income": 3,
    "educ": 3,
    "day": ["2024-01-01", "2024-03-01", "2024-12-31"],
}


def table(n: int = 6_000, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "age": rng.uniform(18, 93, n),
        "income": rng.exponential(60_000, n),
        "kids": rng.integers(0, 6, n),
        "educ": rng.integers(0, 31, n),
        "sex": rng.integers(0, 3, n),
        "size": rng.choice(["s", "m", "l"], n),
        "married": rng.random(n) < 0.3,
        "day": np.datetime64("2024-01-01") + rng.integers(0, 366, n),
    }


def release(columns: Any = tuple(SCHEMA), rho: float = 5, relation: Any = "replace-one") -> Any:
    curator = tc.Curator(table(), SCHEMA, name="people", budget=tc.Budget(rho=9, neighbors=relation))
    bins = {name: edges for name, edges in BINS.items() if name in columns}
    return curator.release(tc.Histogram(list(columns), bins=bins), rho=rho)


def test_columns_labels_and_types_are_the_users() -> None:
    made = release().sample(2_000, rng=0)
    assert list(made) == list(SCHEMA)
    assert len(made) == 2_000
    kinds = {name: str(kind) for name, kind in made.dtypes.items()}
    assert kinds == {
        **dict.fromkeys(("age", "income"), "float64"),
        **dict.fromkeys(("kids", "educ"), "int64"),
        **dict.fromkeys(("sex", "size"), "category"),
        "married": "bool",
        "day": "datetime64[ns]",
    }
    assert list(made["sex"].cat.categories) == ["male", "female", "unknown"]
    assert not made["sex"].cat.ordered
    assert list(made["size"].cat.categories) == ["s", "m", "l"]
    assert made["size"].cat.ordered
    assert made["age"].between(18, 93).all()
    assert made["income"].between(0, 300_000).all()
    assert set(made["kids"]) == set(range(6))
    assert set(made["educ"]) == set(range(31))
    assert made["day"].between("2024-01-01", "2024-12-31").all()
    assert (made["day"] == made["day"].dt.normalize()).all()
    assert not made.isna().any().any()


def test_they_can_be_asked_like_the_table() -> None:
    schema = tc.Schema({name: SCHEMA[name] for name in ("age", "kids", "size", "married", "day")})
    made = release(tuple(schema)).sample(4_000, rng=1)
    curator = tc.Curator(made, schema, name="synthetic", budget=tc.Budget(rho=9))
    counted = curator.release(tc.Histogram(["size", "married"]), rho=8)
    expected = pd.crosstab(made["size"], made["married"]).to_numpy()
    assert abs(counted.counts - expected).max() < 10
    assert curator.release(tc.Count(where="day < '2024-03-01'"), rho=0.1).estimate("table").value > 100


def test_rng_is_kept_and_rows_come_in_no_order() -> None:
    one = release(("age", "kids"))
    pd.testing.assert_frame_equal(one.sample(500, rng=3), one.sample(500, rng=3))
    pd.testing.assert_frame_equal(one.sample(500, rng=3), one.sample(500, rng=np.random.default_rng(3)))
    assert not one.sample(500, rng=3).equals(one.sample(500, rng=4))
    assert not one.sample(500).equals(one.sample(500))
    ages = one.sample(4_000, rng=5)["age"].to_numpy()
    assert abs(np.corrcoef(ages[1:], ages[:-1])[0, 1]) < 0.1


def cells(counts: Any, *axes: CellAxis, **words: Any) -> CellCounts:
    return CellCounts(axes, np.asarray(counts, dtype=np.float64), 1.0, **words)


def test_cells_have_the_projected_probabilities() -> None:
    """Pearson's statistic of 50,000 draws over 5 cells: above the 1 - 1e-6 point with probability 1e-6."""
    axis = CellAxis("g", "levels", labels=tuple("abcdef"))
    made = cells([50.0, 30.0, 15.0, 6.0, 1.0, -7.0], axis, total=90.0)
    (places,) = draw(made, [np.arange(6)], 50_000, np.random.default_rng(0))
    p = made.simplex().counts / 90
    assert p[-1] == 0
    found = np.bincount(places, minlength=6)
    assert found[p == 0].sum() == 0
    statistic = ((found - 50_000 * p)[p > 0] ** 2 / (50_000 * p)[p > 0]).sum()
    assert statistic < chi2.isf(1e-6, (p > 0).sum() - 1)


def test_values_are_even_within_a_bin() -> None:
    """Whole numbers and days: each of those in a bin alike, Pearson's test at 1e-6; real ones by their mean, 5 SE."""
    axis = CellAxis("v", "continuous", np.array([0.0, 10.0, 30.0]))
    rng, n = np.random.default_rng(1), 60_000
    for kind, values in (("integer", np.arange(31)), ("date", np.arange(31))):
        made = rows(cells([0.0, 100.0], axis), (Facts(kind, (0.0, 10.0, 30.0)),), (), n, rng)["v"]
        if kind == "date":
            made = (made - pd.Timestamp("1970-01-01")).dt.days
        found = np.bincount(made.to_numpy(), minlength=31)
        assert found[:10].sum() == 0
        assert ((found[10:] - n / 21) ** 2 / (n / 21)).sum() < chi2.isf(1e-6, len(values[10:]) - 1)
    real = rows(cells([0.0, 100.0], axis), (Facts("real", (0.0, 10.0, 30.0)),), (), n, rng)["v"]
    assert real.between(10, 30).all()
    assert abs(real.mean() - 20) < 5 * 20 / np.sqrt(12 * n)


def test_cells_beside_the_bins_become_bounds_and_missing_values() -> None:
    extra = ("missing", "below", "above")
    rng = np.random.default_rng(2)
    alone = {"missing": [0, 0, 9, 0, 0], "below": [0, 0, 0, 9, 0], "above": [0, 0, 0, 0, 9]}
    edges = (-0.5, 0.5, 1.5)
    real, whole, days = Facts("real", (18.0, 40.0, 93.0)), Facts("integer", edges), Facts("date", (0.0, 5.0, 9.0))
    for fact, low, high, kind in (
        (real, 18.0, 93.0, "float64"),
        (whole, 0, 1, "Int64"),
        (days, pd.Timestamp("1970-01-01"), pd.Timestamp("1970-01-10"), "datetime64[ns]"),
    ):
        axis = CellAxis("v", "continuous", np.array(fact.edges), extra=extra)
        made = {name: rows(cells(counts, axis), (fact,), (), 50, rng)["v"] for name, counts in alone.items()}
        assert {str(column.dtype) for column in made.values()} == {kind}
        assert made["missing"].isna().all()
        assert (made["below"] == low).all()
        assert (made["above"] == high).all()
    levels = Facts("levels")
    for labels, kind in ((("false", "true"), "boolean"), (("f", "m"), "category")):
        axis = CellAxis("v", "levels", labels=labels, extra=("missing",))
        made = rows(cells([5.0, 5.0, 5.0], axis), (levels,), (("v", labels),), 300, rng)["v"]
        assert str(made.dtype) == kind
        assert made.isna().any()
        assert set(made.dropna().unique()) == ({False, True} if kind == "boolean" else set(labels))


def test_bins_without_a_whole_number_are_never_drawn() -> None:
    axis = CellAxis("v", "continuous", np.array([0.0, 0.5, 1.0, 3.0]))
    made = rows(
        cells([10.0, 500.0, 20.0], axis), (Facts("integer", (0.0, 0.5, 1.0, 3.0)),), (), 900, np.random.default_rng(3)
    )
    assert set(made["v"]) == {0, 1, 2, 3}


def test_days_beyond_nanoseconds() -> None:
    far = float(date(3000, 1, 1).toordinal() - date(1970, 1, 1).toordinal())
    axis = CellAxis("v", "continuous", np.array([0.0, far - 1, far]))
    made = rows(cells([0.0, 5.0], axis), (Facts("date", (0.0, far - 1, far)),), (), 40, np.random.default_rng(4))["v"]
    assert set(made.dt.year) == {2999, 3000}


def test_a_million_cells() -> None:
    axes = tuple(CellAxis(name, "levels", labels=tuple(map(str, range(k)))) for name, k in (("a", 100), ("b", 10_000)))
    counts = np.random.default_rng(5).normal(0.0, 2.0, (100, 10_000))
    counts[3, :100] += 500
    made = rows(cells(counts, *axes, total=5e4), (Facts("levels"),) * 2, (), 20_000, np.random.default_rng(6))
    assert len(made) == 20_000
    assert (made["a"] == "3").mean() > 0.5


def test_persons_are_drawn_as_rows() -> None:
    schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), "sex": tc.Category(["f", "m"])})
    data = {"who": np.repeat(np.arange(500), 3), "sex": np.tile(["f", "m", "m"], 500)}
    made = tc.Curator(data, schema, budget=tc.Budget(rho=9)).release(tc.Histogram("sex"), rho=9)
    drawn = made.sample(3_000, rng=0)
    assert abs((drawn["sex"] == "m").mean() - 2 / 3) < 5 * np.sqrt(2 / 9 / 3_000) + 0.02
    assert "rows of one person" in drawn.attrs["note"].lower()


def test_the_note_says_what_is_ignored() -> None:
    made = release(("age", "sex"), rho=0.5)
    note = re.sub(r"\s+", " ", made.sample(10, rng=0).attrs["note"])
    assert "histogram of age and sex of people (6,000 rows, replace-one; cost ρ = 0.5)" in note
    for word in (
        "the noise",
        "the projection",
        "sampling error",
        "the drawing of these rows",
        "within a cell",
        "wrong",
    ):
        assert word in note
    assert "9 cells" in note


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "10", None])
def test_numbers_of_rows_that_are_none(n: Any) -> None:
    with pytest.raises(InferenceError) as refused:
        release(("age",)).sample(n, rng=0)
    assert refused.value.code == "I61"


@pytest.mark.parametrize("rng", ["x", -1, 1.5, True])
def test_seeds_that_are_none(rng: Any) -> None:
    with pytest.raises(InferenceError) as refused:
        generator(rng)
    assert refused.value.code == "I62"


def test_a_release_of_noise_alone_is_refused() -> None:
    """With a public number of rows there is something to draw from, however noisy; without one, not below 0."""
    query = tc.Histogram("married")
    made = simulate(query, table(), SCHEMA, rho=5, repeats=1, neighbors="add-remove").release(0)
    below = replace(made, parts=(replace(made.parts[0], integers=((-40,), (30,))),))
    with pytest.raises(InferenceError) as refused:
        sample(below, 10, 0)
    assert refused.value.code == "I63"
    assert "all noise" in str(refused.value)
    above = replace(made, parts=(replace(made.parts[0], integers=((-20,), (30,))),))
    assert sample(above, 10, 0)["married"].all()
