"""Quantiles at gaps between rows: docs/reference/quantile-gaps.md, how often intervals hold, or a reason replaces them.

    python benchmarks/quantile_gaps.py [--repeats 40]

Where a wide gap lies next to the quantile, an end may be selected within it, and the interval then misses.  Designs
were written down before any was simulated, here and in `quantile_gap_designs`, with its settings: GAPS have one near
the quantile; SMOOTH have none, and show what a rule against gaps costs, against three selections each for itself."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
from quantile_draws import of_ends
from quantile_gap_designs import HELD, HELD_SMOOTH, SETTINGS, SIZES, Setting

import tacit as tc
from tacit.method.quantiles import design as quantiles_design
from tacit.method.quantiles import mechanism_joint_selection
from tacit.method.quantiles.estimate import QuantileEstimate, estimate
from tacit.method.quantiles.mechanism import released
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.release.simulated import SimulatedRelease
from tacit.testing.simulated_quantiles import counted

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
ALL: Final = GAPS | FURTHER | THIRD | HELD | SMOOTH | HELD_SMOOTH
MANY: Final = 400_000
"""Values from which the true quantile is computed."""
ROWS_OF_A_PERSON: Final = 2
ENOUGH: Final = 10
"""Answers of a cell from which it is counted."""
SIMULATED_LIMIT: Final = 45
"""Scales at which utilities are cut off, in place of `mechanism_joint_selection.LIMIT`: quicker, and still exact to
exp(37.5 - 45) of a probability."""


@dataclass(frozen=True)
class Found:
    """Of a cell: shares of intervals with an answer that hold the quantile, and without one; median width."""

    answered: int
    held: float
    reasons: float
    width: float


def table_of(setting: Setting, draw: Draw, lower: float, upper: float, n: int, rng: Any) -> dict[str, Any]:
    """Rows of all groups; of persons, two rows each, of one value, each in a group of its own."""
    sizes = [round(n * share) for share in setting.groups]
    groups = np.repeat(np.arange(len(sizes)), sizes)
    x = np.clip(draw(rng, len(groups)), lower, upper)
    if not setting.persons:
        return {"x": x, "g": groups.astype(str)}
    who = np.repeat(np.arange(len(x)), ROWS_OF_A_PERSON)
    placed = rng.choice(len(sizes), len(who), p=np.array(sizes) / sum(sizes))
    return {"x": x[who], "g": placed.astype(str), "who": who.astype(str)}


def schema_of(setting: Setting, lower: float, upper: float) -> tc.Schema:
    columns: dict[str, Any] = {"x": tc.Real(lower, upper, missing=lower)}
    columns["g"] = tc.Category([str(i) for i in range(len(setting.groups))])
    return tc.Schema(columns | ({"who": tc.PrivacyUnit(max_rows=ROWS_OF_A_PERSON)} if setting.persons else {}))


def simulated(query: Any, shape: Any, table: Any, rng: np.random.Generator) -> QuantileEstimate:
    """The estimate of one release whose draws are seeded: they protect nobody."""

    def draw(runs: Any, law: Any) -> Any:
        run, place = law.sample(runs.utility, runs.points, 1, rng)
        return runs.chosen(int(run[0]), int(place[0]))

    def noise(cells: Any, law: Any) -> Any:
        return tuple(tuple(x + int(law.sample(1, rng)[0]) for x in cell) for cell in cells)

    parts = released(shape, counted(shape, table), draw, noise)
    unit = None if shape.unit is None else shape.max_rows
    return estimate(
        SimulatedRelease(
            query, "simulated", shape.neighbors, shape.rows, shape.levels, parts, shape.cost, unit, ordered=()
        )
    )


def cell(name: str, n: int, setting: Setting, repeats: int, *, alone: bool = False) -> Found:
    """Simulate one design; alone: each of the three steps is selected for itself."""
    lower, upper, prob, draw = ALL[name]
    rng = np.random.default_rng([n, *map(ord, name + str(setting))])
    p = float(Fraction(prob))
    truth = float(np.quantile(draw(rng, MANY), p, method="inverted_cdf"))
    least, most = SETS.get(name, (truth, truth))
    several = len(setting.groups) > 1
    query = tc.Quantiles("x", [prob], by="g") if several else tc.Quantiles("x", [prob])
    rows = sum(round(n * share) for share in setting.groups) if setting.neighbors == "replace-one" else None
    public = Public(schema_of(setting, lower, upper), setting.neighbors, rows)
    right = quantiles_design.is_joint
    quantiles_design.is_joint = (lambda *_: False) if alone else right
    shape = of_ends(query, public, Cost.of(**dict(setting.price)))
    quantiles_design.is_joint = right
    held, told, wide, own = list[bool](), list[bool](), list[float](), list[float]()
    for _ in range(max(4, repeats // len(setting.groups)) if several else repeats):
        table = table_of(setting, draw, lower, upper, n, rng)
        found = simulated(query, shape, table, rng)
        low, high = found.limits.T
        answered = [reason is None for reason in found.reasons]
        held += ((low <= most) & (least <= high)).tolist()
        told += answered
        wide += [high[0] - low[0]] if answered[0] else []
        x = np.sort(table["x"][table["g"] == "0"])[:: ROWS_OF_A_PERSON if setting.persons else 1]
        ends = np.rint(len(x) * p + np.array([-1.96, 1.96]) * np.sqrt(len(x) * p * (1 - p)))
        own.append(np.diff(x[np.clip(ends, 1, len(x)).astype(int) - 1])[0])
    good, said = np.array(held), np.array(told)
    # of few different values the interval without privacy may be one of them alone
    width = float(np.median(wide) / np.median(own)) if wide and np.median(own) else np.nan
    return Found(int(said.sum()), good[said].mean() if said.any() else np.nan, 1 - said.mean(), width)


def text(found: Found) -> str:
    """Coverage given an answer in percent, and reasons where there are any."""
    if not found.answered:
        return "no answer"
    held = f"{100 * found.held:.0f}"
    return held if found.reasons < 0.005 else f"{held} ({100 * found.reasons:.0f})"


HEAD: Final = "| values | n | " + " | ".join(SETTINGS) + " |\n|---|---:|" + "---:|" * len(SETTINGS)


Rows = list[tuple[str, int, dict[str, Found]]]


def simulate(names: Any, sizes: list[int], repeats: int, *, alone: bool = False) -> Rows:
    """Every design at every size and setting."""
    made: Rows = []
    for name in names:
        for n in sizes:
            found = {key: cell(name, n, setting, repeats, alone=alone) for key, setting in SETTINGS.items()}
            made.append((name, n, found))
            print(name, n, " | ".join(map(text, found.values())), flush=True)
    return made


def coverage(rows: Rows) -> list[str]:
    """Lines of a table of coverage."""
    return [HEAD, *(f"| {name} | {n:,} | " + " | ".join(map(text, found.values())) + " |" for name, n, found in rows)]


def widths(together: Rows, alone: Rows) -> list[str]:
    """Lines of a table of widths: of three steps together, and of each for itself."""

    def shown(x: float) -> str:
        return "–" if np.isnan(x) else f"{x:.2f}"

    lines = [HEAD]
    for (name, n, now), (_, _, before) in zip(together, alone, strict=True):
        row = " | ".join(f"{shown(now[key].width)} / {shown(before[key].width)}" for key in SETTINGS)
        lines.append(f"| {name} | {n:,} | {row} |")
    return lines


def overall(rows: Rows) -> list[str]:
    """Lines on each setting: mean and lowest coverage of its cells, and how many are surely below 93%."""
    lines = [
        "| price | cells with an answer | mean coverage, % | lowest, % | surely below 93% |",
        "|---|" + "---:|" * 4,
    ]
    for key in SETTINGS:
        some = [found[key] for _, _, found in rows if found[key].answered >= ENOUGH]
        rates = np.array([one.held for one in some])
        error = np.sqrt(0.93 * 0.07 / np.array([one.answered for one in some]))
        low = int((rates < 0.93 - 2 * error).sum())
        lines.append(f"| {key} | {len(some)} | {100 * rates.mean():.1f} | {100 * rates.min():.0f} | {low} |")
    return lines


INTRODUCTION: Final = """# Quantiles at gaps

How often the 95% interval of a quantile holds the truth where rows leave a wide gap next to it, and what the rules
against gaps cost where they do not. Written by `python benchmarks/quantile_gaps.py`: {repeats} simulations a cell
(tables; with groups, groups of tables), so that 95 means 95 ± {error:.0f}. Designs, prices and group sizes were written
down before any was simulated; those of *Gaps held back* after the first rules for pure prices. The constants of the
present rules were then chosen with all designs of 1,000 rows in view, so that no table here is of unseen designs:
those are in [quantiles at drawn gaps and heaps](quantile-drawn.md).

All intervals here have selected ends, also where a release of few rows would take [cuts](quantile-choice.md), whose
limits assume nothing of gaps.

Next to a gap an end may be selected within it. All steps of a gap are equally likely. One with W times as many steps as
lie within a scale of ranks around an end draws that end from about log W scales away, and two of three steps are then
in it. Three rules, which cost little where rows are evenly spaced:

- The three steps are selected together, by the largest of their distances from the ranks that are wanted. At a pure
  price a scale is then a third of what it is for three selections of their own; at a ρ or a pair, where it is 1/√3 of
  it and errors of three together are larger, they end as near to their ranks, and a gap draws them from less far.
- The ends lie at least four scales beyond the rank that the edge of a gap next to the quantile may have, and at
  least 13 scales from the quantile's rank (19 with groups, or where rows are added or removed). Where the column has
  fewer than 4,096 different values, as whole numbers between near bounds, no gap is so wide, and they may be nearer.
- Two steps in a gap are seldom as far from each other as one of them from the third. Where the value is nearer to one
  end than evenly spaced rows would have it in 95 of 100 releases (and than 3 : 7), limits reach the distance of both
  ends further on both sides; where steps are out of order, four times that distance; as far as the column's bounds. A
  value on an end says that many rows are equal there, and changes nothing.

n is the number of rows, or of the largest group's. In parentheses: the share of answers whose reason says that rows are
few for the price, in percent; coverage is of the others. Where the quantile is any point of a gap, as in *50% left of a
wide gap*, an interval that has one of these points holds it; at a jump, as at a heap of zeros, it must hold the value
itself."""
WIDTHS: Final = """## Widths without a gap

Median width of the 95% interval, that without privacy being 1: of three steps selected together, and, after the stroke,
of three selected each for itself, as earlier versions did at a ρ, for pairs, in groups and where rows are added or
removed.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    options = parser.parse_args()
    start, repeats, sizes = time.monotonic(), options.repeats, options.sizes
    mechanism_joint_selection.LIMIT = SIMULATED_LIMIT  # type: ignore[misc]
    introduction = INTRODUCTION.format(repeats=repeats, error=200 * (0.05 * 0.95 / repeats) ** 0.5)
    smooth = simulate(SMOOTH | HELD_SMOOTH, sizes, repeats)
    alone = simulate(SMOOTH | HELD_SMOOTH, sizes, repeats, alone=True)
    ending = ["\n## No gap\n", *coverage(smooth), "", WIDTHS, *widths(smooth, alone)]
    body, every = list[str](), Rows()
    parted = {"Gaps held back": HELD, "Gaps drawn third": THIRD, "Gaps": GAPS, "Further gaps": FURTHER}
    for title, names in parted.items():
        rows = simulate(names, sizes, repeats)
        every += rows
        body += [f"\n## {title}\n", *coverage(rows)]
        page = [introduction, "\n## All gaps\n", "Surely: by more than two standard errors.\n", *overall(every)]
        PAGE.write_text("\n".join([*page, *body, *ending]) + "\n", encoding="utf-8")
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
