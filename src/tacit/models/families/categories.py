"""Families of categorical rows: one code a row, or the counts of all codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.models.block_moments import jnp, mean, special
from tacit.models.boxes import Array, Kind, Span
from tacit.models.family import Family
from tacit.models.likelihood import Order


@dataclass(frozen=True, repr=False)
class Categorical(Family):
    """Categorical law of codes 0, 1, ..., levels - 1, by the shares of all codes but 0, in their order.

    >>> Categorical(levels=3).names
    ('share1', 'share2')
    """

    levels: int = 2
    shares: Span = (0.0, 1.0)

    kinds: ClassVar[dict[str, Kind]] = {"shares": "unit"}
    orders: ClassVar[dict[str, Order]] = {"shares": Order(0.3, 0.0)}
    row_support, start_is_maximum, linear_in_statistics, mean_statistics_suffice = "count", True, True, True
    statistics_hint = "Histogram(…): the counts of the levels are the sufficient statistics"

    @classmethod
    def _settings(cls) -> dict[str, int]:
        return {"levels": 2}

    def sizes(self) -> dict[str, int]:
        """Return the number of shares: one less than levels."""
        return {"shares": self.levels - 1}

    def inside(self, x: Any) -> Any:
        """Return whether rows are codes."""
        return (x >= 0) & (x < self.levels) & (x % 1 == 0)

    def log_density(self, x: Any, theta: Any) -> Any:
        """Return the log-probability of one row (JAX)."""
        return self.log_density_from(self.row_statistics(x), theta)

    def start(self, x: Any, w: Any) -> list[Any]:
        """Return the shares of codes in the block, the maximum."""
        # the share of code 0 is one less their sum
        return [mean((x == code) * 1.0, w) for code in range(1, self.levels)]

    def row_statistics(self, x: Any) -> Any:
        """Return an indicator for each code."""
        return (x == np.arange(self.levels)) * 1.0

    def log_density_from(self, u: Any, theta: Any) -> Any:
        """Return the log-probability from the indicators or counts."""
        # xlogy(0, 0) = 0: a code that is not seen says nothing, also where its share is 0
        return special().xlogy(u[0], 1 - theta.shares.sum()) + special().xlogy(u[1:], theta.shares).sum()

    def expected(self, u: Any, theta: Any) -> Any:
        """Return the shares of all codes."""
        return jnp().concatenate([1 - theta.shares.sum()[None], theta.shares])

    def bias_form(self, theta: Any) -> Any:
        """Return the bias: 0."""
        return 0 * theta.shares

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return drawn codes."""
        shares = np.asarray(theta.shares)
        return rng.choice(self.levels, rows, p=[1 - shares.sum(), *shares]).astype(np.float64)


@dataclass(frozen=True, repr=False)
class Multinomial(Categorical):
    """Multinomial law of counts of `levels` outcomes in a public number of trials, by the shares of all but the first.

    >>> Multinomial(levels=3, trials=10).columns
    3
    """

    trials: int = 1

    @classmethod
    def _settings(cls) -> dict[str, int]:
        return {"levels": 2, "trials": 1}

    @property
    def columns(self) -> int:
        """The number of columns: one count for each outcome."""
        return self.levels

    @property
    def anchor(self) -> None:
        """None: blocks are padded with one of their rows."""
        return None

    @property
    def support(self) -> None:
        """None: rows have several columns."""
        return None

    def inside(self, x: Any) -> Any:
        """Return whether rows are counts that add up to the number of trials."""
        # counts are whole, and their floats add up exactly
        return ((x >= 0) & (x % 1 == 0)).all(-1) & (x.sum(-1) == self.trials)

    def log_density(self, x: Any, theta: Any) -> Any:
        """Return the log-probability of one row (JAX)."""
        g = special().gammaln
        return self.log_density_from(x, theta) + g(self.trials + 1.0) - g(x + 1).sum()

    def start(self, x: Any, w: Any) -> list[Any]:
        """Return the shares of outcomes in the block, the maximum."""
        found = mean(x, w) / self.trials
        return [found[code] for code in range(1, self.levels)]

    def row_statistics(self, x: Any) -> Any:
        """Return the row itself."""
        return x

    def expected(self, u: Any, theta: Any) -> Any:
        """Return the expected counts: trials times the shares."""
        return self.trials * super().expected(u, theta)

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return multinomial draws."""
        shares = np.asarray(theta.shares)
        return rng.multinomial(self.trials, [1 - shares.sum(), *shares], size=rows).astype(np.float64)
