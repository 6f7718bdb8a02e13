"""What standard errors of logistic models allow for a guessed curvature, beside rules that were tried.

    python benchmarks/guess_rules.py [--set 1] [--repeats 200] [--only PLACE ...] [--keep FOLDER] [--release]

Designs of `guess_designs.py`; tables are drawn anew in every repetition and released by the mechanism's own steps, with
seeded noise.  Each release is read by each rule (`RULES`).  --keep: a folder for releases, which are read from there
again.  --release: releases are only made.  A line has answers; the deviation of a release less the fit without privacy
to the same rows, over privacy's standard error, of coefficients (least, mean, largest); the coverage of the truth by
intervals of slopes (mean, least); how often the true slopes are rejected together at 5%; and the error of slopes over
that of the fit without privacy.  Prints to the terminal.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import contextlib
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from frontier import joint_p
from frontier_designs import Cell
from guess_designs import drawn_guesses, wide_and_rare

from tacit.method.regression.estimate import fit_release
from tacit.method.regression.estimate_coefficients import score_step
from tacit.method.regression.pilots import glm_pilot
from tacit.testing.simulated_regressions import rows_of

TRIED = 20
"""Repetitions after which a design without an answer is left."""
BEFORE = 0.15
"""The error of a guess that earlier versions assumed of every model."""


def none_left(curve: np.ndarray, square: np.ndarray, error: float) -> np.ndarray:
    """Allow for no error of a guess."""
    return 0 * curve


def whole(curve: np.ndarray, square: np.ndarray, error: float) -> np.ndarray:
    """Allow for the whole error in each direction."""
    return error**2 * float(np.trace(square @ curve)) * curve


@contextlib.contextmanager
def of_one_error() -> Iterator[None]:
    """Assume the same error of every guess."""
    with mock.patch.object(glm_pilot, "told_error", return_value=BEFORE):
        yield


@contextlib.contextmanager
def in_each_direction() -> Iterator[None]:
    """Read releases as earlier versions did."""
    with of_one_error(), mock.patch.object(score_step, "left_in_step", whole):
        yield


RULES: dict[str, Callable[[], contextlib.AbstractContextManager[None]]] = {
    "before": in_each_direction,
    "the same error, on average": of_one_error,
    "now": contextlib.nullcontext,
}


def cells_of(number: int) -> tuple[Cell, ...]:
    """Return the cells of a set; -1: those at the edge of an answer."""
    return wide_and_rare() if number < 0 else drawn_guesses(number)


def unanswered(found: list[tuple[Any, np.ndarray]]) -> bool:
    """Return whether no release has an answer."""
    return all(any(fit_release(one).reasons) for one, _ in found)


def releases(number: int, place: int, repeats: int, keep: Path | None) -> list[tuple[Any, np.ndarray]]:
    """Return releases of a cell, each with the fit without privacy to the same rows."""
    cell, rng = cells_of(number)[place], np.random.default_rng([21, number + 1, place])
    study, found = cell.study, list[tuple[Any, np.ndarray]]()
    kept = None if keep is None else keep / f"{number}-{place}.pickle"
    if kept is not None and kept.exists():
        found, rng.bit_generator.state = pickle.loads(kept.read_bytes())
    while len(found) < repeats and not (len(found) == TRIED and unanswered(found)):
        rows = rows_of(study.query, study.draw(rng, cell.rows), study.schema, cell.cost, cell.neighbors)
        found.append((rows.release(rng), rows.ordinary()[0]))
    if kept is not None:
        kept.write_bytes(pickle.dumps((found, rng.bit_generator.state)))
    return found[:repeats]


def line(found: list[tuple[Any, np.ndarray]], truth: np.ndarray) -> str:
    """Return the line of a rule."""
    read = list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]]()
    for release, ordinary in found:
        fit = fit_release(release)
        if not any(fit.reasons):
            noise = np.sqrt(np.diag(fit.cov_privacy))
            read.append((fit.values, ordinary, noise, fit.std_errors, joint_p(fit, (fit.values - truth)[1:])[0]))
    start = f"{len(read)} of {len(found)}"
    if len(read) < TRIED:
        return start
    values, ordinary, noise, sizes, joint = (np.array(one) for one in zip(*read, strict=True))
    spread = ((values - ordinary) / noise).std(axis=0)
    cover = 100 * (np.abs(values - truth) < 1.959964 * sizes).mean(axis=0)[1:]
    error, without = (((one - truth)[:, 1:] ** 2).mean(axis=0).sum() for one in (values, ordinary))
    return (
        f"{start} | {spread.min():.2f} {spread.mean():.2f} {spread.max():.2f} | {cover.mean():.1f} ({cover.min():.1f}) "
        f"| {100 * (joint < 0.05).mean():.1f} | {np.sqrt(error / without):.2f}"
    )


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
        cell = cells_of(options.set)[place]
        found = releases(options.set, place, options.repeats, options.keep)
        print(place, cell.words, f"{cell.rows:,}", cell.cost, cell.neighbors, flush=True)
        for name, rule in RULES.items() if not options.release else ():
            with rule():
                print("   ", name, "|", line(found, np.array(list(cell.study.truth.values()))), flush=True)


if __name__ == "__main__":
    main()
