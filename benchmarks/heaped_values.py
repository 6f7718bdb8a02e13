"""Columns with heaps, declared or not: coverage of means, standard deviations, medians and shares from histograms.

    python benchmarks/heaped_values.py [part ...] [--repeats N] [--plain] [--design TEXT]

`drawn` makes the designs, from a constant seed: a law, a unit at whose multiples a share of all rows is told (rounded
to the nearest, or down), or one value that a share of all rows has, bins, rows and a price.  They were committed before
any of them was simulated.  Each is told `Real(lower, upper)`, and `Real(lower, upper, heaped_at=unit)`.  Parts:
"periodic", "spikes", "smooth", the same laws without heaps, whose intervals are compared with those without the
rule for undeclared heaps, "alarms", how often that finds heaps in columns without, and "pooled", the page's own tables
of heaps in short.  Rows and noise are drawn anew in each simulation.  Seeds are constants.  `--plain` prints rows only;
else the tables are written into docs/reference/heaped-values.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from pages import Part, of_parts, put, worked
from scipy import stats

import tacit as tc
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.heaps.hidden_heaps import HiddenHeaps, heaped_rows
from tacit.fits.within_bins import bin_rules, within_bin_shares

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "heaped-values.md"

SEED = 20_261_126
DESIGNS_OF_A_PART = {"periodic": 24, "spikes": 12, "smooth": 12}
PLACES = 200_000
"""Quantiles of the law from which the population's statistics are computed."""
UPPER = 100.0
LAWS: dict[str, tuple[Any, ...]] = {
    "lognormal": tuple(stats.lognorm(s, scale=scale) for s, scale in ((0.4, 25), (0.6, 18), (0.9, 10))),
    "gamma": tuple(stats.gamma(a, scale=24 / a) for a in (1.5, 2.5, 5)),
    "normal": tuple(stats.norm(m, s) for m, s in ((50, 12), (40, 18), (60, 8))),
    "beta": tuple(stats.beta(a, b, scale=100) for a, b in ((1.2, 3), (2, 2), (4, 1.5))),
}
UNITS = (1.0, 2.5, 5.0, 10.0, 20.0)
SHARES = (0.1, 0.3, 0.5, 0.9)
ROWS = (2_000, 20_000, 100_000)
PRICES = (0.3, 1.0, 3.0)
BINS: tuple[Any, ...] = (
    "auto",
    "auto",
    20,
    40,
    80,
    (0, 10, 20, 30, 40, 50, 60, 80, 100),
    (0, 5, 15, 25, 40, 55, 75, 100),
)


@dataclass(frozen=True)
class Design:
    """A column from 0 to 100; share of its rows at multiples of unit, or (spike) at the one value `unit`."""

    part: str
    law_name: str
    law: Any
    unit: float
    share: float
    down: bool
    bins: Any
    rows: int
    price: float

    @property
    def name(self) -> str:
        """The design in words."""
        a, b = (f"{x:.0f}" for x in (self.law.mean(), self.law.std()))
        where = f"{self.share:.0%} {'down to' if self.down else 'at'} multiples of {self.unit:g}"
        where = f"{self.share:.0%} at {self.unit:g}" if self.part == "spikes" else where
        return f"{self.law_name} {a} ± {b}, " + ("no heaps" if self.part == "smooth" else where)

    def told(self, x: np.ndarray) -> np.ndarray:
        """Return values as those tell them who heap."""
        if self.part == "spikes":
            return np.full(len(x), self.unit)
        return np.clip((np.floor if self.down else np.round)(x / self.unit) * self.unit, 0, UPPER)

    def values(self, share: np.ndarray) -> np.ndarray:
        """Return the law's quantiles between the bounds."""
        low, high = self.law.cdf(0), self.law.cdf(UPPER)
        return np.clip(self.law.ppf(low + (high - low) * share), 0, UPPER)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return one table's column."""
        x = self.values(rng.random(self.rows))
        return x if self.part == "smooth" else np.where(rng.random(self.rows) < self.share, self.told(x), x)

    def population(self) -> tuple[np.ndarray, np.ndarray]:
        """Return values in order and the share at or below each."""
        x = self.values((np.arange(PLACES) + 0.5) / PLACES)
        share = 0.0 if self.part == "smooth" else self.share
        both, weight = np.concatenate([x, self.told(x)]), np.repeat([1 - share, share], PLACES) / PLACES
        order = np.argsort(both, kind="stable")
        return both[order], weight[order]


def drawn() -> tuple[Design, ...]:
    """Return the designs of all parts."""
    rng, found = np.random.default_rng(SEED), list[Design]()

    def one(given: Any) -> Any:
        return given[int(rng.integers(len(given)))]

    for part, many in DESIGNS_OF_A_PART.items():
        for _ in range(many):
            name = one(tuple(LAWS))
            law, unit, share, down = one(LAWS[name]), one(UNITS), one(SHARES), bool(rng.random() < 0.25)
            if part == "spikes":
                # half of them on round numbers, where edges are
                unit, share = float(np.round(law.ppf(rng.uniform(0.1, 0.9)), 2)), one((0.05, 0.1, 0.2, 0.4))
                unit = float(5 * np.round(unit / 5)) if rng.random() < 0.5 else unit
            found.append(Design(part, name, law, unit, share, down, one(BINS), one(ROWS), one(PRICES)))
    return tuple(found)


@dataclass
class Found:
    """What simulations of one way gave: value, standard error, whether the interval held, and length, a list a term."""

    values: dict[str, list[tuple[float, float, bool, float]]]
    tables: int = 0

    def add(self, name: str, value: float, limits: Any, truth: float) -> None:
        """Add one answer."""
        low, high = map(float, limits)
        fine = 1e-9 * max(1.0, abs(truth))
        held = low - fine <= truth <= high + fine
        self.values.setdefault(name, []).append((value, (high - low) / 3.92, held, high - low))

    def covered(self, name: str) -> str:
        """Return which part of the intervals held, in percent; a dash where there was no answer."""
        held = [one[2] for one in self.values.get(name, [])]
        few = f" ({len(held)})" if 0 < len(held) < self.tables else ""
        return f"{100 * np.mean(held):.0f}{few}" if held else "–"

    def typical(self, name: str, i: int) -> float:
        """Return the mean of values (0), or the median of standard errors (1)."""
        told = [one[i] for one in self.values.get(name, [])]
        return float((np.mean if i == 0 else np.median)(told)) if told else np.nan


@lru_cache
def truths(design: Design, edges: tuple[float, ...]) -> tuple[dict[str, float], float]:
    """Return what is estimated of the population, and the edge below which a share is asked for."""
    x, weight = design.population()
    mean, F = float(x @ weight), np.cumsum(weight)
    # the edge above which about a quarter is; values on an edge are above it
    edge = min(edges[1:-1], key=lambda at: abs(float(weight[x < at].sum()) - 0.75))
    found = {"mean": mean, "sd": float(np.sqrt((x - mean) ** 2 @ weight)), "share": float(weight[x < edge].sum())}
    return found | {"median": float(x[min(int(np.searchsorted(F, 0.5 - 1e-12)), len(x) - 1)])}, edge


def releases(design: Design, declared: bool, repeats: int) -> Iterator[Any]:
    """Return histograms of as many tables."""
    schema = tc.Schema({"x": tc.Real(0, UPPER, heaped_at=design.unit if declared else None)})
    bins = list(design.bins) if isinstance(design.bins, tuple) else design.bins
    grid, rng = design.values((np.arange(PLACES) + 0.5) / PLACES), np.random.default_rng([SEED, *design.name.encode()])
    for _ in range(repeats):
        x = grid[rng.integers(PLACES, size=design.rows)]
        x = x if design.part == "smooth" else np.where(rng.random(design.rows) < design.share, design.told(x), x)
        curator = tc.Curator({"x": x}, schema, budget=tc.Budget(epsilon=10))
        yield curator.release(tc.Histogram("x", bins={"x": bins}), epsilon=design.price)


def estimated(design: Design, cells: Any, found: Found) -> None:
    """Add the estimates of one release; a statistic with a reason is left out."""
    truth, edge = truths(design, tuple(cells.axes[0].edges))
    moments, quantile, shares = cells.moments("x"), cells.quantiles("x", 0.5), cells.cdf("x")
    at = shares.terms.index(f"{edge:.10g}")
    for name, made, i in (("mean", moments, 0), ("sd", moments, 2), ("median", quantile, 0), ("share", shares, at)):
        if made.reasons[i] is None:
            found.add(name, float(made.values[i]), np.array(made.conf_int()).reshape(-1, 2)[i], truth[name])


@contextmanager
def without_rule() -> Iterator[None]:
    """Take nothing for a heap that is not declared, as the library did before it had the rule."""

    def nothing(axis: Any, counts: np.ndarray, variance: float) -> HiddenHeaps:
        return HiddenHeaps(np.zeros(len(counts)), np.zeros(len(counts)))

    with ExitStack() as stack:
        for module in (bin_rules, within_bin_shares):
            stack.enter_context(patch.object(module, "heaped_rows", nothing))
        yield


def simulated(design: Design, ways: Sequence[str], repeats: int) -> dict[str, Found]:
    """Release and estimate, in ways that share their releases."""
    found = {way: Found({}, repeats) for way in ways}
    for cells in releases(design, "declared" in ways, repeats):
        for way, one in found.items():
            with without_rule() if way == "before" else nullcontext():
                estimated(design, cells, one)
    return found


TOLD = ("mean", "sd", "median", "share")


def words(bins: Any) -> str:
    """Return bins in a few words."""
    return f"{len(bins) - 1} typed" if isinstance(bins, tuple) else str(bins)


def row(design: Design, ways: Sequence[str], repeats: int) -> str:
    """Return the rows of the tables of heaps that share their releases."""
    truth = truths(design, (0, UPPER / 2, UPPER))[0]
    sampling = truth["sd"] / design.rows**0.5
    return "\n".join(
        f"| {design.name} | {words(design.bins)} | {design.rows:,} | {design.price:g} | {way} | "
        + " | ".join(map(found.covered, TOLD))
        + f" | {(found.typical('mean', 0) - truth['mean']) / sampling:+.1f} "
        f"| {found.typical('mean', 1) / sampling:.1f} "
        f"| {found.typical('sd', 1) / truth['sd'] * 100:.2g} | {found.typical('median', 1) * 3.92:.2g} |"
        for way, found in simulated(design, ways, repeats).items()
    )


def smooth_row(design: Design, repeats: int) -> str:
    """Return one row of the table without heaps: coverage, and how much longer the rule made errors."""
    now, before = simulated(design, ("not told", "before"), repeats).values()
    longer = [
        f"{np.mean([one[3] for one in now.values[name]]) / np.mean([one[3] for one in before.values[name]]) - 1:+.1%}"
        if name in now.values and name in before.values
        else "–"
        for name in TOLD[:3]
    ]
    return (
        f"| {design.name.split(',')[0]} | {words(design.bins)} | {design.rows:,} | {design.price:g} | "
        + " | ".join([*map(now.covered, TOLD), *longer])
        + " |"
    )


def alarm_row(K: int, rows: int, price: float, repeats: int) -> str:
    """Return how many columns in a thousand, of each kind of law, are found heaped."""
    axis, rng, found = CellAxis("x", "continuous", np.linspace(0, UPPER, K + 1)), np.random.default_rng([SEED, K]), []
    for laws in (*LAWS.values(), (stats.expon(scale=25), stats.uniform(0, 100)), (stats.laplace(47.7, 10),)):
        seen = 0
        for i in range(repeats):
            share = np.diff(laws[i % len(laws)].cdf(axis.bounds))
            counts = rng.multinomial(rows, share / share.sum()) + rng.laplace(0, 2 / price, K)
            seen += bool(heaped_rows(axis, counts, 8 / price**2).rows.any())
        found.append(f"{1_000 * seen / repeats:.0f}")
    return f"| {K} | {rows:,} | {price:g} | " + " | ".join(found) + " |"


HEAD = (
    "| column | bins | rows | ε | told | mean | sd | median | share | bias of the mean | its SE | SE of the sd, % "
    "| median's interval |",
    "|---|---|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|",
)
SMOOTH = (
    "| column | bins | rows | ε | mean | sd | median | share | mean, longer | sd, longer | median, longer |",
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
)
ALARMS = (
    f"| bins | rows | ε | {' | '.join(LAWS)} | exponential, even | Laplace |",
    "|---:|---:|---:|" + "---:|" * (len(LAWS) + 2),
)
LOW = 88
"""Coverage in % that 25 simulations of a 95% interval are below in one cell of thirty, about."""
TITLES = {
    "periodic": "Values told in multiples",
    "spikes": "One value that many rows have",
    "smooth": "Columns without heaps",
    "alarms": "False alarms",
    "pooled": "All designs together",
}


def pooled() -> Iterator[Part]:
    """Return coverage over all designs of a part, and over those where it is least, from the page's own tables."""
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if "±" in line]
    rows = [cells for cells in rows if len(cells) == len(HEAD[0].strip("| ").split(" | "))]
    yield f"## {TITLES['pooled']}\n"
    yield "Coverage in %, the mean of all designs' (in brackets how many designs are below 88).\n"
    yield "| heaps | told | " + " | ".join(TOLD) + " |"
    yield "|---|---|" + "---:|" * len(TOLD)
    for part in ("periodic", "spikes"):
        for way in ("before", "not told", "declared"):
            own = [cells for cells in rows if cells[4] == way and ("multiples" in cells[0]) == (part == "periodic")]
            told = [[float(c[5 + i].split()[0]) for c in own if c[5 + i] != "–"] for i in range(len(TOLD))]
            said = [f"{np.mean(one):.1f} ({sum(c < LOW for c in one)})" for one in told]
            yield f"| {TITLES[part].lower()}, {len(own)} designs | {way} | " + " | ".join(said) + " |"


def rows_of(part: str, repeats: int, text: str = "") -> Iterator[partial[str]]:
    """Return what makes each row of a table."""
    if part == "alarms":
        for K in (10, 20, 40, 100):
            for rows in ROWS:
                yield partial(alarm_row, K, rows, 1.0, 20 * repeats)
        return
    for design in drawn():
        if design.part == part and text in design.name:
            if part == "smooth":
                yield partial(smooth_row, design, repeats)
            else:
                for ways in (("before", "not told"), ("declared",)):
                    yield partial(row, design, ways, repeats)


def table(part: str, repeats: int) -> Iterator[Part]:
    """Return the lines of one part of the page, and what makes its rows."""
    if part == "pooled":
        yield from pooled()
        return
    yield f"## {TITLES[part]}\n"
    if part == "alarms":
        yield f"{20 * repeats} simulations a cell: columns in a thousand in which heaps are found.\n"
        yield from ALARMS
    else:
        yield (
            f"{repeats} simulations a row: a coverage of 95% has a standard error of {(475 / repeats) ** 0.5:.1f}.\n"
            "Coverage in % of the answers given (in brackets how many, where not all).  "
            + (
                "How much longer intervals are than\nwithout the rule for heaps.\n"
                if part == "smooth"
                else "Bias and standard error (a quarter of the interval's length, about) of\nthe mean in sampling "
                "errors; that of the sd in % of it.  Before: without the rule for undeclared heaps.\n"
            )
        )
        yield from SMOOTH if part == "smooth" else HEAD
    yield from rows_of(part, repeats)


def main() -> None:
    """Make the tables."""
    options = of_parts(__doc__, TITLES, 20)
    for part in options.parts:
        if options.plain:
            for made in rows_of(part, options.repeats, options.design):
                print(made(), flush=True)
        else:
            put(PAGE, f"heaped_values.py {part}", worked(list(table(part, options.repeats)), processes=1))


if __name__ == "__main__":
    main()
