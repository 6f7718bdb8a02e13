"""What is said to somebody who states a price or a budget in μ: the pair that is as much.  No data here."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from typing import Any, Final, TypeVar, cast

from tacit.base.arguments import named_arguments
from tacit.errors import BudgetError, TacitError
from tacit.privacy import gaussian
from tacit.privacy.exact_numbers import magnitude, plain, rational, significant

C = TypeVar("C")
F = TypeVar("F", bound=Callable[..., Any])

DELTA: Final = Fraction(1, 10**6)
"""The δ of the pair that is suggested."""
DIGITS: Final = 6
"""Digits of its ε."""
MOST: Final = Fraction(40)
"""Larger μ have an ε near 1,000, which is no price."""


def pair_within(mu: object) -> Fraction | None:
    """Return the ε of a pair whose μ, at DELTA, is at most `mu`, and nearly that; None where there is no such pair.

    >>> float(pair_within("0.2367")), pair_within("many"), pair_within(0)
    (0.99998, None, None)
    """
    try:
        exact = rational(mu, "mu")
        if not 0 < exact <= MOST:
            return None
        square = exact**2
        epsilon = significant(gaussian.mu_squared_to_epsilon(square, DELTA), DIGITS, up=False)
        # both ways are rounded against whoever spends: together they may be above by the last digit
        while epsilon > 0 and gaussian.epsilon_delta_to_mu_squared(epsilon, DELTA) > square:
            epsilon -= Fraction(10) ** (magnitude(epsilon) - DIGITS)
    except TacitError:  # no number
        return None
    return epsilon if epsilon > 0 else None


def in_a_pair(mu: object) -> str:
    """Return in words what a price or a budget in μ is as a pair.

    >>> in_a_pair(1)
    'epsilon=4.88655, delta=1e-06 is as much: a pair is kept as its μ'
    """
    epsilon = pair_within(mu)
    if epsilon is None:
        return "epsilon=1, delta=1e-6: a pair is kept as its μ"
    return f"epsilon={plain(epsilon, DIGITS, up=False)}, delta={plain(DELTA)} is as much: a pair is kept as its μ"


def stated_without_mu(error: type[TacitError], code: str, name: str) -> Callable[[F], F]:
    """Return a decorator: `mu=` raises `error` with the pair that is as much.  name: the call, as a user writes it."""

    def decorate(function: F) -> F:
        @wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            if "mu" in named:
                raise error(f"{name} has no argument 'mu'.", code=code, hint=in_a_pair(named["mu"]))
            return function(*given, **named)

        return cast(F, call)

    return decorate


def made_without_mu(cls: type[C]) -> type[C]:
    """Decorate a class of prices or budgets: BudgetError B18 for `mu=`, as for any argument that it does not have."""
    made: Any = cls
    named = named_arguments(BudgetError, "B18", cls.__name__)
    made.__init__ = stated_without_mu(BudgetError, "B18", cls.__name__)(named(made.__init__))
    return cls
