"""All default answers on real tables beside the tables' own values: which columns they do not hold.

    python benchmarks/real_columns.py [--repeats N] [--rows N] [--files FILE ...]

Every numeric column of five tables (census and flights, whose files are named, or left out; RAND's
health insurance experiment, Fair's affairs and the General Social Survey's voters of statsmodels), at three prices.
Bounds are round numbers beyond the values, as somebody who knows the columns would write them.  Columns of whole
numbers are Integers.  Asked are the mean, quantiles .1, .5 and .9, and of a histogram with automatic bins its mean, its
variance and the same quantiles, each of this table (target="table") where the method has that target.
Columns: intervals that hold the table's value, of those that are told, in per cent, and after a stroke the told.
Bold: fewer than 90%.  Tables and prices were written down before any was simulated.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

import tacit as tc

PRICES: Final = ({"epsilon": "0.5"}, {"epsilon": "1"}, {"rho": "0.05"})
PROBS: Final = (0.1, 0.5, 0.9)
HEADS: Final = ("mean", "quantiles", "bins: mean", "bins: variance", "bins: quantiles")
MOST_ROWS: Final = 10_000


def tables(rows: int, files: list[Path]) -> dict[str, pd.DataFrame]:
    """Return the tables, of each at most so many rows."""
    import statsmodels.api as sm

    found = {path.stem.split("_")[0]: pd.read_parquet(path) for path in files}
    found["randhie"] = sm.datasets.randhie.load_pandas().data
    found["fair"] = sm.datasets.fair.load_pandas().data
    found["anes"] = sm.datasets.anes96.load_pandas().data
    return {name: one.sample(min(rows, len(one)), random_state=15) for name, one in found.items()}


def bound(x: float) -> float:
    """Return a round number at or beyond a value, away from 0."""
    if x == 0:
        return 0.0
    unit = 10.0 ** np.floor(np.log10(abs(x)))
    return float(np.sign(x) * np.ceil(abs(x) / unit) * unit)


def column(x: np.ndarray) -> Any:
    """Return the column as it would be declared."""
    low, high = min(0.0, bound(float(x.min()))), bound(float(x.max()))
    return tc.Integer(int(low), int(high)) if (x % 1 == 0).all() else tc.Real(low, high)


def held(found: Any, at: slice, truth: Any) -> list[bool | None]:
    """Return whether intervals hold, None where there is a reason."""
    limits = found.intervals() if hasattr(found, "intervals") else found.conf_int()
    limits, why = np.asarray(limits, dtype=float).reshape(-1, 2)[at], list(found.reasons)[at]
    truth = np.atleast_1d(np.asarray(truth, dtype=float))
    fine = 1e-6 * np.maximum(1e-3, np.abs(truth))
    inside = (limits[:, 0] <= truth + fine) & (truth <= limits[:, 1] + fine)
    return [None if reason else bool(one) for reason, one in zip(why, inside, strict=True)]


def answers(x: np.ndarray, price: dict[str, str], repeats: int) -> dict[str, list[bool | None]]:
    """Return what each answer holds."""
    found: dict[str, list[bool | None]] = {name: [] for name in HEADS}
    quantiles = np.quantile(x, PROBS, method="inverted_cdf")
    schema, budget = tc.Schema({"x": column(x)}), tc.Budget(**dict.fromkeys(price, 900))
    curator = tc.Curator({"x": x}, schema, budget=budget)
    for _ in range(repeats):
        mean = curator.release(tc.Mean("x"), fresh=True, **price).estimate(target="table")
        found["mean"] += held(mean, slice(0, 1), x.mean())
        made = curator.release(tc.Quantiles("x", PROBS), fresh=True, **price).estimate(target="table")
        found["quantiles"] += held(made, slice(0, 3), quantiles)
        cells = curator.release(tc.Histogram("x", bins="auto"), fresh=True, **price)
        moments = cells.moments("x", target="table")
        found["bins: mean"] += held(moments, slice(0, 1), x.mean())
        found["bins: variance"] += held(moments, slice(1, 2), x.var())
        found["bins: quantiles"] += held(cells.quantiles("x", PROBS, target="table"), slice(0, 3), quantiles)
    return found


def shown(found: list[bool | None]) -> str:
    """Return coverage / share that is told."""
    told = [one for one in found if one is not None]
    if not told:
        return "–/0"
    share = 100 * float(np.mean(told))
    return (f"**{share:.0f}**" if share < 90 else f"{share:.0f}") + f"/{100 * len(told) / len(found):.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--rows", type=int, default=MOST_ROWS)
    parser.add_argument("--files", type=Path, nargs="*", default=[], help="Parquet files")
    given = parser.parse_args()
    print(f"{given.repeats} releases a row, at most {given.rows:,} rows")
    print("| table | column | price |", *(f"{one} |" for one in HEADS))
    print("|---|---|---|" + "---:|" * len(HEADS))
    for name, table in tables(given.rows, given.files).items():
        for label in table.select_dtypes("number").columns:
            x = table[label].dropna().to_numpy(dtype=np.float64)
            if len(np.unique(x)) < 3:
                continue
            for price in PRICES:
                made = answers(x, price, given.repeats)
                words = ", ".join(f"{key} = {value}" for key, value in price.items())
                print(f"| {name} | {label} | {words} | {' | '.join(shown(made[one]) for one in HEADS)} |", flush=True)


if __name__ == "__main__":
    main()
