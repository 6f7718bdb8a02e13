"""Families of positive durations and sizes: exponential, gamma, Weibull, Pareto."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from tacit.errors import ModelError
from tacit.models.block_moments import jnp, moments, special
from tacit.models.boxes import Array, Kind, Span
from tacit.models.family import Family
from tacit.models.likelihood import Order
from tacit.models.sufficient_statistics import LOG, ROW, SufficientStatistic

EULER: Final = 0.5772156649015329
ZETA3: Final = 1.2020569031595942
EQUAL: Final = 1e-12
"""Log mean less mean log up to which rows count as equal but for rounding (a shape beyond 10^11)."""
POWERS: Final = (1.0, 2.0, 3.0, 4.0)
"""Powers that every database engine computes alike."""
WEIBULL_SHAPE: Final = 18 * (math.pi**2 - 2 * ZETA3) / math.pi**4
"""The Cox-Snell bias of the Weibull shape, as a multiple of the shape."""
WEIBULL_SCALE: Final = (
    0.5 * (1 + 6 * (1 - EULER) ** 2 / math.pi**2),
    1 - ((15 - 12 * EULER) * math.pi**2 - 36 * (1 - EULER) * ZETA3) / math.pi**4,
)
"""The bias of the Weibull scale, as a multiple of it: first / shape**2 - second / shape."""


@dataclass(frozen=True, repr=False)
class Exponential(Family):
    """Exponential law of positive numbers, by its rate (theory §2).

    >>> Exponential(rate=(0.2, 5)).fisher([2.0])
    array([[0.25]])
    """

    rate: Span = (0.01, 100.0)

    kinds: ClassVar[dict[str, Kind]] = {"rate": "positive"}
    row_support, start_is_maximum, linear_in_statistics, mean_statistics_suffice = "positive", True, True, True
    orders: ClassVar[dict[str, Order]] = {"rate": Order(2.5, 0.0, -1 / 3)}
    histogram_names = ("rate",)

    def inside(self, x: Any) -> Any:
        """Return whether rows are finite and not negative: 0 is allowed."""
        return (x >= 0) & (x < np.inf)

    def log_density(self, x: Any, theta: Any) -> Any:
        """Return the log-density of one row (JAX)."""
        return jnp().log(theta.rate) - theta.rate * x

    def start_from(self, u: Any) -> list[Any]:
        """Return one over the mean, the maximum."""
        return [1 / u[0]]

    def numpy_statistics(self, x: Array) -> tuple[Array, ...]:
        """Return the row itself."""
        return (x,)

    def row_statistics(self, x: Any) -> Any:
        """Return the row itself."""
        return jnp().stack([x])

    def log_density_from(self, u: Any, theta: Any) -> Any:
        """Return the log-density from the statistics, without its constant."""
        return self.log_density(u[0], theta)

    def expected(self, u: Any, theta: Any) -> Any:
        """Return the mean, one over the rate."""
        return jnp().stack([1 / theta.rate])

    def bias_form(self, theta: Any) -> Any:
        """Return the bias: the rate itself."""
        return jnp().stack([theta.rate])

    def fisher_form(self, theta: Any) -> Any:
        """Return the information: one over the squared rate."""
        return [[theta.rate**-2]]

    def location_and_width(self, theta: Any) -> tuple[float, float]:
        """Return the log of the mean, and 1."""
        return -math.log(theta.rate), 1.0

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...]:
        """Return the row itself."""
        return (ROW,)

    def start_from_moments(self, mean: float, variance: float) -> tuple[float, ...]:
        """Return one over the mean."""
        return (1 / mean,)

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return exponential draws."""
        return rng.exponential(1 / theta.rate, rows)


@dataclass(frozen=True, repr=False)
class Gamma(Family):
    """Gamma law of positive numbers, by shape and rate (theory §2).

    >>> Gamma(shape=[0.5, 5], rate=[0.01, 1]).names
    ('shape', 'rate')
    """

    shape: Span = (0.1, 50.0)
    rate: Span = (0.01, 100.0)

    kinds: ClassVar[dict[str, Kind]] = {"shape": "positive", "rate": "positive"}
    row_support, linear_in_statistics, mean_statistics_suffice = "positive", True, True
    orders: ClassVar[dict[str, Order]] = {"shape": Order(5.5, 0.6, -0.2), "rate": Order(5.5, 0.6, -0.2)}
    histogram_names = ("shape", "rate")

    def log_density(self, x: Any, theta: Any) -> Any:
        """Return the log-density of one row (JAX)."""
        return self.log_density_from(self.row_statistics(x), theta)

    def start_from(self, u: Any) -> list[Any]:
        """Return a start within 1.5% of the maximum, by log mean less mean log [Minka 2002]; NaN for equal rows."""
        lib = jnp()
        middle, log = u
        s = lib.log(middle) - log
        # s >= 0 by Jensen's inequality, and 0 exactly for equal rows, whose shape would be infinite
        s = lib.where(s > EQUAL, s, lib.nan)
        shape = (3 - s + lib.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)
        return [shape, shape / middle]

    def row_statistics(self, x: Any) -> Any:
        """Return the row and its log."""
        return jnp().stack([x, jnp().log(x)])

    def numpy_statistics(self, x: Array) -> tuple[Array, ...]:
        """Return the row and its log."""
        return x, np.log(x)

    def log_density_from(self, u: Any, theta: Any) -> Any:
        """Return the log-density from the statistics, without its constant."""
        a, b = theta.shape, theta.rate
        return a * jnp().log(b) + (a - 1) * u[1] - b * u[0] - special().gammaln(a)

    def expected(self, u: Any, theta: Any) -> Any:
        """Return the mean, and the mean of the log."""
        return jnp().stack([theta.shape / theta.rate, special().digamma(theta.shape) - jnp().log(theta.rate)])

    def bias_form(self, theta: Any) -> Any:
        """Return the bias, by the tri- and tetragamma functions of the shape."""
        a, b = theta.shape, theta.rate
        first, second = special().polygamma(1, a), special().polygamma(2, a)
        twice = 2 * (a * first - 1) ** 2
        return jnp().stack(
            [
                (a * first - a**2 * second - 2) / twice,
                b * (2 * a * first**2 - 3 * first - a * second) / twice,
            ]
        )

    def fisher_form(self, theta: Any) -> Any:
        """Return the information, by the trigamma function of the shape and powers of the rate."""
        a, b = theta.shape, theta.rate
        return [[special().polygamma(1, a), -1 / b], [-1 / b, a / b**2]]

    def location_and_width(self, theta: Any) -> tuple[float, float]:
        """Return the log of the mean, and about the standard deviation of logs."""
        return math.log(theta.shape / theta.rate), float(theta.shape) ** -0.5

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...]:
        """Return the row for the rate and its log for the shape."""
        return tuple(one for name, one in (("rate", ROW), ("shape", LOG)) if self.is_free(name))

    def start_from_moments(self, mean: float, variance: float) -> tuple[float, ...]:
        """Return the shape and rate of the gamma law with this mean and variance."""
        return mean * mean / variance, mean / variance

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return gamma draws."""
        return rng.gamma(float(theta.shape), 1 / float(theta.rate), rows)


@dataclass(frozen=True, repr=False)
class Weibull(Family):
    """Weibull law of positive numbers, by shape and scale (theory §2).

    >>> Weibull().bias([2.0, 1.0]).round(4)
    array([ 2.7591, -0.0463])
    """

    shape: Span = (0.1, 20.0)
    scale: Span = (0.01, 100.0)

    kinds: ClassVar[dict[str, Kind]] = {"shape": "positive", "scale": "positive"}
    row_support = "positive"
    orders: ClassVar[dict[str, Order]] = {"shape": Order(4.0, 0.8, 0.0), "scale": Order(0.5, 0.3)}
    histogram_names = ("shape", "scale")
    statistics_hint = f"shape=2, a number at which it is held, or {Family.statistics_hint}"

    def log_density(self, x: Any, theta: Any) -> Any:
        """Return the log-density of one row (JAX)."""
        lib = jnp()
        log = lib.log(x / theta.scale)
        return lib.log(theta.shape) - lib.log(x) + theta.shape * log - lib.exp(theta.shape * log)

    def start(self, x: Any, w: Any) -> list[Any]:
        """Return the values that match mean and variance of the log; NaN where all rows are equal."""
        lib = jnp()
        middle, square = moments(lib.log(x), w)
        # log x is a Gumbel variable: variance pi**2 / (6 shape**2), mean log(scale) - EULER / shape
        shape = math.pi / math.sqrt(6) / lib.sqrt(square)
        return [shape, lib.exp(middle + EULER / shape)]

    def nodes(self, theta: Any) -> tuple[Any, Any]:
        """Return points scale exp(u / shape) and trapezium weights; u is the log of an exponential variable."""
        # density exp(u - exp(u)): what is left out, e^-36 below and exp(-e^4) above, is at rounding
        u = np.arange(-36.0, 4.01, 0.25)
        return theta.scale * jnp().exp(u / theta.shape), 0.25 * np.exp(u - np.exp(u))

    def bias_form(self, theta: Any) -> Any:
        """Return the bias: constants times the shape, and times the scale over powers of the shape."""
        c, s = theta.shape, theta.scale
        return jnp().stack([WEIBULL_SHAPE * c, s * (WEIBULL_SCALE[0] / c**2 - WEIBULL_SCALE[1] / c)])

    def fisher_form(self, theta: Any) -> Any:
        """Return the information, by constants and powers of shape and scale."""
        c, s = theta.shape, theta.scale
        return [[(math.pi**2 / 6 + (1 - EULER) ** 2) / c**2, -(1 - EULER) / s], [-(1 - EULER) / s, (c / s) ** 2]]

    def location_and_width(self, theta: Any) -> tuple[float, float]:
        """Return the log of the scale, and one over the shape."""
        return math.log(theta.scale), 1 / float(theta.shape)

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...] | None:
        """Return the row to the power `shape` where the shape is held fixed at 1, 2, 3 or 4; None otherwise."""
        shape = self.shape
        if not isinstance(shape, int | float) or shape not in POWERS:
            return None
        return (SufficientStatistic("row", "power", float(shape)),)

    def start_from_moments(self, mean: float, variance: float) -> tuple[float, ...]:
        """Return about the shape and scale of the Weibull law with this mean and variance."""
        # shape = (sd / mean)**-1.086 is a common approximation; scale = mean / gamma(1 + 1 / shape)
        return (mean * mean / variance) ** 0.54, 1.1 * mean

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return Weibull draws."""
        return theta.scale * rng.weibull(float(theta.shape), rows)


@dataclass(frozen=True, repr=False)
class Pareto(Family):
    """Pareto law of numbers from a public minimum on, by its shape (the exponent of the tail).

    ModelError M12 for a minimum that is not a positive number.

    >>> Pareto(minimum=1_000).fisher([2.0])
    array([[0.25]])
    """

    shape: Span = (0.1, 20.0)
    minimum: float = 1.0

    kinds: ClassVar[dict[str, Kind]] = {"shape": "positive"}
    row_support, start_is_maximum, linear_in_statistics, mean_statistics_suffice = "positive", True, True, True
    orders: ClassVar[dict[str, Order]] = {"shape": Order(2.5, 0.0, -1 / 3)}

    def __post_init__(self) -> None:
        """Check the box and the minimum: ModelError M10, M12."""
        super().__post_init__()
        plain = isinstance(self.minimum, int | float)  # pyright: ignore[reportUnnecessaryIsInstance]
        if not (plain and 0 < self.minimum < math.inf):
            raise ModelError(f"minimum of Pareto: {self.minimum!r} is no positive number.", code="M12")

    @property
    def anchor(self) -> float:
        """A number of the support: twice the minimum."""
        return 2.0 * self.minimum

    @property
    def support(self) -> tuple[float, float]:
        """All numbers from the minimum on."""
        return float(self.minimum), math.inf

    def inside(self, x: Any) -> Any:
        """Return whether rows are finite and at least the minimum."""
        return (x >= self.minimum) & (x < np.inf)

    def log_density(self, x: Any, theta: Any) -> Any:
        """Return the log-density of one row (JAX)."""
        # log x has the density shape exp(-shape u), u = log(x / minimum); 1 / x is the Jacobian
        return self.log_density_from(self.row_statistics(x), theta) - jnp().log(x)

    def start_from(self, u: Any) -> list[Any]:
        """Return one over the mean log of rows divided by the minimum, the maximum."""
        return [1 / u[0]]

    def numpy_statistics(self, x: Array) -> tuple[Array, ...]:
        """Return the log of the row over the minimum."""
        return (np.log(x / self.minimum),)

    def row_statistics(self, x: Any) -> Any:
        """Return the log of the row over the minimum."""
        return jnp().stack([jnp().log(x / self.minimum)])

    def log_density_from(self, u: Any, theta: Any) -> Any:
        """Return the log-density from the statistics, without its constant."""
        return jnp().log(theta.shape) - theta.shape * u[0]

    def expected(self, u: Any, theta: Any) -> Any:
        """Return one over the shape."""
        return jnp().stack([1 / theta.shape])

    def bias_form(self, theta: Any) -> Any:
        """Return the bias: the shape itself."""
        return jnp().stack([theta.shape])

    def fisher_form(self, theta: Any) -> Any:
        """Return the information: one over the squared shape."""
        return [[theta.shape**-2]]

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...]:
        """Return the log of the row."""
        return (LOG,)

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return Pareto draws."""
        # NumPy's Pareto law begins at 0
        return self.minimum * (1 + rng.pareto(float(theta.shape), rows))
