"""The privacy cost of combined answers for a person: the largest of the parties' costs, or their sum with overlap."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from tacit.privacy import Cost
from tacit.privacy.cost import MOST
from tacit.release.document import Release

PAIRS: Final = ("approximate", "gdp")


def person_cost(releases: Sequence[Release], index: Sequence[int], overlap: bool) -> Cost:
    """Return the cost for a person of releases about the populations that `index` numbers.

    Where nobody is in two parties it is the largest of the populations' costs, each of which is the sum of its releases
    [parallel composition: McSherry 2009].  With overlap it is the sum of all, capped at the largest possible `Cost`.
    """
    if overlap:
        return sum_of_costs([one.cost for one in releases])
    own: dict[int, list[Cost]] = {}
    for place, one in zip(index, releases, strict=True):
        own.setdefault(place, []).append(one.cost)
    return largest_cost([sum_of_costs(costs) for costs in own.values()])


def sum_of_costs(costs: Sequence[Cost]) -> Cost:
    """Add costs: pure ones in ε, pairs (ε, δ) and shares of pairs in μ², mixed kinds in ρ (`Cost.zcdp`)."""
    if len(costs) == 1:
        return costs[0]
    if all(one.kind == "pure" for one in costs):
        total = sum((one.epsilon for one in costs if one.epsilon is not None), Fraction(0))
        # capped, as a larger Cost cannot be made
        return Cost(epsilon=min(total, MOST["epsilon"]))
    # Gaussian DP composes exactly: squares of μ add up
    if all(one.kind in PAIRS for one in costs):
        return Cost(mu_squared=min(sum((one.gdp for one in costs), Fraction(0)), MOST["mu_squared"]))
    # ρ is the one currency into which every kind of price can be converted
    return Cost(rho=min(sum((one.zcdp for one in costs), Fraction(0)), MOST["rho"]))


def largest_cost(costs: Sequence[Cost]) -> Cost:
    """Return the largest cost: of pairs and shares of pairs compared in μ², of mixed kinds compared in ρ."""
    distinct = list(dict.fromkeys(costs))
    if len(distinct) == 1:
        return distinct[0]
    if all(one.kind == "pure" for one in distinct):
        return max(distinct, key=lambda one: one.epsilon or Fraction(0))
    if len({one.kind for one in distinct}) == 1:
        return max(distinct, key=lambda one: one.zcdp)
    if all(one.kind in PAIRS for one in distinct):
        return Cost(mu_squared=max(one.gdp for one in distinct))
    return Cost(rho=max(one.zcdp for one in distinct))
