"""A table piece by piece: the rows that one reading gives, with words that a key and a row's place (person) decide."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit as tc
from tacit.method.blocks import mechanism_labels as blocks
from tacit.method.blocks import mechanism_one_step as one_step
from tacit.method.blocks import one_step_design
from tacit.method.shared.measurement import Public
from tacit.models import scores
from tacit.schema.predicates.numeric_expressions import cell_of
from tacit.schema.predicates.typed_conditions import typed
from tacit.schema.row_maps_of_columns import unit_of
from tacit.source.engine_sums import row_arrays as rows
from tacit.source.engine_table import EngineTable
from tacit.source.open_table import open_source
from tacit.source.reading import arrow_engine

KEY, OTHER = b"k" * 32, b"o" * 32
ROWS = 1_000
SCHEMA = {
    "x": tc.Real(),
    "sex": tc.Category(["f", "m"]),
    "day": tc.Date("2020-01-01", "2021-12-31"),
    "twice": tc.Real(computed="2 * x"),
}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "id": [f"person {i}" if i else None for i in rng.integers(0, 200, ROWS)],
            "x": np.where(rng.random(ROWS) < 0.1, np.nan, rng.normal(size=ROWS)),
            "sex": rng.choice(["f", "m", "?"], ROWS),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 800, ROWS), "D"),
        }
    )


@pytest.fixture(scope="module")
def sources(table: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("pieces")
    arrow = pa.Table.from_pandas(table)
    (folder / "many").mkdir()
    pq.write_table(arrow, folder / "one.parquet", row_group_size=70)
    for i in range(4):
        pq.write_table(arrow.slice(250 * i, 250), folder / "many" / f"{i}.parquet", row_group_size=90)
    with pa.OSFile(str(folder / "t.arrow"), "wb") as sink, pa.ipc.new_file(sink, arrow.schema) as writer:
        writer.write_table(arrow)
    return {
        "parquet": folder / "one.parquet",
        "folder": folder / "many",
        "arrow file": folder / "t.arrow",
        "pandas": table,
        "pyarrow": arrow,
        "dict": {name: table[name].to_numpy() for name in ("id", "x", "sex")} | {"day": arrow["day"]},
    }


KINDS = ("parquet", "folder", "arrow file", "pandas", "pyarrow", "dict")


def read(source: EngineTable, schema: tc.Schema, key: bytes) -> tuple[np.ndarray, np.ndarray]:
    cells = tuple(cell_of(schema, name) for name in ("x", "twice", "sex"))
    found = source.pieces(cells, unit_of(schema), typed("sex == 'f' or day > '2020-06-01'", schema), key)
    assert found is not None
    parts = list(found)
    assert len(parts) > 2
    return np.concatenate([one for one, _ in parts]), np.concatenate([own for _, own in parts])


READ: dict[tuple[tc.Schema, bytes], tuple[np.ndarray, np.ndarray]] = {}


def of_pandas(sources: dict[str, Any], schema: tc.Schema, key: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Of pandas, read once."""
    if (schema, key) not in READ:
        READ[schema, key] = read(open_source(sources["pandas"], schema), schema, key)
    return READ[schema, key]


@pytest.mark.parametrize(
    ("kind", "persons"), [*((kind, False) for kind in KINDS), ("folder", True), ("dict", True), ("arrow file", True)]
)
def test_pieces_are_the_rows_of_one_reading(
    sources: dict[str, Any], kind: str, persons: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same rows; the same words each time and with every engine, others with another key, one for each person."""
    monkeypatch.setattr(arrow_engine, "PIECE", 300)
    monkeypatch.setattr(rows, "CHUNK", 64)
    schema = tc.Schema(({"id": tc.PrivacyUnit(max_rows=50)} if persons else {}) | SCHEMA)
    source = open_source(sources[kind], schema)
    values, own = read(source, schema, KEY)
    cells = tuple(cell_of(schema, name) for name in ("x", "twice", "sex"))
    whole = source.complete(cells, unit_of(schema), typed("sex == 'f' or day > '2020-06-01'", schema))
    assert len(values) > 400
    assert np.sort(values, axis=0).tolist() == np.sort(whole.values, axis=0).tolist()
    first, other = of_pandas(sources, schema, KEY)
    assert sorted(zip(values[:, 0], own, strict=True)) == sorted(zip(first[:, 0], other, strict=True))
    assert not set(of_pandas(sources, schema, OTHER)[1].tolist()) & set(own.tolist())  # alike: probability below 1e-13
    if persons:
        assert whole.owners is not None
        assert len(set(own.tolist())) == len(set(whole.owners.tolist()))
        word = dict(zip(values[:, 0].tolist(), own.tolist(), strict=True))
        by_person = {
            (owner, word[x]) for owner, x in zip(whole.owners.tolist(), whole.values[:, 0].tolist(), strict=True)
        }
        assert len(by_person) == len(set(own.tolist()))
    else:
        assert len(set(own.tolist())) == len(own)


def test_a_person_is_one_person_whether_or_not_others_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers: a piece with a missing one must not make floats, and other words, of them."""
    monkeypatch.setattr(arrow_engine, "PIECE", 10)
    table = pa.table({"id": pa.array([7, 8] * 5 + [7, None] * 5, pa.int64()), "x": np.arange(20.0)})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=10)
    schema = tc.Schema({"id": tc.PrivacyUnit(max_rows=50), "x": tc.Real()})
    for data in (tmp_path / "t.parquet", table, table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)):
        found = open_source(data, schema).pieces((cell_of(schema, "x"),), unit_of(schema), None, KEY)
        assert found is not None
        parts = [dict(zip(values[:, 0], own.tolist(), strict=True)) for values, own in found]
        assert len(parts) == 2
        assert parts[0][0] == parts[0][2] == parts[1][10] != parts[0][1]
        assert len({*parts[0].values(), *parts[1].values()}) == 3


def test_sources_without_a_lasting_place_have_no_pieces(table: pd.DataFrame, tmp_path: Path) -> None:
    table.to_csv(tmp_path / "t.csv", index=False)
    schema = tc.Schema({"x": tc.Real()})
    for data in (tmp_path / "t.csv", pl.from_pandas(table[["x"]])):
        assert open_source(data, schema).pieces((cell_of(schema, "x"),), None, None, KEY) is None


@pytest.mark.long
@pytest.mark.sample(6)
@pytest.mark.parametrize("kind", ["parquet", "dict"])
@pytest.mark.parametrize("names", [("x",), ("x", "twice")])
def test_groups_of_blocks_are_the_blocks_of_one_reading(
    sources: dict[str, Any], kind: str, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same key: seven readings of the table, or one; blocks that overflow included."""
    monkeypatch.setattr(arrow_engine, "PIECE", 130)
    monkeypatch.setattr(blocks, "SMALL", 0)
    monkeypatch.setattr(blocks.os, "urandom", lambda size: KEY[:size])
    schema = tc.Schema(SCHEMA)
    source = open_source(sources[kind], schema)
    cells = tuple(cell_of(schema, name) for name in names)
    found = source.pieces(cells, None, None, KEY)
    assert found is not None
    for room in (60, 20):
        parts = list(found)
        group = blocks.Group(20, room, len(names), 0, 20)
        for values, own in source.pieces(cells, None, None, KEY) or ():
            group.add(values, own)
        whole = group.blocks()
        monkeypatch.setattr(blocks, "GROUP", 3 * room * len(names))
        parts = list(blocks.groups(source, cells, None, None, 20, room, None, lambda one: one, lambda *_: None))
        assert [len(one.sizes) for one in parts] == [3] * 6 + [2]
        assert np.concatenate([one.values for one in parts]).tolist() == whole.values.tolist()
        assert np.concatenate([one.sizes for one in parts]).tolist() == whole.sizes.tolist()
        assert (whole.sizes.max() == 20) == (room == 20)


@pytest.mark.parametrize("kind", ["parquet", "dict"])
def test_groups_of_blocks_of_equal_size_are_those_of_one_ranking(
    sources: dict[str, Any], kind: str, table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranked in several passes, read in seven: rows in the blocks of their words' ranks, missing ones in theirs."""
    monkeypatch.setattr(arrow_engine, "PIECE", 130)
    monkeypatch.setattr(blocks, "SMALL", 0)
    monkeypatch.setattr(blocks, "GROUP", 3 * 50)
    monkeypatch.setattr(blocks.os, "urandom", lambda size: KEY[:size])
    monkeypatch.setattr(rows, "CHUNK", 64)
    monkeypatch.setattr(blocks.equal_blocks, "CHUNK", 64)
    own = rows.of_places(KEY, 0, ROWS)
    ranked = np.argsort(np.argsort(own)) * 20 // ROWS
    for held in (100, 10_000):
        assert (blocks.equal_blocks.keyed_cuts(KEY, ROWS, 20, held) == np.sort(own)[50::50]).all()
    cells = (cell_of(tc.Schema(SCHEMA), "x"),)
    parts = list(
        blocks.groups(
            open_source(sources[kind], tc.Schema(SCHEMA)),
            cells,
            None,
            None,
            20,
            50,
            ROWS,
            lambda one: one,
            lambda *_: None,
        )
    )
    x = table["x"].to_numpy()
    expected = [np.sort(x[(ranked == b) & ~np.isnan(x)]) for b in range(20)]
    assert [len(one.sizes) for one in parts] == [3] * 6 + [2]
    found = [v[:size, 0] for one in parts for v, size in zip(one.values, one.sizes, strict=True)]
    assert [one.tolist() for one in found] == [one.tolist() for one in expected]


def test_rows_may_come_in_any_order_and_in_any_parts() -> None:
    rng = np.random.default_rng(1)
    values, own = rng.integers(0, 5, (300, 2)).astype(float), rng.integers(0, 2**64, 300, dtype=np.uint64)
    own[:20] = own[20:40]  # equal words: the rows themselves decide
    whole = blocks.packed(rows.RowArrays(values, None), own, 4, 50)
    for _ in range(20):
        order, cuts = rng.permutation(300), np.sort(rng.integers(0, 300, 5))
        group = blocks.Group(4, 50, 2, 0, 4)
        for part in np.split(order, cuts):
            group.add(values[part], own[part])
        found = group.blocks()
        assert found.values.tolist() == whole.values.tolist()
        assert found.sizes.tolist() == whole.sizes.tolist() == [50, 50, 50, 50]


def test_a_release_of_a_large_table_is_read_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five standard errors: wrong once in 1.7 million runs."""
    monkeypatch.setattr(blocks, "SMALL", 0)
    monkeypatch.setattr(blocks, "GROUP", 3_000)
    rng = np.random.default_rng(2)
    curator = tc.Curator(
        {"x": rng.exponential(1, 8_000)}, tc.Schema({"x": tc.Real()}), name="t", budget=tc.Budget(rho=9)
    )
    asked: list[str] = []
    monkeypatch.setattr(EngineTable, "complete", lambda *_: asked.append("complete"))
    query = tc.SampleAndAggregate("x", tc.Statistic("median", median=(0, 3)), blocks=40)
    found = curator.release(query, rho=4).estimate()
    assert asked == []
    assert abs(found.value - np.log(2)) < 5 * found.std_error


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", ["rows", "persons", "equal"])
def test_spark_answers_where_the_rows_are(
    spark: Any, sources: dict[str, Any], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every row in one block, every person in one; of persons, by the same key, the blocks of one reading.

    Of equal size: as many rows as have the words of their numbers there, one more than a mean where none is left out.
    """
    persons, public = kind == "persons", ROWS if kind == "equal" else None

    def counted(found: blocks.Blocks) -> np.ndarray:  # within: it travels as code
        parts = [found.sizes, found.values[:, :, 0].sum(axis=1), found.values[:, :, 1].max(axis=1)]
        return np.stack(parts, axis=1)

    schema = tc.Schema(({"id": tc.PrivacyUnit(max_rows=50)} if persons else {}) | SCHEMA)
    frame = spark.read.parquet(str(sources["folder"])).repartition(3)
    cells = tuple(cell_of(schema, name) for name in ("x", "twice"))
    where = typed("sex == 'f'", schema)
    monkeypatch.setattr(blocks.os, "urandom", lambda size: KEY[:size])
    monkeypatch.setattr(blocks, "SMALL", 16 * 2 * 300 * 4)  # four blocks a group, of ten
    asked = (cells, unit_of(schema), where, 10, 300, public)
    default = np.array([-1.0, 0, 0])
    found = blocks.spread(open_source(frame, schema), *asked, counted, default)
    local = open_source(sources["folder"], schema)
    assert blocks.spread(local, *asked, counted, default) is None
    rows_ = local.complete(cells, unit_of(schema), where).values
    assert found is not None
    assert found[:, 0].sum() == len(rows_)
    assert found[:, 1].sum() == pytest.approx(rows_[:, 0].sum())
    assert found[:, 2].max() == rows_[:, 1].max()
    if kind == "equal":
        words = blocks.equal_blocks.words_of_equal_blocks(
            rows.of_places(KEY, 0, len(rows_)), blocks.equal_blocks.keyed_cuts(KEY, ROWS, 10)
        )
        assert found[:, 0].tolist() == np.bincount((words >> np.uint64(32)) * np.uint64(10) >> np.uint64(32)).tolist()
    if persons:
        pieces = local.pieces(cells, unit_of(schema), where, KEY)
        group = blocks.Group(10, 300, 2, 0, 10)
        for values, own in pieces or ():
            group.add(values, own)
        assert found.tolist() == counted(group.blocks()).tolist()


def test_spark_releases_a_fitted_law(spark: Any) -> None:
    """On the machines of the cluster, log-density and all; six standard errors: wrong once in 500 million runs."""
    rng = np.random.default_rng(3)
    frame = spark.createDataFrame(pd.DataFrame({"x": rng.exponential(0.5, 4_000)}))
    curator = tc.Curator(frame, tc.Schema({"x": tc.Real()}), name="t", budget=tc.Budget(rho=9))
    found = curator.release(tc.SampleAndAggregate("x", tc.families.Exponential(rate=(0.1, 10)), blocks=40), rho=4)
    estimate = found.estimate()
    assert abs(estimate.value - 2) < 6 * estimate.std_error


# Scores of one step ---------------------------------------------------------------------------------------------------


def scored(table: pd.DataFrame, data: Any, schema: tc.Schema, **words: Any) -> tuple[Any, ...]:
    """The integers of scores by the release's own reading, and from rows at hand, with the words of the key."""
    query = tc.SampleAndAggregate("x", tc.families.Normal(mean=(-3, 3), sd=(0.2, 5)), one_step=True, **words)
    shape = one_step_design.design(query, Public(schema, "add-remove", None, ROWS), tc.Cost.of(rho=1))
    second = replace(shape, columns=one_step_design.split(shape)[1])
    scaling = scores.scaling_at(query.model.law, np.array([0.1, 1.1]))
    source = open_source(data, schema)
    found = one_step.read(second, source, scaling)
    local = open_source(table, schema)
    parts = list(local.pieces(shape.blocks.cells, shape.unit, shape.where, KEY) or ())  # type: ignore[union-attr]
    values, own = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    owners = None if shape.unit is None else own.view(np.int64)
    whole = one_step.exact(
        second, rows.RowArrays(values, owners), scaling, (own % np.uint64(scores.BATCH)).astype(np.int64)
    )
    return found, whole


@pytest.mark.sample(2)
@pytest.mark.parametrize("persons", [False, True], ids=["rows", "persons"])
def test_scores_are_added_up_piece_by_piece_as_at_once(
    sources: dict[str, Any], table: pd.DataFrame, persons: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exactly, of several parts of persons too, and without a reading of the whole."""
    monkeypatch.setattr(arrow_engine, "PIECE", 130)
    monkeypatch.setattr(blocks, "SMALL", 16)
    monkeypatch.setattr(blocks, "GROUP", 40_000 if persons else 500)  # a few parts of persons, each a reading
    monkeypatch.setattr(one_step.os, "urandom", lambda size: KEY[:size])
    monkeypatch.setattr(EngineTable, "complete", lambda *_: pytest.fail("read at once"))
    schema = tc.Schema(({"id": tc.PrivacyUnit(max_rows=50)} if persons else {}) | SCHEMA)
    for kind in ("parquet", "pandas"):
        found, whole = scored(table, sources[kind], schema, where="sex == 'f'")
        assert found == whole
        assert found[0][0][0] != 0


@pytest.mark.parametrize("persons", [False, True], ids=["rows", "persons"])
def test_spark_adds_scores_up_where_the_rows_are(
    spark: Any, sources: dict[str, Any], table: pd.DataFrame, persons: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the words of the key exactly; with fresh ones a score may stand one step of 2**20 beside."""
    monkeypatch.setattr(one_step.os, "urandom", lambda size: KEY[:size])
    monkeypatch.setattr(blocks, "SMALL", 16 * 300)
    monkeypatch.setattr(EngineTable, "complete", lambda *_: pytest.fail("read at once"))
    schema = tc.Schema(({"id": tc.PrivacyUnit(max_rows=50)} if persons else {}) | SCHEMA)
    found, whole = scored(table, spark.read.parquet(str(sources["folder"])).repartition(3), schema)
    for one, other in zip(found, whole, strict=True):
        assert np.abs(np.subtract(one, other)).max() <= (0 if persons else 4 * ROWS)
