"""Norm-clipped vectors: bounded whatever the row, shortened and not turned, and the same integers on every engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.rows.coordinates import H
from tacit.rows.norm_clip import WIDEST, NormClip
from tacit.rows.row_map import KeyMap, RowMap, Unit
from tacit.rows.row_products import ClippedResidual, Coordinate, CrossProducts, Product, ProductOfMeans
from tacit.source import open_source

FINE = 2**19


@st.composite
def clips(draw: st.DrawFn) -> tuple[NormClip, np.ndarray]:
    size, shift = draw(st.integers(1, 6)), draw(st.integers(1, 20))
    each = st.tuples(*[st.integers(-(2**24), 2**24)] * size)
    clip = NormClip(draw(st.tuples(*[each] * size)), shift, draw(st.integers(1, H)))
    cells = st.one_of(st.integers(-H, H), st.sampled_from([-H, 0, H]))
    return clip, np.array(draw(st.lists(st.tuples(*[cells] * size), min_size=1, max_size=8)), dtype=np.int64)


@given(clips())
@settings(max_examples=300, deadline=None)
def test_no_row_exceeds_the_norm_and_none_is_turned(made: tuple[NormClip, np.ndarray]) -> None:
    clip, z = made
    clip.check()
    w, before = clip.numpy(z), replace(clip, most=WIDEST**2).numpy(z)
    norm, was = (w**2).sum(axis=1), (before**2).sum(axis=1)
    assert (norm <= clip.most**2).all()
    # rows within the norm are as they were
    assert (w[was <= clip.most**2] == before[was <= clip.most**2]).all()
    assert (np.sign(w) * np.sign(before) >= 0).all()
    # each entry is shortened by one factor, up to one unit
    far = was > clip.most**2
    exact = before * (clip.most / np.sqrt(np.maximum(was, 1)))[:, None]
    assert (np.abs(w - exact)[far] <= 1 + clip.most / np.sqrt(was[far])[:, None]).all()


def test_a_root_at_every_place_where_it_could_be_one_too_few() -> None:
    """Sums of squares just below, at and above whole squares: |w| C / r must not be too long."""
    roots = np.concatenate([np.arange(1, 40), [181, 255, 256, 1023, 32_767]])
    for most in (1, 7, 181):
        clip = NormClip(((2, 0), (0, 2)), 1, most)
        z = np.array([[a, b] for a in roots for b in (0, 1, 2)])
        w = clip.numpy(z)
        assert ((w**2).sum(axis=1) <= most**2).all()
        assert np.array_equal(w[(z**2).sum(axis=1) <= most**2], z[(z**2).sum(axis=1) <= most**2])


@pytest.mark.parametrize(
    "wrong",
    [
        {"shift": 0},
        {"most": 0},
        {"most": H + 1},
        {"weights": ((2**42, 1),)},
        {"weights": ((0, 1), (2**41, -(2**41)))},
        {"shift": 52},
    ],
)
def test_what_could_round_is_refused(wrong: dict[str, Any]) -> None:
    clip = NormClip(((1, 0), (0, 1)), 1, 10)
    clip.check()
    with pytest.raises(ArithmeticError):
        replace(clip, **wrong).check()


X, Z = RowMap("x", "x", "real", -50.0, 50.0, 2 * FINE), RowMap("z", "z", "real", 0.0, 1.0, 2 * FINE)
Y, K = RowMap("y", "y", "real", -10.0, 10.0, 2 * H), KeyMap("k", "k", "category", ("a", "b", "c"), ("a", "b", "c"))
FINELY = (
    Coordinate(half=FINE),
    Coordinate((X,), half=FINE),
    Coordinate((Z,), half=FINE),
    Coordinate((X, Z), half=FINE),
    Coordinate(marks=((K, 1),)),
    Coordinate((X,), ((K, 2),), half=FINE),
    Coordinate((Y,)),
)
WEIGHTS = (
    (200_000, 0, 0, 0, 0, 0, 0),
    (-91_000, 1531, 0, 0, 0, 0, 0),
    (77, 12, -913, 0, 0, 0, 0),
    (5, 0, 411, 2222, 0, 0, 0),
    (-9_999, 3, -4, 5, 97_000, 0, 0),
    (0, 1, 1, 1, 1, 3001, 0),
)
CLIP = NormClip(WEIGHTS, 22, 500)
PRODUCTS = tuple(Product((i, j)) for j in range(6) for i in range(j + 1))
SCORED = tuple(Product((j,), 1) for j in range(6)) + tuple(Product((i, j), 2, 18) for j in range(6) for i in range(j))
SCORE = ClippedResidual((17, -1203, 55, 999, 4, -77, 700_001), 20, 300)
QUESTIONS = {
    "products": CrossProducts(FINELY, PRODUCTS, norm=CLIP),
    "scores": CrossProducts(FINELY, (*SCORED, Product((), 2)), SCORE, norm=CLIP),
    "persons": CrossProducts(
        FINELY, PRODUCTS[:6], None, Unit("u", "u"), (ProductOfMeans((0, 1), 16), ProductOfMeans((2, 2), 19)), CLIP
    ),
}


def rows(size: int = 500) -> pa.Table:
    rng = np.random.default_rng(8)
    x = rng.standard_cauchy(size) * 5
    z = rng.uniform(-0.2, 1.2, size)
    for column, odd in ((x, (np.nan, np.inf, -np.inf, 1e308, -0.0, 50.0)), (z, (np.nan, 5e-324, 1.0, 0.5))):
        column[rng.choice(size, len(odd), replace=False)] = odd
    y = rng.normal(0, 4, size)
    levels = np.array(["a", "b", "c", "d", None], dtype=object)[rng.integers(0, 5, size)]
    who = rng.integers(0, 120, size)
    return pa.table({"x": x, "z": z, "y": y, "k": pa.array(levels, pa.string()), "u": pa.array(who, pa.int64())})


def reference(question: CrossProducts, data: pa.Table) -> tuple[int, ...]:
    complete = np.ones(len(data), dtype=np.bool_)
    values: dict[RowMap, np.ndarray] = {}
    for at in question.maps:
        values[at], known = at.numpy(data[at.source].to_numpy())
        complete &= known
    cells = data["k"].to_pylist()
    places = np.array([-1 if (found := K.index(cell)) is None else found for cell in cells])
    complete &= places >= 0
    z = question.numpy(values, {K: places}, len(data))
    who = None if question.unit is None else data["u"].to_numpy()[complete]
    return question.sums(z[complete], who)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", QUESTIONS)
def test_every_engine_adds_up_the_same_integers(name: str, tmp_path: Any) -> None:
    question, data = QUESTIONS[name], rows()
    expected = reference(question, data)
    assert len(set(map(abs, expected))) > 5
    pq.write_table(data, tmp_path / "t.parquet", row_group_size=64)
    pa.csv.write_csv(data, tmp_path / "t.csv")
    frame = pl.from_arrow(data)
    for table in (tmp_path / "t.parquet", tmp_path / "t.csv", data, frame, duckdb.connect().from_arrow(data)):
        found = open_source(table).crossed(question)
        assert found.cells == (expected,), type(table)
    # in any order of rows
    assert open_source(data.take(np.random.default_rng(1).permutation(len(data)))).crossed(question).cells == (
        expected,
    )


@pytest.mark.long
@pytest.mark.parametrize("name", QUESTIONS)
def test_spark_adds_up_the_same_integers(name: str, spark: Any, tmp_path: Any) -> None:
    data = rows(120)
    pq.write_table(data, tmp_path / "t.parquet")
    found = open_source(spark.read.parquet(str(tmp_path / "t.parquet"))).crossed(QUESTIONS[name])
    assert found.cells == (reference(QUESTIONS[name], data),)


def test_questions_that_could_overflow_are_refused() -> None:
    for wrong in (
        replace(QUESTIONS["products"], norm=None),
        CrossProducts((Coordinate((X,)),), (Product((0,)),)),
        CrossProducts((Coordinate((X, X, X), half=FINE),), (Product((0,)),), norm=NormClip(((1,),), 12, 500)),
        replace(QUESTIONS["scores"], score=replace(SCORE, weights=(2**33,) * 7)),
    ):
        with pytest.raises(ArithmeticError):
            wrong.check()
