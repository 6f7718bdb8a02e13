"""Recompute the law of a part's noise, or the rate of its selections, from its sensitivities and its price.

A document that states anything else is refused.  Public facts only; no data here.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Final

from tacit.errors import TacitError
from tacit.noise.averaged_laplace import AveragedLaplace
from tacit.noise.laws import Law
from tacit.noise.permute_and_flip import PermuteAndFlip
from tacit.noise.product import ProductLaplace
from tacit.noise.spherical import SphericalLaplace
from tacit.privacy import Cost, noise_for
from tacit.privacy.bought import range_for
from tacit.release.sensitivity_checks import QUANTILES, EncodingFacts, cut_weights, most_moved

SELECTIONS: Final[Mapping[str, int]] = {
    "ranks": 3,
    "ranks-2": 3,
    "point": 1,
    "joint": 1,
    "joint-2": 1,
    "joint-3": 1,
    "joint-4": 1,
    "halved": 1,
    "cuts": 1,
    "quartiles": 2,
    "range": 2,
    "data-set": 1,
    "candidate": 1,
}
"""Selections that share the price of a part in each cell, by form: a quantile and the ends of its interval are 3."""
FINER: Final = Fraction(1, 2**40)
"""Relative tolerance of a scale above what a ρ buys: versions may round scales up differently."""
WIDER: Final = Fraction(1, 2)
"""The same tolerance for (ε, δ): later versions may convert more tightly, and earlier answers stay valid."""


@lru_cache(maxsize=4096)
def added(l1: int, l2_squared: int, cost: Cost, dimension: int | None = None) -> Law | None:
    """Return the law of noise that a price buys for these sensitivities; None where it buys none.

    dimension: number of integers, of noise that is one vector.
    """
    try:
        return noise_for(l1, l2_squared, cost, dimension=dimension)
    except TacitError:
        return None


def is_noise_of_price(law: Law, l1: int, l2_squared: int, cost: Cost, *, wider: bool = False) -> bool:
    """Whether noise is what its price buys: never narrower, and wider only by a tolerance unless `wider` is set."""
    if isinstance(law, ProductLaplace):
        # the price is that of all columns of the vector, and buys the scale of each by one exact division
        exactly = l1 / cost.epsilon if cost.kind == "pure" and cost.epsilon is not None else None
        return exactly is not None and (law.scale == exactly or (wider and law.scale > exactly))
    if isinstance(law, AveragedLaplace):
        # the first draw is what the price buys, and the others need none
        law = law.one
    # of a vector's noise the number of its integers is checked against the part's
    wanted = added(l1, l2_squared, cost, law.dimension if isinstance(law, SphericalLaplace) else None)
    if wanted is None or wanted.name != law.name or law.scale < wanted.scale:
        return False
    # a pure price buys the scale of independent noises by one exact division
    exact = cost.kind == "pure" and not isinstance(law, SphericalLaplace)
    room = Fraction(0) if exact else {"pure": FINER, "zcdp": FINER}.get(cost.kind, WIDER)
    return wider or law.scale <= wanted.scale * (1 + room)


def selected(form: str, law: Law, parameters: Mapping[str, int], cost: Cost, facts: EncodingFacts) -> bool:
    """Whether the rate of a part's selections is what its price buys.

    rate = ε / (2 d), ε the range that the price buys (`privacy.bought`); where a row can leave one cell for another,
    two of its changes are paid for (`method.shared.mechanism_rank_selection`).  Permute-and-flip, whose range is
    larger, is bought with ε alone.
    """
    if isinstance(law, PermuteAndFlip) and cost.kind != "pure":
        return False
    if form == "halved":
        # the whole price is that of all levels
        return cost.epsilon is not None and law.scale * cost.epsilon == 2 * parameters["levels"]
    if form == "cuts":
        return _of_levels(law, cut_weights(parameters["levels"], parameters["even"]), cost)
    if form in ("data-set", "candidate"):
        # a level moves by 1, and a doubled utility, but for a constant, by the spread: the range is twice that
        wanted = Fraction(2 if form == "data-set" else 2 * parameters["spread"] * parameters.get("share", 1))
        bought = range_for(cost)
        return bool(bought) and wanted / bought <= law.scale <= wanted / bought * (1 + FINER)
    p = Fraction(1, 4) if form == "quartiles" else Fraction(parameters["numerator"], parameters["denominator"])
    # blocks are fixed in number: one is replaced under both relations
    known = EncodingFacts(facts.laplace, True, False) if form == "quartiles" else facts
    one, leaving = most_moved(p, known)
    each = cost.share(Fraction(1, SELECTIONS[form]))
    moving = form in QUANTILES and known.replaces and known.several
    if each.epsilon is not None:
        rate = each.epsilon / (2 * (max(one, 2 * leaving) if moving else one))
    else:
        rate = range_for(each) / (2 * one)
        # two cells change by `leaving` each: each gets half the price
        rate = min(rate, range_for(each.share(Fraction(1, 2))) / (2 * leaving)) if moving else rate
    wanted = parameters.get("share", 1) / rate if rate else None
    return wanted is not None and wanted <= law.scale <= wanted * (1 + FINER)


def _of_levels(law: Law, weights: tuple[int, ...], cost: Cost) -> bool:
    """Whether the rate of selections at levels is what a price buys: of the weight of a level its range is 2 rate."""
    if cost.epsilon is not None and cost.kind == "pure":
        return law.scale * cost.epsilon == 2 * sum(weights)
    squares = sum(one * one for one in weights)
    wanted = max(2 * one / range_for(cost.share(Fraction(one * one, squares))) for one in weights)
    return wanted <= law.scale <= wanted * (1 + FINER)
