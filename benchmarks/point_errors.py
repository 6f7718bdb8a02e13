"""Point errors beside other libraries at the same honest cost, for docs/reference/point-errors.md.

`python benchmarks/point_errors.py` writes the page in about ten minutes; `--quick` prints a twentieth.  It needs an
environment of its own beside this package: `pip install diffprivlib opendp "scikit-learn<1.6"`.

The error is that of one number against the table's own value: what a library says without any sampling.  Neighbours
replace one row, the number of rows is public, the price is epsilon; so do diffprivlib and OpenDP (of tables of known
size) promise.  Histograms: neighbours add or remove one row, which is what diffprivlib's noise is for.  The columns
have no missing cells, and that is declared (`missing="none"`), as other libraries take it for granted.  Quantiles have
a script of their own, `quantile_points.py`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pages import put

from tacit import Histogram, Mean, Real, Schema, Variance
from tacit.testing import simulate

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "point-errors.md"
Draws = NDArray[np.float64]

# The designs: committed before anything was simulated ---------------------------------------------------------------

SIZES = (500, 5_000, 50_000)
PRICES = (0.2, 1.0)
BINS = 10


@dataclass(frozen=True)
class Column:
    """A law of values, the bounds that a careful steward would declare, and what it stands for."""

    name: str
    about: str
    bounds: tuple[float, float]
    draw: Callable[[np.random.Generator, int], Draws]

    def table(self, n: int) -> Draws:
        """Return the column of n rows: one table for all libraries, moved into the bounds."""
        seed = [n, *self.name.encode()]
        return np.clip(self.draw(np.random.default_rng(seed), n), *self.bounds)


COLUMNS = (
    Column("age", "ages, spread over their bounds", (18, 98), lambda rng, n: np.rint(18 + 80 * rng.beta(2, 3, n))),
    Column("income", "lognormal, the bounds far out", (0, 500_000), lambda rng, n: rng.lognormal(10.3, 0.8, n)),
    Column("score", "normal, narrow in its bounds", (0, 100), lambda rng, n: rng.normal(70, 6, n)),
    Column("hours", "whole hours, six in ten at 40", (0, 80), lambda rng, n: np.where(
        rng.random(n) < 0.6, 40.0, np.rint(rng.gamma(4, 8, n)))),
    Column("stay", "exponential, near the lower bound", (0, 365), lambda rng, n: rng.exponential(9, n)),
)  # fmt: skip


# Libraries: each returns draws of its released number -----------------------------------------------------------------


def ours(statistic: str, column: Column, x: Draws, epsilon: float, repeats: int, *, interval: bool) -> Draws:
    """Tacit's; interval: as by default, with an interval, and missing cells left out although there are none."""
    schema = Schema({"x": Real(*column.bounds) if interval else Real(*column.bounds, missing="none")})
    question = Mean("x") if statistic == "mean" else Variance("x", interval=interval)
    seed = int(x.sum() * epsilon) % 2**31
    return simulate(question, {"x": x}, schema, epsilon=epsilon, repeats=repeats, rng=seed).estimates[:, 0]


def diffprivlib(statistic: str, column: Column, x: Draws, epsilon: float, repeats: int) -> Draws:
    """Return draws of diffprivlib's numbers."""
    from diffprivlib import BudgetAccountant, tools

    words: dict[str, Any] = {"epsilon": epsilon, "bounds": column.bounds, "accountant": BudgetAccountant()}
    first = int(x.sum() * epsilon) % 2**31  # other draws for another table or price
    asked: Callable[..., Any] = tools.mean if statistic == "mean" else tools.var
    scale = 1.0 if statistic == "mean" else len(x) / (len(x) - 1)  # its divisor is n
    return scale * np.array([asked(x, random_state=first + i, **words) for i in range(repeats)])


def opendp(statistic: str, column: Column, x: Draws, epsilon: float, repeats: int) -> Draws:
    """Return draws of OpenDP's mean or variance of a table of known size."""
    import opendp.prelude as dp

    dp.enable_features("contrib", "idealized-numerics")
    bounds = tuple(map(float, column.bounds))
    space = dp.vector_domain(dp.atom_domain(bounds=bounds, nan=False), size=len(x)), dp.symmetric_distance()
    exact = dp.t.make_mean(*space) if statistic == "mean" else dp.t.make_variance(*space, ddof=1)
    scale = dp.binary_search_param(lambda b: exact >> dp.m.then_laplace(b), d_in=2, d_out=epsilon)
    noise = dp.m.make_laplace(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale)
    value = exact(x.tolist())  # once: its noise is drawn many times
    return np.array([noise(value) for _ in range(repeats)])


def histograms(column: Column, x: Draws, epsilon: float, repeats: int) -> tuple[float, float]:
    """Return root mean squared errors of the counts of equal bins: ours, and diffprivlib's.  One row added or removed.

    Numbers of our release are noisy counts as they are; diffprivlib moves its own to 0 and above.
    """
    from diffprivlib import BudgetAccountant, tools

    edges = np.linspace(*column.bounds, BINS + 1)
    truth = np.histogram(x, edges)[0]
    made = simulate(
        Histogram("x", bins={"x": BINS}), {"x": x}, Schema({"x": Real(*column.bounds, missing="none")}),
        epsilon=epsilon, repeats=repeats, neighbors="add-remove",
    ).estimates  # fmt: skip
    words: dict[str, Any] = {"epsilon": epsilon, "range": column.bounds, "accountant": BudgetAccountant()}
    first = int(x.sum() * epsilon) % 2**31
    theirs = np.array([tools.histogram(x, bins=BINS, random_state=first + i, **words)[0] for i in range(repeats)])
    return tuple(float(np.sqrt(((found - truth) ** 2).mean())) for found in (made[:, :BINS], theirs))  # pyright: ignore


# Tables ---------------------------------------------------------------------------------------------------------------


def truth(statistic: str, x: Draws) -> float:
    """Return the table's own value."""
    if statistic == "mean":
        return float(x.mean())
    return float(x.var(ddof=1))


def error(draws: Draws, value: float) -> float:
    """Return the root mean squared error."""
    return float(np.sqrt(((draws - value) ** 2).mean()))


def lines(statistic: str, repeats: int) -> Iterator[str]:
    """Yield a row of the table for each column, size and price."""
    for column in COLUMNS:
        for n in SIZES:
            x = column.table(n)
            value, spread = truth(statistic, x), float(x.std())
            unit = spread**2 if statistic == "variance" else spread
            for epsilon in PRICES:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    point, whole = (
                        error(ours(statistic, column, x, epsilon, repeats, interval=yes), value)
                        for yes in (False, True)
                    )
                    peers = {
                        "diffprivlib": error(diffprivlib(statistic, column, x, epsilon, repeats), value),
                        "OpenDP": error(opendp(statistic, column, x, epsilon, repeats), value),
                    }
                best = min((found, name) for name, found in peers.items())
                cells = " | ".join(f"{one / unit:.2g}" for one in peers.values())
                yield (
                    f"| {column.name} | {n:,} | {epsilon:g} | {point / unit:.2g} | {cells} | {point / best[0]:.2f} "
                    f"({best[1]}) | {whole / best[0]:.2f} |"
                )


def table(statistic: str, repeats: int) -> str:
    """Return the table of one statistic."""
    head = "| column | rows | ε | Tacit | diffprivlib | OpenDP | Tacit / best peer | with an interval / best peer |"
    rule = "|---|---:|---:|---:|---:|---:|---:|---:|"
    return "\n".join((f"**{statistic[0].upper()}{statistic[1:]}**\n", head, rule, *lines(statistic, repeats)))


def counts(repeats: int) -> str:
    """Return the table of histograms."""
    rows: list[str] = []
    for column in COLUMNS:
        for n in SIZES:
            for epsilon in PRICES:
                own, theirs = histograms(column, column.table(n), epsilon, repeats)
                rows.append(f"| {column.name} | {n:,} | {epsilon:g} | {own:.3g} | {theirs:.3g} | {own / theirs:.2f} |")
    head = "| column | rows | ε | Tacit, rows a bin | diffprivlib | ratio |\n|---|---:|---:|---:|---:|---:|"
    return "\n".join(("**Histogram of 10 equal bins**\n", head, *rows))


def main() -> None:
    """Simulate the parts that are asked for and write them to the page."""
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--quick", action="store_true", help="a twentieth of the repetitions; the page is not written")
    names = ("mean", "variance", "histogram")
    made.add_argument("--parts", nargs="*", default=names, choices=names)
    asked = made.parse_args()
    for name in asked.parts:
        start, less = time.monotonic(), 20 if asked.quick else 1
        repeats = 2_000 // less
        text = counts(repeats) if name == "histogram" else table(name, repeats)
        print(f"{text}\n\n{time.monotonic() - start:.0f} s\n", flush=True)
        if not asked.quick:
            put(PAGE, f"point_errors.py {name}", text)


if __name__ == "__main__":
    main()
