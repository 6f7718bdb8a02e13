"""Malformed releases of one party among others, of every kind that this version combines.

    python benchmarks/malformed_parties.py [--mutations 3000] [--seed 5]

Three parties answer each of some questions; one release is mutated as `malformed_releases.py` mutates stored ones (odd
values, NaN, huge and negative numbers, keys deleted or renamed, lists cut or exchanged, fields of another release) and
sealed again, so that its digest says nothing.  What can still be read is combined with the others', with common and
random effects, put into a tree of levels in place of each node, and averaged with the party's own; every summary is
printed.  Counted: raw errors of Python, runs past a limit, and estimates that are not finite and have no reason.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from fuzzing import counted
from malformed_releases import MUTATIONS, Found, tried, with_digest

import tacit as tc
from tacit.errors import TacitError
from tacit.release.document import release_from_dict

SCHEMA: Final = tc.Schema(
    {
        "x": tc.Real(0, 60, units="days"),
        "y": tc.Real(0, 10),
        "b": tc.Boolean(),
        "g": tc.Category(["f", "m"]),
        "w": tc.Real(0, 3),
    }
)
PURE: Final = {"epsilon": 2}
PAIR: Final = {"epsilon": 4, "delta": "1e-6"}
QUESTIONS: Final[tuple[tuple[Any, dict[str, Any]], ...]] = (
    (tc.Mean(["x", "y"], by="g"), PURE),
    (tc.Mean("b"), PURE),
    (tc.Mean("x", weights="w"), PURE),
    (tc.Mean("x", laplace_draws=3), PURE),
    (tc.Sum("x", by="g"), PURE),
    (tc.Variance("x"), PURE),
    (tc.Count(by="g"), PURE),
    (tc.DataQuality(["x", "g"]), PURE),
    (tc.Histogram(["x", "g"], bins={"x": 4}), PURE),
    (tc.SufficientStatistics("x", tc.families.Exponential(rate=(0.01, 9)), bounds={"x": (0, 50)}), PURE),
    (tc.SufficientStatistics("x", tc.families.Normal(mean=(0, 60), sd=(1, 40))), PURE),
    (tc.SampleAndAggregate("x", tc.families.Exponential(rate=(0.01, 9)), blocks=9), PURE),
    (tc.Regression("y ~ x + g"), PAIR),
    (tc.Regression("b ~ x", model="logistic"), PAIR),
    (tc.Bootstrap(tc.Mean("x"), replicates=4), PAIR),
    (tc.Bootstrap(tc.Count(by="g"), replicates=4), PAIR),
)
SIZES: Final = {"two": 300, "three": 500, "one": 800}
NODES: Final = {"two": "one", "three": "one"}


def rows_of(rows: int, seed: int) -> dict[str, Any]:
    """Rows of one party."""
    rng = np.random.default_rng([rows, seed])
    return {
        "x": rng.gamma(3, 4, rows),
        "y": rng.uniform(0, 10, rows),
        "b": rng.random(rows) < 0.4,
        "g": rng.choice(["f", "m"], rows),
        "w": rng.uniform(0, 3, rows),
    }


def answers() -> list[dict[str, Any]]:
    """The parties' answers to each question, under both relations, by name."""
    found: list[dict[str, Any]] = []
    for relation in ("replace-one", "add-remove"):
        for query, price in QUESTIONS:
            made: dict[str, Any] = {}
            tables = {name: rows_of(size, len(found)) for name, size in SIZES.items() if name != "one"}
            tables["one"] = {key: np.concatenate([one[key] for one in tables.values()]) for key in SCHEMA}
            for name, table in tables.items():
                most = {k: float(v) * (1 if k == "delta" else 9) for k, v in price.items()}
                budget = tc.Budget(**most, neighbors=relation)
                try:
                    made[name] = tc.Curator(table, SCHEMA, name=name, budget=budget).release(query, **price)
                except TacitError:  # a count of public rows, weights of a public number
                    break
            found += [made] if len(made) == len(SIZES) else []
    return found


def told(found: Found, what: str, case: str, make: Callable[[], Any]) -> None:
    """Combine, estimate and print; an estimate that is not finite needs a reason."""

    def run() -> str:
        made = make()
        estimate = made.estimate() if hasattr(made, "query") or hasattr(made, "releases") else made
        bad = [
            term
            for term, value, error, why in zip(
                estimate.terms, estimate.values, estimate.std_errors, estimate.reasons, strict=True
            )
            if why is None and not (np.isfinite(value) and np.isfinite(error))
        ]
        if bad:
            found.add(f"{what}: NOT FINITE", f"{case}: {bad[:3]}")
        return str(made.summary()) + str(estimate.summary())

    words = tried(found, what, case, run)
    if words is not None:
        found.counts[f"{what}: answered"] += 1
        if "nan" in words.lower().replace("finance", ""):
            found.add(f"{what}: NAN", f"{case}: {words[:300]}")


def swept(mutations: int, seed: int, progress: bool = False) -> Found:
    """Try so many mutations."""
    found, given = Found(), answers()
    documents = [json.loads(one.to_json()) for made in given for one in made.values()]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(mutations):
            rng = random.Random(f"{seed}/{number}")
            made = rng.choice(given)
            party = rng.choice(list(made))
            words, done = copy.deepcopy(made[party].to_dict()), list[str]()
            for _ in range(rng.choice([1, 1, 2])):
                mutate = rng.choice(MUTATIONS)
                try:
                    mutate(rng, words, documents)
                    done.append(mutate.__name__)
                except (LookupError, TypeError, AttributeError, ValueError, OverflowError, RecursionError):
                    continue
            case = f"{number} {type(made[party].query).__name__} {'+'.join(done)}"

            def load(words: dict[str, Any] = words) -> Any:
                try:
                    return release_from_dict(json.loads(json.dumps(with_digest(words))))
                except (ValueError, RecursionError) as problem:
                    if isinstance(problem, TacitError):
                        raise
                    return None  # no JSON at all

            wrong = tried(found, "load", case, load)
            if wrong is None:
                continue
            found.counts["load: loaded"] += 1
            mixed = {**made, party: wrong}
            order = rng.sample(list(mixed), len(mixed))
            mixed = {name: mixed[name] for name in order}
            told(found, "combine", case, lambda mixed=mixed: tc.combine(mixed))
            told(found, "random effects", case, lambda mixed=mixed: tc.combine(mixed, "random"))
            told(found, "average", case, lambda one=wrong, own=made[party]: tc.average([one, own]))

            def levels(mixed: dict[str, Any] = mixed) -> Any:
                return tc.hierarchy(mixed, NODES).estimate("one")

            told(found, "hierarchy", case, levels)
            if progress and number % 500 == 499:
                print(f"… {number + 1:,}: {found.bad()}", flush=True)
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--mutations", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--cases", type=int, default=3)
    options = parser.parse_args()
    made = swept(options.mutations, options.seed, progress=True)
    counted(made.counts, made.cases, options.cases, made.bad())


if __name__ == "__main__":
    main()
