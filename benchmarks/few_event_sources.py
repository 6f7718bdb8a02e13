"""Which noise it is that makes intervals of logistic models of few events miss: each left out in turn.

    python benchmarks/few_event_sources.py [KIND] [--set 1] [--repeats 200] [--only PLACE ...]

Designs of `few_event_designs.py`.  The same tables are released by the mechanism's own steps with the same seeds,
and each release is read as ever: with *all* its noise; *moments* and products exact; *first* scores exact, too; of the
last part the *curvature* (sums of |psi| and of psi**2 with products) exact, or its *scores*; and *none*, which is the
fit without privacy by the same steps.  What errors follow from stays as it is: the laws of the noise are those stated.
A line has answers; of each slope the shift in standard errors, the deviation of errors over the mean standard error,
and its coverage; how often the true slopes are rejected together at 5%; and the medians of the curvature's weight, of
its guess's error and of the length of the last step.  Prints to the terminal.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
from typing import Final

import numpy as np
from few_event_designs import SETS
from few_event_tables import Z
from frontier import joint_p
from frontier_designs import Cell

from tacit.fits.fit import Fit
from tacit.method.regression.estimate import fit_release, layout_of
from tacit.method.regression.estimate_coefficients import score_coefficients
from tacit.method.regression.estimate_coefficients.score_step import last_step
from tacit.method.regression.pilots.glm_pilot import regressor_moments, step_length
from tacit.method.shared.measurement import PartSpec
from tacit.release.parts import Part
from tacit.release.simulated import SimulatedRelease
from tacit.testing.simulated_regressions import RegressionRows, rows_of

EXACT: Final = {
    "all": (),
    "moments": (0, 1),
    "first": (0, 1, 2),
    "curvature": ("curvature",),
    "scores": ("scores",),
    "none": (0, 1, 2, "curvature", "scores"),
}
"""What is exact in a release: parts by their place, and of the last part one of its halves."""


def released(rows: RegressionRows, rng: np.random.Generator, exact: tuple[object, ...]) -> SimulatedRelease:
    """Return a release whose noise is left out where it is said to be exact."""
    place = iter(range(len(rows.shape.columns)))

    def part(column: PartSpec) -> Part:
        at, sums = next(place), rows.sums(column)
        # drawn in any case, so that every other noise is the same
        noise = column.law.sample(len(sums), rng)
        m = rows.layout.size
        if at in exact or (at == len(rows.shape.columns) - 1 and "scores" in exact):
            noise[: None if at in exact else m] = 0
        if at == len(rows.shape.columns) - 1 and "curvature" in exact:
            noise[m:] = 0
        return column.released((tuple(k + int(z) for k, z in zip(sums, noise.tolist(), strict=True)),))

    return rows._released(part)  # pyright: ignore[reportPrivateUsage]


def facts(release: SimulatedRelease) -> list[float]:
    """Return the weight of the released curvature, the error of the guess, and the length of the last step."""
    read = score_coefficients._read  # pyright: ignore[reportPrivateUsage]
    first, last, terms = read("logistic", layout_of(release), release.parts, release.rows)
    found = regressor_moments(first, terms)
    step = last_step(first, last, found)
    return [step.curve.weight, step.curve.guess_error, step_length(step.step, found)]


def line(fits: list[Fit], truth: np.ndarray, told: list[list[float]]) -> str:
    """Return a line."""
    errors = np.array([fit.values - truth for fit in fits])[:, 1:]
    sizes = np.array([fit.std_errors for fit in fits])[:, 1:]
    z = errors / sizes
    shift, cover = z.mean(axis=0), 100 * (np.abs(z) < Z).mean(axis=0)
    spread = errors.std(axis=0) / np.sqrt((sizes**2).mean(axis=0))
    joint = 100 * np.mean([joint_p(fit, fit.values[1:] - truth[1:])[0] < 0.05 for fit in fits])
    words = "; ".join(f"{a:+.2f} {b:.2f} {c:.1f}" for a, b, c in zip(shift, spread, cover, strict=True))
    weight, guess, length = np.median(np.array(told), axis=0)
    return f"{len(fits)} | {words} | {joint:.1f} | {weight:.2f} {guess:.2f} {length:.2f}"


def show(cell: Cell, seed: list[int], repeats: int) -> None:
    """Print the lines of a design."""
    study, truth = cell.study, np.array(list(cell.study.truth.values()))
    fits, told = ({name: [] for name in EXACT} for _ in range(2))
    for i in range(repeats):
        table = study.draw(np.random.default_rng([*seed, i]), cell.rows)
        rows = rows_of(study.query, table, study.schema, cell.cost, cell.neighbors)
        for name, exact in EXACT.items():
            release = released(rows, np.random.default_rng([*seed, i, 1]), exact)
            fit = fit_release(release)
            if not any(fit.reasons):
                fits[name].append(fit)
                told[name].append(facts(release))
    for name in EXACT:
        if len(fits[name]) > 1:
            print(f"    {name} | {line(fits[name], truth, told[name])}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", nargs="?", default="wide", choices=list(SETS))
    parser.add_argument("--set", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--only", type=int, nargs="*", default=None, help="places of designs")
    options = parser.parse_args()
    for place, cell in enumerate(SETS[options.kind](options.set)):
        if options.only is None or place in options.only:
            print(place, cell.words, f"{cell.rows:,}", cell.cost, cell.neighbors, flush=True)
            show(cell, [385, list(SETS).index(options.kind), options.set, place], options.repeats)


if __name__ == "__main__":
    main()
