"""Linear regressions from noisy cross-products and one step: the tables of docs/reference/regression.md.

    python benchmarks/regression.py [--quick] [--only WORDS …] [--processes N] [--part P] [--page]

Tables are drawn anew and released anew in each simulation, at all prices.  Each line of a table is kept in
`regression.jsonl` beside this script as soon as it is known, and the page is written from these lines; an hour on two
cores.  `--only`: cells whose words begin like one of these ("people normal 1000 "); `--part`: of the simulations, 0.5
for half; `--page`: nothing is simulated.
Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from linear_designs import STUDIES, four
from pages import keep, kept, written
from regression_designs import Study

from tacit.curator.mechanisms import design
from tacit.method.regression import design as regression_design
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import RegressionRows, rows_of

HERE = Path(__file__).parent
KEPT = HERE / "regression.jsonl"
PAGE = HERE.parent / "docs" / "reference" / "regression.md"
INTRODUCTION = """# Coverage of regressions

How often a 95% interval of a coefficient of [`Regression`](api.md) holds the truth when tables are drawn and
released anew. Both errors are in it. Written by `python benchmarks/regression.py`.

*Coverage* is that of all slopes, and of the worst one, and of the intercept; *width* compares with ordinary least
squares on the rows themselves, its usual standard errors included (mean over the slopes, and the widest; where errors
are unequal the usual ones are too small, and 1 cannot be reached); *SE / SD* compares the reported standard error with
the standard deviation of the estimates; *bias / SD* is the largest of the slopes'. *No answer* counts releases whose
noise is too large for an estimate: they carry a reason instead of numbers, and count nowhere else. Where more than 19
in 20 of the first 60 do, no more are drawn. ± is twice the Monte-Carlo error.

Slopes are those of least squares on the population. Errors that are both skewed and unequal are the hard case:
residuals are cut, and the slope of what their spread depends on (age) is biased by a part of a standard error, which
intervals allow for. The rules for unequal errors were developed on the designs of people and of four regressors. The
next three designs were drawn up afterwards; that of a rare level found a fault, which was corrected. The last design
was drawn up after that, and nothing was changed for it.
"""
PRICES: dict[str, dict[str, Any]] = {
    "ε = 5, δ = 1e-6": {"epsilon": 5, "delta": 1e-6},
    "ρ = 0.1": {"rho": 0.1},
    "ε = 2": {"epsilon": 2},
}
HEAD = (
    "| rows | price, relation | simulations | coverage, % | worst slope, % | intercept, % | width, OLS = 1 | widest "
    "| SE / SD | bias / SD | no answer, % |\n|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
)
SIMULATIONS = {1_000: 2_000, 3_000: 2_000, 10_000: 2_000, 100_000: 500}
FIRST = 60
PARTS = (0.1, 0.2, 0.3, 0.4, 0.5)
SHARES = "shares"


@dataclass(frozen=True)
class Cell:
    """A study at a number of rows."""

    name: str
    rows: int
    relation: str = "replace-one"

    @property
    def words(self) -> str:
        return f"{self.name} {self.rows} {self.relation}"


BOTH = ("four normal", "people normal")
CELLS = [
    Cell(name, n, relation)
    for name in STUDIES
    for n in SIMULATIONS
    for relation in ("replace-one", "add-remove")
    if relation == "replace-one" or name in BOTH
]


@dataclass
class Found:
    """Estimates and standard errors of the coefficients in all releases at one price."""

    asked: int = 0
    values: list[np.ndarray] = field(default_factory=list[np.ndarray])
    errors: list[np.ndarray] = field(default_factory=list[np.ndarray])
    ordinary: list[np.ndarray] = field(default_factory=list[np.ndarray])

    @property
    def hopeless(self) -> bool:
        return self.asked >= FIRST and len(self.values) < self.asked / 20


def simulated(case: Study, cell: Cell, repeats: int, prices: tuple[str, ...] = tuple(PRICES)) -> dict[str, Found]:
    """Simulate every price on the same tables."""
    rng = np.random.default_rng(crc32(cell.words.encode()))
    known = cell.rows if cell.relation == "replace-one" else None
    shapes = {
        words: design(case.query, Public(case.schema, cell.relation, known), Cost.of(**PRICES[words]))
        for words in prices
    }
    found = {words: Found() for words in shapes}
    for _ in range(repeats):
        base = rows_of(case.query, case.draw(rng, cell.rows), case.schema, Cost.of(rho=1))
        places = [base.layout.names.index(name) for name in case.truth]
        ordinary = base.ordinary()[1][places]
        for words, shape in shapes.items():
            one = found[words]
            if one.hopeless:
                continue
            made = RegressionRows(shape, base.layout, base.z, cell.rows).fit(rng)
            one.asked += 1
            if made.reasons[0] is None:
                one.values.append(made.values[places])
                one.errors.append(made.std_errors[places])
                one.ordinary.append(ordinary)
        if all(one.hopeless for one in found.values()):
            break
    return found


def lines(cell: Cell, repeats: int) -> list[dict[str, Any]]:
    """Return the lines of a cell, one for each price."""
    case = STUDIES[cell.name]()
    truth = np.array(list(case.truth.values()))
    found = simulated(case, cell, repeats).items()
    return [{"cell": cell.words, "price": words, **line(one, truth)} for words, one in found]


def line(found: Found, truth: np.ndarray) -> dict[str, Any]:
    """The intercept is the first coefficient."""
    tables = len(found.values)
    out = {"simulations": found.asked, "silent": 1 - tables / found.asked}
    if tables < found.asked / 2:
        return out
    values, errors, ordinary = map(np.array, (found.values, found.errors, found.ordinary))
    hit = np.abs(values - truth) <= 1.959964 * errors
    slopes, sd = hit[:, 1:], values.std(axis=0, ddof=1)
    worst, width = float(slopes.mean(axis=0).min()), (errors.mean(axis=0) / ordinary.mean(axis=0))[1:]
    return out | {
        "coverage": float(slopes.mean()),
        "coverage_error": 2 * float(slopes.mean(axis=1).std()) / math.sqrt(tables),
        "worst": worst,
        "worst_error": 2 * math.sqrt(worst * (1 - worst) / tables),
        "intercept": float(hit[:, 0].mean()),
        "width": float(width.mean()),
        "widest": float(width.max()),
        "ratio": float((errors.mean(axis=0) / sd)[1:].mean()),
        "bias": float(max(((values.mean(axis=0) - truth) / sd)[1:], key=abs)),
    }


def row(cell: Cell, one: dict[str, Any]) -> str:
    head, silent = f"| {cell.rows:,} | {one['price']}, {cell.relation} | {one['simulations']:,} |", one["silent"]
    if "coverage" not in one:
        return f"{head} – | – | – | – | – | – | – | {100 * silent:.0f} |"
    return (
        f"{head} {100 * one['coverage']:.1f} ± {100 * one['coverage_error']:.1f} "
        f"| {100 * one['worst']:.1f} ± {100 * one['worst_error']:.1f} | {100 * one['intercept']:.1f} "
        f"| {one['width']:.2f} | {one['widest']:.2f} | {one['ratio']:.2f} | {one['bias']:+.2f} | {100 * silent:.0f} |"
    )


def shares(repeats: int) -> list[dict[str, Any]]:
    """Return widths of intervals against the share of the price that the cross-products get."""
    out: list[dict[str, Any]] = []
    first = regression_design.FIRST_SHARE
    for n in (1_000, 10_000):
        widths: list[float] = []
        for part in PARTS:
            regression_design.FIRST_SHARE = type(first)(str(part))  # pyright: ignore
            found = simulated(four("normal"), Cell(SHARES, n), repeats, ("ε = 5, δ = 1e-6",))["ε = 5, δ = 1e-6"]
            width = np.mean(found.errors, axis=0) / np.mean(found.ordinary, axis=0) if found.errors else np.zeros(2)
            widths.append(float(width[1:].mean()))
        out.append({"cell": SHARES, "price": f"{n:,}", "widths": widths})
    regression_design.FIRST_SHARE = first  # pyright: ignore
    return out


def page() -> Iterator[str]:
    known = kept(KEPT)
    yield INTRODUCTION
    name = ""
    for cell in CELLS:
        rows = [known[cell.words, price] for price in PRICES if (cell.words, price) in known]
        if rows and cell.name != name:
            name, case = cell.name, STUDIES[cell.name]()
            yield f"\n## {case.title}\n\n`{case.query.formula}`\n\n{HEAD}"
        yield from (row(cell, one) for one in rows)
    yield (
        "\n## How the price is split\n\nMean width of the slopes' intervals, least squares = 1, at ε = 5, δ = 1e-6, by "
        "the part of the price that the\ncross-products get; the rest buys the step. It is 0.3 for every question."
    )
    yield "\n| rows | " + " | ".join(map(str, PARTS)) + " |\n|---:|" + "---:|" * len(PARTS)
    for (cell, price), one in known.items():
        if cell == SHARES:
            yield f"| {price} | " + " | ".join(f"{width:.2f}" for width in one["widths"]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--only", nargs="*", default=[""])
    parser.add_argument("--part", type=float, default=1.0)
    parser.add_argument("--processes", type=int, default=2)
    given, start = parser.parse_args(), time.monotonic()
    asked = [one for one in CELLS if any(one.words.startswith(words) for words in given.only)]
    asked.sort(key=lambda one: one.rows)
    with ProcessPoolExecutor(given.processes) as pool:
        jobs = [
            pool.submit(lines, one, 20 if given.quick else int(SIMULATIONS[one.rows] * given.part))
            for one in asked
            if not given.page
        ]
        if not given.page and any(SHARES.startswith(words) for words in given.only):
            jobs.append(pool.submit(shares, 10 if given.quick else int(200 * given.part)))
        for job in as_completed(jobs):
            found = job.result()
            print("\n".join(map(json.dumps, found)), flush=True)
            if not given.quick:
                keep(KEPT, found)
    if not given.quick:
        written(PAGE, page())
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
