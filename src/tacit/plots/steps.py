"""Histograms and densities: steps on a numeric axis, with a box over each bin for its interval."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tacit.errors import InferenceError
from tacit.inference.bins import spans, uneven
from tacit.inference.laws import Array
from tacit.inference.terms import Target
from tacit.plots.canvas import BLACK, DARK, LIGHT, SIGNAL, Drawn, axes, dress, floats

if TYPE_CHECKING:
    from tacit.inference.densities import DensityEstimate
    from tacit.inference.histogram import Margin

STYLES = ((DARK, LIGHT, "-"), (SIGNAL, "#e5b898", "--"), ("#3d3d3d", "#bdbdbd", ":"), ("#5b7f3a", "#bcd2a5", "-."))
"""Line, band and dashes of each group: told apart without colour too."""


def histogram(found: Margin, ax: Any = None, *, level: float = 0.95, target: Target = "population") -> Drawn:
    """Draw the margin of one column of numbers or dates: numbers of rows, or rows per unit where bins differ in width.

    Light boxes: intervals for both errors, dark ones for sampling alone.  Cells beside the bins stand below the axis.
    Raises InferenceError I01 for a level below 0.5, I09 (target), I20 without matplotlib.
    """
    from tacit.inference.display import facts, people_words
    from tacit.inference.moments import who

    made, (axis,) = found.estimate(target), found.axes
    lower, upper = spans(axis)
    kept = np.flatnonzero(upper > lower)
    lower, upper, limits, values = lower[kept], upper[kept], made.intervals(level), made.values
    beside = [f"{made.terms[i]} {values[i]:,.0f}" for i in range(len(axis.edges) - 1, len(values))]
    half = NormalDist().inv_cdf(0.5 + level / 2) * np.sqrt(made.sampling_variances)
    inner = np.clip(np.stack([values - half, values + half], axis=1), limits[:, :1], limits[:, 1:])
    per = uneven(lower, upper)
    scale = (upper - lower if per else np.ones(len(kept)))[:, None]
    values, limits, inner = values[kept] / scale[:, 0], limits[kept] / scale, inner[kept] / scale
    ax = axes(ax, 0, 4.2)
    _steps(ax, numeric(ax, axis.kind, lower, upper), values, limits, inner)
    column = found.levels[0][0]
    ax.set_ylabel(
        f"{who(found.release)} {per_unit(axis.kind, axis.units)}" if per else f"number of {who(found.release)}"
    )
    below = words(column, axis.kind, axis.units) + (f"\nbeside: {', '.join(beside)}" if beside else "")
    caption = facts(found.release)
    dress(ax, f"Histogram of {column} · {people_words(found.release)}", below, caption)
    terms = tuple(made.terms[i] for i in kept)
    ends = floats(limits[:, 0]), floats(limits[:, 1])
    return Drawn(terms, floats(values), *ends, floats(inner[:, 0]), floats(inner[:, 1]), level, caption, ax)


def density(found: DensityEstimate, ax: Any = None, *, level: float = 0.95) -> Drawn:
    """Draw a density; of up to four groups as lines with bands.  Groups with a reason are left out, and named.

    Raises InferenceError I01 for a level below 0.5, I05 for more groups, I20 without matplotlib.
    """
    from tacit.inference.display import facts, people_words

    said = [i for i, reason in enumerate(found.reasons) if reason is None]
    if len(said) > len(STYLES):
        text = f"{len(said)} groups are too many for one picture of densities (at most {len(STYLES)})."
        raise InferenceError(text, code="I05", hint=f'density(…)["{found.groups[0]}"].plot()', state=None)
    values, limits = found.values, found.intervals(level)
    half = NormalDist().inv_cdf(0.5 + level / 2) * found.sampling_errors
    inner = np.clip(np.stack([values - half, values + half], axis=-1), limits[..., :1], limits[..., 1:])
    ax = axes(ax, 0, 4.2)
    edges = numeric(ax, found.kind, found.lower, found.upper)
    if len(found.groups) == 1 and said:
        _steps(ax, edges, values[0], limits[0], inner[0])
    for style, i in zip(STYLES, said if len(found.groups) > 1 else [], strict=False):
        _band(ax, edges, values[i], limits[i], style, found.groups[i], level)
    ax.set_ylabel(f"density, {found.per}")
    ax.set_ylim(bottom=0.0)
    left = [group or found.column for group, why in zip(found.groups, found.reasons, strict=True) if why]
    caption = facts(found.release) + (f" · all noise: {', '.join(left)}" if left else "")
    by = f" by {' and '.join(found.by)}" if found.by else ""
    by = f"{by}: {found.groups[0]}" if found.by and len(found.groups) == 1 else by
    title = f"Density of {found.column}{by} · {people_words(found.release)}"
    dress(ax, title, words(found.column, found.kind, found.units), caption)
    ends = floats(limits[..., 0].reshape(-1)), floats(limits[..., 1].reshape(-1))
    inner_ends = floats(inner[..., 0].reshape(-1)), floats(inner[..., 1].reshape(-1))
    return Drawn(found.terms, floats(values.reshape(-1)), *ends, *inner_ends, level, caption, ax)


def words(column: str, kind: str, units: str | None) -> str:
    """A column with its units, as an axis says it."""
    return f"{column} ({units})" if units and kind != "date" else column


def per_unit(kind: str, units: str | None, of: str = "") -> str:
    """What a height counts rows over: "per unit (years)", "per day"."""
    if kind == "date":
        return "per day"
    return f"per unit{of} ({units})" if units else f"per unit{of}"


def numeric(ax: Any, kind: str, lower: Array, upper: Array, along: str = "x") -> Array:
    """Edges of adjacent bins on an axis, shape (bins + 1,); of days as matplotlib has them, which are then so labelled.

    Bins without a width are left out before: what remains is adjacent.
    """
    edges = np.append(lower, upper[-1])
    if kind != "date":
        return edges
    from matplotlib import dates

    (ax.xaxis_date if along == "x" else ax.yaxis_date)()
    days = edges.astype(np.int64).astype("datetime64[D]")
    return np.asarray(cast(Any, dates).date2num(days), dtype=np.float64)


def _steps(ax: Any, edges: Array, values: Array, limits: Array, inner: Array) -> None:
    """Boxes for both errors, narrower ones for sampling alone, and the steps."""
    widths = np.diff(edges)
    style = {"width": widths, "align": "edge", "linewidth": 0}
    ax.bar(edges[:-1], limits[:, 1] - limits[:, 0], bottom=limits[:, 0], color=LIGHT, label="with privacy", **style)
    if np.any(inner[:, 1] > inner[:, 0]):
        style["width"] = widths / 2
        left = edges[:-1] + widths / 4
        ax.bar(left, inner[:, 1] - inner[:, 0], bottom=inner[:, 0], color=DARK, label="sampling alone", **style)
    ax.stairs(values, edges, color=BLACK, linewidth=1.2)
    ax.set_ylim(bottom=0.0)


def _band(
    ax: Any, edges: Array, values: Array, limits: Array, style: tuple[str, str, str], group: str, level: float
) -> None:
    """One group: its steps, and a band between the limits."""
    dark, light, dashes = style
    name = f"{100 * level:g}% interval, {group}"
    ax.stairs(limits[:, 1], edges, baseline=limits[:, 0], fill=True, color=light, alpha=0.5, linewidth=0, label=name)
    ax.stairs(values, edges, color=dark, linestyle=dashes, linewidth=1.4, label=group)
