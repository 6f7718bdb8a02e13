"""Budget: the promise of a ledger, and the filter that keeps it.  No data here.

One budget has one way of adding costs (design, law 10), valid when prices, too, are chosen after seeing answers:

- ``Budget(epsilon=)``: ε adds; only pure prices.  [Rogers, Roth, Ullman & Vadhan 2016: a basic filter]
- ``Budget(rho=)``: ρ adds, a pure price as ε²/2.  [Feldman & Zrnic 2021, Theorem 4.4: so is Rényi composition, at every
  order at once, hence zCDP with ρ summed]
- ``Budget(epsilon=, delta=)``: the largest ρ that implies it, kept like the one before.
- ``Budget(epsilon=, delta=, accounting="basic")``: ε adds and δ adds.  [as the first]

A request is admitted when the sum including it is at most the limit, in exact rationals: at the limit is within it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Final, Literal, TypeAlias, cast, get_args

from tacit.errors import BudgetError, nearest
from tacit.privacy.cost import Cost, checked, numbers_of, way_of
from tacit.privacy.numbers import Number, aligned, plain, rational

Neighbors: TypeAlias = Literal["replace-one", "add-remove"]
Accounting: TypeAlias = Literal["basic"]

ZERO: Final = Fraction(0)


@dataclass(frozen=True)
class Spend:
    """Sums of costs so far, exact; those that a budget does not add stay 0.

    >>> Spend(rho=Fraction(1, 10)) + Spend(rho=Fraction(1, 5))
    Spend(epsilon=Fraction(0, 1), rho=Fraction(3, 10), delta=Fraction(0, 1))
    """

    epsilon: Fraction = ZERO
    rho: Fraction = ZERO
    delta: Fraction = ZERO

    def __add__(self, other: Spend) -> Spend:
        return Spend(self.epsilon + other.epsilon, self.rho + other.rho, self.delta + other.delta)

    def within(self, limit: Spend) -> bool:
        """Whether no sum is above its limit."""
        return self.epsilon <= limit.epsilon and self.rho <= limit.rho and self.delta <= limit.delta

    def to_dict(self) -> dict[str, str]:
        """Exact fractions as text, sums of nothing left out."""
        return {f.name: str(getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != 0}

    @classmethod
    def from_dict(cls, words: Mapping[str, object]) -> Spend:
        """Inverse of `to_dict`; BudgetError B07 for an unknown key, B01 for what is no number."""
        return cls(**numbers_of("a sum of costs", words))

    def __str__(self) -> str:
        return self.describe()

    def describe(self, *, up: bool = True) -> str:
        """The sums that are not 0, in words; rounded up, or down for what is left."""
        named = (("ε", self.epsilon), ("δ", self.delta), ("ρ", self.rho))
        return ", ".join(f"{n} = {plain(v, up=up)}" for n, v in named if v != 0) or "nothing"


@dataclass(frozen=True, init=False)
class Budget:
    """What people are promised by a ledger: the sum of all its costs stays within this; a raise is a recorded act.

    `neighbors` names what the promise protects: "replace-one" (default; the number of rows is public) or "add-remove"
    (it is private).  Budgets are equal when their promises are.  Raises BudgetError: B01 and B03 as `Cost.of`, B05 for
    unknown words.

    >>> budget = Budget(rho=0.5)
    >>> spent = budget.spend(Cost.of(rho=0.01))
    >>> budget.describe_left(spent), budget.admits(spent, Cost.of(rho=0.49)), budget.admits(spent, Cost.of(rho=0.5))
    ('left 0.49 of 0.50', True, False)
    """

    epsilon: Fraction | None
    delta: Fraction | None
    rho: Fraction | None
    neighbors: Neighbors
    accounting: Accounting | None
    held: Fraction | None = field(compare=False, repr=False)
    """For an (ε, δ) promise kept in ρ: that ρ.  Recorded with the promise, so that later versions keep the same one."""

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        neighbors: Neighbors = "replace-one",
        accounting: Accounting | None = None,
    ) -> None:
        way = way_of("a budget", epsilon, delta, rho)
        _word("neighbors", neighbors, get_args(Neighbors))
        if accounting is not None:
            _word("accounting", accounting, get_args(Accounting))
            if way != "approximate":
                message = 'accounting="basic" adds ε and δ; this budget has no such pair.'
                raise BudgetError(message, code="B05", hint='Budget(epsilon=1, delta=1e-6, accounting="basic")')
        numbers = {"epsilon": epsilon, "delta": delta, "rho": rho}
        for name, value in numbers.items():
            object.__setattr__(self, name, None if value is None else checked(value, name))
        object.__setattr__(self, "neighbors", neighbors)
        object.__setattr__(self, "accounting", accounting)
        object.__setattr__(self, "held", self._largest_rho() if way == "approximate" and accounting is None else None)

    def _largest_rho(self) -> Fraction:
        from tacit.privacy.conversions import epsilon_delta_to_zcdp

        assert self.epsilon is not None
        assert self.delta is not None
        return epsilon_delta_to_zcdp(self.epsilon, self.delta)

    def like(self, *, epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None) -> Budget:
        """A budget of other numbers under the same relation, and the same accounting where they are an (ε, δ) pair.

        Raises BudgetError B01, B03, B05 as Budget does.

        >>> Budget(epsilon=1, neighbors="add-remove").like(epsilon=2)
        Budget(epsilon=Fraction(2, 1), delta=None, rho=None, neighbors='add-remove', accounting=None)
        """
        accounting = self.accounting if epsilon is not None and delta is not None else None
        return Budget(epsilon=epsilon, delta=delta, rho=rho, neighbors=self.neighbors, accounting=accounting)

    @property
    def kind(self) -> Literal["pure", "zcdp", "basic"]:
        """How costs add: ε; ρ; ε and δ."""
        if self.accounting == "basic":
            return "basic"
        return "pure" if self.rho is None and self.delta is None else "zcdp"

    @property
    def limit(self) -> Spend:
        """The sums that must not be exceeded."""
        if self.kind == "zcdp":
            return Spend(rho=self.rho or self.held or ZERO)
        return Spend(epsilon=self.epsilon or ZERO, delta=self.delta or ZERO)

    def spend(self, cost: Cost) -> Spend:
        """What `cost` adds under this budget's way of adding; BudgetError B04 where it cannot admit such a price."""
        if self.kind == "zcdp":
            return Spend(rho=cost.zcdp)
        if self.kind == "pure" and cost.kind != "pure":
            message = f"the budget is {self}, which admits pure prices only; this price is {cost}."
            raise BudgetError(message, code="B04", hint="epsilon=0.1, without delta")
        if cost.kind == "zcdp":
            message = f"the budget is {self} and adds ε and δ; this price is {cost}."
            raise BudgetError(message, code="B04", hint="epsilon=0.1, delta=1e-8, or epsilon=0.1 alone")
        return Spend(epsilon=cost.epsilon or ZERO, delta=cost.delta or ZERO)

    def admits(self, spent: Spend, cost: Cost) -> bool:
        """Whether `cost` still fits after `spent`; exactly at the limit does.  BudgetError B04 as `spend`."""
        return (spent + self.spend(cost)).within(self.limit)

    def left(self, spent: Spend) -> Spend:
        """Limit minus spent, never below 0."""
        limit = self.limit
        epsilon, rho, delta = limit.epsilon - spent.epsilon, limit.rho - spent.rho, limit.delta - spent.delta
        return Spend(max(epsilon, ZERO), max(rho, ZERO), max(delta, ZERO))

    def describe_left(self, spent: Spend) -> str:
        """One phrase for a release's footer: "left 0.49 of 0.50", rounded down; ρ = … where the promise is ε."""
        left, limit = self.left(spent), self.limit
        if self.kind == "basic":
            return f"left {left.describe(up=False)} of {limit}"
        shown = aligned([left.epsilon + left.rho, limit.epsilon + limit.rho])
        unit = "ρ = " if self.held is not None else ""
        return f"left {unit}{shown[0]} of {shown[1]}"

    def to_dict(self) -> dict[str, str]:
        """Exact fractions as text, and the relation; an (ε, δ) promise kept in ρ says which."""
        words = {n: str(v) for n in ("epsilon", "delta", "rho", "held") if (v := getattr(self, n)) is not None}
        if self.accounting is not None:
            words["accounting"] = self.accounting
        return {**words, "neighbors": self.neighbors}

    @classmethod
    def from_dict(cls, words: Mapping[str, object]) -> Budget:
        """Inverse of `to_dict`; a recorded `held` is kept if it implies the promise, otherwise BudgetError B07."""
        given = numbers_of("a budget", words, ("neighbors", "accounting", "held"))
        neighbors = cast(Neighbors, words.get("neighbors", "replace-one"))
        budget = cls(**given, neighbors=neighbors, accounting=cast("Accounting | None", words.get("accounting")))
        if words.get("held") is None:
            return budget
        held = rational(words["held"], "held")
        if budget.held is None or not 0 < held <= budget.held:
            message = f"a budget records held = {held}, which does not imply it."
            raise BudgetError(message, code="B07", hint="leave held out")
        object.__setattr__(budget, "held", held)
        return budget

    def __str__(self) -> str:
        parts = (("ε", self.epsilon), ("δ", self.delta), ("ρ", self.rho))
        text = ", ".join(f"{n} = {plain(v)}" for n, v in parts if v is not None)
        return f"{text} (added one by one)" if self.kind == "basic" else text


def _word(name: str, word: object, known: tuple[str, ...]) -> None:
    if word not in known:
        guess = nearest(str(word), known) or known[0]
        raise BudgetError(f"{name} is {word!r}: not one of {', '.join(known)}.", code="B05", hint=f'{name}="{guess}"')
