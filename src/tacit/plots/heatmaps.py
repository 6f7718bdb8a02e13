"""Heat maps of pairs of columns: darker where there are more rows, hatched where a count is within its noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.plots.canvas import Caption, Drawn, axes, finish_axes, floats
from tacit.plots.steps import Bins

SHADES: Final = ("#eef3f9", "#9db8d9", "#2f5d99", "#12294a")
"""Colours from few rows to many: one hue of falling lightness, which also prints in grey."""
NUMBERS: Final = 60
"""Largest number of cells for which counts are written in them."""
HATCHED: Final = 2_000
"""Largest number of cells within noise that are hatched, one by one; if there are more, all are grey."""
GREY: Final = "#dcdcdc"


@dataclass(frozen=True)
class Levels:
    """Levels of a column along one side of a heat map."""

    column: str
    labels: tuple[str, ...]

    @property
    def words(self) -> str:
        """Axis label: the column's name."""
        return self.column


@dataclass(frozen=True)
class Counts:
    """Noisy counts of pairs.

    values: shape (cells of the first column, of the second).  reach: half-width of the noise of one count at `level`.
    terms: a label for each pair, in row-major order.  label: label of the colour bar.
    """

    values: Array
    reach: float
    level: float
    terms: tuple[str, ...]
    label: str


def heatmap(sides: tuple[Bins | Levels, Bins | Levels], counts: Counts, caption: Caption, ax: Any = None) -> Drawn:
    """Draw counts of pairs, the first column across: numbers of rows, or rows per unit where bins differ in width.

    Counts that noise alone could explain (at most `reach`) are hatched, or grey if many; the note gives their number.
    `Drawn.values` are the numbers drawn, in row-major order, without intervals.
    Raises InferenceError I20 without matplotlib.
    """
    ax = axes(ax, 0, 4.8)
    edges, area = [_side(ax, along, side) for along, side in zip("xy", sides, strict=True)], np.ones((1, 1))
    for along, side in zip("xy", sides, strict=True):
        if isinstance(side, Bins) and side.uneven:
            # divided by the widths of uneven sides alone: equal widths would only scale all cells alike
            widths = side.upper - side.lower
            area = area * (widths[:, None] if along == "x" else widths)
    # noise is judged on counts, for its size does not depend on the width of a cell; colours show the densities
    noisy, values = counts.values <= counts.reach, counts.values / area
    _mesh(ax, edges, values, noisy, counts.label)
    if counts.values.size <= NUMBERS:
        _numbers(ax, edges, counts.values, values, noisy)
    note = caption.note
    if noisy.any():
        mark = "hatched" if noisy.sum() <= HATCHED else "grey"
        reach = f"(at most {counts.reach:,.0f})"
        note += f" · {mark}: {int(noisy.sum()):,} of {noisy.size:,} counts are within noise {reach}"
    finish_axes(ax, replace(caption, note=note))
    return Drawn(counts.terms, floats(values.reshape(-1)), (), (), (), (), counts.level, note, ax)


def _side(ax: Any, along: str, side: Bins | Levels) -> Array:
    """Set the ticks of one side and return the edges of its cells."""
    if isinstance(side, Bins):
        return side.edges(ax, along)
    set_ticks = ax.set_xticks if along == "x" else ax.set_yticks
    crowded = along == "x" and sum(map(len, side.labels)) > 60
    set_ticks(np.arange(len(side.labels)), list(side.labels), **({"rotation": 90} if crowded else {}))
    # cells of width 1, each centred on its tick 0, 1, 2, ...
    return np.arange(len(side.labels) + 1, dtype=np.float64) - 0.5


def _mesh(ax: Any, edges: list[Array], values: Array, noisy: Any, label: str) -> None:
    """Draw colours, hatches and the colour bar; all cells are blank if every count is within noise."""
    from matplotlib.colors import LinearSegmentedColormap

    shades: Any = LinearSegmentedColormap.from_list("tacit", list(SHADES))
    # masked cells get no colour, and do not enter the range of colours
    shown = np.ma.masked_array(values, mask=noisy)
    top = float(shown.max()) if not noisy.all() else 1.0
    mesh = ax.pcolormesh(edges[0], edges[1], shown.T, cmap=shades, vmin=0.0, vmax=top)
    few = int(noisy.sum()) <= HATCHED
    if noisy.any():
        shade = "white" if few else GREY
        blank: Any = LinearSegmentedColormap.from_list("tacit noise", [shade, shade])
        under = np.ma.masked_array(np.zeros_like(values), mask=~noisy).T
        if few:
            ax.pcolor(edges[0], edges[1], under, cmap=blank, hatch="////", edgecolor="0.75", linewidth=0)
        else:
            ax.pcolormesh(edges[0], edges[1], under, cmap=blank)
    ax.figure.colorbar(mesh, ax=ax, label=label)


def _numbers(ax: Any, edges: list[Array], counts: Array, values: Array, noisy: Any) -> None:
    """Write the number of rows in each cell, white on dark, grey for counts within noise."""
    top = float(values[~noisy].max()) if not noisy.all() else 1.0
    middle = [(ends[1:] + ends[:-1]) / 2 for ends in edges]
    for (i, j), count in np.ndenumerate(counts):
        dark = not noisy[i, j] and values[i, j] > 0.6 * top
        color = "white" if dark else "0.45" if noisy[i, j] else "black"
        ax.text(middle[0][i], middle[1][j], f"{count:,.0f}", ha="center", va="center", fontsize=7, color=color)
