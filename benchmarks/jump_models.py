"""What jumps, pieces and weights of models are worth to the density without a number: compared-densities.md.

    python benchmarks/jump_models.py [page]

Mean integrated squared errors of today's density, of that without kinks, of that before pieces and today's weights, and
of that before models with jumps too, of the same releases, of the laws of `band_laws` and WAITS, which the models were
made with, of `piece_laws`, which were committed before any of them was simulated and are known to what was made later,
and of `kinked_laws`, which were committed so before kinks.  Beside them the least errors of histograms and
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
from kinked_laws import KINKED
from pages import put
from piece_laws import PIECED

from tacit.base.arrays import Array
from tacit.estimates.densities.density_jumps import StraightModel
from tacit.estimates.densities.density_models import CELLS, FAMILIES, PLAIN, middles
from tacit.estimates.densities.even_pieces import AveragedPieces
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
ORDER: Final = (*KINDS, *WAITS, *PIECED, *KINKED)
LAWS.update(PIECED | KINKED)
GROUPS: Final = {"looked at": "", "drawn before pieces": " *", "drawn before kinks": " **"}
"""Groups of laws, with their marks."""
SIZES: Final = (1_000, 10_000)
PRICE: Final = {"epsilon": 0.5}
REPEATS: Final = 16
BESIDE: Final = ("histogram", "kernel")
"""Estimators beside, each at its best number."""
SOUGHT: Final = 20
AGAIN: Final = 100
"""Simulations of each number in a search, and of the best."""
BEST: Final = "today's ÷ best other"
SUMMED: Final = (
    *("laws", "today's ÷ no kinks", "largest", "today's ÷ before", "lines"),
    *("no kinks ÷ best other", BEST, "largest", "at most 1.05"),
)
SHOWN: Final = (
    *("law", "n", "error without", "before", "no kinks", "today's", "ratio", "jumps, %"),
    *("best other, at", "its error", BEST),
)
"""Columns of both tables."""


def lines() -> list[dict[str, Any]]:
    """Return stored lines."""
    return [json.loads(line) for line in STORE.read_text(encoding="utf-8").splitlines()] if STORE.exists() else []


def errors(law: str, n: int, index: int) -> list[list[float]]:
    """Return squared errors without jumps, before pieces, without kinks, and today's, and the most jumps."""
    case, at, found = Case(DEFAULT, law, n, PRICE), (np.arange(FINE) + 0.5) / FINE, list[list[float]]()
    shape, integers, _, _ = case.drawn(REPEATS, np.random.default_rng([20, 29, index, n]))
    for one in integers:
        curve: Any = case.estimated(case.release(shape, one)).curves[0].estimate
        shares = curve.shares
        data = BinnedLikelihood(shares.edges, shares.values, n, shares.variance * (shares.noises**2).sum(axis=1))
        models = of_models(data)
        earlier = [m for m in models if not isinstance(m.model, AveragedPieces)]
        oldest = [m for m in earlier if not (m.steps or isinstance(m.model, StraightModel))]
        before = [even_at_poles(_by_evidence(one), data.edges) for one in (oldest, earlier)]
        even = [m for m in models if not (isinstance(m.model, AveragedPieces) and m.model.kinked)]
        made = [*before, density_of(even, data), density_of(models, data)]
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


def group(law: str) -> str:
    """Return the group of a law."""
    first, pieces, kinks = GROUPS
    return pieces if law in PIECED else kinks if law in KINKED else first


def page() -> None:
    """Write the part of the page."""
    rows, others = list[str](), {(one["law"], one["n"]): one["best"] for one in lines() if "best" in one}
    stored = sorted((one for one in lines() if "averages" in one), key=lambda one: (ORDER.index(one["law"]), one["n"]))
    ratios = {one: [list[float]() for _ in range(4)] for one in GROUPS}
    for one in stored:
        oldest, before, even, after, jumps = np.array(one["averages"]).T
        own = ratios[group(one["law"])]
        ratio = float(after.mean() / even.mean())
        own[0].append(ratio)
        own[1].append(float(after.mean() / before.mean()))
        about = 2 * float((after - ratio * even).std()) / even.mean() / len(even) ** 0.5
        beside = _beside(even, after, others.get((one["law"], one["n"])), own[2:])
        rows.append(
            f"| {one['law']}{GROUPS[group(one['law'])]} | {one['n']:,} | {oldest.mean():.2g} | {before.mean():.2g} "
            f"| {even.mean():.2g} | {after.mean():.2g} | {ratio:.2f} ± {about:.2f} "
            f"| {100 * (jumps > 0).mean():.0f} {beside}|"
        )
    text = f"""
## Models with jumps, pieces, and kinks

Beside smooth models the density without a number averages some that are not: the logarithm of the density with up to
four steps at edges of bins, a straight line, pieces that are even or proportional to a family, averaged over all
ways to cut the range, and densities that are straight between kinks, averaged over all places of these. Errors of the
same {REPEATS} releases a line at ε = 0.5: *without* models with jumps, *before* pieces and today's weights, *no kinks*:
without what is straight between kinks, and *today's*; *ratio* of the last two ± two standard errors, *jumps*: the share
of releases of which a step is found. All are with noise taken as normal, as it was before its
[own law](#the-law-of-noise). Bands further above were simulated before.

*Best other*: the least error that a histogram or a kernel has over its number of bins or bandwidths, which nobody
knows beforehand ({SOUGHT} simulations of each number, {AGAIN} of the best; – where it was not sought). Pieces and
weights were chosen with an eye on laws without a mark, kinks on those with * too; those with * were drawn and committed
before any of them was simulated with pieces, those with ** before any was simulated at all. Means are geometric.

| {" | ".join(SUMMED)} |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
{chr(10).join(_summary(one, ratios[one]) for one in GROUPS)}
{_summary("hills **", _of_hills(stored, others))}

| {" | ".join(SHOWN)} |
|---|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|
{chr(10).join(rows)}
"""
    put(PAGE, "jump_models.py", text)


def _of_hills(stored: list[dict[str, Any]], others: dict[tuple[str, int], dict[str, list[float]]]) -> list[list[float]]:
    """Return the ratios of hills drawn before kinks, to which kinks can do harm alone."""
    ratios = [list[float]() for _ in range(4)]
    for one in stored:
        if one["law"] in KINKED and "hill" in one["law"]:
            _, before, even, after, _ = np.array(one["averages"]).T
            ratios[0].append(float(after.mean() / even.mean()))
            ratios[1].append(float(after.mean() / before.mean()))
            _beside(even, after, others.get((one["law"], one["n"])), ratios[2:])
    return ratios


def _summary(name: str, ratios: list[list[float]]) -> str:
    """Return a row on lines of a kind: means are geometric."""
    own, whole, before, beside = ratios
    shares = f"{sum(one <= 1.05 for one in beside)} of {len(beside)}"
    most = f"{max(beside):.2f}" if beside else "–"
    return (
        f"| {name} | {_mean(own)} | {max(own, default=0):.2f} | {_mean(whole)} | {len(own)} | {_mean(before)} "
        f"| {_mean(beside)} | {most} | {shares} |"
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
