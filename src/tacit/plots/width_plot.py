"""Widths of intervals side by side, one row for each way to answer: with privacy, and for sampling alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.base.arrays import Array
from tacit.plots.canvas import BLACK, DARK, LIGHT, Caption, Drawn, axes, finish_axes, floats
from tacit.plots.intervals import places, rows


def widths(
    names: Sequence[str], with_privacy: Array, alone: Array, level: float, caption: Caption, ax: Any = None
) -> Drawn:
    """Draw widths on a logarithmic axis: a light bar from the width for sampling alone to that with privacy.

    with_privacy, alone: shape (ways,), NaN for a way without an answer, whose row says so.
    Raises InferenceError I05 for more than 1,000 ways, I20 without matplotlib.
    """
    ax, place = axes(ax, len(names)), places(len(names))
    told = np.isfinite(with_privacy)
    if told.any():
        ax.set_xscale("log")
        # an interval that is cut to bounds may be narrower than the normal one for sampling alone
        low = np.minimum(alone, with_privacy)[told]
        ax.hlines(place[told], low, with_privacy[told], color=LIGHT, linewidth=7, label="what privacy adds")
        ax.plot(low, place[told], "|", color=DARK, markersize=11, markeredgewidth=2.5, label="sampling alone")
        ax.plot(with_privacy[told], place[told], "o", color=BLACK, markersize=4, label="width of the interval")
        ax.grid(axis="x", which="both", color="0.9", linewidth=0.6, zorder=0)
        ax.set_axisbelow(True)
        readable = _ticks(float(low.min()), float(with_privacy[told].max()))
        ax.set_xticks(readable, [f"{x:g}" for x in readable])
        ax.set_xticks([], minor=True)
    else:
        ax.set_xticks([])
    for at in place[~told]:
        ax.text(0.01, float(at), "no answer", transform=ax.get_yaxis_transform(), fontsize=7, color="0.35", va="center")
    rows(ax, place, tuple(names))
    finish_axes(ax, caption)
    shown = floats(with_privacy)
    nothing = (0.0,) * len(names)
    return Drawn(tuple(names), shown, nothing, shown, nothing, floats(alone), level, caption.note, ax)


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers, 1, 2 or 5 times a power of ten, from the last below `low` to the first above `high`.

    >>> _ticks(0.3, 4.0)
    [0.2, 0.5, 1.0, 2.0, 5.0]
    """
    powers = range(int(np.floor(np.log10(low))) - 1, int(np.ceil(np.log10(high))) + 2)
    every = [float(f"{m}e{k}") for k in powers for m in (1, 2, 5)]
    first = max(i for i, x in enumerate(every) if x <= low)
    last = min(i for i, x in enumerate(every) if x >= high)
    # over many powers of ten the powers alone
    found = every[first : last + 1]
    return found if len(found) <= 10 else [x for x in every[max(0, first - 2) : last + 3] if f"{x:e}"[0] == "1"]
