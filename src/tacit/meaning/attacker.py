"""What the best attacker can do against a promise: tests, guesses, odds.  Upper bounds, from its δ at each ε.

The attacker knows every other row, has any amount of computing, and wants to know which of two neighbouring tables is
the real one.  `Floats` are arrays of shape (n,).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.meaning.promise import Promise

Floats: TypeAlias = NDArray[np.float64]


def least_misses(promise: Promise, false_alarms: Floats) -> Floats:
    """Return the trade-off function: below which share of misses no test of that share of false alarms comes.

    For every ε, misses >= 1 - δ(ε) - e^ε α and >= e^-ε (1 - δ(ε) - α), α the share of false alarms [Wasserman & Zhou
    2010; Dong, Roth & Su 2022, Proposition 2.5]; the bound is the largest of these.

    >>> from fractions import Fraction
    >>> [round(float(x), 4) for x in least_misses(Promise(pure=Fraction(1)), np.array([0, 0.05, 0.5]))]
    [1.0, 0.8641, 0.1839]
    """
    losses, deltas = _profile(promise)
    alpha = false_alarms[:, None]
    grown = np.exp(losses)
    first = 1 - deltas - grown * alpha
    second = (1 - deltas - alpha) / grown
    return np.maximum(np.maximum(first, second).max(axis=1), 0.0)


def largest_power(promise: Promise, false_alarms: Floats) -> Floats:
    """Return the largest share of true alarms that a test of each share of false alarms can have."""
    return 1 - least_misses(promise, false_alarms)


def advantage(promise: Promise) -> float:
    """Return the largest difference between true and false alarms over all tests: the total variation, δ(0)."""
    return promise.delta(0.0)


def right(promise: Promise, prior: float = 0.5) -> float:
    """Return the largest probability of guessing a yes or no right whose probability beforehand is `prior`.

    With p = min(prior, 1 - prior): min over tests of (1 - p) α + p β is p (1 - δ(ln((1 - p)/p))), as δ at ε is the
    largest P(A) - e^ε Q(A).

    >>> from fractions import Fraction
    >>> round(right(Promise(pure=Fraction(1))), 4), right(Promise(pure=Fraction(1)), 0.01)
    (0.7311, 0.99)
    """
    p = min(prior, 1 - prior)
    return 1.0 if p == 0 else 1 - p * (1 - promise.delta(math.log((1 - p) / p)))


def found_among(promise: Promise, secrets: int) -> float:
    """Return the largest probability of guessing which of `secrets` equally likely values a row (person) has.

    Any two values make neighbouring tables.  Let s be the probability; P_i(guess i) <= e^ε P_j(guess i) + δ(ε),
    averaged over all pairs i, j that differ, is s <= e^ε (1 - s) / (m - 1) + δ(ε), m = secrets.

    >>> from fractions import Fraction
    >>> round(found_among(Promise(pure=Fraction(1)), 10), 4)  # e / (9 + e)
    0.232
    """
    losses, deltas = _profile(promise)
    # e^ε / (m - 1)
    grown = np.exp(losses - math.log(secrets - 1)) if secrets > 1 else np.full_like(losses, np.inf)
    with np.errstate(invalid="ignore"):
        found = np.where(np.isinf(grown), 1.0, (deltas + grown) / (1 + grown))
    return float(min(1.0, found.min()))


def odds_factor(promise: Promise, except_with: float = 0.0) -> float:
    """Return ln of the factor beyond which a suspicion's odds move with probability at most `except_with`.

    For any s below t, δ(s) >= E (1 - e^(s - L))+ >= (1 - e^(s - t)) P(L > t), L the privacy loss.  So t is the least
    s - ln(1 - δ(s) / except_with) over s.  With except_with = 0 it is the ε beyond which δ is 0: infinite except for
    pure promises.

    >>> from fractions import Fraction
    >>> odds_factor(Promise(pure=Fraction(1))), odds_factor(Promise(rho=Fraction(1, 10)))
    (1.0, inf)
    """
    losses, deltas = _profile(promise)
    if except_with == 0:
        none = losses[deltas == 0]
        return float(none.min()) if len(none) else math.inf
    told = deltas < except_with
    if not told.any():
        return math.inf
    return float((losses[told] - np.log1p(-deltas[told] / except_with)).min())


def posterior(promise: Promise, prior: float, except_with: float = 0.0) -> tuple[float, float]:
    """Return the least and largest probability of a suspicion afterwards, of `prior` before; `odds_factor`.

    >>> from fractions import Fraction
    >>> [round(x, 4) for x in posterior(Promise(pure=Fraction(1)), 0.01)]
    [0.0037, 0.0267]
    """
    if prior in (0.0, 1.0):
        return prior, prior
    factor = odds_factor(promise, except_with)
    odds = math.log(prior) - math.log1p(-prior)
    return _logistic(odds - factor), _logistic(odds + factor)


def _logistic(x: float) -> float:
    """Return the probability of log-odds x, which may be infinite."""
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


@lru_cache(maxsize=64)
def _profile(promise: Promise) -> tuple[Floats, Floats]:
    """Return the grid of ε and the bound on δ at each."""
    losses = promise.losses()
    return np.array(losses), np.array([promise.delta(one) for one in losses])
