"""Five estimators of a density, and whole data sets, side by side: docs/reference/compared-densities.md.

    python benchmarks/compared_densities.py PART ...  (grid, best, coverage, sets, full, page; held: laws held out;
        names of methods: these alone; earlier: the number of terms of series by the earlier rule, of laws held out)

Parts add lines to compared_densities.jsonl, in place of those of the same case; `page` writes the page from it.
Designs are those of `compared_designs`, committed before any was simulated; seeds are constants, but for data sets,
drawn by the operating system's generator.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from compared_designs import ASKED, BASES, HELD, LAWS, METHODS, PRICES, SIZES, Method
from compared_pages import page
from compared_simulations import FINE, LEVEL, WHOLE, Case, agreement, coverage, errors, truth
from ks_dataset import released

import tacit as tc
from tacit.method.ks_dataset.estimate import band
from tacit.privacy import Cost
from tacit.testing.simulate import shaped

STORE: Final = Path(__file__).with_suffix(".jsonl")
SCANNED: Final = {True: 30, False: 60}
"""Simulations of each value of a grid: of laws held out, and of the others (40 of smooth densities)."""
FRESH: Final = 120
"""Further simulations of the choice and of the best value, so that the best is not best by luck."""
COVERED: Final = 10
FULL: Final = 30
"""Full releases by a curator."""
SETS: Final = {1_000: 40, 10_000: 5}
"""Simulations of data sets, which are slow, by the number of rows; about two thirds of them have a band."""


def keep(**line: Any) -> None:
    """Add a line, in place of what there is of its case."""
    key = {name: line.get(name) for name in ("part", "method", "law", "n", "price")}
    kept = [one for one in _lines() if any(one.get(name) != value for name, value in key.items())]
    STORE.write_text("".join(json.dumps(one) + "\n" for one in (*kept, line)), encoding="utf-8")
    print(str(line)[:160], flush=True)


def _lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in STORE.read_text(encoding="utf-8").splitlines()]


def methods() -> list[Method]:
    """Return the methods that are named, or all."""
    return [one for one in METHODS if one.name in sys.argv] or list(METHODS)


def cases(held: bool) -> Iterator[Case]:
    """Yield the cases of methods with densities."""
    for method in methods():
        for law in HELD if held else ASKED:
            for n in SIZES:
                for price in PRICES:
                    yield Case(method, law, n, price)


def named(case: Case) -> dict[str, Any]:
    """Return what a line says of its case."""
    return {"method": case.method.name, "law": case.law, "n": case.n, "price": case.price}


def grid(held: bool) -> None:
    """Simulate every value of the parameters, but of cases that have been."""
    lines = _lines()
    done = [(o["method"], o["law"], o["n"], o["price"]) for o in lines if o["part"] == "grid"]
    for case in cases(held):
        if (case.method.name, case.law, case.n, case.price) in done:
            continue
        repeats = min(40, SCANNED[held]) if case.method.name == "smooth" else SCANNED[held]
        found = [(value, errors(_at(case, value), repeats, 2).mean[0]) for value in case.method.grid]
        keep(part="grid", **named(case), values=found)


def best(held: bool) -> None:
    """Simulate the design's choice and the best of the grid again."""
    lines = _lines()
    grids = {json.dumps([o["method"], o["law"], o["n"], o["price"]]): o["values"] for o in lines if o["part"] == "grid"}
    for case in cases(held):
        values = grids[json.dumps([case.method.name, case.law, case.n, case.price])]
        value = min(values, key=lambda one: one[1])[0]
        repeats = FRESH // (3 if case.method.name == "smooth" else 1)
        own, other = errors(case, repeats, 3), errors(_at(case, value), repeats, 3)
        far = {"distance": float(own.distance.mean()), "best_distance": float(other.distance.mean())}
        keep(part="best", **named(case), chosen=case.chosen, best=value, own=own.mean, other=other.mean, **far)


def earlier(held: bool) -> None:
    """Simulate series of laws held out at the numbers of terms of the earlier rule, and at the best."""
    lines = _lines()
    terms = {(o["n"], str(o["price"])): o["chosen"] for o in lines if o["part"] == "earlier"}
    for case in cases(held=True):
        if case.method.name in BASES:
            value = terms[case.n, str(case.price)]
            (today,) = [one for one in lines if one["part"] == "best" and named(case).items() <= one.items()]
            both = {name: today[name] for name in ("best", "other")}
            keep(part="earlier", **named(case), chosen=value, own=errors(_at(case, value), FRESH, 3).mean, **both)


def covered(held: bool) -> None:
    """Simulate coverage by the library's own functions; of each method agreement and time, once a size."""
    for case in cases(held):
        rng = np.random.default_rng([4, case.n, len(case.law)])
        found = coverage(case, COVERED, rng)
        # sums, and of how many releases
        sums = np.nansum(found, axis=0).tolist()
        many = (~np.isnan(found)).sum(axis=0).tolist()
        keep(part="coverage", **named(case), sums=sums, many=many, places=WHOLE)
        if case.law == "Beta(2,5)" and case.price == PRICES[1]:
            keep(part="agreement", **named(case), values=agreement(case, 5))


def sets(held: bool) -> None:
    """Simulate data sets: their distance from the law's distribution function, and what their bands hold of it."""
    schema = tc.Schema({"x": tc.Real(0, 1, missing=0.0)})
    lines = _lines()
    done = [(one["law"], one["n"], one["price"]) for one in lines if one["part"] == "sets"]
    for n in SIZES:
        for law in HELD if held else ASKED:
            for price in PRICES[:2]:
                if (law, n, price) in done:
                    continue
                shape = shaped(tc.KSDataset("x"), schema, "replace-one", n, Cost.of(**price))
                m, k = (shape.columns[0].form.parameters[name] for name in ("cells", "G"))
                whole, rng = LAWS[law].cdf(np.linspace(0, 1, m + 1)), np.random.default_rng([5, n, len(law)])
                far, holds, took = list[float](), list[bool](), 0.0
                for i in range(SETS[n]):
                    counts = rng.multinomial(n, np.diff(whole))
                    start = time.perf_counter()
                    made, _ = released(shape, (np.repeat(np.arange(m), counts) + 0.5) / m)
                    took += time.perf_counter() - start
                    inner = np.cumsum(made.parts[0].integers[0])[:-1] / k
                    far.append(float(np.abs(inner - whole[1:-1]).max()))
                    if i % 3:
                        limits = band(made).intervals(LEVEL)
                        holds.append(bool(((limits[:, 0] <= whole[1:-1]) & (whole[1:-1] <= limits[:, 1])).all()))
                spread, seconds = float(np.std(far) / len(far) ** 0.5), took / len(far)
                facts = {"size": k, "distance": float(np.mean(far)), "se": spread, "seconds": seconds}
                keep(part="sets", law=law, n=n, price=price, **facts, held=sum(holds), of=len(holds), many=len(far))


def full(held: bool) -> None:
    """Release by a curator, from rows, and compare the mean error with that of whole arrays."""
    schema = tc.Schema({"x": tc.Real(0, 1, missing=0.0)})
    for method in methods():
        case = Case(method, "Beta(2,5)", 1_000, {"epsilon": 1.0})
        true, found = truth(case.law)[0], list[float]()
        for i in range(FULL):
            rows = np.random.default_rng([6, i]).beta(2, 5, case.n)
            curator = tc.Curator({"x": rows}, schema, budget=tc.Budget(epsilon=1))
            one = case.estimated(curator.release(method.query(None), epsilon=1))
            found.append(float(((one((np.arange(FINE) + 0.5) / FINE) - true) ** 2).mean()))
        mean, spread = errors(case, FRESH, 3).mean
        own = [float(np.mean(found)), float(np.std(found) / FULL**0.5)]
        keep(part="full", **named(case), own=own, simulated=[mean, spread])


def _at(case: Case, value: float) -> Case:
    return Case(case.method, case.law, case.n, case.price, value)


def main() -> None:
    """Do the parts that are named."""
    parts: dict[str, Callable[[bool], None]] = {
        "grid": grid,
        "best": best,
        "coverage": covered,
        "sets": sets,
        "full": full,
        "earlier": earlier,
    }
    for part in sys.argv[1:]:
        if part in parts:
            parts[part]("held" in sys.argv)
    if "page" in sys.argv:
        page(_lines())


if __name__ == "__main__":
    main()
