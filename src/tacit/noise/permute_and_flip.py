"""The distribution of permute-and-flip: a selection of one of many points by integer utilities.  No data here.

Points are visited in a random order, and each is accepted with probability exp(-rate * (best utility - its own)); the
first that is accepted is selected.  [McKenna & Sheldon 2020, Algorithm 1]  It is the largest utility with exponential
noise of scale 1 / rate added to each point's own [Ding et al. 2021].

At one rate it costs the same pure epsilon as the exponential mechanism, 2 * rate * sensitivity, and lies at least so
far from the best utility with no larger probability, whatever the distance (Theorem 2 there): with few points, up to
half as often; with very many of nearly equal utility, as often.  Its bounded range is larger: at prices in rho or mu**2
it costs more.  Draws that protect anybody come from `tacit.noise.select`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.noise.selection_law import Selection, check_rate

NODES: Final = 16
"""Nodes of the quadrature in each interval of times."""
MOST_TIMES: Final = 2**20
"""Most times that `sample` draws at once."""


@dataclass(frozen=True)
class PermuteAndFlip:
    """The law of the first accepted of points in random order, those of a run having one utility.

    `rate`, an exact positive rational: a point whose utility is lower by one is accepted less often by a factor
    exp(-rate).  Raises NoiseError N04 for any other value.

    >>> law = PermuteAndFlip(Fraction(1, 2))
    >>> law.pmf([0, 2], [1, 1]).round(4)  # exp(-1) / 2 is the probability of the worse of two points
    array([0.1839, 0.8161])
    """

    name: ClassVar[str] = "permute-and-flip"

    rate: Fraction

    @property
    def scale(self) -> Fraction:
        """Difference in utility that changes the probability of acceptance by a factor e: 1 / rate."""
        return 1 / self.rate

    def to_dict(self) -> dict[str, str]:
        """Return the law as plain values; `noise.stored_laws.law_from_dict` is the inverse."""
        return {"law": self.name, "scale": str(self.scale)}

    def __post_init__(self) -> None:
        check_rate(self.rate, "PermuteAndFlip")

    def pmf(self, utility: ArrayLike, points: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each run: floats of the shape of `utility`, which sum to 1.

        With points at independent uniform times t, a run of w points accepted with probability p each is first with
        probability w p * integral of prod_j (1 - p_j t)**w_j / (1 - p t) over 0 < t < 1.
        """
        u, w = np.asarray(utility, dtype=np.float64), np.asarray(points, dtype=np.float64)
        # runs of one utility share the integral
        kinds, kind = np.unique(u, return_inverse=True)
        p = np.exp(float(self.rate) * (kinds - kinds[-1]))
        many = np.bincount(kind, weights=w).astype(np.float64)
        t, weight = _times(max(1, math.ceil(math.log2(float(many @ p)))) + 1)
        none = np.exp(sum_of_logs(p, many, t)) * weight
        # far from the best the factor 1 / (1 - p t) is 1 in floats
        near = p > 2.0**-60
        integral = np.full(len(p), none.sum())
        integral[near] = (none / (1 - np.outer(p[near], t))).sum(axis=1)
        found = w * (p * integral)[kind]
        return found / found.sum()

    def sample(
        self, utility: ArrayLike, points: ArrayLike, size: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return seeded runs and positions within them, two arrays of shape (size,); they protect nobody."""
        u, w = np.asarray(utility, dtype=np.float64), np.asarray(points, dtype=np.int64)
        p = np.exp(float(self.rate) * (u - u.max()))
        rows = max(1, MOST_TIMES // u.size)
        # P(no point of a run is accepted before t) = (1 - p t)**w, solved for t at a uniform value; p = 0: never
        with np.errstate(divide="ignore"):
            first = [
                np.argmin(-np.expm1(np.log(rng.random((min(rows, size - i), u.size))) / w) / p, axis=1)
                for i in range(0, size, rows)
            ]
        run = np.concatenate([*first, np.zeros(0, dtype=np.int64)]).astype(np.int64)
        return run, rng.integers(w[run]).astype(np.int64)


SelectionLaw: TypeAlias = Selection | PermuteAndFlip
"""A law that selects a point."""
SELECTS: Final = (Selection, PermuteAndFlip)
"""The laws that select a point."""


def sum_of_logs(p: NDArray[np.float64], many: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of prod_j (1 - p_j t)**many_j at each time t."""
    near = p > 2.0**-60
    # of the others log(1 - p t) = -p t in floats
    return many[near] @ np.log1p(-np.outer(p[near], t)) - (many[~near] @ p[~near]) * t


@lru_cache(maxsize=64)
def _times(halvings: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nodes in (0, 1) and their weights, for integrands that fall about as exp(-2**halvings * t / 2)."""
    x, weight = np.polynomial.legendre.leggauss(NODES)
    # intervals that double, the first so short that the integrand is nearly constant there
    edges = np.concatenate([[0.0], 2.0 ** np.arange(-halvings, 1)])
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (1 + x)).ravel(), (half * weight).ravel()
