"""Coverage of parameters that parties release in blocks or as statistics, and of added histograms; writes a page.

    python benchmarks/combine_parameters.py [--repeats 2000] [--parts blocks histograms regressions statistics]

The page is docs/reference/combining.md.  Tables are drawn anew in every repetition, with noise of the laws that
releases have.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from few_parties import at_once
from pages import asked, put
from sufficient_statistics import CASES, Case

import tacit as tc
from tacit import families
from tacit.curator.mechanisms import design
from tacit.method.regression import combine as regressions
from tacit.method.shared.measurement import Public
from tacit.method.shared.simulated_parts import empty_parts
from tacit.method.sufficient_statistics import combine as parameters
from tacit.models.blocks import block_mle
from tacit.parties.combine_releases import combined
from tacit.pooling.common_value import pooled
from tacit.pooling.random_effects import (
    RandomEffects,
    effects_of_estimates,
    random_effects,
)
from tacit.pooling.released_evidence import evidence
from tacit.testing.simulated_parties import Answer, answers, repetition
from tacit.testing.simulated_regressions import rows_of

PAGE, SELF = Path(__file__).resolve().parents[1] / "docs" / "reference" / "combining.md", "combine_parameters.py"
CHUNK = 50_000
"""Blocks that are solved at a time."""


def told(hit: Any) -> str:
    share = float(np.mean(hit))
    return f"{100 * share:.1f} ± {200 * math.sqrt(share * (1 - share) / len(hit)):.1f}"


def prices(epsilons: Sequence[float]) -> list[dict[str, Any]]:
    return [{"epsilon": f"{e:g}"} for e in epsilons]


# Blocks -------------------------------------------------------------------------------------------------------------

LAW = families.Exponential(rate=(0.2, 5))
WIDE = (2_000, 4_000, 6_000, 10_000, 20_000, 40_000)
TWENTY = tuple(int(n) for n in np.geomspace(1_000, 20_000, 20))
TOGETHER = (
    ("10 of 3,000, ε = 1, 100 blocks", (3_000,) * 10, (1.0,) * 10, 100),
    ("6 of 2,000 to 40,000, ε = 10, 100 blocks", WIDE, (10.0,) * 6, 100),
    ("6 of 2,000 to 40,000, ε = 1, blocks by size", WIDE, (1.0,) * 6, None),
    ("4 of 3,000, ε 1 to 8, 100 blocks", (3_000,) * 4, (1, 2, 4, 8), 100),
)
APART = (
    ("10 of 3,000, ε = 1, 100 blocks", (3_000,) * 10, (1.0,) * 10, 100, (0.0, 0.1)),
    ("20 of 1,000 to 20,000, ε = 1, 50 blocks", TWENTY, (1.0,) * 20, 50, (0.0, 0.1)),
)


def block_answers(
    sizes: Sequence[int], epsilons: Sequence[float], blocks: int | None, neighbors: str, rates: Any, seed: int
) -> list[Answer]:
    """Simulate releases of blocks of exponential rows with rates of shape (parties, repetitions); labels are secret."""
    rng, found = np.random.default_rng(seed), []
    repeats = rates.shape[1]
    for party, (rows, epsilon) in enumerate(zip(sizes, epsilons, strict=True)):
        hint = None if neighbors == "replace-one" else min(sizes)  # what all parties guess alike
        query = tc.SampleAndAggregate("x", LAW, blocks=blocks, rows=hint, method="tuned")
        public = rows if neighbors == "replace-one" else None
        cost = tc.Cost.of(epsilon=f"{epsilon:g}")
        shape = design(query, Public(tc.Schema({"x": tc.Real()}), neighbors, public), cost)
        (column,), (part,) = shape.columns, empty_parts(shape)
        k = part.parameters["blocks"]
        values = drawn(rng, np.repeat(rates[party], k), rows / k, query.bias).reshape(repeats, k)
        grid = column.grid
        assert grid is not None
        v = np.floor((values - grid.lower) * (grid.G / (grid.upper - grid.lower)) + 0.5)
        v = np.clip(v, 0, grid.G).astype(np.int64)
        added = [np.asarray(one.numpy(v)).sum(axis=1) for one in column.form.polynomials]
        exact = np.stack(added, axis=1).astype(np.int64) @ np.array(column.form.matrix, dtype=np.int64).T
        noisy = exact + column.law.sample(exact.size, rng).reshape(exact.shape)
        part = replace(part, integers=tuple(map(tuple, noisy.tolist())))
        found.append(Answer(query, f"party {party}", neighbors, public, (part,), cost))
    return found


def drawn(rng: np.random.Generator, rates: Any, rows: float, bias: Any) -> Any:
    """Draw the estimate of each block of about so many rows, as the mechanism computes it."""
    out: list[Any] = []
    step = max(1, int(CHUNK * 20 / max(rows, 20)))
    for start in range(0, len(rates), step):
        some = rates[start : start + step]
        sizes = rng.poisson(rows, len(some))
        x = rng.standard_exponential((len(some), int(sizes.max()))) / some[:, None]
        x = np.where(np.arange(x.shape[1]) < sizes[:, None], x, 0.0)
        if len(x) < step:  # one compiled shape
            x, sizes = np.pad(x, ((0, step - len(x)), (0, 0))), np.pad(sizes, (0, step - len(sizes)))
        room = 8 * math.ceil((rows + 9 * math.sqrt(rows) + 9) / 8)
        x = np.pad(x, ((0, 0), (0, max(0, room - x.shape[1]))))[:, :room]
        out.append(block_mle(LAW, x, np.minimum(sizes, room), bias=bias).values[: len(some), 0])
    return np.concatenate(out)


def in_blocks(repeats: int) -> str:
    common = ["| parties | relation | bias / sd | SE / sd | coverage of 95%, % | mse ÷ of alike blocks |"]
    common.append("| :--- | :--- | ---: | ---: | ---: | ---: |")
    for i, (words, sizes, epsilons, blocks) in enumerate(TOGETHER):
        for j, neighbors in enumerate(("replace-one", "add-remove")):
            rates = np.ones((len(sizes), repeats))
            made = evidence(block_answers(sizes, epsilons, blocks, neighbors, rates, 10 * i + j), 0)
            found, alike = pooled(made), pooled(replace(made, spread=None))
            low, high = found.interval(0.95)
            error = found.evidence.scale * np.sqrt(found.variance + found.noise)
            sd, value = found.value.std(), found.value
            gain = float(((value - 1) ** 2).mean() / ((alike.value - 1) ** 2).mean())
            common.append(
                f"| {words} | {neighbors} | {(value.mean() - 1) / sd:.2f} | {error.mean() / sd:.2f} | "
                f"{told((low <= 1) & (high >= 1))} | {gain:.2f} |"
            )
            print(common[-1], flush=True)
    lines = list(_random_head("parties"))
    for i, (words, sizes, epsilons, blocks, taus) in enumerate(APART):
        for j, neighbors in enumerate(("replace-one", "add-remove")):
            for tau in taus:
                rng = np.random.default_rng(77 + i)
                rates = 1 + tau * rng.standard_normal((len(sizes), repeats))
                made = evidence(block_answers(sizes, epsilons, blocks, neighbors, rates, 1_000 + 10 * i + j), 0)
                found = random_effects(made)
                line = _random_line(found.effects, *found.interval(0.95), found.value, found.variance, 1.0, tau, rng)
                lines.append(f"| {words} | {neighbors} | {tau:g} |{line}")
                print(lines[-1], flush=True)
    return f"""## Estimates of blocks

`SampleAndAggregate` of an exponential law of rate 1, a box of 0.2 to 5; where sizes are private all parties guess
that of the smallest. {repeats:,} repetitions a line. Blocks differ in size from party to party, and so do their
variances; the last column is the mean squared error beside that of weights for which all blocks are alike.

{chr(10).join(common)}

Rates that differ, normally, with standard deviation τ:

{chr(10).join(lines)}"""


def _random_head(first: str) -> Iterator[str]:
    yield f"| {first} | relation | τ | mean of its estimates | SE / sd | coverage of 95%, % | of one more party, % |"
    yield "| :--- | :--- | ---: | ---: | ---: | ---: | ---: |"


def _random_line(
    effects: Sequence[Any], low: Any, high: Any, value: Any, variance: Any, truth: float, tau: float, rng: Any
) -> str:
    one = truth + tau * rng.standard_normal(len(value))
    ahead = np.array([effect.prediction(0.95) for effect in effects])
    inside = (ahead[:, 0] <= one) & (one <= ahead[:, 1])
    spread = np.mean([effect.tau2 for effect in effects]) ** 0.5
    ratio = np.sqrt(variance).mean() / value.std()
    return f" {spread:.3f} | {ratio:.2f} | {told((low <= truth) & (high >= truth))} | {told(inside)} |"


# Statistics ---------------------------------------------------------------------------------------------------------

DIFFER: tuple[tuple[str, tuple[int, ...], tuple[float, ...], tuple[float, ...]], ...] = (
    ("10 of 1,000, ε = 1", (1_000,) * 10, (1,) * 10, (0.0, 0.1)),
    ("15 of 300 to 5,000, ε = 1", tuple(int(n) for n in np.geomspace(300, 5_000, 15)), (1,) * 15, (0.1,)),
)
"""τ is in parts of the parameter."""
ASKED = ("Bernoulli", "Exponential", "Normal", "Gamma")


def of_statistics(repeats: int) -> str:
    lines = list(_random_head("family | parties | repetitions | parameter"))
    lines[1] = "| :--- | :--- | ---: | :--- " + lines[1][7:]
    for i, case in enumerate(one for one in CASES if one.name in ASKED):
        two = len(case.truth) == 2  # are inverted one study after another, and slowly
        for j, (words, sizes, epsilons, taus) in enumerate(DIFFER[:1] if two else DIFFER):
            for tau in taus:
                neighbors, count = ("replace-one", "add-remove")[(i + j) % 2], repeats // (4 if two else 1)
                seed = 1_000 + 100 * i + 10 * j
                for term, line in _differing(case, sizes, epsilons, tau, neighbors, count, seed):
                    lines.append(f"| {case.name} | {words} | {count:,} | {term} | {neighbors} | {tau:g} |{line}")
                    print(lines[-1], flush=True)
    return f"""## Parameters that differ

`SufficientStatistics` with `effects="random"`: each party's statistics are inverted, and its parameters are what
differs, normally, each by τ times itself, independently.

{chr(10).join(lines)}"""


def _differing(
    case: Case, sizes: Sequence[int], epsilons: Sequence[float], tau: float, neighbors: str, repeats: int, seed: int
) -> Iterator[tuple[str, str]]:
    rng, truth = np.random.default_rng(seed + 5), np.array(case.truth)
    own = truth * (1 + tau * rng.standard_normal((len(sizes), repeats, len(truth))))

    def values(g: np.random.Generator, party: int, r: int, rows: int) -> Any:
        return np.stack([case.family.sample(tuple(own[party, at]), rows, g) for at in range(r)])

    given = answers(case.query, case.schema, values, sizes, prices(epsilons), neighbors=neighbors, repeats=repeats,
                    rng=seed)  # fmt: skip
    if len(truth) == 1:
        value, error, low, high, effects = at_once(case, given, "random")
        yield case.family.names[0], _random_line(effects, low, high, value, error**2, truth[0], tau * truth[0], rng)
        return
    each = [parameters.varied(repetition(given, at), range(len(sizes)), "REML", True)[0] for at in range(repeats)]
    ends = np.array([one.interval(0.95) for one in each])
    for t, term in enumerate(case.family.names):
        value, variance = (np.array([getattr(one, name)[t] for one in each]) for name in ("value", "variance"))
        numbers = ends[:, 0, t], ends[:, 1, t], value, variance, truth[t], tau * abs(truth[t])
        yield term, _random_line([one.effects[t] for one in each], *numbers, rng)


# Histograms ---------------------------------------------------------------------------------------------------------

COUNTED: tuple[tuple[str, tuple[int, ...], tuple[float, ...]], ...] = (
    ("10 of 300, ε = 1", (300,) * 10, (1,) * 10),
    ("5 of 100 to 3,000, ε 0.5 to 2", (100, 300, 1_000, 2_000, 3_000), (0.5, 2, 1, 1, 0.5)),
)
SCHEMA = tc.Schema({"x": tc.Real(0, 10), "a": tc.Boolean(missing=False), "y": tc.Boolean(missing=False)})
LATTICE = tc.Histogram("x", bins=20)
CELLS = tc.Histogram(["a", "y"])
ODDS = math.log(0.6 / 0.4) - math.log(0.3 / 0.7)


def templates(query: Any, sizes: Sequence[int], epsilons: Sequence[float], neighbors: str) -> list[Any]:
    """A release of each party, whose integers are replaced in each repetition."""
    found: list[Any] = []
    for party, (rows, epsilon) in enumerate(zip(sizes, epsilons, strict=True)):
        budget = tc.Budget(epsilon=f"{epsilon:g}", neighbors=neighbors)
        table = {"x": np.ones(rows), "a": np.ones(rows, dtype=bool), "y": np.ones(rows, dtype=bool)}
        curator = tc.Curator(table, SCHEMA, name=f"party-{party}", budget=budget)
        found.append(curator.release(query, epsilon=f"{epsilon:g}"))
    return found


def again(release: Any, counts: Any, rng: np.random.Generator) -> Any:
    """Return the same release with these counts and new noise of its law."""
    (part,) = release.parts
    noisy = counts.reshape(-1) * part.parameters.get("share", 1) + part.law.sample(counts.size, rng)
    return replace(release, parts=(replace(part, integers=tuple((k,) for k in noisy.tolist())),))


def gamma_quantile(prob: float) -> float:
    from scipy.stats import gamma

    return float(gamma(4).ppf(prob * float(gamma(4).cdf(10))))


def of_histograms(repeats: int) -> str:
    lines = ["| what | parties | relation | bias / sd | SE / sd | coverage of 95%, % |"]
    lines.append("| :--- | :--- | :--- | ---: | ---: | ---: |")
    for i, (words, sizes, epsilons) in enumerate(COUNTED):
        for j, neighbors in enumerate(("replace-one", "add-remove")):
            rng = np.random.default_rng(31 + 10 * i + j)
            x, cells = (templates(query, sizes, epsilons, neighbors) for query in (LATTICE, CELLS))
            found: dict[str, list[tuple[float, float, float, float]]] = {}
            for _ in range(repeats):
                _quantiles(found, x, sizes, rng)
                _logistic(found, cells, sizes, rng)
            truths = {"odds of y by a, log": ODDS, "odds of y, log": math.log(0.3 / 0.7)}
            truths |= {f"{100 * prob:g} % quantile of x": gamma_quantile(prob) for prob in PROBS}
            for what, rows in found.items():
                value, error, low, high = np.array(rows).T
                truth, sd = truths[what], value.std()
                ratio = f"{error.mean() / sd:.2f}" if np.isfinite(error).all() else "–"
                lines.append(
                    f"| {what} | {words} | {neighbors} | {(value.mean() - truth) / sd:.2f} | {ratio} | "
                    f"{told((low <= truth) & (truth <= high))} |"
                )
                print(lines[-1], flush=True)
    return f"""## Statistics of added histograms

Gamma rows in 20 bins of [0, 10]; and a logistic regression of y by a, from four cells. {repeats:,} repetitions a line.

{chr(10).join(lines)}"""


PROBS = (0.5, 0.9)
Rows = dict[str, list[tuple[float, float, float, float]]]


def _quantiles(found: Rows, given: list[Any], sizes: Sequence[int], rng: np.random.Generator) -> None:
    made = []
    for release, rows in zip(given, sizes, strict=True):
        x = rng.gamma(4, 1, 2 * rows)
        x = x[x <= 10][:rows]
        made.append(again(release, np.histogram(x, 20, (0, 10))[0], rng))
    one = together(made).quantiles("x", PROBS)
    limits = one.conf_int().to_numpy()
    for t, prob in enumerate(PROBS):
        row = float(one.values[t]), math.nan, *map(float, limits[t])
        found.setdefault(f"{100 * prob:g} % quantile of x", []).append(row)


def _logistic(found: Rows, given: list[Any], sizes: Sequence[int], rng: np.random.Generator) -> None:
    made = []
    for release, rows in zip(given, sizes, strict=True):
        a = int(rng.binomial(rows, 0.4))
        yes = rng.binomial(rows - a, 0.3), rng.binomial(a, 0.6)
        made.append(again(release, np.array([[rows - a - yes[0], yes[0]], [a - yes[1], yes[1]]]), rng))
    fit = together(made).fit("y ~ a", model="logistic")
    limits = fit.conf_int().to_numpy()
    for t, what in enumerate(("odds of y, log", "odds of y by a, log")):
        row = float(np.asarray(fit.values)[t]), float(np.asarray(fit.std_errors)[t]), *map(float, limits[t])
        found.setdefault(what, []).append(row)


def together(given: list[Any]) -> Any:
    return combined([one.table for one in given], given, True, "common")


# Regressions --------------------------------------------------------------------------------------------------------

TABLE = tc.Schema({"x": tc.Real(0, 1), "s": tc.Boolean(missing=False), "y": tc.Real(-0.5, 1.5)})
BETA = (0.3, 0.4, 0.1)
FORMULA = "y ~ x + s"
FITTED: tuple[tuple[str, tuple[int, ...], tuple[float, ...], float], ...] = (
    ("6 of 2,000, ε = 2", (2_000,) * 6, (2,) * 6, 0.0),
    (
        "8 of 1,000 to 8,000, ε 1 to 4",
        (1_000, 1_000, 2_000, 2_000, 4_000, 4_000, 8_000, 8_000),
        (4, 4, 2, 4, 1, 2, 1, 2),
        0.0,
    ),
    ("10 of 2,000, ε = 2", (2_000,) * 10, (2,) * 10, 0.1),
)


def of_regressions(repeats: int) -> str:
    lines = [
        "| effects | parties | relation | τ | coefficient | left out, % | bias / sd | SE / sd | coverage of 95%, % |"
    ]
    lines.append("| :--- | :--- | :--- | ---: | :--- | ---: | ---: | ---: | ---: |")
    for i, (words, sizes, epsilons, tau) in enumerate(FITTED):
        neighbors = ("replace-one", "add-remove")[i % 2]
        rng = np.random.default_rng(400 + i)
        given = [_fits(sizes, epsilons, tau, neighbors, rng) for _ in range(repeats)]
        effects = "random" if tau else "common"
        far = np.full(len(BETA), np.inf)
        made = [
            effects_of_estimates(one.parts, (-far, far), "REML") if tau else regressions.common(one) for one in given
        ]
        ends = np.array([one.interval(0.95) for one in made])
        value = np.array([one.value for one in made])
        error = np.sqrt(
            [one.variance if isinstance(one, RandomEffects) else one.sampling + one.privacy for one in made]
        )
        out = 100 * np.mean([~one.parts.usable[:, 0] for one in given])
        for t, (term, truth) in enumerate(zip(("Intercept", "x", "s"), BETA, strict=True)):
            hit = (ends[:, 0, t] <= truth) & (truth <= ends[:, 1, t])
            sd = value[:, t].std()
            lines.append(
                f"| {effects} | {words} | {neighbors} | {tau:g} | {term} | {out:.1f} | "
                f"{(value[:, t].mean() - truth) / sd:.2f} | {error[:, t].mean() / sd:.2f} | {told(hit)} |"
            )
        print(lines[-1], flush=True)
    return f"""## Regressions

y = 0.3 + 0.4 x + 0.1 s, normal errors of 0.2; with random effects every coefficient differs from party to party, with
standard deviation τ. Weights are inverse to the variances; parties of which noise leaves no coefficients
are left out, by name. {repeats:,} repetitions a line.

{chr(10).join(lines)}"""


def _fits(sizes: Sequence[int], epsilons: Sequence[float], tau: float, neighbors: str, rng: np.random.Generator) -> Any:
    """Return the coefficients that a study's parties release."""
    found = []
    for rows, epsilon in zip(sizes, epsilons, strict=True):
        b = np.array(BETA) + tau * rng.standard_normal(3)
        x, s = rng.random(rows), rng.random(rows) < 0.5
        table = {"x": x, "s": s, "y": b[0] + b[1] * x + b[2] * s + 0.2 * rng.standard_normal(rows)}
        cost = tc.Cost.of(epsilon=f"{epsilon:g}")
        found.append(rows_of(tc.Regression(FORMULA), table, TABLE, cost, neighbors).release(rng))
    return regressions.coefficients(found, range(len(sizes)))


PARTS: dict[str, Callable[[int], str]] = {
    "blocks": in_blocks,
    "histograms": of_histograms,
    "regressions": of_regressions,
    "statistics": of_statistics,
}


def main() -> None:
    given = asked(__doc__, PARTS, 2_000)
    for part in given.parts:
        text = PARTS[part](given.repeats // (20 if given.quick else 1))
        if given.quick:
            print(text)
        else:
            put(PAGE, f"{SELF} {part}", text)


if __name__ == "__main__":
    main()
