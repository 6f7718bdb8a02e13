"""Coverage given an answer of densities, data sets and histograms on the drawn designs of `holding_designs.py`.

    python benchmarks/holding.py PART [--repeats N] [--only WORDS] [--methods WORD ...]

PART: heavy (heavy tails of declared multiples and heaps), false (columns declared to be multiples that are not), modes
(two modes), far (heavy tails far inside their bounds), heaped (heavy tails with declared heaps), unequal (two modes,
one wider than the other), spikes.  Rows and noise are drawn anew in each simulation.  What is true
is the column as it is recorded, and for `false` rounded to what is declared, as words of estimates say (with --as-is
not rounded); of a density the law behind it.
Columns: share of intervals that hold what is true, of those that are told (no reason, finite ends), in per cent, and
after a stroke the share that is told.  `mean` and `variance` of moments; `cdf` at the quantiles .1, .5 and .9;
`quantiles` of these; `density` at each of nine quantiles; `at once` a band over all of these (of a data set the band of
its distribution function).  Beside them the median length of what is told: of `cdf` in hundredths, of `density` as a
part of the density.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import Any, Final

import numpy as np
from holding_designs import PARTS, Column

import tacit as tc

PROBS: Final = (0.1, 0.5, 0.9)
SPREAD: Final = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95)
METHODS: Final[dict[str, Any]] = {
    "kernel": tc.KernelDensity("x"),
    "Bernstein": tc.Bernstein("x"),
    "series": tc.OrthogonalSeries("x"),
    "bins": tc.Histogram("x", bins="auto"),
    "many bins": tc.Histogram("x", bins="density"),
    "data set": tc.KSDataset("x"),
}
USED: Final = {
    "heavy": ("kernel", "Bernstein", "series", "bins", "data set"),
    "false": ("kernel", "Bernstein", "bins", "data set"),
    "modes": ("data set",),
    "far": ("bins",),
    "heaped": ("kernel", "Bernstein", "many bins", "data set"),
    "unequal": ("kernel", "Bernstein", "many bins", "data set"),
    "spikes": ("kernel", "Bernstein", "many bins", "data set"),
}
SHOWN: Final = ("mean", "variance", "cdf", "quantiles", "density", "at once")


class Tally:
    """Of each number whether its intervals are told and hold, and how long they are."""

    def __init__(self) -> None:
        self.told, self.held = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
        self.length = defaultdict[str, list[float]](list)

    def add(self, name: str, limits: Any, truth: Any, reasons: Any = (), unit: Any = 1.0) -> None:
        """Count limits, shape (n, 2), of what is true, shape (n,)."""
        low, high = np.asarray(limits, dtype=float).reshape(-1, 2).T
        truth = np.atleast_1d(np.asarray(truth, dtype=float))
        known = np.isfinite(low + high)
        if len(reasons):
            known &= np.array([one is None for one in reasons])
        fine = 1e-9 * np.maximum(1e-3, np.abs(truth))
        self.told[name] += known.tolist()
        self.held[name] += ((low <= truth + fine) & (truth <= high + fine))[known].tolist()
        self.length[name] += ((high - low) / unit)[known].tolist()

    def shown(self, name: str) -> str:
        """Return coverage / share that is told / median length."""
        if not self.told[name]:
            return "–"
        if not self.held[name]:
            return "–/0"
        held, told = 100 * np.mean(self.held[name]), 100 * np.mean(self.told[name])
        return f"{held:.0f}/{told:.0f} ({float(np.median(self.length[name])):.2g})"


def density_of(one: Column, places: np.ndarray) -> np.ndarray:
    """Return the density of the law; of multiples, which have their unit around them, that of each over its unit."""
    if not one.unit:
        return np.asarray(one.law.pdf(places))
    first = max(one.lower, float(one.law.support()[0]) if hasattr(one.law, "support") else one.lower)
    ends = [np.maximum(places + side * one.unit / 2, first) for side in (-1, 1)]
    return (one.law.cdf(ends[1]) - one.law.cdf(ends[0])) / one.unit


def of_release(release: Any, method: str, one: Column, tally: Tally) -> None:
    """Add what a release tells."""
    truth = one.truth
    if method != "series":
        at = truth.quantile(PROBS)
        if method in ("bins", "many bins"):
            found = release.quantiles("x", PROBS)
            tally.add("quantiles", found.intervals(), at, found.reasons)
            found = release.moments("x")
            tally.add("mean", found.intervals()[:1], truth.mean, found.reasons[:1], one.truth.variance**0.5)
            tally.add("variance", found.intervals()[1:2], truth.variance, found.reasons[1:2], truth.variance)
        else:
            found = release.cdf(at)
            tally.add("cdf", found.intervals(), truth.cdf(at), found.reasons, 0.01)
    if method in ("kernel", "data set"):
        found = release.moments()
        tally.add("mean", found.intervals()[:1], truth.mean, found.reasons[:1], truth.variance**0.5)
        tally.add("variance", found.intervals()[1:2], truth.variance, found.reasons[1:2], truth.variance)
    if method == "data set":
        found, band = release.quantiles(PROBS), release.band()
        tally.add("quantiles", found.intervals(), at)
        below = truth.cdf(band.edges * (1 - 1e-7) - 1e-9)
        limits = band.intervals()
        # sums of shares are rounded
        low, high = (limits[:, 0] - below).max() - 1e-7, (limits[:, 1] - below).min() + 1e-7
        tally.add("at once", [[low, high]], [0.0], unit=0.01)
        return
    curve = release.smooth_density() if method in ("kernel", "Bernstein") else release.smooth_density("x")
    places = np.unique(truth.quantile(SPREAD))
    density, reasons = density_of(one, places), [curve.reasons[0]] * len(places)
    tally.add("density", curve.intervals(places), density, reasons, density)
    limits = curve.intervals(places, simultaneous=True)
    low, high = (limits[:, 0] - density).max(), (limits[:, 1] - density).min()
    tally.add("at once", [[low, high]], [0.0], reasons[:1])


def simulated(one: Column, method: str, repeats: int, *, as_is: bool) -> Tally:
    """Release and estimate."""
    true = one if as_is else one.as_declared
    told = {"multiple_of": one.declared or None, "heaped_at": one.heap or None}
    schema, tally = tc.Schema({"x": tc.Real(one.lower, one.upper, **told)}), Tally()
    rng = np.random.default_rng([15, *one.name.encode()])
    for _ in range(repeats):
        curator = tc.Curator({"x": one.draw(rng, one.rows)}, schema, budget=tc.Budget(epsilon=1_000))
        of_release(curator.release(METHODS[method], epsilon=str(one.epsilon)), method, true, tally)
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=list(PARTS))
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--only", default="", help="designs whose names have this in them")
    parser.add_argument("--as-is", action="store_true")
    parser.add_argument("--methods", nargs="*", default=None, choices=list(METHODS))
    given = parser.parse_args()
    methods, whole = given.methods or USED[given.part], defaultdict[str, Tally](Tally)
    print(f"{given.repeats} simulations a row: held / told (median length)")
    print("| column | rows | ε | method |", *(f"{name} |" for name in SHOWN))
    print("|---|---:|---:|---|" + "---:|" * len(SHOWN))
    for one in PARTS[given.part]():
        if not one.name.startswith(given.only):
            continue
        for method in methods:
            tally = simulated(one, method, given.repeats, as_is=given.as_is)
            for name in SHOWN:
                for of in ("told", "held", "length"):
                    getattr(whole[method], of)[name] += getattr(tally, of)[name]
            words = (one.name, f"{one.rows:,}", f"{one.epsilon:g}", method, *(tally.shown(name) for name in SHOWN))
            print(f"| {' | '.join(words)} |", flush=True)
    for method, tally in whole.items():
        print(f"| all | | | {method} | {' | '.join(tally.shown(name) for name in SHOWN)} |")


if __name__ == "__main__":
    main()
