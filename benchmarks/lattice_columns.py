"""Columns told in multiples of a number that nobody declared, in automatic bins of unequal and of equal widths.

    python benchmarks/lattice_columns.py [told | smooth] [--set first | fresh] [--repeats N] [--design NUMBER ...]
        [--plain]

`drawn` makes designs from a constant seed.  Those of the set "first" were looked at while the rule was made; those of
"fresh" were committed before any of them was simulated, and none was left out or changed.  "told": of a column a share
of the rows is told to multiples of a round number, to the nearest or down to one, to the middles of classes of a round
width, or to places any number apart that begin anywhere.  "smooth": laws of the same kinds, one in four of two modes,
told to nothing.  1,000 to 30,000 rows, bounds as a curator writes them, prices in ε and ρ.
Equal: as many bins of one width, as automatic ones were; now: automatic bins (`schema.autobins`), with what they show
of lattices (`fits.heaps.lattice_evidence`).  Intervals of 95% of the table's own mean, sd and quantiles .1, .5 and .9.
Written into docs/reference/heaped-values.md, with --plain printed only.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import unclear_heaps as unclear
import undeclared_heaps as earlier
from pages import put

import tacit as tc

SEEDS: Final = {"first": 70_451, "fresh": 70_452}
DESIGNS: Final = {"told": 32, "smooth": 32}
KINDS: Final = ("nearest", "nearest", "down", "classes", "anywhere")
SHARES: Final = (0.3, 0.6, 1.0, 1.0)
ROUND: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
PROBS: Final = (0.1, 0.5, 0.9)
SHOWN: Final = ("mean", "sd", "quantiles")
WAYS: Final = ("equal", "now")


Lines = Callable[[str, str, int, list[int] | None], Iterator[str]]
"""Lines of a part's table: of a part, a set, so many simulations, and some designs or all."""


@dataclass(frozen=True)
class Column:
    """A law between 0 and a bound, of whose rows a share is told to places `spacing` apart; 0: none are."""

    words: str
    law: Any
    upper: float
    rows: int
    price: tuple[str, str]
    share: float
    spacing: float
    first: float
    down: bool

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return one table's column."""
        x = self.law.ppf(rng.random(self.rows))
        if self.spacing:
            steps = (x - self.first) / self.spacing
            told = self.first + self.spacing * (np.floor(steps) if self.down else np.round(steps))
            # as written, not as a sum of floats
            x = np.where(rng.random(self.rows) < self.share, told.round(9), x)
        return np.clip(x, 0.0, self.upper)


def spacing_of(rng: np.random.Generator, kind: str, sd: float) -> tuple[float, float]:
    """Draw a spacing between .08 and 1.2 standard deviations, and the first place."""
    about = sd * 10 ** rng.uniform(np.log10(0.08), np.log10(1.2))
    if kind == "anywhere":
        spacing = earlier.digits(about)
        return spacing, earlier.digits(spacing * rng.uniform(0.05, 0.95))
    ten = 10.0 ** np.floor(np.log10(about))
    spacing = float(min((one * ten for one in ROUND), key=lambda one: abs(np.log(one / about))))
    return spacing, spacing / 2 if kind == "classes" else 0.0


def drawn(part: str, which: str) -> list[Column]:
    """Return the designs of a part of a set."""
    rng, found = np.random.default_rng([SEEDS[which], list(DESIGNS).index(part)]), list[Column]()
    for i in range(DESIGNS[part]):
        words, law = unclear.two_modes(rng) if part == "smooth" and i % 4 == 3 else earlier.law_of(rng)
        rows = int(earlier.digits(10 ** rng.uniform(3, np.log10(30_000))))
        price = unclear.PRICES[int(rng.integers(len(unclear.PRICES)))]
        kind, share = str(rng.choice(KINDS)), float(rng.choice(SHARES))
        sd = float(np.std(law.ppf((np.arange(2_000) + 0.5) / 2_000)))
        spacing, first = spacing_of(rng, kind, sd)
        if part == "smooth":
            spacing, first, share = 0.0, 0.0, 0.0
        told = f", {100 * share:.0f}% {kind} {spacing:g} ({spacing / sd:.2f} sd)" if spacing else ""
        upper = unclear.bounded(law, rows, 0.0)
        found.append(Column(f"{i + 1}: {words}{told}", law, upper, rows, price, share, spacing, first, kind == "down"))
    return found


def simulated(one: Column, repeats: int, which: str) -> dict[str, earlier.Tally]:
    """Release and estimate in both ways."""
    tallies = {way: earlier.Tally() for way in WAYS}
    rng = np.random.default_rng([SEEDS[which], *one.words.encode(), one.rows])
    schema = tc.Schema({"x": tc.Real(0, one.upper)})
    price, whole = dict([one.price]), {one.price[0]: 1_000}
    for _ in range(repeats):
        x = one.draw(rng)
        curator = tc.Curator({"x": x}, schema, budget=tc.Budget(**whole))
        cells = {"now": curator.release(tc.Histogram("x", bins="auto"), **price)}
        many = len(cells["now"].axes[0].edges) - 1
        cells["equal"] = curator.release(tc.Histogram("x", bins={"x": many}), **price)
        for way, tally in tallies.items():
            count(tally, cells[way], x)
    return tallies


def count(tally: earlier.Tally, cells: Any, x: np.ndarray) -> None:
    """Count the answers of a release about a table."""
    unit = float(x.std())
    found = cells.moments("x", target="table")
    limits = np.asarray(found.intervals())
    for name, at, truth in (("mean", 0, x.mean()), ("sd", 2, x.std())):
        tally.add(name, limits[at], float(truth), found.reasons[at], unit)
    asked = cells.quantiles("x", PROBS, target="table")
    each = zip(np.asarray(asked.intervals()), np.quantile(x, PROBS, method="inverted_cdf"), asked.reasons, strict=True)
    for (low, high), truth, reason in each:
        # places are decimals, and limits floats
        tally.add("quantiles", (low - 1e-6 * unit, high + 1e-6 * unit), float(truth), reason, unit)


def lines(part: str, which: str, repeats: int, numbers: list[int] | None) -> Iterator[str]:
    """Return the lines of a part's table."""
    yield f"| column | to | rows | price | {' | '.join(f'{name}, {way}' for name in SHOWN for way in WAYS)} |"
    yield "|---|---:|---:|---|" + "---:|" * len(SHOWN) * len(WAYS)
    held, long = list[list[float]](), list[list[float]]()
    for number, one in enumerate(drawn(part, which), 1):
        if numbers and number not in numbers:
            continue
        found = simulated(one, repeats, which)
        price = f"{'ε' if one.price[0] == 'epsilon' else 'ρ'} = {one.price[1]}"
        words = (one.words, f"{one.upper:g}", f"{one.rows:,}", price)
        yield f"| {' | '.join((*words, *(found[way].shown(name) for name in SHOWN for way in WAYS)))} |"
        each = [(found[way], name) for name in SHOWN for way in WAYS]
        held.append([100 * mean_of(tally.held[name]) for tally, name in each])
        long.append([mean_of(tally.length[name]) for tally, name in each])
    yield from closing(held, long, blank=3)


def closing(held: list[list[float]], long: list[list[float]], blank: int) -> Iterator[str]:
    """Yield what all designs have together: coverages in %, and lengths beside those of the first of WAYS.

    held, long: of each design, ways side by side.  blank: number of columns that say what a design is, after its name.
    """
    covered, length = np.array(held), np.array(long)
    ratio = length / np.repeat(length[:, :: len(WAYS)], len(WAYS), axis=1)
    for words, values, form in (
        ("coverage, mean of designs", np.nanmean(covered, axis=0), "{:.1f}"),
        ("designs below 85%", (covered < 85).sum(axis=0), "{:.0f}"),
        ("length beside equal, median", np.nanmedian(ratio, axis=0), "{:.2f}"),
        ("length beside equal, geometric mean", np.exp(np.nanmean(np.log(ratio), axis=0)), "{:.2f}"),
        ("designs more than 1.3 as long", (ratio > 1.3).sum(axis=0), "{:.0f}"),
    ):
        yield f"| {words} |{' |' * blank} {' | '.join(form.format(one) for one in values)} |"


def mean_of(values: list[float]) -> float:
    """Return their mean; NaN of none."""
    return float(np.mean(values)) if values else float("nan")


ABOUT: Final = {
    "told": "## Told in multiples, bins of unequal widths\n\nDrawn columns told to multiples that nobody declared.",
    "smooth": "## Smooth columns, bins of unequal widths\n\nWhat unequal widths cost columns that are told to nothing.",
}
WORDS: Final = (
    "Intervals that hold the table's own, of those that are told, in %, after a stroke how many are told,\nin brackets "
    "the median length in sds; of the quantiles .1, .5 and .9 together.  Equal: as many bins of one width; now:\n"
    "automatic bins, and what they show."
)


def command(script: str, words: str | None, about: dict[str, str], lines: Lines, said: str) -> None:
    """Print a part that the command line names, and write it into the page if it is of all fresh designs.

    script: its file.  words: what it is.  about: heading of each part.  said: what the table shows.
    """
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", default=next(iter(about)), choices=list(about))
    parser.add_argument("--set", default="fresh", choices=list(SEEDS))
    parser.add_argument("--repeats", type=int, default=12)
    parser.add_argument("--design", type=int, nargs="*", default=None)
    parser.add_argument("--plain", action="store_true")
    given, made = parser.parse_args(), list[str]()
    for line in lines(given.part, given.set, given.repeats, given.design):
        print(line, flush=True)
        made.append(line)
    if not given.plain and not given.design and given.set == "fresh":
        above = f"{about[given.part]}\n{given.repeats} simulations a row.  {said}\n\n"
        put(earlier.PAGE, f"{script} {given.part}", above + "\n".join(made))


if __name__ == "__main__":
    command("lattice_columns.py", __doc__, ABOUT, lines, WORDS)
