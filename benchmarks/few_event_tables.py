"""Logistic models of few events at low prices: intervals, joint tests and answers, as they are and as they were.

    python benchmarks/few_event_tables.py [grouped | wide | skewed ...] [--set 1] [--repeats 200] [--only PLACE ...]

Designs of `few_event_designs.py`.  Tables are drawn anew in every repetition, and released by the mechanism's own
steps, with the same seeds by each rule: *before*, scores are taken at coefficients as noise makes them; *now*, what
leads there is shrunk as far as noise makes it (`glm_pilot.beyond_noise`).
A line has answers; the mean of slopes' errors over their standard errors (the largest in size); coverage of slopes
(mean, least); how often the true slopes are rejected together at 5%; and the error of slopes over that of the fit
without privacy.  Last lines have all designs with an answer in 20 repetitions or more.  Prints to the terminal.
Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import contextlib
from dataclasses import dataclass, field
from unittest import mock

import numpy as np
from few_event_designs import SETS
from frontier import joint_p
from frontier_designs import Cell

from tacit.method.regression import glm_pilot
from tacit.method.regression.estimate import fit_release
from tacit.testing.simulated_regressions import rows_of

RULES = ("before", "now")
LEAST = 20
Z = 1.959964


@dataclass
class Read:
    """What a rule found of a design: errors of slopes, standard errors, errors without privacy, p-values."""

    errors: list[np.ndarray] = field(default_factory=list[np.ndarray])
    sizes: list[np.ndarray] = field(default_factory=list[np.ndarray])
    ordinary: list[np.ndarray] = field(default_factory=list[np.ndarray])
    joint: list[float] = field(default_factory=list[float])


def rule(name: str) -> contextlib.AbstractContextManager[object]:
    """Return what makes releases by a rule; of binary responses the earlier one shrinks nothing."""
    if name == "before":
        return mock.patch.object(glm_pilot, "beyond_noise", return_value=1.0)
    return contextlib.nullcontext()


def simulated(cell: Cell, seed: list[int], repeats: int) -> dict[str, Read]:
    """Return what each rule finds of a design."""
    found = {name: Read() for name in RULES}
    study, truth = cell.study, np.array(list(cell.study.truth.values()))
    for i in range(repeats):
        rng = np.random.default_rng([*seed, i])
        rows = rows_of(study.query, study.draw(rng, cell.rows), study.schema, cell.cost, cell.neighbors)
        try:
            ordinary = rows.ordinary()[0]
        except np.linalg.LinAlgError:
            continue
        for name in RULES:
            with rule(name):
                release = rows.release(np.random.default_rng([*seed, i, 1]))
            fit = fit_release(release)
            if any(fit.reasons):
                continue
            one = found[name]
            one.errors.append((fit.values - truth)[1:])
            one.sizes.append(fit.std_errors[1:])
            one.ordinary.append((ordinary - truth)[1:])
            one.joint.append(joint_p(fit, one.errors[-1])[0])
    return found


def line(one: Read, repeats: int) -> str:
    """Return a line."""
    start = f"{len(one.errors)} of {repeats}"
    if len(one.errors) < LEAST:
        return start
    errors, sizes, ordinary = (np.array(part) for part in (one.errors, one.sizes, one.ordinary))
    z = errors / sizes
    cover, shift = 100 * (np.abs(z) < Z).mean(axis=0), z.mean(axis=0)
    error, without = (np.sqrt((part**2).mean(axis=0).sum()) for part in (errors, ordinary))
    rejected = 100 * float(np.mean(np.array(one.joint) < 0.05))
    return (
        f"{start} | {shift[np.argmax(np.abs(shift))]:+.2f} | {cover.mean():.1f} ({cover.min():.1f}) "
        f"| {rejected:.1f} | {error / without:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=list(SETS))
    parser.add_argument("--set", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--only", type=int, nargs="*", default=None, help="places of designs")
    options = parser.parse_args()
    for kind in options.kinds:
        together = {name: list[Read]() for name in RULES}
        for place, cell in enumerate(SETS[kind](options.set)):
            if options.only is not None and place not in options.only:
                continue
            print(place, cell.words, f"{cell.rows:,}", cell.cost, cell.neighbors, flush=True)
            seed = [385, list(SETS).index(kind), options.set, place]
            for name, one in simulated(cell, seed, options.repeats).items():
                print(f"    {name} | {line(one, options.repeats)}", flush=True)
                together[name].append(one)
        for name, every in together.items():
            told = [one for one in every if len(one.errors) >= LEAST]
            many = f"{sum(len(one.errors) for one in every)} answers, {len(told)} of {len(every)} designs"
            if not told:
                print(f"{kind}, {name}: {many}", flush=True)
                continue
            held = np.concatenate([(np.abs(np.array(one.errors) / np.array(one.sizes)) < Z).ravel() for one in told])
            joint = np.concatenate([np.array(one.joint) < 0.05 for one in told])
            said = f"covered {100 * held.mean():.2f}%, rejected {100 * joint.mean():.2f}%"
            print(f"{kind}, {name}: {many}: {said}", flush=True)


if __name__ == "__main__":
    main()
