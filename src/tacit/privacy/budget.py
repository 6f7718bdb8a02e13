"""Budget: the privacy promise of a ledger, and the filter that enforces it.  No data here.

A budget adds costs in one way (design, law 10), valid also when prices are chosen adaptively, after earlier answers:

- ``Budget(epsilon=)`` adds ε, and admits pure prices only.  [Rogers, Roth, Ullman & Vadhan 2016: a basic filter]
- ``Budget(rho=)`` adds ρ, a pure price as ε²/2.  [Feldman & Zrnic 2021, Theorem 4.4: Rényi composition has such a
  filter, at every order at once, hence zCDP with ρ summed]
- ``Budget(epsilon=, delta=)`` adds the μ² to which the pair is converted, and the δ of approximate parts.
  [`privacy.gaussian`, Composition, Approximate parts]
- ``Budget(epsilon=, delta=, reserved_delta=)`` as well: the δ of parts up to what is reserved, and the μ² to which
  (ε, δ - reserved) is converted.  [the same]
- ``Budget(epsilon=, delta=, accounting="zcdp")`` adds ρ, up to the largest ρ that implies the pair.
- ``Budget(epsilon=, delta=, accounting="basic")`` adds ε and adds δ.  [as the first]

A price stated in another measure than the budget adds is charged what its parts cost in that measure
(`privacy.bought`), or, where the parts are not known, the most that any parts could cost.
A request is admitted if the sum including it is at most the limit, in exact rationals; equality is admitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Literal, TypeAlias, cast, get_args

from tacit.errors import BudgetError, nearest
from tacit.privacy import conversions, gaussian
from tacit.privacy.bought import Bought, mu_squared_of, rho_of
from tacit.privacy.cost import Cost, asked, checked, numbers_of, way_of
from tacit.privacy.exact_numbers import Number, aligned, call, chargeable, plain, rational, significant
from tacit.privacy.prices_in_mu import made_without_mu
from tacit.privacy.spend import ZERO, Spend

Neighbors: TypeAlias = Literal["replace-one", "add-remove"]
Accounting: TypeAlias = Literal["gdp", "zcdp", "basic"]


@made_without_mu
@dataclass(frozen=True, init=False)
class Budget:
    """The promise of a ledger: the sum of all its costs stays within this limit; raising it is a recorded act.

    `neighbors` is the neighbouring relation: "replace-one" (default; the number of rows is public) or "add-remove" (it
    is private).  `reserved_delta` is a part of `delta` that is kept for questions with a δ of their own (`Bootstrap`,
    `UnlistedLevels`), which are otherwise asked before all others.  Budgets are equal when their promises are.  Raises
    BudgetError B01 and B03 as `Cost.of` does, B01 for a reserved δ that is no part of δ, B05 for an unknown word or a
    reserve of another budget, B18 for arguments that it does not have.

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
    reserved_delta: Fraction | None
    """Of δ, what is kept for questions that have a δ of their own, such as bootstraps; None for nothing."""
    held: Fraction | None = field(compare=False, repr=False)
    """The μ² or ρ that an (ε, δ) promise is kept in, recorded with it so that later versions keep the same number."""

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        neighbors: Neighbors = "replace-one",
        accounting: Accounting | None = None,
        reserved_delta: Number | None = None,
    ) -> None:
        self._promise({"epsilon": epsilon, "delta": delta, "rho": rho}, neighbors, accounting, reserved_delta)
        if delta is not None:
            asked(delta, "delta")

    def _promise(
        self,
        numbers: Mapping[str, Number | None],
        neighbors: Neighbors,
        accounting: Accounting | None,
        reserved: Number | None,
    ) -> None:
        """Set the fields of a promise, one that is stored among them; errors as of Budget."""
        way = way_of("a budget", numbers["epsilon"], numbers["delta"], numbers["rho"])
        _word("neighbors", neighbors, get_args(Neighbors))
        if accounting is not None:
            _word("accounting", accounting, get_args(Accounting))
            if way != "approximate":
                message = f"accounting={accounting!r} is a way to add prices under a pair (ε, δ), which this is not."
                raise BudgetError(message, code="B05", hint='Budget(epsilon=1, delta=1e-6, accounting="zcdp")')
        for name, value in numbers.items():
            # the class is frozen: a promise cannot be changed after it is made
            object.__setattr__(self, name, None if value is None else checked(value, name))
        object.__setattr__(self, "neighbors", neighbors)
        # "gdp" is the default for a pair; storing None gives equal promises one spelling
        object.__setattr__(self, "accounting", None if accounting == "gdp" else accounting)
        object.__setattr__(self, "reserved_delta", None if reserved is None else self._reserved(reserved))
        object.__setattr__(self, "held", self._largest_implying())

    def _reserved(self, reserved: Number) -> Fraction:
        """Return the reserved δ; BudgetError B05 where the budget does not add μ², B01 unless it is below δ."""
        if self.kind != "gdp":
            message = "reserved_delta is of the δ of a pair (ε, δ) kept in μ², which this budget is not."
            raise BudgetError(message, code="B05", hint="Budget(epsilon=1, delta=1e-6, reserved_delta=1e-7)")
        exact, delta = rational(reserved, "reserved_delta"), self.delta or ZERO
        if not 0 < exact < delta:
            message = f"reserved_delta is {reserved}: not above 0 and below delta = {plain(delta)}, of which it is."
            raise BudgetError(message, code="B01", hint=f"reserved_delta={plain(delta / 10)}")
        return exact

    def _largest_implying(self) -> Fraction | None:
        """Return the largest μ² or ρ that implies an (ε, δ) promise; None for another budget."""
        if self.kind == "gdp":
            return gaussian.epsilon_delta_to_mu_squared(self.epsilon or ZERO, self._delta_of_noise(ZERO))
        if self.kind == "zcdp" and self.rho is None:
            return conversions.epsilon_delta_to_zcdp(self.epsilon or ZERO, self.delta or ZERO)
        return None

    def like(self, *, epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None) -> Budget:
        """Return a budget of other numbers with the same relation and, for an (ε, δ) pair, the same accounting.

        The same share of δ is reserved.  Raises BudgetError B01, B03, B05 as Budget does.

        >>> print(Budget(epsilon=1, delta="1e-6", reserved_delta="1e-7").like(epsilon=2, delta="2e-6"))
        ε = 2, δ = 2e-06 (of it 2e-07 reserved)
        """
        if epsilon is None or delta is None or self.delta is None:
            return Budget(epsilon=epsilon, delta=delta, rho=rho, neighbors=self.neighbors)
        exact = rational(delta, "delta")
        if exact != self.delta:
            asked(delta, "delta")  # the δ of a stored promise may be larger than one that could be made now
        # no longer fraction than a ledger can record
        reserved = None if self.reserved_delta is None else chargeable(self.reserved_delta * exact / self.delta)
        numbers = {"epsilon": epsilon, "delta": exact, "rho": rho}
        return _stored(numbers, self.neighbors, self.accounting, reserved)

    def under(self, other: Budget) -> Budget:
        """Return this promise kept in ρ if `other` keeps a pair in ρ and this one names no accounting; else itself.

        A ledger keeps the accounting it was made with, and ledgers from before pairs were kept in μ² keep ρ.

        >>> old = Budget(epsilon=1, delta="1e-6", accounting="zcdp")
        >>> Budget(epsilon=2, delta="1e-6").under(old).accounting
        'zcdp'
        """
        if self.kind != "gdp" or other.accounting != "zcdp" or self.reserved_delta is not None:
            return self
        return self.in_rho()

    def in_rho(self) -> Budget:
        """Return the same pair kept in ρ, whatever its accounting; a budget that is not a pair is returned as it is.

        >>> Budget(epsilon=1, delta="1e-6").in_rho().kind
        'zcdp'
        """
        if self.delta is None:
            return self
        return _stored({"epsilon": self.epsilon, "delta": self.delta, "rho": None}, self.neighbors, "zcdp")

    @property
    def kind(self) -> Literal["pure", "zcdp", "gdp", "basic"]:
        """What is added: ε ("pure"), ρ ("zcdp"), μ² ("gdp"), or ε and δ ("basic")."""
        if self.rho is not None:
            return "zcdp"
        if self.delta is None:
            return "pure"
        return self.accounting or "gdp"

    @property
    def is_pair(self) -> bool:
        """Whether it is an (ε, δ) promise that is kept in μ² or ρ and displayed as ε at that δ."""
        return self.held is not None

    @property
    def limit(self) -> Spend:
        """The sums that must not be exceeded, as long as no approximate part was bought (see `holds`)."""
        if self.kind == "gdp":
            return Spend(mu_squared=self.held or ZERO, delta=self.reserved_delta or ZERO)
        if self.kind == "zcdp":
            return Spend(rho=self.rho or self.held or ZERO)
        return Spend(epsilon=self.epsilon or ZERO, delta=self.delta or ZERO)

    def spend(self, cost: Cost, bought: Sequence[Bought] | None = None) -> Spend:
        """Return what `cost` adds to the sums of this budget; BudgetError B04 for a kind of price it cannot add.

        bought: what the price is spent on, in parts that add up to it.  Where that is not known (None), the result is
        the most that any parts could cost.  A long fraction is rounded up to 40 digits: `exact_numbers.chargeable`.
        """
        found, own = self.exact_spend(cost, bought), self.limit
        names = (f.name for f in fields(found))
        # parts of a budget's own number add up to it exactly
        return Spend(**{name: chargeable(getattr(found, name), getattr(own, name).denominator) for name in names})

    def exact_spend(self, cost: Cost, bought: Sequence[Bought] | None = None) -> Spend:
        """Return what `cost` costs, however long the fraction, which `spend` rounds up.  BudgetError as there."""
        if not isinstance(cost, Cost):  # pyright: ignore[reportUnnecessaryIsInstance]
            # a published claim of a cost, above all
            message = f"the budget is {self}; {cost} is no certified price."
            raise BudgetError(message, code="B04", hint="epsilon=1, delta=1e-6")
        if cost.is_part and self.kind != "gdp":
            message = f"the budget is {self}, which adds no approximate parts; this price is {cost}."
            raise BudgetError(message, code="B04", hint="Budget(epsilon=1, delta=1e-6)")
        if self.kind == "gdp":
            # of all kinds only ρ converts to μ² differently for noise (2 ρ) and selections (up to π ρ)
            known = bought is not None and cost.kind == "zcdp"
            own = (cost.delta or ZERO) if cost.is_part else ZERO
            return Spend(mu_squared=mu_squared_of(bought or ()) if known else cost.gdp, delta=own)
        if self.kind == "zcdp":
            # conversely μ² to ρ: noise costs μ²/2, a selection less
            known = bought is not None and cost.kind in ("approximate", "gdp")
            return Spend(rho=rho_of(bought or ()) if known else cost.zcdp)
        # a Gaussian mechanism is ε-DP for no ε, so that no amount could be charged
        if self.kind == "pure" and cost.kind != "pure":
            message = f"the budget is {self}, which admits pure prices only; this price is {cost}."
            raise BudgetError(message, code="B04", hint="epsilon=0.1, without delta")
        # ρ or μ² would need a δ to become an ε, and no part of the budget's δ is set aside for that
        if cost.kind in ("zcdp", "gdp"):
            message = f"the budget is {self} and adds ε and δ; this price is {cost}."
            raise BudgetError(message, code="B04", hint="epsilon=0.1, delta=1e-8, or epsilon=0.1 alone")
        return Spend(epsilon=cost.epsilon or ZERO, delta=cost.delta or ZERO)

    def holds(self, spent: Spend) -> bool:
        """Return whether sums are within the promise; exactly at the limit they are.

        Where no δ is reserved for them, approximate parts use up δ, so that less μ² is admitted than `limit` says: the
        μ² that implies (ε, δ - used).

        >>> pair = Budget(epsilon=1, delta="1e-6")
        >>> half = Spend(delta=Fraction(1, 2 * 10**6))  # leaves for noise the μ² of (1, 5e-7)
        >>> pair.holds(half), pair.holds(half + pair.limit)
        (True, False)
        """
        return spent.within(self._limit_with(spent.delta))

    def _limit_with(self, parts: Fraction) -> Spend:
        """Return the limit once approximate parts have used `parts` of δ."""
        if self.kind != "gdp" or parts == 0 or self.reserved_delta is not None:
            return self.limit
        assert self.epsilon is not None
        assert self.delta is not None
        if parts >= self.delta:
            # no δ is left for noise: parts alone are still within the promise at δ exactly, and beyond it nothing is
            return Spend(delta=parts if parts == self.delta else ZERO)
        # never more than recorded, whatever a later version would compute
        most = min(gaussian.epsilon_delta_to_mu_squared(self.epsilon, self.delta - parts), self.held or ZERO)
        return Spend(delta=parts, mu_squared=most)

    def admits(self, spent: Spend, cost: Cost, bought: Sequence[Bought] | None = None) -> bool:
        """Return whether `cost` still fits after `spent`; exactly at the limit it does.  BudgetError B04 as `spend`.

        In μ², a price with a δ of its own fits before all others alone: see `late`.
        """
        return self.fits(spent, self.spend(cost, bought))

    def fits(self, spent: Spend, charge: Spend) -> bool:
        """Return whether what a price adds (`spend`) fits after `spent`: see `admits`.  BudgetError B01 as `holds`."""
        return not self.late(spent, charge) and self.holds(spent + charge)

    def late(self, spent: Spend, charge: Spend) -> bool:
        """Return whether a charge has a δ of its own, in μ², after other charges.

        The sums of μ² and of δ must be bounded by numbers that no answer had a part in (`privacy.gaussian`, Approximate
        parts).  Whoever could choose, answers in hand, whether what is left goes to δ or to μ², might have nearly twice
        the δ of the promise.  So what δ goes to parts is settled before anything was answered: by the budget that
        reserves it, or else by the first charge.

        >>> pair, part = Budget(epsilon=1, delta="1e-6"), Spend(mu_squared=Fraction(1, 100), delta=Fraction(1, 10**7))
        >>> pair.late(Spend(), part), pair.late(Spend(mu_squared=Fraction(1, 100)), part)
        (False, True)
        """
        return self.kind == "gdp" and self.reserved_delta is None and charge.delta > 0 and spent != Spend()

    def _delta_of_noise(self, parts: Fraction) -> Fraction:
        """Return the δ at which sums of μ² must imply ε, where approximate parts have used `parts`; at least 0."""
        taken = parts if self.reserved_delta is None else self.reserved_delta
        return max((self.delta or ZERO) - taken, ZERO)

    def left(self, spent: Spend) -> Spend:
        """Return the limit minus `spent`, each sum at least 0."""
        # a δ that was not reserved has already lowered the limit on μ²; only "basic", or what is reserved, is shown
        return replace(self._limit_with(spent.delta), delta=self.limit.delta).less(spent)

    def describe_left(self, spent: Spend) -> str:
        """Return what is left as a phrase, rounded down: "left 0.49 of 0.50"; "left ε = 1.3 of 2 at δ = 1e-06"."""
        left, limit = self.left(spent), self.limit
        if self.is_pair:
            rest, whole = plain(self.epsilon_left(spent), up=False), plain(self.epsilon or ZERO)
            own = "" if self.reserved_delta is None else f", and a reserved δ of {plain(left.delta, up=False)}"
            return f"left ε = {rest} of {whole} at δ = {plain(self.delta or ZERO)}{own}"
        if self.kind == "basic":
            return f"left {left.describe(up=False)} of {limit}"
        # the sum has one term that is not 0: a pure budget adds ε, one in ρ adds ρ
        shown = aligned([left.epsilon + left.rho, limit.epsilon + limit.rho])
        return f"left {shown[0]} of {shown[1]}"

    def epsilon_left(self, spent: Spend, digits: int = 9) -> Fraction:
        """Return the ε, at this promise's δ, that one further release could have: for display, to `digits` digits.

        For an (ε, δ) promise only.  Because μ² or ρ adds, not ε, it is not ε minus what was spent.
        """
        left = self.left(spent)
        rest = self._delta_of_noise(spent.delta)
        if rest <= 0 or left.mu_squared + left.rho == 0:
            return ZERO
        found = self._epsilon(left, rest)
        near = significant(found, min(digits, 9), up=True)  # undoes the conversions' 1e-12: 2 must not read 1.999
        return min(near if digits <= 9 else found, self.epsilon or ZERO)

    def epsilon_of(self, spent: Spend) -> Fraction | None:
        """Return the ε that sums imply at this promise's δ, rounded up; None where their own δ uses all of it."""
        rest = self._delta_of_noise(spent.delta)
        return None if rest <= 0 else self._epsilon(spent, rest)

    def describe_spent(self, spent: Spend) -> str:
        """Return sums as text in the terms of this budget, rounded up: "ε = 0.84 at δ = 1e-06 (μ = 0.2)".

        >>> Budget(epsilon=2, delta="1e-6").describe_spent(Spend(mu_squared=Fraction(1, 25)))
        'ε = 0.8342 at δ = 1e-06 (μ = 0.2)'
        """
        if not self.is_pair or spent == Spend():
            return spent.describe()
        found = self.epsilon_of(spent)
        said = "∞" if found is None else plain(found)
        return f"ε = {said} at δ = {plain(self.delta or ZERO)} ({spent.describe()})"

    def _epsilon(self, sums: Spend, delta: Fraction) -> Fraction:
        """Return the ε at `delta` that sums of μ² or of ρ imply, rounded up."""
        if self.kind == "gdp":
            # to 40 digits: a sum of many rationals may be longer than `rational` accepts; upward, as it is a loss
            return gaussian.mu_squared_to_epsilon(significant(sums.mu_squared, 40, up=True), delta)
        return conversions.zcdp_to_epsilon(significant(sums.rho, 40, up=True), delta)

    def to_dict(self) -> dict[str, str]:
        """Return exact fractions as text, and the relation; a pair has its μ² ("mu_squared") or ρ ("held") as well."""
        words = {n: str(v) for n in ("epsilon", "delta", "rho") if (v := getattr(self, n)) is not None}
        if self.held is not None:
            words["mu_squared" if self.kind == "gdp" else "held"] = str(self.held)
        if self.accounting == "basic":
            words["accounting"] = self.accounting
        if self.reserved_delta is not None:
            words["reserved_delta"] = str(self.reserved_delta)
        return {**words, "neighbors": self.neighbors}

    @classmethod
    def from_dict(cls, words: Mapping[str, object]) -> Budget:
        """Return the budget that `to_dict` wrote; BudgetError B07 where a recorded μ² or ρ does not imply the pair."""
        kept = {name: words[name] for name in ("held", "mu_squared") if words.get(name) is not None}
        rest = {name: value for name, value in words.items() if name not in ("held", "mu_squared")}
        given = numbers_of("a budget", rest, ("neighbors", "accounting", "reserved_delta"))
        reserved = words.get("reserved_delta")
        neighbors = cast(Neighbors, words.get("neighbors", "replace-one"))
        # stored pairs with "held" are from ledgers that keep ρ; those with "mu_squared" have the default accounting
        accounting = cast("Accounting | None", words.get("accounting") or ("zcdp" if "held" in kept else None))
        numbers = {key: given.get(key) for key in ("epsilon", "delta", "rho")}
        reserved = None if reserved is None else rational(reserved, "reserved_delta")
        budget = _stored(numbers, neighbors, accounting, reserved)
        name = "mu_squared" if budget.kind == "gdp" else "held"
        if not kept:
            return budget
        held = rational(kept.get(name), name) if name in kept and len(kept) == 1 else ZERO
        # a smaller number than ours still implies the pair; a larger one may not, and would admit too much
        if budget.held is None or not 0 < held <= budget.held:
            said = " and ".join(f"{n} = {v}" for n, v in kept.items())
            message = f"a budget records {said}, which does not imply it."
            raise BudgetError(message, code="B07", hint=f"leave {' and '.join(kept)} out")
        object.__setattr__(budget, "held", held)
        return budget

    def __repr__(self) -> str:
        return call("Budget", self, {"neighbors": "replace-one"})

    def __str__(self) -> str:
        parts = (("ε", self.epsilon), ("δ", self.delta), ("ρ", self.rho))
        text = ", ".join(f"{n} = {plain(v)}" for n, v in parts if v is not None)
        own = "" if self.reserved_delta is None else f" (of it {plain(self.reserved_delta)} reserved)"
        return text + own + {"basic": " (added one by one)", "zcdp": " (added as ρ)"}.get(self.accounting or "", "")


def _stored(
    numbers: Mapping[str, Number | None],
    neighbors: Neighbors,
    accounting: Accounting | None,
    reserved: Fraction | None = None,
) -> Budget:
    """Return a promise made earlier, whose δ may be larger than one that could be made now."""
    made = object.__new__(Budget)
    made._promise(numbers, neighbors, accounting, reserved)  # pyright: ignore[reportPrivateUsage]
    return made


def _word(name: str, word: object, known: tuple[str, ...]) -> None:
    """Raise BudgetError B05 for a word that is not known."""
    if word not in known:
        guess = nearest(str(word), known) or known[0]
        raise BudgetError(f"{name} is {word!r}: not one of {', '.join(known)}.", code="B05", hint=f'{name}="{guess}"')
