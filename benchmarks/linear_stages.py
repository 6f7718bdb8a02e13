"""Milliseconds of the processor of each pass of a linear regression, beside X'X of the same rows in NumPy.

    python benchmarks/linear_stages.py [--repeats 9] [--rows 1000000] [--floor]

The question and the table are those of `speed_of_releases`: ten regressors.  In each turn every stage runs once; the
least and the median over turns are printed, and the median of ratios to X'X within a turn.  `--floor`: in place of the
stages, what the steps that no way of doing it in NumPy can spare take on arrays that lie in cache, and what reading the
table once takes.  About twenty seconds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from speed_of_releases import FEW, Case, regressions

import tacit as tc
from tacit.method.regression.mechanism_rows import rows_held
from tacit.privacy import Cost
from tacit.source import open_source
from tacit.source.held_rows import HeldRows

Run = Callable[[], Any]
NAMES: Final = ("  column moments", "  products", "  scores")
STEP: Final = 2**12
"""Rows of a step of the floor: thirteen columns of so many rows lie in a processor's cache."""


def stages(case: Case, folder: Path) -> dict[str, Run]:
    """The release, of all rows and of few, and what it does with rows, of which the first is reading them."""
    file = folder / "t.parquet"
    pq.write_table(pa.table(case.data), file)
    small = {name: column[:FEW] for name, column in case.data.items()}
    curators = [
        tc.Curator(source, case.schema, ledger=folder / str(i), name="t", budget=tc.Budget(rho=1_000))
        for i, source in enumerate((case.data, small, file))
    ]
    asked, crossed = list[Any](), HeldRows.crossed

    def seen(rows: HeldRows, question: Any) -> Any:
        asked.append(question)
        return crossed(rows, question)

    HeldRows.crossed = seen
    curators[0].release(case.question, rho=1)
    HeldRows.crossed = crossed
    shape = curators[0].design(case.question, Cost.of(rho=1))
    opened, stored = open_source(case.data, case.schema), open_source(file, case.schema)
    rows = rows_held(shape, opened)
    assert rows is not None
    parts: dict[str, Run] = {name: lambda q=q: rows.crossed(q) for name, q in zip(NAMES, asked, strict=True)}
    return {
        "X'X": case.peers["X'X"],
        "release": lambda: curators[0].release(case.question, rho=1, fresh=True),
        "  few rows": lambda: curators[1].release(case.question, rho=1, fresh=True),
        "  coordinates": lambda: rows_held(shape, opened),
        **parts,
        "release, Parquet": lambda: curators[2].release(case.question, rho=1, fresh=True),
        "  coordinates, Parquet": lambda: rows_held(shape, stored),
        "  pyarrow reads it": lambda: pq.read_table(file),
    }


def floors(case: Case) -> dict[str, Run]:
    """Steps in NumPy, on as many numbers as the table has, in steps of some rows that lie in cache."""
    columns, rng = list(case.data.values()), np.random.default_rng(0)
    rows, many = len(columns[0]), len(columns)
    x, short = rng.normal(0, 1, (many + 1, STEP)), np.zeros((many + 1, STEP), dtype=np.float32)
    out, small, z = np.empty_like(x), np.empty_like(short), np.zeros((many + 1, STEP), dtype=np.int16)
    turn, norm = np.zeros((many + 1, many + 1), dtype=np.float32), np.empty(STEP, dtype=np.float32)

    def read() -> None:
        for column in columns:
            for at in range(0, rows, STEP):
                np.subtract(column[at : at + STEP], -4.0, out=out[0, : len(column[at : at + STEP])])

    steps: dict[str, Run] = {
        "one operation, float64": lambda: np.multiply(x, 2.0, out=out),
        "one operation, float32": lambda: np.multiply(short, np.float32(2), out=small),
        "float64 to int16": lambda: np.copyto(z, x, casting="unsafe"),
        "int16 to float32": lambda: np.copyto(small, z),
        "float32 to float64": lambda: np.copyto(out, short),
        "sums of squares of rows, float32": lambda: np.einsum("ij,ij->j", short, short, out=norm),
        "vectors on other axes, float32": lambda: np.matmul(turn, short, out=small),
        "products of pairs, float64": lambda: x[:-1] @ x.T,
        "products of pairs, float32": lambda: short[:-1] @ short.T,
    }
    return {
        "X'X": case.peers["X'X"],
        "the table read once, float64": read,
        **{name: lambda one=one: [one() for _ in range(rows // STEP)] for name, one in steps.items()},
    }


def seconds(run: Run) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--floor", action="store_true")
    given = parser.parse_args()
    case, found = next(regressions(given.rows)), dict[str, list[float]]()
    with tempfile.TemporaryDirectory() as home:
        runs = floors(case) if given.floor else stages(case, Path(home))
        # the first turn warms up
        for turn in range(given.repeats + 1):
            for name, run in runs.items():
                once = seconds(run)
                if turn:
                    found.setdefault(name, []).append(once)
    print(f"{given.rows:,} rows, {given.repeats} turns, load {os.getloadavg()[0]:.1f}; ms: least, median, ÷ X'X")
    for name, each in found.items():
        ratio = statistics.median(one / peer for one, peer in zip(each, found["X'X"], strict=True))
        print(f"{name:34} {1_000 * min(each):6.1f} {1_000 * statistics.median(each):6.1f} {ratio:6.2f}")


if __name__ == "__main__":
    main()
