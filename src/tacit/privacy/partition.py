"""One release or the average of k: what each rule of composition makes of the variance.  No data here.

A price (ε, δ) may buy one release of a number of sensitivity 1, or k releases whose average is then reported [Brawner &
Honaker 2018, §3].  `partition_table` has the variance of the noise in both, under each rule at its true optimum, and
what the paper prints.  Figures are for reading: nothing is charged by them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arguments import described
from tacit.base.lazy_imports import special
from tacit.errors import BudgetError
from tacit.privacy.conversions import epsilon_delta_to_zcdp
from tacit.privacy.cost import checked
from tacit.privacy.exact_numbers import Number
from tacit.privacy.gaussian import epsilon_delta_to_mu_squared
from tacit.privacy.loss_distribution import Floats, LossCurve, composed, connect_the_dots

MOST: Final = 10_000
"""Most releases of a table."""
GRID: Final = 64
"""Points of the grid of losses in one ε₀."""


@dataclass(frozen=True)
class Partition:
    """Noise variance under one rule, in squared sensitivities: of one release, and of the average of k of them."""

    rule: str
    one_shot: float
    average: float

    @property
    def inflation(self) -> float:
        """How many times the variance of one release the average has."""
        return self.average / self.one_shot


def partition_table(epsilon: Number, delta: Number, releases: int) -> tuple[Partition, ...]:
    """Return the variances for one price (ε, δ), rule by rule; the pure rule uses ε alone.

    Raises BudgetError B01 for a price that is none, B08 for a number of releases below 1 or above 10,000.

    >>> for one in partition_table(1, "1e-6", 50):
    ...     print(f"{one.rule}: {one.average:.4g}, {one.inflation:.3g} times")
    pure, ε / k each: 100, 50 times
    advanced, as printed: 27.63, 13.8 times
    advanced, theorem: 59.25, 29.6 times
    any ε₀-DP releases, optimal: 33.87, 16.9 times
    Laplace releases, optimal: 33.36, 16.7 times
    ρ / k each, textbook conversion: 28.62, 1 times
    ρ / k each, optimal conversion: 20.53, 1 times
    normals, exact: 17.85, 1 times
    """
    e, d, k = float(checked(epsilon, "epsilon")), float(checked(delta, "delta")), releases
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MOST:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BudgetError(
            f"releases is {described(k)}: not a whole number from 1 to {MOST:,}.", code="B08", hint="releases=50"
        )
    alone = 2 / e**2

    def laplace(rule: str, each: float) -> Partition:
        return Partition(rule, alone, 2 / (k * each**2))

    log = math.log(1 / d)
    # ρ + 2 √(ρ ln(1/δ)) = ε [Bun & Steinke 2016, Proposition 1.3]
    textbook = (math.sqrt(log + e) - math.sqrt(log)) ** 2
    best = float(epsilon_delta_to_zcdp(epsilon, delta))
    normal = float(epsilon_delta_to_mu_squared(epsilon, delta))
    return (
        laplace("pure, ε / k each", e / k),
        # ε / √(k ln(1/δ)) each: no theorem says so [theory §5]
        laplace("advanced, as printed", e / math.sqrt(k * log)),
        laplace("advanced, theorem", _largest(lambda one: advanced_epsilon(one, k, log) <= e, e)),
        laplace("any ε₀-DP releases, optimal", _largest(lambda one: optimal_delta(one, k, e) <= d, e)),
        laplace("Laplace releases, optimal", _largest(lambda one: laplace_delta(one, k, e, d) <= d, e)),
        Partition("ρ / k each, textbook conversion", 1 / (2 * textbook), 1 / (2 * textbook)),
        Partition("ρ / k each, optimal conversion", 1 / (2 * best), 1 / (2 * best)),
        Partition("normals, exact", 1 / normal, 1 / normal),
    )


def _largest(holds: Callable[[float], bool], epsilon: float) -> float:
    """Return the largest ε₀ <= ε that holds, to a relative 1e-6."""
    low, high = 0.0, epsilon
    if holds(high):
        return high
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def advanced_epsilon(each: float, k: int, log: float) -> float:
    """Return ε of k ε₀-DP releases: √(2 k ln(1/δ)) ε₀ + k ε₀ (e^ε₀ - 1) [Dwork, Rothblum & Vadhan 2010], or k ε₀."""
    return min(math.sqrt(2 * k * log) * each + k * each * math.expm1(each), k * each)


def optimal_delta(each: float, k: int, epsilon: float) -> float:
    """Return the δ at ε of k ε₀-DP releases of any kind: that of randomised response [Kairouz, Oh & Viswanath 2015]."""
    lib = special()
    j = np.arange(k + 1)
    # j answers of k are false: the loss is (k - 2 j) ε₀
    false = -math.log1p(math.exp(each))
    logs = lib.gammaln(k + 1) - lib.gammaln(j + 1) - lib.gammaln(k - j + 1) + k * false + (k - j) * each
    loss = (k - 2 * j) * each
    return float(np.sum(np.where(loss > epsilon, np.exp(logs) * -np.expm1(np.minimum(epsilon - loss, 0)), 0.0)))


def laplace_delta(each: float, k: int, epsilon: float, delta: float) -> float:
    """Return the δ at ε of k Laplace releases of ε₀ each."""
    return float(laplace_losses(each, k, delta).delta(np.array([epsilon]))[0])


def laplace_losses(each: float, k: int, delta: float) -> LossCurve:
    """Return the privacy-loss distribution of k Laplace releases of ε₀ each; delta: near which its δ is wanted."""

    def profile(at: Floats) -> Floats:
        return np.maximum(-np.expm1((at - each) / 2), 0)

    return composed(connect_the_dots(profile, profile, each / GRID), k, delta)
