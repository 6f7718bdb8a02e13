"""Families of counts: Bernoulli, binomial, Poisson, geometric, negative binomial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.models.block_moments import at_least, jnp, mean, special
from tacit.models.boxes import Array, Kind, Span
from tacit.models.family import Family
from tacit.models.likelihood import Order
from tacit.models.sufficient_statistics import ROW, SufficientStatistic


@dataclass(frozen=True, repr=False)
class _Counts(Family):
    """Base class of laws whose sufficient statistic is the count; `_core` holds all terms with theta."""

    row_support, start_is_maximum, linear_in_statistics, mean_statistics_suffice = "count", True, True, True

    def row_statistics(self, x: Any) -> Any:
        """Return the count itself."""
        return jnp().stack([x])

    def numpy_statistics(self, x: Array) -> tuple[Array, ...]:
        """Return the row itself."""
        return (x,)

    def log_density_from(self, u: Any, theta: Any) -> Any:
        """Return the log-density from the statistics, without its constant."""
        return self._core(u[0], theta)

    def _core(self, x: Any, theta: Any) -> Any:
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class Bernoulli(_Counts):
    """Bernoulli law of 0 or 1, by the probability of 1 (theory §2).

    >>> Bernoulli(p=(0.05, 0.95)).fallback
    array([0.5])
    """

    p: Span = (0.0, 1.0)

    kinds: ClassVar[dict[str, Kind]] = {"p": "unit"}
    orders: ClassVar[dict[str, Order]] = {"p": Order(0.3, 0.0)}

    @property
    def number(self) -> int:
        """The number of trials in a row."""
        return 1

    def inside(self, x: Any) -> Any:
        """Return whether rows are counts from 0 to the number of trials."""
        return (x >= 0) & (x <= self.number) & (x % 1 == 0)

    def log_density(self, x: Any, theta: Any) -> Any:
        """Return the log-probability of one row (JAX)."""
        g = special().gammaln
        return self._core(x, theta) + g(self.number + 1.0) - g(x + 1) - g(self.number - x + 1)

    def _core(self, x: Any, theta: Any) -> Any:
        return special().xlogy(x, theta.p) + special().xlogy(self.number - x, 1 - theta.p)

    def start_from(self, u: Any) -> list[Any]:
        """Return the share of successes, the maximum."""
        return [u[0] / self.number]

    def expected(self, u: Any, theta: Any) -> Any:
        """Return the mean."""
        return jnp().stack([self.number * theta.p])

    def bias_form(self, theta: Any) -> Any:
        """Return the bias: 0."""
        return jnp().stack([0 * theta.p])

    def fisher_form(self, theta: Any) -> Any:
        """Return the information: trials over p (1 - p)."""
        return [[self.number / (theta.p * (1 - theta.p))]]

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...]:
        """Return the row itself."""
        return (ROW,)

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return binomial draws."""
        return rng.binomial(self.number, float(theta.p), rows).astype(np.float64)


@dataclass(frozen=True, repr=False)
class Binomial(Bernoulli):
    """Binomial law of successes in a public number of trials, by the probability of success (theory §2).

    >>> Binomial(trials=10).fisher([0.5]).round(1)
    array([[40.]])
    """

    trials: int = 1

    @classmethod
    def _settings(cls) -> dict[str, int]:
        return {"trials": 1}

    @property
    def number(self) -> int:
        """The number of trials in a row."""
        return self.trials


@dataclass(frozen=True, repr=False)
class Poisson(_Counts):
    """Poisson law of counts, by its mean (theory §2).

    >>> Poisson(mean=(0, 20)).fisher([4.0])
    array([[0.25]])
    """

    mean: Span = (0.0, 100.0)

    kinds: ClassVar[dict[str, Kind]] = {"mean": "positive"}
    orders: ClassVar[dict[str, Order]] = {"mean": Order(0.3, 0.0, 2 / 3)}

    def log_density(self, x: Any, theta: Any) -> Any:
        """Return the log-probability of one row (JAX)."""
        return self._core(x, theta) - special().gammaln(x + 1)

    def _core(self, x: Any, theta: Any) -> Any:
        return special().xlogy(x, theta.mean) - theta.mean

    def start_from(self, u: Any) -> list[Any]:
        """Return the mean, the maximum."""
        return [u[0]]

    def expected(self, u: Any, theta: Any) -> Any:
        """Return the mean."""
        return jnp().stack([theta.mean])

    def bias_form(self, theta: Any) -> Any:
        """Return the bias: 0."""
        return jnp().stack([0 * theta.mean])

    def fisher_form(self, theta: Any) -> Any:
        """Return the information: one over the mean."""
        return [[1 / theta.mean]]

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...]:
        """Return the row itself."""
        return (ROW,)

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return Poisson draws."""
        return rng.poisson(float(theta.mean), rows).astype(np.float64)


@dataclass(frozen=True, repr=False)
class Geometric(_Counts):
    """Geometric law of failures before the first success, 0, 1, 2, ..., by the probability of success.

    >>> Geometric().bias([0.5])
    array([0.25])
    """

    p: Span = (0.01, 1.0)

    kinds: ClassVar[dict[str, Kind]] = {"p": "unit"}
    orders: ClassVar[dict[str, Order]] = {"p": Order(1.5, 0.3)}

    def log_density(self, x: Any, theta: Any) -> Any:
        """Return the log-probability of one row (JAX)."""
        return self._core(x, theta)

    def _core(self, x: Any, theta: Any) -> Any:
        # xlogy: at p = 1 all counts are 0, and 0 log 0 is 0
        return special().xlogy(x, 1 - theta.p) + jnp().log(theta.p)

    def start_from(self, u: Any) -> list[Any]:
        """Return one over one plus the mean, the maximum."""
        return [1 / (1 + u[0])]

    def expected(self, u: Any, theta: Any) -> Any:
        """Return the mean."""
        return jnp().stack([1 / theta.p - 1])

    def bias_form(self, theta: Any) -> Any:
        """Return the bias, p (1 - p), from the curvature of 1 / (1 + mean)."""
        return jnp().stack([theta.p * (1 - theta.p)])

    def fisher_form(self, theta: Any) -> Any:
        """Return the information: one over p**2 (1 - p)."""
        return [[1 / (theta.p**2 * (1 - theta.p))]]

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...]:
        """Return the row itself."""
        return (ROW,)

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return geometric draws, counted from 0."""
        return rng.geometric(float(theta.p), rows).astype(np.float64) - 1


@dataclass(frozen=True, repr=False)
class NegativeBinomial(Family):
    """Negative binomial law with variance mean + dispersion mean², by mean and dispersion (one over `size` in R).

    A block whose counts vary no more than a Poisson law gets the lower end of the dispersion's box.

    >>> NegativeBinomial().fisher([3.0, 0.5]).diagonal().round(4).tolist()
    [0.1333, 0.6151]
    """

    mean: Span = (0.01, 100.0)
    dispersion: Span = (0.01, 10.0)

    kinds: ClassVar[dict[str, Kind]] = {"mean": "positive", "dispersion": "positive"}
    orders: ClassVar[dict[str, Order]] = {"mean": Order(0.5, 0.3, 0.5), "dispersion": Order(3.0, 10.0, 0.0)}
    # under-dispersed blocks have their maximum at k = 0, the Poisson law: an answer, not a failure
    row_support, edge = "count", "clamp"
    statistics_hint = f"dispersion=0.5, a number at which it is held, or {Family.statistics_hint}"

    def log_density(self, x: Any, theta: Any) -> Any:
        """Return the log-probability of one row (JAX)."""
        lib, g = jnp(), special().gammaln
        k = theta.dispersion
        # with size 1 / k the probability of success is 1 / (1 + k mean); log1p keeps digits at small dispersions
        size, both = 1 / k, lib.log1p(k * theta.mean)
        constant = g(x + size) - g(size) - g(x + 1)
        return constant - (x + size) * both + x * lib.log(k) + special().xlogy(x, theta.mean)

    def start(self, x: Any, w: Any) -> list[Any]:
        """Return the values that match mean and variance."""
        middle = mean(x, w)
        square = mean((x - middle) ** 2, w)
        # variance = mean + k mean**2, solved for k; at least .05, where counts vary less than a Poisson law
        return [at_least(middle, 1e-9), at_least((square - middle) / at_least(middle**2, 1e-9), 0.05)]

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...] | None:
        """Return the row itself where the dispersion is held fixed; None where it is estimated."""
        return None if self.is_free("dispersion") else (ROW,)

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return Poisson draws with gamma-distributed means."""
        size = 1 / float(theta.dispersion)
        return rng.poisson(rng.gamma(size, float(theta.mean) / size, rows)).astype(np.float64)
