"""What models with jumps, and straight ones, are worth to the density without a number: compared-densities.md.

    python benchmarks/jump_models.py [page]

Mean integrated squared errors with and without these models, of the same releases, of the laws of `band_laws`, which
had been simulated for bands, but never for errors, and of WAITS, which the models were made for.  Beside them the
least errors of histograms and kernels over all numbers of bins and bandwidths, which nobody knows beforehand: sought
among SOUGHT simulations of each, and simulated again.  Lines are kept in jump_models.jsonl; seeds are constants.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
from bands_of_densities import KINDS
from compared_designs import METHODS
from compared_estimates import estimator
from compared_simulations import FINE, Case, truth
from default_densities import DEFAULT, PAGE
from pages import put

from tacit.base.arrays import Array
from tacit.estimates.density_jumps import StraightModel
from tacit.estimates.density_models import middles
from tacit.estimates.log_density import BinnedLikelihood, Fitted, density_of, of_models

STORE: Final = Path(__file__).with_suffix(".jsonl")
WAITS: Final = ("waits", "slope to a jump at a bound")
SIZES: Final = (1_000, 10_000)
PRICE: Final = {"epsilon": 0.5}
REPEATS: Final = 16
BESIDE: Final = ("histogram", "kernel")
"""Estimators beside, each at its best number."""
SOUGHT: Final = 20
AGAIN: Final = 100
"""Simulations of each number in a search, and of the best."""


def lines() -> list[dict[str, Any]]:
    """Return stored lines."""
    return [json.loads(line) for line in STORE.read_text(encoding="utf-8").splitlines()] if STORE.exists() else []


def _new(one: Fitted) -> bool:
    return one.steps > 0 or isinstance(one.model, StraightModel)


def errors(law: str, n: int, index: int) -> list[list[float]]:
    """Return squared errors without and with the models, and the number of jumps of the latter, of each release."""
    case, at, found = Case(DEFAULT, law, n, PRICE), (np.arange(FINE) + 0.5) / FINE, list[list[float]]()
    shape, integers, _, _ = case.drawn(REPEATS, np.random.default_rng([20, 29, index, n]))
    for one in integers:
        curve: Any = case.estimated(case.release(shape, one)).curves[0].estimate
        shares = curve.shares
        data = BinnedLikelihood(shares.edges, shares.values, n, shares.variance * (shares.noises**2).sum(axis=1))
        models = of_models(data)
        old, new = (density_of(each, data) for each in ([m for m in models if not _new(m)], models))
        each = [float(((_at(cells, at) - truth(law)[0]) ** 2).mean()) for cells in (old, new)]
        found.append([*each, float(max(m.steps for m in models))])
    return found


def _at(cells: Array, at: Array) -> Array:
    return np.interp(at, middles(), cells)


def best(law: str, n: int, index: int) -> dict[str, tuple[float, float, float]]:
    """Return of each estimator its best number, its error at that, and the error's standard error."""
    found = dict[str, tuple[float, float, float]]()
    for method in METHODS:
        if method.name in BESIDE:
            sought = [(_squared(method.name, law, n, value, SOUGHT, index)[0], value) for value in method.grid]
            value = min(sought)[1]
            found[method.name] = (value, *_squared(method.name, law, n, value, AGAIN, index))
    return found


def _squared(name: str, law: str, n: int, value: float, repeats: int, index: int) -> tuple[float, float]:
    """Return the mean squared error of an estimator at a number, and its Monte-Carlo standard error."""
    case = Case(next(one for one in METHODS if one.name == name), law, n, PRICE, value)
    shape, integers, ends, _ = case.drawn(repeats, np.random.default_rng([20, 30, index, n, repeats]))
    squared = ((estimator(name)(case, shape, integers, ends)[0] - truth(law)[0]) ** 2).mean(axis=1)
    return float(squared.mean()), float(squared.std() / repeats**0.5)


def simulate() -> None:
    """Simulate all lines that are not there."""
    for part, made in (("errors", errors), ("best", best)):
        done = [(one["law"], one["n"]) for one in lines() if part in one]
        for index, law in enumerate((*KINDS, *WAITS)):
            for n in SIZES:
                if (law, n) in done:
                    continue
                with STORE.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"law": law, "n": n, part: made(law, n, index)}) + "\n")


def page() -> None:
    """Write the part of the page."""
    rows, ratios, beside = list[str](), list[float](), list[float]()
    others = {(one["law"], one["n"]): one["best"] for one in lines() if "best" in one}
    order = [*KINDS, *WAITS]
    stored = sorted((one for one in lines() if "errors" in one), key=lambda one: (order.index(one["law"]), one["n"]))
    for one in stored:
        before, after, jumps = np.array(one["errors"]).T
        ratio = after.mean() / before.mean()
        if one["law"] in KINDS:
            ratios.append(float(ratio))
        about = 2 * float((after - ratio * before).std()) / before.mean() / len(before) ** 0.5
        rows.append(
            f"| {one['law']}{' *' if one['law'] in WAITS else ''} | {one['n']:,} | {before.mean():.2g} "
            f"| {after.mean():.2g} | {ratio:.2f} ± {about:.2f} | {100 * (jumps > 0).mean():.0f} "
            f"{_beside(after, others.get((one['law'], one['n'])), beside)}|"
        )
    text = f"""
## Models with jumps

Two more models are averaged with the others: the logarithm of the density with up to four steps at edges of bins, and
a straight line. Errors with them and without, of the same {REPEATS} releases a line at ε = 0.5, *ratio* ± two standard
errors, *jumps*: the share of releases with one.
Errors and bands further above were simulated before these models and
[today's bands](density-limits.md#bands-of-the-density-without-a-number).
The models were made for the laws with *; the others had not been simulated for errors before. Of these the geometric
mean of ratios is {float(np.exp(np.mean(np.log(ratios)))):.2f}, the largest {max(ratios):.2f}.

*Best other*: the least error that a histogram or a kernel has over its number of bins or bandwidths, which nobody
knows beforehand ({SOUGHT} simulations of each number, {AGAIN} of the best; – where it was not sought). The density
without a number has at most
1.05 times that in {sum(one <= 1.05 for one in beside)} of {len(beside)} lines, at most {max(beside):.2f}, in the
geometric mean {float(np.exp(np.mean(np.log(beside)))):.2f}.

| law | n | error without | with | ratio | jumps, % | best other, at | its error | with ÷ best other |
|---|---:|---:|---:|---:|---:|---|---:|---:|
{chr(10).join(rows)}
"""
    put(PAGE, "jump_models.py", text)


def _beside(after: Array, others: dict[str, list[float]] | None, ratios: list[float]) -> str:
    """Return the cells of a row on the best of the others, and keep its ratio."""
    if others is None:
        return "| – | – | – "
    name, (value, error, spread) = min(others.items(), key=lambda one: one[1][1])
    ratio = float(after.mean()) / error
    own = float(after.std()) / len(after) ** 0.5 / float(after.mean())
    ratios.append(ratio)
    shown = f"{ratio:.2f} ± {2 * ratio * (own**2 + (spread / error) ** 2) ** 0.5:.2f}"
    return f"| {name}, {value:g} | {error:.2g} | {shown if ratio > 1.05 else f'**{shown}**'} "


if __name__ == "__main__":
    if "page" not in sys.argv[1:]:
        simulate()
    page()
