"""What combined answers cost a person: the largest of the parties', or their sum where people may be in several."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from tacit.privacy import Cost
from tacit.privacy.cost import MOST
from tacit.release.document import Release

PAIRS: Final = ("approximate", "gdp")


def person_cost(releases: Sequence[Release], index: Sequence[int], overlap: bool) -> Cost:
    """What a person paid for releases of the populations that `index` numbers.

    Nobody in two parties: the largest of what the populations paid, each the sum of its releases [parallel
    composition: McSherry 2009].  Otherwise the sum of all, at most the largest price that there is.
    """
    if overlap:
        return added([one.cost for one in releases])
    own: dict[int, list[Cost]] = {}
    for place, one in zip(index, releases, strict=True):
        own.setdefault(place, []).append(one.cost)
    return largest([added(costs) for costs in own.values()])


def added(costs: Sequence[Cost]) -> Cost:
    """Their sum: of pure prices in ε, of pairs (ε, δ) and shares of them in μ², otherwise in ρ (`Cost.zcdp`)."""
    if len(costs) == 1:
        return costs[0]
    if all(one.kind == "pure" for one in costs):
        total = sum((one.epsilon for one in costs if one.epsilon is not None), Fraction(0))
        return Cost(epsilon=min(total, MOST["epsilon"]))
    if all(one.kind in PAIRS for one in costs):
        return Cost(mu_squared=min(sum((one.gdp for one in costs), Fraction(0)), MOST["mu_squared"]))
    return Cost(rho=min(sum((one.zcdp for one in costs), Fraction(0)), MOST["rho"]))


def largest(costs: Sequence[Cost]) -> Cost:
    """The largest; prices of several kinds are compared, and said, in ρ; pairs and shares of them in μ²."""
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
