"""`Promise`: what holds of any two neighbouring tables, as an upper bound on δ at each ε.  No data here.

The bound is a hockey-stick divergence: whatever the set A of answers, P(A) <= e^ε Q(A) + δ(ε), P and Q the laws of the
answers of the two tables, either way round.  Every figure of an explanation follows from it (`attacker`).  Several
facts may be known of one promise, for example a pair (ε, δ) and the μ that keeps it: the bound is the least of theirs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from tacit.privacy.budget import Budget
from tacit.privacy.composition import Spend
from tacit.privacy.conversions import gaussian_delta, zcdp_to_delta
from tacit.privacy.cost import Cost, mu_of
from tacit.privacy.gaussian import PI_UP, epsilon_delta_to_mu_squared

FAR: Final = 9.0
"""Standard deviations of a normal privacy loss beyond which δ is below 1e-18."""
POINTS: Final = 80
"""Values of ε at which a bound is evaluated; it holds whatever they are, and is near the best over all ε."""
MOST_LOSS: Final = 700.0
"""Largest ε of the grid: e^700 is still a float."""


@dataclass(frozen=True)
class Promise:
    """What is known of a promise: any of a pure ε, a pair (ε, δ), ρ, and μ² with the δ of approximate parts (`slack`).

    people: how many rows (persons) may differ between the two tables.

    >>> one = Promise(pure=Fraction(1))
    >>> round(one.delta(0.0), 4), one.delta(1.0)
    (0.4621, 0.0)
    >>> round(one.of_people(2).delta(0.0), 4)  # tanh(2 ε / 2)
    0.7616
    """

    pure: Fraction | None = None
    pair: tuple[Fraction, Fraction] | None = None
    rho: Fraction | None = None
    mu_squared: Fraction | None = None
    slack: Fraction = Fraction(0)
    people: int = 1

    def of_people(self, people: int) -> Promise:
        """Return the promise for tables that differ in `people` times as many rows (persons)."""
        return replace(self, people=self.people * people)

    def repeated(self, times: int) -> Promise:
        """Return the promise of `times` mechanisms that each keep this one, later ones chosen after earlier answers.

        ε, ρ and μ² add, each by itself [Dwork & Roth 2014, Theorem 3.16; Bun & Steinke 2016; Dong, Roth & Su 2022], and
        a pair adds both of its numbers.
        """
        pair = None if self.pair is None else (times * self.pair[0], min(Fraction(1), times * self.pair[1]))
        return Promise(
            None if self.pure is None else times * self.pure,
            pair,
            None if self.rho is None else times * self.rho,
            None if self.mu_squared is None else times * self.mu_squared,
            min(Fraction(1), times * self.slack),
            self.people,
        )

    @property
    def normal_mu(self) -> float:
        """The μ of the normal noise that the promise buys; a pure promise, which buys none, has that of its μ²."""
        if self.rho is not None:
            return math.sqrt(2 * float(self.rho))
        if self.mu_squared is not None:
            return float(mu_of(self.mu_squared))
        assert self.pair is not None
        return float(mu_of(epsilon_delta_to_mu_squared(*self.pair)))

    def delta(self, epsilon: float) -> float:
        """Return the bound on δ at one ε >= 0."""
        return _delta(self, epsilon)

    def losses(self) -> tuple[float, ...]:
        """Return the values of ε at which bounds are evaluated, in order: from 0 to where δ vanishes."""
        corners = sorted(min(MOST_LOSS, one) for one in self._corners())
        far = min(MOST_LOSS, max([*corners, self._reach()]))
        return tuple(sorted({0.0, *corners, *(far * i / POINTS for i in range(POINTS + 1))}))

    def _corners(self) -> Iterator[float]:
        """Yield the ε at which a bound has a corner."""
        if self.pure is not None:
            yield float(self.pure) * self.people
        if self.pair is not None:
            yield float(self.pair[0]) * self.people

    def _reach(self) -> float:
        """Return an ε beyond which the bound of a normal or of ρ is next to nothing."""
        least = [x for x in (self.mu_squared, None if self.rho is None else 2 * self.rho) if x is not None]
        if not least or self.pure is not None:
            return 0.0
        mu = math.sqrt(min(least)) * self.people
        return mu * mu / 2 + FAR * mu


@lru_cache(maxsize=8192)
def _delta(promise: Promise, epsilon: float) -> float:
    """Return the least of the bounds that are known."""
    return min([1.0, *_bounds(promise, epsilon)])


def _bounds(promise: Promise, epsilon: float) -> Iterator[float]:
    """Yield the bound on δ at `epsilon` that each fact implies, groups of people included."""
    k = promise.people
    if promise.pure is not None:
        yield _of_pair(k * float(promise.pure), 0.0, epsilon)
    if promise.pair is not None:
        e, d = (float(x) for x in promise.pair)
        # k steps of one row each: δ (1 + e^ε + … + e^((k - 1) ε)) [Dwork & Roth 2014, Theorem 2.2, for pairs]
        yield _of_pair(k * e, min(1.0, d * _steps(e, k)), epsilon)
    at = Fraction(epsilon)
    if promise.rho is not None and promise.rho > 0:
        # k² ρ [Bun & Steinke 2016, Proposition 1.9]
        yield float(zcdp_to_delta(k * k * promise.rho, at))
    if promise.mu_squared is not None:
        yield _of_normal(promise, epsilon)


def _of_pair(epsilon: float, delta: float, at: float) -> float:
    """Return δ at `at` of the least private mechanism that is (ε, δ)-DP [Kairouz, Oh & Viswanath 2015, Theorem 3.4].

    It tells its table with probability δ, and else answers by randomised response of ε.
    """
    if at >= epsilon:
        return delta
    # (e^ε - e^at) / (1 + e^ε)
    return delta + (1 - delta) * -math.expm1(at - epsilon) / (1 + math.exp(-epsilon))


def _of_normal(promise: Promise, epsilon: float) -> float:
    """Return δ at `epsilon` of μ-GDP with the δ of approximate parts beside it."""
    assert promise.mu_squared is not None
    k, slack = promise.people, float(promise.slack)
    if promise.mu_squared == 0:
        return min(1.0, slack * _steps(0.0, k))
    if slack == 0 or k == 1:
        # a group of k has k μ [Dong, Roth & Su 2022, Theorem 2.14]
        return slack + float(gaussian_delta(1 / (k * mu_of(promise.mu_squared)), Fraction(epsilon)))
    # with approximate parts by steps of one row: k steps of ε / k each
    one = _delta(replace(promise, people=1), epsilon / k)
    return min(1.0, one * _steps(epsilon / k, k))


def _steps(epsilon: float, k: int) -> float:
    """Return 1 + e^ε + … + e^((k - 1) ε), infinite where it is no float."""
    if epsilon * (k - 1) > MOST_LOSS:
        return math.inf
    return math.fsum(math.exp(i * epsilon) for i in range(k)) if k < 64 else k * math.exp((k - 1) * epsilon)


def of_cost(cost: Cost, mu_squared: Fraction | None = None) -> Promise:
    """Return the promise of a price; mu_squared: what it was spent on costs at most, where that is known.

    >>> of_cost(Cost.of(epsilon=1, delta="1e-6")).pair
    (Fraction(1, 1), Fraction(1, 1000000))
    """
    least = cost.gdp if mu_squared is None else min(cost.gdp, mu_squared)
    if cost.kind == "pure":
        return Promise(pure=cost.epsilon, mu_squared=least)
    if cost.kind == "zcdp":
        return Promise(rho=cost.rho, mu_squared=least)
    if cost.kind == "gdp":
        return Promise(mu_squared=least, slack=cost.delta or Fraction(0))
    assert cost.epsilon is not None
    assert cost.delta is not None
    return Promise(pair=(cost.epsilon, cost.delta), mu_squared=least)


def of_budget(budget: Budget) -> Promise:
    """Return what a ledger of this budget promises, whatever is bought from it."""
    if budget.kind == "pure":
        return of_cost(Cost(epsilon=budget.epsilon))
    if budget.rho is not None:
        # whatever adds to ρ costs at most π ρ in μ² (`privacy.gaussian`, Of ρ)
        return Promise(rho=budget.rho, mu_squared=PI_UP * budget.rho)
    pair = (budget.epsilon or Fraction(0), budget.delta or Fraction(0))
    if budget.kind == "basic":
        return Promise(pair=pair)
    assert budget.held is not None
    if budget.kind == "zcdp":
        return Promise(pair=pair, rho=budget.held, mu_squared=PI_UP * budget.held)
    # approximate parts may use up all of δ, or what is reserved for them
    return Promise(pair=pair, mu_squared=budget.held, slack=budget.reserved_delta or pair[1])


def of_spend(budget: Budget, spent: Spend) -> Promise:
    """Return what the charges of a ledger promise together."""
    if budget.kind == "pure":
        return Promise(pure=spent.epsilon)
    if budget.kind == "basic":
        return Promise(pair=(spent.epsilon, spent.delta))
    if budget.kind == "zcdp":
        return Promise(rho=spent.rho, mu_squared=PI_UP * spent.rho)
    return Promise(mu_squared=spent.mu_squared, slack=spent.delta)
