"""Fits to automatic bins of columns that are declared real and heaped at round numbers: coverage of slopes.

    python benchmarks/heaped_bins.py [part ...] [--repeats N] [--plain]

A part of the rows is at multiples of one number (ages told in fives, incomes in tens of thousands, minutes in quarters
of an hour, months in years).  Where bins are as wide as a round number each has its heap at the same place, which
moves all bins alike, and no slope; in 18 bins of 0 to 100 the heaps drift from one end of the bin to the other, and no
count shows it.  Parts: "now"; "declared", with `heaped_at=`; and "before", the number of bins before widths were round.
Rows and noise are drawn
anew in each simulation (Laplace noise of scale 2 / epsilon, replace-one).  The designs were written down before any of
them was simulated.  Seeds are constants.  `--plain` prints rows only; else the table is written into
docs/reference/histogram-fits.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pages import Part, put, worked
from scipy import stats
from scipy.special import expit
from uneven_bins import chosen_edges

from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.regression_fits import fit_cells
from tacit.schema import Real, Schema
from tacit.schema.autobins import Size, resolved

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "histogram-fits.md"
SLOPE = 40.0
"""Of a response from 0 to 100 on a regressor in units of its range; of a logistic model a tenth of it."""
EPSILON = 1.0


@dataclass(frozen=True)
class Design:
    """A regressor within public bounds, floored to multiples of `unit`, a part `share` put on multiples of `heap`."""

    name: str
    law: Any
    lower: float
    upper: float
    unit: float
    heap: float
    share: float
    model: str
    rows: int

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return regressor and response; the response is an exact line in the regressor that is told."""
        low, high = self.law.cdf(self.lower), self.law.cdf(self.upper)
        x = self.law.ppf(low + (high - low) * rng.random(self.rows))
        x = np.where(rng.random(self.rows) < self.share, np.round(x / self.heap) * self.heap, x)
        x = np.clip(np.floor(x / self.unit + 1e-9) * self.unit, self.lower, self.upper)
        z = (x - self.lower) / (self.upper - self.lower)
        if self.model == "logistic":
            return x, (rng.random(self.rows) < expit(-1.5 + SLOPE / 10 * z)).astype(float)
        e = rng.standard_normal(self.rows)
        while (out := np.abs(e) > 3).any():
            e[out] = rng.standard_normal(int(out.sum()))
        return x, 30 + SLOPE * z + 8 * e

    @property
    def slope(self) -> float:
        """The slope in units of the regressor."""
        return (SLOPE / 10 if self.model == "logistic" else SLOPE) / (self.upper - self.lower)


AGE, INCOME, HOURS = stats.norm(46, 17), stats.lognorm(0.6, scale=45_000), stats.norm(38, 9)
MINUTES, SCORE, MONTHS = stats.gamma(2.5, scale=28), stats.norm(33, 11), stats.gamma(2, scale=22)
DESIGNS = (
    Design("ages, 30% in fives, linear", AGE, 18, 93, 1, 5, 0.3, "linear", 100_000),
    Design("ages, 30% in fives, median", AGE, 18, 93, 1, 5, 0.3, "quantile", 100_000),
    Design("incomes, half in tens of thousands, linear", INCOME, 0, 300_000, 100, 10_000, 0.5, "linear", 100_000),
    Design("incomes, half in five thousands, huber", INCOME, 0, 300_000, 100, 5_000, 0.5, "huber", 200_000),
    Design("hours, 35% in fives, linear", HOURS, 0, 80, 1, 5, 0.35, "linear", 100_000),
    Design("hours, 35% in fives, logistic", HOURS, 0, 80, 1, 5, 0.35, "logistic", 100_000),
    Design("minutes, 60% in quarters of an hour, linear", MINUTES, 0, 240, 1, 15, 0.6, "linear", 100_000),
    Design("minutes, 60% in quarters of an hour, median", MINUTES, 0, 240, 1, 15, 0.6, "quantile", 100_000),
    Design("scores, 40% in tens, linear", SCORE, 0, 60, 1, 10, 0.4, "linear", 50_000),
    Design("months, half in years, linear", MONTHS, 0, 120, 1, 12, 0.5, "linear", 100_000),
)


def axes_of(design: Design, part: str) -> tuple[CellAxis, CellAxis]:
    """Return regressor and response in automatic bins, or in as many as before widths were round."""
    heap = design.heap if part == "declared" else None
    columns: dict[str, Real] = {"x": Real(design.lower, design.upper, heaped_at=heap)}
    columns |= {} if design.model == "logistic" else {"y": Real(0, 100)}
    if part == "before":  # bounds without round widths
        columns = {name: Real(0, np.pi) for name in columns}
    size = Size(float(design.rows), EPSILON, 10_000_000)
    others = 2 if design.model == "logistic" else 1
    bins = resolved(Schema(columns), tuple(columns), dict.fromkeys(columns, "auto"), size, others, 0)
    # but for declared heaps as many as automatic ones, of one width, as those were when the designs were drawn
    many = {name: len(chosen_edges(one, 0.0, 1.0)) - 1 for name, one in bins.items()}
    inner = bins["x"] if part == "declared" else np.linspace(design.lower, design.upper, many["x"] + 1)[1:-1]
    edges = np.array([design.lower, *inner, design.upper])
    x = CellAxis("x", "continuous", edges, heaped_at=heap or 0.0)
    if design.model == "logistic":
        return x, CellAxis("y", "levels", labels=("no", "yes"))
    return x, CellAxis("y", "continuous", np.linspace(0, 100, many["y"] + 1))


def covered(design: Design, part: str, repeats: int) -> str:
    """Return one row of the table."""
    axes = axes_of(design, part)
    bounds = [one.bounds if one.kind == "continuous" else np.array([-0.5, 0.5, 1.5]) for one in axes]
    rng = np.random.default_rng([15, *design.name.encode()])
    found: list[tuple[float, float, bool]] = []
    for _ in range(repeats):
        counts = np.histogram2d(*design.draw(rng), bounds)[0]
        noisy = counts + rng.laplace(0, 2 / EPSILON, counts.shape)
        cells = CellCounts(axes, noisy, 8 / EPSILON**2, float(design.rows))
        fit = fit_cells(cells, "y ~ x", design.model, **({"k": 10.0} if design.model == "huber" else {}))
        found.append((fit.values[1], fit.std_errors[1], fit.reasons[1] is not None))
    value, error, silent = (np.array(one) for one in zip(*found, strict=True))
    given = ~silent.astype(bool) & np.isfinite(value)
    hit = np.abs(value - design.slope) <= 1.959964 * error
    finite = value[np.isfinite(value)]
    sd = float(finite.std()) if len(finite) else np.nan
    return (
        f"| {design.name} | {design.rows:,} | {'×'.join(str(one.size) for one in axes)} "
        f"| {f'{100 * hit[given].mean():.0f}' if given.any() else '–'} | {100 * (1 - given.mean()):.0f} "
        f"| {(finite.mean() - design.slope) / sd:.1f} | {np.nanmean(error) / sd:.2f} | {100 * sd / design.slope:.1f} |"
    )


HEAD = (
    "| design | rows | bins | covered given an answer, % | reasons, % | bias / SD | SE / SD | SD, % of the slope |",
    "|---|---:|---:|---:|---:|---:|---:|---:|",
)


TITLES = {
    "now": "Automatic bins of heaped columns",
    "declared": "The same columns, with their heaps declared",
    "before": "The same columns in as many bins as were taken before their widths were round numbers",
}


def table(part: str, repeats: int) -> Iterator[Part]:
    yield f"{'##' if part == 'now' else '###'} {TITLES[part]}\n"
    yield (
        f"{repeats} simulations a row at ε = 1: a coverage of 95% has a standard error of {(475 / repeats) ** 0.5:.0f}."
        "\nColumns are declared `Real`; which part of their rows is at multiples of which number, the name says.\n"
    )
    yield from HEAD
    for design in DESIGNS:
        yield partial(covered, design, part, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*TITLES, []], help="by default all")
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--plain", action="store_true", help="rows to the terminal")
    options = parser.parse_args()
    for part in options.parts or TITLES:
        if options.plain:
            for design in DESIGNS:
                print(covered(design, part, options.repeats), flush=True)
        else:
            put(PAGE, f"heaped_bins.py {part}", worked(list(table(part, options.repeats)), processes=1))


if __name__ == "__main__":
    main()
