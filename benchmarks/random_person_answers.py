"""Coverage of questions about persons with several rows, of tables drawn at random (`random_persons`).

    python benchmarks/random_person_answers.py [--asks counts,totals,...] [--first 0] [--designs 8] [--repeats 10]
    python benchmarks/random_person_answers.py --page NAME=FILE ...

Every question has designs of its own, first ... first + designs - 1.  A line for each term that holds in so few of its
answers that an interval of 93% would hold in fewer in one case of a thousand; with --all, for each term; then, of each
question, all terms together.  --page writes docs/reference/random-persons.md from what was printed.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from typing import Final

import numpy as np
import random_person_models as models
import random_person_questions as questions
from random_person_questions import Ask
from random_persons import Persons
from random_study_answers import Tally, of_study
from random_study_questions import Large
from scipy.stats import binom

CHANCE: Final = 1e-3
ASKS: Final[dict[str, Ask]] = {
    "counts": questions.counts,
    "totals": questions.totals,
    "averages": questions.averages,
    "by person": questions.by_person,
    "by rows": questions.by_rows,
    "weights": questions.weights,
    "spreads": questions.spreads,
    "quantiles": questions.quantiles,
    "cells": questions.cells,
    "proportions": questions.proportions,
    "again": questions.again,
    "linear": models.linear,
    "logistic": models.logistic,
    "Poisson": models.poisson,
    "models of cells": models.models_of_cells,
    "survival": models.survival,
    "bootstrap": models.bootstrap,
    "synthetic": models.synthetic,
    "additive": models.additive,
    "blocks": models.blocks,
    "sufficient": models.sufficient,
    "densities": models.densities,
    "parties": models.parties,
    "party models": models.party_models,
}
SHARING: Final = 4
"""Questions, one after another, that are asked of the same designs and tables."""


def seldom(one: Tally) -> bool:
    """Return whether a term holds too seldom: one case in a thousand at 93% (a test: is rejected too often, at 95%)."""
    return bool(one.answers and binom.cdf(one.held, one.answers, 0.95 if one.test else 0.93) < CHANCE)


def of_group(names: list[str], first: int, designs: int, repeats: int, every: bool) -> None:
    """Ask questions that share designs, and print what was found."""
    place = 1_000 * (list(ASKS).index(names[0]) // SHARING)
    sums, seconds = {name: np.zeros((2, 4), dtype=int) for name in names}, Counter[str]()
    for number in range(place + first, place + first + designs):
        study = Persons(number)
        large = Large(study)  # type: ignore[arg-type]
        tables = [study.draw_table(np.random.default_rng([35, number, i])) for i in range(repeats)]
        for name in names:
            start = time.process_time()
            sums[name] += of_study(name, study, large, tables, every, ASKS[name], seldom)
            seconds[name] += time.process_time() - start
    for name in names:
        (held, answers, everything, lines), (kept, done, _, over) = sums[name].tolist()
        size = f"tests rejected {100 * (1 - kept / done):.1f}% of {done:,}, {over} lines; " if done else ""
        part = 100 * answers / max(everything, 1)
        print(
            f"= {name}: {designs} studies, {repeats} tables: held {100 * held / max(answers, 1):.1f}% of {answers:,} "
            f"answers, {part:.0f}% of {everything:,}; {lines} lines; {size}{seconds[name]:.0f} s",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--asks", default=",".join(ASKS))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--designs", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    print("question | design | table | terms", flush=True)
    wanted = [name for name in ASKS if name in given.asks.split(",")]
    for start in range(0, len(ASKS), SHARING):
        names = [name for name in list(ASKS)[start : start + SHARING] if name in wanted]
        if names:
            of_group(names, given.first, given.designs, given.repeats, given.all)


if __name__ == "__main__":
    main()
