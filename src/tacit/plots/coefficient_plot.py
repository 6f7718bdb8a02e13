"""Coefficients, predictions and effects with their intervals, and a line at 0."""

from __future__ import annotations

from typing import Any

from tacit.plots.canvas import BLACK, Caption, Drawn, Intervals, axes, finish_axes
from tacit.plots.intervals import bars, places, rows


def coefficients(shown: Intervals, caption: Caption, ax: Any = None) -> Drawn:
    """Draw terms with their intervals; InferenceError I05 for more than 1,000 terms, I20 without matplotlib."""
    ax, place = axes(ax, max(len(shown.terms), 1)), places(len(shown.terms))
    bars(ax, shown, place)
    ax.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
    ax.plot(shown.values, place, "o", color=BLACK, markersize=4)
    rows(ax, place, shown.terms)
    finish_axes(ax, caption)
    return shown.drawn(ax, caption.note, shown.inner)
