"""Bought: what each part of a price was spent on, and what the parts cost in ρ and in μ².  No data here.

A price stated in one measure of privacy loss may be charged to a ledger that adds another, and normal noise and
selections convert differently:

- for a price ρ, noise is a normal of μ² = 2 ρ, and a selection has range ε = √(8 ρ);
- for a share μ² of a pair (ε, δ), noise is a normal of ρ = μ²/2, and a selection has the range that costs μ².

Hence a ledger that adds μ² charges a price ρ part by part, and a ledger that adds ρ charges a pair part by part.  The
conversions are proven in `privacy.gaussian`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any, Final, Protocol

from tacit.privacy.cost import Cost
from tacit.privacy.exact_numbers import significant
from tacit.privacy.gaussian import BITS, mu_squared_to_range, range_to_mu_squared

DIGITS: Final = 12
"""Significant digits to which the cost of a selection is rounded up."""


@dataclass(frozen=True)
class Bought:
    """One part of a release: its cost, and how many selections share that cost; 0 for noise added to sums.

    cells: in how many cells a change to a neighbouring table can affect the selections: 2 where a replaced row may move
    to another cell, else 1.
    """

    cost: Cost
    selections: int = 0
    cells: int = 1


def of_levels(cost: Cost, levels: int) -> Bought:
    """Return what selections at levels bought that have unequal parts of a price, each in one range or two.

    Bought with ρ, they cost at most what equal parts would in μ², as c(√(8 ρ)) is concave (c of `privacy.gaussian`, Two
    cells): its derivative is in proportion to c'(ε) / ε = 2 y / (L(y) L'(y)), y = √c / 2, and falls, since L(y) / y and
    L'(y) increase.  Where they are composed by their own ranges, cells = 2 says that these are not known.  At any other
    price they are charged as noise is, whose ρ = μ²/2 bounds that of all that is μ-GDP.
    """
    return Bought(cost) if cost.rho is None else Bought(cost, levels, 2)


class Noisy(Protocol):
    """A part of a release or of a design: its share of the price, and the law of its noise or selections."""

    @property
    def cost(self) -> Cost:
        """Share of the price."""
        ...

    @property
    def law(self) -> Any:
        """Law of its noise, or of its selections."""
        ...


def price_of_noise(part: Noisy, parts: Sequence[Noisy]) -> Cost:
    """Return the price that buys the noise of a part: its own, or of noise that is one vector, that of all its parts.

    parts: all of the release or design.  One vector protects its parts together: it is one mechanism at the sum of
    their (pure) prices, and none of them alone has a smaller price.
    """
    from tacit.noise.product import ProductLaplace

    if not isinstance(part.law, ProductLaplace):
        return part.cost
    shares = [one.cost.epsilon for one in parts if isinstance(one.law, ProductLaplace)]
    return replace(part.cost, epsilon=sum((one for one in shares if one is not None), Fraction(0)))


def range_for(cost: Cost) -> Fraction:
    """Return the range ε that one selection of this cost may have, rounded down by less than 2**-128.

    For a pure price, ε.  For ρ, √(8 ρ), since range ε is ε²/8-zCDP [Dong, Durfee & Rogers 2020; Cesar & Rogers 2021].
    For a pair or a share of one: see Bounded range in `privacy.gaussian`.

    >>> range_for(Cost.of(rho=0.5))
    Fraction(2, 1)
    """
    if cost.kind == "pure":
        assert cost.epsilon is not None
        return cost.epsilon
    if cost.rho is not None:
        # rounded down: a range too small costs accuracy, one too large privacy
        return Fraction(isqrt((8 * cost.rho.numerator << 2 * BITS) // cost.rho.denominator), 1 << BITS)
    return mu_squared_to_range(cost.gdp)


def ranges_of(one: Bought) -> tuple[Fraction, ...]:
    """Return the range ε of each selection of a part; empty for noise, and where a neighbour can affect two cells.

    >>> ranges_of(Bought(Cost.of(rho=1), selections=2))
    (Fraction(2, 1), Fraction(2, 1))
    """
    if not one.selections or one.cells > 1:
        return ()
    # selections of a part share its price equally, whatever it is stated in
    return (range_for(one.cost.share(Fraction(1, one.selections))),) * one.selections


def rho_of(parts: Iterable[Bought]) -> Fraction:
    """Return the total ρ of the parts; rounded up where that of a selection is irrational.

    >>> half = Bought(Cost(mu_squared=Fraction(1, 100)), selections=1)
    >>> float(rho_of([half])), float(half.cost.zcdp)
    (0.00318382369165, 0.005)
    """
    return sum((_rho(one) for one in parts), Fraction(0))


def mu_squared_of(parts: Iterable[Bought]) -> Fraction:
    """Return the total μ² of the parts; rounded up where that of a part is irrational.

    >>> float(mu_squared_of([Bought(Cost.of(rho=0.005)), Bought(Cost.of(rho=0.005), selections=1)]))
    0.0257023485415
    """
    return sum((_mu_squared(one) for one in parts), Fraction(0))


def _rho(one: Bought) -> Fraction:
    """Return ρ of one part: that of its price, or for selections bought with μ² the sum of ε²/8 over them."""
    # noise bought with μ² has ρ = μ²/2, which `zcdp` is; pure prices and ρ are bounds whatever they bought
    if not one.selections or one.cost.kind in ("pure", "zcdp"):
        return one.cost.zcdp
    alone = [cells * range_for(one.cost.share(Fraction(1, one.selections * cells))) ** 2 / 8 for cells in _cells(one)]
    # μ-GDP also implies ρ = μ²/2, which is smaller than ε²/8 where ε is large
    return min(significant(one.selections * max(alone), DIGITS, up=True), one.cost.zcdp)


def _mu_squared(one: Bought) -> Fraction:
    """Return μ² of one part: that of its price; bought with ρ, 2 ρ for noise, or the sum over its selections."""
    # a pair is kept in μ² from the start; of a pure price the bound on any ε-DP mechanism is charged
    if one.cost.rho is None:
        return one.cost.gdp
    if not one.selections:
        return 2 * one.cost.rho
    alone = [
        cells * range_to_mu_squared(range_for(one.cost.share(Fraction(1, one.selections * cells))))
        for cells in _cells(one)
    ]
    return significant(one.selections * max(alone), DIGITS, up=True)


def _cells(one: Bought) -> range:
    """Return the cases of how a neighbour's change is spread: one cell at the whole price, or two cells at half each.

    The cost of a range is convex, so the largest total is at one of these corners: Two cells in `privacy.gaussian`.
    """
    return range(1, one.cells + 1)
