"""Regressions of persons with several rows: the tables of docs/reference/regression-persons.md.

    python benchmarks/regression_persons.py [--quick] [--only WORDS …] [--repeats N] [--page]

Persons are drawn anew and released anew in each simulation, at all prices.  Each line of a table is kept in
`regression_persons.jsonl` beside this script as soon as it is known, and the page is written from these lines; about
an hour on one core.  `--only`: cells whose words begin like one of these ("logistic even 3000"); `--page`: nothing is
simulated.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pages import keep, kept, written
from regression_models import Found, line
from scipy.special import expit, ndtr

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import rows_of

HERE = Path(__file__).parent
KEPT = HERE / "regression_persons.jsonl"
PAGE = HERE.parent / "docs" / "reference" / "regression-persons.md"
INTRODUCTION = """# Coverage of regressions of persons

How often a 95% interval of a coefficient of [`Regression`](api.md) holds the truth where the schema has a
`PrivacyUnit`: persons with unequal numbers of rows, each weighing one, drawn and released anew. Written by
`python benchmarks/regression_persons.py`.

A person's rows share an effect; its part of the errors' variance (of a response of 0 or 1, of its latent variable) is
the intraclass correlation. Persons with larger effects have more rows, so that a regression of rows, which they
dominate, has another intercept. The truth is that of persons: each weighs one.

*Coverage* is that of all coefficients, the intercept among them, and of the worst one; *width* compares with the same
weighted regression of the rows themselves, cluster-robust standard errors included (mean over the coefficients of
medians); *SE / SD* compares the reported standard error with the standard deviation of the estimates; *bias / SD* is
the coefficients' largest. *Towards bound* is how far, on average, variances went towards the bound that is used where
noise hides how alike a person's rows are: they are then too large, and SE / SD above 1. *No answer* counts releases
that carry a reason instead of numbers; they count nowhere else. Where more than 19 in 20 of the first 60 do, no more
are drawn and nothing else is shown. *Rows as people* is the coverage, without any privacy, of intervals that take
rows for people: all coefficients, and the worst one, which is the intercept. ± is twice the Monte-Carlo error.

The cells of counts and of ten regressors were written down before any was simulated; nothing was set on them.
Those of counts are from before laws of counts that a release cannot tell apart were allowed for: most of the releases
without an answer at ε = 1 now have one (of 80 with 10,000 persons all but one, 96% covered).
"""
HEAD = (
    "| persons | price, relation | simulations | coverage, % | worst, % | width, cluster-robust = 1 | SE / SD "
    "| bias / SD | towards bound, % | no answer, % | rows as people, % |\n|---:|---|" + "---:|" * 9
)
PRICES: dict[str, dict[str, Any]] = {
    f"ε = {epsilon}, δ = 1e-6": {"epsilon": epsilon, "delta": "0.000001"} for epsilon in (5, 3, 1)
}
PRICES["ε = 3"] = {"epsilon": 3}
TRUTH = {"Intercept": 0.3, "x": 1.0, "w": -0.5, "b": 0.6}
"""x changes from row to row; w (normal) and b (true of two in five) are the person's."""
PAIRS = {f"x{j}": -0.3 if j % 2 else 0.4 for j in range(10)}
"""Ten normal regressors in five pairs of correlation .8, half of their variance the person's, with bounds of ±6."""


@dataclass(frozen=True)
class Made:
    """How persons are made.  correlation: intraclass; rows: on average; spread: what errors are multiplied by, of w."""

    words: str
    correlation: float = 0.3
    rows: float = 3.4
    spread: Callable[[np.ndarray], np.ndarray] | None = None
    regressors: tuple[str, ...] = tuple(TRUTH)[1:]

    def truth(self, model: str) -> dict[str, float]:
        """Coefficients; of counts half as large, so that means stay far below their bound."""
        size = 0.5 if model == "poisson" else 1.0
        known = TRUTH | PAIRS
        return {name: known[name] * size for name in ("Intercept", *self.regressors)}


MADE = {
    "even": Made("intraclass correlation 0.3, 1 to 20 rows a person, 3.4 on average"),
    "many": Made("intraclass correlation 0.1, 1 to 60 rows a person, 12 on average", 0.1, 12.0),
    "unequal": Made(
        "errors that grow with the size of w, intraclass correlation 0.3, 3.4 rows a person on average",
        spread=lambda w: 0.4 + 0.6 * np.abs(w),
    ),
    "ten": Made(
        "ten regressors in pairs of correlation 0.8, bounds three times as wide as most of them, 3.4 rows a person on "
        "average",
        regressors=tuple(PAIRS),
    ),
}


@dataclass(frozen=True)
class Cell:
    """A model, persons and their number."""

    model: str
    name: str
    persons: int
    relation: str = "replace-one"

    @property
    def words(self) -> str:
        return f"{self.model} {self.name} {self.persons} {self.relation}"

    @property
    def title(self) -> str:
        return f"{self.model.capitalize()}: {MADE[self.name].words}"


CELLS = [
    *(Cell("linear", "even", n) for n in (1_000, 3_000, 10_000)),
    Cell("linear", "even", 3_000, "add-remove"),
    *(Cell("logistic", "even", n) for n in (1_000, 3_000, 10_000)),
    Cell("logistic", "even", 3_000, "add-remove"),
    Cell("probit", "even", 3_000),
    *(Cell(model, "many", 3_000) for model in ("linear", "logistic")),
    *(Cell("linear", "unequal", n) for n in (3_000, 10_000)),
    *(Cell("poisson", "even", n) for n in (3_000, 10_000)),
    Cell("poisson", "even", 3_000, "add-remove"),
    Cell("poisson", "many", 3_000),
    *(Cell(model, "ten", 10_000) for model in ("linear", "logistic", "poisson")),
]


def schema(cell: Cell) -> tc.Schema:
    wide = cell.name == "ten"
    real = tc.Real(-20, 20) if wide else tc.Real(-4, 5)
    response = {"linear": real, "poisson": tc.Integer(0, 60)}.get(cell.model, tc.Boolean())
    regressors: dict[str, Any] = {"x": tc.Real(-1, 1), "w": tc.Real(-3, 3), "b": tc.Boolean()}
    regressors = {name: tc.Real(-6, 6) for name in PAIRS} if wide else regressors
    return tc.Schema({"who": tc.PrivacyUnit(60), **regressors, "y": response})


def draw(cell: Cell, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Rows of persons whose number grows with the person's effect."""
    made, n = MADE[cell.name], cell.persons
    effect = rng.normal(0, 1, n)
    mean = (made.rows - 1) * np.exp(0.4 * effect - 0.08)
    count = 1 + np.minimum(rng.poisson(mean), 19 if made.rows < 10 else 59)
    who = np.repeat(np.arange(n), count)
    if cell.name == "ten":
        found = pairs_of(who, n, rng)
    else:
        w = np.clip(rng.normal(0, 1, n), -3, 3)[who]
        found = {"x": rng.uniform(-1, 1, len(who)), "w": w, "b": (rng.random(n) < 0.4)[who]}
    error = math.sqrt(made.correlation) * effect[who] + math.sqrt(1 - made.correlation) * rng.normal(0, 1, len(who))
    truth = made.truth(cell.model)
    eta = truth["Intercept"] + sum(truth[name] * x for name, x in found.items())
    if cell.model == "linear":
        y = eta + 0.7 * error * (1.0 if made.spread is None else made.spread(found["w"]))
    elif cell.model == "poisson":
        # a person's factor has mean 1
        y = np.minimum(rng.poisson(np.exp(eta + 0.4 * effect[who] - 0.08)), 60)
    else:  # uniform within everyone's rows, so that the mean of y is the model's
        y = ndtr(error) < (expit(eta) if cell.model == "logistic" else ndtr(eta))
    return {"who": who, **found, "y": y}


def pairs_of(who: np.ndarray, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Ten regressors of rows, in five pairs."""
    x = math.sqrt(0.5) * (rng.normal(0, 1, (n, 10))[who] + rng.normal(0, 1, (len(who), 10)))
    x[:, 1::2] = 0.8 * x[:, ::2] + 0.6 * x[:, 1::2]
    return {f"x{j}": np.clip(x[:, j], -6, 6) for j in range(10)}


def simulated(cell: Cell, repeats: int) -> list[dict[str, Any]]:
    """Return the lines of a cell, one for each price."""
    rng, facts = np.random.default_rng(cell.persons), schema(cell)
    made = MADE[cell.name]
    query = tc.Regression(f"y ~ {' + '.join(made.regressors)}", model=cell.model)
    known = cell.persons if cell.relation == "replace-one" else None
    shapes = {
        words: design(query, Public(facts, cell.relation, known), Cost.of(**price)) for words, price in PRICES.items()
    }
    found, leaned = {words: Found() for words in shapes}, dict[str, list[float]]({words: [] for words in shapes})
    named, held = made.truth(cell.model), list[np.ndarray]()
    truth = np.array(list(named.values()))
    for _ in range(repeats):
        base = rows_of(query, draw(cell, rng), facts, Cost.of(rho=1))
        places = [base.layout.names.index(name) for name in named]
        ordinary = base.ordinary()[1][places]
        naive, error = (one[places] for one in replace(base, who=None).ordinary())
        held.append(np.abs(naive - truth) <= 1.959964 * error)
        for words, shape in shapes.items():
            one = found[words]
            if one.hopeless:
                continue
            fit = replace(base, shape=shape).fit(rng)
            one.asked += 1
            if fit.reasons[0] is not None:
                one.reasons[" ".join(fit.reasons[0].split()[:3])] += 1
                continue
            one.values.append(fit.values[places])
            one.errors.append(fit.std_errors[places])
            one.ordinary.append(ordinary)
            leaned[words].append(leaning(fit.notes))
        if all(one.hopeless for one in found.values()):
            break
    rows = {"naive": float(np.mean(held)), "naive_worst": float(np.mean(held, axis=0).min())}
    return [
        {"cell": cell.words, "price": words, **line(one, truth), **rows, "leaning": float(np.mean(leaned[words] or 0))}
        for words, one in found.items()
    ]


def leaning(notes: tuple[str, ...]) -> float:
    """Return how far variances went towards their bound, in percent, from the notes of a fit."""
    said = [one for one in notes if "variances go " in one]
    return float(said[0].split("variances go ")[1].split("%")[0]) if said else 0.0


def row(cell: Cell, one: dict[str, Any]) -> str:
    head = f"| {cell.persons:,} | {one['price']}, {cell.relation} | {one['simulations']:,} |"
    naive = f"{100 * one['naive']:.0f}, {100 * one['naive_worst']:.0f} |"
    if "coverage" not in one:
        return f"{head} – | – | – | – | – | – | {100 * one['silent']:.1f} | {naive}"
    return (
        f"{head} {100 * one['coverage']:.1f} ± {100 * one['coverage_error']:.1f} "
        f"| {100 * one['worst']:.1f} ± {100 * one['worst_error']:.1f} | {one['width']:.2f} | {one['ratio']:.2f} "
        f"| {one['bias']:+.2f} | {one['leaning']:.0f} | {100 * one['silent']:.1f} | {naive}"
    )


def page() -> Iterator[str]:
    known = kept(KEPT)
    yield INTRODUCTION
    title = ""
    for cell in CELLS:
        rows = [known[cell.words, price] for price in PRICES if (cell.words, price) in known]
        if rows and cell.title != title:
            title = cell.title
            yield f"\n## {title}\n\n`y ~ {' + '.join(MADE[cell.name].regressors)}`\n\n{HEAD}"
        yield from (row(cell, one) for one in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--only", nargs="*", default=[""])
    parser.add_argument("--repeats", type=int, default=2_000)
    given, start = parser.parse_args(), time.monotonic()
    asked = [one for one in CELLS if any(one.words.startswith(words) for words in given.only)]
    for cell in [] if given.page else asked:
        found = simulated(cell, 20 if given.quick else given.repeats)
        print("\n".join(map(json.dumps, found)), f"{time.monotonic() - start:.0f} s", flush=True)
        if not given.quick:
            keep(KEPT, found)
    if not given.quick:
        written(PAGE, page())
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
