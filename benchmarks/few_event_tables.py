"""Models of few events at low prices: intervals, joint tests and answers, as they are and as they were.

    python benchmarks/few_event_tables.py [KIND ...] [--set 1] [--repeats 200] [--only PLACE ...] [--page]
                                          [--rules before read shrunk weighed inverted untailed now]

Designs of `few_event_designs.py`, of `few_event_tail_designs.py` (`tailed`), or those given and drawn for many
regressors (`models`, `drawn`).  Tables are drawn anew in every repetition, and released by the mechanism's own steps,
with the same seeds by each rule.  *Untailed* is the rule before *now*: intervals know nothing of how few events a tail
holds (`tail_doubt`).  *Inverted*: and scores of counts were taken at a mean of .02 at least, and at coefficients as
noise makes them, so that counts are released anew; and of rows that were shortened in a tail on the side of the events
nothing counted where noise hid them.  Those before that are with what *inverted* is without, too.  *Weighed*: the same
releases, and steps are those of the curvature that errs least over all tables, with intervals that know nothing of
inversion (`released_curvature`). *Shrunk*: and the error of a guessed curvature is relative to what released products
made of it.  *Read*: and with the errors of before: the last step counted as the whole way to the truth, noise in the
moments widened nothing, joint tests knew of no noise in the curvature, its guess was doubted where the step begins,
and rows that were shortened in a tail on the side of the events cost nothing.  *Before*: and scores of binary
responses were taken at coefficients as noise makes them.
A line has answers; the mean of slopes' errors over their standard errors (the largest in size); coverage of slopes
(mean, least); how often the true slopes are rejected together at 5%; the error of slopes over that of the fit without
privacy; and how often that fit's own intervals cover, to the same rows.  Below are median lengths of intervals, slope
by slope, by the last rule over the first, and how many slopes have one more than a fifth longer.  Last lines have all
designs with an answer in 20 repetitions or more.
Prints to the terminal; with --page, last lines to docs/reference/regression-frontier.md as well.
Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest import mock

import numpy as np
from few_event_designs import SETS
from few_event_tail_designs import tailed
from frontier import joint_p
from frontier_designs import Cell
from frontier_model_designs import drawn_models, given_models
from pages import put

from tacit.method.regression.bounded_scores import count_links
from tacit.method.regression.bounded_scores.normal_regressors import Regressors
from tacit.method.regression.estimate import fit_release
from tacit.method.regression.estimate_coefficients import score_coefficients, score_step
from tacit.method.regression.estimate_coefficients.sampling_variance import noise_of_diagonal, widening_factors
from tacit.method.regression.estimate_coefficients.score_step import ScoreStep
from tacit.method.regression.estimate_coefficients.tail_doubt import TermTails
from tacit.method.regression.pilots import glm_pilot
from tacit.method.regression.pilots.glm_pilot import ShrunkMatrix
from tacit.method.regression.row_sums.noisy_scores import ScorePart
from tacit.testing.simulated_regressions import rows_of

RULES = "before", "read", "shrunk", "weighed", "inverted", "untailed", "now"
KINDS = {**SETS, "models": lambda number: given_models(), "tailed": tailed, "drawn": drawn_models}
LEAST = 20
LONGER = 1.2
"""Ratio of the last rule's interval to the first's from which on it is said to be longer."""
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "regression-frontier.md"
Z = 1.959964


@dataclass
class Read:
    """What a rule found of a design: errors of slopes, standard errors, the same without privacy, p-values."""

    errors: list[np.ndarray] = field(default_factory=list[np.ndarray])
    sizes: list[np.ndarray] = field(default_factory=list[np.ndarray])
    ordinary: list[np.ndarray] = field(default_factory=list[np.ndarray])
    usual: list[np.ndarray] = field(default_factory=list[np.ndarray])
    joint: list[float] = field(default_factory=list[float])

    @property
    def covered(self) -> np.ndarray:
        """Whether intervals hold, shape (answers, slopes)."""
        return np.abs(np.array(self.errors) / np.array(self.sizes)) < Z

    @property
    def rejected(self) -> np.ndarray:
        """Whether the joint test rejects the truth, shape (answers,)."""
        return np.array(self.joint) < 0.05


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


def not_reached(step: ScoreStep, last: ScorePart, tails: TermTails, total: np.ndarray, *_: np.ndarray) -> np.ndarray:
    """Lengthen no standard error by what tails may hide."""
    return np.ones(len(total))


def of_itself(part: ScorePart, found: Regressors, end: np.ndarray | None = None) -> ShrunkMatrix:
    """Return the curvature as if it had been its own guess."""
    made = glm_pilot.curvature(part, found, end)
    return replace(made, guess=made.matrix)


def shown_loss(value: float, noise: float) -> tuple[float, float]:
    """Return what is lost beyond noise, with no variance left, of what `shortening_error` looks at."""
    lost = max(value + noise / score_step.USUAL_LOSS, 0.0)
    return lost * glm_pilot.beyond_noise(lost**2, noise), 0.0


class NoCounts:
    """What no link is an instance of."""


@contextlib.contextmanager
def rule(name: str) -> Iterator[None]:
    """Make and read releases by a rule; of binary responses the earliest one shrinks nothing."""
    with contextlib.ExitStack() as stack:
        if name != "now":
            stack.enter_context(mock.patch.object(score_coefficients, "tail_reach", not_reached))
        if name not in ("now", "untailed"):
            # counts were as other responses there, and their smallest mean was larger
            stack.enter_context(mock.patch.object(glm_pilot, "CountLink", NoCounts))
            stack.enter_context(mock.patch.object(count_links, "MIN_MEAN", count_links.RARE_MEAN))
            stack.enter_context(mock.patch.object(score_step, "positive_part", shown_loss))
        if name not in ("now", "untailed", "inverted"):
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
            ordinary, usual = rows.ordinary()
        except np.linalg.LinAlgError:
            continue
        release = rows.release(np.random.default_rng([*seed, i, 1]))
        for name in rules:
            with rule(name):
                anew = name == "before" or (name not in ("now", "untailed") and study.query.model == "poisson")
                one = rows.release(np.random.default_rng([*seed, i, 1])) if anew else release
                fit = fit_release(one)
            if any(fit.reasons):
                continue
            kept = found[name]
            kept.errors.append((fit.values - truth)[1:])
            kept.sizes.append(fit.std_errors[1:])
            kept.ordinary.append((ordinary - truth)[1:])
            kept.usual.append(usual[1:])
            kept.joint.append(joint_p(fit, kept.errors[-1])[0])
    return found


def line(one: Read, repeats: int) -> str:
    """Return a line."""
    start = f"{len(one.errors)} of {repeats}"
    if len(one.errors) < LEAST:
        return start
    errors, sizes, ordinary = (np.array(part) for part in (one.errors, one.sizes, one.ordinary))
    cover, shift = 100 * one.covered.mean(axis=0), (errors / sizes).mean(axis=0)
    error, without = (np.sqrt((part**2).mean(axis=0).sum()) for part in (errors, ordinary))
    own = 100 * float((np.abs(ordinary / np.array(one.usual)) < Z).mean())
    return (
        f"{start} | {shift[np.argmax(np.abs(shift))]:+.2f} | {cover.mean():.1f} ({cover.min():.1f}) "
        f"| {100 * one.rejected.mean():.1f} | {error / without:.2f} | {own:.1f}"
    )


HEAD = (
    "| designs | rule | answers | designs with answers enough | slopes covered, % | least slope, % | slopes below 93% "
    "| joint test at 5%, % | most, % | the fit without privacy covers, % |\n"
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
)


def together_of(kind: str, name: str, every: list[Read]) -> str:
    """Return a line of all designs of a kind by a rule."""
    told = [one for one in every if len(one.errors) >= LEAST]
    start = f"| {kind} | {name} | {sum(len(one.errors) for one in every):,} | {len(told)} of {len(every)} |"
    if not told:
        return f"{start} – | – | – | – | – | – |"
    slopes = np.concatenate([100 * one.covered.mean(axis=0) for one in told])
    held = 100 * np.concatenate([one.covered.ravel() for one in told]).mean()
    own = [(np.abs(np.array(one.ordinary) / np.array(one.usual)) < Z).ravel() for one in told]
    joint = [100 * one.rejected.mean() for one in told]
    whole = 100 * np.concatenate([one.rejected for one in told]).mean()
    return (
        f"{start} {held:.1f} | {slopes.min():.1f} | {(slopes < 93).sum()} of {len(slopes)} | {whole:.1f} "
        f"| {max(joint):.1f} | {100 * np.concatenate(own).mean():.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=list(SETS))
    parser.add_argument("--set", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--only", type=int, nargs="*", default=None, help="places of designs")
    parser.add_argument("--page", action="store_true", help="last lines to the page, too")
    parser.add_argument("--rules", nargs="*", default=list(RULES), choices=RULES)
    options = parser.parse_args()
    lines = [HEAD]
    for kind in options.kinds:
        together, longer = {name: list[Read]() for name in options.rules}, list[np.ndarray]()
        for place, cell in enumerate(KINDS[kind](options.set)):
            if options.only is not None and place not in options.only:
                continue
            print(place, cell.words, f"{cell.rows:,}", cell.cost, cell.neighbors, flush=True)
            seed = [385, list(KINDS).index(kind), options.set, place]
            for name, one in simulated(cell, seed, options.repeats, options.rules).items():
                print(f"    {name} | {line(one, options.repeats)}", flush=True)
                together[name].append(one)
            ends = [together[name][-1].sizes for name in (options.rules[0], options.rules[-1])]
            if all(ends):
                first, last = (np.median(np.array(one), axis=0) for one in ends)
                print(f"    length | {' '.join(f'{one:.2f}' for one in last / first)}", flush=True)
                if len(ends[0]) == len(ends[1]):
                    longer.append((np.array(ends[1]) / np.array(ends[0]) > LONGER).ravel())
        if longer:
            print(f"{kind}: {100 * np.concatenate(longer).mean():.1f}% of slopes have longer intervals", flush=True)
        lines += [together_of(kind, name, every) for name, every in together.items()]
        print("\n".join(lines), flush=True)
    if options.page:
        kinds = ", ".join(options.kinds)
        file = "few_event_tail_designs.py" if options.kinds == ["tailed"] else "few_event_designs.py"
        title = f"## Few events: {kinds}, set {options.set} of `benchmarks/{file}`"
        words = f"{options.repeats} tables of each design; nothing is told of fewer than {LEAST} answers."
        words = f"{words} By the rules of `benchmarks/few_event_tables.py`."
        put(
            PAGE,
            f"few_event_tables.py {' '.join(options.kinds)} --set {options.set}",
            f"{title}\n\n{words}\n\n" + "\n".join(lines),
        )


if __name__ == "__main__":
    main()
