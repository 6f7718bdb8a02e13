"""Columns told in multiples that nobody declared, in bins that somebody typed; and anew in automatic ones.

    python benchmarks/lattice_typed.py [auto | equal | uneven | smooth | pairs] [--set first | fresh] [--repeats N]
        [--design NUMBER ...] [--plain]

`drawn` and `pairs` make designs from a constant seed.  Those of the set "first" were looked at while notes and end bins
were changed; those of "fresh" were committed before any of them was simulated, and none was left out or changed.
Columns, laws, rows and prices are drawn as in `lattice_columns`.  "auto": in automatic bins;
"equal": in 6 to 40 bins of one width; "uneven": with edges like rounded quantiles, of widths that grow, or at round
numbers in any order; "smooth": in bins of one width and uneven ones in turn, told to nothing.  "pairs": a regressor and
a response of numbers as in `lattice_fits`, both in uneven bins; linear and Huber's regressions, and correlations.
Without: the same releases without what counts show of lattices (`lattice_evidence`).  Intervals of 95%, of the
table's own mean, sd and quantiles .1, .5 and .9, or of what is true of the population.
Written into docs/reference/heaped-values.md, with --plain printed only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from unittest.mock import patch

import lattice_columns as single
import lattice_fits as double
import numpy as np
import unclear_heaps as unclear
import undeclared_heaps as earlier

import tacit as tc
from tacit.fits.within_bins import bin_errors, within_bin_shares

SEEDS: Final = {"first": 71_301, "fresh": 71_302}
DESIGNS: Final = {"auto": 24, "equal": 24, "uneven": 24, "smooth": 24, "pairs": 16}
EDGES: Final = ("quantiles", "growing", "round")
GROWTH: Final = (1.0, 1.0, 1.0, 2.0, 2.0, 4.0)
"""Widths of bins that grow, beside that of the first; the last as often as is needed."""
WAYS: Final = ("without", "now")
NUMBERS: Final = ("mean", "sd", "quantiles")
FITTED: Final = ("slope", "intercept", "correlation", "mean of x")


@dataclass(frozen=True)
class Typed:
    """A column, and its bins: a number, inner edges, or "auto"."""

    column: single.Column
    bins: Any


@dataclass(frozen=True)
class TypedPair:
    """A pair with inner edges of both columns; seed: of its set."""

    seed: int
    pair: double.Pair
    bins: dict[str, tuple[float, ...]]

    @cached_property
    def truth(self) -> dict[str, float]:
        """Numbers of the population."""
        one = self.pair
        x, y = one.draw(double.POPULATION, np.random.default_rng([self.seed, *one.words.encode()]))
        intercept, slope = double.plain_fit(one.model, x, y)
        return {"slope": slope, "intercept": intercept, "correlation": float(np.corrcoef(x, y)[0, 1])}


def typed_edges(rng: np.random.Generator, kind: str, x: np.ndarray, upper: float) -> tuple[float, ...]:
    """Draw inner edges of a kind for a column with values x between 0 and a bound."""
    many = int(rng.integers(6, 15))
    if kind == "quantiles":
        raw = np.quantile(x, np.arange(1, many) / many)
        unit = 10.0 ** np.floor(np.log10(float(np.diff(raw).min()) + upper / 200))
        found = np.round(raw / unit) * unit
    elif kind == "growing":
        widths = np.array([*GROWTH, *[GROWTH[-1]] * many][:many])
        found = earlier.digits(upper / widths.sum()) * np.cumsum(widths)
    else:
        unit = earlier.digits(upper / (2 * many), 1)
        found = unit * np.sort(rng.choice(np.arange(1, int(upper / unit)), many, replace=False))
    return tuple(float(one) for one in np.unique(found.round(9)) if 0 < one < upper)


def bins_of(rng: np.random.Generator, part: str, number: int, one: single.Column) -> tuple[str, Any]:
    """Draw the bins of a column, with words for them."""
    if part == "auto":
        return "auto", "auto"
    if part == "equal" or (part == "smooth" and number % 2 == 0):
        many = int(rng.integers(6, 41))
        return f"{many} of one width", many
    kind = str(rng.choice(EDGES))
    made = typed_edges(rng, kind, one.law.ppf((np.arange(2_000) + 0.5) / 2_000), one.upper)
    return f"{len(made) + 1} {kind}", made


def drawn(part: str, which: str) -> list[Typed]:
    """Return the designs of a part of single columns, of a set."""
    rng, found = np.random.default_rng([SEEDS[which], list(DESIGNS).index(part)]), list[Typed]()
    for i in range(DESIGNS[part]):
        words, law = unclear.two_modes(rng) if part == "smooth" and i % 4 == 3 else earlier.law_of(rng)
        rows = int(earlier.digits(10 ** rng.uniform(3.3, np.log10(50_000))))
        price = unclear.PRICES[int(rng.integers(len(unclear.PRICES)))]
        kind, share = str(rng.choice(single.KINDS)), float(rng.choice(single.SHARES))
        sd = float(np.std(law.ppf((np.arange(2_000) + 0.5) / 2_000)))
        spacing, first = single.spacing_of(rng, kind, sd)
        told = f", {100 * share:.0f}% {kind} {spacing:g} ({spacing / sd:.2f} sd)"
        if part == "smooth":
            spacing, first, share, told = 0.0, 0.0, 0.0, ""
        upper = unclear.bounded(law, rows, 0.0)
        one = single.Column("", law, upper, rows, price, share, spacing, first, kind == "down")
        how, bins = bins_of(rng, part, i, one)
        what = f"{i + 1}: {words}{told}; {how}"
        found.append(Typed(single.Column(what, law, upper, rows, price, share, spacing, first, kind == "down"), bins))
    return found


def pairs(which: str) -> list[TypedPair]:
    """Return the designs of pairs of a set."""
    rng, found = np.random.default_rng([SEEDS[which], list(DESIGNS).index("pairs")]), list[TypedPair]()
    for i in range(DESIGNS["pairs"]):
        model = ("linear", "huber")[i % 2]
        words, law = earlier.law_of(rng)
        rows = int(earlier.digits(10 ** rng.uniform(np.log10(6_000), np.log10(60_000))))
        price = unclear.PRICES[int(rng.integers(len(unclear.PRICES)))]
        strength, tail = earlier.digits(rng.uniform(0.3, 0.8)), str(rng.choice(["normal", "normal", "gamma"]))
        x = law.ppf((np.arange(2_000) + 0.5) / 2_000)
        whose = str(rng.choice(["x", "y", "both"]))
        (of_x, told_x), (of_y, told_y) = double.told_of(rng, float(np.std(x))), double.told_of(rng, double.SPREAD)
        told = (told_x if whose != "y" else double.Told(), told_y if whose != "x" else double.Told())
        kinds = [str(rng.choice(EDGES)) for _ in "xy"]
        y = double.MIDDLE + double.SPREAD * rng.standard_normal(2_000)
        bins = {
            "x": typed_edges(rng, kinds[0], x, unclear.bounded(law, rows, 0.0)),
            "y": typed_edges(rng, kinds[1], np.clip(y, 0, double.RESPONSES), double.RESPONSES),
        }
        how = "".join(f", {name} {one}" for name, one in (("x", of_x), ("y", of_y)) if whose in (name, "both"))
        size = "; ".join(f"{name} {len(bins[name]) + 1} {kind}" for name, kind in zip("xy", kinds, strict=True))
        what = f"{i + 1}: {model}, {words}, {strength:g}{' gamma' if tail == 'gamma' else ''}{how}; {size}"
        found.append(TypedPair(SEEDS[which], double.Pair(what, model, law, strength, tail, rows, price, told), bins))
    return found


@contextmanager
def without_lattices() -> Iterator[None]:
    """Take no count as a sign of lattices."""
    with (
        patch.object(bin_errors, "lattices_of", lambda *_: None),
        patch.object(within_bin_shares, "lattices_of", lambda *_: None),
    ):
        yield


def noted(tally: earlier.Tally, notes: tuple[str, ...]) -> None:
    """Count whether a note says that rounding may matter."""
    tally.add("noted", (0.0, 1.0), 0.5 if any("rounded" in one or "in steps" in one for one in notes) else 2.0, None, 1)


def simulated_column(one: Typed, repeats: int, which: str) -> dict[str, earlier.Tally]:
    """Release and estimate in both ways."""
    column, tallies = one.column, {way: earlier.Tally() for way in WAYS}
    rng = np.random.default_rng([SEEDS[which], *column.words.encode(), column.rows])
    schema = tc.Schema({"x": tc.Real(0, column.upper)})
    for _ in range(repeats):
        x = column.draw(rng)
        curator = tc.Curator({"x": x}, schema, budget=tc.Budget(**{column.price[0]: 1_000}))
        cells = curator.release(tc.Histogram("x", bins={"x": one.bins}), **dict([column.price]))
        for way, tally in tallies.items():
            with without_lattices() if way == "without" else nullcontext():
                single.count(tally, cells, x)
                asked = cells.quantiles("x", single.PROBS, target="table")
                noted(tally, (*cells.moments("x", target="table").notes, *asked.notes))
    return tallies


def simulated_pair(one: TypedPair, repeats: int) -> dict[str, earlier.Tally]:
    """Release and fit in both ways."""
    pair, truth, tallies = one.pair, one.truth, {way: earlier.Tally() for way in WAYS}
    rng = np.random.default_rng([one.seed, *pair.words.encode(), pair.rows])
    sizes = {"slope": abs(truth["slope"]), "intercept": abs(truth["slope"]) * (pair.size[0] + pair.size[1])}
    for _ in range(repeats):
        x, y = pair.draw(pair.rows, rng)
        curator = tc.Curator({"x": x, "y": y}, pair.schema, budget=tc.Budget(**{pair.price[0]: 1_000}))
        cells = curator.release(tc.Histogram(["x", "y"], bins=one.bins), **dict([pair.price]))
        for way, tally in tallies.items():
            with without_lattices() if way == "without" else nullcontext():
                fit = cells.fit("y ~ x", model=pair.model, **pair.options)
                limits = np.asarray(fit.coefficients.intervals())
                for at, name in enumerate(("intercept", "slope")):
                    tally.add(name, limits[at], truth[name], fit.coefficients.reasons[at], sizes[name])
                found = cells.correlation(["x", "y"])
                tally.add("correlation", found.intervals()[0], truth["correlation"], found.reasons[0], 1.0)
                moments = cells.moments("x", target="table")
                tally.add("mean of x", moments.intervals()[0], float(x.mean()), moments.reasons[0], float(x.std()))
                noted(tally, fit.notes)
    return tallies


def lines(part: str, which: str, repeats: int, numbers: list[int] | None) -> Iterator[str]:
    """Return the lines of a part's table, of a set."""
    shown = FITTED if part == "pairs" else NUMBERS
    yield f"| design | rows | price | {' | '.join(f'{name}, {way}' for name in shown for way in WAYS)} | noted |"
    yield "|---|---:|---|" + "---:|" * (len(shown) * len(WAYS) + 1)
    held, long = list[list[float]](), list[list[float]]()
    for number, one in enumerate(pairs(which) if part == "pairs" else drawn(part, which), 1):
        if numbers and number not in numbers:
            continue
        at, found = (
            (one.pair, simulated_pair(one, repeats))
            if isinstance(one, TypedPair)
            else (one.column, simulated_column(one, repeats, which))
        )
        price = f"{'ε' if at.price[0] == 'epsilon' else 'ρ'} = {at.price[1]}"
        each = [(found[way], name) for name in shown for way in WAYS]
        told = 100 * single.mean_of(found["now"].held["noted"])
        cells = (at.words, f"{at.rows:,}", price, *(tally.shown(name) for tally, name in each), f"{told:.0f}")
        yield f"| {' | '.join(cells)} |"
        held.append([100 * single.mean_of(tally.held[name]) for tally, name in each])
        long.append([single.mean_of(tally.length[name]) for tally, name in each])
    for line in single.closing(held, long, blank=2):
        yield f"{line} |"


ABOUT: Final = {
    "auto": "## Told in multiples, automatic bins, drawn anew\n\nFresh designs, after the rule was changed.",
    "equal": "## Told in multiples, typed bins of one width\n\nWhat counts show where widths are not its multiples.",
    "uneven": "## Told in multiples, typed bins of several widths\n\nEdges as people type them.",
    "smooth": "## Smooth columns in typed bins\n\nWhat it costs columns told to nothing.",
    "pairs": "## Fits and correlations, typed bins of several widths\n\nOne column or both told in multiples.",
}
WORDS: Final = (
    "Intervals that hold what is true, of those that are told, in %, after a stroke how many are told,\nin brackets "
    "the median length in sds (of slopes in slopes, of correlations as they are).  Without: with nothing of what\n"
    "counts show of multiples.  Noted: releases of which a note says that values may be rounded, in %."
)


if __name__ == "__main__":
    single.command("lattice_typed.py", __doc__, ABOUT, lines, WORDS)
