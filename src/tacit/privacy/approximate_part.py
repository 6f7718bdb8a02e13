"""What a price (ε, δ) buys of a mechanism that has a δ of its own: μ' and δ'.  No data here.

Proven in `privacy.gaussian`, Approximate parts.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from tacit.errors import BudgetError
from tacit.privacy.cost import Cost
from tacit.privacy.gaussian import epsilon_delta_to_mu_squared

SHARE: Final = Fraction(1, 10)
"""Share of the δ of a price that becomes the δ' of the part; what is left implies μ'."""


def approximate_part(price: Cost, share: Fraction = SHARE) -> Cost:
    """Return the approximate part that a price (ε, δ) buys: δ' = `share` δ, and the μ' that implies (ε, δ - δ').

    Together they are (ε, δ)-DP (`privacy.gaussian`, Approximate parts).  Raises BudgetError B04 for another price.
    """
    if price.is_part:
        return price
    if price.kind != "approximate" or price.epsilon is None or price.delta is None:
        message = f"a mechanism with a δ of its own cannot be bought with {price}: it is neither ε-DP nor ρ-zCDP."
        raise BudgetError(message, code="B04", hint="epsilon=1, delta=1e-6")
    rest = epsilon_delta_to_mu_squared(price.epsilon, price.delta * (1 - share))
    return Cost(mu_squared=rest, delta=price.delta * share)
