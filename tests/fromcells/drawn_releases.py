"""Releases of histograms made of given counts, with simulated noise; and what few simulations may show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import binom

import tacit as tc
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.release.simulated import SimulatedRelease
from tacit.testing.simulate import add_noise, shaped

EXACT = 1_000
"""A price at which a count has no noise, but for one in 10**200."""
M = 150
ALARM = 1e-8
LEAST = int(binom.ppf(ALARM, M, 0.94))
"""Of M intervals that cover with probability 0.94 or more, fewer hold the truth with a probability below ALARM."""


def shape_of(
    columns: dict[str, Any], bins: dict[str, Any], n: int, epsilon: float, neighbors: str = "replace-one"
) -> Any:
    query = tc.Histogram(list(columns), bins=bins)
    return shaped(query, tc.Schema(columns), neighbors, n, Cost.of(epsilon=epsilon))


def one(
    columns: dict[str, Any],
    bins: dict[str, Any],
    counts: Any,
    epsilon: float = EXACT,
    seed: int = 0,
    neighbors: str = "replace-one",
) -> SimulatedRelease:
    """One release of these counts."""
    k = np.asarray(counts, dtype=np.int64)
    shape = shape_of(columns, bins, int(k.sum()), epsilon, neighbors)
    rng = np.random.default_rng(seed)
    return simulated(shape, tuple(x[0] for x in add_noise(shape, (k.reshape(1, -1, 1),), rng)))


def many(
    columns: dict[str, Any],
    bins: dict[str, Any],
    p: Any,
    n: int,
    epsilon: float,
    sims: int = M,
    seed: int = 0,
    neighbors: str = "replace-one",
) -> Iterator[SimulatedRelease]:
    """Releases of tables drawn anew from the probabilities of the cells."""
    rng = np.random.default_rng(seed)
    shape = shape_of(columns, bins, n, epsilon, neighbors)
    chances = np.asarray(p, dtype=float).reshape(-1)
    for _ in range(sims):
        size = n if neighbors == "replace-one" else rng.poisson(n)
        counts = rng.multinomial(size, chances / chances.sum()).reshape(1, -1, 1)
        yield simulated(shape, tuple(x[0] for x in add_noise(shape, (counts,), rng)))
