"""A private mean by 1,000 groups against the bare GROUP BY: the table of docs/reference/speed.md.

    python benchmarks/groups.py [--rows 50_000_000] [--repeats 5] [--quick]

Private is the whole of `Curator.release`: opening, checks, charge, one pass, noise, record.  It runs in turn with two
queries of DuckDB, on all threads of the machine, so that other load meets all of them; ratios are medians over turns.
*Same sums* is SQL by hand for the same integers (rows, present ones, sums of v and of floor(v**2 / c), with the same
guards) over raw keys.  *avg* is `SELECT key, avg(x), count(*) ... GROUP BY key`, which guards nothing and adds floats.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pages import put

import tacit as tc
from tacit.rows.row_map import GRID

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "speed.md"
GROUPS = 1_000
LABELS = [f"group {i:04d}" for i in range(GROUPS)]
SCHEMA = tc.Schema(
    {
        "x": tc.Real(0, 100),
        "logx": tc.Real(0, 5, computed="log(x)"),
        "code": tc.Category(list(range(GROUPS))),
        "label": tc.Category(LABELS),
    }
)
MEAN = tc.Mean("x", by="code")


@dataclass(frozen=True)
class Case:
    """A question, and the expression, range, key and condition of SQL that does the same."""

    name: str
    query: Any
    x: str = "x"
    upper: float = 100.0
    key: str = "code"
    where: str = "true"


CASES = (
    Case("whole-number codes", MEAN),
    Case("text labels", tc.Mean("x", by="label"), key="label"),
    Case('where="x > 60"', tc.Mean("x", by="code", where="x > 60"), where="x > 60"),
    Case('computed="log(x)"', tc.Mean("logx", by="code"), x="CASE WHEN x > 0 THEN ln(x) END", upper=5.0),
)


def write(path: Path, rows: int) -> None:
    """Values, codes and labels of equally likely groups, in batches."""
    rng = np.random.default_rng(0)
    schema = pa.schema([("x", pa.float64()), ("code", pa.int32()), ("label", pa.string())])
    words = pa.array(LABELS)
    with pq.ParquetWriter(path, schema, compression="snappy") as out:
        for start in range(0, rows, 2_000_000):
            size = min(rows - start, 2_000_000)
            code = pa.array(rng.integers(0, GROUPS, size), pa.int32())
            x = pa.array(rng.normal(50, 20, size))
            out.write_table(pa.table({"x": x, "code": code, "label": words.take(code)}, schema=schema))


def step(case: Case) -> str:
    """The grid step of a cell, -1 where it is missing, by hand."""
    y = f"x * {GRID / case.upper!r}"
    return (
        f"CAST(floor(CASE WHEN isfinite(x) AND {y} BETWEEN 0 AND {GRID} THEN {y} WHEN isfinite(x) AND x >= 0 "
        f"THEN {GRID}.0 WHEN isfinite(x) AND x < 0 THEN 0.0 ELSE -1.0 END + 0.5) AS BIGINT)"
    )


def same_sums(case: Case, path: Path) -> str:
    return f"""
    SELECT key, count(*), sum(CASE WHEN v < 0 THEN 0 ELSE 1 END), sum(CASE WHEN v < 0 THEN 0 ELSE v END),
           sum(CASE WHEN v < 0 THEN 0 ELSE CAST(floor(CAST(v * v AS DOUBLE) / {GRID}.0) AS BIGINT) END)
    FROM (SELECT key, {step(case)} AS v FROM (
        SELECT {case.key} AS key, {case.x} AS x FROM read_parquet('{path}') WHERE {case.where}))
    GROUP BY key"""


def average(case: Case, path: Path) -> str:
    return (
        f"SELECT {case.key}, avg({case.x}), count(*) FROM read_parquet('{path}') WHERE {case.where} GROUP BY {case.key}"
    )


def bare(text: str) -> None:
    with duckdb.connect() as made:
        found = made.execute(text).fetchall()
    assert len(found) == GROUPS


def private(case: Case, path: Path, turn: int) -> None:
    """Make a release, each time at another price, since the same question again would be answered from the ledger."""
    curator = tc.Curator(path, SCHEMA, budget=tc.Budget(epsilon=1_000), ledger=path.with_suffix(".ledger"), name="t")
    curator.release(case.query, epsilon=(turn + 1) / 64)


def in_turn(runs: Sequence[Callable[[int], None]], repeats: int) -> list[list[float]]:
    """Return the seconds of each function in each turn."""
    found: list[list[float]] = [[] for _ in runs]
    for i in range(repeats):
        for seconds, run in zip(found, runs, strict=True):
            start = time.perf_counter()
            run(i)
            seconds.append(time.perf_counter() - start)
    return found


def line(case: Case, path: Path, repeats: int) -> str:
    runs: Sequence[Callable[[int], None]] = (
        lambda i: private(case, path, i),
        lambda _: bare(same_sums(case, path)),
        lambda _: bare(average(case, path)),
    )
    ours, same, mean = in_turn(runs, repeats)
    ratios = [statistics.median(a / b for a, b in zip(ours, other, strict=True)) for other in (same, mean)]
    seconds = " | ".join(f"{statistics.median(one):.2f}" for one in (ours, same, mean))
    return f"| `{case.name}` | {seconds} | {ratios[0]:.2f} | {ratios[1]:.2f} |"


INTRODUCTION = """## Means by groups

What a private mean by 1,000 groups costs beside a bare `GROUP BY` of {rows:,} rows of Parquet, in seconds on {threads}
threads ({machine}, DuckDB {version}). Written by `python benchmarks/groups.py`: medians of {repeats} turns, in which
the three run one after the other; ratios are taken within a turn. The machine may do other work meanwhile: read the
ratios, not the seconds.

*Private* is all of `Curator.release`: opening, checks, charge, the pass, noise, record. *Same sums* is SQL by hand for
the same integers, with the same guards. *avg* is `SELECT key, avg(x), count(*)`, which guards nothing, adds floats in
any order, and has no standard error: what a grid, a bound on every row and exact sums cost is the difference.

Of a log, the bare queries use the machine's own `ln`; a private one has the same last digit on every engine.
"""
HEAD = "| groups | private | same sums | avg | ÷ same sums | ÷ avg |\n|---|---:|---:|---:|---:|---:|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=50_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="two million rows, no page")
    options = parser.parse_args()
    rows = 2_000_000 if options.quick else options.rows
    with duckdb.connect() as made:
        found = made.execute("SELECT current_setting('threads')").fetchone()
    threads = found[0] if found else "?"
    words = {"machine": platform.machine(), "version": duckdb.__version__, "repeats": options.repeats}
    page = [INTRODUCTION.format(rows=rows, threads=threads, **words), HEAD]
    print(page[0], HEAD, sep="\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        write(path, rows)
        for case in CASES:
            page.append(line(case, path, options.repeats))
            print(page[-1], flush=True)
    if not options.quick:
        put(PAGE, "groups.py", "\n".join(page))


if __name__ == "__main__":
    main()
