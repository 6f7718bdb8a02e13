"""Means and variances of columns with heaps that noisy counts show only in part.

    python benchmarks/unclear_heaps.py [heaps | smooth | fair] [--repeats N] [--design NUMBER ...] [--plain]

`drawn` makes designs from a constant seed; they were committed before any of them was simulated, and none was left out
or changed.  500 to 20,000 rows at prices in ε and ρ, most of them of rows at few places: few (2 to 4 drawn), codes (5
to 8 that are further apart at the ends), drawn (9 to 15), classes and lattices; or one spike beside a smooth rest.
A part "smooth" has laws without heaps, two of two modes.  "fair" is the ages of Fair's table (statsmodels) without
replacement, a column on which the rules were made.  The rows "before" are the same releases without what the library
concludes from bins that are not looked at, from single high bins for the others, and from an end beside a hole.
Written into docs/reference/heaped-values.md, with --plain printed only.
Told: as in undeclared_heaps.py; the truths "of all" are the population's, of Fair's ages the whole table's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final
from unittest.mock import patch

import numpy as np
import undeclared_heaps as earlier
from scipy import stats

import tacit as tc
from tacit.fits.heaps import irregular_heaps
from tacit.fits.heaps.hidden_heaps import HiddenHeaps
from tacit.fits.within_bins import bin_rules

SEED: Final = 41_127
DESIGNS: Final = {"heaps": 20, "smooth": 6}
PRICES: Final = (
    ("epsilon", "0.3"),
    ("epsilon", "0.5"),
    ("epsilon", "1"),
    ("rho", "0.02"),
    ("rho", "0.05"),
    ("rho", "0.2"),
)
KINDS: Final = ("few", "codes", "drawn", "classes", "lattice", "spike")
SHARES: Final = (0.15, 0.3, 0.5, 0.8, 1.0, 1.0)


@dataclass(frozen=True)
class Priced:
    """A design, and the price of its release."""

    design: earlier.Design | Fair
    price: tuple[str, str]


class TwoModes:
    """Two normal laws between 0 and 100, of which the first has a share."""

    def __init__(self, share: float, first: tuple[float, float], second: tuple[float, float]) -> None:
        grid = np.linspace(0, 100, 20_001)
        cdf = share * stats.norm(*first).cdf(grid) + (1 - share) * stats.norm(*second).cdf(grid)
        self.grid, self.cdf = grid, (cdf - cdf[0]) / (cdf[-1] - cdf[0])

    def ppf(self, p: Any) -> Any:
        """Return quantiles."""
        return np.interp(p, self.cdf, self.grid)


def two_modes(rng: np.random.Generator) -> tuple[str, Any]:
    """Draw a smooth law of two modes."""
    share = earlier.digits(rng.uniform(0.25, 0.75))
    one, two = earlier.digits(rng.uniform(20, 40)), earlier.digits(rng.uniform(55, 80))
    spreads = [earlier.digits(rng.uniform(4, 11)) for _ in range(2)]
    words = f"two modes, {100 * share:.0f}% {one:g} ± {spreads[0]:g}, {two:g} ± {spreads[1]:g}"
    return words, TwoModes(share, (one, spreads[0]), (two, spreads[1]))


def places_of(rng: np.random.Generator, law: Any, kind: str) -> tuple[float, ...]:
    """Draw the places of heaps of a kind."""
    low, high = (float(law.ppf(p)) for p in (0.01, 0.99))
    if kind == "few":
        raw = rng.uniform(low, high, int(rng.integers(2, 5)))
    elif kind == "codes":
        steps = np.ones(int(rng.integers(4, 8)))
        steps[[0, -1]] = rng.uniform(0.6, 1.6, 2)
        raw = low + (high - low) * np.append(0.0, np.cumsum(steps)) / steps.sum()
    elif kind == "drawn":
        raw = rng.uniform(low, high, int(rng.integers(9, 16)))
    elif kind == "spike":
        raw = np.array([law.ppf(rng.uniform(0.1, 0.9))])
    else:
        width = earlier.digits((high - low) / int(rng.integers(5, 16)), 1)
        first = np.floor(low / width) * width + (width / 2 if kind == "classes" else width * rng.uniform())
        raw = np.arange(first, high + width, width)
    return tuple(float(one) for one in earlier.digits_of(raw, low, high))


def bounded(law: Any, rows: int, most: float) -> float:
    """Return a round upper bound beyond nearly all rows and all places."""
    most = max(float(law.ppf(1 - 0.1 / rows)), most)
    unit = 10.0 ** np.floor(np.log10(most))
    return float(np.ceil(most / unit) * unit)


def drawn() -> dict[str, list[Priced]]:
    """Return the designs of both parts."""
    found = dict[str, list[Priced]]()
    for number, (part, many) in enumerate(DESIGNS.items()):
        rng, made = np.random.default_rng([SEED, number]), list[Priced]()
        for i in range(many):
            words, law = two_modes(rng) if part == "smooth" and i >= 4 else earlier.law_of(rng)
            kind, share = str(rng.choice(KINDS)), float(rng.choice(SHARES))
            # one place for all rows is no column
            share = min(share, 0.5) if kind == "spike" else share
            places = places_of(rng, law, kind)
            rows = int(earlier.digits(10 ** rng.uniform(np.log10(500), np.log10(20_000))))
            price = PRICES[int(rng.integers(len(PRICES)))]
            if part == "smooth":
                places, share = (), 0.0
            told = f", {100 * share:.0f}% at {len(places)} {kind}" if places else ""
            upper = bounded(law, rows, max(places, default=0.0))
            made.append(
                Priced(earlier.Design(f"{i + 1}: {words}{told}", law, 0.0, upper, places, share, rows, 0.0), price)
            )
        found[part] = made
    return found


FAIR_ROWS: Final = (500, 1_000, 2_000, 3_000, 4_500)
FAIR_PRICES: Final = (("epsilon", "0.5"), ("epsilon", "1"), ("rho", "0.05"))


@dataclass(frozen=True)
class Fair:
    """Ages of Fair's table, so many of them drawn without replacement."""

    words: str
    rows: int
    lower: float = 0.0
    upper: float = 50.0

    @cached_property
    def ages(self) -> np.ndarray:
        """All of them."""
        import statsmodels.api as sm

        return sm.datasets.fair.load_pandas().data["age"].to_numpy(dtype=np.float64)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return one table's column."""
        return rng.choice(self.ages, self.rows, replace=False)

    @property
    def truth(self) -> tuple[float, float]:
        """Mean and variance of the whole table."""
        return float(self.ages.mean()), float(self.ages.var())


def chosen(part: str) -> list[Any]:
    """Return the designs of a part."""
    if part != "fair":
        return drawn()[part]
    each = [(rows, price) for rows in FAIR_ROWS for price in FAIR_PRICES]
    return [Priced(Fair(f"{i}: Fair's ages", rows), price) for i, (rows, price) in enumerate(each, 1)]


@contextmanager
def without_rules() -> Iterator[None]:
    """Conclude nothing from bins that are not looked at, from single high bins for others, from ends beside holes."""
    found = bin_rules.heaped_rows

    def seen(*args: Any) -> HiddenHeaps:
        made = found(*args)
        return replace(made, unseen=np.zeros_like(made.unseen))

    fewer = patch.multiple(irregular_heaps, NEAR=irregular_heaps.FAR, BESIDE=1.0)
    with patch.object(bin_rules, "heaped_rows", seen), fewer:
        yield


def simulated(one: Priced, repeats: int) -> dict[str, earlier.Tally]:
    """Release and estimate, with and without the rules."""
    design: Any = one.design
    price: Any = dict([one.price])
    whole: Any = {one.price[0]: 1_000}
    rng = np.random.default_rng([SEED, *design.words.encode(), design.rows])
    tallies = {"before": earlier.Tally(), "now": earlier.Tally()}
    sd, slope = design.truth[1] ** 0.5, 40 / design.upper
    schema = tc.Schema({"x": tc.Real(design.lower, design.upper), "y": tc.Real(0, 100)})
    for _ in range(repeats):
        x = design.draw(rng)
        y = 30 + slope * x + 8 * np.clip(rng.standard_normal(design.rows), -3.5, 3.5)
        curator = tc.Curator({"x": x, "y": y}, schema, budget=tc.Budget(**whole))
        cells = curator.release(tc.Histogram("x", bins="auto"), **price)
        both = curator.release(tc.Histogram(["x", "y"], bins="auto"), **price)
        for way, tally in tallies.items():
            with without_rules() if way == "before" else nullcontext():
                for words, truth in {"": (x.mean(), x.var()), " of all": design.truth}.items():
                    found = cells.moments("x", target="population" if words else "table")
                    limits = np.asarray(found.intervals())
                    for i, (name, unit) in enumerate((("mean", sd), ("variance", sd**2))):
                        tally.add(name + words, limits[i], float(truth[i]), found.reasons[i], unit)
                fit = both.fit("y ~ x")
                tally.add("slope", np.asarray(fit.conf_int())[1], slope, fit.reasons[1], slope)
    return tallies


def lines(part: str, repeats: int, numbers: list[int] | None) -> Iterator[str]:
    """Return the lines of a part's table."""
    yield f"| column | to | rows | price | | {' | '.join(earlier.SHOWN)} |"
    yield "|---|---:|---:|---|---|" + "---:|" * len(earlier.SHOWN)
    whole = {"before": earlier.Tally(), "now": earlier.Tally()}
    ratios = list[list[float]]()
    for number, one in enumerate(chosen(part), 1):
        if numbers and number not in numbers:
            continue
        design, price = one.design, f"{'ε' if one.price[0] == 'epsilon' else 'ρ'} = {one.price[1]}"
        found = simulated(one, repeats)
        for way, tally in found.items():
            whole[way].join(tally)
            words = (design.words, f"{design.upper:g}", f"{design.rows:,}", price, way)
            yield f"| {' | '.join((*words, *map(tally.shown, earlier.SHOWN)))} |"
        ratios.append([_longer(found["now"].length[name], found["before"].length[name]) for name in earlier.SHOWN])
    for way, tally in whole.items():
        yield f"| all | | | | {way} | {' | '.join(map(tally.shown, earlier.SHOWN))} |"
    # the median of designs: one that is found heaped is many times as long
    for words, made in (("mean", np.nanmean), ("median", np.nanmedian)):
        each = made(np.array(ratios), axis=0)
        yield f"| length beside before, {words} of designs | | | | | {' | '.join(f'{one:.2f}' for one in each)} |"


def _longer(now: list[float], before: list[float]) -> float:
    """Return the ratio of mean lengths; none where none is told."""
    return float(np.mean(now) / np.mean(before)) if now and before else float("nan")


ABOUT: Final = {
    "heaps": "## Heaps that counts show in part\n\nDrawn columns of 500 to 20,000 rows with undeclared heaps.",
    "smooth": "## Smooth columns of as many rows\n\nWhat it costs columns without heaps, two of them of two modes.",
    "fair": "## Ages of Fair's table\n\nSix values, 17.5 to 42, about 5 apart, in automatic bins of 5 or 10 years.",
}


WORDS: Final = (
    "Columns are those of [At irregular places](#at-irregular-places).  Before: without what is concluded from bins\n"
    "that no test looks at, from single high bins for the others, and from an end beside a hole."
)


if __name__ == "__main__":
    earlier.run("unclear_heaps.py", __doc__, ABOUT, WORDS, lines)
