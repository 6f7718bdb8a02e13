"""Logistic fits to cells of regressors of skewed laws, drawn at random: laws, edges, models and prices.

    python benchmarks/skewed_cells.py [--repeats N] [--only TEXT] [--plain]

As `drawn_bins.py`, of which the machinery is, with laws of the regressor that are skewed (gamma of shape 0.5 to 3,
lognormal, Weibull, of a heavy tail) and models that are logistic alone.  Drawn from a seed and committed before any was
simulated.  Writes its part of docs/reference/histogram-fits.md, unless `--plain`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from drawn_bins import GRID, MOST, PRICES, Array, Design, edges_of, fits
from pages import picked, put
from scipy import stats
from scipy.special import expit

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "histogram-fits.md"
LAWS = ("gamma", "lognormal", "Weibull", "heavy tail")
EDGES = ("auto", "quantiles", "typed", "geometric", "equal", "auto")
ROWS = (5_000, 30_000, 200_000)
DESIGNS = 24
SEED = 20261124


def law_of(name: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw a skewed law: points in [0, 100] and weights that add up to 1."""
    cuts = np.linspace(0, MOST, GRID + 1)
    u = rng.uniform
    if name == "gamma":
        shape = u(0.5, 3)
        law = stats.gamma(shape, scale=u(10, 30) / shape)
    elif name == "lognormal":
        law = stats.lognorm(u(0.5, 1.2), scale=u(8, 25))
    elif name == "Weibull":
        law = stats.weibull_min(u(0.7, 1.6), scale=u(10, 30))
    else:
        law = stats.lomax(u(2, 4), scale=u(15, 50))
    weight = np.diff(law.cdf(cuts))
    return (cuts[1:] + cuts[:-1]) / 2, weight / weight.sum()


def designs() -> list[Design]:
    """Draw the designs: every law with every kind of edges."""
    rng, found = np.random.default_rng(SEED), list[Design]()
    for number in range(DESIGNS):
        law, edges = LAWS[number % 4], EDGES[(number // 4 + number) % 6]
        x, weight = law_of(law, rng)
        own = edges_of(edges, x, weight)
        prices = tuple(float(rng.choice(PRICES)) for _ in ROWS)
        slope = float(rng.choice([-1, 1])) * float(rng.uniform(0.02, 0.08))
        p = expit(float(rng.uniform(-2, 1)) + slope * x)
        both = np.stack([1 - p, p], axis=1)
        name = f"{number + 1}. {law}; x {edges}"
        given = lambda _, both=both: both  # noqa: E731
        found.append(Design(name, law, edges, "logistic", x, weight, own, (), given, slope, {}, prices))
    return found


HEAD = (
    "| design | n, ε | covered given an answer, % | reasons, % | bias / SD | SE / SD |\n|---|---|---:|---:|---:|---:|"
)


def main() -> None:
    """Print every line, and write them into the page."""
    given = picked(__doc__, 200)
    lines = list[str]()
    for design in designs():
        for n, epsilon in zip(ROWS, design.prices, strict=True) if given.only in design.name else ():
            (one,) = fits(design, n, epsilon, given.repeats)
            share = f"{100 * one['covered'] / one['answers']:.1f}" if one["answers"] else "–"
            silent = 100 * (1 - one["answers"] / one["repeats"])
            ratio = f"{one.get('bias', np.nan):.2f} | {one.get('se', np.nan):.2f}"
            lines.append(f"| {design.name} | {n:,}, {epsilon:g} | {share} | {silent:.0f} | {ratio} |")
            print(lines[-1], flush=True)
    text = f"## Logistic models of skewed regressors\n\n{given.repeats} simulations a row.\n\n{HEAD}\n"
    if not given.plain:
        put(PAGE, "skewed_cells.py", text + "\n".join(lines))


if __name__ == "__main__":
    main()
