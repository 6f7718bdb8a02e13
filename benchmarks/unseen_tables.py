"""Coverage given an answer, false rejections and plans' widths on twelve designs (`unseen_designs`), cell by cell.

    python benchmarks/unseen_tables.py [--repeats 200] [--designs 0,1,…] [--asks mean,ols,…] [--first 0] [--keep FILE]
    python benchmarks/unseen_tables.py --sum FILE
    python benchmarks/unseen_tables.py --arrays 2000 [--designs 0,1,…]

--keep adds the counts of each cell to a file, so that runs of other tables (`--first`) can be summed by --sum.
--arrays simulates means, shares and variances by `tc.testing.coverage`, all tables of a cell at once.

A row for every question of every design and price.  Intervals without a reason count; of tests those with a p-value.
`*` marks less than 93% covered, or more than 5% rejected, by more than 1.64 Monte-Carlo standard errors; `?` by less.
plan: the median width of intervals over the width that `tc.plan` foretells, told means, deviations and shares, with `*`
where it is off by more than a factor 1.5; a plan that expects most releases to have no answer foretells none.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from unseen_designs import AFTER, DESIGNS, GROUPS, PROBS, Design, Truth, truth_of

import tacit as tc

Found = Iterator[tuple[str, float, float, str, float]]
"""Term, lower end, upper end, reason ("" for none), truth; of a test: its name, p-value, nan, reason, nan."""
NAN = math.nan


@dataclass(frozen=True)
class Ask:
    """A question, and what its release says: read by `read`."""

    query: Any
    read: Callable[[Any, Truth], Found]
    planned: bool = True

    def of(self, design: Design) -> Any:
        """The question, with the design's own bins where it is a histogram."""
        if not isinstance(self.query, tc.Histogram):
            return self.query
        bins = {"x": design.bins, "y": 12, "t": 12}
        return tc.Histogram(self.query.columns, bins={name: bins[name] for name in self.query.columns if name in bins})


def _terms(found: Any, truths: dict[str, float]) -> Found:
    ends = np.reshape(np.asarray(found.conf_int(0.95), dtype=float), (-1, 2))
    for term, (low, high), reason in zip(found.terms, ends, found.reasons, strict=True):
        if term in truths:
            yield term, float(low), float(high), reason or "", truths[term]


def _one(name: str, found: Any, truth: float) -> Found:
    low, high = (float(v) for v in np.ravel(np.asarray(found.conf_int(0.95), dtype=float)))
    reason = next((r for r in found.reasons if r), "")
    yield name, low, high, reason, truth


def _test(name: str, made: Callable[[], Any]) -> Found:
    try:
        p = float(made().p_value)
    except tc.TacitError as refused:
        yield name, NAN, NAN, refused.code, NAN
        return
    yield name, p, NAN, "" if math.isfinite(p) else "none", NAN


def _grouped(truth: Callable[[Truth], float]) -> Callable[[Any, Truth], Found]:
    def read(release: Any, known: Truth) -> Found:
        found = release.estimate()
        yield from _terms(found, dict.fromkeys(("a", "b", "c"), truth(known)))
        for one in ("b", "c"):
            yield from _one(f"{one} - a", found.contrast(f"`{one}` - `a`"), 0.0)
        yield from _test("wald", lambda: found.test("a = b, b = c"))

    return read


def _single(truth: Callable[[Truth], float]) -> Callable[[Any, Truth], Found]:
    def read(release: Any, known: Truth) -> Found:
        found = release.estimate()
        yield from _terms(found, {found.terms[0]: truth(known)})

    return read


def _quantiles(release: Any, known: Truth) -> Found:
    names = [f"{p:g}" for p in PROBS]
    yield from _terms(release.estimate(), dict(zip(names, known.quantiles, strict=True)))


def _slopes(slope: Callable[[Truth], float]) -> Callable[[Any, Truth], Found]:
    def read(release: Any, known: Truth) -> Found:
        found = release.estimate()
        yield from _terms(found, {"x": slope(known)})
        yield from _test("g", lambda: found.test("`g[T.b]` = 0, `g[T.c]` = 0"))

    return read


def _cells(release: Any, known: Truth) -> Found:
    yield from _one("correlation", release.correlation(["x", "y"]), known.correlation)
    yield from _terms(release.moments("x"), {"mean": known.mean, "variance": known.variance})
    yield from _terms(release.quantiles("x", list(PROBS)), dict(zip(map(str, PROBS), known.quantiles, strict=True)))
    fitted = release.fit("y ~ x")
    yield from _terms(fitted, {"x": known.slope})


def _lives(release: Any, known: Truth) -> Found:
    for group, end in (("", "all"), ("g", "by g")):
        curve = release.survival("t", event="d", by=group or None)
        names = [term for term in curve.terms if term.rpartition(":")[2] == f"{AFTER:g}"]
        for term, low, high, reason, truth in _terms(curve, dict.fromkeys(names, known.after)):
            yield f"{end} {term}", low, high, reason, truth
    yield from _test("logrank", lambda: release.logrank("t", event="d", by="g"))


def _independent(release: Any, known: Truth) -> Found:
    yield from _test("independence", lambda: release.independence("g", "x"))


ASKS: dict[str, Ask] = {
    "mean": Ask(tc.Mean("x"), _single(lambda t: t.mean)),
    "means": Ask(tc.Mean("x", by="g"), _grouped(lambda t: t.mean)),
    "variance": Ask(tc.Variance("x"), _single(lambda t: t.variance)),
    "share": Ask(tc.Mean("h"), _single(lambda t: t.share)),
    "shares": Ask(tc.Mean("h", by="g"), _grouped(lambda t: t.share)),
    "quantiles": Ask(tc.Quantiles("x", list(PROBS)), _quantiles),
    "ols": Ask(tc.Regression("y ~ x + g"), _slopes(lambda t: t.slope)),
    "logistic": Ask(tc.Regression("h ~ x + g", model="logistic"), _slopes(lambda t: t.tilt)),
    "cells": Ask(tc.Histogram(["x", "y"]), _cells, planned=False),
    "lives": Ask(tc.Histogram(["t", "d", "g"]), _lives, planned=False),
    "table": Ask(tc.Histogram(["x", "g"]), _independent, planned=False),
}
NOT_OF_PERSONS = ("quantiles", "cells", "lives", "table")


@dataclass
class Cell:
    """What was found of one term: right intervals (rejections, where it is a test), answers, releases, widths."""

    test: bool
    right: int = 0
    answers: int = 0
    releases: int = 0
    low: int = 0
    widths: list[float] = field(default_factory=list[float])


def planned(ask: Ask, design: Design, truth: Truth, price: dict[str, float]) -> dict[str, float]:
    if not ask.planned:
        return {}
    page = tc.plan(
        ask.query, design.schema(), rows=design.rows, neighbors=design.neighbors, expect=truth.expect, **price
    )
    return {str(term): float(width) for _, term, width, *_ in page.to_dict()["terms"] if width is not None}


def simulate(
    name: str, design: Design, truth: Truth, price: dict[str, float], repeats: int, first: int, kept: str | None = None
) -> None:
    ask, schema = ASKS[name], design.schema()
    query = ask.of(design)
    cells: dict[str, Cell] = {}
    failed: dict[str, int] = {}
    start = time.process_time()
    for i in range(first, first + repeats):
        table = design.draw(np.random.default_rng([design.number, i]))
        budget = tc.Budget(**price, neighbors=design.neighbors)
        curator = tc.Curator(table, schema, budget=budget, size_hint=design.rows)
        release = curator.release(query, **price)
        try:
            found = list(ask.read(release, truth))
        except tc.TacitError as problem:
            failed[f"{problem.code} {str(problem)[:90]}"] = failed.get(f"{problem.code} {str(problem)[:90]}", 0) + 1
            continue
        for term, low, high, reason, true in found:
            cell = cells.setdefault(term, Cell(math.isnan(true)))
            cell.releases += 1
            if reason or not (math.isfinite(low) and (cell.test or math.isfinite(high))):
                continue
            cell.answers += 1
            if cell.test:
                cell.right += low < 0.05
                continue
            cell.right += low <= true <= high
            cell.low += high < true
            cell.widths.append(high - low)
    took = (time.process_time() - start) / repeats
    foretold = planned(ask, design, truth, price)
    words = ", ".join(f"{key} {value:g}" for key, value in price.items())
    print(f"{design.number:2d} | {words} | {name} | {took:.3f} s a table", file=sys.stderr, flush=True)
    for term, cell in cells.items():
        where = f"{design.number:2d} | {words} | {name} | {term}"
        line(where, cell, foretold.get(term))
        if kept is not None:
            widths = [float(f"{width:.4g}") for width in cell.widths]
            found = {**vars(cell), "widths": widths, "where": where, "first": first, "foretold": foretold.get(term)}
            with Path(kept).open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
    for problem, times in failed.items():
        print(f"{design.number:2d} | {words} | {name} | failed {times}: {problem}", flush=True)


def line(where: str, cell: Cell, foretold: float | None) -> None:
    if not cell.answers:
        print(f"{where} | none of {cell.releases}", flush=True)
        return
    share = cell.right / cell.answers
    limit = 0.05 if cell.test else 0.93
    off = share - limit if cell.test else limit - share
    chance = 1.64 * math.sqrt(limit * (1 - limit) / cell.answers)
    flag = "" if off <= 0 else "*" if off > chance else "?"
    what = "rejected" if cell.test else "covered"
    text = f"{where} | {what} {100 * share:.1f}%{flag} of {cell.answers} in {cell.releases}"
    if not cell.test and cell.answers > cell.right:
        text += f" (too low {cell.low}, too high {cell.answers - cell.right - cell.low})"
    if cell.widths:
        width = float(np.median(cell.widths))
        text += f" | width {width:.3g}"
        if foretold == math.inf:
            text += " | plan: no answer from most releases"
        elif foretold:
            ratio = width / foretold
            text += f" | plan {ratio:.2f}{'*' if not 1 / 1.5 <= ratio <= 1.5 else ''}"
    print(text, flush=True)


def summed(kept: str) -> None:
    """Print the cells of a file of `--keep`, the counts of runs of different tables added up."""
    cells: dict[str, Cell] = {}
    foretold: dict[str, float | None] = {}
    seen: set[tuple[str, int]] = set()
    for text in Path(kept).read_text(encoding="utf-8").splitlines():
        found = json.loads(text)
        where, first = found.pop("where"), found.pop("first")
        foretold[where] = found.pop("foretold")
        if (where, first) in seen:
            raise SystemExit(f"{where}: the same tables twice")
        seen.add((where, first))
        one, cell = Cell(**found), cells.setdefault(where, Cell(found["test"]))
        for name in ("right", "answers", "releases", "low"):
            setattr(cell, name, getattr(cell, name) + getattr(one, name))
        cell.widths += one.widths
    for where, cell in cells.items():
        line(where, cell, foretold[where])
    with_answers = [cell for cell in cells.values() if cell.answers]
    for test, what in ((False, "intervals"), (True, "tests")):
        of = [cell for cell in with_answers if cell.test is test]
        right, answers = sum(cell.right for cell in of), sum(cell.answers for cell in of)
        said = "rejected" if test else "covered"
        print(f"{what}: {len(of)} cells, {said} {100 * right / max(answers, 1):.2f}% of {answers}")


def arrays(design: Design, truth: Truth, repeats: int) -> None:
    """Print the coverage of means and shares by group, and of variances, by `tc.testing.coverage`."""
    asked = (
        ("means", tc.Mean("x", by="g"), dict.fromkeys(GROUPS, truth.mean)),
        ("shares", tc.Mean("h", by="g"), dict.fromkeys(GROUPS, truth.share)),
        ("variance", tc.Variance("x"), truth.variance),
    )
    for price in design.prices:
        words = ", ".join(f"{key} {value:g}" for key, value in price.items())
        for name, query, true in asked:
            found = tc.testing.coverage(
                query, design.draw, true, schema=design.schema(), repeats=repeats, rng=5, neighbors=design.neighbors,
                **price,
            )  # fmt: skip
            shares = [f"{100 * float(share):.1f}%{flag(float(share), repeats)}" for share in found.coverage]
            print(f"{design.number:2d} | {words} | {name} | covered {', '.join(shares)} of {repeats}", flush=True)


def flag(share: float, answers: int) -> str:
    """The mark of a coverage: see the top."""
    off = 0.93 - share
    return "" if off <= 0 else "*" if off > 1.64 * math.sqrt(0.93 * 0.07 / answers) else "?"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--repeats", type=int, default=200)
    asked.add_argument("--first", type=int, default=0, help="seed of the first table")
    asked.add_argument("--designs", default=",".join(str(one.number) for one in DESIGNS))
    asked.add_argument("--asks", default=",".join(ASKS))
    asked.add_argument("--keep", help="file that the counts of each cell are added to")
    asked.add_argument("--sum", help="file of --keep whose counts are printed, nothing simulated")
    asked.add_argument("--arrays", type=int, help="simulate so many tables of each cell by tc.testing.coverage")
    given = asked.parse_args()
    if given.sum is not None:
        summed(given.sum)
        return
    for number in map(int, given.designs.split(",")):
        design = DESIGNS[number]
        truth = truth_of(design)
        print(f"{number:2d} | {design.words}", flush=True)
        if given.arrays is not None:
            if not design.persons:
                arrays(design, truth, given.arrays)
            continue
        for name in given.asks.split(","):
            if design.persons and name in NOT_OF_PERSONS:
                continue
            for price in design.prices:
                simulate(name, design, truth, price, given.repeats, given.first, given.keep)


if __name__ == "__main__":
    sys.exit(main())
