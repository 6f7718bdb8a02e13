"""Estimates of `compared_densities.py`, many releases at a time: what the library's functions do, on whole arrays.

`agreement` checks them against these functions, release by release.  Integers come from the design's own law: rows
quantised to its bins, its integers, its noise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from compared_designs import BASES
from compared_simulations import FINE, Case

from tacit.base.arrays import Array
from tacit.estimates.densities.kernel_weights import kernel_weights
from tacit.estimates.densities.series_coefficients import Shares, coefficients, resolved_terms
from tacit.estimates.densities.series_curve import SeriesCurve, closest
from tacit.method.kernel_density.estimate_kernel import WIDER, Kernel
from tacit.method.orthogonal_series.encoding import SCALE, own_terms, table
from tacit.method.shared.iterated_operator import slopes
from tacit.noise.laws import RoundedNormal
from tacit.rows.series_bases import functions, integrals
from tacit.rows.series_blocks import blocks

MIDDLES: Final = (np.arange(FINE) + 0.5) / FINE


def projected(series: Array) -> Array:
    """Return each row's nearest density: lowered by a constant and cut at 0, shape (releases, places)."""
    down = -np.sort(-series, axis=1)
    excess = (np.cumsum(down, axis=1) - series.shape[1]) / np.arange(1, series.shape[1] + 1)
    last = (down > excess).sum(axis=1) - 1
    return np.maximum(series - np.take_along_axis(excess, last[:, None], axis=1), 0.0)


def _shares(noisy: Array) -> Array:
    """Return the nearest shares that are 0 or more and add up to 1, of each row."""
    return projected(noisy * noisy.shape[1]) / noisy.shape[1]


def of_histogram(case: Case, shape: Any, integers: Array, ends: Array) -> tuple[Array, Array]:
    """Return densities on FINE cells and distribution functions at their ends."""
    shares = _shares(integers / case.n)
    own = np.concatenate([np.zeros((len(shares), 1)), np.cumsum(shares, axis=1)], axis=1)
    at, whole = np.linspace(0, 1, FINE + 1), ends
    place = np.clip(np.searchsorted(whole, at, side="right") - 1, 0, len(whole) - 2)
    part = (at - whole[place]) / np.diff(whole)[place]
    cdf = own[:, place] * (1 - part) + own[:, place + 1] * part
    bins = np.clip(np.searchsorted(whole, MIDDLES, side="right") - 1, 0, len(whole) - 2)
    return (shares / np.diff(whole))[:, bins], cdf


def of_series(case: Case, shape: Any, integers: Array, ends: Array) -> tuple[Array, Array]:
    """The same of a series: both passes of the estimate."""
    (part,), basis = shape.columns, case.method.name
    m = own_terms(basis, len(ends) - 1, part.form.parameters["terms"])
    over = np.vstack([np.diff(ends), np.diff(integrals(basis, ends, m), axis=1)])
    inverse = np.linalg.inv((table(basis, tuple(ends.tolist()), m, SCALE[1]) / SCALE[1]) @ over.T)
    sums = np.column_stack([np.ones(len(integers)), integers / (SCALE[1] * case.n)])
    values = (sums @ inverse.T)[:, 1:]
    noise = part.law.variance() * ((inverse[1:, 1:] / (SCALE[1] * case.n)) ** 2).sum(axis=1)
    middles = (ends[1:] + ends[:-1]) / 2
    at_middles, widths = functions(basis, middles, m), np.diff(ends)
    first = _shrunk(values, noise + 1 / case.n)
    shares = projected(1 + (first * values) @ at_middles) * widths
    sampling = (shares @ (at_middles**2).T - (shares @ at_middles.T) ** 2) / case.n
    return _curves(1 + (_shrunk(values, noise + sampling) * values) @ functions(basis, MIDDLES, m))


def _shrunk(values: Array, variances: Array) -> Array:
    """Return the factors of `series_coefficients.shrinkage`, of each row."""
    variances = np.broadcast_to(variances, values.shape)
    factors, first = np.zeros(values.shape), 0
    for end in blocks(values.shape[1]):
        own, square = variances[:, first:end], (values[:, first:end] ** 2).sum(axis=1)
        total = own.sum(axis=1)
        relative = np.sqrt(2 * (own**2).sum(axis=1)) / total
        factors[:, first:end] = np.maximum(0.0, 1 - (1 + 0.5 * relative) * total / square)[:, None]
        first = end
    return factors


def of_smooth(case: Case, shape: Any, integers: Array, ends: Array) -> tuple[Array, Array]:
    """The same of smooth densities of a histogram."""
    (part,), n, bins = shape.columns, case.n, len(ends) - 1
    variance, laplace = part.law.variance(), not isinstance(part.law, RoundedNormal)
    terms = {basis: max(1, resolved_terms(basis, ends)) for basis in ("legendre", "cosine")}
    made = np.empty((len(integers), FINE))
    for i, values in enumerate(integers / n):
        probable = np.maximum(values, 0.0)
        probable = probable / probable.sum()
        spread = (np.diag(probable) - np.outer(probable, probable)) / n
        shares = Shares(ends, values, spread, np.eye(bins) / n, variance)
        curves = tuple(
            (SeriesCurve(basis, one := coefficients(basis, shares, m), one.band, laplace, variance),)
            for basis, m in terms.items()
        )
        made[i] = closest(curves, np.array([float(n)]))[0].series(MIDDLES)
    return _curves(made)


def of_kernel(case: Case, shape: Any, integers: Array, ends: Array) -> tuple[Array, Array]:
    """The same of kernel densities: the kernel of least estimated risk of each release."""
    n, shares = case.n, integers / case.n
    variance = shape.columns[0].law.variance() / n**2
    width = shape.query.widths.get("x", 1 / (1.5 * (len(ends) - 1)))
    released, places = Kernel((width,), 2), (np.arange(128) + 0.5) / 128
    kernels = list(dict.fromkeys(released.wider(by, degree) for degree in (1, 2) for by in WIDER))
    probable = _shares(shares)
    pilot = kernel_weights(ends, places, width, 2)
    risks, made = np.empty((len(kernels), len(shares))), np.empty((len(kernels), len(shares), FINE))
    for k, one in enumerate(kernels):
        own = kernel_weights(ends, places, one.bandwidths[0], one.degree)
        apart = shares @ (own - pilot).T
        gap = (apart**2).mean(axis=1)
        squares, between = (own**2).mean(axis=0), ((own - pilot) ** 2).mean(axis=0)
        spread = variance * squares.sum() + (probable @ squares - ((probable @ own.T) ** 2).mean(axis=1)) / n
        apart_spread = variance * between.sum() + (probable @ between - gap) / n
        risks[k] = np.maximum(0.0, gap - apart_spread) + spread
        made[k] = shares @ kernel_weights(ends, MIDDLES, one.bandwidths[0], one.degree).T
    return _curves(made[risks.argmin(axis=0), np.arange(len(shares))])


def of_bernstein(case: Case, shape: Any, integers: Array, ends: Array) -> tuple[Array, Array]:
    """The same of Bernstein polynomials."""
    facts = shape.columns[0].form.parameters
    k = facts["degree"]
    values = np.column_stack([np.zeros(len(integers)), integers / (facts["G"] * case.n), np.ones(len(integers))])
    return _curves(values @ slopes(k, shape.query.order, MIDDLES).T)


def _curves(series: Array) -> tuple[Array, Array]:
    density = projected(series)
    cdf = np.concatenate([np.zeros((len(density), 1)), np.cumsum(density, axis=1)], axis=1)
    return density, cdf / cdf[:, -1:]


def estimator(name: str) -> Callable[[Case, Any, Array, Array], tuple[Array, Array]]:
    """Return the function of an estimator."""
    named = {"histogram": of_histogram, "smooth": of_smooth, "kernel": of_kernel, "Bernstein": of_bernstein}
    return of_series if name in BASES else named[name]
