"""Shares of cells that are missing, out of bounds or unlisted: one block a column, what is worth a look marked."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.inference.laws import Array
from tacit.plots.canvas import SIGNAL, Drawn, axes, dress, points
from tacit.plots.intervals import bars, drawn

if TYPE_CHECKING:
    from tacit.inference.estimate import Estimate


def quality(found: Estimate, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Draw the shares of a DataQuality estimate, a bold line for each column and a row for each class below it.

    Diamonds: the interval begins above what is usual (`inference.quality.hints`).  Hollow: nothing can be said.
    Raises InferenceError I01 for a level below 0.5, I05 for more than 1,000 rows, I20 without matplotlib.
    """
    from tacit.inference.display import facts, heading
    from tacit.inference.quality import worth_a_look

    limits = found.intervals(level)
    names = [tuple(term.rpartition(": ")[::2]) for term in found.terms]
    size = len(names) + len({column for column, _ in names})
    ax = axes(ax, size, 1.6 + 0.24 * size)
    place, ticks = _places(names)
    inner = bars(ax, found, limits, place, NormalDist().inv_cdf(0.5 + level / 2))
    marked = np.array(worth_a_look(found, level))
    said = [reason is None for reason in found.reasons]
    points(ax, found.values[~marked], place[~marked], np.array(said)[~marked].tolist(), "nothing can be said")
    if marked.any():
        style: dict[str, Any] = {"marker": "D", "color": SIGNAL, "markersize": 6, "label": "worth a look"}
        points(ax, found.values[marked], place[marked], [True] * int(marked.sum()), "", **style)
    _label(ax, ticks)
    ax.set_xlim(0.0, min(1.0, 1.05 * float(limits[:, 1].max())) or 1.0)
    caption = facts(found.release)
    dress(ax, heading(found), found.estimand, caption, loc="upper right", ncols=4, borderaxespad=0.2)  # in an empty row
    return drawn(found, limits, inner, level, caption, ax)


def _places(names: list[tuple[str, ...]]) -> tuple[Array, list[tuple[float, str, bool]]]:
    """Places of the terms, from above, shape (terms,); and of the words at the left, True for a column's own."""
    place: list[float] = []
    ticks: list[tuple[float, str, bool]] = []
    at, last = 0.0, None
    for column, name in names:
        if column != last:
            at -= 0.0 if last is None else 0.5
            ticks.append((at, column, True))
            at, last = at - 1.0, column
        place.append(at)
        ticks.append((at, name, False))
        at -= 1.0
    return np.array(place), ticks


def _label(ax: Any, ticks: list[tuple[float, str, bool]]) -> None:
    """Words at the left, columns bold, and shares as percentages below."""
    from matplotlib.ticker import PercentFormatter

    ax.set_yticks([at for at, _, _ in ticks], [word for _, word, _ in ticks], fontsize=8)
    for (_, _, head), label in zip(ticks, ax.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if head else "normal")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(ticks[-1][0] - 0.6, 0.6)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
