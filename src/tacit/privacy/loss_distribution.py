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
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Profile = Callable[[Floats], Floats]

UNIT: Final = 2.0**-53
ACCURACY: Final = 4e-15
"""Profiles are computed to within this; the complement is lowered by as much."""
FLAT: Final = 1e-16
"""The grid of one step ends where the profile is below this; what lies beyond becomes an infinite loss."""
BEYOND: Final = 1e-4
"""Losses so large that they have at most this share of the δ of interest become infinite."""


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
class LossCurve:
    """Upper bounds on a profile at every ε >= 0: of losses `losses` > 0 with at most `mass`, and of `infinite` ones.

    Adequate down to a δ of about BEYOND times what it was made for.
    """

    losses: Floats
    mass: Floats
    infinite: float

    def delta(self, epsilon: Floats | float) -> Floats:
        """Return δ at each ε >= 0, never below the truth."""
        at = np.searchsorted(self.losses, epsilon, side="right")
        above, weighted = self._above()
        found = self.infinite + above[at] - np.exp(epsilon) * weighted[at]
        # sums of up to a million terms, subtracted: their rounding is far below a relative 1e-9 of the larger one
        return np.minimum(1.0, found * (1 + 1e-9) + 1e-12 * above[at])

    def epsilon(self, delta: float) -> float:
        """Return an ε at which δ holds, never below the smallest; infinity where none is found."""
        if delta <= self.infinite:
            return float("inf")
        points = np.concatenate([[0.0], self.losses])
        # δ decreases: the first point at which it holds
        holds = self.delta(points) <= delta
        first = int(np.argmax(holds)) if bool(holds.any()) else len(points)
        if first in (0, len(points)):
            return 0.0 if first == 0 else float("inf")
        low, high = float(points[first - 1]), float(points[first])
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if float(self.delta(middle)) <= delta else (middle, high)
        return high

    def _above(self) -> tuple[Floats, Floats]:
        """Return, for each i and for the end, Σ mass and Σ mass e^-loss over the losses from the i-th on."""
        weighted = self.mass * np.exp(-self.losses)
        return _suffix_sums(self.mass), _suffix_sums(weighted)


def connect_the_dots(forward: Profile, backward: Profile, interval: float) -> Losses:
    """Return the losses of the pair that connects the dots of a profile, which is given where ε >= 0 in both orders.

    forward: h of (P, Q), an array for an array of ε >= 0; backward: h of (Q, P).  Both are correct to ACCURACY.

    Below 0 the profile of (P, Q) is 1 - e^ε (1 - h(-ε)) with h of (Q, P).  The grid ends where both are below FLAT.
    Losses below it are raised to its first point, those above it become infinite: both raise the profile.
    """
    first, last = -int(np.ceil(_reach(backward) / interval)), int(np.ceil(_reach(forward) / interval))
    # extended precision, where a machine has it: slopes are differences, and are taken of what is small
    above = np.asarray(forward(np.arange(last + 1) * interval), dtype=np.longdouble)
    below = np.asarray(backward(np.arange(-first, 0, -1) * interval), dtype=np.longdouble)
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
    """Return the profile of `times` mechanisms, each with these losses, for δ of the order of `delta`.

    The convolution is circular, over losses up to `top`, of the masses m(x) e^(θx) / Z with Z = Σ m(x) e^(θx): then
    rounding errors are relative to masses of the order of `delta`, not to 1.  Mass above `top` is at most
    Z^k e^(-θ top) for any θ [Chernoff 1952]: it becomes infinite.  What else leaves the window comes back inside it,
    and is counted where it does not belong: that raises the profile.
    """
    from scipy import fft

    infinite = -float(np.expm1(times * np.log1p(-one.infinite)))
    if times == 1:
        place = one.interval * (one.first + np.arange(len(one.mass)))
        return LossCurve(place[place > 0], one.mass[place > 0], infinite)
    top = _chernoff(one, times, BEYOND * delta)[1]
    order = _chernoff(one, times, delta)[0]
    last = max(int(np.ceil(top / one.interval)), 1)
    size = int(fft.next_fast_len(2 * last + 1, real=True))
    exponent = order * one.interval * (one.first + np.arange(len(one.mass)))
    log_total = one.log_moment(order)
    tilted = np.zeros(size)
    np.add.at(tilted, (one.first + np.arange(len(one.mass))) % size, one.mass * np.exp(exponent - log_total))
    transform = fft.rfft(tilted)
    power = transform**times
    # each of log2(size) stages adds at most a few units of what is at most Σ tilted = 1; then raised to a power
    error = 8 * UNIT * np.log2(size)
    spread = 2 * float(np.mean((np.abs(transform) + error) ** (times - 1)))
    wrong = (times + 2) * error * spread
    places = np.arange(1, last + 1)
    found = np.maximum(fft.irfft(power, size)[places % size], 0) + wrong
    # rounding of the exponents: of a few thousand, to a relative 1e-16
    back = np.exp(times * log_total - order * one.interval * places) * (1 + 1e-10)
    return LossCurve(one.interval * places, found * back, infinite + BEYOND * delta)


def _chernoff(one: Losses, times: int, delta: float) -> tuple[float, float]:
    """Return an order θ and a loss x with Z(θ)^k e^(-θ x) <= delta, x about the smallest."""
    from scipy.optimize import minimize_scalar

    def loss(log_order: float) -> float:
        order = float(np.exp(log_order))
        return (times * one.log_moment(order) - np.log(delta)) / order

    # only where the bound is evaluated depends on the search; the bound holds at any order
    best = float(minimize_scalar(loss, bounds=(-7.0, 9.0), method="bounded", options={"xatol": 1e-4}).x)
    return float(np.exp(best)), max(loss(best), one.interval) * (1 + 1e-12)


def _suffix_sums(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return Σ values[i:] for i from 0 to their number."""
    return np.concatenate([np.cumsum(values[::-1])[::-1], np.zeros(1, dtype=values.dtype)])
