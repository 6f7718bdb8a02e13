"""Samples of a law's noise, and what they say of it, once a process: (b) and (d) of the contract of added noise.

Every mechanism that adds noise draws it by one function (`noise.exact.draw`; `tests/mechanisms/test_one_noise.py`
holds them to it), so that a law is as good in one mechanism as in another: it is sampled and tested once, however many
parts of however many questions have it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.method.shared.mechanism_additive import protect
from tacit.noise.laws import Law
from tacit.testing.audit import epsilon_lower_bound
from tacit.testing.noise_law_test import noise_law

CONFIDENCE = 1 - 1e-6
"""Of each lower bound on epsilon."""


def sampled(law: Law, size: int) -> NDArray[np.int64]:
    """Fresh draws, shape (size,), as a mechanism makes them."""
    return np.array(protect(((0,) * size,), law)[0], dtype=np.int64)


@lru_cache(maxsize=64)
def samples(law: Law, draws: int) -> NDArray[np.int64]:
    """Two independent samples of a law, the same ones each time; shape (2, draws), not to be written to."""
    made = np.stack([sampled(law, draws), sampled(law, draws)])
    made.flags.writeable = False
    return made


@lru_cache(maxsize=4096)
def wrong_law(law: Law, draws: int) -> tuple[str, ...]:
    """(b): what shows that the noise added is not that of the law, or that a scale 10% off would not be noticed."""
    noise = samples(law, draws)[0]
    failures: list[str] = []
    if not noise_law(lambda size: noise[:size], law, draws=draws).passed:
        failures.append(f"(b) the noise is not {law}")
    wider: Law = type(law)(law.scale * 11 / 10)  # type: ignore  # pyright: ignore
    if noise_law(lambda size: noise[:size], wider, draws=draws).passed:
        failures.append(f"(b) a scale 10% off {law} was not noticed with {draws} draws")
    return tuple(failures)


@lru_cache(maxsize=4096)
def proven_epsilon(law: Law, apart: int, delta: float, draws: int) -> float:
    """(d): what samples prove of an integer that is 0 in one table and `apart` in its neighbour."""
    near, far = samples(law, draws)
    return epsilon_lower_bound(near, moved(far, apart), delta, CONFIDENCE)


def moved(noise: NDArray[np.int64], apart: int) -> NDArray[np.int64]:
    """An integer and its noise, held within 64 bits as a release holds it."""
    ends = np.iinfo(np.int64)
    lowest, highest = ends.min + max(0, -apart) + 1, ends.max - max(0, apart)
    return np.clip(noise, lowest, highest) + apart
