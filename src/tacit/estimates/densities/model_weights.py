"""Fitted models of a density, and their weights.  Plain arrays.

Weights go by marginal likelihoods to the power POWER: the models are of smooth densities, and a law with kinks is none
of them, of which the likelihood is surer than it should be [Grünwald & van Ommen 2017].  Within the ROUGH ones, of
penalties and processes from smooth to rough, they go by a mixture of that and of the criterion of [Akaike 1974], half
the squared residuals and the parameters that are in effect free: what is likely is smoother than what is near.
Powers were chosen by the laws of `benchmarks/jump_models.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.densities.density_models import CELLS, DensityModel
from tacit.estimates.densities.even_pieces import AveragedPieces

POWER: Final = 0.7
"""Of marginal likelihoods, between groups of models."""
LIKELY: Final = 0.3
"""Of marginal likelihoods, within the rough models; the rest is of the criterion."""
PIECES: Final = 0.1
"""Prior weight of each model of pieces, even or straight, where all others have 1."""


@dataclass(frozen=True)
class Mode:
    """A mode: its coordinates, the shares of cells and of bins, and the negative log posterior."""

    theta: Array
    cells: Array
    shares: Array
    loss: float


@dataclass(frozen=True)
class Fitted:
    """A model, its mode, and its log marginal likelihood, up to a constant.

    steps: number of its jumps.  near: less half of the squared residuals, in their variances, less the number of
    parameters that are in effect free.
    """

    model: DensityModel
    mode: Mode
    evidence: float
    steps: int = 0
    near: float = 0.0


def weights(models: list[Fitted], plain: int, rough: int) -> Array:
    """Return the weights of models, which add up to 1.

    plain, rough: how many of either kind there may be; models left out have no weight, but had a prior one.
    """
    kinds = [isinstance(one.model, AveragedPieces) for one in models]
    prior = np.array(
        [
            PIECES if pieces else 0.5 / (plain if one.model.plain else rough)
            for one, pieces in zip(models, kinds, strict=True)
        ]
    )
    evidence = np.array([one.evidence for one in models])
    made = _scaled(POWER * evidence) * prior
    inside = np.array([not (one.model.plain or one.steps or kind) for one, kind in zip(models, kinds, strict=True)])
    if inside.any():
        made[inside] = made[inside].sum() * _shares(models, prior, inside)
    return np.asarray(made / made.sum())


def _shares(models: list[Fitted], prior: Array, inside: NDArray[np.bool_]) -> Array:
    """Return what each of the rough models has of their weight."""
    each = np.array([LIKELY * one.evidence + (1 - LIKELY) * one.near for one in models])[inside]
    made = _scaled(each) * prior[inside]
    return np.asarray(made / made.sum())


def mixed(models: list[Fitted], shares: Array) -> Array:
    """Return the average of the modes' densities."""
    return np.asarray(CELLS * (shares @ np.array([one.mode.cells for one in models])))


def _scaled(logs: Array) -> Array:
    return np.exp(logs - logs.max())
