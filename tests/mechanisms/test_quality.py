"""Data quality: the classes on every engine, the contract, intervals that cover, words that help."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit as tc
from tacit.curator.mechanisms import integers
from tacit.errors import QueryError
from tacit.method.quality import encoding as quality_encoding
from tacit.method.quality import estimate as shares
from tacit.method.shared.simulated_parts import empty_parts, simulated
from tacit.method.shared.weighted_encoding import FINE
from tacit.source import open_source
from tacit.testing import contract
from tacit.testing.simulate import add_noise, exact_integers, shaped

SCHEMA = tc.Schema(
    {
        "age": tc.Real(18, 93, units="years"),
        "free": tc.Real(),
        "educ": tc.Integer(1, 16, missing=3),
        "sex": tc.Category({0: "male", 1: "female"}),
        "region": tc.Category(["north", "south"], missing="unknown"),
        "ok": tc.Boolean(),
        "day": tc.Date("2020-01-01", "2024-12-31"),
    }
)
TYPES = [pa.float64(), pa.float64(), pa.int32(), pa.int64(), pa.string(), pa.int64(), pa.date32()]
CELLS: list[list[Any]] = [
    [None, math.nan, math.inf, 17.999, 18.0, 50.0, 93.0, 93.001, -1e300],
    [None, math.nan, -math.inf, 1e308, 0.0],
    [None, 0, 1, 16, 17],
    [None, 0, 1, 2],
    [None, "north", "south", "North", ""],
    [None, 0, 1, 2],
    [None, date(2019, 12, 31), date(2020, 1, 1), date(2024, 12, 31), date(2025, 1, 1)],
]


def table(rows: int = 200, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    made = {}
    for name, kind, cells in zip(SCHEMA, TYPES, CELLS, strict=True):
        made[name] = pa.array([cells[i] for i in rng.integers(0, len(cells), rows)], kind)
    return pa.table(made)


def by_hand(data: pa.Table) -> list[list[int]]:
    """Plain Python."""
    found = []
    for name, column in SCHEMA.items():
        cells = data[name].to_pylist()
        if isinstance(column, tc.Category | tc.Boolean):
            codes = (0, 1) if isinstance(column, tc.Boolean) else column.codes
            places = [0 if x is None else 2 if x in codes else 1 for x in cells]
            found.append([places.count(i) for i in range(3)])
            continue
        low, high = getattr(column, "lower", None), getattr(column, "upper", None)
        places = []
        for x in cells:
            if x is None or (isinstance(x, float) and not math.isfinite(x)):
                places.append(0)
            else:
                places.append(3 if low is None else 1 if x < low else 2 if x > high else 3)
        found.append([places.count(i) for i in range(4)])
    return found


@pytest.mark.parametrize("engine", ["parquet", "pyarrow", "polars", "duckdb", "numpy"])
def test_every_cell_has_one_class(engine: str, tmp_path: Path) -> None:
    data = table()
    pq.write_table(data, tmp_path / "t.parquet")
    shape = shaped(tc.DataQuality(), SCHEMA, "replace-one", 200, tc.Cost.of(epsilon=1))
    if engine == "numpy":
        arrays = {name: np.array(data[name].to_pylist(), dtype=object) for name in data.column_names}
        arrays["day"] = np.array(
            [None if d is None else (d - date(1970, 1, 1)).days for d in arrays["day"]], dtype=object
        )
        found = [k[0].tolist() for k in exact_integers(shape, arrays)]
    else:
        source: Any = {
            "parquet": tmp_path / "t.parquet",
            "pyarrow": data,
            "polars": pl.from_arrow(data),
            "duckdb": duckdb.connect().from_arrow(data),
        }[engine]
        found = [list(cells[0]) for cells in integers(shape, open_source(source))]
    assert found == by_hand(data)


def test_text_files_and_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('age,region,ok\n50,north,true\n,x,false\nold,,2\n1e400,"south",maybe\n17,South,\n')
    schema = tc.Schema({name: SCHEMA[name] for name in ("age", "region", "ok")})
    shape = shaped(tc.DataQuality(), schema, "replace-one", 5, tc.Cost.of(epsilon=1))
    found = integers(shape, open_source(tmp_path / "t.csv"))
    assert [cells[0] for cells in found] == [(3, 1, 0, 1), (1, 2, 2), (2, 1, 2)]


def test_spark_has_the_same_classes(spark: Any, tmp_path: Path) -> None:
    data = table(150, 3)
    pq.write_table(data, tmp_path / "t.parquet")
    shape = shaped(tc.DataQuality(), SCHEMA, "replace-one", 150, tc.Cost.of(epsilon=1))
    found = integers(shape, open_source(spark.read.parquet(str(tmp_path / "t.parquet"))))
    assert [list(cells[0]) for cells in found] == by_hand(data)


def test_the_contract() -> None:
    contract(tc.DataQuality(["age", "sex"]), SCHEMA, tables=60, draws=20_000)


def test_the_contract_of_persons() -> None:
    schema = tc.Schema({"who": tc.PrivacyUnit(3), "age": SCHEMA["age"], "sex": SCHEMA["sex"]})
    contract(tc.DataQuality(), schema, tables=40, draws=20_000)
    shape = shaped(tc.DataQuality(), schema, "add-remove", 3, tc.Cost.of(epsilon=1))
    found = integers(shape, open_source({"who": [1, 1, 2], "age": [10.0, 50.0, 99.0], "sex": [0, 0, 5]}))
    assert [cells[0] for cells in found] == [(0, FINE // 2, FINE, FINE // 2), (0, FINE, FINE)]


def test_the_sensitivity_of_classes_over_all_pairs() -> None:
    for number in (3, 4):
        rows = np.eye(number, dtype=int)
        for neighbors, others in (("add-remove", np.zeros((1, number), int)), ("replace-one", rows)):
            form = quality_encoding.classes(number, neighbors)
            gaps = np.abs(rows[:, None] - others[None])
            assert gaps.sum(axis=2).max() == form.l1
            assert (gaps**2).sum(axis=2).max() == form.l2_squared


@pytest.mark.sample(4)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.02}], ids=str)
def test_intervals_cover(neighbors: str, price: dict[str, float]) -> None:
    """500 tables of 400 rows: below 0.89 with probability < 1e-6 where it is 0.95."""
    rng = np.random.default_rng(1)
    truth = np.array([0.1, 0.02, 0.3])
    cost = tc.Cost.of(**price)
    schema = tc.Schema({"age": tc.Real(0, 100)})
    shape = shaped(tc.DataQuality(), schema, neighbors, 400, cost)
    noisy = []
    for _ in range(500):
        place = rng.choice(4, 400, p=[*truth, 1 - truth.sum()])
        exact = exact_integers(shape, {"age": np.array([np.nan, -5.0, 105.0, 50.0])[place]})
        noisy.append(add_noise(shape, exact, rng)[0])
    (part,), cells = empty_parts(shape), np.concatenate(noisy)
    for i, true in enumerate(truth):  # all tables at once, one class after the other
        low, high = shares.share(part, i, shape.rows, True, "rows", cells).inversion.interval(0.95)
        assert ((low <= true) & (true <= high)).mean() > 0.89
        alone = simulated(shape, (noisy[0],)).estimate().intervals(0.95)[i]
        assert [low[0], high[0]] == pytest.approx(alone, abs=1e-9)


def test_words_that_help(tmp_path: Path) -> None:
    data = {"age": [400.0] * 300 + [50.0] * 700, "sex": ["f", "m", "w", "m"] * 250}
    schema = tc.Schema({"age": tc.Real(0, 100, units="years"), "sex": tc.Category(["f", "m"])})
    curator = tc.Curator(data, schema, budget=tc.Budget(rho=1))
    release = curator.release(tc.DataQuality(), rho=0.2, name="quality")
    words = str(release)
    assert "above (bounds 0 to 100 years): are the bounds or the units right?" in words
    assert "unlisted: are the codes right?" in words
    assert "below (bounds" not in words
    release.save(tmp_path / "q.json")
    again = tc.Release.load(tmp_path / "q.json")
    assert again.to_json() == release.to_json()
    assert type(again).__name__ == "QualityRelease"
    assert curator.releases["quality"].estimate(target="table").terms[0] == "age: missing"
    assert "DataQuality" in str(curator.plan(tc.DataQuality(), rho=0.2))
    both = curator.release({"age": tc.Mean("age"), "codes": tc.DataQuality("sex")}, rho=0.1)
    assert both["codes"].estimate().terms == ("sex: missing", "sex: unlisted")


def test_columns_that_cannot_be_asked_about() -> None:
    schema = tc.Schema({"who": tc.PrivacyUnit(3), "age": tc.Real(0, 100)})
    curator = tc.Curator({"who": [1, 2], "age": [1.0, 2.0]}, schema, budget=tc.Budget(rho=1))
    for columns, code in (("who", "Q11"), ("aeg", "Q10")):
        with pytest.raises(QueryError) as refused:
            curator.release(tc.DataQuality(columns), rho=0.1)
        assert refused.value.code == code
    assert curator.spent.rho == 0


@pytest.mark.parametrize("codes", [[False, True], [True, False]], ids=str)
def test_categories_of_truth_values_are_such_in_text_too(codes: list[bool], tmp_path: Path) -> None:
    """Whichever code is declared first: words of a text file are read as truth values, not as numbers."""
    place = tmp_path / "flags.csv"
    place.write_text("flag\ntrue\nfalse\nTrue\n,\n", encoding="utf-8")
    schema = tc.Schema({"flag": tc.Category(codes)})
    shape = shaped(tc.DataQuality(), schema, "replace-one", 4, tc.privacy.Cost.of(rho=1))
    assert integers(shape, open_source(place))[0][0] == (1, 0, 3)
