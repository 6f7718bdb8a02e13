"""What heaps that may be there cost means and standard deviations of columns with and without: fresh designs.

    python benchmarks/weighed_heaps.py [smooth | heaps | declared | real | told] [--repeats N] [--plain]

`drawn` makes designs from a constant seed; they were committed before any of them was simulated, and none was left
out or changed. "smooth": laws without heaps, one in four of two modes, 2,000 to 20,000 rows. "heaps": undeclared ones
as in unclear_heaps.py, 500 to 20,000 rows. "declared": a share of all rows at multiples of a declared number, in bins
of which some hold no multiple. "real": columns on which the rules were made, drawn without replacement: incomes and
ages of adults in California (shared/data, left out where it is not there), and of Fair's table (statsmodels), with
what a curator may declare; a share of the ages told to the nearest five.
"told": what counts can tell at all, by how many bins they fill (no releases, so many tables as --repeats says).
Three ways: none, without any allowance for what no test of bins sees; before, with all of it,
and without regard to what declared heaps explain; now.  Intervals of 95% of the table's own mean and sd.
Written into docs/reference/heaped-values.md, with --plain printed only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np
import unclear_heaps as unclear
import undeclared_heaps as earlier
from scipy import stats

import tacit as tc
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.cells.log_densities import LogDensities
from tacit.fits.heaps import hidden_heaps
from tacit.fits.heaps.heap_evidence import HEAPED, heaps_plausible
from tacit.fits.heaps.hidden_heaps import HiddenHeaps
from tacit.fits.within_bins import bin_rules, bin_shapes

SEED: Final = 90_533
DESIGNS: Final = {"smooth": 32, "heaps": 32, "declared": 16}
UNITS: Final = (0.1, 0.2, 0.25, 0.5)
"""Distances of declared heaps, in upper bounds of the column."""
SHARES: Final = (0.1, 0.3, 0.6, 0.9)
PEOPLE: Final = Path(__file__).parents[2] / "shared" / "data" / "pums_california_10000.parquet"
WAYS: Final = ("none", "before", "now")


@dataclass(frozen=True)
class Asked:
    """A design with its price, what is declared, and its bins."""

    design: Any
    price: tuple[str, str]
    heaped_at: float | None = None
    bins: Any = "auto"


@dataclass(frozen=True)
class Real:
    """So many values drawn without replacement from a real column."""

    words: str
    column: str
    rows: int
    upper: float
    lower: float = 0.0
    fives: float = 0.0
    unit: float | None = None

    @cached_property
    def values(self) -> np.ndarray:
        """All of them, within the bounds."""
        if self.column == "fair":
            return unclear.Fair("", 1).ages
        import pyarrow.parquet as pq

        x = pq.read_table(PEOPLE)[self.column].to_numpy().astype(np.float64)
        return np.clip(x, self.lower, self.upper)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return one table's column; fives: share of the rows that are told to the nearest five."""
        x = rng.choice(self.values, self.rows, replace=False)
        return np.where(rng.random(self.rows) < self.fives, np.clip(5 * np.round(x / 5), self.lower, self.upper), x)


def _declared(rng: np.random.Generator, number: int) -> Asked:
    """Draw a column with declared heaps."""
    words, law = earlier.law_of(rng)
    share, rows = float(rng.choice(SHARES)), int(earlier.digits(10 ** rng.uniform(3, 5)))
    upper = unclear.bounded(law, rows, 0.0)
    unit = float(rng.choice(UNITS)) * upper
    places = tuple(np.arange(0, upper + unit / 2, unit).tolist())
    price = unclear.PRICES[int(rng.integers(len(unclear.PRICES)))]
    # typed bins are narrower than the distance of two heaps, with these anywhere in them
    bins: Any = "auto" if rng.random() < 0.5 else int(rng.integers(round(upper / unit) * 2, 41))
    told = f"{number}: {words}, {100 * share:.0f}% at multiples of {unit:g}"
    return Asked(earlier.Design(told, law, 0.0, upper, places, share, rows, 0.0), price, unit, bins)


def drawn(part: str) -> list[Asked]:
    """Return the designs of a part."""
    rng, found = np.random.default_rng([SEED, list(DESIGNS).index(part)]), list[Asked]()
    for i in range(DESIGNS[part]):
        if part == "declared":
            found.append(_declared(rng, i + 1))
            continue
        words, law = unclear.two_modes(rng) if part == "smooth" and i % 4 == 3 else earlier.law_of(rng)
        kind, share = str(rng.choice(unclear.KINDS)), float(rng.choice(unclear.SHARES))
        share = min(share, 0.5) if kind == "spike" else share
        places = unclear.places_of(rng, law, kind)
        least = 2_000 if part == "smooth" else 500
        rows = int(earlier.digits(10 ** rng.uniform(np.log10(least), np.log10(20_000))))
        price = unclear.PRICES[int(rng.integers(len(unclear.PRICES)))]
        if part == "smooth":
            places, share = (), 0.0
        told = f", {100 * share:.0f}% at {len(places)} {kind}" if places else ""
        upper = unclear.bounded(law, rows, max(places, default=0.0))
        found.append(Asked(earlier.Design(f"{i + 1}: {words}{told}", law, 0.0, upper, places, share, rows, 0.0), price))
    return found


def real() -> list[Asked]:
    """Return real columns, with what is declared of them."""
    found = [
        Asked(Real("Fair's ages, a false declaration", "fair", rows, 50.0), price, 12.5)
        for rows in (2_000, 4_500)
        for price in (("epsilon", "1"), ("rho", "0.05"))
    ]
    if not PEOPLE.exists():
        return found
    for rows, price in ((2_000, ("epsilon", "1")), (8_000, ("epsilon", "0.5")), (8_000, ("rho", "0.05"))):
        money = Real("incomes", "income", rows, 200_000.0)
        found += [
            Asked(money, price, unit, bins) for unit, bins in ((50_000.0, "auto"), (50_000.0, 40), (20_000.0, 40))
        ]
        for fives, unit, bins in ((0.0, None, "auto"), (0.0, 25.0, "auto"), (0.3, 5.0, 25), (0.3, 25.0, "auto")):
            words = f"ages, {100 * fives:.0f}% told in fives"
            found.append(Asked(Real(words, "age", rows, 93.0, 18.0, fives, 1.0), price, unit, bins))
    return found


@contextmanager
def concluding(way: str) -> Iterator[None]:
    """Estimate with what is concluded in one of WAYS."""
    found = bin_rules.heaped_rows

    def seen(*args: Any) -> HiddenHeaps:
        made = found(*args)
        return replace(made, unseen=np.zeros_like(made.unseen))

    with ExitStack() as stack:
        if way == "none":
            stack.enter_context(patch.object(bin_rules, "heaped_rows", seen))
        if way == "before":
            stack.enter_context(patch.object(hidden_heaps, "heaps_plausible", lambda _: 1.0))
            for module in (hidden_heaps, bin_shapes):
                stack.enter_context(patch.object(module, "declared_heaps", lambda *_: None))
        yield


def simulated(one: Asked, repeats: int) -> dict[str, earlier.Tally]:
    """Release and estimate in each way."""
    design, tallies = one.design, {way: earlier.Tally() for way in WAYS}
    rng = np.random.default_rng([SEED, *design.words.encode(), design.rows, len(str(one.bins)), *one.price[1].encode()])
    column = tc.Real(design.lower, design.upper, multiple_of=getattr(design, "unit", None), heaped_at=one.heaped_at)
    schema = tc.Schema({"x": column})
    price: Any = dict([one.price])
    for _ in range(repeats):
        x = design.draw(rng)
        whole: Any = {one.price[0]: 1_000}
        curator = tc.Curator({"x": x}, schema, budget=tc.Budget(**whole))
        bins = one.bins if one.bins == "auto" else {"x": one.bins}
        cells = curator.release(tc.Histogram("x", bins=bins), **price)
        for way, tally in tallies.items():
            with concluding(way):
                found = cells.moments("x", target="table")
                limits = np.asarray(found.intervals())
            for name, at, truth in (("mean", 0, x.mean()), ("sd", 2, x.std())):
                tally.add(name, limits[at], float(truth), found.reasons[at], float(x.std()))
    return tallies


SHOWN: Final = ("mean", "sd")


def lines(part: str, repeats: int, numbers: list[int] | None) -> Iterator[str]:
    """Return the lines of a part's table."""
    if part == "told":
        yield from told(repeats)
        return
    columns = " | ".join(f"{name}, {way}" for name in SHOWN for way in WAYS)
    yield f"| column | declared | bins | rows | price | {columns} |"
    yield "|---|---:|---|---:|---|" + "---:|" * len(SHOWN) * len(WAYS)
    lengths, held = list[list[float]](), list[list[float]]()
    for number, one in enumerate(real() if part == "real" else drawn(part), 1):
        if numbers and number not in numbers:
            continue
        found = simulated(one, repeats)
        price = f"{'ε' if one.price[0] == 'epsilon' else 'ρ'} = {one.price[1]}"
        heaps = "–" if one.heaped_at is None else f"{one.heaped_at:,g}"
        words = (one.design.words, heaps, str(one.bins), f"{one.design.rows:,}", price)
        yield f"| {' | '.join((*words, *(found[way].shown(name) for name in SHOWN for way in WAYS)))} |"
        each = [(found[way], name) for name in SHOWN for way in WAYS]
        lengths.append([_mean(tally.length[name]) for tally, name in each])
        held.append([100 * _mean(tally.held[name]) for tally, name in each])
    long, covered = np.array(lengths), np.array(held)
    base = np.repeat(long[:, [0, len(WAYS)]], len(WAYS), axis=1)
    yield _row("coverage, mean of designs", np.nanmean(covered, axis=0), "{:.1f}")
    yield _row("designs below 85%", (covered < 85).sum(axis=0), "{:.0f}")
    for words, made in (("mean", np.nanmean), ("median", np.nanmedian), ("largest", np.nanmax)):
        yield _row(f"length beside none, {words}", made(long / base, axis=0), "{:.2f}")
    yield _row("designs more than 1.3 as long", (long / base > 1.3).sum(axis=0), "{:.0f}")
    if part in ("declared", "real"):
        yield _row(
            "length beside before, median", np.nanmedian(long / np.repeat(long[:, [1, 4]], 3, axis=1), axis=0), "{:.2f}"
        )


def told(repeats: int) -> Iterator[str]:
    """Return the lines of a table of how plausible heaps are, by the number of filled bins and of rows."""
    yield "| filled bins | rows | normal law: median | 9 in 10 at most | two modes: median | heaped: a tenth at most |"
    yield "|---:|---:|---:|---:|---:|---:|"
    rng = np.random.default_rng([SEED, 99])
    for bins in (3, 4, 5, 6, 8, 10, 14):
        for rows in (2_000, 10_000, 50_000):
            axis = CellAxis("x", "continuous", np.arange(bins + 1.0))
            place = (np.arange(bins) + 0.5) / bins
            normal = stats.norm(0.5, 0.22).pdf(place)
            two = stats.norm(0.3, 0.12).pdf(place) + stats.norm(0.75, 0.1).pdf(place)
            odds = [list[float](), list[float](), list[float]()]
            for _ in range(repeats):
                # each bin's part of the places is drawn, on its own
                heaped = normal * np.exp(rng.normal(0, rng.choice(HEAPED), bins))
                for found, shape in zip(odds, (normal, two, heaped), strict=True):
                    counts = rng.multinomial(rows, shape / shape.sum()) + rng.laplace(0, 2, bins)
                    found.append(heaps_plausible(LogDensities.of(axis, counts, 8.0)))
            quantiles = [np.quantile(odds[i], p) for i, p in ((0, 0.5), (0, 0.9), (1, 0.5), (2, 0.1))]
            yield f"| {bins} | {rows:,} | {' | '.join(f'{one:.2f}' for one in quantiles)} |"


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _row(words: str, values: Any, form: str) -> str:
    return f"| {words} | | | | | {' | '.join(form.format(one) for one in values)} |"


ABOUT: Final = {
    "smooth": "## Smooth columns, weighed\n\nWhat the allowance for heaps that no test sees costs columns without any.",
    "heaps": "## Undeclared heaps, weighed\n\nWhether columns with undeclared heaps are still held.",
    "declared": "## Declared heaps, and bins without one\n\nDrawn columns; some of their bins hold no declared heap.",
    "real": "## Incomes and ages, declared or not\n\nReal columns, on which the rules were made.",
    "told": "## What counts can tell of heaps\n\nOdds by which the allowance is weighed, of drawn tables at ε = 1.",
}
WORDS: Final = (
    "Intervals that hold the table's own mean and sd, of those that are told, in %, after a\nstroke how many are told, "
    "in brackets the median length in sds.  None: without what no test of bins sees; before: with all\nof it, "
    "whatever other bins and declarations say; now: in proportion to how plausible heaps are."
)

ODDS: Final = (
    "An allowance, as a variance, counts by the odds: 1 where counts leave\nheaps open.  Columns of bins of equal "
    "width that are all filled: a normal law whose sd is .22 of their range, two modes a\nquarter of it from the ends, "
    "and the normal law with each bin's rows off on its own, as heaps make them."
)


if __name__ == "__main__":
    earlier.run("weighed_heaps.py", __doc__, ABOUT, ODDS if sys.argv[1:2] == ["told"] else WORDS, lines)
