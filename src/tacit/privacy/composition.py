"""Composition: what several prices cost together.  No data here.

`compose` adds as a budget of that kind does, and holds for adaptively chosen prices.  `pld_total` is often smaller, but
only for a list of prices that was declared before the first was spent: it is reported, never used to admit a request.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, cast

from tacit.errors import BudgetError
from tacit.privacy.budget import Budget, Spend
from tacit.privacy.cost import Cost, checked
from tacit.privacy.numbers import significant

if TYPE_CHECKING:
    from tacit.privacy.numbers import Number

Way = Literal["pure", "zcdp", "basic"]


def compose(costs: Sequence[Cost], way: Way = "zcdp") -> Spend:
    """Sum of prices: ε ("pure"), ρ ("zcdp"), or ε and δ ("basic"); exact.

    Raises BudgetError B04 for a price that this way refuses.  Sources: basic composition [Dwork et al. 2006]; ρ adds
    [Bun & Steinke 2016, Lemma 1.7].

    >>> print(compose([Cost.of(epsilon=0.1)] * 10, "pure"))
    ε = 1
    """
    if way == "basic":
        budget = Budget(epsilon=1, delta="1e-6", accounting="basic")
    else:
        budget = Budget(epsilon=1) if way == "pure" else Budget(rho=1)
    total = Spend()
    for cost in costs:
        total += budget.spend(cost)
    return total


def pld_total(costs: Sequence[Cost], delta: Number, *, interval: float = 1e-4) -> Fraction:
    """ε at `delta` of all prices together, from their privacy-loss distributions: pessimistic, rounded up.

    Gaussian prices enter as one normal of their total ρ; a pure price as randomised response at its ε, which dominates
    every ε-DP mechanism [Kairouz, Oh & Viswanath 2015, Theorem 2.1].  Losses are rounded up to multiples of `interval`.
    For a list declared beforehand.  Raises BudgetError B09 where dp-accounting is not installed.
    """
    wanted = checked(delta, "delta")
    library, parameters = _dp_accounting()
    gaussian = sum((cost.zcdp for cost in costs if cost.noise == "gaussian"), Fraction(0))
    total: Any = library.identity(interval)
    if gaussian > 0:
        # rounded to three digits fewer than a float has, upwards: a smaller sd than the true one
        deviation = (2 * float(significant(gaussian, 12, up=True))) ** -0.5
        total = total.compose(library.from_gaussian_mechanism(deviation, value_discretization_interval=interval))
    pure = [cost.epsilon for cost in costs if cost.kind == "pure" and cost.epsilon is not None]
    for epsilon in set(pure):
        response = library.from_privacy_parameters(
            parameters(float(significant(epsilon, 12, up=True)), 0.0), value_discretization_interval=interval
        )
        total = total.compose(response.self_compose(pure.count(epsilon)))
    found = cast(float, total.get_epsilon_for_delta(float(significant(wanted, 12, up=False))))
    if found == float("inf"):
        raise BudgetError(f"no ε is certain at delta = {float(wanted):g}.", code="B01", hint="a larger delta")
    return significant(Fraction(found) + Fraction(1, 10**9), 9, up=True)


def _dp_accounting() -> tuple[Any, Any]:
    try:
        from dp_accounting.pld import common, privacy_loss_distribution  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        message = "privacy-loss distributions need the package dp-accounting."
        raise BudgetError(message, code="B09", hint="pip install dp-accounting") from None
    return cast(Any, privacy_loss_distribution), cast(Any, common).DifferentialPrivacyParameters
