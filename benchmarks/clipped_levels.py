"""Coverage of linear regressions whose errors have gross ones among them, or long tails, on one side or both.

    python benchmarks/clipped_levels.py [--set 1] [--repeats 100] [--only PLACE ...]

Designs are drawn from a seed, a set is a number: set 0 is for looking at, set 1 for judging.  Both were committed
before any of them was simulated.  Laws of errors, of standard deviation 1 before gross ones are added: normal,
Student's t of 3 and 5 degrees of freedom, exponential, log-normal of two shapes, and normal ones of which 0.5 to 4%
are 5 to 20 times as large, on one side or on both.  Every release is read twice: *before*, without what
`clipped_level` tells of the level, and *now*.  A line has answers; coverage of coefficients of the population and of
the table's own, at 95%, of all terms and of the intercept; how often the true slopes are rejected together at
5%; and *length*, the median of standard errors of the intercept over those of before, and of slopes likewise.
Prints to the terminal.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from unittest import mock

import numpy as np
import pandas as pd
from frontier import joint_p

import tacit as tc
from tacit.fits.fit_release import fitted
from tacit.method.regression.estimate import fit_release
from tacit.method.regression.estimate_coefficients import clipping_bias
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import rows_of

Array = np.ndarray
DESIGNS = 16
LEAST = 20
Z = 1.959964
RULES = "before", "now"
SCHEMA_COLUMNS = {"x": tc.Real(0, 1), "dose": tc.Integer(0, 10), "sex": tc.Category(["f", "m"])}
SMOOTH: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "normal": lambda rng, n: rng.normal(0, 1, n),
    "t of 3": lambda rng, n: rng.standard_t(3, n) / math.sqrt(3),
    "t of 5": lambda rng, n: rng.standard_t(5, n) / math.sqrt(5 / 3),
    "exponential": lambda rng, n: rng.exponential(1, n) - 1,
    "log-normal .5": lambda rng, n: (rng.lognormal(0, 0.5, n) - math.exp(0.125)) / 0.604,
    "log-normal 1": lambda rng, n: (rng.lognormal(0, 1, n) - math.exp(0.5)) / 2.161,
}


@dataclass(frozen=True)
class Design:
    """A law of errors, a number of rows, a price, and bounds of the response; truth: of the population."""

    words: str
    errors: Callable[[np.random.Generator, int], Array]
    schema: tc.Schema
    rows: int
    cost: Cost
    truth: tuple[float, ...]

    def draw(self, rng: np.random.Generator) -> dict[str, Array]:
        """Return a table."""
        n = self.rows
        x, dose, sex = rng.random(n), rng.integers(0, 11, n), rng.choice(["f", "m"], n, p=[0.7, 0.3])
        level, *slopes = self.truth
        mean = level + slopes[0] * x + slopes[1] * dose + slopes[2] * (sex == "m")
        return {"x": x, "dose": dose, "sex": sex, "y": mean + self.errors(rng, n)}


def _gross(share: float, factor: float, side: int) -> Callable[[np.random.Generator, int], Array]:
    """Return errors of which a share is `factor` times as large, on one side (1, -1) or both (0), of mean 0."""

    def draw(rng: np.random.Generator, n: int) -> Array:
        large = factor * rng.normal(0, 1, n)
        large = side * np.abs(large) if side else large
        mean = side * share * factor * math.sqrt(2 / math.pi)
        return np.where(rng.random(n) < share, large, rng.normal(0, 1, n)) - mean

    return draw


def designs(number: int) -> tuple[Design, ...]:
    """Return the designs of a set: half with gross errors."""
    rng = np.random.default_rng([38, 380, number])
    out: list[Design] = []
    for place in range(DESIGNS):
        if place % 2:
            share, factor = float(rng.choice([0.005, 0.01, 0.02, 0.04])), float(rng.choice([5, 10, 20]))
            side = int(rng.choice([-1, 0, 1], p=[0.4, 0.2, 0.4]))
            words, errors = f"{100 * share:g}% times {factor:g}, side {side}", _gross(share, factor, side)
        else:
            words = str(rng.choice(list(SMOOTH)))
            errors = SMOOTH[words]
        rows, room = int(rng.choice([1_500, 4_000, 10_000, 30_000])), float(rng.choice([25, 50]))
        price = str(rng.choice(["rho 0.05", "rho 0.2", "rho 0.5", "epsilon 2"]))
        name, size = price.split()
        slopes = [float(one) for one in np.round(rng.normal(0, [1.0, 0.2, 0.7]), 2)]
        schema = tc.Schema({"y": tc.Real(-room, room + 5), **SCHEMA_COLUMNS})
        said = f"{words}, bounds {room:g}, {rows:,} rows, {price}"
        out.append(Design(said, errors, schema, rows, Cost.of(**{name: float(size)}), (3.0, *slopes)))
    return tuple(out)


@dataclass
class Read:
    """What a rule found of a design: errors and standard errors of both targets, shape (terms,) each; p-values."""

    errors: list[Array] = field(default_factory=list[Array])
    sizes: list[Array] = field(default_factory=list[Array])
    own_errors: list[Array] = field(default_factory=list[Array])
    own_sizes: list[Array] = field(default_factory=list[Array])
    joint: list[float] = field(default_factory=list[float])

    @property
    def covered(self) -> Array:
        """Whether each coefficient is covered, of the population and of the table, shape (2, answers, terms)."""
        each = (self.errors, self.sizes), (self.own_errors, self.own_sizes)
        return np.array([np.abs(np.array(errors) / np.array(sizes)) < Z for errors, sizes in each])


def rule(name: str) -> contextlib.AbstractContextManager[object]:
    """Return what reads releases by a rule."""
    if name == "before":
        return mock.patch.object(clipping_bias, "told_level", return_value=None)
    return contextlib.nullcontext()


def own_fit(design: Design, at: Callable[[pd.DataFrame], Array], table: dict[str, Array]) -> Array:
    """Return the least-squares coefficients of the table's values, clamped to their bounds."""
    frame, bounds = pd.DataFrame(table), design.schema["y"]
    assert isinstance(bounds, tc.Real)
    y = frame["y"].clip(bounds.lower, bounds.upper).to_numpy(dtype=float)
    return np.linalg.lstsq(at(frame), y, rcond=None)[0]


def simulated(design: Design, seed: list[int], repeats: int) -> dict[str, Read]:
    """Return what each rule finds of a design."""
    found = {name: Read() for name in RULES}
    for i in range(repeats):
        rng = np.random.default_rng([*seed, i])
        table = design.draw(rng)
        release = rows_of(tc.Regression("y ~ x + dose + sex"), table, design.schema, design.cost).release(rng)
        whole = fitted(release, fit_release(release), "")
        if any(whole.fit.reasons):
            continue
        truth = own_fit(design, whole.fit.evaluator.at, table)
        for name, kept in found.items():
            with rule(name):
                fit, own = fit_release(release), fit_release(release, "table")
            kept.errors.append(fit.values - design.truth)
            kept.sizes.append(fit.std_errors)
            kept.own_errors.append(own.values - truth)
            kept.own_sizes.append(own.std_errors)
            kept.joint.append(joint_p(fit, kept.errors[-1][1:])[0])
    return found


def line(one: Read, first: Read) -> str:
    """Return a line; first: by the rule of before."""
    held = 100 * one.covered.mean(axis=1)
    said = " | ".join(f"{each.mean():.1f} ({each[0]:.0f})" for each in held)
    ratio = np.median(np.array(one.sizes) / np.array(first.sizes), axis=0)
    own = np.median(np.array(one.own_sizes) / np.array(first.own_sizes), axis=0)
    rejected = 100 * float(np.mean(np.array(one.joint) < 0.05))
    lengths = f"{ratio[0]:.2f} {ratio[1:].mean():.2f}, own {own[0]:.2f} {own[1:].mean():.2f}"
    return f"{len(one.errors)} | {said} | {rejected:.1f} | {lengths}"


def main() -> None:
    """Print the lines of a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--only", type=int, nargs="*", default=None, help="places of designs")
    options = parser.parse_args()
    together = {name: list[Read]() for name in RULES}
    for place, design in enumerate(designs(options.set)):
        if options.only is not None and place not in options.only:
            continue
        found = simulated(design, [380, options.set, place], options.repeats)
        if len(found["before"].errors) < LEAST:
            print(f"{place} {design.words} | {len(found['before'].errors)}", flush=True)
            continue
        for name, one in found.items():
            print(f"{place} {design.words} | {name} | {line(one, found['before'])}", flush=True)
            together[name].append(one)
    for name, every in together.items():
        held = [np.concatenate([one.covered[target].ravel() for one in every]) for target in (0, 1)]
        level = [np.concatenate([one.covered[target][:, 0] for one in every]) for target in (0, 1)]
        joint = np.concatenate([np.array(one.joint) < 0.05 for one in every])
        said = ", ".join(f"{100 * a.mean():.1f}% ({100 * b.mean():.1f}%)" for a, b in zip(held, level, strict=True))
        print(f"{name}: {len(joint)} answers: population and own {said}; rejected {100 * joint.mean():.1f}%")


if __name__ == "__main__":
    main()
