"""What plans of quantiles promise that are told a mean and a standard deviation, and what releases then have.

    python benchmarks/plan_quantiles.py [--releases 40] [--laws 0,1,…] [--read FILE] [--write]

Ten laws, each at two sizes and three prices.  The plan is told the mean and the standard deviation of the column, to
two digits, and says a width and, where `Expected.between` has one, a range.  A width is `right` where the median width
of released intervals is within a factor of 1.5 of it; a range, where the median is in it or within that factor of an
end.
The laws were written down and committed before any was simulated.  With --write the table goes
into docs/reference/plans.md.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pages import put

import tacit as tc

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "plans.md"
PROBS = (0.1, 0.25, 0.5, 0.75, 0.9)
SIZES = (400, 4_000)
PRICES: tuple[dict[str, Any], ...] = ({"epsilon": 1}, {"rho": 0.05}, {"epsilon": 0.3})
FACTOR = 1.5


@dataclass(frozen=True)
class Law:
    words: str
    draw: Callable[[np.random.Generator, int], np.ndarray]
    column: Any


def _pay(rng: np.random.Generator, n: int) -> np.ndarray:
    x = rng.lognormal(10.4, 0.8, n)
    return np.where(rng.random(n) < 0.4, np.round(x / 5_000) * 5_000, x)


def _ages(rng: np.random.Generator, n: int) -> np.ndarray:
    grown = np.where(rng.random(n) < 0.7, rng.uniform(18, 65, n), rng.normal(74, 7, n))
    return np.where(rng.random(n) < 0.25, rng.uniform(0, 18, n), grown)


def _hours(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.5, 40.0, rng.normal(30, 12, n))


def _rushes(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.55, rng.normal(8, 1, n), rng.normal(17.5, 1.5, n))


def _waits(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.7, rng.gamma(2, 4, n), rng.gamma(6, 20, n))


LAWS = (
    Law("pay, 40% in thousands of five", _pay, tc.Real(0, 200_000)),
    Law("ages of a country", _ages, tc.Real(0, 110)),
    Law("waiting times, 30% long", _waits, tc.Real(0, 480)),
    Law("hours of work: 40 of half, else normal", _hours, tc.Real(0, 99)),
    Law("weights, normal", lambda g, n: g.normal(78, 15, n), tc.Real(30, 200)),
    Law("scores, mostly high", lambda g, n: 100 * g.beta(6, 1.2, n), tc.Real(0, 100)),
    Law("costs, 70% none", lambda g, n: np.where(g.random(n) < 0.7, 0.0, g.gamma(1.5, 300, n)), tc.Real(0, 5_000)),
    Law("logistic", lambda g, n: g.logistic(0, 1, n), tc.Real(-15, 15)),
    Law("times of day, two rushes", _rushes, tc.Real(0, 24)),
    Law("Pareto of index 2.5", lambda g, n: 1 + g.pareto(2.5, n), tc.Real(0, 50)),
)


def two_digits(x: float) -> float:
    return 0.0 if x == 0 else round(x, 1 - math.floor(math.log10(abs(x))))


def right(width: float, low: float, high: float) -> bool:
    """Whether a width is within a factor of a range: below the smallest step of reals all widths are alike."""
    return low / FACTOR - 1e-6 <= width <= high * FACTOR + 1e-6


def rows_of(law: Law, number: int, releases: int) -> list[tuple[str, ...]]:
    rng = np.random.default_rng([2026, 15, number])
    schema = tc.Schema({"x": law.column})
    many = np.clip(law.draw(rng, 400_000), law.column.lower, law.column.upper)
    known = {"x": {"mean": two_digits(float(many.mean())), "sd": two_digits(float(many.std()))}}
    query, out = tc.Quantiles("x", list(PROBS)), list[tuple[str, ...]]()
    for n in SIZES:
        for price in PRICES:
            widths = list[np.ndarray]()
            for _ in range(releases):
                curator = tc.Curator({"x": law.draw(rng, n)}, schema, budget=tc.Budget(epsilon=10, delta=1e-6))
                made = curator.release(query, **price).estimate()
                widths.append(np.diff(np.asarray(made.conf_int(0.95), dtype=float).reshape(-1, 2))[:, 0])
            plan = tc.plan(query, schema, rows=n, expect=known, **price)
            for p, width, term in zip(PROBS, np.median(widths, axis=0).tolist(), plan.parts[0].terms, strict=True):
                low, high = getattr(term, "between", None) or (term.width, term.width)
                words = ", ".join(f"{key} = {value:g}" for key, value in price.items())
                said = "right" if right(width, term.width, term.width) else "off"
                inside = "right" if right(width, low, high) else "off"
                cells = (f"{term.width:.3g}", f"{low:.3g} to {high:.3g}", f"{width:.3g}", said, inside)
                out.append((law.words, f"{n:,}", words, f"{p:g}", *cells))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--releases", type=int, default=40)
    parser.add_argument("--laws", default=",".join(map(str, range(len(LAWS)))))
    parser.add_argument("--read", help="a file with what was printed before; nothing is simulated")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    lines = list[tuple[str, ...]]()
    if given.read is not None:
        said = [one for one in Path(given.read).read_text(encoding="utf-8").splitlines() if one.startswith("| ")]
        lines = [tuple(part.strip() for part in one.strip("| ").split(" | ")) for one in said]
    for number in map(int, given.laws.split(",")) if given.read is None else ():
        found = rows_of(LAWS[number], number, given.releases)
        for one in found:
            print("| " + " | ".join(one) + " |", flush=True)
        lines += found
    print(summary(lines))
    if given.write:
        put(PAGE, Path(__file__).name, section(lines, given.releases))


def summary(lines: list[tuple[str, ...]]) -> str:
    widths = [float(one[4]) for one in lines]
    ends = [tuple(map(float, one[5].split(" to "))) for one in lines]
    apart = [high / max(low, 1e-9 * high) for low, high in ends if high > 0]
    off = [max(float(one[6]), 1e-9) / max(width, 1e-9) for one, width in zip(lines, widths, strict=True)]
    worst = max(max(x, 1 / x) for x in off if 1e-4 < x < 1e4)
    return (
        f"Of {len(lines)} widths {sum(one[7] == 'right' for one in lines)} are within {FACTOR} of the plan's, and "
        f"{sum(one[8] == 'right' for one in lines)} within that of the plan's range; the farthest that is not 0 is "
        f"off by {worst:.1f}. The largest of a range is {np.median(apart):.1f} times the least, in the median."
    )


def section(lines: list[tuple[str, ...]], releases: int) -> str:
    head = "| values | cells | within 1.5 of the width | of the range |\n|---|---:|---:|---:|"
    rows = list[str]()
    for law in dict.fromkeys(one[0] for one in lines):
        own = [one for one in lines if one[0] == law]
        width, ranged = (sum(one[at] == "right" for one in own) for at in (7, 8))
        rows.append(f"| {law} | {len(own)} | {width} | {ranged} |")
    table = "\n".join(rows)
    return (
        "## Quantiles of a column whose mean and spread are told\n\nA mean and a standard deviation say little of how "
        "dense values are at a quantile. Plans of quantiles therefore say a range. Its laws were weighed on these ten, "
        "so that the drawn columns of this page say more of it. Five quantiles at two sizes and three prices, medians "
        f"of {releases} releases. {summary(lines)} At "
        "heaps (hours of work, costs) intervals are narrower or wider than those of laws without, as the plan notes."
        f"\n\n{head}\n{table}\n"
    )


if __name__ == "__main__":
    main()
