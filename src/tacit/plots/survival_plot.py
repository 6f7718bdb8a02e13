"""Survival curves and distribution functions as steps with bands, for estimates or plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.plots.canvas import Caption, Drawn, Intervals, axes, finish_axes, floats
from tacit.plots.steps import STYLES, numeric


@dataclass(frozen=True)
class Curves:
    """Step functions of groups at the same places.

    at: places, shape (places,), in days where `kind` is "date".  band: name of the intervals in the legend.
    values, lower, upper: shape (groups, places); each value holds to the next place.
    """

    groups: tuple[str, ...]
    kind: str
    at: Array
    values: Array
    lower: Array
    upper: Array
    band: str


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
    """Draw a step function for each group: 1 from `start`, then `survival` from each of `times` on.

    times: ascending, above `start`, shape (k,); times from which each value holds (ends of bins).  survival, lower,
    upper: shape (k,) or (groups, k), between 0 and 1.  labels: names of the groups.  words, event: labels of the axes.
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
    # at `start` nobody has had the event yet: value and limits are 1
    ends = [np.pad(one, ((0, 0), (1, 0)), constant_values=1.0) for one in (curves, low, high)]
    _functions(ax, np.append(start, at), ends, labels, f"{100 * level:g}% interval")
    finish_axes(ax, Caption(title, words, caption, event), loc="lower left")
    terms = tuple(f"{label}:{t:g}" if label else f"{t:g}" for label in labels for t in at.tolist())
    limits = floats(low.reshape(-1)), floats(high.reshape(-1))
    return Drawn(terms, floats(curves.reshape(-1)), *limits, (), (), level, caption, ax)


def step_functions(curves: Curves, shown: Intervals, caption: Caption, ax: Any = None) -> Drawn:
    """Draw survival curves or distribution functions with their bands, one for each group.

    shown: the terms and their intervals, without the known ends of the curves.  Raises InferenceError I05 for more than
    four groups, I20 without matplotlib.
    """
    if len(curves.groups) > len(STYLES):
        text = f"{len(curves.groups)} curves are too many for one picture (at most {len(STYLES)})."
        raise InferenceError(text, code="I05", hint="by= a column of fewer levels", state=None)
    ax = axes(ax, 0, 4.2)
    arrays = [curves.values, curves.lower, curves.upper]
    _functions(ax, numeric(ax, curves.kind, curves.at), arrays, curves.groups, curves.band)
    finish_axes(ax, caption)
    return shown.drawn(ax, caption.note)


def _functions(ax: Any, at: Array, curves: Sequence[Array], labels: Sequence[str], band: str) -> None:
    """Draw a step function for each group from values, lower and upper limits, shape (groups, places) each."""
    for style, label, *one in zip(STYLES, labels, *curves, strict=False):
        _curve(ax, at, one, style, label, band)
    ax.set_ylim(0.0, 1.02)
    ax.set_xlim(left=at[0])
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)


def _curve(ax: Any, at: Array, curves: list[Array], style: tuple[str, str, str], label: str, band: str) -> None:
    """Draw the band, then the steps over it; each value holds to the next place."""
    dark, light, dashes = style
    values, low, high = curves
    name = f"{band}{', ' if label else ''}{label}"
    ax.fill_between(at, low, high, step="post", color=light, alpha=0.5, linewidth=0, label=name)
    ax.step(at, values, where="post", color=dark, linestyle=dashes, linewidth=1.4, label=label or None)
