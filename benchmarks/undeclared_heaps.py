"""Columns whose rows are at few irregular places, which nobody declared: means, variances and slopes from histograms.

    python benchmarks/undeclared_heaps.py [heaps | smooth] [--repeats N] [--design NUMBER ...] [--plain]

`drawn` makes the designs from a constant seed; they were committed before any of them was simulated, and none was left
out or changed.  A heap is one of `places`: a drawn set, the middles of classes of equal or of growing width, or a
lattice that begins at an odd place; a share of all rows is told at the nearest of them.  Columns are declared as
`Real(lower, upper)` with round bounds, bins are automatic.  A part "smooth" has laws of the same kinds without heaps.
Rows and noise are drawn anew in each simulation; the rows "before" are the same releases without what the library
concludes from holes, gaps and bins that stand alone (`irregular_heaps`), and without what no test of bins sees
(`HiddenHeaps.unseen`).  Written into docs/reference/heaped-values.md, with --plain printed only.
Told: intervals that hold what is true, of those that are told, in per cent, and after a stroke the told, with the
median length in brackets.  mean and variance are the table's own (target="table"), beside them those of the
population; slope is that of y on x in a histogram of both, y a line in the recorded x with normal errors.
Lengths are in standard deviations of the column, of the variance in variances, of the slope in slopes.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np
from pages import put
from scipy import stats

import tacit as tc
from tacit.fits.heaps import hidden_heaps
from tacit.fits.heaps.hidden_heaps import HiddenHeaps
from tacit.fits.heaps.irregular_heaps import Irregular
from tacit.fits.within_bins import bin_rules

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "heaped-values.md"

SEED: Final = 15_380
DESIGNS: Final = {"heaps": 16, "smooth": 16}
FINE: Final = 200_000
"""Quantiles of the law from which the population's mean and variance are computed."""
SHOWN: Final = ("mean", "variance", "mean of all", "variance of all", "slope")


@dataclass(frozen=True)
class Design:
    """A column between bounds; share of its rows at the nearest of some places, none where there are no places."""

    words: str
    law: Any
    lower: float
    upper: float
    places: tuple[float, ...]
    share: float
    rows: int
    price: float

    def recorded(self, x: np.ndarray, chosen: Any) -> np.ndarray:
        """Return values as they are recorded."""
        if self.places:
            at = np.asarray(self.places)
            nearest = at[np.searchsorted((at[1:] + at[:-1]) / 2, x)]
            x = np.where(chosen, nearest, x)
        return np.clip(x, self.lower, self.upper)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return one table's column."""
        return self.recorded(self.law.ppf(rng.random(self.rows)), rng.random(self.rows) < self.share)

    @cached_property
    def truth(self) -> tuple[float, float]:
        """Mean and variance of the population."""
        x = self.law.ppf((np.arange(FINE) + 0.5) / FINE)
        both = [self.recorded(x, np.full(FINE, chosen)) for chosen in (False, True)]
        first, second = ((1 - self.share) * (both[0] ** k).mean() + self.share * (both[1] ** k).mean() for k in (1, 2))
        return float(first), float(second - first**2)


def digits(x: float, many: int = 2) -> float:
    """Return a number of so many digits."""
    return float(f"{x:.{many}g}")


def law_of(rng: np.random.Generator) -> tuple[str, Any]:
    """Draw a law of positive values about 10 to 100."""
    kind, middle = str(rng.choice(["lognormal", "gamma", "normal", "Beta"])), digits(rng.uniform(10, 100))
    if kind == "lognormal":
        s = digits(rng.uniform(0.3, 0.9))
        return f"lognormal {s:g}", stats.lognorm(s, scale=middle)
    if kind == "gamma":
        a = digits(rng.uniform(1.2, 6))
        return f"gamma {a:g}", stats.gamma(a, scale=middle / a)
    if kind == "normal":
        part = digits(rng.uniform(0.12, 0.35))
        return f"normal {part:g}", stats.truncnorm(-1 / part, 9, loc=middle, scale=part * middle)
    a, b = (digits(rng.uniform(1.2, 5)) for _ in range(2))
    return f"Beta {a:g}, {b:g}", stats.beta(a, b, scale=2 * middle)


def places_of(rng: np.random.Generator, law: Any) -> tuple[str, tuple[float, ...]]:
    """Draw the places of heaps."""
    kind = str(rng.choice(["drawn", "classes", "growing", "lattice"]))
    low, high = (float(law.ppf(p)) for p in (0.005, 0.995))
    many = int(rng.integers(4, 16))
    if kind == "drawn":
        found = digits_of(rng.uniform(low, high, many), low, high)
    elif kind == "growing":
        edges = low + (high - low) * np.linspace(0, 1, many + 1) ** rng.uniform(1.3, 2.2)
        found = digits_of((edges[1:] + edges[:-1]) / 2, low, high)
    else:
        # classes begin at a round number, lattices anywhere
        width = digits((high - low) / many, 1)
        first = np.floor(low / width) * width + (width / 2 if kind == "classes" else width * rng.uniform())
        found = digits_of(first + width * np.arange(many + 2), low, high)
    return f"{len(found)} {kind}", tuple(float(one) for one in found)


def digits_of(places: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return places as people write them: a hundredth of their range is enough."""
    unit = 10.0 ** np.floor(np.log10((high - low) / 50))
    return np.unique(np.maximum(np.round(places / unit) * unit, 0.0).round(10))


def drawn() -> dict[str, list[Design]]:
    """Return the designs of both parts."""
    found = dict[str, list[Design]]()
    for number, (part, many) in enumerate(DESIGNS.items()):
        rng, made = np.random.default_rng([SEED, number]), list[Design]()
        for i in range(many):
            words, law = law_of(rng)
            where, places = places_of(rng, law)
            share = float(rng.choice([0.2, 0.4, 0.6, 0.8, 1.0, 1.0]))
            rows = int(digits(10 ** rng.uniform(3, np.log10(50_000))))
            price = float(rng.choice([0.3, 0.5, 1.0, 2.0]))
            most = float(law.ppf(1 - 0.1 / rows))
            unit = 10.0 ** np.floor(np.log10(most))
            upper = float(np.ceil(most / unit) * unit)
            if part == "smooth":
                where, places, share = "none", (), 0.0
            told = f", {100 * share:.0f}% at {where}" if places else ""
            made.append(Design(f"{i + 1}: {words}{told}", law, 0.0, upper, places, share, rows, price))
        found[part] = made
    return found


class Tally:
    """Of each number whether its interval is told and holds, and its length."""

    def __init__(self) -> None:
        self.held, self.length = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
        self.asked = defaultdict[str, int](int)

    def add(self, name: str, limits: Any, truth: float, reason: str | None, unit: float) -> None:
        """Count one interval."""
        low, high = map(float, limits)
        self.asked[name] += 1
        if reason is None and np.isfinite(high - low):
            self.held[name].append(float(low <= truth <= high))
            self.length[name].append((high - low) / unit)

    def join(self, other: Tally) -> None:
        """Add what another counted."""
        for name in SHOWN:
            self.held[name] += other.held[name]
            self.length[name] += other.length[name]
            self.asked[name] += other.asked[name]

    def shown(self, name: str) -> str:
        """Return coverage / share that is told (median length)."""
        held = self.held[name]
        if not held:
            return f"–/{0 if self.asked[name] else '–'}"
        told = 100 * len(held) / self.asked[name]
        return f"{100 * np.mean(held):.0f}/{told:.0f} ({float(np.median(self.length[name])):.2g})"


@contextmanager
def without_rule() -> Iterator[None]:
    """Conclude nothing from holes, gaps and bins that stand alone, and take what no test sees as even."""
    found = bin_rules.heaped_rows

    def nothing(counts: np.ndarray, *_: Any) -> Irregular:
        return Irregular(np.zeros(len(counts), dtype=np.bool_), 0.0)

    def even(*args: Any) -> HiddenHeaps:
        made = found(*args)
        return replace(made, unseen=np.zeros_like(made.unseen))

    with patch.object(hidden_heaps, "irregular_heaps", nothing), patch.object(bin_rules, "heaped_rows", even):
        yield


def simulated(one: Design, repeats: int) -> dict[str, Tally]:
    """Release and estimate, with and without the rule."""
    rng, tallies = np.random.default_rng([SEED, *one.words.encode()]), {"before": Tally(), "now": Tally()}
    mean, variance = one.truth
    sd, price, slope = variance**0.5, str(one.price), 40 / one.upper
    schema = tc.Schema({"x": tc.Real(one.lower, one.upper), "y": tc.Real(0, 100)})
    for _ in range(repeats):
        x = one.draw(rng)
        # a line from 30 to 70 with errors that stay within the bounds
        y = 30 + slope * x + 8 * np.clip(rng.standard_normal(one.rows), -3.5, 3.5)
        curator = tc.Curator({"x": x, "y": y}, schema, budget=tc.Budget(epsilon=1_000))
        cells = curator.release(tc.Histogram("x", bins="auto"), epsilon=price)
        both = curator.release(tc.Histogram(["x", "y"], bins="auto"), epsilon=price)
        truths = {"": (x.mean(), x.var()), " of all": (mean, variance)}
        for way, tally in tallies.items():
            with without_rule() if way == "before" else nullcontext():
                for words, truth in truths.items():
                    found = cells.moments("x", target="population" if words else "table")
                    limits = np.asarray(found.intervals())
                    for i, (name, unit) in enumerate((("mean", sd), ("variance", variance))):
                        tally.add(name + words, limits[i], float(truth[i]), found.reasons[i], unit)
                fit = both.fit("y ~ x")
                tally.add("slope", np.asarray(fit.conf_int())[1], slope, fit.reasons[1], slope)
    return tallies


Lines = Callable[[str, int, list[int] | None], Iterator[str]]
"""Of a part, a number of simulations and the designs that are wanted: the lines of a table."""


def lines(part: str, repeats: int, numbers: list[int] | None) -> Iterator[str]:
    """Return the lines of a part's table."""
    yield f"| column | to | rows | ε | | {' | '.join(SHOWN)} |"
    yield "|---|---:|---:|---:|---|" + "---:|" * len(SHOWN)
    whole = {"before": Tally(), "now": Tally()}
    for number, one in enumerate(drawn()[part], 1):
        if numbers and number not in numbers:
            continue
        for way, tally in simulated(one, repeats).items():
            whole[way].join(tally)
            words = (one.words, f"{one.upper:g}", f"{one.rows:,}", f"{one.price:g}", way, *map(tally.shown, SHOWN))
            yield f"| {' | '.join(words)} |"
    for way, tally in whole.items():
        yield f"| all | | | | {way} | {' | '.join(map(tally.shown, SHOWN))} |"
    wider = [np.mean(whole["now"].length[name]) / np.mean(whole["before"].length[name]) for name in SHOWN]
    yield f"| all, lengths beside those before | | | | | {' | '.join(f'{one:.2f}' for one in wider)} |"


ABOUT: Final = {
    "heaps": "## At irregular places\n\nDrawn columns with heaps that nobody declared, in automatic bins.",
    "smooth": "## The same laws without heaps\n\nWhat it costs columns without heaps.",
}


def run(
    name: str, described: str | None, about: dict[str, str], words: str, lines_of: Lines, repeats: int = 20
) -> None:
    """Print a part's table as the command line asks, and write it under the words about it.

    name: of the script.  repeats: simulations of a design where nothing is said of them.
    """
    parser = argparse.ArgumentParser(description=described)
    parser.add_argument("part", nargs="?", default="heaps", choices=list(about))
    parser.add_argument("--repeats", type=int, default=repeats)
    parser.add_argument("--design", type=int, nargs="*", default=None)
    parser.add_argument("--plain", action="store_true")
    given, made = parser.parse_args(), list[str]()
    for line in lines_of(given.part, given.repeats, given.design):
        print(line, flush=True)
        made.append(line)
    if not given.plain and not given.design:
        above = f"{about[given.part]}\n{given.repeats} simulations a row.  {words}\n\n"
        put(PAGE, f"{name} {given.part}", above + "\n".join(made))


WORDS: Final = (
    "Intervals that hold what is true, of those that are told, in %, and after a stroke how many are told, in\n"
    "brackets the median length: of means in standard deviations of the column, of variances and slopes in these.  "
    "The mean and the variance\nare the table's own "
    '(`target="table"`), beside them those of the population; slope: of a line in `x`, from a histogram of '
    "both.\nBefore: without what holes, gaps and bins that stand alone say, and bins that no test looks at."
)


if __name__ == "__main__":
    run("undeclared_heaps.py", __doc__, ABOUT, WORDS, lines)
