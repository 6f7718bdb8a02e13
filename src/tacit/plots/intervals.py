"""Values with their intervals, one row for each term: a dark bar for sampling alone, a light one for both errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.base.arrays import Array
from tacit.plots.canvas import BLACK, DARK, LIGHT, Caption, Drawn, Intervals, axes, finish_axes, points


def estimate(
    shown: Intervals,
    caption: Caption,
    ax: Any = None,
    *,
    known: Sequence[bool] | None = None,
    line: float | None = None,
) -> Drawn:
    """Draw terms with their intervals; InferenceError I05 for more than 1,000 terms, I20 without matplotlib.

    known: a term for which it is False keeps its row, which says so, without a point or bars.  line: where a vertical
    line is drawn, behind all.
    """
    ax, place = axes(ax, len(shown.terms)), places(len(shown.terms))
    seen = _seen(ax, shown, place, known)
    if line is not None:
        ax.axvline(line, color="0.6", linewidth=0.8, zorder=0)
    if seen:
        bars(ax, shown.some(seen), place[seen])
        ax.plot(shown.values[seen], place[seen], "o", color=BLACK, markersize=4)
    rows(ax, place, shown.terms)
    finish_axes(ax, caption)
    return shown.drawn(ax, caption.note, shown.inner)


def pairwise(shown: Intervals, caption: Caption, ax: Any = None, *, known: Sequence[bool] | None = None) -> Drawn:
    """Draw differences with their intervals and a line at 0; hollow points where the interval holds 0.

    known: as of `estimate`.
    Raises InferenceError I05 for more than 1,000 pairs, I20 without matplotlib.
    """
    ax, place = axes(ax, len(shown.terms)), places(len(shown.terms))
    seen = _seen(ax, shown, place, known)
    # zorder 0: behind bars and points
    ax.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
    if seen:
        some = shown.some(seen)
        bars(ax, some, place[seen])
        points(ax, some.values, place[seen], excludes(some.limits, 0.0), "0 is inside")
    rows(ax, place, shown.terms)
    finish_axes(ax, caption)
    return shown.drawn(ax, caption.note, shown.inner)


def _seen(ax: Any, shown: Intervals, place: Array, known: Sequence[bool] | None) -> list[int]:
    """Return the indices of the terms that are drawn; say in the rows of the others that they are not known."""
    seen = [i for i in range(len(shown.terms)) if known is None or known[i]]
    for i in set(range(len(shown.terms))) - set(seen):
        at = float(place[i])
        ax.text(0.01, at, "not known", transform=ax.get_yaxis_transform(), fontsize=7, color="0.35", va="center")
    if not seen:
        ax.set_xticks([])  # an axis of nothing
    return seen


def places(rows: int) -> Array:
    """Return vertical positions of the rows, the first on top, shape (rows,)."""
    return np.arange(rows, dtype=np.float64)[::-1]


def excludes(limits: Array, number: float) -> list[bool]:
    """Return whether each interval, shape (terms, 2), excludes a number."""
    return ((limits[:, 0] > number) | (limits[:, 1] < number)).tolist()


def bars(ax: Any, shown: Intervals, place: Array) -> None:
    """Draw light bars for both errors, and dark ones for sampling alone if there is sampling error."""
    ax.hlines(place, shown.limits[:, 0], shown.limits[:, 1], color=LIGHT, linewidth=7, label="with privacy")
    if shown.half is not None and np.any(shown.half > 0):  # not where the table is the population
        inner = shown.inner
        ax.hlines(place, inner[:, 0], inner[:, 1], color=DARK, linewidth=3, label="sampling alone")


def rows(ax: Any, place: Array, terms: tuple[str, ...]) -> None:
    """Label one row for each term, the first on top."""
    ax.set_yticks(place, [term or "all" for term in terms])
    ax.set_ylim(-0.6, len(terms) - 0.4)
