"""The error of a budget that refuses a price: the cost, what is left, and a price that would fit.  No data here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import isqrt
from typing import Final

from tacit.errors import BudgetError
from tacit.privacy.approximate_part import SHARE
from tacit.privacy.bought import Bought
from tacit.privacy.budget import Budget, Spend
from tacit.privacy.cost import LEAST, Cost
from tacit.privacy.exact_numbers import aligned, decimals, fixed, magnitude, places_needed, plain, significant
from tacit.privacy.gaussian import epsilon_delta_to_mu_squared, mu_squared_to_epsilon, mu_squared_to_range

WORDS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

FIRST: Final = (
    "ask it first, in one request with others that have a δ of their own; "
    "a budget with reserved_delta= takes it at any time"
)
"""What helps where a price with a δ of its own comes late."""


def refusal(
    budget: Budget,
    spent: Spend,
    cost: Cost,
    where: str | None,
    releases: int,
    questions: int = 1,
    analyst: str | None = None,
    bought: Sequence[Bought] | None = None,
) -> BudgetError:
    """Return the error B02 for a `cost` that `budget` does not admit after `spent`; a function of the ledger only.

    where: the ledger's name, None in memory.  releases: number of charges so far.  questions: how many share the price.
    analyst: if given, `budget` is the limit of this analyst, `spent` and `releases` are the analyst's, and the error is
    B12.  bought: what the price would be spent on.

    >>> print(refusal(Budget(rho=0.5), Spend(rho=Fraction(37, 100)), Cost.of(rho=0.2), "people.ledger", 14, 5).message)
    this request costs ρ = 0.20; 0.13 of 0.50 is left in people.ledger (14 releases).
    """
    place = "" if where is None else f" in {where}"
    so_far = f"{releases} release" + ("" if releases == 1 else "s")
    whose = "" if analyst is None else f" of the limit of analyst {analyst!r}"
    charge = budget.spend(cost, bought)
    if budget.late(spent, charge):
        code = "B02" if analyst is None else "B12"
        message = f"this request has a δ of its own ({cost}), and {so_far} came before it{whose}{place}."
        return BudgetError(message, code=code, hint=FIRST)
    balance = _of_pair(budget, spent, cost, charge) if budget.is_pair else _balance(budget, spent, cost, charge)
    message = f"this request costs {balance}{whose} is left{place} ({so_far})."
    hint = _hint(budget, spent, cost, charge, questions)
    return BudgetError(message, code="B02" if analyst is None else "B12", hint=hint)


def _of_pair(budget: Budget, spent: Spend, cost: Cost, charge: Spend) -> str:
    """Return cost and balance of an (ε, δ) promise: "ε = 2; 1.3 of 2 at δ = 1e-06".

    As many digits are shown as are needed to see that the cost exceeds what is left.
    """
    assert budget.delta is not None
    reserved = budget.reserved_delta
    if reserved is not None and spent.delta + charge.delta > reserved:
        rest = plain(reserved - spent.delta, up=False)
        kept = f"{rest} of {plain(reserved)}, which is reserved for such questions,"
        return f"δ = {plain(charge.delta)} of its own; {kept}"
    same = budget.kind == "gdp" and cost.kind == "approximate" and cost.delta == budget.delta
    wanted = cost.epsilon if same and cost.epsilon is not None else budget.epsilon_of(charge)
    written = "" if same else f" ({cost}{', pure' if cost.kind == 'pure' else ''})"
    # a balance that reads as large as the cost would make the refusal look wrong
    for digits in (4, 6, 9, 12):
        left = budget.epsilon_left(spent, digits)
        said = "∞" if wanted is None else plain(wanted, digits)
        if wanted is None or significant(wanted, digits, up=True) > significant(left, digits, up=False):
            break
    rest = plain(left, digits, up=False)
    return f"ε = {said}{written}; {rest} of {plain(budget.epsilon or Fraction(0))} at δ = {plain(budget.delta)}"


def _balance(budget: Budget, spent: Spend, cost: Cost, charge: Spend) -> str:
    """Return cost and balance of another budget: "ρ = 0.20; 0.13 of 0.50".

    The cost is rounded up and what is left down, with enough decimals to see that the cost exceeds it.
    """
    left, limit = budget.left(spent), budget.limit
    if budget.kind == "basic":
        return f"{charge}; {left.describe(up=False)} of {limit}"
    symbol = "ρ" if budget.kind == "zcdp" else "ε"
    wanted, rest, whole = (sums.epsilon + sums.rho for sums in (charge, left, limit))
    # decimals needed to show a small difference between cost and balance
    gap = places_needed(wanted - rest, -magnitude(wanted - rest)) if wanted > rest else 0
    shown = aligned([rest, whole], max(2, gap, places_needed(wanted, max(4, 2 - magnitude(wanted)))))
    places = len(shown[0].partition(".")[2])
    written = "" if cost.kind == "zcdp" or symbol == "ε" else f" ({cost})"
    return f"{symbol} = {fixed(decimals(wanted, places, up=True), places)}{written}; {shown[0]} of {shown[1]}"


def _hint(budget: Budget, spent: Spend, cost: Cost, charge: Spend, questions: int) -> str:
    """Return advice: a price that fits and its size relative to `cost`, or that nothing is left."""
    price, part = _fitting(budget, spent, cost, charge)
    same = _with_delta(budget, spent, cost)
    beside = "" if same is None else f"{same} costs less here and fits; without a δ "
    if price is None and same is not None:
        return f"{same} costs less here and fits"
    if price is None and cost.is_part and budget.left(spent).mu_squared:
        return "no δ is left for questions with a δ of their own; others can be asked"
    if price is None:
        return "nothing is left for a release; what was released before can be asked again at no cost"
    percent = int(100 * part)
    each = f"{percent}%" if percent else "less than 1%"
    if questions == 1:
        return f"{beside}{price} fits, {each} of this price"
    everything = "both" if questions == 2 else f"all {WORDS[questions] if questions < len(WORDS) else questions}"
    return f"{beside}{price} keeps {everything}, each with {each} of its share"


def _with_delta(budget: Budget, spent: Spend, cost: Cost) -> str | None:
    """Return a pure price with the budget's δ, in the words of Python; None where that is no price, or does not fit.

    In a budget of μ² a pure ε is charged the worst of all that it may be, far more than the pair of the same ε.

    >>> _with_delta(Budget(epsilon=1, delta="1e-6"), Spend(), Cost.of(epsilon=0.5))
    'epsilon=0.5, delta=1e-06'
    """
    if cost.kind != "pure" or budget.kind != "gdp":
        return None
    pair = replace(cost, delta=budget.delta)
    assert pair.epsilon is not None
    assert pair.delta is not None
    return _pair(pair.epsilon, pair.delta) if budget.admits(spent, pair) else None


def _fitting(budget: Budget, spent: Spend, cost: Cost, charge: Spend) -> tuple[str | None, Fraction]:
    """Return a price of few digits that fits, in the words of Python, and its size relative to `cost`.

    It is of the kind of `cost`, or else of the budget's own kind; None where nothing worth asking is left.
    """
    left = budget.left(spent)
    if cost.kind == "pure":
        assert cost.epsilon is not None
        epsilon = _short(_pure_within(budget, left))
        return _option("epsilon", epsilon), epsilon / cost.epsilon
    if budget.kind == "basic":
        assert cost.epsilon is not None
        assert cost.delta is not None
        # ε and δ are scaled alike, by whichever has less room
        part = min(left.epsilon / cost.epsilon, left.delta / cost.delta)
        return _pair(_short(cost.epsilon * part), _short(cost.delta * part)), part
    if cost.is_part:
        return _fitting_part(budget, spent, cost)
    if not budget.is_pair:
        rho = _short(left.rho)
        return _option("rho", rho), left.rho / charge.rho
    # in μ², of which a ρ is half; one of the two is 0
    amount, asked = left.mu_squared + 2 * left.rho, charge.mu_squared + 2 * charge.rho
    delta = cost.delta if cost.kind == "approximate" else budget.delta
    assert delta is not None
    delta = _short(delta)  # as it is printed: a larger δ would cost more
    return _pair(_largest_epsilon(amount, delta), delta), amount / asked


def _fitting_part(budget: Budget, spent: Spend, cost: Cost) -> tuple[str | None, Fraction]:
    """Return `_fitting` of an approximate part: the pair of largest ε whose part fits."""
    assert budget.delta is not None
    assert cost.mu_squared is not None
    assert cost.delta is not None
    # the δ of the pair that was asked, or what is left of the budget's: a part of it is used up
    reserved = budget.reserved_delta
    room = budget.delta - spent.delta if reserved is None else (reserved - spent.delta) / SHARE
    delta = _short(min(cost.delta / SHARE, room))
    if delta < LEAST["delta"]:
        return None, Fraction(0)
    left = min(budget.left(replace(spent, delta=spent.delta + delta * SHARE)).mu_squared, cost.mu_squared)
    epsilon = _largest_epsilon(left, delta * (1 - SHARE))
    return _pair(epsilon, delta), min(left / cost.mu_squared, delta * SHARE / cost.delta)


def _pure_within(budget: Budget, left: Spend) -> Fraction:
    """Return the largest ε of a pure price that fits."""
    if budget.kind == "gdp":
        # a pure ε costs as much as a range of 2 ε (`privacy.gaussian`, Pure ε and Bounded range)
        return mu_squared_to_range(left.mu_squared) / 2
    # from ρ = ε²/2
    return _root_down(2 * left.rho) if budget.kind == "zcdp" else left.epsilon


def _largest_epsilon(mu_squared: Fraction, delta: Fraction) -> Fraction:
    """Return the largest ε of few digits for which (ε, `delta`) costs at most this μ²; 0 where there is none."""
    if mu_squared == 0:
        return Fraction(0)
    epsilon = _short(significant(mu_squared_to_epsilon(mu_squared, delta), 9, up=True))
    # roundings of the way there may leave it a little too large: step down in its fourth digit until it fits
    while epsilon >= LEAST["epsilon"] and epsilon_delta_to_mu_squared(epsilon, delta) > mu_squared:
        epsilon -= Fraction(10) ** (magnitude(epsilon) - 3)
    return max(epsilon, Fraction(0))


def _pair(epsilon: Fraction, delta: Fraction) -> str | None:
    first, second = _option("epsilon", epsilon), _option("delta", delta)
    return f"{first}, {second}" if first and second else None


def _option(name: str, value: Fraction) -> str | None:
    return f"{name}={plain(value)}" if value >= LEAST[name] else None


def _short(x: Fraction) -> Fraction:
    """Round down to four significant digits; a number of at most six digits stays exact."""
    short = significant(x, 6, up=False)
    return short if short == x else significant(x, 4, up=False)


def _root_down(square: Fraction) -> Fraction:
    shift = 2 * square.denominator.bit_length() + 64
    return Fraction(isqrt((square.numerator << 2 * shift) // square.denominator), 1 << shift)
