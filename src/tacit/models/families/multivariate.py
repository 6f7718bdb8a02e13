"""The multivariate normal family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.models.block_moments import jnp, mean
from tacit.models.boxes import Array, Kind, Span
from tacit.models.family import Family
from tacit.models.likelihood import Order


@dataclass(frozen=True, repr=False)
class MultivariateNormal(Family):
    """Multivariate normal law, by means, standard deviations and correlations (in the order 12, 13, ..., 23, ...).

    >>> MultivariateNormal(dimensions=2).names
    ('mean1', 'mean2', 'sd1', 'sd2', 'correlation1')
    """

    dimensions: int = 2
    means: Span = (-10.0, 10.0)
    sds: Span = (0.1, 10.0)
    correlations: Span = (-1.0, 1.0)

    kinds: ClassVar[dict[str, Kind]] = {"means": "real", "sds": "positive", "correlations": "signed"}
    row_support, start_is_maximum, linear_in_statistics, mean_statistics_suffice = None, True, True, True
    orders: ClassVar[dict[str, Order]] = {
        "means": Order(0.0, 0.0),
        "sds": Order(1.5, 0.0),
        "correlations": Order(4.0, 1.0),
    }
    statistics_hint = "tc.Regression, whose cross-products are its statistics, or SampleAndAggregate(…)"

    @classmethod
    def _settings(cls) -> dict[str, int]:
        return {"dimensions": 2}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the three vectors."""
        d = self.dimensions
        return {"means": d, "sds": d, "correlations": d * (d - 1) // 2}

    @property
    def columns(self) -> int:
        """The number of columns: one for each dimension."""
        return self.dimensions

    def inside(self, x: Any) -> Any:
        """Return whether rows are finite."""
        return ((x > -np.inf) & (x < np.inf)).all(-1)

    @property
    def pairs(self) -> tuple[Any, Any]:
        """Row and column indices of the entries above the diagonal."""
        return np.triu_indices(self.dimensions, 1)

    def covariance(self, theta: Any) -> Any:
        """Return the covariance matrix, shape (d, d) (JAX)."""
        lib = jnp()
        upper = lib.zeros((self.dimensions, self.dimensions)).at[self.pairs].set(theta.correlations)
        return (lib.eye(self.dimensions) + upper + upper.T) * theta.sds[:, None] * theta.sds[None, :]

    def log_density(self, x: Any, theta: Any) -> Any:
        """Return the log-density of one row (JAX); NaN where correlations make no positive definite matrix."""
        # log(2 pi) / 2 for each dimension
        return self.log_density_from(self.row_statistics(x), theta) - 0.9189385332046727 * self.dimensions

    def start(self, x: Any, w: Any) -> list[Any]:
        """Return the moments of the block, the maximum; NaN where a column is constant or depends on the others."""
        lib, d = jnp(), self.dimensions
        center = mean(x, w)
        # the weighted covariance, shape (d, d)
        square = lib.einsum("n,ni,nj->ij", w, x - center, x - center) / w.sum()
        sds = lib.sqrt(lib.diag(square))
        matrix = square / sds[:, None] / sds[None, :]
        # of the correlations, so that units do not matter; NaN, where not positive definite, compares as False
        sound = lib.diag(lib.linalg.cholesky(matrix)).min() > 1e-6
        parts = [center[i] for i in range(d)] + [sds[i] for i in range(d)]
        parts += [matrix[i, j] for i, j in zip(*self.pairs, strict=True)]
        return [lib.where(sound, part, lib.nan) for part in parts]

    def row_statistics(self, x: Any) -> Any:
        """Return the row and its products, shape (d + d**2,)."""
        return jnp().concatenate([x, (x[:, None] * x[None, :]).reshape(-1)])

    def log_density_from(self, u: Any, theta: Any) -> Any:
        """Return the log-density from the statistics, without its constant."""
        lib, d = jnp(), self.dimensions
        m = theta.means
        # mean of (x - m)(x - m)' from the means of x and x x'
        about = u[d:].reshape(d, d) - u[:d, None] * m - m[:, None] * u[:d] + m[:, None] * m
        factor = lib.linalg.cholesky(self.covariance(theta))
        inverse = jnp().linalg.inv(factor)
        # with S = L L': trace(S^-1 about), and log det S / 2 = sum log diag L
        return -0.5 * lib.trace(inverse.T @ inverse @ about) - lib.log(lib.diag(factor)).sum()

    def expected(self, u: Any, theta: Any) -> Any:
        """Return the means, and the means of products."""
        m = theta.means
        return jnp().concatenate([m, (self.covariance(theta) + m[:, None] * m).reshape(-1)])

    def bias_form(self, theta: Any) -> Any:
        """Return the bias: 0 for means, -3/4 of each standard deviation, -r (1 - r**2) / 2 for a correlation r."""
        r = theta.correlations
        return jnp().concatenate([0 * theta.means, -0.75 * theta.sds, -0.5 * r * (1 - r**2)])

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Return normal draws."""
        cov = np.asarray(self.covariance(theta), dtype=np.float64)
        return rng.multivariate_normal(np.asarray(theta.means, dtype=np.float64), cov, rows)
