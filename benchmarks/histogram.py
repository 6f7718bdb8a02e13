"""Histograms against the bare GROUP BY, ten million cells, and fits again: a table of docs/reference/speed.md.

    python benchmarks/histogram.py [--rows 50_000_000] [--repeats 5] [--quick]

Two continuous columns by year by county, from Parquet.  *Counting* is the pass of a release over the rows, *private*
the whole of `Curator.release`: opening, checks, charge, the pass, noise, record.  They run in turn with *bare*: SQL by
hand for the same cells, with the same guards against missing and infinite values, grouped by the four codes; ratios are
medians over turns.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from groups import in_turn
from pages import put

import tacit as tc
from tacit.fits.cells.released_cells import cells_of
from tacit.fits.regression_fits import fit_cells
from tacit.privacy import Cost
from tacit.source import open_source

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "speed.md"
YEARS, COUNTIES = 10, 100
MANY = {"x": 100, "y": 100}
"""Bins of ten million cells."""
COLUMNS = ["x", "y", "year", "county"]
SCHEMA = tc.Schema(
    {
        "x": tc.Real(0, 100),
        "y": tc.Real(0, 10),
        "year": tc.Integer(2015, 2014 + YEARS),
        "county": tc.Category(list(range(COUNTIES))),
    }
)


def write(path: Path, rows: int) -> None:
    """A normal and a lognormal column, years and counties equally likely, in batches."""
    rng = np.random.default_rng(0)
    kinds = {"x": pa.float64(), "y": pa.float64(), "year": pa.int32(), "county": pa.int32()}
    schema = pa.schema(list(kinds.items()))
    with pq.ParquetWriter(path, schema, compression="snappy") as out:
        for start in range(0, rows, 2_000_000):
            size = min(rows - start, 2_000_000)
            made = {
                "x": rng.normal(50, 20, size),
                "y": rng.lognormal(0, 1, size),
                "year": pa.array(rng.integers(2015, 2015 + YEARS, size), pa.int32()),
                "county": pa.array(rng.integers(0, COUNTIES, size), pa.int32()),
            }
            out.write_table(pa.table(made, schema=schema))


def code(name: str, upper: float, bins: int) -> str:
    """Return the bin of a number, by hand-written SQL."""
    return (
        f"CASE WHEN isfinite({name}) AND {name} >= 0 AND {name} < {upper} "
        f"THEN CAST(floor({name} * {bins / upper!r}) AS INTEGER) "
        f"WHEN isfinite({name}) AND {name} >= {upper} THEN {bins - 1} WHEN isfinite({name}) THEN 0 END"
    )


def bare(path: Path, bins: int) -> None:
    listed = f"CASE WHEN county BETWEEN 0 AND {COUNTIES - 1} THEN county END"
    with duckdb.connect() as made:
        made.execute(
            f"SELECT {code('x', 100, bins)} AS a, {code('y', 10, bins)} AS b, year, {listed} AS county, count(*)"
            f" FROM read_parquet('{path}') GROUP BY ALL"
        ).fetchnumpy()


def question(x: int, y: int) -> Any:
    return tc.Histogram(COLUMNS, bins={"x": x, "y": y})


def curator(path: Path) -> tc.Curator:
    return tc.Curator(path, SCHEMA, budget=tc.Budget(epsilon=1_000), ledger=path.with_suffix(".ledger"), name="t")


def private(path: Path, x: int, y: int, turn: int) -> tc.HistogramRelease:
    """Make a release, each time at another price, since the same question again would be answered from the ledger."""
    return curator(path).release(question(x, y), epsilon=(turn + 1) / 64)


def counting(path: Path, x: int, y: int) -> None:
    shape = curator(path).design(question(x, y), Cost.of(epsilon=1))
    open_source(path).tallied(shape.keys)


def seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = run()
    return time.perf_counter() - start, found


def line(path: Path, bins: int, repeats: int) -> str:
    ours, counted, hand = in_turn(
        (lambda i: private(path, bins, bins, i), lambda _: counting(path, bins, bins), lambda _: bare(path, bins)),
        repeats,
    )
    ratios = [statistics.median(a / b for a, b in zip(one, hand, strict=True)) for one in (ours, counted)]
    timed = " | ".join(f"{statistics.median(one):.2f}" for one in (ours, counted, hand))
    cells = bins * bins * YEARS * COUNTIES
    return f"| {bins} × {bins} × {YEARS} × {COUNTIES} = {cells:,} | {timed} | {ratios[0]:.2f} | {ratios[1]:.2f} |"


def ten_million(path: Path) -> list[str]:
    """Return the seconds and sizes of a release of 10**7 cells."""
    counted, _ = seconds(lambda: counting(path, **MANY))
    whole, release = seconds(lambda: private(path, **MANY, turn=999))
    place = path.with_suffix(".json")
    saved, _ = seconds(lambda: release.save(place))
    loaded, again = seconds(lambda: tc.Release.load(place))
    margin, _ = seconds(lambda: again.margin(["x", "county"]))
    assert again == release
    size = place.stat().st_size / 1e6
    return [
        f"| counting {release.counts.size:,} cells | {counted:.2f} |",
        f"| all the rest of the release: design, charge, noise, record | {max(whole - counted, 0):.2f} |",
        f"| save ({size:.1f} MB) | {saved:.2f} |",
        f"| load | {loaded:.2f} |",
        f"| a margin | {margin:.2f} |",
    ]


def refits() -> list[str]:
    """Return the seconds of a logistic regression on 30 * 40 * 2 cells: the first fit and later ones."""
    rng = np.random.default_rng(0)
    x, z = rng.random((2, 200_000))
    people = {"x": x, "z": z, "y": rng.random(200_000) < 1 / (1 + np.exp(1 - 2 * x + z))}
    schema = tc.Schema({"y": tc.Boolean(), "x": tc.Real(0, 1), "z": tc.Real(0, 1)})
    bought = tc.Curator(people, schema, budget=tc.Budget(rho=10))
    release = bought.release(tc.Histogram(["y", "x", "z"], bins={"x": 30, "z": 40}), rho=0.1)
    cells = cells_of(release)
    first, _ = seconds(lambda: fit_cells(cells, "y ~ x + z", "logistic"))
    other = [seconds(lambda text=text: fit_cells(cells, text, "logistic"))[0] for text in ("y ~ x", "y ~ x * z") * 2]
    again = [seconds(lambda: fit_cells(cells, "y ~ x + z", "logistic"))[0] for _ in range(9)]
    return [
        f"| first fit in a process, {cells.counts.size:,} cells | {first:.3f} |",
        f"| the first with another number of terms, at most | {max(other[:2]):.3f} |",
        f"| fitted again | {statistics.median(again):.3f} |",
    ]


INTRODUCTION = """## Histograms

Two continuous columns × year × county, {rows:,} rows of Parquet, in seconds on {threads} threads ({machine}, DuckDB
{version}). Written by `python benchmarks/histogram.py`: medians of {repeats} turns, ratios within a turn. *Private* is
all of `Curator.release`, *counting* its pass over the rows, *bare* SQL by hand for the same cells with the same guards:
`GROUP BY` four codes. By hand a value on an edge may fall beside its bin; the private one compares with the edges that
it publishes.
"""
HEAD = "| cells | private | counting | bare | private ÷ bare | counting ÷ bare |\n|---|---:|---:|---:|---:|---:|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=50_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="two million rows, no page")
    options = parser.parse_args()
    rows = 2_000_000 if options.quick else options.rows
    with duckdb.connect() as made:
        found = made.execute("SELECT current_setting('threads')").fetchone()
    words = {"machine": platform.machine(), "version": duckdb.__version__, "repeats": options.repeats}
    page = [INTRODUCTION.format(rows=rows, threads=found[0] if found else "?", **words), HEAD]
    print(*page, sep="\n", flush=True)

    def said(*lines: str) -> None:
        page.extend(lines)
        print(*lines, sep="\n", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        write(path, rows)
        for bins in (10, 20, 50):
            said(line(path, bins, options.repeats))
        said("", "| ten million cells | s |\n|---|---:|", *ten_million(path))
    said("", "| logistic regression on a released histogram | s |\n|---|---:|", *refits())
    if not options.quick:
        put(PAGE, "histogram.py", "\n".join(page))


if __name__ == "__main__":
    main()
