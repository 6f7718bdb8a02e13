"""Coefficients, predictions and effects with their intervals, and a line at 0."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plots.canvas import BLACK, Drawn, axes, dress
from tacit.plots.intervals import bars, drawn, rows

if TYPE_CHECKING:
    from tacit.inference.normal import NormalEstimate


def coefficients(found: NormalEstimate, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Draw the terms that have a standard error; those without are named in the caption.

    Raises InferenceError I01 for a level below 0.5, I05 for more than 1,000 terms, I20 without matplotlib.
    """
    from tacit.inference.display import facts, people_words

    kept = [term for term, reason in zip(found.terms, found.reasons, strict=True) if reason is None]
    left = [term for term in found.terms if term not in kept]
    found = found[kept]
    ax = axes(ax, max(len(kept), 1))
    limits = found.intervals(level)
    place = np.arange(len(kept), dtype=np.float64)[::-1]
    inner = bars(ax, found, limits, place, NormalDist().inv_cdf(0.5 + level / 2))
    ax.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
    ax.plot(found.values, place, "o", color=BLACK, markersize=4)
    rows(ax, place, found.terms)
    caption = facts(found.release) + (f" · no standard error: {', '.join(left)}" if left else "")
    dress(ax, f"{found.title} · {people_words(found.release)}", found.estimand, caption)
    return drawn(found, limits, inner, level, caption, ax)
