"""Survival curves with bands, from plain arrays: whatever made them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.errors import InferenceError
from tacit.inference.laws import Array
from tacit.plots.canvas import Drawn, axes, dress, floats
from tacit.plots.steps import STYLES


def survival(
    times: Any,
    survival: Any,
    lower: Any,
    upper: Any,
    labels: Sequence[str] = ("",),
    *,
    ax: Any = None,
    start: float = 0.0,
    level: float = 0.95,
    title: str = "",
    words: str = "time",
    event: str = "share without the event",
    caption: str = "",
) -> Drawn:
    """Draw one step function a group: 1 from `start`, then `survival` from each of `times` on.

    times: shape (k,), ascending, above `start`; those from which a value holds (ends of bins).  survival, lower, upper:
    shape (k,) or (groups, k), between 0 and 1.  labels: one a group.  words, event: of the axes.
    InferenceError I05 for more than four groups or shapes that do not fit, I20 without matplotlib.

    >>> drawn = survival([1, 2, 3], [0.9, 0.7, 0.4], [0.8, 0.6, 0.3], [1, 0.8, 0.5], words="years")
    >>> drawn.terms, drawn.values, drawn.axes.get_xlabel()
    (('1', '2', '3'), (0.9, 0.7, 0.4), 'years')
    """
    at = np.asarray(times, dtype=np.float64)
    curves, low, high = (np.atleast_2d(np.asarray(one, dtype=np.float64)) for one in (survival, lower, upper))
    if not (at.ndim == 1 and curves.shape == low.shape == high.shape == (len(labels), len(at))):
        text = f"{len(labels)} curves at {at.shape} times do not fit values of shape {curves.shape}."
        raise InferenceError(text, code="I05", hint="one row a group, one column a time", state=None)
    if len(labels) > len(STYLES):
        text = f"{len(labels)} survival curves are too many for one picture (at most {len(STYLES)})."
        raise InferenceError(text, code="I05", hint="fewer groups", state=None)
    ax = axes(ax, 0, 4.2)
    for style, label, *one in zip(STYLES, labels, curves, low, high, strict=False):
        _curve(ax, np.append(start, at), [np.append(1.0, values) for values in one], style, label, level)
    ax.set_ylim(0.0, 1.02)
    ax.set_xlim(left=start)
    ax.set_ylabel(event)
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    dress(ax, title, words, caption, loc="lower left")
    terms = tuple(f"{label}:{t:g}" if label else f"{t:g}" for label in labels for t in at.tolist())
    ends = floats(low.reshape(-1)), floats(high.reshape(-1))
    return Drawn(terms, floats(curves.reshape(-1)), *ends, (), (), level, caption, ax)


def _curve(ax: Any, at: Array, curves: list[Array], style: tuple[str, str, str], label: str, level: float) -> None:
    """The band first, then the steps; each value holds to the next time."""
    dark, light, dashes = style
    values, low, high = curves
    name = f"{100 * level:g}% interval{', ' if label else ''}{label}"
    ax.fill_between(at, low, high, step="post", color=light, alpha=0.5, linewidth=0, label=name)
    ax.step(at, values, where="post", color=dark, linestyle=dashes, linewidth=1.4, label=label or None)
