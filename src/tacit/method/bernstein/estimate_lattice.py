"""A distribution function on a lattice from a release's integers, with both covariances.  Plain arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.densities import local_doubts
from tacit.estimates.densities.column_values import distance_of_values
from tacit.estimates.densities.local_doubts import doubted, misfit, peaks, ranges
from tacit.estimates.densities.series_coefficients import Shares
from tacit.estimates.terms import Target
from tacit.fits.within_bins import cell_shapes
from tacit.fits.within_bins.cell_shapes import CellShapes, off_by
from tacit.method.shared.iterated_operator import slopes, weights
from tacit.method.shared.numeric_columns import support
from tacit.noise.laws import Law
from tacit.release.document import Released
from tacit.release.parts import Variable

DRAWS: Final = 4_000
"""Draws of the joint error for a simultaneous band."""
SEED: Final = 18_03
RICHER: Final = 10
"""Order of the polynomial that tells what is left of bias."""
POINTS: Final = 301
"""Places of a simultaneous band: closer near the ends, where a polynomial of degree k moves within 1 / k."""


@dataclass(frozen=True)
class LatticeDoubts:
    """Where the shares between neighbouring places say more than a polynomial does.

    ranges: of [0, 1].  peaks: those of them that are peaks of the shares.  misfit: which part of all residuals is more
    than noise (`local_doubts.misfit`).
    """

    ranges: tuple[tuple[float, float], ...] = ()
    peaks: tuple[tuple[float, float], ...] = ()
    misfit: float = 0.0


@dataclass(frozen=True)
class LatticeFit:
    """Values of a distribution function at j / k, j from 0 to k; the first is 0 and the last 1.

    values: as released, not made to rise, shape (k + 1,).  sampling: their covariance without noise.  privacy: that of
    the noise.  size: number of rows, noisy or public.  reason: why nothing is known.  law: of the noise of an integer.
    load: what it adds to the values, shape (k + 1, integers).  unit: distance of two values of the column, as part of
    the range; 0 of any.
    """

    degree: int
    values: Array
    sampling: Array
    privacy: Array
    size: float
    reason: str | None
    law: Law
    load: Array
    unit: float = 0.0

    @property
    def covariance(self) -> Array:
        """Covariance of both errors."""
        return self.sampling + self.privacy

    @property
    def shares(self) -> Shares:
        """The shares between neighbouring places of the lattice, with both errors."""
        steps, places = _steps(self.degree), np.linspace(0, 1, self.degree + 1)
        facts = (steps @ self.values, steps @ self.sampling @ steps.T, steps @ self.load)
        return Shares(places, *facts, float(self.law.variance()))

    @cached_property
    def shapes(self) -> CellShapes:
        """The shapes between neighbouring places of the lattice."""
        places, own = np.linspace(0, 1, self.degree + 1), np.diff(np.diff(self.privacy, axis=0), axis=1)
        variance = float(np.mean(np.diag(own))) * self.size**2
        return CellShapes.of(places, np.diff(self.values) * self.size, variance)

    @cached_property
    def full(self) -> Array:
        """How far nothing is known of the shapes between neighbouring places, from 0 to 1 (`CellShapes.full`)."""
        # one value has no shape
        return self.shapes.full * (self.degree * self.unit <= 1 / 1.5)

    def beside(self, over: Array, other: Array, cells: Array, unknown: Array) -> Array:
        """Return what sums of lattice values, weighted by `over`, may be off by, shape (n,), from two other opinions.

        other: weights of a polynomial of order RICHER, whose bias is less and whose noise not much more.  cells: of the
        shares between neighbouring places of the lattice, of the shapes there.  unknown: of these.
        """
        shaped = cells @ _steps(self.degree)
        each = [(over - other) @ self.values, (over - shaped) @ self.values]
        noise = [self._noise(over - other), self._noise(over - shaped), self._noise(shaped)]
        first = off_by(each[0], noise[0], np.zeros(len(over)), noise[2])
        return np.maximum(first, off_by(each[1], noise[1], unknown, noise[2]))

    def hidden(self, places: Array) -> Array:
        """Return what is not known of the density at places whose cell holds so many rows that no residual tells.

        0 elsewhere.
        """
        if not self.full.any():
            return np.zeros(len(places))
        cells, unknown = self.shapes.density(places)
        return self.shapes.hidden(places, unknown, self._noise(cells @ _steps(self.degree)))

    def hidden_below(self, places: Array, told: Array) -> Array:
        """Return the same of the share below places; told: the share, by the polynomial."""
        return self.shapes.hidden_below(places, told) if self.full.any() else np.zeros(len(places))

    def _noise(self, over: Array) -> Array:
        return np.asarray(((over @ self.covariance) * over).sum(axis=1))

    def drawn(self, draws: int, rng: np.random.Generator) -> Array:
        """Return draws of the errors of the values, shape (draws, k + 1): normal ones of sampling, noise by its law."""
        found, vectors = np.linalg.eigh(self.sampling)
        made = rng.standard_normal((draws, len(found))) @ (vectors * np.sqrt(np.maximum(found, 0.0))).T
        many = self.load.shape[1]
        return made + self.law.sample(draws * many, rng).reshape(draws, many) @ self.load.T

    def doubts(self, order: int) -> LatticeDoubts:
        """Return where shares say more than the polynomial of an order does."""
        if self.reason is not None:
            return LatticeDoubts()
        if not self.sampling.any():
            # rows of a table scatter about a smooth density as those of a sample do
            own = of_rows(rising(self.values), self.size)
            # all rows between two neighbouring places: there is no scatter to judge by
            return replace(self, sampling=own).doubts(order) if own.any() else LatticeDoubts()
        places, steps = np.linspace(0, 1, self.degree + 1), _steps(self.degree)
        left = steps - np.diff(weights(self.degree, order, places), axis=0)
        own = np.sqrt(np.maximum(((steps @ self.covariance) * steps).sum(axis=1), 0.0))
        errors = self.drawn(local_doubts.DRAWS, np.random.default_rng(SEED))
        found = doubted(left @ self.values, errors @ left.T, own)
        # no limit of a density is known where half of all rows may be anywhere in a cell
        high = peaks(found, places, np.diff(self.values)) | (self.full >= cell_shapes.UNTOLD)
        # smoother misfits show in what a polynomial of less bias says otherwise
        t = (places[1:] + places[:-1]) / 2
        other = slopes(self.degree, RICHER, t) - slopes(self.degree, order, t)
        part = misfit(other @ self.values, errors @ other.T, bool(found.any()))
        # beside a cell with so many rows a polynomial is off whatever residuals say
        part = max(part, float(self.full.max()))
        return LatticeDoubts(ranges(found, places), ranges(high, places), part)


def fitted(release: Released, target: Target = "population") -> LatticeFit:
    """Return the lattice values of a release, real or simulated."""
    part = release.parts[0]
    facts, variance = part.parameters, float(part.law.variance())
    k, presence = facts["degree"], facts["presence"]
    unit = float(facts["G"] * facts.get("share", 1))
    integers = np.array([float(x) for x in part.integers[0]]) / unit
    n = float(integers[-1]) if presence else float(release.rows or 0)
    spread = float(np.sqrt(variance)) / unit
    reason = f"size {n:,.0f}: not clearly above 0" if presence and n <= 3 * spread else None
    n = max(n, 1.0)
    values = np.concatenate([[0.0], integers[: k - 1] / n, [1.0]])
    if reason is not None:
        values = np.linspace(0, 1, k + 1)
    load = np.zeros((k + 1, k))
    load[np.arange(1, k), np.arange(k - 1)] = 1 / (n * unit)
    if presence:
        # of a ratio: the noise of the size moves all values
        load[1:k, -1] = -values[1:k] / (n * unit)
    sampling = np.zeros((k + 1, k + 1)) if target == "table" else of_rows(rising(values), n)
    (one,) = cast("tuple[Variable, ...]", getattr(release, "variables", ()))
    low, high = support(one)
    unit = distance_of_values(one.kind, one.multiple_of) / (high - low)
    return LatticeFit(k, values, sampling, variance * load @ load.T, n, reason, part.law, load, unit)


def _steps(k: int) -> Array:
    """Return the weights of lattice values in the shares between neighbouring places, shape (k, k + 1)."""
    return np.eye(k + 1)[1:] - np.eye(k + 1)[:-1]


def rising(values: Array) -> Array:
    """Return values made a distribution function: the mean of the largest so far and of the least from there on.

    >>> rising(np.array([0.0, 0.6, 0.4, 1.0])).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    cut = np.clip(values, 0.0, 1.0)
    up, down = np.maximum.accumulate(cut), np.minimum.accumulate(cut[::-1])[::-1]
    return np.asarray((up + down) / 2)


def of_rows(values: Array, n: float) -> Array:
    """Return the covariance of an empirical distribution function of n rows, F(s) (1 - F(t)) / n for s <= t."""
    lower, upper = np.minimum.outer(values, values), np.maximum.outer(values, values)
    return np.asarray(lower * (1 - upper) / n)


@dataclass(frozen=True)
class BernsteinCurve:
    """The density on [0, 1] that is the derivative of an iterated Bernstein polynomial."""

    fit: LatticeFit
    order: int

    @cached_property
    def doubts(self) -> LatticeDoubts:
        """Where the lattice says more than the polynomial."""
        return self.fit.doubts(self.order)

    def series(self, t: Array) -> Array:
        """Return the derivative of the polynomial at places t."""
        return np.asarray(slopes(self.fit.degree, self.order, t) @ self.fit.values)

    def center(self, t: Array) -> Array:
        """Return what limits are around: the estimate itself."""
        return self.series(t)

    def errors(self, t: Array) -> Array:
        """Return the standard errors of the derivative at places t, and what it is seen to be off by."""
        return np.hypot(self._errors(t), self._off(t))

    def _errors(self, t: Array) -> Array:
        """Return the standard errors of the derivative of the polynomial at places t."""
        over = slopes(self.fit.degree, self.order, t)
        return np.asarray(np.sqrt(np.maximum(((over @ self.fit.covariance) * over).sum(axis=1), 0.0)))

    def _off(self, t: Array) -> Array:
        """Return what the derivative of the polynomial may be off by, but for doubts."""
        part = self.doubts.misfit
        hidden = self.fit.hidden(t)
        if not part:
            return hidden
        found = [hidden / np.sqrt(part)]
        # what is off changes its sign within a step of the lattice: the most of three places beside each other
        for beside in (-0.5, 0.0, 0.5):
            at = np.clip(t + beside / self.fit.degree, 0.0, 1.0)
            own, other = (slopes(self.fit.degree, order, at) for order in (self.order, RICHER))
            found.append(self.fit.beside(own, other, *self.fit.shapes.density(at)))
        return np.sqrt(part) * np.max(found, axis=0)

    def factor(self, level: float) -> float:
        """Return the quantile of the largest standardised error over [0, 1], from draws.

        Sampling errors are normal, noise has its own law: at an end the derivative is that of two or three lattice
        values, and the largest of Laplace errors is farther out than that of normal ones.
        """
        t = (1 - np.cos(np.pi * np.linspace(0, 1, POINTS))) / 2
        over = slopes(self.fit.degree, self.order, t)
        draws = self.fit.drawn(DRAWS, np.random.default_rng(SEED))
        error = np.maximum(self._errors(t), np.finfo(np.float64).tiny)
        return float(np.quantile(np.abs(draws @ over.T / error).max(axis=1), level, method="higher"))

    @property
    def at_once(self) -> BernsteinCurve:
        """The same."""
        return self
