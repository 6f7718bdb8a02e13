"""A site's units, codes and dates become those of the study, cell by cell, the same on every engine."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit as tc
from tacit.errors import TacitError
from tacit.method.shared.measurement import Public
from tacit.source import open_source
from tacit.source.reading.column_kinds import Reading
from tacit.source.site_table import apply
from tacit.testing import simulate

STUDY = tc.Study.from_toml("""
tacit = 1
[table]
name = "hips"
rows = 300
[budget]
epsilon = 1
[schema]
wait = { type = "Real", lower = 0, upper = 240, units = "hours" }
stay = { type = "Integer", lower = 0, upper = 60 }
admitted = { type = "Date", lower = 1960-01-01, upper = 2059-12-31 }
left = { type = "Date", lower = 1990-01-01, upper = 2030-12-31 }
sex = { type = "Category", levels = ["female", "male"], missing = "unknown" }
side = { type = "Category", levels = { 1 = "left", 2 = "right" } }
again = { type = "Boolean" }
days = { type = "Integer", lower = 0, upper = 400, computed = "left - admitted" }
[spend]
epsilon = 1
[ask.stay]
query = "Mean"
columns = ["wait", "stay", "days"]
by = "sex"
[ask.again]
query = "Mean"
columns = "again"
where = "side == 'left'"
[ask.quality]
query = "DataQuality"
""")
SITE = """
name = "st-mary"
[data]
path = "rows.csv"
[data.columns]
wait = { column = "WAIT_MIN", multiply = 0.016666666666666666 }
stay = { column = "LOS", recode = { none = 0, "?" = 7 } }
admitted = { column = "ADM", format = "%d/%m/%Y" }
left = { column = "OUT", format = "%y-%m-%d %H:%M" }
sex = { column = "GENDER", recode = { F = "female", W = "female", M = "male", X = "unknown" } }
side = { column = "SIDE", recode = { L = "left", R = "right" } }
again = { column = "READM", recode = { J = true, N = false } }
"""
DATES = ["01/02/2024", "1/2/1999", "31/12/2023", "30/02/2020", "29/02/2024", "29/02/2023", "29/02/1900", "00/01/2020"]
DATES += ["1/13/2020", " 05/06/2021 ", "05-06-2021", "05/06/21", "05/06/20210", "", "text", "5/6/2021\n", "٠٥/٠٦/٢٠٢١"]
TIMES = [
    "24-02-01 10:30",
    "99-12-31 23:59",
    "68-01-01 00:00",
    "69-01-01 0:0",
    "24-02-01 24:00",
    "24-02-01 10:60",
    "",
    "x",
]


def rows(n: int = 600, seed: int = 0) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)

    def some(cells: list[Any]) -> list[Any]:
        return [cells[i] for i in rng.integers(0, len(cells), n)]

    return {
        "WAIT_MIN": some([None, 0.0, -5.0, 60.0, 100.0, 14_400.0, 99_999.0, 7.1]),
        "LOS": some(["none", "?", "3", "60", "x"]),
        "ADM": some(DATES),
        "OUT": some(TIMES),
        "GENDER": some(["F", "W", "M", "X", "f", "female", "male", None, "Q"]),
        "SIDE": some(["L", "R", "LR", None]),
        "READM": some(["J", "N", "j", None]),
    }


def mapped(cells: dict[str, list[Any]], *, text: bool = False) -> dict[str, np.ndarray]:
    """The same by Python's own words: the reference.  text: a text file, whose other cells may still parse."""

    def day(cell: str | None, form: str) -> Any:
        import re

        shape = {
            "%d/%m/%Y": r" *\d{1,2}/\d{1,2}/\d{4} *",
            "%y-%m-%d %H:%M": r" *\d\d-\d{1,2}-\d{1,2} \d{1,2}:\d{1,2} *",
        }
        if cell is None or re.fullmatch(shape[form], cell, re.ASCII) is None:
            return np.datetime64("NaT", "D")
        try:
            return np.datetime64(datetime.strptime(cell.strip(" "), form).date(), "D")
        except ValueError:
            return np.datetime64("NaT", "D")

    stays = {"none": 0.0, "?": 7.0, **({"3": 3.0, "60": 60.0} if text else {})}
    sexes = {"F": "female", "W": "female", "M": "male", "female": "female", "male": "male"}
    return {
        "wait": np.array([np.nan if x is None else x * 0.016666666666666666 for x in cells["WAIT_MIN"]]),
        "stay": np.array([stays.get(x, np.nan) for x in cells["LOS"]]),
        "admitted": np.array([day(x, "%d/%m/%Y") for x in cells["ADM"]]),
        "left": np.array([day(x, "%y-%m-%d %H:%M") for x in cells["OUT"]]),
        "sex": np.array([sexes.get(x) for x in cells["GENDER"]], dtype=object),
        "side": np.array([{"L": 1.0, "R": 2.0}.get(x, np.nan) for x in cells["SIDE"]]),
        "again": np.array([{"J": 1.0, "N": 0.0}.get(x, np.nan) for x in cells["READM"]]),
    }


def site_at(folder: Path, text: str = SITE) -> tc.Site:
    (folder / "st-mary.toml").write_text(text)
    return tc.Site.load(folder / "st-mary.toml", STUDY)


def exact(source: Any, query: Any) -> Any:
    """Integers before noise."""
    from tacit.curator.mechanisms import design, integers
    from tacit.privacy import Cost

    shape = design(query, Public(STUDY.schema, "add-remove", None), Cost.of(epsilon=1))
    return integers(shape, source)


def reference(cells: dict[str, np.ndarray], query: Any) -> Any:
    from tacit.curator.mechanisms import design
    from tacit.privacy import Cost
    from tacit.testing.reference_table import with_computed
    from tacit.testing.simulate import exact_integers

    shape = design(query, Public(STUDY.schema, "add-remove", None), Cost.of(epsilon=1))
    made = exact_integers(shape, with_computed(cells, STUDY.schema))
    return tuple(tuple(tuple(int(x) for x in cell) for cell in part) for part in made)


QUERIES = [
    tc.Mean(["wait", "stay", "days"], by="sex"),
    tc.Mean("again", where="side == 'left' or side.isna()"),
    tc.Mean(["admitted", "left"]),
    tc.Count(by=["sex", "side", "again"]),
]


@pytest.mark.sample(6)
@pytest.mark.parametrize("engine", ["parquet", "pyarrow", "pandas", "polars", "duckdb"])
def test_every_engine_maps_alike(engine: str, tmp_path: Path) -> None:
    cells = rows()
    data = pa.table({name: pa.array(column) for name, column in cells.items()})
    pq.write_table(data, tmp_path / "t.parquet")
    table = {
        "parquet": lambda: tmp_path / "t.parquet",
        "pyarrow": lambda: data,
        "pandas": lambda: data.to_pandas(),
        "polars": lambda: pl.from_arrow(data),
        "duckdb": lambda: duckdb.connect().from_arrow(data),
    }[engine]()
    source = computing(apply(open_source(table), site_at(tmp_path).columns))
    for query in QUERIES:
        assert exact(source, query) == reference(mapped(cells), query), query


def computing(table: Any) -> Any:
    from tacit.source import computing

    return computing(table, STUDY.schema)


@pytest.mark.long
def test_spark_maps_alike(spark: Any, tmp_path: Path) -> None:
    cells = rows(200)
    pq.write_table(pa.table({name: pa.array(column) for name, column in cells.items()}), tmp_path / "t.parquet")
    source = computing(apply(open_source(spark.read.parquet(str(tmp_path / "t.parquet"))), site_at(tmp_path).columns))
    for query in QUERIES:
        assert exact(source, query) == reference(mapped(cells), query), query


@pytest.mark.long
def test_text_files_map_alike_and_keep_cells_that_are_not_recoded(tmp_path: Path) -> None:
    cells = rows()
    cells["ADM"] = [x for x in cells["ADM"] if "\n" not in x] + ["text"] * sum("\n" in x for x in cells["ADM"])
    lines = [",".join(cells)] + [
        ",".join("" if x is None else str(x) for x in row) for row in zip(*cells.values(), strict=True)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    source = computing(apply(open_source(tmp_path / "rows.csv"), site_at(tmp_path).columns))
    for query in QUERIES:
        assert exact(source, query) == reference(mapped(cells, text=True), query), query


def test_quality_is_that_of_the_mapped_cells(tmp_path: Path) -> None:
    """A wrong unit shows as shares above the bounds: that is what the question is for."""
    cells = rows()
    data = pa.table({name: pa.array(column) for name, column in cells.items()})
    source = computing(apply(open_source(data), site_at(tmp_path).columns))
    found = exact(source, tc.DataQuality(["wait", "sex", "admitted"]))
    waits = [x for x in cells["WAIT_MIN"] if x is not None]
    above, below = sum(x / 60 > 240.0001 for x in waits), sum(x < 0 for x in waits)
    assert found[0][0][:3] == (len(cells["WAIT_MIN"]) - len(waits), below, above)
    sexes = cells["GENDER"]
    listed = sum(map(sexes.count, ["F", "W", "M", "female", "male"]))
    assert found[1][0] == (sexes.count(None) + sexes.count("X"), sexes.count("f") + sexes.count("Q"), listed)
    days = mapped(cells)["admitted"]
    assert found[2][0][0] == int(np.isnat(days).sum())


def test_numbers_are_recoded_as_numbers(tmp_path: Path) -> None:
    text, codes = SITE, {"F": 1, "W": 3, "M": 2, "X": 9}
    for letter, code in codes.items():
        text = text.replace(f"{letter} = ", f"{code} = ", 1)
    site = site_at(tmp_path, text)
    cells = rows()
    cells["GENDER"] = [codes.get(x) for x in cells["GENDER"]]
    words = {1: "female", 3: "female", 2: "male"}
    wanted = {**mapped(rows()), "sex": np.array([words.get(x) for x in cells["GENDER"]], dtype=object)}
    data = pa.table({name: pa.array(column) for name, column in cells.items()})
    for table in (data, pl.from_arrow(data)):
        query = tc.Count(by=["sex", "side"])
        assert exact(computing(apply(open_source(table), site.columns)), query) == reference(wanted, query)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"WAIT_MIN": pa.array(["7"] * 10)}, "multiply does not apply"),
        ({"ADM": pa.array([date(2020, 1, 1)] * 10)}, "format does not apply"),
        ({"GENDER": pa.array([date(2020, 1, 1)] * 10)}, "recode does not apply"),
        ({"GENDER": pa.array([1] * 10)}, "holds numbers"),
    ],
)
def test_a_map_that_a_column_does_not_take(changed: dict[str, Any], says: str, tmp_path: Path) -> None:
    data = pa.table({**{name: pa.array(column) for name, column in rows(10).items()}, **changed})
    with pytest.raises(TacitError) as refused:
        tc.Curator(data, STUDY, site=site_at(tmp_path), ledger=tmp_path / "x.ledger")
    assert (refused.value.code, says in str(refused.value)) == ("D31", True)
    assert not (tmp_path / "x.ledger").exists()


def test_a_computed_column_is_not_mapped(tmp_path: Path) -> None:
    with pytest.raises(TacitError) as refused:
        site_at(tmp_path, SITE + 'days = { column = "DAYS" }\n')
    assert refused.value.code == "F20"


@pytest.mark.long
def test_from_a_site_to_an_answer(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    n = 4_000
    minutes = rng.uniform(0, 240 * 60, n)
    cells = {**rows(n), "WAIT_MIN": minutes.tolist(), "GENDER": np.array(["F", "M"])[rng.integers(0, 2, n)].tolist()}
    data = pa.table({name: pa.array(column) for name, column in cells.items()})
    curator = tc.Curator(data, STUDY, site=site_at(tmp_path), ledger=tmp_path / "x.ledger")
    found = curator.release(STUDY)
    assert found["stay"].study == STUDY.digest()
    value = found["stay"].estimate().values[0]
    female = np.array(cells["GENDER"]) == "F"
    # Laplace noise of standard deviation 2.2: beyond with probability 1e-7
    assert value == pytest.approx(minutes[female].mean() / 60, abs=25)
    shown = simulate(tc.Mean("wait", by="sex"), mapped(cells), STUDY.schema, epsilon=1, repeats=2)
    assert shown.exact[0] == pytest.approx(minutes[female].mean() / 60, abs=0.01)


def test_parts_of_a_cell_are_read_by_a_regular_expression(tmp_path: Path) -> None:
    data = pa.table({"d": ["12/3", "x", None, "1/2/3"]})
    pattern = r"\A([0-9]+)/([0-9]+)\z"
    for table in (data, pl.from_arrow(data), duckdb.connect().from_arrow(data)):
        engine = open_source(table)._engine
        frame = engine.read([Reading("d", "part", (pattern, "1")), Reading("d", "part", (pattern, "2"))])
        found = sorted(engine.collect(frame), key=lambda row: row["c0"] or 0)
        assert [tuple(row.values()) for row in found] == [(None, None)] * 3 + [(12.0, 3.0)]
