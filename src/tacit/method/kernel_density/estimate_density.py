"""Kernel estimates as densities: curves of one column, and joint densities.  Plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.simplex import lowered_by
from tacit.estimates.densities.smooth_density import BEYOND
from tacit.method.kernel_density.estimate_kernel import DETAIL, KernelFit

PLACES: Final = 201
"""Places at which a band holds all at once."""
DRAWS: Final = 4_000
"""Draws of the joint error for a band: its level is then within .007 of what is said."""
SEED: Final = 2013


@dataclass(frozen=True)
class KernelCurve:
    """The density of one column: a kernel estimate of least estimated risk, and limits around another.

    fit: of the column alone.  unit: distance of two of its values, as part of the range; 0 of any real numbers.
    """

    fit: KernelFit
    unit: float = 0.0

    def series(self, t: Array) -> Array:
        """Return the estimate at places t in [0, 1], before it is made a density."""
        return self.fit.values(self.fit.chosen, t[:, None])

    def center(self, t: Array) -> Array:
        """Return the estimate that limits are around, of a degree more."""
        return self.fit.values(self.fit.limiting, t[:, None])

    def errors(self, t: Array) -> Array:
        """Return its standard errors, and what it is seen to be off by."""
        return np.sqrt(sum(self.fit.errors(self.fit.limiting, t[:, None])) + self._off(t) ** 2)

    def _off(self, t: Array) -> Array:
        """Return what the center of limits may be off by."""
        return self.fit.off(t, self.unit)

    def factor(self, level: float) -> float:
        """Return the factor of a band that holds on all of [0, 1]."""
        fit = self.fit
        weights = fit.full_weights(fit.limiting, np.linspace(0, 1, PLACES)[:, None])
        error = np.sqrt(np.diag(sum(fit.covariances(weights), np.zeros(()))))
        drawn = np.abs(fit.drawn(weights, DRAWS, np.random.default_rng(SEED)))
        largest = np.divide(drawn, error, out=np.zeros_like(drawn), where=error > 0).max(axis=1)
        return max(NormalDist().inv_cdf(0.5 + level / 2), float(np.quantile(largest, level, method="higher")))

    @property
    def at_once(self) -> KernelCurve:
        """The same."""
        return self


@dataclass(frozen=True)
class JointKernels:
    """A joint density on the unit cube."""

    fit: KernelFit

    @property
    def ends(self) -> tuple[Array, ...]:
        """Edges of a grid on which the estimate is a density."""
        side = DETAIL[len(self.fit.edges)]
        return (np.linspace(0, 1, side + 1),) * len(self.fit.edges)

    @property
    def cells(self) -> Array:
        """The density on that grid."""
        return np.maximum(self._projected[1] - self._projected[0], 0.0)

    @property
    def reason(self) -> str | None:
        """Why nothing is known, or None."""
        return self.fit.reason

    @property
    def said(self) -> tuple[str, ...]:
        """How the estimate was made, in words."""
        return (RESOLVED, BEYOND) if self.fit.resolved else (RESOLVED, BEYOND, TOO_WIDE)

    def density(self, t: Array) -> Array:
        """Return the density at points of the cube, shape (n,)."""
        return np.maximum(self.fit.values(self.fit.chosen, t) - self._projected[0], 0.0)

    def centers(self, t: Array) -> Array:
        """Return what limits are around, shape (n,)."""
        return self.fit.values(self.fit.limiting, t)

    def spread(self, t: Array) -> Array:
        """Return the covariance of `centers`, shape (n, n)."""
        return sum(self.fit.covariances(self.fit.full_weights(self.fit.limiting, t)), np.zeros(()))

    @cached_property
    def _projected(self) -> tuple[float, Array]:
        """The constant by which the estimate is lowered before it is cut at 0, and the estimate on the grid."""
        middles = [(one[1:] + one[:-1]) / 2 for one in self.ends]
        grid = self.fit.grid(self.fit.chosen, middles)
        return lowered_by(grid, grid.size), grid


RESOLVED: Final = "limits are of the density as far as the released kernel resolves it"
"""What limits of several columns hold."""
UNRESOLVED: Final = "a peak of the counts that the kernel does not resolve: a smaller bandwidth"
"""Why the density is not told at a place."""
TOO_WIDE: Final = "the bandwidth is too wide for this density: limits do not hold what it smooths away"
"""What is said where the counts of a column's cells say more than the kernel resolves."""
