"""Composition: what several prices cost together.  No data here.

`compose` adds as a budget of that kind does, and holds for adaptively chosen prices.  `pld_total` is often smaller, but
only for a list of prices that was declared before the first was spent: it is reported, never used to admit a request.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from tacit.errors import BudgetError
from tacit.privacy.bought import Bought, mu_squared_of, ranges_of
from tacit.privacy.budget import Budget, Spend
from tacit.privacy.cost import Cost, checked
from tacit.privacy.exact_numbers import significant

if TYPE_CHECKING:
    from tacit.privacy.exact_numbers import Number

Way = Literal["pure", "zcdp", "gdp", "basic"]


class ReleasedPart(Protocol):
    """One part of a release: what it took of the price, and the law of what was drawn for it."""

    @property
    def cost(self) -> Cost:
        """Its price."""
        ...

    @property
    def law(self) -> Any:
        """The law of its noise, or of its selections."""
        ...

    @property
    def integers(self) -> Any:
        """What was released of it, cell by cell."""
        ...


class Priced(Protocol):
    """A release: its parts say what its price bought."""

    @property
    def parts(self) -> Sequence[ReleasedPart]:
        """What was bought."""
        ...


def compose(costs: Sequence[Cost], way: Way = "zcdp") -> Spend:
    """Sum of prices: ε ("pure"), ρ ("zcdp"), μ² ("gdp"), or ε and δ ("basic"); whatever each bought.

    Raises BudgetError B04 for a price that this way refuses.  Sources: basic composition [Dwork et al. 2006]; ρ adds
    [Bun & Steinke 2016, Lemma 1.7]; μ² adds [Dong, Roth & Su 2022, Corollary 3.3].

    >>> print(compose([Cost.of(epsilon=0.1)] * 10, "pure"))
    ε = 1
    """
    if way in ("basic", "gdp"):
        budget = Budget(epsilon=1, delta="1e-6", accounting=way)
    else:
        budget = Budget(epsilon=1) if way == "pure" else Budget(rho=1)
    total = Spend()
    for cost in costs:
        total += budget.spend(cost)
    return total


def pld_total(priced: Sequence[Cost | Priced], delta: Number, *, interval: float = 1e-4) -> Fraction:
    """ε at `delta` of releases and pure prices together, from privacy-loss distributions: pessimistic, rounded up.

    Each part enters as what it is: noise of ρ or of a pair as a normal, a selection by the pair that dominates its
    range, anything pure as randomised response at its ε, which dominates every ε-DP mechanism [Kairouz, Oh & Viswanath
    2015, Theorem 2.1].  Losses are rounded up to multiples of `interval`.  For a list declared beforehand.  Raises
    BudgetError B15 for a price of ρ, or a pair, without its release, since it does not say what it bought; B09 where
    dp-accounting is not installed.
    """
    wanted = checked(delta, "delta")
    parts = [one for given in priced for one in _parts(given)]
    library = _dp_accounting()
    total: Any = library.loss.identity(interval)
    gaussian = mu_squared_of(one for one in parts if one.cost.noise == "gaussian" and not ranges_of(one))
    if gaussian > 0:
        # rounded to three digits fewer than a float has, upwards: a smaller sd than the true one
        deviation = float(significant(gaussian, 12, up=True)) ** -0.5
        total = total.compose(library.loss.from_gaussian_mechanism(deviation, value_discretization_interval=interval))
    pure = [one.cost.epsilon for one in parts if one.cost.kind == "pure" and one.cost.epsilon is not None]
    for epsilon in set(pure):
        response = library.loss.from_privacy_parameters(
            library.parameters(float(significant(epsilon, 12, up=True)), 0.0), value_discretization_interval=interval
        )
        total = total.compose(response.self_compose(pure.count(epsilon)))
    ranges = [range_ for one in parts if one.cost.noise == "gaussian" for range_ in ranges_of(one)]
    for epsilon in set(ranges):
        total = total.compose(_selection(library, float(epsilon), interval).self_compose(ranges.count(epsilon)))
    found = cast(float, total.get_epsilon_for_delta(float(significant(wanted, 12, up=False))))
    if found == float("inf"):
        raise BudgetError(f"no ε is certain at delta = {float(wanted):g}.", code="B01", hint="a larger delta")
    return significant(Fraction(found) + Fraction(1, 10**9), 9, up=True)


def _parts(given: Cost | Priced) -> tuple[Bought, ...]:
    """What was bought: known of a release, and of a pure price enough."""
    if not isinstance(given, Cost):
        return tuple(_of_release(one) for one in given.parts)
    if given.kind == "pure":
        return (Bought(given),)
    message = f"a price of {given} may have bought noise or selections, which differ: its release says which."
    raise BudgetError(message, code="B15", hint="pld_total([release, …], delta)")


def _of_release(part: ReleasedPart) -> Bought:
    """Selections in several cells, of which a neighbour may change two, enter as a normal, which bounds both."""
    from tacit.noise.selection_law import Selection

    if not isinstance(part.law, Selection):
        return Bought(part.cost)
    return Bought(part.cost, len(part.integers[0]), min(2, len(part.integers)))


def _selection(library: _Library, epsilon: float, interval: float) -> Any:
    """The privacy-loss distribution that dominates a selection of range ε, discretised upwards.

    Of the pairs that may be worst (`privacy.gaussian`, Bounded range), δ_t(x) = p_t - e^x q_t is largest at
    t = (ε + x) / 2: H(x) = (e^(ε/2) - e^(x/2))² / (e^ε - 1) for -ε <= x <= ε, 0 above, 1 - e^x below; H, being convex
    in e^x, is itself that of a pair.  Connecting its dots is pessimistic [Doroshenko et al. 2022, Algorithm 1].
    """
    import numpy as np

    epsilon *= 1 + 1e-12  # above its rounding
    steps = math.ceil(epsilon / interval) + 1
    grid = np.arange(-steps, steps + 1)
    x = np.clip(grid * interval, -epsilon, epsilon)
    dots = (np.expm1((epsilon - x) / 2) * np.exp(x / 2)) ** 2 / np.expm1(epsilon)
    dots = np.where(grid * interval < -epsilon, -np.expm1(grid * interval), dots)
    pmf = library.pmf.create_pmf_pessimistic_connect_dots(interval, grid, np.clip(dots, 0, 1))
    return library.loss.PrivacyLossDistribution(pmf)


@dataclass(frozen=True)
class _Library:
    """What is used of dp-accounting."""

    loss: Any
    pmf: Any
    parameters: Any


def _dp_accounting() -> _Library:
    try:
        from dp_accounting.pld import (  # pyright: ignore[reportMissingTypeStubs]
            common,
            pld_pmf,
            privacy_loss_distribution,
        )
    except ImportError:
        message = "privacy-loss distributions need the package dp-accounting."
        raise BudgetError(message, code="B09", hint="pip install dp-accounting") from None
    loss, pmf = cast(Any, privacy_loss_distribution), cast(Any, pld_pmf)
    return _Library(loss, pmf, cast(Any, common).DifferentialPrivacyParameters)
