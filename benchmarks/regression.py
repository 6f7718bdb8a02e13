"""Linear regressions from noisy cross-products and one step: the tables of docs/reference/regression.md.

    python benchmarks/regression.py [--quick]

Tables are drawn anew and released anew in each simulation.  About half an hour on one core; `--quick` for a look.
Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tacit as tc
from tacit.curator.asked import design
from tacit.mechanisms import regression
from tacit.privacy import Cost
from tacit.testing.regressions import Rows, rows_of

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "regression.md"
INTRODUCTION = """# Coverage of regressions

How often a 95% interval of a coefficient of [`Regression`](api.md) holds the truth when tables are drawn and
released anew. Both errors are in it. Written by `python benchmarks/regression.py`.

*Coverage* is that of all slopes, and of the worst one; *width* compares with ordinary least squares on the rows
themselves, its usual standard errors included (mean over the slopes, and the widest); *SE / SD* compares the reported
standard error with the standard deviation of the estimates; *bias / SD* is the largest of the slopes'. *No answer*
counts releases whose noise is too large to say anything: they carry a reason instead of numbers, and count nowhere
else. ± is twice the Monte-Carlo error.

Slopes are those of least squares on the population. Errors that are both skewed and unequal are the hard case:
residuals are cut, and the slope of what their spread depends on (age) is biased by a part of a standard error.
"""
Table = dict[str, np.ndarray]


@dataclass(frozen=True)
class Study:
    """Rows, a formula and the coefficients that it should find."""

    title: str
    formula: str
    schema: tc.Schema
    draw: Callable[[np.random.Generator, int], Table]
    truth: Mapping[str, float]


# Designs -------------------------------------------------------------------------------------------------------------


def four(errors: str) -> Study:
    """Four regressors in [0, 1], response in [-2, 4], errors of standard deviation 1/2."""
    columns = {f"x{j}": tc.Real(0, 1, missing=0) for j in range(1, 5)}

    def draw(rng: np.random.Generator, n: int) -> Table:
        X = rng.uniform(0, 1, (n, 4))
        y = 1 + X @ [1, -0.8, 0.5, 0] + 0.5 * unit_errors(errors, rng, X[:, 0] - 0.5)
        return {**{f"x{j + 1}": X[:, j] for j in range(4)}, "y": y}

    truth = {"x1": 1.0, "x2": -0.8, "x3": 0.5, "x4": 0.0}
    schema = tc.Schema({**columns, "y": tc.Real(-2, 4, missing=0)})
    title = f"Four regressors spread evenly over their bounds, {errors} errors of a twelfth of the response's range"
    return Study(title, "y ~ x1 + x2 + x3 + x4", schema, draw, truth)


def people(errors: str) -> Study:
    """Numbers, Booleans and categories, some levels rare, bounds wider than the values."""
    schema = tc.Schema(
        {
            "income": tc.Real(-40, 160),
            "age": tc.Real(18, 93),
            "educ": tc.Integer(1, 16),
            "sex": tc.Category(["f", "m"]),
            "region": tc.Category(["north", "south", "east", "west"]),
            "married": tc.Boolean(),
        }
    )

    def draw(rng: np.random.Generator, n: int) -> Table:
        age = rng.uniform(20, 70, n)
        educ = np.clip(np.rint(rng.normal(10, 3, n)), 1, 16)
        sex, married = rng.choice(["f", "m"], n), rng.random(n) < 0.4
        region = rng.choice(["north", "south", "east", "west"], n, p=[0.4, 0.3, 0.2, 0.1])
        mean = 10 + 0.3 * age + 2 * educ + 5 * (sex == "m") - 3 * (region == "south") + 2 * (region == "west")
        income = mean + 4 * married + 10 * unit_errors(errors, rng, (age - 45) / 50)
        return {"income": income, "age": age, "educ": educ, "sex": sex, "region": region, "married": married}

    truth = {"age": 0.3, "educ": 2.0, "sex[T.m]": 5.0, "region[T.south]": -3.0, "region[T.east]": 0.0}
    truth |= {"region[T.west]": 2.0, "married": 4.0}
    title = f"Seven terms of people, {errors} errors of a twentieth of the response's range"
    return Study(title, "income ~ age + educ + sex + region + married", schema, draw, truth)


def unit_errors(kind: str, rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """Errors of variance about 1; x is in [-1/2, 1/2]."""
    n = len(x)
    if kind == "normal":
        return rng.normal(0, 1, n)
    if kind == "exponential":
        return rng.exponential(1, n) - 1
    spread = (0.4 + 1.2 * np.abs(2 * x)) / math.sqrt(1.12)
    if kind == "unequal normal":
        return rng.normal(0, 1, n) * spread
    return (rng.exponential(1, n) - 1) * (0.5 + 1.0 * (x + 0.5))


# Coverage ------------------------------------------------------------------------------------------------------------

PRICES: dict[str, dict[str, Any]] = {
    "ε = 5, δ = 1e-6": {"epsilon": 5, "delta": 1e-6},
    "ρ = 0.1": {"rho": 0.1},
    "ε = 2": {"epsilon": 2},
}
HEAD = (
    "| rows | price, relation | coverage, % | worst slope, % | width, OLS = 1 | widest | SE / SD | bias / SD "
    "| no answer, % |\n|---:|---|---:|---:|---:|---:|---:|---:|---:|"
)


@dataclass
class Found:
    """What the releases of one price said of the slopes."""

    values: list[np.ndarray]
    errors: list[np.ndarray]
    ordinary: list[np.ndarray]
    asked: int = 0


def simulated(study: Study, n: int, repeats: int, relations: tuple[str, ...]) -> dict[tuple[str, str], Found]:
    """Every price and relation on the same tables."""
    rng = np.random.default_rng(n)
    query = tc.Regression(study.formula)
    shapes = {
        (price, relation): design(
            query,
            study.schema,
            neighbors=relation,
            rows=n if relation == "replace-one" else None,
            cost=Cost.of(**words),
        )
        for price, words in PRICES.items()
        for relation in relations
    }
    found = {key: Found([], [], []) for key in shapes}
    for _ in range(repeats):
        base = rows_of(query, study.draw(rng, n), study.schema, Cost.of(rho=1))
        places = [base.layout.names.index(name) for name in study.truth]
        ordinary = base.ordinary()[1][places]
        for key, shape in shapes.items():
            made = Rows(shape, base.layout, base.z, n).fit(rng)
            found[key].asked += 1
            if made.reasons[0] is None:
                found[key].values.append(made.values[places])
                found[key].errors.append(made.std_errors[places])
                found[key].ordinary.append(ordinary)
    return found


def lines(study: Study, sizes: Mapping[int, int], relations: tuple[str, ...]) -> Iterator[str]:
    yield f"\n## {study.title}\n\n`{study.formula}`\n\n{HEAD}"
    truth = np.array(list(study.truth.values()))
    for n, repeats in sizes.items():
        for (price, relation), one in simulated(study, n, repeats, relations).items():
            silent = 100 * (1 - len(one.values) / one.asked)
            if len(one.values) < one.asked / 2:
                yield f"| {n:,} | {price}, {relation} | – | – | – | – | – | – | {silent:.0f} |"
                continue
            values, errors, ordinary = map(np.array, (one.values, one.errors, one.ordinary))
            hit = np.abs(values - truth) <= 1.959964 * errors
            tables = len(values)
            width = errors.mean(axis=0) / ordinary.mean(axis=0)
            sd = values.std(axis=0, ddof=1)
            bias = max((values.mean(axis=0) - truth) / sd, key=abs)
            coverage = f"{100 * hit.mean():.1f} ± {200 * hit.mean(axis=1).std() / math.sqrt(tables):.1f}"
            worst = hit.mean(axis=0).min()
            lowest = f"{100 * worst:.1f} ± {200 * math.sqrt(worst * (1 - worst) / tables):.1f}"
            ratio = (errors.mean(axis=0) / sd).mean()
            yield (
                f"| {n:,} | {price}, {relation} | {coverage} | {lowest} | {width.mean():.2f} | {width.max():.2f} "
                f"| {ratio:.2f} | {bias:+.2f} | {silent:.0f} |"
            )


def shares(repeats: int) -> Iterator[str]:
    """Width of intervals against the part of the price that the cross-products get."""
    study = four("normal")
    parts = (0.1, 0.2, 0.3, 0.4, 0.5)
    yield (
        "\n## How the price is split\n\nMean width of the slopes' intervals, least squares = 1, at ε = 5, δ = 1e-6, by "
        "the part of the price that the\ncross-products get; the rest buys the step. It is 0.3 for every question."
    )
    yield "\n| rows | " + " | ".join(map(str, parts)) + " |\n|---:|" + "---:|" * len(parts)
    first = regression.FIRST
    for n in (1_000, 10_000):
        row: list[str] = []
        for part in parts:
            regression.FIRST = type(first)(str(part))  # pyright: ignore
            found = simulated(study, n, repeats, ("replace-one",))["ε = 5, δ = 1e-6", "replace-one"]
            width = np.mean(found.errors, axis=0) / np.mean(found.ordinary, axis=0) if found.errors else np.array([0])
            row.append(f"{width.mean():.2f}")
        yield f"| {n:,} | " + " | ".join(row) + " |"
    regression.FIRST = first  # pyright: ignore


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick, start = parser.parse_args().quick, time.monotonic()
    sizes = {1_000: 20, 10_000: 10} if quick else {1_000: 1_000, 10_000: 600, 100_000: 500}
    page = [INTRODUCTION]
    both, one = ("replace-one", "add-remove"), ("replace-one",)
    studies = [(four("normal"), both), (people("normal"), both)]
    studies += [(people(kind), one) for kind in ("exponential", "unequal normal", "unequal exponential")]
    for study, relations in studies:
        for line in lines(study, sizes, relations):
            print(line, flush=True)
            page.append(line)
    for line in shares(10 if quick else 200):
        print(line, flush=True)
        page.append(line)
    if not quick:
        PAGE.write_text("\n".join(page).replace("\n\n\n", "\n\n") + "\n", encoding="utf-8")
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
