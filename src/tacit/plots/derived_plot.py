"""Statistics derived from histogram cells with their intervals, one row for each term."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.plots.canvas import BLACK, LIGHT, Caption, Drawn, Intervals, axes, finish_axes, points
from tacit.plots.intervals import places, rows


def derived(shown: Intervals, sure: Sequence[bool], caption: Caption, ax: Any = None) -> Drawn:
    """Draw terms with intervals, hollow points for those that are not `sure`; infinite ends are cut to the value.

    Raises InferenceError I05 for more than 1,000 terms, I20 without matplotlib.
    """
    ax, place = axes(ax, len(shown.terms)), places(len(shown.terms))
    ends = np.where(np.isfinite(shown.limits), shown.limits, shown.values[:, None])
    ax.hlines(place, ends[:, 0], ends[:, 1], color=LIGHT, linewidth=7, label="with privacy")
    points(ax, shown.values, place, sure, "with a reason, see the table", color=BLACK, marker="o", markersize=4)
    rows(ax, place, shown.terms)
    finish_axes(ax, caption)
    return shown.drawn(ax, caption.note)
