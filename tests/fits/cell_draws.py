"""Histograms drawn straight from the probabilities of their cells, by quadrature: no rows are needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import beta, truncnorm

from tacit.fits.cells.cell_arrays import CellAxis, CellCounts

FINE = 200  # points of quadrature in each bin


def continuous(name: str, bins: int) -> CellAxis:
    return CellAxis(name, "continuous", np.linspace(0.0, 1.0, bins + 1))


def levels(name: str, *labels: str) -> CellAxis:
    return CellAxis(name, "levels", labels=labels)


@dataclass(frozen=True)
class Population:
    """Cell probabilities, a formula and what its coefficients are."""

    axes: tuple[CellAxis, ...]
    p: np.ndarray
    formula: str
    model: str
    truth: np.ndarray

    def draw(self, n: int, epsilon: float, rng: np.random.Generator, *, public: bool = True) -> CellCounts:
        """Counts of n rows with Laplace noise of scale 2 / epsilon (replace-one), or 1 / epsilon (add-remove)."""
        size = n if public else rng.poisson(n)
        counts = rng.multinomial(size, self.p.reshape(-1)).reshape(self.p.shape)
        scale = (2 if public else 1) / epsilon
        noisy = counts + rng.laplace(0.0, scale, counts.shape)
        return CellCounts(self.axes, noisy, 2 * scale**2, float(n) if public else None)


def law(name: str, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights of a law on [0, 1], FINE a bin."""
    m = bins * FINE
    x = (np.arange(m) + 0.5) / m
    density = {"uniform": np.ones(m), "beta22": beta.pdf(x, 2, 2), "beta13": beta.pdf(x, 1, 3)}[name]
    return x, density / density.sum()


def logistic(x_law: str, a: float, b: float, bins: int = 10) -> Population:
    x, w = law(x_law, bins)
    share = expit(a + b * x)
    p = np.stack([w * (1 - share), w * share], axis=1).reshape(bins, FINE, 2).sum(axis=1)
    return Population((continuous("x", bins), levels("y", "no", "yes")), p, "y ~ x", "logistic", np.array([a, b]))


def line(x_law: str, a: float, b: float, sd: float, bins: int = 10) -> Population:
    """A line with normal residuals, cut symmetrically at the nearer bound, so that the mean stays on the line."""
    x, w = law(x_law, bins)
    mean = a + b * x
    room = float(np.minimum(mean, 1 - mean).min()) / sd
    edges = np.linspace(0.0, 1.0, bins + 1)
    below = truncnorm.cdf((edges[None, :] - mean[:, None]) / sd, -room, room)
    p = (np.diff(below, axis=1) * w[:, None]).reshape(bins, FINE, bins).sum(axis=1)
    axes = (continuous("x", bins), continuous("y", bins))
    return Population(axes, p / p.sum(), "y ~ x", "linear", np.array([a, b]))
