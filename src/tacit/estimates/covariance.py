"""Sampling covariances of terms.  Where one was not released it is bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.base.arrays import Array

if TYPE_CHECKING:
    from tacit.estimates.combination import LinearCombination
    from tacit.estimates.terms import ColumnTerms


def combined_variances(combination: LinearCombination) -> Array:
    """Sampling variances of linear combinations, shape (terms,).

    Where nothing is known of a correlation, standard errors add: (sum |c| sd)**2 is never too small (Cauchy-Schwarz).
    That is so between blocks of the same people, and between cells that one weighted person may be in.
    """
    sd: dict[str, Array] = {}
    for block, weights in combination.slices():
        inner = (weights**2) @ block.variance - (weights @ block.pull) ** 2
        if block.joint is not None:
            inner = np.einsum("ci,ij,cj->c", weights, block.joint, weights)
        if block.shared:
            inner = (np.abs(weights) @ np.sqrt(block.sampling_variance)) ** 2
        sd[block.people] = sd.get(block.people, np.zeros(len(weights))) + np.sqrt(np.maximum(inner, 0.0))
    return np.add.reduce([one**2 for one in sd.values()])


def of_blocks(blocks: tuple[ColumnTerms, ...]) -> Array:
    """Sampling covariance of the terms of blocks of different people, shape (terms, terms)."""
    size = sum(len(block.value) for block in blocks)
    full, at = np.zeros((size, size)), 0
    for block in blocks:
        here = slice(at, at + len(block.value))
        own = np.diag(block.variance) - np.outer(block.pull, block.pull)
        full[here, here] = own if block.joint is None else block.joint
        at += len(block.value)
    return full


def noise_of_blocks(blocks: tuple[ColumnTerms, ...]) -> Array:
    """Noise covariance of the terms of blocks, shape (terms, terms)."""
    full, at = np.diag(np.concatenate([block.privacy_variance for block in blocks])), 0
    for block in blocks:
        here = slice(at, at + len(block.value))
        if block.joint is not None:
            full[here, here] = block.loadings @ block.loadings.T * block.law.variance()
        at += len(block.value)
    return full


def divided(combination: LinearCombination) -> bool:
    """Whether several cells are used among which weighted persons may be divided."""
    return any(
        block.shared and bool(block.variance.any()) and int(weights.any(axis=0).sum()) > 1
        for block, weights in _parts(combination)
    )


def _parts(combination: LinearCombination) -> list[tuple[ColumnTerms, Array]]:
    """Blocks and their columns of the matrix; where there is none, each term is its own."""
    if combination.matrix is None:
        return [(block, np.ones((1, len(block.value)))) for block in combination.blocks]
    return list(combination.slices())
