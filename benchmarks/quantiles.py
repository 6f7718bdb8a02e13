"""Coverage and width of private quantiles: the table of docs/reference/quantiles.md.

    python benchmarks/quantiles.py [--quick]

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

import tacit as tc
from tacit.privacy import Cost
from tacit.testing.simulated_quantiles import simulate_quantiles

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
}
PRICES: tuple[dict[str, Any], ...] = ({"rho": 0.5}, {"rho": 0.1}, {"rho": 0.01}, {"epsilon": 1})
HEAD = (
    "| shape, n | p | price, relation | coverage, % | width, no privacy = 1 | flagged as too few, % |\n"
    "|---|---:|---|---:|---:|---:|"
)


def plain(x: np.ndarray, p: float) -> float:
    """Width of the interval between order statistics."""
    n, ordered = len(x), np.sort(x)
    z = 1.96 * np.sqrt(n * p * (1 - p))
    low, high = int(np.floor(n * p - z)), int(np.ceil(n * p + z))
    return float(ordered[min(high, n - 1)] - ordered[max(low, 0)])


def cell(name: str, n: int, p: float, words: dict[str, Any], neighbors: Any, repeats: int) -> str:
    schema, draw = SHAPES[name]
    rng = np.random.default_rng(1)
    truth = np.quantile(draw(np.random.default_rng(0), 2_000_001), p, method="inverted_cdf")
    held, width, bare, few = 0, [], [], 0
    for _ in range(repeats):
        x = draw(rng, n)
        found = simulate_quantiles(tc.Quantiles("x", [p]), {"x": x}, schema, rng=rng, neighbors=neighbors, **words)
        low, high = found.conf_int()
        held += low <= truth <= high
        width.append(high - low)
        bare.append(plain(x, p))
        few += found.reasons[0] is not None
    error = 200 * np.sqrt(0.05 * 0.95 / repeats)
    relative = f"{np.mean(width) / np.mean(bare):.2f}" if np.mean(bare) > 0 else f"{np.mean(width):.2g} wide"
    return (
        f"| {name}, {n:,} | {p:g} | {Cost.of(**words)}, {neighbors} | {100 * held / repeats:.1f} ± {error:.1f} "
        f"| {relative} | {100 * few / repeats:.0f} |"
    )


def cells(repeats: int) -> Iterator[str]:
    yield HEAD
    for words in PRICES:
        for neighbors in ("replace-one", "add-remove"):
            yield cell("lognormal on [-5, 15]", 1_000, 0.5, words, neighbors, repeats)
    for name in SHAPES:
        for n in (200, 1_000, 10_000, 50_000) if name == "median at a gap" else (200, 1_000, 10_000):
            for p in (0.5, 0.9):
                yield cell(name, n, p, {"rho": 0.05}, "replace-one", repeats)


INTRODUCTION = """# Coverage of quantiles

How often the 95% interval of a quantile holds the truth, when tables are drawn anew and released anew. Written by
`python benchmarks/quantiles.py`: {repeats:,} simulations a cell.

*Flagged as too few*: releases that carry the reason that their rows are few for the price. There steps far from all
rows are selected, and an interval may be long or wrong.

The interval assumes rows close together around the quantile. *Median at a gap* is what happens where they are not:
51% of the rows lie left of a wide gap, so an end may be selected within it. The error dies out as n grows.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    repeats, start = (200 if options.quick else 2_000), time.monotonic()
    page = [INTRODUCTION.format(repeats=repeats)]
    for line in cells(repeats):
        print(line, flush=True)
        page.append(line)
    if not options.quick:
        PAGE.write_text("\n".join(page) + "\n", encoding="utf-8")
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
