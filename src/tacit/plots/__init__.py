"""Pictures of releases and estimates.  OUTSIDE the wall: they take results, never rows, and return what they drew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.plots.canvas import Drawn
from tacit.plots.curves import curve
from tacit.plots.forest import forest
from tacit.plots.heatmaps import heatmap
from tacit.plots.intervals import estimate, pairwise
from tacit.plots.panels import Panels, margin, margins
from tacit.plots.quality import quality
from tacit.plots.quantiles import quantile_difference, quantiles
from tacit.plots.ratios import ratios
from tacit.plots.steps import density, histogram
from tacit.plots.survival import step_functions, survival

if TYPE_CHECKING:
    from tacit.inference.estimate import Estimate

__all__ = [
    "Drawn",
    "Panels",
    "curve",
    "density",
    "estimate",
    "forest",
    "heatmap",
    "histogram",
    "margin",
    "margins",
    "pairwise",
    "picture",
    "quality",
    "quantile_difference",
    "quantiles",
    "ratios",
    "step_functions",
    "survival",
]


def picture(found: Estimate, ax: Any = None) -> Drawn:
    """The picture that suits an estimate: data quality by column, other terms one a row, of parties a forest."""
    if getattr(found, "parties", None) is not None:
        return forest(found, ax)
    whole = type(found.release.query).__name__ == "DataQuality" and found.matrix is None
    return quality(found, ax) if whole else estimate(found, ax)
