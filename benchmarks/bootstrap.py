"""The bootstrap beside better ways to the same standard error: coverage, width, and how often there is no answer.

`python benchmarks/bootstrap.py` writes its parts of docs/reference/bootstrap.md in a quarter of an hour; `--quick`
prints a tenth.  Ages of a PUMS sample (California, Census 2000; `--people` names the file) are drawn with replacement
from its 10,000 rows; the target is their mean.  Replicates are drawn in NumPy by the law of the mechanism: multinomial
counts of the ages, and normal noise of the design's own variance (`tests/mechanisms/test_bootstrap.py` compares this
law with releases).
`--speed` adds the time of a release from ten million rows; `--only` writes one part alone.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pages import put

import tacit as tc
from tacit.estimates.total_errors.error_laws import normal_quantile
from tacit.method.bootstrap.design import design
from tacit.method.bootstrap.estimate_deconvolution import deconvolved
from tacit.method.bootstrap.estimate_replicates import (
    as_printed,
    bootstrap_variance,
    noise_factor,
    population_variance,
    total_variances,
    without_noise,
)
from tacit.method.shared.measurement import Public
from tacit.method.shared.simulated_parts import simulated as simulated_parts
from tacit.privacy import Cost
from tacit.privacy.bootstrap_cost import PublishedClaim, certify
from tacit.privacy.bootstrap_profiles import Resampling
from tacit.testing import coverage
from tacit.testing.reference_table import columns_of
from tacit.testing.simulate import add_noise, exact_integers, shaped

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "bootstrap.md"
PEOPLE = Path("pums_california_10000.parquet")

# The designs: committed before anything was simulated ---------------------------------------------------------------

SCHEMA: Final = tc.Schema({"age": tc.Integer(0, 100, missing="none")})
SIMULATIONS: Final = 2_000
OF_THE_PAPER: Final = 10_000
"""Simulations of the paper's own table, whose figures are compared with printed ones; rows without replacement."""
DELTA: Final = "1e-6"
RHO: Final = Fraction(1, 2)
"""Of the paper's own configuration, as the paper counts, with ROWS rows and REPLICATES replicates."""
ROWS, REPLICATES = 500, 50
PRINTED: Final = {"unbiased": (80.1, 2.77), "conservative": (97.1, 4.23), "most conservative": (100.0, 6.31)}
"""Coverage in percent and width, as the paper prints them (§8)."""
DESIGNS: Final = ((500, 50, "1"), (5_000, 10, "1"), (5_000, 50, "1"), (5_000, 200, "1"), (50_000, 50, "1"))
"""Rows, replicates and epsilon, beside the certified cost of the paper's configuration."""
PARAMETRIC: Final = ((ROWS, None),)
"""Rows and epsilon of one shot by the parametric bootstrap; None: the certified cost of the paper's configuration."""
DRAWS: Final = 999
"""Draws of the parametric bootstrap."""
WAYS: Final = ("percentile", "basic", "bias-corrected")
NARROWER: Final = 25.0
"""Percent by which one shot is narrower than the conservative bootstrap at the paper's certified cost, at least."""
LEDGERS: Final = {"pair": "basic", "part": "gdp"}
"""What is charged: the pair itself, where epsilon and delta are added, or an approximate part, where mu^2 is."""
KINDS: Final = {
    "mean, by sex": (tc.Mean("age", by="sex"), False),
    "means of two columns": (tc.Mean(["age", "educ"]), False),
    "sum": (tc.Sum("educ"), False),
    "variance": (tc.Variance("age"), False),
    "counts by sex": (tc.Count(by="sex"), False),
    "mean of persons in several cells": (tc.Mean("age", by="sex"), True),
}
"""Other statistics, and whether two rows are a person, who may be in both cells."""
CONSERVATIVE: Final = "bootstrap, conservative"
OF_KINDS: Final = (4_000, 40, "5", 500)
"""Rows, replicates, epsilon and simulations of each of them."""
COLUMNS: Final = {
    "age": tc.Integer(0, 100, missing="none"),
    "educ": tc.Integer(1, 16, missing="none"),
    "sex": tc.Category({0: "female", 1: "male"}),
}
FAST: Final = (10_000_000, 200)
"""Rows and replicates whose time is measured."""

# Simulation ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answers:
    """Intervals of one method in many simulations, each of shape (simulations,); NaN where there is no answer."""

    method: str
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def line(self, truth: float) -> str:
        """Return cells of a table: coverage of the answers and twice its error, mean width, share without answer."""
        known = np.isfinite(self.low) & np.isfinite(self.high)
        n = max(1, int(known.sum()))
        hit = float(((self.low <= truth) & (truth <= self.high))[known].sum()) / n
        error = 2 * np.sqrt(max(hit * (1 - hit), 0.25 / n) / n)
        width = float((self.high - self.low)[known].mean()) if known.any() else float("nan")
        none = 100 * (1 - known.mean())
        return f"{self.method} | {100 * hit:.1f} ± {100 * error:.1f} | {width:.2f} | {none:.1f}"


@cache
def ages() -> NDArray[np.int64]:
    """Return all ages of the sample, clipped as the paper clips them."""
    return np.clip(np.asarray(pq.read_table(people(), columns=["age"])["age"]), 0, 100).astype(np.int64)


def people() -> Path:
    """Return the file of the sample."""
    return arguments().people


def arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="print a tenth")
    parser.add_argument("--speed", action="store_true", help="measure time alone")
    parser.add_argument("--only", choices=("paper", "statistics", "methods", "parametric"), help="one part alone")
    parser.add_argument("--people", type=Path, default=PEOPLE, help="the PUMS sample")
    return parser.parse_args()


def simulated(
    rows: int, replicates: int, noise: float, simulations: int, rng: np.random.Generator, *, replaced: bool = True
) -> Iterator[NDArray[np.float64]]:
    """Yield the noisy replicates of tables of `rows` ages: shape (replicates,) for each simulation."""
    values, frequency = np.unique(ages(), return_counts=True)
    for _ in range(simulations):
        if replaced:
            counts = rng.multinomial(rows, frequency / frequency.sum())
        else:
            counts = rng.multivariate_hypergeometric(frequency, rows)
        drawn = rng.multinomial(rows, counts / rows, size=replicates)
        yield drawn @ values / rows + rng.normal(0, np.sqrt(noise), replicates)


def paper(simulations: int) -> str:
    """Return the paper's table again: equation 35 without its noise term, as printed there, and corrected."""
    rng, truth, k = np.random.default_rng(0), float(ages().mean()), REPLICATES
    noise = float(Fraction(100, ROWS) ** 2 * k / (2 * RHO))
    found = np.array(list(simulated(ROWS, k, noise, simulations, rng, replaced=False)))
    mean, spread, z = found.mean(axis=1), found.var(axis=1, ddof=1), normal_quantile(0.95)
    lines = [
        "| | published | noise term left out | as printed | corrected | variance not above 0, % |",
        "|---|" + "---:|" * 5,
    ]
    for errors, (covered, width) in PRINTED.items():
        factor = noise_factor(errors, k)  # pyright: ignore[reportArgumentType]
        sampling, privacy = population_variance(
            np.maximum(bootstrap_variance(spread, np.asarray(noise), factor), 0.0), np.asarray(noise), k, ROWS
        )
        cells = [f"{covered:.1f} / {width:.2f}"]
        for variance in (
            without_noise(spread, noise, factor),
            as_printed(spread, noise, k, factor),
            sampling + privacy,
        ):
            half = z * np.sqrt(variance)
            hit = float((np.abs(mean - truth) <= half).mean())
            cells.append(f"{100 * hit:.1f} / {2 * half.mean():.2f}")
        hidden = 100 * float((bootstrap_variance(spread, np.asarray(noise), factor) <= 0).mean())
        lines.append(f"| {errors} | {' | '.join(cells)} | {hidden:.1f} |")
    return "\n".join(lines)


def certified() -> tuple[Fraction, str]:
    """Return the certified epsilon of the paper's configuration at DELTA, and a sentence on it."""
    mu_squared = 2 * RHO / REPLICATES
    cost = certify(Resampling(rows=ROWS), REPLICATES, mu_squared)
    claim = PublishedClaim.of(replicates=REPLICATES, mu_squared=mu_squared)
    epsilon = cost.epsilon(DELTA)
    words = (
        f"Certified: ε = {float(epsilon):.2f} at δ = {DELTA}.  Claimed: ρ = {float(RHO):g}, which implies "
        f"ε = {float(claim.epsilon(DELTA)):.2f}."
    )
    return epsilon, words


def beside(rows: int, replicates: int, epsilon: str, simulations: int) -> list[str]:
    """Return rows of the table of methods at one price (epsilon, DELTA).

    The noise of the plain mean is the same whichever ledger it is charged to.
    """
    rng, truth, population = np.random.default_rng(rows + replicates), float(ages().mean()), ages()
    lines: list[str] = []
    for charged, accounting in LEDGERS.items():
        shape = design(
            tc.Bootstrap(tc.Mean("age"), replicates),
            Public(SCHEMA, "replace-one", rows, accounting=accounting),
            Cost.of(epsilon=epsilon, delta=DELTA),
        )
        noise = _noise(shape.columns[0], rows)
        found = np.array(list(simulated(rows, replicates, noise, simulations, rng)))
        lines += [f"{charged} | {answers.line(truth)}" for answers in _bootstrapped(found, noise, rows)]
    shot = coverage(
        tc.Mean("age"),
        lambda random: {"age": random.choice(population, rows)},
        truth,
        epsilon=epsilon,
        delta=DELTA,
        schema=SCHEMA,
        repeats=simulations,
        rng=rows,
    )
    hit, error, none = (100 * float(x[0]) for x in (shot.coverage, 2 * shot.coverage_error, shot.unclear))
    lines.append(f"either | one shot: `Mean` | {hit:.1f} ± {error:.1f} | {shot.width[0]:.2f} | {none:.1f}")
    lines.append(f"none | without privacy | | {shot.width_without[0]:.2f} | ")
    head = f"{rows:,} | {replicates} | {float(Fraction(epsilon)):.3g}"
    return [f"| {head} | {line} |" for line in lines]


def _bootstrapped(
    found: NDArray[np.float64], noise: float, rows: int, *, deconvolution: bool = True
) -> Iterator[Answers]:
    """Yield the intervals of each way to read the replicates, shape (simulations, replicates)."""
    k, z = found.shape[1], normal_quantile(0.95)
    mean, spread = found.mean(axis=1), found.var(axis=1, ddof=1)
    uncertain = total_variances(spread, np.full(len(spread), noise), k, population=True, rows=rows)
    least = uncertain.half_widths(0.95)
    for errors in PRINTED:
        variance = bootstrap_variance(spread, np.asarray(noise), noise_factor(errors, k))  # pyright: ignore[reportArgumentType]
        sampling, privacy = population_variance(np.maximum(variance, 0.0), np.asarray(noise), k, rows)
        # as `NormalEstimate.intervals`: never narrower than those of the normal law
        half = np.where(variance > 0, np.maximum(z * np.sqrt(sampling + privacy), least), np.nan)
        yield Answers(f"bootstrap, {errors}", mean - half, mean + half)
    laws = [deconvolved(one, noise) for one in found] if deconvolution else []
    for name, kept in (("deconvolution", False), ("deconvolution, with the average's noise", True)):
        if not deconvolution:
            return
        limits = np.array([law.conf_int(0.95, noise=kept) for law in laws])
        yield Answers(name, limits[:, 0], limits[:, 1])


def methods(simulations: int, price: Fraction) -> str:
    """Return the table of methods: at the certified cost of the paper's configuration, and at other designs."""
    head = "| rows | replicates | ε | charged | method | coverage, % | width | no answer, % |"
    lines = [head, "|---:|---:|---:|---|---|---:|---:|---:|"]
    for rows, replicates, epsilon in ((ROWS, REPLICATES, str(price)), *DESIGNS):
        lines += beside(rows, replicates, epsilon, simulations)
    return "\n".join(lines)


def parametric(simulations: int, price: Fraction) -> str:
    """Return the table of one shot and its parametric bootstrap, beside the conservative bootstrap of REPLICATES."""
    lines = [
        "| rows | ε | method | coverage, % | width | no answer, % | narrower than the conservative bootstrap, % |",
        "|---:|---:|---|---:|---:|---:|---:|",
    ]
    for rows, epsilon in PARAMETRIC:
        paid = str(price) if epsilon is None else epsilon
        wide, truth = _conservative(rows, paid, simulations), float(ages().mean())
        for answers in _shots(rows, paid, simulations):
            narrower = 100 * (1 - float(np.nanmean(answers.high - answers.low)) / wide)
            assert epsilon is not None or narrower >= NARROWER
            lines.append(f"| {rows:,} | {float(Fraction(paid)):.3g} | {answers.line(truth)} | {narrower:.0f} |")
    return "\n".join(lines)


def _conservative(rows: int, epsilon: str, simulations: int) -> float:
    """Return the mean width of the conservative bootstrap, charged the pair itself, which buys the least noise."""
    public = Public(SCHEMA, "replace-one", rows, accounting="basic")
    shape = design(tc.Bootstrap(tc.Mean("age"), REPLICATES), public, Cost.of(epsilon=epsilon, delta=DELTA))
    noise = _noise(shape.columns[0], rows)
    found = np.array(list(simulated(rows, REPLICATES, noise, simulations, np.random.default_rng(rows + 1))))
    answers = next(one for one in _bootstrapped(found, noise, rows, deconvolution=False) if one.method == CONSERVATIVE)
    return float(np.nanmean(answers.high - answers.low))


def _shots(rows: int, epsilon: str, simulations: int) -> Iterator[Answers]:
    """Yield the intervals of one shot, and those of the parametric bootstrap of its mean."""
    rng, population, cost = np.random.default_rng(rows + 2), ages(), Cost.of(epsilon=epsilon, delta=DELTA)
    shape = shaped(tc.Mean("age"), SCHEMA, "replace-one", rows, cost)
    found: dict[str, list[NDArray[np.float64]]] = {"one shot: `Mean`": []}
    found |= {f"one shot, parametric bootstrap, {way}": [] for way in WAYS}
    for _ in range(simulations):
        exact = exact_integers(shape, columns_of({"age": rng.choice(population, rows)}, SCHEMA))
        noisy = add_noise(shape, tuple(one[None] for one in exact), rng)
        estimate = simulated_parts(shape, tuple(one[0] for one in noisy)).estimate()
        seed = int(rng.integers(2**31))
        drawn = estimate.bootstrap(lambda age: age, draws=DRAWS, rng=seed)
        made = [estimate, *(drawn if way == WAYS[0] else replace(drawn, method=way) for way in WAYS)]
        for limits, one in zip(found.values(), made, strict=True):
            limits.append(one.intervals(0.95)[0])
    for name, limits in found.items():
        low, high = np.array(limits).T
        yield Answers(name, low, high)


def _noise(column: Any, rows: int) -> float:
    """Return the variance of the noise in a replicate of a mean: of a grid of G steps between 0 and 100."""
    return float(column.law.variance()) * (100 / column.form.parameters["G"] / rows) ** 2


# Other statistics ---------------------------------------------------------------------------------------------------


def statistics(simulations: int) -> str:
    """Return the coverage of conservative intervals of other statistics; of several terms the least and the most."""
    rows, replicates, epsilon, _ = OF_KINDS
    table = pq.read_table(people(), columns=["age", "educ", "sex"]).to_pandas()
    lines = [
        "| statistic | coverage of each term, % | width, without noise = 1 | no answer, % |",
        "|---|" + "---:|" * 3,
    ]
    for name, (question, persons) in KINDS.items():
        found = coverage(
            tc.Bootstrap(question, replicates),
            lambda random, persons=persons: _sample(table, rows, random, persons=persons),
            _truth(table, question, rows),
            epsilon=epsilon,
            delta=DELTA,
            schema=tc.Schema({**COLUMNS, "person": tc.PrivacyUnit(max_rows=2)} if persons else COLUMNS),
            repeats=simulations,
            rng=len(name),
        )
        # intervals of terms without an answer are the whole line: coverage is that of the others
        none = found.unclear
        hit = 100 * (found.coverage - none) / np.maximum(1 - none, 1e-9)
        covered = ", ".join(f"{one:.1f}" for one in hit)
        wider = ", ".join(f"{one:.2f}" if np.isfinite(one) else "–" for one in found.relative_width)
        lines.append(f"| {name} | {covered} | {wider} | {', '.join(f'{100 * one:.1f}' for one in none)} |")
    return "\n".join(lines)


def _sample(table: pd.DataFrame, rows: int, rng: np.random.Generator, *, persons: bool) -> dict[str, NDArray[Any]]:
    """Return rows drawn with replacement; persons: of two rows each."""
    drawn = table.iloc[rng.integers(0, len(table), rows)]
    found = {name: drawn[name].to_numpy() for name in COLUMNS}
    return {**found, "person": np.arange(rows) // 2} if persons else found


def _truth(table: pd.DataFrame, question: Any, rows: int) -> list[float]:
    """Return the statistic of the population, by term."""
    names = list(getattr(question, "columns", ()))
    clipped = table.assign(age=table["age"].clip(0, 100), educ=table["educ"].clip(1, 16))
    if isinstance(question, tc.Count):
        return [rows * float((table["sex"] == code).mean()) for code in (0, 1)]
    if isinstance(question, tc.Variance):
        # of draws with replacement the variance of the sample, divisor n - 1, is on average that of divisor N here
        return [float(clipped[name].var(ddof=0)) for name in names]
    groups = [clipped[clipped["sex"] == code] for code in (0, 1)] if question.by else [clipped]
    times = rows if isinstance(question, tc.Sum) else 1
    return [times * float(one[name].mean()) for name in names for one in groups]


# Time ---------------------------------------------------------------------------------------------------------------


def speed() -> str:
    """Return what a release from a file of ten million rows takes, beside that of the plain mean."""
    rows, replicates = FAST
    rng, price = np.random.default_rng(0), {"epsilon": 1, "delta": DELTA}
    columns = {"age": ages()[rng.integers(0, 10_000, rows)], "income": rng.lognormal(10, 1, rows)}
    schema = tc.Schema({"age": tc.Integer(0, 100), "income": tc.Real(0, 300_000)})
    lines = ["| column | plain mean, s | bootstrap, s | passes |", "|---|---:|---:|---:|"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "people.parquet")
        pq.write_table(pa.table(columns), path)
        del columns
        # one that adds ε and δ: any other takes a bootstrap before all other questions
        budget = tc.Budget(epsilon=50, delta=50 * DELTA, accounting="basic")
        curator = tc.Curator(path, schema, budget=budget, ledger=os.path.join(folder, "a.ledger"))
        begun = time.perf_counter()
        curator.design(tc.Bootstrap(tc.Mean("age"), replicates), Cost.of(**price))
        calibration = time.perf_counter() - begun
        for name in schema:
            took: list[float] = []
            for question in (tc.Mean(name), tc.Mean(name), tc.Bootstrap(tc.Mean(name), replicates)):
                begun = time.perf_counter()
                curator.release(question, fresh=True, **price)
                took.append(time.perf_counter() - begun)
            lines.append(f"| {name} | {took[1]:.2f} | {took[2]:.2f} | {took[2] / took[1]:.1f} |")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    words = f"Calibration, once a design: {calibration:.1f} s.  Peak memory of the whole process: {memory:.1f} GB."
    return "\n".join((*lines, "", words))


def main() -> None:
    """Write the parts of the page, or print them."""
    given = arguments()
    simulations = SIMULATIONS // 10 if given.quick else SIMULATIONS
    price, words = certified()
    parts = {
        "paper": lambda: f"{words}\n\n{paper(simulations * OF_THE_PAPER // SIMULATIONS)}",
        "statistics": lambda: statistics(OF_KINDS[-1] * simulations // SIMULATIONS),
        "methods": lambda: methods(simulations, price),
        "parametric": lambda: parametric(simulations, price),
    }
    if given.only:
        parts = {given.only: parts[given.only]}
    for name, made in ({"speed": speed} if given.speed else parts).items():
        text = made()
        if given.quick:
            print(text, end="\n\n")
        else:
            put(PAGE, f"bootstrap.py {name}", text)


if __name__ == "__main__":
    main()
