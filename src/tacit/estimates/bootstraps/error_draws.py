"""Seeded draws of the total errors of an estimate's terms, for the parametric bootstrap.  Pure array functions.

An error is what an estimate exceeds the truth by: a normal sampling error with the known covariance, plus the loaded
integer noises, drawn from their own laws.  Two things go beyond that.

*Sides.*  Each term's error is stretched on either side such that it reaches as far as the term's own interval does, and
the truth is kept within bounds that hold for certain (`sided_errors`).

*Correlations that no release tells*, of sampling errors of the same people in different columns or releases, or in
cells that one weighted person may be in.  Such pieces are drawn so that they add up, in the direction of the gradient
of the function at hand: the standard error of its linear part is then the sum of those of the pieces, which is the most
that any correlation gives (Cauchy and Schwarz).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.noisy_terms.combination import LinearCombination
from tacit.estimates.noisy_terms.sided_errors import ReachOfTerms
from tacit.estimates.terms import ColumnTerms
from tacit.estimates.total_errors.error_laws import drawn
from tacit.noise.product import ProductLaplace, sampled_together

AT_ONCE: Final = 2**21
"""Numbers held at a time."""


@dataclass(frozen=True)
class SamplingPiece:
    """Base terms whose sampling covariance is known: diag(variance) - outer(rank_one, rank_one), or `joint`.

    first: index of the first of m terms.  people: pieces of the same people have an unknown correlation.
    """

    people: str
    first: int
    variance: Array
    rank_one: Array
    joint: Array | None

    @property
    def here(self) -> slice:
        """The places of the terms."""
        return slice(self.first, self.first + len(self.variance))

    def times(self, weights: Array) -> Array:
        """Return the covariance times a vector, shape (m,)."""
        if self.joint is not None:
            return self.joint @ weights
        return self.variance * weights - self.rank_one * float(self.rank_one @ weights)

    def draw(self, many: int, rng: np.random.Generator) -> Array:
        """Return draws of the sampling errors, shape (many, m)."""
        if self.joint is not None:
            return rng.standard_normal((many, len(self.variance))) @ root(self.joint).T
        sd = np.sqrt(self.variance)
        z = rng.standard_normal((many, len(sd)))
        u = np.divide(self.rank_one, sd, out=np.zeros_like(sd), where=sd > 0)
        length = float(u @ u)
        if length > 0:
            # I - (1 - sqrt(1 - |u|**2)) u u' / |u|**2 is the root of I - u u'
            z = z - np.outer(z @ u, u) * ((1 - np.sqrt(max(1 - length, 0.0))) / length)
        return z * sd


def root(covariance: Array) -> Array:
    """Return a matrix whose product with its transpose is the covariance, shape (m, m)."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def pieces(blocks: tuple[ColumnTerms, ...]) -> tuple[SamplingPiece, ...]:
    """Return the pieces of base terms that have sampling errors."""
    found: list[SamplingPiece] = []
    at = 0
    for block in blocks:
        m = len(block.value)
        if block.shared:
            for i, variance in enumerate(block.sampling_variance):
                found.append(SamplingPiece(block.people, at + i, np.array([variance]), np.zeros(1), None))
        elif block.variance.any():
            found.append(SamplingPiece(block.people, at, block.variance, block.rank_one, block.joint))
        at += m
    return tuple(found)


def sampling_errors(found: tuple[SamplingPiece, ...], gradients: Array, many: int, rng: np.random.Generator) -> Array:
    """Return draws of sampling errors, shape (functions, many, base); gradients: of functions, (functions, base).

    Functions have the same draws, but for what is added up in the direction of each one's gradient.
    """
    functions, base = gradients.shape
    out = np.zeros((functions, many, base))
    people = [one.people for one in found]
    common = {name: rng.standard_normal(many) for name in sorted(set(people)) if people.count(name) > 1}
    for one in found:
        own = one.draw(many, rng)
        for made, gradient in zip(out, gradients, strict=True):
            made[:, one.here] = own if one.people not in common else _aligned(one, own, gradient, common[one.people])
    return out


def _aligned(piece: SamplingPiece, own: Array, gradient: Array, common: Array) -> Array:
    """Return draws whose part along the gradient is `common` times its standard deviation, the rest as drawn."""
    weights = gradient[piece.here]
    direction = piece.times(weights)
    variance = float(weights @ direction)
    if variance <= 0:
        return own
    return own + np.outer(common / np.sqrt(variance) - own @ weights / variance, direction)


def noise_errors(blocks: tuple[ColumnTerms, ...], many: int, rng: np.random.Generator) -> Array:
    """Return draws of what noise adds to the base terms, shape (many, base); those of one vector together."""
    vectors: dict[tuple[str, int], list[int]] = {}
    for i, block in enumerate(blocks):
        if isinstance(block.law, ProductLaplace):
            vectors.setdefault(_vector(block), []).append(i)
    parts: list[Array | None] = [None] * len(blocks)
    for places in vectors.values():
        for i, one in zip(places, _of_vector([blocks[i] for i in places], many, rng), strict=True):
            parts[i] = one
    made = [_of_block(block, many, rng) if one is None else one for block, one in zip(blocks, parts, strict=True)]
    return np.concatenate(made, axis=1)


def _of_block(block: ColumnTerms, many: int, rng: np.random.Generator) -> Array:
    """Return noise errors of one column, shape (many, m)."""
    m, k = block.loadings.shape
    if block.joint is not None:
        return drawn(block.law, 1, (many, k), rng) @ block.loadings.T
    return np.einsum("dmk,mk->dm", drawn(block.law, 1, (many, m, k), rng), block.loadings)


def _of_vector(blocks: list[ColumnTerms], many: int, rng: np.random.Generator) -> Iterator[Array]:
    """Yield noise errors of columns whose integers, cell by cell, are one vector, shape (many, m) each."""
    laws = [block.law for block in blocks]
    m = len(blocks[0].value)
    found = sampled_together([law for law in laws if isinstance(law, ProductLaplace)], many * m, rng)
    for block, one in zip(blocks, found, strict=True):
        yield np.einsum("dmk,mk->dm", one.reshape(many, m, -1).astype(np.float64), block.loadings)


def sided(errors: Array, below: ReachOfTerms, above: ReachOfTerms) -> Array:
    """Return errors stretched to the reach of the terms' own intervals, and kept to their bounds, shape (…, base).

    An estimate that is too large by e has the truth below it by e: positive errors reach as the lower limits do.
    """
    down, up = (np.where(np.isfinite(one.stretch), one.stretch, 1.0) for one in (below, above))
    return np.clip(np.where(errors > 0, down, up) * errors, -above.bound, below.bound)


def used_terms(combination: LinearCombination) -> tuple[tuple[ColumnTerms, ...], NDArray[np.bool_]]:
    """Return the columns' terms that the combinations use, and which base terms these are, shape (base,).

    Of columns whose noise is one vector the same cells are kept, so that they are drawn together.
    """
    base = combination.base
    used = np.ones(base, dtype=bool) if combination.matrix is None else (combination.matrix != 0).any(axis=0)
    masks = np.split(used, np.cumsum([len(block.value) for block in combination.blocks])[:-1])
    for i, block in enumerate(combination.blocks):
        if isinstance(block.law, ProductLaplace):
            alike = [j for j, other in enumerate(combination.blocks) if _vector(other) == _vector(block)]
            masks[i] = np.any([masks[j] for j in alike], axis=0)
    kept = tuple(_some(block, mask) for block, mask in zip(combination.blocks, masks, strict=True) if mask.any())
    return kept, np.concatenate(masks)


def _vector(block: ColumnTerms) -> tuple[str, int]:
    """Return what columns with a common vector of noise in each cell have in common."""
    return block.source, len(block.value)


def _some(block: ColumnTerms, mask: NDArray[np.bool_]) -> ColumnTerms:
    """Return some of a column's terms; their intervals stay those of all."""
    return replace(
        block,
        value=block.value[mask],
        variance=block.variance[mask],
        rank_one=block.rank_one[mask],
        loadings=block.loadings[mask],
        reasons=tuple(reason for reason, yes in zip(block.reasons, mask, strict=True) if yes),
        joint=None if block.joint is None else block.joint[np.ix_(mask, mask)],
    )


def draws_at_once(blocks: tuple[ColumnTerms, ...], functions: int) -> int:
    """Return how many draws are held at a time."""
    noises = sum(block.loadings.size if block.joint is None else block.loadings.shape[1] for block in blocks)
    return max(1, AT_ONCE // max(1, noises + (functions + 1) * sum(len(block.value) for block in blocks)))
