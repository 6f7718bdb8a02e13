"""Covariances of the terms of an estimate: of sampling, and of the noise.  Where one was not released it is bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tacit.errors import InferenceError
from tacit.inference.laws import Array

if TYPE_CHECKING:
    from tacit.inference.estimate import Estimate
    from tacit.inference.terms import Block

LARGEST: Final = 4_000
"""More terms than this have no dense covariance."""


def combined_variances(estimate: Estimate) -> Array:
    """Sampling variances of linear combinations, shape (terms,).

    Where nothing is known of a correlation, standard errors add: (sum |c| sd)**2 is never too small (Cauchy-Schwarz).
    That is so between blocks of the same people, and between cells that one weighted person may be in.
    """
    sd: dict[str, Array] = {}
    for block, weights in estimate.slices():
        inner = (weights**2) @ block.variance - (weights @ block.pull) ** 2
        if block.shared:
            inner = (np.abs(weights) @ np.sqrt(block.sampling_variance)) ** 2
        sd[block.people] = sd.get(block.people, np.zeros(len(weights))) + np.sqrt(np.maximum(inner, 0.0))
    return np.add.reduce([one**2 for one in sd.values()])


def sampling(estimate: Estimate) -> Array:
    """See `Estimate.sampling_matrix`."""
    _small(estimate)
    known = [block.people for block in estimate.used() if block.variance.any()]
    if len(set(known)) < len(known):
        raise _unknown("different columns of the same people", "one column at a time")
    if divided(estimate):
        raise _unknown("groups that one weighted person may be in", "one group at a time")
    full = of_blocks(estimate.blocks)
    return full if estimate.matrix is None else estimate.matrix @ full @ estimate.matrix.T


def privacy(estimate: Estimate) -> Array:
    """See `Estimate.privacy_matrix`."""
    _small(estimate)
    full = np.diag(np.concatenate([block.privacy_variance for block in estimate.blocks]))
    return full if estimate.matrix is None else estimate.matrix @ full @ estimate.matrix.T


def of_blocks(blocks: tuple[Block, ...]) -> Array:
    """Sampling covariance of the terms of blocks of different people, shape (terms, terms)."""
    size = sum(len(block.value) for block in blocks)
    full, at = np.zeros((size, size)), 0
    for block in blocks:
        here = slice(at, at + len(block.value))
        full[here, here] = np.diag(block.variance) - np.outer(block.pull, block.pull)
        at += len(block.value)
    return full


def divided(estimate: Estimate) -> bool:
    """Whether several cells are used among which weighted persons may be divided."""
    return any(
        block.shared and bool(block.variance.any()) and int(weights.any(axis=0).sum()) > 1
        for block, weights in _parts(estimate)
    )


def _parts(estimate: Estimate) -> list[tuple[Block, Array]]:
    """Blocks and their columns of the matrix; where there is none, each term is its own."""
    if estimate.matrix is None:
        return [(block, np.ones((1, len(block.value)))) for block in estimate.blocks]
    return list(estimate.slices())


def _small(estimate: Estimate) -> None:
    if len(estimate.terms) > LARGEST:
        text = f"{len(estimate.terms):,} terms are too many for a covariance matrix (at most {LARGEST:,})."
        raise InferenceError(text, code="I05", hint="std_error, conf_int and contrast need none", state=None)


def _unknown(what: str, hint: str) -> InferenceError:
    text = f"the sampling covariance of {what} was not released."
    return InferenceError(text, code="I04", hint=f"{hint}, estimate[...]; contrast() bounds it", state=None)
