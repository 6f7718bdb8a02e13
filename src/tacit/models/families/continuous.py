"""Families of one continuous column: normal, lognormal, Laplace, beta."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from tacit.models.block_moments import at_least, jnp, log_normal, mean, median, moments, special
from tacit.models.boxes import Array, Kind, Span
from tacit.models.family import Family
from tacit.models.likelihood import Order
from tacit.models.median_distance import expected
from tacit.models.sufficient_statistics import LOG, LOG_OF_REST, Inner, SufficientStatistic


@dataclass(frozen=True, repr=False)
class Normal(Family):
    """Normal law, by mean and standard deviation (theory §2).

    >>> Normal(mean=(-5, 5), sd=(0.1, 10)).bias([0.0, 2.0])
    array([ 0. , -1.5])
    """

    mean: Span = (-10.0, 10.0)
    sd: Span = (0.1, 10.0)

    kinds: ClassVar[dict[str, Kind]] = {"mean": "real", "sd": "positive"}
    row_support, start_is_maximum, linear_in_statistics, mean_statistics_suffice = "real", True, True, True
    orders: ClassVar[dict[str, Order]] = {"mean": Order(0.0, 0.0), "sd": Order(1.5, 0.0)}
    histogram_names = ("mean", "sd")

    def log_density(self, x: Any, theta: Any) -> Any:
        """JAX: the log-density of one row."""
        return log_normal(x, theta.mean, theta.sd)

    def start(self, x: Any, w: Any) -> list[Any]:
        """Mean and root mean square; none where all rows are equal."""
        middle, square = moments(x, w)
        return [middle, jnp().sqrt(square)]

    def row_statistics(self, x: Any) -> Any:
        """The row and its square."""
        return jnp().stack([x, x**2])

    def log_density_from(self, u: Any, theta: Any) -> Any:
        """The log-density."""
        m, sd = theta.mean, theta.sd
        return -0.5 * (u[1] - 2 * m * u[0] + m**2) / sd**2 - jnp().log(sd)

    def expected(self, u: Any, theta: Any) -> Any:
        """Mean and mean square."""
        return jnp().stack([theta.mean, theta.mean**2 + theta.sd**2])

    def bias_form(self, theta: Any) -> Any:
        """None of the mean; three quarters of the standard deviation below it."""
        return jnp().stack([0 * theta.mean, -0.75 * theta.sd])

    def unbiased(self, theta: Any, count: Any) -> Any:
        """The root mean square of t rows is sd sqrt(2 / t) gamma(t / 2) / gamma((t - 1) / 2) in expectation."""
        g, half = special().gammaln, count / 2
        factor = jnp().sqrt(half) * jnp().exp(g(half - 0.5) - g(half))
        return jnp().stack([theta.mean, theta.sd * factor])

    def fisher_form(self, theta: Any) -> Any:
        """Powers of the standard deviation."""
        return [[theta.sd**-2, 0.0], [0.0, 2 * theta.sd**-2]]

    def location_and_width(self, theta: Any) -> tuple[float, float]:
        """Mean and standard deviation."""
        return float(theta.mean), float(theta.sd)

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...]:
        """Return the row for the mean and, for the standard deviation, a square about the mean where that is held."""
        return self._statistics_of("row")

    def _statistics_of(self, inner: Inner) -> tuple[SufficientStatistic, ...]:
        """Return those of y: the row, or its log."""
        first = (SufficientStatistic(inner),) if self.is_free("mean") else ()
        about = None if self.is_free("mean") else float(cast(float, self.mean))
        return (*first, SufficientStatistic(inner, "square", about)) if self.is_free("sd") else first

    def start_from_moments(self, mean: float, variance: float) -> tuple[float, ...]:
        """Return the mean and the standard deviation."""
        return mean, variance**0.5

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Normal draws."""
        return rng.normal(float(theta.mean), float(theta.sd), rows)


@dataclass(frozen=True, repr=False)
class Lognormal(Normal):
    """Law of positive numbers whose log is normal, by mean and standard deviation of the log (theory §2).

    >>> Lognormal().names
    ('mean', 'sd')
    """

    row_support = "positive"
    histogram_names = ("log_mean", "log_sd")

    def log_density(self, x: Any, theta: Any) -> Any:
        """JAX: the log-density of one row."""
        log = jnp().log(x)
        return log_normal(log, theta.mean, theta.sd) - log

    def start(self, x: Any, w: Any) -> list[Any]:
        """Those of the logs."""
        return super().start(jnp().log(x), w)

    def row_statistics(self, x: Any) -> Any:
        """The log and its square."""
        return super().row_statistics(jnp().log(x))

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...]:
        """Return those of a normal law for the log of the row."""
        return self._statistics_of("log")

    def start_from_moments(self, mean: float, variance: float) -> tuple[float, ...]:
        """Return mean and standard deviation of the log, of the lognormal law of this mean and variance."""
        log_variance = float(np.log1p(variance / mean**2))
        return float(np.log(mean)) - log_variance / 2, float(np.sqrt(log_variance))

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Exponentials of normal draws."""
        return np.exp(super().draw(theta, rows, rng, regressors))


@dataclass(frozen=True, repr=False)
class Laplace(Family):
    """Laplace law, by its median (location) and its mean distance from it (scale).

    The maximum has kinks, so its bias is not Cox and Snell's: none of the location, half a scale below the scale.

    >>> Laplace().bias([0.0, 2.0])
    array([ 0., -1.])
    """

    location: Span = (-10.0, 10.0)
    scale: Span = (0.1, 10.0)

    kinds: ClassVar[dict[str, Kind]] = {"location": "real", "scale": "positive"}
    row_support, start_is_maximum, smooth = "real", True, False
    orders: ClassVar[dict[str, Order]] = {"location": Order(6.0, 0.0), "scale": Order(1.0, 0.0, 1 / 3)}
    statistics_hint = f"location=0, a number at which it is held, or {Family.statistics_hint}"

    def log_density(self, x: Any, theta: Any) -> Any:
        """JAX: the log-density of one row."""
        return -jnp().abs(x - theta.location) / theta.scale - jnp().log(2 * theta.scale)

    def start(self, x: Any, w: Any) -> list[Any]:
        """The median and the mean distance from it; none where all rows are equal."""
        middle = median(x, w)
        apart = 0 * moments(x, w)[1]
        return [middle, mean(jnp().abs(x - middle), w) + apart]

    def unbiased(self, theta: Any, count: Any) -> Any:
        """The scale over its expectation in scales: what is left of it falls as t**-1.5 only, for the median's kink."""
        return jnp().stack([theta.location, theta.scale / expected(count)])

    def bias_form(self, theta: Any) -> Any:
        """The median of t rows lies b^2 / t from the truth in mean square, where the density is 1 / (2b)."""
        return jnp().stack([0 * theta.location, -0.5 * theta.scale])

    def fisher_form(self, theta: Any) -> Any:
        """Powers of the scale."""
        return [[theta.scale**-2, 0.0], [0.0, theta.scale**-2]]

    def location_and_width(self, theta: Any) -> tuple[float, float]:
        """Location and scale."""
        return float(theta.location), float(theta.scale)

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...] | None:
        """Return the distance from the location where that is held fixed; None where it is estimated."""
        if self.is_free("location"):
            return None
        return (SufficientStatistic("row", "distance", float(cast(float, self.location))),)

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Laplace draws."""
        return rng.laplace(float(theta.location), float(theta.scale), rows)


@dataclass(frozen=True, repr=False)
class Beta(Family):
    """Beta law of numbers between 0 and 1, ends left out (theory §2).

    >>> Beta().bias([2.0, 5.0]).round(6)
    array([ 5.421274, 15.004543])
    """

    a: Span = (0.1, 50.0)
    b: Span = (0.1, 50.0)

    kinds: ClassVar[dict[str, Kind]] = {"a": "positive", "b": "positive"}
    row_support, linear_in_statistics, mean_statistics_suffice = "unit", True, True
    orders: ClassVar[dict[str, Order]] = {"a": Order(6.0, 0.5, -0.2), "b": Order(6.0, 0.5, -0.2)}
    histogram_names = ("a", "b")

    def log_density(self, x: Any, theta: Any) -> Any:
        """JAX: the log-density of one row."""
        return self.log_density_from(self.row_statistics(x), theta)

    def start(self, x: Any, w: Any) -> list[Any]:
        """From mean and variance; none where all rows are equal."""
        middle, square = moments(x, w)
        size = at_least(middle * (1 - middle) / square - 1, 0.1)
        return [middle * size, (1 - middle) * size]

    def row_statistics(self, x: Any) -> Any:
        """Logs of the row and of its distance from 1."""
        return jnp().stack([jnp().log(x), jnp().log1p(-x)])

    def log_density_from(self, u: Any, theta: Any) -> Any:
        """The log-density."""
        a, b, g = theta.a, theta.b, special().gammaln
        return (a - 1) * u[0] + (b - 1) * u[1] + g(a + b) - g(a) - g(b)

    def expected(self, u: Any, theta: Any) -> Any:
        """Differences of digamma functions."""
        d = special().digamma
        return jnp().stack([d(theta.a), d(theta.b)]) - d(theta.a + theta.b)

    def fisher_form(self, theta: Any) -> Any:
        """Trigamma functions."""
        p = special().polygamma
        both = p(1, theta.a + theta.b)
        return [[p(1, theta.a) - both, -both], [-both, p(1, theta.b) - both]]

    def location_and_width(self, theta: Any) -> tuple[float, float]:
        """The logit of the mean, and about the spread of logits."""
        a, b = float(theta.a), float(theta.b)
        return math.log(a / b), math.sqrt(1 / a + 1 / b)

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...]:
        """Return the log of the row for a, and the log of its distance from 1 for b."""
        return tuple(one for name, one in (("a", LOG), ("b", LOG_OF_REST)) if self.is_free(name))

    def start_from_moments(self, mean: float, variance: float) -> tuple[float, ...]:
        """Return a and b of this mean and variance."""
        size = max(mean * (1 - mean) / variance - 1, 0.1)
        return mean * size, (1 - mean) * size

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Beta draws."""
        return rng.beta(float(theta.a), float(theta.b), rows)
