"""Tests (b) and (d) of the contract for noise that is one vector, done once for each law in a process and then kept.

Coordinates of a vector are not independent, so that they are no sample of their own law; radius and direction are
tested in their place.  Of a law of X with density proportional to exp(-|X| / scale) in k dimensions, the sum of n radii
is Gamma(n k) times the scale; with c a coordinate over the radius, (1 + c) / 2 is Beta((k - 1) / 2, (k - 1) / 2).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.noise.exact_vectors import draw_vectors
from tacit.noise.spherical import SphericalLaplace
from tacit.testing.noise_law_test import FALSE_ALARM

COORDINATES: Final = 12_000
"""Coordinates of a sample: the mean radius is then known to .9%, and a scale 10% off is 10 deviations away."""
FEWEST: Final = 400
"""Fewest vectors of a sample, for their directions."""


@lru_cache(maxsize=64)
def vectors(law: SphericalLaplace) -> NDArray[np.int64]:
    """Return two independent samples, the same ones in each call; shape (2, vectors, dimension), read-only."""
    many = max(FEWEST, COORDINATES // law.dimension)
    made = np.array(draw_vectors(law, 2 * many), dtype=np.int64).reshape(2, many, law.dimension)
    # the cache hands out one array
    made.flags.writeable = False
    return made


def p_value(sample: NDArray[np.int64], law: SphericalLaplace) -> float:
    """Return a bound on the p-value of vectors, shape (vectors, dimension), under a law of many steps.

    >>> from fractions import Fraction
    >>> law, rng = SphericalLaplace(Fraction(10**6), 3), np.random.default_rng(0)
    >>> drawn = law.sample(12_000, rng).reshape(-1, 3)
    >>> p_value(drawn, law) > 1e-3, p_value(drawn, SphericalLaplace(Fraction(11 * 10**5), 3)) < 1e-9
    (True, True)
    """
    from scipy.special import betainc, gammainc, gammaincc  # pyright: ignore
    from scipy.stats import kstest  # pyright: ignore

    k, radius = law.dimension, np.linalg.norm(sample.astype(np.float64), axis=1)
    total = float(radius.sum()) / float(law.scale)
    sides = float(gammainc(len(radius) * k, total)), float(gammaincc(len(radius) * k, total))
    found = [2 * min(sides)]
    if k > 1:
        # of a coordinate chosen beforehand
        cosine = sample[:, 0] / np.maximum(radius, 1e-300)
        found.append(float(kstest(betainc((k - 1) / 2, (k - 1) / 2, (1 + cosine) / 2), "uniform").pvalue))  # pyright: ignore
    return min(1.0, len(found) * min(found))


@lru_cache(maxsize=4096)
def wrong_vectors(law: SphericalLaplace) -> tuple[str, ...]:
    """Run (b): return failures where noise does not follow the law, or a scale 10% off would not be noticed."""
    sample = vectors(law)[0]
    failures: list[str] = []
    if p_value(sample, law) <= FALSE_ALARM / 2:
        failures.append(f"(b) the noise is not {law}")
    if p_value(sample, replace(law, scale=law.scale * 11 / 10)) > FALSE_ALARM / 2:
        failures.append(f"(b) a scale 10% off {law} was not noticed with {len(sample)} vectors")
    return tuple(failures)
