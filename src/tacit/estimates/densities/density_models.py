"""Models of a density on CELLS even cells of [0, 1]: a logarithm, a family, or a product with a square.  Plain arrays.

Free functions
    t, t**2, log(t + a / 4) and log(1 - t + b / 4) are nearly free in either model, so that exponential, normal and beta
    densities, cut to [0, 1], are hardly smoothed away; a and b are the widths of the first and of the last bin, within
    which shares do not tell a pole.
The logarithm
    log f = c + h + u: h free, u a Gaussian process with the penalty
        lambda times the integral of u'''**2, its part orthogonal to the free functions,
    whose mode is a smoothing spline [Silverman 1982; Gu 2013, Smoothing Spline ANOVA Models, chapter 7].
The families
    log f is a combination of the functions of one of FAMILIES, with next to no a and b: a pole is told by the whole
    range.
The square
    f = c exp(h) (1 + g)**2: h free, g a Gaussian process with the covariance SIZE**2 exp(-(s - t)**2 / 2 length**2).  A
    sum of hills is smooth so, while its logarithm turns sharply between them; where h alone is the density g is 0
    [square roots: Good & Gaskins 1971; a parametric start: Hjort & Glad 1995].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

import numpy as np

from tacit.base.arrays import Array

CELLS: Final = 256
"""Cells of [0, 1] on which a density is found."""
MOST: Final = 64
"""Most functions of a process: with so many a peak of standard deviation 1/100 is resolved."""
FREE: Final = (0.1, 0.1, 1.0, 1.0)
"""Precisions of the free functions, whose mean square over the cells is 1: few rows do not make a pole."""
FAMILIES: Final = ((), (0,), (0, 1), (2, 3), (0, 2), (0, 3))
"""Free functions of even, exponential, normal, beta and gamma laws, and of gamma laws mirrored."""
NORMAL: Final = 2
"""Which of FAMILIES are normal laws."""
PLAIN: Final = 1e-3
"""The least penalty that leaves nearly nothing but the free functions."""
SIZE: Final = 0.3
"""Standard deviation of g at a place."""
SMALL: Final = 1e-7
"""Variance of a function, as a part of the largest, below which it is left out."""


class DensityModel(Protocol):
    """A density as a function of coordinates, with a normal prior about 0."""

    @property
    def precision(self) -> Array:
        """Prior precisions of the coordinates."""
        ...

    @property
    def plain(self) -> bool:
        """Whether nearly nothing but free functions is left."""
        ...

    def cells(self, theta: Array) -> Array:
        """Return the shares of the cells."""
        ...

    def slopes(self, theta: Array, cells: Array) -> Array:
        """Return their derivatives by the coordinates, shape (CELLS, coordinates)."""
        ...


@dataclass(frozen=True)
class LogLinearModel:
    """The model of the logarithm.  over: functions on the cells.  precision: of their coordinates.

    plain: whether nearly nothing but free functions is left.
    """

    over: Array
    precision: Array
    plain: bool

    def cells(self, theta: Array) -> Array:
        """Return the shares of the cells."""
        return exponential(self.over @ theta)

    def slopes(self, theta: Array, cells: Array) -> Array:
        """Return their derivatives by the coordinates."""
        return cells[:, None] * (self.over - cells @ self.over)


def spline(over: Array, penalty: float) -> LogLinearModel:
    """Return the model of the logarithm with a penalty.  over: functions on the cells, the free ones first."""
    precision = np.full(over.shape[1], penalty)
    precision[: len(FREE)] = FREE
    return LogLinearModel(over, precision, plain=penalty >= PLAIN)


@dataclass(frozen=True)
class SquaredProcess:
    """The model of the square.  free, process: functions on the cells, those of the process scaled by its law."""

    free: Array
    process: Array
    plain: bool = False

    @property
    def precision(self) -> Array:
        """Prior precisions of the coordinates."""
        return np.concatenate([FREE, np.ones(self.process.shape[1])])

    def cells(self, theta: Array) -> Array:
        """Return the shares of the cells."""
        made = exponential(self.free @ theta[: len(FREE)]) * self._root(theta) ** 2
        return made / made.sum()

    def slopes(self, theta: Array, cells: Array) -> Array:
        """Return their derivatives by the coordinates."""
        start, root = exponential(self.free @ theta[: len(FREE)]), self._root(theta)
        # where 1 + g is 0 the logarithm has no derivative, but the density has
        moved = (2 * start * root / (root @ (start * root)))[:, None] * self.process
        each = np.hstack([cells[:, None] * self.free, moved])
        return each - cells[:, None] * each.sum(axis=0)

    def _root(self, theta: Array) -> Array:
        return 1 + self.process @ theta[len(FREE) :]


def exponential(logs: Array) -> Array:
    """Return what has these logarithms, up to a constant, and adds up to 1."""
    made = np.exp(logs - logs.max())
    return made / made.sum()


@lru_cache(maxsize=32)
def functions_of(number: int, first_bin: float, last_bin: float) -> tuple[Array, int]:
    """Return functions on the cells, shape (CELLS, functions), and how many of them, the first, are free.

    first_bin, last_bin: widths of the bins at the ends.
    The free ones are orthogonal, of mean 0 and mean square 1; the others are eigenvectors of the penalty, scaled so
    that it is the sum of their squared coordinates.
    """
    raw = _raw(first_bin, last_bin)
    free, logs = _orthogonal(raw), raw[:, 2:]
    third = np.diff(np.eye(CELLS), 3, axis=0) * CELLS**2.5
    bent = np.linalg.qr(third @ logs)[0]
    third = third - bent @ (bent.T @ third)
    values, vectors = np.linalg.eigh(third.T @ third)
    kept = slice(free.shape[1] + 1, free.shape[1] + 1 + number)
    rough = vectors[:, kept] / np.sqrt(values[kept])
    return np.column_stack([free, rough - rough.mean(axis=0)]), free.shape[1]


@lru_cache(maxsize=32)
def families_of(first_bin: float, last_bin: float) -> tuple[LogLinearModel, ...]:
    """Return models of FAMILIES alone.

    >>> [one.over.shape[1] for one in families_of(0.02, 0.02)]
    [0, 1, 2, 2, 2, 2]
    """
    # a pole of a family is told by all of the range
    raw, precision = _raw(first_bin / 32, last_bin / 32), np.array(FREE)[:1]
    return tuple(
        LogLinearModel(_orthogonal(raw[:, own]), np.repeat(precision, len(own)), plain=True) for own in FAMILIES
    )


def _raw(first_bin: float, last_bin: float) -> Array:
    """Return the free functions as they are written, averaged over the cells."""
    t, ends = middles(), np.linspace(0, 1, CELLS + 1)
    low, high = (CELLS * np.diff(x * np.log(x) - x) for x in (ends + first_bin / 4, ends + last_bin / 4))
    return np.column_stack([t, t**2, low, high[::-1]])


def _orthogonal(functions: Array) -> Array:
    return np.linalg.qr(functions - functions.mean(axis=0))[0] * np.sqrt(CELLS)


@lru_cache(maxsize=32)
def process_of(number: int, length: float) -> Array:
    """Return the functions of a process of this length, at most `number`, scaled by their standard deviations.

    >>> made = process_of(64, 0.25)
    >>> made.shape, bool(np.allclose((made**2).sum(axis=1), SIZE**2, rtol=1e-4))
    ((256, 11), True)
    """
    t = middles()
    values, vectors = np.linalg.eigh(np.exp(-(((t[:, None] - t) / length) ** 2) / 2))
    kept = np.flatnonzero(values > SMALL * values[-1])[::-1][:number]
    return SIZE * vectors[:, kept] * np.sqrt(values[kept])


def middles() -> Array:
    """Return the middles of the cells."""
    return (np.arange(CELLS) + 0.5) / CELLS
