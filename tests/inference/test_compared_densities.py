"""The comparison of density estimators: its whole arrays are the library's estimates, and its bound is one."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import numpy as np
import pytest
from benchmark_script import script

NAMES = ("histogram", "smooth", "cosine", "legendre", "kernel", "Bernstein")


@pytest.mark.parametrize("name", NAMES)
def test_whole_arrays_are_the_estimates_of_releases(name: str) -> None:
    simulations = script("compared_simulations")
    (method,) = (one for one in script("compared_designs").METHODS if one.name == name)
    case = simulations.Case(method, "two modes", 1_000, {"epsilon": 1.0})
    squared, distance, _ = simulations.agreement(case, 2)
    assert squared < 1e-3  # densities add up to 1 on 1,000 places here, on 2,048 there
    assert distance < 1e-3
    # and another bandwidth, number of bins or terms, or degree is another estimate
    other = replace(case, value=method.grid[0])
    assert abs(simulations.errors(other, 5, 1).mean[0] / simulations.errors(case, 5, 1).mean[0] - 1) > 1e-3


def test_no_release_beats_the_bound() -> None:
    least = script("minimax_rates").least
    x = np.linspace(0.01, 5, 10_000)
    assert least(1e-3) * 1e-3 == pytest.approx((x / 2 / (1 + np.exp(x))).max(), rel=1e-3)
    for epsilon in (0.01, 0.5, 1.0, 3.0):
        # geometric noise of parameter e**-epsilon, the best of pure ones, has this mean absolute error
        q = exp(-epsilon)
        assert least(epsilon) < 2 * q / (1 - q**2)
