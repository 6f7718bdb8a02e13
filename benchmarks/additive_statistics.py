"""Coverage of a user's own additive statistics: docs/reference/own-statistics.md.

    python benchmarks/additive_statistics.py [--repeats 200] [--quick]

Tables are drawn and released anew in each simulation, by the law of a release.  `--quick` for a look.  Deterministic:
seeds are constants.  Statistics, laws, sizes and prices were written down before any of them was simulated.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any, Final

import numpy as np
from pages import by_repeats

import tacit as tc

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "own-statistics.md"
TRUTH: Final = 4_000_000
"""Rows from which the true values are found: their error is a hundredth of that of the largest table or less."""
SCHEMA: Final = tc.Schema({"x": tc.Real(-50, 50), "y": tc.Real(-50, 50), "wage": tc.Real(0, 1_000)})

CAPPED: Final = tc.extend.additive(
    "capped sum", rows=lambda: [tc.col("wage").clip(0, 100)], estimate=lambda sums: sums.integers[0]
)
PRODUCT: Final = tc.extend.additive(
    "trimmed product",
    rows=lambda: [tc.col("x").clip(-20, 20) * tc.col("y").clip(-20, 20)],
    estimate=lambda sums: sums.integers[0],
)
X, Y = tc.col("x").clip(-20, 20), tc.col("y").clip(-20, 20)
COVARIANCE: Final = tc.extend.additive(
    "winsorised covariance",
    # the products are in hundreds: sums whose noise is one vector are best of like size
    rows=lambda: [X, Y, X * Y / 10],
    estimate=lambda sums: (10 * sums.integers[2] - sums.integers[0] * sums.integers[1] / sums.n) / sums.n,
)
RATIO: Final = tc.extend.additive(
    "share of large wages",
    rows=lambda: [(tc.col("wage") > 50) & (tc.col("x") > 0), tc.col("x") > 0],
    estimate=lambda sums: sums.integers[0] / sums.integers[1],
)


@dataclass(frozen=True)
class Design:
    """A statistic, the number of rows, the price and the relation."""

    statistic: tc.extend.AdditiveStatistic
    n: int
    price: dict[str, float]
    relation: str = "replace-one"


DESIGNS: Final = (
    *(Design(one, 500, {"epsilon": 1}) for one in (CAPPED, PRODUCT, COVARIANCE, RATIO)),
    *(Design(one, 500, {"rho": 0.05}) for one in (CAPPED, PRODUCT, COVARIANCE, RATIO)),
    *(Design(one, 5_000, {"epsilon": 0.5}) for one in (CAPPED, PRODUCT, COVARIANCE, RATIO)),
    *(Design(one, 5_000, {"epsilon": 1, "delta": 1e-6}) for one in (CAPPED, PRODUCT, COVARIANCE, RATIO)),
    *(Design(one, 5_000, {"epsilon": 0.5}, "add-remove") for one in (CAPPED, PRODUCT, RATIO)),
    *(Design(one, 500, {"rho": 0.05}, "add-remove") for one in (CAPPED, PRODUCT, RATIO)),
)


def rows(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return rows: two correlated normal columns, and wages with a long tail; one cell in fifty is missing."""
    x = rng.normal(0, 8, n)
    y = 0.5 * x + rng.normal(2, 8, n)
    wage = rng.lognormal(3.5, 0.8, n)
    wage[rng.random(n) < 0.02] = np.nan
    return {"x": x, "y": y, "wage": wage}


def truth(design: Design) -> float:
    """Return the true value: what the statistic is of a table of TRUTH rows, scaled to the design's size."""
    made = tc.testing.simulate(design.statistic(), rows(TRUTH, np.random.default_rng(7)), SCHEMA, epsilon=1, repeats=1)
    value = float(made.exact[0])
    return value * design.n / TRUTH if design.statistic in (CAPPED, PRODUCT) else value


def line(design: Design, known: dict[str, float], repeats: int) -> str:
    """Return one line of the table."""

    def draw(rng: np.random.Generator) -> dict[str, Any]:
        # the number of rows is random where it is private
        return rows(design.n if design.relation == "replace-one" else int(rng.poisson(design.n)), rng)

    true = known[design.statistic.name] * (1 if design.statistic in (COVARIANCE, RATIO) else design.n)
    found = tc.testing.coverage(
        design.statistic(),
        draw,
        true,
        schema=SCHEMA,
        repeats=repeats,
        rng=1,
        neighbors=design.relation,
        **design.price,
    )
    cost = tc.Cost.of(**design.price)
    width = float(found.width[0] / found.width_without[0])
    return (
        f"| {design.statistic.name} | {design.n:,} | {cost} | {design.relation} | {100 * found.coverage[0]:.1f} "
        f"| {found.std_error[0] / found.std_deviation[0]:.2f} | {width:.2f} |"
    )


def page(repeats: int) -> str:
    """Return the page."""
    known = dict[str, float]()
    for one in (CAPPED, PRODUCT, COVARIANCE, RATIO):
        known[one.name] = truth(Design(one, 1, {"epsilon": 1}))
    lines = [line(design, known, repeats) for design in DESIGNS]
    return "\n".join(
        [
            "# Statistics of one's own",
            "",
            "Coverage of the intervals of statistics that `tacit.extend.additive` defines, for the population.",
            "Written by `python benchmarks/additive_statistics.py`, where the four statistics are.",
            "",
            f"{repeats:,} tables a line, drawn and released anew: the standard error of 95% is "
            f"{100 * sqrt(0.05 * 0.95 / repeats):.1f} points. *SE ÷ sd*: the mean standard error over the standard",
            "deviation of the estimates. *Width*: mean width of the intervals over that of the same estimate without",
            "privacy.",
            "",
            "| statistic | rows | price | relation | covered, % | SE ÷ sd | width |",
            "|---|---:|---|---|---:|---:|---:|",
            *lines,
        ]
    )


if __name__ == "__main__":
    by_repeats(PAGE, Path(__file__).name, __doc__, page)
