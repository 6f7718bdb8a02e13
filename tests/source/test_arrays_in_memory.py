"""Tables that lie in memory as arrays: NumPy makes the integers of the reference, and of the engine, of any cell."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit as tc
from tacit.method.regression.mechanism_rows import exact_part, rows_held
from tacit.privacy import Cost
from tacit.rows.row_map import IDENTITY, ONE, KeyMap, Polynomial, RowMap, SumTerm
from tacit.schema.predicates.numeric_expressions import cell_of
from tacit.source import open_source, shared_blocks
from tacit.source.engine import Engine
from tacit.source.engine_sums import cell_sums, row_arrays
from tacit.source.engines import dict_of_arrays, pandas_frame
from tacit.source.in_memory import array_sums, grid_arrays
from tacit.source.reading.column_kinds import Reading
from tacit.source.shared_blocks import Buffers, shared
from tacit.testing.simulated_regressions import rows_of

ENDS = [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 1e308, -1e308, np.nan, np.inf, -np.inf, 2.0**53, 0.5, 1.5, -2.5]


def odd_array(rng: np.random.Generator, kind: str, rows: int) -> np.ndarray:
    """Cells at the ends of a type and about the bounds of maps, of every type that is read where it lies."""
    if kind == "bool":
        return rng.random(rows) < 0.5
    if kind.startswith("f"):
        found = np.where(rng.random(rows) < 0.4, rng.choice(ENDS, rows), rng.normal(0, 2, rows))
        with np.errstate(over="ignore"):
            return found.astype(kind)
    ends = np.iinfo(kind)
    far = np.array([ends.min, ends.max, ends.max - 1, *range(min(0, 4 * int(ends.min)) and -4, 9)], dtype=kind)
    return rng.choice(far, rows)


def odd_map(rng: np.random.Generator, name: str) -> RowMap:
    kind: Any = rng.choice(["real", "real", "integer", "boolean"])
    steps, factor = int(rng.choice([1, 2, 7, 2**11, 2**20])), int(rng.choice([1, 1, 6]))
    missing = int(rng.integers(0, steps * factor + 1)) if rng.random() < 0.5 else None
    low, width = float(rng.choice([0.0, -2.0, -1.3, 1e6])), float(rng.choice([1.0, 4.0, 0.1, 1e9]))
    if kind == "boolean":
        return RowMap(name, name, kind, 0.0, 1.0, 1, factor, None if missing is None else missing % (factor + 1))
    return RowMap(name, name, kind, low, low + width, steps, factor, missing)


def odd_terms(rng: np.random.Generator, at: RowMap) -> list[SumTerm]:
    G = at.G
    shapes = [ONE, IDENTITY, Polynomial((0, G, -1), max(1, G // 2)), Polynomial((0, -2, 1), 3), Polynomial((G, -1))]
    return [SumTerm(at, shapes[i]) for i in rng.permutation(len(shapes))[:3]]


KINDS = ("f8", "f4", "f2", "i8", "i1", "u8", "u2", "bool")


@pytest.mark.parametrize("seed", range(3))
def test_sums_are_those_of_the_engine_and_of_the_reference(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_sums, "BLOCK", 64)
    rng = np.random.default_rng(seed)
    data = {kind: odd_array(rng, kind, 1_000) for kind in KINDS}
    maps = [odd_map(rng, name) for name in data]
    terms = [SumTerm(None), *(one for at in maps for one in odd_terms(rng, at))]
    expected = [1_000]
    for one in terms[1:]:
        assert one.rowmap is not None
        v, present = one.rowmap.numpy(data[one.rowmap.source].astype(np.float64))
        expected.append(int(one.polynomial.numpy(v)[present].sum()))
    for engine in (dict_of_arrays.open_engine(data), pandas_frame.open_engine(pd.DataFrame(data))):
        found = array_sums.added(engine, terms)
        assert found is not None
        assert found.cells == (tuple(expected),)
        assert found == cell_sums.aggregate(engine, (), terms)


def test_grid_values_are_those_of_the_reference() -> None:
    """Neighbours of every edge between two steps, and cells that only float64 tells from an end."""
    rng = np.random.default_rng(7)
    for _ in range(300):
        at = odd_map(rng, "x")
        edges = at.lower + (at.upper - at.lower) * (rng.integers(-1, at.steps + 2, 200) + 0.5) / at.steps
        x = np.concatenate([edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf), [at.lower, at.upper]])
        # finite columns alone, then one with missing cells beside them
        for cells in (x, np.concatenate([x, ENDS])):
            with np.errstate(all="ignore"):
                values, gone = grid_arrays.GridMaps((at, at)).values([cells, cells], Buffers())
            v, present = at.numpy(cells)
            for i in (0, 1):
                assert np.array_equal(values[i], v)
                assert np.array_equal(gone.get(i, np.zeros(len(v), dtype=np.bool_)), ~present)


def test_the_last_clamp_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells within their bounds, both ends included, are not clamped as floats; one that is far beyond makes it so."""
    rng, clamped = np.random.default_rng(8), list[str]()
    clamp = grid_arrays._clamp  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(grid_arrays, "_clamp", lambda x, low, high: (clamped.append(x.dtype.kind), clamp(x, low, high)))
    for _ in range(200):
        at = odd_map(rng, "x")
        if at.kind == "boolean":
            continue
        width = (at.upper - at.lower) / at.steps
        edges = (at.lower + (at.upper - at.lower) * (rng.integers(0, at.steps, 200) + 0.5) / at.steps).tolist()
        x = np.array([*edges, *np.nextafter(edges, np.inf), *np.nextafter(edges, -np.inf), at.lower, at.upper])
        for far, floats in ((0.0, 0), (1e-3 * width, 0), (3 * width, 1), (-3 * width, 1), (np.inf, 1), (np.nan, 0)):
            cells = np.append(x, at.lower + far if far < 0 else at.upper + far)
            clamped.clear()
            values, gone = grid_arrays.GridMaps((at,)).values([cells], Buffers())
            v, present = at.numpy(cells)
            assert np.array_equal(values[0], v)
            assert np.array_equal(gone.get(0, np.zeros(len(v), dtype=np.bool_)), ~present)
            # cells that are not finite are the reference's
            assert clamped.count("f") == floats * np.isfinite(far), (at, far)


def test_the_last_clamp_is_in_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the floats before it were: here the clamp of floats does nothing, and the floor gives any number."""
    clamp = grid_arrays._clamp  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(
        grid_arrays, "_clamp", lambda x, low, high: None if x.dtype.kind == "f" else clamp(x, low, high)
    )
    cells = np.array([-5.0, -0.4, 0.3, 1.7, 2.0, 900.0, 1e300, -1e300])
    for steps in ((7, 7), (7, 2**20), (2**40, 2**40)):
        maps = tuple(RowMap("x", "x", "real", 0.0, 2.0, one) for one in steps)
        with np.errstate(all="ignore"):
            values, gone = grid_arrays.GridMaps(maps).values([cells, cells], Buffers())
        assert not gone
        for v, one in zip(values, steps, strict=True):
            assert v.min() >= 0
            assert v.max() <= one
            assert (v == np.floor(v)).all()


def test_levels_have_the_places_of_the_reference() -> None:
    cells = np.array([*ENDS, 3.0, 7.0, -3.0, 2.0**53 + 2])
    for missing in (None, 3):
        key = KeyMap("x", "x", "category", (3, 7, -1), ("a", "b", "c", "gone")[: 3 + (missing is not None)], missing)
        found = [key.index(None if x != x else x) for x in cells.tolist()]
        assert grid_arrays.level_places(key, cells).tolist() == [-1 if i is None else i for i in found]


def test_a_table_without_rows() -> None:
    none = np.zeros(0)
    at = RowMap("x", "x", "real", 0.0, 1.0, 2**10)
    engine = dict_of_arrays.open_engine({"x": none})
    terms = [SumTerm(None), SumTerm(at), SumTerm(at, IDENTITY)]
    assert array_sums.added(engine, terms) == cell_sums.aggregate(engine, (), terms)
    assert row_arrays.complete(engine, [cell_of(tc.Schema({"x": tc.Real()}), "x")]).values.shape == (0, 1)
    data = {"x": none, "y": none}
    schema = tc.Schema({"x": tc.Real(0, 1), "y": tc.Real(0, 1)})
    shape = rows_of(tc.Regression("y ~ x"), data, schema, Cost.of(rho=1), "add-remove").shape
    rows = rows_held(shape, open_source(data, schema))
    assert rows is not None
    assert [exact_part(one, shape, open_source(data, schema), rows) for one in shape.columns] == [
        exact_part(one, shape, open_source(data, schema)) for one in shape.columns
    ]


def test_a_sum_that_could_round_is_left_to_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fourth powers on a fine grid, and a block of so many rows that their sum could."""
    at = RowMap("x", "x", "real", 0.0, 1.0, 2**13)
    engine = dict_of_arrays.open_engine({"x": np.linspace(-1, 2, 1_000)})
    fourth, square = (SumTerm(at, Polynomial((0,) * k + (1,))) for k in (4, 2))
    assert array_sums.added(engine, [square]) == cell_sums.aggregate(engine, (), [square])
    assert array_sums.added(engine, [square, fourth]) is None
    monkeypatch.setattr(array_sums, "BLOCK", 2**28)
    assert array_sums.added(engine, [square]) is None


SCHEMA = tc.Schema(
    {
        "y": tc.Real(-2, 2),
        "a": tc.Real(-2, 3, missing=0.25),
        "b": tc.Integer(0, 9),
        "c": tc.Category({3: "three", 7: "seven", -1: "none"}, missing="unknown"),
        "d": tc.Boolean(),
    }
)


def odd_columns(rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    return {
        "y": odd_array(rng, "f8", rows),
        "a": odd_array(rng, "f4", rows),
        "b": odd_array(rng, "i8", rows),
        "c": rng.choice([3, 7, -1, 4], rows),
        "d": rng.random(rows) < 0.5,
    }


@pytest.mark.parametrize("formula", ["y ~ a * d + b", "d ~ a + c", "b ~ 1"])
def test_regressions_have_the_integers_of_the_engine(formula: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = odd_columns(9_000)
    query = tc.Regression(formula, model={"y": "linear", "d": "logistic", "b": "poisson"}[formula[0]])
    drawn = rows_of(query, data, SCHEMA, Cost.of(rho=1), "add-remove")
    shape, opened = drawn.shape, open_source(data, SCHEMA)
    by_engine = [exact_part(one, shape, opened) for one in shape.columns]
    sources: list[Any] = [data, pd.DataFrame(data), {**data, "y": np.ma.masked_invalid(data["y"])}]
    for source in sources:
        rows = rows_held(shape, open_source(source, SCHEMA))
        assert rows is not None
        assert (rows.rows, sum(z.shape[1] for z in rows.z)) == (9_000, len(drawn.z))
        assert [exact_part(one, shape, opened, rows) for one in shape.columns] == by_engine
    monkeypatch.setattr("tacit.source.in_memory.held_rows.MOST_HELD", 100)
    assert rows_held(shape, opened) is None


@pytest.mark.parametrize("names", [("y",), ("y", "a", "d")])
def test_complete_rows_are_those_of_the_engine(names: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_arrays, "BLOCK", 100)
    schema = tc.Schema({**{name: SCHEMA[name] for name in SCHEMA}, "y": tc.Real()})
    cells = [cell_of(schema, name) for name in names]
    engine = dict_of_arrays.open_engine(odd_columns(1_000))
    lying = row_arrays.complete(engine, cells).values
    sent = row_arrays.collected(engine, row_arrays.planned(engine, cells, None, None), len(cells), None).values
    assert 0 < len(lying) < 1_000
    assert np.array_equal(np.sort(lying, axis=0), np.sort(sent, axis=0))
    assert np.array_equal(lying, sent)


@pytest.mark.parametrize("bounds", [(), (-1.0, 1.0), (0.0, 2.0), (-2.0, 0.0)])
def test_a_column_that_needs_no_change_is_not_copied_and_has_the_same_bits(
    bounds: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_arrays, "BLOCK", 100)
    low, high = bounds or (-3.0, 3.0)
    cell = cell_of(tc.Schema({"y": tc.Real(*bounds, missing=low) if bounds else tc.Real()}), "y")
    plain = np.random.default_rng(0).uniform(low, high, 1_000)
    lie = list[bool]()
    for odd in (
        None,
        low,
        high,
        0.0,
        -0.0,
        np.nextafter(low, -9),
        np.nextafter(high, 9),
        np.nan,
        np.inf,
        -np.inf,
        1e308,
    ):
        column = plain.copy()
        column[np.array([0, 777])] = plain[0] if odd is None else odd
        engine = dict_of_arrays.open_engine({"y": column})
        found = row_arrays.complete(engine, [cell]).values
        monkeypatch.setattr(row_arrays, "_as_they_lie", lambda *_: False)
        copied = row_arrays.complete(engine, [cell]).values
        monkeypatch.undo()
        monkeypatch.setattr(row_arrays, "BLOCK", 100)
        lie.append(np.shares_memory(found, column))
        assert found.tobytes() == copied.tobytes()
        assert not (lie[-1] and found.flags.writeable)
        assert column.flags.writeable
    assert lie[0]
    assert sum(lie) >= 2
    assert not any(lie[7:10])
    for column in (plain.astype(np.float32), plain > 0, np.arange(3), np.zeros(0), plain.astype(">f8")):
        engine = dict_of_arrays.open_engine({"y": column})
        assert not np.shares_memory(row_arrays.complete(engine, [cell]).values, column)


def test_only_numbers_that_lie_in_memory_are_read_there() -> None:
    data: dict[str, Any] = {"x": [1.0, 2.0], "text": np.array(["a", "b"], dtype=object), "n": np.array([1, 2])}
    engine: Engine = dict_of_arrays.open_engine(data)
    assert engine.in_memory([Reading("n", "number")]) is not None
    for asked in ([], [Reading("x", "number")], [Reading("text", "number")], [Reading("n", "unit")]):
        assert engine.in_memory(asked) is None
    frame = pd.DataFrame({"n": pd.array([1, None], dtype="Int64"), "x": [1.0, None]})
    engine = pandas_frame.open_engine(frame)
    assert engine.in_memory([Reading("n", "number")]) is None
    assert engine.in_memory([Reading("x", "number")]) is not None


def test_all_blocks_are_worked_on_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for many in (1, 3):
        monkeypatch.setattr(shared_blocks.os, "cpu_count", lambda many=many: many)
        for blocks in ([], [7], list(range(100))):
            each = shared(blocks, lambda own: list(own))
            assert sorted(one for some in each for one in some) == blocks
            assert len(each) <= many


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_failure_of_one_thread_stops_the_others(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_blocks.os, "cpu_count", lambda: 2)
    done = list[int]()

    def work(own: Iterator[Callable[[], None]]) -> None:
        for i, one in enumerate(own):
            one()
            done.append(i)

    def fails() -> None:
        raise error

    waits = threading.Event()
    steps: list[Callable[[], None]] = [fails, *([lambda: (waits.wait(0.01), None)[1]] * 3_000)]
    with pytest.raises(error):
        shared(steps, work)
    assert len(done) < 3_000
