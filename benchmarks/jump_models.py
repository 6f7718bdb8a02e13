"""What jumps, pieces and weights of models are worth to the density without a number: compared-densities.md.

    python benchmarks/jump_models.py [page]

Mean integrated squared errors of today's density, of that before pieces and today's weights, and of that before models
with jumps too, of the same releases, of the laws of `band_laws` and WAITS, which the models were made with, and of
`piece_laws`, which were committed before any of them was simulated.  Beside them the least errors of histograms and
kernels over all numbers of bins and bandwidths, which nobody knows beforehand: sought among SOUGHT simulations of each,
and simulated again.  Lines are kept in jump_models.jsonl; seeds are constants.
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
from compared_simulations import FINE, LAWS, Case, truth
from default_densities import DEFAULT, PAGE
from pages import put
from piece_laws import PIECED

from tacit.base.arrays import Array
from tacit.estimates.densities.density_jumps import StraightModel
from tacit.estimates.densities.density_models import CELLS, FAMILIES, PLAIN, middles
from tacit.estimates.densities.even_pieces import EvenPieces
from tacit.estimates.densities.log_density import (
    LAMBDAS,
    MODELS,
    BinnedLikelihood,
    density_of,
    even_at_poles,
    of_models,
)
from tacit.estimates.densities.model_weights import Fitted

STORE: Final = Path(__file__).with_suffix(".jsonl")
WAITS: Final = ("waits", "slope to a jump at a bound")
ORDER: Final = (*KINDS, *WAITS, *PIECED)
LAWS.update(PIECED)
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


def errors(law: str, n: int, index: int) -> list[list[float]]:
    """Return squared errors without jumps, before pieces, and today's, and the most jumps, of each release."""
    case, at, found = Case(DEFAULT, law, n, PRICE), (np.arange(FINE) + 0.5) / FINE, list[list[float]]()
    shape, integers, _, _ = case.drawn(REPEATS, np.random.default_rng([20, 29, index, n]))
    for one in integers:
        curve: Any = case.estimated(case.release(shape, one)).curves[0].estimate
        shares = curve.shares
        data = BinnedLikelihood(shares.edges, shares.values, n, shares.variance * (shares.noises**2).sum(axis=1))
        models = of_models(data)
        earlier = [m for m in models if not isinstance(m.model, EvenPieces)]
        oldest = [m for m in earlier if not (m.steps or isinstance(m.model, StraightModel))]
        before = [even_at_poles(_by_evidence(one), data.edges) for one in (oldest, earlier)]
        made = [*before, density_of(models, data)]
        each = [float(((_at(cells, at) - truth(law)[0]) ** 2).mean()) for cells in made]
        found.append([*each, float(max(m.steps for m in models))])
    return found


def _by_evidence(models: list[Fitted]) -> Array:
    """Return the average by marginal likelihoods alone, as it was."""
    plain = len(FAMILIES) + 2 + sum(one >= PLAIN for one in LAMBDAS)
    prior = [0.5 / (plain if one.model.plain else MODELS - plain) for one in models]
    evidence = np.array([one.evidence for one in models])
    weights = np.exp(evidence - evidence.max()) * prior
    return np.asarray(CELLS * (weights @ np.array([one.mode.cells for one in models])) / weights.sum())


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
    for part, made in (("averages", errors), ("best", best)):
        done = [(one["law"], one["n"]) for one in lines() if part in one]
        # the laws that judge come first
        for index, law in reversed(list(enumerate(ORDER))):
            for n in SIZES:
                if (law, n) in done:
                    continue
                with STORE.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"law": law, "n": n, part: made(law, n, index)}) + "\n")


def page() -> None:
    """Write the part of the page."""
    rows, others = list[str](), {(one["law"], one["n"]): one["best"] for one in lines() if "best" in one}
    stored = sorted((one for one in lines() if "averages" in one), key=lambda one: (ORDER.index(one["law"]), one["n"]))
    ratios = {new: ([list[float](), list[float](), list[float]()]) for new in (False, True)}
    for one in stored:
        oldest, before, after, jumps = np.array(one["averages"]).T
        ratio, own = float(after.mean() / before.mean()), ratios[one["law"] in PIECED]
        own[0].append(ratio)
        about = 2 * float((after - ratio * before).std()) / before.mean() / len(before) ** 0.5
        beside = _beside(before, after, others.get((one["law"], one["n"])), own[1:])
        rows.append(
            f"| {one['law']}{' *' if one['law'] in PIECED else ''} | {one['n']:,} | {oldest.mean():.2g} "
            f"| {before.mean():.2g} | {after.mean():.2g} | {ratio:.2f} ± {about:.2f} "
            f"| {100 * (jumps > 0).mean():.0f} {beside}|"
        )
    text = f"""
## Models with jumps, and pieces

Beside smooth models the density without a number averages some that are not: the logarithm of the density with up to
four steps at edges of bins, a straight line, and pieces that are even or proportional to a family, averaged over all
ways to cut the range. Errors of the same {REPEATS} releases a line at ε = 0.5: *without* models with jumps, *before*
pieces and today's weights, and *today's*; *ratio* of the last two ± two standard errors, *jumps*: the share of
releases of which a step is found. Errors and bands further above were simulated before, but for the laws that are
said to be simulated anew.

*Best other*: the least error that a histogram or a kernel has over its number of bins or bandwidths, which nobody
knows beforehand ({SOUGHT} simulations of each number, {AGAIN} of the best; – where it was not sought). Pieces and
weights were chosen with an eye on the other laws; those with * were drawn and committed before any of them was
simulated. Means are geometric.

| laws | today's ÷ before | largest | lines | before ÷ best other | today's ÷ best other | largest | at most 1.05 |
|---|---:|---:|---:|---:|---:|---:|---:|
{_summary("looked at", ratios[False])}
{_summary("drawn before, *", ratios[True])}

| law | n | error without | before | today's | ratio | jumps, % | best other, at | its error | today's ÷ best other |
|---|---:|---:|---:|---:|---:|---:|---|---:|---:|
{chr(10).join(rows)}
"""
    put(PAGE, "jump_models.py", text)


def _summary(name: str, ratios: list[list[float]]) -> str:
    """Return a row on lines of a kind: means are geometric."""
    own, before, beside = ratios
    if not beside:
        return f"| {name} | {_mean(own)} | {max(own, default=0):.2f} | 0 | – | – | – | – |"
    shares = f"{sum(one <= 1.05 for one in beside)} of {len(beside)}"
    return (
        f"| {name} | {_mean(own)} | {max(own):.2f} | {len(own)} | {_mean(before)} | {_mean(beside)} "
        f"| {max(beside):.2f} | {shares} |"
    )


def _mean(ratios: list[float]) -> str:
    return f"{float(np.exp(np.mean(np.log(ratios)))):.2f}" if ratios else "–"


def _beside(before: Array, after: Array, others: dict[str, list[float]] | None, ratios: list[list[float]]) -> str:
    """Return the cells of a row on the best of the others, and keep the ratios of both to it."""
    if others is None:
        return "| – | – | – "
    name, (value, error, spread) = min(others.items(), key=lambda one: one[1][1])
    ratio = float(after.mean()) / error
    own = float(after.std()) / len(after) ** 0.5 / float(after.mean())
    ratios[0].append(float(before.mean()) / error)
    ratios[1].append(ratio)
    shown = f"{ratio:.2f} ± {2 * ratio * (own**2 + (spread / error) ** 2) ** 0.5:.2f}"
    return f"| {name}, {value:g} | {error:.2g} | {shown if ratio > 1.05 else f'**{shown}**'} "


if __name__ == "__main__":
    if "page" not in sys.argv[1:]:
        simulate()
    page()
