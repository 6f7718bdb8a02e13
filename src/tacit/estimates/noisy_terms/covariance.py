"""Sampling and noise covariances of terms.  A sampling covariance that was not released is bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.base.arrays import Array

if TYPE_CHECKING:
    from tacit.estimates.noisy_terms.combination import LinearCombination
    from tacit.estimates.terms import ColumnTerms


def combined_variances(combination: LinearCombination) -> Array:
    """Return the sampling variances of linear combinations, shape (terms,).

    Standard errors are added where a correlation is not known: (sum |c| sd)**2 is never too small (Cauchy-Schwarz).
    It is not known between columns of the same people, nor between cells that one weighted person may be in.
    """
    sd: dict[str, Array] = {}
    for block, weights in combination.slices():
        # w' (diag(variance) - rank_one rank_one') w for each row w of weights
        inner = (weights**2) @ block.variance - (weights @ block.rank_one) ** 2
        if block.joint is not None:
            # diagonal of weights @ joint @ weights.T, without the full product
            inner = np.einsum("ci,ij,cj->c", weights, block.joint, weights)
        if block.shared:
            inner = (np.abs(weights) @ np.sqrt(block.sampling_variance)) ** 2
        sd[block.people] = sd.get(block.people, np.zeros(len(weights))) + np.sqrt(np.maximum(inner, 0.0))
    # different people are independent: their variances add
    return np.add.reduce([one**2 for one in sd.values()])


def of_blocks(blocks: tuple[ColumnTerms, ...]) -> Array:
    """Return the sampling covariance of columns of different people, shape (terms, terms)."""
    size = sum(len(block.value) for block in blocks)
    full, at = np.zeros((size, size)), 0
    for block in blocks:
        here = slice(at, at + len(block.value))
        own = np.diag(block.variance) - np.outer(block.rank_one, block.rank_one)
        full[here, here] = own if block.joint is None else block.joint
        at += len(block.value)
    return full


def noise_of_blocks(blocks: tuple[ColumnTerms, ...]) -> Array:
    """Return the noise covariance, shape (terms, terms); noises of columns are uncorrelated."""
    # cells have noises of their own, so only jointly fitted parameters have covariances
    full, at = np.diag(np.concatenate([block.privacy_variance for block in blocks])), 0
    for block in blocks:
        here = slice(at, at + len(block.value))
        if block.joint is not None:
            full[here, here] = block.loadings @ block.loadings.T * block.law.variance()
        at += len(block.value)
    return full


def divided(combination: LinearCombination) -> bool:
    """Whether a combination uses several cells of one column that one weighted person may be in."""
    return any(
        block.shared and bool(block.variance.any()) and int(weights.any(axis=0).sum()) > 1
        for block, weights in _parts(combination)
    )


def _parts(combination: LinearCombination) -> list[tuple[ColumnTerms, Array]]:
    """Return each column's terms with its part of the matrix; without a matrix every term counts."""
    if combination.matrix is None:
        return [(block, np.ones((1, len(block.value)))) for block in combination.blocks]
    return list(combination.slices())
