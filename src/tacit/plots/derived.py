"""Numbers made of the cells of a histogram with their intervals, one row a term."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plots.canvas import BLACK, LIGHT, Drawn, axes, dress, floats, points
from tacit.plots.intervals import rows

if TYPE_CHECKING:
    from tacit.inference.from_cells.derived import Derived


def derived(found: Derived, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Draw terms with intervals, hollow points where there is a reason; ends beyond the line are cut to the axes.

    Raises InferenceError I01 for a level below 0.5, I05 for more than 1,000 terms, I20 without matplotlib.
    """
    from tacit.inference.display import facts, people_words

    ax = axes(ax, len(found.terms))
    limits = found.intervals(level)
    place = np.arange(len(found.terms), dtype=np.float64)[::-1]
    shown = np.where(np.isfinite(limits), limits, found.values[:, None])
    ax.hlines(place, shown[:, 0], shown[:, 1], color=LIGHT, linewidth=7, label="with privacy")
    sure = [reason is None for reason in found.reasons]
    points(ax, found.values, place, sure, "with a reason, see the table", color=BLACK, marker="o", markersize=4)
    rows(ax, place, found.terms)
    caption = facts(found.release)
    dress(ax, f"{found.title} · {people_words(found.release)}", found.estimand, caption)
    ends = floats(limits[:, 0]), floats(limits[:, 1])
    return Drawn(tuple(found.terms), floats(found.values), *ends, (), (), level, caption, ax)
