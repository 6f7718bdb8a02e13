"""Rank errors of many quantiles at one price, by halving and otherwise: docs/reference/many-quantiles.md.

    python benchmarks/many_quantiles.py [--quick]

Points only, complete columns, the number of rows public, one row replaced, pure epsilon.  Probabilities 1/(m + 1) ...
m/(m + 1).
- halving: the release (where `is_nearer` says so; else the equal split, which is then the release).
- equal split: each quantile for itself at 1/m of the price, as before 0.2.
- published: ApproxQuantiles [Kaplan, Schnapp & Stemmer 2022, Algorithm 1], by the exponential mechanism, each level at
  1/K of the price and a replaced row counted as one removed and one added; rows are divided over parts of steps too.
- histogram: quantiles of a noisy histogram of CELLS public cells of equal width, linear within a cell; the whole price.
Designs were written down before any was simulated: SHAPES, SIZES, PRICES, NUMBERS."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

import tacit as tc
from tacit.method.quantiles import design as quantiles_design
from tacit.method.quantiles import many_steps, mechanism_many
from tacit.method.quantiles.mechanism import released
from tacit.method.shared.measurement import Public
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost
from tacit.testing.simulated_quantiles import counted

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "many-quantiles.md"
Draw = Callable[[np.random.Generator, int], np.ndarray]
SHAPES: Final[dict[str, tuple[float, float, Draw]]] = {
    "normal, range 10 sd": (-5, 5, lambda rng, n: rng.normal(0, 1, n)),
    "lognormal incomes": (0, 300_000, lambda rng, n: rng.lognormal(10.5, 0.8, n)),
    "ages in years": (0, 110, lambda rng, n: np.rint(rng.normal(45, 18, n))),
}
SIZES: Final = (1_000, 10_000, 100_000)
PRICES: Final = ("0.2", "1")
NUMBERS: Final = (2, 5, 20)
CELLS: Final = (128, 1_024)
TABLES: Final = {1_000: 60, 10_000: 40, 100_000: 5}
"""Tables of each cell of the page, by the number of rows."""


def errors(x: np.ndarray, values: np.ndarray, probs: list[Fraction], half: float) -> float:
    """Return the mean distance, in ranks, of values from the ranks of the quantiles; a step is `half` on each side."""
    rows, at = np.sort(x), len(x) * np.array([float(p) for p in probs])
    below, upto = np.searchsorted(rows, values - half), np.searchsorted(rows, values + half)
    return float(np.mean(np.maximum(0, np.maximum(below - at, at - upto))))


def histogram(x: np.ndarray, bounds: tuple[float, float], epsilon: float, probs: Any, cells: int, rng: Any) -> Any:
    """Return quantiles of a noisy histogram: a replaced row changes two counts by one."""
    counts, edges = np.histogram(x, cells, bounds)
    q = np.exp(-epsilon / 2)
    noisy = counts + rng.geometric(1 - q, cells) - rng.geometric(1 - q, cells)
    # sums made to rise, within 0 and n
    rising = np.maximum.accumulate(np.clip(np.concatenate([[0], np.cumsum(noisy)]), 0, len(x)))
    return np.interp([float(p) * len(x) for p in probs], rising, edges)


def cell(name: str, n: int, epsilon: str, m: int, tables: int) -> str:
    """Return a row of the page."""
    lower, upper, draw = SHAPES[name]
    rng, probs = np.random.default_rng([n, m, len(name)]), [Fraction(i, m + 1) for i in range(1, m + 1)]
    kind: Any = tc.Integer(int(lower), int(upper), missing=int(lower)) if name == "ages in years" else None
    schema = tc.Schema({"x": kind or tc.Real(lower, upper, missing=lower)})
    query, cost = tc.Quantiles("x", probs, interval=False), Cost.of(epsilon=epsilon)
    public = Public(schema, "replace-one", n)
    ours = quantiles_design.design(query, public, cost)
    own = quantiles_design.is_halved
    quantiles_design.is_halved = lambda _: False
    equal = quantiles_design.design(query, public, cost)
    quantiles_design.is_halved = own
    levels = many_steps.levels(m)
    single = many_steps.Halving.most

    def sample(runs: Any, law: Any) -> Any:
        run, place = law.sample(runs.utility, runs.points, 1, rng)
        return runs.chosen(int(run[0]), int(place[0]))

    def parts(rows: int) -> Any:
        return rng.integers(0, mechanism_many.PARTS, rows)

    found = []
    for _ in range(tables):
        x = np.clip(draw(rng, n), lower, upper)
        counts, values = counted(ours, {"x": x}), []
        for shape in (ours, equal):
            grid = shape.columns[0].grid  # the same for both
            assert grid is not None
            made = [cell_ for part in released(shape, counts, sample, None, parts) for cell_ in part.integers[0]]
            values.append((lower + np.array(made) * (upper - lower) / grid.G, (upper - lower) / grid.G / 2))
        halved = quantiles_design.halved(ours, ours.columns[0].rowmap, ours.columns[0].grid, cost)
        published = replace(halved, law=Selection(cost.epsilon / (2 * 2 * levels)))
        many_steps.Halving.most = lambda self, *, replaces: self.share.denominator
        made = mechanism_many.selected(published, probs, counts[0], True, sample, parts)
        many_steps.Halving.most = single
        values.append((lower + np.array(made) * (upper - lower) / grid.G, (upper - lower) / grid.G / 2))
        half = 0.5 if kind else 0.0
        values += [
            (histogram(x, (lower - half, upper + half), float(epsilon), probs, cells, rng), half) for cells in CELLS
        ]
        found.append([errors(x, v, probs, h) for v, h in values])
    means = np.mean(found, axis=0)
    way = "halving" if ours.columns[0].form.name == "halved" else "equal split"
    # where the release is the equal split, draws of both are of one law
    ratio = f"{means[0] / means[1]:.2f}" if way == "halving" else "1"
    others = " | ".join(f"{one:.1f}" for one in means[1:])
    return f"| {name} | {n:,} | {epsilon} | {m} | {way} | {means[0]:.1f} | {others} | {ratio} |"


HEAD: Final = (
    "| values | n | ε | m | way of the release | its error | equal split | published | histogram, "
    + " | ".join(f"{cells:,} cells" for cells in CELLS)
    + " | ÷ the equal split's |\n|---|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|"
)
INTRODUCTION: Final = """# Errors of many quantiles

Mean distance, in ranks, of m released quantiles from those of the table, without intervals, all at one price. Written
by `python benchmarks/many_quantiles.py`: tables a cell by their rows: {tables}.

Columns are complete, the number of rows is public, one row is replaced, and prices are pure ε, for all alike. The
probabilities are 1/(m + 1) … m/(m + 1). *Equal split*: each quantile for itself at 1/m of the price. *Published*:
ApproxQuantiles [Kaplan, Schnapp & Stemmer 2022] by the exponential mechanism, where a replaced row counts as one
removed and one added. *Histogram*: quantiles of noisy counts of public cells of equal width, linear within a cell;
ages are in cells that do not divide whole numbers evenly. At most 20 quantiles are asked for at once.

Where the release is the equal split, both columns are draws of the same law, and their ratio is written as 1.

A histogram errs by fewer ranks where there are few cells and many rows are in each: its error is then that of taking
rows to be evenly spread within a cell, and that depends on the values. It is another question, `tc.Histogram`.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    start, many = time.monotonic(), ", ".join(f"{tables} of {n:,}" for n, tables in TABLES.items())
    page = [INTRODUCTION.format(tables=many), HEAD]
    for name in SHAPES:
        for n in SIZES[:2] if options.quick else SIZES:
            for epsilon in PRICES:
                for m in NUMBERS:
                    page.append(cell(name, n, epsilon, m, 2 if options.quick else TABLES[n]))
                    print(page[-1], flush=True)
    if not options.quick:
        PAGE.write_text("\n".join(page) + "\n", encoding="utf-8")
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
