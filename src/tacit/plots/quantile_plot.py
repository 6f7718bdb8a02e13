"""Plots of quantile functions: released quantiles at their probabilities, with their privately selected intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.plots.canvas import DARK, LIGHT, SIGNAL, Caption, Drawn, Intervals, axes, finish_axes, points
from tacit.plots.intervals import excludes, places, rows

STYLES: Final = ((DARK, LIGHT, "o"), (SIGNAL, "#e5b898", "s"), ("#3d3d3d", "#bdbdbd", "^"), ("#5b7f3a", "#bcd2a5", "D"))
"""Line, interval and marker of each group; groups differ by marker, not by colour alone."""
APART: Final = 0.025
"""Vertical offset between groups at the same probability, so that their intervals do not overlap: the first is at it,
the next above it, then below it, so that no group looks as if all its shares were higher."""


def quantiles(
    shown: Intervals, sure: Sequence[bool], probs: Array, groups: Sequence[str], caption: Caption, ax: Any = None
) -> Drawn:
    """Draw quantiles (across) at their probabilities (upwards), a curve for each group.

    shown: terms of the first group, then of the next.  sure: points are hollow where it is False.  groups: names, ""
    for a single group without one.  If `ax` already shows other quantiles, the next style is used.
    Raises InferenceError I20 without matplotlib.
    """
    ax = axes(ax, 0, 4.2)
    # lines of earlier quantiles on these axes are known by their gid: the next style follows theirs
    first = sum(line.get_gid() == "quantiles" for line in ax.lines)
    for i, label in enumerate(groups):
        _curve(ax, probs, shown, sure, slice(i * len(probs), (i + 1) * len(probs)), first + i, label)
    reach = APART * ((first + len(groups)) // 2 + 0.5)
    ax.set_ylim(min(0.0, float(probs.min()) - reach), max(1.0, float(probs.max()) + reach))
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    finish_axes(ax, caption)
    return shown.drawn(ax, caption.note)


def quantile_difference(shown: Intervals, caption: Caption, ax: Any = None) -> Drawn:
    """Draw differences of quantiles with their intervals and a line at 0; hollow points where the interval holds 0.

    Raises InferenceError I05 for more than 1,000 terms, I20 without matplotlib.
    """
    ax, place = axes(ax, len(shown.terms)), places(len(shown.terms))
    name = f"{100 * shown.level:g}% interval"
    known = np.isfinite(shown.limits[:, 0])
    if known.any():
        ax.hlines(place, shown.limits[:, 0], shown.limits[:, 1], color=LIGHT, linewidth=7, label=name)
    ax.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
    points(ax, shown.values, place, np.array(excludes(shown.limits, 0.0)) | ~known, "0 is inside", color=DARK)
    rows(ax, place, shown.terms)
    finish_axes(ax, caption)
    return shown.drawn(ax, caption.note)


def _curve(ax: Any, p: Array, shown: Intervals, sure: Sequence[bool], own: slice, style: int, label: str) -> None:
    """Draw one group: intervals, a thin line, and points."""
    dark, light, marker = STYLES[style % len(STYLES)]
    values, limits = shown.values[own], shown.limits[own]
    place = p + APART * ((style + 1) // 2) * (1 if style % 2 else -1)
    name = f"{100 * shown.level:g}% interval{', ' if label else ''}{label}"
    if np.isfinite(limits).any():  # points alone may have been asked for
        ax.hlines(place, limits[:, 0], limits[:, 1], color=light, linewidth=7, label=name)
    ax.plot(values, place, color=dark, linewidth=0.8, gid="quantiles")
    points(ax, values, place, sure[own], "few rows for this price", color=dark, marker=marker, markersize=5)
