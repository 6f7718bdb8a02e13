"""The smallest pair (epsilon, delta) at which a question is answered precisely enough, where no other price buys it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from tacit.base.arguments import described, plain
from tacit.errors import QueryError, TacitError
from tacit.privacy import Budget, Cost
from tacit.privacy.cost import checked
from tacit.privacy.exact_numbers import Number
from tacit.release.query import Query
from tacit.release.query_checks import of_numbers
from tacit.schema import Schema

EXPONENTS: Final = range(-4, 2)
"""Powers of ten of the values of epsilon that are tried, from 0.001 to 99, each with two digits."""
EPSILONS: Final = tuple(Fraction(Decimal(digits).scaleb(e)) for e in EXPONENTS for digits in range(10, 100))


def bought_by_pairs(asks: Mapping[str, Query[Any]], schema: Schema) -> bool:
    """Whether a question is bought with a pair alone, of which a search for a price takes the delta as given."""
    return any(of_numbers(one, schema).own_delta for one in asks.values())


def delta_of(delta: Number | None, budget: Budget | None) -> Fraction:
    """Return the delta of the price: the one given, or the budget's; QueryError Q40 where there is none."""
    found = delta if delta is not None else None if budget is None else budget.delta
    if found is None:
        text = "the price of this question is a pair: a width= finds its epsilon, at a delta= that is given."
        raise QueryError(text, code="Q40", hint="delta=1e-6")
    return checked(found, "delta")


def checked_width(given: object) -> float:
    """Return a width that is a number above 0; QueryError Q40 for anything else."""
    number = plain(given)
    if isinstance(number, bool) or not isinstance(number, int | float) or not number > 0:
        text = f"width is {described(given)}: not a number above 0."
        raise QueryError(text, code="Q40", hint="width=2_000, in the column's units")
    return float(number)


def pair_for(width: float, widest: Callable[[Cost], tuple[float, float]], delta: Fraction) -> Cost:
    """Return the pair of the smallest epsilon, of two digits, at which no interval is wider than `width`.

    QueryError Q40 where there is none.  widest: a price -> the widest expected interval, and the widest without noise.
    """
    width = checked_width(width)
    # widths fall as the price grows: the first that reaches it lies in (low, high]
    low, high = -1, len(EPSILONS) - 1
    reached, without = widest(Cost(epsilon=EPSILONS[high], delta=delta))
    if reached > width:
        message = f"no price makes the interval {width:g} wide: sampling alone gives {without:.4g}."
        raise QueryError(message, code="Q40", hint=f"width={1.1 * without:.3g}, more replicates, or more rows")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _reaches(widest, EPSILONS[middle], delta, width) else (middle, high)
    return Cost(epsilon=EPSILONS[high], delta=delta)


def _reaches(widest: Callable[[Cost], tuple[float, float]], epsilon: Fraction, delta: Fraction, width: float) -> bool:
    try:
        return widest(Cost(epsilon=epsilon, delta=delta))[0] <= width
    except TacitError:  # a price so low that no noise is wide enough
        return False
