"""Seconds of whole releases beside the same without privacy: a table of docs/reference/speed.md.

    python benchmarks/speed_of_releases.py [--repeats 5] [--quick]

Private is the whole of `Curator.release`: checks, charge, reading, all parts, noise, record.  In each turn it runs
once, and each peer right after it on the same arrays in memory; ratios are taken within a turn.  Releases are warm: the
same question at the same price, bought anew.  About two minutes, most of them those of the peers.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import statsmodels.api as sm
from pages import put

import tacit as tc

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "speed.md"
REGRESSORS: Final = 10
BLOCKS: Final = 4_000
GROUPS: Final = 5
FEW: Final = 2_000
"""Rows of the small table, whose release costs what does not depend on the number of rows."""
SETTLED: Final = 0.5
"""Seconds after statsmodels: threads of BLAS wait busily for more work for a while, and would count with a release."""
WANTED: Final = {
    "mean ÷ `clip().sum()`": 3,
    "blocks ÷ `clip().sum()`": 20,
    "one step ÷ `clip().sum()`": 40,
    "linear ÷ X'X": 3,
    "logistic ÷ statsmodels": 1,
}
"""Ratios of the processor's seconds that we want to stay below, as the page says of each."""
Run = Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """A question with its table, in memory or in a Parquet file, and what is done without privacy, by name."""

    name: str
    question: Any
    schema: tc.Schema
    data: dict[str, np.ndarray]
    peers: Mapping[str, Run]
    file: bool = False


def means(rows: int) -> Iterator[Case]:
    x = np.random.default_rng(0).normal(0, 1, rows)
    peers: dict[str, Run] = {"`clip().sum()`": lambda: x.clip(-4, 4).sum()}
    if importlib.util.find_spec("diffprivlib") is not None:
        from diffprivlib import tools

        peers["diffprivlib"] = lambda: tools.mean(x, epsilon=1.0, bounds=(-4, 4))
    schema = tc.Schema({"x": tc.Real(-4, 4)})
    yield Case("mean", tc.Mean("x"), schema, {"x": x}, peers)
    some: dict[str, Run] = {"`x[x > 0].clip().sum()`": lambda: x[x > 0].clip(-4, 4).sum()}
    yield Case("mean where", tc.Mean("x", where="x > 0"), schema, {"x": x}, some)
    codes = np.random.default_rng(3).integers(0, GROUPS, rows)
    schema = tc.Schema({"x": tc.Real(-4, 4), "g": tc.Category({code: f"g{code}" for code in range(GROUPS)})})
    each: dict[str, Run] = {"`bincount`": lambda: np.bincount(codes, x.clip(-4, 4))}
    yield Case("mean by", tc.Mean("x", by="g"), schema, {"x": x, "g": codes}, each)


def gammas(rows: int) -> Iterator[Case]:
    x = np.random.default_rng(1).gamma(2, 1 / 1.5, rows)
    model = tc.families.Gamma(shape=(0.5, 5), rate=(0.2, 5))
    for name, one_step in (("blocks", False), ("one step", True)):
        query = tc.SampleAndAggregate("x", model, blocks=min(BLOCKS, rows // 200), one_step=one_step)
        peers: dict[str, Run] = {
            "`clip().sum()`": lambda: x.clip(0, 10).sum(),
            "Σx, Σlog x": lambda: (x.sum(), np.log(x).sum()),
        }
        yield Case(name, query, tc.Schema({"x": tc.Real()}), {"x": x}, peers)


def regressions(rows: int) -> Iterator[Case]:
    rng = np.random.default_rng(2)
    x = rng.normal(0, 1, (rows, REGRESSORS)).clip(-4, 4)
    eta = x @ np.linspace(-0.4, 0.5, REGRESSORS)
    given = {"linear": eta + rng.normal(0, 1, rows), "logistic": rng.random(rows) < 1 / (1 + np.exp(-eta))}
    columns, design = {f"x{j}": x[:, j].copy() for j in range(REGRESSORS)}, np.column_stack([x, np.ones(rows)])
    for model, response in given.items():
        data = {**columns, "y": response}
        schema = tc.Schema(
            {**{name: tc.Real(-4, 4) for name in columns}, "y": tc.Real(-8, 8) if model == "linear" else tc.Boolean()}
        )
        query = tc.Regression(f"y ~ {' + '.join(columns)}", model=model)
        for file in (False, True):
            yield Case(model, query, schema, data, fits(model, design, response.astype(np.float64)), file)


def fits(model: str, x: np.ndarray, y: np.ndarray) -> dict[str, Run]:
    peers: dict[str, Run] = {"X'X": lambda: x.T @ x}
    if model == "linear":
        peers["statsmodels"] = lambda: sm.OLS(y, x).fit()
    else:
        peers["statsmodels"] = lambda: sm.Logit(y, x).fit(disp=0)
    if importlib.util.find_spec("diffprivlib") is not None:
        from diffprivlib import models

        ends, norm = (np.full(x.shape[1] - 1, -4.0), np.full(x.shape[1] - 1, 4.0)), 4.0 * (x.shape[1] - 1) ** 0.5

        def private() -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if model == "linear":
                    models.LinearRegression(epsilon=1.0, bounds_X=ends, bounds_y=(-8, 8)).fit(x[:, :-1], y)
                else:
                    models.LogisticRegression(epsilon=1.0, data_norm=norm).fit(x[:, :-1], y)

        peers["diffprivlib"] = private
    return peers


def turns(case: Case, folder: Path, repeats: int) -> list[list[tuple[float, float]]]:
    """Seconds by the clock and of the processor: of the release, of one of few rows, and of each peer, in each turn.

    The first turn, which warms up, is left out.
    """
    source: Any = case.data
    if case.file:
        source = folder / f"{case.name}.parquet"
        pq.write_table(pa.table(case.data), source)
    small = {name: column[:FEW] for name, column in case.data.items()}
    place = folder / f"{case.name}-{case.file}"
    words: dict[str, Any] = {"name": "t", "budget": tc.Budget(rho=1_000)}
    whole = tc.Curator(source, case.schema, ledger=place.with_suffix(".whole"), **words)
    few = tc.Curator(small, case.schema, ledger=place.with_suffix(".few"), **words)
    question = case.question
    of_few = question
    if isinstance(question, tc.SampleAndAggregate):
        of_few = tc.SampleAndAggregate("x", question.model, blocks=FEW // 50, one_step=question.one_step)
    # the same question at the same price would be answered from the ledger; fresh, it is bought anew
    runs: list[Run] = [
        lambda: whole.release(question, rho=1, fresh=True),
        lambda: few.release(of_few, rho=1, fresh=True),
    ]
    found = list[list[tuple[float, float]]]()
    for _ in range(repeats + 1):
        if "statsmodels" in case.peers:
            time.sleep(SETTLED)
        found.append([timed(run) for run in (*runs, *case.peers.values())])
    return found[1:]


def timed(run: Run) -> tuple[float, float]:
    clock, processor = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - clock, time.process_time() - processor


def rows_of_table(case: Case, found: list[list[tuple[float, float]]]) -> Iterator[str]:
    """One row for each peer, with medians over turns, and medians of ratios within a turn."""
    private, processor, few = (statistics.median(one[i][j] for one in found) for i, j in ((0, 0), (0, 1), (1, 0)))
    for place, name in enumerate(case.peers, 2):
        peer = statistics.median(one[place][0] for one in found)
        ratio, busy = (statistics.median(one[0][j] / one[place][j] for one in found) for j in (0, 1))
        table = "Parquet" if case.file else "memory"
        cells = (ms(private), ms(processor), ms(few), name, ms(peer), f"**{times(ratio)}**", times(busy))
        yield f"| {case.name}, {table} | {' | '.join(cells)} |"


def times(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


def ms(seconds: float) -> str:
    return f"{1_000 * seconds:,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the rows; the page is not written")
    given = parser.parse_args()
    part, lines, start = 50 if given.quick else 1, list[str](), time.perf_counter()
    loads, reached = [os.getloadavg()[0]], dict[str, float]()
    many, fewer = 10_000_000 // part, 1_000_000 // part
    for made in (means(many), gammas(many), regressions(fewer)):
        for case in made:
            with tempfile.TemporaryDirectory() as home:
                found = turns(case, Path(home), given.repeats)
                for place, peer in enumerate(case.peers, 2):
                    name = f"{case.name}{', Parquet' if case.file else ''} ÷ {peer}"
                    reached[name] = statistics.median(one[0][1] / one[place][1] for one in found)
                for line in rows_of_table(case, found):
                    lines.append(line)
                    print(f"{time.perf_counter() - start:5.0f} s {line}", flush=True)
    loads.append(os.getloadavg()[0])
    wanted = "; ".join(
        f"{name} at most {most:g}, {'met' if reached[name] <= most else 'missed'} ({times(reached[name])})"
        for name, most in WANTED.items()
    )
    text = f"""## Whole releases

In milliseconds, on {os.cpu_count()} threads ({platform.machine()}, NumPy {np.__version__}). Written by
`python benchmarks/speed_of_releases.py`: medians of {given.repeats} turns, ratios within a turn. *Private* is all of
`Curator.release`, warm: checks, the durable charge, reading, all parts, noise, the record; *of the processor* are its
seconds over all threads, and *few rows* is the same release of {FEW:,} rows: what does not depend on their number.
Peers have arrays in memory: none reads a file.

Means (of all rows, of those where `x > 0`, by {GROUPS} groups), the gamma law from {BLOCKS:,} blocks and its one step
are of {many:,} rows; `clip().sum()`, `bincount` and Σx, Σlog x are one pass over them in NumPy.
Regressions are of {fewer:,} rows and {REGRESSORS} regressors, which are read once for all parts; *X'X* are the products
alone, *statsmodels* its `OLS` or `Logit`.

The machine is shared: its load (processes that run or wait) was {loads[0]:.1f} at the beginning and {loads[1]:.1f} at
the end. Above {os.cpu_count()} the clock says little; read the ratios of the processor.

What bounds them: the charge and the record are written to the disk before and after ({FEW:,} rows). A mean reads,
scales, clamps and rounds every cell, in integers at the end, and adds up squares as well. Blocks need 16 random bits of
the operating system for each row, and more where a block begins; of laws whose sums suffice (gamma, exponential,
Pareto, Poisson, geometric, binomial) rows are added to exact sums of their blocks where they lie, while other laws have
rows sorted into blocks. One step is that, and a pass that computes each row's clipped scores and their products. Each
part of a regression is a pass of its own, since its question is made of the part before: of a linear one each row's
coordinates, standardised vector, and vector and residual on other axes, two of them with all products of pairs. Of
logistic models each product of a score is also rounded down, row by row.

Ratios that are wanted of the processor: {wanted}.

| release, table | private | of the processor | few rows | peer | peer, ms | private ÷ peer | the same, processor |
|---|---:|---:|---:|---|---:|---:|---:|
""" + "\n".join(lines)
    if not given.quick:
        put(PAGE, "speed_of_releases.py", text)


if __name__ == "__main__":
    main()
