"""The density that is asked for without numbers, beside every estimator at its best number.

    python benchmarks/default_densities.py PART ...  (cells, bins, bands, page)

`Histogram(x, bins="density")` and its `smooth_density`, beside the least errors that compared_densities.jsonl has of
histograms, series and kernels over all numbers of bins, terms and bandwidths, which nobody knows beforehand; and beside
the same estimate of other numbers of bins.  Bands are for a whole curve: they are held against it at WHOLE places.
Lines are kept in default_densities.jsonl.  Seeds are constants.  The four laws asked for were looked at while the
estimate was made; those of `compared_designs.HELD` and OTHERS were not, and were written down, with sizes and prices,
before any of them was simulated with it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
from compared_designs import ASKED, BASES, HELD, METHODS, PRICES, SIZES, Method
from compared_simulations import FINE, LAWS, LEVEL, PLACES, Case, in_doubt, reached, truth
from pages import put
from scipy.stats import beta, expon, gamma, norm, triang, uniform
from smooth_density import Mixture

import tacit as tc
from tacit.base.arrays import Array

STORE: Final = Path(__file__).with_suffix(".jsonl")
PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "compared-densities.md"
FOUND: Final = Path(__file__).with_name("compared_densities.jsonl")
OTHERS: Final = {
    "hill at the end": Mixture(((1.0, norm(0.97, 0.15)),)),
    "waits": Mixture(((0.3, uniform(0, 0.02)), (0.7, gamma(1.5, scale=0.12)))),
    "triangle at .7": Mixture(((1.0, triang(0.7)),)),
    "two decays": Mixture(((0.5, expon(scale=0.03)), (0.5, expon(scale=0.3)))),
    "five peaks": Mixture(tuple((0.2, norm(0.1 + 0.2 * k, 0.025)) for k in range(5))),
    "Beta(1,6)": Mixture(((1.0, beta(1, 6)),)),
}
"""Further laws, one with a jump, for coverage and errors beside histograms."""
LAWS.update(OTHERS)
WHOLE: Final = 400
"""Places at which a band, which is for the whole curve, is held against it."""
MANY: Final = 40
FEW: Final = 20
BANDED: Final = 10
SURE: Final = {"two modes": 50, "spike": 50}
"""Simulations of each line of bands, and of laws at which a first run had few hold."""
NUMBERS: Final = (16, 24, 32, 48, 64, 96, 128)
"""Numbers of bins over which the least error of the same estimate is looked for."""
STEPS: Final = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192)
"""Numbers of bins of histograms, of the further laws."""


class Default(Method):
    """The estimate without numbers, or of so many bins."""

    def query(self, value: float | None) -> Any:
        """Return the question."""
        return tc.Histogram("x", bins="density" if value is None else int(value))


DEFAULT: Final = Default("default", "bins", NUMBERS)


def lines(of: Path) -> list[dict[str, Any]]:
    """Return stored lines."""
    return [json.loads(line) for line in of.read_text(encoding="utf-8").splitlines()] if of.exists() else []


def keep(**line: Any) -> None:
    """Store a line."""
    with STORE.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    print(str(line)[:150], flush=True)


def simulated(case: Case, repeats: int) -> dict[str, Any]:
    """Return the mean squared error of the density."""
    rng = np.random.default_rng([9, case.n, len(case.law), len(case.price)])
    true, at = truth(case.law)[0], (np.arange(FINE) + 0.5) / FINE
    shape, integers, _, _ = case.drawn(repeats, rng)
    squared = [float(((case.estimated(case.release(shape, one))(at) - true) ** 2).mean()) for one in integers]
    return {"bins": shape.cells, "error": float(np.mean(squared)), "se": float(np.std(squared) / repeats**0.5)}


def held(case: Case, repeats: int) -> Array:
    """Return what limits and bands of each release hold, shape (repeats, 7).

    Of what the release resolves: the share of PLACES at which limits hold, whether the band does at these, and at
    WHOLE places; of the density: that share, of places with limits, and the band at WHOLE places; whether there is a
    doubt; last the share of places with limits.
    """
    rng = np.random.default_rng([31, case.n, len(case.law), len(case.price)])
    few, many = ((np.arange(k) + 0.5) / k for k in (PLACES, WHOLE))
    shape, integers, ends, chances = case.drawn(repeats, rng)
    made = list[tuple[float, ...]]()
    for one in integers:
        found = case.estimated(case.release(shape, one))
        inside, told = list[Array](), np.isfinite(found.intervals(few, LEVEL)[:, 1])
        for x, at_once in ((few, False), (few, True), (many, True)):
            limits = found.intervals(x, LEVEL, simultaneous=at_once)
            exact = (LAWS[case.law].cdf(x + 5e-4) - LAWS[case.law].cdf(x - 5e-4)) / 1e-3
            for true in (reached(case, found, ends, chances, x), exact):
                inside.append((limits[:, 0] <= true + 1e-9) & (true <= limits[:, 1] + 1e-9))
        noted = in_doubt(found)
        resolved = (inside[0].mean(), float(inside[2].all()), float(inside[4].all()))
        made.append((*resolved, inside[1][told].mean(), float(inside[5].all()), noted, told.mean()))
    return np.array(made)


def cells() -> None:
    """Simulate the default at all laws, sizes and prices that have not been, with coverage."""
    done = [(o["law"], o["n"], o["price"]) for o in lines(STORE) if o["part"] == "cells"]
    for law in (*ASKED, *HELD, *OTHERS):
        for n in SIZES:
            for price in PRICES:
                if (law, n, price) not in done:
                    made = simulated(Case(DEFAULT, law, n, price), MANY)
                    steps = min(_steps(law, n, price, k) for k in STEPS) if law in OTHERS else None
                    keep(part="cells", law=law, n=n, price=price, steps=steps, **made)


def _steps(law: str, n: int, price: dict[str, float], bins: int) -> float:
    from compared_estimates import of_histogram

    case = Case(METHODS[0], law, n, price, bins)
    shape, integers, ends, _ = case.drawn(MANY, np.random.default_rng([10, n, bins]))
    return float(((of_histogram(case, shape, integers, ends)[0] - truth(law)[0]) ** 2).mean())


def bins() -> None:
    """Simulate the same estimate of other numbers of bins, of the laws asked for at pure prices."""
    done = [(o["law"], o["n"], o["price"], o["value"]) for o in lines(STORE) if o["part"] == "bins"]
    for law in ASKED:
        for n in SIZES:
            for price in PRICES[:2]:
                for k in NUMBERS:
                    if (law, n, price, k) not in done:
                        made = simulated(Case(DEFAULT, law, n, price, k), FEW)
                        keep(part="bins", law=law, n=n, price=price, value=k, **made)


def bands() -> None:
    """Simulate what limits and bands of the default hold, of all laws, sizes and prices that have not been."""
    done = [(o["law"], o["n"], o["price"]) for o in lines(STORE) if o["part"] == "bands"]
    for law in (*ASKED, *HELD, *OTHERS):
        for n in SIZES:
            for price in PRICES:
                if (law, n, price) not in done:
                    found = held(Case(DEFAULT, law, n, price), SURE.get(law, BANDED))
                    keep(part="bands", law=law, n=n, price=price, held=found.tolist())


def least() -> dict[tuple[str, int, str], dict[str, float]]:
    """Return the least error of each estimator over its numbers: simulated again where it was, else of the grid."""
    found = dict[tuple[str, int, str], dict[str, float]]()
    for one in lines(FOUND):
        if one["part"] == "grid":
            case = found.setdefault((one["law"], one["n"], str(one["price"])), {})
            case.setdefault(one["method"], min(error for _, error in one["values"]))
    for one in lines(FOUND):
        if one["part"] == "best":
            found[one["law"], one["n"], str(one["price"])][one["method"]] = one["other"][0]
    return found


def page() -> None:
    """Write the part of the page."""
    own = [one for one in lines(STORE) if one["part"] == "cells"]
    best, made = least(), list[str]()
    families = ("histogram", *BASES, "kernel", "smooth")
    ratios = {name: list[tuple[float, float]]() for name in families}
    for one in own:
        case = dict(best.get((one["law"], one["n"], str(one["price"])), {}))
        if one["steps"] is not None:
            case["histogram"] = one["steps"]
        shown = list[str]()
        for name in families:
            if name in case:
                ratio, error = one["error"] / case[name], one["se"] / case[name]
                ratios[name].append((ratio, error))
                shown.append(f"{ratio:.2f}" if ratio > 1.05 else f"**{ratio:.2f}**")
            else:
                shown.append("–")
        price = ", ".join(f"{'ε' if key == 'epsilon' else 'δ'} = {value:g}" for key, value in one["price"].items())
        error = f"{one['error']:.2g} ± {2 * one['se']:.1g}"
        made.append(f"| {one['law']} | {one['n']:,} | {price} | {one['bins']} | {error} | {' | '.join(shown)} |")
    counts = [f"{name}: {sum(r <= 1.05 for r, _ in found)} of {len(found)}" for name, found in ratios.items() if found]
    text = f"""
## The density without a number

`Histogram("x", bins="density")` and its `smooth_density`: bins by the number of rows and the price alone, and an
estimate whose smoothness follows from the counts (penalised likelihood of the log density, averaged over penalties by
their marginal likelihoods). Beside it every estimator at the number of bins, terms or bandwidth that is best for the
law, which nobody knows beforehand; *smooth* is the series that `smooth_density(basis=…)` fits to bins, the nearer of
polynomials and cosines. In bold: at most 1.05. {MANY} simulations a line. The first four laws were looked at while the
estimate was made. Of the others *waits*, a jump 0.02 from the bound, was mended after all had been simulated once: the
estimate put a pole into its first bin, which is now even; nothing else was changed, and all were simulated again.

At most 1.05 times the best of: {"; ".join(counts)}.

| law | n | price | bins | error | ÷ histogram | ÷ cosine | ÷ legendre | ÷ fourier | ÷ haar | ÷ kernel | ÷ smooth |
|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
{chr(10).join(made)}
"""
    text += of_all(own, best) + of_bands()
    several = [one for one in lines(STORE) if one["part"] == "bins"]
    if several:
        text += _of_bins_page(own, several)
    put(PAGE, "default_densities.py", text)


def of_all(own: list[dict[str, Any]], best: dict[tuple[str, int, str], dict[str, float]]) -> str:
    """Return the table of the laws asked for at pure prices beside the best of all estimators."""
    made, within, ratios = list[str](), 0, list[float]()
    for one in own:
        if one["law"] not in ASKED or len(one["price"]) > 1:
            continue
        case = best[one["law"], one["n"], str(one["price"])]
        name = min(case, key=lambda method: case[method])
        ratio, error = one["error"] / case[name], one["se"] / case[name]
        within += ratio <= 1.05
        ratios.append(ratio)
        shown = f"{ratio:.2f} ± {2 * error:.2f}"
        made.append(
            f"| {one['law']} | {one['n']:,} | ε = {one['price']['epsilon']:g} | {one['error']:.2g} |"
            f" {name} | {case[name]:.2g} | {shown if ratio > 1.05 else f'**{shown}**'} |"
        )
    return f"""
Beside the best of all estimators at once, each at the number that is best for the law (± 2 standard errors of the
simulations of the density without a number): at most 1.05 in {within} of {len(ratios)}, at most {max(ratios):.2f}.

| law | n | price | error | best of all | its error | ratio |
|---|---|---|---:|---|---:|---:|
{chr(10).join(made)}
"""


def of_bands() -> str:
    """Return what limits and bands hold, and a table by law."""
    stored = [one for one in lines(STORE) if one["part"] == "bands"]
    if not stored:
        return ""
    found = np.concatenate([np.array(one["held"]) for one in stored])
    plain, doubtful = found[found[:, 5] == 0], found[found[:, 5] == 1]
    laws = dict.fromkeys(one["law"] for one in stored)
    rows = list[str]()
    for law in laws:
        own = np.concatenate([np.array(one["held"]) for one in stored if one["law"] == law])
        shares = " | ".join(f"{100 * share:.1f}" for share in own[:, :3].mean(axis=0))
        rows.append(f"| {law} | {len(own)} | {shares} | {200 * (0.95 * 0.05 / len(own)) ** 0.5:.1f} |")
    return f"""
Coverage at 95% over {len(found):,} further releases, {BANDED} a line ({SURE["spike"]} of {" and ".join(SURE)}): limits
at {PLACES} places hold what the release resolves in {percent(found[:, 0])}, bands in {percent(found[:, 2])}; over the
{len(plain):,} without a doubt they hold the density itself in {percent(plain[:, 3])} and {percent(plain[:, 4])}. Over
the {len(doubtful):,} in doubt, whose limits are around the shapes within bins, limits hold the density in
{percent(doubtful[:, 3])} of the {percent(doubtful[:, 6])} of places that have some (bands had limits in doubt when
this was simulated, and have none now, since few of them held). A band is for the whole curve, and is held against it at
{WHOLE} places. At {PLACES} places it would hold in
{percent(found[:, 1])}: what is missed between them is not seen. Where a density is 0 its upper limits cannot miss, so
that bands hold more often where much of the range is empty. Bands of {" and ".join(SURE)} held in 91.7% and 93.3% of 60
releases each when they were first held against the whole curve; that was chance, and nothing was changed for it. By
law, with two standard errors of simulation:

| law | releases | limits, % | band at {PLACES} places, % | band, % | ± |
|---|---:|---:|---:|---:|---:|
{chr(10).join(rows)}
"""


def percent(held: Array) -> str:
    """Return a share in percent."""
    return f"{100 * held.mean():.1f}%"


def _of_bins_page(own: list[dict[str, Any]], several: list[dict[str, Any]]) -> str:
    """Return the table of the same estimate by number of bins."""
    rows = list[str]()
    for one in own:
        errors = {
            o["value"]: o["error"]
            for o in several
            if (o["law"], o["n"], o["price"]) == (one["law"], one["n"], one["price"])
        }
        if len(errors) == len(NUMBERS):
            least_of = min(errors.values())
            shown = " | ".join(f"{error / least_of:.2f}" for error in errors.values())
            rows.append(
                f"| {one['law']} | {one['n']:,} | ε = {one['price']['epsilon']:g} | {least_of:.2g} | {shown} |"
                f" {one['error'] / least_of:.2f} |"
            )
    head = " | ".join(map(str, NUMBERS))
    return f"""
The same estimate of so many bins, its error over the least of them; {FEW} simulations of each, so that the least is too
small by luck; last the number of the rule:

| law | n | price | least | {head} | rule |
|---|---|---|---:|{"---:|" * len(NUMBERS)}---:|
{chr(10).join(rows)}
"""


def main() -> None:
    """Do the parts that are named."""
    for part in sys.argv[1:]:
        {"cells": cells, "bins": bins, "bands": bands, "page": page}[part]()


if __name__ == "__main__":
    main()
