"""Spend: exact sums of the costs that were charged.  No data here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Final

from tacit.privacy.cost import mu_of, numbers_of
from tacit.privacy.exact_numbers import plain

ZERO: Final = Fraction(0)


@dataclass(frozen=True)
class Spend:
    """Exact sums of the costs charged so far; the sums that a budget does not keep stay 0.

    >>> Spend(rho=Fraction(1, 10)) + Spend(rho=Fraction(1, 5))
    Spend(epsilon=Fraction(0, 1), rho=Fraction(3, 10), delta=Fraction(0, 1), mu_squared=Fraction(0, 1))
    """

    epsilon: Fraction = ZERO
    rho: Fraction = ZERO
    delta: Fraction = ZERO
    mu_squared: Fraction = ZERO

    def __add__(self, other: Spend) -> Spend:
        epsilon, rho = self.epsilon + other.epsilon, self.rho + other.rho
        return Spend(epsilon, rho, self.delta + other.delta, self.mu_squared + other.mu_squared)

    def within(self, limit: Spend) -> bool:
        """Return whether no sum exceeds its limit."""
        small = self.epsilon <= limit.epsilon and self.rho <= limit.rho
        return small and self.delta <= limit.delta and self.mu_squared <= limit.mu_squared

    def less(self, other: Spend) -> Spend:
        """Return these sums minus others, each at least 0."""
        names = [f.name for f in fields(self)]
        return Spend(**{name: max(getattr(self, name) - getattr(other, name), ZERO) for name in names})

    def to_dict(self) -> dict[str, str]:
        """Return the sums that are not 0, as exact fractions in text."""
        return {f.name: str(getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != 0}

    @classmethod
    def from_dict(cls, words: Mapping[str, object]) -> Spend:
        """Return the sums that `to_dict` wrote; BudgetError B07 for an unknown key, B01 for a malformed number."""
        return cls(**numbers_of("a sum of costs", words))

    def __str__(self) -> str:
        return self.describe()

    def describe(self, *, up: bool = True) -> str:
        """Return the sums that are not 0 as text; rounded up, or with up=False down, for what is left."""
        named = (("ε", self.epsilon), ("δ", self.delta), ("ρ", self.rho), ("μ", mu_of(self.mu_squared)))
        return ", ".join(f"{n} = {plain(v, up=up)}" for n, v in named if v != 0) or "nothing"
