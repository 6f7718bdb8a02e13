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
from dataclasses import dataclass
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
    "| slopes within the range | told means, spreads and shares: actual ÷ planned |\n|---|---:|---|---:|---:|---:|---:|"
)
TEXT = """## Plans of real tables

What [plans](../howto/choose-epsilon.md) of the same regressions say before any row is seen, at four prices, and the
medians of {repeats} releases. *Actual ÷ planned* is of standard errors of slopes: the ratio of root mean squares over
the terms, in units of the fit without privacy, with the least and largest ratio of a term. *Within the range*: slopes
whose actual standard error lies in the range that a plan that is told nothing states, over guesses of spreads. *Told*:
of each number the mean and standard deviation, of each Boolean the rarer share, to one digit. ∞: the plan expects no
answer.

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


def planned(
    table: Table, query: tc.Regression, price: dict[str, Any], told: dict[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the standard errors of slopes that a plan expects, inf for no answer, and their ranges, shape (p, 3).

    Of these: the least, the largest, and 1 where every guess leaves an answer, else 0.
    """
    count = len(next(iter(table.rows.values())))
    made = tc.plan(query, table.schema, rows=count, expect=told or None, **price)
    wide = 2 * 1.959964
    found = made.ranges.get("", ())
    ranges = np.array([(one.least / wide, one.largest / wide, one.always) for one in found]).reshape(-1, 3)
    return np.array([one.width for one in made.parts[0].terms])[1:] / wide, ranges[1:]


def within(actual: np.ndarray, ranges: np.ndarray, factor: float = 1.0) -> np.ndarray:
    """Return whether standard errors lie in their ranges, or within a factor of them, shape (p,)."""
    least, largest, always = ranges.T
    told = (actual >= least / factor) & (actual <= largest * factor)
    return np.where(np.isfinite(actual), told, (always == 0) | np.isinf(largest))


def compared(actual: np.ndarray, plan: np.ndarray, own: np.ndarray) -> tuple[float, str]:
    """Return the ratio of a line, and it in words, with the least and largest of a term."""
    if not np.isfinite(plan).all():
        return math.inf if np.isfinite(actual).all() else 1.0, "∞"
    each = actual / plan
    whole = math.sqrt(float(((actual / own) ** 2).mean() / ((plan / own) ** 2).mean()))
    return whole, f"{whole:.2f} ({each.min():.2f} to {each.max():.2f})"


@dataclass(frozen=True)
class Line:
    """One plan: its line of the page, the ratios of the plan told nothing and of the one told, and ranges of slopes.

    held, near: whether each slope lies in its range, and within a factor WITHIN of it.  wide: largest over least.
    always: whether every guess leaves an answer.
    """

    text: str
    blind: float
    told: float
    held: np.ndarray
    near: np.ndarray
    wide: np.ndarray
    always: bool


def line(table: Table, query: tc.Regression, price: dict[str, Any], repeats: int) -> Line:
    """Return what is compared of one plan."""
    rng = np.random.default_rng([16, 4])
    rows = rows_of(query, table.rows, table.schema, Cost.of(**price))
    own = rows.ordinary()[1][1:]
    fits = [rows.fit(rng) for _ in range(repeats)]
    errors = [one.std_errors[1:] for one in fits if one.reasons[0] is None]
    reasons = 100 * (1 - len(errors) / repeats)
    actual = np.median(errors, axis=0) if len(errors) > repeats / 2 else np.full(len(own), np.inf)
    blind, ranges = planned(table, query, price, {})
    told, _ = planned(table, query, price, known(table, query))
    found = [compared(actual, one, own) for one in (blind, told)]
    held, near = within(actual, ranges), within(actual, ranges, WITHIN)
    start = f"| {table.name}: `{query.formula}`, {query.model} | {len(rows.z):,} | {Cost.of(**price)} | {reasons:.0f} |"
    text = f"{start} {found[0][1]} | {held.sum()} of {len(held)} | {found[1][1]} |"
    return Line(text, found[0][0], found[1][0], held, near, ranges[:, 1] / ranges[:, 0], bool(ranges[:, 2].all()))


def summary(lines: list[Line]) -> str:
    """Return in words how many of the plans keep their promise."""
    ratios = np.array([(one.blind, one.told) for one in lines])
    kept = ((ratios >= 1 / WITHIN) & (ratios <= WITHIN)).mean(axis=0)
    held, near, wide = (np.concatenate([getattr(one, name) for one in lines]) for name in ("held", "near", "wide"))
    whole = np.mean([one.near.all() for one in lines])
    open_ = 1 - np.mean([one.always for one in lines])
    return (
        f"Of {len(lines)} plans that are told nothing {100 * kept[0]:.0f}% are within a factor {WITHIN} at the width "
        f"that they state first; of those that are told, {100 * kept[1]:.0f}%. Of {len(held)} slopes of plans that are "
        f"told nothing {100 * held.mean():.0f}% are in the stated range, and {100 * near.mean():.0f}% within a factor "
        f"{WITHIN} of it; so are all slopes of {100 * whole:.0f}% of the plans. The largest width of a range is "
        f"{np.nanmedian(wide):.0f} times the least in the median; {100 * open_:.0f}% of the plans say that a guess "
        "leaves no answer."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", default=None)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--plain", action="store_true", help="to the terminal only")
    options = parser.parse_args()
    tables = [rand(), *([people(options.people)] if options.people else [])]
    asked = [(table, query, price) for table in tables for query in table.queries for price in PRICES]
    lines = list[Line]()
    with ProcessPoolExecutor(options.processes) as pool:
        for one in pool.map(line, *zip(*asked, strict=True), [options.repeats] * len(asked)):
            lines.append(one)
            print(one.text, flush=True)
    said, listed = summary(lines), "\n".join((HEAD, *(one.text for one in lines)))
    print(said)
    if not options.plain:
        put(PAGE, "plan_real.py", TEXT.format(repeats=options.repeats, summary=said) + "\n" + listed)


if __name__ == "__main__":
    main()
