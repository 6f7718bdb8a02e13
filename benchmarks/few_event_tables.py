"""Logistic models of few events at low prices: intervals, joint tests and answers, as they are and as they were.

    python benchmarks/few_event_tables.py [KIND ...] [--set 1] [--repeats 200] [--only PLACE ...]
                                          [--rules before read shrunk weighed now]

Designs of `few_event_designs.py`.  Tables are drawn anew in every repetition, and released by the mechanism's own
steps, with the same seeds by each rule: *before*, scores are taken at coefficients as noise makes them; *now*, what
leads there is shrunk as far as noise makes it (`glm_pilot.beyond_noise`).  *Read*: the releases of now, read with
the errors of before: the last step counted as the whole way to the truth, noise in the moments widened nothing, joint
tests knew of no noise in the curvature, its guess was doubted where the step begins, and rows that were shortened in a
tail on the side of the events cost nothing.  *Shrunk*: the same releases, and the error of a guessed curvature is
relative to what released products made of it.  *Weighed*, as were all before: the same releases, and steps are those
of the curvature that errs least over all tables, with intervals that know nothing of inversion (`released_curvature`).
A line has answers; the mean of slopes' errors over their standard errors (the largest in size); coverage of slopes
(mean, least); how often the true slopes are rejected together at 5%; and the error of slopes over that of the fit
without privacy.  Below are median lengths of intervals, slope by slope, by the last rule over the first.  Last lines
have all designs with an answer in 20 repetitions or more.  Prints to the terminal.
Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from unittest import mock

import numpy as np
from few_event_designs import SETS
from frontier import joint_p
from frontier_designs import Cell

from tacit.method.regression.bounded_scores.normal_regressors import Regressors
from tacit.method.regression.estimate import fit_release
from tacit.method.regression.estimate_coefficients import score_step
from tacit.method.regression.estimate_coefficients.sampling_variance import noise_of_diagonal, widening_factors
from tacit.method.regression.estimate_coefficients.score_step import ScoreStep
from tacit.method.regression.pilots import glm_pilot
from tacit.method.regression.pilots.glm_pilot import ShrunkMatrix
from tacit.method.regression.row_sums.noisy_scores import ScorePart
from tacit.testing.simulated_regressions import rows_of

RULES = "before", "read", "shrunk", "weighed", "now"
LEAST = 20
Z = 1.959964


@dataclass
class Read:
    """What a rule found of a design: errors of slopes, standard errors, errors without privacy, p-values."""

    errors: list[np.ndarray] = field(default_factory=list[np.ndarray])
    sizes: list[np.ndarray] = field(default_factory=list[np.ndarray])
    ordinary: list[np.ndarray] = field(default_factory=list[np.ndarray])
    joint: list[float] = field(default_factory=list[float])


def released_widening(step: ScoreStep, last: ScorePart, total: np.ndarray, back: np.ndarray) -> np.ndarray:
    """Widen standard errors for the noise of the last part's products alone."""
    inverse = np.asarray(back @ np.linalg.inv(step.curve.matrix), dtype=np.float64)
    moves = step.released_moves(last) @ np.linalg.inv(back)
    return widening_factors(noise_of_diagonal(inverse, moves, np.ones(len(moves)), total), total)


def no_moves(step: ScoreStep, last: ScorePart, total: np.ndarray, back: np.ndarray) -> np.ndarray:
    """Tell joint tests of no noise in the curvature."""
    return np.zeros((0, *total.shape))


def not_inverted(step: ScoreStep, last: ScorePart, total: np.ndarray, back: np.ndarray) -> np.ndarray:
    """Lengthen no standard error by inversion."""
    return np.ones(len(total))


def of_itself(part: ScorePart, found: Regressors, end: np.ndarray | None = None) -> ShrunkMatrix:
    """Return the curvature as if it had been its own guess."""
    made = glm_pilot.curvature(part, found, end)
    return replace(made, guess=made.matrix)


@contextlib.contextmanager
def rule(name: str) -> Iterator[None]:
    """Make and read releases by a rule; of binary responses the earliest one shrinks nothing."""
    with contextlib.ExitStack() as stack:
        if name != "now":
            stack.enter_context(mock.patch.object(ScoreStep, "inverted", not_inverted))
            stack.enter_context(mock.patch.object(score_step, "nearer_released", lambda weight, *_: weight))
        if name == "before":
            stack.enter_context(mock.patch.object(glm_pilot, "beyond_noise", return_value=1.0))
        if name == "shrunk":
            stack.enter_context(mock.patch.object(score_step, "curvature", of_itself))
        if name in ("before", "read"):
            for word, other in EARLIER.items():
                stack.enter_context(mock.patch.object(ScoreStep, word, other))
            stack.enter_context(mock.patch.object(score_step, "one_step", lambda part, found: part.b))
            stack.enter_context(mock.patch.object(score_step, "shortening_error", return_value=0.0))
        yield


EARLIER = {"covariances": ScoreStep.first_order, "widening": released_widening, "moves_of": no_moves}


def simulated(cell: Cell, seed: list[int], repeats: int, rules: list[str]) -> dict[str, Read]:
    """Return what each rule finds of a design."""
    found = {name: Read() for name in rules}
    study, truth = cell.study, np.array(list(cell.study.truth.values()))
    for i in range(repeats):
        rng = np.random.default_rng([*seed, i])
        rows = rows_of(study.query, study.draw(rng, cell.rows), study.schema, cell.cost, cell.neighbors)
        try:
            ordinary = rows.ordinary()[0]
        except np.linalg.LinAlgError:
            continue
        release = rows.release(np.random.default_rng([*seed, i, 1]))
        for name in rules:
            with rule(name):
                one = rows.release(np.random.default_rng([*seed, i, 1])) if name == "before" else release
                fit = fit_release(one)
            if any(fit.reasons):
                continue
            kept = found[name]
            kept.errors.append((fit.values - truth)[1:])
            kept.sizes.append(fit.std_errors[1:])
            kept.ordinary.append((ordinary - truth)[1:])
            kept.joint.append(joint_p(fit, kept.errors[-1])[0])
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
    parser.add_argument("--rules", nargs="*", default=list(RULES), choices=RULES)
    options = parser.parse_args()
    for kind in options.kinds:
        together = {name: list[Read]() for name in options.rules}
        for place, cell in enumerate(SETS[kind](options.set)):
            if options.only is not None and place not in options.only:
                continue
            print(place, cell.words, f"{cell.rows:,}", cell.cost, cell.neighbors, flush=True)
            seed = [385, list(SETS).index(kind), options.set, place]
            for name, one in simulated(cell, seed, options.repeats, options.rules).items():
                print(f"    {name} | {line(one, options.repeats)}", flush=True)
                together[name].append(one)
            ends = [together[name][-1].sizes for name in (options.rules[0], options.rules[-1])]
            if all(ends):
                first, last = (np.median(np.array(one), axis=0) for one in ends)
                print(f"    length | {' '.join(f'{one:.2f}' for one in last / first)}", flush=True)
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
