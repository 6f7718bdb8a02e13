"""What k releases of one price cost together, under each rule of composition.  Figures for reading: nothing is charged.

The rules are those of the lecture notes and of Brawner & Honaker 2018, §3, each where it is proven; `privacy.partition`
has the inverse question, what one price buys in k parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from tacit.base.table import Table, shown_by_summary
from tacit.plots.canvas import Drawn
from tacit.privacy.conversions import zcdp_to_epsilon
from tacit.privacy.cost import Cost
from tacit.privacy.exact_numbers import plain, significant
from tacit.privacy.gaussian import mu_squared_to_epsilon, pure_to_mu_squared
from tacit.privacy.loss_distribution import least_epsilon
from tacit.privacy.partition import advanced_epsilon, laplace_losses, optimal_delta

SEARCHED: Final = 1e-9
"""Relative precision of an ε that is searched for, upward."""


@dataclass(frozen=True)
class CompositionRule:
    """The ε at `delta` that k releases have together under one rule, one for each k of `CompositionTable.releases`.

    delta: the δ of each, 0 for a pure ε.
    """

    rule: str
    epsilon: tuple[float, ...]
    delta: tuple[float, ...]


@shown_by_summary
@dataclass(frozen=True, repr=False)
class CompositionTable:
    """What k releases of one price cost together, rule by rule.

    >>> from tacit.privacy import Cost
    >>> print(many_releases(Cost.of(epsilon="0.1"), (1, 100), 1e-6))
    ε of k releases of ε = 0.1 each
    rule                            δ      1   100
    ε adds                          0    0.1    10
    advanced composition        1e-06    0.1  6.31
    any ε-DP releases, optimal  1e-06    0.1  4.78
    Laplace releases, exact     1e-06    0.1   4.7
    each as ρ = ε²/2            1e-06   0.43  5.23
    each as normal of its μ     1e-06  0.506  6.34
    """

    cost: Cost
    releases: tuple[int, ...]
    rules: tuple[CompositionRule, ...]

    def summary(self) -> Table:
        """Return the table, ε rounded up."""
        columns = ("rule", "δ", *(f"{k:,}" for k in self.releases))
        rows = [(one.rule, _delta(one.delta), *(_up(x) for x in one.epsilon)) for one in self.rules]
        return Table(f"ε of k releases of {self.cost} each", columns, tuple(rows))

    def plot(self, ax: Any = None) -> Drawn:
        """Draw ε against the number of releases, one line for each rule; InferenceError I20 without matplotlib."""
        from tacit.plots.canvas import Caption
        from tacit.plots.line_plot import lines

        caption = Caption(f"ε of k releases of {self.cost} each", "k", "", "ε")
        curves = {one.rule: np.array(one.epsilon) for one in self.rules}
        return lines(np.array(self.releases, dtype=float), curves, caption, ax, logarithmic=True)


def many_releases(cost: Cost, releases: Sequence[int], delta: float) -> CompositionTable:
    """Return the table of a price for each number of releases; delta: at which ε is said of what has no pure ε."""
    return CompositionTable(cost, tuple(releases), tuple(_rules(cost, tuple(releases), delta)))


def _rules(cost: Cost, numbers: tuple[int, ...], delta: float) -> Iterator[CompositionRule]:
    at, same = Fraction(delta), (delta,) * len(numbers)
    if cost.kind == "pure":
        assert cost.epsilon is not None
        exact, e = cost.epsilon, float(cost.epsilon)
        log = -math.log(delta)
        yield CompositionRule("ε adds", tuple(k * e for k in numbers), (0.0,) * len(numbers))
        yield CompositionRule("advanced composition", tuple(advanced_epsilon(e, k, log) for k in numbers), same)
        yield CompositionRule("any ε-DP releases, optimal", tuple(_optimal_epsilon(e, k, delta) for k in numbers), same)
        yield CompositionRule(
            "Laplace releases, exact", tuple(min(k * e, _laplace_epsilon(e, k, delta)) for k in numbers), same
        )
        rho = tuple(float(zcdp_to_epsilon(k * exact**2 / 2, at)) for k in numbers)
        yield CompositionRule("each as ρ = ε²/2", rho, same)
        squared = pure_to_mu_squared(exact)
        yield CompositionRule("each as normal of its μ", _of_mu(squared, numbers, at), same)
    elif cost.rho is not None:
        rho = tuple(float(zcdp_to_epsilon(k * cost.rho, at)) for k in numbers)
        yield CompositionRule("ρ adds", rho, same)
        yield CompositionRule("normal noise, exact", _of_mu(2 * cost.rho, numbers, at), same)
    else:
        if cost.epsilon is not None and cost.delta is not None:
            e, d = float(cost.epsilon), float(cost.delta)
            yield CompositionRule("ε and δ add", tuple(k * e for k in numbers), tuple(min(1.0, k * d) for k in numbers))
        yield CompositionRule("μ² adds", _of_mu(cost.gdp, numbers, at), same)


def _of_mu(squared: Fraction, numbers: tuple[int, ...], delta: Fraction) -> tuple[float, ...]:
    """Return the ε of k mechanisms of μ² each."""
    return tuple(float(mu_squared_to_epsilon(k * squared, delta)) for k in numbers)


def _optimal_epsilon(each: float, k: int, delta: float) -> float:
    """Return the least ε at `delta` of k ε-DP releases of any kind [Kairouz, Oh & Viswanath 2015, Theorem 3.3]."""
    low, high = 0.0, k * each
    if optimal_delta(each, k, low) <= delta:
        return 0.0
    while high - low > SEARCHED * high:
        middle = (low + high) / 2
        low, high = (low, middle) if optimal_delta(each, k, middle) <= delta else (middle, high)
    return high


def _laplace_epsilon(each: float, k: int, delta: float) -> float:
    """Return the ε at `delta` of k Laplace releases of `each`, from their privacy-loss distribution."""
    return least_epsilon(laplace_losses(each, k, delta), delta)


def _up(x: float) -> str:
    """Return a number in three digits, rounded up."""
    # a float's own error moves no digit: 0.30000000000000004 is 0.3
    return plain(significant(Fraction(x * (1 - SEARCHED)), 3, up=True)) if math.isfinite(x) else "∞"


def _delta(found: tuple[float, ...]) -> str:
    first = f"{found[0]:.3g}"
    return first if len(set(found)) == 1 else f"{first} to {found[-1]:.3g}"
