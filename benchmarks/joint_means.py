"""Several columns of one question at a pure price: their noise, and the coverage of their intervals.

`python benchmarks/joint_means.py` writes its parts of docs/reference/point-errors.md in a quarter of an hour; `--quick`
prints a twentieth.  The columns of one question have noise of one vector (`tacit.noise.product`) where it adds less
than independent noises, each at its share of the price, which they had before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pages import asked, put
from point_errors import COLUMNS, Column, Draws

from tacit import Boolean, Mean, Real, Schema, Sum, Variance
from tacit.method.moments.design import design
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.testing import coverage, simulate

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "point-errors.md"

# The designs: committed before anything was simulated ---------------------------------------------------------------

MANY = (1, 2, 5, 10, 20)
"""Numbers of columns of which the noise is computed."""
COVERED = (2, 5, 10)
"""Numbers of columns whose intervals are simulated: the laws of `point_errors.COLUMNS` in turn, drawn independently."""
SIZES = (500, 5_000)
PRICES = (0.2, 1.0)
MISSING = 0.1
"""Chance of a missing cell where cells may be missing."""
LEVELS = (0.9, 0.95, 0.99)
"""Of differences and averages of columns of the same bounds, for the table alone: noise is then the only error."""
TIMES = 50
"""Of these, so many times as many releases: their intervals have one width."""
TRUTH = 20, 1_000_000
"""The true mean of a law, moved into its bounds, is that of so many draws."""

# Noise --------------------------------------------------------------------------------------------------------------


def noise() -> str:
    """Return the variance of one integer's noise beside that of independent noises, by form and number of columns."""
    real, whole = {"upper": 1, "missing": "none"}, {"upper": 1}
    cases: tuple[tuple[str, str, Any, Any], ...] = (
        ("means, nothing missing", "replace-one", lambda names: Mean(names), lambda: Real(0, **real)),
        ("means, missing values left out", "replace-one", lambda names: Mean(names), lambda: Real(0, **whole)),
        ("means, one row added or removed", "add-remove", lambda names: Mean(names), lambda: Real(0, **whole)),
        ("proportions, nothing missing", "replace-one", lambda names: Mean(names), lambda: Boolean(missing="none")),
        ("sums, missing values left out", "replace-one", lambda names: Sum(names), lambda: Real(0, **whole)),
        ("variances with intervals", "replace-one", lambda names: Variance(names), lambda: Real(0, **whole)),
        ("variances alone", "replace-one", lambda names: Variance(names, interval=False), lambda: Real(0, **real)),
    )
    rows: list[str] = []
    for title, relation, question, column in cases:
        found: list[str] = []
        for p in MANY:
            names = [f"x{j}" for j in range(p)]
            shape = design(
                question(names),
                Public(
                    Schema({name: column() for name in names}), relation, 1_000 if relation == "replace-one" else None
                ),
                Cost.of(epsilon=1),
            )
            one = shape.columns[0]
            # of independent noises: discrete Laplace of scale p l1 / epsilon
            found.append(
                f"{one.law.variance() / one.form.l1**2:.1f} ({one.law.variance() / (2 * (p * one.form.l1) ** 2):.2f})"
            )
        rows.append(f"| {title} | {' | '.join(found)} |")
    head = f"| columns | {' | '.join(map(str, MANY))} |"
    return "\n".join((head, "|---|" + "---:|" * len(MANY), *rows))


# Coverage -----------------------------------------------------------------------------------------------------------


def chosen(p: int) -> list[tuple[str, Column]]:
    """Return p columns and their names."""
    return [(f"{COLUMNS[j % len(COLUMNS)].name}{j}", COLUMNS[j % len(COLUMNS)]) for j in range(p)]


def true_mean(column: Column) -> float:
    """Return the mean of a law, moved into its bounds."""
    rng = np.random.default_rng(list(column.name.encode()))
    many, size = TRUTH
    return float(np.mean([np.clip(column.draw(rng, size), *column.bounds).mean() for _ in range(many)]))


def cells(repeats: int) -> Iterator[str]:
    """Yield a line for each number of columns, size, price and form: the coverage of all columns' intervals."""
    truths = {column.name: true_mean(column) for column in COLUMNS}
    for p in COVERED:
        columns = chosen(p)
        for form, relation in (("complete", "replace-one"), ("missing", "replace-one"), ("missing", "add-remove")):
            rule: dict[str, Any] = {"missing": "none"} if form == "complete" else {}
            schema = Schema({name: Real(*column.bounds, **rule) for name, column in columns})
            for n in SIZES:

                def draw(
                    rng: np.random.Generator, n: int = n, columns: list[tuple[str, Column]] = columns, form: str = form
                ) -> dict[str, Draws]:
                    made = {name: np.clip(column.draw(rng, n), *column.bounds) for name, column in columns}
                    if form == "missing":
                        made = {name: np.where(rng.random(n) < MISSING, np.nan, x) for name, x in made.items()}
                    return made

                for epsilon in PRICES:
                    found = coverage(
                        Mean([name for name, _ in columns]),
                        draw,
                        {name: truths[column.name] for name, column in columns},
                        epsilon=epsilon,
                        schema=schema,
                        repeats=repeats,
                        rng=p * n,
                        neighbors=relation,
                    )
                    each = 100 * found.coverage
                    yield (
                        f"| {p} | {form}, {relation} | {n:,} | {epsilon:g} | {each.mean():.1f} | {each.min():.1f} | "
                        f"{each.max():.1f} | {np.mean(found.std_error / found.std_deviation):.2f} | "
                        f"{100 * found.unclear.mean():.1f} |"
                    )


def table_alone(repeats: int) -> Iterator[str]:
    """Yield a line for each number of columns: noise is the only error, and of all releases of a table the same."""
    for p in COVERED:
        names = [f"x{j}" for j in range(p)]
        rng = np.random.default_rng(p)
        table = {name: rng.integers(0, 101, 500).astype(np.float64) for name in names}
        schema = Schema({name: Real(0, 100, missing="none") for name in names})
        made = simulate(Mean(names), table, schema, epsilon=0.5, repeats=TIMES * repeats, rng=p)
        whole = [1 / p] * p
        asks = {"one": [1.0], "the difference of two": [1.0, -1.0], "the average of all": whole}
        for words, weights in asks.items():
            error = np.abs((made.estimates - made.exact)[:, : len(weights)] @ np.array(weights))
            terms = " + ".join(f"{weight} * {name}" for weight, name in zip(weights, names, strict=False))
            found = made.release(0).estimate("table").contrast(terms)
            half = [float(np.diff(found.intervals(level)[0])[0]) / 2 for level in LEVELS]
            said = " | ".join(f"{100 * (error <= h).mean():.1f}" for h in half)
            yield f"| {p} | {words} | {said} |"


def main() -> None:
    """Simulate the parts that are asked for and write them to the page."""
    parts = {
        "noise": lambda _repeats: noise(),
        "coverage": lambda repeats: "\n".join(
            (
                "| columns | form | rows | ε | coverage, % | lowest column | highest | SE / SD | no answer, % |",
                "|---:|---|---:|---:|---:|---:|---:|---:|---:|",
                *cells(repeats),
            )
        ),
        "table": lambda repeats: "\n".join(
            (
                f"| columns | what | {' | '.join(f'{100 * level:.0f}%' for level in LEVELS)} |",
                "|---:|---|---:|---:|---:|",
                *table_alone(repeats),
            )
        ),
    }
    options = asked(__doc__, parts, 2_000)
    for name in options.parts:
        start, repeats = time.monotonic(), options.repeats // (20 if options.quick else 1)
        text = parts[name](repeats)
        print(f"{text}\n\n{time.monotonic() - start:.0f} s\n", flush=True)
        if not options.quick:
            put(PAGE, f"joint_means.py {name}", text)


if __name__ == "__main__":
    main()
