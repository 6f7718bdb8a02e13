"""Means and variances of data sets by the exponential mechanism, of columns drawn at random.

    python benchmarks/ks_means.py [--repeats N] [--design NUMBER ...] [--plain]

`drawn` makes designs from a constant seed; they were committed before any of them was simulated, and none was left out
or changed.  Twelve columns with heaps (2 to 15 places anywhere, half of the rows or all at them), then eight smooth
ones (Beta laws, and two modes in turn); 800 to 20,000 rows on [0, 1], prices in ε, sizes by the rule.
Twice: as before the mean error of the simulation was taken off once (`estimate_points.moments`), from the same
releases.  Intervals of 95% of what is true of the population.  Written into docs/reference/ks-dataset.md, with --plain
printed only.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from unittest.mock import patch

import ks_dataset as one_column
import numpy as np
from pages import put
from scipy import stats

from tacit.method.ks_dataset import estimate_points

SEED: Final = 81_507
DESIGNS: Final = {"heaps": 12, "smooth": 8}
PRICES: Final = (0.1, 0.2, 0.5, 1.0)
WAYS: Final = ("twice", "now")
NUMBERS: Final = ("mean", "variance")


@dataclass(frozen=True)
class Column:
    """A mixture of a law on [0, 1] and of places, that have a share of the rows by these chances."""

    words: str
    parts: tuple[Any, ...]
    first: float
    places: tuple[float, ...]
    chances: tuple[float, ...]
    share: float
    rows: int
    price: float

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return one table's column."""
        which = rng.random(self.rows) < self.first
        smooth = np.where(
            which, self.parts[0].rvs(self.rows, random_state=rng), self.parts[-1].rvs(self.rows, random_state=rng)
        )
        if not self.places:
            return smooth
        return np.where(rng.random(self.rows) < self.share, rng.choice(self.places, self.rows, p=self.chances), smooth)

    @property
    def truth(self) -> np.ndarray:
        """Mean and variance of the population."""
        weights = np.array([self.first, 1 - self.first])
        two = np.array([[law.moment(k) for law in (self.parts[0], self.parts[-1])] for k in (1, 2)]) @ weights
        if self.places:
            heaps = np.array([np.dot(self.chances, np.power(self.places, k)) for k in (1, 2)])
            two = self.share * heaps + (1 - self.share) * two
        return np.array([two[0], two[1] - two[0] ** 2])


def drawn() -> list[Column]:
    """Return the designs."""
    found = list[Column]()
    for number, (part, many) in enumerate(DESIGNS.items()):
        rng = np.random.default_rng([SEED, number])
        for i in range(many):
            a, b = (round(float(rng.uniform(1.2, 6)), 1) for _ in range(2))
            parts, first, words = (stats.beta(a, b),), 1.0, f"Beta({a:g},{b:g})"
            if part == "smooth" and i % 2:
                first = round(float(rng.uniform(0.25, 0.75)), 2)
                middles = [round(float(rng.uniform(*ends)), 2) for ends in ((0.2, 0.4), (0.6, 0.8))]
                spreads = [round(float(rng.uniform(0.03, 0.08)), 3) for _ in range(2)]
                parts = tuple(
                    stats.truncnorm(-m / s, (1 - m) / s, loc=m, scale=s) for m, s in zip(middles, spreads, strict=True)
                )
                words = (
                    f"two modes, {100 * first:.0f}% {middles[0]:g} ± {spreads[0]:g}, {middles[1]:g} ± {spreads[1]:g}"
                )
            places, chances, share = tuple[float, ...](), tuple[float, ...](), 0.0
            if part == "heaps":
                places = tuple(np.unique(rng.uniform(0.02, 0.98, int(rng.integers(2, 16))).round(3)).tolist())
                chances = tuple(rng.dirichlet(np.full(len(places), 2.0)).tolist())
                share = float(rng.choice([0.5, 1.0]))
                words = f"{100 * share:.0f}% at {len(places)} places" + (f", rest {words}" if share < 1 else "")
            rows = int(float(f"{10 ** rng.uniform(2.9, 4.3):.2g}"))
            price = float(rng.choice(PRICES))
            found.append(Column(f"{len(found) + 1}: {words}", parts, first, places, chances, share, rows, price))
    return found


def both(made: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return estimates and their variances in both ways."""
    now = estimate_points.moments(made)
    shares = np.array(made.parts[0].integers[0]) / sum(made.parts[0].integers[0])
    whole = estimate_points.edges_of(made)
    middles, widths = (whole[1:] + whole[:-1]) / 2, np.diff(whole)
    mean = middles @ shares
    plain = np.array([mean, (middles**2 + widths**2 / 12) @ shares - mean**2])
    with patch.object(estimate_points, "LEFT", 0.0), patch.object(estimate_points, "_further", lambda *_: np.zeros(2)):
        known = estimate_points.moments(made)
    lean = plain - known.values
    return {
        "twice": (plain - 2 * lean, np.diag(known.sampling + known.privacy) + 4 * lean**2),
        "now": (now.values, np.diag(now.sampling + now.privacy)),
    }


def lines(repeats: int, numbers: list[int] | None) -> Iterator[str]:
    """Return the lines of the table."""
    heads = [f"{name}, {way}" for name in NUMBERS for way in WAYS]
    yield f"| column | rows | ε | points | {' | '.join(heads)} |"
    yield "|---|---:|---:|---:|" + "---:|" * len(heads)
    kept = list[list[float]]()
    for number, one in enumerate(drawn(), 1):
        if numbers and number not in numbers:
            continue
        rng, truth = np.random.default_rng([SEED, 9, number]), one.truth
        shape = one_column.shaped(one.rows, one.price)
        found = [both(one_column.released(shape, one.draw(rng))[0]) for _ in range(repeats)]
        cells, held = list[str](), list[float]()
        for at in range(len(NUMBERS)):
            for way in WAYS:
                values, spread = (np.array([each[way][i][at] for each in found]) for i in (0, 1))
                off = np.abs(values - truth[at])
                covered = 100 * float((off <= 1.96 * np.sqrt(spread)).mean())
                error, told = float(np.sqrt((off**2).mean())), float(np.sqrt(spread).mean())
                cells.append(f"{covered:.0f} ({1_000 * error:.3g}; {1_000 * told:.3g})")
                held.append(covered)
        size = shape.columns[0].form.parameters["G"]
        yield f"| {one.words} | {one.rows:,} | {one.price:g} | {size:,} | {' | '.join(cells)} |"
        kept.append(held)
    many, all_held = DESIGNS["heaps"], np.array(kept)
    for words, rows in (("heaps, mean of designs", all_held[:many]), ("smooth, mean of designs", all_held[many:])):
        if len(rows) and not numbers:
            yield f"| {words} | | | | {' | '.join(f'{one:.1f}' for one in rows.mean(axis=0))} |"


ABOVE: Final = """## Means and variances of drawn columns

{} simulations a row.  Intervals of 95% that hold what is true of the population, in %; in brackets the root mean
squared error and the mean standard error, in thousandths.  Twice: the mean error of the simulation taken off twice, as
it was; now: once, with what that adds to the error.

"""


def main() -> None:
    """Print the table, and write it into the page if it is of all designs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--design", type=int, nargs="*", default=None)
    parser.add_argument("--plain", action="store_true")
    given, made = parser.parse_args(), list[str]()
    for line in lines(given.repeats, given.design):
        print(line, flush=True)
        made.append(line)
    if not given.plain and not given.design:
        put(one_column.PAGE, "ks_means.py", ABOVE.format(given.repeats) + "\n".join(made))


if __name__ == "__main__":
    main()
