"""Estimates and differences with their intervals: the part that sampling makes dark, what privacy adds light."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.inference.laws import Array
from tacit.plots.canvas import BLACK, DARK, LIGHT, Drawn, axes, axis_words, dress, floats, points

if TYPE_CHECKING:
    from tacit.inference.estimate import Estimate
    from tacit.inference.normal import NormalEstimate
    from tacit.inference.pairs import Pairwise


def estimate(found: Estimate, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Draw an estimate's terms with intervals; the cost stands in the caption.

    Raises InferenceError I01 for a level below 0.5, I05 for more than 1,000 terms, I20 without matplotlib.
    """
    from tacit.inference.display import facts, heading

    ax = axes(ax, len(found.terms))
    limits = found.intervals(level)
    place = np.arange(len(found.terms), dtype=np.float64)[::-1]
    inner = bars(ax, found, limits, place, NormalDist().inv_cdf(0.5 + level / 2))
    ax.plot(found.values, place, "o", color=BLACK, markersize=4)
    rows(ax, place, found.terms)
    caption = facts(found.release)
    dress(ax, heading(found), axis_words(found), caption)
    return drawn(found, limits, inner, level, caption, ax)


def pairwise(found: Pairwise, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Draw differences with their adjusted intervals and a line at 0; hollow points where the interval holds 0.

    Raises InferenceError I01 for a level below 0.5, I05 for more than 1,000 pairs, I20 without matplotlib.
    """
    from tacit.inference.display import facts, heading

    made = found.estimate
    ax = axes(ax, len(made.terms))
    limits = found.intervals(level)
    place = np.arange(len(made.terms), dtype=np.float64)[::-1]
    inner = bars(ax, made, limits, place, found.quantile(level))
    ax.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
    clear = (limits[:, 0] > 0) | (limits[:, 1] < 0)
    points(ax, made.values, place, clear.tolist(), "0 is inside")
    rows(ax, place, made.terms)
    caption = f"{found.words()} · {facts(made.release)}"
    dress(ax, f"Differences · {heading(made)}", axis_words(made), caption)
    return drawn(made, limits, inner, level, caption, ax)


def bars(
    ax: Any, found: Estimate | NormalEstimate, limits: Array, place: Array, quantile: float
) -> tuple[Array, Array]:
    """Light bars for both errors, dark ones for sampling alone; returns the ends of these, each of shape (terms,)."""
    half = quantile * np.sqrt(found.sampling_variances)
    ax.hlines(place, limits[:, 0], limits[:, 1], color=LIGHT, linewidth=7, label="with privacy")
    inner = np.maximum(found.values - half, limits[:, 0]), np.minimum(found.values + half, limits[:, 1])
    if np.any(found.sampling_variances > 0):  # not where the table is the population
        ax.hlines(place, inner[0], inner[1], color=DARK, linewidth=3, label="sampling alone")
    return inner


def rows(ax: Any, place: Array, terms: tuple[str, ...]) -> None:
    """One row a term, the first on top."""
    ax.set_yticks(place, [term or "all" for term in terms])
    ax.set_ylim(-0.6, len(terms) - 0.4)


def drawn(
    found: Estimate | NormalEstimate, limits: Array, inner: tuple[Array, Array], level: float, caption: str, ax: Any
) -> Drawn:
    """What was drawn, as values."""
    return Drawn(
        terms=tuple(found.terms),
        values=floats(found.values),
        lower=floats(limits[:, 0]),
        upper=floats(limits[:, 1]),
        inner_lower=floats(inner[0]),
        inner_upper=floats(inner[1]),
        level=level,
        caption=caption,
        axes=ax,
    )
