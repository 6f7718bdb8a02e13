"""Parties that say almost nothing, families of few parties, predictions of few, survival in whole months.

    python benchmarks/few_parties.py [--repeats 400] [--quick] [--parts silent gamma ahead months]

The page is docs/reference/combining.md.  Rows are drawn anew in every repetition, with noise of the laws that releases
have.  The designs are stated below or drawn from SEED; they were written down before any of them was simulated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from pages import asked, put
from sufficient_statistics import CASES, Case

import tacit as tc
from tacit import families
from tacit.method.histogram.estimate_from_cells.survival import survival
from tacit.method.shared.simulated_parts import simulated
from tacit.method.sufficient_statistics.combine_effects import random_parameters
from tacit.method.sufficient_statistics.estimate import box_of
from tacit.models.mean_map import mean_map
from tacit.parties.combined_columns import columns
from tacit.pooling.common_value import pooled
from tacit.pooling.heterogeneity import fit_effects
from tacit.pooling.random_effects import party_estimates
from tacit.pooling.released_evidence import evidence
from tacit.privacy import Cost
from tacit.testing.simulate import add_noise, shaped
from tacit.testing.simulated_parties import answers, repetition

PAGE, SELF = Path(__file__).resolve().parents[1] / "docs" / "reference" / "combining.md", "few_parties.py"
SEED = 20_261_123
WAITS = Case(families.Exponential(rate=(0.1, 10)), (1.0,), tc.Real(0, 4), {})
GAMMA = next(case for case in CASES if case.name == "Gamma")


@dataclass(frozen=True)
class Design:
    """Parties of a study: their rows and prices, and how far parameters differ, in parts of themselves."""

    words: str
    sizes: tuple[int, ...]
    epsilons: tuple[float, ...]
    taus: tuple[float, ...]
    neighbors: str = "replace-one"


def alike(words: str, sizes: Sequence[int], epsilon: float, *taus: float, neighbors: str = "replace-one") -> Design:
    return Design(f"{words}, ε = {epsilon:g}", tuple(sizes), (epsilon,) * len(sizes), taus, neighbors)


SILENT = (
    alike("4 of 3,000, 20 of 80", (3_000,) * 4 + (80,) * 20, 0.4, 0.0, 0.1, 0.3),
    alike("4 of 3,000, 20 of 80", (3_000,) * 4 + (80,) * 20, 0.4, 0.0, 0.3, neighbors="add-remove"),
    alike("40 of 80", (80,) * 40, 0.4, 0.0, 0.3),
    alike("12, 60 to 6,000", [int(n) for n in np.geomspace(60, 6_000, 12)], 0.4, 0.0, 0.1),
    alike("10 of 2,000", (2_000,) * 10, 1.0, 0.0, 0.1, 0.5),
)
EIGHT = (
    alike("8 of 200", (200,) * 8, 1.0, 0.0),
    alike("8 of 500", (500,) * 8, 1.0, 0.0, 0.1),
    alike("8 of 2,000", (2_000,) * 8, 0.5, 0.0, 0.1, neighbors="add-remove"),
    alike("8, 100 to 5,000", [int(n) for n in np.geomspace(100, 5_000, 8)], 1.0, 0.0, 0.1),
)


def drawn_designs() -> tuple[Design, ...]:
    """Draw four more: how many parties, their rows (log-uniform), their prices, and how far they differ."""
    rng, found = np.random.default_rng(SEED), []
    for _ in range(4):
        M = int(rng.integers(3, 25))
        sizes = tuple(int(n) for n in np.exp(rng.uniform(math.log(40), math.log(8_000), M)))
        epsilons = tuple(float(e) for e in rng.choice([0.2, 0.4, 1.0, 2.0], M))
        tau, neighbors = float(rng.choice([0.05, 0.2])), str(rng.choice(["replace-one", "add-remove"]))
        words = f"{M} of {min(sizes):,} to {max(sizes):,}, ε {min(epsilons):g} to {max(epsilons):g}"
        found.append(Design(words, sizes, epsilons, (tau,), neighbors))
    return tuple(found)


def told(hit: Any) -> str:
    share = float(np.mean(hit))
    return f"{100 * share:.1f} ± {200 * math.sqrt(share * (1 - share) / len(hit)):.1f}"


# Parameters ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """Of R repetitions and p parameters: values, standard errors, whether intervals hold the truth, shape (R, p)."""

    value: Any
    error: Any
    hit: Any
    ahead: Any


def at_once(case: Case, given: Any, effects: str) -> tuple[Any, Any, Any, Any, Any]:
    """Return value, standard error, ends and effects of all repetitions of one parameter, which are cells.

    The mean map is interpolated from a fine table.
    """
    from scipy.interpolate import CubicSpline

    map_, found = mean_map(case.family, (box_of(given[0].parts[0]),)), evidence(given, 0)
    low, high = map_.inner
    nodes = np.geomspace(low[0], high[0], 600)
    at = [map_.at(np.array([theta])) for theta in nodes]
    tables = [
        CubicSpline(nodes, [float(np.squeeze(getattr(one, name))) for one in at]) for name in ("mean", "slope", "cov")
    ]
    order = np.argsort(tables[0](nodes))
    inverse = CubicSpline(tables[0](nodes)[order], nodes[order])
    ends = tables[0](nodes).min(), tables[0](nodes).max()

    def theta_of(mean: Any) -> Any:
        return inverse(np.clip(mean, *ends))

    def maps(theta: Any) -> tuple[Any, Any, Any]:
        mean, slope, cov = (table(theta[:, 0]) for table in tables)
        return mean[:, None], slope[:, None, None], cov[:, None, None]

    if effects == "common":
        made = pooled(found)
        value = theta_of(made.value)
        error = np.sqrt(made.variance + made.noise) * made.evidence.scale / np.abs(tables[1](value))
        a, b = (theta_of(end) for end in made.interval(0.95))
        return value, error, np.minimum(a, b), np.maximum(a, b), ()
    start = theta_of(pooled(found, equal=True).value)[:, None]
    made = random_parameters(maps, [found], party_estimates(found).usable, start, map_.inner, (low, high), "REML")
    return made.value, np.sqrt(made.variance), *made.interval(0.95), made.effects


@lru_cache
def interpolated(family: Any, boxes: tuple[Any, ...]) -> Any:
    """Return the mean map of two parameters from a fine table in their logarithms, for many parameters at once."""
    from scipy.interpolate import RectBivariateSpline

    map_ = mean_map(family, boxes)
    first, second = (np.log(np.geomspace(low, high, 70)) for low, high in zip(*map_.inner, strict=True))
    at = [[map_.at(np.exp(np.array([a, b]))) for b in second] for a in first]
    tables = [
        RectBivariateSpline(first, second, np.array([[np.ravel(getattr(one, name))[i] for one in row] for row in at]))
        for name, size in (("mean", 2), ("slope", 4), ("cov", 4))
        for i in range(size)
    ]

    def maps(theta: Any) -> tuple[Any, Any, Any]:
        found = np.stack([table.ev(*np.log(theta.T)) for table in tables], axis=1)
        return found[:, :2], found[:, 2:6].reshape(-1, 2, 2), found[:, 6:].reshape(-1, 2, 2)

    return map_, maps


def two_at_once(case: Case, given: Any) -> tuple[Any, Any, Any, Any]:
    """Return value, standard error, ends and effects of all repetitions of two parameters, shape (R, 2)."""
    map_, maps = interpolated(case.family, tuple(box_of(part) for part in given[0].parts))
    found = [evidence(given, at) for at in range(2)]
    means = np.stack([pooled(one, equal=True).value for one in found], axis=1)
    low, high = map_.inner
    start = np.tile(np.array(case.truth), (len(means), 1))
    for _ in range(60):  # Newton's steps, short ones far away
        mean, slope, _ = maps(start)
        step = np.linalg.solve(slope, (means - mean)[..., None])[..., 0]
        start = np.clip(start + np.clip(step, -0.2 * start, 0.2 * start), low, high)
    usable = np.logical_and.reduce([party_estimates(one).usable for one in found])
    limits = (map_.model.lower, map_.model.upper)
    made = random_parameters(maps, found, usable, start, map_.inner, limits, "REML")
    ends = np.stack(made.interval(0.95), axis=-1).reshape(-1, 2, 2)
    return made.value.reshape(-1, 2), np.sqrt(made.variance).reshape(-1, 2), ends, made.effects


def studies(case: Case, design: Design, tau: float, effects: str, repeats: int, seed: int) -> Found:
    """Simulate releases of a design and combine them, by the code that combines releases."""
    rng, truth = np.random.default_rng(seed + 1), np.array(case.truth)
    M, p = len(design.sizes), len(truth)
    own = truth * (1 + tau * rng.standard_normal((M, repeats, p)))
    own = np.clip(own, np.array(case.family.lower) * 1.01, np.array(case.family.upper) / 1.01)
    new = truth * (1 + tau * rng.standard_normal((repeats, p)))

    def values(g: np.random.Generator, party: int, r: int, rows: int) -> Any:
        return np.stack([case.family.sample(tuple(own[party, at]), rows, g) for at in range(r)])

    prices = [{"epsilon": f"{e:g}"} for e in design.epsilons]
    given = answers(case.query, case.schema, values, design.sizes, prices, neighbors=design.neighbors,
                    repeats=repeats, rng=seed)  # fmt: skip
    value, error, hit, ahead = [], [], [], []
    if p == 1:
        made, sd, low, high, differing = at_once(case, given, effects)
        more = [None if one is None else one.prediction(0.95) for one in differing]
        inside = [one is None or one[0] <= new[at, 0] <= one[1] for at, one in enumerate(more)] or [True] * repeats
        return Found(made[:, None], sd[:, None], ((low <= truth) & (truth <= high))[:, None], np.array(inside)[:, None])
    if effects == "random":
        made, sd, ends, differing = two_at_once(case, given)
        hits = (ends[..., 0] <= truth) & (truth <= ends[..., 1])
        more = [None if one is None else one.prediction(0.95) for one in differing]
        within = [one is None or one[0] <= new[at // p, at % p] <= one[1] for at, one in enumerate(more)]
        return Found(made, sd, hits, np.array(within).reshape(repeats, p))
    for at in range(repeats):
        (made,) = columns(repetition(given, at), range(M), effects, "REML", True)
        low, high = made.inversion.interval(0.95)
        value.append(made.value)
        error.append(np.sqrt(made.variance + made.privacy))
        hit.append((low <= truth) & (truth <= high))
        more = [None if one is None else one.prediction(0.95) for one in made.effects]
        ahead.append([one is None or one[0] <= new[at, t] <= one[1] for t, one in enumerate(more)])
    return Found(np.array(value), np.array(error), np.array(hit), np.array(ahead))


def bounds(case: Case, design: Design, tau: float) -> tuple[Any, Any]:
    """Return variances of the mean parameter, shape (p,): the least of all rows without noise, and with it.

    The first has the Fisher information of unclamped rows.  The second is by the delta method from clamped statistics
    with noise that is known, and the best weights; with both tau is known.
    """
    prices = [{"epsilon": f"{e:g}"} for e in design.epsilons]
    given = answers(case.query, case.schema, lambda g, j, r, n: np.ones((r, n)), design.sizes, prices,
                    neighbors=design.neighbors)  # fmt: skip
    boxes = tuple(box_of(part) for part in given[0].parts)
    truth = np.array(case.truth)
    at = mean_map(case.family, boxes).at(truth)
    free = mean_map(case.family, tuple((low - 50, high + 50) for low, high in boxes)).at(truth)
    least = np.diag(np.linalg.inv(free.slope.T @ np.linalg.inv(free.cov) @ free.slope))
    found, inverse = [evidence(given, k) for k in range(len(boxes))], np.linalg.inv(at.slope)
    n = np.array(design.sizes, dtype=float)
    # noise variance of each mean in its own units, shape (M, p)
    noise = np.stack(
        [
            one.scale**2 * one.privacy(np.array([(mean - one.shift) / one.scale]))[:, 0] / n**2
            for one, mean in zip(found, at.mean, strict=True)
        ],
        axis=1,
    )
    each = [at.cov / rows + np.diag(more) for rows, more in zip(n, noise, strict=True)]
    own = np.array([np.diag(inverse @ one @ inverse.T) for one in each])
    t2 = (tau * truth) ** 2
    return 1 / (1 / (least / n[:, None] + t2)).sum(axis=0), 1 / (1 / (own + t2)).sum(axis=0)


def lines_of(case: Case, designs: Sequence[Design], repeats: int, seed: int) -> Iterator[str]:
    yield (
        "| parties | relation | τ | effects | parameter | mse ÷ bound | best ÷ bound | bias / sd | SE / sd "
        "| coverage of 95%, % | of one more party, % |"
    )
    yield "| :--- | :--- | ---: | :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for i, design in enumerate(designs):
        for j, tau in enumerate(design.taus):
            least, best = bounds(case, design, tau)
            for effects in ("common", "random") if tau == 0 else ("random",):
                # parameters that all share are found one study after another, and slowly where there are two
                some = repeats // 5 if effects == "common" and len(case.truth) > 1 else repeats
                found = studies(case, design, tau, effects, some, seed + 1_000 * i + 100 * j)
                off = found.value - np.array(case.truth)
                for t, term in enumerate(case.family.names):
                    sd = found.value[:, t].std()
                    ahead = told(found.ahead[:, t]) if effects == "random" else "–"
                    yield (
                        f"| {design.words} | {design.neighbors} | {tau:g} | {effects} | {term} | "
                        f"{(off[:, t] ** 2).mean() / least[t]:.2f} | {best[t] / least[t]:.2f} | "
                        f"{off[:, t].mean() / sd:.2f} | {np.median(found.error[:, t]) / sd:.2f} | "
                        f"{told(found.hit[:, t])} | {ahead} |"
                    )


# Predictions --------------------------------------------------------------------------------------------------------

FEW = (3, 4, 5, 8, 15)
APART = (0.0, 0.5, 1.0, 3.0)


def of_predictions(repeats: int) -> Iterator[str]:
    """Yield lines: normal estimates with known variances, equal or from 1/4 to 4, tau in parts of their middle."""
    yield "| parties | variances | τ / error | of one more party, % | median width ÷ that of known τ and mean |"
    yield "| ---: | :--- | ---: | ---: | ---: |"
    for M in FEW:
        for words, v in (("equal", np.ones(M)), ("1/4 to 4", np.geomspace(0.25, 4, M))):
            for tau in APART:
                rng = np.random.default_rng(SEED + M)
                wide = np.repeat(v[:, None], repeats, axis=1)
                y = rng.standard_normal((M, repeats)) * np.sqrt(wide + tau**2)
                new = tau * rng.standard_normal(repeats)
                made = fit_effects(y, wide, np.ones_like(y))
                ends = np.array([one.prediction(0.95) for one in made if one is not None])
                hit = (ends[:, 0] <= new) & (new <= ends[:, 1])
                known = 2 * 1.959964 * math.sqrt(tau**2 + 1 / (1 / (v + tau**2)).sum())
                width = float(np.median(ends[:, 1] - ends[:, 0])) / known
                yield f"| {M} | {words} | {tau:g} | {told(hit)} | {width:.2f} |"


# Whole months -------------------------------------------------------------------------------------------------------

MONTHS = {"month": tc.Integer(0, 60), "died": tc.Boolean(missing=False)}
BINNED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("a bin a month", {}),
    ("bins of 5", {"month": [0, *range(5, 56, 5), 60]}),
    ("bins of 3", {"month": [0, *range(3, 58, 3), 60]}),
)
CHANCES = ("geometric", "quarterly")


def monthly(chance: str) -> Any:
    """Return P(month, died) of months 0 to 60, shape (61, 2), and the median time of death without leaving.

    "geometric": hazard 5.2% a month; "quarterly": 14% in every third month.  Each month 1.5% leave; all do after 60.
    """
    hazard = np.array([0.0 if chance == "quarterly" and t % 3 != 1 else 0.14 if chance == "quarterly" else 0.052
                       for t in range(61)])  # fmt: skip
    alive = np.cumprod(1 - hazard)
    p, here = np.zeros((61, 2)), 1.0
    for t in range(61):
        p[t, 1] = here * hazard[t]
        left = here - p[t, 1]
        p[t, 0] = left * (0.015 if t < 60 else 1.0)
        here = left - p[t, 0]
    return p, float(np.flatnonzero(alive <= 0.5)[0])


def of_months(repeats: int) -> Iterator[str]:
    yield "| deaths | bins | n | ε | median | mean of its estimates | whole, % | coverage of 95%, % | median width |"
    yield "| :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for c, chance in enumerate(CHANCES):
        p, median = monthly(chance)
        for b, (words, bins) in enumerate(BINNED):
            for n, epsilon in ((300, 2.0), (2_000, 1.0), (20_000, 0.5), (200_000, 1.0)):
                rng = np.random.default_rng(SEED + 100 * c + 10 * b)
                shape = shaped(tc.Histogram(list(MONTHS), bins=bins), tc.Schema(MONTHS), "replace-one", n,
                               Cost.of(epsilon=epsilon))  # fmt: skip
                edges = bins.get("month")
                at = np.arange(61)
                if edges is not None:
                    at = np.clip(np.searchsorted(edges, at, "right") - 1, 0, len(edges) - 2)
                cells = np.zeros((int(at.max()) + 1, 2))
                np.add.at(cells, at, p)
                values, lows, highs = [], [], []
                for _ in range(repeats):
                    counts = rng.multinomial(n, cells.reshape(-1)).reshape(1, -1, 1)
                    release = simulated(shape, tuple(x[0] for x in add_noise(shape, (counts,), rng)))
                    found = survival(release, "month", "died").median()
                    low, high = found.conf_int()
                    values.append(float(found.value))
                    lows.append(low)
                    highs.append(high)
                value, low, high = np.array(values), np.array(lows), np.array(highs)
                said = np.isfinite(value)
                whole = 100 * np.mean(value[said] == np.rint(value[said]))
                yield (
                    f"| {chance} | {words} | {n:,} | {epsilon:g} | {median:g} | {value[said].mean():.2f} | "
                    f"{whole:.0f} | {told((low <= median) & (median <= high))} | {np.median(high - low):.2f} |"
                )


SILENT_TEXT = """## Parties that say almost nothing

`SufficientStatistics` of an exponential law of rate 1, clamped at 4; {repeats:,} repetitions a line. *Bound*: the least
variance of all rows without noise and clamping, τ known; *best*: the delta method's, of what is released, with the best
weights and τ known. With random effects rates differ normally, by τ times themselves. The last lines are designs drawn
at random.

{lines}"""
GAMMA_TEXT = """## Two parameters of eight parties

A Gamma law of shape 2 and rate 1.5, as above; {repeats:,} repetitions a line, a fifth of them with common effects.

{lines}"""
AHEAD_TEXT = """## One more party, of few

Normal estimates whose variances are known; {repeats:,} repetitions a line. τ is in parts of the middle party's standard
error; at τ = 0 one more party is the mean itself, which no interval for parties that may differ can take for granted.

{lines}"""
MONTHS_TEXT = """## Medians of whole months

Survival from a histogram of months (an Integer of 0 to 60) and deaths; {repeats:,} repetitions a line. A median is the
first month by which half have died; its interval inverts the pointwise intervals of the curve at the ends of bins.

{lines}"""


def silent(repeats: int) -> Iterator[str]:
    yield from lines_of(WAITS, (*SILENT, *drawn_designs()), repeats, 40_000)


def gamma(repeats: int) -> Iterator[str]:
    yield from lines_of(GAMMA, EIGHT, repeats, 80_000)


PARTS: dict[str, tuple[str, Callable[[int], Iterator[str]], int]] = {
    "silent": (SILENT_TEXT, silent, 1),
    "gamma": (GAMMA_TEXT, gamma, 1),
    "ahead": (AHEAD_TEXT, of_predictions, 5),
    "months": (MONTHS_TEXT, of_months, 1),
}


def main() -> None:
    given = asked(__doc__, PARTS, 400)
    for part in given.parts:
        text, made, times = PARTS[part]
        repeats = times * given.repeats // (20 if given.quick else 1)
        lines: list[str] = []
        for line in made(repeats):
            lines.append(line)
            print(line, flush=True)
        if not given.quick:
            put(PAGE, f"{SELF} {part}", text.format(repeats=repeats, lines="\n".join(lines)))


if __name__ == "__main__":
    main()
