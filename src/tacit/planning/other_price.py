"""At which other price a ledger is charged no more of what it adds, and intervals are clearly narrower.

Definition
    A price that is ε alone buys Laplace noise, in proportion to the sum of what one person changes (l1); a ρ or a pair
    buys normal noise, in proportion to the root of the sum of squares (l2).  Which is narrower depends on the question.
Ledgers
    One that adds ρ is charged ρ for a pure price: the price of that ρ is charged the same.  One that holds the μ² of a
    pair is charged μ²: the pair (ε', δ) of as much, at the ledger's δ.  One that adds ε and adds δ ("basic") is charged
    ε: the pair (ε, δ) of the same ε is charged δ as well, of which some may be left; and of a pair ε alone is charged
    less.  The ledger's own promise is the same in each case; that of the release alone is the price that is asked for.
Nothing is changed without being asked for: a plan says it, with both prices and what either is charged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from tacit.errors import TacitError
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.price_parts import charged_price, price_parts
from tacit.planning.epsilon_alone import CLEARLY
from tacit.privacy import Budget, Cost, Spend, mu_squared_to_epsilon
from tacit.privacy.exact_numbers import significant

DIGITS: Final = 4
"""Significant digits of a price that is named, rounded down so that it is charged no more."""

Widths = Mapping[str, Sequence[float]]
"""Expected widths of the terms of each question, by its name."""


@dataclass(frozen=True)
class OtherPrice:
    """A price at which intervals are clearly narrower than at the one that was asked for.

    cost: that price.  charged, now: what the ledger would be charged for it, and is charged for the other.  ratio: of
    all widths, the geometric mean; ratios: of those of each question, by name.  More intervals may be finite instead:
    then the ratio is 0, and `finite` says how many are, of how many, and at the price that was asked for.
    """

    cost: Cost
    charged: Spend
    now: Spend
    ratio: float
    ratios: Mapping[str, float]
    finite: tuple[int, int, int]

    def line(self, asked: Cost) -> str:
        """In words."""
        before, after = self.finite[2], self.finite[0]
        gain = f"intervals are expected to be {self.ratio:.2f} times as wide"
        if after > before:
            gain = f"{after:,} of {self.finite[1]:,} intervals are expected to be finite, at {asked} {before or 'none'}"
        several = {name: one for name, one in self.ratios.items() if name and math.isfinite(one)}
        each = f" ({', '.join(f'{name}: {one:.2f}' for name, one in several.items())})" if len(several) > 1 else ""
        extra = self.charged.delta - self.now.delta
        if extra > 0:
            same = f"the ledger would be charged δ = {float(extra):.3g} besides the same ε"
        elif extra < 0:
            same = "the ledger would be charged the same ε, and no δ"
        else:
            same = "this ledger is charged no more for it"
        promise = f"its own promise stays; the one of this release alone would be {self.cost} in place of {asked}"
        return f"at {self.cost} {gain}{each}; {same}: {promise}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        finite, terms, before = self.finite
        return {
            "cost": self.cost.to_dict(),
            "charged": self.charged.to_dict(),
            "charged now": self.now.to_dict(),
            "ratio of widths": self.ratio,
            "ratios of widths": dict(self.ratios),
            "finite intervals": {"there": finite, "now": before, "of": terms},
        }


def other_price(
    cost: Cost,
    budget: Budget | None,
    spent: Spend,
    shapes: Mapping[str, Measurement],
    widths: Widths,
    designs: Callable[[Cost], Mapping[str, Measurement]],
    expected: Callable[[Mapping[str, Measurement]], Widths],
) -> OtherPrice | None:
    """Return a price that a ledger is charged no more for, with clearly narrower intervals; None where there is none.

    cost: the price that was asked for, which bought `shapes` with these widths.  designs: what another price buys.
    expected: the widths that are expected of it.
    """
    if budget is None or any(one.cost.is_part for one in shapes.values()):
        return None
    try:
        now = _charge(cost, budget, shapes)
        other = _candidate(cost, now, budget, spent)
        if other is None:
            return None
        made = designs(other)
        charged = _charge(other, budget, made)
        if any(one.cost.is_part for one in made.values()) or not _no_more(charged, now, budget):
            return None
        return _compared(other, charged, now, widths, expected(made))
    except TacitError:  # what cannot be asked at that price is no advice
        return None


def _candidate(cost: Cost, now: Spend, budget: Budget, spent: Spend) -> Cost | None:
    """Return the price to compare with: of a pure one in ρ, or a pair; of a pair, where ε and δ add, its ε alone."""
    if cost.kind == "approximate":
        return Cost(epsilon=cost.epsilon) if budget.kind == "basic" else None
    if cost.kind != "pure":
        return None
    if budget.kind == "zcdp":
        return Cost(rho=_down(now.rho))
    if budget.kind == "gdp":
        rest = (budget.delta or Fraction(0)) - max(spent.delta, budget.reserved_delta or Fraction(0))
        return Cost(epsilon=_down(mu_squared_to_epsilon(now.mu_squared, rest)), delta=rest) if rest > 0 else None
    left = budget.left(spent).delta
    return Cost(epsilon=cost.epsilon, delta=left) if budget.kind == "basic" and left > 0 else None


def _down(x: Fraction) -> Fraction:
    """Return a price as it is, where it is short, else rounded down."""
    short = significant(x, DIGITS, up=True)
    return x if short == x else significant(x, DIGITS, up=False)


def _charge(cost: Cost, budget: Budget, shapes: Mapping[str, Measurement]) -> Spend:
    made = [*shapes.values()]
    return budget.spend(charged_price(cost, made, budget.kind), price_parts(made))


def _no_more(charged: Spend, now: Spend, budget: Budget) -> bool:
    """Return whether a charge is no more than another, apart from δ where a ledger adds it."""
    known = charged.epsilon <= now.epsilon and charged.rho <= now.rho and charged.mu_squared <= now.mu_squared
    return known and (charged.delta <= now.delta or budget.kind == "basic")


def _compared(other: Cost, charged: Spend, now: Spend, before: Widths, after: Widths) -> OtherPrice | None:
    """Return what is gained; None where widths are not clearly smaller, or are not of the same terms."""
    if any(len(after[name]) != len(each) for name, each in before.items()):
        return None
    first = [one for each in before.values() for one in each]
    then = [one for name in before for one in after[name]]
    finite, was = (sum(map(math.isfinite, each)) for each in (then, first))
    ratios = {name: _ratio(after[name], each) for name, each in before.items()}
    ratio = _ratio(then, first)
    if finite < was or (finite == was and not ratio < CLEARLY):
        return None
    return OtherPrice(other, charged, now, 0.0 if finite > was else ratio, ratios, (finite, len(then), was))


def _ratio(after: Sequence[float], before: Sequence[float]) -> float:
    """Return the geometric mean of ratios of widths, of terms that have both; infinite where none has.

    >>> _ratio([2.0, math.inf], [4.0, 1.0]), _ratio([math.inf], [1.0])
    (0.5, inf)
    """
    both = [(one, was) for one, was in zip(after, before, strict=True) if 0 < one < math.inf and 0 < was < math.inf]
    return math.exp(sum(math.log(one / was) for one, was in both) / len(both)) if both else math.inf
