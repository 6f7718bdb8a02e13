"""Laws of a positive response over its mean: four kinds, each with mean 1 and variance s.  No data here.

Which of them a table follows cannot be told from a noisy release.  As for counts (`method.regression.count_laws`) a
correction is computed for each kind, and where they disagree the disagreement is part of the standard error.  A law is
a gamma law of variance `spread`, its mean multiplied by a factor of mean 1 that differs from row to row; the variances
satisfy 1 + s = (1 + spread) (1 + that of the factor).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np

from tacit.method.regression.bounded_scores.count_laws import CountLaw, Kind, few_large, many_zeros

OF_FACTOR: Final = 0.75
"""Part of the logarithm of 1 + s that a log-normal factor has; the rest is the gamma law's."""
NODES: Final = 9
"""Values of a log-normal factor, by Gauss-Hermite quadrature."""
LEAST: Final = 0.02
"""Smallest variance of the response over its mean that is assumed: a coefficient of variation of 14%."""
POSITIVE_SPREADS: Final = np.array([LEAST, 0.06, 0.15, 0.3, 0.6, 1.0, 1.6, 2.5, 4.0])
"""Variances that are compared."""


def gamma(s: float) -> CountLaw:
    """Return the gamma law of variance s."""
    return CountLaw(max(s, LEAST))


def log_normal(s: float) -> CountLaw:
    """Return a law whose right tail is about log-normal.

    >>> law = log_normal(1.0)
    >>> round(sum(w * f for w, f in zip(law.shares, law.factors, strict=True)), 6)
    1.0
    """
    places, mass = np.polynomial.hermite_e.hermegauss(NODES)
    variance = OF_FACTOR * math.log1p(max(s, LEAST))
    factors = np.exp(math.sqrt(variance) * places - variance / 2)
    shares = mass / mass.sum()
    factors = factors / float(shares @ factors)
    return CountLaw(math.expm1(math.log1p(max(s, LEAST)) - variance), tuple(shares.tolist()), tuple(factors.tolist()))


def some_zeros(s: float) -> CountLaw:
    """Return a gamma law with a share of zeros."""
    return _with_half(many_zeros, s)


def some_large(s: float) -> CountLaw:
    """Return a gamma law in which one row of ten has a larger mean."""
    return _with_half(few_large, s)


def _with_half(kind: Kind, s: float) -> CountLaw:
    """Return the law of a factor that has half of the logarithm of 1 + s, and a gamma law of the other half."""
    half = math.expm1(math.log1p(max(s, LEAST)) / 2)
    return replace(kind(half), spread=half)


POSITIVE_KINDS: Final[tuple[Kind, ...]] = gamma, log_normal, some_zeros, some_large
"""Kinds of law by their variance s; the first is the one that corrections assume."""
