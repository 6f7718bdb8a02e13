"""Coverage of questions that cross features, of tables drawn from seeds (`crossed_designs`).

    python benchmarks/crossed_features.py [--cases NAME,...] [--first 0] [--settings 4] [--repeats 20] [--all]

A line for each term that holds in so few of its answers that an interval of 93% would do so in one case of a thousand,
for each error, and for each interval without a width that misses; with --all, for each term.  Then,
of each case, all terms together.
"""

from __future__ import annotations

import argparse
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from crossed_designs import CASES, Setting
from random_person_answers import seldom
from random_study_answers import Tally

import tacit as tc


def of_setting(name: str, number: int, repeats: int, every: bool) -> np.ndarray:
    """Ask a case's questions of its tables; return held, answers, all, lines."""
    case, facts = CASES[name]
    setting, tallies, odd = Setting(name, number, **facts), dict[str, Tally](), Counter[str]()
    reasons = Counter[str]()
    for i in range(repeats):
        rng = np.random.default_rng([16, number, i, *name.encode()])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                for one in case(setting, rng):
                    tallies.setdefault(one.term, Tally()).add(one)
                    if one.reason:
                        reasons[f"{one.term}: {one.reason}"] += 1
                    elif not one.low <= one.high:
                        odd[f"no interval and no reason: {one.term}: {one.low} to {one.high}"] += 1
                    elif one.low == one.high and one.low != one.truth:
                        odd[f"an interval of no width: {one.term}: {one.low}, not {one.truth:g}"] += 1
        except tc.TacitError as problem:
            odd[str(problem)[:160]] += 1
        except Exception as problem:  # what a user would see as a traceback is a finding
            where = traceback.extract_tb(problem.__traceback__)[-1]
            odd[f"{type(problem).__name__}: {str(problem)[:90]} ({Path(where.filename).name}:{where.lineno})"] += 1
    for words, many in odd.items():
        print(f"! {name} | {number} | {setting.words} | {words} | {many} of {repeats}", flush=True)
    if every:
        for words, many in reasons.items():
            print(f"? {name} | {number} | {setting.words} | {words} | {many} of {repeats}", flush=True)
    sums = np.zeros(4, dtype=int)
    for term, t in tallies.items():
        sums += (t.held, t.answers, t.all, seldom(t))
        if seldom(t) or every:
            print(f"{name} | {number} | {setting.words} | {term}: {t.held} of {t.answers} in {t.all}, {t.low} too low",
                  flush=True)  # fmt: skip
    return sums


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--settings", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    for name in given.cases.split(","):
        start, sums = time.process_time(), np.zeros(4, dtype=int)
        for number in range(given.first, given.first + given.settings):
            sums += of_setting(name, number, given.repeats, given.all)
        held, answers, everything, lines = sums.tolist()
        print(
            f"= {name}: {given.settings} settings, {given.repeats} tables: held {100 * held / max(answers, 1):.1f}% of "
            f"{answers:,} answers, {100 * answers / max(everything, 1):.0f}% of {everything:,}; {lines} lines; "
            f"{time.process_time() - start:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
