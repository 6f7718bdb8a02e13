"""Plots of arrays and captions that the results prepare.  OUTSIDE the wall: nothing here reads a row."""

from __future__ import annotations

from tacit.plots.canvas import Caption, Drawn, Intervals
from tacit.plots.coefficient_plot import coefficients
from tacit.plots.curve_plot import curve
from tacit.plots.derived_plot import derived
from tacit.plots.forest import ForestRow, forest
from tacit.plots.heatmaps import Counts, Levels, heatmap
from tacit.plots.intervals import estimate, pairwise
from tacit.plots.panels import Panel, Panels, side_by_side
from tacit.plots.quality_plot import quality
from tacit.plots.quantile_plot import quantile_difference, quantiles
from tacit.plots.ratio_plot import ratios
from tacit.plots.steps import Bins, Densities, density, histogram
from tacit.plots.survival_plot import Curves, step_functions, survival

__all__ = [
    "Bins",
    "Caption",
    "Counts",
    "Curves",
    "Densities",
    "Drawn",
    "ForestRow",
    "Intervals",
    "Levels",
    "Panel",
    "Panels",
    "coefficients",
    "curve",
    "density",
    "derived",
    "estimate",
    "forest",
    "heatmap",
    "histogram",
    "pairwise",
    "quality",
    "quantile_difference",
    "quantiles",
    "ratios",
    "side_by_side",
    "step_functions",
    "survival",
]
