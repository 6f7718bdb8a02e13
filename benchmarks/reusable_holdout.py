"""A classifier selected with a hold-out, as usual and as a reusable one: Dwork and others' experiment redrawn.

    python benchmarks/reusable_holdout.py [--repeats 25] [--quick]

Writes a part of docs/reference/reusable-holdout.md and its picture in about two minutes.  [Dwork, Feldman, Hardt,
Pitassi, Reingold & Roth 2015, Science 349:636]: n = 10,000 training rows and as many of a hold-out, d = 10,000 normal
attributes, a label by a fair coin.  The analyst keeps attributes whose signs agree with the label on both sets, with
both weights beyond 1/√n, takes the k with the largest training weights, and lets them vote.

The design, decided before anything was simulated: weights are 2 p - 1, p the share of rows in which the attribute's
sign is the label's, so that each is asked as a condition on a row; threshold 0.03, ρ = 1, 50 answers; seed 1; k as in
the paper.  Only what a procedure sees is drawn: counts of all attributes, and the rows of those that were selected,
given their counts, which has the same law as drawing everything.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pages import put
from published_figures import panels, saved, titled

from tacit.holdout.holdout_design import HoldoutDesign, holdout_design

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "reusable-holdout.md"
N, D = 10_000, 10_000
SIGNAL, SHIFT = 20, 6 / N**0.5
"""Attributes that follow the label in the second world, and by how much."""
SIZES: Final = (10, 20, 30, 45, 70, 100, 150, 200, 250, 300, 400, 500)
DESIGN: Final = holdout_design("0.03", rho=1, answers=50)
SEED: Final = 1
WORLDS: Final = (("no attribute tells anything", 0), (f"{SIGNAL} attributes tell something", SIGNAL))
SHOWN: Final = (10, 45, 100, 250, 500)
Floats = NDArray[np.float64]


class UsedUpError(Exception):
    """The hold-out has no answer left."""


@dataclass
class Simulated:
    """A reusable hold-out with seeded noise: the decisions of `HoldoutDesign`, which the mechanism takes too."""

    design: HoldoutDesign
    rng: np.random.Generator
    runs: int = 0
    noise: int | None = None

    def check(self, train: float, count: int, rows: int) -> float:
        """Return what is told of the share count / rows."""
        one = self.design
        if self.noise is None:
            if self.runs == one.answers:
                raise UsedUpError
            self.runs, self.noise = self.runs + 1, int(one.threshold_law.sample(1, self.rng)[0])
        fresh = int(one.comparison_law.sample(1, self.rng)[0])
        if one.excess(count * one.steps, rows, round(train * one.steps)) + fresh < self.noise:
            return train
        self.noise = None
        # a share of a public number of rows: discrete Laplace on the count, at half of the run's price
        noisy = rng_laplace(self.rng, 1 / float(one.answer_cost.epsilon or 1))
        return min(1.0, max(0.0, (count + noisy) / rows))


def rng_laplace(rng: np.random.Generator, scale: float) -> int:
    """Draw discrete Laplace noise: a difference of two geometric variables."""
    one, other = np.floor(rng.standard_exponential(2) * scale)
    return int(one - other)


@dataclass
class World:
    """Counts of agreement of all attributes with the label, on training rows and on the hold-out."""

    rng: np.random.Generator
    signal: int

    def __post_init__(self) -> None:
        # z = x y of the attributes that tell something, for training rows, hold-out and fresh rows
        self.told = [self.rng.normal(SHIFT, 1, (self.signal, N)) for _ in range(3)]
        self.counts = [self._counts(place) for place in (0, 1)]

    def _counts(self, place: int) -> NDArray[np.int64]:
        own = (self.told[place] > 0).sum(axis=1)
        return np.concatenate([own, self.rng.binomial(N, 0.5, D - self.signal)])

    def votes(self, chosen: NDArray[np.int64], signs: Floats, place: int) -> list[float]:
        """Return the accuracy of the vote of the first k of `chosen`, for each k of SIZES.  place: 2 for fresh rows."""
        total, found = np.zeros(N), []
        for rank, (one, sign) in enumerate(zip(chosen, signs, strict=True), start=1):
            total += sign * self._rows(int(one), place)
            if rank in SIZES:
                found.append(float(np.mean(total > 0)))
        return found + [found[-1] if found else 0.5] * (len(SIZES) - len(found))

    def _rows(self, one: int, place: int) -> Floats:
        """Return z = x y of an attribute: given how often it is above 0, on rows where that was counted."""
        if one < self.signal:
            return self.told[place][one]
        size = np.abs(self.rng.normal(size=N))
        if place == 2:
            return size * (2 * self.rng.integers(0, 2, N) - 1)
        sign = np.full(N, -1.0)
        sign[self.rng.permutation(N)[: self.counts[place][one]]] = 1.0
        return size * sign


@dataclass
class Trial:
    """Accuracies by k as trained, as the hold-out told them, and on fresh rows; runs and unanswered checks."""

    train: list[float]
    told: list[float]
    fresh: list[float]
    runs: int = 0
    unanswered: int = 0


def trial(world: World, holdout: Simulated | None) -> Trial:
    """Select a classifier with a hold-out that tells its own means (None), or with a reusable one."""
    train, kept = world.counts[0] / N, world.counts[1] / N
    unanswered = 0
    if holdout is not None:
        told = np.empty(D)
        for i, (p, count) in enumerate(zip(train, world.counts[1], strict=True)):
            try:
                told[i] = holdout.check(float(p), int(count), N)
            except UsedUpError:
                told[i], unanswered = 0.5, unanswered + 1  # what is not answered selects nothing
        kept = told
    w, v = 2 * train - 1, 2 * kept - 1
    good = np.flatnonzero((np.sign(w) == np.sign(v)) & (np.minimum(np.abs(w), np.abs(v)) >= N**-0.5))
    chosen = good[np.argsort(-np.abs(w[good]), kind="stable")][: max(SIZES)]
    parts = [world.votes(chosen, np.sign(w[chosen]), place) for place in range(3)]
    if holdout is None:
        return Trial(parts[0], parts[1], parts[2])
    answers: list[float] = []
    for p, q in zip(parts[0], parts[1], strict=True):
        try:
            answers.append(holdout.check(p, round(q * N), N))
        except UsedUpError:
            answers.append(float("nan"))
            unanswered += 1
    return Trial(parts[0], answers, parts[2], holdout.runs, unanswered)


def simulated(repeats: int) -> dict[tuple[str, str], list[Trial]]:
    """Return the trials of each world and each kind of hold-out; both kinds see the same counts."""
    found: dict[tuple[str, str], list[Trial]] = {}
    for at, (name, signal) in enumerate(WORLDS):
        for i in range(repeats):
            rng = np.random.default_rng([SEED, at, i])
            world = World(rng, signal)
            found.setdefault((name, "usual"), []).append(trial(world, None))
            found.setdefault((name, "reusable"), []).append(trial(world, Simulated(DESIGN, rng)))
    return found


def picture(found: dict[tuple[str, str], list[Trial]], place: Path) -> None:
    """Draw accuracies by the number of attributes, a panel for each world and kind of hold-out."""
    plt, figure, grid = panels(2, 2)
    for row, (name, _) in zip(grid, WORLDS, strict=True):
        for ax, kind in zip(row, ("usual", "reusable"), strict=True):
            for what, words in (("train", "training"), ("told", "hold-out, as told"), ("fresh", "fresh rows")):
                values = np.array([getattr(one, what) for one in found[name, kind]])
                mean, sd = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
                ax.plot(SIZES, mean, label=words)
                ax.fill_between(SIZES, mean - sd, mean + sd, alpha=0.15)
            ax.set_ylim(0.45, 0.75)
            titled(ax, f"{kind} hold-out: {name}", "attributes", "accuracy")
    grid[0][0].legend(frameon=False, fontsize=8)
    saved(plt, figure, place)


def table(found: dict[tuple[str, str], list[Trial]]) -> str:
    """Return the table of accuracies."""
    lines = [
        "| world | hold-out | attributes | training | as told | fresh rows | told too high by |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for name, _ in WORLDS:
        for kind in ("usual", "reusable"):
            trials = found[name, kind]
            for k in SHOWN:
                at = SIZES.index(k)
                train, told, fresh = (
                    np.array([getattr(one, what)[at] for one in trials]) for what in ("train", "told", "fresh")
                )
                apart = told - fresh
                error = np.nanstd(apart) / np.sqrt(np.isfinite(apart).sum())
                means = " | ".join(f"{100 * np.nanmean(one):.1f}%" for one in (train, told, fresh))
                lines.append(
                    f"| {name} | {kind} | {k} | {means} | {100 * np.nanmean(apart):+.1f} ± {100 * error:.1f} |"
                )
    return "\n".join(lines)


def uses(found: dict[tuple[str, str], list[Trial]]) -> str:
    """Say how many runs were used."""
    lines = []
    for name, _ in WORLDS:
        trials = found[name, "reusable"]
        runs, missed = [one.runs for one in trials], sum(one.unanswered for one in trials)
        checks = len(trials) * (D + len(SIZES))
        lines.append(
            f"- {name}: {np.mean(runs):.0f} of {DESIGN.answers} runs a trial on average, {max(runs)} at most; "
            f"{missed:,} of {checks:,} checks found the hold-out used up."
        )
    return "\n".join(lines)


def page(repeats: int) -> str:
    """Simulate, draw the picture, and return the part of the page."""
    found = simulated(repeats)
    picture(found, PAGE.with_suffix(".svg"))
    one = DESIGN
    return f"""
## A classifier selected with a hold-out

The experiment of Dwork and others: {N:,} training rows, a hold-out of {N:,}, {D:,} normal attributes, a label by a fair
coin. An analyst keeps attributes that agree with the label on both sets, takes the k with the largest training weights,
and asks the hold-out how well their vote does. In the first world no attribute tells anything, and every classifier is
right in 50% of fresh rows. In the second, {SIGNAL} attributes are shifted by 6/√n.

![Accuracies as trained, as told and on fresh rows](reusable-holdout.svg)

The reusable hold-out: threshold {float(one.threshold):g}, ρ = 1 for {one.answers} answers, hence
ε = {float(one.epsilon):g} a run; {D + len(SIZES):,} checks a trial, {repeats:,} trials a world, seed {SEED} of
`benchmarks/reusable_holdout.py`; bands are one standard deviation of a trial, ± is a standard error of the mean.

{table(found)}

Percentage points in the last column. What the usual hold-out tells is too high, as each of its {D:,} means was
looked at before. The reusable one tells at most the threshold (and some noise) too much where it says "no difference";
where it finds one, it tells a noisy mean of rows that the selection knows hardly anything of.

{uses(found)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--quick", action="store_true", help="two trials, printed only")
    options = parser.parse_args()
    if options.quick:
        found = simulated(2)
        print(table(found), uses(found), sep="\n")
    else:
        put(PAGE, "reusable_holdout.py", page(options.repeats))


if __name__ == "__main__":
    main()
