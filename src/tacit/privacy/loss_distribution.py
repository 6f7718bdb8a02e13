"""Privacy-loss distributions on a grid: connecting the dots, and the sum of many.  No data here.

For outputs P and Q of two neighbours the profile h(ε) = sup_S P(S) - e^ε Q(S) is convex and decreasing in e^ε.  Of two
pairs, the one whose profile lies nowhere below the other's gives the other's outputs by a kernel that knows neither
distribution [Blackwell 1953; Zhu, Dong & Wang 2022, Theorem 10], and so for k of them, adaptively chosen or not.

Connecting the dots [Doroshenko et al. 2022, Algorithm 1]: from the profile at the points of a grid the pair whose
profile is linear in e^ε between them, nowhere below the true one because that is convex.  Its losses lie on the grid,
so the loss of k of them is a k-fold convolution.

Rounding is against us throughout: the complement 1 - h becomes smaller, never larger, and what a Fourier transform may
be wrong by is added.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Profile: TypeAlias = "Callable[[Floats], Floats]"

UNIT: Final = 2.0**-53
ACCURACY: Final = 4e-15
"""Profiles are computed to within this; the complement is lowered by as much."""
FLAT: Final = 1e-16
"""The grid of one step ends where the profile is below this; what lies beyond becomes an infinite loss."""
SPLITS: Final = (-0.3, -0.1, -0.03, 0.0, 0.03, 0.1, 0.3)
"""Where an ε is split in two, about the best place for normals, in units of the shift of a normal."""
BEYOND: Final = 1e-4
"""Losses so large that they have at most this share of the δ of interest become infinite."""
LARGEST: Final = 0.1
"""The largest order of δ for which a profile is made."""


@dataclass(frozen=True)
class Losses:
    """Losses of one mechanism under P: `mass[i]` at (first + i) * interval, and `infinite`; together at least 1.

    Under Q the mass at a loss x is e^-x times as large.
    """

    interval: float
    first: int
    mass: Floats
    infinite: float

    def log_moment(self, order: float) -> float:
        """Return ln Σ mass e^(order x): of the finite losses under P."""
        exponent = order * self.interval * (self.first + np.arange(len(self.mass)))
        most = float(exponent.max())
        return most + float(np.log(np.sum(self.mass * np.exp(exponent - most))))


@dataclass(frozen=True)
class SummedLosses:
    """Upper bounds on the masses of the losses of a sum: of `losses` > 0 at most `mass`, and of `infinite` ones."""

    losses: Floats
    mass: Floats
    infinite: float

    @property
    def top(self) -> float:
        """The largest finite loss: from here on the profile is `infinite`."""
        return float(self.losses[-1]) if len(self.losses) else 0.0

    def delta(self, epsilon: Floats) -> Floats:
        """Return δ at each ε >= 0, never below the truth."""
        at = np.searchsorted(self.losses, epsilon, side="right")
        above, weighted = self._above
        # beyond e^700, which a float still holds, less is subtracted: the bound is larger there
        found = self.infinite + above[at] - np.exp(np.minimum(epsilon, min(self.top, 700.0))) * weighted[at]
        # sums of up to a million terms, subtracted: their rounding is far below a relative 1e-12 of the larger one
        return np.minimum(1.0, found * (1 + 1e-9) + 1e-12 * above[at])

    @cached_property
    def _above(self) -> tuple[Floats, Floats]:
        """Σ mass and Σ mass e^-loss over the losses from the i-th on, for each i and for the end."""
        return _suffix_sums(self.mass), _suffix_sums(self.mass * np.exp(-self.losses))


@dataclass(frozen=True)
class LossCurve:
    """Upper bounds on a profile at every ε >= 0: the least of several, each made for another order of δ."""

    made: tuple[SummedLosses, ...]

    @property
    def top(self) -> float:
        """An ε beyond which nothing smaller is found."""
        return max(one.top for one in self.made)

    def delta(self, epsilon: Floats) -> Floats:
        """Return δ at each ε >= 0, never below the truth."""
        return np.min([one.delta(epsilon) for one in self.made], axis=0)


@dataclass(frozen=True)
class ChainedCurve:
    """Upper bounds on the profile of P and R from those of P and Q (`first`) and of Q and R (`second`).

    For any a and b: an event S has P(S) <= h(a) + e^a Q(S) and Q(S) <= h(b) + e^b R(S), hence
    h(a + b) <= h(a) + e^a h(b), with the profiles of (P, Q) and of (Q, R) on the right.  At each ε the least of a few
    splits a + b is taken, near that which is best for normals whose mean moves by `shift`, twice.

    `first_back` and `second_back` are those of (Q, P) and of (R, Q), from which follow profiles below 0.
    """

    first: LossCurve
    first_back: LossCurve
    second: LossCurve
    second_back: LossCurve
    shift: float

    @property
    def top(self) -> float:
        """An ε beyond which nothing smaller is found."""
        return self.first.top + self.second.top

    def delta(self, epsilon: Floats) -> Floats:
        """Return δ at each ε >= 0, never below the truth."""
        found = np.ones_like(epsilon)
        for away in SPLITS:
            a = (epsilon - self.shift**2) / 2 + away * self.shift
            second = _signed(self.second, self.second_back, epsilon - a)
            found = np.minimum(found, _signed(self.first, self.first_back, a) + np.exp(a) * second)
        return found


def _signed(curve: LossCurve, back: LossCurve, epsilon: Floats) -> Floats:
    """Return bounds on a profile at any ε, from that of the other order where ε < 0: 1 - e^ε (1 - h(-ε))."""
    below = 1 - np.exp(np.minimum(epsilon, 0)) * (1 - back.delta(np.maximum(-epsilon, 0)))
    return np.where(epsilon < 0, below, curve.delta(np.maximum(epsilon, 0)))


def least_epsilon(curve: LossCurve | ChainedCurve, delta: float) -> float:
    """Return about the smallest ε at which δ certainly holds; infinity where none is found."""

    def holds(epsilon: float) -> bool:
        return float(curve.delta(np.array([epsilon]))[0]) <= delta

    low, high = 0.0, curve.top
    if holds(low) or not holds(high):
        return 0.0 if holds(low) else float("inf")
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def connect_the_dots(forward: Profile, backward: Profile, interval: float) -> Losses:
    """Return the losses of the pair that connects the dots of a profile, which is given where ε >= 0 in both orders.

    forward: h of (P, Q), an array for an array of ε >= 0; backward: h of (Q, P).  Both are correct to ACCURACY.

    Below 0 the profile of (P, Q) is 1 - e^ε (1 - h(-ε)) with h of (Q, P).  The grid ends where both are below FLAT.
    Losses below it are raised to its first point, those above it become infinite: both raise the profile.
    """
    first, last = -int(np.ceil(_reach(backward) / interval)), int(np.ceil(_reach(forward) / interval))
    # extended precision, where a machine has it: slopes are differences, and are taken of what is small
    above = np.asarray(forward(_grid(0, last + 1, interval)), dtype=np.longdouble)
    below = np.asarray(backward(_grid(1, -first + 1, interval))[::-1], dtype=np.longdouble)
    growth = np.exp(np.arange(first, last + 1) * np.longdouble(interval))
    complement = np.concatenate([growth[:-first] * (1 - below), 1 - above])
    # slopes of the complement in e^ε: from (0, 0) to the first point, between points, and 0 beyond the last
    rises = np.concatenate([np.diff(complement[: 1 - first]), -np.diff(above)])
    slopes = np.concatenate([[complement[0] / growth[0]], rises / np.diff(growth), [0]])
    # under Q the mass at a point is the fall of the slope there; rounding may make it negative, where it is nearly 0
    mass = np.maximum(growth * (slopes[:-1] - slopes[1:]), 0)
    # the masses, as the floats they are, have a complement of their own: positive terms, compared at every point
    theirs = np.cumsum(mass) + growth * _suffix_sums(mass / growth)[1:]
    excess = max(float(np.max(theirs / complement)) - 1, 0.0)
    # the complement is least, relatively to its error, at ε = 0
    wrong = ACCURACY / float(complement[-first]) + 4 * len(growth) * float(np.finfo(np.longdouble).eps)
    scaled = np.asarray(mass * (1 - np.longdouble(excess + wrong)), dtype=np.float64)
    return Losses(interval, first, scaled, max(0.0, 1 - float(np.sum(scaled))) + 2 * UNIT)


def _reach(profile: Profile) -> float:
    """Return about the smallest ε > 0 at which a profile is at most FLAT."""
    low, high = 0.0, 1.0
    while float(profile(np.array([high]))[0]) > FLAT:
        low, high = high, 2 * high
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if float(profile(np.array([middle]))[0]) <= FLAT else (middle, high)
    return high


def composed(one: Losses, times: int, delta: float) -> LossCurve:
    """Return the profile of `times` mechanisms, each with these losses, for δ from 1 down to about `delta`."""
    if times == 1:
        place = _grid(one.first, one.first + len(one.mass), one.interval)
        return LossCurve((SummedLosses(place[place > 0], one.mass[place > 0], one.infinite),))
    return LossCurve(tuple(_summed(one, times, level) for level in (delta, delta**0.5, LARGEST)))


def _summed(one: Losses, times: int, delta: float) -> SummedLosses:
    """Return the masses of the sum of `times` losses, for δ of the order of `delta`.

    The convolution is circular, over losses up to `top`, of the masses m(x) e^(θx) / Z with Z = Σ m(x) e^(θx): then
    rounding errors are relative to masses of the order of `delta`, not to 1.  Mass above `top` is at most
    Z^k e^(-θ top) for any θ [Chernoff 1952]: it becomes infinite.  What else leaves the window comes back inside it,
    and is counted where it does not belong: that raises the profile.
    """
    infinite = -float(np.expm1(times * np.log1p(-one.infinite)))
    top = _chernoff(one, times, BEYOND * delta)[1]
    order = _chernoff(one, times, delta)[0]
    last = max(int(np.ceil(top / one.interval)), 1)
    size = 1 << (2 * last).bit_length()
    exponent = order * one.interval * (one.first + np.arange(len(one.mass)))
    log_total = one.log_moment(order)
    tilted = np.zeros(size)
    np.add.at(tilted, (one.first + np.arange(len(one.mass))) % size, one.mass * np.exp(exponent - log_total))
    transform = np.fft.rfft(tilted)
    power = transform**times
    # each of log2(size) stages adds at most a few units of what is at most Σ tilted = 1; then raised to a power
    error = 8 * UNIT * np.log2(size)
    sizes: Floats = np.abs(transform) + error
    spread = 2 * float(np.mean(np.power(sizes, times - 1)))
    wrong = (times + 2) * error * spread
    places = np.arange(1, last + 1)
    sums = np.fft.irfft(power, size)
    found = np.maximum(sums[places % size], 0) + wrong
    # rounding of the exponents: of a few thousand, to a relative 1e-16
    back = np.exp(np.minimum(times * log_total - order * one.interval * places, 700)) * (1 + 1e-10)
    # no mass is above 1, whatever is bounded badly far from `delta`
    return SummedLosses(_grid(1, last + 1, one.interval), np.minimum(found * back, 1.0), infinite + BEYOND * delta)


def _chernoff(one: Losses, times: int, delta: float) -> tuple[float, float]:
    """Return an order θ and a loss x with Z(θ)^k e^(-θ x) <= delta, x about the smallest."""
    # only where the bound is evaluated depends on the search; the bound holds at any order
    low, high, orders, losses, best = -7.0, 9.0, np.ones(1), [0.0], 0
    for _ in range(4):
        orders = np.exp(np.linspace(low, high, 24))
        losses = [(times * one.log_moment(float(order)) - np.log(delta)) / order for order in orders]
        best = int(np.argmin(losses))
        low, high = (float(np.log(orders[at])) for at in (max(best - 1, 0), min(best + 1, len(orders) - 1)))
    return float(orders[best]), max(float(losses[best]), one.interval) * (1 + 1e-12)


def _grid(first: int, end: int, interval: float) -> Floats:
    return np.arange(first, end, dtype=np.float64) * interval


def _suffix_sums(values: NDArray[Any]) -> NDArray[Any]:
    """Return Σ values[i:] for i from 0 to their number."""
    return np.concatenate([np.cumsum(values[::-1])[::-1], np.zeros(1, dtype=values.dtype)])
