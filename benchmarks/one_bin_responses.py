"""Slopes and correlations from histograms whose response has most of its rows in one bin: designs drawn at random.

    python benchmarks/one_bin_responses.py [--first NUMBER] [--designs N] [--repeats N] [--each] [--plain]

A design is a number, from which all follows: the law of the errors, how wide the bins are beside them, where the bins
begin, the regressor, slopes, rows and price.  Asked of each table's histogram: the slopes of `score ~ u + arm` by least
squares, by Huber's loss and of the median, and the correlation of score and u.  Answers are put together by one over
the sum of squared shares of the response's bins in a very large table: how many even bins would share rows as much.

Designs below FIRST were looked at while the rule was made; those from FIRST on judge it, and were committed before any
of them was simulated.  "Before" are the same releases without `fits.one_bin_responses`, where most rows are in one bin.
Writes a part of docs/reference/histogram-fits.md; with --plain or --each to the terminal.
"""

from __future__ import annotations

import argparse
import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from pages import put

import tacit as tc
from tacit.fits import one_bin_responses

Array = NDArray[np.float64]
PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "histogram-fits.md"
FIRST: Final = 1_000
LARGE: Final = 400_000
EVEN: Final = (1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
"""Limits between groups of designs, by the number of even bins."""
LAWS: Final = ("normal", "Laplace", "t, 3 df", "10% ten times as wide", "gamma(2)", "lognormal(0.8)")
HEAD: Final = """## Responses with most rows in one bin

Slopes of `score ~ u + arm` and the correlation of score and u, of {designs} designs drawn at random, {repeats} tables
of each (`benchmarks/one_bin_responses.py`); designs are put together by one over the sum of squared shares of the
response's bins. Where nearly all rows are in one bin, a response may go with a regressor within it, and standard errors
say so: *before* they did not.

| even bins | question | | held, % | answers | answers, % | median width |
|---|---|---|---:|---:|---:|---:|"""
SLOPES: Final = ("u", "arm[T.treated]")


@dataclass(frozen=True)
class Design:
    """One design; number: its seed."""

    number: int

    @cached_property
    def facts(self) -> dict[str, Any]:
        """All that is drawn."""
        rng = np.random.default_rng([2026, 11, 27, 71, self.number])
        return {
            "law": str(rng.choice(LAWS)),
            "width": float(10 ** rng.uniform(-0.2, 0.9)),
            "place": float(rng.random()),
            "u_law": str(rng.choice(["uniform", "normal", "triangular"])),
            "u_bins": int(rng.integers(4, 13)),
            "treated": float(rng.uniform(0.15, 0.6)),
            "slope": float(rng.choice([0.0, 0.3, 0.8])),
            "effect": float(rng.choice([0.0, 0.2, 0.6])),
            "rows": int(10 ** rng.uniform(3.0, 4.3)),
            "price": [{"rho": 0.5}, {"rho": 0.1}, {"epsilon": 1.0}, {"epsilon": 3.0}][int(rng.integers(4))],
        }

    @cached_property
    def edges(self) -> tuple[float, float, int]:
        """Bounds of the response and how many bins: these are `width` robust deviations of the errors wide."""
        rng = np.random.default_rng([72, self.number])
        y = self.table(rng, 100_000)["score"]
        low, high = np.quantile(y, [0.0002, 0.9998])
        width = self.facts["width"] * float(np.subtract(*np.quantile(self.errors(rng, 100_000), [0.75, 0.25]))) / 1.35
        low -= width * self.facts["place"]
        bins = min(max(int(np.ceil((high - low) / width)), 4), 40)
        return float(low), float(low + bins * width), bins

    def errors(self, rng: np.random.Generator, n: int) -> Array:
        """Errors of the response, shape (n,)."""
        return {
            "normal": lambda: rng.normal(0, 1, n),
            "Laplace": lambda: rng.laplace(0, 1, n),
            "t, 3 df": lambda: rng.standard_t(3, n),
            "10% ten times as wide": lambda: rng.normal(0, 1, n) * np.where(rng.random(n) < 0.1, 10.0, 1.0),
            "gamma(2)": lambda: rng.gamma(2, 1, n),
            "lognormal(0.8)": lambda: rng.lognormal(0, 0.8, n),
        }[self.facts["law"]]()

    def table(self, rng: np.random.Generator, n: int) -> dict[str, Any]:
        """A table of n rows."""
        u = {
            "uniform": lambda: rng.uniform(-2, 2, n),
            "normal": lambda: np.clip(rng.normal(0, 0.8, n), -2, 2),
            "triangular": lambda: rng.triangular(-2, -1.5, 2, n),
        }[self.facts["u_law"]]()
        treated = rng.random(n) < self.facts["treated"]
        score = self.facts["slope"] * u + self.facts["effect"] * treated + self.errors(rng, n)
        return {"u": u, "arm": np.where(treated, "treated", "control"), "score": score}

    @cached_property
    def truth(self) -> tuple[float, float]:
        """The number of even bins of the response, and its correlation with u, of clamped values."""
        low, high, bins = self.edges
        one = self.table(np.random.default_rng([73, self.number]), LARGE)
        y = np.clip(one["score"], low, high)
        shares = np.histogram(y, bins, (low, high))[0] / len(y)
        return float(1 / (shares**2).sum()), float(np.corrcoef(y, one["u"])[0, 1])

    def release(self, repeat: int) -> Any:
        """A histogram of the response, u and arm of a table."""
        low, high, bins = self.edges
        schema = tc.Schema(
            {"u": tc.Real(-2, 2), "arm": tc.Category(["control", "treated"]), "score": tc.Real(low, high)}
        )
        table = self.table(np.random.default_rng([74, self.number, repeat]), self.facts["rows"])
        curator = tc.Curator(table, schema, budget=tc.Budget(**self.facts["price"]))
        query = tc.Histogram(["score", "u", "arm"], bins={"score": bins, "u": self.facts["u_bins"]})
        return curator.release(query, **self.facts["price"])


def answers(release: Any, design: Design) -> Iterator[tuple[str, float, float, float, bool]]:
    """Yield question, limits, truth, and whether there is an answer."""
    truths = dict(zip(SLOPES, (design.facts["slope"], design.facts["effect"]), strict=True))
    for model in ("linear", "huber", "quantile"):
        found = release.fit("score ~ u + arm", model=model)
        for term, (low, high), reason in zip(found.terms, np.asarray(found.conf_int(0.95)), found.reasons, strict=True):
            if term in truths:
                yield model, float(low), float(high), truths[term], not reason
    found = release.correlation(["score", "u"])
    low, high = np.asarray(found.conf_int(0.95)).reshape(-1)
    yield "correlation", float(low), float(high), design.truth[1], not found.reasons[0]


class Tally:
    """What was found of one question: held, answers, all, and widths."""

    def __init__(self) -> None:
        self.held = self.answers = self.all = 0
        self.widths = list[float]()

    def add(self, low: float, high: float, truth: float, told: bool) -> None:
        """Count an interval."""
        self.held, self.answers, self.all = (
            self.held + (told and low <= truth <= high),
            self.answers + told,
            self.all + 1,
        )
        if told:
            self.widths.append(high - low)

    @property
    def cells(self) -> str:
        """Cells of a table: held, answers, their part of all, median width."""
        part = f"{100 * self.held / self.answers:.1f}" if self.answers else ""
        width = f"{np.median(self.widths):.2g}" if self.answers else ""
        return f"{part} | {self.answers} | {100 * self.answers / max(self.all, 1):.0f} | {width} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=FIRST)
    parser.add_argument("--designs", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--each", action="store_true", help="a line for each design")
    parser.add_argument("--plain", action="store_true", help="to the terminal only")
    given = parser.parse_args()
    sums = defaultdict[tuple[int, str, str], Tally](Tally)
    for number in range(given.first, given.first + given.designs):
        design = Design(number)
        group, own = int(np.searchsorted(EVEN, design.truth[0])), defaultdict[str, Tally](Tally)
        for repeat in range(given.repeats):
            release = design.release(repeat)
            for model, *found in answers(release, design):
                sums[group, model, "now"].add(*found)
                own[model].add(*found)
            if group == 0:
                with patch.object(one_bin_responses, "hidden_part", lambda points, axis: 0.0):
                    for model, *found in answers(release, design):
                        sums[group, model, "before"].add(*found)
        if given.each:
            f = design.facts
            words = f"{f['law']}, {f['rows']} rows, {f['price']}, slope {f['slope']:g}, effect {f['effect']:g}"
            each = "; ".join(f"{model} {one.held}/{one.answers}/{one.all}" for model, one in own.items())
            print(f"{number} even {design.truth[0]:.2f}, {words}: {each}", flush=True)
    names = [f"to {EVEN[0]:g}", *(f"{a:g}–{b:g}" for a, b in itertools.pairwise(EVEN)), f"{EVEN[-1]:g} on"]
    lines = [f"| {names[g]} | {model} | {when} | {one.cells}" for (g, model, when), one in sorted(sums.items())]
    head = HEAD.format(designs=given.designs, repeats=given.repeats)
    text = "\n".join([head, *lines])
    if given.plain or given.each:
        print(text)
    else:
        put(PAGE, "one_bin_responses.py", text)


if __name__ == "__main__":
    main()
