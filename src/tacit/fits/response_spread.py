"""What the spread of responses about their means may be: estimates with both errors, and draws of them.

Residual variance, of linear models.  It is drawn from a normal law cut off at 0: noise moves it up and down by as much,
so that at a low price the truth may be a small part of the estimate, which a law of its logarithm hardly allows for.
Sampling and noise add up as relative variances.  Where the estimate is the mean of such a law around a noisy number,
which may be below 0, it is drawn from that law: cut off once.
Spread of counts and positive responses (variance = mean + spread mean**2, or spread mean**2).  Squared scores tell it
by a curve, which draws of their noisy sum follow.  Post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import special

SMALLEST: Final = 1e-4
"""Of the estimate: a residual variance is not 0."""
LEAST: Final = 0.05
"""Of the estimate: a positive response has some spread."""


@dataclass(frozen=True)
class ResidualVariance:
    """A residual variance.  sampling, privacy: variances of its estimate, relative to its square.

    center: where the normal law lies that is cut off at 0, relative to the estimate.

    >>> import numpy as np
    >>> ResidualVariance(0.02, 0.02).factors(100_000, False, np.random.default_rng(0)).std().round(2)
    np.float64(0.1)
    """

    sampling: float
    privacy: float
    center: float = 1.0

    def factors(self, many: int, table: bool, rng: np.random.Generator) -> Array:
        """Return what the residual standard deviation is multiplied by, shape (many,); table: without sampling."""
        spread = sqrt(self.privacy if table else self.sampling + self.privacy)
        if spread == 0:
            return np.ones(many)
        # from the upper tail, which is precise where the law lies far below 0
        above = special().ndtr(self.center / spread)
        errors = -special().ndtri(above * (1 - rng.random(many)))
        return np.sqrt(np.maximum(self.center + spread * np.asarray(errors, dtype=np.float64), SMALLEST))


@dataclass(frozen=True)
class SpreadCurve:
    """Squared scores by spread: what a noisy sum of them tells of it.

    observed, error: the sum, and its standard error.  sums, spreads: sums that laws of some spreads have, increasing,
    and these spreads.  most: the spread taken beyond the last.
    """

    observed: float
    error: float
    sums: Array
    spreads: Array
    most: float

    def drawn(self, many: int, rng: np.random.Generator) -> Array:
        """Return spreads of laws whose sums may be behind the observed one, shape (many,).

        Sums are drawn from a normal law cut off at the least that any of the laws has: an observed sum far below that,
        of noise, does not say that the spread is known.

        >>> curve = SpreadCurve(-3.0, 1.0, np.array([0.0, 10.0]), np.array([0.0, 1.0]), 2.0)
        >>> curve.drawn(10_000, np.random.default_rng(0)).mean().round(2)
        np.float64(0.03)
        """
        return self.at(rng.random(many))

    def at(self, shares: Array) -> Array:
        """Return quantiles of the law that spreads are drawn from, each of a share of draws below."""
        above = special().ndtr((self.observed - self.sums[0]) / self.error)
        z = -np.asarray(special().ndtri(above * (1 - shares)), dtype=np.float64)
        made = np.maximum(self.observed + self.error * z, self.sums[0])
        return np.asarray(np.interp(made, self.sums, self.spreads, right=self.most), dtype=np.float64)


@dataclass(frozen=True)
class Overdispersion:
    """A spread with its estimate less and plus one standard error, of sampling and noise together.

    curve: what it was found on, where that is known; draws then follow it.
    """

    low: float
    value: float
    high: float
    curve: SpreadCurve | None = None

    @property
    def middle(self) -> float:
        """The spread with as many draws below as above."""
        return self.value if self.curve is None else float(self.curve.at(np.array([0.5]))[0])

    def drawn(self, many: int, rng: np.random.Generator, *, least: float = 0.0) -> Array:
        """Return spreads, shape (many,), none below `least`.

        >>> import numpy as np
        >>> Overdispersion(0, 0, 0.1).drawn(4, np.random.default_rng(0)).round(3).tolist()
        [0.013, 0.0, 0.064, 0.01]
        """
        if self.curve is not None:
            return np.maximum(self.curve.drawn(many, rng), least)
        z = rng.standard_normal(many)
        made = self.value + np.where(z > 0, z * (self.high - self.value), z * (self.value - self.low))
        return np.asarray(np.maximum(made, least), dtype=np.float64)


def of_normal_errors(rows: float, noise: float, center: float) -> ResidualVariance:
    """Return the errors of a residual variance from rows with normal errors.

    noise: relative variance of its noise.  center: of the law before it is cut off at 0, relative to the estimate.
    """
    return ResidualVariance(2 / max(rows, 1.0), noise, center)
