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
        """Return the log-density of one row (JAX)."""
        return log_normal(x, theta.mean, theta.sd)

    def start(self, x: Any, w: Any) -> list[Any]:
        """Return the mean and the root mean square about it, the maximum; NaN where all rows are equal."""
        middle, square = moments(x, w)
        return [middle, jnp().sqrt(square)]

    def row_statistics(self, x: Any) -> Any:
        """Return the row and its square."""
        return jnp().stack([x, x**2])

    def log_density_from(self, u: Any, theta: Any) -> Any:
        """Return the log-density from the statistics, without its constant."""
        m, sd = theta.mean, theta.sd
        # mean of (x - m)**2 from the means of x and x**2
        return -0.5 * (u[1] - 2 * m * u[0] + m**2) / sd**2 - jnp().log(sd)

    def expected(self, u: Any, theta: Any) -> Any:
        """Return the expected row and its expected square."""
        return jnp().stack([theta.mean, theta.mean**2 + theta.sd**2])

    def bias_form(self, theta: Any) -> Any:
        """Return the bias: 0 for the mean, -3/4 of the standard deviation for that."""
        return jnp().stack([0 * theta.mean, -0.75 * theta.sd])

    def unbiased(self, theta: Any, count: Any) -> Any:
        """Divide sd by sqrt(2 / t) gamma(t / 2) / gamma((t - 1) / 2), the expectation at t rows of sd 1."""
        g, half = special().gammaln, count / 2
        factor = jnp().sqrt(half) * jnp().exp(g(half - 0.5) - g(half))
        return jnp().stack([theta.mean, theta.sd * factor])

    def fisher_form(self, theta: Any) -> Any:
        """Return the information: 1 / sd**2 for the mean, 2 / sd**2 for the standard deviation."""
        return [[theta.sd**-2, 0.0], [0.0, 2 * theta.sd**-2]]

    def location_and_width(self, theta: Any) -> tuple[float, float]:
        """Return the mean and the standard deviation."""
        return float(theta.mean), float(theta.sd)

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...]:
        """Return the row for a free mean, and for a free sd the square (about the mean if that is held fixed)."""
        return self._statistics_of("row")

    def _statistics_of(self, inner: Inner) -> tuple[SufficientStatistic, ...]:
        """Return the sufficient statistics of y: the row or its log."""
        first = (SufficientStatistic(inner),) if self.is_free("mean") else ()
        about = None if self.is_free("mean") else float(cast(float, self.mean))
        return (*first, SufficientStatistic(inner, "square", about)) if self.is_free("sd") else first

    def start_from_moments(self, mean: float, variance: float) -> tuple[float, ...]:
        """Return the mean and the standard deviation."""
        return mean, variance**0.5

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return normal draws."""
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
        """Return the log-density of one row (JAX)."""
        log = jnp().log(x)
        # the last term is the Jacobian of the log, 1 / x
        return log_normal(log, theta.mean, theta.sd) - log

    def start(self, x: Any, w: Any) -> list[Any]:
        """Return the starting values of a normal law of the logs."""
        return super().start(jnp().log(x), w)

    def row_statistics(self, x: Any) -> Any:
        """Return the log and its square."""
        return super().row_statistics(jnp().log(x))

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...]:
        """Return those of a normal law for the log of the row."""
        return self._statistics_of("log")

    def start_from_moments(self, mean: float, variance: float) -> tuple[float, ...]:
        """Return mean and standard deviation of the log of a lognormal law with this mean and variance."""
        # of a lognormal law, variance / mean**2 = exp(sd**2) - 1 and mean = exp(m + sd**2 / 2)
        log_variance = float(np.log1p(variance / mean**2))
        return float(np.log(mean)) - log_variance / 2, float(np.sqrt(log_variance))

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return exponentials of normal draws."""
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
        """Return the log-density of one row (JAX)."""
        return -jnp().abs(x - theta.location) / theta.scale - jnp().log(2 * theta.scale)

    def start(self, x: Any, w: Any) -> list[Any]:
        """Return the median and the mean distance from it, the maximum; NaN where all rows are equal."""
        middle = median(x, w)
        # 0, or NaN where all rows are equal: adding it leaves such a block without an estimate
        apart = 0 * moments(x, w)[1]
        return [middle, mean(jnp().abs(x - middle), w) + apart]

    def unbiased(self, theta: Any, count: Any) -> Any:
        """Divide the scale by its expectation in scales; beside a bias in 1 / t it has terms in t**-1.5."""
        return jnp().stack([theta.location, theta.scale / expected(count)])

    def bias_form(self, theta: Any) -> Any:
        """Return the leading bias: 0 for the location, -1/2 of the scale for that, from the error of the median."""
        return jnp().stack([0 * theta.location, -0.5 * theta.scale])

    def fisher_form(self, theta: Any) -> Any:
        """Return the information: 1 / scale**2 for both."""
        return [[theta.scale**-2, 0.0], [0.0, theta.scale**-2]]

    def location_and_width(self, theta: Any) -> tuple[float, float]:
        """Return the location and the scale."""
        return float(theta.location), float(theta.scale)

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...] | None:
        """Return the distance from the location where that is held fixed; None where it is estimated."""
        if self.is_free("location"):
            return None
        return (SufficientStatistic("row", "distance", float(cast(float, self.location))),)

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return Laplace draws."""
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
        """Return the log-density of one row (JAX)."""
        return self.log_density_from(self.row_statistics(x), theta)

    def start(self, x: Any, w: Any) -> list[Any]:
        """Return the values that match mean and variance; NaN where all rows are equal."""
        middle, square = moments(x, w)
        # a + b = mean (1 - mean) / variance - 1, which is not positive where rows are all near 0 or 1
        size = at_least(middle * (1 - middle) / square - 1, 0.1)
        return [middle * size, (1 - middle) * size]

    def row_statistics(self, x: Any) -> Any:
        """Return the logs of the row and of 1 less the row."""
        return jnp().stack([jnp().log(x), jnp().log1p(-x)])

    def log_density_from(self, u: Any, theta: Any) -> Any:
        """Return the log-density from the statistics, without its constant."""
        a, b, g = theta.a, theta.b, special().gammaln
        return (a - 1) * u[0] + (b - 1) * u[1] + g(a + b) - g(a) - g(b)

    def expected(self, u: Any, theta: Any) -> Any:
        """Return the expected logs, by digamma functions."""
        d = special().digamma
        return jnp().stack([d(theta.a), d(theta.b)]) - d(theta.a + theta.b)

    def fisher_form(self, theta: Any) -> Any:
        """Return the information, by trigamma functions."""
        p = special().polygamma
        both = p(1, theta.a + theta.b)
        return [[p(1, theta.a) - both, -both], [-both, p(1, theta.b) - both]]

    def location_and_width(self, theta: Any) -> tuple[float, float]:
        """Return the logit of the mean, and about the standard deviation of logits."""
        a, b = float(theta.a), float(theta.b)
        # the variance of the logit is trigamma(a) + trigamma(b), about 1 / a + 1 / b
        return math.log(a / b), math.sqrt(1 / a + 1 / b)

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...]:
        """Return the log of the row for a, and the log of 1 less the row for b."""
        return tuple(one for name, one in (("a", LOG), ("b", LOG_OF_REST)) if self.is_free(name))

    def start_from_moments(self, mean: float, variance: float) -> tuple[float, ...]:
        """Return a and b of the beta law with this mean and variance."""
        size = max(mean * (1 - mean) / variance - 1, 0.1)
        return mean * size, (1 - mean) * size

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return beta draws."""
        return rng.beta(float(theta.a), float(theta.b), rows)
