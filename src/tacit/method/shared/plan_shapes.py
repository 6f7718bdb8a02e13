"""Laws on [0, 1] that have one mean and one standard deviation: what is not known of a column of which both are told.

Plans of quantiles need the density of values at the quantile, which neither says.  The laws are skewed to either side,
short- and long-tailed, of two clusters, or heaped at a bound; each is moved and stretched until it has the mean and
the standard deviation once it is cut to [0, 1].  What cannot have them is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import special
from tacit.method.shared.plan_shares import Spread

POINTS: Final = 4_001
"""Probabilities at which a law is kept; a cell of 4,000 rows has its outermost quantiles between them."""
ROUNDS: Final = 200
CLOSE: Final = 0.05
"""A law is kept where its mean is within this part of the standard deviation, and so is its standard deviation."""
LEAST: Final = 0.1
"""Smallest share of a heap at a bound, and of what is not in it."""
AWAY: Final = 0.12
"""Spread of a cluster, in the distance of two clusters."""


@dataclass(frozen=True)
class Tabled:
    """A law on [0, 1] by its quantiles at evenly spaced probabilities, shape (POINTS,)."""

    quantiles: Array
    uniform: bool = False

    def at(self, p: Array) -> Array:
        """Return the quantiles of probabilities p, of the shape of p."""
        grid = np.linspace(0, 1, len(self.quantiles))
        return np.interp(np.clip(p, 0.0, 1.0), grid, self.quantiles)


@lru_cache(maxsize=256)
def laws_of(mean: float, sd: float) -> tuple[Tabled, ...]:
    """Return laws on [0, 1] with this mean and standard deviation; none where they are 0 or what only bounds have.

    >>> len(laws_of(0.3, 0.1)), [round(float(one.at(np.array(0.5))), 2) for one in laws_of(0.3, 0.1)[:5]]
    (11, [0.3, 0.3, 0.3, 0.28, 0.27])
    """
    if sd <= 0:
        return ()
    made = [_with(shape, mean, sd) for shape in _shapes()]
    upper = _heaped(1 - mean, sd)
    made += [_heaped(mean, sd), None if upper is None else 1 - upper[::-1]]
    return tuple(Tabled(one) for one in made if one is not None)


def widths(law: Spread, p: float, reach: float) -> tuple[float, float] | None:
    """Return the least and the largest length between the quantiles of p - reach and p + reach; None of no law."""
    if law.uniform or not law.sd > 0:
        return None
    ends = np.array([p - reach, p + reach])
    every = [law, *laws_of(law.mean, law.sd)]
    lengths = [float(np.diff(one.at(ends))[0]) for one in every]
    return min(lengths), max(lengths)


@lru_cache(maxsize=1)
def _shapes() -> tuple[Array, ...]:
    """Return quantiles of laws of mean 0 and standard deviation 1."""
    p = (np.arange(POINTS) + 0.5) / POINTS
    normal = np.asarray(special().ndtri(p), dtype=np.float64)
    skewed = [np.asarray(special().gammaincinv(a, p), dtype=np.float64) for a in (4.0, 1.0)] + [np.exp(normal)]
    # three times as wide for one in ten
    long = np.sort(np.concatenate([normal[::10] * 3, np.delete(normal, np.s_[::10])]))
    two = [_clusters(share) for share in (0.3, 0.7)]
    made = [normal, p, long, *skewed, *(-one[::-1] for one in skewed), *two]
    return tuple((one - one.mean()) / one.std() for one in made)


def _clusters(share: float) -> Array:
    """Return sorted values of two clusters, with this share in the lower one."""
    first = round(share * POINTS)
    each = [np.asarray(special().ndtri((np.arange(k) + 0.5) / k), dtype=np.float64) for k in (first, POINTS - first)]
    return np.sort(np.concatenate([AWAY * each[0], 1 + AWAY * each[1]]))


def _heaped(mean: float, sd: float) -> Array | None:
    """Return an exponential law with a heap at 0 that has a mean and a standard deviation; None without room for one.

    With a share z of zeros the mean is (1 - z) c and the mean square 2 (1 - z) c**2, which gives z.
    """
    share = (sd**2 - mean**2) / (sd**2 + mean**2)
    if not LEAST <= share <= 1 - LEAST:
        return None
    p = (np.arange(POINTS) + 0.5) / POINTS
    shape = np.where(p < share, 0.0, -np.log1p(-np.clip((p - share) / (1 - share), 0, 1)))
    scale = mean / float(shape.mean())
    for _ in range(ROUNDS):
        scale *= mean / max(float(np.clip(scale * shape, 0.0, 1.0).mean()), 1e-9)
        if not scale < 1e6:
            return None
    return np.clip(scale * shape, 0.0, 1.0)


def _with(shape: Array, mean: float, sd: float) -> Array | None:
    """Move and stretch a law until it has a mean and a standard deviation on [0, 1]; None where it cannot."""
    place, scale = mean, sd
    for _ in range(ROUNDS):
        made = np.clip(place + scale * shape, 0.0, 1.0)
        off, own = mean - float(made.mean()), float(made.std())
        if abs(off) < CLOSE * sd / 5 and abs(own - sd) < CLOSE * sd / 5:
            break
        # cut laws answer less than they are moved: a fixed point all the same
        place, scale = place + off, scale * (sd / own if own > 0 else 2.0)
        if not scale < 1e6:
            return None
    made = np.clip(place + scale * shape, 0.0, 1.0)
    close = abs(float(made.mean()) - mean) < CLOSE * sd and abs(float(made.std()) - sd) < CLOSE * sd
    return made if close else None
