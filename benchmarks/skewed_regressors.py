"""Fits to cells of regressors of further skewed laws, drawn at random: logistic, Poisson and linear outcomes.

    python benchmarks/skewed_regressors.py [--repeats N] [--only TEXT] [--plain] [--sets N ...] [--exact]

As `drawn_bins.py`, of which the machinery is, with laws of the regressor that neither it nor `skewed_cells.py` has:
inverse Gaussian, a Pareto tail that is cut at 100, a spike at zero beside a gamma law, chi-square; with the gamma and
lognormal laws of `skewed_cells.py` again; and with a normal and a uniform law, whose intervals must not grow.  A set is
a seed.  Sets 1 to 3 were looked at while the rules within bins were changed; set 11 judges, and nobody simulates it
before.  It has further laws (an exponential one that begins abruptly, log-logistic, a spike beside a lognormal law,
Student, whole numbers heaped at multiples of 5 and declared real), further edges (1, 2, 4, 8 and so on) and medians.
All were committed before any was simulated.

What is asked: coverage of the slope of at least 93% given an answer, and reasons in fewer than 5% of releases wherever
the number of rows times epsilon is LEAST or more.  `--exact` draws nothing: fits to the expected counts, whose error
is what bins hide, beside what is said of it.  Writes its part of docs/reference/histogram-fits.md, unless `--plain`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import skewed_cells
from drawn_bins import EDGES, GRID, MOST, ROWS, Array, Design, drawn, fits
from pages import put
from scipy import stats

from tacit.fits.cells.cell_arrays import CellCounts
from tacit.fits.regression_fits import fit_cells

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "histogram-fits.md"
LAWS = ("inverse Gaussian", "Pareto tail", "spike at zero", "chi-square", "gamma", "lognormal", "normal", "uniform")
MODELS = ("logistic", "poisson", "linear")
DESIGNS = 80
SEED = 20261125
JUDGE: Final = 11
LATER_LAWS = (*LAWS, "abrupt exponential", "log-logistic", "spike and lognormal", "Student", "heaped")
LATER_EDGES = (*EDGES, "doubling")
LATER_MODELS = (*MODELS, "quantile")
"""Of sets from 11 on."""
LEAST: Final = 3_000
"""Rows times epsilon from which on fewer than 5% of releases may have a reason."""


def law_of(name: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw a law: points in [0, 100] and weights that add up to 1."""
    u, cuts = rng.uniform, np.linspace(0, MOST, GRID + 1)
    middle = (cuts[1:] + cuts[:-1]) / 2
    if name in ("gamma", "lognormal"):
        return skewed_cells.law_of(name, rng)
    if name == "inverse Gaussian":
        mean = u(8, 30)
        # scipy's law has mean mu * scale and shape scale
        shape = mean * u(0.5, 4)
        cdf = stats.invgauss(mean / shape, scale=shape).cdf(cuts)
    elif name == "Pareto tail":
        least = u(2, 15)
        cdf = stats.pareto(u(0.8, 2.5), scale=least).cdf(cuts)
    elif name == "chi-square":
        degrees = u(1, 6)
        cdf = stats.chi2(degrees, scale=u(10, 30) / degrees).cdf(cuts)
    elif name == "spike at zero":
        shape, share = u(0.7, 3), u(0.1, 0.4)
        weight = np.diff(stats.gamma(shape, scale=u(12, 30) / shape).cdf(cuts))
        return np.append(middle, 0.0), np.append((1 - share) * weight / weight.sum(), share)
    elif name == "abrupt exponential":
        cdf = stats.expon(u(1, 20), u(6, 25)).cdf(cuts)
    elif name == "log-logistic":
        cdf = stats.fisk(u(1.2, 4), scale=u(8, 30)).cdf(cuts)
    elif name == "spike and lognormal":
        share, weight = u(0.05, 0.3), np.diff(stats.lognorm(u(0.4, 1.1), scale=u(8, 25)).cdf(cuts))
        return np.append(middle, 0.0), np.append((1 - share) * weight / weight.sum(), share)
    elif name == "Student":
        cdf = stats.t(u(2, 6), loc=u(30, 70), scale=u(4, 12)).cdf(cuts)
    elif name == "heaped":
        return heaped(u(2, 4), u(20, 35), u(0.2, 0.6))
    elif name == "normal":
        cdf = stats.norm(u(40, 60), u(8, 16)).cdf(cuts)
    else:
        cdf = cuts / MOST
    weight = np.diff(cdf)
    return middle, weight / weight.sum()


def heaped(shape: float, mean: float, share: float) -> tuple[Array, Array]:
    """Return whole numbers of a gamma law, of which a share is rounded to the nearest multiple of 5."""
    own = np.append(np.diff(stats.gamma(shape, scale=mean / shape).cdf(np.arange(MOST + 1))), 0.0)
    own /= own.sum()
    x = np.arange(MOST + 1)
    near = np.bincount((np.round(x / 5) * 5).astype(int), own, len(x))
    return x, (1 - share) * own + share * near


def designs(seed: int) -> list[Design]:
    """Draw a set: every law twice with every kind of edges, with different models; from set 11 on once."""
    rng = np.random.default_rng([seed, SEED])
    if seed >= 11:
        laws, models = len(LATER_LAWS), len(LATER_MODELS)
        places = ((m, m % laws, m // laws) for m in range(laws * len(LATER_EDGES)))
        order = [(m, LATER_MODELS[(a + b) % models], LATER_EDGES[b], LATER_LAWS[a]) for m, a, b in places]
        return [drawn(*one, rng, laws=law_of) for one in order]
    order = [(m, MODELS[(m % 8 + m // 8) % 3], EDGES[(m // 8) % 5], LAWS[m % 8]) for m in range(DESIGNS)]
    return [drawn(*one, rng, laws=law_of) for one in order]


def cells_of(seeds: list[int], only: str) -> Iterator[tuple[Design, int, float]]:
    """Yield designs with numbers of rows and prices; in an order in which any first part has all kinds."""
    for seed in seeds:
        drawn_ones = designs(seed)
        # 37 has no divisor in common with their number, 80 or 78
        many = len(drawn_ones)
        for design in (drawn_ones[37 * m % many] for m in range(many)):
            for n, epsilon in zip(ROWS, design.prices, strict=True):
                if only in design.name:
                    yield design, n, epsilon


def exact(design: Design, n: int, epsilon: float) -> tuple[float, float, float]:
    """Return the slope's error from expected counts and the standard error there, both in percent of the slope."""
    axes = design.axes(n, epsilon)
    cells = CellCounts(axes, n * design.probabilities(axes), 8 / epsilon**2, float(n))
    fit = fit_cells(cells, "y ~ x", design.model, **design.words)
    size = 100 / abs(design.slope)
    return (fit.values[1] - design.slope) * size, fit.std_errors[1] * size, axes[0].bins


HEAD = (
    "| | cells | releases | covered given an answer, % | lowest | cells below 93, significantly "
    f"| reasons where rows × ε is {LEAST:,} or more, % | most in a cell | SE / SD, median |\n"
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
)


def row(name: str, lines: list[dict[str, Any]]) -> str:
    """Return a row of the table: several cells of the study together."""
    answers, covered = (sum(x[key] for x in lines) for key in ("answers", "covered"))
    low = [x for x in lines if x["answers"] and stats.binom.cdf(x["covered"], x["answers"], 0.93) < 0.01]
    enough = [x for x in lines if x["answers"] >= x["repeats"] / 2]
    lowest = min((100 * x["covered"] / x["answers"] for x in enough), default=np.nan)
    asked = [1 - x["answers"] / x["repeats"] for x in lines if x["n"] * x["epsilon"] >= LEAST]
    silent = f"{100 * np.mean(asked):.1f} | {100 * max(asked):.0f}" if asked else "– | –"
    ratio = float(np.median([x["se"] for x in lines if "se" in x]))
    total = sum(x["repeats"] for x in lines)
    share = f"{100 * covered / max(answers, 1):.1f} | {lowest:.0f}"
    return f"| {name} | {len(lines)} | {total:,} | {share} | {len(low)} | {silent} | {ratio:.2f} |"


def table(lines: list[dict[str, Any]]) -> str:
    """Return a row for each model, law and kind of edges, and the cells that do not hold."""
    out = [HEAD, row("**all**", lines)]
    for what in ("model", "edges", "law"):
        out += [row(f"{what}: {one}", [x for x in lines if x[what] == one]) for one in sorted({x[what] for x in lines})]
    low = [x for x in lines if x["answers"] and stats.binom.cdf(x["covered"], x["answers"], 0.93) < 0.01]
    out.append("\nCells that do not hold:\n" if low else "\nEvery cell holds.")
    for x in low:
        given = f"{x['covered']} of {x['answers']} covered"
        out.append(f"- {x['design']}; {x['n']:,} rows, ε = {x['epsilon']:g}: {given}")
    return "\n".join(out)


def page(lines: list[dict[str, Any]], repeats: int) -> str:
    """Return the part of the page."""
    about = (
        "Designs drawn from a seed and committed before any was simulated (`benchmarks/skewed_regressors.py`, set "
        f"{JUDGE}): {len(lines)} of its {len(ROWS) * len(LATER_LAWS) * len(LATER_EDGES)} cells of designs, rows and "
        f"price, {repeats} simulations a cell. Laws of the regressor on which the rules within bins were made (inverse "
        "Gaussian; a Pareto tail, cut; a spike at zero beside a gamma law; chi-square; gamma; lognormal; normal; "
        "uniform), and laws on which they were not (an exponential one that begins abruptly, log-logistic, a spike at "
        "zero beside a lognormal law, Student, whole numbers of which 20 to 60% are at multiples of 5, declared "
        "`Real`). *Lowest*: of cells that answer in half of the releases or more. Fewer than 5% of releases may have a "
        f"reason where rows × ε is {LEAST:,} or more."
    )
    return f"## Regressors of skewed laws\n\n{about}\n\n{table(lines)}"


def main() -> None:
    """Print every line, and write the table into the page, again after each cell."""
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--repeats", type=int, default=100)
    made.add_argument("--only", default="", metavar="WORD", help="designs with this in their name; the page stays")
    made.add_argument("--sets", type=int, nargs="*", default=[JUDGE])
    made.add_argument("--exact", action="store_true", help="expected counts in the place of draws; the page stays")
    made.add_argument("--plain", action="store_true", help="to the terminal only")
    given = made.parse_args()
    lines = list[dict[str, Any]]()
    for design, n, epsilon in cells_of(given.sets, given.only):
        where = f"{n:>7} {epsilon:g} {design.name}"
        if given.exact:
            error, said, bins = exact(design, n, epsilon)
            print(f"{error:7.2f}% {said:7.2f}% {error / said:6.2f} {bins:4d} {where}", flush=True)
            continue
        (one,) = fits(design, n, epsilon, given.repeats)
        about = {"design": design.name, "n": n, "epsilon": epsilon}
        lines.append(about | {"model": design.model, "edges": design.edges, "law": design.law} | one)
        share = 100 * one["covered"] / max(one["answers"], 1)
        ratio = f"{one.get('bias', np.nan):6.2f} {one.get('se', np.nan):5.2f} {100 * one.get('sd', np.nan):6.1f}%"
        print(f"{share:4.0f} {one['repeats'] - one['answers']:4d} {ratio} {where}", flush=True)
        if not given.plain and not given.only and given.sets == [JUDGE]:
            put(PAGE, "skewed_regressors.py", page(lines, given.repeats))
    if lines:
        print(table(lines))


if __name__ == "__main__":
    main()
