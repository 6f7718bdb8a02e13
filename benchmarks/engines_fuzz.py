"""Every engine against a reference in plain Python, on tables with odd cells; prints what raises and what differs.

    python benchmarks/engines_fuzz.py [--rounds 40] [--spark] [--quick] [--show 20]

Each table has three columns: `id` (0, 1, ...), `y` (a plain number) and `x`, of some type of Arrow's with cells at the
type's extremes, drawn anew in every round.  Two questions of each engine that can hold it:

- beside: whatever is in `x`, questions about `id` and `y` are answered as if `x` were not there;
- declared: where the schema may declare `x`, each row of it reads as the reference says, whatever stands in the others.

Read row by row, so one cell that is replaced changes the reading of its own row and of no other.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from tacit.errors import SourceError
from tacit.rows.row_map import IDENTITY, ONE, KeyMap, RowMap, SumTerm
from tacit.schema import Category, Date, PrivacyUnit, Real, Schema
from tacit.schema.predicates.numeric_expressions import cell_of
from tacit.schema.predicates.typed_conditions import typed
from tacit.schema.row_maps_of_columns import keymap, qualitymap, rowmap, unit_of
from tacit.source import check_source, computing, open_source

ROWS = 9
PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
LAST = {"s": (2**63 - 2) // 10**6, "ms": (2**63 - 2) // 10**3, "us": 2**63 - 2, "ns": 2**63 - 2}
"""The greatest count of each unit whose microseconds 64 bits hold: a cell beyond it is missing."""
LEVELS = ("f", "m", "e\u0301", "é")
NUMBER, DAY, TEXT = Real(0, 100), Date("1600-01-01", "2400-01-01"), Category(list(LEVELS))
ENGINES = (
    *("parquet", "parquet bare", "arrow file", "arrow stream", "pyarrow", "pandas", "polars", "polars lazy"),
    *("duckdb", "duckdb table", "dict"),
)


@dataclass(frozen=True)
class Odd:
    """A column of odd cells, with the value that each has if a schema may declare the column."""

    name: str
    column: Any
    numbers: list[float | None] | None = None
    days: list[int | None] | None = None
    texts: list[str | None] | None = None
    people: list[object] | None = None


def integers(rng: np.random.Generator, low: int, high: int) -> list[int | None]:
    """Draw cells between two integers: their neighbours, numbers near 0, powers of two, and nulls."""
    ends = [low, low + 1, high, high - 1, 0, 1, -1, 50, 2**31, 2**53 + 1, 2**53, -(2**53) - 1, 2**63, None, 2**62]
    ends += [int(sign * 2 ** float(rng.uniform(0, 66))) for sign in (1, -1, 1, -1)]
    inside = [c for c in ends if c is None or low <= c <= high]
    return [inside[i] for i in rng.integers(0, len(inside), ROWS)]


def whole(rng: np.random.Generator) -> Iterator[Odd]:
    """Integers and Booleans."""
    for bits in (8, 16, 32, 64):
        for signed in (True, False):
            low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
            cells = integers(rng, low, high)
            dtype = getattr(pa, f"{'' if signed else 'u'}int{bits}")()
            yield Odd(str(dtype), pa.array(cells, dtype), [_float(c) for c in cells], people=list(cells))
            coded = pa.array(cells, dtype).dictionary_encode()
            yield Odd(f"dictionary of {dtype}", coded, [_float(c) for c in cells], people=list(cells))
    flags = [[True, False, None][i] for i in rng.integers(0, 3, ROWS)]
    yield Odd("bool", pa.array(flags, pa.bool_()), [_float(c) for c in flags], people=list(flags))


def _float(cell: Any) -> float | None:
    return None if cell is None else float(cell)


def floats(rng: np.random.Generator) -> Iterator[Odd]:
    """Draw any bits, and cells that show whether a NaN is read as a number."""
    odd = [math.nan, math.inf, -math.inf, -0.0, 0.0, 5e-324, 50.0, 1e308, None, 100.0, -1.0]
    for bits in (16, 32, 64):
        made = np.array([rng.integers(0, 2**bits, ROWS, dtype=np.uint64)]).astype(f"u{bits // 8}").view(f"f{bits // 8}")
        with np.errstate(over="ignore"):
            picked = [odd[i] for i in rng.integers(0, len(odd), ROWS)]
            cells = [float(b) if p == 1e308 else p for b, p in zip(made[0], picked, strict=True)]
            array = np.array([math.nan if c is None else c for c in cells], f"f{bits // 8}")
        column = pa.array(array, mask=np.array([c is None for c in cells]))
        known = [None if c is None else float(v) for v, c in zip(array, cells, strict=True)]
        people = [v + 0.0 if v is not None and math.isfinite(v) else None for v in known]
        yield Odd(str(column.type), column, known, people=list(people))


def decimals(rng: np.random.Generator) -> Iterator[Odd]:
    """Of every width, with as many digits as there are."""
    kinds = ((pa.decimal32, 9), (pa.decimal64, 18), (pa.decimal128, 38), (pa.decimal256, 76))
    for make, digits in kinds:
        for scale in (0, digits // 2, digits):
            top = 10**digits - 1
            counts = integers(rng, -top, top)
            counts = [c if rng.random() < 0.7 else [top, -top, top - 1][int(rng.integers(3))] for c in counts]
            cells = [None if c is None else Decimal((c < 0, tuple(map(int, str(abs(c)))), -scale)) for c in counts]
            column = pa.array(cells, make(digits, scale))
            yield Odd(str(column.type), column, [_float(c) for c in cells], people=list(cells))


def times(rng: np.random.Generator) -> Iterator[Odd]:
    """Days and instants, near 1970 and at the ends of 64 bits."""
    counts = [c if c is None or abs(c) < 2**31 else 2**31 - 1 for c in integers(rng, -(2**31) + 1, 2**31 - 1)]
    days = [None if c is None or abs(c) > 2**31 - 2 else c for c in counts]
    yield Odd("date32", pa.array(counts, pa.int32()).view(pa.date32()), days=days, people=list(days))
    near = [None if c is None else c % 200_000 - 100_000 for c in counts]
    milliseconds = pa.array([None if c is None else c * 86_400_000 for c in near], pa.int64())
    yield Odd("date64", milliseconds.view(pa.date64()), days=near, people=list(near))
    for unit, day in PER_DAY.items():
        for zone in (None, "UTC", "Asia/Kolkata"):
            cells = integers(rng, -(2**63) + 2, 2**63 - 1)
            ends = [LAST[unit], LAST[unit] + 1, -LAST[unit], -LAST[unit] - 1, day - 1, -day, -1]
            ends = [c for c in ends if abs(c) < 2**63]
            cells = [c if rng.random() < 0.5 else ends[int(rng.integers(len(ends)))] for c in cells]
            days = [None if c is None or abs(c) > LAST[unit] else c // day for c in cells]
            column = pa.array(cells, pa.int64()).view(pa.timestamp(unit, zone))
            people = [None if day is None else c for c, day in zip(cells, days, strict=True)]
            yield Odd(str(column.type), column, days=days, people=people)


def words(rng: np.random.Generator) -> Iterator[Odd]:
    """Text in every form, dictionaries with a null among their values, and bytes that are no text."""
    some = [*LEVELS, "", "F", "f ", "\ufeff", "a\x00b", "\x85", "\u2028", "\ufefff", None, "level", "x" * 300]
    cells = [some[i] for i in rng.integers(0, len(some), ROWS)]
    for dtype in (pa.string(), pa.large_string(), pa.string_view()):
        yield Odd(str(dtype), pa.array(cells, dtype), texts=cells, people=list(cells))
    for index in (pa.int8(), pa.uint16(), pa.int64()):
        for dtype in (pa.string(), pa.large_string()):
            values = pa.array(["f", None, "m", "f"], dtype)
            places = [[0, 1, 2, 3, None][i] for i in rng.integers(0, 5, ROWS)]
            coded = pa.DictionaryArray.from_arrays(pa.array(places, index), values)
            known = [None if p is None else values[p].as_py() for p in places]
            yield Odd(f"{coded.type} with a null", coded, texts=known, people=list(known))
    yield Odd("null", pa.nulls(ROWS), [None] * ROWS, [None] * ROWS, [None] * ROWS, [None] * ROWS)


def others(rng: np.random.Generator) -> Iterator[Odd]:
    """Types that no schema declares."""
    small = [None if c is None else c % 2**31 for c in integers(rng, 0, 2**63 - 1)]
    big = pa.array([0 if c is None else c for c in integers(rng, -(2**63), 2**63 - 1)], pa.int64())
    instants = big.view(pa.timestamp("ms"))
    wide = pa.array([0 if c is None else c for c in small], pa.int32())
    yield Odd("time32", wide.view(pa.time32("ms")))
    yield Odd("time64", big.view(pa.time64("us")))
    yield Odd("duration", big.view(pa.duration("ms")))
    yield Odd("binary", pa.array([None, b"", b"\xff\xfe", *([b"x"] * (ROWS - 3))], pa.binary()))
    yield Odd("list of instants", pa.ListArray.from_arrays(pa.array([*range(ROWS), ROWS], pa.int32()), instants))
    yield Odd("struct of instants", pa.StructArray.from_arrays([instants, instants], ["y", "id"]))
    yield Odd("fixed binary", pa.array([b"0123456789abcdef"] * ROWS, pa.binary(16)))
    yield Odd("months", pa.array([(1, 2, 3)] * ROWS, pa.month_day_nano_interval()))
    yield Odd("uuid", pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0123456789abcdef"] * ROWS, pa.binary(16))))
    yield Odd("dictionary of instants", instants.dictionary_encode())
    ends = pa.array(range(1, ROWS + 1), pa.int32())
    yield Odd("run ends", pa.RunEndEncodedArray.from_arrays(ends, pa.array([1.0] * ROWS)))


def columns(rng: np.random.Generator) -> Iterator[Odd]:
    """Return one column of each kind."""
    for family in (whole, floats, decimals, times, words, others):
        yield from family(rng)


def opened(engine: str, table: Any, folder: Path, spark: Any = None) -> Any:
    """The table behind an engine; raises anything where the engine cannot hold it."""
    match engine:
        case "parquet" | "parquet bare":
            words: dict[str, Any] = {} if engine == "parquet" else {"write_statistics": False, "use_dictionary": False}
            pq.write_table(table, folder / "t.parquet", row_group_size=4, **words)
            return folder / "t.parquet"
        case "arrow file" | "arrow stream":
            make = pa.ipc.new_file if engine == "arrow file" else pa.ipc.new_stream
            with pa.OSFile(str(folder / "t.arrow"), "wb") as out, make(out, table.schema) as writer:
                writer.write_table(table, max_chunksize=4)
            return folder / "t.arrow"
        case "pandas":
            return table.to_pandas(types_mapper=__import__("pandas").ArrowDtype)
        case "polars" | "polars lazy":
            dtype = table["x"].type  # which would panic, noisily, or be multiplied and overflow
            if pa.types.is_decimal256(dtype) or (pa.types.is_timestamp(dtype) and dtype.unit == "s"):
                raise TypeError(dtype)
            made: Any = pl.from_arrow(table)
            return made.lazy() if engine == "polars lazy" else made
        case "duckdb" | "duckdb table":
            import duckdb

            connection, dtype = duckdb.connect(), table["x"].type
            if engine == "duckdb":
                if pa.types.is_timestamp(dtype) and dtype.tz and dtype.unit in ("s", "ms"):
                    raise TypeError(dtype)  # such a relation raises, whoever runs it, at cells beyond microseconds
                return connection.from_arrow(table)
            connection.register("given", table)
            connection.execute("CREATE TABLE kept AS SELECT * FROM given")
            return connection.table("kept")
        case "dict":
            return {name: table.column(name).combine_chunks() for name in table.column_names}
        case "spark":
            pq.write_table(table, folder / "t.parquet", row_group_size=4)
            return spark.read.parquet(str(folder / "t.parquet"))
    return table


IDS = KeyMap("id", "id", "category", tuple(range(ROWS)), tuple(map(str, range(ROWS))))
PLAIN = {"id": Real(0, ROWS), "y": Real(0, 100), "twice": Real(0, 200, computed="2 * y")}


def by_row(source: Any, at: RowMap) -> list[tuple[int, int]]:
    """(present, v) of every row."""
    found = source.aggregate((IDS,), (SumTerm(at, ONE), SumTerm(at, IDENTITY)))
    assert found.rows == ROWS, "rows"
    return [(cell[0], cell[1]) for cell in found.cells]


def grid(at: RowMap, cells: list[Any]) -> list[tuple[int, int]]:
    """Return the reference's values, in the form of `by_row`."""
    v, present = at.numpy(np.array([math.nan if c is None else float(c) for c in cells]))
    return [(int(p), int(k) if p else 0) for p, k in zip(present, v, strict=True)]


def beside(source: Any, y: list[float]) -> Iterator[tuple[str, Callable[[], bool]]]:
    """Questions that do not name `x`."""
    schema = Schema(PLAIN)
    at, twice = rowmap(schema, "y"), rowmap(schema, "twice")
    table = computing(source, schema)
    where, cells = typed("y > 50", schema), tuple(cell_of(schema, name) for name in ("id", "y"))
    above = sum(one > 50 for one in y)
    yield "rows", lambda: source.rows() == ROWS
    yield "ready", lambda: source.ready() is None
    yield "sums", lambda: by_row(source, at) == grid(at, y)
    yield "computed", lambda: by_row(table, twice) == grid(twice, [2 * one for one in y])
    yield "where", lambda: source.aggregate((), (SumTerm(None),), None, where).cells == ((above,),)
    yield "kept", lambda: int(source.tallied((IDS,), where).counts.sum()) == above
    yield "ranked", lambda: source.ranked(at).rows == ROWS
    yield "complete", lambda: sorted(source.complete(cells).values[:, 1]) == sorted(y)
    yield "pieces", lambda: _pieces(source, cells, y)


def _pieces(source: Any, cells: Any, y: list[float]) -> bool:
    found = source.pieces(cells, None, None, b"k" * 32)
    return found is None or sorted(v for values, _ in found for v in values[:, 1]) == sorted(y)


def declared(source: Any, odd: Odd) -> Iterator[tuple[str, Callable[[], bool]]]:
    """Questions that name `x`, where the engine's type admits the declaration."""
    for cells, column in ((odd.numbers, NUMBER), (odd.days, DAY)):
        if cells is not None and _admits(source, column):
            at = rowmap(Schema({"x": column}), "x")
            yield "reads", lambda cells=cells, at=at: by_row(source, at) == grid(at, cells)
            yield "quality", lambda cells=cells, column=column: _quality(source, column, cells)
    if odd.texts is not None and _admits(source, TEXT):
        key = keymap(Schema({"x": TEXT}), "x")
        yield "levels", lambda: _levels(source, key) == [[one == level for level in LEVELS] for one in odd.texts or ()]
        yield "quality", lambda: _quality(source, TEXT, odd.texts or [])
    if odd.people is not None and _admits(source, PrivacyUnit(3)):
        unit = unit_of(Schema({"x": PrivacyUnit(3)}))
        yield "persons", lambda: source.rows(unit) == len(set(odd.people or ()))
        yield "owners", lambda: _owners(source, unit) == _partition(odd.people or [])


def _admits(source: Any, column: Any) -> bool:
    try:
        check_source(source, Schema({"x": column}))
    except SourceError:
        return False
    return True


def _levels(source: Any, key: KeyMap) -> list[list[bool]]:
    found = source.aggregate((IDS, key), (SumTerm(None),)).cells
    size = key.size
    return [[found[i * size + j] == (1,) for j in range(size)] for i in range(ROWS)]


def _quality(source: Any, column: Any, cells: list[Any]) -> bool:
    """Cells that are missing, by DataQuality's own classes."""
    key = qualitymap(Schema({"x": column}), "x")
    found = source.aggregate((key,), (SumTerm(None),)).cells
    gone = sum(one is None or (isinstance(one, float) and not math.isfinite(one)) for one in cells)
    return found[0] == (gone,) and sum(one[0] for one in found) == ROWS


def _owners(source: Any, unit: Any) -> list[list[int]]:
    found = source.complete((cell_of(Schema(PLAIN), "id"),), unit)
    return _partition([int(found.owners[i]) for i in np.argsort(found.values[:, 0])])


def _partition(people: list[Any]) -> list[list[int]]:
    groups: dict[Any, list[int]] = {}
    for i, one in enumerate(people):
        groups.setdefault(one, []).append(i)
    return sorted(groups.values())


def outcome(question: Callable[[], bool]) -> str:
    """Whether a question is answered as the reference says."""
    try:
        return "as it should" if question() else "differs"
    except KeyboardInterrupt:
        raise
    except BaseException as problem:  # Polars panics
        return f"raises {type(problem).__name__}"


def asked(
    engine: str, odd: Odd, rng: np.random.Generator, folder: Path, spark: Any = None
) -> Iterator[tuple[str, str, str]]:
    """(engine and type, question, outcome) of one table on one engine: a few of the questions, drawn by chance."""
    y = [float(one) for one in rng.integers(0, 101, ROWS)]
    table = pa.table({"id": pa.array(range(ROWS), pa.int64()), "x": odd.column, "y": pa.array(y)})
    what = f"{engine}: {odd.name}"
    try:
        data = opened(engine, table, folder, spark)
    except KeyboardInterrupt:
        raise
    except BaseException:  # Polars panics
        yield what, "made", "cannot be held"
        return
    try:
        source = open_source(data)
    except Exception as problem:
        yield what, "open", f"raises {type(problem).__name__}"
        return
    named = [] if engine == "spark" and odd.name.startswith(("timestamp[ms", "timestamp[s")) else declared(source, odd)
    for questions, number in ((list(beside(source, y)), 2), (list(named), 3)):  # Spark's reader of Parquet raises there
        for i in rng.permutation(len(questions))[:number]:
            yield what, questions[i][0], outcome(questions[i][1])


def fuzz(rounds: int, engines: tuple[str, ...], seed: int, spark: Any = None) -> Counter[tuple[str, str, str]]:
    """Counts of (engine and type, question, outcome)."""
    rng = np.random.default_rng(seed)
    found: Counter[tuple[str, str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(rounds):
            for odd in columns(rng):
                for engine in engines:
                    found.update(asked(engine, odd, rng, Path(folder), spark))
    return found


def main() -> None:
    """Print the outcomes and the first few wrong ones."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=40)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--engines", nargs="*", default=list(ENGINES))
    words = parser.parse_args()
    session = None
    if words.spark:
        from pyspark.sql import SparkSession

        session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    engines = ("spark",) if words.spark else tuple(words.engines)
    found = fuzz(1 if words.quick else words.rounds, engines, words.seed, session)
    totals = Counter[str]()
    for (_, _, how), count in found.items():
        totals[how] += count
    print(", ".join(f"{how}: {count:,}" for how, count in totals.most_common()))
    wrong = {key: count for key, count in found.items() if key[2] not in ("as it should", "cannot be held")}
    for (what, name, how), count in sorted(wrong.items())[: words.show]:
        print(f"{what}, {name}: {how} ({count})")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
