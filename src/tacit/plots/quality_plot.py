"""Proportions of missing, out-of-bounds or unlisted values by column, with notable ones marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.base.arrays import Array
from tacit.plots.canvas import SIGNAL, Caption, Drawn, Intervals, axes, finish_axes, points
from tacit.plots.intervals import bars


def quality(shown: Intervals, known: Sequence[bool], marked: Sequence[bool], caption: Caption, ax: Any = None) -> Drawn:
    """Draw shares of classes, terms "column: class": a bold line for each column, a row for each class below it.

    marked: notable shares, drawn as diamonds.  known: whether a share can be estimated; hollow points if not.
    Raises InferenceError I05 for more than 1,000 rows, I20 without matplotlib.
    """
    # from the right, for a column's name may contain a colon itself
    names = [tuple(term.rpartition(": ")[::2]) for term in shown.terms]
    size = len(names) + len({column for column, _ in names})
    ax = axes(ax, size, 1.6 + 0.24 * size)
    place, ticks = _places(names)
    bars(ax, shown, place)
    look = np.array(marked)
    points(ax, shown.values[~look], place[~look], np.array(known)[~look].tolist(), "nothing can be said")
    if look.any():
        style: dict[str, Any] = {"marker": "D", "color": SIGNAL, "markersize": 6, "label": "worth a look"}
        points(ax, shown.values[look], place[look], [True] * int(look.sum()), "", **style)
    _label(ax, ticks)
    ax.set_xlim(0.0, min(1.0, 1.05 * float(shown.limits[:, 1].max())) or 1.0)
    finish_axes(ax, caption, loc="upper right", ncols=4, borderaxespad=0.2)  # in an empty row
    return shown.drawn(ax, caption.note, shown.inner)


def _places(names: list[tuple[str, ...]]) -> tuple[Array, list[tuple[float, str, bool]]]:
    """Return vertical positions of the terms, shape (terms,), and ticks (position, label, whether a column)."""
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
    """Label the rows, columns in bold, and show proportions as percentages."""
    from matplotlib.ticker import PercentFormatter

    ax.set_yticks([at for at, _, _ in ticks], [word for _, word, _ in ticks], fontsize=8)
    for (_, _, head), label in zip(ticks, ax.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if head else "normal")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(ticks[-1][0] - 0.6, 0.6)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
