"""Blocks of tables larger than memory: seconds and the most memory of a release; docs/reference/blocks.md.

    python benchmarks/block_scale.py [--sizes 1e6 1e7 1e8] [--folder /tmp]

Each release runs in a process of its own, whose peak resident memory is reported, over a Parquet file that is written
first and removed afterwards.  The line of 10⁹ rows is extrapolated: the same memory, and of the largest table measured
the seconds of a row and reading, times the readings.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pages import put

import tacit as tc
from tacit.method.blocks.design import design
from tacit.method.blocks.mechanism_labels import GROUP, SMALL
from tacit.method.shared.measurement import Public

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "blocks.md"
HEAD = "| rows | blocks | readings | seconds | peak memory, GB | before the rows |\n|---:|---:|---:|---:|---:|---:|"
CHILD = """
import json, resource, sys, time
import numpy as np
import tacit as tc
schema = tc.Schema({"x": tc.Real()})
gamma = tc.families.Gamma(shape=(0.5, 5), rate=(0.1, 10))
query = tc.SampleAndAggregate("x", gamma, blocks=int(sys.argv[3]))
small = tc.Curator({"x": np.random.default_rng(0).gamma(2, 1, 1_000)}, schema, budget=tc.Budget(rho=9), name="small")
small.release(tc.SampleAndAggregate("x", gamma, method="tuned"), rho=0.5)
curator = tc.Curator(sys.argv[1], schema, budget=tc.Budget(rho=9), ledger=sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
found = curator.release(query, rho=0.5).estimate()
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
scale = 2**30 if sys.platform == "darwin" else 2**20
print(json.dumps([seconds, before / scale, peak / scale, found.values.tolist(), found.std_errors.tolist()]))
"""


def written(path: Path, rows: int) -> None:
    """Write gamma rows to a Parquet file, a million at a time."""
    rng = np.random.default_rng(1)
    schema = pa.schema([("x", pa.float64())])
    with pq.ParquetWriter(path, schema) as writer:
        for at in range(0, rows, 2**20):
            writer.write_table(pa.table({"x": rng.gamma(2.0, 1 / 1.5, min(2**20, rows - at))}))


def blocks_of(rows: int) -> int:
    """Return n**(2/3), rounded: the number of blocks."""
    return math.ceil(round(rows ** (2 / 3), 6))


def readings(rows: int) -> tuple[int, int]:
    """Return the number of blocks and how often the table is read; both are public."""
    gamma = tc.families.Gamma(shape=(0.5, 5), rate=(0.1, 10))
    query = tc.SampleAndAggregate("x", gamma, blocks=blocks_of(rows))
    cost = tc.Cost.of(rho="0.5")
    plan = design(query, Public(tc.Schema({"x": tc.Real()}), "replace-one", rows), cost).blocks
    return plan.blocks, 1 if plan.blocks * plan.capacity <= SMALL else -(-plan.blocks // (GROUP // plan.capacity))


def line(rows: int, folder: Path) -> tuple[str, float]:
    path = folder / "rows.parquet"
    written(path, rows)
    words = [sys.executable, "-c", CHILD, str(path), str(folder / "rows.ledger"), str(blocks_of(rows))]
    done = subprocess.run(words, capture_output=True, check=True, text=True)
    for one in folder.iterdir():
        one.unlink()
    seconds, before, peak, values, errors = json.loads(done.stdout)
    blocks, times = readings(rows)
    off = np.abs(np.array(values) - [2.0, 1.5]) / errors
    assert off.max() < 6, (values, errors)
    return f"| {rows:,} | {blocks:,} | {times} | {seconds:.1f} | {peak:.2f} | {before:.2f} |", seconds / rows / times


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e6, 1e7, 1e8])
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    lines: list[str] = []
    each = 0.0
    for rows in map(int, given.sizes):
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            made, each = line(rows, Path(folder))
        lines.append(made)
        print(made, flush=True)
    blocks, times = readings(10**9)
    lines.append(f"| 1,000,000,000 | {blocks:,} | {times} | {each * 10**9 * times:,.0f} | as above | extrapolated |")
    parts = [
        "## Large tables\n",
        "A gamma law of one column of a Parquet file at ρ = 0.5, n^(2/3) blocks; the labels of a large table are made",
        "from a key again at each reading, so that no more than a group of blocks is held, 2²⁶ numbers and words.",
        "Seconds with compilation and the ledger; memory is the largest resident size of the process",
        f"({os.cpu_count()} cores, load {os.getloadavg()[0]:.0f}).\n",
        HEAD,
        *lines,
    ]
    print("\n".join(parts))
    put(PAGE, "block_scale.py", "\n".join(parts))


if __name__ == "__main__":
    main()
