"""The quantile function: released quantiles at their probabilities, with the intervals that were selected for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.plots.canvas import DARK, LIGHT, SIGNAL, Drawn, axes, dress, floats, points
from tacit.plots.intervals import rows

if TYPE_CHECKING:
    from tacit.inference.quantile_difference import QuantileDifference
    from tacit.inference.quantiles import QuantileEstimate

STYLES: Final = ((DARK, LIGHT, "o"), (SIGNAL, "#e5b898", "s"), ("#3d3d3d", "#bdbdbd", "^"), ("#5b7f3a", "#bcd2a5", "D"))
"""Line, interval and marker of each group; groups differ by marker, not by colour alone."""
APART: Final = 0.025
"""Between the rows of two groups at one probability, so that their intervals are both seen."""


def quantiles(found: QuantileEstimate, ax: Any = None, *, level: float | None = None) -> Drawn:
    """Draw quantiles (across) at their probabilities (upwards): the share of rows at or below; a curve for each group.

    Hollow points: too few rows for the price, the interval may not hold.  On axes (`ax`) that show other quantiles
    already, the next style is taken.  Raises InferenceError I14 for a level above the one that was asked for, I20
    without matplotlib.
    """
    from tacit.inference.display import facts, people_words
    from tacit.inference.moments import title, who
    from tacit.inference.quantiles import within
    from tacit.release import cell_labels

    if level is not None:
        within(level, found.level)
    ax = axes(ax, 0, 4.2)
    p = np.array([float(one) for one in found.probs])
    groups = cell_labels(found.release.levels)
    first = sum(line.get_gid() == "quantiles" for line in ax.lines)
    for i, label in enumerate(groups):
        own = slice(i * len(p), (i + 1) * len(p))
        _curve(ax, p, found, own, first + i, label or str(getattr(found.release, "name", None) or ""))
    ax.set_ylim(0.0, 1.0)
    ax.set_ylabel(f"share of {who(found.release)} at or below")
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    caption = facts(found.release)
    dress(ax, f"{title(found.release)} · {people_words(found.release)}", found.estimand, caption)
    limits = found.limits
    ends = floats(limits[:, 0]), floats(limits[:, 1])
    return Drawn(tuple(found.terms), floats(found.values), *ends, (), (), found.level, caption, ax)


def quantile_difference(found: QuantileDifference, ax: Any = None, *, level: float | None = None) -> Drawn:
    """Draw differences of quantiles with their intervals and a line at 0; hollow points where the interval holds 0.

    Raises InferenceError I14 for a level above that of the intervals, I05 for more than 1,000 terms, I20 without
    matplotlib.
    """
    from tacit.inference.display import facts, people_words
    from tacit.inference.moments import title

    limits = np.asarray(found.to_frame(level)[["lower", "upper"]], dtype=np.float64)
    ax = axes(ax, len(found.terms))
    place = np.arange(len(found.terms), dtype=np.float64)[::-1]
    name = f"{100 * found.level:g}% interval"
    ax.hlines(place, limits[:, 0], limits[:, 1], color=LIGHT, linewidth=7, label=name)
    ax.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
    clear = (limits[:, 0] > 0) | (limits[:, 1] < 0)
    points(ax, found.values, place, clear.tolist(), "0 is inside", color=DARK)
    rows(ax, place, found.terms)
    few = [term for term, reason in zip(found.terms, found.reasons, strict=True) if reason is not None]
    notes = (*found.notes, *([f"few rows for this price: {', '.join(few)}"] if few else []), facts(found.release))
    caption = " · ".join(notes)
    dress(ax, f"Differences · {title(found.release)} · {people_words(found.release)}", found.estimand, caption)
    ends = floats(limits[:, 0]), floats(limits[:, 1])
    return Drawn(tuple(found.terms), floats(found.values), *ends, (), (), found.level, caption, ax)


def _curve(ax: Any, p: Any, found: QuantileEstimate, own: slice, style: int, label: str) -> None:
    """One group: intervals, a thin line between the points, the points."""
    dark, light, marker = STYLES[style % len(STYLES)]
    values, limits = found.values[own], found.limits[own]
    place = p + APART * style
    name = f"{100 * found.level:g}% interval{', ' if label else ''}{label}"
    ax.hlines(place, limits[:, 0], limits[:, 1], color=light, linewidth=7, label=name)
    ax.plot(values, place, color=dark, linewidth=0.8, gid="quantiles")
    sure = [reason is None for reason in found.reasons[own]]
    points(ax, values, place, sure, "few rows for this price", color=dark, marker=marker, markersize=5)
