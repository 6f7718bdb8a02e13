"""Beds and boxes that laws of a column on [0, 1] are drawn from, by a generator of whoever draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import beta, norm, uniform
from smooth_density import Mixture


def drawn(rng: np.random.Generator, low: float, high: float) -> float:
    """Return a number between two, to three digits."""
    return round(float(rng.uniform(low, high)), 3)


def bed(rng: np.random.Generator) -> Any:
    """Return an even law, a beta law or a hill."""
    kind = int(rng.integers(3))
    if kind == 0:
        return uniform()
    if kind == 1:
        return beta(drawn(rng, 1, 4), drawn(rng, 1, 4))
    return norm(drawn(rng, 0.2, 0.8), drawn(rng, 0.12, 0.3))


def boxes(rng: np.random.Generator, most: int) -> Mixture:
    """Return a bed with one box or several, at most so many, which begin and end inside."""
    many = int(rng.integers(1, most + 1))
    each = [(drawn(rng, 0.05, 0.5) / many, uniform(drawn(rng, 0.05, 0.6), drawn(rng, 0.08, 0.35))) for _ in range(many)]
    return Mixture(((1 - sum(part for part, _ in each), bed(rng)), *each))
