"""Cells or scores: which of two ways tells a regression of few values more precisely, and which `method="auto"` takes.

    python benchmarks/automatic_regressions.py [--set 2] [--designs 60] [--repeats 40] [--plain]

Designs are drawn: columns, shares of their levels, coefficients, number of rows and price.  The law of a row is known
in every cell, so that the coefficients of the population are exact, of models that do not hold too.  Each repetition
draws a table and releases it in both ways with seeded noise, by the mechanism's own steps.  Set 1 is for choosing the
rule, set 2 was not looked at before.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import math
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pages import put

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.fits.cells.cell_arrays import CellCounts
from tacit.fits.cells.released_cells import cells_of
from tacit.fits.regression_fits import fit_cells
from tacit.method.regression.designs.cells_design import MOST_CELLS
from tacit.method.regression.estimate_cells import fitted_cells
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import rows_of

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "regression-frontier.md"
PRICES: tuple[dict[str, Any], ...] = (
    {"epsilon": 0.5},
    {"epsilon": 1},
    {"epsilon": 3},
    {"rho": 0.01},
    {"rho": 0.1},
    {"epsilon": 1, "delta": 1e-6},
)
Z = 1.959964
HEAD = (
    "| regression | cells | rows | price | auto | error: cells | error: scores | with a reason, %: cells, scores "
    "| covered, %: cells, scores |\n|---|---:|---:|---|---|---:|---:|---:|---:|"
)
TEXT = """## Cells or scores

{count} drawn regressions of Booleans, categories and Integers of few values, released {repeats} times by
`method="cells"` and by `method="scores"`. *Error*: root mean squared error of the coefficients but the intercept, in
standard errors without privacy; ∞ where more than half of the releases have a reason. *auto*: what `method="auto"`
takes from public facts alone.

{summary}
"""


@dataclass(frozen=True)
class Drawn:
    """A drawn regression: schema, question, law of the cells, rows, price."""

    schema: tc.Schema
    query: tc.Regression
    law: np.ndarray
    rows: int
    price: dict[str, Any]

    @property
    def cost(self) -> Cost:
        return Cost.of(**self.price)


def drawn(which: int, number: int) -> Drawn:
    """Return design `number` of a set."""
    rng = np.random.default_rng([16, 6, which, number])
    while True:
        made = _drawn(rng)
        if len(made.law) <= MOST_CELLS:
            return made


def _drawn(rng: np.random.Generator) -> Drawn:
    columns: dict[str, Any] = {}
    shares, scores = [], []
    for j in range(rng.integers(1, 6)):
        kind = rng.choice(["boolean", "category", "integer"], p=[0.55, 0.3, 0.15])
        size = {"boolean": 2, "category": rng.integers(3, 6), "integer": rng.integers(3, 9)}[kind]
        if kind == "boolean":
            rare = rng.uniform(0.05, 0.5)
            columns[f"b{j}"], share = tc.Boolean(), np.array([1 - rare, rare])
        elif kind == "category":
            columns[f"c{j}"], share = tc.Category(list("abcdefgh")[:size]), rng.dirichlet(np.full(size, 3.0))
        else:
            places, middle = np.arange(size), rng.uniform(0.2, 0.8) * (size - 1)
            share = np.exp(-(((places - middle) / (0.35 * size)) ** 2))
            columns[f"i{j}"], share = tc.Integer(0, int(size) - 1), share / share.sum()
        shares.append(share)
        effect = rng.normal(0, 0.5, size) if kind == "category" else np.arange(size) * rng.normal(0, 0.5 / (size - 1))
        scores.append(effect - share @ effect)
    model = rng.choice(["linear", "logistic", "probit", "poisson"], p=[0.4, 0.35, 0.1, 0.15])
    law, eta = np.ones(1), np.zeros(1)
    for share, effect in zip(shares, scores, strict=True):
        law, eta = np.outer(law, share).ravel(), np.add.outer(eta, effect).ravel()
    integer = model == "poisson" or (model == "linear" and rng.random() < 0.5)
    if integer:
        top, mean = int(rng.integers(4, 12)), rng.uniform(0.6, 2.0)
        y = np.arange(top + 1)
        each = np.array(
            [np.exp(k * np.log(mean * np.exp(e)) - mean * np.exp(e) - math.lgamma(k + 1)) for e in eta for k in y]
        )
        each = each.reshape(len(eta), top + 1)
        each[:, -1] += np.maximum(1 - each.sum(axis=1), 0)
        response: Any = tc.Integer(0, top)
    else:
        level = rng.normal(0, 1)
        p = 1 / (1 + np.exp(-(level + 1.5 * eta)))
        each, response = np.column_stack([1 - p, p]), tc.Boolean()
    joint = (law[:, None] * each / each.sum(axis=1, keepdims=True)).T.ravel()
    names = list(columns)
    formula = " + ".join(names)
    if len(names) > 1 and rng.random() < 0.25:
        formula += f" + {names[0]}:{names[1]}"
    query = tc.Regression(f"y ~ {formula}", model=str(model))
    rows = int(round(math.exp(rng.uniform(math.log(1_000), math.log(60_000))), -2))
    return Drawn(tc.Schema({"y": response, **columns}), query, joint, rows, dict(PRICES[rng.integers(len(PRICES))]))


def shape_of(one: Drawn, method: str) -> Measurement:
    query = tc.Regression(one.query.formula, model=one.query.model, method=method)
    return design(query, Public(one.schema, "replace-one", one.rows), one.cost)


@dataclass(frozen=True)
class Told:
    """Means over releases of one way: error, share with a reason, share of coefficients covered."""

    error: float
    reasons: float
    covered: float


def compared(which: int, number: int, repeats: int) -> tuple[str, str, Told, Told]:
    """Return a design's words, what auto takes, and what cells and scores tell."""
    one, rng = drawn(which, number), np.random.default_rng([16, 7, which, number])
    cells, auto = shape_of(one, "cells"), shape_of(one, "auto")
    bare = cells_of(simulated(cells, (np.zeros((cells.cells, 1), dtype=np.int64),)))
    exact = CellCounts(bare.axes, (one.law * one.rows).reshape(bare.counts.shape), 0.0)
    true = fit_cells(exact, one.query.formula, one.query.model)
    own = np.sqrt(np.diag(true.cov_sampling))[1:]
    found: dict[str, list[Any]] = {"cells": [], "scores": []}
    grid = np.unravel_index(np.arange(cells.cells), [key.size for key in cells.keys])
    for _ in range(repeats):
        counts = rng.multinomial(one.rows, one.law)
        noise = cells.columns[0].law.sample(cells.cells, rng)
        found["cells"].append(fitted_cells(simulated(cells, ((counts + noise)[:, None],))).fit)
        at = np.repeat(np.arange(cells.cells), counts)
        table = {
            key.column: np.array([_cell(key, label) for label in key.labels], dtype=object)[places[at]]
            for key, places in zip(cells.keys, grid, strict=True)
        }
        found["scores"].append(rows_of(one.query, table, one.schema, one.cost).fit(rng))
    said = [_told(fits, true.values[1:], own) for fits in found.values()]
    words = f"`{one.query.formula}`, {one.query.model} | {cells.cells:,} | {one.rows:,} | {one.cost}"
    return words, auto.query.method, *said


def _cell(key: Any, label: str) -> Any:
    """Return the value of a table cell that a label stands for."""
    if key.edges:
        return int(label)
    return label == "true" if set(key.labels) == {"false", "true"} else label


def _told(fits: list[Any], true: np.ndarray, own: np.ndarray) -> Told:
    kept = [one for one in fits if not any(reason is not None for reason in one.reasons[1:])]
    if not kept:
        return Told(math.inf, 1.0, math.nan)
    off = np.array([one.values[1:] - true for one in kept])
    errors = np.array([one.std_errors[1:] for one in kept])
    return Told(
        math.sqrt(float(((off / own) ** 2).mean())) if 2 * len(kept) > len(fits) else math.inf,
        1 - len(kept) / len(fits),
        float((np.abs(off) <= Z * errors).mean()),
    )


def line(words: str, auto: str, cells: Told, scores: Told) -> str:
    errors = " | ".join("∞" if math.isinf(one.error) else f"{one.error:.2f}" for one in (cells, scores))
    covered = ", ".join("–" if math.isnan(one.covered) else f"{100 * one.covered:.0f}" for one in (cells, scores))
    return f"| {words} | {auto} | {errors} | {100 * cells.reasons:.0f}, {100 * scores.reasons:.0f} | {covered} |"


def summary(found: list[tuple[str, str, Told, Told]]) -> str:
    """Return in words how often auto takes the better way, what it loses where it does not, and coverage."""
    taken, best, other, by_cells = [], [], [], 0
    coverage: list[float] = []
    for _, auto, cells, scores in found:
        own = cells if auto == "cells" else scores
        by_cells += auto == "cells"
        taken.append(own.error)
        best.append(min(cells.error, scores.error))
        other.append(scores.error)
        coverage.append(own.covered)
    a, b, s = np.array(taken), np.array(best), np.array(other)
    answered = np.isfinite(b)
    ratio = a[answered] / b[answered]
    gain = s[answered] / a[answered]
    finite = np.isfinite(gain)
    return (
        f"Auto takes cells in {by_cells} of {len(found)}. Its error is within 10% of the better way's in "
        f"{100 * (ratio <= 1.1).mean():.0f}% of the {int(answered.sum())} that either way answers, at most "
        f"{ratio[np.isfinite(ratio)].max():.2f} times it; {int(np.isinf(ratio).sum())} have no answer that the other "
        f"way has, and {int((np.isinf(s) & np.isfinite(a))[answered].sum())} have one that scores do not have. "
        f"Where scores answer, their error is {np.median(gain[finite]):.2f} times that of auto in the median and up to "
        f"{gain[finite].max():.2f} times. Intervals of auto cover {100 * np.nanmean(coverage):.1f}% on average, "
        f"{100 * np.nanmin(coverage):.0f}% at least."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", type=int, default=2)
    parser.add_argument("--designs", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--plain", action="store_true", help="to the terminal only")
    options = parser.parse_args()
    numbers = range(options.designs)
    found: list[tuple[str, str, Told, Told]] = []
    with ProcessPoolExecutor(options.processes) as pool:
        jobs = pool.map(compared, [options.set] * len(numbers), numbers, [options.repeats] * len(numbers))
        for one in jobs:
            found.append(one)
            print(line(*one), flush=True)
    said = summary(found)
    print(said)
    if not options.plain:
        text = TEXT.format(count=len(found), repeats=options.repeats, summary=said)
        put(PAGE, "automatic_regressions.py", text + "\n" + "\n".join((HEAD, *(line(*one) for one in found))))


if __name__ == "__main__":
    main()
