"""Points, probabilities and quantiles of a law of one column at given parameters, by quadrature."""

from __future__ import annotations

import numpy as np

from tacit.models import quadrature, scores
from tacit.models.boxes import Array
from tacit.models.evaluate import log_densities
from tacit.models.likelihood import Likelihood


def points_of(model: Likelihood, vector: Array) -> quadrature.Rule:
    """Return points of the law and their probabilities."""
    return quadrature.law(model, vector, lambda rows: log_densities(model, rows, vector, public=True), scores.FINE)


def cumulative(model: Likelihood, vector: Array) -> tuple[Array, Array]:
    """Return points and the probability at or below each; for other than counts, at or halfway into each."""
    points, weights = points_of(model, vector)
    below = np.cumsum(weights)
    # half of a point's own probability lies below it (trapezium cells are centred)
    return points, below if model.support == "count" else below - weights / 2


def quantiles(model: Likelihood, vector: Array, probs: Array) -> Array:
    """Return the quantiles of a law that is not of counts."""
    points, below = cumulative(model, vector)
    return np.asarray(np.interp(probs, below, points), dtype=np.float64)
