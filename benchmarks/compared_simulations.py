"""Simulations of `compared_densities.py`: one estimator of one law at one size, price and value of its parameter."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from compared_designs import BASES, Method
from compared_designs import LAWS as DESIGNED
from density_edges import resolved
from smooth_density import LAWS as KNOWN
from smooth_density import nearest_series

import tacit as tc
from tacit.base.arrays import Array
from tacit.fits.within_bins.cell_limits import CellAverages, CellLimits
from tacit.method.bernstein import estimate as bernstein
from tacit.method.bernstein.encoding import steps
from tacit.method.bernstein.lattice_bins import unit_edges
from tacit.method.histogram.estimate_densities import density
from tacit.method.histogram.estimate_smooth import smooth_density
from tacit.method.kernel_density import estimate as kernel
from tacit.method.kernel_density.estimate_kernel import ends_of
from tacit.method.orthogonal_series import estimate as series
from tacit.method.orthogonal_series.design import edges
from tacit.method.orthogonal_series.encoding import SCALE, table
from tacit.method.shared.iterated_operator import slopes
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing.simulate import add_noise, shaped

FINE: Final = 1_000
"""Places of [0, 1] at which squared errors are averaged, and distribution functions compared."""
PLACES: Final = 50
"""Places at which limits hold one by one."""
WHOLE: Final = 400
"""Places at which a band, which is for a whole curve, is held against it."""
LEVEL: Final = 0.95
LAWS: Final = {**KNOWN, **DESIGNED}


@dataclass(frozen=True)
class Case:
    """One estimator of one law.  value: of its parameter; None is what the design chooses."""

    method: Method
    law: str
    n: int
    price: dict[str, float]
    value: float | None = None

    @property
    def shape(self) -> Any:
        """The design."""
        schema = tc.Schema({"x": tc.Real(0, 1, missing=0.0)})
        return shaped(self.method.query(self.value), schema, "replace-one", self.n, Cost.of(**self.price))

    @property
    def chosen(self) -> float:
        """The parameter of the design."""
        shape, facts = self.shape, self.shape.columns[0].form.parameters
        if self.method.name in BASES:
            return float(facts["terms"])
        if self.method.name == "Bernstein":
            return float(facts["degree"])
        return 1 / (1.5 * shape.cells) if self.method.name == "kernel" else float(shape.cells)

    def drawn(self, repeats: int, rng: np.random.Generator) -> tuple[Any, Array, Array, Array]:
        """Return the design, noisy integers of so many releases, ends of its bins and the law's shares of them."""
        shape = self.shape
        (part,), name = shape.columns, self.method.name
        matrix: Any = None
        if name in BASES:
            ends = np.array(edges(shape.variables[0], 1))
            matrix = table(name, tuple(ends.tolist()), part.form.parameters["terms"], SCALE[1])[1:]
        elif name == "Bernstein":
            facts = part.form.parameters
            ends = np.array(unit_edges(shape.variables[0], facts["degree"]))
            matrix = steps(unit_edges(shape.variables[0], facts["degree"]), facts["degree"], facts["G"])
        else:
            ends = ends_of(shape.axes[0])
        chances = np.diff(LAWS[self.law].cdf(ends))
        counts = rng.multinomial(self.n, chances, repeats).astype(np.int64)
        exact = counts if matrix is None else counts @ matrix.T
        return shape, add_noise(shape, (exact,), rng)[0], ends, chances

    def release(self, shape: Any, integers: Array) -> Any:
        """Return a release with these integers."""
        of_cells = self.method.name in ("histogram", "smooth", "kernel", "default")
        return simulated(shape, (integers[:, None] if of_cells else integers[None, :],))

    def estimated(self, release: Any) -> Any:
        """Return the density of a release."""
        name = self.method.name
        if name == "histogram":
            return density(release, "x")
        if name == "default":
            return smooth_density(release, "x")
        if name == "smooth":
            return nearest_series(release)
        rooms = {"kernel": kernel, "Bernstein": bernstein}
        return rooms.get(name, series).smooth_density(release)


@dataclass(frozen=True)
class Errors:
    """Of each simulation the integrated squared error and the largest distance of distribution functions."""

    squared: Array
    distance: Array

    @property
    def mean(self) -> tuple[float, float]:
        """The mean integrated squared error and its Monte-Carlo standard error."""
        return float(self.squared.mean()), float(self.squared.std() / len(self.squared) ** 0.5)


@lru_cache
def truth(law: str) -> tuple[Array, Array]:
    """Return the density's averages over FINE cells, and the distribution function at their ends."""
    whole = LAWS[law].cdf(np.linspace(0, 1, FINE + 1))
    return np.diff(whole) * FINE, whole


def errors(case: Case, repeats: int, seed: int) -> Errors:
    """Simulate the errors of one case; the parameter has no part in the seed."""
    from compared_estimates import estimator

    rng = np.random.default_rng([seed, list(DESIGNED).index(case.law), case.n, len(case.price)])
    true, whole = truth(case.law)
    shape, integers, ends, _ = case.drawn(repeats, rng)
    density, cdf = estimator(case.method.name)(case, shape, integers, ends)
    return Errors(((density - true) ** 2).mean(axis=1), np.abs(cdf - whole).max(axis=1))


def agreement(case: Case, repeats: int) -> tuple[float, float, float]:
    """Return the largest relative difference of squared errors, and of distances, from the library's; and seconds."""
    from compared_estimates import estimator

    rng, far = np.random.default_rng(repeats), list[tuple[float, float]]()
    true, whole = truth(case.law)
    shape, integers, ends, _ = case.drawn(repeats, rng)
    density, cdf = estimator(case.method.name)(case, shape, integers, ends)
    x, at, took = (np.arange(FINE) + 0.5) / FINE, np.linspace(0, 1, FINE + 1), 0.0
    for i in range(repeats):
        start = time.perf_counter()
        one = case.estimated(case.release(shape, integers[i]))
        found = one(x)
        took += time.perf_counter() - start
        squared, ours = ((found - true) ** 2).mean(), ((density[i] - true) ** 2).mean()
        distance = np.abs(_distribution(one, ends, at) - whole).max()
        far.append((abs(squared / ours - 1), abs(distance - np.abs(cdf[i] - whole).max())))
    worst = np.array(far).max(axis=0)
    return float(worst[0]), float(worst[1]), took / repeats


def _distribution(one: Any, own: Array, at: Array) -> Array:
    if hasattr(one, "cdf"):
        return np.asarray(one.cdf(at))
    # of a histogram straight within bins
    return np.interp(at, own, np.concatenate([[0.0], np.cumsum(one.shares[0])]))


def coverage(case: Case, repeats: int, rng: np.random.Generator) -> Array:
    """Return shares, each over simulations: limits and band hold what they are said to, and the density; doubts.

    Shape (repeats, 8): limits and band of what the release resolves, limits and band of the density of releases without
    a doubt, whether there is one, limits and band of the density of those with one, and the share of places at which
    limits are told; nan where there are none.
    """
    # limits at places one by one, and bands for the whole curve
    places = [(np.arange(k) + 0.5) / k for k in (PLACES, WHOLE)]
    true = [(LAWS[case.law].cdf(x + 5e-4) - LAWS[case.law].cdf(x - 5e-4)) / 1e-3 for x in places]
    shape, integers, ends, chances = case.drawn(repeats, rng)
    found = list[tuple[float, ...]]()
    for own_integers in integers:
        one = case.estimated(case.release(shape, own_integers))
        if case.method.name == "histogram":
            averages = chances / np.diff(ends)
            each = [one.intervals(LEVEL, simultaneous=band)[0] for band in (False, True)]
            held = [(a[:, 0] <= averages + 1e-12) & (averages <= a[:, 1] + 1e-12) for a in each]
            at = [np.minimum((x * len(averages)).astype(int), len(averages) - 1) for x in places]
            own = [(a[k, 0] <= b) & (b <= a[k, 1]) for a, k, b in zip(each, at, true, strict=True)]
            noted, told = False, 1.0
        else:
            each = [one.intervals(x, LEVEL, simultaneous=len(x) == WHOLE) for x in places]
            reach = [reached(case, one, ends, chances, x, at_once=len(x) == WHOLE) for x in places]
            held = [(a[:, 0] <= b + 1e-9) & (b <= a[:, 1] + 1e-9) for a, b in zip(each, reach, strict=True)]
            own = [(a[:, 0] <= b) & (b <= a[:, 1]) for a, b in zip(each, true, strict=True)]
            finite = np.isfinite(each[0][:, 1])
            noted, told = in_doubt(one), float(finite.mean())
            held[0], own[0] = held[0][finite], own[0][finite]
        none, density = (np.nan, np.nan), (own[0].mean() if told else np.nan, float(own[1].all()) if told else np.nan)
        reach_of = (held[0].mean(), float(held[1].all())) if told else none
        found.append((*reach_of, *(none if noted else density), float(noted), *(density if noted else none), told))
    return np.array(found)


def in_doubt(one: Any) -> bool:
    """Return whether counts say more than a curve resolves: in a range, anywhere, or so that no limits are told."""
    return any(one.doubts) or any(one.untold) or isinstance(one.curves[0].around, CellLimits)


def reached(case: Case, one: Any, ends: Array, chances: Array, x: Array, *, at_once: bool = False) -> Array:
    """Return what limits, or a band, are around in a release without either error."""
    curve = one.curves[0].around.at_once if at_once else one.curves[0].around
    if isinstance(curve, CellAverages):
        return resolved(curve, ends, chances, len(x))
    if isinstance(curve, CellLimits):
        return np.maximum(curve.shapes.density(x)[0] @ chances, 0.0)
    if case.method.name == "Bernstein":
        lattice = np.arange(curve.fit.degree + 1) / curve.fit.degree
        return np.maximum(slopes(curve.fit.degree, curve.order, x) @ LAWS[case.law].cdf(lattice), 0.0)
    if case.method.name in BASES:
        return resolved(curve, ends, chances, len(x))
    if case.method.name == "kernel":
        return resolved(curve, ends, chances, len(x))
    return _of_bins(curve, ends, chances, x)


def _of_bins(curve: Any, ends: Array, chances: Array, x: Array) -> Array:
    from tacit.estimates.densities.series_coefficients import Shares, coefficients
    from tacit.rows.series_bases import functions

    none = Shares(ends, chances, np.zeros((len(chances),) * 2), np.eye(len(chances)), 1e-12)
    found = coefficients(curve.basis, none, len(curve.found.values)).values
    return np.maximum(1 + found[: curve.band] @ functions(curve.basis, x, curve.band), 0.0)
