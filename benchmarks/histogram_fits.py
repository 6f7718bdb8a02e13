"""Fits to the cells of noisy histograms: the tables of docs/reference/histogram-fits.md.

    python benchmarks/histogram_fits.py [coverage] [narrow] [--quick]

Rows are drawn anew and counts perturbed anew in each simulation, as a release of them would be (Laplace noise of scale
2 / epsilon, replace-one).  About a quarter of an hour in two processes; `--quick` for a look.  Each part of the page is
written where it was.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pages import Part, put, worked
from scipy.special import expit, ndtr
from scipy.stats import beta, norm, truncnorm

from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.regression_fits import fit_cells

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "histogram-fits.md"
Rows = dict[str, np.ndarray]


# Coverage ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """A law of rows on [0, 1] (levels are whole numbers), a formula, and the slope that it should find."""

    name: str
    draw: Callable[[np.random.Generator, int], Rows]
    slope: float
    model: str
    formula: str = "y ~ x"
    levels: tuple[str, ...] = ()
    words: dict[str, Any] = field(default_factory=dict)


def unit(name: str, rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.random(n) if name == "uniform" else rng.beta(*{"Beta(2,2)": (2, 2), "Beta(1,3)": (1, 3)}[name], n)


def response(law: str, make: Callable[[np.random.Generator, np.ndarray], np.ndarray]) -> Any:
    def draw(rng: np.random.Generator, n: int) -> Rows:
        x = unit(law, rng, n)
        return {"x": x, "y": make(rng, x)}

    return draw


def inside(rng: np.random.Generator, mean: np.ndarray, sd: np.ndarray | float) -> np.ndarray:
    """Normal residuals cut at three standard deviations on both sides, which must lie within [0, 1]."""
    z = rng.standard_normal(len(mean))
    while (out := np.abs(z) > 3).any():
        z[out] = rng.standard_normal(int(out.sum()))
    return mean + sd * z


def binary(share: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.random.Generator, np.ndarray], np.ndarray]:
    return lambda rng, x: (rng.random(len(x)) < share(x)).astype(float)


def plane(rng: np.random.Generator, n: int) -> Rows:
    x, z = unit("Beta(2,2)", rng, n), unit("Beta(2,2)", rng, n)
    return {"x": x, "z": z, "y": inside(rng, 0.36 + 0.2 * x + 0.08 * z, 0.12)}


def laplace(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """Residuals with heavy tails, cut symmetrically."""
    return 0.35 + 0.3 * x + np.clip(rng.laplace(0, 0.07, len(x)), -0.34, 0.34)


def spreading(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    return inside(rng, 0.4 + 0.2 * x, 0.08 + 0.05 * x)


LOGIT, PROBIT = binary(lambda x: expit(-2 + 4 * x)), binary(lambda x: ndtr(-1 + 2 * x))
Q75 = float(truncnorm.ppf(0.75, -3, 3))
DESIGNS = {
    "logistic": Design("logistic, a + 4 x, Beta(2,2)", response("Beta(2,2)", LOGIT), 4.0, "logistic", levels=("y",)),
    "logistic, uniform": Design("logistic, uniform", response("uniform", LOGIT), 4.0, "logistic", levels=("y",)),
    "logistic, 1,3": Design("logistic, Beta(1,3)", response("Beta(1,3)", LOGIT), 4.0, "logistic", levels=("y",)),
    "probit": Design("probit, Beta(2,2)", response("Beta(2,2)", PROBIT), 2.0, "probit", levels=("y",)),
    "line": Design(
        "line, Beta(2,2), sd 0.1",
        response("Beta(2,2)", lambda rng, x: inside(rng, 0.3 + 0.4 * x, 0.1)),
        0.4,
        "linear",
    ),
    "line, uniform": Design(
        "line, uniform, sd 0.1", response("uniform", lambda rng, x: inside(rng, 0.3 + 0.4 * x, 0.1)), 0.4, "linear"
    ),
    "plane": Design("two regressors, 8³ cells", plane, 0.2, "linear", "y ~ x + z"),
    "poisson": Design(
        "Poisson, counts 0 to 19",
        response("Beta(2,2)", lambda rng, x: np.minimum(rng.poisson(np.exp(0.5 + x)), 19).astype(float)),
        1.0,
        "poisson",
        levels=("y",),
    ),
    "gamma": Design(
        "gamma, log link, response × 10",
        response("Beta(2,2)", lambda rng, x: np.minimum(rng.gamma(8, np.exp(-1.5 + 0.8 * x) / 8), 0.999999)),
        0.8,
        "gamma",
        "I(10 * y) ~ x",
    ),
    "median": Design("median, spread grows with x", response("Beta(2,2)", spreading), 0.2, "quantile"),
    "upper quartile": Design(
        "upper quartile, spread grows",
        response("Beta(2,2)", spreading),
        0.2 + 0.05 * Q75,
        "quantile",
        words={"tau": 0.75},
    ),
    "huber": Design("Huber, Laplace residuals", response("Beta(2,2)", laplace), 0.3, "huber", words={"k": 0.1}),
}
SETTINGS = (
    ("logistic", 10_000, 1.0, 10),
    ("logistic", 100_000, 0.1, 10),
    ("logistic", 100_000, 1.0, 10),
    ("logistic, uniform", 100_000, 1.0, 10),
    ("logistic, 1,3", 100_000, 1.0, 10),
    ("probit", 100_000, 1.0, 10),
    ("line", 2_000, 1.0, 10),
    ("line", 10_000, 0.25, 10),
    ("line", 10_000, 1.0, 10),
    ("line", 100_000, 1.0, 10),
    ("line, uniform", 100_000, 1.0, 10),
    ("plane", 20_000, 1.0, 8),
    ("plane", 100_000, 1.0, 8),
    ("poisson", 100_000, 1.0, 10),
    ("gamma", 100_000, 1.0, 20),
    ("median", 100_000, 1.0, 10),
    ("upper quartile", 100_000, 1.0, 10),
    ("upper quartile", 100_000, 1.0, 20),
    ("huber", 100_000, 1.0, 10),
)


def axis(name: str, bins: int, levels: bool, most: int) -> CellAxis:
    if not levels:
        return CellAxis(name, "continuous", np.linspace(0.0, 1.0, bins + 1))
    labels = tuple(str(i) for i in range(most))
    return CellAxis(name, "levels", labels=labels, numbers=None if most == 2 else np.arange(float(most)))


def cells_of(rows: Rows, design: Design, epsilon: float, bins: int, rng: np.random.Generator) -> CellCounts:
    most = 20 if design.model == "poisson" else 2
    axes = tuple(axis(name, bins, name in design.levels, most) for name in rows)
    edges = [np.arange(most + 1) - 0.5 if one.kind == "levels" else one.bounds for one in axes]
    counts = np.histogramdd(np.stack(list(rows.values()), axis=1), edges)[0]
    n = len(next(iter(rows.values())))
    return CellCounts(axes, counts + rng.laplace(0, 2 / epsilon, counts.shape), 8 / epsilon**2, float(n))


def coverage(repeats: int) -> list[Part]:
    return [
        "## Coverage of slopes\n",
        f"{repeats:,} simulations a row; the 95% interval is estimate ∓ 1.96 SE. *RMSE ÷* is the root mean square error"
        "\nof midpoints over that of the corrected fit. *No answer* counts fits with a reason in place of standard"
        "\nerrors. Where residuals spread no more than a bin (upper quartile, 10 bins) a fit carries a note.\n",
        "| design | n, ε, bins | midpoints, % | corrected, % | sampling SE only, % | bias / SD | SE / SD | RMSE ÷ "
        "| no answer |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
        *(partial(covered, *setting, repeats) for setting in SETTINGS),
    ]


def covered(which: str, n: int, epsilon: float, bins: int, repeats: int) -> str:
    """Return one row of the coverage table."""
    design = DESIGNS[which]
    rng = np.random.default_rng([n, bins, len(which)])
    found: dict[str, list[tuple[float, float, float, bool]]] = {"midpoint": [], "corrected": []}
    for _ in range(repeats):
        cells = cells_of(design.draw(rng, n), design, epsilon, bins, rng)
        for method, kept in found.items():
            fit = fit_cells(cells, design.formula, design.model, method, **design.words)  # type: ignore[arg-type]
            sampling = float(np.sqrt(fit.cov_sampling[1, 1]))
            kept.append((fit.values[1], fit.std_errors[1], sampling, fit.reasons[1] is not None))
    old, new = (np.array(found[method]).T for method in ("midpoint", "corrected"))
    sizes = [100 * np.mean(np.abs(a - design.slope) <= 1.96 * b) for a, b in ((old[0], old[1]), new[:2], new[::2][:2])]
    worse = np.sqrt(np.mean((old[0] - design.slope) ** 2) / np.mean((new[0] - design.slope) ** 2))
    sd = new[0].std()
    return (
        f"| {design.name} | {n:,}, {epsilon:g}, {bins} | {sizes[0]:.1f} | **{sizes[1]:.1f}** | {sizes[2]:.1f} "
        f"| {(new[0].mean() - design.slope) / sd:.2f} | {new[1].mean() / sd:.2f} | {worse:.2f} | {int(new[3].sum())} |"
    )


# What narrow residuals do --------------------------------------------------------------------------------------------


def narrow(repeats: int) -> Iterator[str]:
    yield "\n## Residuals narrower than a bin\n"
    yield (
        "Bias of the slope of a line, in its standard errors at 100,000 rows: root mean square over random lines, from"
        f"\nexact probabilities of cells without noise, {repeats} lines a row. Normal residuals whose standard"
        "\ndeviation is so many bins. Where it is below one bin a fit carries a note. *Its own standard"
        "\nerror*, of the fit at this number of rows, has in it what bins hide.\n"
    )
    yield "| regressor | bins | residual sd, bins | midpoints | corrected | its own standard error |"
    yield "|---|---:|---:|---:|---:|---:|"
    for law in ("uniform", "Beta(2,2)", "Beta(1,3)"):
        for bins, width in ((8, 0.75), (8, 1.0), (10, 0.5), (10, 0.75), (10, 1.0), (10, 1.5), (20, 1.0)):
            off = np.array(list(_biases(law, bins, width, repeats)))
            numbers = " | ".join(f"{one:.2f}" for one in np.sqrt((off**2).mean(axis=0)))
            yield f"| {law} | {bins} | {width} | {numbers} |"


def _biases(law: str, bins: int, width: float, repeats: int) -> Iterator[list[float]]:
    rng = np.random.default_rng(bins)
    x = (np.arange(400 * bins) + 0.5) / (400 * bins)
    shape = {"uniform": (1, 1), "Beta(2,2)": (2, 2), "Beta(1,3)": (1, 3)}[law]
    f = beta.pdf(x, *shape) / beta.pdf(x, *shape).sum()
    sd = width / bins
    edges = np.linspace(0, 1, bins + 1)
    axes = (CellAxis("x", "continuous", edges), CellAxis("y", "continuous", edges))
    room = 1 - 6 * sd
    for _ in range(repeats):
        slope = rng.uniform(-room, room)
        a = 3 * sd + max(-slope, 0) + rng.uniform(0, room - abs(slope))
        below = norm.cdf((edges[None, :] - (a + slope * x)[:, None]) / sd)
        below[:, 0], below[:, -1] = 0, 1
        p = (np.diff(below, axis=1) * f[:, None]).reshape(bins, 400, bins).sum(axis=1)
        cells = CellCounts(axes, 1e5 * p, 0.0)
        error = sd / np.sqrt(1e5 * (f @ x**2 - (f @ x) ** 2))
        old, new = (fit_cells(cells, "y ~ x", "linear", method) for method in ("midpoint", "corrected"))
        yield [(old.values[1] - slope) / error, (new.values[1] - slope) / error, new.std_errors[1] / error]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=["coverage", "narrow", []], help="by default all")
    parser.add_argument("--quick", action="store_true", help="few simulations, to the terminal")
    options = parser.parse_args()
    quick, start = options.quick, time.monotonic()
    made: dict[str, Callable[[], list[Part]]] = {
        "coverage": lambda: coverage(20 if quick else 2_000),
        "narrow": lambda: [lambda: "\n".join(narrow(5 if quick else 10))],
    }
    for name in options.parts or made:
        text = worked(made[name]())
        if quick:
            print(text)
        else:
            put(PAGE, f"histogram_fits.py {name}", text)
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
