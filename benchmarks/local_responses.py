"""Randomised answers: variance against theory, coverage and width of intervals, beside a curator's noise.

    python benchmarks/local_responses.py --repeats 50000

Writes the tables of docs/reference/local.md in a minute.  The designs, all combinations of sizes, prices and shares
below, were committed before one of them was simulated.  Seeds are constants.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pages import by_repeats

import tacit as tc
from tacit.local.binomial_limits import limits
from tacit.local.response_design import ResponseDesign

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "local.md"
SIZES: Final = (50, 1_000, 100_000)
EPSILONS: Final = ("0.2", "1", "4")
SHARES: Final = (0.005, 0.1, 0.5)
LEVELS: Final = 8
GEOMETRIC: Final = 0.6
"""Shares of several levels fall by this factor."""
Floats = NDArray[np.float64]


def intervals(design: ResponseDesign, counts: Floats, n: int, part: float | Floats) -> Floats:
    """Return limits of the share for each count, shape (repeats, 2)."""
    p, q = float(design.channel.own), float(design.channel.wrong)
    if isinstance(part, float):
        values, back = np.unique(counts, return_inverse=True)
        found = limits(values, np.full(len(values), float(n)), 0.95, part)[back]
    else:
        found = limits(counts, np.full(len(counts), float(n)), 0.95, part)
    return np.clip((found - q) / (p - q), 0, 1)


def binary(repeats: int) -> Iterator[str]:
    """Yield the lines of Warner's design."""
    heads = ("n", "ε", "share", "variance ÷ theory", "mid-p", "exact", "randomised")
    yield f"| {' | '.join(heads)} | width, mid-p | of true answers | curator, same ε |"
    yield "|" + "---:|" * 10
    rng = np.random.default_rng(2026)
    for n in SIZES:
        for epsilon in EPSILONS:
            design = tc.local.Warner(epsilon)
            p, q = float(design.channel.own), float(design.channel.wrong)
            for share in SHARES:
                yes = rng.binomial(n, share, repeats)
                counts = (rng.binomial(yes, p) + rng.binomial(n - yes, q)).astype(np.float64)
                plan = design.plan(n, share=share)
                ratio = ((counts / n - q) / (p - q)).var() / plan.std_error**2
                ways = {
                    "mid-p": intervals(design, counts, n, 0.5),
                    "exact": intervals(design, counts, n, 1.0),
                    "randomised": intervals(design, counts, n, rng.random(repeats)),
                }
                cover = [f"{100 * np.mean((w[:, 0] <= share) & (share <= w[:, 1])):.1f}" for w in ways.values()]
                width = float(np.mean(ways["mid-p"][:, 1] - ways["mid-p"][:, 0]))
                z = 2 * 1.959964
                yield (
                    f"| {n:,} | {epsilon} | {share:g} | {ratio:.3f} | {' | '.join(cover)} | {width:.3f} "
                    f"| {z * plan.sampling:.3f} | {z * plan.central:.3f} |"
                )


def several(repeats: int) -> Iterator[str]:
    """Yield the lines of the designs for several levels."""
    yield "| design | n | ε | variance ÷ theory, worst level | coverage, lowest | highest | SE of the rarest level |"
    yield "|---|" + "---:|" * 6
    rng = np.random.default_rng(7)
    names = [str(i) for i in range(LEVELS)]
    shares = GEOMETRIC ** np.arange(LEVELS)
    shares /= shares.sum()
    makers: Any = (tc.local.KaryResponse, tc.local.UnaryEncoding, tc.local.SubsetSelection)
    for maker in makers:
        for n in (1_000, 100_000):
            for epsilon in EPSILONS:
                design = maker(names, epsilon)
                p, q = float(design.channel.own), float(design.channel.wrong)
                truth = rng.multinomial(n, shares, repeats)
                # a level's support: of its own people with p, of all others with q, each person by itself
                counts = (rng.binomial(truth, p) + rng.binomial(n - truth, q)).astype(np.float64)
                theory = np.diag(design.channel.support_covariance(shares)) / n / (p - q) ** 2
                ratio = ((counts / n - q) / (p - q)).var(axis=0) / theory
                worst = ratio[np.argmax(np.abs(np.log(ratio)))]
                cover = []
                for j in range(LEVELS):
                    found = intervals(design, counts[:, j], n, 0.5)
                    cover.append(100 * np.mean((found[:, 0] <= shares[j]) & (shares[j] <= found[:, 1])))
                yield (
                    f"| {design.name} | {n:,} | {epsilon} | {worst:.3f} | {min(cover):.1f} | {max(cover):.1f} "
                    f"| {math.sqrt(theory[-1]):.4f} |"
                )


def page(repeats: int) -> str:
    """Return the part of the page."""
    error = 100 * math.sqrt(0.05 * 0.95 / repeats)
    return f"""
## Coverage

{repeats:,} simulations a cell, of people and of their answers; 2 standard errors of simulation: coverage
±{2 * error:.1f} points, variance ±{200 * math.sqrt(2 / repeats):.1f}%. *Exact* limits never cover less than 95%,
*mid-p* ones (the default) are near it on average, *randomised* ones are exactly at it by one more random number. Where
few answers are rare, counts are few whole numbers, and no other limits could be at 95% for every share.

A yes or no, Warner's design:

{chr(10).join(binary(repeats))}

{LEVELS} levels whose shares fall by a factor {GEOMETRIC} each, mid-p limits of all of them:

{chr(10).join(several(repeats))}
"""


if __name__ == "__main__":
    by_repeats(PAGE, "local_responses.py", __doc__, page)
