"""Fits to histograms of two columns, one or both told in multiples that nobody declared; and to smooth ones.

    python benchmarks/lattice_fits.py [told | smooth] [--set first | fresh] [--repeats N] [--design NUMBER ...]
        [--plain]

`drawn` makes designs from a constant seed.  Those of the set "first" were looked at while the rule was made; those of
"fresh" were committed before any of them was simulated, and none was left out or changed.  A regressor x of a drawn law
(`undeclared_heaps.law_of`), a response of a line in x with residuals of a drawn law, or yes and no; linear, logistic,
Huber's and quantile regressions in turn.  "told": of x, of y (linear and Huber's) or of both a share of the rows is
told to multiples, as `lattice_columns` has them; "smooth": none is.
What is true is the fit to 1,000,000 rows of the population, told as the table's.  Intervals of 95% of the slope, of the
intercept, and of the table's own mean and sd of x.
Equal: as many bins of one width, as automatic ones were; now: automatic bins (`schema.autobins`).
Written into docs/reference/heaped-values.md, with --plain printed only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import lattice_columns as single
import numpy as np
import unclear_heaps as unclear
import undeclared_heaps as earlier
from scipy.special import expit

import tacit as tc

SEEDS: Final = {"first": 70_461, "fresh": 70_462}
DESIGNS: Final = {"told": 24, "smooth": 24}
MODELS: Final = ("linear", "logistic", "huber", "quantile")
POPULATION: Final = 1_000_000
SHOWN: Final = ("slope", "intercept", "mean of x", "sd of x")
WAYS: Final = ("equal", "now")
STEPS: Final = 200
"""Of iteratively reweighted least squares."""


@dataclass(frozen=True)
class Told:
    """A share of rows at the nearest place, or at the one below, of places `spacing` apart; 0: none."""

    spacing: float = 0.0
    first: float = 0.0
    share: float = 0.0
    down: bool = False

    def of(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return values as they are told."""
        if not self.spacing:
            return x
        steps = (x - self.first) / self.spacing
        at = self.first + self.spacing * (np.floor(steps) if self.down else np.round(steps))
        return np.where(rng.random(len(x)) < self.share, at.round(9), x)


@dataclass(frozen=True)
class Pair:
    """A regressor and a response, with bounds; `strength`: the correlation of x with the line's response.

    tail: of residuals, "normal", or "gamma" of shape 4.  told: of x and of y.
    """

    words: str
    model: str
    law: Any
    strength: float
    tail: str
    rows: int
    price: tuple[str, str]
    told: tuple[Told, Told]

    @cached_property
    def size(self) -> tuple[float, float, float]:
        """Mean and sd of x, and its upper bound."""
        x = self.law.ppf((np.arange(20_000) + 0.5) / 20_000)
        return float(x.mean()), float(x.std()), unclear.bounded(self.law, self.rows, 0.0)

    @property
    def schema(self) -> tc.Schema:
        """Bounds that hold nearly all rows."""
        _, _, upper = self.size
        y = tc.Category([0, 1]) if self.model == "logistic" else tc.Real(0, RESPONSES)
        return tc.Schema({"x": tc.Real(0, upper), "y": y})

    def draw(self, rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return regressor and response as they are told."""
        mean, sd, upper = self.size
        x = self.law.ppf(rng.random(rows))
        z = self.strength * (x - mean) / sd
        if self.model == "logistic":
            y = (rng.random(rows) < expit(2 * z - 0.3)).astype(np.float64)
        else:
            e = rng.standard_normal(rows) if self.tail == "normal" else (rng.gamma(4, 1, rows) - 4) / 2
            y = MIDDLE + SPREAD * (z + np.sqrt(1 - self.strength**2) * e)
            y = np.clip(self.told[1].of(y, rng), 0.0, RESPONSES)
        return np.clip(self.told[0].of(x, rng), 0.0, upper), y

    @cached_property
    def truth(self) -> tuple[float, float]:
        """Intercept and slope of the population."""
        x, y = self.draw(POPULATION, np.random.default_rng([SEEDS["first"], *self.words.encode()]))
        return plain_fit(self.model, x, y)

    @property
    def options(self) -> dict[str, Any]:
        """Words of the fit."""
        return {"k": BEND} if self.model == "huber" else {}


MIDDLE: Final = 40.0
SPREAD: Final = 9.0
RESPONSES: Final = 100.0
"""Mean, sd and upper bound of a response of numbers."""
BEND: Final = 10.0


def plain_fit(model: str, x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return intercept and slope from rows, by iteratively reweighted least squares."""
    center, scale = x.mean(), x.std()
    X = np.stack([np.ones(len(x)), (x - center) / scale], axis=1)
    theta = np.zeros(2)
    for _ in range(STEPS):
        line = X @ theta
        if model == "logistic":
            p = expit(line)
            move = np.linalg.solve((X * (p * (1 - p))[:, None]).T @ X, X.T @ (y - p))
        else:
            size = np.maximum(np.abs(y - line), 0.02 * SPREAD)
            weight = {"linear": 1.0, "huber": np.minimum(1.0, BEND / size), "quantile": 1 / size}[model]
            weight = np.broadcast_to(weight, len(x))
            move = np.linalg.solve((X * weight[:, None]).T @ X, X.T @ (weight * (y - line)))
        theta = theta + move
        if np.abs(move).max() < 1e-9:
            break
    return float(theta[0] - theta[1] * center / scale), float(theta[1] / scale)


def told_of(rng: np.random.Generator, sd: float) -> tuple[str, Told]:
    """Draw a lattice, as those of `lattice_columns`."""
    kind, share = str(rng.choice(single.KINDS)), float(rng.choice(single.SHARES))
    spacing, first = single.spacing_of(rng, kind, sd)
    words = f"{100 * share:.0f}% {kind} {spacing:g} ({spacing / sd:.2f} sd)"
    return words, Told(spacing, first, share, kind == "down")


def drawn(part: str, which: str) -> list[Pair]:
    """Return the designs of a part of a set."""
    rng, found = np.random.default_rng([SEEDS[which], list(DESIGNS).index(part)]), list[Pair]()
    for i in range(DESIGNS[part]):
        model = MODELS[i % len(MODELS)]
        words, law = earlier.law_of(rng)
        rows = int(earlier.digits(10 ** rng.uniform(np.log10(4_000), np.log10(60_000))))
        price = unclear.PRICES[int(rng.integers(len(unclear.PRICES)))]
        strength, tail = earlier.digits(rng.uniform(0.3, 0.8)), str(rng.choice(["normal", "normal", "gamma"]))
        sd = float(np.std(law.ppf((np.arange(2_000) + 0.5) / 2_000)))
        whose = str(rng.choice(["x", "y", "both"])) if model in ("linear", "huber") else "x"
        (of_x, x), (of_y, y) = told_of(rng, sd), told_of(rng, SPREAD)
        x, y = x if whose != "y" else Told(), y if whose != "x" else Told()
        how = "".join(f", {name} {one}" for name, one in (("x", of_x), ("y", of_y)) if whose in (name, "both"))
        if part == "smooth":
            x, y, how = Told(), Told(), ""
        what = f"{i + 1}: {model}, {words}, {strength:g}{' gamma' if tail == 'gamma' else ''}{how}"
        found.append(Pair(what, model, law, strength, tail, rows, price, (x, y)))
    return found


def simulated(one: Pair, repeats: int, which: str) -> dict[str, earlier.Tally]:
    """Release and fit in both ways."""
    tallies = {way: earlier.Tally() for way in WAYS}
    rng = np.random.default_rng([SEEDS[which], *one.words.encode(), one.rows])
    price, whole = dict([one.price]), {one.price[0]: 1_000}
    for _ in range(repeats):
        x, y = one.draw(one.rows, rng)
        table = {"x": x, "y": y.astype(np.int64) if one.model == "logistic" else y}
        curator = tc.Curator(table, one.schema, budget=tc.Budget(**whole))
        cells = {"now": curator.release(tc.Histogram(["x", "y"], bins="auto"), **price)}
        many = {name: axis_bins(cells["now"], name) for name in ("x", "y")[: 1 + (one.model != "logistic")]}
        cells["equal"] = curator.release(tc.Histogram(["x", "y"], bins=many), **price)
        for way, tally in tallies.items():
            count(tally, cells[way], one, x)
    return tallies


def axis_bins(cells: Any, name: str) -> int:
    """Return how many bins a column has."""
    at = [column for column, _ in cells.levels].index(name)
    return len(cells.axes[at].edges) - 1


def count(tally: earlier.Tally, cells: Any, one: Pair, x: np.ndarray) -> None:
    """Count the answers of a release."""
    fit = cells.fit("y ~ x", model=one.model, **one.options)
    unit = float(x.std())
    slope = abs(one.truth[1])
    sizes = (slope * (one.size[0] + unit), slope)
    for name, at in (("intercept", 0), ("slope", 1)):
        limits = np.asarray(fit.coefficients.intervals())[at]
        tally.add(name, limits, one.truth[at], fit.coefficients.reasons[at], sizes[at])
    found = cells.moments("x", target="table")
    limits = np.asarray(found.intervals())
    for name, at, truth in (("mean of x", 0, x.mean()), ("sd of x", 2, x.std())):
        tally.add(name, limits[at], float(truth), found.reasons[at], unit)


def lines(part: str, which: str, repeats: int, numbers: list[int] | None) -> Iterator[str]:
    """Return the lines of a part's table."""
    yield f"| design | rows | price | {' | '.join(f'{name}, {way}' for name in SHOWN for way in WAYS)} |"
    yield "|---|---:|---|" + "---:|" * len(SHOWN) * len(WAYS)
    held, long = list[list[float]](), list[list[float]]()
    for number, one in enumerate(drawn(part, which), 1):
        if numbers and number not in numbers:
            continue
        found = simulated(one, repeats, which)
        price = f"{'ε' if one.price[0] == 'epsilon' else 'ρ'} = {one.price[1]}"
        each = [(found[way], name) for name in SHOWN for way in WAYS]
        yield f"| {' | '.join((one.words, f'{one.rows:,}', price, *(tally.shown(name) for tally, name in each)))} |"
        held.append([100 * single.mean_of(tally.held[name]) for tally, name in each])
        long.append([single.mean_of(tally.length[name]) for tally, name in each])
    yield from single.closing(held, long, blank=2)


ABOUT: Final = {
    "told": "## Fits, one column or both told in multiples\n\nNobody declared it.",
    "smooth": "## Fits of smooth columns, bins of unequal widths\n\nWhat unequal widths cost columns told to nothing.",
}
WORDS: Final = (
    "Intervals that hold what is true, of those that are told, in %, after a stroke how many are told,\nin brackets "
    "the median length: of the slope in slopes, of the intercept in what the line rises by from 0 to an sd above\nx's "
    "mean, of mean and sd of x in its sds.  Equal: as many bins of one width; now: automatic bins, and what they show."
)


if __name__ == "__main__":
    single.command("lattice_fits.py", __doc__, ABOUT, lines, WORDS)
