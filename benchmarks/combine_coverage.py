"""Coverage of combined estimates, and their precision beside the bound of pooled rows; writes `combining.md`'s tables.

    python benchmarks/combine_coverage.py [--repeats 2000] [--quick] [--parts common random bound]

The page is docs/reference/combining.md.  Tables are drawn anew in every repetition, with noise of the laws that
releases have; nothing of it is stored.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pages import asked, put

import tacit as tc
from tacit.pooling.common_value import pooled
from tacit.pooling.random_effects import random_effects
from tacit.pooling.released_evidence import evidence
from tacit.testing.simulated_parties import answers

PAGE, SELF = Path(__file__).resolve().parents[1] / "docs" / "reference" / "combining.md", "combine_coverage.py"
SCHEMA = tc.Schema({"x": tc.Real(0, 1), "whole": tc.Real(0, 1, missing=0), "yes": tc.Boolean()})
SEEDS = 8
"""Times the repetitions of the last table: a mean square is known to sqrt(2 / repetitions)."""
SPREAD = tuple(int(n) for n in np.geomspace(100, 30_000, 10))
SAME = (
    ("20 of 300", (300,) * 20, (0.5,) * 20),
    ("40 of 50", (50,) * 40, (0.2,) * 40),
    ("10, 100 to 30,000", SPREAD, (0.2,) * 10),
    ("5 of 200, ε 0.2 to 2", (200,) * 5, (0.2, 0.5, 1, 1, 2)),
    ("3 of 60", (60,) * 3, (1,) * 3),
)
LOW = (
    ("40 of 56", (56,) * 40, (0.25,) * 40, (0.0, 0.03)),
    ("10 of 300", (300,) * 10, (1,) * 10, (0.03,)),
    ("35, 20 of 56, 10 of 200, 5 of 1,000", (56,) * 20 + (200,) * 10 + (1_000,) * 5, (0.25,) * 35, (0.03,)),
)
"""Of a mean near its lower bound, where noise is larger than the mean."""
DIFFER = (
    ("10 of 300", (300,) * 10, (1,) * 10, (0.0, 0.05)),
    ("10, 100 to 10,000", tuple(int(n) for n in np.geomspace(100, 10_000, 10)), (1,) * 10, (0.0, 0.03)),
    ("20 of 100", (100,) * 20, (0.5,) * 20, (0.0, 0.1)),
    ("40 of 1,500", (1_500,) * 40, (0.25,) * 40, (0.02,)),
)


def drawn(column: str, shift: Any, low: bool = False) -> Any:
    """Draw the values of a party: shares around 0.3, numbers around 0.4, shifted by the party's own effect."""

    def values(rng: np.random.Generator, party: int, repeats: int, rows: int) -> Any:
        own = shift[party][:, None]
        if low:
            a = 10 * np.clip(0.1 + own, 0.01, 0.99)
            return rng.beta(a, 10 - a, (repeats, rows))
        if column == "yes":
            return (rng.random((repeats, rows)) < 0.3 + own).astype(np.float64)
        return np.clip(rng.beta(4, 6, (repeats, rows)) + own, 0, 1)

    return values


def prices(epsilons: Sequence[float]) -> list[dict[str, Any]]:
    return [{"epsilon": str(e)} for e in epsilons]


def told(hit: Any, repeats: int) -> str:
    share = float(np.mean(hit))
    return f"{100 * share:.1f} ± {200 * math.sqrt(share * (1 - share) / repeats):.1f}"


def common(repeats: int) -> Iterator[str]:
    """Yield the table lines of parties that share one quantity."""
    yield "| question | relation | parties | ε | bias / sd | SE / sd | coverage of 95%, % |"
    yield "| :--- | :--- | :--- | ---: | ---: | ---: | ---: |"
    truths = {"mean": 0.4, "share": 0.3, "variance": 0.4 * 0.6 / 11}
    for name, query in (("mean", tc.Mean("x")), ("share", tc.Mean("yes")), ("variance", tc.Variance("x"))):
        for neighbors in ("replace-one", "add-remove"):
            for parties, sizes, epsilons in SAME:
                values = drawn(query.columns[0], np.zeros((len(sizes), repeats)))
                made = answers(query, SCHEMA, values, sizes, prices(epsilons), neighbors=neighbors, repeats=repeats)
                found = pooled(evidence(made, 0))
                said = ~found.unclear
                epsilon = f"{min(epsilons):g}" if min(epsilons) == max(epsilons) else "mixed"
                line = f"| {name} | {neighbors} | {parties} | {epsilon} |"
                if said.mean() < 0.5:
                    yield f"{line} – | – | nothing is said |"
                    continue
                low, high = found.interval(0.95)
                value = found.value[said]
                error = found.evidence.scale * np.sqrt(found.variance + found.noise)[said]
                hit = ((low <= truths[name]) & (truths[name] <= high))[said]
                bias = (value.mean() - truths[name]) / value.std()
                yield f"{line} {bias:.2f} | {error.mean() / value.std():.2f} | {told(hit, repeats)} |"


def random(repeats: int) -> Iterator[str]:
    """Yield the table lines of parties whose quantities differ, normally, with standard deviation τ."""
    head = "| question | relation | parties | τ | mean of its estimates | SE / sd |"
    yield f"{head} coverage of 95%, % | of one more party, % |"
    yield "| :--- | :--- | :--- | ---: | ---: | ---: | ---: | ---: |"
    asked = (("mean", tc.Mean("x"), 0.4), ("share", tc.Mean("yes"), 0.3), ("mean of 0.1", tc.Mean("x"), 0.1))
    for name, query, truth in asked:
        for neighbors in ("replace-one", "add-remove"):
            for parties, sizes, epsilons, taus in LOW if truth == 0.1 else DIFFER:
                for tau in taus:
                    rng = np.random.default_rng(7)
                    own = rng.normal(0, 1, (len(sizes), repeats)) * tau
                    values = drawn(query.columns[0], own, truth == 0.1)
                    made = answers(query, SCHEMA, values, sizes, prices(epsilons), neighbors=neighbors, repeats=repeats)
                    found = random_effects(evidence(made, 0))
                    low, high = found.interval(0.95)
                    one = truth + tau * rng.normal(0, 1, repeats)
                    ahead = np.array([effect.prediction(0.95) for effect in found.effects if effect is not None])
                    inside = (ahead[:, 0] <= one) & (one <= ahead[:, 1])
                    spread = np.mean([effect.tau2 for effect in found.effects if effect is not None]) ** 0.5
                    ratio = np.sqrt(found.variance).mean() / found.value.std()
                    line = f"| {name} | {neighbors} | {parties}, ε = {epsilons[0]:g} | {tau:g} |"
                    both = f"{told((low <= truth) & (truth <= high), repeats)} | {told(inside, repeats)}"
                    yield f"{line} {spread:.3f} | {ratio:.2f} | {both} |"


def bound(repeats: int) -> Iterator[str]:
    """Six parties of 100 to 30,000 rows, values uniform: mean squared error over that of the mean of all rows."""
    yield "| ε | equal weights | weights by size | as combined |"
    yield "| ---: | ---: | ---: | ---: |"
    sizes = (100, 300, 1_000, 3_000, 10_000, 30_000)
    best = 1 / 12 / sum(sizes)
    for epsilon in (0.05, 0.2, 1.0):
        errors = np.mean([squares(epsilon, sizes, repeats, seed) for seed in range(SEEDS)], axis=0) / best
        yield f"| {epsilon:g} | {errors[0]:.3g} | {errors[1]:.2f} | {errors[2]:.2f} |"


def squares(epsilon: float, sizes: Sequence[int], repeats: int, seed: int) -> list[float]:
    """Mean squared errors of the mean of means, of weights by size, and as combined."""
    price = prices([epsilon] * len(sizes))
    made = answers(
        tc.Mean("whole"), SCHEMA, lambda rng, j, r, n: rng.random((r, n)), sizes, price, repeats=repeats, rng=seed
    )
    found = evidence(made, 0)
    own = (found.shift + found.scale * found.total / found.size).mean(axis=0)
    by_size, combined = (found.shift + found.scale * one.x for one in (pooled(found, equal=True), pooled(found)))
    return [float(((one - 0.5) ** 2).mean()) for one in (own, by_size, combined)]


COMMON = """## One and the same quantity

Values are Beta(4, 6) on [0, 1], shares are 0.3; {repeats:,} repetitions a line. Intervals hold all values at which a
test of the weighted sum of the parties' estimating equations does not reject ([theory
§6](../explanation/theory.md#6-many-parties)). In *40 of 50* at ε = 0.2 no party alone gives a useful
estimate: the noise of a size is as large as the size.

{lines}

Where noise drowns most sizes nothing is said of variances: noise on a mean then has effects that no correction undoes.
With few small parties intervals of variances are wider than needed, as those of one release are: a variance is never
taken to be below one standard deviation of its own noise."""
RANDOM = """## Quantities that differ

Normal effects with standard deviation τ between parties; restricted maximum likelihood, Hartung and Knapp's interval.
Where parties are not equally precise it has fewer than M - 1 degrees of freedom, those with which τ² is known, and the
variance is multiplied by what an estimated τ² adds to it (both as by Kenward and Roger). The last column is the
prediction interval: where the quantity of one more party lies, all values of τ counted in as far as the restricted
likelihood leaves them possible [Higgins, Thompson & Spiegelhalter 2009]. Where τ is hidden by noise that is wide, and
above 95%: that nobody differs is not known then. {repeats:,} repetitions a line.

A party's own ratio of noisy numbers errs towards the middle of its bounds, in the same way in all parties. So effects
are made of x + D(x) / size, around one x for all, which is linear in the noise and zero on average; the last eight
lines are a mean near its lower bound, where noise is larger than the mean.

{lines}"""
BOUND = """## Unequal parties

Six parties of 100, 300, 1,000, 3,000, 10,000 and 30,000 rows, values uniform, sizes public: mean squared error over
that of the mean of all rows without noise, {repeats:,} repetitions (Monte-Carlo error of each about 1 %).

{lines}"""
PARTS: dict[str, tuple[str, Callable[[int], Iterator[str]], int]] = {
    "common": (COMMON, common, 1),
    "random": (RANDOM, random, 1),
    "bound": (BOUND, bound, SEEDS),
}


def main() -> None:
    given = asked(__doc__, PARTS, 2_000)
    repeats = given.repeats // (20 if given.quick else 1)
    for part in given.parts:
        text, made, times = PARTS[part]
        lines: list[str] = []
        for line in made(repeats):
            lines.append(line)
            print(line, flush=True)
        if not given.quick:
            put(PAGE, f"{SELF} {part}", text.format(repeats=times * repeats, lines="\n".join(lines)))


if __name__ == "__main__":
    main()
