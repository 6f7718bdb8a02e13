"""Risk ratios and odds ratios of small groups, and of events that are rare or nearly certain: designs drawn at random.

    python benchmarks/ratios_of_few.py [--first NUMBER] [--designs N] [--repeats N] [--each] [--plain]

A design is a number, from which all follows: rows of both groups (4 to 60, or up to 2,000 with rare events), the chance
of an event in each, and the price.  A table has many pairs of groups, each a repetition: noises of groups are
independent.  Held: of 95% intervals without a reason, those that hold the truth; `of all`: those with a reason counted
too.  Width: median of the logarithm of upper over lower limit, of those that have both.

Designs below FIRST were looked at while the intervals were made; those from FIRST on judge them, and were committed
before any of them was simulated.  Writes a part of docs/reference/contrasts.md; with --plain to the terminal.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from pages import put

import tacit as tc
from tacit.testing import simulate

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "contrasts.md"
FIRST: Final = 4_000
PAIRS: Final = 20
"""Pairs of groups of a table."""
PRICES: Final = ({"epsilon": 1.0}, {"epsilon": 3.0}, {"epsilon": 10.0}, {"rho": 0.1}, {"rho": 1.0}, {"rho": 10.0})


@dataclass(frozen=True)
class Design:
    """One design; number: its seed."""

    number: int

    @cached_property
    def facts(self) -> dict[str, Any]:
        """All that is drawn."""
        rng = np.random.default_rng([2026, 11, 27, 81, self.number])
        few = bool(rng.random() < 0.7)
        rows = 10 ** rng.uniform(0.6, 1.78, 2) if few else 10 ** rng.uniform(2.0, 3.3, 2)
        chance = 10 ** (rng.uniform(-1.5, -0.2, 2) if few else rng.uniform(-2.7, -1.2, 2))
        certain = rng.random(2) < 0.2
        return {
            "few": few,
            "rows": [round(one) for one in rows],
            "chance": [float(f"{c:.3g}") for c in np.where(certain, 1 - np.round(chance, 4), np.round(chance, 4))],
            "price": PRICES[int(rng.integers(len(PRICES)))],
        }

    @property
    def words(self) -> str:
        """The design in a line."""
        (n, m), (p, q) = self.facts["rows"], self.facts["chance"]
        price = ", ".join(f"{name} {value:g}" for name, value in self.facts["price"].items())
        return f"{n} and {m} rows, chances {p:g} and {q:g}, {price}"

    def estimate(self, table: int) -> Any:
        """Means of PAIRS groups a0, a1, … and as many b0, b1, … of one table."""
        rng = np.random.default_rng([82, self.number, table])
        (n, m), (p, q) = self.facts["rows"], self.facts["chance"]
        levels = [f"{name}{i}" for name in "ab" for i in range(PAIRS)]
        group = np.repeat(levels, [n] * PAIRS + [m] * PAIRS)
        event = rng.random(len(group)) < np.repeat([p, q], [n * PAIRS, m * PAIRS])
        schema = tc.Schema({"event": tc.Boolean(), "group": tc.Category(levels)})
        made = simulate(
            tc.Mean("event", by="group"), {"event": event, "group": group}, schema, repeats=1, rng=rng,
            **self.facts["price"],
        )  # fmt: skip
        return made.release(0).estimate()


def answers(design: Design, tables: int) -> Iterator[tuple[str, float, float, float, bool]]:
    """Yield question, limits, truth, and whether there is no reason."""
    p, q = design.facts["chance"]
    truths = {"risk ratio": p / q, "odds ratio": p / (1 - p) * (1 - q) / q}
    for table in range(tables):
        found = design.estimate(table)
        for i in range(PAIRS):
            for name, one in (
                ("risk ratio", found.ratio(f"a{i}", f"b{i}")),
                ("odds ratio", found.odds_ratio(f"a{i}", f"b{i}")),
            ):
                low, high = one.conf_int()
                yield name, low, high, truths[name], not one.reason


class Tally:
    """What was found of one question: held and answers, held of all and all, too low, and widths."""

    def __init__(self) -> None:
        self.held = self.answers = self.every = self.all = self.low = 0
        self.widths = list[float]()

    def add(self, low: float, high: float, truth: float, told: bool) -> None:
        """Count an interval."""
        holds = low <= truth <= high
        self.held, self.answers = self.held + (told and holds), self.answers + told
        self.every, self.all, self.low = self.every + holds, self.all + 1, self.low + (told and high < truth)
        if told and 0 < low <= high < math.inf:
            self.widths.append(math.log(high / low))

    def row(self) -> str:
        """Cells of a table."""
        part = f"{100 * self.held / self.answers:.1f}" if self.answers else "–"
        width = f"{np.median(self.widths):.2f}" if self.widths else "–"
        answered = 100 * self.answers / max(self.all, 1)
        return f"{part} | {self.answers:,} | {answered:.0f} | {100 * self.every / max(self.all, 1):.1f} | {width} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=FIRST)
    parser.add_argument("--designs", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=2, help="tables of each design, of 20 pairs")
    parser.add_argument("--each", action="store_true", help="a line for each design")
    parser.add_argument("--plain", action="store_true", help="to the terminal only")
    given = parser.parse_args()
    sums, lines = defaultdict[str, Tally](Tally), list[str]()
    for number in range(given.first, given.first + given.designs):
        design = Design(number)
        own = defaultdict[str, Tally](Tally)
        for name, low, high, truth, told in answers(design, given.repeats):
            group = f"{name}, {'4 to 60 rows' if design.facts['few'] else 'rare events'}"
            sums[group].add(low, high, truth, told)
            own[name].add(low, high, truth, told)
        for name, one in own.items():
            bad = one.answers and 0.93 - one.held / one.answers > 2.33 * math.sqrt(0.93 * 0.07 / one.answers)
            if bad or given.each:
                lines.append(f"| {name} | {number} | {design.words} | {one.row()}")
                print(lines[-1], flush=True)
    head = "held, % | answers | answers, % | of all, % | width |"
    text = "\n".join(
        [
            "## Ratios of few rows and of rare events",
            "",
            f"{given.designs} designs drawn at random, {given.repeats * PAIRS} pairs of groups of each.",
            "",
            f"| question | {head}\n|---|---:|---:|---:|---:|---:|",
            *(f"| {name} | {one.row()}" for name, one in sorted(sums.items())),
            "",
            "Designs that hold in fewer than 93% of their answers by more than 2.33 Monte-Carlo standard errors:",
            "",
            f"| question | design | | {head}\n|---|---|---|---:|---:|---:|---:|---:|",
            *(lines or ["| none | | | | | | | |"]),
        ]
    )
    if given.plain or given.each:
        print(text)
    else:
        put(PAGE, "ratios_of_few.py", text)


if __name__ == "__main__":
    main()
