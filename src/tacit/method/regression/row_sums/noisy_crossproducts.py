"""Read released integers of a regression as matrices, with the law of their noise.  Post-processing: no data here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.method.regression.formulas.layout import Layout, ProductSum
from tacit.method.regression.row_sums.encoding import SHIFT
from tacit.release.parts import Part
from tacit.rows.coordinates import H
from tacit.rows.row_products import ClippedResidual

Array = NDArray[np.float64]


@dataclass(frozen=True)
class NoisyMatrix:
    """A symmetric matrix of noisy sums.

    values: shape (p, p).  patterns: shape (e, p, p); the noise in `values` is E = sum_k noise_k patterns[k], with e
    independent noises of these variances, shape (e,).
    """

    values: Array
    patterns: Array
    variances: Array

    def transformed(self, terms: Array) -> NoisyMatrix:
        """Return terms @ matrix @ terms.T, with its noise; terms: shape (q, p)."""
        return NoisyMatrix(terms @ self.values @ terms.T, terms @ self.patterns @ terms.T, self.variances)

    def leading(self, p: int) -> NoisyMatrix:
        """Return the first p rows and columns."""
        return NoisyMatrix(self.values[:p, :p], self.patterns[:, :p, :p], self.variances)

    def of_rows(self, rows: float) -> NoisyMatrix:
        """Return the sums times the factor that makes the first, of 1 for each row, their number: at most 1.5.

        Rows that were shortened count for less than one.
        """
        factor = min(max(rows / max(float(self.values[0, 0]), 1.0), 1.0), 1.5)
        return NoisyMatrix(factor * self.values, factor * self.patterns, self.variances)

    def covariance_times(self, a: Array) -> Array:
        """Return the covariance of E a, shape (p, p), E being the noise; a: shape (p,)."""
        moved = self.patterns @ a
        # the sum over noises of variance (P a)(P a)': independent, so no cross terms
        return (moved.T * self.variances) @ moved

    def noise_quadratic(self, B: Array) -> Array:
        """Return the mean of E B E, E being the noise; B: shape (p, p)."""
        return np.einsum("e,eij->ij", self.variances, self.patterns @ B @ self.patterns)

    def quadratic_variance(self, a: Array) -> float:
        """Return the variance of a' E a, E being the noise; a: shape (p,)."""
        return float(self.variances @ ((self.patterns @ a) @ a) ** 2)


def relative_noise(A: NoisyMatrix) -> float:
    """Return the root mean square of the noise relative to A, in the worst direction; inf if A is not positive."""
    values, vectors = np.linalg.eigh(A.values)
    if values[0] <= 0:
        return math.inf
    # root' A root is the identity: noise in these coordinates is relative to A
    root = vectors / np.sqrt(values)
    noise = NoisyMatrix(A.values, root.T @ A.patterns @ root, A.variances).noise_quadratic(np.eye(len(values)))
    return math.sqrt(max(float(np.linalg.eigvalsh(noise)[-1]), 0.0))


def raised(inner: NoisyMatrix, rows: float) -> Array:
    """Return mean products of regressors over so many rows, whose eigenvalues are at least the size of their noise."""
    loose = math.sqrt(max(float(np.linalg.eigvalsh(inner.noise_quadratic(np.eye(len(inner.values))))[-1]), 1.0)) / rows
    values, axes = np.linalg.eigh(inner.values / rows)
    return np.asarray((axes * np.maximum(values, loose)) @ axes.T)


@dataclass(frozen=True)
class ReleasedMeans:
    """Means of z / H over complete rows, the first 1, shape (m + 1,), with independent noises.

    noise: standard deviation of the noise in each mean but the first.  rows: that in their number, relative to it.
    """

    values: Array
    noise: float
    rows: float


@dataclass(frozen=True)
class ResidualScores:
    """The second part of a linear regression, in units of psi and of z / H.

    score: sums of psi z, shape (m,), with noise of covariance `variance` mixing mixing'; `mixing` None is the unit
    matrix.  square: the sum of psi**2, with noise of `square_variance`.  meat: sums of psi**2 z z', shape (m, m).
    residual: the definition of psi.  persons: whether the sums are over persons, of means of their rows and (meat) of
    products of mean scores.  far: the number of rows with |psi| = clip and the variance of its noise, None where
    it was not released.  weighted: whether rows have weights.  side: 1 or -1 where the response is known to have a
    heavy tail above or below its mean, else 0.  means: of the columns, where these were released.
    signed: the number of rows with psi = clip less that of those with psi = -clip, and the variance of its noise.
    """

    score: Array
    variance: float
    square: float
    square_variance: float
    meat: NoisyMatrix
    residual: ClippedResidual
    persons: bool = False
    mixing: Array | None = None
    far: tuple[float, float] | None = None
    weighted: bool = False
    side: int = 0
    means: ReleasedMeans | None = None
    signed: tuple[float, float] | None = None

    def noise(self, terms: Array) -> Array:
        """Return the covariance of the noise in terms @ score, shape (q, q); terms: shape (q, m)."""
        moved = terms if self.mixing is None else terms @ self.mixing
        return moved @ moved.T * self.variance


def read_crossproducts(part: Part, layout: Layout, rows: int | None) -> NoisyMatrix:
    """Return sums of z z' / H**2 from a part of form `products`, shape (m + 1, m + 1), the response last."""
    facts, noise = part.parameters, part.law.variance()
    counted = facts["count"] > 0
    entries = [one for one in layout.entries if counted or not one.is_row_count]
    weights = np.array(
        [facts["count" if e.is_row_count else "off" if e.off_diagonal else "diag"] for e in entries], dtype=np.float64
    )
    made = noisy_matrix(entries, np.array(part.integers[0], dtype=np.float64), weights * H * H, noise, layout.size + 1)
    if counted:
        return made
    (known,) = (one for one in layout.entries if one.is_row_count)
    # the public number of rows has no noise, and so no pattern
    return NoisyMatrix(made.values + _pattern(known, layout.size + 1) * float(rows or 0), made.patterns, made.variances)


def read_residual_scores(part: Part, layout: Layout) -> ResidualScores:
    """Return the scores of a part of form `scores` or `person-scores`."""
    facts, noise, m = part.parameters, part.law.variance(), layout.size
    integers = np.array(part.integers[0], dtype=np.float64)
    unit, persons = facts["score"] * H, part.form == "person-scores"
    entries = layout.all_pairs if persons else layout.products(response=False)
    weights = np.array([facts["off" if one.off_diagonal else "diag"] for one in entries], dtype=np.float64)
    shift = 2.0**-SHIFT
    meat = noisy_matrix(entries, integers[m + 1 :], weights * (H * H * shift), noise, m)
    square, error = float(integers[m] / facts["square"]), noise / facts["square"] ** 2
    residual = ClippedResidual(tuple(facts[f"weight{j}"] for j in range(m + 1)), facts["shift"], facts["G"])
    if persons:  # the sum of psi**2 is no entry of the meat: a mean of squares is not the square of a mean
        return ResidualScores(integers[:m] / unit, noise / unit**2, square, error, meat, residual, persons=True)
    (known,) = (one for one in layout.entries if one.is_row_count)
    inner = ProductSum(tuple(pair for pair in known.pairs if m not in pair))
    pattern = _pattern(inner, m)
    patterns = np.concatenate([meat.patterns, pattern[None]])
    whole = NoisyMatrix(meat.values + pattern * square, patterns, np.append(meat.variances, error))
    return ResidualScores(integers[:m] / unit, noise / unit**2, square, error, whole, residual)


def noisy_matrix(entries: Sequence[ProductSum], integers: Array, weights: Array, noise: float, p: int) -> NoisyMatrix:
    """Return the matrix of released sums; weights: of each sum; noise: variance of the noise in each integer."""
    patterns = np.stack([_pattern(one, p) for one in entries]) if entries else np.zeros((0, p, p))
    values = np.einsum("e,eij->ij", integers / weights, patterns)
    return NoisyMatrix(values, patterns, noise / weights**2)


def _pattern(one: ProductSum, p: int) -> Array:
    """Return a matrix of 1 at all pairs of a sum, and else 0, shape (p, p)."""
    made = np.zeros((p, p))
    for j, k in one.pairs:
        made[j, k] = made[k, j] = 1.0
    return made
