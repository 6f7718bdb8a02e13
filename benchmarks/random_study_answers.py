"""Coverage given an answer, and sizes of tests, of questions of studies drawn at random (`random_studies`).

    python benchmarks/random_study_answers.py [--asks shares,totals,...] [--first 0] [--studies 12] [--repeats 40]
    python benchmarks/random_study_answers.py --page FILE ...

Studies first ... first + studies - 1 of every four questions, which share studies and tables.  A line for each term
that holds in fewer than 93% of its answers by more than 2.33 Monte-Carlo standard errors (by chance: one in a hundred),
for each test of what is true that rejects at 5% by as much too often, for each exception; or, with --all, each term.
Then, of each question, all its terms together.  --page writes docs/reference/random-studies.md from what was printed.
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import random_study_models as models
import random_study_more as more
import random_study_questions as questions
from random_studies import Study
from random_study_models import model_of
from random_study_questions import Ask, Found, Large
from random_tables import Table

import tacit as tc

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "random-studies.md"
INTRODUCTION: Final = """# Further questions on tables drawn at random

What [default questions on tables drawn at random](random-tables.md) leave out: comparisons, tests, survival, other
models, laws, densities, several parties, synthetic rows. Every four questions share studies, and nothing of a study is
chosen by hand: all is drawn from a seed by `benchmarks/random_studies.py`, committed before any study was simulated.
Columns are those of the first page without heaps, zeros or counts that nobody declared, and without persons; models
hold in every row, so that what is missed is an answer's fault. Truths are those of the law, or of the clamped values of
600,000 rows. Written by `benchmarks/random_study_answers.py --page`.

*Held*: 95% intervals of all terms, of those without a reason. *Answers*: the share of intervals without a reason.
*Lines*: studies and terms that hold in fewer than 93% of their answers by more than 2.33 Monte-Carlo standard errors
(one in a hundred by chance), which are listed below; with few answers also where one of two was missed.

| question | studies | tables of each | held, % | answers | answers, % | lines |
|---|---:|---:|---:|---:|---:|---:|
{totals}

{asked}

## Tests of what is true

Independence of two columns that are independent (by counts, and by cells of numbers), equal means, coefficients of 0
(three at once, of five regressors), hazards that are equal: how often they are rejected at 5%.

| question | studies | tables of each | rejected, % | tests | lines |
|---|---:|---:|---:|---:|---:|
{tests}

## What did not hold

Of ten tables at most seven hold in 1.2% of terms by chance, and so did most lines of seven in ten. The others have four
causes. **Nearly all rows in one or two bins** of a response, with `bins="auto"` and bounds that fit a few far values,
or are four times too wide: medians, Huber's slopes and correlations are then of what bins hide, and too near to 0
(cells, correlations). Standard errors have it since ([fits to histograms](histogram-fits.md)); narrower bounds
of the response, or a question of its own (`Regression`), tell more.
**A kernel, a polynomial or a series too smooth** for the column (a long tail, a density that begins with a jump within
bounds four times too wide): bandwidth and degree follow the bounds, the rows and the price alone, and limits are of
what they resolve; a note says so where the counts show it, which noise may hide.
**Ratios whose denominator is hardly ever clear** of 0: in the few releases that say it is, the denominator is too
large, so that many of their intervals are too low; of all releases at most 5% are wrong. Since these tables were made,
a lower limit alone is an answer, too ([few rows](contrasts.md#ratios-of-few-rows-and-of-rare-events)).
**One or two answers** in ten releases (regressions of 280 rows).

| question | study | table | term | held | answers | too low |
|---|---|---|---|---:|---:|---:|
{lines}

## What was no answer and no reason

Errors and warnings that a user would see, and limits that are infinite without a reason. Medians of survival without an
upper limit are listed still, and have a note since (a reason would leave as answers the releases whose curves fell far
by chance). Means of a fitted law (I78) have an answer where the estimate is within its box, and fits to cells no
warning; studies whose number ends in 100 or more were drawn after that. I45 is `predict` of a fit that has a reason,
and I14 a band asked of intervals whose ends were selected for another level: both say what to do.

| question | study | table | what | tables |
|---|---|---|---|---|
{errors}
"""
SHARING: Final = 4
"""Questions, one after another, that are asked of the same studies."""
ASKS: Final[dict[str, Ask]] = {
    "differences": questions.differences,
    "shares": questions.shares,
    "totals": questions.totals,
    "weighted": questions.weighted,
    "functions": questions.functions,
    "again": questions.again,
    "independence": questions.independence,
    "joint tests": questions.joint_tests,
    "survival": questions.survival,
    "predictions": models.predictions,
    "logistic": model_of("one", "logistic"),
    "probit": model_of("two", "probit"),
    "gamma": model_of("cost", "gamma"),
    "Huber": model_of("score", "huber", "linear"),
    "overdispersed": model_of("visits", "poisson"),
    "likelihood": models.likelihood,
    "sufficient": models.sufficient,
    "correlations": more.correlations,
    "inequality": more.inequality,
    "smooth": more.smooth,
    "kernel": more.kernel,
    "cells": more.cells,
    "family of cells": more.family_of_cells,
    "many quantiles": more.many_quantiles,
    "ranges": more.ranges,
    "unlisted": more.unlisted,
    "parties": more.parties,
    "party models": more.party_models,
    "synthetic": more.synthetic,
    "bootstrap": more.bootstrap,
    "own statistics": more.own_statistics,
}


class Tally:
    """What was found of one term: held, answers, all, too low; of a test: rejected."""

    def __init__(self) -> None:
        self.held = self.answers = self.all = self.low = 0
        self.test = False

    def add(self, one: Found) -> None:
        """Count an answer."""
        self.all += 1
        self.test = one.test
        if one.reason or (math.isinf(one.low + one.high) and math.isnan(one.truth)):
            return
        self.answers += 1
        self.held += one.low >= 0.05 if one.test else one.low <= one.truth <= one.high
        self.low += one.high < one.truth

    @property
    def bad(self) -> bool:
        """Whether it holds too seldom, or rejects too often."""
        level = 0.95 if self.test else 0.93
        n = max(self.answers, 1)
        return self.answers > 0 and level - self.held / n > 2.33 * math.sqrt(level * (1 - level) / n)


def of_study(
    name: str,
    study: Any,
    large: Large,
    tables: list[Table],
    every: bool,
    ask: Any = None,
    bad: Callable[[Tally], bool] = lambda tally: tally.bad,
) -> np.ndarray:
    """Ask a question of tables of a study; return held, answers, all, lines of intervals and of tests, shape (2, 4).

    ask: the question, by default that of the name.  bad: whether a term has a line.
    """
    ask = ask or ASKS[name]
    tallies, odd = dict[str, Tally](), Counter[str]()
    for table in tables:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                for one in ask(study, table, large):
                    tallies.setdefault(one.term, Tally()).add(one)
                    if not one.test and not one.reason and not math.isfinite(one.low + one.high):
                        odd[f"not finite without a reason: {one.term}"] += 1
        except tc.TacitError as problem:
            odd[str(problem)[:110]] += 1
        except Exception as problem:  # what a user would see as a traceback is a finding
            where = traceback.extract_tb(problem.__traceback__)[-1]
            odd[f"{type(problem).__name__}: {str(problem)[:90]} ({Path(where.filename).name}:{where.lineno})"] += 1
    for words, many in odd.items():
        print(f"! {name} | {study.number} | {study.words} | {words} | {many} of {len(tables)}", flush=True)
    sums = np.zeros((2, 4), dtype=int)
    for term, t in tallies.items():
        sums[int(t.test)] += (t.held, t.answers, t.all, bad(t))
        if bad(t) or every:
            kind = "test" if t.test else f"{t.low} too low"
            print(
                f"{name} | {study.number} | {study.words} | {term}: {t.held} of {t.answers} in {t.all}, {kind}",
                flush=True,
            )
    return sums


def of_group(names: list[str], first: int, studies: int, repeats: int, every: bool) -> None:
    """Ask questions that share studies, and print what was found."""
    place = 1_000 * (list(ASKS).index(names[0]) // SHARING)
    sums, seconds = {name: np.zeros((2, 4), dtype=int) for name in names}, Counter[str]()
    for number in range(place + first, place + first + studies):
        study = Study(number)
        large = Large(study)
        tables = [study.draw_table(np.random.default_rng([15, number, i])) for i in range(repeats)]
        for name in names:
            start = time.process_time()
            sums[name] += of_study(name, study, large, tables, every)
            seconds[name] += time.process_time() - start
    for name in names:
        (held, answers, everything, lines), (kept, done, _, over) = sums[name].tolist()
        size = f"tests rejected {100 * (1 - kept / done):.1f}% of {done:,}, {over} lines; " if done else ""
        part = 100 * answers / max(everything, 1)
        print(
            f"= {name}: {studies} studies, {repeats} tables: held {100 * held / max(answers, 1):.1f}% of {answers:,} "
            f"answers, {part:.0f}% of {everything:,}; {lines} lines; {size}{seconds[name]:.0f} s",
            flush=True,
        )


def write(files: list[str]) -> None:
    """Write the page; questions of several files have a row for each."""
    whole = re.compile(
        r"= (.*): (\d+) studies, (\d+) tables: held (.*)% of (.*) answers, (.*)% of [\d,]+; (\d+) lines; "
        r"(?:tests rejected (.*)% of (.*), (\d+) lines; )?.*"
    )
    term = re.compile(r"(.*?) \| (\d+) \| (.*) \| (.*): (\d+) of (\d+) in \d+, (?:(\d+) too low|test)")
    error = re.compile(r"! (.*?) \| (\d+) \| (.*) \| (.*) \| (\d+) of \d+")
    totals, tests, lines = list[tuple[str, str]](), list[tuple[str, str]](), list[tuple[str, str]]()
    errors = Counter[tuple[str, str, str, str]]()
    for text in (line for file in files for line in Path(file).read_text(encoding="utf-8").splitlines()):
        if found := whole.fullmatch(text):
            name, studies, tables, held, answers, part, bad, rejected, done, over = found.groups()
            if answers != "0":
                totals.append((name, f"| {name} | {studies} | {tables} | {held} | {answers} | {part} | {bad} |"))
            if rejected is not None:
                tests.append((name, f"| {name} | {studies} | {tables} | {rejected} | {done} | {over} |"))
        elif found := error.fullmatch(text):
            name, number, table, what, many = found.groups()
            what = re.sub(r"^\w+ (?=\[)", "", what)  # a code is said once
            # one and the same error, with other numbers in it
            errors[name, number, table, re.split(r": noise|[\d.]{5,}", what)[0]] += int(many)
        elif found := term.fullmatch(text):
            lines.append((found[1], f"| {' | '.join(one or 'test' for one in found.groups())} |"))
    odd = [(one[0], f"| {' | '.join(one)} | {many} |") for one, many in errors.items()]

    page = INTRODUCTION.format(
        asked=described(ASKS),
        totals=in_order(totals, ASKS),
        tests=in_order(tests, ASKS),
        lines=in_order(lines, ASKS),
        errors=in_order(odd, ASKS),
    )
    PAGE.write_text(page, encoding="utf-8")


def in_order(rows: list[tuple[str, str]], asks: Mapping[str, Any]) -> str:
    """Return rows of a table, each beside its question's name, in the order of the questions."""
    return "\n".join(row for _, row in sorted(rows, key=lambda one: list(asks).index(one[0])))


def described(asks: Mapping[str, Any]) -> str:
    """Return the questions as a list, each with what its function says of it."""
    return "\n".join(f"- *{name}*: {(ask.__doc__ or '').splitlines()[0]}" for name, ask in asks.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--asks", default=",".join(ASKS))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--studies", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--page", nargs="+", metavar="FILE", help="write the page from what was printed")
    given = parser.parse_args()
    if given.page:
        write(given.page)
        return
    print("question | study | table | terms", flush=True)
    wanted = [name for name in ASKS if name in given.asks.split(",")]
    for _, names in itertools.groupby(wanted, lambda name: list(ASKS).index(name) // SHARING):
        of_group(list(names), given.first, given.studies, given.repeats, given.all)


if __name__ == "__main__":
    main()
