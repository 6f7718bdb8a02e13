"""Heat maps of pairs of columns: darker where there are more rows, hatched where a count is within its noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tacit.inference.bins import BINNED, spans, uneven
from tacit.inference.laws import Array
from tacit.inference.shares import noise_reach
from tacit.inference.terms import check_level
from tacit.plots.canvas import Drawn, axes, dress, floats
from tacit.plots.steps import numeric, per_unit, words
from tacit.release import Axis, cell_labels

if TYPE_CHECKING:
    from tacit.inference.histogram import Margin

SHADES: Final = ("#eef3f9", "#9db8d9", "#2f5d99", "#12294a")
"""From few rows to many: one hue, darker and darker, in print too."""
NUMBERS: Final = 60
"""Up to so many cells have their number written in them."""

HATCHED: Final = 2_000
"""Of more cells within noise each is grey, for hatches are drawn one by one."""
GREY: Final = "#dcdcdc"


def heatmap(found: Margin, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Draw the margin of two columns, the first across: numbers of rows, or rows per unit where bins differ in width.

    Hatched (grey where they are many): counts within the interval of that level of noise alone.  Cells beside the bins
    (missing, below, above) are not drawn.  `Drawn.values` are the counts divided as drawn, in row-major order, without
    intervals.
    Raises InferenceError I01 for a level below 0.5, I20 without matplotlib.
    """
    from tacit.inference.display import facts, people_words
    from tacit.inference.moments import who

    reach = noise_reach(found.release, found.added, check_level(level))
    ax = axes(ax, 0, 4.8)
    kept: list[Any] = []
    edges: list[Array] = []
    per: list[str] = []
    area = np.ones((1, 1))
    for along, axis, (name, labels) in zip("xy", found.axes, found.levels, strict=True):
        places, ends, widths = _side(ax, along, axis, labels)
        kept.append(places)
        edges.append(ends)
        if widths is not None:
            per.append(per_unit(axis.kind, axis.units, f" of {name}"))
            area = area * (widths[:, None] if along == "x" else widths)
    counts = found.counts[np.ix_(*kept)]
    noisy, values = counts <= reach, counts / area
    _mesh(
        ax,
        edges,
        values,
        noisy,
        f"{who(found.release)} {' and '.join(per)}" if per else f"number of {who(found.release)}",
    )
    if counts.size <= NUMBERS:
        _numbers(ax, edges, counts, values, noisy)
    (first, _), (second, _) = found.levels
    ax.set_ylabel(words(second, found.axes[1].kind, found.axes[1].units))
    mark = "hatched" if noisy.sum() <= HATCHED else "grey"
    hatched = f"{mark}: {int(noisy.sum()):,} of {noisy.size:,} counts are within noise (at most {reach:,.0f})"
    beside = f"beside the bins: {found.counts.sum() - counts.sum():,.0f} {who(found.release)}"
    said = [facts(found.release), *([beside] if counts.size < found.counts.size else [])]
    caption = " · ".join([*said, hatched] if noisy.any() else said)
    title = f"Histogram of {first} and {second} · {people_words(found.release)}"
    dress(ax, title, words(first, found.axes[0].kind, found.axes[0].units), caption)
    levels: list[tuple[str, tuple[str, ...]]] = []
    for (name, labels), places in zip(found.levels, kept, strict=True):
        levels.append((name, tuple(labels[i] for i in cast("list[int]", places.tolist()))))
    return Drawn(cell_labels(tuple(levels)), floats(values.reshape(-1)), (), (), (), (), level, caption, ax)


def _side(ax: Any, along: str, axis: Axis, labels: tuple[str, ...]) -> tuple[Any, Array, Array | None]:
    """Places of the cells that are drawn along one side, their edges there, their widths where these differ."""
    if axis.kind in BINNED:
        lower, upper = spans(axis)
        places = np.flatnonzero(upper > lower)
        lower, upper = lower[places], upper[places]
        return places, numeric(ax, axis.kind, lower, upper, along), upper - lower if uneven(lower, upper) else None
    set_ticks = ax.set_xticks if along == "x" else ax.set_yticks
    crowded = along == "x" and sum(map(len, labels)) > 60
    set_ticks(np.arange(len(labels)), list(labels), **({"rotation": 90} if crowded else {}))
    return np.arange(len(labels)), np.arange(len(labels) + 1, dtype=np.float64) - 0.5, None


def _mesh(ax: Any, edges: list[Array], values: Array, noisy: Any, label: str) -> None:
    """Colours, hatches and the colour bar; all white where everything is noise."""
    from matplotlib.colors import LinearSegmentedColormap

    shades: Any = LinearSegmentedColormap.from_list("tacit", list(SHADES))
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
    """The number of rows in each cell, white on dark."""
    top = float(values[~noisy].max()) if not noisy.all() else 1.0
    middle = [(ends[1:] + ends[:-1]) / 2 for ends in edges]
    for (i, j), count in np.ndenumerate(counts):
        dark = not noisy[i, j] and values[i, j] > 0.6 * top
        color = "white" if dark else "0.45" if noisy[i, j] else "black"
        ax.text(middle[0][i], middle[1][j], f"{count:,.0f}", ha="center", va="center", fontsize=7, color=color)
