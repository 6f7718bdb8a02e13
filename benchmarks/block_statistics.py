"""Statistics of blocks: coverage of medians, middle means and correlations, and what a process for each block costs.

    python benchmarks/block_statistics.py [--quick]

Writes docs/reference/blocks.md.  2,000 tables a row, drawn, released with simulated noise and estimated; seeds are
constants.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pages import put
from scipy import stats

import tacit as tc
from tacit.method.blocks.mechanism_user_statistics import statistics
from tacit.method.shared.block_numbers import blocks_for

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "blocks.md"
SIZES = ((10_000, 1, None), (10_000, 1, 200), (100_000, 1, None))
WAYS = ("none", "split-half")
HEAD = "| statistic | n | ε | blocks | rows | as it is: bias ÷ SD | SE ÷ SD | coverage, % | width "
HEAD += "| halves: bias ÷ SD | SE ÷ SD | coverage, % | width |\n" + "|---" + "|---:" * 12 + "|"
T3 = stats.t(3)


@dataclass(frozen=True)
class Case:
    """A statistic, rows to draw, its true value, and the standard error of the statistic of all rows times √n."""

    label: str
    model: tc.Statistic
    draw: Callable[[np.random.Generator, int], dict[str, np.ndarray]]
    truth: float
    error: float


def normal_pair(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    x, z = rng.standard_normal((2, n))
    return {"x": x, "y": 0.5 * x + np.sqrt(0.75) * z}


def heavy(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    return {"x": rng.standard_t(3, n)}


def waits(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    return {"x": rng.exponential(1, n)}


def trimmed_error() -> float:
    """Return the error of the middle mean under Student's t, 3 df: winsorised standard deviation over the share that
    is kept.
    """
    q = T3.ppf(0.75)
    inside = T3.expect(lambda x: x**2, lb=-q, ub=q)
    return float(np.sqrt(inside + 0.5 * q**2) / 0.5)


CASES = [
    Case("median, exponential rows", tc.Statistic("median", m=(0, 3)), waits, float(np.log(2)), 1.0),
    Case("midmean, Student t rows (3 df)", tc.Statistic("midmean", m=(-3, 3)), heavy, 0.0, trimmed_error()),
    Case("correlation 0.5, normal rows", tc.Statistic("correlation", r=(-1, 1)), normal_pair, 0.5, 0.75),
]


def line(case: Case, n: int, epsilon: float, blocks: int | None, repeats: int) -> str:
    k = blocks or blocks_for(n, epsilon, 1)  # a statistic says nothing of its width or of its bias
    cells = [case.label, f"{n:,}", f"{epsilon:g}", f"{k:,}", f"{n / k:.0f}"]
    for way in WAYS:
        cells += found(case, n, epsilon, blocks, repeats, way)
    return f"| {' | '.join(cells)} |"


def found(case: Case, n: int, epsilon: float, blocks: int | None, repeats: int, way: str) -> list[str]:
    query = tc.SampleAndAggregate(list(case.draw(np.random.default_rng(0), 2)), case.model, blocks=blocks, bias=way)
    made = tc.testing.coverage(
        query, lambda rng: case.draw(rng, n), case.truth, epsilon=epsilon, repeats=repeats, rng=1
    )
    sd = made.std_deviation[0]
    best = 2 * stats.norm.ppf(0.975) * case.error / np.sqrt(n)
    cells = [f"{made.bias[0] / sd:+.2f}", f"{made.std_error[0] / sd:.2f}"]
    return [*cells, f"{100 * made.coverage[0]:.1f}", f"{made.width[0] / best:.2f}"]


def trimmed(rows: np.ndarray) -> float:
    ordered = np.sort(rows)
    cut = len(rows) // 4
    return float(ordered[cut : len(rows) - cut].mean())


def costs(blocks: int) -> str:
    """Return a sentence with the seconds of one statistic by name, by a loop in this process, and with a process for
    each block.
    """
    rng = np.random.default_rng(2)
    values = np.sort(rng.standard_normal((blocks, 1_000)), axis=1)[:, :, None]
    sizes = np.full(blocks, 1_000)
    named, own = tc.Statistic("midmean", m=(-1, 1)), tc.Statistic(trimmed, m=(-1, 1))
    seconds: list[float] = []
    for run in (
        lambda: statistics(named, values, sizes),
        lambda: [trimmed(one[:, 0]) for one in values],
        lambda: statistics(own, values, sizes),
    ):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    first, loop, each = seconds
    return (
        f"The middle mean of {blocks:,} blocks of 1,000 rows: {first:.2f} s by name, {loop:.2f} s in a loop of one\n"
        f"process, {each:.1f} s as a function with a process for each block, {1e3 * each / blocks:.1f} ms each\n"
        f"({os.cpu_count()} cores, load {os.getloadavg()[0]:.0f})."
    )


def page(lines: dict[tuple[int, int], str], cost: str, repeats: int) -> str:
    """Return this script's part of the page, from the lines that are known."""
    parts = [
        "## Statistics of blocks\n",
        "Any function of a block's rows (`tc.Statistic`). As a default each block's number is corrected by those of",
        'its two halves (*halves*, `bias="split-half"`); on the left is the statistic as it is (`bias="none"`), whose',
        "bias in small blocks is in no interval: where *bias ÷ SD* is not small, intervals are about another number",
        "than the statistic of all rows, and fewer blocks (`blocks=`) reduce it, too. *Rows*: of a block;",
        f"*width*: of the 95% interval over that of the statistic of all rows without privacy. {repeats:,} tables",
        "a row (coverage ± 0.5 %).\n",
        HEAD,
        *(lines[key] for key in sorted(lines)),
        "",
        cost,
    ]
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    repeats = 100 if quick else 2_000
    lines: dict[tuple[int, int], str] = {}
    cost = costs(400 if quick else 1_000)
    for j, (n, epsilon, blocks) in enumerate(SIZES[:2] if quick else SIZES):
        for i, case in enumerate(CASES):
            lines[i, j] = line(case, n, epsilon, blocks, repeats)
            print(lines[i, j], flush=True)
        if not quick:
            put(PAGE, "block_statistics.py", page(lines, cost, repeats))


if __name__ == "__main__":
    main()
