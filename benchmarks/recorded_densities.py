"""Densities of columns that are recorded in multiples of a number or heaped at some, declared so or not.

    python benchmarks/recorded_densities.py [--repeats N] [--plain] [--design WORDS] [--way WORDS]

Orthogonal series, kernels, Bernstein polynomials, smooth densities of automatic bins and data sets, at ε = 1.  What is
true is the column as it is recorded: its distribution function, mean, standard deviation and quantiles; of a density
it is the law that was rounded, moved by half a unit where it was rounded down, so that a recorded value has its unit
around it.  Rows and noise are drawn anew in each simulation.  The designs were written down before any of them was
simulated.  Seeds are constants.
`--plain` prints rows only; else the table is written into docs/reference/recorded-multiples.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from pages import Part, put, worked
from recorded_multiples import DESIGNS, EPSILON, PAGE, PROBS, Design
from scipy import stats

import tacit as tc

ROWS = (1_000, 20_000)
SPREAD = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95)
"""Probabilities of the recorded values at which densities are asked for."""
POINTS = 2_000
"""Quantiles from which mean and standard deviation of a curve are made."""
SAMPLED = 500

COLUMNS = (
    DESIGNS[0],
    DESIGNS[1],
    Design("counts of visits, one or more", stats.nbinom(3, 0.35), 0, 40, 1, False, 1, ()),
    Design("prices to 0.5, 40% in fives", stats.gamma(2.5, scale=6), 0, 90, 0.5, False, 0.5, (), 5, 0.4),
    Design("prices to 5, half in fifties", stats.gamma(3, scale=60), 0, 1_000, 5, False, 5, (), 50, 0.5),
    Design("claims to 1,000, heavy tail", stats.lognorm(1.0, scale=12_000), 0, 250_000, 1_000, False, 1_000, ()),
    Design("scores, continuous", stats.norm(55, 15), 0, 100, 0, False, 1, ()),
)
METHODS: dict[str, Any] = {
    "series": tc.OrthogonalSeries("x"),
    "kernel": tc.KernelDensity("x"),
    "Bernstein": tc.Bernstein("x"),
    "bins": tc.Histogram("x", bins="auto"),
    "data set": tc.KSDataset("x"),
}
WAYS = ("nothing", "declared")
RELATIONS = ("replace-one", "add-remove")
"""Both are tried of the first column."""


def column(design: Design, way: str) -> tc.Real:
    """Return the column with its declarations, or without."""
    if way == "nothing":
        return tc.Real(design.lower, design.upper)
    heap = design.heap if design.share else None
    return tc.Real(design.lower, design.upper, multiple_of=design.declared, heaped_at=heap)


@dataclass(frozen=True)
class Truth:
    """What is true of a design: the column as recorded, and the density of the law behind it at some of its values."""

    mean: float
    sd: float
    quantiles: np.ndarray
    values: np.ndarray
    density: np.ndarray
    recorded: np.ndarray
    """All recorded values, rising, with `cumulative` shares."""
    cumulative: np.ndarray

    def cdf(self, x: Any, *, below: bool = False) -> np.ndarray:
        """Return the share at or below values; below: the share below them."""
        fine = 1e-9 * (1 + np.abs(x))
        place = np.searchsorted(self.recorded, np.asarray(x) + (-fine if below else fine), side="right")
        return np.concatenate([[0.0], self.cumulative])[place]


def truth_of(design: Design) -> Truth:
    """Return it, from a million quantiles of the law."""
    low, high = design.law.cdf(design.lower), design.law.cdf(design.upper)
    x = design.law.ppf(low + (high - low) * (np.arange(1_000_000) + 0.5) / 1_000_000)
    x = np.concatenate([x, np.round(x / design.heap) * design.heap])
    weight = np.repeat([1 - design.share, design.share], 1_000_000) / 1_000_000
    if design.unit:
        x = (np.floor if design.floor else np.round)(x / design.unit + (1e-9 if design.floor else 0)) * design.unit
    recorded, at = np.unique(np.clip(x, design.lower, design.upper), return_inverse=True)
    share = np.bincount(at, weights=weight)
    mean, F = float(share @ recorded), np.cumsum(share)
    sd = float(np.sqrt(share @ (recorded - mean) ** 2))
    found = recorded[np.searchsorted(F, np.array(PROBS) - 1e-12)]
    values = np.unique(recorded[np.searchsorted(F, np.array(SPREAD) - 1e-12)])
    moved = values + (design.unit / 2 if design.floor else 0)
    density = design.law.pmf(values) if hasattr(design.law.dist, "pmf") else design.law.pdf(moved)
    return Truth(mean, sd, found, values, density / (high - low), recorded, F)


@dataclass
class Found:
    """Numbers of each simulation by what they are of."""

    numbers: dict[str, list[float]]

    def add(self, name: str, value: Any) -> None:
        self.numbers.setdefault(name, []).append(float(value))

    def held(self, name: str, limits: Any, truth: Any) -> None:
        """Count how many of limits, shape (n, 2), hold what is true, shape (n,), of those that are numbers."""
        low, high = np.asarray(limits, dtype=float).reshape(-1, 2).T
        truth, known = np.atleast_1d(truth), np.isfinite(low + high)
        if known.any():
            fine = 1e-9 * np.maximum(1.0, np.abs(truth))
            self.add(name, ((low <= truth + fine) & (truth <= high + fine))[known].mean())

    def told(self, name: str, form: str, by: float = 1.0) -> str:
        found = self.numbers.get(name)
        return format(by * float(np.mean(found)), form) if found else "–"


def of_curve(curve: Any, design: Design, truth: Truth, found: Found) -> None:
    """Add what a density as a curve tells."""
    found.add("cdf", (curve.cdf(truth.quantiles) - truth.cdf(truth.quantiles)).mean())
    points = curve.quantile((np.arange(POINTS) + 0.5) / POINTS)
    unit = design.unit or design.declared
    found.add("mean", (points.mean() - truth.mean) / unit)
    found.add("sd", points.std() / truth.sd - 1)
    found.add("quantiles", (np.abs(curve.quantile(PROBS) - truth.quantiles) < 1e-6 * unit).mean())
    found.held("band at each", curve.intervals(truth.values), truth.density)
    found.add("band at all", _all(curve.intervals(truth.values, simultaneous=True), truth.density))


def _all(limits: Any, truth: Any) -> bool:
    return bool(((limits[:, 0] <= truth) & (truth <= limits[:, 1])).all())


def of_release(release: Any, method: str, design: Design, truth: Truth, found: Found, seed: int) -> None:
    """Add what a release tells."""
    if method != "data set":
        curve = release.smooth_density("x") if method != "Bernstein" else release.smooth_density()
        if curve.reasons[0] is None:
            of_curve(curve, design, truth, found)
            sample = curve.sample(SAMPLED, rng=seed)
    else:
        found.add("cdf", (release.cdf(truth.quantiles).values - truth.cdf(truth.quantiles)).mean())
        band = release.band()
        # a value on an edge is in the cell above it
        found.add("band at all", _all(band.intervals(), truth.cdf(band.edges, below=True)))
        made, unit = release.quantiles(PROBS), design.unit or design.declared
        found.add("quantiles", (np.abs(made.values - truth.quantiles) < 1e-6 * unit).mean())
        found.held("quantiles held", made.intervals(), truth.quantiles)
        sample = release.sample(SAMPLED, rng=seed)
    if "sample" in locals():
        steps = sample["x"].to_numpy() / (design.unit or design.declared)
        found.add("samples", (np.abs(steps - np.rint(steps)) < 1e-6).mean())
    if method in ("kernel", "Bernstein", "data set"):
        found.held("cdf held", release.cdf(truth.quantiles).intervals(), truth.cdf(truth.quantiles))
    if method in ("kernel", "data set"):
        made = release.moments()
        if made.reasons[0] is None:
            found.held("mean held", made.intervals()[:1], truth.mean)
            found.held("sd held", made.intervals()[1:2], truth.sd**2)
            if method == "data set":
                found.add("mean", (made.values[0] - truth.mean) / (design.unit or design.declared))
                found.add("sd", np.sqrt(max(made.values[1], 0)) / truth.sd - 1)


def simulated(design: Design, rows: int, method: str, way: str, relation: str, repeats: int) -> Found:
    """Release and estimate."""
    truth, found = truth_of(design), Found({})
    schema = tc.Schema({"x": column(design, way)})
    rng = np.random.default_rng([18, rows, *design.name.encode()])
    told = {"size_hint": rows} if relation == "add-remove" else {}
    for i in range(repeats):
        budget = tc.Budget(epsilon=1_000, neighbors=relation)
        curator = tc.Curator({"x": design.draw(rng, rows)}, schema, budget=budget, **told)
        of_release(curator.release(METHODS[method], epsilon=EPSILON), method, design, truth, found, i)
    return found


def row(design: Design, rows: int, method: str, way: str, relation: str, repeats: int) -> str:
    found = simulated(design, rows, method, way, relation, repeats)
    return (
        f"| {design.name}{', add-remove' if relation == 'add-remove' else ''} | {rows:,} | {method} | {way} "
        f"| {found.told('cdf', '+.1f', 100)} | {found.told('cdf held', '.0f', 100)} "
        f"| {found.told('mean', '+.2f')} | {found.told('mean held', '.0f', 100)} "
        f"| {found.told('sd', '+.1f', 100)} | {found.told('sd held', '.0f', 100)} "
        f"| {found.told('quantiles', '.0f', 100)} | {found.told('quantiles held', '.0f', 100)} "
        f"| {found.told('band at each', '.0f', 100)} | {found.told('band at all', '.0f', 100)} "
        f"| {found.told('samples', '.0f', 100)} |"
    )


HEAD = (
    "| column | rows | density | told | share at or below: bias | held | mean: bias | held | SD: bias, % | held "
    "| quantiles found | held | density held | at once | samples |",
    "|---|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
)


def lines(repeats: int) -> Iterator[tuple[Design, str, Callable[[], str]]]:
    """Yield the rows of the table, with the design and the way of each."""
    for design in COLUMNS:
        for relation in RELATIONS if design is COLUMNS[0] else RELATIONS[:1]:
            for rows in ROWS:
                for method in METHODS:
                    for way in WAYS:
                        yield design, way, partial(row, design, rows, method, way, relation, repeats)


def table(repeats: int) -> Iterator[Part]:
    yield "## Densities\n"
    yield (
        f"{repeats} simulations a row at ε = {EPSILON:g}: a coverage of 95% has a standard error of "
        f"{(475 / repeats) ** 0.5:.1f}.\nBias of the share at or below the quantiles .1, .5 and .9, in hundredths; of "
        "the mean in units of what values are multiples of.\n*Held*: by intervals of 95%, %; *quantiles found*: the "
        "recorded value itself, %; *density held*: that of the law, at nine recorded values, % (of a data set "
        "its band of the distribution function); *samples*: recorded values among them, %.\n"
    )
    yield from HEAD
    yield from (one for _, _, one in lines(repeats))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--plain", action="store_true", help="rows to the terminal")
    parser.add_argument("--design", default="", help="designs whose names have this in them, with --plain")
    parser.add_argument("--way", default="", help="ways that have this in their names, with --plain")
    options = parser.parse_args()
    if not options.plain:
        put(PAGE, "recorded_densities.py", worked(list(table(options.repeats)), processes=1))
        return
    for design, way, one in lines(options.repeats):
        if options.design in design.name and options.way in way:
            print(one(), flush=True)


if __name__ == "__main__":
    main()
