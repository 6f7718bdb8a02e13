"""Estimating equations of weighted points for the solver: objective, gradient, Hessian and scores at any parameter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.solvers.losses import RegressionLoss


@dataclass(frozen=True)
class Local:
    """Weighted objective at a parameter: value, gradient (p,), Hessian (p, p)."""

    value: float
    gradient: Array
    hessian: Array

    @property
    def finite(self) -> bool:
        """Whether value, gradient and Hessian are finite."""
        return bool(np.isfinite(self.value) and np.isfinite(self.gradient).all() and np.isfinite(self.hessian).all())


class Problem(Protocol):
    """A loss summed over weighted points; p parameters."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        ...

    def begin(self, weights: Array) -> Array:
        """Return a starting value, shape (p,), from non-negative weights, shape (points,)."""
        ...

    def local(self, theta: Array, weights: Array) -> Local:
        """Return the weighted objective with its derivatives at theta, shape (p,)."""
        ...

    def scores(self, theta: Array) -> Array:
        """Return the gradient of each point's loss, shape (points, p)."""
        ...

    def curvature_noise(self, theta: Array, root: Array) -> Array:
        """Return the sum over points of (R'HR)**2, shape (p, p), with H the Hessian of one point and R = `root`."""
        ...

    def trouble(self, theta: Array, weights: Array) -> str | None:
        """Return why a converged fit to non-negative weights has no usable solution, or None."""
        ...


@dataclass(frozen=True)
class RegressionProblem:
    """A regression: X, shape (points, p), and y, shape (points, columns), what the loss takes of the response."""

    names: tuple[str, ...]
    loss: RegressionLoss
    X: Array
    y: Array

    def begin(self, weights: Array) -> Array:
        """Return least-squares coefficients for a constant predictor, or for the response under an identity link."""
        total = weights.sum()
        mean = float(weights @ self.y[:, 0] / total) if total > 0 else 0.0
        # other links: the intercept-only fit, at which the curvature of all points is well away from 0
        target = np.full(len(self.X), self.loss.predictor(mean, edge=0.01))
        if self.loss.link == "identity":
            target = self.y[:, 0]
        root = np.sqrt(np.maximum(weights, 0.0))
        found = np.linalg.lstsq(self.X * root[:, None], target * root, rcond=None)[0]
        return np.asarray(found, dtype=np.float64)

    def local(self, theta: Array, weights: Array) -> Local:
        """Value, gradient and Hessian from the loss's derivatives in the linear predictor."""
        value, first, second = self._at(theta)
        with np.errstate(all="ignore"):
            # chain rule through eta = x' b: gradient sum w m' x, Hessian sum w m'' x x'
            weighted = self.X.T * (weights * second)
            return Local(float(weights @ value), self.X.T @ (weights * first), weighted @ self.X)

    def scores(self, theta: Array) -> Array:
        """Score of each point, shape (points, p)."""
        return self.X * self.slope(theta)[:, None]

    def slope(self, theta: Array) -> Array:
        """Return the derivative of each point's loss in the linear predictor, shape (points,)."""
        return self._at(theta)[1]

    def curvatures(self, theta: Array) -> Array:
        """Return the second derivative of each point's loss in the linear predictor, shape (points,); 1 with kinks."""
        # between kinks a loss has none: where it bends is the response's part
        return np.ones(len(self.X)) if self.loss.sees == "bin" else self._at(theta)[2]

    def curvature_noise(self, theta: Array, root: Array) -> Array:
        """A point's Hessian is m'' x x': the square of R'HR is m''**2 |R'x|**2 (R'x)(R'x)'."""
        scaled = self.X @ root
        factor = self._at(theta)[2] ** 2 * (scaled**2).sum(axis=1)
        return (scaled.T * factor) @ scaled

    def trouble(self, theta: Array, weights: Array) -> str | None:
        """Return a reason if the data are separated: curvature has vanished in some direction of the design."""
        if self.loss.link == "identity":
            return None
        # curvature relative to the design: with X made white under the weights, the Hessian has eigenvalues near 0
        # only in directions where all rows sit at flat ends of the link, that is, are told apart without error
        second = self._at(theta)[2]
        gram = (self.X.T * weights) @ self.X
        scale = np.sqrt(np.diag(gram))
        # positive definite here: Newton has converged with a Hessian that is
        inner = np.linalg.eigh(gram / np.outer(scale, scale))
        white = self.X / scale @ inner.eigenvectors / np.sqrt(inner.eigenvalues)
        values = np.linalg.eigvalsh((white.T * (weights * second)) @ white)
        lost = values[0] < 1e-7 * values[-1] or (self.loss.sees == "share" and values[-1] < 1e-6)
        return "separation: the regressors tell the response without error, and estimates run off" if lost else None

    def _at(self, theta: Array) -> tuple[Array, Array, Array]:
        """Return the loss of each point and its first two derivatives in the linear predictor, shape (points,) each."""
        with np.errstate(all="ignore"):
            return self.loss.evaluate(self.y, self.X @ theta)

    @cached_property
    def singular(self) -> tuple[str, ...]:
        """Return the terms that take part in a linear dependence on the cells; empty for a design of full rank."""
        # columns of root mean square 1, so that the bound on eigenvalues does not depend on units
        scale = np.sqrt((self.X**2).mean(axis=0))
        if (scale == 0).any():
            return tuple(name for name, one in zip(self.names, scale, strict=True) if one == 0)
        gram = (self.X / scale).T @ (self.X / scale) / len(self.X)
        values, vectors = np.linalg.eigh(gram)
        if values[0] > 1e-10 * values[-1]:
            return ()
        # the eigenvector of the least eigenvalue is the dependence: terms with a part in it
        return tuple(name for name, part in zip(self.names, vectors[:, 0], strict=True) if abs(part) > 1e-3)
