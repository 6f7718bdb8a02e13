"""Tests (b) and (d) of the contract of added noise, done once for each law in a process and then kept.

Every mechanism that adds noise draws it by one function, `mechanism_additive.protect`
(`tests/mechanisms/test_one_noise.py` checks this).  What is found for a law therefore holds in every mechanism, so each
law is sampled and tested once, for all parts of all queries that use it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.shared.mechanism_additive import protect
from tacit.noise.laws import Law
from tacit.noise.product import ProductLaplace
from tacit.noise.spherical import SphericalLaplace
from tacit.testing import column_samples
from tacit.testing.audit import epsilon_lower_bound
from tacit.testing.noise_law_test import noise_law
from tacit.testing.vector_samples import vectors, wrong_vectors

CONFIDENCE = 1 - 1e-6
"""Confidence of each lower bound on epsilon."""
ENOUGH = 40_000
"""Fewest draws of (b): a scale 10% off Laplace noise is missed with probability below 1e-9; with 20,000 below 1e-4."""


def sampled(law: Law, size: int) -> NDArray[np.int64]:
    """Return fresh draws by the function that mechanisms call; shape (size,)."""
    # noise on zeros is the noise itself
    return np.array(protect(((0,) * size,), law)[0], dtype=np.int64)


@lru_cache(maxsize=64)
def samples(law: Law, draws: int) -> NDArray[np.int64]:
    """Return two independent samples of a law, the same ones in each call; shape (2, draws), read-only."""
    made = np.stack([sampled(law, draws), sampled(law, draws)])
    # the cache hands out one array
    made.flags.writeable = False
    return made


@lru_cache(maxsize=4096)
def wrong_law(law: Law, draws: int) -> tuple[str, ...]:
    """Run (b): return failures where noise does not follow the law, or a scale 10% off would not be noticed."""
    if isinstance(law, SphericalLaplace):
        return wrong_vectors(law)
    if isinstance(law, ProductLaplace):
        return column_samples.wrong_columns((law, *column_samples.others(law)))
    draws = max(draws, ENOUGH)
    noise = samples(law, draws)[0]
    failures: list[str] = []
    if not noise_law(lambda size: noise[:size], law, draws=draws).passed:
        failures.append(f"(b) the noise is not {law}")
    wider = cast(Law, replace(cast(Any, law), scale=law.scale * 11 / 10))
    if noise_law(lambda size: noise[:size], wider, draws=draws).passed:
        failures.append(f"(b) a scale 10% off {law} was not noticed with {draws} draws")
    return tuple(failures)


@lru_cache(maxsize=4096)
def proven_epsilon(law: Law, apart: int, delta: float, draws: int) -> float:
    """Run (d): return the epsilon proven by samples for an integer that is 0 in one table and `apart` in the other."""
    if isinstance(law, SphericalLaplace):
        # one coordinate of each vector: `contract.whole` tries the rest
        near, far = vectors(law)[:, :, 0]
    elif isinstance(law, ProductLaplace):
        # one integer of a column: `column_samples.proven_together` tries all
        near, far = column_samples.columns((law, *column_samples.others(law)))[0][:, :, 0]
    else:
        near, far = samples(law, draws)
    return epsilon_lower_bound(near, moved(far, apart), delta, CONFIDENCE)


def moved(noise: NDArray[np.int64], apart: int) -> NDArray[np.int64]:
    """Return noise plus an integer, clipped to 64 bits as in a release."""
    ends = np.iinfo(np.int64)
    lowest, highest = ends.min + max(0, -apart) + 1, ends.max - max(0, apart)
    return np.clip(noise, lowest, highest) + apart
