"""Student's t law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.models.block_moments import jnp, mean, median, moments, special
from tacit.models.boxes import Array, Kind, Span
from tacit.models.family import Family
from tacit.models.likelihood import Order


@dataclass(frozen=True, repr=False)
class StudentT(Family):
    """Student's t law with location, scale and degrees of freedom.

    Small blocks say little about degrees of freedom: `StudentT(df=4)` holds them fixed.  Where a block has no estimate
    of them, because its tails are those of a normal law, the upper end of their box stands for it.

    >>> StudentT(df=3).names
    ('location', 'scale')
    """

    location: Span = (-10.0, 10.0)
    scale: Span = (0.1, 10.0)
    df: Span = (1.0, 30.0)

    kinds: ClassVar[dict[str, Kind]] = {"location": "real", "scale": "positive", "df": "positive"}
    row_support, edge = "real", "clamp"
    orders: ClassVar[dict[str, Order]] = {
        "location": Order(3.0, 0.3),
        "scale": Order(8.0, 40.0, 1 / 3),
        "df": Order(40.0, 400.0, 0.0),
    }

    def order(self, name: str) -> Order:
        """Return the second-order constants; the scale is easier to estimate where `df` is held fixed."""
        return super().order(name) if "df" in self.names or name != "scale" else Order(2.0, 0.5, 1 / 3)

    def log_density(self, x: Any, theta: Any) -> Any:
        """Return the log-density of one row (JAX)."""
        lib, g = jnp(), special().gammaln
        nu = theta.df
        z = (x - theta.location) / theta.scale
        constant = g((nu + 1) / 2) - g(nu / 2) - 0.5 * lib.log(math.pi * nu) - lib.log(theta.scale)
        return constant - (nu + 1) / 2 * lib.log1p(z**2 / nu)

    def start(self, x: Any, w: Any) -> list[Any]:
        """Return the median, the mean distance from it, and five degrees of freedom; NaN where all rows are equal."""
        middle = median(x, w)
        # 0, or NaN where all rows are equal
        apart = 0 * moments(x, w)[1]
        return [middle, mean(jnp().abs(x - middle), w) + apart, jnp().array(5.0)]

    def nodes(self, theta: Any) -> tuple[Any, Any]:
        """Return points location + scale sinh(s), and weights by the trapezium rule in s."""
        lib = jnp()
        # sinh(36) is 2e15: even at one degree of freedom less than 1e-15 of the law lies beyond
        s = np.arange(-36.0, 36.01, 0.3)
        x = theta.location + theta.scale * np.sinh(s)
        weights = lib.exp(self.log_density(x, theta) + lib.log(theta.scale)) * np.cosh(s)
        return x, weights / weights.sum()

    def fisher_form(self, theta: Any) -> Any:
        """Return the information: rational in location and scale, by trigamma functions for degrees of freedom."""
        nu, s, p = theta.df, theta.scale, special().polygamma
        # location is uncorrelated with the others by symmetry [Lange, Little & Taylor 1989]
        both = -2 / (s * (nu + 1) * (nu + 3))
        last = (p(1, nu / 2) - p(1, (nu + 1) / 2)) / 4 - (nu + 5) / (2 * nu * (nu + 1) * (nu + 3))
        return [
            [(nu + 1) / ((nu + 3) * s**2), 0.0, 0.0],
            [0.0, 2 * nu / ((nu + 3) * s**2), both],
            [0.0, both, last],
        ]

    def location_and_width(self, theta: Any) -> tuple[float, float]:
        """Return the location and the scale."""
        return float(theta.location), float(theta.scale)

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return draws of Student's t."""
        return float(theta.location) + float(theta.scale) * rng.standard_t(float(theta.df), rows)
