"""Pairwise ratios with their intervals and a line at 1; on a logarithmic axis if all are positive."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tacit.base.arrays import Array
from tacit.plots.canvas import DARK, Caption, Drawn, Intervals, axes, finish_axes, points
from tacit.plots.intervals import excludes, places, rows

ROOM = 1.3
"""Margin on either side: a factor on a logarithmic axis; on a linear one, (ROOM - 1) / 2 of the width."""


def ratios(shown: Intervals, caption: Caption, ax: Any = None) -> Drawn:
    """Draw ratios with their intervals and a line at 1; hollow points where the interval holds 1.

    An arrow marks an interval that extends beyond the axis or is unbounded; a ratio without a finite value has no
    point.  Raises InferenceError I05 for more than 1,000 ratios, I20 without matplotlib.
    """
    values, limits = shown.values, shown.limits
    ax, place = axes(ax, len(shown.terms)), places(len(shown.terms))
    known = np.isfinite(values)
    # a ratio and its inverse are at equal distances from 1 only on a logarithmic axis
    logarithmic = bool((values[known] > 0).all() and (limits[:, 0] >= 0).all())
    low, high = _range(values[known], limits, logarithmic)
    if logarithmic:
        _logarithmic(ax, low, high)
    ax.set_xlim(low, high)
    ends = np.clip(limits, low, high)
    ax.hlines(place, ends[:, 0], ends[:, 1], color=DARK, linewidth=3, label=f"{100 * shown.level:g}% interval")
    for side, marker in ((0, "<"), (1, ">")):
        # also true of infinite limits, which the clip has cut to the axis
        beyond = ends[:, side] != limits[:, side]
        if beyond.any():
            ax.plot(ends[beyond, side], place[beyond], marker, color=DARK, markersize=7, clip_on=False, gid="beyond")
    ax.axvline(1.0, color="0.6", linewidth=0.8, zorder=0)
    points(ax, values[known], place[known], excludes(limits[known], 1.0), "1 is inside")
    rows(ax, place, shown.terms)
    finish_axes(ax, caption)
    return shown.drawn(ax, caption.note)


def _logarithmic(ax: Any, low: float, high: float) -> None:
    """Set a logarithmic axis with plain numbers at 1, 2, 5 times powers of ten, or denser for narrow ranges."""
    from matplotlib.ticker import FixedLocator, NullLocator

    ax.set_xscale("log")
    steps = (1.0, 2.0, 5.0) if high / low > 8 else (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter("{x:g}")


def _range(values: Array, limits: Array, logarithmic: bool) -> tuple[float, float]:
    """Return the range of the axis: all values, 1, and limits (if logarithmic, those within a factor of 100)."""
    ends = limits[np.isfinite(limits)]
    if not logarithmic:
        held = np.concatenate([values, ends, [1.0]])
        margin = (ROOM - 1) / 2 * float(np.ptp(held)) or 1.0
        return float(held.min()) - margin, float(held.max()) + margin
    middle = np.concatenate([values, [1.0]])
    low, high = float(middle.min()) / 100, float(middle.max()) * 100  # an interval of [0.001, …] hides all others
    held = np.concatenate([middle, ends[(ends >= low) & (ends <= high)]])
    return float(held.min()) / ROOM, float(held.max()) * ROOM
