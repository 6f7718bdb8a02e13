"""The density that is asked for without numbers, beside every estimator at its best number.

    python benchmarks/default_densities.py PART ...  (cells, further, others, bands, page)

`Histogram(x, bins="density")` and its `smooth_density`, beside the least errors that compared_densities.jsonl has of
histograms, series and kernels over all numbers of bins, terms and bandwidths, which nobody knows beforehand.  Of the
laws asked for and of RICH ones the best few of these are simulated again (others), of RICH after a search.
Bands are for a whole curve: they are held against it at WHOLE places.
Lines are kept in default_densities.jsonl.  Seeds are constants.  The four laws asked for were looked at while the
estimate was made; those of `compared_designs.HELD` and OTHERS were not, and were written down, with sizes and prices,
before any of them was simulated with it.  FRESH was written down before the models of the estimate were chosen, and
looked at for which of them to average, and for their prior weights.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
from compared_designs import ASKED, BASES, HELD, METHODS, PRICES, SIZES, Method
from compared_estimates import estimator
from compared_simulations import FINE, LAWS, LEVEL, PLACES, Case, in_doubt, reached, truth
from fresh_laws import FRESH
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
LAWS.update(OTHERS | FRESH)
WHOLE: Final = 400
"""Places at which a band, which is for the whole curve, is held against it."""
MANY: Final = 60
"""Simulations of a line."""
DEEP: Final = 80
DEEPEST: Final = 960
NEAR: Final = 0.04
"""Of the laws asked for DEEP simulations at a time, at most DEEPEST, until the error's ratio to that of the best of
other estimators has a standard error of at most NEAR."""
SOUGHT: Final = 20
"""Simulations of each number in a search, of every third number."""
AGAIN: Final = 1_000
AGAIN_RICH: Final = 100
"""Simulations of the best of each estimator, of laws asked for and of RICH."""
CLOSE: Final = 1.4
"""Estimators whose error is at most so many times the least are simulated again."""
RICH: Final = ("skewed: lognormal", "slope to a jump at a bound", "three modes", "heavy tails: t(1.5)", "claw")
"""Of FRESH those that no model of few parameters describes."""
BESIDE: Final = ("smooth", "kernel")
"""Estimators of a search: one of the two is the best of all in 10 of 16 cells of the laws asked for."""
BANDED: Final = 5
SURE: Final = {"two modes": 20, "spike": 20}
"""Simulations of each line of bands, and of laws at which a first run had few hold."""
STEPS: Final = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192)
"""Numbers of bins of histograms, of the further laws."""


class Default(Method):
    """The estimate without numbers, or of so many bins."""

    def query(self, value: float | None) -> Any:
        """Return the question."""
        return tc.Histogram("x", bins="density" if value is None else int(value))


DEFAULT: Final = Default("default", "bins", ())


def lines(of: Path) -> list[dict[str, Any]]:
    """Return stored lines."""
    return [json.loads(line) for line in of.read_text(encoding="utf-8").splitlines()] if of.exists() else []


def keep(**line: Any) -> None:
    """Store a line."""
    with STORE.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    print(str(line)[:150], flush=True)


def simulated(case: Case, repeats: int, seed: int = 9) -> dict[str, Any]:
    """Return the mean squared error of the density."""
    rng = np.random.default_rng([seed, case.n, len(case.law), len(case.price)])
    true, at = truth(case.law)[0], (np.arange(FINE) + 0.5) / FINE
    shape, integers, _, _ = case.drawn(repeats, rng)
    squared = [float(((case.estimated(case.release(shape, one))(at) - true) ** 2).mean()) for one in integers]
    error, se = float(np.mean(squared)), float(np.std(squared) / repeats**0.5)
    return {"bins": shape.cells, "many": repeats, "error": error, "se": se}


def deeply(case: Case) -> dict[str, Any]:
    """Return the same of a law asked for, of as many releases as its ratio to the best of others needs."""
    found = [o["found"] for o in lines(STORE) if o["part"] == "others" and _same(o, case)]
    _, _, best, spread = min(found[0], key=lambda other: other[2])
    each = list[dict[str, Any]]()
    while True:
        each.append(simulated(case, DEEP, seed=90 + len(each)))
        error, many = float(np.mean([one["error"] for one in each])), DEEP * len(each)
        squares = np.mean([one["se"] ** 2 * DEEP + one["error"] ** 2 for one in each]) - error**2
        se = float((squares / many) ** 0.5)
        if many >= DEEPEST or np.hypot(se, error / best * spread) <= NEAR * best:
            return {"bins": each[0]["bins"], "many": many, "error": error, "se": se}


def _same(line: dict[str, Any], case: Case) -> bool:
    return (line["law"], line["n"], line["price"]) == (case.law, case.n, case.price)


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
            for true in (reached(case, found, ends, chances, x, at_once=at_once), exact):
                inside.append((limits[:, 0] <= true + 1e-9) & (true <= limits[:, 1] + 1e-9))
        noted = in_doubt(found)
        resolved = (inside[0].mean(), float(inside[2].all()), float(inside[4].all()))
        made.append((*resolved, inside[1][told].mean(), float(inside[5].all()), noted, told.mean()))
    return np.array(made)


def cells() -> None:
    """Simulate the default at the laws asked for and FRESH, sizes and pure prices that have not been."""
    _cells((*ASKED, *FRESH))


def further() -> None:
    """The same at further laws."""
    _cells((*HELD, *OTHERS))


def _cells(laws: tuple[str, ...]) -> None:
    done = [(o["law"], o["n"], o["price"]) for o in lines(STORE) if o["part"] == "cells"]
    for law in laws:
        for n in SIZES:
            for price in PRICES[:2]:
                if (law, n, price) not in done:
                    case = Case(DEFAULT, law, n, price)
                    made = deeply(case) if law in ASKED else simulated(case, MANY)
                    steps = min(_steps(law, n, price, k) for k in STEPS) if law in OTHERS else None
                    keep(part="cells", law=law, n=n, price=price, steps=steps, **made)


def others() -> None:
    """Simulate the best of other estimators, each at the number that is best for the law, of ASKED and RICH."""
    done = [(o["law"], o["n"], o["price"]) for o in lines(STORE) if o["part"] == "others"]
    for law in (*ASKED, *RICH):
        for n in SIZES:
            for price in PRICES[: 2 if law in ASKED else 1]:
                if (law, n, price) in done:
                    continue
                found = _sought(law, n, price) if law in RICH else _stored(law, n, price)
                near = [one for one in found if found[one][0] <= CLOSE * min(error for error, _ in found.values())]
                many = AGAIN_RICH if law in RICH else AGAIN
                again = [[one, found[one][1], *_squared(one, law, n, price, found[one][1], many, 77)] for one in near]
                keep(part="others", law=law, n=n, price=price, found=again)


def _sought(law: str, n: int, price: dict[str, float]) -> dict[str, tuple[float, float]]:
    """Return the least error of each estimator over every third of its numbers, and that number."""
    found = dict[str, tuple[float, float]]()
    for method in METHODS:
        if method.name in BESIDE:
            tried = [(_squared(method.name, law, n, price, value, SOUGHT, 76)[0], value) for value in method.grid[::3]]
            found[method.name] = min(tried)
    return found


def _stored(law: str, n: int, price: dict[str, float]) -> dict[str, tuple[float, float]]:
    """Return the same as compared_densities.py found it."""
    kept = [one for one in lines(FOUND) if one["part"] == "best"]
    return {
        one["method"]: (one["other"][0], one["best"])
        for one in kept
        if (one["law"], one["n"], one["price"]) == (law, n, price)
    }


def _squared(
    name: str, law: str, n: int, price: dict[str, float], value: float, repeats: int, seed: int
) -> tuple[float, float]:
    """Return the mean squared error of an estimator at a number, and its Monte-Carlo standard error."""
    case = Case(next(one for one in METHODS if one.name == name), law, n, price, value)
    shape, integers, ends, _ = case.drawn(repeats, np.random.default_rng([seed, n, len(law), int(10 * value)]))
    squared = ((estimator(name)(case, shape, integers, ends)[0] - truth(law)[0]) ** 2).mean(axis=1)
    return float(squared.mean()), float(squared.std() / repeats**0.5)


def _steps(law: str, n: int, price: dict[str, float], bins: int) -> float:
    from compared_estimates import of_histogram

    case = Case(METHODS[0], law, n, price, bins)
    shape, integers, ends, _ = case.drawn(MANY, np.random.default_rng([10, n, bins]))
    return float(((of_histogram(case, shape, integers, ends)[0] - truth(law)[0]) ** 2).mean())


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
        if one["law"] in FRESH:
            continue
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
        error = f"{one['error']:.2g} ± {2 * one['se']:.1g}{_mark(one)}"
        made.append(
            f"| {one['law']} | {one['n']:,} | ε = {one['price']['epsilon']:g} | {one['bins']} | {error} |"
            f" {' | '.join(shown)} |"
        )
    counts = [f"{name}: {sum(r <= 1.05 for r, _ in found)} of {len(found)}" for name, found in ratios.items() if found]
    text = f"""
## The density without a number

`Histogram("x", bins="density")` and its `smooth_density`: bins by the number of rows and the price alone, and an
estimate whose smoothness follows from the counts (models of penalised likelihood, averaged by their marginal
likelihoods: [theory](../explanation/theory.md)). Beside it every estimator at the number of bins, terms or bandwidth
that is best for the law, which nobody knows beforehand; *smooth* is the series that `smooth_density(basis=…)` fits to
bins, the nearer of polynomials and cosines. In bold: at most 1.05. {MANY} simulations a line, {DEEP} or more of the
first four laws, which were looked at while the estimate was made. Lines with * are with noise taken as normal, which
costs a few percent at 1,000 rows ([the law of noise](#the-law-of-noise)); all else is today's.

At most 1.05 times the best of: {"; ".join(counts)}.

| law | n | price | bins | error | ÷ histogram | ÷ cosine | ÷ legendre | ÷ fourier | ÷ haar | ÷ kernel | ÷ smooth |
|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
{chr(10).join(made)}
"""
    put(PAGE, "default_densities.py", text + of_all(own) + of_bands())


def of_all(own: list[dict[str, Any]]) -> str:
    """Return the tables of the laws asked for, and of FRESH, beside the best of all estimators."""
    deep = [one["many"] for one in own if one["law"] in ASKED]
    text = f"""
Beside the best of all estimators at once, each at the number that is best for the law, {AGAIN:,} simulations of each
that is near the best (± 2 standard errors of both), in the first table for the laws asked for. The second has
{len(FRESH)} laws that were drawn for this comparison before the models were chosen, and looked at for which of them to
average; the density without a number has {MANY} simulations a line, but of laws asked for as many as make the standard
error of the ratio at most {NEAR}, or {DEEPEST}: from {min(deep)} to {max(deep)}. Of the laws that no model of few
parameters describes the errors of {" and ".join(BESIDE)} at ε = 0.5 are beside, whose best number is sought among every
third of the grid ({SOUGHT} and {AGAIN_RICH} simulations).

Seven models are of few parameters (even, exponential, normal, beta and gamma laws, and a normal hill beside one of the
first three): laws of that kind are estimated as such. They are Beta(2,5), two modes and the spike of the laws asked
for, and of the others the gamma, beta, exponential and normal ones, the U, the spike on a bed, and two far modes.
"""
    stored = lines(STORE)
    found = {(one["law"], one["n"], str(one["price"])): one["found"] for one in stored if one["part"] == "others"}
    for laws in (ASKED, FRESH):
        made, ratios = list[str](), list[float]()
        for one in own:
            if one["law"] not in laws:
                continue
            start = f"| {one['law']} | {one['n']:,} | ε = {one['price']['epsilon']:g} | {one['error']:.2g}"
            end = f"± {2 * one['se']:.1g}{_mark(one)}"
            others = found.get((one["law"], one["n"], str(one["price"])))
            if others is None:
                made.append(f"{start} {end} | – | – | – |")
                continue
            name, value, error, spread = min(others, key=lambda other: other[2])
            ratio = one["error"] / error
            about = 2 * ratio * ((one["se"] / one["error"]) ** 2 + (spread / error) ** 2) ** 0.5
            ratios.append(ratio)
            shown = f"{ratio:.2f} ± {about:.2f}"
            shown = shown if ratio > 1.05 else f"**{shown}**"
            made.append(f"{start} {end} | {name}, {value:g} | {error:.2g} | {shown} |")
        mean, within = float(np.exp(np.mean(np.log(ratios)))), sum(one <= 1.05 for one in ratios)
        text += f"""
At most 1.05 in {within} of {len(ratios)}, at most {max(ratios):.2f}, in the geometric mean {mean:.2f}:

| law | n | price | error | best of others, at | its error | ratio |
|---|---|---|---:|---|---:|---:|
{chr(10).join(made)}
"""
    return text


def _mark(line: dict[str, Any]) -> str:
    """Return what tells a line of noise taken as normal."""
    return " *" if line.get("noise") == "normal" else ""


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
{percent(doubtful[:, 3])} of the {percent(doubtful[:, 6])} of places that have some; such releases have no bands, and
count as held. A band is for the whole curve, and is held against it at {WHOLE} places. At {PLACES} places it
would hold in {percent(found[:, 1])}: what is missed between them is not seen. Where a density is 0 its upper limits
cannot miss, so that bands hold more often where much of the range is empty. Bands of {" and ".join(SURE)} held in 91.7%
and 93.3% of 60 releases each when they were first held against the whole curve; that was chance, and nothing was
changed for it. By law, with two standard errors of simulation:

| law | releases | limits, % | band at {PLACES} places, % | band, % | ± |
|---|---:|---:|---:|---:|---:|
{chr(10).join(rows)}
"""


def percent(held: Array) -> str:
    """Return a share in percent."""
    return f"{100 * held.mean():.1f}%"


def main() -> None:
    """Do the parts that are named."""
    for part in sys.argv[1:]:
        {"cells": cells, "further": further, "others": others, "bands": bands, "page": page}[part]()


if __name__ == "__main__":
    main()
