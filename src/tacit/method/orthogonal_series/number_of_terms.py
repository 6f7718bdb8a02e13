"""How many terms an orthogonal series has where none is asked for.  Public arithmetic; no data here.

The rule
    Of every number m of terms that bins tell apart the expected squared error of the estimate is computed for each law
    of a public family (`reference_laws`), from its coefficients in the basis asked for, the number of rows and the
    noise of the price:
        tail(m) + sum over blocks of R(b**2, V),    tail(m) = sum over j > m of beta_j**2,
    b**2 the sum of beta_j**2 over the block and V that of the variances, of sampling, (E psi_j**2 - beta_j**2) / n, and
    of noise.  R is the risk of the block's shrinkage (`estimates.series_coefficients`).  The m is taken whose ratios to
    the least error of each law have the least geometric mean over the family.
    [Of m beyond the bins of some columns these have fewer, as in `own_terms`.]
Noise
    Its variance follows from the sensitivity (`encoding`), here the largest over pairs of at most THIN bins of each
    column, the first and the last among them: enough to choose m by, a little below that of all pairs, by which
    releases are protected.
Risk
    E is the squared norm of the estimates of a block of k coefficients, about normal with mean b**2 + V and variance
    2 V**2 / k + 4 b**2 V / k; given E, the product of estimates and coefficients is linear in it.  The mean over E is
    by quadrature (`NODES`): near for blocks of five and more, and rough for fewer.  What lowering the series to a
    density gains is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.method.orthogonal_series.encoding import SCALE, own_terms, table
from tacit.method.orthogonal_series.query import MOST_TERMS
from tacit.method.orthogonal_series.reference_laws import coefficients
from tacit.noise.spherical import MOST_DIMENSIONS
from tacit.privacy import Cost, noise_for
from tacit.rows.series_blocks import PENALTY, blocks

THIN: Final = {1: 128, 2: 16, 3: 8}
"""Bins of a column whose pairs are compared, by the number of columns."""
NODES: Final = np.polynomial.hermite_e.hermegauss(9)
Ends = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class NumbersOfTerms:
    """Numbers of terms, and what they are judged by.

    numbers: of coefficients of each, shape (m,).  pairs, singles: squared distance of two rows and norm of one, shape
    (m,), of integers over S.  tails: squared coefficients left out, shape (laws, m).  place: the m of each block, shape
    (blocks,), from 0.  sizes: of the blocks.  squares, sampling: sums of squared coefficients and of variances of one
    row, shape (laws, blocks).
    """

    numbers: NDArray[np.int64]
    pairs: Array
    singles: Array
    tails: Array
    place: NDArray[np.int64]
    sizes: NDArray[np.int64]
    squares: Array
    sampling: Array

    def errors(self, rows: float, noise: Array) -> Array:
        """Return the expected squared errors, shape (laws, m); noise: variance of a coefficient's, shape (m,)."""
        risks = block_risk(self.squares, self.sampling / rows + self.sizes * noise[self.place], self.sizes)
        starts = np.flatnonzero(np.diff(self.place, prepend=-1))
        return self.tails + np.add.reduceat(risks, starts, axis=1)


def number_of_terms(basis: str, ends: Ends, rows: int, cost: Cost, neighbors: str, *, leaves: bool) -> int:
    """Return the number of terms; ends: edges of each column's bins, from 0 to 1.  leaves: as in `series`."""
    errors = family_errors(basis, ends, rows, cost, neighbors, leaves=leaves)
    ratios = errors / errors.min(axis=1, keepdims=True)
    return 1 + int(np.log(ratios).mean(axis=0).argmin())


def family_errors(basis: str, ends: Ends, rows: int, cost: Cost, neighbors: str, *, leaves: bool) -> Array:
    """Return the expected squared errors of each law of the family, by number of terms from 1 on, shape (laws, m)."""
    found = candidates(basis, ends)
    # presence rides free where the number of rows is public, and is one function more where it is not
    squares = found.pairs if neighbors == "replace-one" else found.singles + 1
    dimensions = found.numbers + (leaves or neighbors != "replace-one")
    noise = np.array([noise_variance(k, cost) for k in dimensions.tolist()]) * squares / float(max(rows, 1)) ** 2
    return found.errors(float(max(rows, 1)), noise)


@lru_cache(maxsize=1024)
def noise_variance(dimension: int, cost: Cost) -> float:
    """Return the variance of the noise of a vector of so many numbers, if its sensitivity in l2 is 1.

    That of `noise_for`, which is proportional to the squared sensitivity but for rounding.

    >>> round(noise_variance(9, Cost.of(epsilon=1)), 3), round(noise_variance(9, Cost.of(rho=0.5)), 3)
    (10.0, 1.0)
    """
    single = noise_for(2**30, 2**60, cost, dimension=1).variance() / 2**60
    if cost.noise != "laplace":
        return single
    # a single Laplace number has twice the squared scale
    return single * (dimension + 1) / 2 if dimension <= MOST_DIMENSIONS else single * dimension


@lru_cache(maxsize=32)
def candidates(basis: str, ends: Ends) -> NumbersOfTerms:
    """Return all numbers of terms that the bins of some column tell apart."""
    d, S = len(ends), SCALE[len(ends)]
    bins = [len(one) - 1 for one in ends]
    most = max(own_terms(basis, one, MOST_TERMS[d]) for one in bins)
    owns = [tuple(own_terms(basis, one, m) for one in bins) for m in range(1, most + 1)]
    thin = [np.unique(np.linspace(0, one - 1, min(one, THIN[d])).round().astype(int)) for one in bins]
    tables = [table(basis, one, most, S)[:, at] / S for one, at in zip(ends, thin, strict=True)]
    reach = [_reach([one[: m + 1] for one, m in zip(tables, own, strict=True)]) for own in owns]
    each = [_pieces(basis, own) for own in owns]
    return NumbersOfTerms(
        numbers=np.array([prod(m + 1 for m in own) - 1 for own in owns]),
        pairs=np.array([pair for pair, _ in reach]),
        singles=np.array([single for _, single in reach]),
        tails=np.stack([tail for tail, *_ in each], axis=1),
        place=np.repeat(np.arange(most), [len(sizes) for *_, sizes in each]),
        sizes=np.concatenate([sizes for *_, sizes in each]),
        squares=np.concatenate([squares for _, squares, *_ in each], axis=1),
        sampling=np.concatenate([sampling for _, _, sampling, _ in each], axis=1),
    )


def _reach(tables: list[Array]) -> tuple[float, float]:
    """Return the largest squared distance of two cells and the largest squared norm of one, as `apart` does."""
    grams = [one.T @ one for one in tables]
    norms = [np.diag(one) for one in grams]
    left, right, both = np.ones(1), np.ones(1), np.ones(1)
    for norm, gram in zip(norms, grams, strict=True):
        left = np.outer(left, np.repeat(norm, len(norm))).reshape(-1)
        right = np.outer(right, np.tile(norm, len(norm))).reshape(-1)
        both = np.outer(both, gram.reshape(-1)).reshape(-1)
    return float((left + right - 2 * both).max()), float(prod(one.max() for one in norms)) - 1


def _pieces(basis: str, own: tuple[int, ...]) -> tuple[Array, Array, Array, NDArray[np.int64]]:
    """Return the tail, the blocks' squared coefficients and sampling variances, of each law, and the blocks' sizes."""
    found = coefficients(basis, MOST_TERMS[1])
    values, seconds = found.joint(own)
    lengths: Array = np.zeros(1)
    for m in own:
        lengths = (lengths[:, None] + np.arange(m + 1.0) ** 2).reshape(-1)
    order = 1 + np.argsort(lengths[1:], kind="stable")
    square, spread = values[:, order] ** 2, np.maximum(seconds[:, order] - values[:, order] ** 2, 0.0)
    ends = blocks(len(order))
    starts = np.array([0, *ends[:-1]])
    tail = np.maximum(found.norms(len(own)) - 1 - square.sum(axis=1), 0.0)
    return tail, np.add.reduceat(square, starts, axis=1), np.add.reduceat(spread, starts, axis=1), np.diff([0, *ends])


def block_risk(square: Array, variance: Array, size: NDArray[np.int64]) -> Array:
    """Return the expected squared error of shrunk blocks; square, variance: sums over each block's coefficients.

    >>> block_risk(np.array([0.0, 1.0, 100.0]), np.ones(3), np.array([8, 8, 8])).round(2).tolist()
    [0.03, 0.65, 1.0]
    """
    spread = np.sqrt((2 * variance**2 + 4 * square * variance) / size)
    excess = spread * NODES[0].reshape(-1, *[1] * np.ndim(spread))
    # a norm that noise makes less than nothing leaves a factor of 0
    norm = np.maximum(square + variance + excess, 1e-9 * variance + 1e-300)
    # of variances that are about equal
    factor = np.maximum(0.0, 1 - (1 + PENALTY * np.sqrt(2 / size)) * variance / norm)
    product = square + 2 * square * variance / size * excess / spread**2
    loss = np.maximum(factor**2 * norm - 2 * factor * product + square, 0.0)
    return np.einsum("i,i...->...", NODES[1] / NODES[1].sum(), loss)
