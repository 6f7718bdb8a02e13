"""Lei's table of housing prices (2011, §4.3) re-done, and the same on real tables: docs/reference/histogram-fits.md.

    python benchmarks/lei.py [--quick] [--pums pums_california_10000.parquet] [--flights flights_200000.parquet]

All methods see the same noisy counts, so that their differences are paired.  The generated table is drawn 100 times,
for no method knows where values lie within bins, which favours one or the other by chance.  Real tables: that
of the RAND Health Insurance Experiment comes with statsmodels; files of others are named.  About ten minutes in two
processes.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pages import Part, put, worked

from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.regression_fits import fit_cells

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "histogram-fits.md"
Rows = dict[str, np.ndarray]
TERMS = ("Intercept", "Size", "Year", "County2", "County3", "County4", "County5", "County6")
PUBLISHED = np.array([135141, 209, 56375, -53765, 146593, -27546, 45828, -140738], dtype=float)
PRINTED = {  # Lei 2011, Table 1, in percent
    0.1: ((10.6, 4.7, 4.6, 8.0, 4.2, 29.8, 9.8, 7.1), (7.7, 3.5, 2.8, 7.8, 2.5, 37.1, 7.9, 3.3)),
    1.0: ((7.2, 3.6, 1.0, 1.5, 0.8, 2.8, 1.4, 1.0), (4.4, 2.3, 0.4, 0.7, 0.3, 2.1, 1.3, 0.4)),
}
METHODS = ("lei-2011", "lei-2011-threshold", "corrected", "corrected, threshold")
BOTH = ("lei-2011", "corrected")


@dataclass(frozen=True)
class Binned:
    """A table in cells, and least squares on its rows: `ols` has one coefficient for each of `terms`."""

    axes: tuple[CellAxis, ...]
    counts: np.ndarray
    formula: str
    terms: tuple[str, ...]
    ols: np.ndarray

    def off(self, noise: np.ndarray | None, alpha: float, method: str) -> np.ndarray:
        """Percent by which coefficients of noisy counts (or of the counts themselves) are off, shape (terms,)."""
        n = float(self.counts.sum())
        cells = CellCounts(self.axes, self.counts, 0.0, n)
        if noise is not None:
            cells = CellCounts(self.axes, self.counts + noise, 8 / alpha**2, n)
        if method == "corrected, threshold":
            cells, method = cells.threshold(0.5, 1 / alpha, n), "corrected"
        fit = fit_cells(cells, self.formula, "linear", method)  # type: ignore[arg-type]
        return 100 * (fit.values[[fit.names.index(term) for term in self.terms]] / self.ols - 1)


def binned(rows: Rows, axes: Sequence[CellAxis], formula: str, columns: Mapping[str, np.ndarray]) -> Binned:
    """Cells of rows, and least squares with an intercept on `columns`, the terms of `formula`."""
    response = rows[axes[0].name]
    X = np.column_stack([np.ones(len(response)), *columns.values()])
    edges = [np.arange(one.bins + 1) - 0.5 if one.kind == "levels" else one.bounds for one in axes]
    counts = np.histogramdd(np.stack([rows[one.name] for one in axes], axis=1), edges)[0]
    ols = np.linalg.lstsq(X, response, rcond=None)[0]
    return Binned(tuple(axes), counts, formula, ("Intercept", *columns), ols)


@dataclass(frozen=True)
class Compared:
    """Relative errors in percent, by method: without noise, shape (tables, terms), and with it, (tables,
    perturbations, terms).
    """

    bins: dict[str, np.ndarray]
    noisy: dict[str, np.ndarray]

    def rms(self, method: str) -> np.ndarray:
        """Root mean square of each term."""
        return np.sqrt((self.noisy[method] ** 2).mean(axis=(0, 1)))

    def alone(self, method: str) -> np.ndarray:
        """Return the root mean squares without noise."""
        return np.sqrt((self.bins[method] ** 2).mean(axis=0))

    def less(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the root mean square of the corrected fit minus that of the published one, and its standard error
        by the delta method; between tables where there are several.
        """
        old, new = (self.rms(method) for method in BOTH)
        effect = self.noisy["corrected"] ** 2 / (2 * new) - self.noisy["lei-2011"] ** 2 / (2 * old)
        each = effect.mean(axis=1) if len(effect) > 1 else effect[0]
        return new - old, each.std(axis=0, ddof=1) / np.sqrt(len(each))


def compared(
    tables: Sequence[Callable[[], Binned]], alpha: float, repeats: int, methods: Sequence[str], seed: int
) -> Compared:
    """Run every method on the same perturbations."""
    rng = np.random.default_rng(seed)
    bins: dict[str, list[np.ndarray]] = {method: [] for method in BOTH}
    noisy: dict[str, list[list[np.ndarray]]] = {method: [] for method in methods}
    for make in tables:
        table = make()
        noises = rng.laplace(0, 2 / alpha, (repeats, *table.counts.shape))
        for method in BOTH:
            bins[method].append(table.off(None, alpha, method))
        for method in methods:
            noisy[method].append([table.off(noise, alpha, method) for noise in noises])
    return Compared({m: np.array(v) for m, v in bins.items()}, {m: np.array(v) for m, v in noisy.items()})


# The generated table -------------------------------------------------------------------------------------------------


def houses(rng: np.random.Generator, n: int = 250_070) -> Rows:
    """Sales with the published coefficients; prices within 1e5 to 9e5, sizes to 3,000 square feet, as in the paper."""
    m = 2 * n
    size = 400 + 2_600 * rng.beta(2.2, 3.2, m)
    year = rng.choice(4, m, p=[0.24, 0.27, 0.27, 0.22]).astype(float)
    county = rng.choice(6, m, p=[0.22, 0.2, 0.12, 0.16, 0.2, 0.1])
    price = PUBLISHED[0] + PUBLISHED[1] * size + PUBLISHED[2] * year + np.r_[0, PUBLISHED[3:]][county]
    price = price + rng.normal(0, 110_000, m)
    keep = np.flatnonzero((price >= 1e5) & (price < 9e5))[:n]
    return {"price": price[keep], "size": size[keep], "year": year[keep], "county": county[keep].astype(float)}


def sales(seed: int) -> Binned:
    rows = houses(np.random.default_rng(seed))
    axes = (
        CellAxis("price", "continuous", np.linspace(1e5, 9e5, 11)),
        CellAxis("size", "continuous", np.linspace(0.0, 3_000.0, 11)),
        CellAxis("year", "levels", labels=("2003", "2004", "2005", "2006"), numbers=np.arange(4.0)),
        CellAxis("county", "levels", labels=tuple("123456")),
    )
    counties = {f"county[T.{c + 1}]": rows["county"] == c for c in range(1, 6)}
    return binned(rows, axes, "price ~ size + year + county", {"size": rows["size"], "year": rows["year"], **counties})


def generated(alpha: float, tables: int, repeats: int) -> str:
    found = compared([partial(sales, seed) for seed in range(tables)], alpha, repeats, METHODS, seed=2011)
    old, new = (found.alone(method) for method in BOTH)
    less, error = found.less()
    lines = [
        f"\nα = {alpha:g}:\n",
        "| | published | threshold | **corrected** | corrected − published | corrected, threshold "
        "| bins alone: published | bins alone: corrected | printed | printed, threshold |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for i, term in enumerate(TERMS):
        a, b, c, d = (f"{found.rms(method)[i]:.2f}" for method in METHODS)
        printed = " | ".join(str(column[i]) for column in PRINTED[alpha])
        gain = f"{less[i]:+.2f} ± {error[i]:.2f}"
        lines.append(f"| {term} | {a} | {b} | **{c}** | {gain} | {d} | {old[i]:.2f} | {new[i]:.2f} | {printed} |")
    a, b, c, d = (f"{np.sqrt((found.rms(method) ** 2).mean()):.2f}" for method in METHODS)
    o, w = (f"{np.sqrt((one**2).mean()):.2f}" for one in (old, new))
    lines.append(f"| all | {a} | {b} | **{c}** | | {d} | {o} | {w} | | |")
    return "\n".join(lines)


def page(tables: int, repeats: int) -> list[Part]:
    return [
        "## Lei's table of housing prices, on generated rows\n",
        "Tables of 250,070 generated sales with the published coefficients (then cut to the published range of prices,"
        "\nwhich moves them); 10 bins for price and for size, 4 years, 6 counties. Root mean square of estimate ÷ OLS −"
        f"\n1 over {tables} tables and {repeats} perturbations of each, in percent; all methods see the same ones;"
        "\n± is the standard error of the difference. *Published* is the paper's Algorithm 1, *threshold* its A = ½;"
        "\n*corrected, threshold* is the correction for binning on thresholded counts. Thresholds save noise and have"
        "\nno standard errors; the corrected fit, the default, has. *Bins alone* is without noise. *Printed* is Table 1"
        "\nof the paper, for its own rows.\n\n"
        "Part of *bins alone* is chance: where values lie within their bins is lost, whatever the method, and moves a"
        "\ncounty's coefficient by about as much as the last of them says. In one table that can cancel the bias of"
        "\nmidpoints, so tables are drawn anew. At α = 0.1 noise is nearly all of the error, and the correction, which"
        "\ntakes differences of counts, adds a few percent to it.\n",
        partial(generated, 1.0, tables, repeats),
        partial(generated, 0.1, tables, repeats),
    ]


# Real tables ---------------------------------------------------------------------------------------------------------


def clipped(values: Any, low: float, high: float) -> np.ndarray:
    return np.clip(np.asarray(values, dtype=np.float64), low, np.nextafter(high, low))


def pums(path: Path) -> Binned:
    import pandas as pd

    data = pd.read_parquet(path)
    rows = {
        "income": clipped(data["income"], 0, 200_000),
        "age": clipped(data["age"], 18, 94),
        "educ": clipped(data["educ"], 1, 16),
        "sex": np.asarray(data["sex"], dtype=np.float64),
    }
    axes = (
        CellAxis("income", "continuous", np.array([0, 1, 2, 3, 4, 5, 7.5, 10, 15, 20]) * 1e4),
        CellAxis("age", "continuous", np.linspace(18, 94, 9)),
        CellAxis("educ", "continuous", np.linspace(0.5, 16.5, 5)),
        CellAxis("sex", "levels", labels=("male", "female")),
    )
    columns = {"age": rows["age"], "educ": rows["educ"], "sex[T.female]": rows["sex"]}
    return binned(rows, axes, "income ~ age + educ + sex", columns)


def flights(path: Path) -> Binned:
    import pandas as pd

    data = pd.read_parquet(path)
    rows = {
        "delay": clipped(data["delay"], -60, 180),
        "distance": clipped(data["distance"], 0, 3_000),
        "time": clipped(data["time"], 0, 24),
    }
    axes = tuple(
        CellAxis(name, "continuous", np.linspace(*ends))
        for name, ends in {"delay": (-60, 180, 25), "distance": (0, 3_000, 11), "time": (0, 24, 13)}.items()
    )
    return binned(rows, axes, "delay ~ distance + time", {k: rows[k] for k in ("distance", "time")})


def rand() -> Binned:
    """The RAND Health Insurance Experiment as statsmodels has it: chronic diseases by plan and health."""
    from statsmodels.datasets import randhie

    data = randhie.load_pandas().data
    rows = {
        "disea": clipped(data["disea"], 0, 60),
        "lpi": clipped(data["lpi"], 0, 8),
        "limits": np.asarray(data["physlm"] > 0, dtype=np.float64),
        "good": np.asarray(data["hlthg"], dtype=np.float64),
    }
    axes = (
        CellAxis("disea", "continuous", np.linspace(0, 60, 21)),
        CellAxis("lpi", "continuous", np.linspace(0, 8, 11)),
        CellAxis("limits", "levels", labels=("no", "yes")),
        CellAxis("good", "levels", labels=("no", "yes")),
    )
    columns = {"lpi": rows["lpi"], "limits[T.yes]": rows["limits"], "good[T.yes]": rows["good"]}
    return binned(rows, axes, "disea ~ lpi + limits + good", columns)


def real(name: str, make: Callable[[], Binned], repeats: int) -> str:
    table, lines = make(), list[str]()
    n, cells = int(table.counts.sum()), " × ".join(str(one.bins) for one in table.axes)
    for alpha in (1.0, 0.1) if n > 100_000 else (1.0,):
        found = compared([lambda: table], alpha, repeats, BOTH, seed=1)
        less, error = found.less()
        old, new = (found.rms(method) for method in BOTH)
        for i, term in enumerate(table.terms):
            bins = " | ".join(f"{found.alone(method)[i]:.2f}" for method in BOTH)
            said = f"| {name}, {n:,} rows, {cells} | {alpha:g} | {term} | {table.ols[i]:.4g} | {old[i]:.2f} "
            lines.append(f"{said}| **{new[i]:.2f}** | {less[i]:+.2f} ± {error[i]:.2f} | {bins} |")
    return "\n".join(lines)


def others(tables: Mapping[str, Callable[[], Binned]], repeats: int) -> list[Part]:
    return [
        "## The same on real tables\n",
        f"Root mean square of estimate ÷ OLS − 1 over {repeats:,} perturbations, in percent; OLS of values clamped to"
        "\nthe bounds of the bins. RAND is that of statsmodels; PUMS (California, 2000) and flights are public files"
        "\nthat are not in the repository. At α = 0.1 the smaller two are all noise, and not shown.\n",
        "| table, bins | α | term | OLS | published | **corrected** | corrected − published | bins alone: published "
        "| bins alone: corrected |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|",
        *(partial(real, name, make, repeats) for name, make in tables.items()),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few perturbations, to the terminal")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--pums", type=Path)
    parser.add_argument("--flights", type=Path)
    options = parser.parse_args()
    start = time.monotonic()
    tables: dict[str, Callable[[], Binned]] = {"RAND": rand}
    tables |= {"PUMS": partial(pums, options.pums)} if options.pums else {}
    tables |= {"flights": partial(flights, options.flights)} if options.flights else {}
    size = (4, 3, 20) if options.quick else (100, 10, 1_000)
    for part, made in (("lei.py generated", page(*size[:2])), ("lei.py real", others(tables, size[2]))):
        text = worked(made, options.processes)
        if options.quick:
            print(text)
        else:
            put(PAGE, part, text)
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
