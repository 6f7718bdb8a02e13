"""What bins hide of means and standard deviations: errors from exact shares, beside the error that is said of it.

    python benchmarks/within_bins.py [--draws N] [--plain]

No rows and no noise are drawn: shares of bins are exact, and what is left is that nobody knows where values lie within
bins.  Laws on [0, 100] are drawn at random.  The rules at the ends of columns (`bin_shapes`) were made while
looking at the kinds of laws under "seen"; those "unseen" were written down before the rules were tried on them.
Writes its part of docs/reference/histogram-stats.md, unless `--plain`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
from pages import put
from scipy import stats

from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.within_bins.cell_points import Points
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Noise
from tacit.method.histogram.estimate_from_cells.cell_moments import points_of, within_moved
from tacit.noise.laws import DiscreteLaplace

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "histogram-stats.md"
Array = np.ndarray
ROWS = 1e6
SAMPLE = 100_000
CUTS = np.linspace(0, 100, 20_001)
MIDDLE = (CUTS[1:] + CUTS[:-1]) / 2
U = Callable[[float, float], float]


def of(cdf: Callable[[Array], Array]) -> Array:
    """Return the weights of a law cut to [0, 100], shape (20,000,)."""
    w = np.diff(cdf(CUTS))
    return w / w.sum()


def humps(u: U) -> Array:
    one, other = of(stats.norm(u(15, 40), u(4, 10)).cdf), of(stats.norm(u(55, 85), u(4, 10)).cdf)
    share = u(0.3, 0.7)
    return share * one + (1 - share) * other


def gamma(u: U) -> Array:
    shape = u(1, 4)
    return of(stats.gamma(shape, scale=u(15, 35) / shape).cdf)


def logit_normal(u: U) -> Array:
    law = stats.norm(u(-2, 2), u(0.5, 1.5))
    with np.errstate(divide="ignore"):
        return of(lambda x: law.cdf(np.log(x / (100 - x + 1e-300))))


SEEN: dict[str, Callable[[U], Array]] = {
    "normal": lambda u: of(stats.norm(u(20, 80), u(8, 15)).cdf),
    "two humps": humps,
    "Beta": lambda u: of(stats.beta(u(1, 4), u(1, 5), scale=100).cdf),
    "gamma": gamma,
    "lognormal": lambda u: of(stats.lognorm(u(0.4, 1), scale=u(10, 30)).cdf),
    "Student": lambda u: of(stats.t(u(2, 6), loc=u(30, 70), scale=u(5, 12)).cdf),
}
UNSEEN: dict[str, Callable[[U], Array]] = {
    "Weibull": lambda u: of(stats.weibull_min(u(0.8, 3), scale=u(15, 50)).cdf),
    "triangular": lambda u: of(stats.triang(u(0, 1), scale=100).cdf),
    "logit-normal": logit_normal,
    "Gumbel": lambda u: of(stats.gumbel_r(u(20, 50), u(5, 15)).cdf),
    "inverse Gaussian": lambda u: of(stats.invgauss(u(0.3, 2), scale=u(10, 40)).cdf),
    "Laplace": lambda u: of(stats.laplace(u(30, 70), u(5, 12)).cdf),
    "exponential and hump": lambda u: 0.6 * of(stats.expon(scale=u(5, 20)).cdf) + 0.4 * of(stats.norm(60, 10).cdf),
}


def rounded_quantiles(w: Array) -> Array:
    found = np.interp((0.1, 0.25, 0.5, 0.75, 0.9), np.cumsum(w), MIDDLE).round()
    return np.unique(np.concatenate([[0.0], found, [100.0]]))


EDGES: dict[str, Callable[[Array], Array]] = {
    "0, 18, 25, 35, 50, 65, 100": lambda w: np.array([0.0, 18, 25, 35, 50, 65, 100]),
    "0, 3.1, 6.25, 12.5, 25, 50, 100": lambda w: np.append(0.0, 100 / 2.0 ** np.arange(5, -1, -1)),
    "rounded quantiles": rounded_quantiles,
    "8 equal": lambda w: np.linspace(0, 100, 9),
    "12 equal": lambda w: np.linspace(0, 100, 13),
    "20 equal": lambda w: np.linspace(0, 100, 21),
}


def off(w: Array, edges: Array) -> tuple[float, float, float, float, float]:
    """Return errors of a mean in the column's sds.

    Of lines (before) and now, and what is said of the latter; then errors of mean and variance divided by what is said
    and the sampling error of SAMPLE rows together.
    """
    axis = CellAxis("x", "continuous", edges)
    counts = ROWS * np.histogram(MIDDLE, edges, weights=w)[0]
    noise = Noise(DiscreteLaplace(Fraction(2)), 1, 1, axis.bins, projected=True)
    points = points_of((axis,), counts, noise)
    x = points.position(axis)[0]
    mean = float(points.spread(counts) @ x) / ROWS
    square = float(points.spread(counts) @ (x - mean) ** 2) / ROWS
    said = np.sqrt(np.diag(within_moved(points, np.stack([x, (x - mean) ** 2], axis=-1) / ROWS).unknown))
    true = float(w @ MIDDLE)
    variance = float(w @ (MIDDLE - true) ** 2)
    lines = Points(CellCounts((axis,), counts, 0.0))
    old = float(lines.spread(counts) @ lines.position(axis)[0]) / ROWS
    sd = variance**0.5
    fourth = float(w @ (MIDDLE - true) ** 4)
    whole = np.sqrt(said**2 + np.array([variance, fourth - variance**2]) / SAMPLE)
    return (old - true) / sd, (mean - true) / sd, said[0] / sd, (mean - true) / whole[0], (square - variance) / whole[1]


def table(draws: int) -> str:
    lines = [
        "## What bins hide\n",
        f"Means and variances from exact shares of bins, without noise, {draws} laws drawn of each kind: the error of "
        "a mean by lines through neighbours' densities (before 0.2.0) and now, and what now is said of it, root mean "
        "square in standard deviations of the column; then errors divided by what is said of them and the sampling "
        "error of 100,000 rows together, root mean square and how many are beyond 1.96. *Unseen* laws were "
        "written down before the rules were tried on them.\n",
        "| edges | laws | lines | now | said | mean: error ÷ both | beyond 1.96, % | variance: error ÷ both "
        "| beyond 1.96, % |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    rng = np.random.default_rng(20261123)
    for edges, make in EDGES.items():
        for kind, laws in (("seen", SEEN), ("unseen", UNSEEN)):
            drawn = [law(lambda a, b: float(rng.uniform(a, b))) for law in laws.values() for _ in range(draws)]
            found = np.array([off(w, make(w)) for w in drawn])
            z, z2 = found[:, 3], found[:, 4]
            size = [f"{np.sqrt((one**2).mean()):.4f}" for one in found[:, :3].T]
            rest = [f"{np.sqrt((one**2).mean()):.2f} | {100 * (np.abs(one) > 1.96).mean():.0f}" for one in (z, z2)]
            lines.append(f"| {edges} | {kind} | " + " | ".join([*size, *rest]) + " |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=25)
    parser.add_argument("--plain", action="store_true")
    options = parser.parse_args()
    made = table(options.draws)
    if not options.plain:
        put(PAGE, "within_bins.py", made)


if __name__ == "__main__":
    main()
