"""Variances of blocks by resampling beside the variance between blocks: coverage, width, and what a table takes.

    python benchmarks/block_resamples.py [--repeats 2000] [--quick] [--parts rates medians …]

Writes docs/reference/block-resamples.md, part by part, in half an hour.  Tables are drawn, answered with simulated
noise and estimated (`tacit.testing.coverage`); seeds are constants, and every way meets the same tables.  Little
bootstraps draw as many rows as the table has for each resample: they are simulated a fifth as often, and only where
blocks are few; shapes, which are searched for, a fourth as often.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from pages import Part, asked, part_by_part

import tacit as tc

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "block-resamples.md"
INTRO = """# The variance of blocks by resampling

`SampleAndAggregate` releases the mean of the estimates in k blocks of rows. Its sampling error follows from the
variance between the blocks, or, with `variance=`, from resamples of the rows within each block: the bag of little
bootstraps, m-out-of-n bootstraps, or subsamples. All ways cost the same, the price of the means, and have the same
noise in them. They differ in the noise of the variance. That between blocks is found from squares, which reach over
the whole box; a block's own variance is a small number, released in small units. So the ways by resampling have a
quarter of that noise (an eighth in pure ε). They suppose that the variance of an estimate is in proportion to one
over its rows, and that rows within a block are drawn independently, as blocks themselves do.

With 10 to 25 blocks the noise of the variance between them makes intervals far too wide, and they cover too often;
those by resampling are 31 to 46% narrower, and cover as they should. With 53 blocks or more they are up to a tenth
narrower. No way counts what the correction leaves of the bias of short blocks. The three ways by resampling
differ in nothing but time: m-out-of-n bootstraps or subsamples are enough.

Each row is of n rows in k blocks at ε; of 2,000 rows a statistic has 53 blocks by default at ε = 5 and 100 at ε = 1.
Little bootstraps have a fifth of the repetitions, and are left out where a table takes seconds; shapes have a fourth.
*No clear answer*: share of tables without an interval. ± is twice the Monte-Carlo error. Seconds are for one table on
the machine that wrote this page, compiled code included. Written by `python benchmarks/block_resamples.py`.
"""
HEAD = (
    "| rows | blocks | ε | variance | coverage, % | width | no clear answer, % | seconds |\n|---:|---:|---:|---|"
    + "---:|" * 4
)

# The designs: committed before anything was simulated ---------------------------------------------------------------

FIFTH: Final = 5
FEW: Final = 60_000
"""Most rows times blocks with little bootstraps: beyond, a table takes seconds."""
SEARCHED: Final = 4
"""Shapes are searched for, and simulated so many times less often."""
WAYS: Final = ("blocks", "little-bootstraps", "m-out-of-n", "subsampling")
SHORT: Final = ((2_000, 10, 5.0), (2_000, 25, 5.0), (2_000, 53, 5.0), (2_000, 100, 1.0))
"""Rows, blocks and epsilon; 53 and 100 blocks are the default for a statistic."""


@dataclass(frozen=True)
class Case:
    """A question without its blocks, rows to draw and the true value of its first parameter."""

    what: tuple[str, ...]
    model: object
    draw: Callable[[int, np.random.Generator], dict[str, np.ndarray]]
    truth: tuple[float, ...]
    designs: tuple[tuple[int, int, float], ...]


def waits(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return exponential rows of rate 2."""
    return {"x": rng.exponential(0.5, n)}


def skewed(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return log-normal rows of median 1."""
    return {"x": rng.lognormal(0, 1, n)}


def gammas(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return gamma rows of shape 2 and rate 1.5."""
    return {"x": rng.gamma(2, 1 / 1.5, n)}


CASES: Final = {
    "rates": (
        "Rate of exponential rows, 2 in a box from 0.5 to 5",
        Case(("x",), tc.families.Exponential(rate=(0.5, 5)), waits, (2.0,), SHORT),
    ),
    "medians": (
        "Median of log-normal rows, 1 in a range from 0 to 3, corrected by halves",
        Case(("x",), tc.Statistic("median", median=(0, 3)), skewed, (1.0,), SHORT),
    ),
    "shapes": (
        "Shape of gamma rows, 2 in a box from 0.5 to 5, with the rate; blocks of 80 rows",
        Case(("x",), tc.families.Gamma(shape=(0.5, 5), rate=(0.1, 5)), gammas, (2.0, 1.5), ((2_000, 25, 5.0),)),
    ),
}
# End of the designs -------------------------------------------------------------------------------------------------


def line(case: Case, at: tuple[int, int, float], way: str, repeats: int) -> str:
    """Return a row of a table: one design, answered one way."""
    n, k, epsilon = at
    query = tc.SampleAndAggregate(case.what, case.model, blocks=k, variance=way)
    repeats = repeats // FIFTH if way == "little-bootstraps" and case.designs == SHORT else repeats
    begun = time.perf_counter()
    found = tc.testing.coverage(query, partial(case.draw, n), case.truth, epsilon=epsilon, repeats=repeats, rng=n + k)
    took = (time.perf_counter() - begun) / repeats
    hit, error, none = (100 * float(one[0]) for one in (found.coverage, 2 * found.coverage_error, found.unclear))
    cells = (f"{n:,}", f"{k:,}", f"{epsilon:g}", way, f"{hit:.1f} ± {error:.1f}", f"{found.width[0]:.3f}")
    made = f"| {' | '.join(cells)} | {none:.1f} | {took:.3f} |"
    print(made, flush=True)
    return made


def lines(case: Case, at: tuple[int, int, float], repeats: int) -> str:
    """Return the rows of one design."""
    ways = [way for way in WAYS if at[0] * at[1] <= FEW or way != "little-bootstraps"]
    return "\n".join(line(case, at, way, repeats) for way in ways)


def part(name: str, repeats: int) -> Sequence[Part]:
    """Return a heading and the designs of one case."""
    words, case = CASES[name]
    repeats = repeats // SEARCHED if name == "shapes" else repeats
    return [f"## {words}\n", HEAD, *(partial(lines, case, at, repeats) for at in case.designs)]


if __name__ == "__main__":
    made = {name: partial(part, name) for name in CASES}
    part_by_part(asked(__doc__, made, 2_000), PAGE, "block_resamples.py", made, INTRO)
