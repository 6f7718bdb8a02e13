"""The forest plot: each party's own interval, what they say together, and where one more party would lie."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.inference.laws import Array
from tacit.plots.canvas import BLACK, DARK, LIGHT, SIGNAL, Drawn, axes, axis_words, dress, floats

if TYPE_CHECKING:
    from tacit.inference.estimate import Estimate


def forest(found: Estimate, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Draw the parties of a combined estimate, a bold line for each term with its parties below, the pooled one last.

    Squares: the parties, as large as their weights.  Diamond: together.  Dotted: the prediction interval.
    Raises InferenceError I01 for a level below 0.5, I05 for more than 1,000 rows, I20 without matplotlib.
    """
    from tacit.inference.display import facts, heading

    release: Any = found.release
    parties, limits = release.parties, found.intervals(level)
    several = len(found.terms) > 1
    block = len(parties) + 1 + several
    ax = axes(ax, block * len(found.terms), 1.6 + 0.26 * block * len(found.terms))
    ticks: list[tuple[float, str, bool]] = []
    for t, term in enumerate(found.terms):
        top = -float(t * (block + 0.5))
        if several:
            ticks.append((top, term, True))
        place = top - several - np.arange(len(parties), dtype=np.float64)
        _parties(ax, release, t, place, level, named=t == 0)
        ticks += [(float(at), name, False) for at, name in zip(place, parties, strict=True)]
        below = float(place[-1]) - 1
        _together(ax, release, float(found.values[t]), limits[t], t, below, level)
        ticks.append((below, "together", True))
    ax.set_yticks([at for at, _, _ in ticks], [word for _, word, _ in ticks], fontsize=8)
    for (_, _, head), label in zip(ticks, ax.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if head else "normal")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(ticks[-1][0] - 0.8, 0.8)
    said = [note for note in found.notes if "I²" in note]
    caption = facts(release)
    dress(ax, "\n".join([heading(found), *said]), axis_words(found), caption)
    ax.xaxis.label.set_fontsize(8)
    half = NormalDist().inv_cdf(0.5 + level / 2) * np.sqrt(found.sampling_variances)
    inner = floats(found.values - half), floats(found.values + half)
    ends = floats(limits[:, 0]), floats(limits[:, 1])
    return Drawn(tuple(found.terms), floats(found.values), *ends, *inner, level, caption, ax)


def _parties(ax: Any, release: Any, t: int, place: Array, level: float, *, named: bool) -> None:
    """A row a party: light for both errors, dark for sampling alone, a square for its weight."""
    value, lower, upper, sampling = release.rows_of(t, level)
    half = NormalDist().inv_cdf(0.5 + level / 2) * np.sqrt(sampling)
    words = {"label": "with privacy"} if named else {}
    ax.hlines(place, lower, upper, color=LIGHT, linewidth=5, **words)
    words = {"label": "sampling alone"} if named else {}
    ax.hlines(place, np.maximum(value - half, lower), np.minimum(value + half, upper), color=DARK, linewidth=2, **words)
    shares = release.shares_of(t)
    sizes = 8 + 60 * shares / max(float(shares.max()), 1e-12)
    said = np.isfinite(value)
    ax.scatter(value[said], place[said], s=sizes[said], marker="s", color=BLACK, zorder=3)


def _together(ax: Any, release: Any, value: float, limits: Array, t: int, at: float, level: float) -> None:
    """The diamond, a thin line up through the parties, the prediction interval."""
    ax.fill([limits[0], value, limits[1], value], [at, at + 0.32, at, at - 0.32], color=SIGNAL, zorder=3)
    top = at + len(release.parties) + 0.5
    ax.plot([value, value], [at, top], color=SIGNAL, linewidth=0.8, zorder=0)
    ahead = release.prediction_of(t, level)
    if ahead is not None:
        words = {"label": "one more party"} if t == 0 else {}
        ax.hlines([at], [ahead[0]], [ahead[1]], color=SIGNAL, linewidth=1, linestyle=":", **words)
