"""Regression models: the law of the first number of a row (the response), given the others (regressors).

A row is (response, regressor 1, ..., regressor d); an intercept is added unless `intercept=0`.  With no regressors a
row is the response alone.  Expectations are of the response, given the regressors of the block.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tacit.base.lazy_imports import jax
from tacit.models.block_moments import at_least, jnp, mean, special
from tacit.models.boxes import Array, Kind, Span
from tacit.models.family import Family
from tacit.models.likelihood import Order


@dataclass(frozen=True, repr=False)
class RegressionFamily(Family):
    """Base class: a response whose law depends on the linear predictor eta = intercept + slopes . x."""

    regressors: int = 1
    intercept: Span = (-10.0, 10.0)
    slopes: Span = (-10.0, 10.0)

    kinds: ClassVar[dict[str, Kind]] = {"intercept": "real", "slopes": "real"}
    linear_in_statistics, is_regression = True, True
    law_order: ClassVar[Order] = Order(9.0, 2.0)
    """Second-order constants of a coefficient; b is multiplied by the number of parameters (`order`)."""
    statistics_hint = "tc.Regression for linear models; SampleAndAggregate, or a Histogram and its fits, for others"

    def order(self, name: str) -> Order:
        """Return the second-order constants of a coefficient, which depend on the number of parameters."""
        return replace(self.law_order, b=self.law_order.b * len(self.parameters))

    @classmethod
    def _settings(cls) -> dict[str, int]:
        return {"regressors": 0}

    def sizes(self) -> dict[str, int]:
        """Return the number of slopes, one for each regressor."""
        return {"slopes": self.regressors}

    @property
    def columns(self) -> int:
        """The number of columns: the response and its regressors."""
        return 1 + self.regressors

    @property
    def anchor(self) -> float | None:
        """None: blocks are padded with one of their rows."""
        return None

    def inside(self, x: Any) -> Any:
        """Return whether rows are finite and have a possible response."""
        finite = (x > -np.inf) & (x < np.inf)
        return self.possible(x) & finite if self.columns == 1 else self.possible(x[..., 0]) & finite.all(-1)

    def possible(self, y: Any) -> Any:
        """Return whether responses are possible under the law."""
        # all but NaN
        return y == y

    def eta(self, x: Any, theta: Any) -> Any:
        """Return the linear predictor of regressors, shape (d,)."""
        return theta.intercept + (x @ theta.slopes if self.regressors else 0.0)

    def log_density(self, x: Any, theta: Any) -> Any:
        """Return the log-density of one row (JAX)."""
        u = self.row_statistics(x)
        return self.log_density_from(u, theta) + self.constant(u[0])

    def constant(self, y: Any) -> Any:
        """Return the part of the log-density that does not depend on the parameters."""
        return 0.0

    def response_statistics(self, y: Any) -> list[Any]:
        """Return the statistics of the response in which the log-density is linear."""
        return [y]

    def means(self, eta: Any, theta: Any) -> list[Any]:
        """Return the expectations of these statistics, given the linear predictor."""
        raise NotImplementedError

    def core(self, s: Any, eta: Any, theta: Any) -> Any:
        """Return the log-density from the statistics of the response, linear in them, without its constant."""
        raise NotImplementedError

    def row_statistics(self, x: Any) -> Any:
        """Return the statistics of the response, then the regressors."""
        lib = jnp()
        y, z = (x, lib.zeros(0)) if self.columns == 1 else (x[0], x[1:])
        return lib.concatenate([lib.stack(self.response_statistics(y)), z])

    def log_density_from(self, u: Any, theta: Any) -> Any:
        """Return the log-density from statistics and regressors, without its constant."""
        q = len(u) - self.regressors
        return self.core(u[:q], self.eta(u[q:], theta), theta)

    def expected(self, u: Any, theta: Any) -> Any:
        """Return the expected statistics, then the regressors unchanged."""
        z = u[len(u) - self.regressors :]
        return jnp().concatenate([jnp().stack(self.means(self.eta(z, theta), theta)), z])

    def response(self, x: Any) -> Any:
        """Return the responses of a block, shape (n,)."""
        return x if self.columns == 1 else x[:, 0]

    def start(self, x: Any, w: Any) -> list[Any]:
        """Return slopes of 0, and the intercept that gives the mean response."""
        return [self.link(mean(self.response(x), w)), *[jnp().array(0.0)] * self.regressors]

    def link(self, mean: Any) -> Any:
        """Return the linear predictor that has this mean."""
        raise NotImplementedError

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array | None:
        """Return drawn responses, followed by the given regressors; None where regressors are needed and missing."""
        if regressors is None and self.regressors:
            return None
        z = np.zeros((rows, 0)) if regressors is None else regressors
        y = self.respond(np.asarray(self.eta(z, theta) + np.zeros(rows), dtype=np.float64), theta, rng)
        return np.column_stack([y, z]) if self.regressors else y.astype(np.float64)

    def respond(self, eta: Array, theta: Any, rng: np.random.Generator) -> Array:
        """Return drawn responses, given linear predictors."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class LogisticRegression(RegressionFamily):
    """A response of 0 or 1 with P(1) = 1 / (1 + exp(-eta)) (theory §2).

    >>> LogisticRegression(regressors=2, slopes=(-3, 3)).names
    ('intercept', 'slope1', 'slope2')
    """

    law_order = Order(8.0, 5.0)

    def possible(self, y: Any) -> Any:
        """Return whether responses are 0 or 1."""
        return (y == 0) | (y == 1)

    def core(self, s: Any, eta: Any, theta: Any) -> Any:
        """Return the log-probability."""
        return s[0] * eta - jax().nn.softplus(eta)

    def means(self, eta: Any, theta: Any) -> list[Any]:
        """Return the probability of 1."""
        return [jax().nn.sigmoid(eta)]

    def link(self, mean: Any) -> Any:
        """Return the log-odds of a mean, kept away from 0 and 1."""
        # finite where all responses are alike
        p = 0.02 + 0.96 * mean
        return jnp().log(p / (1 - p))

    def respond(self, eta: Array, theta: Any, rng: np.random.Generator) -> Array:
        """Return draws of 0 or 1."""
        return (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(np.float64)


@dataclass(frozen=True, repr=False)
class ProbitRegression(LogisticRegression):
    """A response of 0 or 1 with P(1) = Phi(eta), Phi the normal distribution function (theory §2).

    >>> ProbitRegression(regressors=0).fisher([0.0]).round(4)
    array([[0.6366]])
    """

    def core(self, s: Any, eta: Any, theta: Any) -> Any:
        """Return the log-probability."""
        log = special().log_ndtr
        # log Phi directly: Phi itself underflows at eta = -38
        return s[0] * log(eta) + (1 - s[0]) * log(-eta)

    def means(self, eta: Any, theta: Any) -> list[Any]:
        """Return the probability of 1."""
        return [special().ndtr(eta)]

    def link(self, mean: Any) -> Any:
        """Return the normal quantile of a mean, kept away from 0 and 1."""
        return special().ndtri(0.02 + 0.96 * mean)

    def respond(self, eta: Array, theta: Any, rng: np.random.Generator) -> Array:
        """Return draws of 0 or 1: whether a normal draw is below eta."""
        return (rng.standard_normal(len(eta)) < eta).astype(np.float64)


@dataclass(frozen=True, repr=False)
class PoissonRegression(RegressionFamily):
    """A count with mean exp(eta) (theory §2).

    >>> PoissonRegression(regressors=0).bias([0.0])
    array([-0.5])
    """

    law_order = Order(9.0, 5.0)  # real counts vary more than Poisson's

    def possible(self, y: Any) -> Any:
        """Return whether responses are counts."""
        return (y >= 0) & (y % 1 == 0)

    def core(self, s: Any, eta: Any, theta: Any) -> Any:
        """Return the log-probability without its constant."""
        return s[0] * eta - jnp().exp(eta)

    def constant(self, y: Any) -> Any:
        """Return minus the log of the factorial."""
        return -special().gammaln(y + 1)

    def means(self, eta: Any, theta: Any) -> list[Any]:
        """Return the mean."""
        return [jnp().exp(eta)]

    def link(self, mean: Any) -> Any:
        """Return the log of a mean, kept away from 0."""
        return jnp().log(at_least(mean, 1e-3))

    def respond(self, eta: Array, theta: Any, rng: np.random.Generator) -> Array:
        """Return Poisson draws."""
        return rng.poisson(np.exp(eta)).astype(np.float64)


@dataclass(frozen=True, repr=False)
class GammaRegression(RegressionFamily):
    """A positive response with mean exp(eta), of a gamma law with one shape.

    >>> GammaRegression().names
    ('intercept', 'slope1', 'shape')
    """

    shape: Span = (0.1, 50.0)

    kinds: ClassVar[dict[str, Kind]] = {"intercept": "real", "slopes": "real", "shape": "positive"}

    def possible(self, y: Any) -> Any:
        """Return whether responses are positive."""
        return y > 0

    def response_statistics(self, y: Any) -> list[Any]:
        """Return the response and its log."""
        return [y, jnp().log(y)]

    def core(self, s: Any, eta: Any, theta: Any) -> Any:
        """Return the log-density from the statistics."""
        a = theta.shape
        # a gamma law of shape a and rate a exp(-eta)
        return a * (jnp().log(a) - eta) + (a - 1) * s[1] - a * s[0] * jnp().exp(-eta) - special().gammaln(a)

    def means(self, eta: Any, theta: Any) -> list[Any]:
        """Return the mean, and the mean of the log."""
        return [jnp().exp(eta), special().digamma(theta.shape) - jnp().log(theta.shape) + eta]

    def link(self, mean: Any) -> Any:
        """Return the log of a mean."""
        return jnp().log(mean)

    def start(self, x: Any, w: Any) -> list[Any]:
        """Return slopes of 0, the log of the mean as intercept, and a shape of 1."""
        return [*super().start(x, w), jnp().array(1.0)]

    def respond(self, eta: Array, theta: Any, rng: np.random.Generator) -> Array:
        """Return gamma draws."""
        return rng.gamma(float(theta.shape), np.exp(eta) / float(theta.shape))


@dataclass(frozen=True, repr=False)
class LinearRegression(RegressionFamily):
    """A response with mean eta and normal residuals of one standard deviation.

    >>> LinearRegression(regressors=1).bias([0, 1, 2.0], regressors=[[0.0], [1], [2], [5]])
    array([ 0. ,  0. , -2.5])
    """

    sd: Span = (0.1, 10.0)

    kinds: ClassVar[dict[str, Kind]] = {"intercept": "real", "slopes": "real", "sd": "positive"}
    start_is_maximum = True

    def response_statistics(self, y: Any) -> list[Any]:
        """Return the response and its square."""
        return [y, y**2]

    def core(self, s: Any, eta: Any, theta: Any) -> Any:
        """Return the log-density from the statistics, without its constant."""
        return -0.5 * (s[1] - 2 * s[0] * eta + eta**2) / theta.sd**2 - jnp().log(theta.sd)

    def constant(self, y: Any) -> Any:
        """Return minus half the log of two pi."""
        return -0.9189385332046727

    def means(self, eta: Any, theta: Any) -> list[Any]:
        """Return the mean, and the mean square."""
        return [eta, eta**2 + theta.sd**2]

    def start(self, x: Any, w: Any) -> list[Any]:
        """Return least squares, the maximum; NaN where regressors are collinear or all residuals are 0."""
        lib, d = jnp(), self.regressors
        y = self.response(x)
        center = mean(y, w)
        if d == 0:
            slopes, gram, offset = lib.zeros(0), lib.ones((1, 1)), center
            residual = y - center
        else:
            z = x[:, 1:] - mean(x[:, 1:], w)
            scale = lib.sqrt(mean(z**2, w))
            # units do not matter: the Gram matrix is that of correlations
            z = z / scale
            gram = lib.einsum("n,ni,nj->ij", w, z, z) / w.sum()
            slopes = lib.linalg.solve(gram, lib.einsum("n,ni,n->i", w, z, y - center) / w.sum())
            residual = y - center - z @ slopes
            slopes = slopes / scale
            # the intercept of regressors that are not centred
            offset = center - mean(x[:, 1:], w) @ slopes
        sd, whole = lib.sqrt(mean(residual**2, w)), lib.sqrt(mean((y - center) ** 2, w))
        # collinear regressors: a pivot of 0, or NaN, which compares as False; an exact fit has no sd
        sound = (lib.diag(lib.linalg.cholesky(gram)).min() > 1e-6) & (sd > 1e-9 * whole)
        return [lib.where(sound, part, lib.nan) for part in (offset, *[slopes[i] for i in range(d)], sd)]

    def bias_form(self, theta: Any) -> Any:
        """Return the bias: 0 for coefficients; for sd, -sd / 2 for each coefficient and the intercept, and -sd / 4."""
        # E(sd) = sd (1 - (d + 1) / 2n - 1 / 4n): division by n, and the concavity of the root
        zeros = jnp().zeros(self.regressors + 1)
        return jnp().append(zeros, -theta.sd * (self.regressors + 1.5) / 2)

    def respond(self, eta: Array, theta: Any, rng: np.random.Generator) -> Array:
        """Return normal draws."""
        return rng.normal(eta, float(theta.sd))
