"""Where the error of a smooth density without numbers comes from: its bins, its models, or what it is made of.

    python benchmarks/density_losses.py [--repeats 20] [--laws "two modes" ...] [--bins 16 32 ...]

Prints, for laws of compared_designs and of fresh_laws, pure prices, and numbers of bins (without --bins that of the
rule): the mean squared error of the density averaged over all models, over logarithms with a penalty alone, over all
but models of few parameters, of the best single model of all simulations (nobody knows it), and of the half-and-half
mean with a Fourier series of the same bins.  Noise is Laplace, seeds are constants; the density is held against
averages over its own cells, and has no page: what the page says, default_densities.py says.
"""

from __future__ import annotations

import argparse

import numpy as np
from compared_designs import LAWS, PRICES, SIZES
from fresh_laws import FRESH

from tacit.base.arrays import Array
from tacit.estimates.densities.density_models import CELLS, FREE, LogLinearModel, SquaredProcess, middles
from tacit.estimates.densities.log_density import BinnedLikelihood, Fitted, averaged, of_models
from tacit.estimates.densities.projected_curve import ProjectedCurve
from tacit.estimates.densities.series_coefficients import Shares, coefficients, resolved_terms
from tacit.estimates.densities.series_curve import SeriesCurve
from tacit.schema.autobins import for_density, round_bins


def series(shares: Shares) -> Array:
    """Return the density of a Fourier series of shares, on the cells."""
    found = coefficients("fourier", shares, max(1, resolved_terms("fourier", shares.edges)))
    own = SeriesCurve("fourier", found, found.band)
    density = ProjectedCurve("fourier", own, own).density(middles())
    return density / density.mean()


def penalised(one: Fitted) -> bool:
    """Return whether a model is a logarithm with a penalty."""
    return isinstance(one.model, LogLinearModel) and one.model.over.shape[1] >= len(FREE)


def errors(law: str, n: int, epsilon: float, bins: int, repeats: int) -> str:
    """Return a line of the table."""
    rng, edges = np.random.default_rng([5, n, bins, len(law)]), np.linspace(0, 1, bins + 1)
    own = {**LAWS, **FRESH}[law]
    true, chances = np.diff(own.cdf(np.linspace(0, 1, CELLS + 1))) * CELLS, np.diff(own.cdf(edges))
    # of replaced rows: two cells change by one
    variance = 2 * (2 / epsilon) ** 2
    squared, single = list[tuple[float, ...]](), list[list[float]]()
    for _ in range(repeats):
        values = (rng.multinomial(n, chances / chances.sum()) + rng.laplace(scale=2 / epsilon, size=bins)) / n
        data = BinnedLikelihood(edges, values, n, np.full(bins, variance / n**2))
        models = of_models(data)
        logs = [one for one in models if penalised(one)]
        rich = [one for one in models if penalised(one) or isinstance(one.model, SquaredProcess)]
        probable = np.maximum(values, 0.0) / np.maximum(values, 0.0).sum()
        sampling = (np.diag(probable) - np.outer(probable, probable)) / n
        mean = averaged(models)
        half = (mean + series(Shares(edges, values, sampling, np.eye(bins) / n, variance))) / 2
        made = (mean, averaged(logs), averaged(rich), half)
        squared.append(tuple(float(((one - true) ** 2).mean()) for one in made))
        each = [float(((CELLS * one.mode.cells - true) ** 2).mean()) for one in models]
        # rougher penalties than the last that was tried are worse
        last = len(logs) - 1
        single.append(each[:last] + [each[last]] * (10 - last) + each[last + 1 :])
    mean, logs_alone, rich_alone, halves = np.mean(squared, axis=0)
    spread = 2 * np.std([one[0] for one in squared]) / repeats**0.5
    return (
        f"| {law} | {n:,} | {epsilon:g} | {bins} | {mean:.3g} ± {spread:.1g} | {logs_alone:.3g} | {rich_alone:.3g} |"
        f" {np.mean(single, axis=0).min():.3g} | {halves:.3g} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--laws", nargs="*", default=[*LAWS, *FRESH])
    parser.add_argument("--bins", nargs="*", type=int)
    given = parser.parse_args()
    print("| law | n | ε | bins | averaged | penalties alone | no families | best single model | half a series |")
    print("|---|---|---|---|---|---|---|---|---|")
    for law in given.laws:
        for n in SIZES:
            for price in PRICES[:2]:
                rule = for_density(n, price["epsilon"], 1)
                for bins in given.bins or (next(iter(round_bins(0, 1, rule)), rule),):
                    print(errors(law, n, price["epsilon"], bins, given.repeats), flush=True)


if __name__ == "__main__":
    main()
