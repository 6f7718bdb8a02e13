"""Milliseconds of the processor of each pass of a linear regression, beside X'X of the same rows in NumPy.

    python benchmarks/linear_stages.py [--repeats 9] [--rows 1000000] [--page]

The question and the table are those of `speed_of_releases`: ten regressors.  In each turn every stage runs once, and
X'X before them; medians over turns are printed, and medians of ratios to X'X within a turn.  Beside the stages are the
steps that they cannot spare in NumPy, on arrays that lie in cache, and how often each is needed: their sum is what is
left where calls, memory and Python cost nothing.  `--page`: a part of docs/reference/speed.md is written.  About half a
minute.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pages import put
from speed_of_releases import FEW, REGRESSORS, Case, regressions

import tacit as tc
from tacit.method.regression.mechanism_rows import rows_held
from tacit.privacy import Cost
from tacit.source import open_source
from tacit.source.in_memory.held_rows import HeldRows
from tacit.source.shared_blocks import Buffers

Run = Callable[[], Any]
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "speed.md"
NAMES: Final = ("column moments", "products", "scores")
STEP: Final = 3 * 2**10
"""Rows of a step of the floor: thirteen columns of so many rows lie in a processor's cache, and BLAS multiplies them on
one thread."""
SPAN: Final = 2**8
"""Rows of a sum of products in float32 (`held_vectors`)."""
READ, WIDE, SHORT = "the table read, less its bounds", "an operation, float64", "an operation, float32"
TO_16, TO_32, TO_64 = "float64 to int16", "int16 to float32", "float32 to float64"
SQUARES, TURNED = "norms of rows, float32", "vectors on other axes, float32"
PAIRS_32, PAIRS_64 = "sums of products, float32", "sums of products, float64"
NEEDED: Final = {
    # scaled, rounded, compared with their bounds
    "coordinates": {READ: 1, WIDE: 3, TO_16: 1},
    # sums, and sums of squares, which only read
    "column moments": {TO_64: 1, WIDE: 1},
    # scaled, centred, rounded
    "products": {TO_32: 1, SHORT: 3, SQUARES: 1, PAIRS_32: 1},
    # rounded, and times the residual
    "scores": {TO_32: 1, TURNED: 1, SHORT: 2, SQUARES: 1, TO_64: 1, PAIRS_64: 1},
}
"""How often the stages need each step."""


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

    def seen(self: HeldRows, question: Any) -> Any:
        asked.append(question)
        return crossed(self, question)

    HeldRows.crossed = seen
    curators[0].release(case.question, rho=1)
    HeldRows.crossed = crossed
    shape = curators[0].design(case.question, Cost.of(rho=1))
    opened, stored = open_source(case.data, case.schema), open_source(file, case.schema)
    rows = rows_held(shape, opened)
    assert rows is not None
    return {
        "release": lambda: curators[0].release(case.question, rho=1, fresh=True),
        "few rows": lambda: curators[1].release(case.question, rho=1, fresh=True),
        "coordinates": lambda: rows_held(shape, opened),
        **{name: partial(rows.crossed, question) for name, question in zip(NAMES, asked, strict=True)},
        "release, Parquet": lambda: curators[2].release(case.question, rho=1, fresh=True),
        "coordinates, Parquet": lambda: rows_held(shape, stored),
        "PyArrow reads the file": lambda: pq.read_table(file),
    }


def steps(case: Case) -> dict[str, Run]:
    """Steps in NumPy, on as many numbers as the table has, of some rows that lie in cache at a time."""
    columns, buffers = list(case.data.values()), Buffers()
    rows, many = len(columns[0]), len(columns)

    def made(name: str, height: int, dtype: type = np.float64) -> np.ndarray:
        """An array that begins at a line of the processor's cache, as those of releases do."""
        found = buffers.array(name, (height * STEP,), dtype).reshape(height, STEP)
        found[:] = 1
        return found

    x, short, z = (
        made(name, many + 1, dtype) for name, dtype in (("x", float), ("short", np.float32), ("z", np.int16))
    )
    out, small, norm = made("out", many + 1), made("small", many + 1, np.float32), made("norm", 1, np.float32)[0]
    turn = np.ones((many + 1, many + 1), dtype=np.float32)
    spans = short.reshape(len(short), -1, SPAN).transpose(1, 0, 2)

    def read() -> None:
        for column in columns:
            for at in range(0, rows, STEP):
                np.subtract(column[at : at + STEP], -4.0, out=out[0, : len(column[at : at + STEP])])

    each: dict[str, Run] = {
        WIDE: lambda: np.multiply(x[1:], 2.0, out=out[1:]),
        SHORT: lambda: np.multiply(short[1:], np.float32(2), out=small[1:]),
        TO_16: lambda: np.copyto(z[1:], x[1:], casting="unsafe"),
        TO_32: lambda: np.copyto(small[1:], z[1:]),
        TO_64: lambda: np.copyto(out[1:], short[1:]),
        SQUARES: lambda: np.einsum("ij,ij->j", short[1:], short[1:], out=norm),
        TURNED: lambda: np.matmul(turn, short, out=small),
        PAIRS_32: lambda: np.matmul(spans[:, :-1], spans.transpose(0, 2, 1)),
        PAIRS_64: lambda: x[:-1] @ x.T,
    }
    return {READ: read, **{name: partial(often, one, rows // STEP) for name, one in each.items()}}


def often(run: Run, times: int) -> None:
    for _ in range(times):
        run()


def seconds(run: Run) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    case, found, peer = next(regressions(given.rows)), dict[str, list[float]](), "X'X"
    with tempfile.TemporaryDirectory() as home:
        runs = {peer: case.peers[peer], **stages(case, Path(home)), **steps(case)}
        # the first turn warms up
        for turn in range(given.repeats + 1):
            for name, run in runs.items():
                once = seconds(run)
                if turn:
                    found.setdefault(name, []).append(once)
    took = {name: 1_000 * statistics.median(each) for name, each in found.items()}
    ratio = {
        name: statistics.median(one / other for one, other in zip(each, found[peer], strict=True))
        for name, each in found.items()
    }
    least = {name: sum(many * took[one] for one, many in needed.items()) for name, needed in NEEDED.items()}
    # of few rows is what does not depend on their number
    least["release"] = sum(least.values()) + took["few rows"]
    all_steps = least["release"] / took[peer]
    lines = [
        "| what a linear release does | ms | ÷ X'X | its steps at least, ms | ÷ X'X |",
        "|---|---:|---:|---:|---:|",
    ]
    for name in (*NEEDED, "few rows", "release", "coordinates, Parquet", "PyArrow reads the file", "release, Parquet"):
        floor = f"{least[name]:.0f} | {least[name] / took[peer]:.1f}" if name in least else " | "
        lines.append(f"| {name} | {took[name]:.0f} | {ratio[name]:.1f} | {floor} |")
    lines += ["", "| step | ms | how often |", "|---|---:|---:|"]
    for name in runs:
        if uses := sum(needed.get(name, 0) for needed in NEEDED.values()):
            lines.append(f"| {name} | {took[name]:.1f} | {uses} |")
    text = f"""## The passes of a linear regression

Milliseconds of the processor, of {given.rows:,} rows and {REGRESSORS} regressors ({platform.machine()}, NumPy
{np.__version__}; load {os.getloadavg()[0]:.0f}). Written by `python benchmarks/linear_stages.py --page`: medians of
{given.repeats} turns, each of which has X'X, {took[peer]:.0f} ms, before it. *Its steps at least* are those that a
stage cannot spare in NumPy, on arrays that lie in cache, as often as it needs them: what is left where memory, calls
and Python cost nothing. With what few rows cost, whatever their number, they are {all_steps:.1f} times X'X.

""" + "\n".join(lines)
    print(text)
    if given.page:
        put(PAGE, "linear_stages.py", text)


if __name__ == "__main__":
    main()
