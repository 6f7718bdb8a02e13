"""Seconds of a private regression beside the same without privacy: a table of docs/reference/speed.md.

    python benchmarks/regression_speed.py [--rows 1_000_000] [--repeats 5] [--quick]

Private is the whole of `Curator.release`: checks, charge, reading, all parts, noise, record.  It runs in turn with the
products X'X alone in NumPy, and with the fit of statsmodels; of arrays in memory, since neither reads a file.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import statsmodels.api as sm
from pages import put

import tacit as tc

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "speed.md"
REGRESSORS = 10
MODELS = ("linear", "logistic")


def table(model: str, rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.normal(0, 1, (rows, REGRESSORS)).clip(-4, 4)
    eta = x @ np.linspace(-0.4, 0.5, REGRESSORS)
    y = eta + rng.normal(0, 1, rows) if model == "linear" else rng.random(rows) < 1 / (1 + np.exp(-eta))
    return {f"x{j}": x[:, j] for j in range(REGRESSORS)} | {"y": y}


def schema(model: str) -> tc.Schema:
    response = tc.Real(-8, 8) if model == "linear" else tc.Boolean()
    return tc.Schema({f"x{j}": tc.Real(-4, 4) for j in range(REGRESSORS)} | {"y": response})


def turns(model: str, source: Any, data: dict[str, np.ndarray], folder: Path, repeats: int) -> list[list[float]]:
    """Seconds of the release, of X'X and of statsmodels, in each turn; the first turn, which warms up, is left out."""
    query = tc.Regression(f"y ~ {' + '.join(f'x{j}' for j in range(REGRESSORS))}", model=model)
    ledger = folder / f"{model}-{type(source).__name__}.ledger"
    curator = tc.Curator(source, schema(model), name="t", budget=tc.Budget(rho=1_000), ledger=ledger)
    x = np.column_stack([*(data[f"x{j}"] for j in range(REGRESSORS)), np.ones(len(data["y"]))])
    y, price = data["y"].astype(np.float64), iter(range(1, repeats + 2))

    def fit() -> None:
        (sm.OLS(y, x) if model == "linear" else sm.Logit(y, x)).fit(**({} if model == "linear" else {"disp": 0}))

    # each release at another price: the same question again would be answered from the ledger
    runs: tuple[Callable[[], Any], ...] = (lambda: curator.release(query, rho=next(price)), lambda: x.T @ x, fit)
    found: list[list[float]] = []
    for _ in range(repeats + 1):
        seconds = list[float]()
        for run in runs:
            start = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - start)
        found.append(seconds)
    return found[1:]


def row(name: str, found: list[list[float]]) -> str:
    private, products, other = (statistics.median(one[i] for one in found) for i in range(3))
    against = [statistics.median(one[0] / one[i] for one in found) for i in (1, 2)]
    return f"| {name} | {private:.2f} | {1000 * products:.0f} ms | {other:.2f} | {against[0]:.0f} | {against[1]:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    rows, lines = given.rows // (50 if given.quick else 1), list[str]()
    for model in MODELS:
        data = table(model, rows)
        with tempfile.TemporaryDirectory() as home:
            path = Path(home) / "t.parquet"
            pq.write_table(pa.table(data), path)
            for name, source in ((f"{model}, arrays in memory", data), (f"{model}, Parquet", path)):
                lines.append(row(name, turns(model, source, data, Path(home), given.repeats)))
                print(lines[-1], flush=True)
    text = f"""## Regressions

{rows:,} rows and {REGRESSORS} regressors, in seconds. Written by `python benchmarks/regression_speed.py`: medians of
{given.repeats} turns, ratios within a turn. *Private* is all of `Curator.release`. A table is read once for all parts
of a regression. *X'X* are the products alone, of floats in memory; *fit* is that of statsmodels, of the same floats.

| model, table | private | X'X | fit | private ÷ X'X | private ÷ fit |
|---|---:|---:|---:|---:|---:|
""" + "\n".join(lines)
    if not given.quick:
        put(PAGE, "regression_speed.py", text)


if __name__ == "__main__":
    main()
