"""Joint densities of two columns as shades, from plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.base.arrays import Array
from tacit.plots.canvas import Caption, Drawn, axes, finish_axes, floats


def density_map(
    values: Array,
    ends: tuple[tuple[float, float], ...],
    names: tuple[str, ...],
    title: str = "",
    note: str = "",
    ax: Any = None,
) -> Drawn:
    """Draw densities on an even grid, shape (places of the first column, of the second); darker is denser.

    ends: lower and upper end of each column.  InferenceError I20 without matplotlib.

    >>> drawn = density_map(np.ones((3, 3)), ((0, 1), (0, 2)), ("x", "y"))
    >>> drawn.axes.get_xlabel(), drawn.axes.get_ylabel()
    ('x', 'y')
    """
    ax = axes(ax, 0, 4.2)
    (left, right), (low, high) = ends
    shown = ax.imshow(values.T, origin="lower", extent=(left, right, low, high), aspect="auto", cmap="Greys", vmin=0)
    ax.figure.colorbar(shown, ax=ax, label="density")
    finish_axes(ax, Caption(title, names[0], note, names[1]))
    flat = floats(np.asarray(values).reshape(-1))
    return Drawn((), flat, (), (), (), (), 0.95, note, ax)
