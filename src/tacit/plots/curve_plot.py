"""Fitted curves with bands, over observed means, from plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.errors import InferenceError
from tacit.plots.canvas import BLACK, DARK, LIGHT, Caption, Drawn, axes, finish_axes, floats

LARGEST = 120.0
"""Area of the largest circle, in square points."""


def curve(
    x: Any,
    fitted: Any,
    lower: Any,
    upper: Any,
    *,
    observed: tuple[Any, Any, Any] | None = None,
    ax: Any = None,
    level: float = 0.95,
    label: str = "fitted",
    title: str = "",
    words: str = "",
    response: str = "",
    caption: str = "",
    band: str = "interval",
) -> Drawn:
    """Draw `fitted` at `x` with a band from `lower` to `upper`, shapes (k,), k at least 2; x ascending.

    observed: (places, means, sizes), shapes (m,): circles with area proportional to the number of rows of each mean;
    sizes of 0 or less are left out.  words, response: labels of the axes.  band: what lower and upper are.  Limits of
    NaN (no standard errors) draw none.
    InferenceError I05 for shapes that do not fit, I20 without matplotlib.

    >>> drawn = curve([0, 1, 2], [1, 2, 3], [0.5, 1.5, 2], [1.5, 2.5, 4], observed=([0.5], [1.4], [80]), words="age")
    >>> drawn.values, drawn.axes.get_xlabel(), len(drawn.axes.collections)
    ((1.0, 2.0, 3.0), 'age', 2)
    """
    arrays = [np.asarray(one, dtype=np.float64) for one in (x, fitted, lower, upper)]
    if len({one.shape for one in arrays}) != 1 or arrays[0].ndim != 1 or len(arrays[0]) < 2:
        text = f"a curve of {' and '.join(str(one.shape) for one in arrays)} values."
        raise InferenceError(text, code="I05", hint="arrays of one length, 2 or more", state=None)
    at, values, low, high = arrays
    ax = axes(ax, 0, 4.2)
    if np.isfinite(low).any() and np.isfinite(high).any():
        ax.fill_between(at, low, high, color=LIGHT, alpha=0.7, linewidth=0, label=f"{100 * level:g}% {band}")
    ax.plot(at, values, color=DARK, linewidth=1.6, label=label)
    if observed is not None:
        places, means, sizes = (np.asarray(one, dtype=np.float64) for one in observed)
        # noisy numbers of rows may be 0 or below, and have no area
        seen = (sizes > 0) & np.isfinite(means)
        if seen.any():
            area = LARGEST * sizes[seen] / sizes[seen].max()
            style = {"facecolor": "none", "edgecolor": BLACK, "linewidth": 0.8, "clip_on": False}
            ax.scatter(places[seen], means[seen], s=area, label="mean of a bin, area: rows", **style)
    ax.set_ylabel(response)
    finish_axes(ax, Caption(title, words, caption))
    terms = tuple(f"{one:g}" for one in at.tolist())
    return Drawn(terms, floats(values), floats(low), floats(high), (), (), level, caption, ax)
