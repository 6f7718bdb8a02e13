"""Exponential densities over a bin of width 1: moments from the slope of the logarithm, and the slope from a moment."""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array

STEEPEST: Final = 400.0
"""Largest slope of a logarithm over a bin: its values are then within 1/400 of an edge."""


def langevin(kappa: Array) -> tuple[Array, Array, Array]:
    """Mean, variance and third cumulant of the density prop. to exp(kappa u) on [-1/2, 1/2].

    >>> [float(one.round(4)) for one in langevin(np.array(2.0))]
    [0.1565, 0.069, -0.0123]
    """
    k = np.asarray(kappa, dtype=np.float64)
    small = np.abs(k) < 1e-2
    safe = np.where(small, 1.0, np.clip(k, -500, 500))
    sinh = np.sinh(safe / 2)
    coth = np.cosh(safe / 2) / sinh
    mean = np.where(small, k / 12 - k**3 / 720, coth / 2 - 1 / safe)
    variance = np.where(small, 1 / 12 - k**2 / 240, 1 / safe**2 - 1 / (4 * sinh**2))
    # the derivative of the variance in kappa: the next cumulant
    third = np.where(small, -k / 120, coth / (4 * sinh**2) - 2 / safe**3)
    return mean, variance, third


def steepness(ratio: Array) -> Array:
    """Return kappa of the exponential whose density at its right edge is `ratio` times its mean: kappa/(1-exp(-kappa)).

    >>> steepness(np.array([1.0, 2 / (1 - np.exp(-2.0))])).round(6)
    array([0., 2.])
    """
    rho = np.asarray(ratio, dtype=np.float64)
    # beyond the root of a convex increasing function, from where Newton's steps only fall
    k = np.where(rho > 1, 2 * (rho - 1) - np.maximum(rho - 2, 0.0), np.log(rho))
    for _ in range(8):
        flat = np.abs(k) < 1e-6
        safe = np.where(flat, 1.0, k)
        grown = np.exp(-np.clip(safe, -50, 700))
        value = np.where(flat, 1 + k / 2, safe / (1 - grown))
        slope = np.where(flat, 0.5, (1 - grown - safe * grown) / (1 - grown) ** 2)
        k = k - (value - rho) / slope
    return k


def untilted(shift: Array) -> Array:
    """Return kappa of the exponential on [-1/2, 1/2] with mean `shift`: the inverse of `langevin`."""
    u = np.clip(2 * shift, 2 / STEEPEST - 1, 1 - 2 / STEEPEST)
    k = 2 * u * (3 - u**2) / (1 - u**2)  # Cohen's approximation, within 5%
    for _ in range(3):
        mean, variance, _ = langevin(k)
        k = k - (mean - u / 2) / variance
    return k


def log_mean(kappa: Array) -> Array:
    """Return the logarithm of the mean over [0, 1] of exp(kappa u).

    >>> log_mean(np.array([0.0, 2.0])).round(6)
    array([0.      , 1.161439])
    """
    k = np.clip(kappa, -50.0, 50.0)
    flat = np.abs(k) < 1e-4
    safe = np.where(flat, 1.0, k)
    return np.where(flat, k / 2, np.log(np.expm1(safe) / safe))


def common_slope(log_ratio: Array, outer: float, inner: float) -> Array:
    """Return the slope, for a unit outwards, of one exponential over two neighbouring bins of these widths.

    log_ratio: logarithm of the outer bin's mass over the inner one's.

    >>> masses = np.array([np.exp(1.0) - 1, np.exp(4.0) - np.exp(1.0)])
    >>> float(common_slope(np.log(masses[1] / masses[0]), outer=3.0, inner=1.0).round(6))
    1.0
    """
    target = np.asarray(log_ratio, dtype=np.float64) - np.log(outer / inner)
    most = 50.0 / max(outer, inner)
    low, high = np.full(target.shape, -most), np.full(target.shape, most)
    for _ in range(40):
        middle = (low + high) / 2
        above = log_mean(middle * outer) - log_mean(-middle * inner) > target
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return (low + high) / 2
