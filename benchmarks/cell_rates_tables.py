"""The sections of `rules_in_print` about Lei's bandwidths and rates; what is drawn, and the design: `cell_rates`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from cell_rates import (
    ALPHAS,
    ONE_ALPHA,
    ONE_SIZE,
    OURS_OF,
    REGRESSIONS,
    RULES,
    SIZES,
    automatic_bins,
    clipped_bins,
    columns,
    errors,
    smooth_bins,
)

SHOWN = ((1_000, 1), (10_000, 1), (10_000, 2), (10_000, 3), (100_000, 2), (250_070, 2))


def bins_table() -> list[str]:
    """Published bins of each column, and the automatic ones at several prices."""
    lines = ["| n | d | Theorems 3, 4 | Theorem 5 | auto, α = 0.1 | auto, α = 1 | n/c: Theorem 4 | n/c: auto, α = 1 |"]
    lines.append("| ---: " * 8 + "|")
    for n, d in SHOWN:
        theirs, clipped = smooth_bins(n, d), clipped_bins(n, d)
        low, high = (automatic_bins(n, alpha, d) for alpha in (0.1, 1.0))
        rows = f"{n / theirs**d:,.1f} | {n / high**d:,.1f}"
        lines.append(f"| {n:,} | {d} | {theirs} | {clipped} | {low} | {high} | {rows} |")
    return lines


def _fitted(x: list[float], y: list[float]) -> float:
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def rates_table(repeats: int) -> list[str]:
    """Root mean squared errors and their slopes, by problem and rule."""
    head = ["problem", "rule", *(f"n = {n:,}" for n in SIZES), "slope in n", "in print"]
    head += [*(f"α = {a:g}" for a in ALPHAS), "slope in α"]
    lines = ["| " + " | ".join(head) + " |", "| --- | --- " + "| ---: " * (len(head) - 2) + "|"]
    for p, problem in enumerate([*REGRESSIONS, "median"]):
        found: dict[int, dict[Any, float]] = {}
        for i, n in enumerate(SIZES):
            alphas = ALPHAS if n == ONE_SIZE else (ONE_ALPHA,)
            found[n] = errors(problem, n, alphas, repeats, 34_000 + 10 * p + i)
        plain = [found[n]["rows"] for n in SIZES]
        cells = " | ".join(f"{one:.2g}" for one in plain)
        lines.append(f"| {problem} | rows, not private | {cells} | {_fitted([*SIZES], plain):+.2f} | | | | | |")
        for rule in RULES:
            if problem not in rule.problems:
                continue
            sizes = [found[n][rule.name, ONE_ALPHA] for n in SIZES]
            prices = [found[ONE_SIZE][rule.name, alpha] for alpha in ALPHAS]
            rate = ""
            if rule.rate is not None:
                rate = f"{_fitted([*SIZES], [rule.rate(n, columns(problem)) for n in SIZES]):+.2f}"
            words = [problem, rule.name, *(f"{one:.2g}" for one in sizes), f"{_fitted([*SIZES], sizes):+.2f}", rate]
            words += [*(f"{one:.2g}" for one in prices), f"{_fitted([*ALPHAS], prices):+.2f}"]
            lines.append("| " + " | ".join(words) + " |")
    return lines


def cells_part(repeats: int) -> list[str]:
    """The two sections of the page."""
    bins = """## Lei (2011), bandwidths

Bins of each of d columns: in print h = (√log n / n)^(2/(2+d)) for Theorems 3 and 4 and Corollary 6, (log n/n)^(1/(1+d))
for Theorem 5, with constants left open (1 here) and without the price in them; beside them `bins="auto"`, by
(nα)^(2/(d+6)) ([theory](../explanation/theory.md)). The last columns are rows of a cell. The paper itself takes 10 bins
for its n = 250,070, its rule without the logarithm being 500.
"""
    least = repeats // OURS_OF
    doubt = [100 / math.sqrt(2 * tables) for tables in (repeats, least)]
    rates = f"""
## Lei (2011), Theorems 3–5 and Corollary 6

*Logistic* is the paper's example, P(y = 1) = logistic(2x), one coefficient, x uniform; *line 2* and *plane 3* are least
squares of a response in [0, 1] on one or two uniform regressors, d = 2 and 3 columns in bins; *median* is that of
Beta(2, 5). Root mean squared errors against the truth ({repeats} tables, {least} for the automatic bins; the
relative Monte-Carlo error of an entry is about {doubt[0]:.0f}% and {doubt[1]:.0f}%). Theorem 3 minimises the integral
over cells, Theorem 4 takes cells as their centres (the paper's Algorithm 1), Theorem 5 clips counts at 0
(Algorithm 1′). Rows vary at α = {ONE_ALPHA:g}, prices at n = {ONE_SIZE:,}. *In print* is the slope of the printed
rate, logarithms included, over the same sizes: an upper bound, so that a steeper fall agrees with it.
"""
    tail = """
Errors fall at least about as fast as printed. At the bandwidth of Theorems 3 and 4 the noise of so many cells is most
of the error of a regression in two or three columns, at α = 1 too, so that it grows at least as 1/α; whether cells are
integrated or taken as centres matters little. That of Theorem 5 has fewer cells and, for all its slower rate in print
and its clipping, the smaller error at these sizes. Automatic bins, corrected for binning, are better still with one or
two columns, above all at small α, which the published bandwidths leave out. With three columns, few rows and
α = 1 they are not: round widths make 10 bins of the 8 that their rule asks for at n = 10,000, and that is nearly five
times the cells of Theorem 5."""
    return [bins, *bins_table(), rates, *rates_table(repeats), tail]
