"""A private mean's integer sums against the bare engine's, on a large Parquet file; prints one table of ratios.

    python benchmarks/source.py [--rows 100_000_000] [--spark]

Both use all threads of the machine and run in turn.  The private mean is the whole of `Curator.release`: checks,
charge, sums, noise, record.  The bare query is DuckDB's own SQL for the same integers (present rows, sum of v, sum of
floor((v - H)**2 / c)), written by hand with the same guards.  Peak memory is that of a fresh process that runs the
private query alone.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import tacit as tc
from tacit.method.shared.encoding import exclusion
from tacit.rows.row_map import GRID, RowMap, SumTerm
from tacit.source import open_source

AT = RowMap("x", "x", "real", 0.0, 100.0, GRID)
FORM = exclusion(GRID, "laplace")
TERMS = tuple(SumTerm(AT, polynomial) for polynomial in FORM.polynomials)
CELL = (
    f"CAST(floor(CASE WHEN isfinite(x) AND x * {GRID / 100.0!r} BETWEEN 0 AND {GRID} THEN x * {GRID / 100.0!r} "
    f"WHEN isfinite(x) AND x >= 0 THEN {GRID}.0 WHEN isfinite(x) AND x < 0 THEN 0.0 ELSE -1.0 END + 0.5) AS BIGINT)"
)
BARE = f"""
SELECT sum(CASE WHEN v < 0 THEN 0 ELSE 1 END), sum(CASE WHEN v < 0 THEN 0 ELSE v END),
       sum(CASE WHEN v < 0 THEN 0 ELSE CAST(floor(CAST((v - {GRID // 2}) * (v - {GRID // 2}) AS DOUBLE) / {GRID}.0)
           AS BIGINT) END)
FROM (SELECT {CELL} AS v FROM read_parquet('{{path}}'))
"""


def write(path: Path, rows: int) -> None:
    """Values with NaN and nulls among them, in batches."""
    rng = np.random.default_rng(0)
    schema = pa.schema([("x", pa.float64())])
    with pq.ParquetWriter(path, schema, compression="snappy") as out:
        left = rows
        while left > 0:
            size = min(left, 2_000_000)
            values = rng.normal(50, 20, size)
            values[rng.random(size) < 0.001] = np.nan
            out.write_table(pa.table({"x": pa.array(values, mask=rng.random(size) < 0.01)}, schema=schema))
            left -= size


def ours(path: Path) -> tuple[int, ...]:
    return open_source(path).aggregate((), TERMS).cells[0]


def bare(path: Path, threads: int) -> tuple[int, ...]:
    with duckdb.connect() as made:
        made.execute(f"SET threads = {threads}")
        row = made.execute(BARE.replace("{path}", str(path))).fetchone()
    assert row is not None
    return tuple(int(x) for x in row)


def release(path: Path, price: float) -> None:
    """A private mean, once for each price: the same question again would be answered from memory."""
    schema = tc.Schema({"x": tc.Real(0, 100)})
    ledger = path.with_suffix(".ledger")
    tc.Curator(path, schema, budget=tc.Budget(epsilon=100), ledger=ledger, name="t").release(
        tc.Mean("x"), epsilon=price
    )


def in_turn(first, second, repeats: int = 5) -> tuple[float, float]:
    """Return median seconds of two functions, run in turn so that other load affects both."""
    found: tuple[list[float], list[float]] = ([], [])
    for i in range(repeats):
        for times, run in zip(found, (first, second), strict=True):
            start = time.perf_counter()
            run(i)
            times.append(time.perf_counter() - start)
    return statistics.median(found[0]), statistics.median(found[1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=100_000_000)
    parser.add_argument("--spark", action="store_true", help="the same file through PySpark, too")
    parser.add_argument("--alone", default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        print(ours(Path(options.alone)))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        write(path, options.rows)
        threads = duckdb.connect().execute("SELECT current_setting('threads')").fetchone()[0]
        assert ours(path) == bare(path, threads)
        private, plain = in_turn(lambda i: release(path, (i + 1) / 64), lambda _: bare(path, threads))
        alone = subprocess.run([sys.executable, __file__, "--alone", path], capture_output=True, text=True, check=True)
        peak = int(alone.stdout.split()[-1])
        print(f"{options.rows:,} rows, {threads} threads, same integers")
        print(f"private {private:.2f} s, bare DuckDB {plain:.2f} s, ratio {private / plain:.2f}, peak {peak:,} MiB")
        if options.spark:
            spark(path, options.rows)


def spark(path: Path, rows: int) -> None:
    """The same integers through PySpark."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        source = open_source(session.read.parquet(str(path)))
        source.rows()  # the first Python result starts workers
        start = time.perf_counter()
        found = source.aggregate((), TERMS).cells[0]
        taken = time.perf_counter() - start
        print(f"{rows:,} rows through Spark: {taken:.2f} s, same integers: {found == ours(path)}")
    finally:
        session.stop()


if __name__ == "__main__":
    main()
