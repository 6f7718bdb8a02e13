"""A lower bound on ε from samples of a mechanism's outputs on two neighbouring tables.  OUTSIDE.

An audit can refute a privacy claim but never establish one.  The bound is valid at its confidence for any two
distributions of the outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.noise.averaged_laplace import AveragedLaplace
from tacit.noise.laws import DiscreteLaplace, Law, RoundedNormal
from tacit.noise.spherical import SphericalLaplace

CUTS = 256
"""Number of thresholds that are tried on the halves of the samples that choose the event."""
ATOMS = 64
"""Number of single values that are tried on the same halves: the most frequent ones."""


class Events(NamedTuple):
    """Events {x: low <= x <= high}; both arrays have shape (events,)."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def counts(self, sample: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the number of outputs in each event; shape (events,)."""
        ordered = np.sort(sample)
        upto = np.searchsorted(ordered, self.high, side="right")
        return (upto - np.searchsorted(ordered, self.low, side="left")).astype(np.float64)


def epsilon_lower_bound(
    sample_p: NDArray[Any], sample_q: NDArray[Any], delta: float, confidence: float = 1 - 1e-6
) -> float:
    """Return a lower bound on the ε of any (ε, delta)-DP mechanism with these outputs; at least 0.

    The bound is wrong with probability at most 1 - `confidence`.  sample_p, sample_q: shape (draws,), independent
    outputs on two neighbouring tables, or a score of each output by a function chosen before the outputs are seen.  For
    every event S, e^ε >= (P(S) - δ) / Q(S), and the same with P and Q exchanged.  An event (a half-line or a single
    value) is chosen on one half of the draws; on the other half P(S) is bounded from below and Q(S) from above.
    [Clopper & Pearson 1934; four bounds, each at a quarter of the error]

    >>> rng = np.random.default_rng(1)
    >>> p, q = rng.laplace(0, 1, 100_000), rng.laplace(1, 1, 100_000)
    >>> 0.9 < epsilon_lower_bound(p, q, delta=0.0) <= 1
    True
    """
    p, q = np.asarray(sample_p, dtype=np.float64), np.asarray(sample_q, dtype=np.float64)
    if p.ndim != 1 or q.ndim != 1 or min(p.size, q.size) < 2:
        raise ValueError("an audit needs two samples of shape (draws,), two draws or more each")
    if not 0 <= delta < 1 or not 0 < confidence < 1:
        raise ValueError("an audit needs 0 <= delta < 1 and 0 < confidence < 1")
    error = (1 - confidence) / 4  # a lower and an upper bound in each of two directions
    bounds = [_one_way(p, q, delta, error), _one_way(q, p, delta, error)]
    # both directions hold together at `confidence`: the error was split among all four bounds
    return max(0.0, *bounds)


def losses(outputs: NDArray[np.int64], apart: Sequence[int], law: Law) -> NDArray[np.float64]:
    """Return the log-likelihood ratio of 0 against `apart` for noisy outputs, up to an increasing map; shape (draws,).

    outputs: k integers that are 0 or `apart`, plus noise of `law`, independent or one vector; shape (draws, k).
    apart: k integers.
    Thresholds of this ratio are the most powerful tests of one against the other [Neyman & Pearson 1933]; for rounded
    normal noise, which is treated as normal, only if its standard deviation is many steps.

    >>> from fractions import Fraction
    >>> losses(np.array([[0, 0], [3, 1]]), (2, 0), DiscreteLaplace(Fraction(1))).tolist()
    [2.0, -2.0]
    """
    x, far = outputs.astype(np.float64), np.array(apart, dtype=np.float64)
    if isinstance(law, SphericalLaplace):
        return np.linalg.norm(x - far, axis=1) - np.linalg.norm(x, axis=1)
    if isinstance(law, DiscreteLaplace):
        return (np.abs(x - far) - np.abs(x)).sum(axis=1)
    if isinstance(law, AveragedLaplace):
        return (np.log(law.pmf(x)) - np.log(law.pmf(x - far))).sum(axis=1)
    # terms that do not depend on x, and factors above 0, move no threshold's event
    return -x @ far  # normal: log ratio (|x - far|² - |x|²) / (2σ²) increases in this


def proven_by_scale(noise: NDArray[np.int64], apart: Sequence[int], law: Law, error: float) -> float:
    """Return a lower bound on what moving integers by `apart` costs, ε or for normal noise μ, given its form.

    noise: draws of k integers, shape (draws, k); their law has the form of `law`, and a scale of which nothing is
    believed.  Wrong with probability at most `error`.  In many dimensions hardly a draw lies where the loss is largest,
    so that no event proves much; but the loss follows from the scale, which all draws tell.  Rounding to whole steps
    widens the noise, and makes the bound smaller.

    Normal: squares along `apart` are σ² times chi-squared, μ = |apart| / σ.  Spherical Laplace: the sum of n radii is
    the scale times Gamma(n k), ε = |apart| / scale.  Discrete Laplace: n sizes |Z| >= 0 add up to less than
    n E|Z| - t with probability below exp(-t² / (2 n E Z²)) [Maurer 2003], ε is the l1 norm over the scale.

    >>> from fractions import Fraction
    >>> noise = np.random.default_rng(1).normal(0, 70, (5_000, 14)).round().astype(np.int64)
    >>> 0.95 < proven_by_scale(noise, (70,) + (0,) * 13, RoundedNormal(Fraction(100)), 1e-6) < 1
    True
    """
    from scipy.special import gammaincinv  # pyright: ignore[reportMissingTypeStubs]

    x, far = noise.astype(np.float64), np.array(apart, dtype=np.float64)
    n, k = x.shape
    if not far.any():
        return 0.0
    norm = float(np.linalg.norm(far))
    if isinstance(law, SphericalLaplace):
        return norm * float(gammaincinv(n * k, error)) / float(np.linalg.norm(x, axis=1).sum())
    if isinstance(law, RoundedNormal):
        # chi-squared of n degrees is twice Gamma(n / 2)
        square = float(((x @ far / norm) ** 2).sum())
        return norm * float(np.sqrt(2 * gammaincinv(n / 2, error) / square)) if square else 0.0
    if isinstance(law, DiscreteLaplace):
        return float(np.abs(far).sum()) / _widest_laplace(float(np.abs(x).mean()), x.size, error)
    return 0.0


def _widest_laplace(mean: float, draws: int, error: float) -> float:
    """Return the largest scale of discrete Laplace noise at which sizes of this mean are not too unlikely."""

    def least(scale: float) -> float:
        # E|Z| = 1 / sinh(1 / b) and E Z² = 1 / (2 sinh²(1 / (2 b)))
        square = 0.5 / np.sinh(0.5 / scale) ** 2
        return float(1 / np.sinh(1 / scale) - np.sqrt(2 * np.log(1 / error) * square / draws))

    low, high = 0.01, 1.0
    while least(high) < mean:
        low, high = high, 2 * high
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if least(middle) < mean else (low, middle)
    return high


def _one_way(p: NDArray[np.float64], q: NDArray[np.float64], delta: float, error: float) -> float:
    """Choose the event on the even draws; return a lower bound on log((P(S) - δ) / Q(S)) from the odd ones."""
    # The two halves share no draw, so the chosen event is fixed in advance for the bounds and needs no correction.
    events = _events(p[::2], q[::2])
    best = int(np.argmax(_proven(events, p[::2], q[::2], delta, error)))
    chosen = Events(events.low[best : best + 1], events.high[best : best + 1])
    return float(_proven(chosen, p[1::2], q[1::2], delta, error)[0])


def _events(p: NDArray[np.float64], q: NDArray[np.float64]) -> Events:
    """Return the candidate events: half-lines at quantiles of the pooled sample, and its most frequent values."""
    pooled = np.concatenate([p, q])
    # half-lines are the likelihood-ratio events of one noisy integer; atoms find a value that one table never gives
    cuts = np.unique(np.quantile(pooled, np.linspace(0, 1, CUTS + 2)[1:-1], method="nearest"))
    values, times = np.unique(pooled, return_counts=True)
    atoms = values[np.argsort(times, kind="stable")[::-1][:ATOMS]]
    endless = np.full(cuts.shape, np.inf)
    return Events(np.concatenate([-endless, cuts, atoms]), np.concatenate([cuts, endless, atoms]))


def _proven(
    events: Events, p: NDArray[np.float64], q: NDArray[np.float64], delta: float, error: float
) -> NDArray[np.float64]:
    """Return log((lower bound of P(S) - δ) / upper bound of Q(S)) of each event, -inf if not positive; (events,)."""
    # (ε, δ): P(S) <= e^ε Q(S) + δ, solved for ε at the bounds
    excess = clopper_pearson(events.counts(p), p.size, error)[0] - delta
    ceiling = clopper_pearson(events.counts(q), q.size, error)[1]
    with np.errstate(divide="ignore"):
        return np.where(excess > 0, np.log(np.maximum(excess, 0)) - np.log(ceiling), -np.inf)


def clopper_pearson(
    successes: NDArray[np.float64], trials: int, error: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return lower and upper bounds on probabilities, each wrong with chance at most `error`; shapes as `successes`."""
    from scipy.special import betaincinv  # pyright: ignore[reportMissingTypeStubs]

    k = successes
    # quantiles of beta laws; the arguments are kept above 0 where the result is not used
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), trials - k + 1, error), 0.0)
    high = np.where(k < trials, betaincinv(k + 1, np.maximum(trials - k, 1), 1 - error), 1.0)
    return low, high
