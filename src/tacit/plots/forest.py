"""Forest plot: the interval of each party, the combined estimate, and the prediction interval of one more party."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.base.arrays import Array
from tacit.plots.canvas import BLACK, DARK, LIGHT, SIGNAL, Caption, Drawn, Intervals, axes, finish_axes


@dataclass(frozen=True)
class ForestRow:
    """Estimates of one term by each party.

    value, lower, upper: shape (parties,), NaN where a party has no estimate.  half: half-widths of intervals for
    sampling error alone.  shares: weights of the parties.  ahead: prediction interval for one more party, or None.
    known: whether anything is said of the parties together.
    """

    value: Array
    lower: Array
    upper: Array
    half: Array
    shares: Array
    ahead: tuple[float, float] | None
    known: bool = True


def forest(
    shown: Intervals, names: Sequence[str], parties: Sequence[ForestRow], caption: Caption, ax: Any = None
) -> Drawn:
    """Draw combined terms, a bold line for each with its parties below, the pooled interval last.

    names: names of the parties.  parties: one entry for each term.  Squares: the parties, sized by weight.  Diamond:
    the combined estimate.  Dotted line: the prediction interval.
    Raises InferenceError I05 for more than 1,000 rows, I20 without matplotlib.
    """
    several = len(shown.terms) > 1
    # rows of a term: its parties, the combined estimate, and a heading where there are several terms
    block = len(names) + 1 + several
    ax = axes(ax, block * len(shown.terms), 1.6 + 0.26 * block * len(shown.terms))
    ticks: list[tuple[float, str, bool]] = []
    for t, (term, own) in enumerate(zip(shown.terms, parties, strict=True)):
        top = -float(t * (block + 0.5))
        if several:
            ticks.append((top, term, True))
        place = top - several - np.arange(len(names), dtype=np.float64)
        _parties(ax, own, place, named=t == 0)
        ticks += [(float(at), name, False) for at, name in zip(place, names, strict=True)]
        below = float(place[-1]) - 1
        _together(ax, own, float(shown.values[t]), shown.limits[t], below, named=t == 0)
        ticks.append((below, "together", True))
    ax.set_yticks([at for at, _, _ in ticks], [word for _, word, _ in ticks], fontsize=8)
    for (_, _, head), label in zip(ticks, ax.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if head else "normal")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(ticks[-1][0] - 0.8, 0.8)
    finish_axes(ax, caption)
    ax.xaxis.label.set_fontsize(8)
    half = np.zeros_like(shown.values) if shown.half is None else shown.half
    return shown.drawn(ax, caption.note, np.stack([shown.values - half, shown.values + half], axis=-1))


def _parties(ax: Any, own: ForestRow, place: Array, *, named: bool) -> None:
    """Draw a row for each party: light bar for both errors, dark for sampling alone, square sized by weight."""
    # named for the first term only: one entry in the legend for all
    words = {"label": "with privacy"} if named else {}
    ax.hlines(place, own.lower, own.upper, color=LIGHT, linewidth=5, **words)
    words = {"label": "sampling alone"} if named else {}
    low, high = np.maximum(own.value - own.half, own.lower), np.minimum(own.value + own.half, own.upper)
    ax.hlines(place, low, high, color=DARK, linewidth=2, **words)
    sizes = 8 + 60 * own.shares / max(float(own.shares.max()), 1e-12)
    # a party without an estimate keeps its row, without a square
    said = np.isfinite(own.value)
    ax.scatter(own.value[said], place[said], s=sizes[said], marker="s", color=BLACK, zorder=3)


def _together(ax: Any, own: ForestRow, value: float, limits: Array, at: float, *, named: bool) -> None:
    """Draw the diamond of the combined estimate, a thin line up through the parties, the prediction interval.

    Where nothing is said of the parties together there is none of these.
    """
    if not own.known or not np.isfinite([value, *limits]).all():
        return
    ax.fill([limits[0], value, limits[1], value], [at, at + 0.32, at, at - 0.32], color=SIGNAL, zorder=3)
    top = at + len(own.value) + 0.5
    ax.plot([value, value], [at, top], color=SIGNAL, linewidth=0.8, zorder=0)
    if own.ahead is not None:
        words = {"label": "one more party"} if named else {}
        ax.hlines([at], [own.ahead[0]], [own.ahead[1]], color=SIGNAL, linewidth=1, linestyle=":", **words)
