"""Families whose maximum is hard or wide: Student t, two normals mixed, several normals at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.models.block_moments import at_least, jnp, log_normal, mean, median, moments, special
from tacit.models.boxes import Array, Kind, Span
from tacit.models.family import Family
from tacit.models.likelihood import Order


@dataclass(frozen=True, repr=False)
class StudentT(Family):
    """Student's t law with location, scale and degrees of freedom.

    Degrees of freedom are known badly from small blocks: `StudentT(df=4)` holds them.  A block that has none (tails
    of a normal law) answers with the upper end of their box.

    >>> StudentT(df=3).names
    ('location', 'scale')
    """

    location: Span = (-10.0, 10.0)
    scale: Span = (0.1, 10.0)
    df: Span = (1.0, 30.0)

    kinds: ClassVar[dict[str, Kind]] = {"location": "real", "scale": "positive", "df": "positive"}
    on, edge = "real", "clamp"
    orders: ClassVar[dict[str, Order]] = {
        "location": Order(3.0, 0.3),
        "scale": Order(8.0, 40.0, 1 / 3),
        "df": Order(40.0, 400.0, 0.0),
    }

    def order(self, name: str) -> Order:
        """The scale is as easy as the location where degrees of freedom are held."""
        return super().order(name) if "df" in self.names or name != "scale" else Order(2.0, 0.5, 1 / 3)

    def log_density(self, x: Any, theta: Any) -> Any:
        """JAX: the log-density of one row."""
        lib, g = jnp(), special().gammaln
        nu = theta.df
        z = (x - theta.location) / theta.scale
        constant = g((nu + 1) / 2) - g(nu / 2) - 0.5 * lib.log(math.pi * nu) - lib.log(theta.scale)
        return constant - (nu + 1) / 2 * lib.log1p(z**2 / nu)

    def guess(self, x: Any, w: Any) -> list[Any]:
        """The median, the mean distance from it, five degrees of freedom; none where all rows are equal."""
        middle = median(x, w)
        apart = 0 * moments(x, w)[1]
        return [middle, mean(jnp().abs(x - middle), w) + apart, jnp().array(5.0)]

    def nodes(self, theta: Any) -> tuple[Any, Any]:
        """Location + scale sinh(s), s by the trapezium rule."""
        lib = jnp()
        s = np.arange(-36.0, 36.01, 0.3)
        x = theta.location + theta.scale * np.sinh(s)
        weights = lib.exp(self.log_density(x, theta) + lib.log(theta.scale)) * np.cosh(s)
        return x, weights / weights.sum()

    def fisher_form(self, theta: Any) -> Any:
        """Rational in location and scale, trigamma functions of the degrees of freedom."""
        nu, s, p = theta.df, theta.scale, special().polygamma
        both = -2 / (s * (nu + 1) * (nu + 3))
        last = (p(1, nu / 2) - p(1, (nu + 1) / 2)) / 4 - (nu + 5) / (2 * nu * (nu + 1) * (nu + 3))
        return [
            [(nu + 1) / ((nu + 3) * s**2), 0.0, 0.0],
            [0.0, 2 * nu / ((nu + 3) * s**2), both],
            [0.0, both, last],
        ]

    def where(self, theta: Any) -> tuple[float, float]:
        """Location and scale."""
        return float(theta.location), float(theta.scale)

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Draws of Student's t."""
        return float(theta.location) + float(theta.scale) * rng.standard_t(float(theta.df), rows)


@dataclass(frozen=True, repr=False)
class NormalMixture(Family):
    """Two normals mixed: `share` is that of the second, whose mean is the higher one.

    The hard case: the likelihood has several maxima and no bound; boxes must keep the standard deviations from 0.

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
    on, edge, widen, steps = "real", "clamp", 0.0, 80
    orders: ClassVar[dict[str, Order]] = {word: Order(50.0, 150.0) for word in kinds}

    def log_density(self, x: Any, theta: Any) -> Any:
        """JAX: the log-density of one row."""
        lib = jnp()
        first = lib.log1p(-theta.share) + log_normal(x, theta.mean1, theta.sd1)
        second = lib.log(theta.share) + log_normal(x, theta.mean2, theta.sd2)
        return lib.logaddexp(first, second)

    def guess(self, x: Any, w: Any) -> list[Any]:
        """Means and deviations of the lower and the upper half; none where all rows are equal."""
        lib = jnp()
        apart = 0 * moments(x, w)[1]
        middle = median(x, w)
        sides: list[tuple[Any, Any]] = []
        for part in (w * (x <= middle), w * (x >= middle)):
            center = mean(x, part)
            sides.append((center + apart, at_least(lib.sqrt(mean((x - center) ** 2, part)), 1e-3)))
        return [lib.array(0.5), sides[0][0], sides[1][0], sides[0][1], sides[1][1]]

    def canonical(self, theta: Any) -> Any:
        """The lower mean first, where all five numbers are estimated."""
        if not self.whole:
            return theta
        turned = jnp().stack([1 - theta[0], theta[2], theta[1], theta[4], theta[3]])
        return jnp().where(theta[1] <= theta[2], theta, turned)

    def where(self, theta: Any) -> tuple[float, float]:
        """The middle between the means, and all that is wide."""
        t = {name: float(getattr(theta, name)) for name in ("mean1", "mean2", "sd1", "sd2")}
        return (t["mean1"] + t["mean2"]) / 2, min(t["sd1"], t["sd2"])

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Normal draws, each from one of the two."""
        second = rng.random(rows) < float(theta.share)
        center = np.where(second, float(theta.mean2), float(theta.mean1))
        return center + np.where(second, float(theta.sd2), float(theta.sd1)) * rng.standard_normal(rows)


@dataclass(frozen=True, repr=False)
class MultivariateNormal(Family):
    """Several normal columns at once: means, standard deviations, correlations (12, 13, ..., 23, ...).

    >>> MultivariateNormal(dimensions=2).names
    ('mean1', 'mean2', 'sd1', 'sd2', 'correlation1')
    """

    dimensions: int = 2
    means: Span = (-10.0, 10.0)
    sds: Span = (0.1, 10.0)
    correlations: Span = (-1.0, 1.0)

    kinds: ClassVar[dict[str, Kind]] = {"means": "real", "sds": "positive", "correlations": "signed"}
    on, closed, lifts, averages = None, True, True, True
    orders: ClassVar[dict[str, Order]] = {
        "means": Order(0.0, 0.0),
        "sds": Order(1.5, 0.0),
        "correlations": Order(4.0, 1.0),
    }

    @classmethod
    def _settings(cls) -> dict[str, int]:
        return {"dimensions": 2}

    def sizes(self) -> dict[str, int]:
        """Lengths of the three vectors."""
        d = self.dimensions
        return {"means": d, "sds": d, "correlations": d * (d - 1) // 2}

    @property
    def columns(self) -> int:
        """One for each dimension."""
        return self.dimensions

    def inside(self, x: Any) -> Any:
        """All finite rows."""
        return ((x > -np.inf) & (x < np.inf)).all(-1)

    @property
    def pairs(self) -> tuple[Any, Any]:
        """Rows and columns above the diagonal."""
        return np.triu_indices(self.dimensions, 1)

    def covariance(self, theta: Any) -> Any:
        """JAX: the covariance matrix, shape (d, d)."""
        lib = jnp()
        upper = lib.zeros((self.dimensions, self.dimensions)).at[self.pairs].set(theta.correlations)
        return (lib.eye(self.dimensions) + upper + upper.T) * theta.sds[:, None] * theta.sds[None, :]

    def log_density(self, x: Any, theta: Any) -> Any:
        """JAX: the log-density of one row; NaN where correlations are none."""
        return self.of_lift(self.lift(x), theta) - 0.9189385332046727 * self.dimensions

    def guess(self, x: Any, w: Any) -> list[Any]:
        """Those of the block, which are the maximum; none where a column is constant or depends on the others."""
        lib, d = jnp(), self.dimensions
        center = mean(x, w)
        square = lib.einsum("n,ni,nj->ij", w, x - center, x - center) / w.sum()
        sds = lib.sqrt(lib.diag(square))
        matrix = square / sds[:, None] / sds[None, :]
        sound = lib.diag(lib.linalg.cholesky(matrix)).min() > 1e-6
        parts = [center[i] for i in range(d)] + [sds[i] for i in range(d)]
        parts += [matrix[i, j] for i, j in zip(*self.pairs, strict=True)]
        return [lib.where(sound, part, lib.nan) for part in parts]

    def lift(self, x: Any) -> Any:
        """The row and its products."""
        return jnp().concatenate([x, (x[:, None] * x[None, :]).reshape(-1)])

    def of_lift(self, u: Any, theta: Any) -> Any:
        """The log-density without its constant."""
        lib, d = jnp(), self.dimensions
        m = theta.means
        about = u[d:].reshape(d, d) - u[:d, None] * m - m[:, None] * u[:d] + m[:, None] * m
        factor = lib.linalg.cholesky(self.covariance(theta))
        inverse = jnp().linalg.inv(factor)
        return -0.5 * lib.trace(inverse.T @ inverse @ about) - lib.log(lib.diag(factor)).sum()

    def expected(self, u: Any, theta: Any) -> Any:
        """Means, and means of products."""
        m = theta.means
        return jnp().concatenate([m, (self.covariance(theta) + m[:, None] * m).reshape(-1)])

    def bias_form(self, theta: Any) -> Any:
        """None of means; of each deviation as of one normal; r (1 - r^2) / 2 below correlations."""
        r = theta.correlations
        return jnp().concatenate([0 * theta.means, -0.75 * theta.sds, -0.5 * r * (1 - r**2)])

    def draw(self, theta: Any, rows: int, rng: np.random.Generator, regressors: Array | None) -> Array:
        """Normal draws."""
        cov = np.asarray(self.covariance(theta), dtype=np.float64)
        return rng.multivariate_normal(np.asarray(theta.means, dtype=np.float64), cov, rows)
