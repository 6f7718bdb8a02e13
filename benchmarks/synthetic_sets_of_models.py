"""Analyses of sets from laws and regressions: bias, standard errors, coverage; rows refitted beside the release.

    python benchmarks/synthetic_sets_of_models.py --designs "linear, frame" --repeats 24

Keeps lines in synthetic_sets_of_models.jsonl, and writes the second table of docs/reference/synthetic-sets.md.  The
designs were committed before one of them was simulated, those at low prices (LOW) before limits had an error on either
side.  Seeds are constants.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from pages import keep, kept, put
from scipy.special import stdtrit
from synthetic_sets import log_odds, slopes

import tacit as tc
from tacit.base.arrays import Array
from tacit.estimates.synthetic.synthetic_rules import combined

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "synthetic-sets.md"
PEOPLE: Final = 2_000_000
SETS: Final = 20
KEPT: Final = Path(__file__).with_suffix(".jsonl")
SCHEMA: Final = {
    "wait": tc.Real(0.001, 60),
    "pay": tc.Real(0.01, 60),
    "kids": tc.Integer(0, 20),
    "height": tc.Real(-8, 12),
    "x": tc.Real(-3, 3),
    "y": tc.Real(-8, 10),
    "ill": tc.Boolean(),
    "visits": tc.Integer(0, 40),
    "claim": tc.Real(0.001, 60),
    "calls": tc.Integer(0, 60),
}
FRAME: Final = pd.DataFrame({"x": np.random.default_rng(11).normal(0.3, 0.8, 2_000).clip(-3, 3)})
"""Public regressors."""


def table(rng: np.random.Generator, n: int, x: Any = None) -> pd.DataFrame:
    """Rows of the laws and regressions."""
    x = rng.normal(0, 1, n).clip(-3, 3) if x is None else x
    return pd.DataFrame(
        {
            "wait": rng.gamma(1.6, 2.0, n).clip(0.001, 60),
            "pay": np.exp(0.8 + 0.6 * rng.normal(size=n)).clip(0.01, 60),
            "kids": rng.poisson(1.4, n).clip(0, 20),
            "height": rng.normal(1.5, 1.2, n),
            "x": x,
            "y": 1 + 0.7 * x + 1.1 * rng.normal(size=n),
            "ill": rng.random(n) < 1 / (1 + np.exp(0.8 - 0.9 * x)),
            "visits": rng.poisson(np.exp(0.4 + 0.35 * x)),
            # after the others, which are as they were without them
            "claim": rng.gamma(2.5, np.exp(0.7 + 0.3 * x) / 2.5).clip(0.001, 60),
            "calls": rng.poisson(rng.gamma(2.0, np.exp(0.6 + 0.3 * x) / 2.0)).clip(0, 60),
        }
    )


def of_column(name: str, over: float) -> Callable[[pd.DataFrame], dict[str, float]]:
    """Return an analysis of one column: mean, spread, quantiles, a share."""

    def analysis(rows: pd.DataFrame) -> dict[str, float]:
        x = rows[name]
        found = {"mean": x.mean(), "sd": x.std(), f"share over {over:g}": (x > over).mean()}
        return found if name == "kids" else {**found, "median": x.median(), "ninth decile": x.quantile(0.9)}

    return analysis


def of_y(rows: pd.DataFrame) -> dict[str, float]:
    """Slope, mean, and the share over 2."""
    (slope,) = slopes(rows, "y", rows.x)
    return {"slope": slope, "mean": rows.y.mean(), "share over 2": (rows.y > 2).mean()}


def of_ill(rows: pd.DataFrame) -> dict[str, float]:
    """Log odds, the share, and the mean of x among them."""
    return {"log odds": log_odds(rows.ill, rows.x), "share": rows.ill.mean(), "x of the ill": rows.x[rows.ill].mean()}


def of_visits(rows: pd.DataFrame) -> dict[str, float]:
    """Rate ratio of one unit of x about its mean, mean, and the share of none."""
    x, y = rows.x.to_numpy(), rows.visits.to_numpy(dtype=np.float64)
    X, beta = np.column_stack([np.ones(len(x)), x]), np.zeros(2)
    for _ in range(12):
        mean = np.exp(X @ beta)
        beta = beta + np.linalg.solve(X.T @ (X * mean[:, None]), X.T @ (y - mean))
    return {"log rate ratio": beta[1], "mean": y.mean(), "share of none": (y == 0).mean()}


def of_claims(rows: pd.DataFrame) -> dict[str, float]:
    """Mean, spread, and the shares over 4 and over 8."""
    x = rows.claim
    return {"mean": x.mean(), "sd": x.std(), "share over 4": (x > 4).mean(), "share over 8": (x > 8).mean()}


def of_calls(rows: pd.DataFrame) -> dict[str, float]:
    """Mean, and the shares of none and over 5."""
    return {"mean": rows.calls.mean(), "share of none": (rows.calls == 0).mean(), "over 5": (rows.calls > 5).mean()}


def others(rng: np.random.Generator, n: int, x: Any = None) -> pd.DataFrame:
    """Rows of the designs at low prices: other laws of some columns."""
    x = rng.normal(0, 1, n).clip(-3, 3) if x is None else x
    return pd.DataFrame(
        {
            "wait": rng.exponential(6.0, n).clip(0.001, 60),
            "kids": rng.poisson(0.7, n).clip(0, 20),
            "height": 1.5 + 1.1 * rng.standard_t(6, n).clip(-6, 6),
            "x": x,
            "y": 1.5 - 0.5 * x + 1.4 * rng.normal(size=n),
            "ill": rng.random(n) < 1 / (1 + np.exp(1.6 + 0.7 * x)),
            "visits": rng.poisson(np.exp(0.2 - 0.4 * x)),
            "claim": rng.gamma(1.8, np.exp(0.9 - 0.25 * x) / 1.8).clip(0.001, 60),
        }
    )


def of_spread(rows: pd.DataFrame) -> dict[str, float]:
    """Shares on either side, a quantile, and the spread of y."""
    y = rows.y
    return {
        "share under 0": (y < 0).mean(),
        "share over 4": (y > 4).mean(),
        "ninth decile": y.quantile(0.9),
        "sd": y.std(),
    }


def of_cells(rows: pd.DataFrame) -> dict[str, float]:
    """Slope, mean, median, a share, and a correlation."""
    (slope,) = slopes(rows, "y", rows.x)
    return {
        "slope": slope,
        "mean": rows.y.mean(),
        "median": rows.y.median(),
        "share over 3": (rows.y > 3).mean(),
        "correlation": rows.x.corr(rows.y),
    }


@dataclass(frozen=True)
class ModelDesign:
    """A question with its rows, price and analysis; regressors: None, "frame" or "histogram".

    draw: rows from a generator, their number and regressors, or None.
    """

    name: str
    query: Any
    rows: int
    epsilon: float
    analysis: Callable[[pd.DataFrame], dict[str, float]]
    regressors: str | None = None
    draw: Callable[..., pd.DataFrame] = table


F: Final = tc.families
DESIGNS: Final = (
    ModelDesign(
        "gamma, statistics",
        tc.SufficientStatistics("wait", F.Gamma(shape=(0.3, 6), rate=(0.02, 5))),
        4_000,
        0.5,
        of_column("wait", 5),
    ),
    ModelDesign(
        "lognormal, statistics",
        tc.SufficientStatistics("pay", F.Lognormal(mean=(-2, 4), sd=(0.1, 2))),
        2_000,
        0.5,
        of_column("pay", 4),
    ),
    ModelDesign(
        "Poisson, statistics",
        tc.SufficientStatistics("kids", F.Poisson(mean=(0.05, 10))),
        2_000,
        0.3,
        of_column("kids", 2),
    ),
    ModelDesign(
        "normal, blocks",
        tc.SampleAndAggregate("height", F.Normal(mean=(-5, 9), sd=(0.2, 4))),
        10_000,
        1.0,
        of_column("height", 3),
    ),
    ModelDesign("linear, frame", tc.Regression("y ~ x"), 5_000, 1.0, of_y, "frame"),
    ModelDesign("logistic, histogram", tc.Regression("ill ~ x", model="logistic"), 10_000, 1.0, of_ill, "histogram"),
    ModelDesign("Poisson, frame", tc.Regression("visits ~ x", model="poisson"), 10_000, 1.0, of_visits, "frame"),
    # written down when the spread of responses began to be drawn, before any of them was simulated
    ModelDesign("linear, low price", tc.Regression("y ~ x"), 3_000, 0.5, of_y, "frame"),
    ModelDesign("gamma, frame", tc.Regression("claim ~ x", model="gamma"), 10_000, 1.0, of_claims, "frame"),
    ModelDesign("negative binomial", tc.Regression("calls ~ x", model="poisson"), 10_000, 1.0, of_calls, "frame"),
)
LOW: Final = (
    # low prices, written down before any of them was simulated, when either side was to have an error of its own
    ModelDesign("linear, 1,500", tc.Regression("y ~ x"), 1_500, 0.5, of_spread, "frame", others),
    ModelDesign("logistic, 3,000", tc.Regression("ill ~ x", model="logistic"), 3_000, 0.5, of_ill, "frame", others),
    ModelDesign("Poisson, 3,000", tc.Regression("visits ~ x", model="poisson"), 3_000, 0.5, of_visits, "frame", others),
    ModelDesign("gamma, 4,000", tc.Regression("claim ~ x", model="gamma"), 4_000, 0.5, of_claims, "frame", others),
    ModelDesign(
        "exponential, 500",
        tc.SufficientStatistics("wait", F.Exponential(rate=(0.01, 5))),
        500,
        0.2,
        of_column("wait", 12),
        draw=others,
    ),
    ModelDesign(
        "Poisson, 500",
        tc.SufficientStatistics("kids", F.Poisson(mean=(0.05, 10))),
        500,
        0.1,
        of_column("kids", 1),
        draw=others,
    ),
    ModelDesign(
        "normal, 1,000",
        tc.SufficientStatistics("y", F.Normal(mean=(-5, 9), sd=(0.2, 4))),
        1_000,
        0.2,
        of_spread,
        draw=others,
    ),
    ModelDesign(
        "histogram, 2,000", tc.Histogram(["x", "y"], bins={"x": 10, "y": 15}), 2_000, 0.5, of_cells, draw=others
    ),
)


def truth_of(design: ModelDesign) -> dict[str, float]:
    """Return the analysis of a population, whose regressors are those of the frame where that is given."""
    x = None if design.regressors != "frame" else np.resize(FRAME["x"].to_numpy(), PEOPLE)
    return design.analysis(design.draw(np.random.default_rng(2026), PEOPLE, x))


def even_limits(sets: list[list[float]], plain: int) -> Array:
    """Return limits by one standard error for both sides, shape (m, 2), as they were before; plain: so many sets."""
    as_it_is, drawn = np.array(sets[:plain]), np.array(sets[plain:])
    found, free = combined(as_it_is, drawn), len(drawn) - 1.0
    scatter = drawn.var(axis=0, ddof=1) ** 2 / free + as_it_is.var(axis=0, ddof=1) ** 2 / (plain - 1)
    df = np.divide(found.std_errors**4, scatter, out=np.full_like(scatter, free), where=scatter > 0)
    half = stdtrit(np.clip(df, 1.0, free), 0.975) * found.std_errors
    return np.stack([found.values - half, found.values + half], axis=1)


def simulated(design: ModelDesign, repeats: int) -> Iterator[str]:
    """Yield lines of a design, one for each term."""
    wanted = truth_of(design)
    truth = np.array(list(wanted.values()))
    found, errors, inside, even, answered = [], [], [], [], []
    for i in range(repeats):
        rng = np.random.default_rng([8, i])
        rows = design.draw(rng, design.rows)
        schema = tc.Schema({name: SCHEMA[name] for name in rows.columns})
        curator = tc.Curator(rows, schema, budget=tc.Budget(epsilon=9))
        release = curator.release(design.query, epsilon=design.epsilon)
        more: dict[str, Any] = {"regressors": FRAME} if design.regressors == "frame" else {}
        if design.regressors == "histogram":
            more = {"regressors": curator.release(tc.Histogram("x", bins=12), epsilon=design.epsilon)}
        seen = list[list[float]]()

        def analysis(frame: pd.DataFrame, seen: list[list[float]] = seen) -> dict[str, float]:
            numbers = design.analysis(frame)
            seen.append(list(numbers.values()))
            return numbers

        try:
            sets = release.synthetic_sets(SETS, rng=rng, **more)
            made = sets.analyse(analysis)
        except tc.errors.InferenceError:
            answered.append([False] * len(truth))
            for one in (found, errors, inside, even):
                one.append(np.zeros(len(truth)))
            continue
        limits, before = made.intervals(), even_limits(seen, len(sets.plain))
        found.append(made.values)
        errors.append(made.std_errors)
        inside.append((limits[:, 0] <= truth) & (truth <= limits[:, 1]))
        even.append((before[:, 0] <= truth) & (truth <= before[:, 1]))
        answered.append([why is None for why in made.reasons])
    values, sds, hits, hits_even, given = map(np.array, (found, errors, inside, even, answered))
    for j, term in enumerate(wanted):
        ok = given[:, j]
        spread = values[ok, j].std(ddof=1)
        ratio = np.sqrt((sds[ok, j] ** 2).mean()) / spread
        yield "".join(
            (
                f"| {design.name} | {design.rows:,} | {design.epsilon:g} | {term} | ",
                f"{(values[ok, j].mean() - truth[j]) / spread:.2f} | {ratio:.2f} | ",
                f"{100 * hits[ok, j].mean():.1f} | {100 * hits_even[ok, j].mean():.1f} | {100 * (1 - ok.mean()):.0f} |",
            )
        )


def page(lines: list[dict[str, Any]]) -> str:
    """Return the part of the page, from stored lines."""
    # lines that were simulated once more, or first, with the spread of responses drawn have more tables
    many = sorted({one["repeats"] for one in lines})
    tables = " or ".join(f"{one:,}" for one in many)
    errors = " or ".join(f"{200 * math.sqrt(0.05 * 0.95 / one):.1f}" for one in many)
    rows = [line if one.get("even") else _of_even(line) for one in lines for line in one["lines"]]
    again = ", ".join(one["cell"] for one in lines if one["repeats"] == many[-1])
    return f"""
## Coverage of sets from laws and regressions

{tables} tables a line (the most: {again}), each with {SETS} sets and half as many plain ones; ± {errors}
points (2 standard errors of simulation). Columns as above; *even* is the coverage of limits with one standard error for
both sides, from the same sets; – where a line was not simulated since there are two.

| release | rows | ε | analysis | bias | SE ÷ SD | coverage, % | even, % | reasons, % |
|---|---:|---:|---|---:|---:|---:|---:|---:|
{chr(10).join(rows)}
"""


def _of_even(line: str) -> str:
    """Return a line that was stored before limits had two sides: its coverage is that of even limits."""
    first, covered, reasons = line.rstrip("| ").rsplit(" | ", 2)
    return f"{first} | – | {covered} | {reasons} |"


def main() -> None:
    """Simulate designs and keep their lines; write the part of the page from all that are kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--designs", nargs="*", default=[], help="those to simulate; none: the page alone")
    parser.add_argument("--repeats", type=int, default=24)
    given = parser.parse_args()
    for design in (*DESIGNS, *LOW):
        if design.name in given.designs:
            lines = list(simulated(design, given.repeats))
            cell, price = design.name, f"{design.epsilon:g}"
            keep(KEPT, [{"cell": cell, "price": price, "repeats": given.repeats, "lines": lines, "even": True}])
    put(PAGE, "synthetic_sets_of_models.py", page(list(kept(KEPT).values())))


if __name__ == "__main__":
    main()
