"""Functions of estimates by the parametric bootstrap: the table of docs/reference/function-bootstrap.md.

    python benchmarks/function_bootstrap.py [--repeats 1000] [--every 1]

Coverage of 95% intervals of functions of two groups' means, from releases of one table of many groups.  The designs
were committed before any of them was simulated.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from pages import Part, asked, part_by_part
from scipy import stats
from selected_answers import GROUPS, LEAST, Law, of, share, tables

import tacit as tc

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "function-bootstrap.md"
DRAWS = 999
WAYS = ("percentile", "basic", "bias-corrected")
LAWS = {
    "share .5": share(0.5),
    "share .1": share(0.1),
    "share .02": share(0.02),
    "Beta(2, 2)": of(stats.beta(2, 2)),
    "Beta(1, 30)": of(stats.beta(1, 30)),
    "Beta(40, 2)": of(stats.beta(40, 2)),
}
"""Laws of rows in a column declared from 0 to 1."""
PAIRS = (
    ("share .5", "share .5"),
    ("share .1", "share .5"),
    ("share .02", "share .1"),
    ("Beta(2, 2)", "Beta(2, 2)"),
    ("Beta(1, 30)", "Beta(2, 2)"),
    ("Beta(40, 2)", "Beta(2, 2)"),
)
FUNCTIONS: Mapping[str, Callable[[float, float], float]] = {
    "a / b": lambda a, b: a / b,
    "log(a / b)": lambda a, b: math.log(a / b),
    "exp(a - b)": lambda a, b: math.exp(a - b),
    "odds ratio": lambda a, b: a * (1 - b) / (b * (1 - a)),
    "a² + b²": lambda a, b: a * a + b * b,
}
SIZES = (200, 2_000)
PRICES = ("epsilon=0.5", "epsilon=2", "rho=0.02", "rho=0.5")
HEAD = (
    "| function | a | b | rows of each | price | percentile, % | basic, % | bias-corrected, % "
    "| no finite interval, % |\n"
    "|---|---|---|---:|---|---:|---:|---:|---:|"
)
INTRO = """# Functions of estimates

Coverage of 95% intervals of functions of the means of two groups by `estimate.bootstrap(…)`, with 999 draws, given
that it is finite, in a column declared from 0 to 1; rows are a sample, neighbours replace one row.  ± is twice the
error of the simulation; bold is clearly below 93%.  Written by `python benchmarks/function_bootstrap.py`, whose designs
were committed before one of them was simulated.
"""


def cell(name: str, one: str, other: str, n: int, said: str, repeats: int) -> str:
    """Return the row of one function of one pair of laws: a table has many groups of both, taken in pairs."""
    a, b, function = LAWS[one], LAWS[other], FUNCTIONS[name]
    half, truth = GROUPS // 2, function(a.mean, b.mean)
    law = Law(lambda rng, size: np.concatenate([a.draw(rng, size // 2), b.draw(rng, size // 2)]), 0, 0, a.share)
    seed = zlib.crc32(f"{name} {one} {other} {n} {said}".encode())
    hits: list[list[float]] = []
    for made in tables(tc.Mean("x", by="g"), law, n, said, 2 * repeats):
        for i in range(half):
            pair = made[[f"g{i}", f"g{half + i}"]]
            found = {
                way: pair.bootstrap(lambda m: function(*m.values()), draws=DRAWS, method=way, rng=seed + i)
                for way in WAYS[:2]
            }
            found[WAYS[2]] = replace(found[WAYS[0]], method=WAYS[2])
            limits = [found[way].intervals()[0] for way in WAYS]
            finite = all(np.isfinite(pair).all() for pair in limits)
            hits.append([float(low <= truth <= high) if finite else math.nan for low, high in limits])
            if len(hits) == repeats:
                break
    hit = np.array(hits)
    known = ~np.isnan(hit[:, 0])
    words = [name, one, other, f"{n:,}", said.replace("=", " = ")]
    missing = f"{100 * (1 - known.mean()):.0f}"
    if known.sum() < 50:
        return "| " + " | ".join((*words, "", "", "", missing)) + " |"
    held = hit[known].mean(axis=0)
    error = 200 * np.sqrt(np.maximum(held * (1 - held), 0.25 / known.sum()) / known.sum())
    shown = [f"{100 * p:.1f} ± {e:.1f}" for p, e in zip(held, error, strict=True)]
    shown = [f"**{text}**" if 100 * p + e < LEAST else text for text, p, e in zip(shown, held, error, strict=True)]
    return "| " + " | ".join((*words, *shown, missing)) + " |"


def parts(repeats: int) -> list[Part]:
    some = [(name, *pair, n, said) for name in FUNCTIONS for pair in PAIRS for n in SIZES for said in PRICES]
    return [INTRO, HEAD, *(partial(cell, *one, repeats) for one in some)]


def main() -> None:
    part_by_part(asked(__doc__, ["functions"], 1_000), PAGE, "function_bootstrap.py", {"functions": parts}, "")


if __name__ == "__main__":
    main()
