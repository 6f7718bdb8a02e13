"""Differences of means and of shares: the table of docs/reference/contrasts.md.

    python benchmarks/contrasts.py [--repeats 2000] [--every 1]

Coverage of differences of two groups by the law of the total error alone (symmetric) and by errors that each term has
of its own on either side, from the same releases.  The designs were committed before any of them was simulated.
"""

from __future__ import annotations

import math
import time
import zlib
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from pages import Part, asked, put, thinned, worked
from scipy import stats
from selected_answers import GROUPS, LEAST, Law, of, price, share, tables

import tacit as tc
from tacit.estimates.total_errors import error_laws
from tacit.estimates.verbs.contrasts import combine
from tacit.testing import simulate

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "contrasts.md"
LAWS = {
    "share .5": share(0.5),
    "share .1": share(0.1),
    "share .02": share(0.02),
    "share 0": share(0.0),
    "share .97": share(0.97),
    "Beta(2, 2)": of(stats.beta(2, 2)),
    "Beta(1, 30)": of(stats.beta(1, 30)),
    "Beta(40, 2)": of(stats.beta(40, 2)),
    "lognormal": of(stats.lognorm(1.2, scale=math.exp(-4))),
    "normal, sd .02": of(stats.norm(0.5, 0.02)),
}
"""Laws of rows in a column declared from 0 to 1."""
PAIRS = (
    ("share .5", "share .5"),
    ("share .1", "share .1"),
    ("share .02", "share .02"),
    ("share .02", "share 0"),
    ("share .97", "share .1"),
    ("share .5", "share .97"),
    ("Beta(2, 2)", "Beta(2, 2)"),
    ("Beta(1, 30)", "Beta(1, 30)"),
    ("Beta(1, 30)", "lognormal"),
    ("Beta(40, 2)", "Beta(2, 2)"),
    ("lognormal", "lognormal"),
    ("normal, sd .02", "normal, sd .02"),
)
SMALL = (
    ("share .05", "share .05"),
    ("share .05", "share .01"),
    ("share .01", "share .01"),
    ("share .98", "share .95"),
    ("share .2", "share .05"),
)
"""Pairs of small shares (or large ones), written down before any of them was simulated, as were their sizes."""
LAWS |= {f"share {p:g}".replace("0.", "."): share(p) for p in (0.05, 0.01, 0.98, 0.95, 0.2)}
SIZES = (30, 200, 2_000)
SMALL_SIZES = (60, 150, 500)
WHOLE_PRICES = ("epsilon=1", "rho=0.5")
PRICES = ("epsilon=0.5", "epsilon=2", "rho=0.02", "rho=0.5")
HEAD = (
    "| first group | second group | rows of each | price | symmetric, % | now, % | width, symmetric = 1 "
    "| no answer, % |\n" + "|---|---|---:|---|---:|---:|---:|---:|"
)
INTRO = """# Differences of means and of shares

Coverage of 95% intervals of the difference of two groups' means, given that it has an answer, in a column declared
from 0 to 1; rows are a sample, neighbours replace one row.  *Symmetric*: value ∓ the quantile of the law of the total
error.  *Now*: each mean's error reaches as far as that mean's interval does, on either side [Zou & Donner 2008].
± is twice the error of the simulation; bold is below 93%.  Near bounds and with much noise limits are up to a third
nearer; where a share stands for less than about four rows, or noise is large beside the number of rows, differences
stay conservative, and of 30 rows at the lowest prices up to two in five have no answer.  Shares reach as far as
intervals without allowance for counting in whole rows do [Newcombe 1998].
Written by `python benchmarks/contrasts.py`, whose designs were committed before one of them was simulated.
"""


def cell(one: str, other: str, n: int, said: str, repeats: int) -> str:
    """Return the row of one pair of laws: a table has many groups of both, compared in pairs."""
    a, b = LAWS[one], LAWS[other]
    law = Law(lambda rng, size: np.concatenate([a.draw(rng, size // 2), b.draw(rng, size // 2)]), 0, 0, a.share)
    half, truth = GROUPS // 2, a.mean - b.mean
    weights = np.concatenate([np.eye(half), -np.eye(half)], axis=1)
    hits: list[np.ndarray] = []
    widths: list[np.ndarray] = []
    reasons = 0
    for made in tables(tc.Mean("x", by="g"), law, n, said, 2 * repeats):
        found = combine(made, weights, tuple(f"d{i}" for i in range(half)), "difference")
        told = np.array([reason is None for reason in found.reasons])
        reasons += int((~told).sum())
        q = np.array([float(error_laws.halfwidth(0.95, *found.combination.law(i))) for i in np.flatnonzero(told)])
        limits, values = found.intervals()[told], found.values[told]
        inside = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
        hits.append(np.stack([np.abs(values - truth) <= q, inside]))
        widths.append(np.stack([2 * q, limits[:, 1] - limits[:, 0]]))
    hit, width = np.concatenate(hits, axis=1), np.concatenate(widths, axis=1)
    return _row(one, other, n, said, hit, width, reasons)


def _row(one: str, other: str, n: int, said: str, hit: np.ndarray, width: np.ndarray, reasons: int) -> str:
    """Return a row; hit, width: of the symmetric interval and of the one that is used now, shape (2, answers)."""
    known, total = hit.shape[1], hit.shape[1] + reasons
    words = [one, other, f"{n:,}", said.replace("=", " = ")]
    if known < 50:
        return "| " + " | ".join((*words, "", "", "", f"{100 * reasons / total:.0f}")) + " |"
    share = hit.mean(axis=1)
    error = 200 * np.sqrt(np.maximum(share * (1 - share), 0.25 / known) / known)
    said_now = [f"{100 * p:.1f} ± {e:.1f}" for p, e in zip(share, error, strict=True)]
    shown = [f"**{text}**" if 100 * p + e < LEAST else text for text, p, e in zip(said_now, share, error, strict=True)]
    ratio = f"{np.median(width[1] / np.maximum(width[0], 1e-300)):.2f}"
    return "| " + " | ".join((*words, *shown, ratio, f"{100 * reasons / total:.0f}")) + " |"


def whole(one: str, other: str, n: int, said: str, repeats: int) -> str:
    """Return the row of two tables of n rows each, released alone: all rows are known to count."""
    rng = np.random.default_rng(zlib.crc32(f"{one} {other} {n} {said}".encode()))
    truth, held, width = LAWS[one].mean - LAWS[other].mean, [], []
    schema = tc.Schema({"x": tc.Boolean(missing=False)})
    for _ in range(repeats):
        pair = [
            simulate(tc.Mean("x"), {"x": LAWS[name].draw(rng, n) > 0.5}, schema, repeats=1, rng=rng, **price(said))
            for name in (one, other)
        ]
        # tables of two names are of different people
        a, b = (replace(made.release(0), table=f"table {i}").estimate() for i, made in enumerate(pair))
        found = tc.difference(a, b)
        q = float(error_laws.halfwidth(0.95, *found.combination.law(0)))
        low, high = found.intervals()[0]
        held.append([abs(found.values[0] - truth) <= q, low <= truth <= high])
        width.append([2 * q, high - low])
    return _row(one, other, n, said, np.array(held).T, np.array(width).T, 0)


def parts(repeats: int) -> list[Part]:
    some = [(*pair, n, said) for pair in PAIRS for n in SIZES for said in PRICES]
    small = [(*pair, n, said) for pair in SMALL for n in SMALL_SIZES for said in PRICES]
    alone = [(*pair, n, said) for pair in (PAIRS[2], *SMALL[1::3]) for n in SMALL_SIZES for said in WHOLE_PRICES]
    return [
        *(INTRO, HEAD, *(partial(cell, *one, repeats) for one in some)),
        *("\n## Small shares\n", HEAD, *(partial(cell, *one, repeats) for one in small)),
        *(
            "\n## Small shares of two whole tables\n",
            "A quarter of the repetitions.\n",
            HEAD,
            *(partial(whole, *one, repeats // 4) for one in alone),
        ),
    ]


def main() -> None:
    options = asked(__doc__, ["differences"], 2_000)
    start, repeats = time.perf_counter(), options.repeats // (20 if options.quick else 1)
    text = worked(thinned(parts(repeats), repeats, options.every))
    if options.quick:
        print(text)
    else:
        put(PAGE, "contrasts.py", text)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
