"""The half-normal law, a family of one file: what a test adds to a copy of the package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.models.block_moments import jnp, mean
from tacit.models.boxes import Array, Kind, Span
from tacit.models.family import Family
from tacit.models.likelihood import Order
from tacit.models.sufficient_statistics import SufficientStatistic


@dataclass(frozen=True, repr=False)
class HalfNormal(Family):
    """Law of the size of a normal variable of mean 0, by the standard deviation of that variable."""

    sd: Span = (0.1, 10.0)

    kinds: ClassVar[dict[str, Kind]] = {"sd": "positive"}
    orders: ClassVar[dict[str, Order]] = {"sd": Order(1.5, 0.0)}
    row_support = "positive"
    histogram_names = ("sd",)

    def log_density(self, x: Any, theta: Any) -> Any:
        """JAX: the log-density of one row."""
        return 0.5 * np.log(2 / np.pi) - jnp().log(theta.sd) - 0.5 * (x / theta.sd) ** 2

    def start(self, x: Any, w: Any) -> list[Any]:
        """The root mean square."""
        return [jnp().sqrt(mean(x**2, w))]

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...]:
        """Return the square of the row."""
        return (SufficientStatistic("row", "square", 0.0),)

    def start_from_moments(self, mean: float, variance: float) -> tuple[float, ...]:
        """Return the root mean square."""
        return ((mean**2 + variance) ** 0.5,)

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Sizes of normal draws."""
        return np.abs(rng.normal(0.0, float(theta.sd), rows))
