"""Mixtures of two normal laws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.models.block_moments import at_least, jnp, log_normal, mean, median, moments
from tacit.models.boxes import Array, Kind, Span
from tacit.models.family import Family
from tacit.models.likelihood import Order


@dataclass(frozen=True, repr=False)
class NormalMixture(Family):
    """Mixture of two normal laws; `share` is the weight of the second, which has the higher mean.

    The likelihood has several maxima and is unbounded: boxes must keep the standard deviations away from 0.

    >>> NormalMixture(sd1=1, sd2=1).names
    ('share', 'mean1', 'mean2')
    """

    share: Span = (0.05, 0.95)
    mean1: Span = (-10.0, 10.0)
    mean2: Span = (-10.0, 10.0)
    sd1: Span = (0.1, 10.0)
    sd2: Span = (0.1, 10.0)

    kinds: ClassVar[dict[str, Kind]] = {
        "share": "unit", "mean1": "real", "mean2": "real", "sd1": "positive", "sd2": "positive",
    }  # fmt: skip
    # no widening of the search: towards sd = 0 the likelihood is unbounded
    row_support, edge, widen, steps = "real", "clamp", 0.0, 80
    orders: ClassVar[dict[str, Order]] = {word: Order(50.0, 150.0) for word in kinds}

    def log_density(self, x: Any, theta: Any) -> Any:
        """Return the log-density of one row (JAX)."""
        lib = jnp()
        first = lib.log1p(-theta.share) + log_normal(x, theta.mean1, theta.sd1)
        second = lib.log(theta.share) + log_normal(x, theta.mean2, theta.sd2)
        return lib.logaddexp(first, second)

    def start(self, x: Any, w: Any) -> list[Any]:
        """Return means and standard deviations of the lower and the upper half; NaN where all rows are equal."""
        lib = jnp()
        # 0, or NaN where all rows are equal
        apart = 0 * moments(x, w)[1]
        middle = median(x, w)
        sides: list[tuple[Any, Any]] = []
        for part in (w * (x <= middle), w * (x >= middle)):
            center = mean(x, part)
            # off 0, where half of the rows are equal
            sides.append((center + apart, at_least(lib.sqrt(mean((x - center) ** 2, part)), 1e-3)))
        return [lib.array(0.5), sides[0][0], sides[1][0], sides[0][1], sides[1][1]]

    def canonical(self, theta: Any) -> Any:
        """Return the parameters with the lower mean first, where all five are estimated."""
        if not self.all_free:
            return theta
        turned = jnp().stack([1 - theta[0], theta[2], theta[1], theta[4], theta[3]])
        return jnp().where(theta[1] <= theta[2], theta, turned)

    def location_and_width(self, theta: Any) -> tuple[float, float]:
        """Return the middle between the means, and the smaller standard deviation."""
        t = {name: float(getattr(theta, name)) for name in ("mean1", "mean2", "sd1", "sd2")}
        # the smaller one: the steps of the quadrature must resolve the narrower component
        return (t["mean1"] + t["mean2"]) / 2, min(t["sd1"], t["sd2"])

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return normal draws, each from one of the two components."""
        second = rng.random(rows) < float(theta.share)
        center = np.where(second, float(theta.mean2), float(theta.mean1))
        return center + np.where(second, float(theta.sd2), float(theta.sd1)) * rng.standard_normal(rows)
