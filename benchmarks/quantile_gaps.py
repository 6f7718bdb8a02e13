"""Quantiles at gaps between rows: docs/reference/quantile-gaps.md, how often intervals hold, or a reason replaces them.

    python benchmarks/quantile_gaps.py [--repeats 100]

Where a wide gap lies next to the quantile, an end
may be selected within it, and the interval then misses.  Designs were written down before any was simulated: GAPS have
one near the quantile; SMOOTH have none, and show what a rule against gaps costs.  Where n times epsilon (for rho, times
sqrt(8 rho)) is 500 or more, SMOOTH may have a reason in at most 5% of releases."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
from quantile_draws import checked, designed, simulated

import tacit as tc
from tacit.method.quantiles.estimate_steps import of_selections

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "quantile-gaps.md"
Draw = Callable[[np.random.Generator, int], np.ndarray]


def two(share: float, left: Draw, right: Draw) -> Draw:
    """Rows of `left` with probability `share`, else of `right`."""

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        return np.where(rng.random(n) < share, left(rng, n), right(rng, n))

    return draw


def uniform(low: float, high: float) -> Draw:
    return lambda rng, n: rng.uniform(low, high, n)


def parted(draw: Draw, at: float, by: float) -> Draw:
    """Rows of `draw`, those above `at` moved up by `by`."""

    def moved(rng: np.random.Generator, n: int) -> np.ndarray:
        x = draw(rng, n)
        return np.where(x > at, x + by, x)

    return moved


NORMAL: Final[Draw] = lambda rng, n: rng.normal(0, 1, n)  # noqa: E731
GAPS: Final[dict[str, tuple[float, float, str, Draw]]] = {
    "51% left of a wide gap": (0, 10, "1/2", two(0.51, uniform(0, 1), uniform(9, 10))),
    "49.5% left of a wide gap": (0, 10, "1/2", two(0.495, uniform(0, 1), uniform(9, 10))),
    "53% left, a third empty": (0, 3, "1/2", two(0.53, uniform(0, 1), uniform(2, 3))),
    "51% left, unequal heaps": (0, 100, "1/2", two(0.51, uniform(0, 20), uniform(98, 99))),
    "normal, parted at its median": (-5, 15, "1/2", parted(NORMAL, 0.02, 10)),
    "normal, parted at its quartile": (-5, 15, "1/4", parted(NORMAL, -0.65, 10)),
    "normal, parted by one sd": (-5, 6, "1/2", parted(NORMAL, 0.02, 1)),
}
FURTHER: Final[dict[str, tuple[float, float, str, Draw]]] = {
    "51% zeros, then from 5 on": (0, 100, "1/2", two(0.51, uniform(0, 0), uniform(5, 100))),
    "48% zeros, then from 10 on": (0, 100, "1/2", two(0.48, uniform(0, 0), lambda rng, n: 10 + rng.exponential(10, n))),
    "26% zeros, lower quartile": (0, 50, "1/4", two(0.26, uniform(0, 0), lambda rng, n: 2 + rng.gamma(4, 3, n))),
    "51% narrow, then wide": (0, 100, "1/2", two(0.51, uniform(0, 1), uniform(50, 100))),
    "49% wide, then narrow": (0, 100, "1/2", two(0.49, uniform(0, 50), uniform(99, 100))),
    "whole numbers, 52% at 9 or below": (
        0,
        20,
        "1/2",
        two(0.52, lambda rng, n: rng.integers(5, 10, n) * 1.0, lambda rng, n: rng.integers(10, 15, n) * 1.0),
    ),
    "tens, 51% at 30 or below": (
        0,
        100,
        "1/2",
        two(0.51, lambda rng, n: rng.integers(1, 4, n) * 10.0, lambda rng, n: rng.integers(4, 9, n) * 10.0),
    ),
    "50% left of a wide gap": (0, 10, "1/2", two(0.5, uniform(0, 1), uniform(9, 10))),
}
"""Gaps written down after GAPS had been simulated, before any of these was."""
THIRD: Final[dict[str, tuple[float, float, str, Draw]]] = {
    "50.4% left of a wide gap": (0, 10, "1/2", two(0.504, uniform(0, 1), uniform(9, 10))),
    "an island of 3% between two gaps": (
        0,
        100,
        "1/2",
        two(0.49, uniform(0, 2), two(0.03 / 0.51, uniform(48, 50), uniform(98, 100))),
    ),
    "10% low, the lower tenth": (0, 100, "1/10", two(0.11, uniform(0, 10), uniform(60, 100))),
    "lognormal, parted at its median": (0, 100, "1/2", parted(lambda rng, n: rng.lognormal(0, 0.8, n), 1.03, 40)),
    "51% dense, then a gap of a tenth": (0, 10, "1/2", two(0.51, uniform(4, 5), uniform(6, 10))),
    "a heap of 4% before a gap": (
        0,
        100,
        "1/2",
        two(0.48, uniform(0, 30), two(0.04 / 0.52, uniform(30, 30), uniform(80, 100))),
    ),
}
"""Gaps written down before the joint selection of three steps, and before any of these was simulated."""
SETS: Final = {"50% left of a wide gap": (1.0, 9.0)}
"""Designs whose quantile is any point from one value to another: an interval that has one of them holds it."""
SMOOTH: Final[dict[str, tuple[float, float, str, Draw]]] = {
    "uniform": (0, 1, "1/2", uniform(0, 1)),
    "normal, range 40 sd": (-20, 20, "1/2", NORMAL),
    "exponential": (0, 20, "1/2", lambda rng, n: rng.exponential(1, n)),
    "exponential, upper quartile": (0, 20, "3/4", lambda rng, n: rng.exponential(1, n)),
    "lognormal": (0, 300_000, "1/2", lambda rng, n: rng.lognormal(10.5, 0.8, n)),
    "halves of whole numbers": (0, 20, "1/2", lambda rng, n: np.rint(2 * rng.gamma(4, 1, n)) / 2),
}
SIZES: Final = (200, 1_000, 5_000)
PRICES: Final[tuple[dict[str, str], ...]] = ({"rho": "0.05"}, {"epsilon": "1"}, {"epsilon": "0.2"})
MANY: Final = 400_000
"""Values from which the true quantile is computed."""


def cell(name: str, n: int, price: dict[str, str], repeats: int) -> str:
    lower, upper, prob, draw = (GAPS | FURTHER | THIRD | SMOOTH)[name]
    rng = np.random.default_rng([n, len(name), *map(ord, str(price))])
    p = float(Fraction(prob))
    truth = float(np.quantile(draw(rng, MANY), p, method="inverted_cdf"))
    least, most = SETS.get(name, (truth, truth))
    schema = tc.Schema({"x": tc.Real(lower, upper, missing=lower)})
    query = tc.Quantiles("x", [prob])
    shape = designed(query, schema, n, "replace-one", **price)
    if shape.columns[0].form.name != "joint":  # which draws from the triples of a release
        checked(shape.columns[0], np.clip(draw(rng, n), lower, upper), 3)
    held, alone, answered, wide, own = [], [], [], [], []
    for _ in range(repeats):
        x = np.clip(draw(rng, n), lower, upper)
        found: Any = simulated(query, shape, x, rng)
        low, high = found.limits[0]
        held.append(low <= most and least <= high)
        # the ends that were selected, whatever their order; their interval where rows are not too few
        steps = np.array(found.release.parts[0].integers, dtype=np.float64)[None]
        ends = of_selections(steps, shape.columns[0].grid, np.zeros((1, 1)))[1][0, 0]
        few = found.reasons[0] is not None
        alone.append(few or (ends[0] <= most and least <= ends[1]))
        answered.append(found.reasons[0] is None)
        wide.append(high - low)
        ends = np.clip(np.rint(n * p + np.array([-1.96, 1.96]) * np.sqrt(n * p * (1 - p))), 1, n).astype(int) - 1
        own.append(np.diff(np.sort(x)[ends])[0])
    good, told = np.array(held), np.array(answered)
    given = f"{100 * good[told].mean():.1f}" if told.any() else "–"
    # of few different values the interval without privacy may be one of them alone
    width = f"{np.median(np.array(wide)[told]) / np.median(own):.2f}" if told.any() and np.median(own) else "–"
    said = ", ".join(f"{'ρ' if key == 'rho' else 'ε'} = {value}" for key, value in price.items())
    before = f"{100 * np.mean(alone):.1f}"
    shares = f"{before} | {100 * good.mean():.1f} | {given} | {width} | {100 * (1 - told.mean()):.1f}"
    return f"| {name} | {n:,} | {said} | {shares} |"


HEAD: Final = (
    "| values | n | price | of the ends alone, % | coverage, % | given an answer, % | median width, no privacy = 1 "
    "| with a reason, % |\n"
    "|---|---:|---|---:|---:|---:|---:|---:|"
)


INTRODUCTION: Final = """# Quantiles at gaps

How often the 95% interval of a quantile holds the truth where rows leave a wide gap next to it, and what the rule
against gaps costs where they do not. Written by `python benchmarks/quantile_gaps.py`: {repeats} simulations a cell, so
that 95 means 95 ± {error:.0f}. Designs were written down before any was simulated.

Next to a gap an end may be selected within it, and the interval then misses (*of the ends alone*). All steps of a gap
are equally likely. One with W times as many steps as lie within a scale of ranks around an end draws that end from
about log W scales away.

**At a pure price (ε)** the three steps are selected together, and a scale is a third of what it is for three
selections of their own. The ends lie at least seven scales beyond the rank that the edge of a gap next to the quantile
may have, and a lower end within the gap must leave as many rows up to the upper end as there should be.

**At a ρ** steps are selected each for itself, since three at once are then no nearer to their ranks. Their ends lie
three to six scales from the quantile where noise matters, and **cells below stay under 93%**. Three steps in one gap
are in order in one of six releases; a lower end and a value in it, with the upper end beyond, in one of two. They then
look just as those of evenly spaced rows do, so that no rule on these steps alone tells them apart without wider
intervals everywhere.

At either price the three steps are seldom out of order where rows are evenly spaced: lower end, value, upper end. Where
they are so much out of order as happens in about 5% of releases then, the interval reaches four times their distance
further on both sides, as far as the column's bounds.

Where the quantile is any point of a gap, as in *50% left of a wide gap*, an interval that has one of these points holds
it; at a jump, as at a heap of zeros, it must hold the value itself. A reason is that of too few rows for the price."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=100)
    options = parser.parse_args()
    start = time.monotonic()
    page = [INTRODUCTION.format(repeats=options.repeats, error=200 * (0.05 * 0.95 / options.repeats) ** 0.5)]
    for title, names in (("Gaps", GAPS), ("Further gaps", FURTHER), ("Gaps drawn last", THIRD), ("No gap", SMOOTH)):
        page += [f"\n## {title}\n", HEAD]
        for name in names:
            for n in SIZES:
                for price in PRICES:
                    page.append(cell(name, n, price, options.repeats))
                    print(page[-1], flush=True)
    PAGE.write_text("\n".join(page) + "\n", encoding="utf-8")
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
