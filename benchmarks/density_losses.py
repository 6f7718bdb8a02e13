"""Where the error of a smooth density without numbers comes from: its bins, its penalties, or what it is made of.

    python benchmarks/density_losses.py [--repeats 20] [--laws "two modes" ...]

Prints, for laws and pure prices of compared_designs, and numbers of bins from a third of the rule's to the rule's: the
mean squared error of the density averaged over penalties, of the best single penalty of all simulations (nobody knows
it), and of the half-and-half mean with a Fourier series of the same bins.  Noise is Laplace, seeds are constants; the
density is held against averages over its own cells, and has no page: what the page says, default_densities.py says.
"""

from __future__ import annotations

import argparse

import numpy as np
from compared_designs import LAWS, PRICES, SIZES

from tacit.base.arrays import Array
from tacit.estimates.log_density import CELLS, LAMBDAS, middles, of_penalties
from tacit.estimates.projected_curve import ProjectedCurve
from tacit.estimates.series_coefficients import Shares, coefficients, resolved_terms
from tacit.estimates.series_curve import SeriesCurve
from tacit.schema.autobins import for_density


def series(shares: Shares) -> Array:
    """Return the density of a Fourier series of shares, on the cells."""
    found = coefficients("fourier", shares, max(1, resolved_terms("fourier", shares.edges)))
    own = SeriesCurve("fourier", found, found.band)
    density = ProjectedCurve("fourier", own, own).density(middles())
    return density / density.mean()


def errors(law: str, n: int, epsilon: float, bins: int, repeats: int) -> str:
    """Return a line of the table."""
    rng, edges = np.random.default_rng(5), np.linspace(0, 1, bins + 1)
    true = np.diff(LAWS[law].cdf(np.linspace(0, 1, CELLS + 1))) * CELLS
    chances = np.diff(LAWS[law].cdf(edges))
    # of replaced rows: two cells change by one
    scale = 2 / epsilon
    variance = 2 * scale**2
    averaged, single, half = list[float](), list[Array](), list[float]()
    for _ in range(repeats):
        values = (rng.multinomial(n, chances / chances.sum()) + rng.laplace(scale=scale, size=bins)) / n
        each, evidence = of_penalties(edges, values, n, np.full(bins, variance / n**2))
        # rougher ones than the last that was tried are worse
        all_of_them = np.array(each + each[-1:] * (len(LAMBDAS) - len(each)))
        weights = np.exp(np.array(evidence) - max(evidence))
        mean = weights @ np.array(each) / weights.sum()
        probable = np.maximum(values, 0.0) / np.maximum(values, 0.0).sum()
        sampling = (np.diag(probable) - np.outer(probable, probable)) / n
        other = series(Shares(edges, values, sampling, np.eye(bins) / n, variance))
        averaged.append(float(((mean - true) ** 2).mean()))
        single.append(((all_of_them - true) ** 2).mean(axis=1))
        half.append(float((((mean + other) / 2 - true) ** 2).mean()))
    least = np.array(single).mean(axis=0).min()
    spread = np.std(averaged) / repeats**0.5
    return (
        f"| {law} | {n:,} | {epsilon:g} | {bins} | {np.mean(averaged):.3g} ± {2 * spread:.1g} | {least:.3g} |"
        f" {np.mean(half):.3g} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--laws", nargs="*", default=list(LAWS))
    given = parser.parse_args()
    print("| law | n | ε | bins | averaged | best penalty | half a series |\n|---|---|---|---|---|---|---|")
    for law in given.laws:
        for n in SIZES:
            for price in PRICES[:2]:
                most = for_density(n, price["epsilon"], 1)
                for bins in (most // 3, most // 2, most):
                    print(errors(law, n, price["epsilon"], bins, given.repeats), flush=True)


if __name__ == "__main__":
    main()
