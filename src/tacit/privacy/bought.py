"""Bought: what a price was spent on, part by part, and what the parts cost in ρ and in μ².  No data here.

A price that is written in one way may be charged in another, where normal noise and selections cost differently:

- of ρ, noise is a normal of μ² = 2 ρ, and a selection has range ε = √(8 ρ);
- of μ² (a share of a pair), noise is a normal of ρ = μ²/2, and a selection has the range that costs μ².

So a ledger of μ² charges a ρ price by its parts, and one of ρ charges a pair by its parts.  [`privacy.gaussian`]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Final

from tacit.privacy.cost import Cost
from tacit.privacy.exact_numbers import significant
from tacit.privacy.gaussian import BITS, mu_squared_to_range, range_to_mu_squared

DIGITS: Final = 12
"""Significant digits to which the cost of a selection is rounded up."""


@dataclass(frozen=True)
class Bought:
    """One part: what it took of the price, and how many selections share that; 0 where noise is added to sums.

    cells: how many cells' selections one neighbour can change, 2 where a replaced row may move to another cell.
    """

    cost: Cost
    selections: int = 0
    cells: int = 1


def range_for(cost: Cost) -> Fraction:
    """The range ε that one selection of this cost may have, rounded down by less than 2**-128.

    pure: ε.  rho: √(8 ρ), since range ε is ε²/8-zCDP [Dong, Durfee & Rogers 2020; Cesar & Rogers 2021].  Of a pair or
    its share: as `privacy.gaussian` proves of bounded range.

    >>> range_for(Cost.of(rho=0.5))
    Fraction(2, 1)
    """
    if cost.kind == "pure":
        assert cost.epsilon is not None
        return cost.epsilon
    if cost.rho is not None:
        return Fraction(isqrt((8 * cost.rho.numerator << 2 * BITS) // cost.rho.denominator), 1 << BITS)
    return mu_squared_to_range(cost.gdp)


def ranges_of(one: Bought) -> tuple[Fraction, ...]:
    """Ranges ε of a part's selections, where a neighbour changes those of one cell only; none of noise.

    >>> ranges_of(Bought(Cost.of(rho=1), selections=2))
    (Fraction(2, 1), Fraction(2, 1))
    """
    if not one.selections or one.cells > 1:
        return ()
    return (range_for(one.cost.share(Fraction(1, one.selections))),) * one.selections


def rho_of(parts: Iterable[Bought]) -> Fraction:
    """ρ of all parts, each its own; rounded up where a selection's is not rational.

    >>> half = Bought(Cost(mu_squared=Fraction(1, 100)), selections=1)
    >>> float(rho_of([half])), float(half.cost.zcdp)
    (0.00318382369165, 0.005)
    """
    return sum((_rho(one) for one in parts), Fraction(0))


def mu_squared_of(parts: Iterable[Bought]) -> Fraction:
    """μ² of all parts, each its own; rounded up where it is not rational.

    >>> float(mu_squared_of([Bought(Cost.of(rho=0.005)), Bought(Cost.of(rho=0.005), selections=1)]))
    0.0257023485415
    """
    return sum((_mu_squared(one) for one in parts), Fraction(0))


def _rho(one: Bought) -> Fraction:
    if not one.selections or one.cost.kind in ("pure", "zcdp"):
        return one.cost.zcdp
    alone = [cells * range_for(one.cost.share(Fraction(1, one.selections * cells))) ** 2 / 8 for cells in _cells(one)]
    # μ-GDP implies ρ = μ²/2 too, which is less than ε²/8 where ε is large
    return min(significant(one.selections * max(alone), DIGITS, up=True), one.cost.zcdp)


def _mu_squared(one: Bought) -> Fraction:
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
    """One cell's selection at the whole price, or two cells', each at half."""
    return range(1, one.cells + 1)
