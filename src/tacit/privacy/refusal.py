"""The one answer of a budget that refuses: what was asked, what is left, and a price that fits.  No data here."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Final

from tacit.errors import BudgetError
from tacit.privacy.budget import Budget, Spend
from tacit.privacy.cost import LEAST, Cost
from tacit.privacy.numbers import aligned, decimals, fixed, magnitude, places_needed, plain, significant

WORDS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def refusal(
    budget: Budget,
    spent: Spend,
    cost: Cost,
    where: str | None,
    releases: int,
    questions: int = 1,
    analyst: str | None = None,
) -> BudgetError:
    """The error B02 for a `cost` that `budget` does not admit after `spent`; a function of the ledger only.

    where: the ledger's name, None in memory.  releases: charges recorded so far.  questions: asked at this price.
    analyst: whose limit `budget` is, of whom `spent` and `releases` speak; then the error is B12.

    >>> print(refusal(Budget(rho=0.5), Spend(rho=Fraction(37, 100)), Cost.of(rho=0.2), "people.ledger", 14, 5).message)
    this request costs ρ = 0.20; 0.13 of 0.50 is left in people.ledger (14 releases).
    """
    place = "" if where is None else f" in {where}"
    so_far = f"{releases} release" + ("" if releases == 1 else "s")
    whose = "" if analyst is None else f" of the limit of analyst {analyst!r}"
    message = f"this request costs {_balance(budget, spent, cost)}{whose} is left{place} ({so_far})."
    return BudgetError(message, code="B02" if analyst is None else "B12", hint=_hint(budget, spent, cost, questions))


def _balance(budget: Budget, spent: Spend, cost: Cost) -> str:
    """In figures, ρ = 0.20; 0.13 of 0.50: the cost rounded up, the rest down, places enough to see that it exceeds."""
    charge, left, limit = budget.spend(cost), budget.left(spent), budget.limit
    if budget.kind == "basic":
        return f"{charge}; {left.describe(up=False)} of {limit}"
    symbol = "ρ" if budget.kind == "zcdp" else "ε"
    wanted, rest, whole = (sums.epsilon + sums.rho for sums in (charge, left, limit))
    # a difference too small for the usual places is shown all the same
    gap = places_needed(wanted - rest, -magnitude(wanted - rest)) if wanted > rest else 0
    shown = aligned([rest, whole], max(2, gap, places_needed(wanted, max(4, 2 - magnitude(wanted)))))
    places = len(shown[0].partition(".")[2])
    written = "" if cost.kind == "zcdp" or symbol == "ε" else f" ({cost})"
    return f"{symbol} = {fixed(decimals(wanted, places, up=True), places)}{written}; {shown[0]} of {shown[1]}"


def _hint(budget: Budget, spent: Spend, cost: Cost, questions: int) -> str:
    price, part = _fitting(budget, budget.left(spent), cost)
    if price is None:
        return "nothing is left for a release; what was released before can be asked again at no cost"
    percent = int(100 * part)
    each = f"{percent}%" if percent else "less than 1%"
    if questions == 1:
        return f"{price} fits, {each} of this price"
    everything = "both" if questions == 2 else f"all {WORDS[questions] if questions < len(WORDS) else questions}"
    return f"{price} keeps {everything}, each with {each} of its share"


def _fitting(budget: Budget, left: Spend, cost: Cost) -> tuple[str | None, Fraction]:
    """The largest short price of the same kind that fits, as an option, and which part of `cost` it is."""
    if budget.kind == "zcdp" and cost.kind != "pure":
        rho = _short(left.rho)
        return _option("rho", rho), rho / cost.zcdp
    assert cost.epsilon is not None
    if cost.delta is not None:
        part = min(left.epsilon / cost.epsilon, left.delta / cost.delta)
        epsilon, delta = _short(cost.epsilon * part), _short(cost.delta * part)
        first, second = _option("epsilon", epsilon), _option("delta", delta)
        return (f"{first} {second}" if first and second else None), part
    epsilon = _short(left.epsilon) if budget.kind != "zcdp" else _short(_root_down(2 * left.rho))
    return _option("epsilon", epsilon), epsilon / cost.epsilon


def _option(name: str, value: Fraction) -> str | None:
    return f"--{name} {plain(value)}" if value >= LEAST[name] else None


def _short(x: Fraction) -> Fraction:
    """Exact where six significant digits do, otherwise four of them, rounded down."""
    short = significant(x, 6, up=False)
    return short if short == x else significant(x, 4, up=False)


def _root_down(square: Fraction) -> Fraction:
    shift = 2 * square.denominator.bit_length() + 64
    return Fraction(isqrt((square.numerator << 2 * shift) // square.denominator), 1 << shift)
