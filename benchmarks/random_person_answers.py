"""Coverage of questions about persons with several rows, of tables drawn at random (`random_persons`).

    python benchmarks/random_person_answers.py [--asks counts,totals,...] [--first 0] [--designs 8] [--repeats 10]
    python benchmarks/random_person_answers.py --page NAME=FILE ...

Every four questions share designs, first ... first + designs - 1.  A line for each term that holds in so few of its
answers that an interval of 93% would hold in fewer in one case of a thousand; with --all, for each term; then, of each
question, all terms together.  --page writes docs/reference/random-persons.md from what was printed with --all.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import random_person_models as models
import random_person_questions as questions
from random_person_questions import Ask
from random_persons import Persons
from random_study_answers import Tally, described, in_order, of_study
from random_study_questions import Large
from scipy.stats import binom

CHANCE: Final = 1e-3
PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "random-persons.md"
INTRODUCTION: Final = """# Persons with several rows, drawn at random

Questions about [persons with several rows](../howto/persons.md), as a user asks them first, of tables drawn from seeds
by `benchmarks/random_persons.py`, which was committed before any was simulated: 500 to 60,000 rows; geometric, Poisson,
heavy-tailed and constant numbers of rows a person; `max_rows` below the largest of them (70% to 95% of persons have
fewer rows, or as many), at it, or 2 or 10 times as large; rows of a person alike from not at all to entirely in x, and
sizes that go with values; both relations; prices of all kinds. Truths are what answers say they estimate: of 16 times
as many persons, 100,000 at least, or of the table. A new table is drawn for each release, so that intervals must hold
under sampling of persons. Written by `benchmarks/random_person_answers.py --page`.

*Held*: 95% intervals of all terms, of those without a reason. *Answers*: the share of intervals without a reason.
*Lines*: designs and terms that hold in so few of their answers that intervals of 93% would do so in one case of a
thousand. *First*: designs that were looked at; *before* is the code before what they found was mended. *Fresh*: designs
that were simulated once, after it; questions without them were not simulated again. Designs are few, and only what is
far off shows.

**What was mended.** Weights of persons were rounded down where they are shared out over cells, which made counts of
persons by a level of rows, and of levels that nobody listed, too low; a test has it to the unit
(`tests/mechanisms/test_weighted_forms.py`), since few of these tables have so many persons that intervals miss for it.
**What was not.** A kernel or a polynomial too smooth for the column, below.

| question | designs | number | tables of each | held, % | answers | answers, % | lines |
|---|---|---:|---:|---:|---:|---:|---:|
{totals}

{asked}

## Lines

Designs and terms as above, and kinds of terms, of all designs of a question together (its terms of one table go
together, so that these are fewer than they count).

| question | designs | design | table | term | held | answers | too low |
|---|---|---:|---|---|---:|---:|---:|
{lines}

## Errors

What a user would see in place of an answer, and limits that are infinite without a reason.

| question | designs | design | table | what | tables |
|---|---|---:|---|---|---|
{errors}
"""
WHOLE: Final = re.compile(
    r"= (.*): (\d+) studies, (\d+) tables: held (.*)% of (.*) answers, (.*)% of [\d,]+; (\d+) lines; .*"
)
TERM: Final = re.compile(r"(.*?) \| (\d+) \| (.*) \| (.*): (\d+) of (\d+) in \d+, (?:(\d+) too low|test)")
ERROR: Final = re.compile(r"! (.*?) \| (\d+) \| (.*) \| (.*) \| (\d+) of \d+")
KIND: Final = re.compile(r".*: |.* of |.* in |.* at ")
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


def lines_of(name: str, texts: list[str]) -> Iterator[tuple[str, str]]:
    """Yield question and row of each term that holds too seldom, then of each kind of term."""
    kinds = dict[tuple[str, str], Tally]()
    for found in filter(None, map(TERM.fullmatch, texts)):
        question, number, table, term, held, answers, low = found.groups()
        one = Tally()
        one.held, one.answers, one.low, one.test = int(held), int(answers), int(low or 0), low is None
        if seldom(one):
            row = f"{number} | {table} | {term} | {held} | {answers} | {'test' if one.test else low}"
            yield question, f"| {question} | {name} | {row} |"
        kind = kinds.setdefault((question, (KIND.match(term) or ["every other term"])[0].strip(" :")), Tally())
        kind.held, kind.answers, kind.low = kind.held + one.held, kind.answers + one.answers, kind.low + one.low
        kind.test |= one.test
    for (question, kind), one in kinds.items():
        if seldom(one):
            row = f"all | | {kind} | {one.held} | {one.answers} | {'test' if one.test else one.low}"
            yield question, f"| {question} | {name} | {row} |"


def write(files: dict[str, str]) -> None:
    """Write the page."""
    totals, lines, errors = list[tuple[str, str]](), list[tuple[str, str]](), list[tuple[str, str]]()
    for name, file in files.items():
        texts = Path(file).read_text(encoding="utf-8").splitlines()
        lines += lines_of(name, texts)
        for found in filter(None, map(WHOLE.fullmatch, texts)):
            question, *rest = found.groups()
            totals.append((question, f"| {question} | {name} | {' | '.join(rest)} |"))
        for found in filter(None, map(ERROR.fullmatch, texts)):
            question, *rest = found.groups()
            errors.append((question, f"| {question} | {name} | {' | '.join(rest)} |"))

    words = {"totals": in_order(totals, ASKS), "lines": in_order(lines, ASKS), "errors": in_order(errors, ASKS)}
    PAGE.write_text(INTRODUCTION.format(asked=described(ASKS), **words), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--asks", default=",".join(ASKS))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--designs", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--page", nargs="+", metavar="NAME=FILE", help="write the page from what was printed")
    given = parser.parse_args()
    if given.page:
        write(dict(one.split("=", 1) for one in given.page))
        return
    print("question | design | table | terms", flush=True)
    wanted = [name for name in ASKS if name in given.asks.split(",")]
    for start in range(0, len(ASKS), SHARING):
        names = [name for name in list(ASKS)[start : start + SHARING] if name in wanted]
        if names:
            of_group(names, given.first, given.designs, given.repeats, given.all)


if __name__ == "__main__":
    main()
