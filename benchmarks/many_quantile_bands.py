"""Coverage and width of the intervals and bands of many quantiles: docs/reference/many-quantile-bands.md.

    python benchmarks/many_quantile_bands.py [--quick]

Each cell of the page: tables drawn from a law, one simulated release of each (`simulate_quantiles`), the quantiles of
the law.  Coverage of an interval is the share of tables and quantiles; of a band that of
tables in which all quantiles are within it.  Widths are in ranks: n times the law's probability of the interval, ties
at its ends included.  Cells whose release is the equal split are not simulated a second time: they are named.
Designs were written down before any was simulated: SHAPES, SIZES, PRICES, NUMBERS, TABLES."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import Any, Final

import numpy as np

import tacit as tc
from tacit.method.quantiles import design as quantiles_design
from tacit.method.quantiles import estimate as quantiles_estimate
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.testing.simulated_quantiles import simulate_quantiles

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "many-quantile-bands.md"
Numbers = np.ndarray
NORMAL: Final = np.vectorize(NormalDist().cdf, otypes=[float])


@dataclass(frozen=True)
class Law:
    """A law of values within public bounds; cdf: of the values as drawn, right-continuous."""

    lower: float
    upper: float
    draw: Callable[[np.random.Generator, int], Numbers]
    cdf: Callable[[Numbers], Numbers]
    whole: bool = False

    def quantile(self, p: float) -> float:
        """Return the least value whose share at or below it is at least p, to 2**-60 of the bounds."""
        low, high = self.lower, self.upper
        if self.cdf(np.array([low]))[0] >= p:
            return low
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if self.cdf(np.array([middle]))[0] >= p else (middle, high)
        return high


def heaped(x: Numbers, rng: np.random.Generator, by: float, share: float) -> Numbers:
    """Return values of which a share is rounded to multiples."""
    return np.where(rng.random(len(x)) < share, by * np.floor(x / by + 0.5), x)


def heaps(cdf: Callable[[Numbers], Numbers], by: float, share: float) -> Callable[[Numbers], Numbers]:
    return lambda x: (1 - share) * cdf(x) + share * cdf(by * np.floor(x / by) + by / 2)


def lognormal(x: Numbers) -> Numbers:
    return NORMAL((np.log(np.maximum(x, 1e-9)) - 10.5) / 0.8)


def clusters(x: Numbers) -> Numbers:
    """Ten clusters of a tenth of the rows each, on [10 k, 10 k + 1]: a gap of nothing behind each."""
    k = np.clip(np.floor(x / 10), 0, 9)
    return np.clip((k + np.clip(x - 10 * k, 0, 1)) / 10, 0, 1)


SHAPES: Final = {
    "normal, range 10 sd": Law(-5, 5, lambda rng, n: rng.normal(0, 1, n), NORMAL),
    "lognormal incomes": Law(0, 300_000, lambda rng, n: rng.lognormal(10.5, 0.8, n), lognormal),
    "60% at multiples of 5": Law(
        0,
        100,
        lambda rng, n: heaped(rng.normal(50, 15, n), rng, 5, 0.6),
        heaps(lambda x: NORMAL((x - 50) / 15), 5, 0.6),
    ),
    "70% at multiples of 5,000": Law(
        0, 300_000, lambda rng, n: heaped(rng.lognormal(10.5, 0.8, n), rng, 5_000, 0.7), heaps(lognormal, 5_000, 0.7)
    ),
    "ten clusters, gaps between": Law(0, 100, lambda rng, n: 10 * rng.integers(0, 10, n) + rng.random(n), clusters),
    "ages in years": Law(
        0, 110, lambda rng, n: np.rint(rng.normal(45, 18, n)), lambda x: NORMAL((np.floor(x) + 0.5 - 45) / 18), True
    ),
    "30% zeros, else exponential": Law(
        0,
        200,
        lambda rng, n: np.where(rng.random(n) < 0.3, 0.0, rng.exponential(20, n)),
        lambda x: np.where(x < 0, 0.0, 0.3 + 0.7 * -np.expm1(-np.maximum(x, 0) / 20)),
    ),
}
SIZES: Final = (1_000, 10_000, 100_000)
PRICES: Final[dict[str, dict[str, Any]]] = {
    "ε = 0.2": {"epsilon": "0.2"},
    "ε = 1": {"epsilon": "1"},
    "ρ = 0.05": {"rho": "0.05"},
    "ε = 1, δ = 1e-6": {"epsilon": "1", "delta": "1e-6"},
}
NUMBERS: Final = (5, 10, 20)
TABLES: Final = {1_000: 10, 10_000: 8, 100_000: 2}
"""Tables of each cell of the page, by the number of rows."""
SPLITS: Final = {1_000: 0, 10_000: 1, 100_000: 0}
"""Tables on which the equal split is simulated, of the first shape and of that with gaps."""
OF_SPLITS: Final = ("normal, range 10 sd", "ten clusters, gaps between")


def released(law: Law, x: Numbers, probs: Any, price: dict[str, Any], seed: int) -> Any:
    kind: Any = tc.Integer(int(law.lower), int(law.upper), missing=int(law.lower)) if law.whole else None
    schema = tc.Schema({"x": kind or tc.Real(law.lower, law.upper, missing=law.lower)})
    return simulate_quantiles(tc.Quantiles("x", probs), {"x": x}, schema, rng=seed, **price)


def way(law: Law, n: int, probs: Any, price: dict[str, Any]) -> str:
    schema = tc.Schema({"x": tc.Real(law.lower, law.upper, missing=law.lower)})
    shape = quantiles_design.design(tc.Quantiles("x", probs), Public(schema, "replace-one", n), Cost.of(**price))
    return "cuts" if shape.columns[0].form.name == "cuts" else "equal split"


def widths(law: Law, limits: Numbers, n: int) -> float:
    """Return the mean width in ranks, ties at the ends included."""
    tiny = (law.upper - law.lower) * 1e-9
    # the bounds hold all values
    high = np.where(limits[:, 1] >= law.upper, 1.0, law.cdf(limits[:, 1]))
    low = np.where(limits[:, 0] <= law.lower, 0.0, law.cdf(limits[:, 0] - tiny))
    return n * float(np.mean(high - low))


def inside(limits: Numbers, q: Numbers, law: Law) -> Numbers:
    tiny = (law.upper - law.lower) * 1e-9
    return (limits[:, 0] <= q + tiny) & (q <= limits[:, 1] + tiny)


def cell(name: str, n: int, price: str, m: int, tables: int, tally: dict[str, list[tuple[float, float]]]) -> str:
    """Return a row of the page; tally: the parts of intervals and of bands that hold, by what tables have in common."""
    law, paid = SHAPES[name], PRICES[price]
    probs = [Fraction(i, m + 1) for i in range(1, m + 1)]
    head = f"| {name} | {n:,} | {price} | {m} |"
    if way(law, n, probs, paid) != "cuts":
        return f"{head} equal split | | | | | | |"
    rng, q = np.random.default_rng([n, m, len(name), len(price)]), np.array([law.quantile(float(p)) for p in probs])
    held, bands, wide, far, error = [], [], [], [], []
    for seed in range(tables):
        x = np.clip(law.draw(rng, n), law.lower, law.upper)
        found = released(law, x, probs, paid, seed)
        band = quantiles_estimate.band(found.release)
        held.append(inside(found.limits, q, law))
        bands.append(inside(band.limits, q, law).all())
        wide.append(widths(law, found.limits, n))
        far.append(widths(law, band.limits, n))
        tiny = (law.upper - law.lower) / 2**15
        at = np.array([float(p) for p in probs])
        low, high = law.cdf(found.values - tiny), law.cdf(found.values + tiny)
        error.append(n * np.maximum(0, np.maximum(low - at, at - high)).mean())
    own, kept = quantiles_design.cuts_plan, []
    quantiles_design.cuts_plan = lambda *_, **__: None
    for seed in range(SPLITS[n] if name in OF_SPLITS else 0):
        x = np.clip(law.draw(rng, n), law.lower, law.upper)
        found = released(law, x, probs, paid, seed)
        kept.append((widths(law, found.limits, n), inside(found.limits, q, law).mean()))
    quantiles_design.cuts_plan = own
    split = f"{np.mean([one for one, _ in kept]):,.0f} ({100 * np.mean([one for _, one in kept]):.0f})" if kept else ""
    for key in (f"values: {name}", f"n = {n:,}", f"price: {price}", f"m = {m}", "all"):
        tally.setdefault(key, []).extend(zip(np.mean(held, axis=1).tolist(), map(float, bands), strict=True))
    return (
        f"{head} cuts | {100 * np.mean(held):.1f} | {100 * np.mean(bands):.0f} |"
        f" {np.mean(wide):,.0f} | {np.mean(far):,.0f} | {split} | {np.mean(error):,.1f} |"
    )


HEAD: Final = (
    "| values | n | price | m | way of the release | intervals that hold, % | bands that hold, %"
    " | width of an interval, ranks | of the band | equal split's interval (holds, %) | error of the value, ranks |\n"
    "|---|---:|---|---:|---|---:|---:|---:|---:|---:|---:|"
)
SUMMARY: Final = (
    "| releases from cuts | tables | intervals that hold, % (± standard error) | bands that hold, % |\n"
    "|---|---:|---:|---:|"
)
INTRODUCTION: Final = """# Intervals and bands of many quantiles

Intervals at 95% of m quantiles of a column at one price, and the band that holds for all of them at once. Written by
`python benchmarks/many_quantile_bands.py`; tables a cell by their rows: {tables}, and one of 10,000 for the
equal split. These are few for a single cell: the first table adds them up.

Columns are complete, the number of rows is public, and one row is replaced; the probabilities are 1/(m + 1) …
m/(m + 1). *Cuts*: cuts of the column are selected by halving, and the rows between them counted with noise; limits are
cuts. *Equal split*: an equal part of the price for each quantile, whose three steps are selected; named alone where
the release is one. Which of the two it is follows from public facts: the narrower expected width. Widths are in ranks
of the law, ties at the ends included, so that one heap can be wider than what the price would tell; a heap that holds
the quantile for certain is as narrow as a limit can be.

More than 95% hold, as limits are rounded outwards to cuts, and a band is for all cuts near the quantiles. Where the
equal split is left out, it was not simulated. Of the same price it is widened where its steps are out of order, which
among 20 quantiles is frequent: the choice between the two, by expected widths, does not know of it.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    start, many = time.monotonic(), ", ".join(f"{tables} of {n:,}" for n, tables in TABLES.items())
    rows, tally = list[str](), dict[str, list[tuple[float, float]]]()
    for n in SIZES[:2] if options.quick else SIZES:
        for name in SHAPES:
            for price in PRICES:
                for m in NUMBERS:
                    rows.append(cell(name, n, price, m, 1 if options.quick else TABLES[n], tally))
                    print(f"{time.monotonic() - start:.0f} s {rows[-1]}", flush=True)
    whole = [SUMMARY]
    for key, found in tally.items():
        # of tables, whose own quantiles depend on each other
        held, bands = np.array(found).T
        error = 100 * held.std() / len(held) ** 0.5
        whole.append(f"| {key} | {len(found):,} | {100 * held.mean():.1f} ± {error:.1f} | {100 * bands.mean():.1f} |")
    if not options.quick:
        page = [INTRODUCTION.format(tables=many), *whole, "", HEAD, *rows]
        PAGE.write_text("\n".join(page) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
