"""Columns that are recorded in multiples of a number (whole years, half dollars, fives), declared so or not.

    python benchmarks/recorded_multiples.py [part ...] [--repeats N] [--plain]

Statistics of a histogram: mean, standard deviation and quantiles of a column (population, as it is recorded), and the
slope of a line in it.  A design is told `Real(lower, upper)`, where nothing is known of the multiples, and
`Real(lower, upper, multiple_of=…)`.  Parts: "auto", bins that the library chooses; "own", bins of equal width and edges
that a person typed; "shifted", automatic edges without a declaration, moved by 5/9 or 1/3 of a power of ten, or by half
a unit of one: what a rule could do that does not know the multiples.  Rows and noise are drawn anew in each simulation.
The designs were written down before any of them was simulated.  Seeds are constants.
`--plain` prints rows only; else the tables are written into docs/reference/recorded-multiples.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pages import Part, of_parts, put, worked
from scipy import stats
from uneven_bins import chosen_edges

import tacit as tc
from tacit.schema.autobins import Size, resolved

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "recorded-multiples.md"
EPSILON = 1.0
ROWS = (2_000, 20_000, 100_000)
PROBS = (0.1, 0.5, 0.9)
SLOPE, SD = 40.0, 8.0
"""Of a response from 0 to 100 on a column in units of its range, and of its errors, which are cut at 3 SD."""
PLACES = 1_000_000
"""Quantiles of the law from which the population's statistics are computed."""


@dataclass(frozen=True)
class Design:
    """A column within public bounds, floored or rounded to multiples of `unit`; some rows are at multiples of `heap`.

    unit 0: not rounded.  declared: what it is declared to be multiples of, where a declaration is tried.  edges: the
    bins that a person would type.
    """

    name: str
    law: Any
    lower: float
    upper: float
    unit: float
    floor: bool
    declared: float
    edges: tuple[float, ...]
    heap: float = 1.0
    share: float = 0.0

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        low, high = self.law.cdf(self.lower), self.law.cdf(self.upper)
        x = self.law.ppf(low + (high - low) * rng.random(rows))
        if self.share:
            x = np.where(rng.random(rows) < self.share, np.round(x / self.heap) * self.heap, x)
        if self.unit:
            x = (np.floor if self.floor else np.round)(x / self.unit + (1e-9 if self.floor else 0)) * self.unit
        return np.clip(x, self.lower, self.upper)

    def population(self) -> dict[str, float]:
        """Return mean, sd and quantiles of the column as it is recorded."""
        low, high = self.law.cdf(self.lower), self.law.cdf(self.upper)
        x = self.law.ppf(low + (high - low) * (np.arange(PLACES) + 0.5) / PLACES)
        x = np.concatenate([x, np.round(x / self.heap) * self.heap])
        weight = np.repeat([1 - self.share, self.share], PLACES)
        if self.unit:
            x = (np.floor if self.floor else np.round)(x / self.unit + (1e-9 if self.floor else 0)) * self.unit
        x = np.clip(x, self.lower, self.upper)
        mean = float(np.average(x, weights=weight))
        order = np.argsort(x, kind="stable")
        F = np.cumsum(weight[order]) / PLACES
        found = {"mean": mean, "sd": float(np.sqrt(np.average((x - mean) ** 2, weights=weight)))}
        found |= {f"{p:g}": float(x[order][np.searchsorted(F, p)]) for p in PROBS}
        return found | {"slope": SLOPE / (self.upper - self.lower)}

    def response(self, rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
        """Return an exact line in the recorded column, with errors."""
        e = stats.truncnorm.ppf(rng.random(len(x)), -3, 3)
        return 30 + SLOPE * (x - self.lower) / (self.upper - self.lower) + SD * e


DESIGNS = (
    Design("ages, whole years completed", stats.norm(46, 17), 0, 100, 1, True, 1, (0, 18, 30, 45, 65, 80, 100)),
    Design("months of stay, completed", stats.gamma(2, scale=22), 0, 120, 1, True, 1, (0, 6, 12, 24, 36, 60, 120)),
    Design("prices to 0.5", stats.gamma(2.5, scale=6), 0, 90, 0.5, False, 0.5, (0, 5, 10, 15, 20, 30, 50, 90)),
    Design("fees in fives", stats.gamma(3, scale=60), 0, 1_000, 5, False, 5, (0, 50, 100, 200, 300, 500, 1_000)),
    Design(
        "incomes to 100, half in ten thousands", stats.lognorm(0.6, scale=45_000), 0, 300_000, 100, True, 100,
        (0, 20_000, 40_000, 60_000, 100_000, 150_000, 300_000), 10_000, 0.5,
    ),
    Design(
        "hours, whole, 35% in fives", stats.norm(38, 9), 0, 80, 1, True, 1, (0, 10, 20, 30, 40, 50, 80), 5, 0.35
    ),
    Design(
        "weights, continuous, 30% whole", stats.norm(75, 14), 30, 150, 0, False, 0.1,
        (30, 50, 60, 70, 80, 90, 100, 150), 1, 0.3,
    ),
    Design("distances, continuous", stats.gamma(2, scale=14), 0, 100, 0, False, 1, (0, 10, 20, 30, 40, 60, 100)),
    Design("scores, continuous", stats.norm(55, 15), 0, 100, 0, False, 5, (0, 20, 40, 50, 60, 80, 100)),
)  # fmt: skip


def bins_of(design: Design, way: str, rows: int) -> Any:
    """Return the bins of a way of a part: "auto", a number, edges, or automatic edges that are moved."""
    if way in ("auto", "auto, declared"):
        return "auto"
    if "equal" in way:
        return 20
    if "typed" in way:
        return list(design.edges)
    schema = tc.Schema({"x": tc.Real(design.lower, design.upper)})
    chosen = resolved(schema, ("x",), {"x": "auto"}, Size(float(rows), EPSILON, 10_000_000), 1, 0)["x"]
    K = len(chosen_edges(chosen, 0.0, 1.0)) - 1
    width = (design.upper - design.lower) / K
    power = 10.0 ** np.floor(np.log10(width))
    moved = {"5/9": 5 / 9 * power, "1/3": power / 3, "half": 0.5 if width > 1 else 0.5 * power}
    shift = moved[way.split()[-1]]
    return [design.lower, *(design.lower + shift + width * np.arange(K)).tolist(), design.upper]


@dataclass
class Found:
    """What simulations of one way gave: estimates, standard errors and whether intervals held, a list a statistic."""

    values: dict[str, list[tuple[float, float, bool, float]]]

    def add(self, name: str, value: float, error: float, limits: Any, truth: float) -> None:
        low, high = map(float, limits)
        if np.isfinite([value, low, high]).all():
            fine = 1e-9 * max(1.0, abs(truth))
            self.values.setdefault(name, []).append((value, error, low - fine <= truth <= high + fine, high - low))

    def covered(self, *names: str) -> str:
        held = [one[2] for name in names for one in self.values.get(name, [])]
        return f"{100 * np.mean(held):.0f}" if held else "–"

    def mean_of(self, name: str, i: int) -> float:
        return float(np.mean([one[i] for one in self.values[name]])) if name in self.values else np.nan


def simulated(design: Design, way: str, rows: int, repeats: int) -> Found:
    """Release and estimate; a statistic with a reason is left out."""
    unit = design.declared if "declared" in way else None
    schema = tc.Schema({"x": tc.Real(design.lower, design.upper, multiple_of=unit), "y": tc.Real(0, 100)})
    bins, truth = bins_of(design, way, rows), design.population()
    rng, found = np.random.default_rng([15, rows, *design.name.encode()]), Found({})
    for _ in range(repeats):
        x = design.draw(rng, rows)
        curator = tc.Curator({"x": x, "y": design.response(rng, x)}, schema, budget=tc.Budget(epsilon=1_000))
        cells = curator.release(tc.Histogram("x", bins={"x": bins}), epsilon=EPSILON)
        for made in (cells.moments("x"), cells.quantiles("x", PROBS)):
            limits = made.conf_int().to_numpy()
            errors = np.ptp(limits, axis=1) / 3.92
            for i, term in enumerate(made.terms):
                if term in truth and made.reasons[i] is None:
                    found.add(term, float(made.values[i]), float(errors[i]), limits[i], truth[term])
        fit = curator.release(tc.Histogram(["x", "y"], bins={"x": bins, "y": "auto"}), epsilon=EPSILON).fit("y ~ x")
        if fit.coefficients.reasons[1] is None:
            limits = fit.conf_int().to_numpy()[1]
            found.add("slope", float(fit.values[1]), float(fit.std_errors[1]), limits, truth["slope"])
    return found


def row(design: Design, way: str, rows: int, repeats: int) -> str:
    found, truth = simulated(design, way, rows, repeats), design.population()
    error, unit = found.mean_of("mean", 1), design.unit or design.declared
    return (
        f"| {design.name} | {rows:,} | {way} | {found.covered('mean')} | {found.covered('sd')} "
        f"| {found.covered(*map('{:g}'.format, PROBS))} | {found.covered('slope')} "
        f"| {(found.mean_of('mean', 0) - truth['mean']) / unit:+.2f} | {error / unit:.2f} "
        f"| {_told(found.mean_of('0.5', 3) / unit, '.2g')} "
        f"| {_told(found.mean_of('slope', 1) / truth['slope'] * 100, '.2f')} |"
    )


def _told(value: float, form: str) -> str:
    """Return a number, or a dash where no simulation gave one."""
    return format(value, form) if np.isfinite(value) else "–"


HEAD = (
    "| column | rows | bins | mean | sd | quantiles | slope | bias of the mean | its SE | median's interval "
    "| SE of the slope, % |",
    "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|",
)
WAYS = {
    "auto": ("auto", "auto, declared"),
    "own": ("20 equal", "20 equal, declared", "typed", "typed, declared"),
    "shifted": ("auto", "moved by 5/9", "moved by 1/3", "moved by half"),
}
SIZES = {"auto": ROWS, "own": (20_000,), "shifted": (20_000, 100_000)}
TRIED = 3
"""Columns, the first ones, of which moved edges are tried."""
TITLES = {"auto": "Automatic bins", "own": "Bins of one's own", "shifted": "Automatic bins with moved edges"}


def table(part: str, repeats: int) -> Iterator[Part]:
    yield f"## {TITLES[part]}\n"
    yield (
        f"{repeats} simulations a row at ε = {EPSILON:g}: a coverage of 95% has a standard error of "
        f"{(475 / repeats) ** 0.5:.1f}.\nFirst four numbers: covered given an answer, % (quantiles: .1, .5 and .9 "
        "together; –: no answer without a reason).\nBias, standard error and length in units of what values are "
        "multiples of (where they are not, of what was declared).\n"
    )
    yield from HEAD
    for design, way, rows in _rows(part):
        yield partial(row, design, way, rows, repeats)


def _rows(part: str) -> Iterator[tuple[Design, str, int]]:
    for design in DESIGNS[: TRIED if part == "shifted" else None]:
        for rows in SIZES[part]:
            for way in WAYS[part]:
                yield design, way, rows


def main() -> None:
    options = of_parts(__doc__, TITLES, 25)
    for part in options.parts:
        if options.plain:
            for design, way, rows in _rows(part):
                if options.design in design.name:
                    print(row(design, way, rows, options.repeats), flush=True)
        else:
            put(PAGE, f"recorded_multiples.py {part}", worked(list(table(part, options.repeats)), processes=1))


if __name__ == "__main__":
    main()
