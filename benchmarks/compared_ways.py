"""What comparisons of ways promise, and how wide the intervals of releases then are; writes a part of a page.

    python benchmarks/compared_ways.py [--repeats 10] [--only WORD] [--plain]

Each design is a question, a law of rows, a number of rows and a price.  `tc.compare` sees no row: it is told nothing
where values are spread evenly, else means, standard deviations and shares to one digit.  Every way that it expects to
answer is then released on tables drawn anew, and read as a user would read it.  Deterministic but for the noise.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pages import picked, put

import tacit as tc

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "plans.md"
DELTA = "1e-6"
ROWS = (2_000, 20_000)
PRICES: tuple[dict[str, Any], ...] = ({"rho": "1/10"}, {"epsilon": "1/2"}, {"epsilon": 1, "delta": DELTA})
WITHIN = 1.5
SCHEMA = tc.Schema(
    {
        "even": tc.Real(0, 100, missing=0),
        "bill": tc.Real(0, 100, missing=0),
        "tip": tc.Real(0, 20, missing=0),
        "sex": tc.Category(["f", "m"]),
        "paid": tc.Boolean(),
        "again": tc.Boolean(),
        "wait": tc.Real(0, 60, missing=0),
    }
)
GAMMA = tc.families.Gamma(shape=(0.5, 5), rate=(0.05, 2))
TOLD = {
    "bill": {"mean": 20, "sd": 10},
    "tip": {"mean": 4, "sd": 2},
    "sex": {"f": 0.5},
    "paid": {"true": 0.4},
    "again": {"true": 0.3},
    "wait": {"mean": 4, "sd": 3, "shape": 2, "rate": 0.5},
}


def rows_of(number: int, rng: np.random.Generator) -> dict[str, Any]:
    """Draw a table; what is told of it (TOLD) holds to one digit, and no more."""
    bill = np.clip(rng.gamma(4.5, 4.6, number), 0, 100)
    again = rng.random(number) < 0.28
    paid = rng.random(number) < 1 / (1 + np.exp(-(-0.6 + 0.8 * again)))
    return {
        "even": rng.uniform(0, 100, number),
        "bill": bill,
        "tip": np.clip(0.5 + 0.17 * bill + rng.normal(0, 1, number), 0, 20),
        "sex": np.where(rng.random(number) < 0.53, "f", "m").tolist(),
        "paid": paid,
        "again": again,
        "wait": np.clip(rng.gamma(2.2, 1 / 0.53, number), 1e-3, 60),
    }


@dataclass(frozen=True)
class Design:
    """One question, what is told of the columns, and how the answer of each way is read from its release."""

    name: str
    question: Any
    told: Mapping[str, Any]
    read: Mapping[str, Callable[[Any], Any]]
    law: Any = None


def own(release: Any) -> Any:
    """Read a release as it is."""
    return release.estimate()


def normal_mean(release: Any) -> Any:
    """Read the mean of a normal law."""
    return release.estimate()["mean"]


def designs() -> tuple[Design, ...]:
    """Return the designs."""
    law = {"Histogram, a fit to its cells": lambda made: made.fit("wait", family="gamma")}
    of_normal = {
        "SufficientStatistics, normal law": normal_mean,
        "SampleAndAggregate, normal law, blocks": normal_mean,
        "SampleAndAggregate, normal law, one step": normal_mean,
    }

    def means(column: str) -> Mapping[str, Callable[[Any], Any]]:
        return {**of_normal, "Histogram, its mean": lambda made: made.moments(column)["mean"]}

    return (
        Design("mean, even", tc.Mean("even"), {}, means("even")),
        Design("mean, skewed", tc.Mean("bill"), TOLD, means("bill")),
        Design(
            "means by sex",
            tc.Mean("bill", by="sex"),
            TOLD,
            {"Histogram, its mean": lambda made: made.moments("bill", by="sex")[["f:mean", "m:mean"]]},
        ),
        Design("share", tc.Mean("paid"), TOLD, {}),
        Design("total", tc.Sum("bill"), TOLD, {"Mean, times the rows": own}),
        Design("counts", tc.Count(by="sex"), TOLD, {}),
        Design(
            "variance",
            tc.Variance("bill"),
            TOLD,
            {"Histogram, its variance": lambda made: made.moments("bill")["variance"]},
        ),
        Design(
            "quantiles, even",
            tc.Quantiles("even", ["1/2", "9/10"]),
            {},
            {"Histogram, its quantiles": lambda made: made.quantiles("even", [0.5, 0.9])},
        ),
        Design(
            "median of a gamma law",
            tc.Quantiles("wait", ["1/2"]),
            TOLD,
            {
                "Histogram, its quantiles": lambda made: made.quantiles("wait", [0.5]),
                "SampleAndAggregate, Gamma law, blocks": lambda made: made.law().quantile(0.5),
                "SampleAndAggregate, Gamma law, one step": lambda made: made.law().quantile(0.5),
            },
            GAMMA,
        ),
        Design(
            "linear regression",
            "tip ~ bill + sex",
            TOLD,
            {"Histogram, a fit to its cells": lambda made: made.fit("tip ~ bill + sex")},
        ),
        Design(
            "logistic regression",
            tc.Regression("paid ~ again + sex", model="logistic"),
            TOLD,
            {"Histogram, a fit to its cells": lambda made: made.fit("paid ~ again + sex", model="logistic")},
        ),
        Design(
            "gamma law",
            tc.SufficientStatistics("wait", GAMMA, bounds={"wait": (0.001, 60)}),
            TOLD,
            law,
        ),
    )


def widths_of(found: Any, level: float) -> np.ndarray:
    """Return the widths of the intervals of an answer; infinite for a term with a reason."""
    if hasattr(found, "intervals"):
        limits = np.asarray(found.intervals(level), dtype=float).reshape(-1, 2)
    elif hasattr(found, "limits"):
        limits = np.asarray(found.limits, dtype=float).reshape(-1, 2)
    else:
        limits = np.asarray(found.conf_int(level), dtype=float).reshape(-1, 2)
    none = np.array([one is not None for one in getattr(found, "reasons", (None,) * len(limits))])
    return np.where(none, np.inf, limits[:, 1] - limits[:, 0])


def ratios(design: Design, number: int, price: dict[str, Any], repeats: int) -> list[tuple[str, float, bool]]:
    """Return for each way that answers: its name, the median over releases of actual ÷ planned, whether it told."""
    told = {name: dict(words) for name, words in design.told.items()}
    if "wait" in told and design.law is None and not isinstance(design.question, tc.SufficientStatistics):
        told["wait"] = {name: told["wait"][name] for name in ("mean", "sd")}
    planned = tc.compare(design.question, SCHEMA, rows=number, expect=told, law=design.law, **price)
    rng = np.random.default_rng(0)
    tables = [rows_of(number, rng) for _ in range(repeats)]
    out: list[tuple[str, float, bool]] = []
    for way in planned.ways:
        if not way.answers or way.claim.coverage == "none":
            continue
        assert way.cost is not None
        paid = {name: getattr(way.cost, name) for name in ("epsilon", "delta", "rho") if getattr(way.cost, name)}
        whole = tc.Budget(**paid)
        factor = number if way.name == "Mean, times the rows" else 1
        wanted = np.array([one.width for one in way.terms])
        found = []
        for table in tables:
            release = tc.Curator(table, SCHEMA, name="drawn", budget=whole).release(way.query, **paid)
            answer = design.read.get(way.name, own)(release)
            actual = factor * widths_of(answer, planned.level)[: len(wanted)]
            found.append(math.sqrt(float(((actual / wanted) ** 2).mean())))
        out.append((way.name, float(np.median(found)), bool(np.isfinite(np.median(found)))))
    return out


HEAD = "| question | rows | price | ways | actual ÷ planned, each way | within 1.5 |\n|---|---:|---|---:|---|---:|"
TEXT = """## Comparisons and releases

What `tc.compare` foretells for {designs} designs, and what releases then have: 12 questions, 2,000 and 20,000 rows,
three prices.  Of every way that is expected to answer with an interval, the median width over {repeats} releases of
tables drawn anew, over the planned width (of several terms the root mean square of ratios).  Plans are told nothing of
evenly spread columns, and of others means, standard deviations and shares to one digit; the rows are skewed, and
regressors are not independent of the response, as plans take them to be.  One step by a normal law rests on that law,
which neither the even nor the skewed rows follow: where a release notices, its blocks answer, with far wider intervals.
A quantile at an edge of bins (0.9 of even values) has from cells an interval of two whole bins in many releases, and a
narrow one in others, which is what the plan takes.  inf: most releases have no answer.  Written by
`python benchmarks/compared_ways.py`, whose designs were committed before one of them was simulated.  A first run (92%
within) showed that plans of functions of one-step parameters left the correlation of their noises out; that was
corrected, and all designs were run again, and for this version once more.

{summary}
"""


def main() -> None:
    """Simulate the designs, and write their table."""
    options = picked(__doc__, 10)
    lines, within, ways = [HEAD], 0, 0
    for design in designs():
        if options.only not in design.name:
            continue
        for number in ROWS:
            for price in PRICES:
                made = ratios(design, number, price, options.repeats)
                good = sum(1 / WITHIN <= ratio <= WITHIN for _, ratio, _ in made)
                within, ways = within + good, ways + len(made)
                said = ", ".join(f"{name} {ratio:.2f}" for name, ratio, _ in made)
                words = ", ".join(f"{name} = {value}" for name, value in price.items())
                lines.append(f"| {design.name} | {number:,} | {words} | {len(made)} | {said} | {good} |")
                print(lines[-1], file=sys.stderr, flush=True)
    summary = f"Within a factor 1.5: {within} of {ways} ways, {100 * within / max(ways, 1):.0f}%."
    if options.plain:
        print("\n".join([summary, "", *lines]))
        return
    text = TEXT.format(designs=len(designs()) * len(ROWS) * len(PRICES), repeats=options.repeats, summary=summary)
    put(PAGE, Path(__file__).name, f"{text}\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
