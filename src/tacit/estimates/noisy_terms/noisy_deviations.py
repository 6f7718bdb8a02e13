"""The variance of a table from one noisy integer, where the fourth moment was not released.

The noise is known exactly.  The sampling error is bounded by what a column between the public bounds can have.
"""

from __future__ import annotations

from typing import Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.noisy_terms.interval_inversion import LinearInversion
from tacit.estimates.terms import ColumnTerms
from tacit.release.parts import Grid, Part

NOTE: Final = "interval=False: standard errors are the largest that a column within these bounds can have"


def deviation_terms(part: Part, cells: Array, sampling: bool) -> ColumnTerms:
    """Return the terms of a part of the form `deviations`, integers of shape (m, 1).

    The integer k is floor(n S) in squared steps, S the variance with divisor n - 1: S = (k + 1/2) / n, off by 1 / 2n of
    a squared step at most.
    """
    grid = cast(Grid, part.grid)
    n, scale = part.parameters["rows"], (grid.upper - grid.lower) ** 2
    step = scale / part.parameters["G"] ** 2
    # of n values between the bounds, half are at each, or one more at one of them
    most = (n // 2) * (n - n // 2) / (n * (n - 1)) * scale
    value = np.clip((cells[:, 0] + 0.5) / n * step, 0.0, most)
    zero, loadings = np.zeros_like(value), np.full((len(value), 1), step / n)
    # where the noise hides a small variance, that of a variance as large as the noise
    seen = (value + step / n * np.sqrt(part.law.variance())) / scale
    variance = scale**2 * largest_variance(seen, n) if sampling else zero
    inversion = LinearInversion(value, variance, loadings, part.law, 0.0, most)
    return ColumnTerms(part.label, value, variance, zero, loadings, part.law, inversion, (None,) * len(value))


def largest_variance(t: Array, n: int) -> Array:
    """Return the largest variance of the sample variance of n values in [0, 1] of variance t.

    It is mu4 / n - t**2 (n - 3) / (n (n - 1)), mu4 the fourth central moment [Cramer 1946, 27.4.2].  With the mean m,
    t <= m (1 - m) (Bhatia & Davis 2000), so that no value is further than M = (1 + sqrt(1 - 4 t)) / 2 from it, and
    mu4 <= M**2 t.
    """
    t = np.minimum(t, 0.25)
    furthest = (1 + np.sqrt(1 - 4 * t)) / 2
    return furthest**2 * t / n - t**2 * (n - 3) / (n * (n - 1))
