"""What standard errors of linear models allow for clipped residuals, as it is and as it was.

    python benchmarks/clip_allowances.py [real | drawn | given | heavy ...] [--people FILE] [--set 8] [--repeats 100]
                                         [--only PLACE ...] [--most-rows 50000]

*before*: the mean excess of clipped residuals is taken as what usual tails have, or more; *now*, what is known of it
from sums of squares with and without clipping counts as well (`clipping_bias.told_excess`).  The same releases are
read by both.  real: tables of `frontier_real.py`, one table released again and again: the mean of releases less the fit
without privacy, in errors of `target="table"` (least to largest of the coefficients), and the deviation of releases
over that error (least, mean, largest).  drawn: designs of `frontier_designs.py`, whose sets from 8 on nobody had
simulated: coverage of slopes (mean, least), SE over SD, how often the true slopes are rejected together at 5%.  given,
heavy: the same of given designs and of those with a log-normal response.
Prints to the terminal.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
from frontier import joint_p
from frontier_designs import Cell, drawn, given
from frontier_heavy_designs import given_heavy
from frontier_real import PRICES, people, rand

from tacit.method.regression.estimate import fit_release
from tacit.method.regression.estimate_coefficients import clipping_bias
from tacit.testing.simulated_regressions import rows_of

RULES = ("before", "now")
LEAST = 20
Z = 1.959964


def usual_alone(usual: float, range_: float, lost: float, noise: float) -> float:
    """Return the excess that usual tails have, whatever sums of squares tell."""
    return usual


def rule(name: str) -> contextlib.AbstractContextManager[object]:
    """Return what reads releases by a rule."""
    if name == "before":
        return mock.patch.object(clipping_bias, "told_excess", usual_alone)
    return contextlib.nullcontext()


def of_table(releases: list[Any], ordinary: np.ndarray) -> Iterator[str]:
    """Yield the line of each rule."""
    for name in RULES:
        with rule(name):
            fits = [fit_release(one, "table") for one in releases]
        told = [one for one in fits if not any(one.reasons)]
        if len(told) < LEAST:
            yield f"{name} | {len(told)}"
            continue
        values, errors = np.array([one.values for one in told]), np.array([one.std_errors for one in told])
        shift = ((values - ordinary) / errors).mean(axis=0)
        spread = ((values - values.mean(axis=0)) / errors).std(axis=0)
        ends = f"{spread.min():.2f} {spread.mean():.2f} {spread.max():.2f}"
        yield f"{name} | {len(told)} | {shift.min():+.2f} {shift.max():+.2f} | {ends}"


def real(path: str | None, repeats: int) -> None:
    """Print the lines of real tables."""
    for table in (rand(), *([people(path)] if path else [])):
        for query in table.queries:
            if query.model != "linear":
                continue
            for price in PRICES:
                rng = np.random.default_rng([16, 4])
                rows = rows_of(query, table.rows, table.schema, price)
                releases = [rows.release(rng) for _ in range(repeats)]
                print(f"{table.name}: {query.formula}, {price}", flush=True)
                for words in of_table(releases, rows.ordinary()[0]):
                    print(f"    {words}", flush=True)


def of_design(cell: Cell, seed: list[int], repeats: int) -> Iterator[str]:
    """Yield the line of each rule."""
    study, truth, rng = cell.study, np.array(list(cell.study.truth.values())), np.random.default_rng(seed)
    releases = [
        rows_of(study.query, study.draw(rng, cell.rows), study.schema, cell.cost, cell.neighbors).release(rng)
        for _ in range(repeats)
    ]
    for name in RULES:
        with rule(name):
            fits = [fit_release(one) for one in releases]
        told = [one for one in fits if not any(one.reasons)]
        if len(told) < LEAST:
            yield f"{name} | {len(told)} of {repeats}"
            continue
        errors = np.array([one.values - truth for one in told])[:, 1:]
        sizes = np.array([one.std_errors for one in told])[:, 1:]
        cover = 100 * (np.abs(errors) < Z * sizes).mean(axis=0)
        rejected = 100 * np.mean([joint_p(one, off)[0] < 0.05 for one, off in zip(told, errors, strict=True)])
        balance = float((sizes.mean(axis=0) / errors.std(axis=0)).mean())
        start = f"{name} | {len(told)} of {repeats}"
        yield f"{start} | {cover.mean():.1f} ({cover.min():.1f}) | {balance:.2f} | {rejected:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["real", "drawn"])
    parser.add_argument("--people", default=None)
    parser.add_argument("--set", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--only", type=int, nargs="*", default=None, help="places of drawn designs")
    parser.add_argument("--most-rows", type=int, default=50_000)
    options = parser.parse_args()
    if "real" in options.parts:
        real(options.people, options.repeats)
    cells = {"drawn": lambda: drawn(options.set), "given": given, "heavy": given_heavy}
    for number, (part, made) in enumerate(cells.items()):
        for place, cell in enumerate(made() if part in options.parts else ()):
            if cell.rows > options.most_rows or (options.only is not None and place not in options.only):
                continue
            print(place, cell.words, f"{cell.rows:,}", cell.cost, cell.neighbors, flush=True)
            for words in of_design(cell, [386 + number, options.set, place], options.repeats):
                print(f"    {words}", flush=True)


if __name__ == "__main__":
    main()
