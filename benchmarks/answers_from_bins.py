"""What default questions of histograms are worth where bins are coarse, or a bound cuts a tail: tables drawn at random.

    python benchmarks/answers_from_bins.py {coarse,clamped,whole} [--repeats N] [--designs N] [--first NUMBER] [--plain]

Designs are those of `random_tables`, the first ones from a number on that are of a kind, rows (no persons):

- coarse: bounds four times too wide, and a response that goes with x; the slope of `fit("y ~ x")`, at the design's own
  price and at rho = 0.5.
- clamped: bounds that cut 1% off at either end, of values that are neither counts nor rounded; mean and variance.
- whole: the same values within bounds that fit, or that are four times too wide: what the errors of `clamped` cost.

FIRST, the numbers from which the designs are taken, was committed before any of them was simulated.  Coarse designs
from 90,000 on judged the rule for rows in three bins or two, which left 7% of answers in place of 26%: those it took
had held in 93%.  It is for two bins since, and judged by others.  "Before" are the same releases without the rule:
slopes with no reason for what bins hide of the curvature (`fits.unknown_curvature`); end bins in which a density falls
to the end with most of a break taken for the tail's (`fits.cells.bin_ends`).
Written into docs/reference/random-tables.md, after what `random_answers.py --page` writes; with --plain printed only.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Final
from unittest.mock import patch

import numpy as np
from pages import put
from random_answers import ASKS, PAGE, ends
from random_tables import Design

import tacit as tc
from tacit.fits import regression_fits
from tacit.fits.cells import bin_ends
from tacit.fits.within_bins import bin_shapes

FIRST: Final = {"coarse": 93_000, "clamped": 91_000, "whole": 92_000}
DESIGNS: Final = {"coarse": 24, "clamped": 30, "whole": 20}
QUESTION: Final = {"coarse": "fit", "clamped": "moments", "whole": "moments"}
COUNTS: Final = ("Poisson", "negative binomial")
HEADS: Final = {
    "coarse": "Slopes where bounds are four times too wide",
    "clamped": "Means and variances where bounds cut tails off",
    "whole": "Means and variances where bounds cut nothing off",
}


def of_kind(kind: str, design: Design) -> bool:
    if design.persons:
        return False
    if kind == "coarse":
        return bool(design.bounds == "wide" and design.slope > 0)
    plain = not design.digits and not design.law.startswith(COUNTS)
    return plain and (design.bounds == "tight") == (kind == "clamped")


def numbers(kind: str, first: int, many: int) -> list[int]:
    """Return the numbers of the first designs of a kind.

    >>> numbers("clamped", 70_000, 2)
    [70001, 70004]
    """
    found, number = list[int](), first
    while len(found) < many:
        if of_kind(kind, Design(number)):
            found.append(number)
        number += 1
    return found


def former_breaks(log: Any, inner: Any, bounds: Any) -> bin_ends.Break:
    """Breaks as they were: none for what one way of going on leaves over, and less where the density falls."""
    x = (bounds[1:] + bounds[:-1]) / 2
    rise = (log[..., 1] - log[..., 2]) / np.abs(x[2] - x[1]) * np.abs(bounds[1] - bounds[0])
    less = np.exp(bin_ends.FALLING * np.clip(rise, -30.0, 0.0))
    found = bin_ends.breaks(log, inner, bounds)
    return replace(found, alone=0 * found.alone, weight=np.where(found.gap > 0, less, 1.0) * found.weight)


def _no_reasons(points: Any, regressors: Any, problem: Any, theta: Any, hessian: Any) -> tuple[None, ...]:
    return (None,) * len(theta)


BEFORE: Final[dict[str, Callable[[], Any]]] = {
    "coarse": lambda: patch.object(regression_fits, "unknown_reasons", _no_reasons),
    "clamped": lambda: patch.object(bin_shapes, "breaks", former_breaks),
    "whole": lambda: patch.object(bin_shapes, "breaks", former_breaks),
}


def prices(kind: str, design: Design) -> list[dict[str, float]]:
    return [design.price, {"rho": 0.5}] if kind == "coarse" else [design.price]


def told(kind: str, number: int, repeats: int) -> Iterator[tuple[str, str, str, float, float, float, bool]]:
    """Yield price, term, whether before or now, both limits, the truth, and whether there is an answer."""
    design, ask = Design(number), ASKS[QUESTION[kind]]
    truths = ask.truth(design, design.large())
    for price in prices(kind, design):
        words = ", ".join(f"{name} {value:g}" for name, value in price.items())
        for i in range(repeats):
            table = design.draw_table(np.random.default_rng([6, number, i]))
            budget = tc.Budget(**price, neighbors=design.relation)
            curator = tc.Curator(table, design.schema(), budget=budget, size_hint=design.rows)
            release = curator.release(ask.query(design), **price)
            for when in ("before", "now"):
                with BEFORE[kind]() if when == "before" else nullcontext():
                    found = list(ends(ask.read(release)))
                for term, low, high, reason in found:
                    if term in truths:
                        yield words, term, when, low, high, truths[term], not reason


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=FIRST)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--designs", type=int)
    parser.add_argument("--first", type=int, help="designs from another number on; the page stays")
    parser.add_argument("--plain", action="store_true", help="to the terminal only")
    given = parser.parse_args()
    kind, first = given.kind, given.first or FIRST[given.kind]
    every = dict[tuple[str, str], list[tuple[bool, bool]]]()
    widths, lines = dict[str, list[float]](), list[str]()
    chosen = numbers(kind, first, given.designs or DESIGNS[kind])
    for number in chosen:
        cells = dict[tuple[str, str, str], list[tuple[bool, bool, float]]]()
        for price, term, when, low, high, truth, answer in told(kind, number, given.repeats):
            cells.setdefault((price, term, when), []).append((answer, low <= truth <= high, high - low))
        for (price, term, when), rows in cells.items():
            every.setdefault((term, when), []).extend((answer, held) for answer, held, _ in rows)
            own = [held for answer, held, _ in rows if answer]
            if when == "now" and own and 0.93 - np.mean(own) > 2.33 * np.sqrt(0.93 * 0.07 / len(own)):
                lines.append(f"| {number} | {Design(number).words} | {price} | {term} | {sum(own)} | {len(own)} |")
            if when == "now":
                # of releases that have an answer either way
                pairs = zip(rows, cells[price, term, "before"], strict=True)
                both = [(new[2], old[2]) for new, old in pairs if new[0] and old[0]]
                if both:
                    new, old = np.mean(both, axis=0)
                    widths.setdefault(term, []).append(float(new / old))
        print(f"{number} {Design(number).words}", flush=True)
    text = page(kind, every, widths, lines, len(chosen), given.repeats)
    print(text)
    if not given.plain and given.first is None and given.designs is None:
        put(PAGE, f"answers_from_bins.py {kind}", text)


def page(
    kind: str,
    every: dict[tuple[str, str], list[tuple[bool, bool]]],
    widths: dict[str, list[float]],
    lines: list[str],
    designs: int,
    repeats: int,
) -> str:
    """Return the part of the page."""
    rows = list[str]()
    for (term, when), found in every.items():
        own = [held for answer, held in found if answer]
        longer = f"{100 * (float(np.mean(widths[term])) - 1):+.1f}%" if when == "now" and term in widths else ""
        held = f"{100 * np.mean(own):.1f}" if own else ""
        rows.append(f"| {term}, {when} | {held} | {len(own):,} | {100 * len(own) / len(found):.0f} | {longer} |")
    bad = "\n".join(lines)
    table = (
        f"\n| design | table | price | term | held | answers |\n|---|---|---|---|---:|---:|\n{bad}\n" if lines else ""
    )
    none = "No design is below 93% now by more than 2.33 Monte-Carlo standard errors."
    said = "*Below 93%* by more than 2.33 Monte-Carlo standard errors now:" if lines else none
    return f"""## {HEADS[kind]}

{designs} designs from number {FIRST[kind]:,} on, {repeats} releases each, by `benchmarks/answers_from_bins.py {kind}`,
committed before any was simulated. *Longer*: intervals beside those before, of releases with an answer both times.
{said}

| | held, % | answers | answers, % | longer |
|---|---:|---:|---:|---:|
{chr(10).join(rows)}
{table}"""


if __name__ == "__main__":
    main()
