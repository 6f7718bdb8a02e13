"""What plans of regressions promise, and what real tables then have; writes a part of a page.

    python benchmarks/plan_real.py [--people pums_california_10000.parquet] [--repeats 20] [--plain]

The tables and questions are those of `frontier_real.py`, at four prices.  A plan sees no row.  It is told nothing, or
what somebody may know beforehand: of each number its mean and standard deviation, and of each Boolean the rarer
share, to one digit.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import math
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from frontier_real import DELTA, PAGE, Table, people, rand
from pages import put

import tacit as tc
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import rows_of

PRICES: tuple[dict[str, Any], ...] = (
    {"rho": 1},
    {"rho": 0.1},
    {"epsilon": 1, "delta": DELTA},
    {"epsilon": 3},
)
WITHIN = 1.5
HEAD = (
    "| regression | rows | price | of releases with a reason, % | told nothing: actual ÷ planned "
    "| told means, spreads and shares: actual ÷ planned |\n|---|---:|---|---:|---:|---:|"
)
TEXT = """## Plans of real tables

What [plans](../howto/choose-epsilon.md) of the same regressions say before any row is seen, at four prices, and the
medians of {repeats} releases. *Actual ÷ planned* is of standard errors of slopes: the ratio of root mean squares over
the terms, in units of the fit without privacy, with the least and largest ratio of a term. *Told*: of each number the
mean and standard deviation, of each Boolean the rarer share, to one digit. ∞: the plan expects no answer.

{summary}
"""


def digit(x: float) -> float:
    """Return a number to one significant digit.

    >>> digit(0.0347), digit(-127.0), digit(0.0)
    (0.03, -100.0, 0.0)
    """
    return 0.0 if x == 0 else round(x, -math.floor(math.log10(abs(x))))


def known(table: Table, query: tc.Regression) -> dict[str, Any]:
    """Return what somebody may know beforehand of the columns of a regression."""
    told: dict[str, Any] = {}
    for name, values in table.rows.items():
        if name not in query.formula:
            continue
        if values.dtype == bool:
            share = float(values.mean())
            told[name] = {"true": digit(share) if share < 0.5 else 1 - digit(1 - share)}
        else:
            told[name] = {"mean": digit(float(values.mean())), "sd": digit(float(values.std()))}
    return told


def planned(table: Table, query: tc.Regression, price: dict[str, Any], told: dict[str, Any]) -> np.ndarray:
    """Return the standard errors that a plan expects, inf where it expects no answer."""
    count = len(next(iter(table.rows.values())))
    made = tc.plan(query, table.schema, rows=count, expect=told or None, **price)
    return np.array([one.width for one in made.parts[0].terms]) / (2 * 1.959964)


def compared(actual: np.ndarray, plan: np.ndarray, own: np.ndarray) -> tuple[float, str]:
    """Return the ratio of a line, and it in words, with the least and largest of a term."""
    if not np.isfinite(plan).all():
        return math.inf if np.isfinite(actual).all() else 1.0, "∞"
    each = actual / plan
    whole = math.sqrt(float(((actual / own) ** 2).mean() / ((plan / own) ** 2).mean()))
    return whole, f"{whole:.2f} ({each.min():.2f} to {each.max():.2f})"


def line(table: Table, query: tc.Regression, price: dict[str, Any], repeats: int) -> tuple[str, float, float]:
    """Return a line of the page, and the ratios of the plan that is told nothing and of the one that is told."""
    rng = np.random.default_rng([16, 4])
    rows = rows_of(query, table.rows, table.schema, Cost.of(**price))
    own = rows.ordinary()[1][1:]
    fits = [rows.fit(rng) for _ in range(repeats)]
    errors = [one.std_errors[1:] for one in fits if one.reasons[0] is None]
    reasons = 100 * (1 - len(errors) / repeats)
    actual = np.median(errors, axis=0) if len(errors) > repeats / 2 else np.full(len(own), np.inf)
    found = [compared(actual, planned(table, query, price, told)[1:], own) for told in ({}, known(table, query))]
    start = f"| {table.name}: `{query.formula}`, {query.model} | {len(rows.z):,} | {Cost.of(**price)} | {reasons:.0f} |"
    return f"{start} {found[0][1]} | {found[1][1]} |", found[0][0], found[1][0]


def summary(ratios: np.ndarray) -> str:
    """Return in words how many of the plans keep their promise; ratios: shape (lines, 2)."""
    held = ((ratios >= 1 / WITHIN) & (ratios <= WITHIN)).mean(axis=0)
    return (
        f"Of {len(ratios)} plans that are told nothing {100 * held[0]:.0f}% are within a factor {WITHIN}; of those "
        f"that are told, {100 * held[1]:.0f}%."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", default=None)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--plain", action="store_true", help="to the terminal only")
    options = parser.parse_args()
    tables = [rand(), *([people(options.people)] if options.people else [])]
    asked = [(table, query, price) for table in tables for query in table.queries for price in PRICES]
    lines, ratios = [HEAD], list[tuple[float, float]]()
    with ProcessPoolExecutor(2) as pool:
        for one, blind, told in pool.map(line, *zip(*asked, strict=True), [options.repeats] * len(asked)):
            lines.append(one)
            ratios.append((blind, told))
            print(one, flush=True)
    said = summary(np.array(ratios))
    print(said)
    if not options.plain:
        put(PAGE, "plan_real.py", TEXT.format(repeats=options.repeats, summary=said) + "\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
