"""Densities from noisy histograms: the tables of docs/reference/histogram-density.md.

    python benchmarks/histogram_density.py [--quick]

Rows are drawn anew and counts perturbed anew in each simulation, by the law of a release.  About five minutes on one
core; `--quick` for a look.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta, uniform

import tacit as tc
from tacit.method.histogram.estimate_densities import density
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing.simulate import add_noise, shaped

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "histogram-density.md"
INTRODUCTION = """# Densities from histograms

What `release.density(…)` is worth. Written by `python benchmarks/histogram_density.py`.
"""
LAWS: dict[str, Any] = {
    "Beta(2,5)": beta(2, 5),
    "Beta(1,3)": beta(1, 3),
    "uniform": uniform(),
    "narrow: Beta(200,300)": beta(200, 300),
}


@dataclass(frozen=True)
class Case:
    """n rows of a law on [0, 1], in so many bins, at a price; `known`: whether their number is public."""

    law: str
    n: int
    price: dict[str, float]
    bins: int
    known: bool = True

    @property
    def chances(self) -> np.ndarray:
        """Probability of each bin."""
        return np.diff(LAWS[self.law].cdf(np.linspace(0, 1, self.bins + 1)))

    def releases(self, repeats: int, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, Any]]:
        """Counts of rows drawn anew, and a simulated release of them."""
        schema = tc.Schema({"x": tc.Real(0, 1, missing=0.0)})
        query = tc.Histogram("x", bins={"x": self.bins})
        relation = "replace-one" if self.known else "add-remove"
        shape = shaped(query, schema, relation, self.n, Cost.of(**self.price))
        p = self.chances
        for _ in range(repeats):
            counts = rng.multinomial(self.n, p)
            yield counts, simulated(shape, add_noise(shape, (counts[:, None],), rng))


def curvature(law: str, bins: int) -> float:
    """Return the bias of binning: the integral of (f - its average over each bin) squared."""
    edges = np.linspace(0, 1, bins + 1)
    x = (np.arange(2_000 * bins) + 0.5) / (2_000 * bins)
    average = np.diff(LAWS[law].cdf(edges)) * bins
    return float(np.mean((LAWS[law].pdf(x) - np.repeat(average, 2_000)) ** 2))


def errors(case: Case, repeats: int, rng: np.random.Generator) -> np.ndarray:
    """Integrated squared errors without noise, of raw noisy counts, and projected: shape (repeats, 3)."""
    p = case.chances
    out = np.zeros((repeats, 3))
    for i, (counts, release) in enumerate(case.releases(repeats, rng)):
        raw = np.array([k for (k,) in release.parts[0].integers]) / case.n
        for j, shares in enumerate((counts / case.n, raw, density(release, "x").shares[0])):
            out[i, j] = case.bins * ((shares - p) ** 2).sum()
    return out + curvature(case.law, case.bins)


def ratio(found: np.ndarray, column: int) -> tuple[float, float]:
    """Mean of a column over that of the first, and its standard error (the two are paired)."""
    value = found[:, column].mean() / found[:, 0].mean()
    residual = found[:, column] - value * found[:, 0]
    return float(value), float(residual.std() / found[:, 0].mean() / np.sqrt(len(found)))


def mise(repeats: int) -> Iterator[str]:
    yield "\n## Mean integrated squared error\n"
    yield (
        f"Over that of the histogram of the same bins without noise, {repeats:,} simulations a row, with a standard"
        "\nerror from the paired errors. 1.5 n^(1/3) bins but for the narrow law. *Raw* takes the noisy counts as they"
        "\nare, over n; *density* is what `density` gives: the nearest counts that are 0 or more and add up to the"
        "\ntotal.\n"
    )
    yield "| law on [0, 1] | n | price | number of rows | bins | MISE without noise | raw ÷ | **density ÷** |"
    yield "|---|---:|---|---|---:|---:|---:|---:|"
    rng = np.random.default_rng(33)
    for case in CASES:
        found = errors(case, repeats, rng)
        (raw, _), (made, error) = ratio(found, 1), ratio(found, 2)
        yield f"| {_words(case)} | {found[:, 0].mean():.3g} | {raw:.3f} | **{made:.3f}** ± {error:.3f} |"


def coverage(repeats: int) -> Iterator[str]:
    yield "\n## Coverage of intervals\n"
    yield (
        f"Of the average of the density over each bin, at 95%: all bins, the quarter with the fewest and that with the"
        f"\nmost rows; {repeats:,} simulations a row, standard errors of 0.3 to 1. Where the number of rows is public"
        "\nan interval inverts the exact law of a count with its noise, so that small counts are covered more often"
        "\nthan asked for; where it is not, Fieller's argument is used.\n"
    )
    yield "| law on [0, 1] | n | price | number of rows | bins | all bins, % | fewest rows, % | most rows, % |"
    yield "|---|---:|---|---|---:|---:|---:|---:|"
    rng = np.random.default_rng(34)
    for case in (one for one in CASES if one.bins != 70):  # those intervals take a second a table
        order = np.argsort(case.chances)
        held = 100 * covered(case, repeats, rng).mean(axis=0)[order]
        some = max(case.bins // 4, 1)
        yield f"| {_words(case)} | {held.mean():.1f} | {held[:some].mean():.1f} | {held[-some:].mean():.1f} |"


def covered(case: Case, repeats: int, rng: np.random.Generator) -> np.ndarray:
    """Whether the interval of each bin held its average density, shape (repeats, bins)."""
    truth = case.chances * case.bins
    held = np.zeros((repeats, case.bins), dtype=bool)
    for i, (_, release) in enumerate(case.releases(repeats, rng)):
        limits = density(release, "x").intervals(0.95)[0]
        held[i] = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
    return held


def _words(case: Case) -> str:
    (name, value), *_ = case.price.items()
    known = "public" if case.known else "noisy"
    return f"{case.law} | {case.n:,} | {'ε' if name == 'epsilon' else 'ρ'} = {value:g} | {known} | {case.bins}"


def _bins(n: int) -> int:
    return round(1.5 * n ** (1 / 3))


CASES = [
    *(Case("Beta(2,5)", n, {"epsilon": 1.0}, _bins(n)) for n in (1_000, 10_000, 100_000)),
    Case("Beta(2,5)", 10_000, {"epsilon": 1.0}, _bins(10_000), known=False),
    Case("Beta(2,5)", 10_000, {"epsilon": 0.1}, _bins(10_000)),
    Case("Beta(2,5)", 10_000, {"epsilon": 0.1}, _bins(10_000), known=False),
    Case("Beta(2,5)", 10_000, {"rho": 0.01}, _bins(10_000)),
    Case("Beta(2,5)", 1_000, {"rho": 0.01}, _bins(1_000), known=False),
    Case("Beta(1,3)", 10_000, {"epsilon": 1.0}, _bins(10_000)),
    Case("uniform", 10_000, {"epsilon": 1.0}, _bins(10_000)),
    Case("narrow: Beta(200,300)", 10_000, {"epsilon": 0.5}, 200),
    Case("narrow: Beta(200,300)", 10_000, {"epsilon": 0.5}, 200, known=False),
    Case("uniform", 300, {"epsilon": 0.5}, 3, known=False),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    quick, start = options.quick, time.monotonic()
    page = [INTRODUCTION]
    for part in (mise(200 if quick else 2_000), coverage(20 if quick else 200)):
        for line in part:
            print(line, flush=True)
            page.append(line)
    if not quick:
        PAGE.write_text("\n".join(page).replace("\n\n\n", "\n\n") + "\n", encoding="utf-8")
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
