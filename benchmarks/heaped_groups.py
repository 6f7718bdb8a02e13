"""Quantiles of values in tens, by group: a part of docs/reference/quantile-drawn.md.

    python benchmarks/heaped_groups.py [--repeats 60]

Whole releases from rows, each of a table drawn anew.  The law was written down when the ends of quantiles had been set
on other designs, of one group, and simulated for this page after that.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from pages import put

import tacit as tc

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "quantile-drawn.md"
VALUES: Final = np.arange(0.0, 101.0, 10.0)
WEIGHTS: Final = np.array([5, 10, 15, 51, 8, 5, 3, 1, 1, 0.5, 0.5])
GROUPS: Final = ("a", "b", "c", "d")
PRICES: Final[tuple[dict[str, float], ...]] = ({"rho": 0.05}, {"epsilon": 1.0}, {"epsilon": 1.0, "delta": 1e-6})
CASES: Final = ((1_000, 0.3), (1_000, 0.81), (300, 0.5))
"""Rows of a group, and the probability of the quantile."""


@dataclass(frozen=True)
class Cell:
    """What releases of one case at one price said: answers, those that hold the truth, reasons, and the mean width."""

    answers: int
    held: int
    reasons: int
    width: float


def truth(p: float) -> float:
    return float(VALUES[np.searchsorted(np.cumsum(WEIGHTS) / WEIGHTS.sum(), p - 1e-12)])


def simulated(rows: int, p: float, price: dict[str, float], repeats: int) -> Cell:
    schema = tc.Schema({"x": tc.Real(0, 100), "g": tc.Category(list(GROUPS))})
    rng, wanted = np.random.default_rng([rows, round(100 * p)]), truth(p)
    held, reasons, widths = 0, 0, list[float]()
    for _ in range(repeats):
        x = rng.choice(VALUES, rows * len(GROUPS), p=WEIGHTS / WEIGHTS.sum())
        table: dict[str, Any] = {"x": x, "g": np.repeat(GROUPS, rows)}
        whole = tc.Budget(**{name: max(value, 1e-6) for name, value in price.items()})
        found = tc.Curator(table, schema, budget=whole).release(tc.Quantiles("x", [p], by="g"), **price).estimate()
        limits = np.asarray(found.conf_int(), dtype=np.float64)
        for (low, high), why in zip(limits, found.reasons, strict=True):
            if why:
                reasons += 1
                continue
            held += bool(low - 1e-9 <= wanted <= high + 1e-9)
            widths.append(float(high - low))
    return Cell(len(widths), held, reasons, float(np.mean(widths)) if widths else float("nan"))


def page(repeats: int) -> str:
    out = [
        "## Tens, by group",
        f"\nFour groups of values in tens, of which 51% are 30; {repeats} whole releases a line, so that {4 * repeats} "
        "intervals are judged. Replace-one.\n",
        "| rows of a group | probability | price | held, % | with a reason, % | mean width |",
        "|---:|---:|---|---:|---:|---:|",
    ]
    for rows, p in CASES:
        for price in PRICES:
            one = simulated(rows, p, price, repeats)
            said = ", ".join(f"{name} = {value:g}" for name, value in price.items())
            share = f"{100 * one.held / one.answers:.1f}" if one.answers else "–"
            silent = 100 * one.reasons / (one.answers + one.reasons)
            out.append(f"| {rows:,} | {p:g} | {said} | {share} | {silent:.0f} | {one.width:.1f} |")
            print(out[-1], flush=True)
    return "\n".join(out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=60)
    put(PAGE, "heaped_groups.py", page(parser.parse_args().repeats))
