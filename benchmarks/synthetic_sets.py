"""Analyses of synthetic sets: bias, standard errors, coverage and width, beside the table's own and one set's.

    python benchmarks/synthetic_sets.py --designs claims marks --repeats 20

Keeps lines in synthetic_sets.jsonl, and writes the table of docs/reference/synthetic-sets.md from all that are kept; a
table of 20 sets takes some seconds.  The designs were committed before one of them was simulated, but for the first, on
which the method was made; how values lie within bins was chosen on the first three.  Seeds are constants.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pages import keep, kept, put

import tacit as tc

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "synthetic-sets.md"
PEOPLE: Final = 2_000_000
"""People of a population whose analysis is the truth."""
SETS: Final = 20
KEPT: Final = Path(__file__).with_suffix(".jsonl")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """A law of tables with its schema, bins and analysis."""

    name: str
    draw: Callable[[np.random.Generator, int], dict[str, Any]]
    schema: dict[str, Any]
    bins: dict[str, int]
    analysis: Callable[[pd.DataFrame], dict[str, float]]


def slopes(rows: pd.DataFrame, outcome: str, *columns: Any) -> Floats:
    """Least-squares slopes of an outcome on columns."""
    X = np.column_stack([np.ones(len(rows)), *(np.asarray(one, dtype=np.float64) for one in columns)])
    return np.linalg.lstsq(X, rows[outcome].to_numpy(np.float64), rcond=None)[0][1:]


def log_odds(outcome: Any, column: Any) -> float:
    """Slope of a logistic regression on one column, by Newton's method."""
    x = np.asarray(column, dtype=np.float64)
    X, y, beta = np.column_stack([np.ones(len(x)), x / x.std()]), np.asarray(outcome, dtype=np.float64), np.zeros(2)
    for _ in range(8):
        p = 1 / (1 + np.exp(-X @ beta))
        beta = beta + np.linalg.solve(X.T @ (X * (p * (1 - p))[:, None]), X.T @ (y - p))
    return float(beta[1] / x.std())


def normal(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Three normal columns and a level that depends on one of them."""
    z = rng.normal(size=n)
    x = 0.6 * z + 0.8 * rng.normal(size=n)
    y = 0.5 * x - 0.4 * z + rng.normal(size=n)
    g = np.where(rng.random(n) < 1 / (1 + np.exp(0.5 - x)), "b", "a")
    return {"x": x, "z": z, "y": y, "g": g}


def of_normal(rows: pd.DataFrame) -> dict[str, float]:
    """Slopes, log odds, mean, median, correlation."""
    a, b = slopes(rows, "y", rows.x, rows.z)
    return {
        "slope x": a,
        "slope z": b,
        "log odds": log_odds(rows.g == "b", rows.x),
        "mean": rows.x.mean(),
        "median": rows.y.median(),
        "correlation": rows.x.corr(rows.y),
    }


def pay(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Skewed pay by years of school, age and sex."""
    school = rng.binomial(16, 0.7, n)
    age = rng.integers(20, 65, n)
    woman = rng.random(n) < 0.45
    mean = 0.6 + 0.08 * school + 0.012 * (age - 40) - 0.25 * woman
    return {"pay": np.exp(mean + 0.45 * rng.normal(size=n)), "school": school, "age": age, "woman": woman}


def of_pay(rows: pd.DataFrame) -> dict[str, float]:
    """Slopes, difference of means, spread, quantile, log odds."""
    s, a, w = slopes(rows, "pay", rows.school, rows.age, rows.woman)
    return {
        "slope school": s,
        "slope age": a,
        "slope woman": w,
        "sd": rows.pay.std(),
        "upper quartile": rows.pay.quantile(0.75),
        "log odds": log_odds(rows.woman, rows.pay),
    }


def waits(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Gamma waits at three places, with two modes of distance."""
    place = rng.choice(3, n, p=[0.55, 0.35, 0.1])
    distance = np.where(rng.random(n) < 0.4, rng.normal(3, 0.8, n), rng.normal(8, 1.2, n)).clip(0, 12)
    wait = rng.gamma(2.0, 1.0 + 0.4 * place + 0.1 * distance)
    return {"wait": wait, "distance": distance, "place": np.array(["north", "south", "west"])[place]}


def of_waits(rows: pd.DataFrame) -> dict[str, float]:
    """Slope with a level, means by place, a quantile, a share."""
    a, b = slopes(rows, "wait", rows.distance, rows.place == "west")
    return {
        "slope distance": a,
        "slope west": b,
        "mean south": rows.wait[rows.place == "south"].mean(),
        "median": rows.wait.median(),
        "share over 6": (rows.wait > 6).mean(),
        "correlation": rows.wait.corr(rows.distance),
    }


# Columns in wide bins, whose quantiles hang on how values lie within a bin.


def claims(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Log-normal claims, most of them in the first bin, by age."""
    age = rng.integers(18, 78, n)
    return {"claim": np.exp(0.6 + 0.008 * (age - 18) + 0.8 * rng.normal(size=n)), "age": age}


def of_claims(rows: pd.DataFrame) -> dict[str, float]:
    """Quantiles, mean, share, slope."""
    return {
        "median": rows.claim.median(),
        "ninth decile": rows.claim.quantile(0.9),
        "mean": rows.claim.mean(),
        "share over 5": (rows.claim > 5).mean(),
        "slope age": slopes(rows, "claim", rows.age)[0],
    }


def marks(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Marks of two kinds of pupils, which hours tell apart in part."""
    good = rng.random(n) < 0.6
    mark = 100 * np.where(good, rng.beta(8, 3, n), rng.beta(3, 9, n))
    return {"mark": mark, "hours": rng.gamma(4.0, 1.0 + 0.6 * good)}


def of_marks(rows: pd.DataFrame) -> dict[str, float]:
    """Quantiles of a column with two modes, a share, a correlation."""
    return {
        "lower quartile": rows.mark.quantile(0.25),
        "median": rows.mark.median(),
        "ninth decile": rows.mark.quantile(0.9),
        "share under 47": (rows.mark < 47).mean(),
        "correlation": rows.mark.corr(rows.hours),
    }


def tenure(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Exponential years in a post, and who has left."""
    years = rng.exponential(6.0, n)
    return {
        "years": years,
        "left": rng.random(n) < 1 / (1 + np.exp(1.5 - 0.12 * years)),
        "grade": rng.binomial(6, 0.4, n),
    }


def of_tenure(rows: pd.DataFrame) -> dict[str, float]:
    """Quantiles, a difference of medians, a mean, log odds."""
    return {
        "median": rows.years.median(),
        "upper quartile": rows.years.quantile(0.75),
        "medians' gap": rows.years[rows.left].median() - rows.years[~rows.left].median(),
        "mean": rows.years.mean(),
        "log odds": log_odds(rows.left, rows.years),
    }


def heights(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Normal heights of two sexes, by parents' height, in bins of a standard deviation and a half."""
    man = rng.random(n) < 0.5
    parents = rng.normal(171, 5, n)
    return {"height": 165 + 12 * man + 0.6 * (parents - 171) + 6 * rng.normal(size=n), "man": man, "parents": parents}


def of_heights(rows: pd.DataFrame) -> dict[str, float]:
    """Quantiles, of one sex too, a slope, a spread."""
    return {
        "median": rows.height.median(),
        "first decile": rows.height.quantile(0.1),
        "median of men": rows.height[rows.man].median(),
        "slope parents": slopes(rows, "height", rows.parents, rows.man)[0],
        "sd": rows.height.std(),
    }


WIDE: Final = (
    Design("claims", claims, {"claim": tc.Real(0, 30), "age": tc.Integer(18, 77)}, {"claim": 10, "age": 6}, of_claims),
    Design("marks", marks, {"mark": tc.Real(0, 100), "hours": tc.Real(0, 20)}, {"mark": 8, "hours": 8}, of_marks),
    Design(
        "tenure",
        tenure,
        {"years": tc.Real(0, 40), "left": tc.Boolean(), "grade": tc.Integer(0, 6)},
        {"years": 8, "grade": 7},
        of_tenure,
    ),
    Design(
        "heights",
        heights,
        {"height": tc.Real(140, 204), "man": tc.Boolean(), "parents": tc.Real(150, 190)},
        {"height": 7, "parents": 8},
        of_heights,
    ),
)
"""Designs on which no shape of values within bins was chosen."""


DESIGNS: Final = (
    Design(
        "normal",
        normal,
        {**{c: tc.Real(-4, 4) for c in "xzy"}, "g": tc.Category(["a", "b"])},
        {"x": 8, "z": 8, "y": 8},
        of_normal,
    ),
    Design(
        "pay",
        pay,
        {"pay": tc.Real(0, 20), "school": tc.Integer(0, 16), "age": tc.Integer(20, 64), "woman": tc.Boolean()},
        {"pay": 12, "school": 6, "age": 6},
        of_pay,
    ),
    Design(
        "waits",
        waits,
        {"wait": tc.Real(0, 24), "distance": tc.Real(0, 12), "place": tc.Category(["north", "south", "west"])},
        {"wait": 12, "distance": 10},
        of_waits,
    ),
)


def bounded(design: Design, table: dict[str, Any]) -> pd.DataFrame:
    """Return the table as the schema sees it: values beyond the bounds are the bounds."""
    frame = pd.DataFrame(table)
    for name, kind in design.schema.items():
        if isinstance(kind, tc.Real):
            frame[name] = frame[name].clip(float(kind.lower), float(kind.upper))
    return frame


def simulated(design: Design, n: int, rho: float, repeats: int) -> Iterator[str]:
    """Yield lines of a design, one for each term."""
    wanted = design.analysis(bounded(design, design.draw(np.random.default_rng(2026), PEOPLE)))
    truth = np.array(list(wanted.values()))
    found, errors, inside, own, answered, one = [], [], [], [], [], []
    for i in range(repeats):
        rng = np.random.default_rng([7, i])
        rows = bounded(design, design.draw(rng, n))
        curator = tc.Curator(rows, tc.Schema(design.schema), budget=tc.Budget(rho=rho))
        cells = curator.release(tc.Histogram(list(design.schema), bins=design.bins), rho=rho)
        made = cells.synthetic_sets(SETS, rng=rng).analyse(design.analysis)
        limits = made.intervals()
        own.append(list(design.analysis(rows).values()))
        one.append(list(design.analysis(cells.sample(n, rng=rng)).values()))
        found.append(made.values)
        errors.append(made.std_errors)
        inside.append((limits[:, 0] <= truth) & (truth <= limits[:, 1]))
        answered.append([why is None for why in made.reasons])
    values, sds, hits, given = map(np.array, (found, errors, inside, answered))
    table, single = np.array(own), np.array(one)
    for j, term in enumerate(wanted):
        ok = given[:, j]
        yield "".join(
            (
                f"| {design.name} | {n:,} | {rho:g} | {term} | ",
                f"{(values[ok, j].mean() - truth[j]) / values[ok, j].std(ddof=1):.2f} | ",
                f"{np.sqrt((sds[ok, j] ** 2).mean()) / values[ok, j].std(ddof=1):.2f} | ",
                f"{100 * hits[ok, j].mean():.1f} | {100 * (1 - ok.mean()):.0f} | ",
                f"{np.median(sds[ok, j]) / table[:, j].std(ddof=1):.2f} | ",
                f"{(single[:, j].mean() - truth[j]) / single[:, j].std(ddof=1):.1f} |",
            )
        )


def page(lines: list[dict[str, Any]]) -> str:
    """Return the part of the page, from stored lines."""
    rows = []
    for one in lines:
        for line, before in zip(one["lines"], one["before"], strict=True):
            rows.append(f"{line.rstrip(' |')} | {one['repeats']} | {before} |")
    return f"""
## Coverage

Each table has {SETS} sets and half as many plain ones; coverage is of those without a reason, with 20 tables ± 10
points and with 16 ± 11 (2 standard errors of simulation). *Bias* in standard deviations of the estimate; *SE ÷ SD* the
root mean square standard error by the standard deviation; *width* the median standard error by the standard deviation
of the same analysis of the table itself; *one set* the bias of an analysis of one set of `sample` in its standard
deviations; *before* the coverage in 40 tables when sets did not draw how values lie within bins. Limits had one
standard error for both sides then, and in all lines here.

| design | rows | ρ | analysis | bias | SE ÷ SD | coverage, % | reasons, % | width | one set | tables | before |
|---|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|
{chr(10).join(rows)}
"""


def main() -> None:
    """Simulate designs and keep their lines; write the page from all that are kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--designs", nargs="*", default=[], help="those to simulate; none: the page alone")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--rho", type=float, default=1.0)
    parser.add_argument("--repeats", type=int, default=20)
    given = parser.parse_args()
    known = kept(KEPT)
    for name in given.designs:
        design = next(one for one in (*DESIGNS, *WIDE) if one.name == name)
        lines = list(simulated(design, given.rows, given.rho, given.repeats))
        cell, price = f"{name} {given.rows}", f"{given.rho:g}"
        before = known.get((cell, price), {}).get("before", ["–"] * len(lines))
        keep(KEPT, [{"cell": cell, "price": price, "repeats": given.repeats, "lines": lines, "before": before}])
    put(PAGE, "synthetic_sets.py", page([one for one in kept(KEPT).values() if one["lines"]]))


if __name__ == "__main__":
    main()
