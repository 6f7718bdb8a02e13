"""Sums by cell and under conditions, of tables that lie in memory: the integers of the engine, of any cell."""

from __future__ import annotations

import numpy as np
import pytest

import tacit as tc
from tacit.rows.row_map import IDENTITY, ONE, KeyMap, Polynomial, RowMap, SumTerm
from tacit.schema.predicates.typed_conditions import Predicate, typed
from tacit.source.engine_sums import cell_sums
from tacit.source.engines import dict_of_arrays
from tacit.source.in_memory import array_sums, cell_array_sums, power_sums
from tacit.source.shared_blocks import Buffers
from tests.source.test_arrays_in_memory import ENDS, KINDS, odd_array, odd_map, odd_terms

SCHEMA = tc.Schema(
    {
        "f8": tc.Real(-1, 1),
        "i1": tc.Integer(-3, 9, missing=2),
        "f4": tc.Real(-2, 3),
        "bool": tc.Boolean(),
        "c": tc.Category({3: "three", 7: "seven", -1: "none"}),
        "d": tc.Category({3: "three", 7: "seven"}, missing="unknown"),
    }
)
CONDITIONS = (
    None,
    "f8 > 0",
    "not (f8 <= 0.5 and i1 != 3) or f4 > i1",
    'c == "seven" or bool',
    'd != "unknown" and not bool',
    "f8 + f4 / i1 < 0.25",
)


def keys_of(rng: np.random.Generator) -> tuple[KeyMap, ...]:
    codes = KeyMap("c", "c", "category", (3, 7, -1), ("three", "seven", "none"))
    filled = KeyMap("d", "d", "category", (3, 7), ("three", "seven", "unknown"), missing=2)
    flags = KeyMap("bool", "bool", "boolean", (False, True), ("False", "True"))
    single = KeyMap("c", "c", "category", (7,), ("seven",))
    places: list[tuple[KeyMap, ...]] = [(), (codes,), (filled, flags), (flags, codes, filled), (single,)]
    return places[rng.integers(len(places))]


def condition(text: str | None) -> Predicate | None:
    where = tc.Mean("f8", where=text).where
    return None if where is None else typed(where, SCHEMA)


@pytest.mark.sample(2)
@pytest.mark.parametrize("text", CONDITIONS)
def test_sums_by_cell_are_those_of_the_engine(text: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (array_sums, cell_array_sums):
        monkeypatch.setattr(module, "BLOCK", 64)
    rng = np.random.default_rng(CONDITIONS.index(text))
    where, cells = condition(text), set[int]()
    for _ in range(5):
        data = {kind: odd_array(rng, kind, 700) for kind in KINDS}
        data |= {"c": rng.choice([3, 7, -1, 4], 700), "d": rng.choice([3.0, 7.0, np.nan, np.inf, 1.0], 700)}
        keys = keys_of(rng)
        sums = [
            SumTerm(None),
            *(one for name in rng.permutation(KINDS)[:3] for one in odd_terms(rng, odd_map(rng, name))),
        ]
        engine = dict_of_arrays.open_engine(data)
        found = cell_array_sums.added_by_cell(engine, keys, sums, where)
        assert found is not None
        assert found == cell_sums.aggregate(engine, keys, sums, None, where)
        cells.add(len(found.cells))
    assert len(cells) > 1


def test_a_table_without_rows_has_sums_of_nothing() -> None:
    engine = dict_of_arrays.open_engine({name: np.zeros(0) for name in SCHEMA})
    sums = [SumTerm(None), SumTerm(RowMap("f8", "f8", "real", -1.0, 1.0, 2**10), IDENTITY)]
    keys = (KeyMap("c", "c", "category", (3, 7), ("three", "seven")),)
    for where in map(condition, CONDITIONS):
        found = cell_array_sums.added_by_cell(engine, keys, sums, where)
        assert found == cell_sums.aggregate(engine, keys, sums, None, where)


def test_what_is_not_proven_or_slow_is_left_to_the_engine() -> None:
    engine = dict_of_arrays.open_engine({"x": np.linspace(0, 1, 50), "c": np.arange(50)})
    at = RowMap("x", "x", "real", 0.0, 1.0, 2**13)
    few, many = (KeyMap("c", "c", "category", tuple(range(k)), tuple(map(str, range(k)))) for k in (3, 65))
    bins = KeyMap("x", "x", "bins", (0, 1), ("0", "1"), edges=(0.5,))
    fourth = SumTerm(at, Polynomial((0, 0, 0, 0, 1)))
    assert cell_array_sums.added_by_cell(engine, (few,), [SumTerm(at)], None) is not None
    for keys, term in (((many,), SumTerm(at)), ((bins,), SumTerm(at)), ((few,), fourth), ((few,) * 8, SumTerm(at))):
        assert cell_array_sums.added_by_cell(engine, keys, [term], None) is None


def test_sums_of_powers_and_remainders_are_those_of_each_value() -> None:
    """Divisors up to the largest, values at both ends, and numbers of values about those that are added at a time."""
    rng, easy = np.random.default_rng(3), 0
    for _ in range(300):
        G = int(rng.choice([1, 2, 1_000, 2**15, 2**20]))
        rows = int(rng.choice([0, 1, 2**12 - 1, 2**12, 2**13, 2**13 + 1, 20_000]))
        v = rng.choice([0, G], rows) if rng.random() < 0.3 else rng.integers(0, G + 1, rows)
        divisor = int(rng.choice([1, 2, 3, 2**10, 2**19, 2**20, 2**21]))
        shapes = [(0, G, -1), (G, -1), (0, 0, 1), (-G, 3), (G * G, -2 * G, 1), (7,), (-5, 0, 2)]
        polynomials = [Polynomial(one, divisor) for one in shapes]
        expected = [int(one.numpy(v).sum()) for one in polynomials]
        easy += sum(power_sums.shares_powers(one, G) for one in polynomials)
        assert array_sums.polynomial_sums(polynomials, v.astype(np.int32), G, Buffers()) == expected
    assert easy > 500


def test_remainders_that_do_not_fit_are_not_added_in_32_bits() -> None:
    for divisor, fits in ((2**20, True), (2**21, False), (3, False)):
        assert power_sums.shares_powers(Polynomial((0, 1), divisor), 2**20) is fits
    assert not power_sums.shares_powers(ONE, 2**21)
    assert power_sums.shares_powers(ONE, 2**20)
    # all remainders as large as they can be
    v = np.full(2**14, 2**20 - 1, dtype=np.int32)
    assert array_sums.polynomial_sums([Polynomial((0, 1), 2**20)], v, 2**20, Buffers()) == [0]


def test_cells_of_any_kind_are_in_the_material() -> None:
    rng = np.random.default_rng(0)
    assert {repr(one) for one in ENDS} <= {repr(float(x)) for x in odd_array(rng, "f8", 5_000)}
