"""Means and variances of columns with heaps that noisy counts show only in part.

    python benchmarks/unclear_heaps.py [PART] [--repeats N] [--design NUMBER ...]
        [--plain]  # PART: heaps, smooth, drawn, drawn-smooth or fair

`drawn` makes designs from a constant seed; they were committed before any of them was simulated, and none was left out
or changed.  500 to 20,000 rows at prices in ε and ρ, most of them of rows at few places: few (2 to 4 drawn), codes (5
to 8 that are further apart at the ends), drawn (9 to 15), classes and lattices; or one spike beside a smooth rest.
The parts "drawn" and "drawn-smooth" are the designs of undeclared_heaps.py, "fair" is the ages of Fair's table
(statsmodels), drawn again without replacement.  The rows "before" are the same releases without what the library
concludes from one hole where the noise hides how the column ends.
Told: intervals that hold what is true, of those that are told, in per cent, and after a stroke the told, with the
median length in brackets.  mean and variance are the table's own (target="table"), beside them those of the population
(the file, for Fair).  Lengths are in standard deviations of the column, of the variance in variances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import undeclared_heaps as earlier
from scipy import stats

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

    design: earlier.Design
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


if __name__ == "__main__":
    for part, designs in drawn().items():
        for one in designs:
            print(part, one.design.words, one.design.places, one.design.upper, one.design.rows, one.price)
