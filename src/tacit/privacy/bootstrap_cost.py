"""What a private bootstrap costs: its whole privacy-loss distribution, certified.  No data here.

How to use it
-------------
One *replicate* draws secret multiplicities M_i of the rows, and releases Σ M_i x_i plus normal noise of standard
deviation σ (rounded to integers: post-processing); x_i is the bounded integer vector of row i, of which Δ bounds the ℓ2
norm as `Resampling` says.  All that matters of the noise is μ² = Δ²/σ², the price of one copy of a row.

>>> law = Resampling(rows=500)  # multinomial multiplicities, replace-one
>>> paper = certify(law, replicates=50, mu_squared=Fraction(1, 50))
>>> round(float(paper.epsilon("1e-6")), 2)  # claimed: 5.22
6.75

A price (ε, δ) buys an approximate part (μ', δ'), which `Budget` adds; the noise follows from it:

>>> bought = calibrate(law, replicates=50, price=Cost.of(epsilon=1, delta="1e-6"))
>>> print(bought.part)  # what a ledger of Gaussian differential privacy is charged
μ = 0.2356, δ = 1e-07
>>> variance = 4 / bought.mu_squared  # σ², where the squared sensitivity Δ² is 4

A ledger that adds ε and δ one by one is charged the pair itself: `calibrate(..., whole=True)`.  No ledger of ρ can be
charged: as zero-concentrated privacy a bootstrap costs n² times the claim [theory §5].

Why it holds
------------
Approximate part
    If h(ε) <= δ' + (1 - δ') δ_μ'(ε) for every ε >= 0, in both orders of two neighbours, their outputs are those of an
    approximate part (μ', δ') (`privacy.gaussian`).  Proof.  The right side is the profile of the pair P* = N(0, 1) or,
    with probability δ', a; Q* = N(μ', 1) or, with probability δ', b; a and b being two symbols that appear in no other
    way.  It is so in both orders, and below ε = 0 the profile of one order follows from that of the other.  So the
    outputs P and Q are made from P* and Q* by a kernel K that knows neither [Blackwell 1953]:
    P = (1 - δ') K(N(0, 1)) + δ' K(a), Q = (1 - δ') K(N(μ', 1)) + δ' K(b), and K(N(0, 1)), K(N(μ', 1)) are μ'-GDP.
One replicate
    See `privacy.bootstrap_profiles`.
Replicates
    have fresh multiplicities and noise: their pairs are composed (`privacy.loss_distribution`), one order at a time,
    and the larger profile of the two orders is the cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from tacit.errors import BudgetError
from tacit.privacy.approximate_part import SHARE, approximate_part
from tacit.privacy.bootstrap_profiles import Profile, Resampling, normal_profile, profiles
from tacit.privacy.conversions import zcdp_to_epsilon
from tacit.privacy.cost import Cost, checked
from tacit.privacy.exact_numbers import Number, plain, significant
from tacit.privacy.gaussian import epsilon_delta_to_mu_squared, mu_squared_to_epsilon
from tacit.privacy.loss_distribution import ChainedCurve, LossCurve, composed, connect_the_dots, least_epsilon

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FINE: Final = 24
"""Points of the grid in one μ of a replicate: the discretisation costs about 0.1% of ε."""
DIGITS: Final = 6
"""Significant digits of a calibrated μ², rounded down."""
CLOSE: Final = 2e-4
"""A calibrated μ² is within so much of the largest, relatively."""
LARGEST: Final = 4
"""No larger μ² of a replicate is tried: its losses are beyond what floats hold, and a price of ε = 90 buys less."""
MOST_STEPS: Final = 60
"""Most values of μ² that a calibration tries."""
MOST_REPLICATES: Final = 10**6
"""More replicates than this are refused."""
POINTS: Final = 20_001
"""Points of ε at which a profile is compared with that of an approximate part."""
LEAST_MU: Final = 1e-6
"""A smaller μ' is not looked for: where δ' alone nearly bounds the whole profile."""
MARGIN: Final = 1e-9
"""Relative margin of comparisons in floats, far above their rounding errors; results are rounded up by as much."""


@dataclass(frozen=True)
class CertifiedCost:
    """Privacy of all replicates together: an upper bound on their whole profile.  Made by `certify`.

    mu_squared: Δ²/σ², the price of one copy of a row in one replicate.
    """

    law: Resampling
    replicates: int
    mu_squared: Fraction
    curves: tuple[LossCurve | ChainedCurve, ...]

    def delta(self, epsilon: Number) -> Fraction:
        """Return the δ at ε, rounded up; BudgetError B01 for an ε that is no price."""
        at = float(checked(epsilon, "epsilon")) * (1 - MARGIN)
        return significant(Fraction(min(1.0, self._delta(np.array([at]))[0])), 9, up=True)

    def epsilon(self, delta: Number) -> Fraction:
        """Return the ε at δ, rounded up; BudgetError B01 where none is found."""
        at = float(checked(delta, "delta")) * (1 - MARGIN)
        found = max(least_epsilon(one, at) for one in self.curves)
        if not np.isfinite(found):
            message = f"no ε was found for which delta = {at:g} holds."
            raise BudgetError(message, code="B01", hint="certify(..., delta=…), a δ near the one of interest")
        return significant(Fraction(found * (1 + MARGIN)), 9, up=True)

    def part(self, delta: Number) -> Cost:
        """Return the approximate part (μ', δ') with δ' = `delta` and the least μ', rounded up: what a ledger charges.

        Raises BudgetError B01 where the profile does not come down to δ'.
        """
        exact = checked(delta, "delta")
        low, high = 0.0, 1.0
        while not self._within(high, float(exact)):
            low, high = high, 2 * high
            if high > 64:
                message = f"the cost has no part with delta = {plain(exact)}."
                raise BudgetError(message, code="B01", hint="a larger delta, or more noise")
        while high - low > 1e-7 * high and high > LEAST_MU:
            middle = (low + high) / 2
            low, high = (low, middle) if self._within(middle, float(exact)) else (middle, high)
        return Cost(mu_squared=significant(Fraction(high) ** 2 * (1 + Fraction(MARGIN)), 9, up=True), delta=exact)

    def compared(self, price: Cost) -> float:
        """Return about the μ² of normals that would cost as much at the δ of a price; infinity where there is none."""
        try:
            if price.epsilon is None:
                return float(self.part(price.delta or 0).gdp)
            return float(epsilon_delta_to_mu_squared(self.epsilon(price.delta or 0), price.delta or 0))
        except BudgetError:
            return float("inf")

    def within(self, part: Cost) -> bool:
        """Return whether the cost is certainly at most an approximate part (μ', δ'), or a pair (ε, δ)."""
        assert part.delta is not None
        if part.epsilon is not None:
            return self.delta(part.epsilon) <= part.delta
        assert part.mu_squared is not None
        return self._within(float(part.mu_squared) ** 0.5 * (1 - MARGIN), float(part.delta))

    def _within(self, mu: float, delta: float) -> bool:
        """Return whether h(ε) <= δ' + (1 - δ') δ_μ'(ε) for all ε >= 0 is certain.

        h decreases, so that from a point of the grid to the next it is at most its value at the first; the right side
        is at least its value at the second.  Beyond the last point it is at least δ'.
        """
        points, values = self._profile
        bound = delta + (1 - delta) * np.append(normal_profile(mu, points[1:]), 0.0)
        return bool(np.all(values <= bound * (1 - MARGIN)))

    @cached_property
    def _profile(self) -> tuple[Floats, Floats]:
        """Points of ε from 0 to the largest loss, and the profile there."""
        points = np.linspace(0.0, max(one.top for one in self.curves), POINTS)
        return points, self._delta(points)

    def _delta(self, epsilon: Floats) -> Floats:
        return np.max([one.delta(epsilon) for one in self.curves], axis=0)


@dataclass(frozen=True)
class Calibration:
    """Noise for a price.  mu_squared: Δ²/σ² of one copy, so that σ² = Δ²/mu_squared; part: what a ledger is charged."""

    mu_squared: Fraction
    part: Cost
    certified: CertifiedCost


@dataclass(frozen=True)
class PublishedClaim:
    """What Brawner & Honaker (2018) say that their bootstrap costs: shown beside the certified cost, never chargeable.

    rho: the claim, Σ ρ_i of the replicates, as ρ-zCDP (Result 1).  It is false [theory §5]: it is no `Cost`, and a
    budget refuses it.

    >>> claim = PublishedClaim.of(replicates=50, mu_squared=Fraction(1, 50))
    >>> print(claim)
    ρ = 0.5 (claimed by Brawner & Honaker 2018, Result 1; not certified)
    """

    rho: Fraction

    @classmethod
    def of(cls, *, replicates: int, mu_squared: Fraction) -> PublishedClaim:
        """Return the claim for so many replicates at μ² = Δ²/σ² each: k Δ²/(2 σ²)."""
        return cls(replicates * mu_squared / 2)

    def epsilon(self, delta: Number) -> Fraction:
        """Return the ε at δ that ρ-zCDP would imply."""
        return zcdp_to_epsilon(self.rho, delta)

    def gaussian_epsilon(self, delta: Number) -> Fraction:
        """Return the ε at δ of one normal at that ρ: the smallest ε that the claim could mean."""
        return mu_squared_to_epsilon(2 * self.rho, delta)

    def __str__(self) -> str:
        return f"ρ = {plain(self.rho)} (claimed by Brawner & Honaker 2018, Result 1; not certified)"


@lru_cache(maxsize=64)
def certify(
    law: Resampling, replicates: int, mu_squared: Fraction, delta: Fraction = Fraction(1, 10**6)
) -> CertifiedCost:
    """Return the certified cost of `replicates` replicates at μ² = Δ²/σ² each.

    delta: the δ of interest; δ down to a few thousandths of it are adequate.  Raises BudgetError B01 for a μ² or δ that
    is no price, B08 for a number of replicates below 1 or above MOST_REPLICATES.
    """
    exact, near = checked(mu_squared, "mu_squared"), float(checked(delta, "delta"))
    if not 1 <= replicates <= MOST_REPLICATES:
        message = f"replicates is {replicates}: not from 1 to {MOST_REPLICATES}."
        raise BudgetError(message, code="B08", hint="replicates=200")
    # rounded up: more is lost at a larger μ
    mu = float(exact) ** 0.5 * (1 + 1e-15)
    forward, backward = profiles(law, mu)
    if forward is backward:
        curves: tuple[LossCurve | ChainedCurve, ...] = (_composed(forward, backward, mu, replicates, near),)
        return CertifiedCost(law, replicates, exact, curves)
    # of two steps the second is at δ e^-a: an e^a of some thousands is allowed for
    near = near / 1000 if law.centred else near
    there = _composed(forward, backward, mu, replicates, near)
    back = _composed(backward, forward, mu, replicates, near)
    if law.centred:
        shift = mu / 2 * replicates**0.5
        return CertifiedCost(law, replicates, exact, (ChainedCurve(there, back, back, there, shift),))
    return CertifiedCost(law, replicates, exact, (there, back))


def _composed(forward: Profile, backward: Profile, mu: float, replicates: int, delta: float) -> LossCurve:
    return composed(connect_the_dots(forward, backward, mu / FINE), replicates, delta)


@lru_cache(maxsize=64)
def calibrate(
    law: Resampling, replicates: int, price: Cost, *, whole: bool = False, share: Fraction = SHARE
) -> Calibration:
    """Return the noise for a price (ε, δ): the largest μ² = Δ²/σ² of a replicate, rounded down to 6 digits.

    whole: the pair itself is what is charged, to a ledger that adds ε and adds δ; else its approximate part is, to one
    that adds μ².  share: of δ that becomes δ'; a larger one needs less noise where the replicates are few, but uses up
    more of the δ of a ledger.  Raises BudgetError B04 for a price that is no pair, others as `certify`.
    """
    part = approximate_part(price, share)
    charged = price if whole and price.kind == "approximate" else part
    wanted, delta = charged.gdp, part.delta or Fraction(0)
    # as many normals at this μ² cost the price
    square, found = min(float(wanted) / replicates, LARGEST), None
    for _ in range(MOST_STEPS):
        cost = certify(law, replicates, significant(Fraction(square), DIGITS, up=False), delta)
        used = cost.compared(charged) / float(wanted)
        if used <= 1 and cost.within(charged) and (found is None or cost.mu_squared > found.mu_squared):
            found = cost
            if used > 1 - CLOSE or square >= LARGEST:
                break
        # what is used is nearly proportional
        square = min(square * ((1 - CLOSE / 4) / used if used < float("inf") else 0.5), LARGEST)
    if found is None:
        message = f"no noise was found for the price {price} and {replicates} replicates."
        raise BudgetError(message, code="B08", hint="fewer replicates, or a higher price")
    return Calibration(found.mu_squared, charged, found)


def effective_constant(certified: CertifiedCost, delta: Number) -> float:
    """Return by what factor the μ² of as many normals must grow to cost the certified ε at δ.

    Asymptotically 2 - 2/e for a bootstrap with multinomial weights [Wang, Cheng & Awan 2022].
    """
    pair = epsilon_delta_to_mu_squared(certified.epsilon(delta), delta)
    return float(pair / (certified.replicates * certified.mu_squared))
