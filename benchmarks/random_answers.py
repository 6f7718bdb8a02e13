"""Coverage given an answer of default questions on tables drawn at random (`random_tables`), a design for each number.

    python benchmarks/random_answers.py [--asks mean,ols,...] [--first 0] [--designs 12] [--repeats 50] [--all]
    python benchmarks/random_answers.py --page FILE ...
    python benchmarks/random_answers.py --slopes FRESH BEFORE FIRST

Designs first ... first + designs - 1 of every question.  A line for each term that holds in fewer than 93% of its
answers by more than 2.33 Monte-Carlo standard errors (by chance: one in a hundred), or, with --all, for each; then, of
each question, all its terms together: held, answers, the share of releases with one, and how many lines there were.
--page writes docs/reference/random-tables.md from files of what was printed, of as many designs and repeats.
--slopes writes its part on slopes where means are not linear, from files of the three regressions: of designs 100 to
119, of these by the code before, and of designs 0 to 19.
"""

from __future__ import annotations

import argparse
import math
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from pages import put
from random_tables import Array, Design, Table

import tacit as tc

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "random-tables.md"
INTRODUCTION: Final = """# Default questions on tables drawn at random

Each question as a user asks it first, on {designs} designs of its own. A design is drawn from a seed: a law of x
(normal, gamma, lognormal, t, beta, Weibull, two clusters, counts), whether part of it is zeros, rounded to 20 values or
missing, bounds that cut 1% off at either end, that fit, or that are four times too wide, rows and persons, groups,
weights, errors of a response, and a price. All is in `benchmarks/random_tables.py`, committed before any design was
simulated; no method was changed for what it found. Nothing of zeros, rounding or missing cells is declared. {repeats}
releases of each design; truths are those of the clamped values of a very large table. Written by
`benchmarks/random_answers.py --page`.

*Held*: 95% intervals of all terms, of those without a reason. *Answers*: the share of intervals without a reason.
*Lines*: designs and terms that hold in fewer than 93% of their answers by more than 2.33 Monte-Carlo standard errors
(one in a hundred by chance), which are listed below.

| question | held, % | answers | answers, % | lines |
|---|---:|---:|---:|---:|
{totals}

## What did not hold

Four things explain the lines. **The mean of a response is not linear** in x in these designs (it is level beyond 2 or 4
standard deviations), which matters where x has long tails, or rows are many: coefficients are then those of rows
that count less the further out they are, and their errors say nothing of the difference to the fit to whole rows.
**Values that are rounded, which nobody declared**, read from bins hardly wider than the distance of two values, whose
counts are those of smooth columns: a note under each answer says that values on few points need `within="bins"`, and
`Integer` or `multiple_of=` is what is needed. **Rows clamped at a bound that cuts a tail**: most of what the last bin
has too many is taken for the tail's, and a variance is 3% too small. **All rows within two or three automatic bins**,
of bounds four times too wide: slopes are then mostly what bins hide. *Too low*: intervals below the truth.
What is told in all but the second case has changed since these questions were run: the tables below.

| question | design | table | term | held | answers | too low |
|---|---|---|---|---:|---:|---:|
{lines}
"""
SLOPES: Final = """## Slopes where means are not linear

The three regressions, since rows reach further where tails are long and slopes large, and errors allow for slopes of
rows far out that differ by half. *Fresh*: designs 100 to 119 of each question, which nothing was set on; they were run
before a last change of how far rows of counts may reach, too, and shown is the run after it. *First*: designs 0 to 19,
on whose lines the rules were set. 60 releases of each, by `benchmarks/random_answers.py --slopes`.

| question | designs | held, % | answers | answers, % | lines |
|---|---|---:|---:|---:|---:|
{totals}

| question | designs | design | table | term | held | answers | too low |
|---|---|---|---|---|---:|---:|---:|
{lines}
"""
PROBS: Final = (0.1, 0.5, 0.75)
WHOLE: Final = re.compile(r"= (.*): held (.*)% of (.*) answers, (.*)% of .*; (\d+) lines; .*")
TERM: Final = re.compile(r"(.*?) \| (\d+) \| (.*) \| (.*): (\d+) of (\d+) in \d+, (\d+) too low")
Truths = dict[str, float]


@dataclass(frozen=True)
class Ask:
    """A question of a design, what it estimates in a large table, and how a release is read."""

    query: Callable[[Design], Any]
    truth: Callable[[Design, Table], Truths]
    read: Callable[[Any], Any] = lambda release: release.estimate()
    persons: bool = False


def _weights(table: Table) -> Array:
    """The weight of each row: of persons, the part of their rows."""
    if "who" not in table:
        return np.ones(len(table["y"]))
    return 1 / np.bincount(table["who"])[table["who"]]


def _mean(table: Table, name: str) -> float:
    """The mean of the present rows; of persons, of their means over present rows."""
    x = np.asarray(table[name], dtype=float)
    here = ~np.isnan(x)
    if "who" not in table:
        return float(x[here].mean())
    sums, many = np.bincount(table["who"][here], x[here]), np.bincount(table["who"][here])
    return float((sums[many > 0] / many[many > 0]).mean())


def _part(table: Table, here: Array) -> Table:
    return {name: one[here] for name, one in table.items()}


def _groups(name: str, what: Callable[[Table, str], float]) -> Callable[[Design, Table], Truths]:
    return lambda design, table: {g: what(_part(table, table["g"] == g), name) for g in design.groups}


def _variance(table: Table, name: str) -> float:
    return float(np.nanvar(table[name]))


def _weighted(_: Design, table: Table) -> Truths:
    here = ~np.isnan(table["x"])
    return {"x": float(np.average(table["x"][here], weights=table["w"][here]))}


def _quantiles(table: Table) -> Truths:
    x = table["x"][~np.isnan(table["x"])]
    return {f"{p:g}": float(np.quantile(x, p, method="inverted_cdf")) for p in PROBS}


def _quantiles_by(design: Design, table: Table) -> Truths:
    return {f"{g}:0.5": _quantiles(_part(table, table["g"] == g))["0.5"] for g in design.groups} | {
        g: _quantiles(_part(table, table["g"] == g))["0.5"] for g in design.groups
    }


def _design_matrix(table: Table, terms: tuple[str, ...]) -> tuple[Array, Array]:
    """Return complete rows, and the matrix of 1 and the terms."""
    here = ~np.isnan(table["x"])
    return here, np.column_stack([np.ones(int(here.sum())), *(np.asarray(table[t], float)[here] for t in terms)])


def _glm(response: str, model: str, terms: tuple[str, ...], weight: str | None = None) -> Any:
    """Return the function that fits a model to the large table, by Newton steps."""

    def fitted(_: Design, table: Table) -> Truths:
        here, X = _design_matrix(table, terms)
        y = np.asarray(table[response], float)[here]
        w = _weights(table)[here] if weight is None else table[weight][here]
        beta = np.zeros(X.shape[1])
        if model == "poisson":
            beta[0] = math.log(float(np.average(y, weights=w)))
        for _ in range(1 if model == "linear" else 30):
            eta = X @ beta
            mu = {"linear": eta, "logistic": 1 / (1 + np.exp(-eta)), "poisson": np.exp(eta)}[model]
            v = {"linear": np.ones_like(mu), "logistic": mu * (1 - mu), "poisson": mu}[model] * w
            beta = beta + np.linalg.solve(X.T @ (X * v[:, None]), X.T @ (w * (y - mu)))
        return dict(zip(terms, beta[1:].tolist(), strict=True))

    return fitted


def _moments(_: Design, table: Table) -> Truths:
    return {"mean": _mean(table, "x"), "variance": _variance(table, "x")}


ASKS: Final[dict[str, Ask]] = {
    "mean": Ask(lambda _: tc.Mean("x"), lambda _, t: {"x": _mean(t, "x")}, persons=True),
    "means": Ask(lambda _: tc.Mean(["x", "y", "h"]), lambda _, t: {n: _mean(t, n) for n in "xyh"}, persons=True),
    "by": Ask(lambda _: tc.Mean("x", by="g"), _groups("x", _mean)),
    "shares": Ask(lambda _: tc.Mean("h", by="g"), _groups("h", _mean)),
    "weighted": Ask(lambda _: tc.Mean("x", weights="w"), _weighted),
    "where": Ask(lambda _: tc.Mean("x", where="g == 'g0'"), lambda _, t: {"x": _mean(_part(t, t["g"] == "g0"), "x")}),
    "variance": Ask(lambda _: tc.Variance("x"), lambda _, t: {"x": _variance(t, "x")}),
    "variances": Ask(lambda _: tc.Variance("y", by="g"), _groups("y", _variance)),
    "quantiles": Ask(lambda _: tc.Quantiles("x", list(PROBS)), lambda _, t: _quantiles(t)),
    "medians": Ask(lambda _: tc.Quantiles("x", [0.5], by="g"), _quantiles_by),
    "ols": Ask(lambda _: tc.Regression("y ~ x + z"), _glm("y", "linear", ("x", "z")), persons=True),
    "weighted ols": Ask(lambda _: tc.Regression("y ~ x + z", weights="w"), _glm("y", "linear", ("x", "z"), "w")),
    "logistic": Ask(
        lambda _: tc.Regression("h ~ x + z", model="logistic"), _glm("h", "logistic", ("x", "z")), persons=True
    ),
    "poisson": Ask(lambda _: tc.Regression("c ~ x + z", model="poisson"), _glm("c", "poisson", ("x", "z"))),
    "moments": Ask(lambda _: tc.Histogram("x", bins="auto"), _moments, lambda release: release.moments("x")),
    "cells": Ask(
        lambda _: tc.Histogram("x", bins="auto"),
        lambda _, t: _quantiles(t),
        lambda release: release.quantiles("x", list(PROBS)),
    ),
    "fit": Ask(
        lambda _: tc.Histogram(["x", "y"], bins="auto"),
        _glm("y", "linear", ("x",)),
        lambda release: release.fit("y ~ x"),
    ),
}


def ends(found: Any) -> Iterator[tuple[str, float, float, str]]:
    """Yield term, both ends of its 95% interval, and the reason why there is none."""
    limits = np.reshape(np.asarray(found.conf_int(0.95), dtype=float), (-1, 2))
    for term, (low, high), reason in zip(found.terms, limits, found.reasons, strict=True):
        yield str(term), float(low), float(high), reason or ("" if math.isfinite(low + high) else "not finite")


def of_design(name: str, number: int, repeats: int, every: bool) -> tuple[int, int, int, int]:
    """Simulate a question on a design; return the numbers that held, of answers, of all, and of lines printed."""
    ask, design = ASKS[name], Design(number)
    if design.persons and not ask.persons:
        number += 100_000
        design = Design(number)
        while design.persons:
            number += 1
            design = Design(number)
    truths, found = ask.truth(design, design.large()), dict[str, list[int]]()
    for i in range(repeats):
        table = design.draw_table(np.random.default_rng([5, number, i]))
        budget = tc.Budget(**design.price, neighbors=design.relation)
        curator = tc.Curator(table, design.schema(), budget=budget, size_hint=design.rows)
        try:
            made = list(ends(ask.read(curator.release(ask.query(design), **design.price))))
        except tc.TacitError as problem:
            print(f"{name} | {number} | {design.words} | {problem.code} {str(problem)[:100]}", flush=True)
            return 0, 0, repeats, 1
        for term, low, high, reason in made:
            if term not in truths:
                continue
            counts = found.setdefault(term, [0, 0, 0, 0])
            counts[2] += 1
            if not reason:
                counts[0] += low <= truths[term] <= high
                counts[1] += 1
                counts[3] += high < truths[term]
    lines = 0
    for term, (held, answers, all_of_it, low) in found.items():
        bad = answers > 0 and 0.93 - held / answers > 2.33 * math.sqrt(0.93 * 0.07 / answers)
        lines += bad
        if bad or every:
            print(
                f"{name} | {number} | {design.words} | {term}: {held} of {answers} in {all_of_it}, {low} too low",
                flush=True,
            )
    return (
        sum(c[0] for c in found.values()),
        sum(c[1] for c in found.values()),
        sum(c[2] for c in found.values()),
        lines,
    )


def write(files: list[str], designs: int, repeats: int) -> None:
    """Write the page."""
    totals, lines = list[str](), list[str]()
    for text in (line for file in files for line in Path(file).read_text(encoding="utf-8").splitlines()):
        if found := WHOLE.fullmatch(text):
            totals.append(f"| {' | '.join(found.groups())} |")
        elif found := TERM.fullmatch(text):
            lines.append(f"| {' | '.join(found.groups())} |")
    page = INTRODUCTION.format(designs=designs, repeats=repeats, totals="\n".join(totals), lines="\n".join(lines))
    # what `answers_from_bins.py` wrote stays
    _, mark, others = PAGE.read_text(encoding="utf-8").partition("\n<!-- begin of ")
    PAGE.write_text(page + mark + others, encoding="utf-8")


def write_slopes(fresh: str, before: str, first: str) -> None:
    """Write the part on slopes."""
    totals, lines = list[str](), list[str]()
    for name, file in (("fresh", fresh), ("fresh, by the code before", before), ("first", first)):
        for text in Path(file).read_text(encoding="utf-8").splitlines():
            if found := WHOLE.fullmatch(text):
                question, *rest = found.groups()
                totals.append(f"| {question} | {name} | {' | '.join(rest)} |")
            elif found := TERM.fullmatch(text):
                question, *rest = found.groups()
                lines.append(f"| {question} | {name} | {' | '.join(rest)} |")
    put(PAGE, "random_answers.py slopes", SLOPES.format(totals="\n".join(totals), lines="\n".join(lines)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--asks", default=",".join(ASKS))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--designs", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--page", nargs="+", metavar="FILE", help="write the page from what was printed")
    parser.add_argument("--slopes", nargs=3, metavar="FILE", help="write the part on slopes from what was printed")
    given = parser.parse_args()
    if given.slopes:
        write_slopes(*given.slopes)
        return
    if given.page:
        write(given.page, given.designs, given.repeats)
        return
    print("question | design | table | terms", flush=True)
    for name in given.asks.split(","):
        start, total = time.process_time(), np.zeros(4, dtype=int)
        for number in range(given.first, given.first + given.designs):
            # every question has designs of its own
            total += of_design(name, 1_000 * list(ASKS).index(name) + number, given.repeats, given.all)
        held, answers, everything, lines = total.tolist()
        print(
            f"= {name}: held {100 * held / max(answers, 1):.1f}% of {answers:,} answers, "
            f"{100 * answers / max(everything, 1):.0f}% of {everything:,}; {lines} lines; "
            f"{time.process_time() - start:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
