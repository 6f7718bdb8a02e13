"""The risk function that fits a release: a mixture of the losses of public cells.  Plain arrays.

The risk of a table is sum_b w_b l(c; b) over public cells b, with weights w_b >= 0 that add up to 1.  The estimate is
the mixture nearest, by least squares, to the noisy lattice values.  It is convex in c, as the losses are, where a
polynomial through noisy values is not, and it has no error of interpolation of its own.  As every table's risk is a
mixture, projection on the convex set of mixtures brings the lattice values nearer to the table's.  Some of the cells,
spread evenly, stand for all (`risk_cells.few`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.method.risk_function.encoding import RiskTable, table
from tacit.method.risk_function.linear_losses import bend_of, loss_of, slope_of
from tacit.method.risk_function.risk_cells import cells, few
from tacit.release.document import Released

DRAWS: Final = 60
"""Refits to noise drawn anew, from which privacy errors are estimated."""
SEED: Final = 18_37
NEWTON: Final = 20
"""Steps of Newton's method."""
HEAVY: Final = 100.0
"""Weight of the condition that the parts of a mixture add up to 1, beside that of all lattice values."""


@dataclass(frozen=True)
class Lattice:
    """Values of a risk at the lattice points, less their public middles, as released.

    values: shape (m,).  load: how raw noises move them, shape (m, integers), per unit of a raw noise.  error: standard
    deviation of a raw noise.  size: number of rows, noisy or public.  reason: why nothing is known.
    """

    table: RiskTable
    values: Array
    load: Array
    error: float
    laplace: bool
    size: float
    reason: str | None

    def noise(self, draws: int, seed: int) -> Array:
        """Return the noise of the values, drawn anew, shape (draws, m)."""
        rng, size = np.random.default_rng(seed), (draws, self.load.shape[1])
        raw = rng.laplace(0, self.error / np.sqrt(2), size) if self.laplace else rng.normal(0, self.error, size)
        return np.asarray(raw @ self.load.T)


def lattice(release: Released) -> Lattice:
    """Return the lattice values of a release, real or simulated."""
    (part,), query, facts = release.parts, release.query, release.parts[0].parameters
    asked: Any = query
    made = table(asked.loss, asked.box, asked.steps, _variables(release))
    share, presence = facts.get("share", 1), facts["presence"]
    integers = np.array([float(x) for x in part.integers[0]]) / share
    error = float(np.sqrt(float(part.law.variance()))) / share
    m = len(made.points)
    n = float(integers[-1]) / presence if presence else float(release.rows or 0)
    reason = f"size {n:,.0f}: not clearly above 0" if presence and n <= 3 * error / presence else None
    n = max(n, 1.0)
    values = np.zeros(m) if reason is not None else integers[:m] / (n * made.unit)
    load = np.eye(m, m + (1 if presence else 0)) / (n * made.unit)
    if presence:
        # of a ratio: the noise of the size moves all values
        load[:, -1] = -values / (n * presence)
    return Lattice(made, values, load, error, part.cost.noise == "laplace", n, reason)


@dataclass(frozen=True)
class LossMixture:
    """A risk function.

    x: regressors of the cells of the mixture, shape (cells, p).  y: their outcomes.  weights: shape (cells,).
    """

    loss: str
    box: float
    x: Array
    y: Array
    weights: Array

    def values(self, at: Array) -> Array:
        """Return the losses of all cells at coefficients of shape (n, p), shape (n, cells)."""
        return loss_of(self.loss, at @ self.x.T, self.y[None, :])

    def least(self) -> Array:
        """Return the coefficients of least risk within the box."""

        def risk(c: Array) -> tuple[float, Array]:
            z = self.x @ c
            slopes = self.weights * slope_of(self.loss, z, self.y)
            return float(self.weights @ loss_of(self.loss, z, self.y)), slopes @ self.x

        from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

        p = self.x.shape[1]
        found: Any = cast(Any, optimize).minimize(
            risk, np.zeros(p), jac=True, bounds=[(-self.box, self.box)] * p,
            method="L-BFGS-B", options={"ftol": 1e-13, "gtol": 1e-9},
        )  # fmt: skip
        return np.asarray(found.x)

    def curvature(self, at: Array) -> Array:
        """Return the second derivatives of the risk, shape (p, p)."""
        return (self.x * (self.weights * bend_of(self.loss, self.x @ at, self.y))[:, None]).T @ self.x

    def spread(self, at: Array) -> Array:
        """Return the covariance of a row's derivative of the loss, shape (p, p)."""
        each = self.x * slope_of(self.loss, self.x @ at, self.y)[:, None]
        mean = self.weights @ each
        return (each * self.weights[:, None]).T @ each - np.outer(mean, mean)


@dataclass(frozen=True)
class RiskFit:
    """The mixture of a release, and the weights of mixtures of the same lattice values with noise drawn anew.

    draws: shape (draws, cells).
    """

    lattice: Lattice
    mixture: LossMixture
    draws: Array

    def least_of_draws(self, start: Array) -> Array:
        """Return the coefficients of least risk of each draw within the box, shape (draws, p), by Newton's method."""
        one, box = self.mixture, self.mixture.box
        p = len(start)
        c: Array = np.tile(start, (len(self.draws), 1))
        for _ in range(NEWTON):
            z = c @ one.x.T
            slope = (self.draws * slope_of(one.loss, z, one.y)) @ one.x
            bends = np.einsum("bi,ij,ik->bjk", self.draws * bend_of(one.loss, z, one.y), one.x, one.x)
            # a hinge may have no second derivative anywhere
            step = cast(Array, np.linalg.solve(bends + 1e-9 * np.eye(p), slope[:, :, None])[:, :, 0])
            length = np.sqrt((step**2).sum(axis=1, keepdims=True))
            c = np.clip(c - step * np.minimum(1.0, box / 4 / np.maximum(length, 1e-12)), -box, box)
        return c


def fitted(release: Released) -> RiskFit:
    """Return the risk function of a release, real or simulated, with draws of its noise."""
    asked: Any = release.query
    found, variables = lattice(release), _variables(release)
    x, y = cells(variables)
    kept = few(variables)
    x, y = x[kept], y[kept]
    matrix = loss_of(asked.loss, found.table.points @ x.T, y[None, :]) - found.table.middles[:, None]
    weights = _weights(matrix, found.values)
    center = matrix @ weights
    draws = np.array([_weights(matrix, center + noise) for noise in found.noise(DRAWS, SEED)])
    return RiskFit(found, LossMixture(asked.loss, asked.box, x, y, weights), draws)


def _weights(matrix: Array, values: Array) -> Array:
    """Return weights, none below 0 and 1 together, of least squared distance from the values; shape (cells,)."""
    from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

    heavy = HEAVY * float(np.sqrt((matrix**2).sum(axis=0).max()))
    full = np.vstack([matrix, np.full(matrix.shape[1], heavy)])
    found: Array = cast(Any, optimize).nnls(full, np.append(values, heavy), maxiter=50 * matrix.shape[1])[0]
    total = float(found.sum())
    # noise far beyond every loss may leave no weight at all: then no cell is likelier than another
    return found / total if total > 0 else np.full(len(found), 1 / len(found))


def _variables(release: Released) -> Any:
    return getattr(release, "variables", ())
