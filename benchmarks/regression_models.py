"""Logistic and probit regressions by bounded scores: the tables of docs/reference/regression-models.md.

    python benchmarks/regression_models.py [--quick] [--part N]

Tables are drawn anew and released anew in each simulation.  About twenty minutes on two cores; `--quick` for a look;
`--part`: an N-th of the simulations, whose number the page says.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, ndtr

import tacit as tc
from tacit.curator.asked import design
from tacit.privacy import Cost
from tacit.testing.regressions import Rows, rows_of

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "regression-models.md"
INTRODUCTION = """# Coverage of logistic and probit regressions

How often a 95% interval of a coefficient of [`Regression(…, model=)`](api.md) holds the truth when tables are drawn and
released anew. Both errors are in it. Written by `python benchmarks/regression_models.py`.

*Coverage* is that of all slopes, and of the worst one; *width* compares with maximum likelihood on the rows themselves,
its usual standard errors included (mean over the slopes); *SE / SD* compares the reported standard error with the
standard deviation of the estimates; *bias / SD* is the largest of the slopes'. *No answer* counts releases that carry a
reason instead of numbers; they count nowhere else, and where more than half do nothing else is shown. ± is twice the
Monte-Carlo error.
"""
HEAD = (
    "| rows | price, relation | simulations | coverage, % | worst slope, % | width, likelihood = 1 | SE / SD "
    "| bias / SD | no answer, % |\n|---:|---|---:|---:|---:|---:|---:|---:|---:|"
)
ONE, THREE = {"epsilon": 1, "delta": 1e-6}, {"epsilon": 3, "delta": 1e-6}
PURE: dict[str, Any] = {"epsilon": 3}
Table = dict[str, np.ndarray]


@dataclass(frozen=True)
class Study:
    """Rows, a question and the coefficients that it should find, the intercept's not among them."""

    title: str
    query: tc.Regression
    schema: tc.Schema
    draw: Callable[[np.random.Generator, int], Table]
    truth: Mapping[str, float]


def one() -> Study:
    """The issue's: β = (0.5, 2)."""

    def draw(rng: np.random.Generator, n: int) -> Table:
        x = rng.uniform(-1, 1, n)
        return {"x": x, "y": rng.random(n) < expit(0.5 + 2 * x)}

    schema = tc.Schema({"x": tc.Real(-1, 1, missing=0), "y": tc.Boolean(missing=False)})
    title = "Logistic, intercept 0.5 and slope 2, regressor spread evenly over its bounds"
    return Study(title, tc.Regression("y ~ x", model="logistic"), schema, draw, {"x": 2.0})


def people(model: str) -> Study:
    """Numbers, Booleans and a category, bounds wider than the values."""
    schema = tc.Schema(
        {
            "y": tc.Boolean(),
            "age": tc.Real(18, 93),
            "educ": tc.Integer(1, 16),
            "sex": tc.Category(["f", "m"]),
            "region": tc.Category(["north", "south", "east"]),
        }
    )
    scale = 0.6 if model == "probit" else 1.0

    def draw(rng: np.random.Generator, n: int) -> Table:
        age, educ = rng.uniform(20, 80, n), np.clip(np.rint(rng.normal(9, 3, n)), 1, 16)
        sex, region = rng.choice(["f", "m"], n), rng.choice(["north", "south", "east"], n, p=[0.5, 0.3, 0.2])
        eta = scale * (0.03 * (age - 50) + 0.1 * (educ - 9) + 0.5 * (sex == "m") - 0.4 * (region == "south"))
        mean = expit(eta) if model == "logistic" else ndtr(eta)
        return {"age": age, "educ": educ, "sex": sex, "region": region, "y": rng.random(n) < mean}

    truth = {"age": 0.03, "educ": 0.1, "sex[T.m]": 0.5, "region[T.south]": -0.4, "region[T.east]": 0.0}
    title = f"{model.capitalize()}, five terms of people"
    query = tc.Regression("y ~ age + educ + sex + region", model=model)
    return Study(title, query, schema, draw, {name: scale * b for name, b in truth.items()})


def lines(study: Study, cells: list[tuple[int, dict[str, Any], str, int]]) -> Iterator[str]:
    yield f"\n## {study.title}\n\n`{study.query.formula}`\n\n{HEAD}"
    truth = np.array(list(study.truth.values()))
    for n, price, relation, repeats in cells:
        rng, query = np.random.default_rng(n), study.query
        known = n if relation == "replace-one" else None
        shape = design(query, study.schema, neighbors=relation, rows=known, cost=Cost.of(**price))
        values, errors, ordinary = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
        for _ in range(repeats):
            base = rows_of(query, study.draw(rng, n), study.schema, Cost.of(rho=1))
            found = Rows(shape, base.layout, base.z, n).fit(rng)
            if found.reasons[0] is None:
                places = [found.names.index(name) for name in study.truth]
                values.append(found.values[places])
                errors.append(found.std_errors[places])
                ordinary.append(base.ordinary()[1][places])
        words = f"ε = {price['epsilon']}" + (", δ = 1e-6" if "delta" in price else "")
        yield row(f"| {n:,} | {words}, {relation} | {repeats:,} |", truth, repeats, values, errors, ordinary)


def row(head: str, truth: np.ndarray, asked: int, *found: list[np.ndarray]) -> str:
    tables = len(found[0])
    silent = 100 * (1 - tables / asked)
    if tables < asked / 2:
        return f"{head} – | – | – | – | – | {silent:.1f} |"
    values, errors, ordinary = map(np.array, found)
    hit = np.abs(values - truth) <= 1.959964 * errors
    sd = values.std(axis=0, ddof=1)
    bias = max((values.mean(axis=0) - truth) / sd, key=abs)
    worst = hit.mean(axis=0).min()
    coverage = f"{100 * hit.mean():.1f} ± {200 * hit.mean(axis=1).std() / math.sqrt(tables):.1f}"
    lowest = f"{100 * worst:.1f} ± {200 * math.sqrt(worst * (1 - worst) / tables):.1f}"
    width = (np.median(errors, axis=0) / np.median(ordinary, axis=0)).mean()
    ratio = (errors.mean(axis=0) / sd).mean()
    return f"{head} {coverage} | {lowest} | {width:.2f} | {ratio:.2f} | {bias:+.2f} | {silent:.1f} |"


STUDIES: tuple[Callable[[], Study], ...] = (one, partial(people, "logistic"), partial(people, "probit"))


def told(which: int, cells: list[tuple[int, dict[str, Any], str, int]]) -> str:
    return "\n".join(lines(STUDIES[which](), cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--part", type=int, default=1)
    given, start = parser.parse_args(), time.monotonic()
    quick, part = given.quick, 50 if given.quick else given.part
    one_, add = "replace-one", "add-remove"
    first = [(n, price, one_, 2_000) for n in (300, 500, 1_000, 2_000) for price in (ONE, THREE)]
    first += [
        (1_000, ONE, add, 2_000),
        (1_000, PURE, one_, 2_000),
        (10_000, ONE, one_, 1_000),
        (10_000, THREE, one_, 1_000),
    ]
    some = [(2_000, THREE, one_, 400), (10_000, ONE, one_, 400), (10_000, THREE, one_, 400), (10_000, THREE, add, 400)]
    studies = list(zip(STUDIES, (first, some, some[1:3]), strict=True))
    page = [INTRODUCTION]
    asked = [[(n, price, relation, max(k // part, 8)) for n, price, relation, k in cells] for _, cells in studies]
    with ProcessPoolExecutor(2) as pool:
        for found in pool.map(told, range(len(studies)), asked):
            print(found, flush=True)
            page.append(found)
    if not quick:
        PAGE.write_text("\n".join(page).replace("\n\n\n", "\n\n") + "\n", encoding="utf-8")
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
