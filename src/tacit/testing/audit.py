"""A lower bound on ε from two samples: what a mechanism's outputs prove against it.  OUTSIDE.

An audit refutes a claim; it never establishes one.  The bound is valid at its confidence whatever the two laws are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.noise.laws import DiscreteLaplace, Law

CUTS = 256
"""Thresholds that are tried on the first halves of the samples."""
ATOMS = 64
"""Single values that are tried there, the most frequent ones."""


class Events(NamedTuple):
    """The sets {x: low <= x <= high}; both of shape (events,)."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def counts(self, sample: NDArray[np.float64]) -> NDArray[np.float64]:
        """How many outputs are in each; shape (events,)."""
        ordered = np.sort(sample)
        upto = np.searchsorted(ordered, self.high, side="right")
        return (upto - np.searchsorted(ordered, self.low, side="left")).astype(np.float64)


def epsilon_lower_bound(
    sample_p: NDArray[Any], sample_q: NDArray[Any], delta: float, confidence: float = 1 - 1e-6
) -> float:
    """An ε that any (ε, delta)-DP mechanism with these outputs must have, up to chance 1 - `confidence`; at least 0.

    sample_p, sample_q: shape (draws,), independent outputs on two neighbouring tables (or a score of each, a function
    chosen without looking).  For every event S, e^ε >= (P(S) - δ) / Q(S), and the same with P and Q exchanged.  An
    event (an interval without an end, or a single value) is chosen on one half of the draws; on the other half P(S) is
    bounded from below and Q(S) from above.  [Clopper & Pearson 1934; four bounds, each at a quarter of the error]

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
    error = (1 - confidence) / 4
    bounds = [_one_way(p, q, delta, error), _one_way(q, p, delta, error)]
    return max(0.0, *bounds)


def losses(outputs: NDArray[np.int64], apart: Sequence[int], law: Law) -> NDArray[np.float64]:
    """Of noise of `law` on integers that are 0 or `apart`: an increasing function of how likely it is 0; (draws,).

    outputs: shape (draws, k); apart: k.  That function tells 0 from `apart` best [Neyman & Pearson 1933]; of rounded
    normal noise as long as its standard deviation is many steps.

    >>> from fractions import Fraction
    >>> losses(np.array([[0, 0], [3, 1]]), (2, 0), DiscreteLaplace(Fraction(1))).tolist()
    [2.0, -2.0]
    """
    x, far = outputs.astype(np.float64), np.array(apart, dtype=np.float64)
    if isinstance(law, DiscreteLaplace):
        return (np.abs(x - far) - np.abs(x)).sum(axis=1)
    return -x @ far


def _one_way(p: NDArray[np.float64], q: NDArray[np.float64], delta: float, error: float) -> float:
    """Choose the event on the even draws, bound log((P(S) - δ) / Q(S)) on the odd ones."""
    events = _events(p[::2], q[::2])
    best = int(np.argmax(_proven(events, p[::2], q[::2], delta, error)))
    chosen = Events(events.low[best : best + 1], events.high[best : best + 1])
    return float(_proven(chosen, p[1::2], q[1::2], delta, error)[0])


def _events(p: NDArray[np.float64], q: NDArray[np.float64]) -> Events:
    pooled = np.concatenate([p, q])
    cuts = np.unique(np.quantile(pooled, np.linspace(0, 1, CUTS + 2)[1:-1], method="nearest"))
    values, times = np.unique(pooled, return_counts=True)
    atoms = values[np.argsort(times, kind="stable")[::-1][:ATOMS]]
    endless = np.full(cuts.shape, np.inf)
    return Events(np.concatenate([-endless, cuts, atoms]), np.concatenate([cuts, endless, atoms]))


def _proven(
    events: Events, p: NDArray[np.float64], q: NDArray[np.float64], delta: float, error: float
) -> NDArray[np.float64]:
    """Each event's log of (lower bound of P(S) - δ) / (upper bound of Q(S)), -inf where that is nothing; (events,)."""
    excess = clopper_pearson(events.counts(p), p.size, error)[0] - delta
    ceiling = clopper_pearson(events.counts(q), q.size, error)[1]
    with np.errstate(divide="ignore"):
        return np.where(excess > 0, np.log(np.maximum(excess, 0)) - np.log(ceiling), -np.inf)


def clopper_pearson(
    successes: NDArray[np.float64], trials: int, error: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper bounds on a probability, each wrong with chance at most `error`; shapes as `successes`."""
    from scipy.special import betaincinv  # pyright: ignore[reportMissingTypeStubs]

    k = successes
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), trials - k + 1, error), 0.0)
    high = np.where(k < trials, betaincinv(k + 1, np.maximum(trials - k, 1), 1 - error), 1.0)
    return low, high
