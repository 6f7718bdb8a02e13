"""How often the contract suite would fail a right mechanism, by the number of draws of its test (b).

    python benchmarks/contract_power.py [--simulations 200000]

Test (b) also fails where a law that is off would not be noticed: a scale by 10%, a rate by 30%.  Counts of cells are
drawn from the right law, and Pearson's statistic is compared with its limit under the wrong one.  Prints, for each law
and number of draws, the share of samples that miss the wrong law, and how many deviations its limit is from the mean.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from tacit.method.shared.rank_utilities import Runs
from tacit.noise.laws import DiscreteLaplace, RoundedNormal
from tacit.noise.permute_and_flip import PermuteAndFlip
from tacit.noise.selection_law import Selection
from tacit.testing.noise_law_test import FALSE_ALARM, _edges

SCALES = (Fraction(1, 3), Fraction(1), Fraction(3), Fraction(100), Fraction(10**6))
RATES = (Fraction(1, 100), Fraction(1))


def missed(
    right: NDArray[np.float64], wrong: NDArray[np.float64], draws: int, level: float, simulations: int
) -> tuple[float, float]:
    """Return the share of samples of `right` that do not reject `wrong`, and the limit in deviations from the mean."""
    counts = np.random.default_rng(0).multinomial(draws, right / right.sum(), size=simulations)
    found = ((counts - draws * wrong) ** 2 / (draws * wrong)).sum(axis=1)
    limit = float(chdtri(len(wrong) - 1, level))
    return float(np.mean(found <= limit)), float((limit - found.mean()) / found.std())


def main() -> None:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description="How often the contract suite would fail a right mechanism.")
    parser.add_argument("--simulations", type=int, default=200_000)
    simulations = parser.parse_args().simulations
    print(f"{simulations:,} simulations a line\n\na scale 10% off\n")
    for scale in SCALES:
        for law in (DiscreteLaplace(scale), RoundedNormal(scale)):
            wide: Any = replace(law, scale=scale * 11 / 10)
            for draws in (10_000, 20_000, 40_000):
                edges = _edges(wide, draws)
                right, wrong = (np.diff(one.cdf(edges), prepend=0, append=1) for one in (law, wide))
                share, z = missed(right, wrong, draws, FALSE_ALARM / 6, simulations)
                print(
                    f"{law.name:18} scale {scale!s:8} {draws:6,} draws  missed {share:.6f}  limit {z:6.2f} deviations"
                )
    print("\na rate 30% off\n")
    for rate in RATES:
        step = max(1, round(1 / rate))
        runs = Runs([0, 3, 4, 6], [3, 1, 2, 4], [-2 * step, 0, -step, -3 * step])
        for chosen in (Selection(rate), PermuteAndFlip(rate)):
            off = replace(chosen, rate=rate * Fraction(13, 10))
            right, wrong = (
                np.repeat(one.pmf(runs.utility, runs.points) / runs.points, runs.points) for one in (chosen, off)
            )
            for draws in (1_000, 2_000, 4_000):
                share, z = missed(right, wrong, draws, 1e-6, simulations)
                name = type(chosen).__name__
                print(f"{name:18} rate {rate!s:9} {draws:6,} draws  missed {share:.6f}  limit at {z:6.2f}")


if __name__ == "__main__":
    main()
