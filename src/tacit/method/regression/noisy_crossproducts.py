"""Released integers of a regression as matrices, with the law of their errors.  Post-processing: no data here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.method.regression.layout import Layout, ProductSum
from tacit.release.parts import Part
from tacit.rows.coordinates import H
from tacit.rows.row_products import ResidualAim

Array = NDArray[np.float64]


@dataclass(frozen=True)
class NoisyMatrix:
    """A symmetric matrix of noisy sums.

    values: shape (p, p).  patterns: shape (e, p, p), what each independent noise is added to, 0 or 1.  variances: (e,).
    """

    values: Array
    patterns: Array
    variances: Array

    def transformed(self, terms: Array) -> NoisyMatrix:
        """Of linear combinations: terms, shape (q, p), on both sides."""
        return NoisyMatrix(terms @ self.values @ terms.T, terms @ self.patterns @ terms.T, self.variances)

    def leading(self, p: int) -> NoisyMatrix:
        """The first p rows and columns."""
        return NoisyMatrix(self.values[:p, :p], self.patterns[:, :p, :p], self.variances)

    def covariance_times(self, a: Array) -> Array:
        """Of the noise's product with a vector of shape (p,): shape (p, p)."""
        moved = self.patterns @ a
        return (moved.T * self.variances) @ moved

    def noise_quadratic(self, B: Array) -> Array:
        """Mean of E B E, E the noise, B of shape (p, p)."""
        return np.einsum("e,eij->ij", self.variances, self.patterns @ B @ self.patterns)

    def quadratic_variance(self, a: Array) -> float:
        """Of the noise in a' values a."""
        return float(self.variances @ ((self.patterns @ a) @ a) ** 2)


def relative_noise(A: NoisyMatrix) -> float:
    """Root mean square of the noise in A, against A, in the worst direction; infinite where A is not positive."""
    values, vectors = np.linalg.eigh(A.values)
    if values[0] <= 0:
        return math.inf
    root = vectors / np.sqrt(values)
    noise = NoisyMatrix(A.values, root.T @ A.patterns @ root, A.variances).noise_quadratic(np.eye(len(values)))
    return math.sqrt(max(float(np.linalg.eigvalsh(noise)[-1]), 0.0))


@dataclass(frozen=True)
class ResidualScores:
    """What the second step released, in units of psi and of z / H.

    score: sums of psi z, shape (m,), each with noise of `variance`.  square: the sum of psi**2, with noise of
    `square_variance`.  meat: sums of psi**2 z z', shape (m, m).  aim: what psi was.  persons: each is the mean of a
    person's rows, the meat of products of mean scores.
    """

    score: Array
    variance: float
    square: float
    square_variance: float
    meat: NoisyMatrix
    residual: ResidualAim
    persons: bool = False


def read_crossproducts(part: Part, layout: Layout, rows: int | None) -> NoisyMatrix:
    """Part of form `products` -> sums of z z' / H**2 over complete rows, shape (m + 1, m + 1), the response last."""
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
    return NoisyMatrix(made.values + _pattern(known, layout.size + 1) * float(rows or 0), made.patterns, made.variances)


def read_residual_scores(part: Part, layout: Layout) -> ResidualScores:
    """Part of form `scores` -> Scores."""
    facts, noise, m = part.parameters, part.law.variance(), layout.size
    integers = np.array(part.integers[0], dtype=np.float64)
    unit, persons = facts["score"] * H, part.form == "person-scores"
    entries = layout.all_pairs if persons else layout.products(response=False)
    weights = np.array([facts["off" if one.off_diagonal else "diag"] for one in entries], dtype=np.float64)
    shift = 2.0**-SHIFT
    meat = noisy_matrix(entries, integers[m + 1 :], weights * (H * H * shift), noise, m)
    square, error = float(integers[m] / facts["square"]), noise / facts["square"] ** 2
    aim = ResidualAim(tuple(facts[f"weight{j}"] for j in range(m + 1)), facts["shift"], facts["G"])
    if persons:  # the first product is a sum of its own: a mean of squares is not the square of a mean
        return ResidualScores(integers[:m] / unit, noise / unit**2, square, error, meat, aim, persons=True)
    (known,) = (one for one in layout.entries if one.is_row_count)
    inner = ProductSum(tuple(pair for pair in known.pairs if m not in pair))
    pattern = _pattern(inner, m)
    patterns = np.concatenate([meat.patterns, pattern[None]])
    whole = NoisyMatrix(meat.values + pattern * square, patterns, np.append(meat.variances, error))
    return ResidualScores(integers[:m] / unit, noise / unit**2, square, error, whole, aim)


SHIFT = 19
"""Products of scores are divided by 2**SHIFT before they are added up."""


def noisy_matrix(entries: Sequence[ProductSum], integers: Array, weights: Array, noise: float, p: int) -> NoisyMatrix:
    """Integers of entries, each times its own weight, with noise of one variance -> Noisy."""
    patterns = np.stack([_pattern(one, p) for one in entries]) if entries else np.zeros((0, p, p))
    values = np.einsum("e,eij->ij", integers / weights, patterns)
    return NoisyMatrix(values, patterns, noise / weights**2)


def _pattern(one: ProductSum, p: int) -> Array:
    made = np.zeros((p, p))
    for j, k in one.pairs:
        made[j, k] = made[k, j] = 1.0
    return made
