"""Fits to histograms whose bins are uneven, automatic or coarse: coverage of slopes given an answer.

    python benchmarks/uneven_bins.py [part ...] [--repeats N] [--rows N ...] [--plain]

Parts: "regressor" (edges like quantiles on a skewed regressor), "response" (the same on a skewed response), "auto"
(the bins that `bins="auto"` takes, on the rows of both), "equal" (12 equal bins, residuals narrower than a bin).
Rows and noise are drawn anew in each simulation (Laplace noise of scale 2 / epsilon, replace-one).  The designs were
written down before any of them was simulated; true slopes are exact by construction, but for Huber's loss under
residuals that are not symmetric, which is not asked here.  Seeds are constants.  `--plain` prints rows only; without
it the part is written into docs/reference/histogram-fits.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pages import Part, put, worked
from scipy import stats
from scipy.special import expit

from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.regression_fits import fit_cells
from tacit.schema import Real, Schema
from tacit.schema.autobins import Size, resolved

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "histogram-fits.md"
Draw = Callable[[np.random.Generator, int], np.ndarray]
MOST = 100.0
"""All columns lie in [0, MOST]: bounds that are public, wide enough for nearly everybody, as people choose them."""

# Laws of a regressor on [0, 100], truncated (not clamped) there ------------------------------------------------------


def cut(law: Any) -> Draw:
    low, high = law.cdf(0.0), law.cdf(MOST)
    return lambda rng, n: np.asarray(law.ppf(low + (high - low) * rng.random(n)))


def mixture(rng: np.random.Generator, n: int) -> np.ndarray:
    first = cut(stats.norm(25, 7))(rng, n)
    return np.where(rng.random(n) < 0.6, first, cut(stats.norm(65, 12))(rng, n))


def heaped(rng: np.random.Generator, n: int) -> np.ndarray:
    """Whole numbers 0 to 100 about a gamma law; two in five are rounded to the nearest multiple of 5."""
    x = np.minimum(np.floor(cut(stats.gamma(3, scale=9))(rng, n)), 100.0)
    return np.where(rng.random(n) < 0.4, np.round(x / 5) * 5, x)


LAWS: dict[str, Draw] = {
    "lognormal": cut(stats.lognorm(0.7, scale=18)),
    "gamma": cut(stats.gamma(2, scale=11)),
    "normal": cut(stats.norm(50, 15)),
    "mixture": mixture,
    "heaped": heaped,
}
EDGES = {
    # what somebody writes who knows about the quantiles .1, .25, .5, .75, .9, .97: round numbers, uneven widths
    "lognormal": (0, 8, 12, 18, 28, 45, 70, 100),
    "gamma": (0, 5, 10, 18, 30, 45, 60, 100),
    "normal": (0, 30, 40, 50, 60, 70, 80, 100),
    "mixture": (0, 17, 22, 30, 50, 70, 85, 100),
    "heaped": (-0.5, 9.5, 16.5, 24.5, 34.5, 47.5, 62.5, 100.5),
}

# Responses: [0, 100], exact lines ------------------------------------------------------------------------------------


def narrow(sd: float, slope: float = 0.5) -> Callable[[np.random.Generator, np.ndarray], np.ndarray]:
    """25 + slope x and normal residuals, cut at three standard deviations on both sides (they stay inside)."""

    def make(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
        z = rng.standard_normal(len(x))
        while (out := np.abs(z) > 3).any():
            z[out] = rng.standard_normal(int(out.sum()))
        return 25 + slope * x + sd * z

    return make


def binary(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    return (rng.random(len(x)) < expit(-1.5 + 0.05 * x)).astype(float)


def proportional(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """(8 + .12 x) times a gamma variable of shape 4 and mean 1: mean and quantiles are lines; beyond 100 almost never.

    What lies beyond 100 is put there, as a release would: 1e-6 of the rows and fewer.
    """
    return np.minimum((8 + 0.12 * x) * rng.gamma(4, 0.25, len(x)), MOST)


MEDIAN4 = float(stats.gamma(4, scale=0.25).ppf(0.5))
SKEWED = (0, 5, 8, 12, 16, 22, 30, 45, 100)
"""Edges like quantiles of `proportional`, as the how-to recommends for incomes."""


@dataclass(frozen=True)
class Design:
    """Rows, bins of both columns (None: automatic), a model and its exact slope."""

    name: str
    law: str
    y: Callable[[np.random.Generator, np.ndarray], np.ndarray]
    model: str
    slope: float
    x_edges: tuple[float, ...] | None
    y_edges: tuple[float, ...] | None  # () for two levels


def even(bins: int) -> tuple[float, ...]:
    return tuple(np.linspace(0, MOST, bins + 1))


def designs(part: str) -> list[Design]:
    found: list[Design] = []
    for law in LAWS:
        whole = (-0.5, *np.arange(9.5, 100, 10), 100.5)
        own = even(10) if law != "heaped" else tuple(float(e) for e in whole)
        if part == "regressor":
            e = tuple(float(x) for x in EDGES[law])
            found += [Design(f"{law}, {m}", law, narrow(8), m, 0.5, e, even(12)) for m in ("linear", "huber")]
            found += [Design(f"{law}, median", law, narrow(8), "quantile", 0.5, e, even(12))]
            found += [Design(f"{law}, logistic", law, binary, "logistic", 0.05, e, ())]
        elif part == "response":
            e = tuple(float(x) for x in SKEWED)
            found += [Design(f"{law}, linear", law, proportional, "linear", 0.12, own, e)]
            found += [Design(f"{law}, median", law, proportional, "quantile", 0.12 * MEDIAN4, own, e)]
        elif part == "auto":
            found += [Design(f"{law}, {m}", law, narrow(8), m, 0.5, None, None) for m in ("linear", "huber")]
            found += [Design(f"{law}, median", law, narrow(8), "quantile", 0.5, None, None)]
            found += [Design(f"{law}, logistic", law, binary, "logistic", 0.05, None, ())]
            found += [Design(f"{law}, skewed response", law, proportional, "linear", 0.12, None, None)]
        elif part == "equal" and law != "heaped":
            for sd in (4.0, 6.0):
                found += [
                    Design(f"{law}, {m}, sd {sd / MOST * 12:.2f} bins", law, narrow(sd), m, 0.5, even(12), even(12))
                    for m in ("linear", "huber", "quantile")
                ]
    return found


def chosen_edges(chosen: Any, low: float, high: float) -> tuple[float, ...]:
    """Return all edges of automatic bins: given are inner ones, or a number of bins of one width."""
    inner = np.linspace(low, high, chosen + 1)[1:-1] if isinstance(chosen, int) else chosen
    return (low, *map(float, inner), high)


PARTS = ("regressor", "response", "auto", "equal")


def axes_of(design: Design, n: int, epsilon: float) -> tuple[CellAxis, CellAxis]:
    edges = {"x": design.x_edges, "y": design.y_edges}
    wanted = tuple(name for name, one in edges.items() if one is None)
    if wanted:
        schema = Schema({name: Real(0, MOST) for name in wanted})
        others = 2 if design.y_edges == () else 1
        size = Size(float(n), epsilon, 10_000_000)
        bins = resolved(schema, wanted, dict.fromkeys(wanted, "auto"), size, others, 0)
        edges |= {name: chosen_edges(bins[name], 0.0, MOST) for name in wanted}
    step = 1.0 if design.law == "heaped" and design.x_edges is not None else 0.0
    x = CellAxis("x", "continuous", np.array(edges["x"]), step=step)
    if edges["y"] == ():
        return x, CellAxis("y", "levels", labels=("no", "yes"))
    return x, CellAxis("y", "continuous", np.array(edges["y"]))


def cells_of(design: Design, n: int, epsilon: float, rng: np.random.Generator) -> CellCounts:
    axes = axes_of(design, n, epsilon)
    x = LAWS[design.law](rng, n)
    y = design.y(rng, x)
    bounds = [one.bounds if one.kind == "continuous" else np.array([-0.5, 0.5, 1.5]) for one in axes]
    counts = np.histogram2d(x, np.clip(y, bounds[1][0], bounds[1][-1]), bounds)[0]
    return CellCounts(axes, counts + rng.laplace(0, 2 / epsilon, counts.shape), 8 / epsilon**2, float(n))


def covered(design: Design, n: int, epsilon: float, repeats: int) -> str:
    """Return one row: coverage given an answer, share of reasons, bias and SE in SDs, the SE against plain rows'."""
    rng = np.random.default_rng([n, len(design.name), *design.name.encode()])
    found: list[tuple[float, float, bool]] = []
    for _ in range(repeats):
        fit = fit_cells(cells_of(design, n, epsilon, rng), "y ~ x", design.model, **words(design))
        found.append((fit.values[1], fit.std_errors[1], fit.reasons[1] is not None))
    value, error, silent = (np.array(one) for one in zip(*found, strict=True))
    given = ~silent.astype(bool) & np.isfinite(value)
    hit = np.abs(value - design.slope) <= 1.959964 * error
    finite = value[np.isfinite(value)]
    sd = float(finite.std()) if len(finite) else np.nan
    bins = "×".join(str(one.bins) for one in axes_of(design, n, epsilon))
    share = f"{100 * hit[given].mean():.0f}" if given.any() else "–"
    return (
        f"| {design.name} | {n:,}, {epsilon:g}, {bins} | {share} | {100 * (1 - given.mean()):.0f} "
        f"| {(finite.mean() - design.slope) / sd:.1f} | {np.nanmean(error) / sd:.2f} | {100 * sd / design.slope:.1f} |"
    )


def words(design: Design) -> dict[str, Any]:
    return {"k": 10.0} if design.model == "huber" else {}


HEAD = (
    "| design | n, ε, bins | covered given an answer, % | reasons, % | bias / SD | SE / SD | SD, % of the slope |",
    "|---|---|---:|---:|---:|---:|---:|",
)


TITLES = {
    "regressor": "Uneven bins of a skewed regressor",
    "response": "Uneven bins of a skewed response",
    "auto": 'Automatic bins (`bins="auto"`)',
    "equal": "Residuals narrower than a bin, 12 equal bins",
}


def table(part: str, sizes: tuple[int, ...], repeats: int) -> Iterator[Part]:
    yield f"## {TITLES[part]}\n"
    yield (
        f"{repeats} simulations a row: a coverage of 95% has a standard error of {(475 / repeats) ** 0.5:.0f}."
        "\nFits with a reason are not counted. *SE / SD* above 1: what bins hide is in the standard errors.\n"
    )
    yield from HEAD
    for design in designs(part):
        for n in sizes:
            yield partial(covered, design, n, 1.0, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="by default all")
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--plain", action="store_true", help="rows to the terminal, one process")
    options = parser.parse_args()
    start = time.monotonic()
    for part in options.parts or PARTS:
        made = list(table(part, tuple(options.rows), options.repeats))
        if options.plain:
            print(f"\n{part}, {options.repeats} simulations a row")
            for one in made:
                print(one if isinstance(one, str) else one(), flush=True)
        else:
            put(PAGE, f"uneven_bins.py {part}", worked(made, processes=1))
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
