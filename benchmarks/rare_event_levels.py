"""Logistic, probit and Poisson models of a level in which events are rarer or more frequent: how often intervals hold.

    python benchmarks/rare_event_levels.py [--first 0] [--designs 40] [--releases 8]

A design is a number: the level's share of the rows, events elsewhere and in it, other columns, rows and price are drawn
from it; they were committed before any was simulated.  Prints a line a design, then all of each model: intervals of the
level's coefficient that held, of those given, of releases, and the mean error in standard errors.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from random_tables import PRICES
from scipy.special import expit, logit, ndtr, ndtri

import tacit as tc

MODELS = ("logistic", "probit", "poisson")
LEVELS = ("usual", "rare", "third")


def drawn(number: int) -> dict[str, Any]:
    """Return what a number draws."""
    rng = np.random.default_rng([2026, 11, 28, 19, 1, number])
    elsewhere = float(rng.uniform(0.05, 0.6))
    ratio = float(10 ** rng.uniform(-1.5, -0.2))
    return {
        "model": MODELS[number % 3],
        "rows": int(10 ** rng.uniform(3.3, 4.6)),
        "share": float(rng.uniform(0.03, 0.35)),
        "elsewhere": elsewhere,
        "there": elsewhere * ratio,
        "slope": float(rng.choice([0.0, 0.3, 0.6])),
        "goes with": float(rng.choice([0.0, 0.5])),
        "first": bool(rng.random() < 0.3),
        "price": PRICES[int(rng.integers(len(PRICES)))],
        "relation": str(rng.choice(["replace-one", "add-remove"])),
    }


def table(design: dict[str, Any], rng: np.random.Generator) -> tuple[dict[str, Any], float]:
    """Return a table of a design, and the coefficient of its level."""
    n, share = design["rows"], design["share"]
    level = rng.choice(3, n, p=[(1 - share) * 0.6, share, (1 - share) * 0.4])
    u = np.clip(rng.normal(0, 1, n) + design["goes with"] * (level == 1), -3, 3)
    link = {"logistic": logit, "probit": ndtri, "poisson": np.log}[design["model"]]
    low, high = float(link(design["there"])), float(link(design["elsewhere"]))
    eta = high + (low - high) * (level == 1) + design["slope"] * u
    y = {
        "logistic": lambda: rng.random(n) < expit(eta),
        "probit": lambda: rng.random(n) < ndtr(eta),
        "poisson": lambda: rng.poisson(np.exp(eta)),
    }[design["model"]]()
    return {"y": y, "u": u, "level": np.array(LEVELS)[level]}, low - high


def of_design(number: int, releases: int) -> tuple[str, list[float], int]:
    """Return model, errors in standard errors of the answers, and how many intervals held."""
    design = drawn(number)
    # the rare level may be the first one, against which the others are told
    order = ["rare", "usual", "third"] if design["first"] else list(LEVELS)
    response = tc.Integer(0, 40) if design["model"] == "poisson" else tc.Boolean()
    schema = tc.Schema({"y": response, "u": tc.Real(-3, 3), "level": tc.Category(order)})
    errors, held = list[float](), 0
    for i in range(releases):
        rows, truth = table(design, np.random.default_rng([19, number, i]))
        budget = tc.Budget(**design["price"], neighbors=design["relation"])
        curator = tc.Curator(rows, schema, budget=budget, size_hint=design["rows"])
        found = curator.release(tc.Regression("y ~ u + level", model=design["model"]), **design["price"]).estimate()
        term = "level[T.usual]" if design["first"] else "level[T.rare]"
        place, truth = list(found.terms).index(term), -truth if design["first"] else truth
        if found.reasons[place]:
            continue
        low, high = np.asarray(found.conf_int(0.95), float)[place]
        held += low <= truth <= high
        errors.append(float((found.values[place] - truth) / found.std_errors[place]))
    words = ", ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in design.items())
    print(f"{number} | {words} | {held} of {len(errors)} in {releases}", flush=True)
    return design["model"], errors, held


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--designs", type=int, default=40)
    parser.add_argument("--releases", type=int, default=8)
    given = parser.parse_args()
    start, all_of_it = time.process_time(), {model: (list[float](), [0, 0]) for model in MODELS}
    for number in range(given.first, given.first + given.designs):
        model, errors, held = of_design(number, given.releases)
        all_of_it[model][0].extend(errors)
        all_of_it[model][1][0] += held
        all_of_it[model][1][1] += given.releases
    for model, (errors, (held, asked)) in all_of_it.items():
        print(
            f"= {model}: held {held} of {len(errors)} answers in {asked}; errors in standard errors: mean "
            f"{np.mean(errors):.2f}, deviation {np.std(errors):.2f}; {time.process_time() - start:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
