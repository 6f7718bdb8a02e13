"""Several curves over one axis, from plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tacit.base.arrays import Array
from tacit.plots.canvas import Caption, Drawn, axes, finish_axes, floats

DASHES: Final = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
COLOURS: Final = ("black", "#2f5d99", "#b3541e", "#6b8e23", "#7a4b9c", "#888888")


def lines(
    x: Array, curves: Mapping[str, Array], caption: Caption, ax: Any = None, *, logarithmic: bool = False
) -> Drawn:
    """Draw curves of shape (points,) over x, which differ in colour and dashes; logarithmic: both axes.

    The values of the first curve are those of what is returned.  InferenceError I20 without matplotlib.

    >>> import numpy as np
    >>> drawn = lines(np.array([0.0, 1.0]), {"power": np.array([0.0, 1.0])}, Caption("t", "x", ""))
    >>> drawn.values
    (0.0, 1.0)
    """
    ax = axes(ax, 0, 4.2)
    for i, (name, y) in enumerate(curves.items()):
        style = DASHES[i % len(DASHES)]
        ax.plot(x, y, label=name, color=COLOURS[i % len(COLOURS)], linestyle=style, linewidth=1.4)
    if logarithmic:
        ax.set_xscale("log")
        ax.set_yscale("log")
    finish_axes(ax, caption)
    first = floats(next(iter(curves.values())))
    return Drawn((), first, (), (), (), (), 0.95, caption.note, ax)
