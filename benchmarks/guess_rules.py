"""What standard errors of logistic models allow for a guessed curvature, beside rules that were tried.

    python benchmarks/guess_rules.py [--set 1] [--repeats 200] [--only PLACE ...] [--keep FOLDER] [--release]

Designs of `guess_designs.py`; tables are drawn anew in every repetition and released by the mechanism's own steps, with
seeded noise.  Each release is read by each rule.  --keep: a folder for releases, which are read from there again.
--release: releases are only made.  A line has the deviation of (release less the fit without privacy to the same rows)
over privacy's standard error, the coverage of the truth by intervals of slopes, and how often the true slopes are
rejected together at 5%.  Prints to the terminal.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from frontier_designs import Cell
from guess_designs import drawn_guesses, wide_and_rare

from tacit.testing.simulated_regressions import rows_of

TRIED = 20
"""Repetitions after which a design without an answer is left."""


def cells_of(number: int) -> tuple[Cell, ...]:
    """Return the cells of a set; -1: those at the edge of an answer."""
    return wide_and_rare() if number < 0 else drawn_guesses(number)


def releases(number: int, place: int, repeats: int, keep: Path | None) -> list[tuple[Any, np.ndarray]]:
    """Return releases of a cell, each with the fit without privacy to the same rows."""
    from tacit.method.regression.estimate import fit_release

    cell, rng = cells_of(number)[place], np.random.default_rng([21, number + 1, place])
    study, found, none = cell.study, list[tuple[Any, np.ndarray]](), False
    kept = None if keep is None else keep / f"{number}-{place}.pickle"
    if kept is not None and kept.exists():
        found, rng.bit_generator.state = pickle.loads(kept.read_bytes())
    while len(found) < repeats and not none:
        rows = rows_of(study.query, study.draw(rng, cell.rows), study.schema, cell.cost, cell.neighbors)
        found.append((rows.release(rng), rows.ordinary()[0]))
        none = len(found) == TRIED and all(any(fit_release(one).reasons) for one, _ in found)
    if kept is not None:
        kept.write_bytes(pickle.dumps((found, rng.bit_generator.state)))
    return found[:repeats]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--only", type=int, nargs="*", default=None, help="places of designs")
    parser.add_argument("--keep", type=Path, default=None)
    parser.add_argument("--release", action="store_true")
    options = parser.parse_args()
    places = range(len(cells_of(options.set))) if options.only is None else options.only
    for place in places:
        found = releases(options.set, place, options.repeats, options.keep)
        print(place, cells_of(options.set)[place].words, len(found), flush=True)


if __name__ == "__main__":
    main()
