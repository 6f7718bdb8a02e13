"""Rows reduced to persons: every engine gives the integers of plain Python, whatever the cells hold."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_engines import ENGINES, opened

import tacit as tc
from tacit.rows.row_map import GRID, IDENTITY, ONE, KeyMap, PersonWeight, Polynomial, RowMap, SumTerm, Unit
from tacit.source import open_source

UNIT = Unit("who", "who")
AGE = RowMap("age", "age", "real", 0.0, 100.0, GRID)
DAYS = RowMap("days", "days", "integer", 0.0, 30.0, 30, 34960, missing=34960 * 3)
OK = RowMap("ok", "ok", "boolean", 0.0, 1.0, 1, GRID)
SEX = KeyMap("sex", "sex", "category", ("f", "m"), ("f", "m"))
CODE = KeyMap("code", "code", "category", (0, 7), ("no", "yes", "unknown"), 2)
MAIN = replace(SEX, levels=("m", "f"), labels=("m", "f"), constant=True)
KEPT = replace(CODE, constant=True)
SQUARE = Polynomial((0, 0, 1), GRID)
WHOLE = PersonWeight(1 << 10)
CAPPED = PersonWeight(3 << 10, cap=3)
HEAVY = RowMap("days", "days", "real", 0.0, 30.0, 1 << 15)
KNOWN = RowMap("days", "days", "real", 0.0, 30.0, 1 << 15, missing=1 << 14)
WEIGHTS = tuple(PersonWeight(1 << 15, cap, at) for cap in (1, 3) for at in (HEAVY, KNOWN))


def table(seed: int = 0, rows: int = 400, kind: pa.DataType | None = None) -> pa.Table:
    rng = np.random.default_rng(seed)
    who = [None if u < 0.02 else int(70 * u**2) for u in rng.random(rows)]
    column = pa.array(who, pa.int64())
    if kind == pa.string():
        column = pa.array([None if w is None else f"Pérson {w}" for w in who])
    elif kind == pa.float64():
        column = pa.array(
            [math.nan if w is None else -0.0 if w == 0 and i % 2 else float(w) for i, w in enumerate(who)]
        )
    return pa.table(
        {
            "who": column,
            "age": pa.array([None if u < 0.1 else math.inf if u < 0.12 else 120 * u - 5 for u in rng.random(rows)]),
            "days": pa.array([None if u < 0.1 else int(40 * u) for u in rng.random(rows)], pa.int32()),
            "ok": pa.array([[None, True, False][k] for k in rng.integers(0, 3, rows)], pa.bool_()),
            "sex": pa.array([[None, "f", "m", "x"][k] for k in rng.integers(0, 4, rows)]),
            "code": pa.array([[None, 0, 7, 3][k] for k in rng.integers(0, 4, rows)], pa.int64()),
        }
    )


def reference(
    data: pa.Table, keys: tuple[KeyMap, ...], sums: tuple[SumTerm, ...]
) -> tuple[int, dict[tuple[int, ...], list[int]]]:
    """Persons, and sums of the cells that have any: by plain Python, in exact fractions."""
    people: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in data.to_pylist():
        who = row["who"]
        people[None if isinstance(who, float) and math.isnan(who) else who].append(row)
    cells: dict[tuple[int, ...], list[int]] = defaultdict(lambda: [0] * len(sums))
    for rows in people.values():
        placed = [(tuple(level(key, row, rows) for key in keys), row) for row in rows]
        here = [(cell, row) for cell, row in placed if None not in cell]
        for cell in {cell for cell, _ in here}:
            for j, one in enumerate(sums):
                cells[cell][j] += summand(one, cell, here)
    return len(people), cells


def level(key: KeyMap, row: dict[str, Any], rows: list[dict[str, Any]]) -> int | None:
    """The row's level, or, of constant ones, the first listed level of any of the person's rows."""
    if not key.constant:
        return key.index(row[key.source])
    listed = (replace(key, missing=None).index(one[key.source]) for one in rows)
    return min((i for i in listed if i is not None), default=key.missing)


def summand(one: SumTerm, cell: tuple[int, ...], here: list[tuple[tuple[int, ...], dict[str, Any]]]) -> int:
    at = one.rowmap
    values: list[tuple[tuple[int, ...], int]] = [(where, 0) for where, _ in here]
    if at is not None:
        cells = [math.nan if row[at.source] is None else float(row[at.source]) for _, row in here]
        v, present = at.numpy(np.array(cells))
        values = [(where, int(k)) for (where, _), k, p in zip(here, v, present, strict=True) if p]
    own = [v for where, v in values if where == cell]
    if not own:
        return 0
    weight = 1
    if isinstance(one.weight, PersonWeight):
        weight = one.weight_polynomial(share(one.weight, cell, here, len(own), len(values)))
    mean = math.floor(Fraction(sum(own), len(own)) + Fraction(1, 2))
    return weight * (1 if at is None else one.polynomial(mean))


def share(
    given: PersonWeight, cell: tuple[int, ...], here: list[tuple[tuple[int, ...], dict[str, Any]]], own: int, every: int
) -> int:
    """In exact fractions: equal parts of rows, or the mean of their weights shared out."""
    cap = given.cap or 1
    if given.of is None:
        return given.value(own, every)
    cells = [math.nan if row[given.of.source] is None else float(row[given.of.source]) for _, row in here]
    a, present = given.of.numpy(np.array(cells))
    known = [(where, int(k)) for (where, _), k, p in zip(here, a, present, strict=True) if p]
    total = sum(k for where, k in known if where == cell)
    return math.floor(Fraction(total * min(len(known), cap), cap * len(known))) if known else 0


def check(source: Any, data: pa.Table, keys: tuple[KeyMap, ...], sums: tuple[SumTerm, ...]) -> None:
    persons, expected = reference(data, keys, sums)
    found = source.aggregate(keys, sums, UNIT)
    assert source.rows(UNIT) == persons
    if not keys:
        assert found.rows == persons
    shape = [range(key.size) for key in keys]
    for i, cell in enumerate(np.ndindex(*map(len, shape)) if keys else [()]):
        assert list(found.cells[i]) == expected.get(cell, [0] * len(sums)), cell


@pytest.mark.sample(3)
@pytest.mark.parametrize("engine", ENGINES)
def test_persons_as_the_reference(engine: str, tmp_path: Path) -> None:
    data = table()
    source = opened(engine, data, tmp_path)
    columns = (AGE, DAYS) if engine == "pandas" else (AGE, DAYS, OK)  # pandas has objects for Booleans with nulls
    means = tuple(SumTerm(at, p) for at in columns for p in (ONE, IDENTITY, SQUARE))
    check(source, data, (), (*means, SumTerm(None, weight=CAPPED, weight_polynomial=IDENTITY)))
    shared = tuple(
        SumTerm(at, p, share, IDENTITY) for at in (AGE, DAYS) for p in (ONE, IDENTITY) for share in (WHOLE, CAPPED)
    )
    count = SumTerm(None, weight=WHOLE, weight_polynomial=IDENTITY)
    check(source, data, (SEX,), (*shared, count))
    check(source, data, (SEX, CODE), (*shared[:3], count))
    weighed = tuple(SumTerm(at, p, one, IDENTITY) for at, p in ((None, ONE), (AGE, IDENTITY)) for one in WEIGHTS)
    check(source, data, (), weighed)
    check(source, data, (SEX,), (*weighed, count))


@pytest.mark.sample(9)
@pytest.mark.parametrize("engine", ENGINES)
def test_constant_levels_as_the_reference(engine: str, tmp_path: Path) -> None:
    """A person whose rows say several levels has the first of them, and is in one cell."""
    data = table(6)
    source = opened(engine, data, tmp_path)
    sums = tuple(SumTerm(at, p) for at in (AGE, DAYS) for p in (ONE, IDENTITY, SQUARE))
    for keys in ((MAIN,), (KEPT,), (MAIN, KEPT)):
        check(source, data, keys, (*sums, SumTerm(None, weight=WHOLE, weight_polynomial=IDENTITY)))
        found = source.aggregate(keys, (SumTerm(None),), UNIT)
        assert found.rows == len(set(data["who"].to_pylist()))
    check(source, data, (MAIN, CODE), (SumTerm(AGE, IDENTITY, WHOLE, IDENTITY),))
    assert sum(cell[0] for cell in source.aggregate((KEPT,), (SumTerm(None),), UNIT).cells) == found.rows


@pytest.mark.parametrize("kind", [pa.string(), pa.float64(), pa.int64()], ids=str)
@pytest.mark.parametrize("engine", ["parquet", "arrow file", "csv", "pandas", "polars", "duckdb", "dict"])
def test_whose_row_it_is(engine: str, kind: pa.DataType, tmp_path: Path) -> None:
    """Text, numbers with NaN and a negative zero, null: one person each."""
    data = table(1, 200, kind)
    if engine == "csv" and kind == pa.float64():
        pytest.skip("a text file's persons are text: 0.0 and -0.0 are two")
    check(opened(engine, data, tmp_path), data, (), (SumTerm(AGE, IDENTITY),))


def test_a_weight_is_a_column_or_a_share(tmp_path: Path) -> None:
    data = table(2)
    weight = RowMap("days", "days", "real", 0.0, 30.0, 1 << 15)
    ta = Polynomial((0, 0, 1), 1 << 15)
    coarse = RowMap("age", "age", "real", 0.0, 100.0, 1 << 15)
    sums = (SumTerm(coarse, IDENTITY, weight, ta), SumTerm(coarse, ONE, weight, IDENTITY))
    v, here = coarse.numpy(np.array([math.nan if x is None else x for x in data["age"].to_pylist()]))
    a, there = weight.numpy(np.array([math.nan if x is None else x for x in data["days"].to_pylist()]))
    both = here & there
    expected = (int((v * ta.numpy(a))[both].sum()), int(a[both].sum()))
    for engine in ENGINES:
        assert opened(engine, data, tmp_path).aggregate((), sums).cells[0] == expected, engine


def test_shares_of_one_person_never_exceed_the_whole() -> None:
    """However her rows are spread, and however many there are."""
    rng = np.random.default_rng(3)
    for share in (PersonWeight(7), PersonWeight(1000), PersonWeight(1 << 15), PersonWeight(9 << 10, cap=9)):
        for cells in (2, 3, 10):
            counts = rng.integers(0, 50, cells)
            codes = np.repeat(np.arange(cells), counts)
            data = {"who": np.zeros(len(codes), np.int64), "code": codes}
            key = KeyMap("code", "code", "category", tuple(range(cells)), tuple(map(str, range(cells))))
            found = open_source(data).aggregate(
                (key,), (SumTerm(None, weight=share, weight_polynomial=IDENTITY),), UNIT
            )
            assert [cell[0] for cell in found.cells] == [share.value(int(c), len(codes)) for c in counts]
            assert share.G - cells <= sum(cell[0] for cell in found.cells) <= share.G or share.cap


@pytest.mark.parametrize("engine", ["parquet", "polars"])
def test_weights_of_one_person_never_exceed_the_whole(engine: str, tmp_path: Path) -> None:
    """Many rows at the cap, however they are spread over the cells."""
    rng = np.random.default_rng(5)
    for cap, cells in ((1, 2), (3, 7), (2**20, 3)):
        counts = rng.integers(0, 400, cells)
        codes = np.repeat(np.arange(cells), counts)
        data = pa.table({"who": np.zeros(len(codes), np.int64), "code": codes, "days": np.full(len(codes), 99.0)})
        key = KeyMap("code", "code", "category", tuple(range(cells)), tuple(map(str, range(cells))))
        given = PersonWeight(1 << 15, cap, HEAVY)
        found = opened(engine, data, tmp_path).aggregate((key,), (SumTerm(None, ONE, given, IDENTITY),), UNIT)
        assert [cell[0] for cell in found.cells] == [given.value(int(c), len(codes)) for c in counts]
        assert sum(cell[0] for cell in found.cells) <= given.G


@pytest.mark.long
def test_spark_gives_the_same_persons(spark: Any, tmp_path: Path) -> None:
    for kind in (pa.int64(), pa.string(), pa.float64()):
        data = table(4, 200, kind)
        pq.write_table(data, tmp_path / "t.parquet")
        source = open_source(spark.read.parquet(str(tmp_path / "t.parquet")))
        check(source, data, (), (SumTerm(AGE, IDENTITY), SumTerm(DAYS, SQUARE)))
        check(source, data, (SEX,), (SumTerm(AGE, IDENTITY, WHOLE, IDENTITY), SumTerm(None, ONE, CAPPED, IDENTITY)))
        check(source, data, (MAIN, KEPT), (SumTerm(AGE, IDENTITY), SumTerm(DAYS, SQUARE)))
        if kind == pa.string():
            check(source, data, (SEX,), tuple(SumTerm(AGE, IDENTITY, one, IDENTITY) for one in WEIGHTS[::3]))


def test_empty_tables_have_nobody(tmp_path: Path) -> None:
    data = table().slice(0, 0)
    for engine in ENGINES:
        source = opened(engine, data, tmp_path)
        assert source.rows(UNIT) == 0
        assert source.aggregate((SEX,), (SumTerm(AGE, ONE, WHOLE, IDENTITY),), UNIT).cells == ((0,), (0,))
        assert source.aggregate((), (SumTerm(AGE, ONE),), UNIT).cells == ((0,),)


WIDE = [2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 2**62, 2**62 + 1]


@pytest.mark.parametrize("make", [list, tuple, np.array, np.ma.array], ids=["list", "tuple", "array", "masked"])
@pytest.mark.parametrize("more", [(), (2**63, 2**63 + 1), (10**30, 10**30 + 1)], ids=["signed", "unsigned", "decimal"])
def test_persons_with_wide_numbers_are_told_apart(make: Any, more: tuple[int, ...]) -> None:
    """Plain lists and masked arrays too: as floats, six persons were three, and one row moved a whole person."""
    ids = [*WIDE, *more]
    if more and make not in (list, tuple):
        if more[0] >= 2**64:
            pytest.skip("NumPy has no such integers")
        ids = [x for x in ids if x > 0]
        made = make(ids, dtype=np.uint64)  # of both signs NumPy makes floats, before we see them
    else:
        made = make(ids)
    schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=2), "x": tc.Real(0, 1)})
    table = {"who": made, "x": np.full(len(ids), 0.5)}
    assert tc.Curator(table, schema, budget=tc.Budget(rho=1)).rows == len(ids)


def test_a_masked_person_is_one_of_its_own() -> None:
    schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=2), "x": tc.Real(0, 1)})
    who = np.ma.array([2**53, 2**53 + 1, 7, 7], mask=[False, False, True, False])
    assert tc.Curator({"who": who, "x": [0.5] * 4}, schema, budget=tc.Budget(rho=1)).rows == 4
