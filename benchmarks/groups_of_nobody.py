"""How often groups of nobody, and of few rows, have an answer, and whether intervals hold given that they do.

    python benchmarks/groups_of_nobody.py --rule NAME [--repeats 4000] [--parts means,variances,common,random]
    python benchmarks/groups_of_nobody.py --table
    python benchmarks/groups_of_nobody.py --points

The first form simulates with the tree as it is and adds its counts, under the name of its rule, to FIGURES; the second
prints all rules side by side; the third, without simulation, how often a mean would have an answer where the noisy size
exceeds another point of its noise than `column_terms.ANSWER`.  Every group of a table has the same number of rows and
is a repetition: encodings of groups depend on bounds, relation and price alone, and noises of different groups are
independent.  Of parties, every party has the same groups; --only has those designs whose words hold a text.  The
designs were committed before any was simulated.  Noise in the number of rows has, at replace-one and epsilon = 5, a
standard deviation of 0.98.

answer: share of groups with a number in place of a reason, in per cent; held: of those, 95% intervals with the truth;
width: median, in the range of the column.
"""

from __future__ import annotations

import argparse
import json
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from selected_answers import LAWS, column, price

import tacit as tc
from tacit.estimates.noisy_terms.noisy_moments import integers, moments
from tacit.estimates.total_errors.error_laws import halfwidth, split, tail
from tacit.pooling.common_value import pooled
from tacit.pooling.random_effects import random_effects
from tacit.pooling.released_evidence import evidence
from tacit.testing import simulate

FIGURES = Path(__file__).with_suffix(".jsonl")
GROUPS = 500
SIZES = (0, 1, 2, 3, 4, 6, 8, 10, 16, 25)
PRICES = ("epsilon=1", "epsilon=2", "epsilon=5", "rho=0.5", "rho=2")
POINTS = (0.84, 0.9, 0.95, 0.96, 0.97, 0.98)
SPREADS = ("Beta(2, 2)", "exponential, mean 0.1", "Beta(1, 30)", "lognormal, median 0.13, sd of log 0.8")
"""Laws of variances; the last two were added, before they were simulated, for the rule "noisiest mean"."""
SOME = ("Beta(2, 2)", "exponential, mean 0.1", "Beta(40, 2)", "share 0.1")
PARTIES: tuple[tuple[tuple[int, ...], tuple[str, ...]], ...] = (
    # nobody anywhere: few and many parties, equal and unequal prices
    ((0,) * 2, ("epsilon=1",)),
    ((0,) * 3, ("epsilon=1",)),
    ((0,) * 8, ("epsilon=1",)),
    ((0,) * 8, ("rho=0.5",)),
    ((0,) * 8, ("epsilon=0.2", "epsilon=2")),
    ((0,) * 25, ("epsilon=1",)),
    ((0,) * 25, ("rho=0.01", "rho=2")),
    ((0,) * 60, ("epsilon=0.5",)),
    # few rows in every party
    ((4,) * 2, ("epsilon=1",)),
    ((4,) * 2, ("epsilon=5",)),
    ((4,) * 8, ("epsilon=1",)),
    ((8,) * 8, ("epsilon=1",)),
    ((4,) * 25, ("epsilon=1",)),
    ((8,) * 8, ("epsilon=0.2", "epsilon=2")),
    # one party has them all
    ((10, 0, 0), ("epsilon=2",)),
    ((40, *(0,) * 7), ("epsilon=1",)),
    ((80, *(0,) * 24), ("epsilon=1",)),
    ((30, *(0,) * 59), ("rho=0.5",)),
    ((0, 300), ("epsilon=5", "epsilon=0.1")),
    # rows enough
    ((40,) * 3, ("epsilon=1",)),
)
"""Rows of each party in a group, and prices, which parties have in turn."""


def release(query: Any, law: Any, rows: int, said: str, relation: str, rng: np.random.Generator) -> Any:
    """Return a simulated release of one table of GROUPS groups of so many rows."""
    levels = [f"g{i}" for i in range(GROUPS)]
    x = law.draw(rng, rows * GROUPS)
    table = {"x": x > 0.5 if law.share else x, "g": np.repeat(levels, rows)}
    schema = tc.Schema({"x": column(law), "g": tc.Category(levels)})
    return simulate(query, table, schema, repeats=1, rng=rng, neighbors=relation, **price(said)).release(0)


def counted(said: np.ndarray, limits: np.ndarray, truth: float) -> dict[str, Any]:
    """Return the figures of one cell of the study."""
    ok = limits[said]
    return {
        "repeats": len(said),
        "answers": int(said.sum()),
        "held": int(((ok[:, 0] <= truth) & (truth <= ok[:, 1])).sum()),
        "width": float(np.median(ok[:, 1] - ok[:, 0])) if len(ok) else math.nan,
    }


def alone(kind: str, repeats: int) -> Iterator[dict[str, Any]]:
    query, relations = ((tc.Mean, tc.Variance)[kind == "variances"])("x", by="g"), ("replace-one", "add-remove")
    for name in SPREADS if kind == "variances" else SOME:
        law = LAWS[name]
        for relation in relations if name == SOME[0] else relations[:1]:
            for said in PRICES:
                for n in SIZES:
                    rng = np.random.default_rng(zlib.crc32(f"{kind} {name} {relation} {said} {n}".encode()))
                    said_, limits = list[Any](), list[Any]()
                    for _ in range(math.ceil(repeats / GROUPS)):
                        made = release(query, law, n, said, relation, rng).estimate()
                        said_.append([reason is None for reason in made.reasons])
                        limits.append(made.intervals())
                    truth = law.variance if kind == "variances" else law.mean
                    cell = f"{relation}, {said}, {name}" if n else f"{relation}, {said}"
                    found = counted(np.concatenate(said_), np.concatenate(limits), truth)
                    yield {"part": kind, "cell": cell, "rows": str(n), **found}


def together(kind: str, repeats: int, only: str) -> Iterator[dict[str, Any]]:
    query = tc.Mean("x", by="g")
    for name in SOME[:2]:
        law = LAWS[name]
        for sizes, prices in PARTIES:
            if not sum(sizes) and name != SOME[0]:
                continue
            words = f"{len(sizes)} parties, {' and '.join(prices)}"
            if only not in words:
                continue
            rng = np.random.default_rng(zlib.crc32(f"{words} {name} {sizes}".encode()))
            said, limits = list[Any](), list[Any]()
            for _ in range(math.ceil(repeats / GROUPS)):
                each = [
                    release(query, law, n, prices[i % len(prices)], "replace-one", rng) for i, n in enumerate(sizes)
                ]
                found = evidence(each, 0)
                if kind == "common":
                    made = pooled(found)
                    said.append(~made.unclear)
                    limits.append(np.stack(made.interval(0.95), axis=1))
                else:
                    varied = random_effects(found)
                    said.append([one is not None for one in varied.effects])
                    limits.append(np.stack(varied.interval(0.95), axis=1))
            rows = str(sizes[0]) if len(set(sizes)) == 1 else f"{max(sizes)} in one"
            cell = f"{words}, {name}" if sum(sizes) else words
            found_ = counted(np.concatenate(said), np.concatenate(limits), law.mean)
            yield {"part": kind, "cell": cell, "rows": rows, **found_}


def table() -> None:
    """Print the figures of all rules side by side."""
    lines = [json.loads(line) for line in FIGURES.read_text().splitlines()]
    rules = list(dict.fromkeys(one["rule"] for one in lines))
    cells: dict[tuple[str, str, str], dict[str, Any]] = {}
    for one in lines:
        cells.setdefault((one["part"], one["cell"], one["rows"]), {})[one["rule"]] = one
    print("| | | rows | " + " | ".join(f"{r}: answer, % | held, % | width" for r in rules) + " |")
    print("|---|---|---|" + "---:|---:|---:|" * len(rules))
    for (part, cell, rows), found in cells.items():
        words = list[str]()
        for rule in rules:
            one = found.get(rule)
            if one is None:
                words += ["", "", ""]
                continue
            n = one["answers"]
            held = f"{100 * one['held'] / n:.1f} ± {100 * math.sqrt(0.0475 / n):.1f}" if n and rows != "0" else ""
            words += [f"{100 * n / one['repeats']:.1f}", held, f"{one['width']:.3f}" if n and rows != "0" else ""]
        print(f"| {part} | {cell} | {rows} | {' | '.join(words)} |")


def points() -> None:
    """Print the chance of an answer by the point of the noise that a noisy size has to exceed."""
    print("| price | rows | " + " | ".join(f"{100 * one:g}% point" for one in POINTS) + " |")
    print("|---|---:|" + "---:|" * len(POINTS))
    for said in PRICES:
        made = release(tc.Mean("x", by="g"), LAWS[SOME[0]], 0, said, "replace-one", np.random.default_rng(0))
        part = made.parts[0]
        load = moments(part.form, part.parameters, integers(part), None).loadings[0]
        s, b = split(part.law, load)
        for rows in (0, 2, 4, 6, 10, 16):
            least = np.array([float(halfwidth(2 * one - 1, s, b)) for one in POINTS]) - rows
            side = tail(np.abs(least), np.full(len(POINTS), s), np.broadcast_to(b, (len(POINTS), len(b))))
            chance = np.where(least >= 0, side, 1 - side)
            print(f"| {said} | {rows} | " + " | ".join(f"{100 * one:.1f}" for one in chance) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rule")
    parser.add_argument("--repeats", type=int, default=4_000)
    parser.add_argument("--parts", default="means,variances,common,random")
    parser.add_argument("--only", default="")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--points", action="store_true")
    given = parser.parse_args()
    if given.points:
        points()
        return
    if given.table:
        table()
        return
    for part in given.parts.split(","):
        cells = (
            alone(part, given.repeats) if part in ("means", "variances") else together(part, given.repeats, given.only)
        )
        with FIGURES.open("a") as file:
            for one in cells:
                print(json.dumps({"rule": given.rule, **one}), file=file, flush=True)


if __name__ == "__main__":
    main()
