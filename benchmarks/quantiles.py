"""Coverage and width of private quantiles: the table of docs/reference/quantiles.md.

    python benchmarks/quantiles.py [--quick] [--repeats 2000]

Widths are relative to the non-private interval between order statistics. Shapes from easy to hard: rows dense
everywhere; a range forty times as wide as the data; two groups of values with a gap between them; whole numbers with
ties."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from quantile_draws import checked, designed, simulated

import tacit as tc
from tacit.method.quantiles.design import split
from tacit.privacy import Cost

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "quantiles.md"
Draw = Callable[[np.random.Generator, int], np.ndarray]
SHAPES: dict[str, tuple[tc.Schema, Draw]] = {
    "lognormal on [-5, 15]": (tc.Schema({"x": tc.Real(-5, 15)}), lambda rng, n: rng.lognormal(0, 1, n)),
    "normal, range 40 sd": (tc.Schema({"x": tc.Real(-20, 20)}), lambda rng, n: rng.normal(0, 1, n)),
    "heaps of 60 and 40 %": (
        tc.Schema({"x": tc.Real(0, 100)}),
        lambda rng, n: np.where(rng.random(n) < 0.6, rng.normal(20, 1, n), rng.normal(80, 1, n)),
    ),
    "median at a gap": (
        tc.Schema({"x": tc.Real(0, 100)}),
        lambda rng, n: np.where(rng.random(n) < 0.51, rng.normal(20, 1, n), rng.normal(80, 1, n)),
    ),
    "whole numbers 0 to 20": (
        tc.Schema({"x": tc.Integer(0, 20)}),
        lambda rng, n: rng.binomial(20, 0.4, n).astype(float),
    ),
    "exponential on [0, 20]": (tc.Schema({"x": tc.Real(0, 20)}), lambda rng, n: rng.exponential(1, n)),
    "beta on [0, 1]": (tc.Schema({"x": tc.Real(0, 1)}), lambda rng, n: rng.beta(0.6, 2.5, n)),
    "logistic, range 60": (tc.Schema({"x": tc.Real(-30, 30)}), lambda rng, n: rng.logistic(2, 1, n)),
    "two laws, no gap": (
        tc.Schema({"x": tc.Real(0, 100)}),
        lambda rng, n: np.clip(np.where(rng.random(n) < 0.4, rng.normal(30, 8, n), rng.gamma(9, 7, n)), 0, 100),
    ),
}
UNSEEN = ("exponential on [0, 20]", "beta on [0, 1]", "logistic, range 60", "two laws, no gap")
"""Shapes written down after the reach was chosen, and before any of them was simulated."""
UNSEEN_SIZES = ((500, "1"), (5_000, "0.2"), (5_000, "1"), (50_000, "0.2"))
PRICES: tuple[dict[str, Any], ...] = ({"rho": 0.5}, {"rho": 0.1}, {"rho": 0.01}, {"epsilon": 1})
HEAD = (
    "| shape, n | p | price, relation | way | coverage, % | width, no privacy = 1 | flagged as too few, % |\n"
    "|---|---:|---|---|---:|---:|---:|"
)


KEPT: dict[str, str] = {}
"""Lines of ends that are not simulated again, by their first four columns."""


def plain(x: np.ndarray, p: float) -> float:
    """Width of the interval between order statistics."""
    n, ordered = len(x), np.sort(x)
    z = 1.96 * np.sqrt(n * p * (1 - p))
    low, high = int(np.floor(n * p - z)), int(np.ceil(n * p + z))
    return float(ordered[min(high, n - 1)] - ordered[max(low, 0)])


def cell(name: str, n: int, p: float, words: dict[str, Any], neighbors: Any, repeats: int) -> str:
    """Return a line; with KEPT, that of ends which is there, by its first three columns."""
    schema, draw = SHAPES[name]
    rng = np.random.default_rng(1)
    truth = np.quantile(draw(np.random.default_rng(0), 2_000_001), p, method="inverted_cdf")
    query = tc.Quantiles("x", [p])
    shape = designed(query, schema, n if neighbors == "replace-one" else None, neighbors, **words)
    cuts = shape.columns[0].form.name == "cuts"
    head = f"| {name}, {n:,} | {p:g} | {Cost.of(**words)}, {neighbors} | {'cuts' if cuts else 'ends'} "
    if not cuts and head in KEPT:
        return KEPT[head]
    if not cuts:
        checked(split(shape)[0][0], draw(rng, n), 5)
    held, width, bare = 0, [], []
    repeats = repeats // 5 if n >= 50_000 else repeats
    for _ in range(repeats):
        x = draw(rng, n)
        found = simulated(query, shape, x, rng)
        if found.reasons[0] is not None:  # the bounds of the column: no interval is claimed
            continue
        low, high = found.conf_int()
        held += low <= truth <= high
        width.append(high - low)
        bare.append(plain(x, p))
    few, answers = repeats - len(width), len(width)
    if answers < repeats / 20:
        return f"{head}| – | – | {100 * few / repeats:.0f} |"
    error = 200 * np.sqrt(0.05 * 0.95 / answers)
    relative = f"{np.mean(width) / np.mean(bare):.2f}" if np.mean(bare) > 0 else f"{np.mean(width):.2g} wide"
    return f"{head}| {100 * held / answers:.1f} ± {error:.1f} | {relative} | {100 * few / repeats:.0f} |"


def cells(repeats: int) -> Iterator[str]:
    yield HEAD
    for words in PRICES:
        for neighbors in ("replace-one", "add-remove"):
            yield cell("lognormal on [-5, 15]", 1_000, 0.5, words, neighbors, repeats)
    for name in [name for name in SHAPES if name not in UNSEEN]:
        for n in (200, 1_000, 10_000, 50_000) if name == "median at a gap" else (200, 1_000, 10_000):
            for p in (0.5, 0.9):
                yield cell(name, n, p, {"rho": 0.05}, "replace-one", repeats)
    for name in UNSEEN:
        for n, epsilon in UNSEEN_SIZES:
            for p in (0.25, 0.5, 0.9):
                yield cell(name, n, p, {"epsilon": epsilon}, "replace-one", repeats)


INTRODUCTION = """# Coverage of quantiles

How often the 95% interval of a quantile holds the truth, when tables are drawn anew and released anew. Written by
`python benchmarks/quantiles.py`: {repeats:,} simulations a cell, a fifth of that where n = 50,000.

*Flagged as too few*: releases with the reason that their rows are few for the price. Their interval is that of the
column's bounds; coverage and width are of the others, where there are any.

*Way*: three steps selected at and on either side of the quantile (ends), or, of few rows at a low price, cuts of the
column with noisy numbers of rows between them, of which nothing is assumed (cuts); chosen from public facts.

The interval of selected ends assumes rows close together around the quantile. *Median at a gap* is what happens where
they are not: 51% of the rows lie left of a wide gap, so an end may be selected within it. The error dies out as n
grows. The table is older than the rule on steps out of order, which finds most of it ([quantiles at
gaps](quantile-gaps.md)). The last four shapes were written down after the method was chosen; the allowance near the
last rows was raised once more after that, for the heaps.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int, default=2_000)
    parser.add_argument("--cuts", action="store_true", help="simulate lines of cuts, and keep those of ends")
    options = parser.parse_args()
    if options.cuts:
        lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
        KEPT.update({"|".join(line.split("|")[:5]): line for line in lines})
    repeats, start = (50 if options.quick else options.repeats), time.monotonic()
    page = [INTRODUCTION.format(repeats=repeats)]
    for line in cells(repeats):
        print(line, flush=True)
        page.append(line)
    if not options.quick:
        PAGE.write_text("\n".join(page) + "\n", encoding="utf-8")
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
